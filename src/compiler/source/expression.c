/* Expressions of the operator tables as C statements, for vectors and for scalars. */
#include "source_internal.h"

#include <math.h>

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

const struct vector_form *vector_form(hone_dtype dtype) {
  static const struct vector_form forms[] = {
      {HONE_F32, "vec", "load_lanes_", "store_lanes_", "splat_"},
      {HONE_BF16, "vec", "load_bf16_", "store_bf16_", "splat_bf16_"},
      {HONE_F16, "vec", "load_f16_", "store_f16_", "splat_f16_"},
      {HONE_U8, "veci", "widen_u8", "narrow_u8", "splati_"},
      {HONE_I8, "veci", "widen_i8", "narrow_i8", "splati_"},
      {HONE_I32, "veci", "widen_i32", "narrow_i32", "splati_"}};
  for (size_t i = 0; i < COUNT(forms); i++)
    if (forms[i].dtype == dtype) return &forms[i];
  return NULL;
}

const char *c_type(hone_dtype dtype) { return dtype_facts(dtype)->c_type; }

/* Integers and booleans compute in i64; floats of less than 32 bits are widened first. */
const char *class_prefix(hone_dtype dtype) {
  if (dtype == HONE_F32) return "f32_";
  if (dtype == HONE_F64) return "f64_";
  return dtype_bits(dtype) >= 8 && !dtype_is_float(dtype) ? "i64_" : NULL;
}

const char *class_type(hone_dtype dtype) {
  const bool is_whole = class_prefix(dtype) && !dtype_is_float(dtype);
  return is_whole ? "int64_t" : class_prefix(dtype) ? c_type(dtype) : NULL;
}

void emit_float(struct strbuf *out, double x) {
  if (isnan(x))
    strbuf_puts(out, "NAN");
  else if (isinf(x))
    strbuf_puts(out, x < 0 ? "-INFINITY" : "INFINITY");
  else if (x == trunc(x) && fabs(x) < 1e6)
    strbuf_printf(out, "%.1f", x);
  else
    strbuf_printf(out, "%a", x);
}

struct argument {
  char name[32];
  hone_dtype dtype;
  bool is_whole; /* an integer stored in a vector of floats */
};

/* One operation: "const T name = EXPR;". */
struct expanded {
  const struct operation *o;
  struct argument args[3];
  char name[32], alpha[32], beta[32]; /* the name of a parameter known only at run time, or "" */
  const char *prefix;                 /* of the helpers in its expression */
  const char *type;                   /* in which it computes */
  bool is_vector, is_u64;
};

/* The operand converted to the type in which the operation computes. */
static void emit_operand(struct strbuf *out, const struct expanded *x,
                         const struct argument *from) {
  if (x->is_vector)
    strbuf_printf(out, from->is_whole ? "integers_(%s)" : "%s", from->name);
  else if (strcmp(c_type(from->dtype), x->type) != 0)
    strbuf_printf(out, "(%s)%s", x->type, from->name);
  else
    strbuf_puts(out, from->name);
}

static void emit_parameter(struct strbuf *out, const struct expanded *x, double value,
                           const char *at_run) {
  if (!x->is_vector) strbuf_printf(out, "(%s)", x->type);
  if (*at_run) {
    strbuf_puts(out, at_run);
    return;
  }
  if (x->is_vector) strbuf_puts(out, "C(");
  emit_float(out, x->is_vector ? (double)(float)value : value);
  if (x->is_vector) strbuf_puts(out, ")");
}

/* Prints what a letter of the tables means; false: the word is not such a letter. */
static bool emit_letter(struct strbuf *out, const struct expanded *x, const char *word, size_t n) {
  if (n == 1 && *word >= 'x' && *word <= 'z')
    emit_operand(out, x, &x->args[*word - 'x']);
  else if (n == 1 && *word == 'u')
    strbuf_puts(out, x->is_u64 ? "1" : "0");
  else if (n == 5 && !memcmp(word, "alpha", n))
    emit_parameter(out, x, x->o->alpha, x->alpha);
  else if (n == 4 && !memcmp(word, "beta", n))
    emit_parameter(out, x, x->o->beta, x->beta);
  else
    return false;
  return true;
}

