/* conv: Conv, ConvTranspose, ConvInteger and QLinearConv, one contraction per image and group:
 * out[m][position] = sum over (channel, kernel position) of w[m][..] * x[..][position]. */
#include "quantize.h"
#include "window.h"

struct conv {
  struct window window;
  bool is_transposed;
  int64_t n, groups, c, m; /* c and m per group */
  int64_t kernel_count, in_count, out_count;
};

/* Checks groups and channels. w is [M, C/g, k..], transposed [C, M/g, k..]. */
static hone_status conv_plan(struct ctx *ctx, const struct node *node, const struct shape *x,
                             const struct shape *w, bool is_transposed, struct conv *out) {
  if (x->rank < 3 || w->rank != x->rank)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "the input has rank %d, the weights %d",
                x->rank, w->rank);
  int64_t groups = node_int(node, "group", 1), channels = x->dims[1];
  int64_t w_channels = is_transposed ? w->dims[0] : w->dims[1];
  if (groups < 1 || groups > INT32_MAX || w->dims[0] % groups != 0 || channels % groups != 0)
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "group is %lld for %lld channels and weights [%lld,..]", (long long)groups,
                (long long)channels, (long long)w->dims[0]);
  *out = (struct conv){
      .is_transposed = is_transposed, .n = x->dims[0], .groups = groups, .c = channels / groups};
  if (w_channels != (is_transposed ? channels : out->c))
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "the input has %lld channels in %lld groups, the weights expect %lld",
                (long long)channels, (long long)groups, (long long)w_channels);
  out->m = is_transposed ? w->dims[1] : w->dims[0] / groups;
  TRY((is_transposed ? window_plan_transposed : window_plan)(ctx, node, x, w->dims + 2,
                                                             &out->window));
  out->kernel_count = window_kernel_count(&out->window);
  return HONE_OK;
}

static hone_status infer_with(struct ctx *ctx, const struct node *node, size_t x, size_t w,
                              bool is_transposed, size_t bias, hone_dtype dtype) {
  struct conv conv;
  TRY(conv_plan(ctx, node, &node->inputs[x]->shape, &node->inputs[w]->shape, is_transposed, &conv));
  if (bias && has_input(node, bias)) {
    TRY(want_rank(ctx, node, bias, 1));
    if (node->inputs[bias]->shape.dims[0] != conv.m * conv.groups)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "the bias has %lld elements, expected %lld",
                  (long long)node->inputs[bias]->shape.dims[0], (long long)(conv.m * conv.groups));
  }
  struct shape out = window_shape(&conv.window, conv.n, conv.m * conv.groups);
  return set_output(ctx, node, 0, dtype, &out);
}

hone_status infer_conv(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  TRY(want_float(ctx, node, 0));
  TRY(want_same_dtype(ctx, node, 0, 1));
  return infer_with(ctx, node, 0, 1, false, 2, node->inputs[0]->dtype);
}

hone_status infer_conv_transpose(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  TRY(want_float(ctx, node, 0));
  TRY(want_same_dtype(ctx, node, 0, 1));
  return infer_with(ctx, node, 0, 1, true, 2, node->inputs[0]->dtype);
}

hone_status infer_conv_integer(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  TRY(want_byte(ctx, node, 0));
  TRY(want_byte(ctx, node, 1));
  TRY(want_channel_operand(ctx, node, 2, 1));
  TRY(want_channel_operand(ctx, node, 3, node->inputs[1]->shape.dims[0]));
  return infer_with(ctx, node, 0, 1, false, 0, HONE_I32);
}

hone_status infer_qlinear_conv(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  static const size_t scalars[] = {1, 2, 6, 7};
  TRY(want_byte(ctx, node, 0));
  TRY(want_byte(ctx, node, 3));
  TRY(want_byte(ctx, node, 7));
  for (size_t i = 0; i < COUNT(scalars); i++) TRY(want_channel_operand(ctx, node, scalars[i], 1));
  TRY(want_rank_at_least(ctx, node, 3, 1));
  TRY(want_channel_operand(ctx, node, 4, node->inputs[3]->shape.dims[0]));
  TRY(want_channel_operand(ctx, node, 5, node->inputs[3]->shape.dims[0]));
  return infer_with(ctx, node, 0, 3, false, 8, node->inputs[7]->dtype);
}

/* -- evaluation */

struct conv_run {
  struct conv conv;
  const double *x, *w, *bias;
  const double *scale; /* one per output channel, NULL: no requantisation */
  double zero_point;
  const struct tensor *out;
  int64_t image, group;
};

static void load_weights(void *user, int64_t row, double *out) {
  const struct conv_run *run = user;
  const struct conv *conv = &run->conv;
  int64_t kernel = conv->kernel_count;
  if (!conv->is_transposed) {
    const double *w = run->w + (run->group * conv->m + row) * conv->c * kernel;
    memcpy(out, w, (size_t)(conv->c * kernel) * sizeof *out);
    return;
  }
  for (int64_t c = 0; c < conv->c; c++)
    memcpy(out + c * kernel, run->w + ((run->group * conv->c + c) * conv->m + row) * kernel,
           (size_t)kernel * sizeof *out);
}

