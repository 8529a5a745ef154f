/* Tree ensembles of ai.onnx.ml as hone.Trees over tables (trees_table.c), followed by the operators
 * that compute labels and scores from its sums: 16 bytes per question and 8 per leaf, for trees of
 * any shape. */
#include <math.h>

#include "expand.h"
#include "core/ops/ml/forest.h"

enum { MODES = 7 };

/* -- the tables as operands */

/* A forest before it becomes a table: questions, and (target, weight) entries by leaf. */
struct plant {
  struct graph_builder *e;
  struct question *questions;
  int64_t *roots;
  size_t question_count, trees;
  struct value *starts, *targets, *weights;
  const struct tensor *start, *target, *weight;
};

static void *room(struct graph_builder *e, size_t count, size_t size) {
  uint8_t *bytes = NULL;
  size_t total;
  if (e->status) return NULL;
  if (!checked_mul(count + 1, size, &total))
    x_fail(e, HONE_E_LIMIT, "a forest of %zu nodes", count);
  else
    e->status = NEW_ARRAY(e->ctx, e->graph->arena, bytes, total);
  return bytes;
}

static struct plant new_plant(struct graph_builder *e, size_t questions, size_t trees,
                              size_t leaves, size_t entries, hone_dtype weights) {
  struct plant p = {.e = e, .question_count = questions, .trees = trees};
  p.questions = room(e, questions, sizeof *p.questions);
  p.roots = room(e, trees, sizeof *p.roots);
  p.starts = x_constant(e, HONE_I32, &(struct shape){1, {(int64_t)leaves + 1}}, &p.start);
  p.targets = x_constant(e, HONE_I32, &(struct shape){1, {(int64_t)entries}}, &p.target);
  p.weights = x_constant(e, weights, &(struct shape){1, {(int64_t)entries}}, &p.weight);
  return p;
}

/* [n, targets] of the sums, or of another aggregate by its number in TreeEnsemble 5. */
static struct value *sums(struct plant *p, struct value *x, int64_t targets, int64_t how) {
  struct graph_builder *e = p->e;
  struct trees_table table;
  const struct tensor *nodes, *splits, *roots;
  if (e->status) return x;
  e->status = trees_table_make(e->ctx, e->graph->arena, e->node, x->dtype, p->questions,
                               p->question_count, p->roots, p->trees, &table);
  if (e->status) return x;
  const int64_t count = (int64_t)table.node_count;
  struct value *in[] = {x,
                        x_constant(e, HONE_I32, &(struct shape){2, {count, 3}}, &nodes),
                        x_constant(e, x->dtype, &(struct shape){1, {count}}, &splits),
                        x_constant(e, HONE_I32, &(struct shape){1, {(int64_t)p->trees}}, &roots),
                        p->starts,
                        p->targets,
                        p->weights};
  if (e->status) return x;
  memcpy(tensor_data(nodes), table.nodes, (size_t)count * sizeof *table.nodes);
  for (size_t i = 0; i < table.node_count; i++) tensor_set_f64(splits, i, table.splits[i]);
  for (size_t i = 0; i < p->trees; i++) tensor_set_i64(roots, i, p->roots[i]);
  x_with_int(e, "targets", targets);
  x_with_int(e, "aggregate", how);
  return x_op(e, OP_Trees, in, COUNT(in));
}

/* Rows in the type of the splits: integers are exact in double within the range that the evaluator
 * uses. */
static struct value *rows_of(struct graph_builder *e) {
  struct value *x = x_in(e, 0);
  if (x->shape.rank == 1) x = x_reshape(e, x, (int64_t[]){1, x->shape.dims[0]}, 2);
  return x->dtype == HONE_F32 || x->dtype == HONE_F64 ? x : x_cast(e, x, HONE_F64);
}

static int64_t word(const struct graph_builder *e, const char *name, const char *const *words,
                    int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (x_is(e, name, words[0], words[i])) return i;
  return -1;
}

static const char *transform_of(const struct graph_builder *e) {
  return node_string(e->node, "post_transform", "NONE");
}

/* -- TreeEnsembleClassifier and TreeEnsembleRegressor */

