/* control: what inference does with If, Loop and Scan. */
#ifndef HONE_OPS_CONTROL_H
#define HONE_OPS_CONTROL_H

#include "core/ops/ops_internal.h"

/* The condition of an If; *out_known false: it comes at run time. */
MUST_USE hone_status control_condition(struct ctx *ctx, const struct node *node, bool *out_known,
                                       bool *out_value);
/* The graph of the branch, checked: no inputs, as many outputs as the node. */
MUST_USE hone_status control_branch(struct ctx *ctx, const struct node *node, bool taken,
                                    struct graph **out);
/* The nodes that stand for an If of which one branch is taken, not yet inferred. */
MUST_USE hone_status control_inline_if(struct ctx *ctx, struct graph *graph,
                                       const struct node *node, bool taken, struct node_list *out);

/* An If of which one branch gives nothing, and the other the same but for one axis: the other, cut to nothing by the
   condition. Both are inferred by now; the nodes are yet to be. */
MUST_USE hone_status control_or_nothing(struct ctx *ctx, struct graph *graph,
                                        const struct node *node, struct node_list *out,
                                        bool *out_done);

/* An If whose branches, inferred by now, give values of other sizes, or of sizes that only a run knows: an If of values as
   long as the bounds, and of the sizes, appended to the graph with what cuts them, all inferred (if_sizes.c). *out_bytes:
   of all values that were made. E_UNSUP where a branch can only fail. */
MUST_USE hone_status control_sized(struct ctx *ctx, struct graph *graph, struct node *node,
                                   size_t *out_bytes, bool *out_done);

/* The graph attribute `name`; E_FORMAT unless it has so many inputs and outputs. */
MUST_USE hone_status control_body(struct ctx *ctx, const struct node *node, const char *name,
                                  size_t inputs, size_t outputs, const struct graph **out);

/* A Loop or Scan, iteration by iteration: each call gives the next nodes, to be inferred before the
   next call; with *out_done those that make the node's outputs. E_UNSUP where trip count or
   condition come at run time, E_LIMIT beyond limit unroll. */
struct unroll;
MUST_USE hone_status unroll_begin(struct ctx *ctx, struct graph *graph, const struct node *node,
                                  struct unroll **out);
MUST_USE hone_status unroll_next(struct ctx *ctx, struct graph *graph, struct unroll *unroll,
                                 struct node_list *out, bool *out_done);
/* Whether the last iteration, inferred by now, gave a condition that only a run knows. */
bool unroll_is_blind(const struct unroll *unroll);
/* Whether it collects, but never runs: the body alone says of what type and shape nothing is collected. */
bool unroll_is_nothing(const struct unroll *unroll);
/* Makes of such a Loop one with a trip count of 0, which stays; a Scan is as it was. */
MUST_USE hone_status control_never(struct ctx *ctx, struct graph *graph, struct node *node);
/* Nodes that an iteration copies, with those of graphs inside the body. */
size_t unroll_nodes(const struct unroll *unroll);

/* Whether it is a Scan of opset 8, which goes over batches; what stands for it then: a Scan for each row
   of the batch, and their results side by side. */
bool is_batched_scan(const struct node *node);
MUST_USE hone_status control_rows(struct ctx *ctx, struct graph *graph, const struct node *node,
                                  struct node_list *out);

/* The shape of a body's input that is one number, the iteration or the condition: [1] where the file declares a rank, as
 * in ONNX Runtime, else a scalar. */
struct shape declared_number(const struct value *input);

/* -- loop.c: loops at run time */
/* Whether the number of iterations, or the condition to begin, comes at run time. */
bool loop_is_open(const struct node *node);
/* Whether it is not unrolled: it is open, or has more iterations than limit unroll. */
bool loop_stays(const struct ctx *ctx, const struct node *node);
/* Whether a Loop that stays runs as often as its trip count says, which is known, whatever its body computes. */
bool loop_is_counted(const struct node *node);
/* Whether what a body says of going on depends on nothing that its iterations change. */
MUST_USE hone_status loop_condition_is_fixed(struct ctx *ctx, struct arena *arena,
                                             const struct graph *body, bool *out);
/* Gives the body's inputs their types; *out_body is to be inferred next, then the node. */
MUST_USE hone_status loop_enter(struct ctx *ctx, const struct node *node, struct graph **out_body);
/* What stands for a Scan along a run-time size: its length and a Loop. Its body is changed. */
MUST_USE hone_status loop_of_scan(struct ctx *ctx, struct graph *graph, const struct node *node,
                                  struct node_list *out);

/* -- loop_append.c */
/* What stands for a Loop that stays and to one of whose carried values each iteration appends: a Loop that collects what is
   appended, and what joins it, yet to be inferred; *out_done false: there is none. Its body is changed. */
MUST_USE hone_status loop_of_growing(struct ctx *ctx, struct graph *graph, const struct node *node,
                                     struct node_list *out, bool *out_done);

/* -- new nodes and constants */

/* result NULL: a new value. Nodes come to `list`, not to the graph. */
MUST_USE hone_status control_node(struct ctx *ctx, struct graph *graph, enum op_id op,
                                  const struct node *origin, struct value *const *inputs,
                                  size_t count, struct value *result, struct node_list *list,
                                  struct node **out);
/* An Identity. */
MUST_USE hone_status control_alias(struct ctx *ctx, struct graph *graph, const struct node *origin,
                                   struct value *from, struct value *to, struct node_list *list);
/* One number, of rank 0 or 1. */
MUST_USE hone_status control_constant(struct ctx *ctx, struct graph *graph, hone_dtype dtype,
                                      int rank, int64_t number, struct value **out);

/* -- sequences.c: sequences and optionals */
bool is_list_node(const struct node *node);
/* E_TYPE if an input is a list. */
MUST_USE hone_status list_refuse(struct ctx *ctx, const struct node *node);
/* Sets the lists of the node's outputs and gives the nodes, not yet inferred, that stand for it. */
MUST_USE hone_status list_resolve(struct ctx *ctx, struct graph *graph, const struct node *node,
                                  struct node_list *out);
/* A graph's outputs that are lists become their elements, "NAME.0", "NAME.1", ...; an optional tensor
   keeps its name, what an optional does not hold is left out. Gives nodes to be inferred. */
MUST_USE hone_status list_outputs(struct ctx *ctx, struct graph *graph, struct node_list *out);

#endif
