/* Shortest path over measured segments: best[j][e] is the least time to compute everything
 * before place j with engine e last. Consecutive segments differ in engine: two segments of one
 * engine are one longer segment, which is measured as such. */
#include "hybrid.h"

#include <math.h>

struct path_step {
  double ms;
  size_t from, engine_before; /* SIZE_MAX: the first segment */
};

static double transfer(const struct hybrid_times *t, size_t place, size_t from, size_t to) {
  const double ms = t->transfer[place][from][to];
  return isnan(ms) ? 0 : ms;
}

/* Extends the best paths to `from` by the segment from `from` to `to` on `engine`. */
static void extend(const struct hybrid_times *t, struct path_step best[][HYBRID_MOST_ENGINES],
                   size_t from, size_t to, size_t engine) {
  const double own = t->segment[from][to][engine];
  struct path_step *at = &best[to][engine];
  if (isnan(own)) return;
  if (!from && own < at->ms) *at = (struct path_step){own, 0, SIZE_MAX};
  for (size_t e = 0; from && e < t->engines; e++) {
    const double ms = best[from][e].ms + transfer(t, from, e, engine) + own;
    if (e != engine && ms < at->ms) *at = (struct path_step){ms, from, e};
  }
}

void hybrid_shortest(const struct hybrid_times *t, struct hybrid_path *out) {
  struct path_step best[HYBRID_PLACES][HYBRID_MOST_ENGINES];
  const size_t end = t->places - 1;
  size_t engine = 0, place = end, count = 0;
  for (size_t j = 0; j < t->places; j++)
    for (size_t e = 0; e < t->engines; e++)
      best[j][e] = (struct path_step){(double)INFINITY, 0, SIZE_MAX};
  for (size_t to = 1; to <= end; to++)
    for (size_t from = 0; from < to; from++)
      for (size_t e = 0; e < t->engines; e++) extend(t, best, from, to, e);
  for (size_t e = 1; e < t->engines; e++)
    if (best[end][e].ms < best[end][engine].ms) engine = e;
  *out = (struct hybrid_path){.ms = t->engines ? best[end][engine].ms : (double)INFINITY};
  if (!isfinite(out->ms)) return;
  for (; place; count++) {
    const struct path_step *step = &best[place][engine];
    out->at[count].from = step->from;
    out->at[count].to = place;
    out->at[count].engine = engine;
    place = step->from;
    engine = step->engine_before;
  }
  out->count = count;
  for (size_t i = 0; i < count / 2; i++) {
    const struct hybrid_path whole = *out;
    out->at[i] = whole.at[count - 1 - i];
    out->at[count - 1 - i] = whole.at[i];
  }
}
