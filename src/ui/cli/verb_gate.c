/* hone gate: flags to judge/gate/gate.c, its result, and the exit code: 0, 1 a regression, 5 undecided. */
#include "judge/gate/gate.h"
#include "ui/report/report.h"
#include "cli.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FALSE_ALARMS 0.01
#define TURN_S 0.01
enum { LIST = 4096, MOST_NUMBERS = 16 };

struct gating {
  struct ctx *ctx;
  const struct args *args;
  struct arena *arena;
  struct sinks sinks;
  struct gate_options options;
  struct gate_result result;
  char builds[2][4096], dir[4096];
  int threads[MOST_NUMBERS], batches[MOST_NUMBERS];
};

/* The line may hold names of a baseline, which is untrusted. */
static void print_progress(void *user, const char *line) {
  char safe[600];
  (void)user;
  safe_copy(safe, sizeof safe, line);
  fprintf(stderr, "%s\n", safe);
}

/* -- two builds */

static hone_status find_build(struct gating *g, const char *name, char out[4096]) {
  char *real = realpath(name, NULL);
  const bool fits = real && strlen(real) < 4096 && !access(real, X_OK);
  if (fits) snprintf(out, 4096, "%s", real);
  free(real);
  return fits ? HONE_OK
              : fail(g->ctx, HONE_E_MISSING, place_file(name), "is not an executable program");
}

static hone_status read_numbers(struct gating *g) {
  struct gate_options *o = &g->options;
  TRY(ints_of(g->ctx, g->args, FLAG_threads, 1, 4096, g->threads, MOST_NUMBERS, &o->thread_count));
  TRY(ints_of(g->ctx, g->args, FLAG_batch, 1, 1 << 20, g->batches, MOST_NUMBERS, &o->batch_count));
  if (!o->thread_count) g->threads[o->thread_count++] = usable_core_count();
  if (!o->batch_count) g->batches[o->batch_count++] = 0;
  o->threads = g->threads;
  o->batches = g->batches;
  o->precision = value_of(g->args, FLAG_precision, "as-is");
  return HONE_OK;
}

static hone_status read_builds(struct gating *g) {
  struct paired_options *p = &g->options.paired;
  int64_t pairs, seed;
  TRY(find_build(g, value_of(g->args, FLAG_base_build, ""), g->builds[0]));
  if (has(g->args, FLAG_new_build))
    TRY(find_build(g, value_of(g->args, FLAG_new_build, ""), g->builds[1]));
  else
    TRY(self_path(g->ctx, g->builds[1]));
  TRY(int_of(g->ctx, g->args, FLAG_pairs, PAIRED_MIN_PAIRS, PAIRED_MAX_PAIRS, 0, &pairs));
  TRY(int_of(g->ctx, g->args, FLAG_seed, 0, INT64_MAX, 1, &seed));
  TRY(amount_of(g->ctx, g->args, FLAG_turn, AMOUNT_SECONDS, 1e-4, 60, TURN_S, &p->turn_s));
  TRY(amount_of(g->ctx, g->args, FLAG_false_alarms, AMOUNT_PERCENT, 1e-6, 0.5, FALSE_ALARMS,
                &p->false_alarms));
  TRY(read_numbers(g));
  p->builds[0] = g->builds[0];
  p->builds[1] = g->builds[1];
  p->shapes = value_of(g->args, FLAG_shape, NULL);
  p->side_files_from = value_of(g->args, FLAG_side_files_from, NULL);
  p->measures_same = has(g->args, FLAG_same_too);
  p->pairs = (int)pairs;
  p->seed = (uint64_t)seed;
  return HONE_OK;
}

/* -- a new study: `hone bench` as a child process */

static bool has_word(const struct command *command, const char *word) {
  for (size_t i = 0; i < command->count; i++)
    if (!strcmp(command->at[i], word)) return true;
  return false;
}

/* Lists of models, backends, threads, ... as flags. `hone bench` measures every combination, so possibly more than these
   configurations. */
static hone_status add_configs(struct gating *g, const struct config *const *configs, size_t count,
                               struct command *how) {
  static char backends[LIST], threads[LIST], batches[LIST], asked[LIST];
  backends[0] = threads[0] = batches[0] = asked[0] = 0;
  for (size_t i = 0; i < count; i++) {
    char number[16], word[64];
    const char *model;
    TRY(gate_config_model(g->ctx, g->arena, configs[i], &model));
    if (!g->args->word_count && !has_word(how, model)) TRY(command_add_model(g->ctx, how, model));
    list_add(backends, LIST, backend_word(configs[i], word));
    list_add(asked, LIST, configs[i]->precision);
    snprintf(number, sizeof number, "%d", configs[i]->threads);
    list_add(threads, LIST, number);
    snprintf(number, sizeof number, "%d", configs[i]->batch);
    list_add(batches, LIST, number);
  }
  for (size_t i = 0; i < g->args->word_count; i++) {
    const char *model;
    TRY(gate_model_word(g->ctx, g->arena, g->args->words[i], &model));
    TRY(command_add_model(g->ctx, how, model));
  }
  TRY(command_add_flag(g->ctx, how, FLAG_backend, value_of(g->args, FLAG_backend, backends)));
  TRY(command_add_flag(g->ctx, how, FLAG_threads, value_of(g->args, FLAG_threads, threads)));
  TRY(command_add_flag(g->ctx, how, FLAG_precision, value_of(g->args, FLAG_precision, asked)));
  return command_add_flag(g->ctx, how, FLAG_batch, value_of(g->args, FLAG_batch, batches));
}

