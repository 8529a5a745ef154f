/* Loop: its body as steps between brackets, lowered once, with its own builder. Carried values have
 * their own buffers: an iteration reads them, writes its results to other buffers, and copies these
 * back at its end, because a body may swap two of its inputs.
 */
#include "builder.h"

enum { TRIP, CONDITION, CARRIED, PARTS = 2 };

struct loop_lowering {
  const struct node *node;
  const struct graph *body;
  size_t states;
  struct view condition, iteration;
  struct view *state;     /* [states] */
  struct buffer **made;   /* [1 + outputs], the carried ones only */
  struct view *collected; /* [outputs - states]; buffer NULL: output not used */
};

static hone_status dense_view(struct builder *b, hone_dtype dtype, const struct shape *shape,
                              struct view *out) {
  struct view like;
  view_dense(&like, NULL, dtype, shape);
  return arena_view(b, &like, out);
}

/* A generic kernel of Loop.c that one thread runs. */
static hone_status loop_step(struct builder *b, const char *name, const struct node *node,
                             const struct view *in, size_t ins, const struct view *out,
                             size_t outs) {
  struct step *step;
  TRY(new_step(b, STEP_GENERIC, node, ins, outs, &step));
  step->generic = generic_find(name);
  for (size_t k = 0; k < ins; k++) step->inputs[k] = in[k];
  for (size_t k = 0; k < outs; k++) step->outputs[k] = out[k];
  step->units = 1;
  step->serial = true;
  return HONE_OK;
}

/* LoopBegin or LoopNext with the condition `condition`, or NULL. */
static hone_status test_condition(struct builder *b, const char *name,
                                  const struct loop_lowering *l, const struct view *condition) {
  struct view in[PARTS] = {{0}}, out[PARTS] = {l->condition, l->iteration};
  const struct value *trip = node_input(l->node, TRIP);
  if (trip) TRY(get_view(b, trip, &in[0]));
  if (condition) in[1] = *condition;
  return loop_step(b, name, l->node, in, PARTS, out, PARTS);
}

static hone_status begin(struct builder *b, struct loop_lowering *l) {
  struct value *const *inputs = l->body->inputs.at;
  const struct node *node = l->node;
  struct view condition, from;
  struct step *step;
  TRY(dense_view(b, HONE_BOOL, &inputs[CONDITION]->shape, &l->condition));
  TRY(dense_view(b, HONE_I64, &inputs[TRIP]->shape, &l->iteration));
  TRY(NEW_ARRAY(b->ctx, b->arena, l->state, l->states + 1));
  TRY(NEW_ARRAY(b->ctx, b->arena, l->made, node->output_count + 2));
  TRY(NEW_ARRAY(b->ctx, b->arena, l->collected, node->output_count + 1));
  for (size_t k = 0; k < l->states; k++) {
    const struct value *x = node->inputs[CARRIED + k];
    struct view next_state;
    TRY(dense_view(b, x->dtype, &x->shape, &l->state[k]));
    TRY(get_view(b, x, &from));
    TRY(add_copy(b, node, &from, &l->state[k], &step));
    TRY(dense_view(b, x->dtype, &x->shape, &next_state));
    l->made[1 + k] = next_state.buffer;
  }
  for (size_t k = l->states; k < node->output_count; k++) {
    const struct value *y = node->outputs[k];
    if (y) TRY(dense_view(b, y->dtype, &y->shape, &l->collected[k - l->states]));
  }
  if (node_input(node, CONDITION)) TRY(get_view(b, node->inputs[CONDITION], &condition));
  return test_condition(b, "LoopBegin", l, node_input(node, CONDITION) ? &condition : NULL);
}

static hone_status bracket(struct builder *b, enum step_kind kind, const struct loop_lowering *l) {
  struct step *step;
  TRY(new_step(b, kind, l->node, 1, 0, &step));
  step->inputs[0] = l->condition;
  step->serial = true;
  return HONE_OK;
}

/* Copies the iteration's results to where the next iteration and the end of the loop read them. */
static hone_status end_iteration(struct builder *inner, const struct loop_lowering *l) {
  struct view condition, made;
  struct step *step;
  for (size_t k = 0; k + l->states < l->node->output_count; k++) {
    struct view in[PARTS] = {{0}, l->iteration};
    if (!l->collected[k].buffer) continue;
    TRY(ensure_dense(inner, l->body->outputs.at[1 + l->states + k], &in[0]));
    TRY(loop_step(inner, "LoopCollect", l->node, in, PARTS, &l->collected[k], 1));
  }
  TRY(get_view(inner, l->body->outputs.at[0], &condition));
  TRY(bind_outputs(inner));
  TRY(test_condition(inner, "LoopNext", l, &condition));
  for (size_t k = 0; k < l->states; k++) {
    made = l->state[k];
    made.buffer = l->made[1 + k];
    TRY(add_copy(inner, l->node, &made, &l->state[k], &step));
  }
  return HONE_OK;
}

static hone_status lower_body(struct builder *b, const struct loop_lowering *l) {
  struct builder inner = {.ctx = b->ctx,
                          .arena = b->arena,
                          .outer = b,
                          .ends = l->made,
                          .graph = l->body,
                          .plan = b->plan,
                          .options = b->options};
  TRY(prepare_graph(&inner));
  TRY(make_strings(&inner));
  set_view(&inner, l->body->inputs.at[TRIP], &l->iteration);
  /* the condition is true while the body runs */
  set_view(&inner, l->body->inputs.at[CONDITION], &l->condition);
  for (size_t k = 0; k < l->states; k++)
    set_view(&inner, l->body->inputs.at[CARRIED + k], &l->state[k]);
  TRY(lower_graph(&inner));
  return end_iteration(&inner, l);
}

hone_status lower_loop(struct builder *b, const struct node *node, bool *out_done) {
  const struct attribute *body = node_attribute(node, "body");
  if (!body || body->kind != ATTRIBUTE_GRAPH)
    return fail(b->ctx, HONE_E_INTERNAL, node_place(node), "Loop without body");
  struct loop_lowering l = {
      .node = node,
      .body = body->graph,
      .states = node->input_count > CARRIED ? node->input_count - CARRIED : 0};
  TRY(unpack_captured(b, node));
  TRY(begin(b, &l));
  TRY(bracket(b, STEP_LOOP, &l));
  TRY(lower_body(b, &l));
  TRY(bracket(b, STEP_END, &l));
  for (size_t k = 0; k < node->output_count; k++) {
    const struct value *y = node->outputs[k];
    if (!y) continue;
    if (k < l.states) {
      set_view(b, y, &l.state[k]);
      continue;
    }
    struct view out = l.collected[k - l.states];
    memcpy(out.extents, y->extents, sizeof out.extents);
    if (y->extents[0]) TRY(loop_step(b, "LoopCount", node, &l.iteration, 1, &out, 1));
    set_view(b, y, &l.collected[k - l.states]);
  }
  *out_done = true;
  return HONE_OK;
}
