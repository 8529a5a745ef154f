/* Reductions over axes that are adjacent in memory: Reduce*, global pools, Softmax,
 * LayerNormalization, RMSNormalization.
 */
#include "builder.h"

/* Types for arithmetic in f32 on elements stored as `x`, with results stored as `y`. */
static struct problem_types float_types(const struct builder *b, const struct view *x,
                                        const struct value *y) {
  return (struct problem_types){problem_type(x->dtype), TYPE_F32, TYPE_F32,
                                problem_type(storage_of(b, y))};
}

static int reduce_mode(enum op_id op) {
  switch (op) {
    case OP_ReduceSum:
      return 0;
    case OP_ReduceMean:
    case OP_GlobalAveragePool:
      return 1;
    case OP_ReduceMax:
    case OP_GlobalMaxPool:
      return 2;
    case OP_ReduceMin:
      return 3;
    case OP_ReduceVariance:
      return 5;
    default:
      return 4; /* ReduceProd */
  }
}

/* The three blocks [rows][k][columns] of `order`, if the reduced dimensions are adjacent in
   memory. */
static bool blocks(const struct view *x, const bool *reduced, struct problem *p, int *kept,
                   int *kept_count) {
  int order[HONE_MAX_RANK], phase = 0;
  struct view dense = *x;
  view_order(x, order);
  p->rows = p->k = p->columns = 1;
  *kept_count = 0;
  int64_t expected = 1;
  for (int i = x->shape.rank; i-- > 0;) { /* dense in its physical order */
    int d = order[i];
    if (x->shape.dims[d] == 1) continue;
    if (x->stride[d] != expected) return false;
    expected *= x->shape.dims[d];
  }
  for (int i = 0; i < x->shape.rank; i++) {
    int d = order[i];
    int64_t size = dense.shape.dims[d];
    if (reduced[d]) {
      if (size == 1) continue;
      if (phase == 2) return false;
      phase = 1;
      p->k *= size;
      continue;
    }
    kept[(*kept_count)++] = d;
    if (size == 1) continue;
    if (phase) phase = 2;
    if (phase == 2)
      p->columns *= size;
    else
      p->rows *= size;
  }
  return true;
}

/* Output view of full rank, reduced dimensions of 1, in the order of the kept dimensions. */
static void kept_view(const struct shape *x, const bool *reduced, const int *kept, int kept_count,
                      struct view *out) {
  struct shape shape = *x;
  for (int i = 0; i < x->rank; i++)
    if (reduced[i]) shape.dims[i] = 1;
  *out = (struct view){.dtype = HONE_F32, .shape = shape};
  int64_t stride = 1;
  for (int i = kept_count; i-- > 0;) {
    out->stride[kept[i]] = stride;
    stride *= shape.dims[kept[i]];
  }
}

static hone_status reduce_axes(struct builder *b, const struct node *node, const bool *reduced,
                               bool *out_done) {
  const struct value *xv = node->inputs[0], *yv = node->outputs[0];
  struct problem p = {
      .kind = PROBLEM_reduce, .types = SAME_TYPES(TYPE_F32), .mode = reduce_mode(node->op->id)};
  struct view x, full, like, y;
  int kept[HONE_MAX_RANK], kept_count;
  TRY(get_stored(b, xv, &x));
  if (!blocks(&x, reduced, &p, kept, &kept_count)) {
    TRY(ensure_dense_stored(b, xv, &x));
    if (!blocks(&x, reduced, &p, kept, &kept_count)) return HONE_OK;
  }
  p.r_stride = p.columns;
  p.i_stride = p.k * p.columns;
  p.o_stride = p.columns;
  p.types = float_types(b, &x, yv);
  struct choice choice;
  if (!choose_kernel(b, &p, &choice)) return HONE_OK;
  kept_view(&x.shape, reduced, kept, kept_count, &full);
  if (!view_reshape(&full, &yv->shape, &like)) return HONE_OK;
  like.dtype = storage_of(b, yv);
  TRY(make_output(b, yv, &like, &y));
  struct step *step;
  *out_done = true;
  return add_kernel(b, node, &choice, &p, (struct view[]){x, {0}, y}, NULL,
                    (double)(p.rows * p.k * p.columns) * 2, &step);
}

hone_status lower_reduce(struct builder *b, const struct node *node, bool *out_done) {
  bool reduced[HONE_MAX_RANK] = {false};
  int64_t axes[HONE_MAX_RANK];
  size_t count = 0;
  const struct value *axes_value = node_input(node, 1);
  int rank = node->inputs[0]->shape.rank;
  if (node->outputs[0]->dtype != HONE_F32 || node->inputs[0]->dtype != HONE_F32) return HONE_OK;
  if (axes_value && (!axes_value->constant ||
                     !tensor_read_ints(axes_value->constant, HONE_MAX_RANK, axes, &count)))
    return HONE_OK;
  if (!count && node_int(node, "noop_with_empty_axes", 0)) return HONE_OK;
  for (size_t i = 0; i < count; i++) {
    int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank) return HONE_OK;
    reduced[axis] = true;
  }
  for (int i = 0; i < rank && !count; i++) reduced[i] = true;
  return reduce_axes(b, node, reduced, out_done);
}

