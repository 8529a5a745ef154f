/* TreeEnsemble of ai.onnx.ml 5 as matrix products (Nakandala et al. 2020, "Hummingbird", the GEMM
 * strategy): every branch's answer as 0 or 1, times the way to each leaf (+1 where the answer has to be
 * yes, -1 where no), is the number of its yeses where a row ends in that leaf. Dense over all trees: too
 * large ones are refused. */
#include <math.h>

#include "expand.h"

enum { MODES = 7, MEMBER = 6, MOST_LEAVES = 1 << 16, MOST_CELLS = 4 << 20, MOST_DEPTH = 1 << 12 };

/* To a leaf of a tree: the answers on it by column, +1 yes, -1 no, 0 not asked. */
struct way {
  size_t tree, leaf;
  int8_t *answers;
};
struct ensemble {
  struct expansion *e;
  const int64_t *feature, *if_true, *if_false, *true_is_leaf, *false_is_leaf, *missing, *roots;
  const int64_t *target;
  const struct tensor *splits, *modes, *weights, *members;
  size_t nodes, trees, leaves, targets;
  size_t *column; /* of a node's answer: nodes in the order of their modes */
  VEC(struct way) ways;
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
  return a && a->kind == ATTRIBUTE_TENSOR ? a->tensor : NULL;
}

static bool read_ensemble(struct ensemble *t) {
  struct expansion *e = t->e;
  t->splits = tensor(t, "nodes_splits");
  t->modes = tensor(t, "nodes_modes");
  t->weights = tensor(t, "leaf_weights");
  t->members = tensor(t, "membership_values");
  t->roots = node_ints(e->node, "tree_roots", &t->trees);
  t->target = node_ints(e->node, "leaf_targetids", &t->leaves);
  (void)node_ints(e->node, "nodes_featureids", &t->nodes);
  t->targets = (size_t)x_int(e, "n_targets", 1);
  if (!t->splits || !t->modes || !t->weights || !t->roots || !t->target || !t->nodes ||
      tensor_count(t->splits) != t->nodes || tensor_count(t->modes) != t->nodes ||
      tensor_count(t->weights) != t->leaves || t->targets < 1 || t->targets > MOST_LEAVES) {
    x_fail(e, HONE_E_SHAPE, "the lists of the trees do not fit together");
    return false;
  }
  t->feature = list(t, "nodes_featureids", t->nodes, false);
  t->if_true = list(t, "nodes_truenodeids", t->nodes, false);
  t->if_false = list(t, "nodes_falsenodeids", t->nodes, false);
  t->true_is_leaf = list(t, "nodes_trueleafs", t->nodes, false);
  t->false_is_leaf = list(t, "nodes_falseleafs", t->nodes, false);
  t->missing = list(t, "nodes_missing_value_tracks_true", t->nodes, true);
  for (size_t i = 0; i < t->nodes && !e->status; i++)
    if (t->feature[i] < 0 || t->feature[i] >= x_in(e, 0)->shape.dims[1] ||
        tensor_i64(t->modes, i) < 0 || tensor_i64(t->modes, i) >= MODES)
      x_fail(e, HONE_E_SHAPE, "node %zu tests feature %lld", i, (long long)t->feature[i]);
  for (size_t i = 0; i < t->leaves && !e->status; i++)
    if (t->target[i] < 0 || t->target[i] >= (int64_t)t->targets)
      x_fail(e, HONE_E_SHAPE, "leaf %zu is of target %lld", i, (long long)t->target[i]);
  return !e->status;
}

static void *room(struct ensemble *t, size_t count, size_t size) {
  uint8_t *bytes = NULL;
  if (!t->e->status)
    t->e->status = NEW_ARRAY(t->e->ctx, t->e->graph->arena, bytes, count * size + 1);
  return t->e->status ? NULL : bytes;
}

static void number_columns(struct ensemble *t) {
  size_t next = 0;
  t->column = room(t, t->nodes, sizeof *t->column);
  for (int mode = 0; mode < MODES && !t->e->status; mode++)
    for (size_t i = 0; i < t->nodes; i++)
      if (tensor_i64(t->modes, i) == mode) t->column[i] = next++;
}

static hone_status push_way(struct ensemble *t, size_t tree, size_t leaf, const int8_t *answers) {
  struct way way = {tree, leaf, room(t, t->nodes, 1)};
  TRY(t->e->status);
  memcpy(way.answers, answers, t->nodes);
  VEC_PUSH(t->e->ctx, t->e->graph->arena, &t->ways, way);
  return HONE_OK;
}

