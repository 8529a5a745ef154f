/* Generator of valid random graphs. Each maker below draws operands from the pool of values made so
 * far, adds one node or a small pattern, and `commit` keeps it only if it is well-behaved:
 * inferred, small, finite, and not sensitive to rounding (the shaken values stay close). */
#include "random_graphs.h"

#include <math.h>
#include <stdlib.h>

enum { POOL = 512 };
struct gen {
  struct scene *s;
  struct graph *graph;
  struct random random;
  struct value *pool[POOL];
  size_t count;
  bool exact[MOST_VALUES]; /* not rounded: the same bits on every path */
  unsigned constants;
  int weights[64]; /* by maker */
};

static void must(const struct gen *g, hone_status status) {
  if (!status) return;
  fprintf(stderr, "random-graphs: %s\n", hone_context_message(&g->s->ctx));
  exit(2);
}

/* -- drawing */

static int64_t below(struct gen *g, int64_t n) {
  return (int64_t)random_below(&g->random, (uint64_t)n);
}
static bool chance(struct gen *g, int percent) { return below(g, 100) < percent; }
static int64_t between(struct gen *g, int64_t low, int64_t high) {
  return low + below(g, high - low + 1);
}

static int64_t a_dim(struct gen *g) {
  static const int64_t dims[] = {1, 1, 2, 2, 3, 4, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 48};
  return dims[below(g, COUNT(dims))];
}

static int64_t elements(const struct value *value) {
  int64_t count;
  return shape_count(&value->shape, &count) ? count : INT64_MAX;
}

/* A value of the pool, preferably a new one; NULL if none was found. */
static struct value *pick(struct gen *g, hone_dtype dtype, int low, int high) {
  for (int i = 0; i < 40 && g->count; i++) {
    size_t recent = g->count < 5 ? g->count : 5;
    size_t at = chance(g, 60) ? g->count - 1 - (size_t)below(g, (int64_t)recent)
                              : (size_t)below(g, (int64_t)g->count);
    struct value *value = g->pool[at];
    if (dtype && value->dtype != dtype) continue;
    if (value->shape.rank >= low && value->shape.rank <= high) return value;
  }
  return NULL;
}

/* -- constants */

/* f32 noise. Its name has seed and scale, so that it is printed as "seed= scale=". */
static struct value *noise(struct gen *g, const struct shape *shape, const char *scale) {
  struct tensor *tensor;
  struct value *value;
  struct random random;
  double factor;
  char name[64];
  unsigned seed = ++g->constants;
  random_init(&random, seed);
  if (!parse_f64(scale, 0, 100, &factor)) abort();
  must(g, tensor_create(&g->s->ctx, g->s->arena, HONE_F32, shape, &tensor));
  for (size_t i = 0; i < tensor_count(tensor); i++)
    tensor_set_f64(tensor, i, factor * random_normal(&random));
  snprintf(name, sizeof name, "c%u_%s", seed, scale);
  must(g, graph_constant(&g->s->ctx, g->graph, name, tensor, &value));
  g->exact[value->index] = true;
  return value;
}

static struct value *noise_of(struct gen *g, const char *scale, int rank, int64_t a, int64_t b,
                              int64_t c) {
  struct shape shape = {.rank = rank, .dims = {a, b, c}};
  return noise(g, &shape, scale);
}

/* Numbers listed one by one; rank 0 needs count 1. */
static struct value *listed(struct gen *g, hone_dtype dtype, int rank, const double *numbers,
                            size_t count) {
  struct shape shape = {.rank = rank, .dims = {(int64_t)count}};
  struct tensor *tensor;
  struct value *value;
  must(g, tensor_create(&g->s->ctx, g->s->arena, dtype, &shape, &tensor));
  for (size_t i = 0; i < count; i++) tensor_set_f64(tensor, i, numbers[i]);
  must(g, graph_constant(&g->s->ctx, g->graph, NULL, tensor, &value));
  g->exact[value->index] = true;
  return value;
}
static struct value *ints(struct gen *g, const int64_t *numbers, size_t count) {
  double list[32] = {0};
  for (size_t i = 0; i < count; i++) list[i] = (double)numbers[i];
  return listed(g, HONE_I64, 1, list, count);
}
static struct value *scalar(struct gen *g, double x) { return listed(g, HONE_F32, 0, &x, 1); }
static struct value *positive(struct gen *g, int64_t count) {
  double list[256];
  for (int64_t i = 0; i < count && i < 256; i++) list[i] = 0.5 + (double)below(g, 9) / 8;
  return listed(g, HONE_F32, 1, list, (size_t)count);
}

/* -- nodes */

static struct node *begin(struct gen *g, const char *op, size_t outputs, size_t count, ...) {
  struct value *inputs[8];
  struct node *node;
  va_list args;
  va_start(args, count);
  for (size_t i = 0; i < count; i++) inputs[i] = va_arg(args, struct value *);
  va_end(args);
  must(g, graph_node(&g->s->ctx, g->graph, op_find("", op), inputs, count, outputs, &node));
  return node;
}
static void set_int(struct gen *g, struct node *node, const char *name, int64_t i) {
  must(g, node_set_int(&g->s->ctx, g->graph, node, name, i));
}
static void set_float(struct gen *g, struct node *node, const char *name, double f) {
  must(g, node_set_float(&g->s->ctx, g->graph, node, name, f));
}
static void set_ints(struct gen *g, struct node *node, const char *name, const int64_t *list,
                     size_t count) {
  must(g, node_set_ints(&g->s->ctx, g->graph, node, name, list, count));
}
static void set_string(struct gen *g, struct node *node, const char *name, const char *string) {
  must(g, node_set_string(&g->s->ctx, g->graph, node, name, string));
}

static bool is_tame(const struct gen *g, const struct value *value) {
  const struct tensor *truth = g->s->truth[value->index];
  struct distance d = distance(truth, g->s->shaken[value->index]);
  if (!dtype_is_float(value->dtype)) return d.same && d.size_most <= 1 << 20;
  return d.finite && d.size_most <= 2000 && d.l2 <= 1e-5 * d.size_l2 &&
         d.most <= 5e-5 * d.size_most;
}

static bool is_small(const struct node *node) {
  double flops, bytes;
  for (size_t i = 0; i < node->output_count; i++)
    if (!node->outputs[i]->has_shape || node->outputs[i]->shape.rank > 6 ||
        elements(node->outputs[i]) > MOST_ELEMENTS)
      return false;
  node_cost(node, &flops, &bytes);
  return flops < 6e6;
}

