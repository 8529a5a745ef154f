/* table: the report on a terminal. A block for each model: ranked rows, fastest first, then rows without a rank with the
 * reason; then models by engines, and notes on the figures.
 *
 * All models of a study have the same columns. Empty columns are omitted. In a narrow terminal the least important columns are
 * omitted first, unless the user asked for them. Color only on request; the rest is plain UTF-8 text.
 */
#include "report.h"

#include <math.h>
#include <stdlib.h>

/* Columns that are not one field of a record, and columns that every study shows. */
enum special {
  COL_RANK,
  COL_NAME,
  COL_P50,
  COL_WIDTH,
  COL_BEST,
  COL_NATIVE,
  COL_P99,
  COL_FIRST,
  COL_TASK,
  COL_THROUGHPUT,
  COL_COMPILE,
  COL_CACHED,
  COL_LOAD,
  COL_READY,
  COL_MEMORY,
  COL_SIZE,
  COL_LIMIT,
  COL_ACCURACY,
  COL_FLAGS,
  COL_COUNT
};
static const struct {
  const char *title;
  const char *name; /* name for --columns; NULL: the title */
  bool is_text;     /* left-aligned */
  int drop; /* order in which columns are omitted in a narrow terminal; 0: never; -1: shown only on request */
} specials[COL_COUNT] = {
    [COL_RANK] = {"#", "rank", false, 0},
    [COL_NAME] = {"backend", NULL, true, 0},
    [COL_P50] = {"p50", NULL, false, 0},
    [COL_WIDTH] = {"\xc2\xb1", "interval", false, 9},
    [COL_BEST] = {"vs fastest", NULL, true, 0},
    [COL_NATIVE] = {"vs native", NULL, true, 3},
    [COL_P99] = {"p99", NULL, false, 6},
    [COL_FIRST] = {"first token", "first_token", false, 0},
    [COL_TASK] = {"accuracy", "task", false, 0},
    [COL_THROUGHPUT] = {"per s", NULL, false, 2},
    [COL_COMPILE] = {"compile", NULL, false, 8},
    [COL_CACHED] = {"cached", NULL, false, 1},
    [COL_LOAD] = {"load", NULL, false, 7},
    [COL_READY] = {"start-up", NULL, false, -1},
    [COL_MEMORY] = {"memory", NULL, false, 8},
    [COL_SIZE] = {"size", NULL, false, 4},
    [COL_LIMIT] = {"% limit", "limit_share", false, 5},
    [COL_ACCURACY] = {"rel L2", NULL, false, 3},
    [COL_FLAGS] = {"flags", NULL, true, 0},
};

enum { MOST_COLUMNS = 64 };
/* The columns of the study. */
struct layout {
  size_t count;
  bool is_asked; /* by the user: shown even if empty */
  struct shown_column {
    int special; /* -1: `column` */
    const struct column *column;
    size_t width; /* 0: not shown */
  } at[MOST_COLUMNS];
};
/* The shown text of all rows: [record_count][layout.count]. */
struct sheet {
  const struct summary *summary;
  struct layout layout;
  struct strbuf *cells;
};
enum color { PLAIN, BOLD, DIM, GREEN, YELLOW, RED, CYAN };
static const char *const color_codes[] = {"0", "1", "2", "32", "33", "31", "36"};

static void begin_color(struct tty tty, enum color color) {
  if (tty.color && color != PLAIN) strbuf_printf(tty.out, "\x1b[%sm", color_codes[color]);
}
static void end_color(struct tty tty, enum color color) {
  if (tty.color && color != PLAIN) LITERAL(tty.out, "\x1b[0m");
}
static void put_repeated(struct strbuf *out, size_t count) {
  for (size_t i = 0; i < count; i++) LITERAL(out, " ");
}
static const char *shown(const struct strbuf *text) { return text->at ? text->at : ""; }

/* -- which columns */

static const char *title_of(const struct shown_column *column) {
  return column->special >= 0 ? specials[column->special].title : column->column->title;
}
static bool is_text(const struct shown_column *column) {
  return column->special >= 0 ? specials[column->special].is_text
                              : !column_is_number(column->column);
}
static int drop_of(const struct shown_column *column) {
  return column->special >= 0 ? specials[column->special].drop : 0;
}

