/* quantised: nodes between DequantizeLinear and QuantizeLinear are written in int8: activations
 * with one scale per tensor, weights around 0 with one scale per output channel, biases i32 with
 * the product of both scales (the format's "8-bit quantization specification"; B. Jacob et al.,
 * CVPR 2018). The pass sign-bytes has made all of it i8.
 *
 * An operator is found by its QuantizeLinear and written there, by the same rule as its float form:
 * while l->quantiser is set, operands are the inputs of their DequantizeLinear, and the result is
 * that of the QuantizeLinear. Unused floats are not written. */
#include "core/ops/ops_internal.h"
#include "tflite.h"

#include <math.h>

/* -- what can be int8 */

static bool has_one_scale(const struct node *node) {
  double scale, zero;
  return constant_scalar(node_input(node, 1), &scale) && scale > 0 && isfinite(scale) &&
         (!node_input(node, 2) || constant_scalar(node_input(node, 2), &zero)) &&
         !node_int(node, "block_size", 0);
}

static bool is_dequantised(const struct value *value) {
  const struct node *node = lite_dequantiser(value);
  return node && value->dtype == HONE_F32 && node->inputs[0]->dtype == HONE_I8 &&
         has_one_scale(node);
}

/* i8 constants around 0, with one scale, or one per index of `axis`. */
static bool are_weights(const struct value *value, int axis) {
  const struct node *node = lite_dequantiser(value);
  if (!node || !node->inputs[0]->constant || node->inputs[0]->dtype != HONE_I8) return false;
  const struct value *q = node->inputs[0], *scale = node_input(node, 1),
                     *zero = node_input(node, 2);
  if (!scale || !scale->constant || (zero && !zero->constant)) return false;
  int64_t along = node_int(node, "axis", 1);
  if (along < 0) along += q->shape.rank;
  const size_t count = tensor_count(scale->constant);
  for (size_t i = 0; i < count; i++)
    if (!(tensor_f64(scale->constant, i) > 0) || !isfinite(tensor_f64(scale->constant, i)))
      return false;
  for (size_t i = 0; zero && i < tensor_count(zero->constant); i++)
    if (tensor_i64(zero->constant, i)) return false;
  return !node_int(node, "block_size", 0) &&
         (count == 1 ||
          (scale->shape.rank == 1 && along == axis && (int64_t)count == q->shape.dims[axis]));
}

/* Element i of a bias: a constant, or dequantised from one. */
static bool bias_element(const struct value *bias, size_t i, double *out) {
  const struct node *node = lite_dequantiser(bias);
  *out = 0;
  if (!bias) return true;
  const struct tensor *q = node ? node->inputs[0]->constant : bias->constant;
  if (!q || i >= tensor_count(q)) return false;
  *out = tensor_f64(q, i);
  if (!node) return true;
  const struct value *scale = node_input(node, 1), *zero = node_input(node, 2);
  if (!scale || !scale->constant || (zero && !zero->constant)) return false;
  const size_t scales = tensor_count(scale->constant),
               zeros = zero ? tensor_count(zero->constant) : 0;
  if ((scales > 1 && i >= scales) || (zeros > 1 && i >= zeros)) return false;
  if (zero) *out -= tensor_f64(zero->constant, zeros > 1 ? i : 0);
  *out *= tensor_f64(scale->constant, scales > 1 ? i : 0);
  return true;
}

/* Scale of bias element i: the product of the scales of operand and weights. */
static double bias_step(const struct node *node, size_t i) {
  const struct tensor *x = lite_dequantiser(node->inputs[0])->inputs[1]->constant;
  const struct tensor *w = lite_dequantiser(node->inputs[1])->inputs[1]->constant;
  return (double)(float)(tensor_f64(x, 0) * tensor_f64(w, tensor_count(w) > 1 ? i : 0));
}

/* A channel with a constant result has a scale near zero and a bias of 2^30 steps, the clamp of
 * TensorFlow Lite's converter: what matters is that no sum overflows. */
static bool fits_bias(const struct node *node, int64_t channels) {
  const struct value *bias = node_input(node, 2);
  int64_t count;
  double b;
  if (!bias) return true;
  if (!shape_count(&bias->shape, &count) || count != channels || !bias->shape.rank ||
      bias->shape.dims[bias->shape.rank - 1] != channels)
    return false;
  const size_t weights = tensor_count(lite_dequantiser(node->inputs[1])->inputs[0]->constant);
  const double room = INT32_MAX - 127.0 * 255 * (double)weights / (double)channels;
  for (size_t i = 0; i < (size_t)channels; i++)
    if (!bias_element(bias, i, &b) || !(fabs(b / bias_step(node, i)) <= room)) return false;
  return true;
}

