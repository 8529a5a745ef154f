/* algebra: ATen's smaller operators on matrices, lists of tensors and sets. */
#include "pt2.h"

#include <math.h>

/* -- products */

/* input1' weight[k] input2 + bias for every k, per row. */
hone_status build_bilinear(struct pt_op *op) {
  struct value *x[2], *w, *bias;
  int64_t dims[HONE_MAX_RANK];
  TRY(pt_need(op, "input1", &x[0]));
  TRY(pt_need(op, "input2", &x[1]));
  TRY(pt_need(op, "weight", &w));
  TRY(pt_tensor(op, "bias", &bias));
  const size_t rank = (size_t)x[0]->shape.rank;
  if (w->shape.rank != 3 || rank < 1 || x[1]->shape.rank != (int)rank)
    return pt_refuse(op, "of these ranks");
  memcpy(dims, x[0]->shape.dims, rank * sizeof *dims);
  dims[rank - 1] = w->shape.dims[0];
  for (size_t k = 0; k < 2; k++) {
    const int64_t rows[] = {-1, x[k]->shape.dims[rank - 1]};
    BUILD(op->b, x[k] = x_reshape(op->b, x[k], rows, 2));
  }
  struct value *y = x_reshape(op->b,
                              x_args(op->b, OP_Einsum, VALUES(x[0], w, x[1]),
                                     ARGS(STRING_ARG("equation", "ni,kij,nj->nk"))),
                              dims, (int)rank);
  if (bias) y = x_2(op->b, OP_Add, y, bias);
  return pt_result(op, 0, y);
}

/* _trilinear, into which bilinear is expanded: a product of three, each with inserted dimensions of
 * 1, summed. */
hone_status build_trilinear(struct pt_op *op) {
  static const char *const names[][2] = {{"i1", "expand1"}, {"i2", "expand2"}, {"i3", "expand3"}};
  struct value *x, *axes, *y = NULL;
  int64_t list[HONE_MAX_RANK];
  size_t count;
  for (size_t k = 0; k < COUNT(names); k++) {
    TRY(pt_need(op, names[k][0], &x));
    TRY(pt_ints(op, names[k][1], HONE_MAX_RANK, list, &count));
    axes = x_list(op->b, list, count);
    if (count) BUILD(op->b, x = x_2(op->b, OP_Unsqueeze, x, axes));
    if (y) BUILD(op->b, x = x_2(op->b, OP_Mul, y, x));
    y = x;
  }
  TRY(pt_ints(op, "sumdim", HONE_MAX_RANK, list, &count));
  if (!count) return pt_result(op, 0, y);
  axes = x_list(op->b, list, count);
  y = x_args(op->b, OP_ReduceSum, VALUES(y, axes), ARGS(INT_ARG("keepdims", 0)));
  return pt_result(op, 0, y);
}

/* x with the axes of `list` last (or first), as a matrix; the other dimensions are appended to
 * dims. */
static hone_status as_matrix(struct pt_op *op, struct value *x, const int64_t *list, size_t count,
                             bool is_first, struct value **out, int64_t *dims, size_t *out_count) {
  int64_t perm[HONE_MAX_RANK], inner = 1, outer = 1;
  bool taken[HONE_MAX_RANK] = {false};
  const size_t rank = (size_t)x->shape.rank;
  size_t at = is_first ? count : 0, summed = is_first ? 0 : rank - count;
  if (count > rank) return pt_refuse(op, "of %zu dimensions", count);
  for (size_t i = 0; i < count; i++) {
    int64_t axis;
    TRY(pt_axis_of(op, list[i], x->shape.rank, &axis));
    if (taken[axis]) return pt_refuse(op, "of a dimension twice");
    taken[axis] = true;
    perm[summed++] = axis;
    inner *= x->shape.dims[axis];
  }
  for (size_t d = 0; d < rank; d++) {
    if (taken[d]) continue;
    if (*out_count == HONE_MAX_RANK)
      return pt_refuse(op, "to more dimensions than %d", HONE_MAX_RANK);
    perm[at++] = (int64_t)d;
    dims[(*out_count)++] = x->shape.dims[d];
    outer *= x->shape.dims[d];
  }
  const int64_t shape[] = {is_first ? inner : outer, is_first ? outer : inner};
  BUILD(op->b, x = x_transpose(op->b, x, perm));
  return x_give(op->b, out, x_reshape(op->b, x, shape, 2));
}

