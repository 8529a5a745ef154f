/* layers: ATen's normalisations, and image windows as columns. */
#include "pt2.h"

#include <math.h>

hone_status build_softmax(struct pt_op *op) {
  struct value *x;
  int64_t axis, dtype;
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "dim", -1, x->shape.rank, &axis));
  TRY(pt_int(op, "dtype", -1, &dtype));
  if (dtype >= 0 && !pt_dtype(dtype)) return pt_refuse(op, "with dtype %lld", (long long)dtype);
  if (dtype >= 0) x = x_cast(op->b, x, pt_dtype(dtype));
  return pt_result(
      op, 0, x_args(op->b, (enum op_id)op->parameter, VALUES(x), ARGS(INT_ARG("axis", axis))));
}

/* A row of only -inf becomes zeros. */
hone_status build_safe_softmax(struct pt_op *op) {
  struct value *x;
  int64_t axis;
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "dim", -1, x->shape.rank, &axis));
  if (pt_given(op, "dtype")) return pt_refuse(op, "to another type");
  struct value *hidden = x_2(op->b, OP_Equal, x_reduce(op->b, OP_ReduceMax, x, &axis, 1, 1),
                             x_scalar(op->b, x->dtype, -(double)INFINITY));
  return pt_result(op, 0,
                   x_3(op->b, OP_Where, hidden, x_scalar(op->b, x->dtype, 0),
                       x_args(op->b, OP_Softmax, VALUES(x), ARGS(INT_ARG("axis", axis)))));
}

static hone_status ones_or(struct pt_op *op, const char *name, const struct shape *shape, double x,
                           struct value **out) {
  TRY(pt_tensor(op, name, out));
  if (*out) return HONE_OK;
  return x_give(op->b, out,
                x_2(op->b, OP_Expand, x_scalar(op->b, HONE_F32, x),
                    x_list(op->b, shape->dims, (size_t)shape->rank)));
}

hone_status build_layer_norm(struct pt_op *op) {
  struct value *x, *scale, *bias;
  struct shape shape = {0};
  size_t count;
  double epsilon;
  TRY(pt_need(op, "input", &x));
  TRY(pt_ints(op, "normalized_shape", HONE_MAX_RANK, shape.dims, &count));
  TRY(pt_float(op, "eps", 1e-5, &epsilon));
  shape.rank = (int)count;
  TRY(ones_or(op, "weight", &shape, 1, &scale));
  TRY(pt_tensor(op, "bias", &bias));
  const struct attribute args[] = {
      INT_ARG("axis", -(int64_t)count), FLOAT_ARG("epsilon", epsilon), {.name = NULL}};
  if (pt_result_count(op) < 2 || (!pt_is_read(op, 1) && !pt_is_read(op, 2)))
    return pt_result(op, 0, x_args(op->b, OP_LayerNormalization, VALUES(x, scale, bias), args));
  struct value *all[3]; /* with the mean and 1 / deviation */
  BUILD(op->b, x_nodes(op->b, OP_LayerNormalization, VALUES(x, scale, bias), args, 3, all));
  for (size_t i = 0; i < 3; i++) TRY(pt_result(op, i, all[i]));
  return HONE_OK;
}

hone_status build_rms_norm(struct pt_op *op) {
  struct value *x, *scale;
  struct shape shape = {0};
  size_t count;
  double epsilon;
  TRY(pt_need(op, "input", &x));
  TRY(pt_ints(op, "normalized_shape", HONE_MAX_RANK, shape.dims, &count));
  TRY(pt_float(op, "eps", x->dtype == HONE_F16 ? 0x1p-10 : 0x1p-23, &epsilon));
  shape.rank = (int)count;
  TRY(ones_or(op, "weight", &shape, 1, &scale));
  scale = x_cast(op->b, scale, x->dtype);
  return pt_result(op, 0,
                   x_args(op->b, OP_RMSNormalization, VALUES(x, scale),
                          ARGS(INT_ARG("axis", -(int64_t)count), FLOAT_ARG("epsilon", epsilon))));
}

/* group_norm, native_group_norm: channels second, in groups */
hone_status build_group_norm(struct pt_op *op) {
  struct value *x, *scale, *bias;
  int64_t groups;
  double epsilon;
  TRY(pt_need(op, "input", &x));
  TRY(pt_int(op, pt_given(op, "group") ? "group" : "num_groups", 1, &groups));
  TRY(pt_float(op, "eps", 1e-5, &epsilon));
  if (x->shape.rank < 2) return pt_refuse(op, "of rank %d", x->shape.rank);
  struct shape channels = {.rank = 1, .dims = {x->shape.dims[1]}};
  TRY(ones_or(op, "weight", &channels, 1, &scale));
  TRY(ones_or(op, "bias", &channels, 0, &bias));
  for (size_t i = 1; i < pt_result_count(op); i++)
    if (pt_is_read(op, i)) return pt_refuse(op, "with its mean or deviation");
  return pt_result(op, 0,
                   x_args(op->b, OP_GroupNormalization, VALUES(x, scale, bias),
                          ARGS(INT_ARG("num_groups", groups), FLOAT_ARG("epsilon", epsilon))));
}

