/* Nodes, constants and layers of the zoo: see build.h. */
#include "build.h"

#include <math.h>

enum { GROUP = 32 }; /* of weights of 4 bits: these share a scale */

/* -- sizes */

int64_t zoo_width(const struct builder *b, int64_t published, int64_t unit) {
  int64_t width = published;
  if (b->published.width) width = published * b->options.width / b->published.width;
  return width < unit ? unit : width / unit * unit;
}

int64_t zoo_layers(const struct builder *b, int64_t published) {
  int64_t layers = published;
  if (b->published.layers) layers = published * b->options.layers / b->published.layers;
  return layers < 1 ? 1 : layers;
}

void zoo_require(struct builder *b, bool holds, const char *otherwise) {
  if (!holds && !b->status) b->status = fail(b->ctx, HONE_E_USAGE, place_none(), "%s", otherwise);
}

/* -- nodes */

#define KEEP(b, call)                                            \
  do {                                                           \
    if (!(b)->status && !(b)->is_counting) (b)->status = (call); \
  } while (0)

const char *zoo_name(struct builder *b, const char *format, ...) {
  char buffer[256];
  const char *name = "";
  va_list args;
  va_start(args, format);
  int n = vsnprintf(buffer, sizeof buffer, format, args);
  va_end(args);
  if (n < 0 || (size_t)n >= sizeof buffer) n = 0;
  KEEP(b, arena_string(b->ctx, b->graph->arena, buffer, (size_t)n, &name));
  return name;
}

struct value *zoo_input(struct builder *b, const char *name, hone_dtype dtype, int rank,
                        const int64_t *dims) {
  struct value *value = NULL;
  struct shape shape = shape_of(rank, dims);
  KEEP(b, graph_input(b->ctx, b->graph, name, dtype, &shape, &value));
  return value;
}

void zoo_output(struct builder *b, const char *name, struct value *value) {
  if (b->status || !value) return;
  value->name = name;
  KEEP(b, graph_output(b->ctx, b->graph, value));
}

void zoo_open_dimension(struct builder *b, const struct value *x, int axis, const char *name) {
  const struct open_dimension open = {x, axis, name};
  if (!b->is_open || b->is_counting || b->status) return;
  b->status = vec_grow(b->ctx, b->graph->arena, &b->open.at, b->open.count, &b->open.capacity,
                       sizeof *b->open.at);
  if (!b->status) b->open.at[b->open.count++] = open;
}

static hone_status make_node(struct builder *b, const char *op_name, struct value *const *inputs,
                             size_t input_count, struct value **out, size_t output_count) {
  struct node *node;
  const struct op *op = op_find("", op_name);
  if (!op) return fail(b->ctx, HONE_E_UNSUP, place_name(op_name), "the operator is not supported");
  TRY(graph_node(b->ctx, b->graph, op, inputs, input_count, output_count, &node));
  node->index = (int64_t)b->graph->nodes.count - 1;
  for (size_t i = 0; i < output_count; i++) out[i] = node->outputs[i];
  return HONE_OK;
}

void zoo_node(struct builder *b, const char *op, struct value *const *inputs, size_t input_count,
              struct value **out, size_t output_count) {
  for (size_t i = 0; i < output_count; i++) out[i] = NULL;
  KEEP(b, make_node(b, op, inputs, input_count, out, output_count));
}

struct value *zoo_op1(struct builder *b, const char *op, struct value *x) {
  struct value *y;
  zoo_node(b, op, (struct value *[]){x}, 1, &y, 1);
  return y;
}

struct value *zoo_op2(struct builder *b, const char *op, struct value *x, struct value *y) {
  struct value *z;
  zoo_node(b, op, (struct value *[]){x, y}, 2, &z, 1);
  return z;
}

struct value *zoo_op3(struct builder *b, const char *op, struct value *x, struct value *y,
                      struct value *z) {
  struct value *result;
  zoo_node(b, op, (struct value *[]){x, y, z}, 3, &result, 1);
  return result;
}

void zoo_int(struct builder *b, struct value *x, const char *name, int64_t i) {
  if (x) KEEP(b, node_set_int(b->ctx, b->graph, x->producer, name, i));
}

void zoo_float(struct builder *b, struct value *x, const char *name, double f) {
  if (x) KEEP(b, node_set_float(b->ctx, b->graph, x->producer, name, f));
}

