/* rules: one rule per operator, and the table of rules. Elementwise operators need none
 * (elementwise.c). */
#include "core/ops/ops_internal.h"
#include "tflite.h"

#include <math.h>

/* -- operators that only change shapes */

static void put_reshape(struct lite *l, const struct node *node) {
  lite_bind(l, node, 0, lite_reshape(l, lite_input(l, node, 0), &node->outputs[0]->shape), false);
}

/* No operation, in either layout. */
static void put_identity(struct lite *l, const struct node *node) {
  const struct value *x = node_input(node, 0);
  if (!x) return lite_refuse(l, node, "with an omitted input");
  if (!l->values[x->index].plain && !l->values[x->index].image) (void)lite_plain(l, x);
  if (!l->status && node->outputs[0]) l->values[node->outputs[0]->index] = l->values[x->index];
}

static bool orders_equal(const int64_t *a, const int64_t *b, int rank) {
  return !memcmp(a, b, (size_t)rank * sizeof *a);
}

/* Between channels-first and channels-last no element moves: the other layout of the tensor is
 * used. */
static void put_transpose(struct lite *l, const struct node *node) {
  static const int64_t last[] = {0, 2, 3, 1}, second[] = {0, 3, 1, 2};
  const struct value *x = node_input(node, 0);
  size_t count;
  int64_t order[HONE_MAX_RANK];
  const int64_t *given = node_ints(node, "perm", &count);
  if (!x) return lite_refuse(l, node, "with an omitted input");
  for (int d = 0; d < x->shape.rank; d++) order[d] = given ? given[d] : x->shape.rank - 1 - d;
  if (x->shape.rank == 4 && orders_equal(order, last, 4))
    lite_bind(l, node, 0, lite_image(l, x), false);
  else if (x->shape.rank == 4 && orders_equal(order, second, 4))
    lite_bind(l, node, 0, lite_plain(l, x), true);
  else
    lite_bind(l, node, 0, lite_transpose(l, lite_plain(l, x), order), false);
}

static bool axis_of(struct lite *l, const struct node *node, int64_t otherwise, int rank,
                    int *out) {
  if (!l->status) l->status = axis_attribute(l->ctx, node, "axis", otherwise, rank, out);
  return !l->status;
}

static void put_concat(struct lite *l, const struct node *node) {
  const struct value *result = node->outputs[0];
  const bool is_image = lite_follows_images(l, node, node->input_count);
  const struct shape shape = is_image ? lite_image_shape(&result->shape) : result->shape;
  int32_t *parts = NULL;
  int axis;
  if (!axis_of(l, node, 0, result->shape.rank, &axis)) return;
  if (is_image) axis = lite_image_axis(result->shape.rank, axis);
  l->status = NEW_ARRAY(l->ctx, l->arena, parts, node->input_count);
  if (l->status) return;
  for (size_t k = 0; k < node->input_count; k++) parts[k] = lite_operand(l, node, k, is_image);
  lite_bind(l, node, 0,
            lite_put(l, LITE_CONCATENATION, parts, node->input_count,
                     LITE_OPTIONS({0, FLAT_WORD, axis}), result->dtype, &shape),
            is_image);
}

static int32_t broadcast(struct lite *l, int32_t x, const struct shape *shape) {
  if (shape_equal(lite_shape(l, x), shape)) return x;
  const int32_t sizes = lite_ints(l, shape->dims, (size_t)shape->rank);
  return lite_put(l, LITE_BROADCAST_TO, LITE_INPUTS(x, sizes), NULL, 0, lite_dtype(l, x), shape);
}

static void put_expand(struct lite *l, const struct node *node) {
  lite_bind(l, node, 0, broadcast(l, lite_input(l, node, 0), &node->outputs[0]->shape), false);
}

static void put_tile(struct lite *l, const struct node *node) {
  const int32_t x = lite_input(l, node, 0);
  const struct shape *in = lite_shape(l, x), *out = &node->outputs[0]->shape;
  int64_t times[HONE_MAX_RANK];
  for (int d = 0; d < out->rank; d++) times[d] = in->dims[d] ? out->dims[d] / in->dims[d] : 1;
  const int32_t list = lite_ints(l, times, (size_t)out->rank);
  lite_bind(l, node, 0,
            lite_put(l, LITE_TILE, LITE_INPUTS(x, list), NULL, 0, lite_dtype(l, x), out), false);
}

