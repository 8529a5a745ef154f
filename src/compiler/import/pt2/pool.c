/* pool: ATen's pools. Forms that ONNX's pools lack (integers, a divisor, windows of unequal size)
 * are computed axis by axis, or as an average times its divisor. */
#include "pt2.h"

#include <math.h>

struct pool {
  struct value *x; /* [batch, channels, ..] */
  size_t n;        /* spatial dimensions */
  int64_t kernel[HONE_MAX_RANK], strides[HONE_MAX_RANK], dilations[HONE_MAX_RANK];
  int64_t pads[2 * HONE_MAX_RANK];
  int64_t ceil, include;
};

static size_t dimensions_of(const char *target) {
  return strstr(target, "1d") ? 1 : strstr(target, "3d") ? 3 : 2;
}

/* self, with a batch dimension if it is a single image. */
static hone_status read_images(struct pt_op *op, size_t n, struct value **out) {
  TRY(pt_need(op, "self", out));
  if ((*out)->shape.rank == (int)n + 1) TRY(pt_lift(op, out));
  return (*out)->shape.rank == (int)n + 2 ? HONE_OK
                                          : pt_refuse(op, "of rank %d", (*out)->shape.rank);
}

static hone_status read_pool(struct pt_op *op, struct pool *p) {
  p->n = dimensions_of(op->target);
  TRY(read_images(op, p->n, &p->x));
  TRY(pt_spatial(op, "kernel_size", 1, p->n, p->kernel));
  TRY(pt_spatial(op, "stride", 0, p->n, p->strides));
  TRY(pt_spatial(op, "padding", 0, p->n, p->pads));
  TRY(pt_spatial(op, "dilation", 1, p->n, p->dilations));
  TRY(pt_int(op, "ceil_mode", 0, &p->ceil));
  TRY(pt_int(op, "count_include_pad", 1, &p->include));
  for (size_t i = 0; i < p->n; i++) {
    if (!p->strides[i]) p->strides[i] = p->kernel[i];
    if (p->kernel[i] < 1 || p->strides[i] < 1 || p->dilations[i] < 1 || p->pads[i] < 0 ||
        p->kernel[i] > INT32_MAX || p->strides[i] > INT32_MAX || p->dilations[i] > INT32_MAX ||
        p->pads[i] > INT32_MAX)
      return pt_refuse(op, "with this window");
    p->pads[p->n + i] = p->pads[i];
  }
  return HONE_OK;
}

/* The number of windows along an axis, and the end padding with which the last one fits. */
static hone_status count_windows(struct pt_op *op, const struct pool *p, size_t i, int64_t *out,
                                 int64_t *end) {
  const int64_t size = p->x->shape.dims[2 + i], stride = p->strides[i];
  const int64_t span = p->dilations[i] * (p->kernel[i] - 1) + 1; /* at most 62 bits */
  const int64_t room = size + 2 * p->pads[i] - span + (p->ceil ? stride - 1 : 0);
  if (room < 0) return pt_refuse(op, "with a window larger than the image");
  *out = room / stride + 1;
  if (p->ceil && (*out - 1) * stride >= size + p->pads[i]) --*out;
  *end = (*out - 1) * stride + span - size - p->pads[i];
  return HONE_OK;
}

static hone_status pool_node(struct pt_op *op, const struct pool *p, struct value *x, enum op_id id,
                             size_t count, struct value **out) {
  const struct attribute args[] = {INTS_ARG("kernel_shape", p->kernel, p->n),
                                   INTS_ARG("strides", p->strides, p->n),
                                   INTS_ARG("pads", p->pads, 2 * p->n),
                                   INT_ARG("ceil_mode", p->ceil),
                                   INTS_ARG("dilations", p->dilations, p->n),
                                   {.name = id == OP_MaxPool ? NULL : "count_include_pad",
                                    .kind = ATTRIBUTE_INT,
                                    .i = p->include},
                                   {.name = NULL}};
  BUILD(op->b, x_nodes(op->b, id, VALUES(x), args, count, out));
  return HONE_OK;
}

/* -- maximum */

/* Reduces an axis of x to `windows`, each the maximum of the `length` elements whose indices the
 * list gives. */
