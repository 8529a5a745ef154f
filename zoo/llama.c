/* Decoders with rotary positions: Llama 7B (Touvron et al. 2023, arXiv:2302.13971), Llama 3.2 1B
 * and 3B (Grattafiori et al. 2024, arXiv:2407.21783) and DeepSeek-R1's distillation into Qwen2 1.5B
 * (arXiv:2501.12948), as in transformers. The whole prompt, or one more token with the past keys
 * and values as inputs and outputs; weights of the blocks as floats or in 4 bits. */
#include "block.h"

#include <math.h>

/* number of positions for which a model with dynamic dimensions has a rotary table */
enum { OPEN_POSITIONS = 4096 };

struct size {
  int64_t heads, key_heads, inner;
  double theta, epsilon;
  double stretch; /* Llama 3.1's longer wave lengths; 0: none */
  bool is_tied, has_biases;
};
static const struct size sizes[] = {
    {32, 32, 11008, 1e4, 1e-6, 0, false, false}, /* llama_7b */
    {32, 8, 8192, 5e5, 1e-5, 32, true, false},   /* llama_3_2_1b */
    {24, 8, 8192, 5e5, 1e-5, 32, true, false},   /* llama_3_2_3b */
    {12, 2, 8960, 1e4, 1e-6, 0, false, true},    /* deepseek_r1_distill_qwen_1_5b */
};

/* Llama 3.1 divides low frequencies by `stretch`, and interpolates those with wave lengths between
 * a quarter and all of the 8192 positions of its training. */
static double stretched(double frequency, double stretch) {
  const double trained = 8192, low = 1, high = 4, turn = 2 * 3.14159265358979323846;
  double turns = trained * frequency / turn;
  if (stretch <= 0 || turns > high) return frequency;
  if (turns < low) return frequency / stretch;
  double share = (turns - low) / (high - low);
  return (1 - share) * frequency / stretch + share * frequency;
}

/* cos and sin of position times frequency, [rows, depth]; both halves alike. */
static void rotary(struct builder *b, const struct size *s, int64_t rows, int64_t depth,
                   struct value **cosine, struct value **sine) {
  double *c, *d;
  *cosine = *sine = NULL;
  if (b->is_counting || b->status) return;
  b->status = NEW_ARRAY(b->ctx, b->graph->arena, c, (size_t)(rows * depth));
  if (!b->status) b->status = NEW_ARRAY(b->ctx, b->graph->arena, d, (size_t)(rows * depth));
  if (b->status) return;
  for (int64_t i = 0; i < depth; i++) {
    double frequency = pow(s->theta, -(double)(2 * (i % (depth / 2))) / (double)depth);
    frequency = stretched(frequency, s->stretch);
    for (int64_t row = 0; row < rows; row++) {
      c[row * depth + i] = cos((double)row * frequency);
      d[row * depth + i] = sin((double)row * frequency);
    }
  }
  *cosine = zoo_table(b, DIMS(rows, depth), c);
  *sine = zoo_table(b, DIMS(rows, depth), d);
}

/* A token's rotation is gathered by its position, which is an input. */
static struct value *at_position(struct builder *b, struct value *table, struct value *at,
                                 int64_t depth) {
  return zoo_reshape(b, zoo_gather(b, table, at, 0),
                     DIMS(b->options.batch, 1, b->is_open ? -1 : 1, depth));
}

void zoo_llama(struct builder *b, int variant) {
  const struct size *s = &sizes[variant & ZOO_SIZE];
  const bool is_decode = variant & ZOO_DECODE;
  const int64_t depth = b->published.width / s->heads,
                width = zoo_width(b, b->published.width, depth);
  const int64_t heads = width / depth, vocabulary = b->options.vocabulary;
  int64_t keys = s->key_heads * heads / s->heads;
  if (keys < 1) keys = 1;
  struct stack stack = {.b = b, .batch = b->options.batch, .past = -1};
  struct block block = {.width = width,
                        .depth = depth,
                        .inner = zoo_width(b, s->inner, 32),
                        .key_heads = keys,
                        .epsilon = s->epsilon,
                        .gain = 1 / (double)b->options.layers,
                        .norm = NORM_RMS,
                        .activation = ACT_SILU,
                        .is_gated = true,
                        .is_4bit = variant & ZOO_4BIT,
                        .biases = s->has_biases ? BIAS_Q | BIAS_K | BIAS_V : 0};
  zoo_require(b, heads % keys == 0,
              "query heads must be a multiple of the key heads at this width");
  stack.length = is_decode ? 1 : b->options.sequence;
  if (is_decode) stack.past = b->options.past;
  struct value *ids = zoo_input(b, "input_ids", HONE_I64, DIMS(stack.batch, stack.length));
  zoo_open_dimension(b, ids, 1, "sequence");
  const int64_t positions = is_decode ? stack.past + 1 : stack.length;
  rotary(b, s, b->is_open && positions < OPEN_POSITIONS ? OPEN_POSITIONS : positions, depth,
         &stack.cosine, &stack.sine);
  if (is_decode) {
    struct value *at = zoo_input(b, "position_ids", HONE_I64, DIMS(stack.batch, 1));
    zoo_open_dimension(b, at, 1, "sequence");
    if (b->is_open) {
      struct value *is_seen = zoo_is_seen(b, at, positions);
      stack.length = -1;
      stack.mask = zoo_op3(b, "Where", is_seen, zoo_scalar(b, 0), zoo_scalar(b, -0x1.fffffep127));
    }
    stack.cosine = at_position(b, stack.cosine, at, depth);
    stack.sine = at_position(b, stack.sine, at, depth);
  } else {
    stack.mask = zoo_causal_mask(b, stack.length);
  }
  struct value *embedding = zoo_weight(b, "embed_tokens.weight", DIMS(vocabulary, width), 0,
                                       s->is_tied ? 2 / sqrt((double)width) : 0.5);
  struct value *x =
      zoo_blocks(&stack, &block, "layers", b->options.layers, zoo_gather(b, embedding, ids, 0));
  x = zoo_norm(b, "norm", x, &block);
  struct dense head = {width, vocabulary, 1, false, false};
  const int64_t rows[] = {stack.batch, stack.length};
  x = s->is_tied ? zoo_tied_logits(b, x, embedding, rows, width, vocabulary)
                 : zoo_dense(b, "lm_head", x, &head);
  zoo_output(b, "logits", x);
  zoo_open_dimension(b, x, 1, "sequence");
}
