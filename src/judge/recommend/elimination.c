/* The rounds. The screening round measures every candidate briefly and drops those that are far
 * worse than the best; each elimination round measures the remaining ones in paired slices, for a
 * share of the remaining time, and drops those that are significantly worse. Candidates that were
 * dropped in favour of one that later fails or misses a bound are brought back. Every round is a
 * study in the store. If only one candidate was measured, the answer is "undecided".
 *
 * Predictions choose nothing: they only say what not to measure if the budget is too short for all.
 */
#include "bench/backends/backends.h"
#include "core/machine/machine.h"
#include "elimination.h"

#include <math.h>

#define SCREENING_S 3.0     /* about what one candidate costs: processes start and compile */
#define SCREENING_SHARE 0.6 /* of the remaining time; engines start and compile */
#define ROUND_SHARE 0.6     /* of the remaining time, for a round that is not the last */
#define LAST_ROUND_SHARE 0.9
#define VARIANTS_SHARE 0.4   /* of the budget, to make smaller variants */
#define PREDICTION_SHARE 0.1 /* of the budget, or PREDICTION_S if that is more */
#define PREDICTION_S 3.0
#define LEAST_TIMEOUT_S 5.0
#define LEAST_BUDGET_S 0.01 /* of a round: its first candidate takes what it needs */
enum { LIST = 1024 };

/* -- time */

static double spent_s(const struct recommendation *r) {
  return (double)(clock_ns() - r->start_ns) / 1e9;
}
static double left_s(const struct recommendation *r) { return r->options->budget_s - spent_s(r); }

static void phase_begin(struct recommendation *r, const char *name, double budget_s) {
  json_array_append_new(r->phases, json_pack("{s:s, s:f, s:f}", "phase", name, "begin_s",
                                             spent_s(r), "budget_s", budget_s));
}
static void phase_end(struct recommendation *r) {
  json_t *last = json_array_get(r->phases, json_array_size(r->phases) - 1);
  json_object_set_new(last, "all_s",
                      json_real(spent_s(r) - json_number_value(json_object_get(last, "begin_s"))));
}

static void report(const struct recommendation *r, const char *line) {
  if (r->options->report) r->options->report(r->options->user, spent_s(r), line);
}

static hone_status report_leader(const struct recommendation *r, const struct round *round) {
  struct strbuf line = {0};
  strbuf_printf(&line, "%zu candidate%s: ", round->summary.record_count,
                round->summary.record_count == 1 ? "" : "s");
  if (round->advice.choice == SIZE_MAX) {
    strbuf_puts(&line, "none is proven to meet every bound");
  } else {
    advise_name(&line, &round->summary, round->advice.choice);
    strbuf_puts(&line, " leads");
  }
  TRY(strbuf_finish(r->ctx, &line));
  report(r, line.at);
  strbuf_deinit(&line);
  return HONE_OK;
}

/* -- one round */

static hone_status run_study(struct recommendation *r, const char *title, const struct command *how,
                             struct summary *out) {
  const struct recommend_options *o = r->options;
  struct command command = {.count = 0};
  const char *inputs = r->variants.set[0] ? r->variants.set : o->inputs;
  for (size_t i = 0; i <= VARIANT_COUNT; i++)
    if (r->takes_part[i])
      TRY(command_add_model(r->ctx, &command, i ? r->variants.at[i - 1].path : o->model));
  if (inputs) TRY(command_add_option(r->ctx, &command, "--inputs", inputs));
  TRY(command_add_all(r->ctx, &command, &o->bench_flags));
  TRY(command_add_all(r->ctx, &command, &(struct argument_list){how->at, how->count}));
  TRY(hybrid_add_options(r->ctx, o, r->arena, &r->hybrid, &command));
  TRY(command_add_option(r->ctx, &command, "--device", o->device));
  TRY(command_add_option(r->ctx, &command, "--name", title));
  report(r, title);
  TRY(run_bench_study(r->ctx, r->arena, o->program, &command, r->dir, out));
  return judge_variants(r->ctx, &r->variants, out);
}

/* Seconds that the study spent on the reference's outputs. */
static double reference_s_of(const struct study_row *study) {
  json_error_t error;
  json_t *options = json_loads(study->options_json, 0, &error);
  const json_t *seconds = json_object_get(options, "seconds");
  const double found = json_number_value(json_object_get(seconds, "reference"));
  json_decref(options);
  return found;
}

