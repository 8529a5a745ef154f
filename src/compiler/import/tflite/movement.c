/* movement: operators that move elements. Concatenation, padding, splitting and slicing keep images
 * in channels-first order; reshapes use the file's order. */
#include "tflite.h"

enum { MOST_INTS = HONE_MAX_RANK * 2 };

static int64_t mapped(bool image, int64_t axis) { return image ? tf_image_axis(axis) : axis; }

/* Permutes the list from axis order of the file to that of an image. */
static void map_list(bool image, int64_t *list) {
  if (!image) return;
  int64_t copy[4] = {list[0], list[3], list[1], list[2]};
  memcpy(list, copy, sizeof copy);
}

static hone_status write_reshaped(struct tf_op *op, struct tf_tensor *x, const int64_t *dims,
                                  size_t rank) {
  struct value *real, *imaginary;
  TRY(tf_value(op, x, &real));
  if (x->is_complex) {
    imaginary = x_reshape(op->b, x->imaginary, dims, (int)rank);
    tf_out(op, 0)->imaginary = imaginary;
  }
  return tf_write(op, 0, false, x_reshape(op->b, real, dims, (int)rank));
}

/* The new shape: operand 1, or option 0 in old files. */
hone_status tf_reshape(struct tf_op *op) {
  int64_t dims[HONE_MAX_RANK];
  size_t count = 0;
  struct flat_vector list;
  struct value *shape, *x;
  TRY(tf_arity(op, 1, 2, 1));
  if (!tf_in(op, 1)) {
    TRY(flat_list(&op->options, 0, 4, &list));
    if (list.count > HONE_MAX_RANK)
      return fail(op->ctx, HONE_E_LIMIT, tf_place(op), "a shape of rank %zu", list.count);
    for (size_t i = 0; i < list.count; i++) dims[count++] = flat_i32_at(&list, i);
    return write_reshaped(op, tf_in(op, 0), dims, count);
  }
  TRY(tf_value(op, tf_in(op, 1), &shape));
  if (shape->constant || tf_in(op, 0)->is_complex) {
    TRY(tf_ints(op, 1, HONE_MAX_RANK, dims, &count));
    return write_reshaped(op, tf_in(op, 0), dims, count);
  }
  TRY(tf_value(op, tf_in(op, 0), &x));
  BUILD(op->b, shape = x_cast(op->b, shape, HONE_I64));
  return tf_write(op, 0, false,
                  x_args(op->b, OP_Reshape, VALUES(x, shape), ARGS(INT_ARG("allowzero", 1))));
}

hone_status tf_squeeze(struct tf_op *op) {
  struct flat_vector list;
  int64_t dims[HONE_MAX_RANK];
  size_t count = 0;
  TRY(tf_arity(op, 1, 1, 1));
  TRY(flat_list(&op->options, 0, 4, &list));
  struct value *x;
  TRY(tf_value(op, tf_in(op, 0), &x));
  bool drop[HONE_MAX_RANK] = {false};
  for (size_t i = 0; i < list.count; i++) {
    int64_t axis;
    TRY(tf_axis(op, flat_i32_at(&list, i), x->shape.rank, &axis));
    if (x->shape.dims[axis] != 1)
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "SQUEEZE of axis %lld, which has size %lld",
                  (long long)axis, (long long)x->shape.dims[axis]);
    drop[axis] = true;
  }
  for (int d = 0; d < x->shape.rank; d++)
    if (x->shape.dims[d] == 1 && x->extents[d])
      return tf_refuse(op, "of a dynamic dimension");
    else if (list.count ? !drop[d] : x->shape.dims[d] != 1)
      dims[count++] = make_kept_size(x, d);
  return write_reshaped(op, tf_in(op, 0), dims, count);
}

hone_status tf_expand_dims(struct tf_op *op) {
  int64_t axis, dims[HONE_MAX_RANK];
  TRY(tf_arity(op, 2, 2, 1));
  TRY(tf_one_int(op, 1, &axis));
  struct value *x;
  TRY(tf_value(op, tf_in(op, 0), &x));
  int rank = x->shape.rank + 1;
  if (rank > HONE_MAX_RANK)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "EXPAND_DIMS of rank %d", rank - 1);
  TRY(tf_axis(op, axis, rank, &axis));
  for (int d = 0; d < rank; d++) dims[d] = d == axis ? 1 : make_kept_size(x, d < axis ? d : d - 1);
  return write_reshaped(op, tf_in(op, 0), dims, (size_t)rank);
}

hone_status tf_transpose(struct tf_op *op) {
  int64_t perm[HONE_MAX_RANK];
  size_t count;
  struct value *x;
  TRY(tf_arity(op, 2, 2, 1));
  TRY(tf_ints(op, 1, HONE_MAX_RANK, perm, &count));
  TRY(tf_value(op, tf_in(op, 0), &x));
  if ((int)count != x->shape.rank)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "TRANSPOSE of rank %d by %zu axes",
                x->shape.rank, count);
  for (size_t i = 0; i < count; i++) TRY(tf_axis(op, perm[i], x->shape.rank, &perm[i]));
  return tf_write(op, 0, false, x_transpose(op->b, x, perm));
}

hone_status tf_concat(struct tf_op *op) {
  int64_t axis;
  struct value **parts, *y;
  size_t count = op->inputs.count;
  TRY(tf_arity(op, count, SIZE_MAX, 1));
  if (!count) return tf_arity(op, 1, SIZE_MAX, 1);
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_concat(op);
  bool image = tf_follows_images(op, count);
  TRY(tf_option(op, 0, FLAT_I32, 0, &axis));
  TRY(tf_axis(op, axis, tf_rank_of(tf_in(op, 0)), &axis));
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, parts, count));
  for (size_t k = 0; k < count; k++) TRY(tf_read(op, tf_in(op, k), image, &parts[k]));
  BUILD(op->b, y = x_concat(op->b, mapped(image, axis), parts, count));
  TRY(tf_activate(op, 1, y, &y));
  return tf_write(op, 0, image, y);
}

