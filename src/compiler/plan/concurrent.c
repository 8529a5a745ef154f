/* concurrent: kernel steps that follow each other, read the same operand and do not depend on each
 * other run at the same time, such as the projections of query, key and value: the threads wait for
 * each other once. So does a step whose epilogue reads what the one before it has written, if each
 * work item reads the elements of the same work item: the two halves of a gated layer.
 */
#include "plan.h"

static bool is_alike(const struct step *a, const struct step *b) {
  return a->choice.kernel == b->choice.kernel &&
         !memcmp(a->choice.value, b->choice.value, sizeof a->choice.value) &&
         a->units == b->units && a->problem.m == b->problem.m && a->problem.n == b->problem.n &&
         a->problem.c_row == b->problem.c_row &&
         shape_equal(&a->outputs[0].shape, &b->outputs[0].shape);
}

/* Each work item of `step` reads of the result of `before` what its own number has written. */
static bool reads_own_items(const struct step *before, const struct step *step, size_t operand) {
  const struct view *in = &step->epilogue.operands[operand], *out = &before->outputs[0];
  const enum operand_kind kind = step->epilogue.kinds[operand]; /* of one row, each is a column */
  return (kind == OPERAND_FULL || kind == OPERAND_COLUMN) && is_alike(before, step) &&
         in->dtype == out->dtype && in->offset == out->offset &&
         shape_equal(&in->shape, &out->shape) && view_same_strides(in, out);
}

static bool is_independent(const struct step *before, const struct step *step) {
  const struct buffer *made = before->outputs[0].buffer, *to = step->outputs[0].buffer;
  if (before->kind != STEP_KERNEL || before->serial || made == to) return false;
  for (size_t k = 0; k < step->input_count; k++)
    if (step->inputs[k].buffer == made) return false;
  for (size_t k = 0; k < step->epilogue.count; k++)
    if (step->epilogue.operands[k].buffer == made && !reads_own_items(before, step, k))
      return false;
  for (size_t k = 0; k < before->input_count; k++)
    if (before->inputs[k].buffer == to) return false;
  for (size_t k = 0; k < before->epilogue.count; k++)
    if (before->epilogue.operands[k].buffer == to) return false;
  return true;
}

/* Results outside the arena may be state, whose memory is that of an input. */
static bool may_join(const struct step *step) {
  return step->kind == STEP_KERNEL && !step->serial && !step->prefix.inner &&
         !step->overlaps_previous && step->inputs[0].buffer &&
         step->outputs[0].buffer->place == BUFFER_ARENA;
}

void join_steps(struct plan *plan) {
  for (size_t first = 0, i = 1; i < plan->steps.count; i++) {
    struct step *step = plan->steps.at[i];
    bool joins =
        may_join(step) && step->inputs[0].buffer == plan->steps.at[i - 1]->inputs[0].buffer;
    for (size_t s = first; joins && s < i; s++) joins = is_independent(plan->steps.at[s], step);
    if (joins)
      step->overlaps_previous = true;
    else if (!step->overlaps_previous)
      first = i;
  }
}
