/* pt2_ops: ATen operators as ONNX nodes: the table at the end, one function a family. */
#include "pt2.h"

#include <math.h>

enum { MOST_TENSORS = 4096 };

hone_status pt_axis_of(struct pt_op *op, int64_t axis, int rank, int64_t *out) {
  int limit = rank ? rank : 1;
  if (axis < -limit || axis >= limit)
    return fail(op->ctx, HONE_E_SHAPE, pt_place(op), "%s: dimension %lld of rank %d", op->target,
                (long long)axis, rank);
  *out = axis < 0 ? axis + limit : axis;
  return HONE_OK;
}

hone_status pt_axis(struct pt_op *op, const char *name, int64_t otherwise, int rank, int64_t *out) {
  TRY(pt_int(op, name, otherwise, out));
  return pt_axis_of(op, *out, rank, out);
}

/* -- elementwise ---- */

static hone_status build_unary(struct pt_op *op) {
  struct value *x, *y;
  TRY(pt_need(op, "self", &x));
  TRY(make_node(op->make, (enum op_id)op->parameter, VALUES(x), NULL, &y));
  return pt_result(op, 0, y);
}

static hone_status build_copy(struct pt_op *op) {
  struct value *x;
  TRY(pt_tensor(op, "self", &x));
  if (!x) TRY(pt_need(op, "input", &x));
  return pt_result(op, 0, x);
}

static hone_status build_silu(struct pt_op *op) {
  struct value *x, *y;
  TRY(pt_need(op, "self", &x));
  TRY(make_node(op->make, OP_Sigmoid, VALUES(x), NULL, &y));
  TRY(make_node(op->make, OP_Mul, VALUES(x, y), NULL, &y));
  return pt_result(op, 0, y);
}

static hone_status build_rsqrt(struct pt_op *op) {
  struct value *x, *y;
  TRY(pt_need(op, "self", &x));
  TRY(make_node(op->make, OP_Sqrt, VALUES(x), NULL, &y));
  TRY(make_node(op->make, OP_Reciprocal, VALUES(y), NULL, &y));
  return pt_result(op, 0, y);
}

static hone_status build_gelu(struct pt_op *op) {
  struct value *x, *y;
  const char *approximate;
  TRY(pt_need(op, "self", &x));
  TRY(pt_text(op, "approximate", "none", &approximate));
  bool is_tanh = !strcmp(approximate, "tanh");
  TRY(make_node(op->make, OP_Gelu, VALUES(x),
                ARGS(STRING_ARG("approximate", is_tanh ? "tanh" : "none")), &y));
  return pt_result(op, 0, y);
}

static hone_status build_alpha(struct pt_op *op) { /* elu, leaky_relu */
  struct value *x, *y;
  double alpha;
  bool is_elu = op->parameter == OP_Elu;
  TRY(pt_need(op, "self", &x));
  TRY(pt_float(op, is_elu ? "alpha" : "negative_slope", is_elu ? 1 : 0.01, &alpha));
  if (pt_given(op, "scale") || pt_given(op, "input_scale")) return pt_refuse(op, "with a scale");
  TRY(make_node(op->make, (enum op_id)op->parameter, VALUES(x), ARGS(FLOAT_ARG("alpha", alpha)),
                &y));
  return pt_result(op, 0, y);
}

static hone_status build_clamp(struct pt_op *op) { /* clamp, hardtanh, relu6 */
  struct value *x, *low = NULL, *high = NULL, *y;
  double min = 0, max = 6;
  bool is_hard = op->parameter == 1, is_relu6 = op->parameter == 2;
  const char *names[] = {is_hard ? "min_val" : "min", is_hard ? "max_val" : "max"};
  TRY(pt_need(op, "self", &x));
  if (!is_relu6) TRY(pt_float(op, names[0], -1, &min));
  if (!is_relu6) TRY(pt_float(op, names[1], 1, &max));
  if (is_relu6 || is_hard || pt_given(op, names[0]))
    TRY(make_scalar(op->make, x->dtype, min, &low));
  if (is_relu6 || is_hard || pt_given(op, names[1]))
    TRY(make_scalar(op->make, x->dtype, max, &high));
  TRY(make_node(op->make, OP_Clip, VALUES(x, low, high), NULL, &y));
  return pt_result(op, 0, y);
}

/* PyTorch's promotion as far as exported graphs need it: the wider kind of the two. */
static hone_dtype promoted(hone_dtype a, hone_dtype b) {
  if (a == b) return a;
  if (dtype_is_float(a) != dtype_is_float(b)) return dtype_is_float(a) ? a : b;
  if (a == HONE_BOOL || b == HONE_BOOL) return a == HONE_BOOL ? b : a;
  if (dtype_is_float(a) && dtype_bits(a) == 16 && dtype_bits(b) == 16) return HONE_F32;
  return dtype_bits(a) >= dtype_bits(b) ? a : b;
}

