/* MobileBERT (Sun et al. 2020, arXiv:2004.02984) as in transformers: rows of 512 pass bottlenecks
 * of 128; a scale and a bias replace the norm; the embedding concatenates three words. */
#include "block.h"

#include <math.h>

struct widths {
  int64_t batch, length, wide, narrow;
};

/* x * scale + bias */
static struct value *no_norm(struct builder *b, const char *name, struct value *x, int64_t width,
                             double scale) {
  struct value *w = zoo_weight(b, zoo_name(b, "%s.weight", name), DIMS(width), scale, 0.1 * scale);
  struct value *bias = zoo_weight(b, zoo_name(b, "%s.bias", name), DIMS(width), 0, 0.1);
  return zoo_op2(b, "Add", zoo_op2(b, "Mul", x, w), bias);
}

static struct value *linear(struct builder *b, const char *name, struct value *x, int64_t in,
                            int64_t out, double gain) {
  struct dense dense = {in, out, gain, true, false};
  return zoo_dense(b, name, x, &dense);
}

/* The sum of a branch and its input, projected back to the full width. */
static struct value *rejoin(struct builder *b, const char *name, struct value *x, struct value *y,
                            int64_t width) {
  return no_norm(b, name, zoo_op2(b, "Add", x, y), width, 0.7);
}

static struct value *feed_forward(struct builder *b, const char *name, struct value *x,
                                  const struct widths *w) {
  struct value *y = linear(b, zoo_name(b, "%s.intermediate", name), x, w->narrow, w->wide, 1);
  y = linear(b, zoo_name(b, "%s.output", name), zoo_op1(b, "Relu", y), w->wide, w->narrow, 2);
  return rejoin(b, zoo_name(b, "%s.output.LayerNorm", name), y, x, w->narrow);
}

static struct value *bottleneck(struct builder *b, const char *name, struct value *x,
                                const struct widths *w) {
  x = linear(b, zoo_name(b, "%s.dense", name), x, w->wide, w->narrow, 1);
  return no_norm(b, zoo_name(b, "%s.LayerNorm", name), x, w->narrow, 1);
}

static struct value *layer(struct builder *b, const char *name, struct value *x,
                           const struct widths *w, struct value *mask) {
  enum { DEPTH = 32, FEED_FORWARDS = 4 };
  struct attention a = {w->batch, w->length, w->length, w->narrow / DEPTH, DEPTH, false};
  struct value *y = bottleneck(b, zoo_name(b, "%s.bottleneck.input", name), x, w);
  struct value *shared = bottleneck(b, zoo_name(b, "%s.bottleneck.attention", name), x, w);
  struct value *q = linear(b, zoo_name(b, "%s.query", name), shared, w->narrow, w->narrow, 1);
  struct value *k = linear(b, zoo_name(b, "%s.key", name), shared, w->narrow, w->narrow, 1);
  struct value *v = linear(b, zoo_name(b, "%s.value", name), x, w->wide, w->narrow, 1);
  struct value *at = zoo_attend(b, &a, q, k, v, mask);
  at = linear(b, zoo_name(b, "%s.attention.output", name), at, w->narrow, w->narrow, 1);
  y = rejoin(b, zoo_name(b, "%s.attention.LayerNorm", name), at, y, w->narrow);
  for (int i = 0; i < FEED_FORWARDS; i++)
    y = feed_forward(b, zoo_name(b, "%s.ffn.%d", name, i), y, w);
  y = linear(b, zoo_name(b, "%s.output.bottleneck", name), y, w->narrow, w->wide, 1);
  return rejoin(b, zoo_name(b, "%s.output.LayerNorm", name), y, x, w->wide);
}

/* The previous, own and next row of each position, zeros beyond the ends: [batch, length, 3 *
 * width]. */
static struct value *three_words(struct builder *b, struct value *x, const struct widths *w,
                                 int64_t width) {
  struct value *zeros = zoo_filled(b, DIMS(w->batch, 1, width), 0), *parts[3] = {NULL, x, NULL};
  parts[0] = zoo_concat(b, 1, (struct value *[]){zoo_slice(b, x, 1, 1, w->length), zeros}, 2);
  parts[2] = zoo_concat(b, 1, (struct value *[]){zeros, zoo_slice(b, x, 1, 0, w->length - 1)}, 2);
  return zoo_concat(b, 2, parts, 3);
}

void zoo_mobilebert(struct builder *b, int variant) {
  enum { POSITIONS = 512 };
  const struct widths w = {b->options.batch, b->options.sequence, zoo_width(b, 512, 128),
                           zoo_width(b, 512, 128) / 4};
  struct value *ids = zoo_input(b, "input_ids", HONE_I64, DIMS(w.batch, w.length));
  struct value *mask = zoo_input(b, "attention_mask", HONE_I64, DIMS(w.batch, w.length));
  struct value *types = zoo_input(b, "token_type_ids", HONE_I64, DIMS(w.batch, w.length));
  (void)variant;
  zoo_require(b, w.length > 1, "MobileBERT needs at least two words");
  struct value *words = zoo_weight(b, "embeddings.word_embeddings.weight",
                                   DIMS(b->options.vocabulary, w.narrow), 0, 1);
  struct value *kinds =
      zoo_weight(b, "embeddings.token_type_embeddings.weight", DIMS(2, w.wide), 0, 0.3);
  struct value *x = three_words(b, zoo_gather(b, words, ids, 0), &w, w.narrow);
  x = linear(b, "embeddings.embedding_transformation", x, 3 * w.narrow, w.wide, 1);
  x = zoo_op2(b, "Add", x,
              zoo_positions(b, "embeddings.position_embeddings.weight", POSITIONS, w.wide, 0,
                            w.length, 0.3));
  x = zoo_op2(b, "Add", x, zoo_gather(b, kinds, types, 0));
  x = no_norm(b, "embeddings.LayerNorm", x, w.wide, 1);
  mask = zoo_extended_mask(b, mask);
  for (int64_t i = 0; i < b->options.layers; i++)
    x = layer(b, zoo_name(b, "encoder.layer.%lld", (long long)i), x, &w, mask);
  zoo_output(b, "last_hidden_state", x);
  zoo_output(b, "pooler_output", zoo_gather(b, x, zoo_indices(b, 0, NULL, (int64_t[]){0}), 1));
}
