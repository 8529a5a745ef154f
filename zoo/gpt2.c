/* GPT-2, small and XL, as transformers has it: logits of a whole sequence, or of one more token with the keys and
 * values of the past as inputs and outputs. The embedding is tied to the last layer. */
#include "block.h"

#include <math.h>

enum { DEPTH = 64, POSITIONS = 1024 };

struct decoder {
  struct builder *b;
  int64_t batch, length, past; /* past < 0: no cache */
  int64_t rows;                /* length in shapes: -1 if it is known only at run time */
  int64_t width, heads, layers;
  /* [1, 1, length, length]; with a cache [batch, 1, length, total] or NULL */
  struct value *is_visible;
  struct value *lowest;
};

/* x W + bias on flattened rows, as Conv1D of transformers is exported. */
static struct value *conv1d(const struct decoder *d, const char *name, struct value *x, int64_t in,
                            int64_t out, double gain) {
  struct builder *b = d->b;
  struct value *w =
      zoo_weight(b, zoo_name(b, "%s.weight", name), DIMS(in, out), 0, sqrt(gain / (double)in));
  struct value *bias = zoo_weight(b, zoo_name(b, "%s.bias", name), DIMS(out), 0, 0.05);
  x = zoo_op3(b, "Gemm", zoo_reshape(b, x, DIMS(-1, in)), w, bias);
  return zoo_reshape(b, x, DIMS(d->batch, d->rows, out));
}

/* Concatenates the past and returns the result as an output too; the sequence is axis 2. */
static struct value *extend(const struct decoder *d, int layer, const char *kind,
                            struct value *now) {
  struct builder *b = d->b;
  if (d->past < 0) return now;
  struct value *past = zoo_input(b, zoo_name(b, "past_key_values.%d.%s", layer, kind), HONE_F32,
                                 DIMS(d->batch, d->heads, d->past, DEPTH));
  now = zoo_op2(b, "Concat", past, now);
  if (now) zoo_int(b, now, "axis", 2);
  zoo_output(b, zoo_name(b, "present.%d.%s", layer, kind), now);
  zoo_open_dimension(b, past, 2, "past");
  zoo_open_dimension(b, now, 2, "total");
  return now;
}

static struct value *attention(const struct decoder *d, int layer, struct value *x) {
  struct builder *b = d->b;
  const int64_t width = d->width;
  struct value *parts[3];
  x = conv1d(d, zoo_name(b, "h.%d.attn.c_attn", layer), x, width, 3 * width, 1);
  zoo_split(b, x, 2, (int64_t[]){width, width, width}, parts, 3);
  for (int i = 0; i < 3; i++)
    parts[i] = zoo_split_heads(b, parts[i], d->batch, d->rows, d->heads, DEPTH, false);
  struct value *k = extend(d, layer, "key", parts[1]), *v = extend(d, layer, "value", parts[2]);
  x = zoo_op2(b, "MatMul", parts[0], zoo_transpose(b, k, DIMS(0, 1, 3, 2)));
  x = zoo_op2(b, "Div", x, zoo_scalar(b, 8));
  if (d->is_visible) x = zoo_op3(b, "Where", d->is_visible, x, d->lowest);
  x = zoo_softmax(b, x, -1);
  x = zoo_merge_heads(b, zoo_op2(b, "MatMul", x, v), d->batch, d->rows, width);
  /* the branch of each layer adds 1 / layers to the variance of the residual stream */
  return conv1d(d, zoo_name(b, "h.%d.attn.c_proj", layer), x, width, width, 1 / (double)d->layers);
}

static struct value *layer(const struct decoder *d, int i, struct value *x) {
  struct builder *b = d->b;
  struct value *y = zoo_layer_norm(b, zoo_name(b, "h.%d.ln_1", i), x, d->width, 1e-5);
  x = zoo_op2(b, "Add", attention(d, i, y), x);
  y = zoo_layer_norm(b, zoo_name(b, "h.%d.ln_2", i), x, d->width, 1e-5);
  y = zoo_gelu_tanh(b, conv1d(d, zoo_name(b, "h.%d.mlp.c_fc", i), y, d->width, 4 * d->width, 1));
  y = conv1d(d, zoo_name(b, "h.%d.mlp.c_proj", i), y, 4 * d->width, d->width,
             2 / (double)d->layers);
  return zoo_op2(b, "Add", x, y);
}

static struct value *causal_mask(struct builder *b, int64_t length) {
  struct tensor *mask = NULL;
  struct shape shape = {4, {1, 1, length, length}};
  struct value *value = NULL;
  if (b->is_counting) return NULL;
  if (!b->status) b->status = tensor_create(b->ctx, b->graph->arena, HONE_BOOL, &shape, &mask);
  if (b->status) return NULL;
  for (int64_t row = 0; row < length; row++)
    for (int64_t column = 0; column <= row; column++)
      tensor_set_i64(mask, (size_t)(row * length + column), 1);
  b->status = graph_constant(b->ctx, b->graph, NULL, mask, &value);
  return value;
}

/* Positions: an input with a cache, counted without. */
static struct value *positions(const struct decoder *d) {
  int64_t counted[POSITIONS];
  for (int64_t i = 0; i < POSITIONS; i++) counted[i] = i;
  if (d->past >= 0) return zoo_input(d->b, "position_ids", HONE_I64, DIMS(d->batch, 1));
  return zoo_i64(d->b, 1, counted, (size_t)d->length);
}

void zoo_gpt2(struct builder *b, int variant) {
  const int64_t width = zoo_width(b, b->published.width, DEPTH), vocabulary = b->options.vocabulary;
  struct decoder d = {.b = b,
                      .batch = b->options.batch,
                      .length = variant ? 1 : b->options.sequence,
                      .past = variant ? b->options.past : -1,
                      .rows = b->is_open ? -1
                              : variant  ? 1
                                         : b->options.sequence,
                      .width = width,
                      .heads = width / DEPTH,
                      .layers = b->options.layers};
  zoo_require(b, d.length <= POSITIONS && d.past < POSITIONS, "GPT-2 has at most 1024 positions");
  if (b->status) return;
  struct value *ids = zoo_input(b, "input_ids", HONE_I64, DIMS(d.batch, d.length));
  struct value *at = positions(&d);
  zoo_open_dimension(b, ids, 1, "sequence");
  zoo_open_dimension(b, at, 1, "sequence");
  struct value *wte = zoo_weight(b, "wte.weight", DIMS(vocabulary, width), 0, 0.1);
  struct value *wpe = zoo_weight(b, "wpe.weight", DIMS(POSITIONS, width), 0, 0.1);
  struct value *x =
      zoo_op2(b, "Add", zoo_op2(b, "Gather", wte, ids), zoo_op2(b, "Gather", wpe, at));
  if (!variant) d.is_visible = causal_mask(b, d.length);
  if (b->is_open) d.is_visible = zoo_is_seen(b, at, d.past + 1);
  if (d.is_visible) d.lowest = zoo_scalar(b, -0x1.fffffep127);
  for (int i = 0; i < (int)d.layers; i++) x = layer(&d, i, x);
  x = zoo_layer_norm(b, "ln_f", x, width, 1e-5);
  x = zoo_tied_logits(b, x, wte, (int64_t[]){d.batch, d.rows}, width, vocabulary);
  zoo_output(b, "logits", x);
  zoo_open_dimension(b, x, 1, "sequence");
}
