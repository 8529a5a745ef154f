/* native: hone's own compiler. prepare imports the model and compiles it to work_dir/model.so (a
 * second compilation may use the toolchain's cache); open loads it like any user of the artifact.
 * Threads are pinned to one CPU each; pin=0 leaves them to the scheduler, as in `hone run` and
 * libhone (docs/understand/fairness.md has the effect).
 *
 * Text from GGUF files is generated as `hone generate` does it: by one artifact for prompt and single
 * tokens, with caches as state.
 */
#include "backends.h"
#include "compiler/generate/generate.h"

#include <stdlib.h>
#include <sys/stat.h>

/* Loader, weights and thread team, which are deployed with an artifact: 9,513 bytes of code by
   size(1) for x86-64 with gcc 12, rounded up to pages. */
#define RUNTIME_BYTES 12288

struct native_set {
  const void **inputs;
  void **outputs;
  hone_tensor *tensors; /* the inputs; they have the actual sizes of dynamic dimensions */
  const int64_t **dims;
  bool is_first; /* the first call has another size */
};
struct session {
  struct loaded loaded, first; /* first: for the first call of a growing request */
  struct team *team;
  struct hone_generator *text; /* of request->text_tokens; the rest is then unused */
  int32_t *tokens;
  struct native_set sets[BACKEND_MAX_SETS];
  /* for several requests in flight: run is re-entrant, each has its own arena and team */
  struct streams *streams;
  struct lane {
    void *arena;
    struct team *team;
  } lanes[BACKEND_MAX_SETS];
  int lane_count;
};

static hone_status artifact_path(struct ctx *ctx, const struct backend_request *request,
                                 const char *name, char out[4096]) {
  int n = snprintf(out, 4096, "%s/%s", request->work_dir, name);
  if (n > 0 && n < 4096) return HONE_OK;
  return fail(ctx, HONE_E_PATH, place_file(request->work_dir), "the path is too long");
}

static bool is_option(const char *key) {
  static const char *const known[] = {"alias", "cpu", "passes", "pin", "prefer", "tuned"};
  for (size_t i = 0; i < COUNT(known); i++)
    if (!strcmp(known[i], key)) return true;
  return false;
}

/* alias=INPUT=OUTPUT, once per state. Every set has separate memory for both, so that its output
   can be compared again. */
static hone_status apply_aliases(struct ctx *ctx, const char *options, struct graph *graph) {
  char key[64], value[256];
  for (const char *at = options; option_next(&at, key, value);) {
    char *const equals = strchr(value, '=');
    if (strcmp(key, "alias")) continue;
    if (!equals) return fail(ctx, HONE_E_USAGE, place_name(value), "is not INPUT=OUTPUT");
    *equals = 0;
    TRY(graph_alias(ctx, graph, value, equals + 1));
  }
  return HONE_OK;
}

static hone_status read_options(struct ctx *ctx, const struct backend_request *request,
                                struct compile_options *out, char level[256]) {
  if (!compile_precision(request->precision, out))
    return fail(ctx, HONE_E_UNSUP, place_name(request->precision),
                "native supports as-is, fp32, bf16 and fp16");
  char key[64], value[256];
  for (const char *at = request->options; option_next(&at, key, value);)
    if (!is_option(key))
      return fail(ctx, HONE_E_USAGE, place_name(key),
                  "is not an option of native; it has alias, cpu, passes, pin, prefer and tuned");
  if (!option_get(request->options, "cpu", level)) snprintf(level, 256, "host");
  out->no_passes = option_get(request->options, "passes", value) && !strcmp(value, "0");
  out->untuned = option_get(request->options, "tuned", value) && !strcmp(value, "0");
  out->prefers_size = option_get(request->options, "prefer", value) && !strcmp(value, "size");
  if (option_get(request->options, "prefer", value) && !out->prefers_size && strcmp(value, "speed"))
    return fail(ctx, HONE_E_USAGE, place_name(value), "unknown preference; choose speed or size");
  out->threads = request->threads;
  out->no_cache = !request->use_cache;
  return target_init(ctx, NULL, level, &out->target);
}

static int64_t file_bytes(const char *path) {
  struct stat info;
  return stat(path, &info) ? 0 : (int64_t)info.st_size;
}

