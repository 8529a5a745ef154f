/* YOLOv8n (Ultralytics 2023) as in its ONNX export: images to [batch, 4 + 80, positions], boxes as
 * centre and size in pixels. Expectations over the 16 distance bins are a convolution with weights
 * 0 to 15. */
#include "build.h"

enum { CLASSES = 80, DISTANCES = 16, LEVELS = 3 };

/* Convolution, batch norm, SiLU. */
static struct value *conv(struct builder *b, const char *name, struct value *x, int64_t in,
                          int64_t out, int64_t kernel, int64_t stride) {
  struct conv c = {in, out, kernel, stride, kernel / 2, 1, false, 2};
  x = zoo_conv2d(b, zoo_name(b, "%s.conv", name), x, &c);
  return zoo_swish(b, zoo_batch_norm(b, zoo_name(b, "%s.bn", name), x, out, 1e-3, 1), 1);
}

struct c2f {
  int64_t in, out, count;
  bool adds;
};

/* A split after the first convolution; each bottleneck's result joins the sum of parts. */
static struct value *c2f(struct builder *b, const char *name, struct value *x,
                         const struct c2f *c) {
  const int64_t half = c->out / 2;
  struct value *parts[8];
  size_t count = 2;
  zoo_split(b, conv(b, zoo_name(b, "%s.cv1", name), x, c->in, c->out, 1, 1), 1,
            (int64_t[]){half, half}, parts, 2);
  for (int64_t i = 0; i < c->count; i++) {
    struct value *last = parts[count - 1], *y;
    y = conv(b, zoo_name(b, "%s.m.%lld.cv1", name, (long long)i), last, half, half, 3, 1);
    y = conv(b, zoo_name(b, "%s.m.%lld.cv2", name, (long long)i), y, half, half, 3, 1);
    parts[count++] = c->adds ? zoo_op2(b, "Add", last, y) : y;
  }
  x = zoo_concat(b, 1, parts, count);
  return conv(b, zoo_name(b, "%s.cv2", name), x, (2 + c->count) * half, c->out, 1, 1);
}

static struct value *pyramid_pool(struct builder *b, const char *name, struct value *x,
                                  int64_t channels) {
  struct value *parts[4];
  parts[0] = conv(b, zoo_name(b, "%s.cv1", name), x, channels, channels / 2, 1, 1);
  for (int i = 1; i < 4; i++) parts[i] = zoo_max_pool(b, parts[i - 1], 5, 1, 2);
  x = zoo_concat(b, 1, parts, 4);
  return conv(b, zoo_name(b, "%s.cv2", name), x, 2 * channels, channels, 1, 1);
}

/* Twice the size, nearest neighbours. */
static struct value *upsample(struct builder *b, struct value *x) {
  static const double twice[] = {1, 1, 2, 2};
  struct value *in[3] = {x, NULL, zoo_table(b, DIMS(4), twice)}, *y;
  zoo_node(b, "Resize", in, 3, &y, 1);
  zoo_text(b, y, "mode", "nearest");
  zoo_text(b, y, "nearest_mode", "floor");
  zoo_text(b, y, "coordinate_transformation_mode", "asymmetric");
  return y;
}

/* -- the head */

static struct value *tower(struct builder *b, const char *name, struct value *x, int64_t in,
                           int64_t width, int64_t out) {
  struct conv last = {width, out, 1, 1, 0, 1, true, 1};
  x = conv(b, zoo_name(b, "%s.0", name), x, in, width, 3, 1);
  x = conv(b, zoo_name(b, "%s.1", name), x, width, width, 3, 1);
  return zoo_conv2d(b, zoo_name(b, "%s.2", name), x, &last);
}

/* [1, 2, positions]: the centre of each position, in units of its level; [1, positions]: pixels per
 * position. */
static void anchors(struct builder *b, int64_t places, struct value **middle,
                    struct value **stride) {
  double *at, *pixels;
  int64_t n = 0;
  *middle = *stride = NULL;
  if (b->is_counting || b->status) return;
  b->status = NEW_ARRAY(b->ctx, b->graph->arena, at, (size_t)(2 * places));
  if (!b->status) b->status = NEW_ARRAY(b->ctx, b->graph->arena, pixels, (size_t)places);
  if (b->status) return;
  for (int64_t level = 0; level < LEVELS; level++) {
    const int64_t side = b->options.size >> (3 + level);
    for (int64_t i = 0; i < side * side; i++, n++) {
      at[n] = (double)(i % side) + 0.5;
      at[places + n] = (double)(i / side) + 0.5;
      pixels[n] = (double)(8 << level);
    }
  }
  *middle = zoo_table(b, DIMS(1, 2, places), at);
  *stride = zoo_table(b, DIMS(1, places), pixels);
}

