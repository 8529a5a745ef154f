/* Shared by the TFLite exporter: tensors and operators of the file, and helpers of rules.
 *
 * The format stores images channels-last, the graph channels-first. A value has up to two tensors:
 * `plain`, in the graph's layout, and `image`, [n, h, w, c] (for rank 3: [n, 1, w, c]); either is
 * made from the other when first needed. Elementwise operators follow the layout of their operands,
 * so a convolutional network has TRANSPOSEs only at its ends. Codes and options: schema.fbs of the
 * TensorFlow Lite project, version 3.
 *
 * Helpers return the number of a tensor. A failure is stored in `status`, as in struct strbuf, and
 * checked after each node. */
#ifndef HONE_EXPORT_LITE_H
#define HONE_EXPORT_LITE_H

#include "compiler/export/export.h"
#include "flatbuffer_write.h"

/* BuiltinOperator codes that are written. */
enum lite_code {
  LITE_ADD = 0,
  LITE_AVERAGE_POOL_2D = 1,
  LITE_CONCATENATION = 2,
  LITE_CONV_2D = 3,
  LITE_DEPTHWISE_CONV_2D = 4,
  LITE_DEPTH_TO_SPACE = 5,
  LITE_DEQUANTIZE = 6,
  LITE_FLOOR = 8,
  LITE_FULLY_CONNECTED = 9,
  LITE_LOGISTIC = 14,
  LITE_MAX_POOL_2D = 17,
  LITE_MUL = 18,
  LITE_RELU = 19,
  LITE_RELU_N1_TO_1 = 20,
  LITE_RELU6 = 21,
  LITE_RESHAPE = 22,
  LITE_RESIZE_BILINEAR = 23,
  LITE_SOFTMAX = 25,
  LITE_SPACE_TO_DEPTH = 26,
  LITE_TANH = 28,
  LITE_PAD = 34,
  LITE_GATHER = 36,
  LITE_TRANSPOSE = 39,
  LITE_MEAN = 40,
  LITE_SUB = 41,
  LITE_DIV = 42,
  LITE_STRIDED_SLICE = 45,
  LITE_EXP = 47,
  LITE_TOPK_V2 = 48,
  LITE_LOG_SOFTMAX = 50,
  LITE_CAST = 53,
  LITE_PRELU = 54,
  LITE_MAXIMUM = 55,
  LITE_ARG_MAX = 56,
  LITE_MINIMUM = 57,
  LITE_LESS = 58,
  LITE_NEG = 59,
  LITE_PADV2 = 60,
  LITE_GREATER = 61,
  LITE_GREATER_EQUAL = 62,
  LITE_LESS_EQUAL = 63,
  LITE_SIN = 66,
  LITE_TRANSPOSE_CONV = 67,
  LITE_TILE = 69,
  LITE_EQUAL = 71,
  LITE_NOT_EQUAL = 72,
  LITE_LOG = 73,
  LITE_SUM = 74,
  LITE_SQRT = 75,
  LITE_RSQRT = 76,
  LITE_POW = 78,
  LITE_ARG_MIN = 79,
  LITE_REDUCE_PROD = 81,
  LITE_REDUCE_MAX = 82,
  LITE_LOGICAL_OR = 84,
  LITE_ONE_HOT = 85,
  LITE_LOGICAL_AND = 86,
  LITE_LOGICAL_NOT = 87,
  LITE_REDUCE_MIN = 89,
  LITE_RESIZE_NEAREST_NEIGHBOR = 97,
  LITE_LEAKY_RELU = 98,
  LITE_MIRROR_PAD = 100,
  LITE_ABS = 101,
  LITE_CEIL = 104,
  LITE_REVERSE_V2 = 105,
  LITE_GATHER_ND = 107,
  LITE_COS = 108,
  LITE_ELU = 111,
  LITE_QUANTIZE = 114,
  LITE_ROUND = 116,
  LITE_HARD_SWISH = 117,
  LITE_SCATTER_ND = 122,
  LITE_SELECT_V2 = 123,
  LITE_BATCH_MATMUL = 126,
  LITE_CUMSUM = 128,
  LITE_BROADCAST_TO = 130,
  LITE_GELU = 150,
  LITE_RELU_0_TO_1 = 152,
  LITE_SIGN = 158
};
/* ActivationFunctionType and Padding. */
enum { LITE_NO_ACTIVATION = 0, LITE_FUSED_RELU = 1, LITE_FUSED_RELU6 = 3 };
enum { LITE_SAME = 0, LITE_VALID = 1 };

struct lite_scale {
  size_t count; /* 0: not quantised */
  const float *scales;
  const int64_t *zero_points;
  int axis;
};
struct lite_tensor {
  const char *name;
  hone_dtype dtype;
  struct shape shape;
  const struct tensor *constant; /* or NULL */
  struct lite_scale quantisation;
  int64_t producer; /* index of the operator that makes it, -1: none */
};
enum { LITE_MOST_OPTIONS = 7 };
struct lite_operator {
  enum lite_code code;
  size_t input_count, output_count;
  int32_t *inputs, *outputs; /* -1: omitted */
  size_t option_count;
  struct flat_field options[LITE_MOST_OPTIONS];
};
struct lite;
/* Writes a node; a failure is stored in l->status. */
typedef void lite_rule(struct lite *l, const struct node *node);
/* Numbers of a value's tensors, from 1; 0: none yet. */
struct lite_value {
  int32_t plain, image;
};
struct lite {
  struct ctx *ctx;
  struct arena *arena;
  const struct graph *graph;
  hone_status status;
  VEC(struct lite_tensor) tensors;
  VEC(struct lite_operator) operators;
  struct lite_value *values; /* by value->index */
  uint32_t *uses;            /* likewise: number of readers */
  /* likewise, for a QuantizeLinear's result: the operator written in int8; or NULL */
  const struct node **heads;
  bool *is_unwritten; /* likewise: a float that exists only in int8 */
  /* the QuantizeLinear of the operator being written in int8; NULL: in floats */
  const struct node *quantiser;
  struct lite_scale scale; /* its scale */
  lite_rule *(*rule_of)(const struct node *node);
  int32_t *outputs; /* the graph's, in its order */
};

