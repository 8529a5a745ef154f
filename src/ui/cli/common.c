/* Functions that several verbs share. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int report_failure(struct ctx *ctx) {
  const char *what_to_do = ctx_hint(ctx);
  fprintf(stderr, "hone: %s\n", hone_context_message(ctx));
  if (*what_to_do) fprintf(stderr, "      %s\n", what_to_do);
  return status_exit_code(ctx->status);
}

/* A full disk or a closed pipe is an error. */
int finish_output(int code) {
  if (fflush(stdout) || ferror(stdout)) {
    if (errno == EPIPE) return code ? code : 74;
    fprintf(stderr, "hone: E_WRITE: cannot write to standard output: %s\n", strerror(errno));
    return code ? code : 73;
  }
  return code;
}

hone_status unknown_backend(struct ctx *ctx, const char *word) {
  const char *names[64], *best;
  size_t count = 0;
  for (size_t i = 0; i < backend_count && count < COUNT(names); i++)
    if (backend_find(backend_list[i]->name)) names[count++] = backend_list[i]->name;
  best = nearest_name(word, names, count);
  return advise(ctx,
                fail(ctx, HONE_E_USAGE, place_name(word), "no such engine%s%s%s",
                     best ? "; did you mean " : "", best ? best : "", best ? "?" : ""),
                "'hone list backends' prints them");
}

static hone_status split_pair(struct ctx *ctx, const char *pair, const char *what, char name[256],
                              const char **out_value) {
  const char *equals = strchr(pair, '=');
  if (!equals || equals == pair || (size_t)(equals - pair) >= 256)
    return fail(ctx, HONE_E_USAGE, place_name(pair), "is not %s", what);
  memcpy(name, pair, (size_t)(equals - pair));
  name[equals - pair] = 0;
  *out_value = equals + 1;
  return HONE_OK;
}

hone_status apply_limits(struct ctx *ctx, const struct args *args) {
  for (size_t i = 0; i < args->repeated[FLAG_limit].count; i++) {
    char name[256];
    const char *value;
    TRY(split_pair(ctx, args->repeated[FLAG_limit].at[i], "NAME=VALUE", name, &value));
    int id = limit_find(name);
    if (id < 0)
      return fail(ctx, HONE_E_USAGE, place_name(name),
                  "no such limit; 'hone list limits' prints them");
    if (!parse_i64(value, 1, INT64_MAX, &ctx->limits[id]))
      return fail(ctx, HONE_E_USAGE, place_name(name), "\"%s\" is not a whole number above 0",
                  value);
  }
  return HONE_OK;
}

/* A hint for errors in the model file that have none. */
hone_status about_model(struct ctx *ctx, hone_status status) {
  static const struct {
    hone_status id;
    const char *hint;
  } hints[] = {
      {HONE_E_NOFILE, "check the path; 'hone zoo list' names the built-in models"},
      {HONE_E_FORMAT,
       "export the model again, or compare its size and checksum with the original's"},
      {HONE_E_TYPE, "export the model with another element type at this place"},
      {HONE_E_SHAPE,
       "check the model at this place; --shape \"x[1,3,224,224]\" sets dynamic dimensions"},
      {HONE_E_UNSUP,
       "'hone list ops' prints the supported operators; another engine of 'hone bench' may run the "
       "model"},
      {HONE_E_NUM, "export the model again"},
  };
  for (size_t i = 0; status && i < COUNT(hints); i++)
    if (hints[i].id == status) return advise(ctx, status, "%s", hints[i].hint);
  return status;
}

static hone_status given_of_args(struct ctx *ctx, const struct args *args, struct arena *arena,
                                 struct given *out) {
  const struct repeated *files = &args->repeated[FLAG_input];
  struct bench_pair *pairs;
  TRY(NEW_ARRAY(ctx, arena, pairs, files->count));
  for (size_t i = 0; i < files->count; i++) {
    char name[256];
    TRY(split_pair(ctx, files->at[i], "NAME=FILE", name, &pairs[i].value));
    TRY(arena_string(ctx, arena, name, strlen(name), &pairs[i].name));
  }
  *out = (struct given){pairs, files->count, value_of(args, FLAG_inputs, NULL)};
  return HONE_OK;
}

/* The shape of a given file, as "x[1,3,20,30]", for an input with dynamic dimensions that --shape does not set. */
static hone_status shape_of_file(struct ctx *ctx, const struct given *given,
                                 const struct asked_input *input, size_t index,
                                 struct strbuf *out) {
  const hone_tensor expect = {.dtype = input->dtype};
  hone_tensor read = {0};
  char path[4096];
  bool is_open = !input->has_shape;
  for (int d = 0; d < input->shape.rank; d++) is_open |= input->shape.dims[d] < 0;
  if (!is_open) return HONE_OK;
  TRY(given_find(ctx, given, input->name, index, path));
  const size_t length = strlen(path);
  if (length < 4 || strcmp(path + length - 4, ".npy")) return HONE_OK;
  if (npy_read(ctx, path, &expect, &read)) {
    ctx_clear(ctx); /* reported when the values are read */
    return HONE_OK;
  }
  free(read.data);
  if (input->has_shape && read.rank != input->shape.rank) return HONE_OK;
  strbuf_printf(out, "%s%s[", out->length ? "," : "", input->name);
  for (int d = 0; d < read.rank; d++)
    strbuf_printf(out, "%s%lld", d ? "," : "", (long long)read.shape[d]);
  strbuf_puts(out, "]");
  return HONE_OK;
}

