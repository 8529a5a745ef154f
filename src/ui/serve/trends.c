/* trends: one row over all studies that measured it on one machine, with the points where its level changed.
 *
 * Machines are distinguished by processor, cores and memory, so software may change along a line: a mark is at each change of
 * the fingerprint, and a change lists the differing facts. The drawing is also a table. Figures are pooled medians; change
 * points are found in their logarithms (core/stats/change_points.c).
 */
#include "serve.h"

#include <math.h>
#include <stdlib.h>

#define SIGNIFICANCE 0.01
enum { WIDTH = 900, HEIGHT = 300, LEFT = 70, RIGHT = 884, TOP = 20, BOTTOM = 262 };

struct point {
  const struct study_row *study;
  struct fact *facts;
  size_t fact_count;
  double ms;        /* NaN: not measured */
  double low, high; /* quartiles of the blocks' medians */
  enum record_status status;
};
struct trend {
  struct config config;
  struct point *points;   /* oldest first */
  size_t count, left_out; /* omitted studies, of other machines */
  struct change_point *changes;
  size_t change_count;
  size_t *measured; /* points of the series that was searched */
  size_t measured_count;
};

/* -- reading */

static const char *fact_of(const struct point *point, const char *key) {
  const char *value = fact_find(point->facts, point->fact_count, key);
  return value ? value : "";
}

