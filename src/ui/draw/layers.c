/* layers: the position of each box of a layered drawing.
 *
 * Input: vertices in topological order with widths, and edges. Output: a layer and a center for each vertex and for each bend
 * of an edge that crosses layers. Four steps (Sugiyama, Tagawa, Toda 1981): layers by longest path, bends, order within layers
 * by barycenters, x by averaging the positions of neighbours above and below. Linear in points and edges times a fixed number
 * of sweeps.
 */
#include "draw.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_POINTS = 20000, ORDER_SWEEPS = 12, PLACE_SWEEPS = 60 };
#define GAP 26.0
#define BEND_WIDTH 6.0

struct item { /* a point within its layer */
  size_t point;
  double key;
};
struct work {
  struct layout *layout;
  struct item *items; /* [point_count], layer after layer */
  size_t *begins;     /* [layer_count + 1] */
  double *rank;       /* [point_count] index within its layer */
  size_t segment_count;
  struct segment {
    size_t from, to; /* points of adjacent layers */
  } * segments;
  size_t *neighbours[2]; /* above, below: points */
  size_t *starts[2];     /* [point_count + 1] */
};

static void find_layers(struct layout *layout) {
  struct layout_point *points = layout->points;
  for (size_t e = 0; e < layout->edge_count; e++) {
    /* edges are sorted by `to`, and vertices are in topological order */
    const struct layout_edge *edge = &layout->edges[e];
    if (points[edge->to].layer < points[edge->from].layer + 1)
      points[edge->to].layer = points[edge->from].layer + 1;
  }
}

/* A vertex without inputs is in the layer above its first user. `least`: the highest layer among a vertex's users, INT_MAX
   without users; -1 for a vertex with inputs. */
static void lower_sources(struct layout *layout, int *least) {
  for (size_t v = 0; v < layout->vertex_count; v++) least[v] = INT_MAX;
  for (size_t e = 0; e < layout->edge_count; e++) least[layout->edges[e].to] = -1;
  for (size_t e = 0; e < layout->edge_count; e++) {
    const struct layout_edge *edge = &layout->edges[e];
    if (least[edge->from] > layout->points[edge->to].layer)
      least[edge->from] = layout->points[edge->to].layer;
  }
  for (size_t v = 0; v < layout->vertex_count; v++)
    if (least[v] > 0 && least[v] < INT_MAX) layout->points[v].layer = least[v] - 1;
}

static MUST_USE hone_status count_bends(struct ctx *ctx, struct layout *layout) {
  layout->point_count = layout->vertex_count;
  for (size_t e = 0; e < layout->edge_count; e++) {
    struct layout_edge *edge = &layout->edges[e];
    const int crossed = layout->points[edge->to].layer - layout->points[edge->from].layer - 1;
    edge->bend = layout->point_count;
    edge->bend_count = crossed > 0 ? (size_t)crossed : 0;
    layout->point_count += edge->bend_count;
    if (layout->point_count > MOST_POINTS)
      return fail(ctx, HONE_E_LIMIT, place_none(), "a drawing of over %d boxes and bends",
                  MOST_POINTS);
  }
  return HONE_OK;
}

static void place_bends(struct work *work) {
  struct layout *layout = work->layout;
  for (size_t e = 0; e < layout->edge_count; e++) {
    const struct layout_edge *edge = &layout->edges[e];
    size_t last = edge->from;
    for (size_t b = 0; b < edge->bend_count; b++) {
      const size_t bend = edge->bend + b;
      layout->points[bend] =
          (struct layout_point){layout->points[edge->from].layer + 1 + (int)b, 0, BEND_WIDTH};
      work->segments[work->segment_count++] = (struct segment){last, bend};
      last = bend;
    }
    work->segments[work->segment_count++] = (struct segment){last, edge->to};
  }
}

/* Lists by point, from the segments: counting sort. */
static void find_neighbours(struct work *work) {
  for (int side = 0; side < 2; side++) {
    size_t *starts = work->starts[side];
    for (size_t s = 0; s < work->segment_count; s++)
      starts[(side ? work->segments[s].from : work->segments[s].to) + 1]++;
    for (size_t p = 0; p < work->layout->point_count; p++) starts[p + 1] += starts[p];
    for (size_t s = work->segment_count; s-- > 0;) {
      const size_t own = side ? work->segments[s].from : work->segments[s].to;
      work->neighbours[side][--starts[own + 1]] =
          side ? work->segments[s].to : work->segments[s].from;
    }
    /* counting moved each start to the beginning of the next, so shift back */
    for (size_t p = 0; p < work->layout->point_count; p++) starts[p] = starts[p + 1];
    starts[work->layout->point_count] = work->segment_count;
  }
}

static void fill_items(struct work *work) {
  const struct layout *layout = work->layout;
  for (size_t p = 0; p < layout->point_count; p++) work->begins[layout->points[p].layer + 1]++;
  for (int l = 0; l < layout->layer_count; l++) work->begins[l + 1] += work->begins[l];
  for (size_t p = layout->point_count; p-- > 0;) {
    const int layer = layout->points[p].layer;
    work->items[--work->begins[layer + 1]].point = p;
  }
  for (int l = 0; l < layout->layer_count; l++) work->begins[l] = work->begins[l + 1];
  work->begins[layout->layer_count] = layout->point_count;
}

static void number_layer(struct work *work, int layer) {
  for (size_t i = work->begins[layer]; i < work->begins[layer + 1]; i++)
    work->rank[work->items[i].point] = (double)(i - work->begins[layer]);
}

static int compare_items(const void *a, const void *b) {
  const struct item *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->point > y->point) - (x->point < y->point);
}

