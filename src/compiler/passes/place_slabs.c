/* place-slabs: ScatterND whose constant indices are a range of one axis and all of the others, in
 * order, as exporters write x[:, 2:4] = y, becomes a Concat of the part before the range, the
 * updates and the part after it. These are copied in runs, or written in place, instead of element
 * by element.
 */
#include "rewrite.h"

struct slab {
  int axis;
  int64_t first, end;
  struct shape shape; /* of the part that the updates fill */
};

static int64_t place_at(const struct node *node, int64_t row, int k) {
  const struct tensor *places = node->inputs[1]->constant;
  const int64_t length = places->shape.dims[places->shape.rank - 1];
  const int64_t at = tensor_i64(places, (size_t)(row * length + k));
  return at < 0 ? at + node->inputs[0]->shape.dims[k] : at;
}

/* The smallest slab with the first and the last index; false if it is partial in more than one
   axis. */
static bool span(const struct node *node, int64_t rows, int length, struct slab *out) {
  bool is_cut = false;
  *out = (struct slab){.end = node->inputs[0]->shape.dims[0], .shape = node->inputs[0]->shape};
  for (int k = 0; k < length; k++) {
    const int64_t first = place_at(node, 0, k), end = place_at(node, rows - 1, k) + 1;
    if (first == 0 && end == out->shape.dims[k]) continue;
    if (is_cut || first < 0 || end <= first || end > out->shape.dims[k]) return false;
    is_cut = true;
    *out = (struct slab){k, first, end, out->shape};
    out->shape.dims[k] = end - first;
  }
  return true;
}

/* True if the indices are those of the slab, row by row. */
static bool is_in_order(const struct node *node, int64_t rows, int length,
                        const struct slab *slab) {
  int64_t count = 1, at[HONE_MAX_RANK] = {0};
  for (int k = 0; k < length; k++) count *= slab->shape.dims[k];
  if (count != rows) return false;
  for (int64_t row = 0; row < rows; row++) {
    for (int k = 0; k < length; k++)
      if (place_at(node, row, k) != at[k] + (k == slab->axis ? slab->first : 0)) return false;
    for (int k = length - 1; k >= 0 && ++at[k] == slab->shape.dims[k]; k--) at[k] = 0;
  }
  return true;
}

/* A state that the node updates: the plan writes only the updates, in place. */
static bool is_state(const struct graph *graph, const struct node *node) {
  for (size_t i = 0; i < graph->aliases.count; i++)
    if (graph->inputs.at[graph->aliases.at[i].input] == node->inputs[0] &&
        graph->outputs.at[graph->aliases.at[i].output] == node->outputs[0])
      return true;
  return false;
}

static bool finds_slab(const struct rewrite *r, const struct node *node, struct slab *out) {
  const struct value *x = node->inputs[0], *places = node->inputs[1], *y = node->outputs[0];
  if (!y || !places->constant || x->dtype == HONE_STRING || value_is_open(y) || y->slope ||
      node->inputs[2]->slope || strcmp(node_string(node, "reduction", "none"), "none"))
    return false;
  const int64_t count = (int64_t)tensor_count(places->constant);
  const int64_t length = places->shape.rank ? places->shape.dims[places->shape.rank - 1] : 0;
  if (!count || length < 1 || length > x->shape.rank || is_state(r->graph, node)) return false;
  return span(node, count / length, (int)length, out) &&
         is_in_order(node, count / length, (int)length, out);
}

static hone_status visit(struct rewrite *r, struct node *node) {
  struct value *x = node->inputs[0], *parts[3];
  struct slab slab;
  size_t count = 0;
  if (!is_op(node, OP_ScatterND) || !finds_slab(r, node, &slab)) return HONE_OK;
  const int64_t size = x->shape.dims[slab.axis];
  if (slab.first > 0) parts[count++] = x_slice(r->b, x, (int)slab.axis, 0, slab.first);
  parts[count] = node->inputs[2];
  if (!shape_equal(&parts[count]->shape, &slab.shape))
    parts[count] = x_reshape(r->b, parts[count], slab.shape.dims, slab.shape.rank);
  count++;
  if (slab.end < size) parts[count++] = x_slice(r->b, x, (int)slab.axis, slab.end, size);
  BUILD(r->b, x = x_concat(r->b, slab.axis, parts, count));
  if (count > 1) node_stand_for(x->producer, node);
  return rewrite_replace(r, node->outputs[0], x);
}

/* needs: shapes, constants. keeps: order, shapes. breaks: uses. */
hone_status pass_place_slabs(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
