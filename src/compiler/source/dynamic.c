/* Steps with dynamic sizes: their number of work items at run time. */
#include "source_internal.h"

bool is_open_loop(const struct step *step) {
  struct loop_nest nest;
  bool open = false;
  if (step->kind == STEP_FILL) return true;
  if (step->kind == STEP_COPY) {
    for (int d = 0; d < step->copy_rank; d++) open |= !slope_is_zero(&step->copy[d].slope);
  } else if (step->kind == STEP_ELEMENTWISE) {
    plan_loops(step, &nest);
    for (int d = 0; d < nest.rank; d++) open |= !slope_is_zero(&nest.slope[d]);
  }
  return open;
}

static void emit_chunks(struct strbuf *out, int64_t size, const struct slope *slope,
                        int64_t chunk) {
  strbuf_puts(out, "(");
  emit_size(out, size, slope);
  strbuf_printf(out, " + %lldl) / %lldl", (long long)chunk - 1, (long long)chunk);
}

void emit_loop_units(struct strbuf *out, const struct step *step) {
  struct loop_nest nest;
  int inner, rank = step->copy_rank;
  int64_t chunk, units;
  if (step->kind == STEP_FILL) {
    strbuf_printf(out, "%lldl", (long long)step->units);
    return;
  }
  if (step->kind == STEP_COPY) {
    plan_copy_loops(step, &inner, &chunk, &units);
  } else {
    plan_loops(step, &nest);
    inner = nest.inner;
    chunk = nest.chunk;
    rank = nest.rank;
  }
  if (!inner && chunk && step->kind == STEP_COPY) {
    emit_chunks(out, step->copy[0].size, &step->copy[0].slope, chunk);
    return;
  }
  if (!inner && chunk) {
    emit_chunks(out, nest.size[0], &nest.slope[0], chunk);
    return;
  }
  strbuf_puts(out, "1l");
  for (int d = 0; d < rank - inner; d++) {
    strbuf_puts(out, " * ");
    if (step->kind == STEP_COPY)
      emit_size(out, step->copy[d].size, &step->copy[d].slope);
    else
      emit_size(out, nest.size[d], &nest.slope[d]);
  }
}
