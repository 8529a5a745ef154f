/* Encoder-decoders, as in transformers: T5 small (Raffel et al. 2019, arXiv:1910.10683), mBART
 * large (Liu et al. 2020, arXiv:2001.08210), Whisper tiny (Radford et al. 2022, arXiv:2212.04356)
 * and Distil-Whisper small.en (Gandhi et al. 2023, arXiv:2311.00430). Both sequences at once, to
 * logits of the second. */
#include "block.h"

#include <math.h>

static struct value *token_rows(struct builder *b, const char *name, int64_t length,
                                struct value *embedding) {
  return zoo_gather(b, embedding, zoo_input(b, name, HONE_I64, DIMS(b->options.batch, length)), 0);
}

/* -- T5 */

enum { BUCKETS = 32, FARTHEST = 128 };

/* Half of the buckets are exact, the others logarithmic up to FARTHEST. */
static int64_t bucket_of(int64_t distance, bool is_causal) {
  int64_t count = is_causal ? BUCKETS : BUCKETS / 2, base = 0;
  if (!is_causal && distance > 0) base = count;
  int64_t n = is_causal ? (distance < 0 ? -distance : 0) : (distance < 0 ? -distance : distance);
  int64_t exact = count / 2;
  if (n < exact) return base + n;
  int64_t far = exact + (int64_t)(log((double)n / (double)exact) / log(FARTHEST / (double)exact) *
                                  (double)(count - exact));
  return base + (far < count - 1 ? far : count - 1);
}

/* [1, heads, length, length]: a learned number for each distance and head. */
static struct value *relative_bias(struct builder *b, const char *name, int64_t length,
                                   int64_t heads, bool is_causal) {
  int64_t *buckets;
  struct value *table = zoo_weight(b, name, DIMS(BUCKETS, heads), 0, 0.5);
  if (b->is_counting || b->status) return NULL;
  b->status = NEW_ARRAY(b->ctx, b->graph->arena, buckets, (size_t)(length * length));
  if (b->status) return NULL;
  for (int64_t q = 0; q < length; q++)
    for (int64_t k = 0; k < length; k++) buckets[q * length + k] = bucket_of(k - q, is_causal);
  struct value *x = zoo_gather(b, table, zoo_indices(b, DIMS(length, length), buckets), 0);
  x = zoo_transpose(b, x, DIMS(2, 0, 1));
  return zoo_op2(b, "Unsqueeze", x, zoo_i64(b, 1, (int64_t[]){0}, 1));
}

void zoo_t5(struct builder *b, int variant) {
  const int64_t depth = 64, width = zoo_width(b, 512, depth), heads = width / depth;
  const int64_t batch = b->options.batch, length = b->options.sequence, layers = b->options.layers;
  const int64_t vocabulary = b->options.vocabulary;
  struct block block = {.width = width,
                        .depth = depth,
                        .inner = zoo_width(b, 2048, 32),
                        .epsilon = 1e-6,
                        .gain = 1 / (double)layers,
                        .norm = NORM_RMS,
                        .activation = ACT_RELU,
                        .is_unscaled = true};
  struct stack encoder = {.b = b, .batch = batch, .length = length, .past = -1}, decoder = encoder;
  (void)variant;
  struct value *embedding = zoo_weight(b, "shared.weight", DIMS(vocabulary, width), 0, 1);
  struct value *x = token_rows(b, "input_ids", length, embedding);
  encoder.mask = relative_bias(b, "encoder.relative_attention_bias", length, heads, false);
  x = zoo_blocks(&encoder, &block, "encoder.block", layers, x);
  decoder.memory = zoo_norm(b, "encoder.final_layer_norm", x, &block);
  decoder.memory_length = length;
  x = token_rows(b, "decoder_input_ids", length, embedding);
  decoder.mask = relative_bias(b, "decoder.relative_attention_bias", length, heads, true);
  decoder.mask = zoo_op2(b, "Add", decoder.mask, zoo_causal_mask(b, length));
  block.memory_width = width;
  x = zoo_blocks(&decoder, &block, "decoder.block", layers, x);
  x = zoo_norm(b, "decoder.final_layer_norm", x, &block);
  x = zoo_op2(b, "Mul", x, zoo_scalar(b, 1 / sqrt((double)width)));
  zoo_output(b, "logits",
             zoo_tied_logits(b, x, embedding, (int64_t[]){batch, length}, width, vocabulary));
}

/* -- mBART */

struct side {
  const char *ids, *positions, *embedding_norm;
};

/* Embeddings times sqrt(width), positions from the third row on, a norm. */
static struct value *mbart_rows(struct builder *b, const struct side *side, struct value *embedding,
                                const struct block *block) {
  enum { ROWS = 1026, RESERVED = 2 };
  const int64_t length = b->options.sequence;
  struct value *x = token_rows(b, side->ids, length, embedding);
  x = zoo_op2(b, "Mul", x, zoo_scalar(b, sqrt((double)block->width)));
  x = zoo_op2(b, "Add", x,
              zoo_positions(b, side->positions, ROWS, block->width, RESERVED, length, 0.5));
  return zoo_norm(b, side->embedding_norm, x, block);
}

