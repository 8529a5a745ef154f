/* Visits every record of a store with the features of its model. Each model file is read once;
 * one that is gone or has changed gives no features. */
#include "predict.h"

struct known {
  const char *path, *hash, *shapes; /* as recorded */
  int64_t batch;
  size_t number; /* of the model, see model_number */
  bool is_usable;
  struct model_facts facts;
};
struct reader {
  struct ctx *ctx;
  struct arena *arena;
  VEC(struct known) models;
  struct model_names *names;
  size_t limit;
  row_visitor *visit;
  void *user;
};

/* A zoo model is the same at every batch, so that it is left out with all batches. A file is
   identified by its hash, because many collections name every file model.onnx. */
hone_status model_number(struct ctx *ctx, struct arena *arena, struct model_names *names,
                         const struct config *config, size_t *out) {
  char name[256];
  if (strncmp(config->model, "zoo:", 4))
    snprintf(name, sizeof name, "%s", config->model_hash);
  else
    snprintf(name, sizeof name, "%.*s", (int)strcspn(config->model, ","), config->model);
  for (*out = 0; *out < names->count; ++*out)
    if (!strcmp(names->at[*out], name)) return HONE_OK;
  const char *copy;
  TRY(arena_string(ctx, arena, name, strlen(name), &copy));
  VEC_PUSH(ctx, arena, names, copy);
  return HONE_OK;
}

/* The file must have the hash that was measured. */
static hone_status read_model(struct reader *r, const struct config *config, struct known *out) {
  struct ctx attempt = *r->ctx; /* a model that cannot be read gives no features */
  struct model model;
  const bool is_zoo = !strncmp(config->model, "zoo:", 4);
  const char *path = config->model_path[0] ? config->model_path : config->model;
  const struct import_options options = {
      .shapes = !is_zoo && config->shapes[0] ? config->shapes : NULL,
      .batch = is_zoo ? config->batch : 0};
  out->is_usable = false;
  attempt.warn = NULL;
  if (model_load(&attempt, path, &options, &model)) return HONE_OK;
  out->is_usable = is_zoo || !strcmp(model.content_hash, config->model_hash);
  if (out->is_usable) facts_of_graph(model.graph, &out->facts);
  model_unload(&model);
  return HONE_OK;
}

static hone_status find_model(struct reader *r, const struct config *config,
                              const struct known **out) {
  for (size_t i = 0; i < r->models.count; i++) {
    *out = &r->models.at[i];
    if (!strcmp((*out)->hash, config->model_hash) && !strcmp((*out)->shapes, config->shapes))
      return HONE_OK;
  }
  struct known new = {.batch = config->batch};
  if (r->models.count == r->limit) {
    *out = NULL;
    return HONE_OK;
  }
  TRY(arena_string(r->ctx, r->arena, config->model_hash, strlen(config->model_hash), &new.hash));
  TRY(arena_string(r->ctx, r->arena, config->shapes, strlen(config->shapes), &new.shapes));
  TRY(model_number(r->ctx, r->arena, r->names, config, &new.number));
  TRY(read_model(r, config, &new));
  VEC_PUSH(r->ctx, r->arena, &r->models, new);
  *out = &r->models.at[r->models.count - 1];
  return HONE_OK;
}

static hone_status visit_record(struct reader *r, const struct summary *s,
                                const struct record *record) {
  const struct known *model;
  struct machine_facts machine;
  struct row_seen row = {.summary = s, .record = record};
  float x[FEATURE_COUNT];
  TRY(find_model(r, &record->config, &model));
  if (model && model->is_usable &&
      facts_of_machine(s->study.machine_json, record->config.threads, &machine)) {
    const struct run_setup setup = {record->config.batch, record->config.threads,
                                    precision_find(record->config.precision)};
    features_fill(&model->facts, &setup, &machine, x);
    row.model = model->number;
    row.x = x;
  }
  return r->visit(r->user, &row);
}

static bool has_outputs(enum record_status status) {
  return status == STATUS_ok || status == STATUS_wrong || status == STATUS_unverified ||
         status == STATUS_disputed;
}

/* False if hone refused the file as invalid and no engine ran it: its rows say nothing about
   engines. */
static bool is_of_model(const struct summary *s, const struct record *record) {
  bool is_refused = false, has_run = false;
  for (size_t i = 0; i < s->record_count; i++) {
    const struct record *at = &s->records[i];
    if (strcmp(at->config.model_hash, record->config.model_hash)) continue;
    is_refused |= at->stage == STAGE_import &&
                  (!strncmp(at->reason, "E_FORMAT", 8) || !strncmp(at->reason, "E_TRUST", 7));
    has_run |= has_outputs(at->status);
  }
  return has_run || !is_refused;
}

static hone_status read_study(struct reader *r, struct store *store, const char *key) {
  struct arena *arena;
  struct study_data *data;
  struct summary *summary;
  TRY(arena_create(r->ctx, 0, &arena));
  hone_status status = NEW(r->ctx, arena, data);
  if (!status) status = NEW(r->ctx, arena, summary);
  if (!status) status = store_read_study(r->ctx, store, arena, key, data);
  if (!status) status = summarise(r->ctx, arena, data, false, summary);
  for (size_t i = 0; !status && i < summary->record_count; i++)
    if (is_of_model(summary, &summary->records[i]))
      status = visit_record(r, summary, &summary->records[i]);
  arena_destroy(arena);
  return status;
}

hone_status rows_visit(struct ctx *ctx, struct arena *arena, struct store *store, size_t limit,
                       struct model_names *names, row_visitor *visit, void *user) {
  struct reader r = {
      .ctx = ctx, .arena = arena, .names = names, .limit = limit, .visit = visit, .user = user};
  struct study_row *studies;
  size_t count;
  TRY(store_list_studies(ctx, store, arena, &studies, &count));
  for (size_t i = 0; i < count; i++) TRY(read_study(&r, store, studies[i].key));
  return HONE_OK;
}
