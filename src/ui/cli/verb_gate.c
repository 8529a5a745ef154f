/* hone gate: did this build or this machine's study become slower? With --base-build the two builds' programs take
 * turns (src/duel); without it a new study is compared with the baseline's, and what looks slower is measured again.
 * Exit codes: 0, 1 a regression, 5 undecided.
 */
#include "core/format/format.h"
#include "judge/gate/paired_run.h"
#include "ui/report/report.h"
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#define FALSE_ALARMS 0.01
#define TURN_S 0.01
enum { MOST_CELLS = 256, LIST = 4096 };

struct gating {
  struct ctx *ctx;
  const struct args *args;
  struct arena *arena;
  struct sinks sinks;
  double fail_above;
  char dir[4096];
  struct summary baseline, first, again;
  struct changes changes, checked;
  size_t cleared; /* cells that looked slower once, and not again */
  bool is_paired, is_elsewhere;
};

/* -- two builds */

static void say(void *user, const char *line) {
  const struct gating *g = user;
  char shown[600]; /* a baseline names models */
  safe_copy(shown, sizeof shown, line);
  if (!has(g->args, FLAG_quiet)) fprintf(stderr, "%s\n", shown);
}

/* Models of the command line, else those of the baseline's native rows. */
static hone_status add_config(struct gating *g, const struct paired_config *config,
                              struct paired_config *cells, size_t *count) {
  for (size_t i = 0; i < *count; i++)
    if (!strcmp(cells[i].model, config->model) && cells[i].threads == config->threads &&
        cells[i].batch == config->batch && !strcmp(cells[i].precision, config->precision))
      return HONE_OK;
  if (*count == MOST_CELLS)
    return fail(g->ctx, HONE_E_LIMIT, place_none(), "more than %d cells", MOST_CELLS);
  cells[(*count)++] = *config;
  return HONE_OK;
}

/* A word of a command line of ours that is a model whatever it begins with: a baseline is a file from elsewhere. */
static hone_status model_word(struct gating *g, const char *path, const char **out) {
  *out = path;
  return path[0] == '-' ? arena_printf(g->ctx, g->arena, out, "./%s", path) : HONE_OK;
}

static hone_status model_of_record(struct gating *g, const struct record *r, const char **out) {
  return model_word(g, r->config.model_path[0] ? r->config.model_path : r->config.model, out);
}

static hone_status list_configs(struct gating *g, struct paired_config *cells, size_t *count) {
  int threads[16], batches[16];
  size_t thread_count = 0, batch_count = 0;
  TRY(ints_of(g->ctx, g->args, FLAG_threads, 1, 4096, threads, COUNT(threads), &thread_count));
  TRY(ints_of(g->ctx, g->args, FLAG_batch, 1, 1 << 20, batches, COUNT(batches), &batch_count));
  if (!thread_count) threads[thread_count++] = usable_core_count();
  if (!batch_count) batches[batch_count++] = 0;
  for (size_t m = 0; m < g->args->word_count; m++) {
    const char *model;
    TRY(model_word(g, g->args->words[m], &model));
    for (size_t b = 0; b < batch_count; b++)
      for (size_t t = 0; t < thread_count; t++) {
        const struct paired_config config = {model, threads[t], batches[b],
                                             value_of(g->args, FLAG_precision, "as-is")};
        TRY(add_config(g, &config, cells, count));
      }
  }
  if (g->args->word_count) return HONE_OK;
  for (size_t i = 0; i < g->baseline.record_count; i++) {
    const struct record *r = &g->baseline.records[i];
    struct paired_config config = {NULL, r->config.threads, r->config.batch, r->config.precision};
    TRY(model_of_record(g, r, &config.model));
    if (!strcmp(r->config.backend, "native") && r->status == STATUS_ok)
      TRY(add_config(g, &config, cells, count));
  }
  return HONE_OK;
}

static hone_status find_build(struct gating *g, const char *name, char out[4096]) {
  char *real = realpath(name, NULL);
  const bool fits = real && strlen(real) < 4096 && !access(real, X_OK);
  if (fits) snprintf(out, 4096, "%s", real);
  free(real);
  return fits ? HONE_OK : fail(g->ctx, HONE_E_MISSING, place_file(name), "is no program");
}

