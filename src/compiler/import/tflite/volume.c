/* volume: CONV_3D and CONV_3D_TRANSPOSE, in float, on [batch, depth, height, width, channels]. */
#include "tflite.h"

enum { SPATIAL = 3, RANK = 5 };

struct volume {
  int64_t same, strides[SPATIAL], dilations[SPATIAL], pads[2 * SPATIAL];
};

static const int64_t to_volume[] = {0, 4, 1, 2, 3}, from_volume[] = {0, 2, 3, 4, 1};
/* Weights [d, h, w, in, out]; transposed convolution: [d, h, w, out, in]. */
static const int64_t weights_first[] = {4, 3, 0, 1, 2};

/* Options: padding, strides and, after the activation, dilations as d, w, h. */
static hone_status read_volume(struct tf_op *op, struct volume *v) {
  static const unsigned order[] = {0, 2, 1}; /* of d, h, w in the file */
  TRY(tf_option(op, 0, FLAT_I8, 0, &v->same));
  if (v->same != 0 && v->same != 1) return tf_refuse(op, "with padding %lld", (long long)v->same);
  v->same = !v->same;
  for (int d = 0; d < SPATIAL; d++) {
    TRY(tf_option(op, 1 + order[d], FLAT_I32, 0, &v->strides[d]));
    TRY(tf_option(op, 5 + order[d], FLAT_I32, 1, &v->dilations[d]));
    if (v->strides[d] < 1 || v->dilations[d] < 1)
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: stride %lld, dilation %lld",
                  op->kind->name, (long long)v->strides[d], (long long)v->dilations[d]);
  }
  return HONE_OK;
}

/* The two operands with channels in ONNX's position; the bias is optional. */
static hone_status read_operands(struct tf_op *op, struct tf_tensor *in, struct tf_tensor *bias,
                                 struct value **x, struct value **w, struct value **b) {
  *b = NULL;
  if (tf_is_quantised(in)) return tf_refuse(op, "of quantised numbers");
  TRY(tf_value(op, in, x));
  TRY(tf_dequantised(op, tf_in(op, 1), w));
  if ((*x)->shape.rank != RANK || (*w)->shape.rank != RANK)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s of rank %d with weights of rank %d",
                op->kind->name, (*x)->shape.rank, (*w)->shape.rank);
  *x = x_transpose(op->b, *x, to_volume);
  BUILD(op->b, *w = x_transpose(op->b, *w, weights_first));
  return bias ? tf_value(op, bias, b) : HONE_OK;
}

static hone_status write_volume(struct tf_op *op, struct value *y) {
  TRY(tf_activate(op, 4, y, &y));
  return tf_write(op, 0, false, x_transpose(op->b, y, from_volume));
}

/* Splits `total` elements of padding between both sides; the odd one is at the end. */
static void halve(struct volume *v, int d, int64_t total) {
  v->pads[d] = total > 0 ? total / 2 : 0;
  v->pads[SPATIAL + d] = total > 0 ? total - total / 2 : 0;
}

#define VOLUME_ARGS(v)                                                                      \
  INTS_ARG("strides", (v).strides, SPATIAL), INTS_ARG("dilations", (v).dilations, SPATIAL), \
      INTS_ARG("pads", (v).pads, 2 * (size_t)SPATIAL)

hone_status tf_conv_3d(struct tf_op *op) {
  struct volume v = {0};
  struct value *x, *w, *b, *y;
  TRY(tf_arity(op, 2, 3, 1));
  TRY(read_volume(op, &v));
  TRY(read_operands(op, tf_in(op, 0), tf_in(op, 2), &x, &w, &b));
  int64_t channels = x->shape.dims[1], each = w->shape.dims[1];
  if (each < 1 || channels % each)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "CONV_3D: %lld channels, weights for %lld",
                (long long)channels, (long long)each);
  for (int d = 0; d < SPATIAL; d++) {
    int64_t in = x->shape.dims[2 + d], reach = (w->shape.dims[2 + d] - 1) * v.dilations[d] + 1;
    int64_t out = in / v.strides[d] + (in % v.strides[d] != 0);
    halve(&v, d, v.same ? (out - 1) * v.strides[d] + reach - in : 0);
  }
  BUILD(op->b, y = x_args(op->b, OP_Conv, VALUES(x, w, b),
                          ARGS(INT_ARG("group", channels / each), VOLUME_ARGS(v))));
  return write_volume(op, y);
}

/* CONV_3D_TRANSPOSE: output shape, weights, x, bias. */
hone_status tf_conv_3d_transpose(struct tf_op *op) {
  int64_t shape[RANK], outside[SPATIAL];
  size_t count;
  struct volume v = {0};
  struct value *x, *w, *b, *y;
  TRY(tf_arity(op, 3, 4, 1));
  TRY(tf_ints(op, 0, RANK, shape, &count));
  TRY(read_volume(op, &v));
  TRY(read_operands(op, tf_in(op, 2), tf_in(op, 3), &x, &w, &b));
  for (int d = 0; d < SPATIAL; d++) {
    int64_t reach =
        (x->shape.dims[2 + d] - 1) * v.strides[d] + (w->shape.dims[2 + d] - 1) * v.dilations[d] + 1;
    int64_t wanted = count == RANK && shape[1 + d] >= 0 ? shape[1 + d] : -1;
    int64_t total = v.same && reach > wanted ? reach - wanted : 0;
    halve(&v, d, total);
    if (wanted < 0 || !checked_sub(wanted, reach - total, &outside[d]) || outside[d] < 0 ||
        outside[d] >= v.strides[d])
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "CONV_3D_TRANSPOSE to size %lld from %lld",
                  (long long)wanted, (long long)x->shape.dims[2 + d]);
  }
  BUILD(op->b, y = x_args(op->b, OP_ConvTranspose, VALUES(x, w, b),
                          ARGS(VOLUME_ARGS(v), INTS_ARG("output_padding", outside, SPATIAL))));
  return write_volume(op, y);
}