/* "rel_l2", "rel-l2" and "Rel L2" are one name. */
static char plain(char c) { return strchr("-_ ", c) ? '_' : (char)(c | 0x20); }
static bool same_name(const char *a, const char *b) {
  while (*a && *b && plain(*a) == plain(*b)) a++, b++;
  return *a == *b;
}

static const char *special_name(size_t c) {
  return specials[c].name ? specials[c].name : specials[c].title;
}
/* "p99" of "latency_ms.p99" */
static const char *last_part(const char *key) {
  const char *dot = strrchr(key, '.');
  return dot && !(dot[1] >= '0' && dot[1] <= '9') ? dot + 1 : key;
}

static bool find_column(const char *name, struct shown_column *out) {
  for (int c = 0; c < COL_COUNT; c++)
    if (same_name(name, special_name((size_t)c)) || same_name(name, specials[c].title))
      return *out = (struct shown_column){.special = c}, true;
  for (size_t c = 0; c < column_count; c++)
    if (same_name(name, columns[c].key) || same_name(name, last_part(columns[c].key)) ||
        same_name(name, columns[c].title))
      return *out = (struct shown_column){.special = -1, .column = &columns[c]}, true;
  return false;
}

static const char *nearest_column(const char *name) {
  const char *best = NULL;
  size_t least = 4;
  for (size_t c = 0; c < COL_COUNT + column_count; c++) {
    const char *known = c < COL_COUNT ? special_name(c) : last_part(columns[c - COL_COUNT].key);
    const size_t distance = edit_distance(name, known);
    if (distance < least) {
      least = distance;
      best = known;
    }
  }
  return best;
}

static MUST_USE hone_status unknown_column(struct ctx *ctx, const char *name) {
  const char *best = nearest_column(name);
  return fail(ctx, HONE_E_USAGE, place_name(name),
              "no such column%s%s%s; 'hone list columns' lists them", best ? "; did you mean " : "",
              best ? best : "", best ? "?" : "");
}

static void add_special(struct layout *layout, int special) {
  layout->at[layout->count++] = (struct shown_column){.special = special};
}

/* Rank and name are always first. */
static MUST_USE hone_status read_columns(struct ctx *ctx, const char *list, struct layout *out) {
  *out = (struct layout){0};
  if (!list) {
    for (int c = 0; c < COL_COUNT; c++)
      if (specials[c].drop >= 0) add_special(out, c);
    return HONE_OK;
  }
  out->is_asked = true;
  add_special(out, COL_RANK);
  add_special(out, COL_NAME);
  while (*list) {
    char name[64];
    struct shown_column column;
    const size_t length = strcspn(list, ",");
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : 63, list);
    if (!length || length >= sizeof name || !find_column(name, &column))
      return unknown_column(ctx, name);
    if (out->count == MOST_COLUMNS)
      return fail(ctx, HONE_E_USAGE, place_name("--columns"), "more than %d columns", MOST_COLUMNS);
    if (column.special != COL_RANK && column.special != COL_NAME) out->at[out->count++] = column;
    list += length + (list[length] == ',');
  }
  return HONE_OK;
}

hone_status table_columns_check(struct ctx *ctx, const char *list) {
  struct layout layout;
  return read_columns(ctx, list, &layout);
}

/* -- the fields */

static void take_safe(struct strbuf *out, struct strbuf *untrusted, size_t max) {
  if (untrusted->failed) out->failed = true;
  tty_text((struct tty){out, false}, shown(untrusted), max);
  strbuf_deinit(untrusted);
}

static bool is_known(double x) { return isfinite(x) && x >= 0; }

static void fill_ratio(const struct summary *summary, size_t i, size_t against, bool is_best,
                       struct strbuf *out) {
  if (is_best && !summary->records[i].rank)
    strbuf_puts(out, unranked_text(&summary->records[i]));
  else
    put_verdict(out, summary, i, against);
}

