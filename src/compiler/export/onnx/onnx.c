/* Graph to ONNX ModelProto. Subgraphs are serialised before the graphs that contain them; the
 * outermost message has holes for its weights, so that they are copied once, into the result. The
 * bytes are a pure function of graph and opset. Field numbers: onnx.proto. */
#include "compiler/export/export_internal.h"

#include <stdlib.h>

enum {
  MODEL_IR_VERSION = 1,
  MODEL_PRODUCER = 2,
  MODEL_PRODUCER_VERSION = 3,
  MODEL_GRAPH = 7,
  MODEL_OPSET = 8
};
enum { GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
/* Limit for weights in one file of less than 2 GiB: the rest is for nodes. */
#define MOST_INSIDE ((size_t)2000000000)
enum { IR_VERSION = 8, NEWEST_OPSET_OF_IR_8 = 18, OLDEST_OPSET = 13 };

/* -- graphs */

/* ValueInfoProto { name 1, type 2 { tensor_type 1 { elem_type 1, shape 2 { dim 1 { value 1, name 2 }}}}} */
static const char *open_name(const struct exporter *e, const struct value *value, int axis) {
  for (size_t i = 0; e->open && i < e->open->count; i++)
    if (e->open->at[i].value == value && e->open->at[i].axis == axis) return e->open->at[i].name;
  return NULL;
}

static void put_value_info(const struct exporter *e, struct strbuf *text, unsigned field,
                           const struct value *value) {
  struct strbuf info = {0}, type = {0}, tensor = {0}, shape = {0};
  pb_string(&info, 1, value->name);
  if (value->dtype) {
    pb_int(&tensor, 1, value->dtype);
    for (int i = 0; value->has_shape && i < value->shape.rank; i++) {
      struct strbuf dim = {0};
      const char *name = open_name(e, value, i);
      if (name)
        pb_string(&dim, 2, name);
      else
        pb_int(&dim, 1, value->shape.dims[i]);
      pb_message(&shape, 1, &dim);
    }
    if (value->has_shape) pb_message(&tensor, 2, &shape);
    pb_message(&type, 1, &tensor);
    pb_message(&info, 2, &type);
  }
  pb_message(text, field, &info);
}

/* A constant output needs a node: engines reject initializers as outputs. */
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

/* Engines reject two nodes of one name; a node that was fused or split may share its origin's. The
 * first keeps it, others are called "name#7" after their index. */
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
  for (size_t n = 0; n < graph->nodes.count; n++) {
    const struct node *node = graph->nodes.at[n];
    if (node && is_op(node, OP_SuppressBoxes))
      TRY(export_suppress_boxes(e, message, node, names[n]));
    else if (node)
      TRY(export_node(e, message, node, names[n]));
  }
  pb_string(&message->text, GRAPH_NAME, graph->name && graph->name[0] ? graph->name : "graph");
  for (size_t v = 0; v < graph->values.count; v++) {
    const struct value *value = graph->values.at[v];
    if (value->constant && !value->producer && uses[v]) TRY(put_constant(e, message, value));
  }
  for (size_t i = 0; i < graph->inputs.count; i++)
    put_value_info(e, &message->text, GRAPH_INPUT, graph->inputs.at[i]);
  for (size_t i = 0; i < graph->outputs.count; i++)
    put_value_info(e, &message->text, GRAPH_OUTPUT, graph->outputs.at[i]);
  return HONE_OK;
}

static void put_opset(struct strbuf *out, const char *domain, int version) {
  struct strbuf opset = {0};
  pb_string(&opset, 1, domain);
  pb_int(&opset, 2, version);
  pb_message(out, MODEL_OPSET, &opset);
}

/* IR version 8 was current up to opset 18; a newer opset needs a newer IR version. */
static int ir_version(int opset) {
  if (opset <= NEWEST_OPSET_OF_IR_8) return IR_VERSION;
  return opset <= 20 ? 9 : opset <= 22 ? 10 : opset == 23 ? 11 : opset == 24 ? 12 : 13;
}

static hone_status put_model(struct exporter *e, struct strbuf *out) {
  const struct message *graph = &e->messages[0];
  pb_int(out, MODEL_IR_VERSION, ir_version(e->opset));
  pb_string(out, MODEL_PRODUCER, "hone");
  pb_string(out, MODEL_PRODUCER_VERSION, HONE_VERSION);
  size_t length;
  if (!checked_add(graph->text.length, graph->hole_bytes, &length) || length > INT32_MAX - 4096)
    return fail(e->ctx, HONE_E_LIMIT, place_none(), "an ONNX file holds less than 2.147 GB");
  pb_head(out, MODEL_GRAPH, length);
  message_put(out, graph);
  put_opset(out, "", e->opset);
  for (size_t d = 0; d < EXPORT_DOMAINS; d++)
    if (e->uses[d]) put_opset(out, export_domains[d].name, export_domains[d].version);
  return strbuf_finish(e->ctx, out);
}