/* [[before, after], ...] to ONNX's order: all before, then all after. */
static hone_status read_pads(struct tf_op *op, bool image, int rank, struct value **out) {
  int64_t pairs[MOST_INTS], before[HONE_MAX_RANK], after[HONE_MAX_RANK], pads[MOST_INTS];
  size_t count;
  TRY(tf_ints(op, 1, MOST_INTS, pairs, &count));
  if ((int)count != 2 * rank)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%zu paddings for rank %d", count, rank);
  for (int d = 0; d < rank; d++) {
    before[d] = pairs[2 * d];
    after[d] = pairs[2 * d + 1];
    if (before[d] < 0 || after[d] < 0)
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "a padding below 0");
  }
  map_list(image, before);
  map_list(image, after);
  for (int d = 0; d < rank; d++) {
    pads[d] = before[d];
    pads[rank + d] = after[d];
  }
  return x_give(op->b, out, x_list(op->b, pads, 2 * (size_t)rank));
}

/* PAD fills with zero (quantised: the zero point), PADV2 with operand 2. */
hone_status tf_pad(struct tf_op *op) {
  struct value *x, *pads, *fill;
  struct tf_tensor *in = tf_in(op, 0);
  TRY(tf_arity(op, op->kind->parameter ? 3 : 2, 3, 1));
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, in, image, &x));
  TRY(read_pads(op, image, x->shape.rank, &pads));
  if (op->kind->parameter)
    TRY(tf_value(op, tf_in(op, 2), &fill));
  else
    BUILD(op->b,
          fill = x_scalar(op->b, x->dtype,
                          tf_is_quantised(in) ? (double)in->quantisation.zero_points[0] : 0));
  if (fill->shape.rank) fill = x_reshape(op->b, fill, NULL, 0);
  return tf_write(op, 0, image, x_3(op->b, OP_Pad, x, pads, fill));
}

/* Reflection including the edge element: a Gather along each axis. */
static hone_status pad_symmetric(struct tf_op *op, struct value *x, const int64_t *widths,
                                 struct value **out) {
  const int rank = x->shape.rank;
  *out = x;
  for (int d = 0; d < rank; d++) {
    int64_t n = x->shape.dims[d], before = widths[d], after = widths[rank + d], *places;
    const struct shape shape = {1, {before + n + after}};
    struct value *list;
    if (!before && !after) continue;
    TRY(graph_new_constant(op->ctx, op->b->graph, HONE_I64, &shape, &list));
    places = (void *)(uintptr_t)list->constant->data;
    for (int64_t i = 0; i < shape.dims[0]; i++) {
      int64_t at = i - before;
      places[i] = at < 0 ? -1 - at : at < n ? at : 2 * n - 1 - at;
    }
    BUILD(op->b, *out = x_gather(op->b, *out, list, d));
  }
  return HONE_OK;
}

/* Mode 0 reflects without the edge, mode 1 (symmetric) with it. */
hone_status tf_mirror_pad(struct tf_op *op) {
  struct value *x, *pads, *y;
  int64_t mode;
  TRY(tf_arity(op, 2, 2, 1));
  TRY(tf_option(op, 0, FLAT_I8, 0, &mode));
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  TRY(read_pads(op, image, x->shape.rank, &pads));
  const int64_t *widths = pads->constant->data;
  if (mode != 0 && mode != 1) return tf_refuse(op, "with mode %lld", (long long)mode);
  for (int i = 0; i < 2 * x->shape.rank; i++) {
    const int64_t most = x->shape.dims[i % x->shape.rank] - (mode == 0);
    if (widths[i] > (most > 0 ? most : 0))
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "MIRROR_PAD by %lld of an axis with %lld",
                  (long long)widths[i], (long long)x->shape.dims[i % x->shape.rank]);
  }
  bool wide = false; /* with one element, symmetric padding repeats the edge */
  for (int i = 0; mode == 1 && i < 2 * x->shape.rank; i++) wide = wide || widths[i] > 1;
  if (wide)
    TRY(pad_symmetric(op, x, widths, &y));
  else
    BUILD(op->b, y = x_args(op->b, OP_Pad, VALUES(x, pads),
                            ARGS(STRING_ARG("mode", mode == 1 ? "edge" : "reflect"))));
  return tf_write(op, 0, image, y);
}

/* -- slices */

struct slice {
  int64_t starts[HONE_MAX_RANK], ends[HONE_MAX_RANK], steps[HONE_MAX_RANK];
};

static struct value *make_slice(struct tf_op *op, struct value *x, struct slice *slice,
                                bool image) {
  int64_t all[HONE_MAX_RANK];
  size_t rank = (size_t)x->shape.rank;
  for (size_t d = 0; d < rank; d++) all[d] = (int64_t)d;
  map_list(image, slice->starts);
  map_list(image, slice->ends);
  map_list(image, slice->steps);
  struct value *starts = x_list(op->b, slice->starts, rank);
  struct value *ends = x_list(op->b, slice->ends, rank);
  struct value *axes = x_list(op->b, all, rank);
  struct value *steps = x_list(op->b, slice->steps, rank);
  return x_op(op->b, OP_Slice, VALUES(x, starts, ends, axes, steps));
}

