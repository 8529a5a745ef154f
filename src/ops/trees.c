/* trees: TreeEnsembleClassifier and TreeEnsembleRegressor of ai.onnx.ml. The attributes are
 * parallel lists: one entry a node, and one a (leaf, class or target, weight). A row goes from each
 * tree's first node to a leaf; the leaves' weights add up a class, then post_transform makes scores
 * of them. */
#include <math.h>
#include <stdlib.h>

#include "ops_internal.h"

/* A list of numbers that stands as floats or as a tensor. */
struct numbers {
  const double *floats;
  const struct tensor *tensor;
  size_t count;
};

static struct numbers read_numbers(const struct node *node, const char *name,
                                   const char *tensor_name) {
  const struct attribute *floats = node_attribute(node, name);
  const struct attribute *tensor = node_attribute(node, tensor_name);
  if (tensor && tensor->tensor)
    return (struct numbers){.tensor = tensor->tensor, .count = tensor_count(tensor->tensor)};
  if (floats && floats->floats)
    return (struct numbers){.floats = floats->floats, .count = floats->count};
  return (struct numbers){0};
}

static double number_at(const struct numbers *numbers, size_t i) {
  return numbers->tensor ? tensor_f64(numbers->tensor, i) : numbers->floats[i];
}

/* -- the attributes, checked for equal length
 * -------------------------------------------------------- */

struct lists {
  bool is_classifier;
  size_t nodes, weights;
  const int64_t *tree, *id, *feature, *if_true, *if_false, *missing;
  const struct string *modes;
  struct numbers thresholds, values, base;
  const int64_t *weight_tree, *weight_id, *weight_class;
  int64_t classes; /* or targets */
  const struct attribute *labels;
};

static hone_status read_list(struct ctx *ctx, const struct node *node, const char *name,
                             size_t wanted, const int64_t **out) {
  size_t count = 0;
  *out = node_ints(node, name, &count);
  if (count == wanted) return HONE_OK;
  return fail(ctx, HONE_E_SHAPE, node_place(node), "%s has %zu values, expected %zu", name, count,
              wanted);
}

static hone_status read_nodes(struct ctx *ctx, const struct node *node, struct lists *l) {
  const struct attribute *modes = node_attribute(node, "nodes_modes");
  l->nodes = modes && modes->strings ? modes->count : 0;
  if (l->nodes == 0) return fail(ctx, HONE_E_SHAPE, node_place(node), "nodes_modes is empty");
  l->modes = modes->strings;
  TRY(read_list(ctx, node, "nodes_treeids", l->nodes, &l->tree));
  TRY(read_list(ctx, node, "nodes_nodeids", l->nodes, &l->id));
  TRY(read_list(ctx, node, "nodes_featureids", l->nodes, &l->feature));
  TRY(read_list(ctx, node, "nodes_truenodeids", l->nodes, &l->if_true));
  TRY(read_list(ctx, node, "nodes_falsenodeids", l->nodes, &l->if_false));
  if (node_attribute(node, "nodes_missing_value_tracks_true"))
    TRY(read_list(ctx, node, "nodes_missing_value_tracks_true", l->nodes, &l->missing));
  l->thresholds = read_numbers(node, "nodes_values", "nodes_values_as_tensor");
  if (l->thresholds.count != l->nodes)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "nodes_values has %zu values, expected %zu",
                l->thresholds.count, l->nodes);
  return HONE_OK;
}

static hone_status read_weights(struct ctx *ctx, const struct node *node, struct lists *l) {
  bool c = l->is_classifier;
  l->values = c ? read_numbers(node, "class_weights", "class_weights_as_tensor")
                : read_numbers(node, "target_weights", "target_weights_as_tensor");
  l->base = read_numbers(node, "base_values", "base_values_as_tensor");
  l->weights = l->values.count;
  TRY(read_list(ctx, node, c ? "class_treeids" : "target_treeids", l->weights, &l->weight_tree));
  TRY(read_list(ctx, node, c ? "class_nodeids" : "target_nodeids", l->weights, &l->weight_id));
  TRY(read_list(ctx, node, c ? "class_ids" : "target_ids", l->weights, &l->weight_class));
  for (size_t i = 0; i < l->weights; i++)
    if (l->weight_class[i] < 0 || l->weight_class[i] >= l->classes)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "weight %zu is of class %lld of %lld", i,
                  (long long)l->weight_class[i], (long long)l->classes);
  if (l->base.count > 1 && l->base.count != (size_t)l->classes)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "base_values has %zu values for %lld classes",
                l->base.count, (long long)l->classes);
  return HONE_OK;
}

