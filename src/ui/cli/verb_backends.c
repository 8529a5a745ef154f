/* hone backends and hone doctor: which engines are installed, and what is missing on this machine. */
#include "judge/predict/predict.h"
#include "cli.h"

#include <jansson.h>
#include <stdlib.h>

static const char *const states[] = {"ready", "missing", "unsupported"};

/* Libraries that hone itself uses, installed like engines: for the predictor, and for writing Parquet. */
static const struct backend libraries[] = {
    {.name = "xgboost", .title = "XGBoost", .package = XGBOOST_PACKAGE, .package_mb = 20},
    {.name = "duckdb", .title = "DuckDB", .package = "duckdb==2.0.0", .package_mb = 80},
};

static const struct backend *find_package(const char *name) {
  for (size_t i = 0; i < COUNT(libraries); i++)
    if (!strcmp(libraries[i].name, name)) return &libraries[i];
  return backend_find(name);
}

static const char *engine_path(const struct args *args, const char *name) {
  size_t n = strlen(name);
  for (size_t i = 0; i < args->repeated[FLAG_engine].count; i++) {
    const char *pair = args->repeated[FLAG_engine].at[i];
    if (!strncmp(pair, name, n) && pair[n] == '=') return pair + n + 1;
  }
  return NULL;
}

/* Name, title, formats and variants of every engine except the test backends. */
static void add_traits(json_t *one, const struct backend *backend) {
  const struct backend_traits *traits = &backend->traits;
  json_t *variants = json_object();
  for (const struct backend_variant *v = backend->variants; v && v->name; v++)
    json_object_set_new(variants, v->name, json_string(v->options));
  json_object_set_new(one, "variants", variants);
  if (!traits->hardware) return;
  json_object_update_new(
      one, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "title", backend->title, "hardware",
                     traits->hardware, "front_ends", traits->front_ends, "representations",
                     traits->representations, "optimisations", traits->optimisations, "precisions",
                     traits->precisions));
}

static hone_status render_json_form(struct ctx *ctx, void *user, const char *form,
                                    struct strbuf *out) {
  const struct args *args = user;
  (void)form;
  json_t *list = json_array();
  for (size_t i = 0; i < backend_count; i++) {
    static struct backend_info info;
    if (!backend_find(backend_list[i]->name)) continue;
    describe_backend(ctx, backend_list[i], engine_path(args, backend_list[i]->name), &info);
    json_t *one = json_pack("{s:s, s:s, s:s, s:s}", "name", backend_list[i]->name, "status",
                            states[info.status], "version", info.version, "reason", info.reason);
    add_traits(one, backend_list[i]);
    json_array_append_new(list, one);
  }
  json_t *root = json_pack("{s:i, s:o}", "schema", 1, "backends", list);
  char *dumped = json_dumps(root, JSON_INDENT(2));
  json_decref(root);
  if (!dumped) return fail(ctx, HONE_E_OOM, place_none(), "no memory for JSON");
  strbuf_printf(out, "%s\n", dumped);
  free(dumped);
  return strbuf_finish(ctx, out);
}

static void print_table(struct ctx *ctx, const struct args *args) {
  for (size_t i = 0; i < backend_count; i++) {
    static struct backend_info info;
    if (!backend_find(backend_list[i]->name)) continue;
    describe_backend(ctx, backend_list[i], engine_path(args, backend_list[i]->name), &info);
    printf("%-14s %-12s %-14s %s\n", backend_list[i]->name, states[info.status], info.version,
           info.reason);
  }
}

static void print_line(void *user, const char *line) {
  (void)user;
  struct strbuf safe = {0};
  strbuf_put_safe(&safe, line, 300);
  if (safe.at) fprintf(stderr, "  %s\n", safe.at);
  strbuf_deinit(&safe);
}

static hone_status change_one(struct ctx *ctx, const struct args *args,
                              const struct backend *backend, bool install) {
  if (!backend->package) {
    const bool is_elsewhere = backend->is_absent || backend->device;
    fprintf(
        stderr,
        is_elsewhere ? "%s cannot be installed: there is no package for it\n" : "%s is built in\n",
        backend->name);
    return HONE_OK;
  }
  if (!install) return engine_remove(ctx, backend);
  fprintf(stderr, "installing %s%s%s (about %d MB on disk)\n",
          backend->package_alone ? backend->package_alone : "", backend->package_alone ? " " : "",
          backend->package, backend->package_mb);
  return engine_install(ctx, backend, has(args, FLAG_quiet) ? NULL : print_line, NULL);
}

/* Engines of devices are detected without calling them. */
static bool lacks_device(struct ctx *ctx, const struct backend *backend) {
  struct backend_info info;
  if (!backend->device) return false;
  backend->describe(ctx, backend, NULL, &info);
  if (info.status != BACKEND_UNSUPPORTED) return false;
  fprintf(stderr, "skipped %s: %s\n", backend->name, info.reason);
  return true;
}

