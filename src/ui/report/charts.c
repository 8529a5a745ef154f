/* charts: figures of a report as inline SVG: latency distributions, compile time against latency, memory.
 *
 * Colors are classes of page.css. Time axes are logarithmic, so that a factor of two has the same length everywhere. The same
 * data gives the same bytes.
 */
#include "core/format/format.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>

/* -- latency distributions */

enum { STRIP_WIDTH = 300, STRIP_HEIGHT = 34, BINS = 150 };

hone_status latency_axis(struct ctx *ctx, const struct summary *summary, size_t begin, size_t end,
                         struct axis *out) {
  *out = (struct axis){INFINITY, 0, 6, STRIP_WIDTH - 6};
  for (size_t i = begin; i < end; i++) {
    const struct record *record = &summary->records[i];
    const struct config_data *data = config_data_of(summary, record);
    if (!is_measured(record) || !data) continue;
    double *samples = calloc(record->sample_count, sizeof *samples);
    if (!samples) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a chart");
    size_t n = 0;
    for (size_t b = 0; b < data->block_count; b++)
      for (size_t s = 0; s < data->blocks[b].sample_count && n < record->sample_count; s++)
        samples[n++] = (double)data->blocks[b].samples[s] * 1e-6;
    sort_doubles(samples, n);
    out->low = fmin(out->low, fmax(samples[0], 1e-6));
    out->high = fmax(out->high, percentile_sorted(samples, n, 0.995));
    free(samples);
  }
  if (!isfinite(out->low)) out->low = 1;
  out->high = fmax(out->high, out->low * 1.25);
  const double margin = pow(out->high / out->low, 0.03);
  out->low /= margin;
  out->high *= margin;
  return HONE_OK;
}

void chart_latency_axis(struct html html, const struct axis *axis) {
  double ticks[TICKS], last = -100;
  const int count = axis_ticks(axis, ticks);
  strbuf_printf(html.out, "<svg class=\"axis\" viewBox=\"0 0 %d 18\" aria-hidden=\"true\">",
                STRIP_WIDTH);
  for (int i = 0; i < count; i++) {
    const double x = axis_place(axis, ticks[i]);
    svg_line(html, "tick", x, 14, x, 18);
    if (x - last < 52 || x < 16 || x > STRIP_WIDTH - 16) continue;
    svg_begin_text(html, "middle", x, 10);
    put_tick(html.out, ticks[i]);
    svg_end_text(html);
    last = x;
  }
  LITERAL(html.out, "</svg>");
}

static void count_bins(const struct config_data *data, const struct axis *axis, double bins[BINS]) {
  double raw[BINS] = {0};
  for (size_t b = 0; b < data->block_count; b++)
    for (size_t s = 0; s < data->blocks[b].sample_count; s++) {
      const double ms = fmax((double)data->blocks[b].samples[s] * 1e-6, 1e-6);
      const double share = (axis_place(axis, ms) - axis->from) / (axis->to - axis->from);
      raw[(int)fmin(share * BINS, BINS - 1)]++;
    }
  for (int i = 0; i < BINS; i++)
    for (int k = -2; k <= 2; k++)
      if (i + k >= 0 && i + k < BINS) bins[i + k] += raw[i] * (3 - abs(k)) / 9;
}

/* A mirrored outline; heights are square roots, so that a tail of a few per cent is visible. */
static void put_outline(struct html html, const struct axis *axis, const double bins[BINS],
                        int color) {
  int first = 0, last = BINS - 1;
  double most = 0;
  for (int i = 0; i < BINS; i++) most = fmax(most, bins[i]);
  while (first < last && bins[first] <= 0) first++;
  while (last > first && bins[last] <= 0) last--;
  const double step = (axis->to - axis->from) / BINS, middle = STRIP_HEIGHT / 2.0;
  strbuf_printf(html.out, "<path class=\"shape c%d\" d=\"M", color);
  for (int side = -1; side <= 1; side += 2)
    for (int i = side < 0 ? first : last; i >= first && i <= last; i -= side) {
      const double height = fmax(sqrt(bins[i] / most) * (middle - 2), 0.6);
      put_number(html.out, axis->from + (i + 0.5) * step, 1);
      LITERAL(html.out, " ");
      put_number(html.out, middle + side * height, 1);
      LITERAL(html.out, " ");
    }
  LITERAL(html.out, "Z\"/>");
}

