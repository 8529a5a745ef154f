/* Expressions of the operator tables as C statements, for vectors and for scalars. */
#include "emit_internal.h"

#include <math.h>

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void emit_expression(struct text *out, const char *expression, const char *prefix) {
  for (const char *p = expression; *p;) {
    size_t n = 0;
    while (is_word(p[n])) n++;
    if (!n) {
      text_append(out, p++, 1);
      continue;
    }
    bool helper =
        (p[n] == '(' && (p[n - 1] == '_' || (n == 1 && *p == 'C'))) && !(*p >= '0' && *p <= '9');
    if (helper) text_puts(out, prefix);
    text_append(out, p, n);
    p += n;
  }
}

static const struct {
  hone_dtype dtype;
  const char *type, *prefix, *class_type;
} types[] = {
    {HONE_F32, "float", "f32_", "float"},
    {HONE_F64, "double", "f64_", "double"},
    {HONE_I64, "int64_t", "i64_", "int64_t"},
    {HONE_I32, "int32_t", "i64_", "int64_t"},
    {HONE_I16, "int16_t", "i64_", "int64_t"},
    {HONE_I8, "int8_t", "i64_", "int64_t"},
    {HONE_U64, "uint64_t", "i64_", "int64_t"},
    {HONE_U32, "uint32_t", "i64_", "int64_t"},
    {HONE_U16, "uint16_t", "i64_", "int64_t"},
    {HONE_U8, "uint8_t", "i64_", "int64_t"},
    {HONE_BOOL, "unsigned char", "i64_", "int64_t"},
    {HONE_F16, "uint16_t", NULL, NULL},
    {HONE_BF16, "uint16_t", NULL, NULL},
};

const char *c_type(hone_dtype dtype) {
  for (size_t i = 0; i < COUNT(types); i++)
    if (types[i].dtype == dtype) return types[i].type;
  return NULL;
}

const char *class_prefix(hone_dtype dtype) {
  for (size_t i = 0; i < COUNT(types); i++)
    if (types[i].dtype == dtype) return types[i].prefix;
  return NULL;
}

const char *class_type(hone_dtype dtype) {
  for (size_t i = 0; i < COUNT(types); i++)
    if (types[i].dtype == dtype) return types[i].class_type;
  return NULL;
}

void emit_float(struct text *out, double x) {
  if (isnan(x))
    text_puts(out, "NAN");
  else if (isinf(x))
    text_puts(out, x < 0 ? "-INFINITY" : "INFINITY");
  else
    text_printf(out, "%a", x);
}

struct argument {
  char name[32];
  hone_dtype dtype;
};

static bool mentions(const char *expression, const char *word) {
  size_t n = strlen(word);
  for (const char *p = expression; (p = strstr(p, word)); p += n)
    if ((p == expression || !is_word(p[-1])) && !is_word(p[n])) return true;
  return false;
}

/* One operation: "T name; { const T x = .., y = ..; name = EXPR; }". */
struct operation {
  const struct op *op;
  const struct argument *args;
  size_t count;
  double alpha, beta;
  const char *alpha_name, *beta_name; /* a run-time parameter instead, or NULL */
  bool c_remainder;                   /* Mod with fmod=1 */
  hone_dtype result;
};

static void emit_parameter(struct text *out, const char *type, const char *name, double value,
                           const char *at_run, bool vector) {
  text_printf(out, "const %s %s = ", type, name);
  if (at_run)
    text_puts(out, at_run);
  else if (!vector)
    emit_float(out, value);
  else {
    text_puts(out, "splat_((float)");
    emit_float(out, (double)(float)value);
    text_puts(out, ")");
  }
  text_puts(out, "; ");
}

static void emit_vector_operation(struct text *out, const struct operation *o, const char *name) {
  static const char *const letters[] = {"x", "y", "z"};
  text_printf(out, "    vec %s;\n    { ", name);
  for (size_t k = 0; k < o->count; k++)
    text_printf(out, "const vec %s = %s; ", letters[k], o->args[k].name);
  if (mentions(o->op->expression, "alpha"))
    emit_parameter(out, "vec", "alpha", o->alpha, o->alpha_name, true);
  if (mentions(o->op->expression, "beta"))
    emit_parameter(out, "vec", "beta", o->beta, o->beta_name, true);
  text_printf(out, "%s = ", name);
  emit_expression(out, o->op->expression, "");
  text_puts(out, "; }\n");
}