/* The expression with its letters replaced, and the prefix before every helper's name. */
static void emit_expression(struct strbuf *out, const char *expression, const struct expanded *x) {
  for (const char *p = expression; *p;) {
    size_t n = 0;
    while (is_word(p[n])) n++;
    if (!n) {
      strbuf_append(out, p++, 1);
      continue;
    }
    bool helper =
        (p[n] == '(' && (p[n - 1] == '_' || (n == 1 && *p == 'C'))) && !(*p >= '0' && *p <= '9');
    if (helper) strbuf_puts(out, x->prefix);
    if (helper || !emit_letter(out, x, p, n)) strbuf_append(out, p, n);
    p += n;
  }
}

static hone_status emit_vector_operation(struct emitter *e, struct strbuf *out,
                                         struct expanded *x) {
  bool is_float = x->o->dtype == HONE_F32;
  const char *expression = is_float ? x->o->op->expression : x->o->op->integer;
  if (!expression)
    return fail(e->ctx, HONE_E_INTERNAL, place_none(), "operator %s has no expression",
                x->o->op->name);
  x->is_vector = true;
  x->type = is_float ? "vec" : "veci";
  x->prefix = is_float ? "" : "veci_";
  strbuf_printf(out, "const %s %s = ", x->type, x->name);
  emit_expression(out, expression, x);
  strbuf_puts(out, ";\n");
  return HONE_OK;
}

/* Vectors hold floats as vec and integers as veci; a kernel's sums may be whole floats. */
static void emit_vector_cast(struct strbuf *out, const struct expanded *x) {
  const struct argument *from = &x->args[0];
  bool to_float = x->o->dtype == HONE_F32, floats = from->dtype == HONE_F32 || from->is_whole;
  strbuf_printf(out, "const %s %s = %s(%s);\n", to_float ? "vec" : "veci", x->name,
                to_float == floats  ? ""
                : to_float          ? "floats_"
                : x->o->is_rounding ? "nearest_"
                                    : "integers_",
                from->name);
}

static void emit_cast(struct strbuf *out, const struct expanded *x) {
  const struct argument *from = &x->args[0];
  hone_dtype to = x->o->dtype;
  const char *type = c_type(to);
  if (to == HONE_BOOL)
    strbuf_printf(out, "const %s %s = %s != 0;\n", type, x->name, from->name);
  else if (dtype_is_float(from->dtype) && !dtype_is_float(to))
    strbuf_printf(out, "const %s %s = (%s)%s((double)%s%s%s);\n", type, x->name, type,
                  to == HONE_U64 ? "cast_u64_" : "cast_i64_",
                  x->o->is_rounding ? "f32_round_(" : "", from->name, x->o->is_rounding ? ")" : "");
  else if (x->o->is_stored_small) /* rounded when stored */
    strbuf_printf(out, "const %s %s = odd_((double)%s);\n", type, x->name, from->name);
  else
    strbuf_printf(out, "const %s %s = (%s)%s;\n", type, x->name, type, from->name);
}

static const char *scalar_expression(const struct operation *o, bool integer) {
  if (o->op->id != OP_Mod) return integer ? o->op->integer : o->op->expression;
  return !integer ? "mod_(x, y)" : o->c_remainder ? "mod_(x, y, u, 1)" : "mod_(x, y, u, 0)";
}

static hone_status emit_scalar_operation(struct emitter *e, struct strbuf *out,
                                         struct expanded *x) {
  const struct operation *o = x->o;
  const char *type = c_type(o->dtype);
  hone_dtype class = x->args[o->arg_count - 1].dtype;
  const char *expression = scalar_expression(o, !dtype_is_float(class));
  x->prefix = class_prefix(class);
  x->type = class_type(class);
  x->is_u64 = class == HONE_U64;
  if (!x->prefix || !expression)
    return fail(e->ctx, HONE_E_UNSUP, place_none(), "operator %s has no kernel for type %s",
                o->op->name, dtype_name(class));
  const bool converts = strcmp(type, x->type) != 0;
  strbuf_printf(out, "const %s %s = ", type, x->name);
  if (converts) strbuf_printf(out, "(%s)(", type);
  emit_expression(out, expression, x);
  strbuf_printf(out, "%s%s;\n", converts ? ")" : "", o->dtype == HONE_BOOL ? " != 0" : "");
  return HONE_OK;
}

/* Mean's last operation: division by the number of operands. */
static bool is_division(const struct operation *o) { return o->op->id == OP_Mean; }

