/* Contractions and windows: dot_general, convolution, reduce_window; gather and scatter. */
#include "core/ops/operators/window.h"
#include "stablehlo.h"

#include <math.h>

/* -- matrix products */

struct term hlo_dot(struct hlo *h, struct term a, struct term b, int batch, int ka, int kb) {
  struct shape shape = {0};
  struct strbuf attributes = {0};
  for (int d = 0; d < a.shape.rank; d++)
    if (d != ka) shape.dims[shape.rank++] = a.shape.dims[d];
  for (int d = batch; d < b.shape.rank; d++)
    if (d != kb) shape.dims[shape.rank++] = b.shape.dims[d];
  strbuf_puts(&attributes, "dot_dimension_numbers = #stablehlo.dot<");
  for (int side = 0; side < 2 && batch; side++) {
    strbuf_printf(&attributes, "%s_batching_dimensions = [", side ? "rhs" : "lhs");
    for (int d = 0; d < batch; d++) strbuf_printf(&attributes, "%s%d", d ? ", " : "", d);
    strbuf_puts(&attributes, "], ");
  }
  strbuf_printf(&attributes,
                "lhs_contracting_dimensions = [%d], rhs_contracting_dimensions = [%d]>", ka, kb);
  const struct term result = hlo_op(h, "stablehlo.dot_general", (struct term[]){a, b}, 2,
                                    attributes.at ? attributes.at : "", NULL, a.dtype, &shape);
  if (attributes.failed) h->out->failed = true;
  strbuf_deinit(&attributes);
  return result;
}

hone_status hlo_gemm(struct hlo *h, const struct node *node) {
  struct term a, b, c;
  TRY(hlo_input(h, node, 0, &a));
  TRY(hlo_input(h, node, 1, &b));
  const double alpha = node_float(node, "alpha", 1), beta = node_float(node, "beta", 1);
  struct term y =
      hlo_dot(h, a, b, 0, node_int(node, "transA", 0) ? 0 : 1, node_int(node, "transB", 0) ? 1 : 0);
  if (alpha != 1)
    y = hlo_binary(h, "stablehlo.multiply", y, hlo_splat(h, alpha, y.dtype, &y.shape));
  if (node_input(node, 2)) {
    TRY(hlo_input(h, node, 2, &c));
    c = hlo_broadcast(h, c, &y.shape);
    if (beta != 1)
      c = hlo_binary(h, "stablehlo.multiply", c, hlo_splat(h, beta, y.dtype, &y.shape));
    y = hlo_binary(h, "stablehlo.add", y, c);
  }
  hlo_bind(h, node, 0, y);
  return HONE_OK;
}

/* Leading dimensions are broadcast to common ones; a weight without leading dimensions stays one
 * matrix. */
hone_status hlo_multiply(struct hlo *h, const struct node *node, struct term a, struct term b,
                         struct term *out) {
  struct matmul_plan plan;
  TRY(matmul_plan(h->ctx, node, &a.shape, &b.shape, &plan));
  if (a.shape.rank == 1) a = hlo_reshape(h, a, &(struct shape){2, {1, a.shape.dims[0]}});
  if (b.shape.rank == 1) b = hlo_reshape(h, b, &(struct shape){2, {b.shape.dims[0], 1}});
  struct term y;
  if (b.shape.rank == 2) {
    y = hlo_dot(h, a, b, 0, a.shape.rank - 1, 0);
  } else {
    struct shape shape = plan.batch;
    shape.rank += 2;
    shape.dims[shape.rank - 2] = plan.m;
    shape.dims[shape.rank - 1] = plan.k;
    a = hlo_broadcast(h, a, &shape);
    shape.dims[shape.rank - 2] = plan.k;
    shape.dims[shape.rank - 1] = plan.n;
    b = hlo_broadcast(h, b, &shape);
    y = hlo_dot(h, a, b, plan.batch.rank, shape.rank - 1, shape.rank - 2);
  }
  *out = hlo_reshape(h, y, &node->outputs[0]->shape);
  return HONE_OK;
}

