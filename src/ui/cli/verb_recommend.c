/* hone recommend: the best way to run a model here under the user's bounds. A race: a first look at every candidate drops
 * what is far behind; then looks of paired slices side by side, each longer, drop whatever the interval of its ratio says
 * is behind, until one is left or the time is spent (successive elimination: Even-Dar et al., JMLR 2006). What was dropped
 * for a row that is later found out to miss a bound is brought back; what had no turn in the first look has it in the second.
 * All looks are in the store; the answer rests on the last that had time to find something.
 * Where the first look had time for one row alone, the next one is the others'; with nothing to compare it with, that row is
 * no answer: "undecided", exit code 5.
 * Predictions from other models only say what not to look at where the time does not reach for all.
 */
#include "recommend.h"

#include <math.h>
#include <unistd.h>

#define BUDGET_S 60.0
#define FAR_BEHIND 1.5 /* of the best at the first look: no second one */
#define LOOK_S 3.0     /* that a candidate's first look costs, about: processes start and compile */
#define FIRST_SHARE 0.6 /* of the budget, at most, for the first look: engines start and compile */
#define NEXT_SHARE 0.6  /* of what is left, for another */
#define LAST_SHARE 0.9
#define FORMS_SHARE 0.4   /* of the budget, at most, for making smaller forms */
#define RECORDS_SHARE 0.1 /* and for what records of other models say, */
#define RECORDS_S 3.0     /* for which so much is little */
#define LEAST_TIMEOUT_S 5.0
#define LEAST_BUDGET_S 0.01                      /* of a look: its first row takes what it needs */
enum { LIST = 1024, LOOKS = 4, MORE_LOOKS = 2 }; /* more: at what was dropped too early */

struct look {
  bool is_bounded; /* by what was left of the budget: a timeout is no fault */
  struct summary summary;
  struct advice advice;
  /* by record: the earlier look that it is of, from 1, because this one had no time for it, and why; 0: of this one */
  struct carried {
    size_t look;
    const char *reason;
  } * carried;
  VEC(struct comparison) pairs; /* of the summary */
};

struct race {
  struct ctx *ctx;
  const struct args *args;
  struct arena *arena;
  struct constraints constraints;
  double budget_s;
  uint64_t start_ns;
  struct spent spent;
  char dir[4096];
  struct look looks[LOOKS + MORE_LOOKS];
  size_t look_count;
  struct forecast forecast;
  struct split split;
  struct forms forms;
  bool is_left[1 + FORM_COUNT]; /* the model, and its forms: takes part in the next look */
  const char *device;
  /* what the first look measured, where nothing else had time: not in the next look */
  const struct record *alone;
};

/* -- demands */

/* Without a meter beside what runs there is no figure: a time, or a processor's rated power times it, is none. */
static hone_status check_meter(struct race *race) {
  struct energy now;
  energy_read(&now);
  const bool is_here = !strcmp(race->device, "cpu");
  const bool is_asked = race->constraints.objective == CONSTRAINT_energy ||
                        !isnan(race->constraints.bound[CONSTRAINT_energy]);
  if (!is_asked || (is_here && now.package_count)) return HONE_OK;
  return advise(
      race->ctx,
      fail(race->ctx, HONE_E_UNSUP, place_name("energy"),
           is_here ? "no meter can be read here (/sys/class/powercap/intel-rapl:N/energy_uj), "
                     "and hone does not guess"
                   : "is read on this machine alone, and hone does not guess"),
      "latency with --threads 1 is what can be measured nearest to it");
}

/* One device; "here" is this machine. What looks at this machine's own engines stays here. */
static hone_status read_device(struct race *race) {
  const char *device = value_of(race->args, FLAG_device, "here");
  race->device = !strcmp(device, "here") ? "cpu" : device;
  if (!strcmp(race->device, "cpu")) return HONE_OK;
  if (strchr(device, ','))
    return fail(race->ctx, HONE_E_USAGE, place_name("--device"), "one device is recommended for");
  static const enum flag_id here_alone[] = {FLAG_hybrid, FLAG_bundle, FLAG_predict};
  for (size_t i = 0; i < COUNT(here_alone); i++) {
    char spelling[64];
    if (has(race->args, here_alone[i]))
      return fail(race->ctx, HONE_E_UNSUP, place_name(device), "%s is made for this machine alone",
                  flag_spelling(here_alone[i], spelling));
  }
  return HONE_OK;
}

/* What would be left aside is an error. Records that others measured are looked at before the work. */
static hone_status check_predict(const struct race *race) {
  static const enum flag_id of_race[] = {
      FLAG_objective, FLAG_max_latency, FLAG_min_throughput, FLAG_max_memory,
      FLAG_max_size,  FLAG_max_start,   FLAG_max_compile,    FLAG_max_energy,
      FLAG_budget,    FLAG_hybrid,      FLAG_bundle,         FLAG_min_accuracy,
      FLAG_inputs,    FLAG_input,       FLAG_calibrate,      FLAG_labels};
  const struct repeated *records = &race->args->repeated[FLAG_records];
  for (size_t i = 0; i < records->count; i++) TRY(records_check(race->ctx, records->at[i]));
  return flags_need(race->ctx, race->args, of_race, COUNT(of_race), !has(race->args, FLAG_predict),
                    "a race, which --predict leaves out");
}

