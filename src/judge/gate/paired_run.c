/* The turns of a pair run from one file: the second program is written over the first, so both use the same physical pages.
 * The pages decide which of a program's cache lines collide in L2, which is worth 5 % for weights that just fit. In two
 * files that would be noise in every pair; in one it is the same for both turns. Every pair has a new file. */
#include "paired_run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMPILE_NS 900000000000ull
#define TURN_NS 600000000000ull
#define USUAL_S 4.0     /* all turns of a configuration together */
#define LONG_TURN_S .05 /* a turn of this length may have few runs */
#define SLICE_MS 1.0    /* on a busy machine, longer runs are usually interrupted */
enum figure { BY_CLOCK, BY_PROCESSORS, FIGURES };
enum { PROBE_RUNS = 3, MOST_RUNS = 100000, ENOUGH_RUNS = 16, USUAL_LEAST = 40, USUAL_MOST = 120 };

struct pairing {
  struct ctx *ctx;
  struct arena *arena;
  const struct paired_config *config;
  const struct paired_options *options;
  char dir[4096];
  int pairs;
  size_t input_count;
  const char *inputs[PAIRED_MAX_INPUTS];
  struct model model;
  double best_ms[2];
  /* figures that are compared: long runs of one thread by processor time, of several threads by both */
  bool takes[FIGURES];
  bool by_processors; /* the ratio is of processor time, with several threads */
  struct interval ratio;
  bool is_same;              /* both builds make the same program */
  enum record_status status; /* of the new build */
  char reason[512];
  bool lacks_base; /* the base build does not compile it */
};

/* Of equal length, because a program's arguments are on its stack and shift what follows (Mytkowicz et al., ASPLOS 2009). */
static const char *const names[2] = {"base", "next"};

static void report_progress(const struct pairing *f, const char *format, ...) PRINTF(2, 3);
static void report_progress(const struct pairing *f, const char *format, ...) {
  char line[512];
  va_list args;
  if (!f->options->progress) return;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  f->options->progress(f->options->user, line);
}

/* Runs a program with the user's environment. */
static hone_status run_program(struct pairing *f, const char *const *argv, uint64_t timeout_ns,
                               struct process_result *out) {
  const struct process_options options = {.argv = argv,
                                          .environ_ = (const char *const *)environ,
                                          .fd_in = -1,
                                          .fd_out = -1,
                                          .timeout_ns = timeout_ns};
  return process_run(f->ctx, &options, out);
}

/* -- both programs */

static hone_status compile(struct pairing *f, int which, bool *out_ok) {
  char program[4200], threads[16], batch[16];
  struct process_result result;
  snprintf(program, sizeof program, "%s/%s", f->dir, names[which]);
  snprintf(threads, sizeof threads, "%d", f->config->threads);
  snprintf(batch, sizeof batch, "%d", f->config->batch);
  const char *argv[24] = {f->options->builds[which], "compile", f->config->model, "-o", program,
                          "-q", "--threads", threads,
                          /* one for both, so that equal builds make equal programs */
                          "--prefix", "gate"};
  size_t n = 10;
  if (f->config->batch > 0) argv[n++] = "--batch", argv[n++] = batch;
  if (strcmp(f->config->precision, "as-is"))
    argv[n++] = "--precision", argv[n++] = f->config->precision;
  if (f->options->shapes) argv[n++] = "--shape", argv[n++] = f->options->shapes;
  if (f->options->side_files_from)
    argv[n++] = "--side-files-from", argv[n++] = f->options->side_files_from;
  TRY(run_program(f, argv, COMPILE_NS, &result));
  *out_ok = !result.exit_code && !result.signal && !result.timed_out && !access(program, X_OK);
  if (!*out_ok) {
    safe_copy(f->reason, sizeof f->reason,
              result.output.at ? result.output.at : "the build printed nothing");
    f->reason[strcspn(f->reason, "\n")] = 0;
  }
  strbuf_deinit(&result.output);
  return HONE_OK;
}