/* begin and size; a size of -1 extends to the end. */
hone_status tf_slice(struct tf_op *op) {
  struct slice slice;
  int64_t sizes[HONE_MAX_RANK];
  size_t begins, count;
  struct value *x;
  TRY(tf_arity(op, 3, 3, 1));
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  TRY(tf_ints(op, 1, HONE_MAX_RANK, slice.starts, &begins));
  TRY(tf_ints(op, 2, HONE_MAX_RANK, sizes, &count));
  if ((int)begins != x->shape.rank || (int)count != x->shape.rank)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "SLICE of rank %d by %zu begins and %zu sizes",
                x->shape.rank, begins, count);
  int64_t dims[HONE_MAX_RANK];
  for (size_t d = 0; d < count; d++)
    dims[d] = x->shape.dims[image ? tf_image_axis((int64_t)d) : (int64_t)d];
  for (size_t d = 0; d < count; d++) {
    int64_t begin = slice.starts[d], room = begin < 0 ? -1 : dims[d] - begin;
    if (room < 0 || sizes[d] < -1 || sizes[d] > room)
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op),
                  "SLICE takes %lld from %lld of axis %zu, which has %lld", (long long)sizes[d],
                  (long long)begin, d, (long long)dims[d]);
    slice.ends[d] = sizes[d] < 0 ? dims[d] : begin + sizes[d];
    slice.steps[d] = 1;
  }
  return tf_write(op, 0, image, make_slice(op, x, &slice, image));
}

struct masks {
  int64_t begin, end, ellipsis, new_axis, shrink, offset;
};

static hone_status read_masks(struct tf_op *op, struct masks *m) {
  TRY(tf_option(op, 0, FLAT_I32, 0, &m->begin));
  TRY(tf_option(op, 1, FLAT_I32, 0, &m->end));
  TRY(tf_option(op, 2, FLAT_I32, 0, &m->ellipsis));
  TRY(tf_option(op, 3, FLAT_I32, 0, &m->new_axis));
  TRY(tf_option(op, 4, FLAT_I32, 0, &m->shrink));
  TRY(tf_option(op, 5, FLAT_U8, 0, &m->offset));
  if (m->ellipsis & (m->ellipsis - 1))
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "STRIDED_SLICE with two ellipses");
  return HONE_OK;
}

static int64_t clamped(int64_t i, int64_t low, int64_t high) {
  return i < low ? low : i > high ? high : i;
}

/* One axis of the operand by entry `bit` of the lists. */
static hone_status slice_axis(struct tf_op *op, const struct masks *m, int64_t bit, int64_t dim,
                              int64_t begin, int64_t end, int64_t step, int d,
                              struct slice *slice) {
  if (!step) return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "STRIDED_SLICE with stride 0");
  if (m->offset && !checked_add(end, begin, &end)) return tf_refuse(op, "with these offsets");
  if (m->shrink & bit) {
    int64_t at = begin < 0 ? begin + dim : begin;
    if (at < 0 || at >= dim)
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "STRIDED_SLICE takes element %lld of %lld",
                  (long long)begin, (long long)dim);
    slice->starts[d] = at, slice->ends[d] = at + 1, slice->steps[d] = 1;
    return HONE_OK;
  }
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? dim : dim - 1;
  begin = m->begin & bit ? (step > 0 ? 0 : dim - 1)
                         : clamped(begin < 0 ? begin + dim : begin, low, high);
  end = m->end & bit ? (step > 0 ? dim : -1) : clamped(end < 0 ? end + dim : end, low, high);
  slice->starts[d] = begin;
  slice->ends[d] = end < 0 ? INT64_MIN : end; /* in ONNX -1 would be the last element */
  slice->steps[d] = step;
  return HONE_OK;
}

hone_status tf_strided_slice(struct tf_op *op) {
  int64_t begin[MOST_INTS], end[MOST_INTS], step[MOST_INTS], dims[MOST_INTS];
  size_t count, ends, steps;
  struct masks m;
  struct slice slice;
  struct value *x, *y;
  TRY(tf_arity(op, 4, 4, 1));
  TRY(read_masks(op, &m));
  TRY(tf_value(op, tf_in(op, 0), &x));
  TRY(tf_ints(op, 1, HONE_MAX_RANK, begin, &count));
  TRY(tf_ints(op, 2, HONE_MAX_RANK, end, &ends));
  TRY(tf_ints(op, 3, HONE_MAX_RANK, step, &steps));
  if (ends != count || steps != count)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "STRIDED_SLICE with lists of unequal length");
  int rank = x->shape.rank, d = 0, taken = 0;
  size_t out = 0;
  bool keep[HONE_MAX_RANK];
  size_t fresh[HONE_MAX_RANK + 1] = {0};   /* new axes before axis d */
  m.ellipsis &= (INT64_C(1) << count) - 1; /* bits without an entry are ignored */
  for (size_t i = 0; i < count; i++) taken += !(m.new_axis >> i & 1) && !(m.ellipsis >> i & 1);
  if (taken > rank)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "STRIDED_SLICE of %d axes of rank %d", taken,
                rank);
  for (size_t i = 0; i <= count; i++) {
    bool is_ellipsis = i < count && (m.ellipsis >> i & 1);
    /* an ellipsis, or the end of the lists, covers all axes without an entry */
    for (int rest = is_ellipsis || (i == count && !m.ellipsis) ? rank - taken : 0; rest > 0;
         rest--) {
      slice.starts[d] = 0, slice.ends[d] = x->shape.dims[d], slice.steps[d] = 1;
      keep[d++] = true;
    }
    if (i == count || is_ellipsis) continue;
    if (m.new_axis >> i & 1) {
      fresh[d]++;
      continue;
    }
    if (x->extents[d] && (begin[i] < 0 || end[i] < 0 || step[i] < 0 || (m.shrink >> i & 1)))
      return tf_refuse(op,
                       "with a negative index into a dynamic dimension, or of one element of it");
    TRY(slice_axis(op, &m, INT64_C(1) << i, x->shape.dims[d], begin[i], end[i], step[i], d,
                   &slice));
    keep[d++] = !(m.shrink >> i & 1);
  }
  BUILD(op->b, y = make_slice(op, x, &slice, false));
  for (int k = 0; k <= rank; k++) {
    for (size_t f = 0; f < fresh[k]; f++) dims[out++] = 1;
    if (k < rank && keep[k]) dims[out++] = make_kept_size(y, k);
  }
  if (out > HONE_MAX_RANK)
    return fail(op->ctx, HONE_E_LIMIT, tf_place(op), "a result of rank %zu", out);
  if ((int)out != rank || m.shrink || m.new_axis)
    BUILD(op->b, y = x_reshape(op->b, y, dims, (int)out));
  return tf_write(op, 0, false, y);
}