/* -- tensors.c: tensors, operators, layouts */
/* A tensor without a name. */
int32_t lite_tensor(struct lite *l, hone_dtype dtype, const struct shape *shape);
int32_t lite_constant(struct lite *l, const struct tensor *tensor);
int32_t lite_ints(struct lite *l, const int64_t *ints, size_t count); /* i32[count] */
int32_t lite_number(struct lite *l, hone_dtype dtype, double value);  /* a scalar */
/* An operator with one result. */
int32_t lite_put(struct lite *l, enum lite_code code, const int32_t *inputs, size_t input_count,
                 const struct flat_field *options, size_t option_count, hone_dtype dtype,
                 const struct shape *shape);
/* The same with several results that exist already. */
void lite_put_into(struct lite *l, enum lite_code code, const int32_t *inputs, size_t input_count,
                   const struct flat_field *options, size_t option_count, const int32_t *outputs,
                   size_t output_count);
#define LITE_INPUTS(...) \
  (const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t)
#define LITE_OPTIONS(...)                   \
  (const struct flat_field[]){__VA_ARGS__}, \
      sizeof((const struct flat_field[]){__VA_ARGS__}) / sizeof(struct flat_field)
const struct shape *lite_shape(const struct lite *l, int32_t tensor);
hone_dtype lite_dtype(const struct lite *l, int32_t tensor);
int32_t lite_unary(struct lite *l, enum lite_code code, int32_t x);
/* Broadcast operands of one type; comparisons give bool. */
int32_t lite_binary(struct lite *l, enum lite_code code, int32_t x, int32_t y);
int32_t lite_reshape(struct lite *l, int32_t x, const struct shape *shape);
int32_t lite_transpose(struct lite *l, int32_t x, const int64_t *order);
int32_t lite_cast(struct lite *l, int32_t x, hone_dtype dtype);
int32_t lite_reduce(struct lite *l, enum lite_code code, int32_t x, const bool axes[HONE_MAX_RANK],
                    bool keeps);
/* The DequantizeLinear that makes the value, or NULL. */
const struct node *lite_dequantiser(const struct value *value);
bool lite_same_scale(const struct lite_scale *a, const struct lite_scale *b);
/* Input k of a node, or the input of its DequantizeLinear while the node is written in int8. */
const struct value *lite_operand_value(const struct lite *l, const struct node *node, size_t k);
bool lite_is_constant(const struct value *value); /* or dequantised from a constant */
/* A value in the graph's layout, and as an image (ranks 3 and 4). */
int32_t lite_plain(struct lite *l, const struct value *value);
int32_t lite_image(struct lite *l, const struct value *value);
bool lite_can_be_image(const struct value *value);
/* Input k of a node; E_UNSUP if it is omitted. */
int32_t lite_input(struct lite *l, const struct node *node, size_t k);
int32_t lite_input_image(struct lite *l, const struct node *node, size_t k);
/* For an elementwise node with a result of this shape: true if some operands exist only as
 * images. */
bool lite_follows_images(const struct lite *l, const struct node *node, size_t operands);
/* An operand in the layout that lite_follows_images returned, with leading ones if an image needs
 * them. */
int32_t lite_operand(struct lite *l, const struct node *node, size_t k, bool is_image);
/* The image axis of axis d in the graph's layout: rank 3 or 4. */
int lite_image_axis(int rank, int axis);
struct shape lite_image_shape(const struct shape *shape);
void lite_bind(struct lite *l, const struct node *node, size_t output, int32_t tensor,
               bool is_image);
/* Stores the first failure; `why` completes "TFLite export does not support OP ...". */
void lite_refuse(struct lite *l, const struct node *node, const char *why);

/* Fuses an activation into the operator that made the tensor; false if it cannot have one, or has
 * one already. */
bool lite_fuse(struct lite *l, int32_t tensor, int activation);

/* -- contract.c: x [.., in] by weights [out, in]; bias -1: none */
int32_t lite_fully_connected(struct lite *l, int32_t x, int32_t weights, int32_t bias);

/* -- index.c */
/* Indices into dimensions of these sizes (one, or one per element of the last axis), made
 * non-negative. */
int32_t lite_inside(struct lite *l, const struct value *places, const int64_t *sizes, size_t count);

/* -- quantised.c */
MUST_USE hone_status lite_find_quantised(struct lite *l);
/* Weights (input 1), transposed as requested; in int8 with their scales along channel_axis. */
int32_t lite_weights(struct lite *l, const struct node *node, int32_t tensor, int channel_axis);
int32_t lite_quantised_bias(struct lite *l, const struct node *node, int64_t channels);

/* -- write.c */
MUST_USE hone_status lite_write(struct lite *l, struct strbuf *out);

/* -- rules */
lite_rule lite_conv, lite_conv_transpose, lite_pool, lite_global_pool, lite_gemm, lite_matmul,
    lite_resize, lite_quantize, lite_dequantize, lite_gather, lite_gather_nd, lite_gather_elements,
    lite_scatter, lite_one_hot, lite_top_k, lite_recurrent;
/* Elementwise operators: one of the format, else their expression. */
lite_rule lite_elementwise;
lite_rule *lite_rule_of(const struct node *node);
void lite_node(struct lite *l, const struct node *node);
#endif
