/* table: the report on a terminal. A block a model: ranked rows fastest first, then what has no
 * rank and why, then what the figures are worth.
 *
 * Columns that hold nothing are left out; where the terminal is too narrow the least important go
 * first. Colour only if asked; everything else is UTF-8 text that a log or a diff can hold.
 */
#include "report.h"

#include <math.h>
#include <stdlib.h>

enum table_column {
  COL_RANK,
  COL_NAME,
  COL_P50,
  COL_WIDTH,
  COL_BEST,
  COL_NATIVE,
  COL_THROUGHPUT,
  COL_COMPILE,
  COL_CACHED,
  COL_LOAD,
  COL_MEMORY,
  COL_SIZE,
  COL_LIMIT,
  COL_ACCURACY,
  COL_FLAGS,
  COL_COUNT
};
static const struct {
  const char *title;
  bool is_text; /* to the left */
  int drop;     /* in which order columns go where it is narrow; 0: never */
} shown_columns[COL_COUNT] = {
    [COL_RANK] = {"#", false, 0},           [COL_NAME] = {"backend", true, 0},
    [COL_P50] = {"p50", false, 0},          [COL_WIDTH] = {"\xc2\xb1", false, 9},
    [COL_BEST] = {"vs fastest", true, 0},   [COL_NATIVE] = {"vs native", true, 8},
    [COL_THROUGHPUT] = {"per s", false, 2}, [COL_COMPILE] = {"compile", false, 7},
    [COL_CACHED] = {"cached", false, 1},    [COL_LOAD] = {"load", false, 6},
    [COL_MEMORY] = {"memory", false, 5},    [COL_SIZE] = {"size", false, 3},
    [COL_LIMIT] = {"% limit", false, 5},    [COL_ACCURACY] = {"rel L2", false, 4},
    [COL_FLAGS] = {"flags", true, 0},
};

/* The shown text of one group: [rows][COL_COUNT], rows counted from the group's first record. */
struct sheet {
  const struct summary *summary;
  size_t begin, end, native;
  struct text *cells;
  size_t widths[COL_COUNT]; /* 0: not shown */
};
enum color { PLAIN, BOLD, DIM, GREEN, YELLOW, RED, CYAN };
static const char *const color_codes[] = {"0", "1", "2", "32", "33", "31", "36"};

static void begin_color(struct tty tty, enum color color) {
  if (tty.color && color != PLAIN) text_printf(tty.out, "\x1b[%sm", color_codes[color]);
}
static void end_color(struct tty tty, enum color color) {
  if (tty.color && color != PLAIN) LITERAL(tty.out, "\x1b[0m");
}
static void put_repeated(struct text *out, size_t count) {
  for (size_t i = 0; i < count; i++) LITERAL(out, " ");
}

/* -- the cells ----------------------------------------------------------------------------------
 */

static void fill_name(const struct record *record, struct text *out) {
  struct text name = {0};
  put_row_name(&name, record);
  if (name.failed) out->failed = true;
  tty_text((struct tty){out, false}, name.at ? name.at : "", 40);
  text_deinit(&name);
}

static bool is_known(double x) { return isfinite(x) && x >= 0; }

static void fill_figures(const struct sheet *sheet, size_t i, struct text *cells) {
  const struct record *record = &sheet->summary->records[i];
  const struct incarnation *facts = &record->worst;
  if (record->rank) text_printf(&cells[COL_RANK], "%d", record->rank);
  if (!record->rank) LITERAL(&cells[COL_RANK], "-");
  fill_name(record, &cells[COL_NAME]);
  put_latency(&cells[COL_P50], record->p50_ms);
  put_half_width(&cells[COL_WIDTH], record);
  put_verdict(&cells[COL_BEST], sheet->summary, i, sheet->begin);
  if (sheet->native != sheet->begin)
    put_verdict(&cells[COL_NATIVE], sheet->summary, i, sheet->native);
  if (!record->rank) text_puts(&cells[COL_BEST], status_text(record->status));
  put_significant(&cells[COL_THROUGHPUT], record->throughput_per_s, 4);
  if (is_known(facts->compile_ms)) put_ms(&cells[COL_COMPILE], facts->compile_ms);
  if (is_known(facts->cached_compile_ms)) put_ms(&cells[COL_CACHED], facts->cached_compile_ms);
  if (compiles_in_load(record)) LITERAL(&cells[COL_COMPILE], "in load");
  if (is_known(facts->load_ms)) put_ms(&cells[COL_LOAD], facts->load_ms);
  if (memory_of(record) >= 0) put_bytes(&cells[COL_MEMORY], (double)memory_of(record));
  if (facts->artifact_bytes >= 0) put_bytes(&cells[COL_SIZE], (double)facts->artifact_bytes);
  if (is_known(record->limit_share)) put_percent(&cells[COL_LIMIT], record->limit_share);
  if (is_known(facts->rel_l2)) put_scientific(&cells[COL_ACCURACY], facts->rel_l2);
  flags_format(record->flags, &cells[COL_FLAGS]);
}

