/* One rule per operator, and the table of rules. Elementwise operators need none
 * (elementwise.c). */
#include "core/ops/operators/window.h"
#include "stablehlo.h"

#include <math.h>

/* -- operators that only change shapes */

static hone_status put_reshape(struct hlo *h, const struct node *node) {
  struct term x;
  TRY(hlo_input(h, node, 0, &x));
  hlo_bind(h, node, 0, hlo_reshape(h, x, &node->outputs[0]->shape));
  return HONE_OK;
}

static hone_status put_transpose(struct hlo *h, const struct node *node) {
  struct term x;
  size_t count;
  int64_t order[HONE_MAX_RANK];
  const int64_t *given = node_ints(node, "perm", &count);
  TRY(hlo_input(h, node, 0, &x));
  for (int d = 0; d < x.shape.rank; d++) order[d] = given ? given[d] : x.shape.rank - 1 - d;
  hlo_bind(h, node, 0, hlo_transpose(h, x, order));
  return HONE_OK;
}

static hone_status put_concat(struct hlo *h, const struct node *node) {
  struct term *parts;
  int axis;
  TRY(axis_attribute(h->ctx, node, "axis", 0, node->outputs[0]->shape.rank, &axis));
  TRY(NEW_ARRAY(h->ctx, h->arena, parts, node->input_count));
  for (size_t k = 0; k < node->input_count; k++) TRY(hlo_input(h, node, k, &parts[k]));
  hlo_bind(h, node, 0, hlo_join(h, parts, node->input_count, axis));
  return HONE_OK;
}

static hone_status put_expand(struct hlo *h, const struct node *node) {
  struct term x;
  TRY(hlo_input(h, node, 0, &x));
  hlo_bind(h, node, 0, hlo_broadcast(h, x, &node->outputs[0]->shape));
  return HONE_OK;
}

static hone_status put_cast(struct hlo *h, const struct node *node) {
  struct term x;
  const hone_dtype to = node->outputs[0]->dtype;
  TRY(hlo_input(h, node, 0, &x));
  /* zero is false, NaN is true */
  if (to == HONE_BOOL && x.dtype != HONE_BOOL)
    x = hlo_compare(h, "NE", x, hlo_splat(h, 0, x.dtype, &x.shape));
  hlo_bind(h, node, 0, hlo_convert(h, x, to));
  return HONE_OK;
}

static hone_status put_constant(struct hlo *h, const struct node *node) {
  struct term term;
  const struct value *value = node->outputs[0];
  if (!value->constant)
    return fail(h->ctx, HONE_E_UNSUP, node_place(node), "StableHLO: %s of a computed size",
                node->op->name);
  TRY(hlo_constant(h, value->constant, &term));
  hlo_bind(h, node, 0, term);
  return HONE_OK;
}

static hone_status put_split(struct hlo *h, const struct node *node) {
  struct term x;
  int axis;
  int64_t starts[HONE_MAX_RANK] = {0}, limits[HONE_MAX_RANK], steps[HONE_MAX_RANK];
  TRY(hlo_input(h, node, 0, &x));
  TRY(axis_attribute(h->ctx, node, "axis", 0, x.shape.rank, &axis));
  for (int d = 0; d < x.shape.rank; d++) limits[d] = x.shape.dims[d], steps[d] = 1;
  limits[axis] = 0;
  for (size_t k = 0; k < node->output_count; k++) {
    if (!node->outputs[k])
      return fail(h->ctx, HONE_E_UNSUP, node_place(node), "an output of Split is omitted");
    starts[axis] = limits[axis];
    limits[axis] += node->outputs[k]->shape.dims[axis];
    hlo_bind(h, node, k, hlo_range(h, x, starts, limits, steps, &node->outputs[k]->shape));
  }
  return HONE_OK;
}