static void put_cast(struct lite *l, const struct node *node) {
  const bool is_image = lite_follows_images(l, node, 1);
  const int32_t x = lite_operand(l, node, 0, is_image);
  lite_bind(l, node, 0, lite_cast(l, x, node->outputs[0]->dtype), is_image);
}

/* -- parts */

/* From begin to end by steps along each axis of the graph's order. */
static void put_part(struct lite *l, const struct node *node, size_t output, const int64_t *begin,
                     const int64_t *end, const int64_t *step) {
  const struct value *x = node_input(node, 0), *result = node->outputs[output];
  const int rank = x->shape.rank;
  const bool is_image = lite_follows_images(l, node, 1);
  const int32_t from = lite_operand(l, node, 0, is_image);
  const struct shape shape = is_image ? lite_image_shape(&result->shape) : result->shape;
  int64_t begins[HONE_MAX_RANK] = {0}, ends[HONE_MAX_RANK], steps[HONE_MAX_RANK];
  for (int d = 0; d < shape.rank; d++) ends[d] = 1, steps[d] = 1;
  for (int d = 0; d < rank; d++) {
    const int at = is_image ? lite_image_axis(rank, d) : d;
    begins[at] = begin[d], ends[at] = end[d], steps[at] = step[d];
  }
  const size_t count = (size_t)shape.rank;
  lite_bind(l, node, output,
            lite_put(l, LITE_STRIDED_SLICE,
                     LITE_INPUTS(from, lite_ints(l, begins, count), lite_ints(l, ends, count),
                                 lite_ints(l, steps, count)),
                     NULL, 0, result->dtype, &shape),
            is_image);
}

static void put_split(struct lite *l, const struct node *node) {
  const struct value *x = node_input(node, 0);
  int axis;
  int64_t begin[HONE_MAX_RANK] = {0}, end[HONE_MAX_RANK], step[HONE_MAX_RANK];
  if (!x || !axis_of(l, node, 0, x->shape.rank, &axis)) return;
  for (int d = 0; d < x->shape.rank; d++) end[d] = x->shape.dims[d], step[d] = 1;
  end[axis] = 0;
  for (size_t k = 0; k < node->output_count && !l->status; k++) {
    if (!node->outputs[k]) return lite_refuse(l, node, "with an omitted output");
    begin[axis] = end[axis];
    end[axis] += node->outputs[k]->shape.dims[axis];
    put_part(l, node, k, begin, end, step);
  }
}

static bool ints_of(struct lite *l, const struct node *node, size_t k, const char *what,
                    int64_t *out, size_t *count) {
  if (!l->status) l->status = want_ints(l->ctx, node, k, what, HONE_MAX_RANK, out, count);
  return !l->status;
}

/* A reversed slice is taken from the reversed axis: as an end, the format's -1 means the last
 * element. */
static void put_slice(struct lite *l, const struct node *node) {
  const struct value *x = node_input(node, 0);
  int64_t from[HONE_MAX_RANK], to[HONE_MAX_RANK], axes[HONE_MAX_RANK], by[HONE_MAX_RANK];
  int64_t begin[HONE_MAX_RANK] = {0}, end[HONE_MAX_RANK], step[HONE_MAX_RANK];
  size_t count, given;
  if (!x || !ints_of(l, node, 1, "starts", from, &count) ||
      !ints_of(l, node, 2, "ends", to, &given))
    return;
  for (size_t i = 0; i < count; i++) axes[i] = (int64_t)i, by[i] = 1;
  if (node_input(node, 3) && !ints_of(l, node, 3, "axes", axes, &given)) return;
  if (node_input(node, 4) && !ints_of(l, node, 4, "steps", by, &given)) return;
  for (int d = 0; d < x->shape.rank; d++) end[d] = x->shape.dims[d], step[d] = 1;
  for (size_t i = 0; i < count && !l->status; i++) {
    int axis = 0;
    l->status = axis_normalise(l->ctx, node, "axes", axes[i], x->shape.rank, &axis);
    const int64_t size = x->shape.dims[axis];
    if (by[i] < 0) return lite_refuse(l, node, "with a negative step");
    begin[axis] = hold_index(from[i], size, 0, size);
    end[axis] = hold_index(to[i], size, 0, size);
    if (end[axis] < begin[axis]) end[axis] = begin[axis];
    step[axis] = by[i];
  }
  put_part(l, node, 0, begin, end, step);
}

