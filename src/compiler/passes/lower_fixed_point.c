/* lower-fixed-point: integer arithmetic of quantised models in forms that kernels support; results
 * are identical bit for bit.
 * Requantize -> Cast, Sub offset, Mul by a power of two, Rescale, Max, Min, Add zero, Cast
 * (RescaleUp if negative results become 0 or more: only there they differ), which fusion takes as
 * the epilogue of a matmul, or as one loop.
 * Matmuls with nonzero zero points of the weights: sum (a - za) (w - zw) = sum (a - za) w' - d sum
 * (a - za), w - zw = w' - d, w' in int8, where the last sum is a matmul with one column.
 * Casts to int8 and back are removed if the value fits.
 */
#include "rewrite.h"

static bool is_word_or_byte(hone_dtype dtype) { return dtype == HONE_I32 || dtype_is_byte(dtype); }

/* -- Requantize */

struct requantize {
  struct node *node;
  const struct tensor *multipliers, *shifts;
  struct shape columns; /* of one element per slice along the axis, to broadcast */
  int64_t zero, low, high;
  bool once;
};

/* The three operands of the multiplication, and the shift, in slice i. */
static int64_t left_of(const struct requantize *q, size_t i) {
  int64_t all = node_int(q->node, "left_shift", 0), shift = tensor_i64(q->shifts, i);
  return all + (q->once || shift < 0 ? 0 : shift);
}
static int64_t factor_of(const struct requantize *q, size_t i) {
  int64_t left = left_of(q, i);
  return left < 32 ? (int32_t)(UINT32_C(1) << left) : 0;
}
static int64_t multiplier_of(const struct requantize *q, size_t i) {
  return tensor_i64(q->multipliers, i);
}
static int64_t right_of(const struct requantize *q, size_t i) {
  int64_t right = -tensor_i64(q->shifts, i), least = q->once ? -30 : 0;
  return right < least ? least : right > 31 ? 31 : right;
}

typedef int64_t element_fn(const struct requantize *q, size_t i);

/* One element per slice, or one for all if they are equal. */
static hone_status operand(struct rewrite *r, const struct requantize *q, element_fn *element,
                           struct value **out) {
  size_t count = tensor_count(q->multipliers);
  bool equal = true;
  for (size_t i = 1; i < count; i++) equal &= element(q, i) == element(q, 0);
  if (equal) return x_give(r->b, out, x_scalar(r->b, HONE_I32, (double)element(q, 0)));
  TRY(rewrite_constant(r, HONE_I32, &q->columns, out));
  for (size_t i = 0; i < count; i++) tensor_set_i64((*out)->constant, i, element(q, i));
  return r->b->status;
}

static bool read_requantize(struct node *node, struct requantize *q) {
  const struct value *x = node->inputs[0], *m = node->inputs[1], *s = node->inputs[2];
  *q = (struct requantize){.node = node,
                           .multipliers = m->constant,
                           .shifts = s->constant,
                           .zero = node_int(node, "zero_point", 0),
                           .low = node_int(node, "low", INT32_MIN),
                           .high = node_int(node, "high", INT32_MAX),
                           .once = node_int(node, "single_rounding", 0) != 0};
  if (!m->constant || !s->constant || !is_word_or_byte(x->dtype) ||
      !is_word_or_byte(node->outputs[0]->dtype))
    return false;
  int64_t axis = node_int(node, "axis", 0);
  if (axis < 0) axis += x->shape.rank;
  q->columns = (struct shape){.rank = m->shape.rank ? x->shape.rank - (int)axis : 0};
  for (int i = 0; i < q->columns.rank; i++) q->columns.dims[i] = i ? 1 : m->shape.dims[0];
  for (size_t i = 0; i < tensor_count(m->constant); i++)
    if (tensor_i64(m->constant, i) < 0) return false; /* INT32_MIN saturates */
  /* bounds before the zero point is added are int32 as well */
  return q->low - q->zero >= INT32_MIN && q->high - q->zero <= INT32_MAX && q->low <= q->high &&
         q->low - q->zero <= INT32_MAX && q->high - q->zero >= INT32_MIN && q->zero >= INT32_MIN &&
         q->zero <= INT32_MAX;
}