static void fill_special(const struct summary *summary, size_t begin, size_t native, size_t i,
                         int special, struct strbuf *out) {
  const struct record *record = &summary->records[i];
  const struct process_record *facts = &record->worst;
  switch ((enum special)special) {
    case COL_RANK:
      if (record->rank) strbuf_printf(out, "%d", record->rank);
      if (!record->rank) LITERAL(out, "-");
      return;
    case COL_NAME:
      put_row_name(out, record);
      return;
    case COL_P50:
      put_latency(out, record->p50_ms);
      return;
    case COL_WIDTH:
      put_half_width(out, record);
      return;
    case COL_BEST:
      fill_ratio(summary, i, begin, true, out);
      return;
    case COL_NATIVE:
      if (native != begin) fill_ratio(summary, i, native, false, out);
      return;
    case COL_P99:
      if (is_known(record->p99_ms)) put_latency(out, record->p99_ms);
      return;
    case COL_FIRST:
      if (is_known(record->first_token_p50_ms)) put_latency(out, record->first_token_p50_ms);
      return;
    case COL_TASK:
      put_task(out, record);
      return;
    case COL_THROUGHPUT:
      put_significant(out, record->throughput_per_s, 4);
      return;
    case COL_COMPILE:
      if (is_known(facts->compile_ms)) put_ms(out, facts->compile_ms);
      if (compiles_in_load(record)) LITERAL(out, "in load");
      return;
    case COL_CACHED:
      if (is_known(facts->cached_compile_ms)) put_ms(out, facts->cached_compile_ms);
      return;
    case COL_LOAD:
      if (is_known(facts->load_ms)) put_ms(out, facts->load_ms);
      return;
    case COL_READY:
      if (is_known(ready_ms(record))) put_ms(out, ready_ms(record));
      return;
    case COL_MEMORY:
      if (memory_of(record) >= 0) put_bytes(out, (double)memory_of(record));
      return;
    case COL_SIZE:
      if (facts->artifact_bytes >= 0) put_bytes(out, (double)facts->artifact_bytes);
      return;
    case COL_LIMIT:
      if (is_known(record->limit_share)) put_limit(out, record);
      return;
    case COL_ACCURACY:
      if (is_known(facts->rel_l2)) put_scientific(out, facts->rel_l2);
      return;
    case COL_FLAGS:
      flags_format(record->flags, out);
      return;
    case COL_COUNT:
      return;
  }
}

static struct strbuf *config_of(const struct sheet *sheet, size_t i, size_t column) {
  return &sheet->cells[i * sheet->layout.count + column];
}

static void fill_group(const struct sheet *sheet, size_t begin, size_t end) {
  const size_t native = native_of_group(sheet->summary, begin, end);
  for (size_t i = begin; i < end; i++) {
    if (!is_measured(&sheet->summary->records[i])) continue;
    for (size_t c = 0; c < sheet->layout.count; c++) {
      const struct shown_column *column = &sheet->layout.at[c];
      struct strbuf value = {0};
      if (column->special >= 0)
        fill_special(sheet->summary, begin, native, i, column->special, &value);
      else
        put_column(&value, &sheet->summary->records[i], column->column);
      if (sheet->layout.is_asked && !value.length) LITERAL(&value, "\xe2\x80\x93");
      take_safe(config_of(sheet, i, c), &value, 60);
    }
  }
}

/* -- what fits */

static void measure(struct sheet *sheet) {
  for (size_t c = 0; c < sheet->layout.count; c++) {
    size_t widest = 0;
    for (size_t i = 0; i < sheet->summary->record_count; i++) {
      const size_t width = shown_width(shown(config_of(sheet, i, c)));
      if (width > widest) widest = width;
    }
    const size_t title = shown_width(title_of(&sheet->layout.at[c]));
    sheet->layout.at[c].width = widest == 0 ? 0 : widest > title ? widest : title;
  }
}

static size_t total_width(const struct layout *layout) {
  size_t total = 0;
  for (size_t c = 0; c < layout->count; c++)
    total += layout->at[c].width ? layout->at[c].width + 2 : 0;
  return total;
}

