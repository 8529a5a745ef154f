/* All configurations of one case, interleaved. One pass makes one process of every configuration: workers are
 * opened and warmed up in random order and stopped; then rounds, each visiting the configurations in random
 * order for one slice; then they are closed. Residents together stay under half of RAM: what does
 * not fit is measured in further groups of the same pass, each with the anchor (the pass's first
 * configuration) again.
 *
 * A block is handed on after its worker was stopped again, never during a slice.
 */
#include "study_internal.h"
#include "trial.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define LATE_ROUNDS 2 /* that a budget which is spent still allows */
#define END_NS 0.4e9  /* that the end of a process takes, about */

/* -- a group */

/* A member that is ready for its first slice, its worker stopped. */
static hone_status open_trial(struct bench *bench, struct config_run *progress, int number,
                              bool is_anchor, struct trial *out) {
  TRY(trial_open(bench, progress, number, is_anchor, out));
  if (out->is_live) trial_rate(bench, out);
  if (out->is_live && !worker_stop(&out->worker)) out->record.flags |= FLAG_MASK(noisy);
  return HONE_OK;
}

/* One of them has its figures, and what others still need is past its time. */
static bool is_late(const struct bench *bench, const struct trial *trials, size_t count) {
  bool any = false;
  for (size_t i = 0; i < count; i++) any |= trials[i].is_live && trials[i].rounds >= LATE_ROUNDS;
  return any && turns_are_over(bench);
}

/* A slice that the budget ends is no fault of its configuration: whoever resumes asks it again. */
static hone_status slice_in_turn(struct bench *bench, struct trial *trial, int round) {
  turn_slice(bench);
  const hone_status status = trial_slice(bench, trial, round);
  const bool was_cut = turn_was_cut(bench, trial);
  if (was_cut) {
    trial->record.status = STATUS_interrupted;
    trial->progress->has_failed = true;
  }
  turn_slice_end(bench, was_cut);
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
    if (round >= LATE_ROUNDS && !turns_reach(bench, 0)) break;
    random_shuffle(&bench->random, order, count);
    for (size_t i = 0; !status && i < count && !bench_is_interrupted(bench); i++) {
      if (is_late(bench, trials, count)) break;
      struct trial *trial = &trials[order[i]];
      const uint64_t begin = clock_ns();
      bench->step++;
      if (trial->is_live && schedule_takes_part(trial->wanted_rounds, rounds, round))
        status = slice_in_turn(bench, trial, round);
      if (!trial->is_anchor) eta_add(bench, trial->progress->config, begin);
    }
  }
  free(order);
  return status;
}

/* A configuration that cannot be opened says so; it is not asked again. */
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

static const struct worker_end no_turn = {.status = STATUS_interrupted,
                                          .reason = "the budget was spent before its turn"};

/* Passes over configurations that get no turn; whether one is left that does. */
static hone_status find_turn(struct bench *bench, struct config_run *const *cells, size_t count,
                             size_t *at, double rounds_ns, bool *out_found) {
  for (*out_found = false; *at < count; (*at)++) {
    struct config_run *next = cells[*at];
    *out_found =
        !next->has_failed && (next->complete || turn_begin(bench, rounds_ns, count - *at - 1));
    if (*out_found) break;
    TRY(report_unopened(bench, next, next->next_number, &no_turn));
  }
  return HONE_OK;
}

/* Opens it in its turn; one whose slices would not fit is left out again, and *rounds_ns grows by what the others' will take. */
static hone_status open_in_turn(struct bench *bench, struct config_run *progress, int number,
                                double *rounds_ns, struct trial *out) {
  struct worker_end end = {.status = STATUS_timeout, .stage = STAGE_run, .rel_l2 = NAN};
  const hone_status status = open_trial(bench, progress, number, false, out);
  const double own =
      out->is_live ? schedule_rounds_ns(&bench->options, out->median_ns) + END_NS : 0;
  snprintf(end.reason, sizeof end.reason,
           "an inference takes %.3g ms: its rounds do not fit what is left of the budget",
           out->median_ns * 1e-6);
  if (turn_was_cut(bench, out)) { /* that is no fault of it: whoever resumes asks it again */
    out->record.status = STATUS_interrupted;
    progress->has_failed = true;
  }
  if (!out->is_live)
    bench->harness.deadline_ns = 0;
  else if (!turn_end(bench, *rounds_ns + own) && !progress->complete)
    trial_end(out, &end);
  else
    *rounds_ns += own;
  return status;
}

/* Opens members until memory is full or none is left; *at moves over what was opened. */
static hone_status open_group(struct bench *bench, struct config_run *const *cells, size_t count,
                              size_t *at, struct trial *trials, size_t *out_count) {
  int64_t budget = (int64_t)(usable_ram_bytes() / 2), sum = 0, largest = 0;
  *out_count = 0;
  int number = 0; /* one for the whole group: configurations are compared where it is the same */
  for (size_t i = 0; i < count; i++)
    if (cells[i]->next_number > number) number = cells[i]->next_number;
  const bool needs_anchor = *at != 0;
  double rounds_ns = 0;
  bool has_turn;
  TRY(find_turn(bench, cells, count, at, rounds_ns, &has_turn));
  if (needs_anchor && has_turn) { /* it links this group to the first one */
    turn_slice(bench);
    TRY(open_trial(bench, cells[0], number, true, &trials[*out_count]));
    turn_slice_end(bench, turn_was_cut(bench, &trials[(*out_count)++]));
    sum = trials[0].rss;
  }
  for (size_t opened = 0; !bench_is_interrupted(bench); opened++) {
    if (opened && sum + largest > budget) break;
    TRY(find_turn(bench, cells, count, at, rounds_ns, &has_turn));
    if (!has_turn) break;
    struct trial *trial = &trials[*out_count];
    const uint64_t begin = clock_ns();
    TRY(open_in_turn(bench, cells[(*at)++], number, &rounds_ns, trial));
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
  turn_overhead(bench);
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

/* Two engines that differ from hone's reference and agree with each other: then none of the rows is
   right or wrong, and hone is told first. Reference and native share an importer, so a misreading of
   ours must not make every peer wrong. Two that saturate may agree without being right. */
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
               "(%.3g): hone may misread this model, tell hone first",
               x->config->backend, y->config->backend, accuracy.rel_l2, x->record.rel_l2);
      return true;
    }
  return false;
}