/* tensordot; inner (parameter 1): over the last dimension of both. */
hone_status build_tensordot(struct pt_op *op) {
  struct value *x, *y;
  int64_t from[HONE_MAX_RANK] = {-1}, to[HONE_MAX_RANK] = {-1}, dims[HONE_MAX_RANK];
  size_t count = 1, other = 1, rank = 0;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "other", &y));
  if (!op->parameter) {
    TRY(pt_ints(op, "dims_self", HONE_MAX_RANK, from, &count));
    TRY(pt_ints(op, "dims_other", HONE_MAX_RANK, to, &other));
  }
  if (count != other) return pt_refuse(op, "over %zu and %zu dimensions", count, other);
  TRY(as_matrix(op, x, from, count, false, &x, dims, &rank));
  TRY(as_matrix(op, y, to, count, true, &y, dims, &rank));
  return pt_result(op, 0, x_reshape(op->b, x_2(op->b, OP_MatMul, x, y), dims, (int)rank));
}

/* Every element of self times the whole of other. */
hone_status build_kronecker(struct pt_op *op) {
  struct value *x[2];
  int64_t apart[2][HONE_MAX_RANK], dims[HONE_MAX_RANK];
  TRY(pt_need(op, "self", &x[0]));
  TRY(pt_need(op, "other", &x[1]));
  const int rank = x[0]->shape.rank;
  if (x[1]->shape.rank != rank || 2 * rank > HONE_MAX_RANK) return pt_refuse(op, "of these ranks");
  for (int d = 0; d < rank; d++) {
    for (int k = 0; k < 2; k++) {
      apart[k][2 * d + k] = x[k]->shape.dims[d];
      apart[k][2 * d + 1 - k] = 1;
    }
    if (!checked_mul(x[0]->shape.dims[d], x[1]->shape.dims[d], &dims[d]))
      return pt_refuse(op, "of this size");
  }
  for (int k = 0; k < 2; k++)
    BUILD(op->b, x[k] = x_reshape(op->b, x[k], apart[k], (int)(2 * (size_t)rank)));
  return pt_result(op, 0, x_reshape(op->b, x_2(op->b, OP_Mul, x[0], x[1]), dims, rank));
}

/* -- diagonals */

/* x where column - row is `offset`, else 0; x broadcasts to [.., rows, columns]. */
static hone_status on_diagonal(struct pt_op *op, struct value *x, int64_t rows, int64_t columns,
                               int64_t offset, struct value **out) {
  enum { MOST = 1 << 24 };
  double *places;
  int64_t count = 0;
  if (!checked_mul(rows, columns, &count) || count > MOST) return pt_refuse(op, "of this size");
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, places, (size_t)count + 1));
  for (int64_t i = 0; i < count; i++) places[i] = i % columns - i / columns == offset;
  return x_give(
      op->b, out,
      x_3(op->b, OP_Where, x_numbers(op->b, HONE_BOOL, &(struct shape){2, {rows, columns}}, places),
          x, x_scalar(op->b, x->dtype, 0)));
}

/* diag_embed, diag of a vector, diagflat: the last dimension on a diagonal of two. */
hone_status build_diagonal_matrix(struct pt_op *op) {
  struct value *x, *y;
  int64_t offset, axis[2], pads[2 * HONE_MAX_RANK] = {0}, dims[HONE_MAX_RANK];
  TRY(pt_need(op, "self", &x));
  if (strstr(op->target, "diagflat"))
    BUILD(op->b, x = x_reshape(op->b, x, (const int64_t[]){-1}, 1));
  const int rank = x->shape.rank;
  if (pt_given(op, "diagonal") || strstr(op->target, "diag.")) {
    if (rank == 2) return build_diagonal(op);
    if (rank != 1) return pt_refuse(op, "of rank %d", rank);
  }
  if (rank < 1 || rank + 1 > HONE_MAX_RANK) return pt_refuse(op, "of rank %d", rank);
  TRY(pt_int(op, pt_given(op, "diagonal") ? "diagonal" : "offset", 0, &offset));
  TRY(pt_axis(op, "dim1", -2, rank + 1, &axis[0]));
  TRY(pt_axis(op, "dim2", -1, rank + 1, &axis[1]));
  if (axis[0] != rank - 1 || axis[1] != rank || offset < -(1 << 24) || offset > 1 << 24)
    return pt_refuse(op, "in other dimensions than the last");
  pads[rank - 1] = offset < 0 ? -offset : 0;
  pads[2 * rank - 1] = offset > 0 ? offset : 0;
  BUILD(op->b,
        y = x_args(op->b, OP_Pad,
                   VALUES(x, x_list(op->b, pads, 2 * (size_t)rank), x_scalar(op->b, x->dtype, 0)),
                   ARGS(STRING_ARG("mode", "constant"))));
  const int64_t size = y->shape.dims[rank - 1];
  memcpy(dims, y->shape.dims, (size_t)rank * sizeof *dims);
  dims[rank] = 1;
  BUILD(op->b, y = x_reshape(op->b, y, dims, rank + 1));
  TRY(on_diagonal(op, y, size, size, offset, &y));
  return pt_result(op, 0, y);
}