void zoo_text(struct builder *b, struct value *x, const char *name, const char *text) {
  if (x) KEEP(b, node_set_string(b->ctx, b->graph, x->producer, name, text));
}

void zoo_ints(struct builder *b, struct value *x, const char *name, const int64_t *ints, size_t n) {
  if (x) KEEP(b, node_set_ints(b->ctx, b->graph, x->producer, name, ints, n));
}

/* -- constants */

static struct tensor *new_tensor(struct builder *b, hone_dtype dtype, int rank,
                                 const int64_t *dims) {
  struct tensor *tensor = NULL;
  struct shape shape = shape_of(rank, dims);
  KEEP(b, tensor_create(b->ctx, b->graph->arena, dtype, &shape, &tensor));
  return b->status || b->is_counting ? NULL : tensor;
}

static struct value *add_constant(struct builder *b, const char *name,
                                  const struct tensor *tensor) {
  struct value *value = NULL;
  KEEP(b, graph_constant(b->ctx, b->graph, name, tensor, &value));
  return value;
}

struct value *zoo_scalar(struct builder *b, double x) {
  struct tensor *tensor = new_tensor(b, HONE_F32, 0, NULL);
  if (!tensor) return NULL;
  tensor_set_f64(tensor, 0, x);
  return add_constant(b, NULL, tensor);
}

struct value *zoo_filled(struct builder *b, int rank, const int64_t *dims, double x) {
  struct tensor *tensor = new_tensor(b, HONE_F32, rank, dims);
  if (!tensor) return NULL;
  for (size_t i = 0; i < tensor_count(tensor); i++) tensor_set_f64(tensor, i, x);
  return add_constant(b, NULL, tensor);
}

struct value *zoo_column(struct builder *b, const double *x, size_t n) {
  return zoo_table(b, 2, (int64_t[]){(int64_t)n, 1}, x);
}

struct value *zoo_table(struct builder *b, int rank, const int64_t *dims, const double *x) {
  struct tensor *tensor = new_tensor(b, HONE_F32, rank, dims);
  if (!tensor) return NULL;
  for (size_t i = 0; i < tensor_count(tensor); i++) tensor_set_f64(tensor, i, x[i]);
  return add_constant(b, NULL, tensor);
}

struct value *zoo_indices(struct builder *b, int rank, const int64_t *dims, const int64_t *x) {
  struct tensor *tensor = new_tensor(b, HONE_I64, rank, dims);
  if (!tensor) return NULL;
  for (size_t i = 0; i < tensor_count(tensor); i++) tensor_set_i64(tensor, i, x[i]);
  return add_constant(b, NULL, tensor);
}

struct value *zoo_i64(struct builder *b, int rank, const int64_t *ints, size_t n) {
  return zoo_indices(b, rank, (int64_t[]){(int64_t)n}, ints);
}

static uint64_t seed_of(const char *name) { /* FNV-1a */
  uint64_t hash = 14695981039346656037u;
  for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 1099511628211u;
  return hash;
}

/* Uniform in mean +- sqrt(3) deviation: bounded, so that no outlier overflows a softmax or a half.
 * Two 24-bit values from each 64 random bits. */
static void fill(const struct tensor *tensor, const char *name, double mean, double deviation) {
  struct random random;
  float *x = (float *)(uintptr_t)tensor->data;
  size_t count = tensor_count(tensor);
  double width = 2 * sqrt(3.0) * deviation, low = mean - width / 2;
  random_init(&random, seed_of(name));
  for (size_t i = 0; i < count; i += 2) {
    const uint64_t bits = random_u64(&random);
    /* the half step avoids exact zeros and denormals */
    x[i] = (float)(low + width * (((double)(int32_t)(bits & 0xffffff) + 0.5) * 0x1p-24));
    if (i + 1 < count)
      x[i + 1] =
          (float)(low + width * (((double)(int32_t)(bits >> 32 & 0xffffff) + 0.5) * 0x1p-24));
  }
}

static int64_t elements(int rank, const int64_t *dims) {
  int64_t count = 1;
  for (int i = 0; i < rank; i++) count *= dims[i];
  return count;
}

