/* The libraries and programs: model.so, libteam.so (a thread team), run and selftest. For native,
 * model.so is the compiled model; for an engine it is an adaptor (embedded/engine_NAME.c) that
 * opens the model file with the measured options, which are in ports.h.
 */
#include "bundle.h"

#include <math.h>
#include <stdlib.h>

static const struct adaptor engines[] = {
    {"onnxruntime", "bundle/engine_onnxruntime.c", "onnxruntime",
     "onnxruntime/capi/libonnxruntime.so*", NULL},
    {"openvino", "bundle/engine_openvino.c", "openvino", "openvino/libs/libopenvino_c.so*",
     "backends/openvino_c.h"},
};

const struct adaptor *adaptor_of(const char *name) {
  for (size_t i = 0; i < COUNT(engines); i++)
    if (!strcmp(engines[i].name, name)) return &engines[i];
  return NULL;
}

bool bundle_can_run(const char *backend) {
  return !strcmp(backend, "native") || !strcmp(backend, "hybrid") || adaptor_of(backend);
}

/* -- native */

/* Reads the options of the measured record as the backend does. */
hone_status bundle_native_options(struct bundle *b, const char *options) {
  const struct config *config = &b->request->choice->config;
  char level[256], value[256];
  if (!option_get(options, "cpu", level)) snprintf(level, sizeof level, "host");
  b->options = (struct compile_options){
      .threads = config->threads,
      .no_passes = option_get(options, "passes", value) && !strcmp(value, "0"),
      .untuned = option_get(options, "tuned", value) && !strcmp(value, "0"),
      .cc = b->request->cc,
      .prefix = "model"};
  if (!compile_precision(config->precision, &b->options))
    return fail(b->ctx, HONE_E_INTERNAL, place_name(config->precision),
                "is not a precision of hone");
  return target_init(b->ctx, NULL, level, &b->options.target);
}

hone_status bundle_make_native(struct bundle *b) {
  static const char *const forms[] = {"model.so", "model.a", "model.c"};
  TRY(bundle_native_options(b, b->request->choice->config.options));
  b->route = "compiled by hone";
  for (size_t i = 0; i < COUNT(forms); i++) {
    char path[4096];
    TRY(bundle_path(b, forms[i], path));
    TRY(compile_model(b->ctx, &b->model, &b->options, path, NULL));
  }
  return HONE_OK;
}

/* -- engines */

static void put_c_string(struct strbuf *out, const char *s) {
  strbuf_puts(out, "\"");
  for (; *s; s++) {
    const unsigned char c = (unsigned char)*s;
    if (c >= 32 && c < 127 && c != '"' && c != '\\' && c != '?')
      strbuf_append(out, s, 1);
    else
      strbuf_printf(out, "\\%03o", c);
  }
  strbuf_puts(out, "\"");
}

static void put_ports(struct strbuf *out, const char *side, struct value *const *values,
                      size_t count) {
  for (size_t i = 0; i < count; i++) {
    strbuf_printf(out, "static const int64_t engine_%s_%zu_dims[] = {", side, i);
    for (int d = 0; d < values[i]->shape.rank; d++)
      strbuf_printf(out, "%lld, ", (long long)values[i]->shape.dims[d]);
    strbuf_puts(out, "0};\n");
  }
  strbuf_printf(out, "static const int32_t engine_%s_extents[%d] = {0};\n", side, HONE_MAX_RANK);
  strbuf_printf(out, "static const struct hone_io_info engine_%ss[] = {\n", side);
  for (size_t i = 0; i < count; i++) {
    strbuf_puts(out, "    {");
    put_c_string(out, values[i]->name);
    strbuf_printf(out, ", %d, %d, engine_%s_%zu_dims, -1, engine_%s_extents, 0},\n",
                  (int)values[i]->dtype, values[i]->shape.rank, side, i, side);
  }
  strbuf_puts(out, "};\n");
}

/* ONNX Runtime: the optimisation level as a number, the entries that the study sets, and the
   record's own as session entries. */
