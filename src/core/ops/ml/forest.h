/* forest: the attributes of TreeEnsembleClassifier, TreeEnsembleRegressor and TreeEnsemble. */
#ifndef HONE_OPS_FOREST_H
#define HONE_OPS_FOREST_H

#include "core/ops/ops_internal.h"

/* A list of numbers given as floats or as a tensor. */
struct numbers {
  const double *floats;
  const struct tensor *tensor;
  size_t count;
};
double number_at(const struct numbers *numbers, size_t i);

/* The attributes; lists that belong together have equal length. */
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

enum mode { LEAF, LEQ, LT, GTE, GT, EQ, NEQ, MEMBER };

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
MUST_USE hone_status forest_lists(struct ctx *ctx, const struct node *node, bool is_classifier,
                                  struct lists *out);
/* f->l is read; features: row length. Child indices are checked, cycles are not. */
MUST_USE hone_status forest_link(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                 int64_t features, struct forest *f);

/* Two labels, and all weights for one class: the sum decides between them. */
struct binary {
  bool holds, all_positive;
  int64_t weight_class;
};
struct binary forest_binary(const struct lists *l);

/* One question of a tree: compares x[feature] with the split, or with the set members, as the mode
 * says. A child >= 0 is a question, ~i a leaf. */
struct question {
  enum mode mode;
  bool nan_is_yes;
  int64_t feature;
  double split;
  const double *members;
  size_t member_count;
  int64_t yes, no;
};
/* The operands of hone.Trees, see trees_table.c. */
struct trees_table {
  size_t node_count;
  int32_t (*nodes)[3];
  double *splits;
};
/* Questions in table order, children after their parent, so that every path ends. roots are
 * replaced by table indices. E_SHAPE for a cycle or a question with two parents. */
MUST_USE hone_status trees_table_make(struct ctx *ctx, struct arena *arena, const struct node *node,
                                      hone_dtype x_dtype, const struct question *questions,
                                      size_t count, int64_t *roots, size_t trees,
                                      struct trees_table *out);

#endif