static bool is_byte_product(const struct node *node) {
  const struct value *x = node_input(node, 0), *w = node_input(node, 1);
  if (!is_op(node, OP_Conv) && !is_op(node, OP_Gemm) && !is_op(node, OP_MatMul)) return false;
  if (!is_dequantised(x) || x->producer->inputs[0]->constant) return false;
  if (is_op(node, OP_Conv)) return are_weights(w, 0) && fits_bias(node, w->shape.dims[0]);
  const int axis = is_op(node, OP_Gemm) && node_int(node, "transB", 0) ? 0 : 1;
  if (!w || w->shape.rank != 2 || x->shape.rank < 2 || !are_weights(w, axis)) return false;
  if (is_op(node, OP_MatMul)) return true;
  return node_float(node, "alpha", 1) == 1 && node_float(node, "beta", 1) == 1 &&
         !node_int(node, "transA", 0) && fits_bias(node, w->shape.dims[axis]);
}

/* The format's average excludes padding, and its result has the operand's scale. */
static bool is_plain_pool(const struct node *node) {
  size_t count;
  const int64_t *pads = node_ints(node, "pads", &count);
  bool is_plain =
      !node_int(node, "ceil_mode", 0) && !strcmp(node_string(node, "auto_pad", "NOTSET"), "NOTSET");
  for (size_t i = 0; pads && i < count; i++) is_plain &= pads[i] == 0;
  return is_plain;
}

static bool is_clip_six(const struct node *node) {
  double low, high;
  return is_op(node, OP_Clip) && elementwise_parameters(node, &low, &high) && low == 0 && high == 6;
}

static bool is_byte_operator(const struct node *node) {
  static const enum op_id alike[] = {
      OP_Add,        OP_Gelu, OP_GlobalAveragePool, OP_HardSwish, OP_LeakyRelu, OP_MatMul, OP_Mul,
      OP_ReduceMean, OP_Relu, OP_Sigmoid,           OP_Softmax,   OP_Sub,       OP_Tanh};
  bool is_known = is_clip_six(node) || (is_op(node, OP_AveragePool) && is_plain_pool(node));
  if (node->output_count != 1) return false;
  if (is_op(node, OP_Conv) || is_op(node, OP_Gemm)) return is_byte_product(node);
  if (is_op(node, OP_MatMul) && is_byte_product(node)) return true;
  for (size_t i = 0; i < COUNT(alike); i++) is_known |= is_op(node, alike[i]);
  const size_t operands = is_op(node, OP_ReduceMean) ? 1 : elementwise_operands(node);
  for (size_t k = 0; is_known && k < operands; k++) is_known = is_dequantised(node_input(node, k));
  return is_known;
}

/* -- activations between an operator and its QuantizeLinear */

static bool is_activation(const struct node *node) {
  return is_op(node, OP_Relu) || is_clip_six(node);
}

/* True if all int8 values are inside the activation's range. */
static bool is_within(const struct node *activation, const struct node *quantiser) {
  double scale = 1, zero = 0;
  if (!constant_scalar(node_input(quantiser, 1), &scale)) return false;
  if (node_input(quantiser, 2) && !constant_scalar(node_input(quantiser, 2), &zero)) return false;
  return zero == -128 && (is_op(activation, OP_Relu) || (127 - zero) * scale <= 6 * (1 + 1e-6));
}

static bool takes_activation(const struct node *node) {
  return is_op(node, OP_Add) || is_op(node, OP_Sub) || is_op(node, OP_Mul) || is_byte_product(node);
}

/* -- search */

struct search {
  struct lite *l;
  /* by value index: reads of a DequantizeLinear's result by nodes written in int8 */
  uint32_t *reads;
};

static void find_at(struct search *s, const struct node *quantiser) {
  struct lite *l = s->l;
  const struct value *out = quantiser->outputs[0], *in = quantiser->inputs[0];
  const struct node *head = in->producer, *activation = NULL;
  if (!out || out->dtype != HONE_I8 || in->dtype != HONE_F32 || !head || in->constant ||
      !has_one_scale(quantiser))
    return;
  if (lite_dequantiser(in)) { /* to another scale */
    if (!is_dequantised(in) || head->inputs[0]->constant) return;
    l->heads[out->index] = head;
    s->reads[in->index]++;
    return;
  }
  if (l->uses[in->index] != 1) return;
  if (is_activation(head) && !lite_dequantiser(head->inputs[0])) {
    activation = head;
    head = activation->inputs[0]->producer;
    if (!head || l->uses[activation->inputs[0]->index] != 1) return;
  }
  if (!is_byte_operator(head)) return;
  if (activation && !is_within(activation, quantiser) && !takes_activation(head)) return;
  l->heads[out->index] = head;
  l->is_unwritten[in->index] = true;
  if (activation) l->is_unwritten[activation->inputs[0]->index] = true;
  for (size_t k = 0; k < head->input_count; k++)
    if (lite_dequantiser(head->inputs[k])) s->reads[head->inputs[k]->index]++;
}

