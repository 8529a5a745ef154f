/* Names of statuses, stages and flags; access to a record's columns; the key of a configuration.
 *
 * A column is read through its offset and size, so a new column is one row in columns.def. "Not
 * available" (NaN, or -1 for counts) is the empty string in every output format.
 */
#include "core/metrics/metrics.h"
#include "record.h"

#include <math.h>
#include <stddef.h>

static const char *const status_names[] = {
#define STATUS(name, text) #name,
#include "status.def"
#undef STATUS
};
static const char *const status_helps[] = {
#define STATUS(name, text) text,
#include "status.def"
#undef STATUS
};
static const char *const flag_names[] = {
#define FLAG(name, text) #name,
#include "flags.def"
#undef FLAG
};
static const char *const flag_helps[] = {
#define FLAG(name, text) text,
#include "flags.def"
#undef FLAG
};
static const char *const stage_names[] = {"",     "import", "convert", "compile",
                                          "load", "run",    "verify"};

static const char *name_of(const char *const *names, size_t count, size_t i) {
  return i < count ? names[i] : "?";
}
static size_t index_of(const char *const *names, size_t count, const char *text) {
  size_t i = 0;
  while (i < count && strcmp(names[i], text) != 0) i++;
  return i;
}

const char *status_text(enum record_status status) {
  return name_of(status_names, STATUS_COUNT, (size_t)status);
}
const char *status_help(enum record_status status) {
  return name_of(status_helps, STATUS_COUNT, (size_t)status);
}
const char *stage_text(enum record_stage stage) {
  return name_of(stage_names, STAGE_COUNT, (size_t)stage);
}
const char *flag_text(enum record_flag flag) {
  return name_of(flag_names, FLAG_BIT_COUNT, (size_t)flag);
}
const char *flag_help(enum record_flag flag) {
  return name_of(flag_helps, FLAG_BIT_COUNT, (size_t)flag);
}
enum record_status status_parse(const char *text) {
  return (enum record_status)index_of(status_names, STATUS_COUNT, text);
}
enum record_stage stage_parse(const char *text) {
  return (enum record_stage)index_of(stage_names, STAGE_COUNT, text);
}

void flags_format(uint32_t flags, struct strbuf *out) {
  const char *separator = "";
  for (size_t i = 0; i < FLAG_BIT_COUNT; i++)
    if (flags & 1u << i) {
      strbuf_puts(out, separator);
      strbuf_puts(out, flag_names[i]);
      separator = " ";
    }
}

bool flags_parse(const char *text, uint32_t *out) {
  *out = 0;
  while (*text) {
    const size_t length = strcspn(text, " ");
    char name[32];
    if (length == 0 || length >= sizeof name) return false;
    memcpy(name, text, length);
    name[length] = 0;
    const size_t i = index_of(flag_names, FLAG_BIT_COUNT, name);
    if (i == FLAG_BIT_COUNT) return false;
    *out |= 1u << i;
    text += length;
    if (*text && *++text == 0) return false;
  }
  return true;
}

const struct column columns[] = {
#define COLUMN(key, title, unit, type, since, member, help) \
  {key,                                                     \
   title,                                                   \
   unit,                                                    \
   COLUMN_##type,                                           \
   since,                                                   \
   offsetof(struct record, member),                         \
   sizeof((struct record *)0)->member,                      \
   help},
#include "columns.def"
#undef COLUMN
};
const size_t column_count = COUNT(columns);

bool column_is_number(const struct column *column) {
  return column->type == COLUMN_INT || column->type == COLUMN_DOUBLE;
}

static int64_t integer_at(const void *at, size_t size) {
  int32_t small;
  int64_t wide;
  if (size == sizeof small) {
    memcpy(&small, at, sizeof small);
    return small;
  }
  memcpy(&wide, at, sizeof wide);
  return wide;
}

/* A negative count or noise fraction means "not measured". */
static bool is_missing(const struct column *column, double x) {
  return isnan(x) || (x < 0 && (column->type == COLUMN_INT || !strncmp(column->key, "noise.", 6)));
}

double column_number(const struct record *record, const struct column *column) {
  const char *at = (const char *)record + column->offset;
  double x = NAN;
  if (column->type == COLUMN_DOUBLE) memcpy(&x, at, sizeof x);
  if (column->type == COLUMN_INT) x = (double)integer_at(at, column->size);
  return is_missing(column, x) ? NAN : x;
}