static hone_status same_bytes(struct pairing *f, bool *out_same) {
  struct mapping maps[2] = {{0}};
  hone_status status = HONE_OK;
  for (int k = 0; k < 2 && !status; k++) {
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", f->dir, names[k]);
    status = file_map(f->ctx, path, &maps[k]);
  }
  *out_same =
      !status && maps[0].size == maps[1].size && !memcmp(maps[0].data, maps[1].data, maps[0].size);
  for (int k = 0; k < 2; k++)
    if (maps[k].data) file_unmap(&maps[k]);
  return status;
}

static hone_status write_inputs(struct pairing *f) {
  const struct graph *g = f->model.graph;
  if (g->inputs.count > COUNT(f->inputs))
    return fail(f->ctx, HONE_E_LIMIT, place_name(f->config->model), "%zu inputs", g->inputs.count);
  for (size_t i = 0; i < g->inputs.count; i++) {
    hone_tensor tensor;
    TRY(input_generate(f->ctx, f->arena, g, i, f->options->seed, 0, &tensor));
    TRY(arena_printf(f->ctx, f->arena, &f->inputs[i], "%s/in_%zu.npy", f->dir, i));
    TRY(npy_write(f->ctx, f->inputs[i], &tensor));
  }
  f->input_count = g->inputs.count;
  return HONE_OK;
}

/* -- turns */

/* Of the fastest run. NaN: the program failed, or does not print it. */
struct turn_ms {
  double by[FIGURES];
};

static double figure_of(const struct strbuf *output, const char *word) {
  const char *at = output->at ? strstr(output->at, word) : NULL;
  const double ms = at ? strtod(at + strlen(word), NULL) : 0;
  return ms > 0 ? ms : (double)NAN;
}

/* The fastest of `runs`, in a new process of the program in the shared file. */
static hone_status turn(struct pairing *f, int which, int runs, struct turn_ms *out) {
  const char *argv[PAIRED_MAX_INPUTS + 8];
  char program[4200], folder[4200], threads[16], repeat[16];
  struct process_result result;
  size_t n = 0;
  snprintf(program, sizeof program, "%s/turn", f->dir);
  snprintf(folder, sizeof folder, "%s/out-%s", f->dir, names[which]);
  snprintf(threads, sizeof threads, "%d", f->config->threads);
  snprintf(repeat, sizeof repeat, "%d", runs);
  argv[n++] = program;
  for (size_t i = 0; i < f->input_count; i++) argv[n++] = f->inputs[i];
  argv[n++] = "-o", argv[n++] = folder, argv[n++] = "--threads", argv[n++] = threads,
  argv[n++] = "--repeat", argv[n++] = repeat;
  argv[n] = NULL;
  TRY(run_program(f, argv, TURN_NS, &result));
  *out = (struct turn_ms){
      {figure_of(&result.output, "fastest "), figure_of(&result.output, "processor ")}};
  if (result.exit_code || result.signal || result.timed_out || isnan(out->by[BY_CLOCK])) {
    safe_copy(f->reason, sizeof f->reason, result.output.at ? result.output.at : "no output");
    *out = (struct turn_ms){{NAN, NAN}};
  }
  strbuf_deinit(&result.output);
  return HONE_OK;
}

static bool fill_file(const char *path, const struct mapping *data) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
  const bool is_full =
      fd >= 0 && write_all(fd, data->data, data->size) && !ftruncate(fd, (off_t)data->size);
  return (fd < 0 || !close(fd)) && is_full;
}

/* Writes the program over the one in the shared file, or into a new file. The new one is made before the old one is removed;
   otherwise it could get the same pages. */
static hone_status write_shared_file(struct pairing *f, int which, bool is_new) {
  char from[4200], place[4200], fresh[4200];
  struct mapping map;
  snprintf(from, sizeof from, "%s/%s", f->dir, names[which]);
  snprintf(place, sizeof place, "%s/turn", f->dir);
  snprintf(fresh, sizeof fresh, "%s/fresh", f->dir);
  TRY(file_map(f->ctx, from, &map));
  const bool ok = fill_file(is_new ? fresh : place, &map) && !(is_new && rename(fresh, place));
  const hone_status status =
      ok ? HONE_OK
         : fail(f->ctx, HONE_E_WRITE, place_file(place), "cannot be written: %s", strerror(errno));
  file_unmap(&map);
  return status;
}