hone_status shapes_of_inputs(struct ctx *ctx, const struct args *args, const char *path,
                             struct arena *arena, const char **out) {
  struct asked_inputs asked = {.arena = arena};
  struct given given;
  struct model model;
  struct strbuf text = {0};
  *out = value_of(args, FLAG_shape, NULL);
  if (zoo_is_spec(path) || (!has(args, FLAG_inputs) && !has(args, FLAG_input))) return HONE_OK;
  const struct import_options options = {
      .shapes = *out,
      .side_files_from = value_of(args, FLAG_side_files_from, NULL),
      .signature = value_of(args, FLAG_signature, NULL),
      .asked = &asked,
      .is_probe = true};
  void (*say)(void *, const char *) = ctx->warn;
  ctx->warn = NULL; /* reported when the model is read */
  hone_status status = model_load(ctx, path, &options, &model);
  ctx->warn = say;
  if (!status) model_unload(&model);
  ctx_clear(ctx);
  if (*out) strbuf_puts(&text, *out);
  status = given_of_args(ctx, args, arena, &given);
  for (size_t i = 0; i < asked.list.count && !status; i++)
    status = shape_of_file(ctx, &given, &asked.list.at[i], i, &text);
  if (!status) status = strbuf_finish(ctx, &text);
  if (!status && text.length) status = arena_string(ctx, arena, text.at, text.length, out);
  strbuf_deinit(&text);
  return status;
}

hone_status read_text(struct ctx *ctx, const char *word, struct strbuf *out) {
  char block[4096];
  size_t n;
  if (strcmp(word, "-"))
    strbuf_puts(out, word);
  else
    while ((n = fread(block, 1, sizeof block, stdin)) && out->length < (size_t)64 << 20)
      strbuf_append(out, block, n);
  return strbuf_finish(ctx, out);
}

hone_status load_model(struct ctx *ctx, const struct args *args, const char *path,
                       struct model *out) {
  int64_t batch, cache;
  const char *shapes;
  struct arena *arena;
  TRY(int_of(ctx, args, FLAG_batch, 1, 1 << 20, 0, &batch));
  TRY(int_of(ctx, args, FLAG_cache, 1, 1 << 17, 0, &cache));
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = shapes_of_inputs(ctx, args, path, arena, &shapes);
  struct import_options options = {.shapes = shapes,
                                   .batch = batch,
                                   .side_files_from = value_of(args, FLAG_side_files_from, NULL),
                                   .signature = value_of(args, FLAG_signature, NULL),
                                   .strict = has(args, FLAG_strict),
                                   .cache = cache};
  if (!status) status = about_model(ctx, model_load(ctx, path, &options, out));
  arena_destroy(arena);
  if (status) return status;
  for (size_t i = 0; i < args->repeated[FLAG_alias].count && !status; i++) {
    char input[256];
    const char *output;
    status = split_pair(ctx, args->repeated[FLAG_alias].at[i], "INPUT=OUTPUT", input, &output);
    if (!status) status = graph_alias(ctx, out->graph, input, output);
  }
  if (status) model_unload(out);
  return status;
}

static hone_status read_precision(struct ctx *ctx, const struct args *args,
                                  struct compile_options *out) {
  const char *name = value_of(args, FLAG_precision, "as-is");
  if (compile_precision(name, out)) return HONE_OK;
  return fail(ctx, HONE_E_USAGE, place_name(name),
              "no such precision; there are as-is, fp32, bf16, fp16");
}

static hone_status read_preference(struct ctx *ctx, const struct args *args, bool *out_size) {
  const char *name = value_of(args, FLAG_prefer, "speed");
  *out_size = !strcmp(name, "size");
  if (*out_size || !strcmp(name, "speed")) return HONE_OK;
  return fail(ctx, HONE_E_USAGE, place_name(name), "no such preference; there are speed and size");
}

