/* Prints a plan: one line per step, for --dump-after plan and tests. */
#include "plan.h"

static void print_view(struct strbuf *text, const struct view *view) {
  static const char *const places[] = {"in", "out", "weights", "arena"};
  if (!view->buffer) {
    strbuf_puts(text, "-");
    return;
  }
  const struct buffer *buffer = view->buffer;
  bool io = buffer->place == BUFFER_INPUT || buffer->place == BUFFER_OUTPUT;
  strbuf_printf(text, "%s%s%zu%s", places[buffer->place], io ? "" : "+",
                io ? (size_t)buffer->index : buffer->offset,
                view_is_dense(view)           ? ""
                : view_is_channels_last(view) ? " nhwc"
                                              : " strided");
  shape_print(text, &view->shape);
}

const char *step_kind_name(const struct step *step) {
  switch (step->kind) {
    case STEP_KERNEL:
      return step->choice.kernel->name;
    case STEP_PACK:
      return "pack";
    case STEP_ELEMENTWISE:
      return "elementwise";
    case STEP_COPY:
      return "copy";
    case STEP_GENERIC:
      return "plain";
    case STEP_FILL:
      return "fill";
    case STEP_SIZES:
      return "sizes";
    case STEP_FAIL:
      return "fail";
    case STEP_IF:
      return "if";
    case STEP_LOOP:
      return "loop";
    case STEP_ELSE:
      return "else";
    case STEP_END:
      return "end";
  }
  return "?";
}

void operations_print(struct strbuf *text, const struct operation *operations, size_t count) {
  for (size_t k = 0; k < count; k++) {
    const struct operation *o = &operations[k];
    strbuf_printf(text, " %s(", o->op->name);
    for (int a = 0; a < o->arg_count; a++) {
      if (a) strbuf_puts(text, ", ");
      if (o->args[a] == PROGRAM_RAW)
        strbuf_puts(text, "raw");
      else if (o->args[a] >= 0)
        strbuf_printf(text, "$%d", o->args[a]);
      else
        strbuf_printf(text, "@%d", PROGRAM_INPUT_INDEX(o->args[a]));
    }
    strbuf_puts(text, ")");
  }
}

static void print_program(struct strbuf *text, const struct expr *program) {
  if (program->count) strbuf_puts(text, " program:");
  operations_print(text, program->at, program->count);
}

void plan_print(struct strbuf *text, const struct plan *plan) {
  strbuf_printf(text, "plan: %zu steps, arena %zu bytes (lower bound %zu), weights %zu bytes, %s\n",
                plan->steps.count, plan->arena_bytes, plan->lower_bound_bytes, plan->weights_bytes,
                plan->schedule.target.level);
  for (size_t i = 0; i < plan->steps.count; i++) {
    const struct step *step = plan->steps.at[i];
    char line[512] = "", choice[512] = "";
    if (step->kind == STEP_KERNEL) {
      problem_print(line, sizeof line, &step->problem);
      choice_print(choice, sizeof choice, &step->choice);
    }
    strbuf_printf(text, "%4zu %-16s %s%s units %lld  ", i, step_kind_name(step),
                  step->op ? step->op->name : "layout",
                  step->serial              ? " serial"
                  : step->overlaps_previous ? " joined"
                                            : "",
                  (long long)step->units);
    for (size_t k = 0; k < step->input_count; k++) {
      print_view(text, &step->inputs[k]);
      strbuf_puts(text, " ");
    }
    strbuf_puts(text, step->in_place ? "=> " : "-> ");
    for (size_t k = 0; k < step->output_count; k++) {
      print_view(text, &step->outputs[k]);
      strbuf_puts(text, " ");
    }
    print_program(text, step->kind == STEP_KERNEL ? &step->epilogue.program : &step->program);
    strbuf_printf(text, "%s%s%s%s\n", line[0] ? "  | " : "", line, line[0] ? " -> " : "", choice);
  }
}
