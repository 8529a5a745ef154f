/* VGG-19 without batch normalisation, as torchvision has it. */
#include "build.h"

void zoo_vgg(struct builder *b, int variant) {
  static const int64_t widths[] = {64, 128, 256, 512, 512}, repeats[] = {2, 2, 4, 4, 4};
  struct value *x = zoo_input(b, "input", HONE_F32, 4, (int64_t[]){b->options.batch, 3, 224, 224});
  int64_t in = 3;
  int index = 0; /* as torchvision numbers its layers: convolution, ReLU, ..., pool */
  (void)variant;
  for (size_t stage = 0; stage < COUNT(widths); stage++) {
    for (int64_t i = 0; i < repeats[stage]; i++) {
      struct conv conv = {in, widths[stage], 3, 1, 1, 1, true, index ? 2 : 1};
      x = zoo_op1(b, "Relu", zoo_conv2d(b, zoo_name(b, "features.%d", index), x, &conv));
      in = widths[stage];
      index += 2;
    }
    x = zoo_max_pool(b, x, 2, 2, 0);
    index++;
  }
  x = zoo_op1(b, "Flatten", x);
  x = zoo_op1(b, "Relu", zoo_linear(b, "classifier.0", x, 25088, 4096, 1));
  x = zoo_op1(b, "Relu", zoo_linear(b, "classifier.3", x, 4096, 4096, 2));
  zoo_output(b, "output", zoo_linear(b, "classifier.6", x, 4096, 1000, 2));
}
