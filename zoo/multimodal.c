/* Images and text: CLIP ViT-B/32 (Radford et al. 2021, arXiv:2103.00020) and BLIP-2 with OPT 2.7B
 * (Li et al. 2023, arXiv:2301.12597) as in transformers; Flamingo's resampler and gated
 * cross-attention (Alayrac et al. 2022, arXiv:2204.14198) in a decoder of the size of OPT 125M. */
#include "block.h"

#include <math.h>

/* -- images */

struct eye {
  int64_t patch, size;
  const char *name;
  bool has_bias; /* of the patches */
};

/* One row per patch after a class token, plus positions: [batch, 1 + patches, width]. */
static struct value *see(const struct stack *s, const struct eye *eye, int64_t width) {
  struct builder *b = s->b;
  const int64_t side = eye->size / eye->patch, patches = side * side;
  struct conv cut = {3, width, eye->patch, eye->patch, 0, 1, eye->has_bias, 0.5};
  struct value *x = zoo_input(b, "pixel_values", HONE_F32, DIMS(s->batch, 3, eye->size, eye->size));
  zoo_require(b, eye->size % eye->patch == 0,
              "the image size must be a multiple of the patch size");
  x = zoo_conv2d(b, zoo_name(b, "%s.patch_embedding", eye->name), x, &cut);
  x = zoo_transpose(b, zoo_reshape(b, x, DIMS(s->batch, width, patches)), DIMS(0, 2, 1));
  struct value *token =
      zoo_weight(b, zoo_name(b, "%s.class_embedding", eye->name), DIMS(1, 1, width), 0, 0.7);
  token = zoo_op2(b, "Expand", token, zoo_i64(b, 1, (int64_t[]){s->batch, 1, width}, 3));
  x = zoo_concat(b, 1, (struct value *[]){token, x}, 2);
  return zoo_op2(b, "Add", x,
                 zoo_weight(b, zoo_name(b, "%s.position_embedding", eye->name),
                            DIMS(1, patches + 1, width), 0, 0.5));
}

static struct value *row(struct builder *b, struct value *x, int64_t index) {
  return zoo_gather(b, x, zoo_indices(b, 0, NULL, &index), 1);
}

/* -- CLIP */

static struct value *unit_length(struct builder *b, struct value *x) {
  struct value *length = zoo_op2(b, "ReduceL2", x, zoo_i64(b, 1, (int64_t[]){-1}, 1));
  zoo_int(b, length, "keepdims", 1);
  return zoo_op2(b, "Div", x, length);
}

/* The row of each sequence's largest token, the end token. x [batch, length, width] */
static struct value *end_rows(struct builder *b, struct value *x, struct value *ids,
                              const struct stack *s, int64_t width) {
  int64_t *starts;
  if (b->is_counting || b->status) return NULL;
  b->status = NEW_ARRAY(b->ctx, b->graph->arena, starts, (size_t)s->batch);
  if (b->status) return NULL;
  for (int64_t i = 0; i < s->batch; i++) starts[i] = i * s->length;
  struct value *at = zoo_op1(b, "ArgMax", ids);
  zoo_int(b, at, "axis", 1);
  zoo_int(b, at, "keepdims", 0);
  at = zoo_op2(b, "Add", at, zoo_i64(b, 1, starts, (size_t)s->batch));
  return zoo_gather(b, zoo_reshape(b, x, DIMS(s->batch * s->length, width)), at, 0);
}

static struct value *clip_picture(struct builder *b, const struct block *block, int64_t layers) {
  const struct eye eye = {32, b->options.size, "vision", false};
  const int64_t side = eye.size / eye.patch;
  struct stack s = {.b = b, .batch = b->options.batch, .length = side * side + 1, .past = -1};
  struct value *x = zoo_norm(b, "vision.pre_layrnorm", see(&s, &eye, block->width), block);
  x = zoo_blocks(&s, block, "vision.layers", layers, x);
  return zoo_norm(b, "vision.post_layernorm", row(b, x, 0), block);
}

