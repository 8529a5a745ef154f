/* A hybrid as a bundle: each part is a library with the artifact ABI, either compiled by hone or
 * an adaptor of an engine. model.so (embedded/hybrid.c) runs them one after the other; wiring.h
 * has the values that each part reads and writes. */
#include "bundle.h"

enum { MOST_PORTS = 256 };

struct wiring {
  struct bundle *b;
  const struct graph *graph;
  size_t *numbers; /* by value index of the whole graph: the number + 1; 0: none yet */
  size_t count;
  struct strbuf parts, bytes;
};

/* Values are numbered: inputs of the model, its outputs, then values between parts in order of
   first use. */
static hone_status number_of(struct wiring *w, const char *name, size_t *out) {
  const struct graph *g = w->graph;
  size_t v = 0, bytes;
  int64_t elements;
  while (v < g->values.count && strcmp(g->values.at[v]->name, name)) v++;
  if (v == g->values.count)
    return fail(w->b->ctx, HONE_E_INTERNAL, place_name(name), "is not in the graph");
  if (!w->numbers[v]) {
    const struct value *value = g->values.at[v];
    TRY(extent(w->b->ctx, place_name(name), value->dtype, &value->shape, &elements, &bytes));
    w->numbers[v] = ++w->count;
    strbuf_printf(&w->bytes, "%zu, ", (bytes + 63) / 64 * 64);
  }
  *out = w->numbers[v] - 1;
  return HONE_OK;
}

static hone_status begin_wiring(struct wiring *w) {
  const struct graph *g = w->graph;
  TRY(NEW_ARRAY(w->b->ctx, w->b->arena, w->numbers, g->values.count));
  for (size_t i = 0; i < g->inputs.count + g->outputs.count; i++) {
    const struct value *value =
        i < g->inputs.count ? g->inputs.at[i] : g->outputs.at[i - g->inputs.count];
    w->numbers[value->index] = ++w->count;
    strbuf_puts(&w->bytes, "0, ");
  }
  return HONE_OK;
}

static hone_status put_side(struct wiring *w, size_t part, const char *side,
                            struct value *const *values, size_t count) {
  if (count > MOST_PORTS)
    return fail(w->b->ctx, HONE_E_LIMIT, place_none(), "%zu values cross a cut", count);
  strbuf_printf(&w->parts, "static const int hybrid_%zu_%s[] = {", part, side);
  for (size_t i = 0; i < count; i++) {
    size_t number = 0;
    TRY(number_of(w, values[i]->name, &number));
    strbuf_printf(&w->parts, "%zu, ", number);
  }
  strbuf_puts(&w->parts, "0};\n");
  return HONE_OK;
}

/* -- parts */

static hone_status make_native_part(struct bundle *b, struct graph *graph, const char *library) {
  char path[4096];
  const struct model model = {.arena = b->arena, .graph = graph};
  TRY(bundle_native_options(b, ""));
  TRY(bundle_path(b, library, path));
  return compile_model(b->ctx, &model, &b->options, path, NULL);
}

static hone_status engine_of_part(struct bundle *b, const struct backend *backend,
                                  const struct bundle_engine **out) {
  const struct adaptor *adaptor = adaptor_of(backend->name);
  char key[64], path[256];
  struct backend_info info = {.status = BACKEND_MISSING};
  for (size_t i = 0; i < b->engine_count; i++)
    if (b->engines[i].adaptor == adaptor) return *out = &b->engines[i], HONE_OK;
  if (!adaptor || b->engine_count == BUNDLE_ENGINES)
    return fail(b->ctx, HONE_E_UNSUP, place_name(backend->name),
                "a bundle cannot contain parts on this engine");
  snprintf(key, sizeof key, "engine.%s", backend->name);
  const char *given = option_get(b->request->choice->config.options, key, path) ? path : NULL;
  backend->describe(b->ctx, backend, given, &info);
  TRY(bundle_find_engine(b, adaptor, given, info.version, &b->engines[b->engine_count]));
  *out = &b->engines[b->engine_count++];
  return HONE_OK;
}

