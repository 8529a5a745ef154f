/* Models that gather: graph networks over constant edges, as PyTorch Geometric exports them (gather by
 * source, scatter by destination), and a recommendation model with bags of embeddings. The graphs are
 * random, of Cora's size: 2,708 nodes, 5,278 undirected edges, 1,433 features, 7 classes. */
#include "build.h"

#include <math.h>
#include <stdlib.h>

enum { FEATURES = 1433, CLASSES = 7, DEGREE_HUNDREDTHS = 195 };

/* Directed edges and loops. */
struct edges {
  int64_t nodes;
  size_t count;
  int64_t *from, *to;
  double *degree; /* of each node, loop included */
};

static bool has_graph(struct builder *b, struct edges *out) {
  struct random random;
  const size_t nodes = (size_t)b->options.size, pairs = nodes * DEGREE_HUNDREDTHS / 100;
  *out = (struct edges){.nodes = b->options.size, .count = 2 * pairs + nodes};
  if (!b->status) b->status = NEW_ARRAY(b->ctx, b->graph->arena, out->from, out->count);
  if (!b->status) b->status = NEW_ARRAY(b->ctx, b->graph->arena, out->to, out->count);
  if (!b->status) b->status = NEW_ARRAY(b->ctx, b->graph->arena, out->degree, nodes);
  if (b->status) return false;
  random_init(&random, 2708);
  for (size_t i = 0; i < pairs; i++) {
    out->from[2 * i] = out->to[2 * i + 1] = (int64_t)random_below(&random, nodes);
    out->to[2 * i] = out->from[2 * i + 1] = (int64_t)random_below(&random, nodes);
  }
  for (size_t i = 0; i < nodes; i++) out->from[2 * pairs + i] = out->to[2 * pairs + i] = (int64_t)i;
  memset(out->degree, 0, nodes * sizeof *out->degree);
  for (size_t e = 0; e < out->count; e++) out->degree[out->to[e]]++;
  return true;
}

static struct value *gather(struct builder *b, struct value *x, const int64_t *rows, size_t count) {
  struct value *y = zoo_op2(b, "Gather", x, zoo_i64(b, 1, rows, count));
  if (y) zoo_int(b, y, "axis", 0);
  return y;
}

/* Sum or maximum of rows [edges, ...] by destination: dims = [nodes, ...]. Indices are expanded
 * to every element, as exported: ONNX Runtime 1.31 adds with ScatterND in parallel and loses
 * updates. */
static struct value *scatter(struct builder *b, const struct edges *g, struct value *rows, int rank,
                             const int64_t *dims, const char *reduction) {
  int64_t column[4] = {(int64_t)g->count, 1, 1, 1}, all[4] = {(int64_t)g->count};
  for (int d = 1; d < rank; d++) all[d] = dims[d];
  struct value *places = zoo_reshape(b, zoo_i64(b, 1, g->to, g->count), rank, column);
  places = zoo_op2(b, "Expand", places, zoo_i64(b, 1, all, (size_t)rank));
  struct value *data = zoo_filled(b, rank, dims, reduction[0] == 'm' ? -1e30 : 0);
  struct value *y = zoo_op3(b, "ScatterElements", data, places, rows);
  if (y) zoo_int(b, y, "axis", 0);
  zoo_text(b, y, "reduction", reduction);
  return y;
}

static struct value *sum_of_neighbours(struct builder *b, const struct edges *g, struct value *x,
                                       int64_t width, struct value *weights) {
  struct value *rows = gather(b, x, g->from, g->count);
  if (weights) rows = zoo_op2(b, "Mul", rows, weights);
  return scatter(b, g, rows, 2, (int64_t[]){g->nodes, width}, "add");
}

static struct value *weight(struct builder *b, const char *name, int64_t in, int64_t out,
                            double gain) {
  return zoo_weight(b, name, 2, (int64_t[]){in, out}, 0, sqrt(gain / (double)in));
}

static struct value *bias(struct builder *b, const char *name, struct value *x, int64_t width) {
  return zoo_op2(b, "Add", x, zoo_weight(b, name, 1, &width, 0, 0.05));
}

static struct value *features(struct builder *b) {
  return zoo_input(b, "x", HONE_F32, 2, (int64_t[]){b->options.size, FEATURES});
}

/* -- graph convolutions: D^-1/2 A D^-1/2 X W */

static struct value *normalisation(struct builder *b, const struct edges *g) {
  double *weights;
  if (!b->status) b->status = NEW_ARRAY(b->ctx, b->graph->arena, weights, g->count);
  if (b->status) return NULL;
  for (size_t e = 0; e < g->count; e++)
    weights[e] = 1 / sqrt(g->degree[g->from[e]] * g->degree[g->to[e]]);
  return zoo_column(b, weights, g->count);
}