static struct value *clip_words(struct builder *b, const struct block *block, int64_t layers) {
  enum { POSITIONS = 77 };
  struct stack s = {.b = b, .batch = b->options.batch, .length = b->options.sequence, .past = -1};
  struct value *ids = zoo_input(b, "input_ids", HONE_I64, DIMS(s.batch, s.length));
  struct value *table = zoo_weight(b, "text.token_embedding.weight",
                                   DIMS(b->options.vocabulary, block->width), 0, 0.7);
  struct value *x = zoo_gather(b, table, ids, 0);
  x = zoo_op2(b, "Add", x,
              zoo_positions(b, "text.position_embedding.weight", POSITIONS, block->width, 0,
                            s.length, 0.5));
  s.mask = zoo_causal_mask(b, s.length);
  x = zoo_norm(b, "text.final_layer_norm", zoo_blocks(&s, block, "text.layers", layers, x), block);
  return end_rows(b, x, ids, &s, block->width);
}

void zoo_clip(struct builder *b, int variant) {
  const int64_t layers = b->options.layers, common = zoo_width(b, 512, 32);
  struct block vision = {.width = zoo_width(b, 768, 64),
                         .depth = 64,
                         .inner = 4 * zoo_width(b, 768, 64),
                         .epsilon = 1e-5,
                         .gain = 1 / (double)layers,
                         .activation = ACT_QUICK_GELU,
                         .biases = BIAS_ALL};
  struct block text = vision;
  (void)variant;
  text.width = zoo_width(b, 512, 64);
  text.inner = 4 * text.width;
  struct dense see_to = {vision.width, common, 1, false, false},
               say_to = {text.width, common, 1, false, false};
  struct value *image =
      zoo_dense(b, "visual_projection", clip_picture(b, &vision, layers), &see_to);
  struct value *words = zoo_dense(b, "text_projection", clip_words(b, &text, layers), &say_to);
  image = unit_length(b, image);
  words = unit_length(b, words);
  struct value *scale = zoo_op1(b, "Exp", zoo_weight(b, "logit_scale", 0, NULL, 2.6592, 0.01));
  struct value *logits = zoo_op2(b, "MatMul", image, zoo_transpose(b, words, DIMS(1, 0)));
  zoo_output(b, "logits_per_image", zoo_op2(b, "Mul", logits, scale));
  zoo_output(b, "text_embeds", words);
  zoo_output(b, "image_embeds", image);
}

/* -- BLIP-2 */

enum { QUERIES = 32 };

/* ViT-g/14: [batch, 257, 1408] */
static struct value *blip2_picture(struct builder *b, int64_t width, int64_t *length) {
  const struct eye eye = {14, b->options.size, "vision", true};
  const int64_t side = eye.size / eye.patch, layers = zoo_layers(b, 39);
  struct stack s = {.b = b, .batch = b->options.batch, .length = side * side + 1, .past = -1};
  struct block block = {.width = width,
                        .depth = 88,
                        .inner = zoo_width(b, 6144, 32),
                        .epsilon = 1e-6,
                        .gain = 1 / (double)layers,
                        .activation = ACT_GELU,
                        .biases = BIAS_ALL};
  *length = s.length;
  return zoo_norm(b, "vision.post_layernorm",
                  zoo_blocks(&s, &block, "vision.layers", layers, see(&s, &eye, width)), &block);
}

/* Learned queries attend to the image in every second layer. */
static struct value *blip2_queries(struct builder *b, struct value *picture, int64_t picture_width,
                                   int64_t picture_length, int64_t width) {
  const int64_t layers = zoo_layers(b, 12), batch = b->options.batch;
  struct stack s = {.b = b, .batch = batch, .length = QUERIES, .past = -1};
  struct block block = {.width = width,
                        .depth = 64,
                        .inner = 4 * width,
                        .epsilon = 1e-12,
                        .gain = 1,
                        .activation = ACT_GELU,
                        .is_post_norm = true,
                        .biases = BIAS_ALL};
  s.memory = picture;
  s.memory_length = picture_length;
  struct value *x = zoo_weight(b, "query_tokens", DIMS(1, QUERIES, width), 0, 1);
  x = zoo_op2(b, "Expand", x, zoo_i64(b, 1, (int64_t[]){batch, QUERIES, width}, 3));
  x = zoo_norm(b, "qformer.layernorm", x, &block);
  for (int64_t i = 0; i < layers; i++) {
    block.memory_width = i % 2 ? 0 : picture_width;
    x = zoo_block(&s, &block, zoo_name(b, "qformer.layer.%lld", (long long)i), x);
  }
  return x;
}

