/* extents: which dimensions of a node's results are dynamic (known only at run time). Shapes hold
 * bounds, and type inference computes with the bounds; a rule here gives the extent of each dynamic
 * dimension of a result. Compiled code computes up to the bound, and elements past the actual size
 * are undefined. So a rule exists only if no element within the actual size depends on one past it.
 * An operator without a rule rejects operands with dynamic dimensions. */
#include "core/ops/control/control.h"

typedef hone_status extents_fn(struct ctx *ctx, struct graph *graph, struct node *node);

static hone_status no_rule(struct ctx *ctx, const struct node *node) {
  return fail(ctx, HONE_E_UNSUP, node_place(node),
              "%s of a value with a dynamic dimension is not supported", node->op->name);
}

static bool is_open(const struct value *value) { return value && value_is_open(value); }

/* -- results with a data-dependent size */

static hone_status open_dimension(struct ctx *ctx, struct graph *graph, struct node *node, size_t k,
                                  int d, uint32_t *number) {
  struct value *value = k < node->output_count ? node->outputs[k] : NULL;
  if (!value) return HONE_OK;
  if (!*number) *number = value->extents[d]; /* already inferred */
  if (!*number) TRY(graph_extent(ctx, graph, value->shape.dims[d], number));
  value->extents[d] = *number;
  return HONE_OK;
}

static hone_status refuse_open(struct ctx *ctx, const struct node *node) {
  for (size_t k = 0; k < node->input_count; k++)
    if (is_open(node->inputs[k])) return no_rule(ctx, node);
  return HONE_OK;
}

/* The axis that a NonZero or a Compress counts. */
static int counted_axis(const struct node *node) {
  const int64_t axis = is_op(node, OP_NonZero) ? 1 : node_int(node, "axis", 0);
  return (int)(axis < 0 ? axis + node->inputs[0]->shape.rank : axis);
}

/* The extent that an earlier node of the same operand counted; 0: none. */
static uint32_t counted_before(const struct graph *graph, const struct node *node, size_t operand) {
  for (size_t i = 0; i < graph->nodes.count; i++) {
    const struct node *other = graph->nodes.at[i];
    if (other->op != node->op || other->inputs[operand] != node->inputs[operand]) continue;
    const struct value *y = other->outputs[0];
    const int axis = counted_axis(other);
    if (y && axis >= 0 && axis < y->shape.rank && y->extents[axis]) return y->extents[axis];
  }
  return 0;
}

/* NonZero and Compress of the same mask count the same number. */
static uint32_t counted_by(const struct graph *graph, enum op_id op, size_t operand,
                           const struct value *mask) {
  for (size_t i = 0; i < graph->nodes.count && mask->dtype == HONE_BOOL && mask->shape.rank == 1;
       i++) {
    const struct node *other = graph->nodes.at[i];
    if (!is_op(other, op) || other->inputs[operand] != mask || !other->outputs[0]) continue;
    const int axis = counted_axis(other);
    const struct value *y = other->outputs[0];
    if (axis >= 0 && axis < y->shape.rank && y->extents[axis]) return y->extents[axis];
  }
  return 0;
}

/* The extent of a mask `0 1 2 .. < size of x along an axis` (dynamic_axes.c); 0 for any other
 * value. */
static uint32_t masked_size(const struct value *mask) {
  const struct node *less = mask->producer, *gather, *shape;
  if (!less || !is_op(less, OP_Less) || !less->inputs[0]->constant) return 0;
  gather = less->inputs[1]->producer;
  if (!gather || !is_op(gather, OP_Gather) || !gather->inputs[1]->constant) return 0;
  shape = gather->inputs[0]->producer;
  if (!shape || !is_op(shape, OP_Shape) || shape->attribute_count) return 0;
  const struct value *x = shape->inputs[0];
  const struct tensor *places = less->inputs[0]->constant, *axis = gather->inputs[1]->constant;
  if (places->shape.rank != 1 || places->dtype != HONE_I64 || tensor_count(axis) != 1) return 0;
  const int64_t d = tensor_i64(axis, 0), count = places->shape.dims[0];
  if (d < 0 || d >= x->shape.rank || x->shape.dims[d] > count) return 0;
  for (int64_t i = 0; i < count; i++)
    if (tensor_i64(places, (size_t)i) != i) return 0;
  return x->extents[d];
}