/* is_bounded: the budget ends it even before its first candidate has a result. */
static hone_status measure_round(struct recommendation *r, const char *title, struct command *how,
                                 double budget_s, bool is_bounded) {
  struct round *round = &r->rounds[r->round_count];
  char budget[32];
  snprintf(budget, sizeof budget, "%.2f", fmax(LEAST_BUDGET_S, budget_s));
  TRY(command_add_option(r->ctx, how, "--budget", budget));
  if (is_bounded) TRY(command_add(r->ctx, how, "--keep-budget"));
  phase_begin(r, title, fmax(LEAST_BUDGET_S, budget_s));
  TRY(run_study(r, title, how, &round->summary));
  phase_end(r);
  round->is_bounded = is_bounded;
  TRY(append_measured_alone(r, &round->summary));
  TRY(carry_over(r, round));
  r->round_count++;
  r->reference_s += reference_s_of(&round->summary.study);
  TRY(advise_choose(r->ctx, r->arena, &round->summary, &r->options->constraints, &round->advice));
  mark_carried(r, round);
  /* the answer names the study that measured the choice */
  const size_t choice = round->advice.choice;
  if (choice != SIZE_MAX && round->carried[choice].round)
    round->summary.study = r->rounds[round->carried[choice].round - 1].summary.study;
  return report_leader(r, round);
}

static void add_threads(char threads[LIST], int count) {
  char number[16];
  snprintf(number, sizeof number, "%d", count);
  list_add(threads, LIST, number);
}

static hone_status screening_round(struct recommendation *r) {
  const struct recommend_options *o = r->options;
  struct command how = {.count = 0};
  char backends[LIST] = "", threads[LIST] = "";
  int thread_counts[RECOMMEND_THREADS];
  size_t thread_count, models = 1;
  for (size_t i = 1; i <= VARIANT_COUNT; i++) models += r->takes_part[i];
  if (drop_predicted_losers(&r->predictions, &o->constraints,
                            o->budget_s / SCREENING_S / 2 / (double)models)) {
    for (size_t i = 0; i < r->predictions.count; i++) {
      if (r->predictions.at[i].is_dropped) continue;
      list_add(backends, LIST, r->predictions.at[i].backend);
      add_threads(threads, r->predictions.at[i].threads);
    }
    TRY(command_add_option(r->ctx, &how, "--backend", backends));
  } else {
    for (size_t i = 0; i < o->backends.count; i++)
      TRY(command_add_option(r->ctx, &how, "--backend", o->backends.at[i]));
    list_thread_counts(o, thread_counts, &thread_count);
    for (size_t i = 0; i < thread_count; i++) add_threads(threads, thread_counts[i]);
  }
  TRY(command_add_option(r->ctx, &how, "--threads", threads));
  TRY(command_add_option(r->ctx, &how, "--processes", "1"));
  TRY(command_add_option(r->ctx, &how, "--rounds", "6"));
  TRY(command_add_option(r->ctx, &how, "--min-samples", "3"));
  TRY(command_add_option(r->ctx, &how, "--min-time", "0.05"));
  TRY(command_add_option(r->ctx, &how, "--warmup", "0.2"));
  return measure_round(r, "recommend: screening round", &how, SCREENING_SHARE * left_s(r), false);
}

static const char *round_title(const struct recommendation *r, bool is_for_dropped, char out[64]) {
  if (is_for_dropped)
    snprintf(out, 64, "recommend: round for candidates dropped too early");
  else
    snprintf(out, 64, "recommend: elimination round %zu", r->round_count);
  return out;
}

/* *out_done: the answer cannot change any more, or no time is left. Candidates that are brought
   back are measured in any case. */