/* Statistics of the batch, or the learned ones if requested. */
hone_status build_instance_norm(struct pt_op *op) {
  struct value *x, *scale, *bias;
  int64_t fresh;
  double epsilon;
  TRY(pt_need(op, "input", &x));
  TRY(pt_int(op, "use_input_stats", 1, &fresh));
  if (!fresh) return build_batch_norm(op);
  TRY(pt_float(op, "eps", 1e-5, &epsilon));
  if (x->shape.rank < 3) return pt_refuse(op, "of rank %d", x->shape.rank);
  struct shape channels = {.rank = 1, .dims = {x->shape.dims[1]}};
  TRY(ones_or(op, "weight", &channels, 1, &scale));
  TRY(ones_or(op, "bias", &channels, 0, &bias));
  return pt_result(op, 0,
                   x_args(op->b, OP_InstanceNormalization, VALUES(x, scale, bias),
                          ARGS(FLOAT_ARG("epsilon", epsilon))));
}

hone_status build_batch_norm(struct pt_op *op) {
  struct value *x, *scale, *bias, *mean, *variance;
  double epsilon;
  TRY(pt_need(op, "input", &x));
  int64_t training;
  TRY(pt_int(op, "training", 0, &training));
  if (training && pt_given(op, "running_mean")) return pt_refuse(op, "in training");
  if (training) return build_batch_norm_fresh(op); /* used to standardise weights, for example */
  TRY(pt_need(op, "running_mean", &mean));
  TRY(pt_need(op, "running_var", &variance));
  TRY(ones_or(op, "weight", &mean->shape, 1, &scale));
  TRY(ones_or(op, "bias", &mean->shape, 0, &bias));
  TRY(pt_float(op, "eps", 1e-5, &epsilon));
  return pt_result(op, 0,
                   x_args(op->b, OP_BatchNormalization, VALUES(x, scale, bias, mean, variance),
                          ARGS(FLOAT_ARG("epsilon", epsilon))));
}

/* With the batch's own mean and variance; also returns them, as mean and 1 / deviation. */
hone_status build_batch_norm_fresh(struct pt_op *op) {
  struct value *x, *scale, *bias;
  int64_t list[HONE_MAX_RANK], dims[HONE_MAX_RANK];
  double epsilon;
  TRY(pt_need(op, "input", &x));
  TRY(pt_float(op, "eps", 1e-5, &epsilon));
  size_t rank = (size_t)x->shape.rank, count = 0;
  if (rank < 2) return pt_refuse(op, "of rank %zu", rank);
  struct shape channels = {.rank = 1, .dims = {x->shape.dims[1]}};
  TRY(ones_or(op, "weight", &channels, 1, &scale));
  TRY(ones_or(op, "bias", &channels, 0, &bias));
  for (size_t d = 0; d < rank; d++) {
    dims[d] = d == 1 ? x->shape.dims[1] : 1;
    if (d != 1) list[count++] = (int64_t)d;
  }
  struct value *axes = x_list(op->b, list, count);
  struct value *mean = x_2(op->b, OP_ReduceMean, x, axes);
  struct value *y = x_2(op->b, OP_Sub, x, mean);
  struct value *square =
      x_1(op->b, OP_Sqrt,
          x_by(op->b, OP_Add, x_2(op->b, OP_ReduceMean, x_2(op->b, OP_Mul, y, y), axes), epsilon));
  square = x_1(op->b, OP_Reciprocal, square);
  y = x_2(op->b, OP_Mul, y, square);
  BUILD(op->b, scale = x_reshape(op->b, scale, dims, (int)rank));
  BUILD(op->b, bias = x_reshape(op->b, bias, dims, (int)rank));
  BUILD(op->b, y = x_2(op->b, OP_Add, x_2(op->b, OP_Mul, y, scale), bias));
  TRY(pt_result(op, 0, y));
  for (size_t k = 1; k < 3 && k < pt_result_count(op); k++) {
    if (!pt_is_read(op, k)) continue;
    BUILD(op->b, y = x_reshape(op->b, k == 1 ? mean : square, channels.dims, 1));
    TRY(pt_result(op, k, y));
  }
  return HONE_OK;
}

