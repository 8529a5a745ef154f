/* Encoders with attention: a small pre-norm transformer, ViT-B/16 (torchvision), BERT base
 * (transformers). Queries, keys and values are [batch, length, width]. */
#include "block.h"

#include <math.h>

/* One projection makes queries, keys and values, then splits. */
static struct value *fused_attention(struct builder *b, const char *name, struct value *x,
                                     const struct attention *a, double gain) {
  const int64_t width = a->heads * a->depth;
  struct value *parts[3];
  x = zoo_project(b, zoo_name(b, "%s.in_proj", name), x, width, 3 * width, 1);
  zoo_split(b, x, -1, (int64_t[]){width, width, width}, parts, 3);
  x = zoo_attend(b, a, parts[0], parts[1], parts[2], NULL);
  return zoo_project(b, zoo_name(b, "%s.out_proj", name), x, width, width, gain);
}

/* The second projection's gain compensates GELU and scales the residual branch. */
static struct value *mlp(struct builder *b, const char *first, const char *second, struct value *x,
                         int64_t width, double gain) {
  x = zoo_gelu(b, zoo_project(b, first, x, width, 4 * width, 1));
  return zoo_project(b, second, x, 4 * width, width, gain);
}

static struct value *pre_norm_layer(struct builder *b, const char *name, struct value *x,
                                    const struct attention *a, double epsilon, double gain) {
  const int64_t width = a->heads * a->depth;
  struct value *y = zoo_layer_norm(b, zoo_name(b, "%s.ln_1", name), x, width, epsilon);
  y = fused_attention(b, zoo_name(b, "%s.self_attention", name), y, a, gain);
  x = zoo_op2(b, "Add", x, y);
  y = zoo_layer_norm(b, zoo_name(b, "%s.ln_2", name), x, width, epsilon);
  y = mlp(b, zoo_name(b, "%s.mlp.0", name), zoo_name(b, "%s.mlp.3", name), y, width, gain);
  return zoo_op2(b, "Add", x, y);
}

void zoo_transformer(struct builder *b, int variant) {
  const int64_t length = b->options.sequence, width = 256;
  struct attention a = {b->options.batch, length, length, 4, 64, false};
  struct value *x = zoo_input(b, "input", HONE_F32, DIMS(a.batch, length, width));
  (void)variant;
  for (int i = 0; i < 2; i++) x = pre_norm_layer(b, zoo_name(b, "layers.%d", i), x, &a, 1e-5, 0.5);
  zoo_output(b, "output", zoo_layer_norm(b, "norm", x, width, 1e-5));
}

void zoo_vit(struct builder *b, int variant) {
  const int64_t batch = b->options.batch, size = b->options.size, side = size / 16;
  const int64_t width = zoo_width(b, 768, 64), length = side * side + 1;
  struct attention a = {batch, length, length, width / 64, 64, false};
  struct conv patches = {3, width, 16, 16, 0, 1, true, 0.5};
  struct value *x = zoo_input(b, "input", HONE_F32, DIMS(batch, 3, size, size)), *in[2];
  (void)variant;
  zoo_require(b, size % 16 == 0, "the image size must be a multiple of the patch size 16");
  x = zoo_reshape(b, zoo_conv2d(b, "conv_proj", x, &patches), DIMS(batch, width, side * side));
  in[1] = zoo_transpose(b, x, DIMS(0, 2, 1));
  in[0] = zoo_weight(b, "class_token", DIMS(1, 1, width), 0, 0.7);
  in[0] = zoo_op2(b, "Expand", in[0], zoo_i64(b, 1, (int64_t[]){batch, 1, width}, 3));
  x = zoo_concat(b, 1, in, 2);
  x = zoo_op2(b, "Add", x, zoo_weight(b, "encoder.pos_embedding", DIMS(1, length, width), 0, 0.5));
  for (int i = 0; i < (int)b->options.layers; i++)
    x = pre_norm_layer(b, zoo_name(b, "encoder.layers.encoder_layer_%d", i), x, &a, 1e-6, 0.1);
  x = zoo_layer_norm(b, "encoder.ln", x, width, 1e-6);
  x = zoo_gather(b, x, zoo_i64(b, 0, (int64_t[]){0}, 1), 1);
  zoo_output(b, "output", zoo_linear(b, "heads.head", x, width, 1000, 1));
}

