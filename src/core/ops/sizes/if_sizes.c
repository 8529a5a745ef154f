/* if_sizes: a data-dependent If whose branches give values of different sizes. Each branch pads its
 * values to the larger size (PadToBound) and returns the actual sizes as additional outputs of the
 * new If; a Compress after it crops each value to the size of the branch taken. Equal pairs of
 * sizes share one number, and so one extent. */
#include "core/ops/control/control.h"
#include "core/ops/composites/expand.h"

enum { SIDES = 2 }; /* else_branch, then_branch */

/* A size of an If output: in each branch an extent, or (0) a number. */
struct size_pair {
  uint32_t extent[SIDES];
  int64_t at[SIDES];
  bool is_unlike; /* at the bounds of dynamic dimensions, if not here */
};

struct branches {
  struct ctx *ctx;
  struct graph *graph;
  const struct node *node;
  struct graph *side[SIDES];
  struct graph_builder in[SIDES], behind;
  VEC(struct size_pair) sizes;
  struct node *made;
  uint64_t unlike; /* by output and dimension: see bit_of */
};

/* Of the first outputs; a branch that is chosen by a size has few. */
static uint64_t bit_of(size_t k, int d) {
  return k * HONE_MAX_RANK + (size_t)d < 64 ? 1ull << (k * HONE_MAX_RANK + (size_t)d) : 0;
}

static const struct value *given(const struct branches *b, int side, size_t k) {
  return b->side[side]->outputs.at[k];
}

static struct size_pair pair_of(const struct branches *b, size_t k, int d) {
  struct size_pair pair = {.is_unlike = b->unlike & bit_of(k, d)};
  for (int i = 0; i < SIDES; i++) {
    pair.extent[i] = given(b, i, k)->extents[d];
    pair.at[i] = given(b, i, k)->shape.dims[d];
  }
  return pair;
}

/* A known number, or an extent of the outer graph, whichever branch is taken. */
static bool is_one_size(const struct size_pair *p) {
  return !p->is_unlike && p->extent[0] == p->extent[1] && (p->extent[0] || p->at[0] == p->at[1]);
}

/* True if its two values differ only in sizes, or have dynamic dimensions. */
static bool is_sized(const struct branches *b, size_t k) {
  const struct value *x = given(b, 0, k), *y = given(b, 1, k);
  bool is_unlike = false;
  for (int d = 0; x->has_shape && d < x->shape.rank; d++)
    is_unlike = is_unlike || b->unlike & bit_of(k, d);
  return b->node->outputs[k] && !x->list && !y->list && x->has_shape && y->has_shape &&
         x->dtype == y->dtype && x->shape.rank == y->shape.rank &&
         (is_unlike || !shape_equal(&x->shape, &y->shape) || value_is_open(x) || value_is_open(y));
}

/* The index of a pair among the sizes that the If returns. */
static hone_status size_place(struct branches *b, const struct size_pair *pair, size_t *out) {
  for (*out = 0; *out < b->sizes.count; (*out)++) {
    const struct size_pair *other = &b->sizes.at[*out];
    bool same = true;
    for (int i = 0; i < SIDES; i++)
      same = same && pair->extent[i] == other->extent[i] &&
             (pair->extent[i] || pair->at[i] == other->at[i]);
    if (same) return HONE_OK;
  }
  VEC_PUSH(b->ctx, b->graph->arena, &b->sizes, *pair);
  return HONE_OK;
}

static int64_t bound_of(const struct branches *b, size_t k, int d) {
  const struct size_pair pair = pair_of(b, k, d);
  return pair.at[0] > pair.at[1] ? pair.at[0] : pair.at[1];
}

/* -- in a branch */

/* A value made in the branch itself, so that no value is returned twice. */
static struct value *handed_on(struct graph_builder *e, struct value *x) {
  struct value *y = x_1(e, OP_Identity, x);
  y->is_output = true;
  return y;
}

static void fill_up(struct branches *b, int side, size_t k) {
  struct graph_builder *e = &b->in[side];
  struct value *x = b->side[side]->outputs.at[k];
  x->is_output = false;
  for (int d = 0; d < x->shape.rank && !e->status; d++)
    x = x_pad_to_bound(e, x, d, bound_of(b, k, d), 0);
  b->side[side]->outputs.at[k] = handed_on(e, x);
}

static hone_status say_sizes(struct branches *b, int side) {
  struct graph_builder *e = &b->in[side];
  for (size_t i = 0; i < b->sizes.count; i++) {
    const struct size_pair *pair = &b->sizes.at[i];
    struct value *n = pair->extent[side] ? x_size(e, pair->extent[side])
                                         : x_scalar(e, HONE_I64, (double)pair->at[side]);
    n = handed_on(e, n);
    TRY(e->status);
    VEC_PUSH(b->ctx, b->side[side]->arena, &b->side[side]->outputs, n);
  }
  return HONE_OK;
}

