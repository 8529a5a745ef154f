/* html_matrix: the first screen of the page: the summary sentence, switches for engines, and models by engines.
 *
 * A field is the ratio to the fastest of its row and links to the row with all details. Color only repeats the number. The
 * switches are hidden if the script does not run.
 */
#include "core/format/format.h"
#include "report.h"

#include <math.h>

/* The highest ratio of each color class. */
static const struct {
  double below;
  const char *class_name, *legend;
} heats[] = {
    {1.1, "h1", "< 1.1x"}, {1.5, "h2", "< 1.5x"},          {2.5, "h3", "< 2.5x"},
    {5, "h4", "< 5x"},     {INFINITY, "h5", "5x or more"},
};
static const char *heat_of(double ratio) {
  size_t i = 0;
  if (ratio < 1.005) return "h0";
  while (i + 1 < COUNT(heats) && !(ratio < heats[i].below)) i++;
  return heats[i].class_name;
}

static const struct record *engine_record(const struct page *page, size_t e) {
  return &page->summary->records[page->matrix->engines[e].record];
}

/* What distinguishes this engine from others of the same name. */
static void put_engine_options(const struct page *page, size_t e) {
  char marks[256];
  if (!engine_marks(page->matrix->engines[e].config, marks)[0]) return;
  LITERAL(page->html.out, " <span class=\"quiet\">");
  html_text(page->html, marks);
  LITERAL(page->html.out, "</span>");
}

static void put_engine(const struct page *page, size_t e) {
  strbuf_printf(page->html.out, "<i class=\"dot c%d\"></i><b>",
                color_of_backend(page->summary, page->matrix->engines[e].record));
  html_text(page->html, engine_record(page, e)->config.backend);
  LITERAL(page->html.out, "</b>");
  put_engine_options(page, e);
}

/* -- the sentence */

static void put_leads(const struct page *page) {
  struct strbuf *out = page->html.out;
  bool is_first = true;
  for (size_t e = 1; e < page->matrix->engine_count && e < 5; e++) {
    size_t groups;
    const double lead = matrix_geometric_ratio(page->matrix, page->summary, 0, e, &groups);
    if (!isfinite(lead)) continue;
    strbuf_puts(out, is_first ? " By geometric mean it is " : ", ");
    LITERAL(out, "<b>");
    put_ratio(out, lead >= 1 ? lead : 1 / lead);
    strbuf_puts(out, lead >= 1 ? " faster</b> than " : " slower</b> than ");
    html_text(page->html, engine_record(page, e)->config.backend);
    put_engine_options(page, e);
    if (groups < page->matrix->group_count)
      strbuf_printf(out, " <span class=\"quiet\">(over %zu)</span>", groups);
    is_first = false;
  }
  if (!is_first) LITERAL(out, ".");
}

static void put_sentence(const struct page *page) {
  const struct matrix *matrix = page->matrix;
  const struct engine *best = &matrix->engines[0];
  struct strbuf *out = page->html.out;
  const char *what = model_count(page->summary, matrix) == matrix->group_count ? "models" : "cases";
  size_t alone = 0, undecided = 0;
  for (size_t g = 0; g < matrix->group_count; g++) {
    const size_t begin = matrix->begins[g];
    alone += matrix->cells[g * matrix->engine_count] == begin && !is_tied(page->summary, begin) &&
             is_decided(page->summary, begin);
    undecided += !is_decided(page->summary, begin);
  }
  LITERAL(out, "<p class=\"answer\">");
  if (best->ranked == 0) {
    LITERAL(out, "No engine gave correct outputs; the reasons are below.</p>\n");
    return;
  }
  LITERAL(out, "<b>");
  html_text(page->html, engine_record(page, 0)->config.backend);
  LITERAL(out, "</b>");
  put_engine_options(page, 0);
  strbuf_printf(out, " is first on <b>%zu of %zu %s</b>", best->wins, matrix->group_count, what);
  if (best->wins > alone && undecided == 0)
    strbuf_printf(out, ", tied on %zu of them", best->wins - alone);
  LITERAL(out, ".");
  put_leads(page);
  if (undecided)
    strbuf_printf(out,
                  " <span class=\"quiet\">%zu of %zu are undecided: a verdict needs at least 3 "
                  "processes and 12 rounds.</span>",
                  undecided, matrix->group_count);
  LITERAL(out, "</p>\n");
}

/* -- switches and legend */

static void put_switches(const struct page *page) {
  if (page->matrix->engine_count < 3) return; /* two engines need no switches */
  LITERAL(page->html.out, "<div class=\"switches\" role=\"group\" aria-label=\"shown engines\">");
  for (size_t e = 0; e < page->matrix->engine_count; e++) {
    strbuf_printf(page->html.out,
                  "<button type=\"button\" class=\"switch\" data-switch=\"%zu\" "
                  "aria-pressed=\"true\">",
                  e);
    put_engine(page, e);
    LITERAL(page->html.out, "</button>");
  }
  LITERAL(page->html.out, "</div>\n");
}

