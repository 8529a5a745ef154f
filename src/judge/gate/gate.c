/* The gate: two builds in paired runs, or a new study against a baseline. */
#include "gate.h"

enum { MOST_CONFIGS = 256 };

struct gate {
  struct ctx *ctx;
  struct arena *arena;
  const struct gate_options *options;
  struct gate_result *result;
  struct summary *baseline, *first,
      *again; /* studies; the second only if the first has slower rows */
};

static void report_progress(const struct gate *g, const char *line) {
  if (g->options->progress) g->options->progress(g->options->user, line);
}

hone_status gate_model_word(struct ctx *ctx, struct arena *arena, const char *path,
                            const char **out) {
  *out = path;
  return path[0] == '-' ? arena_printf(ctx, arena, out, "./%s", path) : HONE_OK;
}

hone_status gate_config_model(struct ctx *ctx, struct arena *arena, const struct config *config,
                              const char **out) {
  return gate_model_word(ctx, arena, config->model_path[0] ? config->model_path : config->model,
                         out);
}

/* -- two builds */

static hone_status add_config(struct gate *g, const struct paired_config *config,
                              struct paired_config *configs, size_t *count) {
  for (size_t i = 0; i < *count; i++)
    if (!strcmp(configs[i].model, config->model) && configs[i].threads == config->threads &&
        configs[i].batch == config->batch && !strcmp(configs[i].precision, config->precision))
      return HONE_OK;
  if (*count == MOST_CONFIGS)
    return fail(g->ctx, HONE_E_LIMIT, place_none(), "more than %d configurations", MOST_CONFIGS);
  configs[(*count)++] = *config;
  return HONE_OK;
}

static hone_status list_given_models(struct gate *g, struct paired_config *configs, size_t *count) {
  const struct gate_options *o = g->options;
  for (size_t m = 0; m < o->model_count; m++) {
    struct paired_config config = {.precision = o->precision};
    TRY(gate_model_word(g->ctx, g->arena, o->models[m], &config.model));
    for (size_t b = 0; b < o->batch_count; b++)
      for (size_t t = 0; t < o->thread_count; t++) {
        config.batch = o->batches[b];
        config.threads = o->threads[t];
        TRY(add_config(g, &config, configs, count));
      }
  }
  return HONE_OK;
}

/* Rows of the backend `native` that ran. */
static hone_status list_baseline_rows(struct gate *g, struct paired_config *configs,
                                      size_t *count) {
  for (size_t i = 0; g->baseline && i < g->baseline->record_count; i++) {
    const struct record *r = &g->baseline->records[i];
    struct paired_config config = {NULL, r->config.threads, r->config.batch, r->config.precision};
    if (strcmp(r->config.backend, "native") || r->status != STATUS_ok) continue;
    TRY(gate_config_model(g->ctx, g->arena, &r->config, &config.model));
    TRY(add_config(g, &config, configs, count));
  }
  return HONE_OK;
}

static hone_status compare_builds(struct gate *g) {
  struct paired_options paired = g->options->paired;
  struct paired_config *configs;
  size_t count = 0;
  TRY(NEW_ARRAY(g->ctx, g->arena, configs, MOST_CONFIGS));
  TRY(g->options->model_count ? list_given_models(g, configs, &count)
                              : list_baseline_rows(g, configs, &count));
  if (!count)
    return advise(g->ctx,
                  fail(g->ctx, HONE_E_USAGE, place_none(), "no model to compare the builds on"),
                  "name a model, or give a baseline that has rows of the backend native");
  paired.fail_above = g->options->fail_above;
  paired.progress = g->options->progress;
  paired.user = g->options->user;
  g->result->is_paired = true;
  return paired_run(g->ctx, g->arena, configs, count, &paired, &g->result->changes);
}

/* -- a study against the baseline */