/* The first output, or NULL: the node was unsuitable and is removed. */
static struct value *commit(struct gen *g, struct node *node) {
  bool good = g->graph->values.count + 64 < MOST_VALUES &&
              !node_infer(&g->s->ctx, g->graph, node) && is_small(node) && !scene_node(g->s, node);
  for (size_t i = 0; good && i < node->output_count; i++) good = is_tame(g, node->outputs[i]);
  if (!good) {
    ctx_clear(&g->s->ctx);
    g->graph->nodes.count--;
    return NULL;
  }
  bool exact = node->op->class == OP_MOVEMENT || node->op->class == OP_INDEXED;
  for (size_t i = 0; i < node->input_count; i++)
    exact &= !node->inputs[i] || g->exact[node->inputs[i]->index];
  for (size_t i = 0; i < node->output_count; i++) {
    g->exact[node->outputs[i]->index] = exact || !dtype_is_float(node->outputs[i]->dtype);
    if (g->count < POOL) g->pool[g->count++] = node->outputs[i];
  }
  return node->outputs[0];
}

static struct value *apply1(struct gen *g, const char *op, struct value *x) {
  return x ? commit(g, begin(g, op, 1, 1, x)) : NULL;
}
static struct value *apply2(struct gen *g, const char *op, struct value *x, struct value *y) {
  return x && y ? commit(g, begin(g, op, 1, 2, x, y)) : NULL;
}

/* -- elementwise */

static bool make_unary(struct gen *g) {
  static const char *const names[] = {
      "Neg",       "Abs",       "Relu",     "Relu", "Relu", "Sigmoid",   "Tanh",     "Erf",
      "Gelu",      "Exp",       "Elu",      "Selu", "Celu", "Mish",      "Softplus", "HardSigmoid",
      "HardSwish", "LeakyRelu", "Sin",      "Cos",  "Atan", "Sinh",      "Cosh",     "Softsign",
      "Asinh",     "Swish",     "Identity", "Sqrt", "Log",  "Reciprocal"};
  static const char *const steps[] = {"Floor",           "Ceil",   "Round", "Sign",
                                      "ThresholdedRelu", "Shrink", "IsNaN"};
  struct value *x = pick(g, HONE_F32, 0, 6);
  if (!x) return false;
  const char *name = names[below(g, COUNT(names))];
  if (g->exact[x->index] && chance(g, 20)) name = steps[below(g, COUNT(steps))];
  if (!strcmp(name, "Sqrt") || !strcmp(name, "Log") || !strcmp(name, "Reciprocal")) {
    if (chance(g, 50)) x = apply1(g, "Abs", x);
    x = apply2(g, "Add", x, scalar(g, 0.5));
    if (!x) return false;
  }
  struct node *node = begin(g, name, 1, 1, x);
  if (!strcmp(name, "Gelu") && chance(g, 50)) set_string(g, node, "approximate", "tanh");
  if (chance(g, 40) &&
      (!strcmp(name, "LeakyRelu") || !strcmp(name, "Elu") || !strcmp(name, "Celu")))
    set_float(g, node, "alpha", 0.25 * (double)between(g, 1, 8));
  if (chance(g, 40) && !strcmp(name, "HardSigmoid")) set_float(g, node, "beta", 0.3);
  return commit(g, node) != NULL;
}

/* Something that broadcasts with x: a constant, x itself, or another value. */
static struct value *partner(struct gen *g, const struct value *x) {
  struct shape shape = x->shape, wide;
  if (chance(g, 50))
    for (int i = 0; i < 20; i++) {
      struct value *y = pick(g, x->dtype, 0, 6);
      if (y && y != x && shape_broadcast(&x->shape, &y->shape, &wide)) return y;
    }
  if (chance(g, 5)) return (struct value *)(uintptr_t)x;
  int drop = chance(g, 40) && shape.rank ? (int)between(g, 0, shape.rank) : 0;
  for (int i = drop; i < shape.rank; i++) shape.dims[i - drop] = shape.dims[i];
  shape.rank -= drop;
  for (int i = 0; i < shape.rank; i++) {
    if (chance(g, 35))
      shape.dims[i] = 1;
    else if (shape.dims[i] == 1 && chance(g, 20))
      shape.dims[i] = a_dim(g);
  }
  if (chance(g, 6) && shape.rank < 5) { /* of higher rank than x */
    for (int i = x->shape.rank; i-- > 0;) shape.dims[i + 1] = x->shape.dims[i];
    shape.rank = x->shape.rank + 1;
    shape.dims[0] = 1;
  }
  int64_t count;
  if (!shape_count(&shape, &count) || count > 4096) return NULL;
  if (x->dtype == HONE_F32) return noise(g, &shape, chance(g, 50) ? "0.5" : "1");
  double one = (double)between(g, 1, 3);
  return listed(g, x->dtype, chance(g, 50), &one, 1);
}

static bool make_binary(struct gen *g) {
  static const char *const names[] = {"Add", "Add", "Add", "Mul", "Mul",
                                      "Sub", "Max", "Min", "Div", "PRelu"};
  struct value *x = pick(g, chance(g, 85) ? HONE_F32 : HONE_I64, 0, 6);
  struct value *y = x ? partner(g, x) : NULL;
  if (!y) return false;
  const char *name = names[below(g, COUNT(names))];
  if (!strcmp(name, "Div") && x->dtype == HONE_F32 && chance(g, 80))
    y = apply2(g, "Add", apply1(g, "Abs", y), scalar(g, 1));
  if (!strcmp(name, "PRelu")) return apply2(g, name, x, y) != NULL;
  return (chance(g, 50) ? apply2(g, name, x, y) : apply2(g, name, y, x)) != NULL;
}

static bool make_power(struct gen *g) {
  static const double powers[] = {2, 2, 3, 0.5, -1, -0.5, 1, 0, 1.5, 4};
  double power = powers[below(g, COUNT(powers))];
  struct value *x = pick(g, HONE_F32, 0, 5);
  if (!x) return false;
  if (power != floor(power) || power < 0) x = apply2(g, "Add", apply1(g, "Abs", x), scalar(g, 1));
  return apply2(g, "Pow", x, listed(g, HONE_F32, chance(g, 30), &power, 1)) != NULL;
}

static bool make_variadic(struct gen *g) {
  static const char *const names[] = {"Sum", "Mean", "Max", "Min"};
  struct value *x = pick(g, HONE_F32, 0, 5), *y = x ? partner(g, x) : NULL;
  struct value *z = x ? partner(g, x) : NULL;
  if (!y || !z) return false;
  return commit(g, begin(g, names[below(g, 4)], 1, (size_t)between(g, 1, 3), x, y, z)) != NULL;
}