static hone_status read_constraints(struct race *race) {
  static const struct {
    enum flag_id flag;
    enum constraint_id id;
  } bounds[] = {
      {FLAG_max_latency, CONSTRAINT_latency}, {FLAG_min_throughput, CONSTRAINT_throughput},
      {FLAG_max_memory, CONSTRAINT_memory},   {FLAG_max_size, CONSTRAINT_size},
      {FLAG_max_start, CONSTRAINT_start},     {FLAG_max_compile, CONSTRAINT_compile},
      {FLAG_max_energy, CONSTRAINT_energy},   {FLAG_min_accuracy, CONSTRAINT_accuracy}};
  const char *objective = value_of(race->args, FLAG_objective, "latency");
  int id = 0;
  constraints_init(&race->constraints);
  for (size_t i = 0; i < COUNT(bounds); i++) {
    TRY(amount_of(race->ctx, race->args, bounds[i].flag, constraint_kinds[bounds[i].id].amount, 0,
                  1e18, NAN, &race->constraints.bound[bounds[i].id]));
  }
  while (id < CONSTRAINT_COUNT && strcmp(constraint_kinds[id].name, objective)) id++;
  if (id == CONSTRAINT_COUNT)
    return fail(
        race->ctx, HONE_E_USAGE, place_name("--objective"),
        "\"%.100s\" is none of latency, throughput, memory, size, start, compile, accuracy, "
        "energy",
        objective);
  race->constraints.objective = (enum constraint_id)id;
  return HONE_OK;
}

/* -- studies */

/* What the user said of model, data and engines holds for both studies. */
static hone_status add_given(struct race *race, struct command *command) {
  static const enum flag_id flags[] = {
      FLAG_shape,        FLAG_side_files_from, FLAG_input, FLAG_backend_option, FLAG_engine,
      FLAG_batch,        FLAG_precision,       FLAG_store, FLAG_seed,           FLAG_limit,
      FLAG_memory_limit, FLAG_device_hone,     FLAG_inputs};
  const bool has_set = race->forms.set[0] != 0;
  if (has_set) TRY(command_add_flag(race->ctx, command, FLAG_inputs, race->forms.set));
  return command_add_given(race->ctx, race->args, flags, COUNT(flags) - has_set, command);
}

static double spent_s(const struct race *race) {
  return (double)(clock_ns() - race->start_ns) / 1e9;
}
static double left_s(const struct race *race) { return race->budget_s - spent_s(race); }

/* Whatever takes time is begun with a share of what is left, and is on record with it. */
static void phase_begin(struct race *race, const char *name, double budget_s) {
  json_array_append_new(race->spent.phases, json_pack("{s:s, s:f, s:f}", "phase", name, "begin_s",
                                                      spent_s(race), "budget_s", budget_s));
}
static void phase_end(struct race *race) {
  json_t *last = json_array_get(race->spent.phases, json_array_size(race->spent.phases) - 1);
  json_object_set_new(
      last, "all_s",
      json_real(spent_s(race) - json_number_value(json_object_get(last, "begin_s"))));
}

static void say(const struct race *race, const char *what) {
  if (!has(race->args, FLAG_quiet)) fprintf(stderr, "[%.0f s] %s\n", spent_s(race), what);
}

static hone_status study(struct race *race, const char *title, const struct command *how,
                         struct summary *out) {
  struct command command = {.count = 0};
  for (size_t i = 0; i <= FORM_COUNT; i++)
    if (race->is_left[i])
      TRY(command_add_model(race->ctx, &command,
                            i ? race->forms.at[i - 1].path : race->args->words[0]));
  TRY(add_given(race, &command));
  for (size_t i = 0; i < how->count; i++) TRY(command_add(race->ctx, &command, how->at[i]));
  TRY(split_add(race->ctx, race->args, race->arena, &race->split, &command));
  TRY(command_add_flag(race->ctx, &command, FLAG_device, race->device));
  TRY(command_add_flag(race->ctx, &command, FLAG_name, title));
  say(race, title);
  TRY(self_study(race->ctx, race->arena, &command, race->dir, out));
  return forms_judge(race->ctx, &race->forms, race->args, out);
}

static void add_threads(char threads[LIST], int count) {
  char number[16];
  snprintf(number, sizeof number, "%d", count);
  list_add(threads, LIST, number);
}

static void add_candidate(char backends[LIST], char threads[LIST], const char *backend,
                          int thread_count, bool is_wanted) {
  if (!is_wanted) return;
  list_add(backends, LIST, backend);
  add_threads(threads, thread_count);
}

/* A look may take minutes: whoever waits learns what came of it. */
static hone_status say_ahead(const struct race *race, const struct look *at) {
  struct strbuf words = {0};
  strbuf_printf(&words, "of %zu rows ", at->summary.record_count);
  if (at->advice.choice == SIZE_MAX)
    strbuf_puts(&words, "none holds every bound for sure");
  else
    advise_name(&words, &at->summary, at->advice.choice);
  if (at->advice.choice != SIZE_MAX) strbuf_puts(&words, " is ahead");
  TRY(strbuf_finish(race->ctx, &words));
  say(race, words.at);
  strbuf_deinit(&words);
  return HONE_OK;
}

