/* movement: ATen operators that move elements or create tensors. */
#include "pt2.h"

#include <math.h>

enum { MOST_TENSORS = 4096 };

/* -- shapes */

hone_status build_view(struct pt_op *op) {
  struct value *x;
  int64_t dims[HONE_MAX_RANK];
  size_t count;
  TRY(pt_need(op, "self", &x));
  op->keeps_sizes = true;
  TRY(pt_ints(op, pt_given(op, "shape") ? "shape" : "size", HONE_MAX_RANK, dims, &count));
  return pt_result(op, 0, x_reshape(op->b, x, dims, (int)count));
}

hone_status build_flatten(struct pt_op *op) {
  struct value *x;
  int64_t first, last, dims[HONE_MAX_RANK];
  size_t count = 0;
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "start_dim", 0, x->shape.rank, &first));
  TRY(pt_axis(op, "end_dim", -1, x->shape.rank, &last));
  for (int d = 0; d < x->shape.rank; d++) {
    if (x->extents[d] && first < last && d >= first && d <= last)
      return pt_refuse(op, "of a dynamic dimension");
    if (d > first && d <= last)
      dims[count - 1] *= x->shape.dims[d];
    else
      dims[count++] = make_kept_size(x, d);
  }
  if (!x->shape.rank) dims[count++] = 1;
  return pt_result(op, 0, x_reshape(op->b, x, dims, (int)count));
}

hone_status build_unsqueeze(struct pt_op *op) {
  struct value *x;
  int64_t axis, dims[HONE_MAX_RANK];
  TRY(pt_need(op, "self", &x));
  int rank = x->shape.rank + 1;
  if (rank > HONE_MAX_RANK) return pt_refuse(op, "to rank %d", rank);
  TRY(pt_axis(op, "dim", 0, rank, &axis));
  for (int d = 0; d < rank; d++) dims[d] = d == axis ? 1 : make_kept_size(x, d < axis ? d : d - 1);
  return pt_result(op, 0, x_reshape(op->b, x, dims, rank));
}

hone_status build_squeeze(struct pt_op *op) {
  struct value *x;
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
  const bool is_all = !pt_given(op, "dim"); /* without a dimension argument: all */
  for (int d = 0; d < x->shape.rank; d++)
    if (x->shape.dims[d] == 1 && x->extents[d])
      return pt_refuse(op, "of a dynamic dimension");
    else if (x->shape.dims[d] != 1 || (!is_all && !asked[d]))
      dims[rank++] = make_kept_size(x, d);
  return pt_result(op, 0, x_reshape(op->b, x, dims, (int)rank));
}

hone_status build_permute(struct pt_op *op) {
  struct value *x;
  int64_t perm[HONE_MAX_RANK];
  TRY(pt_need(op, "self", &x));
  TRY(pt_perm(op, x, perm));
  return pt_result(op, 0, x_transpose(op->b, x, perm));
}

/* -1 keeps a size; new dimensions are first. */
hone_status build_expand(struct pt_op *op) {
  struct value *x;
  int64_t dims[HONE_MAX_RANK];
  size_t count;
  TRY(pt_need(op, "self", &x));
  TRY(pt_ints(op, "size", HONE_MAX_RANK, dims, &count));
  /* broadcasts with the existing size */
  for (size_t d = 0; d < count; d++)
    if (dims[d] == -1) dims[d] = 1;
  return pt_result(op, 0, x_2(op->b, OP_Expand, x, x_list(op->b, dims, count)));
}

hone_status build_sym_size(struct pt_op *op) {
  struct value *x;
  int64_t axis;
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  if (!x->shape.rank) return pt_number(op, 1, 0);
  return pt_number(op, (double)x->shape.dims[axis], x->extents[axis]);
}

/* The number of elements. */
hone_status build_sym_numel(struct pt_op *op) {
  struct value *x;
  TRY(pt_need(op, "self", &x));
  op->reads_open_number = value_is_open(x);
  return pt_number(op, (double)make_elements(x), 0);
}

/* A check without a result. */
hone_status build_nothing(struct pt_op *op) {
  (void)op;
  return HONE_OK;
}

/* Arithmetic on sizes, by a sign or letter; NaN for undefined results. */
static double computed(int how, double a, double b) {
  switch (how) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return b == 0 ? (double)NAN : a / b;
    case 'd': /* rounded down */
      return b == 0 ? (double)NAN : floor(a / b);
    case '%':
      return b == 0 ? (double)NAN : a - floor(a / b) * b;
    case '^':
      return pow(a, b);
    case 'L':
      return a * exp2(b);
    case 'R':
      return floor(a / exp2(b));
    case 'M':
      return fmax(a, b);
    case 'm':
      return fmin(a, b);
    case 'n':
      return -a;
    case 't':
      return trunc(a);
    case 'r':
      return sqrt(a);
    default: /* 'i': conversion of the type only */
      return a;
  }
}