static struct text *cell_of(const struct sheet *sheet, size_t i, int column) {
  return &sheet->cells[(i - sheet->begin) * COL_COUNT + (size_t)column];
}

static const char *shown(const struct text *text) { return text->at ? text->at : ""; }

/* -- what fits ----------------------------------------------------------------------------------
 */

static void measure(struct sheet *sheet, size_t measured_end) {
  for (int c = 0; c < COL_COUNT; c++) {
    size_t widest = 0;
    for (size_t i = sheet->begin; i < measured_end; i++) {
      const size_t width = shown_width(shown(cell_of(sheet, i, c)));
      if (width > widest) widest = width;
    }
    const size_t title = shown_width(shown_columns[c].title);
    sheet->widths[c] = widest == 0 ? 0 : widest > title ? widest : title;
  }
}

static size_t total_width(const struct sheet *sheet) {
  size_t total = 0;
  for (int c = 0; c < COL_COUNT; c++) total += sheet->widths[c] ? sheet->widths[c] + 2 : 0;
  return total;
}

/* Drops the least important until the rest fits, then takes back what still has room. */
static void drop_columns(struct sheet *sheet, size_t width) {
  size_t wanted[COL_COUNT];
  memcpy(wanted, sheet->widths, sizeof wanted);
  for (int order = 1; order <= 9 && total_width(sheet) > width; order++)
    for (int c = 0; c < COL_COUNT; c++)
      if (shown_columns[c].drop == order) sheet->widths[c] = 0;
  for (int order = 9; order >= 1; order--)
    for (int c = 0; c < COL_COUNT; c++)
      if (shown_columns[c].drop == order && !sheet->widths[c] && wanted[c] &&
          total_width(sheet) + wanted[c] + 2 <= width)
        sheet->widths[c] = wanted[c];
}

/* -- the lines ----------------------------------------------------------------------------------
 */

static enum color color_of(const struct sheet *sheet, size_t i, int column) {
  const struct record *record = &sheet->summary->records[i];
  const struct comparison *comparison = find_comparison(sheet->summary, i, sheet->begin);
  if (column == COL_FLAGS) return YELLOW;
  if (column == COL_NAME && is_native(record)) return CYAN;
  if (column == COL_P50 && record->rank) return BOLD;
  if (column != COL_BEST) return PLAIN;
  if (record->rank == 0) return RED;
  if (record->rank == 1) return is_decided(sheet->summary, i) ? GREEN : DIM;
  if (!comparison) return PLAIN;
  return comparison->verdict == VERDICT_tie         ? GREEN
         : comparison->verdict == VERDICT_undecided ? DIM
                                                    : PLAIN;
}

static void put_cell(struct tty tty, const char *text, size_t width, bool is_text, enum color color,
                     bool is_last) {
  const size_t used = shown_width(text), padding = width > used ? width - used : 0;
  LITERAL(tty.out, "  ");
  if (!is_text) put_repeated(tty.out, padding);
  begin_color(tty, color);
  text_puts(tty.out, text);
  end_color(tty, color);
  if (is_text && !is_last) put_repeated(tty.out, padding);
}

static int last_column(const struct sheet *sheet) {
  int last = 0;
  for (int c = 0; c < COL_COUNT; c++)
    if (sheet->widths[c]) last = c;
  return last;
}

