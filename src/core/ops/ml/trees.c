/* trees: TreeEnsembleClassifier and TreeEnsembleRegressor of ai.onnx.ml. The attributes are
 * parallel lists: one entry per node, and one per (leaf, class or target, weight). Each row
 * descends from every tree's root to a leaf; the leaves' weights are summed per class, then
 * post_transform computes the scores. */
#include <math.h>

#include "forest.h"

static hone_status read_rows(struct ctx *ctx, const struct node *node, const struct shape *x,
                             int64_t *out_rows, int64_t *out_features) {
  if (x->rank != 1 && x->rank != 2)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "input 0 has rank %d, expected 1 or 2",
                x->rank);
  *out_rows = x->rank == 1 ? 1 : x->dims[0];
  *out_features = x->dims[x->rank - 1];
  return HONE_OK;
}

static hone_status infer_trees(struct ctx *ctx, const struct node *node, bool is_classifier) {
  struct lists l;
  int64_t rows, features;
  TRY(forest_lists(ctx, node, is_classifier, &l));
  TRY(read_rows(ctx, node, &node->inputs[0]->shape, &rows, &features));
  if (node->inputs[0]->dtype == HONE_STRING)
    return fail(ctx, HONE_E_TYPE, node_place(node), "%s is not defined for strings",
                node->op->name);
  struct shape labels = shape_of(1, &rows), scores = shape_of(2, (int64_t[]){rows, l.classes});
  if (!is_classifier) return set_output(ctx, node, 0, HONE_F32, &scores);
  bool is_text = l.labels->kind == ATTRIBUTE_STRINGS;
  TRY(set_output(ctx, node, 0, is_text ? HONE_STRING : HONE_I64, &labels));
  return set_output(ctx, node, 1, HONE_F32, &scores);
}

hone_status infer_tree_classifier(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return infer_trees(ctx, node, true);
}
hone_status infer_tree_regressor(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return infer_trees(ctx, node, false);
}

/* -- one row */

static bool goes_true(const struct tree_node *n, double x) {
  if (isnan(x)) return n->missing_is_true || n->mode == NEQ;
  switch (n->mode) {
    case LEQ:
      return x <= n->threshold;
    case LT:
      return x < n->threshold;
    case GTE:
      return x >= n->threshold;
    case GT:
      return x > n->threshold;
    case EQ:
      return x == n->threshold;
    default:
      return x != n->threshold;
  }
}

static hone_status find_leaf(struct ctx *ctx, const struct node *node, const struct forest *f,
                             size_t at, const double *x, const struct tree_node **out) {
  for (size_t steps = 0; steps <= f->l.nodes; steps++) {
    const struct tree_node *n = &f->nodes[at];
    *out = n;
    if (n->mode == LEAF) return HONE_OK;
    at = goes_true(n, x[n->feature]) ? n->if_true : n->if_false;
  }
  return fail(ctx, HONE_E_SHAPE, node_place(node), "a tree has a cycle");
}

enum aggregate { SUM, AVERAGE, MIN, MAX };

static void add_leaf(const struct forest *f, const struct tree_node *leaf, enum aggregate how,
                     double *scores, bool *seen) {
  for (size_t w = 0; w < leaf->weight_count; w++) {
    size_t i = f->order[leaf->first_weight + w];
    double value = number_at(&f->l.values, i), *score = &scores[f->l.weight_class[i]];
    bool *known = &seen[f->l.weight_class[i]];
    if (how == SUM || how == AVERAGE) *score += value;
    if (how == MIN) *score = *known && *score < value ? *score : value;
    if (how == MAX) *score = *known && *score > value ? *score : value;
    *known = true;
  }
}

static hone_status score_row(struct ctx *ctx, const struct node *node, const struct forest *f,
                             enum aggregate how, const double *x, double *scores, bool *seen) {
  for (int64_t c = 0; c < f->l.classes; c++) scores[c] = 0, seen[c] = false;
  for (size_t t = 0; t < f->root_count; t++) {
    const struct tree_node *leaf;
    TRY(find_leaf(ctx, node, f, f->roots[t], x, &leaf));
    add_leaf(f, leaf, how, scores, seen);
  }
  for (int64_t c = 0; c < f->l.classes; c++) {
    if (how == AVERAGE) scores[c] /= (double)f->root_count;
    if (f->l.base.count == (size_t)f->l.classes) scores[c] += number_at(&f->l.base, (size_t)c);
  }
  return HONE_OK;
}

/* -- post_transform */

enum transform { NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO, PROBIT };

static double logistic(double x) { return 1 / (1 + exp(-x)); }

/* Inverse of the normal distribution's integral: sqrt(2) * erfinv(2p - 1) by bisection. */
static double probit(double p) {
  double low = -40, high = 40;
  for (int i = 0; i < 200; i++) {
    double middle = (low + high) / 2;
    if (0.5 * erfc(-middle / sqrt(2)) < p)
      low = middle;
    else
      high = middle;
  }
  return (low + high) / 2;
}

