/* The profile as a picture, SVG with its own style, light and dark, no script; and as a page with it. */
#include <math.h>
#include <stdlib.h>

#include "../report/report.h"
#include "profile.h"

enum { WIDTH = 1000, MARGIN = 20, LANE = 30, BAR = 20, LABEL = 380, FIGURES = 130, LONGEST = 40 };

static const char style[] =
    "svg{font:12px system-ui,\"DejaVu Sans\",sans-serif;background:#fbfaf7;color:#1b1d21}"
    "svg text{fill:currentColor}.e{text-anchor:end}.m{opacity:.7}"
    ".contraction{fill:#0b8a7d}.elementwise{fill:#d9722a}.reduction{fill:#3f6fd1}"
    ".copy{fill:#8e5bc4}.plain{fill:#a8323e}.t{opacity:.35}"
    "@media(prefers-color-scheme:dark){svg{background:#121417;color:#e8e6e1}}";

static const char *class_of(const struct profiled_step *step) {
  static const struct {
    const char *begins, *name;
  } classes[] = {{"gemm", "contraction"},
                 {"conv", "contraction"},
                 {"depthwise", "contraction"},
                 {"attention", "contraction"},
                 {"elementwise", "elementwise"},
                 {"copy", "copy"},
                 {"pack", "copy"},
                 {"plain", "plain"}};
  for (size_t i = 0; i < COUNT(classes); i++)
    if (!strncmp(step->kind, classes[i].begins, strlen(classes[i].begins))) return classes[i].name;
  return "reduction";
}

static void put_title(const struct profile *p, size_t i, double ns, struct text *out) {
  struct text nodes = {0};
  profile_nodes(&p->plan.steps[i], &nodes);
  if (nodes.failed) out->failed = true;
  text_printf(out, "<title>step %zu, %s, %.2f us: ", i, p->plan.steps[i].kind, ns / 1e3);
  html_text((struct html){out}, nodes.at ? nodes.at : "");
  text_printf(out, " %s</title>", p->plan.steps[i].shape);
  text_deinit(&nodes);
}

/* One lane a thread: the run of median length. */
static double put_lanes(const struct profile *p, double y, struct text *out) {
  size_t steps = p->plan.step_count, cells = steps * (size_t)p->plan.threads;
  uint64_t origin = UINT64_MAX, last = 0;
  for (size_t k = 0; k < cells; k++) {
    if (!p->run[k].calls) continue;
    if (p->run[k].begin < origin) origin = p->run[k].begin;
    if (p->run[k].end > last) last = p->run[k].end;
  }
  double scale = last > origin ? (WIDTH - 2 * MARGIN) / (double)(last - origin) : 0;
  for (int t = 0; t < p->plan.threads; t++, y += LANE)
    for (size_t i = 0; i < steps; i++) {
      const struct hone_profile_entry *e = &p->run[(size_t)t * steps + i];
      double width = (double)e->busy * scale;
      if (!e->calls || width < 0.05) continue;
      text_printf(out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\">",
                  class_of(&p->plan.steps[i]), MARGIN + (double)(e->begin - origin) * scale, y,
                  fmax(width - 0.2, 0.1), LANE - 6);
      put_title(p, i, (double)e->busy, out);
      text_puts(out, "</rect>\n");
    }
  return y;
}

/* A step's time as a pale bar, its limit as a full one in it. */
static void put_bar(const struct profile *p, size_t i, double y, double scale, struct text *out) {
  const struct profiled_step *step = &p->plan.steps[i];
  const char *class_name = class_of(step);
  double ns = p->times[i].ns, limit = profile_limit_ns(p, i);
  struct text nodes = {0}, label = {0};
  profile_nodes(step, &nodes);
  text_put_safe(&label, nodes.at ? nodes.at : "", 44);
  if (nodes.failed || label.failed) out->failed = true;
  text_printf(out, "<text class=\"e\" x=\"%d\" y=\"%.1f\">", LABEL, y + 13);
  html_text((struct html){out}, label.at ? label.at : "");
  text_printf(out, " <tspan class=\"m\">%s</tspan></text>", step->kind);
  text_deinit(&nodes);
  text_deinit(&label);
  text_printf(out, "<rect class=\"%s t\" x=\"%d\" y=\"%.1f\" width=\"%.2f\" height=\"%d\">",
              class_name, LABEL + 8, y, ns * scale, BAR - 4);
  put_title(p, i, ns, out);
  text_puts(out, "</rect>");
  if (isfinite(limit))
    text_printf(out, "<rect class=\"%s\" x=\"%d\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"/>",
                class_name, LABEL + 8, y, fmin(limit, ns) * scale, BAR - 4);
  text_printf(out, "<text x=\"%.1f\" y=\"%.1f\">%.1f us", LABEL + 14 + ns * scale, y + 13,
              ns / 1e3);
  if (isfinite(limit)) text_printf(out, ", %.0f %%", 100 * limit / ns);
  text_puts(out, "</text>\n");
}