static struct value *new_weight(struct builder *b, const char *name, int rank, const int64_t *dims,
                                double mean, double deviation) {
  b->weight_bytes += elements(rank, dims) * 4;
  struct tensor *tensor = new_tensor(b, HONE_F32, rank, dims);
  if (!tensor) return NULL;
  fill(tensor, name, mean, deviation);
  return add_constant(b, name, tensor);
}

struct value *zoo_weight(struct builder *b, const char *name, int rank, const int64_t *dims,
                         double mean, double deviation) {
  b->parameter_count += elements(rank, dims);
  return new_weight(b, name, rank, dims, mean, deviation);
}

/* 4-bit weights [in, out], uniform from -8 to 7. */
static struct value *nibbles(struct builder *b, const char *name, int64_t in, int64_t out) {
  struct random random;
  struct tensor *tensor = new_tensor(b, HONE_I4, DIMS(in, out));
  b->weight_bytes += in * out / 2;
  if (!tensor) return NULL;
  uint8_t *bytes = (uint8_t *)(uintptr_t)tensor->data;
  random_init(&random, seed_of(name));
  for (size_t i = 0; i < tensor->bytes; i++) bytes[i] = (uint8_t)random_u64(&random);
  return add_constant(b, name, tensor);
}

struct value *zoo_matmul_4bit(struct builder *b, const char *name, struct value *x, int64_t in,
                              int64_t out, double gain) {
  const double spread = 4.61; /* standard deviation of a number from -8 to 7 */
  const double scale = sqrt(gain / (double)in) / spread;
  struct value *w, *scales;
  zoo_require(b, in % GROUP == 0 && out % 2 == 0,
              "4-bit weights are in groups of 32: the width must be a multiple of 32");
  b->parameter_count += in * out;
  w = nibbles(b, zoo_name(b, "%s.weight", name), in, out);
  scales = new_weight(b, zoo_name(b, "%s.scale", name), DIMS(in / GROUP, out), scale, scale / 8);
  w = zoo_op2(b, "DequantizeLinear", w, scales);
  zoo_int(b, w, "axis", 0);
  zoo_int(b, w, "block_size", GROUP);
  return zoo_op2(b, "MatMul", x, w);
}

/* -- layers */

#define INTS(...) (const int64_t[]){__VA_ARGS__}, COUNT(((const int64_t[]){__VA_ARGS__}))

struct value *zoo_conv2d(struct builder *b, const char *name, struct value *x,
                         const struct conv *conv) {
  int64_t group = conv->group ? conv->group : 1, stride = conv->stride ? conv->stride : 1;
  int64_t k = conv->kernel, p = conv->pad, fan_in = conv->in / group * k * k;
  double gain = conv->gain > 0 ? conv->gain : 2;
  struct value *in[3] = {x}, *y;
  in[1] = zoo_weight(b, zoo_name(b, "%s.weight", name), DIMS(conv->out, conv->in / group, k, k), 0,
                     sqrt(gain / (double)fan_in));
  if (conv->has_bias) in[2] = zoo_weight(b, zoo_name(b, "%s.bias", name), DIMS(conv->out), 0, 0.05);
  zoo_node(b, "Conv", in, conv->has_bias ? 3 : 2, &y, 1);
  if (!y) return NULL;
  zoo_ints(b, y, "dilations", INTS(1, 1));
  zoo_int(b, y, "group", group);
  zoo_ints(b, y, "kernel_shape", INTS(k, k));
  zoo_ints(b, y, "pads", INTS(p, p, p, p));
  zoo_ints(b, y, "strides", INTS(stride, stride));
  return y;
}

struct value *zoo_conv1d(struct builder *b, const char *name, struct value *x,
                         const struct conv *conv) {
  int64_t group = conv->group ? conv->group : 1, stride = conv->stride ? conv->stride : 1;
  int64_t k = conv->kernel, p = conv->pad, fan_in = conv->in / group * k;
  double gain = conv->gain > 0 ? conv->gain : 2;
  struct value *in[3] = {x}, *y;
  in[1] = zoo_weight(b, zoo_name(b, "%s.weight", name), DIMS(conv->out, conv->in / group, k), 0,
                     sqrt(gain / (double)fan_in));
  if (conv->has_bias) in[2] = zoo_weight(b, zoo_name(b, "%s.bias", name), DIMS(conv->out), 0, 0.05);
  zoo_node(b, "Conv", in, conv->has_bias ? 3 : 2, &y, 1);
  zoo_ints(b, y, "dilations", INTS(1));
  zoo_int(b, y, "group", group);
  zoo_ints(b, y, "kernel_shape", INTS(k));
  zoo_ints(b, y, "pads", INTS(p, p));
  zoo_ints(b, y, "strides", INTS(stride));
  return y;
}

