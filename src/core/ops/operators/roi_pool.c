/* PoolRegions (hone): a grid of bins over each region of an image; MaxRoiPool, and RoiAlign with a
 * data-dependent number of samples, are expanded into it. Coordinates are computed in float, as in
 * ONNX Runtime: their rounding decides which pixels are read. */
#include <math.h>

#include "core/ops/ops_internal.h"
#include "view.h"

struct regions {
  int64_t channels, high, wide, rows, columns; /* of an image; bins */
  float scale;
  bool is_whole, is_half;
};
/* One region along one axis. */
struct side {
  float start, bin;
  int64_t samples; /* per bin */
};

static struct regions read_regions(const struct node *node) {
  const int64_t *dims = node->inputs[0]->shape.dims;
  return (struct regions){.channels = dims[1],
                          .high = dims[2],
                          .wide = dims[3],
                          .rows = node_int(node, "output_height", 1),
                          .columns = node_int(node, "output_width", 1),
                          .scale = (float)node_float(node, "spatial_scale", 1),
                          .is_whole = node_int(node, "whole_pixels", 0) != 0,
                          .is_half = node_int(node, "half_pixel", 0) != 0};
}

/* x [n, c, h, w], boxes [r, 4] (x, y, x, y), the image of each [r]: [r, c, rows, columns].
 * Attribute whole_pixels: the largest pixel of a bin; else the mean of as many samples as the bin
 * is pixels long. */
hone_status infer_pool_regions(struct ctx *ctx, struct graph *graph, struct node *node) {
  enum { MOST = 1 << 12 };
  const struct shape *x = &node->inputs[0]->shape, *boxes = &node->inputs[1]->shape,
                     *pictures = &node->inputs[2]->shape;
  (void)graph;
  for (size_t k = 0; k < 3; k++)
    if (node->inputs[k]->dtype != (k < 2 ? HONE_F32 : HONE_I64))
      return fail(ctx, HONE_E_TYPE, node_place(node), "input %zu is %s", k,
                  dtype_name(node->inputs[k]->dtype));
  TRY(want_rank(ctx, node, 0, 4));
  const struct regions g = read_regions(node);
  if (boxes->rank != 2 || boxes->dims[1] != 4 || pictures->rank != 1 ||
      pictures->dims[0] != boxes->dims[0] || g.high < 1 || g.wide < 1 || g.rows < 1 ||
      g.columns < 1 || g.rows > MOST || g.columns > MOST)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "picture, regions and bins do not fit");
  return set_output(ctx, node, 0, HONE_F32,
                    &(struct shape){4, {boxes->dims[0], x->dims[1], g.rows, g.columns}});
}

/* Clamps a number to integers; NaN becomes one too. */
static float bounded(float x) { return fminf(fmaxf(x, -1e6f), 1e6f); }

static struct side side_of(const struct regions *g, float from, float to, int64_t bins) {
  const float half = g->is_half ? 0.5f : 0;
  struct side s;
  if (g->is_whole) {
    s.start = roundf(bounded(from * g->scale));
    s.bin = fmaxf(roundf(bounded(to * g->scale)) - s.start + 1, 1) / (float)bins;
    s.samples = 0;
    return s;
  }
  s.start = bounded(from * g->scale - half);
  float length = bounded(to * g->scale - half) - s.start;
  if (!g->is_half) length = fmaxf(length, 1);
  s.bin = length / (float)bins;
  s.samples = (int64_t)ceilf(s.bin);
  return s;
}

static int64_t within(float at, int64_t size) {
  return at < 0 ? 0 : at > (float)size ? size : (int64_t)at;
}

/* The largest pixel of bin (i, j); 0 if it is empty. */
static double largest(const struct regions *g, const float *plane, const struct side *down,
                      const struct side *across, int64_t i, int64_t j) {
  const int64_t top = within(floorf((float)i * down->bin) + down->start, g->high),
                end = within(ceilf((float)(i + 1) * down->bin) + down->start, g->high),
                left = within(floorf((float)j * across->bin) + across->start, g->wide),
                right = within(ceilf((float)(j + 1) * across->bin) + across->start, g->wide);
  double y = top < end && left < right ? -INFINITY : 0;
  for (int64_t h = top; h < end; h++)
    for (int64_t w = left; w < right; w++)
      y = (double)plane[h * g->wide + w] > y ? (double)plane[h * g->wide + w] : y;
  return y;
}

/* The two pixels next to sample k of bin i and their weights; both 0 more than a pixel outside. */
static void taps_of(const struct side *s, int64_t i, int64_t k, int64_t size, int64_t *at,
                    double *weight) {
  float x = s->start + (float)i * s->bin + ((float)k + 0.5f) * s->bin / (float)s->samples;
  at[0] = at[1] = 0, weight[0] = weight[1] = 0;
  if (x < -1 || x > (float)size) return;
  x = fmaxf(x, 0);
  at[0] = (int64_t)x < size - 1 ? (int64_t)x : size - 1;
  at[1] = at[0] < size - 1 ? at[0] + 1 : at[0];
  weight[1] = at[1] > at[0] ? (double)(x - (float)at[0]) : 0;
  weight[0] = 1 - weight[1];
}

static double mean(const struct regions *g, const float *plane, const struct side *down,
                   const struct side *across, int64_t i, int64_t j) {
  double y = 0, weights[2][2];
  int64_t at[2][2];
  for (int64_t k = 0; k < down->samples; k++) {
    taps_of(down, i, k, g->high, at[0], weights[0]);
    for (int64_t l = 0; l < across->samples; l++) {
      taps_of(across, j, l, g->wide, at[1], weights[1]);
      for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
          y += weights[0][a] * weights[1][b] * (double)plane[at[0][a] * g->wide + at[1][b]];
    }
  }
  const int64_t count = down->samples * across->samples;
  return count > 0 ? y / (double)count : 0;
}

hone_status eval_pool_regions(struct ctx *ctx, struct arena *scratch, const struct node *node,
                              const struct tensor *const *in, struct tensor *const *out) {
  const struct regions g = read_regions(node);
  const float *boxes = in[1]->data;
  const int64_t pictures = in[0]->shape.dims[0], count = in[1]->shape.dims[0];
  float *to = tensor_data(out[0]);
  (void)scratch;
  for (int64_t r = 0; r < count; r++) {
    const int64_t picture = ((const int64_t *)in[2]->data)[r];
    if (picture < 0 || picture >= pictures)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "a region of picture %lld of %lld",
                  (long long)picture, (long long)pictures);
    const struct side down = side_of(&g, boxes[4 * r + 1], boxes[4 * r + 3], g.rows),
                      across = side_of(&g, boxes[4 * r], boxes[4 * r + 2], g.columns);
    for (int64_t c = 0; c < g.channels; c++) {
      const float *plane =
          (const float *)in[0]->data + (picture * g.channels + c) * g.high * g.wide;
      for (int64_t i = 0; i < g.rows; i++)
        for (int64_t j = 0; j < g.columns; j++)
          *to++ = (float)(g.is_whole ? largest : mean)(&g, plane, &down, &across, i, j);
    }
  }
  return HONE_OK;
}