/* operands are called a and b, or x */
hone_status build_number(struct pt_op *op) {
  double a, b;
  TRY(pt_float(op, pt_given(op, "x") ? "x" : "a", 0, &a));
  TRY(pt_float(op, "b", 0, &b));
  const double y = computed(op->parameter, a, b);
  if (!(fabs(y) < 9e15)) return pt_refuse(op, "of %g and %g", a, b); /* exact up to there */
  return pt_number(op, y, 0);
}

static bool holds(int how, double a, double b) {
  switch (how) {
    case '<':
      return a < b;
    case '>':
      return a > b;
    case '!':
      return a != b;
    case 'l':
      return a <= b;
    case 'g':
      return a >= b;
    case '&':
      return a != 0 && b != 0;
    case '|':
      return a != 0 || b != 0;
    default: /* '=' or, of one operand, not */
      return a == b;
  }
}

hone_status build_number_test(struct pt_op *op) {
  double a, b;
  TRY(pt_float(op, "a", 0, &a));
  TRY(pt_float(op, "b", 0, &b));
  return pt_number(op, holds(op->parameter, a, b), 0);
}

hone_status build_number_choice(struct pt_op *op) {
  double is_first, y;
  TRY(pt_float(op, "b", 0, &is_first));
  TRY(pt_float(op, is_first != 0 ? "t" : "f", 0, &y));
  return pt_number(op, y, 0);
}

/* -- slices and concatenations */

hone_status build_slice(struct pt_op *op) {
  struct value *x;
  int64_t axis, start, end, step;
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  TRY(pt_int(op, "start", 0, &start));
  TRY(pt_int(op, "end", INT64_MAX, &end));
  TRY(pt_int(op, "step", 1, &step));
  if (step < 1) return pt_refuse(op, "with a step below 1");
  return pt_result(op, 0, pt_slice(op, x, axis, start, end, step));
}

hone_status build_select(struct pt_op *op) {
  struct value *x, *y;
  int64_t axis, index, dims[HONE_MAX_RANK];
  size_t rank = 0;
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  TRY(pt_int(op, "index", 0, &index));
  int64_t dim = x->shape.rank ? x->shape.dims[axis] : 0;
  if (index < -dim || index >= dim)
    return fail(op->ctx, HONE_E_SHAPE, pt_place(op), "select of element %lld from %lld",
                (long long)index, (long long)dim);
  if (x->extents[axis]) return pt_refuse(op, "from a dynamic dimension");
  if (index < 0) index += dim;
  BUILD(op->b, y = pt_slice(op, x, axis, index, index + 1, 1));
  for (int d = 0; d < x->shape.rank; d++)
    if (d != axis) dims[rank++] = make_kept_size(y, d);
  BUILD(op->b, y = x_reshape(op->b, y, dims, (int)rank));
  return pt_result(op, 0, y);
}

/* torch.cat ignores tensors of shape [0] if the others have more dimensions: empty caches have this
 * form. */
static size_t leave_out_empty(struct value **parts, size_t count) {
  size_t kept = 0;
  int rank = 0;
  for (size_t i = 0; i < count; i++)
    if (parts[i]->shape.rank > rank) rank = parts[i]->shape.rank;
  for (size_t i = 0; i < count; i++)
    if (rank < 2 || parts[i]->shape.rank != 1 || parts[i]->shape.dims[0]) parts[kept++] = parts[i];
  return kept;
}

hone_status build_cat(struct pt_op *op) { /* parameter 1: stack */
  struct value **parts;
  size_t count;
  int64_t axis;
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, parts, MOST_TENSORS));
  TRY(pt_tensors(op, "tensors", MOST_TENSORS, parts, &count));
  TRY(pt_promote(op, parts, count));
  if (!op->parameter) count = leave_out_empty(parts, count);
  if (!count) return pt_refuse(op, "of no tensors");
  int rank = parts[0]->shape.rank + op->parameter;
  if (rank > HONE_MAX_RANK) return pt_refuse(op, "to rank %d", rank);
  TRY(pt_axis(op, "dim", 0, rank, &axis));
  for (size_t i = 0; i < count && op->parameter; i++) {
    int64_t dims[HONE_MAX_RANK];
    if (parts[i]->shape.rank != rank - 1) return pt_refuse(op, "of tensors of different rank");
    for (int d = 0; d < rank; d++)
      dims[d] = d == axis ? 1 : parts[i]->shape.dims[d < axis ? d : d - 1];
    BUILD(op->b, parts[i] = x_reshape(op->b, parts[i], dims, rank));
  }
  return pt_result(op, 0, x_concat(op->b, axis, parts, count));
}