static hone_status of_non_zero(struct ctx *ctx, struct graph *graph, struct node *node) {
  TRY(refuse_open(ctx, node));
  if (node->inputs[0]->constant) return HONE_OK;
  uint32_t number = counted_before(graph, node, 0);
  if (!number) number = counted_by(graph, OP_Compress, 1, node->inputs[0]);
  return open_dimension(ctx, graph, node, 0, 1, &number);
}

/* Other axes are unchanged; a dynamic axis of compression is handled in dynamic_axes.c. */
static hone_status of_compress(struct ctx *ctx, struct graph *graph, struct node *node) {
  const struct value *x = node->inputs[0], *mask = node->inputs[1];
  const int axis = counted_axis(node);
  const bool is_flat = !node_attribute(node, "axis");
  if (is_open(mask) || (is_flat ? is_open(x) : x->extents[axis] != 0)) return no_rule(ctx, node);
  struct value *y = node->outputs[0];
  for (int d = 0; d < y->shape.rank; d++)
    if (d != axis) y->extents[d] = x->extents[d];
  if (mask->constant) return HONE_OK;
  uint32_t number = masked_size(mask);
  if (!number) number = counted_before(graph, node, 1);
  if (!number) number = counted_by(graph, OP_NonZero, 0, mask);
  return open_dimension(ctx, graph, node, 0, axis, &number);
}

static hone_status of_unique(struct ctx *ctx, struct graph *graph, struct node *node) {
  uint32_t number = 0;
  int axis = 0;
  TRY(refuse_open(ctx, node));
  if (node->inputs[0]->constant) return HONE_OK;
  if (node_attribute(node, "axis"))
    TRY(axis_attribute(ctx, node, "axis", 0, node->inputs[0]->shape.rank, &axis));
  TRY(open_dimension(ctx, graph, node, 0, axis, &number));
  TRY(open_dimension(ctx, graph, node, 1, 0, &number));
  return open_dimension(ctx, graph, node, 3, 0, &number);
}

static hone_status of_boxes(struct ctx *ctx, struct graph *graph, struct node *node) {
  uint32_t number = 0;
  TRY(refuse_open(ctx, node));
  for (size_t k = 0; k < node->input_count; k++)
    if (node->inputs[k] && !node->inputs[k]->constant)
      return open_dimension(ctx, graph, node, 0, 0, &number);
  return HONE_OK;
}

static hone_status of_split(struct ctx *ctx, struct graph *graph, struct node *node) {
  uint32_t number = 0;
  TRY(refuse_open(ctx, node));
  if (node->inputs[0]->constant || !node->outputs[0]) return HONE_OK;
  return open_dimension(ctx, graph, node, 0, node->outputs[0]->shape.rank - 1, &number);
}

static hone_status of_stop_words(struct ctx *ctx, struct graph *graph, struct node *node) {
  uint32_t number = 0;
  TRY(refuse_open(ctx, node));
  if (node->inputs[0]->constant && node->inputs[1]->constant) return HONE_OK;
  if (node->inputs[1]->constant && !tensor_count(node->inputs[1]->constant)) return HONE_OK;
  return open_dimension(ctx, graph, node, 0, 0, &number);
}

/* Each scan output is as long as the number of iterations. */
static hone_status of_loop(struct ctx *ctx, struct graph *graph, struct node *node) {
  uint32_t number = 0;
  size_t states = node->input_count > 2 ? node->input_count - 2 : 0;
  TRY(refuse_open(ctx, node));
  if (loop_is_counted(node)) return HONE_OK;
  for (size_t k = states; k < node->output_count; k++)
    TRY(open_dimension(ctx, graph, node, k, 0, &number));
  return HONE_OK;
}

/* -- results with the extents of their operands */

static void set_all(struct node *node, const uint32_t extents[HONE_MAX_RANK]) {
  for (size_t k = 0; k < node->output_count; k++)
    if (node->outputs[k])
      memcpy(node->outputs[k]->extents, extents, HONE_MAX_RANK * sizeof *extents);
}

