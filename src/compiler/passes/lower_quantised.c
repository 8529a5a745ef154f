/* lower-quantised: quantised graphs, in both forms, as ConvInteger and MatMulInteger with float
 * operators around them, which fusion takes as the epilogue:
 * DequantizeLinear, DequantizeLinear, Conv | MatMul | Gemm   (QDQ)
 * QLinearConv, QLinearMatMul                                 (QOperator)
 * -> integer matmul, Cast, Mul scale, Add bias; Round, Add zero, Clip, Cast to int8.
 * Weights are constant. Those with zero point 0 (u8: 128) become i8; others keep their zero points,
 * which lower-fixed-point subtracts. A matmul of two computed int8 values is computed in float;
 * other graphs stay unchanged. Between matmuls values stay int8: DequantizeLinear moves after
 * operators that only move elements (or take the maximum), QuantizeLinear moves before a Concat,
 * and QuantizeLinear of a DequantizeLinear with equal scale and zero point is removed. RoundSteps
 * produces only values that an integer can hold (0 for NaN, no -0), so results stay equal when
 * fusion drops the int8 conversion.
 */
#include "rewrite.h"

#include <math.h>

/* q, per-tensor scale and zero point; zero NULL: none. */
struct quantised {
  struct value *q, *zero;
  double scale, zero_point;
};

static bool read_scalars(struct value *q, const struct value *scale, struct value *zero,
                         struct quantised *out) {
  *out = (struct quantised){.q = q, .zero = zero};
  if (!dtype_is_byte(q->dtype) || !constant_scalar(scale, &out->scale)) return false;
  if (zero && !constant_scalar(zero, &out->zero_point)) return false;
  return out->scale > 0 && isfinite(out->scale) && scale->dtype == HONE_F32;
}

static bool dequantised(const struct value *value, struct quantised *out) {
  const struct node *node = producer_of(value, OP_DequantizeLinear);
  return node && value->dtype == HONE_F32 && !node_int(node, "block_size", 0) &&
         read_scalars(node->inputs[0], node->inputs[1], node_input(node, 2), out);
}

/* -- constants */

/* Weights with one scale and zero point, or one per column; columns are along `axis`. */
struct weights {
  const struct tensor *q, *scale, *zero;
  int axis;
  bool is_symmetric;
};

static bool is_symmetric(const struct weights *w) {
  int64_t middle = w->q->dtype == HONE_U8 ? 128 : 0;
  if (!w->zero) return middle == 0;
  for (size_t i = 0; i < tensor_count(w->zero); i++)
    if (tensor_i64(w->zero, i) != middle) return false;
  return true;
}

static bool read_weights(const struct value *q, const struct value *scale, const struct value *zero,
                         int axis, struct weights *out) {
  if (!q->constant || !scale->constant || (zero && !zero->constant) || !dtype_is_byte(q->dtype))
    return false;
  *out = (struct weights){.q = q->constant,
                          .scale = scale->constant,
                          .zero = zero ? zero->constant : NULL,
                          .axis = axis};
  size_t count = tensor_count(scale->constant);
  bool fits = count == 1 || (scale->shape.rank == 1 && scale->shape.dims[0] == q->shape.dims[axis]);
  fits &= !zero || shape_equal(&zero->shape, &scale->shape);
  for (size_t i = 0; i < count; i++)
    fits &= tensor_f64(scale->constant, i) > 0 && isfinite(tensor_f64(scale->constant, i));
  out->is_symmetric = is_symmetric(out);
  return fits && scale->dtype == HONE_F32;
}

static bool dequantised_weights(const struct value *value, int axis, struct weights *out) {
  const struct node *node = producer_of(value, OP_DequantizeLinear);
  if (!node || node_int(node, "block_size", 0) || value->dtype != HONE_F32) return false;
  int64_t along = node_int(node, "axis", 1);
  if (along < 0) along += value->shape.rank;
  if (!read_weights(node->inputs[0], node->inputs[1], node_input(node, 2), axis, out)) return false;
  return tensor_count(out->scale) == 1 || along == axis;
}