static hone_status read_lists(struct ctx *ctx, const struct node *node, bool is_classifier,
                              struct lists *l) {
  *l = (struct lists){.is_classifier = is_classifier};
  if (is_classifier) {
    const struct attribute *ints = node_attribute(node, "classlabels_int64s");
    const struct attribute *strings = node_attribute(node, "classlabels_strings");
    l->labels = strings && strings->count > 0 ? strings : ints;
    l->classes = l->labels ? (int64_t)l->labels->count : 0;
  } else {
    l->classes = node_int(node, "n_targets", 1);
  }
  if (l->classes < 1 || l->classes > INT32_MAX)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "there are %lld classes or targets",
                (long long)l->classes);
  TRY(read_nodes(ctx, node, l));
  return read_weights(ctx, node, l);
}

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
  TRY(read_lists(ctx, node, is_classifier, &l));
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

/* -- nodes linked by index
 * ------------------------------------------------------------------------------ */

enum mode { LEAF, LEQ, LT, GTE, GT, EQ, NEQ };

struct tree_node {
  enum mode mode;
  bool missing_is_true;
  int64_t feature;
  double threshold;
  size_t if_true, if_false;          /* of a branch */
  size_t first_weight, weight_count; /* of a leaf, in forest.order */
};

struct forest {
  struct lists l;
  struct tree_node *nodes;
  size_t *roots, root_count;
  size_t *order; /* weights sorted by leaf */
};

struct key {
  int64_t tree, id;
  size_t index;
};

static int compare_keys(const void *a, const void *b) {
  const struct key *x = a, *y = b;
  if (x->tree != y->tree) return x->tree < y->tree ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

static hone_status find_node(struct ctx *ctx, const struct node *node, const struct key *keys,
                             size_t count, int64_t tree, int64_t id, size_t *out) {
  const struct key wanted = {tree, id, 0};
  const struct key *found = bsearch(&wanted, keys, count, sizeof *keys, compare_keys);
  if (!found)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "tree %lld has no node %lld", (long long)tree,
                (long long)id);
  *out = found->index;
  return HONE_OK;
}

static hone_status read_mode(struct ctx *ctx, const struct node *node, const struct string *text,
                             enum mode *out) {
  static const char *const names[] = {"LEAF",      "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                      "BRANCH_GT", "BRANCH_EQ",  "BRANCH_NEQ"};
  for (size_t i = 0; i < COUNT(names); i++) {
    if (strlen(names[i]) != text->length || memcmp(names[i], text->bytes, text->length) != 0)
      continue;
    *out = (enum mode)i;
    return HONE_OK;
  }
  return fail(ctx, HONE_E_UNSUP, node_place(node), "nodes_modes holds an unknown mode");
}

static hone_status link_nodes(struct ctx *ctx, const struct node *node, const struct key *keys,
                              int64_t features, struct forest *f) {
  const struct lists *l = &f->l;
  for (size_t i = 0; i < l->nodes; i++) {
    struct tree_node *n = &f->nodes[i];
    TRY(read_mode(ctx, node, &l->modes[i], &n->mode));
    if (n->mode == LEAF) continue;
    n->feature = l->feature[i];
    n->threshold = number_at(&l->thresholds, i);
    n->missing_is_true = l->missing && l->missing[i] != 0;
    if (n->feature < 0 || n->feature >= features)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "node %zu tests feature %lld of %lld", i,
                  (long long)n->feature, (long long)features);
    TRY(find_node(ctx, node, keys, l->nodes, l->tree[i], l->if_true[i], &n->if_true));
    TRY(find_node(ctx, node, keys, l->nodes, l->tree[i], l->if_false[i], &n->if_false));
  }
  return HONE_OK;
}

/* Weights in the order of their leaves: a counting sort, stable. */
static hone_status link_weights(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                const struct key *keys, struct forest *f) {
  const struct lists *l = &f->l;
  size_t *leaf, at = 0;
  TRY(NEW_ARRAY(ctx, scratch, leaf, l->weights));
  TRY(NEW_ARRAY(ctx, scratch, f->order, l->weights));
  for (size_t i = 0; i < l->weights; i++) {
    TRY(find_node(ctx, node, keys, l->nodes, l->weight_tree[i], l->weight_id[i], &leaf[i]));
    f->nodes[leaf[i]].weight_count++;
  }
  for (size_t i = 0; i < l->nodes; i++) {
    f->nodes[i].first_weight = at;
    at += f->nodes[i].weight_count;
    f->nodes[i].weight_count = 0;
  }
  for (size_t i = 0; i < l->weights; i++) {
    struct tree_node *n = &f->nodes[leaf[i]];
    f->order[n->first_weight + n->weight_count++] = i;
  }
  return HONE_OK;
}