/* Dimensions are aligned from the right; a dynamic one matches itself or a broadcast 1. */
static hone_status broadcast(struct ctx *ctx, struct graph *graph, struct node *node) {
  uint32_t extents[HONE_MAX_RANK] = {0};
  int rank = node->outputs[0]->shape.rank;
  (void)graph;
  for (int i = 1; i <= rank; i++) {
    uint32_t number = 0;
    bool is_fixed = false;
    for (size_t k = 0; k < node->input_count; k++) {
      const struct value *x = node->inputs[k];
      if (!x || x->shape.rank < i) continue;
      uint32_t own = x->extents[x->shape.rank - i];
      if (own ? number && number != own : x->shape.dims[x->shape.rank - i] != 1) is_fixed = true;
      if (own) number = own;
    }
    if (number && is_fixed)
      return fail(ctx, HONE_E_UNSUP, node_place(node),
                  "%s of two dynamic dimensions that are equal only at run time is not supported",
                  node->op->name);
    extents[rank - i] = number;
  }
  set_all(node, extents);
  return HONE_OK;
}

static hone_status gather(struct ctx *ctx, struct graph *graph, struct node *node) {
  const struct value *x = node->inputs[0], *index = node->inputs[1];
  uint32_t extents[HONE_MAX_RANK] = {0};
  int axis, n = 0;
  (void)graph;
  TRY(axis_attribute(ctx, node, "axis", 0, x->shape.rank, &axis));
  /* an index counted from the end, or past it, would refer to the bound; loop.c counts iterations */
  if (x->extents[axis] && !node_int(node, "within", 0)) return no_rule(ctx, node);
  for (int i = 0; i < axis; i++) extents[n++] = x->extents[i];
  for (int i = 0; i < index->shape.rank; i++) extents[n++] = index->extents[i];
  for (int i = axis + 1; i < x->shape.rank; i++) extents[n++] = x->extents[i];
  set_all(node, extents);
  return HONE_OK;
}

/* The dimensions of the indices except the last, then those of the indexed data. */
static hone_status gather_nd(struct ctx *ctx, struct graph *graph, struct node *node) {
  const struct value *index = node->inputs[1];
  uint32_t extents[HONE_MAX_RANK] = {0};
  int last = index->shape.rank - 1;
  (void)graph;
  const struct value *x = node->inputs[0];
  const int64_t named = index->shape.dims[last];
  const bool is_within = node_int(node, "within", 0) && !node_int(node, "batch_dims", 0);
  for (int d = 0; d < x->shape.rank; d++)
    if (x->extents[d] && (d >= named || !is_within)) return no_rule(ctx, node);
  if (index->extents[last]) return no_rule(ctx, node);
  for (int i = 0; i < last; i++) extents[i] = index->extents[i];
  set_all(node, extents);
  return HONE_OK;
}

static hone_status concat(struct ctx *ctx, struct graph *graph, struct node *node) {
  int axis;
  (void)graph;
  const struct value *x = node->inputs[0];
  TRY(axis_attribute(ctx, node, "axis", 0, x->shape.rank, &axis));
  for (size_t k = 0; k < node->input_count; k++) {
    if (node->inputs[k]->extents[axis]) return no_rule(ctx, node);
    if (memcmp(node->inputs[k]->extents, x->extents, sizeof x->extents))
      return fail(ctx, HONE_E_UNSUP, node_place(node),
                  "Concat of dynamic dimensions off its axis that are equal only at run time is "
                  "not supported");
  }
  set_all(node, x->extents);
  return HONE_OK;
}

/* A dynamic axis can only be taken as a whole: ends must not be counted from its bound. */
static hone_status slice(struct ctx *ctx, struct graph *graph, struct node *node) {
  const struct value *x = node->inputs[0];
  int64_t axes[HONE_MAX_RANK];
  size_t count = (size_t)x->shape.rank;
  (void)graph;
  for (size_t i = 0; i < count; i++) axes[i] = (int64_t)i;
  if (has_input(node, 3)) TRY(want_ints(ctx, node, 3, "axes", HONE_MAX_RANK, axes, &count));
  for (size_t i = 0; i < count; i++)
    if (x->extents[axes[i] < 0 ? axes[i] + x->shape.rank : axes[i]]) return no_rule(ctx, node);
  set_all(node, x->extents);
  return HONE_OK;
}

