/* index: ATen operators that read or write elements by index, or sort. */
#include "pt2.h"

#include <math.h>

hone_status build_index_select(struct pt_op *op) {
  struct value *x, *index;
  int64_t axis;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "index", &index));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  return pt_result(op, 0, x_gather(op->b, x, index, axis));
}

hone_status build_embedding(struct pt_op *op) {
  struct value *table, *indices;
  TRY(pt_need(op, "weight", &table));
  TRY(pt_need(op, "indices", &indices));
  return pt_result(op, 0, x_gather(op->b, table, indices, 0));
}

hone_status build_gather(struct pt_op *op) {
  struct value *x, *index;
  int64_t axis;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "index", &index));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  return pt_result(op, 0,
                   x_args(op->b, OP_GatherElements, VALUES(x, index), ARGS(INT_ARG("axis", axis))));
}

/* A constant list of indices of a shape. */
/* -- scatters */

static hone_status scatter(struct pt_op *op, struct value *x, int64_t axis, struct value *index,
                           struct value *updates, const char *reduction, struct value **out) {
  if (updates->shape.rank != index->shape.rank) return pt_refuse(op, "of unequal ranks");
  /* only the part of src covered by the indices */
  for (int d = 0; d < index->shape.rank; d++)
    if (updates->shape.dims[d] > index->shape.dims[d])
      BUILD(op->b, updates = pt_slice(op, updates, d, 0, index->shape.dims[d], 1));
  return x_give(op->b, out,
                x_args(op->b, OP_ScatterElements, VALUES(x, index, updates),
                       ARGS(INT_ARG("axis", axis), STRING_ARG("reduction", reduction))));
}

/* One number repeated for every element of `like`. */
static struct value *repeated(struct pt_op *op, hone_dtype dtype, double number,
                              const struct value *like) {
  struct value *out = x_scalar(op->b, dtype, number);
  return x_2(op->b, OP_Expand, out, x_list(op->b, like->shape.dims, (size_t)like->shape.rank));
}

/* scatter_reduce; without include_self the written elements start from the reduction's neutral
 * element. */
static hone_status reduce_into(struct pt_op *op, struct value *x, int64_t axis, struct value *index,
                               struct value *updates) {
  static const struct {
    const char *name, *reduction;
    double neutral;
  } rows[] = {{"sum", "add", 0},
              {"mean", "add", 0},
              {"prod", "mul", 1},
              {"amax", "max", -(double)INFINITY},
              {"amin", "min", (double)INFINITY},
              {"add", "add", 0},
              {"multiply", "mul", 1}};
  struct value *neutral, *counts, *ones, *y = x;
  const char *name;
  int64_t include;
  size_t k = 0;
  TRY(pt_text(op, "reduce", "", &name));
  TRY(pt_int(op, "include_self", 1, &include));
  while (k < COUNT(rows) && strcmp(name, rows[k].name)) k++;
  const bool is_mean = k < COUNT(rows) && !strcmp(name, "mean");
  if (k == COUNT(rows) || (!dtype_is_float(x->dtype) && (is_mean || (!include && k > 2))))
    return pt_refuse(op, "with reduce %s of %s", name, dtype_name(x->dtype));
  if (!include) {
    BUILD(op->b, neutral = repeated(op, x->dtype, rows[k].neutral, index));
    TRY(scatter(op, y, axis, index, neutral, "none", &y));
  }
  TRY(scatter(op, y, axis, index, updates, rows[k].reduction, &y));
  if (!is_mean) return pt_result(op, 0, y);
  counts = repeated(op, x->dtype, include != 0, x);
  BUILD(op->b, ones = repeated(op, x->dtype, 1, index));
  TRY(scatter(op, counts, axis, index, ones, "add", &counts));
  BUILD(op->b, counts = x_by(op->b, OP_Max, counts, 1));
  BUILD(op->b, y = x_2(op->b, OP_Div, y, counts));
  return pt_result(op, 0, y);
}