/* -- image windows as columns */

enum { KERNEL, DILATION, PADDING, STRIDE, WINDOW_LISTS };
static hone_status read_windows(struct pt_op *op, int64_t list[WINDOW_LISTS][2]) {
  static const char *const names[] = {"kernel_size", "dilation", "padding", "stride"};
  size_t count;
  for (size_t i = 0; i < WINDOW_LISTS; i++) {
    TRY(pt_ints(op, names[i], 2, list[i], &count));
    if (count != 2) return pt_refuse(op, "with %s of %zu entries", names[i], count);
  }
  return HONE_OK;
}

/* Windows summed into an image. */
hone_status build_col2im(struct pt_op *op) {
  struct value *x;
  int64_t list[WINDOW_LISTS][2], size[2];
  size_t count;
  TRY(pt_need(op, "self", &x));
  TRY(read_windows(op, list));
  TRY(pt_ints(op, "output_size", 2, size, &count));
  if (count != 2) return pt_refuse(op, "with output_size of %zu entries", count);
  const int64_t *pad = list[PADDING], pads[] = {pad[0], pad[1], pad[0], pad[1]};
  struct value *image = x_list(op->b, size, 2);
  struct value *block = x_list(op->b, list[KERNEL], 2);
  struct value *y = x_args(op->b, OP_Col2Im, VALUES(x, image, block),
                           ARGS(INTS_ARG("dilations", list[DILATION], 2), INTS_ARG("pads", pads, 4),
                                INTS_ARG("strides", list[STRIDE], 2)));
  return pt_result(op, 0, y);
}

/* x[n, c, h, w] -> y[n, c kh kw, windows]: a strided slice of the padded image for each position in
 * the window. */
hone_status build_im2col(struct pt_op *op) {
  enum { MOST_PLACES = 1024 };
  struct value *x, *parts[MOST_PLACES], *y;
  int64_t list[WINDOW_LISTS][2], out[2], pads[2 * HONE_MAX_RANK] = {0}, places = 1;
  TRY(pt_need(op, "self", &x));
  TRY(read_windows(op, list));
  const int rank = x->shape.rank;
  if (rank != 3 && rank != 4) return pt_refuse(op, "of rank %d", rank);
  for (int d = 0; d < 2; d++) {
    const int64_t kernel = list[KERNEL][d], dilation = list[DILATION][d], pad = list[PADDING][d];
    if (kernel < 1 || kernel > MOST_PLACES || dilation < 1 || dilation > INT32_MAX || pad < 0 ||
        pad > INT32_MAX || list[STRIDE][d] < 1)
      return pt_refuse(op, "with this window");
    int64_t room = 0;
    if (!checked_add(x->shape.dims[rank - 2 + d], 2 * pad, &room) ||
        (room -= dilation * (kernel - 1) + 1) < 0)
      return pt_refuse(op, "with a window larger than the image");
    out[d] = room / list[STRIDE][d] + 1;
    pads[rank - 2 + d] = pads[2 * rank - 2 + d] = pad;
    places *= kernel;
  }
  if (places > MOST_PLACES) return pt_refuse(op, "with %lld positions", (long long)places);
  BUILD(op->b,
        x = x_args(op->b, OP_Pad,
                   VALUES(x, x_list(op->b, pads, 2 * (size_t)rank), x_scalar(op->b, x->dtype, 0)),
                   ARGS(STRING_ARG("mode", "constant"))));
  int64_t shape[] = {x->shape.dims[0], x->shape.dims[rank - 3], 1, out[0] * out[1]};
  int64_t *dims = shape + (4 - rank), channels = x->shape.dims[rank - 3];
  dims[0] = x->shape.dims[0];
  for (int64_t i = 0; i < places; i++) {
    const int64_t at[2] = {i / list[KERNEL][1], i % list[KERNEL][1]};
    y = x;
    for (int d = 0; d < 2; d++) {
      const int64_t first = at[d] * list[DILATION][d], step = list[STRIDE][d];
      y = pt_slice(op, y, rank - 2 + d, first, first + (out[d] - 1) * step + 1, step);
    }
    parts[i] = x_reshape(op->b, y, dims, rank);
  }
  BUILD(op->b, y = x_concat(op->b, rank - 2, parts, (size_t)places));
  dims[rank - 3] = channels * places;
  dims[rank - 2] = out[0] * out[1];
  BUILD(op->b, y = x_reshape(op->b, y, dims, rank - 1));
  return pt_result(op, 0, y);
}