/* One column: all channels and kernel positions for one output position. */
static void load_position(const struct conv_run *run, int64_t position, double *out) {
  const struct conv *conv = &run->conv;
  const struct window *window = &conv->window;
  const double *x = run->x + (run->image * conv->groups + run->group) * conv->c * conv->in_count;
  int64_t o[HONE_MAX_RANK], k[HONE_MAX_RANK] = {0}, at = 0;
  index_of(window->rank, window->out, position, o);
  do {
    int64_t offset =
        conv->is_transposed ? window_offset_transposed(window, o, k) : window_offset(window, o, k);
    for (int64_t c = 0; c < conv->c; c++)
      out[(c * conv->kernel_count + at) * PANEL] = offset < 0 ? 0 : x[c * conv->in_count + offset];
    at++;
  } while (index_next(window->rank, window->kernel, k));
}

static void load_positions(void *user, int64_t column, int64_t count, double *out) {
  for (int64_t j = 0; j < count; j++) load_position(user, column + j, out + j);
}

static void store_sums(void *user, int64_t row, int64_t column, int64_t count, const double *sums) {
  const struct conv_run *run = user;
  int64_t m = run->group * run->conv.m + row;
  double out[PANEL];
  for (int64_t i = 0; i < count; i++) {
    out[i] = run->bias ? sums[i] + run->bias[m] : sums[i];
    if (run->scale) out[i] = requantize(out[i] * run->scale[m], run->zero_point, run->out->dtype);
  }
  int64_t channels = run->conv.groups * run->conv.m;
  write_f64(run->out, (run->image * channels + m) * run->conv.out_count + column, (size_t)count,
            out);
}

static hone_status run_conv(struct ctx *ctx, struct arena *scratch, struct conv_run *run) {
  struct conv *conv = &run->conv;
  conv->in_count = window_in_count(&conv->window);
  conv->out_count = window_out_count(&conv->window);
  struct contraction contraction = {conv->m,   conv->out_count, conv->c * conv->kernel_count,
                                    run,       load_weights,    load_positions,
                                    store_sums};
  struct contraction_work work;
  TRY(contraction_work_create(ctx, scratch, contraction.m, contraction.k, &work));
  for (run->image = 0; run->image < conv->n; run->image++)
    for (run->group = 0; run->group < conv->groups; run->group++) contract(&contraction, &work);
  return HONE_OK;
}

static hone_status eval_float(struct ctx *ctx, struct arena *scratch, const struct node *node,
                              const struct tensor *const *in, const struct tensor *out,
                              bool is_transposed) {
  struct conv_run run = {.out = out};
  double *x, *w, *bias = NULL;
  TRY(conv_plan(ctx, node, &in[0]->shape, &in[1]->shape, is_transposed, &run.conv));
  TRY(to_f64(ctx, scratch, in[0], &x));
  TRY(to_f64(ctx, scratch, in[1], &w));
  if (node->input_count > 2) TRY(to_f64(ctx, scratch, in[2], &bias));
  run.x = x, run.w = w, run.bias = bias;
  return run_conv(ctx, scratch, &run);
}

hone_status eval_conv(struct ctx *ctx, struct arena *scratch, const struct node *node,
                      const struct tensor *const *in, struct tensor *const *out) {
  return eval_float(ctx, scratch, node, in, out[0], false);
}

hone_status eval_conv_transpose(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                const struct tensor *const *in, struct tensor *const *out) {
  return eval_float(ctx, scratch, node, in, out[0], true);
}

hone_status eval_conv_integer(struct ctx *ctx, struct arena *scratch, const struct node *node,
                              const struct tensor *const *in, struct tensor *const *out) {
  struct conv_run run = {.out = out[0]};
  double *x, *w;
  TRY(conv_plan(ctx, node, &in[0]->shape, &in[1]->shape, false, &run.conv));
  TRY(centred_f64(ctx, scratch, in[0], node->input_count > 2 ? in[2] : NULL, 0, &x));
  TRY(centred_f64(ctx, scratch, in[1], node->input_count > 3 ? in[3] : NULL, 0, &w));
  run.x = x, run.w = w;
  return run_conv(ctx, scratch, &run);
}

hone_status eval_qlinear_conv(struct ctx *ctx, struct arena *scratch, const struct node *node,
                              const struct tensor *const *in, struct tensor *const *out) {
  struct conv_run run = {.out = out[0]};
  double *x, *w, *bias = NULL, *scale;
  TRY(conv_plan(ctx, node, &in[0]->shape, &in[3]->shape, false, &run.conv));
  TRY(centred_f64(ctx, scratch, in[0], in[2], 0, &x));
  TRY(centred_f64(ctx, scratch, in[3], in[5], 0, &w));
  if (node->input_count > 8) TRY(to_f64(ctx, scratch, in[8], &bias));
  TRY(combined_scale(ctx, scratch, node, in[1], in[4], in[6], run.conv.m * run.conv.groups,
                     &scale));
  run.x = x, run.w = w, run.bias = bias, run.scale = scale;
  run.zero_point = tensor_f64(in[7], 0);
  return run_conv(ctx, scratch, &run);
}