void zoo_mbart(struct builder *b, int variant) {
  static const struct side source = {"input_ids", "encoder.embed_positions.weight",
                                     "encoder.layernorm_embedding"};
  static const struct side target = {"decoder_input_ids", "decoder.embed_positions.weight",
                                     "decoder.layernorm_embedding"};
  const int64_t depth = 64, width = zoo_width(b, 1024, depth), length = b->options.sequence;
  const int64_t layers = b->options.layers, vocabulary = b->options.vocabulary;
  struct block block = {.width = width,
                        .depth = depth,
                        .inner = zoo_width(b, 4096, 32),
                        .epsilon = 1e-5,
                        .gain = 1 / (double)layers,
                        .activation = ACT_GELU,
                        .biases = BIAS_ALL};
  struct stack encoder = {.b = b, .batch = b->options.batch, .length = length, .past = -1};
  struct stack decoder = encoder;
  (void)variant;
  struct value *embedding =
      zoo_weight(b, "shared.weight", DIMS(vocabulary, width), 0, 1 / sqrt((double)width));
  struct value *x = mbart_rows(b, &source, embedding, &block);
  x = zoo_blocks(&encoder, &block, "encoder.layers", layers, x);
  decoder.memory = zoo_norm(b, "encoder.layer_norm", x, &block);
  decoder.memory_length = length;
  decoder.mask = zoo_causal_mask(b, length);
  block.memory_width = width;
  x = mbart_rows(b, &target, embedding, &block);
  x = zoo_blocks(&decoder, &block, "decoder.layers", layers, x);
  x = zoo_norm(b, "decoder.layer_norm", x, &block);
  zoo_output(
      b, "logits",
      zoo_tied_logits(b, x, embedding, (int64_t[]){encoder.batch, length}, width, vocabulary));
}

/* -- Whisper */

struct listener {
  int64_t width, encoder_layers, decoder_layers;
};
static const struct listener listeners[] = {{384, 4, 4}, {768, 12, 4}};

/* Sines, then cosines, of wave lengths from 2 pi to 10,000 times that: [1500, width]. Kept as a weight. */
static struct value *sinusoids(struct builder *b, int64_t rows, int64_t width, int64_t length) {
  double *x;
  const int64_t half = width / 2;
  b->parameter_count += rows * width;
  b->weight_bytes += length * width * 4;
  zoo_require(b, length <= rows, "Whisper accepts at most 3000 frames");
  if (b->is_counting || b->status) return NULL;
  b->status = NEW_ARRAY(b->ctx, b->graph->arena, x, (size_t)(length * width));
  if (b->status) return NULL;
  for (int64_t row = 0; row < length; row++)
    for (int64_t i = 0; i < half; i++) {
      double angle = (double)row * exp(-log(1e4) / (double)(half - 1) * (double)i);
      x[row * width + i] = sin(angle);
      x[row * width + half + i] = cos(angle);
    }
  struct value *table = zoo_table(b, DIMS(length, width), x);
  if (table) table->name = "encoder.embed_positions.weight";
  return table;
}

/* [batch, 80, frames] -> [batch, frames / 2, width] */
static struct value *hear(struct builder *b, int64_t width) {
  enum { MELS = 80 };
  struct conv first = {MELS, width, 3, 1, 1, 1, true, 1},
              second = {width, width, 3, 2, 1, 1, true, 2};
  struct value *x =
      zoo_input(b, "input_features", HONE_F32, DIMS(b->options.batch, MELS, b->options.size));
  x = zoo_gelu(b, zoo_conv1d(b, "encoder.conv1", x, &first));
  x = zoo_gelu(b, zoo_conv1d(b, "encoder.conv2", x, &second));
  return zoo_transpose(b, x, DIMS(0, 2, 1));
}

void zoo_whisper(struct builder *b, int variant) {
  enum { HEARD = 1500, SAID = 448 };
  const struct listener *l = &listeners[variant];
  const int64_t depth = 64, width = zoo_width(b, l->width, depth), batch = b->options.batch;
  const int64_t vocabulary = b->options.vocabulary;
  struct block block = {.width = width,
                        .depth = depth,
                        .inner = 4 * width,
                        .epsilon = 1e-5,
                        .gain = 1 / (double)b->options.layers,
                        .activation = ACT_GELU,
                        .biases = BIAS_ALL & ~(unsigned)BIAS_K};
  struct stack encoder = {.b = b, .batch = batch, .length = b->options.size / 2, .past = -1};
  struct stack decoder = {.b = b, .batch = batch, .length = b->options.sequence, .past = -1};
  zoo_require(b, b->options.size % 2 == 0, "Whisper needs an even number of frames");
  struct value *x = hear(b, width);
  x = zoo_op2(b, "Add", x, sinusoids(b, HEARD, width, encoder.length));
  x = zoo_blocks(&encoder, &block, "encoder.layers", zoo_layers(b, l->encoder_layers), x);
  decoder.memory = zoo_norm(b, "encoder.layer_norm", x, &block);
  decoder.memory_length = encoder.length;
  decoder.mask = zoo_causal_mask(b, decoder.length);
  block.memory_width = width;
  struct value *embedding =
      zoo_weight(b, "decoder.embed_tokens.weight", DIMS(vocabulary, width), 0, 0.1);
  x = token_rows(b, "decoder_input_ids", decoder.length, embedding);
  x = zoo_op2(
      b, "Add", x,
      zoo_positions(b, "decoder.embed_positions.weight", SAID, width, 0, decoder.length, 0.1));
  x = zoo_blocks(&decoder, &block, "decoder.layers", zoo_layers(b, l->decoder_layers), x);
  x = zoo_norm(b, "decoder.layer_norm", x, &block);
  zoo_output(
      b, "logits",
      zoo_tied_logits(b, x, embedding, (int64_t[]){batch, decoder.length}, width, vocabulary));
}
