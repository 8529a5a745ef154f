/* Measures all configurations of one case, interleaved. A pass runs one process of every
 * configuration: it opens and warms up the workers in random order and stops them; then come
 * rounds, each with one slice of every configuration in random order; then it closes them. Open
 * workers use at most half of RAM. What does not fit is measured in further groups of the same
 * pass, each again with the anchor (the pass's first configuration).
 *
 * A block is passed to the callback after its worker was stopped, never during a slice.
 */
#include "study_internal.h"
#include "trial.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define MIN_ROUNDS 2 /* run even if the budget is used up */
#define END_NS 0.4e9 /* approximate time to end a process */

/* -- a group */

/* Opens a trial up to its first slice; its worker is stopped. */
static hone_status open_trial(struct bench *bench, struct config_run *progress, int number,
                              bool is_anchor, struct trial *out) {
  TRY(trial_open(bench, progress, number, is_anchor, out));
  if (out->is_live) trial_rate(bench, out);
  if (out->is_live && !worker_stop(&out->worker)) out->record.flags |= FLAG_MASK(noisy);
  return HONE_OK;
}

/* True if one trial has results and the overrun time of the budget is used up. */
static bool must_stop_rounds(const struct bench *bench, const struct trial *trials, size_t count) {
  bool any = false;
  for (size_t i = 0; i < count; i++) any |= trials[i].is_live && trials[i].rounds >= MIN_ROUNDS;
  return any && budget_is_overrun(bench);
}

/* A slice that was cut by the budget is interrupted, not failed: a resumed study measures it
   again. */
static hone_status slice_within_budget(struct bench *bench, struct trial *trial, int round) {
  budget_begin_slice(bench);
  const hone_status status = trial_slice(bench, trial, round);
  const bool was_cut = budget_was_exceeded(bench, trial);
  if (was_cut) {
    trial->record.status = STATUS_interrupted;
    trial->progress->has_failed = true;
  }
  budget_end_slice(bench, was_cut);
  return status;
}

static hone_status run_rounds(struct bench *bench, struct trial *trials, size_t count) {
  int rounds = 0;
  for (size_t i = 0; i < count; i++) {
    struct trial *trial = &trials[i];
    trial->wanted_rounds = schedule_rounds(&bench->options, trial->median_ns);
    if (trial->is_live && trial->wanted_rounds > rounds) rounds = trial->wanted_rounds;
  }
  size_t *order = malloc((count + 1) * sizeof *order);
  if (!order) return fail(bench->ctx, HONE_E_OOM, place_none(), "no memory for a round");
  for (size_t i = 0; i < count; i++) order[i] = i;
  hone_status status = HONE_OK;
  for (int round = 0; !status && round < rounds; round++) {
    if (round >= MIN_ROUNDS && !budget_has_left(bench, 0)) break;
    random_shuffle(&bench->random, order, count);
    for (size_t i = 0; !status && i < count && !bench_is_interrupted(bench); i++) {
      if (must_stop_rounds(bench, trials, count)) break;
      struct trial *trial = &trials[order[i]];
      const uint64_t begin = clock_ns();
      bench->step++;
      if (trial->is_live && schedule_takes_part(trial->wanted_rounds, rounds, round))
        status = slice_within_budget(bench, trial, round);
      if (!trial->is_anchor) eta_add(bench, trial->progress->config, begin);
    }
  }
  free(order);
  return status;
}

/* Reports a configuration that cannot be opened; it is not tried again. */
static hone_status report_unopened(struct bench *bench, struct config_run *progress, int number,
                                   const struct worker_end *end) {
  const struct bench_callbacks *callbacks = bench->callbacks;
  struct process_record record;
  trial_record(bench, progress->config, number, &record);
  record.status = end->status;
  record.stage = end->stage;
  snprintf(record.reason, sizeof record.reason, "%s", end->reason);
  if (!callbacks->process_record || progress->has_failed) return HONE_OK;
  progress->has_failed = true;
  return callbacks->process_record(callbacks->user, &record);
}

static const struct worker_end budget_spent = {.status = STATUS_interrupted,
                                               .reason = "the budget was spent before its turn"};