/* As i8 if the zero point allows it, transposed from [n, k] to [k, n] on request. */
static hone_status elements(struct rewrite *r, const struct weights *w, bool turned,
                            struct value **out) {
  struct shape shape = w->q->shape;
  int64_t shift = w->is_symmetric && w->q->dtype == HONE_U8 ? 128 : 0;
  if (turned) shape = (struct shape){2, {w->q->shape.dims[1], w->q->shape.dims[0]}};
  TRY(rewrite_constant(r, w->is_symmetric ? HONE_I8 : w->q->dtype, &shape, out));
  size_t count = tensor_count(w->q), columns = turned ? (size_t)shape.dims[1] : 1;
  size_t rows = columns ? count / columns : 0;
  for (size_t i = 0; i < count; i++) {
    size_t from = turned ? i % columns * rows + i / columns : i;
    tensor_set_i64((*out)->constant, i, tensor_i64(w->q, from) - shift);
  }
  return HONE_OK;
}

/* One element per column, shaped to broadcast over the result's other dimensions. */
static struct shape column_shape(int64_t columns, const struct node *product) {
  struct shape shape = {1, {columns}};
  if (!is_op(product, OP_ConvInteger)) return shape;
  shape.rank = product->outputs[0]->shape.rank - 1;
  for (int i = 1; i < shape.rank; i++) shape.dims[i] = 1;
  return shape;
}

static hone_status column_scale(struct rewrite *r, const struct weights *w,
                                const struct node *product, double factor, struct value **out) {
  size_t count = tensor_count(w->scale);
  struct shape shape = column_shape((int64_t)count, product);
  TRY(rewrite_constant(r, HONE_F32, &shape, out));
  for (size_t i = 0; i < count; i++)
    tensor_set_f64((*out)->constant, i, (double)(float)(factor * tensor_f64(w->scale, i)));
  return HONE_OK;
}

/* -- the matmul */

struct product {
  const struct node *node; /* the replaced node: its name and attributes */
  struct quantised x;
  struct weights w;
  bool turned;
  const struct tensor *bias, *bias_scale; /* one per column; scale NULL: unscaled */
  double per_step;                        /* of the result: 1 / y_scale, or 1 */
};

static hone_status add_bias(struct rewrite *r, const struct product *p, const struct node *made,
                            struct value **y) {
  struct value *bias;
  size_t count = tensor_count(p->bias);
  struct shape shape = column_shape((int64_t)count, made);
  TRY(rewrite_constant(r, HONE_F32, &shape, &bias));
  for (size_t i = 0; i < count; i++) {
    size_t scales = p->bias_scale ? tensor_count(p->bias_scale) : 0;
    double scale = scales ? tensor_f64(p->bias_scale, scales == 1 ? 0 : i) : 1;
    tensor_set_f64(bias->constant, i, tensor_f64(p->bias, i) * scale * p->per_step);
  }
  return x_give(r->b, y, x_2(r->b, OP_Add, *y, bias));
}

/* A scalar, or one per column. */
static hone_status weights_zero(struct rewrite *r, const struct weights *w, struct value **out) {
  const size_t count = tensor_count(w->zero);
  const struct shape shape = {count == 1 ? 0 : 1, {(int64_t)count}};
  TRY(rewrite_constant(r, w->zero->dtype, &shape, out));
  for (size_t i = 0; i < count; i++) tensor_set_i64((*out)->constant, i, tensor_i64(w->zero, i));
  return HONE_OK;
}

/* True if kernels support the weights' zero points: columns that see all of x, or depthwise with
   one zero point. */
static bool takes_zero(const struct product *p, const struct value *x) {
  const struct shape *w = &p->w.q->shape;
  const int64_t groups = node_int(p->node, "group", 1);
  return p->w.is_symmetric || groups == 1 ||
         (groups == x->shape.dims[1] && groups == w->dims[0] && tensor_count(p->w.zero) == 1);
}

