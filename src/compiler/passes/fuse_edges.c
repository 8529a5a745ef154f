/* fuse-edges: what exporters of graph networks and embedding bags write becomes hone.SpMM, which
 * reads each source row in place, accumulates in registers and is parallel over rows. Patterns:
 * ScatterND or ScatterElements (add into zeros; max into one number; constant indices) of Gather(x,
 * constant sources), optionally times weights (for a sum), or of any rows; ReduceSum over the bag
 * of Gather(table, bags [B, L]). Constant edges are sorted by destination (counting sort, stable),
 * so a sum has the order of the scatter.
 */
#include <math.h>

#include "rewrite.h"

struct edges {
  struct value *x, *weights;    /* weights NULL: none */
  const struct tensor *sources; /* NULL: edge e reads row e of x */
  size_t count, rows;
  int64_t *to; /* [count] row of the result */
};

/* The number that fills the value; NaN: it has several. */
static double filling_of(const struct value *value) {
  if (!value->constant || value->dtype != HONE_F32 || !tensor_count(value->constant)) return NAN;
  const double first = tensor_f64(value->constant, 0);
  for (size_t i = 1; i < tensor_count(value->constant); i++)
    if (tensor_f64(value->constant, i) != first) return NAN;
  return first;
}

static bool is_max(const struct node *node) {
  return !strcmp(node_string(node, "reduction", "none"), "max");
}

/* The constant indices of a scatter, also through an Expand of one column; NULL: known only at
   run time. */
static const struct tensor *places_of(const struct node *node) {
  const struct value *places = node->inputs[1];
  const struct node *expand = producer_of(places, OP_Expand);
  if (places->constant) return places->constant;
  if (!expand || is_op(node, OP_ScatterND) || !expand->inputs[0]->constant ||
      expand->inputs[0]->shape.rank != places->shape.rank ||
      tensor_count(expand->inputs[0]->constant) != (size_t)places->shape.dims[0])
    return NULL;
  return expand->inputs[0]->shape.dims[0] == places->shape.dims[0] ? expand->inputs[0]->constant
                                                                   : NULL;
}

/* One index along the first dimension per row of the updates; false if indices differ within a
   row. */
static bool read_places(const struct node *node, struct edges *out) {
  const struct value *data = node->inputs[0], *places = node->inputs[1];
  const struct shape *shape = &places->shape;
  const bool is_nd = is_op(node, OP_ScatterND);
  size_t width = 1;
  if (!is_nd)
    for (int d = 1; d < shape->rank; d++) {
      if (shape->dims[d] != data->shape.dims[d]) return false;
      width *= (size_t)shape->dims[d];
    }
  const struct tensor *constant = places_of(node);
  if (tensor_count(constant) == out->count) width = 1; /* a column */
  for (size_t e = 0; e < out->count; e++) {
    out->to[e] = tensor_i64(constant, e * width);
    for (size_t k = 1; k < width; k++)
      if (tensor_i64(constant, e * width + k) != out->to[e]) return false;
    if (out->to[e] < 0) out->to[e] += (int64_t)out->rows;
  }
  return true;
}

static bool is_scatter(const struct node *node) {
  if (!is_op(node, OP_ScatterND) && !is_op(node, OP_ScatterElements)) return false;
  const struct shape *places = &node->inputs[1]->shape, *data = &node->inputs[0]->shape;
  const double start = filling_of(node->inputs[0]);
  const bool is_sum = !strcmp(node_string(node, "reduction", "none"), "add") && start == 0;
  if ((!is_sum && !(is_max(node) && !isnan(start))) || !places_of(node) || data->rank < 1 ||
      data->dims[0] < 1)
    return false;
  if (is_op(node, OP_ScatterND)) return places->rank == 2 && places->dims[1] == 1;
  const int64_t axis = node_int(node, "axis", 0);
  return places->rank >= 1 && (axis == 0 || axis == -data->rank);
}

/* Gather of whole rows by a constant list, with a single reader. */
static const struct node *row_gather(const struct rewrite *r, const struct value *value) {
  const struct node *gather = producer_of(value, OP_Gather);
  if (!gather || !rewrite_single_use(r, value) || node_int(gather, "axis", 0) != 0 ||
      !gather->inputs[1]->constant || gather->inputs[1]->shape.rank != 1)
    return NULL;
  return gather;
}

/* [E, ...] with the leading dimensions of the rows, followed by ones. */
static bool are_weights(const struct value *w, const struct value *rows) {
  bool is_lead = true;
  if (w->dtype != HONE_F32 || w->shape.rank != rows->shape.rank ||
      w->shape.dims[0] != rows->shape.dims[0])
    return false;
  for (int d = 1; d < w->shape.rank; d++) {
    is_lead &= w->shape.dims[d] == rows->shape.dims[d];
    if (!is_lead && w->shape.dims[d] != 1) return false;
  }
  return true;
}