/* A number beside a tensor does not widen it, but makes integers floats if it is one. */
static hone_status read_operand(struct pt_op *op, const char *name, const struct value *beside,
                                struct value **out) {
  double x;
  hone_dtype dtype = beside ? beside->dtype : HONE_F32;
  if (!pt_given(op, name))
    return fail(op->ctx, HONE_E_FORMAT, pt_place(op), "%s without argument %s", op->target, name);
  for (size_t i = 0; i < json_array_size(op->inputs); i++) {
    const json_t *input = json_array_get(op->inputs, i), *arg = json_object_get(input, "arg");
    const char *key = json_string_value(json_object_get(input, "name"));
    if (!key || strcmp(key, name)) continue;
    if (json_object_get(arg, "as_tensor")) return pt_tensor(op, name, out);
    if (json_object_get(arg, "as_float") && !dtype_is_float(dtype)) dtype = HONE_F32;
  }
  TRY(pt_float(op, name, 0, &x));
  return make_scalar(op->make, dtype == HONE_BOOL ? HONE_I64 : dtype, x, out);
}

static hone_status scale_by_alpha(struct pt_op *op, struct value **y) {
  double alpha;
  TRY(pt_float(op, "alpha", 1, &alpha));
  return alpha == 1 ? HONE_OK : make_with_scalar(op->make, OP_Mul, *y, alpha, y);
}

static hone_status build_binary(struct pt_op *op) {
  struct value *x, *y, *z;
  enum op_id id = (enum op_id)op->parameter;
  const char *rounding;
  TRY(read_operand(op, "self", NULL, &x));
  TRY(read_operand(op, pt_given(op, "exponent") ? "exponent" : "other", x, &y));
  TRY(pt_text(op, "rounding_mode", "", &rounding));
  hone_dtype dtype = promoted(x->dtype, y->dtype);
  if (id == OP_Div && !*rounding && !dtype_is_float(dtype)) dtype = HONE_F32;
  if (id == OP_And || id == OP_Or || id == OP_Xor) dtype = HONE_BOOL;
  TRY(make_cast(op->make, x, dtype, &x));
  TRY(make_cast(op->make, y, dtype, &y));
  if (id == OP_Add || id == OP_Sub) TRY(scale_by_alpha(op, &y));
  if (*rounding && strcmp(rounding, "floor")) return pt_refuse(op, "rounding_mode %s", rounding);
  if (*rounding && !dtype_is_float(dtype)) { /* (x - x mod y) / y rounds down */
    TRY(make_node(op->make, OP_Mod, VALUES(x, y), NULL, &z));
    TRY(make_node(op->make, OP_Sub, VALUES(x, z), NULL, &x));
  }
  TRY(make_node(op->make, id, VALUES(x, y), NULL, &z));
  if (*rounding && dtype_is_float(dtype)) TRY(make_node(op->make, OP_Floor, VALUES(z), NULL, &z));
  return pt_result(op, 0, z);
}

static hone_status build_rsub(struct pt_op *op) {
  struct value *x, *y, *z;
  TRY(pt_need(op, "self", &x));
  TRY(read_operand(op, "other", x, &y));
  TRY(scale_by_alpha(op, &x));
  TRY(make_node(op->make, OP_Sub, VALUES(y, x), NULL, &z));
  return pt_result(op, 0, z);
}

static hone_status build_not_equal(struct pt_op *op) {
  struct value *x, *y, *z;
  TRY(pt_need(op, "self", &x));
  TRY(read_operand(op, "other", x, &y));
  TRY(make_cast(op->make, y, x->dtype, &y));
  TRY(make_node(op->make, OP_Equal, VALUES(x, y), NULL, &z));
  TRY(make_node(op->make, OP_Not, VALUES(z), NULL, &z));
  return pt_result(op, 0, z);
}

static hone_status build_where(struct pt_op *op) {
  struct value *condition, *x, *y, *z;
  TRY(pt_need(op, "condition", &condition));
  TRY(pt_need(op, "self", &x));
  TRY(read_operand(op, "other", x, &y));
  hone_dtype dtype = promoted(x->dtype, y->dtype);
  TRY(make_cast(op->make, x, dtype, &x));
  TRY(make_cast(op->make, y, dtype, &y));
  TRY(make_node(op->make, OP_Where, VALUES(condition, x, y), NULL, &z));
  return pt_result(op, 0, z);
}

static hone_status build_masked_fill(struct pt_op *op) {
  struct value *x, *mask, *y, *z;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "mask", &mask));
  TRY(read_operand(op, "value", x, &y));
  TRY(make_cast(op->make, y, x->dtype, &y));
  TRY(make_node(op->make, OP_Where, VALUES(mask, y, x), NULL, &z));
  return pt_result(op, 0, z);
}