static void put_pad(struct lite *l, const struct node *node) {
  const struct value *x = node_input(node, 0), *result = node->outputs[0];
  const char *mode = node_string(node, "mode", "constant");
  int64_t pads[2 * HONE_MAX_RANK], axes[HONE_MAX_RANK], amounts[2 * HONE_MAX_RANK] = {0};
  size_t count = 0, axis_count;
  const bool is_constant = !strcmp(mode, "constant"), is_image = lite_follows_images(l, node, 1);
  if (!is_constant && strcmp(mode, "reflect")) return lite_refuse(l, node, "in this mode");
  if (!x) return lite_refuse(l, node, "with an omitted input");
  if (!l->status) l->status = want_ints(l->ctx, node, 1, "pads", 2 * HONE_MAX_RANK, pads, &count);
  for (int d = 0; d < x->shape.rank; d++) axes[d] = d;
  if (node_input(node, 3) && !ints_of(l, node, 3, "axes", axes, &axis_count)) return;
  for (size_t i = 0; i < count / 2 && !l->status; i++) {
    int axis = 0;
    l->status = axis_normalise(l->ctx, node, "axes", axes[i], x->shape.rank, &axis);
    if (pads[i] < 0 || pads[i + count / 2] < 0) return lite_refuse(l, node, "by a negative amount");
    if (is_image) axis = lite_image_axis(x->shape.rank, axis);
    amounts[2 * axis] = pads[i];
    amounts[2 * axis + 1] = pads[i + count / 2];
  }
  const int32_t from = lite_operand(l, node, 0, is_image);
  const struct shape shape = is_image ? lite_image_shape(&result->shape) : result->shape;
  const struct shape pairs = {2, {shape.rank, 2}};
  const int32_t list = lite_reshape(l, lite_ints(l, amounts, 2 * (size_t)shape.rank), &pairs);
  if (l->status) return;
  const struct lite_scale *scale = &l->tensors.at[from].quantisation;
  const double nothing = scale->count == 1 ? (double)scale->zero_points[0] : 0;
  double fill = 0;
  const bool has_fill =
      node_input(node, 2) && !(constant_scalar(node_input(node, 2), &fill) && fill == nothing);
  int32_t y;
  if (!is_constant) {
    y = lite_put(l, LITE_MIRROR_PAD, LITE_INPUTS(from, list), LITE_OPTIONS({0, FLAT_BYTE, 0}),
                 result->dtype, &shape);
  } else if (has_fill) {
    const int32_t with = lite_reshape(l, lite_input(l, node, 2), &(struct shape){0});
    y = lite_put(l, LITE_PADV2, LITE_INPUTS(from, list, with), NULL, 0, result->dtype, &shape);
  } else {
    y = lite_put(l, LITE_PAD, LITE_INPUTS(from, list), NULL, 0, result->dtype, &shape);
  }
  lite_bind(l, node, 0, y, is_image);
}

/* DEPTH_TO_SPACE takes the block from the channels' outer part, as mode DCR. */
static void put_depth_to_space(struct lite *l, const struct node *node) {
  const bool is_up = is_op(node, OP_DepthToSpace);
  const struct shape shape = lite_image_shape(&node->outputs[0]->shape);
  if (is_up && strcmp(node_string(node, "mode", "DCR"), "DCR"))
    return lite_refuse(l, node, "in mode CRD");
  const int32_t x = lite_input_image(l, node, 0);
  lite_bind(l, node, 0,
            lite_put(l, is_up ? LITE_DEPTH_TO_SPACE : LITE_SPACE_TO_DEPTH, LITE_INPUTS(x),
                     LITE_OPTIONS({0, FLAT_WORD, (double)node_int(node, "blocksize", 1)}),
                     lite_dtype(l, x), &shape),
            true);
}

/* -- reductions */

