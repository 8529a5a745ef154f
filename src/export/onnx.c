/* Graph to ONNX ModelProto. Inner graphs are serialised before the ones around them; the outermost
 * message keeps holes for its weights, so that they are copied once, into the result. The bytes are
 * a pure function of graph and opset. Field numbers: onnx.proto. */
#include "export_internal.h"

#include <stdlib.h>

enum {
  MODEL_IR_VERSION = 1,
  MODEL_PRODUCER = 2,
  MODEL_PRODUCER_VERSION = 3,
  MODEL_GRAPH = 7,
  MODEL_OPSET = 8
};
enum { GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_STRINGS = 6, TENSOR_NAME = 8, TENSOR_RAW = 9 };
enum {
  ATTRIBUTE_FIELD_NAME = 1,
  ATTRIBUTE_FIELD_F = 2,
  ATTRIBUTE_FIELD_I = 3,
  ATTRIBUTE_FIELD_S = 4,
  ATTRIBUTE_FIELD_T = 5,
  ATTRIBUTE_FIELD_G = 6,
  ATTRIBUTE_FIELD_FLOATS = 7,
  ATTRIBUTE_FIELD_INTS = 8,
  ATTRIBUTE_FIELD_STRINGS = 9,
  ATTRIBUTE_FIELD_TYPE = 20,
  NODE_ATTRIBUTE_FIELD = 5
};
enum { IR_VERSION = 8, NEWEST_OPSET_OF_IR_8 = 18, OLDEST_OPSET = 13, COPIED_BYTES = 4096 };

/* -- tensors ---------------------------------------------------------------------------------- */

static void put_tensor_head(struct text *text, const char *name, const struct tensor *tensor) {
  pb_ints(text, TENSOR_DIMS, tensor->shape.dims, (size_t)tensor->shape.rank);
  pb_int(text, TENSOR_TYPE, tensor->dtype);
  if (name) pb_string(text, TENSOR_NAME, name);
  if (tensor->dtype != HONE_STRING) return;
  size_t count = tensor_count(tensor);
  const struct string *strings = tensor->data;
  for (size_t i = 0; i < count; i++)
    pb_bytes(text, TENSOR_STRINGS, strings[i].bytes, strings[i].length);
}

hone_status export_tensor(struct exporter *e, struct message *graph, unsigned field,
                          const char *name, const struct tensor *tensor) {
  struct text head = {0};
  put_tensor_head(&head, name, tensor);
  if (tensor->dtype == HONE_STRING) {
    pb_message(&graph->text, field, &head);
    return HONE_OK;
  }
  pb_head(&head, TENSOR_RAW, tensor->bytes);
  size_t length;
  if (!checked_add(head.length, tensor->bytes, &length)) length = SIZE_MAX;
  pb_head(&graph->text, field, length);
  text_append(&graph->text, head.at ? head.at : "", head.length);
  graph->text.failed |= head.failed;
  text_deinit(&head);
  if (tensor->bytes <= COPIED_BYTES) {
    text_append(&graph->text, tensor->data, tensor->bytes);
    return HONE_OK;
  }
  struct hole hole = {graph->text.length, tensor->bytes, tensor->data};
  VEC_PUSH(e->ctx, e->arena, &graph->holes, hole);
  if (!checked_add(graph->hole_bytes, tensor->bytes, &graph->hole_bytes))
    graph->hole_bytes = SIZE_MAX / 2;
  return HONE_OK;
}

/* Appends the message with its holes filled. */
static void put_filled(struct text *out, const struct message *message) {
  size_t at = 0;
  for (size_t i = 0; i < message->holes.count; i++) {
    const struct hole *hole = &message->holes.at[i];
    text_append(out, message->text.at + at, hole->at - at);
    text_append(out, hole->data, hole->bytes);
    at = hole->at;
  }
  if (message->text.at) text_append(out, message->text.at + at, message->text.length - at);
  if (message->text.failed) out->failed = true;
}

/* -- attributes ------------------------------------------------------------------------------- */

static const struct message *message_of(const struct exporter *e, const struct graph *graph) {
  for (size_t g = 0; g < e->graphs.count; g++)
    if (e->graphs.at[g] == graph) return &e->messages[g];
  return NULL;
}

static hone_status put_graph_attribute(struct exporter *e, struct text *text,
                                       const struct graph *graph) {
  const struct message *message = message_of(e, graph);
  if (!message) return fail(e->ctx, HONE_E_INTERNAL, place_none(), "a nested graph is missing");
  pb_head(text, ATTRIBUTE_FIELD_G, message->text.length + message->hole_bytes);
  put_filled(text, message);
  return HONE_OK;
}

