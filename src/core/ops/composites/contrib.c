/* Operators of com.microsoft, which ONNX Runtime's optimiser writes, expressed in ONNX operators.
 * Source: docs/ContribOperators.md of ONNX Runtime. */
#include <math.h>

#include "expand.h"

static struct value *sum_of(struct graph_builder *e, struct value *a, struct value *b) {
  return a && b ? x_2(e, OP_Add, a, b) : a ? a : b;
}

static struct value *gelu(struct graph_builder *e, struct value *x, bool is_tanh) {
  if (is_tanh) x_with_string(e, "approximate", "tanh");
  return x_1(e, OP_Gelu, x);
}

void expand_bias_gelu(struct graph_builder *e) {
  struct value *x = sum_of(e, x_in(e, 0), x_in(e, 1));
  x_out(e, 0, gelu(e, x, is_op(e->node, OP_FastGelu)));
}

void expand_quick_gelu(struct graph_builder *e) {
  x_with_float(e, "alpha", x_float(e, "alpha", 1.702));
  x_out(e, 0, x_1(e, OP_Swish, x_in(e, 0)));
}

void expand_fused_matmul(struct graph_builder *e) {
  struct value *operand[2] = {x_in(e, 0), x_in(e, 1)};
  if (x_int(e, "transBatchA", 0) || x_int(e, "transBatchB", 0))
    x_fail(e, HONE_E_UNSUP, "FusedMatMul with transposed batches");
  for (int k = 0; k < 2; k++) {
    int rank = operand[k]->shape.rank;
    if (x_int(e, k ? "transB" : "transA", 0) && rank > 1)
      operand[k] = x_swap(e, operand[k], rank - 2, rank - 1);
  }
  struct value *y = x_2(e, OP_MatMul, operand[0], operand[1]);
  double alpha = x_float(e, "alpha", 1);
  x_out(e, 0, alpha == 1 ? y : x_by(e, OP_Mul, y, alpha));
}

/* Distances, or squared distances, between the rows of both operands. */
void expand_cdist(struct graph_builder *e) {
  if (x_in(e, 0)->shape.rank != 2 || x_in(e, 1)->shape.rank != 2) {
    x_fail(e, HONE_E_SHAPE, "CDist of ranks %d and %d", x_in(e, 0)->shape.rank,
           x_in(e, 1)->shape.rank);
    return;
  }
  struct value *d = x_2(e, OP_Sub, x_unsqueeze(e, x_in(e, 0), 1), x_unsqueeze(e, x_in(e, 1), 0));
  const bool is_root = x_is(e, "metric", "sqeuclidean", "euclidean");
  x_out(e, 0, x_reduce(e, is_root ? OP_ReduceL2 : OP_ReduceSumSquare, d, (int64_t[]){2}, 1, false));
}

/* -- FusedConv */

static struct value *activated(struct graph_builder *e, struct value *x) {
  static const struct {
    const char *name;
    enum op_id op;
    const char *parameters[2];
  } rows[] = {{"Relu", OP_Relu, {NULL, NULL}},
              {"Tanh", OP_Tanh, {NULL, NULL}},
              {"Sigmoid", OP_Sigmoid, {NULL, NULL}},
              {"LeakyRelu", OP_LeakyRelu, {"alpha", NULL}},
              {"HardSigmoid", OP_HardSigmoid, {"alpha", "beta"}}};
  static const char *const own[] = {"activation_alpha", "activation_beta"};
  const char *name = node_string(e->node, "activation", "");
  const struct attribute *given = node_attribute(e->node, "activation_params");
  if (!*name) return x;
  if (!strcmp(name, "Clip") && given && given->count == 2)
    return x_3(e, OP_Clip, x, x_scalar(e, x->dtype, given->floats[0]),
               x_scalar(e, x->dtype, given->floats[1]));
  for (size_t i = 0; i < COUNT(rows); i++) {
    if (strcmp(rows[i].name, name)) continue;
    for (size_t p = 0; p < 2 && rows[i].parameters[p]; p++)
      if (given && p < given->count)
        x_with_float(e, rows[i].parameters[p], given->floats[p]);
      else if (node_attribute(e->node, own[p])) /* attributes of FusedGemm */
        x_with_float(e, rows[i].parameters[p], x_float(e, own[p], 0));
    return x_1(e, rows[i].op, x);
  }
  x_fail(e, HONE_E_UNSUP, "%s with activation \"%s\"", e->node->op->name, name);
  return x;
}

