/* The precision in which a file computes, and the quantisation step of each output of a quantised
 * graph: how far two correct engines may differ.
 *
 * A value half-way between two steps is rounded up or down depending on the last bit of a sum. So
 * an output is at most as accurate as the coarsest quantiser before it. That step is carried
 * forward through operators whose gain is at most 1 (movement, Softmax, Relu, pools, ...) and
 * through tables of 256 entries by their steepest place. Any other operator ends it: the output
 * then has no step and gets the tolerance of quantised files. One pass in topological order,
 * without recursion.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>

/* Operators with a gain of at most 1, in addition to those that only move elements. */
static const enum op_id gain_at_most_one[] = {
    OP_Softmax, OP_Sigmoid, OP_Tanh, OP_Relu,    OP_Clip,        OP_Max,
    OP_Min,     OP_Abs,     OP_Neg,  OP_MaxPool, OP_AveragePool, OP_GlobalAveragePool,
};

static bool keeps_step(const struct op *op) {
  if (op->class == OP_MOVEMENT || op->id == OP_Cast) return true;
  for (size_t i = 0; i < COUNT(gain_at_most_one); i++)
    if (op->id == gain_at_most_one[i]) return true;
  return false;
}

static bool is_quantiser(const struct node *node) {
  return is_op(node, OP_QuantizeLinear) || is_op(node, OP_QuantizeHalfAway) ||
         is_op(node, OP_DequantizeLinear);
}

/* The largest element of a quantiser's scale; 0 if the scale is not constant. */
static double scale_of(const struct node *node) {
  const struct value *scale = node_input(node, 1);
  double largest = 0;
  if (!scale || !scale->constant) return 0;
  for (size_t i = 0; i < tensor_count(scale->constant); i++)
    largest = fmax(largest, fabs(tensor_f64(scale->constant, i)));
  return largest;
}

struct grain {
  double real; /* in dequantised numbers; 0: unknown */
  double unit; /* scale of an integer value; 0: unknown */
  /* if the scale is unknown: steps of this value per step of its input; 0 means 1 */
  double count;
};

/* The 8-bit input of a lookup in a constant table of 256 entries (Sigmoid in a .tflite: Cast,
   Gather), or NULL. */
static const struct value *table_index(const struct node *node) {
  const struct value *table = node_input(node, 0), *index = node_input(node, 1);
  if (!is_op(node, OP_Gather) || !index || !index->producer) return NULL;
  if (!table || !table->constant || !dtype_is_integer(table->dtype)) return NULL;
  if (table->shape.rank != 1 || table->shape.dims[0] != 256) return NULL;
  const struct value *bytes = node_input(index->producer, 0);
  const bool is_cast = is_op(index->producer, OP_Cast) && bytes && !bytes->constant;
  return is_cast && dtype_is_byte(bytes->dtype) ? bytes : NULL;
}

/* One step of the index changes the result by at most the largest difference of two neighbours. A
   signed index counts from the middle: -1 is the last entry of the table and 0 the first. */
static struct grain table_step(const struct node *node, const struct value *index,
                               const struct grain *steps) {
  const struct tensor *table = node_input(node, 0)->constant;
  const size_t count = tensor_count(table), first = index->dtype == HONE_I8 ? count / 2 : 0;
  double steepest = 1;
  for (size_t i = 1; i < count; i++)
    steepest = fmax(steepest, fabs(tensor_f64(table, (first + i) % count) -
                                   tensor_f64(table, (first + i - 1) % count)));
  return (struct grain){.count = steepest * fmax(steps[index->index].count, 1)};
}

static bool makes_bytes(const struct node *node) {
  const struct value *y = node->output_count ? node->outputs[0] : NULL;
  return y && dtype_is_byte(y->dtype);
}

/* Step of a probability in 256ths. The worst case moves the logit at the middle of the logistic
   function while all others move the other way. Table: exp of each distance, so its first two
   entries give the scale. */
