/* Nodes to NodeProto at the requested opset. The graph has HONE_OPSET; forms that differ in an
 * older opset are rewritten here (axes of reductions as attributes), others are E_UNSUP. Field
 * numbers: onnx.proto. */
#include "compiler/export/export_internal.h"

#include <math.h>

const struct export_domain export_domains[EXPORT_DOMAINS] = {{"ai.onnx.ml", 3},
                                                             {"com.microsoft", 1}};

enum {
  NODE_INPUT = 1,
  NODE_OUTPUT = 2,
  NODE_NAME = 3,
  NODE_OP = 4,
  NODE_ATTRIBUTE = 5,
  NODE_DOMAIN = 7,
  GRAPH_NODE = 1,
  GRAPH_INITIALIZER = 5
};

hone_status export_fresh_name(struct exporter *e, const char **out) {
  return arena_printf(e->ctx, e->arena, out, "%%%llu", (unsigned long long)e->fresh++);
}

/* -- what older opsets lack */

/* Attributes with the opset that introduced them; omitted below it if they have their default. */
static const struct {
  const char *op, *attribute;
  int since;
  int64_t otherwise;
} newer[] = {
    {"AveragePool", "dilations", 19, 1},
    {"Cast", "round_mode", 24, 0},
    {"Cast", "saturate", 19, 1},
    {"CastLike", "saturate", 19, 1},
    {"DequantizeLinear", "block_size", 21, 0},
    {"DequantizeLinear", "output_dtype", 23, 0},
    {"QuantizeLinear", "block_size", 21, 0},
    {"QuantizeLinear", "output_dtype", 21, 0},
    {"QuantizeLinear", "precision", 23, 0},
    {"QuantizeLinear", "saturate", 19, 1},
    {"Resize", "antialias", 18, 0},
};

static bool is_default(const struct attribute *attribute, int64_t otherwise) {
  if (attribute->kind == ATTRIBUTE_INT) return attribute->i == otherwise;
  if (attribute->kind == ATTRIBUTE_STRING) return true; /* round_mode has one portable meaning */
  for (size_t i = 0; i < attribute->count; i++)
    if (attribute->kind != ATTRIBUTE_INTS || attribute->ints[i] != otherwise) return false;
  return true;
}

static int wants_opset(const struct node *node) {
  int opset = node->op->domain[0] ? 0 : node->op->since;
  for (size_t i = 0; i < node->attribute_count; i++)
    for (size_t k = 0; k < COUNT(newer); k++)
      if (!strcmp(newer[k].op, node->op->name) &&
          !strcmp(newer[k].attribute, node->attributes[i].name) && newer[k].since > opset &&
          !is_default(&node->attributes[i], newer[k].otherwise))
        opset = newer[k].since;
  return opset;
}

int export_opset(const struct graph *graph) {
  enum { WIDELY_READ = 17, FOUR_BITS = 21 };
  int opset = WIDELY_READ;
  for (size_t n = 0; n < graph->nodes.count; n++) {
    int wanted = graph->nodes.at[n] ? wants_opset(graph->nodes.at[n]) : 0;
    if (wanted > opset) opset = wanted;
  }
  for (size_t v = 0; v < graph->values.count; v++)
    if (opset < FOUR_BITS && graph->values.at[v]->dtype &&
        dtype_bits(graph->values.at[v]->dtype) == 4)
      opset = FOUR_BITS;
  return opset;
}

static hone_status lacks(const struct exporter *e, const struct node *node, const char *what) {
  return fail(e->ctx, HONE_E_UNSUP, node_place(node), "%s of %s is not available in opset %d", what,
              node->op->name, e->opset);
}

static bool has_axes_attribute(const struct exporter *e, const struct node *node) {
  return e->opset < 18 && !strncmp(node->op->name, "Reduce", 6) && !is_op(node, OP_ReduceSum);
}

/* Equal parts need no attribute; opset 17 has no other form. */
static bool splits_evenly(const struct node *node) {
  const struct value *x = node->inputs[0];
  int64_t axis = node_int(node, "axis", 0);
  if (axis < 0) axis += x->shape.rank;
  return axis < x->shape.rank && x->shape.dims[axis] % (int64_t)node->output_count == 0;
}

