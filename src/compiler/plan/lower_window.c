/* Operators over windows of an image: convolutions, depthwise convolutions and pools, lowered to
 * rows of kernels.def.
 */
#include "core/ops/operators/window.h"
#include "builder.h"

struct geometry {
  struct problem_types types;
  int64_t n, c, h, w, oc, oh, ow, kh, kw, sh, sw, dh, dw, pt, pl, groups;
};

/* A 1-D image is one row. kernel: the window's spatial dimensions; NULL: the node's attribute. */
static hone_status read_geometry(struct builder *b, const struct node *node, const int64_t *kernel,
                                 struct geometry *g) {
  const struct shape *x = &node->inputs[0]->shape, *y = &node->outputs[0]->shape;
  struct window w;
  TRY(window_plan(b->ctx, node, x, kernel, &w));
  int last = w.rank - 1;
  *g = (struct geometry){.types = g->types,
                         .n = x->dims[0],
                         .c = x->dims[1],
                         .h = 1,
                         .w = w.in[last],
                         .oc = y->dims[1],
                         .oh = 1,
                         .ow = w.out[last],
                         .kh = 1,
                         .kw = w.kernel[last],
                         .sh = 1,
                         .sw = w.stride[last],
                         .dh = 1,
                         .dw = w.dilation[last],
                         .pl = w.pad_begin[last],
                         .groups = node_int(node, "group", 1)};
  if (w.rank == 1) return HONE_OK;
  g->h = w.in[0];
  g->oh = w.out[0];
  g->kh = w.kernel[0];
  g->sh = w.stride[0];
  g->dh = w.dilation[0];
  g->pt = w.pad_begin[0];
  return HONE_OK;
}

/* *out_known: kernels support this convolution. */
static hone_status read_conv(struct builder *b, const struct fusion_group *group,
                             struct geometry *g, bool *out_known) {
  const struct node *node = group->node;
  const struct value *x = node->inputs[0], *w = node->inputs[1];
  int rank = x->shape.rank;
  *out_known = (rank == 3 || rank == 4) && contraction_types(group, &g->types) && w->constant;
  return *out_known ? read_geometry(b, node, w->shape.dims + 2, g) : HONE_OK;
}

/* The common part of all window problems; the caller sets kind, channels and strides. */
static struct problem window_problem(const struct geometry *g) {
  return (struct problem){.types = SAME_TYPES(TYPE_F32),
                          .images = g->n,
                          .ih = g->h,
                          .iw = g->w,
                          .ic = g->c,
                          .oh = g->oh,
                          .ow = g->ow,
                          .kh = g->kh,
                          .kw = g->kw,
                          .sh = g->sh,
                          .sw = g->sw,
                          .dh = g->dh,
                          .dw = g->dw};
}

/* Strides of [n, c, (h,) w] as image, row, pixel. */
static void image_strides(const struct view *view, int64_t *image, int64_t *row, int64_t *pixel) {
  int rank = view->shape.rank;
  *image = view->stride[0];
  *pixel = view->stride[rank - 1];
  *row = rank == 4 ? view->stride[2] : view->shape.dims[rank - 1] * *pixel;
}

hone_status conv_border(struct builder *b, const struct fusion_group *group, int64_t *out) {
  struct geometry g;
  bool known;
  *out = 0;
  TRY(read_conv(b, group, &g, &known));
  if (!known || group->node->inputs[0]->shape.rank != 4 || constant_zero(group->node) ||
      (g.groups == g.c && g.oc == g.c && g.c > 1))
    return HONE_OK; /* padding with another number needs a copy; depthwise kernels need no border */
  int64_t below = (g.oh - 1) * g.sh + (g.kh - 1) * g.dh + 1 - g.pt - g.h;
  int64_t right = (g.ow - 1) * g.sw + (g.kw - 1) * g.dw + 1 - g.pl - g.w;
  const int64_t sides[] = {g.pt, g.pl, below, right};
  for (size_t i = 0; i < COUNT(sides); i++)
    if (sides[i] > *out) *out = sides[i];
  return HONE_OK;
}