static hone_status make_engine_part(struct bundle *b, const struct backend *backend,
                                    const struct graph *graph, size_t k, const char *library) {
  const struct bundle_engine *engine;
  struct strbuf bytes = {0};
  char model[40], ports[40], define[64], source[64];
  snprintf(model, sizeof model, "part-%zu.onnx", k);
  snprintf(ports, sizeof ports, "src/ports-%zu.h", k);
  snprintf(define, sizeof define, "-DENGINE_PORTS=\"ports-%zu.h\"", k);
  TRY(engine_of_part(b, backend, &engine));
  snprintf(source, sizeof source, "src/engine_%s.c", engine->adaptor->name);
  TRY(export_onnx(b->ctx, graph, export_opset(graph), &bytes));
  TRY(bundle_put_text(b, model, &bytes, 0644));
  TRY(bundle_put_ports(b, engine, graph, part_options(backend), model, ports));
  TRY(bundle_put_adaptor(b, engine->adaptor, source));
  const char *const words[] = {"-shared",  "-fPIC", "-fvisibility=hidden", define, source, "-ldl",
                               "-pthread", NULL};
  return toolchain_program(b->ctx, b->request->cc, b->dir, words, library);
}

static hone_status make_part(struct wiring *w, const struct hybrid_plan *plan, size_t k) {
  struct graph *graph;
  char library[32];
  snprintf(library, sizeof library, "part-%zu.so", k);
  TRY(graph_part(w->b->ctx, w->b->arena, w->graph, k ? plan->ends[k - 1] : 0, plan->ends[k],
                 &graph));
  TRY(put_side(w, k, "inputs", graph->inputs.at, graph->inputs.count));
  TRY(put_side(w, k, "outputs", graph->outputs.at, graph->outputs.count));
  return plan->engines[k] == &backend_native
             ? make_native_part(w->b, graph, library)
             : make_engine_part(w->b, plan->engines[k], graph, k, library);
}

static hone_status put_wiring(struct wiring *w, size_t parts) {
  struct strbuf out = {0};
  TRY(strbuf_finish(w->b->ctx, &w->parts));
  TRY(strbuf_finish(w->b->ctx, &w->bytes));
  strbuf_printf(&out,
                "/* Made by hone %s: the values that each part reads and writes. */\n"
                "enum { HYBRID_PARTS = %zu, HYBRID_VALUES = %zu, HYBRID_MOST_PORTS = %d };\n"
                "/* of values between parts, rounded up to cache lines */\n"
                "static const uint64_t hybrid_bytes[] = {%s0};\n%s"
                "static const struct {\n  const int *inputs, *outputs;\n  int input_count, "
                "output_count;\n} hybrid_parts[] = {\n",
                HONE_VERSION, parts, w->count, MOST_PORTS, w->bytes.at, w->parts.at);
  for (size_t k = 0; k < parts; k++)
    strbuf_printf(
        &out,
        "    {hybrid_%zu_inputs, hybrid_%zu_outputs, sizeof hybrid_%zu_inputs / sizeof(int) "
        "- 1,\n     sizeof hybrid_%zu_outputs / sizeof(int) - 1},\n",
        k, k, k, k);
  strbuf_puts(&out, "};\n");
  return bundle_put_text(w->b, "src/wiring.h", &out, 0644);
}

static hone_status put_pins(struct bundle *b) {
  struct strbuf pins = {0};
  if (!b->engine_count) return HONE_OK;
  for (size_t i = 0; i < b->engine_count; i++)
    strbuf_printf(&pins, "%s==%s\n", b->engines[i].adaptor->distribution, b->engines[i].version);
  return bundle_put_text(b, "requirements.txt", &pins, 0644);
}

static hone_status make_wired(struct wiring *w, const struct hybrid_plan *plan) {
  static const char *const words[] = {
      "-shared", "-fPIC", "-fvisibility=hidden", "src/hybrid.c", "-ldl", "-pthread", NULL};
  static const struct bundle_engine own = {.version = HONE_VERSION};
  struct bundle *b = w->b;
  TRY(begin_wiring(w));
  for (size_t k = 0; k < plan->count; k++) TRY(make_part(w, plan, k));
  TRY(put_wiring(w, plan->count));
  TRY(bundle_put_ports(b, &own, w->graph, "", "", "src/ports.h"));
  TRY(put_pins(b));
  return toolchain_program(b->ctx, b->request->cc, b->dir, words, "model.so");
}

hone_status bundle_make_hybrid(struct bundle *b) {
  struct hybrid_plan plan;
  struct wiring w = {.b = b, .graph = b->model.graph};
  TRY(bundle_check_ports(b));
  TRY(hybrid_read_plan(b->ctx, b->request->choice->config.options, w.graph->nodes.count, &plan));
  b->route = "cut into parts by hone";
  TRY(bundle_put_header(b));
  TRY(bundle_put_embedded(b, "bundle/engine.h", "src/engine.h", 0644)); /* hybrid.c needs it too */
  TRY(bundle_put_embedded(b, "bundle/hybrid.c", "src/hybrid.c", 0644));
  hone_status status = make_wired(&w, &plan);
  strbuf_deinit(&w.parts);
  strbuf_deinit(&w.bytes);
  return status;
}
