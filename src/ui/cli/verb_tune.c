/* hone tune and hone kernel: measure kernel choices on this machine. */
#include <math.h>

#include "compiler/tune/tune.h"
#include "cli.h"

/* -- kernel */

enum { KERNEL_CANDIDATES = 64, KERNEL_PROCESSES = 4, LINE = 512 };
#define KERNEL_BUDGET_S 2.0
#define REFERENCE_MACS 2e9 /* a few seconds of the generic loops */
#define PEAK_NS 300000000ull

/* Multiply-add throughput of this element type relative to f32, from the level's description. */
static double type_factor(const struct target *target, uint8_t type) {
  const struct speeds *s = &target->speeds;
  if (type == TYPE_U8 || type == TYPE_I8) return s->i8_macs / s->f32_macs;
  return type == TYPE_BF16 ? s->bf16_macs / s->f32_macs : 1;
}

static void print_candidate(const struct trial *trial, size_t i, double peak) {
  const struct candidate *c = &trial->candidates[i];
  char choice[LINE], ratio[32] = "";
  choice_print(choice, sizeof choice, &c->choice);
  if (i && isfinite(c->ratio.value))
    snprintf(ratio, sizeof ratio, "%.3f %.3f-%.3f", c->ratio.value, c->ratio.low, c->ratio.high);
  printf("%9.1f %9.1f  %-18s", c->choice.cost / 1e3, c->ns / 1e3, i ? ratio : "1");
  if (trial->macs > 0 && 2 * trial->macs <= peak * c->ns)
    printf(" %8.1f %6.1f", 2 * trial->macs / c->ns, 200 * trial->macs / c->ns / peak);
  else if (trial->macs > 0) /* the probe of the peak was disturbed */
    printf(" %8.1f %6s", 2 * trial->macs / c->ns, "-");
  else
    printf(" %8s %6s", "", "");
  printf(" %8.1e%s  %s\n", c->off, isfinite(c->ns) ? "" : " WRONG", choice);
}

static void print_trial(const struct trial *trial, const struct trial_options *options,
                        const struct peaks *peaks) {
  char line[LINE];
  const double peak = peaks->f32_flops * type_factor(options->target, trial->problem.types.a) / 1e9;
  problem_print(line, sizeof line, &trial->problem);
  printf("%s\n%s, %d thread%s, peak %.0f GFLOP/s; %zu choices, the first is the default\n", line,
         options->target->level, options->threads, options->threads == 1 ? "" : "s", peak,
         trial->count);
  printf("%9s %9s  %-18s %8s %6s %8s  choice\n", "pred. us", "meas. us", "vs. default", "GFLOP/s",
         "% peak", "error");
  for (size_t i = 0; i < trial->count; i++) print_candidate(trial, i, peak);
  const size_t best = trial_best(trial);
  if (best)
    printf("significantly faster: choice %zu, %.3f of the default's time\n", best + 1,
           trial->candidates[best].ratio.value);
  else
    printf("no choice is significantly faster than the default\n");
  printf("error: relative L2 distance from %s\n",
         trial->by_reference ? "generic loops in double precision" : "the default's results");
}

/* The peak is probed before and after; disturbance lowers a probe and never raises it. */
static hone_status measure_choices(struct ctx *ctx, struct arena *arena,
                                   const struct problem *problem,
                                   const struct trial_options *options) {
  struct trial trial;
  struct peaks peaks = {0}, again = {0};
  TRY(peaks_measure(ctx, options->threads, PEAK_NS, &peaks));
  TRY(trial_run(ctx, arena, problem, options, &trial));
  TRY(peaks_measure(ctx, options->threads, PEAK_NS, &again));
  peaks_raise(&peaks, &again);
  print_trial(&trial, options, &peaks);
  return HONE_OK;
}

static hone_status kernel(struct ctx *ctx, const struct args *args) {
  const char *line;
  struct problem problem;
  struct compile_options compile;
  struct arena *arena;
  int64_t seed;
  struct trial_options options = {.most = KERNEL_CANDIDATES,
                                  .processes = KERNEL_PROCESSES,
                                  .check_macs = REFERENCE_MACS,
                                  .times_one = true};
  TRY(one_word(ctx, args, "problem line", &line));
  TRY(read_compile_options(ctx, args, &compile));
  TRY(amount_of(ctx, args, FLAG_budget, AMOUNT_SECONDS, 0.01, 1e6, KERNEL_BUDGET_S,
                &options.seconds));
  TRY(int_of(ctx, args, FLAG_seed, 0, INT64_MAX, 0, &seed));
  if (!problem_parse(line, &problem))
    return fail(ctx, HONE_E_USAGE, place_name(line),
                "is not a problem line; 'hone compile MODEL --stop-after plan --dump-after plan' "
                "prints them after |");
  options.target = &compile.target;
  options.threads = compile.threads;
  options.cc = compile.cc;
  options.seed = (uint64_t)seed;
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = measure_choices(ctx, arena, &problem, &options);
  arena_destroy(arena);
  return status;
}

int verb_kernel(struct ctx *ctx, struct args *args) {
  return kernel(ctx, args) ? report_failure(ctx) : 0;
}

/* -- tune */

#define TUNE_BUDGET_S 60.0

static void show_trial(void *user, const struct trial *trial, size_t number, size_t count) {
  const struct args *args = user;
  char line[LINE];
  const size_t best = trial_best(trial);
  if (has(args, FLAG_quiet) || trial->count < 2) return;
  problem_print(line, sizeof line, &trial->problem);
  fprintf(stderr, "[%zu/%zu] %9.1f us", number, count, trial->candidates[0].ns / 1e3);
  if (best)
    fprintf(stderr, "  x %.3f", trial->candidates[best].ratio.value);
  else
    fprintf(stderr, "  as is  ");
  fprintf(stderr, "  %s\n", line);
}

static void print_tuned(const struct tune_report *report) {
  printf("%zu problems: %zu known, %zu measured, %zu kept\n", report->problems, report->known,
         report->tried, report->kept);
  if (isfinite(report->model.value))
    printf("the model takes %.3f (%.3f to %.3f) of its time without tuning%s\n",
           report->model.value, report->model.low, report->model.high,
           report->refused ? ": not significantly faster, nothing is kept" : "");
  if (report->kept) printf("%s\n", report->path);
}

static hone_status tune(struct ctx *ctx, const struct args *args) {
  const char *path;
  int64_t seed;
  struct model model;
  struct tune_report report;
  struct tune_options options = {.progress = show_trial, .user = (void *)(uintptr_t)args};
  TRY(one_word(ctx, args, "model", &path));
  TRY(read_compile_options(ctx, args, &options.compile));
  TRY(amount_of(ctx, args, FLAG_budget, AMOUNT_SECONDS, 0.01, 1e6, TUNE_BUDGET_S,
                &options.budget_s));
  TRY(int_of(ctx, args, FLAG_seed, 0, INT64_MAX, 0, &seed));
  options.seed = (uint64_t)seed;
  TRY(load_model(ctx, args, path, &model));
  hone_status status = about_model(ctx, tune_model(ctx, &model, &options, &report));
  model_unload(&model);
  if (!status) print_tuned(&report);
  return status;
}

int verb_tune(struct ctx *ctx, struct args *args) {
  return tune(ctx, args) ? report_failure(ctx) : 0;
}
