/* hybrid: parts of a model on several engines in this process, one after the other. The option
 * `parts` has the cuts: "native:12+onnxruntime" runs the nodes before the 12th in native and the
 * rest in ONNX Runtime; `hone hybrid` finds them. Values between parts are not copied: one engine
 * writes them where the next reads them. `engine.NAME` is the path of an engine that is not
 * installed by hone.
 */
#include "backends.h"

#include <math.h>
#include <stdlib.h>

struct one {
  struct part part;
  size_t *inputs, *outputs; /* in the part graph's order: index in the whole graph */
};
struct session {
  struct arena *arena;
  struct model model;
  struct hybrid_plan plan;
  size_t count; /* number of parts */
  struct one parts[HYBRID_MOST_PARTS];
  void **memory; /* by value: memory of values between parts */
};

/* -- which parts */

static hone_status read_part(struct ctx *ctx, struct hybrid_plan *s, const char *word, bool is_last,
                             size_t nodes) {
  char name[64];
  const char *colon = strchr(word, ':');
  const size_t before = s->count ? s->ends[s->count - 1] : 0;
  int64_t end = (int64_t)nodes;
  snprintf(name, sizeof name, "%.*s", (int)(colon ? colon - word : (ptrdiff_t)strlen(word)), word);
  if (s->count == HYBRID_MOST_PARTS)
    return fail(ctx, HONE_E_USAGE, place_name("parts"), "more than %d parts", HYBRID_MOST_PARTS);
  if (is_last != !colon || (colon && !parse_i64(colon + 1, (int64_t)before + 1, end - 1, &end)))
    return fail(ctx, HONE_E_USAGE, place_name("parts"),
                "\"%s\": NAME:NODE with a node from %zu to %zu, the last part without one", word,
                before + 1, nodes - 1);
  const struct backend *engine = backend_find(name);
  if (!engine || !part_can_be(engine))
    return fail(ctx, HONE_E_USAGE, place_name(name),
                "is not an engine that runs ONNX in hone's process");
  s->ends[s->count] = (size_t)end;
  s->engines[s->count++] = engine;
  return HONE_OK;
}

hone_status hybrid_read_plan(struct ctx *ctx, const char *options, size_t nodes,
                             struct hybrid_plan *out) {
  char key[64], value[256], words[256] = "";
  for (const char *at = options; option_next(&at, key, value);) {
    if (!strcmp(key, "parts"))
      snprintf(words, sizeof words, "%s", value);
    else if (strncmp(key, "engine.", 7))
      return fail(ctx, HONE_E_USAGE, place_name(key),
                  "is not an option of hybrid; it has parts and engine.NAME");
  }
  out->count = 0;
  if (!words[0])
    return fail(ctx, HONE_E_USAGE, place_name("hybrid"),
                "--backend-option hybrid.parts=NAME:NODE+NAME is missing; hone hybrid MODEL finds "
                "one");
  for (char *at = words; at;) {
    char *plus = strchr(at, '+');
    if (plus) *plus = 0;
    TRY(read_part(ctx, out, at, !plus, nodes));
    at = plus ? plus + 1 : NULL;
  }
  return HONE_OK;
}

/* -- opening */

static hone_status find_values(struct ctx *ctx, struct session *s, struct value *const *from,
                               size_t count, size_t **out) {
  const struct graph *graph = s->model.graph;
  TRY(NEW_ARRAY(ctx, s->arena, *out, count));
  for (size_t i = 0; i < count; i++) {
    size_t v = 0;
    while (v < graph->values.count && strcmp(graph->values.at[v]->name, from[i]->name)) v++;
    if (v == graph->values.count)
      return fail(ctx, HONE_E_INTERNAL, place_name(from[i]->name), "is in no graph");
    (*out)[i] = v;
  }
  return HONE_OK;
}