/* x [batch, 64, places] -> four distances [batch, 4, places]: the mean of each distribution. */
static struct value *distances(struct builder *b, struct value *x, int64_t places) {
  double sixteen[DISTANCES];
  struct value *in[2], *y;
  for (int i = 0; i < DISTANCES; i++) sixteen[i] = i;
  b->parameter_count += DISTANCES; /* the published number counts these */
  x = zoo_reshape(b, x, DIMS(b->options.batch, 4, DISTANCES, places));
  in[0] = zoo_softmax(b, zoo_transpose(b, x, DIMS(0, 2, 1, 3)), 1);
  in[1] = zoo_table(b, DIMS(1, DISTANCES, 1, 1), sixteen);
  if (in[1]) in[1]->name = "model.22.dfl.conv.weight";
  zoo_node(b, "Conv", in, 2, &y, 1);
  zoo_ints(b, y, "kernel_shape", (int64_t[]){1, 1}, 2);
  return zoo_reshape(b, y, DIMS(b->options.batch, 4, places));
}

static struct value *boxes(struct builder *b, struct value *x, int64_t places) {
  struct value *middle, *stride, *parts[2], *out[2];
  anchors(b, places, &middle, &stride);
  zoo_split(b, distances(b, x, places), 1, (int64_t[]){2, 2}, parts, 2);
  struct value *from = zoo_op2(b, "Sub", middle, parts[0]);
  struct value *to = zoo_op2(b, "Add", middle, parts[1]);
  out[0] = zoo_op2(b, "Div", zoo_op2(b, "Add", from, to), zoo_scalar(b, 2));
  out[1] = zoo_op2(b, "Sub", to, from);
  return zoo_op2(b, "Mul", zoo_concat(b, 1, out, 2), stride);
}

static void detect(struct builder *b, struct value *const *levels) {
  static const int64_t channels[LEVELS] = {64, 128, 256};
  const int64_t batch = b->options.batch;
  struct value *all[LEVELS], *parts[2], *out[2];
  int64_t places = 0;
  for (int i = 0; i < LEVELS; i++) {
    const int64_t side = b->options.size >> (3 + i);
    parts[0] =
        tower(b, zoo_name(b, "model.22.cv2.%d", i), levels[i], channels[i], 64, 4 * DISTANCES);
    parts[1] =
        tower(b, zoo_name(b, "model.22.cv3.%d", i), levels[i], channels[i], CLASSES, CLASSES);
    all[i] = zoo_reshape(b, zoo_concat(b, 1, parts, 2),
                         DIMS(batch, 4 * DISTANCES + CLASSES, side * side));
    places += side * side;
  }
  zoo_split(b, zoo_concat(b, 2, all, LEVELS), 1, (int64_t[]){4 * DISTANCES, CLASSES}, parts, 2);
  out[0] = boxes(b, parts[0], places);
  out[1] = zoo_op1(b, "Sigmoid", parts[1]);
  zoo_output(b, "output0", zoo_concat(b, 1, out, 2));
}

/* Rows of ultralytics' yolov8.yaml at depth 1/3 and width 1/4, by their numbers there. */
void zoo_yolov8n(struct builder *b, int variant) {
  const int64_t size = b->options.size;
  struct value *x = zoo_input(b, "images", HONE_F32, DIMS(b->options.batch, 3, size, size));
  struct value *at4, *at6, *at9, *at12, *levels[LEVELS];
  (void)variant;
  zoo_require(b, size % 32 == 0, "YOLOv8 needs images whose sides are multiples of 32");
  x = conv(b, "model.1", conv(b, "model.0", x, 3, 16, 3, 2), 16, 32, 3, 2);
  x = c2f(b, "model.2", x, &(struct c2f){32, 32, 1, true});
  at4 = c2f(b, "model.4", conv(b, "model.3", x, 32, 64, 3, 2), &(struct c2f){64, 64, 2, true});
  at6 = c2f(b, "model.6", conv(b, "model.5", at4, 64, 128, 3, 2), &(struct c2f){128, 128, 2, true});
  x = c2f(b, "model.8", conv(b, "model.7", at6, 128, 256, 3, 2), &(struct c2f){256, 256, 1, true});
  at9 = pyramid_pool(b, "model.9", x, 256);
  x = zoo_concat(b, 1, (struct value *[]){upsample(b, at9), at6}, 2);
  at12 = c2f(b, "model.12", x, &(struct c2f){384, 128, 1, false});
  x = zoo_concat(b, 1, (struct value *[]){upsample(b, at12), at4}, 2);
  levels[0] = c2f(b, "model.15", x, &(struct c2f){192, 64, 1, false});
  x = conv(b, "model.16", levels[0], 64, 64, 3, 2);
  x = zoo_concat(b, 1, (struct value *[]){x, at12}, 2);
  levels[1] = c2f(b, "model.18", x, &(struct c2f){192, 128, 1, false});
  x = conv(b, "model.19", levels[1], 128, 128, 3, 2);
  x = zoo_concat(b, 1, (struct value *[]){x, at9}, 2);
  levels[2] = c2f(b, "model.21", x, &(struct c2f){384, 256, 1, false});
  detect(b, levels);
}