static hone_status change_branch(struct branches *b, int side) {
  for (size_t k = 0; k < b->node->output_count; k++)
    if (is_sized(b, k)) fill_up(b, side, k);
  TRY(b->in[side].status);
  return say_sizes(b, side);
}

/* -- after the If */

static hone_status make_if(struct branches *b, const bool *sized) {
  const struct node *node = b->node;
  const size_t count = node->output_count;
  size_t bytes = 0;
  TRY(graph_node(b->ctx, b->graph, node->op, node->inputs, node->input_count,
                 count + b->sizes.count, &b->made));
  node_stand_for(b->made, node);
  for (size_t a = 0; a < node->attribute_count; a++)
    TRY(node_set(b->ctx, b->graph, b->made, &node->attributes[a]));
  for (size_t k = 0; k < count; k++) {
    if (sized[k]) continue;
    b->made->outputs[k] = node->outputs[k];
    if (node->outputs[k]) node->outputs[k]->producer = b->made;
  }
  TRY(node_infer_bytes(b->ctx, b->graph, b->made, &bytes));
  b->behind.bytes += bytes;
  return HONE_OK;
}

/* Crops the value to its sizes, under its existing name. */
static hone_status cut(struct branches *b, size_t k, const struct size_pair *pairs) {
  struct graph_builder *e = &b->behind;
  struct value *x = b->made->outputs[k], *to = b->node->outputs[k];
  struct node *identity;
  for (int d = 0; d < x->shape.rank && !e->status; d++) {
    size_t at = 0;
    if (is_one_size(&pairs[d])) {
      x = x_open(e, x, d, pairs[d].extent[0]);
      continue;
    }
    TRY(size_place(b, &pairs[d], &at));
    x = x_first(e, x, d, b->made->outputs[b->node->output_count + at]);
  }
  TRY(e->status);
  TRY(graph_node(b->ctx, b->graph, &op_table[OP_Identity], &x, 1, 0, &identity));
  node_stand_for(identity, b->node);
  TRY(NEW_ARRAY(b->ctx, b->graph->arena, identity->outputs, 1));
  identity->outputs[0] = to;
  identity->output_count = 1;
  to->producer = identity;
  return node_infer(b->ctx, b->graph, identity);
}

static hone_status change(struct branches *b) {
  const size_t count = b->node->output_count;
  struct size_pair *pairs;
  bool *sized;
  size_t at;
  TRY(NEW_ARRAY(b->ctx, b->graph->arena, pairs, count * HONE_MAX_RANK));
  TRY(NEW_ARRAY(b->ctx, b->graph->arena, sized, count));
  for (size_t k = 0; k < count; k++) {
    sized[k] = is_sized(b, k);
    for (int d = 0; sized[k] && d < given(b, 0, k)->shape.rank; d++) {
      pairs[k * HONE_MAX_RANK + (size_t)d] = pair_of(b, k, d);
      if (is_one_size(&pairs[k * HONE_MAX_RANK + (size_t)d])) continue;
      b->unlike |= bit_of(k, d);
      TRY(size_place(b, &pairs[k * HONE_MAX_RANK + (size_t)d], &at));
    }
  }
  for (int i = 0; i < SIDES; i++) TRY(change_branch(b, i));
  TRY(make_if(b, sized));
  for (size_t k = 0; k < count; k++)
    if (sized[k]) TRY(cut(b, k, pairs + k * HONE_MAX_RANK));
  return HONE_OK;
}

hone_status control_sized(struct ctx *ctx, struct graph *graph, struct node *node, uint64_t *unlike,
                          size_t *out_bytes, bool *out_done) {
  struct branches b = {.ctx = ctx, .graph = graph, .node = node, .unlike = *unlike};
  bool any = false;
  *out_done = false;
  for (int i = 0; i < SIDES; i++) TRY(control_branch(ctx, node, i, &b.side[i]));
  if (b.side[0]->impossible || b.side[1]->impossible) return HONE_OK;
  for (size_t k = 0; k < node->output_count; k++) any = any || is_sized(&b, k);
  if (!any) return HONE_OK;
  *out_done = true;
  b.behind = (struct graph_builder){.ctx = ctx, .graph = graph, .node = node};
  for (int i = 0; i < SIDES; i++)
    b.in[i] = (struct graph_builder){.ctx = ctx, .graph = b.side[i], .node = node};
  TRY(change(&b));
  *unlike = b.unlike;
  *out_bytes = b.behind.bytes + b.in[0].bytes + b.in[1].bytes;
  return HONE_OK;
}
