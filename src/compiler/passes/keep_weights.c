/* keep-weights: MatMul | Gemm with DequantizeLinear of constant weights of 4 or 8 bits becomes
 * hone.MatMulWeights, which reads them unconverted. It does so with at most 16 rows, where matmuls are
 * memory-bound and f32 weights would be four to eight times the bytes; with dynamic dimensions, where
 * there may be as few rows; and with any number of rows if activations may be rounded, where int8
 * products are about as fast or faster (512 rows, Zen 5: 1.4 times with VNNI, equal with AVX2 and 4
 * bits, 0.8 with AVX2 and 8 bits). Minima of blocks, which GGUF adds as a product with sums over
 * blocks, become its input.
 */
#include "rewrite.h"

enum { MOST_ROWS = 16, LEAST_WEIGHTS = 4096 };

/* The weights [k, n], or [n, k] if `turned`, with one scale (and zero point) per `block` of k. */
struct weights {
  struct value *q, *scale, *zero;
  int64_t k, n, block, digits;
  bool turned, blocked; /* blocked: scale has one element per block */
};

static bool is_small(hone_dtype dtype) {
  return dtype_is_byte(dtype) || dtype == HONE_U4 || dtype == HONE_I4;
}

static bool read_weights(const struct value *value, bool turned, struct weights *w) {
  const struct node *node = producer_of(value, OP_DequantizeLinear);
  if (!node || value->dtype != HONE_F32 || value->shape.rank != 2) return false;
  struct value *q = node->inputs[0], *scale = node->inputs[1], *zero = node_input(node, 2);
  if (!q->constant || !scale->constant || (zero && !zero->constant) || !is_small(q->dtype) ||
      scale->dtype != HONE_F32)
    return false;
  int64_t block = node_int(node, "block_size", 0), axis = node_int(node, "axis", 1);
  if (axis < 0) axis += 2;
  *w = (struct weights){.q = q,
                        .scale = scale,
                        .zero = zero,
                        .k = q->shape.dims[turned],
                        .n = q->shape.dims[!turned],
                        .digits = node_int(node, "a_digits", 0) == 2 ? 2 : 0,
                        .turned = turned,
                        .blocked = block > 0};
  w->block = block > 0 ? block : w->k;
  if (w->block < 1 || w->block > w->k || w->k * w->n < LEAST_WEIGHTS) return false;
  if (dtype_bits(q->dtype) == 4 && w->block % 2 && w->block != w->k) return false;
  if (w->blocked) return axis == (turned ? 1 : 0);
  return tensor_count(scale->constant) == 1 || axis == (turned ? 0 : 1);
}

/* One element per block and column, from `from`, which has one, or one per column if they are not blocked. */
static hone_status element_of_blocks(struct rewrite *r, const struct weights *w, struct value *from,
                                     struct value **out) {
  *out = from;
  if (w->blocked) return HONE_OK;
  struct shape shape = {2, {w->n, w->n}};
  shape.dims[w->turned] = 1;
  TRY(rewrite_constant(r, from->dtype, &shape, out));
  const bool is_one = tensor_count(from->constant) == 1;
  for (size_t n = 0; n < (size_t)w->n; n++)
    if (from->dtype == HONE_F32)
      tensor_set_f64((*out)->constant, n, tensor_f64(from->constant, is_one ? 0 : n));
    else
      tensor_set_i64((*out)->constant, n, tensor_i64(from->constant, is_one ? 0 : n));
  return HONE_OK;
}

static bool is_all_zero(const struct value *x) {
  for (size_t i = 0; x && i < tensor_count(x->constant); i++)
    if (tensor_i64(x->constant, i)) return false;
  return true;
}

/* The value whose sums over blocks of the last dimension `sums` has: ReduceSum of a Reshape. */
static const struct value *summed_in_blocks(const struct value *sums, int64_t block) {
  const struct node *sum = producer_of(sums, OP_ReduceSum);
  const struct node *parts = sum ? producer_of(sum->inputs[0], OP_Reshape) : NULL;
  const struct value *axes = sum ? node_input(sum, 1) : NULL;
  if (!parts || !axes || !axes->constant || node_int(sum, "keepdims", 1)) return NULL;
  const struct shape *shape = &parts->outputs[0]->shape;
  const bool is_last = tensor_count(axes->constant) == 1 && shape->rank == 3 &&
                       (tensor_i64(axes->constant, 0) == 2 || tensor_i64(axes->constant, 0) == -1);
  return is_last && shape->dims[2] == block ? parts->inputs[0] : NULL;
}

