/* ops: what each operator means. One row per operator in ops.def: arity, class, shape inference and
 * reference evaluation, with ONNX semantics at HONE_OPSET. Independent of kernels and targets. */
#ifndef HONE_OPS_H
#define HONE_OPS_H

#include "core/graph/graph.h"

enum op_class {
  OP_ELEMENTWISE, /* each output element from the broadcast input elements: unary.def, binary.def */
  OP_CONTRACTION, /* sums of products: MatMul, Gemm, Conv, ... */
  OP_REDUCTION,   /* over axes or windows: Reduce*, pools, Softmax, norms */
  OP_MOVEMENT,    /* moves data without arithmetic */
  OP_INDEXED,     /* data-dependent addresses: Gather, Scatter, TopK, ... */
  OP_RECURRENT,   /* LSTM, GRU, RNN */
  OP_CONTROL,     /* If, Loop, Scan */
  OP_GENERATOR    /* Constant, ConstantOfShape, Range, Shape, EyeLike, ... */
};

/* Sets dtype, shape (and has_shape) of each output; may read inputs' `constant`. */
typedef hone_status infer_fn(struct ctx *ctx, struct graph *graph, struct node *node);
/* in[k] is NULL for a missing optional input; out[k] is allocated and zeroed, or NULL if not used.
 * Contractions accumulate in double. The caller frees scratch. */
typedef hone_status eval_fn(struct ctx *ctx, struct arena *scratch, const struct node *node,
                            const struct tensor *const *in, struct tensor *const *out);

enum op_id {
  OP_NONE,
#define OP(domain, name, ...) OP_##name,
#include "ops.def"
#undef OP
  OP_COUNT
};

/* Domains as written in tables: "" default, "ai.onnx.ml", "hone". */
struct op {
  enum op_id id;
  const char *domain, *name;
  int since;                    /* first opset with this meaning that the importer accepts */
  int min_inputs, max_inputs;   /* max -1: variadic */
  int min_outputs, max_outputs; /* likewise */
  enum op_class class;
  infer_fn *infer;
  eval_fn *eval;
  /* elementwise only: the expression in unary.def / binary.def / ternary.def over x, y, z, alpha,
   * beta; NULL otherwise */
  const char *expression;
  const char *integer; /* its row in integer.def; NULL: not defined for integers and bool */
  double alpha, beta;  /* defaults of the attributes that the expression calls alpha, beta */
};

extern const struct op op_table[OP_COUNT];
const struct op *op_find(const char *domain, const char *name); /* NULL if unknown */
/* For graph_print. */
void op_names(const struct op *op, const char **out_domain, const char **out_name);
static inline bool is_op(const struct node *node, enum op_id id) { return node->op->id == id; }

/* The shape changes and the element order does not: the result is a view of its input. */
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
/* The node moves elements of its operands and computes none, so that a kernel needs to know only their
 * width. */
bool moves_elements(const struct node *node);
/* Max, Min, Sum, Mean, ...: an elementwise expression then combines two operands at a time. */
static inline bool is_variadic(const struct op *op) { return op->max_inputs < 0; }

/* Activations of a recurrent node, direction by direction: their indices in recurrent.c's table,
 * with their alpha and beta. The node is inferred. */
MUST_USE hone_status recurrent_activations(struct ctx *ctx, struct arena *arena,
                                           const struct node *node, int64_t **out_functions,
                                           double **out_alphas, double **out_betas,
                                           size_t *out_count);

/* -- attributes.c */
/* E_FORMAT at the place if the operator has no such attribute, or it is of another kind. */
MUST_USE hone_status attributes_check(struct ctx *ctx, struct place at, const char *op_name,
                                      const struct attribute *attributes, size_t count);

/* -- infer.c, infer_node.c, fold.c, lower.c */
/* Infers every node in order; folds nodes with constant inputs as far as later inference needs them
 * (small integer results), so that Shape -> Gather -> Concat -> Reshape resolves. Checks each size
 * against the limits before memory is allocated. */
MUST_USE hone_status graph_infer(struct ctx *ctx, struct graph *graph);
MUST_USE hone_status node_infer(struct ctx *ctx, struct graph *graph, struct node *node);
/* Infers the graph's last node, an If whose branches are inferred. If the branches give different
 * sizes, several nodes may replace it. The node's outputs become theirs. */
MUST_USE hone_status graph_infer_last_if(struct ctx *ctx, struct graph *graph);
/* Evaluates one node with constant inputs and makes its outputs constants; *out_folded false if it
 * cannot be folded (not constant, or larger than its operands and than limit fold_bytes). */
MUST_USE hone_status node_fold(struct ctx *ctx, struct graph *graph, struct node *node,
                               bool *out_folded);
/* True if the constant was computed from the shape of a value, or by more nodes than are looked at. */
bool is_from_shape(const struct value *value);
/* For an operator with its own evaluation that can also be expressed in other operators, for
 * backends without a kernel: appends those nodes and returns a value for each output (NULL for
 * unused outputs); *out_done false: no such operator. */