static void put_tensor_attribute(struct text *text, const struct tensor *tensor) {
  struct text inner = {0};
  put_tensor_head(&inner, NULL, tensor);
  if (tensor->dtype != HONE_STRING) pb_bytes(&inner, TENSOR_RAW, tensor->data, tensor->bytes);
  pb_message(text, ATTRIBUTE_FIELD_T, &inner);
}

hone_status export_attribute(struct exporter *e, struct text *node,
                             const struct attribute *attribute) {
  struct text text = {0};
  hone_status status = HONE_OK;
  pb_string(&text, ATTRIBUTE_FIELD_NAME, attribute->name);
  switch (attribute->kind) {
    case ATTRIBUTE_FLOAT:
      pb_float(&text, ATTRIBUTE_FIELD_F, (float)attribute->f);
      break;
    case ATTRIBUTE_INT:
      pb_int(&text, ATTRIBUTE_FIELD_I, attribute->i);
      break;
    case ATTRIBUTE_STRING:
      pb_bytes(&text, ATTRIBUTE_FIELD_S, attribute->s.bytes, attribute->s.length);
      break;
    case ATTRIBUTE_TENSOR:
      put_tensor_attribute(&text, attribute->tensor);
      break;
    case ATTRIBUTE_GRAPH:
      status = put_graph_attribute(e, &text, attribute->graph);
      break;
    case ATTRIBUTE_FLOATS:
      pb_floats(&text, ATTRIBUTE_FIELD_FLOATS, attribute->floats, attribute->count);
      break;
    case ATTRIBUTE_INTS:
      pb_ints(&text, ATTRIBUTE_FIELD_INTS, attribute->ints, attribute->count);
      break;
    case ATTRIBUTE_STRINGS:
      for (size_t i = 0; i < attribute->count; i++)
        pb_bytes(&text, ATTRIBUTE_FIELD_STRINGS, attribute->strings[i].bytes,
                 attribute->strings[i].length);
      break;
  }
  pb_int(&text, ATTRIBUTE_FIELD_TYPE, attribute->kind);
  pb_message(node, NODE_ATTRIBUTE_FIELD, &text);
  return status;
}

/* -- graphs ----------------------------------------------------------------------------------- */

/* ValueInfoProto { name 1, type 2 { tensor_type 1 { elem_type 1, shape 2 { dim 1 { value 1 }}}}} */
static void put_value_info(struct text *text, unsigned field, const struct value *value) {
  struct text info = {0}, type = {0}, tensor = {0}, shape = {0};
  pb_string(&info, 1, value->name);
  if (value->dtype) {
    pb_int(&tensor, 1, value->dtype);
    for (int i = 0; value->has_shape && i < value->shape.rank; i++) {
      struct text dim = {0};
      pb_int(&dim, 1, value->shape.dims[i]);
      pb_message(&shape, 1, &dim);
    }
    if (value->has_shape) pb_message(&tensor, 2, &shape);
    pb_message(&type, 1, &tensor);
    pb_message(&info, 2, &type);
  }
  pb_message(text, field, &info);
}

/* An output that is a constant needs a node behind it: engines refuse initializers as outputs. */
static hone_status put_constant(struct exporter *e, struct message *message,
                                const struct value *value) {
  const char *name = value->name;
  if (!value->is_output) return export_tensor(e, message, GRAPH_INITIALIZER, name, value->constant);
  struct value inner = *value, outer = *value;
  struct value *inputs[] = {&inner}, *outputs[] = {&outer};
  struct node identity = {.op = op_find("", "Identity"),
                          .name = "",
                          .index = -1,
                          .input_count = 1,
                          .output_count = 1,
                          .inputs = inputs,
                          .outputs = outputs};
  TRY(export_fresh_name(e, &inner.name));
  TRY(export_tensor(e, message, GRAPH_INITIALIZER, inner.name, value->constant));
  return export_node(e, message, &identity, "");
}

struct named {
  const char *name;
  size_t node;
};

static int by_name(const void *a, const void *b) {
  const struct named *x = a, *y = b;
  int order = strcmp(x->name, y->name);
  return order ? order : (x->node > y->node) - (x->node < y->node);
}

/* Engines refuse two nodes of one name; what was fused or split on import may share its origin's. The first keeps
   it, another is called "name#7" after its place. */