hone_status read_compile_options(struct ctx *ctx, const struct args *args,
                                 struct compile_options *out) {
  int64_t threads;
  TRY(int_of(ctx, args, FLAG_threads, 1, 4096, usable_core_count(), &threads));
  *out = (struct compile_options){.threads = (int)threads,
                                  .cc = value_of(args, FLAG_cc, NULL),
                                  .prefix = value_of(args, FLAG_prefix, NULL),
                                  .keep = value_of(args, FLAG_keep, NULL),
                                  .choices = value_of(args, FLAG_choices, NULL),
                                  .untuned = has(args, FLAG_untuned),
                                  .kernel_dir = value_of(args, FLAG_kernel_dir, NULL),
                                  .embeds = has(args, FLAG_embed),
                                  .debug = has(args, FLAG_debug),
                                  .no_cache = has(args, FLAG_no_cache),
                                  .no_passes = has(args, FLAG_no_passes),
                                  .dump_after = value_of(args, FLAG_dump_after, NULL),
                                  .stop_after = value_of(args, FLAG_stop_after, NULL)};
  TRY(read_precision(ctx, args, out));
  TRY(read_preference(ctx, args, &out->prefers_size));
  const char *level = value_of(args, FLAG_cpu, NULL);
  if (has(args, FLAG_portable) && level && strcmp(level, "portable"))
    return fail(ctx, HONE_E_USAGE, place_name("--portable"), "cannot be combined with --cpu %s",
                level);
  if (has(args, FLAG_portable)) level = "portable";
  const char *triple = value_of(args, FLAG_target, NULL);
  if (level && (strchr(level, ',') || !strcmp(level, "all"))) {
    static const char *const verbs_of_several[] = {"compile", "run", "verify"};
    bool takes_several = false;
    for (size_t i = 0; i < COUNT(verbs_of_several); i++)
      takes_several |= !strcmp(args->verb, verbs_of_several[i]);
    if (!takes_several)
      return fail(ctx, HONE_E_USAGE, place_name("--cpu"), "%s accepts only one level", args->verb);
    TRY(targets_init(ctx, triple, level, out->levels, &out->level_count));
    out->target = out->levels[0]; /* for a program's own main */
  } else {
    TRY(target_init(ctx, triple, level, &out->target));
  }
  if (out->target.is_bare && !has(args, FLAG_threads)) out->threads = 1;
  return HONE_OK;
}

hone_status write_output(struct ctx *ctx, const char *path, const struct strbuf *text) {
  TRY(strbuf_finish(ctx, text));
  fflush(stdout); /* /dev/stdout appends at the current position; finish_output reports failures */
  if (strcmp(path, "-"))
    return file_write_atomic(ctx, path, text->at ? text->at : "", text->length, 0644);
  if (text->length && fwrite(text->at, 1, text->length, stdout) != text->length)
    return fail(ctx, HONE_E_WRITE, place_name("standard output"), "cannot write");
  return HONE_OK;
}

bool wants_synthetic(const struct args *args) {
  const char *testing = getenv("HONE_TESTING");
  return has(args, FLAG_with_synthetic) || (testing && !strcmp(testing, "1"));
}

bool wants_color(const struct args *args) {
  const char *when = value_of(args, FLAG_color, "auto");
  if (!strcmp(when, "always")) return true;
  return strcmp(when, "never") && isatty(1) && !getenv("NO_COLOR");
}

/* -- inputs and outputs of a run */

static hone_status check_given(struct ctx *ctx, const struct given *given,
                               const struct model *model, struct arena *arena) {
  const char **names;
  bool *is_state;
  TRY(NEW_ARRAY(ctx, arena, names, model->graph->inputs.count));
  TRY(NEW_ARRAY(ctx, arena, is_state, model->graph->inputs.count));
  for (size_t i = 0; i < model->graph->inputs.count; i++) {
    names[i] = model->graph->inputs.at[i]->name;
    is_state[i] = graph_state_of(model->graph, i) != NULL;
  }
  const struct given_model one = {"the model", names, model->graph->inputs.count, is_state};
  return given_check(ctx, given, &one, 1);
}

hone_status make_inputs(struct ctx *ctx, const struct args *args, const struct model *model,
                        struct arena *arena, int set, hone_tensor *out) {
  int64_t seed;
  struct given given;
  TRY(int_of(ctx, args, FLAG_seed, 0, INT64_MAX, 1, &seed));
  TRY(given_of_args(ctx, args, arena, &given));
  if (set == 0) TRY(check_given(ctx, &given, model, arena));
  for (size_t i = 0; i < model->graph->inputs.count; i++) {
    const struct value *input = model->graph->inputs.at[i];
    const hone_tensor want = value_tensor(input, NULL);
    char path[4096];
    TRY(given_find(ctx, &given, input->name, i, path));
    if (path[0])
      TRY(given_read(ctx, arena, path, input->name, &want, &out[i]));
    else
      TRY(input_generate(ctx, arena, model->graph, i, (uint64_t)seed, set, &out[i]));
  }
  return HONE_OK;
}

hone_status make_outputs(struct ctx *ctx, const struct model *model, struct arena *arena,
                         hone_tensor *out) {
  for (size_t i = 0; i < model->graph->outputs.count; i++)
    TRY(value_memory(ctx, arena, model->graph->outputs.at[i], &out[i]));
  return HONE_OK;
}

void format_count(char out[32], double count) {
  static const char *const units[] = {"", "K", "M", "G", "T"};
  size_t i = 0;
  for (; i + 1 < COUNT(units) && count >= 1000; i++) count /= 1000;
  snprintf(out, 32,
           count < 10 && i    ? "%.2f %s"
           : count < 100 && i ? "%.1f %s"
                              : "%.0f %s",
           count, units[i]);
}
