/* What the files of the StableHLO exporter share: terms, the text, and the rules' helpers.
 *
 * The text is MLIR's generic form, which every version of the dialect parses:
 *   %t3 = "stablehlo.add"(%t1, %t2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
 * StableHLO specification: openxla.org/stablehlo/spec.
 */
#ifndef HONE_EXPORT_STABLEHLO_H
#define HONE_EXPORT_STABLEHLO_H

#include "export.h"

/* A value of the text. number 0: none. */
struct term {
  uint32_t number;
  hone_dtype dtype; /* HONE_BOOL is i1 */
  struct shape shape;
};
struct hlo {
  struct ctx *ctx;
  struct arena *arena;
  struct text *out;
  uint32_t fresh;
  struct term *terms; /* by value->index */
  struct hlo_missing {
    const struct node *first;
    size_t count;
    char why[160];
  } * missing; /* by op_id: nodes without a rule; count 0: none */
};

/* -- stablehlo_text.c */
/* "f32"; NULL: StableHLO or this exporter has no such type. */
const char *hlo_type(hone_dtype dtype);
void hlo_put_type(struct text *out, hone_dtype dtype, const struct shape *shape);
/* "array<i64: 1, 2>" */
void hlo_put_ints(struct text *out, const int64_t *ints, int count);
/* One operation over `count` terms; attributes: what stands between <{ and }>, or NULL; region: with its
   parentheses, or NULL. */
struct term hlo_op(struct hlo *h, const char *name, const struct term *operands, size_t count,
                   const char *attributes, const char *region, hone_dtype dtype,
                   const struct shape *shape);
struct term hlo_unary(struct hlo *h, const char *name, struct term x);
/* Operands of one type and shape; the result has it, or is bool where is_predicate. */
struct term hlo_binary(struct hlo *h, const char *name, struct term x, struct term y);
struct term hlo_compare(struct hlo *h, const char *direction, struct term x, struct term y);
struct term hlo_select(struct hlo *h, struct term mask, struct term x, struct term y);
struct term hlo_convert(struct hlo *h, struct term x, hone_dtype dtype);
struct term hlo_reshape(struct hlo *h, struct term x, const struct shape *shape);
/* NumPy's rule. */
struct term hlo_broadcast(struct hlo *h, struct term x, const struct shape *shape);
/* Dimension d of x becomes dims[d] of the result. */
struct term hlo_broadcast_dims(struct hlo *h, struct term x, const int64_t *dims,
                               const struct shape *shape);
/* One number for all of the shape, or one for each place of an axis. */
struct term hlo_spread(struct hlo *h, struct term x, int axis, const struct shape *shape);
struct term hlo_transpose(struct hlo *h, struct term x, const int64_t *order);
/* x from `starts` to `limits` by `steps`, along every axis. */
struct term hlo_range(struct hlo *h, struct term x, const int64_t *starts, const int64_t *limits,
                      const int64_t *steps, const struct shape *shape);
/* `size` elements of an axis. */
struct term hlo_piece(struct hlo *h, struct term x, int axis, int64_t start, int64_t size);
/* Index i of the first axis, which is gone. */
struct term hlo_row(struct hlo *h, struct term x, int64_t i);
/* The first elements along every axis. */
struct term hlo_head(struct hlo *h, struct term x, const struct shape *shape);
struct term hlo_reverse(struct hlo *h, struct term x, int64_t axis);
/* Of each element its place along the axis. */
struct term hlo_iota(struct hlo *h, int axis, hone_dtype dtype, const struct shape *shape);
struct term hlo_splat(struct hlo *h, double value, hone_dtype dtype, const struct shape *shape);
MUST_USE hone_status hlo_constant(struct hlo *h, const struct tensor *tensor, struct term *out);
/* op: "stablehlo.add"; start: the value of an empty sum. The reduced axes are gone from the shape. */
struct term hlo_reduce(struct hlo *h, const char *op, double start, struct term x,
                       const bool axes[HONE_MAX_RANK]);
/* The same, with the axes kept at size 1 and then broadcast back. */
struct term hlo_reduce_back(struct hlo *h, const char *op, double start, struct term x,
                            const bool axes[HONE_MAX_RANK]);
/* A region of two scalars: op of them, or the second alone for op NULL. */
void hlo_put_region(struct text *out, const char *op, hone_dtype dtype);
/* The term of input k; E_UNSUP where there is none. */
MUST_USE hone_status hlo_input(struct hlo *h, const struct node *node, size_t k, struct term *out);
void hlo_bind(struct hlo *h, const struct node *node, size_t output, struct term term);

/* -- stablehlo_elementwise.c: any row of unary.def, binary.def, ternary.def by its expression */
MUST_USE hone_status hlo_elementwise(struct hlo *h, const struct node *node, struct term *out);
/* x, y, z stand for the operands, all of one shape. */
MUST_USE hone_status hlo_expression(struct hlo *h, const char *expression, const struct term *xyz,
                                    double alpha, double beta, struct term *out);

/* -- stablehlo_rules.c, _contract.c, _images.c, _quantised.c, _recurrent.c, _trees.c: one rule an operator */
typedef hone_status hlo_rule(struct hlo *h, const struct node *node);
hlo_rule hlo_conv, hlo_conv_transpose, hlo_gemm, hlo_matmul, hlo_max_pool, hlo_average_pool,
    hlo_gather, hlo_gather_elements, hlo_gather_nd, hlo_scatter_elements, hlo_scatter_nd;
/* A sum of products: the first `batch` dimensions of both are one another's; a's dimension `ka` meets b's `kb`. */
struct term hlo_dot(struct hlo *h, struct term a, struct term b, int batch, int ka, int kb);
/* What Conv and MatMul say of the node, of these operands in place of its own. */
MUST_USE hone_status hlo_convolve(struct hlo *h, const struct node *node, struct term x,
                                  struct term w, struct term *out);
MUST_USE hone_status hlo_multiply(struct hlo *h, const struct node *node, struct term a,
                                  struct term b, struct term *out);
/* Elements of x along an axis, at places that are all inside. */
struct term hlo_take(struct hlo *h, struct term x, struct term places, int axis,
                     const struct shape *shape);
/* The tables; a row without a rule ends each. */
struct hlo_row {
  enum op_id op;
  hlo_rule *rule;
};
extern const struct hlo_row hlo_image_rules[], hlo_quantised_rules[], hlo_recurrent_rules[],
    hlo_trees_rules[];
MUST_USE hone_status hlo_node(struct hlo *h, const struct node *node);
#endif
