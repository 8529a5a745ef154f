/* Conformer S, the encoder (Gulati et al. 2020, arXiv:2005.08100): subsampling by 4, then blocks of half a
 * feed-forward part, attention with relative positions (Dai et al. 2019), a convolution module, and the other
 * half. Mel features [batch, frames, 80] to [batch, frames / 4, width]. */
#include "block.h"

#include <math.h>

enum { MELS = 80, DEPTH = 36, KERNEL = 31 };

struct speech {
  struct builder *b;
  int64_t batch, length, width;
  double gain;
};

static struct value *norm(const struct speech *s, const char *name, struct value *x) {
  return zoo_layer_norm(s->b, zoo_name(s->b, "%s.norm", name), x, s->width, 1e-5);
}

/* Adds half of the feed-forward output. */
static struct value *half_step(const struct speech *s, const char *name, struct value *x) {
  struct builder *b = s->b;
  struct dense up = {s->width, 4 * s->width, 1, true, false};
  struct dense down = {4 * s->width, s->width, 8 * s->gain, true, false};
  struct value *y = zoo_dense(b, zoo_name(b, "%s.linear1", name), norm(s, name, x), &up);
  y = zoo_dense(b, zoo_name(b, "%s.linear2", name), zoo_swish(b, y, 1), &down);
  return zoo_op2(b, "Add", x, zoo_op2(b, "Mul", y, zoo_scalar(b, 0.5)));
}

/* Distances from length - 1 down to -(length - 1): alternating sines and cosines, [1, 2 length - 1,
 * width]. */
static struct value *distances(const struct speech *s) {
  struct builder *b = s->b;
  const int64_t rows = 2 * s->length - 1;
  double *out;
  if (b->is_counting || b->status) return NULL;
  b->status = NEW_ARRAY(b->ctx, b->graph->arena, out, (size_t)(rows * s->width));
  if (b->status) return NULL;
  for (int64_t row = 0; row < rows; row++)
    for (int64_t i = 0; i < s->width; i++) {
      double angle =
          (double)(s->length - 1 - row) * pow(1e4, -(double)(i / 2 * 2) / (double)s->width);
      out[row * s->width + i] = i % 2 ? cos(angle) : sin(angle);
    }
  return zoo_table(b, DIMS(1, rows, s->width), out);
}

/* [batch, heads, length, 2 length - 1], columns by distance, to [.., length], columns by key: with
 * a column of zeros in front, each row is one longer than it is read. */
static struct value *shift(const struct speech *s, struct value *x, int64_t heads) {
  struct builder *b = s->b;
  const int64_t length = s->length, columns = 2 * length - 1;
  struct value *zeros = zoo_filled(b, DIMS(s->batch, heads, length, 1), 0);
  x = zoo_concat(b, 3, (struct value *[]){zeros, x}, 2);
  x = zoo_reshape(b, x, DIMS(s->batch, heads, columns + 1, length));
  x = zoo_reshape(b, zoo_slice(b, x, 2, 1, columns + 1), DIMS(s->batch, heads, length, columns));
  return zoo_slice(b, x, 3, 0, length);
}

/* One bias of the queries for content, one for position. */
static struct value *attention(const struct speech *s, const char *name, struct value *x,
                               struct value *positions) {
  struct builder *b = s->b;
  const int64_t heads = s->width / DEPTH, length = s->length;
  struct dense in = {s->width, s->width, 1, true, false}, at = in, out = in;
  at.has_bias = false;
  out.gain = s->gain;
  struct value *y = norm(s, name, x);
  struct value *q = zoo_dense(b, zoo_name(b, "%s.linear_q", name), y, &in);
  struct value *k = zoo_dense(b, zoo_name(b, "%s.linear_k", name), y, &in);
  struct value *v = zoo_dense(b, zoo_name(b, "%s.linear_v", name), y, &in);
  struct value *p = zoo_dense(b, zoo_name(b, "%s.linear_pos", name), positions, &at);
  struct value *what =
      zoo_weight(b, zoo_name(b, "%s.pos_bias_u", name), DIMS(heads, 1, DEPTH), 0, 0.3);
  struct value *where =
      zoo_weight(b, zoo_name(b, "%s.pos_bias_v", name), DIMS(heads, 1, DEPTH), 0, 0.3);
  q = zoo_split_heads(b, q, s->batch, length, heads, DEPTH, false);
  k = zoo_split_heads(b, k, s->batch, length, heads, DEPTH, true);
  v = zoo_split_heads(b, v, s->batch, length, heads, DEPTH, false);
  p = zoo_split_heads(b, p, 1, 2 * length - 1, heads, DEPTH, true);
  struct value *content = zoo_op2(b, "MatMul", zoo_op2(b, "Add", q, what), k);
  struct value *place = zoo_op2(b, "MatMul", zoo_op2(b, "Add", q, where), p);
  y = zoo_op2(b, "Add", content, shift(s, place, heads));
  y = zoo_softmax(b, zoo_op2(b, "Div", y, zoo_scalar(b, sqrt((double)DEPTH))), -1);
  y = zoo_merge_heads(b, zoo_op2(b, "MatMul", y, v), s->batch, length, s->width);
  return zoo_op2(b, "Add", x, zoo_dense(b, zoo_name(b, "%s.linear_out", name), y, &out));
}

