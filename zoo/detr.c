/* DETR with ResNet-50 (Carion et al. 2020, arXiv:2005.12872): 100 learned queries attend to the
 * positions of a feature map; logits and boxes of each. Batch norms of the backbone are frozen. */
#include "block.h"

#include <math.h>

enum { FEATURES = 2048, QUERIES = 100, CLASSES = 92 };

/* Sines and cosines of both coordinates, scaled to 2 pi: [1, side * side, width]; first y, then x. */
static struct value *sine_positions(struct builder *b, int64_t side, int64_t width) {
  double *out;
  const int64_t half = width / 2;
  if (b->is_counting || b->status) return NULL;
  b->status = NEW_ARRAY(b->ctx, b->graph->arena, out, (size_t)(side * side * width));
  if (b->status) return NULL;
  for (int64_t place = 0; place < side * side; place++)
    for (int64_t i = 0; i < width; i++) {
      int64_t along = i < half ? place / side : place % side, k = i % half;
      double turn = (double)(along + 1) / ((double)side + 1e-6) * 2 * 3.14159265358979323846;
      double angle = turn / pow(1e4, (double)(k / 2 * 2) / (double)half);
      out[place * width + i] = k % 2 ? cos(angle) : sin(angle);
    }
  return zoo_table(b, DIMS(1, side * side, width), out);
}

static struct value *box_head(struct builder *b, struct value *x, int64_t width) {
  struct dense wide = {width, width, 2, true, false}, last = {width, 4, 1, true, false};
  x = zoo_op1(b, "Relu", zoo_dense(b, "bbox_embed.layers.0", x, &wide));
  x = zoo_op1(b, "Relu", zoo_dense(b, "bbox_embed.layers.1", x, &wide));
  return zoo_op1(b, "Sigmoid", zoo_dense(b, "bbox_embed.layers.2", x, &last));
}

void zoo_detr(struct builder *b, int variant) {
  const int64_t batch = b->options.batch, size = b->options.size, side = size / 32;
  const int64_t depth = 32, width = zoo_width(b, 256, depth), layers = b->options.layers;
  struct block block = {.width = width,
                        .depth = depth,
                        .inner = zoo_width(b, 2048, 32),
                        .epsilon = 1e-5,
                        .gain = 1,
                        .activation = ACT_RELU,
                        .is_post_norm = true,
                        .biases = BIAS_ALL};
  struct stack encoder = {.b = b, .batch = batch, .length = side * side, .past = -1};
  struct stack decoder = {.b = b, .batch = batch, .length = QUERIES, .past = -1};
  struct conv narrow = {FEATURES, width, 1, 1, 0, 1, true, 1};
  struct dense classify = {width, CLASSES, 1, true, false};
  (void)variant;
  zoo_require(b, size % 32 == 0, "DETR needs images whose sides are multiples of 32");
  b->has_frozen_norms = true;
  struct value *x = zoo_input(b, "pixel_values", HONE_F32, DIMS(batch, 3, size, size));
  x = zoo_conv2d(b, "input_proj", zoo_resnet_body(b, x, 50), &narrow);
  x = zoo_transpose(b, zoo_reshape(b, x, DIMS(batch, width, side * side)), DIMS(0, 2, 1));
  encoder.position = decoder.memory_position = sine_positions(b, side, width);
  decoder.memory = zoo_blocks(&encoder, &block, "transformer.encoder.layers", layers, x);
  decoder.memory_length = encoder.length;
  decoder.position = zoo_weight(b, "query_embed.weight", DIMS(1, QUERIES, width), 0, 1);
  block.memory_width = width;
  x = zoo_filled(b, DIMS(batch, QUERIES, width), 0);
  x = zoo_blocks(&decoder, &block, "transformer.decoder.layers", layers, x);
  x = zoo_norm(b, "transformer.decoder.norm", x, &block);
  zoo_output(b, "logits", zoo_dense(b, "class_embed", x, &classify));
  zoo_output(b, "pred_boxes", box_head(b, x, width));
}