static void put_onnxruntime_options(struct strbuf *out, const char *options) {
  static const char *const levels[] = {"disable", "basic", "extended"};
  char key[64], value[256];
  int level = 99;
  strbuf_puts(out, "#define ENGINE_OPTIONS {\"session.qdq_matmulnbits_accuracy_level\", \"1\"}, ");
  for (const char *at = options; option_next(&at, key, value);) {
    if (!strcmp(key, "graph_optimization_level")) {
      for (size_t i = 0; i < COUNT(levels); i++)
        if (!strcmp(value, levels[i])) level = (int)i;
      continue;
    }
    strbuf_puts(out, "{");
    put_c_string(out, key);
    strbuf_puts(out, ", ");
    put_c_string(out, value);
    strbuf_puts(out, "}, ");
  }
  strbuf_printf(out, "\n#define ENGINE_OPTIMIZATION_LEVEL %d\n", level);
}

/* OpenVINO: the properties that the study sets, then the record's own. */
static void put_openvino_options(struct strbuf *out, const struct bundle *b, const char *options) {
  const struct config *config = &b->request->choice->config;
  enum precision own = precision_find(config->precision);
  if (own == PRECISION_AS_IS) own = precision_find(file_precision(b->model.graph));
  const bool is_half = own == PRECISION_BF16 || own == PRECISION_FP16;
  char key[64], value[256];
  strbuf_printf(
      out,
      "#define ENGINE_OPTIONS {\"PERFORMANCE_HINT\", \"LATENCY\"}, {\"NUM_STREAMS\", \"1\"}, "
      "{\"ENABLE_HYPER_THREADING\", \"YES\"}, {\"INFERENCE_NUM_THREADS\", \"%d\"}, "
      "{\"INFERENCE_PRECISION_HINT\", \"%s\"}, {\"DYNAMIC_QUANTIZATION_GROUP_SIZE\", \"0\"}, ",
      config->threads, dtype_name(is_half ? precisions[own].dtype : HONE_F32));
  for (const char *at = options; option_next(&at, key, value);) {
    if (!strcmp(key, "requests")) continue;
    strbuf_puts(out, "{");
    put_c_string(out, key);
    strbuf_puts(out, ", ");
    put_c_string(out, value);
    strbuf_puts(out, "}, ");
  }
  strbuf_puts(out, "\n");
}

hone_status bundle_put_ports(struct bundle *b, const struct bundle_engine *engine,
                             const struct graph *g, const char *options, const char *model_file,
                             const char *name) {
  struct strbuf out = {0};
  strbuf_printf(&out,
                "/* Made by hone %s: names, shapes and options for the engine's adaptor. */\n"
                "#define ENGINE_INPUTS %zu\n#define ENGINE_OUTPUTS %zu\n#define ENGINE_THREADS %d\n"
                "#define ENGINE_VERSION \"%s\"\n#define ENGINE_PIN \"%s==%s\"\n"
                "#define ENGINE_BUILD_ID \"%.32s\"\n#define ENGINE_GENERATOR \"hone %s\"\n"
                "#define ENGINE_MODEL \"%s\"\n",
                HONE_VERSION, g->inputs.count, g->outputs.count, b->request->choice->config.threads,
                engine->version, engine->adaptor ? engine->adaptor->distribution : "hone",
                engine->version, b->model.sha256, HONE_VERSION, model_file);
  if (engine->adaptor == &engines[0])
    put_onnxruntime_options(&out, options);
  else if (engine->adaptor)
    put_openvino_options(&out, b, options);
  put_ports(&out, "input", g->inputs.at, g->inputs.count);
  put_ports(&out, "output", g->outputs.at, g->outputs.count);
  return bundle_put_text(b, name, &out, 0644);
}

/* The user's own file if the engine read that one file. Built-in models, models with side files
   and models that hone wrote for the engine in the study are written as ONNX. */
static hone_status put_model_file(struct bundle *b) {
  const struct model_file *file = &b->model.file;
  const bool is_zoo = !strncmp(b->request->model_path, "zoo:", 4);
  struct strbuf bytes = {0};
  if (!is_zoo && !file->sides.count && !route_is_hones(b->request->choice->config.route)) {
    const bool is_tflite = file->main.size > 8 && !memcmp(file->main.data + 4, "TFL3", 4);
    b->model_file = is_tflite ? "model.tflite" : "model.onnx";
    b->route = "the user's file, unchanged";
    return bundle_put(b, b->model_file, (const char *)file->main.data, file->main.size, 0644);
  }
  b->model_file = "model.onnx";
  b->route =
      is_zoo ? "built by hone, written as ONNX" : "written by hone as ONNX with its weights inside";
  TRY(export_onnx(b->ctx, b->model.graph, export_opset(b->model.graph), &bytes));
  return bundle_put_text(b, b->model_file, &bytes, 0644);
}