static hone_status put_slice(struct hlo *h, const struct node *node) {
  struct term x;
  int64_t begin[HONE_MAX_RANK], end[HONE_MAX_RANK], axes[HONE_MAX_RANK], step[HONE_MAX_RANK];
  int64_t starts[HONE_MAX_RANK] = {0}, limits[HONE_MAX_RANK], steps[HONE_MAX_RANK];
  size_t count, given = 0;
  TRY(hlo_input(h, node, 0, &x));
  TRY(want_ints(h->ctx, node, 1, "starts", HONE_MAX_RANK, begin, &count));
  TRY(want_ints(h->ctx, node, 2, "ends", HONE_MAX_RANK, end, &given));
  for (size_t i = 0; i < count; i++) axes[i] = (int64_t)i, step[i] = 1;
  if (node_input(node, 3)) TRY(want_ints(h->ctx, node, 3, "axes", HONE_MAX_RANK, axes, &given));
  if (node_input(node, 4)) TRY(want_ints(h->ctx, node, 4, "steps", HONE_MAX_RANK, step, &given));
  for (int d = 0; d < x.shape.rank; d++) limits[d] = x.shape.dims[d], steps[d] = 1;
  for (size_t i = 0; i < count; i++) {
    int axis;
    TRY(axis_normalise(h->ctx, node, "axes", axes[i], x.shape.rank, &axis));
    const int64_t size = x.shape.dims[axis];
    if (step[i] < 0) {
      x = hlo_reverse(h, x, axis);
      starts[axis] = size - 1 - hold_index(begin[i], size, 0, size - 1);
      limits[axis] = size - 1 - (end[i] < -size ? -1 : hold_index(end[i], size, -1, size - 1));
    } else {
      starts[axis] = hold_index(begin[i], size, 0, size);
      limits[axis] = hold_index(end[i], size, 0, size);
    }
    if (limits[axis] < starts[axis]) limits[axis] = starts[axis];
    steps[axis] = step[i] < 0 ? -step[i] : step[i];
  }
  hlo_bind(h, node, 0, hlo_range(h, x, starts, limits, steps, &node->outputs[0]->shape));
  return HONE_OK;
}

/* The source index of each padded element: nearest, reflected, or wrapped. */
static int64_t bordered(const char *mode, int64_t at, int64_t size) {
  const int64_t period = 2 * (size - 1);
  if (!strcmp(mode, "edge")) return at < 0 ? 0 : at >= size ? size - 1 : at;
  if (!strcmp(mode, "wrap")) return (at % size + size) % size;
  if (period < 1) return 0;
  at = (at % period + period) % period;
  return at < size ? at : period - at;
}

static hone_status put_border(struct hlo *h, const struct node *node, struct term x,
                              const int64_t *low, const int64_t *high, const char *mode) {
  if (strcmp(mode, "edge") && strcmp(mode, "wrap") && strcmp(mode, "reflect"))
    return fail(h->ctx, HONE_E_UNSUP, node_place(node), "StableHLO: this mode of Pad has no rule");
  for (int d = 0; d < x.shape.rank; d++) {
    struct tensor *places;
    struct term at;
    struct shape shape = x.shape;
    const int64_t size = x.shape.dims[d];
    if (!low[d] && !high[d]) continue;
    shape.dims[d] = low[d] + size + high[d];
    if (size < 1 || shape.dims[d] < 0)
      return fail(h->ctx, HONE_E_UNSUP, node_place(node), "StableHLO: Pad of no elements");
    TRY(tensor_create(h->ctx, h->arena, HONE_I32, &(struct shape){1, {shape.dims[d]}}, &places));
    for (int64_t i = 0; i < shape.dims[d]; i++)
      tensor_set_i64(places, (size_t)i, bordered(mode, i - low[d], size));
    TRY(hlo_constant(h, places, &at));
    if (shape.dims[d] == 1) at = hlo_reshape(h, at, &(struct shape){1, {1}});
    x = hlo_take(h, x, at, d, &shape);
  }
  hlo_bind(h, node, 0, x);
  return HONE_OK;
}

static hone_status put_pad(struct hlo *h, const struct node *node) {
  struct term operands[2];
  int64_t pads[2 * HONE_MAX_RANK], axes[HONE_MAX_RANK], low[HONE_MAX_RANK] = {0},
                                                        high[HONE_MAX_RANK] = {0};
  const int64_t none[HONE_MAX_RANK] = {0};
  size_t count, axis_count = 0;
  const struct shape scalar = {0};
  TRY(hlo_input(h, node, 0, &operands[0]));
  TRY(want_ints(h->ctx, node, 1, "pads", 2 * HONE_MAX_RANK, pads, &count));
  const int rank = operands[0].shape.rank;
  for (int d = 0; d < rank; d++) axes[d] = d;
  if (node_input(node, 3))
    TRY(want_ints(h->ctx, node, 3, "axes", HONE_MAX_RANK, axes, &axis_count));
  for (size_t i = 0; i < count / 2; i++) {
    int axis;
    TRY(axis_normalise(h->ctx, node, "axes", axes[i], rank, &axis));
    low[axis] = pads[i];
    high[axis] = pads[i + count / 2];
  }
  const char *mode = node_string(node, "mode", "constant");
  if (strcmp(mode, "constant")) return put_border(h, node, operands[0], low, high, mode);
  operands[1] = hlo_splat(h, 0, operands[0].dtype, &scalar);
  if (node_input(node, 2)) {
    TRY(hlo_input(h, node, 2, &operands[1]));
    operands[1] = hlo_reshape(h, operands[1], &scalar);
  }
  struct strbuf attributes = {0};
  strbuf_puts(&attributes, "edge_padding_low = ");
  hlo_put_ints(&attributes, low, rank);
  strbuf_puts(&attributes, ", edge_padding_high = ");
  hlo_put_ints(&attributes, high, rank);
  strbuf_puts(&attributes, ", interior_padding = ");
  hlo_put_ints(&attributes, none, rank);
  hlo_bind(h, node, 0,
           hlo_op(h, "stablehlo.pad", operands, 2, attributes.at ? attributes.at : "", NULL,
                  operands[0].dtype, &node->outputs[0]->shape));
  if (attributes.failed) h->out->failed = true;
  strbuf_deinit(&attributes);
  return HONE_OK;
}

