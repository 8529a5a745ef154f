/* matrix: the whole study in one table: a row for each group (model, shapes, batch, threads, precision), a column for each
 * engine with its options. Only ranked records count: an engine that failed or is wrong has no ratio, and every mean has
 * the number of its groups. Copies for --aa have no column.
 */
#include "compare.h"

#include <math.h>
#include <stdlib.h>

bool same_model(const struct config *a, const struct config *b) {
  return !strcmp(a->model, b->model) &&
         (!strncmp(a->model, "zoo:", 4) || !strcmp(a->model_path, b->model_path));
}

size_t model_count(const struct summary *summary, const struct matrix *matrix) {
  size_t count = 0;
  for (size_t g = 0; g < matrix->group_count; g++) {
    bool is_new = true;
    for (size_t k = 0; is_new && k < g; k++)
      is_new = !same_model(&summary->records[matrix->begins[k]].config,
                           &summary->records[matrix->begins[g]].config);
    count += is_new;
  }
  return count;
}

static bool same_column(const struct matrix *matrix, const struct config *a,
                        const struct config *b) {
  return matrix->joins_routes ? same_engine_any_route(a, b) : same_engine(a, b);
}

/* Some group has an engine by two routes. */
static bool compares_routes(const struct summary *summary) {
  for (size_t begin = 0, end; begin < summary->record_count; begin = end) {
    end = group_end(summary, begin);
    for (size_t i = begin; i < end; i++)
      for (size_t k = begin; k < i; k++)
        if (strcmp(summary->records[i].config.route, summary->records[k].config.route) != 0 &&
            same_engine_any_route(&summary->records[i].config, &summary->records[k].config))
          return true;
  }
  return false;
}

/* The configuration that names a column; without a route if the column has several. */
static MUST_USE hone_status name_engine(struct ctx *ctx, struct arena *arena,
                                        const struct summary *summary, const struct matrix *matrix,
                                        struct engine *engine) {
  const struct config *first = &summary->records[engine->record].config;
  bool is_mixed = false;
  for (size_t i = 0; i < summary->record_count; i++) {
    const struct config *config = &summary->records[i].config;
    is_mixed |= strcmp(config->route, first->route) != 0 && same_column(matrix, config, first);
  }
  engine->config = first;
  if (!is_mixed) return HONE_OK;
  struct config *joined;
  TRY(NEW(ctx, arena, joined));
  *joined = *first;
  joined->route[0] = 0;
  engine->config = joined;
  return HONE_OK;
}

size_t matrix_engine_of(const struct matrix *matrix, const struct summary *summary, size_t i) {
  for (size_t e = 0; e < matrix->engine_count; e++)
    if (same_column(matrix, &summary->records[matrix->engines[e].record].config,
                    &summary->records[i].config))
      return e;
  return SIZE_MAX;
}

double matrix_ratio(const struct matrix *matrix, const struct summary *summary, size_t group,
                    size_t engine) {
  const size_t i = matrix->cells[group * matrix->engine_count + engine];
  if (i == SIZE_MAX || summary->records[i].rank == 0) return NAN;
  const struct comparison *comparison = find_comparison(summary, i, matrix->begins[group]);
  if (comparison && comparison->ratio.value > 0) return comparison->ratio.value;
  return summary->records[i].p50_ms / summary->records[matrix->begins[group]].p50_ms;
}

bool is_among_first(const struct summary *summary, size_t i, size_t begin) {
  const struct comparison *comparison = find_comparison(summary, i, begin);
  if (summary->records[i].rank == 0) return false;
  return i == begin || (comparison && comparison->verdict == VERDICT_tie);
}

double matrix_geometric_ratio(const struct matrix *matrix, const struct summary *summary, size_t a,
                              size_t b, size_t *out_groups) {
  double sum = 0;
  *out_groups = 0;
  for (size_t g = 0; g < matrix->group_count; g++) {
    const double x = matrix_ratio(matrix, summary, g, a), y = matrix_ratio(matrix, summary, g, b);
    if (!(x > 0) || !(y > 0)) continue;
    sum += log(y / x);
    ++*out_groups;
  }
  return *out_groups ? exp(sum / (double)*out_groups) : NAN;
}

struct mean {
  double sum;
  size_t count;
};
static void mean_add(struct mean *mean, double x) {
  if (!(x > 0) || !isfinite(x)) return;
  mean->sum += log(x);
  mean->count++;
}
static double mean_of(const struct mean *mean) {
  return mean->count ? exp(mean->sum / (double)mean->count) : NAN;
}

static void fill_engine(const struct matrix *matrix, const struct summary *summary, size_t e) {
  struct engine *engine = &matrix->engines[e];
  struct mean ratio = {0}, ready = {0}, memory = {0};
  engine->ranked = engine->wins = 0;
  for (size_t g = 0; g < matrix->group_count; g++) {
    const size_t i = matrix->cells[g * matrix->engine_count + e];
    if (i == SIZE_MAX || summary->records[i].rank == 0) continue;
    engine->ranked++;
    engine->wins += is_among_first(summary, i, matrix->begins[g]);
    mean_add(&ratio, matrix_ratio(matrix, summary, g, e));
    mean_add(&ready, ready_ms(&summary->records[i]));
    mean_add(&memory, (double)memory_of(&summary->records[i]));
  }
  engine->ratio = mean_of(&ratio);
  engine->ready_ms = mean_of(&ready);
  engine->memory_bytes = mean_of(&memory);
  engine->portability = summary->records[engine->record].portability;
}