static hone_status elimination_round(struct recommendation *r, bool *out_done) {
  struct command how = {.count = 0};
  struct candidate *list;
  char backends[LIST] = "", threads[LIST] = "", most[32], least[32], timeout[32], title[64];
  const size_t rounds = r->round_count;
  size_t count, back;
  TRY(list_candidates(r, &list, &count, &back));
  r->measured_alone = find_measured_alone(r);
  if (r->measured_alone && count && list[0].record == r->measured_alone) list++, count--;
  count = prefer_unmeasured(list, count, left_s(r));
  double starts = start_times_s(list, count);
  memset(r->takes_part, 0, sizeof r->takes_part);
  for (size_t i = 0; i < count; i++) {
    const struct config *config = &list[i].record->config;
    char word[64];
    r->takes_part[variant_of(&r->variants, config->model)] = true;
    list_add(backends, LIST, backend_word(config, word));
    add_threads(threads, config->threads);
  }
  if (rounds == 1 && r->hybrid.parts[0]) {
    list_add(backends, LIST, "hybrid");
    starts += SCREENING_S;
    count++;
  }
  const double left = left_s(r);
  const bool is_over = rounds >= ROUNDS || left < fmax(1, starts);
  *out_done = !count || (!back && (is_over || (rounds > 1 && count == 1)));
  if (*out_done) return HONE_OK;
  const double share = (rounds + 1 < ROUNDS ? ROUND_SHARE : LAST_ROUND_SHARE) * left;
  const double each = fmin(20, fmax(0.5, (share - 4 * starts) / (double)count));
  snprintf(most, sizeof most, "%.2f", each);
  snprintf(least, sizeof least, "%.2f", fmin(1, each));
  TRY(command_add_option(r->ctx, &how, "--backend", backends));
  TRY(command_add_option(r->ctx, &how, "--threads", threads));
  TRY(command_add_option(r->ctx, &how, "--max-time", most));
  TRY(command_add_option(r->ctx, &how, "--min-time", least));
  snprintf(timeout, sizeof timeout, "%.1f", fmax(LEAST_TIMEOUT_S, left));
  if (!back) TRY(command_add_option(r->ctx, &how, "--timeout", timeout));
  TRY(measure_round(r, round_title(r, back, title), &how, fmax(share, fmin(starts, left)), !back));
  drop_empty_round(r);
  *out_done = r->round_count == rounds;
  return HONE_OK;
}

/* -- before the rounds */

static size_t words_in(const char *list) {
  size_t count = *list != 0;
  for (; *list; list++) count += *list == ',';
  return count;
}

/* Whether the budget may be too short for a screening of everything: reading records of other
   models takes time. There is no prediction for a variant of an engine, or for another device,
   whose peaks and records are not this machine's. */
static bool wants_predictions(const struct recommendation *r) {
  const struct recommend_options *o = r->options;
  size_t count = 0, models = 1;
  if (strcmp(o->device, "cpu")) return false;
  for (size_t i = 0; i < o->backends.count; i++) {
    if (strchr(o->backends.at[i], ':')) return false;
    count += words_in(o->backends.at[i]);
  }
  if (!count) return true;
  count *= o->thread_count ? o->thread_count : usable_core_count() > 1 ? 2 : 1;
  if (o->batch_count) count *= o->batch_count;
  if (o->precisions) count *= words_in(o->precisions);
  for (size_t i = 1; i <= VARIANT_COUNT; i++) models += r->takes_part[i];
  return (double)(count * models) > o->budget_s / SCREENING_S / 2;
}

/* Only under a bound on accuracy: without one a variant may cost any amount of it. */
static hone_status add_variants(struct recommendation *r) {
  const double budget_s = VARIANTS_SHARE * r->options->budget_s;
  r->takes_part[0] = true;
  if (r->options->generates || isnan(r->options->constraints.bound[CONSTRAINT_accuracy]) ||
      strcmp(r->options->device, "cpu") != 0)
    return HONE_OK;
  report(r, "recommend: int8, int4, fp16 and bf16 variants by hone quantise");
  phase_begin(r, "variants", budget_s);
  TRY(make_variants(r->ctx, r->options, budget_s, &r->variants));
  phase_end(r);
  for (size_t i = 0; i < VARIANT_COUNT; i++) r->takes_part[i + 1] = r->variants.at[i].is_made;
  r->variants_s = spent_s(r);
  return HONE_OK;
}

static hone_status add_predictions(struct recommendation *r) {
  const double budget_s = fmax(PREDICTION_S, PREDICTION_SHARE * r->options->budget_s);
  if (!wants_predictions(r)) return HONE_OK;
  phase_begin(r, "predictions", budget_s);
  TRY(predict_candidates(r->ctx, r->arena, r->options, budget_s, &r->predictions));
  phase_end(r);
  return HONE_OK;
}

/* With the thread count of the screening round's best candidate, in a quarter of the remaining
   time: the default of four cuts makes fifteen segments, and each is compiled on every engine. */
static hone_status add_hybrid(struct recommendation *r) {
  const struct round *first = &r->rounds[0];
  const size_t choice = first->advice.choice;
  if (!r->options->tries_hybrid) return HONE_OK;
  const int threads =
      choice == SIZE_MAX ? usable_core_count() : first->summary.records[choice].config.threads;
  const double budget_s = fmax(LEAST_BUDGET_S, left_s(r) / 4);
  report(r, "recommend: parts on different engines");
  phase_begin(r, "hybrid", budget_s);
  TRY(propose_hybrid(r->ctx, r->options, r->dir, threads, budget_s, &r->hybrid));
  phase_end(r);
  return HONE_OK;
}

/* -- after the rounds */

/* If the last round measured the choice alone: the runner-up of an earlier round with the same
   choice. */
