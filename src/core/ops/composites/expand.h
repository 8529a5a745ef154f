/* expand: operators that are expanded into others. Each `expand_*` function of composites.def
 * builds nodes that compute the node's outputs from its inputs; shapes are known, so all decisions
 * that depend on them are made while building. graph_infer replaces the node by these nodes, so
 * passes, plan and evaluator never see a composite.
 *
 * The building functions keep the first failure in `status` and return a dummy value from then on:
 * an expansion reads like formulas, and its caller checks the status once. */
#ifndef HONE_OPS_EXPAND_H
#define HONE_OPS_EXPAND_H

#include "core/ops/ops_internal.h"

struct expansion {
  struct ctx *ctx;
  struct graph *graph;
  const struct node *node; /* the composite */
  struct value *results[16];
  hone_status status;
  size_t attribute_count; /* attributes of the next node */
  struct attribute attributes[12];
  size_t bytes; /* total size of all values made */
  struct value dummy;
};
typedef void expand_fn(struct expansion *e);

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
                                 expand_fn *expand, struct expansion *e);

/* The composite's input, NULL if omitted; its attributes. */
static inline struct value *x_in(const struct expansion *e, size_t k) {
  return node_input(e->node, k);
}
#define x_int(e, name, otherwise) node_int((e)->node, name, otherwise)
#define x_float(e, name, otherwise) node_float((e)->node, name, otherwise)
bool x_is(const struct expansion *e, const char *attribute, const char *otherwise,
          const char *word);
/* Ends the expansion with an error at the node. */
PRINTF(3, 4) void x_fail(struct expansion *e, hone_status id, const char *format, ...);
void x_out(struct expansion *e, size_t k, struct value *value);
/* The input as constant integers, at most max; E_UNSUP if known only at run time. */
size_t x_ints(struct expansion *e, size_t k, const char *what, size_t max, int64_t *out);

/* Attributes of the next node. */
void x_with_int(struct expansion *e, const char *name, int64_t i);
void x_with_float(struct expansion *e, const char *name, double f);
void x_with_ints(struct expansion *e, const char *name, const int64_t *ints, size_t count);
void x_with_string(struct expansion *e, const char *name, const char *text);
/* A node with one output; inputs may be NULL for omitted ones. */
struct value *x_op(struct expansion *e, enum op_id op, struct value *const *inputs, size_t count);
/* A node with `outputs` (at most 4) outputs, stored in out. */
void x_node(struct expansion *e, enum op_id op, struct value *const *inputs, size_t count,
            size_t outputs, struct value **out);
/* The composite's own operator with its attributes, over other inputs. */
struct value *x_again(struct expansion *e, struct value *const *inputs, size_t count);
struct value *x_1(struct expansion *e, enum op_id op, struct value *a);
struct value *x_2(struct expansion *e, enum op_id op, struct value *a, struct value *b);
struct value *x_3(struct expansion *e, enum op_id op, struct value *a, struct value *b,
                  struct value *c);

/* Inlines a body with one input and one output over `input`; returns the output's value. */
struct value *x_inline(struct expansion *e, const struct graph *body, struct value *input);

/* Constants. The caller fills the tensor. */
struct value *x_constant(struct expansion *e, hone_dtype dtype, const struct shape *shape,
                         const struct tensor **out);
struct value *x_scalar(struct expansion *e, hone_dtype dtype, double x);
struct value *x_list(struct expansion *e, const int64_t *values, size_t count);
/* 0, 1, ... count - 1 times step plus start, in the shape [count] */
struct value *x_range(struct expansion *e, hone_dtype dtype, int64_t count, double start,
                      double step);

/* Frequent operations. */
struct value *x_cast(struct expansion *e, struct value *x, hone_dtype to);
struct value *x_reshape(struct expansion *e, struct value *x, const int64_t *dims, int rank);
struct value *x_expand(struct expansion *e, struct value *x, const struct shape *shape);
struct value *x_unsqueeze(struct expansion *e, struct value *x, int64_t axis);
struct value *x_squeeze(struct expansion *e, struct value *x, int64_t axis);
struct value *x_transpose(struct expansion *e, struct value *x, const int64_t *perm);
/* Swaps two axes. */
struct value *x_swap(struct expansion *e, struct value *x, int a, int b);
struct value *x_slice(struct expansion *e, struct value *x, int axis, int64_t start, int64_t end);
struct value *x_concat(struct expansion *e, int64_t axis, struct value *const *parts, size_t count);
struct value *x_gather(struct expansion *e, struct value *x, struct value *index, int64_t axis);
/* keepdims 0 or 1; axes NULL: all */
struct value *x_reduce(struct expansion *e, enum op_id op, struct value *x, const int64_t *axes,
                       size_t count, bool keep);
