/* Shared by the StableHLO exporter: terms, the source, and helpers of rules.
 * The source is MLIR's generic form, which every version of the dialect parses:
 * %t3 = "stablehlo.add"(%t1, %t2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
 * StableHLO specification: openxla.org/stablehlo/spec. */
#ifndef HONE_EXPORT_STABLEHLO_H
#define HONE_EXPORT_STABLEHLO_H

#include "compiler/export/export.h"

/* A value in the source. number 0: none. */
struct term {
  uint32_t number;
  hone_dtype dtype; /* HONE_BOOL is i1 */
  struct shape shape;
};
/* A graph being written: the outermost one, or a body, which may read values of the graphs around
 * it. */
struct hlo_scope {
  const struct hlo_scope *outer;
  const struct graph *graph;
  struct term *terms; /* by value->index */
};
struct hlo;
/* Writes a node. */
typedef hone_status hlo_rule(struct hlo *h, const struct node *node);
struct hlo {
  struct ctx *ctx;
  struct arena *arena;
  struct strbuf *out;
  uint32_t fresh;
  const struct hlo_scope *scope; /* the innermost */
  hlo_rule *rule;                /* any operator's: hlo_node */
  struct hlo_missing {
    const struct node *first;
    size_t count;
    char why[160];
  } * missing; /* by op_id: nodes without a rule; count 0: none */
};

/* -- printer.c */
/* "f32"; NULL: no such type in StableHLO or this exporter. */
const char *hlo_type(hone_dtype dtype);
void hlo_put_type(struct strbuf *out, hone_dtype dtype, const struct shape *shape);
/* "array<i64: 1, 2>" */
void hlo_put_ints(struct strbuf *out, const int64_t *ints, int count);
/* One operation with `count` operands; attributes: the text between <{ and }>, or NULL; region:
 * with its parentheses, or NULL. */
struct term hlo_op(struct hlo *h, const char *name, const struct term *operands, size_t count,
                   const char *attributes, const char *region, hone_dtype dtype,
                   const struct shape *shape);
/* The same with several results, whose types are set and whose numbers it assigns. */
void hlo_op_into(struct hlo *h, const char *name, const struct term *operands, size_t count,
                 const char *attributes, const char *region, struct term *results,
                 size_t result_count);
/* "%t1: tensor<..>, %t2: ..", with names, types or both. */
void hlo_put_terms(struct strbuf *out, const struct term *terms, size_t count, bool names,
                   bool types);
void hlo_rename(struct hlo *h, struct term *terms, size_t count);
/* Concatenation along an axis. */
struct term hlo_join(struct hlo *h, const struct term *parts, size_t count, int axis);
struct term hlo_unary(struct hlo *h, const char *name, struct term x);
/* Operands of one type and shape; the result has them too, or is bool if is_predicate. */
struct term hlo_binary(struct hlo *h, const char *name, struct term x, struct term y);
struct term hlo_compare(struct hlo *h, const char *direction, struct term x, struct term y);
struct term hlo_select(struct hlo *h, struct term mask, struct term x, struct term y);
struct term hlo_convert(struct hlo *h, struct term x, hone_dtype dtype);
struct term hlo_reshape(struct hlo *h, struct term x, const struct shape *shape);
/* NumPy broadcasting. */
struct term hlo_broadcast(struct hlo *h, struct term x, const struct shape *shape);
/* Dimension d of x becomes dims[d] of the result. */
struct term hlo_broadcast_dims(struct hlo *h, struct term x, const int64_t *dims,
                               const struct shape *shape);
/* A scalar for the whole shape, or one number per index of an axis. */
struct term hlo_spread(struct hlo *h, struct term x, int axis, const struct shape *shape);
struct term hlo_transpose(struct hlo *h, struct term x, const int64_t *order);
/* x from `starts` to `limits` by `steps`, along every axis. */
struct term hlo_range(struct hlo *h, struct term x, const int64_t *starts, const int64_t *limits,
                      const int64_t *steps, const struct shape *shape);
