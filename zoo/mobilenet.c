/* MobileNetV3 small as torchvision has it: inverted residuals with squeeze and excitation. */
#include "build.h"

struct inverted {
  int64_t in, kernel, expanded, out;
  bool squeezes, hard_swish;
  int64_t stride;
};
static const struct inverted blocks[] = {
    {16, 3, 16, 16, true, false, 2},  {16, 3, 72, 24, false, false, 2},
    {24, 3, 88, 24, false, false, 1}, {24, 5, 96, 40, true, true, 2},
    {40, 5, 240, 40, true, true, 1},  {40, 5, 240, 40, true, true, 1},
    {40, 5, 120, 48, true, true, 1},  {48, 5, 144, 48, true, true, 1},
    {48, 5, 288, 96, true, true, 2},  {96, 5, 576, 96, true, true, 1},
    {96, 5, 576, 96, true, true, 1},
};

/* The multiple of 8 nearest to n, not more than a tenth below it. */
static int64_t by_eight(int64_t n) {
  int64_t rounded = (n + 4) / 8 * 8;
  if (rounded < 8) rounded = 8;
  return rounded * 10 < n * 9 ? rounded + 8 : rounded;
}

static struct value *conv_bn_act(struct builder *b, const char *name, struct value *x,
                                 const struct conv *conv, const char *activation, double scale) {
  x = zoo_conv2d(b, zoo_name(b, "%s.0", name), x, conv);
  x = zoo_batch_norm(b, zoo_name(b, "%s.1", name), x, conv->out, 1e-3, scale);
  return activation ? zoo_op1(b, activation, x) : x;
}

static struct value *squeeze(struct builder *b, const char *name, struct value *x,
                             int64_t channels) {
  int64_t narrow = by_eight(channels / 4);
  struct conv down = {.in = channels, .out = narrow, .kernel = 1, .has_bias = true};
  struct conv up = {.in = narrow, .out = channels, .kernel = 1, .has_bias = true};
  struct value *y = zoo_op1(b, "GlobalAveragePool", x);
  y = zoo_op1(b, "Relu", zoo_conv2d(b, zoo_name(b, "%s.fc1", name), y, &down));
  y = zoo_op1(b, "HardSigmoid", zoo_conv2d(b, zoo_name(b, "%s.fc2", name), y, &up));
  if (y) zoo_float(b, y, "alpha", (double)(1.0f / 6));
  return zoo_op2(b, "Mul", y, x);
}

static struct value *inverted(struct builder *b, const char *name, struct value *x,
                              const struct inverted *s) {
  const char *activation = s->hard_swish ? "HardSwish" : "Relu";
  struct value *y = x;
  bool is_residual = s->stride == 1 && s->in == s->out;
  int part = 0;
  /* the depthwise sum has few terms; squeezing halves what it gates: gains make up for both */
  struct conv expand = {.in = s->in, .out = s->expanded, .kernel = 1, .gain = 1};
  struct conv depth = {s->expanded,   s->expanded, s->kernel, s->stride,
                       s->kernel / 2, s->expanded, false,     2};
  struct conv project = {.in = s->expanded, .out = s->out, .kernel = 1};
  project.gain = s->squeezes ? 6 : 2;
  if (s->expanded != s->in)
    y = conv_bn_act(b, zoo_name(b, "%s.block.%d", name, part++), y, &expand, activation, 1);
  y = conv_bn_act(b, zoo_name(b, "%s.block.%d", name, part++), y, &depth, activation, 1);
  if (s->squeezes) y = squeeze(b, zoo_name(b, "%s.block.%d", name, part++), y, s->expanded);
  y = conv_bn_act(b, zoo_name(b, "%s.block.%d", name, part), y, &project, NULL,
                  is_residual ? 0.5 : 0.9);
  return is_residual ? zoo_op2(b, "Add", x, y) : y;
}

void zoo_mobilenet(struct builder *b, int variant) {
  int64_t size = b->options.size;
  struct value *x =
      zoo_input(b, "input", HONE_F32, 4, (int64_t[]){b->options.batch, 3, size, size});
  (void)variant;
  x = conv_bn_act(b, "features.0", x, &(struct conv){3, 16, 3, 2, 1, 1, false, 1}, "HardSwish", 1);
  for (size_t i = 0; i < COUNT(blocks); i++)
    x = inverted(b, zoo_name(b, "features.%zu", i + 1), x, &blocks[i]);
  struct conv last = {.in = 96, .out = 576, .kernel = 1, .gain = 1};
  x = conv_bn_act(b, "features.12", x, &last, "HardSwish", 1);
  x = zoo_op1(b, "Flatten", zoo_op1(b, "GlobalAveragePool", x));
  x = zoo_op1(b, "HardSwish", zoo_linear(b, "classifier.0", x, 576, 1024, 4));
  zoo_output(b, "output", zoo_linear(b, "classifier.3", x, 1024, 1000, 2));
}