static hone_status compile_file(struct ctx *ctx, const struct backend_request *request,
                                const struct compile_options *options, const char *path,
                                struct backend_facts *facts, struct compile_report *report) {
  const struct import_options import = {.shapes = request->shapes};
  const uint64_t start = clock_ns();
  struct model model;
  facts->is_importing = true;
  TRY(model_load(ctx, request->model_path, &import, &model));
  facts->is_importing = false;
  facts->import_ms = (double)(clock_ns() - start) / 1e6;
  facts->rss_import = resident_bytes();
  hone_status status = apply_aliases(ctx, request->options, model.graph);
  if (!status) status = compile_model(ctx, &model, options, path, report);
  model_unload(&model);
  return status;
}

/* The first call has no cache and other sizes, so it gets its own artifact. */
static hone_status compile_first(struct ctx *ctx, const struct backend_request *request,
                                 const struct compile_options *options) {
  char path[4096];
  struct import_options import = {.shapes = request->first_shapes, .is_probe = true};
  struct model model;
  struct compile_report report = {0};
  TRY(artifact_path(ctx, request, "first.so", path));
  TRY(model_load(ctx, request->model_path, &import, &model));
  hone_status status = compile_model(ctx, &model, options, path, &report);
  model_unload(&model);
  return status;
}

static hone_status prepare(struct ctx *ctx, const struct backend_request *request,
                           struct backend_facts *facts) {
  struct compile_options options = {.threads = request->threads};
  char level[256], path[4096], weights[4096];
  TRY(read_options(ctx, request, &options, level));
  TRY(features_check(ctx, place_name(options.target.level), options.target.features));
  TRY(artifact_path(ctx, request, "model.so", path));
  TRY(artifact_path(ctx, request, "model.weights", weights));
  if (request->first_shapes) TRY(compile_first(ctx, request, &options));
  struct compile_report report = {0};
  TRY(request->text_tokens ? generator_compile(ctx, request->model_path, &options,
                                               request->text_tokens, path, &report)
                           : compile_file(ctx, request, &options, path, facts, &report));
  facts->from_cache = report.from_cache;
  facts->arena_bytes = (int64_t)report.arena_bytes;
  struct precision_mix mix = {.all_ns = 0}; /* weighted by work instead of time */
  for (int type = 0; type < COMPILE_DTYPES; type++)
    if (report.work[type] > 0)
      precision_mix_add(&mix, dtype_name((hone_dtype)type), report.work[type], false);
  precision_mix_tell(&mix, facts);
  facts->fallback_share = report.generic_share;
  facts->artifact_bytes = file_bytes(path) + file_bytes(weights) + RUNTIME_BYTES;
  if (request->text_tokens) facts->artifact_bytes += file_bytes(request->model_path); /* words */
  if (report.tuned_steps)
    snprintf(facts->version, sizeof facts->version, "%s, %zu steps tuned", HONE_VERSION,
             report.tuned_steps);
  if (report.from_cache) facts->flags |= FLAG_MASK(cached);
  if (options.bf16 && !(options.target.features & (CPU_AVX512_BF16 | CPU_AMX_BF16)))
    facts->flags |= FLAG_MASK(emulated);
  return HONE_OK;
}

static void copy_info(const struct hone_io_info *from, const long *less,
                      struct backend_tensor *to) {
  snprintf(to->name, sizeof to->name, "%s", from->name);
  to->info = (hone_tensor){.dtype = (hone_dtype)from->dtype, .rank = from->rank};
  for (int32_t i = 0; i < from->rank; i++) to->info.shape[i] = hone_open_dim(from, i, less);
}

/* Computes how far the request's shapes are below the bounds of an artifact with dynamic
   dimensions. */
static hone_status find_less(struct ctx *ctx, const struct hone_artifact_info *info,
                             const char *shapes, long less[HONE_ARTIFACT_SIZES]) {
  int64_t(*dims)[HONE_MAX_RANK] = calloc((size_t)info->input_count + 1, sizeof *dims);
  const int64_t **rows = calloc((size_t)info->input_count + 1, sizeof *rows);
  for (int32_t i = 0; dims && rows && i < info->input_count; i++) {
    const struct hone_io_info *in = &info->inputs[i];
    int32_t rank;
    if (in->slopes && shapes_find(shapes, in->name, &rank, dims[i]) && rank == in->rank)
      rows[i] = dims[i];
  }
  hone_status status = HONE_OK;
  if (!dims || !rows)
    status = fail(ctx, HONE_E_OOM, place_none(), "no memory for the inputs' sizes");
  else if (!hone_find_less(info->inputs, info->input_count, info->bounds, info->least,
                           info->symbol_count, info->derived, info->derived_count, rows, less))
    status = fail(ctx, HONE_E_SHAPE, place_none(),
                  "%s does not fit the artifact's dynamic dimensions", shapes);
  free(dims);
  free(rows);
  return status;
}