/* -- splitting and joining */

static hone_status split(struct tf_op *op, struct value *x, bool image, int64_t axis,
                         const int64_t *sizes) {
  struct value *lengths, **parts;
  size_t count = op->outputs.count;
  lengths = x_list(op->b, sizes, count);
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, parts, count));
  BUILD(op->b, x_nodes(op->b, OP_Split, VALUES(x, lengths),
                       ARGS(INT_ARG("axis", mapped(image, axis))), count, parts));
  for (size_t k = 0; k < count; k++) TRY(tf_write(op, k, image, parts[k]));
  return HONE_OK;
}

/* SPLIT: axis, x. */
hone_status tf_split(struct tf_op *op) {
  int64_t axis, *sizes;
  size_t count = op->outputs.count;
  TRY(tf_arity(op, 2, 2, count));
  TRY(tf_count(op, 0, count));
  TRY(tf_one_int(op, 0, &axis));
  struct tf_tensor *in = tf_in(op, 1);
  TRY(tf_axis(op, axis, tf_rank_of(in), &axis));
  struct value *x;
  const bool image = in->image && !in->value;
  TRY(tf_read(op, in, image, &x));
  int64_t dim = x->shape.dims[mapped(image, axis)];
  if (!count || dim % (int64_t)count)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "SPLIT of %lld into %zu", (long long)dim,
                count);
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, sizes, count));
  for (size_t k = 0; k < count; k++) sizes[k] = dim / (int64_t)count;
  return split(op, x, image, axis, sizes);
}

/* SPLIT_V: x, sizes (one may be -1), axis. */
hone_status tf_split_v(struct tf_op *op) {
  int64_t axis, *sizes, rest, open = -1;
  size_t found, count = op->outputs.count;
  TRY(tf_arity(op, 3, 3, count));
  TRY(tf_count(op, 0, count));
  TRY(tf_one_int(op, 2, &axis));
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, sizes, count + 1));
  TRY(tf_ints(op, 1, count, sizes, &found));
  struct tf_tensor *in = tf_in(op, 0);
  TRY(tf_axis(op, axis, tf_rank_of(in), &axis));
  struct value *x;
  const bool image = in->image && !in->value;
  TRY(tf_read(op, in, image, &x));
  rest = x->shape.dims[mapped(image, axis)];
  for (size_t k = 0; k < found; k++) {
    if (sizes[k] < -1 || (sizes[k] < 0 && open >= 0)) rest = -1;
    if (sizes[k] < 0) open = (int64_t)k;
    if (sizes[k] > 0 && rest >= 0 && !checked_sub(rest, sizes[k], &rest)) rest = -1;
  }
  if (open >= 0) sizes[open] = rest;
  if (found != count || rest < 0)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "SPLIT_V's sizes do not fit");
  return split(op, x, image, axis, sizes);
}

hone_status tf_pack(struct tf_op *op) {
  int64_t axis, dims[HONE_MAX_RANK];
  struct value **parts;
  size_t count = op->inputs.count;
  TRY(tf_arity(op, count, SIZE_MAX, 1));
  if (!count) return tf_arity(op, 1, SIZE_MAX, 1);
  TRY(tf_count(op, 0, count));
  TRY(tf_option(op, 1, FLAT_I32, 0, &axis));
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, parts, count));
  for (size_t k = 0; k < count; k++) {
    struct value *x;
    TRY(tf_value(op, tf_in(op, k), &x));
    int rank = x->shape.rank + 1;
    if (rank > HONE_MAX_RANK)
      return fail(op->ctx, HONE_E_LIMIT, tf_place(op), "PACK of rank %d", rank - 1);
    if (!k) TRY(tf_axis(op, axis, rank, &axis));
    if (axis >= rank)
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "PACK of tensors of unequal rank");
    for (int d = 0; d < rank; d++) dims[d] = d == axis ? 1 : x->shape.dims[d < axis ? d : d - 1];
    BUILD(op->b, parts[k] = x_reshape(op->b, x, dims, rank));
  }
  return tf_write(op, 0, false, x_concat(op->b, axis, parts, count));
}

hone_status tf_unpack(struct tf_op *op) {
  int64_t axis, dims[HONE_MAX_RANK], *sizes;
  size_t count = op->outputs.count, rank = 0;
  struct value *x, *lengths, **parts;
  TRY(tf_arity(op, 1, 1, count));
  TRY(tf_count(op, 0, count));
  TRY(tf_option(op, 1, FLAT_I32, 0, &axis));
  TRY(tf_value(op, tf_in(op, 0), &x));
  TRY(tf_axis(op, axis, x->shape.rank, &axis));
  if (!count || x->shape.dims[axis] != (int64_t)count)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "UNPACK of %lld into %zu",
                (long long)x->shape.dims[axis], count);
  for (int d = 0; d < x->shape.rank; d++)
    if (d != axis) dims[rank++] = x->shape.dims[d];
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, parts, count));
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, sizes, count));
  for (size_t k = 0; k < count; k++) sizes[k] = 1;
  lengths = x_list(op->b, sizes, count);
  BUILD(op->b,
        x_nodes(op->b, OP_Split, VALUES(x, lengths), ARGS(INT_ARG("axis", axis)), count, parts));
  for (size_t k = 0; k < count; k++) {
    BUILD(op->b, parts[k] = x_reshape(op->b, parts[k], dims, (int)rank));
    TRY(tf_write(op, k, false, parts[k]));
  }
  return HONE_OK;
}