static enum op_id rescale_of(const struct requantize *q) {
  bool up = q->low >= q->zero;
  if (q->once) return OP_RescaleOnce;
  for (size_t i = 0; i < tensor_count(q->shifts); i++) up &= right_of(q, i) > 0;
  return up ? OP_RescaleUp : OP_Rescale;
}

static hone_status visit_requantize(struct rewrite *r, struct node *node) {
  struct requantize q;
  struct value *x = node->inputs[0], *in[3], *y;
  int64_t offset = node_int(node, "offset", 0);
  if (!read_requantize(node, &q) || offset < INT32_MIN || offset > INT32_MAX) return HONE_OK;
  x = x_cast(r->b, x, HONE_I32);
  if (offset) x = x_by(r->b, OP_Sub, x, (double)offset);
  bool shifted = false;
  for (size_t i = 0; i < tensor_count(q.shifts); i++) shifted |= left_of(&q, i) != 0;
  if (shifted) {
    TRY(operand(r, &q, factor_of, &y));
    x = x_2(r->b, OP_Mul, x, y);
  }
  in[0] = x;
  TRY(operand(r, &q, multiplier_of, &in[1]));
  TRY(operand(r, &q, right_of, &in[2]));
  x = x_op(r->b, rescale_of(&q), in, 3);
  if (q.low - q.zero > INT32_MIN) x = x_by(r->b, OP_Max, x, (double)(q.low - q.zero));
  if (q.high - q.zero < INT32_MAX) x = x_by(r->b, OP_Min, x, (double)(q.high - q.zero));
  if (q.zero) x = x_by(r->b, OP_Add, x, (double)q.zero);
  return rewrite_replace(r, node->outputs[0], x_cast(r->b, x, node->outputs[0]->dtype));
}

/* -- weights with zero points */

/* The same contraction with other weights, of zero point 0. */
static hone_status contraction(struct rewrite *r, const struct node *like, struct value *w,
                               struct value **out) {
  struct value *in[3] = {like->inputs[0], w, node_input(like, 2)};
  return x_give(r->b, out, x_like(r->b, like, like->op->id, in, COUNT(in)));
}

/* sum (a - za) * by, as a contraction to one column; by: int8. */
static hone_status row_sums(struct rewrite *r, const struct node *node, int64_t by,
                            struct value **out) {
  struct shape shape = node->inputs[1]->shape;
  struct value *w;
  shape.dims[is_op(node, OP_ConvInteger) ? 0 : 1] = 1;
  TRY(rewrite_constant(r, HONE_I8, &shape, &w));
  size_t count = tensor_count(w->constant);
  for (size_t i = 0; i < count; i++) tensor_set_i64(w->constant, i, by);
  return contraction(r, node, w, out);
}

/* Zero points of the weights' columns, one for all or one each; NULL: 0. */
static bool read_zeros(const struct node *node, const struct tensor **out) {
  const struct value *zero = node_input(node, 3);
  const int64_t columns = node->inputs[1]->shape.dims[is_op(node, OP_ConvInteger) ? 0 : 1];
  *out = zero ? zero->constant : NULL;
  if (!zero) return true;
  return *out && (tensor_count(*out) == 1 ||
                  (zero->shape.rank == 1 && (int64_t)tensor_count(*out) == columns));
}

static int64_t zero_of(const struct tensor *zeros, size_t column) {
  return zeros ? tensor_i64(zeros, tensor_count(zeros) == 1 ? 0 : column) : 0;
}

struct off_zero {
  const struct node *node;
  const struct tensor *w, *zeros;
  size_t columns;
  int64_t middle; /* in w, maps to 0 if w less its zero point does not fit in int8 */
  bool fits;
};

static size_t column_of(const struct off_zero *o, size_t i) {
  return is_op(o->node, OP_ConvInteger) ? i / (tensor_count(o->w) / o->columns) : i % o->columns;
}

/* The correction for the centre that replaces the zero point: a matmul with one column, times
   their distance. */
