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
  *x = x_2(op->b, OP_MatMul, *x, x_transpose(op->b, w, turn));
  return x_give(op->b, x, x_2(op->b, OP_Add, *x, b));
}

static hone_status norm(struct pt_op *op, const char *weight, const char *bias, struct value **x) {
  struct value *scale, *shift;
  double epsilon;
  TRY(pt_need(op, weight, &scale));
  TRY(pt_need(op, bias, &shift));
  TRY(pt_float(op, "eps", 1e-5, &epsilon));
  return x_give(op->b, x,
                x_args(op->b, OP_LayerNormalization, VALUES(*x, scale, shift),
                       ARGS(INT_ARG("axis", -1), FLOAT_ARG("epsilon", epsilon))));
}

/* Hides positions where the mask is not 0: a [query, key] mask (mask_type 0), a per-sequence key
 * mask (1), or both (2). */
static hone_status hide(struct pt_op *op, struct value **scores) {
  struct value *mask;
  int64_t kind;
  TRY(pt_tensor(op, "mask", &mask));
  TRY(pt_int(op, "mask_type", 0, &kind));
  if (!mask) return HONE_OK;
  const int64_t dims[] = {mask->shape.dims[0], 1, 1, mask->shape.dims[1]};
  if (kind == 1 && mask->shape.rank != 2)
    return pt_refuse(op, "with a mask of rank %d", mask->shape.rank);
  if (kind == 1) mask = x_reshape(op->b, mask, dims, 4);
  return x_give(op->b, scores,
                x_3(op->b, OP_Where, x_cast(op->b, mask, HONE_BOOL),
                    x_scalar(op->b, (*scores)->dtype, -INFINITY), *scores));
}

/* x [batch, positions, width], with this number of heads. */
static hone_status attend(struct pt_op *op, int64_t heads, struct value **x) {
  static const int64_t apart[] = {0, 2, 1, 3}, turned[] = {0, 2, 3, 1};
  struct value *part[3], *y;
  const int64_t *d = (*x)->shape.dims;
  const int64_t dims[] = {d[0], d[1], heads, d[2] / heads}, joined[] = {d[0], d[1], d[2]};
  TRY(linear(op, "qkv_weight", "qkv_bias", x));
  BUILD(op->b, x_nodes(op->b, OP_Split, VALUES(*x),
                       ARGS(INT_ARG("axis", 2), INT_ARG("num_outputs", 3)), 3, part));
  for (size_t k = 0; k < COUNT(part); k++) {
    part[k] = x_reshape(op->b, part[k], dims, 4);
    part[k] = x_transpose(op->b, part[k], k == 1 ? turned : apart);
  }
  BUILD(op->b, y = x_by(op->b, OP_Mul, x_2(op->b, OP_MatMul, part[0], part[1]),
                        1 / sqrt((double)dims[3])));
  TRY(hide(op, &y));
  BUILD(op->b, y = x_transpose(
                   op->b,
                   x_2(op->b, OP_MatMul,
                       x_args(op->b, OP_Softmax, VALUES(y), ARGS(INT_ARG("axis", -1))), part[2]),
                   apart));
  BUILD(op->b, *x = x_reshape(op->b, y, joined, 3));
  return linear(op, "proj_weight", "proj_bias", x);
}

static hone_status feed_forward(struct pt_op *op, struct value **x) {
  int64_t is_gelu;
  TRY(pt_int(op, "use_gelu", 0, &is_gelu));
  TRY(linear(op, "ffn_weight_1", "ffn_bias_1", x));
  BUILD(op->b, *x = x_1(op->b, is_gelu ? OP_Gelu : OP_Relu, *x));
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
    BUILD(op->b, x = x_2(op->b, OP_Add, y, x));
    if (!is_first) TRY(norm(op, weight, bias, &x));
  }
  return pt_result(op, 0, x);
}