/* -- operators with an equivalent ONNX operator, integer operands widened */

/* BROADCAST_TO's shape consists of new axes, then the axes of x with equal sizes unless x has 1;
 * Expand would accept fewer. */
static hone_status check_broadcast(struct tf_op *op, const struct value *x,
                                   const struct value *shape) {
  int64_t dims[HONE_MAX_RANK];
  size_t count;
  if (!shape->constant) return HONE_OK;
  TRY(tf_ints(op, 1, HONE_MAX_RANK, dims, &count));
  const int lead = (int)count - x->shape.rank;
  bool fits = lead >= 0;
  for (int d = 0; fits && d < x->shape.rank; d++)
    fits = dims[lead + d] == x->shape.dims[d] || x->shape.dims[d] == 1 || x->extents[d];
  if (fits) return HONE_OK;
  return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s to a shape that is not one of its operand",
              op->kind->name);
}

/* TILE, BROADCAST_TO: parameter is the operator. */
hone_status tf_tile(struct tf_op *op) {
  struct value *x, *counts;
  TRY(tf_arity(op, 2, 2, 1));
  TRY(tf_value(op, tf_in(op, 0), &x));
  TRY(tf_read_i64(op, 1, &counts));
  if (op->kind->parameter == OP_Expand) TRY(check_broadcast(op, x, counts));
  return tf_write(op, 0, false, x_2(op->b, (enum op_id)op->kind->parameter, x, counts));
}

/* FILL: dims, value. */
hone_status tf_fill(struct tf_op *op) {
  struct value *x, *dims;
  TRY(tf_arity(op, 2, 2, 1));
  TRY(tf_read_i64(op, 0, &dims));
  TRY(tf_value(op, tf_in(op, 1), &x));
  return tf_write(op, 0, false, x_2(op->b, OP_Expand, x, dims));
}

hone_status tf_shape(struct tf_op *op) {
  struct value *x;
  TRY(tf_arity(op, 1, 1, 1));
  TRY(tf_value(op, tf_in(op, 0), &x));
  return tf_write(op, 0, false, x_cast(op->b, x_1(op->b, OP_Shape, x), tf_out(op, 0)->dtype));
}

hone_status tf_rank(struct tf_op *op) {
  TRY(tf_arity(op, 1, 1, 1));
  return tf_write(op, 0, false, x_scalar(op->b, HONE_I32, tf_rank_of(tf_in(op, 0))));
}

/* The first `batch` axes are common: GatherND of [.., 1] with `axis` moved after them, and the axes
 * that were before it moved back. */
static hone_status gather_batched(struct tf_op *op, struct value *x, struct value *indices,
                                  int64_t axis, int64_t batch, struct value **out) {
  int64_t perm[HONE_MAX_RANK], back[HONE_MAX_RANK], dims[HONE_MAX_RANK];
  const int rank = x->shape.rank, own = indices->shape.rank - (int)batch;
  size_t n = 0;
  if (indices->shape.rank >= HONE_MAX_RANK || rank - 1 + own > HONE_MAX_RANK)
    return fail(op->ctx, HONE_E_LIMIT, tf_place(op), "GATHER to rank %d", rank - 1 + own);
  for (int d = 0; d < rank; d++) perm[d] = d < batch || d > axis ? d : d == batch ? axis : d - 1;
  BUILD(op->b, x = x_transpose(op->b, x, perm));
  BUILD(op->b, indices = x_cast(op->b, indices, HONE_I64));
  for (int d = 0; d < indices->shape.rank; d++) dims[d] = indices->shape.dims[d];
  dims[indices->shape.rank] = 1;
  BUILD(op->b, indices = x_reshape(op->b, indices, dims, indices->shape.rank + 1));
  BUILD(op->b,
        *out = x_args(op->b, OP_GatherND, VALUES(x, indices), ARGS(INT_ARG("batch_dims", batch))));
  /* [batch.., own.., between.., after..] to [batch.., between.., own.., after..] */
  int64_t between = axis - batch;
  for (int64_t d = 0; d < batch; d++) back[n++] = d;
  for (int64_t d = 0; d < between; d++) back[n++] = batch + own + d;
  for (int64_t d = 0; d < own; d++) back[n++] = batch + d;
  for (int64_t d = batch + own + between; d < (*out)->shape.rank; d++) back[n++] = d;
  return between ? x_give(op->b, out, x_transpose(op->b, *out, back)) : HONE_OK;
}

/* Checks constant indices into an axis of this size; ONNX would count negative ones from the end.
 * In lists of `width` numbers, one per axis, checks those at `at`. */
static hone_status check_places(struct tf_op *op, const struct value *places, size_t width,
                                size_t at, int64_t size) {
  if (!places->constant || !dtype_is_integer(places->dtype)) return HONE_OK;
  for (size_t i = at; i < tensor_count(places->constant); i += width) {
    const int64_t place = tensor_i64(places->constant, i);
    if (place < 0 || place >= size)
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s takes element %lld of %lld",
                  op->kind->name, (long long)place, (long long)size);
  }
  return HONE_OK;
}

