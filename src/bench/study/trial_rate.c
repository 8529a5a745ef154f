/* LoadGen's search for the highest arrival rate within a latency bound. */
#include "trial.h"

#include <math.h>
#include <stdlib.h>

#define PROBE_ROUND (1 << 19) /* above all real rounds: its samples are not stored */
#define PROBE_SAMPLES 400     /* the upper confidence bound of the 99th percentile needs 368 */
#define PROBE_NS 60000000000ll
#define RATE_MOST 1e6
#define RATE_GAP 1.05 /* the search ends if a failed rate is within this factor */

/* The same rule as for the row itself. */
static bool is_within_bound(const uint64_t *samples, size_t count, double bound_ms) {
  size_t over = 0;
  for (size_t i = 0; i < count; i++) over += (double)samples[i] > bound_ms * 1e6;
  return latency_bound_holds(count, over);
}

static bool holds_rate(struct bench *bench, struct trial *trial, double rate, double bound_ms) {
  struct worker_end end;
  uint64_t *samples = NULL;
  bench_report(bench, trial->config, trial->config->model, "rate");
  json_t *command = slice_ask(PROBE_ROUND, PROBE_SAMPLES, 0, PROBE_NS, false, rate);
  const uint64_t start = clock_ns();
  json_t *reply = worker_ask(&trial->worker, command, "block", ASK_TIMED, &end);
  const uint64_t wall_ns = clock_ns() - start;
  if (!reply) {
    trial_end(trial, &end);
    return false;
  }
  const int64_t count = message_int(reply, "samples", 0);
  const bool is_sound =
      message_int(reply, "round", -1) == PROBE_ROUND &&
      slice_samples(trial, "block", TIMES_OVERLAPPING, PROBE_ROUND, count, wall_ns, &samples);
  json_decref(reply);
  const bool holds = is_sound && is_within_bound(samples, (size_t)count, bound_ms);
  free(samples);
  return holds;
}

/* Doubles or halves the rate, starting with half of the rate of single requests, then bisects the
   ratio. 0: the bound does not hold at a sixteenth of that either. */
static double highest_rate(struct bench *bench, struct trial *trial, double bound_ms) {
  const double first = fmin(0.5e9 / fmax(1, trial->median_ns), RATE_MOST);
  double good = 0, bad = 0;
  if (trial->median_ns > bound_ms * 1e6) return 0; /* no request can be within the bound */
  for (double rate = first; trial->is_live && !bench_is_interrupted(bench);) {
    if (holds_rate(bench, trial, rate, bound_ms))
      good = rate;
    else
      bad = rate;
    if (good >= RATE_MOST || (good > 0 && bad > 0 && bad / good <= RATE_GAP)) break;
    if (!(good > 0) && bad <= first / 16) break;
    rate = good > 0 && bad > 0 ? sqrt(good * bad) : good > 0 ? fmin(2 * good, RATE_MOST) : bad / 2;
  }
  return good;
}

void trial_rate(struct bench *bench, struct trial *trial) {
  double bound_ms = 0;
  for (size_t i = 0; i < bench->scenario_count; i++)
    if (bench->scenarios[i].finds_rate &&
        !strcmp(bench->scenarios[i].text, trial->config->scenario))
      bound_ms = bench->scenarios[i].bound_ms;
  if (!(bound_ms > 0)) return;
  double *const rate = &trial->progress->rate_per_s;
  if (!(*rate > 0)) *rate = highest_rate(bench, trial, bound_ms);
  if (*rate > 0) trial->record.rate_per_s = *rate;
  if (*rate > 0 || !trial->is_live || bench_is_interrupted(bench)) return;
  struct worker_end end = {.status = STATUS_unsupported, .stage = STAGE_run, .rel_l2 = NAN};
  snprintf(end.reason, sizeof end.reason,
           "at no rate were 99 %% of the requests within %.4g ms; a single request takes %.4g ms",
           bound_ms, trial->median_ns / 1e6);
  trial_end(trial, &end);
}