/* Omits the least important columns until the rest fits, then adds those back that still fit. */
static void drop_columns(struct layout *layout, size_t width) {
  size_t wanted[MOST_COLUMNS];
  for (size_t c = 0; c < layout->count; c++) wanted[c] = layout->at[c].width;
  for (int order = 1; order <= 9 && total_width(layout) > width; order++)
    for (size_t c = 0; c < layout->count; c++)
      if (drop_of(&layout->at[c]) == order) layout->at[c].width = 0;
  for (int order = 9; order >= 1; order--)
    for (size_t c = 0; c < layout->count; c++)
      if (drop_of(&layout->at[c]) == order && !layout->at[c].width && wanted[c] &&
          total_width(layout) + wanted[c] + 2 <= width)
        layout->at[c].width = wanted[c];
}

/* -- the lines */

static enum color color_of(const struct summary *summary, size_t begin, size_t i, int special) {
  const struct record *record = &summary->records[i];
  const struct comparison *comparison = find_comparison(summary, i, begin);
  if (special == COL_FLAGS) return YELLOW;
  if (special == COL_NAME && is_native(record)) return CYAN;
  if (special == COL_P50 && record->rank) return BOLD;
  if (special != COL_BEST) return PLAIN;
  if (record->rank == 0) return RED;
  if (record->rank == 1) return is_decided(summary, i) ? GREEN : DIM;
  if (!comparison) return PLAIN;
  return comparison->verdict == VERDICT_tie         ? GREEN
         : comparison->verdict == VERDICT_undecided ? DIM
                                                    : PLAIN;
}

static void put_cell(struct tty tty, const char *text, size_t width, bool to_left, enum color color,
                     bool is_last) {
  const size_t used = shown_width(text), padding = width > used ? width - used : 0;
  LITERAL(tty.out, "  ");
  if (!to_left) put_repeated(tty.out, padding);
  begin_color(tty, color);
  strbuf_puts(tty.out, text);
  end_color(tty, color);
  if (to_left && !is_last) put_repeated(tty.out, padding);
}

static size_t last_column(const struct layout *layout) {
  size_t last = 0;
  for (size_t c = 0; c < layout->count; c++)
    if (layout->at[c].width) last = c;
  return last;
}

static void put_titles(struct tty tty, const struct sheet *sheet) {
  const size_t last = last_column(&sheet->layout);
  begin_color(tty, DIM);
  for (size_t c = 0; c <= last; c++)
    if (sheet->layout.at[c].width)
      put_cell(tty, title_of(&sheet->layout.at[c]), sheet->layout.at[c].width,
               is_text(&sheet->layout.at[c]), PLAIN, c == last);
  end_color(tty, DIM);
  LITERAL(tty.out, "\n");
}

static void put_row(struct tty tty, const struct sheet *sheet, size_t begin, size_t i) {
  size_t last = last_column(&sheet->layout);
  while (last > 0 && (!sheet->layout.at[last].width || !*shown(config_of(sheet, i, last)))) last--;
  for (size_t c = 0; c <= last; c++)
    if (sheet->layout.at[c].width)
      put_cell(tty, shown(config_of(sheet, i, c)), sheet->layout.at[c].width,
               is_text(&sheet->layout.at[c]),
               color_of(sheet->summary, begin, i, sheet->layout.at[c].special), c == last);
  LITERAL(tty.out, "\n");
}

static bool name_failures(const struct summary *summary, size_t begin, size_t end, size_t i,
                          struct strbuf *out) {
  struct strbuf names = {0};
  const bool is_first = put_failed_names(&names, summary, begin, end, i);
  take_safe(out, &names, 80);
  return is_first;
}

/* " openvino unsupported at convert: the engine's message" */
static void put_failure(struct tty tty, const struct record *record, const char *names,
                        size_t name_width, size_t width) {
  LITERAL(tty.out, "     ");
  strbuf_puts(tty.out, names);
  const size_t used = shown_width(names);
  put_repeated(tty.out, (name_width > used ? name_width - used : 0) + 2);
  begin_color(tty, RED);
  strbuf_puts(tty.out, unranked_text(record));
  end_color(tty, RED);
  if (record->stage != STAGE_none) strbuf_printf(tty.out, " at %s", stage_text(record->stage));
  const char *why = record->status == STATUS_ok ? unranked_help(record) : record->reason;
  if (why[0]) {
    LITERAL(tty.out, ": ");
    tty_text(tty, why, width > 60 ? 3 * width : 180);
  }
  LITERAL(tty.out, "\n");
}