hone_status tf_gather(struct tf_op *op) {
  int64_t axis, batch;
  struct value *x, *indices, *y;
  TRY(tf_arity(op, 2, 2, 1));
  TRY(tf_option(op, 0, FLAT_I32, 0, &axis));
  TRY(tf_option(op, 1, FLAT_I32, 0, &batch));
  TRY(tf_value(op, tf_in(op, 0), &x));
  TRY(tf_value(op, tf_in(op, 1), &indices));
  TRY(tf_axis(op, axis, x->shape.rank, &axis));
  TRY(check_places(op, indices, 1, 0, x->shape.dims[axis]));
  if (batch) {
    TRY(tf_axis(op, batch, indices->shape.rank + 1, &batch));
    if (batch > axis)
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "GATHER along axis %lld of batch_dims %lld",
                  (long long)axis, (long long)batch);
    TRY(gather_batched(op, x, indices, axis, batch, &y));
    return tf_write(op, 0, false, y);
  }
  if (indices->dtype != HONE_I64) indices = x_cast(op->b, indices, HONE_I32);
  return tf_write(op, 0, false, x_gather(op->b, x, indices, axis));
}

/* EMBEDDING_LOOKUP: indices, table; an integer table is dequantised if the result is a float. */
hone_status tf_embedding_lookup(struct tf_op *op) {
  struct value *table, *indices, *y;
  TRY(tf_arity(op, 2, 2, 1));
  TRY(tf_value(op, tf_in(op, 0), &indices));
  TRY(tf_value(op, tf_in(op, 1), &table));
  if (table->shape.rank) TRY(check_places(op, indices, 1, 0, table->shape.dims[0]));
  if (dtype_is_float(tf_out(op, 0)->dtype)) {
    TRY(tf_dequantised_rows(op, tf_in(op, 1), indices, &y));
  } else {
    y = x_2(op->b, OP_Gather, table, indices);
  }
  return tf_write(op, 0, false, y);
}

hone_status tf_gather_nd(struct tf_op *op) {
  struct value *x, *indices;
  TRY(tf_arity(op, 2, 2, 1));
  TRY(tf_value(op, tf_in(op, 0), &x));
  TRY(tf_read_i64(op, 1, &indices));
  const int depth = indices->shape.rank;
  const int64_t width = depth ? indices->shape.dims[depth - 1] : 0;
  for (int64_t d = 0; d < width && d < x->shape.rank; d++)
    TRY(check_places(op, indices, (size_t)width, (size_t)d, x->shape.dims[d]));
  return tf_write(op, 0, false, x_2(op->b, OP_GatherND, x, indices));
}

/* SCATTER_ND: indices, updates, shape; updates to the same index are added. */
hone_status tf_scatter_nd(struct tf_op *op) {
  struct value *indices, *updates, *shape;
  TRY(tf_arity(op, 3, 3, 1));
  TRY(tf_read_i64(op, 0, &indices));
  TRY(tf_value(op, tf_in(op, 1), &updates));
  TRY(tf_read_i64(op, 2, &shape));
  struct value *y = x_2(op->b, OP_Expand, x_scalar(op->b, updates->dtype, 0), shape);
  return tf_write(op, 0, false,
                  x_args(op->b, OP_ScatterND, VALUES(y, indices, updates),
                         ARGS(STRING_ARG("reduction", "add"))));
}

hone_status tf_range_op(struct tf_op *op) {
  struct value *start, *limit, *delta;
  TRY(tf_arity(op, 3, 3, 1));
  TRY(tf_value(op, tf_in(op, 0), &start));
  TRY(tf_value(op, tf_in(op, 1), &limit));
  TRY(tf_value(op, tf_in(op, 2), &delta));
  if (start->constant && limit->constant && delta->constant && make_elements(start) == 1 &&
      make_elements(limit) == 1 && make_elements(delta) == 1) {
    const double step = tensor_f64(delta->constant, 0);
    const double way = tensor_f64(limit->constant, 0) - tensor_f64(start->constant, 0);
    if (!(way * step > 0) && way != 0)
      return fail(op->ctx, HONE_E_NUM, tf_place(op), "RANGE of %g in steps of %g", way, step);
  }
  return tf_write(op, 0, false, x_3(op->b, OP_Range, start, limit, delta));
}

/* REVERSE_V2: a slice with step -1 along each axis. */
hone_status tf_reverse(struct tf_op *op) {
  int64_t axes[HONE_MAX_RANK];
  size_t count;
  struct slice slice;
  struct value *x;
  TRY(tf_arity(op, 2, 2, 1));
  TRY(tf_value(op, tf_in(op, 0), &x));
  TRY(tf_ints(op, 1, HONE_MAX_RANK, axes, &count));
  for (int d = 0; d < x->shape.rank; d++)
    slice.starts[d] = 0, slice.ends[d] = x->shape.dims[d], slice.steps[d] = 1;
  for (size_t i = 0; i < count; i++) {
    int64_t axis;
    TRY(tf_axis(op, axes[i], x->shape.rank, &axis));
    if (slice.steps[axis] < 0)
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "REVERSE_V2 of axis %lld twice",
                  (long long)axis);
    slice.starts[axis] = -1, slice.ends[axis] = INT64_MIN, slice.steps[axis] = -1;
  }
  return tf_write(op, 0, false, make_slice(op, x, &slice, false));
}

/* REVERSE_SEQUENCE: x, lengths; options seq_dim, batch_dim, which ONNX requires as the first two
 * axes. */
