/* pt2: archives of torch.export. pt2.c reads the archive, its JSON and weights; arguments.c a
 * node's arguments, tensors.c those that are tensors; table.c is the table of ATen operators, which
 * nodes.c uses to call the builders in the other files. Nothing is unpickled, and no code in an
 * archive is ever run. */
#ifndef HONE_IMPORT_PT2_H
#define HONE_IMPORT_PT2_H

#include <jansson.h>

#include "compiler/import/common/builder.h"
#include "zip.h"

enum { PT_FLOAT32 = 7, PT_COMPLEX64 = 10 }; /* torch's numbers of element types */
/* How a tensor refers to the one of which it is a view. */
enum pt_view {
  VIEW_NONE,
  VIEW_SAME,
  VIEW_RESHAPE,
  VIEW_PERMUTE,
  VIEW_SLICE,
  VIEW_SELECT,
  VIEW_OTHER
};
/* The item of a name: a tensor, or a number known at import. */
struct pt_item {
  struct value *value;  /* NULL: a number */
  double number;        /* for a number known only at run time: its upper bound */
  bool is_open;         /* the number is known only at run time */
  uint32_t extent;      /* the extent it equals; 0: computed from several */
  bool is_complex;      /* the value has a last axis of two, real and imaginary */
  struct pt_item *base; /* the item whose storage it shares; NULL: its own */
  enum pt_view view;
  int64_t axis, start, step, perm[HONE_MAX_RANK]; /* of a slice or select; of a permutation */
  /* number of writes to the storage that `value` includes */
  uint64_t version;
};
/* A buffer that the graph writes: an input, and an output with its new content. */
struct pt_state {
  const char *name, *buffer; /* of the placeholder; of the buffer */
  struct value *before;      /* the input; NULL until it is read */
  const struct tensor *initial;
};
struct pt {
  struct ctx *ctx;
  struct arena *arena;
  const struct source *source;
  struct zip zip;
  const char *prefix; /* prefix of all members, with its slash */
  json_t *model, *weights, *constants;
  const json_t *values; /* the file's metadata of the current graph's tensors */
  struct names items;   /* name -> struct pt_item */
  VEC(struct pt_state) states;
  int depth;      /* nesting of subgraphs */
  int64_t called; /* their nodes, counted each time they are read */
  struct graph_builder b;
};
/* A node while it is translated. */
struct pt_op {
  struct pt *pt;
  struct ctx *ctx;
  struct graph_builder *b;
  const char *target; /* "aten.relu.default" */
  const json_t *node;
  json_t *inputs, *outputs;
  int parameter;
  int part;  /* 1, 2: complex arguments are read as their real, imaginary parts; 0: rejected */
  int other; /* the same for the second complex operand of a product */
  int seen;  /* complex arguments read so far */
  bool is_product;
  bool reads_open;             /* accepts tensors with a dynamic dimension */
  bool reads_open_number;      /* accepts such a size as a number */
  const char *lifts;           /* see pt_lift: also scalars; then results are scalars too */
  bool drops;                  /* results lose their first dimension, which is 1 */
  bool keeps_sizes;            /* dynamic sizes become -1 in a list of integers */
  struct value *(*results)[2]; /* results of both parts, while they are built */
};
typedef hone_status pt_build_fn(struct pt_op *op);

/* -- arguments.c */
/* {"as_int": 3} and similar objects: the only key, "" if there is none, and its value. */
const char *pt_variant(const json_t *json, json_t **out);
/* The text of a JSON string, "" for anything else. */
const char *pt_words(const json_t *json);
/* The name of the tensor that argument self is, "" if none. */
const char *pt_self(const json_t *node);
/* Defines a name as a tensor, or (value NULL) a number; E_FORMAT for a second definition. */
MUST_USE hone_status pt_define(struct pt *pt, const char *name, struct value *value, double number);
MUST_USE hone_status pt_find(struct pt *pt, struct place at, const char *name,
                             struct pt_item **out);
/* torch's dtype to ours, HONE_UNDEFINED if unknown. */
hone_dtype pt_dtype(int64_t number);
struct place pt_place(const struct pt_op *op);
MUST_USE PRINTF(2, 3) hone_status pt_refuse(const struct pt_op *op, const char *format, ...);