static hone_status difference(struct rewrite *r, const struct off_zero *o, struct value **out) {
  struct shape shape = {1, {(int64_t)o->columns}};
  struct value *by;
  const bool is_one = !o->zeros || tensor_count(o->zeros) == 1;
  TRY(row_sums(r, o->node, is_one ? zero_of(o->zeros, 0) - o->middle : 1, out));
  if (is_one) return HONE_OK;
  if (is_op(o->node, OP_ConvInteger)) shape.rank = o->node->outputs[0]->shape.rank - 1;
  for (int i = 1; i < shape.rank; i++) shape.dims[i] = 1;
  TRY(rewrite_constant(r, HONE_I32, &shape, &by));
  for (size_t j = 0; j < o->columns; j++)
    tensor_set_i64(by->constant, j, zero_of(o->zeros, j) - o->middle);
  return x_give(r->b, out, x_2(r->b, OP_Mul, *out, by));
}

static hone_status visit_weights(struct rewrite *r, struct node *node) {
  const struct value *w = node->inputs[1];
  const bool conv = is_op(node, OP_ConvInteger);
  struct off_zero o = {.node = node, .w = w->constant, .fits = true};
  struct value *centred, *sums, *rest;
  bool is_off = w->dtype == HONE_U8;
  if (!w->constant || !dtype_is_byte(w->dtype) || node->inputs[0]->constant ||
      (!conv && w->shape.rank != 2) || !read_zeros(node, &o.zeros))
    return HONE_OK;
  const size_t count = tensor_count(w->constant);
  o.columns = (size_t)w->shape.dims[conv ? 0 : 1];
  o.middle = w->dtype == HONE_U8 ? 128 : 0;
  for (size_t i = 0; i < count; i++) {
    const int64_t zero = zero_of(o.zeros, column_of(&o, i)), x = tensor_i64(o.w, i) - zero;
    o.fits &= x >= -128 && x <= 127;
    is_off |= zero != 0;
  }
  if (!is_off || (!o.fits && conv && node_int(node, "group", 1) != 1)) return HONE_OK;
  TRY(rewrite_constant(r, HONE_I8, &w->shape, &centred));
  for (size_t i = 0; i < count; i++)
    tensor_set_i64(centred->constant, i,
                   tensor_i64(o.w, i) - (o.fits ? zero_of(o.zeros, column_of(&o, i)) : o.middle));
  TRY(contraction(r, node, centred, &sums));
  if (!o.fits) {
    TRY(difference(r, &o, &rest));
    BUILD(r->b, sums = x_2(r->b, OP_Sub, sums, rest));
  }
  return rewrite_replace(r, node->outputs[0], sums);
}

/* -- int8 that is widened again */

/* x, clamped to at least these bounds and then shifted by a constant. */
static bool is_clamped(const struct value *x, double *out_low, double *out_high) {
  double zero = 0;
  const struct node *add = producer_of(x, OP_Add);
  if (add && !constant_scalar(add->inputs[1], &zero)) return false;
  const struct node *high = producer_of(add ? add->inputs[0] : x, OP_Min);
  const struct node *low = high ? producer_of(high->inputs[0], OP_Max) : NULL;
  if (!low || !constant_scalar(high->inputs[1], out_high) ||
      !constant_scalar(low->inputs[1], out_low))
    return false;
  *out_low += zero;
  *out_high += zero;
  return true;
}

/* Cast(Cast(x, byte), i32) of an x that fits is x. */
static hone_status visit_cast(struct rewrite *r, struct node *node) {
  double low, high, least, most;
  const struct node *narrow = producer_of(node->inputs[0], OP_Cast);
  if (node->outputs[0]->dtype != HONE_I32 || !narrow || !dtype_is_byte(node->inputs[0]->dtype) ||
      narrow->inputs[0]->dtype != HONE_I32 || !rewrite_single_use(r, node->inputs[0]))
    return HONE_OK;
  least = node->inputs[0]->dtype == HONE_I8 ? -128 : 0;
  most = least + 255;
  if (!is_clamped(narrow->inputs[0], &low, &high) || low < least || high > most) return HONE_OK;
  return rewrite_replace(r, node->outputs[0], narrow->inputs[0]);
}

static hone_status visit(struct rewrite *r, struct node *node) {
  if (!node->outputs[0]) return HONE_OK;
  if (is_op(node, OP_Cast)) return visit_cast(r, node);
  if (is_op(node, OP_Requantize)) return visit_requantize(r, node);
  if (is_op(node, OP_ConvInteger) || is_op(node, OP_MatMulInteger)) return visit_weights(r, node);
  return HONE_OK;
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_lower_fixed_point(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
