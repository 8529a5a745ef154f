/* Rows to learn from: every record of a store that was measured by itself, with the features of its model's file, which is
 * read once. A model whose file is gone or has changed is left out: its features would be another's. */
#include "predict.h"

#include <math.h>
#include <stdlib.h>

struct known {
  const char *path, *hash, *shapes; /* as recorded */
  int64_t batch;
  size_t number; /* of the model */
  bool is_usable;
  struct model_facts facts;
};
struct reader {
  struct ctx *ctx;
  struct arena *arena;
  VEC(struct known) models;
  VEC(const char *) names; /* of models, by number */
  size_t limit;
  row_visitor *visit;
  void *user;
};
/* What samples_read collects. */
struct collection {
  struct ctx *ctx;
  struct arena *arena;
  VEC(struct sample) rows;
  struct samples *out;
};

/* Cells of one model at several batches are one: what is left out is left out with all of them. A file's name is no name:
   collections call every one model.onnx. */
static hone_status number_of(struct reader *r, const struct cell *cell, size_t *out) {
  char name[256];
  if (strncmp(cell->model, "zoo:", 4))
    snprintf(name, sizeof name, "%s", cell->model_hash);
  else
    snprintf(name, sizeof name, "%.*s", (int)strcspn(cell->model, ","), cell->model);
  for (*out = 0; *out < r->names.count; ++*out)
    if (!strcmp(r->names.at[*out], name)) return HONE_OK;
  const char *copy;
  TRY(arena_string(r->ctx, r->arena, name, strlen(name), &copy));
  VEC_PUSH(r->ctx, r->arena, &r->names, copy);
  return HONE_OK;
}

/* A file as it is now must be what was measured. */
static hone_status read_model(struct reader *r, const struct cell *cell, struct known *out) {
  struct ctx attempt = *r->ctx; /* what cannot be read is left out */
  struct model model;
  const bool is_zoo = !strncmp(cell->model, "zoo:", 4);
  const char *path = cell->model_path[0] ? cell->model_path : cell->model;
  const struct import_options options = {.shapes = !is_zoo && cell->shapes[0] ? cell->shapes : NULL,
                                         .batch = is_zoo ? cell->batch : 0};
  out->is_usable = false;
  attempt.warn = NULL;
  if (model_load(&attempt, path, &options, &model)) return HONE_OK;
  out->is_usable = is_zoo || !strcmp(model.content_hash, cell->model_hash);
  if (out->is_usable) facts_of_graph(model.graph, &out->facts);
  model_unload(&model);
  return HONE_OK;
}

static hone_status find_model(struct reader *r, const struct cell *cell, const struct known **out) {
  for (size_t i = 0; i < r->models.count; i++) {
    *out = &r->models.at[i];
    if (!strcmp((*out)->hash, cell->model_hash) && !strcmp((*out)->shapes, cell->shapes))
      return HONE_OK;
  }
  struct known new = {.batch = cell->batch};
  if (r->models.count == r->limit) {
    *out = NULL;
    return HONE_OK;
  }
  TRY(arena_string(r->ctx, r->arena, cell->model_hash, strlen(cell->model_hash), &new.hash));
  TRY(arena_string(r->ctx, r->arena, cell->shapes, strlen(cell->shapes), &new.shapes));
  TRY(number_of(r, cell, &new.number));
  TRY(read_model(r, cell, &new));
  VEC_PUSH(r->ctx, r->arena, &r->models, new);
  *out = &r->models.at[r->models.count - 1];
  return HONE_OK;
}

static bool is_plain(const struct record *r) {
  return r->status == STATUS_ok && r->cell.label == 0 && !r->cell.load &&
         !strcmp(r->cell.scenario, "single") && !strcmp(r->cell.device, "cpu") &&
         !strcmp(r->cell.variant, "default") && r->p50_ms > 0 && !(r->flags & FLAG_MASK(synthetic));
}

static hone_status visit_record(struct reader *r, const struct summary *s,
                                const struct record *record) {
  const struct known *model;
  struct machine_facts machine;
  struct row_seen row = {.summary = s, .record = record};
  float x[FEATURE_COUNT];
  TRY(find_model(r, &record->cell, &model));
  if (model && model->is_usable &&
      facts_of_machine(s->study.machine_json, record->cell.threads, &machine)) {
    const struct how how = {record->cell.batch, record->cell.threads,
                            !strcmp(record->cell.precision, "bf16")};
    features_fill(&model->facts, &how, &machine, x);
    row.model = model->number;
    row.x = x;
  }
  return r->visit(r->user, &row);
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
    status = visit_record(r, summary, &summary->records[i]);
  arena_destroy(arena);
  return status;
}

static hone_status list_backends(struct ctx *ctx, struct arena *arena, struct samples *s) {
  TRY(NEW_ARRAY(ctx, arena, s->backends, s->count + 1));
  for (size_t i = 0; i < s->count; i++) {
    size_t b = 0;
    while (b < s->backend_count && strcmp(s->backends[b], s->at[i].backend)) b++;
    if (b == s->backend_count)
      memcpy(s->backends[s->backend_count++], s->at[i].backend, sizeof s->backends[0]);
  }
  return HONE_OK;
}

hone_status rows_visit(struct ctx *ctx, struct arena *arena, struct store *store, size_t limit,
                       row_visitor *visit, void *user, size_t *out_models) {
  struct reader r = {.ctx = ctx, .arena = arena, .limit = limit, .visit = visit, .user = user};
  struct study_row *studies;
  size_t count;
  TRY(store_list_studies(ctx, store, arena, &studies, &count));
  for (size_t i = 0; i < count; i++) TRY(read_study(&r, store, studies[i].key));
  *out_models = r.names.count;
  return HONE_OK;
}

static hone_status collect(void *user, const struct row_seen *seen) {
  struct collection *c = user;
  const struct record *record = seen->record;
  if (!is_plain(record)) return HONE_OK;
  if (!seen->x) {
    c->out->left_out++;
    return HONE_OK;
  }
  struct sample row = {
      .model = seen->model,
      .y = {record->p50_ms,
            record->worst.rss_steady > 0 ? (double)record->worst.rss_steady : (double)NAN,
            record->worst.artifact_bytes > 0 ? (double)record->worst.artifact_bytes : (double)NAN}};
  snprintf(row.backend, sizeof row.backend, "%s", record->cell.backend);
  memcpy(row.x, seen->x, sizeof row.x);
  VEC_PUSH(c->ctx, c->arena, &c->rows, row);
  return HONE_OK;
}

/* Models of which no row is left are none. */
static hone_status number_models(struct collection *c, size_t seen) {
  size_t *numbers, count = 0; /* from 1 */
  TRY(NEW_ARRAY(c->ctx, c->arena, numbers, seen + 1));
  for (size_t i = 0; i < c->rows.count; i++) {
    size_t *number = &numbers[c->rows.at[i].model];
    if (!*number) *number = ++count;
    c->rows.at[i].model = *number - 1;
  }
  c->out->model_count = count;
  return HONE_OK;
}

hone_status samples_read(struct ctx *ctx, struct arena *arena, struct store *store, size_t limit,
                         struct samples *out) {
  struct collection c = {.ctx = ctx, .arena = arena, .out = out};
  *out = (struct samples){0};
  size_t seen;
  TRY(rows_visit(ctx, arena, store, limit, collect, &c, &seen));
  TRY(number_models(&c, seen));
  out->at = c.rows.at;
  out->count = c.rows.count;
  return list_backends(ctx, arena, out);
}