void zoo_gcn(struct builder *b, int variant) {
  enum { HIDDEN = 16 };
  struct edges g;
  struct value *x = features(b);
  (void)variant;
  if (!has_graph(b, &g)) return;
  struct value *norm = normalisation(b, &g);
  x = zoo_op2(b, "MatMul", x, weight(b, "conv1.weight", FEATURES, HIDDEN, 1));
  x = zoo_op1(b, "Relu", bias(b, "conv1.bias", sum_of_neighbours(b, &g, x, HIDDEN, norm), HIDDEN));
  x = zoo_op2(b, "MatMul", x, weight(b, "conv2.weight", HIDDEN, CLASSES, 2));
  zoo_output(b, "output",
             bias(b, "conv2.bias", sum_of_neighbours(b, &g, x, CLASSES, norm), CLASSES));
}

/* -- mean of the neighbours plus the node itself */

/* The matmul precedes the mean, which is linear, because it narrows the rows. */
static struct value *sage(struct builder *b, const struct edges *g, const char *name,
                          struct value *x, struct value *share, int64_t in, int64_t out) {
  struct value *own = zoo_op2(b, "MatMul", x, weight(b, zoo_name(b, "%s.self", name), in, out, 1));
  struct value *mean = zoo_op2(b, "MatMul", x, weight(b, zoo_name(b, "%s.mean", name), in, out, 1));
  mean = zoo_op2(b, "Mul", sum_of_neighbours(b, g, mean, out, NULL), share);
  return bias(b, zoo_name(b, "%s.bias", name), zoo_op2(b, "Add", own, mean), out);
}

void zoo_graphsage(struct builder *b, int variant) {
  enum { HIDDEN = 64 };
  struct edges g;
  struct value *x = features(b);
  (void)variant;
  if (!has_graph(b, &g)) return;
  for (int64_t i = 0; i < g.nodes; i++) g.degree[i] = 1 / g.degree[i];
  struct value *share = zoo_column(b, g.degree, (size_t)g.nodes);
  x = zoo_op1(b, "Relu", sage(b, &g, "conv1", x, share, FEATURES, HIDDEN));
  zoo_output(b, "output", sage(b, &g, "conv2", x, share, HIDDEN, CLASSES));
}

/* -- attention over neighbours */

/* [nodes, heads]: each head's product with its own vector. */
static struct value *score(struct builder *b, const char *name, struct value *x, int64_t heads,
                           int64_t depth) {
  struct value *vector =
      zoo_weight(b, name, 2, (int64_t[]){heads, depth}, 0, sqrt(1 / (double)depth));
  struct value *y =
      zoo_op2(b, "ReduceSum", zoo_op2(b, "Mul", x, vector), zoo_i64(b, 1, (const int64_t[]){2}, 1));
  if (y) zoo_int(b, y, "keepdims", 0);
  return y;
}

/* Softmax over the edges into each node, e [edges, heads], then the sum of their rows of x
   [nodes, heads, depth]: [nodes, heads * depth]. */
static struct value *weighted_sum(struct builder *b, const struct edges *g, struct value *e,
                                  struct value *x, int64_t heads, int64_t depth) {
  const int64_t scores[] = {g->nodes, heads}, rows[] = {g->nodes, heads, depth};
  struct value *most = scatter(b, g, e, 2, scores, "max");
  e = zoo_op1(b, "Exp", zoo_op2(b, "Sub", e, gather(b, most, g->to, g->count)));
  struct value *sum = scatter(b, g, e, 2, scores, "add");
  e = zoo_op2(b, "Div", e, gather(b, sum, g->to, g->count));
  e = zoo_reshape(b, e, 3, (int64_t[]){(int64_t)g->count, heads, 1});
  struct value *messages = zoo_op2(b, "Mul", gather(b, x, g->from, g->count), e);
  x = scatter(b, g, messages, 3, rows, "add");
  return zoo_reshape(b, x, 2, (int64_t[]){g->nodes, heads * depth});
}

static struct value *leaky(struct builder *b, struct value *x) {
  x = zoo_op1(b, "LeakyRelu", x);
  zoo_float(b, x, "alpha", 0.2);
  return x;
}

static struct value *attend(struct builder *b, const struct edges *g, const char *name,
                            struct value *x, int64_t in, int64_t heads, int64_t depth) {
  x = zoo_op2(b, "MatMul", x, weight(b, zoo_name(b, "%s.weight", name), in, heads * depth, 1));
  x = zoo_reshape(b, x, 3, (int64_t[]){g->nodes, heads, depth});
  struct value *source = score(b, zoo_name(b, "%s.source", name), x, heads, depth);
  struct value *target = score(b, zoo_name(b, "%s.target", name), x, heads, depth);
  struct value *e =
      zoo_op2(b, "Add", gather(b, source, g->from, g->count), gather(b, target, g->to, g->count));
  x = weighted_sum(b, g, leaky(b, e), x, heads, depth);
  return bias(b, zoo_name(b, "%s.bias", name), x, heads * depth);
}

/* The score is computed after the nonlinearity (Brody et al. 2021), so that it depends on both ends
 * jointly. */