/* `size` elements of an axis. */
struct term hlo_piece(struct hlo *h, struct term x, int axis, int64_t start, int64_t size);
/* Index i of the first axis, which is removed. */
struct term hlo_row(struct hlo *h, struct term x, int64_t i);
/* The first elements along every axis. */
struct term hlo_head(struct hlo *h, struct term x, const struct shape *shape);
struct term hlo_reverse(struct hlo *h, struct term x, int64_t axis);
/* The index of each element along the axis. */
struct term hlo_iota(struct hlo *h, int axis, hone_dtype dtype, const struct shape *shape);
struct term hlo_splat(struct hlo *h, double value, hone_dtype dtype, const struct shape *shape);
MUST_USE hone_status hlo_constant(struct hlo *h, const struct tensor *tensor, struct term *out);
/* op: "stablehlo.add"; start: the value of an empty sum. The reduced axes are removed. */
struct term hlo_reduce(struct hlo *h, const char *op, double start, struct term x,
                       const bool axes[HONE_MAX_RANK]);
/* The same, with the axes kept at size 1 and broadcast back. */
struct term hlo_reduce_back(struct hlo *h, const char *op, double start, struct term x,
                            const bool axes[HONE_MAX_RANK]);
/* A region over two scalars: op applied to them, or the second one if op is NULL. */
void hlo_put_region(struct strbuf *out, const char *op, hone_dtype dtype);
/* Storage of a value's term; NULL: it belongs to none of the graphs being written. */
struct term *hlo_term(struct hlo *h, const struct value *value);
MUST_USE hone_status hlo_value(struct hlo *h, const struct value *value, struct term *out);
/* The term of input k; E_UNSUP if there is none. */
MUST_USE hone_status hlo_input(struct hlo *h, const struct node *node, size_t k, struct term *out);
void hlo_bind(struct hlo *h, const struct node *node, size_t output, struct term term);

/* -- control.c */
/* E_UNSUP for a type or size that cannot be written. */
MUST_USE hone_status hlo_check(struct hlo *h, const struct value *value);
/* Enters a graph within h->scope; it becomes the innermost one. */
MUST_USE hone_status hlo_enter(struct hlo *h, const struct graph *graph);
/* Writes the nodes of the innermost graph; those without a rule are recorded in h->missing. */
MUST_USE hone_status hlo_nodes(struct hlo *h);
/* A loop over `terms`: initial values, then those of an iteration, then the final ones. */
struct hlo_while {
  struct term *terms;
  size_t count;
  uint32_t results; /* the number before that of the first result */
};
void hlo_while_condition(struct hlo *h, struct hlo_while *w);
void hlo_while_body(struct hlo *h, struct hlo_while *w, struct term goes_on);
void hlo_while_end(struct hlo *h, struct hlo_while *w);
/* "stablehlo.return" of a region. */
void hlo_return(struct hlo *h, const struct term *terms, size_t count);
/* y with x [..] stored at index `at` of its first axis. */
struct term hlo_collect(struct hlo *h, struct term y, struct term x, struct term at);

/* -- elementwise.c: any row of unary.def, binary.def, ternary.def by its expression */
MUST_USE hone_status hlo_elementwise(struct hlo *h, const struct node *node, struct term *out);
/* x, y, z are the operands, all of one shape. */
MUST_USE hone_status hlo_expression(struct hlo *h, const char *expression, const struct term *xyz,
                                    double alpha, double beta, struct term *out);

/* rules in rules.c, contract.c, images.c, quantised.c, recurrent.c, trees.c, control.c, order.c:
 * one per operator */
hlo_rule hlo_conv, hlo_conv_transpose, hlo_gemm, hlo_matmul, hlo_max_pool, hlo_average_pool,
    hlo_gather, hlo_gather_elements, hlo_gather_nd, hlo_scatter_elements, hlo_scatter_nd;
/* dot_general: the first `batch` dimensions of both correspond; a's dimension `ka` is contracted
 * with b's `kb`. */
struct term hlo_dot(struct hlo *h, struct term a, struct term b, int batch, int ka, int kb);
/* Conv and MatMul with the node's attributes and these operands. */
MUST_USE hone_status hlo_convolve(struct hlo *h, const struct node *node, struct term x,
                                  struct term w, struct term *out);
MUST_USE hone_status hlo_multiply(struct hlo *h, const struct node *node, struct term a,
                                  struct term b, struct term *out);
/* Elements of x along an axis, at indices that are all in range. */
struct term hlo_take(struct hlo *h, struct term x, struct term places, int axis,
                     const struct shape *shape);
/* The tables end with a row without a rule. */
struct hlo_row {
  enum op_id op;
  hlo_rule *rule;
};
extern const struct hlo_row hlo_image_rules[], hlo_quantised_rules[], hlo_recurrent_rules[],
    hlo_trees_rules[], hlo_control_rules[], hlo_order_rules[];
hlo_rule hlo_node;
#endif