/* Skips and reports configurations without time left; out_found: *at is one with time. */
static hone_status find_affordable(struct bench *bench, struct config_run *const *runs,
                                   size_t count, size_t *at, double rounds_ns, bool *out_found) {
  for (*out_found = false; *at < count; (*at)++) {
    struct config_run *next = runs[*at];
    *out_found = !next->has_failed &&
                 (next->complete || budget_begin_open(bench, rounds_ns, count - *at - 1));
    if (*out_found) break;
    TRY(report_unopened(bench, next, next->next_number, &budget_spent));
  }
  return HONE_OK;
}

/* Opens a configuration and adds the time of its rounds to *rounds_ns. If they do not fit, it is
   ended again. */
static hone_status open_within_budget(struct bench *bench, struct config_run *progress, int number,
                                      double *rounds_ns, struct trial *out) {
  struct worker_end end = {.status = STATUS_timeout, .stage = STAGE_run, .rel_l2 = NAN};
  const hone_status status = open_trial(bench, progress, number, false, out);
  const double own =
      out->is_live ? schedule_rounds_ns(&bench->options, out->median_ns) + END_NS : 0;
  snprintf(end.reason, sizeof end.reason,
           "an inference takes %.3g ms: its rounds do not fit in the rest of the budget (--budget)",
           out->median_ns * 1e-6);
  if (budget_was_exceeded(bench, out)) { /* not failed: a resumed study opens it again */
    out->record.status = STATUS_interrupted;
    progress->has_failed = true;
  }
  if (!out->is_live)
    bench->harness.deadline_ns = 0;
  else if (!budget_end_open(bench, *rounds_ns + own) && !progress->complete)
    trial_end(out, &end);
  else
    *rounds_ns += own;
  return status;
}

/* Opens trials until memory is full or none is left; advances *at. */
static hone_status open_group(struct bench *bench, struct config_run *const *runs, size_t count,
                              size_t *at, struct trial *trials, size_t *out_count) {
  int64_t budget = (int64_t)(usable_ram_bytes() / 2), sum = 0, largest = 0;
  *out_count = 0;
  int number = 0; /* one number per group: configurations with the same number are compared */
  for (size_t i = 0; i < count; i++)
    if (runs[i]->next_number > number) number = runs[i]->next_number;
  const bool needs_anchor = *at != 0;
  double rounds_ns = 0;
  bool is_affordable;
  TRY(find_affordable(bench, runs, count, at, rounds_ns, &is_affordable));
  if (needs_anchor && is_affordable) { /* links this group to the first one */
    budget_begin_slice(bench);
    TRY(open_trial(bench, runs[0], number, true, &trials[*out_count]));
    budget_end_slice(bench, budget_was_exceeded(bench, &trials[(*out_count)++]));
    sum = trials[0].rss;
  }
  for (size_t opened = 0; !bench_is_interrupted(bench); opened++) {
    if (opened && sum + largest > budget) break;
    TRY(find_affordable(bench, runs, count, at, rounds_ns, &is_affordable));
    if (!is_affordable) break;
    struct trial *trial = &trials[*out_count];
    const uint64_t begin = clock_ns();
    TRY(open_within_budget(bench, runs[(*at)++], number, &rounds_ns, trial));
    eta_add(bench, trial->progress->config, begin);
    (*out_count)++;
    bench->step++;
    sum += trial->is_live ? trial->rss : 0;
    if (trial->is_live && trial->rss > largest) largest = trial->rss;
  }
  bench->harness.deadline_ns = 0;
  return HONE_OK;
}

static hone_status trial_overhead(struct bench *bench, struct trial *trial) {
  if (bench_is_interrupted(bench)) return HONE_OK;
  budget_bound_overhead(bench);
  const hone_status status = measure_overhead(bench, trial->progress->config);
  bench->harness.deadline_ns = 0;
  TRY(status);
  trial->record.floor_ns = bench->overheads[trial->progress->config];
  return HONE_OK;
}

static bool objects(const struct trial *trial) {
  return trial->engine_outputs[0] && trial->record.status == STATUS_wrong &&
         !access(trial->engine_outputs, R_OK);
}

/* Finds two engines that differ from hone's reference and agree with each other. Then no row is
   right or wrong: hone may have misread the model. Reference and native share an importer, so an
   error of it must not make every engine wrong. Two engines that saturate may agree without being
   right. */