hone_status tf_reverse_sequence(struct tf_op *op) {
  int64_t time, batch, perm[HONE_MAX_RANK], back[HONE_MAX_RANK];
  struct value *x, *lengths;
  TRY(tf_arity(op, 2, 2, 1));
  TRY(tf_option(op, 0, FLAT_I32, 0, &time));
  TRY(tf_option(op, 1, FLAT_I32, 0, &batch));
  TRY(tf_value(op, tf_in(op, 0), &x));
  const int rank = x->shape.rank;
  TRY(tf_axis(op, time, rank, &time));
  TRY(tf_axis(op, batch, rank, &batch));
  if (time == batch)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "REVERSE_SEQUENCE of axis %lld along itself",
                (long long)time);
  TRY(tf_read_i64(op, 1, &lengths));
  perm[0] = batch, perm[1] = time;
  for (int d = 0, n = 2; d < rank; d++)
    if (d != batch && d != time) perm[n++] = d;
  for (int d = 0; d < rank; d++) back[perm[d]] = d;
  BUILD(op->b, x = x_transpose(op->b, x, perm));
  struct value *y = x_transpose(op->b,
                                x_args(op->b, OP_ReverseSequence, VALUES(x, lengths),
                                       ARGS(INT_ARG("time_axis", 1), INT_ARG("batch_axis", 0))),
                                back);
  return tf_write(op, 0, false, y);
}

/* DEPTH_TO_SPACE, SPACE_TO_DEPTH: block_size is option 0; the block is the outer part of the
 * channels. ONNX's SpaceToDepth has the same order, its DepthToSpace with mode DCR. */
hone_status tf_depth_to_space(struct tf_op *op) {
  int64_t block;
  struct value *x;
  TRY(tf_arity(op, 1, 1, 1));
  TRY(tf_option(op, 0, FLAT_I32, 0, &block));
  TRY(tf_image(op, tf_in(op, 0), &x));
  return tf_write(
      op, 0, true,
      x_args(op->b, (enum op_id)op->kind->parameter, VALUES(x), ARGS(INT_ARG("blocksize", block))));
}

static hone_status read_blocks(struct tf_op *op, int rank, int64_t *blocks, int64_t *pairs,
                               size_t *spatial) {
  size_t pads;
  TRY(tf_ints(op, 1, HONE_MAX_RANK, blocks, spatial));
  TRY(tf_ints(op, 2, MOST_INTS, pairs, &pads));
  bool fits = pads == 2 * *spatial && (int)*spatial < rank && rank + (int)*spatial <= HONE_MAX_RANK;
  for (size_t i = 0; fits && i < *spatial; i++)
    fits = blocks[i] > 0 && pairs[2 * i] >= 0 && pairs[2 * i + 1] >= 0;
  if (fits) return HONE_OK;
  return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: the block shape or paddings do not match",
              op->kind->name);
}

/* Pad, split each spatial axis into (size / block, block), move blocks to the front, merge. */
hone_status tf_space_to_batch(struct tf_op *op) {
  int64_t blocks[HONE_MAX_RANK], pairs[MOST_INTS], pads[MOST_INTS] = {0}, dims[HONE_MAX_RANK];
  int64_t perm[HONE_MAX_RANK];
  size_t spatial, n = 0, p = 0;
  struct tf_tensor *in = tf_in(op, 0);
  struct value *x;
  TRY(tf_arity(op, 3, 3, 1));
  TRY(tf_value(op, in, &x));
  int rank = x->shape.rank;
  TRY(read_blocks(op, rank, blocks, pairs, &spatial));
  for (size_t i = 0; i < spatial; i++)
    pads[i + 1] = pairs[2 * i], pads[(size_t)rank + i + 1] = pairs[2 * i + 1];
  struct value *widths = x_list(op->b, pads, 2 * (size_t)rank);
  BUILD(op->b,
        x = x_3(op->b, OP_Pad, x, widths,
                x_scalar(op->b, x->dtype,
                         tf_is_quantised(in) ? (double)in->quantisation.zero_points[0] : 0)));
  dims[n++] = x->shape.dims[0];
  for (size_t i = 0; i < spatial; i++) {
    if (x->shape.dims[i + 1] % blocks[i])
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "the block does not divide the size");
    dims[n++] = x->shape.dims[i + 1] / blocks[i];
    dims[n++] = blocks[i];
  }
  for (int d = (int)spatial + 1; d < rank; d++) dims[n++] = x->shape.dims[d];
  BUILD(op->b, x = x_reshape(op->b, x, dims, (int)n));
  for (size_t i = 0; i < spatial; i++) perm[p++] = (int64_t)(2 * i + 2);
  perm[p++] = 0;
  for (size_t i = 0; i < spatial; i++) perm[p++] = (int64_t)(2 * i + 1);
  while (p < n) perm[p] = (int64_t)p, p++;
  BUILD(op->b, x = x_transpose(op->b, x, perm));
  size_t out = 0;
  int64_t joined[HONE_MAX_RANK];
  joined[out] = 1;
  for (size_t i = 0; i <= spatial; i++) joined[0] *= x->shape.dims[i];
  out++;
  for (size_t d = spatial + 1; d < n; d++) joined[out++] = x->shape.dims[d];
  return tf_write(op, 0, false, x_reshape(op->b, x, joined, (int)out));
}

