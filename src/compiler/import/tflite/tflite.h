/* TFLite: a model's tables to a graph. tensors.c reads tensors, tflite.c the model, and iterates
 * over the operators; layout.c keeps images in ONNX order; the other files translate operators.
 *
 * A tensor's value is in the file's order. An image (rank 4) may have a second value in
 * channels-first order: image operators read and write that one, elementwise and similar operators
 * use either, and a Transpose converts where the two orders meet. */
#ifndef HONE_IMPORT_TFLITE_H
#define HONE_IMPORT_TFLITE_H

#include "flatbuffer.h"
#include "compiler/import/common/builder.h"

/* q = round(x / scale) + zero_point; one pair, or one per index of `axis`. */
struct tf_quantisation {
  size_t count; /* 0: not quantised */
  double *scales;
  int64_t *zero_points;
  int axis;
  int64_t block; /* elements of the last axis that share a scale; 0: not block-quantised */
  int64_t block_scales, block_zeros; /* tensors of the graph, [.., blocks]; zeros -1: none */
};
struct tf_tensor {
  const char *name;
  int type; /* of the schema */
  hone_dtype dtype;
  struct shape shape; /* as declared in the file; -1 for dynamic dimensions of its signature */
  bool is_variable;   /* stateful: keeps its content from one run to the next */
  bool is_complex;    /* value is the real part */
  struct tf_quantisation quantisation;
  const struct tensor *constant;
  struct value *value, *image, *imaginary; /* NULL: none (yet) */
  const char *resource;                    /* of a variable's or a table's handle */
};
struct tf_graph {
  struct flat_table table;
  struct tf_tensor *tensors;
  size_t tensor_count;
  struct flat_vector inputs, outputs, operators;
  size_t next; /* operator */
  bool is_open;
};
/* A resource that is read and assigned by its name. */
struct tf_variable {
  const char *name;
  const struct tensor *initial; /* what CALL_ONCE gave it; NULL: nothing */
  /* current content while operators are read; the graph input with the content before the run,
   * NULL: not read yet */
  struct value *now, *input;
  bool is_assigned; /* by the model itself */
};
/* A filled look-up table, by its handle's name. */
struct tf_hashtable {
  const char *name;
  const struct tensor *keys, *values; /* strings or INT64, equally many */
};
/* A called graph that is inlined at the calling operator. */
struct tf_frame {
  struct tf_graph caller;
  struct graph *caller_into;
  struct tf_call *call;
};
struct tf {
  struct ctx *ctx;
  struct arena *arena;
  const struct source *source;
  struct flat flat;
  struct flat_vector opcodes, buffers, subgraphs, signatures;
  struct tf_graph graph;   /* the graph whose operators are being read */
  struct tf_graph *graphs; /* the file's subgraphs, read when first needed */
  struct graph *root;
  VEC(struct tf_frame) frames;
  VEC(struct tf_variable *) variables;
  VEC(struct tf_hashtable) hashtables;
  int64_t entered; /* operators and tensors of called graphs, checked against limit called_nodes */
  bool is_resized; /* inputs have other shapes than in the file */
  struct graph_builder b;
};
struct tf_op;
typedef hone_status tf_build_fn(struct tf_op *op);
struct tf_kind {
  int code; /* BuiltinOperator */
  const char *name;
  tf_build_fn *build;
  /* an enum op_id, or another value that distinguishes operators with the same builder */
  int parameter;
};
/* An operator while it is translated. */
struct tf_op {
  struct tf *tf;
  struct ctx *ctx;
  struct graph_builder *b;
  const struct tf_kind *kind;
  struct flat_vector inputs, outputs; /* of int32, tensor or -1 */
  /* intermediate tensors, which only give scales within the operator */
  struct flat_vector between;
  struct flat_table options;
  struct flat_vector custom; /* bytes: options of a custom operator */
};

enum { OPENED_PER_OPERATOR = 8 }; /* largest number of tables of the file per operator */

/* -- tensors.c */
/* The file's graph `index`, its tensors not yet bound to values. */
MUST_USE hone_status tf_graph_open(struct tf *tf, size_t index, struct tf_graph *out);
/* Checks that every entry is a tensor index; -1 (omitted) only if `optional`. */
MUST_USE hone_status tf_check_indices(struct tf *tf, const struct flat_vector *list,
                                      const struct tf_graph *graph, bool optional,
                                      const char *what);

/* -- operands.c */
struct place tf_place(const struct tf_op *op);
/* Tensor of operand k; NULL if it is omitted or out of range. */
struct tf_tensor *tf_in(const struct tf_op *op, size_t k);
struct tf_tensor *tf_out(const struct tf_op *op, size_t k);
/* E_UNSUP: "TFLite operator NAME ... is not supported"; the format is a phrase such as "of rank
 * %d". */
MUST_USE PRINTF(2, 3) hone_status tf_refuse(const struct tf_op *op, const char *format, ...);
/* Checks operand counts; inputs below `least` are required. */
MUST_USE hone_status tf_arity(const struct tf_op *op, size_t least, size_t most, size_t outputs);