void expand_fused_gemm(struct graph_builder *e) {
  static const char *const kept[] = {"alpha", "beta", "transA", "transB"};
  for (size_t i = 0; i < COUNT(kept); i++) {
    const struct attribute *a = node_attribute(e->node, kept[i]);
    if (a) e->attributes[e->attribute_count++] = *a;
  }
  struct value *const in[] = {x_in(e, 0), x_in(e, 1), x_in(e, 2)};
  x_out(e, 0, activated(e, x_op(e, OP_Gemm, in, in[2] ? 3 : 2)));
}

void expand_fused_conv(struct graph_builder *e) {
  static const char *const kept[] = {"auto_pad",     "dilations", "group",
                                     "kernel_shape", "pads",      "strides"};
  for (size_t i = 0; i < COUNT(kept); i++) {
    const struct attribute *a = node_attribute(e->node, kept[i]);
    if (a) e->attributes[e->attribute_count++] = *a;
  }
  struct value *y =
      x_op(e, OP_Conv, (struct value *[]){x_in(e, 0), x_in(e, 1), x_in(e, 2)}, x_in(e, 2) ? 3 : 2);
  x_out(e, 0, activated(e, sum_of(e, y, x_in(e, 3))));
}

/* -- normalisations */

static struct value *normalised(struct graph_builder *e, struct value *x, struct value *gamma,
                                struct value *beta) {
  x_with_int(e, "axis", -1);
  x_with_float(e, "epsilon", x_float(e, "epsilon", 1e-12));
  return x_op(e, OP_LayerNormalization, (struct value *[]){x, gamma, beta}, beta ? 3 : 2);
}

/* input, skip, gamma, [beta,] bias */
void expand_skip_layer_norm(struct graph_builder *e) {
  bool is_simple = is_op(e->node, OP_SkipSimplifiedLayerNormalization);
  struct value *bias = x_in(e, is_simple ? 3 : 4);
  struct value *x = sum_of(e, x_2(e, OP_Add, x_in(e, 0), x_in(e, 1)), bias), *y;
  if (is_simple) {
    x_with_int(e, "axis", -1);
    x_with_float(e, "epsilon", x_float(e, "epsilon", 1e-5));
    y = x_2(e, OP_RMSNormalization, x, x_in(e, 2));
  } else {
    y = normalised(e, x, x_in(e, 2), x_in(e, 3));
  }
  x_out(e, 0, y);
  x_out(e, 3, x);
}

void expand_simplified_layer_norm(struct graph_builder *e) {
  x_with_int(e, "axis", x_int(e, "axis", -1));
  x_with_float(e, "epsilon", x_float(e, "epsilon", 1e-5));
  x_out(e, 0, x_2(e, OP_RMSNormalization, x_in(e, 0), x_in(e, 1)));
}

/* One of the five tables; the quantised form is dequantised after its rows are gathered. */
static struct value *embedding(struct graph_builder *e, size_t k, struct value *rows) {
  struct value *x = rows ? x_gather(e, x_in(e, k), rows, 0) : x_in(e, k);
  if (!is_op(e->node, OP_QEmbedLayerNormalization)) return x;
  struct value *const in[] = {x, x_in(e, k + 6), x_in(e, k + 11)};
  return x_op(e, OP_DequantizeLinear, in, in[2] ? 3 : 2);
}

/* ids, segments, word, position and segment tables, gamma, beta, mask, then position ids, or scales
 * and zero points of the five tables */
