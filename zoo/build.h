/* build: layers for the model families of this folder. A layer creates its seeded weights and the
 * nodes that an exporter would write. The first failure is stored in the builder and every later
 * call returns NULL at once, so that a model reads as its layers; zoo_build checks `status` at the
 * end.
 *
 * Weights depend only on their name. They are uniform with the standard deviation that keeps
 * activations near variance 1 (He for layers that read a ReLU, Xavier elsewhere). */
#ifndef HONE_ZOO_BUILD_H
#define HONE_ZOO_BUILD_H

#include "core/ops/ops.h"
#include "zoo.h"

struct zoo_options {
  int64_t batch, sequence, past, size, layers, width, vocabulary;
  bool is_open; /* "past=open" */
};
struct builder {
  struct ctx *ctx;
  struct graph *graph;
  struct zoo_options options, published; /* requested sizes; those of the published model */
  hone_status status;
  bool is_open; /* a decoder for any number of tokens after any past */
  struct open_dimensions open;
  bool is_counting;        /* only weights are counted, every value is NULL */
  bool has_frozen_norms;   /* batch norms are not parameters, as in DETR's backbone */
  int64_t parameter_count; /* of the weights made so far, without running statistics */
  int64_t weight_bytes;    /* of every constant that a name's seed fills */
};
/* A variant of a decoder: which size, whether it takes one token with a cache, weights of 4 bits. */
enum { ZOO_SIZE = 15, ZOO_DECODE = 16, ZOO_4BIT = 32 };
typedef void family_fn(struct builder *b, int variant);

/* One model of a family; zoo.c lists them with their public rows. */
family_fn zoo_mlp, zoo_conv, zoo_mnist, zoo_transformer, zoo_resnet, zoo_vgg, zoo_mobilenet,
    zoo_vit, zoo_bert, zoo_gpt2, zoo_gcn, zoo_graphsage, zoo_gat, zoo_gatv2, zoo_dlrm, zoo_tinyvit,
    zoo_yolov8n, zoo_detr, zoo_mobilebert, zoo_llama, zoo_t5, zoo_mbart, zoo_whisper, zoo_conformer,
    zoo_clip, zoo_blip2, zoo_flamingo;

/* Dims as two arguments, rank and array. */
#define DIMS(...) \
  (int)COUNT(((const int64_t[]){__VA_ARGS__})), (const int64_t[]) { __VA_ARGS__ }

/* -- sizes */
/* A published width or depth scaled by the options `width` and `layers`: widths in whole units
 * (heads), at least one unit and one layer. */
int64_t zoo_width(const struct builder *b, int64_t published, int64_t unit);
int64_t zoo_layers(const struct builder *b, int64_t published);
/* E_USAGE with this text unless `holds`. */
void zoo_require(struct builder *b, bool holds, const char *otherwise);

/* -- nodes */
/* A formatted name in the graph's arena; "" after a failure. */
PRINTF(2, 3) const char *zoo_name(struct builder *b, const char *format, ...);
struct value *zoo_input(struct builder *b, const char *name, hone_dtype dtype, int rank,
                        const int64_t *dims);
void zoo_output(struct builder *b, const char *name, struct value *value);
/* Gives a dimension of an input or output this name if the model has dynamic dimensions. */
void zoo_open_dimension(struct builder *b, const struct value *x, int axis, const char *name);
/* One node; its outputs, output_count of them, are written to `out`. */
void zoo_node(struct builder *b, const char *op, struct value *const *inputs, size_t input_count,
              struct value **out, size_t output_count);
struct value *zoo_op1(struct builder *b, const char *op, struct value *x);
struct value *zoo_op2(struct builder *b, const char *op, struct value *x, struct value *y);
struct value *zoo_op3(struct builder *b, const char *op, struct value *x, struct value *y,
                      struct value *z);
/* Set an attribute of the node that made x. */
void zoo_int(struct builder *b, struct value *x, const char *name, int64_t i);
void zoo_float(struct builder *b, struct value *x, const char *name, double f);
void zoo_text(struct builder *b, struct value *x, const char *name, const char *text);
void zoo_ints(struct builder *b, struct value *x, const char *name, const int64_t *ints, size_t n);