MUST_USE hone_status node_lower(struct ctx *ctx, struct graph *graph, const struct node *node,
                                struct value **out_results, bool *out_done);
/* The same for composites (composites.def). */
MUST_USE hone_status node_expand(struct ctx *ctx, struct graph *graph, const struct node *node,
                                 struct value **out_results, bool *out_done);
/* The same for an operator that needs the actual size of a dynamic input dimension; the slopes of
 * all dimensions must be known. */
MUST_USE hone_status node_expand_sized(struct ctx *ctx, struct graph *graph,
                                       const struct node *node, struct value **out_results,
                                       bool *out_done);
/* alpha and beta of an elementwise node as named in its expression (LeakyRelu alpha, Clip's
 * constant min and max, ...); false if they are not known at compile time. */
MUST_USE bool elementwise_parameters(const struct node *node, double *out_alpha, double *out_beta);

enum { BYTE_TABLE_ENTRIES = 256 }; /* of hone.ByteTable */
/* Number of inputs that are operands of the expression: Clip's bounds and CastLike's type are
 * not. */
size_t elementwise_operands(const struct node *node);
/* True if the indices of a Gather, GatherElements, GatherND or of a scatter count along dimension d
 * of input 0. */
bool is_indexed_at(const struct node *node, int d);

/* -- follow.c: dynamic dimensions of the inputs */
/* The sizes of the symbols at which the model was followed so far. */
enum { HONE_MOST_FOLLOWED = 32 };
struct followed {
  size_t count; /* calls after the first HONE_MOST_FOLLOWED are not listed */
  int64_t sizes[HONE_MOST_FOLLOWED][HONE_MAX_SYMBOLS];
};
/* `at_n` is `graph` (the model at the bounds) inferred at these sizes of the symbols: same nodes,
 * other sizes. Calls with only symbol k below its bound, in the order of symbols, determine the
 * slopes for k: the first that fit all calls so far. Calls with several below may find products of
 * sizes, and set *out_changed: then all calls must be repeated with out_changed NULL, which only
 * checks the slopes. E_UNSUP names the node whose sizes are not linear in the symbols and the sizes
 * derived from them. Constants that depend on a size are windows of those at the bounds, or are
 * computed (symbol_finish). */
MUST_USE hone_status symbol_follow(struct ctx *ctx, struct graph *graph,
                                   const struct symbols *symbols, const struct graph *at_n,
                                   const int64_t *sizes, struct followed *past, bool *out_changed);
/* After the last symbol_follow: constants that depend on sizes become values computed at run
 * time, from the sizes alone or by nodes in front of all others. */
MUST_USE hone_status symbol_finish(struct ctx *ctx, struct graph *graph);

/* -- reference.c */
MUST_USE hone_status node_evaluate(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                   const struct tensor *const *in, struct tensor *const *out);
/* Runs the whole graph: inputs and outputs dense, in graph order. The caller allocates outputs for
 * the value's shape; they get their actual shape. String bytes live as long as the graph. Values
 * are freed after their last reader ran. */
MUST_USE hone_status reference_run(struct ctx *ctx, const struct graph *graph,
                                   const hone_tensor *inputs, hone_tensor *outputs);

/* True if a Resize with known sizes repeats each element along each dimension; *repeats: how
 * often. */
bool resize_repeats(struct ctx *ctx, const struct node *node, int64_t repeats[HONE_MAX_RANK]);
/* True if a Resize reads along dimension d at places that do not depend on a dynamic size: whole
 * factors, or interpolation at a fixed scale with nothing counted from the end. */
bool resize_keeps_places(const struct node *node, int d);
/* Elements that a Pad adds before and after dimension d; false if they are not constant. */
bool pad_amounts(const struct node *node, int d, int64_t *before, int64_t *after);
/* True if dimension d of operand k may be shorter at run time than at the bound, and the results are
 * then only shorter too: no other element depends on those that are missing. */
bool may_be_shorter(const struct node *node, size_t k, int d);
/* The operator is in the table of shorter.c. */
bool has_shorter_rule(const struct node *node);
/* resize_int.c: true if row i (places 1: the input with the rows' positions) or column i (places 3)
 * of a ResizeInt result is a bit-exact copy of one input row or column, given constants;
 * *out_place: its index. */
bool resize_int_copies(const struct node *node, size_t places, size_t i, int64_t *out_place);
/* The weights of one axis of a Resize with known sizes: f32 [in, out], the weight of each element
 * in each result; NULL: the axis is unchanged. E_UNSUP if values outside the input are used. */
MUST_USE hone_status resize_weights(struct ctx *ctx, struct arena *arena, const struct node *node,
                                    int axis, struct tensor **out);
/* -- cost.c: 2 per multiply-add; elementwise 1; bytes read + written once */
void node_cost(const struct node *node, double *out_flops, double *out_bytes);
/* The FLOPs with Winograd's F(4x4, 3x3) (Lavin and Gray 2016) for a dense 3x3 convolution of stride
 * 1: a quarter of the multiplications, transforms not counted. Other nodes: as node_cost. */
double node_winograd_flops(const struct node *node);

#endif
