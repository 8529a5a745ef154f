/* Finds cheap places to cut a graph. Work is bytes moved plus a tenth of the FLOPs, because a
 * core computes about ten FLOPs in the time of one byte. It only spaces the cuts. */
#include "hybrid.h"

#include <math.h>

#define FLOPS_A_BYTE 10.0

struct places {
  size_t count;  /* nodes + 1 */
  double *bytes; /* that cross a cut before node p; infinite: it cannot be cut */
  size_t *values;
  double *work; /* before node p */
};

static double bytes_of(const struct value *value) {
  int64_t elements;
  const unsigned bits = dtype_bits(value->dtype);
  if (!value->has_shape || value->list || !bits || value->dtype == HONE_STRING ||
      value_is_open(value) || value->slope || !shape_count(&value->shape, &elements))
    return (double)INFINITY;
  return (double)elements * bits / 8;
}

static hone_status find_places(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                               struct places *out) {
  struct graph_lives lives;
  out->count = graph->nodes.count + 1;
  TRY(graph_find_lives(ctx, arena, graph, &lives));
  TRY(NEW_ARRAY(ctx, arena, out->bytes, out->count));
  TRY(NEW_ARRAY(ctx, arena, out->values, out->count));
  TRY(NEW_ARRAY(ctx, arena, out->work, out->count));
  for (size_t v = 0; v < graph->values.count; v++) {
    const struct value *value = graph->values.at[v];
    if (value->constant || !lives.made[v]) continue;
    const double bytes = bytes_of(value);
    for (size_t p = lives.made[v]; p < lives.last_read[v]; p++) {
      out->bytes[p] += bytes;
      out->values[p]++;
    }
  }
  for (size_t n = 0; n < graph->nodes.count; n++) {
    double flops = 0, bytes = 0;
    node_cost(graph->nodes.at[n], &flops, &bytes);
    const double work =
        (isfinite(flops) ? flops : 0) / FLOPS_A_BYTE + (isfinite(bytes) ? bytes : 0);
    out->work[n + 1] = out->work[n] + work;
  }
  return HONE_OK;
}

/* Some value has to cross the cut, and both sides have to have nodes. */
static bool can_cut(const struct places *places, size_t p, size_t last) {
  return p > last && p + 1 < places->count && isfinite(places->bytes[p]) && places->values[p] > 0;
}

hone_status hybrid_cuts(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                        size_t most, struct cut out[HYBRID_MOST_CUTS], size_t *out_count) {
  struct places places;
  size_t last = 0;
  *out_count = 0;
  TRY(find_places(ctx, arena, graph, &places));
  const double total = places.work[places.count - 1];
  if (most > HYBRID_MOST_CUTS) most = HYBRID_MOST_CUTS;
  for (size_t k = 1; k <= most && total > 0; k++) {
    const double target = (double)k / (double)(most + 1), reach = 0.5 / (double)(most + 1);
    size_t best = 0;
    for (size_t p = 1; p + 1 < places.count; p++) {
      const double share = places.work[p] / total;
      if (share < target - reach || share >= target + reach || !can_cut(&places, p, last)) continue;
      const bool is_nearer = best && places.bytes[p] == places.bytes[best] &&
                             fabs(share - target) < fabs(places.work[best] / total - target);
      if (!best || places.bytes[p] < places.bytes[best] || is_nearer) best = p;
    }
    if (!best) continue;
    out[(*out_count)++] = (struct cut){.position = best,
                                       .bytes = places.bytes[best],
                                       .values = places.values[best],
                                       .work = places.work[best] / total};
    last = best;
  }
  return HONE_OK;
}
