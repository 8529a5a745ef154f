/* Internal to src/core/ops: what the family files share. Every infer_* and eval_* that ops.def names is
 * declared here by the table itself; the rest are small helpers for shapes, constant operands and
 * blocks of elements.
 *
 * How to add an operator
 *   elementwise  one row in ops.def (infer_unary | infer_unary_bool | infer_binary | infer_compare,
 *                eval_unary | eval_binary) and one row in unary.def or binary.def; a row in
 *                integer.def if it also exists for integers or bool (without it: E_TYPE)
 *   other        one row in ops.def and the two functions it names, in the family's file
 */
#ifndef HONE_OPS_INTERNAL_H
#define HONE_OPS_INTERNAL_H

#include "ops.h"

#define OP(domain, name, since, min_in, max_in, min_out, max_out, class, infer, eval) \
  infer_fn infer;                                                                     \
  eval_fn eval;
#include "ops.def"
#undef OP

/* -- shapes.c: helpers shared by inference functions */

/* `axis` in [-rank, rank) to [0, rank); E_SHAPE names `what` ("axis"). */
MUST_USE hone_status axis_normalise(struct ctx *ctx, const struct node *node, const char *what,
                                    int64_t axis, int rank, int *out_axis);
/* The attribute, or `otherwise` when absent, as a normalised axis. */
MUST_USE hone_status axis_attribute(struct ctx *ctx, const struct node *node, const char *name,
                                    int64_t otherwise, int rank, int *out_axis);
/* Sets dtype and shape of output k; nothing if it was not asked for. Negative dims: E_SHAPE. */
MUST_USE hone_status set_output(struct ctx *ctx, const struct node *node, size_t k,
                                hone_dtype dtype, const struct shape *shape);
/* Output k has the dtype and shape of input j. */
MUST_USE hone_status set_output_like(struct ctx *ctx, const struct node *node, size_t k, size_t j);
MUST_USE hone_status want_rank(struct ctx *ctx, const struct node *node, size_t input, int rank);
MUST_USE hone_status want_rank_at_least(struct ctx *ctx, const struct node *node, size_t input,
                                        int rank);
MUST_USE hone_status want_float(struct ctx *ctx, const struct node *node, size_t input);
/* E_TYPE unless both inputs have the same dtype. */
MUST_USE hone_status want_same_dtype(struct ctx *ctx, const struct node *node, size_t a, size_t b);
/* Input k as constant integers, at most max (<= HONE_MAX_RANK * 4 in practice); E_UNSUP if its
 * value is known only at run time. `what` names the input in the message ("axes"). */
MUST_USE hone_status want_ints(struct ctx *ctx, const struct node *node, size_t input,
                               const char *what, size_t max, int64_t *out, size_t *out_count);
/* The number of dims given by `attribute`; E_SHAPE if present with another count. false: absent. */
MUST_USE hone_status ints_attribute(struct ctx *ctx, const struct node *node, const char *name,
                                    size_t count, int64_t otherwise, int64_t *out, bool *out_given);
/* Index of the attribute's value among `words`, 0 if it is absent; E_UNSUP for any other value. */
MUST_USE hone_status word_attribute(struct ctx *ctx, const struct node *node, const char *name,
                                    const char *const *words, size_t count, int *out);
/* An ONNX start or end: negative counts from the end, then clamped. */
static inline int64_t hold_index(int64_t at, int64_t size, int64_t low, int64_t high) {
  if (at < 0) at += size;
  return at < low ? low : at > high ? high : at;
}
/* Which axes a reduction removes: those of its operand `axes`; without it all, or none with
 * noop_with_empty_axes. */
MUST_USE hone_status reduction_axes(struct ctx *ctx, const struct node *node, int rank,
                                    const struct tensor *axes, bool reduced[HONE_MAX_RANK]);
/* Product of dims [from, to). Dims were checked when the value was inferred. */
int64_t dims_product(const struct shape *shape, int from, int to);
/* True if input k is present. */
static inline bool has_input(const struct node *node, size_t k) { return node_input(node, k); }

/* -- infer_node.c */
/* E_FORMAT or E_SHAPE if operands are missing, too many or not known, or if attributes are unknown
 * or of the wrong kind. */
MUST_USE hone_status node_form(struct ctx *ctx, const struct node *node);
/* node_infer; the bytes of all its results. */
MUST_USE hone_status node_infer_bytes(struct ctx *ctx, struct graph *graph, struct node *node,
                                      size_t *out_bytes);

/* -- block.c: blocks of elements */

static inline void *tensor_data(const struct tensor *tensor) { return (void *)tensor->data; }
/* Bytes of one element in memory: dtype_bits / 8, sizeof(struct string) for strings; sub-byte: 0.
 */
