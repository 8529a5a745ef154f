/* Instances of kernel texts: defines, the step's program as EPILOGUE, the text itself, undefines. */
#include "emit_internal.h"

#include <stdlib.h>

static void upper(char *out, size_t size, const char *name) {
  size_t i = 0;
  for (; name[i] && i + 1 < size; i++)
    out[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 32 : name[i]);
  out[i] = 0;
}

struct defines {
  size_t count;
  struct {
    char name[40];
    int64_t value;
  } at[64];
};

static void collect(const struct problem *problem, const struct choice *choice,
                    const struct kernel_target *target, struct defines *d) {
  struct kernel_define chosen[KERNEL_DEFINES_MAX];
  d->count = 0;
  for (int i = 0; i < problem_number_count(problem->kind); i++) {
    upper(d->at[d->count].name, sizeof d->at[0].name, problem_number_name(problem->kind, i));
    d->at[d->count++].value = problem_number(problem, i);
  }
  int n = choice->kernel->defines(problem, target, choice, chosen);
  for (int i = 0; i < n; i++) {
    snprintf(d->at[d->count].name, sizeof d->at[0].name, "%s", chosen[i].name);
    d->at[d->count++].value = chosen[i].value;
  }
}

/* Where a line of the view begins, lines counted over all dimensions but the last. */
static void emit_line(struct text *out, const char *name, const struct view *view) {
  int64_t lines = 1;
  const int last = view->shape.rank - 1;
  text_printf(out, "    const long %s_at = 0", name);
  for (int d = last; d-- > 0; lines *= view->shape.dims[d])
    if (view->stride[d] && view->shape.dims[d] != 1)
      text_printf(out, " + (o - j) / %lldl %% %lldl * %lldl",
                  (long long)(lines * view->shape.dims[last]), (long long)view->shape.dims[d],
                  (long long)view->stride[d]);
  text_puts(out, ";\n");
}

static void emit_operand(struct text *out, const char *name, size_t k,
                         const struct epilogue *epilogue, int64_t columns) {
  const struct view *view = &epilogue->operands[k];
  const enum operand_kind kind = epilogue->kinds[k];
  const hone_dtype dtype = view->dtype;
  const char *at = kind == OPERAND_FULL ? "o" : "j", *type = c_type(dtype);
  bool half = dtype == HONE_BF16, floats = dtype == HONE_F32 || dtype == HONE_BOOL || half;
  const char *vector = floats ? "vec" : "veci", *splat = floats ? "splat_" : "splati_";
  char line[40] = "0";
  if (kind == OPERAND_BROADCAST) {
    emit_line(out, name, view);
    snprintf(line, sizeof line, "%s_at", name);
  }
  const bool one =
      kind == OPERAND_SCALAR || (kind == OPERAND_BROADCAST && !view->stride[view->shape.rank - 1]);
  if (one && half)
    text_printf(out, "    const vec %s = splat_bf16_((const %s *)e[%zu] + %s);\n", name, type, k,
                line);
  else if (one)
    text_printf(out, "    const %s %s = %s(((const %s *)e[%zu])[%s]);\n", vector, name, splat, type,
                k, line);
  else if (kind == OPERAND_ROW && half)
    text_printf(out, "    const vec %s = splat_bf16_((const %s *)e[%zu] + (o - j) / %lldl);\n",
                name, type, k, (long long)columns);
  else if (kind == OPERAND_ROW)
    text_printf(out, "    const %s %s = %s(((const %s *)e[%zu])[(o - j) / %lldl]);\n", vector, name,
                splat, type, k, (long long)columns);
  else if (floats)
    text_printf(out, "    const vec %s = load_%s_((const %s *)e[%zu] + %s + %s, lanes);\n", name,
                dtype == HONE_BOOL ? "u8" : vector_suffix(dtype), type, k, line, at);
  else
    text_printf(out, "    const veci %s = widen_%s((const %s *)e[%zu] + %s, lanes);\n", name,
                vector_suffix(dtype), type, k, at);
}

/* Sums of bytes as the text makes them, to what they stand for. */
static void emit_sums(struct text *out, const struct step *step) {
  const struct epilogue *epilogue = &step->epilogue;
  if (epilogue->sums == SUMS_ADDED)
    text_puts(out, "    x += widen_i32((const int32_t *)e[0] + j, lanes);\n");
  if (epilogue->sums == SUMS_AT_RUN)
    text_printf(
        out, "    x -= widen_i32((const int32_t *)e[0] + j, lanes) * (*(const %s *)e[1] + %d);\n",
        c_type(epilogue->operands[1].dtype),
        epilogue->operands[1].dtype == HONE_I8 ? kernel_signed_shift(step->choice.kernel) : 0);
}

