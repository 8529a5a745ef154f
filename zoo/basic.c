/* Small models for first comparisons and tests: a multilayer perceptron, two convolution blocks,
 * the digit classifier of the PyTorch examples. */
#include "build.h"

void zoo_mlp(struct builder *b, int variant) {
  struct value *x = zoo_input(b, "input", HONE_F32, 2, (int64_t[]){b->options.batch, 256});
  (void)variant;
  x = zoo_op1(b, "Relu", zoo_linear(b, "fc1", x, 256, 512, 1));
  x = zoo_op1(b, "Relu", zoo_linear(b, "fc2", x, 512, 512, 2));
  zoo_output(b, "output", zoo_linear(b, "fc3", x, 512, 256, 2));
}

static struct value *block(struct builder *b, const char *name, struct value *x, int64_t in,
                           int64_t out, double gain) {
  struct conv conv = {.in = in, .out = out, .kernel = 3, .pad = 1, .gain = gain};
  x = zoo_conv2d(b, zoo_name(b, "%s.conv", name), x, &conv);
  x = zoo_batch_norm(b, zoo_name(b, "%s.bn", name), x, out, 1e-5, 1);
  return zoo_op1(b, "Relu", x);
}

void zoo_conv(struct builder *b, int variant) {
  struct value *x = zoo_input(b, "input", HONE_F32, 4, (int64_t[]){b->options.batch, 3, 128, 128});
  (void)variant;
  x = block(b, "block1", x, 3, 32, 1);
  x = block(b, "block2", x, 32, 64, 2);
  struct conv head = {.in = 64, .out = 16, .kernel = 1, .has_bias = true};
  zoo_output(b, "output", zoo_conv2d(b, "head", x, &head));
}

void zoo_mnist(struct builder *b, int variant) {
  struct conv first = {.in = 1, .out = 32, .kernel = 3, .has_bias = true, .gain = 1};
  struct conv second = {.in = 32, .out = 64, .kernel = 3, .has_bias = true};
  struct value *x = zoo_input(b, "input", HONE_F32, 4, (int64_t[]){b->options.batch, 1, 28, 28});
  (void)variant;
  x = zoo_op1(b, "Relu", zoo_conv2d(b, "conv1", x, &first));
  x = zoo_op1(b, "Relu", zoo_conv2d(b, "conv2", x, &second));
  x = zoo_op1(b, "Flatten", zoo_max_pool(b, x, 2, 2, 0));
  x = zoo_op1(b, "Relu", zoo_linear(b, "fc1", x, 9216, 128, 1));
  x = zoo_op1(b, "LogSoftmax", zoo_linear(b, "fc2", x, 128, 10, 2));
  if (x) zoo_int(b, x, "axis", 1);
  zoo_output(b, "output", x);
}
