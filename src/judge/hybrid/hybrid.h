/* hybrid: a model cut into parts that run on different engines in one process, where that is faster than any engine
 * alone. Cuts are places of least traffic (cuts.c); every stretch between two cuts is timed on every engine with the
 * values that really flow there, and the hand-overs of the plan that looks best as well (measure.c); the plan is the
 * shortest path over both (path.c). What comes out is a proposal: it is the backend `hybrid` with the option `parts`,
 * and a paired study decides.
 */
#ifndef HONE_HYBRID_H
#define HONE_HYBRID_H

#include "bench/backends/backends.h"

enum { HYBRID_MOST_CUTS = 8, HYBRID_MOST_ENGINES = 6, HYBRID_PLACES = HYBRID_MOST_CUTS + 2 };

/* -- cuts.c: before which node, and what crosses there */
struct cut {
  size_t position; /* nodes before it */
  /* of all values that are made before and read behind; inputs of the model are there anyway */
  double bytes;
  size_t values;
  double work; /* share of the model's work that lies before it, 0 to 1, by FLOPs and bytes */
};
/* At most `most` cuts with about equal work between them, each the place of least traffic in its window; ascending. A
   place where a value of a size known only at run time, text or a list crosses is none. */
MUST_USE hone_status hybrid_cuts(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                 size_t most, struct cut out[HYBRID_MOST_CUTS], size_t *out_count);

/* -- path.c */
/* Places 0 to count - 1: the beginning, the cuts, the end. Times in ms; NaN: cannot, or not measured. */
struct hybrid_times {
  size_t places, engines;
  /* of the stretch from place i to place j on engine e, alone */
  double stretch[HYBRID_PLACES][HYBRID_PLACES][HYBRID_MOST_ENGINES];
  /* what it costs beyond both stretches that engine f takes over from e at place i */
  double hand_over[HYBRID_PLACES][HYBRID_MOST_ENGINES][HYBRID_MOST_ENGINES];
};
struct hybrid_path {
  size_t count;
  struct {
    size_t from, to, engine;
  } at[HYBRID_PLACES];
  double ms; /* infinite: there is none */
};
/* The shortest path; neighbours differ in engine. A hand-over that was not measured counts as free. */
void hybrid_shortest(const struct hybrid_times *times, struct hybrid_path *out);

/* -- measure.c */
struct hybrid_engine {
  const struct backend *backend;
  const char *path; /* as --engine gives it, or NULL */
};
struct hybrid_options {
  const struct hybrid_engine *engines;
  size_t engine_count;
  int threads;
  size_t cuts;          /* at most */
  double turn_s;        /* of one timing */
  double budget_s;      /* no stretch but the whole model is begun after that; infinite: all are */
  const char *work_dir; /* an empty folder */
  void (*progress)(void *user, const char *line); /* may be NULL */
  void *user;
};
struct hybrid_study {
  struct cut cuts[HYBRID_MOST_CUTS];
  size_t cut_count;
  struct hybrid_times times;
  size_t hand_overs;               /* that were measured */
  size_t stretches, stretch_count; /* measured within the budget, of all */
  struct hybrid_path path;
  size_t single;    /* engine that is fastest on the whole model; SIZE_MAX: none can */
  double single_ms; /* NaN */
  /* of an engine that refused a stretch: the last reason; "" */
  char why_not[HYBRID_MOST_ENGINES][256];
};
/* inputs: of the model, one set. E_UNSUP for a graph that has no parts: outputs that are inputs, open sizes. */
MUST_USE hone_status hybrid_measure(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                    const hone_tensor *inputs, const struct hybrid_options *options,
                                    struct hybrid_study *out);
/* The option of the backend `hybrid`: "native:12+onnxruntime". */
void hybrid_parts_text(const struct hybrid_study *study, const struct hybrid_options *options,
                       struct strbuf *out);
#endif