static hone_status compare_builds(struct gating *g) {
  static char builds[2][4096];
  struct paired_config *cells;
  struct paired_options options = {.builds = {builds[0], builds[1]},
                                   .shapes = value_of(g->args, FLAG_shape, NULL),
                                   .side_files_from = value_of(g->args, FLAG_side_files_from, NULL),
                                   .fail_above = g->fail_above,
                                   .measures_same = has(g->args, FLAG_same_too),
                                   .progress = say,
                                   .user = g};
  size_t count = 0;
  int64_t pairs, seed;
  TRY(NEW_ARRAY(g->ctx, g->arena, cells, MOST_CELLS));
  TRY(find_build(g, value_of(g->args, FLAG_base_build, ""), builds[0]));
  if (has(g->args, FLAG_new_build))
    TRY(find_build(g, value_of(g->args, FLAG_new_build, ""), builds[1]));
  else
    TRY(self_path(g->ctx, builds[1]));
  TRY(int_of(g->ctx, g->args, FLAG_pairs, DUEL_MIN_PAIRS, DUEL_MAX_PAIRS, 0, &pairs));
  TRY(int_of(g->ctx, g->args, FLAG_seed, 0, INT64_MAX, 1, &seed));
  TRY(amount_of(g->ctx, g->args, FLAG_turn, AMOUNT_SECONDS, 1e-4, 60, TURN_S, &options.turn_s));
  TRY(amount_of(g->ctx, g->args, FLAG_false_alarms, AMOUNT_PERCENT, 1e-6, 0.5, FALSE_ALARMS,
                &options.false_alarms));
  TRY(list_configs(g, cells, &count));
  if (!count)
    return advise(g->ctx,
                  fail(g->ctx, HONE_E_USAGE, place_none(), "no model to compare the builds on"),
                  "name models, or a baseline that has rows of native");
  options.pairs = (int)pairs;
  options.seed = (uint64_t)seed;
  g->is_paired = true;
  return paired_run(g->ctx, g->arena, cells, count, &options, &g->changes);
}

/* -- a study against the baseline */

static bool has_word(const struct command *command, const char *word) {
  for (size_t i = 0; i < command->count; i++)
    if (!strcmp(command->at[i], word)) return true;
  return false;
}

/* What a study of these rows needs; the cells are the product of the lists, so it may hold a few more. */
static hone_status add_rows(struct gating *g, const struct summary *rows, const bool *wanted,
                            struct command *how) {
  static char backends[LIST], threads[LIST], batches[LIST], precisions[LIST];
  backends[0] = threads[0] = batches[0] = precisions[0] = 0;
  for (size_t i = 0; i < rows->record_count; i++) {
    const struct config *config = &rows->records[i].config;
    char number[16], word[64];
    if ((wanted && !wanted[i]) || config->label || rows->records[i].status == STATUS_not_installed)
      continue;
    const char *path;
    TRY(model_of_record(g, &rows->records[i], &path));
    if (!g->args->word_count && !has_word(how, path)) TRY(command_add_model(g->ctx, how, path));
    list_add(backends, LIST, backend_word(config, word));
    list_add(precisions, LIST, config->precision);
    snprintf(number, sizeof number, "%d", config->threads);
    list_add(threads, LIST, number);
    snprintf(number, sizeof number, "%d", config->batch);
    list_add(batches, LIST, number);
  }
  for (size_t i = 0; i < g->args->word_count; i++) {
    const char *model;
    TRY(model_word(g, g->args->words[i], &model));
    TRY(command_add_model(g->ctx, how, model));
  }
  if (!backends[0])
    return fail(g->ctx, HONE_E_USAGE, place_none(), "the baseline has no row that ran");
  TRY(command_add_flag(g->ctx, how, FLAG_backend, value_of(g->args, FLAG_backend, backends)));
  TRY(command_add_flag(g->ctx, how, FLAG_threads, value_of(g->args, FLAG_threads, threads)));
  TRY(command_add_flag(g->ctx, how, FLAG_precision, value_of(g->args, FLAG_precision, precisions)));
  TRY(command_add_flag(g->ctx, how, FLAG_batch, value_of(g->args, FLAG_batch, batches)));
  return HONE_OK;
}

static hone_status study(struct gating *g, const struct summary *rows, const bool *wanted,
                         const char *title, struct summary *out) {
  static const enum flag_id given[] = {FLAG_shape,    FLAG_side_files_from, FLAG_backend_option,
                                       FLAG_engine,   FLAG_store,           FLAG_seed,
                                       FLAG_min_time, FLAG_max_time,        FLAG_min_samples,
                                       FLAG_rounds,   FLAG_processes,       FLAG_warmup};
  struct command *how;
  TRY(NEW(g->ctx, g->arena, how));
  TRY(add_rows(g, rows, wanted, how));
  TRY(command_add_given(g->ctx, g->args, given, COUNT(given), how));
  TRY(command_add_flag(g->ctx, how, FLAG_name, title));
  say(g, title);
  return self_study(g->ctx, g->arena, how, g->dir, out);
}

