/* Views: a buffer, an offset and a stride per logical dimension. Pure functions. */
#include "plan.h"

size_t dtype_bytes(hone_dtype dtype) {
  return dtype == HONE_STRING ? STRING_BYTES : dtype_bits(dtype) / 8;
}

size_t dense_bytes(hone_dtype dtype, int64_t elements) {
  size_t bits = dtype_bits(dtype), count = (size_t)elements;
  if (dtype == HONE_STRING) return count * STRING_BYTES;
  return bits < 8 ? (count * bits + 7) / 8 : count * (bits / 8);
}

void view_dense(struct view *view, struct buffer *buffer, hone_dtype dtype,
                const struct shape *shape) {
  *view = (struct view){.buffer = buffer, .dtype = dtype, .shape = *shape};
  shape_strides(shape, view->stride);
}

bool view_is_open(const struct view *view) {
  for (int d = 0; d < view->shape.rank; d++)
    if (view->extents[d]) return true;
  return false;
}

struct slope view_slope(const struct view *view, int d) {
  return view->slope ? view->slope[d] : (struct slope){0};
}

bool view_is_dense(const struct view *view) {
  int64_t expected = 1;
  for (int i = view->shape.rank; i-- > 0;) {
    if (view->shape.dims[i] != 1 && view->stride[i] != expected) return false;
    expected *= view->shape.dims[i];
  }
  return true;
}

void view_channels_last(struct view *view, struct buffer *buffer, hone_dtype dtype,
                        const struct shape *shape) {
  view_dense(view, buffer, dtype, shape);
  int64_t stride = 1;
  view->stride[1] = stride;
  stride *= shape->dims[1];
  for (int i = shape->rank; i-- > 2;) {
    view->stride[i] = stride;
    stride *= shape->dims[i];
  }
  view->stride[0] = stride;
}

bool view_is_packed(const struct view *view) {
  int order[HONE_MAX_RANK];
  int64_t expected = 1;
  view_order(view, order);
  for (int i = view->shape.rank; i-- > 0;) {
    int d = order[i];
    if (view->shape.dims[d] == 1) continue;
    if (view->stride[d] != expected) return false;
    expected *= view->shape.dims[d];
  }
  return true;
}

bool view_same_strides(const struct view *a, const struct view *b) {
  if (!shape_equal(&a->shape, &b->shape)) return false;
  for (int i = 0; i < a->shape.rank; i++)
    if (a->shape.dims[i] != 1 && a->stride[i] != b->stride[i]) return false;
  return true;
}

bool view_is_channels_last(const struct view *view) {
  struct view wanted;
  if (view->shape.rank < 3) return false;
  view_channels_last(&wanted, NULL, view->dtype, &view->shape);
  return view_same_strides(view, &wanted);
}

bool view_runs_channels_last(const struct view *view) {
  struct view wanted, dense;
  int order[HONE_MAX_RANK], last[HONE_MAX_RANK], first[HONE_MAX_RANK];
  if (view->shape.rank < 3) return false;
  view_channels_last(&wanted, NULL, view->dtype, &view->shape);
  view_dense(&dense, NULL, view->dtype, &view->shape);
  view_order(view, order);
  view_order(&wanted, last);
  view_order(&dense, first);
  const size_t bytes = (size_t)view->shape.rank * sizeof *order;
  return !memcmp(order, last, bytes) && memcmp(order, first, bytes);
}

/* Merges the source's dimensions as far as memory allows, then splits them into the new ones. */
bool view_reshape(const struct view *view, const struct shape *shape, struct view *out) {
  int64_t size[HONE_MAX_RANK], stride[HONE_MAX_RANK];
  int count = 0;
  int64_t elements = 1;
  for (int i = 0; i < view->shape.rank; i++) {
    int64_t d = view->shape.dims[i];
    elements *= d;
    if (d == 1) continue;
    if (count && stride[count - 1] == view->stride[i] * d) {
      size[count - 1] *= d;
      stride[count - 1] = view->stride[i];
    } else {
      size[count] = d;
      stride[count++] = view->stride[i];
    }
  }
  struct view result = {.buffer = view->buffer,
                        .dtype = view->dtype,
                        .shape = *shape,
                        .offset = view->offset,
                        .offset_slope = view->offset_slope};
  if (!elements) {
    shape_strides(shape, result.stride);
    *out = result;
    return true;
  }
  int k = count - 1;
  int64_t left = k >= 0 ? size[k] : 1, inner = k >= 0 ? stride[k] : 1;
  for (int i = shape->rank; i-- > 0;) {
    int64_t d = shape->dims[i];
    if (d == 1) {
      result.stride[i] = 0;
      continue;
    }
    if (left == 1) {
      if (--k < 0) return false;
      left = size[k];
      inner = stride[k];
    }
    if (left % d) return false;
    result.stride[i] = inner;
    inner *= d;
    left /= d;
  }
  if (left != 1 || k > 0) return false;
  *out = result;
  return true;
}

void view_broadcast(const struct view *view, const struct shape *shape, struct view *out) {
  struct view result = {
      .buffer = view->buffer, .dtype = view->dtype, .shape = *shape, .offset = view->offset};
  int shift = shape->rank - view->shape.rank;
  result.offset_slope = view->offset_slope;
  /* otherwise the shape that it is broadcast to defines the dynamic dimensions */
  if (!shift) result.slope = view->slope;
  for (int i = 0; i < view->shape.rank; i++)
    result.stride[i + shift] = view->shape.dims[i] == 1 ? 0 : view->stride[i];
  *out = result;
}

void view_order(const struct view *view, int order[HONE_MAX_RANK]) {
  int rank = view->shape.rank;
  for (int i = 0; i < rank; i++) {
    int j = i;
    int64_t size = view->stride[i] < 0 ? -view->stride[i] : view->stride[i];
    /* a dimension of 1 keeps its logical position: it never moves another one */
    for (; j > 0 && view->shape.dims[i] != 1; j--) {
      int before = order[j - 1];
      int64_t other = view->stride[before] < 0 ? -view->stride[before] : view->stride[before];
      if (view->shape.dims[before] != 1 && other >= size) break;
      order[j] = before;
    }
    order[j] = i;
  }
}