/* What the study says of where its time went. */
static double reference_s_of(const struct study_row *study) {
  json_error_t error;
  json_t *options = json_loads(study->options_json, 0, &error);
  const json_t *seconds = json_object_get(options, "seconds");
  const double found = json_number_value(json_object_get(seconds, "reference"));
  json_decref(options);
  return found;
}

static size_t find_row(const struct summary *s, const char *config) {
  for (size_t k = 0; k < s->record_count; k++)
    if (!strcmp(s->records[k].config.key, config)) return k;
  return SIZE_MAX;
}

/* That it was cut, or ran into a limit which was only what is left, is no fault of a row. */
static bool had_no_time(const struct look *at, const struct record *r) {
  return r->status == STATUS_interrupted || (at->is_bounded && r->status == STATUS_timeout);
}

/* The last look that had time for a row; SIZE_MAX: none had. */
static size_t look_with(const struct race *race, const char *config, size_t *out_row) {
  for (size_t l = race->look_count; l-- > 0;) {
    const struct look *at = &race->looks[l];
    *out_row = find_row(&at->summary, config);
    if (*out_row != SIZE_MAX && !had_no_time(at, &at->summary.records[*out_row])) return l;
  }
  return SIZE_MAX;
}

/* The pairs of a row of an earlier look with what is in this one. */
static hone_status carry_pairs(const struct race *race, const struct summary *from, size_t row,
                               struct look *to) {
  struct summary *s = &to->summary;
  for (size_t c = 0; c < from->comparison_count; c++) {
    struct comparison one = from->comparisons[c];
    if (one.a != row && one.b != row) continue;
    one.a = find_row(s, from->records[one.a].config.key);
    one.b = find_row(s, from->records[one.b].config.key);
    if (one.a == SIZE_MAX || one.b == SIZE_MAX || find_comparison(s, one.a, one.b)) continue;
    VEC_PUSH(race->ctx, race->arena, &to->pairs, one);
    s->comparisons = to->pairs.at;
    s->comparison_count = to->pairs.count;
  }
  return HONE_OK;
}

/* Later looks are shorter: what an earlier one told apart, or tied, stays so where this one measured too little to decide. */
static void keep_verdict(const struct race *race, const struct summary *s, struct comparison *one) {
  for (size_t l = race->look_count; l-- > 0 && one->verdict == VERDICT_undecided;) {
    const struct summary *before = &race->looks[l].summary;
    const struct comparison *pair =
        find_comparison(before, find_row(before, s->records[one->a].config.key),
                        find_row(before, s->records[one->b].config.key));
    if (!pair || pair->verdict == VERDICT_undecided) continue;
    one->ratio = pair->ratio;
    one->verdict = pair->verdict;
  }
}

/* Accuracy does not depend on load or time: where this look did not ask for it, what an earlier one found holds. */
static void keep_accuracy(const struct race *race, struct record *r) {
  for (size_t l = race->look_count; l-- > 0 && isnan(r->worst.task_accuracy);) {
    const struct summary *before = &race->looks[l].summary;
    const size_t row = find_row(before, r->config.key);
    if (row == SIZE_MAX) continue;
    const struct process_record *seen = &before->records[row].worst;
    memcpy(r->worst.task_metric, seen->task_metric, sizeof r->worst.task_metric);
    r->worst.task_accuracy = seen->task_accuracy;
    r->worst.task_reference = seen->task_reference;
    r->worst.accuracy_retention = seen->accuracy_retention;
  }
}

/* What this look had no time for stands with what the last one that had shows: its figures and its pairs. */
static hone_status carry_over(const struct race *race, struct look *at) {
  struct summary *s = &at->summary;
  TRY(NEW_ARRAY(race->ctx, race->arena, at->carried, s->record_count + 1));
  for (size_t c = 0; c < s->comparison_count; c++)
    VEC_PUSH(race->ctx, race->arena, &at->pairs, s->comparisons[c]);
  for (size_t i = 0; i < s->record_count; i++) {
    struct record *r = &s->records[i];
    size_t row;
    keep_accuracy(race, r);
    if (!had_no_time(at, r)) continue;
    const size_t l = look_with(race, r->config.key, &row);
    if (l == SIZE_MAX) continue;
    const struct look *before = &race->looks[l];
    TRY(arena_printf(race->ctx, race->arena, &at->carried[i].reason, "%s", r->reason));
    at->carried[i].look = before->carried[row].look ? before->carried[row].look : l + 1;
    *r = before->summary.records[row];
    TRY(carry_pairs(race, &before->summary, row, at));
  }
  for (size_t c = 0; c < s->comparison_count; c++) keep_verdict(race, s, &s->comparisons[c]);
  return HONE_OK;
}

/* What was left out of this look since it has figures already stands beside what now was measured. */
static hone_status append_alone(const struct race *race, struct summary *s) {
  struct record *records;
  if (!race->alone || find_row(s, race->alone->config.key) != SIZE_MAX) return HONE_OK;
  TRY(NEW_ARRAY(race->ctx, race->arena, records, s->record_count + 1));
  memcpy(records, s->records, s->record_count * sizeof *records);
  records[s->record_count] = *race->alone;
  records[s->record_count].status = STATUS_interrupted;
  snprintf(records[s->record_count].reason, sizeof records->reason,
           "it went to rows that had none before");
  s->records = records;
  s->record_count++;
  return HONE_OK;
}