hone_status hlo_matmul(struct hlo *h, const struct node *node) {
  struct term a, b, y;
  TRY(hlo_input(h, node, 0, &a));
  TRY(hlo_input(h, node, 1, &b));
  TRY(hlo_multiply(h, node, a, b, &y));
  hlo_bind(h, node, 0, y);
  return HONE_OK;
}

/* -- windows */

/* "dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>", with `before` rows of zeros in front. */
static void put_padding(struct strbuf *out, const struct window *w, int before) {
  strbuf_puts(out, "dense<[");
  for (int d = 0; d < before; d++) strbuf_puts(out, "[0, 0], ");
  for (int d = 0; d < w->rank; d++)
    strbuf_printf(out, "%s[%lld, %lld]", d ? ", " : "", (long long)w->pad_begin[d],
                  (long long)w->pad_end[d]);
  strbuf_printf(out, "]> : tensor<%dx2xi64>", before + w->rank);
}

static void put_layout(struct strbuf *out, const char *first, const char *second, int rank) {
  strbuf_printf(out, "[%s, %s", first, second);
  for (int d = 0; d < rank; d++) strbuf_printf(out, ", %d", d);
  strbuf_puts(out, "]");
}

/* Strides, padding and dilations of the window; elements of x are lhs_dilation apart. kernel: the
 * order of the weights' first two dimensions, "oi" or "io". */
static struct term put_conv(struct hlo *h, struct term x, struct term w,
                            const struct window *window, const int64_t *lhs_dilation,
                            const char *kernel, int64_t groups, const struct shape *shape) {
  const char first[] = {kernel[0], 0}, second[] = {kernel[1], 0};
  struct strbuf attributes = {0};
  strbuf_puts(&attributes, "window_strides = ");
  hlo_put_ints(&attributes, window->stride, window->rank);
  strbuf_puts(&attributes, ", padding = ");
  put_padding(&attributes, window, 0);
  strbuf_puts(&attributes, ", lhs_dilation = ");
  hlo_put_ints(&attributes, lhs_dilation, window->rank);
  strbuf_puts(&attributes, ", rhs_dilation = ");
  hlo_put_ints(&attributes, window->dilation, window->rank);
  strbuf_puts(&attributes, ", dimension_numbers = #stablehlo.conv<");
  put_layout(&attributes, "b", "f", window->rank);
  strbuf_puts(&attributes, "x");
  put_layout(&attributes, first, second, window->rank);
  strbuf_puts(&attributes, "->");
  put_layout(&attributes, "b", "f", window->rank);
  strbuf_printf(&attributes, ">, feature_group_count = %lld : i64, batch_group_count = 1 : i64",
                (long long)groups);
  const struct term y = hlo_op(h, "stablehlo.convolution", (struct term[]){x, w}, 2,
                               attributes.at ? attributes.at : "", NULL, x.dtype, shape);
  if (attributes.failed) h->out->failed = true;
  strbuf_deinit(&attributes);
  return y;
}

static hone_status bind_with_bias(struct hlo *h, const struct node *node, struct term y) {
  const int64_t channel = 1;
  struct term bias;
  if (node_input(node, 2)) {
    TRY(hlo_input(h, node, 2, &bias));
    y = hlo_binary(h, "stablehlo.add", y, hlo_broadcast_dims(h, bias, &channel, &y.shape));
  }
  hlo_bind(h, node, 0, y);
  return HONE_OK;
}