static bool reduced_axes(struct lite *l, const struct node *node, int rank,
                         bool axes[HONE_MAX_RANK]) {
  int64_t list[HONE_MAX_RANK];
  size_t count = 0;
  const int64_t *given = node_ints(node, "axes", &count);
  if (given) memcpy(list, given, count * sizeof *list);
  if (node_input(node, 1) && node_input(node, 1)->shape.rank == 1 &&
      node_input(node, 1)->shape.dims[0] && !ints_of(l, node, 1, "axes", list, &count))
    return false;
  for (size_t i = 0; i < count && !l->status; i++) {
    int axis = 0;
    l->status = axis_normalise(l->ctx, node, "axes", list[i], rank, &axis);
    axes[axis] = true;
  }
  for (int d = 0; !count && d < rank && !node_int(node, "noop_with_empty_axes", 0); d++)
    axes[d] = true;
  return !l->status;
}

static void put_reduce(struct lite *l, const struct node *node) {
  static const struct {
    enum op_id op;
    enum lite_code code;
  } kinds[] = {{OP_ReduceMax, LITE_REDUCE_MAX}, {OP_ReduceMean, LITE_MEAN},
               {OP_ReduceMin, LITE_REDUCE_MIN}, {OP_ReduceProd, LITE_REDUCE_PROD},
               {OP_ReduceSum, LITE_SUM},        {OP_ReduceL1, LITE_SUM},
               {OP_ReduceL2, LITE_SUM},         {OP_ReduceSumSquare, LITE_SUM}};
  const struct value *x = lite_operand_value(l, node, 0);
  bool axes[HONE_MAX_RANK] = {false}, turned[HONE_MAX_RANK] = {false};
  enum lite_code code = LITE_SUM;
  if (!x || !reduced_axes(l, node, x->shape.rank, axes)) return;
  const struct lite_value *v = &l->values[x->index];
  const bool keeps = node_int(node, "keepdims", 1) != 0;
  const bool is_image = x->shape.rank == 4 && keeps && v->image && !v->plain;
  int32_t y = is_image ? lite_image(l, x) : lite_plain(l, x);
  for (int d = 0; d < x->shape.rank; d++)
    turned[is_image ? lite_image_axis(x->shape.rank, d) : d] = axes[d];
  for (size_t i = 0; i < COUNT(kinds); i++)
    if (is_op(node, kinds[i].op)) code = kinds[i].code;
  const bool is_l2 = is_op(node, OP_ReduceL2);
  if (is_l2 || is_op(node, OP_ReduceSumSquare)) y = lite_binary(l, LITE_MUL, y, y);
  if (is_op(node, OP_ReduceL1)) y = lite_unary(l, LITE_ABS, y);
  y = lite_reduce(l, code, y, turned, keeps);
  if (is_l2) y = lite_unary(l, LITE_SQRT, y);
  lite_bind(l, node, 0, y, is_image);
}

static void put_arg(struct lite *l, const struct node *node) {
  const struct value *result = node->outputs[0];
  int32_t x = lite_input(l, node, 0);
  const enum lite_code code = is_op(node, OP_ArgMax) ? LITE_ARG_MAX : LITE_ARG_MIN;
  const int rank = lite_shape(l, x)->rank;
  struct shape shape = {0};
  int axis;
  if (!axis_of(l, node, 0, rank, &axis)) return;
  if (node_int(node, "select_last_index", 0)) return lite_refuse(l, node, "with select_last_index");
  for (int d = 0; d < rank; d++)
    if (d != axis) shape.dims[shape.rank++] = lite_shape(l, x)->dims[d];
  /* LiteRT 2.3 supports no other type */
  if (lite_dtype(l, x) == HONE_I64) x = lite_cast(l, x, HONE_I32);
  const int64_t place = axis;
  const int32_t along = lite_reshape(l, lite_ints(l, &place, 1), &(struct shape){0});
  const int32_t y =
      lite_put(l, code, LITE_INPUTS(x, along), LITE_OPTIONS({0, FLAT_BYTE, 4}), HONE_I64, &shape);
  lite_bind(l, node, 0, lite_reshape(l, y, &result->shape), false);
}