enum split { BY_SIZE, BY_SIZES, IN_CHUNKS, IN_SECTIONS, AT_INDICES };

/* Converts the ends of all parts except the last to sizes: ascending Python slices. */
static hone_status sizes_between(struct pt_op *op, int64_t dim, size_t count, int64_t *sizes) {
  int64_t at = 0;
  for (size_t i = 0; i < count; i++) {
    int64_t end = i == count - 1 ? dim : sizes[i] < 0 ? sizes[i] + dim : sizes[i];
    if (end > dim) end = dim;
    if (end < at) return pt_refuse(op, "at indices that do not ascend");
    sizes[i] = end - at;
    at = end;
  }
  return HONE_OK;
}

/* The sizes of `count` parts of a dimension. */
static hone_status split_sizes(struct pt_op *op, int64_t dim, size_t count, int64_t *sizes) {
  const int64_t parts = (int64_t)count, rest = dim % parts;
  const bool is_at = op->parameter == AT_INDICES, is_even = op->parameter == IN_SECTIONS;
  const size_t given = count - is_at;
  int64_t size = dim / parts + (rest != 0), asked = parts;
  size_t found = 0;
  if (is_at || op->parameter == BY_SIZES) {
    TRY(pt_ints(op, is_at ? "indices" : "split_sizes", count, sizes, &found));
    if (found != given) return pt_refuse(op, "with %zu sizes for %zu results", found, count);
    return is_at ? sizes_between(op, dim, count, sizes) : HONE_OK;
  }
  if (is_even) TRY(pt_int(op, "sections", parts, &asked));
  if (asked != parts) return pt_refuse(op, "into %zu parts", count);
  for (size_t i = 0; is_even && i < count; i++) sizes[i] = dim / parts + ((int64_t)i < rest);
  if (is_even) return HONE_OK;
  if (op->parameter == BY_SIZE) TRY(pt_int(op, "split_size", size, &size));
  if (size < 0 || (size > dim && count > 1)) return pt_refuse(op, "into %zu parts", count);
  for (size_t i = 0; i < count; dim -= sizes[i++]) {
    if (size && !dim && i) return pt_refuse(op, "into %zu parts", count); /* no element is left */
    sizes[i] = dim < size ? dim : size;
  }
  return HONE_OK;
}

hone_status build_split(struct pt_op *op) {
  struct value *x, *lengths, **parts;
  int64_t axis, *sizes;
  size_t count = pt_result_count(op);
  TRY(pt_need(op, "self", &x));
  /* hsplit, dsplit: along columns, along depth */
  const char *name = op->target + strlen("aten.");
  TRY(pt_axis(op, "dim",
              *name == 'h'   ? x->shape.rank > 1
              : *name == 'd' ? 2
                             : 0,
              x->shape.rank, &axis));
  if (!count || count > MOST_TENSORS) return pt_refuse(op, "into %zu parts", count);
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, sizes, count));
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, parts, count));
  TRY(split_sizes(op, x->shape.rank ? x->shape.dims[axis] : 0, count, sizes));
  lengths = x_list(op->b, sizes, count);
  BUILD(op->b,
        x_nodes(op->b, OP_Split, VALUES(x, lengths), ARGS(INT_ARG("axis", axis)), count, parts));
  for (size_t i = 0; i < count; i++) TRY(pt_result(op, i, parts[i]));
  return HONE_OK;
}

/* Pairs of widths, starting at the last dimension. */
hone_status build_pad(struct pt_op *op) {
  struct value *x;
  int64_t pairs[2 * HONE_MAX_RANK], pads[2 * HONE_MAX_RANK] = {0};
  size_t count;
  double value;
  const char *mode;
  TRY(pt_need(op, "self", &x));
  static const char *const modes[] = {"constant", "reflect", "replicate"};
  TRY(pt_ints(op, op->parameter ? "padding" : "pad", 2 * HONE_MAX_RANK, pairs, &count));
  TRY(pt_float(op, "value", 0, &value));
  if (op->part == 2) value = 0; /* the imaginary part of a real number is 0 */
  TRY(pt_text(op, "mode", modes[op->parameter], &mode));
  const char *how = !strcmp(mode, "constant")    ? "constant"
                    : !strcmp(mode, "reflect")   ? "reflect"
                    : !strcmp(mode, "replicate") ? "edge"
                    : !strcmp(mode, "circular")  ? "wrap"
                                                 : NULL;
  size_t rank = (size_t)x->shape.rank;
  if (!how || count % 2 || count > 2 * rank) return pt_refuse(op, "with mode %s", mode);
  for (size_t i = 0; i < count / 2; i++) {
    pads[rank - 1 - i] = pairs[2 * i];
    pads[2 * rank - 1 - i] = pairs[2 * i + 1];
  }
  struct value *widths = x_list(op->b, pads, 2 * rank);
  return pt_result(op, 0,
                   x_args(op->b, OP_Pad, VALUES(x, widths, x_scalar(op->b, x->dtype, value)),
                          ARGS(STRING_ARG("mode", how))));
}

