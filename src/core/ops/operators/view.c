/* Helpers of the movement, indexed and generator families: checked indices and copied elements. */
#include "view.h"

static void copy_run(char *to, int64_t to_stride, const char *from, int64_t from_stride,
                     int64_t count, size_t size) {
  if (to_stride == 1 && from_stride == 1) {
    memcpy(to, from, (size_t)count * size);
    return;
  }
  int64_t bytes = (int64_t)size;
  for (int64_t i = 0; i < count; i++)
    memcpy(to + i * to_stride * bytes, from + i * from_stride * bytes, size);
}

void view_copy(const struct view *view, void *to, const void *from, size_t size) {
  int64_t at[VIEW_RANK] = {0}, i = 0, o = 0, bytes = (int64_t)size;
  for (int k = 0; k < view->rank; k++)
    if (view->dims[k] <= 0) return;
  int last = view->rank - 1;
  for (;;) {
    if (last < 0)
      memcpy(to, from, size);
    else
      copy_run((char *)to + o * bytes, view->to[last], (const char *)from + i * bytes,
               view->from[last], view->dims[last], size);
    int k = last - 1;
    for (; k >= 0; k--) {
      i += view->from[k];
      o += view->to[k];
      if (++at[k] < view->dims[k]) break;
      i -= view->from[k] * view->dims[k];
      o -= view->to[k] * view->dims[k];
      at[k] = 0;
    }
    if (k < 0) return;
  }
}

hone_status movable_bytes(struct ctx *ctx, const struct node *node, hone_dtype dtype,
                          size_t *out_bytes) {
  *out_bytes = element_bytes(dtype);
  /* node_evaluate has unpacked it */
  if (dtype_bits(dtype) && dtype_bits(dtype) < 8) *out_bytes = 1;
  if (*out_bytes == 0)
    return fail(ctx, HONE_E_TYPE, node_place(node), "%s cannot move elements of type %s",
                node->op->name, dtype_name(dtype));
  return HONE_OK;
}

hone_status tensor_ints(struct ctx *ctx, const struct node *node, size_t k,
                        const struct tensor *tensor, size_t max, int64_t *out, size_t *out_count) {
  if (!tensor)
    return fail(ctx, HONE_E_UNSUP, node_place(node),
                "input %zu of %s must be a constant: it is known only at run time", k,
                node->op->name);
  if (!tensor_read_ints(tensor, max, out, out_count))
    return fail(ctx, HONE_E_TYPE, node_place(node),
                "input %zu of %s must be at most %zu integers, got %zu elements of type %s", k,
                node->op->name, max, tensor_count(tensor), dtype_name(tensor->dtype));
  return HONE_OK;
}

void node_constants(const struct node *node, const struct tensor *out[CONSTANTS_MAX]) {
  for (size_t k = 0; k < CONSTANTS_MAX; k++) {
    const struct value *value = node_input(node, k);
    out[k] = value ? value->constant : NULL;
  }
}

hone_status node_index(struct ctx *ctx, const struct node *node, int64_t i, int64_t dim,
                       int64_t *out) {
  if (i < -dim || i >= dim)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "index %lld is outside [%lld, %lld)",
                (long long)i, -(long long)dim, (long long)dim);
  *out = i < 0 ? i + dim : i;
  return HONE_OK;
}