static void find_earlier_runner_up(struct recommendation *r) {
  struct round *last = &r->rounds[r->round_count - 1];
  struct advice *advice = &last->advice;
  if (advice->choice == SIZE_MAX || advice->runner_up != SIZE_MAX) return;
  for (size_t k = r->round_count - 1; k-- > 0 && !advice->earlier.summary;) {
    const struct round *round = &r->rounds[k];
    const size_t i = find_record(&round->summary, last->summary.records[advice->choice].config.key);
    if (i != round->advice.choice || round->advice.runner_up == SIZE_MAX) continue;
    advice->earlier = (struct earlier_runner_up){&round->summary, round->advice.runner_up, k + 1,
                                                 round->advice.ratio, round->advice.is_decided};
  }
}

/* Whether more time could give the candidate a result: its engine is ready here, or runs on a
   device, which is not asked again. */
static bool could_run(const struct recommendation *r, const struct record *record) {
  const struct backend *backend = backend_find(record->config.backend);
  struct backend_info info;
  struct ctx quiet;
  if (!backend || strcmp(r->options->device, "cpu") != 0) return true;
  ctx_init(&quiet);
  describe_backend(&quiet, backend, engine_path_in(&r->options->engines, backend->name), &info);
  return info.status == BACKEND_READY;
}

/* Whether the choice is the only candidate with a result, and others could have one. */
static bool lacks_competitor(const struct recommendation *r) {
  const struct round *last = &r->rounds[r->round_count - 1];
  bool has_waiting = false;
  if (last->advice.choice == SIZE_MAX) return false;
  const char *choice = last->summary.records[last->advice.choice].config.key;
  for (size_t k = 0; k < r->round_count; k++)
    for (size_t i = 0; i < r->rounds[k].summary.record_count; i++) {
      const struct record *record = &r->rounds[k].summary.records[i];
      if (!strcmp(record->config.key, choice)) continue;
      if (r->rounds[k].advice.at[i].status != CANDIDATE_invalid) return false;
      has_waiting = has_waiting || (had_no_time(&r->rounds[k], record) && could_run(r, record));
    }
  for (size_t i = 0; i < r->predictions.count; i++) has_waiting |= r->predictions.at[i].is_dropped;
  return has_waiting;
}

static void mark_undecided(struct recommendation *r) {
  struct advice *advice = &r->rounds[r->round_count - 1].advice;
  advice->is_undecided = lacks_competitor(r);
  if (advice->is_undecided) advice->at[advice->choice].status = CANDIDATE_undecided;
}

/* -- the whole */

/* A time or a processor's rated power is not a measurement of energy: there has to be a meter. */
hone_status recommend_check(struct ctx *ctx, const struct recommend_options *o) {
  struct energy now;
  energy_read(&now);
  const bool is_here = !strcmp(o->device, "cpu");
  const bool is_asked = o->constraints.objective == CONSTRAINT_energy ||
                        !isnan(o->constraints.bound[CONSTRAINT_energy]);
  if (!is_asked || (is_here && now.package_count)) return HONE_OK;
  return advise(
      ctx,
      fail(ctx, HONE_E_UNSUP, place_name("energy"),
           is_here ? "no meter can be read here (/sys/class/powercap/intel-rapl:N/energy_uj), "
                     "and hone does not guess"
                   : "can be read on this machine only, and hone does not guess"),
      "the nearest measurable objective is latency with --threads 1");
}

hone_status recommend(struct ctx *ctx, struct arena *arena, const struct recommend_options *options,
                      struct recommendation **out) {
  struct recommendation *r;
  bool is_done = false;
  *out = NULL;
  TRY(NEW(ctx, arena, r));
  *r = (struct recommendation){.ctx = ctx,
                               .arena = arena,
                               .options = options,
                               .start_ns = clock_ns(),
                               .phases = json_array()};
  *out = r;
  TRY(dir_temporary(ctx, r->dir));
  TRY(add_variants(r));
  TRY(add_predictions(r));
  TRY(screening_round(r));
  TRY(add_hybrid(r));
  while (!is_done && r->round_count < COUNT(r->rounds)) TRY(elimination_round(r, &is_done));
  find_earlier_runner_up(r);
  mark_undecided(r);
  r->all_s = spent_s(r);
  return HONE_OK;
}

void recommendation_free(struct recommendation *r) {
  if (!r) return;
  json_decref(r->hybrid.json);
  json_decref(r->phases);
  for (size_t i = 0; i < VARIANT_COUNT; i++) json_decref(r->variants.at[i].report);
  if (r->dir[0]) dir_temporary_remove(r->dir);
}