static void put_legend(struct html html) {
  LITERAL(html.out,
          "<p class=\"legend\">median latency / the fastest of the row: <span class=\"swatch "
          "h0\">first or tied</span>");
  for (size_t i = 0; i < COUNT(heats); i++) {
    strbuf_printf(html.out, "<span class=\"swatch %s\">", heats[i].class_name);
    html_text(html, heats[i].legend);
    LITERAL(html.out, "</span>");
  }
  LITERAL(html.out, "</p>\n");
}

static void begin_link(const struct page *page, size_t i) {
  LITERAL(page->html.out, "<a href=\"");
  if (page->links) strbuf_puts(page->html.out, page->links[i]);
  LITERAL(page->html.out, "#");
}

/* -- the matrix */

static void put_head_row(const struct page *page) {
  LITERAL(page->html.out, "<thead><tr><th scope=\"col\">model</th>");
  for (size_t e = 0; e < page->matrix->engine_count; e++) {
    strbuf_printf(page->html.out, "<th scope=\"col\" data-engine=\"%zu\">", e);
    put_engine(page, e);
    LITERAL(page->html.out, "</th>");
  }
  LITERAL(page->html.out, "</tr></thead>\n");
}

static void begin_cell(const struct page *page, size_t e, const char *class_name) {
  char marks[256];
  const struct config *config = page->matrix->engines[e].config;
  strbuf_printf(page->html.out, "<td class=\"%s\" data-engine=\"%zu\" data-label=\"", class_name,
                e);
  html_attribute(page->html, config->backend);
  if (engine_marks(config, marks)[0]) {
    LITERAL(page->html.out, " ");
    html_attribute(page->html, marks);
  }
  LITERAL(page->html.out, "\"");
}

static void put_ranked_cell(const struct page *page, size_t g, size_t e, size_t i) {
  const struct summary *summary = page->summary;
  struct strbuf *out = page->html.out;
  const size_t begin = page->matrix->begins[g];
  const struct comparison *comparison = find_comparison(summary, i, begin);
  const double ratio = matrix_ratio(page->matrix, summary, g, e);
  const bool is_open = comparison && comparison->verdict == VERDICT_undecided;
  char number[32];
  begin_cell(page, e, is_among_first(summary, i, begin) ? "h0" : heat_of(ratio));
  format_f64(number, summary->records[i].p50_ms);
  strbuf_printf(out, " data-ms=\"%s\" data-ratio=\"", number);
  format_f64(number, ratio);
  strbuf_printf(out, "%s\">", number);
  begin_link(page, i);
  html_row_id(page->html, &summary->records[i]);
  LITERAL(out, "\"><b>");
  if (i == begin)
    strbuf_puts(out, first_text(summary, i));
  else
    put_ratio(out, ratio);
  LITERAL(out, "</b>");
  if (comparison && comparison->verdict == VERDICT_tie && i != begin) LITERAL(out, " tie");
  if (is_open) LITERAL(out, " <span title=\"undecided\">?</span>");
  LITERAL(out, "<small>");
  put_latency(out, summary->records[i].p50_ms);
  LITERAL(out, "</small></a></td>");
}

static void put_cell(const struct page *page, size_t g, size_t e) {
  const size_t i = page->matrix->cells[g * page->matrix->engine_count + e];
  if (i == SIZE_MAX) {
    begin_cell(page, e, "none");
    LITERAL(page->html.out, ">\xe2\x80\x93</td>");
    return;
  }
  const struct record *record = &page->summary->records[i];
  if (record->rank) {
    put_ranked_cell(page, g, e, i);
    return;
  }
  const bool is_no_failure = record->status == STATUS_interrupted || record->status == STATUS_ok;
  begin_cell(page, e, is_no_failure ? "none" : "failed");
  LITERAL(page->html.out, " title=\"");
  html_attribute(page->html, record->reason[0] ? record->reason : unranked_help(record));
  LITERAL(page->html.out, "\">");
  begin_link(page, i);
  if (is_measured(record) || page->links)
    html_row_id(page->html, record);
  else
    strbuf_printf(page->html.out, "g%zu", page->matrix->begins[g]);
  strbuf_printf(page->html.out, "\">%s</a></td>", unranked_text(record));
}

static void put_row(const struct page *page, size_t g) {
  const size_t begin = page->matrix->begins[g];
  const struct record *record = &page->summary->records[begin];
  struct strbuf facts = {0};
  const bool is_repeated =
      g > 0 &&
      same_model(&record->config, &page->summary->records[page->matrix->begins[g - 1]].config);
  LITERAL(page->html.out, "<tr><th scope=\"row\">");
  begin_link(page, begin);
  if (page->links)
    html_row_id(page->html, record);
  else
    strbuf_printf(page->html.out, "g%zu", begin);
  strbuf_puts(page->html.out, is_repeated ? "\" class=\"sr\">" : "\">");
  html_name(page->html, record->config.model);
  LITERAL(page->html.out, "</a><small>");
  strbuf_printf(&facts, "batch %d \xc2\xb7 %d thread%s", record->config.batch,
                record->config.threads, record->config.threads == 1 ? "" : "s");
  put_group_rest(&facts, &record->config, " \xc2\xb7 ");
  html_take(page->html, &facts);
  LITERAL(page->html.out, "</small></th>");
  for (size_t e = 0; e < page->matrix->engine_count; e++) put_cell(page, g, e);
  LITERAL(page->html.out, "</tr>\n");
}