hone_status bundle_find_engine(struct bundle *b, const struct adaptor *adaptor, const char *path,
                               const char *version, struct bundle_engine *out) {
  struct mapping map;
  out->adaptor = adaptor;
  TRY(engine_file(b->ctx, adaptor->name, path, adaptor->library, out->library));
  safe_copy(out->version, sizeof out->version, version);
  out->version[strcspn(out->version, "-, ")] = 0;
  if (!out->version[0])
    return fail(b->ctx, HONE_E_INTERNAL, place_name(adaptor->name),
                "the engine reports no version");
  TRY(file_map(b->ctx, out->library, &map));
  hone_status status = sha256_hex(b->ctx, out->hash, map.data, map.size);
  file_unmap(&map);
  return status;
}

/* The names of a compiled model's header that also apply to an engine. */
hone_status bundle_put_header(struct bundle *b) {
  const struct graph *g = b->model.graph;
  struct strbuf out = {0};
  size_t length = 0;
  const char *abi = hone_embedded_text("run/artifact.h", &length);
  if (!abi)
    return fail(b->ctx, HONE_E_INTERNAL, place_none(), "there is no embedded file run/artifact.h");
  strbuf_printf(&out, "/* Made by hone %s: the types of one model, and the artifact ABI. */\n",
                HONE_VERSION);
  strbuf_append(&out, abi, length);
  strbuf_printf(&out, "\nenum { model_input_count = %zu, model_output_count = %zu };\n",
                g->inputs.count, g->outputs.count);
  for (size_t i = 0; i < g->inputs.count + g->outputs.count; i++) {
    const bool is_input = i < g->inputs.count;
    const size_t at = is_input ? i : i - g->inputs.count;
    const struct value *v = is_input ? g->inputs.at[at] : g->outputs.at[at];
    const char *side = is_input ? "input" : "output";
    strbuf_printf(&out, "\n/* %s %zu: %s", side, at, dtype_name(v->dtype));
    shape_print(&out, &v->shape);
    strbuf_printf(&out, " */\nstatic const char model_%s_%zu_name[] = ", side, at);
    put_c_string(&out, v->name);
    strbuf_printf(
        &out, ";\nenum { model_%s_%zu_rank = %d };\nstatic const int64_t model_%s_%zu_dims[] = {",
        side, at, v->shape.rank, side, at);
    for (int d = 0; d < v->shape.rank; d++)
      strbuf_printf(&out, "%lld, ", (long long)v->shape.dims[d]);
    strbuf_puts(&out, "0};\n");
  }
  strbuf_puts(&out,
              "\n#ifdef __cplusplus\nextern \"C\"\n#endif\nconst struct hone_artifact_info "
              "*model_artifact(void);\n");
  return bundle_put_text(b, "model.h", &out, 0644);
}

hone_status bundle_check_ports(struct bundle *b) {
  const struct graph *g = b->model.graph;
  for (size_t i = 0; i < g->outputs.count; i++)
    if (value_is_open(g->outputs.at[i]))
      return fail(b->ctx, HONE_E_UNSUP, place_name(g->outputs.at[i]->name),
                  "has a dynamic dimension; a bundle of an engine needs fixed shapes");
  return HONE_OK;
}

hone_status bundle_put_adaptor(struct bundle *b, const struct adaptor *adaptor, const char *name) {
  char header[128];
  TRY(bundle_put_embedded(b, "bundle/engine.h", "src/engine.h", 0644));
  if (adaptor->header) {
    snprintf(header, sizeof header, "src/%s", strrchr(adaptor->header, '/') + 1);
    TRY(bundle_put_embedded(b, adaptor->header, header, 0644));
  }
  return bundle_put_embedded(b, adaptor->text, name, 0644);
}

hone_status bundle_make_engine(struct bundle *b, const struct adaptor *engine) {
  static const char *const words[] = {
      "-shared", "-fPIC", "-fvisibility=hidden", "src/engine.c", "-ldl", "-pthread", NULL};
  struct strbuf pin = {0};
  TRY(bundle_check_ports(b));
  /* the measured version */
  TRY(bundle_find_engine(b, engine, b->request->engine_path,
                         b->request->choice->worst.engine_version, &b->engines[0]));
  b->engine_count = 1;
  TRY(put_model_file(b));
  TRY(bundle_put_ports(b, &b->engines[0], b->model.graph, b->request->choice->config.options,
                       b->model_file, "src/ports.h"));
  TRY(bundle_put_header(b));
  TRY(bundle_put_adaptor(b, engine, "src/engine.c"));
  strbuf_printf(&pin, "%s==%s\n", engine->distribution, b->engines[0].version);
  TRY(bundle_put_text(b, "requirements.txt", &pin, 0644));
  return toolchain_program(b->ctx, b->request->cc, b->dir, words, "model.so");
}

