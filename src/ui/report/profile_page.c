/* A profile as a standalone SVG picture, and as a page in the style of a study's page with the same pictures. */
#include <math.h>
#include <stdlib.h>

#include "core/format/format.h"
#include "core/machine/machine.h"
#include "report.h"
#include "profile_page.h"

enum { WIDTH = 1000, MARGIN = 20, LANE = 30, BAR = 20, LABEL = 380, FIGURES = 130, LONGEST = 40 };

static const char *class_of(const struct profiled_step *step) {
  static const struct {
    const char *begins, *name;
  } classes[] = {{"gemm", "contraction"},        {"conv", "contraction"},
                 {"depthwise", "contraction"},   {"attention", "contraction"},
                 {"elementwise", "elementwise"}, {"copy", "movement"},
                 {"pack", "movement"},           {"plain", "generic"}};
  for (size_t i = 0; i < COUNT(classes); i++)
    if (!strncmp(step->kind, classes[i].begins, strlen(classes[i].begins))) return classes[i].name;
  return "reduction";
}

static void put_title(const struct profile *p, size_t i, double ns, struct strbuf *out) {
  struct strbuf nodes = {0};
  profile_nodes(&p->plan.steps[i], &nodes);
  if (nodes.failed) out->failed = true;
  strbuf_printf(out, "<title>step %zu, %s, ", i, p->plan.steps[i].kind);
  put_latency(out, ns / 1e6);
  strbuf_puts(out, ": ");
  html_text((struct html){out}, nodes.at ? nodes.at : "");
  strbuf_printf(out, " %s</title>", p->plan.steps[i].shape);
  strbuf_deinit(&nodes);
}

/* Grid lines at round times from 0, at most eight, with labels below. */
static void put_time_axis(double ns, double scale, double left, double top, double bottom,
                          struct strbuf *out) {
  static const double steps[] = {1, 2, 5, 10};
  const struct html html = {out};
  const double decade = pow(10, floor(log10(fmax(ns, 1) / 8)));
  size_t k = 0;
  while (k + 1 < COUNT(steps) && ns / (steps[k] * decade) > 8) k++;
  for (double t = 0; t <= ns * 1.0001; t += steps[k] * decade) {
    svg_line(html, "grid", left + t * scale, top, left + t * scale, bottom);
    svg_begin_text(html, "middle", left + t * scale, bottom + 14);
    if (t > 0)
      put_tick(out, t / 1e6);
    else
      LITERAL(out, "0");
    svg_end_text(html);
  }
}

/* One lane for each thread, of the run of median length. */
static double put_lanes(const struct profile *p, double y, struct strbuf *out) {
  size_t steps = p->plan.step_count, cells = steps * (size_t)p->plan.threads;
  uint64_t origin = UINT64_MAX, last = 0;
  for (size_t k = 0; k < cells; k++) {
    if (!p->run[k].calls) continue;
    if (p->run[k].begin < origin) origin = p->run[k].begin;
    if (p->run[k].end > last) last = p->run[k].end;
  }
  const double length = last > origin ? (double)(last - origin) : 0;
  const double scale = length > 0 ? (WIDTH - 2 * MARGIN) / length : 0;
  put_time_axis(length, scale, MARGIN, y - 4, y + LANE * p->plan.threads, out);
  for (int t = 0; t < p->plan.threads; t++, y += LANE)
    for (size_t i = 0; i < steps; i++) {
      const struct hone_profile_entry *e = &p->run[(size_t)t * steps + i];
      double width = (double)e->busy * scale;
      if (!e->calls || width < 0.05) continue;
      strbuf_printf(out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\">",
                    class_of(&p->plan.steps[i]), MARGIN + (double)(e->begin - origin) * scale, y,
                    fmax(width - 0.2, 0.1), LANE - 6);
      put_title(p, i, (double)e->busy, out);
      strbuf_puts(out, "</rect>\n");
    }
  return y + 24;
}