static struct grain softmax_step(const struct node *node, const struct grain *steps) {
  const struct tensor *table = node->inputs[1] ? node->inputs[1]->constant : NULL;
  const double before = fmax(steps[node->inputs[0]->index].count, 1);
  const double first = table ? tensor_f64(table, 0) : 0, second = table ? tensor_f64(table, 1) : 0;
  if (second <= 0 || first < second) return (struct grain){.count = 1};
  return (struct grain){.count = 1 + 256 * tanh(before * log(first / second) / 2)};
}

static struct grain node_step(const struct node *node, const struct grain *steps) {
  struct grain out = {0};
  size_t count = is_quantiser(node) ? 1 : node->input_count;
  const struct value *index = table_index(node);
  if (index) return table_step(node, index, steps);
  if (makes_bytes(node) && is_op(node, OP_TableSoftmax)) return softmax_step(node, steps);
  /* fixed point: correct engines round the sum once or twice */
  if (makes_bytes(node) && is_op(node, OP_Requantize)) return (struct grain){.count = 1};
  for (size_t i = 0; i < count; i++) {
    if (!node->inputs[i] || node->inputs[i]->constant) continue;
    out.real = fmax(out.real, steps[node->inputs[i]->index].real);
    out.unit = fmax(out.unit, steps[node->inputs[i]->index].unit);
    out.count = fmax(out.count, steps[node->inputs[i]->index].count);
  }
  if (!is_quantiser(node)) return keeps_step(node->op) ? out : (struct grain){0};
  if (!node->inputs[0] || node->inputs[0]->constant) return (struct grain){0}; /* weights */
  double scale = scale_of(node);
  const bool dequantises = is_op(node, OP_DequantizeLinear);
  out.real = scale > 0 ? fmax(out.real, scale * fmax(dequantises ? out.count : 0, 1)) : 0;
  out.unit = dequantises ? 0 : scale;
  out.count = 0;
  return out;
}

hone_status output_steps(struct ctx *ctx, const struct graph *graph, double *out) {
  struct grain *steps = calloc(graph->values.count + 1, sizeof *steps);
  if (!steps) return fail(ctx, HONE_E_OOM, place_none(), "no memory for steps");
  for (size_t n = 0; n < graph->nodes.count; n++) {
    const struct node *node = graph->nodes.at[n];
    struct grain step = node_step(node, steps);
    for (size_t o = 0; o < node->output_count; o++)
      if (node->outputs[o]) steps[node->outputs[o]->index] = step;
  }
  for (size_t i = 0; i < graph->outputs.count; i++) {
    const struct value *value = graph->outputs.at[i];
    struct grain step = steps[value->index];
    out[i] = dtype_is_float(value->dtype) ? step.real
             : step.unit > 0              ? step.real / step.unit
                                          : step.count;
  }
  free(steps);
  return HONE_OK;
}

/* True if activations are quantised, not only weights. */
static bool quantises(const struct node *node) {
  static const enum op_id always[] = {OP_DynamicQuantizeLinear, OP_QLinearMatMul, OP_QLinearConv,
                                      OP_MatMulInteger, OP_ConvInteger};
  for (size_t i = 0; i < COUNT(always); i++)
    if (is_op(node, always[i])) return true;
  return is_op(node, OP_QuantizeLinear) && node->inputs[0] && !node->inputs[0]->constant;
}

const char *file_precision(const struct graph *graph) {
  enum precision found = graph->is_dynamic ? PRECISION_DYNAMIC : PRECISION_FP32;
  for (size_t i = 0; i < graph->nodes.count; i++)
    if (quantises(graph->nodes.at[i])) return precisions[PRECISION_INT8].name;
  for (size_t i = 0; i < graph->values.count && found != PRECISION_BF16; i++)
    if (dtype_is_half(graph->values.at[i]->dtype)) found = precision_of(graph->values.at[i]->dtype);
  return precisions[found].name;
}

const char *judged_precision(const struct graph *graph, const char *asked) {
  const char *own = file_precision(graph);
  const enum precision to = precision_find(asked);
  const bool is_coarser =
      to == PRECISION_BF16 || (to == PRECISION_FP16 && precision_find(own) == PRECISION_FP32);
  return is_coarser ? asked : own;
}