/* Along the last axis; others are transposed to the end and back. */
static void put_softmax(struct lite *l, const struct node *node) {
  const bool is_log = is_op(node, OP_LogSoftmax), is_image = lite_follows_images(l, node, 1);
  int32_t x = lite_operand(l, node, 0, is_image);
  int64_t order[HONE_MAX_RANK];
  int axis;
  if (!axis_of(l, node, -1, node->outputs[0]->shape.rank, &axis)) return;
  if (is_image) axis = lite_image_axis(node->outputs[0]->shape.rank, axis);
  const int last = lite_shape(l, x)->rank - 1;
  for (int d = 0; d <= last; d++) order[d] = d;
  order[axis] = last;
  order[last] = axis;
  x = lite_transpose(l, x, order);
  const struct shape *shape = lite_shape(l, x);
  const hone_dtype dtype = lite_dtype(l, x);
  const int32_t y = is_log ? lite_put(l, LITE_LOG_SOFTMAX, LITE_INPUTS(x), NULL, 0, dtype, shape)
                           : lite_put(l, LITE_SOFTMAX, LITE_INPUTS(x),
                                      LITE_OPTIONS({0, FLAT_FLOAT, 1}), dtype, shape);
  lite_bind(l, node, 0, lite_transpose(l, y, order), is_image);
}

static void put_cumsum(struct lite *l, const struct node *node) {
  const int32_t x = lite_input(l, node, 0);
  const int32_t axis =
      lite_cast(l, lite_reshape(l, lite_input(l, node, 1), &(struct shape){0}), HONE_I32);
  lite_bind(l, node, 0,
            lite_put(l, LITE_CUMSUM, LITE_INPUTS(x, axis),
                     LITE_OPTIONS({0, FLAT_BYTE, node_int(node, "exclusive", 0) != 0},
                                  {1, FLAT_BYTE, node_int(node, "reverse", 0) != 0}),
                     lite_dtype(l, x), lite_shape(l, x)),
            false);
}

/* -- normalisations */

/* (x - mean) / sqrt(variance + epsilon) over the axes: one root per row, and multiplications. */
static int32_t normalised(struct lite *l, int32_t x, const bool *axes, double epsilon,
                          bool centres) {
  if (centres) x = lite_binary(l, LITE_SUB, x, lite_reduce(l, LITE_MEAN, x, axes, true));
  const int32_t variance = lite_reduce(l, LITE_MEAN, lite_binary(l, LITE_MUL, x, x), axes, true);
  const int32_t inside = lite_binary(l, LITE_ADD, variance, lite_number(l, HONE_F32, epsilon));
  return lite_binary(l, LITE_MUL, x, lite_unary(l, LITE_RSQRT, inside));
}

static void put_layer_norm(struct lite *l, const struct node *node) {
  bool axes[HONE_MAX_RANK] = {false};
  const int32_t x = lite_input(l, node, 0);
  int axis;
  const int rank = lite_shape(l, x)->rank;
  if (!axis_of(l, node, -1, rank, &axis)) return;
  for (int d = axis; d < rank; d++) axes[d] = true;
  for (size_t k = 1; k < node->output_count; k++)
    if (node->outputs[k]) return lite_refuse(l, node, "with more than one output");
  int32_t y =
      normalised(l, x, axes, node_float(node, "epsilon", 1e-5), is_op(node, OP_LayerNormalization));
  y = lite_binary(l, LITE_MUL, y, lite_input(l, node, 1));
  if (node_input(node, 2)) y = lite_binary(l, LITE_ADD, y, lite_input(l, node, 2));
  lite_bind(l, node, 0, y, false);
}

/* A per-channel vector that broadcasts against an image, or against [n, c, ..]. */
static int32_t by_channel(struct lite *l, const struct node *node, size_t k, int rank,
                          bool is_image) {
  const int32_t x = lite_input(l, node, k);
  struct shape shape = {.rank = rank};
  if (is_image) return x;
  for (int d = 0; d < rank; d++) shape.dims[d] = d == 1 ? lite_shape(l, x)->dims[0] : 1;
  return lite_reshape(l, x, &shape);
}

static void put_batch_norm(struct lite *l, const struct node *node) {
  const struct value *x = node_input(node, 0);
  if (!x || x->shape.rank < 2) return lite_refuse(l, node, "of a vector");
  const bool is_image = lite_can_be_image(x);
  const int rank = x->shape.rank;
  int32_t y = is_image ? lite_input_image(l, node, 0) : lite_input(l, node, 0), in[5] = {0};
  for (size_t k = 1; k < 5; k++) in[k] = by_channel(l, node, k, rank, is_image);
  const int32_t epsilon = lite_number(l, HONE_F32, node_float(node, "epsilon", 1e-5));
  const int32_t deviation = lite_unary(l, LITE_SQRT, lite_binary(l, LITE_ADD, in[4], epsilon));
  y = lite_binary(l, LITE_DIV, lite_binary(l, LITE_SUB, y, in[3]), deviation);
  y = lite_binary(l, LITE_ADD, lite_binary(l, LITE_MUL, y, in[1]), in[2]);
  lite_bind(l, node, 0, y, is_image);
}