static size_t widest_names(const struct summary *summary, size_t begin, size_t end) {
  size_t widest = 0;
  for (size_t i = begin; i < end; i++) {
    struct strbuf names = {0};
    if (!summary->records[i].rank && name_failures(summary, begin, end, i, &names)) {
      const size_t width = shown_width(shown(&names));
      if (width > widest) widest = width;
    }
    strbuf_deinit(&names);
  }
  return widest;
}

static void put_reasons(struct tty tty, const struct summary *summary, size_t begin, size_t end,
                        size_t width) {
  bool is_first = true;
  const size_t widest = widest_names(summary, begin, end);
  for (size_t i = begin; i < end; i++) {
    struct strbuf names = {0};
    if (summary->records[i].rank || !name_failures(summary, begin, end, i, &names)) {
      strbuf_deinit(&names);
      continue;
    }
    if (is_first) {
      begin_color(tty, DIM);
      LITERAL(tty.out, "  not ranked\n");
      end_color(tty, DIM);
    }
    is_first = false;
    put_failure(tty, &summary->records[i], shown(&names), widest, width);
    if (names.failed) tty.out->failed = true;
    strbuf_deinit(&names);
  }
}

static void put_model(struct tty tty, const struct record *record) {
  struct strbuf facts = {0};
  begin_color(tty, BOLD);
  tty_text(tty, record->config.model, 80);
  end_color(tty, BOLD);
  LITERAL(tty.out, "  ");
  put_group_facts(&facts, record);
  if (!strcmp(record->config.precision, "fp32")) /* a quantised file runs as it is */
    strbuf_printf(&facts, " \xc2\xb7 %s",
                  strcmp(record->worst.effective_precision, "int8") ? "fp32" : "int8");
  begin_color(tty, DIM);
  tty_text(tty, shown(&facts), 120);
  end_color(tty, DIM);
  LITERAL(tty.out, "\n");
  if (facts.failed) tty.out->failed = true;
  strbuf_deinit(&facts);
  struct strbuf open = {0};
  put_open_dimensions(&open, record);
  if (open.length) LITERAL(tty.out, "  ");
  tty_text(tty, shown(&open), 400);
  if (open.length) LITERAL(tty.out, "\n");
  if (open.failed) tty.out->failed = true;
  strbuf_deinit(&open);
}

static void put_aa(struct tty tty, const struct summary *summary, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i++) {
    const double resolution = aa_resolution(summary, i);
    if (isnan(resolution)) continue;
    LITERAL(tty.out, "  ");
    tty_text(tty, summary->records[i].config.backend, 40);
    LITERAL(tty.out, " twice: differences below ");
    put_percent(tty.out, resolution);
    LITERAL(tty.out, " cannot be detected on this machine at present\n");
  }
}

static void put_group(struct tty tty, const struct sheet *sheet, size_t begin, size_t end,
                      size_t width) {
  bool has_titles = false;
  put_model(tty, &sheet->summary->records[begin]);
  for (size_t i = begin; i < end; i++) {
    if (!is_measured(&sheet->summary->records[i])) continue;
    if (!has_titles) put_titles(tty, sheet);
    has_titles = true;
    put_row(tty, sheet, begin, i);
  }
  put_reasons(tty, sheet->summary, begin, end, width);
  put_aa(tty, sheet->summary, begin, end);
  LITERAL(tty.out, "\n");
}

/* -- models by engines, if there are several of both */

static void put_matrix_cell(struct tty tty, const struct summary *summary,
                            const struct matrix *matrix, size_t g, size_t e, size_t width,
                            bool is_last) {
  const size_t i = matrix->cells[g * matrix->engine_count + e];
  const struct comparison *comparison =
      i == SIZE_MAX ? NULL : find_comparison(summary, i, matrix->begins[g]);
  struct strbuf text = {0};
  enum color color = DIM;
  if (i == SIZE_MAX) {
    LITERAL(&text, "\xe2\x80\x93");
  } else if (summary->records[i].rank == 0) {
    strbuf_puts(&text, unranked_text(&summary->records[i]));
    color = RED;
  } else {
    put_ratio(&text, matrix_ratio(matrix, summary, g, e));
    if (comparison && comparison->verdict == VERDICT_tie) LITERAL(&text, " tie");
    if (comparison && comparison->verdict == VERDICT_undecided) LITERAL(&text, " ?");
    color = is_among_first(summary, i, matrix->begins[g]) ? GREEN : PLAIN;
  }
  put_cell(tty, shown(&text), width, true, color, is_last);
  if (text.failed) tty.out->failed = true;
  strbuf_deinit(&text);
}