void expand_embed_layer_norm(struct graph_builder *e) {
  bool is_quantised = is_op(e->node, OP_QEmbedLayerNormalization);
  struct value *ids = x_in(e, 0), *segments = x_in(e, 1);
  struct value *positions = is_quantised ? NULL : x_in(e, 8);
  for (size_t k = 2; k < 7; k++)
    if (k != 4 && (!x_in(e, k) || (is_quantised && !x_in(e, k + 6))))
      x_fail(e, HONE_E_FORMAT, "%s is missing input %zu or its scale", e->node->op->name, k);
  if (ids->shape.rank != 2) x_fail(e, HONE_E_SHAPE, "ids of rank %d", ids->shape.rank);
  if (e->status) return;
  struct value *x = embedding(e, 2, ids);
  if (!positions) positions = x_range(e, HONE_I64, ids->shape.dims[1], 0, 1);
  x = x_2(e, OP_Add, x, embedding(e, 3, positions));
  if (segments && x_in(e, 4)) x = x_2(e, OP_Add, x, embedding(e, 4, segments));
  x_out(e, 0, normalised(e, x, embedding(e, 5, NULL), embedding(e, 6, NULL)));
  x_out(e, 2, x);
  if (x_in(e, 7)) /* the number of tokens per row that are not padding */
    x_out(e, 1,
          x_reduce(e, OP_ReduceSum, x_cast(e, x_in(e, 7), HONE_I32), (int64_t[]){1}, 1, false));
  else
    x_out(e, 1, x_expand(e, x_scalar(e, HONE_I32, 0), &(struct shape){1, {ids->shape.dims[0]}}));
}

/* -- MatMulNBits: columns of 2, 4 or 8 bits, one scale per block */

/* bytes [n, m] to elements [n, count] of 2, 4 or 8 bits, low bits first. */
static struct value *unpacked(struct graph_builder *e, struct value *x, int64_t bits,
                              int64_t count) {
  int64_t n = x->shape.dims[0], m = x->shape.dims[1], each = 8 / bits;
  struct value *parts[4];
  for (int64_t i = 0; i < each && each > 1; i++) {
    parts[i] = x;
    if (i) {
      x_with_string(e, "direction", "RIGHT");
      parts[i] = x_2(e, OP_BitShift, x, x_scalar(e, HONE_U8, (double)(i * bits)));
    }
    parts[i] = x_2(e, OP_BitwiseAnd, parts[i], x_scalar(e, HONE_U8, (double)((1 << bits) - 1)));
    parts[i] = x_unsqueeze(e, parts[i], 2);
  }
  if (each > 1) x = x_reshape(e, x_concat(e, 2, parts, (size_t)each), (int64_t[]){n, each * m}, 2);
  return x_slice(e, x, 1, 0, count);
}

/* Element [block, n] of a table [n, blocks] of 4 (each row starts at a byte) or 8 bits. */
static int64_t code_at(const struct tensor *x, int64_t bits, int64_t blocks, int64_t n,
                       int64_t at) {
  const uint8_t *bytes = x->data;
  int64_t row = bits == 4 ? (blocks + 1) / 2 : blocks;
  if (bits == 8) return bytes[n * row + at];
  return bytes[n * row + at / 2] >> (at % 2 * 4) & 15;
}

struct nbits {
  int64_t k, n, bits, block, blocks;
  const struct tensor *b, *scales, *zeros; /* zeros NULL: the middle of the range */
};

/* The codes [n, k] less `middle`, the zero point that `to` has not; 4 bits: two per byte. */
static void put_codes(const struct nbits *w, int64_t middle, uint8_t *to) {
  for (int64_t j = 0; j < w->n; j++)
    for (int64_t i = 0; i < w->k; i++) {
      int64_t at = j * w->k + i;
      uint8_t x = (uint8_t)(code_at(w->b, w->bits, w->blocks * w->block, j, i) - middle);
      if (w->bits == 8)
        to[at] = x;
      else
        to[at / 2] |= (uint8_t)((x & 15) << (at % 2 * 4));
    }
}

/* The same elements as [n, k] of 4 or 8 bits. Zero points at the middle of the range make them
 * signed, without zero points. */
