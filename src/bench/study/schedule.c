/* How often a configuration is measured: rounds per process, and whether another process is worth
 * its time.
 *
 * Many short slices are better than a few long ones: a disturbance on a shared machine lasts longer
 * than two adjacent slices, so their ratio is stable although neither time is
 * (core/stats/paired.c). Every configuration gets the same small number of processes; then only
 * undecided pairs get more. The stopping rule keeps the error rate of the last look: an early stop
 * needs a 99.9 % interval that excludes 1 (J. L. Haybittle 1971, R. Peto et al. 1976), or a tie
 * whose 95 % interval is narrow enough. A narrow interval alone does not end a comparison with a
 * difference: with few processes an interval can be narrow because the spread was underestimated,
 * and such intervals exclude the truth more often than once in twenty.
 */
#include "study_internal.h"

#include <math.h>

#define ROUNDS_MIN 6
#define ROUNDS_MAX 25
#define ROUND_OVERHEAD_NS 15e6 /* rewarming, stopping, messages */
#define PROCESS_BUDGET_NS 1e9  /* of one process of a configuration */
#define EARLY 0.999
#define FINAL 0.95
#define NARROW_LONG 0.03 /* half width, for medians of 1 ms and more */
#define NARROW_SHORT 0.05
#define SHORT_NS 1e6

int schedule_rounds(const struct bench_options *options, double median_ns) {
  if (options->rounds) return (options->rounds + options->processes - 1) / options->processes;
  /* a slice has at least one warming and one timed call */
  const double rounds = PROCESS_BUDGET_NS / (2 * fmax(0, median_ns) + ROUND_OVERHEAD_NS);
  return rounds < ROUNDS_MIN ? ROUNDS_MIN : rounds > ROUNDS_MAX ? ROUNDS_MAX : (int)rounds;
}

/* A slice ends after its time limit but completes the current call; it has one warming call. */
double schedule_rounds_ns(const struct bench_options *o, double median_ns) {
  const double call = fmax(0, median_ns);
  const int rounds = schedule_rounds(o, call);
  const double slices = (double)rounds * o->processes;
  const double timed = fmax(o->min_time_s * 1e9 / slices, ceil(o->min_samples / slices) * call);
  const double slice = fmax(call, fmin(timed, o->max_time_s * 1e9 / slices)) + call;
  return rounds * (slice + ROUND_OVERHEAD_NS);
}

bool schedule_takes_part(int own, int rounds, int round) {
  return own >= rounds || (int64_t)(round + 1) * own / rounds != (int64_t)round * own / rounds;
}

int schedule_round_total(const struct bench_options *options) {
  return options->rounds ? options->rounds : options->processes * ROUNDS_MAX;
}

hone_status slice_log_add(struct ctx *ctx, struct arena *arena, slice_log *log, int process,
                          const struct block *block) {
  double median;
  if (!block->sample_count) return HONE_OK;
  TRY(median_of(ctx, block->samples, block->sample_count, &median));
  VEC_PUSH(ctx, arena, log, (struct slice_median){process, block->round, median});
  return HONE_OK;
}

double slice_log_level(const slice_log *log) {
  double sum = 0;
  for (size_t i = 0; i < log->count; i++) sum += log->at[i].ns;
  return log->count ? sum / (double)log->count : INFINITY;
}

hone_status schedule_is_open(struct ctx *ctx, const slice_log *a, const slice_log *b, bool *out) {
  struct paired last, early;
  TRY(paired_ratio(ctx, a->at, a->count, b->at, b->count, FINAL, &last));
  TRY(paired_ratio(ctx, a->at, a->count, b->at, b->count, EARLY, &early));
  *out = false;
  if (last.processes < 2) return HONE_OK;
  const double narrow =
      fmin(slice_log_level(a), slice_log_level(b)) < SHORT_NS ? NARROW_SHORT : NARROW_LONG;
  const bool is_narrow = log(last.ratio.high / last.ratio.low) / 2 <= narrow;
  const bool is_decided = early.ratio.low > 1 || early.ratio.high < 1;
  const bool is_tie = last.ratio.low <= 1 && last.ratio.high >= 1;
  *out = !(is_narrow && is_tie) && !is_decided;
  return HONE_OK;
}

static bool is_twin(const struct config *a, const struct config *b) {
  return a->label != b->label && a->threads == b->threads && a->load == b->load &&
         !strcmp(a->backend, b->backend) && !strcmp(a->variant, b->variant) &&
         !strcmp(a->options, b->options) && !strcmp(a->device, b->device) &&
         !strcmp(a->scenario, b->scenario) && !strcmp(a->cache_state, b->cache_state) &&
         !strcmp(a->precision, b->precision);
}

static bool runs_alike(const struct config *a, const struct config *b) {
  return a->threads == b->threads && a->load == b->load && !strcmp(a->scenario, b->scenario) &&
         !strcmp(a->precision, b->precision);
}

/* The fastest configuration so far among those that are compared with this one. */
static const struct config_run *leader_of(const struct config *configs,
                                          const struct config_run *all, size_t count,
                                          const struct config *config) {
  const struct config_run *leader = NULL;
  for (size_t i = 0; i < count; i++)
    if (!all[i].has_failed && runs_alike(&configs[all[i].config], config) &&
        (!leader || slice_log_level(&all[i].slices) < slice_log_level(&leader->slices)))
      leader = &all[i];
  return leader;
}

static bool is_compared(const struct config *configs, const struct config_run *all, size_t count,
                        const struct config_run *a, const struct config_run *b) {
  const struct config *x = &configs[a->config], *y = &configs[b->config];
  if (a->has_failed || b->has_failed || !runs_alike(x, y)) return false;
  return b == leader_of(configs, all, count, x) || !strcmp(y->backend, "native") || is_twin(x, y);
}

hone_status schedule_want_more(struct ctx *ctx, const struct config *configs,
                               struct config_run *all, size_t count, bool *out_any) {
  *out_any = false;
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < count; k++) {
      bool is_open;
      if (i == k || !is_compared(configs, all, count, &all[i], &all[k])) continue;
      TRY(schedule_is_open(ctx, &all[i].slices, &all[k].slices, &is_open));
      if (!is_open) continue;
      all[i].wanted = all[i].complete + 1;
      all[k].wanted = all[k].complete + 1;
      *out_any = true;
    }
  return HONE_OK;
}