static void put_picture(const struct profile *p, const size_t *order, size_t count,
                        bool stands_alone, struct text *out) {
  size_t shown = count < LONGEST ? count : LONGEST;
  int height = 2 * MARGIN + 70 + LANE * p->plan.threads + BAR * (int)shown;
  double longest = count ? p->times[order[0]].ns : 1;
  text_printf(out,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
              "height=\"%d\" role=\"img\">\n",
              WIDTH, height, WIDTH, height);
  if (stands_alone) text_printf(out, "<style>%s</style>\n", style);
  text_printf(out, "<text x=\"%d\" y=\"%d\">", MARGIN, MARGIN + 10);
  html_text((struct html){out}, p->model);
  text_printf(out, ", %d thread%s, %s: %.3f ms. One row a thread over time.</text>\n",
              p->plan.threads, p->plan.threads > 1 ? "s" : "", p->precision, p->total_ns / 1e6);
  double y = put_lanes(p, MARGIN + 22, out);
  text_printf(out,
              "<text x=\"%d\" y=\"%.1f\">The longest steps: time, and in full color what the "
              "machine allows.</text>\n",
              MARGIN, y + 20);
  y += 32;
  for (size_t i = 0; i < shown; i++, y += BAR)
    put_bar(p, order[i], y, (WIDTH - LABEL - FIGURES - MARGIN) / longest, out);
  text_puts(out, "</svg>\n");
}

hone_status profile_svg(struct ctx *ctx, const struct profile *p, struct text *out) {
  struct arena *arena;
  size_t *order, count;
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = profile_order(ctx, arena, p, &order, &count);
  if (!status) put_picture(p, order, count, true, out);
  arena_destroy(arena);
  return status ? status : text_finish(ctx, out);
}

/* -- page ---------------------------------------------------------------------------------------- */

static void put_row(const struct profile *p, size_t i, struct text *out) {
  const struct profiled_step *step = &p->plan.steps[i];
  const struct work *work = &step->work;
  double ns = p->times[i].ns, limit = profile_limit_ns(p, i);
  struct text nodes = {0};
  profile_nodes(step, &nodes);
  if (nodes.failed) out->failed = true;
  text_printf(out, "<tr><td>%zu<td>%s<td>%.2f<td>%.1f<td>%.1f<td>%.2f<td>", i, step->kind, ns / 1e3,
              100 * ns / p->total_ns, work->flops / ns,
              (work->weight_bytes + work->value_bytes) / ns);
  if (isfinite(limit)) text_printf(out, "%.0f", 100 * limit / ns);
  text_puts(out, "<td>");
  html_text((struct html){out}, nodes.at ? nodes.at : "");
  text_printf(out, "<td>%s<td><code>%s</code></tr>\n", step->shape, step->choice);
  text_deinit(&nodes);
}

hone_status profile_html(struct ctx *ctx, const struct profile *p, struct text *out) {
  struct arena *arena;
  size_t *order, count;
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = profile_order(ctx, arena, p, &order, &count);
  text_puts(
      out,
      "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"generator\" "
      "content=\"hone " HONE_VERSION
      "\"><meta name=\"viewport\" "
      "content=\"width=device-width\">\n<meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>hone profile</title>\n");
  text_printf(out,
              "<style>%s\nbody{font:14px system-ui,sans-serif;margin:24px;background:#fbfaf7;"
              "color:#1b1d21}table{border-collapse:collapse}td,th{padding:2px 8px;text-align:right;"
              "border-bottom:1px solid #8884}td:nth-child(n+8),td:nth-child(2),th:nth-child(n+8),"
              "th:nth-child(2){text-align:left}code{font-size:11px}svg{max-width:100%%;height:auto}"
              "@media(prefers-color-scheme:dark){body{background:#121417;color:#e8e6e1}}</style>\n",
              style);
  if (!status) {
    put_picture(p, order, count, false, out);
    text_puts(out,
              "<table><tr><th>step<th>kernel<th>us<th>share %<th>GFLOP/s<th>GB/s<th>of limit "
              "%<th>nodes of the model<th>shape<th>choice</tr>\n");
    for (size_t i = 0; i < p->plan.step_count; i++)
      if (p->times[i].ns > 0) put_row(p, i, out);
    text_puts(out, "</table></html>\n");
  }
  arena_destroy(arena);
  return status ? status : text_finish(ctx, out);
}
