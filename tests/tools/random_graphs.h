/* Random graphs for the compiler: the interface between the generator (random_ops.c) and the checks
 * (random_graphs.c). A scene is a graph with the exact content of each of its values, and the
 * content computed from slightly perturbed values. The difference of the two bounds the rounding
 * error. */
#ifndef HONE_RANDOM_GRAPHS_H
#define HONE_RANDOM_GRAPHS_H

#include "core/ops/ops.h"

enum { MOST_VALUES = 2048, MOST_ELEMENTS = 40000 };

struct scene {
  struct ctx ctx;
  struct arena *arena;
  struct graph *graph;
  const struct tensor *truth[MOST_VALUES], *shaken[MOST_VALUES]; /* by value index */
};

/* Distance of two tensors of the same type, and the size of the first. */
struct distance {
  double l2, most;            /* of the difference */
  double size_l2, size_most;
  bool same;                  /* no difference at all */
  bool finite;
};
struct distance distance(const struct tensor *expected, const struct tensor *actual);

/* Gives input `value` its content, by its name alone. */
MUST_USE hone_status scene_input(struct scene *s, const struct value *value);
/* Evaluates one node whose inputs are known. */
MUST_USE hone_status scene_node(struct scene *s, const struct node *node);
/* Builds a graph of about `nodes` nodes into the empty scene; the same seed gives the same graph. */
MUST_USE hone_status random_graph(struct scene *s, uint64_t seed);

#endif
