/* loop_append: a Loop that stays, with a loop-carried list to which each iteration appends:
 * Concat(carried, part) along axis 0, where no other node reads the list before the loop ends. The
 * appended parts become a scan output, which is concatenated to the initial list afterwards: the
 * loop-carried value would change its shape. */
#include "core/ops/control/control.h"

enum { CARRIED = 2 };

struct growth {
  const struct node *node;
  struct graph *body;
  size_t k;            /* index of the loop-carried value */
  struct node *append; /* the body's Concat */
};

/* True if x has as many rows as its first axis, each of the same number of elements. */
static bool is_list_of_rows(const struct value *x) {
  return x && x->has_shape && !x->list && !value_is_open(x) && x->shape.rank &&
         x->dtype != HONE_STRING && dims_product(&x->shape, 1, x->shape.rank) > 0;
}

/* Read only by its Concat, whose result is only passed to the next iteration. */
static bool grows(const struct node *node, struct graph *body, const uint32_t *uses, size_t k,
                  struct growth *out) {
  const struct value *begin = node->inputs[CARRIED + k], *carried = body->inputs.at[CARRIED + k],
                     *made = body->outputs.at[1 + k];
  struct node *append = made->producer;
  if (!is_list_of_rows(begin) || !graph_owns(body, made) || !append || !is_op(append, OP_Concat) ||
      append->input_count < 2 || append->inputs[0] != carried)
    return false;
  const int64_t axis = node_int(append, "axis", 0);
  *out = (struct growth){node, body, k, append};
  return (!axis || axis == -begin->shape.rank) && uses[carried->index] == 1 &&
         uses[made->index] == 1;
}

/* The body returns the appended part as its last scan output. */
static hone_status change_body(struct ctx *ctx, const struct growth *g) {
  const struct value *begin = g->node->inputs[CARRIED + g->k];
  struct graph *body = g->body;
  const size_t in = CARRIED + g->k, out = 1 + g->k;
  struct shape none = begin->shape;
  none.dims[0] = 0;
  TRY(graph_new_constant(ctx, body, begin->dtype, &none, &g->append->inputs[0]));
  body->inputs.at[in]->is_input = false;
  memmove(&body->inputs.at[in], &body->inputs.at[in + 1],
          (--body->inputs.count - in) * sizeof *body->inputs.at);
  struct value *part = body->outputs.at[out];
  memmove(&body->outputs.at[out], &body->outputs.at[out + 1],
          (body->outputs.count - 1 - out) * sizeof *body->outputs.at);
  body->outputs.at[body->outputs.count - 1] = part;
  return HONE_OK;
}

/* The Loop without the loop-carried value; *out_collected: [iterations, rows, ..], NULL if it is
 * unused. */
static hone_status make_loop(struct ctx *ctx, struct graph *graph, const struct growth *g,
                             struct node_list *list, struct value **out_collected) {
  const struct node *node = g->node;
  const size_t in = CARRIED + g->k, last = node->output_count - 1;
  struct value **inputs;
  struct node *loop;
  TRY(NEW_ARRAY(ctx, graph->arena, inputs, node->input_count));
  memcpy(inputs, node->inputs, in * sizeof *inputs);
  memcpy(inputs + in, node->inputs + in + 1, (node->input_count - 1 - in) * sizeof *inputs);
  TRY(control_node(ctx, graph, OP_Loop, node, inputs, node->input_count - 1, NULL, list, &loop));
  struct value *collected = loop->outputs[0];
  TRY(NEW_ARRAY(ctx, graph->arena, loop->outputs, node->output_count));
  loop->output_count = node->output_count;
  memcpy(loop->outputs, node->outputs, g->k * sizeof *inputs);
  memcpy(loop->outputs + g->k, node->outputs + g->k + 1, (last - g->k) * sizeof *inputs);
  if (node->outputs[g->k]) loop->outputs[last] = collected;
  for (size_t k = 0; k < last; k++)
    if (loop->outputs[k]) loop->outputs[k]->producer = loop;
  *out_collected = loop->outputs[last];
  return node_set(ctx, graph, loop, node_attribute(node, "body"));
}

/* All rows, after the initial rows of the list. */
static hone_status join_rows(struct ctx *ctx, struct graph *graph, const struct growth *g,
                             struct value *collected, struct node_list *list) {
  struct value *begin = g->node->inputs[CARRIED + g->k], *to = g->node->outputs[g->k], *shape;
  const bool is_all = !begin->shape.dims[0];
  struct shape dims = begin->shape;
  struct node *rows, *joined;
  dims.dims[0] = -1;
  TRY(graph_ints(ctx, graph, dims.dims, (size_t)dims.rank, &shape));
  TRY(control_node(ctx, graph, OP_Reshape, g->node, (struct value *[]){collected, shape}, 2,
                   is_all ? to : NULL, list, &rows));
  if (is_all) return HONE_OK;
  TRY(control_node(ctx, graph, OP_Concat, g->node, (struct value *[]){begin, rows->outputs[0]}, 2,
                   to, list, &joined));
  return node_set_int(ctx, graph, joined, "axis", 0);
}

hone_status loop_of_appending(struct ctx *ctx, struct graph *graph, const struct node *node,
                              struct node_list *out, bool *out_done) {
  const size_t states = node->input_count > CARRIED ? node->input_count - CARRIED : 0;
  const struct graph *body;
  struct value *collected;
  struct growth g;
  uint32_t *uses;
  size_t k = 0;
  *out_done = false;
  TRY(control_body(ctx, node, "body", CARRIED + states, 1 + node->output_count, &body));
  if (node->output_count < states) return HONE_OK; /* loop_enter reports this */
  TRY(graph_uses(ctx, graph->arena, body, &uses));
  while (k < states && !grows(node, (struct graph *)(uintptr_t)body, uses, k, &g)) k++;
  if (k == states) return HONE_OK;
  *out_done = true;
  TRY(change_body(ctx, &g));
  TRY(make_loop(ctx, graph, &g, out, &collected));
  return collected ? join_rows(ctx, graph, &g, collected, out) : HONE_OK;
}