/* out_ok: both programs ran. */
static hone_status pair(struct pairing *f, struct random *random, int runs, double *const *ratios,
                        int at, bool *out_ok) {
  const int first = (int)random_below(random, 2);
  const enum figure shown = f->takes[BY_CLOCK] ? BY_CLOCK : BY_PROCESSORS;
  struct turn_ms took[2];
  for (int k = 0; k < 2; k++) {
    TRY(write_shared_file(f, first ^ k, k == 0));
    TRY(turn(f, first ^ k, runs, &took[first ^ k]));
  }
  *out_ok = true;
  for (int by = 0; by < FIGURES; by++) {
    if (!f->takes[by]) continue;
    ratios[by][at] = took[1].by[by] / took[0].by[by];
    *out_ok &= isfinite(ratios[by][at]);
  }
  for (int k = 0; k < 2; k++) f->best_ms[k] = fmin(f->best_ms[k], took[k].by[shown]);
  return HONE_OK;
}

struct interval paired_interval(double *ratios, size_t count, double error) {
  struct interval out = {NAN, NAN, NAN};
  size_t low, high;
  sort_doubles(ratios, count);
  if (!count) return out;
  out.value = percentile_sorted(ratios, count, 0.5);
  if (!quantile_interval(count, 0.5, 1 - error, &low, &high)) return out;
  out.low = ratios[low];
  out.high = ratios[high];
  return out;
}

/* On a busy machine every one of a few runs may be disturbed, so a turn has many runs or is long, unless it is measured by
   processor time. Processes of one program differ more than runs of one process, so many short turns are more precise than a
   few long ones. */
struct paired_turns paired_turns(const struct paired_options *options, double run_s,
                                 bool by_processor) {
  const double enough = by_processor ? 0 : fmin(ENOUGH_RUNS, LONG_TURN_S / run_s);
  const double runs =
      floor(fmin(MOST_RUNS, fmax(PROBE_RUNS, fmax(enough, options->turn_s / run_s))));
  const double pairs = fmax(USUAL_LEAST, fmin(USUAL_MOST, USUAL_S / (2 * runs * run_s)));
  return (struct paired_turns){(int)runs, options->pairs ? options->pairs : (int)pairs};
}

bool paired_by_processor_time(const struct interval *clock, const struct interval *processors,
                              double fail_above) {
  const double allowed = 1 + fail_above;
  if (clock->low > allowed || clock->high <= allowed) return false;
  return !(clock->high - clock->low <= processors->high - processors->low);
}

/* Chooses the figures. out_run_s: a run of the new build, by processor time if that is known. */
static hone_status probe(struct pairing *f, double *out_run_s, bool *out_ok) {
  struct turn_ms took[2];
  for (int k = 0; k < 2; k++) {
    TRY(write_shared_file(f, k, k == 0));
    TRY(turn(f, k, PROBE_RUNS, &took[k]));
    *out_ok = !isnan(took[k].by[BY_CLOCK]);
    if (*out_ok) continue;
    if (k) f->status = STATUS_crashed;
    f->lacks_base = !k;
    return HONE_OK;
  }
  f->takes[BY_PROCESSORS] =
      took[0].by[BY_PROCESSORS] >= SLICE_MS && took[1].by[BY_PROCESSORS] >= SLICE_MS;
  f->takes[BY_CLOCK] = f->config->threads > 1 || !f->takes[BY_PROCESSORS];
  *out_run_s = 1e-3 * (f->takes[BY_PROCESSORS] ? took[1].by[BY_PROCESSORS] / f->config->threads
                                               : took[1].by[BY_CLOCK]);
  return HONE_OK;
}

static void compute_ratio(struct pairing *f, double *const *ratios, double error) {
  struct interval found[FIGURES] = {{0}};
  const bool both = f->takes[BY_CLOCK] && f->takes[BY_PROCESSORS];
  for (int by = 0; by < FIGURES; by++)
    if (f->takes[by])
      found[by] = paired_interval(ratios[by], (size_t)f->pairs, both ? error / 2 : error);
  f->by_processors = both && paired_by_processor_time(&found[BY_CLOCK], &found[BY_PROCESSORS],
                                                      f->options->fail_above);
  f->ratio = found[f->by_processors || !f->takes[BY_CLOCK] ? BY_PROCESSORS : BY_CLOCK];
}