bool column_set_number(struct record *record, const struct column *column, double x) {
  char *at = (char *)record + column->offset;
  if (column->type == COLUMN_DOUBLE) {
    memcpy(at, &x, sizeof x);
    return true;
  }
  if (isnan(x)) x = -1;
  if (column->type != COLUMN_INT || !(fabs(x) <= 9007199254740992.0)) return false; /* 2^53 */
  const int64_t wide = (int64_t)x;
  const int32_t small = (int32_t)wide;
  if (column->size == sizeof small && (int64_t)small != wide) return false;
  if (column->size == sizeof small)
    memcpy(at, &small, sizeof small);
  else
    memcpy(at, &wide, sizeof wide);
  return true;
}

bool column_set_text(struct record *record, const struct column *column, const char *text) {
  char *at = (char *)record + column->offset;
  switch (column->type) {
    case COLUMN_TEXT:
      if (strlen(text) >= column->size) return false;
      memcpy(at, text, strlen(text) + 1);
      return true;
    case COLUMN_STATUS:
      record->status = status_parse(text);
      return record->status != STATUS_COUNT;
    case COLUMN_STAGE:
      record->stage = stage_parse(text);
      return record->stage != STAGE_COUNT;
    case COLUMN_FLAGS:
      return flags_parse(text, &record->flags);
    case COLUMN_INT:
    case COLUMN_DOUBLE:
      return false;
  }
  return false;
}

void column_format(const struct record *record, const struct column *column, struct strbuf *out) {
  const char *at = (const char *)record + column->offset;
  char number[32];
  switch (column->type) {
    case COLUMN_TEXT:
      strbuf_append(out, at, strnlen(at, column->size));
      return;
    case COLUMN_STATUS:
      strbuf_puts(out, status_text(record->status));
      return;
    case COLUMN_STAGE:
      strbuf_puts(out, stage_text(record->stage));
      return;
    case COLUMN_FLAGS:
      flags_format(record->flags, out);
      return;
    case COLUMN_INT:
      if (!isnan(column_number(record, column)))
        strbuf_printf(out, "%lld", (long long)integer_at(at, column->size));
      return;
    case COLUMN_DOUBLE:
      if (isnan(column_number(record, column))) return;
      format_f64(number, column_number(record, column));
      strbuf_puts(out, number);
      return;
  }
}

/* "name:length:bytes\n": the length keeps a value from imitating a field boundary. */
static size_t put_field(char *out, size_t size, size_t at, const char *name, const char *value,
                        size_t capacity) {
  const size_t length = strnlen(value, capacity);
  const int wrote =
      snprintf(out + at, size - at, "%s:%zu:%.*s\n", name, length, (int)length, value);
  return at + (wrote > 0 ? (size_t)wrote : 0);
}
static size_t put_number(char *out, size_t size, size_t at, const char *name, int value) {
  char digits[16];
  snprintf(digits, sizeof digits, "%d", value);
  return put_field(out, size, at, name, digits, sizeof digits);
}

bool config_generates(const struct config *config) {
  return !strncmp(config->scenario, "generate:", 9);
}

bool text_departs(const struct process_record *facts) {
  if (isfinite(facts->kl_divergence)) return facts->kl_divergence > MOST_DIVERGENCE;
  if (isfinite(facts->accuracy_retention)) return facts->accuracy_retention < LEAST_RETENTION;
  return facts->max_rel_diff >= GENERATION_LEAD;
}

void config_key(struct config *config) {
  char canonical[2048]; /* more than the sum of all fields and their names */
  const size_t size = sizeof canonical;
  size_t at = put_field(canonical, size, 0, "model", config->model_hash, sizeof config->model_hash);
#define FIELD(name) at = put_field(canonical, size, at, #name, config->name, sizeof config->name)
#define NUMBER(name) at = put_number(canonical, size, at, #name, config->name)
  FIELD(shapes);
  FIELD(backend);
  FIELD(variant);
  FIELD(options);
  FIELD(route);
  FIELD(device);
  FIELD(precision);
  NUMBER(batch);
  NUMBER(threads);
  FIELD(scenario);
  FIELD(cache_state);
  NUMBER(label);
  if (config->copy) NUMBER(copy); /* 0 is left out: keys equal those of earlier releases */
  if (config->load) NUMBER(load);
#undef FIELD
#undef NUMBER
  hash_hex(config->key, canonical, at < size ? at : size);
}
