/* compare_html: changes between two studies, as a page in the style of a study's: a matrix of models by engines with the ratio
 * after / before, then each row with both medians.
 */
#include "core/format/format.h"
#include "report.h"

#include <math.h>

static const char *class_of(const struct changes *changes, const struct change *change) {
  if (change->is_broken) return "failed";
  if (!change->is_compared || change->verdict == VERDICT_undecided ||
      change_is_open(changes, change))
    return "none";
  if (change->verdict == VERDICT_tie) return "";
  if (change->verdict == VERDICT_faster) return "h0";
  if (isfinite(changes->fail_above) && change->is_slower) return "h5";
  return change->ratio.value < 1.1 ? "h2" : change->ratio.value < 1.5 ? "h3" : "h4";
}

static bool same_column(const struct config *a, const struct config *b) {
  return same_engine(a, b) && a->label == b->label;
}

/* The first change of this engine, which stands for its column. */
static bool is_first_of_column(const struct changes *changes, size_t i) {
  const struct config *config = &change_record(changes, &changes->at[i])->config;
  for (size_t k = 0; k < i; k++)
    if (same_column(config, &change_record(changes, &changes->at[k])->config)) return false;
  return true;
}
static bool is_first_of_group(const struct changes *changes, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (same_group(change_record(changes, &changes->at[i]),
                   change_record(changes, &changes->at[k])))
      return false;
  return true;
}

static int color_of_change(const struct changes *changes, const struct change *change) {
  return change->after != SIZE_MAX ? color_of_backend(changes->after, change->after)
                                   : color_of_backend(changes->before, change->before);
}

static void put_engine(struct html html, const struct changes *changes, size_t i) {
  const struct record *record = change_record(changes, &changes->at[i]);
  strbuf_printf(html.out, "<i class=\"dot c%d\"></i>", color_of_change(changes, &changes->at[i]));
  html_row_name(html, record);
}

static void put_cell(struct html html, const struct changes *changes, size_t group, size_t column) {
  const struct record *row = change_record(changes, &changes->at[group]),
                      *engine = change_record(changes, &changes->at[column]);
  for (size_t i = 0; i < changes->count; i++) {
    const struct change *change = &changes->at[i];
    const struct record *record = change_record(changes, change);
    if (!same_group(record, row) || !same_column(&record->config, &engine->config)) continue;
    strbuf_printf(html.out, "<td class=\"%s\" data-label=\"", class_of(changes, change));
    html_attribute(html, record->config.backend);
    LITERAL(html.out, "\"><a href=\"#");
    html_row_id(html, record);
    LITERAL(html.out, "\"><b>");
    if (change->is_compared)
      put_ratio(html.out, change->ratio.value);
    else
      strbuf_puts(html.out, change_text(change));
    LITERAL(html.out, "</b><small>");
    if (change->is_compared) strbuf_puts(html.out, change_text(change));
    LITERAL(html.out, "</small></a></td>");
    return;
  }
  LITERAL(html.out, "<td class=\"none\" data-label=\"");
  html_attribute(html, engine->config.backend);
  LITERAL(html.out, "\">\xe2\x80\x93</td>");
}

static void put_model(struct html html, const struct record *record) {
  struct strbuf facts = {0};
  html_text(html, record->config.model);
  LITERAL(html.out, "<small>");
  put_group_facts(&facts, record);
  html_take(html, &facts);
  LITERAL(html.out, "</small>");
}

static void put_matrix(struct html html, const struct changes *changes) {
  LITERAL(html.out,
          "<div class=\"scroll matrix\" tabindex=\"0\" role=\"region\" aria-label=\"changes by "
          "engine\"><table>\n<caption class=\"sr\">latency after / latency "
          "before</caption>\n<thead><tr><th scope=\"col\">model</th>");
  for (size_t c = 0; c < changes->count; c++) {
    if (!is_first_of_column(changes, c)) continue;
    LITERAL(html.out, "<th scope=\"col\">");
    put_engine(html, changes, c);
    LITERAL(html.out, "</th>");
  }
  LITERAL(html.out, "</tr></thead>\n<tbody>\n");
  for (size_t g = 0; g < changes->count; g++) {
    if (!is_first_of_group(changes, g)) continue;
    LITERAL(html.out, "<tr><th scope=\"row\">");
    put_model(html, change_record(changes, &changes->at[g]));
    LITERAL(html.out, "</th>");
    for (size_t c = 0; c < changes->count; c++)
      if (is_first_of_column(changes, c)) put_cell(html, changes, g, c);
    LITERAL(html.out, "</tr>\n");
  }
  LITERAL(html.out,
          "</tbody></table></div>\n<p class=\"legend\">median latency after / before: <span "
          "class=\"swatch h0\">faster</span><span class=\"swatch h3\">slower</span><span "
          "class=\"swatch h5\">regression</span></p>\n");
}