/* Measures the wanted rows again (NULL: all), without copies for --aa and engines that were not installed. */
static hone_status measure(struct gate *g, const struct summary *rows, const bool *wanted,
                           const char *title, struct summary **out) {
  const struct config **configs;
  size_t count = 0;
  TRY(NEW_ARRAY(g->ctx, g->arena, configs, rows->record_count + 1));
  for (size_t i = 0; i < rows->record_count; i++) {
    const struct record *r = &rows->records[i];
    if ((!wanted || wanted[i]) && !r->config.label && r->status != STATUS_not_installed)
      configs[count++] = &r->config;
  }
  if (!count)
    return fail(g->ctx, HONE_E_USAGE, place_none(), "the baseline has no row to measure again");
  TRY(NEW(g->ctx, g->arena, *out));
  report_progress(g, title);
  return g->options->measure(g->ctx, g->arena, g->options->user, configs, count, title, *out);
}

/* The same configuration in the second study; NULL: it has none. */
static const struct change *find_second(const struct gate *g, const struct changes *second,
                                        const struct change *change) {
  const char *key = g->first->records[change->after].config.key;
  for (size_t k = 0; k < second->count; k++) {
    const struct change *other = &second->at[k];
    if (other->after != SIZE_MAX && !strcmp(g->again->records[other->after].config.key, key))
      return other;
  }
  return NULL;
}

/* Measures the slower configurations again, without the others. A regression is what is slower both times. */
static hone_status confirm_slower(struct gate *g) {
  struct changes *changes = &g->result->changes, second;
  bool *wanted;
  TRY(NEW_ARRAY(g->ctx, g->arena, wanted, g->first->record_count));
  for (size_t i = 0; i < changes->count; i++)
    if (changes->at[i].is_slower) wanted[changes->at[i].after] = true;
  TRY(measure(g, g->first, wanted, "gate: slower configurations, measured again", &g->again));
  TRY(changes_find(g->ctx, g->arena, g->baseline, g->again, g->options->fail_above, &second));
  for (size_t i = 0; i < changes->count; i++) {
    struct change *c = &changes->at[i];
    const struct change *other = c->is_slower ? find_second(g, &second, c) : NULL;
    if (!c->is_slower || (other && other->is_slower)) continue;
    c->is_slower = false;
    c->verdict = other ? other->verdict : VERDICT_undecided;
    if (other) c->ratio = other->ratio;
    changes->slower--;
    g->result->cleared++;
  }
  return HONE_OK;
}

/* Keeps the figures of two machines and removes all verdicts, for every output format. */
static void remove_verdicts(struct changes *changes) {
  for (size_t i = 0; i < changes->count; i++) {
    changes->at[i].is_slower = changes->at[i].is_broken = false;
    changes->at[i].verdict = VERDICT_undecided;
  }
  changes->slower = changes->broken = changes->decided = 0;
}

/* Before the study, because that may take long. */
static hone_status warn_if_elsewhere(struct gate *g) {
  struct fingerprint *here;
  TRY(NEW(g->ctx, g->arena, here));
  TRY(fingerprint_read(g->ctx, here));
  if (strcmp(here->key, g->baseline->study.fingerprint)) report_progress(g, GATE_ELSEWHERE);
  return HONE_OK;
}

static hone_status compare_studies(struct gate *g) {
  struct changes *changes = &g->result->changes;
  TRY(warn_if_elsewhere(g));
  TRY(measure(g, g->baseline, NULL, "gate: a new study", &g->first));
  TRY(changes_find(g->ctx, g->arena, g->baseline, g->first, g->options->fail_above, changes));
  g->result->is_elsewhere = changes_differ_in_machine(changes);
  if (g->result->is_elsewhere) remove_verdicts(changes);
  return changes->slower ? confirm_slower(g) : HONE_OK;
}

hone_status gate_run(struct ctx *ctx, struct arena *arena, const struct gate_options *options,
                     struct gate_result *out) {
  struct gate g = {.ctx = ctx, .arena = arena, .options = options, .result = out};
  *out = (struct gate_result){0};
  if (options->baseline) {
    TRY(NEW(ctx, arena, g.baseline));
    TRY(summary_read_json(ctx, arena, options->baseline, g.baseline));
  }
  return options->paired.builds[0] ? compare_builds(&g) : compare_studies(&g);
}