/* For input 0 and output 0 of a node, if both are dense and channels last. */
static void dense_strides(const struct node *node, struct problem *problem) {
  struct view like;
  view_channels_last(&like, NULL, HONE_F32, &node->inputs[0]->shape);
  image_strides(&like, &problem->i_image, &problem->i_row, &problem->i_pixel);
  view_channels_last(&like, NULL, HONE_F32, &node->outputs[0]->shape);
  image_strides(&like, &problem->o_image, &problem->o_row, &problem->o_pixel);
}

/* Input 0 as [n, spatial..., c], in the type of the multiplications. */
static hone_status image_view(struct builder *b, const struct node *node, const struct geometry *g,
                              struct view *out) {
  return ensure_image(b, node->inputs[0], (hone_dtype)g->types.a, out);
}

/* Input 0 with the zero padding that the convolution reads, if it was written with a border. */
static hone_status bordered_input(struct builder *b, const struct fusion_group *group,
                                  const struct geometry *g, int64_t *ih, int64_t *iw,
                                  struct view *out, bool *out_done) {
  bool captured;
  int64_t wanted;
  const struct value_state *state = state_of(b, group->node->inputs[0], &captured);
  TRY(conv_border(b, group, &wanted));
  *out_done = state->count && g->types.a == (uint8_t)state->views[0].dtype &&
              state->border >= wanted && wanted;
  if (!*out_done) return HONE_OK;
  *out = state->views[0];
  out->offset -= g->pt * out->stride[2] + g->pl * out->stride[3];
  out->shape.dims[2] = *ih = g->pt + g->h + state->border;
  out->shape.dims[3] = *iw = g->pl + g->w + state->border;
  return HONE_OK;
}

static hone_status padded_input(struct builder *b, const struct fusion_group *group,
                                const struct geometry *g, int64_t *ih, int64_t *iw,
                                struct view *out) {
  const struct node *node = group->node;
  const struct value *x = node->inputs[0];
  int rank = x->shape.rank;
  *ih = (g->oh - 1) * g->sh + (g->kh - 1) * g->dh + 1;
  *iw = (g->ow - 1) * g->sw + (g->kw - 1) * g->dw + 1;
  bool inside = !g->pt && !g->pl && *ih <= g->h && *iw <= g->w;
  if (inside) {
    *ih = g->h;
    *iw = g->w;
    return image_view(b, node, g, out);
  }
  struct view from, like;
  bool done;
  TRY(bordered_input(b, group, g, ih, iw, out, &done));
  if (done) return HONE_OK;
  uint64_t fill = x->dtype == HONE_F32 ? 0 : (uint64_t)constant_zero(node) & 0xff;
  struct shape shape = x->shape;
  int64_t before[HONE_MAX_RANK] = {0}, elements;
  if (g->types.a == TYPE_BF16)
    TRY(image_view(b, node, g, &from));
  else
    TRY(get_source(b, x, &from));
  if (*ih < g->pt + g->h) *ih = g->pt + g->h;
  if (*iw < g->pl + g->w) *iw = g->pl + g->w;
  shape.dims[rank - 1] = *iw;
  if (rank == 4) shape.dims[2] = *ih;
  before[rank - 1] = g->pl;
  before[2] = rank == 4 ? g->pt : g->pl;
  if (!shape_count(&shape, &elements))
    return fail(b->ctx, HONE_E_LIMIT, node_place(node), "padded input too large");
  view_channels_last(&like, NULL, from.dtype, &shape);
  *out = like;
  TRY(new_buffer(b, BUFFER_ARENA, (size_t)elements * dtype_bytes(from.dtype), &out->buffer));
  struct step *step;
  return add_copy_border(b, node, &from, out, before, fill, &step);
}

