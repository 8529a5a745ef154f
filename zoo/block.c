/* Attention and the transformer block: see block.h. */
#include "block.h"

#include <math.h>

struct value *zoo_dense(struct builder *b, const char *name, struct value *x,
                        const struct dense *dense) {
  if (dense->is_4bit) {
    x = zoo_matmul_4bit(b, name, x, dense->in, dense->out, dense->gain);
  } else {
    struct value *w = zoo_weight(b, zoo_name(b, "%s.weight", name), DIMS(dense->in, dense->out), 0,
                                 sqrt(dense->gain / (double)dense->in));
    x = zoo_op2(b, "MatMul", x, w);
  }
  if (!dense->has_bias) return x;
  return zoo_op2(b, "Add", x,
                 zoo_weight(b, zoo_name(b, "%s.bias", name), DIMS(dense->out), 0, 0.05));
}

struct value *zoo_activate(struct builder *b, enum zoo_activation activation, struct value *x) {
  switch (activation) {
    case ACT_RELU:
      return zoo_op1(b, "Relu", x);
    case ACT_GELU:
      return zoo_gelu(b, x);
    case ACT_GELU_TANH:
      return zoo_gelu_tanh(b, x);
    case ACT_QUICK_GELU:
      return zoo_swish(b, x, 1.702);
    case ACT_SILU:
      return zoo_swish(b, x, 1);
  }
  return NULL;
}

struct value *zoo_norm(struct builder *b, const char *name, struct value *x,
                       const struct block *k) {
  if (k->norm == NORM_RMS) return zoo_rms_norm(b, name, x, k->width, k->epsilon);
  return zoo_layer_norm(b, name, x, k->width, k->epsilon);
}

/* -- attention */

/* q and v [batch, heads, length, depth], k [batch, heads, depth, length] */
static struct value *attend_heads(struct builder *b, const struct attention *a, struct value *q,
                                  struct value *k, struct value *v, struct value *bias) {
  struct value *x = zoo_op2(b, "MatMul", q, k);
  if (!a->is_unscaled) x = zoo_op2(b, "Div", x, zoo_scalar(b, sqrt((double)a->depth)));
  if (bias) x = zoo_op2(b, "Add", x, bias);
  x = zoo_op2(b, "MatMul", zoo_softmax(b, x, -1), v);
  return zoo_merge_heads(b, x, a->batch, a->queries, a->heads * a->depth);
}

struct value *zoo_attend(struct builder *b, const struct attention *a, struct value *q,
                         struct value *k, struct value *v, struct value *bias) {
  q = zoo_split_heads(b, q, a->batch, a->queries, a->heads, a->depth, false);
  k = zoo_split_heads(b, k, a->batch, a->keys, a->heads, a->depth, true);
  v = zoo_split_heads(b, v, a->batch, a->keys, a->heads, a->depth, false);
  return attend_heads(b, a, q, k, v, bias);
}

/* x cos + rotate_half(x) sin: Su et al. 2021 (arXiv:2104.09864), halves as transformers has them. */
static struct value *rotate(const struct stack *s, struct value *x, int64_t depth) {
  struct builder *b = s->b;
  struct value *low = zoo_slice(b, x, 3, 0, depth / 2),
               *high = zoo_slice(b, x, 3, depth / 2, depth);
  struct value *half = zoo_concat(b, 3, (struct value *[]){zoo_op1(b, "Neg", high), low}, 2);
  return zoo_op2(b, "Add", zoo_op2(b, "Mul", x, s->cosine), zoo_op2(b, "Mul", half, s->sine));
}

/* Concatenates the past and returns the result as an output too. x [batch, heads, length, depth] */
static struct value *extend(const struct stack *s, const char *name, const char *kind,
                            struct value *x, int64_t heads, int64_t depth) {
  struct builder *b = s->b;
  if (s->past < 0) return x;
  struct value *past = zoo_input(b, zoo_name(b, "past.%s.%s", name, kind), HONE_F32,
                                 DIMS(s->batch, heads, s->past, depth));
  x = zoo_concat(b, 2, (struct value *[]){past, x}, 2);
  zoo_output(b, zoo_name(b, "present.%s.%s", name, kind), x);
  zoo_open_dimension(b, past, 2, "past");
  zoo_open_dimension(b, x, 2, "total");
  return x;
}