static hone_status open_one(struct ctx *ctx, struct session *s, size_t k,
                            const struct backend_request *request) {
  char dir[4096], key[64], path[256];
  struct graph *graph;
  struct one *one = &s->parts[k];
  struct backend_request own = *request;
  if (snprintf(dir, sizeof dir, "%s/part-%zu", request->work_dir, k) >= (int)sizeof dir)
    return fail(ctx, HONE_E_PATH, place_file(request->work_dir), "the path is too long");
  snprintf(key, sizeof key, "engine.%s", s->plan.engines[k]->name);
  own.engine_path = option_get(request->options, key, path) ? path : NULL;
  own.options = part_options(s->plan.engines[k]);
  TRY(graph_part(ctx, s->arena, s->model.graph, k ? s->plan.ends[k - 1] : 0, s->plan.ends[k],
                 &graph));
  TRY(find_values(ctx, s, graph->inputs.at, graph->inputs.count, &one->inputs));
  TRY(find_values(ctx, s, graph->outputs.at, graph->outputs.count, &one->outputs));
  return part_open(ctx, s->plan.engines[k], graph, &own, dir, &one->part);
}

/* native is opened last: it pins the calling thread to a CPU, and threads created later would
   inherit that. */
static hone_status open_all(struct ctx *ctx, struct session *s,
                            const struct backend_request *request) {
  for (int turn = 0; turn < 2; turn++)
    for (size_t k = 0; k < s->count; k++)
      if ((s->plan.engines[k] == &backend_native) == (turn == 1)) TRY(open_one(ctx, s, k, request));
  return HONE_OK;
}

static void tell(const struct session *s, struct backend_facts *facts) {
  size_t used = 0;
  facts->artifact_bytes = 0;
  facts->arena_bytes = -1;
  facts->threads = 1;
  facts->fallback_share = NAN;
  facts->version[0] = 0;
  snprintf(facts->device, sizeof facts->device, "cpu");
  snprintf(facts->precision, sizeof facts->precision, "%s", s->parts[0].part.facts.precision);
  for (size_t k = 0; k < s->count; k++) {
    const struct backend_facts *own = &s->parts[k].part.facts;
    const bool is_new = !k || s->plan.engines[k] != s->plan.engines[k - 1];
    if (own->threads > facts->threads) facts->threads = own->threads;
    facts->flags |= own->flags;
    if (strcmp(own->precision, facts->precision))
      snprintf(facts->precision, sizeof facts->precision, "mixed");
    if (facts->artifact_bytes >= 0)
      facts->artifact_bytes =
          own->artifact_bytes < 0 ? -1 : facts->artifact_bytes + own->artifact_bytes;
    if (is_new && used < sizeof facts->version)
      used += (size_t)snprintf(facts->version + used, sizeof facts->version - used, "%s%.8s %.12s",
                               k ? " + " : "", s->plan.engines[k]->name, own->version);
  }
}

static void copy_tensor(const struct value *value, struct backend_tensor *out) {
  snprintf(out->name, sizeof out->name, "%s", value->name);
  out->info = value_tensor(value, NULL);
}

static hone_status make_memory(struct ctx *ctx, struct session *s) {
  const struct graph *graph = s->model.graph;
  s->memory = calloc(graph->values.count + 1, sizeof *s->memory);
  if (!s->memory) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a hybrid");
  for (size_t k = 0; k < s->count; k++)
    for (size_t i = 0; i < s->parts[k].part.output_count; i++) {
      const size_t v = s->parts[k].outputs[i];
      struct backend_tensor tensor;
      size_t bytes;
      copy_tensor(graph->values.at[v], &tensor);
      TRY(tensor_bytes(ctx, tensor.name, &tensor.info, &bytes));
      s->memory[v] = aligned_alloc(64, (bytes / 64 + 1) * 64);
      if (!s->memory[v]) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a hybrid");
    }
  return HONE_OK;
}

static hone_status check_outputs(struct ctx *ctx, const struct graph *graph) {
  for (size_t i = 0; i < graph->outputs.count; i++) {
    const struct value *value = graph->outputs.at[i];
    if (value->is_input || !value->producer || value_is_open(value))
      return fail(ctx, HONE_E_UNSUP, place_name(value->name),
                  "an output that is not made by a node, or has a size known only at run time");
  }
  return HONE_OK;
}

