/* Grids, crops and the inverses of pooling and unfolding, expressed in movement operators and
 * convolutions. */
#include "expand.h"

/* -- AffineGrid: theta [n, d, d + 1], size [n, c, spatial...] */

/* Row r of the homogeneous grid [points, d + 1]: the coordinates of point r, last axis first, and 1. */
static struct value *base_grid(struct graph_builder *e, hone_dtype dtype, const int64_t *size,
                               int d, int64_t points) {
  bool corners = x_int(e, "align_corners", 0) != 0;
  const struct tensor *tensor;
  struct value *grid = x_constant(e, dtype, &(struct shape){2, {points, d + 1}}, &tensor);
  for (int64_t r = 0; !e->status && r < points; r++) {
    int64_t rest = r;
    for (int i = d; i-- > 0; rest /= size[i]) {
      double at = (double)(rest % size[i]), n = (double)size[i];
      double x = corners ? (size[i] > 1 ? 2 * at / (n - 1) - 1 : -1) : (2 * at + 1) / n - 1;
      tensor_set_f64(tensor, (size_t)(r * (d + 1) + d - 1 - i), x);
    }
    tensor_set_f64(tensor, (size_t)(r * (d + 1) + d), 1);
  }
  return grid;
}

void expand_affine_grid(struct graph_builder *e) {
  struct value *theta = x_in(e, 0);
  int64_t size[5] = {0}, dims[5], points = 1;
  size_t count = x_ints(e, 1, "the size", 5, size);
  int d = (int)count - 2;
  if (e->status) return;
  if (d < 2 || theta->shape.rank != 3 || theta->shape.dims[1] != d ||
      theta->shape.dims[2] != d + 1 || theta->shape.dims[0] != size[0]) {
    x_fail(e, HONE_E_SHAPE, "theta does not fit a size of %zu numbers", count);
    return;
  }
  for (int i = 0; i < d; i++) {
    if (size[2 + i] < 1 || !checked_mul(points, size[2 + i], &points))
      x_fail(e, HONE_E_SHAPE, "the size has %lld along axis %d", (long long)size[2 + i], 2 + i);
    dims[1 + i] = size[2 + i];
  }
  if (e->status) return;
  dims[0] = size[0];
  dims[1 + d] = d;
  struct value *grid = base_grid(e, theta->dtype, size + 2, d, points);
  struct value *y = x_2(e, OP_MatMul, grid, x_swap(e, theta, 1, 2));
  x_out(e, 0, x_reshape(e, y, dims, d + 2));
}

/* -- CenterCropPad */

void expand_center_crop_pad(struct graph_builder *e) {
  struct value *x = x_in(e, 0);
  int64_t size[HONE_MAX_RANK];
  size_t given = 0, count = x_ints(e, 1, "the shape", HONE_MAX_RANK, size);
  const int64_t *axes = node_ints(e->node, "axes", &given);
  if (!e->status && count != (axes ? given : (size_t)x->shape.rank))
    x_fail(e, HONE_E_SHAPE, "%zu sizes for %zu axes", count, axes ? given : (size_t)x->shape.rank);
  for (size_t i = 0; !e->status && i < count; i++) {
    int axis = 0;
    hone_status status = axis_normalise(e->ctx, e->node, "an axis", axes ? axes[i] : (int64_t)i,
                                        x->shape.rank, &axis);
    if (status) {
      e->status = status;
      return;
    }
    if (size[i] < 0) x_fail(e, HONE_E_SHAPE, "a size of %lld", (long long)size[i]);
    if (e->status) return;
    int64_t more = size[i] - x->shape.dims[axis], before = (more < 0 ? -more : more) / 2;
    if (more < 0)
      x = x_slice(e, x, axis, before, before + size[i]);
    else
      x = x_pad(e, x, axis, before, more - before);
  }
  x_out(e, 0, x);
}

/* -- Col2Im: a transposed convolution whose kernel copies each position to its own pixel */

static void spatial_attribute(struct graph_builder *e, const char *name, size_t count,
                              int64_t otherwise, int64_t *out) {
  hone_status status = ints_attribute(e->ctx, e->node, name, count, otherwise, out, NULL);
  if (status && !e->status) e->status = status;
}

/* So that sums of a few cannot overflow. */
static bool is_small(int64_t x) { return x >= -(1 << 24) && x <= 1 << 24; }