hone_status lower_global_pool(struct builder *b, const struct node *node, bool *out_done) {
  bool reduced[HONE_MAX_RANK] = {false};
  if (!is_f32_node(node)) return HONE_OK;
  for (int i = 2; i < node->inputs[0]->shape.rank; i++) reduced[i] = true;
  return reduce_axes(b, node, reduced, out_done);
}

/* Rows over the dimensions from `axis` on; x is dense. */
static void rows_of(const struct shape *shape, int axis, struct problem *p) {
  p->rows = p->columns = 1;
  for (int i = 0; i < shape->rank; i++) *(i < axis ? &p->rows : &p->columns) *= shape->dims[i];
  p->i_stride = p->o_stride = p->columns;
}

hone_status lower_softmax(struct builder *b, const struct node *node, bool *out_done) {
  const struct value *xv = node->inputs[0];
  int64_t axis = node_int(node, "axis", -1);
  int rank = xv->shape.rank;
  struct problem p = {.kind = PROBLEM_softmax, .types = SAME_TYPES(TYPE_F32)};
  if (axis < 0) axis += rank;
  if (!is_f32_node(node) || rank < 1 || axis != rank - 1) return HONE_OK;
  rows_of(&xv->shape, rank - 1, &p);
  struct choice choice;
  struct view x, like, y;
  TRY(ensure_dense(b, xv, &x));
  p.types = float_types(b, &x, node->outputs[0]);
  if (!choose_kernel(b, &p, &choice)) return HONE_OK;
  view_dense(&like, NULL, storage_of(b, node->outputs[0]), &xv->shape);
  TRY(make_output(b, node->outputs[0], &like, &y));
  struct step *step;
  *out_done = true;
  return add_kernel(b, node, &choice, &p, (struct view[]){x, {0}, y}, NULL,
                    (double)(p.rows * p.columns) * 20, &step);
}

/* One element per column of the rows over the dimensions from `axis` on, the same for all rows. */
static bool is_row(const struct value *value, const struct shape *x, int axis) {
  int64_t count, columns = 1;
  for (int i = axis; i < x->rank; i++) columns *= x->dims[i];
  for (int i = 0; i < value->shape.rank - (x->rank - axis); i++)
    if (value->shape.dims[i] != 1) return false;
  return shape_count(&value->shape, &count) && count == columns;
}

hone_status lower_layernorm(struct builder *b, const struct node *node, bool *out_done) {
  const struct value *xv = node->inputs[0], *scale = node_input(node, 1),
                     *bias = node_input(node, 2);
  int64_t axis = node_int(node, "axis", -1);
  int rank = xv->shape.rank;
  struct problem p = {.kind = PROBLEM_layernorm,
                      .types = SAME_TYPES(TYPE_F32),
                      .has_scale = 1,
                      .has_bias = bias != NULL,
                      .is_rms = is_op(node, OP_RMSNormalization)};
  float epsilon = (float)node_float(node, "epsilon", 1e-5);
  uint32_t bits;
  memcpy(&bits, &epsilon, sizeof bits);
  p.epsilon_bits = bits;
  if (axis < 0) axis += rank;
  if (!is_f32_node(node) || node->output_count > 1 || axis < 0 || axis >= rank) return HONE_OK;
  rows_of(&xv->shape, (int)axis, &p);
  if (!is_row(scale, &xv->shape, (int)axis)) return HONE_OK;
  if (bias && !is_row(bias, &xv->shape, (int)axis)) return HONE_OK;
  struct choice choice;
  struct view x, like, y, s, t;
  TRY(ensure_dense_stored(b, xv, &x));
  p.types = float_types(b, &x, node->outputs[0]);
  if (!choose_kernel(b, &p, &choice)) return HONE_OK;
  TRY(ensure_dense(b, scale, &s));
  if (bias) TRY(ensure_dense(b, bias, &t));
  view_dense(&like, NULL, storage_of(b, node->outputs[0]), &xv->shape);
  TRY(make_output(b, node->outputs[0], &like, &y));
  struct step *step;
  struct epilogue own = {
      .program = {.result = PROGRAM_RAW}}; /* its bias is an operand of the kernel itself */
  if (bias) {
    own.count = 1;
    TRY(NEW_ARRAY(b->ctx, b->arena, own.operands, 1));
    TRY(NEW_ARRAY(b->ctx, b->arena, own.kinds, 1));
    own.operands[0] = t;
    own.kinds[0] = OPERAND_COLUMN;
  }
  *out_done = true;
  return add_kernel(b, node, &choice, &p, (struct view[]){x, s, y}, &own,
                    (double)(p.rows * p.columns) * 8, &step);
}