/* An output in the problem's type. */
static hone_status conv_output(struct builder *b, const struct value *value,
                               const struct problem *problem, struct view *out) {
  struct view like;
  view_channels_last(&like, NULL, (hone_dtype)problem->types.c, &value->shape);
  return make_output(b, value, &like, out);
}

static hone_status finish_conv(struct builder *b, const struct fusion_group *g,
                               const struct choice *choice, const struct problem *problem,
                               const struct view *x, const struct view *y) {
  const struct node *node = g->node;
  struct buffer raw;
  struct view weights, packed;
  struct epilogue epilogue;
  struct step *step;
  constant_operand(node->inputs[1], &raw, &weights);
  if (problem->types.b == TYPE_BF16)
    TRY(bf16_constant(b, node->inputs[1]->constant, HONE_BF16, &raw.tensor));
  else if (rounds_weights(b, g))
    TRY(bf16_constant(b, node->inputs[1]->constant, HONE_F32, &raw.tensor));
  TRY(stored_weights(b, problem, &raw.tensor));
  TRY(packed_weights(b, choice, problem, &weights, &packed));
  if (problem->types.acc == TYPE_I32)
    TRY(make_integer_epilogue(b, g, choice->kernel, y, 1, &epilogue));
  else if (is_integer_contraction(node)) /* its other operands belong to the kernel itself */
    TRY(make_epilogue(b, g, NULL, y, 1, &epilogue));
  else
    TRY(make_epilogue(b, g, node_input(node, 2), y, 1, &epilogue));
  return add_kernel(b, node, choice, problem, (struct view[]){*x, packed, *y}, &epilogue,
                    group_flops(g), &step);
}

hone_status lower_depthwise(struct builder *b, const struct fusion_group *group, bool *out_done) {
  const struct node *node = group->node;
  struct geometry g;
  bool known;
  TRY(read_conv(b, group, &g, &known));
  if (!known || g.groups == 1 || g.groups != g.c || g.oc != g.c) return HONE_OK;
  struct view x, y;
  struct problem problem = window_problem(&g);
  problem.kind = PROBLEM_depthwise;
  problem.types = g.types;
  const bool is_integer = is_integer_contraction(node);
  if (is_integer) {
    if (g.kh * g.kw > 256) return HONE_OK;
    problem.a_zero = constant_zero(node);
    problem.b_zero = weights_zero(node);
  }
  TRY(get_stored(b, node->inputs[0], &x));
  problem.types.a = problem_type(x.dtype);
  if (all_f32(group)) problem.types.c = problem_type(storage_of(b, group->result));
  problem.oc = g.oc;
  problem.pt = g.pt;
  problem.pl = g.pl;
  dense_strides(node, &problem);
  struct choice choice;
  bool is_known = kernel_choose(&problem, &b->plan->schedule.kernels, &choice);
  if (!is_known && is_integer) { /* few taps: their sum is exact in a float */
    problem.types.acc = TYPE_F32;
    is_known = kernel_choose(&problem, &b->plan->schedule.kernels, &choice);
  }
  if (!is_known) return HONE_OK;
  TRY(ensure_image(b, node->inputs[0], x.dtype, &x));
  TRY(conv_output(b, group->result, &problem, &y));
  image_strides(&x, &problem.i_image, &problem.i_row, &problem.i_pixel);
  image_strides(&y, &problem.o_image, &problem.o_row, &problem.o_pixel);
  if (!choose_kernel(b, &problem, &choice))
    return fail(b->ctx, HONE_E_INTERNAL, node_place(node), "kernel choice depends on strides");
  *out_done = true;
  return finish_conv(b, group, &choice, &problem, &x, &y);
}