/* -- constants */
struct value *zoo_scalar(struct builder *b, double x);
struct value *zoo_i64(struct builder *b, int rank, const int64_t *ints, size_t n);
/* One value everywhere; rank up to 4. */
struct value *zoo_filled(struct builder *b, int rank, const int64_t *dims, double x);
/* A constant of computed, not trained, numbers. */
struct value *zoo_table(struct builder *b, int rank, const int64_t *dims, const double *x);
/* The same for integers of any rank. */
struct value *zoo_indices(struct builder *b, int rank, const int64_t *dims, const int64_t *x);
/* [n, 1] */
struct value *zoo_column(struct builder *b, const double *x, size_t n);
/* A trained parameter: uniform with this mean and standard deviation. */
struct value *zoo_weight(struct builder *b, const char *name, int rank, const int64_t *dims,
                         double mean, double deviation);

/* x W with 4-bit weights, a scale for each 32 along `in` (QLoRA, Dettmers et al. 2023):
 * DequantizeLinear and MatMul. */
struct value *zoo_matmul_4bit(struct builder *b, const char *name, struct value *x, int64_t in,
                              int64_t out, double gain);

/* -- layers */
struct conv {
  int64_t in, out, kernel, stride, pad, group; /* stride and group 0: 1 */
  bool has_bias;
  double gain; /* variance gain; 0: 2, for an input that went through ReLU */
};
struct value *zoo_conv2d(struct builder *b, const char *name, struct value *x,
                         const struct conv *conv);
/* weight_mean: of the scale; small on the last norm of a residual branch */
struct value *zoo_batch_norm(struct builder *b, const char *name, struct value *x, int64_t channels,
                             double epsilon, double weight_mean);
/* x [batch, in, length]; the kernel's two sizes are this one and 1. */
struct value *zoo_conv1d(struct builder *b, const char *name, struct value *x,
                         const struct conv *conv);
struct value *zoo_max_pool(struct builder *b, struct value *x, int64_t kernel, int64_t stride,
                           int64_t pad);
/* x [rows, in] -> [rows, out] as Gemm with a transposed weight. */
struct value *zoo_linear(struct builder *b, const char *name, struct value *x, int64_t in,
                         int64_t out, double gain);
/* x [.., in] -> [.., out] as MatMul and Add, as exporters write it above two dimensions. */
struct value *zoo_project(struct builder *b, const char *name, struct value *x, int64_t in,
                          int64_t out, double gain);
struct value *zoo_layer_norm(struct builder *b, const char *name, struct value *x, int64_t width,
                             double epsilon);
/* x / sqrt(mean(x^2) + epsilon) * scale, operator by operator. */
struct value *zoo_rms_norm(struct builder *b, const char *name, struct value *x, int64_t width,
                           double epsilon);
/* x * 0.5 * (1 + erf(x / sqrt 2)), operator by operator. */
struct value *zoo_gelu(struct builder *b, struct value *x);
/* 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) */
struct value *zoo_gelu_tanh(struct builder *b, struct value *x);
/* x * sigmoid(slope x); slope 1: SiLU, 1.702: the quick GELU */
struct value *zoo_swish(struct builder *b, struct value *x, double slope);
struct value *zoo_softmax(struct builder *b, struct value *x, int64_t axis);
struct value *zoo_concat(struct builder *b, int64_t axis, struct value *const *parts, size_t count);
struct value *zoo_gather(struct builder *b, struct value *table, struct value *indices,
                         int64_t axis);
/* Parts along an axis, of these lengths. */
void zoo_split(struct builder *b, struct value *x, int64_t axis, const int64_t *lengths,
               struct value **out, size_t count);
/* Elements [from, to) of one axis. */
struct value *zoo_slice(struct builder *b, struct value *x, int64_t axis, int64_t from, int64_t to);
struct value *zoo_reshape(struct builder *b, struct value *x, int rank, const int64_t *dims);
struct value *zoo_transpose(struct builder *b, struct value *x, int rank, const int64_t *order);
/* [batch, length, heads * depth] <-> [batch, heads, length, depth] (keys: [.., depth, length]) */
struct value *zoo_split_heads(struct builder *b, struct value *x, int64_t batch, int64_t length,
                              int64_t heads, int64_t depth, bool is_key);
struct value *zoo_merge_heads(struct builder *b, struct value *x, int64_t batch, int64_t length,
                              int64_t width);
/* All of ResNet-18 or -50 before the pool: [batch, 3, size, size] to 512 or 2048 channels of size /
 * 32. */
struct value *zoo_resnet_body(struct builder *b, struct value *x, int variant);

#endif
