/* Nodes to NodeProto at the asked opset. The graph speaks HONE_OPSET; what an older opset says in
 * another way is rewritten here (axes of reductions as attributes), what it cannot say is E_UNSUP.
 * A fused program becomes the nodes that it stands for. Field numbers: onnx.proto. */
#include "export_internal.h"

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

/* -- what older opsets lack ------------------------------------------------------------------- */

/* Attributes with the opset that brought them; left out below it where they have their default. */
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
  return fail(e->ctx, HONE_E_UNSUP, node_place(node), "%s of %s cannot be said in opset %d", what,
              node->op->name, e->opset);
}

static bool has_axes_attribute(const struct exporter *e, const struct node *node) {
  return e->opset < 18 && !strncmp(node->op->name, "Reduce", 6) && !is_op(node, OP_ReduceSum);
}

/* Parts of equal size need no attribute; opset 17 knows no others. */
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
  if (is_op(node, OP_Split) && e->opset < 18 && !strcmp(attribute->name, "num_outputs")) {
    *out = false;
    return splits_evenly(node) ? HONE_OK : lacks(e, node, attribute->name);
  }
  if (has_axes_attribute(e, node) && !strcmp(attribute->name, "noop_with_empty_axes")) {
    *out = false; /* says nothing where there are axes */
    const struct value *axes = node_input(node, 1);
    const bool has_axes = axes && axes->constant && tensor_count(axes->constant);
    return has_axes || attribute->i == 0 ? HONE_OK : lacks(e, node, attribute->name);
  }
  return HONE_OK;
}

static hone_status put_axes(struct exporter *e, struct text *text, const struct node *node) {
  const struct value *axes = node_input(node, 1);
  int64_t ints[HONE_MAX_RANK];
  struct attribute attribute = {.name = "axes", .kind = ATTRIBUTE_INTS, .ints = ints};
  if (!axes) return HONE_OK;
  if (!tensor_read_ints(axes->constant, COUNT(ints), ints, &attribute.count))
    return lacks(e, node, "a computed list of axes");
  return attribute.count ? export_attribute(e, text, &attribute) : HONE_OK;
}

/* -- nodes ------------------------------------------------------------------------------------ */

static void put_op(struct exporter *e, struct text *text, const struct op *op, const char *name) {
  if (name && name[0]) pb_string(text, NODE_NAME, name);
  pb_string(text, NODE_OP, op->name);
  if (!op->domain[0]) return;
  pb_string(text, NODE_DOMAIN, op->domain);
  for (size_t d = 0; d < EXPORT_DOMAINS; d++)
    e->uses[d] |= !strcmp(op->domain, export_domains[d].name);
}

static size_t own_inputs(const struct exporter *e, const struct node *node) {
  size_t count = node->input_count - node->fused_input_count;
  if (has_axes_attribute(e, node) && count > 1) count = 1;
  while (count && !node->inputs[count - 1]) count--; /* trailing ones are simply left out */
  return count;
}

static size_t used_outputs(const struct node *node) {
  size_t count = node->output_count;
  while (count && !node->outputs[count - 1]) count--;
  return count;
}

static hone_status put_node(struct exporter *e, struct message *graph, const struct node *node,
                            const char *name, const char *first_output) {
  struct text text = {0};
  hone_status status = HONE_OK;
  size_t inputs = own_inputs(e, node), outputs = used_outputs(node);
  for (size_t i = 0; i < inputs; i++)
    pb_string(&text, NODE_INPUT, node->inputs[i] ? node->inputs[i]->name : "");
  for (size_t i = 0; i < outputs; i++)
    pb_string(&text, NODE_OUTPUT,
              i == 0 && first_output ? first_output
              : node->outputs[i]     ? node->outputs[i]->name
                                     : "");
  put_op(e, &text, node->op, name);
  for (size_t i = 0; !status && i < node->attribute_count; i++) {
    bool wanted;
    status = wants_attribute(e, node, &node->attributes[i], &wanted);
    if (!status && wanted) status = export_attribute(e, &text, &node->attributes[i]);
  }
  if (!status && has_axes_attribute(e, node)) status = put_axes(e, &text, node);
  if (!status) pb_message(&graph->text, GRAPH_NODE, &text);
  text_deinit(&text);
  return status;
}

/* -- fused programs --------------------------------------------------------------------------- */

