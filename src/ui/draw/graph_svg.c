/* graph_svg: the layered drawing of a graph as SVG, with its own style, light and dark, without script. Vertices are the
 * graph's inputs, its nodes in order, and its outputs.
 */
#include "draw.h"

#include <math.h>
#include <stdlib.h>

enum { BOX = 40, LAYER = 76, MARGIN = 24, LABEL = 40 };

static const char style[] =
    "<style>svg{font:12px system-ui,\"DejaVu Sans\",sans-serif;background:#fbfaf7;color:#1b1d21}"
    "text{fill:currentColor;text-anchor:middle}.s{font-size:11px;opacity:.75}.o{font-weight:600}"
    "rect{stroke-width:1.2;stroke:#8a909a;fill:#fff}path{fill:none;stroke:#8a909a;stroke-width:1.3}"
    ".contraction{fill:#cfe8e4;stroke:#0b8a7d}.elementwise{fill:#fbe6d3;stroke:#d9722a}"
    ".reduction{fill:#dde6f8;stroke:#3f6fd1}.movement{fill:#ece2f5;stroke:#8e5bc4}"
    ".end{fill:#f3f1ec;stroke:#646b75}"
    "@media(prefers-color-scheme:dark){svg{background:#121417;color:#e8e6e1}rect{fill:#1a1d21}"
    ".contraction{fill:#12403a}.elementwise{fill:#4a2d16}.reduction{fill:#1e2f52}"
    ".movement{fill:#372649}.end{fill:#22262b}}</style>\n";

/* Text of the model: made safe first, then XML characters are escaped. */
static void put_text(struct strbuf *out, const char *untrusted, size_t max) {
  struct strbuf safe = {0};
  strbuf_put_safe(&safe, untrusted, max);
  if (safe.failed) out->failed = true;
  for (size_t i = 0; i < safe.length; i++) {
    const char c = safe.at[i];
    if (c == '&')
      strbuf_puts(out, "&amp;");
    else if (c == '<')
      strbuf_puts(out, "&lt;");
    else if (c == '>')
      strbuf_puts(out, "&gt;");
    else if (c == '"')
      strbuf_puts(out, "&quot;");
    else
      strbuf_append(out, &c, 1);
  }
  strbuf_deinit(&safe);
}

static const char *class_of(const struct op *op) {
  switch (op->class) {
    case OP_CONTRACTION:
      return "contraction";
    case OP_ELEMENTWISE:
      return "elementwise";
    case OP_REDUCTION:
      return "reduction";
    default:
      return "movement";
  }
}

/* "f32[1,64,56,56]" */
static void put_value(struct strbuf *out, const struct value *value) {
  if (!value) return;
  strbuf_puts(out, dtype_name(value->dtype));
  shape_print(out, &value->shape);
}

struct picture {
  const struct graph *graph;
  struct layout layout;
  size_t node_begin, output_begin; /* of the vertices */
  struct strbuf *out;
};

static const struct node *node_of(const struct picture *picture, size_t v) {
  return v >= picture->node_begin && v < picture->output_begin
             ? picture->graph->nodes.at[v - picture->node_begin]
             : NULL;
}
/* The value that a vertex produces; of an output the value itself. */
static const struct value *value_of(const struct picture *picture, size_t v) {
  const struct node *node = node_of(picture, v);
  if (node) return node->output_count ? node->outputs[0] : NULL;
  return v < picture->node_begin ? picture->graph->inputs.at[v]
                                 : picture->graph->outputs.at[v - picture->output_begin];
}

static void put_label(const struct picture *picture, size_t v, struct strbuf *out) {
  const struct node *node = node_of(picture, v);
  if (node)
    strbuf_puts(out, node->op->name);
  else
    put_text(out, value_of(picture, v)->name, LABEL);
}

static MUST_USE hone_status measure(struct ctx *ctx, struct arena *arena, struct picture *picture) {
  double *widths;
  TRY(NEW_ARRAY(ctx, arena, widths, picture->layout.vertex_count + 1));
  for (size_t v = 0; v < picture->layout.vertex_count; v++) {
    struct strbuf label = {0}, shape = {0};
    put_label(picture, v, &label);
    put_value(&shape, value_of(picture, v));
    widths[v] = fmax(84, 22 + 7.2 * fmax((double)label.length, 0.9 * (double)shape.length));
    strbuf_deinit(&label);
    strbuf_deinit(&shape);
  }
  picture->layout.widths = widths;
  return HONE_OK;
}