static bool make_compare(struct gen *g) {
  static const char *const names[] = {"Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual"};
  struct value *x = pick(g, chance(g, 60) ? HONE_F32 : HONE_I64, 0, 5);
  if (!x) return false;
  struct value *y = g->exact[x->index] ? partner(g, x) : scalar(g, 0.3125);
  if (!y || (!g->exact[y->index] && g->exact[x->index])) return false;
  return apply2(g, names[below(g, COUNT(names))], x, y) != NULL;
}

static bool make_logic(struct gen *g) {
  static const char *const names[] = {"And", "Or", "Xor"};
  struct value *x = pick(g, HONE_BOOL, 0, 5), *y = pick(g, HONE_BOOL, 0, 5);
  if (chance(g, 30)) return apply1(g, "Not", x) != NULL;
  return apply2(g, names[below(g, 3)], x, y) != NULL;
}

static bool make_where(struct gen *g) {
  struct value *c = pick(g, HONE_BOOL, 0, 5), *x = pick(g, HONE_F32, 0, 5);
  struct value *y = x ? partner(g, x) : NULL;
  if (!c || !y) return false;
  if (chance(g, 50)) return commit(g, begin(g, "Where", 1, 3, c, x, y)) != NULL;
  return commit(g, begin(g, "Where", 1, 3, c, y, x)) != NULL;
}

static bool make_cast(struct gen *g) {
  static const hone_dtype types[] = {HONE_F32, HONE_F32,  HONE_F32, HONE_I64,
                                     HONE_I32, HONE_BOOL, HONE_F64, HONE_U8};
  struct value *x = pick(g, HONE_UNDEFINED, 0, 5);
  hone_dtype to = types[below(g, COUNT(types))];
  if (!x || (!g->exact[x->index] && !dtype_is_float(to))) return false;
  if (to == HONE_U8 && x->dtype == HONE_F32) x = apply1(g, "Abs", x);
  if (!x) return false;
  struct node *node = begin(g, "Cast", 1, 1, x);
  set_int(g, node, "to", to);
  struct value *y = commit(g, node);
  if (!y) return false;
  if (to != HONE_F64 && to != HONE_U8 && to != HONE_I32) return true;
  node = begin(g, "Cast", 1, 1, y);
  set_int(g, node, "to", chance(g, 50) ? HONE_F32 : HONE_I64);
  if (!g->exact[y->index]) set_int(g, node, "to", HONE_F32);
  return commit(g, node) != NULL;
}

static bool make_clip(struct gen *g) {
  struct value *x = pick(g, HONE_F32, 0, 5);
  if (!x) return false;
  struct value *low = chance(g, 70) ? scalar(g, -0.5) : NULL;
  struct value *high = chance(g, 70) ? scalar(g, chance(g, 50) ? 6 : 0.75) : NULL;
  return commit(g, begin(g, "Clip", 1, (size_t)between(g, 1, 3), x, low, high)) != NULL;
}

static bool make_integer(struct gen *g) {
  static const char *const names[] = {"Add", "Sub", "Mul", "Mod",
                                      "Max", "Min", "Div", "BitwiseAnd"};
  struct value *x = pick(g, HONE_I64, 0, 5), *y = x ? partner(g, x) : NULL;
  if (chance(g, 20)) return apply1(g, chance(g, 50) ? "Neg" : "Abs", x) != NULL;
  return apply2(g, names[below(g, COUNT(names))], x, y) != NULL;
}

static bool make_batchnorm(struct gen *g) {
  struct value *x = pick(g, HONE_F32, 2, 5);
  if (!x || x->shape.dims[1] > 200) return false;
  int64_t c = x->shape.dims[1];
  struct node *node =
      begin(g, "BatchNormalization", 1, 5, x, noise_of(g, "1", 1, c, 0, 0),
            noise_of(g, "0.5", 1, c, 0, 0), noise_of(g, "0.5", 1, c, 0, 0), positive(g, c));
  if (chance(g, 30)) set_float(g, node, "epsilon", 0.001);
  return commit(g, node) != NULL;
}

/* -- contractions */

/* kernel_shape, strides, dilations and pads of a window over `spatial` dimensions. */
static void set_window(struct gen *g, struct node *node, const struct value *x, int64_t *kernel,
                       bool dilated) {
  static const char *const autos[] = {"SAME_UPPER", "SAME_LOWER", "VALID"};
  int64_t strides[4], dilations[4], pads[8];
  size_t n = (size_t)x->shape.rank - 2;
  bool same = chance(g, 50);
  for (size_t i = 0; i < n; i++) {
    strides[i] = chance(g, 60) ? 1 : between(g, 1, 3);
    dilations[i] = chance(g, 80) ? 1 : 2;
    for (int side = 0; side < 2; side++)
      pads[i + (size_t)side * n] = same ? kernel[i] / 2 : between(g, 0, kernel[i] - 1);
  }
  if (chance(g, 60)) set_ints(g, node, "strides", strides, n);
  if (dilated && chance(g, 25)) set_ints(g, node, "dilations", dilations, n);
  if (chance(g, 15))
    set_string(g, node, "auto_pad", autos[below(g, 3)]);
  else if (chance(g, 75))
    set_ints(g, node, "pads", pads, 2 * n);
}

static struct value *convolve(struct gen *g, struct value *x, int64_t channels, int64_t group,
                              int64_t size) {
  int n = x->shape.rank - 2;
  int64_t kernel[4] = {0};
  struct shape w = {.rank = n + 2, .dims = {channels, x->shape.dims[1] / group}};
  for (int i = 0; i < n; i++) {
    kernel[i] = chance(g, 85) ? size : between(g, 1, 5);
    w.dims[i + 2] = kernel[i];
  }
  int64_t count;
  if (!shape_count(&w, &count) || count > 60000) return NULL;
  struct value *bias = chance(g, 60) ? noise_of(g, "0.5", 1, channels, 0, 0) : NULL;
  struct node *node =
      begin(g, "Conv", 1, bias ? 3 : 2, x, noise(g, &w, size > 1 ? "0.2" : "0.3"), bias);
  set_window(g, node, x, kernel, true);
  if (group != 1) set_int(g, node, "group", group);
  if (chance(g, 30)) set_ints(g, node, "kernel_shape", kernel, (size_t)n);
  return commit(g, node);
}

static bool make_conv(struct gen *g) {
  static const int64_t sizes[] = {1, 1, 3, 3, 3, 3, 5, 2, 7};
  struct value *x = pick(g, HONE_F32, 3, chance(g, 10) ? 5 : 4);
  if (!x || elements(x) == 0) return false;
  int64_t c = x->shape.dims[1], group = 1, out = a_dim(g);
  if (chance(g, 20)) {
    group = c;
    out = c * (chance(g, 70) ? 1 : 2);
  } else if (chance(g, 15) && c % 2 == 0) {
    group = 2;
    out = 2 * between(g, 1, 17);
  }
  struct value *y = convolve(g, x, out, group, sizes[below(g, COUNT(sizes))]);
  if (y && chance(g, 30)) make_batchnorm(g);
  if (y && chance(g, 30)) (void)apply1(g, "Relu", y);
  return y != NULL;
}