/* A step's time as a pale bar, with its limit as a full bar in it. */
static void put_bar(const struct profile *p, size_t i, double y, double scale, struct strbuf *out) {
  const struct profiled_step *step = &p->plan.steps[i];
  const char *class_name = class_of(step);
  double ns = p->times[i].ns, limit = profile_limit_ns(p, i);
  struct strbuf nodes = {0}, label = {0};
  profile_nodes(step, &nodes);
  strbuf_put_safe(&label, nodes.at ? nodes.at : "", 34);
  if (nodes.failed || label.failed) out->failed = true;
  strbuf_printf(out, "<text class=\"name end\" x=\"%d\" y=\"%.1f\">", LABEL, y + 13);
  html_text((struct html){out}, label.at ? label.at : "");
  strbuf_printf(out, " (%s)</text>", step->kind);
  strbuf_deinit(&nodes);
  strbuf_deinit(&label);
  strbuf_printf(out, "<rect class=\"%s spent\" x=\"%d\" y=\"%.1f\" width=\"%.2f\" height=\"%d\">",
                class_name, LABEL + 8, y, ns * scale, BAR - 4);
  put_title(p, i, ns, out);
  strbuf_puts(out, "</rect>");
  if (isfinite(limit))
    strbuf_printf(out, "<rect class=\"%s\" x=\"%d\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"/>",
                  class_name, LABEL + 8, y, fmin(limit, ns) * scale, BAR - 4);
  strbuf_printf(out, "<text class=\"value\" x=\"%.1f\" y=\"%.1f\">", LABEL + 14 + ns * scale,
                y + 13);
  put_latency(out, ns / 1e6);
  if (isfinite(limit)) strbuf_printf(out, ", %.0f %%", 100 * limit / ns);
  strbuf_puts(out, "</text>\n");
}

static double put_legend(double y, struct strbuf *out) {
  static const char *const classes[] = {"contraction", "elementwise", "reduction", "movement",
                                        "generic"};
  const struct html html = {out};
  for (size_t i = 0; i < COUNT(classes); i++) {
    const double x = MARGIN + 110 * (double)i;
    svg_rect(html, classes[i], x, y, 11, 11);
    svg_begin_text(html, "", x + 17, y + 10);
    strbuf_puts(out, classes[i]);
    svg_end_text(html);
  }
  return y + 28;
}

static double put_bars(const struct profile *p, const size_t *order, size_t count, double y,
                       struct strbuf *out) {
  const size_t shown = count < LONGEST ? count : LONGEST;
  const double longest = count ? p->times[order[0]].ns : 1,
               scale = (WIDTH - LABEL - FIGURES - MARGIN) / longest;
  put_time_axis(longest, scale, LABEL + 8, y - 4, y + BAR * (double)shown, out);
  for (size_t i = 0; i < shown; i++, y += BAR) put_bar(p, order[i], y, scale, out);
  return y + 24;
}

/* The SVG element is written last, because the height is known only then. */
static void put_svg(const struct strbuf *body, double height, struct strbuf *out) {
  strbuf_printf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                "height=\"%d\" role=\"img\">\n",
                WIDTH, (int)height, WIDTH, (int)height);
  strbuf_append(out, body->at ? body->at : "", body->length);
  strbuf_puts(out, "</svg>\n");
  if (body->failed) out->failed = true;
}

static const char of_lanes[] = "one row for each thread; the run of median length",
                  of_bars[] = "pale: time; full color: the machine's limit";

static void put_heading(double y, const char *title, const char *further, struct strbuf *out) {
  const struct html html = {out};
  svg_begin_text(html, "model", MARGIN, y);
  strbuf_puts(out, title);
  svg_end_text(html);
  svg_begin_text(html, "end", WIDTH - MARGIN, y);
  strbuf_puts(out, further);
  svg_end_text(html);
}

static void put_figure_title(const struct profile *p, struct strbuf *out) {
  const struct html html = {out};
  svg_begin_text(html, "title", MARGIN, 38);
  html_text(html, p->model);
  svg_end_text(html);
  svg_begin_text(html, "", MARGIN, 58);
  strbuf_printf(out, "%d thread%s, %s, ", p->plan.threads, p->plan.threads == 1 ? "" : "s",
                p->precision);
  put_latency(out, p->total_ns / 1e6);
  svg_end_text(html);
}

