/* quantize: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, MatMulInteger, QLinearMatMul.
 * Scales and zero points are operands: one element, one per index of an axis, or one per block. */
#include <math.h>

#include "helpers_double.h"
#include "quantize.h"

bool integer_range(hone_dtype dtype, double *out_min, double *out_max) {
  if (!dtype_is_integer(dtype) || (dtype_bits(dtype) > 16 && dtype != HONE_I32)) return false;
  *out_min = (double)integer_edge(dtype, false);
  *out_max = (double)integer_edge(dtype, true);
  return true;
}

double requantize(double x, double zero_point, hone_dtype dtype) {
  double min = 0, max = 0;
  if (!integer_range(dtype, &min, &max)) return 0;
  double y = isnan(x) ? zero_point : round_(x) + zero_point;
  return y < min ? min : y > max ? max : y;
}

hone_status want_byte(struct ctx *ctx, const struct node *node, size_t input) {
  hone_dtype dtype = node->inputs[input]->dtype;
  if (dtype_is_byte(dtype)) return HONE_OK;
  return fail(ctx, HONE_E_TYPE, node_place(node), "input %zu is %s, expected i8 or u8", input,
              dtype_name(dtype));
}

hone_status want_channel_operand(struct ctx *ctx, const struct node *node, size_t input,
                                 int64_t channels) {
  const struct value *value = node_input(node, input);
  int64_t count = 0;
  if (!value) return HONE_OK;
  if (shape_count(&value->shape, &count) && (count == 1 || count == channels)) return HONE_OK;
  return fail(ctx, HONE_E_SHAPE, node_place(node),
              "input %zu has %lld elements, expected 1 or %lld", input, (long long)count,
              (long long)channels);
}

hone_status centred_f64(struct ctx *ctx, struct arena *scratch, const struct tensor *x,
                        const struct tensor *zero_point, int axis, double **out) {
  TRY(to_f64(ctx, scratch, x, out));
  if (!zero_point) return HONE_OK;
  size_t points = tensor_count(zero_point), count = tensor_count(x);
  size_t inner = (size_t)dims_product(&x->shape, axis + 1, x->shape.rank);
  for (size_t i = 0; i < count; i++)
    (*out)[i] -= tensor_f64(zero_point, points == 1 ? 0 : i / inner % points);
  return HONE_OK;
}

hone_status combined_scale(struct ctx *ctx, struct arena *scratch, const struct node *node,
                           const struct tensor *a, const struct tensor *b, const struct tensor *y,
                           int64_t channels, double **out) {
  TRY(NEW_ARRAY(ctx, scratch, *out, (size_t)channels));
  size_t count = tensor_count(b);
  for (int64_t i = 0; i < channels; i++) {
    float scale = (float)tensor_f64(a, 0) * (float)tensor_f64(b, count == 1 ? 0 : (size_t)i) /
                  (float)tensor_f64(y, 0);
    if (!(scale > 0) || isinf(scale))
      return fail(ctx, HONE_E_NUM, node_place(node), "the scales combine to %g", (double)scale);
    (*out)[i] = (double)scale;
  }
  return HONE_OK;
}

/* -- QuantizeLinear, DequantizeLinear */

/* Granularity of scales: one for all, one per index of the axis, or one per block along the
 * axis. */
struct granularity {
  size_t inner;  /* elements after the axis */
  size_t dim;    /* of the axis; 0: one scale for all */
  size_t block;  /* 1: per axis */
  size_t blocks; /* scales along the axis */
};

static size_t scale_of(const struct granularity *g, size_t i) {
  if (g->dim == 0) return 0;
  size_t along = i / g->inner % g->dim;
  if (g->blocks == 0) return along;
  return (i / (g->inner * g->dim) * g->blocks + along / g->block) * g->inner + i % g->inner;
}

/* Elements from i on that have the same scale. */
static size_t run_of(const struct granularity *g, size_t i) {
  if (g->dim == 0) return SIZE_MAX;
  if (g->blocks == 0) return g->inner - i % g->inner;
  if (g->inner > 1) return 1;
  const size_t along = i % g->dim, left = g->dim - along, of_block = g->block - along % g->block;
  return left < of_block ? left : of_block;
}

