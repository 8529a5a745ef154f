/* hone recommend: the best way to run a model here under the user's bounds. Two studies decide: a first look at every
 * candidate drops what is far behind, then the rest is measured side by side until the time is spent. Both are in the
 * store; the second is what the answer rests on.
 */
#include "recommend.h"

#include <math.h>

#define BUDGET_S 60.0
#define FAR_BEHIND 1.5 /* of the best at the first look: no second one */
enum { LIST = 1024 };

struct race {
  struct ctx *ctx;
  const struct args *args;
  struct arena *arena;
  struct demands demands;
  double budget_s;
  uint64_t start_ns;
  char dir[4096];
  char backends[LIST], threads[LIST]; /* of the second study */
  struct summary first, second;
  struct advice first_advice, advice;
  bool is_raced; /* there was a second study */
};

/* -- demands ------------------------------------------------------------------------------------- */

static hone_status read_demands(struct race *race) {
  static const struct {
    enum flag_id flag;
    enum demand_id id;
  } bounds[] = {{FLAG_max_latency, DEMAND_latency}, {FLAG_min_throughput, DEMAND_throughput},
                {FLAG_max_memory, DEMAND_memory},   {FLAG_max_size, DEMAND_size},
                {FLAG_max_start, DEMAND_start},     {FLAG_min_accuracy, DEMAND_accuracy}};
  const char *objective = value_of(race->args, FLAG_objective, "latency");
  int id = 0;
  demands_init(&race->demands);
  for (size_t i = 0; i < COUNT(bounds); i++) {
    TRY(amount_of(race->ctx, race->args, bounds[i].flag, demand_kinds[bounds[i].id].amount, 0, 1e18,
                  NAN, &race->demands.bound[bounds[i].id]));
  }
  while (id < DEMAND_COUNT && strcmp(demand_kinds[id].name, objective)) id++;
  if (id == DEMAND_COUNT)
    return fail(race->ctx, HONE_E_USAGE, place_name("--objective"),
                "\"%.100s\" is none of latency, throughput, memory, size, start, compile, accuracy",
                objective);
  race->demands.objective = (enum demand_id)id;
  return HONE_OK;
}

/* -- studies ------------------------------------------------------------------------------------- */

/* What the user said of model, data and engines holds for both studies. */
static hone_status add_given(struct race *race, struct command *command) {
  static const enum flag_id flags[] = {FLAG_shape,  FLAG_side_files_from, FLAG_input,
                                       FLAG_inputs, FLAG_backend_option,  FLAG_engine,
                                       FLAG_batch,  FLAG_precision,       FLAG_store,
                                       FLAG_seed,   FLAG_limit,           FLAG_memory_limit};
  return command_add_given(race->ctx, race->args, flags, COUNT(flags), command);
}

static void say(const struct race *race, const char *what) {
  if (!has(race->args, FLAG_quiet))
    fprintf(stderr, "[%.0f s] %s\n", (double)(clock_ns() - race->start_ns) / 1e9, what);
}

static hone_status study(struct race *race, const char *title, const struct command *how,
                         struct summary *out) {
  struct command command = {.count = 0};
  TRY(command_add(race->ctx, &command, race->args->words[0]));
  TRY(add_given(race, &command));
  for (size_t i = 0; i < how->count; i++) TRY(command_add(race->ctx, &command, how->at[i]));
  TRY(command_add_flag(race->ctx, &command, FLAG_name, title));
  say(race, title);
  return self_study(race->ctx, race->arena, &command, race->dir, out);
}

static hone_status first_look(struct race *race) {
  struct command how = {.count = 0};
  const struct repeated *backends = &race->args->repeated[FLAG_backend];
  char threads[32];
  snprintf(threads, sizeof threads, usable_core_count() > 1 ? "1,%d" : "%d", usable_core_count());
  for (size_t i = 0; i < backends->count; i++)
    TRY(command_add_flag(race->ctx, &how, FLAG_backend, backends->at[i]));
  TRY(command_add_flag(race->ctx, &how, FLAG_threads, value_of(race->args, FLAG_threads, threads)));
  TRY(command_add_flag(race->ctx, &how, FLAG_incarnations, "1"));
  TRY(command_add_flag(race->ctx, &how, FLAG_rounds, "6"));
  TRY(command_add_flag(race->ctx, &how, FLAG_min_samples, "3"));
  TRY(command_add_flag(race->ctx, &how, FLAG_min_time, "0.05"));
  TRY(command_add_flag(race->ctx, &how, FLAG_warmup, "0.2"));
  TRY(study(race, "recommend: a first look", &how, &race->first));
  return advise_choose(race->ctx, race->arena, &race->first, &race->demands, &race->first_advice);
}

static bool stays(const struct race *race, size_t i) {
  const struct advice *a = &race->first_advice;
  const struct record *r = &race->first.records[i];
  const struct demand_kind *kind = &demand_kinds[race->demands.objective];
  if (a->at[i].standing == STANDING_invalid || a->at[i].standing == STANDING_out) return false;
  if (a->choice == SIZE_MAX) return true; /* nothing is sure yet */
  const double x = kind->value(r), best = kind->value(&race->first.records[a->choice]);
  return kind->is_more_better ? x * FAR_BEHIND >= best : x <= best * FAR_BEHIND;
}