static hone_status wants_attribute(const struct exporter *e, const struct node *node,
                                   const struct attribute *attribute, bool *out) {
  *out = true;
  for (size_t i = 0; i < COUNT(newer); i++) {
    if (strcmp(newer[i].op, node->op->name) != 0 || e->opset >= newer[i].since ||
        strcmp(newer[i].attribute, attribute->name) != 0)
      continue;
    *out = false;
    return is_default(attribute, newer[i].otherwise) ? HONE_OK : lacks(e, node, attribute->name);
  }
  /* hone's own attributes: non-negative indices, or a key for every query; frames of a signal;
     rounding of operands */
  if (!strcmp(attribute->name, "within") || !strncmp(attribute->name, "frame_", 6) ||
      (is_op(node, OP_DequantizeLinear) && !strcmp(attribute->name, "a_digits")))
    *out = false;
  if (is_op(node, OP_Split) && e->opset < 18 && !strcmp(attribute->name, "num_outputs")) {
    *out = false;
    return splits_evenly(node) ? HONE_OK : lacks(e, node, attribute->name);
  }
  if (has_axes_attribute(e, node) && !strcmp(attribute->name, "noop_with_empty_axes")) {
    *out = false; /* no effect if there are axes */
    const struct value *axes = node_input(node, 1);
    const bool has_axes = axes && axes->constant && tensor_count(axes->constant);
    return has_axes || attribute->i == 0 ? HONE_OK : lacks(e, node, attribute->name);
  }
  return HONE_OK;
}

static hone_status put_axes(struct exporter *e, struct strbuf *text, const struct node *node) {
  const struct value *axes = node_input(node, 1);
  int64_t ints[HONE_MAX_RANK];
  struct attribute attribute = {.name = "axes", .kind = ATTRIBUTE_INTS, .ints = ints};
  if (!axes) return HONE_OK;
  if (!tensor_read_ints(axes->constant, COUNT(ints), ints, &attribute.count))
    return lacks(e, node, "a computed list of axes");
  return attribute.count ? export_attribute(e, text, &attribute) : HONE_OK;
}

/* -- nodes */

static void put_op(struct exporter *e, struct strbuf *text, const struct op *op, const char *name) {
  if (name && name[0]) pb_string(text, NODE_NAME, name);
  pb_string(text, NODE_OP, op->name);
  if (!op->domain[0]) return;
  pb_string(text, NODE_DOMAIN, op->domain);
  for (size_t d = 0; d < EXPORT_DOMAINS; d++)
    e->uses[d] |= !strcmp(op->domain, export_domains[d].name);
}

static size_t own_inputs(const struct exporter *e, const struct node *node) {
  size_t count = node->input_count;
  if (has_axes_attribute(e, node) && count > 1) count = 1;
  while (count && !node->inputs[count - 1]) count--; /* trailing ones are omitted */
  return count;
}

static size_t used_outputs(const struct node *node) {
  size_t count = node->output_count;
  while (count && !node->outputs[count - 1]) count--;
  return count;
}

static hone_status put_node(struct exporter *e, struct message *graph, const struct node *node,
                            const char *name) {
  struct strbuf text = {0};
  hone_status status = HONE_OK;
  size_t inputs = own_inputs(e, node), outputs = used_outputs(node);
  for (size_t i = 0; i < inputs; i++)
    pb_string(&text, NODE_INPUT, node->inputs[i] ? node->inputs[i]->name : "");
  for (size_t i = 0; i < outputs; i++)
    pb_string(&text, NODE_OUTPUT, node->outputs[i] ? node->outputs[i]->name : "");
  put_op(e, &text, node->op, name);
  for (size_t i = 0; !status && i < node->attribute_count; i++) {
    bool wanted;
    status = wants_attribute(e, node, &node->attributes[i], &wanted);
    if (!status && wanted) status = export_attribute(e, &text, &node->attributes[i]);
  }
  if (!status && has_axes_attribute(e, node)) status = put_axes(e, &text, node);
  if (!status) pb_message(&graph->text, GRAPH_NODE, &text);
  strbuf_deinit(&text);
  return status;
}

hone_status export_node(struct exporter *e, struct message *graph, const struct node *node,
                        const char *name) {
  if (!used_outputs(node)) return HONE_OK;
  if (node->op->since > e->opset) return lacks(e, node, "the operator");
  if (!strcmp(node->op->domain, "hone")) return lacks(e, node, "the domain");
  return put_node(e, graph, node, name);
}
