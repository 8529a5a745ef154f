/* Tunes a model's problems, the costliest first: each is tried (trial.c); a choice proven faster is
 * tried again alone against the usual choice; and the whole model runs with and without the results
 * before anything is kept.
 */
#include "tune.h"

#include <math.h>
#include <stdlib.h>

enum { CANDIDATES = 8, PROCESSES = 4, MODEL_RUNS = 3, MODEL_ROUNDS = 12 };
#define MODEL_SHARE 0.2 /* of the budget, for the check of the whole model */
#define LEAST_S 0.3     /* minimum time for a problem */
#define MOST_S 4.0
#define NOT_SLOWER 1.01 /* the whole model's interval must end below that, its value below 1 */
#define CHECK_MACS 0    /* compared with the usual choice, which tests compare with the reference */

struct wanted_problem {
  struct problem problem;
  double cost; /* predicted ns of all steps with it */
};
struct tuning {
  struct ctx *ctx;
  struct arena *arena;
  const struct model *model;
  const struct tune_options *options;
  struct tune_report *report;
  uint64_t start_ns;
  VEC(struct wanted_problem) problems;
  struct choice_table found;
};

static double spent_s(const struct tuning *t) { return (double)(clock_ns() - t->start_ns) / 1e9; }

static int costliest_first(const void *a, const void *b) {
  const struct wanted_problem *x = a, *y = b;
  return x->cost > y->cost ? -1 : x->cost < y->cost;
}

/* Distinct problems of the plan made without a table. */
static hone_status list_problems(struct tuning *t) {
  struct compile_options options = t->options->compile;
  struct plan *plan;
  options.untuned = true;
  options.choices = NULL;
  TRY(compile_plan(t->ctx, t->arena, t->model, &options, &plan));
  for (size_t i = 0; i < plan->steps.count; i++) {
    const struct step *step = plan->steps.at[i];
    size_t k = 0;
    if (step->kind != STEP_KERNEL || step->problem.kind == PROBLEM_recurrent) continue;
    const struct problem problem = problem_before_choice(&step->problem);
    while (k < t->problems.count && memcmp(&t->problems.at[k].problem, &problem, sizeof problem))
      k++;
    if (k == t->problems.count)
      VEC_PUSH(t->ctx, t->arena, &t->problems, ((struct wanted_problem){problem, 0}));
    t->problems.at[k].cost += step->choice.cost;
  }
  if (t->problems.count)
    qsort(t->problems.at, t->problems.count, sizeof *t->problems.at, costliest_first);
  t->report->problems = t->problems.count;
  return HONE_OK;
}

static struct trial_options options_of(const struct tuning *t, double seconds) {
  const struct compile_options *o = &t->options->compile;
  return (struct trial_options){.target = &o->target,
                                .threads = o->threads,
                                .cc = o->cc,
                                .most = CANDIDATES,
                                .processes = PROCESSES,
                                .seconds = seconds,
                                .check_macs = CHECK_MACS,
                                .seed = t->options->seed};
}

static hone_status keep(struct tuning *t, const struct problem *problem,
                        const struct choice *choice) {
  VEC_PUSH(t->ctx, t->arena, &t->found.entries, ((struct choice_entry){*problem, *choice}));
  return HONE_OK;
}

/* The best of several candidates is also the luckiest: it must win again, alone. */
static hone_status try_problem(struct tuning *t, size_t index, double seconds) {
  const struct wanted_problem *wanted = &t->problems.at[index];
  struct trial_options options = options_of(t, seconds);
  struct trial trial;
  struct arena *arena;
  TRY(arena_create(t->ctx, 0, &arena));
  hone_status status = trial_run(t->ctx, arena, &wanted->problem, &options, &trial);
  size_t best = status ? 0 : trial_best(&trial);
  struct choice choice = best ? trial.candidates[best].choice : (struct choice){0};
  if (!status) t->report->tried += trial.count > 1;
  if (best) {
    options.only = &choice;
    options.most = 2;
    options.seed++;
    status = trial_run(t->ctx, arena, &wanted->problem, &options, &trial);
    if (!status && trial_best(&trial)) status = keep(t, &wanted->problem, &choice);
  }
  if (!status && t->options->progress)
    t->options->progress(t->options->user, &trial, index + 1, t->problems.count);
  arena_destroy(arena);
  return status;
}

