/* trees_table: hone.Trees, a forest as tables; what the tree operators become. Every comparison is one
 * with "at most": x < t is x <= the number before t, x > t is its other answer, x == t is two of them.
 *
 *   nodes [M, 3] i32    feature * 2 + (1 if NaN is a yes), the end of yes, the end of no
 *   splits [M]          of x's type; a yes is x[feature] <= split
 *   roots [T] i32
 *   starts [L + 1] i32  leaf i has the entries [starts[i], starts[i + 1]) of
 *   targets [W] i32, weights [W] of the output's type
 * x is [n, F], the output [n, K]. An end e >= 0 is a node that comes later, ~e a leaf. Attributes: targets
 * (K), and aggregate as in TreeEnsemble: 0 average, 1 sum, 2 min, 3 max of the leaves' weights; a target
 * that no leaf reached names has 0. */
#include <math.h>

#include "forest.h"

/* -- the table of a forest */

/* The largest number of the type that is <= t, or < t; NaN (never a yes) if there is none. */
static double bound(hone_dtype dtype, double t, bool is_below) {
  if (isnan(t) || (is_below && t <= -INFINITY)) return NAN;
  if (dtype == HONE_F64) return is_below ? nextafter(t, -INFINITY) : t;
  float f = (float)t;
  return (double)f > t || (is_below && (double)f >= t) ? nextafterf(f, -INFINITY) : f;
}

struct maker {
  const struct question *questions;
  size_t question_count, next, pending;
  int64_t *place; /* table index of a question, -1: none yet */
  size_t *stack;
  bool is_sound;
};

/* How many comparisons a question needs. */
static size_t room_of(const struct question *q) {
  return q->mode == EQ || q->mode == NEQ ? 2 : q->mode == MEMBER ? 2 * q->member_count + 1 : 1;
}

/* The table index of a child; a question is placed when it is first reached. */
static int64_t place_end(struct maker *m, int64_t end) {
  if (end < 0) return end;
  if ((size_t)end >= m->question_count || m->place[end] >= 0) {
    m->is_sound = false;
    return -1;
  }
  m->place[end] = (int64_t)m->next;
  m->next += room_of(&m->questions[end]);
  m->stack[m->pending++] = (size_t)end;
  return m->place[end];
}

static void put(struct trees_table *t, size_t at, const struct question *q, bool nan_is_yes,
                double split, int64_t yes, int64_t no) {
  t->nodes[at][0] = (int32_t)(q->feature * 2 + nan_is_yes);
  t->nodes[at][1] = (int32_t)yes;
  t->nodes[at][2] = (int32_t)no;
  t->splits[at] = split;
}

/* x == t: <= t and not < t. */
static void put_equal(struct trees_table *t, size_t at, const struct question *q, hone_dtype dtype,
                      double split, int64_t yes, int64_t no) {
  put(t, at, q, false, bound(dtype, split, false), (int64_t)at + 1, no);
  put(t, at + 1, q, false, bound(dtype, split, true), no, yes);
}

static void put_question(struct trees_table *t, size_t at, const struct question *q,
                         hone_dtype dtype, int64_t yes, int64_t no) {
  const bool nan = q->nan_is_yes;
  switch (q->mode) {
    case LEQ:
    case LT:
      put(t, at, q, nan, bound(dtype, q->split, q->mode == LT), yes, no);
      return;
    case GT:
    case GTE: /* the negated answer, for NaN too */
      put(t, at, q, !nan, bound(dtype, q->split, q->mode == GTE), no, yes);
      return;
    case NEQ: /* NaN compares unequal */
      put_equal(t, at, q, dtype, q->split, no, yes);
      return;
    case EQ:
      put_equal(t, at, q, dtype, q->split, yes, no);
      break;
    default:
      for (size_t i = 0; i < q->member_count; i++)
        put_equal(t, at + 2 * i, q, dtype, q->members[i], yes, (int64_t)(at + 2 * i + 2));
      put(t, at + 2 * q->member_count, q, nan, NAN, yes, no);
      return;
  }
  if (nan) { /* skips both comparisons and goes to yes */
    t->nodes[at][0] |= 1;
  }
}

