/* Features of a model's graph, a machine and a configuration. */
#include "predict.h"

#include <jansson.h>
#include <math.h>

static double lg(double x) { return log2(fmax(x, 1e-9)); }

const char *const feature_names[FEATURE_COUNT] = {
#define FEATURE(name, expression, help, absent) #name,
#include "features.def"
#undef FEATURE
};

double roofline_s(const struct model_facts *m, const struct machine_facts *p) {
  return fmax(m->flops / fmax(p->flops, 1), m->weight_bytes / fmax(p->bandwidth, 1)) + 1e-9;
}

void features_fill(const struct model_facts *m, const struct run_setup *h,
                   const struct machine_facts *p, float out[FEATURE_COUNT]) {
#define FEATURE(name, expression, help, absent) out[FEATURE_##name] = (float)(expression);
#include "features.def"
#undef FEATURE
}

static void add_values(struct value *const *values, size_t count, struct model_facts *f) {
  for (size_t i = 0; i < count; i++) {
    int64_t elements;
    if (!values[i] || !shape_count(&values[i]->shape, &elements)) continue;
    const unsigned bits = dtype_bits(values[i]->dtype);
    const double bytes = (double)elements * bits / 8;
    f->value_bytes += bytes;
    if (bits <= 8) f->int8_bytes += bytes;
    if (bits == 16) f->half_bytes += bytes;
    f->largest_bytes = fmax(f->largest_bytes, bytes);
  }
}

static void add_node(const struct node *node, struct model_facts *f) {
  double flops, bytes;
  node_cost(node, &flops, &bytes);
  f->nodes++;
  f->flops += flops;
  f->bytes += bytes;
  const bool is_conv = is_op(node, OP_Conv) || is_op(node, OP_ConvInteger) ||
                       is_op(node, OP_ConvTranspose) || is_op(node, OP_QLinearConv);
  if (is_conv && node->input_count > 1 && node->inputs[1] && node->inputs[1]->shape.rank > 1) {
    const bool is_grouped = node->inputs[0] && node->inputs[0]->shape.rank > 1 &&
                            node->inputs[1]->shape.dims[1] < node->inputs[0]->shape.dims[1];
    *(is_grouped ? &f->depthwise_flops : &f->conv_flops) += flops;
    return;
  }
  switch (node->op->class) {
    case OP_CONTRACTION:
      f->matmul_flops += flops;
      break;
    case OP_ELEMENTWISE:
      f->elementwise_nodes++;
      break;
    case OP_MOVEMENT:
    case OP_INDEXED:
    case OP_GENERATOR:
      f->movement_nodes++;
      break;
    case OP_RECURRENT:
    case OP_CONTROL:
      f->recurrent_nodes++;
      break;
    default:
      f->reduction_nodes++;
      break;
  }
}

void facts_of_graph(const struct graph *graph, struct model_facts *out) {
  *out = (struct model_facts){0};
  for (size_t i = 0; i < graph->nodes.count; i++) {
    const struct node *node = graph->nodes.at[i];
    add_node(node, out);
    add_values(node->outputs, node->output_count, out);
  }
  for (size_t i = 0; i < graph->values.count; i++)
    if (graph->values.at[i]->constant)
      out->weight_bytes += (double)graph->values.at[i]->constant->bytes;
  for (size_t i = 0; i < graph->inputs.count; i++) {
    int64_t elements;
    if (shape_count(&graph->inputs.at[i]->shape, &elements))
      out->input_bytes += (double)elements * dtype_bits(graph->inputs.at[i]->dtype) / 8;
  }
}

bool facts_of_machine(const char *machine_json, int threads, struct machine_facts *out) {
  json_error_t error;
  json_t *root = json_loads(machine_json, 0, &error), *peak;
  bool found = false;
  size_t i;
  json_array_foreach(json_object_get(root, "peaks"), i, peak) {
    if (json_integer_value(json_object_get(peak, "threads")) != threads) continue;
    const json_t *curve = json_object_get(peak, "read_gb_per_s");
    /* the bandwidth of the largest working set */
    const json_t *last = json_array_get(curve, json_array_size(curve) - 1);
    out->flops = 1e9 * json_number_value(json_object_get(peak, "f32_gflops"));
    out->bandwidth = 1e9 * json_number_value(json_array_get(last, 1));
    found = out->flops > 0 && out->bandwidth > 0;
  }
  json_decref(root);
  return found;
}