/* Time in proportion to predicted cost, within bounds. Problems already in the table are
   skipped. */
static hone_status try_all(struct tuning *t, const struct choice_table *known) {
  const double budget = t->options->budget_s * (1 - MODEL_SHARE);
  double all = 0;
  for (size_t i = 0; i < t->problems.count; i++) {
    if (choices_find(known, &t->problems.at[i].problem))
      t->report->known++;
    else
      all += t->problems.at[i].cost;
  }
  for (size_t i = 0; i < t->problems.count && spent_s(t) < budget; i++) {
    if (choices_find(known, &t->problems.at[i].problem)) continue;
    double share = all > 0 ? t->problems.at[i].cost / all * budget / 2 : LEAST_S;
    TRY(try_problem(t, i, fmin(MOST_S, fmax(LEAST_S, share))));
  }
  return HONE_OK;
}

/* -- the whole model */

struct model_run {
  struct loaded loaded;
  struct hone_io io;
  void **buffers;
  struct slice_median slices[PROCESSES * MODEL_ROUNDS];
  size_t count;
};

static size_t io_bytes(const struct hone_io_info *io) {
  size_t bytes = dense_bytes((hone_dtype)io->dtype, 1);
  for (int32_t d = 0; d < io->rank; d++) bytes *= (size_t)io->dims[d];
  return bytes + 64;
}

/* Floats between 0 and 1; everything else, indices among it, is 0. */
static hone_status make_io(struct tuning *t, struct arena *arena, struct model_run *run) {
  const struct hone_artifact_info *info = run->loaded.info;
  const void **inputs;
  void **outputs;
  struct random random;
  random_init(&random, t->options->seed);
  TRY(NEW_ARRAY(t->ctx, arena, inputs, (size_t)info->input_count + 1));
  TRY(NEW_ARRAY(t->ctx, arena, outputs, (size_t)info->output_count + 1));
  for (int32_t i = 0; i < info->input_count; i++) {
    const size_t bytes = io_bytes(&info->inputs[i]);
    float *data;
    TRY(NEW_ARRAY(t->ctx, arena, data, bytes / 4 + 1));
    for (size_t k = 0; info->inputs[i].dtype == HONE_F32 && k < bytes / 4; k++)
      data[k] = (float)random_uniform(&random);
    inputs[i] = data;
  }
  for (int32_t i = 0; i < info->output_count; i++) {
    float *data;
    TRY(NEW_ARRAY(t->ctx, arena, data, io_bytes(&info->outputs[i]) / 4 + 1));
    outputs[i] = data;
  }
  run->io = (struct hone_io){.inputs = inputs, .outputs = outputs};
  return HONE_OK;
}

static hone_status time_model(struct tuning *t, struct model_run *run, const struct hone_team *team,
                              int process, int round) {
  double times[MODEL_RUNS];
  for (int i = 0; i < MODEL_RUNS; i++) {
    uint64_t start = clock_ns();
    if (run->loaded.info->run(run->loaded.weights, run->loaded.arena, &run->io, team))
      return fail(t->ctx, HONE_E_INTERNAL, place_none(), "the model fails on these inputs");
    times[i] = (double)(clock_ns() - start);
  }
  sort_doubles(times, MODEL_RUNS);
  run->slices[run->count++] = (struct slice_median){process, round, times[MODEL_RUNS / 2]};
  return HONE_OK;
}

/* Both with one memory layout, alternating which of them is first. */
static hone_status run_pair(struct tuning *t, const char *const paths[2], struct model_run runs[2],
                            const struct hone_team *team, int process) {
  struct arena *arena;
  TRY(arena_create(t->ctx, 0, &arena));
  hone_status status = HONE_OK;
  for (int k = 0; k < 2 && !status; k++) {
    status = artifact_load(t->ctx, paths[k], NULL, &runs[k].loaded);
    if (!status) status = make_io(t, arena, &runs[k]);
  }
  for (int round = -1; round < MODEL_ROUNDS && !status; round++)
    for (int k = 0; k < 2 && !status; k++) {
      struct model_run *run = &runs[(round + k) & 1];
      status = time_model(t, run, team, process, round);
      if (round < 0) run->count--; /* warm-up */
    }
  for (int k = 0; k < 2; k++) {
    if (runs[k].loaded.library) artifact_unload(&runs[k].loaded);
    runs[k].loaded = (struct loaded){0};
  }
  arena_destroy(arena);
  return status;
}

