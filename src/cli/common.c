/* What several verbs need. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

int report_failure(const struct ctx *ctx) {
  const char *remedy = status_remedy(ctx->status);
  fprintf(stderr, "hone: %s\n", hone_context_message(ctx));
  if (*remedy) fprintf(stderr, "      %s\n", remedy);
  return status_exit_code(ctx->status);
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
                  "no such limit; 'hone list limits' shows them");
    if (!parse_i64(value, 1, INT64_MAX, &ctx->limits[id]))
      return fail(ctx, HONE_E_USAGE, place_name(name), "\"%s\" is not a whole number above 0",
                  value);
  }
  return HONE_OK;
}

hone_status load_model(struct ctx *ctx, const struct args *args, const char *path,
                       struct model *out) {
  struct import_options options = {.shapes = value_of(args, FLAG_shape, NULL),
                                   .side_files_from = value_of(args, FLAG_side_files_from, NULL),
                                   .strict = has(args, FLAG_strict)};
  return model_load(ctx, path, &options, out);
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
                                  .debug = has(args, FLAG_debug),
                                  .no_cache = has(args, FLAG_no_cache),
                                  .no_passes = has(args, FLAG_no_passes),
                                  .dump_after = value_of(args, FLAG_dump_after, NULL),
                                  .stop_after = value_of(args, FLAG_stop_after, NULL)};
  return target_init(ctx, value_of(args, FLAG_target, NULL), value_of(args, FLAG_cpu, NULL),
                     &out->target);
}

hone_status write_output(struct ctx *ctx, const char *path, const struct text *text) {
  TRY(text_finish(ctx, text));
  fflush(stdout); /* /dev/stdout goes on where it stands; a failure shows at the end */
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

/* -- inputs and outputs of a run ----------------------------------------------------------------
 */

static hone_status read_into(struct ctx *ctx, const char *path, const struct value *value,
                             struct arena *arena, hone_tensor *out) {
  hone_tensor expect = {.dtype = value->dtype, .rank = value->shape.rank}, read;
  memcpy(expect.shape, value->shape.dims, sizeof expect.shape);
  TRY(npy_read(ctx, path, &expect, &read));
  bool same = read.dtype == expect.dtype && read.rank == expect.rank;
  for (int i = 0; same && i < read.rank; i++) same = read.shape[i] == expect.shape[i];
  struct tensor *tensor;
  hone_status status = HONE_OK;
  if (!same) {
    struct text wanted = {0};
    shape_print(&wanted, &value->shape);
    status = fail(ctx, read.dtype == expect.dtype ? HONE_E_SHAPE : HONE_E_TYPE, place_file(path),
                  "is not %s%s", dtype_name(value->dtype), wanted.at ? wanted.at : "");
    text_deinit(&wanted);
  }
  if (!status) status = tensor_create(ctx, arena, value->dtype, &value->shape, &tensor);
  if (!status) {
    *out = expect;
    out->data = (void *)(uintptr_t)tensor->data;
    memcpy(out->data, read.data, tensor->bytes);
  }
  free(read.data);
  return status;
}

static bool exists(const char *path) {
  struct stat info;
  return !stat(path, &info);
}

static hone_status find_input(struct ctx *ctx, const struct args *args, const struct value *value,
                              size_t index, char out[4096]) {
  out[0] = 0;
  for (size_t i = 0; i < args->repeated[FLAG_input].count; i++) {
    char name[256];
    const char *path;
    TRY(split_pair(ctx, args->repeated[FLAG_input].at[i], "NAME=FILE", name, &path));
    if (!strcmp(name, value->name)) snprintf(out, 4096, "%s", path);
  }
  const char *dir = value_of(args, FLAG_inputs, NULL);
  if (out[0] || !dir) return HONE_OK;
  snprintf(out, 4096, "%s/in_%zu.npy", dir, index);
  if (exists(out)) return HONE_OK;
  if (strchr(value->name, '/'))
    out[0] = 0;
  else
    snprintf(out, 4096, "%s/%s.npy", dir, value->name);
  if (!out[0] || !exists(out)) out[0] = 0;
  return HONE_OK;
}