static hone_status granularity_of(struct ctx *ctx, const struct node *node, const struct shape *x,
                                  const struct shape *scale, struct granularity *out) {
  int64_t count = 0, block = node_int(node, "block_size", 0);
  *out = (struct granularity){.inner = 1};
  if (!shape_count(scale, &count))
    return fail(ctx, HONE_E_SHAPE, node_place(node), "the scale's shape is too large");
  if (block == 0 && count == 1 && scale->rank <= 1) return HONE_OK;
  int axis = 0;
  TRY(axis_attribute(ctx, node, "axis", 1, x->rank, &axis));
  out->dim = (size_t)x->dims[axis];
  out->inner = (size_t)dims_product(x, axis + 1, x->rank);
  if (block == 0) {
    if (scale->rank != 1 || scale->dims[0] != x->dims[axis])
      return fail(ctx, HONE_E_SHAPE, node_place(node), "the scale has %lld elements, the axis %lld",
                  (long long)count, (long long)x->dims[axis]);
    return HONE_OK;
  }
  if (block < 0 || scale->rank != x->rank)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "block_size is %lld, the scale's rank %d",
                (long long)block, scale->rank);
  for (int i = 0; i < x->rank; i++) {
    int64_t dim = x->dims[i];
    int64_t expected = i == axis ? dim / block + (dim % block != 0) : dim;
    if (scale->dims[i] != expected)
      return fail(ctx, HONE_E_SHAPE, node_place(node),
                  "block_size %lld asks for %lld scales along axis %d, found %lld",
                  (long long)block, (long long)expected, i, (long long)scale->dims[i]);
  }
  out->block = (size_t)block;
  out->blocks = (size_t)scale->dims[axis];
  return HONE_OK;
}

static hone_status check_zero_point(struct ctx *ctx, const struct node *node) {
  if (!has_input(node, 2)) return HONE_OK;
  int64_t scales = 0, points = 0;
  if (shape_count(&node->inputs[1]->shape, &scales) &&
      shape_count(&node->inputs[2]->shape, &points) && scales == points)
    return HONE_OK;
  return fail(ctx, HONE_E_SHAPE, node_place(node), "there are %lld scales and %lld zero points",
              (long long)scales, (long long)points);
}

/* Constant scales are checked: quantisation divides by them, and its rounding needs positive ones. Blocks of
 * language models have negative scales, and zero for a block of zeros. */
static hone_status check_scale(struct ctx *ctx, const struct node *node) {
  const struct tensor *scale = node->inputs[1]->constant;
  size_t count = scale ? tensor_count(scale) : 0;
  for (size_t i = 0; i < count; i++) {
    double x = tensor_f64(scale, i);
    if (!isfinite(x) || (x <= 0 && !is_op(node, OP_DequantizeLinear)))
      return fail(ctx, HONE_E_NUM, node_place(node), "scale %zu is %g", i, x);
  }
  return HONE_OK;
}

static hone_status infer_scaled(struct ctx *ctx, struct node *node, hone_dtype dtype) {
  struct granularity g;
  TRY(granularity_of(ctx, node, &node->inputs[0]->shape, &node->inputs[1]->shape, &g));
  TRY(check_zero_point(ctx, node));
  TRY(check_scale(ctx, node));
  return set_output(ctx, node, 0, dtype, &node->inputs[0]->shape);
}

hone_status infer_quantize_linear(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  int64_t asked = node_int(node, "output_dtype", 0);
  hone_dtype dtype = has_input(node, 2) ? node->inputs[2]->dtype : HONE_U8;
  if (asked != 0 && has_input(node, 2) && asked != (int64_t)dtype)
    return fail(ctx, HONE_E_TYPE, node_place(node),
                "output_dtype differs from the zero point's type");
  if (asked != 0) dtype = (hone_dtype)asked;
  double min, max;
  bool is_tiny = dtype_is_tiny_float(dtype) && dtype != HONE_F8E8M0;
  if (!is_tiny && (!integer_range(dtype, &min, &max) || dtype == HONE_I32))
    return fail(ctx, HONE_E_TYPE, node_place(node), "cannot quantise to %s", dtype_name(dtype));
  return infer_scaled(ctx, node, dtype);
}

hone_status infer_dequantize_linear(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  double min, max;
  if (!integer_range(node->inputs[0]->dtype, &min, &max) &&
      !dtype_is_tiny_float(node->inputs[0]->dtype))
    return fail(ctx, HONE_E_TYPE, node_place(node), "cannot dequantise %s",
                dtype_name(node->inputs[0]->dtype));
  int64_t asked = node_int(node, "output_dtype", 0);
  hone_dtype dtype = asked ? (hone_dtype)asked : node->inputs[1]->dtype;
  if (!dtype_is_float(dtype))
    return fail(ctx, HONE_E_TYPE, node_place(node), "output_dtype is not a floating-point type");
  return infer_scaled(ctx, node, dtype);
}