hone_status build_trace(struct pt_op *op) {
  struct value *x;
  TRY(pt_need(op, "self", &x));
  if (x->shape.rank != 2) return pt_refuse(op, "of rank %d", x->shape.rank);
  TRY(on_diagonal(op, x, x->shape.dims[0], x->shape.dims[1], 0, &x));
  if (!dtype_is_float(x->dtype)) x = x_cast(op->b, x, HONE_I64);
  return pt_result(op, 0, x_reduce(op->b, OP_ReduceSum, x, NULL, 0, 0));
}

/* -- lists */

/* x with at least n dimensions: a vector becomes a row, a matrix a plane. */
static struct value *at_least(struct pt_op *op, struct value *x, int n) {
  const int rank = x->shape.rank, before = rank == 1 && n > 1 ? 1 : 0;
  int64_t dims[3] = {1, 1, 1};
  if (rank >= n) return x;
  for (int d = 0; d < rank; d++) dims[before + d] = x->shape.dims[d];
  return x_reshape(op->b, x, dims, n);
}

/* atleast_1d, _2d, _3d: the parameter is the rank. For a tensor, or for each tensor of a list. */
hone_status build_at_least(struct pt_op *op) {
  enum { MOST = 4096 };
  struct value **x;
  size_t count = 1;
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, x, MOST));
  if (pt_given(op, "tensors"))
    TRY(pt_tensors(op, "tensors", MOST, x, &count));
  else
    TRY(pt_need(op, "self", &x[0]));
  if (count != pt_result_count(op)) return pt_refuse(op, "of %zu tensors", count);
  for (size_t k = 0; k < count; k++) {
    BUILD(op->b, x[k] = at_least(op, x[k], op->parameter));
    TRY(pt_result(op, k, x[k]));
  }
  return HONE_OK;
}

/* hstack (parameter 1), vstack (2), dstack (3), column_stack (0). */
hone_status build_join(struct pt_op *op) {
  enum { MOST = 4096 };
  struct value **parts;
  size_t count;
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, parts, MOST));
  TRY(pt_tensors(op, "tensors", MOST, parts, &count));
  TRY(pt_promote(op, parts, count));
  if (!count) return pt_refuse(op, "of no tensors");
  for (size_t i = 0; i < count; i++)
    if (!op->parameter && parts[i]->shape.rank < 2)
      BUILD(op->b, parts[i] = x_reshape(op->b, parts[i], (const int64_t[]){-1, 1}, 2));
    else
      BUILD(op->b, parts[i] = at_least(op, parts[i], op->parameter));
  const int64_t axis = op->parameter == 3 ? 2 : op->parameter == 2 ? 0 : parts[0]->shape.rank > 1;
  return pt_result(op, 0, x_concat(op->b, axis, parts, count));
}

/* -- sets */

/* True for the elements that are in a list. */
hone_status build_is_in(struct pt_op *op) {
  static const int64_t flat[] = {-1};
  struct value *x, *list;
  int64_t dims[HONE_MAX_RANK], inverted;
  if (pt_given(op, "elements")) {
    TRY(pt_need(op, "elements", &x));
    TRY(pt_operand(op, pt_given(op, "test_elements") ? "test_elements" : "test_element", x, &list));
  } else {
    TRY(pt_need(op, "test_elements", &list));
    TRY(pt_operand(op, "element", list, &x));
  }
  TRY(pt_int(op, "invert", 0, &inverted));
  struct value *pair[] = {x, list};
  TRY(pt_promote(op, pair, 2));
  x = pair[0], list = pair[1];
  const size_t rank = (size_t)x->shape.rank;
  if (rank == HONE_MAX_RANK) return pt_refuse(op, "of rank %zu", rank);
  memcpy(dims, x->shape.dims, rank * sizeof *dims);
  dims[rank] = 1;
  x = x_reshape(op->b, x, dims, (int)(rank + 1));
  struct value *y =
      x_reduce(op->b, OP_ReduceMax, x_2(op->b, OP_Equal, x, x_reshape(op->b, list, flat, 1)),
               (const int64_t[]){(int64_t)rank}, 1, 0);
  if (inverted) y = x_1(op->b, OP_Not, y);
  return pt_result(op, 0, y);
}