static void put_titles(struct tty tty, const struct sheet *sheet) {
  const int last = last_column(sheet);
  begin_color(tty, DIM);
  for (int c = 0; c <= last; c++)
    if (sheet->widths[c])
      put_cell(tty, shown_columns[c].title, sheet->widths[c], shown_columns[c].is_text, PLAIN,
               c == last);
  end_color(tty, DIM);
  LITERAL(tty.out, "\n");
}

static void put_row(struct tty tty, const struct sheet *sheet, size_t i) {
  int last = last_column(sheet);
  while (last > 0 && !*shown(cell_of(sheet, i, last))) last--;
  for (int c = 0; c <= last; c++)
    if (sheet->widths[c])
      put_cell(tty, shown(cell_of(sheet, i, c)), sheet->widths[c], shown_columns[c].is_text,
               color_of(sheet, i, c), c == last);
  LITERAL(tty.out, "\n");
}

static bool name_failures(const struct sheet *sheet, size_t i, struct text *out) {
  struct text names = {0};
  bool is_first = put_failed_names(&names, sheet->summary, sheet->begin, sheet->end, i);
  tty_text((struct tty){out, false}, shown(&names), 80);
  text_deinit(&names);
  return is_first;
}

/* "  openvino  unsupported at convert: the engine's words" */
static void put_failure(struct tty tty, const struct record *record, const char *names,
                        size_t name_width, size_t width) {
  LITERAL(tty.out, "     ");
  text_puts(tty.out, names);
  const size_t used = shown_width(names);
  put_repeated(tty.out, (name_width > used ? name_width - used : 0) + 2);
  begin_color(tty, RED);
  text_puts(tty.out, status_text(record->status));
  end_color(tty, RED);
  if (record->stage != STAGE_none) text_printf(tty.out, " at %s", stage_text(record->stage));
  if (record->reason[0]) {
    LITERAL(tty.out, ": ");
    tty_text(tty, record->reason, width > 60 ? 3 * width : 180);
  }
  LITERAL(tty.out, "\n");
}

static size_t widest_names(const struct sheet *sheet) {
  size_t widest = 0;
  for (size_t i = sheet->begin; i < sheet->end; i++) {
    struct text names = {0};
    if (!sheet->summary->records[i].rank && name_failures(sheet, i, &names)) {
      const size_t width = shown_width(shown(&names));
      if (width > widest) widest = width;
    }
    text_deinit(&names);
  }
  return widest;
}

static void put_reasons(struct tty tty, const struct sheet *sheet, size_t width) {
  bool is_first = true;
  const size_t widest = widest_names(sheet);
  for (size_t i = sheet->begin; i < sheet->end; i++) {
    struct text names = {0};
    if (sheet->summary->records[i].rank || !name_failures(sheet, i, &names)) {
      text_deinit(&names);
      continue;
    }
    if (is_first) {
      begin_color(tty, DIM);
      LITERAL(tty.out, "  not ranked\n");
      end_color(tty, DIM);
    }
    is_first = false;
    put_failure(tty, &sheet->summary->records[i], shown(&names), widest, width);
    if (names.failed) tty.out->failed = true;
    text_deinit(&names);
  }
}

static void put_model(struct tty tty, const struct record *record) {
  struct text facts = {0};
  begin_color(tty, BOLD);
  tty_text(tty, record->cell.model, 80);
  end_color(tty, BOLD);
  LITERAL(tty.out, "  ");
  put_group_facts(&facts, record);
  if (record->cell.precision[0]) text_printf(&facts, " \xc2\xb7 %s", record->cell.precision);
  begin_color(tty, DIM);
  tty_text(tty, shown(&facts), 120);
  end_color(tty, DIM);
  LITERAL(tty.out, "\n");
  if (facts.failed) tty.out->failed = true;
  text_deinit(&facts);
}

static void put_aa(struct tty tty, const struct sheet *sheet) {
  for (size_t i = sheet->begin; i < sheet->end; i++) {
    const double resolution = aa_resolution(sheet->summary, i);
    if (isnan(resolution)) continue;
    LITERAL(tty.out, "  ");
    tty_text(tty, sheet->summary->records[i].cell.backend, 40);
    LITERAL(tty.out, " twice: differences below ");
    put_percent(tty.out, resolution);
    LITERAL(tty.out, " cannot be shown on this machine now\n");
  }
}