/* The index of a node of the file as a child: of a question, or ~ of a leaf. */
static void plant_nodes(struct plant *p, const struct forest *f, const int64_t *end) {
  for (size_t i = 0; i < f->l.nodes; i++) {
    const struct tree_node *n = &f->nodes[i];
    if (n->mode == LEAF) continue;
    p->questions[end[i]] = (struct question){.mode = n->mode,
                                             .nan_is_yes = n->missing_is_true,
                                             .feature = n->feature,
                                             .split = n->threshold,
                                             .yes = end[n->if_true],
                                             .no = end[n->if_false]};
  }
  for (size_t t = 0; t < f->root_count; t++) p->roots[t] = end[f->roots[t]];
}

static void plant_leaves(struct plant *p, const struct forest *f, const int64_t *end) {
  size_t w = 0;
  for (size_t i = 0; i < f->l.nodes; i++) {
    const struct tree_node *n = &f->nodes[i];
    if (n->mode != LEAF) continue;
    for (size_t k = 0; k < n->weight_count; k++, w++) {
      const size_t from = f->order[n->first_weight + k];
      tensor_set_i64(p->target, w, f->l.weight_class[from]);
      tensor_set_f64(p->weight, w, number_at(&f->l.values, from));
    }
    tensor_set_i64(p->start, (size_t)~end[i] + 1, (int64_t)w);
  }
}

/* Sums [n, classes], initialised with the classes' base values. */
static struct value *forest_sums(struct graph_builder *e, struct forest *f, bool is_classifier,
                                 int64_t how) {
  struct value *x = rows_of(e);
  const struct tensor *base;
  size_t questions = 0, leaves = 0, entries = 0;
  if (!e->status) e->status = forest_lists(e->ctx, e->node, is_classifier, &f->l);
  if (!e->status) e->status = forest_link(e->ctx, e->graph->arena, e->node, x->shape.dims[1], f);
  if (e->status) return x;
  int64_t *end = room(e, f->l.nodes, sizeof *end);
  for (size_t i = 0; i < f->l.nodes && end; i++) {
    const bool is_leaf = f->nodes[i].mode == LEAF;
    end[i] = is_leaf ? ~(int64_t)leaves++ : (int64_t)questions++;
    entries += is_leaf ? f->nodes[i].weight_count : 0;
  }
  const hone_dtype dtype = f->l.values.tensor ? f->l.values.tensor->dtype : HONE_F32;
  struct plant p = new_plant(e, questions, f->root_count, leaves, entries, dtype);
  if (e->status) return x;
  plant_nodes(&p, f, end);
  plant_leaves(&p, f, end);
  struct value *y = sums(&p, x, f->l.classes, how);
  if (f->l.base.count != (size_t)f->l.classes) return y;
  struct value *start = x_constant(e, dtype, &(struct shape){1, {f->l.classes}}, &base);
  for (size_t k = 0; k < f->l.base.count && !e->status; k++)
    tensor_set_f64(base, k, number_at(&f->l.base, k));
  return x_2(e, OP_Add, y, start);
}

void expand_tree_regressor(struct graph_builder *e) {
  static const char *const words[] = {"SUM", "AVERAGE", "MIN", "MAX"};
  static const int64_t numbers[] = {1, 0, 2, 3};
  const int64_t how = word(e, "aggregate_function", words, COUNT(words));
  struct forest f = {.nodes = NULL};
  if (how < 0) {
    x_fail(e, HONE_E_UNSUP, "aggregate_function of unknown kind");
    return;
  }
  struct value *y = forest_sums(e, &f, false, numbers[how]);
  x_out(e, 0, x_cast(e, x_transform(e, transform_of(e), y), HONE_F32));
}

/* Two labels from one sum: both scores, and whether it is above the threshold (finish_binary in
 * trees.c). */