/* The integer matmul as floats, scaled, with its bias. */
static hone_status build_product(struct rewrite *r, const struct product *p, struct value **out) {
  bool conv = is_op(p->node, OP_Conv) || is_op(p->node, OP_QLinearConv);
  struct value *in[4] = {p->x.q, NULL, p->x.zero, NULL}, *scale;
  if (in[2] && in[2]->shape.rank) in[2] = x_scalar(r->b, in[2]->dtype, p->x.zero_point);
  TRY(elements(r, &p->w, p->turned, &in[1]));
  if (!p->w.is_symmetric) TRY(weights_zero(r, &p->w, &in[3]));
  struct value *sum;
  if (conv)
    sum = x_like(r->b, p->node, OP_ConvInteger, in, COUNT(in));
  else
    BUILD(r->b, sum = x_op(r->b, OP_MatMulInteger, in, COUNT(in)));
  node_stand_for(sum->producer, p->node);
  TRY(column_scale(r, &p->w, sum->producer, p->x.scale * p->per_step, &scale));
  BUILD(r->b, *out = x_2(r->b, OP_Mul, x_cast(r->b, sum, HONE_F32), scale));
  return p->bias ? add_bias(r, p, sum->producer, out) : HONE_OK;
}

/* Quantises x with the scale to int8. */
static hone_status build_bytes(struct rewrite *r, struct value *x, double zero, hone_dtype to,
                               struct value **out) {
  const double low = to == HONE_U8 ? 0 : -128;
  x = x_1(r->b, OP_RoundSteps, x);
  if (zero != 0) x = x_by(r->b, OP_Add, x, zero);
  struct value *least = x_scalar(r->b, HONE_F32, low);
  struct value *most = x_scalar(r->b, HONE_F32, low + 255);
  return x_give(r->b, out, x_cast(r->b, x_3(r->b, OP_Clip, x, least, most), to));
}

/* -- patterns */

/* One constant element per column: i32 after a DequantizeLinear, or floats. */
static bool read_bias(const struct value *bias, int64_t columns, struct product *p) {
  int64_t count;
  if (!bias) return true;
  const struct node *node = producer_of(bias, OP_DequantizeLinear);
  const struct value *q = node ? node->inputs[0] : bias;
  if (!q->constant || !shape_count(&q->shape, &count) || count != columns) return false;
  p->bias = q->constant;
  if (!node) return bias->dtype == HONE_F32;
  double zero = 0;
  const struct value *zero_point = node_input(node, 2), *scale = node->inputs[1];
  p->bias_scale = scale->constant;
  bool one_or_all = scale->constant && (tensor_count(scale->constant) == 1 ||
                                        (int64_t)tensor_count(scale->constant) == columns);
  for (size_t i = 0; zero_point && zero_point->constant && i < tensor_count(zero_point->constant);
       i++)
    zero += fabs(tensor_f64(zero_point->constant, i));
  return one_or_all && q->dtype == HONE_I32 && (!zero_point || zero_point->constant) && zero == 0 &&
         !node_int(node, "block_size", 0);
}

static hone_status visit_float_product(struct rewrite *r, struct node *node) {
  struct product p = {.node = node, .per_step = 1};
  bool conv = is_op(node, OP_Conv), gemm = is_op(node, OP_Gemm);
  const struct value *x = node->inputs[0], *w = node->inputs[1];
  int rank = x->shape.rank, axis = conv ? 0 : 1;
  struct value *y;
  if (conv ? rank != 3 && rank != 4 : rank < 2 || w->shape.rank != 2) return HONE_OK;
  if (gemm) {
    bool plain = !node_int(node, "transA", 0) && node_float(node, "alpha", 1) == 1 &&
                 (!node_input(node, 2) || node_float(node, "beta", 1) == 1);
    if (!plain) return HONE_OK;
    p.turned = node_int(node, "transB", 0) != 0;
    if (p.turned) axis = 0;
  }
  if (!dequantised(x, &p.x) || p.x.q->constant || !dequantised_weights(w, axis, &p.w) ||
      !takes_zero(&p, x))
    return HONE_OK;
  if (!read_bias(node_input(node, 2), w->shape.dims[axis], &p)) return HONE_OK;
  TRY(build_product(r, &p, &y));
  return rewrite_replace(r, node->outputs[0], y);
}

