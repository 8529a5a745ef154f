/* Parts of messages: tensors, with holes for their payload, and attributes. Field numbers:
 * onnx.proto. */
#include "compiler/export/export_internal.h"

enum {
  TENSOR_DIMS = 1,
  TENSOR_TYPE = 2,
  TENSOR_STRINGS = 6,
  TENSOR_NAME = 8,
  TENSOR_RAW = 9,
  TENSOR_EXTERNAL = 13,
  TENSOR_LOCATION = 14
};
enum { LOCATION_EXTERNAL = 1, ENTRY_KEY = 1, ENTRY_VALUE = 2 };
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
enum { COPIED_BYTES = 4096 };

/* -- tensors */

static void put_tensor_head(struct strbuf *text, const char *name, const struct tensor *tensor) {
  pb_ints(text, TENSOR_DIMS, tensor->shape.dims, (size_t)tensor->shape.rank);
  pb_int(text, TENSOR_TYPE, tensor->dtype);
  if (name) pb_string(text, TENSOR_NAME, name);
  if (tensor->dtype != HONE_STRING) return;
  size_t count = tensor_count(tensor);
  const struct string *strings = tensor->data;
  for (size_t i = 0; i < count; i++)
    pb_bytes(text, TENSOR_STRINGS, strings[i].bytes, strings[i].length);
}

/* -- side files */

static void put_entry(struct strbuf *text, const char *key, const char *value) {
  struct strbuf entry = {0};
  pb_string(&entry, ENTRY_KEY, key);
  pb_string(&entry, ENTRY_VALUE, value);
  pb_message(text, TENSOR_EXTERNAL, &entry);
}

static hone_status add_part(struct exporter *e, const void *data, size_t size) {
  const struct file_part part = {data, size};
  VEC_PUSH(e->ctx, e->side->arena, e->side, part);
  if (checked_add(e->side->bytes, size, &e->side->bytes)) return HONE_OK;
  return fail(e->ctx, HONE_E_LIMIT, place_none(), "the weights of this model have no end");
}

static hone_status put_beside(struct exporter *e, struct strbuf *head,
                              const struct tensor *tensor) {
  static const char zeros[EXPORT_SIDE_ALIGNMENT];
  char offset[32], length[32];
  const size_t over = e->side->bytes % EXPORT_SIDE_ALIGNMENT;
  if (over) TRY(add_part(e, zeros, EXPORT_SIDE_ALIGNMENT - over));
  snprintf(offset, sizeof offset, "%zu", e->side->bytes);
  snprintf(length, sizeof length, "%zu", tensor->bytes);
  TRY(add_part(e, tensor->data, tensor->bytes));
  put_entry(head, "location", e->side->location);
  put_entry(head, "offset", offset);
  put_entry(head, "length", length);
  pb_int(head, TENSOR_LOCATION, LOCATION_EXTERNAL);
  return HONE_OK;
}

hone_status export_side_end(struct exporter *e) {
  static const char mark[64] = "hone weights 1\n"; /* recognised by outputs.def */
  return e->side ? add_part(e, mark, sizeof mark) : HONE_OK;
}

hone_status export_tensor(struct exporter *e, struct message *graph, unsigned field,
                          const char *name, const struct tensor *tensor) {
  struct strbuf head = {0};
  put_tensor_head(&head, name, tensor);
  if (tensor->dtype == HONE_STRING) {
    pb_message(&graph->text, field, &head);
    return HONE_OK;
  }
  if (e->side && tensor->bytes > COPIED_BYTES) {
    hone_status status = put_beside(e, &head, tensor);
    pb_message(&graph->text, field, &head);
    return status;
  }
  pb_head(&head, TENSOR_RAW, tensor->bytes);
  size_t length;
  if (!checked_add(head.length, tensor->bytes, &length)) length = SIZE_MAX;
  pb_head(&graph->text, field, length);
  strbuf_append(&graph->text, head.at ? head.at : "", head.length);
  graph->text.failed |= head.failed;
  strbuf_deinit(&head);
  if (tensor->bytes <= COPIED_BYTES) {
    strbuf_append(&graph->text, tensor->data, tensor->bytes);
    return HONE_OK;
  }
  struct hole hole = {graph->text.length, tensor->bytes, tensor->data};
  VEC_PUSH(e->ctx, e->arena, &graph->holes, hole);
  if (!checked_add(graph->hole_bytes, tensor->bytes, &graph->hole_bytes))
    graph->hole_bytes = SIZE_MAX / 2;
  return HONE_OK;
}

void message_put(struct strbuf *out, const struct message *message) {
  size_t at = 0;
  for (size_t i = 0; i < message->holes.count; i++) {
    const struct hole *hole = &message->holes.at[i];
    strbuf_append(out, message->text.at + at, hole->at - at);
    strbuf_append(out, hole->data, hole->bytes);
    at = hole->at;
  }
  if (message->text.at) strbuf_append(out, message->text.at + at, message->text.length - at);
  if (message->text.failed) out->failed = true;
}

/* -- attributes */

static const struct message *message_of(const struct exporter *e, const struct graph *graph) {
  for (size_t g = 0; g < e->graphs.count; g++)
    if (e->graphs.at[g] == graph) return &e->messages[g];
  return NULL;
}

static hone_status put_graph_attribute(struct exporter *e, struct strbuf *text,
                                       const struct graph *graph) {
  const struct message *message = message_of(e, graph);
  if (!message) return fail(e->ctx, HONE_E_INTERNAL, place_none(), "a subgraph is missing");
  pb_head(text, ATTRIBUTE_FIELD_G, message->text.length + message->hole_bytes);
  message_put(text, message);
  return HONE_OK;
}

static void put_tensor_attribute(struct strbuf *text, const struct tensor *tensor) {
  struct strbuf inner = {0};
  put_tensor_head(&inner, NULL, tensor);
  if (tensor->dtype != HONE_STRING) pb_bytes(&inner, TENSOR_RAW, tensor->data, tensor->bytes);
  pb_message(text, ATTRIBUTE_FIELD_T, &inner);
}

hone_status export_attribute(struct exporter *e, struct strbuf *node,
                             const struct attribute *attribute) {
  struct strbuf text = {0};
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
