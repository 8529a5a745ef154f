/* control: what inference does with If, Loop and Scan. */
#ifndef HONE_OPS_CONTROL_H
#define HONE_OPS_CONTROL_H

#include "ops_internal.h"

/* The condition of an If; *out_known false: it comes at run time. */
MUST_USE hone_status control_condition(struct ctx *ctx, const struct node *node, bool *out_known,
                                       bool *out_value);
/* The graph of the branch, checked: no inputs, as many outputs as the node. */
MUST_USE hone_status control_branch(struct ctx *ctx, const struct node *node, bool taken,
                                    struct graph **out);
/* The nodes that stand for an If of which one branch is taken, not yet inferred. */
MUST_USE hone_status control_inline_if(struct ctx *ctx, struct graph *graph,
                                       const struct node *node, bool taken, struct node_list *out);

/* A Loop or Scan, iteration by iteration: each call gives the next nodes, to be inferred before the
   next call; with *out_done those that make the node's outputs. E_UNSUP where trip count or
   condition come at run time, E_LIMIT beyond limit unroll. */
struct unroll;
MUST_USE hone_status unroll_begin(struct ctx *ctx, struct graph *graph, const struct node *node,
                                  struct unroll **out);
MUST_USE hone_status unroll_next(struct ctx *ctx, struct graph *graph, struct unroll *unroll,
                                 struct node_list *out, bool *out_done);
/* Nodes that an iteration copies, with those of graphs inside the body. */
size_t unroll_nodes(const struct unroll *unroll);

#endif