/* The axis is padded to its bound, so it is no longer dynamic. */
static hone_status pad_to_bound(struct ctx *ctx, struct graph *graph, struct node *node) {
  uint32_t extents[HONE_MAX_RANK];
  int axis;
  (void)graph;
  TRY(axis_attribute(ctx, node, "axis", 0, node->inputs[0]->shape.rank, &axis));
  memcpy(extents, node->inputs[0]->extents, sizeof extents);
  extents[axis] = 0;
  set_all(node, extents);
  return HONE_OK;
}

/* A dynamic dimension is kept if the shape has -1 there and the same number of elements before and
 * after it. */
static hone_status reshape(struct ctx *ctx, struct graph *graph, struct node *node) {
  const struct value *x = node->inputs[0], *y = node->outputs[0];
  const struct shape *from = &x->shape, *to = &y->shape;
  const bool keeps_zero = node_int(node, "allowzero", 0) != 0;
  uint32_t extents[HONE_MAX_RANK] = {0};
  int64_t asked[HONE_MAX_RANK];
  size_t count;
  (void)graph;
  TRY(want_ints(ctx, node, 1, "shape", HONE_MAX_RANK, asked, &count));
  for (int d = 0; d < from->rank; d++) {
    int at = 0;
    if (!x->extents[d]) continue;
    while (at < to->rank &&
           !((asked[at] == -1 || (asked[at] == 0 && at == d && !keeps_zero)) &&
             to->dims[at] == from->dims[d] && dims_product(to, 0, at) == dims_product(from, 0, d) &&
             dims_product(to, at + 1, to->rank) == dims_product(from, d + 1, from->rank)))
      at++;
    if (at == to->rank) return no_rule(ctx, node);
    extents[at] = x->extents[d];
  }
  set_all(node, extents);
  return HONE_OK;
}

/* A dynamic dimension is kept if the shape has 1 there. */
static hone_status expand(struct ctx *ctx, struct graph *graph, struct node *node) {
  const struct value *x = node->inputs[0];
  uint32_t extents[HONE_MAX_RANK] = {0};
  int64_t asked[HONE_MAX_RANK];
  size_t count;
  const int rank = node->outputs[0]->shape.rank;
  (void)graph;
  TRY(want_ints(ctx, node, 1, "shape", HONE_MAX_RANK, asked, &count));
  for (int d = 0; d < x->shape.rank; d++) {
    const int at = d + (int)count - x->shape.rank;
    if (x->extents[d] && at >= 0 && asked[at] != 1) return no_rule(ctx, node);
    extents[d + rank - x->shape.rank] = x->extents[d];
  }
  set_all(node, extents);
  return HONE_OK;
}

/* Rows of a, columns of b, and their batches; the sum runs over a known size (dynamic_axes.c). */
static hone_status matmul(struct ctx *ctx, struct graph *graph, struct node *node) {
  const struct value *a = node->inputs[0], *b = node->inputs[1];
  const int ra = a->shape.rank, rb = b->shape.rank;
  uint32_t extents[HONE_MAX_RANK] = {0};
  int at = node->outputs[0]->shape.rank;
  (void)graph;
  if (a->extents[ra - 1] || b->extents[rb > 1 ? rb - 2 : 0]) return no_rule(ctx, node);
  if (rb > 1) extents[--at] = b->extents[rb - 1];
  if (ra > 1) extents[--at] = a->extents[ra - 2];
  for (int i = 1; i <= at; i++) {
    const int da = ra - 2 - i, db = rb - 2 - i;
    const uint32_t na = da < 0 ? 0 : a->extents[da], nb = db < 0 ? 0 : b->extents[db];
    const bool fixed_a = da >= 0 && !na && a->shape.dims[da] != 1;
    const bool fixed_b = db >= 0 && !nb && b->shape.dims[db] != 1;
    if ((na && nb && na != nb) || (na && fixed_b) || (nb && fixed_a)) return no_rule(ctx, node);
    extents[at - i] = na ? na : nb;
  }
  set_all(node, extents);
  return HONE_OK;
}
/* -- results by shape inference (shorter.c says whether they are right) */