static hone_status compare(struct tuning *t, const char *const paths[2]) {
  struct model_run *runs;
  struct team *team;
  struct paired paired;
  TRY(NEW_ARRAY(t->ctx, t->arena, runs, 2));
  TRY(team_create(t->ctx, t->options->compile.threads, true, &team));
  hone_status status = HONE_OK;
  for (int process = 0; process < PROCESSES && !status; process++)
    status = run_pair(t, paths, runs, team_interface(team), process);
  team_destroy(team);
  TRY(status);
  TRY(paired_ratio(t->ctx, runs[1].slices, runs[1].count, runs[0].slices, runs[0].count, 0.95,
                   &paired));
  t->report->model = paired.ratio;
  return HONE_OK;
}

static hone_status write_table(struct tuning *t, const struct choice_table *known,
                               const char *path) {
  struct strbuf text = {0};
  strbuf_puts(&text, "# choices\n");
  for (int part = 0; part < 2; part++) {
    const struct choice_table *table = part ? &t->found : known;
    for (size_t i = 0; i < table->entries.count; i++) {
      char problem[1024], choice[512];
      problem_print(problem, sizeof problem, &table->entries.at[i].problem);
      choice_print(choice, sizeof choice, &table->entries.at[i].choice);
      strbuf_printf(&text, "%s -> %s\n", problem, choice);
    }
  }
  hone_status status = strbuf_finish(t->ctx, &text);
  if (!status) status = file_write_atomic(t->ctx, path, text.at, text.length, 0600);
  strbuf_deinit(&text);
  return status;
}

static hone_status check_in(struct tuning *t, const struct choice_table *known,
                            const char *folder) {
  char table[4200], paths[2][4200];
  struct compile_options options = t->options->compile;
  options.no_cache = true;
  for (int k = 0; k < 2; k++) {
    snprintf(table, sizeof table, "%s/choices", folder);
    snprintf(paths[k], sizeof paths[k], "%s/model%d.so", folder, k);
    const struct tuning without = {.ctx = t->ctx};
    struct tuning by_table = k ? *t : without;
    TRY(write_table(&by_table, known, table));
    options.choices = table;
    TRY(compile_model(t->ctx, t->model, &options, paths[k], NULL));
  }
  const char *const both[] = {paths[0], paths[1]};
  return compare(t, both);
}

static hone_status check_model(struct tuning *t, const struct choice_table *known) {
  char folder[4096];
  TRY(dir_temporary(t->ctx, folder));
  hone_status status = check_in(t, known, folder);
  dir_temporary_remove(folder);
  return status;
}

hone_status tune_keep(struct ctx *ctx, struct arena *arena, const struct compile_options *options,
                      const struct choice_table *found, struct tune_report *report) {
  report->refused = !(report->model.value < 1 && report->model.high < NOT_SLOWER);
  if (report->refused) return HONE_OK;
  report->kept = found->entries.count;
  return tuned_add(ctx, arena, options, found);
}

static hone_status tune_in(struct tuning *t) {
  const struct compile_options *options = &t->options->compile;
  struct choice_table known;
  TRY(features_check(t->ctx, place_name(options->target.level), options->target.features));
  TRY(tuned_path(t->ctx, options, t->report->path));
  TRY(tuned_read(t->ctx, t->arena, options, &known));
  TRY(list_problems(t));
  TRY(try_all(t, &known));
  if (!t->found.entries.count) return HONE_OK;
  TRY(check_model(t, &known));
  return tune_keep(t->ctx, t->arena, options, &t->found, t->report);
}

hone_status tune_model(struct ctx *ctx, const struct model *model,
                       const struct tune_options *options, struct tune_report *out) {
  struct tuning t = {
      .ctx = ctx, .model = model, .options = options, .report = out, .start_ns = clock_ns()};
  *out = (struct tune_report){.model = {NAN, NAN, NAN}};
  TRY(arena_create(ctx, 0, &t.arena));
  hone_status status = tune_in(&t);
  arena_destroy(t.arena);
  return status;
}