static hone_status build_cast(struct pt_op *op) {
  struct value *x, *y;
  int64_t dtype;
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "dtype", -1, &dtype));
  if (dtype >= 0 && !pt_dtype(dtype)) return pt_refuse(op, "dtype %lld", (long long)dtype);
  TRY(make_cast(op->make, x, dtype < 0 ? x->dtype : pt_dtype(dtype), &y));
  return pt_result(op, 0, y);
}

/* -- shapes ---- */

static hone_status build_view(struct pt_op *op) {
  struct value *x, *y;
  int64_t dims[HONE_MAX_RANK];
  size_t count;
  TRY(pt_need(op, "self", &x));
  TRY(pt_ints(op, pt_given(op, "shape") ? "shape" : "size", HONE_MAX_RANK, dims, &count));
  TRY(make_reshape(op->make, x, dims, count, &y));
  return pt_result(op, 0, y);
}

static hone_status build_flatten(struct pt_op *op) {
  struct value *x, *y;
  int64_t first, last, dims[HONE_MAX_RANK];
  size_t count = 0;
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "start_dim", 0, x->shape.rank, &first));
  TRY(pt_axis(op, "end_dim", -1, x->shape.rank, &last));
  for (int d = 0; d < x->shape.rank; d++) {
    if (d > first && d <= last)
      dims[count - 1] *= x->shape.dims[d];
    else
      dims[count++] = x->shape.dims[d];
  }
  if (!x->shape.rank) dims[count++] = 1;
  TRY(make_reshape(op->make, x, dims, count, &y));
  return pt_result(op, 0, y);
}

static hone_status build_unsqueeze(struct pt_op *op) {
  struct value *x, *y;
  int64_t axis, dims[HONE_MAX_RANK];
  TRY(pt_need(op, "self", &x));
  int rank = x->shape.rank + 1;
  if (rank > HONE_MAX_RANK) return pt_refuse(op, "to rank %d", rank);
  TRY(pt_axis(op, "dim", 0, rank, &axis));
  for (int d = 0; d < rank; d++) dims[d] = d == axis ? 1 : x->shape.dims[d < axis ? d : d - 1];
  TRY(make_reshape(op->make, x, dims, (size_t)rank, &y));
  return pt_result(op, 0, y);
}

static hone_status build_squeeze(struct pt_op *op) {
  struct value *x, *y;
  int64_t axes[HONE_MAX_RANK], dims[HONE_MAX_RANK];
  size_t count = 0, rank = 0;
  bool asked[HONE_MAX_RANK] = {false};
  TRY(pt_need(op, "self", &x));
  if (op->parameter == 1) {
    TRY(pt_int(op, "dim", 0, &axes[0]));
    count = 1;
  } else {
    TRY(pt_ints(op, "dim", HONE_MAX_RANK, axes, &count));
  }
  for (size_t i = 0; i < count; i++) {
    TRY(pt_axis_of(op, axes[i], x->shape.rank, &axes[i]));
    asked[axes[i]] = true;
  }
  for (int d = 0; d < x->shape.rank; d++)
    if (x->shape.dims[d] != 1 || (count && !asked[d])) dims[rank++] = x->shape.dims[d];
  TRY(make_reshape(op->make, x, dims, rank, &y));
  return pt_result(op, 0, y);
}

static hone_status build_permute(struct pt_op *op) {
  struct value *x, *y;
  int64_t perm[HONE_MAX_RANK], a, b;
  size_t count;
  TRY(pt_need(op, "self", &x));
  int rank = x->shape.rank;
  if (op->parameter == 1) { /* transpose */
    for (int d = 0; d < rank; d++) perm[d] = d;
    TRY(pt_axis(op, "dim0", 0, rank, &a));
    TRY(pt_axis(op, "dim1", 0, rank, &b));
    if (rank) perm[a] = b, perm[b] = a;
  } else if (op->parameter == 2) { /* t */
    for (int d = 0; d < rank; d++) perm[d] = rank - 1 - d;
  } else {
    TRY(pt_ints(op, "dims", HONE_MAX_RANK, perm, &count));
    if ((int)count != rank) return pt_refuse(op, "%zu dimensions of rank %d", count, rank);
    for (int d = 0; d < rank; d++) TRY(pt_axis_of(op, perm[d], rank, &perm[d]));
  }
  TRY(make_transpose(op->make, x, perm, &y));
  return pt_result(op, 0, y);
}