/* As if it had never been opened. */
static void discard_group(struct trial *trials, size_t count) {
  for (size_t i = 0; i < count; i++) {
    worker_close(&trials[i].worker, 0);
    trials[i].progress->next_number = trials[i].record.number;
  }
}

static hone_status open_undisputed(struct bench *bench, struct config_run *const *cells,
                                   size_t count, size_t *at, struct trial *trials,
                                   size_t *out_count) {
  const size_t first = *at, step = bench->step;
  TRY(open_group(bench, cells, count, at, trials, out_count));
  if (!find_dispute(bench, trials, *out_count)) return HONE_OK;
  discard_group(trials, *out_count);
  *at = first;
  bench->step = step;
  return open_group(bench, cells, count, at, trials, out_count);
}

static int left_of(const struct config_run *progress) {
  const int left = progress->wanted - progress->complete;
  return progress->has_failed || left < 0 ? 0 : left;
}

static void end_unfinished(const struct bench *bench, struct trial *trial) {
  static const struct worker_end stopped = {STATUS_interrupted, STAGE_run, "stopped by the user",
                                            NAN},
                                 late = {STATUS_interrupted, STAGE_run,
                                         "the budget was spent before its first slice", NAN};
  if (trial->is_live && bench_is_interrupted(bench)) trial_end(trial, &stopped);
  if (trial->is_live && !trial->rounds && turns_are_over(bench)) trial_end(trial, &late);
}

static hone_status run_group(struct bench *bench, struct config_run *const *cells, size_t count,
                             size_t *at, struct trial *trials) {
  size_t opened = 0;
  hone_status status = open_undisputed(bench, cells, count, at, trials, &opened);
  if (!status) status = run_rounds(bench, trials, opened);
  for (size_t i = 0; i < opened; i++) {
    const struct config_run *progress = trials[i].progress;
    const uint64_t begin = clock_ns();
    if (!status && trials[i].is_live && !isfinite(trials[i].record.floor_ns) &&
        turns_reach(bench, 0))
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

/* Before anything is opened, for configurations that have no process yet: it is kept with their first one. */
static hone_status find_largest(struct bench *bench, struct config_run *const *cells,
                                size_t count) {
  for (size_t i = 0; bench->options.largest_batch && i < count; i++) {
    struct config_run *at = cells[i];
    const struct bench_case *one = &bench->study.cases[bench->study.config_case[at->config]];
    if (at->next_number || bench_is_interrupted(bench)) continue;
    TRY(largest_batch(bench, &bench->study.configs[at->config], one, &at->largest_batch,
                      at->largest_batch_end));
  }
  return HONE_OK;
}

/* One process of every configuration that still needs one. */
static hone_status run_pass(struct bench *bench, struct config_run *all, size_t count, int pass) {
  struct config_run **cells = calloc(count + 1, sizeof *cells);
  struct trial *trials = calloc(count + 2, sizeof *trials);
  size_t *order = malloc((count + 1) * sizeof *order), active = 0, at = 0;
  hone_status status = cells && trials && order
                           ? HONE_OK
                           : fail(bench->ctx, HONE_E_OOM, place_none(), "no memory for a pass");
  for (size_t i = 0; !status && i < count; i++)
    if (!all[i].has_failed && all[i].complete < all[i].wanted) order[active++] = i;
  /* where turns may end before all have had theirs, the user says who comes first */
  if (!status && (pass || !(bench->options.budget_s > 0)))
    random_shuffle(&bench->random, order, active);
  for (size_t i = 0; !status && i < active; i++) cells[i] = &all[order[i]];
  if (!status) status = find_largest(bench, cells, active);
  while (!status && at < active && !bench_is_interrupted(bench))
    status = run_group(bench, cells, active, &at, trials);
  free(order);
  free(trials);
  free(cells);
  return status;
}

/* A case that could not be prepared, or has no turn: each of its configurations that was not measured before says so. */
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
               "began: tell hone first");
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

hone_status measure_case(struct bench *bench, size_t case_index, bool has_turn) {
  const struct bench_case *one = &bench->study.cases[case_index];
  struct config_run *all = calloc(bench->study.config_count + 1, sizeof *all);
  if (!all) return fail(bench->ctx, HONE_E_OOM, place_none(), "no memory for a case");
  size_t count = 0;
  hone_status status = list_configs(bench, case_index, all, &count);
  struct worker_end end = {.status = one->status, .stage = one->stage};
  snprintf(end.reason, sizeof end.reason, "%s", one->reason);
  bool goes_on = has_turn && one->status == STATUS_ok;
  if (!status && !goes_on)
    status = report_unopened_case(bench, one->status == STATUS_ok ? &no_turn : &end, all, count);
  double longest_ns = 0;
  for (int pass = 0;
       !status && goes_on && !bench_is_interrupted(bench) && pass < bench->options.most_processes &&
       (!pass || turns_reach(bench, longest_ns));
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