static hone_status unique_names(struct exporter *e, const struct graph *graph, const char ***out) {
  struct named *sorted;
  size_t count = 0;
  TRY(NEW_ARRAY(e->ctx, e->arena, *out, graph->nodes.count));
  TRY(NEW_ARRAY(e->ctx, e->arena, sorted, graph->nodes.count));
  for (size_t n = 0; n < graph->nodes.count; n++) {
    const struct node *node = graph->nodes.at[n];
    (*out)[n] = node && node->name ? node->name : "";
    if (*(*out)[n]) sorted[count++] = (struct named){(*out)[n], n};
  }
  qsort(sorted, count, sizeof *sorted, by_name);
  for (size_t i = 1; i < count; i++)
    if (!strcmp(sorted[i].name, sorted[i - 1].name))
      TRY(arena_printf(e->ctx, e->arena, &(*out)[sorted[i].node], "%s#%zu", sorted[i].name,
                       sorted[i].node));
  return HONE_OK;
}

static hone_status put_graph(struct exporter *e, const struct graph *graph,
                             struct message *message) {
  uint32_t *uses;
  const char **names;
  TRY(graph_uses(e->ctx, e->arena, graph, &uses));
  TRY(unique_names(e, graph, &names));
  for (size_t n = 0; n < graph->nodes.count; n++)
    if (graph->nodes.at[n]) TRY(export_node(e, message, graph->nodes.at[n], names[n]));
  pb_string(&message->text, GRAPH_NAME, graph->name && graph->name[0] ? graph->name : "graph");
  for (size_t v = 0; v < graph->values.count; v++) {
    const struct value *value = graph->values.at[v];
    if (value->constant && !value->producer && uses[v]) TRY(put_constant(e, message, value));
  }
  for (size_t i = 0; i < graph->inputs.count; i++)
    put_value_info(&message->text, GRAPH_INPUT, graph->inputs.at[i]);
  for (size_t i = 0; i < graph->outputs.count; i++)
    put_value_info(&message->text, GRAPH_OUTPUT, graph->outputs.at[i]);
  return HONE_OK;
}

const struct export_domain export_domains[EXPORT_DOMAINS] = {{"ai.onnx.ml", 3},
                                                             {"com.microsoft", 1}};

static void put_opset(struct text *out, const char *domain, int version) {
  struct text opset = {0};
  pb_string(&opset, 1, domain);
  pb_int(&opset, 2, version);
  pb_message(out, MODEL_OPSET, &opset);
}

/* IR version 8 was current up to opset 18; a newer opset needs the IR version that knows it. */
static int ir_version(int opset) {
  if (opset <= NEWEST_OPSET_OF_IR_8) return IR_VERSION;
  return opset <= 20 ? 9 : opset <= 22 ? 10 : opset == 23 ? 11 : opset == 24 ? 12 : 13;
}

static hone_status put_model(struct exporter *e, struct text *out) {
  const struct message *graph = &e->messages[0];
  pb_int(out, MODEL_IR_VERSION, ir_version(e->opset));
  pb_string(out, MODEL_PRODUCER, "hone");
  pb_string(out, MODEL_PRODUCER_VERSION, HONE_VERSION);
  size_t length;
  if (!checked_add(graph->text.length, graph->hole_bytes, &length) || length > INT32_MAX - 4096)
    return fail(e->ctx, HONE_E_LIMIT, place_none(), "an ONNX file holds less than 2.147 GB");
  pb_head(out, MODEL_GRAPH, length);
  put_filled(out, graph);
  put_opset(out, "", e->opset);
  for (size_t d = 0; d < EXPORT_DOMAINS; d++)
    if (e->uses[d]) put_opset(out, export_domains[d].name, export_domains[d].version);
  return text_finish(e->ctx, out);
}

static hone_status export_all(struct exporter *e, const struct graph *graph, struct text *out) {
  TRY(graph_nested(e->ctx, e->arena, graph, &e->graphs));
  TRY(NEW_ARRAY(e->ctx, e->arena, e->messages, e->graphs.count));
  for (size_t g = 0; g < e->graphs.count; g++)
    if (e->graphs.at[g]->impossible)
      return fail(e->ctx, HONE_E_UNSUP, place_none(), "a branch that cannot run is not written");
  for (size_t g = e->graphs.count; g-- > 0;) TRY(put_graph(e, e->graphs.at[g], &e->messages[g]));
  return put_model(e, out);
}

hone_status export_onnx(struct ctx *ctx, const struct graph *graph, int opset,
                        struct text *out_bytes) {
  struct exporter e = {.ctx = ctx, .opset = opset, .fresh = graph->fresh};
  if (opset < OLDEST_OPSET || opset > HONE_OPSET)
    return fail(ctx, HONE_E_USAGE, place_none(), "opsets %d to %d can be written, not %d",
                OLDEST_OPSET, HONE_OPSET, opset);
  TRY(arena_create(ctx, 0, &e.arena));
  hone_status status = export_all(&e, graph, out_bytes);
  for (size_t g = 0; e.messages && g < e.graphs.count; g++) text_deinit(&e.messages[g].text);
  arena_destroy(e.arena);
  return status;
}