static void put_latency_cell(struct html html, const char *title, const struct record *record) {
  strbuf_printf(html.out, "<td class=\"num\" data-label=\"%s\">", title);
  if (record) {
    put_latency(html.out, record->p50_ms);
    LITERAL(html.out, " <span class=\"quiet\">");
    put_half_width(html.out, record);
    LITERAL(html.out, "</span>");
  }
  LITERAL(html.out, "</td>");
}

static void put_row(struct html html, const struct changes *changes, const struct change *change) {
  const struct record *record = change_record(changes, change);
  const struct record *old =
      change->before == SIZE_MAX ? NULL : &changes->before->records[change->before];
  struct strbuf verdict = {0};
  LITERAL(html.out, "<tbody id=\"");
  html_row_id(html, record);
  strbuf_printf(html.out,
                "\"><tr class=\"row\"><th scope=\"row\" class=\"name\"><i class=\"dot "
                "c%d\"></i>",
                color_of_change(changes, change));
  html_row_name(html, record);
  LITERAL(html.out, "</th><td data-label=\"model\">");
  put_model(html, record);
  LITERAL(html.out, "</td>");
  put_latency_cell(html, "before", old);
  put_latency_cell(html, "after", change->after == SIZE_MAX ? NULL : record);
  strbuf_printf(html.out, "<td data-label=\"change\"><span class=\"pill %s\">",
                change->is_slower || change->is_broken ? "bad"
                : change_is_open(changes, change)      ? "undecided"
                : change->is_compared                  ? verdict_text(change->verdict)
                                                       : "undecided");
  put_change(&verdict, change);
  html_take(html, &verdict);
  LITERAL(html.out, "</span>");
  if (old && change->after != SIZE_MAX && old->status != record->status)
    strbuf_printf(html.out, " <span class=\"quiet\">was %s, is %s</span>", status_text(old->status),
                  status_text(record->status));
  LITERAL(html.out, "</td></tr></tbody>\n");
}

/* Two studies without names get their times, because both usually have the same models. */
static void put_side(struct strbuf *out, const struct summary *summary) {
  put_study_title(out, summary);
  if (summary->study.name[0]) return;
  strbuf_puts(out, " of ");
  put_time(out, summary->study.started_unix_ms);
}

hone_status render_changes_html(struct ctx *ctx, const struct changes *changes,
                                const struct html_frame *frame, struct strbuf *out) {
  const struct html html = {out};
  struct strbuf title = {0};
  put_side(&title, changes->after);
  strbuf_puts(&title, " against ");
  put_side(&title, changes->before);
  const hone_status status = html_head(ctx, html, title.at ? title.at : "", frame);
  strbuf_deinit(&title);
  TRY(status);
  LITERAL(out, "<p class=\"answer\">");
  put_changes_sentence(out, changes);
  LITERAL(out, ".</p>\n");
  if (changes_differ_in_machine(changes))
    LITERAL(out,
            "<p class=\"notice\">The two studies have different fingerprints: the ratios also "
            "compare the machines.</p>\n");
  put_matrix(html, changes);
  LITERAL(out,
          "<section><h2>Rows</h2>\n<div class=\"scroll\"><table class=\"rows\">\n<thead><tr><th "
          "scope=\"col\">engine</th><th scope=\"col\">model</th><th scope=\"col\" "
          "class=\"num\">before</th><th scope=\"col\" class=\"num\">after</th><th "
          "scope=\"col\">after / before</th></tr></thead>\n");
  for (size_t i = 0; i < changes->count; i++) put_row(html, changes, &changes->at[i]);
  LITERAL(out, "</table></div>\n</section>\n");
  html_foot(html);
  return strbuf_finish(ctx, out);
}