static hone_status export_all(struct exporter *e, const struct graph *graph, struct strbuf *out) {
  TRY(graph_nested(e->ctx, e->arena, graph, &e->graphs));
  TRY(NEW_ARRAY(e->ctx, e->arena, e->messages, e->graphs.count));
  for (size_t g = 0; g < e->graphs.count; g++)
    if (e->graphs.at[g]->impossible)
      return fail(e->ctx, HONE_E_UNSUP, place_none(),
                  "an If branch that can only fail is not written");
  for (size_t g = e->graphs.count; g-- > 0;) TRY(put_graph(e, e->graphs.at[g], &e->messages[g]));
  TRY(export_side_end(e));
  return put_model(e, out);
}

hone_status export_onnx_side(struct ctx *ctx, const struct graph *graph, int opset,
                             const struct open_dimensions *open, struct export_side *side,
                             struct strbuf *out_bytes) {
  struct exporter e = {
      .ctx = ctx, .opset = opset, .open = open, .side = side, .fresh = graph->fresh};
  if (opset < OLDEST_OPSET || opset > HONE_OPSET)
    return fail(ctx, HONE_E_USAGE, place_none(), "opsets %d to %d can be written, not %d",
                OLDEST_OPSET, HONE_OPSET, opset);
  TRY(arena_create(ctx, 0, &e.arena));
  hone_status status = export_all(&e, graph, out_bytes);
  for (size_t g = 0; e.messages && g < e.graphs.count; g++) strbuf_deinit(&e.messages[g].text);
  arena_destroy(e.arena);
  return status;
}

hone_status export_onnx_open(struct ctx *ctx, const struct graph *graph, int opset,
                             const struct open_dimensions *open, struct strbuf *out_bytes) {
  return export_onnx_side(ctx, graph, opset, open, NULL, out_bytes);
}

hone_status export_onnx(struct ctx *ctx, const struct graph *graph, int opset,
                        struct strbuf *out_bytes) {
  return export_onnx_side(ctx, graph, opset, NULL, NULL, out_bytes);
}

/* -- files */

/* Total size of the constants that are written, once per graph that contains them; an overestimate
 * does no harm. */
static size_t constant_bytes(const struct graph *graph) {
  size_t bytes = 0;
  for (size_t v = 0; v < graph->values.count; v++) {
    const struct value *value = graph->values.at[v];
    if (!value->constant || value->producer) continue;
    if (!checked_add(bytes, value->constant->bytes, &bytes)) return SIZE_MAX;
  }
  return bytes;
}

/* Writes the weights first, so that a model is never combined with the weights of another. */
static hone_status write_with_side(struct ctx *ctx, const struct graph *graph,
                                   const struct open_dimensions *open, const char *path,
                                   unsigned mode, struct arena *arena) {
  const char *slash = strrchr(path, '/'), *location, *beside;
  struct export_side side = {.arena = arena};
  struct strbuf bytes = {0};
  TRY(arena_printf(ctx, arena, &location, "%s.data", slash ? slash + 1 : path));
  TRY(arena_printf(ctx, arena, &beside, "%s.data", path));
  side.location = location;
  hone_status status = output_check(ctx, beside, OUTPUT_WEIGHTS, NULL, 0);
  if (!status) status = export_onnx_side(ctx, graph, export_opset(graph), open, &side, &bytes);
  if (!status) status = file_write_parts(ctx, beside, side.at, side.count, mode);
  if (!status) status = file_write_atomic(ctx, path, bytes.at, bytes.length, mode);
  strbuf_deinit(&bytes);
  return status;
}

hone_status export_onnx_file(struct ctx *ctx, const struct graph *graph,
                             const struct open_dimensions *open, const char *path, unsigned mode) {
  struct arena *arena;
  struct strbuf bytes = {0};
  hone_status status;
  if (constant_bytes(graph) > MOST_INSIDE) {
    TRY(arena_create(ctx, 0, &arena));
    status = write_with_side(ctx, graph, open, path, mode, arena);
    arena_destroy(arena);
    return status;
  }
  status = export_onnx_open(ctx, graph, export_opset(graph), open, &bytes);
  if (!status) status = file_write_atomic(ctx, path, bytes.at, bytes.length, mode);
  strbuf_deinit(&bytes);
  return status;
}
