/* draw: a model's graph as a picture. */
#ifndef HONE_DRAW_H
#define HONE_DRAW_H

#include "core/ops/ops.h"

/* Standalone SVG: a box for each operator with the shape of its first output, inputs above and outputs below. Constants are
   named only in a box's title. All text of the model is escaped. E_LIMIT for graphs that are too large to read (over 20,000
   boxes and bends). The same graph gives the same bytes. */
MUST_USE hone_status draw_graph(struct ctx *ctx, const struct graph *graph, struct strbuf *out);

/* -- inside the folder: layers.c */

struct layout_edge {
  size_t from, to;         /* vertices; from < to */
  size_t bend, bend_count; /* bends, one for each layer that the edge crosses */
};
struct layout {
  size_t vertex_count;
  const double *widths; /* [vertex_count] */
  size_t edge_count;
  struct layout_edge *edges;
  /* filled by layout_layers */
  size_t point_count; /* vertices, then bends */
  struct layout_point {
    int layer;
    double x, width; /* x of the center */
  } * points;
  int layer_count;
  double width;
};
/* Assigns layers from top to bottom, with few crossings and straight edges: Sugiyama, Tagawa and Toda 1981, with barycenters
   for the order and averaged placements for x. E_LIMIT. */
MUST_USE hone_status layout_layers(struct ctx *ctx, struct arena *arena, struct layout *layout);

#endif