#define MATRIX_TITLE "median / the fastest"
enum { MATRIX_NAME_MOST = 44, MATRIX_CELL = 14 };

static void take_matrix_name(const struct summary *summary, size_t begin, struct strbuf *out) {
  const struct config *config = &summary->records[begin].config;
  struct strbuf name = {0};
  strbuf_printf(&name, "%s %d\xc2\xb7%d", config->model, config->batch, config->threads);
  put_group_rest(&name, config, " ");
  take_safe(out, &name, MATRIX_NAME_MOST);
}

static size_t matrix_name_width(const struct summary *summary, const struct matrix *matrix) {
  size_t widest = sizeof MATRIX_TITLE - 1;
  for (size_t g = 0; g < matrix->group_count; g++) {
    struct strbuf name = {0};
    take_matrix_name(summary, matrix->begins[g], &name);
    const size_t width = shown_width(shown(&name));
    if (width > widest) widest = width;
    strbuf_deinit(&name);
  }
  return widest;
}

static void put_matrix_titles(struct tty tty, const struct matrix *matrix, size_t name_width,
                              size_t from, size_t to) {
  begin_color(tty, BOLD);
  put_cell(tty, MATRIX_TITLE, name_width, true, PLAIN, false);
  end_color(tty, BOLD);
  for (size_t e = from; e < to; e++) {
    struct strbuf name = {0}, safe = {0};
    const struct config *config = matrix->engines[e].config;
    strbuf_puts(&name, config->backend);
    char marks[256];
    if (engine_marks(config, marks)[0]) strbuf_printf(&name, " %s", marks);
    take_safe(&safe, &name, MATRIX_CELL);
    put_cell(tty, shown(&safe), MATRIX_CELL, true, DIM, e + 1 == to);
    strbuf_deinit(&safe);
  }
  LITERAL(tty.out, "\n");
}

static void put_matrix_mean(struct tty tty, const struct matrix_mean *mean, size_t name_width,
                            size_t from, size_t to) {
  struct strbuf name = {0}, safe = {0};
  strbuf_puts(&name, "geometric mean");
  if (mean->precision) strbuf_printf(&name, ", %s", mean->precision);
  take_safe(&safe, &name, name_width);
  put_cell(tty, shown(&safe), name_width, true, PLAIN, false);
  strbuf_deinit(&safe);
  for (size_t e = from; e < to; e++) {
    const struct engine_mean *engine = &mean->engines[e];
    struct strbuf text = {0};
    put_ratio(&text, engine->ratio);
    if (engine->ranked < mean->group_count)
      strbuf_printf(&text, " (%zu of %zu)", engine->ranked, mean->group_count);
    put_cell(tty, engine->ranked ? shown(&text) : "\xe2\x80\x93", MATRIX_CELL, true, BOLD,
             e + 1 == to);
    strbuf_deinit(&text);
  }
  LITERAL(tty.out, "\n");
}

static void put_matrix_totals(struct tty tty, const struct matrix *matrix, size_t name_width,
                              size_t from, size_t to) {
  for (size_t m = 0; m < matrix->mean_count; m++)
    put_matrix_mean(tty, &matrix->means[m], name_width, from, to);
  put_cell(tty, "portability", name_width, true, PLAIN, false);
  for (size_t e = from; e < to; e++) {
    struct strbuf text = {0};
    put_percent(&text, matrix->engines[e].portability);
    put_cell(tty, shown(&text), MATRIX_CELL, true, PLAIN, e + 1 == to);
    strbuf_deinit(&text);
  }
  LITERAL(tty.out, "\n\n");
}