static hone_status largest_of(struct pt_op *op, int64_t axis, const int64_t *list, int64_t windows,
                              int64_t length, struct value **x) {
  const int64_t dims[] = {windows, length}, reduced = axis + 1;
  if ((*x)->shape.rank == HONE_MAX_RANK) return pt_refuse(op, "of rank %d", (*x)->shape.rank);
  *x = x_gather(op->b, *x, pt_index_list(op, list, dims, 2), axis);
  return x_give(op->b, x, x_reduce(op->b, OP_ReduceMax, *x, &reduced, 1, 0));
}

/* For integers, padded with the smallest value. */
static hone_status largest_integers(struct pt_op *op, const struct pool *p) {
  const int bits = (int)dtype_bits(p->x->dtype);
  const double least = p->x->dtype == HONE_U8 ? 0 : -ldexp(1, bits - 1);
  const size_t rank = p->n + 2;
  int64_t pads[2 * HONE_MAX_RANK] = {0}, windows[HONE_MAX_RANK];
  struct value *x;
  for (size_t i = 0; i < p->n; i++) {
    pads[2 + i] = p->pads[i];
    TRY(count_windows(op, p, i, &windows[i], &pads[rank + 2 + i]));
    if (pads[rank + 2 + i] < 0) pads[rank + 2 + i] = 0;
  }
  BUILD(op->b,
        x = x_args(op->b, OP_Pad,
                   VALUES(p->x, x_list(op->b, pads, 2 * rank), x_scalar(op->b, p->x->dtype, least)),
                   ARGS(STRING_ARG("mode", "constant"))));
  for (size_t i = 0; i < p->n; i++) {
    int64_t *list, count = 0;
    if (!checked_mul(windows[i], p->kernel[i], &count)) return pt_refuse(op, "of this size");
    TRY(NEW_ARRAY(op->ctx, op->pt->arena, list, (size_t)count));
    for (int64_t k = 0; k < count; k++)
      list[k] = k / p->kernel[i] * p->strides[i] + k % p->kernel[i] * p->dilations[i];
    TRY(largest_of(op, 2 + (int64_t)i, list, windows[i], p->kernel[i], &x));
  }
  return pt_result(op, 0, x);
}

/* With indices. PyTorch counts them within an image's plane, ONNX within the whole tensor. */
static hone_status largest_with_places(struct pt_op *op, const struct pool *p) {
  struct value *x = p->x, *y[2];
  int64_t plane = 1;
  /* the count was checked when x was made */
  for (int d = 2; d < x->shape.rank; d++) plane *= x->shape.dims[d];
  if (x->dtype == HONE_I32 || x->dtype == HONE_I16) BUILD(op->b, x = x_cast(op->b, x, HONE_F64));
  if (x->dtype == HONE_I64) return pt_refuse(op, "of int64 with indices");
  TRY(pool_node(op, p, x, OP_MaxPool, 2, y));
  BUILD(op->b, y[0] = x_cast(op->b, y[0], p->x->dtype));
  BUILD(op->b, y[1] = x_by(op->b, OP_Mod, y[1], (double)plane));
  TRY(pt_result(op, 0, y[0]));
  return pt_result(op, 1, y[1]);
}

hone_status build_max_pool(struct pt_op *op) {
  struct value *y;
  struct pool p = {.n = 0};
  TRY(read_pool(op, &p));
  if (pt_result_count(op) > 1 && pt_is_read(op, 1)) return largest_with_places(op, &p);
  if (!dtype_is_float(p.x->dtype) && dtype_bits(p.x->dtype) > 8) return largest_integers(op, &p);
  TRY(pool_node(op, &p, p.x, OP_MaxPool, 1, &y));
  return pt_result(op, 0, y);
}

/* -- averages */

/* Sums divided by `divisor`: an average of all elements of a window, including zero padding. */
static hone_status average_by(struct pt_op *op, struct pool *p, int64_t divisor) {
  double area = 1;
  struct value *y;
  if (divisor == 0) return pt_refuse(op, "with divisor_override 0");
  for (size_t i = 0; i < p->n; i++) {
    int64_t windows, end;
    TRY(count_windows(op, p, i, &windows, &end));
    p->pads[p->n + i] = end > 0 ? end : 0;
    area *= (double)p->kernel[i];
  }
  p->ceil = 0;
  p->include = 1;
  TRY(pool_node(op, p, p->x, OP_AveragePool, 1, &y));
  BUILD(op->b, y = x_by(op->b, OP_Mul, y, area / (double)divisor));
  return pt_result(op, 0, y);
}