/* Engines that failed come last; equal ones keep the order of the study. */
static int compare_engines(const void *a, const void *b) {
  const struct engine *x = a, *y = b;
  if (x->ranked != y->ranked) return x->ranked > y->ranked ? -1 : 1;
  if (x->ranked && x->ratio != y->ratio) return x->ratio < y->ratio ? -1 : 1;
  return (x->record > y->record) - (x->record < y->record);
}

static void fill_cells(const struct matrix *matrix, const struct summary *summary) {
  for (size_t k = 0; k < matrix->group_count * matrix->engine_count; k++)
    matrix->cells[k] = SIZE_MAX;
  for (size_t g = 0; g < matrix->group_count; g++)
    for (size_t i = matrix->begins[g], end = group_end(summary, i); i < end; i++) {
      const size_t e = matrix_engine_of(matrix, summary, i);
      if (e == SIZE_MAX || summary->records[i].config.label > 0) continue;
      size_t *config = &matrix->cells[g * matrix->engine_count + e];
      if (*config == SIZE_MAX) *config = i;
    }
}

static bool is_new_precision(const struct matrix *matrix, const struct summary *summary, size_t g) {
  const char *precision = summary->records[matrix->begins[g]].config.precision;
  for (size_t k = 0; k < g; k++)
    if (!strcmp(summary->records[matrix->begins[k]].config.precision, precision)) return false;
  return true;
}

static MUST_USE hone_status add_mean(struct ctx *ctx, struct arena *arena,
                                     const struct summary *summary, const char *precision,
                                     struct matrix *matrix) {
  struct matrix_mean *out = &matrix->means[matrix->mean_count++];
  *out = (struct matrix_mean){.precision = precision};
  TRY(NEW_ARRAY(ctx, arena, out->engines, matrix->engine_count + 1));
  struct mean *sums;
  TRY(NEW_ARRAY(ctx, arena, sums, matrix->engine_count + 1));
  for (size_t g = 0; g < matrix->group_count; g++) {
    if (precision && strcmp(precision, summary->records[matrix->begins[g]].config.precision) != 0)
      continue;
    out->group_count++;
    for (size_t e = 0; e < matrix->engine_count; e++)
      mean_add(&sums[e], matrix_ratio(matrix, summary, g, e));
  }
  for (size_t e = 0; e < matrix->engine_count; e++)
    out->engines[e] = (struct engine_mean){mean_of(&sums[e]), sums[e].count};
  return HONE_OK;
}

static MUST_USE hone_status fill_means(struct ctx *ctx, struct arena *arena,
                                       const struct summary *summary, struct matrix *matrix) {
  size_t kinds = 0;
  for (size_t g = 0; g < matrix->group_count; g++) kinds += is_new_precision(matrix, summary, g);
  TRY(NEW_ARRAY(ctx, arena, matrix->means, kinds + 1));
  for (size_t g = 0; kinds > 1 && g < matrix->group_count; g++)
    if (is_new_precision(matrix, summary, g))
      TRY(add_mean(ctx, arena, summary, summary->records[matrix->begins[g]].config.precision,
                   matrix));
  return add_mean(ctx, arena, summary, NULL, matrix);
}

hone_status matrix_make(struct ctx *ctx, struct arena *arena, const struct summary *summary,
                        struct matrix *out) {
  size_t size;
  *out = (struct matrix){.joins_routes = !compares_routes(summary)};
  TRY(NEW_ARRAY(ctx, arena, out->begins, summary->record_count + 1));
  TRY(NEW_ARRAY(ctx, arena, out->engines, summary->record_count + 1));
  for (size_t i = 0; i < summary->record_count; i = group_end(summary, i))
    out->begins[out->group_count++] = i;
  for (size_t i = 0; i < summary->record_count; i++)
    if (summary->records[i].config.label == 0 && matrix_engine_of(out, summary, i) == SIZE_MAX)
      out->engines[out->engine_count++] = (struct engine){.record = i};
  for (size_t e = 0; e < out->engine_count; e++)
    TRY(name_engine(ctx, arena, summary, out, &out->engines[e]));
  if (!checked_mul(out->group_count, out->engine_count, &size) || !checked_add(size, 1, &size))
    return fail(ctx, HONE_E_LIMIT, place_none(), "too many rows for a matrix");
  TRY(NEW_ARRAY(ctx, arena, out->cells, size));
  fill_cells(out, summary);
  for (size_t e = 0; e < out->engine_count; e++) fill_engine(out, summary, e);
  if (out->engine_count)
    qsort(out->engines, out->engine_count, sizeof *out->engines, compare_engines);
  fill_cells(out, summary);
  return fill_means(ctx, arena, summary, out);
}