/* All ways from one root: each place on the stack is a node and how many of its sides were taken. */
static hone_status walk(struct ensemble *t, size_t tree) {
  struct expansion *e = t->e;
  struct {
    size_t node;
    int sides;
  } *stack = room(t, MOST_DEPTH, sizeof *stack);
  int8_t *answers = room(t, t->nodes, 1);
  size_t depth = 0;
  TRY(e->status);
  if (t->roots[tree] < 0 || t->roots[tree] >= (int64_t)t->nodes)
    return fail(e->ctx, HONE_E_SHAPE, node_place(e->node), "tree %zu has no root", tree);
  stack[depth].node = (size_t)t->roots[tree];
  stack[depth++].sides = 0;
  while (depth) {
    size_t node = stack[depth - 1].node;
    int side = stack[depth - 1].sides++;
    answers[t->column[node]] = 0;
    if (side == 2) {
      depth--;
      continue;
    }
    bool is_leaf = (side ? t->false_is_leaf : t->true_is_leaf)[node] != 0;
    int64_t next = (side ? t->if_false : t->if_true)[node];
    if (next < 0 || next >= (int64_t)(is_leaf ? t->leaves : t->nodes) || depth == MOST_DEPTH)
      return fail(e->ctx, HONE_E_SHAPE, node_place(e->node), "node %zu leads nowhere", node);
    answers[t->column[node]] = side ? -1 : 1;
    if (is_leaf) {
      if (t->ways.count >= MOST_LEAVES || t->ways.count >= MOST_CELLS / t->nodes)
        return fail(e->ctx, HONE_E_UNSUP, node_place(e->node), "trees of more than %d cells",
                    MOST_CELLS);
      TRY(push_way(t, tree, (size_t)next, answers));
      /* a tree of one leaf: both sides are it */
      if (!side && t->false_is_leaf[node] && t->if_false[node] == next) {
        t->ways.at[t->ways.count - 1].answers[t->column[node]] = 0;
        stack[depth - 1].sides = 2;
      }
      continue;
    }
    if (answers[t->column[next]])
      return fail(e->ctx, HONE_E_SHAPE, node_place(e->node), "a tree has a cycle");
    stack[depth].node = (size_t)next;
    stack[depth++].sides = 0;
  }
  return HONE_OK;
}

/* The nodes of one mode, in the order of their columns: features and thresholds. */
static struct value *gather_features(struct ensemble *t, int mode, size_t *out_count,
                                     struct value **out_splits) {
  struct expansion *e = t->e;
  const struct tensor *at, *splits;
  size_t count = 0, k = 0;
  for (size_t i = 0; i < t->nodes; i++) count += tensor_i64(t->modes, i) == mode;
  *out_count = count;
  if (!count) return NULL;
  struct shape shape = {1, {(int64_t)count}};
  struct value *index = x_constant(e, HONE_I64, &shape, &at);
  *out_splits = x_constant(e, x_in(e, 0)->dtype, &shape, &splits);
  for (size_t i = 0; i < t->nodes && !e->status; i++) {
    if (tensor_i64(t->modes, i) != mode) continue;
    tensor_set_i64(at, k, t->feature[i]);
    tensor_set_f64(splits, k++, tensor_f64(t->splits, i));
  }
  return x_gather(e, x_in(e, 0), index, 1);
}

/* Whether each feature [n,m] is in its node's set; sets end with a NaN and come in the nodes' order. */
static struct value *is_member(struct ensemble *t, struct value *x, size_t count) {
  struct expansion *e = t->e;
  size_t width = 1, own = 0, at = 0, total = t->members ? tensor_count(t->members) : 0;
  const struct tensor *table;
  for (size_t i = 0; i < total; i++) {
    own = isnan(tensor_f64(t->members, i)) ? 0 : own + 1;
    if (own > width) width = own;
  }
  struct shape shape = {2, {(int64_t)count, (int64_t)width}};
  struct value *sets = x_constant(e, x->dtype, &shape, &table);
  for (size_t i = 0; i < count && !e->status; i++) {
    for (size_t k = 0; k < width; k++) tensor_set_f64(table, i * width + k, NAN);
    for (size_t k = 0; at < total && !isnan(tensor_f64(t->members, at)); k++, at++)
      tensor_set_f64(table, i * width + k, tensor_f64(t->members, at));
    at++;
  }
  struct value *same = x_cast(e, x_2(e, OP_Equal, x_unsqueeze(e, x, 2), sets), HONE_F32);
  return x_reduce(e, OP_ReduceMax, same, (int64_t[]){2}, 1, false);
}