static void emit_cast(struct text *out, const struct operation *o, const char *name) {
  const struct argument *x = &o->args[0];
  const char *type = c_type(o->result);
  if (o->result == HONE_BOOL)
    text_printf(out, "    const %s %s = %s != 0;\n", type, name, x->name);
  else if (dtype_is_float(x->dtype) && !dtype_is_float(o->result))
    text_printf(out, "    const %s %s = (%s)%s((double)%s);\n", type, name, type,
                o->result == HONE_U64 ? "cast_u64_" : "cast_i64_", x->name);
  else
    text_printf(out, "    const %s %s = (%s)%s;\n", type, name, type, x->name);
}

static hone_status emit_scalar_operation(struct emitter *e, struct text *out,
                                         const struct operation *o, const char *name) {
  static const char *const letters[] = {"x", "y", "z"};
  hone_dtype class = o->args[o->count - 1].dtype;
  const char *prefix = class_prefix(class), *type = class_type(class);
  if (o->op->id == OP_Cast || o->op->id == OP_CastLike || o->op->id == OP_Identity) {
    emit_cast(out, o, name);
    return HONE_OK;
  }
  bool integer = !dtype_is_float(class);
  const char *expression = integer ? o->op->integer : o->op->expression;
  if (o->op->id == OP_Mod)
    expression = integer ? o->c_remainder ? "mod_(x, y, u, 1)" : "mod_(x, y, u, 0)" : "mod_(x, y)";
  if (!prefix || !expression)
    return fail(e->ctx, HONE_E_UNSUP, place_none(), "no kernel for %s of %s", o->op->name,
                dtype_name(class));
  text_printf(out, "    %s %s;\n    { ", c_type(o->result), name);
  for (size_t k = 0; k < o->count; k++) {
    const char *own = class_type(o->args[k].dtype);
    text_printf(out, "const %s %s = (%s)%s; ", own, letters[k], own, o->args[k].name);
  }
  if (mentions(expression, "u")) text_printf(out, "const int u = %d; ", class == HONE_U64);
  if (mentions(expression, "alpha"))
    emit_parameter(out, type, "alpha", o->alpha, o->alpha_name, false);
  if (mentions(expression, "beta")) emit_parameter(out, type, "beta", o->beta, o->beta_name, false);
  text_printf(out, "%s = (%s)(", name, c_type(o->result));
  emit_expression(out, expression, prefix);
  text_printf(out, ")%s; }\n", o->result == HONE_BOOL ? " != 0" : "");
  return HONE_OK;
}

static hone_status emit_operation(struct emitter *e, struct text *out, const struct operation *o,
                                  bool vector, const char *name) {
  if (!vector) return emit_scalar_operation(e, out, o, name);
  if (!o->op->expression)
    return fail(e->ctx, HONE_E_INTERNAL, place_none(), "%s has no expression", o->op->name);
  emit_vector_operation(out, o, name);
  return HONE_OK;
}

/* Max, Min, Sum, Mean: the binary expression over all operands in turn. */
static hone_status emit_variadic(struct emitter *e, struct text *out, const struct node *node,
                                 size_t own, const struct argument *args, bool vector,
                                 hone_dtype dtype) {
  char last[32];
  snprintf(last, sizeof last, "%s", args[0].name);
  for (size_t k = 1; k < own; k++) {
    struct argument pair[2] = {{.dtype = dtype}, args[k]};
    snprintf(pair[0].name, sizeof pair[0].name, "%s", last);
    snprintf(last, sizeof last, "v%zu", k);
    const struct op *op = is_op(node, OP_Mean) ? &op_table[OP_Add] : node->op;
    TRY(emit_operation(e, out,
                       &(struct operation){.op = op, .args = pair, .count = 2, .result = dtype},
                       vector, last));
  }
  if (is_op(node, OP_Mean))
    text_printf(out, "    const %s r = %s / %s%zu%s;\n", vector ? "vec" : c_type(dtype), last,
                vector ? "splat_(" : "", own, vector ? ".0f)" : "");
  else
    text_printf(out, "    const %s r = %s;\n", vector ? "vec" : c_type(dtype), last);
  return HONE_OK;
}