/* Repeats each key head for `times` query heads. */
static struct value *repeat_heads(const struct stack *s, struct value *x, int64_t heads,
                                  int64_t times, int64_t length, int64_t depth) {
  struct builder *b = s->b;
  if (times == 1) return x;
  const int64_t wide[] = {s->batch, heads, times, length < 0 ? 1 : length, depth};
  x = zoo_op2(b, "Unsqueeze", x, zoo_i64(b, 1, (int64_t[]){2}, 1));
  x = zoo_op2(b, "Expand", x, zoo_i64(b, 1, wide, 5));
  return zoo_reshape(b, x, DIMS(s->batch, heads * times, length, depth));
}

static struct value *self_attention(const struct stack *s, const struct block *k, const char *name,
                                    struct value *x) {
  struct builder *b = s->b;
  const int64_t heads = k->width / k->depth, keys = k->key_heads ? k->key_heads : heads;
  const int64_t length = s->length < 0 ? -1 : s->length + (s->past > 0 ? s->past : 0);
  struct attention a = {s->batch, s->length, length, heads, k->depth, k->is_unscaled};
  struct dense query = {k->width, k->width, k->is_unscaled ? 1 / (double)k->depth : 1,
                        k->biases & BIAS_Q, k->is_4bit};
  struct dense key = {k->width, keys * k->depth, 1, k->biases & BIAS_K, k->is_4bit};
  struct dense value = {k->width, keys * k->depth, 1, k->biases & BIAS_V, k->is_4bit};
  struct dense out = {k->width, k->width, k->gain, k->biases & BIAS_OUT, k->is_4bit};
  struct value *at = s->position ? zoo_op2(b, "Add", x, s->position) : x;
  struct value *q = zoo_dense(b, zoo_name(b, "%s.q_proj", name), at, &query);
  struct value *p = zoo_dense(b, zoo_name(b, "%s.k_proj", name), at, &key);
  struct value *v = zoo_dense(b, zoo_name(b, "%s.v_proj", name), x, &value);
  q = zoo_split_heads(b, q, s->batch, s->length, heads, k->depth, false);
  p = zoo_split_heads(b, p, s->batch, s->length, keys, k->depth, false);
  v = zoo_split_heads(b, v, s->batch, s->length, keys, k->depth, false);
  if (s->cosine) {
    q = rotate(s, q, k->depth);
    p = rotate(s, p, k->depth);
  }
  p = extend(s, name, "key", p, keys, k->depth);
  v = extend(s, name, "value", v, keys, k->depth);
  p = zoo_transpose(b, repeat_heads(s, p, keys, heads / keys, length, k->depth), DIMS(0, 1, 3, 2));
  v = repeat_heads(s, v, keys, heads / keys, length, k->depth);
  return zoo_dense(b, zoo_name(b, "%s.out_proj", name), attend_heads(b, &a, q, p, v, s->mask),
                   &out);
}

static struct value *cross_attention(const struct stack *s, const struct block *k, const char *name,
                                     struct value *x) {
  struct builder *b = s->b;
  struct attention a = {s->batch, s->length,     s->memory_length, k->width / k->depth,
                        k->depth, k->is_unscaled};
  struct dense query = {k->width, k->width, k->is_unscaled ? 1 / (double)k->depth : 1,
                        k->biases & BIAS_Q, k->is_4bit};
  struct dense key = {k->memory_width, k->width, 1, k->biases & BIAS_K, k->is_4bit};
  struct dense value = {k->memory_width, k->width, 1, k->biases & BIAS_V, k->is_4bit};
  struct dense out = {k->width, k->width, k->gain, k->biases & BIAS_OUT, k->is_4bit};
  struct value *from = s->memory;
  if (s->position) x = zoo_op2(b, "Add", x, s->position);
  if (s->memory_position) from = zoo_op2(b, "Add", from, s->memory_position);
  struct value *q = zoo_dense(b, zoo_name(b, "%s.q_proj", name), x, &query);
  struct value *p = zoo_dense(b, zoo_name(b, "%s.k_proj", name), from, &key);
  struct value *v = zoo_dense(b, zoo_name(b, "%s.v_proj", name), s->memory, &value);
  return zoo_dense(b, zoo_name(b, "%s.out_proj", name), zoo_attend(b, &a, q, p, v, NULL), &out);
}

/* -- the block */

static struct value *feed_forward(const struct stack *s, const struct block *k, const char *name,
                                  struct value *x) {
  struct builder *b = s->b;
  struct dense up = {k->width, k->inner, 1, k->biases & BIAS_MLP, k->is_4bit};
  struct dense down = {k->inner, k->width, 2 * k->gain, k->biases & BIAS_MLP, k->is_4bit};
  struct value *y = zoo_dense(b, zoo_name(b, "%s.fc1", name), x, &up);
  y = zoo_activate(b, k->activation, y);
  if (k->is_gated) y = zoo_op2(b, "Mul", y, zoo_dense(b, zoo_name(b, "%s.up", name), x, &up));
  return zoo_dense(b, zoo_name(b, "%s.fc2", name), y, &down);
}