/* The integer steps of an int8 value x, as floats. */
static hone_status steps_of(struct rewrite *r, const struct quantised *x, struct value **out) {
  *out = x_cast(r->b, x->q, HONE_F32);
  if (x->zero_point == 0) return r->b->status;
  return x_give(r->b, out, x_2(r->b, OP_Sub, *out, x_scalar(r->b, HONE_F32, x->zero_point)));
}

/* With two computed operands: int8 kernels need packed constant weights. */
static hone_status product_of_two(struct rewrite *r, struct node *node, const struct quantised *x,
                                  const struct quantised *y) {
  struct value **in = node->inputs, *a, *b, *made;
  struct quantised w;
  if (!read_scalars(in[3], in[4], in[5], &w)) return HONE_OK;
  TRY(steps_of(r, x, &a));
  TRY(steps_of(r, &w, &b));
  BUILD(r->b, made = x_2(r->b, OP_Mul, x_2(r->b, OP_MatMul, a, b),
                         x_scalar(r->b, HONE_F32, x->scale * w.scale / y->scale)));
  TRY(build_bytes(r, made, y->zero_point, node->outputs[0]->dtype, &made));
  return rewrite_replace(r, node->outputs[0], made);
}

/* x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias */
static hone_status visit_byte_product(struct rewrite *r, struct node *node) {
  struct product p = {.node = node};
  struct quantised y;
  bool conv = is_op(node, OP_QLinearConv);
  struct value **in = node->inputs, *made;
  int rank = in[0]->shape.rank;
  if (!read_scalars(in[0], in[1], in[2], &p.x) || in[0]->constant) return HONE_OK;
  if (!read_scalars(node->outputs[0], in[6], in[7], &y)) return HONE_OK;
  if (!conv && !in[3]->constant) return product_of_two(r, node, &p.x, &y);
  if (conv ? rank != 3 && rank != 4 : rank < 2 || in[3]->shape.rank != 2) return HONE_OK;
  if (!read_weights(in[3], in[4], in[5], conv ? 0 : 1, &p.w) || !takes_zero(&p, in[0]))
    return HONE_OK;
  const struct value *bias = node_input(node, 8);
  if (bias && (!bias->constant || bias->dtype != HONE_I32)) return HONE_OK;
  struct value *scales = NULL;
  p.per_step = 1 / y.scale;
  if (bias) { /* in steps of x_scale * w_scale */
    size_t count = tensor_count(p.w.scale);
    TRY(rewrite_constant(r, HONE_F32, &p.w.scale->shape, &scales));
    for (size_t i = 0; i < count; i++)
      tensor_set_f64(scales->constant, i, p.x.scale * tensor_f64(p.w.scale, i));
    p.bias = bias->constant;
    p.bias_scale = scales->constant;
  }
  TRY(build_product(r, &p, &made));
  TRY(build_bytes(r, made, y.zero_point, node->outputs[0]->dtype, &made));
  return rewrite_replace(r, node->outputs[0], made);
}

/* -- moving int8 values */

/* The maximum of a window is one of its elements: scales are positive. */
bool only_moves(const struct node *node) {
  switch (node->op->id) {
    case OP_Transpose:
    case OP_Slice:
    case OP_Gather:
    case OP_DepthToSpace:
    case OP_SpaceToDepth:
    case OP_Expand:
    case OP_Tile:
      return true;
    case OP_MaxPool:
      return node->output_count == 1;
    case OP_Resize:
      return !strcmp(node_string(node, "mode", "nearest"), "nearest") &&
             strcmp(node_string(node, "coordinate_transformation_mode", "half_pixel"),
                    "tf_crop_and_resize");
    default:
      return is_shape_op(node);
  }
}