static struct value *attend_v2(struct builder *b, const struct edges *g, const char *name,
                               struct value *x, int64_t in, int64_t heads, int64_t depth) {
  const int64_t rows[] = {g->nodes, heads, depth}, width = heads * depth;
  const char *left = zoo_name(b, "%s.lin_l", name), *right = zoo_name(b, "%s.lin_r", name);
  struct value *from = zoo_project(b, left, x, in, width, 1);
  struct value *to = zoo_project(b, right, x, in, width, 1);
  from = zoo_reshape(b, from, 3, rows);
  to = zoo_reshape(b, to, 3, rows);
  struct value *e =
      zoo_op2(b, "Add", gather(b, from, g->from, g->count), gather(b, to, g->to, g->count));
  e = score(b, zoo_name(b, "%s.att", name), leaky(b, e), heads, depth);
  x = weighted_sum(b, g, e, from, heads, depth);
  return bias(b, zoo_name(b, "%s.bias", name), x, width);
}

typedef struct value *attend_fn(struct builder *b, const struct edges *g, const char *name,
                                struct value *x, int64_t in, int64_t heads, int64_t depth);

static void two_layers(struct builder *b, attend_fn *layer) {
  enum { HEADS = 8, DEPTH = 8 };
  struct edges g;
  struct value *x = features(b);
  if (!has_graph(b, &g)) return;
  x = zoo_op1(b, "Elu", layer(b, &g, "conv1", x, FEATURES, HEADS, DEPTH));
  zoo_output(b, "output", layer(b, &g, "conv2", x, HEADS * DEPTH, 1, CLASSES));
}

void zoo_gat(struct builder *b, int variant) {
  (void)variant;
  two_layers(b, attend);
}

void zoo_gatv2(struct builder *b, int variant) {
  (void)variant;
  two_layers(b, attend_v2);
}

/* -- recommendation */

enum { TABLES = 26, ROWS = 1000, BAG = 10, WIDTH = 16, DENSE = 13 };

static struct value *bags(struct builder *b, int table) {
  struct value *in =
      zoo_input(b, zoo_name(b, "bag_%d", table), HONE_I64, 2, (int64_t[]){b->options.batch, BAG});
  struct value *rows =
      zoo_weight(b, zoo_name(b, "table_%d", table), 2, (const int64_t[]){ROWS, WIDTH}, 0, 0.2);
  struct value *y = zoo_op2(b, "Gather", rows, in);
  if (y) zoo_int(b, y, "axis", 0);
  y = zoo_op2(b, "ReduceSum", y, zoo_i64(b, 1, (const int64_t[]){1}, 1));
  if (y) zoo_int(b, y, "keepdims", 0);
  return zoo_reshape(b, y, 3, (int64_t[]){b->options.batch, 1, WIDTH});
}

static struct value *dense(struct builder *b, const char *name, struct value *x,
                           const int64_t *widths, size_t count) {
  for (size_t i = 0; i + 1 < count; i++) {
    x = zoo_linear(b, zoo_name(b, "%s%zu", name, i), x, widths[i], widths[i + 1], i ? 2 : 1);
    x = zoo_op1(b, widths[i + 1] > 1 ? "Relu" : "Sigmoid", x);
  }
  return x;
}

/* Every pair of the 27 vectors once: the dot products below the diagonal. */
static struct value *interactions(struct builder *b, struct value *vectors) {
  enum { ALL = TABLES + 1 };
  int64_t below[ALL * TABLES / 2], n = 0;
  for (int64_t i = 0; i < ALL; i++)
    for (int64_t k = 0; k < i; k++) below[n++] = i * ALL + k;
  struct value *turned = zoo_transpose(b, vectors, 3, (const int64_t[]){0, 2, 1});
  struct value *x = zoo_op2(b, "MatMul", vectors, turned);
  x = zoo_reshape(b, x, 2, (int64_t[]){b->options.batch, ALL * ALL});
  x = zoo_op2(b, "Gather", x, zoo_i64(b, 1, below, (size_t)n));
  if (x) zoo_int(b, x, "axis", 1);
  return x;
}

void zoo_dlrm(struct builder *b, int variant) {
  static const int64_t bottom[] = {DENSE, 512, 256, 64, WIDTH};
  static const int64_t top[] = {WIDTH + 351, 512, 256, 1};
  struct value *x = zoo_input(b, "dense", HONE_F32, 2, (int64_t[]){b->options.batch, DENSE});
  struct value *vectors[TABLES + 1], *all;
  (void)variant;
  x = dense(b, "bottom", x, bottom, COUNT(bottom));
  vectors[0] = zoo_reshape(b, x, 3, (int64_t[]){b->options.batch, 1, WIDTH});
  for (int table = 0; table < TABLES; table++) vectors[table + 1] = bags(b, table);
  zoo_node(b, "Concat", vectors, TABLES + 1, &all, 1);
  if (all) zoo_int(b, all, "axis", 1);
  struct value *both[2] = {x, interactions(b, all)};
  zoo_node(b, "Concat", both, 2, &x, 1);
  if (x) zoo_int(b, x, "axis", 1);
  zoo_output(b, "output", dense(b, "top", x, top, COUNT(top)));
}