/* -- reductions */

static double count_of(const struct shape *shape, const bool axes[HONE_MAX_RANK]) {
  double count = 1;
  for (int d = 0; d < shape->rank; d++)
    if (axes[d]) count *= (double)shape->dims[d];
  return count;
}

static struct term divided(struct hlo *h, struct term x, double by) {
  return hlo_binary(h, "stablehlo.divide", x, hlo_splat(h, by, x.dtype, &x.shape));
}

static hone_status reduced_axes(struct hlo *h, const struct node *node, int rank,
                                bool axes[HONE_MAX_RANK]) {
  int64_t list[HONE_MAX_RANK];
  size_t count = 0;
  const int64_t *given = node_ints(node, "axes", &count);
  if (given) memcpy(list, given, count * sizeof *list);
  if (node_input(node, 1) && node_input(node, 1)->shape.rank == 1 &&
      node_input(node, 1)->shape.dims[0])
    TRY(want_ints(h->ctx, node, 1, "axes", HONE_MAX_RANK, list, &count));
  for (size_t i = 0; i < count; i++) {
    int axis;
    TRY(axis_normalise(h->ctx, node, "axes", list[i], rank, &axis));
    axes[axis] = true;
  }
  for (int d = 0; !count && d < rank && !node_int(node, "noop_with_empty_axes", 0); d++)
    axes[d] = true;
  return HONE_OK;
}

/* The maximum along the axes, subtracted before an exponential; 0 if it is infinite. */
static struct term exponent_of(struct hlo *h, struct term x, const bool axes[HONE_MAX_RANK]) {
  const struct term most = hlo_reduce_back(h, "stablehlo.maximum", -INFINITY, x, axes);
  const struct term far = hlo_splat(h, INFINITY, x.dtype, &x.shape);
  return hlo_select(h, hlo_compare(h, "LT", hlo_unary(h, "stablehlo.abs", most), far), most,
                    hlo_splat(h, 0, x.dtype, &x.shape));
}

static hone_status put_reduce(struct hlo *h, const struct node *node) {
  static const struct {
    enum op_id op;
    const char *name;
    double start;
  } others[] = {{OP_ReduceMax, "stablehlo.maximum", -INFINITY},
                {OP_ReduceMin, "stablehlo.minimum", INFINITY},
                {OP_ReduceProd, "stablehlo.multiply", 1}};
  const bool is_l2 = is_op(node, OP_ReduceL2), is_exp = is_op(node, OP_ReduceLogSumExp);
  const char *name = "stablehlo.add";
  double start = 0;
  bool axes[HONE_MAX_RANK] = {false};
  struct term x, exponent = {0};
  TRY(hlo_input(h, node, 0, &x));
  TRY(reduced_axes(h, node, x.shape.rank, axes));
  for (size_t i = 0; i < COUNT(others); i++)
    if (is_op(node, others[i].op)) name = others[i].name, start = others[i].start;
  if (is_op(node, OP_ReduceL1)) x = hlo_unary(h, "stablehlo.abs", x);
  if (is_l2 || is_op(node, OP_ReduceSumSquare)) x = hlo_binary(h, "stablehlo.multiply", x, x);
  if (is_exp) {
    exponent = exponent_of(h, x, axes);
    x = hlo_unary(h, "stablehlo.exponential", hlo_binary(h, "stablehlo.subtract", x, exponent));
  }
  struct term sum = hlo_reduce(h, name, start, x, axes);
  if (is_op(node, OP_ReduceMean)) sum = divided(h, sum, count_of(&x.shape, axes));
  if (is_l2) sum = hlo_unary(h, "stablehlo.sqrt", sum);
  if (is_exp || is_op(node, OP_ReduceLogSum)) sum = hlo_unary(h, "stablehlo.log", sum);
  if (is_exp) {
    exponent = hlo_reduce(h, "stablehlo.maximum", -INFINITY, exponent, axes);
    sum = hlo_binary(h, "stablehlo.add", sum, exponent);
  }
  hlo_bind(h, node, 0, hlo_reshape(h, sum, &node->outputs[0]->shape));
  return HONE_OK;
}