hone_status build_scatter(struct pt_op *op) { /* parameter 1: add; 2: named by an argument */
  struct value *x, *index, *updates, *y;
  int64_t axis;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "index", &index));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  if (pt_given(op, "value")) {
    TRY(pt_operand(op, "value", x, &updates));
    BUILD(op->b, updates = x_2(op->b, OP_Expand, x_cast(op->b, updates, x->dtype),
                               x_list(op->b, index->shape.dims, (size_t)index->shape.rank)));
  } else {
    TRY(pt_need(op, "src", &updates));
  }
  if (op->parameter == 2) return reduce_into(op, x, axis, index, updates);
  TRY(scatter(op, x, axis, index, updates, op->parameter ? "add" : "none", &y));
  return pt_result(op, 0, y);
}

hone_status build_slice_scatter(struct pt_op *op) { /* parameter 1: select_scatter */
  struct value *x, *part, *y;
  int64_t axis, start, end, step, dims[HONE_MAX_RANK];
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "src", &part));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  if (!x->shape.rank) return pt_refuse(op, "of rank 0");
  int64_t dim = x->shape.dims[axis];
  TRY(pt_int(op, op->parameter ? "index" : "start", 0, &start));
  TRY(pt_int(op, "end", INT64_MAX, &end));
  TRY(pt_int(op, "step", 1, &step));
  start = start < 0 ? start + dim : start;
  end = end < 0 ? end + dim : end > dim ? dim : end;
  memcpy(dims, x->shape.dims, sizeof dims);
  if (step < 1 || start < 0 || start > dim - op->parameter) return pt_refuse(op, "of these bounds");
  if (op->parameter) end = start + 1;
  dims[axis] = end > start ? (end - start - 1) / step + 1 : 0;
  BUILD(op->b, part = x_reshape(op->b, part, dims, x->shape.rank));
  TRY(pt_put_slice(op, x, part, axis, start, step, &y));
  return pt_result(op, 0, y);
}

/* -- index and index_put: a list of index tensors, one per dimension */

struct indexed {
  struct value *x;      /* the indexed dimensions first */
  struct value *places; /* [broadcast.., number of indices] */
  int64_t perm[HONE_MAX_RANK];
  size_t count;     /* of indexed dimensions */
  size_t broadcast; /* dimensions of the indices together */
  size_t first;     /* position of those in the result */
};

/* Broadcasts the indices, adds a last dimension of 1 and concatenates along it. */
static hone_status join_indices(struct pt_op *op, struct value **list, size_t count,
                                struct indexed *in) {
  struct shape all = {0}, sum;
  for (size_t i = 0; i < count; i++) {
    if (!shape_broadcast(&all, &list[i]->shape, &sum))
      return pt_refuse(op, "of indices that do not broadcast");
    all = sum;
  }
  in->broadcast = (size_t)all.rank;
  struct value *shape = x_list(op->b, all.dims, (size_t)all.rank);
  if (all.rank + 1 > HONE_MAX_RANK) return pt_refuse(op, "of rank %d", all.rank);
  all.dims[all.rank] = 1;
  for (size_t i = 0; i < count; i++) {
    BUILD(op->b, list[i] = x_cast(op->b, list[i], HONE_I64));
    BUILD(op->b, list[i] = x_2(op->b, OP_Expand, list[i], shape));
    BUILD(op->b, list[i] = x_reshape(op->b, list[i], all.dims, all.rank + 1));
  }
  if (count == 1) {
    in->places = list[0];
    return HONE_OK;
  }
  return x_give(op->b, &in->places, x_concat(op->b, -1, list, count));
}