/* The quotient is rounded to the precision that the operator computes in before it is quantised:
 * otherwise ties differ from those of every engine. */
static double in_precision(double x, hone_dtype dtype) {
  return dtype == HONE_F64 ? x : (double)(float)x;
}

hone_status eval_quantize_linear(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                 const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  struct granularity g;
  bool is_tiny = dtype_is_tiny_float(out[0]->dtype), saturate = node_int(node, "saturate", 1) != 0;
  TRY(granularity_of(ctx, node, &in[0]->shape, &in[1]->shape, &g));
  const struct tensor *points = node->input_count > 2 ? in[2] : NULL;
  size_t count = tensor_count(in[0]);
  for (size_t i = 0; i < count; i++) {
    size_t s = scale_of(&g, i);
    double quotient = in_precision(tensor_f64(in[0], i) / tensor_f64(in[1], s), in[0]->dtype);
    if (is_tiny) {
      tensor_set_tiny(out[0], i, quotient, TINY_NEAREST, saturate);
      continue;
    }
    if (is_op(node, OP_QuantizeHalfAway)) quotient = round(quotient);
    double y = requantize(quotient, points ? tensor_f64(points, s) : 0, out[0]->dtype);
    tensor_set_i64(out[0], i, (int64_t)y);
  }
  return HONE_OK;
}

hone_status eval_dequantize_linear(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                   const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  struct granularity g;
  TRY(granularity_of(ctx, node, &in[0]->shape, &in[1]->shape, &g));
  const struct tensor *points = node->input_count > 2 ? in[2] : NULL;
  double x[256];
  for (size_t i = 0, count = tensor_count(in[0]), run; i < count; i += run) {
    const size_t s = scale_of(&g, i), same = run_of(&g, i), left = count - i;
    const double scale = tensor_f64(in[1], s), point = points ? tensor_f64(points, s) : 0;
    run = same < left ? same : left;
    if (run > COUNT(x)) run = COUNT(x);
    read_f64(in[0], (int64_t)i, 1, run, x);
    for (size_t k = 0; k < run; k++) x[k] = (x[k] - point) * scale;
    write_f64(out[0], (int64_t)i, run, x);
  }
  return HONE_OK;
}

/* -- DynamicQuantizeLinear */

hone_status infer_dynamic_quantize_linear(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  struct shape scalar = {.rank = 0};
  if (node->inputs[0]->dtype != HONE_F32)
    return fail(ctx, HONE_E_TYPE, node_place(node), "input 0 is %s, expected f32",
                dtype_name(node->inputs[0]->dtype));
  TRY(set_output(ctx, node, 0, HONE_U8, &node->inputs[0]->shape));
  TRY(set_output(ctx, node, 1, HONE_F32, &scalar));
  return set_output(ctx, node, 2, HONE_U8, &scalar);
}

/* In float throughout, as in the specification's function body. */
hone_status eval_dynamic_quantize_linear(struct ctx *ctx, struct arena *scratch,
                                         const struct node *node, const struct tensor *const *in,
                                         struct tensor *const *out) {
  (void)ctx, (void)scratch, (void)node;
  const float *x = in[0]->data;
  size_t count = tensor_count(in[0]);
  float min = 0, max = 0;
  for (size_t i = 0; i < count; i++) min = x[i] < min ? x[i] : min, max = x[i] > max ? x[i] : max;
  float scale = (max - min) / 255.0f;
  /* all zero: any scale represents it */
  float zero = scale > 0 ? (0 - min) / scale : 0;
  double point = round_((double)zero);
  point = point < 0 ? 0 : point > 255 ? 255 : point;
  for (size_t i = 0; out[0] && i < count; i++)
    tensor_set_i64(out[0], i,
                   scale > 0 ? (int64_t)requantize((double)(x[i] / scale), point, HONE_U8) : 0);
  if (out[1]) tensor_set_f64(out[1], 0, (double)scale);
  if (out[2]) tensor_set_i64(out[2], 0, (int64_t)point);
  return HONE_OK;
}

/* -- MatMulInteger, QLinearMatMul */

/* Inputs by position: a, its zero point, b, its zero point. */
struct matmul_inputs {
  size_t a, a_zero, b, b_zero;
};
static const struct matmul_inputs integer_inputs = {0, 2, 1, 3};
static const struct matmul_inputs qlinear_inputs = {0, 2, 3, 5};