/* A study of what `how` names, in so much of the budget. */
static hone_status look(struct race *race, const char *title, struct command *how, double budget_s,
                        bool is_bounded) {
  struct look *at = &race->looks[race->look_count];
  char budget[32];
  snprintf(budget, sizeof budget, "%.2f", fmax(LEAST_BUDGET_S, budget_s));
  TRY(command_add_flag(race->ctx, how, FLAG_budget, budget));
  if (is_bounded) TRY(command_add_flag(race->ctx, how, FLAG_keep_budget, NULL));
  phase_begin(race, title, fmax(LEAST_BUDGET_S, budget_s));
  TRY(study(race, title, how, &at->summary));
  phase_end(race);
  at->is_bounded = is_bounded;
  TRY(append_alone(race, &at->summary));
  TRY(carry_over(race, at));
  race->look_count++;
  race->spent.reference_s += reference_s_of(&at->summary.study);
  TRY(advise_choose(race->ctx, race->arena, &at->summary, &race->constraints, &at->advice));
  for (size_t i = 0; i < at->summary.record_count; i++) {
    if (!at->carried[i].look) continue;
    at->advice.at[i].look = at->carried[i].look;
    at->advice.at[i].late = at->carried[i].reason;
    at->advice.at[i].late_look = race->look_count;
  }
  /* the study behind the answer is the one that shows the choice */
  const size_t choice = at->advice.choice;
  if (choice != SIZE_MAX && at->carried[choice].look)
    at->summary.study = race->looks[at->carried[choice].look - 1].summary.study;
  return say_ahead(race, at);
}

static hone_status first_look(struct race *race) {
  struct command how = {.count = 0};
  const struct repeated *backends = &race->args->repeated[FLAG_backend];
  char some_backends[LIST] = "", some_threads[LIST] = "";
  int threads[MOST_WAYS];
  size_t thread_count;
  size_t forms = 1;
  for (size_t i = 1; i <= FORM_COUNT; i++) forms += race->is_left[i];
  if (forecast_keep(&race->forecast, &race->constraints,
                    race->budget_s / LOOK_S / 2 / (double)forms)) {
    for (size_t i = 0; i < race->forecast.count; i++)
      add_candidate(some_backends, some_threads, race->forecast.at[i].backend,
                    race->forecast.at[i].threads, !race->forecast.at[i].is_dropped);
    TRY(command_add_flag(race->ctx, &how, FLAG_backend, some_backends));
  } else {
    for (size_t i = 0; i < backends->count; i++)
      TRY(command_add_flag(race->ctx, &how, FLAG_backend, backends->at[i]));
    TRY(recommend_threads(race->ctx, race->args, threads, &thread_count));
    for (size_t i = 0; i < thread_count; i++) add_threads(some_threads, threads[i]);
  }
  TRY(command_add_flag(race->ctx, &how, FLAG_threads, some_threads));
  TRY(command_add_flag(race->ctx, &how, FLAG_processes, "1"));
  TRY(command_add_flag(race->ctx, &how, FLAG_rounds, "6"));
  TRY(command_add_flag(race->ctx, &how, FLAG_min_samples, "3"));
  TRY(command_add_flag(race->ctx, &how, FLAG_min_time, "0.05"));
  TRY(command_add_flag(race->ctx, &how, FLAG_warmup, "0.2"));
  return look(race, "recommend: a first look", &how, FIRST_SHARE * left_s(race), false);
}

/* After the first look whatever is not far behind; later whatever is not told apart from the best: where too little was
   measured to decide, still whatever is not far behind. */
static bool stays(const struct race *race, const struct look *last, size_t i) {
  const struct advice *a = &last->advice;
  const struct record *r = &last->summary.records[i];
  const struct constraint_kind *kind = &constraint_kinds[race->constraints.objective];
  const enum standing standing = a->at[i].standing;
  if (standing == STANDING_invalid || standing == STANDING_out) return false;
  if (a->choice == SIZE_MAX) return true; /* nothing is sure yet */
  if (!strcmp(last->summary.records[a->choice].config.backend, "hybrid") &&
      strcmp(r->config.backend, "hybrid"))
    return true; /* parts must beat it in the last look too */
  if (race->look_count > 1 && standing != STANDING_undecided)
    return standing != STANDING_behind && standing != STANDING_runner_up;
  const double x = kind->value(r), best = kind->value(&last->summary.records[a->choice]);
  return kind->is_more_better ? x * FAR_BEHIND >= best : x <= best * FAR_BEHIND;
}

/* Parts are looked for with the threads of what the first look found best, in a quarter of the time that is left: a
   default of four cuts makes fifteen stretches, each compiled on every engine. */
static hone_status find_split(struct race *race) {
  const struct look *first = &race->looks[0];
  const size_t choice = first->advice.choice;
  if (!race->split.is_asked) return HONE_OK;
  const int threads =
      choice == SIZE_MAX ? usable_core_count() : first->summary.records[choice].config.threads;
  const double budget_s = fmax(LEAST_BUDGET_S, left_s(race) / 4);
  say(race, "recommend: parts on different engines");
  phase_begin(race, "parts", budget_s);
  TRY(split_find(race->ctx, race->args, race->dir, threads, budget_s, &race->split));
  phase_end(race);
  return HONE_OK;
}

/* 0: the model itself, else one more than the number of its form. */
static size_t place_of(const struct race *race, const char *model) {
  const char *path = forms_model(&race->forms, race->args, model);
  for (size_t i = 0; i < FORM_COUNT; i++)
    if (path == race->forms.at[i].path) return i + 1;
  return 0;
}