struct value *zoo_batch_norm(struct builder *b, const char *name, struct value *x, int64_t channels,
                             double epsilon, double weight_mean) {
  struct value *in[5] = {x}, *y;
  if (b->has_frozen_norms) b->parameter_count -= 2 * channels;
  in[1] =
      zoo_weight(b, zoo_name(b, "%s.weight", name), DIMS(channels), weight_mean, 0.1 * weight_mean);
  in[2] = zoo_weight(b, zoo_name(b, "%s.bias", name), DIMS(channels), 0, 0.1);
  in[3] = new_weight(b, zoo_name(b, "%s.running_mean", name), DIMS(channels), 0, 0.1);
  in[4] = new_weight(b, zoo_name(b, "%s.running_var", name), DIMS(channels), 1, 0.2);
  zoo_node(b, "BatchNormalization", in, 5, &y, 1);
  if (!y) return NULL;
  zoo_float(b, y, "epsilon", epsilon);
  zoo_float(b, y, "momentum", 0.9);
  zoo_int(b, y, "training_mode", 0);
  return y;
}

struct value *zoo_max_pool(struct builder *b, struct value *x, int64_t kernel, int64_t stride,
                           int64_t pad) {
  struct value *y = zoo_op1(b, "MaxPool", x);
  if (!y) return NULL;
  zoo_int(b, y, "ceil_mode", 0);
  zoo_ints(b, y, "kernel_shape", INTS(kernel, kernel));
  zoo_ints(b, y, "pads", INTS(pad, pad, pad, pad));
  zoo_ints(b, y, "strides", INTS(stride, stride));
  return y;
}

struct value *zoo_linear(struct builder *b, const char *name, struct value *x, int64_t in,
                         int64_t out, double gain) {
  struct value *w =
      zoo_weight(b, zoo_name(b, "%s.weight", name), DIMS(out, in), 0, sqrt(gain / (double)in));
  struct value *bias = zoo_weight(b, zoo_name(b, "%s.bias", name), DIMS(out), 0, 0.05);
  struct value *y = zoo_op3(b, "Gemm", x, w, bias);
  if (!y) return NULL;
  zoo_float(b, y, "alpha", 1);
  zoo_float(b, y, "beta", 1);
  zoo_int(b, y, "transB", 1);
  return y;
}

struct value *zoo_project(struct builder *b, const char *name, struct value *x, int64_t in,
                          int64_t out, double gain) {
  struct value *w =
      zoo_weight(b, zoo_name(b, "%s.weight", name), DIMS(in, out), 0, sqrt(gain / (double)in));
  struct value *bias = zoo_weight(b, zoo_name(b, "%s.bias", name), DIMS(out), 0, 0.05);
  return zoo_op2(b, "Add", zoo_op2(b, "MatMul", x, w), bias);
}

struct value *zoo_layer_norm(struct builder *b, const char *name, struct value *x, int64_t width,
                             double epsilon) {
  struct value *scale = zoo_weight(b, zoo_name(b, "%s.weight", name), DIMS(width), 1, 0.1);
  struct value *bias = zoo_weight(b, zoo_name(b, "%s.bias", name), DIMS(width), 0, 0.1);
  struct value *y = zoo_op3(b, "LayerNormalization", x, scale, bias);
  if (!y) return NULL;
  zoo_int(b, y, "axis", -1);
  zoo_float(b, y, "epsilon", epsilon);
  return y;
}

struct value *zoo_rms_norm(struct builder *b, const char *name, struct value *x, int64_t width,
                           double epsilon) {
  struct value *scale = zoo_weight(b, zoo_name(b, "%s.weight", name), DIMS(width), 1, 0.1);
  struct value *square = zoo_op2(b, "Pow", x, zoo_scalar(b, 2));
  struct value *mean = zoo_op2(b, "ReduceMean", square, zoo_i64(b, 1, (int64_t[]){-1}, 1));
  zoo_int(b, mean, "keepdims", 1);
  mean = zoo_op1(b, "Sqrt", zoo_op2(b, "Add", mean, zoo_scalar(b, epsilon)));
  return zoo_op2(b, "Mul", zoo_op2(b, "Div", x, mean), scale);
}

