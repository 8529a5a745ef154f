/* lower-trees: a tree ensemble as matrix products (Nakandala et al. 2020, "Hummingbird", the GEMM
 * strategy), one block a tree: dense over all trees at once a file of 79 KB became 2.7 MB. With T
 * trees of at most B branches and L leaves (padded):
 *   c[T,n,B] = x[n, feature] < threshold           every branch's answer, as 0 and 1
 *   h[T,n,L] = (c * path) == wanted                path[T,B,L]: +1 where a leaf's way needs true, -1
 * false s[n,K] = h * weight + base                   weight[T*L,K], one column a class or target
 * then the transform, and for a classifier the label of the largest score. Ensembles of other modes,
 * aggregates or transforms, two classes in one column, or too large matrices stay as they are.
 */
#include "rewrite.h"

#include <stdlib.h>

enum { MOST_BRANCHES = 8192, MOST_CELLS = 4 << 20 };

struct forest {
  const struct node *node;
  size_t count; /* of tree nodes */
  const int64_t *tree, *id, *feature, *if_true, *if_false, *missing;
  const struct attribute *modes, *thresholds, *weights;
  const int64_t *weight_tree, *weight_id, *weight_class;
  int64_t classes;
  struct key {
    int64_t tree, id;
    size_t index;
  } * keys;
  size_t *column; /* of a branch in c, of a leaf in h: tree * most + place in the tree */
  size_t trees, branches, leaves; /* branches and leaves: the most of any tree */
  bool is_strict, tracks_missing; /* < instead of <= */
};

static bool is_mode(const struct forest *f, size_t i, const char *mode) {
  const struct string *s = &f->modes->strings[i];
  return s->length == strlen(mode) && !memcmp(s->bytes, mode, s->length);
}
static bool is_leaf(const struct forest *f, size_t i) { return is_mode(f, i, "LEAF"); }