static bool find_dispute(const struct bench *bench, const struct trial *trials, size_t count) {
  for (size_t a = 0; a < count; a++)
    for (size_t b = a + 1; b < count; b++) {
      const struct trial *x = &trials[a], *y = &trials[b];
      struct bench_case *one = trial_case(bench, x);
      struct accuracy accuracy;
      if (!objects(x) || !objects(y) || !strcmp(x->config->backend, y->config->backend) ||
          strcmp(x->config->precision, y->config->precision) ||
          (may_saturate(one, x->config) && may_saturate(one, y->config)) ||
          !engine_outputs_agree(one, x->engine_outputs, y->engine_outputs, x->config->precision,
                                &accuracy))
        continue;
      one->is_disputed = true;
      snprintf(one->dispute, sizeof one->dispute,
               "%s and %s agree with each other (relative L2 %.2g) and not with hone's reference "
               "(%.3g): hone may misread this model; report it to hone first",
               x->config->backend, y->config->backend, accuracy.rel_l2, x->record.rel_l2);
      return true;
    }
  return false;
}

/* Closes all trials without a record. */
static void discard_group(struct trial *trials, size_t count) {
  for (size_t i = 0; i < count; i++) {
    worker_close(&trials[i].worker, 0);
    trials[i].progress->next_number = trials[i].record.number;
  }
}

static hone_status open_undisputed(struct bench *bench, struct config_run *const *runs,
                                   size_t count, size_t *at, struct trial *trials,
                                   size_t *out_count) {
  const size_t first = *at, step = bench->step;
  TRY(open_group(bench, runs, count, at, trials, out_count));
  if (!find_dispute(bench, trials, *out_count)) return HONE_OK;
  discard_group(trials, *out_count);
  *at = first;
  bench->step = step;
  return open_group(bench, runs, count, at, trials, out_count);
}

static int left_of(const struct config_run *progress) {
  const int left = progress->wanted - progress->complete;
  return progress->has_failed || left < 0 ? 0 : left;
}

static void end_unfinished(const struct bench *bench, struct trial *trial) {
  static const struct worker_end stopped = {STATUS_interrupted, STAGE_run, "stopped by the user",
                                            NAN},
                                 late = {STATUS_interrupted, STAGE_run,
                                         "the budget was used up before its first slice", NAN};
  if (trial->is_live && bench_is_interrupted(bench)) trial_end(trial, &stopped);
  if (trial->is_live && !trial->rounds && budget_is_overrun(bench)) trial_end(trial, &late);
}

static hone_status run_group(struct bench *bench, struct config_run *const *runs, size_t count,
                             size_t *at, struct trial *trials) {
  size_t opened = 0;
  hone_status status = open_undisputed(bench, runs, count, at, trials, &opened);
  if (!status) status = run_rounds(bench, trials, opened);
  for (size_t i = 0; i < opened; i++) {
    const struct config_run *progress = trials[i].progress;
    const uint64_t begin = clock_ns();
    if (!status && trials[i].is_live && !isfinite(trials[i].record.floor_ns) &&
        budget_has_left(bench, 0))
      status = trial_overhead(bench, &trials[i]);
    end_unfinished(bench, &trials[i]);
    hone_status closed = trial_close(bench, &trials[i]);
    if (!status) status = closed;
    if (trials[i].is_anchor) continue;
    eta_add(bench, progress->config, begin);
    eta_end(bench, progress->config, progress->has_failed, left_of(progress));
  }
  return status;
}

/* Searches the largest batch of configurations without a process, before anything is opened. The
   first process stores it. */
static hone_status find_largest(struct bench *bench, struct config_run *const *runs, size_t count) {
  for (size_t i = 0; bench->options.largest_batch && i < count; i++) {
    struct config_run *at = runs[i];
    const struct bench_case *one = &bench->study.cases[bench->study.config_case[at->config]];
    if (at->next_number || bench_is_interrupted(bench)) continue;
    TRY(largest_batch(bench, &bench->study.configs[at->config], one, &at->largest_batch,
                      at->largest_batch_end));
  }
  return HONE_OK;
}

