/* ResNet-18 and -50 as torchvision has them (50: stride in the 3x3 convolution, "v1.5"). */
#include "build.h"

static struct value *conv_bn(struct builder *b, const char *conv_name, const char *bn_name,
                             struct value *x, const struct conv *conv, double scale) {
  x = zoo_conv2d(b, conv_name, x, conv);
  return zoo_batch_norm(b, bn_name, x, conv->out, 1e-5, scale);
}

struct stage {
  int64_t in, width, out, stride; /* of one block */
  bool is_bottleneck;
};

static struct value *branch(struct builder *b, const char *name, struct value *x,
                            const struct stage *s) {
  struct conv conv[3] = {{s->in, s->width, 3, s->stride, 1, 1, false, 2},
                         {s->width, s->out, 3, 1, 1, 1, false, 2}};
  if (s->is_bottleneck) {
    conv[0] = (struct conv){s->in, s->width, 1, 1, 0, 1, false, 2};
    conv[1] = (struct conv){s->width, s->width, 3, s->stride, 1, 1, false, 2};
    conv[2] = (struct conv){s->width, s->out, 1, 1, 0, 1, false, 2};
  }
  int count = s->is_bottleneck ? 3 : 2;
  for (int i = 0; i < count; i++) {
    bool is_last = i == count - 1;
    x = conv_bn(b, zoo_name(b, "%s.conv%d", name, i + 1), zoo_name(b, "%s.bn%d", name, i + 1), x,
                &conv[i], is_last ? 0.3 : 1);
    if (!is_last) x = zoo_op1(b, "Relu", x);
  }
  return x;
}

static struct value *block(struct builder *b, const char *name, struct value *x,
                           const struct stage *s) {
  struct value *shortcut = x, *y = branch(b, name, x, s);
  if (s->stride != 1 || s->in != s->out) {
    struct conv conv = {s->in, s->out, 1, s->stride, 0, 1, false, 1};
    shortcut = conv_bn(b, zoo_name(b, "%s.downsample.0", name),
                       zoo_name(b, "%s.downsample.1", name), x, &conv, 1);
  }
  return zoo_op1(b, "Relu", zoo_op2(b, "Add", y, shortcut));
}

struct value *zoo_resnet_body(struct builder *b, struct value *x, int variant) {
  static const int blocks18[] = {2, 2, 2, 2}, blocks50[] = {3, 4, 6, 3};
  bool is_bottleneck = variant == 50;
  const int *blocks = is_bottleneck ? blocks50 : blocks18;
  int64_t in = 64;
  x = conv_bn(b, "conv1", "bn1", x, &(struct conv){3, 64, 7, 2, 3, 1, false, 1}, 1);
  x = zoo_max_pool(b, zoo_op1(b, "Relu", x), 3, 2, 1);
  for (int stage = 0; stage < 4; stage++) {
    int64_t width = 64 << stage, out = is_bottleneck ? 4 * width : width;
    for (int i = 0; i < blocks[stage]; i++) {
      struct stage s = {in, width, out, stage > 0 && i == 0 ? 2 : 1, is_bottleneck};
      x = block(b, zoo_name(b, "layer%d.%d", stage + 1, i), x, &s);
      in = out;
    }
  }
  return x;
}

void zoo_resnet(struct builder *b, int variant) {
  int64_t size = b->options.size;
  struct value *x =
      zoo_input(b, "input", HONE_F32, 4, (int64_t[]){b->options.batch, 3, size, size});
  x = zoo_resnet_body(b, x, variant);
  x = zoo_op1(b, "Flatten", zoo_op1(b, "GlobalAveragePool", x));
  zoo_output(b, "output", zoo_linear(b, "fc", x, variant == 50 ? 2048 : 512, 1000, 2));
}