static struct value *two_scores(struct graph_builder *e, const struct binary *b,
                                const struct lists *l, struct value *y, struct value **out_index) {
  const hone_dtype dtype = y->dtype;
  const char *how = transform_of(e);
  struct value *sum = x_slice(e, y, 1, b->weight_class, b->weight_class + 1);
  if (l->base.count == 2)
    x_fail(e, HONE_E_UNSUP, "two base_values for weights of one class are not supported");
  if (l->base.count == 1 && !b->weight_class)
    sum = x_2(e, OP_Add, sum, x_scalar(e, dtype, number_at(&l->base, 0)));
  const bool is_logistic = !strcmp(how, "LOGISTIC"), is_probit = !strcmp(how, "PROBIT");
  const double all = b->all_positive && !is_logistic ? 1 : 0;
  struct value *other = x_2(e, OP_Sub, x_scalar(e, dtype, all), sum);
  if (b->weight_class) other = x_2(e, OP_Mul, sum, x_scalar(e, dtype, 0));
  struct value *scores = x_concat(e, 1, (struct value *[]){other, sum}, 2);
  struct value *above = x_2(e, OP_Greater, sum, x_scalar(e, dtype, b->all_positive ? 0.5 : 0));
  *out_index = x_squeeze(e, x_cast(e, above, HONE_I64), 1);
  return b->weight_class || is_logistic || is_probit ? x_transform(e, how, scores) : scores;
}

void expand_tree_classifier(struct graph_builder *e) {
  struct forest f = {.nodes = NULL};
  struct value *y = forest_sums(e, &f, true, 1), *index = NULL;
  if (e->status) return;
  const struct binary binary = forest_binary(&f.l);
  if (binary.holds) {
    y = two_scores(e, &binary, &f.l, y, &index);
  } else {
    x_with_int(e, "axis", 1);
    x_with_int(e, "keepdims", 0);
    index = x_1(e, OP_ArgMax, y);
    y = x_transform(e, transform_of(e), y);
  }
  x_out(e, 0, x_label(e, f.l.labels, index));
  x_out(e, 1, x_cast(e, y, HONE_F32));
}

/* -- TreeEnsemble 5 */

struct ensemble {
  struct graph_builder *e;
  const int64_t *feature, *if_true, *if_false, *true_is_leaf, *false_is_leaf, *missing, *roots;
  const int64_t *target;
  const struct tensor *splits, *modes, *weights, *members;
  size_t nodes, trees, leaves;
  int64_t targets;
};

static const int64_t *list(struct ensemble *t, const char *name, size_t want, bool optional) {
  size_t count = 0;
  const int64_t *ints = node_ints(t->e->node, name, &count);
  if ((optional && !ints) || (ints && count == want)) return ints;
  x_fail(t->e, HONE_E_SHAPE, "%s has %zu values, expected %zu", name, count, want);
  return NULL;
}

static const struct tensor *tensor(struct ensemble *t, const char *name) {
  const struct attribute *a = node_attribute(t->e->node, name);
  return a ? a->tensor : NULL;
}

static bool read_ensemble(struct ensemble *t) {
  struct graph_builder *e = t->e;
  t->splits = tensor(t, "nodes_splits");
  t->modes = tensor(t, "nodes_modes");
  t->weights = tensor(t, "leaf_weights");
  t->members = tensor(t, "membership_values");
  t->roots = node_ints(e->node, "tree_roots", &t->trees);
  t->target = node_ints(e->node, "leaf_targetids", &t->leaves);
  (void)node_ints(e->node, "nodes_featureids", &t->nodes);
  t->targets = x_int(e, "n_targets", 1);
  if (!t->splits || !t->modes || !t->weights || !t->roots || !t->target || !t->nodes ||
      tensor_count(t->splits) != t->nodes || tensor_count(t->modes) != t->nodes ||
      tensor_count(t->weights) != t->leaves || t->targets < 1 || t->targets > INT32_MAX) {
    x_fail(e, HONE_E_SHAPE, "the lengths of the tree attributes do not match");
    return false;
  }
  t->feature = list(t, "nodes_featureids", t->nodes, false);
  t->if_true = list(t, "nodes_truenodeids", t->nodes, false);
  t->if_false = list(t, "nodes_falsenodeids", t->nodes, false);
  t->true_is_leaf = list(t, "nodes_trueleafs", t->nodes, false);
  t->false_is_leaf = list(t, "nodes_falseleafs", t->nodes, false);
  t->missing = list(t, "nodes_missing_value_tracks_true", t->nodes, true);
  for (size_t i = 0; i < t->leaves && !e->status; i++)
    if (t->target[i] < 0 || t->target[i] >= t->targets)
      x_fail(e, HONE_E_SHAPE, "leaf %zu has target %lld", i, (long long)t->target[i]);
  for (size_t i = 0; i < t->trees && !e->status; i++)
    if (t->roots[i] < 0 || t->roots[i] >= (int64_t)t->nodes)
      x_fail(e, HONE_E_SHAPE, "tree %zu has no root", i);
  return !e->status;
}

