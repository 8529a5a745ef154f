/* One C function per step, for chunk c of n on thread t: its work items, its addresses, and the
 * call of its body.
 */
#include "source_internal.h"

static hone_status emit_body(struct emitter *e, const struct step *step, int *out_number) {
  switch (step->kind) {
    case STEP_KERNEL:
      return emit_kernel(e, step, out_number);
    case STEP_PACK:
      return emit_pack(e, step, out_number);
    case STEP_ELEMENTWISE:
      return emit_elementwise(e, step, out_number);
    case STEP_COPY:
      return emit_copy(e, step, out_number);
    case STEP_GENERIC:
      return emit_generic(e, step, out_number);
    case STEP_FILL:
      return emit_fill(e, step, out_number);
    case STEP_SIZES:
    case STEP_FAIL:
    case STEP_IF:
    case STEP_LOOP:
    case STEP_ELSE:
    case STEP_END:
      *out_number = -1;
      return HONE_OK;
  }
  return fail(e->ctx, HONE_E_INTERNAL, place_none(), "step kind %d", (int)step->kind);
}

bool step_takes_strings(const struct step *step) {
  if (step->kind != STEP_GENERIC) return false;
  for (size_t i = 0; i < step->output_count; i++)
    if (step->outputs[i].buffer && step->outputs[i].dtype == HONE_STRING) return true;
  return false;
}

bool step_takes_extents(const struct step *step) {
  if (step->kind != STEP_GENERIC) return false;
  for (size_t i = 0; i < step->input_count; i++)
    if (view_is_open(&step->inputs[i])) return true;
  for (size_t i = 0; i < step->output_count; i++)
    if (view_is_open(&step->outputs[i])) return true;
  return step_takes_strings(step);
}

/* last: an expression after the addresses, or NULL */
static void emit_pointers(struct strbuf *out, const char *declaration, const struct view *views,
                          size_t count, bool is_const, const char *last) {
  strbuf_printf(out, "  %s[] = {", declaration);
  for (size_t i = 0; i < count; i++) {
    if (i) strbuf_puts(out, ", ");
    if (views[i].buffer)
      emit_address(out, &views[i], is_const);
    else
      strbuf_puts(out, "NULL");
  }
  if (last) strbuf_printf(out, "%s%s", count ? ", " : "", last);
  strbuf_puts(out, count || last ? "};\n" : "NULL};\n");
}

bool has_open_units(const struct step *step) { return step->prefix.inner || is_open_loop(step); }

void emit_open_units(struct strbuf *out, const struct step *step) {
  const struct active_prefix *prefix = &step->prefix;
  strbuf_puts(out, "  const long *const less = f->less;\n  (void)less;\n");
  if (prefix->inner) {
    strbuf_puts(out, "  long led = (");
    emit_size(out, step->prefix_count, step->prefix_slope);
    strbuf_printf(out, " * %lldl + %lldl) / %lldl;\n  if (led > %lldl) led = %lldl;\n",
                  (long long)prefix->part, (long long)(prefix->extra + prefix->whole - 1),
                  (long long)prefix->whole, (long long)prefix->inner, (long long)prefix->inner);
    strbuf_puts(out, "  const long units = led * ");
    if (step->group_count)
      emit_size(out, step->group_count, step->group_slope);
    else
      strbuf_printf(out, "%lldl", (long long)(step->units / prefix->inner));
    strbuf_puts(out, ";\n");
  } else {
    strbuf_puts(out, "  const long units = ");
    emit_loop_units(out, step);
    strbuf_puts(out, ";\n");
  }
}

static void emit_range(struct strbuf *out, const struct step *step) {
  char units[24] = "units";
  if (has_open_units(step))
    emit_open_units(out, step);
  else
    snprintf(units, sizeof units, "%lldl", (long long)step->units);
  if (step->serial)
    strbuf_printf(out, "  if (c) return;\n  (void)n;\n  const long begin = 0, end = %s;\n", units);
  else
    strbuf_printf(out, "  const long begin = %s * c / n, end = %s * (c + 1) / n;\n", units, units);
}

static void emit_scratch(struct strbuf *out, const struct step *step, const char *type) {
  if (!step->scratch)
    strbuf_puts(out, "NULL");
  else
    strbuf_printf(out, "(%s *)(f->arena + %zu + (size_t)t * %zu)", type, step->scratch->offset,
                  step->scratch_slice);
}

/* With a dynamic leading size, the first `led` work items of each group (emit_open_range), group
   by group. */
static void emit_kernel_call(const struct emitter *e, const struct step *step, int number) {
  struct strbuf *out = e->out;
  emit_pointers(out, "const void *const e", step->epilogue.operands, step->epilogue.count, true,
                emit_kernel_sizes(e, step, out) ? "sizes" : NULL);
  if (step->prefix.inner)
    strbuf_printf(out,
                  "  for (long u = begin, last; u < end; u = last) {\n"
                  "    const long first = u / led * %lldl - u / led * led;\n"
                  "    last = (u / led + 1) * led < end ? (u / led + 1) * led : end;\n  ",
                  (long long)step->prefix.inner);
  strbuf_printf(out, "  k%d(", number);
  emit_address(out, &step->inputs[0], true);
  strbuf_puts(out, ", ");
  if (step->inputs[1].buffer)
    emit_address(out, &step->inputs[1], true);
  else
    strbuf_puts(out, "NULL");
  strbuf_puts(out, ", ");
  emit_address(out, &step->outputs[0], false);
  strbuf_puts(out, ", e, ");
  emit_scratch(out, step, "float");
  strbuf_puts(out, step->prefix.inner ? ", first + u, first + last);\n  }\n" : ", begin, end);\n");
}