size_t element_bytes(hone_dtype dtype);
/* out[i] = tensor[start + i * stride] as double / int64; stride may be 0. */
void read_f64(const struct tensor *tensor, int64_t start, int64_t stride, size_t count,
              double *out);
void read_i64(const struct tensor *tensor, int64_t start, int64_t stride, size_t count,
              int64_t *out);
/* tensor[start + i] = in[i], rounded once to the dtype (integers: toward zero, wrapped). */
void write_f64(const struct tensor *tensor, int64_t start, size_t count, const double *in);
void write_i64(const struct tensor *tensor, int64_t start, size_t count, const int64_t *in);
/* Row-major strides of `in` seen through the broadcast shape `out`: 0 along repeated dims. */
void broadcast_strides(const struct shape *in, const struct shape *out,
                       int64_t strides[HONE_MAX_RANK]);
/* Counts `index` up within dims (last fastest); false after the last. rank 0: one position. */
bool index_next(int rank, const int64_t *dims, int64_t *index);
/* sum of index * stride */
int64_t index_offset(int rank, const int64_t *index, const int64_t *strides);
/* A dense double copy of a whole tensor; NULL tensor gives NULL. */
MUST_USE hone_status to_f64(struct ctx *ctx, struct arena *scratch, const struct tensor *tensor,
                            double **out);

/* -- contraction.c: sums of products in double, k in ascending order */

#define PANEL 16 /* columns of b per call */

/* out[m][n] = sum over k of a[m][k] * b[k][n]; callbacks load the operands, so that convolutions
 * never store their unfolded input. */
struct contraction {
  int64_t m, n, k;
  void *user;
  void (*load_a)(void *user, int64_t row, double *out /* [k] */);
  /* columns [column, column + count), count <= PANEL; the rest of each PANEL may be left unset */
  void (*load_b)(void *user, int64_t column, int64_t count, double *out /* [k][PANEL] */);
  void (*store)(void *user, int64_t row, int64_t column, int64_t count, const double *sums);
};
struct contraction_work {
  double *rows, *panel;
};
/* Room for contractions of up to m rows and k terms; serves any number of contract() calls. */
MUST_USE hone_status contraction_work_create(struct ctx *ctx, struct arena *scratch, int64_t m,
                                             int64_t k, struct contraction_work *out);
void contract(const struct contraction *contraction, const struct contraction_work *work);

/* -- matmul.c */

/* NumPy matmul of shapes a [.., m, k] and b [.., k, n]; 1-D operands as in NumPy. */
struct matmul_plan {
  int64_t m, n, k;
  struct shape batch;                                         /* broadcast leading dims */
  int64_t a_strides[HONE_MAX_RANK], b_strides[HONE_MAX_RANK]; /* along batch, in elements */
  struct shape out;
};
MUST_USE hone_status matmul_plan(struct ctx *ctx, const struct node *node, const struct shape *a,
                                 const struct shape *b, struct matmul_plan *out);

/* -- elementwise.c */

/* Evaluates one elementwise op by its row in unary.def, binary.def or ternary.def, with NumPy
 * broadcasting of in[0..count) to out. */
MUST_USE hone_status elementwise_apply(struct ctx *ctx, const struct op *op, struct place at,
                                       double alpha, double beta, const struct tensor *const *in,
                                       size_t count, const struct tensor *out);
/* -- extents.c: which dimensions of a node's outputs are dynamic, after the operator's own
 * inference; E_UNSUP if an operand has a dynamic dimension and the operator has no rule for it. */
MUST_USE hone_status infer_extents(struct ctx *ctx, struct graph *graph, struct node *node);

/* -- ranges.c: the value ranges of the outputs, after type inference of the node */
MUST_USE hone_status infer_ranges(struct ctx *ctx, struct graph *graph, const struct node *node);
/* The range of any value, including constants. */
struct range value_range(const struct value *value);

/* -- shape_values.c: integer lists that hold dynamic sizes, after type inference of the node */
MUST_USE hone_status infer_sizes(struct ctx *ctx, struct graph *graph, const struct node *node);
/* The entries of a list, or one integer computed at run time; false: its entries are not known one
 * by one. */
MUST_USE bool size_entries(const struct value *list, struct size_list *out);
/* True if one of them is known only at run time. */
bool sizes_are_open(const struct size_list *list);
struct range size_range(const struct size_list *list, size_t i);

/* The shared functions that rows of ops.def name; the table declares them again. */
infer_fn infer_unary, infer_unary_bool, infer_binary, infer_compare;
eval_fn eval_unary, eval_binary;

#endif
