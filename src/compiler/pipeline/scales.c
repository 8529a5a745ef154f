/* Scales and zero points of quantised inputs and outputs, for the typed header: from the file
 * (TFLite), or from the adjacent operator (QuantizeLinear, DequantizeLinear, the QLinear
 * operators), past operators that only move elements.
 */
#include "pipeline_internal.h"

enum { MOST_MOVES = 16, OUTPUT = -1 };

/* The inputs that are scale and zero point of an operator's input or output. */
static const struct scaled {
  enum op_id op;
  int value; /* an input; or OUTPUT */
  size_t scale, zero_point;
} scaled[] = {

    {OP_DequantizeLinear, 0, 1, 2},   {OP_QuantizeLinear, OUTPUT, 1, 2},
    {OP_QLinearConv, 0, 1, 2},        {OP_QLinearConv, OUTPUT, 6, 7},
    {OP_QLinearMatMul, 0, 1, 2},      {OP_QLinearMatMul, 3, 4, 5},
    {OP_QLinearMatMul, OUTPUT, 6, 7},
};

static bool scalar_of(const struct node *node, size_t i, double otherwise, double *out) {
  const struct value *value = node_input(node, i);
  *out = otherwise;
  if (!value) return otherwise == 0;
  if (!value->constant || tensor_count(value->constant) != 1) return false;
  *out = tensor_f64(value->constant, 0);
  return true;
}

static bool read_scaled(const struct node *node, int value, struct port_scale *out) {
  for (size_t i = 0; i < COUNT(scaled); i++) {
    double scale, zero_point;
    if (!is_op(node, scaled[i].op) || scaled[i].value != value) continue;
    if (!scalar_of(node, scaled[i].scale, -1, &scale) ||
        !scalar_of(node, scaled[i].zero_point, 0, &zero_point))
      return false;
    *out = (struct port_scale){scale, (int64_t)zero_point};
    return true;
  }
  return false;
}

/* Determined by the first node that reads it. */
static void follow_input(const struct graph *graph, const struct value *value,
                         struct port_scale *out) {
  int moves = 0;
  for (size_t n = 0; n < graph->nodes.count && moves < MOST_MOVES; n++) {
    const struct node *node = graph->nodes.at[n];
    for (size_t i = 0; i < node->input_count; i++) {
      if (node->inputs[i] != value) continue;
      if (read_scaled(node, (int)i, out)) return;
      if (i || !moves_elements(node)) continue;
      value = node->outputs[0];
      moves++;
      break;
    }
  }
}

static void follow_output(const struct value *value, struct port_scale *out) {
  for (int moves = 0; value && value->producer && moves < MOST_MOVES; moves++) {
    if (read_scaled(value->producer, OUTPUT, out) || !moves_elements(value->producer)) return;
    value = node_input(value->producer, 0);
  }
}

hone_status find_scales(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                        const struct port_scale **out) {
  struct port_scale *scales;
  const size_t inputs = graph->inputs.count, count = inputs + graph->outputs.count;
  TRY(NEW_ARRAY(ctx, arena, scales, count));
  *out = scales;
  for (size_t i = 0; i < count; i++) {
    const struct value *value = i < inputs ? graph->inputs.at[i] : graph->outputs.at[i - inputs];
    if (!dtype_is_integer(value->dtype)) continue;
    scales[i] = (struct port_scale){value->scale, value->zero_point};
    if (value->scale > 0) continue;
    if (i < inputs)
      follow_input(graph, value, &scales[i]);
    else
      follow_output(value, &scales[i]);
  }
  return HONE_OK;
}