/* -1 keeps a size; new dimensions stand in front. */
static hone_status build_expand(struct pt_op *op) {
  struct value *x, *shape, *y;
  int64_t dims[HONE_MAX_RANK];
  size_t count;
  TRY(pt_need(op, "self", &x));
  TRY(pt_ints(op, "size", HONE_MAX_RANK, dims, &count));
  for (size_t d = 0; d < count; d++)
    if (dims[d] == -1) dims[d] = 1; /* broadcast to what is there */
  TRY(make_ints(op->make, dims, count, &shape));
  TRY(make_node(op->make, OP_Expand, VALUES(x, shape), NULL, &y));
  return pt_result(op, 0, y);
}

static hone_status build_sym_size(struct pt_op *op) {
  struct value *x;
  int64_t axis;
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  return pt_number(op, x->shape.rank ? x->shape.dims[axis] : 1);
}

/* Arithmetic on sizes: operands are called a and b. */
static hone_status build_number(struct pt_op *op) {
  int64_t a, b, y = 0;
  bool fits = true;
  TRY(pt_int(op, "a", 0, &a));
  TRY(pt_int(op, "b", 0, &b));
  switch (op->parameter) {
    case '+':
      fits = checked_add(a, b, &y);
      break;
    case '-':
      fits = checked_sub(a, b, &y);
      break;
    case '*':
      fits = checked_mul(a, b, &y);
      break;
    default:
      fits = b > 0;
      if (fits) y = a / b - (a % b < 0);
  }
  if (!fits) return pt_refuse(op, "of %lld and %lld", (long long)a, (long long)b);
  return pt_number(op, y);
}

/* -- slices and joins ---- */

static hone_status slice(struct pt_op *op, struct value *x, int64_t axis, int64_t start,
                         int64_t end, int64_t step, struct value **out) {
  struct value *starts, *ends, *axes, *steps;
  TRY(make_ints(op->make, &start, 1, &starts));
  TRY(make_ints(op->make, &end, 1, &ends));
  TRY(make_ints(op->make, &axis, 1, &axes));
  TRY(make_ints(op->make, &step, 1, &steps));
  return make_node(op->make, OP_Slice, VALUES(x, starts, ends, axes, steps), NULL, out);
}

static hone_status build_slice(struct pt_op *op) {
  struct value *x, *y;
  int64_t axis, start, end, step;
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  TRY(pt_int(op, "start", 0, &start));
  TRY(pt_int(op, "end", INT64_MAX, &end));
  TRY(pt_int(op, "step", 1, &step));
  TRY(slice(op, x, axis, start, end, step, &y));
  return pt_result(op, 0, y);
}

static hone_status build_select(struct pt_op *op) {
  struct value *x, *y;
  int64_t axis, index, dims[HONE_MAX_RANK];
  size_t rank = 0;
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  TRY(pt_int(op, "index", 0, &index));
  int64_t dim = x->shape.rank ? x->shape.dims[axis] : 0;
  if (index < -dim || index >= dim)
    return fail(op->ctx, HONE_E_SHAPE, pt_place(op), "select of %lld from %lld", (long long)index,
                (long long)dim);
  if (index < 0) index += dim;
  TRY(slice(op, x, axis, index, index + 1, 1, &y));
  for (int d = 0; d < x->shape.rank; d++)
    if (d != axis) dims[rank++] = x->shape.dims[d];
  TRY(make_reshape(op->make, y, dims, rank, &y));
  return pt_result(op, 0, y);
}

static hone_status build_cat(struct pt_op *op) { /* parameter 1: stack */
  struct value **parts, *y;
  size_t count;
  int64_t axis;
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, parts, MOST_TENSORS));
  TRY(pt_tensors(op, "tensors", MOST_TENSORS, parts, &count));
  if (!count) return pt_refuse(op, "of no tensors");
  int rank = parts[0]->shape.rank + op->parameter;
  if (rank > HONE_MAX_RANK) return pt_refuse(op, "to rank %d", rank);
  TRY(pt_axis(op, "dim", 0, rank, &axis));
  for (size_t i = 0; i < count && op->parameter; i++) {
    int64_t dims[HONE_MAX_RANK];
    if (parts[i]->shape.rank != rank - 1) return pt_refuse(op, "of tensors of unequal rank");
    for (int d = 0; d < rank; d++)
      dims[d] = d == axis ? 1 : parts[i]->shape.dims[d < axis ? d : d - 1];
    TRY(make_reshape(op->make, parts[i], dims, (size_t)rank, &parts[i]));
  }
  TRY(make_node(op->make, OP_Concat, parts, count, ARGS(INT_ARG("axis", axis)), &y));
  return pt_result(op, 0, y);
}

