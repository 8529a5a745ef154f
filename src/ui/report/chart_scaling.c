/* chart_scaling: throughput over batch sizes or thread counts, one line for each engine.
 *
 * A figure for each thread count if batches vary, and for each batch if thread counts vary. The horizontal axis has its values
 * at equal distances, the vertical axis is logarithmic. Only ranked rows are points.
 */
#include "core/format/format.h"
#include "report.h"

#include <math.h>

enum { WIDTH = 560, HEIGHT = 300, LEFT = 66, RIGHT = 430, TOP = 26, BOTTOM = 256, MOST = 64 };

struct sweep {
  const struct page *page;
  const struct summary *summary;
  const size_t *begins;
  size_t count;
  bool over_threads;
  int fixed;                 /* value of the other parameter */
  const struct config *like; /* load, precision and scenario are those of all points */
  int values[MOST];          /* ascending, distinct */
  size_t value_count;
};

static int varying(const struct sweep *sweep, const struct config *config) {
  return sweep->over_threads ? config->threads : config->batch;
}
static int fixed_of(const struct sweep *sweep, const struct config *config) {
  return sweep->over_threads ? config->batch : config->threads;
}

static bool belongs(const struct sweep *sweep, const struct config *config) {
  return fixed_of(sweep, config) == sweep->fixed && config->load == sweep->like->load &&
         !strcmp(config->precision, sweep->like->precision) &&
         !strcmp(config->scenario, sweep->like->scenario);
}

static void add_value(struct sweep *sweep, int value) {
  size_t at = 0;
  while (at < sweep->value_count && sweep->values[at] < value) at++;
  if (at < sweep->value_count && sweep->values[at] == value) return;
  if (sweep->value_count == MOST) return;
  for (size_t k = sweep->value_count++; k > at; k--) sweep->values[k] = sweep->values[k - 1];
  sweep->values[at] = value;
}

static void find_values(struct sweep *sweep) {
  sweep->value_count = 0;
  for (size_t k = 0; k < sweep->count; k++) {
    const struct config *config = &sweep->summary->records[sweep->begins[k]].config;
    if (belongs(sweep, config)) add_value(sweep, varying(sweep, config));
  }
}

static double x_of(const struct sweep *sweep, int value) {
  size_t at = 0;
  while (at + 1 < sweep->value_count && sweep->values[at] != value) at++;
  const double steps = sweep->value_count > 1 ? (double)(sweep->value_count - 1) : 1;
  return LEFT + 16 + (RIGHT - LEFT - 32) * (double)at / steps;
}

static bool is_point(const struct sweep *sweep, size_t i) {
  const struct record *record = &sweep->summary->records[i];
  return record->rank > 0 && record->config.label == 0 && record->throughput_per_s > 0 &&
         belongs(sweep, &record->config);
}

/* Next ranked row of the same engine as `first`, over the groups in order of the varying value;
   SIZE_MAX at the end. */
static size_t row_at(const struct sweep *sweep, size_t first, int value) {
  const struct config *engine = &sweep->summary->records[first].config;
  for (size_t k = 0; k < sweep->count; k++)
    for (size_t i = sweep->begins[k], end = group_end(sweep->summary, i); i < end; i++) {
      const struct config *config = &sweep->summary->records[i].config;
      if (is_point(sweep, i) && varying(sweep, config) == value && same_engine(config, engine))
        return i;
    }
  return SIZE_MAX;
}

static struct axis find_axis(const struct sweep *sweep) {
  struct axis y = {INFINITY, 0, BOTTOM, TOP};
  for (size_t k = 0; k < sweep->count; k++)
    for (size_t i = sweep->begins[k], end = group_end(sweep->summary, i); i < end; i++)
      if (is_point(sweep, i)) {
        y.low = fmin(y.low, sweep->summary->records[i].throughput_per_s);
        y.high = fmax(y.high, sweep->summary->records[i].throughput_per_s);
      }
  if (y.high > 0) axis_widen(&y);
  return y;
}

static void put_grid(struct html html, const struct sweep *sweep, const struct axis *y) {
  double ticks[TICKS], last = 1e9;
  for (int i = 0, count = axis_ticks(y, ticks); i < count; i++) {
    const double at = axis_place(y, ticks[i]);
    svg_line(html, "grid", LEFT, at, RIGHT, at);
    if (last - at < 16) continue;
    svg_begin_text(html, "end", LEFT - 8, at + 4);
    char number[32];
    format_f64(number, round(ticks[i] * 1e3) / 1e3);
    strbuf_puts(html.out, number);
    svg_end_text(html);
    last = at;
  }
  for (size_t v = 0; v < sweep->value_count; v++) {
    const double at = x_of(sweep, sweep->values[v]);
    svg_line(html, "grid", at, TOP, at, BOTTOM);
    svg_begin_text(html, "middle", at, BOTTOM + 18);
    strbuf_printf(html.out, "%d", sweep->values[v]);
    svg_end_text(html);
  }
  svg_begin_text(html, "middle", (LEFT + RIGHT) / 2.0, HEIGHT - 6);
  strbuf_puts(html.out, sweep->over_threads ? "threads" : "batch");
  svg_end_text(html);
  svg_begin_text(html, "", 4, 14);
  LITERAL(html.out, "\xe2\x86\x91 samples per second");
  svg_end_text(html);
}