static hone_status infer_bytes(struct ctx *ctx, const struct node *node,
                               const struct matmul_inputs *at, hone_dtype dtype) {
  struct matmul_plan plan;
  TRY(want_byte(ctx, node, at->a));
  TRY(want_byte(ctx, node, at->b));
  TRY(matmul_plan(ctx, node, &node->inputs[at->a]->shape, &node->inputs[at->b]->shape, &plan));
  TRY(want_channel_operand(ctx, node, at->a_zero, plan.m));
  TRY(want_channel_operand(ctx, node, at->b_zero, plan.n));
  return set_output(ctx, node, 0, dtype, &plan.out);
}

hone_status infer_matmul_integer(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return infer_bytes(ctx, node, &integer_inputs, HONE_I32);
}

hone_status infer_qlinear_matmul(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  TRY(want_byte(ctx, node, 7));
  TRY(want_channel_operand(ctx, node, 1, 1));
  TRY(want_channel_operand(ctx, node, 6, 1));
  TRY(want_channel_operand(ctx, node, 7, 1));
  TRY(infer_bytes(ctx, node, &qlinear_inputs, node->inputs[7]->dtype));
  int64_t columns = 1;
  if (node->inputs[3]->shape.rank > 1)
    columns = node->inputs[3]->shape.dims[node->inputs[3]->shape.rank - 1];
  return want_channel_operand(ctx, node, 4, columns);
}

struct byte_product {
  struct matmul_plan plan;
  const double *a, *b; /* centred */
  const double *scale; /* one per column; NULL: integer sums are stored */
  double zero_point;
  const struct tensor *out;
};

static void product_row(const struct byte_product *p, const double *a, const double *b,
                        int64_t at) {
  for (int64_t j = 0; j < p->plan.n; j++) {
    double sum = 0;
    for (int64_t i = 0; i < p->plan.k; i++) sum += a[i] * b[i * p->plan.n + j];
    if (p->scale) sum = requantize(sum * p->scale[j], p->zero_point, p->out->dtype);
    tensor_set_i64(p->out, (size_t)(at + j), (int64_t)sum);
  }
}

static void product_all(const struct byte_product *p) {
  int64_t index[HONE_MAX_RANK] = {0}, at = 0;
  if (tensor_count(p->out) == 0) return;
  do {
    const double *a = p->a + index_offset(p->plan.batch.rank, index, p->plan.a_strides);
    const double *b = p->b + index_offset(p->plan.batch.rank, index, p->plan.b_strides);
    for (int64_t row = 0; row < p->plan.m; row++, at += p->plan.n)
      product_row(p, a + row * p->plan.k, b, at);
  } while (index_next(p->plan.batch.rank, p->plan.batch.dims, index));
}

static hone_status load_bytes(struct ctx *ctx, struct arena *scratch, const struct node *node,
                              const struct tensor *const *in, const struct matmul_inputs *at,
                              struct byte_product *p) {
  double *a, *b;
  const struct tensor *a_zero = at->a_zero < node->input_count ? in[at->a_zero] : NULL;
  const struct tensor *b_zero = at->b_zero < node->input_count ? in[at->b_zero] : NULL;
  int a_rank = in[at->a]->shape.rank, b_rank = in[at->b]->shape.rank;
  TRY(matmul_plan(ctx, node, &in[at->a]->shape, &in[at->b]->shape, &p->plan));
  TRY(centred_f64(ctx, scratch, in[at->a], a_zero, a_rank > 1 ? a_rank - 2 : 0, &a));
  TRY(centred_f64(ctx, scratch, in[at->b], b_zero, b_rank - 1, &b));
  p->a = a, p->b = b;
  return HONE_OK;
}

hone_status eval_matmul_integer(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                const struct tensor *const *in, struct tensor *const *out) {
  struct byte_product p = {.out = out[0]};
  TRY(load_bytes(ctx, scratch, node, in, &integer_inputs, &p));
  product_all(&p);
  return HONE_OK;
}

hone_status eval_qlinear_matmul(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                const struct tensor *const *in, struct tensor *const *out) {
  struct byte_product p = {.out = out[0]};
  double *scale;
  TRY(load_bytes(ctx, scratch, node, in, &qlinear_inputs, &p));
  TRY(combined_scale(ctx, scratch, node, in[1], in[4], in[6], p.plan.n, &scale));
  p.scale = scale;
  p.zero_point = tensor_f64(in[7], 0);
  product_all(&p);
  return HONE_OK;
}