/* The node with copies of its operands, longer by one in all dimensions of this extent. */
static hone_status lengthened(struct ctx *ctx, struct arena *arena, const struct node *node,
                              uint32_t extent, struct node *out) {
  *out = *node;
  TRY(NEW_ARRAY(ctx, arena, out->inputs, node->input_count + 1));
  TRY(NEW_ARRAY(ctx, arena, out->outputs, node->output_count + 1));
  for (size_t k = 0; k < node->input_count; k++) {
    if (!node->inputs[k]) continue;
    TRY(NEW(ctx, arena, out->inputs[k]));
    *out->inputs[k] = *node->inputs[k];
    for (int d = 0; d < HONE_MAX_RANK; d++)
      if (node->inputs[k]->extents[d] == extent) out->inputs[k]->shape.dims[d]++;
  }
  for (size_t k = 0; k < node->output_count; k++)
    if (node->outputs[k]) TRY(NEW(ctx, arena, out->outputs[k]));
  return HONE_OK;
}

/* The dimensions of `value` that grow with an extent by as much as it; false: none does, or one by
   another amount. */
static bool grows_with(struct value *value, const struct value *longer, uint32_t extent) {
  bool is_found = false;
  if (longer->shape.rank != value->shape.rank) return false;
  for (int d = 0; d < value->shape.rank; d++) {
    const int64_t more = longer->shape.dims[d] - value->shape.dims[d];
    if (!more) continue;
    if (more != 1) return false;
    value->extents[d] = extent;
    is_found = true;
  }
  return is_found;
}

static hone_status take_extent(struct ctx *ctx, struct graph *graph, struct node *node,
                               uint32_t extent) {
  struct node longer;
  struct ctx own; /* a failure means that there is no rule */
  ctx_init(&own);
  TRY(lengthened(ctx, graph->arena, node, extent, &longer));
  if (node->op->infer(&own, graph, &longer)) return no_rule(ctx, node);
  for (size_t k = 0; k < node->output_count; k++)
    if (node->outputs[k] && !grows_with(node->outputs[k], longer.outputs[k], extent))
      return no_rule(ctx, node);
  return HONE_OK;
}

static hone_status by_shape(struct ctx *ctx, struct graph *graph, struct node *node) {
  for (size_t k = 0; k < node->output_count; k++)
    if (node->outputs[k]) memset(node->outputs[k]->extents, 0, sizeof node->outputs[k]->extents);
  for (size_t k = 0; k < node->input_count; k++) {
    const struct value *x = node->inputs[k];
    for (int d = 0; x && d < x->shape.rank; d++) {
      if (!x->extents[d]) continue;
      if (!may_be_shorter(node, k, d)) return no_rule(ctx, node);
      TRY(take_extent(ctx, graph, node, x->extents[d]));
    }
  }
  return HONE_OK;
}

/* The result is a number; the operator may read the shape of a dynamic value. */
static hone_status no_extents(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)ctx, (void)graph, (void)node;
  return HONE_OK;
}

static const struct {
  enum op_id op;
  extents_fn *rule;
} rules[] = {
    {OP_NonZero, of_non_zero},    {OP_Compress, of_compress},
    {OP_Unique, of_unique},       {OP_NonMaxSuppression, of_boxes},
    {OP_StringSplit, of_split},   {OP_NormalizeStrings, of_stop_words},
    {OP_FindTokens, of_split},    {OP_PadToBound, pad_to_bound},
    {OP_StringConcat, broadcast}, {OP_StringEqual, broadcast},
    {OP_Gather, gather},          {OP_GatherND, gather_nd},
    {OP_Concat, concat},          {OP_Slice, slice},
    {OP_Shape, no_extents},       {OP_Loop, of_loop},
    {OP_Expand, expand},          {OP_Reshape, reshape},
    {OP_MatMul, matmul},          {OP_MatMulInteger, matmul},
};

hone_status infer_extents(struct ctx *ctx, struct graph *graph, struct node *node) {
  size_t asked = 0;
  for (size_t k = 0; k < node->output_count; k++) asked += node->outputs[k] != NULL;
  if (!asked) return HONE_OK;
  for (size_t i = 0; i < COUNT(rules); i++)
    if (rules[i].op == node->op->id) return rules[i].rule(ctx, graph, node);
  for (size_t k = 0; k < node->input_count; k++)
    if (is_open(node->inputs[k]))
      return has_shorter_rule(node)                                  ? by_shape(ctx, graph, node)
             : node->op->class == OP_ELEMENTWISE && node->outputs[0] ? broadcast(ctx, graph, node)
                                                                     : no_rule(ctx, node);
  return HONE_OK;
}
