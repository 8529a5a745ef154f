/* svg: elements of all charts. Colors are classes of the page's style: one for each engine, the same in every chart, table and
 * report.
 */
#include "report.h"

#include <math.h>
#include <stdlib.h>

void html_take(struct html html, struct strbuf *untrusted) {
  if (untrusted->failed) html.out->failed = true;
  html_text(html, untrusted->at ? untrusted->at : "");
  strbuf_deinit(untrusted);
}

/* -- one color an engine */

/* Engines that are often next to each other have distant colors. Other engines get the colors that are left. */
static const struct {
  const char *name;
  int color;
} engine_colors[] = {
    {"native", 0},       {"onnxruntime", 1},  {"openvino", 2},      {"tvm", 3},
    {"iree", 4},         {"litert", 5},       {"tflite", 5},        {"xla", 6},
    {"pytorch", 7},      {"torch", 7},        {"torch_compile", 8}, {"tensorrt", 9},
    {"torchscript", 10}, {"aotinductor", 11}, {"plaidml", 12},      {"ncnn", 13},
    {"executorch", 14},  {"mnn", 15},
};

static int known_color(const char *backend) {
  for (size_t i = 0; i < COUNT(engine_colors); i++)
    if (!strcmp(engine_colors[i].name, backend)) return engine_colors[i].color;
  return -1;
}

static bool is_first_of_backend(const struct summary *summary, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (!strcmp(summary->records[k].config.backend, summary->records[i].config.backend))
      return false;
  return true;
}

/* Other engines share the colors that the named engines of this study do not use. */
int color_of_backend(const struct summary *summary, size_t i) {
  const char *backend = summary->records[i].config.backend;
  bool taken[COLOR_COUNT] = {false};
  int others = 0, left = 0;
  if (known_color(backend) >= 0) return known_color(backend);
  for (size_t k = 0; k < summary->record_count; k++) {
    const int color = known_color(summary->records[k].config.backend);
    if (color >= 0) taken[color] = true;
  }
  for (size_t k = 0; k < summary->record_count; k++) {
    if (!strcmp(summary->records[k].config.backend, backend)) break;
    others +=
        is_first_of_backend(summary, k) && known_color(summary->records[k].config.backend) < 0;
  }
  for (int c = 0; c < COLOR_COUNT; c++) left += !taken[c];
  if (left == 0) return others % COLOR_COUNT;
  others %= left;
  for (int c = COLOR_COUNT - 1; c >= 0;
       c--) /* from the end, because the named engines use the first ones */
    if (!taken[c] && others-- == 0) return c;
  return 0;
}

/* -- elements */

double axis_place(const struct axis *axis, double value) {
  const double share = log(value / axis->low) / log(axis->high / axis->low);
  return axis->from + fmin(fmax(share, 0), 1) * (axis->to - axis->from);
}

void axis_widen(struct axis *axis) {
  const double margin = fmax(pow(axis->high / axis->low, 0.12), 1.15);
  axis->low /= margin;
  axis->high *= margin;
}

void svg_line(struct html html, const char *class_name, double x1, double y1, double x2,
              double y2) {
  strbuf_printf(html.out, "<line class=\"%s\"", class_name);
  SVG_ATTRIBUTE(html, "x1", x1);
  SVG_ATTRIBUTE(html, "y1", y1);
  SVG_ATTRIBUTE(html, "x2", x2);
  SVG_ATTRIBUTE(html, "y2", y2);
  LITERAL(html.out, "/>");
}

void svg_rect(struct html html, const char *class_name, double x, double y, double width,
              double height) {
  strbuf_printf(html.out, "<rect class=\"%s\"", class_name);
  SVG_ATTRIBUTE(html, "x", x);
  SVG_ATTRIBUTE(html, "y", y);
  SVG_ATTRIBUTE(html, "width", width);
  SVG_ATTRIBUTE(html, "height", height);
  LITERAL(html.out, " rx=\"2\"/>");
}

void svg_begin_text(struct html html, const char *class_name, double x, double y) {
  strbuf_printf(html.out, "<text class=\"%s\"", class_name);
  SVG_ATTRIBUTE(html, "x", x);
  SVG_ATTRIBUTE(html, "y", y);
  LITERAL(html.out, ">");
}
void svg_end_text(struct html html) { LITERAL(html.out, "</text>"); }

/* Short enough for a chart's label. */
void svg_name(struct html html, const struct record *record, size_t max) {
  struct strbuf name = {0}, shown = {0};
  strbuf_puts(&name, record->config.backend);
  char marks[256];
  if (engine_marks(&record->config, marks)[0]) strbuf_printf(&name, " %s", marks);
  if (record->config.label > 0) strbuf_puts(&name, " again");
  strbuf_put_safe(&shown, name.at ? name.at : "", max);
  if (name.failed) html.out->failed = true;
  strbuf_deinit(&name);
  html_take(html, &shown);
}

/* Round values: decades on a long axis, 1-2-5 on a shorter one, even steps on a short one. */
int axis_ticks(const struct axis *axis, double ticks[TICKS]) {
  static const double steps[] = {1, 2, 5};
  const double ratio = axis->high / axis->low;
  int count = 0;
  if (ratio < 6) {
    const double raw = (axis->high - axis->low) / 4, power = pow(10, floor(log10(raw)));
    const double step = power * (raw / power < 1.5   ? 1
                                 : raw / power < 3.5 ? 2
                                 : raw / power < 7.5 ? 5
                                                     : 10);
    for (double k = ceil(axis->low / step); k * step <= axis->high && count < TICKS; k++)
      ticks[count++] = k * step;
    return count;
  }
  for (double power = floor(log10(axis->low)); power <= ceil(log10(axis->high)); power++)
    for (size_t i = 0; i < (ratio < 120 ? 3 : 1); i++) {
      const double tick = steps[i] * pow(10, power);
      if (tick >= axis->low && tick <= axis->high && count < TICKS) ticks[count++] = tick;
    }
  return count;
}

/* Moves a label down until it does not overlap earlier ones. */
double label_clear(const struct label_place *labels, size_t count, double x, double y) {
  for (int tries = 0; tries < 12; tries++) {
    size_t i = 0;
    while (i < count && (fabs(labels[i].y - y) >= 13 || fabs(labels[i].x - x) >= 84)) i++;
    if (i == count) return y;
    y += 4;
  }
  return y;
}