hone_status build_repeat(struct pt_op *op) {
  struct value *x;
  int64_t repeats[HONE_MAX_RANK], dims[HONE_MAX_RANK];
  size_t count;
  TRY(pt_need(op, "self", &x));
  TRY(pt_ints(op, op->parameter ? "dims" : "repeats", HONE_MAX_RANK, repeats, &count));
  if (op->parameter && (int)count < x->shape.rank) { /* tile: adds leading ones */
    size_t missing = (size_t)x->shape.rank - count;
    memmove(repeats + missing, repeats, count * sizeof *repeats);
    for (size_t d = 0; d < missing; d++) repeats[d] = 1;
    count += missing;
  }
  if ((int)count < x->shape.rank) return pt_refuse(op, "with fewer repeats than dimensions");
  size_t fresh = count - (size_t)x->shape.rank;
  for (size_t d = 0; d < count; d++) dims[d] = d < fresh ? 1 : x->shape.dims[d - fresh];
  BUILD(op->b, x = x_reshape(op->b, x, dims, (int)count));
  return pt_result(op, 0, x_2(op->b, OP_Tile, x, x_list(op->b, repeats, count)));
}

/* Repeats each slice along `dim` by a constant list of counts; without self: returns its
 * indices. */
hone_status build_repeat_by_list(struct pt_op *op) {
  enum { MOST = 1 << 24 };
  struct value *x, *repeats;
  int64_t axis = 0, total = 0, *list;
  TRY(pt_need(op, "repeats", &repeats));
  TRY(pt_tensor(op, "self", &x));
  const struct tensor *counts = repeats->constant;
  const int rank = x ? x->shape.rank : 1;
  if (!counts || repeats->shape.rank != 1)
    return pt_refuse(op, "with repeats computed at run time");
  if (x && (!pt_given(op, "dim") || !rank)) return pt_refuse(op, "without dim");
  TRY(pt_axis(op, "dim", 0, rank, &axis));
  const size_t count = x ? (size_t)x->shape.dims[axis] : tensor_count(counts);
  const size_t given = tensor_count(counts);
  if (count > MOST || (given != 1 && given != count))
    return pt_refuse(op, "with %zu repeats for %zu slices", given, count);
  for (size_t i = 0; i < count; i++) {
    const int64_t n = tensor_i64(counts, given == 1 ? 0 : i);
    if (n < 0 || n > MOST || (total += n) > MOST) return pt_refuse(op, "with too many repeats");
  }
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, list, (size_t)total + 1));
  total = 0;
  for (size_t i = 0; i < count; i++)
    for (int64_t n = tensor_i64(counts, given == 1 ? 0 : i); n > 0; n--) list[total++] = (int64_t)i;
  struct value *index = x_list(op->b, list, (size_t)total);
  if (!x) return pt_result(op, 0, index);
  return pt_result(op, 0, x_gather(op->b, x, index, axis));
}

/* Repeats each slice along `dim`. */
hone_status build_repeat_interleave(struct pt_op *op) {
  struct value *x;
  int64_t repeats, axis, dims[HONE_MAX_RANK];
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "repeats", 1, &repeats));
  if (!pt_given(op, "dim")) BUILD(op->b, x = x_reshape(op->b, x, (const int64_t[]){-1}, 1));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  int rank = x->shape.rank;
  if (repeats < 0 || rank + 1 > HONE_MAX_RANK)
    return pt_refuse(op, "with %lld repeats at rank %d", (long long)repeats, rank);
  for (int d = 0; d <= rank; d++)
    dims[d] = d == axis + 1 ? 1 : x->shape.dims[d <= axis ? d : d - 1];
  struct value *y = x_reshape(op->b, x, dims, rank + 1);
  dims[axis + 1] = repeats;
  y = x_2(op->b, OP_Expand, y, x_list(op->b, dims, (size_t)rank + 1));
  memcpy(dims, x->shape.dims, (size_t)rank * sizeof *dims);
  dims[axis] *= repeats; /* Expand has checked the size */
  y = x_reshape(op->b, y, dims, rank);
  return pt_result(op, 0, y);
}

/* -- creation */

