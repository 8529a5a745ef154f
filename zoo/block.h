/* block: attention and the transformer block of common models, configured by a few fields. The
 * differences between descendants of BERT and GPT-2 (norm, position of the norm, activation,
 * biases, positions, shared keys, cross-attention) are fields here, so that a model is a table of
 * blocks. */
#ifndef HONE_ZOO_BLOCK_H
#define HONE_ZOO_BLOCK_H

#include "build.h"

enum zoo_norm { NORM_LAYER, NORM_RMS };
enum zoo_activation { ACT_RELU, ACT_GELU, ACT_GELU_TANH, ACT_QUICK_GELU, ACT_SILU };
enum { BIAS_Q = 1, BIAS_K = 2, BIAS_V = 4, BIAS_OUT = 8, BIAS_MLP = 16, BIAS_ALL = 31 };

struct block {
  int64_t width, depth; /* of the rows; of one head */
  int64_t inner;        /* hidden width of the feed-forward part */
  int64_t key_heads;    /* key heads, shared by groups of query heads; 0: one per query head */
  int64_t memory_width; /* width of the cross-attention memory; 0: none */
  double epsilon;       /* of the norms */
  double gain;          /* variance that each branch adds */
  enum zoo_norm norm;
  enum zoo_activation activation;
  unsigned biases;
  bool is_post_norm; /* the norm follows the sum and does not precede the branch */
  bool is_gated;     /* act(gate) * up, then down */
  bool is_unscaled;  /* T5: scores are not divided by sqrt(depth) */
  bool is_4bit;
};

/* Shared by the blocks of one stack. Values may be NULL. */
struct stack {
  struct builder *b;
  int64_t batch, length;       /* length -1: known only at run time */
  struct value *mask;          /* added to the scores of self-attention */
  struct value *cosine, *sine; /* rotary positions, [.., length, depth] */
  struct value *position;      /* added to the inputs of queries and keys (DETR) */
  int64_t past;                /* number of cached positions; below 0: no cache */
  struct value *memory, *memory_position;
  int64_t memory_length;
};

/* x [.., in] -> [.., out]; gain of the variance. */
struct dense {
  int64_t in, out;
  double gain;
  bool has_bias, is_4bit;
};
struct value *zoo_dense(struct builder *b, const char *name, struct value *x,
                        const struct dense *dense);
struct value *zoo_activate(struct builder *b, enum zoo_activation activation, struct value *x);
struct value *zoo_norm(struct builder *b, const char *name, struct value *x, const struct block *k);

/* softmax(q k^T / sqrt(depth) + bias) v, heads merged again. q [batch, queries, heads * depth], k and v
   [batch, keys, heads * depth]; bias may be NULL. */
struct attention {
  int64_t batch, queries, keys, heads, depth;
  bool is_unscaled;
};
struct value *zoo_attend(struct builder *b, const struct attention *a, struct value *q,
                         struct value *k, struct value *v, struct value *bias);

/* One block, with cross-attention if it has a memory. */
struct value *zoo_block(const struct stack *s, const struct block *k, const char *name,
                        struct value *x);
/* The blocks NAME.0 to NAME.(count - 1). */
struct value *zoo_blocks(const struct stack *s, const struct block *k, const char *name,
                         int64_t count, struct value *x);

/* [1, 1, length, length]: 0 for visible positions, the lowest float for hidden ones. */
struct value *zoo_causal_mask(struct builder *b, int64_t length);
/* The same computed at run time, as bools [batch, 1, length, total]: keys that the new input
 * attention_mask [batch, total] allows and that are not after the token's position, [batch,
 * length]. */
struct value *zoo_is_seen(struct builder *b, struct value *position, int64_t total);
/* 0 where the mask is 1 and the lowest float where it is 0: [batch, length] -> [batch, 1, 1, length] */
struct value *zoo_extended_mask(struct builder *b, struct value *mask);
/* Rows from `first` on of a learned table of positions, [length, width]. */
struct value *zoo_positions(struct builder *b, const char *name, int64_t rows, int64_t width,
                            int64_t first, int64_t length, double deviation);
/* Logits by the transposed embedding, on flattened rows. */
struct value *zoo_tied_logits(struct builder *b, struct value *x, struct value *embedding,
                              const int64_t *rows, int64_t width, int64_t vocabulary);
#endif
