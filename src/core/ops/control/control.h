/* control: inference of If, Loop and Scan. */
#ifndef HONE_OPS_CONTROL_H
#define HONE_OPS_CONTROL_H

#include "core/ops/ops_internal.h"

/* The condition of an If; *out_known false: it is known only at run time. */
MUST_USE hone_status control_condition(struct ctx *ctx, const struct node *node, bool *out_known,
                                       bool *out_value);
/* The graph of the branch, checked: no inputs, as many outputs as the node. */
MUST_USE hone_status control_branch(struct ctx *ctx, const struct node *node, bool taken,
                                    struct graph **out);
/* The nodes that replace an If with a known condition, not yet inferred. */
MUST_USE hone_status control_inline_if(struct ctx *ctx, struct graph *graph,
                                       const struct node *node, bool taken, struct node_list *out);

/* An If where one branch gives an empty value and the other the same shape except for one axis:
 * replaced by the other branch, cut to zero elements by the condition. Both branches are inferred;
 * the new nodes are not. */
MUST_USE hone_status control_or_nothing(struct ctx *ctx, struct graph *graph,
                                        const struct node *node, struct node_list *out,
                                        bool *out_done);

/* Whether the inferred branches of an If give values of the same types and ranks, and neither can only fail. */
MUST_USE hone_status control_can_stay(struct ctx *ctx, const struct node *node, bool *out);

/* An If whose inferred branches give values of different or dynamic sizes: replaced by an If whose
 * outputs are padded to the bounds, plus the sizes, followed by nodes that crop them; all inferred
 * (if_sizes.c). *unlike: a bit for each dimension whose sizes differ; those that are set differ
 * also if they are equal here. *out_bytes: of all new values. E_UNSUP if a branch can only fail. */
MUST_USE hone_status control_sized(struct ctx *ctx, struct graph *graph, struct node *node,
                                   uint64_t *unlike, size_t *out_bytes, bool *out_done);

/* The graph attribute `name`; E_FORMAT unless it has this number of inputs and outputs. */
MUST_USE hone_status control_body(struct ctx *ctx, const struct node *node, const char *name,
                                  size_t inputs, size_t outputs, const struct graph **out);

/* Unrolls a Loop or Scan: each call gives the nodes of the next iteration, to be inferred before
 * the next call; with *out_done those that make the node's outputs. E_UNSUP if the trip count or
 * condition is known only at run time, E_LIMIT beyond limit unroll. */
struct unroll;
MUST_USE hone_status unroll_begin(struct ctx *ctx, struct graph *graph, const struct node *node,
                                  struct unroll **out);
MUST_USE hone_status unroll_next(struct ctx *ctx, struct graph *graph, struct unroll *unroll,
                                 struct node_list *out, bool *out_done);
/* True if the last, inferred iteration gave a condition known only at run time. */
bool unroll_condition_is_unknown(const struct unroll *unroll);
/* True if it has scan outputs but never runs: only the body gives their type and shape. */
bool unroll_never_runs(const struct unroll *unroll);
/* Turns such a Loop into one with a trip count of 0, which stays; a Scan is not changed. */
MUST_USE hone_status control_make_empty_loop(struct ctx *ctx, struct graph *graph,
                                             struct node *node);
/* Nodes that an iteration copies, including those of graphs inside the body. */
size_t unroll_nodes(const struct unroll *unroll);

/* True for a Scan of opset 8, which loops over batches; it is replaced by one Scan per batch row
 * and a Concat of their results. */
bool is_batched_scan(const struct node *node);
MUST_USE hone_status control_rows(struct ctx *ctx, struct graph *graph, const struct node *node,
                                  struct node_list *out);

/* The shape of a body's input that is one number, the iteration or the condition: [1] if the file
 * declares a rank, as in ONNX Runtime, else a scalar. */
struct shape declared_number(const struct value *input);

/* -- loop.c: loops at run time */
/* True if the number of iterations, or the initial condition, is known only at run time. */
bool loop_is_open(const struct node *node);
/* True if it is not unrolled: it is data-dependent, or has more iterations than limit unroll, or
 * `keeps`. */
bool loop_stays(const struct ctx *ctx, const struct node *node, bool keeps);
/* True if a Loop that stays runs exactly as often as its known trip count, independent of its
 * body. */
bool loop_is_counted(const struct node *node);
/* True if the condition that a body returns does not depend on its iterations. */
MUST_USE hone_status loop_condition_is_fixed(struct ctx *ctx, struct arena *arena,
                                             const struct graph *body, bool *out);
/* Gives the body's inputs their types; *out_body is to be inferred next, then the node. */
MUST_USE hone_status loop_enter(struct ctx *ctx, const struct node *node, struct graph **out_body);
/* Replaces a Scan along a dynamic dimension by the length and a Loop. Its body is changed. */
MUST_USE hone_status loop_of_scan(struct ctx *ctx, struct graph *graph, const struct node *node,
                                  struct node_list *out);

/* -- loop_append.c */
/* Replaces a Loop that stays and appends to a loop-carried value in each iteration: a Loop with a
 * scan output for the appended part, and a Concat, yet to be inferred; *out_done false: not such a
 * Loop. Its body is changed. */
MUST_USE hone_status loop_of_appending(struct ctx *ctx, struct graph *graph,
                                       const struct node *node, struct node_list *out,
                                       bool *out_done);

/* -- new nodes and constants */

/* result NULL: a new value. Nodes are added to `list`, not to the graph. */
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
/* Sets the lists of the node's outputs and returns the nodes, not yet inferred, that replace it. */
MUST_USE hone_status list_resolve(struct ctx *ctx, struct graph *graph, const struct node *node,
                                  struct node_list *out);
/* Graph outputs that are lists become their elements, "NAME.0", "NAME.1", ...; an optional tensor
 * keeps its name, an empty optional is removed. Returns nodes to be inferred. */
MUST_USE hone_status list_outputs(struct ctx *ctx, struct graph *graph, struct node_list *out);

#endif
