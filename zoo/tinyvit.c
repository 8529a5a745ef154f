/* TinyViT-5M (Wu et al. 2022, arXiv:2207.10666) as in timm: inverted residuals, then attention
 * within windows with a learned bias for each offset, and depthwise convolutions in between. */
#include "block.h"

#include <math.h>
#include <stdlib.h>

struct stage {
  int64_t width, depth, heads;
  int64_t window; /* sides of it in the last stage's */
};
static const struct stage stages[] = {
    {64, 2, 0, 0}, {128, 2, 4, 1}, {160, 6, 5, 2}, {320, 2, 10, 1}};

static struct value *conv_bn(struct builder *b, const char *name, struct value *x,
                             const struct conv *conv, double scale) {
  x = zoo_conv2d(b, zoo_name(b, "%s.conv", name), x, conv);
  return zoo_batch_norm(b, zoo_name(b, "%s.bn", name), x, conv->out, 1e-5, scale);
}

/* 1x1, GELU, depthwise 3x3, GELU, 1x1 */
static struct value *inverted(struct builder *b, const char *name, struct value *x, int64_t in,
                              int64_t expanded, int64_t out, int64_t stride) {
  struct conv first = {in, expanded, 1, 1, 0, 1, false, 1};
  struct conv deep = {expanded, expanded, 3, stride, 1, expanded, false, 2};
  struct conv last = {expanded, out, 1, 1, 0, 1, false, 2};
  x = zoo_gelu(b, conv_bn(b, zoo_name(b, "%s.conv1", name), x, &first, 1));
  x = zoo_gelu(b, conv_bn(b, zoo_name(b, "%s.conv2", name), x, &deep, 1));
  return conv_bn(b, zoo_name(b, "%s.conv3", name), x, &last, 0.7);
}

/* -- attention within windows */

struct windows {
  int64_t batch, side, window, width, heads;
};

/* [1, heads, window^2, window^2] out of [heads, window^2], by |dx| and |dy|. */
static struct value *offsets(struct builder *b, const char *name, const struct windows *w) {
  int64_t *index;
  const int64_t count = w->window * w->window;
  struct value *table = zoo_weight(b, name, DIMS(w->heads, count), 0, 0.3);
  if (b->is_counting || b->status) return NULL;
  b->status = NEW_ARRAY(b->ctx, b->graph->arena, index, (size_t)(count * count));
  if (b->status) return NULL;
  for (int64_t p = 0; p < count; p++)
    for (int64_t q = 0; q < count; q++)
      index[p * count + q] = labs((long)(p / w->window - q / w->window)) * w->window +
                             labs((long)(p % w->window - q % w->window));
  return zoo_gather(b, table, zoo_indices(b, DIMS(count, count), index), 1);
}

/* [batch, side, side, width] <-> [batch * windows, window^2, width] */
static struct value *cut(struct builder *b, struct value *x, const struct windows *w) {
  const int64_t n = w->side / w->window, k = w->window;
  if (n > 1) {
    x = zoo_reshape(b, x, DIMS(w->batch, n, k, n, k, w->width));
    x = zoo_transpose(b, x, DIMS(0, 1, 3, 2, 4, 5));
  }
  return zoo_reshape(b, x, DIMS(w->batch * n * n, k * k, w->width));
}

static struct value *join(struct builder *b, struct value *x, const struct windows *w) {
  const int64_t n = w->side / w->window, k = w->window;
  if (n > 1) {
    x = zoo_reshape(b, x, DIMS(w->batch, n, n, k, k, w->width));
    x = zoo_transpose(b, x, DIMS(0, 1, 3, 2, 4, 5));
  }
  return zoo_reshape(b, x, DIMS(w->batch, w->side, w->side, w->width));
}

