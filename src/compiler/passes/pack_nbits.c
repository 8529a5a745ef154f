/* pack-nbits (exports only): Gemm by the transpose of DequantizeLinear of constant blocks of 4 or 8 bits along k becomes
 * com.microsoft MatMulNBits, whose weights ONNX Runtime reads unconverted. Its elements are unsigned: 8 bits are moved by 128,
 * which is its default zero point; those of 4 bits have the same bytes.
 */
#include "rewrite.h"

struct blocks {
  const struct tensor *q, *scales;
  int64_t n, k, block;
};

static bool read_blocks(const struct node *gemm, struct blocks *out) {
  const struct node *node =
      is_op(gemm, OP_Gemm) ? producer_of(gemm->inputs[1], OP_DequantizeLinear) : NULL;
  if (!node || !node_int(gemm, "transB", 0) || node_input(gemm, 2) || node_input(node, 2))
    return false;
  const struct tensor *q = node->inputs[0]->constant, *scales = node->inputs[1]->constant;
  if (!q || !scales || scales->dtype != HONE_F32 || q->shape.rank != 2) return false;
  *out = (struct blocks){.q = q,
                         .scales = scales,
                         .n = q->shape.dims[0],
                         .k = q->shape.dims[1],
                         .block = node_int(node, "block_size", 0)};
  const bool is_power = out->block >= 16 && !(out->block & (out->block - 1));
  return is_power && out->k % out->block == 0 && node_int(node, "axis", 1) == 1 &&
         (q->dtype == HONE_U4 || q->dtype == HONE_I8);
}

/* [n, blocks, bytes of a block] */
static hone_status pack_elements(struct rewrite *r, const struct blocks *w, int bits,
                                 struct value **out) {
  const struct shape shape = {3, {w->n, w->k / w->block, w->block * bits / 8}};
  TRY(rewrite_constant(r, HONE_U8, &shape, out));
  uint8_t *to = (uint8_t *)(uintptr_t)(*out)->constant->data;
  memcpy(to, w->q->data, w->q->bytes);
  for (size_t i = 0; bits == 8 && i < w->q->bytes; i++) to[i] ^= 0x80;
  return HONE_OK;
}

static hone_status visit(struct rewrite *r, struct node *node) {
  struct blocks w;
  struct node *made;
  if (!read_blocks(node, &w)) return HONE_OK;
  const int bits = (int)dtype_bits(w.q->dtype);
  const struct shape flat = {1, {w.n * (w.k / w.block)}};
  const struct shape zeros = {1, {w.n * ((w.k / w.block + 1) / 2)}};
  struct value *in[4] = {node->inputs[0]};
  TRY(pack_elements(r, &w, bits, &in[1]));
  TRY(rewrite_constant(r, HONE_F32, &flat, &in[2]));
  memcpy((void *)(uintptr_t)in[2]->constant->data, w.scales->data, w.scales->bytes);
  if (bits == 4) TRY(rewrite_constant(r, HONE_U8, &zeros, &in[3])); /* all 0, not 8 */
  TRY(graph_node(r->ctx, r->graph, &op_table[OP_MatMulNBits], in, bits == 4 ? 4 : 3, 1, &made));
  TRY(node_set_int(r->ctx, r->graph, made, "K", w.k));
  TRY(node_set_int(r->ctx, r->graph, made, "N", w.n));
  TRY(node_set_int(r->ctx, r->graph, made, "bits", bits));
  TRY(node_set_int(r->ctx, r->graph, made, "block_size", w.block));
  TRY(node_set_int(r->ctx, r->graph, made, "accuracy_level", 4)); /* activations in 8 bits */
  struct value *result = made->outputs[0]; /* inference would expand the node */
  result->dtype = HONE_F32;
  result->has_shape = true;
  result->shape = node->outputs[0]->shape;
  return rewrite_replace(r, node->outputs[0], result);
}

hone_status pass_pack_nbits(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