/* -- programs */

/* Tolerances of the self-test: those of the precision, widened by the model's conditioning. */
static hone_status put_rules(struct bundle *b) {
  const struct graph *g = b->model.graph;
  struct strbuf out = {0};
  const int threads = b->request->choice->config.threads;
  strbuf_printf(
      &out,
      "/* Made by hone %s: the tolerances of selftest.c. */\n#define BUNDLE_SETS %zu\n"
      "#define BUNDLE_OUTPUTS %zu\n#define BUNDLE_THREADS %d\n#define BUNDLE_THREADS_TEXT \"%d\"\n"
      "#define BUNDLE_GENERATOR \"hone %s\"\n"
      "/* at most: relative L2, max|d|/max|r|; step: of a quantised output, else 0 */\n"
      "static const struct bundle_output {\n  double rel_l2, share, step;\n} bundle_outputs[] = "
      "{\n",
      HONE_VERSION, b->set_count, g->outputs.count, threads, threads, HONE_VERSION);
  for (size_t i = 0; i < g->outputs.count; i++) {
    double rel_l2, share;
    const hone_dtype dtype = g->outputs.at[i]->dtype;
    const bool is_byte = dtype_is_byte(dtype);
    char a[32], c[32], d[32];
    struct yardstick rule = b->yardsticks[i];
    if (is_byte) rule.step = fmax(rule.step, 1);
    accuracy_tolerance(&rule, &rel_l2, &share);
    format_f64(a, rel_l2), format_f64(c, share);
    format_f64(d, rule.step);
    strbuf_printf(&out, "    {%s, %s, %s},\n", a, c, d);
  }
  strbuf_puts(&out, "};\n");
  return bundle_put_text(b, "src/bundle.h", &out, 0644);
}

static hone_status put_python(struct bundle *b) {
  static const char mark[] = "@THREADS@";
  const char *text = hone_embedded_text("bundle/run.py", NULL),
             *at = text ? strstr(text, mark) : NULL;
  struct strbuf out = {0};
  if (!at)
    return fail(b->ctx, HONE_E_INTERNAL, place_none(), "there is no embedded file bundle/run.py");
  strbuf_append(&out, text, (size_t)(at - text));
  strbuf_printf(&out, "%d%s", b->request->choice->config.threads, at + sizeof mark - 1);
  return bundle_put_text(b, "run.py", &out, 0755);
}

hone_status bundle_make_programs(struct bundle *b) {
  static const struct {
    const char *embedded, *name;
  } texts[] = {{"run/main.c", "src/run.c"},
               {"run/features.h", "src/features.h"},
               {"bundle/selftest.c", "src/selftest.c"},
               {"bundle/sha256.h", "src/sha256.h"},
               {"bundle/team.c", "src/team.c"}};
  static const char *const team[] = {"-shared",    "-fPIC",    "-fvisibility=hidden",
                                     "src/team.c", "-pthread", NULL};
  static const char *const selftest[] = {"src/selftest.c", "-ldl", "-lm", "-pthread", NULL};
  const char *const run[] = {"-DHONE_ARTIFACT=model_artifact",
                             "src/run.c",
                             b->is_native   ? "model.a"
                             : b->is_hybrid ? "src/hybrid.c"
                                            : "src/engine.c",
                             "-ldl",
                             "-lm",
                             "-pthread",
                             NULL};
  for (size_t i = 0; i < COUNT(texts); i++)
    TRY(bundle_put_embedded(b, texts[i].embedded, texts[i].name, 0644));
  TRY(put_rules(b));
  TRY(put_python(b));
  TRY(toolchain_program(b->ctx, b->request->cc, b->dir, team, "libteam.so"));
  TRY(toolchain_program(b->ctx, b->request->cc, b->dir, run, "run"));
  return toolchain_program(b->ctx, b->request->cc, b->dir, selftest, "selftest");
}
