/* swap-halves: a Concat of the second and the first half of a tensor, either of them negated, as rotary
 * positions (Su et al. 2021, arXiv:2104.09864) are written, reads the tensor backwards along an axis
 * of two: a view times the signs, which the loop of the next operator contains, in place of two
 * copies.
 *
 * y = Concat(Neg(x[..., n:]), x[..., :n])   ->   y = x.reshape(..., 2, n)[..., ::-1, :] * [[-1], [1]]
 */
#include "rewrite.h"

struct half {
  struct value *of;
  int64_t start;
  bool is_negative;
};

static bool is_constant_of_one(const struct node *node, size_t k, int64_t *out) {
  const struct value *list = node_input(node, k);
  if (!list || !list->constant || tensor_count(list->constant) != 1) return false;
  *out = tensor_i64(list->constant, 0);
  return true;
}

static bool starts_at(const struct node *node, int64_t axis, int64_t *start) {
  const int rank = node->inputs[0]->shape.rank;
  int64_t along = 0, step = 1;
  if (!is_constant_of_one(node, 1, start)) return false;
  if (node_input(node, 3) && !is_constant_of_one(node, 3, &along)) return false;
  if (node_input(node, 4) && !is_constant_of_one(node, 4, &step)) return false;
  if (*start < 0) *start += node->inputs[0]->shape.dims[axis];
  return step == 1 && (along < 0 ? along + rank : along) == axis;
}

static bool is_half(struct value *value, int64_t axis, struct half *out) {
  const struct node *node = producer_of(value, OP_Neg);
  out->is_negative = node != NULL;
  if (node) value = node->inputs[0];
  node = value->producer;
  if (!node || (!is_op(node, OP_Slice) && !is_op(node, OP_Split))) return false;
  out->of = node->inputs[0];
  const int rank = value->shape.rank;
  const int64_t size = value->shape.dims[axis];
  if (out->of->shape.dims[axis] != 2 * size || out->of->extents[axis]) return false;
  if (is_op(node, OP_Slice)) return starts_at(node, axis, &out->start);
  const int64_t along = node_int(node, "axis", 0);
  out->start = value == node->outputs[0] ? 0 : size;
  return (along < 0 ? along + rank : along) == axis && node->output_count == 2;
}

/* x with its last dimension split into two and the rest, or joined again; all others are kept. */
static struct value *reshape_last(struct rewrite *r, struct value *x, const int64_t *last,
                                  int count, int kept) {
  int64_t sizes[HONE_MAX_RANK] = {0};
  for (int i = 0; i < count; i++) sizes[kept + i] = last[i];
  return x_2(r->b, OP_Reshape, x, x_list(r->b, sizes, (size_t)(kept + count)));
}

static struct value *reversed(struct rewrite *r, struct value *x, int64_t axis) {
  struct value *in[5] = {x};
  const int64_t numbers[] = {-1, INT64_MIN, axis, -1};
  for (int i = 0; i < 4; i++) in[i + 1] = x_list(r->b, &numbers[i], 1);
  return x_op(r->b, OP_Slice, in, COUNT(in));
}

/* Times -1 where a half is negated; the sign depends on the place along the axis. */
static hone_status times_signs(struct rewrite *r, struct value *x, int64_t axis,
                               const struct half half[2], struct value **out) {
  struct shape shape = {.rank = x->shape.rank - (int)axis};
  struct value *signs;
  for (int d = 0; d < shape.rank; d++) shape.dims[d] = d ? 1 : 2;
  TRY(rewrite_constant(r, x->dtype, &shape, &signs));
  for (size_t i = 0; i < 2; i++) tensor_set_f64(signs->constant, i, half[i].is_negative ? -1 : 1);
  return x_give(r->b, out, x_2(r->b, OP_Mul, x, signs));
}

static hone_status visit(struct rewrite *r, struct node *node) {
  struct half half[2];
  if (!is_op(node, OP_Concat) || node->input_count != 2) return HONE_OK;
  const int rank = node->outputs[0]->shape.rank;
  int64_t axis = node_int(node, "axis", 0);
  if (axis < 0) axis += rank;
  for (size_t i = 0; i < 2; i++)
    if (!is_half(node->inputs[i], axis, &half[i])) return HONE_OK;
  const int64_t size = half[0].start;
  const bool is_pair = size == 1;
  struct value *x = half[0].of;
  if (x != half[1].of || half[1].start != 0 || size != x->shape.dims[axis] / 2 || size < 1 ||
      x->dtype != HONE_F32 || (!is_pair && (axis != rank - 1 || rank == HONE_MAX_RANK)))
    return HONE_OK;
  if (!is_pair) BUILD(r->b, x = reshape_last(r, x, (int64_t[]){2, size}, 2, rank - 1));
  BUILD(r->b, x = reversed(r, x, axis));
  if (half[0].is_negative || half[1].is_negative) TRY(times_signs(r, x, axis, half, &x));
  if (!is_pair) BUILD(r->b, x = reshape_last(r, x, (int64_t[]){2 * size}, 1, rank - 1));
  return rewrite_replace(r, node->outputs[0], x);
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_swap_halves(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