static int compare_keys(const void *a, const void *b) {
  const struct key *x = a, *y = b;
  if (x->tree != y->tree) return x->tree < y->tree ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

static const struct key *find(const struct forest *f, int64_t tree, int64_t id) {
  struct key wanted = {tree, id, 0};
  return bsearch(&wanted, f->keys, f->count, sizeof wanted, compare_keys);
}

/* The lists' lengths were checked by inference. */
static bool read_forest(const struct node *node, struct forest *f) {
  bool c = is_op(node, OP_TreeEnsembleClassifier);
  size_t n;
  *f = (struct forest){.node = node};
  f->modes = node_attribute(node, "nodes_modes");
  f->thresholds = node_attribute(node, "nodes_values");
  f->weights = node_attribute(node, c ? "class_weights" : "target_weights");
  if (!f->modes || !f->thresholds || !f->thresholds->floats || !f->weights || !f->weights->floats)
    return false;
  f->count = f->modes->count;
  f->tree = node_ints(node, "nodes_treeids", &n);
  f->id = node_ints(node, "nodes_nodeids", &n);
  f->feature = node_ints(node, "nodes_featureids", &n);
  f->if_true = node_ints(node, "nodes_truenodeids", &n);
  f->if_false = node_ints(node, "nodes_falsenodeids", &n);
  f->missing = node_ints(node, "nodes_missing_value_tracks_true", &n);
  f->weight_tree = node_ints(node, c ? "class_treeids" : "target_treeids", &n);
  f->weight_id = node_ints(node, c ? "class_nodeids" : "target_nodeids", &n);
  f->weight_class = node_ints(node, c ? "class_ids" : "target_ids", &n);
  const struct attribute *labels = node_attribute(node, "classlabels_int64s");
  f->classes = c ? (labels ? (int64_t)labels->count : 0) : node_int(node, "n_targets", 1);
  return f->classes > 0 && (!c || f->classes > 2);
}

static bool is_supported(const struct forest *f) {
  const struct value *x = f->node->inputs[0];
  const char *transform = node_string(f->node, "post_transform", "NONE");
  bool is_known =
      !strcmp(transform, "NONE") || !strcmp(transform, "SOFTMAX") || !strcmp(transform, "LOGISTIC");
  return is_known && x->dtype == HONE_F32 && x->shape.rank == 2 &&
         !strcmp(node_string(f->node, "aggregate_function", "SUM"), "SUM") &&
         !node_attribute(f->node, "base_values_as_tensor");
}

/* Trees, and the most branches and leaves of one; false for mixed or other comparisons, or too many
   cells. Keys are sorted by tree. */
static bool measure_trees(struct forest *f) {
  bool strict = false, loose = false;
  size_t branches = 0, leaves = 0;
  for (size_t k = 0; k < f->count; k++) {
    const size_t i = f->keys[k].index;
    if (!k || f->keys[k].tree != f->keys[k - 1].tree) {
      f->trees++;
      branches = leaves = 0;
    }
    strict |= is_mode(f, i, "BRANCH_LT");
    loose |= is_mode(f, i, "BRANCH_LEQ");
    if (is_leaf(f, i))
      leaves++;
    else if (is_mode(f, i, "BRANCH_LT") || is_mode(f, i, "BRANCH_LEQ"))
      branches++;
    else
      return false;
    if (branches > f->branches) f->branches = branches;
    if (leaves > f->leaves) f->leaves = leaves;
    f->tracks_missing |= f->missing && f->missing[i];
  }
  f->is_strict = strict;
  return strict != loose && f->branches <= MOST_BRANCHES && f->leaves <= MOST_CELLS &&
         f->trees <= MOST_CELLS / (f->branches * f->leaves);
}

static bool number_columns(struct forest *f) {
  for (size_t i = 0; i < f->count; i++) f->keys[i] = (struct key){f->tree[i], f->id[i], i};
  qsort(f->keys, f->count, sizeof *f->keys, compare_keys);
  if (!measure_trees(f)) return false;
  size_t tree = 0, branches = 0, leaves = 0;
  for (size_t k = 0; k < f->count; k++) {
    const size_t i = f->keys[k].index;
    if (k && f->keys[k].tree != f->keys[k - 1].tree) {
      tree++;
      branches = leaves = 0;
    }
    f->column[i] = is_leaf(f, i) ? tree * f->leaves + leaves++ : tree * f->branches + branches++;
  }
  return true;
}

/* Marks the way to every leaf by going up from it; a node with two parents or a cycle is refused.
 */
static bool mark_ways(const struct forest *f, size_t *parent, bool *came_true,
                      const struct tensor *path, const struct tensor *wanted) {
  for (size_t i = 0; i < f->count; i++) parent[i] = SIZE_MAX;
  for (size_t i = 0; i < f->count; i++) {
    if (is_leaf(f, i)) continue;
    const struct key *ends[2] = {find(f, f->tree[i], f->if_true[i]),
                                 find(f, f->tree[i], f->if_false[i])};
    for (int k = 0; k < 2; k++) {
      if (!ends[k] || parent[ends[k]->index] != SIZE_MAX) return false;
      parent[ends[k]->index] = i;
      came_true[ends[k]->index] = k == 0;
    }
  }
  for (size_t i = 0; i < f->trees * f->leaves; i++)
    tensor_set_f64(wanted, i, -1); /* padding: never */
  for (size_t i = 0; i < f->count; i++) {
    size_t needed = 0, steps = 0;
    if (!is_leaf(f, i)) continue;
    for (size_t at = i; parent[at] != SIZE_MAX; at = parent[at]) {
      if (++steps > f->count) return false;
      needed += came_true[at];
      tensor_set_f64(path, f->column[parent[at]] * f->leaves + f->column[i] % f->leaves,
                     came_true[at] ? 1 : -1);
    }
    tensor_set_f64(wanted, f->column[i], (double)needed);
  }
  return true;
}

struct tables {
  struct value *feature, *threshold, *missing, *path, *wanted, *weight, *base;
};

static hone_status make_tables(struct rewrite *r, const struct forest *f, struct tables *t) {
  int64_t trees = (int64_t)f->trees, branches = (int64_t)f->branches, leaves = (int64_t)f->leaves;
  struct shape row = {2, {1, trees * branches}};
  TRY(rewrite_constant(r, HONE_I64, &(struct shape){1, {trees * branches}}, &t->feature));
  TRY(rewrite_constant(r, HONE_F32, &row, &t->threshold));
  TRY(rewrite_constant(r, HONE_BOOL, &row, &t->missing));
  TRY(rewrite_constant(r, HONE_F32, &(struct shape){3, {trees, branches, leaves}}, &t->path));
  TRY(rewrite_constant(r, HONE_F32, &(struct shape){3, {trees, 1, leaves}}, &t->wanted));
  TRY(rewrite_constant(r, HONE_F32, &(struct shape){2, {trees * leaves, f->classes}}, &t->weight));
  TRY(rewrite_constant(r, HONE_F32, &(struct shape){1, {f->classes}}, &t->base));
  for (size_t i = 0; i < f->count; i++) {
    if (is_leaf(f, i)) continue;
    tensor_set_i64(t->feature->constant, f->column[i], f->feature[i]);
    tensor_set_f64(t->threshold->constant, f->column[i], f->thresholds->floats[i]);
    tensor_set_i64(t->missing->constant, f->column[i], f->missing && f->missing[i]);
  }
  return HONE_OK;
}

static bool fill_weights(const struct forest *f, const struct tables *t) {
  const struct attribute *base = node_attribute(f->node, "base_values");
  for (size_t i = 0; i < f->weights->count; i++) {
    const struct key *leaf = find(f, f->weight_tree[i], f->weight_id[i]);
    if (!leaf || !is_leaf(f, leaf->index)) return false;
    size_t at = f->column[leaf->index] * (size_t)f->classes + (size_t)f->weight_class[i];
    tensor_set_f64(t->weight->constant, at,
                   tensor_f64(t->weight->constant, at) + f->weights->floats[i]);
  }
  for (size_t c = 0; base && c < base->count && base->count == (size_t)f->classes; c++)
    tensor_set_f64(t->base->constant, c, base->floats[c]);
  return !base || base->count == (size_t)f->classes;
}

static hone_status apply(struct rewrite *r, enum op_id op, struct value *a, struct value *b,
                         struct value **out) {
  struct node *node;
  TRY(rewrite_node(r, op, (struct value *[]){a, b}, b ? 2 : 1, &node));
  TRY(node_infer(r->ctx, r->graph, node));
  *out = node->outputs[0];
  return HONE_OK;
}

static hone_status with_attribute(struct rewrite *r, enum op_id op, struct value *a,
                                  struct value *b, const char *name, int64_t value,
                                  struct value **out) {
  struct node *node;
  TRY(graph_node(r->ctx, r->graph, &op_table[op], (struct value *[]){a, b}, b ? 2 : 1, 1, &node));
  TRY(node_set_int(r->ctx, r->graph, node, name, value));
  TRY(node_infer(r->ctx, r->graph, node));
  r->is_unsorted = true;
  *out = node->outputs[0];
  return HONE_OK;
}

/* x[n, a * b] to [a, n, b] (to_blocks), or x[a, n, b] back to [n, a * b]. */
static hone_status reorder(struct rewrite *r, struct value *x, size_t a, size_t b, bool to_blocks,
                           struct value **out) {
  static const int64_t swap[] = {1, 0, 2};
  int64_t n = x->shape.dims[to_blocks ? 0 : 1], dims[3] = {n, (int64_t)a, (int64_t)b};
  struct value *shape, *turned = x;
  struct node *node;
  if (!to_blocks) dims[1] *= dims[2];
  TRY(rewrite_constant(r, HONE_I64, &(struct shape){1, {to_blocks ? 3 : 2}}, &shape));
  for (size_t i = 0; i < (to_blocks ? 3u : 2u); i++) tensor_set_i64(shape->constant, i, dims[i]);
  if (to_blocks) TRY(apply(r, OP_Reshape, x, shape, &turned));
  TRY(graph_node(r->ctx, r->graph, &op_table[OP_Transpose], &turned, 1, 1, &node));
  TRY(node_set_ints(r->ctx, r->graph, node, "perm", swap, 3));
  TRY(node_infer(r->ctx, r->graph, node));
  r->is_unsorted = true;
  *out = node->outputs[0];
  return to_blocks ? HONE_OK : apply(r, OP_Reshape, *out, shape, out);
}

/* s[n,K] of the ensemble before the transform. */
static hone_status scores(struct rewrite *r, const struct forest *f, const struct tables *t,
                          struct value **out) {
  struct value *x, *c, *is_nan, *h;
  TRY(with_attribute(r, OP_Gather, f->node->inputs[0], t->feature, "axis", 1, &x));
  TRY(apply(r, f->is_strict ? OP_Less : OP_LessOrEqual, x, t->threshold, &c));
  if (f->tracks_missing) {
    TRY(apply(r, OP_IsNaN, x, NULL, &is_nan));
    TRY(apply(r, OP_And, is_nan, t->missing, &is_nan));
    TRY(apply(r, OP_Or, c, is_nan, &c));
  }
  TRY(with_attribute(r, OP_Cast, c, NULL, "to", HONE_F32, &c));
  TRY(reorder(r, c, f->trees, f->branches, true, &c));
  TRY(apply(r, OP_MatMul, c, t->path, &h));
  TRY(apply(r, OP_Equal, h, t->wanted, &h));
  TRY(with_attribute(r, OP_Cast, h, NULL, "to", HONE_F32, &h));
  TRY(reorder(r, h, f->trees, f->leaves, false, &h));
  TRY(apply(r, OP_MatMul, h, t->weight, &h));
  return apply(r, OP_Add, h, t->base, out);
}

static hone_status label(struct rewrite *r, const struct forest *f, struct value *s,
                         struct value **out) {
  const struct attribute *ids = node_attribute(f->node, "classlabels_int64s");
  struct value *labels, *best;
  struct node *node;
  TRY(rewrite_constant(r, HONE_I64, &(struct shape){1, {f->classes}}, &labels));
  for (size_t i = 0; i < ids->count; i++) tensor_set_i64(labels->constant, i, ids->ints[i]);
  TRY(graph_node(r->ctx, r->graph, &op_table[OP_ArgMax], (struct value *[]){s}, 1, 1, &node));
  TRY(node_set_int(r->ctx, r->graph, node, "axis", 1));
  TRY(node_set_int(r->ctx, r->graph, node, "keepdims", 0));
  TRY(node_infer(r->ctx, r->graph, node));
  r->is_unsorted = true;
  best = node->outputs[0];
  return with_attribute(r, OP_Gather, labels, best, "axis", 0, out);
}

static hone_status transform(struct rewrite *r, const struct forest *f, struct value *s,
                             struct value **out) {
  const char *how = node_string(f->node, "post_transform", "NONE");
  *out = s;
  if (!strcmp(how, "SOFTMAX")) return with_attribute(r, OP_Softmax, s, NULL, "axis", -1, out);
  if (!strcmp(how, "LOGISTIC")) return apply(r, OP_Sigmoid, s, NULL, out);
  return HONE_OK;
}

static hone_status visit(struct rewrite *r, struct node *node) {
  bool classifier = is_op(node, OP_TreeEnsembleClassifier);
  struct forest f;
  struct tables t;
  size_t *parent;
  bool *came_true;
  struct value *s, *y;
  if (!classifier && !is_op(node, OP_TreeEnsembleRegressor)) return HONE_OK;
  if (!read_forest(node, &f) || !is_supported(&f)) return HONE_OK;
  TRY(NEW_ARRAY(r->ctx, r->graph->arena, f.keys, f.count));
  TRY(NEW_ARRAY(r->ctx, r->graph->arena, f.column, f.count));
  TRY(NEW_ARRAY(r->ctx, r->graph->arena, parent, f.count));
  TRY(NEW_ARRAY(r->ctx, r->graph->arena, came_true, f.count));
  if (!number_columns(&f)) return HONE_OK;
  TRY(make_tables(r, &f, &t));
  if (!mark_ways(&f, parent, came_true, t.path->constant, t.wanted->constant) ||
      !fill_weights(&f, &t))
    return HONE_OK;
  TRY(scores(r, &f, &t, &s));
  TRY(transform(r, &f, s, &y));
  size_t score_output = classifier ? 1 : 0;
  if (node->output_count > score_output && node->outputs[score_output])
    TRY(rewrite_replace(r, node->outputs[score_output], y));
  if (!classifier || !node->outputs[0]) return HONE_OK;
  TRY(label(r, &f, s, &y));
  return rewrite_replace(r, node->outputs[0], y);
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_lower_trees(struct ctx *ctx, struct graph *graph, const struct pass_env *env,
                             size_t *out_changes) {
  return rewrite_nodes(ctx, graph, env, visit, out_changes);
}