/* parameter: 0 zeros, also where PyTorch leaves elements undefined; 1 ones; 2 full */
hone_status build_full(struct pt_op *op) {
  struct value *like, *y;
  int64_t dims[HONE_MAX_RANK], dtype;
  size_t count;
  double x = op->parameter;
  bool truth = false, whole = false;
  TRY(pt_tensor(op, "self", &like));
  TRY(pt_ints(op, "size", HONE_MAX_RANK, dims, &count));
  TRY(pt_int(op, "dtype", -1, &dtype));
  if (op->parameter == 2) {
    const char *name = pt_given(op, "fill_value") ? "fill_value"
                       : pt_given(op, "s")        ? "s"
                                                  : "value";
    struct value *number;
    TRY(pt_operand(op, name, like, &number));
    if (!number->constant || tensor_count(number->constant) != 1)
      return pt_refuse(op, "with a number computed at run time");
    x = tensor_f64(number->constant, 0);
    truth = number->dtype == HONE_BOOL;
    whole = pt_is_whole(op, name);
  }
  if (op->part && dtype >= 0 && dtype != PT_COMPLEX64) return pt_refuse(op, "of complex numbers");
  if (op->part == 2) x = 0; /* the imaginary part of a real number is 0 */
  const bool is_complex = dtype == PT_COMPLEX64 && x == 0;
  if (is_complex) dtype = PT_FLOAT32;
  if (dtype >= 0 && !pt_dtype(dtype)) return pt_refuse(op, "with dtype %lld", (long long)dtype);
  hone_dtype type = dtype >= 0 ? pt_dtype(dtype)
                    : like     ? like->dtype
                    : truth    ? HONE_BOOL
                    : whole    ? HONE_I64
                               : HONE_F32;
  if (like && !pt_given(op, "size")) {
    count = (size_t)like->shape.rank;
    memcpy(dims, like->shape.dims, count * sizeof *dims);
  }
  const bool has_parts = is_complex && !op->part;
  if (has_parts && count == HONE_MAX_RANK) return pt_refuse(op, "of rank %zu", count);
  if (has_parts) dims[count++] = 2;
  BUILD(op->b, y = x_2(op->b, OP_Expand, x_scalar(op->b, type, x), x_list(op->b, dims, count)));
  return has_parts ? pt_complex_result(op, 0, y) : pt_result(op, 0, y);
}

hone_status build_arange(struct pt_op *op) {
  struct value *start, *end, *step;
  double from, to, by;
  int64_t dtype;
  TRY(pt_float(op, "start", 0, &from));
  TRY(pt_float(op, "end", 0, &to));
  TRY(pt_float(op, "step", 1, &by));
  TRY(pt_int(op, "dtype", -1, &dtype));
  static const char *const names[] = {"start", "end", "step"};
  bool whole = true; /* true if none of them is a float */
  for (size_t i = 0; i < COUNT(names); i++)
    whole &= !pt_given(op, names[i]) || pt_is_whole(op, names[i]);
  hone_dtype type = dtype >= 0 ? pt_dtype(dtype) : whole ? HONE_I64 : HONE_F32;
  if (!type || by == 0) return pt_refuse(op, "with dtype %lld and step %g", (long long)dtype, by);
  BUILD(op->b, start = x_scalar(op->b, type, from));
  BUILD(op->b, end = x_scalar(op->b, type, to));
  BUILD(op->b, step = x_scalar(op->b, type, by));
  return pt_result(op, 0, x_3(op->b, OP_Range, start, end, step));
}

hone_status build_triangle(struct pt_op *op) { /* parameter: upper */
  struct value *x;
  int64_t diagonal;
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "diagonal", 0, &diagonal));
  return pt_result(op, 0,
                   x_args(op->b, OP_Trilu, VALUES(x, x_scalar(op->b, HONE_I64, (double)diagonal)),
                          ARGS(INT_ARG("upper", op->parameter))));
}

/* Ones on the diagonal: n rows, m columns. */
hone_status build_eye(struct pt_op *op) {
  int64_t dims[2], dtype, count;
  double *numbers;
  TRY(pt_int(op, "n", 0, &dims[0]));
  TRY(pt_int(op, "m", dims[0], &dims[1]));
  TRY(pt_int(op, "dtype", -1, &dtype));
  hone_dtype type = dtype >= 0 ? pt_dtype(dtype) : HONE_F32;
  if (!type || dims[0] < 0 || dims[1] < 0 || !checked_mul(dims[0], dims[1], &count))
    return pt_refuse(op, "of this size or type");
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, numbers, (size_t)count));
  for (int64_t i = 0; i < dims[0] && i < dims[1]; i++) numbers[i * dims[1] + i] = 1;
  struct shape shape = {.rank = 2, .dims = {dims[0], dims[1]}};
  return pt_result(op, 0, x_numbers(op->b, type, &shape, numbers));
}