/* 1 where the answer is yes: [n, nodes]. */
static struct value *answers(struct ensemble *t) {
  static const enum op_id ops[MEMBER] = {OP_LessOrEqual, OP_Less,  OP_GreaterOrEqual,
                                         OP_Greater,     OP_Equal, OP_Equal};
  struct expansion *e = t->e;
  struct value *parts[MODES];
  size_t count = 0, n = 0;
  for (int mode = 0; mode < MODES && !e->status; mode++) {
    struct value *splits, *x = gather_features(t, mode, &n, &splits), *yes;
    const struct tensor *table;
    if (!n) continue;
    if (mode == MEMBER) {
      yes = is_member(t, x, n);
    } else {
      yes = x_2(e, ops[mode], x, splits);
      yes = x_cast(e, mode == 5 ? x_1(e, OP_Not, yes) : yes, HONE_F32);
    }
    if (t->missing) { /* NaN goes where the node says */
      struct value *tracks = x_constant(e, HONE_F32, &(struct shape){1, {(int64_t)n}}, &table);
      for (size_t i = 0, k = 0; i < t->nodes && !e->status; i++)
        if (tensor_i64(t->modes, i) == mode) tensor_set_i64(table, k++, t->missing[i] != 0);
      struct value *lost = x_2(e, OP_Mul, x_cast(e, x_1(e, OP_IsNaN, x), HONE_F32), tracks);
      yes = x_2(e, OP_Max, yes, lost);
    }
    parts[count++] = yes;
  }
  return x_concat(e, 1, parts, count);
}

/* Of each target's leaves the weight of the one reached, by what the aggregate does with them. */
static struct value *aggregate(struct ensemble *t, struct value *reached) {
  struct expansion *e = t->e;
  int64_t how = x_int(e, "aggregate_function", 1), ways = (int64_t)t->ways.count;
  const struct tensor *table;
  hone_dtype dtype = x_in(e, 0)->dtype;
  bool extreme = how == 2 || how == 3;
  struct value *weights =
      x_constant(e, dtype, &(struct shape){2, {ways, (int64_t)t->targets}}, &table);
  double none = how == 2 ? INFINITY : -INFINITY;
  for (size_t w = 0; w < t->ways.count && !e->status; w++)
    for (size_t k = 0; k < t->targets; k++) {
      bool own = (size_t)t->target[t->ways.at[w].leaf] == k;
      tensor_set_f64(table, w * t->targets + k,
                     own       ? tensor_f64(t->weights, t->ways.at[w].leaf)
                     : extreme ? none
                               : 0);
    }
  if (extreme) { /* [n, ways, targets] */
    struct value *y =
        x_3(e, OP_Where, x_unsqueeze(e, reached, 2), weights, x_scalar(e, dtype, none));
    y = x_reduce(e, how == 2 ? OP_ReduceMin : OP_ReduceMax, y, (int64_t[]){1}, 1, false);
    return x_3(e, OP_Where, x_1(e, OP_IsInf, y), x_scalar(e, dtype, 0), y);
  }
  struct value *y = x_2(e, OP_MatMul, x_cast(e, reached, dtype), weights);
  return how ? y : x_2(e, OP_Div, y, x_scalar(e, dtype, (double)t->trees));
}

static struct value *transformed(struct expansion *e, struct value *y) {
  static const char *const names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  int64_t how = x_int(e, "post_transform", 0);
  return x_transform(e, how >= 0 && how < (int64_t)COUNT(names) ? names[how] : "of this number", y);
}

void expand_tree_ensemble(struct expansion *e) {
  struct ensemble t = {.e = e};
  const struct value *x = x_in(e, 0);
  const struct tensor *path, *wanted;
  if (x->shape.rank != 2 || (x->dtype != HONE_F32 && x->dtype != HONE_F64)) {
    x_fail(e, HONE_E_TYPE, "TreeEnsemble of %s of rank %d", dtype_name(x->dtype), x->shape.rank);
    return;
  }
  if (!read_ensemble(&t)) return;
  number_columns(&t);
  for (size_t i = 0; i < t.trees && !e->status; i++) e->status = walk(&t, i);
  if (e->status) return;
  int64_t nodes = (int64_t)t.nodes, ways = (int64_t)t.ways.count;
  struct value *paths = x_constant(e, HONE_F32, &(struct shape){2, {nodes, ways}}, &path);
  struct value *yeses = x_constant(e, HONE_F32, &(struct shape){1, {ways}}, &wanted);
  for (size_t w = 0; w < t.ways.count && !e->status; w++) {
    int count = 0;
    for (size_t i = 0; i < t.nodes; i++) {
      int8_t answer = t.ways.at[w].answers[i];
      tensor_set_f64(path, i * t.ways.count + w, answer);
      count += answer > 0;
    }
    tensor_set_f64(wanted, w, count);
  }
  struct value *reached = x_2(e, OP_Equal, x_2(e, OP_MatMul, answers(&t), paths), yeses);
  x_out(e, 0, transformed(e, aggregate(&t, reached)));
}