static struct value *convolution(const struct speech *s, const char *name, struct value *x) {
  struct builder *b = s->b;
  const int64_t width = s->width;
  struct conv wide = {width, 2 * width, 1, 1, 0, 1, true, 1};
  struct conv deep = {width, width, KERNEL, 1, KERNEL / 2, width, true, 3};
  struct conv last = {width, width, 1, 1, 0, 1, true, 2 * s->gain};
  struct value *parts[2], *y = zoo_transpose(b, norm(s, name, x), DIMS(0, 2, 1));
  y = zoo_conv1d(b, zoo_name(b, "%s.pointwise_conv1", name), y, &wide);
  zoo_split(b, y, 1, (int64_t[]){width, width}, parts, 2);
  y = zoo_op2(b, "Mul", parts[0], zoo_op1(b, "Sigmoid", parts[1]));
  y = zoo_conv1d(b, zoo_name(b, "%s.depthwise_conv", name), y, &deep);
  y = zoo_batch_norm(b, zoo_name(b, "%s.batch_norm", name), y, width, 1e-5, 1);
  y = zoo_conv1d(b, zoo_name(b, "%s.pointwise_conv2", name), zoo_swish(b, y, 1), &last);
  return zoo_op2(b, "Add", x, zoo_transpose(b, y, DIMS(0, 2, 1)));
}

void zoo_conformer(struct builder *b, int variant) {
  const int64_t width = zoo_width(b, 144, DEPTH), frames = b->options.size,
                batch = b->options.batch;
  struct speech s = {b, batch, frames / 4, width, 0.25 / (double)b->options.layers};
  struct conv first = {1, width, 3, 2, 1, 1, true, 1}, second = {width, width, 3, 2, 1, 1, true, 2};
  struct dense enter = {width * MELS / 4, width, 2, true, false};
  struct value *x = zoo_input(b, "features", HONE_F32, DIMS(batch, frames, MELS));
  (void)variant;
  zoo_require(b, frames % 4 == 0, "the frames of Conformer must be a multiple of 4");
  x = zoo_reshape(b, x, DIMS(batch, 1, frames, MELS));
  x = zoo_op1(b, "Relu", zoo_conv2d(b, "subsampling.0", x, &first));
  x = zoo_op1(b, "Relu", zoo_conv2d(b, "subsampling.1", x, &second));
  x = zoo_reshape(b, zoo_transpose(b, x, DIMS(0, 2, 1, 3)),
                  DIMS(batch, s.length, width * MELS / 4));
  x = zoo_dense(b, "subsampling.out", x, &enter);
  struct value *positions = distances(&s);
  for (int64_t i = 0; i < b->options.layers; i++) {
    const char *name = zoo_name(b, "layers.%lld", (long long)i);
    x = half_step(&s, zoo_name(b, "%s.feed_forward1", name), x);
    x = attention(&s, zoo_name(b, "%s.self_attn", name), x, positions);
    x = convolution(&s, zoo_name(b, "%s.conv", name), x);
    x = half_step(&s, zoo_name(b, "%s.feed_forward2", name), x);
    x = norm(&s, name, x);
  }
  zoo_output(b, "encoded", x);
}
