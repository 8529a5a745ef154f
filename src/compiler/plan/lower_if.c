/* If: both branches as steps between brackets, each with its own builder. A copy into another order
 * that a branch makes is known only inside it. Its outputs are stored where the If's outputs are.
 */
#include "builder.h"

static hone_status bracket(struct builder *b, enum step_kind kind, const struct node *node,
                           const struct view *condition) {
  struct step *step;
  TRY(new_step(b, kind, node, 1, 0, &step));
  /* shared by the three brackets: it must not change before every thread has read it */
  step->inputs[0] = *condition;
  step->serial = true;
  return HONE_OK;
}

/* A branch whose shapes do not fit: it ends the run with E_SHAPE. */
static hone_status lower_impossible(struct builder *b, const struct node *node) {
  struct step *step;
  TRY(new_step(b, STEP_FAIL, node, 0, 0, &step));
  step->serial = true;
  step->units = 1;
  return HONE_OK;
}

static hone_status lower_branch(struct builder *b, const struct node *node, const char *name,
                                struct buffer *const *ends) {
  const struct attribute *branch = node_attribute(node, name);
  if (!branch || branch->kind != ATTRIBUTE_GRAPH)
    return fail(b->ctx, HONE_E_INTERNAL, node_place(node), "If without %s", name);
  if (branch->graph->impossible) return lower_impossible(b, node);
  struct builder inner = {.ctx = b->ctx,
                          .arena = b->arena,
                          .outer = b,
                          .ends = ends,
                          .graph = branch->graph,
                          .plan = b->plan,
                          .options = b->options};
  TRY(prepare_graph(&inner));
  TRY(make_strings(&inner));
  TRY(lower_graph(&inner));
  return bind_outputs(&inner);
}

hone_status lower_if(struct builder *b, const struct node *node, bool *out_done) {
  struct buffer **ends;
  struct view condition;
  TRY(get_view(b, node->inputs[0], &condition));
  TRY(unpack_captured(b, node));
  TRY(NEW_ARRAY(b->ctx, b->arena, ends, node->output_count));
  for (size_t k = 0; k < node->output_count; k++) {
    struct view like, out;
    if (!node->outputs[k]) continue;
    view_dense(&like, NULL, node->outputs[k]->dtype, &node->outputs[k]->shape);
    TRY(make_output(b, node->outputs[k], &like, &out));
    ends[k] = out.buffer;
  }
  TRY(bracket(b, STEP_IF, node, &condition));
  TRY(lower_branch(b, node, "then_branch", ends));
  TRY(bracket(b, STEP_ELSE, node, &condition));
  TRY(lower_branch(b, node, "else_branch", ends));
  *out_done = true;
  return bracket(b, STEP_END, node, &condition);
}