static MUST_USE hone_status put_group(struct ctx *ctx, struct tty tty,
                                      const struct summary *summary, size_t begin, size_t end,
                                      size_t width) {
  struct sheet sheet = {summary, begin, end, native_of_group(summary, begin, end), NULL, {0}};
  size_t measured_end = begin;
  while (measured_end < end && is_measured(&summary->records[measured_end])) measured_end++;
  const size_t count = (measured_end - begin + 1) * COL_COUNT;
  sheet.cells = calloc(count, sizeof *sheet.cells);
  if (!sheet.cells) return fail(ctx, HONE_E_OOM, place_none(), "no memory for the table");
  for (size_t i = begin; i < measured_end; i++) fill_figures(&sheet, i, cell_of(&sheet, i, 0));
  measure(&sheet, measured_end);
  drop_columns(&sheet, width);
  put_model(tty, &summary->records[begin]);
  if (measured_end > begin) put_titles(tty, &sheet);
  for (size_t i = begin; i < measured_end; i++) put_row(tty, &sheet, i);
  put_reasons(tty, &sheet, width);
  put_aa(tty, &sheet);
  LITERAL(tty.out, "\n");
  for (size_t i = 0; i < count; i++) {
    if (sheet.cells[i].failed) tty.out->failed = true;
    text_deinit(&sheet.cells[i]);
  }
  free(sheet.cells);
  return HONE_OK;
}

/* -- what the figures are worth -------------------------------------------------------------------
 */

/* What the marks of this table mean. */
static void put_flag_notes(struct tty tty, const struct summary *summary) {
  uint32_t flags = 0;
  bool passes_limit = false;
  for (size_t i = 0; i < summary->record_count; i++) {
    flags |= summary->records[i].flags;
    passes_limit |= summary->records[i].limit_share > 1.005;
  }
  for (int f = 0; f < FLAG_BIT_COUNT; f++)
    if (flags & (1u << f))
      text_printf(tty.out, "%s: %s\n", flag_text((enum record_flag)f),
                  flag_help((enum record_flag)f));
  if (passes_limit)
    LITERAL(tty.out,
            "over 100 % of the limit: an algorithm with fewer FLOPs than the definition has, or a "
            "probe that was disturbed\n");
}

static void put_footer(struct tty tty, const struct summary *summary) {
  size_t samples = 0, undecided = 0;
  int processes = 0, rounds = 0;
  for (size_t i = 0; i < summary->record_count; i++) {
    const struct record *record = &summary->records[i];
    samples += record->sample_count;
    if (record->incarnations > processes) processes = record->incarnations;
    if (record->rounds > rounds) rounds = record->rounds;
  }
  for (size_t i = 0; i < summary->comparison_count; i++)
    undecided += summary->comparisons[i].verdict == VERDICT_undecided;
  begin_color(tty, DIM);
  text_printf(
      tty.out,
      "%zu samples, up to %d process%s and %d round%s a cell; \xc2\xb1 is the 95 %% interval "
      "of p50; tie: the interval of the ratio holds 1\n",
      samples, processes, processes == 1 ? "" : "es", rounds, rounds == 1 ? "" : "s");
  put_flag_notes(tty, summary);
  if (undecided)
    LITERAL(tty.out, "undecided: a verdict needs 3 processes and 12 rounds of both sides\n");
  if (!summary->study.finished)
    LITERAL(tty.out, "the study is not finished: the same command resumes it\n");
  end_color(tty, DIM);
}

hone_status render_table(struct ctx *ctx, const struct summary *summary,
                         const struct render_options *options, struct text *out) {
  const struct tty tty = {out, options && options->color};
  const size_t width = options && options->width > 0 ? (size_t)options->width : 100;
  for (size_t begin = 0, end; begin < summary->record_count; begin = end) {
    end = group_end(summary, begin);
    TRY(put_group(ctx, tty, summary, begin, end, width));
  }
  if (summary->record_count == 0)
    LITERAL(out, "no rows\n");
  else
    put_footer(tty, summary);
  return text_finish(ctx, out);
}