static hone_status read_indices(struct pt_op *op, struct indexed *in) {
  struct value *list[HONE_MAX_RANK], *given[HONE_MAX_RANK];
  size_t length, rank, last = 0, at = 0;
  TRY(pt_need(op, "self", &in->x));
  TRY(pt_optional_tensors(op, "indices", HONE_MAX_RANK, list, &length));
  rank = (size_t)in->x->shape.rank;
  if (length > rank) return pt_refuse(op, "with %zu indices at rank %zu", length, rank);
  in->count = 0;
  for (size_t d = 0; d < length; d++) {
    if (!list[d]) continue;
    if (list[d]->dtype == HONE_BOOL) return pt_refuse(op, "with a mask among several indices");
    if (!in->count) in->first = d;
    given[in->count++] = list[d];
    in->perm[at++] = (int64_t)d;
    last = d;
  }
  if (!in->count) return pt_refuse(op, "without indices");
  /* separated by other dimensions: they come first in the result */
  if (last - in->first + 1 != in->count) in->first = 0;
  for (size_t d = 0; d < rank; d++)
    if (d >= length || !list[d]) in->perm[at++] = (int64_t)d;
  BUILD(op->b, in->x = x_transpose(op->b, in->x, in->perm));
  return join_indices(op, given, in->count, in);
}

/* A single mask as first index: the selected elements, a data-dependent number. */
static hone_status lone_mask(struct pt_op *op, struct value **out) {
  struct value *list[HONE_MAX_RANK];
  size_t length;
  *out = NULL;
  TRY(pt_optional_tensors(op, "indices", HONE_MAX_RANK, list, &length));
  if (length == 1 && list[0] && list[0]->dtype == HONE_BOOL) *out = list[0];
  return HONE_OK;
}

static hone_status index_by_mask(struct pt_op *op, struct value *mask) {
  static const int64_t turn[] = {1, 0};
  struct value *x;
  TRY(pt_need(op, "self", &x));
  return pt_result(
      op, 0, x_2(op->b, OP_GatherND, x, x_transpose(op->b, x_1(op->b, OP_NonZero, mask), turn)));
}

/* The permutation from the gathered tensor, indexed dimensions first, to the result. */
static void result_order(const struct indexed *in, size_t rank, int64_t *perm) {
  size_t at = 0;
  for (size_t d = 0; d < in->first; d++) perm[at++] = (int64_t)(in->broadcast + d);
  for (size_t d = 0; d < in->broadcast; d++) perm[at++] = (int64_t)d;
  for (size_t d = in->broadcast + in->first; d < rank; d++) perm[at++] = (int64_t)d;
}

/* One index list of dynamic length, along one axis. */
static hone_status lone_open_list(struct pt_op *op, struct value **out, int64_t *axis) {
  struct value *list[HONE_MAX_RANK];
  size_t length, count = 0;
  *out = NULL;
  TRY(pt_optional_tensors(op, "indices", HONE_MAX_RANK, list, &length));
  for (size_t d = 0; d < length; d++)
    if (list[d]) *out = list[d], *axis = (int64_t)d, count++;
  if (count != 1 || !value_is_open(*out)) *out = NULL;
  return HONE_OK;
}

hone_status build_index(struct pt_op *op) {
  struct value *mask, *list, *x, *y;
  int64_t axis = 0;
  struct indexed in;
  int64_t perm[HONE_MAX_RANK];
  TRY(lone_mask(op, &mask));
  if (mask) return index_by_mask(op, mask);
  TRY(lone_open_list(op, &list, &axis));
  if (list) {
    TRY(pt_need(op, "self", &x));
    y = x_gather(op->b, x, list, axis);
    return pt_result(op, 0, y);
  }
  TRY(read_indices(op, &in));
  if (op->reads_open) return pt_refuse(op, "by several index lists with a dynamic dimension");
  BUILD(op->b, y = x_2(op->b, OP_GatherND, in.x, in.places));
  result_order(&in, (size_t)y->shape.rank, perm);
  if (in.first) y = x_transpose(op->b, y, perm);
  return pt_result(op, 0, y);
}