static const enum flag_id study_flags[] = {
    FLAG_backend,     FLAG_engine,    FLAG_backend_option, FLAG_store,    FLAG_rounds,
    FLAG_min_samples, FLAG_processes, FLAG_min_time,       FLAG_max_time, FLAG_warmup};

static hone_status measure(struct ctx *ctx, struct arena *arena, void *user,
                           const struct config *const *configs, size_t count, const char *title,
                           struct summary *out) {
  static const enum flag_id given[] = {FLAG_shape,    FLAG_side_files_from, FLAG_backend_option,
                                       FLAG_engine,   FLAG_store,           FLAG_seed,
                                       FLAG_min_time, FLAG_max_time,        FLAG_min_samples,
                                       FLAG_rounds,   FLAG_processes,       FLAG_warmup};
  struct gating *g = user;
  struct command *how;
  TRY(NEW(ctx, arena, how));
  TRY(add_configs(g, configs, count, how));
  TRY(command_add_given(ctx, g->args, given, COUNT(given), how));
  TRY(command_add_flag(ctx, how, FLAG_name, title));
  if (!g->dir[0]) TRY(dir_temporary(ctx, g->dir));
  return self_study(ctx, arena, how, g->dir, out);
}

/* -- the result */

static hone_status render(struct ctx *ctx, void *user, const char *form, struct strbuf *out) {
  const struct gating *g = user;
  const struct render_options options = {.color = wants_color(g->args)};
  return render_gate(ctx, form, &g->result, &options, out);
}

/* $GITHUB_STEP_SUMMARY is a file that steps append to. */
static hone_status append_summary(struct gating *g) {
  const char *path = getenv("GITHUB_STEP_SUMMARY");
  struct strbuf out = {0};
  struct stat info;
  if (!path || !*path) return HONE_OK;
  hone_status status = render(g->ctx, g, "md", &out);
  const int fd =
      status ? -1 : open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (!status &&
      (fd < 0 || fstat(fd, &info) || !S_ISREG(info.st_mode) || !write_all(fd, out.at, out.length)))
    status = fail(g->ctx, HONE_E_WRITE, place_file(path), "the step's summary cannot be written");
  if (fd >= 0) close(fd);
  strbuf_deinit(&out);
  return status;
}

static hone_status run(struct gating *g) {
  static const enum flag_id paired_flags[] = {FLAG_new_build, FLAG_pairs, FLAG_turn,
                                              FLAG_false_alarms, FLAG_same_too};
  const bool is_paired = has(g->args, FLAG_base_build);
  struct gate_options *o = &g->options;
  o->baseline = value_of(g->args, FLAG_baseline, NULL);
  if (!o->baseline && !is_paired)
    return fail(g->ctx, HONE_E_USAGE, place_none(),
                "give --baseline FILE.json, --base-build PROGRAM, or both");
  TRY(flags_need(g->ctx, g->args, paired_flags, COUNT(paired_flags), is_paired, "--base-build"));
  TRY(flags_need(g->ctx, g->args, study_flags, COUNT(study_flags), !is_paired,
                 "--baseline without --base-build: only hone's own programs are paired"));
  TRY(amount_of(g->ctx, g->args, FLAG_fail_above, AMOUNT_PERCENT, 0, 100, 0.05, &o->fail_above));
  TRY(sinks_read(g->ctx, g->args, &g->sinks));
  TRY(sinks_check_words(g->ctx, g->args, &g->sinks));
  TRY(arena_create(g->ctx, (size_t)64 << 30, &g->arena));
  if (is_paired) TRY(read_builds(g));
  o->models = g->args->words;
  o->model_count = g->args->word_count;
  o->measure = measure;
  o->progress = has(g->args, FLAG_quiet) ? NULL : print_progress;
  o->user = g;
  return gate_run(g->ctx, g->arena, o, &g->result);
}

/* Prints the result and writes all files, also where one of them fails. */
static int print_result(struct gating *g) {
  int code = sinks_show(g->ctx, &g->sinks, render, g);
  if (append_summary(g)) {
    const int failed = report_failure(g->ctx);
    if (!code) code = failed;
  }
  return code ? code : changes_exit_code(&g->result.changes);
}

int verb_gate(struct ctx *ctx, struct args *args) {
  static struct gating g;
  g = (struct gating){.ctx = ctx, .args = args};
  const int code = run(&g) ? report_failure(ctx) : print_result(&g);
  if (g.dir[0]) dir_temporary_remove(g.dir);
  arena_destroy(g.arena);
  return code;
}
