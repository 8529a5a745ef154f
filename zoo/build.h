/* build: layers as the field names them, for the families of this folder. A layer makes its seeded
 * weights and the nodes an exporter would write. The first failure is remembered in the builder and
 * every later call returns NULL at once, so that a model reads as its layers; zoo_build looks at
 * `status` in the end.
 *
 * Weights depend on their name alone. They are uniform with the standard deviation that keeps
 * activations near variance 1 (He for layers that read a ReLU, Xavier elsewhere).
 */
#ifndef HONE_ZOO_BUILD_H
#define HONE_ZOO_BUILD_H

#include "../src/ops/ops.h"
#include "zoo.h"

struct zoo_options {
  int64_t batch, sequence, past, size;
};
struct builder {
  struct ctx *ctx;
  struct graph *graph;
  struct zoo_options options;
  hone_status status;
  int64_t parameter_count; /* of the weights made so far; not the running statistics */
};
typedef void family_fn(struct builder *b, int variant);

/* One model of a family; zoo.c lists them beside their public rows. */
family_fn zoo_mlp, zoo_conv, zoo_mnist, zoo_transformer, zoo_resnet, zoo_vgg, zoo_mobilenet,
    zoo_vit, zoo_bert, zoo_gpt2, zoo_gcn, zoo_graphsage, zoo_gat, zoo_dlrm;

/* -- nodes ------------------------------------------------------------------------------------ */
/* A formatted name in the graph's arena; "" after a failure. */
PRINTF(2, 3) const char *zoo_name(struct builder *b, const char *format, ...);
struct value *zoo_input(struct builder *b, const char *name, hone_dtype dtype, int rank,
                        const int64_t *dims);
void zoo_output(struct builder *b, const char *name, struct value *value);
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

/* -- constants -------------------------------------------------------------------------------- */
struct value *zoo_scalar(struct builder *b, double x);
struct value *zoo_i64(struct builder *b, int rank, const int64_t *ints, size_t n);
/* One value everywhere; rank up to 4. */
struct value *zoo_filled(struct builder *b, int rank, const int64_t *dims, double x);
/* [n, 1] */
struct value *zoo_column(struct builder *b, const double *x, size_t n);
/* A trained parameter: uniform with this mean and standard deviation. */
struct value *zoo_weight(struct builder *b, const char *name, int rank, const int64_t *dims,
                         double mean, double deviation);

/* -- layers ----------------------------------------------------------------------------------- */
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
/* x * 0.5 * (1 + erf(x / sqrt 2)), operator by operator. */
struct value *zoo_gelu(struct builder *b, struct value *x);
struct value *zoo_reshape(struct builder *b, struct value *x, int rank, const int64_t *dims);
struct value *zoo_transpose(struct builder *b, struct value *x, int rank, const int64_t *order);
/* [batch, length, heads * depth] <-> [batch, heads, length, depth] (keys: [.., depth, length]) */
struct value *zoo_split_heads(struct builder *b, struct value *x, int64_t batch, int64_t length,
                              int64_t heads, int64_t depth, bool is_key);
struct value *zoo_merge_heads(struct builder *b, struct value *x, int64_t batch, int64_t length,
                              int64_t width);

#endif