/* The inverse: move blocks from the front after their spatial axes, merge, crop. */
hone_status tf_batch_to_space(struct tf_op *op) {
  int64_t blocks[HONE_MAX_RANK], pairs[MOST_INTS], dims[HONE_MAX_RANK], perm[HONE_MAX_RANK];
  size_t spatial, n = 0, p = 0, out = 0;
  struct slice slice;
  struct value *x;
  TRY(tf_arity(op, 3, 3, 1));
  TRY(tf_value(op, tf_in(op, 0), &x));
  int rank = x->shape.rank;
  TRY(read_blocks(op, rank, blocks, pairs, &spatial));
  int64_t batch = x->shape.dims[0];
  for (size_t i = 0; i < spatial; i++) {
    if (batch % blocks[i])
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "the blocks do not divide the batch");
    dims[n++] = blocks[i];
    batch /= blocks[i];
  }
  dims[n++] = batch;
  for (int d = 1; d < rank; d++) dims[n++] = x->shape.dims[d];
  BUILD(op->b, x = x_reshape(op->b, x, dims, (int)n));
  perm[p++] = (int64_t)spatial;
  for (size_t i = 0; i < spatial; i++) {
    perm[p++] = (int64_t)(spatial + 1 + i);
    perm[p++] = (int64_t)i;
  }
  while (p < n) perm[p] = (int64_t)p, p++;
  BUILD(op->b, x = x_transpose(op->b, x, perm));
  int64_t joined[HONE_MAX_RANK];
  joined[out++] = batch;
  for (size_t i = 0; i < spatial; i++)
    joined[out++] = x->shape.dims[1 + 2 * i] * x->shape.dims[2 + 2 * i];
  for (size_t d = 1 + 2 * spatial; d < n; d++) joined[out++] = x->shape.dims[d];
  BUILD(op->b, x = x_reshape(op->b, x, joined, (int)out));
  for (int d = 0; d < rank; d++) {
    bool is_spatial = d >= 1 && d <= (int)spatial;
    slice.starts[d] = is_spatial ? pairs[2 * (d - 1)] : 0;
    slice.ends[d] = x->shape.dims[d] - (is_spatial ? pairs[2 * (d - 1) + 1] : 0);
    slice.steps[d] = 1;
    if (slice.ends[d] < slice.starts[d])
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "the crops exceed the size");
  }
  return tf_write(op, 0, false, make_slice(op, x, &slice, false));
}

/* ONE_HOT: indices, depth, on, off; option 0: axis. */
hone_status tf_one_hot(struct tf_op *op) {
  int64_t axis;
  struct value *indices, *depth, *on, *off;
  static const int64_t one[] = {1};
  TRY(tf_arity(op, 4, 4, 1));
  TRY(tf_option(op, 0, FLAT_I32, 0, &axis));
  TRY(tf_value(op, tf_in(op, 0), &indices));
  TRY(tf_read_i64(op, 1, &depth));
  TRY(tf_value(op, tf_in(op, 2), &on));
  TRY(tf_value(op, tf_in(op, 3), &off));
  on = x_reshape(op->b, on, one, 1);
  struct value *values = x_concat(op->b, 0, VALUES(x_reshape(op->b, off, one, 1), on));
  /* an index out of range gives no one; ONNX counts negative ones from the end */
  indices = x_cast(op->b, indices, HONE_I64);
  indices = x_3(op->b, OP_Where, x_2(op->b, OP_Less, indices, x_scalar(op->b, HONE_I64, 0)), depth,
                indices);
  return tf_write(
      op, 0, false,
      x_args(op->b, OP_OneHot, VALUES(indices, depth, values), ARGS(INT_ARG("axis", axis))));
}

hone_status tf_topk(struct tf_op *op) {
  struct value *x, *k, *outs[2];
  static const int64_t one[] = {1};
  TRY(tf_arity(op, 2, 2, 2));
  TRY(tf_value(op, tf_in(op, 0), &x));
  TRY(tf_read_i64(op, 1, &k));
  k = x_reshape(op->b, k, one, 1);
  BUILD(op->b, x_nodes(op->b, OP_TopK, VALUES(x, k), ARGS(INT_ARG("axis", -1)), 2, outs));
  BUILD(op->b, outs[1] = x_cast(op->b, outs[1], tf_out(op, 1)->dtype));
  TRY(tf_write(op, 0, false, outs[0]));
  return tf_write(op, 1, false, outs[1]);
}

/* DILATE: x, distances, a number: distance[d] - 1 copies of the number between neighbours along
 * axis d. */
hone_status tf_dilate(struct tf_op *op) {
  int64_t steps[HONE_MAX_RANK], dims[HONE_MAX_RANK + 1], pads[2 * (HONE_MAX_RANK + 1)];
  size_t count;
  struct value *x, *fill;
  TRY(tf_arity(op, 3, 3, 1));
  TRY(tf_ints(op, 1, HONE_MAX_RANK, steps, &count));
  TRY(tf_value(op, tf_in(op, 0), &x));
  TRY(tf_value(op, tf_in(op, 2), &fill));
  if (fill->shape.rank) fill = x_reshape(op->b, fill, NULL, 0);
  const int rank = x->shape.rank;
  if ((int)count != rank || rank >= HONE_MAX_RANK)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "DILATE of rank %d by %zu numbers", rank,
                count);
  for (int d = 0; d < rank; d++) {
    struct value *starts;
    int64_t n = x->shape.dims[d], joined;
    if (steps[d] < 1 || !checked_mul(n, steps[d], &joined))
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "DILATE by %lld", (long long)steps[d]);
    if (steps[d] == 1 || n < 2) continue;
    memset(pads, 0, sizeof pads);
    for (int k = 0; k <= rank; k++)
      dims[k] = k <= d ? x->shape.dims[k] : k == d + 1 ? 1 : x->shape.dims[k - 1];
    BUILD(op->b, x = x_reshape(op->b, x, dims, rank + 1));
    pads[rank + 1 + d + 1] = steps[d] - 1;
    BUILD(op->b, x = x_3(op->b, OP_Pad, x, x_list(op->b, pads, 2 * ((size_t)rank + 1)), fill));
    for (int k = d + 1; k < rank; k++) dims[k] = dims[k + 1];
    dims[d] = joined;
    BUILD(op->b, x = x_reshape(op->b, x, dims, rank));
    starts = x_list(op->b, (const int64_t[]){0}, 1);
    BUILD(op->b,
          x = x_op(op->b, OP_Slice,
                   VALUES(x, starts, x_list(op->b, (const int64_t[]){joined - steps[d] + 1}, 1),
                          x_list(op->b, (const int64_t[]){d}, 1))));
  }
  return tf_write(op, 0, false, x);
}
