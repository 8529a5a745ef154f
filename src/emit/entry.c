/* The run function: the steps in order with barriers between them, on one thread or on all. */
#include "emit_internal.h"

static bool all_serial(const struct plan *plan) {
  for (size_t i = 0; i < plan->steps.count; i++)
    if (!plan->steps.at[i]->serial) return false;
  return true;
}

/* Whether any step of the group of joined steps that begins at `first` runs on all threads. */
static bool group_is_shared(const struct plan *plan, size_t first) {
  for (size_t i = first; i < plan->steps.count && (i == first || plan->steps.at[i]->joined); i++)
    if (!plan->steps.at[i]->serial) return true;
  return false;
}

/* Every thread reads the condition: behind a barrier, and nothing writes it before the END. */
static void emit_bracket(struct text *out, const struct step *step, bool first) {
  switch (step->kind) {
    case STEP_IF:
      text_printf(out, "%s  if (*", first ? "" : "  barrier(f);\n");
      emit_address(out, &step->inputs[0], true);
      text_puts(out, ") {\n");
      break;
    case STEP_ELSE:
      text_puts(out, "  } else {\n");
      break;
    default:
      text_puts(out, "  }\n");
  }
}

void emit_run(struct emitter *e) {
  const struct plan *plan = e->plan;
  text_puts(e->out,
            "static void body(void *argument, int32_t thread, int32_t count) {\n  struct frame "
            "*const f = argument;\n"
            "  const long t = thread, n = count;\n  (void)f, (void)t, (void)n;\n");
  /* Steps of thread 0 in a row need no barrier between them; a group with a shared step needs one before
     and behind. */
  bool shared_before = false;
  for (size_t i = 0; i < plan->steps.count; i++) {
    const struct step *step = plan->steps.at[i];
    if (step->kind >= STEP_IF) {
      emit_bracket(e->out, step, !i);
      shared_before = step->kind == STEP_END;
      continue;
    }
    if (i && !step->joined && (shared_before || group_is_shared(plan, i))) {
      text_puts(e->out, "  barrier(f);\n");
      shared_before = false;
    }
    shared_before |= !step->serial;
    text_printf(e->out, "  s%zu(f, t, n);\n", i);
  }
  text_puts(e->out,
            "}\n\nstatic int32_t run(const void *weights, void *arena, const struct hone_io *io, "
            "const struct hone_team *team) {\n"
            "  struct frame f = {weights, arena, io->inputs, io->outputs, NULL, 0};\n");
  if (all_serial(plan)) {
    text_puts(e->out, "  (void)team; /* too small to share */\n  body(&f, 0, 1);\n");
  } else {
    text_puts(e->out,
              "  if (team && team->thread_count > 1) {\n    f.team = team;\n    "
              "team->run(team->self, body, &f);\n"
              "  } else {\n    body(&f, 0, 1);\n  }\n");
  }
  text_puts(e->out,
            "  if (!f.status && io->output_dims)\n    for (int32_t i = 0; i < output_count; i++)\n"
            "      for (int32_t d = 0; d < outputs[i].rank; d++)\n        if (io->output_dims[i]) "
            "io->output_dims[i][d] = outputs[i].dims[d];\n"
            "  return f.status;\n}\n\n");
}