hone_status build_average_pool(struct pt_op *op) {
  struct value *y;
  struct pool p = {.n = 0};
  int64_t divisor;
  TRY(read_pool(op, &p));
  TRY(pt_int(op, "divisor_override", 0, &divisor));
  if (pt_given(op, "divisor_override")) return average_by(op, &p, divisor);
  const hone_dtype dtype = p.x->dtype;
  const bool is_float = dtype_is_float(dtype);
  if (!is_float) BUILD(op->b, p.x = x_cast(op->b, p.x, HONE_F64));
  TRY(pool_node(op, &p, p.x, OP_AveragePool, 1, &y));
  if (!is_float) { /* truncated toward zero, except for the rounding of the quotient */
    y = x_cast(op->b, x_by(op->b, OP_Mul, y, 1 + 1e-12), dtype);
  }
  return pt_result(op, 0, y);
}

/* -- adaptive pools */

/* Window i of an axis of n: [floor(i n / size), ceil((i + 1) n / size)). */
static int64_t window_start(int64_t i, int64_t n, int64_t size) { return i * n / size; }
static int64_t window_end(int64_t i, int64_t n, int64_t size) {
  return ((i + 1) * n + size - 1) / size;
}

static hone_status average_axis(struct pt_op *op, int axis, int64_t size, struct value **x) {
  const int64_t n = (*x)->shape.dims[axis];
  int64_t count = 0;
  double *weights;
  if (!checked_mul(n, size, &count)) return pt_refuse(op, "of this size");
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, weights, (size_t)count));
  for (int64_t i = 0; i < size; i++) {
    const int64_t start = window_start(i, n, size), end = window_end(i, n, size);
    for (int64_t k = start; k < end; k++) weights[k * size + i] = 1.0 / (double)(end - start);
  }
  return x_give(op->b, x, pt_multiply_axis(op, axis, size, weights, *x));
}

static hone_status largest_axis(struct pt_op *op, int axis, int64_t size, struct value **x) {
  const int64_t n = (*x)->shape.dims[axis];
  int64_t length = 0, count = 0, *list;
  for (int64_t i = 0; i < size; i++) {
    const int64_t own = window_end(i, n, size) - window_start(i, n, size);
    if (own > length) length = own;
  }
  if (!checked_mul(length, size, &count)) return pt_refuse(op, "of this size");
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, list, (size_t)count));
  for (int64_t k = 0; k < count; k++) { /* a shorter window repeats its last element */
    const int64_t i = k / length, at = window_start(i, n, size) + k % length;
    list[k] = at < window_end(i, n, size) ? at : window_end(i, n, size) - 1;
  }
  return largest_of(op, axis, list, size, length, x);
}

/* Windows of equal size if the result divides the input, else axis by axis. Parameter 1:
 * maximum. */
hone_status build_adaptive_pool(struct pt_op *op) {
  struct pool p = {.n = dimensions_of(op->target)};
  struct value *y;
  int64_t size[HONE_MAX_RANK];
  bool is_even = true;
  const bool is_max = op->parameter == 1, has_places = is_max && pt_result_count(op) > 1;
  TRY(pt_spatial(op, "output_size", 1, p.n, size));
  TRY(read_images(op, p.n, &p.x));
  for (size_t i = 0; i < p.n; i++) {
    const int64_t dim = p.x->shape.dims[2 + i];
    if (size[i] < 1 || dim < 1 || size[i] > INT32_MAX || dim > INT32_MAX)
      return pt_refuse(op, "to %lld from %lld elements", (long long)size[i], (long long)dim);
    p.kernel[i] = p.strides[i] = dim / size[i];
    p.dilations[i] = 1;
    is_even = is_even && dim % size[i] == 0;
  }
  if (is_even && has_places && pt_is_read(op, 1)) return largest_with_places(op, &p);
  if (is_even && dtype_is_float(p.x->dtype)) {
    TRY(pool_node(op, &p, p.x, is_max ? OP_MaxPool : OP_AveragePool, 1, &y));
    return pt_result(op, 0, y);
  }
  if (has_places && pt_is_read(op, 1)) TRY(pt_result(op, 1, NULL)); /* not computed */
  for (size_t i = 0; i < p.n; i++)
    TRY((is_max ? largest_axis : average_axis)(op, 2 + (int)i, size[i], &p.x));
  return pt_result(op, 0, p.x);
}
