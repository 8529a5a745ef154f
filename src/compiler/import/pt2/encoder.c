/* encoder: nn.TransformerEncoderLayer as one operator, which PyTorch exports if gradients are
 * off. */
#include "pt2.h"

#include <math.h>

static hone_status linear(struct pt_op *op, const char *weight, const char *bias,
                          struct value **x) {
  static const int64_t turn[] = {1, 0};
  struct value *w, *b;
  TRY(pt_need(op, weight, &w));
  TRY(pt_need(op, bias, &b));
  if (w->shape.rank != 2) return pt_refuse(op, "with weights of rank %d", w->shape.rank);
  TRY(make_transpose(op->make, w, turn, &w));
  TRY(make_node(op->make, OP_MatMul, VALUES(*x, w), NULL, x));
  return make_node(op->make, OP_Add, VALUES(*x, b), NULL, x);
}

static hone_status norm(struct pt_op *op, const char *weight, const char *bias, struct value **x) {
  struct value *scale, *shift;
  double epsilon;
  TRY(pt_need(op, weight, &scale));
  TRY(pt_need(op, bias, &shift));
  TRY(pt_float(op, "eps", 1e-5, &epsilon));
  return make_node(op->make, OP_LayerNormalization, VALUES(*x, scale, shift),
                   ARGS(INT_ARG("axis", -1), FLOAT_ARG("epsilon", epsilon)), x);
}

/* Hides positions where the mask is not 0: a [query, key] mask (mask_type 0), a per-sequence key
 * mask (1), or both (2). */
static hone_status hide(struct pt_op *op, struct value **scores) {
  struct value *mask, *never;
  int64_t kind;
  TRY(pt_tensor(op, "mask", &mask));
  TRY(pt_int(op, "mask_type", 0, &kind));
  if (!mask) return HONE_OK;
  const int64_t dims[] = {mask->shape.dims[0], 1, 1, mask->shape.dims[1]};
  if (kind == 1 && mask->shape.rank != 2)
    return pt_refuse(op, "with a mask of rank %d", mask->shape.rank);
  if (kind == 1) TRY(make_reshape(op->make, mask, dims, 4, &mask));
  TRY(make_cast(op->make, mask, HONE_BOOL, &mask));
  TRY(make_scalar(op->make, (*scores)->dtype, -INFINITY, &never));
  return make_node(op->make, OP_Where, VALUES(mask, never, *scores), NULL, scores);
}

/* x [batch, positions, width], with this number of heads. */
static hone_status attend(struct pt_op *op, int64_t heads, struct value **x) {
  static const int64_t apart[] = {0, 2, 1, 3}, turned[] = {0, 2, 3, 1};
  struct value *part[3], *y;
  const int64_t *d = (*x)->shape.dims;
  const int64_t dims[] = {d[0], d[1], heads, d[2] / heads}, joined[] = {d[0], d[1], d[2]};
  TRY(linear(op, "qkv_weight", "qkv_bias", x));
  TRY(make_nodes(op->make, OP_Split, VALUES(*x),
                 ARGS(INT_ARG("axis", 2), INT_ARG("num_outputs", 3)), 3, part));
  for (size_t k = 0; k < COUNT(part); k++) {
    TRY(make_reshape(op->make, part[k], dims, 4, &part[k]));
    TRY(make_transpose(op->make, part[k], k == 1 ? turned : apart, &part[k]));
  }
  TRY(make_node(op->make, OP_MatMul, VALUES(part[0], part[1]), NULL, &y));
  TRY(make_with_scalar(op->make, OP_Mul, y, 1 / sqrt((double)dims[3]), &y));
  TRY(hide(op, &y));
  TRY(make_node(op->make, OP_Softmax, VALUES(y), ARGS(INT_ARG("axis", -1)), &y));
  TRY(make_node(op->make, OP_MatMul, VALUES(y, part[2]), NULL, &y));
  TRY(make_transpose(op->make, y, apart, &y));
  TRY(make_reshape(op->make, y, joined, 3, x));
  return linear(op, "proj_weight", "proj_bias", x);
}

static hone_status feed_forward(struct pt_op *op, struct value **x) {
  int64_t is_gelu;
  TRY(pt_int(op, "use_gelu", 0, &is_gelu));
  TRY(linear(op, "ffn_weight_1", "ffn_bias_1", x));
  TRY(make_node(op->make, is_gelu ? OP_Gelu : OP_Relu, VALUES(*x), NULL, x));
  return linear(op, "ffn_weight_2", "ffn_bias_2", x);
}

/* x + attend(x), then x + feed_forward(x); each sum normalised, or (norm_first) each input. */
hone_status build_encoder_layer(struct pt_op *op) {
  struct value *x, *y;
  int64_t heads, width, is_first;
  TRY(pt_need(op, "src", &x));
  TRY(pt_int(op, "num_heads", 1, &heads));
  TRY(pt_int(op, "embed_dim", 0, &width));
  TRY(pt_int(op, "norm_first", 0, &is_first));
  if (x->shape.rank != 3 || x->shape.dims[2] != width || heads < 1 || width % heads)
    return pt_refuse(op, "of this size");
  for (int part = 0; part < 2; part++) {
    const char *weight = part ? "norm_weight_2" : "norm_weight_1";
    const char *bias = part ? "norm_bias_2" : "norm_bias_1";
    y = x;
    if (is_first) TRY(norm(op, weight, bias, &y));
    TRY(part ? feed_forward(op, &y) : attend(op, heads, &y));
    TRY(make_node(op->make, OP_Add, VALUES(y, x), NULL, &x));
    if (!is_first) TRY(norm(op, weight, bias, &x));
  }
  return pt_result(op, 0, x);
}
