/* Trees (src/core/ops/ml/trees_table.c): all rows descend all trees at once, one comparison per
 * level, for the depth of the deepest tree; rows at a leaf stay there. */
#include "stablehlo.h"

enum { DEEPEST = 64 };

/* Input k of the node as an i32 list: every third number, with transformed words. */
static hone_status put_list(struct hlo *h, const struct node *node, size_t column, int64_t shift,
                            struct term *out) {
  const struct tensor *nodes = node->inputs[1]->constant;
  struct tensor *list;
  TRY(tensor_create(h->ctx, h->arena, HONE_I32, &(struct shape){1, {nodes->shape.dims[0]}}, &list));
  for (size_t i = 0; i < tensor_count(list); i++)
    tensor_set_i64(list, i, tensor_i64(nodes, 3 * i + column) >> shift);
  return hlo_constant(h, list, out);
}

/* Number of levels below the roots. Children come later, so one backward pass over the list
 * suffices. */
static hone_status depth_of(struct hlo *h, const struct node *node, int *out) {
  const struct tensor *nodes = node->inputs[1]->constant, *roots = node->inputs[3]->constant;
  const size_t count = (size_t)nodes->shape.dims[0];
  int *depths;
  *out = 0;
  TRY(NEW_ARRAY(h->ctx, h->arena, depths, count));
  for (size_t i = count; i-- > 0;) {
    depths[i] = 1;
    for (size_t k = 1; k < 3; k++) {
      const int64_t end = tensor_i64(nodes, 3 * i + k);
      if (end >= 0 && depths[end] >= depths[i]) depths[i] = depths[end] + 1;
    }
  }
  for (size_t i = 0; i < tensor_count(roots); i++) {
    const int64_t root = tensor_i64(roots, i);
    if (root >= 0 && depths[root] > *out) *out = depths[root];
  }
  if (*out <= DEEPEST) return HONE_OK;
  return fail(h->ctx, HONE_E_UNSUP, node_place(node), "StableHLO: trees of %d levels, at most %d",
              *out, DEEPEST);
}

/* [leaves, targets]: the weight of each leaf for each target. */
static hone_status put_leaves(struct hlo *h, const struct node *node, struct term *out) {
  const struct tensor *starts = node->inputs[4]->constant, *targets = node->inputs[5]->constant,
                      *weights = node->inputs[6]->constant;
  const int64_t leaves = (int64_t)tensor_count(starts) - 1;
  const int64_t width = node_int(node, "targets", 1);
  struct tensor *sums;
  TRY(tensor_create(h->ctx, h->arena, weights->dtype, &(struct shape){2, {leaves, width}}, &sums));
  for (size_t leaf = 0; leaf < (size_t)leaves; leaf++)
    for (int64_t w = tensor_i64(starts, leaf); w < tensor_i64(starts, leaf + 1); w++) {
      const size_t at = leaf * (size_t)width + (size_t)tensor_i64(targets, (size_t)w);
      tensor_set_f64(sums, at, tensor_f64(sums, at) + tensor_f64(weights, (size_t)w));
    }
  return hlo_constant(h, sums, out);
}

struct trees {
  struct term x, first; /* all rows flattened, and the start of each [n, trees] */
  struct term features, nan_is_yes, splits, yes, no; /* [nodes] */
};

static hone_status open_trees(struct hlo *h, const struct node *node, struct trees *t) {
  const struct shape rows = node->inputs[0]->shape;
  const struct shape all = {1, {rows.dims[0] * rows.dims[1]}};
  const struct shape walk = {2, {rows.dims[0], node->inputs[3]->shape.dims[0]}};
  TRY(hlo_input(h, node, 0, &t->x));
  t->x = hlo_reshape(h, t->x, &all);
  t->first = hlo_binary(h, "stablehlo.multiply", hlo_iota(h, 0, HONE_I32, &walk),
                        hlo_splat(h, (double)rows.dims[1], HONE_I32, &walk));
  TRY(put_list(h, node, 0, 1, &t->features));
  TRY(put_list(h, node, 0, 0, &t->nan_is_yes));
  const struct term one = hlo_splat(h, 1, HONE_I32, &t->nan_is_yes.shape);
  t->nan_is_yes = hlo_compare(h, "EQ", hlo_binary(h, "stablehlo.and", t->nan_is_yes, one), one);
  TRY(hlo_input(h, node, 2, &t->splits));
  TRY(put_list(h, node, 1, 0, &t->yes));
  return put_list(h, node, 2, 0, &t->no);
}

/* at [n, trees]: a node, or ~ of a leaf. */
static struct term one_level(struct hlo *h, const struct trees *t, struct term at) {
  const struct shape *shape = &at.shape;
  const struct term zero = hlo_splat(h, 0, HONE_I32, shape);
  const struct term node = hlo_binary(h, "stablehlo.maximum", at, zero);
  const struct term place =
      hlo_binary(h, "stablehlo.add", t->first, hlo_take(h, t->features, node, 0, shape));
  const struct term value = hlo_take(h, t->x, place, 0, shape);
  const struct term is_least = hlo_compare(h, "LE", value, hlo_take(h, t->splits, node, 0, shape));
  const struct term is_missing = hlo_binary(h, "stablehlo.and", hlo_compare(h, "NE", value, value),
                                            hlo_take(h, t->nan_is_yes, node, 0, shape));
  const struct term is_yes = hlo_binary(h, "stablehlo.or", is_least, is_missing);
  const struct term next = hlo_select(h, is_yes, hlo_take(h, t->yes, node, 0, shape),
                                      hlo_take(h, t->no, node, 0, shape));
  return hlo_select(h, hlo_compare(h, "LT", at, zero), at, next);
}

static hone_status put_trees(struct hlo *h, const struct node *node) {
  static const bool axes[HONE_MAX_RANK] = {false, true};
  const int64_t how = node_int(node, "aggregate", 1);
  const struct shape *rows = &node->inputs[0]->shape;
  struct trees trees;
  struct term at, leaves;
  int depth;
  if (how > 1)
    return fail(h->ctx, HONE_E_UNSUP, node_place(node),
                "StableHLO: min and max aggregation of trees have no rule");
  TRY(depth_of(h, node, &depth));
  TRY(open_trees(h, node, &trees));
  TRY(hlo_input(h, node, 3, &at));
  at = hlo_broadcast(h, at, &(struct shape){2, {rows->dims[0], at.shape.dims[0]}});
  for (int level = 0; level < depth; level++) at = one_level(h, &trees, at);
  TRY(put_leaves(h, node, &leaves));
  const struct shape shape = {3, {at.shape.dims[0], at.shape.dims[1], leaves.shape.dims[1]}};
  at = hlo_unary(h, "stablehlo.not", at);
  struct term y = hlo_reduce(h, "stablehlo.add", 0, hlo_take(h, leaves, at, 0, &shape), axes);
  if (!how)
    y = hlo_binary(h, "stablehlo.divide", y,
                   hlo_splat(h, (double)shape.dims[1], y.dtype, &y.shape));
  hlo_bind(h, node, 0, y);
  return HONE_OK;
}

const struct hlo_row hlo_trees_rules[] = {
    {OP_Trees, put_trees},
    {.rule = NULL},
};