/* Arguments by name. An absent one, or None: NULL, or the default. *kind: "as_int" and its like. */
json_t *pt_find_argument(const struct pt_op *op, const char *name, const char **kind);
MUST_USE hone_status pt_floats(struct pt_op *op, const char *name, size_t most, double *out,
                               size_t *out_count);
MUST_USE hone_status pt_int(struct pt_op *op, const char *name, int64_t otherwise, int64_t *out);
MUST_USE hone_status pt_float(struct pt_op *op, const char *name, double otherwise, double *out);
/* A list of integers; *out_count 0 if absent. */
MUST_USE hone_status pt_ints(struct pt_op *op, const char *name, size_t most, int64_t *out,
                             size_t *out_count);
const json_t *pt_argument(const struct pt_op *op, const char *name); /* its value; NULL: none */
bool pt_is_whole(const struct pt_op *op, const char *name); /* a number that is not a float */
bool pt_given(const struct pt_op *op, const char *name);
MUST_USE hone_status pt_text(struct pt_op *op, const char *name, const char *otherwise,
                             const char **out);
/* Defines result k (0: the first or only one; lists count through). */
MUST_USE hone_status pt_result(struct pt_op *op, size_t k, struct value *value);
MUST_USE hone_status pt_complex_result(struct pt_op *op, size_t k, struct value *value);
/* Defines a number as the result; extent: the run-time size that it equals, or 0. It is dynamic if
 * one of its operands is. */
MUST_USE hone_status pt_number(struct pt_op *op, double number, uint32_t extent);
size_t pt_result_count(const struct pt_op *op);
bool pt_is_read(const struct pt_op *op, size_t k); /* True if result k is used. */

/* -- table.c */
/* "torch.ops.aten.relu.default" without the first two words. */
const char *pt_target(const json_t *node);
/* The target of an in-place operator ("aten.add_.Tensor") without its mark, NULL if it is none. */
MUST_USE hone_status pt_plain_target(struct pt *pt, const char *target, const char **out);
/* The row of a target: its builder, and its parameter stored in op; false: none. */
bool pt_find_kind(struct pt_op *op, const char *target, pt_build_fn **out);

/* -- nodes.c */
/* Translates a node by the table; in-place forms ("aten.add_.Tensor") rename what they write.
 * index: for messages. */
MUST_USE hone_status pt_add_node(struct pt *pt, const json_t *node, size_t index);

pt_build_fn build_effect;

/* -- control.c */
pt_build_fn build_wrapped, build_cond, build_while, build_rows, build_associative_scan;

/* -- slices.c */
/* A dimension in [-rank, rank) to [0, rank), given or by argument name. */
MUST_USE hone_status pt_axis_of(struct pt_op *op, int64_t axis, int rank, int64_t *out);
MUST_USE hone_status pt_axis(struct pt_op *op, const char *name, int64_t otherwise, int rank,
                             int64_t *out);
/* The permutation of a permute, transpose or t. */
MUST_USE hone_status pt_perm(struct pt_op *op, const struct value *x, int64_t *perm);
struct value *pt_slice(struct pt_op *op, struct value *x, int64_t axis, int64_t start, int64_t end,
                       int64_t step);
/* Indices as a constant of these dimensions. */
struct value *pt_index_list(struct pt_op *op, const int64_t *list, const int64_t *dims,
                            size_t rank);
/* x with `part` written at start, start + step, .. of an axis. */
MUST_USE hone_status pt_put_slice(struct pt_op *op, struct value *x, struct value *part,
                                  int64_t axis, int64_t start, int64_t step, struct value **out);

/* Part 0 or 1 of x [.., 2], without that axis. */
struct value *pt_part(struct pt_op *op, struct value *x, int64_t part);

/* x broadcast to a shape. */
struct value *pt_expand(struct pt_op *op, struct value *x, const struct shape *shape);
/* x with a dimension of 1 before axis `at`. */
MUST_USE hone_status pt_insert_axis(struct pt_op *op, struct value *x, int at, struct value **out);
/* x reduced along one axis, which is removed. */
struct value *pt_reduce_axis(struct pt_op *op, enum op_id id, struct value *x, int64_t axis);
/* The list 0, 1, .. count - 1. */
MUST_USE hone_status pt_count_up(struct pt_op *op, int64_t count, struct value **out);