/* A row that may take part in the next look. */
struct runner {
  const struct record *record;
  double value; /* of the objective */
};

/* The last look at a row of look `l`. */
static size_t last_seen(const struct race *race, size_t l, const char *config) {
  size_t last = race->look_count - 1;
  while (last > l && find_row(&race->looks[last].summary, config) == SIZE_MAX) last--;
  return last;
}

/* Whether what the look chose has failed since, or no longer holds every bound for sure. */
static bool has_fallen(const struct race *race, size_t l) {
  const struct look *at = &race->looks[l];
  if (at->advice.choice == SIZE_MAX) return false;
  const char *config = at->summary.records[at->advice.choice].config.key;
  const struct look *seen = &race->looks[last_seen(race, l, config)];
  const size_t row = find_row(&seen->summary, config);
  return seen->advice.at[row].standing >= STANDING_out &&
         !had_no_time(seen, &seen->summary.records[row]);
}

static bool is_better(const struct race *race, double x, double y) {
  return constraint_kinds[race->constraints.objective].is_more_better ? x > y : x < y;
}

static bool is_far_behind(const struct race *race, double x, double best) {
  return is_better(race, best,
                   constraint_kinds[race->constraints.objective].is_more_better ? x * FAR_BEHIND
                                                                                : x / FAR_BEHIND);
}

static void add_runner(const struct race *race, const struct record *record, struct runner *list,
                       size_t *count) {
  list[(*count)++] =
      (struct runner){record, constraint_kinds[race->constraints.objective].value(record)};
}

/* Rows that hold every bound and were dropped for one that has fallen, as far as they are not far behind what holds them now. */
static size_t bring_back(const struct race *race, struct runner *list) {
  const struct look *last = &race->looks[race->look_count - 1];
  double best = NAN;
  size_t found = 0, count = 0;
  if (last->advice.choice != SIZE_MAX)
    best = constraint_kinds[race->constraints.objective].value(
        &last->summary.records[last->advice.choice]);
  for (size_t l = 0; l + 1 < race->look_count; l++)
    for (size_t i = 0; has_fallen(race, l) && i < race->looks[l].summary.record_count; i++) {
      const struct record *r = &race->looks[l].summary.records[i];
      const enum standing standing = race->looks[l].advice.at[i].standing;
      if (standing == STANDING_chosen || standing > STANDING_undecided) continue;
      if (last_seen(race, l, r->config.key) != l) continue;
      add_runner(race, r, list, &found);
      if (isnan(best) || is_better(race, list[found - 1].value, best)) best = list[found - 1].value;
    }
  for (size_t i = 0; i < found; i++)
    if (!is_far_behind(race, list[i].value, best)) list[count++] = list[i];
  return count;
}

/* What a process of a row takes with the shortest slices, as it was seen. */
static double start_s(const struct record *r) {
  const double parts[] = {r->worst.import_ms, r->worst.compile_ms, r->worst.load_ms,
                          r->worst.first_inference_ms, r->worst.warmup_ms};
  double ms = 1500; /* it starts and ends, and so does its floor's; slices */
  for (size_t i = 0; i < COUNT(parts); i++) ms += isfinite(parts[i]) ? parts[i] : 0;
  return ms / 1000;
}

/* What the budget did not reach for, or cut short, has another turn behind the others. */
static size_t add_unseen(const struct race *race, struct runner *list) {
  const struct summary *first = &race->looks[0].summary;
  size_t found = 0;
  for (size_t i = 0; race->look_count == 1 && i < first->record_count; i++)
    if (first->records[i].status == STATUS_interrupted)
      list[found++] = (struct runner){&first->records[i], NAN};
  return found;
}

static hone_status list_runners(const struct race *race, struct runner **out, size_t *out_count,
                                size_t *out_back) {
  const struct look *last = &race->looks[race->look_count - 1];
  size_t most = 0;
  for (size_t l = 0; l < race->look_count; l++) most += race->looks[l].summary.record_count;
  TRY(NEW_ARRAY(race->ctx, race->arena, *out, most + 1));
  *out_count = *out_back = bring_back(race, *out);
  for (size_t i = 0; i < last->summary.record_count; i++)
    if (stays(race, last, i)) add_runner(race, &last->summary.records[i], *out, out_count);
  for (size_t i = 1; i < *out_count; i++) /* the best first */
    for (size_t k = i; k && is_better(race, (*out)[k].value, (*out)[k - 1].value); k--) {
      const struct runner other = (*out)[k - 1];
      (*out)[k - 1] = (*out)[k];
      (*out)[k] = other;
    }
  *out_count += add_unseen(race, *out + *out_count);
  return HONE_OK;
}

/* Of a look that the budget ended before it found anything: the answer rests on the one before, whose rows say so. */
static void drop_cut_look(struct race *race) {
  const struct look *last = &race->looks[race->look_count - 1];
  struct look *before = &race->looks[race->look_count - 2];
  for (size_t i = 0; i < last->summary.record_count; i++)
    if (!last->carried[i].look && !had_no_time(last, &last->summary.records[i])) return;
  for (size_t i = 0; i < last->summary.record_count; i++) {
    const size_t row = find_row(&before->summary, last->summary.records[i].config.key);
    if (row == SIZE_MAX || !last->carried[i].look) continue;
    before->advice.at[row].late = last->carried[i].reason;
    before->advice.at[row].late_look = race->look_count;
  }
  race->look_count--;
}