/* |self - other| <= atol + rtol |other|, or equal. */
hone_status build_is_close(struct pt_op *op) {
  struct graph_builder *b = op->b;
  struct value *x, *y, *apart, *allowed;
  double relative, absolute;
  int64_t nans;
  TRY(pt_floats_of(op, &x, &y));
  TRY(pt_float(op, "rtol", 1e-5, &relative));
  TRY(pt_float(op, "atol", 1e-8, &absolute));
  TRY(pt_int(op, "equal_nan", 0, &nans));
  struct value *is_equal = x_2(b, OP_Equal, x, y);
  if (nans) {
    apart = x_1(b, OP_IsNaN, x);
    allowed = x_1(b, OP_IsNaN, y);
    apart = x_2(b, OP_And, apart, allowed);
    is_equal = x_2(b, OP_Or, is_equal, apart);
  }
  apart = x_1(b, OP_Abs, x_2(b, OP_Sub, x, y));
  allowed = x_by(b, OP_Add, x_by(b, OP_Mul, x_1(b, OP_Abs, y), relative), absolute);
  struct value *is_finite = x_by(b, OP_Less, apart, (double)INFINITY);
  return pt_result(
      op, 0,
      x_2(b, OP_Or, x_2(b, OP_And, x_2(b, OP_LessOrEqual, apart, allowed), is_finite), is_equal));
}

/* kthvalue; median (parameter 1): the lower of the middle ones, of a dimension or of all. */
hone_status build_order_statistic(struct pt_op *op) {
  static const int64_t flat[] = {-1};
  struct value *x, *y[2];
  int64_t axis, k, keep, dims[HONE_MAX_RANK];
  size_t rank = 0;
  TRY(pt_need(op, "self", &x));
  const bool is_all = op->parameter && pt_result_count(op) == 1;
  if (is_all) BUILD(op->b, x = x_reshape(op->b, x, flat, 1));
  TRY(pt_axis(op, "dim", -1, x->shape.rank, &axis));
  TRY(pt_int(op, "keepdim", 0, &keep));
  const int64_t length = x->shape.rank ? x->shape.dims[axis] : 0;
  TRY(pt_int(op, "k", length / 2 + length % 2, &k));
  if (k < 1 || k > length)
    return pt_refuse(op, "for element %lld of %lld", (long long)k, (long long)length);
  struct value *count = x_list(op->b, &k, 1);
  BUILD(op->b, x_nodes(op->b, OP_TopK, VALUES(x, count),
                       ARGS(INT_ARG("axis", axis), INT_ARG("largest", 0)), 2, y));
  for (int d = 0; d < x->shape.rank; d++)
    if (d != axis || (keep && !is_all)) dims[rank++] = d == axis ? 1 : x->shape.dims[d];
  for (size_t i = 0; i < (is_all ? 1 : 2); i++) {
    y[i] = pt_slice(op, y[i], axis, k - 1, k, 1);
    BUILD(op->b, y[i] = x_reshape(op->b, y[i], dims, (int)rank));
    TRY(pt_result(op, i, y[i]));
  }
  return HONE_OK;
}

/* The elements where the mask is true: a data-dependent number. */
hone_status build_masked_select(struct pt_op *op) {
  static const int64_t turn[] = {1, 0};
  struct value *x, *mask;
  struct shape all;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "mask", &mask));
  if (!shape_broadcast(&x->shape, &mask->shape, &all) || !all.rank)
    return pt_refuse(op, "of shapes that do not broadcast");
  x = x_2(op->b, OP_Expand, x, x_list(op->b, all.dims, (size_t)all.rank));
  struct value *y =
      x_transpose(op->b,
                  x_1(op->b, OP_NonZero,
                      x_2(op->b, OP_Expand, mask, x_list(op->b, all.dims, (size_t)all.rank))),
                  turn);
  return pt_result(op, 0, x_2(op->b, OP_GatherND, x, y));
}

/* max_unpool2d, max_unpool3d: puts every element back at its position in the plane (or volume),
 * zeros elsewhere. */