/* `steps` numbers from start to end. */
hone_status build_linspace(struct pt_op *op) {
  double start, end, *numbers;
  int64_t steps, dtype;
  TRY(pt_float(op, "start", 0, &start));
  TRY(pt_float(op, "end", 0, &end));
  TRY(pt_int(op, "steps", 1, &steps));
  TRY(pt_int(op, "dtype", -1, &dtype));
  hone_dtype type = dtype >= 0 ? pt_dtype(dtype) : HONE_F32;
  if (!dtype_is_float(type) || steps < 0) return pt_refuse(op, "of this size or type");
  struct shape shape = {.rank = 1, .dims = {steps}};
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, numbers, (size_t)steps));
  for (int64_t i = 0; i < steps; i++) /* computed from both ends, as in PyTorch */
    numbers[i] = steps == 1 ? start
                 : i < steps / 2
                     ? start + (end - start) / (double)(steps - 1) * (double)i
                     : end - (end - start) / (double)(steps - 1) * (double)(steps - 1 - i);
  return pt_result(op, 0, x_numbers(op->b, type, &shape, numbers));
}

/* -- more movement */

hone_status build_flip(struct pt_op *op) { /* parameter 1: flipud, 2: fliplr */
  struct value *x;
  int64_t axes[HONE_MAX_RANK] = {op->parameter - 1}, axis;
  size_t count = 1;
  TRY(pt_need(op, "self", &x));
  if (!op->parameter) TRY(pt_ints(op, "dims", HONE_MAX_RANK, axes, &count));
  for (size_t i = 0; i < count; i++) {
    TRY(pt_axis_of(op, axes[i], x->shape.rank, &axis));
    if (x->shape.rank) BUILD(op->b, x = pt_slice(op, x, axis, -1, INT64_MIN, -1));
  }
  return pt_result(op, 0, x);
}

static struct value *rolled(struct pt_op *op, struct value *x, int64_t axis, int64_t shift) {
  struct value *parts[2];
  const int64_t dim = x->shape.rank ? x->shape.dims[axis] : 0;
  struct value *out = x;
  shift = dim ? shift % dim : 0;
  if (!shift) return out;
  if (shift < 0) shift += dim;
  parts[0] = pt_slice(op, x, axis, dim - shift, INT64_MAX, 1);
  parts[1] = pt_slice(op, x, axis, 0, dim - shift, 1);
  return x_concat(op->b, axis, parts, 2);
}

/* fftshift: moves the middle of each dimension to its beginning; parameter 1: the inverse. */
hone_status build_shift(struct pt_op *op) {
  struct value *x;
  int64_t axes[HONE_MAX_RANK], axis;
  size_t count;
  TRY(pt_need(op, "self", &x));
  TRY(pt_ints(op, "dim", HONE_MAX_RANK, axes, &count));
  if (!count)
    for (; count < (size_t)x->shape.rank; count++) axes[count] = (int64_t)count;
  for (size_t i = 0; i < count; i++) {
    TRY(pt_axis_of(op, axes[i], x->shape.rank, &axis));
    const int64_t half = x->shape.rank ? x->shape.dims[axis] / 2 : 0;
    BUILD(op->b, x = rolled(op, x, axis, op->parameter ? -half : half));
  }
  return pt_result(op, 0, x);
}

/* Without dims the flattened tensor is rolled. */
hone_status build_roll(struct pt_op *op) {
  struct value *x;
  int64_t shifts[HONE_MAX_RANK], axes[HONE_MAX_RANK] = {0}, axis;
  size_t count, given;
  TRY(pt_need(op, "self", &x));
  TRY(pt_ints(op, "shifts", HONE_MAX_RANK, shifts, &count));
  TRY(pt_ints(op, "dims", HONE_MAX_RANK, axes, &given));
  if (given ? given != count : count != 1) return pt_refuse(op, "with %zu shifts", count);
  const int64_t total = make_elements(x);
  struct value *y = x;
  if (!given) BUILD(op->b, y = x_reshape(op->b, x, &total, 1));
  for (size_t i = 0; i < count; i++) {
    TRY(pt_axis_of(op, axes[i], y->shape.rank, &axis));
    BUILD(op->b, y = rolled(op, y, axis, shifts[i]));
  }
  if (!given) BUILD(op->b, y = x_reshape(op->b, y, x->shape.dims, x->shape.rank));
  return pt_result(op, 0, y);
}