static bool make_conv_transpose(struct gen *g) {
  struct value *x = pick(g, HONE_F32, 3, 4);
  if (!x || elements(x) == 0) return false;
  int n = x->shape.rank - 2;
  int64_t group = x->shape.dims[1] % 2 == 0 && chance(g, 20) ? 2 : 1, out = between(g, 1, 9);
  int64_t kernel[2], strides[2], extra[2], pads[4];
  struct shape w = {.rank = n + 2, .dims = {x->shape.dims[1], out}};
  for (int i = 0; i < n; i++) {
    w.dims[i + 2] = kernel[i] = between(g, 1, 4);
    strides[i] = between(g, 1, 3);
    extra[i] = strides[i] > 1 ? below(g, 2) : 0;
    pads[i] = below(g, kernel[i]);
    pads[i + n] = below(g, kernel[i]);
  }
  struct value *bias = chance(g, 50) ? noise_of(g, "0.5", 1, out * group, 0, 0) : NULL;
  struct node *node = begin(g, "ConvTranspose", 1, bias ? 3 : 2, x, noise(g, &w, "0.3"), bias);
  set_ints(g, node, "strides", strides, (size_t)n);
  if (chance(g, 40)) set_ints(g, node, "output_padding", extra, (size_t)n);
  if (chance(g, 60)) set_ints(g, node, "pads", pads, 2 * (size_t)n);
  if (group > 1) set_int(g, node, "group", group);
  return commit(g, node) != NULL;
}

static struct value *transposed(struct gen *g, struct value *x) {
  int64_t perm[8];
  int rank = x->shape.rank;
  for (int i = 0; i < rank; i++) perm[i] = i;
  perm[rank - 1] = rank - 2;
  perm[rank - 2] = rank - 1;
  struct node *node = begin(g, "Transpose", 1, 1, x);
  set_ints(g, node, "perm", perm, (size_t)rank);
  return commit(g, node);
}

static bool make_matmul(struct gen *g) {
  struct value *x = pick(g, HONE_F32, 1, 5), *y = NULL;
  if (!x) return false;
  int rank = x->shape.rank;
  int64_t k = x->shape.dims[rank - 1];
  if (rank > 1 && chance(g, 15)) return apply2(g, "MatMul", x, transposed(g, x)) != NULL;
  if (chance(g, 25))
    for (int i = 0; i < 30 && !y; i++) { /* another value that fits, or fits transposed */
      struct value *other = pick(g, HONE_F32, 1, 5);
      if (!other) break;
      int r = other->shape.rank;
      if (other->shape.dims[r > 1 ? r - 2 : 0] == k)
        y = other;
      else if (r > 1 && other->shape.dims[r - 1] == k)
        y = transposed(g, other);
    }
  if (!y && chance(g, 10)) y = noise_of(g, "0.3", 1, k, 0, 0);
  if (!y && chance(g, 25) && rank > 2) {
    struct shape shape = x->shape;
    shape.dims[rank - 2] = k;
    shape.dims[rank - 1] = between(g, 1, 9);
    for (int i = 0; i < rank - 2; i++)
      if (chance(g, 40)) shape.dims[i] = shape.dims[i] == 1 ? between(g, 1, 3) : 1;
    y = noise(g, &shape, "0.3");
  }
  if (!y && chance(g, 25) && rank > 2)
    y = noise_of(g, "0.3", 3, chance(g, 50) ? x->shape.dims[rank - 3] : 1, k, a_dim(g));
  if (!y && chance(g, 10))
    return apply2(g, "MatMul",
                  noise_of(g, "0.3", 2, a_dim(g), rank > 1 ? x->shape.dims[rank - 2] : k, 0),
                  x) != NULL;
  if (!y) y = noise_of(g, "0.3", 2, k, a_dim(g), 0);
  y = apply2(g, "MatMul", x, y);
  if (y && chance(g, 40) && y->shape.rank)
    (void)apply2(g, "Add", y, noise_of(g, "0.5", 1, y->shape.dims[y->shape.rank - 1], 0, 0));
  return y != NULL;
}

static bool make_gemm(struct gen *g) {
  struct value *x = pick(g, HONE_F32, 2, 2), *c = NULL;
  if (!x) return false;
  bool ta = chance(g, 25), tb = chance(g, 50);
  int64_t m = x->shape.dims[ta], k = x->shape.dims[!ta], n = a_dim(g);
  struct value *w = tb ? noise_of(g, "0.3", 2, n, k, 0) : noise_of(g, "0.3", 2, k, n, 0);
  switch (below(g, 6)) {
    case 0:
      c = noise_of(g, "0.5", 1, n, 0, 0);
      break;
    case 1:
      c = noise_of(g, "0.5", 2, 1, n, 0);
      break;
    case 2:
      c = noise_of(g, "0.5", 2, m, 1, 0);
      break;
    case 3:
      c = noise_of(g, "0.5", 2, m, n, 0);
      break;
    case 4:
      c = scalar(g, 0.5);
      break;
    default:
      break;
  }
  struct node *node = begin(g, "Gemm", 1, c ? 3 : 2, x, w, c);
  if (ta) set_int(g, node, "transA", 1);
  if (tb) set_int(g, node, "transB", 1);
  if (chance(g, 30)) set_float(g, node, "alpha", 0.5);
  if (chance(g, 30)) set_float(g, node, "beta", 2);
  return commit(g, node) != NULL;
}

/* -- reductions */

static bool make_pool(struct gen *g) {
  static const char *const names[] = {"MaxPool", "AveragePool", "MaxPool", "AveragePool", "LpPool"};
  struct value *x = pick(g, HONE_F32, 3, chance(g, 15) ? 5 : 4);
  if (!x || elements(x) == 0) return false;
  int64_t kernel[4];
  int n = x->shape.rank - 2;
  for (int i = 0; i < n; i++) kernel[i] = between(g, 1, 4);
  const char *name = names[below(g, COUNT(names))];
  if (chance(g, 20))
    return apply1(g, chance(g, 50) ? "GlobalAveragePool" : "GlobalMaxPool", x) != NULL;
  bool is_max = !strcmp(name, "MaxPool");
  struct node *node = begin(g, name, is_max && g->exact[x->index] && chance(g, 20) ? 2 : 1, 1, x);
  set_window(g, node, x, kernel, true);
  set_ints(g, node, "kernel_shape", kernel, (size_t)n);
  if (chance(g, 30)) set_int(g, node, "ceil_mode", 1);
  if (!strcmp(name, "AveragePool") && chance(g, 50)) set_int(g, node, "count_include_pad", 1);
  return commit(g, node) != NULL;
}

