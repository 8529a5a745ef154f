/* expand: operators that are expanded into others. Each `expand_*` function of composites.def
 * builds nodes that compute the node's outputs from its inputs; shapes are known, so all decisions
 * that depend on them are made while building. graph_infer replaces the node by these nodes, so
 * passes, plan and evaluator never see a composite. An expansion reads like formulas (builder.h), and its caller checks the status once. */
#ifndef HONE_OPS_EXPAND_H
#define HONE_OPS_EXPAND_H

#include "core/ops/builder.h"
#include "core/ops/ops_internal.h"

typedef void expand_fn(struct graph_builder *e);

#define COMPOSITE(name, expand) expand_fn expand;
#include "composites.def"
#undef COMPOSITE
/* node_lower's */
expand_fn expand_tree_classifier, expand_tree_regressor, expand_array_feature_extractor,
    expand_attention, expand_einsum, expand_dynamic_quantize;
expand_fn expand_dropout, expand_batch_norm; /* their training forms */
expand_fn expand_string_equal;               /* Equal of strings */
expand_fn expand_cast_text;                  /* Cast of integers to strings */
expand_fn expand_open_flatten;               /* with a dynamic dimension */
expand_fn expand_open_gather, expand_open_gather_nd, expand_open_gather_elements,
    expand_open_scatter, expand_open_scatter_nd; /* index.c */
expand_fn expand_sized_constant, expand_sized_range, expand_sized_tile, expand_sized_expand,
    expand_sized_resize; /* shape_operands.c */

/* The function of composites.def, of a training form, or of expand_open_find; NULL for an operator
 * with its own evaluation. */
expand_fn *expand_find(const struct node *node);
/* The first row for the node's operator that applies to the node; NULL: none. */
struct expand_row {
  enum op_id op;
  bool (*is)(const struct node *node);
  expand_fn *expand;
};
expand_fn *expand_by_row(const struct expand_row *rows, size_t count, const struct node *node);
/* The expansion of an operator along a dynamic axis (dynamic_axes.c), or NULL. */
expand_fn *expand_open_find(const struct node *node);
/* The expansion of an operator that has an evaluation of its own too (lower.c), or NULL. */
expand_fn *expand_evaluated_find(const struct node *node);
/* The expansion of an operator that needs the actual size of a dynamic input dimension (sizes.c), or
 * NULL. */
expand_fn *expand_sized_find(const struct node *node);
/* Appends the nodes to the graph; e->results has a value for each used output. */
MUST_USE hone_status expand_node(struct ctx *ctx, struct graph *graph, const struct node *node,
                                 expand_fn *expand, struct graph_builder *e);

/* The composite's input, NULL if omitted; its attributes. */
static inline struct value *x_in(const struct graph_builder *e, size_t k) {
  return node_input(e->node, k);
}
#define x_int(e, name, otherwise) node_int((e)->node, name, otherwise)
#define x_float(e, name, otherwise) node_float((e)->node, name, otherwise)
bool x_is(const struct graph_builder *e, const char *attribute, const char *otherwise,
          const char *word);
void x_out(struct graph_builder *e, size_t k, struct value *value);
/* The input as constant integers, at most max; E_UNSUP if known only at run time. */
size_t x_ints(struct graph_builder *e, size_t k, const char *what, size_t max, int64_t *out);

/* The post_transform of ai.onnx.ml, over scores [n, classes] (ml.c). */
struct value *x_transform(struct graph_builder *e, const char *how, struct value *x);

/* The label, a number or a string, of each index in `at`, i64 [n] (ml.c). */
struct value *x_label(struct graph_builder *e, const struct attribute *labels, struct value *at);

/* For axes with a dynamic size (dynamic_axes.c). */
/* Pads axis to `length` with a number, or empty strings; x_pad_all_to_bound: all axes to their
 * bounds. */
struct value *x_pad_to_bound(struct graph_builder *e, struct value *x, int axis, int64_t length,
                             double fill);
struct value *x_pad_all_to_bound(struct graph_builder *e, struct value *x, double fill);
/* The run-time size of an extent, a scalar i64. */
struct value *x_size(struct graph_builder *e, uint32_t extent);
/* Makes an axis dynamic: with the size of an extent, or the first n elements. */
struct value *x_open(struct graph_builder *e, struct value *x, int axis, uint32_t extent);
struct value *x_first(struct graph_builder *e, struct value *x, int axis, struct value *n);
/* The entries of input k, computed at run time; false: it is a constant, or its entries are not
 * known one by one (shape_values.c). */
bool node_sizes(const struct node *node, size_t k, struct size_list *out);
/* Entry i, a scalar i64; and x with the axis of that length (unchanged for a number). */
struct value *x_entry(struct graph_builder *e, const struct size_list *list, size_t i);
struct value *x_open_entry(struct graph_builder *e, struct value *x, int axis,
                           const struct size_list *list, size_t i);
/* Sets at[i] to the upper bound of each entry computed at run time; E_UNSUP if one has none. */
bool x_bounds(struct graph_builder *e, struct size_list *list);

/* For dimensions that depend on sizes given at run time (sizes.c), after all passes. */
/* Indices into dynamic dimensions of size n: negative ones count from the actual end, and those out of
 * range are out of range of the bound too. */
struct value *x_within(struct graph_builder *e, struct value *index, struct value *n,
                       struct value *bound);

/* Resize along one axis (shape_operands.c) of `length` elements to `count`, both scalars i64, at the
 * places `at`, f32 [bound of count]. */
struct value *x_resize(struct graph_builder *e, struct value *x, int axis, struct value *at,
                       struct value *length, struct value *count);
/* The axis that entry i of sizes or scales refers to, or -1. */
int x_resized_axis(const struct graph_builder *e, size_t i);
bool x_can_resize(const struct graph_builder *e);

/* For attention (attention.c). */
/* [batch, rows, heads * size] to [batch, heads, rows, size]; 4-D stays. */
struct value *x_split_heads(struct graph_builder *e, struct value *x, int64_t heads);
/* The inverse. */
struct value *x_join_heads(struct graph_builder *e, struct value *x);
/* Matmul of x [batch, heads, rows, size] and y [batch, fewer heads, size, columns], shared by
 * groups of x's heads. */
struct value *x_of_heads(struct graph_builder *e, struct value *x, struct value *y);
/* Floats below 32 bits are computed in f32 and rounded once at the end; NULL stays NULL. */
struct value *x_widened(struct graph_builder *e, struct value *x);

#endif