static void emit_generic_call(struct strbuf *out, const struct step *step, int number) {
  emit_pointers(out, "const void *const from", step->inputs, step->input_count, true, NULL);
  emit_pointers(out, "void *const to", step->outputs, step->output_count, false,
                step_takes_strings(step)   ? "f->extents, &f->texts"
                : step_takes_extents(step) ? "f->extents"
                                           : NULL);
  strbuf_printf(out, "  const int32_t status = k%d(from, to, ", number);
  emit_scratch(out, step, "void");
  strbuf_puts(out,
              ", begin, end);\n"
              "  if (status) SET_STATUS_(f->status, status);\n");
}

/* A few elements, each linear in the sizes. */
static void emit_sizes_of(struct strbuf *out, const struct step *step) {
  const char *type = c_type(step->outputs[0].dtype);
  const struct tensor *bounds = step->size_bounds;
  strbuf_printf(out,
                "  (void)begin, (void)end;\n  const long *const less = f->less;\n  (void)less;\n"
                "  %s *const o = ",
                type);
  emit_address(out, &step->outputs[0], false);
  strbuf_puts(out, ";\n");
  for (size_t i = 0; i < tensor_count(bounds); i++) {
    strbuf_printf(out, "  o[%zu] = (%s)", i, type);
    emit_size(out, (int64_t)tensor_f64(bounds, i), &step->size_slopes[i]);
    strbuf_puts(out, ";\n");
  }
}

static void emit_call(const struct emitter *e, const struct step *step, int number) {
  struct strbuf *out = e->out;
  switch (step->kind) {
    case STEP_KERNEL:
      emit_kernel_call(e, step, number);
      break;
    case STEP_PACK:
      strbuf_printf(out, "  k%d(", number);
      emit_address(out, &step->inputs[0], true);
      strbuf_puts(out, ", ");
      emit_address(out, &step->outputs[0], false);
      strbuf_puts(out, ", begin, end);\n");
      break;
    case STEP_ELEMENTWISE:
    case STEP_COPY:
    case STEP_FILL:
      emit_pointers(out, "const void *const from", step->inputs, step->input_count, true, NULL);
      strbuf_printf(out, "  k%d(", number);
      emit_address(out, &step->outputs[0], false);
      strbuf_puts(
          out, is_open_loop(step) ? ", from, begin, end, f->less);\n" : ", from, begin, end);\n");
      break;
    case STEP_GENERIC:
      emit_generic_call(out, step, number);
      break;
    case STEP_SIZES:
      emit_sizes_of(out, step);
      break;
    case STEP_FAIL:
      strbuf_printf(out, "  (void)begin, (void)end;\n  f->status = %d;\n", (int)HONE_E_SHAPE);
      break;
    case STEP_IF:
    case STEP_LOOP:
    case STEP_ELSE:
    case STEP_END:
      break; /* in the run function */
  }
}

/* The step's operation, its kernel, and the model's value that it computes. */
static void emit_title(struct strbuf *out, const struct step *step, size_t i) {
  const bool is_kernel = step->kind == STEP_KERNEL, loops = step->kind == STEP_ELEMENTWISE;
  const struct expr *program = is_kernel ? &step->epilogue.program : &step->program;
  strbuf_printf(out, "/* step %zu:", i);
  if (!loops) strbuf_printf(out, " %s", step->op ? step->op->name : "layout");
  for (size_t k = 0; (is_kernel || loops) && k < program->count; k++)
    strbuf_printf(out, "%s %s", k || is_kernel ? "," : "", program->at[k].op->name);
  strbuf_puts(out, " -> ");
  for (size_t k = 0; k < step->output_count; k++)
    if (step->outputs[k].buffer) shape_print(out, &step->outputs[k].shape);
  if (is_kernel) strbuf_printf(out, " by %s", step->choice.kernel->name);
  if (step->value && is_plain_word(step->value)) strbuf_printf(out, ": \"%s\"", step->value);
  strbuf_puts(out, " */\n");
}

hone_status emit_step(struct emitter *e, size_t i) {
  const struct step *step = e->plan->steps.at[i];
  int number;
  if (step->kind >= STEP_IF) return HONE_OK; /* brackets are printed in the run function */
  TRY(emit_body(e, step, &number));
  emit_title(e->out, step, i);
  strbuf_printf(e->out, "static NOIPA void s%zu(struct frame *f, long c, long n, long t) {\n", i);
  if (!step->scratch) strbuf_puts(e->out, "  (void)t;\n");
  emit_range(e->out, step);
  emit_call(e, step, number);
  strbuf_puts(e->out, "}\n\n");
  return HONE_OK;
}