static hone_status link_forest(struct ctx *ctx, struct arena *scratch, const struct node *node,
                               int64_t features, struct forest *f) {
  struct key *keys;
  size_t count = f->l.nodes;
  TRY(NEW_ARRAY(ctx, scratch, keys, count));
  TRY(NEW_ARRAY(ctx, scratch, f->nodes, count));
  TRY(NEW_ARRAY(ctx, scratch, f->roots, count));
  for (size_t i = 0; i < count; i++) keys[i] = (struct key){f->l.tree[i], f->l.id[i], i};
  qsort(keys, count, sizeof *keys, compare_keys);
  for (size_t i = 0; i < count; i++) {
    bool is_new = i == 0 || keys[i].tree != keys[i - 1].tree;
    if (!is_new && keys[i].id == keys[i - 1].id)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "tree %lld has node %lld twice",
                  (long long)keys[i].tree, (long long)keys[i].id);
    /* the root is the node that the lists name first */
    if (is_new) f->roots[f->root_count++] = keys[i].index;
    if (keys[i].index < f->roots[f->root_count - 1]) f->roots[f->root_count - 1] = keys[i].index;
  }
  TRY(link_nodes(ctx, node, keys, features, f));
  return link_weights(ctx, scratch, node, keys, f);
}

/* -- one row
 * ---------------------------------------------------------------------------------------------- */

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

/* -- post_transform
 * ------------------------------------------------------------------------------------------ */

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

static hone_status word(struct ctx *ctx, const struct node *node, const char *name,
                        const char *const *words, size_t count, int *out) {
  const char *value = node_string(node, name, words[0]);
  for (size_t i = 0; i < count; i++) {
    if (strcmp(value, words[i]) != 0) continue;
    *out = (int)i;
    return HONE_OK;
  }
  return fail(ctx, HONE_E_UNSUP, node_place(node), "%s has an unknown value", name);
}

static hone_status read_transform(struct ctx *ctx, const struct node *node, enum transform *out) {
  static const char *const names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  int which = 0;
  TRY(word(ctx, node, "post_transform", names, COUNT(names), &which));
  *out = (enum transform)which;
  return HONE_OK;
}

/* -- evaluation
 * ------------------------------------------------------------------------------------------------
 */

/* Two labels, and all weights of one class: that weight decides between them. */
struct binary {
  bool holds, all_positive;
  int64_t weight_class;
};

static struct binary find_binary(const struct lists *l) {
  struct binary b = {.holds = l->classes == 2 && l->weights > 0, .all_positive = true};
  b.weight_class = b.holds ? l->weight_class[0] : 0;
  for (size_t i = 0; i < l->weights; i++) {
    if (l->weight_class[i] != b.weight_class) b.holds = false;
    if (number_at(&l->values, i) < 0) b.all_positive = false;
  }
  return b;
}

/* Fills both scores from the one sum and returns the index of the label. */
static int64_t finish_binary(const struct binary *b, enum transform how, double sum,
                             double *scores) {
  scores[1] = sum;
  scores[0] = b->all_positive ? 1 - sum : -sum;
  int64_t label = sum > (b->all_positive ? 0.5 : 0);
  if (!b->all_positive || how == PROBIT) transform_scores(how, scores, 2);
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
  TRY(read_lists(ctx, node, is_classifier, &w->forest.l));
  TRY(read_rows(ctx, node, &x->shape, &w->rows, &w->features));
  TRY(read_transform(ctx, node, &w->transform));
  TRY(link_forest(ctx, scratch, node, w->features, &w->forest));
  TRY(to_f64(ctx, scratch, x, &w->x));
  TRY(NEW_ARRAY(ctx, scratch, w->scores, (size_t)w->forest.l.classes));
  return NEW_ARRAY(ctx, scratch, w->seen, (size_t)w->forest.l.classes);
}

hone_status eval_tree_classifier(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                 const struct tensor *const *in, struct tensor *const *out) {
  struct work w;
  TRY(prepare(ctx, scratch, node, in[0], true, &w));
  const struct lists *l = &w.forest.l;
  struct binary binary = find_binary(l);
  if (binary.holds && l->base.count == 2)
    return fail(ctx, HONE_E_UNSUP, node_place(node), "two base_values for weights of one class");
  for (int64_t row = 0; row < w.rows; row++) {
    TRY(score_row(ctx, node, &w.forest, SUM, w.x + row * w.features, w.scores, w.seen));
    double sum = w.scores[binary.weight_class] + (l->base.count == 1 ? number_at(&l->base, 0) : 0);
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
  TRY(word(ctx, node, "aggregate_function", names, COUNT(names), &how));
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