/* Splits the updates into source rows and weights. */
static void read_updates(const struct rewrite *r, const struct node *scatter, struct edges *out) {
  struct value *updates = scatter->inputs[2];
  const struct node *gather = row_gather(r, updates);
  const struct node *mul = is_max(scatter) ? NULL : producer_of(updates, OP_Mul);
  out->x = updates;
  for (size_t k = 0; k < 2 && mul && !gather && rewrite_single_use(r, updates); k++) {
    if (!are_weights(mul->inputs[1 - k], updates) ||
        !shape_equal(&mul->inputs[k]->shape, &updates->shape))
      continue;
    gather = row_gather(r, mul->inputs[k]);
    if (gather) out->weights = mul->inputs[1 - k];
  }
  if (!gather) return;
  out->x = gather->inputs[0];
  out->sources = gather->inputs[1]->constant;
}

static hone_status i32_list(struct rewrite *r, size_t count, struct value **out, int32_t **at) {
  const struct shape shape = {1, {(int64_t)count}};
  TRY(rewrite_constant(r, HONE_I32, &shape, out));
  *at = (int32_t *)(uintptr_t)(*out)->constant->data;
  return HONE_OK;
}

/* The edges by row: starts, sources and original edge numbers. */
static hone_status sort_edges(struct rewrite *r, const struct edges *edges, struct value *in[5]) {
  int32_t *starts, *sources, *numbers, *next;
  TRY(i32_list(r, edges->rows + 1, &in[1], &starts));
  TRY(i32_list(r, edges->count, &in[2], &sources));
  TRY(i32_list(r, edges->count, &in[4], &numbers));
  TRY(NEW_ARRAY(r->ctx, r->graph->arena, next, edges->rows + 1));
  memset(starts, 0, (edges->rows + 1) * sizeof *starts);
  for (size_t e = 0; e < edges->count; e++) starts[edges->to[e] + 1]++;
  for (size_t u = 0; u < edges->rows; u++) starts[u + 1] += starts[u];
  memcpy(next, starts, edges->rows * sizeof *next);
  for (size_t e = 0; e < edges->count; e++) {
    const int32_t at = next[edges->to[e]]++;
    numbers[at] = (int32_t)e;
    sources[at] = (int32_t)(edges->sources ? tensor_i64(edges->sources, e) : (int64_t)e);
  }
  return HONE_OK;
}

static hone_status replace(struct rewrite *r, const struct node *old, struct value *in[5],
                           size_t count) {
  if (is_max(old)) {
    x_with_string(r->b, "reduction", "max");
    x_with_float(r->b, "start", filling_of(old->inputs[0]));
  }
  return rewrite_replace(r, old->outputs[0], x_op(r->b, OP_SpMM, in, count));
}

static hone_status fuse_scatter(struct rewrite *r, const struct node *node) {
  struct edges edges = {.count = (size_t)node->inputs[1]->shape.dims[0],
                        .rows = (size_t)node->inputs[0]->shape.dims[0]};
  struct value *in[5] = {NULL};
  if (!edges.count || edges.count > INT32_MAX || edges.rows > INT32_MAX) return HONE_OK;
  TRY(NEW_ARRAY(r->ctx, r->graph->arena, edges.to, edges.count));
  if (!read_places(node, &edges)) return HONE_OK;
  read_updates(r, node, &edges);
  if (edges.x->dtype != HONE_F32) return HONE_OK;
  TRY(sort_edges(r, &edges, in));
  in[0] = edges.x;
  in[3] = edges.weights;
  return replace(r, node, in, edges.weights ? 5 : 3);
}

/* ReduceSum(Gather(table [N, ...], bags [B, L])) over L. */
static hone_status fuse_bag(struct rewrite *r, const struct node *node) {
  const struct node *gather = producer_of(node->inputs[0], OP_Gather);
  const struct value *axes = node_input(node, 1);
  if (!gather || !rewrite_single_use(r, node->inputs[0]) || node_int(gather, "axis", 0) != 0 ||
      node_int(node, "keepdims", 1) || !axes || !axes->constant ||
      tensor_count(axes->constant) != 1 || tensor_i64(axes->constant, 0) != 1)
    return HONE_OK;
  struct value *bags = gather->inputs[1], *flat[2] = {bags}, *in[5] = {gather->inputs[0]};
  const int64_t batch = bags->shape.dims[0], length = bags->shape.dims[1];
  if (bags->shape.rank != 2 || in[0]->dtype != HONE_F32 || batch < 1 || length < 1 ||
      batch > INT32_MAX / length)
    return HONE_OK;
  int32_t *starts;
  BUILD(r->b, flat[1] = x_list(r->b, (int64_t[]){-1}, 1));
  TRY(i32_list(r, (size_t)batch + 1, &in[1], &starts));
  for (int64_t u = 0; u <= batch; u++) starts[u] = (int32_t)(u * length);
  in[2] = x_op(r->b, OP_Reshape, flat, 2);
  return replace(r, node, in, 3);
}

static hone_status visit(struct rewrite *r, struct node *node) {
  if (is_scatter(node)) return fuse_scatter(r, node);
  return is_op(node, OP_ReduceSum) ? fuse_bag(r, node) : HONE_OK;
}

hone_status pass_fuse_edges(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
