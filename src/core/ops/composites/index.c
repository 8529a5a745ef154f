/* Indices into dynamic axes, and index lists of dynamic length. Negative indices count from the
 * actual size; padding of an index list refers to an element that is never read. */
#include "expand.h"

/* An axis of input 0; -1 if out of range. */
static int64_t input_axis(const struct node *node) {
  const struct value *x = node_input(node, 0);
  const int64_t axis = node_int(node, "axis", 0);
  return x ? axis + (axis < 0 ? x->shape.rank : 0) : -1;
}

struct value *x_within(struct graph_builder *e, struct value *index, struct value *n,
                       struct value *bound) {
  struct value *zero = x_scalar(e, HONE_I64, 0);
  index = x_cast(e, index, HONE_I64);
  index = x_3(e, OP_Where, x_2(e, OP_Less, index, zero), x_2(e, OP_Add, index, n), index);
  struct value *is =
      x_2(e, OP_And, x_2(e, OP_Less, index, n), x_2(e, OP_GreaterOrEqual, index, zero));
  return x_3(e, OP_Where, is, index, bound);
}

void expand_open_gather(struct graph_builder *e) {
  struct value *x = x_in(e, 0);
  const int axis = (int)input_axis(e->node);
  struct value *bound = x_scalar(e, HONE_I64, (double)x->shape.dims[axis]);
  struct value *index = x_within(e, x_in(e, 1), x_size(e, x->extents[axis]), bound);
  x_with_int(e, "within", 1);
  x_out(e, 0, x_gather(e, x, index, axis));
}

void expand_open_gather_nd(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *index = x_in(e, 1);
  const int64_t count = index->shape.dims[index->shape.rank - 1];
  if (x_int(e, "batch_dims", 0) || count > x->shape.rank) {
    x_fail(e, HONE_E_UNSUP, "GatherND with a dynamic batch dimension is not supported");
    return;
  }
  struct value *n = x_slice(e, x_1(e, OP_Shape, x), 0, 0, count);
  index = x_within(e, index, n, x_list(e, x->shape.dims, (size_t)count));
  x_with_int(e, "within", 1);
  x_out(e, 0, x_2(e, OP_GatherND, x, index));
}

/* Along other axes both have the same size, or neither is dynamic. */
void expand_open_gather_elements(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *index = x_in(e, 1), *y;
  const int64_t axis = input_axis(e->node);
  bool fits = axis >= 0 && axis < x->shape.rank && index->shape.rank == x->shape.rank;
  for (int d = 0; d < x->shape.rank && fits; d++)
    fits = d == axis || x->extents[d] == index->extents[d];
  if (!fits) {
    x_fail(e, HONE_E_UNSUP,
           "GatherElements of dynamic dimensions that are equal only at run time is not supported");
    return;
  }
  const int64_t room = x->shape.dims[axis];
  struct value *bound = x_scalar(e, HONE_I64, (double)room);
  struct value *to =
      x_within(e, index, x->extents[axis] ? x_size(e, x->extents[axis]) : bound, bound);
  y = x_again(e, (struct value *[]){x_pad_all_to_bound(e, x, 0), x_pad_all_to_bound(e, to, 0)}, 2);
  for (int d = 0; d < index->shape.rank; d++) y = x_open(e, y, d, index->extents[d]);
  x_out(e, 0, y);
}

/* Padding of the updates goes to one additional element, which is cropped; out-of-range indices are
 * past that too. */
void expand_open_scatter(struct graph_builder *e) {
  struct value *data = x_in(e, 0), *index = x_in(e, 1), *x = data, *none, *n;
  const int axis = (int)input_axis(e->node);
  if (axis < 0 || axis >= x->shape.rank || index->shape.rank != x->shape.rank) {
    x_fail(e, HONE_E_SHAPE, "axis, data and indices do not fit together");
    return;
  }
  const int64_t room = x->shape.dims[axis];
  none = x_scalar(e, HONE_I64, (double)room);
  n = x->extents[axis] ? x_size(e, x->extents[axis]) : none;
  index = x_within(e, index, n, x_scalar(e, HONE_I64, (double)(room + 1)));
  for (int d = 0; d < index->shape.rank && !e->status; d++)
    index = x_pad_to_bound(e, index, d, index->shape.dims[d], (double)room);
  struct value *in[] = {x_pad(e, x_pad_all_to_bound(e, x, 0), axis, 0, 1), index,
                        x_pad_all_to_bound(e, x_in(e, 2), 0)};
  x = x_slice(e, x_again(e, in, 3), axis, 0, room);
  for (int d = 0; d < x->shape.rank; d++) x = x_open(e, x, d, data->extents[d]);
  x_out(e, 0, x);
}

/* True if updates have the shape of the addresses followed by that of the data; shapes at their
 * bounds do not show this. */
static bool updates_fit(const struct value *x, const struct value *index,
                        const struct value *updates, int named) {
  const int last = index->shape.rank - 1;
  for (int d = 0; d < updates->shape.rank; d++) {
    const int of = d - last + named;
    if (d >= last && of >= x->shape.rank) return false;
    if (updates->extents[d] != (d < last ? index->extents[d] : x->extents[of])) return false;
  }
  return true;
}

/* Addresses are shifted by one; element 0 of all indexed axes takes the padding of the updates. */
void expand_open_scatter_nd(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *index = x_in(e, 1), *n, *y;
  const int last = index->shape.rank - 1;
  const int64_t named = last < 0 ? 0 : index->shape.dims[last];
  if (named < 1 || named > x->shape.rank || index->extents[last] ||
      !updates_fit(x, index, x_in(e, 2), (int)named)) {
    x_fail(e, HONE_E_UNSUP,
           "ScatterND of dynamic dimensions that are equal only at run time is not supported");
    return;
  }
  n = x_slice(e, x_1(e, OP_Shape, x), 0, 0, named);
  index = x_within(e, index, n, x_list(e, x->shape.dims, (size_t)named));
  index = x_pad_all_to_bound(e, x_2(e, OP_Add, index, x_scalar(e, HONE_I64, 1)), 0);
  y = x_pad_all_to_bound(e, x, 0);
  for (int d = 0; d < named; d++) y = x_pad(e, y, d, 1, 0);
  y = x_again(e, (struct value *[]){y, index, x_pad_all_to_bound(e, x_in(e, 2), 0)}, 3);
  for (int d = 0; d < named; d++) y = x_slice(e, y, d, 1, 1 + x->shape.dims[d]);
  for (int d = 0; d < x->shape.rank; d++) y = x_open(e, y, d, x->extents[d]);
  x_out(e, 0, y);
}