hone_status hlo_convolve(struct hlo *h, const struct node *node, struct term x, struct term w,
                         struct term *out) {
  struct window window;
  const int64_t ones[HONE_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  TRY(window_plan(h->ctx, node, &x.shape, w.shape.dims + 2, &window));
  window_fit_padding(&window);
  *out =
      put_conv(h, x, w, &window, ones, "oi", node_int(node, "group", 1), &node->outputs[0]->shape);
  return HONE_OK;
}

hone_status hlo_conv(struct hlo *h, const struct node *node) {
  struct term x, w, y;
  TRY(hlo_input(h, node, 0, &x));
  TRY(hlo_input(h, node, 1, &w));
  TRY(hlo_convolve(h, node, x, w, &y));
  return bind_with_bias(h, node, y);
}

/* Weights [in, out / groups, ..] as [in / groups, out, ..]. */
static struct term grouped(struct hlo *h, struct term w, int64_t groups) {
  struct shape split = w.shape, joined = w.shape;
  int64_t order[HONE_MAX_RANK] = {1, 0};
  if (groups == 1) return w;
  split.rank++;
  memmove(split.dims + 1, w.shape.dims, (size_t)w.shape.rank * sizeof *split.dims);
  split.dims[0] = groups;
  split.dims[1] /= groups;
  for (int d = 2; d < split.rank; d++) order[d] = d;
  joined.dims[0] /= groups;
  joined.dims[1] *= groups;
  return hlo_reshape(h, hlo_transpose(h, hlo_reshape(h, w, &split), order), &joined);
}

/* A convolution over x with zeros between its elements, with reversed weights. */
hone_status hlo_conv_transpose(struct hlo *h, const struct node *node) {
  const int64_t groups = node_int(node, "group", 1);
  struct term x, w;
  struct window window;
  TRY(hlo_input(h, node, 0, &x));
  TRY(hlo_input(h, node, 1, &w));
  TRY(window_plan_transposed(h->ctx, node, &x.shape, w.shape.dims + 2, &window));
  if (w.shape.rank >= HONE_MAX_RANK)
    return fail(h->ctx, HONE_E_UNSUP, node_place(node), "StableHLO: too many dimensions");
  struct window plain = window;
  for (int d = 0; d < window.rank; d++) {
    const int64_t reach = (window.kernel[d] - 1) * window.dilation[d];
    plain.stride[d] = 1;
    plain.pad_begin[d] = reach - window.pad_begin[d];
    plain.pad_end[d] =
        window.out[d] - (window.in[d] - 1) * window.stride[d] - 1 - plain.pad_begin[d] + reach;
    w = hlo_reverse(h, w, 2 + d);
  }
  return bind_with_bias(h, node,
                        put_conv(h, x, grouped(h, w, groups), &plain, window.stride, "io", groups,
                                 &node->outputs[0]->shape));
}

static struct term put_window(struct hlo *h, struct term x, const struct window *w, const char *op,
                              double start, const struct shape *shape) {
  struct strbuf attributes = {0}, region = {0};
  const struct shape scalar = {0};
  int64_t sizes[HONE_MAX_RANK] = {1, 1}, strides[HONE_MAX_RANK] = {1, 1};
  int64_t dilations[HONE_MAX_RANK] = {1, 1}, ones[HONE_MAX_RANK] = {1, 1};
  for (int d = 0; d < w->rank; d++) {
    sizes[2 + d] = w->kernel[d];
    strides[2 + d] = w->stride[d];
    dilations[2 + d] = w->dilation[d];
    ones[2 + d] = 1;
  }
  const struct term first = hlo_splat(h, start, x.dtype, &scalar);
  strbuf_puts(&attributes, "window_dimensions = ");
  hlo_put_ints(&attributes, sizes, w->rank + 2);
  strbuf_puts(&attributes, ", window_strides = ");
  hlo_put_ints(&attributes, strides, w->rank + 2);
  strbuf_puts(&attributes, ", base_dilations = ");
  hlo_put_ints(&attributes, ones, w->rank + 2);
  strbuf_puts(&attributes, ", window_dilations = ");
  hlo_put_ints(&attributes, dilations, w->rank + 2);
  strbuf_puts(&attributes, ", padding = ");
  put_padding(&attributes, w, 2);
  hlo_put_region(&region, op, x.dtype);
  const struct term result =
      hlo_op(h, "stablehlo.reduce_window", (struct term[]){x, first}, 2,
             attributes.at ? attributes.at : "", region.at ? region.at : "", x.dtype, shape);
  if (attributes.failed || region.failed) h->out->failed = true;
  strbuf_deinit(&attributes);
  strbuf_deinit(&region);
  return result;
}

hone_status hlo_max_pool(struct hlo *h, const struct node *node) {
  struct term x;
  struct window window;
  TRY(hlo_input(h, node, 0, &x));
  if (node->output_count > 1 && node->outputs[1])
    return fail(h->ctx, HONE_E_UNSUP, node_place(node),
                "StableHLO: indices of MaxPool have no rule");
  TRY(window_plan(h->ctx, node, &x.shape, NULL, &window));
  window_fit_padding(&window);
  hlo_bind(h, node, 0,
           put_window(h, x, &window, "stablehlo.maximum", -INFINITY, &node->outputs[0]->shape));
  return HONE_OK;
}

/* The divisor, the number of elements in each window, is the same sum over ones. */
hone_status hlo_average_pool(struct hlo *h, const struct node *node) {
  struct term x;
  struct window window;
  const struct shape *shape = &node->outputs[0]->shape;
  TRY(hlo_input(h, node, 0, &x));
  TRY(window_plan(h->ctx, node, &x.shape, NULL, &window));
  const bool counts_padding = node_int(node, "count_include_pad", 0) != 0;
  if (counts_padding && node_int(node, "ceil_mode", 0))
    return fail(h->ctx, HONE_E_UNSUP, node_place(node),
                "StableHLO: AveragePool with ceil_mode and count_include_pad has no rule");
  window_fit_padding(&window);
  const struct term sum = put_window(h, x, &window, "stablehlo.add", 0, shape);
  struct term count = hlo_splat(h, (double)window_kernel_count(&window), x.dtype, shape);
  if (!counts_padding)
    count = put_window(h, hlo_splat(h, 1, x.dtype, &x.shape), &window, "stablehlo.add", 0, shape);
  hlo_bind(h, node, 0, hlo_binary(h, "stablehlo.divide", sum, count));
  return HONE_OK;
}

/* -- data-dependent indices */

/* Negative ones count from the end. */
static struct term put_places(struct hlo *h, struct term x, int64_t size) {
  const struct term zero = hlo_splat(h, 0, x.dtype, &x.shape);
  const struct term moved =
      hlo_binary(h, "stablehlo.add", x, hlo_splat(h, (double)size, x.dtype, &x.shape));
  return hlo_select(h, hlo_compare(h, "LT", x, zero), moved, x);
}

static void put_run(struct strbuf *out, int from, int to) {
  for (int d = from; d < to; d++) strbuf_printf(out, "%s%d", d > from ? ", " : "", d);
}

struct term hlo_take(struct hlo *h, struct term x, struct term at, int axis,
                     const struct shape *shape) {
  struct strbuf attributes = {0};
  int64_t sizes[HONE_MAX_RANK];
  for (int d = 0; d < x.shape.rank; d++) sizes[d] = d == axis ? 1 : x.shape.dims[d];
  strbuf_puts(&attributes, "dimension_numbers = #stablehlo.gather<offset_dims = [");
  put_run(&attributes, 0, axis);
  if (axis && axis + 1 < x.shape.rank) strbuf_puts(&attributes, ", ");
  put_run(&attributes, axis + at.shape.rank, x.shape.rank - 1 + at.shape.rank);
  strbuf_printf(&attributes,
                "], collapsed_slice_dims = [%d], start_index_map = [%d], index_vector_dim = %d>, "
                "slice_sizes = ",
                axis, axis, at.shape.rank);
  hlo_put_ints(&attributes, sizes, x.shape.rank);
  strbuf_puts(&attributes, ", indices_are_sorted = false");
  const struct term y = hlo_op(h, "stablehlo.gather", (struct term[]){x, at}, 2,
                               attributes.at ? attributes.at : "", NULL, x.dtype, shape);
  if (attributes.failed) h->out->failed = true;
  strbuf_deinit(&attributes);
  return y;
}

hone_status hlo_gather(struct hlo *h, const struct node *node) {
  struct term x, at;
  int axis;
  TRY(hlo_input(h, node, 0, &x));
  TRY(hlo_input(h, node, 1, &at));
  TRY(axis_attribute(h->ctx, node, "axis", 0, x.shape.rank, &axis));
  at = put_places(h, at, x.shape.dims[axis]);
  hlo_bind(h, node, 0, hlo_take(h, x, at, axis, &node->outputs[0]->shape));
  return HONE_OK;
}

/* The index of each element along an axis, as an additional last dimension. */
static struct term column_of(struct hlo *h, int axis, hone_dtype dtype, const struct shape *shape) {
  struct shape column = *shape;
  column.dims[column.rank++] = 1;
  return hlo_reshape(h, hlo_iota(h, axis, dtype, shape), &column);
}

/* The full index of each update: its own position, with the given index along the axis. */
static struct term put_index_vectors(struct hlo *h, struct term at, int axis) {
  struct shape column = at.shape;
  struct term parts[HONE_MAX_RANK];
  column.dims[column.rank++] = 1;
  for (int d = 0; d < at.shape.rank; d++)
    parts[d] = d == axis ? hlo_reshape(h, at, &column) : column_of(h, d, at.dtype, &at.shape);
  return hlo_join(h, parts, (size_t)at.shape.rank, at.shape.rank);
}

/* at [.., length]: destination of each update along the first `length` axes of x; the update has
 * all other axes. */
static hone_status put_scatter(struct hlo *h, const struct node *node, struct term x,
                               struct term at, struct term updates) {
  static const struct {
    const char *reduction, *op;
  } ways[] = {{"none", NULL},
              {"add", "stablehlo.add"},
              {"mul", "stablehlo.multiply"},
              {"max", "stablehlo.maximum"},
              {"min", "stablehlo.minimum"}};
  const int rows = at.shape.rank - 1, length = (int)at.shape.dims[rows];
  size_t way = 0;
  while (way < COUNT(ways) && strcmp(ways[way].reduction, node_string(node, "reduction", "none")))
    way++;
  if (way == COUNT(ways))
    return fail(h->ctx, HONE_E_UNSUP, node_place(node), "StableHLO: this reduction has no rule");
  struct strbuf attributes = {0}, region = {0};
  strbuf_puts(&attributes, "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [");
  put_run(&attributes, rows, updates.shape.rank);
  strbuf_puts(&attributes, "], inserted_window_dims = [");
  put_run(&attributes, 0, length);
  strbuf_puts(&attributes, "], scatter_dims_to_operand_dims = [");
  put_run(&attributes, 0, length);
  strbuf_printf(&attributes,
                "], index_vector_dim = %d>, indices_are_sorted = false, unique_indices = false",
                rows);
  hlo_put_region(&region, ways[way].op, x.dtype);
  hlo_bind(
      h, node, 0,
      hlo_op(h, "stablehlo.scatter", (struct term[]){x, at, updates}, 3,
             attributes.at ? attributes.at : "", region.at ? region.at : "", x.dtype, &x.shape));
  if (attributes.failed || region.failed) h->out->failed = true;
  strbuf_deinit(&attributes);
  strbuf_deinit(&region);
  return HONE_OK;
}

hone_status hlo_scatter_elements(struct hlo *h, const struct node *node) {
  struct term x, at, updates;
  int axis;
  TRY(hlo_input(h, node, 0, &x));
  TRY(hlo_input(h, node, 1, &at));
  TRY(hlo_input(h, node, 2, &updates));
  TRY(axis_attribute(h->ctx, node, "axis", 0, x.shape.rank, &axis));
  if (x.shape.rank >= HONE_MAX_RANK)
    return fail(h->ctx, HONE_E_UNSUP, node_place(node), "StableHLO: too many dimensions");
  at = put_index_vectors(h, put_places(h, at, x.shape.dims[axis]), axis);
  return put_scatter(h, node, x, at, updates);
}

/* Input 1 as addresses [.., length] in x after its first `batch` axes, along which each has its own
 * index; negative entries count from the end of their axis. */
static hone_status put_addresses(struct hlo *h, const struct node *node, const struct shape *x,
                                 int batch, struct term *out) {
  struct term at, sizes, parts[HONE_MAX_RANK + 1];
  struct tensor *dims;
  TRY(hlo_input(h, node, 1, &at));
  const int last = at.shape.rank - 1;
  const int64_t length = at.shape.dims[last];
  TRY(tensor_create(h->ctx, h->arena, at.dtype, &(struct shape){1, {length}}, &dims));
  for (int64_t d = 0; d < length; d++) tensor_set_i64(dims, (size_t)d, x->dims[batch + d]);
  TRY(hlo_constant(h, dims, &sizes));
  const struct term zero = hlo_splat(h, 0, at.dtype, &at.shape);
  const struct term moved = hlo_binary(h, "stablehlo.add", at, hlo_broadcast(h, sizes, &at.shape));
  at = hlo_select(h, hlo_compare(h, "LT", at, zero), moved, at);
  struct shape rows = at.shape;
  rows.rank--;
  for (int d = 0; d < batch; d++) parts[d] = column_of(h, d, at.dtype, &rows);
  parts[batch] = at;
  *out = batch ? hlo_join(h, parts, (size_t)batch + 1, last) : at;
  return HONE_OK;
}

hone_status hlo_scatter_nd(struct hlo *h, const struct node *node) {
  struct term x, at, updates;
  TRY(hlo_input(h, node, 0, &x));
  TRY(hlo_input(h, node, 2, &updates));
  TRY(put_addresses(h, node, &x.shape, 0, &at));
  return put_scatter(h, node, x, at, updates);
}

/* The elements at the addresses [.., length]: all axes after the first `length`. */
static void put_gather(struct hlo *h, const struct node *node, struct term x, struct term at) {
  const int rows = at.shape.rank - 1, length = (int)at.shape.dims[rows];
  const struct shape *shape = &node->outputs[0]->shape;
  struct strbuf attributes = {0};
  int64_t sizes[HONE_MAX_RANK];
  for (int d = 0; d < x.shape.rank; d++) sizes[d] = d < length ? 1 : x.shape.dims[d];
  strbuf_puts(&attributes, "dimension_numbers = #stablehlo.gather<offset_dims = [");
  put_run(&attributes, rows, shape->rank);
  strbuf_puts(&attributes, "], collapsed_slice_dims = [");
  put_run(&attributes, 0, length);
  strbuf_puts(&attributes, "], start_index_map = [");
  put_run(&attributes, 0, length);
  strbuf_printf(&attributes, "], index_vector_dim = %d>, slice_sizes = ", rows);
  hlo_put_ints(&attributes, sizes, x.shape.rank);
  strbuf_puts(&attributes, ", indices_are_sorted = false");
  hlo_bind(h, node, 0,
           hlo_op(h, "stablehlo.gather", (struct term[]){x, at}, 2,
                  attributes.at ? attributes.at : "", NULL, x.dtype, shape));
  if (attributes.failed) h->out->failed = true;
  strbuf_deinit(&attributes);
}

hone_status hlo_gather_elements(struct hlo *h, const struct node *node) {
  struct term x, at;
  int axis;
  TRY(hlo_input(h, node, 0, &x));
  TRY(hlo_input(h, node, 1, &at));
  TRY(axis_attribute(h->ctx, node, "axis", 0, x.shape.rank, &axis));
  if (x.shape.rank >= HONE_MAX_RANK)
    return fail(h->ctx, HONE_E_UNSUP, node_place(node), "StableHLO: too many dimensions");
  put_gather(h, node, x, put_index_vectors(h, put_places(h, at, x.shape.dims[axis]), axis));
  return HONE_OK;
}

hone_status hlo_gather_nd(struct hlo *h, const struct node *node) {
  struct term x, at;
  TRY(hlo_input(h, node, 0, &x));
  TRY(put_addresses(h, node, &x.shape, (int)node_int(node, "batch_dims", 0), &at));
  put_gather(h, node, x, at);
  return HONE_OK;
}