typedef VEC(struct layout_edge) edge_list;

/* Edges are sorted by `to`. */
static MUST_USE hone_status add_edge(struct ctx *ctx, struct arena *arena, const size_t *makers,
                                     const struct value *value, size_t to, edge_list *out) {
  if (!value || makers[value->index] == SIZE_MAX) return HONE_OK;
  const struct layout_edge edge = {.from = makers[value->index], .to = to};
  for (size_t e = out->count; e-- > 0 && out->at[e].to == to;)
    if (out->at[e].from == edge.from) return HONE_OK; /* x * x has one edge */
  VEC_PUSH(ctx, arena, out, edge);
  return HONE_OK;
}

static MUST_USE hone_status find_edges(struct ctx *ctx, struct arena *arena,
                                       struct picture *picture) {
  const struct graph *graph = picture->graph;
  edge_list edges = {0};
  size_t *makers; /* by value: the vertex that produces it; SIZE_MAX for constants */
  TRY(NEW_ARRAY(ctx, arena, makers, graph->values.count + 1));
  for (size_t i = 0; i < graph->values.count; i++) {
    graph->values.at[i]->index = (uint32_t)i;
    makers[i] = SIZE_MAX;
  }
  for (size_t i = 0; i < graph->inputs.count; i++) makers[graph->inputs.at[i]->index] = i;
  for (size_t n = 0; n < graph->nodes.count; n++) {
    const struct node *node = graph->nodes.at[n];
    for (size_t i = 0; i < node->input_count; i++)
      TRY(add_edge(ctx, arena, makers, node->inputs[i], picture->node_begin + n, &edges));
    for (size_t i = 0; i < node->output_count; i++)
      if (node->outputs[i]) makers[node->outputs[i]->index] = picture->node_begin + n;
  }
  for (size_t i = 0; i < graph->outputs.count; i++)
    TRY(add_edge(ctx, arena, makers, graph->outputs.at[i], picture->output_begin + i, &edges));
  picture->layout.edges = edges.at;
  picture->layout.edge_count = edges.count;
  return HONE_OK;
}

/* -- elements */

static void put_number(struct strbuf *out, double x) {
  const long long tenths = llround(x * 10); /* independent of the locale */
  strbuf_printf(out, "%s%lld.%lld", tenths < 0 ? "-" : "", llabs(tenths) / 10, llabs(tenths) % 10);
}
static void put_point(struct strbuf *out, double x, double y) {
  put_number(out, x);
  strbuf_puts(out, " ");
  put_number(out, y);
}

static double y_of(const struct picture *picture, size_t point) {
  return MARGIN + (double)picture->layout.points[point].layer * LAYER;
}
static double x_of(const struct picture *picture, size_t point) {
  return MARGIN + picture->layout.points[point].x;
}

/* A curve with vertical ends. */
static void put_curve(struct strbuf *out, double x, double y, double to_x, double to_y) {
  const double middle = (y + to_y) / 2;
  strbuf_puts(out, " C");
  put_point(out, x, middle);
  strbuf_puts(out, " ");
  put_point(out, to_x, middle);
  strbuf_puts(out, " ");
  put_point(out, to_x, to_y);
}

static void put_edge(const struct picture *picture, const struct layout_edge *edge) {
  double x = x_of(picture, edge->from), y = y_of(picture, edge->from) + BOX;
  strbuf_puts(picture->out, "<path d=\"M");
  put_point(picture->out, x, y);
  for (size_t b = 0; b <= edge->bend_count; b++) {
    const bool is_last = b == edge->bend_count;
    const size_t to = is_last ? edge->to : edge->bend + b;
    put_curve(picture->out, x, y, x_of(picture, to), y_of(picture, to));
    x = x_of(picture, to);
    y = y_of(picture, to);
    if (is_last) break;
    strbuf_puts(picture->out, " V");
    put_number(picture->out, y += BOX);
  }
  strbuf_puts(picture->out, "\"/>\n");
}

