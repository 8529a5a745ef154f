/* tflite: a graph as a TFLite file: its inputs, its nodes by their rules (rules.c), a tensor for
 * each output. */
#include "tflite.h"

/* Each output has its own tensor: inputs, constants and tensors that are outputs already are
 * copied. */
static int32_t output_tensor(struct lite *l, const struct value *value) {
  const int32_t tensor = lite_plain(l, value);
  if (l->status) return 0;
  const struct lite_tensor *at = &l->tensors.at[tensor];
  if (at->producer >= 0 && !at->name[0]) return tensor;
  const int32_t sizes = lite_ints(l, value->shape.dims, (size_t)value->shape.rank);
  return lite_put(l, LITE_RESHAPE, LITE_INPUTS(tensor, sizes), NULL, 0, value->dtype,
                  &value->shape);
}

static hone_status check_value(struct lite *l, const struct value *value) {
  if (value_is_open(value))
    return fail(l->ctx, HONE_E_UNSUP, place_name(value->name),
                "dynamic dimensions are not written");
  return HONE_OK;
}

/* Removes unused tensors: transposed weights exist in both layouts, but one is read. The graph's
 * inputs stay first. */
static hone_status drop_unread(struct lite *l) {
  int32_t *to, kept = 0;
  const size_t inputs = l->graph->inputs.count, outputs = l->graph->outputs.count;
  TRY(NEW_ARRAY(l->ctx, l->arena, to, l->tensors.count + 1));
  for (size_t i = 0; i < inputs; i++) to[i] = 1;
  for (size_t i = 0; i < outputs; i++) to[l->outputs[i]] = 1;
  for (size_t n = 0; n < l->operators.count; n++) {
    const struct lite_operator *op = &l->operators.at[n];
    for (size_t k = 0; k < op->input_count; k++)
      if (op->inputs[k] >= 0) to[op->inputs[k]] = 1;
    for (size_t k = 0; k < op->output_count; k++) to[op->outputs[k]] = 1;
  }
  for (size_t i = 0; i < l->tensors.count; i++) {
    if (!to[i]) continue;
    l->tensors.at[kept] = l->tensors.at[i];
    to[i] = kept++;
  }
  l->tensors.count = (size_t)kept;
  for (size_t n = 0; n < l->operators.count; n++) {
    const struct lite_operator *op = &l->operators.at[n];
    for (size_t k = 0; k < op->input_count; k++)
      if (op->inputs[k] >= 0) op->inputs[k] = to[op->inputs[k]];
    for (size_t k = 0; k < op->output_count; k++) op->outputs[k] = to[op->outputs[k]];
  }
  for (size_t i = 0; i < outputs; i++) l->outputs[i] = to[l->outputs[i]];
  return HONE_OK;
}

static hone_status put_graph(struct lite *l, struct strbuf *out) {
  const struct graph *graph = l->graph;
  TRY(NEW_ARRAY(l->ctx, l->arena, l->values, graph->values.count + 1));
  TRY(NEW_ARRAY(l->ctx, l->arena, l->outputs, graph->outputs.count + 1));
  TRY(graph_uses(l->ctx, l->arena, graph, &l->uses));
  TRY(lite_find_quantised(l));
  for (size_t i = 0; i < graph->inputs.count; i++) {
    const struct value *value = graph->inputs.at[i];
    TRY(check_value(l, value));
    const int32_t tensor = lite_tensor(l, value->dtype, &value->shape);
    TRY(l->status);
    l->tensors.at[tensor].name = value->name;
    l->values[value->index].plain = tensor + 1;
  }
  for (size_t n = 0; n < graph->nodes.count; n++) {
    const struct node *node = graph->nodes.at[n];
    if (!node) continue;
    for (size_t k = 0; k < node->output_count; k++)
      if (node->outputs[k]) TRY(check_value(l, node->outputs[k]));
    lite_node(l, node);
    TRY(l->status);
  }
  for (size_t i = 0; i < graph->outputs.count; i++) {
    const int32_t tensor = output_tensor(l, graph->outputs.at[i]);
    TRY(l->status);
    l->tensors.at[tensor].name = graph->outputs.at[i]->name;
    l->outputs[i] = tensor;
  }
  TRY(drop_unread(l));
  return lite_write(l, out);
}

hone_status export_tflite(struct ctx *ctx, const struct graph *graph, struct strbuf *out) {
  struct lite l = {.ctx = ctx, .graph = graph, .rule_of = lite_rule_of};
  TRY(arena_create(ctx, 0, &l.arena));
  const hone_status status = put_graph(&l, out);
  arena_destroy(l.arena);
  return status;
}