static void transform_scores(enum transform how, double *x, int64_t count) {
  double max = -INFINITY, sum = 0;
  for (int64_t i = 0; i < count; i++) max = x[i] > max ? x[i] : max;
  for (int64_t i = 0; i < count; i++) {
    bool skip = how == SOFTMAX_ZERO && fabs(x[i]) < 1e-7;
    if (how == LOGISTIC) x[i] = logistic(x[i]);
    if (how == PROBIT) x[i] = probit(x[i]);
    if (how != SOFTMAX && how != SOFTMAX_ZERO) continue;
    x[i] = skip ? 0 : exp(x[i] - max);
    sum += x[i];
  }
  for (int64_t i = 0; i < count && sum > 0; i++) x[i] /= sum;
}

static hone_status read_transform(struct ctx *ctx, const struct node *node, enum transform *out) {
  static const char *const names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  int which = 0;
  TRY(word_attribute(ctx, node, "post_transform", names, COUNT(names), &which));
  *out = (enum transform)which;
  return HONE_OK;
}

/* -- evaluation */

/* Fills both scores from the one sum and returns the index of the label, as ONNX Runtime does: if
 * the weights belong to the first class, the sum counts for the second one, as a probability if no
 * weight is negative; if they belong to the second one, the first has score 0. */
static int64_t finish_binary(const struct binary *b, enum transform how, double sum,
                             double *scores) {
  int64_t label = sum > (b->all_positive ? 0.5 : 0);
  scores[1] = sum;
  scores[0] = b->weight_class ? 0 : b->all_positive && how != LOGISTIC ? 1 - sum : -sum;
  if (b->weight_class || how == LOGISTIC || how == PROBIT) transform_scores(how, scores, 2);
  return label;
}

static int64_t finish_classes(const struct forest *f, enum transform how, double *scores) {
  int64_t best = 0;
  for (int64_t c = 1; c < f->l.classes; c++)
    if (scores[c] > scores[best]) best = c;
  transform_scores(how, scores, f->l.classes);
  return best;
}

static void write_label(const struct lists *l, const struct tensor *out, int64_t row,
                        int64_t label) {
  if (!out) return;
  if (l->labels->kind == ATTRIBUTE_STRINGS)
    ((struct string *)tensor_data(out))[row] = l->labels->strings[label];
  else
    tensor_set_i64(out, (size_t)row, l->labels->ints[label]);
}

struct work {
  struct forest forest;
  int64_t rows, features;
  enum transform transform;
  double *x, *scores;
  bool *seen;
};

static hone_status prepare(struct ctx *ctx, struct arena *scratch, const struct node *node,
                           const struct tensor *x, bool is_classifier, struct work *w) {
  *w = (struct work){0};
  TRY(forest_lists(ctx, node, is_classifier, &w->forest.l));
  TRY(read_rows(ctx, node, &x->shape, &w->rows, &w->features));
  TRY(read_transform(ctx, node, &w->transform));
  TRY(forest_link(ctx, scratch, node, w->features, &w->forest));
  TRY(to_f64(ctx, scratch, x, &w->x));
  TRY(NEW_ARRAY(ctx, scratch, w->scores, (size_t)w->forest.l.classes));
  return NEW_ARRAY(ctx, scratch, w->seen, (size_t)w->forest.l.classes);
}

hone_status eval_tree_classifier(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                 const struct tensor *const *in, struct tensor *const *out) {
  struct work w;
  TRY(prepare(ctx, scratch, node, in[0], true, &w));
  const struct lists *l = &w.forest.l;
  struct binary binary = forest_binary(l);
  if (binary.holds && l->base.count == 2)
    return fail(ctx, HONE_E_UNSUP, node_place(node),
                "two base_values for weights of one class are not supported");
  for (int64_t row = 0; row < w.rows; row++) {
    TRY(score_row(ctx, node, &w.forest, SUM, w.x + row * w.features, w.scores, w.seen));
    double sum = w.scores[binary.weight_class];
    if (l->base.count == 1 && !binary.weight_class) sum += number_at(&l->base, 0);
    int64_t label = binary.holds ? finish_binary(&binary, w.transform, sum, w.scores)
                                 : finish_classes(&w.forest, w.transform, w.scores);
    write_label(l, out[0], row, label);
    if (node->output_count > 1 && out[1])
      write_f64(out[1], row * l->classes, (size_t)l->classes, w.scores);
  }
  return HONE_OK;
}

hone_status eval_tree_regressor(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                const struct tensor *const *in, struct tensor *const *out) {
  static const char *const names[] = {"SUM", "AVERAGE", "MIN", "MAX"};
  struct work w;
  int how = 0;
  TRY(word_attribute(ctx, node, "aggregate_function", names, COUNT(names), &how));
  TRY(prepare(ctx, scratch, node, in[0], false, &w));
  int64_t targets = w.forest.l.classes;
  for (int64_t row = 0; row < w.rows; row++) {
    TRY(score_row(ctx, node, &w.forest, (enum aggregate)how, w.x + row * w.features, w.scores,
                  w.seen));
    transform_scores(w.transform, w.scores, targets);
    write_f64(out[0], row * targets, (size_t)targets, w.scores);
  }
  return HONE_OK;
}