/* The same cell in the second study; NULL: it is not there. */
static const struct change *checked_change(const struct gating *g, const struct change *change) {
  const char *key = g->first.records[change->after].config.key;
  for (size_t k = 0; k < g->checked.count; k++) {
    const struct change *other = &g->checked.at[k];
    if (other->after != SIZE_MAX && !strcmp(g->again.records[other->after].config.key, key))
      return other;
  }
  return NULL;
}

/* Cells that look slower are measured once more, by themselves; those that do not look so again are cleared. */
static hone_status look_again(struct gating *g) {
  bool *wanted;
  TRY(NEW_ARRAY(g->ctx, g->arena, wanted, g->first.record_count));
  for (size_t i = 0; i < g->changes.count; i++)
    if (g->changes.at[i].is_slower) wanted[g->changes.at[i].after] = true;
  TRY(study(g, &g->first, wanted, "gate: what looks slower, again", &g->again));
  TRY(changes_find(g->ctx, g->arena, &g->baseline, &g->again, g->fail_above, &g->checked));
  for (size_t i = 0; i < g->changes.count; i++) {
    struct change *c = &g->changes.at[i];
    const struct change *other = c->is_slower ? checked_change(g, c) : NULL;
    if (!c->is_slower || (other && other->is_slower)) continue;
    c->is_slower = false;
    c->verdict = other ? other->verdict : VERDICT_undecided;
    if (other) c->ratio = other->ratio;
    g->changes.slower--;
    g->cleared++;
  }
  return HONE_OK;
}

/* Figures of two machines are shown, and no verdict of any of them: not in JUnit or a comment either. */
static void decide_nothing(struct changes *changes) {
  for (size_t i = 0; i < changes->count; i++) {
    changes->at[i].is_slower = changes->at[i].is_broken = false;
    changes->at[i].verdict = VERDICT_undecided;
  }
  changes->slower = changes->broken = changes->decided = 0;
}

#define ELSEWHERE                                                                        \
  "The baseline comes from another machine or another system: nothing is decided. Give " \
  "--base-build, or measure the baseline here."
/* Before it is measured: that may take long. */
static hone_status say_if_elsewhere(struct gating *g) {
  static struct fingerprint here;
  TRY(fingerprint_read(g->ctx, &here));
  if (strcmp(here.key, g->baseline.study.fingerprint)) say(g, ELSEWHERE);
  return HONE_OK;
}

static hone_status compare_studies(struct gating *g) {
  TRY(say_if_elsewhere(g));
  TRY(dir_temporary(g->ctx, g->dir));
  TRY(study(g, &g->baseline, NULL, "gate: a new study", &g->first));
  TRY(changes_find(g->ctx, g->arena, &g->baseline, &g->first, g->fail_above, &g->changes));
  g->is_elsewhere = changes_differ_in_machine(&g->changes);
  if (g->is_elsewhere) decide_nothing(&g->changes);
  return g->changes.slower ? look_again(g) : HONE_OK;
}

/* -- what it says */

static void put_method(struct strbuf *out, const struct gating *g) {
  if (g->is_paired)
    strbuf_puts(out,
                "The two builds' programs took turns in random order; brackets: interval of the "
                "median ratio. Runs of 1 ms and more on one thread are their processor's time.\n");
  if (g->changes.by_processors)
    strbuf_printf(
        out, "%zu cell%s of several threads by the processors' time: the clock did not tell.\n",
        g->changes.by_processors, g->changes.by_processors == 1 ? "" : "s");
  if (g->is_elsewhere)
    strbuf_puts(out, ELSEWHERE "\n");
  else if (!g->is_paired)
    strbuf_puts(out,
                "A new study against the baseline's; what looked slower was measured twice.\n");
  if (g->cleared)
    strbuf_printf(out, "%zu cell%s looked slower once and not again.\n", g->cleared,
                  g->cleared == 1 ? "" : "s");
}