static void put_instance_norm(struct lite *l, const struct node *node) {
  static const bool of_image[HONE_MAX_RANK] = {false, true, true, false};
  const struct value *x = node_input(node, 0);
  if (!x || !lite_can_be_image(x)) return lite_refuse(l, node, "of tensors that are not images");
  int32_t y = normalised(l, lite_input_image(l, node, 0), of_image,
                         node_float(node, "epsilon", 1e-5), true);
  y = lite_binary(l, LITE_MUL, y, by_channel(l, node, 1, x->shape.rank, true));
  lite_bind(l, node, 0, lite_binary(l, LITE_ADD, y, by_channel(l, node, 2, x->shape.rank, true)),
            true);
}

/* -- the table */

static const struct {
  enum op_id op;
  lite_rule *rule;
} rules[] = {
    {OP_ArgMax, put_arg},
    {OP_ArgMin, put_arg},
    {OP_AveragePool, lite_pool},
    {OP_BatchNormalization, put_batch_norm},
    {OP_Cast, put_cast},
    {OP_CastLike, put_cast},
    {OP_Concat, put_concat},
    {OP_Conv, lite_conv},
    {OP_ConvTranspose, lite_conv_transpose},
    {OP_CumSum, put_cumsum},
    {OP_DepthToSpace, put_depth_to_space},
    {OP_DequantizeLinear, lite_dequantize},
    {OP_Dropout, put_identity},
    {OP_Expand, put_expand},
    {OP_Flatten, put_reshape},
    {OP_GRU, lite_recurrent},
    {OP_Gather, lite_gather},
    {OP_GatherElements, lite_gather_elements},
    {OP_GatherND, lite_gather_nd},
    {OP_Gemm, lite_gemm},
    {OP_GlobalAveragePool, lite_global_pool},
    {OP_GlobalMaxPool, lite_global_pool},
    {OP_Identity, put_identity},
    {OP_InstanceNormalization, put_instance_norm},
    {OP_LSTM, lite_recurrent},
    {OP_LayerNormalization, put_layer_norm},
    {OP_LogSoftmax, put_softmax},
    {OP_MatMul, lite_matmul},
    {OP_MaxPool, lite_pool},
    {OP_OneHot, lite_one_hot},
    {OP_Pad, put_pad},
    {OP_QuantizeLinear, lite_quantize},
    {OP_RMSNormalization, put_layer_norm},
    {OP_RNN, lite_recurrent},
    {OP_ReduceL1, put_reduce},
    {OP_ReduceL2, put_reduce},
    {OP_ReduceMax, put_reduce},
    {OP_ReduceMean, put_reduce},
    {OP_ReduceMin, put_reduce},
    {OP_ReduceProd, put_reduce},
    {OP_ReduceSum, put_reduce},
    {OP_ReduceSumSquare, put_reduce},
    {OP_Reshape, put_reshape},
    {OP_Resize, lite_resize},
    {OP_ScatterElements, lite_scatter},
    {OP_ScatterND, lite_scatter},
    {OP_Slice, put_slice},
    {OP_Softmax, put_softmax},
    {OP_SpaceToDepth, put_depth_to_space},
    {OP_Split, put_split},
    {OP_Squeeze, put_reshape},
    {OP_Tile, put_tile},
    {OP_TopK, lite_top_k},
    {OP_Transpose, put_transpose},
    {OP_Unsqueeze, put_reshape},
};

lite_rule *lite_rule_of(const struct node *node) {
  for (size_t i = 0; i < COUNT(rules); i++)
    if (is_op(node, rules[i].op)) return rules[i].rule;
  return lite_elementwise;
}

void lite_node(struct lite *l, const struct node *node) {
  const struct value *out = node->output_count ? node->outputs[0] : NULL;
  if (node_is_known(node)) return; /* constants are written where they are read */
  if (out && l->is_unwritten[out->index]) return;
  lite_rule_of(node)(l, node);
}