/* -- views.c */
/* How the target's result views its argument self; VIEW_NONE: a separate tensor. */
enum pt_view pt_view_of(const char *target);
/* Records that `result` is a view of `of`, by this node's arguments. */
MUST_USE hone_status pt_note_view(struct pt_op *op, const char *result, const char *of,
                                  enum pt_view view);
/* Rebuilds a view whose storage was written. */
MUST_USE hone_status pt_refresh(struct pt_op *op, struct pt_item *item);
/* The tensor called `name`, and all tensors of which it is a view, get the content of `made`, in
 * their type and shape; `made` becomes that item. */
MUST_USE hone_status pt_write(struct pt_op *op, const char *name, struct pt_item *made);

/* -- tensors.c */
/* Adds a first dimension of 1 that the results lose again: for a single image, or a scalar sorted
 * along a dimension. */
MUST_USE hone_status pt_lift(struct pt_op *op, struct value **x);
/* Like pt_int, for tensors. */
MUST_USE hone_status pt_tensor(struct pt_op *op, const char *name, struct value **out);
MUST_USE hone_status pt_need(struct pt_op *op, const char *name, struct value **out);
/* The same for operators that accept complex numbers; others reject them. NULL if it is a number or
 * absent. */
MUST_USE hone_status pt_complex(struct pt_op *op, const char *name, struct value **out,
                                bool *out_is_complex);
/* The same, E_FORMAT if it is absent. */
MUST_USE hone_status pt_need_complex(struct pt_op *op, const char *name, struct value **out,
                                     bool *out_is_complex);
MUST_USE hone_status pt_tensors(struct pt_op *op, const char *name, size_t most, struct value **out,
                                size_t *out_count);
/* Entries may be None: NULL. */
MUST_USE hone_status pt_optional_tensors(struct pt_op *op, const char *name, size_t most,
                                         struct value **out, size_t *out_count);

/* -- elementwise.c */
/* An argument that is a tensor, or a number with the type that PyTorch gives it next to another
 * operand. */
MUST_USE hone_status pt_operand(struct pt_op *op, const char *name, const struct value *beside,
                                struct value **out);
/* The type in which PyTorch computes with all of these; pt_promote converts them to it. */
hone_dtype pt_promoted(struct value *const *x, size_t count);
MUST_USE hone_status pt_promote(struct pt_op *op, struct value **x, size_t count);
/* self and other (or exponent, or values) of that type. */
MUST_USE hone_status pt_pair_of(struct pt_op *op, struct value **x, struct value **y);
/* self and other as floats, of the type that PyTorch computes in; y NULL: self alone. */
MUST_USE hone_status pt_floats_of(struct pt_op *op, struct value **x, struct value **y);
/* The angle of (x, y), both floats. */
struct value *pt_atan2(struct pt_op *op, struct value *y, struct value *x);
pt_build_fn build_unary, build_copy, build_silu, build_rsqrt, build_gelu, build_alpha, build_clamp,
    build_binary, build_rsub, build_not_equal, build_where, build_masked_fill, build_cast,
    build_hard_sigmoid, build_softplus, build_log_sigmoid, build_log_base, build_expm1, build_log1p,
    build_exp2, build_trunc, build_is_finite, build_square, build_glu, build_prelu, build_shrink,
    build_threshold, build_floor_divide, build_remainder, build_atan2, build_clamp_tensor,
    build_addcmul, build_lerp, build_nan_to_num, build_copy_into, build_bit_shift,
    build_float_power;

/* -- formulas.c */
pt_build_fn build_formula, build_number_extreme, build_logit;
/* Reduces an elementwise loss as argument `reduction` says: its mean is over the sum of the
 * weights, NULL: over all elements. */
MUST_USE hone_status pt_reduce_loss(struct pt_op *op, struct value *y, struct value *weight);

/* -- losses.c */
pt_build_fn build_cross_entropy, build_triplet_loss, build_cosine_loss;

/* -- derived.c */
pt_build_fn build_rotate, build_renorm, build_block_diagonal, build_trapezoid, build_vector_dot,
    build_chain, build_cartesian_product, build_quantile;

/* -- complex.c */
/* True if it has complex arguments and is applied to each part, or to pairs of parts. */
bool pt_is_by_parts(const struct pt_op *op);
/* Calls the builder for both parts. */
MUST_USE hone_status pt_build_by_parts(struct pt_op *op, pt_build_fn *build);
/* Parameters of build_fft, combined. HALF: of real numbers, or to them. */
enum { FFT_INVERSE = 1, FFT_HALF = 2, FFT_MANY = 4, FFT_TWO = 8, FFT_CORE = 16 };
pt_build_fn build_complex, build_view_as_complex, build_view_as_real, build_complex_part,
    build_clone, build_conjugate, build_abs, build_angle, build_to, build_arithmetic, build_fft,
    build_exp, build_reciprocal;