static MUST_USE hone_status put_style(struct ctx *ctx, struct strbuf *out) {
  static const char *const names[] = {"report/figure.css", "report/profile.css"};
  strbuf_puts(out, "<style>");
  for (size_t i = 0; i < COUNT(names); i++) {
    size_t size = 0;
    const char *text = hone_embedded_text(names[i], &size);
    if (!text) return fail(ctx, HONE_E_INTERNAL, place_name(names[i]), "is not built in");
    strbuf_append(out, text, size);
  }
  strbuf_puts(out, "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
  return HONE_OK;
}

static MUST_USE hone_status render_figure(struct ctx *ctx, const struct profile *p,
                                          const size_t *order, size_t count, struct strbuf *out) {
  struct strbuf body = {0};
  const hone_status status = put_style(ctx, &body);
  put_figure_title(p, &body);
  put_heading(94, "Threads over time", of_lanes, &body);
  double y = put_legend(put_lanes(p, 110, &body), &body);
  put_heading(y + 16, "Longest steps", of_bars, &body);
  y = put_bars(p, order, count, y + 32, &body);
  put_svg(&body, y + MARGIN, out);
  strbuf_deinit(&body);
  return status ? status : strbuf_finish(ctx, out);
}

hone_status profile_svg(struct ctx *ctx, const struct profile *p, struct strbuf *out) {
  struct arena *arena;
  size_t *order, count;
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = profile_order(ctx, arena, p, &order, &count);
  if (!status) status = render_figure(ctx, p, order, count, out);
  arena_destroy(arena);
  return status;
}

/* -- page */

enum { H_STEP, H_NODES, H_KERNEL, H_TIME, H_SHARE, H_FLOPS, H_BYTES, H_LIMIT, H_CHOICE, H_COUNT };
static const struct heading {
  const char *title, *class_name, *help;
} headings[H_COUNT] = {
    {"#", "rank", "number of the step"},
    {"nodes of the model", "name", "nodes that are fused into the step, and its shape"},
    {"kernel", "kernel", "kernel that computes the step"},
    {"time", "num", "median over the runs, of the busiest thread"},
    {"share", "num", "share of a run"},
    {"GFLOP/s", "num", "arithmetic throughput"},
    {"GB/s", "num", "memory throughput"},
    {"% limit", "num limit", "share of the roofline limit from this machine's peaks"},
    {"choice", "choice", "parameters of the kernel"},
};

static void put_headings(struct strbuf *out) {
  strbuf_puts(out, "<thead><tr>");
  for (int h = 0; h < H_COUNT; h++)
    strbuf_printf(out,
                  "<th scope=\"col\" class=\"%s\" title=\"%s\"%s><button type=\"button\" "
                  "class=\"sort\">%s</button></th>",
                  headings[h].class_name, headings[h].help,
                  h == H_STEP ? " aria-sort=\"ascending\"" : "", headings[h].title);
  strbuf_puts(out, "</tr></thead>\n");
}

/* <td class data-label data-value>: the value sorts. */
static void begin_cell(struct strbuf *out, int heading, double value) {
  strbuf_printf(out, "<td class=\"%s\" data-label=\"%s\" data-value=\"",
                headings[heading].class_name, headings[heading].title);
  if (isfinite(value)) put_number(out, value, 6);
  strbuf_puts(out, "\">");
}

static void put_cell(struct strbuf *out, int heading, double value) {
  begin_cell(out, heading, value);
  if (isfinite(value)) put_number(out, value, 1);
  strbuf_puts(out, "</td>");
}

static void put_row(const struct profile *p, size_t i, struct strbuf *out) {
  const struct profiled_step *step = &p->plan.steps[i];
  const struct work *work = &step->work;
  const double ns = p->times[i].ns, limit = profile_limit_ns(p, i) / ns;
  struct strbuf nodes = {0};
  profile_nodes(step, &nodes);
  if (nodes.failed) out->failed = true;
  strbuf_puts(out, "<tbody><tr class=\"row\">");
  begin_cell(out, H_STEP, (double)i);
  strbuf_printf(out, "%zu</td><th scope=\"row\" class=\"name\" data-value=\"", i);
  html_attribute((struct html){out}, nodes.at ? nodes.at : "");
  strbuf_puts(out, "\"><b>");
  html_text((struct html){out}, nodes.at ? nodes.at : "");
  strbuf_printf(out,
                "</b><small>%s</small></th><td class=\"kernel\" data-label=\"kernel\" "
                "data-value=\"%s\">%s</td>",
                step->shape, step->kind, step->kind);
  begin_cell(out, H_TIME, ns);
  strbuf_puts(out, "<b>");
  put_latency(out, ns / 1e6);
  strbuf_puts(out, "</b></td>");
  begin_cell(out, H_SHARE, ns / p->total_ns);
  put_percent(out, ns / p->total_ns);
  strbuf_puts(out, "</td>");
  put_cell(out, H_FLOPS, work->flops / ns);
  put_cell(out, H_BYTES, (work->weight_bytes + work->value_bytes) / ns);
  begin_cell(out, H_LIMIT, limit);
  put_percent(out, limit);
  html_gauge((struct html){out}, limit);
  strbuf_printf(out,
                "</td><td class=\"choice\" data-label=\"choice\" data-value=\"%s\"><code>%s</code>"
                "</td></tr></tbody>\n",
                step->choice, step->choice);
  strbuf_deinit(&nodes);
}

static void put_table(const struct profile *p, struct strbuf *out) {
  strbuf_puts(out, "<section><h2>Steps</h2>\n<div class=\"scroll\"><table class=\"rows steps\">\n");
  put_headings(out);
  for (size_t i = 0; i < p->plan.step_count; i++)
    if (p->times[i].ns > 0) put_row(p, i, out);
  strbuf_puts(out, "</table></div></section>\n");
}

static void begin_figure(const char *title, const char *further, struct strbuf *out) {
  strbuf_printf(out,
                "<figure><figcaption>%s <span>%s</span></figcaption><div class=\"wide\" "
                "tabindex=\"0\" role=\"region\" aria-label=\"%s\">",
                title, further, title);
}

static void put_figures(const struct profile *p, const size_t *order, size_t count,
                        struct strbuf *out) {
  struct strbuf body = {0};
  begin_figure("Threads over time", of_lanes, out);
  double y = put_legend(put_lanes(p, MARGIN, &body), &body);
  put_svg(&body, y, out);
  strbuf_puts(out, "</div></figure>\n");
  strbuf_deinit(&body);
  body = (struct strbuf){0};
  begin_figure("Longest steps", of_bars, out);
  y = put_bars(p, order, count, MARGIN, &body);
  put_svg(&body, y, out);
  strbuf_puts(out, "</div></figure>\n");
  strbuf_deinit(&body);
}

static MUST_USE hone_status put_banner(struct ctx *ctx, const struct profile *p,
                                       struct strbuf *out) {
  const struct html html = {out};
  struct strbuf json = {0};
  char cpu[96];
  cpu_model(cpu, sizeof cpu);
  strbuf_puts(out, "<p class=\"facts\"><span>");
  html_text(html, cpu);
  strbuf_printf(out,
                "</span><span>%d core%s</span><span>%d thread%s</span><span>%s</span><span>%zu "
                "runs</span><span class=\"downloads\">",
                usable_core_count(), usable_core_count() == 1 ? "" : "s", p->plan.threads,
                p->plan.threads == 1 ? "" : "s", p->precision, p->run_count);
  hone_status status = profile_json(ctx, p, &json);
  if (!status)
    status = html_download(ctx, html, "hone-profile.json", "application/json", "JSON", &json);
  strbuf_deinit(&json);
  strbuf_puts(out, "</span></p>\n");
  return status;
}

/* "A run takes 33.4 ms. The machine's limit for its steps is 12.7 ms (38 %)." */
static void put_answer(const struct profile *p, const size_t *order, size_t count,
                       struct strbuf *out) {
  double limit = 0;
  for (size_t i = 0; i < count; i++) {
    const double step = profile_limit_ns(p, order[i]);
    if (isfinite(step)) limit += step;
  }
  strbuf_puts(out, "<p class=\"answer\">A run takes <b>");
  put_latency(out, p->total_ns / 1e6);
  strbuf_puts(out, "</b>.");
  if (p->peaks) {
    strbuf_puts(out, " The machine's limit for its steps is <b>");
    put_latency(out, limit / 1e6);
    strbuf_puts(out, "</b> (");
    put_percent(out, limit / p->total_ns);
    strbuf_puts(out, ").");
  }
  strbuf_puts(out, " <span class=\"quiet\">Barriers and waiting: ");
  put_percent(out, p->waiting_ns / p->total_ns);
  strbuf_puts(out, " of a run.</span></p>\n");
}

static void put_method(struct strbuf *out) {
  strbuf_puts(out,
              "<section><h2>How to read this</h2>\n<ul class=\"method\"><li>A step is one node of "
              "the model, or several that are fused. Its time is the busiest thread's, as median "
              "over the runs.</li><li>% limit compares with the roofline limit of the step's own "
              "algorithm on this machine, from measured peaks.</li></ul></section>\n");
}

static MUST_USE hone_status render_page(struct ctx *ctx, const struct profile *p,
                                        const size_t *order, size_t count, struct strbuf *out) {
  static const struct html_frame frame = {.css = "report/profile.css"};
  const struct html html = {out};
  TRY(html_head(ctx, html, p->model, &frame));
  TRY(put_banner(ctx, p, out));
  put_answer(p, order, count, out);
  put_figures(p, order, count, out);
  put_table(p, out);
  put_method(out);
  html_foot(html);
  return strbuf_finish(ctx, out);
}

hone_status profile_html(struct ctx *ctx, const struct profile *p, struct strbuf *out) {
  struct arena *arena;
  size_t *order, count;
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = profile_order(ctx, arena, p, &order, &count);
  if (!status) status = render_page(ctx, p, order, count, out);
  arena_destroy(arena);
  return status;
}