/* The one row of the first look that has figures, where others had no time: what is left of the budget is theirs. */
static const struct record *measured_alone(const struct race *race) {
  const struct look *first = &race->looks[0];
  const struct record *found = NULL;
  bool has_waiting = false;
  for (size_t i = 0; i < first->summary.record_count; i++) {
    const struct record *r = &first->summary.records[i];
    has_waiting |= r->status == STATUS_interrupted;
    if (first->advice.at[i].standing == STANDING_invalid) continue;
    if (found) return NULL;
    found = r;
  }
  return race->look_count == 1 && has_waiting ? found : NULL;
}

static double starts_s(const struct runner *list, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    if (!isnan(list[i].value)) sum += start_s(list[i].record);
  return sum;
}

/* Where the time does not reach for all, what was never looked at comes before those behind the best. */
static size_t prefer_unseen(const struct race *race, struct runner *list, size_t count) {
  size_t kept = 0;
  bool has_unseen = false;
  for (size_t i = 0; i < count; i++) has_unseen |= isnan(list[i].value);
  if (!has_unseen || starts_s(list, count) <= left_s(race)) return count;
  for (size_t i = 0; i < count; i++)
    if (!i || isnan(list[i].value)) list[kept++] = list[i];
  return kept;
}

/* A share of what is left. *out_done: nothing is left to find out, or no time. What is brought back is looked at in any case. */
static hone_status next_look(struct race *race, bool *out_done) {
  struct command how = {.count = 0};
  struct runner *runners;
  char backends[LIST] = "", threads[LIST] = "", most[32], least[32], timeout[32];
  const size_t looks = race->look_count;
  size_t cells, back;
  TRY(list_runners(race, &runners, &cells, &back));
  race->alone = measured_alone(race);
  if (race->alone && cells && runners[0].record == race->alone) runners++, cells--;
  cells = prefer_unseen(race, runners, cells);
  double starts = starts_s(runners, cells);
  memset(race->is_left, 0, sizeof race->is_left);
  for (size_t i = 0; i < cells; i++) {
    const struct config *config = &runners[i].record->config;
    char word[64];
    race->is_left[place_of(race, config->model)] = true;
    add_candidate(backends, threads, backend_word(config, word), config->threads, true);
  }
  if (race->look_count == 1 && race->split.parts[0]) {
    list_add(backends, LIST, "hybrid");
    starts += LOOK_S;
    cells++;
  }
  const double left = left_s(race);
  const bool is_over = looks >= LOOKS || left < fmax(1, starts);
  *out_done = !cells || (!back && (is_over || (looks > 1 && cells == 1)));
  if (*out_done) return HONE_OK;
  const double share = (looks + 1 < LOOKS ? NEXT_SHARE : LAST_SHARE) * left;
  const double each = fmin(20, fmax(0.5, (share - 4 * starts) / (double)cells));
  snprintf(most, sizeof most, "%.2f", each);
  snprintf(least, sizeof least, "%.2f", fmin(1, each));
  TRY(command_add_flag(race->ctx, &how, FLAG_backend, backends));
  TRY(command_add_flag(race->ctx, &how, FLAG_threads, threads));
  TRY(command_add_flag(race->ctx, &how, FLAG_max_time, most));
  TRY(command_add_flag(race->ctx, &how, FLAG_min_time, least));
  snprintf(timeout, sizeof timeout, "%.1f", fmax(LEAST_TIMEOUT_S, left));
  if (!back) TRY(command_add_flag(race->ctx, &how, FLAG_timeout, timeout));
  TRY(look(race,
           back         ? "recommend: what was dropped too early"
           : looks == 1 ? "recommend: the rest side by side"
                        : "recommend: what is not told apart yet",
           &how, fmax(share, fmin(starts, left)), !back));
  drop_cut_look(race);
  *out_done = race->look_count == looks;
  return HONE_OK;
}

static size_t words_in(const char *list) {
  size_t count = *list != 0;
  for (; *list; list++) count += *list == ',';
  return count;
}

/* Whether the time may not reach for a look at everything: reading what records of other models say takes some. Of an
   engine's variants nothing is predicted: where one is named, all that are named are looked at. Nor of another device:
   peaks and records are this machine's. */
static bool wants_forecast(const struct race *race) {
  static const enum flag_id lists[] = {FLAG_threads, FLAG_batch, FLAG_precision};
  const struct repeated *backends = &race->args->repeated[FLAG_backend];
  size_t cells = 0, forms = 1;
  if (strcmp(race->device, "cpu")) return false;
  for (size_t i = 0; i < backends->count; i++) {
    if (strchr(backends->at[i], ':')) return false;
    cells += words_in(backends->at[i]);
  }
  if (!cells) return true;
  for (size_t i = 0; i < COUNT(lists); i++)
    if (has(race->args, lists[i])) cells *= words_in(value_of(race->args, lists[i], ""));
  if (!has(race->args, FLAG_threads) && usable_core_count() > 1) cells *= 2;
  for (size_t i = 1; i <= FORM_COUNT; i++) forms += race->is_left[i];
  return (double)(cells * forms) > race->budget_s / LOOK_S / 2;
}