static struct value *attention(struct builder *b, const char *name, struct value *x,
                               const struct windows *w, double gain) {
  const int64_t n = w->side / w->window, depth = w->width / w->heads,
                length = w->window * w->window;
  struct attention a = {w->batch * n * n, length, length, w->heads, depth, false};
  struct dense in = {w->width, 3 * w->width, 1, true, false},
               out = {w->width, w->width, gain, true, false};
  struct value *parts[3];
  x = zoo_layer_norm(b, zoo_name(b, "%s.norm", name), cut(b, x, w), w->width, 1e-5);
  x = zoo_dense(b, zoo_name(b, "%s.qkv", name), x, &in);
  zoo_split(b, x, 2, (int64_t[]){w->width, w->width, w->width}, parts, 3);
  x = zoo_attend(b, &a, parts[0], parts[1], parts[2],
                 offsets(b, zoo_name(b, "%s.attention_biases", name), w));
  return join(b, zoo_dense(b, zoo_name(b, "%s.proj", name), x, &out), w);
}

static struct value *mlp(struct builder *b, const char *name, struct value *x, int64_t width,
                         double gain) {
  struct dense up = {width, 4 * width, 1, true, false},
               down = {4 * width, width, 2 * gain, true, false};
  x = zoo_layer_norm(b, zoo_name(b, "%s.norm", name), x, width, 1e-5);
  x = zoo_gelu(b, zoo_dense(b, zoo_name(b, "%s.fc1", name), x, &up));
  return zoo_dense(b, zoo_name(b, "%s.fc2", name), x, &down);
}

/* x [batch, width, side, side] */
static struct value *window_block(struct builder *b, const char *name, struct value *x,
                                  const struct windows *w, double gain) {
  struct conv local = {w->width, w->width, 3, 1, 1, w->width, false, 1};
  const int64_t *const flat = (int64_t[]){w->batch, w->width, w->side * w->side};
  struct value *y = zoo_transpose(b, x, DIMS(0, 2, 3, 1));
  y = zoo_op2(b, "Add", y, attention(b, zoo_name(b, "%s.attn", name), y, w, gain));
  y = zoo_transpose(b, y, DIMS(0, 3, 1, 2));
  y = conv_bn(b, zoo_name(b, "%s.local_conv", name), y, &local, 1);
  y = zoo_transpose(b, zoo_reshape(b, y, 3, flat), DIMS(0, 2, 1));
  y = zoo_op2(b, "Add", y, mlp(b, zoo_name(b, "%s.mlp", name), y, w->width, gain));
  return zoo_reshape(b, zoo_transpose(b, y, DIMS(0, 2, 1)),
                     DIMS(w->batch, w->width, w->side, w->side));
}

static struct value *stage(struct builder *b, int i, struct value *x, int64_t side) {
  const struct stage *s = &stages[i];
  struct windows w = {b->options.batch, side, s->window * b->options.size / 32, s->width, s->heads};
  if (i)
    x = inverted(b, zoo_name(b, "stages.%d.downsample", i), x, stages[i - 1].width, s->width,
                 s->width, 2);
  for (int64_t k = 0; k < s->depth; k++) {
    const char *name = zoo_name(b, "stages.%d.blocks.%lld", i, (long long)k);
    if (i)
      x = window_block(b, name, x, &w, 0.3);
    else
      x = zoo_gelu(b,
                   zoo_op2(b, "Add", x, inverted(b, name, x, s->width, 4 * s->width, s->width, 1)));
  }
  return x;
}

void zoo_tinyvit(struct builder *b, int variant) {
  const int64_t size = b->options.size, batch = b->options.batch, last = 320;
  struct conv first = {3, 32, 3, 2, 1, 1, false, 1}, second = {32, 64, 3, 2, 1, 1, false, 2};
  struct value *x = zoo_input(b, "input", HONE_F32, DIMS(batch, 3, size, size));
  (void)variant;
  zoo_require(b, size % 32 == 0, "TinyViT needs images whose sides are multiples of 32");
  x = zoo_gelu(b, conv_bn(b, "patch_embed.conv1", x, &first, 1));
  x = conv_bn(b, "patch_embed.conv2", x, &second, 1);
  for (int i = 0; i < (int)COUNT(stages); i++) x = stage(b, i, x, size >> (2 + i));
  x = zoo_op1(b, "Flatten", zoo_op1(b, "GlobalAveragePool", x));
  x = zoo_layer_norm(b, "head.norm", x, last, 1e-5);
  zoo_output(b, "output", zoo_linear(b, "head.fc", x, last, 1000, 1));
}