static hone_status run_pairs(struct pairing *f, double error) {
  double *ratios[FIGURES], run_s;
  struct random random;
  bool is_ok;
  random_init(&random, f->options->seed ^ seed_of(f->config->model));
  TRY(probe(f, &run_s, &is_ok));
  if (!is_ok) return HONE_OK;
  const struct paired_turns turns = paired_turns(f->options, run_s, f->takes[BY_PROCESSORS]);
  f->pairs = turns.pairs;
  for (int by = 0; by < FIGURES; by++)
    TRY(NEW_ARRAY(f->ctx, f->arena, ratios[by], (size_t)f->pairs));
  for (int i = 0; i < f->pairs; i++) {
    TRY(pair(f, &random, turns.runs, ratios, i, &is_ok));
    if (!is_ok) {
      f->status = STATUS_crashed;
      return HONE_OK;
    }
  }
  compute_ratio(f, ratios, error);
  return HONE_OK;
}

/* -- outputs */

static hone_status read_output(struct pairing *f, int which, size_t i, hone_tensor *out) {
  char path[4300];
  snprintf(path, sizeof path, "%s/out-%s/output_%zu.npy", f->dir, names[which], i);
  return npy_read(f->ctx, path, NULL, out);
}

/* Compares the outputs of the last turns. */
static hone_status compare_outputs(struct pairing *f) {
  const struct graph *g = f->model.graph;
  struct accuracy accuracy;
  double *steps;
  TRY(NEW_ARRAY(f->ctx, f->arena, steps, g->outputs.count + 1));
  TRY(output_steps(f->ctx, g, steps));
  accuracy_init(&accuracy);
  for (size_t i = 0; i < g->outputs.count; i++) {
    hone_tensor base, other;
    const struct yardstick yardstick = {.precision = judged_precision(g, f->config->precision),
                                        .step = steps[i]};
    TRY(read_output(f, 0, i, &base));
    hone_status status = read_output(f, 1, i, &other);
    bool is_same = !status && base.dtype == other.dtype && base.rank == other.rank &&
                   !memcmp(base.shape, other.shape, (size_t)base.rank * sizeof *base.shape);
    if (is_same)
      accuracy_add(&accuracy, g->outputs.at[i]->name, &base, other.data, &yardstick);
    else if (accuracy.is_within)
      accuracy.is_within = false,
      snprintf(accuracy.where, sizeof accuracy.where, "output %zu has another shape", i);
    free(base.data);
    if (!status) free(other.data);
    TRY(status);
  }
  if (accuracy.is_within) return HONE_OK;
  f->status = STATUS_wrong;
  snprintf(f->reason, sizeof f->reason, "outputs differ from those of the base build: %.400s",
           accuracy.where);
  return HONE_OK;
}

/* -- one configuration */

static hone_status run_pairs_in(struct pairing *f, double error) {
  bool ok;
  const bool is_zoo = !strncmp(f->config->model, "zoo:", 4);
  const struct import_options import = {.batch = f->config->batch,
                                        .shapes = f->options->shapes,
                                        .side_files_from = f->options->side_files_from};
  const bool is_default = is_zoo && !import.batch && !import.shapes;
  TRY(model_load(f->ctx, f->config->model, is_default ? NULL : &import, &f->model));
  TRY(compile(f, 0, &ok));
  if (!ok) {
    f->lacks_base = true;
    report_progress(f, "the base build does not compile it: %s", f->reason);
    return HONE_OK;
  }
  TRY(compile(f, 1, &ok));
  if (!ok) {
    f->status = STATUS_error;
    return HONE_OK;
  }
  TRY(same_bytes(f, &f->is_same));
  if (f->is_same && !f->options->measures_same) {
    f->ratio = (struct interval){1, 1, 1};
    return HONE_OK;
  }
  TRY(write_inputs(f));
  TRY(run_pairs(f, error));
  return f->status == STATUS_ok && !f->lacks_base ? compare_outputs(f) : HONE_OK;
}

static hone_status pairing(struct pairing *f, double error) {
  TRY(dir_temporary(f->ctx, f->dir));
  hone_status status = run_pairs_in(f, error);
  dir_temporary_remove(f->dir);
  model_unload(&f->model);
  return status;
}