static hone_status build_split(struct pt_op *op) { /* parameter 1: with sizes; 2: chunk */
  struct value *x, *lengths, **parts;
  int64_t axis, size, *sizes;
  size_t count = pt_result_count(op), found = 0;
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  int64_t dim = x->shape.rank ? x->shape.dims[axis] : 0;
  if (!count || count > MOST_TENSORS) return pt_refuse(op, "into %zu", count);
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, sizes, count));
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, parts, count));
  if (op->parameter == 1) {
    TRY(pt_ints(op, "split_sizes", count, sizes, &found));
    if (found != count) return pt_refuse(op, "%zu sizes for %zu results", found, count);
  } else {
    size = (dim + (int64_t)count - 1) / (int64_t)count;
    if (op->parameter == 0) TRY(pt_int(op, "split_size", size, &size));
    for (size_t i = 0; i < count; i++, dim -= size) sizes[i] = dim < size ? dim : size;
  }
  TRY(make_ints(op->make, sizes, count, &lengths));
  TRY(make_nodes(op->make, OP_Split, VALUES(x, lengths), ARGS(INT_ARG("axis", axis)), count,
                 parts));
  for (size_t i = 0; i < count; i++) TRY(pt_result(op, i, parts[i]));
  return HONE_OK;
}

/* Pairs of widths from the last dimension on. */
static hone_status build_pad(struct pt_op *op) {
  struct value *x, *widths, *fill, *y;
  int64_t pairs[2 * HONE_MAX_RANK], pads[2 * HONE_MAX_RANK] = {0};
  size_t count;
  double value;
  const char *mode;
  TRY(pt_need(op, "self", &x));
  TRY(pt_ints(op, "pad", 2 * HONE_MAX_RANK, pairs, &count));
  TRY(pt_float(op, "value", 0, &value));
  TRY(pt_text(op, "mode", "constant", &mode));
  const char *how = !strcmp(mode, "constant")    ? "constant"
                    : !strcmp(mode, "reflect")   ? "reflect"
                    : !strcmp(mode, "replicate") ? "edge"
                    : !strcmp(mode, "circular")  ? "wrap"
                                                 : NULL;
  size_t rank = (size_t)x->shape.rank;
  if (!how || count % 2 || count > 2 * rank) return pt_refuse(op, "mode %s", mode);
  for (size_t i = 0; i < count / 2; i++) {
    pads[rank - 1 - i] = pairs[2 * i];
    pads[2 * rank - 1 - i] = pairs[2 * i + 1];
  }
  TRY(make_ints(op->make, pads, 2 * rank, &widths));
  TRY(make_scalar(op->make, x->dtype, value, &fill));
  TRY(make_node(op->make, OP_Pad, VALUES(x, widths, fill), ARGS(STRING_ARG("mode", how)), &y));
  return pt_result(op, 0, y);
}

static hone_status build_repeat(struct pt_op *op) {
  struct value *x, *counts, *y;
  int64_t repeats[HONE_MAX_RANK], dims[HONE_MAX_RANK];
  size_t count;
  TRY(pt_need(op, "self", &x));
  TRY(pt_ints(op, "repeats", HONE_MAX_RANK, repeats, &count));
  if ((int)count < x->shape.rank) return pt_refuse(op, "fewer counts than dimensions");
  size_t fresh = count - (size_t)x->shape.rank;
  for (size_t d = 0; d < count; d++) dims[d] = d < fresh ? 1 : x->shape.dims[d - fresh];
  TRY(make_reshape(op->make, x, dims, count, &x));
  TRY(make_ints(op->make, repeats, count, &counts));
  TRY(make_node(op->make, OP_Tile, VALUES(x, counts), NULL, &y));
  return pt_result(op, 0, y);
}

/* Each slice along `dim` so many times in a row. */
static hone_status build_repeat_interleave(struct pt_op *op) {
  struct value *x, *shape, *y;
  int64_t repeats, axis, dims[HONE_MAX_RANK];
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "repeats", 1, &repeats));
  if (!pt_given(op, "dim")) return pt_refuse(op, "without dim");
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  int rank = x->shape.rank;
  if (repeats < 0 || rank + 1 > HONE_MAX_RANK)
    return pt_refuse(op, "%lld times of rank %d", (long long)repeats, rank);
  for (int d = 0; d <= rank; d++)
    dims[d] = d == axis + 1 ? 1 : x->shape.dims[d <= axis ? d : d - 1];
  TRY(make_reshape(op->make, x, dims, (size_t)rank + 1, &y));
  dims[axis + 1] = repeats;
  TRY(make_ints(op->make, dims, (size_t)rank + 1, &shape));
  TRY(make_node(op->make, OP_Expand, VALUES(y, shape), NULL, &y));
  memcpy(dims, x->shape.dims, (size_t)rank * sizeof *dims);
  if (!checked_mul(dims[axis], repeats, &dims[axis])) return pt_refuse(op, "too often");
  TRY(make_reshape(op->make, y, dims, (size_t)rank, &y));
  return pt_result(op, 0, y);
}