/* Differences of neighbours, n times; for booleans whether they differ. */
hone_status build_diff(struct pt_op *op) {
  static const char *const around[] = {"prepend", "self", "append"};
  enum { MOST = 64 };
  struct value *parts[COUNT(around)], *x, *later, *earlier;
  size_t count = 0;
  int64_t axis, n;
  for (size_t i = 0; i < COUNT(around); i++) {
    TRY(pt_tensor(op, around[i], &parts[count]));
    if (parts[count]) count++;
  }
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "dim", -1, x->shape.rank, &axis));
  TRY(pt_int(op, "n", 1, &n));
  if (!x->shape.rank || n < 0 || n > MOST)
    return pt_refuse(op, "with n %lld at rank %d", (long long)n, x->shape.rank);
  TRY(pt_promote(op, parts, count));
  x = parts[0];
  if (count > 1) BUILD(op->b, x = x_concat(op->b, axis, parts, count));
  for (int64_t i = 0; i < n; i++) {
    const int64_t dim = x->shape.dims[axis];
    later = pt_slice(op, x, axis, dim ? 1 : 0, INT64_MAX, 1);
    earlier = pt_slice(op, x, axis, 0, dim ? dim - 1 : 0, 1);
    BUILD(op->b, x = x_2(op->b, x->dtype == HONE_BOOL ? OP_Xor : OP_Sub, later, earlier));
  }
  return pt_result(op, 0, x);
}

/* Every slice of a dimension. */
hone_status build_unbind(struct pt_op *op) {
  struct value *x, *y;
  int64_t axis, dims[HONE_MAX_RANK];
  size_t rank = 0, count = pt_result_count(op);
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  if (!x->shape.rank || x->shape.dims[axis] != (int64_t)count)
    return pt_refuse(op, "into %zu parts", count);
  for (int d = 0; d < x->shape.rank; d++)
    if (d != axis) dims[rank++] = x->shape.dims[d];
  for (size_t i = 0; i < count; i++) {
    BUILD(op->b, y = x_reshape(op->b, pt_slice(op, x, axis, (int64_t)i, (int64_t)i + 1, 1), dims,
                               (int)rank));
    TRY(pt_result(op, i, y));
  }
  return HONE_OK;
}

hone_status build_narrow(struct pt_op *op) {
  struct value *x;
  int64_t axis, start, length;
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  TRY(pt_int(op, "start", 0, &start));
  TRY(pt_int(op, "length", 0, &length));
  int64_t dim = x->shape.rank ? x->shape.dims[axis] : 0;
  start = start < 0 ? start + dim : start;
  if (start < 0 || length < 0 || start > dim || length > dim - start)
    return pt_refuse(op, "of %lld elements from %lld of %lld", (long long)length, (long long)start,
                     (long long)dim);
  return pt_result(op, 0, pt_slice(op, x, axis, start, start + length, 1));
}

/* Moves the dimensions `source` to `destination`, the others keep their order. */
/* One axis, or a list of them. */
static hone_status read_places(struct pt_op *op, const char *name, int64_t *out, size_t *count) {
  if (!json_is_integer(pt_argument(op, name))) return pt_ints(op, name, HONE_MAX_RANK, out, count);
  *count = 1;
  return pt_int(op, name, 0, out);
}

hone_status build_movedim(struct pt_op *op) {
  struct value *x;
  int64_t from[HONE_MAX_RANK], to[HONE_MAX_RANK], perm[HONE_MAX_RANK];
  size_t count, other;
  bool moved[HONE_MAX_RANK] = {false};
  TRY(pt_need(op, "self", &x));
  TRY(read_places(op, "source", from, &count));
  TRY(read_places(op, "destination", to, &other));
  if (count != other) return pt_refuse(op, "of %zu dimensions to %zu", count, other);
  for (int d = 0; d < HONE_MAX_RANK; d++) perm[d] = -1;
  for (size_t i = 0; i < count; i++) {
    TRY(pt_axis_of(op, from[i], x->shape.rank, &from[i]));
    TRY(pt_axis_of(op, to[i], x->shape.rank, &to[i]));
    perm[to[i]] = from[i];
    moved[from[i]] = true;
  }
  for (int d = 0, at = 0; d < x->shape.rank; d++) {
    if (moved[d]) continue;
    while (at < x->shape.rank - 1 && perm[at] >= 0) at++;
    perm[at] = d;
  }
  return pt_result(op, 0, x_transpose(op->b, x, perm));
}

/* expand_as (parameter 0), view_as (1) */
hone_status build_like(struct pt_op *op) {
  struct value *x, *other, *y;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "other", &other));
  if (op->parameter) {
    y = x_reshape(op->b, x, other->shape.dims, other->shape.rank);
  } else {
    y = x_2(op->b, OP_Expand, x, x_list(op->b, other->shape.dims, (size_t)other->shape.rank));
  }
  return pt_result(op, 0, y);
}