static hone_status put_softmax(struct hlo *h, const struct node *node) {
  struct term x;
  bool axes[HONE_MAX_RANK] = {false};
  int axis;
  TRY(hlo_input(h, node, 0, &x));
  TRY(axis_attribute(h->ctx, node, "axis", -1, x.shape.rank, &axis));
  axes[axis] = true;
  const struct term most = hlo_reduce_back(h, "stablehlo.maximum", -INFINITY, x, axes);
  const struct term shifted = hlo_binary(h, "stablehlo.subtract", x, most);
  const struct term powers = hlo_unary(h, "stablehlo.exponential", shifted);
  const struct term sum = hlo_reduce_back(h, "stablehlo.add", 0, powers, axes);
  hlo_bind(h, node, 0,
           is_op(node, OP_LogSoftmax)
               ? hlo_binary(h, "stablehlo.subtract", shifted, hlo_unary(h, "stablehlo.log", sum))
               : hlo_binary(h, "stablehlo.divide", powers, sum));
  return HONE_OK;
}

/* A per-channel vector in the shape of x [n, channels, ..]. */
static hone_status channel_input(struct hlo *h, const struct node *node, size_t k,
                                 const struct shape *shape, struct term *out) {
  const int64_t channel = 1;
  TRY(hlo_input(h, node, k, out));
  *out = hlo_broadcast_dims(h, *out, &channel, shape);
  return HONE_OK;
}

static hone_status put_batch_norm(struct hlo *h, const struct node *node) {
  struct term x, scale, bias, mean, variance;
  TRY(hlo_input(h, node, 0, &x));
  if (x.shape.rank < 2)
    return fail(h->ctx, HONE_E_UNSUP, node_place(node),
                "StableHLO: BatchNormalization of a vector");
  TRY(channel_input(h, node, 1, &x.shape, &scale));
  TRY(channel_input(h, node, 2, &x.shape, &bias));
  TRY(channel_input(h, node, 3, &x.shape, &mean));
  TRY(channel_input(h, node, 4, &x.shape, &variance));
  const struct term epsilon = hlo_splat(h, node_float(node, "epsilon", 1e-5), x.dtype, &x.shape);
  const struct term deviation =
      hlo_unary(h, "stablehlo.sqrt", hlo_binary(h, "stablehlo.add", variance, epsilon));
  const struct term centred = hlo_binary(h, "stablehlo.subtract", x, mean);
  const struct term normal = hlo_binary(h, "stablehlo.divide", centred, deviation);
  hlo_bind(
      h, node, 0,
      hlo_binary(h, "stablehlo.add", hlo_binary(h, "stablehlo.multiply", normal, scale), bias));
  return HONE_OK;
}

/* (x - mean) / sqrt(variance + epsilon) over the axes; RMSNormalization omits the mean. */
static struct term normalised(struct hlo *h, struct term x, const bool axes[HONE_MAX_RANK],
                              double epsilon, bool has_mean) {
  const double count = count_of(&x.shape, axes);
  if (has_mean)
    x = hlo_binary(h, "stablehlo.subtract", x,
                   divided(h, hlo_reduce_back(h, "stablehlo.add", 0, x, axes), count));
  const struct term square = hlo_binary(h, "stablehlo.multiply", x, x);
  const struct term variance =
      divided(h, hlo_reduce_back(h, "stablehlo.add", 0, square, axes), count);
  const struct term inside =
      hlo_binary(h, "stablehlo.add", variance, hlo_splat(h, epsilon, x.dtype, &x.shape));
  return hlo_binary(h, "stablehlo.multiply", x, hlo_unary(h, "stablehlo.rsqrt", inside));
}