static void put_mean_row(const struct page *page, const struct matrix_mean *mean) {
  LITERAL(page->html.out, "<tr class=\"mean\"><th scope=\"row\">geometric mean");
  if (mean->precision) {
    LITERAL(page->html.out, "<small>");
    html_text(page->html, mean->precision);
    LITERAL(page->html.out, "</small>");
  }
  LITERAL(page->html.out, "</th>");
  for (size_t e = 0; e < page->matrix->engine_count; e++) {
    const struct engine_mean *engine = &mean->engines[e];
    begin_cell(page, e, engine->ranked ? heat_of(engine->ratio) : "none");
    LITERAL(page->html.out, "><b>");
    if (engine->ranked)
      put_ratio(page->html.out, engine->ratio);
    else
      LITERAL(page->html.out, "\xe2\x80\x93");
    LITERAL(page->html.out, "</b>");
    if (engine->ranked < mean->group_count)
      strbuf_printf(page->html.out, "<small>%zu of %zu</small>", engine->ranked, mean->group_count);
    LITERAL(page->html.out, "</td>");
  }
  LITERAL(page->html.out, "</tr>\n");
}

enum total { TOTAL_WINS, TOTAL_PORTABILITY, TOTAL_READY, TOTAL_MEMORY, TOTAL_COUNT };
static const char *const total_titles[TOTAL_COUNT] = {
    "first or tied<small>of all rows</small>",
    "portability<small>share of rows that ran correctly</small>",
    "start-up<small>geometric mean, cold</small>",
    "memory<small>geometric mean</small>",
};

static void put_total_row(const struct page *page, enum total total) {
  strbuf_printf(page->html.out, "<tr class=\"total\"><th scope=\"row\">%s</th>",
                total_titles[total]);
  for (size_t e = 0; e < page->matrix->engine_count; e++) {
    const struct engine *engine = &page->matrix->engines[e];
    begin_cell(page, e, "");
    LITERAL(page->html.out, ">");
    if (total == TOTAL_WINS) strbuf_printf(page->html.out, "%zu", engine->wins);
    if (total == TOTAL_PORTABILITY) put_percent(page->html.out, engine->portability);
    if (total == TOTAL_READY) put_ms(page->html.out, engine->ready_ms);
    if (total == TOTAL_MEMORY) put_bytes(page->html.out, engine->memory_bytes);
    LITERAL(page->html.out, "</td>");
  }
  LITERAL(page->html.out, "</tr>\n");
}

/* The fastest engine of each model, its margin and its start-up time. */
static void put_winners(const struct page *page) {
  struct strbuf *out = page->html.out;
  LITERAL(out,
          "<details class=\"winners\"><summary>Fastest engine of each model, with its margin and "
          "start-up time</summary>\n<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>");
  for (size_t c = 0; c < WINNER_COLUMNS; c++)
    strbuf_printf(out, "<th scope=\"col\">%s</th>", winner_title(c));
  LITERAL(out, "</tr></thead>\n<tbody>\n");
  for (size_t g = 0; g < page->matrix->group_count; g++) {
    struct winner winner;
    if (!winner_of_group(page->summary, page->matrix->begins[g], &winner)) continue;
    LITERAL(out, "<tr>");
    for (size_t c = 0; c < WINNER_COLUMNS; c++) {
      struct strbuf text = {0};
      put_winner(&text, page->summary, &winner, c);
      LITERAL(out, "<td>");
      html_take(page->html, &text);
      LITERAL(out, "</td>");
    }
    LITERAL(out, "</tr>\n");
  }
  LITERAL(out, "</tbody></table></div></details>\n");
}

void html_matrix(const struct page *page) {
  struct strbuf *out = page->html.out;
  put_sentence(page);
  put_switches(page);
  LITERAL(out,
          "<div class=\"scroll matrix\" tabindex=\"0\" role=\"region\" aria-label=\"models by "
          "engines\"><table>\n<caption class=\"sr\">median latency of each engine on each model / "
          "the fastest of the row</caption>\n");
  put_head_row(page);
  LITERAL(out, "<tbody>\n");
  for (size_t g = 0; g < page->matrix->group_count; g++) put_row(page, g);
  LITERAL(out, "</tbody>\n<tfoot>\n");
  for (size_t m = 0; m < page->matrix->mean_count; m++) put_mean_row(page, &page->matrix->means[m]);
  for (int total = 0; total < TOTAL_COUNT; total++) put_total_row(page, (enum total)total);
  LITERAL(out, "</tfoot></table></div>\n");
  put_legend(page->html);
  put_winners(page);
}