static bool make_reduce(struct gen *g) {
  static const char *const names[] = {
      "ReduceMean", "ReduceSum", "ReduceMax",       "ReduceMin",  "ReduceMean",
      "ReduceL1",   "ReduceL2",  "ReduceSumSquare", "ReduceProd", "ReduceLogSumExp"};
  struct value *x = pick(g, chance(g, 90) ? HONE_F32 : HONE_I64, 0, 5);
  if (!x) return false;
  int64_t axes[8];
  size_t count = 0;
  for (int i = 0; i < x->shape.rank; i++)
    if (chance(g, 45)) axes[count++] = chance(g, 30) ? i - x->shape.rank : i;
  const char *name = names[below(g, COUNT(names) - (x->dtype == HONE_I64 ? 3 : 0))];
  if (x->dtype == HONE_I64 && strcmp(name, "ReduceL2") == 0) name = "ReduceSum";
  bool has_axes = count || chance(g, 30);
  struct node *node =
      begin(g, name, 1, has_axes ? 2 : 1, x, has_axes ? ints(g, axes, count) : NULL);
  if (chance(g, 50)) set_int(g, node, "keepdims", 0);
  if (!count && chance(g, 20)) set_int(g, node, "noop_with_empty_axes", 1);
  return commit(g, node) != NULL;
}

static bool make_softmax(struct gen *g) {
  struct value *x = pick(g, HONE_F32, 1, 5);
  if (!x) return false;
  struct node *node = begin(g, chance(g, 75) ? "Softmax" : "LogSoftmax", 1, 1, x);
  if (chance(g, 50)) set_int(g, node, "axis", between(g, -x->shape.rank, x->shape.rank - 1));
  return commit(g, node) != NULL;
}

static bool make_norm(struct gen *g) {
  struct value *x = pick(g, HONE_F32, 2, 5);
  if (!x || elements(x) == 0) return false;
  int rank = x->shape.rank;
  int64_t axis = chance(g, 70) ? -1 : between(g, -rank, rank - 1), c = x->shape.dims[1];
  struct shape scale = {0};
  for (int64_t i = axis < 0 ? axis + rank : axis; i < rank; i++)
    scale.dims[scale.rank++] = x->shape.dims[i];
  struct node *node;
  switch (below(g, 8)) {
    case 0:
      node = begin(g, "RMSNormalization", 1, 2, x, noise(g, &scale, "1"));
      set_int(g, node, "axis", axis);
      break;
    case 1:
      node = begin(g, "InstanceNormalization", 1, 3, x, noise_of(g, "1", 1, c, 0, 0),
                   noise_of(g, "0.5", 1, c, 0, 0));
      break;
    case 2:
      node = begin(g, "GroupNormalization", 1, 3, x, noise_of(g, "1", 1, c, 0, 0),
                   noise_of(g, "0.5", 1, c, 0, 0));
      set_int(g, node, "num_groups", c % 4 == 0 ? 4 : 1);
      break;
    case 3:
      node = begin(g, chance(g, 50) ? "LRN" : "MeanVarianceNormalization", 1, 1, x);
      if (is_op(node, OP_LRN)) set_int(g, node, "size", between(g, 1, 5));
      break;
    default: {
      struct value *bias = chance(g, 70) ? noise(g, &scale, "0.5") : NULL, *factor = NULL;
      if (chance(g, 20)) factor = pick(g, HONE_F32, 1, 1); /* at run time, or one for all */
      if (!factor && chance(g, 10)) factor = noise_of(g, "1", 1, 1, 0, 0);
      if (!factor) factor = noise(g, &scale, "1");
      node = begin(g, "LayerNormalization", 1, bias ? 3 : 2, x, factor, bias);
      set_int(g, node, "axis", axis);
      if (chance(g, 30)) set_float(g, node, "epsilon", 0.001);
    }
  }
  return commit(g, node) != NULL;
}

static bool make_arg(struct gen *g) {
  struct value *x = pick(g, HONE_F32, 1, 4);
  if (!x || !g->exact[x->index]) return false;
  int64_t axis = below(g, x->shape.rank), k = 1;
  struct node *node;
  if (chance(g, 50)) {
    node = begin(g, chance(g, 50) ? "ArgMax" : "ArgMin", 1, 1, x);
    set_int(g, node, "keepdims", below(g, 2));
  } else {
    if (x->shape.dims[axis] > 1) k = between(g, 1, x->shape.dims[axis]);
    node = begin(g, "TopK", 2, 2, x, ints(g, &k, 1));
    set_int(g, node, "largest", below(g, 2));
  }
  set_int(g, node, "axis", axis);
  return commit(g, node) != NULL;
}

static bool make_cumulative(struct gen *g) {
  struct value *x = pick(g, chance(g, 80) ? HONE_F32 : HONE_I64, 1, 4);
  if (!x) return false;
  double axis = (double)below(g, x->shape.rank);
  struct node *node = begin(g, "CumSum", 1, 2, x, listed(g, HONE_I64, 0, &axis, 1));
  set_int(g, node, "exclusive", below(g, 2));
  set_int(g, node, "reverse", below(g, 2));
  return commit(g, node) != NULL;
}

/* -- movement */

static bool make_transpose(struct gen *g) {
  struct value *x = pick(g, HONE_UNDEFINED, 1, 6);
  if (!x) return false;
  int64_t perm[8];
  int rank = x->shape.rank;
  for (int i = 0; i < rank; i++) {
    int64_t j = below(g, i + 1);
    perm[i] = perm[j];
    perm[j] = i;
  }
  if (rank == 4 && chance(g, 40)) { /* conversions between image layouts */
    static const int64_t nhwc[] = {0, 2, 3, 1}, nchw[] = {0, 3, 1, 2};
    memcpy(perm, chance(g, 50) ? nhwc : nchw, sizeof nhwc);
  }
  struct node *node = begin(g, "Transpose", 1, 1, x);
  if (chance(g, 90)) set_ints(g, node, "perm", perm, (size_t)rank);
  return commit(g, node) != NULL;
}

