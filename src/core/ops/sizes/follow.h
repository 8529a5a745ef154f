/* follow: which dimensions depend on the dynamic dimensions of the inputs. Internal to follow.c,
 * explain.c and finish.c. */
#ifndef HONE_FOLLOW_H
#define HONE_FOLLOW_H

#include "core/ops/operators/window.h"

/* A graph: the outermost, or a branch of an If. */
struct scope {
  const struct scope *outer;
  const struct graph *graph;
  const struct value **pair; /* of at_n, by the index of graph's value */
};

/* What a value was in earlier calls. */
struct sightings {
  int64_t *dims, *elements; /* NULL: as at the bounds */
  /* of a constant, by dimension and symbol: where the part that is read is: 0 at the start, 1 at the
   * end, 2 in the middle; NULL: at the start */
  uint8_t (*places)[HONE_MAX_SYMBOLS];
};

struct follower {
  struct ctx *ctx;
  struct graph *graph;
  const struct symbols *symbols;
  const int64_t *sizes;
  int64_t less[HONE_MAX_SIZES]; /* bounds - sizes */
  int first;                    /* the symbol whose slopes this call determines; -1: none */
  bool active[HONE_MAX_SIZES];  /* by size: it depends on that symbol */
  bool is_full;                 /* a derived size found no room */
  bool finds;                   /* slopes may change */
  bool has_changed;             /* slopes */
  bool is_first_call;           /* for that symbol */
  bool has_moved;               /* the place of a part, unknown to earlier calls */
  const struct followed *past;
  int64_t (*past_less)[HONE_MAX_SIZES]; /* by earlier call */
  const struct scope *scope;            /* of the graph that is followed */
  uint32_t passed_over;                 /* by earlier call: it, or what it is in, was not taken */
  struct arena *scratch;
};

/* A dimension of a value, as this call sees it. */
struct dimension {
  struct follower *f;
  const struct node *node;   /* that makes the value, or reads it if it is a constant; or NULL */
  const struct value *value; /* NULL: an element */
  int d;
  int64_t bound, size;
  struct slope now;    /* known before this call */
  const int64_t *seen; /* its sizes in earlier calls; NULL: as at the bounds */
};

/* -- explain.c */
/* The slope of a dimension from what is known of the node's operands, and from the sizes; false:
 * none fits this call and the earlier ones. */
bool explain(const struct dimension *at, struct slope *out);
/* The same for element i of a constant that at->node computed from sizes, by its arithmetic. */
bool explain_element(const struct dimension *at, size_t i, struct slope *out);
/* Element i as an integer; false if it is not one, or not the size of anything. */
bool whole_element(const struct tensor *tensor, size_t i, int64_t *out);
/* Operands that give a shape; the output's shape holds the same information. */
bool is_shape_operand(const struct node *node, size_t k);
/* True if the slope depends on the symbol whose slopes this call determines. */
bool is_active(const struct follower *f, const struct slope *slope);
void set_active(struct follower *f, size_t j);
struct slope divided(const struct slope *slope, int64_t by, bool *exact);
/* False: the slope does not show where the part of a constant is, so it is not the right one. */
bool is_placed(const struct value *value, int d, size_t symbol);
bool grows_backwards(const struct slope *slope);
bool same_size(const struct derived_size *x, const struct derived_size *y);
#endif