/* -- what makes tensors ---- */

static hone_status build_full(struct pt_op *op) { /* parameter: 0 zeros, 1 ones, 2 full */
  struct value *fill, *shape, *like, *y;
  int64_t dims[HONE_MAX_RANK], dtype;
  size_t count;
  double x = op->parameter;
  TRY(pt_tensor(op, "self", &like));
  TRY(pt_ints(op, "size", HONE_MAX_RANK, dims, &count));
  TRY(pt_int(op, "dtype", -1, &dtype));
  if (op->parameter == 2) TRY(pt_float(op, "fill_value", 0, &x));
  if (dtype >= 0 && !pt_dtype(dtype)) return pt_refuse(op, "dtype %lld", (long long)dtype);
  hone_dtype type = dtype >= 0 ? pt_dtype(dtype) : like ? like->dtype : HONE_F32;
  if (like && !pt_given(op, "size")) {
    count = (size_t)like->shape.rank;
    memcpy(dims, like->shape.dims, count * sizeof *dims);
  }
  TRY(make_scalar(op->make, type, x, &fill));
  TRY(make_ints(op->make, dims, count, &shape));
  TRY(make_node(op->make, OP_Expand, VALUES(fill, shape), NULL, &y));
  return pt_result(op, 0, y);
}

static hone_status build_arange(struct pt_op *op) {
  struct value *start, *end, *step, *y;
  double from, to, by;
  int64_t dtype;
  TRY(pt_float(op, "start", 0, &from));
  TRY(pt_float(op, "end", 0, &to));
  TRY(pt_float(op, "step", 1, &by));
  TRY(pt_int(op, "dtype", -1, &dtype));
  bool whole = from == floor(from) && to == floor(to) && by == floor(by);
  hone_dtype type = dtype >= 0 ? pt_dtype(dtype) : whole ? HONE_I64 : HONE_F32;
  if (!type || by == 0) return pt_refuse(op, "dtype %lld, step %g", (long long)dtype, by);
  TRY(make_scalar(op->make, type, from, &start));
  TRY(make_scalar(op->make, type, to, &end));
  TRY(make_scalar(op->make, type, by, &step));
  TRY(make_node(op->make, OP_Range, VALUES(start, end, step), NULL, &y));
  return pt_result(op, 0, y);
}

static hone_status build_triangle(struct pt_op *op) { /* parameter: upper */
  struct value *x, *k, *y;
  int64_t diagonal;
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "diagonal", 0, &diagonal));
  TRY(make_scalar(op->make, HONE_I64, (double)diagonal, &k));
  TRY(make_node(op->make, OP_Trilu, VALUES(x, k), ARGS(INT_ARG("upper", op->parameter)), &y));
  return pt_result(op, 0, y);
}

/* -- indexing ---- */

static hone_status build_index_select(struct pt_op *op) {
  struct value *x, *index, *y;
  int64_t axis;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "index", &index));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  TRY(make_node(op->make, OP_Gather, VALUES(x, index), ARGS(INT_ARG("axis", axis)), &y));
  return pt_result(op, 0, y);
}

static hone_status build_embedding(struct pt_op *op) {
  struct value *table, *indices, *y;
  TRY(pt_need(op, "weight", &table));
  TRY(pt_need(op, "indices", &indices));
  TRY(make_node(op->make, OP_Gather, VALUES(table, indices), ARGS(INT_ARG("axis", 0)), &y));
  return pt_result(op, 0, y);
}

static hone_status build_gather(struct pt_op *op) {
  struct value *x, *index, *y;
  int64_t axis;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "index", &index));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  TRY(make_node(op->make, OP_GatherElements, VALUES(x, index), ARGS(INT_ARG("axis", axis)), &y));
  return pt_result(op, 0, y);
}

static hone_status build_scatter(struct pt_op *op) { /* parameter 1: add */
  struct value *x, *index, *updates, *y;
  int64_t axis;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "index", &index));
  TRY(pt_need(op, "src", &updates));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  if (updates->shape.rank != index->shape.rank) return pt_refuse(op, "of unequal ranks");
  /* only the part of src that the indices cover */
  for (int d = 0; d < index->shape.rank; d++)
    if (updates->shape.dims[d] > index->shape.dims[d])
      TRY(slice(op, updates, d, 0, index->shape.dims[d], 1, &updates));
  TRY(make_node(
      op->make, OP_ScatterElements, VALUES(x, index, updates),
      ARGS(INT_ARG("axis", axis), STRING_ARG("reduction", op->parameter ? "add" : "none")), &y));
  return pt_result(op, 0, y);
}

/* -- the table ---- */