/* As many engines as fit into the terminal's width, then the others below. */
static void put_matrix(struct tty tty, const struct summary *summary, const struct matrix *matrix,
                       size_t width) {
  const size_t name_width = matrix_name_width(summary, matrix);
  const size_t room = width > name_width + MATRIX_CELL + 4 ? width - name_width - 2 : MATRIX_CELL;
  const size_t most = room / (MATRIX_CELL + 2) ? room / (MATRIX_CELL + 2) : 1;
  if (matrix->group_count < 2 || matrix->engine_count < 2) return;
  for (size_t from = 0, to; from < matrix->engine_count; from = to) {
    to = from + most < matrix->engine_count ? from + most : matrix->engine_count;
    put_matrix_titles(tty, matrix, name_width, from, to);
    for (size_t g = 0; g < matrix->group_count; g++) {
      struct strbuf name = {0};
      take_matrix_name(summary, matrix->begins[g], &name);
      put_cell(tty, shown(&name), name_width, true, PLAIN, false);
      strbuf_deinit(&name);
      for (size_t e = from; e < to; e++)
        put_matrix_cell(tty, summary, matrix, g, e, MATRIX_CELL, e + 1 == to);
      LITERAL(tty.out, "\n");
    }
    put_matrix_totals(tty, matrix, name_width, from, to);
  }
}

/* "zoo:mlp, batch 1, 2 threads: openvino 26 us, 1.82x ahead of native; start-up 210 ms, runner-up 1.2 s, break-even after 20
   inferences" */
static void put_winners(struct tty tty, const struct summary *summary,
                        const struct matrix *matrix) {
  static const char *const between[] = {
      "", ": ", " ", ", ", " ahead of ", "; start-up ", ", runner-up ", ", break-even after "};
  if (matrix->group_count < 2 || matrix->engine_count < 2) return;
  for (size_t g = 0; g < matrix->group_count; g++) {
    struct winner winner;
    if (!winner_of_group(summary, matrix->begins[g], &winner)) continue;
    for (size_t c = 0; c < WINNER_COLUMNS; c++) {
      struct strbuf text = {0}, safe = {0};
      if (winner.next == SIZE_MAX && c > 2) break;
      if (c + 1 == WINNER_COLUMNS && !isfinite(winner.pays_after)) break;
      put_winner(&text, summary, &winner, c);
      strbuf_puts(tty.out,
                  c + 1 == WINNER_COLUMNS && winner.pays_after == 0 ? ", break-even " : between[c]);
      take_safe(&safe, &text, 120);
      strbuf_puts(tty.out, shown(&safe));
      strbuf_deinit(&safe);
    }
    LITERAL(tty.out, "\n");
  }
  LITERAL(tty.out, "\n");
}

/* -- notes on the figures */

/* Explains the marks of this table. */
static void put_flag_notes(struct tty tty, const struct summary *summary) {
  uint32_t flags = 0;
  bool has_winograd = false;
  for (size_t i = 0; i < summary->record_count; i++) {
    flags |= summary->records[i].flags;
    has_winograd |= isfinite(summary->records[i].winograd_limit_share);
  }
  for (int f = 0; f < FLAG_BIT_COUNT; f++)
    if (flags & (1u << f))
      strbuf_printf(tty.out, "%s: %s\n", flag_text((enum record_flag)f),
                    flag_help((enum record_flag)f));
  if (has_winograd)
    LITERAL(tty.out,
            "% limit: roofline limit of the direct algorithm; W: of Winograd, with a quarter of "
            "the multiplications in 3x3 convolutions\n");
}

static void put_footer(struct tty tty, const struct summary *summary) {
  size_t samples = 0, undecided = 0;
  int processes = 0, rounds = 0;
  for (size_t i = 0; i < summary->record_count; i++) {
    const struct record *record = &summary->records[i];
    samples += record->sample_count;
    if (record->processes > processes) processes = record->processes;
    if (record->rounds > rounds) rounds = record->rounds;
  }
  for (size_t i = 0; i < summary->comparison_count; i++)
    undecided += summary->comparisons[i].verdict == VERDICT_undecided;
  begin_color(tty, DIM);
  if (samples)
    strbuf_printf(tty.out,
                  "%zu samples, up to %d process%s and %d round%s for each row; \xc2\xb1 is the 95 "
                  "%% interval of p50; tie: the interval of the ratio contains 1\n",
                  samples, processes, processes == 1 ? "" : "es", rounds, rounds == 1 ? "" : "s");
  put_flag_notes(tty, summary);
  if (undecided)
    LITERAL(tty.out, "undecided: a verdict needs 3 processes and 12 rounds of both engines\n");
  if (!summary->study.finished)
    LITERAL(tty.out, "the study is not finished: the same command resumes it\n");
  end_color(tty, DIM);
}