/* Runs one process of every configuration that needs one. */
static hone_status run_pass(struct bench *bench, struct config_run *all, size_t count, int pass) {
  struct config_run **runs = calloc(count + 1, sizeof *runs);
  struct trial *trials = calloc(count + 2, sizeof *trials);
  size_t *order = malloc((count + 1) * sizeof *order), active = 0, at = 0;
  hone_status status = runs && trials && order
                           ? HONE_OK
                           : fail(bench->ctx, HONE_E_OOM, place_none(), "no memory for a pass");
  for (size_t i = 0; !status && i < count; i++)
    if (!all[i].has_failed && all[i].complete < all[i].wanted) order[active++] = i;
  /* under a budget the first pass keeps the user's order */
  if (!status && (pass || !(bench->options.budget_s > 0)))
    random_shuffle(&bench->random, order, active);
  for (size_t i = 0; !status && i < active; i++) runs[i] = &all[order[i]];
  if (!status) status = find_largest(bench, runs, active);
  while (!status && at < active && !bench_is_interrupted(bench))
    status = run_group(bench, runs, active, &at, trials);
  free(order);
  free(trials);
  free(runs);
  return status;
}

/* For a case that could not be prepared, or has no time left: reports each configuration that was
   not measured before. */
static hone_status report_unopened_case(struct bench *bench, const struct worker_end *end,
                                        struct config_run *all, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (end->status != STATUS_interrupted || !all[i].complete)
      TRY(report_unopened(bench, &all[i], all[i].next_number, end));
  return HONE_OK;
}

static hone_status list_configs(struct bench *bench, size_t case_index, struct config_run *out,
                                size_t *out_count) {
  size_t count = 0;
  for (size_t i = 0; i < bench->study.config_count; i++) {
    if (bench->study.config_case[i] != case_index) continue;
    struct bench_done done = {.complete = 0};
    if (bench->callbacks->done)
      bench->callbacks->done(bench->callbacks->user, &bench->study.configs[i], &done);
    if (done.is_disputed) {
      struct bench_case *one = &bench->study.cases[case_index];
      one->is_disputed = true;
      snprintf(one->dispute, sizeof one->dispute,
               "two engines agreed with each other and not with hone's reference when this study "
               "began; report it to hone first");
    }
    out[count] = (struct config_run){.config = i,
                                     .complete = done.complete,
                                     .wanted = bench->options.processes,
                                     .next_number = done.next_number,
                                     .largest_batch = -1,
                                     .has_failed = done.has_failed};
    bench->etas[i].left =
        bench->study.cases[case_index].status == STATUS_ok ? left_of(&out[count]) : 0;
    for (size_t k = 0; k < done.slice_count; k++)
      VEC_PUSH(bench->ctx, bench->arena, &out[count].slices, done.slices[k]);
    count++;
  }
  *out_count = count;
  return HONE_OK;
}

hone_status measure_case(struct bench *bench, size_t case_index, bool is_affordable) {
  const struct bench_case *one = &bench->study.cases[case_index];
  struct config_run *all = calloc(bench->study.config_count + 1, sizeof *all);
  if (!all) return fail(bench->ctx, HONE_E_OOM, place_none(), "no memory for a case");
  size_t count = 0;
  hone_status status = list_configs(bench, case_index, all, &count);
  struct worker_end end = {.status = one->status, .stage = one->stage};
  snprintf(end.reason, sizeof end.reason, "%s", one->reason);
  bool goes_on = is_affordable && one->status == STATUS_ok;
  if (!status && !goes_on)
    status =
        report_unopened_case(bench, one->status == STATUS_ok ? &budget_spent : &end, all, count);
  double longest_ns = 0;
  for (int pass = 0;
       !status && goes_on && !bench_is_interrupted(bench) && pass < bench->options.most_processes &&
       (!pass || budget_has_left(bench, longest_ns));
       pass++) {
    const uint64_t begin = clock_ns();
    status = run_pass(bench, all, count, pass);
    longest_ns = fmax(longest_ns, (double)(clock_ns() - begin));
    if (!status && pass + 1 >= bench->options.processes)
      status = schedule_want_more(bench->ctx, bench->study.configs, all, count, &goes_on);
  }
  free(all);
  return status;
}