/* Splits one dimension into several. */
hone_status build_unflatten(struct pt_op *op) {
  struct value *x;
  int64_t axis, sizes[HONE_MAX_RANK], dims[HONE_MAX_RANK];
  size_t count, rank = 0;
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  TRY(pt_ints(op, "sizes", HONE_MAX_RANK, sizes, &count));
  if (x->shape.rank - 1 + (int)count > HONE_MAX_RANK) return pt_refuse(op, "to this rank");
  for (int d = 0; d < x->shape.rank; d++) {
    if (d != axis) dims[rank++] = x->shape.dims[d];
    for (size_t i = 0; d == axis && i < count; i++) dims[rank++] = sizes[i];
  }
  return pt_result(op, 0, x_reshape(op->b, x, dims, (int)rank));
}

/* [N, C r r, H, W] to [N, C, H r, W r], or (parameter 1) back. */
hone_status build_pixel_shuffle(struct pt_op *op) {
  static const int64_t apart[] = {0, 1, 3, 5, 2, 4};
  struct value *x, *y;
  int64_t r;
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, op->parameter ? "downscale_factor" : "upscale_factor", 1, &r));
  if (x->shape.rank != 4 || r < 1) return pt_refuse(op, "of rank %d", x->shape.rank);
  if (!op->parameter) {
    y = x_args(op->b, OP_DepthToSpace, VALUES(x),
               ARGS(INT_ARG("blocksize", r), STRING_ARG("mode", "CRD")));
    return pt_result(op, 0, y);
  }
  const int64_t *d = x->shape.dims;
  if (d[2] % r || d[3] % r) return pt_refuse(op, "of this size");
  y = x_transpose(op->b, x_reshape(op->b, x, (int64_t[]){d[0], d[1], d[2] / r, r, d[3] / r, r}, 6),
                  apart);
  return pt_result(op, 0, x_reshape(op->b, y, (int64_t[]){d[0], -1, d[2] / r, d[3] / r}, 4));
}

/* Interleaves channels of groups. */
hone_status build_channel_shuffle(struct pt_op *op) {
  static const int64_t turn[] = {0, 2, 1, 3, 4};
  struct value *x;
  int64_t groups;
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "groups", 1, &groups));
  const int64_t *d = x->shape.dims;
  if (x->shape.rank != 4 || groups < 1 || d[1] % groups) return pt_refuse(op, "of this size");
  return pt_result(
      op, 0,
      x_reshape(
          op->b,
          x_transpose(op->b,
                      x_reshape(op->b, x, (int64_t[]){d[0], groups, d[1] / groups, d[2], d[3]}, 5),
                      turn),
          d, 4));
}

/* Each vector expanded to the grid of all of them, the first along the first dimension. */
hone_status build_meshgrid(struct pt_op *op) {
  struct value *list[HONE_MAX_RANK], *shape, *y;
  size_t count;
  const char *indexing;
  int64_t dims[HONE_MAX_RANK], one[HONE_MAX_RANK];
  TRY(pt_tensors(op, "tensors", HONE_MAX_RANK, list, &count));
  TRY(pt_text(op, "indexing", "ij", &indexing));
  const bool swap = strcmp(indexing, "ij") && count > 1; /* xy: swaps the first two */
  for (size_t i = 0; i < count; i++) {
    if (list[i]->shape.rank > 1) return pt_refuse(op, "of rank %d", list[i]->shape.rank);
    dims[swap && i < 2 ? 1 - i : i] = list[i]->shape.rank ? list[i]->shape.dims[0] : 1;
  }
  BUILD(op->b, shape = x_list(op->b, dims, count));
  for (size_t i = 0; i < count; i++) {
    size_t axis = swap && i < 2 ? 1 - i : i;
    for (size_t d = 0; d < count; d++) one[d] = d == axis ? dims[d] : 1;
    BUILD(op->b, y = x_2(op->b, OP_Expand, x_reshape(op->b, list[i], one, (int)count), shape));
    TRY(pt_result(op, i, y));
  }
  return HONE_OK;
}

/* Broadcasts all tensors to a common shape. */
hone_status build_broadcast_tensors(struct pt_op *op) {
  enum { MOST = 64 };
  struct value *list[MOST], *y;
  struct shape all = {0};
  size_t count;
  TRY(pt_tensors(op, "tensors", MOST, list, &count));
  for (size_t i = 0; i < count; i++) {
    struct shape with;
    if (!shape_broadcast(&all, &list[i]->shape, &with))
      return fail(op->ctx, HONE_E_SHAPE, pt_place(op), "%s: tensors that do not broadcast",
                  op->target);
    all = with;
  }
  for (size_t i = 0; i < count; i++) {
    BUILD(op->b, y = x_2(op->b, OP_Expand, list[i], x_list(op->b, all.dims, (size_t)all.rank)));
    TRY(pt_result(op, i, y));
  }
  return HONE_OK;
}