hone_status lite_find_quantised(struct lite *l) {
  const struct graph *graph = l->graph;
  struct search s = {.l = l};
  TRY(NEW_ARRAY(l->ctx, l->arena, l->heads, graph->values.count + 1));
  TRY(NEW_ARRAY(l->ctx, l->arena, l->is_unwritten, graph->values.count + 1));
  TRY(NEW_ARRAY(l->ctx, l->arena, s.reads, graph->values.count + 1));
  for (size_t n = 0; n < graph->nodes.count; n++) {
    const struct node *node = graph->nodes.at[n];
    if (node && is_op(node, OP_QuantizeLinear)) find_at(&s, node);
  }
  for (size_t v = 0; v < graph->values.count; v++)
    if (s.reads[v] && s.reads[v] == l->uses[v]) l->is_unwritten[v] = true;
  return HONE_OK;
}

/* -- scales */

/* For 8-bit tensors: a computed tensor has the scale that its reader uses. */
static bool scale_of(struct lite *l, const struct node *node, struct lite_scale *out) {
  const struct value *scale = node_input(node, 1), *zero = node_input(node, 2);
  float *scales = NULL;
  int64_t *points = NULL;
  const size_t count = scale && scale->constant ? tensor_count(scale->constant) : 0;
  int axis = 0;
  if (!count || (zero && !zero->constant) || scale->shape.rank > 1) {
    lite_refuse(l, node, "with scales that are computed or by block");
    return false;
  }
  if (scale->shape.rank && count > 1 && !l->status)
    l->status = axis_attribute(l->ctx, node, "axis", 1, node_input(node, 0)->shape.rank, &axis);
  if (!l->status) l->status = NEW_ARRAY(l->ctx, l->arena, scales, count);
  if (!l->status) l->status = NEW_ARRAY(l->ctx, l->arena, points, count);
  for (size_t i = 0; !l->status && i < count; i++) {
    scales[i] = (float)tensor_f64(scale->constant, i);
    points[i] = zero ? tensor_i64(zero->constant, i) : 0;
  }
  *out = (struct lite_scale){count, scales, points, axis};
  return !l->status;
}

/* One scale per tensor: a value read with two different scales needs two tensors. */
static int32_t with_scale(struct lite *l, const struct node *node, int32_t x,
                          const struct lite_scale *scale) {
  if (l->status) return 0;
  const struct lite_scale *has = &l->tensors.at[x].quantisation;
  if (!has->count)
    l->tensors.at[x].quantisation = *scale;
  else if (!lite_same_scale(has, scale))
    lite_refuse(l, node, "of a value that is read with two scales");
  return x;
}

/* -- operators in int8 */

int32_t lite_weights(struct lite *l, const struct node *node, int32_t tensor, int channel_axis) {
  struct lite_scale scale;
  if (!l->quantiser || l->status || !scale_of(l, lite_dequantiser(node->inputs[1]), &scale))
    return tensor;
  scale.axis = scale.count > 1 ? channel_axis : 0;
  l->tensors.at[tensor].quantisation = scale;
  return tensor;
}

int32_t lite_quantised_bias(struct lite *l, const struct node *node, int64_t channels) {
  const struct shape shape = {1, {channels}};
  struct tensor *tensor = NULL;
  float *scales = NULL;
  int64_t *points = NULL;
  const size_t count = (size_t)channels;
  if (!l->status) l->status = tensor_create(l->ctx, l->arena, HONE_I32, &shape, &tensor);
  if (!l->status) l->status = NEW_ARRAY(l->ctx, l->arena, scales, count + 1);
  if (!l->status) l->status = NEW_ARRAY(l->ctx, l->arena, points, count + 1);
  if (l->status) return 0;
  for (size_t i = 0; i < count; i++) {
    double b = 0;
    const double step = bias_step(node, i);
    if (!bias_element(node_input(node, 2), i, &b)) lite_refuse(l, node, "with a computed bias");
    scales[i] = (float)step;
    tensor_set_i64(tensor, i, (int64_t)rint(b / step));
  }
  const int32_t bias = lite_constant(l, tensor);
  const struct tensor *w = lite_dequantiser(node->inputs[1])->inputs[1]->constant;
  if (!l->status)
    l->tensors.at[bias].quantisation =
        (struct lite_scale){tensor_count(w) > 1 ? count : 1, scales, points, 0};
  return bias;
}