typedef struct value *branch_fn(const struct stack *s, const struct block *k, const char *name,
                                struct value *x);

static struct value *residual(const struct stack *s, const struct block *k, branch_fn *branch,
                              const char *name, struct value *x) {
  struct builder *b = s->b;
  const char *norm = zoo_name(b, "%s_norm", name);
  if (k->is_post_norm) return zoo_norm(b, norm, zoo_op2(b, "Add", x, branch(s, k, name, x)), k);
  return zoo_op2(b, "Add", x, branch(s, k, name, zoo_norm(b, norm, x, k)));
}

struct value *zoo_block(const struct stack *s, const struct block *k, const char *name,
                        struct value *x) {
  struct builder *b = s->b;
  x = residual(s, k, self_attention, zoo_name(b, "%s.self_attn", name), x);
  if (k->memory_width) x = residual(s, k, cross_attention, zoo_name(b, "%s.cross_attn", name), x);
  return residual(s, k, feed_forward, zoo_name(b, "%s.mlp", name), x);
}

struct value *zoo_blocks(const struct stack *s, const struct block *k, const char *name,
                         int64_t count, struct value *x) {
  for (int64_t i = 0; i < count; i++)
    x = zoo_block(s, k, zoo_name(s->b, "%s.%lld", name, (long long)i), x);
  return x;
}

/* -- positions, masks, logits */

struct value *zoo_causal_mask(struct builder *b, int64_t length) {
  double *mask;
  if (b->is_counting || b->status) return NULL;
  b->status = NEW_ARRAY(b->ctx, b->graph->arena, mask, (size_t)(length * length));
  if (b->status) return NULL;
  for (int64_t row = 0; row < length; row++)
    for (int64_t column = 0; column < length; column++)
      mask[row * length + column] = column > row ? -0x1.fffffep127 : 0;
  return zoo_table(b, DIMS(1, 1, length, length), mask);
}

struct value *zoo_is_seen(struct builder *b, struct value *position, int64_t total) {
  struct value *mask = zoo_input(b, "attention_mask", HONE_I64, DIMS(b->options.batch, total));
  struct value *count = zoo_op2(b, "CumSum", mask, zoo_i64(b, 0, (int64_t[]){1}, 1));
  struct value *place = zoo_op2(b, "Sub", count, zoo_i64(b, 0, (int64_t[]){1}, 1));
  struct value *is_past =
      zoo_op2(b, "LessOrEqual", zoo_op2(b, "Unsqueeze", place, zoo_i64(b, 1, (int64_t[]){1, 2}, 2)),
              zoo_op2(b, "Unsqueeze", position, zoo_i64(b, 1, (int64_t[]){1, 3}, 2)));
  struct value *is_there = zoo_op2(b, "Greater", mask, zoo_i64(b, 0, (int64_t[]){0}, 1));
  zoo_open_dimension(b, mask, 1, "total");
  return zoo_op2(b, "And", is_past,
                 zoo_op2(b, "Unsqueeze", is_there, zoo_i64(b, 1, (int64_t[]){1, 2}, 2)));
}

struct value *zoo_positions(struct builder *b, const char *name, int64_t rows, int64_t width,
                            int64_t first, int64_t length, double deviation) {
  int64_t *counted;
  struct value *table = zoo_weight(b, name, DIMS(rows, width), 0, deviation);
  zoo_require(b, first + length <= rows, "the model has fewer positions than this sequence");
  if (b->is_counting || b->status) return NULL;
  b->status = NEW_ARRAY(b->ctx, b->graph->arena, counted, (size_t)length);
  if (b->status) return NULL;
  for (int64_t i = 0; i < length; i++) counted[i] = first + i;
  return zoo_gather(b, table, zoo_i64(b, 1, counted, (size_t)length), 0);
}

struct value *zoo_tied_logits(struct builder *b, struct value *x, struct value *embedding,
                              const int64_t *rows, int64_t width, int64_t vocabulary) {
  x = zoo_op2(b, "Gemm", zoo_reshape(b, x, DIMS(-1, width)), embedding);
  zoo_int(b, x, "transB", 1);
  return zoo_reshape(b, x, DIMS(rows[0], rows[1], vocabulary));
}