/* -- control.c: operators that call other graphs of the file; variables */
tf_build_fn tf_if, tf_while, tf_call_once, tf_composite, tf_var_handle, tf_read_variable,
    tf_assign_variable;
/* Ends the called graph: its results become those of the calling operator. */
MUST_USE hone_status tf_leave(struct tf *tf);
/* True within graphs that CALL_ONCE runs, before the first run. */
bool tf_is_initialising(const struct tf *tf);
/* The variable of that name, created if necessary. */
MUST_USE hone_status tf_variable_find(struct tf *tf, const char *name, struct tf_variable **out);
/* The content of a stateful tensor at the start of the run; initially zero. */
MUST_USE hone_status tf_state(struct tf_op *op, struct tf_tensor *tensor, const struct shape *shape,
                              struct value **out);
/* Sets its content. */
MUST_USE hone_status tf_keep(struct tf_op *op, struct tf_tensor *tensor, struct value *value);
/* -- text.c */
/* Operators that accept strings; all others need numbers. */
bool tf_takes_text(const struct tf_kind *kind);
tf_build_fn tf_hashtable, tf_hashtable_find, tf_hashtable_import, tf_hashtable_size;

/* -- recurrent.c */
tf_build_fn tf_lstm, tf_rnn, tf_svdf, tf_bidirectional_lstm, tf_bidirectional_rnn;

/* -- layout.c */
/* The value in the file's order, in channels-first order, or as `images` selects. */
MUST_USE hone_status tf_value(struct tf_op *op, struct tf_tensor *tensor, struct value **out);
MUST_USE hone_status tf_image(struct tf_op *op, struct tf_tensor *tensor, struct value **out);
MUST_USE hone_status tf_read(struct tf_op *op, struct tf_tensor *tensor, bool image,
                             struct value **out);
/* For inputs [0, count) of an operator that works in any order: true if one of them is an image
 * available only in channels-first order, and all of them can use it. */
bool tf_follows_images(const struct tf_op *op, size_t count);
/* Sets output k; checks the element type. */
MUST_USE hone_status tf_write(struct tf_op *op, size_t k, bool image, struct value *value);
static inline int tf_rank_of(const struct tf_tensor *tensor) {
  return tensor->value ? tensor->value->shape.rank : tensor->image->shape.rank;
}
/* Position of the file's axis in an image. */
static inline int64_t tf_image_axis(int64_t axis) {
  return axis == 0 ? 0 : axis == 3 ? 1 : axis + 1;
}
/* Input k, in the file's order, in i64. */
MUST_USE hone_status tf_read_i64(struct tf_op *op, size_t k, struct value **out);
/* Input k as constant integers. */
MUST_USE hone_status tf_ints(struct tf_op *op, size_t k, size_t most, int64_t *out,
                             size_t *out_count);
/* Input k as one constant integer. */
MUST_USE hone_status tf_one_int(struct tf_op *op, size_t k, int64_t *out);
MUST_USE hone_status tf_option(const struct tf_op *op, unsigned field, enum flat_type type,
                               int64_t otherwise, int64_t *out);
/* Checks that option `field` of type int32 equals `count`, the number of operands or results in the
 * file. */
MUST_USE hone_status tf_count(const struct tf_op *op, unsigned field, size_t count);
/* An axis in [-rank, rank) to [0, rank). */
MUST_USE hone_status tf_axis(const struct tf_op *op, int64_t axis, int rank, int64_t *out);
/* Applies the activation of option `field` to a float value. */
MUST_USE hone_status tf_activate(struct tf_op *op, unsigned field, struct value *x,
                                 struct value **out);

/* -- quantised.c */
bool tf_is_quantised(const struct tf_tensor *tensor); /* of an integer type, with a scale */
/* The smallest and the largest number of a quantised type. */
void tf_type_range(hone_dtype dtype, double *low, double *high);
/* The only scale and zero point of a quantised tensor; E_UNSUP if it does not have exactly one. */
/* The operands of a comparison of quantised 8-bit numbers, converted so that they compare as in
 * LiteRT. */
MUST_USE hone_status tf_quantised_compared(struct tf_op *op, struct value **x, struct value **y);
MUST_USE hone_status tf_one_scale(struct tf_op *op, const struct tf_tensor *tensor, double *scale,
                                  int64_t *zero_point);
/* x - zero in i32. */
struct value *tf_centred(struct tf_op *op, struct value *x, int64_t zero);
/* Weights of a quantised contraction; those with less than 8 bits are widened to 8. */
MUST_USE hone_status tf_integer_weights(struct tf_op *op, struct tf_tensor *tensor,
                                        struct value **out);
