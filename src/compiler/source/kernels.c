/* Instances of kernel sources: defines, the step's program as EPILOGUE, the source itself,
 * undefines.
 */
#include "source_internal.h"

static void upper(char *out, size_t size, const char *name) {
  size_t i = 0;
  for (; name[i] && i + 1 < size; i++)
    out[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 32 : name[i]);
  out[i] = 0;
}

/* from at[literals] on: sizes that the source reads at run time */
struct defines {
  size_t count, literals;
  struct {
    char name[40];
    int64_t value;
  } at[64];
};

static void add_all(struct defines *d, const struct kernel_define *chosen, int count) {
  for (int i = 0; i < count; i++) {
    snprintf(d->at[d->count].name, sizeof d->at[0].name, "%s", chosen[i].name);
    d->at[d->count++].value = chosen[i].value;
  }
}

/* The defines of kernel source FILE; packs: the source that packs b. */
static const char *collect(const struct problem *problem, const struct choice *choice,
                           const struct kernel_target *target, bool packs, struct defines *d) {
  const struct kernel *kernel = choice->kernel;
  struct kernel_define chosen[KERNEL_DEFINES_MAX];
  int sizes = 0, count = 0;
  d->count = 0;
  if (!packs && kernel->shared_defines)
    count = kernel->shared_defines(problem, target, choice, chosen, &sizes);
  if (count) {
    add_all(d, chosen, count);
    d->literals = (size_t)(count - sizes);
    return kernel->shared_source;
  }
  for (int i = 0; i < problem_number_count(problem->kind); i++) {
    upper(d->at[d->count].name, sizeof d->at[0].name, problem_number_name(problem->kind, i));
    d->at[d->count++].value = problem_number(problem, i);
  }
  add_all(d, chosen, kernel->defines(problem, target, choice, chosen));
  d->literals = d->count;
  return packs ? kernel->pack_source : kernel->source;
}

/* Sizes are the last operand of the epilogue; operand < 0: they are literals, too. */
static void put_defines(const struct defines *d, int operand, struct strbuf *out) {
  for (size_t i = 0; i < d->count; i++) {
    if (operand < 0 || i < d->literals)
      strbuf_printf(out, "#define %s %lldl\n", d->at[i].name, (long long)d->at[i].value);
    else
      strbuf_printf(out, "#define %s (((const long *)e[%d])[%zu])\n", d->at[i].name, operand,
                    i - d->literals);
  }
}

static void put_undefines(const struct defines *d, struct strbuf *out) {
  for (size_t i = 0; i < d->count; i++) strbuf_printf(out, "#undef %s\n", d->at[i].name);
}

bool emit_kernel_sizes(const struct emitter *e, const struct step *step, struct strbuf *out) {
  struct defines d;
  collect(&step->problem, &step->choice, &e->plan->schedule.kernels, false, &d);
  if (d.literals == d.count) return false;
  for (size_t i = d.literals; i < d.count; i++)
    strbuf_printf(out, "%s%lldl", i > d.literals ? ", " : "  static const long sizes[] = {",
                  (long long)d.at[i].value);
  strbuf_puts(out, "};\n");
  return true;
}

/* The begin of a row of the view; rows are counted over all dimensions but the last. */
static void emit_line(struct strbuf *out, const char *name, const struct view *view) {
  int64_t lines = 1;
  const int last = view->shape.rank - 1;
  strbuf_printf(out, "const long %s_at = 0", name);
  for (int d = last; d-- > 0; lines *= view->shape.dims[d])
    if (view->stride[d] && view->shape.dims[d] != 1)
      strbuf_printf(out, " + (o - j) / %lldl %% %lldl * %lldl",
                    (long long)(lines * view->shape.dims[last]), (long long)view->shape.dims[d],
                    (long long)view->stride[d]);
  strbuf_puts(out, ";\n");
}

/* Vectors of bool are floats. */
static const struct vector_form *operand_form(hone_dtype dtype) {
  static const struct vector_form flags = {HONE_BOOL, "vec", "load_u8_", NULL, "splat_"};
  return dtype == HONE_BOOL ? &flags : vector_form(dtype);
}

/* "const vec i0 = load_lanes_((const float *)e[0] + j, lanes);" */
static void emit_operand(struct strbuf *out, const char *name, size_t k,
                         const struct epilogue *epilogue, int64_t columns) {
  const struct view *view = &epilogue->operands[k];
  const enum operand_kind kind = epilogue->kinds[k];
  const struct vector_form *form = operand_form(view->dtype);
  const bool has_line = kind == OPERAND_BROADCAST;
  const bool one = kind == OPERAND_SCALAR || kind == OPERAND_ROW ||
                   (has_line && !view->stride[view->shape.rank - 1]);
  if (has_line) emit_line(out, name, view);
  strbuf_printf(out, "const %s %s = %s(%s(const %s *)e[%zu]", form->type, name,
                one ? form->splat : form->load, one ? "*(" : "", c_type(view->dtype), k);
  if (has_line) strbuf_printf(out, " + %s_at", name);
  if (kind == OPERAND_ROW) strbuf_printf(out, " + (o - j) / %lldl", (long long)columns);
  if (one)
    strbuf_puts(out, "));\n");
  else
    strbuf_printf(out, " + %s, lanes);\n", kind == OPERAND_FULL ? "o" : "j");
}

