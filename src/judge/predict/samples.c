/* Collects training rows from the user's store (rows.c) and from data sets (records.c): measured
 * without other load, and with known features. */
#include "predict.h"

#include <math.h>

struct collection {
  struct ctx *ctx;
  struct arena *arena;
  VEC(struct sample) rows;
  struct samples *out;
  size_t limit;
};

hone_status samples_check_time(struct ctx *ctx, const struct samples *samples) {
  if (!samples->end_ns || clock_ns() < samples->end_ns) return HONE_OK;
  return fail(ctx, HONE_E_TIMEOUT, place_none(), "no time is left for training");
}

static bool is_usable(const struct record *r) {
  return r->status == STATUS_ok && r->config.label == 0 && !r->config.load &&
         !strcmp(r->config.scenario, "single") && !strcmp(r->config.device, "cpu") &&
         !strcmp(r->config.variant, "default") && r->p50_ms > 0 &&
         !(r->flags & FLAG_MASK(synthetic));
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

static hone_status collect(void *user, const struct row_seen *seen) {
  struct collection *c = user;
  const struct record *record = seen->record;
  TRY(samples_check_time(c->ctx, c->out));
  if (!is_usable(record)) return HONE_OK;
  if (!seen->x || seen->model >= c->limit) {
    c->out->left_out++;
    return HONE_OK;
  }
  struct sample row = {
      .model = seen->model,
      .y = {record->p50_ms,
            record->worst.rss_steady > 0 ? (double)record->worst.rss_steady : (double)NAN,
            record->worst.artifact_bytes > 0 ? (double)record->worst.artifact_bytes : (double)NAN}};
  snprintf(row.backend, sizeof row.backend, "%s", record->config.backend);
  memcpy(row.x, seen->x, sizeof row.x);
  VEC_PUSH(c->ctx, c->arena, &c->rows, row);
  return HONE_OK;
}

/* Numbers the models that have rows. */
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

hone_status samples_read(struct ctx *ctx, struct arena *arena, struct store *store,
                         const char *const *files, size_t file_count, size_t limit, uint64_t end_ns,
                         struct samples *out) {
  struct collection c = {.ctx = ctx, .arena = arena, .out = out, .limit = limit};
  struct model_names names = {0};
  *out = (struct samples){.end_ns = end_ns};
  if (store) TRY(rows_visit(ctx, arena, store, limit, &names, collect, &c));
  for (size_t i = 0; i < file_count; i++)
    TRY(records_visit(ctx, arena, files[i], &names, collect, &c));
  TRY(number_models(&c, names.count));
  out->at = c.rows.at;
  out->count = c.rows.count;
  return list_backends(ctx, arena, out);
}