/* Weights stored as integers with a scale and used in float arithmetic. */
MUST_USE hone_status tf_dequantised(struct tf_op *op, struct tf_tensor *tensor, struct value **out);
/* The rows of such a table that `indices` select, gathered before dequantisation. */
MUST_USE hone_status tf_dequantised_rows(struct tf_op *op, struct tf_tensor *tensor,
                                         struct value *indices, struct value **out);
/* The range of output k after the activation of option `field`. */
MUST_USE hone_status tf_range(struct tf_op *op, int field, double *out_low, double *out_high);
/* multiplier * 2^(shift - 31) nearest to x. */
void tf_multiplier(double x, int32_t *out_multiplier, int *out_shift);
/* hone.Requantize: x of any integer type to output k's type; `scales` (one, or one per index of
 * `axis`) are real multipliers. */
struct tf_rescale {
  const double *scales;
  size_t count;
  int axis;
  int64_t offset;     /* subtracted from x first */
  int left_shift;     /* then x is shifted */
  bool once;          /* rounded once, halves up, instead of twice */
  hone_dtype dtype;   /* of the result */
  int64_t zero_point; /* added last */
  double low, high;   /* clamped to; low > high: the type's own range */
};
MUST_USE hone_status tf_rescale(struct tf_op *op, struct value *x, const struct tf_rescale *how,
                                struct value **out);
/* The sum of x - zero over `axes`, `count` elements, in i32. */
struct value *tf_quantised_total(struct tf_op *op, struct value *x, int64_t zero,
                                 struct value *axes, int64_t count, int64_t keep);
tf_build_fn tf_quantize, tf_dequantize, tf_quantised_sum, tf_quantised_product, tf_quantised_mean,
    tf_quantised_negative, tf_quantised_pool, tf_quantised_concat, tf_quantised_resize,
    tf_quantised_relu;

/* -- tables.c */
tf_build_fn tf_quantised_table, tf_quantised_quotient, tf_quantised_softmax,
    tf_quantised_l2_normalise;

/* -- products.c */
tf_build_fn tf_quantised_reduced_product, tf_word_quotient;

/* -- curve.c */
tf_build_fn tf_quantised_hard_swish, tf_quantised_prelu, tf_quantised_squared_difference;
MUST_USE hone_status tf_quantised_matmul(struct tf_op *op, struct value *const *in);

/* -- window.c */
tf_build_fn tf_conv, tf_depthwise, tf_transpose_conv, tf_pool, tf_fully_connected, tf_matmul;
/* -- elementwise.c */
tf_build_fn tf_unary, tf_binary, tf_square, tf_rsqrt, tf_squared_difference, tf_not_equal,
    tf_floor_div, tf_clip, tf_leaky, tf_prelu, tf_cast, tf_select, tf_add_n, tf_softmax, tf_gelu,
    tf_floor_mod, tf_zeros_like, tf_atan2, tf_hard_swish, tf_fake_quant, tf_bitcast, tf_right_shift;
/* -- movement.c */
tf_build_fn tf_reshape, tf_squeeze, tf_expand_dims, tf_transpose, tf_concat, tf_pad, tf_mirror_pad,
    tf_slice, tf_strided_slice, tf_split, tf_split_v, tf_pack, tf_unpack, tf_tile, tf_shape,
    tf_rank, tf_gather, tf_gather_nd, tf_broadcast_to, tf_fill, tf_range_op, tf_reverse,
    tf_depth_to_space, tf_space_to_batch, tf_batch_to_space, tf_scatter_nd, tf_one_hot,
    tf_embedding_lookup, tf_topk, tf_reverse_sequence, tf_dilate;
/* -- reduce.c */
tf_build_fn tf_reduce, tf_arg, tf_cumsum, tf_l2_normalise, tf_lrn, tf_resize, tf_rfft,
    tf_complex_part, tf_reduce_bool, tf_reduce_window;

/* -- index.c; what SEGMENT operators do */
enum tf_reduction { TF_ADD, TF_MUL, TF_MAX, TF_MIN };
tf_build_fn tf_where, tf_non_max_suppression, tf_unique, tf_sparse_to_dense, tf_segment,
    tf_bucketize, tf_broadcast_args, tf_matrix_diag, tf_dynamic_update_slice, tf_hashtable_lookup,
    tf_embedding_lookup_sparse;
/* -- volume.c */
tf_build_fn tf_conv_3d, tf_conv_3d_transpose;
/* -- sparse.c */
/* The elements of a sparsely stored constant; `table` is its SparsityParameters. */
MUST_USE hone_status tf_sparse_constant(struct tf *tf, const struct flat_table *table,
                                        const char *name, const uint8_t *bytes, size_t size,
                                        struct tensor *out);
tf_build_fn tf_densify;

/* -- detection.c */
tf_build_fn tf_detections;

/* -- table.c */
/* A custom operator by its name; NULL: not supported. */
const struct tf_kind *tf_custom_find(const char *name);
/* NULL: not supported; *out_name and *out_why then give its name and the reason, NULL for an
 * unknown code. */
const struct tf_kind *tf_kind_find(int code, const char **out_name, const char **out_why);

#endif
