/* Operators that need the actual size of a dynamic dimension get it as an operand that is computed
 * at run time: a mean becomes a sum and a division, and recurrent operators get the length of their
 * sequences. Not in the pipeline: it needs the slopes of dimensions, which are found after all
 * passes.
 */
#include "core/ops/ops_internal.h"
#include "rewrite.h"

/* The dimensions that the node averages; false if it is neither a mean nor a variance. */
static bool averages(const struct node *node, bool goes[HONE_MAX_RANK]) {
  const struct value *x = node->inputs[0], *axes = node_input(node, 1);
  const int rank = x->shape.rank;
  if (is_op(node, OP_GlobalAveragePool)) {
    for (int d = 0; d < rank; d++) goes[d] = d >= 2;
    return true;
  }
  struct ctx ctx;
  ctx_init(&ctx);
  return (is_op(node, OP_ReduceMean) || is_op(node, OP_ReduceVariance)) &&
         (!axes || axes->constant) &&
         !reduction_axes(&ctx, node, rank, axes ? axes->constant : NULL, goes);
}

/* `times` elements of dimension d of x, in each element of a value of this shape. */
static hone_status size_value(struct rewrite *r, const struct value *x, int d, int64_t times,
                              hone_dtype dtype, const struct shape *shape, struct value **out) {
  struct tensor *bound;
  struct slope *slopes;
  TRY(graph_value(r->ctx, r->graph, NULL, out));
  TRY(tensor_create(r->ctx, r->graph->arena, dtype, shape, &bound));
  TRY(NEW_ARRAY(r->ctx, r->graph->arena, slopes, tensor_count(bound) + 1));
  for (size_t i = 0; i < tensor_count(bound); i++) {
    tensor_set_f64(bound, i, (double)(times * x->shape.dims[d]));
    slopes[i] = slope_times(&x->slope[d], times);
  }
  (*out)->dtype = dtype;
  (*out)->shape = *shape;
  (*out)->has_shape = true;
  (*out)->at_bounds = bound;
  (*out)->elements = slopes;
  return HONE_OK;
}

/* How many elements are averaged, a scalar; NULL: a fixed number. */
static hone_status count_of(struct rewrite *r, const struct value *x, const int64_t *axes,
                            int count, struct value **out) {
  const struct shape scalar = {0};
  int64_t times = 1;
  *out = NULL;
  for (int i = 0; i < count; i++)
    if (slope_is_zero(&x->slope[axes[i]])) times *= x->shape.dims[axes[i]];
  for (int i = 0; i < count; i++) {
    struct value *size;
    if (slope_is_zero(&x->slope[axes[i]])) continue;
    TRY(size_value(r, x, (int)axes[i], *out ? 1 : times, x->dtype, &scalar, &size));
    if (*out) TRY(rewrite_binary(r, OP_Mul, *out, size, &size));
    *out = size;
  }
  return HONE_OK;
}

/* op(x, y), with the slopes of its result. */
static hone_status binary(struct rewrite *r, enum op_id op, struct value *x, struct value *y,
                          const struct slope *slope, struct value **out) {
  TRY(rewrite_binary(r, op, x, y, out));
  (*out)->slope = slope;
  return HONE_OK;
}

static hone_status mean_of(struct rewrite *r, struct value *x, struct value *axes,
                           struct value *divisor, bool keeps, const struct slope *slope,
                           struct value **out) {
  struct node *sum;
  TRY(rewrite_node(r, OP_ReduceSum, (struct value *[]){x, axes}, 2, &sum));
  TRY(node_set_int(r->ctx, r->graph, sum, "keepdims", keeps));
  TRY(node_infer(r->ctx, r->graph, sum));
  sum->outputs[0]->slope = slope;
  return binary(r, OP_Div, sum->outputs[0], divisor, slope, out);
}

static hone_status divide_sum(struct rewrite *r, struct node *node) {
  bool goes[HONE_MAX_RANK] = {false};
  struct value *x = node->inputs[0], *axes, *divisor, *mean, *spread;
  const struct slope *slope = node->outputs[0]->slope;
  struct slope *kept; /* of x without the dimensions that go */
  int64_t list[HONE_MAX_RANK];
  int count = 0;
  if (!dtype_is_float(x->dtype) || !averages(node, goes)) return HONE_OK;
  TRY(NEW_ARRAY(r->ctx, r->graph->arena, kept, HONE_MAX_RANK));
  for (int d = 0; d < x->shape.rank; d++) {
    if (goes[d])
      list[count++] = d;
    else
      kept[d] = x->slope[d];
  }
  TRY(count_of(r, x, list, count, &divisor));
  if (!divisor) return HONE_OK;
  const bool keeps = is_op(node, OP_GlobalAveragePool) || node_int(node, "keepdims", 1);
  TRY(rewrite_ints(r, list, count, &axes));
  if (is_op(node, OP_ReduceVariance)) {
    TRY(mean_of(r, x, axes, divisor, true, kept, &mean));
    TRY(binary(r, OP_Sub, x, mean, x->slope, &spread));
    TRY(binary(r, OP_Mul, spread, spread, x->slope, &x));
  }
  TRY(mean_of(r, x, axes, divisor, keeps, slope, &mean));
  return rewrite_replace(r, node->outputs[0], mean);
}

static hone_status give_lengths(struct rewrite *r, struct node *node) {
  enum { LENGTHS = 4 };
  const struct value *x = node->inputs[0];
  const int batch_first = node_int(node, "layout", 0) != 0;
  struct value **inputs;
  if (node_input(node, LENGTHS) || slope_is_zero(&x->slope[batch_first])) return HONE_OK;
  const size_t count = node->input_count > LENGTHS ? node->input_count : LENGTHS + 1;
  TRY(NEW_ARRAY(r->ctx, r->graph->arena, inputs, count));
  memcpy(inputs, node->inputs, node->input_count * sizeof *inputs);
  TRY(size_value(r, x, batch_first, 1, HONE_I32, &(struct shape){1, {x->shape.dims[!batch_first]}},
                 &inputs[LENGTHS]));
  node->inputs = inputs;
  node->input_count = count;
  return HONE_OK;
}

static hone_status visit(struct rewrite *r, struct node *node) {
  const struct value *x = node->input_count ? node->inputs[0] : NULL;
  if (!x || !x->slope) return HONE_OK;
  return node->op->class == OP_RECURRENT ? give_lengths(r, node) : divide_sum(r, node);
}

hone_status lower_open_sizes(struct ctx *ctx, struct graph *graph) {
  size_t changes = 0;
  return rewrite_nodes(ctx, graph, visit, &changes);
}