static bool make_reshape(struct gen *g) {
  struct value *x = pick(g, HONE_UNDEFINED, 0, 6);
  if (!x || elements(x) == 0) return false;
  int64_t to[16], left = elements(x);
  size_t count = 0;
  if (chance(g, 40)) { /* merge neighbours or split one dimension */
    for (int i = 0; i < x->shape.rank; i++) {
      int64_t d = x->shape.dims[i];
      if (count && chance(g, 40))
        to[count - 1] *= d;
      else if (d % 2 == 0 && chance(g, 30))
        to[count++] = 2, to[count++] = d / 2;
      else if (d % 3 == 0 && chance(g, 30))
        to[count++] = d / 3, to[count++] = 3;
      else
        to[count++] = d;
    }
  } else {
    for (int i = 0; i < 4 && left > 1 && chance(g, 75); i++) {
      int64_t part = between(g, 1, 17);
      if (left % part) continue;
      to[count++] = part;
      left /= part;
    }
    to[count++] = left;
  }
  if (count && chance(g, 30)) to[below(g, (int64_t)count)] = -1;
  return apply2(g, "Reshape", x, ints(g, to, count)) != NULL;
}

static bool make_shape_change(struct gen *g) {
  struct value *x = pick(g, HONE_UNDEFINED, 0, 5);
  if (!x) return false;
  int rank = x->shape.rank;
  int64_t axes[8];
  size_t count = 0;
  if (chance(g, 30)) {
    struct node *node = begin(g, "Flatten", 1, 1, x);
    set_int(g, node, "axis", between(g, -rank, rank));
    return commit(g, node) != NULL;
  }
  if (chance(g, 50)) {
    axes[0] = between(g, -rank - 1, rank);
    return apply2(g, "Unsqueeze", x, ints(g, axes, 1)) != NULL;
  }
  for (int i = 0; i < rank; i++)
    if (x->shape.dims[i] == 1 && chance(g, 60)) axes[count++] = i;
  if (!count) return false;
  return apply2(g, "Squeeze", x, ints(g, axes, count)) != NULL;
}

static bool make_slice(struct gen *g) {
  struct value *x = pick(g, HONE_UNDEFINED, 1, 5);
  if (!x) return false;
  int64_t starts[8], ends[8], axes[8], steps[8];
  size_t count = 0;
  for (int i = 0; i < x->shape.rank; i++) {
    int64_t d = x->shape.dims[i], a = between(g, 0, d), b = between(g, 0, d);
    if (!chance(g, 50)) continue;
    axes[count] = chance(g, 20) ? i - x->shape.rank : i;
    starts[count] = a < b ? a : b;
    ends[count] = a < b ? b : chance(g, 30) ? 1000000 : a;
    steps[count] = chance(g, 60) ? 1 : between(g, 1, 3);
    if (chance(g, 20)) {
      starts[count] = chance(g, 50) ? -1 : ends[count];
      ends[count] = chance(g, 50) ? -1000000 : 0;
      steps[count] = -between(g, 1, 2);
    }
    count++;
  }
  if (!count) return false;
  struct value *y =
      commit(g, begin(g, "Slice", 1, chance(g, 70) ? 5 : 4, x, ints(g, starts, count),
                      ints(g, ends, count), ints(g, axes, count), ints(g, steps, count)));
  return y != NULL;
}

static bool make_split(struct gen *g) {
  struct value *x = pick(g, HONE_UNDEFINED, 1, 5);
  if (!x) return false;
  int64_t axis = below(g, x->shape.rank), d = x->shape.dims[axis], sizes[4];
  size_t parts = (size_t)between(g, 1, 4);
  struct node *node;
  if (chance(g, 50)) {
    node = begin(g, "Split", parts, 1, x);
    set_int(g, node, "num_outputs", (int64_t)parts);
  } else {
    for (size_t i = 0; i + 1 < parts; i++) d -= sizes[i] = d ? below(g, d) : 0;
    sizes[parts - 1] = d;
    node = begin(g, "Split", parts, 2, x, ints(g, sizes, parts));
  }
  set_int(g, node, "axis", axis);
  return commit(g, node) != NULL;
}

static bool make_concat(struct gen *g) {
  struct value *x = pick(g, HONE_UNDEFINED, 1, 5), *in[4] = {x};
  if (!x) return false;
  size_t count = 1;
  int64_t axis = below(g, x->shape.rank);
  for (int i = 0; i < 30 && count < 4; i++) {
    struct value *y = pick(g, x->dtype, x->shape.rank, x->shape.rank);
    bool fits = y != NULL;
    for (int d = 0; fits && d < x->shape.rank; d++)
      fits = d == axis || x->shape.dims[d] == y->shape.dims[d];
    if (fits && chance(g, 70)) in[count++] = y;
  }
  if (x->dtype == HONE_F32 && count < 4 && chance(g, 30)) {
    struct shape shape = x->shape;
    shape.dims[axis] = between(g, 1, 3);
    in[count++] = noise(g, &shape, "1");
  }
  struct node *node = begin(g, "Concat", 1, count, in[0], in[1], in[2], in[3]);
  set_int(g, node, "axis", chance(g, 20) ? axis - x->shape.rank : axis);
  return commit(g, node) != NULL;
}

static bool make_expand(struct gen *g) {
  struct value *x = pick(g, HONE_UNDEFINED, 0, 4);
  if (!x) return false;
  int64_t to[8];
  size_t count = (size_t)x->shape.rank, lead = chance(g, 30);
  for (size_t i = 0; i < lead; i++) to[i] = between(g, 1, 3);
  for (size_t i = 0; i < count; i++)
    to[i + lead] = x->shape.dims[i] == 1 && chance(g, 70) ? a_dim(g) : x->shape.dims[i];
  if (chance(g, 60)) return apply2(g, "Expand", x, ints(g, to, count + lead)) != NULL;
  for (size_t i = 0; i < count; i++) to[i] = chance(g, 50) ? 1 : between(g, 1, 3);
  return apply2(g, "Tile", x, ints(g, to, count)) != NULL;
}

static bool make_pad(struct gen *g) {
  static const char *const modes[] = {"constant", "reflect", "edge", "wrap"};
  struct value *x = pick(g, chance(g, 90) ? HONE_F32 : HONE_I64, 1, 5);
  if (!x) return false;
  int64_t pads[16];
  size_t n = (size_t)x->shape.rank;
  for (size_t i = 0; i < 2 * n; i++)
    pads[i] = chance(g, 50) ? 0 : chance(g, 15) ? -1 : between(g, 1, 3);
  bool fill = x->dtype == HONE_F32 && chance(g, 50);
  const char *mode = modes[chance(g, 60) ? 0 : below(g, 4)];
  struct node *node =
      begin(g, "Pad", 1, fill ? 3 : 2, x, ints(g, pads, 2 * n), fill ? scalar(g, 0.25) : NULL);
  if (strcmp(mode, "constant")) set_string(g, node, "mode", mode);
  return commit(g, node) != NULL;
}