static struct value *nbits_product(struct graph_builder *e, struct value *a,
                                   const struct nbits *w) {
  const struct tensor *q, *scales, *zeros = NULL;
  struct shape shape = {2, {w->n, w->k}}, blocks = {2, {w->n, w->blocks}};
  hone_dtype dtype = w->bits == 4 ? (w->zeros ? HONE_U4 : HONE_I4) : w->zeros ? HONE_U8 : HONE_I8;
  int64_t middle = w->zeros ? 0 : INT64_C(1) << (w->bits - 1);
  struct value *in[3] = {x_constant(e, dtype, &shape, &q),
                         x_constant(e, HONE_F32, &blocks, &scales), NULL};
  if (w->zeros) in[2] = x_constant(e, dtype, &blocks, &zeros);
  if (e->status) return a;
  put_codes(w, middle, tensor_data(q));
  for (int64_t j = 0; j < w->n; j++)
    for (int64_t i = 0; i < w->blocks; i++) {
      const size_t at = (size_t)(j * w->blocks + i);
      tensor_set_f64(scales, at, tensor_f64(w->scales, at));
      if (zeros) tensor_set_i64(zeros, at, code_at(w->zeros, w->bits, w->blocks, j, i));
    }
  x_with_int(e, "block_size", w->block);
  x_with_int(e, "transB", 1);
  return x_op(e, OP_MatMulWeights, (struct value *[]){a, in[0], in[1], in[2]}, w->zeros ? 4 : 3);
}

/* True if there are few rows, or may be with dynamic dimensions, and the weights are large enough to
 * stay quantised, as in the pass keep-weights; scales may be negative here. */
static bool stays_small(const struct graph *graph, const struct value *a, int64_t k, int64_t n) {
  int64_t elements;
  return a->dtype == HONE_F32 && a->shape.rank > 1 && shape_count(&a->shape, &elements) &&
         (graph_is_open(graph) || elements <= 16 * k) && k * n >= 4096;
}

/* Repeats one number per block for each of its elements, [n, blocks * block]; g_idx gives the block
 * of each row. */
static struct value *of_blocks(struct graph_builder *e, struct value *x, int64_t n, int64_t blocks,
                               int64_t block) {
  struct value *index = x_in(e, 4);
  x = x_reshape(e, x, (int64_t[]){n, blocks}, 2);
  if (index) return x_pad(e, x_gather(e, x, index, 1), 1, 0, blocks * block - index->shape.dims[0]);
  x = x_expand(e, x_unsqueeze(e, x, 2), &(struct shape){3, {n, blocks, block}});
  return x_reshape(e, x, (int64_t[]){n, blocks * block}, 2);
}