static hone_status check_input_names(struct ctx *ctx, const struct args *args,
                                     const struct graph *graph) {
  for (size_t i = 0; i < args->repeated[FLAG_input].count; i++) {
    char name[256];
    const char *path;
    bool found = false;
    TRY(split_pair(ctx, args->repeated[FLAG_input].at[i], "NAME=FILE", name, &path));
    for (size_t k = 0; k < graph->inputs.count; k++)
      found |= !strcmp(graph->inputs.at[k]->name, name);
    if (!found)
      return fail(ctx, HONE_E_USAGE, place_name(name),
                  "the model has no such input; 'hone inspect' lists them");
  }
  return HONE_OK;
}

hone_status make_inputs(struct ctx *ctx, const struct args *args, const struct model *model,
                        struct arena *arena, int set, hone_tensor *out) {
  int64_t seed;
  TRY(int_of(ctx, args, FLAG_seed, 0, INT64_MAX, 1, &seed));
  TRY(check_input_names(ctx, args, model->graph));
  for (size_t i = 0; i < model->graph->inputs.count; i++) {
    char path[4096];
    TRY(find_input(ctx, args, model->graph->inputs.at[i], i, path));
    if (path[0])
      TRY(read_into(ctx, path, model->graph->inputs.at[i], arena, &out[i]));
    else
      TRY(input_generate(ctx, arena, model->graph, i, (uint64_t)seed, set, &out[i]));
  }
  return HONE_OK;
}

hone_status make_outputs(struct ctx *ctx, const struct model *model, struct arena *arena,
                         hone_tensor *out) {
  for (size_t i = 0; i < model->graph->outputs.count; i++) {
    const struct value *value = model->graph->outputs.at[i];
    struct tensor *tensor;
    TRY(tensor_create(ctx, arena, value->dtype, &value->shape, &tensor));
    out[i] = (hone_tensor){
        .data = (void *)(uintptr_t)tensor->data, .dtype = value->dtype, .rank = value->shape.rank};
    memcpy(out[i].shape, value->shape.dims, sizeof out[i].shape);
  }
  return HONE_OK;
}

/* -- studies ------------------------------------------------------------------------------------
 */

static int terminal_width(void) {
  struct winsize size;
  return !ioctl(1, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 0;
}

struct shown {
  const struct summary *summary;
  struct render_options options;
};

static hone_status render_form(struct ctx *ctx, void *user, const char *form, struct text *out) {
  const struct shown *shown = user;
  const struct renderer *renderer = renderer_find(form);
  if (!renderer) return fail(ctx, HONE_E_INTERNAL, place_name(form), "no such renderer");
  return renderer->render(ctx, shown->summary, &shown->options, out);
}

static int show_summary(struct ctx *ctx, const struct args *args, const struct sinks *sinks,
                        const struct summary *summary) {
  struct shown shown = {summary, {.color = wants_color(args), .width = terminal_width()}};
  static const struct sinks terminal = {.count = 1, .at = {{"-", "table"}}};
  int code = sinks->takes_stdout ? 0 : sinks_write(ctx, &terminal, render_form, &shown);
  int failed = sinks_write(ctx, sinks, render_form, &shown);
  return code ? code : failed;
}

int show_study(struct ctx *ctx, const struct args *args, const struct sinks *sinks,
               struct store *store, const char *which) {
  struct study_row row;
  struct arena *arena;
  static struct study_data data;
  static struct summary summary;
  if (store_get_study(ctx, store, which, &row) || arena_create(ctx, 0, &arena))
    return report_failure(ctx);
  hone_status status = store_read_study(ctx, store, arena, row.key, &data);
  if (!status) status = summarise(ctx, arena, &data, wants_synthetic(args), &summary);
  int code = status ? report_failure(ctx) : show_summary(ctx, args, sinks, &summary);
  arena_destroy(arena);
  return code;
}

static void scaled(char out[32], double x, double base, const char *const *units, size_t count) {
  size_t i = 0;
  for (; i + 1 < count && x >= base; i++) x /= base;
  snprintf(out, 32, x < 10 && i ? "%.2f %s" : x < 100 && i ? "%.1f %s" : "%.0f %s", x, units[i]);
}

void format_bytes(char out[32], double bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  scaled(out, bytes, 1024, units, COUNT(units));
}

void format_count(char out[32], double count) {
  static const char *const units[] = {"", "K", "M", "G", "T"};
  scaled(out, count, 1000, units, COUNT(units));
}