hone_status trees_table_make(struct ctx *ctx, struct arena *arena, const struct node *node,
                             hone_dtype x_dtype, const struct question *questions, size_t count,
                             int64_t *roots, size_t trees, struct trees_table *out) {
  struct maker m = {.questions = questions, .question_count = count, .is_sound = true};
  size_t most = 1;
  for (size_t i = 0; i < count; i++)
    if (!checked_add(most, room_of(&questions[i]), &most) || most > INT32_MAX)
      return fail(ctx, HONE_E_LIMIT, node_place(node), "more comparisons than %d", INT32_MAX);
  TRY(NEW_ARRAY(ctx, arena, m.place, count + 1));
  TRY(NEW_ARRAY(ctx, arena, m.stack, count + 1));
  TRY(NEW_ARRAY(ctx, arena, out->nodes, most));
  TRY(NEW_ARRAY(ctx, arena, out->splits, most));
  for (size_t i = 0; i < count; i++) m.place[i] = -1;
  for (size_t t = 0; t < trees && m.is_sound; t++) {
    roots[t] = place_end(&m, roots[t]);
    while (m.pending && m.is_sound) {
      const size_t i = m.stack[--m.pending], at = (size_t)m.place[i];
      const struct question *q = &questions[i];
      const int64_t no = place_end(&m, q->no);
      put_question(out, at, q, x_dtype, q->yes == q->no ? no : place_end(&m, q->yes), no);
    }
  }
  out->node_count = m.next;
  if (!m.next) { /* the table must not be empty: an unreachable node */
    out->nodes[0][1] = out->nodes[0][2] = -1;
    out->node_count = 1;
  }
  if (m.is_sound) return HONE_OK;
  return fail(ctx, HONE_E_SHAPE, node_place(node), "a tree has a cycle, or a node has two parents");
}

/* -- the operator */

struct table {
  const struct tensor *nodes, *splits, *roots, *starts, *targets, *weights;
  int64_t node_count, leaves, entries;
};

static bool read_table(const struct node *node, struct table *t) {
  for (size_t k = 1; k < 7; k++)
    if (!node->inputs[k]->constant) return false;
  *t = (struct table){.nodes = node->inputs[1]->constant,
                      .splits = node->inputs[2]->constant,
                      .roots = node->inputs[3]->constant,
                      .starts = node->inputs[4]->constant,
                      .targets = node->inputs[5]->constant,
                      .weights = node->inputs[6]->constant};
  t->node_count = (int64_t)tensor_count(t->splits);
  t->leaves = (int64_t)tensor_count(t->starts) - 1;
  t->entries = (int64_t)tensor_count(t->weights);
  return t->nodes->dtype == HONE_I32 && t->roots->dtype == HONE_I32 &&
         t->starts->dtype == HONE_I32 && t->targets->dtype == HONE_I32 && t->node_count > 0 &&
         t->leaves >= 0 && (int64_t)tensor_count(t->nodes) == 3 * t->node_count &&
         (int64_t)tensor_count(t->targets) == t->entries;
}

/* Every child is a leaf or comes after its parent; every feature and target exists. */
static bool is_sound(const struct table *t, int64_t features, int64_t targets) {
  bool sound = tensor_i64(t->starts, 0) == 0;
  for (size_t i = 0; sound && i < (size_t)t->node_count; i++) {
    const int64_t feature = tensor_i64(t->nodes, 3 * i);
    sound = feature >= 0 && feature / 2 < features;
    for (size_t k = 1; sound && k < 3; k++) {
      const int64_t end = tensor_i64(t->nodes, 3 * i + k);
      sound = end < 0 ? ~end < t->leaves : end > (int64_t)i && end < t->node_count;
    }
  }
  for (size_t i = 0; sound && i < tensor_count(t->roots); i++) {
    const int64_t root = tensor_i64(t->roots, i);
    sound = root < 0 ? ~root < t->leaves : root < t->node_count;
  }
  for (size_t i = 0; sound && i < (size_t)t->leaves; i++)
    sound = tensor_i64(t->starts, i + 1) >= tensor_i64(t->starts, i);
  sound = sound && tensor_i64(t->starts, (size_t)t->leaves) <= t->entries;
  for (size_t i = 0; sound && i < (size_t)t->entries; i++)
    sound = tensor_i64(t->targets, i) >= 0 && tensor_i64(t->targets, i) < targets;
  return sound;
}

