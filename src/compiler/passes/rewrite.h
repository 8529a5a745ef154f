/* rewrite: what the passes share. A pass is one function over each node in topological order; what
 * it replaces is noted in a map and applied once, so that a pass is linear in the graph. Every pass
 * leaves a sorted, swept graph whose shapes are known.
 */
#ifndef HONE_REWRITE_H
#define HONE_REWRITE_H

#include "passes.h"

struct rewrite {
  struct ctx *ctx;
  struct graph *graph;
  struct substitution map;
  VEC(uint32_t) uses;  /* by value index; a value made by this pass has those of what it replaced */
  const bool *spared;  /* by value index: not to be folded; NULL: all are */
  uint32_t own_values; /* index of the first value that this pass makes */
  bool is_unsorted;    /* nodes were appended */
  size_t changes;
};
typedef hone_status visit_fn(struct rewrite *r, struct node *node);

/* Visits every node with its inputs already replaced, then applies, sorts and sweeps. */
MUST_USE hone_status rewrite_nodes(struct ctx *ctx, struct graph *graph, visit_fn *visit,
                                   size_t *out_changes);
/* The same; spared: an array of the graph's values. */
MUST_USE hone_status rewrite_nodes_but(struct ctx *ctx, struct graph *graph, visit_fn *visit,
                                       const bool *spared, size_t *out_changes);
/* Readers of `from` shall read `to`; counts as a change. */
MUST_USE hone_status rewrite_replace(struct rewrite *r, const struct value *from, struct value *to);
/* A new node with one output, to be inferred by node_infer once its attributes are set. */
MUST_USE hone_status rewrite_node(struct rewrite *r, enum op_id op, struct value *const *inputs,
                                  size_t input_count, struct node **out);
/* The only reader is the one that asks, and the graph does not hand the value out. */
bool rewrite_single_use(const struct rewrite *r, const struct value *value);
/* A new constant of the given type; the caller fills it. */
MUST_USE hone_status rewrite_constant(struct rewrite *r, hone_dtype dtype,
                                      const struct shape *shape, struct value **out);
/* A list of i64, as a shape, axes or bounds are given. */
MUST_USE hone_status rewrite_ints(struct rewrite *r, const int64_t *numbers, int count,
                                  struct value **out);
/* One number of type i32; op(x, y); x in another type: each with its shape and type known. */
MUST_USE hone_status rewrite_i32(struct rewrite *r, int64_t x, struct value **out);
MUST_USE hone_status rewrite_binary(struct rewrite *r, enum op_id op, struct value *x,
                                    struct value *y, struct value **out);
MUST_USE hone_status rewrite_cast(struct rewrite *r, struct value *x, hone_dtype to,
                                  struct value **out);
/* The elements of x in their order under another shape of closed sizes. */
MUST_USE hone_status rewrite_reshape(struct rewrite *r, struct value *x, const struct shape *shape,
                                     struct value **out);

/* The node that made the value, if it is of this op; else NULL. */
struct node *producer_of(const struct value *value, enum op_id op);
/* The constant shape operator that a Reshape would need: only the shape changes, not the order. */
bool is_shape_op(const struct node *node);
/* False if it holds graphs or draws random numbers (Dropout in training): never merged or folded. */
bool is_pure(const struct node *node);

/* Output 0 holds elements of input 0 and nothing else, whatever their scale: it moves bytes as it moves numbers. */
bool only_moves(const struct node *node);

pass_fn pass_fold_constants, pass_fold_identity, pass_eliminate_common_subexpressions,
    pass_eliminate_dead_code, pass_reduce_strength, pass_recognise_layernorm, pass_normalise_gemm,
    pass_widen_gemm, pass_fold_batchnorm, pass_merge_reshapes, pass_cancel_transposes,
    pass_lower_composites, pass_lower_quantised, pass_lower_fixed_point, pass_lower_byte_sums,
    pass_widen_types, pass_fuse_edges, pass_place_slabs, pass_keep_weights, pass_lower_byte_tables,
    pass_unsign_bytes, pass_sink_reshapes, pass_crop_kernels, pass_lower_volumes,
    pass_lower_channel_norms, pass_repeat_channels;
/* Of exports alone. */
pass_fn pass_recognise_gelu, pass_move_bytes, pass_sign_bytes, pass_fold_but_weights,
    pass_fold_all_constants;

#endif
