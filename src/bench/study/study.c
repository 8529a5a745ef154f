/* bench_run: options -> cases (each model at each batch, prepared) -> configurations ->
 * measurement, case by case. The entry point is at the end.
 */
#include "study_internal.h"

#include <errno.h>
#include <unistd.h>

/* Fails before anything is stored if neither hone nor an installed engine can read any of the
   files. */
static hone_status check_models(struct bench *bench) {
  const struct bench_study *study = &bench->study;
  for (size_t c = 0; c < study->case_count; c++)
    if (!study->cases[c].refusal) return HONE_OK;
  const struct bench_case *one = &study->cases[0];
  return study->case_count
             ? fail(bench->ctx, one->refusal, place_file(one->model), "%s", one->refusal_reason)
             : HONE_OK;
}

static hone_status describe_cases(struct bench *bench) {
  const struct bench_options *o = &bench->options;
  struct bench_study *study = &bench->study;
  size_t batches = o->batch_count ? o->batch_count : 1;
  TRY(NEW_ARRAY(bench->ctx, bench->arena, study->cases, o->model_count * batches));
  for (size_t m = 0; m < o->model_count; m++)
    for (size_t b = 0; b < batches; b++)
      TRY(case_describe(bench, o->models[m], o->batch_count ? o->batches[b] : 0,
                        &study->cases[study->case_count++]));
  return HONE_OK;
}

static hone_status interrupted(struct bench *bench) {
  return fail(bench->ctx, HONE_E_INTERRUPTED, place_none(), "stopped; what was measured is kept");
}

static hone_status prepare(struct bench *bench, struct bench_case *one) {
  if (one->status == STATUS_ok) TRY(case_reference(bench, one));
  TRY(case_generate(bench, one));
  TRY(case_quality(bench, one));
  return case_label(bench, one);
}

static hone_status measure(struct bench *bench) {
  for (size_t c = 0; c < bench->study.case_count; c++) {
    struct bench_case *one = &bench->study.cases[c];
    if (bench_is_interrupted(bench)) return interrupted(bench);
    const bool is_affordable = budget_allows_case(bench);
    hone_status status = is_affordable ? prepare(bench, one) : HONE_OK;
    budget_begin_case(bench, c);
    if (!status) status = measure_case(bench, c, is_affordable);
    case_release(one);
    TRY(status);
  }
  return bench_is_interrupted(bench) ? interrupted(bench) : HONE_OK;
}

/* Folder for models and references. If the user's cache cannot be written, a temporary one of the
   study is used. */
static hone_status choose_cache(struct bench *bench) {
  struct ctx quiet = *bench->ctx;
  char *dir = bench->cache_dir;
  if (bench->options.cache_dir) {
    snprintf(dir, sizeof bench->cache_dir, "%s", bench->options.cache_dir);
    return HONE_OK;
  }
  if (!dir_user(&quiet, "cache", dir) && !access(dir, W_OK | X_OK)) return HONE_OK;
  warn(bench->ctx, "cannot use the cache of models and references: %s",
       quiet.status ? quiet.message : strerror(errno));
  snprintf(dir, sizeof bench->cache_dir, "%.4000s/cache", bench->dir);
  return dir_create(bench->ctx, dir);
}

static hone_status run_study(struct bench *bench) {
  TRY(choose_cache(bench));
  TRY(options_check(bench));
  TRY(labels_find(bench));
  TRY(describe_cases(bench));
  TRY(check_models(bench));
  TRY(given_check_cases(bench));
  TRY(study_expand(bench));
  TRY(study_key(bench));
  TRY(study_estimate(bench));
  if (bench->callbacks->begin) TRY(bench->callbacks->begin(bench->callbacks->user, &bench->study));
  if (bench->options.is_dry_run) return HONE_OK;
  return measure(bench);
}

static hone_status run_in_folder(struct bench *bench) {
  TRY(dir_temporary(bench->ctx, bench->dir));
  harness_begin(&bench->harness);
  const int nice = priority_set(bench->options.nice);
  const hone_status status = run_study(bench);
  priority_set(nice);
  neighbours_end(bench);
  harness_finish(&bench->harness);
  dir_temporary_remove(bench->dir);
  for (size_t c = 0; c < bench->study.case_count; c++)
    json_decref(bench->study.cases[c].generation);
  labels_close(&bench->labels);
  return status;
}

hone_status bench_run(struct ctx *ctx, const struct bench_options *options,
                      const struct bench_callbacks *callbacks) {
  struct bench *bench; /* on the heap: its paths are too large for a small stack */
  struct arena *arena;
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = NEW(ctx, arena, bench);
  if (!status) {
    bench->ctx = ctx;
    bench->arena = arena;
    bench->options = *options;
    bench->callbacks = callbacks;
    options_set_defaults(&bench->options, &bench->harness);
    budget_start(bench);
    random_init(&bench->random, bench->options.seed);
  }
  if (!status) status = run_in_folder(bench);
  arena_destroy(arena);
  return status;
}