/* Adds a word to a list with commas unless it is there. */
static void add_once(char list[LIST], const char *word) {
  const size_t n = strlen(word), used = strlen(list);
  for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
    if (!strncmp(p, word, n) && (p[n] == ',' || !p[n])) return;
  if (used + n + 2 < LIST) snprintf(list + used, LIST - used, "%s%s", used ? "," : "", word);
}

static hone_status second_look(struct race *race) {
  struct command how = {.count = 0};
  size_t cells = 0;
  char most[32], least[32];
  for (size_t i = 0; i < race->first.record_count; i++) {
    char threads[16];
    if (!stays(race, i)) continue;
    snprintf(threads, sizeof threads, "%d", race->first.records[i].cell.threads);
    add_once(race->backends, race->first.records[i].cell.backend);
    add_once(race->threads, threads);
    cells++;
  }
  if (!cells) return HONE_OK;
  const double left = race->budget_s - (double)(clock_ns() - race->start_ns) / 1e9;
  const double each = fmin(20, fmax(0.5, 0.8 * left / (double)cells));
  snprintf(most, sizeof most, "%.2f", each);
  snprintf(least, sizeof least, "%.2f", fmin(1, each));
  TRY(command_add_flag(race->ctx, &how, FLAG_backend, race->backends));
  TRY(command_add_flag(race->ctx, &how, FLAG_threads, race->threads));
  TRY(command_add_flag(race->ctx, &how, FLAG_max_time, most));
  TRY(command_add_flag(race->ctx, &how, FLAG_min_time, least));
  TRY(study(race, "recommend: the rest side by side", &how, &race->second));
  race->is_raced = true;
  return advise_choose(race->ctx, race->arena, &race->second, &race->demands, &race->advice);
}

/* -- the answer ---------------------------------------------------------------------------------- */

/* What the first look dropped; rows of the second study speak for themselves. */
static void put_dropped(struct text *out, const struct race *race) {
  for (size_t i = 0; i < race->first.record_count; i++) {
    const struct record *r = &race->first.records[i];
    bool again = false;
    for (size_t k = 0; k < race->second.record_count; k++)
      again |= !strcmp(race->second.records[k].cell.key, r->cell.key);
    if (again) continue;
    text_printf(out, "  %-10s ", "dropped");
    text_put_safe(out, r->cell.backend, 32);
    text_printf(out, ", %s, %d thread%s: ", r->cell.precision, r->cell.threads,
                r->cell.threads == 1 ? "" : "s");
    advise_reason(out, &race->first, &race->demands, &race->first_advice, i);
    text_puts(out, " (first look)\n");
  }
}

static const struct summary *summary_of(const struct race *race) {
  return race->is_raced ? &race->second : &race->first;
}
static const struct advice *advice_of(const struct race *race) {
  return race->is_raced ? &race->advice : &race->first_advice;
}

static hone_status render(struct ctx *ctx, void *user, const char *form, struct text *out) {
  const struct race *race = user;
  (void)form;
  return advise_json(ctx, summary_of(race), &race->demands, advice_of(race), out);
}

static hone_status print_answer(struct race *race) {
  const struct advice *advice = advice_of(race);
  struct text out = {0};
  advise_table(summary_of(race), &race->demands, advice, &out);
  if (race->is_raced) put_dropped(&out, race);
  if (advice->choice != SIZE_MAX)
    text_printf(&out, "again: %s\n", summary_of(race)->records[advice->choice].repeat);
  text_printf(&out, "study: hone report %.12s\n", summary_of(race)->study.key);
  TRY(text_finish(race->ctx, &out));
  fputs(out.at ? out.at : "", stdout);
  text_deinit(&out);
  return HONE_OK;
}

static hone_status run(struct race *race, struct sinks *sinks) {
  const char *model;
  TRY(one_word(race->ctx, race->args, "model", &model));
  TRY(read_demands(race));
  TRY(amount_of(race->ctx, race->args, FLAG_budget, AMOUNT_SECONDS, 0.01, 1e6, BUDGET_S,
                &race->budget_s));
  TRY(sinks_read(race->ctx, race->args, sinks));
  TRY(bundle_folder_check(race->ctx, race->args));
  TRY(arena_create(race->ctx, 0, &race->arena));
  TRY(dir_temporary(race->ctx, race->dir));
  TRY(first_look(race));
  TRY(second_look(race));
  return sinks->takes_stdout ? HONE_OK : print_answer(race);
}

int verb_recommend(struct ctx *ctx, struct args *args) {
  static struct race race;
  static struct sinks sinks;
  race = (struct race){.ctx = ctx, .args = args, .start_ns = clock_ns()};
  int code = run(&race, &sinks) ? report_failure(ctx) : 0;
  if (!code) code = sinks_write(ctx, &sinks, render, &race);
  const struct answer answer = {summary_of(&race), &race.demands, advice_of(&race)};
  if (!code && bundle_answer(ctx, args, race.arena, &answer)) code = report_failure(ctx);
  if (!code && advice_of(&race)->choice == SIZE_MAX) code = 1;
  if (race.dir[0]) dir_remove_tree(race.dir);
  arena_destroy(race.arena);
  return code;
}