/* OPT: a decoder with learned positions from the third row on. x [batch, length, width] */
static struct value *opt(struct builder *b, struct value *x, struct value *embedding,
                         const struct block *block, int64_t length, int64_t layers) {
  enum { ROWS = 2050, RESERVED = 2 };
  const int64_t batch = b->options.batch;
  struct stack s = {.b = b, .batch = batch, .length = length, .past = -1};
  s.mask = zoo_causal_mask(b, length);
  x = zoo_op2(b, "Add", x,
              zoo_positions(b, "decoder.embed_positions.weight", ROWS, block->width, RESERVED,
                            length, 0.1));
  x = zoo_norm(b, "decoder.final_layer_norm", zoo_blocks(&s, block, "decoder.layers", layers, x),
               block);
  return zoo_tied_logits(b, x, embedding, (int64_t[]){batch, length}, block->width,
                         b->options.vocabulary);
}

void zoo_blip2(struct builder *b, int variant) {
  const int64_t sees = zoo_width(b, 1408, 88), asks = zoo_width(b, 768, 64);
  const int64_t width = zoo_width(b, 2560, 80), layers = zoo_layers(b, 32);
  const int64_t length = b->options.sequence;
  struct block block = {.width = width,
                        .depth = 80,
                        .inner = 4 * width,
                        .epsilon = 1e-5,
                        .gain = 1 / (double)layers,
                        .activation = ACT_RELU,
                        .biases = BIAS_ALL};
  struct dense project = {asks, width, 0.1, true, false};
  int64_t picture_length;
  (void)variant;
  struct value *parts[2], *picture = blip2_picture(b, sees, &picture_length);
  parts[0] = zoo_dense(b, "language_projection",
                       blip2_queries(b, picture, sees, picture_length, asks), &project);
  struct value *ids = zoo_input(b, "input_ids", HONE_I64, DIMS(b->options.batch, length));
  struct value *embedding =
      zoo_weight(b, "decoder.embed_tokens.weight", DIMS(b->options.vocabulary, width), 0, 0.1);
  parts[1] = zoo_gather(b, embedding, ids, 0);
  zoo_output(b, "logits",
             opt(b, zoo_concat(b, 1, parts, 2), embedding, &block, QUERIES + length, layers));
}

/* -- Flamingo */

enum { LATENTS = 64, LOOKING = 512, LOOK_DEPTH = 64 };

/* Cross-attention from queries of one width to rows of another, with heads of a third; no
 * biases. */
struct look {
  int64_t batch, queries, query_width, keys, key_width;
  double gain;
};

static struct value *look(struct builder *b, const char *name, const struct look *l,
                          struct value *x, struct value *at) {
  const int64_t inner = zoo_width(b, LOOKING, LOOK_DEPTH);
  struct attention a = {l->batch, l->queries, l->keys, inner / LOOK_DEPTH, LOOK_DEPTH, false};
  struct dense q = {l->query_width, inner, 1, false, false},
               kv = {l->key_width, inner, 1, false, false};
  struct dense out = {inner, l->query_width, l->gain, false, false};
  struct value *p = zoo_dense(b, zoo_name(b, "%s.to_q", name), x, &q);
  struct value *k = zoo_dense(b, zoo_name(b, "%s.to_k", name), at, &kv);
  struct value *v = zoo_dense(b, zoo_name(b, "%s.to_v", name), at, &kv);
  return zoo_dense(b, zoo_name(b, "%s.to_out", name), zoo_attend(b, &a, p, k, v, NULL), &out);
}

static struct value *feed(struct builder *b, const char *name, struct value *x, int64_t width,
                          double gain) {
  struct dense up = {width, 4 * width, 1, false, false},
               down = {4 * width, width, gain, false, false};
  x = zoo_layer_norm(b, zoo_name(b, "%s.norm", name), x, width, 1e-5);
  x = zoo_gelu(b, zoo_dense(b, zoo_name(b, "%s.up", name), x, &up));
  return zoo_dense(b, zoo_name(b, "%s.down", name), x, &down);
}