/* -- movement.c */
pt_build_fn build_view, build_flatten, build_unsqueeze, build_squeeze, build_permute, build_expand,
    build_sym_size, build_number, build_slice, build_select, build_cat, build_split, build_pad,
    build_repeat, build_repeat_interleave, build_full, build_arange, build_triangle, build_eye,
    build_linspace, build_flip, build_roll, build_unbind, build_narrow, build_movedim, build_like,
    build_unflatten, build_diff, build_pixel_shuffle, build_channel_shuffle, build_meshgrid,
    build_broadcast_tensors, build_sym_numel, build_nothing, build_number_test, build_number_choice,
    build_repeat_by_list, build_shift;

/* -- index.c */
pt_build_fn build_index_select, build_embedding, build_gather, build_scatter, build_slice_scatter,
    build_index, build_index_put, build_topk, build_nonzero, build_diagonal, build_unfold;

/* -- scatter.c */
/* x with the elements of source, in order, where the mask is true: the k-th true place gets element
 * k. */
MUST_USE hone_status pt_place_in_order(struct pt_op *op, struct value *x, struct value *mask,
                                       struct value *source, struct value **out);
pt_build_fn build_index_add, build_masked_scatter, build_take_along, build_take,
    build_triangle_places, build_one_hot;

/* -- search.c */
pt_build_fn build_search, build_histogram, build_count, build_unique;

/* -- distance.c */
pt_build_fn build_distances, build_cosine, build_cross;

/* -- grouped.c */
pt_build_fn build_grouped_product, build_embedding_bag;

/* -- vision.c */
pt_build_fn build_affine_grid, build_roi_align, build_roi_pool, build_nms, build_deform_conv;

/* -- quantised.c */
pt_build_fn build_quantize, build_dequantize, build_fake_quantize, build_choose_scale,
    build_quantize_blocks, build_dequantize_blocks, build_choose_blocks, build_integer_product;

/* -- contract.c */
/* Multiplies one axis of x by a matrix [its size, size]. */
struct value *pt_multiply_axis(struct pt_op *op, int axis, int64_t size, const double *weights,
                               struct value *x);
pt_build_fn build_linear, build_matmul, build_addmm, build_attention, build_conv, build_reduce,
    build_arg, build_add_product, build_outer, build_einsum, build_number_sum, build_reduce_truth,
    build_extreme, build_variance, build_norm, build_distance, build_weight_norm, build_cumulative,
    build_both_extremes;

/* A list with one number for each of n dimensions; a single number is repeated. */
MUST_USE hone_status pt_spatial(struct pt_op *op, const char *name, int64_t otherwise, size_t n,
                                int64_t *out);

/* The norm of an order along axes; NULL: over all elements. */
MUST_USE hone_status pt_norm(struct pt_op *op, struct value *x, struct value *axes, double order,
                             bool keeps, struct value **out);

/* -- pool.c */
pt_build_fn build_max_pool, build_average_pool, build_adaptive_pool;

/* -- layers.c */
pt_build_fn build_softmax, build_safe_softmax, build_layer_norm, build_rms_norm, build_group_norm,
    build_instance_norm, build_batch_norm, build_batch_norm_fresh, build_col2im, build_im2col;

/* -- resample.c */
pt_build_fn build_upsample, build_grid_sample;

/* -- recurrent.c */
pt_build_fn build_recurrent, build_recurrent_cell;

/* -- encoder.c */
pt_build_fn build_encoder_layer;

/* -- scan.c */
pt_build_fn build_scan;

/* -- signal.c */
pt_build_fn build_window, build_stft, build_istft;

/* -- linear.c */
pt_build_fn build_of_matrix, build_solve;

/* -- algebra.c */
pt_build_fn build_bilinear, build_trilinear, build_tensordot, build_diagonal_matrix, build_trace,
    build_kronecker, build_join, build_at_least, build_is_in, build_is_close, build_order_statistic,
    build_masked_select, build_unpool, build_item, build_strided;

#endif