/* For a pull request: the sentence, the rows that matter, the rest folded away. */
static hone_status put_comment(struct ctx *ctx, const struct gating *g, struct strbuf *out) {
  struct strbuf all = {0};
  const struct markdown markdown = {out};
  strbuf_puts(out, g->changes.slower + g->changes.broken ? "### Slower\n\n"
                   : !changes_exit_code(&g->changes)     ? "### No regression\n\n"
                   : g->changes.decided                  ? "### Undecided\n\n"
                                                         : "### Nothing could be decided\n\n");
  put_changes_sentence(out, &g->changes);
  strbuf_puts(out, "\n\n");
  put_changes_remedy(out, &g->changes);
  for (size_t i = 0; i < g->changes.count; i++) {
    const struct change *c = &g->changes.at[i];
    const struct record *r = change_record(&g->changes, c);
    struct strbuf line = {0}, words = {0};
    if (!c->is_slower && !c->is_broken && c->verdict != VERDICT_faster) continue;
    strbuf_puts(out, "- ");
    markdown_text(markdown, r->config.model);
    put_row_name(&line, r);
    strbuf_printf(&line, ", batch %d, %d thread%s: ", r->config.batch, r->config.threads,
                  r->config.threads == 1 ? "" : "s");
    put_change(&words, c);
    strbuf_printf(&line, "%s", words.at ? words.at : "");
    strbuf_puts(out, ", ");
    markdown_text(markdown, line.at ? line.at : "");
    strbuf_puts(out, "\n");
    strbuf_deinit(&line);
    strbuf_deinit(&words);
  }
  strbuf_puts(out, "\n<details><summary>every cell</summary>\n\n");
  hone_status status = render_changes(ctx, "md", &g->changes, NULL, &all);
  if (!status) strbuf_append(out, all.at ? all.at : "", all.length);
  strbuf_puts(out, "\n");
  put_method(out, g);
  strbuf_puts(out, "</details>\n");
  strbuf_deinit(&all);
  return status ? status : strbuf_finish(ctx, out);
}

static hone_status render(struct ctx *ctx, void *user, const char *form, struct strbuf *out) {
  const struct gating *g = user;
  const struct render_options options = {.color = wants_color(g->args)};
  if (!strcmp(form, "comment")) return put_comment(ctx, g, out);
  TRY(render_changes(ctx, form, &g->changes, &options, out));
  if (!strcmp(form, "md") || !strcmp(form, "table")) {
    if (!strcmp(form, "md")) strbuf_puts(out, "\n");
    put_method(out, g);
  }
  return strbuf_finish(ctx, out);
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
  const char *baseline = value_of(g->args, FLAG_baseline, NULL);
  const bool is_paired = has(g->args, FLAG_base_build);
  if (!baseline && !is_paired)
    return fail(g->ctx, HONE_E_USAGE, place_none(),
                "--baseline FILE.json, --base-build PROGRAM or both");
  static const enum flag_id of_pairs[] = {FLAG_new_build, FLAG_pairs, FLAG_turn, FLAG_false_alarms,
                                          FLAG_same_too};
  static const enum flag_id of_study[] = {
      FLAG_backend,     FLAG_engine,    FLAG_backend_option, FLAG_store,    FLAG_rounds,
      FLAG_min_samples, FLAG_processes, FLAG_min_time,       FLAG_max_time, FLAG_warmup};
  TRY(flags_need(g->ctx, g->args, of_pairs, COUNT(of_pairs), is_paired, "--base-build"));
  TRY(flags_need(g->ctx, g->args, of_study, COUNT(of_study), !is_paired,
                 "--baseline alone: builds take turns on hone's own programs"));
  TRY(amount_of(g->ctx, g->args, FLAG_fail_above, AMOUNT_PERCENT, 0, 100, 0.05, &g->fail_above));
  TRY(sinks_read(g->ctx, g->args, &g->sinks));
  TRY(sinks_check_words(g->ctx, g->args, &g->sinks));
  TRY(arena_create(g->ctx, (size_t)64 << 30, &g->arena));
  if (baseline) TRY(summary_read_json(g->ctx, g->arena, baseline, &g->baseline));
  return is_paired ? compare_builds(g) : compare_studies(g);
}

/* The terminal, the files, the step's summary: each whatever became of the others. */
static int answer(struct gating *g) {
  int code = sinks_show(g->ctx, &g->sinks, render, g);
  if (append_summary(g)) {
    const int failed = report_failure(g->ctx);
    if (!code) code = failed;
  }
  return code ? code : changes_exit_code(&g->changes);
}

int verb_gate(struct ctx *ctx, struct args *args) {
  static struct gating g;
  g = (struct gating){.ctx = ctx, .args = args};
  const int code = run(&g) ? report_failure(ctx) : answer(&g);
  if (g.dir[0]) dir_temporary_remove(g.dir);
  arena_destroy(g.arena);
  return code;
}
