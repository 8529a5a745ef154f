/* forest: the attributes of a tree ensemble, checked and linked: questions with their two children,
 * leaves with their weights; and the tables of hone.Trees made from them. */
#include "forest.h"

#include <math.h>
#include <stdlib.h>

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

double number_at(const struct numbers *numbers, size_t i) {
  return numbers->tensor ? tensor_f64(numbers->tensor, i) : numbers->floats[i];
}

/* -- the attributes, checked for equal length */

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

hone_status forest_lists(struct ctx *ctx, const struct node *node, bool is_classifier,
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

/* -- nodes linked by index */

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

/* Sorts weights by leaf: a stable counting sort. */
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

hone_status forest_link(struct ctx *ctx, struct arena *scratch, const struct node *node,
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
    /* the root is the first node of the tree in the lists */
    if (is_new) f->roots[f->root_count++] = keys[i].index;
    if (keys[i].index < f->roots[f->root_count - 1]) f->roots[f->root_count - 1] = keys[i].index;
  }
  TRY(link_nodes(ctx, node, keys, features, f));
  return link_weights(ctx, scratch, node, keys, f);
}

struct binary forest_binary(const struct lists *l) {
  struct binary b = {.holds = l->classes == 2 && l->weights > 0, .all_positive = true};
  b.weight_class = b.holds ? l->weight_class[0] : 0;
  for (size_t i = 0; i < l->weights; i++) {
    if (l->weight_class[i] != b.weight_class) b.holds = false;
    if (number_at(&l->values, i) < 0) b.all_positive = false;
  }
  return b;
}