static void put_title(const struct picture *picture, size_t v) {
  const struct node *node = node_of(picture, v);
  strbuf_puts(picture->out, "<title>");
  if (node) {
    put_text(picture->out, node->name[0] ? node->name : node->op->name, 200);
    for (size_t i = 0; i < node->input_count; i++) {
      if (!node->inputs[i]) continue;
      strbuf_puts(picture->out, node->inputs[i]->constant ? "\nconstant " : "\n");
      put_text(picture->out, node->inputs[i]->name, 100);
      strbuf_puts(picture->out, " ");
      put_value(picture->out, node->inputs[i]);
    }
  } else {
    strbuf_puts(picture->out, v < picture->node_begin ? "input" : "output");
  }
  strbuf_puts(picture->out, "</title>");
}

static void put_box(const struct picture *picture, size_t v) {
  const struct layout_point *point = &picture->layout.points[v];
  const struct node *node = node_of(picture, v);
  const double x = x_of(picture, v), y = y_of(picture, v);
  strbuf_printf(picture->out, "<g>");
  put_title(picture, v);
  strbuf_printf(picture->out, "<rect class=\"%s\" x=\"", node ? class_of(node->op) : "end");
  put_number(picture->out, x - point->width / 2);
  strbuf_puts(picture->out, "\" y=\"");
  put_number(picture->out, y);
  strbuf_puts(picture->out, "\" width=\"");
  put_number(picture->out, point->width);
  strbuf_printf(picture->out, "\" height=\"%d\" rx=\"%d\"/><text class=\"o\" x=\"", BOX,
                node ? 7 : BOX / 2);
  put_number(picture->out, x);
  strbuf_puts(picture->out, "\" y=\"");
  put_number(picture->out, y + 17);
  strbuf_puts(picture->out, "\">");
  put_label(picture, v, picture->out);
  strbuf_puts(picture->out, "</text><text class=\"s\" x=\"");
  put_number(picture->out, x);
  strbuf_puts(picture->out, "\" y=\"");
  put_number(picture->out, y + 32);
  strbuf_puts(picture->out, "\">");
  put_value(picture->out, value_of(picture, v));
  strbuf_puts(picture->out, "</text></g>\n");
}

static MUST_USE hone_status draw(struct ctx *ctx, struct arena *arena, struct picture *picture) {
  TRY(measure(ctx, arena, picture));
  TRY(find_edges(ctx, arena, picture));
  TRY(layout_layers(ctx, arena, &picture->layout));
  const double width = picture->layout.width + 2 * MARGIN;
  const double height = 2 * MARGIN + BOX + (double)(picture->layout.layer_count - 1) * LAYER;
  strbuf_puts(picture->out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"");
  put_number(picture->out, width);
  strbuf_puts(picture->out, "\" height=\"");
  put_number(picture->out, height);
  strbuf_puts(picture->out, "\" viewBox=\"0 0 ");
  put_point(picture->out, width, height);
  strbuf_puts(picture->out, "\">\n");
  strbuf_puts(picture->out, style);
  for (size_t e = 0; e < picture->layout.edge_count; e++)
    put_edge(picture, &picture->layout.edges[e]);
  for (size_t v = 0; v < picture->layout.vertex_count; v++) put_box(picture, v);
  strbuf_puts(picture->out, "</svg>\n");
  return strbuf_finish(ctx, picture->out);
}

hone_status draw_graph(struct ctx *ctx, const struct graph *graph, struct strbuf *out) {
  struct picture picture = {.graph = graph, .out = out};
  struct arena *arena;
  picture.node_begin = graph->inputs.count;
  picture.output_begin = picture.node_begin + graph->nodes.count;
  picture.layout.vertex_count = picture.output_begin + graph->outputs.count;
  if (picture.layout.vertex_count > 20000)
    return fail(ctx, HONE_E_LIMIT, place_none(), "a drawing of %zu boxes",
                picture.layout.vertex_count);
  TRY(arena_create(ctx, 0, &arena));
  const hone_status status = draw(ctx, arena, &picture);
  arena_destroy(arena);
  return status;
}
