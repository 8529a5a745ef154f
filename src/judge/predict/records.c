/* Reads files of `hone dataset export` (RFC 4180; the header has column keys and "feature."
 * names) as training rows. Only the columns that training needs are read. The file is untrusted:
 * every field is checked against a range. */
#include "predict.h"

#include <math.h>

static const char *const needed[] = {"model",
                                     "model_hash",
                                     "backend",
                                     "variant",
                                     "device",
                                     "scenario",
                                     "label",
                                     "load",
                                     "status",
                                     "flags",
                                     "latency_ms.p50",
                                     "rss_steady_bytes",
                                     "artifact_size_bytes"};
enum { NEEDED = COUNT(needed), SLOTS = NEEDED + FEATURE_COUNT, MOST_COLUMNS = 512, FIELD = 1024 };
#define MOST_FEATURE 1000.0 /* of a feature: amounts are logarithms */
static const float when_absent[FEATURE_COUNT] = {
#define FEATURE(name, expression, help, absent) absent,
#include "features.def"
#undef FEATURE
};

struct records {
  struct ctx *ctx;
  const char *path, *at, *end;
  size_t row;   /* the header is 0 */
  size_t count; /* columns */
  /* by column: index of `needed`, NEEDED + index of a feature, or SLOTS for any other column */
  size_t slots[MOST_COLUMNS];
  const struct column *columns[NEEDED];
};

static hone_status wrong(const struct records *r, const char *what, const char *which) {
  return fail(r->ctx, HONE_E_FORMAT, place_file(r->path), "row %zu: %s%.60s", r->row, what, which);
}

/* Reads a field, truncated to FIELD. Returns the delimiter after it: a comma, a newline, or 0 at
   the end. */
static char next_field(struct records *r, char out[FIELD]) {
  const bool is_quoted = r->at < r->end && *r->at == '"';
  size_t n = 0;
  for (r->at += is_quoted; r->at < r->end; r->at++) {
    if (is_quoted && *r->at == '"' && (++r->at == r->end || *r->at != '"')) break;
    if (!is_quoted && memchr(",\r\n", *r->at, 3)) break;
    if (n + 1 < FIELD) out[n++] = *r->at;
  }
  out[n] = 0;
  while (r->at < r->end && *r->at == '\r') r->at++;
  return r->at < r->end ? *r->at++ : 0;
}

static size_t slot_of(const char *name) {
  size_t slot = 0;
  while (slot < NEEDED && strcmp(name, needed[slot])) slot++;
  if (slot < NEEDED || strncmp(name, "feature.", 8)) return slot < NEEDED ? slot : SLOTS;
  while (slot < SLOTS && strcmp(name + 8, feature_names[slot - NEEDED])) slot++;
  return slot;
}

static hone_status read_header(struct records *r) {
  char name[FIELD], delimiter = ',';
  bool seen[SLOTS + 1] = {false};
  while (delimiter == ',') {
    delimiter = next_field(r, name);
    if (r->count == MOST_COLUMNS) return wrong(r, "too many columns", "");
    seen[r->slots[r->count++] = slot_of(name)] = true;
  }
  for (size_t slot = 0; slot < SLOTS; slot++)
    if (!seen[slot] && (slot < NEEDED || isnan(when_absent[slot - NEEDED])))
      return wrong(r, "not a file of hone dataset export: has no column ",
                   slot < NEEDED ? needed[slot] : feature_names[slot - NEEDED]);
  for (size_t i = 0; i < NEEDED; i++)
    for (size_t c = 0; c < column_count; c++)
      if (!strcmp(columns[c].key, needed[i])) r->columns[i] = &columns[c];
  return delimiter == '\n' ? HONE_OK : wrong(r, "the header is not complete", "");
}

/* An empty field is NaN. */
static bool read_number(const char *text, double most, double *out) {
  *out = NAN;
  return !*text || parse_f64(text, -most, most, out);
}

static hone_status set_field(const struct records *r, size_t slot, const char *text,
                             struct record *record, float x[FEATURE_COUNT]) {
  double number;
  bool is_right = true;
  if (slot >= SLOTS) return HONE_OK;
  if (slot >= NEEDED) {
    is_right = read_number(text, MOST_FEATURE, &number);
    x[slot - NEEDED] = (float)number;
  } else if (column_is_number(r->columns[slot])) {
    is_right =
        read_number(text, 1e15, &number) && column_set_number(record, r->columns[slot], number);
  } else {
    is_right = column_set_text(record, r->columns[slot], text);
  }
  return is_right ? HONE_OK
                  : wrong(r, "invalid value in the column ",
                          slot < NEEDED ? needed[slot] : feature_names[slot - NEEDED]);
}

static hone_status read_row(struct records *r, struct record *record, float x[FEATURE_COUNT]) {
  char text[FIELD], delimiter = ',';
  size_t c = 0;
  *record = (struct record){.status = STATUS_COUNT};
  memcpy(x, when_absent, sizeof when_absent);
  r->row++;
  for (; delimiter == ',' && c < r->count; c++) {
    delimiter = next_field(r, text);
    TRY(set_field(r, r->slots[c], text, record, x));
  }
  if (c < r->count || (delimiter && delimiter != '\n'))
    return wrong(r, "fewer or more fields than the header", "");
  return HONE_OK;
}

static hone_status read_rows(struct records *r, struct arena *arena, struct model_names *names,
                             row_visitor *visit, void *user) {
  struct record record;
  float x[FEATURE_COUNT];
  TRY(read_header(r));
  while (r->at < r->end) {
    struct row_seen row = {.record = &record, .x = x};
    TRY(read_row(r, &record, x));
    for (size_t f = 0; f < FEATURE_COUNT; f++)
      if (!isfinite(x[f])) row.x = NULL;
    TRY(model_number(r->ctx, arena, names, &record.config, &row.model));
    TRY(visit(user, &row));
  }
  return HONE_OK;
}

static hone_status open_records(struct ctx *ctx, const char *path, struct mapping *map,
                                struct records *out) {
  TRY(file_map(ctx, path, map));
  const char *data = (const char *)map->data;
  *out = (struct records){.ctx = ctx, .path = path, .at = data, .end = data + map->size};
  return HONE_OK;
}

hone_status records_visit(struct ctx *ctx, struct arena *arena, const char *path,
                          struct model_names *names, row_visitor *visit, void *user) {
  struct mapping map;
  struct records r;
  TRY(open_records(ctx, path, &map, &r));
  const hone_status status = read_rows(&r, arena, names, visit, user);
  file_unmap(&map);
  return status;
}

hone_status records_check(struct ctx *ctx, const char *path) {
  struct mapping map;
  struct records r;
  TRY(open_records(ctx, path, &map, &r));
  const hone_status status = read_header(&r);
  file_unmap(&map);
  return status;
}