/* -- BERT */

static struct value *embed(struct builder *b, const char *name, int64_t rows, int64_t width,
                           struct value *ids) {
  return zoo_op2(b, "Gather", zoo_weight(b, name, DIMS(rows, width), 0, 0.6), ids);
}

static struct value *embeddings(struct builder *b, int64_t width, struct value *ids,
                                struct value *types) {
  enum { POSITIONS = 512 };
  struct value *x =
      embed(b, "embeddings.word_embeddings.weight", b->options.vocabulary, width, ids);
  x = zoo_op2(b, "Add", x, embed(b, "embeddings.token_type_embeddings.weight", 2, width, types));
  x = zoo_op2(b, "Add", x,
              zoo_positions(b, "embeddings.position_embeddings.weight", POSITIONS, width, 0,
                            b->options.sequence, 0.6));
  return zoo_layer_norm(b, "embeddings.LayerNorm", x, width, 1e-12);
}

struct value *zoo_extended_mask(struct builder *b, struct value *mask) {
  struct value *x = zoo_op2(b, "Unsqueeze", mask, zoo_i64(b, 1, (int64_t[]){1, 2}, 2));
  x = zoo_op1(b, "Cast", x);
  zoo_int(b, x, "to", HONE_F32);
  x = zoo_op2(b, "Sub", zoo_scalar(b, 1), x);
  return zoo_op2(b, "Mul", x, zoo_scalar(b, -0x1.fffffep127));
}

static struct value *bert_layer(struct builder *b, const char *name, struct value *x,
                                const struct attention *a, struct value *mask) {
  const int64_t width = a->heads * a->depth;
  struct value *q =
      zoo_project(b, zoo_name(b, "%s.attention.self.query", name), x, width, width, 1);
  struct value *k = zoo_project(b, zoo_name(b, "%s.attention.self.key", name), x, width, width, 1);
  struct value *v =
      zoo_project(b, zoo_name(b, "%s.attention.self.value", name), x, width, width, 1);
  struct value *y = zoo_attend(b, a, q, k, v, mask);
  y = zoo_project(b, zoo_name(b, "%s.attention.output.dense", name), y, width, width, 1);
  x = zoo_layer_norm(b, zoo_name(b, "%s.attention.output.LayerNorm", name), zoo_op2(b, "Add", y, x),
                     width, 1e-12);
  y = mlp(b, zoo_name(b, "%s.intermediate.dense", name), zoo_name(b, "%s.output.dense", name), x,
          width, 1);
  return zoo_layer_norm(b, zoo_name(b, "%s.output.LayerNorm", name), zoo_op2(b, "Add", y, x), width,
                        1e-12);
}

void zoo_bert(struct builder *b, int variant) {
  const int64_t batch = b->options.batch, length = b->options.sequence;
  const int64_t depth = 64, width = zoo_width(b, 768, depth);
  struct attention a = {batch, length, length, width / depth, depth, false};
  struct value *ids = zoo_input(b, "input_ids", HONE_I64, DIMS(batch, length));
  struct value *mask = zoo_input(b, "attention_mask", HONE_I64, DIMS(batch, length));
  struct value *types = zoo_input(b, "token_type_ids", HONE_I64, DIMS(batch, length));
  (void)variant;
  zoo_require(b, length <= 512, "BERT has at most 512 positions");
  struct value *x = embeddings(b, width, ids, types);
  mask = zoo_extended_mask(b, mask);
  for (int i = 0; i < (int)b->options.layers; i++)
    x = bert_layer(b, zoo_name(b, "encoder.layer.%d", i), x, &a, mask);
  zoo_output(b, "last_hidden_state", x);
  struct value *first = zoo_gather(b, x, zoo_i64(b, 0, (int64_t[]){0}, 1), 1);
  zoo_output(b, "pooler_output",
             zoo_op1(b, "Tanh", zoo_linear(b, "pooler.dense", first, width, width, 1)));
}
