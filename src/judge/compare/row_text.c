/* row_text: the words for a row of a report: its engine, group, limits and figures in their units.
 *
 * Text from models and engines is untrusted: the writer of each output format escapes it.
 */
#include "core/format/format.h"
#include "compare.h"

#include <math.h>

#define NONE "\xe2\x80\x93" /* en dash */

/* "95 %", "140 % (62 % W)" where Winograd applies. */
void put_limit(struct text *out, const struct record *record) {
  put_percent(out, record->limit_share);
  if (!isfinite(record->winograd_limit_share)) return;
  LITERAL(out, " (");
  put_percent(out, record->winograd_limit_share);
  LITERAL(out, " W)");
}

void put_half_width(struct text *out, const struct record *record) {
  const double half = fmax(record->p50_hi_ms - record->p50_ms, record->p50_ms - record->p50_lo_ms);
  if (!isfinite(half) || !(record->p50_ms > 0)) {
    LITERAL(out, NONE);
    return;
  }
  LITERAL(out, "\xc2\xb1");
  /* nothing is known but the order of size */
  if (half > record->p50_ms)
    LITERAL(out, ">100 %");
  else
    put_percent(out, half / record->p50_ms);
}

void put_column(struct text *out, const struct record *record, const struct column *column) {
  const double number = column_number(record, column);
  if (!strcmp(column->unit, "B"))
    put_bytes(out, number);
  else if (!strcmp(column->unit, "ms"))
    put_latency(out, number);
  else if (!strcmp(column->unit, "ns"))
    put_ms(out, number * 1e-6);
  else if (!strcmp(column->unit, "share"))
    put_percent(out, number);
  else if (column->type == COLUMN_DOUBLE)
    put_plain(out, number);
  else
    column_format(record, column, out);
}

/* Of its variant's name: "default" and options are none. */
static size_t variant_length(const struct cell *cell) {
  const size_t length = strcspn(cell->variant, " =");
  return cell->variant[length] == '=' || !strcmp(cell->variant, "default") ? 0 : length;
}

void put_engine_name(struct text *out, const struct cell *cell) {
  const size_t length = variant_length(cell);
  text_puts(out, cell->backend);
  if (length) text_printf(out, ":%.*s", (int)length, cell->variant);
}

static bool same_engine_name(const struct cell *a, const struct cell *b) {
  const size_t length = variant_length(a);
  return !strcmp(a->backend, b->backend) && length == variant_length(b) &&
         !strncmp(a->variant, b->variant, length);
}

static bool same_end(const struct record *a, const struct record *b) {
  return !a->rank && !b->rank && a->status == b->status && a->stage == b->stage &&
         !strcmp(a->reason, b->reason);
}

bool put_failed_names(struct text *out, const struct summary *summary, size_t begin, size_t end,
                      size_t i) {
  const struct record *records = summary->records;
  for (size_t k = begin; k < i; k++)
    if (same_end(&records[k], &records[i])) return false;
  for (size_t k = i; k < end; k++) {
    bool is_new = same_end(&records[k], &records[i]);
    for (size_t j = i; is_new && j < k; j++)
      is_new = !same_engine_name(&records[j].cell, &records[k].cell) ||
               !same_end(&records[j], &records[i]);
    if (!is_new) continue;
    if (out->length) LITERAL(out, ", ");
    put_engine_name(out, &records[k].cell);
  }
  return true;
}

double ready_ms(const struct record *record) {
  const struct incarnation *facts = &record->worst;
  if (!(facts->load_ms >= 0)) return NAN;
  if (facts->compile_ms >= 0) return facts->compile_ms + facts->load_ms;
  return isnan(facts->cached_compile_ms) ? facts->load_ms : NAN;
}

bool compiles_in_load(const struct record *record) {
  const struct incarnation *facts = &record->worst;
  return facts->load_ms >= 0 && isnan(facts->compile_ms) && isnan(facts->cached_compile_ms);
}

int64_t memory_of(const struct record *record) {
  return record->worst.rss_steady >= 0 ? record->worst.rss_steady : record->worst.rss_peak;
}

