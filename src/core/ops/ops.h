/* ops: what each operator means. One row an op in ops.def: arity, class, shape inference and
 * reference evaluation, by ONNX semantics at HONE_OPSET. Knows no kernel and no target. */
#ifndef HONE_OPS_H
#define HONE_OPS_H

#include "core/graph/graph.h"

enum op_class {
  OP_ELEMENTWISE, /* each output element from the broadcast input elements: unary.def, binary.def */
  OP_CONTRACTION, /* sums of products: MatMul, Gemm, Conv, ... */
  OP_REDUCTION,   /* over axes or windows: Reduce*, pools, Softmax, norms */
  OP_MOVEMENT,    /* bytes only move */
  OP_INDEXED,     /* data-dependent addresses: Gather, Scatter, TopK, ... */
  OP_RECURRENT,   /* LSTM, GRU, RNN */
  OP_CONTROL,     /* If, Loop, Scan */
  OP_GENERATOR    /* Constant, ConstantOfShape, Range, Shape, EyeLike, ... */
};

/* Sets dtype, shape (and has_shape) of each output; may read inputs' `constant`. */
typedef hone_status infer_fn(struct ctx *ctx, struct graph *graph, struct node *node);
/* in[k] is NULL for a missing optional input; out[k] is allocated and zeroed, or NULL if not asked
   for. Contractions accumulate in double. scratch is freed by the caller. */
typedef hone_status eval_fn(struct ctx *ctx, struct arena *scratch, const struct node *node,
                            const struct tensor *const *in, struct tensor *const *out);

enum op_id {
  OP_NONE,
#define OP(domain, name, ...) OP_##name,
#include "ops.def"
#undef OP
  OP_COUNT
};

/* Domains are written ai in tables: "" default, "ai.onnx.ml", "hone". */
struct op {
  enum op_id id;
  const char *domain, *name;
  int since;                    /* first opset with this meaning that the importer accepts */
  int min_inputs, max_inputs;   /* max -1: variadic */
  int min_outputs, max_outputs; /* likewise */
  enum op_class class;
  infer_fn *infer;
  eval_fn *eval;
  /* elementwise only: the row's text in unary.def / binary.def / ternary.def, over x, y, z, alpha,
     beta; NULL otherwise */
  const char *expression;
  const char *integer; /* its row in integer.def, or NULL: not defined for integers and bool */
  double alpha, beta;  /* defaults of the attributes that the expression calls alpha, beta */
};

extern const struct op op_table[OP_COUNT];
const struct op *op_find(const char *domain, const char *name); /* NULL if unknown */
/* For graph_print. */
void op_names(const struct op *op, const char **out_domain, const char **out_name);
static inline bool is_op(const struct node *node, enum op_id id) { return node->op->id == id; }

/* Only the shape changes, not the order: a view of what it reads. */
static inline bool only_reshapes(const struct node *node) {
  switch (node->op->id) {
    case OP_Reshape:
    case OP_Flatten:
    case OP_Squeeze:
    case OP_Unsqueeze:
    case OP_Identity:
      return true;
    default:
      return false;
  }
}
/* Max, Min, Sum, Mean, ...: an elementwise one's expression joins two operands at a time. */
static inline bool is_variadic(const struct op *op) { return op->max_inputs < 0; }

/* Activations of a recurrent node, of one direction after the other: their numbers in recurrent.c's table, and what
   they are given as alpha and beta. The node is inferred. */
MUST_USE hone_status recurrent_activations(struct ctx *ctx, struct arena *arena,
                                           const struct node *node, int64_t **out_functions,
                                           double **out_alphas, double **out_betas,
                                           size_t *out_count);

/* -- attributes.c */
/* E_FORMAT at the place where an attribute is none that the operator has, or of another kind. */
MUST_USE hone_status attributes_check(struct ctx *ctx, struct place at, const char *op_name,
                                      const struct attribute *attributes, size_t count);

/* -- infer.c, infer_node.c, fold.c, lower.c */
/* Infers every node in order; folds nodes whose inputs are constant as far as later inference needs
   them (small integer results), so that Shape -> Gather -> Concat -> Reshape resolves. Checks each
   extent against the limits before anything is allocated. */
