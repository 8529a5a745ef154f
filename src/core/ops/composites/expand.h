/* expand: an operator that is made of others says so in their words. Each `expand_*` function of
 * composites.def builds nodes that compute the node's outputs from its inputs; shapes are known, so
 * what depends on them is settled while building. graph_infer puts the nodes in its place, so that
 * no pass, plan or evaluator ever meets a composite.
 *
 * The building functions keep the first failure in `status` and hand out a dummy from then on: an
 * expansion reads as formulas, and its caller looks at the status once.
 */
#ifndef HONE_OPS_EXPAND_H
#define HONE_OPS_EXPAND_H

#include "core/ops/ops_internal.h"

struct expansion {
  struct ctx *ctx;
  struct graph *graph;
  const struct node *node; /* the composite */
  struct value *results[16];
  hone_status status;
  size_t attribute_count; /* of the next node */
  struct attribute attributes[12];
  size_t bytes; /* of all values made */
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
expand_fn expand_open_flatten;               /* of a size that a run decides */
expand_fn expand_open_gather, expand_open_gather_nd, expand_open_gather_elements,
    expand_open_scatter, expand_open_scatter_nd; /* index.c */
expand_fn expand_sized_constant, expand_sized_range, expand_sized_tile, expand_sized_expand,
    expand_sized_resize; /* shape_operands.c */

/* The row of composites.def, a training form, or expand_open_find's; NULL for a node with a meaning of its own. */
expand_fn *expand_find(const struct node *node);
/* What an operator is made of along an axis whose size only a run knows (dynamic_axes.c), or NULL. */
expand_fn *expand_open_find(const struct node *node);
/* Appends the nodes to the graph; e->results holds a value for each output asked for. */
MUST_USE hone_status expand_node(struct ctx *ctx, struct graph *graph, const struct node *node,
                                 expand_fn *expand, struct expansion *e);

/* The composite's input, NULL if left out; its attributes. */
static inline struct value *x_in(const struct expansion *e, size_t k) {
  return node_input(e->node, k);
}
#define x_int(e, name, otherwise) node_int((e)->node, name, otherwise)
#define x_float(e, name, otherwise) node_float((e)->node, name, otherwise)
bool x_is(const struct expansion *e, const char *attribute, const char *otherwise,
          const char *word);
/* Ends the expansion: E_UNSUP or another id, at the node. */
PRINTF(3, 4) void x_fail(struct expansion *e, hone_status id, const char *format, ...);
void x_out(struct expansion *e, size_t k, struct value *value);
/* The input as constant integers, at most max; E_UNSUP "known only at run time". */
size_t x_ints(struct expansion *e, size_t k, const char *what, size_t max, int64_t *out);

/* Attributes of the node that is made next. */
void x_with_int(struct expansion *e, const char *name, int64_t i);
void x_with_float(struct expansion *e, const char *name, double f);
void x_with_ints(struct expansion *e, const char *name, const int64_t *ints, size_t count);
void x_with_string(struct expansion *e, const char *name, const char *text);
/* A node of one output; entries may be NULL for operands left out. */
struct value *x_op(struct expansion *e, enum op_id op, struct value *const *inputs, size_t count);
/* A node of `outputs` (at most 4) outputs, into out. */
void x_node(struct expansion *e, enum op_id op, struct value *const *inputs, size_t count,
            size_t outputs, struct value **out);
/* The composite's own operator with its attributes, over other inputs. */
struct value *x_again(struct expansion *e, struct value *const *inputs, size_t count);
struct value *x_1(struct expansion *e, enum op_id op, struct value *a);
struct value *x_2(struct expansion *e, enum op_id op, struct value *a, struct value *b);
struct value *x_3(struct expansion *e, enum op_id op, struct value *a, struct value *b,
                  struct value *c);

/* The body's nodes over `input`, its only one; what its only output became. */
struct value *x_inline(struct expansion *e, const struct graph *body, struct value *input);

/* Constants. The tensor is filled by the caller. */
struct value *x_constant(struct expansion *e, hone_dtype dtype, const struct shape *shape,
                         const struct tensor **out);
struct value *x_scalar(struct expansion *e, hone_dtype dtype, double x);
struct value *x_list(struct expansion *e, const int64_t *values, size_t count);
/* 0, 1, ... count - 1 times step plus start, in the shape [count] */
struct value *x_range(struct expansion *e, hone_dtype dtype, int64_t count, double start,
                      double step);

/* Frequent forms. */
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
/* Zeros along axis: `before` in front, `after` behind; negative numbers cut. */
struct value *x_pad(struct expansion *e, struct value *x, int axis, int64_t before, int64_t after);

/* What post_transform of ai.onnx.ml names, over scores [n, classes] (ml.c). */
struct value *x_transform(struct expansion *e, const char *how, struct value *x);

/* The label, a number or a text, of each index in `at`, i64 [n] (ml.c). */
struct value *x_label(struct expansion *e, const struct attribute *labels, struct value *at);

/* Of axes as long as a run finds them (dynamic_axes.c). */
/* `length` places along axis, behind the size a number, or empty texts; all axes to their bounds. */
struct value *x_pad_to_bound(struct expansion *e, struct value *x, int axis, int64_t length, double fill);
struct value *x_pad_all_to_bound(struct expansion *e, struct value *x, double fill);
/* The size that a run finds for an extent, an i64 without dimensions. */
struct value *x_size(struct expansion *e, uint32_t extent);
/* As long from here on as an extent says, or as the first n say. */
struct value *x_open(struct expansion *e, struct value *x, int axis, uint32_t extent);
struct value *x_first(struct expansion *e, struct value *x, int axis, struct value *n);
/* The entries of input k, which a run fills; false: it is a constant, or they are not known one by one (shape_values.c). */
bool node_sizes(const struct node *node, size_t k, struct size_list *out);
/* Entry i, an i64 without dimensions; as long as it says from here on (a number is as it was). */
struct value *x_entry(struct expansion *e, const struct size_list *list, size_t i);
struct value *x_open_entry(struct expansion *e, struct value *x, int axis,
                           const struct size_list *list, size_t i);
/* Each entry is bounded, at[i] from 0 where a run computes it; else E_UNSUP. */
bool x_bounds(struct expansion *e, struct size_list *list);

/* Of attention (attention.c). */
/* [batch, rows, heads * size] to [batch, heads, rows, size]; 4-D stays. */
struct value *x_split_heads(struct expansion *e, struct value *x, int64_t heads);
/* The way back. */
struct value *x_join_heads(struct expansion *e, struct value *x);
/* x [batch, heads, rows, size] times y [batch, fewer heads, size, columns], which groups of x's heads share. */
struct value *x_of_heads(struct expansion *e, struct value *x, struct value *y);
/* Floats below 32 bits are computed in f32, rounded once at the end; NULL stays NULL. */
struct value *x_widened(struct expansion *e, struct value *x);

#endif