hone_status lower_conv(struct builder *b, const struct fusion_group *group, bool *out_done) {
  const struct node *node = group->node;
  struct geometry g;
  bool known;
  TRY(read_conv(b, group, &g, &known));
  if (!known || g.types.b == TYPE_U8 || weights_zero(node)) return HONE_OK;
  struct view x, y;
  int64_t ih, iw;
  if (computes_in_bf16(b, group)) {
    g.types.a = g.types.b = TYPE_BF16;
    g.types.c = problem_type(storage_of(b, group->result));
  }
  struct problem problem = window_problem(&g);
  problem.kind = PROBLEM_conv;
  problem.types = g.types;
  problem.oc = g.oc;
  problem.groups = g.groups;
  /* strides are known once the input is padded */
  problem.i_image = problem.i_row = problem.i_pixel = 1;
  struct choice choice; /* its tile is known once the input is padded */
  if (!choose_kernel_and_storage(b, NULL, group->result, &problem, &choice)) return HONE_OK;
  TRY(padded_input(b, group, &g, &ih, &iw, &x));
  TRY(conv_output(b, group->result, &problem, &y));
  problem.ih = ih;
  problem.iw = iw;
  image_strides(&x, &problem.i_image, &problem.i_row, &problem.i_pixel);
  image_strides(&y, &problem.o_image, &problem.o_row, &problem.o_pixel);
  const struct tensor *weights = node->inputs[1]->constant;
  if (rounds_weights(b, group))
    TRY(bf16_constant(b, node->inputs[1]->constant, HONE_F32, &weights));
  if (!choose_kernel_and_storage(b, weights, NULL, &problem, &choice))
    return fail(b->ctx, HONE_E_INTERNAL, node_place(node), "kernel choice depends on strides");
  *out_done = true;
  return finish_conv(b, group, &choice, &problem, &x, &y);
}

/* -- pools */

/* Kernels clip windows to the input, so windows past the padding (ceil_mode) need no special
   case, except in a mean that counts the padding. */
bool is_kernel_pool(const struct node *node) {
  const struct value *x = node->inputs[0];
  bool more = node->output_count > 1 && node->outputs[1];
  bool bytes = is_op(node, OP_MaxPool) && dtype_is_byte(x->dtype);
  return (is_f32_node(node) || bytes) && !more && (x->shape.rank == 3 || x->shape.rank == 4) &&
         !(node_int(node, "ceil_mode", 0) && node_int(node, "count_include_pad", 0));
}

hone_status lower_pool(struct builder *b, const struct node *node, bool *out_done) {
  struct geometry g;
  if (!is_kernel_pool(node)) return HONE_OK;
  TRY(read_geometry(b, node, NULL, &g));
  struct problem problem = window_problem(&g);
  problem.kind = PROBLEM_pool;
  problem.types = SAME_TYPES((uint8_t)node->inputs[0]->dtype);
  problem.pt = g.pt;
  problem.pl = g.pl;
  problem.mode = is_op(node, OP_MaxPool) ? 0 : node_int(node, "count_include_pad", 0) ? 2 : 1;
  dense_strides(node, &problem);
  struct view in, out;
  struct choice choice;
  TRY(get_stored(b, node->inputs[0], &in));
  if (problem.types.acc == TYPE_F32) {
    problem.types.a = problem_type(in.dtype);
    problem.types.c = problem_type(storage_of(b, node->outputs[0]));
  }
  if (!kernel_choose(&problem, &b->plan->schedule.kernels, &choice)) return HONE_OK;
  struct step *step;
  TRY(ensure_image(b, node->inputs[0], in.dtype, &in));
  TRY(conv_output(b, node->outputs[0], &problem, &out));
  image_strides(&in, &problem.i_image, &problem.i_row, &problem.i_pixel);
  image_strides(&out, &problem.o_image, &problem.o_row, &problem.o_pixel);
  if (!choose_kernel(b, &problem, &choice))
    return fail(b->ctx, HONE_E_INTERNAL, node_place(node), "kernel choice depends on strides");
  *out_done = true;
  return add_kernel(b, node, &choice, &problem, (struct view[]){in, {0}, out}, NULL,
                    (double)(g.n * g.oc * g.oh * g.ow * g.kh * g.kw) * 4, &step);
}