/* The dimensions of an engine's row, and what goes without saying in each. */
static const struct {
  size_t offset;
  const char *plain;
} engine_dimensions[] = {{offsetof(struct cell, device), "cpu"},
                         {offsetof(struct cell, route), "onnx"},
                         {offsetof(struct cell, cache_state), "warm"},
                         {offsetof(struct cell, variant), "default"}};

/* The file itself goes without saying, whatever its format. */
static const char *dimension_of(const struct cell *cell, size_t i) {
  const char *value = (const char *)cell + engine_dimensions[i].offset;
  const bool is_route = engine_dimensions[i].offset == offsetof(struct cell, route);
  return is_route && !strstr(value, "-hone") ? engine_dimensions[i].plain : value;
}

static bool same_dimensions(const struct cell *a, const struct cell *b, bool any_route) {
  bool is_same = !strcmp(a->backend, b->backend) && !strcmp(a->options, b->options);
  for (size_t i = 0; i < COUNT(engine_dimensions); i++)
    if (!any_route || engine_dimensions[i].offset != offsetof(struct cell, route))
      is_same = is_same && !strcmp(dimension_of(a, i), dimension_of(b, i));
  return is_same;
}

bool same_engine(const struct cell *a, const struct cell *b) {
  return same_dimensions(a, b, false);
}

bool same_engine_any_route(const struct cell *a, const struct cell *b) {
  return same_dimensions(a, b, true);
}

const char *engine_marks(const struct cell *cell, char out[256]) {
  size_t used = 0;
  out[0] = 0;
  for (size_t i = 0; i < COUNT(engine_dimensions) && used < 255; i++) {
    const char *value = dimension_of(cell, i);
    if (!value[0] || !strcmp(value, engine_dimensions[i].plain)) continue;
    const int n = snprintf(out + used, 256 - used, "%s%s", used ? " " : "", value);
    used += n > 0 ? (size_t)n : 0;
  }
  return out;
}

void put_row_name(struct text *out, const struct record *record) {
  char marks[256];
  text_puts(out, record->cell.backend);
  if (record->worst.engine_version[0]) text_printf(out, " %s", record->worst.engine_version);
  if (engine_marks(&record->cell, marks)[0]) text_printf(out, " (%s)", marks);
  if (record->cell.label > 0) text_puts(out, " (again)");
}

void put_task(struct text *out, const struct record *record) {
  const struct incarnation *facts = &record->worst;
  if (!isfinite(facts->task_accuracy)) return;
  text_printf(out, "%s ", facts->task_metric);
  put_significant(out, facts->task_accuracy, 4);
  if (!isfinite(facts->accuracy_retention)) return;
  text_puts(out, ", ");
  put_significant(out, 100 * facts->accuracy_retention, 4);
  text_puts(out, " %");
}

void put_group_rest(struct text *out, const struct cell *cell, const char *between) {
  if (cell->precision[0] && strcmp(cell->precision, "fp32") != 0)
    text_printf(out, "%s%s", between, cell->precision);
  if (cell->scenario[0] && strcmp(cell->scenario, "single") != 0)
    text_printf(out, "%s%s", between, cell->scenario);
  if (cell->load)
    text_printf(out, "%s%d busy neighbour%s", between, cell->load, cell->load == 1 ? "" : "s");
}

void put_group_facts(struct text *out, const struct record *record) {
  const struct cell *cell = &record->cell;
  text_printf(out, "batch %d \xc2\xb7 %d thread%s", cell->batch, cell->threads,
              cell->threads == 1 ? "" : "s");
  put_group_rest(out, cell, " \xc2\xb7 ");
  /* longer ones are kept as their hash, which tells nobody anything */
  if (strchr(cell->shapes, '[')) text_printf(out, " \xc2\xb7 %s", cell->shapes);
}

void put_open_dimensions(struct text *out, const struct record *record) {
  if (record->cell.open_dimensions[0])
    text_printf(out, "open dimensions: %s", record->cell.open_dimensions);
}