void expand_col2im(struct graph_builder *e) {
  struct value *x = x_in(e, 0);
  int64_t image[6] = {0}, block[6] = {0}, step[6], dilation[6], pads[12], dims[8], rest[6], k = 1;
  size_t d = x_ints(e, 1, "image_shape", 6, image);
  size_t blocks = x_ints(e, 2, "block_shape", 6, block);
  if (!e->status && (d != blocks || d < 1 || x->shape.rank != 3))
    x_fail(e, HONE_E_SHAPE, "an image of %zu dimensions from blocks of %zu", d, blocks);
  if (e->status) return;
  spatial_attribute(e, "strides", d, 1, step);
  spatial_attribute(e, "dilations", d, 1, dilation);
  spatial_attribute(e, "pads", 2 * d, 0, pads);
  int64_t columns = 1;
  for (size_t i = 0; !e->status && i < d; i++) {
    if (block[i] < 1 || image[i] < 1 || step[i] < 1 || dilation[i] < 1 || block[i] > 1 << 16 ||
        image[i] > 1 << 24 || dilation[i] > 1 << 16 || !is_small(pads[i]) ||
        !is_small(pads[d + i])) {
      x_fail(e, HONE_E_SHAPE, "a block, stride, dilation or pad out of range");
      return;
    }
    int64_t span = image[i] + pads[i] + pads[d + i] - dilation[i] * (block[i] - 1) - 1;
    dims[2 + i] = span < 0 ? 0 : span / step[i] + 1;
    rest[i] = span < 0 ? 0 : span % step[i];
    k *= block[i];
    columns *= dims[2 + i];
    if (k > 1 << 16 || columns > 1 << 30) x_fail(e, HONE_E_LIMIT, "blocks too large");
  }
  if (e->status) return;
  if (columns != x->shape.dims[2] || x->shape.dims[1] % k) {
    x_fail(e, HONE_E_SHAPE, "%lld columns of %lld, expected %lld of a multiple of %lld",
           (long long)x->shape.dims[2], (long long)x->shape.dims[1], (long long)columns,
           (long long)k);
    return;
  }
  int64_t channels = x->shape.dims[1] / k;
  struct shape shape = {2 + (int)d, {channels * k, 1}};
  for (size_t i = 0; i < d; i++) shape.dims[2 + i] = block[i];
  const struct tensor *tensor;
  struct value *weight = x_constant(e, x->dtype, &shape, &tensor);
  for (int64_t i = 0; !e->status && i < channels * k; i++)
    tensor_set_f64(tensor, (size_t)(i * k + i % k), 1);
  dims[0] = x->shape.dims[0];
  dims[1] = x->shape.dims[1];
  x = x_reshape(e, x, dims, 2 + (int)d);
  x_with_int(e, "group", channels);
  x_with_ints(e, "strides", step, d);
  x_with_ints(e, "dilations", dilation, d);
  x_with_ints(e, "pads", pads, 2 * d);
  x_with_ints(e, "output_padding", rest, d);
  x_out(e, 0, x_2(e, OP_ConvTranspose, x, weight));
}

/* -- MaxUnpool: values scattered to the positions that MaxPool found */

void expand_max_unpool(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *index = x_in(e, 1);
  int64_t kernel[HONE_MAX_RANK], step[HONE_MAX_RANK], pads[2 * HONE_MAX_RANK];
  int64_t wanted[HONE_MAX_RANK], all = -1;
  int d = x->shape.rank - 2;
  struct shape shape = x->shape;
  if (d < 1 || !shape_equal(&x->shape, &index->shape))
    x_fail(e, HONE_E_SHAPE, "values and indices differ in shape");
  if (e->status) return;
  spatial_attribute(e, "kernel_shape", (size_t)d, 1, kernel);
  spatial_attribute(e, "strides", (size_t)d, 1, step);
  spatial_attribute(e, "pads", 2 * (size_t)d, 0, pads);
  for (int i = 0; !e->status && i < d; i++) {
    int64_t span = 0;
    if (!checked_mul(shape.dims[2 + i] - 1, step[i], &span) ||
        !checked_add(span, kernel[i] - pads[i] - pads[d + i], &shape.dims[2 + i]) ||
        shape.dims[2 + i] < 1)
      x_fail(e, HONE_E_SHAPE, "no output along axis %d", 2 + i);
  }
  int64_t total = 0;
  if (e->status) return;
  if (!shape_count(&shape, &total)) {
    x_fail(e, HONE_E_LIMIT, "the output is too large");
    return;
  }
  struct value *zeros = x_expand(e, x_scalar(e, x->dtype, 0), &(struct shape){1, {total}});
  struct value *flat = x_reshape(e, x, &all, 1);
  struct value *at = x_reshape(e, index, &all, 1);
  x_with_int(e, "axis", 0);
  struct value *y = x_3(e, OP_ScatterElements, zeros, at, flat);
  y = x_reshape(e, y, shape.dims, shape.rank);
  if (x_in(e, 2)) {
    size_t count = x_ints(e, 2, "output_shape", HONE_MAX_RANK, wanted);
    if (!e->status && count != (size_t)shape.rank)
      x_fail(e, HONE_E_SHAPE, "output_shape has %zu numbers", count);
    for (int i = 0; !e->status && i < shape.rank; i++)
      y = x_pad(e, y, i, 0, wanted[i] - shape.dims[i]);
  }
  x_out(e, 0, y);
}