/* Smaller forms are made where a bound says what they may cost, in a share of the budget. */
static hone_status find_forms(struct race *race) {
  const double least = race->constraints.bound[CONSTRAINT_accuracy];
  race->is_left[0] = true;
  if (isnan(least) || strcmp(race->device, "cpu") != 0) return HONE_OK;
  say(race, "recommend: int8, int4, fp16 and bf16 by hone quantise");
  phase_begin(race, "forms", FORMS_SHARE * race->budget_s);
  TRY(forms_find(race->ctx, race->args, least, FORMS_SHARE * race->budget_s, &race->forms));
  phase_end(race);
  for (size_t i = 0; i < FORM_COUNT; i++) race->is_left[i + 1] = race->forms.at[i].is_there;
  race->spent.forms_s = spent_s(race);
  return HONE_OK;
}

/* Where the last look has the choice alone, whom it was set against before. */
static void find_rival(struct race *race) {
  struct look *last = &race->looks[race->look_count - 1];
  struct advice *advice = &last->advice;
  if (advice->choice == SIZE_MAX || advice->runner_up != SIZE_MAX) return;
  for (size_t l = race->look_count - 1; l-- > 0 && !advice->rival.summary;) {
    const struct look *at = &race->looks[l];
    const size_t row = find_row(&at->summary, last->summary.records[advice->choice].config.key);
    if (row != at->advice.choice || at->advice.runner_up == SIZE_MAX) continue;
    advice->rival = (struct rival){&at->summary, at->advice.runner_up, l + 1, at->advice.ratio,
                                   at->advice.is_decided};
  }
}

/* Whether more time would have given the row figures: its engine is here, or on a device that is not asked again. */
static bool is_within_reach(const struct race *race, const struct record *r) {
  const struct backend *backend = backend_find(r->config.backend);
  struct backend_info info;
  struct ctx quiet;
  if (!backend || strcmp(race->device, "cpu") != 0) return true;
  ctx_init(&quiet);
  describe_backend(&quiet, backend, engine_path_of(race->args, backend->name), &info);
  return info.status == BACKEND_READY;
}

/* Whether nothing but the choice was measured, and time was the reason. */
static bool lacks_rival(const struct race *race) {
  const struct look *last = &race->looks[race->look_count - 1];
  bool has_waiting = false;
  if (last->advice.choice == SIZE_MAX) return false;
  const char *choice = last->summary.records[last->advice.choice].config.key;
  for (size_t l = 0; l < race->look_count; l++)
    for (size_t i = 0; i < race->looks[l].summary.record_count; i++) {
      const struct record *r = &race->looks[l].summary.records[i];
      if (!strcmp(r->config.key, choice)) continue;
      if (race->looks[l].advice.at[i].standing != STANDING_invalid) return false;
      has_waiting = has_waiting || (had_no_time(&race->looks[l], r) && is_within_reach(race, r));
    }
  for (size_t i = 0; i < race->forecast.count; i++) has_waiting |= race->forecast.at[i].is_dropped;
  return has_waiting;
}

static void find_undecided(struct race *race) {
  struct advice *advice = &race->looks[race->look_count - 1].advice;
  advice->is_undecided = lacks_rival(race);
  if (advice->is_undecided) advice->at[advice->choice].standing = STANDING_undecided;
}

static hone_status run_race(struct race *race) {
  bool is_done = false;
  TRY(find_forms(race));
  if (wants_forecast(race)) {
    const double records_s = fmax(RECORDS_S, RECORDS_SHARE * race->budget_s);
    phase_begin(race, "records of other models", records_s);
    TRY(forecast_make(race->ctx, race->arena, race->args, records_s, &race->forecast));
    phase_end(race);
  }
  TRY(first_look(race));
  TRY(find_split(race));
  while (!is_done && race->look_count < COUNT(race->looks)) TRY(next_look(race, &is_done));
  find_rival(race);
  find_undecided(race);
  return HONE_OK;
}

/* -- the answer */

static const struct summary *summary_of(const struct race *race) {
  return &race->looks[race->look_count ? race->look_count - 1 : 0].summary;
}
static const struct advice *advice_of(const struct race *race) {
  return &race->looks[race->look_count ? race->look_count - 1 : 0].advice;
}

/* What earlier looks dropped, with the reason that the look had: as lines and as JSON. */
static void tell_dropped(const struct race *race, size_t look, size_t i, struct strbuf *lines,
                         json_t *list) {
  const struct look *at = &race->looks[look];
  const struct record *r = &at->summary.records[i];
  struct strbuf reason = {0};
  advise_reason(&reason, &at->summary, &race->constraints, &at->advice, i);
  strbuf_puts(lines, "  dropped    ");
  advise_name(lines, &at->summary, i);
  strbuf_printf(lines, ": %s (look %zu)\n", reason.at ? reason.at : "", look + 1);
  json_array_append_new(
      list, json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:s*}", "model", r->config.model,
                      "backend", r->config.backend, "variant", r->config.variant, "precision",
                      r->config.precision, "threads", r->config.threads, "batch", r->config.batch,
                      "look", (int)look + 1, "reason", reason.at));
  strbuf_deinit(&reason);
}