static void put_strip_label(struct html html, const struct record *record) {
  struct strbuf label = {0};
  put_row_name(&label, record);
  LITERAL(&label, ": median ");
  put_latency(&label, record->p50_ms);
  LITERAL(&label, ", 95 % interval ");
  put_latency(&label, record->p50_lo_ms);
  LITERAL(&label, " to ");
  put_latency(&label, record->p50_hi_ms);
  LITERAL(&label, ", p99 ");
  put_latency(&label, record->p99_ms);
  strbuf_printf(&label, ", %zu samples", record->sample_count);
  LITERAL(html.out, "<title>");
  html_take(html, &label);
  LITERAL(html.out, "</title>");
}

hone_status chart_distribution(struct ctx *ctx, struct html html, const struct summary *summary,
                               size_t i, const struct axis *axis, int color) {
  const struct record *record = &summary->records[i];
  const struct config_data *data = config_data_of(summary, record);
  if (!data) return HONE_OK; /* read from a JSON file, which has no samples */
  if (!is_measured(record))
    return fail(ctx, HONE_E_INTERNAL, place_none(), "a chart of a row without samples");
  double bins[BINS] = {0};
  count_bins(data, axis, bins);
  strbuf_printf(html.out, "<svg class=\"strip\" viewBox=\"0 0 %d %d\" role=\"img\">", STRIP_WIDTH,
                STRIP_HEIGHT);
  put_strip_label(html, record);
  svg_line(html, "base", axis->from, STRIP_HEIGHT / 2.0, axis->to, STRIP_HEIGHT / 2.0);
  put_outline(html, axis, bins, color);
  if (isfinite(record->p50_lo_ms) && record->p50_lo_ms > 0) {
    const double low = axis_place(axis, record->p50_lo_ms);
    svg_rect(html, "interval", low, 1, fmax(axis_place(axis, record->p50_hi_ms) - low, 1),
             STRIP_HEIGHT - 2);
  }
  const double median = axis_place(axis, fmax(record->p50_ms, 1e-6));
  svg_line(html, "median", median, 1, median, STRIP_HEIGHT - 1);
  LITERAL(html.out, "</svg>");
  return HONE_OK;
}

/* -- compile time against speed */

enum {
  PLOT_WIDTH = 560,
  PLOT_HEIGHT = 320,
  PLOT_LEFT = 66,
  PLOT_BOTTOM = 274,
  PLOT_TOP = 22,
  PLOT_RIGHT = 540
};

static bool is_plotted(const struct record *record) {
  return record->rank > 0 && ready_ms(record) > 0 && record->p50_ms > 0;
}

static void put_grid(struct html html, const struct axis *x, const struct axis *y) {
  double ticks[TICKS];
  for (int i = 0, count = axis_ticks(x, ticks); i < count; i++) {
    const double at = axis_place(x, ticks[i]);
    svg_line(html, "grid", at, PLOT_TOP, at, PLOT_BOTTOM);
    svg_begin_text(html, "middle", at, PLOT_BOTTOM + 16);
    put_tick(html.out, ticks[i]);
    svg_end_text(html);
  }
  double last = 1e9;
  for (int i = 0, count = axis_ticks(y, ticks); i < count; i++) {
    const double at = axis_place(y, ticks[i]);
    svg_line(html, "grid", PLOT_LEFT, at, PLOT_RIGHT, at);
    if (last - at < 16) continue;
    svg_begin_text(html, "end", PLOT_LEFT - 8, at + 4);
    put_tick(html.out, ticks[i]);
    svg_end_text(html);
    last = at;
  }
  svg_begin_text(html, "end", PLOT_RIGHT, PLOT_HEIGHT - 8);
  LITERAL(html.out, "time to be ready \xe2\x86\x92");
  svg_end_text(html);
  svg_begin_text(html, "", 4, 12);
  LITERAL(html.out, "\xe2\x86\x91 median latency");
  svg_end_text(html);
}

/* The Pareto frontier: rows that no other row beats in both. Ranks ascend in latency, so each must compile faster than all
   before it. */
