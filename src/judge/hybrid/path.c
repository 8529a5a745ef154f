/* The shortest path from the beginning to the end of a model over measured stretches: best[j][e] is the least time to
 * have everything before place j done with engine e last. Neighbours differ in engine, because two stretches of one
 * engine are one stretch, which was measured as such. */
#include "hybrid.h"

#include <math.h>

struct leg {
  double ms;
  size_t from, engine_before; /* SIZE_MAX: the first stretch */
};

static double hand_over(const struct hybrid_times *t, size_t place, size_t from, size_t to) {
  const double ms = t->hand_over[place][from][to];
  return isnan(ms) ? 0 : ms;
}

/* The best way to end in `to` with the stretch from `from` on `engine`. */
static void extend(const struct hybrid_times *t, struct leg best[][HYBRID_MOST_ENGINES],
                   size_t from, size_t to, size_t engine) {
  const double own = t->stretch[from][to][engine];
  struct leg *at = &best[to][engine];
  if (isnan(own)) return;
  if (!from && own < at->ms) *at = (struct leg){own, 0, SIZE_MAX};
  for (size_t e = 0; from && e < t->engines; e++) {
    const double ms = best[from][e].ms + hand_over(t, from, e, engine) + own;
    if (e != engine && ms < at->ms) *at = (struct leg){ms, from, e};
  }
}

void hybrid_shortest(const struct hybrid_times *t, struct hybrid_path *out) {
  struct leg best[HYBRID_PLACES][HYBRID_MOST_ENGINES];
  const size_t end = t->places - 1;
  size_t engine = 0, place = end, count = 0;
  for (size_t j = 0; j < t->places; j++)
    for (size_t e = 0; e < t->engines; e++)
      best[j][e] = (struct leg){(double)INFINITY, 0, SIZE_MAX};
  for (size_t to = 1; to <= end; to++)
    for (size_t from = 0; from < to; from++)
      for (size_t e = 0; e < t->engines; e++) extend(t, best, from, to, e);
  for (size_t e = 1; e < t->engines; e++)
    if (best[end][e].ms < best[end][engine].ms) engine = e;
  *out = (struct hybrid_path){.ms = t->engines ? best[end][engine].ms : (double)INFINITY};
  if (!isfinite(out->ms)) return;
  for (; place; count++) {
    const struct leg *step = &best[place][engine];
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