hone_status build_unpool(struct pt_op *op) {
  struct value *x, *places;
  int64_t size[3], dims[HONE_MAX_RANK], plane = 1;
  size_t n;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "indices", &places));
  TRY(pt_ints(op, "output_size", COUNT(size), size, &n));
  const size_t rank = (size_t)x->shape.rank, lead = rank - n;
  if (!n || rank <= n || !shape_equal(&x->shape, &places->shape))
    return pt_refuse(op, "of these shapes");
  for (size_t d = 0; d < n; d++)
    if (size[d] < 0 || !checked_mul(plane, size[d], &plane)) return pt_refuse(op, "of this size");
  memcpy(dims, x->shape.dims, lead * sizeof *dims);
  dims[lead] = -1;
  BUILD(op->b, x = x_reshape(op->b, x, dims, (int)(lead + 1)));
  BUILD(op->b, places = x_reshape(op->b, places, dims, (int)(lead + 1)));
  dims[lead] = plane;
  struct value *y =
      x_2(op->b, OP_Expand, x_scalar(op->b, x->dtype, 0), x_list(op->b, dims, lead + 1));
  y = x_args(op->b, OP_ScatterElements, VALUES(y, places, x), ARGS(INT_ARG("axis", -1)));
  memcpy(dims + lead, size, n * sizeof *dims);
  y = x_reshape(op->b, y, dims, (int)(lead + n));
  return pt_result(op, 0, y);
}

/* -- numbers and storage */

/* item: a number that is known at import. */
hone_status build_item(struct pt_op *op) {
  struct value *x;
  TRY(pt_need(op, "self", &x));
  if (!x->constant || tensor_count(x->constant) != 1)
    return pt_refuse(op, "of a number computed at run time");
  return pt_number(op, tensor_f64(x->constant, 0), 0);
}

/* True if a tensor of the file is contiguous and starts at the beginning of its storage. */
static bool is_stored_densely(const struct pt_op *op, const char *name, const struct value *x) {
  const json_t *graph = json_object_get(json_object_get(op->pt->model, "graph_module"), "graph");
  const json_t *about = json_object_get(json_object_get(graph, "tensor_values"), name);
  const json_t *strides = json_object_get(about, "strides");
  int64_t expected[HONE_MAX_RANK];
  shape_strides(&x->shape, expected);
  for (int d = 0; d < x->shape.rank; d++) {
    json_t *stride = NULL;
    if (strcmp(pt_variant(json_array_get(strides, (size_t)d), &stride), "as_int") ||
        (x->shape.dims[d] > 1 && json_integer_value(stride) != expected[d]))
      return false;
  }
  return op->pt->depth == 0 && about;
}

/* as_strided of a contiguous tensor that is not a view: elements by their index in it. */
hone_status build_strided(struct pt_op *op) {
  enum { MOST = 1 << 24 };
  static const int64_t flat[] = {-1};
  struct value *x;
  struct pt_item *item;
  int64_t dims[HONE_MAX_RANK], strides[HONE_MAX_RANK], offset, *list;
  size_t rank, count = 0;
  TRY(pt_need(op, "self", &x));
  TRY(pt_ints(op, "size", HONE_MAX_RANK, dims, &rank));
  TRY(pt_ints(op, "stride", HONE_MAX_RANK, strides, &count));
  TRY(pt_int(op, "storage_offset", 0, &offset));
  TRY(pt_find(op->pt, pt_place(op), pt_self(op->node), &item));
  if (count != rank || item->base || !is_stored_densely(op, pt_self(op->node), x))
    return pt_refuse(op, "of a view, or of a tensor that is not contiguous");
  int64_t all = 1;
  for (size_t d = 0; d < rank; d++)
    if (dims[d] < 0 || !checked_mul(all, dims[d], &all) || all > MOST)
      return pt_refuse(op, "of this size");
  const int64_t elements = make_elements(x);
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, list, (size_t)all + 1));
  for (int64_t i = 0; i < all; i++) {
    bool fits = true;
    int64_t rest = i, at = offset, step;
    for (size_t d = rank; d-- > 0; rest /= dims[d])
      fits &= checked_mul(rest % dims[d], strides[d], &step) && checked_add(at, step, &at);
    if (!fits || at < 0 || at >= elements) return pt_refuse(op, "with elements outside its tensor");
    list[i] = at;
  }
  struct value *index = pt_index_list(op, list, dims, rank);
  BUILD(op->b, x = x_reshape(op->b, x, flat, 1));
  return pt_result(op, 0, x_gather(op->b, x, index, 0));
}
