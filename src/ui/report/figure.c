/* figure: a study as one standalone picture: for each group the medians with 95 % intervals, and latency against start-up
 * time.
 *
 * The SVG's style has no CSS variables, so that librsvg and word processors draw it; png.c renders it. Rows without a rank are
 * listed with their status, never with a figure. The same summary gives the same bytes.
 */
#include "core/format/format.h"
#include "report.h"

#include <math.h>

enum {
  WIDTH = 960,
  MARGIN = 24,
  NAME_END = 250,
  AXIS_FROM = 268,
  AXIS_TO = 740,
  VALUE_AT = 756,
  ROW = 26,
  HEAD = 64,
  PLOT_GAP = 18,
  PLOT = 330
};

/* Copies for --aa are not drawn. */
static bool is_drawn(const struct record *record) { return record->config.label == 0; }

static size_t drawn_rows(const struct summary *summary, size_t begin, size_t end) {
  size_t count = 0;
  for (size_t i = begin; i < end; i++) count += is_drawn(&summary->records[i]);
  return count;
}

/* An axis that contains the intervals of all ranked rows. False: there are none. */
static bool medians_axis(const struct summary *summary, size_t begin, size_t end,
                         struct axis *out) {
  *out = (struct axis){INFINITY, 0, AXIS_FROM, AXIS_TO};
  for (size_t i = begin; i < end; i++) {
    const struct record *record = &summary->records[i];
    if (!record->rank || !(record->p50_ms > 0)) continue;
    out->low = fmin(out->low, record->p50_lo_ms > 0 ? record->p50_lo_ms : record->p50_ms);
    out->high = fmax(out->high, record->p50_hi_ms > 0 ? record->p50_hi_ms : record->p50_ms);
  }
  if (!isfinite(out->low)) return false;
  axis_widen(out);
  return true;
}

static void put_median(struct html html, const struct summary *summary, size_t begin, size_t i,
                       const struct axis *axis, double y) {
  const struct record *record = &summary->records[i];
  const double at = axis_place(axis, record->p50_ms);
  if (record->p50_lo_ms > 0 && record->p50_hi_ms > 0)
    svg_line(html, "whisker", axis_place(axis, record->p50_lo_ms), y,
             axis_place(axis, record->p50_hi_ms), y);
  strbuf_printf(html.out, "<circle class=\"point c%d\"", color_of_backend(summary, i));
  SVG_ATTRIBUTE(html, "cx", at);
  SVG_ATTRIBUTE(html, "cy", y);
  LITERAL(html.out, " r=\"6\"/>");
  svg_begin_text(html, "value", VALUE_AT, y + 4);
  put_latency(html.out, record->p50_ms);
  LITERAL(html.out, "  ");
  put_verdict(html.out, summary, i, begin);
  svg_end_text(html);
}

static void put_rows(struct html html, const struct summary *summary, size_t begin, size_t end,
                     const struct axis *axis, double y) {
  for (size_t i = begin; i < end; i++) {
    const struct record *record = &summary->records[i];
    if (!is_drawn(record)) continue;
    svg_begin_text(html, "name end", NAME_END, y + 4);
    svg_name(html, record, 34);
    svg_end_text(html);
    if (axis && record->rank && record->p50_ms > 0) {
      svg_line(html, "base", AXIS_FROM, y, AXIS_TO, y);
      put_median(html, summary, begin, i, axis, y);
    } else {
      /* on the name's line, where no axis line crosses it */
      svg_begin_text(html, "failed", AXIS_FROM, y + 4);
      html_text(html, unranked_text(record));
      svg_end_text(html);
    }
    y += ROW;
  }
}

static void put_ticks(struct html html, const struct axis *axis, double top, double bottom) {
  double ticks[TICKS], last = -100;
  for (int k = 0, count = axis_ticks(axis, ticks); k < count; k++) {
    const double x = axis_place(axis, ticks[k]);
    svg_line(html, "grid", x, top, x, bottom);
    if (x - last < 56) continue;
    svg_begin_text(html, "middle", x, bottom + 15);
    put_tick(html.out, ticks[k]);
    svg_end_text(html);
    last = x;
  }
}

/* Returns the height of the group. */
static double put_group(struct html html, const struct summary *summary, size_t begin, size_t end,
                        double y) {
  const double top = y + 58;
  const double bottom = top + (double)drawn_rows(summary, begin, end) * ROW;
  struct axis axis;
  struct strbuf facts = {0};
  const bool has_axis = medians_axis(summary, begin, end, &axis);
  svg_begin_text(html, "model", MARGIN, y + 20);
  html_text(html, summary->records[begin].config.model);
  svg_end_text(html);
  svg_begin_text(html, "", MARGIN, y + 38);
  put_group_facts(&facts, &summary->records[begin]);
  html_take(html, &facts);
  LITERAL(html.out, " \xc2\xb7 median latency, bar: its 95 % interval");
  svg_end_text(html);
  if (has_axis) put_ticks(html, &axis, top - ROW / 2.0, bottom - ROW / 2.0);
  put_rows(html, summary, begin, end, has_axis ? &axis : NULL, top);
  double at = bottom + PLOT_GAP;
  struct strbuf plot = {0};
  const struct page page = {.summary = summary, .html = {&plot}};
  if (plot_compile_against_speed(&page, begin, end)) {
    strbuf_printf(html.out, "<g transform=\"translate(%d ", AXIS_FROM - 66);
    put_number(html.out, at, 1);
    LITERAL(html.out, ")\">");
    strbuf_append(html.out, plot.at ? plot.at : "", plot.length);
    LITERAL(html.out, "</g>");
    at += PLOT;
  }
  if (plot.failed) html.out->failed = true;
  strbuf_deinit(&plot);
  return at + MARGIN - y;
}

hone_status render_svg(struct ctx *ctx, const struct summary *summary,
                       const struct render_options *options, struct strbuf *out) {
  (void)options;
  struct strbuf body = {0}, title = {0};
  const struct html html = {&body};
  size_t css_size = 0;
  double y = HEAD;
  const char *css = hone_embedded_text("report/figure.css", &css_size);
  if (!css) return fail(ctx, HONE_E_INTERNAL, place_none(), "the figure's style is not built in");
  for (size_t begin = 0, end; begin < summary->record_count; begin = end) {
    end = group_end(summary, begin);
    y += put_group(html, summary, begin, end, y);
  }
  strbuf_printf(
      out,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 "
      "%d %d\"><style>",
      WIDTH, (int)y, WIDTH, (int)y);
  strbuf_append(out, css, css_size);
  strbuf_printf(out,
                "</style>\n<rect class=\"paper\" x=\"0\" y=\"0\" width=\"%d\" height=\"%d\"/>"
                "<text class=\"title\" x=\"%d\" y=\"40\">",
                WIDTH, (int)y, MARGIN);
  put_study_title(&title, summary);
  html_text((struct html){out}, title.at ? title.at : "");
  strbuf_deinit(&title);
  LITERAL(out, "</text>\n");
  strbuf_append(out, body.at ? body.at : "", body.length);
  LITERAL(out, "</svg>\n");
  if (body.failed) out->failed = true;
  strbuf_deinit(&body);
  return strbuf_finish(ctx, out);
}

hone_status render_png(struct ctx *ctx, const struct summary *summary,
                       const struct render_options *options, struct strbuf *out) {
  struct strbuf svg = {0};
  hone_status status = render_svg(ctx, summary, options, &svg);
  if (!status) status = png_of_svg(ctx, &svg, 2, out);
  strbuf_deinit(&svg);
  return status;
}
