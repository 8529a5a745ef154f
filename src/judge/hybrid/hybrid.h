/* hybrid: a model cut into parts that run on different engines in one process, if that is faster
 * than every single engine.
 *
 *   cuts.c      cuts at places where few bytes cross
 *   measure.c   the time of every segment between two cuts on every engine, and of transfers
 *               between engines
 *   path.c      the fastest plan: the shortest path over both
 *
 * The result is a proposal: the option `parts` of the backend `hybrid`. A paired study decides
 * whether it is faster.
 */
#ifndef HONE_HYBRID_H
#define HONE_HYBRID_H

#include "bench/backends/backends.h"

enum { HYBRID_MOST_CUTS = 8, HYBRID_MOST_ENGINES = 6, HYBRID_PLACES = HYBRID_MOST_CUTS + 2 };

/* -- cuts.c */
struct cut {
  size_t position; /* nodes before it */
  /* that are computed before the cut and read after it, without the model's inputs */
  double bytes;
  size_t values;
  double work; /* share of the model's work before the cut, 0 to 1, by FLOPs and bytes */
};
/* At most `most` cuts, ascending, with about equal work between them; each is the place in its
   window where the fewest bytes cross. Never where a value with a dynamic dimension, a string
   tensor or a list crosses. */
MUST_USE hone_status hybrid_cuts(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                 size_t most, struct cut out[HYBRID_MOST_CUTS], size_t *out_count);

/* -- path.c */
/* Places 0 to count - 1: the beginning, the cuts, the end. Times in ms; NaN: refused by the
   engine, or not measured. */
struct hybrid_times {
  size_t places, engines;
  /* of the segment from place i to place j on engine e */
  double segment[HYBRID_PLACES][HYBRID_PLACES][HYBRID_MOST_ENGINES];
  /* extra time beyond both segments if engine f continues after engine e at place i */
  double transfer[HYBRID_PLACES][HYBRID_MOST_ENGINES][HYBRID_MOST_ENGINES];
};
struct hybrid_path {
  size_t count;
  struct {
    size_t from, to, engine;
  } at[HYBRID_PLACES];
  double ms; /* infinite: there is no path */
};
/* Consecutive segments differ in engine. A transfer that was not measured counts as 0. */
void hybrid_shortest(const struct hybrid_times *times, struct hybrid_path *out);

/* -- measure.c */
struct hybrid_engine {
  const struct backend *backend;
  const char *path; /* of --engine, or NULL */
};
struct hybrid_options {
  const struct hybrid_engine *engines;
  size_t engine_count;
  int threads;
  size_t cuts;          /* at most */
  double timing_s;      /* of one timing */
  double budget_s;      /* only the whole model is timed after it; may be infinite */
  const char *work_dir; /* an empty folder */
  void (*progress)(void *user, const char *line); /* may be NULL */
  void *user;
};
struct hybrid_study {
  struct cut cuts[HYBRID_MOST_CUTS];
  size_t cut_count;
  struct hybrid_times times;
  size_t transfers;               /* measured */
  size_t segments, segment_count; /* measured within the budget; in all */
  struct hybrid_path path;
  size_t single;    /* the fastest engine on the whole model; SIZE_MAX: none runs it */
  double single_ms; /* NaN */
  /* of an engine that refused a segment: the last reason; "" */
  char why_not[HYBRID_MOST_ENGINES][256];
};
/* inputs: one set of the model's. E_UNSUP for a graph that cannot be cut: an output that is an
   input or has a dynamic dimension. */
MUST_USE hone_status hybrid_measure(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                    const hone_tensor *inputs, const struct hybrid_options *options,
                                    struct hybrid_study *out);
/* The option of the backend `hybrid`: "native:12+onnxruntime". */
void hybrid_parts_text(const struct hybrid_study *study, const struct hybrid_options *options,
                       struct strbuf *out);
#endif
