/* units: numbers and short phrases for people, the same in every sink.
 *
 * In: figures of a record. Out: text, untrusted where it holds names; the sink's writer escapes it.
 * "n/a" is a dash.
 */
#include "report.h"

#include <math.h>
#include <time.h>

#define NONE "\xe2\x80\x93" /* en dash */

void put_number(struct text *out, double x, int decimals) {
  char number[400];
  snprintf(number, sizeof number, "%.*f", decimals, x);
  for (char *p = number; *p; p++)
    if (*p == ',') *p = '.'; /* another decimal point can only be the locale's comma */
  text_puts(out, number);
}

void put_significant(struct text *out, double x, int digits) {
  if (!isfinite(x)) {
    LITERAL(out, NONE);
    return;
  }
  int decimals = digits - 1 - (x != 0 ? (int)floor(log10(fabs(x)) + 1e-12) : 0);
  if (decimals < 0) decimals = 0;
  put_number(out, x, decimals > 15 ? 15 : decimals);
}

static void put_scaled(struct text *out, double x, const char *const *units, const double *scales,
                       size_t count, int digits) {
  if (!isfinite(x) || x < 0) {
    LITERAL(out, NONE);
    return;
  }
  size_t i = 0;
  while (i + 1 < count && x >= scales[i + 1] * 0.99995) i++;
  put_significant(out, x / scales[i], digits);
  text_printf(out, " %s", units[i]);
}

static const char *const time_units[] = {"ns", "\xc2\xb5s", "ms", "s", "min"};
static const double time_scales[] = {1e-6, 1e-3, 1, 1e3, 6e4};
void put_ms(struct text *out, double ms) {
  put_scaled(out, ms, time_units, time_scales, COUNT(time_units), 3);
}
/* A round value on an axis: "10 ms", "100 s". */
void put_tick(struct text *out, double ms) {
  size_t i = 0;
  while (i + 1 < COUNT(time_units) - 1 && ms >= time_scales[i + 1] * 0.99995) i++;
  char number[32];
  format_f64(number, round(ms / time_scales[i] * 1e6) / 1e6);
  text_printf(out, "%s %s", number, time_units[i]);
}
void put_latency(struct text *out, double ms) {
  put_scaled(out, ms, time_units, time_scales, COUNT(time_units), 4);
}

void put_bytes(struct text *out, double bytes) {
  char text[32];
  if (!isfinite(bytes) || bytes < 0) {
    LITERAL(out, NONE);
    return;
  }
  format_bytes(text, bytes);
  text_puts(out, text);
}

void put_percent(struct text *out, double share) {
  if (!isfinite(share)) {
    LITERAL(out, NONE);
    return;
  }
  const double percent = share * 100;
  put_number(out, percent, percent != 0 && fabs(percent) < 9.95 ? 1 : 0);
  LITERAL(out, " %");
}

/* "95 %", "140 % (62 % W)" where Winograd applies. */
void put_limit(struct text *out, const struct record *record) {
  put_percent(out, record->limit_share);
  if (!isfinite(record->winograd_limit_share)) return;
  LITERAL(out, " (");
  put_percent(out, record->winograd_limit_share);
  LITERAL(out, " W)");
}

/* One digit more where the difference is small: 1.007x, 1.21x, 12.1x. */
void put_ratio(struct text *out, double ratio) {
  put_significant(out, ratio, ratio < 1 || ratio >= 1.1 ? 3 : 4);
  LITERAL(out, "x");
}

void put_scientific(struct text *out, double x) {
  char number[32];
  if (!isfinite(x)) {
    LITERAL(out, NONE);
    return;
  }
  snprintf(number, sizeof number, x == 0 ? "%.0f" : "%.1e", x);
  for (char *p = number; *p; p++)
    if (*p == ',') *p = '.';
  text_puts(out, number);
}

void put_plain(struct text *out, double x) {
  char number[32];
  snprintf(number, sizeof number, fabs(x) >= 1e5 && fabs(x) < 1e12 ? "%.0f" : "%.5g", x);
  for (char *p = number; *p; p++)
    if (*p == ',') *p = '.';
  text_puts(out, number);
}

void put_half_width(struct text *out, const struct record *record) {
  const double half = fmax(record->p50_hi_ms - record->p50_ms, record->p50_ms - record->p50_lo_ms);
  if (!isfinite(half) || !(record->p50_ms > 0)) {
    LITERAL(out, NONE);
    return;
  }
  LITERAL(out, "\xc2\xb1");
  if (half > record->p50_ms)
    LITERAL(out, ">100 %"); /* nothing is known but the order of size */
  else
    put_percent(out, half / record->p50_ms);
}

void put_time(struct text *out, uint64_t unix_ms) {
  const time_t seconds = (time_t)(unix_ms / 1000);
  struct tm tm;
  char text[64];
  if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &tm)) {
    LITERAL(out, NONE);
    return;
  }
  text_puts(out, text);
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

/* One word of a POSIX shell command, in quotes unless it is plain. */
void put_shell_word(struct text *out, const char *word) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,=+-";
  if (*word && strspn(word, plain) == strlen(word)) {
    text_puts(out, word);
    return;
  }
  text_puts(out, "'");
  for (; *word; word++) {
    if (*word == '\'')
      text_puts(out, "'\\''");
    else
      text_append(out, word, 1);
  }
  text_puts(out, "'");
}