static void put_dropped(struct strbuf *out, const struct race *race, json_t *list) {
  for (size_t l = 0; l + 1 < race->look_count; l++)
    for (size_t i = 0; i < race->looks[l].summary.record_count; i++)
      if (last_seen(race, l, race->looks[l].summary.records[i].config.key) == l)
        tell_dropped(race, l, i, out, list);
  forecast_put_dropped(&race->forecast, &race->constraints, out, list);
}

static hone_status render(struct ctx *ctx, void *user, const char *form, struct strbuf *out) {
  (void)form;
  return answer_json(ctx, user, out);
}

static void put_spent(struct strbuf *out, const struct spent *spent) {
  strbuf_printf(out, "time: %.3g s of a budget of %.3g s", spent->all_s, spent->budget_s);
  if (spent->reference_s >= 0.1)
    strbuf_printf(out, "; %.3g s of them for the reference's outputs, which are kept",
                  spent->reference_s);
  if (spent->forms_s >= 0.1) strbuf_printf(out, "; %.3g s for smaller forms", spent->forms_s);
  strbuf_puts(out, "\n");
}

static hone_status print_answer(struct race *race, const struct strbuf *dropped) {
  const struct advice *advice = advice_of(race);
  struct strbuf out = {0};
  advise_table(summary_of(race), &race->constraints, advice, &out);
  strbuf_append(&out, dropped->at ? dropped->at : "", dropped->length);
  forms_put(&out, &race->forms);
  if (race->split.words[0]) {
    strbuf_puts(&out, "hybrid: ");
    strbuf_put_safe(&out, race->split.words, sizeof race->split.words);
    strbuf_puts(&out, "\n");
  }
  put_spent(&out, &race->spent);
  if (advice->choice != SIZE_MAX)
    strbuf_printf(&out, "again: %s\n", summary_of(race)->records[advice->choice].repeat);
  strbuf_printf(&out, "study: hone report %.12s\n", summary_of(race)->study.key);
  TRY(strbuf_finish(race->ctx, &out));
  fputs(out.at ? out.at : "", stdout);
  strbuf_deinit(&out);
  return HONE_OK;
}

static hone_status run(struct race *race, struct sinks *sinks) {
  const char *model;
  TRY(one_word(race->ctx, race->args, "model", &model));
  TRY(read_constraints(race));
  TRY(read_device(race));
  TRY(check_predict(race));
  TRY(check_meter(race));
  TRY(amount_of(race->ctx, race->args, FLAG_budget, AMOUNT_SECONDS, 0.01, 1e6, BUDGET_S,
                &race->budget_s));
  static const enum flag_id of_forms[] = {FLAG_calibrate, FLAG_labels};
  TRY(flags_need(race->ctx, race->args, of_forms, COUNT(of_forms),
                 has(race->args, FLAG_min_accuracy), "--min-accuracy"));
  TRY(sinks_read(race->ctx, race->args, sinks));
  TRY(sinks_check_words(race->ctx, race->args, sinks));
  TRY(bundle_folder_check(race->ctx, race->args));
  TRY(arena_create(race->ctx, 0, &race->arena));
  TRY(dir_temporary(race->ctx, race->dir));
  return has(race->args, FLAG_predict) ? HONE_OK : run_race(race);
}

static bool has_run(const struct summary *summary, const struct advice *advice) {
  bool any = false;
  for (size_t i = 0; i < summary->record_count; i++)
    any |= advice->at[i].standing != STANDING_invalid;
  return any;
}

/* The terminal, the files, the bundle: each whatever became of the others; the first failure's code. */
static int answer(struct race *race, struct sinks *sinks) {
  struct ctx *ctx = race->ctx;
  struct strbuf dropped = {0};
  race->spent.budget_s = race->budget_s;
  race->spent.all_s = spent_s(race);
  struct answer whole = {summary_of(race), &race->constraints, advice_of(race), &race->split,
                         &race->forms,     json_array(),       race->spent};
  put_dropped(&dropped, race, whole.dropped);
  int code = !sinks->takes_stdout && print_answer(race, &dropped) ? report_failure(ctx) : 0;
  ctx_clear(ctx);
  int failed = sinks_write(ctx, sinks, render, &whole);
  if (!code) code = failed;
  if (bundle_answer(ctx, race->args, race->arena, &whole)) {
    failed = report_failure(ctx);
    if (!code) code = failed;
  }
  if (!code && whole.advice->choice == SIZE_MAX)
    code = has_run(whole.summary, whole.advice) ? 1 : 3;
  if (!code && whole.advice->is_undecided) code = 5;
  strbuf_deinit(&dropped);
  json_decref(whole.dropped);
  return code;
}

int verb_recommend(struct ctx *ctx, struct args *args) {
  static struct race race;
  static struct sinks sinks;
  race = (struct race){.ctx = ctx,
                       .args = args,
                       .start_ns = clock_ns(),
                       .split = {.is_asked = has(args, FLAG_hybrid)},
                       .spent = {.phases = json_array()}};
  int code = run(&race, &sinks) ? report_failure(ctx) : 0;
  if (!code && has(args, FLAG_predict)) code = forecast_print(ctx, race.arena, args, &sinks);
  if (!code && race.look_count) code = answer(&race, &sinks);
  json_decref(race.split.proposal);
  json_decref(race.spent.phases);
  forms_free(&race.forms);
  if (race.dir[0]) dir_temporary_remove(race.dir);
  arena_destroy(race.arena);
  return code;
}