static int64_t end_of(struct ensemble *t, size_t i, bool yes) {
  const bool is_leaf = (yes ? t->true_is_leaf : t->false_is_leaf)[i] != 0;
  const int64_t next = (yes ? t->if_true : t->if_false)[i];
  if (next < 0 || next >= (int64_t)(is_leaf ? t->leaves : t->nodes)) {
    x_fail(t->e, HONE_E_SHAPE, "node %zu has an invalid child", i);
    return -1;
  }
  return is_leaf ? ~next : next;
}

/* Sets end with a NaN and are in the order of the nodes that use them. */
static void read_members(struct ensemble *t, struct question *q, size_t *at) {
  const size_t total = t->members ? tensor_count(t->members) : 0, begin = *at;
  while (*at < total && !isnan(tensor_f64(t->members, *at))) ++*at;
  double *members = room(t->e, *at - begin, sizeof *members);
  for (size_t k = begin; k < *at && members; k++) members[k - begin] = tensor_f64(t->members, k);
  q->members = members;
  q->member_count = *at - begin;
  if (*at < total) ++*at;
}

static void read_questions(struct ensemble *t, struct plant *p) {
  const int64_t features = x_in(t->e, 0)->shape.dims[1];
  size_t at = 0;
  for (size_t i = 0; i < t->nodes && !t->e->status; i++) {
    const int64_t mode = tensor_i64(t->modes, i);
    struct question *q = &p->questions[i];
    if (t->feature[i] < 0 || t->feature[i] >= features || mode < 0 || mode >= MODES) {
      x_fail(t->e, HONE_E_SHAPE, "node %zu tests feature %lld", i, (long long)t->feature[i]);
      return;
    }
    *q = (struct question){.mode = (enum mode)(mode + LEQ),
                           .nan_is_yes = t->missing && t->missing[i],
                           .feature = t->feature[i],
                           .split = tensor_f64(t->splits, i),
                           .yes = end_of(t, i, true),
                           .no = end_of(t, i, false)};
    if (q->mode == MEMBER) read_members(t, q, &at);
  }
}

void expand_tree_ensemble(struct graph_builder *e) {
  struct ensemble t = {.e = e};
  struct value *x = x_in(e, 0);
  if (x->shape.rank != 2 || (x->dtype != HONE_F32 && x->dtype != HONE_F64)) {
    x_fail(e, HONE_E_TYPE, "TreeEnsemble of %s of rank %d", dtype_name(x->dtype), x->shape.rank);
    return;
  }
  if (!read_ensemble(&t)) return;
  struct plant p = new_plant(e, t.nodes, t.trees, t.leaves, t.leaves, x->dtype);
  if (e->status) return;
  read_questions(&t, &p);
  for (size_t i = 0; i < t.trees; i++) p.roots[i] = t.roots[i];
  for (size_t i = 0; i < t.leaves && !e->status; i++) {
    tensor_set_i64(p.start, i + 1, (int64_t)i + 1);
    tensor_set_i64(p.target, i, t.target[i]);
    tensor_set_f64(p.weight, i, tensor_f64(t.weights, i));
  }
  struct value *y = sums(&p, x, t.targets, x_int(e, "aggregate_function", 1));
  static const char *const names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const int64_t how = x_int(e, "post_transform", 0);
  x_out(e, 0,
        x_transform(e, how >= 0 && how < (int64_t)COUNT(names) ? names[how] : "of this number", y));
}
