/* row_text: the name, group, limits and figures of a row as text, in their units.
 *
 * Text from models and engines is untrusted: the writer of each output format escapes it.
 */
#include "core/format/format.h"
#include "compare.h"

#include <math.h>

#define NONE "\xe2\x80\x93" /* en dash */

/* "95 %", "140 % (62 % W)" where Winograd applies. */
void put_limit(struct strbuf *out, const struct record *record) {
  put_percent(out, record->limit_share);
  if (!isfinite(record->winograd_limit_share)) return;
  LITERAL(out, " (");
  put_percent(out, record->winograd_limit_share);
  LITERAL(out, " W)");
}

void put_half_width(struct strbuf *out, const struct record *record) {
  const double half = fmax(record->p50_hi_ms - record->p50_ms, record->p50_ms - record->p50_lo_ms);
  if (!isfinite(half) || !(record->p50_ms > 0)) {
    LITERAL(out, NONE);
    return;
  }
  LITERAL(out, "\xc2\xb1");
  /* only the order of magnitude is known */
  if (half > record->p50_ms)
    LITERAL(out, ">100 %");
  else
    put_percent(out, half / record->p50_ms);
}

void put_column(struct strbuf *out, const struct record *record, const struct column *column) {
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

/* Length of the variant's name; 0 for "default" and for options alone. */
static size_t variant_length(const struct config *config) {
  const size_t length = strcspn(config->variant, " =");
  return config->variant[length] == '=' || !strcmp(config->variant, "default") ? 0 : length;
}

void put_engine_name(struct strbuf *out, const struct config *config) {
  const size_t length = variant_length(config);
  strbuf_puts(out, config->backend);
  if (length) strbuf_printf(out, ":%.*s", (int)length, config->variant);
}

static bool same_engine_name(const struct config *a, const struct config *b) {
  const size_t length = variant_length(a);
  return !strcmp(a->backend, b->backend) && length == variant_length(b) &&
         !strncmp(a->variant, b->variant, length);
}

static bool same_end(const struct record *a, const struct record *b) {
  return !a->rank && !b->rank && a->status == b->status && a->stage == b->stage &&
         !strcmp(a->reason, b->reason);
}

bool put_failed_names(struct strbuf *out, const struct summary *summary, size_t begin, size_t end,
                      size_t i) {
  const struct record *records = summary->records;
  for (size_t k = begin; k < i; k++)
    if (same_end(&records[k], &records[i])) return false;
  for (size_t k = i; k < end; k++) {
    bool is_new = same_end(&records[k], &records[i]);
    for (size_t j = i; is_new && j < k; j++)
      is_new = !same_engine_name(&records[j].config, &records[k].config) ||
               !same_end(&records[j], &records[i]);
    if (!is_new) continue;
    if (out->length) LITERAL(out, ", ");
    put_engine_name(out, &records[k].config);
  }
  return true;
}

double ready_ms(const struct record *record) {
  const struct process_record *facts = &record->worst;
  if (!(facts->load_ms >= 0)) return NAN;
  if (facts->compile_ms >= 0) return facts->compile_ms + facts->load_ms;
  return isnan(facts->cached_compile_ms) ? facts->load_ms : NAN;
}

bool compiles_in_load(const struct record *record) {
  const struct process_record *facts = &record->worst;
  return facts->load_ms >= 0 && isnan(facts->compile_ms) && isnan(facts->cached_compile_ms);
}

int64_t memory_of(const struct record *record) {
  return record->worst.rss_steady >= 0 ? record->worst.rss_steady : record->worst.rss_peak;
}

/* What distinguishes columns of one engine, with the default of each. */
static const struct {
  size_t offset;
  const char *plain;
} engine_dimensions[] = {{offsetof(struct config, device), "cpu"},
                         {offsetof(struct config, route), "onnx"},
                         {offsetof(struct config, cache_state), "warm"},
                         {offsetof(struct config, variant), "default"}};

/* The model's own file is the default route, in any format. */
static const char *dimension_of(const struct config *config, size_t i) {
  const char *value = (const char *)config + engine_dimensions[i].offset;
  const bool is_route = engine_dimensions[i].offset == offsetof(struct config, route);
  return is_route && !strstr(value, "-hone") ? engine_dimensions[i].plain : value;
}

static bool same_dimensions(const struct config *a, const struct config *b, bool any_route) {
  bool is_same = !strcmp(a->backend, b->backend) && !strcmp(a->options, b->options);
  for (size_t i = 0; i < COUNT(engine_dimensions); i++)
    if (!any_route || engine_dimensions[i].offset != offsetof(struct config, route))
      is_same = is_same && !strcmp(dimension_of(a, i), dimension_of(b, i));
  return is_same;
}

bool same_engine(const struct config *a, const struct config *b) {
  return same_dimensions(a, b, false);
}

bool same_engine_any_route(const struct config *a, const struct config *b) {
  return same_dimensions(a, b, true);
}

const char *engine_marks(const struct config *config, char out[256]) {
  size_t used = 0;
  out[0] = 0;
  for (size_t i = 0; i < COUNT(engine_dimensions) && used < 255; i++) {
    const char *value = dimension_of(config, i);
    if (!value[0] || !strcmp(value, engine_dimensions[i].plain)) continue;
    const int n = snprintf(out + used, 256 - used, "%s%s", used ? " " : "", value);
    used += n > 0 ? (size_t)n : 0;
  }
  return out;
}

void put_row_name(struct strbuf *out, const struct record *record) {
  char marks[256];
  strbuf_puts(out, record->config.backend);
  if (record->worst.engine_version[0]) strbuf_printf(out, " %s", record->worst.engine_version);
  if (engine_marks(&record->config, marks)[0]) strbuf_printf(out, " (%s)", marks);
  if (record->config.label > 0) strbuf_puts(out, " (again)");
}

void put_task(struct strbuf *out, const struct record *record) {
  const struct process_record *facts = &record->worst;
  if (!isfinite(facts->task_accuracy)) return;
  strbuf_printf(out, "%s ", facts->task_metric);
  put_significant(out, facts->task_accuracy, 4);
  if (!isfinite(facts->accuracy_retention)) return;
  strbuf_puts(out, ", ");
  put_significant(out, 100 * facts->accuracy_retention, 4);
  strbuf_puts(out, " %");
}

void put_group_rest(struct strbuf *out, const struct config *config, const char *between) {
  if (config->precision[0] && strcmp(config->precision, "fp32") != 0)
    strbuf_printf(out, "%s%s", between, config->precision);
  if (config->scenario[0] && strcmp(config->scenario, "single") != 0)
    strbuf_printf(out, "%s%s", between, config->scenario);
  if (config->load)
    strbuf_printf(out, "%s%d busy neighbour%s", between, config->load,
                  config->load == 1 ? "" : "s");
}

void put_group_facts(struct strbuf *out, const struct record *record) {
  const struct config *config = &record->config;
  strbuf_printf(out, "batch %d \xc2\xb7 %d thread%s", config->batch, config->threads,
                config->threads == 1 ? "" : "s");
  put_group_rest(out, config, " \xc2\xb7 ");
  /* a longer text is stored as its hash, which is not worth showing */
  if (strchr(config->shapes, '[')) strbuf_printf(out, " \xc2\xb7 %s", config->shapes);
}

/* Generated text has the sizes of its scenario. */
void put_open_dimensions(struct strbuf *out, const struct record *record) {
  if (record->config.open_dimensions[0] && !config_generates(&record->config))
    strbuf_printf(out, "dynamic dimensions: %s", record->config.open_dimensions);
}
