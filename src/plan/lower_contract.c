/* Contractions: Conv, MatMul, Gemm to rows of kernels.def, with packed weights and the programs of their
 * groups. */
#include "../ops/window.h"
#include "builder.h"

/* -- convolution --------------------------------------------------------------------------------
 */

struct geometry {
  struct problem_types types;
  int64_t n, c, h, w, oc, oh, ow, kh, kw, sh, sw, dh, dw, pt, pl, groups;
};

/* A 1-D image is one row. kernel: dims of the window, spatial only; NULL: the node's attribute. */
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

/* *out_known: a convolution that the kernels may take. */
static hone_status read_conv(struct builder *b, const struct group *group, struct geometry *g,
                             bool *out_known) {
  const struct node *node = group->node;
  const struct value *x = node->inputs[0], *w = node->inputs[1];
  int rank = x->shape.rank;
  *out_known = (rank == 3 || rank == 4) && contraction_types(group, &g->types) && w->constant;
  return *out_known ? read_geometry(b, node, w->shape.dims + 2, g) : HONE_OK;
}

/* What every kernel over windows is asked; the kind, channels and strides are the caller's. */
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

hone_status conv_border(struct builder *b, const struct group *group, int64_t *out) {
  struct geometry g;
  bool known;
  *out = 0;
  TRY(read_conv(b, group, &g, &known));
  if (!known || group->node->inputs[0]->shape.rank != 4 || constant_zero(group->node) ||
      (g.groups == g.c && g.oc == g.c && g.c > 1))
    return HONE_OK; /* a border of another number is copied; depthwise kernels need none */
  int64_t below = (g.oh - 1) * g.sh + (g.kh - 1) * g.dh + 1 - g.pt - g.h;
  int64_t right = (g.ow - 1) * g.sw + (g.kw - 1) * g.dw + 1 - g.pl - g.w;
  const int64_t sides[] = {g.pt, g.pl, below, right};
  for (size_t i = 0; i < COUNT(sides); i++)
    if (sides[i] > *out) *out = sides[i];
  return HONE_OK;
}

/* Of input 0 and output 0 of a node, when both are dense and channels last. */
static void dense_strides(const struct node *node, struct problem *problem) {
  struct view like;
  view_channels_last(&like, NULL, HONE_F32, &node->inputs[0]->shape);
  image_strides(&like, &problem->i_image, &problem->i_row, &problem->i_pixel);
  view_channels_last(&like, NULL, HONE_F32, &node->outputs[0]->shape);
  image_strides(&like, &problem->o_image, &problem->o_row, &problem->o_pixel);
}

hone_status packed_weights(struct builder *b, const struct choice *choice,
                           const struct problem *problem, const struct view *view,
                           struct view *out) {
  struct buffer *buffer;
  size_t bytes = choice->kernel->packed_bytes(problem, &b->plan->kernel_target, choice);
  TRY(new_buffer(b, BUFFER_WEIGHTS, bytes, &buffer));
  buffer->tensor = view->buffer->tensor;
  buffer->pack = *choice;
  buffer->problem = *problem;
  buffer->pack_offset = view->offset;
  struct shape shape = {1, {(int64_t)(bytes / 4)}};
  view_dense(out, buffer, HONE_F32, &shape);
  return HONE_OK;
}

void constant_operand(const struct value *value, struct buffer *holder, struct view *out) {
  *holder = (struct buffer){.place = BUFFER_WEIGHTS, .tensor = value->constant};
  view_dense(out, holder, value->dtype, &value->shape);
}

/* Input 0 as [n, spatial..., c], in the type in which the products are computed. */
static hone_status image_view(struct builder *b, const struct node *node, const struct geometry *g,
                              struct view *out) {
  return ensure_image(b, node->inputs[0], (hone_dtype)g->types.a, out);
}