static bool same_machine(const struct point *a, const struct point *b) {
  static const char *const keys[] = {"cpu", "cores_usable", "threads_per_core", "hypervisor"};
  for (size_t i = 0; i < COUNT(keys); i++)
    if (strcmp(fact_of(a, keys[i]), fact_of(b, keys[i]))) return false;
  return true;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static MUST_USE hone_status measure_point(struct request *request, struct arena *arena,
                                          const struct config_data *data, struct point *point) {
  struct slice_median *medians;
  double *ms;
  size_t count;
  point->status = data->process_count || data->block_count ? STATUS_ok : STATUS_interrupted;
  for (size_t i = 0; i < data->process_count; i++)
    if (data->processes[i].status != STATUS_ok) point->status = data->processes[i].status;
  TRY(block_medians(&request->ctx, arena, data, &medians, &count));
  point->ms = point->low = point->high = NAN;
  if (!count) return HONE_OK;
  TRY(NEW_ARRAY(&request->ctx, arena, ms, count));
  for (size_t i = 0; i < count; i++) ms[i] = medians[i].ns / 1e6;
  qsort(ms, count, sizeof *ms, by_value);
  point->ms = percentile_sorted(ms, count, 0.5);
  point->low = percentile_sorted(ms, count, 0.25);
  point->high = percentile_sorted(ms, count, 0.75);
  return HONE_OK;
}

static MUST_USE hone_status read_point(struct request *request, struct store *store,
                                       const struct study_row *study, struct point *out,
                                       struct config *config) {
  struct arena *arena;
  struct config_data data;
  out->study = study;
  TRY(facts_read(&request->ctx, request->arena, study->machine_json, &out->facts,
                 &out->fact_count));
  TRY(arena_create(&request->ctx, 0, &arena));
  hone_status status =
      store_read_config(&request->ctx, store, arena, study->key, request->id, &data);
  if (!status) status = measure_point(request, arena, &data, out);
  if (!status) *config = data.config;
  arena_destroy(arena);
  return status;
}

/* A wrong or failed row has no level; an unverified one has. */
static bool counts(const struct point *point) {
  return isfinite(point->ms) && point->ms > 0 &&
         (point->status == STATUS_ok || point->status == STATUS_unverified);
}

/* A study that did not measure the row is skipped. */
static bool had_turn(const struct point *point) {
  return isfinite(point->ms) || point->status != STATUS_interrupted;
}

static MUST_USE hone_status find_changes(struct request *request, struct trend *trend) {
  double *x;
  TRY(NEW_ARRAY(&request->ctx, request->arena, x, trend->count));
  TRY(NEW_ARRAY(&request->ctx, request->arena, trend->measured, trend->count));
  for (size_t i = 0; i < trend->count; i++) {
    if (!counts(&trend->points[i])) continue;
    x[trend->measured_count] = log(trend->points[i].ms);
    trend->measured[trend->measured_count++] = i;
  }
  return change_points(&request->ctx, request->arena, x, trend->measured_count, SIGNIFICANCE,
                       seed_of(request->id), &trend->changes, &trend->change_count);
}

static MUST_USE hone_status read_trend(struct request *request, struct store *store,
                                       struct trend *out) {
  struct study_row *rows;
  size_t count;
  *out = (struct trend){0};
  TRY(store_studies_of_config(&request->ctx, store, request->arena, request->id, TREND_MOST, &rows,
                              &count));
  if (!count)
    return fail(&request->ctx, HONE_E_NOFILE, place_name(request->id), "no study has this row");
  TRY(NEW_ARRAY(&request->ctx, request->arena, out->points, count));
  for (size_t i = 0; i < count; i++) { /* newest first; the trend is of its machine */
    struct point *point = &out->points[out->count];
    TRY(read_point(request, store, &rows[i], point, &out->config));
    if (!had_turn(point)) continue;
    if (same_machine(point, &out->points[0]))
      out->count++;
    else
      out->left_out++;
  }
  if (!out->count)
    return fail(&request->ctx, HONE_E_NOFILE, place_name(request->id),
                "no study has measured this row");
  for (size_t i = 0; i < out->count / 2; i++) {
    const struct point swapped = out->points[i];
    out->points[i] = out->points[out->count - 1 - i];
    out->points[out->count - 1 - i] = swapped;
  }
  return find_changes(request, out);
}

/* -- drawing */

static double x_of(const struct trend *trend, size_t i) {
  const double steps = trend->count > 1 ? (double)(trend->count - 1) : 1;
  return LEFT + 12 + (RIGHT - LEFT - 24) * (double)i / steps;
}

static struct axis axis_of(const struct trend *trend) {
  struct axis axis = {INFINITY, 0, BOTTOM, TOP};
  for (size_t i = 0; i < trend->count; i++) {
    if (!counts(&trend->points[i])) continue;
    axis.low = fmin(axis.low, trend->points[i].low);
    axis.high = fmax(axis.high, trend->points[i].high);
  }
  axis_widen(&axis);
  return axis;
}

static void draw_scale(struct html html, const struct trend *trend, const struct axis *axis) {
  double ticks[TICKS];
  const int count = axis_ticks(axis, ticks);
  for (int i = 0; i < count; i++) {
    const double y = axis_place(axis, ticks[i]);
    svg_line(html, "grid", LEFT, y, RIGHT, y);
    svg_begin_text(html, "end", LEFT - 8, y + 4);
    put_tick(html.out, ticks[i]);
    svg_end_text(html);
  }
  svg_begin_text(html, "", LEFT, BOTTOM + 24);
  put_time(html.out, trend->points[0].study->started_unix_ms);
  svg_end_text(html);
  svg_begin_text(html, "end", RIGHT, BOTTOM + 24);
  put_time(html.out, trend->points[trend->count - 1].study->started_unix_ms);
  svg_end_text(html);
}

static void draw_levels(struct html html, const struct trend *trend, const struct axis *axis) {
  for (size_t c = 0; c <= trend->change_count; c++) {
    if (!trend->change_count) return;
    const size_t begin = c ? trend->changes[c - 1].at : 0,
                 end = c < trend->change_count ? trend->changes[c].at : trend->measured_count;
    const double level = exp(c ? trend->changes[c - 1].after : trend->changes[0].before),
                 y = axis_place(axis, level);
    svg_line(html, "level", x_of(trend, trend->measured[begin]), y,
             x_of(trend, trend->measured[end - 1]), y);
    if (c == 0) continue;
    const double x =
        (x_of(trend, trend->measured[begin]) + x_of(trend, trend->measured[begin - 1])) / 2;
    svg_line(
        html,
        trend->changes[c - 1].after > trend->changes[c - 1].before ? "shift worse" : "shift better",
        x, TOP, x, BOTTOM);
  }
}

static void draw_points(struct html html, const struct trend *trend, const struct axis *axis) {
  for (size_t i = 0; i < trend->count; i++) {
    const struct point *point = &trend->points[i];
    const double x = x_of(trend, i);
    if (i && strcmp(point->study->fingerprint, point[-1].study->fingerprint))
      svg_line(html, "software", (x + x_of(trend, i - 1)) / 2, TOP, (x + x_of(trend, i - 1)) / 2,
               BOTTOM);
    if (!counts(point)) {
      svg_begin_text(html, "middle failed", x, BOTTOM - 4);
      LITERAL(html.out, "\xc3\x97");
      svg_end_text(html);
      continue;
    }
    const double y = axis_place(axis, point->ms);
    svg_line(html, "spread", x, axis_place(axis, point->low), x, axis_place(axis, point->high));
    LITERAL(html.out, "<a href=\"/study/");
    html_attribute(html, point->study->key);
    LITERAL(html.out, "\"><circle class=\"point c0\"");
    SVG_ATTRIBUTE(html, "cx", x);
    SVG_ATTRIBUTE(html, "cy", y);
    LITERAL(html.out, " r=\"5\"><title>");
    put_latency(html.out, point->ms);
    LITERAL(html.out, ", ");
    put_time(html.out, point->study->started_unix_ms);
    LITERAL(html.out, "</title></circle></a>");
  }
}

static void put_drawing(struct html html, const struct trend *trend) {
  if (!trend->measured_count) return;
  const struct axis axis = axis_of(trend);
  strbuf_printf(
      html.out,
      "<figure class=\"trend\"><figcaption>median latency <span>one point for each study, with "
      "quartiles; dashed line: the software changed</span></figcaption><div class=\"wide\" "
      "tabindex=\"0\" role=\"region\" aria-label=\"trend\"><svg class=\"plot\" viewBox=\"0 0 %d "
      "%d\" role=\"img\" aria-label=\"latency over time\">",
      WIDTH, HEIGHT);
  draw_scale(html, trend, &axis);
  draw_levels(html, trend, &axis);
  draw_points(html, trend, &axis);
  LITERAL(html.out, "</svg></div></figure>\n");
}

/* -- words */

static void put_differences(struct html html, const struct point *before,
                            const struct point *after) {
  bool is_first = true;
  for (size_t i = 0; i < after->fact_count; i++) {
    const char *key = after->facts[i].key, *was = fact_of(before, key);
    if (!strncmp(key, "peaks", 5) || !strcmp(was, after->facts[i].value)) continue;
    LITERAL(html.out, "<br>");
    html_text(html, key);
    LITERAL(html.out, ": ");
    html_text(html, was);
    LITERAL(html.out, " \xe2\x86\x92 ");
    html_text(html, after->facts[i].value);
    is_first = false;
  }
  if (is_first) LITERAL(html.out, "<br>no fact of the machine differs");
}

static void put_change_row(struct html html, const struct trend *trend,
                           const struct change_point *change) {
  const struct point *after = &trend->points[trend->measured[change->at]],
                     *before = &trend->points[trend->measured[change->at - 1]];
  const double ratio = exp(change->after - change->before);
  strbuf_printf(html.out, "<li><p><b class=\"%s\">", ratio > 1 ? "worse" : "better");
  put_percent(html.out, fabs(ratio - 1));
  strbuf_puts(html.out, ratio > 1 ? " slower" : " faster");
  LITERAL(html.out, "</b> since ");
  put_time(html.out, after->study->started_unix_ms);
  LITERAL(html.out, ": ");
  put_latency(html.out, exp(change->before));
  LITERAL(html.out, " \xe2\x86\x92 ");
  put_latency(html.out, exp(change->after));
  LITERAL(html.out, " (");
  put_study_link(html, after->study);
  LITERAL(html.out, ", <a href=\"/compare?before=");
  html_attribute(html, before->study->key);
  LITERAL(html.out, "&amp;after=");
  html_attribute(html, after->study->key);
  LITERAL(html.out, "\">compared with the previous study</a>)");
  put_differences(html, before, after);
  LITERAL(html.out, "</p></li>\n");
}

static void put_changes(struct html html, const struct trend *trend) {
  LITERAL(html.out, "<section><h2>Changes of its level</h2>\n");
  if (!trend->change_count)
    strbuf_printf(html.out, "<p class=\"answer\">None in %zu stud%s%s.</p>\n",
                  trend->measured_count, trend->measured_count == 1 ? "y" : "ies",
                  trend->measured_count < 10 ? "; at least about 10 are needed to show one" : "");
  LITERAL(html.out, "<ul class=\"failures\">");
  for (size_t i = trend->change_count; i-- > 0;) put_change_row(html, trend, &trend->changes[i]);
  LITERAL(html.out,
          "</ul>\n<p class=\"method\">E-divisive (Matteson and James 2014) on the logarithms of "
          "the medians. A change point is kept if fewer than 1 % of permutations do as well, so 1 "
          "of 100 constant series shows one.</p></section>\n");
}

static void put_points(struct html html, const struct trend *trend) {
  LITERAL(html.out,
          "<section><h2>Every study</h2>\n<div class=\"scroll\"><table class=\"rows plain\"><thead>"
          "<tr><th scope=\"col\">study</th><th scope=\"col\">when</th><th scope=\"col\" "
          "class=\"num\">median</th><th scope=\"col\">status</th></tr></thead>\n");
  for (size_t i = trend->count; i-- > 0;) {
    const struct point *point = &trend->points[i];
    LITERAL(html.out, "<tbody><tr class=\"row\"><th scope=\"row\" class=\"name\">");
    put_study_link(html, point->study);
    LITERAL(html.out, "</th><td data-label=\"when\">");
    put_time(html.out, point->study->started_unix_ms);
    LITERAL(html.out, "</td><td class=\"num\" data-label=\"median\">");
    put_latency(html.out, point->ms);
    strbuf_printf(html.out, "</td><td data-label=\"status\">%s</td></tr></tbody>\n",
                  status_text(point->status));
  }
  LITERAL(html.out, "</table></div></section>\n");
}

static void put_title(struct strbuf *out, const struct config *config) {
  strbuf_printf(out, "%s: %s, batch %d, %d thread%s, %s", config->model, config->backend,
                config->batch, config->threads, config->threads == 1 ? "" : "s", config->precision);
}

static MUST_USE hone_status put_trend(struct request *request, struct store *store) {
  const struct html html = {&request->out};
  const struct html_frame frame = page_frame("trends");
  struct trend trend;
  struct strbuf title = {0};
  TRY(read_trend(request, store, &trend));
  put_title(&title, &trend.config);
  const hone_status status = html_head(&request->ctx, html, title.at ? title.at : "", &frame);
  strbuf_deinit(&title);
  TRY(status);
  LITERAL(html.out, "<p class=\"facts\"><span>");
  html_text(html, fact_of(&trend.points[0], "cpu"));
  LITERAL(html.out, "</span><span>");
  html_text(html, fact_of(&trend.points[0], "cores_usable"));
  strbuf_printf(html.out, " cores</span><span>%zu stud%s</span>", trend.count,
                trend.count == 1 ? "y" : "ies");
  if (trend.left_out)
    strbuf_printf(html.out, "<span>%zu of other machines omitted</span>", trend.left_out);
  LITERAL(html.out, "</p>\n");
  put_drawing(html, &trend);
  put_changes(html, &trend);
  put_points(html, &trend);
  html_foot(html);
  return strbuf_finish(&request->ctx, &request->out);
}

hone_status page_trend(struct request *request) {
  struct store *store;
  TRY(open_store(request, &store));
  if (!store) return fail(&request->ctx, HONE_E_NOFILE, place_none(), "there are no studies yet");
  const hone_status status = put_trend(request, store);
  store_close(store);
  return status;
}

/* -- the list */

static void put_series(struct html html, const struct config_series *series) {
  LITERAL(html.out, "<tbody><tr class=\"row\"><th scope=\"row\" class=\"name\"><a href=\"/trend/");
  html_attribute(html, series->key);
  LITERAL(html.out, "\">");
  html_text(html, series->model);
  LITERAL(html.out, "</a></th><td data-label=\"engine\">");
  html_text(html, series->backend);
  if (strcmp(series->variant, "default")) {
    LITERAL(html.out, " ");
    html_text(html, series->variant);
  }
  strbuf_printf(html.out,
                "</td><td class=\"num\" data-label=\"batch\">%d</td><td class=\"num\" "
                "data-label=\"threads\">%d</td><td data-label=\"precision\">",
                series->batch, series->threads);
  html_text(html, series->precision);
  LITERAL(html.out, "</td><td data-label=\"scenario\">");
  html_text(html, series->scenario);
  strbuf_printf(html.out, "</td><td class=\"num\" data-label=\"studies\">%d</td></tr></tbody>\n",
                series->study_count);
}

hone_status page_trends(struct request *request) {
  enum { MOST = 500 };
  const struct html html = {&request->out};
  const struct html_frame frame = page_frame("trends");
  struct config_series *series = NULL;
  struct store *store;
  size_t count = 0;
  TRY(open_store(request, &store));
  const hone_status status =
      store ? store_list_series(&request->ctx, store, request->arena, 2, MOST, &series, &count)
            : HONE_OK;
  store_close(store);
  TRY(status);
  TRY(html_head(&request->ctx, html, "Trends", &frame));
  if (!count)
    LITERAL(html.out,
            "<p class=\"answer\">A trend needs a row in two studies: measure the same model again "
            "with <code>hone bench MODEL --resume never</code>.</p>\n");
  else
    LITERAL(
        html.out,
        "<p class=\"facts\"><span>rows that several studies measured</span></p><div "
        "class=\"scroll\"><table class=\"rows plain\"><thead><tr><th scope=\"col\">model</th><th "
        "scope=\"col\">engine</th><th scope=\"col\" class=\"num\">batch</th><th scope=\"col\" "
        "class=\"num\">threads</th><th scope=\"col\">precision</th><th "
        "scope=\"col\">scenario</th><th scope=\"col\" class=\"num\">studies</th></tr></thead>\n");
  for (size_t i = 0; i < count; i++) put_series(html, &series[i]);
  if (count) LITERAL(html.out, "</table></div>\n");
  html_foot(html);
  return strbuf_finish(&request->ctx, &request->out);
}