/* 64 latents attend to an image's rows and to themselves. */
static struct value *resample(struct builder *b, struct value *picture, int64_t rows,
                              int64_t width) {
  const int64_t batch = b->options.batch, layers = zoo_layers(b, 6);
  struct look l = {batch, LATENTS, width, rows + LATENTS, width, 1 / (double)layers};
  struct value *x = zoo_weight(b, "resampler.latents", DIMS(1, LATENTS, width), 0, 1);
  x = zoo_op2(b, "Expand", x, zoo_i64(b, 1, (int64_t[]){batch, LATENTS, width}, 3));
  for (int64_t i = 0; i < layers; i++) {
    const char *name = zoo_name(b, "resampler.layers.%lld", (long long)i);
    struct value *both[2];
    both[0] = zoo_layer_norm(b, zoo_name(b, "%s.norm_media", name), picture, width, 1e-5);
    both[1] = zoo_layer_norm(b, zoo_name(b, "%s.norm_latents", name), x, width, 1e-5);
    x = zoo_op2(b, "Add", x, look(b, name, &l, both[1], zoo_concat(b, 1, both, 2)));
    x = zoo_op2(b, "Add", x, feed(b, zoo_name(b, "%s.mlp", name), x, width, 1 / (double)layers));
  }
  return zoo_layer_norm(b, "resampler.norm", x, width, 1e-5);
}

/* x + tanh(gate) y; the gates are zero at the start of training, here they are half open. */
static struct value *gated_add(struct builder *b, const char *name, struct value *x,
                               struct value *y) {
  struct value *gate = zoo_op1(b, "Tanh", zoo_weight(b, name, DIMS(1), 0.5, 0.05));
  return zoo_op2(b, "Add", x, zoo_op2(b, "Mul", y, gate));
}

static struct value *look_gated(struct builder *b, const char *name, const struct look *l,
                                struct value *x, struct value *media) {
  struct value *y = zoo_layer_norm(b, zoo_name(b, "%s.norm", name), x, l->query_width, 1e-5);
  x = gated_add(b, zoo_name(b, "%s.attn_gate", name), x, look(b, name, l, y, media));
  y = feed(b, zoo_name(b, "%s.mlp", name), x, l->query_width, l->gain);
  return gated_add(b, zoo_name(b, "%s.mlp_gate", name), x, y);
}

void zoo_flamingo(struct builder *b, int variant) {
  const int64_t batch = b->options.batch, rows = b->options.size, length = b->options.sequence;
  const int64_t sees = zoo_width(b, 1024, 64), width = zoo_width(b, 768, 64);
  const int64_t layers = b->options.layers, vocabulary = b->options.vocabulary;
  struct block block = {.width = width,
                        .depth = 64,
                        .inner = 4 * width,
                        .epsilon = 1e-5,
                        .gain = 1 / (double)layers,
                        .activation = ACT_RELU,
                        .biases = BIAS_ALL};
  struct look l = {batch, length, width, LATENTS, sees, 1 / (double)layers};
  struct stack s = {.b = b, .batch = batch, .length = length, .past = -1};
  (void)variant;
  struct value *picture = zoo_input(b, "vision_features", HONE_F32, DIMS(batch, rows, sees));
  struct value *media = resample(b, picture, rows, sees);
  struct value *ids = zoo_input(b, "input_ids", HONE_I64, DIMS(batch, length));
  struct value *embedding = zoo_weight(b, "embed_tokens.weight", DIMS(vocabulary, width), 0, 0.1);
  struct value *x = zoo_gather(b, embedding, ids, 0);
  x = zoo_op2(b, "Add", x, zoo_positions(b, "embed_positions.weight", 2050, width, 2, length, 0.1));
  s.mask = zoo_causal_mask(b, length);
  for (int64_t i = 0; i < layers; i++) {
    x = look_gated(b, zoo_name(b, "gated.%lld", (long long)i), &l, x, media);
    x = zoo_block(&s, &block, zoo_name(b, "layers.%lld", (long long)i), x);
  }
  x = zoo_norm(b, "final_layer_norm", x, &block);
  zoo_output(b, "logits",
             zoo_tied_logits(b, x, embedding, (int64_t[]){batch, length}, width, vocabulary));
}