static void put_line(const struct sweep *sweep, const struct axis *y, size_t first,
                     struct label_place *labels, size_t *label_count) {
  const struct summary *summary = sweep->summary;
  const struct html html = sweep->page->html;
  double x = 0, height = 0;
  bool is_open = false;
  size_t last = first;
  chart_begin_engine(sweep->page, first);
  LITERAL(html.out, "<path class=\"curve\" d=\"");
  for (size_t v = 0; v < sweep->value_count; v++) {
    const size_t i = row_at(sweep, first, sweep->values[v]);
    if (i == SIZE_MAX) continue;
    strbuf_puts(html.out, is_open ? " L" : "M");
    put_number(html.out, x = x_of(sweep, sweep->values[v]), 1);
    LITERAL(html.out, " ");
    put_number(html.out, height = axis_place(y, summary->records[i].throughput_per_s), 1);
    is_open = true;
    last = i;
  }
  LITERAL(html.out, "\"/>");
  for (size_t v = 0; v < sweep->value_count; v++) {
    const size_t i = row_at(sweep, first, sweep->values[v]);
    if (i == SIZE_MAX) continue;
    LITERAL(html.out, "<circle class=\"point\"");
    SVG_ATTRIBUTE(html, "cx", x_of(sweep, sweep->values[v]));
    SVG_ATTRIBUTE(html, "cy", axis_place(y, summary->records[i].throughput_per_s));
    LITERAL(html.out, " r=\"4.5\"><title>");
    svg_name(html, &summary->records[i], 80);
    LITERAL(html.out, ": ");
    put_significant(html.out, summary->records[i].throughput_per_s, 4);
    LITERAL(html.out, " samples per second</title></circle>");
  }
  const double label_y = label_clear(labels, *label_count, RIGHT, height + 4);
  labels[(*label_count)++] = (struct label_place){RIGHT, label_y};
  svg_begin_text(html, "name", fmax(x, RIGHT - 16) + 12, label_y);
  svg_name(html, &summary->records[last], 18);
  svg_end_text(html);
  LITERAL(html.out, "</g>");
}

static void put_chart(const struct sweep *sweep) {
  const struct html html = sweep->page->html;
  struct label_place labels[16];
  size_t label_count = 0;
  const struct axis y = find_axis(sweep);
  if (sweep->value_count < 2 || !(y.high > 0)) return;
  strbuf_printf(html.out, "<figure><figcaption>%s at %s %d",
                sweep->over_threads ? "Scaling with threads" : "Scaling with the batch",
                sweep->over_threads ? "batch" : "threads", sweep->fixed);
  struct strbuf rest = {0};
  put_group_rest(&rest, sweep->like, ", ");
  html_take(html, &rest);
  LITERAL(html.out, " <span>samples per second, logarithmic; higher is better</span></figcaption>");
  strbuf_printf(
      html.out,
      "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"throughput over "
      "%s\">",
      WIDTH, HEIGHT, sweep->over_threads ? "thread counts" : "batch sizes");
  put_grid(html, sweep, &y);
  for (size_t v = 0; v < sweep->value_count; v++) /* each engine at its first row */
    for (size_t k = 0; k < sweep->count; k++)
      for (size_t i = sweep->begins[k], end = group_end(sweep->summary, i); i < end; i++) {
        bool is_first = is_point(sweep, i) && label_count < COUNT(labels) &&
                        varying(sweep, &sweep->summary->records[i].config) == sweep->values[v];
        for (size_t w = 0; is_first && w < v; w++)
          is_first = row_at(sweep, i, sweep->values[w]) == SIZE_MAX;
        if (is_first) put_line(sweep, &y, i, labels, &label_count);
      }
  LITERAL(html.out, "</svg></figure>");
}

/* One chart for each value of the other parameter, precision, scenario and load. */
void chart_scaling(const struct page *page, const size_t *begins, size_t count) {
  const struct summary *summary = page->summary;
  for (int over_threads = 0; over_threads < 2; over_threads++) {
    struct sweep sweep = {.page = page,
                          .summary = summary,
                          .begins = begins,
                          .count = count,
                          .over_threads = over_threads != 0};
    for (size_t k = 0; k < count; k++) {
      const struct config *config = &summary->records[begins[k]].config;
      bool is_new = true;
      sweep.fixed = fixed_of(&sweep, config);
      sweep.like = config;
      for (size_t j = 0; is_new && j < k; j++)
        is_new = !belongs(&sweep, &summary->records[begins[j]].config);
      if (!is_new) continue;
      find_values(&sweep);
      put_chart(&sweep);
    }
  }
}