void expand_matmul_nbits(struct graph_builder *e) {
  struct value *a = x_in(e, 0), *b = x_in(e, 1), *scales = x_in(e, 2), *zeros = x_in(e, 3);
  int64_t k = x_int(e, "K", 0), n = x_int(e, "N", 0), bits = x_int(e, "bits", 4);
  int64_t block = x_int(e, "block_size", 32), count = 0;
  bool known = k > 0 && n > 0 && block >= 16 && k < 1 << 24 && n < 1 << 24 && block < 1 << 16;
  int64_t blocks = known ? (k + block - 1) / block : 1;
  if (bits != 2 && bits != 4 && bits != 8)
    x_fail(e, HONE_E_UNSUP, "MatMulNBits of %lld bits", (long long)bits);
  if (x_int(e, "weight_prepacked", 0)) x_fail(e, HONE_E_UNSUP, "MatMulNBits with weight_prepacked");
  if (e->status) return;
  if (!known || b->dtype != HONE_U8 || !shape_count(&b->shape, &count) ||
      count != n * blocks * block * bits / 8 || !shape_count(&scales->shape, &count) ||
      count != n * blocks)
    x_fail(e, HONE_E_SHAPE, "weights or scales do not fit K %lld, N %lld", (long long)k,
           (long long)n);
  if (e->status) return;
  bool plain_zeros = !zeros || (zeros->constant && zeros->dtype == HONE_U8);
  if (stays_small(e->graph, a, k, n) && bits > 2 && !x_in(e, 4) && b->constant &&
      scales->constant && scales->dtype == HONE_F32 && plain_zeros && block <= k) {
    struct nbits w = {
        k, n, bits, block, blocks, b->constant, scales->constant, zeros ? zeros->constant : NULL};
    x_out(e, 0, sum_of(e, nbits_product(e, a, &w), x_in(e, 5)));
    return;
  }
  hone_dtype dtype = scales->dtype;
  b = x_reshape(e, b, (int64_t[]){n, blocks * block * bits / 8}, 2);
  b = x_cast(e, unpacked(e, b, bits, blocks * block), dtype);
  struct value *zero = x_scalar(e, dtype, (double)(1 << (bits - 1)));
  if (zeros && zeros->dtype == HONE_U8) {
    zero = x_reshape(e, zeros, (int64_t[]){n, (blocks * bits + 7) / 8}, 2);
    zero = x_cast(e, unpacked(e, zero, bits, blocks), dtype);
  } else if (zeros) {
    zero = zeros;
  }
  b = x_reshape(e, b, (int64_t[]){n, blocks * block}, 2);
  scales = of_blocks(e, scales, n, blocks, block);
  if (zeros) zero = of_blocks(e, zero, n, blocks, block);
  b = x_slice(e, x_2(e, OP_Mul, x_2(e, OP_Sub, b, zero), scales), 1, 0, k);
  struct value *y = x_2(e, OP_MatMul, a, x_cast(e, x_swap(e, b, 0, 1), a->dtype));
  x_out(e, 0, sum_of(e, y, x_in(e, 5)));
}

/* Gathers rows of a table in blocks of 4 or 8 bits: data, indices, scales, zero points. */
void expand_gather_block_quantized(struct graph_builder *e) {
  struct value *data = x_in(e, 0), *index = x_in(e, 1), *scales = x_in(e, 2), *zeros = x_in(e, 3);
  int64_t bits = x_int(e, "bits", 4), block = x_int(e, "block_size", 128), count = 0;
  int64_t axis = x_int(e, "quantize_axis", 1), from = x_int(e, "gather_axis", 0);
  bool in_bytes = data->dtype == HONE_U8;
  if (data->shape.rank != 2 || scales->shape.rank != 2 || (axis != 1 && axis != -1) ||
      (from != 0 && from != -2) || (bits != 4 && bits != 8) || block < 16 || block > 1 << 16) {
    x_fail(e, HONE_E_UNSUP, "GatherBlockQuantized along another axis or with another block size");
    return;
  }
  int64_t width = data->shape.dims[1] * (in_bytes ? 8 / bits : 1), blocks = scales->shape.dims[1];
  struct shape shape = index->shape;
  if (!shape_count(&shape, &count) || (width + block - 1) / block != blocks ||
      shape.rank >= HONE_MAX_RANK) {
    x_fail(e, HONE_E_SHAPE, "scales or indices do not fit %lld columns", (long long)width);
    return;
  }
  index = x_reshape(e, index, &count, 1);
  struct value *x = x_gather(e, data, index, 0);
  if (in_bytes) x = unpacked(e, x, bits, width);
  x = x_pad(e, x_cast(e, x, HONE_F32), 1, 0, blocks * block - width);
  x = x_reshape(e, x, (int64_t[]){count, blocks, block}, 3);
  struct value *zero = in_bytes ? x_scalar(e, HONE_F32, (double)(1 << (bits - 1))) : NULL;
  if (zeros) {
    zero = x_gather(e, zeros, index, 0);
    zero = x_cast(e, in_bytes ? unpacked(e, zero, bits, blocks) : zero, HONE_F32);
    zero = x_unsqueeze(e, zero, 2);
  }
  if (zero) x = x_2(e, OP_Sub, x, zero);
  x = x_2(e, OP_Mul, x, x_unsqueeze(e, x_cast(e, x_gather(e, scales, index, 0), HONE_F32), 2));
  x = x_slice(e, x_reshape(e, x, (int64_t[]){count, blocks * block}, 2), 1, 0, width);
  shape.dims[shape.rank++] = width;
  x_out(e, 0, x_cast(e, x_reshape(e, x, shape.dims, shape.rank), scales->dtype));
}