static void free_set(struct native_set *set) {
  free(set->inputs);
  free(set->outputs);
  free(set->tensors);
  free(set->dims);
  *set = (struct native_set){.is_first = false};
}

static void close_session(struct session *s) {
  streams_destroy(s->streams);
  for (int i = 0; i < BACKEND_MAX_SETS; i++) {
    free(s->lanes[i].arena);
    if (s->lanes[i].team) team_destroy(s->lanes[i].team);
  }
  for (int set = 0; set < BACKEND_MAX_SETS; set++) {
    free_set(&s->sets[set]);
  }
  generator_close(s->text);
  free(s->tokens);
  if (s->team) team_destroy(s->team);
  if (s->loaded.library) artifact_unload(&s->loaded);
  if (s->first.library) artifact_unload(&s->first);
}

static hone_status run_lane(struct ctx *ctx, struct session *s, int set);

/* Distributes the threads to at most as many requests as threads; further requests share one thread
   each. */
static hone_status open_lanes(struct ctx *ctx, struct session *s,
                              const struct backend_request *request, struct backend_facts *facts) {
  const int count = request->in_flight < BACKEND_MAX_SETS ? request->in_flight : BACKEND_MAX_SETS;
  const int threads = request->threads > count ? request->threads / count : 1;
  for (int i = 0; i < count; i++) {
    if (posix_memalign(&s->lanes[i].arena, 4096, (size_t)s->loaded.info->arena_bytes + 4096))
      return fail(ctx, HONE_E_OOM, place_none(), "no memory for an arena of each request");
    TRY(team_create(ctx, threads, false, &s->lanes[i].team));
  }
  s->lane_count = facts->in_flight = count;
  return streams_create(ctx, count, run_lane, s, &s->streams);
}

static void put_facts(struct backend_facts *facts, int threads) {
  if (!facts->version[0]) snprintf(facts->version, sizeof facts->version, "%s", HONE_VERSION);
  snprintf(facts->device, sizeof facts->device, "cpu");
  if (!facts->precision[0]) snprintf(facts->precision, sizeof facts->precision, "fp32");
  facts->threads = threads;
}

static hone_status open_text(struct ctx *ctx, struct session *s,
                             const struct backend_request *request, const char *artifact,
                             struct backend_facts *facts, struct backend_io *out_io) {
  struct generator_options options = {.context = request->text_tokens, .artifact = artifact};
  char level[256];
  TRY(read_options(ctx, request, &options.compile, level));
  TRY(generator_open(ctx, request->model_path, &options, &s->text));
  s->tokens = calloc((size_t)request->text_tokens, sizeof *s->tokens);
  if (!s->tokens) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a text");
  put_facts(facts, request->threads);
  return backend_io_create(ctx, 0, 0, out_io);
}

static hone_status extend(struct ctx *ctx, struct session *s, const int64_t *tokens, int64_t past,
                          int64_t count, const float **out_logits) {
  for (int64_t i = 0; i < count; i++) s->tokens[i] = (int32_t)tokens[i];
  return generator_extend(ctx, s->text, s->tokens, past, count, out_logits);
}

static hone_status open_session(struct ctx *ctx, struct session *s,
                                const struct backend_request *request, struct backend_facts *facts,
                                struct backend_io *out_io) {
  char path[4096];
  TRY(artifact_path(ctx, request, "model.so", path));
  if (request->text_tokens) return open_text(ctx, s, request, path, facts, out_io);
  TRY(artifact_load(ctx, path, NULL, &s->loaded));
  if (request->first_shapes) {
    TRY(artifact_path(ctx, request, "first.so", path));
    TRY(artifact_load(ctx, path, NULL, &s->first));
  }
  TRY(features_check(ctx, place_file(path), s->loaded.info->flags));
  int64_t pin;
  TRY(option_int(ctx, request->options, "pin", 1, 0, 1, &pin));
  TRY(team_create(ctx, request->threads, pin != 0, &s->team));
  const struct hone_artifact_info *info = s->loaded.info;
  TRY(backend_io_create(ctx, (size_t)info->input_count, (size_t)info->output_count, out_io));
  long less[HONE_ARTIFACT_SIZES];
  TRY(find_less(ctx, info, request->shapes, less));
  for (int32_t i = 0; i < info->input_count; i++)
    copy_info(&info->inputs[i], less, &out_io->inputs[i]);
  for (int32_t i = 0; i < info->output_count; i++)
    copy_info(&info->outputs[i], less, &out_io->outputs[i]);
  put_facts(facts, team_interface(s->team)->thread_count);
  facts->arena_bytes = (int64_t)info->arena_bytes;
  return request->in_flight > 1 ? open_lanes(ctx, s, request, facts) : HONE_OK;
}