/* ByteTable. */
static void emit_table(struct strbuf *out, const struct expanded *x, bool vector) {
  strbuf_printf(out, "%s %s_table[] = {", vector ? "TABLE_" : "static const uint8_t", x->name);
  for (int i = 0; i < BYTE_TABLE_ENTRIES; i++)
    strbuf_printf(out, "%s%u", i ? "," : "", (unsigned)(uint8_t)x->o->table[i]);
  strbuf_puts(out, "};\n");
  if (vector)
    strbuf_printf(out, "const veci %s = lookup_bytes_(%s_table, %s);\n", x->name, x->name,
                  x->args[0].name);
  else
    strbuf_printf(out, "const %s %s = (%s)%s_table[(uint8_t)%s];\n", c_type(x->o->dtype), x->name,
                  c_type(x->o->dtype), x->name, x->args[0].name);
}

static hone_status emit_operation(struct emitter *e, struct strbuf *out, struct expanded *x,
                                  bool vector) {
  if (x->o->op->id == OP_ByteTable) {
    emit_table(out, x, vector);
    return HONE_OK;
  }
  if (is_division(x->o)) {
    strbuf_printf(out, "const %s %s = %s / %s%g%s;\n", vector ? "vec" : c_type(x->o->dtype),
                  x->name, x->args[0].name, vector ? "splat_(" : "", x->o->alpha,
                  vector ? ".0f)" : "");
    return HONE_OK;
  }
  if (vector && x->o->op->id == OP_Cast) {
    emit_vector_cast(out, x);
    return HONE_OK;
  }
  if (vector) return emit_vector_operation(e, out, x);
  switch (x->o->op->id) {
    case OP_Cast:
    case OP_CastLike:
    case OP_Identity:
      emit_cast(out, x);
      return HONE_OK;
    default:
      return emit_scalar_operation(e, out, x);
  }
}

static hone_status read_argument(struct emitter *e, const struct expr *program, size_t done,
                                 int arg, struct argument *out) {
  *out = (struct argument){.dtype = HONE_UNDEFINED};
  if (arg == PROGRAM_RAW) {
    snprintf(out->name, sizeof out->name, "r");
    out->dtype = program->raw;
  } else if (arg >= 0 && (size_t)arg < done) {
    snprintf(out->name, sizeof out->name, "t%d", arg);
    out->dtype = program->at[arg].dtype;
  } else if (arg < PROGRAM_RAW && (size_t)PROGRAM_INPUT_INDEX(arg) < program->input_count) {
    snprintf(out->name, sizeof out->name, "i%d", PROGRAM_INPUT_INDEX(arg));
    out->dtype = program->inputs[PROGRAM_INPUT_INDEX(arg)];
  } else {
    return fail(e->ctx, HONE_E_INTERNAL, place_none(), "a program reads argument %d", arg);
  }
  return HONE_OK;
}

/* As a vector; for int8 results of an operation only the low bits are valid so far. */
static hone_status read_vector(struct emitter *e, const struct expr *program, size_t done, int arg,
                               enum program_form form, struct argument *out) {
  TRY(read_argument(e, program, done, arg, out));
  out->is_whole = form == PROGRAM_WHOLE_FLOATS && arg == PROGRAM_RAW && out->dtype != HONE_F32;
  if (arg >= 0 && dtype_is_byte(out->dtype))
    snprintf(out->name, sizeof out->name, "wrap_%s_(t%d)", dtype_name(out->dtype), arg);
  return HONE_OK;
}

hone_status emit_program(struct emitter *e, struct strbuf *out, const struct expr *program,
                         enum program_form form, char out_result[32]) {
  struct argument result;
  for (size_t s = 0; s < program->count; s++) {
    struct expanded x = {.o = &program->at[s]};
    const bool as_it_is = form == PROGRAM_SCALAR || x.o->op->id == OP_ByteTable;
    for (int k = 0; k < x.o->arg_count; k++)
      TRY(as_it_is ? read_argument(e, program, s, x.o->args[k], &x.args[k])
                   : read_vector(e, program, s, x.o->args[k], form, &x.args[k]));
    snprintf(x.name, sizeof x.name, "t%zu", s);
    if (x.o->alpha_input) snprintf(x.alpha, sizeof x.alpha, "i%d", x.o->alpha_input);
    if (x.o->beta_input) snprintf(x.beta, sizeof x.beta, "i%d", x.o->beta_input);
    TRY(emit_operation(e, out, &x, form != PROGRAM_SCALAR));
  }
  TRY(read_argument(e, program, program->count, program->result, &result));
  snprintf(out_result, 32, "%s", result.name);
  return HONE_OK;
}