static struct value *dequantise_like(struct rewrite *r, const struct value *like, struct value *q) {
  const struct node *from = like->producer;
  struct value *in[3] = {q, from->inputs[1], node_input(from, 2)};
  return x_op(r->b, OP_DequantizeLinear, in, in[2] ? 3 : 2);
}

/* The node with other inputs and the same attributes. */
static hone_status remade(struct rewrite *r, const struct node *node, struct value *const *in,
                          size_t count, struct value **out) {
  return x_give(r->b, out, x_like(r->b, node, node->op->id, in, count));
}

/* move(dequantise(q)) is dequantise(move(q)). */
static hone_status visit_move(struct rewrite *r, struct node *node) {
  struct quantised x;
  struct value *in[8], *y;
  if (!dequantised(node->inputs[0], &x) || node->input_count > COUNT(in)) return HONE_OK;
  if (x.q->constant && !is_op(node, OP_Gather)) return HONE_OK;
  memcpy(in, node->inputs, node->input_count * sizeof in[0]);
  in[0] = x.q;
  TRY(remade(r, node, in, node->input_count, &y));
  return rewrite_replace(r, node->outputs[0], dequantise_like(r, node->inputs[0], y));
}

/* Padding with 0.0 is padding with the zero point. */
static hone_status visit_pad(struct rewrite *r, struct node *node) {
  struct quantised x;
  double fill = 0;
  const struct value *given = node_input(node, 2);
  if (strcmp(node_string(node, "mode", "constant"), "constant")) return HONE_OK;
  if (!dequantised(node->inputs[0], &x) || x.q->constant) return HONE_OK;
  if ((given && !constant_scalar(given, &fill)) || fill != 0) return HONE_OK;
  struct value *in[4] = {x.q, node->inputs[1], NULL, node_input(node, 3)}, *y;
  TRY(rewrite_constant(r, x.q->dtype, &(struct shape){.rank = 0}, &in[2]));
  tensor_set_i64(in[2]->constant, 0, (int64_t)x.zero_point);
  TRY(remade(r, node, in, in[3] ? 4 : 3, &y));
  return rewrite_replace(r, node->outputs[0], dequantise_like(r, node->inputs[0], y));
}

enum { MOST_PARTS = 64 };

/* concat(dequantise(a), dequantise(b), ...) with equal scales is dequantise(concat(a, b, ...)). */
static hone_status visit_concat(struct rewrite *r, struct node *node) {
  struct quantised first, part;
  struct value *in[MOST_PARTS], *y;
  if (node->input_count > COUNT(in) || !dequantised(node->inputs[0], &first)) return HONE_OK;
  for (size_t i = 0; i < node->input_count; i++) {
    if (!dequantised(node->inputs[i], &part) || part.q->dtype != first.q->dtype ||
        part.scale != first.scale || part.zero_point != first.zero_point)
      return HONE_OK;
    in[i] = part.q;
  }
  TRY(remade(r, node, in, node->input_count, &y));
  BUILD(r->b, y = dequantise_like(r, node->inputs[0], y));
  return rewrite_replace(r, node->outputs[0], y);
}

/* quantise(concat(a, b, ...)) without other readers is concat(quantise(a), quantise(b), ...):
   int8 is moved, and each part's quantisation is fused into its producer. */
static hone_status quantise_parts(struct rewrite *r, struct node *node, const struct node *concat) {
  struct value *in[MOST_PARTS], *y;
  if (concat->input_count > COUNT(in)) return HONE_OK;
  for (size_t i = 0; i < concat->input_count; i++) {
    struct quantised x, to;
    struct value *again[3] = {concat->inputs[i], node->inputs[1], node_input(node, 2)};
    bool same = dequantised(concat->inputs[i], &x) &&
                read_scalars(node->outputs[0], node->inputs[1], node_input(node, 2), &to) &&
                x.scale == to.scale && x.zero_point == to.zero_point &&
                x.q->dtype == node->outputs[0]->dtype;
    in[i] = x.q;
    if (!same) TRY(remade(r, node, again, again[2] ? 3 : 2, &in[i]));
  }
  TRY(remade(r, concat, in, concat->input_count, &y));
  return rewrite_replace(r, node->outputs[0], y);
}