hone_status infer_trees_table(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct value *x = node->inputs[0];
  const int64_t targets = node_int(node, "targets", 1), how = node_int(node, "aggregate", 1);
  struct table t;
  if ((x->dtype != HONE_F32 && x->dtype != HONE_F64) || node->inputs[2]->dtype != x->dtype ||
      (node->inputs[6]->dtype != HONE_F32 && node->inputs[6]->dtype != HONE_F64))
    return fail(ctx, HONE_E_TYPE, node_place(node), "trees over %s with splits of %s",
                dtype_name(x->dtype), dtype_name(node->inputs[2]->dtype));
  if (x->shape.rank != 2 || targets < 1 || how < 0 || how > 3 || !read_table(node, &t) ||
      !is_sound(&t, x->shape.dims[1], targets))
    return fail(ctx, HONE_E_SHAPE, node_place(node), "the shapes of the tree tables do not match");
  return set_output(ctx, node, 0, node->inputs[6]->dtype,
                    &(struct shape){2, {x->shape.dims[0], targets}});
}

static void add_entry(int64_t how, double weight, double *score, bool *seen) {
  if (how < 2)
    *score += weight;
  else if (!*seen || (how == 2 ? weight < *score : weight > *score))
    *score = weight;
  *seen = true;
}

static int64_t find_leaf(const struct table *t, const struct tensor *x, size_t row, int64_t at) {
  const size_t features = (size_t)x->shape.dims[1];
  while (at >= 0) {
    const int64_t word = tensor_i64(t->nodes, 3 * (size_t)at);
    const double v = tensor_f64(x, row * features + (size_t)(word / 2));
    const bool yes = v <= tensor_f64(t->splits, (size_t)at) || (isnan(v) && word % 2);
    at = tensor_i64(t->nodes, 3 * (size_t)at + (yes ? 1 : 2));
  }
  return ~at;
}

hone_status eval_trees_table(struct ctx *ctx, struct arena *scratch, const struct node *node,
                             const struct tensor *const *in, struct tensor *const *out) {
  const int64_t how = node_int(node, "aggregate", 1);
  const size_t targets = (size_t)out[0]->shape.dims[1], rows = (size_t)out[0]->shape.dims[0];
  struct table t;
  double *scores;
  bool *seen;
  TRY(NEW_ARRAY(ctx, scratch, scores, targets));
  TRY(NEW_ARRAY(ctx, scratch, seen, targets));
  if (!read_table(node, &t))
    return fail(ctx, HONE_E_SHAPE, node_place(node), "a tree table is missing");
  const size_t trees = tensor_count(t.roots);
  for (size_t row = 0; row < rows; row++) {
    memset(scores, 0, targets * sizeof *scores);
    memset(seen, 0, targets * sizeof *seen);
    for (size_t tree = 0; tree < trees; tree++) {
      const size_t leaf = (size_t)find_leaf(&t, in[0], row, tensor_i64(t.roots, tree));
      const size_t end = (size_t)tensor_i64(t.starts, leaf + 1);
      for (size_t w = (size_t)tensor_i64(t.starts, leaf); w < end; w++) {
        const size_t k = (size_t)tensor_i64(t.targets, w);
        add_entry(how, tensor_f64(t.weights, w), &scores[k], &seen[k]);
      }
    }
    for (size_t k = 0; k < targets; k++)
      tensor_set_f64(out[0], row * targets + k, how ? scores[k] : scores[k] / (double)trees);
  }
  return HONE_OK;
}