/* -- DynamicQuantizeLSTM: weights of 8 bits, [directions, columns, 4 hidden] */

static struct value *lstm_weights(struct graph_builder *e, size_t k, size_t scale_at) {
  struct value *x = x_cast(e, x_in(e, k), HONE_F32);
  struct value *scale = x_in(e, scale_at), *zero = x_in(e, scale_at + 1);
  int64_t count = 0, directions = x->shape.dims[0];
  if (x->shape.rank != 3 || !scale || !shape_count(&scale->shape, &count) || directions < 1 ||
      count % directions) {
    x_fail(e, HONE_E_SHAPE, "weights and their scales do not fit together");
    return x;
  }
  int64_t dims[] = {directions, 1, count / directions};
  if (zero) x = x_2(e, OP_Sub, x, x_reshape(e, x_cast(e, zero, HONE_F32), dims, 3));
  return x_swap(e, x_2(e, OP_Mul, x, x_reshape(e, scale, dims, 3)), 1, 2);
}

/* X, W, R, B, lengths, first h and c, P, then scale and zero point of W and R. Weights are
 * dequantised; the inputs stay floats. */
void expand_dynamic_quantize_lstm(struct graph_builder *e) {
  static const char *const kept[] = {"activation_alpha", "activation_beta", "activations", "clip",
                                     "direction",        "hidden_size",     "input_forget"};
  struct value *const in[] = {x_in(e, 0),
                              lstm_weights(e, 1, 8),
                              lstm_weights(e, 2, 10),
                              x_in(e, 3),
                              x_in(e, 4),
                              x_in(e, 5),
                              x_in(e, 6),
                              x_in(e, 7)};
  struct value *out[3];
  for (size_t i = 0; i < COUNT(kept); i++) {
    const struct attribute *a = node_attribute(e->node, kept[i]);
    if (a) e->attributes[e->attribute_count++] = *a;
  }
  x_node(e, OP_LSTM, in, COUNT(in), 3, out);
  for (size_t k = 0; k < 3; k++) x_out(e, k, out[k]);
}

/* -- RotaryEmbedding */

/* input, position ids, cos, sin */
void expand_ms_rotary(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *ids = x_in(e, 1);
  int64_t rows = x->shape.rank == 3 ? x->shape.dims[1] : x->shape.rank == 4 ? x->shape.dims[2] : 0;
  int64_t heads = x_int(e, "num_heads", 0), turn = x_int(e, "rotary_embedding_dim", 0);
  if (x->shape.rank == 3 && !heads && !e->status) {
    int64_t half = x_in(e, 2)->shape.rank == 2 ? x_in(e, 2)->shape.dims[1] : 0;
    if (half > 0) heads = x->shape.dims[2] / (2 * half);
  }
  int64_t count = 0;
  /* the position of the first token */
  if (shape_count(&ids->shape, &count) && count == 1 && rows != 1) {
    struct shape shape = {2, {x->shape.dims[0], rows}};
    ids = x_2(e, OP_Add, x_range(e, HONE_I64, rows, 0, 1), x_reshape(e, ids, (int64_t[]){1, 1}, 2));
    ids = x_expand(e, ids, &shape);
  }
  x_with_int(e, "interleaved", x_int(e, "interleaved", 0));
  x_with_int(e, "num_heads", heads);
  x_with_int(e, "rotary_embedding_dim", turn);
  double scale = x_float(e, "scale", 1);
  struct value *y =
      x_op(e, OP_RotaryEmbedding, (struct value *[]){x, x_in(e, 2), x_in(e, 3), ids}, 4);
  x_out(e, 0, scale == 1 ? y : x_by(e, OP_Mul, y, scale));
}
