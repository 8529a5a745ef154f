/* crop-kernels: drops kernel positions of a convolution that meet only padding: a dilation as wide
 * as the image (DeepLab's pyramids) or an image of one pixel leaves the middle of nine. Not where
 * images may be smaller at run time: other positions would be left.
 */
#include "rewrite.h"

#include "core/ops/operators/window.h"

struct crop {
  int64_t first[HONE_MAX_RANK], count[HONE_MAX_RANK]; /* per spatial dimension */
};

/* True if kernel position k of spatial dimension d meets an element for some output. Such
   positions are adjacent. */
static bool is_met(const struct window *w, int d, int64_t k) {
  const int64_t at = k * w->dilation[d] - w->pad_begin[d]; /* the input index of output 0 */
  const int64_t o = at < 0 ? (-at + w->stride[d] - 1) / w->stride[d] : 0;
  return o < w->out[d] && at + o * w->stride[d] < w->in[d];
}

/* False: nothing to drop. The window becomes that of the smaller kernel. */
static bool find_crop(struct window *w, struct crop *out) {
  bool is_smaller = false;
  for (int d = 0; d < w->rank; d++) {
    int64_t first = 0, last = w->kernel[d] - 1;
    while (first < last && !is_met(w, d, first)) first++;
    while (last > first && !is_met(w, d, last)) last--;
    const int64_t begin = w->pad_begin[d] - first * w->dilation[d];
    const int64_t end = w->pad_end[d] - (w->kernel[d] - 1 - last) * w->dilation[d];
    out->first[d] = 0;
    out->count[d] = w->kernel[d];
    if (begin < 0 || end < 0) continue; /* some elements are not used by any output */
    is_smaller |= last - first + 1 < w->kernel[d];
    out->first[d] = first;
    out->count[d] = w->kernel[d] = last - first + 1;
    w->pad_begin[d] = begin;
    w->pad_end[d] = end;
  }
  return is_smaller;
}

/* w[.., first:first + count] of the spatial dimensions. */
static hone_status crop_weights(struct rewrite *r, const struct value *w, const struct crop *crop,
                                struct value **out) {
  const int rank = w->shape.rank - 2;
  const int64_t *dims = w->shape.dims + 2;
  const size_t element = w->constant->bytes / tensor_count(w->constant);
  struct shape shape = w->shape;
  int64_t rows, inner = 1, at[HONE_MAX_RANK] = {0};
  for (int d = 0; d < rank; d++) shape.dims[2 + d] = crop->count[d];
  TRY(rewrite_constant(r, w->dtype, &shape, out));
  const char *from = w->constant->data;
  char *to = (char *)(uintptr_t)(*out)->constant->data;
  for (int d = 0; d < rank; d++) inner *= dims[d];
  const size_t run = element * (size_t)crop->count[rank - 1];
  for (rows = (int64_t)(*out)->constant->bytes / (int64_t)run; rows > 0; rows--, to += run) {
    int64_t offset = 0;
    for (int d = 0; d < rank; d++) offset = offset * dims[d] + crop->first[d] + at[d];
    memcpy(to, from + (size_t)offset * element, run);
    int d = rank - 2;
    while (d >= 0 && ++at[d] == crop->count[d]) at[d--] = 0;
    if (d < 0) from += (size_t)inner * element; /* the next plane */
  }
  return HONE_OK;
}

static bool is_closed(const struct value *x) {
  for (int d = 2; d < x->shape.rank; d++)
    if (x->extents[d]) return false;
  return true;
}

static hone_status visit(struct rewrite *r, struct node *node) {
  struct window window;
  struct crop crop;
  struct value *in[4];
  int64_t pads[2 * HONE_MAX_RANK];
  if (!is_op(node, OP_Conv) && !is_op(node, OP_ConvInteger)) return HONE_OK;
  struct value *w = node->inputs[1];
  if (!w->constant || dtype_bits(w->dtype) % 8 || !is_closed(node->inputs[0])) return HONE_OK;
  TRY(window_plan(r->ctx, node, &node->inputs[0]->shape, w->shape.dims + 2, &window));
  if (!find_crop(&window, &crop)) return HONE_OK;
  for (size_t k = 0; k < node->input_count; k++) in[k] = node->inputs[k];
  TRY(crop_weights(r, w, &crop, &in[1]));
  const size_t rank = (size_t)window.rank;
  memcpy(pads, window.pad_begin, rank * sizeof *pads);
  memcpy(pads + rank, window.pad_end, rank * sizeof *pads);
  const struct attribute *args =
      ARGS(INTS_ARG("kernel_shape", window.kernel, rank), INTS_ARG("pads", pads, 2 * rank),
           INTS_ARG("strides", window.stride, rank), INTS_ARG("dilations", window.dilation, rank),
           INT_ARG("group", node_int(node, "group", 1)));
  return rewrite_replace(r, node->outputs[0],
                         x_args(r->b, node->op->id, in, node->input_count, args));
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_crop_kernels(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return graph->is_open_inside ? HONE_OK : rewrite_nodes(ctx, graph, visit, out_changes);
}