/* The same value at each place where the mask is true, or one value per such place. */
static hone_status put_by_mask(struct pt_op *op, struct value *mask, struct value *values) {
  struct value *x, *y;
  int64_t dims[HONE_MAX_RANK];
  TRY(pt_need(op, "self", &x));
  const int rest = x->shape.rank - mask->shape.rank;
  if (rest < 0) return pt_refuse(op, "with a mask of rank %d", mask->shape.rank);
  values = x_cast(op->b, values, x->dtype);
  for (int d = 0; d < x->shape.rank; d++) dims[d] = d < mask->shape.rank ? mask->shape.dims[d] : 1;
  BUILD(op->b, mask = x_reshape(op->b, mask, dims, x->shape.rank));
  if (make_elements(values) == 1) BUILD(op->b, values = x_reshape(op->b, values, NULL, 0));
  if (values->shape.rank <= rest)
    BUILD(op->b, y = x_3(op->b, OP_Where, mask, values, x));
  else
    TRY(pt_place_in_order(op, x, mask, values, &y));
  return pt_result(op, 0, y);
}

hone_status build_index_put(struct pt_op *op) {
  struct value *mask, *values, *shape, *y;
  struct indexed in;
  struct shape all;
  int64_t add, perm[HONE_MAX_RANK], back[HONE_MAX_RANK] = {0}, dims[HONE_MAX_RANK];
  TRY(pt_need(op, "values", &values));
  TRY(pt_int(op, "accumulate", 0, &add));
  TRY(lone_mask(op, &mask));
  if (mask && !add) return put_by_mask(op, mask, values);
  TRY(read_indices(op, &in));
  size_t rest = (size_t)in.x->shape.rank - in.count;
  all.rank = (int)(in.broadcast + rest);
  if (all.rank > HONE_MAX_RANK) return pt_refuse(op, "of rank %d", all.rank);
  for (size_t d = 0; d < in.broadcast; d++) all.dims[d] = in.places->shape.dims[d];
  for (size_t d = 0; d < rest; d++) all.dims[in.broadcast + d] = in.x->shape.dims[in.count + d];
  result_order(&in, (size_t)all.rank, perm);
  for (int d = 0; d < all.rank; d++) dims[d] = all.dims[perm[d]];
  shape = x_list(op->b, dims, (size_t)all.rank);
  BUILD(op->b, values = x_2(op->b, OP_Expand, x_cast(op->b, values, in.x->dtype), shape));
  for (int d = 0; d < all.rank; d++) back[perm[d]] = d;
  if (in.first) BUILD(op->b, values = x_transpose(op->b, values, back));
  BUILD(op->b, y = x_args(op->b, OP_ScatterND, VALUES(in.x, in.places, values),
                          ARGS(STRING_ARG("reduction", add ? "add" : "none"))));
  for (int d = 0; d < y->shape.rank; d++) back[in.perm[d]] = d;
  BUILD(op->b, y = x_transpose(op->b, y, back));
  return pt_result(op, 0, y);
}

/* -- sorting */

/* topk; parameter 1: sort; 2: argsort; 3: msort, along the first dimension */
hone_status build_topk(struct pt_op *op) {
  struct value *x, *y[2];
  int64_t axis, k, largest;
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "dim", op->parameter == 3 ? 0 : -1, x->shape.rank, &axis));
  TRY(pt_int(op, "k", x->shape.dims[axis], &k));
  TRY(pt_int(op, op->parameter ? "descending" : "largest", op->parameter ? 0 : 1, &largest));
  struct value *count = x_list(op->b, &k, 1);
  const hone_dtype dtype = x->dtype;
  if (dtype == HONE_BOOL) x = x_cast(op->b, x, HONE_U8);
  BUILD(op->b, x_nodes(op->b, OP_TopK, VALUES(x, count),
                       ARGS(INT_ARG("axis", axis), INT_ARG("largest", largest)), 2, y));
  BUILD(op->b, y[0] = x_cast(op->b, y[0], dtype));
  if (op->parameter == 2) return pt_result(op, 0, y[1]);
  TRY(pt_result(op, 0, y[0]));
  return op->parameter == 3 ? HONE_OK : pt_result(op, 1, y[1]);
}