static void put_frontier(struct html html, const struct summary *summary, size_t begin, size_t end,
                         const struct axis *x, const struct axis *y) {
  double best = INFINITY;
  bool is_open = false;
  for (size_t i = begin; i < end; i++) {
    const struct record *record = &summary->records[i];
    if (!is_plotted(record) || ready_ms(record) >= best) continue;
    const double at_x = axis_place(x, ready_ms(record)), at_y = axis_place(y, record->p50_ms);
    strbuf_puts(html.out, is_open ? "H" : "<path class=\"frontier\" d=\"M");
    put_number(html.out, at_x, 1);
    strbuf_puts(html.out, is_open ? " V" : " ");
    put_number(html.out, at_y, 1);
    LITERAL(html.out, " ");
    best = ready_ms(record);
    is_open = true;
  }
  if (is_open) LITERAL(html.out, "\"/>");
}

void chart_begin_engine(const struct page *page, size_t i) {
  const size_t engine = page->matrix ? matrix_engine_of(page->matrix, page->summary, i) : SIZE_MAX;
  strbuf_printf(page->html.out, "<g class=\"c%d\"", color_of_backend(page->summary, i));
  if (engine != SIZE_MAX) strbuf_printf(page->html.out, " data-engine=\"%zu\"", engine);
  LITERAL(page->html.out, ">");
}

static void put_points(const struct page *page, size_t begin, size_t end, const struct axis *x,
                       const struct axis *y) {
  const struct html html = page->html;
  const struct summary *summary = page->summary;
  struct label_place labels[32];
  size_t count = 0;
  for (size_t i = begin; i < end; i++) {
    const struct record *record = &summary->records[i];
    if (!is_plotted(record)) continue;
    const double at_x = axis_place(x, ready_ms(record)), at_y = axis_place(y, record->p50_ms);
    chart_begin_engine(page, i);
    LITERAL(html.out, "<circle class=\"point\"");
    SVG_ATTRIBUTE(html, "cx", at_x);
    SVG_ATTRIBUTE(html, "cy", at_y);
    LITERAL(html.out, " r=\"6\"><title>");
    svg_name(html, record, 80);
    LITERAL(html.out, ": ");
    put_latency(html.out, record->p50_ms);
    LITERAL(html.out, ", compiled in ");
    put_ms(html.out, ready_ms(record));
    LITERAL(html.out, "</title></circle>");
    if (count < COUNT(labels) && record->config.label == 0) {
      const bool is_right = at_x > PLOT_RIGHT - 150;
      /* the line leaves a point to the left */
      const double label_y = label_clear(labels, count, at_x, at_y + (is_right ? -8 : 4));
      labels[count++] = (struct label_place){at_x, label_y};
      svg_begin_text(html, is_right ? "name end" : "name", at_x + (is_right ? -11 : 11), label_y);
      svg_name(html, record, 24);
      svg_end_text(html);
    }
    LITERAL(html.out, "</g>");
  }
}

bool plot_compile_against_speed(const struct page *page, size_t begin, size_t end) {
  const struct summary *summary = page->summary;
  struct axis x = {INFINITY, 0, PLOT_LEFT, PLOT_RIGHT}, y = {INFINITY, 0, PLOT_BOTTOM, PLOT_TOP};
  size_t count = 0;
  for (size_t i = begin; i < end; i++) {
    const struct record *record = &summary->records[i];
    if (!is_plotted(record)) continue;
    x.low = fmin(x.low, ready_ms(record));
    x.high = fmax(x.high, ready_ms(record));
    y.low = fmin(y.low, record->p50_ms);
    y.high = fmax(y.high, record->p50_ms);
    count++;
  }
  if (count < 2) return false;
  axis_widen(&x);
  axis_widen(&y);
  put_grid(page->html, &x, &y);
  put_frontier(page->html, summary, begin, end, &x, &y);
  put_points(page, begin, end, &x, &y);
  return true;
}

void chart_compile_against_speed(const struct page *page, size_t begin, size_t end) {
  const struct html html = page->html;
  struct strbuf plot = {0};
  struct page own = *page;
  own.html.out = &plot;
  if (plot_compile_against_speed(&own, begin, end)) {
    LITERAL(html.out,
            "<figure><figcaption>Speed against start-up <span>compile (cold) and load time; lower "
            "left is better; dashed: Pareto frontier</span></figcaption>");
    strbuf_printf(html.out,
                  "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Median "
                  "latency against compile and load time, both logarithmic\">",
                  PLOT_WIDTH, PLOT_HEIGHT);
    strbuf_append(html.out, plot.at ? plot.at : "", plot.length);
    LITERAL(html.out, "</svg></figure>");
  }
  if (plot.failed) html.out->failed = true;
  strbuf_deinit(&plot);
}

