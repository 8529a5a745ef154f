/* Encoders with attention: a small pre-norm transformer, ViT-B/16 (torchvision), BERT base
 * (transformers). Queries, keys and values are [batch, length, width]. */
#include "build.h"

#include <math.h>

#define DIMS(...) \
  (int)COUNT(((const int64_t[]){__VA_ARGS__})), (const int64_t[]) { __VA_ARGS__ }

struct attention {
  int64_t batch, length, width, heads;
};

/* softmax(q k^T / sqrt(depth) + mask) v, heads merged again; mask may be NULL. */
static struct value *attend(struct builder *b, const struct attention *a, struct value *q,
                            struct value *k, struct value *v, struct value *mask) {
  int64_t depth = a->width / a->heads;
  q = zoo_split_heads(b, q, a->batch, a->length, a->heads, depth, false);
  k = zoo_split_heads(b, k, a->batch, a->length, a->heads, depth, true);
  v = zoo_split_heads(b, v, a->batch, a->length, a->heads, depth, false);
  struct value *scores = zoo_op2(b, "MatMul", q, k);
  scores = zoo_op2(b, "Div", scores, zoo_scalar(b, sqrt((double)depth)));
  if (mask) scores = zoo_op2(b, "Add", scores, mask);
  struct value *weights = zoo_op1(b, "Softmax", scores);
  if (weights) zoo_int(b, weights, "axis", -1);
  return zoo_merge_heads(b, zoo_op2(b, "MatMul", weights, v), a->batch, a->length, a->width);
}

/* One projection makes queries, keys and values, then splits. */
static struct value *fused_attention(struct builder *b, const char *name, struct value *x,
                                     const struct attention *a, double gain) {
  struct value *parts[3], *in[2];
  in[0] = zoo_project(b, zoo_name(b, "%s.in_proj", name), x, a->width, 3 * a->width, 1);
  in[1] = zoo_i64(b, 1, (int64_t[]){a->width, a->width, a->width}, 3);
  zoo_node(b, "Split", in, 2, parts, 3);
  if (parts[0]) zoo_int(b, parts[0], "axis", -1);
  x = attend(b, a, parts[0], parts[1], parts[2], NULL);
  return zoo_project(b, zoo_name(b, "%s.out_proj", name), x, a->width, a->width, gain);
}

/* The second projection's gain makes up for what GELU takes and scales the residual branch. */
static struct value *mlp(struct builder *b, const char *first, const char *second, struct value *x,
                         int64_t width, double gain) {
  x = zoo_gelu(b, zoo_project(b, first, x, width, 4 * width, 1));
  return zoo_project(b, second, x, 4 * width, width, gain);
}

static struct value *pre_norm_layer(struct builder *b, const char *name, struct value *x,
                                    const struct attention *a, double epsilon, double gain) {
  struct value *y = zoo_layer_norm(b, zoo_name(b, "%s.ln_1", name), x, a->width, epsilon);
  y = fused_attention(b, zoo_name(b, "%s.self_attention", name), y, a, gain);
  x = zoo_op2(b, "Add", x, y);
  y = zoo_layer_norm(b, zoo_name(b, "%s.ln_2", name), x, a->width, epsilon);
  y = mlp(b, zoo_name(b, "%s.mlp.0", name), zoo_name(b, "%s.mlp.3", name), y, a->width, gain);
  return zoo_op2(b, "Add", x, y);
}

void zoo_transformer(struct builder *b, int variant) {
  struct attention a = {b->options.batch, b->options.sequence, 256, 4};
  struct value *x = zoo_input(b, "input", HONE_F32, DIMS(a.batch, a.length, a.width));
  (void)variant;
  for (int i = 0; i < 2; i++) x = pre_norm_layer(b, zoo_name(b, "layers.%d", i), x, &a, 1e-5, 0.5);
  zoo_output(b, "output", zoo_layer_norm(b, "norm", x, a.width, 1e-5));
}

void zoo_vit(struct builder *b, int variant) {
  int64_t batch = b->options.batch;
  struct attention a = {batch, 197, 768, 12};
  struct conv patches = {3, 768, 16, 16, 0, 1, true, 0.5};
  struct value *x = zoo_input(b, "input", HONE_F32, DIMS(batch, 3, 224, 224)), *in[2];
  (void)variant;
  x = zoo_reshape(b, zoo_conv2d(b, "conv_proj", x, &patches), DIMS(batch, 768, 196));
  in[1] = zoo_transpose(b, x, DIMS(0, 2, 1));
  in[0] = zoo_weight(b, "class_token", DIMS(1, 1, 768), 0, 0.7);
  in[0] = zoo_op2(b, "Expand", in[0], zoo_i64(b, 1, (int64_t[]){batch, 1, 768}, 3));
  x = zoo_op2(b, "Concat", in[0], in[1]);
  if (x) zoo_int(b, x, "axis", 1);
  x = zoo_op2(b, "Add", x, zoo_weight(b, "encoder.pos_embedding", DIMS(1, 197, 768), 0, 0.5));
  for (int i = 0; i < 12; i++)
    x = pre_norm_layer(b, zoo_name(b, "encoder.layers.encoder_layer_%d", i), x, &a, 1e-6, 0.1);
  x = zoo_layer_norm(b, "encoder.ln", x, 768, 1e-6);
  x = zoo_op2(b, "Gather", x, zoo_i64(b, 0, (int64_t[]){0}, 1));
  if (x) zoo_int(b, x, "axis", 1);
  zoo_output(b, "output", zoo_linear(b, "heads.head", x, 768, 1000, 1));
}