MUST_USE hone_status graph_infer(struct ctx *ctx, struct graph *graph);
MUST_USE hone_status node_infer(struct ctx *ctx, struct graph *graph, struct node *node);
/* What graph_infer makes of the graph's last node, an If whose branches are inferred: of values of other sizes it may be
   several nodes. The node's outputs have what they give. */
MUST_USE hone_status graph_infer_last_if(struct ctx *ctx, struct graph *graph);
/* Evaluates one node with constant inputs and makes its outputs constants; *out_folded false if it
   is not foldable (not constant, larger than its operands and than limit fold_bytes). */
MUST_USE hone_status node_fold(struct ctx *ctx, struct graph *graph, struct node *node,
                               bool *out_folded);
/* Of an operator that has a meaning of its own and, for kernels' sake, one in terms of others:
   appends the nodes of the latter and hands out a value for each output (NULL where it was not asked
   for); *out_done false: no such operator. */
MUST_USE hone_status node_lower(struct ctx *ctx, struct graph *graph, const struct node *node,
                                struct value **out_results, bool *out_done);
/* The same of an operator that is nothing but others (composites.def). */
MUST_USE hone_status node_expand(struct ctx *ctx, struct graph *graph, const struct node *node,
                                 struct value **out_results, bool *out_done);
/* alpha and beta of an elementwise node as its expression names them (LeakyRelu alpha, Clip's
   constant min and max, ...); false if they are not known at compile time. */
MUST_USE bool elementwise_parameters(const struct node *node, double *out_alpha, double *out_beta);

enum { BYTE_TABLE_ENTRIES = 256 }; /* of hone.ByteTable */
/* How many inputs are operands of its expression: Clip's bounds and CastLike's type are not. */
size_t elementwise_operands(const struct node *node);

/* -- follow.c: sizes that are known at run time only */
/* `at_n` is `graph` (the model at the bounds) as it comes out at these sizes of the symbols: same nodes,
   other sizes. The slopes for symbol k are those of the first call with it alone below its bound, every
   other call checks them: E_UNSUP names the node that does not follow them linearly. Constants that follow
   one are leading parts of those at the bounds. */
MUST_USE hone_status symbol_follow(struct ctx *ctx, struct graph *graph,
                                   const struct symbols *symbols, const struct graph *at_n,
                                   const int64_t *sizes);

/* -- reference.c */
MUST_USE hone_status node_evaluate(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                   const struct tensor *const *in, struct tensor *const *out);
/* Runs the whole graph: inputs and outputs dense, in graph order, outputs allocated by the caller for
   the value's shape and given the shape that they have; the text of strings lives as long as the graph. Values are freed as soon as their last reader
   ran. */
MUST_USE hone_status reference_run(struct ctx *ctx, const struct graph *graph,
                                   const hone_tensor *inputs, hone_tensor *outputs);

/* Whether a Resize of known sizes repeats each element along each dimension: how often. */
bool resize_repeats(struct ctx *ctx, const struct node *node, int64_t repeats[HONE_MAX_RANK]);
/* resize_int.c: whether row i (places 1: the input that holds rows' places) or column i (places 3) of an ResizeInt's
   result is one of its input's, bit for bit, by constants; which. */
bool resize_int_copies(const struct node *node, size_t places, size_t i, int64_t *out_place);
/* What one axis of a Resize of known sizes does: f32 [in, out], the weight of each element in each result; NULL: the
   axis stays as it is. E_UNSUP where values come from outside. */
MUST_USE hone_status resize_weights(struct ctx *ctx, struct arena *arena, const struct node *node,
                                    int axis, struct tensor **out);
/* -- cost.c: 2 per multiply-add; elementwise 1; bytes read + written once */
void node_cost(const struct node *node, double *out_flops, double *out_bytes);
/* The FLOPs with Winograd's F(4x4, 3x3) (Lavin and Gray 2016) for a dense 3x3 convolution of stride 1: a
   quarter of the multiplications, transforms not counted. Other nodes: as node_cost. */
double node_winograd_flops(const struct node *node);

#endif