/* The Gemm that adds minima [n, blocks] times the sums over the blocks of a; NULL: another one. */
static struct value *minima_of(const struct node *product, const struct node *gemm) {
  const struct value *a = product->inputs[0];
  const int64_t block = node_int(product, "block_size", 0);
  struct value *minima = gemm->inputs[1];
  if (product->input_count > 3 || node_input(gemm, 2) || !node_int(gemm, "transB", 0) ||
      node_int(gemm, "transA", 0) || node_float(gemm, "alpha", 1) != 1 || a->shape.rank != 2)
    return NULL;
  const struct shape *scales = &product->inputs[2]->shape;
  const bool fits = minima->constant && minima->dtype == HONE_F32 && minima->shape.rank == 2 &&
                    node_int(product, "transB", 0) && shape_equal(&minima->shape, scales) &&
                    a->shape.dims[1] % block == 0;
  return fits && summed_in_blocks(gemm->inputs[0], block) == a ? minima : NULL;
}

/* in: a, weights, scales, zero points or minima if count is 4. */
static struct value *make_product(struct rewrite *r, struct value *const *in, size_t count,
                                  const struct weights *w) {
  x_with_int(r->b, "block_size", w->block);
  if (w->digits) x_with_int(r->b, "a_digits", w->digits);
  if (w->turned) x_with_int(r->b, "transB", 1);
  return x_op(r->b, OP_MatMulWeights, in, count);
}

/* A product and what the minima of the weights add to it, as one node. */
static hone_status take_minima(struct rewrite *r, struct node *add) {
  for (int k = 0; k < 2; k++) {
    const struct node *product = producer_of(add->inputs[k], OP_MatMulWeights);
    const struct node *gemm = producer_of(add->inputs[!k], OP_Gemm);
    struct value *minima = product && gemm ? minima_of(product, gemm) : NULL;
    if (!minima) continue;
    const struct weights w = {.block = node_int(product, "block_size", 0),
                              .digits = node_int(product, "a_digits", 0),
                              .turned = true};
    struct value *in[] = {product->inputs[0], product->inputs[1], product->inputs[2], minima};
    return rewrite_replace(r, add->outputs[0], make_product(r, in, 4, &w));
  }
  return HONE_OK;
}

static hone_status visit(struct rewrite *r, struct node *node) {
  if (is_op(node, OP_Add)) return take_minima(r, node);
  struct weights w;
  int64_t elements;
  bool gemm = is_op(node, OP_Gemm), turned = gemm && node_int(node, "transB", 0);
  if (!gemm && !is_op(node, OP_MatMul)) return HONE_OK;
  struct value *a = node->inputs[0], *in[4] = {a, node->inputs[1], NULL, NULL}, *bias;
  if (a->dtype != HONE_F32 || a->constant || a->shape.rank < 2 ||
      !shape_count(&a->shape, &elements))
    return HONE_OK;
  bias = gemm ? node_input(node, 2) : NULL;
  if (gemm && (node_int(node, "transA", 0) || node_float(node, "alpha", 1) != 1 ||
               (bias && node_float(node, "beta", 1) != 1)))
    return HONE_OK;
  if (!read_weights(node->inputs[1], turned, &w)) return HONE_OK;
  if (!w.digits && !graph_is_open(r->graph) && elements > MOST_ROWS * w.k) return HONE_OK;
  in[1] = w.q;
  TRY(element_of_blocks(r, &w, w.scale, &in[2]));
  bool has_zero = !is_all_zero(w.zero);
  if (has_zero) TRY(element_of_blocks(r, &w, w.zero, &in[3]));
  struct value *y = make_product(r, in, has_zero ? 4 : 3, &w);
  if (bias) y = x_2(r->b, OP_Add, y, bias);
  return rewrite_replace(r, node->outputs[0], y);
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_keep_weights(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