static void scale_operand(struct lite *l, const struct node *from) {
  const struct value *q = from->inputs[0];
  const struct lite_value *v = &l->values[q->index];
  struct lite_scale scale;
  if (!scale_of(l, from, &scale)) return;
  if (!v->plain && !v->image) (void)lite_plain(l, q);
  if (v->plain) with_scale(l, from, v->plain - 1, &scale);
  if (v->image) with_scale(l, from, v->image - 1, &scale);
}

/* Converts to another scale. */
static void put_rescale(struct lite *l, const struct node *from) {
  const struct lite_value *v = &l->values[from->inputs[0]->index];
  scale_operand(l, from);
  const bool is_image = v->image && !v->plain;
  const int32_t x = (is_image ? v->image : v->plain) - 1;
  if (!l->status) lite_bind(l, from, 0, x, is_image);
}

static void put_operator(struct lite *l, const struct node *quantiser) {
  const struct node *head = l->heads[quantiser->outputs[0]->index];
  const struct node *last = quantiser->inputs[0]->producer;
  const bool is_product = is_byte_product(head);
  if (!scale_of(l, quantiser, &l->scale)) return;
  l->quantiser = quantiser;
  if (is_op(head, OP_DequantizeLinear)) {
    put_rescale(l, head);
  } else {
    for (size_t k = 0; k < head->input_count; k++)
      if (lite_dequantiser(head->inputs[k]) && (!k || !is_product))
        scale_operand(l, head->inputs[k]->producer);
    l->rule_of(head)(l, head);
  }
  l->quantiser = NULL;
  if (l->status || last == head || is_within(last, quantiser)) return;
  const struct lite_value *v = &l->values[quantiser->outputs[0]->index];
  if (!lite_fuse(l, (v->image ? v->image : v->plain) - 1,
                 is_op(last, OP_Relu) ? LITE_FUSED_RELU : LITE_FUSED_RELU6))
    lite_refuse(l, last, "in int8 after this operator");
}

/* -- between floats and int8 */

void lite_quantize(struct lite *l, const struct node *node) {
  struct lite_scale scale;
  if (node->outputs[0] && l->heads[node->outputs[0]->index]) return put_operator(l, node);
  const bool is_image = lite_follows_images(l, node, 1);
  if (!scale_of(l, node, &scale)) return;
  if (scale.count > 1) return lite_refuse(l, node, "with per-channel scales");
  const int32_t x = lite_operand(l, node, 0, is_image);
  int32_t y = lite_put(l, LITE_QUANTIZE, LITE_INPUTS(x), NULL, 0, node->outputs[0]->dtype,
                       lite_shape(l, x));
  lite_bind(l, node, 0, with_scale(l, node, y, &scale), is_image);
}

/* Constants as floats, for operators that are not written in int8. */
static void dequantise_constant(struct lite *l, const struct node *node) {
  const struct tensor *q = node->inputs[0]->constant;
  struct lite_scale scale;
  struct tensor *y = NULL;
  int64_t inner = 1;
  if (!scale_of(l, node, &scale)) return;
  l->status = tensor_create(l->ctx, l->arena, HONE_F32, &q->shape, &y);
  if (l->status) return;
  for (int d = scale.axis + 1; d < q->shape.rank; d++) inner *= q->shape.dims[d];
  for (size_t i = 0; i < tensor_count(y); i++) {
    const size_t c = scale.count > 1 ? i / (size_t)inner % scale.count : 0;
    tensor_set_f64(y, i,
                   (double)((float)(tensor_i64(q, i) - scale.zero_points[c]) * scale.scales[c]));
  }
  lite_bind(l, node, 0, lite_constant(l, y), false);
}

void lite_dequantize(struct lite *l, const struct node *node) {
  struct lite_scale scale;
  if (node->inputs[0]->constant) return dequantise_constant(l, node);
  const bool is_image = lite_follows_images(l, node, 1);
  if (!scale_of(l, node, &scale)) return;
  if (scale.count > 1) return lite_refuse(l, node, "with per-channel scales of a computed value");
  const int32_t x = with_scale(l, node, lite_operand(l, node, 0, is_image), &scale);
  lite_bind(l, node, 0,
            lite_put(l, LITE_DEQUANTIZE, LITE_INPUTS(x), NULL, 0, HONE_F32, lite_shape(l, x)),
            is_image);
}