static hone_status put_layer_norm(struct hlo *h, const struct node *node) {
  struct term x, scale, bias;
  bool axes[HONE_MAX_RANK] = {false};
  int axis;
  TRY(hlo_input(h, node, 0, &x));
  TRY(axis_attribute(h->ctx, node, "axis", -1, x.shape.rank, &axis));
  for (int d = axis; d < x.shape.rank; d++) axes[d] = true;
  for (size_t k = 1; k < node->output_count; k++)
    if (node->outputs[k])
      return fail(h->ctx, HONE_E_UNSUP, node_place(node),
                  "StableHLO: %s with more than its first output", node->op->name);
  struct term y =
      normalised(h, x, axes, node_float(node, "epsilon", 1e-5), is_op(node, OP_LayerNormalization));
  TRY(hlo_input(h, node, 1, &scale));
  y = hlo_binary(h, "stablehlo.multiply", y, hlo_broadcast(h, scale, &x.shape));
  if (node_input(node, 2)) {
    TRY(hlo_input(h, node, 2, &bias));
    y = hlo_binary(h, "stablehlo.add", y, hlo_broadcast(h, bias, &x.shape));
  }
  hlo_bind(h, node, 0, y);
  return HONE_OK;
}

static hone_status put_instance_norm(struct hlo *h, const struct node *node) {
  struct term x, scale, bias;
  bool axes[HONE_MAX_RANK] = {false};
  TRY(hlo_input(h, node, 0, &x));
  TRY(channel_input(h, node, 1, &x.shape, &scale));
  TRY(channel_input(h, node, 2, &x.shape, &bias));
  for (int d = 2; d < x.shape.rank; d++) axes[d] = true;
  const struct term y = normalised(h, x, axes, node_float(node, "epsilon", 1e-5), true);
  hlo_bind(h, node, 0,
           hlo_binary(h, "stablehlo.add", hlo_binary(h, "stablehlo.multiply", y, scale), bias));
  return HONE_OK;
}

/* The channels in groups, each normalised as a whole. */
static hone_status put_group_norm(struct hlo *h, const struct node *node) {
  struct term x, scale, bias;
  const bool axes[HONE_MAX_RANK] = {false, false, true};
  TRY(hlo_input(h, node, 0, &x));
  TRY(channel_input(h, node, 1, &x.shape, &scale));
  TRY(channel_input(h, node, 2, &x.shape, &bias));
  const struct shape shape = x.shape;
  const int64_t groups = node_int(node, "num_groups", 1);
  struct shape grouped = {3, {shape.dims[0], groups, shape.dims[1] / groups}};
  for (int d = 2; d < shape.rank; d++) grouped.dims[2] *= shape.dims[d];
  struct term y =
      normalised(h, hlo_reshape(h, x, &grouped), axes, node_float(node, "epsilon", 1e-5), true);
  y = hlo_binary(h, "stablehlo.multiply", hlo_reshape(h, y, &shape), scale);
  hlo_bind(h, node, 0, hlo_binary(h, "stablehlo.add", y, bias));
  return HONE_OK;
}

/* x / (bias + alpha / size * the sum of squares of neighbouring channels) ^ beta, as a sum of
 * shifted slices. */
static hone_status put_lrn(struct hlo *h, const struct node *node) {
  enum { CHANNEL = 1, WIDEST = 64 };
  const int64_t size = node_int(node, "size", 1), before = (size - 1) / 2;
  struct term x, parts[3];
  size_t count = 0;
  TRY(hlo_input(h, node, 0, &x));
  if (size > WIDEST)
    return fail(h->ctx, HONE_E_UNSUP, node_place(node), "StableHLO: LRN over more than %d channels",
                WIDEST);
  const struct term squares = hlo_binary(h, "stablehlo.multiply", x, x);
  for (int side = 0; side < 3; side++) {
    struct shape zeros = x.shape;
    zeros.dims[CHANNEL] = side ? size - 1 - before : before;
    if (side == 1)
      parts[count++] = squares;
    else if (zeros.dims[CHANNEL])
      parts[count++] = hlo_splat(h, 0, x.dtype, &zeros);
  }
  const struct term padded = hlo_join(h, parts, count, CHANNEL);
  const int64_t channels = x.shape.dims[CHANNEL];
  struct term sum = hlo_piece(h, padded, CHANNEL, 0, channels);
  for (int64_t k = 1; k < size; k++)
    sum = hlo_binary(h, "stablehlo.add", sum, hlo_piece(h, padded, CHANNEL, k, channels));
  const double alpha = node_float(node, "alpha", 1e-4) / (double)size;
  const struct term scaled =
      hlo_binary(h, "stablehlo.multiply", sum, hlo_splat(h, alpha, x.dtype, &x.shape));
  const struct term base = hlo_binary(h, "stablehlo.add", scaled,
                                      hlo_splat(h, node_float(node, "bias", 1), x.dtype, &x.shape));
  const struct term power = hlo_binary(
      h, "stablehlo.power", base, hlo_splat(h, node_float(node, "beta", 0.75), x.dtype, &x.shape));
  hlo_bind(h, node, 0, hlo_binary(h, "stablehlo.divide", x, power));
  return HONE_OK;
}

