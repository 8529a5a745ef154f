/* Operators of com.microsoft that optimised exports of ONNX Runtime hold, in terms of ONNX's.
 * Source: docs/ContribOperators.md of ONNX Runtime. */
#include <math.h>

#include "expand.h"

static struct value *sum_of(struct expansion *e, struct value *a, struct value *b) {
  return a && b ? x_2(e, OP_Add, a, b) : a ? a : b;
}

static struct value *gelu(struct expansion *e, struct value *x, bool is_tanh) {
  if (is_tanh) x_with_string(e, "approximate", "tanh");
  return x_1(e, OP_Gelu, x);
}

void expand_bias_gelu(struct expansion *e) {
  struct value *x = sum_of(e, x_in(e, 0), x_in(e, 1));
  x_out(e, 0, gelu(e, x, is_op(e->node, OP_FastGelu)));
}

void expand_quick_gelu(struct expansion *e) {
  x_with_float(e, "alpha", x_float(e, "alpha", 1.702));
  x_out(e, 0, x_1(e, OP_Swish, x_in(e, 0)));
}

void expand_fused_matmul(struct expansion *e) {
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
  x_out(e, 0, alpha == 1 ? y : x_2(e, OP_Mul, y, x_scalar(e, y->dtype, alpha)));
}

/* -- FusedConv ------------------------------------------------------------------------------------ */

static struct value *activated(struct expansion *e, struct value *x) {
  static const struct {
    const char *name;
    enum op_id op;
    const char *parameters[2];
  } rows[] = {{"Relu", OP_Relu, {NULL, NULL}},
              {"Tanh", OP_Tanh, {NULL, NULL}},
              {"Sigmoid", OP_Sigmoid, {NULL, NULL}},
              {"LeakyRelu", OP_LeakyRelu, {"alpha", NULL}},
              {"HardSigmoid", OP_HardSigmoid, {"alpha", "beta"}}};
  const char *name = node_string(e->node, "activation", "");
  const struct attribute *given = node_attribute(e->node, "activation_params");
  if (!*name) return x;
  if (!strcmp(name, "Clip") && given && given->kind == ATTRIBUTE_FLOATS && given->count == 2)
    return x_3(e, OP_Clip, x, x_scalar(e, x->dtype, given->floats[0]),
               x_scalar(e, x->dtype, given->floats[1]));
  for (size_t i = 0; i < COUNT(rows); i++) {
    if (strcmp(rows[i].name, name)) continue;
    for (size_t p = 0; p < 2 && rows[i].parameters[p]; p++)
      if (given && given->kind == ATTRIBUTE_FLOATS && p < given->count)
        x_with_float(e, rows[i].parameters[p], given->floats[p]);
    return x_1(e, rows[i].op, x);
  }
  x_fail(e, HONE_E_UNSUP, "FusedConv with activation \"%s\"", name);
  return x;
}