static bool make_gather(struct gen *g) {
  struct value *x = pick(g, HONE_UNDEFINED, 1, 5), *index = NULL;
  if (!x) return false;
  int64_t axis = below(g, x->shape.rank), d = x->shape.dims[axis];
  double at[8];
  for (int i = 0; i < 8; i++) at[i] = d ? (double)(between(g, -d, d - 1)) : 0;
  if (chance(g, 40)) index = pick(g, HONE_I64, 0, 2);
  if (!index)
    index = chance(g, 50) ? listed(g, HONE_I64, 0, at, 1)
                          : listed(g, HONE_I64, 1, at, (size_t)between(g, 1, 8));
  struct node *node = begin(g, "Gather", 1, 2, x, index);
  set_int(g, node, "axis", axis);
  return commit(g, node) != NULL;
}

static bool make_blocks(struct gen *g) {
  struct value *x = pick(g, HONE_F32, 4, 4);
  if (!x) return false;
  struct node *node = begin(g, chance(g, 50) ? "DepthToSpace" : "SpaceToDepth", 1, 1, x);
  set_int(g, node, "blocksize", between(g, 1, 3));
  if (is_op(node, OP_DepthToSpace) && chance(g, 50)) set_string(g, node, "mode", "CRD");
  return commit(g, node) != NULL;
}

static bool make_resize(struct gen *g) {
  struct value *x = pick(g, HONE_F32, 4, 4);
  if (!x || elements(x) == 0) return false;
  static const char *const modes[] = {"nearest", "linear", "cubic"};
  double scales[4] = {1, 1, (double)between(g, 1, 5) / 2, (double)between(g, 1, 5) / 2};
  const char *mode = modes[below(g, 3)];
  struct node *node = begin(g, "Resize", 1, 3, x, NULL, listed(g, HONE_F32, 1, scales, 4));
  set_string(g, node, "mode", mode);
  if (!strcmp(mode, "nearest")) set_string(g, node, "coordinate_transformation_mode", "asymmetric");
  return commit(g, node) != NULL;
}

static bool make_triangle(struct gen *g) {
  struct node *node = NULL;
  struct value *x = pick(g, HONE_F32, 2, 4);
  if (!x) return false;
  node = begin(g, "Trilu", 1, 1, x);
  set_int(g, node, "upper", below(g, 2));
  return commit(g, node) != NULL;
}

/* -- patterns that passes and plans look for */

static bool make_gelu(struct gen *g) {
  struct value *x = pick(g, HONE_F32, 1, 4);
  if (!x) return false;
  if (chance(g, 50)) {
    struct value *e = apply1(g, "Erf", apply2(g, "Div", x, scalar(g, 1.4142135381698608)));
    struct value *h = apply2(g, "Mul", x, apply2(g, "Add", e, scalar(g, 1)));
    return apply2(g, "Mul", h, scalar(g, 0.5)) != NULL;
  }
  struct value *cube = apply2(g, "Mul", apply2(g, "Mul", x, x), x);
  struct value *inner = apply2(g, "Add", x, apply2(g, "Mul", cube, scalar(g, 0.044715)));
  struct value *t = apply1(g, "Tanh", apply2(g, "Mul", inner, scalar(g, 0.7978845608)));
  struct value *half = apply2(g, "Mul", x, scalar(g, 0.5));
  return apply2(g, "Mul", half, apply2(g, "Add", t, scalar(g, 1))) != NULL;
}

static struct value *mean(struct gen *g, struct value *x, int64_t axis) {
  return x ? commit(g, begin(g, "ReduceMean", 1, 2, x, ints(g, &axis, 1))) : NULL;
}

static bool make_layernorm_parts(struct gen *g) {
  struct value *x = pick(g, HONE_F32, 1, 4);
  if (!x || elements(x) == 0) return false;
  int64_t axis = chance(g, 70) ? -1 : below(g, x->shape.rank), d = x->shape.dims[x->shape.rank - 1];
  struct value *c = apply2(g, "Sub", x, mean(g, x, axis)), *square;
  if (!c) return false;
  square = chance(g, 50) ? apply2(g, "Pow", c, scalar(g, 2)) : apply2(g, "Mul", c, c);
  struct value *deviation = apply1(
      g, "Sqrt", apply2(g, "Add", mean(g, square, axis), scalar(g, chance(g, 80) ? 1e-5 : 1)));
  struct value *y = apply2(g, "Div", c, deviation);
  if (chance(g, 85)) y = apply2(g, "Mul", y, noise_of(g, "1", 1, d, 0, 0));
  if (chance(g, 10))
    y = apply2(g, "Add", y, noise_of(g, "0.5", 3, 1, 1, d));
  else if (chance(g, 85))
    y = apply2(g, "Add", y, noise_of(g, "0.5", 1, d, 0, 0));
  return y != NULL;
}

static bool make_residual(struct gen *g) {
  struct value *x = pick(g, HONE_F32, 4, 4);
  if (!x || elements(x) == 0) return false;
  int64_t c = x->shape.dims[1], kernel[2] = {3, 3}, pads[4] = {1, 1, 1, 1};
  struct shape w = {.rank = 4, .dims = {c, c, 3, 3}};
  struct node *node = begin(g, "Conv", 1, 2, x, noise(g, &w, "0.1"));
  set_ints(g, node, "kernel_shape", kernel, 2);
  set_ints(g, node, "pads", pads, 4);
  struct value *y = commit(g, node);
  if (chance(g, 50)) y = apply1(g, "Relu", y);
  y = chance(g, 70) ? apply2(g, "Add", y, x) : apply2(g, "Add", x, y);
  if (chance(g, 60)) y = apply1(g, "Relu", y);
  return y != NULL;
}

static bool make_attention(struct gen *g) {
  struct value *x = pick(g, HONE_F32, 3, 3);
  if (!x || elements(x) == 0) return false;
  int64_t n = x->shape.dims[0], t = x->shape.dims[1], d = x->shape.dims[2];
  int64_t heads = d % 4 == 0 ? 4 : 1, to[4] = {n, t, heads, d / heads}, back[3] = {n, t, d};
  struct value *part[3];
  for (int i = 0; i < 3; i++) {
    static const int64_t forward[] = {0, 2, 1, 3}, turned[] = {0, 2, 3, 1};
    part[i] = apply2(g, "Reshape", apply2(g, "MatMul", x, noise_of(g, "0.2", 2, d, d, 0)),
                     ints(g, to, 4));
    if (!part[i]) return false;
    struct node *node = begin(g, "Transpose", 1, 1, part[i]);
    set_ints(g, node, "perm", i == 1 ? turned : forward, 4);
    part[i] = commit(g, node);
  }
  struct value *scores = apply2(g, "Mul", apply2(g, "MatMul", part[0], part[1]), scalar(g, 0.25));
  struct value *mixed = apply2(g, "MatMul", apply1(g, "Softmax", scores), part[2]);
  if (!mixed) return false;
  static const int64_t perm[] = {0, 2, 1, 3};
  struct node *node = begin(g, "Transpose", 1, 1, mixed);
  set_ints(g, node, "perm", perm, 4);
  mixed = commit(g, node);
  return mixed && apply2(g, "Reshape", mixed, ints(g, back, 3)) != NULL;
}