/* A bound of Clip as an initializer; "" for none. */
static hone_status put_bound(struct exporter *e, struct message *graph,
                             const struct fused_step *step, double bound, const char **out_name) {
  struct tensor *tensor;
  *out_name = "";
  if (isinf(bound)) return HONE_OK;
  TRY(tensor_create(e->ctx, e->arena, step->dtype, &(struct shape){.rank = 0}, &tensor));
  tensor_set_f64(tensor, 0, bound);
  TRY(export_fresh_name(e, out_name));
  return export_tensor(e, graph, GRAPH_INITIALIZER, *out_name, tensor);
}

static hone_status put_float(struct exporter *e, struct text *text, const char *name, double f) {
  struct attribute attribute = {.name = name, .kind = ATTRIBUTE_FLOAT, .f = f};
  return export_attribute(e, text, &attribute);
}

static hone_status put_int(struct exporter *e, struct text *text, const char *name, int64_t i) {
  struct attribute attribute = {.name = name, .kind = ATTRIBUTE_INT, .i = i};
  return export_attribute(e, text, &attribute);
}

/* alpha and beta under the names that ONNX gives them. */
static hone_status put_parameters(struct exporter *e, struct text *text,
                                  const struct fused_step *step) {
  const struct op *op = step->op;
  switch (op->id) {
    case OP_Cast:
      return put_int(e, text, "to", step->dtype);
    case OP_Clip:
      return HONE_OK;
    case OP_Gelu: {
      struct attribute tanh_form = {
          .name = "approximate", .kind = ATTRIBUTE_STRING, .s = {"tanh", 4}};
      return step->alpha > 0 ? export_attribute(e, text, &tanh_form) : HONE_OK;
    }
    case OP_IsInf:
      TRY(put_int(e, text, "detect_negative", step->alpha != 0));
      return put_int(e, text, "detect_positive", step->beta != 0);
    case OP_Selu:
      TRY(put_float(e, text, "alpha", step->alpha));
      return put_float(e, text, "gamma", step->beta);
    case OP_Shrink:
      TRY(put_float(e, text, "lambd", step->alpha));
      return put_float(e, text, "bias", step->beta);
    default:
      break;
  }
  if (op->alpha != 0) TRY(put_float(e, text, "alpha", step->alpha));
  if (op->beta != 0) TRY(put_float(e, text, "beta", step->beta));
  return HONE_OK;
}

static hone_status put_step(struct exporter *e, struct message *graph, const struct node *node,
                            const struct fused_step *step, const char *const *names,
                            const char *self, const char *output) {
  struct text text = {0};
  const char *low = "", *high = "";
  if (step->op->since > e->opset) return lacks(e, node, step->op->name);
  if (step->op->id == OP_Clip) {
    TRY(put_bound(e, graph, step, step->alpha, &low));
    TRY(put_bound(e, graph, step, step->beta, &high));
  }
  for (int a = 0; a < step->arg_count; a++) {
    int arg = step->args[a];
    const char *name = arg == FUSED_SELF ? self
                       : arg >= 0        ? names[arg]
                                         : node->inputs[FUSED_INPUT_INDEX(arg)]->name;
    pb_string(&text, NODE_INPUT, name);
  }
  if (low[0] || high[0]) pb_string(&text, NODE_INPUT, low);
  if (high[0]) pb_string(&text, NODE_INPUT, high);
  pb_string(&text, NODE_OUTPUT, output);
  put_op(e, &text, step->op, "");
  hone_status status = put_parameters(e, &text, step);
  if (!status) pb_message(&graph->text, GRAPH_NODE, &text);
  text_deinit(&text);
  return status;
}

hone_status export_node(struct exporter *e, struct message *graph, const struct node *node,
                        const char *name) {
  const char *self = NULL, **names;
  if (!used_outputs(node)) return HONE_OK;
  if (node->op->since > e->opset) return lacks(e, node, "the operator");
  if (!strcmp(node->op->domain, "hone")) return lacks(e, node, "the domain");
  if (!node->fused_count) return put_node(e, graph, node, name, NULL);
  TRY(export_fresh_name(e, &self));
  TRY(put_node(e, graph, node, name, self));
  TRY(NEW_ARRAY(e->ctx, e->arena, names, node->fused_count));
  for (size_t s = 0; s < node->fused_count; s++) {
    if (s + 1 == node->fused_count)
      names[s] = node->outputs[0]->name;
    else
      TRY(export_fresh_name(e, &names[s]));
    TRY(put_step(e, graph, node, &node->fused[s], names, self, names[s]));
  }
  return HONE_OK;
}
