/* rewrite: shared by the passes. A pass is one function over each node in topological order.
 * Replacements are recorded in a map and applied once, so that a pass is linear in the graph. Every
 * pass leaves the graph sorted, without unused nodes, and with known shapes.
 */
#ifndef HONE_REWRITE_H
#define HONE_REWRITE_H

#include "core/ops/builder.h"
#include "passes.h"

struct rewrite {
  struct ctx *ctx;
  struct graph *graph;
  struct graph_builder *b; /* of new nodes, which are inferred but not folded */
  struct substitution map;
  /* by value index; a value made by this pass inherits the uses of what it replaced */
  VEC(uint32_t) uses;
  const bool *spared;  /* by value index: not to be folded; NULL: fold all */
  uint32_t own_values; /* index of the first value made by this pass */
  size_t changes;
};
typedef hone_status visit_fn(struct rewrite *r, struct node *node);

/* Visits every node, its inputs already replaced; then applies, sorts and removes unused nodes. */
MUST_USE hone_status rewrite_nodes(struct ctx *ctx, struct graph *graph, visit_fn *visit,
                                   size_t *out_changes);
/* The same; spared: an array over the graph's values. */
MUST_USE hone_status rewrite_nodes_but(struct ctx *ctx, struct graph *graph, visit_fn *visit,
                                       const bool *spared, size_t *out_changes);
/* Makes readers of `from` read `to`; counts as a change. Returns the builder's failure, if any. */
MUST_USE hone_status rewrite_replace(struct rewrite *r, const struct value *from, struct value *to);
/* True if the value has one reader (the caller's node) and is not an output of the graph. */
bool rewrite_single_use(const struct rewrite *r, const struct value *value);
/* A new constant of the given type; the caller fills it. */
MUST_USE hone_status rewrite_constant(struct rewrite *r, hone_dtype dtype,
                                      const struct shape *shape, struct value **out);

/* The node that makes the value, if it has this op; else NULL. */
struct node *producer_of(const struct value *value, enum op_id op);
/* An operator that only changes the shape, not the order, as a Reshape by a constant does. */
bool is_shape_op(const struct node *node);
/* True if it reads a constant computed from a shape: at other sizes it may do something else. */
bool depends_on_sizes(const struct node *node);
/* False if it contains graphs or draws random numbers (Dropout in training): never merged or
   folded. */
bool is_pure(const struct node *node);

/* True if output 0 has elements of input 0 and nothing else, for any scale: it moves int8 as it
   moves floats. */
bool only_moves(const struct node *node);

pass_fn pass_fold_constants, pass_fold_identity, pass_eliminate_common_subexpressions,
    pass_eliminate_dead_code, pass_reduce_strength, pass_recognise_layernorm, pass_normalise_gemm,
    pass_widen_gemm, pass_fold_batchnorm, pass_merge_reshapes, pass_cancel_transposes,
    pass_lower_composites, pass_lower_quantised, pass_lower_fixed_point, pass_lower_byte_sums,
    pass_widen_types, pass_fuse_edges, pass_place_slabs, pass_keep_weights, pass_lower_byte_tables,
    pass_unsign_bytes, pass_sink_reshapes, pass_crop_kernels, pass_lower_volumes,
    pass_lower_channel_norms, pass_repeat_channels, pass_swap_halves;
/* For exports only. */
pass_fn pass_recognise_gelu, pass_move_bytes, pass_sign_bytes, pass_fold_but_weights,
    pass_fold_all_constants, pass_pack_nbits;

#endif