/* Pads with zeros along axis: `before` at the start, `after` at the end; negative numbers crop. */
struct value *x_pad(struct expansion *e, struct value *x, int axis, int64_t before, int64_t after);

/* The post_transform of ai.onnx.ml, over scores [n, classes] (ml.c). */
struct value *x_transform(struct expansion *e, const char *how, struct value *x);

/* The label, a number or a string, of each index in `at`, i64 [n] (ml.c). */
struct value *x_label(struct expansion *e, const struct attribute *labels, struct value *at);

/* For axes with a dynamic size (dynamic_axes.c). */
/* Pads axis to `length` with a number, or empty strings; x_pad_all_to_bound: all axes to their
 * bounds. */
struct value *x_pad_to_bound(struct expansion *e, struct value *x, int axis, int64_t length,
                             double fill);
struct value *x_pad_all_to_bound(struct expansion *e, struct value *x, double fill);
/* The run-time size of an extent, a scalar i64. */
struct value *x_size(struct expansion *e, uint32_t extent);
/* Makes an axis dynamic: with the size of an extent, or the first n elements. */
struct value *x_open(struct expansion *e, struct value *x, int axis, uint32_t extent);
struct value *x_first(struct expansion *e, struct value *x, int axis, struct value *n);
/* The entries of input k, computed at run time; false: it is a constant, or its entries are not
 * known one by one (shape_values.c). */
bool node_sizes(const struct node *node, size_t k, struct size_list *out);
/* Entry i, a scalar i64; and x with the axis of that length (unchanged for a number). */
struct value *x_entry(struct expansion *e, const struct size_list *list, size_t i);
struct value *x_open_entry(struct expansion *e, struct value *x, int axis,
                           const struct size_list *list, size_t i);
/* Sets at[i] to the upper bound of each entry computed at run time; E_UNSUP if one has none. */
bool x_bounds(struct expansion *e, struct size_list *list);

/* For dimensions that depend on sizes given at run time (sizes.c), after all passes. The slope of a
 * dimension; x_set_slope gives it one. */
struct slope x_slope(const struct value *x, int d);
void x_set_slope(struct expansion *e, struct value *x, int d, struct slope slope);
/* Indices into dynamic dimensions of size n: negative ones count from the actual end, and those out of
 * range are out of range of the bound too. */
struct value *x_within(struct expansion *e, struct value *index, struct value *n,
                       struct value *bound);
/* A scalar that is `bound` at the bounds: a constant without a slope. */
struct value *x_sized(struct expansion *e, hone_dtype dtype, int64_t bound, struct slope slope);

/* Resize along one axis (shape_operands.c) of `length` elements to `count`, both scalars i64, at the
 * places `at`, f32 [bound of count]. */
struct value *x_resize(struct expansion *e, struct value *x, int axis, struct value *at,
                       struct value *length, struct value *count);
/* The axis that entry i of sizes or scales refers to, or -1. */
int x_resized_axis(const struct expansion *e, size_t i);
bool x_can_resize(const struct expansion *e);

/* For attention (attention.c). */
/* [batch, rows, heads * size] to [batch, heads, rows, size]; 4-D stays. */
struct value *x_split_heads(struct expansion *e, struct value *x, int64_t heads);
/* The inverse. */
struct value *x_join_heads(struct expansion *e, struct value *x);
/* Matmul of x [batch, heads, rows, size] and y [batch, fewer heads, size, columns], shared by
 * groups of x's heads. */
struct value *x_of_heads(struct expansion *e, struct value *x, struct value *y);
/* Floats below 32 bits are computed in f32 and rounded once at the end; NULL stays NULL. */
struct value *x_widened(struct expansion *e, struct value *x);

#endif