void expand_fused_conv(struct expansion *e) {
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

/* -- normalisations -------------------------------------------------------------------------------- */

static struct value *normalised(struct expansion *e, struct value *x, struct value *gamma,
                                struct value *beta) {
  x_with_int(e, "axis", -1);
  x_with_float(e, "epsilon", x_float(e, "epsilon", 1e-12));
  return x_op(e, OP_LayerNormalization, (struct value *[]){x, gamma, beta}, beta ? 3 : 2);
}

/* input, skip, gamma, [beta,] bias */
void expand_skip_layer_norm(struct expansion *e) {
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

void expand_simplified_layer_norm(struct expansion *e) {
  x_with_int(e, "axis", x_int(e, "axis", -1));
  x_with_float(e, "epsilon", x_float(e, "epsilon", 1e-5));
  x_out(e, 0, x_2(e, OP_RMSNormalization, x_in(e, 0), x_in(e, 1)));
}

/* ids, segments, word, position and segment tables, gamma, beta, mask, position ids */
void expand_embed_layer_norm(struct expansion *e) {
  struct value *ids = x_in(e, 0), *segments = x_in(e, 1), *positions = x_in(e, 8);
  if (ids->shape.rank != 2) {
    x_fail(e, HONE_E_SHAPE, "ids of rank %d", ids->shape.rank);
    return;
  }
  struct value *x = x_gather(e, x_in(e, 2), ids, 0);
  if (!positions) positions = x_range(e, HONE_I64, ids->shape.dims[1], 0, 1);
  x = x_2(e, OP_Add, x, x_gather(e, x_in(e, 3), positions, 0));
  if (segments && x_in(e, 4)) x = x_2(e, OP_Add, x, x_gather(e, x_in(e, 4), segments, 0));
  x_out(e, 0, normalised(e, x, x_in(e, 5), x_in(e, 6)));
  x_out(e, 2, x);
  if (x_in(e, 7)) /* how many tokens of each row are not padding */
    x_out(e, 1,
          x_reduce(e, OP_ReduceSum, x_cast(e, x_in(e, 7), HONE_I32), (int64_t[]){1}, 1, false));
  else
    x_out(e, 1, x_expand(e, x_scalar(e, HONE_I32, 0), &(struct shape){1, {ids->shape.dims[0]}}));
}

/* -- MatMulNBits: columns of 4 or 8 bits, one scale a block ---------------------------------------- */

/* bytes [n, m] to elements [n, count]: 8 bits as they are, 4 bits low half first. */
static struct value *unpacked(struct expansion *e, struct value *x, int64_t bits, int64_t count) {
  int64_t n = x->shape.dims[0], m = x->shape.dims[1];
  if (bits == 4) {
    struct value *low = x_2(e, OP_BitwiseAnd, x, x_scalar(e, HONE_U8, 15));
    x_with_string(e, "direction", "RIGHT");
    struct value *high = x_2(e, OP_BitShift, x, x_scalar(e, HONE_U8, 4));
    x = x_concat(e, 2, (struct value *[]){x_unsqueeze(e, low, 2), x_unsqueeze(e, high, 2)}, 2);
    x = x_reshape(e, x, (int64_t[]){n, 2 * m}, 2);
  }
  return x_slice(e, x, 1, 0, count);
}

/* Element [block, n] of a table [n, blocks] of 4 (each row begins a byte) or 8 bits. */
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

/* [n, k] to [k, n] with `middle` taken off, in place of the zeros of `to`; 4 bits: two in a byte. */
static void turn_codes(const struct nbits *w, int64_t middle, uint8_t *to) {
  for (int64_t j = 0; j < w->n; j++)
    for (int64_t i = 0; i < w->k; i++) {
      int64_t at = i * w->n + j;
      uint8_t x = (uint8_t)(code_at(w->b, w->bits, w->blocks * w->block, j, i) - middle);
      if (w->bits == 8)
        to[at] = x;
      else
        to[at / 2] |= (uint8_t)((x & 15) << (at % 2 * 4));
    }
}

/* The same elements as [k, n] of 4 or 8 bits. Around the middle they are signed and need no zero
   points. */
static struct value *nbits_product(struct expansion *e, struct value *a, const struct nbits *w) {
  const struct tensor *q, *scales, *zeros = NULL;
  struct shape shape = {2, {w->k, w->n}}, blocks = {2, {w->blocks, w->n}};
  hone_dtype dtype = w->bits == 4 ? (w->zeros ? HONE_U4 : HONE_I4) : w->zeros ? HONE_U8 : HONE_I8;
  int64_t middle = w->zeros ? 0 : INT64_C(1) << (w->bits - 1);
  struct value *in[3] = {x_constant(e, dtype, &shape, &q),
                         x_constant(e, HONE_F32, &blocks, &scales), NULL};
  if (w->zeros) in[2] = x_constant(e, dtype, &blocks, &zeros);
  if (e->status) return a;
  turn_codes(w, middle, tensor_data(q));
  for (int64_t j = 0; j < w->n; j++)
    for (int64_t i = 0; i < w->blocks; i++) {
      tensor_set_f64(scales, (size_t)(i * w->n + j),
                     tensor_f64(w->scales, (size_t)(j * w->blocks + i)));
      if (zeros)
        tensor_set_i64(zeros, (size_t)(i * w->n + j), code_at(w->zeros, w->bits, w->blocks, j, i));
    }
  x_with_int(e, "block_size", w->block);
  return x_op(e, OP_MatMulWeights, (struct value *[]){a, in[0], in[1], in[2]}, w->zeros ? 4 : 3);
}

/* Few rows and weights that are worth it, as for the pass keep-weights; scales may be negative here. */
static bool stays_small(const struct value *a, int64_t k, int64_t n) {
  int64_t elements;
  return a->dtype == HONE_F32 && a->shape.rank > 1 && shape_count(&a->shape, &elements) &&
         elements <= 16 * k && k * n >= 4096;
}

void expand_matmul_nbits(struct expansion *e) {
  struct value *a = x_in(e, 0), *b = x_in(e, 1), *scales = x_in(e, 2), *zeros = x_in(e, 3);
  int64_t k = x_int(e, "K", 0), n = x_int(e, "N", 0), bits = x_int(e, "bits", 4);
  int64_t block = x_int(e, "block_size", 32), count = 0;
  bool known = k > 0 && n > 0 && block >= 16 && k < 1 << 24 && n < 1 << 24 && block < 1 << 16;
  int64_t blocks = known ? (k + block - 1) / block : 1;
  if (x_in(e, 4)) x_fail(e, HONE_E_UNSUP, "MatMulNBits with g_idx");
  if (bits != 4 && bits != 8) x_fail(e, HONE_E_UNSUP, "MatMulNBits of %lld bits", (long long)bits);
  if (!known || b->dtype != HONE_U8 || !shape_count(&b->shape, &count) ||
      count != n * blocks * block * bits / 8 || !shape_count(&scales->shape, &count) ||
      count != n * blocks)
    x_fail(e, HONE_E_SHAPE, "weights or scales do not fit K %lld, N %lld", (long long)k,
           (long long)n);
  if (e->status) return;
  bool plain_zeros = !zeros || (zeros->constant && zeros->dtype == HONE_U8);
  if (stays_small(a, k, n) && b->constant && scales->constant && scales->dtype == HONE_F32 &&
      plain_zeros && block <= k) {
    struct nbits w = {
        k, n, bits, block, blocks, b->constant, scales->constant, zeros ? zeros->constant : NULL};
    x_out(e, 0, sum_of(e, nbits_product(e, a, &w), x_in(e, 5)));
    return;
  }
  hone_dtype dtype = scales->dtype;
  b = x_reshape(e, b, (int64_t[]){n, blocks * block * bits / 8}, 2);
  b = x_cast(e, unpacked(e, b, bits, blocks * block), dtype);
  b = x_reshape(e, b, (int64_t[]){n, blocks, block}, 3);
  struct value *zero = x_scalar(e, dtype, (double)(1 << (bits - 1)));
  if (zeros && zeros->dtype == HONE_U8) {
    zero = x_reshape(e, zeros, (int64_t[]){n, bits == 4 ? (blocks + 1) / 2 : blocks}, 2);
    zero = x_cast(e, unpacked(e, zero, bits, blocks), dtype);
    zero = x_reshape(e, zero, (int64_t[]){n, blocks, 1}, 3);
  } else if (zeros) {
    zero = x_reshape(e, zeros, (int64_t[]){n, blocks, 1}, 3);
  }
  b = x_2(e, OP_Mul, x_2(e, OP_Sub, b, zero), x_reshape(e, scales, (int64_t[]){n, blocks, 1}, 3));
  b = x_slice(e, x_reshape(e, b, (int64_t[]){n, blocks * block}, 2), 1, 0, k);
  struct value *y = x_2(e, OP_MatMul, a, x_cast(e, x_swap(e, b, 0, 1), a->dtype));
  x_out(e, 0, sum_of(e, y, x_in(e, 5)));
}

/* -- MultiHeadAttention ----------------------------------------------------------------------------- */

/* query, key, value [batch, rows, hidden], bias [3 hidden], padding mask, attention bias, past */
void expand_multi_head_attention(struct expansion *e) {
  enum { Q, K, V, BIAS, PADDING, MASK, PAST_KEY, PAST_VALUE };
  struct value *part[3] = {x_in(e, Q), x_in(e, K), x_in(e, V)}, *bias = x_in(e, BIAS);
  int64_t heads = x_int(e, "num_heads", 0), from = 0;
  if (heads < 1 || !part[K] || !part[V] || part[Q]->shape.rank != 3 || part[K]->shape.rank != 3 ||
      part[V]->shape.rank != 3) {
    x_fail(e, HONE_E_UNSUP, "MultiHeadAttention with packed or transposed operands");
    return;
  }
  for (int k = 0; k < 3; k++) {
    int64_t width = part[k]->shape.dims[2];
    if (bias) part[k] = x_2(e, OP_Add, part[k], x_slice(e, bias, 0, from, from + width));
    from += width;
  }
  struct value *mask = x_in(e, MASK), *padding = x_in(e, PADDING);
  if (padding && padding->shape.rank != 2) x_fail(e, HONE_E_UNSUP, "a padding mask of this form");
  if (padding && !e->status) { /* 1: seen, [batch, keys] */
    const int64_t *d = padding->shape.dims;
    hone_dtype dtype = part[Q]->dtype;
    double hidden = x_float(e, "mask_filter_value", -10000);
    struct value *seen = x_cast(e, padding, HONE_BOOL);
    struct value *add = x_3(e, OP_Where, x_reshape(e, seen, (int64_t[]){d[0], 1, 1, d[1]}, 4),
                            x_scalar(e, dtype, 0), x_scalar(e, dtype, hidden));
    mask = sum_of(e, add, mask);
  }
  double scale = x_float(e, "scale", 0);
  if (scale != 0) x_with_float(e, "scale", scale);
  x_with_int(e, "q_num_heads", heads);
  x_with_int(e, "kv_num_heads", heads);
  x_with_int(e, "is_causal", x_int(e, "unidirectional", 0));
  struct value *const in[] = {part[Q], part[K],           part[V],
                              mask,    x_in(e, PAST_KEY), x_in(e, PAST_VALUE)};
  if (e->node->output_count > 1 || x_in(e, PAST_KEY)) {
    x_fail(e, HONE_E_UNSUP, "MultiHeadAttention with a cache");
    return;
  }
  x_out(e, 0, x_op(e, OP_Attention, in, mask ? 4 : 3));
}

/* input, position ids, cos, sin */
void expand_ms_rotary(struct expansion *e) {
  struct value *x = x_in(e, 0), *ids = x_in(e, 1);
  int64_t rows = x->shape.rank == 3 ? x->shape.dims[1] : x->shape.rank == 4 ? x->shape.dims[2] : 0;
  int64_t heads = x_int(e, "num_heads", 0), turn = x_int(e, "rotary_embedding_dim", 0);
  if (x->shape.rank == 3 && !heads && !e->status) {
    int64_t half = x_in(e, 2)->shape.rank == 2 ? x_in(e, 2)->shape.dims[1] : 0;
    if (half > 0) heads = x->shape.dims[2] / (2 * half);
  }
  int64_t count = 0;
  if (shape_count(&ids->shape, &count) && count == 1 && rows != 1) { /* the first one's place */
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
  x_out(e, 0, scale == 1 ? y : x_2(e, OP_Mul, y, x_scalar(e, y->dtype, scale)));
}
