/* Instances of kernel texts: defines, the fused program as EPILOGUE, the text itself, undefines. */
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

static void emit_operand(struct text *out, const char *name, size_t k, enum operand_kind kind) {
  const char *at = kind == OPERAND_FULL ? "o" : "j";
  if (kind == OPERAND_SCALAR)
    text_printf(out, "    const vec %s = splat_(*(const float *)e[%zu]);\n", name, k);
  else
    text_printf(out, "    const vec %s = load_lanes_((const float *)e[%zu] + %s, lanes);\n", name,
                k, at);
}

/* Sums of bytes as the text makes them, to what they stand for. */
static void emit_sums(struct text *out, const struct epilogue *epilogue) {
  if (epilogue->sums == SUMS_ADDED)
    text_puts(out, "    x += widen_i32((const int32_t *)e[0] + j, lanes);\n");
  if (epilogue->sums == SUMS_AT_RUN)
    text_printf(out,
                "    x -= widen_i32((const int32_t *)e[0] + j, lanes) * (*(const %s *)e[1]%s);\n",
                c_type(epilogue->operands[1].dtype),
                epilogue->operands[1].dtype == HONE_I8 ? " + 128" : "");
}

static hone_status emit_epilogue(struct emitter *e, struct text *out, const struct step *step) {
  const struct epilogue *epilogue = &step->epilogue;
  char result[32], name[32];
  bool integer = step->problem.types.acc == TYPE_I32, floats = epilogue->program.count > 0;
  size_t own = (size_t)epilogue->sums;
  if (!own && epilogue->program.result == PROGRAM_RAW) {
    text_puts(out, "#define HAS_EPILOGUE 0\n#define EPILOGUE(x, o, j, lanes) (x)\n");
    return HONE_OK;
  }
  text_printf(out,
              "static inline __attribute__((always_inline)) %s HONE_NAME(NAME, _epilogue)(%s x, "
              "const void *const *e, long o, long j, long lanes) {\n",
              integer && !floats ? "veci" : "vec", integer ? "veci" : "vec");
  text_puts(out, "    (void)e, (void)o, (void)j, (void)lanes;\n");
  emit_sums(out, epilogue);
  text_puts(out, !integer ? "    const vec r = x;\n"
                 : floats ? "    const vec r = __builtin_convertvector(x, vec);\n"
                          : "    const veci r = x;\n");
  text_puts(out, "    (void)r;\n");
  for (size_t k = own; k < epilogue->count; k++) {
    snprintf(name, sizeof name, "i%zu", k - own);
    emit_operand(out, name, k, epilogue->kinds[k]);
  }
  TRY(emit_program(e, out, &epilogue->program, true, result));
  text_printf(out, "    return %s;\n}\n", result);
  text_puts(out,
            "#define HAS_EPILOGUE 1\n#define EPILOGUE(x, o, j, lanes) HONE_NAME(NAME, "
            "_epilogue)(x, e, o, j, lanes)\n");
  return HONE_OK;
}

static hone_status emit_text(struct emitter *e, const struct step *step, const char *file,
                             bool epilogue, int *out_number) {
  struct text body = {0};
  struct defines *d = malloc(sizeof *d);
  size_t length;
  const char *text = kernel_text(file, &length);
  hone_status status = HONE_OK;
  if (!text || !d) {
    free(d);
    return fail(e->ctx, text ? HONE_E_OOM : HONE_E_INTERNAL, place_none(), "kernel text %s", file);
  }
  collect(&step->problem, &step->choice, &e->plan->kernel_target, d);
  char line[512];
  problem_print(line, sizeof line, &step->problem);
  text_printf(&body, "/* %s: %s */\n", step->choice.kernel->name, line);
  for (size_t i = 0; i < d->count; i++)
    text_printf(&body, "#define %s %lldl\n", d->at[i].name, (long long)d->at[i].value);
  if (epilogue) status = emit_epilogue(e, &body, step);
  text_append(&body, text, length);
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

hone_status emit_kernel_alone(struct ctx *ctx, const struct problem *problem,
                              const struct choice *choice, const struct kernel_target *target,
                              const char *name, struct text *out) {
  size_t length;
  const char *text = kernel_text(choice->kernel->text, &length);
  struct defines *d = malloc(sizeof *d);
  if (!text || !d) {
    free(d);
    return fail(ctx, text ? HONE_E_OOM : HONE_E_INTERNAL, place_none(), "kernel text %s",
                choice->kernel->text);
  }
  collect(problem, choice, target, d);
  for (size_t i = 0; i < d->count; i++)
    text_printf(out, "#define %s %lldl\n", d->at[i].name, (long long)d->at[i].value);
  text_printf(out, "#define NAME %s\nHIDDEN NOIPA void NAME%s;\n", name, KERNEL_PARAMETERS);
  text_puts(out, "#define HAS_EPILOGUE 0\n#define EPILOGUE(x, o, j, lanes) (x)\n");
  text_append(out, text, length);
  for (size_t i = 0; i < d->count; i++) text_printf(out, "#undef %s\n", d->at[i].name);
  text_puts(out, "#undef NAME\n#undef HAS_EPILOGUE\n#undef EPILOGUE\n");
  free(d);
  return HONE_OK;
}