/* -- BERT ------------------------------------------------------------------------------------- */

static struct value *embed(struct builder *b, const char *name, int64_t rows, struct value *ids) {
  return zoo_op2(b, "Gather", zoo_weight(b, name, DIMS(rows, 768), 0, 0.6), ids);
}

static struct value *embeddings(struct builder *b, struct value *ids, struct value *types) {
  int64_t length = b->options.sequence, positions[512];
  for (int64_t i = 0; i < 512; i++) positions[i] = i;
  struct value *at = zoo_i64(b, 1, positions, (size_t)(length < 512 ? length : 512));
  struct value *x = embed(b, "embeddings.word_embeddings.weight", 30522, ids);
  x = zoo_op2(b, "Add", x, embed(b, "embeddings.token_type_embeddings.weight", 2, types));
  x = zoo_op2(b, "Add", x, embed(b, "embeddings.position_embeddings.weight", 512, at));
  return zoo_layer_norm(b, "embeddings.LayerNorm", x, 768, 1e-12);
}

/* 0 where the mask is 1 and the lowest float where it is 0, [batch, 1, 1, length]. */
static struct value *extended_mask(struct builder *b, struct value *mask) {
  struct value *x = zoo_op2(b, "Unsqueeze", mask, zoo_i64(b, 1, (int64_t[]){1, 2}, 2));
  x = zoo_op1(b, "Cast", x);
  if (x) zoo_int(b, x, "to", HONE_F32);
  x = zoo_op2(b, "Sub", zoo_scalar(b, 1), x);
  return zoo_op2(b, "Mul", x, zoo_scalar(b, -0x1.fffffep127));
}

static struct value *bert_layer(struct builder *b, const char *name, struct value *x,
                                const struct attention *a, struct value *mask) {
  struct value *q = zoo_project(b, zoo_name(b, "%s.attention.self.query", name), x, 768, 768, 1);
  struct value *k = zoo_project(b, zoo_name(b, "%s.attention.self.key", name), x, 768, 768, 1);
  struct value *v = zoo_project(b, zoo_name(b, "%s.attention.self.value", name), x, 768, 768, 1);
  struct value *y = attend(b, a, q, k, v, mask);
  y = zoo_project(b, zoo_name(b, "%s.attention.output.dense", name), y, 768, 768, 1);
  x = zoo_layer_norm(b, zoo_name(b, "%s.attention.output.LayerNorm", name), zoo_op2(b, "Add", y, x),
                     768, 1e-12);
  y = mlp(b, zoo_name(b, "%s.intermediate.dense", name), zoo_name(b, "%s.output.dense", name), x,
          768, 1);
  return zoo_layer_norm(b, zoo_name(b, "%s.output.LayerNorm", name), zoo_op2(b, "Add", y, x), 768,
                        1e-12);
}

void zoo_bert(struct builder *b, int variant) {
  int64_t batch = b->options.batch, length = b->options.sequence;
  struct attention a = {batch, length, 768, 12};
  struct value *ids = zoo_input(b, "input_ids", HONE_I64, DIMS(batch, length));
  struct value *mask = zoo_input(b, "attention_mask", HONE_I64, DIMS(batch, length));
  struct value *types = zoo_input(b, "token_type_ids", HONE_I64, DIMS(batch, length));
  (void)variant;
  if (length > 512)
    b->status = fail(b->ctx, HONE_E_USAGE, place_none(), "BERT has 512 positions at most");
  struct value *x = embeddings(b, ids, types);
  mask = extended_mask(b, mask);
  for (int i = 0; i < 12; i++) x = bert_layer(b, zoo_name(b, "encoder.layer.%d", i), x, &a, mask);
  zoo_output(b, "last_hidden_state", x);
  struct value *first = zoo_op2(b, "Gather", x, zoo_i64(b, 0, (int64_t[]){0}, 1));
  if (first) zoo_int(b, first, "axis", 1);
  zoo_output(b, "pooler_output",
             zoo_op1(b, "Tanh", zoo_linear(b, "pooler.dense", first, 768, 768, 1)));
}