/* Converts the source's int8 sums to the values that they represent. */
static void emit_sums(struct strbuf *out, const struct step *step) {
  const struct epilogue *epilogue = &step->epilogue;
  if (epilogue->sums == SUMS_AT_RUN)
    strbuf_printf(
        out, "r -= widen_i32((const int32_t *)e[0] + j, lanes) * (*(const %s *)e[1] + %d);\n",
        c_type(epilogue->operands[1].dtype),
        epilogue->operands[1].dtype == HONE_I8 ? kernel_signed_shift(step->choice.kernel) : 0);
}

static bool is_of_column(enum operand_kind kind) {
  return kind == OPERAND_COLUMN || kind == OPERAND_SCALAR;
}

/* EPILOGUE_COLUMN(j, lanes) declares what all rows of a vector of columns share, for
   EPILOGUE_AT; EPILOGUE is both. An unrolled tile then has less code to compile. */
static hone_status emit_columns(struct emitter *e, struct strbuf *out,
                                const struct epilogue *epilogue, int64_t columns) {
  const size_t own = (size_t)epilogue->sums;
  struct strbuf lines = {0};
  char name[32];
  for (size_t k = own; k < epilogue->count; k++) {
    snprintf(name, sizeof name, "i%zu", k - own);
    if (is_of_column(epilogue->kinds[k])) emit_operand(&lines, name, k, epilogue, columns);
  }
  strbuf_puts(out, "#define EPILOGUE_COLUMN(j, lanes)");
  for (size_t i = 0; i + 1 < lines.length; i++) {
    if (!i || lines.at[i] == '\n') strbuf_puts(out, " \\\n  ");
    if (lines.at[i] != '\n') strbuf_append(out, &lines.at[i], 1);
  }
  strbuf_puts(out, "\n#define EPILOGUE_AT(x, o, j, lanes) PASTE_(NAME, at)(x, e, o, j, lanes");
  for (size_t k = own; k < epilogue->count; k++)
    if (is_of_column(epilogue->kinds[k])) strbuf_printf(out, ", i%zu", k - own);
  strbuf_puts(out, ")\n");
  const hone_status status = strbuf_finish(e->ctx, &lines);
  strbuf_deinit(&lines);
  return status;
}

static void emit_signature(struct strbuf *out, const char *name, bool integer, bool floats) {
  strbuf_printf(
      out, "INLINE_ %s PASTE_(NAME, %s)(%s r, const void *const *e, long o, long j, long lanes",
      floats ? "vec" : "veci", name, integer ? "veci" : "vec");
}

/* The function `at`: the values stored for the results r, with operands per column as
   parameters. */
static hone_status emit_at(struct emitter *e, struct strbuf *out, const struct step *step,
                           bool integer, bool floats) {
  const struct epilogue *epilogue = &step->epilogue;
  const struct expr *program = &epilogue->program;
  const struct problem *p = &step->problem;
  const int64_t columns = p->kind == PROBLEM_gemm ? p->n : p->oc;
  const size_t own = (size_t)epilogue->sums, count = own + program->input_count;
  const bool whole = !integer && program->raw == HONE_I32;
  char result[32], name[32];
  emit_signature(out, "at", integer, floats);
  for (size_t k = own; k < count; k++)
    if (is_of_column(epilogue->kinds[k]))
      strbuf_printf(out, ", %s i%zu", operand_form(epilogue->operands[k].dtype)->type, k - own);
  strbuf_puts(out, ") {\n(void)e, (void)o, (void)j, (void)lanes");
  for (size_t k = own; k < count; k++)
    if (is_of_column(epilogue->kinds[k])) strbuf_printf(out, ", (void)i%zu", k - own);
  strbuf_puts(out, ";\n");
  emit_sums(out, step);
  for (size_t k = own; k < count; k++) {
    snprintf(name, sizeof name, "i%zu", k - own);
    if (!is_of_column(epilogue->kinds[k])) emit_operand(out, name, k, epilogue, columns);
  }
  TRY(emit_program(e, out, program, whole ? PROGRAM_WHOLE_FLOATS : PROGRAM_VECTOR, result));
  strbuf_printf(out, "return %s;\n}\n", result);
  return HONE_OK;
}