static bool make_gate(struct gen *g) { /* squeeze and excite, or Swish written out */
  struct value *x = pick(g, HONE_F32, 1, 4);
  if (!x || elements(x) == 0) return false;
  if (x->shape.rank < 4 || chance(g, 50))
    return apply2(g, "Mul", x, apply1(g, "Sigmoid", x)) != NULL;
  struct value *p = apply1(g, "GlobalAveragePool", x);
  struct value *q = p ? convolve(g, p, x->shape.dims[1], 1, 1) : NULL;
  return apply2(g, "Mul", x, apply1(g, "Sigmoid", q)) != NULL;
}

static bool make_branches(struct gen *g) { /* parallel convolutions, concatenated */
  struct value *x = pick(g, HONE_F32, 4, 4), *part[3] = {0};
  if (!x || elements(x) == 0) return false;
  int64_t kernel[2] = {3, 3}, pads[4] = {1, 1, 1, 1};
  part[0] = convolve(g, x, between(g, 1, 20), 1, 1);
  struct node *node = begin(g, "MaxPool", 1, 1, x);
  set_ints(g, node, "kernel_shape", kernel, 2);
  set_ints(g, node, "pads", pads, 4);
  part[1] = commit(g, node);
  part[2] = apply1(g, "Relu", part[0]);
  if (!part[0] || !part[1] || !part[2]) return false;
  node = begin(g, "Concat", 1, (size_t)between(g, 2, 3), part[0], part[1], part[2]);
  set_int(g, node, "axis", 1);
  return commit(g, node) != NULL;
}

/* -- the graph */

static const struct {
  bool (*make)(struct gen *g);
  int weight;
} makers[] = {
    {make_unary, 12},       {make_binary, 14},        {make_power, 2},
    {make_variadic, 2},     {make_compare, 3},        {make_logic, 2},
    {make_where, 3},        {make_cast, 3},           {make_clip, 2},
    {make_integer, 3},      {make_batchnorm, 4},      {make_conv, 12},
    {make_matmul, 10},      {make_gemm, 5},           {make_pool, 6},
    {make_reduce, 6},       {make_softmax, 3},        {make_norm, 4},
    {make_arg, 1},          {make_cumulative, 1},     {make_transpose, 6},
    {make_reshape, 7},      {make_slice, 6},          {make_split, 4},
    {make_concat, 5},       {make_expand, 4},         {make_pad, 4},
    {make_gather, 4},       {make_blocks, 2},         {make_resize, 1},
    {make_triangle, 1},     {make_gelu, 2},           {make_gate, 2},
    {make_branches, 2},     {make_residual, 3},       {make_attention, 2},
    {make_shape_change, 4}, {make_conv_transpose, 1}, {make_layernorm_parts, 2},
};

/* Each graph uses only some of the makers, so that rare ones are combined (swarm testing: Groce et
   al. 2012). */
static void choose_makers(struct gen *g) {
  int keep = (int)between(g, 20, 100);
  for (size_t i = 0; i < COUNT(makers); i++)
    g->weights[i] = chance(g, keep) ? makers[i].weight + (int)below(g, 4) : 0;
  g->weights[0] += 1;
}

static void make_some(struct gen *g) {
  int total = 0, at;
  for (size_t i = 0; i < COUNT(makers); i++) total += g->weights[i];
  at = (int)below(g, total);
  for (size_t i = 0; i < COUNT(makers); i++)
    if ((at -= g->weights[i]) < 0) {
      (void)makers[i].make(g);
      return;
    }
}

static void make_inputs(struct gen *g) {
  int count = (int)between(g, 1, 3);
  for (int i = 0; i < count; i++) {
    struct shape shape = {.rank = (int)below(g, 6)};
    struct value *value;
    char name[16];
    bool is_image = chance(g, 45);
    if (is_image) shape.rank = 4;
    for (int d = 0; d < shape.rank; d++)
      shape.dims[d] = d == 0 && shape.rank > 2 ? between(g, 1, 3) : a_dim(g);
    if (chance(g, 4) && shape.rank) shape.dims[below(g, shape.rank)] = 0;
    while (1) {
      int64_t size, *widest = &shape.dims[0];
      if (!shape_count(&shape, &size) || size <= 12000) break;
      for (int d = 0; d < shape.rank; d++)
        if (shape.dims[d] > *widest) widest = &shape.dims[d];
      *widest /= 2;
    }
    hone_dtype dtype = chance(g, 65) || !i ? HONE_F32 : chance(g, 60) ? HONE_I64 : HONE_BOOL;
    snprintf(name, sizeof name, "x%d", i);
    must(g, graph_input(&g->s->ctx, g->graph, name, dtype, &shape, &value));
    must(g, scene_input(g->s, value));
    g->exact[value->index] = true;
    g->pool[g->count++] = value;
  }
}

hone_status random_graph(struct scene *s, uint64_t seed) {
  static struct gen g;
  uint32_t *uses;
  memset(&g, 0, sizeof g);
  g.s = s;
  random_init(&g.random, seed);
  TRY(graph_create(&s->ctx, s->arena, &s->graph));
  g.graph = s->graph;
  s->graph->name = "random";
  make_inputs(&g);
  choose_makers(&g);
  size_t wanted = (size_t)(chance(&g, 25) ? between(&g, 1, 5) : between(&g, 6, 40));
  for (int i = 0; i < 400 && s->graph->nodes.count < wanted; i++) make_some(&g);
  /* unused values, and some used ones; sometimes an input, or a value twice */
  TRY(graph_uses(&s->ctx, s->arena, s->graph, &uses));
  size_t inputs = s->graph->inputs.count;
  for (size_t i = 0; i < g.count; i++) {
    bool leaf = !uses[g.pool[i]->index] && i >= inputs;
    if (s->graph->outputs.count < 24 && (leaf || chance(&g, i < inputs ? 2 : 6)))
      TRY(graph_output(&s->ctx, s->graph, g.pool[i]));
  }
  if (!s->graph->outputs.count) TRY(graph_output(&s->ctx, s->graph, g.pool[g.count - 1]));
  if (chance(&g, 3)) TRY(graph_output(&s->ctx, s->graph, s->graph->outputs.at[0]));
  size_t removed;
  TRY(graph_sweep(&s->ctx, s->graph, &removed));
  return graph_verify(&s->ctx, s->graph);
}