static hone_status visit_quantise(struct rewrite *r, struct node *node) {
  struct quantised x, y;
  if (node->inputs[0]->dtype != HONE_F32) return HONE_OK;
  if (!read_scalars(node->outputs[0], node->inputs[1], node_input(node, 2), &y)) return HONE_OK;
  const struct node *concat = producer_of(node->inputs[0], OP_Concat);
  if (concat && rewrite_single_use(r, node->inputs[0])) return quantise_parts(r, node, concat);
  bool nothing = dequantised(node->inputs[0], &x) && x.scale == y.scale &&
                 x.zero_point == y.zero_point && x.q->dtype == y.q->dtype;
  return nothing ? rewrite_replace(r, node->outputs[0], x.q) : HONE_OK;
}

static hone_status visit_movement(struct rewrite *r, struct node *node) {
  switch (node->op->id) {
    case OP_Pad:
      return visit_pad(r, node);
    case OP_Concat:
      return visit_concat(r, node);
    case OP_QuantizeLinear:
      return visit_quantise(r, node);
    default:
      return only_moves(node) ? visit_move(r, node) : HONE_OK;
  }
}

static hone_status visit_products(struct rewrite *r, struct node *node) {
  if (!node->outputs[0]) return HONE_OK;
  switch (node->op->id) {
    case OP_Conv:
    case OP_MatMul:
    case OP_Gemm:
      return visit_float_product(r, node);
    case OP_QLinearConv:
    case OP_QLinearMatMul:
      return visit_byte_product(r, node);
    default:
      return visit_movement(r, node);
  }
}

/* -- move-bytes: only moves; matmuls are written as QDQ */

static struct value *along(struct rewrite *r, struct value *q, struct value *scale,
                           struct value *zero, int64_t axis) {
  return x_args(r->b, OP_DequantizeLinear, VALUES(q, scale, zero), ARGS(INT_ARG("axis", axis)));
}

/* x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias, as
   quantise(op(dequantise, ..)). */
static hone_status spell_out(struct rewrite *r, struct node *node) {
  const bool conv = is_op(node, OP_QLinearConv);
  struct value **in = node->inputs, *bias = node_input(node, 8), *parts[3] = {NULL}, *scale;
  double x_scale;
  if (in[0]->constant || !constant_scalar(in[1], &x_scale) || !in[4]->constant ||
      (in[5] && !shape_equal(&in[4]->shape, &in[5]->shape)))
    return HONE_OK;
  parts[0] = along(r, in[0], in[1], in[2], 1);
  parts[1] = along(r, in[3], in[4], in[5], conv ? 0 : in[3]->shape.rank - 1);
  if (bias) {
    TRY(rewrite_constant(r, HONE_F32, &in[4]->shape, &scale));
    for (size_t i = 0; i < tensor_count(scale->constant); i++)
      tensor_set_f64(scale->constant, i, x_scale * tensor_f64(in[4]->constant, i));
    parts[2] = along(r, bias, scale, NULL, 0);
  }
  struct value *y = conv ? x_like(r->b, node, OP_Conv, parts, COUNT(parts))
                         : x_op(r->b, OP_MatMul, parts, COUNT(parts));
  return rewrite_replace(r, node->outputs[0], x_3(r->b, OP_QuantizeLinear, y, in[6], in[7]));
}

static hone_status visit_bytes(struct rewrite *r, struct node *node) {
  if (!node->outputs[0]) return HONE_OK;
  if (is_op(node, OP_QLinearConv) || is_op(node, OP_QLinearMatMul)) return spell_out(r, node);
  return visit_movement(r, node);
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_move_bytes(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit_bytes, out_changes);
}

/* -- remaining QuantizeLinear and DequantizeLinear */