static hone_status emit_epilogue(struct emitter *e, struct text *out, const struct step *step) {
  const struct epilogue *epilogue = &step->epilogue;
  const struct program *program = &epilogue->program;
  char result[32], name[32];
  bool integer = step->problem.types.acc == TYPE_I32;
  const struct problem *p = &step->problem;
  int64_t columns = p->kind == PROBLEM_gemm ? p->n : p->oc;
  size_t own = (size_t)epilogue->sums;
  if (!own && program->result == PROGRAM_RAW) {
    text_puts(out, "#define HAS_EPILOGUE 0\n#define EPILOGUE(x, o, j, lanes) (x)\n");
    return HONE_OK;
  }
  bool whole = !integer && program->raw == HONE_I32;
  bool floats = program->count ? program_dtype(program) == HONE_F32 : !integer;
  text_printf(out,
              "INLINE_ %s HONE_NAME(NAME, _epilogue)(%s x, "
              "const void *const *e, long o, long j, long lanes) {\n",
              floats ? "vec" : "veci", integer ? "veci" : "vec");
  text_puts(out, "    (void)e, (void)o, (void)j, (void)lanes;\n");
  emit_sums(out, step);
  text_printf(out, "    const %s r = x;\n    (void)r;\n", integer ? "veci" : "vec");
  for (size_t k = own; k < own + epilogue->program.input_count; k++) {
    snprintf(name, sizeof name, "i%zu", k - own);
    emit_operand(out, name, k, epilogue, columns);
  }
  TRY(emit_program(e, out, program, whole ? PROGRAM_WHOLE_FLOATS : PROGRAM_VECTOR, result));
  text_printf(out, "    return %s;\n}\n", result);
  text_puts(out,
            "#define HAS_EPILOGUE 1\n#define EPILOGUE(x, o, j, lanes) HONE_NAME(NAME, "
            "_epilogue)(x, e, o, j, lanes)\n");
  return HONE_OK;
}

static hone_status emit_text(struct emitter *e, const struct step *step, const char *file,
                             bool epilogue, int *out_number) {
  struct text body = {0};
  hone_status status = HONE_OK;
  struct defines *d = malloc(sizeof *d);
  if (!d) return fail(e->ctx, HONE_E_OOM, place_none(), "no memory for the numbers of %s", file);
  collect(&step->problem, &step->choice, &e->plan->kernel_target, d);
  char line[512];
  problem_print(line, sizeof line, &step->problem);
  text_printf(&body, "/* %s: %s */\n", step->choice.kernel->name, line);
  for (size_t i = 0; i < d->count; i++)
    text_printf(&body, "#define %s %lldl\n", d->at[i].name, (long long)d->at[i].value);
  if (epilogue) status = emit_epilogue(e, &body, step);
  if (!status) status = put_text(e, file, &body);
  for (size_t i = 0; i < d->count; i++) text_printf(&body, "#undef %s\n", d->at[i].name);
  if (epilogue) text_puts(&body, "#undef HAS_EPILOGUE\n#undef EPILOGUE\n");
  if (!status)
    status = emit_shared(e, &body, FUNCTION_VECTORS, epilogue ? KERNEL_PARAMETERS : PACK_PARAMETERS,
                         out_number);
  text_deinit(&body);
  free(d);
  return status;
}

hone_status emit_kernel(struct emitter *e, const struct step *step, int *out_number) {
  return emit_text(e, step, step->choice.kernel->text, true, out_number);
}

hone_status emit_pack(struct emitter *e, const struct step *step, int *out_number) {
  return emit_text(e, step, step->choice.kernel->pack_text, false, out_number);
}

hone_status emit_kernel_alone(struct ctx *ctx, const struct kernel_alone *alone, struct text *out) {
  const struct kernel *kernel = alone->choice->kernel;
  const char *file = alone->packs ? kernel->pack_text : kernel->text;
  struct defines *d = malloc(sizeof *d);
  if (!d) return fail(ctx, HONE_E_OOM, place_none(), "no memory for the numbers of %s", file);
  collect(alone->problem, alone->choice, alone->target, d);
  for (size_t i = 0; i < d->count; i++)
    text_printf(out, "#define %s %lldl\n", d->at[i].name, (long long)d->at[i].value);
  text_printf(out, "#define NAME %s\nHIDDEN NOIPA void NAME%s;\n", alone->name,
              alone->packs ? PACK_PARAMETERS : KERNEL_PARAMETERS);
  text_printf(out, "#define HAS_EPILOGUE %d\n#define EPILOGUE(x, o, j, lanes) (%s)\n",
              alone->epilogue != NULL, alone->epilogue ? alone->epilogue : "x");
  const hone_status status = emit_kernel_text(ctx, file, out);
  for (size_t i = 0; i < d->count; i++) text_printf(out, "#undef %s\n", d->at[i].name);
  text_puts(out, "#undef NAME\n#undef HAS_EPILOGUE\n#undef EPILOGUE\n");
  free(d);
  return status;
}