/* -- as a comparison */

static void describe(const struct pairing *f, struct record *r, int which) {
  const char *slash = strrchr(f->config->model, '/');
  *r = (struct record){.status = which ? f->status : STATUS_ok,
                       .processes = f->pairs,
                       .rounds = f->pairs,
                       .p50_ms = f->best_ms[which],
                       .p50_lo_ms = NAN,
                       .p50_hi_ms = NAN};
  safe_copy(r->config.model, sizeof r->config.model,
            slash && strncmp(f->config->model, "zoo:", 4) ? slash + 1 : f->config->model);
  snprintf(r->config.backend, sizeof r->config.backend, "native");
  snprintf(r->config.variant, sizeof r->config.variant, "default");
  snprintf(r->config.precision, sizeof r->config.precision, "%s", f->config->precision);
  snprintf(r->config.scenario, sizeof r->config.scenario, "single");
  snprintf(r->config.device, sizeof r->config.device, "cpu");
  snprintf(r->config.cache_state, sizeof r->config.cache_state, "warm");
  r->config.batch = f->config->batch > 0 ? f->config->batch : 1;
  r->config.threads = f->config->threads;
  if (which) snprintf(r->reason, sizeof r->reason, "%s", f->reason);
  if (!isfinite(r->p50_ms)) r->p50_ms = NAN;
  config_key(&r->config);
}

static void judge(const struct pairing *f, struct changes *all, size_t i) {
  struct change *c = &all->at[i];
  *c = (struct change){.before = f->lacks_base ? SIZE_MAX : i, .after = i, .ratio = f->ratio};
  c->is_broken = !f->lacks_base && f->status != STATUS_ok;
  c->is_compared = !f->lacks_base && !c->is_broken;
  if (c->is_compared)
    c->verdict = !isfinite(f->ratio.low) ? VERDICT_undecided
                 : f->ratio.low > 1      ? VERDICT_slower
                 : f->ratio.high < 1     ? VERDICT_faster
                                         : VERDICT_tie;
  c->is_slower = c->is_compared && f->ratio.low > 1 + all->fail_above;
  all->compared += c->is_compared;
  all->decided += c->is_compared && c->verdict != VERDICT_undecided;
  all->slower += c->is_slower;
  all->broken += c->is_broken;
  all->by_processors += c->is_compared && f->by_processors;
  all->only_after += f->lacks_base;
}

static hone_status new_summary(struct ctx *ctx, struct arena *arena, size_t count, const char *name,
                               struct summary **out) {
  TRY(NEW(ctx, arena, *out));
  static const struct study_data turns; /* empty: the interval of a change comes from the pairs */
  TRY(NEW_ARRAY(ctx, arena, (*out)->records, count));
  (*out)->data = &turns;
  snprintf((*out)->study.name, sizeof(*out)->study.name, "%s", name);
  (*out)->record_count = count;
  return HONE_OK;
}

hone_status paired_run(struct ctx *ctx, struct arena *arena, const struct paired_config *configs,
                       size_t count, const struct paired_options *options, struct changes *out) {
  struct summary *before, *after;
  struct pairing *f;
  *out = (struct changes){.fail_above = options->fail_above, .count = count};
  TRY(NEW(ctx, arena, f));
  TRY(NEW_ARRAY(ctx, arena, out->at, count));
  TRY(new_summary(ctx, arena, count, options->builds[0], &before));
  TRY(new_summary(ctx, arena, count, options->builds[1], &after));
  for (size_t i = 0; i < count; i++) {
    *f = (struct pairing){.ctx = ctx,
                          .arena = arena,
                          .config = &configs[i],
                          .options = options,
                          .best_ms = {INFINITY, INFINITY},
                          .ratio = {NAN, NAN, NAN}};
    report_progress(f, "%zu of %zu: %s, %d thread%s", i + 1, count, configs[i].model,
                    configs[i].threads, configs[i].threads == 1 ? "" : "s");
    TRY(pairing(f, options->false_alarms / (double)count));
    describe(f, &before->records[i], 0);
    describe(f, &after->records[i], 1);
    judge(f, out, i);
  }
  out->before = before;
  out->after = after;
  return HONE_OK;
}