static hone_status bind_set(struct ctx *ctx, struct session *s, int set, const hone_tensor *inputs,
                            const hone_tensor *outputs) {
  const struct hone_artifact_info *info = s->loaded.info;
  struct native_set *at = &s->sets[set];
  free_set(at);
  at->inputs = calloc((size_t)info->input_count + 1, sizeof *at->inputs);
  at->outputs = calloc((size_t)info->output_count + 1, sizeof *at->outputs);
  at->dims = calloc((size_t)info->input_count + 1, sizeof *at->dims);
  at->tensors = calloc((size_t)info->input_count + 1, sizeof *at->tensors);
  if (!at->inputs || !at->outputs || !at->dims || !at->tensors)
    return fail(ctx, HONE_E_OOM, place_none(), "no memory for an input set");
  for (int32_t i = 0; i < info->input_count; i++) {
    at->inputs[i] = inputs[i].data;
    at->tensors[i] = inputs[i];
    at->dims[i] = at->tensors[i].shape;
    for (int32_t d = 0; s->first.library && d < inputs[i].rank; d++)
      at->is_first = at->is_first || !inputs[i].shape[d];
  }
  for (int32_t i = 0; i < info->output_count; i++) at->outputs[i] = outputs[i].data;
  return HONE_OK;
}

static hone_status run_set(struct ctx *ctx, struct session *s, int set, void *arena,
                           struct team *team) {
  const struct hone_io io = {.inputs = s->sets[set].inputs,
                             .outputs = s->sets[set].outputs,
                             .input_dims = s->sets[set].dims};
  const struct loaded *loaded = s->sets[set].is_first ? &s->first : &s->loaded;
  if (s->sets[set].is_first) arena = s->first.arena;
  int32_t code = loaded->info->run(loaded->weights, arena, &io, team_interface(team));
  if (!code) return HONE_OK;
  return fail(ctx, code > 0 && code < HONE_STATUS_COUNT ? (hone_status)code : HONE_E_INTERNAL,
              place_none(), "the compiled model returned an error");
}

static hone_status run_lane(struct ctx *ctx, struct session *s, int set) {
  const struct lane *lane = &s->lanes[set % s->lane_count];
  return run_set(ctx, s, set, lane->arena, lane->team);
}

static hone_status submit(struct ctx *ctx, struct session *s, int set) {
  return s->streams ? streams_submit(ctx, s->streams, set)
                    : run_set(ctx, s, set, s->loaded.arena, s->team);
}

static hone_status wait(struct ctx *ctx, struct session *s, int set) {
  return s->streams ? streams_wait(ctx, s->streams, set) : HONE_OK; /* run is synchronous */
}

/* Keeps the library, its weights if they are in a separate file, and those of the first call. */
static hone_status keep(struct ctx *ctx, struct session *s, const struct backend_request *request,
                        struct strbuf *out_names) {
  static const char *const names[] = {"model.so", "model.weights", "first.so", "first.weights"};
  char path[4096];
  (void)s;
  for (size_t i = 0; i < COUNT(names); i++) {
    TRY(artifact_path(ctx, request, names[i], path));
    if (file_bytes(path)) strbuf_printf(out_names, "%s\n", names[i]);
  }
  return HONE_OK;
}

static const struct backend_variant variants[] = {
    {"unpinned", "pin=0", "without pinned threads, as for users"}, {NULL, NULL, NULL}};

const struct backend backend_native = {
    .name = "native",
    .title = "hone",
    .formats = "onnx tflite pt2 gguf",
    .traits = {"x86-64 and aarch64 CPUs", "ONNX, TFLite, PT2, GGUF", "graph, plan, C text",
               "folding, fusion into epilogues, layout by strides, int8 lowering, tuned tiles, "
               "arena reuse",
               "fp32 bf16 fp16 int8 int4-weights"},
    .grows = true,
    .takes_text = true,
    .variants = variants,
    .describe = describe_built_in,
    .prepare = prepare,
    .session_size = sizeof(struct session),
    .open = open_session,
    .bind = bind_set,
    .submit = submit,
    .wait = wait,
    .extend = extend,
    .keep = keep,
    .close = close_session,
};