static const struct {
  const char *target;
  pt_build_fn *build;
  int parameter;
} kinds[] = {
    {"_operator.add", build_number, '+'},
    {"_operator.floordiv", build_number, '/'},
    {"_operator.mul", build_number, '*'},
    {"_operator.sub", build_number, '-'},
    {"aten._adaptive_avg_pool2d.default", build_adaptive_pool, 0},
    {"aten._log_softmax.default", build_softmax, OP_LogSoftmax},
    {"aten._native_batch_norm_legit_no_training.default", build_batch_norm, 0},
    {"aten._softmax.default", build_softmax, OP_Softmax},
    {"aten._to_copy.default", build_cast, 0},
    {"aten._unsafe_view.default", build_view, 0},
    {"aten.abs.default", build_unary, OP_Abs},
    {"aten.adaptive_avg_pool1d.default", build_adaptive_pool, 0},
    {"aten.adaptive_avg_pool2d.default", build_adaptive_pool, 0},
    {"aten.add.Scalar", build_binary, OP_Add},
    {"aten.add.Tensor", build_binary, OP_Add},
    {"aten.addmm.default", build_addmm, 0},
    {"aten.alias.default", build_copy, 0},
    {"aten.amax.default", build_reduce, OP_ReduceMax},
    {"aten.amin.default", build_reduce, OP_ReduceMin},
    {"aten.arange.default", build_arange, 0},
    {"aten.arange.start", build_arange, 0},
    {"aten.arange.start_step", build_arange, 0},
    {"aten.argmax.default", build_arg, OP_ArgMax},
    {"aten.argmin.default", build_arg, OP_ArgMin},
    {"aten.avg_pool1d.default", build_pool, 0},
    {"aten.avg_pool2d.default", build_pool, 0},
    {"aten.batch_norm.default", build_batch_norm, 0},
    {"aten.bmm.default", build_matmul, 0},
    {"aten.cat.default", build_cat, 0},
    {"aten.ceil.default", build_unary, OP_Ceil},
    {"aten.chunk.default", build_split, 2},
    {"aten.clamp.default", build_clamp, 0},
    {"aten.clone.default", build_copy, 0},
    {"aten.constant_pad_nd.default", build_pad, 0},
    {"aten.contiguous.default", build_copy, 0},
    {"aten.conv1d.default", build_conv, 0},
    {"aten.conv1d.padding", build_conv, 0},
    {"aten.conv2d.default", build_conv, 0},
    {"aten.conv2d.padding", build_conv, 0},
    {"aten.conv3d.default", build_conv, 0},
    {"aten.conv_transpose2d.input", build_conv, 1},
    {"aten.convolution.default", build_conv, 0},
    {"aten.cos.default", build_unary, OP_Cos},
    {"aten.detach.default", build_copy, 0},
    {"aten.detach_.default", build_copy, 0},
    {"aten.div.Scalar", build_binary, OP_Div},
    {"aten.div.Tensor", build_binary, OP_Div},
    {"aten.div.Tensor_mode", build_binary, OP_Div},
    {"aten.dropout.default", build_copy, 0},
    {"aten.elu.default", build_alpha, OP_Elu},
    {"aten.embedding.default", build_embedding, 0},
    {"aten.eq.Scalar", build_binary, OP_Equal},
    {"aten.eq.Tensor", build_binary, OP_Equal},
    {"aten.erf.default", build_unary, OP_Erf},
    {"aten.exp.default", build_unary, OP_Exp},
    {"aten.expand.default", build_expand, 0},
    {"aten.flatten.using_ints", build_flatten, 0},
    {"aten.floor.default", build_unary, OP_Floor},
    {"aten.full.default", build_full, 2},
    {"aten.full_like.default", build_full, 2},
    {"aten.gather.default", build_gather, 0},
    {"aten.ge.Scalar", build_binary, OP_GreaterOrEqual},
    {"aten.ge.Tensor", build_binary, OP_GreaterOrEqual},
    {"aten.gelu.default", build_gelu, 0},
    {"aten.gt.Scalar", build_binary, OP_Greater},
    {"aten.gt.Tensor", build_binary, OP_Greater},
    {"aten.hardsigmoid.default", build_unary, OP_HardSigmoid},
    {"aten.hardswish.default", build_unary, OP_HardSwish},
    {"aten.hardtanh.default", build_clamp, 1},
    {"aten.index_select.default", build_index_select, 0},
    {"aten.layer_norm.default", build_layer_norm, 0},
    {"aten.le.Scalar", build_binary, OP_LessOrEqual},
    {"aten.le.Tensor", build_binary, OP_LessOrEqual},
    {"aten.leaky_relu.default", build_alpha, OP_LeakyRelu},
    {"aten.linear.default", build_linear, 0},
    {"aten.log.default", build_unary, OP_Log},
    {"aten.log_softmax.int", build_softmax, OP_LogSoftmax},
    {"aten.logical_and.default", build_binary, OP_And},
    {"aten.logical_not.default", build_unary, OP_Not},
    {"aten.logical_or.default", build_binary, OP_Or},
    {"aten.lt.Scalar", build_binary, OP_Less},
    {"aten.lt.Tensor", build_binary, OP_Less},
    {"aten.masked_fill.Scalar", build_masked_fill, 0},
    {"aten.matmul.default", build_matmul, 0},
    {"aten.max_pool1d.default", build_pool, 1},
    {"aten.max_pool2d.default", build_pool, 1},
    {"aten.maximum.default", build_binary, OP_Max},
    {"aten.mean.default", build_reduce, OP_ReduceMean},
    {"aten.mean.dim", build_reduce, OP_ReduceMean},
    {"aten.minimum.default", build_binary, OP_Min},
    {"aten.mish.default", build_unary, OP_Mish},
    {"aten.mm.default", build_matmul, 0},
    {"aten.mul.Scalar", build_binary, OP_Mul},
    {"aten.mul.Tensor", build_binary, OP_Mul},
    {"aten.ne.Scalar", build_not_equal, 0},
    {"aten.ne.Tensor", build_not_equal, 0},
    {"aten.neg.default", build_unary, OP_Neg},
    {"aten.ones.default", build_full, 1},
    {"aten.ones_like.default", build_full, 1},
    {"aten.pad.default", build_pad, 0},
    {"aten.permute.default", build_permute, 0},
    {"aten.pow.Tensor_Scalar", build_binary, OP_Pow},
    {"aten.pow.Tensor_Tensor", build_binary, OP_Pow},
    {"aten.reciprocal.default", build_unary, OP_Reciprocal},
    {"aten.relu.default", build_unary, OP_Relu},
    {"aten.relu6.default", build_clamp, 2},
    {"aten.relu_.default", build_unary, OP_Relu},
    {"aten.repeat.default", build_repeat, 0},
    {"aten.repeat_interleave.self_int", build_repeat_interleave, 0},
    {"aten.reshape.default", build_view, 0},
    {"aten.round.default", build_unary, OP_Round},
    {"aten.rsqrt.default", build_rsqrt, 0},
    {"aten.rsub.Scalar", build_rsub, 0},
    {"aten.scaled_dot_product_attention.default", build_attention, 0},
    {"aten.scatter.src", build_scatter, 0},
    {"aten.scatter_add.default", build_scatter, 1},
    {"aten.select.int", build_select, 0},
    {"aten.sigmoid.default", build_unary, OP_Sigmoid},
    {"aten.sign.default", build_unary, OP_Sign},
    {"aten.silu.default", build_silu, 0},
    {"aten.silu_.default", build_silu, 0},
    {"aten.sin.default", build_unary, OP_Sin},
    {"aten.slice.Tensor", build_slice, 0},
    {"aten.softmax.int", build_softmax, OP_Softmax},
    {"aten.softplus.default", build_unary, OP_Softplus},
    {"aten.split.Tensor", build_split, 0},
    {"aten.split_with_sizes.default", build_split, 1},
    {"aten.sqrt.default", build_unary, OP_Sqrt},
    {"aten.squeeze.default", build_squeeze, 0},
    {"aten.squeeze.dim", build_squeeze, 1},
    {"aten.squeeze.dims", build_squeeze, 0},
    {"aten.stack.default", build_cat, 1},
    {"aten.sub.Scalar", build_binary, OP_Sub},
    {"aten.sub.Tensor", build_binary, OP_Sub},
    {"aten.sum.default", build_reduce, OP_ReduceSum},
    {"aten.sum.dim_IntList", build_reduce, OP_ReduceSum},
    {"aten.sym_size.int", build_sym_size, 0},
    {"aten.t.default", build_permute, 2},
    {"aten.tan.default", build_unary, OP_Tan},
    {"aten.tanh.default", build_unary, OP_Tanh},
    {"aten.to.dtype", build_cast, 0},
    {"aten.transpose.int", build_permute, 1},
    {"aten.tril.default", build_triangle, 0},
    {"aten.triu.default", build_triangle, 1},
    {"aten.unsqueeze.default", build_unsqueeze, 0},
    {"aten.view.default", build_view, 0},
    {"aten.where.self", build_where, 0},
    {"aten.zeros.default", build_full, 0},
    {"aten.zeros_like.default", build_full, 0},
};

hone_status pt_build(struct pt_op *op) {
  size_t low = 0, high = COUNT(kinds);
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(op->target, kinds[middle].target);
    if (!order) {
      op->parameter = kinds[middle].parameter;
      return kinds[middle].build(op);
    }
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return fail(op->ctx, HONE_E_UNSUP, pt_place(op), "PyTorch operator \"%.100s\"", op->target);
}