static MUST_USE hone_status put_sheet(struct ctx *ctx, struct arena *arena, struct tty tty,
                                      struct sheet *sheet, size_t width) {
  const struct summary *summary = sheet->summary;
  struct matrix matrix;
  TRY(matrix_make(ctx, arena, summary, &matrix));
  for (size_t begin = 0, end; begin < summary->record_count; begin = end) {
    end = group_end(summary, begin);
    fill_group(sheet, begin, end);
  }
  measure(sheet);
  drop_columns(&sheet->layout, width);
  for (size_t begin = 0, end; begin < summary->record_count; begin = end) {
    end = group_end(summary, begin);
    put_group(tty, sheet, begin, end, width);
  }
  put_matrix(tty, summary, &matrix, width);
  put_winners(tty, summary, &matrix);
  put_footer(tty, summary);
  return HONE_OK;
}

/* Terminal columns of a word, without color codes. */
static size_t word_width(const char *word, size_t length) {
  size_t width = 0;
  for (size_t i = 0; i < length; i++) {
    if (word[i] == '\033')
      while (i + 1 < length && word[i] != 'm') i++;
    else
      width += ((unsigned char)word[i] & 0xc0) != 0x80;
  }
  return width;
}

/* Sentences are wrapped between words. Table rows, which are indented, already fit. */
static void wrap_sentences(struct strbuf *out, size_t from, size_t width) {
  struct strbuf whole = {0};
  strbuf_append(&whole, out->at + from, out->length - from);
  out->length = from;
  for (const char *at = whole.at; at && *at;) {
    const size_t line = strcspn(at, "\n");
    const bool is_row = *at == ' ';
    for (size_t i = 0, used = 0; i < line;) {
      const size_t blanks = strspn(at + i, " "), word = strcspn(at + i + blanks, " \n");
      const size_t more = blanks + word_width(at + i + blanks, word);
      const bool breaks = !is_row && used && used + more > width;
      strbuf_puts(out, breaks ? "\n  " : "");
      strbuf_append(out, at + i + (breaks ? blanks : 0), word + (breaks ? 0 : blanks));
      used = breaks ? 2 + more - blanks : used + more;
      i += blanks + word;
    }
    strbuf_puts(out, at[line] ? "\n" : "");
    at += line + (at[line] != 0);
  }
  if (whole.failed) out->failed = true;
  strbuf_deinit(&whole);
}

hone_status render_table(struct ctx *ctx, const struct summary *summary,
                         const struct render_options *options, struct strbuf *out) {
  const struct tty tty = {out, options && options->color};
  const size_t width = options && options->width > 0 ? (size_t)options->width : 100;
  const size_t from = out->length;
  struct sheet sheet = {.summary = summary};
  struct arena *arena;
  TRY(read_columns(ctx, options ? options->columns : NULL, &sheet.layout));
  if (summary->record_count == 0) {
    LITERAL(out, "no rows\n");
    return strbuf_finish(ctx, out);
  }
  TRY(arena_create(ctx, 0, &arena));
  const size_t count = summary->record_count * sheet.layout.count;
  sheet.cells = calloc(count, sizeof *sheet.cells);
  hone_status status = sheet.cells ? put_sheet(ctx, arena, tty, &sheet, width)
                                   : fail(ctx, HONE_E_OOM, place_none(), "no memory for the table");
  for (size_t i = 0; sheet.cells && i < count; i++) {
    if (sheet.cells[i].failed) out->failed = true;
    strbuf_deinit(&sheet.cells[i]);
  }
  free(sheet.cells);
  arena_destroy(arena);
  if (options && options->width > 0 && out->at) wrap_sentences(out, from, width);
  return status ? status : strbuf_finish(ctx, out);
}