/* -- memory */

static void put_memory_row(const struct page *page, size_t i, double most, double y) {
  const struct html html = page->html;
  const struct record *record = &page->summary->records[i];
  const double left = 144, room = 320;
  const double peak = (double)record->worst.rss_peak, steady = (double)record->worst.rss_steady;
  chart_begin_engine(page, i);
  svg_begin_text(html, "name end", left - 10, y + 14);
  svg_name(html, record, 18);
  svg_end_text(html);
  svg_rect(html, "light", left, y, fmax(peak / most * room, 2), 20);
  if (steady > 0) svg_rect(html, "bar", left, y, fmax(fmin(steady, peak) / most * room, 2), 20);
  svg_begin_text(html, "", left + peak / most * room + 8, y + 14);
  put_bytes(html.out, peak);
  svg_end_text(html);
  LITERAL(html.out, "</g>");
}

void chart_memory(const struct page *page, size_t begin, size_t end) {
  const struct html html = page->html;
  const struct summary *summary = page->summary;
  double most = 0;
  int rows = 0;
  for (size_t i = begin; i < end; i++) {
    const struct record *record = &summary->records[i];
    if (!is_measured(record) || record->worst.rss_peak <= 0) continue;
    most = fmax(most, (double)record->worst.rss_peak);
    rows++;
  }
  if (rows == 0) return;
  LITERAL(html.out,
          "<figure><figcaption>Memory of the process <span>dark: while running; light: peak, "
          "including compilation</span></figcaption>");
  strbuf_printf(
      html.out,
      "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Peak and steady "
      "resident "
      "memory by backend\">",
      PLOT_WIDTH, rows * 34 + 8);
  double y = 6;
  for (size_t i = begin; i < end; i++) {
    const struct record *record = &summary->records[i];
    if (!is_measured(record) || record->worst.rss_peak <= 0) continue;
    put_memory_row(page, i, most, y);
    y += 34;
  }
  LITERAL(html.out, "</svg></figure>");
}

/* The curve of one process, from start to end; memory between two points is unknown. */
void chart_memory_over_time(struct html html, const struct record *record) {
  const struct process_record *facts = &record->worst;
  const double width = 560, height = 96, left = 4, bottom = 76, room = 64;
  const size_t count = facts->memory_when_count < facts->memory_count ? facts->memory_when_count
                                                                      : facts->memory_count;
  double most = 0;
  for (size_t i = 0; i < count; i++) most = fmax(most, (double)facts->memory_bytes[i]);
  const double end = count ? (double)facts->memory_when[count - 1] : 0;
  if (count < 2 || !(most > 0) || !(end > 0)) return;
  LITERAL(html.out,
          "<figure class=\"memory\"><figcaption>Memory over time <span>resident set of the first "
          "process and its children</span></figcaption>");
  strbuf_printf(html.out,
                "<svg class=\"plot\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"Resident "
                "memory from the process's start to its end\"><path class=\"curve\" d=\"M",
                width, height);
  for (size_t i = 0; i < count; i++) {
    if (i) LITERAL(html.out, " L");
    put_number(html.out, left + (double)facts->memory_when[i] / end * (width - 2 * left), 1);
    LITERAL(html.out, " ");
    put_number(html.out, bottom - (double)facts->memory_bytes[i] / most * room, 1);
  }
  LITERAL(html.out, "\"/>");
  svg_line(html, "grid", left, bottom, width - left, bottom);
  svg_begin_text(html, "", left, height - 6);
  LITERAL(html.out, "0");
  svg_end_text(html);
  svg_begin_text(html, "end", width - left, height - 6);
  put_ms(html.out, end / 1e6);
  svg_end_text(html);
  svg_begin_text(html, "end", width - left, 10);
  LITERAL(html.out, "highest ");
  put_bytes(html.out, most);
  svg_end_text(html);
  LITERAL(html.out, "</svg></figure>\n");
}