/* Input 0 with the zeros that the convolution reads around it, where it was written with them. */
static hone_status bordered_input(struct builder *b, const struct group *group,
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

static hone_status padded_input(struct builder *b, const struct group *group,
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
  *ih = (g->oh - 1) * g->sh + (g->kh - 1) * g->dh + 1;
  *iw = (g->ow - 1) * g->sw + (g->kw - 1) * g->dw + 1;
  uint64_t fill = x->dtype == HONE_F32 ? 0 : (uint64_t)constant_zero(node) & 0xff;
  struct shape shape = x->shape;
  int64_t before[HONE_MAX_RANK] = {0}, elements;
  if (g->types.a == TYPE_BF16)
    TRY(image_view(b, node, g, &from));
  else
    TRY(get_view(b, x, &from));
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

/* Stores the type that the problem says. */
static hone_status conv_output(struct builder *b, const struct value *value,
                               const struct problem *problem, struct view *out) {
  struct view like;
  view_channels_last(&like, NULL, (hone_dtype)problem->types.c, &value->shape);
  return make_output(b, value, &like, out);
}

static hone_status finish_conv(struct builder *b, const struct group *g,
                               const struct choice *choice, const struct problem *problem,
                               const struct view *x, const struct view *y) {
  const struct node *node = g->node;
  struct buffer raw;
  struct view weights, packed;
  struct epilogue epilogue;
  struct step *step;
  constant_operand(node->inputs[1], &raw, &weights);
  if (problem->types.b == TYPE_BF16)
    TRY(half_constant(b, node->inputs[1], HONE_BF16, &raw.tensor));
  else if (rounds_weights(b, g))
    TRY(half_constant(b, node->inputs[1], HONE_F32, &raw.tensor));
  TRY(packed_weights(b, choice, problem, &weights, &packed));
  if (problem->types.acc == TYPE_I32)
    TRY(make_integer_epilogue(b, g, choice->kernel, y, 1, &epilogue));
  else if (is_integer_contraction(node)) /* its other operands are the kernel's own */
    TRY(make_epilogue(b, g, NULL, y, 1, &epilogue));
  else
    TRY(make_epilogue(b, g, node_input(node, 2), y, 1, &epilogue));
  return add_kernel(b, node, choice, problem, (struct view[]){*x, packed, *y}, &epilogue,
                    group_flops(g), &step);
}

hone_status lower_depthwise(struct builder *b, const struct group *group, bool *out_done) {
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
  if (computes_in_halves(b, group)) problem.types.c = problem_type(storage_of(b, group->result));
  problem.oc = g.oc;
  problem.pt = g.pt;
  problem.pl = g.pl;
  dense_strides(node, &problem);
  struct choice choice;
  bool is_known = kernel_choose(&problem, &b->plan->kernel_target, &choice);
  if (!is_known && is_integer) { /* few taps: their sum is exact in a float */
    problem.types.acc = TYPE_F32;
    is_known = kernel_choose(&problem, &b->plan->kernel_target, &choice);
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

hone_status lower_conv(struct builder *b, const struct group *group, bool *out_done) {
  const struct node *node = group->node;
  struct geometry g;
  bool known;
  TRY(read_conv(b, group, &g, &known));
  if (!known || g.types.b == TYPE_U8 || weights_zero(node)) return HONE_OK;
  struct view x, y;
  int64_t ih, iw;
  if (computes_in_halves(b, group)) {
    g.types.a = g.types.b = TYPE_BF16;
    g.types.c = problem_type(storage_of(b, group->result));
  }
  struct problem problem = window_problem(&g);
  problem.kind = PROBLEM_conv;
  problem.types = g.types;
  problem.oc = g.oc;
  problem.groups = g.groups;
  problem.i_image = problem.i_row = problem.i_pixel = 1; /* known once the input is padded */
  struct choice choice; /* its tile is known once the input is padded */
  if (!choose_kernel(b, &problem, &choice)) return HONE_OK;
  TRY(padded_input(b, group, &g, &ih, &iw, &x));
  TRY(conv_output(b, group->result, &problem, &y));
  problem.ih = ih;
  problem.iw = iw;
  image_strides(&x, &problem.i_image, &problem.i_row, &problem.i_pixel);
  image_strides(&y, &problem.o_image, &problem.o_row, &problem.o_pixel);
  if (!choose_kernel(b, &problem, &choice))
    return fail(b->ctx, HONE_E_INTERNAL, node_place(node), "kernel choice depends on strides");
  *out_done = true;
  return finish_conv(b, group, &choice, &problem, &x, &y);
}

/* -- matrix products ----------------------------------------------------------------------------
 */

/* a[batch..., m, k], b[batch..., k, n], c[batch..., m, n]: logical views of one rank. */
struct product {
  struct view a, b, c;
  bool b_constant;
};

/* Up to two batch levels remain after merging; false if there are more. */
static bool batch_levels(const struct product *p, struct problem *problem) {
  int64_t size[HONE_MAX_RANK], sa[HONE_MAX_RANK], sb[HONE_MAX_RANK], sc[HONE_MAX_RANK];
  int count = 0;
  for (int i = 0; i < p->c.shape.rank - 2; i++) {
    int64_t d = p->c.shape.dims[i];
    if (d == 1) continue;
    if (count && sa[count - 1] == p->a.stride[i] * d && sb[count - 1] == p->b.stride[i] * d &&
        sc[count - 1] == p->c.stride[i] * d) {
      count--;
      size[count] *= d;
    } else {
      size[count] = d;
    }
    sa[count] = p->a.stride[i];
    sb[count] = p->b.stride[i];
    sc[count++] = p->c.stride[i];
  }
  if (count > 2) return false;
  problem->batch0 = problem->batch1 = 1;
  if (count > 0) {
    problem->batch1 = size[count - 1];
    problem->a_batch1 = sa[count - 1];
    problem->b_batch1 = sb[count - 1];
    problem->c_batch1 = sc[count - 1];
  }
  if (count > 1) {
    problem->batch0 = size[0];
    problem->a_batch0 = sa[0];
    problem->b_batch0 = sb[0];
    problem->c_batch0 = sc[0];
  }
  return true;
}

/* A shared b turns batches into rows where a and c allow it. */
static void batches_to_rows(struct problem *p) {
  while (p->batch1 > 1 && !p->b_batch0 && !p->b_batch1 &&
         (p->m == 1 || (p->a_batch1 == p->m * p->a_row && p->c_batch1 == p->m * p->c_row))) {
    if (p->m == 1) p->a_row = p->a_batch1, p->c_row = p->c_batch1;
    p->m *= p->batch1;
    p->batch1 = p->batch0;
    p->a_batch1 = p->a_batch0;
    p->c_batch1 = p->c_batch0;
    p->batch0 = 1;
    p->a_batch0 = p->c_batch0 = 0;
  }
}

static bool product_problem(const struct product *p, struct problem *out) {
  int r = p->c.shape.rank;
  struct problem problem = {.kind = PROBLEM_gemm,
                            .types = SAME_TYPES(TYPE_F32),
                            .m = p->c.shape.dims[r - 2],
                            .n = p->c.shape.dims[r - 1],
                            .k = p->a.shape.dims[r - 1],
                            .a_row = p->a.stride[r - 2],
                            .b_row = p->b.stride[r - 2],
                            .b_column = p->b.stride[r - 1],
                            .c_row = p->c.stride[r - 2]};
  if (problem.k != 1 && p->a.stride[r - 1] != 1) return false;
  if (problem.n != 1 && p->c.stride[r - 1] != 1) return false;
  if (!batch_levels(p, &problem)) return false;
  const struct slope rows = view_slope(&p->c, r - 2); /* open ones end early in each batch */
  if (slope_is_zero(&rows)) batches_to_rows(&problem);
  problem.b_batches = problem.b_batch0 || problem.b_batch1 ? problem.batch0 * problem.batch1 : 1;
  *out = problem;
  return true;
}

static hone_status pack_step(struct builder *b, const struct node *node,
                             const struct choice *choice, const struct problem *problem,
                             const struct view *from, struct view *out) {
  struct step *step;
  struct buffer *buffer;
  size_t bytes = choice->kernel->packed_bytes(problem, &b->plan->kernel_target, choice);
  TRY(new_buffer(b, BUFFER_ARENA, bytes, &buffer));
  struct shape shape = {1, {(int64_t)(bytes / 4)}};
  view_dense(out, buffer, HONE_F32, &shape);
  TRY(new_step(b, STEP_PACK, node, 1, 1, &step));
  step->choice = *choice;
  step->problem = *problem;
  step->inputs[0] = *from;
  step->outputs[0] = *out;
  step->units = choice->kernel->pack_units(problem, &b->plan->kernel_target, choice);
  step->serial = problem->k * problem->n * problem->b_batches < 8192 || step->units < 2;
  return HONE_OK;
}

static hone_status add_product(struct builder *b, const struct group *g, const struct product *p,
                               const struct choice *choice, const struct problem *problem,
                               const struct value *bias) {
  const struct node *node = g->node;
  struct view packed;
  struct epilogue epilogue;
  struct step *step;
  if (p->b_constant)
    TRY(packed_weights(b, choice, problem, &p->b, &packed));
  else
    TRY(pack_step(b, node, choice, problem, &p->b, &packed));
  if (is_integer_contraction(node))
    TRY(make_integer_epilogue(b, g, choice->kernel, &p->c, p->c.shape.rank - 1, &epilogue));
  else
    TRY(make_epilogue(b, g, bias, &p->c, p->c.shape.rank - 1, &epilogue));
  return add_kernel(b, node, choice, problem, (struct view[]){p->a, packed, p->c}, &epilogue,
                    group_flops(g), &step);
}

void product_order(const struct builder *b, const struct value *value, struct view *like) {
  const struct group *reader = b->reader[value->index];
  view_dense(like, NULL, value->dtype, &value->shape);
  if (!reader || !is_op(reader->node, OP_Transpose)) return;
  size_t count;
  const int64_t *perm = node_ints(reader->node, "perm", &count);
  int rank = value->shape.rank;
  if (!perm || perm[rank - 1] != rank - 1) return;
  int64_t dense[HONE_MAX_RANK];
  shape_strides(&reader->result->shape, dense);
  for (int i = 0; i < rank; i++) like->stride[perm[i]] = dense[i];
}

/* A vector operand of MatMul gets the dimension that the product needs. */
static bool widen(const struct view *view, bool left, const struct shape *batch, int64_t rows,
                  int64_t columns, struct view *out) {
  struct shape shape = view->shape;
  if (shape.rank == 1) {
    shape.rank = 2;
    shape.dims[0] = left ? 1 : view->shape.dims[0];
    shape.dims[1] = left ? view->shape.dims[0] : 1;
  }
  struct view wide;
  if (!view_reshape(view, &shape, &wide)) return false;
  struct shape full = *batch;
  full.dims[batch->rank - 2] = rows;
  full.dims[batch->rank - 1] = columns;
  view_broadcast(&wide, &full, out);
  /* a dimension of size one keeps a harmless stride */
  return true;
}

/* Both operands in bf16: as they lie if they lie so, constants rounded. */
static hone_status half_operands(struct builder *b, const struct node *node, struct buffer *raw,
                                 struct view *a, struct view *bview) {
  const struct value *bv = node->inputs[1];
  TRY(ensure_type(b, node->inputs[0], HONE_BF16, a));
  if (!bv->constant) return ensure_type(b, bv, HONE_BF16, bview);
  constant_operand(bv, raw, bview);
  return half_constant(b, bv, HONE_BF16, &raw->tensor);
}

/* Operand 1 as it is; of a product that bf16 was asked for, rounded. */
static hone_status float_operand(struct builder *b, const struct group *g, struct buffer *raw,
                                 struct view *bview) {
  const struct value *bv = g->node->inputs[1];
  if (!bv->constant) return get_view(b, bv, bview);
  constant_operand(bv, raw, bview);
  return rounds_weights(b, g) ? half_constant(b, bv, HONE_F32, &raw->tensor) : HONE_OK;
}

static struct problem_types half_types(const struct builder *b, const struct value *c) {
  return (struct problem_types){TYPE_BF16, TYPE_BF16, TYPE_F32, problem_type(storage_of(b, c))};
}

hone_status lower_matmul(struct builder *b, const struct group *g, bool *out_done) {
  const struct node *node = g->node;
  const struct value *av = node->inputs[0], *bv = node->inputs[1], *cv = g->result;
  struct problem_types types;
  if (!contraction_types(g, &types)) return HONE_OK;
  int64_t k = av->shape.dims[av->shape.rank - 1];
  bool a_vector = av->shape.rank == 1, b_vector = bv->shape.rank == 1;
  int64_t m = a_vector ? 1 : av->shape.dims[av->shape.rank - 2];
  int64_t n = b_vector ? 1 : bv->shape.dims[bv->shape.rank - 1];
  struct shape full = cv->shape; /* with both matrix dimensions */
  if (a_vector && b_vector)
    full = (struct shape){2, {1, 1}};
  else if (a_vector)
    full.rank++, full.dims[full.rank - 1] = n, full.dims[full.rank - 2] = 1;
  else if (b_vector)
    full.rank++, full.dims[full.rank - 1] = 1;
  struct product p = {.b_constant = bv->constant != NULL};
  struct view a, bview, like;
  struct buffer raw;
  struct problem problem;
  bool halves = computes_in_halves(b, g) && !a_vector && !b_vector;
  if (halves) {
    TRY(half_operands(b, node, &raw, &a, &bview));
    types = half_types(b, cv);
  } else {
    TRY(get_view(b, av, &a));
    TRY(float_operand(b, g, &raw, &bview));
  }
  product_order(b, cv, &like);
  like.dtype = (hone_dtype)types.c;
  if (a_vector || b_vector) view_dense(&like, NULL, cv->dtype, &full);
  p.c = like;
  if (!a_vector && !b_vector) p.c.slope = cv->slope;
  for (int attempt = 0;; attempt++) {
    if (attempt) TRY(ensure_dense_as(b, av, (hone_dtype)types.a, &a));
    if (!widen(&a, true, &full, m, k, &p.a) || !widen(&bview, false, &full, k, n, &p.b))
      return HONE_OK;
    if (product_problem(&p, &problem)) break;
    if (attempt) return HONE_OK;
  }
  struct choice choice;
  problem.types = types;
  if (!k || !choose_kernel(b, &problem, &choice)) return HONE_OK;
  struct view made;
  if (a_vector || b_vector) {
    struct view flat;
    view_dense(&flat, NULL, cv->dtype, &cv->shape);
    TRY(make_output(b, cv, &flat, &made));
    if (g->count) return fail(b->ctx, HONE_E_INTERNAL, node_place(node), "fused vector product");
  } else {
    TRY(make_output(b, cv, &like, &made));
  }
  p.c.buffer = made.buffer;
  *out_done = true;
  return add_product(b, g, &p, &choice, &problem, NULL);
}

hone_status lower_gemm(struct builder *b, const struct group *g, bool *out_done) {
  const struct node *node = g->node;
  const struct value *av = node->inputs[0], *bv = node->inputs[1], *cv = g->result;
  const struct value *bias = node_input(node, 2);
  bool scaled = node_float(node, "alpha", 1) != 1 || (bias && node_float(node, "beta", 1) != 1);
  if (!all_f32(g) || scaled) return HONE_OK; /* normalise-gemm leaves none of f32 */
  struct product p = {.b_constant = bv->constant != NULL};
  struct buffer raw;
  struct problem problem;
  bool trans_a = node_int(node, "transA", 0) != 0, trans_b = node_int(node, "transB", 0) != 0;
  bool halves = computes_in_halves(b, g) && !trans_a;
  struct problem_types types = halves ? half_types(b, cv) : SAME_TYPES(TYPE_F32);
  if (halves) {
    TRY(half_operands(b, node, &raw, &p.a, &p.b));
    if (p.a.stride[1] != 1) TRY(ensure_dense_as(b, av, HONE_BF16, &p.a));
  } else {
    TRY(get_view(b, av, &p.a));
    TRY(float_operand(b, g, &raw, &p.b));
  }
  struct view *turned[2] = {trans_a ? &p.a : NULL, trans_b ? &p.b : NULL};
  for (int i = 0; i < 2; i++) {
    if (!turned[i]) continue;
    struct view v = *turned[i];
    turned[i]->shape.dims[0] = v.shape.dims[1];
    turned[i]->shape.dims[1] = v.shape.dims[0];
    turned[i]->stride[0] = v.stride[1];
    turned[i]->stride[1] = v.stride[0];
  }
  view_dense(&p.c, NULL, (hone_dtype)types.c, &cv->shape);
  if (!halves && p.a.shape.dims[1] != 1 &&
      p.a.stride[1] != 1) { /* transposed a: one copy in the order of use */
    struct view dense;
    struct step *step;
    int64_t count;
    view_dense(&dense, NULL, HONE_F32, &p.a.shape);
    if (!shape_count(&p.a.shape, &count)) return HONE_OK;
    TRY(new_buffer(b, BUFFER_ARENA, (size_t)count * sizeof(float), &dense.buffer));
    TRY(add_copy(b, node, &p.a, &dense, &step));
    p.a = dense;
  }
  if (!p.a.shape.dims[1] || !product_problem(&p, &problem)) return HONE_OK;
  problem.types = types;
  struct choice choice;
  if (!choose_kernel(b, &problem, &choice)) return HONE_OK;
  struct view made;
  TRY(make_output(b, cv, &p.c, &made));
  p.c.buffer = made.buffer;
  p.c.slope = made.slope;
  *out_done = true;
  return add_product(b, g, &p, &choice, &problem, bias);
}

/* Elements, scales and zero points one behind the other, as weights_pack reads them. */
static hone_status weights_tensor(struct builder *b, const struct node *node, struct tensor **out) {
  size_t bytes = 0, own = node->input_count;
  for (size_t i = 1; i < own; i++) bytes += node->inputs[i]->constant->bytes;
  TRY(tensor_create(b->ctx, b->arena, HONE_U8, &(struct shape){1, {(int64_t)bytes}}, out));
  char *to = (void *)(*out)->data;
  for (size_t i = 1; i < own; i++) {
    memcpy(to, node->inputs[i]->constant->data, node->inputs[i]->constant->bytes);
    to += node->inputs[i]->constant->bytes;
  }
  return HONE_OK;
}

hone_status lower_weights(struct builder *b, const struct group *g, bool *out_done) {
  const struct node *node = g->node;
  const struct value *a = node->inputs[0], *w = node->inputs[1], *c = g->result;
  int64_t elements, k = w->shape.dims[0], n = w->shape.dims[1];
  struct tensor *tensor;
  struct view av, packed, out;
  struct epilogue epilogue;
  struct choice choice;
  struct step *step;
  TRY(element_count(b, &a->shape, &elements));
  struct problem problem = {
      .kind = PROBLEM_gemm,
      .types = {TYPE_F32, (uint8_t)w->dtype, TYPE_F32, TYPE_F32},
      .m = elements / k,
      .n = n,
      .k = k,
      .batch0 = 1,
      .batch1 = 1,
      .a_row = k,
      .b_row = n,
      .b_column = 1,
      .b_batches = 1,
      .c_row = n,
      .block = node_int(node, "block_size", k),
      .b_zeros = node->input_count > 3,
  };
  for (size_t i = 1; i < node->input_count; i++)
    if (!node->inputs[i]->constant) return HONE_OK;
  if (!choose_kernel(b, &problem, &choice)) return HONE_OK;
  TRY(ensure_dense(b, a, &av));
  TRY(weights_tensor(b, node, &tensor));
  struct buffer raw = {.place = BUFFER_WEIGHTS, .tensor = tensor};
  struct view all = {.buffer = &raw, .dtype = HONE_U8, .shape = tensor->shape};
  TRY(packed_weights(b, &choice, &problem, &all, &packed));
  view_dense(&out, NULL, c->dtype, &c->shape);
  TRY(make_output(b, c, &out, &out));
  TRY(make_epilogue(b, g, NULL, &out, c->shape.rank - 1, &epilogue));
  *out_done = true;
  return add_kernel(b, node, &choice, &problem, (struct view[]){av, packed, out}, &epilogue,
                    group_flops(g), &step);
}

/* -- pools: the same geometry -------------------------------------------------------------------
 */

bool is_kernel_pool(const struct node *node) {
  const struct value *x = node->inputs[0];
  bool more = node->output_count > 1 && node->outputs[1];
  bool bytes = is_op(node, OP_MaxPool) && dtype_is_byte(x->dtype);
  return (is_f32_node(node) || bytes) && !more && (x->shape.rank == 3 || x->shape.rank == 4) &&
         !node_int(node, "ceil_mode", 0);
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
  if (!kernel_choose(&problem, &b->plan->kernel_target, &choice)) return HONE_OK;
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