/* All engines that have a package; of those for devices only the ones for devices of this machine. A failure does not stop the
   others; the last failure is the result. */
static hone_status change_all(struct ctx *ctx, const struct args *args, bool install) {
  hone_status result = HONE_OK;
  for (size_t i = 0; i < backend_count; i++) {
    char folder[4096];
    if (!backend_list[i]->package || (install && lacks_device(ctx, backend_list[i])) ||
        (!install && engine_dir(ctx, backend_list[i]->name, folder))) {
      ctx_clear(ctx);
      continue;
    }
    const hone_status status = change_one(ctx, args, backend_list[i], install);
    if (status) result = status;
    if (status) print_line(NULL, hone_context_message(ctx));
    if (status) ctx_clear(ctx);
  }
  if (!result) return HONE_OK;
  return fail(ctx, result, place_name("all"),
              "some engines could not be %s; see the messages above",
              install ? "installed" : "removed");
}

static hone_status change(struct ctx *ctx, const struct args *args, bool install) {
  if (args->word_count < 2) return fail(ctx, HONE_E_USAGE, place_none(), "name an engine, or all");
  for (size_t i = 1; i < args->word_count; i++) {
    const struct backend *backend = find_package(args->words[i]);
    if (!strcmp(args->words[i], "all")) {
      TRY(change_all(ctx, args, install));
      continue;
    }
    if (!backend) return unknown_backend(ctx, args->words[i]);
    TRY(change_one(ctx, args, backend, install));
  }
  return HONE_OK;
}

static int show(struct ctx *ctx, struct args *args) {
  static struct sinks sinks;
  if (sinks_read(ctx, args, &sinks)) return report_failure(ctx);
  if (!sinks.takes_stdout) print_table(ctx, args);
  return sinks_write(ctx, &sinks, render_json_form, args);
}

int verb_backends(struct ctx *ctx, struct args *args) {
  hone_status status;
  if (!args->word_count) return show(ctx, args);
  if (!strcmp(args->words[0], "install"))
    status = change(ctx, args, true);
  else if (!strcmp(args->words[0], "remove"))
    status = change(ctx, args, false);
  else
    status = fail(ctx, HONE_E_USAGE, place_name(args->words[0]),
                  "'hone backends', 'hone backends install NAME|all' or 'remove NAME|all'");
  return status ? report_failure(ctx) : 0;
}

static void doctor_line(const char *what, bool ok, const char *text) {
  printf("%-12s %-8s %s\n", what, ok ? "ok" : "MISSING", text);
}

/* Compilers for other processors are listed only if they are installed: only --target needs them. */
static void doctor_cross(struct ctx *ctx) {
  for (size_t i = 0; target_triple(i); i++) {
    struct target target, here;
    char compiler[128], line[4096];
    ctx_clear(ctx);
    if (target_init(ctx, NULL, NULL, &here) || !strcmp(here.triple, target_triple(i)) ||
        target_init(ctx, target_triple(i), NULL, &target))
      continue;
    const hone_status status = toolchain_try(ctx, &target, compiler);
    snprintf(line, sizeof line, "%s: %s", target_triple(i),
             status ? hone_context_message(ctx) : compiler);
    printf("%-12s %-8s %s\n", "--target", status ? "-" : "ok", line);
  }
  ctx_clear(ctx);
}

int verb_doctor(struct ctx *ctx, struct args *args) {
  char compiler[128], dir[4096];
  static struct fingerprint print;
  struct target target;
  bool healthy = true;
  if (args->word_count) {
    REFUSE(ctx, HONE_E_USAGE, place_name(args->words[0]), "'hone doctor' takes no arguments");
    return report_failure(ctx);
  }
  hone_status status = toolchain_describe(ctx, NULL, NULL, compiler);
  doctor_line("C compiler", !status,
              status ? "needed to compile a model, not to run one: apt-get install gcc" : compiler);
  healthy &= !status;
  ctx_clear(ctx);
  doctor_cross(ctx);
  if (!fingerprint_read(ctx, &print)) {
    char line[512];
    snprintf(line, sizeof line, "%s, %d usable cores, %s", print.cpu_model, print.cores_usable,
             print.features);
    doctor_line("processor", true, line);
  }
  ctx_clear(ctx);
  if (!target_init(ctx, NULL, NULL, &target)) doctor_line("code level", true, target.level);
  ctx_clear(ctx);
  status = dir_user(ctx, "data", dir);
  doctor_line("data folder", !status, status ? hone_context_message(ctx) : dir);
  healthy &= !status;
  ctx_clear(ctx);
  status = dir_user(ctx, "cache", dir);
  doctor_line("cache", !status, status ? hone_context_message(ctx) : dir);
  healthy &= !status;
  ctx_clear(ctx);
  print_table(ctx, args);
  return healthy ? 0 : status_exit_code(HONE_E_MISSING);
}