struct value *zoo_gelu_tanh(struct builder *b, struct value *x) {
  struct value *cube = zoo_op2(b, "Pow", x, zoo_scalar(b, 3));
  struct value *y = zoo_op2(b, "Add", x, zoo_op2(b, "Mul", cube, zoo_scalar(b, 0.044715)));
  y = zoo_op1(b, "Tanh", zoo_op2(b, "Mul", y, zoo_scalar(b, 0x1.988453p-1)));
  y = zoo_op2(b, "Add", y, zoo_scalar(b, 1));
  return zoo_op2(b, "Mul", zoo_op2(b, "Mul", x, zoo_scalar(b, 0.5)), y);
}

struct value *zoo_swish(struct builder *b, struct value *x, double slope) {
  struct value *y = slope == 1 ? x : zoo_op2(b, "Mul", x, zoo_scalar(b, slope));
  return zoo_op2(b, "Mul", x, zoo_op1(b, "Sigmoid", y));
}

struct value *zoo_softmax(struct builder *b, struct value *x, int64_t axis) {
  x = zoo_op1(b, "Softmax", x);
  zoo_int(b, x, "axis", axis);
  return x;
}

struct value *zoo_concat(struct builder *b, int64_t axis, struct value *const *parts,
                         size_t count) {
  struct value *y;
  zoo_node(b, "Concat", parts, count, &y, 1);
  zoo_int(b, y, "axis", axis);
  return y;
}

struct value *zoo_gather(struct builder *b, struct value *table, struct value *indices,
                         int64_t axis) {
  struct value *y = zoo_op2(b, "Gather", table, indices);
  zoo_int(b, y, "axis", axis);
  return y;
}

void zoo_split(struct builder *b, struct value *x, int64_t axis, const int64_t *lengths,
               struct value **out, size_t count) {
  struct value *in[2] = {x, zoo_i64(b, 1, lengths, count)};
  zoo_node(b, "Split", in, 2, out, count);
  zoo_int(b, out[0], "axis", axis);
}

struct value *zoo_slice(struct builder *b, struct value *x, int64_t axis, int64_t from,
                        int64_t to) {
  struct value *in[4] = {x, zoo_i64(b, 1, &from, 1), zoo_i64(b, 1, &to, 1),
                         zoo_i64(b, 1, &axis, 1)};
  struct value *y;
  zoo_node(b, "Slice", in, 4, &y, 1);
  return y;
}

struct value *zoo_gelu(struct builder *b, struct value *x) {
  struct value *erf = zoo_op1(b, "Erf", zoo_op2(b, "Div", x, zoo_scalar(b, sqrt(2.0))));
  struct value *gate = zoo_op2(b, "Add", erf, zoo_scalar(b, 1));
  return zoo_op2(b, "Mul", zoo_op2(b, "Mul", x, gate), zoo_scalar(b, 0.5));
}

struct value *zoo_reshape(struct builder *b, struct value *x, int rank, const int64_t *dims) {
  return zoo_op2(b, "Reshape", x, zoo_i64(b, 1, dims, (size_t)rank));
}

struct value *zoo_transpose(struct builder *b, struct value *x, int rank, const int64_t *order) {
  struct value *y = zoo_op1(b, "Transpose", x);
  if (y) zoo_ints(b, y, "perm", order, (size_t)rank);
  return y;
}

struct value *zoo_split_heads(struct builder *b, struct value *x, int64_t batch, int64_t length,
                              int64_t heads, int64_t depth, bool is_key) {
  static const int64_t query[] = {0, 2, 1, 3}, key[] = {0, 2, 3, 1};
  x = zoo_reshape(b, x, DIMS(batch, length, heads, depth));
  return zoo_transpose(b, x, 4, is_key ? key : query);
}

struct value *zoo_merge_heads(struct builder *b, struct value *x, int64_t batch, int64_t length,
                              int64_t width) {
  x = zoo_transpose(b, x, DIMS(0, 2, 1, 3));
  return zoo_reshape(b, x, DIMS(batch, length, width));
}