/* [number of nonzero elements, rank] */
hone_status build_nonzero(struct pt_op *op) {
  static const int64_t turn[] = {1, 0};
  struct value *x;
  TRY(pt_need(op, "self", &x));
  return pt_result(op, 0, x_transpose(op->b, x_1(op->b, OP_NonZero, x), turn));
}

/* Moves the diagonal of two dimensions to the last one. */
hone_status build_diagonal(struct pt_op *op) {
  struct value *x;
  int64_t offset, a, b, perm[HONE_MAX_RANK], dims[HONE_MAX_RANK], *list;
  int at = 0;
  const bool is_last = pt_given(op, "A"); /* linalg_diagonal: of the last two */
  TRY(pt_need(op, is_last ? "A" : "self", &x));
  int rank = x->shape.rank;
  TRY(pt_int(op, pt_given(op, "diagonal") ? "diagonal" : "offset", 0, &offset));
  TRY(pt_axis(op, "dim1", is_last ? -2 : 0, rank, &a));
  TRY(pt_axis(op, "dim2", is_last ? -1 : 1, rank, &b));
  if (rank < 2 || a == b) return pt_refuse(op, "of rank %d", rank);
  int64_t rows = x->shape.dims[a], columns = x->shape.dims[b];
  if (offset < -rows) offset = -rows; /* empty, past the corner */
  if (offset > columns) offset = columns;
  int64_t row = offset < 0 ? -offset : 0, column = offset > 0 ? offset : 0;
  int64_t n = rows - row < columns - column ? rows - row : columns - column;
  for (int d = 0; d < rank; d++)
    if (d != a && d != b) {
      dims[at] = x->shape.dims[d];
      perm[at++] = d;
    }
  perm[at] = a, perm[at + 1] = b;
  dims[at] = rows * columns; /* the count was checked when x was made */
  struct value *y = x_reshape(op->b, x_transpose(op->b, x, perm), dims, at + 1);
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, list, (size_t)n));
  for (int64_t i = 0; i < n; i++) list[i] = (row + i) * columns + column + i;
  y = x_gather(op->b, y, x_list(op->b, list, (size_t)n), at);
  return pt_result(op, 0, y);
}

/* Sliding windows of a dimension, as a new last dimension. */
hone_status build_unfold(struct pt_op *op) {
  struct value *x;
  int64_t axis, size, step, perm[HONE_MAX_RANK], *list;
  TRY(pt_need(op, "self", &x));
  if (!x->shape.rank) BUILD(op->b, x = x_reshape(op->b, x, (const int64_t[]){1}, 1));
  int rank = x->shape.rank;
  TRY(pt_axis(op, "dimension", 0, rank, &axis));
  TRY(pt_int(op, "size", 1, &size));
  TRY(pt_int(op, "step", 1, &step));
  if (size < 1 || step < 1 || size > x->shape.dims[axis] || rank + 1 > HONE_MAX_RANK)
    return pt_refuse(op, "of this size");
  int64_t dims[] = {(x->shape.dims[axis] - size) / step + 1, size};
  int64_t count = 0;
  if (!checked_mul(dims[0], size, &count)) return pt_refuse(op, "of this size");
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, list, (size_t)count));
  for (int64_t i = 0; i < count; i++) list[i] = i / size * step + i % size;
  struct value *y = x_gather(op->b, x, pt_index_list(op, list, dims, 2), axis);
  for (int d = 0; d < rank; d++) perm[d] = d <= axis ? d : d + 1;
  perm[rank] = axis + 1;
  y = x_transpose(op->b, y, perm);
  return pt_result(op, 0, y);
}