static hone_status emit_own(struct emitter *e, struct text *out, const struct node *node,
                            bool vector, hone_dtype dtype) {
  size_t own = node->input_count - node->fused_input_count;
  struct argument args[32];
  if (own > COUNT(args)) return fail(e->ctx, HONE_E_LIMIT, node_place(node), "too many operands");
  for (size_t k = 0; k < own; k++) {
    snprintf(args[k].name, sizeof args[k].name, "i%zu", k);
    args[k].dtype = node->inputs[k] ? node->inputs[k]->dtype : HONE_UNDEFINED;
  }
  if (is_variadic(node->op)) return emit_variadic(e, out, node, own, args, vector, dtype);
  struct operation o = {.op = node->op,
                        .args = args,
                        .count = own,
                        .result = dtype,
                        .c_remainder = node_int(node, "fmod", 0) != 0};
  bool known = elementwise_parameters(node, &o.alpha, &o.beta);
  if (is_op(node, OP_Clip)) {
    o.count = 1;
    if (!known) {
      o.alpha_name = own > 1 && node->inputs[1] ? "i1" : NULL;
      o.beta_name = own > 2 && node->inputs[2] ? "i2" : NULL;
      o.alpha = -INFINITY;
      o.beta = INFINITY;
      if (!dtype_is_float(dtype))
        return fail(e->ctx, HONE_E_UNSUP, node_place(node),
                    "Clip of integers with run-time bounds");
    }
  }
  if (is_op(node, OP_CastLike)) o.count = 1;
  return emit_operation(e, out, &o, vector, "r");
}

static hone_status read_argument(struct emitter *e, const struct node *node, size_t steps_done,
                                 int arg, hone_dtype raw, struct argument *out) {
  if (arg == FUSED_SELF) {
    snprintf(out->name, sizeof out->name, "r");
    out->dtype = raw;
  } else if (arg >= 0 && (size_t)arg < steps_done) {
    snprintf(out->name, sizeof out->name, "t%d", arg);
    out->dtype = node->fused[arg].dtype;
  } else if (arg < FUSED_SELF && (size_t)FUSED_INPUT_INDEX(arg) < node->input_count) {
    snprintf(out->name, sizeof out->name, "i%d", FUSED_INPUT_INDEX(arg));
    out->dtype = node->inputs[FUSED_INPUT_INDEX(arg)]->dtype;
  } else {
    return fail(e->ctx, HONE_E_INTERNAL, node_place(node), "fused program reads argument %d", arg);
  }
  return HONE_OK;
}

hone_status emit_program(struct emitter *e, struct text *out, const struct node *node, bool vector,
                         char out_result[32]) {
  /* fused programs keep the type of the raw result; without one it is the output's */
  hone_dtype raw = node->outputs[0]->dtype;
  if (node->op->class == OP_ELEMENTWISE || is_op(node, OP_Identity))
    TRY(emit_own(e, out, node, vector, raw));
  snprintf(out_result, 32, "r");
  for (size_t s = 0; s < node->fused_count; s++) {
    const struct fused_step *step = &node->fused[s];
    struct argument args[3];
    for (int k = 0; k < step->arg_count; k++)
      TRY(read_argument(e, node, s, step->args[k], raw, &args[k]));
    snprintf(out_result, 32, "t%zu", s);
    TRY(emit_operation(e, out,
                       &(struct operation){.op = step->op,
                                           .args = args,
                                           .count = (size_t)step->arg_count,
                                           .alpha = step->alpha,
                                           .beta = step->beta,
                                           .result = step->dtype},
                       vector, out_result));
  }
  return HONE_OK;
}