static hone_status put_global_pool(struct hlo *h, const struct node *node) {
  struct term x;
  bool axes[HONE_MAX_RANK] = {false};
  const bool is_max = is_op(node, OP_GlobalMaxPool);
  TRY(hlo_input(h, node, 0, &x));
  for (int d = 2; d < x.shape.rank; d++) axes[d] = true;
  struct term y = hlo_reduce(h, is_max ? "stablehlo.maximum" : "stablehlo.add",
                             is_max ? -INFINITY : 0, x, axes);
  if (!is_max) y = divided(h, y, count_of(&x.shape, axes));
  hlo_bind(h, node, 0, hlo_reshape(h, y, &node->outputs[0]->shape));
  return HONE_OK;
}

/* -- the table */

static const struct hlo_row rules[] = {
    {OP_AveragePool, hlo_average_pool},
    {OP_BatchNormalization, put_batch_norm},
    {OP_Cast, put_cast},
    {OP_CastLike, put_cast},
    {OP_Concat, put_concat},
    {OP_Constant, put_constant},
    {OP_ConstantOfShape, put_constant},
    {OP_Conv, hlo_conv},
    {OP_ConvTranspose, hlo_conv_transpose},
    {OP_Dropout, put_reshape},
    {OP_Expand, put_expand},
    {OP_Flatten, put_reshape},
    {OP_Gather, hlo_gather},
    {OP_GatherElements, hlo_gather_elements},
    {OP_GatherND, hlo_gather_nd},
    {OP_Gemm, hlo_gemm},
    {OP_GlobalAveragePool, put_global_pool},
    {OP_GlobalMaxPool, put_global_pool},
    {OP_GroupNormalization, put_group_norm},
    {OP_Identity, put_reshape},
    {OP_InstanceNormalization, put_instance_norm},
    {OP_LRN, put_lrn},
    {OP_LayerNormalization, put_layer_norm},
    {OP_LogSoftmax, put_softmax},
    {OP_MatMul, hlo_matmul},
    {OP_MaxPool, hlo_max_pool},
    {OP_Pad, put_pad},
    {OP_RMSNormalization, put_layer_norm},
    {OP_Range, put_constant},
    {OP_ReduceL1, put_reduce},
    {OP_ReduceL2, put_reduce},
    {OP_ReduceLogSum, put_reduce},
    {OP_ReduceLogSumExp, put_reduce},
    {OP_ReduceMax, put_reduce},
    {OP_ReduceMean, put_reduce},
    {OP_ReduceMin, put_reduce},
    {OP_ReduceProd, put_reduce},
    {OP_ReduceSum, put_reduce},
    {OP_ReduceSumSquare, put_reduce},
    {OP_Reshape, put_reshape},
    {OP_ScatterElements, hlo_scatter_elements},
    {OP_ScatterND, hlo_scatter_nd},
    {OP_Shape, put_constant},
    {OP_Size, put_constant},
    {OP_Slice, put_slice},
    {OP_Softmax, put_softmax},
    {OP_Split, put_split},
    {OP_Squeeze, put_reshape},
    {OP_Transpose, put_transpose},
    {OP_Unsqueeze, put_reshape},
    {.rule = NULL},
};
static const struct hlo_row *const tables[] = {
    rules,           hlo_image_rules,   hlo_quantised_rules, hlo_recurrent_rules,
    hlo_trees_rules, hlo_control_rules, hlo_order_rules};

hone_status hlo_node(struct hlo *h, const struct node *node) {
  if (node_is_known(node)) return HONE_OK; /* constants are written where they are read */
  for (size_t t = 0; t < COUNT(tables); t++)
    for (const struct hlo_row *row = tables[t]; row->rule; row++)
      if (is_op(node, row->op)) return row->rule(h, node);
  struct term term;
  TRY(hlo_elementwise(h, node, &term));
  hlo_bind(h, node, 0, term);
  return HONE_OK;
}