static hone_status open_session(struct ctx *ctx, struct session *s,
                                const struct backend_request *request, struct backend_facts *facts,
                                struct backend_io *out_io) {
  const struct import_options import = {.shapes = request->shapes};
  const uint64_t start = clock_ns();
  if (request->in_flight > 1)
    return fail(ctx, HONE_E_UNSUP, place_name("hybrid"), "takes one request at a time");
  TRY(arena_create(ctx, 0, &s->arena));
  TRY(model_load(ctx, request->model_path, &import, &s->model));
  facts->import_ms = (double)(clock_ns() - start) / 1e6;
  facts->rss_import = resident_bytes();
  const struct graph *graph = s->model.graph;
  TRY(check_outputs(ctx, graph));
  TRY(hybrid_read_plan(ctx, request->options, graph->nodes.count, &s->plan));
  s->count = s->plan.count;
  TRY(open_all(ctx, s, request));
  TRY(make_memory(ctx, s));
  TRY(backend_io_create(ctx, graph->inputs.count, graph->outputs.count, out_io));
  for (size_t i = 0; i < graph->inputs.count; i++)
    copy_tensor(graph->inputs.at[i], &out_io->inputs[i]);
  for (size_t i = 0; i < graph->outputs.count; i++)
    copy_tensor(graph->outputs.at[i], &out_io->outputs[i]);
  tell(s, facts);
  return HONE_OK;
}

/* -- running */

/* The memory of value v in this set: the caller's, or that between parts. */
static hone_tensor place_of(const struct session *s, size_t v, const hone_tensor *inputs,
                            const hone_tensor *outputs) {
  const struct graph *graph = s->model.graph;
  const struct value *value = graph->values.at[v];
  struct backend_tensor tensor;
  for (size_t i = 0; i < graph->inputs.count; i++)
    if (graph->inputs.at[i] == value) return inputs[i];
  for (size_t i = 0; i < graph->outputs.count; i++)
    if (graph->outputs.at[i] == value) return outputs[i];
  copy_tensor(value, &tensor);
  tensor.info.data = s->memory[v];
  return tensor.info;
}

static hone_status bind_set(struct ctx *ctx, struct session *s, int set, const hone_tensor *inputs,
                            const hone_tensor *outputs) {
  for (size_t k = 0; k < s->count; k++) {
    struct one *one = &s->parts[k];
    hone_tensor *in, *out;
    TRY(NEW_ARRAY(ctx, s->arena, in, one->part.input_count));
    TRY(NEW_ARRAY(ctx, s->arena, out, one->part.output_count));
    for (size_t i = 0; i < one->part.input_count; i++)
      in[i] = place_of(s, one->inputs[i], inputs, outputs);
    for (size_t i = 0; i < one->part.output_count; i++)
      out[i] = place_of(s, one->outputs[i], inputs, outputs);
    TRY(part_bind(ctx, &one->part, set, in, out));
  }
  return HONE_OK;
}

static hone_status submit(struct ctx *ctx, struct session *s, int set) {
  for (size_t k = 0; k < s->count; k++) TRY(part_run(ctx, &s->parts[k].part, set));
  return HONE_OK;
}

static void close_session(struct session *s) {
  for (size_t k = 0; k < s->count; k++) part_close(&s->parts[k].part);
  for (size_t v = 0; s->memory && v < s->model.graph->values.count; v++) free(s->memory[v]);
  free(s->memory);
  model_unload(&s->model);
  arena_destroy(s->arena);
}

const struct backend backend_hybrid = {
    .name = "hybrid",
    .title = "hybrid",
    .formats = "onnx tflite pt2 gguf",
    .only_named = true,
    .ships_model = true,
    .traits = {"CPU", "ONNX, TFLite, PT2, GGUF",
               "parts of the model in native, ONNX Runtime, OpenVINO",
               "the cuts; each part its engine's own", "fp32"},
    .describe = describe_built_in,
    .session_size = sizeof(struct session),
    .open = open_session,
    .bind = bind_set,
    .submit = submit,
    .wait = wait_nothing,
    .close = close_session,
};