static hone_status emit_epilogue(struct emitter *e, struct strbuf *out, const struct step *step) {
  const struct epilogue *epilogue = &step->epilogue;
  const struct expr *program = &epilogue->program;
  const struct problem *p = &step->problem;
  const bool integer = p->types.acc == TYPE_I32;
  const bool is_done = program->count && program->result >= 0;
  struct strbuf lines = {0};
  strbuf_printf(out, "#define SATURATES %d\n",
                is_done && program->at[program->result].is_saturating);
  strbuf_printf(out, "#define FIRST_SUMS(j, lanes) %s\n",
                epilogue->sums == SUMS_FIRST ? "widen_i32((const int32_t *)e[0] + (j), lanes)"
                                             : "splati_(0)");
  if (!epilogue->sums && program->result == PROGRAM_RAW) {
    strbuf_puts(out, "#define HAS_EPILOGUE 0\n#define EPILOGUE(x, o, j, lanes) (x)\n");
    return HONE_OK;
  }
  const bool floats = program->count ? program_dtype(program) == HONE_F32 : !integer;
  hone_status status = emit_at(e, &lines, step, integer, floats);
  emit_code(out, &lines);
  strbuf_deinit(&lines);
  TRY(status);
  TRY(emit_columns(e, out, epilogue, p->kind == PROBLEM_gemm ? p->n : p->oc));
  emit_signature(out, "epilogue", integer, floats);
  strbuf_puts(
      out,
      ") {\n  EPILOGUE_COLUMN(j, lanes)\n  return EPILOGUE_AT(r, o, j, lanes);\n}\n"
      "#define HAS_EPILOGUE 1\n#define EPILOGUE(x, o, j, lanes) PASTE_(NAME, epilogue)(x, e, o, j, "
      "lanes)\n");
  return HONE_OK;
}

/* Tiles are unrolled: the compiler processes the whole source for each accumulator. */
static size_t weight_of(const struct choice *choice, size_t length) {
  static const char *const unrolled[] = {"vectors", "tile_rows", "tile_columns", "k_unroll",
                                         "block"};
  enum { ACCUMULATOR_BYTES = 300 };
  size_t accumulators = 1;
  for (size_t i = 0; i < COUNT(unrolled); i++)
    accumulators *= (size_t)choice_value(choice, unrolled[i], 1);
  return length + ACCUMULATOR_BYTES * accumulators;
}

static hone_status emit_text(struct emitter *e, const struct step *step, bool packs,
                             int *out_number) {
  struct strbuf body = {0};
  hone_status status = HONE_OK;
  struct defines d;
  const char *file = collect(&step->problem, &step->choice, &e->plan->schedule.kernels, packs, &d);
  char line[512] = "sizes at run time";
  if (d.literals == d.count) problem_print(line, sizeof line, &step->problem);
  strbuf_printf(&body, "/* %s: %s */\n", step->choice.kernel->name, line);
  put_defines(&d, (int)step->epilogue.count, &body);
  if (!packs) status = emit_epilogue(e, &body, step);
  if (!status) status = put_kernel_source(e, file, &body);
  put_undefines(&d, &body);
  if (!packs)
    strbuf_puts(&body,
                "#undef SATURATES\n#undef HAS_EPILOGUE\n#undef EPILOGUE\n#undef EPILOGUE_COLUMN\n"
                "#undef EPILOGUE_AT\n#undef FIRST_SUMS\n");
  const bool is_late = !packs && step->choice.kernel->traits & UNROLLS_LATE;
  if (!status)
    status = emit_shared(e, &body, is_late ? UNIT_TILES : UNIT_VECTORS,
                         packs ? "pack_function" : "kernel_function", out_number);
  if (!status) e->functions.at[*out_number].weight = weight_of(&step->choice, body.length);
  strbuf_deinit(&body);
  return status;
}

hone_status emit_kernel(struct emitter *e, const struct step *step, int *out_number) {
  return emit_text(e, step, false, out_number);
}

hone_status emit_pack(struct emitter *e, const struct step *step, int *out_number) {
  return emit_text(e, step, true, out_number);
}

#define KERNEL_PARAMETERS                                                                     \
  "(const void *a, const void *b, void *c, const void *const *e, void *scratch, long begin, " \
  "long end)"
#define PACK_PARAMETERS "(const void *b, void *packed, long begin, long end)"

hone_status emit_kernel_alone(struct ctx *ctx, const struct kernel_alone *alone,
                              struct strbuf *out) {
  struct defines d;
  const char *file = collect(alone->problem, alone->choice, alone->target, alone->packs, &d);
  put_defines(&d, -1, out);
  strbuf_printf(out, "#define NAME %s\nHIDDEN NOIPA void NAME%s;\n", alone->name,
                alone->packs ? PACK_PARAMETERS : KERNEL_PARAMETERS);
  strbuf_printf(out, "#define HAS_EPILOGUE %d\n#define EPILOGUE(x, o, j, lanes) (%s)\n",
                alone->epilogue != NULL, alone->epilogue ? alone->epilogue : "x");
  strbuf_puts(out, "#define EPILOGUE_COLUMN(j, lanes)\n#define EPILOGUE_AT EPILOGUE\n");
  strbuf_printf(out, "#define SATURATES %d\n#define FIRST_SUMS(j, lanes) splati_(0)\n",
                alone->saturates);
  const hone_status status = emit_kernel_source(ctx, file, out);
  put_undefines(&d, out);
  strbuf_puts(out,
              "#undef NAME\n#undef SATURATES\n#undef HAS_EPILOGUE\n#undef EPILOGUE\n"
              "#undef EPILOGUE_COLUMN\n#undef EPILOGUE_AT\n#undef FIRST_SUMS\n");
  return status;
}