static hone_status divided(struct rewrite *r, const struct value *from, double by,
                           struct value **out) {
  TRY(rewrite_constant(r, HONE_F32, &from->shape, out));
  for (size_t i = 0; i < tensor_count(from->constant); i++)
    tensor_set_f64((*out)->constant, i, tensor_f64(from->constant, i) / by);
  return HONE_OK;
}

/* A multiplication by constants without other readers, or NULL. */
static const struct node *own_multiple(struct rewrite *r, const struct value *x) {
  const struct node *mul = producer_of(x, OP_Mul);
  return mul && mul->inputs[1]->constant && rewrite_single_use(r, x) ? mul : NULL;
}

/* x / scale for such a multiple or a constant. */
static hone_status term_in_steps(struct rewrite *r, struct value *x, double scale,
                                 struct value **out) {
  const struct node *mul = producer_of(x, OP_Mul);
  struct value *factor;
  if (x->constant) return divided(r, x, scale, out);
  TRY(divided(r, mul->inputs[1], scale, &factor));
  return x_give(r->b, out, x_2(r->b, OP_Mul, mul->inputs[0], factor));
}

/* x / scale. If x is a multiple (a matmul), a multiple plus a constant (its bias) or two
   multiples (a residual), or a Relu of these, the scale goes into their constants. */
static hone_status in_steps(struct rewrite *r, struct value *x, double scale, struct value **out) {
  const struct node *relu = producer_of(x, OP_Relu);
  struct value *y = relu && rewrite_single_use(r, x) ? relu->inputs[0] : x;
  const struct node *add = producer_of(y, OP_Add);
  const bool is_sum = add && rewrite_single_use(r, y);
  struct value *terms[2] = {is_sum ? add->inputs[0] : y, is_sum ? add->inputs[1] : NULL};
  bool known = own_multiple(r, terms[0]) != NULL;
  if (is_sum) known &= terms[1]->constant || own_multiple(r, terms[1]);
  if (!known) {
    return x_give(r->b, out, x_2(r->b, OP_Div, x, x_scalar(r->b, HONE_F32, scale)));
  }
  for (int k = 0; k < 1 + is_sum; k++) TRY(term_in_steps(r, terms[k], scale, &terms[k]));
  *out = terms[0];
  if (is_sum) *out = x_2(r->b, OP_Add, *out, terms[1]);
  if (y != x) *out = x_1(r->b, OP_Relu, *out);
  return r->b->status;
}

static hone_status visit_quantise_left(struct rewrite *r, struct node *node) {
  struct quantised x;
  struct value *y;
  if (!node->outputs[0] || !is_op(node, OP_QuantizeLinear) || node->inputs[0]->constant ||
      node->inputs[0]->dtype != HONE_F32 ||
      !read_scalars(node->outputs[0], node->inputs[1], node_input(node, 2), &x))
    return HONE_OK;
  TRY(in_steps(r, node->inputs[0], x.scale, &y));
  TRY(build_bytes(r, y, x.zero_point, node->outputs[0]->dtype, &y));
  return rewrite_replace(r, node->outputs[0], y);
}

static hone_status visit_dequantise_left(struct rewrite *r, struct node *node) {
  struct quantised x;
  struct value *y;
  if (!node->outputs[0] || !dequantised(node->outputs[0], &x) || x.q->constant) return HONE_OK;
  TRY(steps_of(r, &x, &y));
  struct value *constant = x_scalar(r->b, HONE_F32, x.scale);
  return rewrite_replace(r, node->outputs[0], x_2(r->b, OP_Mul, y, constant));
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_lower_quantised(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  /* one after the other, because uses are counted in between */
  static visit_fn *const visits[] = {visit_products, visit_dequantise_left, visit_quantise_left};
  *out_changes = 0;
  for (size_t i = 0; i < COUNT(visits); i++) {
    size_t changes;
    TRY(rewrite_nodes(ctx, graph, visits[i], &changes));
    *out_changes += changes;
  }
  return HONE_OK;
}