/* Mean of the neighbours' values on one side; `otherwise` without any. */
static double mean_of(const struct work *work, size_t point, int side, const double *values,
                      double otherwise) {
  const size_t begin = work->starts[side][point], end = work->starts[side][point + 1];
  double sum = 0;
  for (size_t k = begin; k < end; k++) sum += values[work->neighbours[side][k]];
  return end > begin ? sum / (double)(end - begin) : otherwise;
}

static void order_layers(struct work *work) {
  const int layers = work->layout->layer_count;
  for (int l = 0; l < layers; l++) number_layer(work, l);
  for (int sweep = 0; sweep < ORDER_SWEEPS; sweep++) {
    const int side = sweep % 2;
    for (int n = 0; n < layers; n++) {
      const int l = side ? layers - 1 - n : n;
      const size_t begin = work->begins[l], count = work->begins[l + 1] - begin;
      for (size_t i = 0; i < count; i++) {
        struct item *item = &work->items[begin + i];
        item->key = mean_of(work, item->point, side, work->rank, work->rank[item->point]);
      }
      qsort(work->items + begin, count, sizeof *work->items, compare_items);
      number_layer(work, l);
    }
  }
}

/* -- positions */

static double distance(const struct work *work, size_t i) { /* from item i to item i + 1 */
  const struct layout_point *points = work->layout->points;
  return (points[work->items[i].point].width + points[work->items[i + 1].point].width) / 2 + GAP;
}

/* Packing from the left and from the right both keep the distances, and so does their mean. */
static void pack(struct work *work, int layer, double *left) {
  const size_t begin = work->begins[layer], end = work->begins[layer + 1];
  for (size_t i = begin; i < end; i++)
    left[i] = i > begin ? fmax(work->items[i].key, left[i - 1] + distance(work, i - 1))
                        : work->items[i].key;
  for (size_t i = end; i-- > begin;) {
    double right = work->items[i].key;
    if (i + 1 < end) right = fmin(right, work->rank[i + 1] - distance(work, i));
    work->rank[i] = right; /* reused by item: the ranks are no longer needed */
  }
  for (size_t i = begin; i < end; i++)
    work->layout->points[work->items[i].point].x = (left[i] + work->rank[i]) / 2;
}

static void wish(struct work *work, int layer, int side, double *x) {
  for (size_t i = work->begins[layer]; i < work->begins[layer + 1]; i++) {
    const size_t point = work->items[i].point;
    work->items[i].key = mean_of(work, point, side, x, x[point]);
  }
}

/* The last sweeps use both sides, so that a box is centered between its neighbours above and below. */
static void place_points(struct work *work, double *left, double *x) {
  struct layout *layout = work->layout;
  for (int sweep = 0; sweep < PLACE_SWEEPS; sweep++) {
    const int side = sweep % 2;
    for (int n = 0; n < layout->layer_count; n++) {
      const int l = side ? layout->layer_count - 1 - n : n;
      wish(work, l, side, x);
      pack(work, l, left);
      for (size_t i = work->begins[l]; i < work->begins[l + 1]; i++)
        x[work->items[i].point] = layout->points[work->items[i].point].x;
    }
  }
  double least = INFINITY, most = -INFINITY;
  for (size_t p = 0; p < layout->point_count; p++) {
    least = fmin(least, x[p] - layout->points[p].width / 2);
    most = fmax(most, x[p] + layout->points[p].width / 2);
  }
  for (size_t p = 0; p < layout->point_count; p++) layout->points[p].x -= least;
  layout->width = layout->point_count ? most - least : 0;
}

static MUST_USE hone_status make_work(struct ctx *ctx, struct arena *arena, struct work *work) {
  struct layout *layout = work->layout;
  size_t segments = layout->edge_count;
  for (size_t e = 0; e < layout->edge_count; e++) segments += layout->edges[e].bend_count;
  TRY(NEW_ARRAY(ctx, arena, work->items, layout->point_count + 1));
  TRY(NEW_ARRAY(ctx, arena, work->begins, (size_t)layout->layer_count + 1));
  TRY(NEW_ARRAY(ctx, arena, work->rank, layout->point_count + 1));
  TRY(NEW_ARRAY(ctx, arena, work->segments, segments + 1));
  for (int side = 0; side < 2; side++) {
    TRY(NEW_ARRAY(ctx, arena, work->neighbours[side], segments + 1));
    TRY(NEW_ARRAY(ctx, arena, work->starts[side], layout->point_count + 2));
  }
  return HONE_OK;
}

hone_status layout_layers(struct ctx *ctx, struct arena *arena, struct layout *layout) {
  struct work work = {.layout = layout};
  struct layout_point *vertices;
  int *least;
  double *left, *x;
  TRY(NEW_ARRAY(ctx, arena, vertices, layout->vertex_count + 1));
  TRY(NEW_ARRAY(ctx, arena, least, layout->vertex_count + 1));
  layout->points = vertices;
  find_layers(layout);
  lower_sources(layout, least);
  TRY(count_bends(ctx, layout));
  TRY(NEW_ARRAY(ctx, arena, layout->points, layout->point_count + 1));
  layout->layer_count = 1;
  for (size_t v = 0; v < layout->vertex_count; v++) {
    layout->points[v] = (struct layout_point){vertices[v].layer, 0, layout->widths[v]};
    if (vertices[v].layer >= layout->layer_count) layout->layer_count = vertices[v].layer + 1;
  }
  TRY(make_work(ctx, arena, &work));
  place_bends(&work);
  find_neighbours(&work);
  fill_items(&work);
  order_layers(&work);
  TRY(NEW_ARRAY(ctx, arena, left, layout->point_count + 1));
  TRY(NEW_ARRAY(ctx, arena, x, layout->point_count + 1));
  place_points(&work, left, x);
  return HONE_OK;
}
