/* ConvTranspose with constant weights as stride^2 convolutions of stride 1. The outputs whose row
 * has the remainder r modulo the stride are products of the taps r, r + stride, ... with
 * neighbouring input rows (the same for columns). So each phase convolves with every stride-th tap,
 * flipped, and writes every stride-th pixel: no multiplication by zero and no pass to interleave
 * pixels. Source: sub-pixel convolution, Shi et al. 2016, arXiv 1609.07009.
 */
#include "core/ops/operators/window.h"
#include "builder.h"

/* One spatial dimension of one phase. */
struct side {
  int64_t taps;        /* number of the kernel's taps in this phase */
  int64_t first, step; /* the last of these taps in the kernel is first + (taps - 1) * step */
  int64_t out, count;  /* its outputs: out, out + step, ... */
  int64_t dilation;    /* distance of its taps in the input, for stride 1 only */
  int64_t in; /* input position of the first output's first tap; negative: before the image */
};

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

static struct side side_of(const struct window *w, int d, int64_t rest) {
  const int64_t s = w->stride[d], pad = w->pad_begin[d];
  struct side side = {.taps = rest < w->kernel[d] ? (w->kernel[d] - rest - 1) / s + 1 : 0,
                      .first = rest,
                      .step = s,
                      .dilation = s == 1 ? w->dilation[d] : 1};
  /* output o meets tap rest + s * j at the input (o + pad - rest) / s - j * dilation */
  const int64_t q = -floor_div(rest - pad, s); /* the smallest q with o >= 0 */
  side.out = q * s + rest - pad;
  side.count = side.out < w->out[d] ? (w->out[d] - 1 - side.out) / s + 1 : 0;
  side.in = q - (side.taps - 1) * side.dilation;
  return side;
}

/* Input positions from the first output's first tap to the last output's last tap. */
static int64_t reach(const struct side *side) {
  return side->count + (side->taps - 1) * side->dilation;
}

struct phases {
  struct window window;
  int64_t n, c, oc, groups;
  bool depthwise;
  int64_t wide; /* phases of a row that are computed together, as channels of one pixel */
  int count[2]; /* number of phases per column and per row */
  struct side *sides[2];
  int64_t before[2], size[2]; /* the padded input */
};

/* *out_known: kernels support it. A 1-D image is one row. */
static hone_status read_phases(struct builder *b, const struct fusion_group *g, struct phases *out,
                               bool *out_known) {
  const struct node *node = g->node;
  const struct value *x = node->inputs[0], *w = node->inputs[1];
  struct window *window = &out->window;
  const int rank = x->shape.rank - 2;
  *out_known = false;
  if ((rank != 1 && rank != 2) || !w->constant || !all_f32(g)) return HONE_OK;
  TRY(window_plan_transposed(b->ctx, node, &x->shape, w->shape.dims + 2, window));
  if (rank == 1) {
    int64_t *lists[] = {window->in,       window->out,       window->kernel, window->stride,
                        window->dilation, window->pad_begin, window->pad_end};
    for (size_t i = 0; i < COUNT(lists); i++) {
      lists[i][1] = lists[i][0];
      lists[i][0] = i < 5; /* one row: size 1, no padding */
    }
  }
  out->n = x->shape.dims[0];
  out->c = x->shape.dims[1];
  out->oc = node->outputs[0]->shape.dims[1];
  out->groups = node_int(node, "group", 1);
  out->depthwise = out->groups > 1 && out->groups == out->c && out->groups == out->oc;
  for (int d = 0; d < 2; d++) {
    if (window->stride[d] > (window->dilation[d] == 1 ? 16 : 1)) return HONE_OK;
    out->count[d] = (int)window->stride[d];
    TRY(NEW_ARRAY(b->ctx, b->arena, out->sides[d], (size_t)out->count[d]));
    int64_t before = 0, end = window->in[d];
    for (int r = 0; r < out->count[d]; r++) {
      struct side *side = &out->sides[d][r];
      *side = side_of(window, d, r);
      if (!side->count) continue;
      if (!side->taps) return HONE_OK; /* outputs without taps get the bias alone */
      before = larger(before, -side->in);
      end = larger(end, side->in + reach(side));
    }
    out->before[d] = out->depthwise ? 0 : before; /* depthwise kernels handle padding themselves */
    out->size[d] = out->depthwise ? window->in[d] : before + end;
  }
  *out_known = true;
  return HONE_OK;
}

/* The phase's taps as the weights of a convolution, [out, in / groups, rows, columns]. */
static hone_status phase_weights(struct builder *b, const struct node *node, const struct phases *p,
                                 const struct side *y, const struct side *x, struct tensor **out) {
  const int64_t kh = p->window.kernel[0], kw = p->window.kernel[1];
  const int64_t in = p->c / p->groups, m = p->oc / p->groups;
  const float *from = node->inputs[1]->constant->data;
  struct shape shape = {4, {p->oc * p->wide, in, y->taps, x->taps}};
  TRY(tensor_create(b->ctx, b->arena, HONE_F32, &shape, out));
  float *to = (float *)(uintptr_t)(*out)->data;
  for (int64_t o = 0; o < p->oc * p->wide; o++)
    for (int64_t i = 0; i < in; i++)
      for (int64_t ty = 0; ty < y->taps; ty++)
        for (int64_t tx = 0; tx < x->taps; tx++) {
          const int64_t ky = y->first + (y->taps - 1 - ty) * y->step;
          const int64_t kx = x->first + (x->taps - 1 - tx) * x->step + o / p->oc;
          *to++ = from[(((o % p->oc / m * in + i) * m + o % m) * kh + ky) * kw + kx];
        }
  return HONE_OK;
}

/* Strides of a channels-last image as image, row, pixel; a 1-D image is one row. */
static void strides_of(const struct view *view, int64_t out[3]) {
  const int rank = view->shape.rank;
  out[0] = view->stride[0];
  out[2] = view->stride[rank - 1];
  out[1] = rank == 4 ? view->stride[2] : view->shape.dims[2] * out[2];
}

/* Where the phase begins in the padded input; negative: before its first element. */
static int64_t start_of(const struct phases *p, int d, const struct side *side) {
  return side->in + p->before[d];
}

static struct problem phase_problem(const struct phases *p, const struct side *y,
                                    const struct side *x, const int64_t i[3], const int64_t o[3]) {
  return (struct problem){.kind = p->depthwise ? PROBLEM_depthwise : PROBLEM_conv,
                          .types = SAME_TYPES(TYPE_F32),
                          .images = p->n,
                          .ih = p->size[0] - larger(start_of(p, 0, y), 0),
                          .iw = p->size[1] - larger(start_of(p, 1, x), 0),
                          .ic = p->c,
                          .oh = y->count,
                          .ow = x->count,
                          .oc = p->oc * p->wide,
                          .kh = y->taps,
                          .kw = x->taps,
                          .sh = 1,
                          .sw = 1,
                          .dh = y->dilation,
                          .dw = x->dilation,
                          .pt = larger(-start_of(p, 0, y), 0),
                          .pl = larger(-start_of(p, 1, x), 0),
                          .groups = p->depthwise ? 0 : p->groups,
                          .i_image = i[0],
                          .i_row = i[1],
                          .i_pixel = i[2],
                          .o_image = o[0],
                          .o_row = o[1] * p->window.stride[0],
                          .o_pixel = o[2] * p->window.stride[1]};
}

/* The input with the zero padding that any phase reads. */
static hone_status padded(struct builder *b, const struct node *node, const struct phases *p,
                          struct view *out) {
  const struct value *value = node->inputs[0];
  const int rank = value->shape.rank;
  struct view from, like;
  struct step *step;
  int64_t before[HONE_MAX_RANK] = {0};
  bool inside = true;
  for (int d = 0; d < 2; d++) inside = inside && p->size[d] == p->window.in[d];
  if (inside) return ensure_image(b, value, HONE_F32, out);
  TRY(ensure_type(b, value, HONE_F32, &from));
  struct shape shape = value->shape;
  for (int d = 4 - rank; d < 2; d++) {
    before[rank - 2 + d] = p->before[d];
    shape.dims[rank - 2 + d] = p->size[d];
  }
  view_channels_last(&like, NULL, HONE_F32, &shape);
  TRY(arena_view(b, &like, out));
  return add_copy_border(b, node, &from, out, before, 0, &step);
}

/* The epilogue of all phases, its operands offset to this phase's begin, `delta` elements of the
   output. */
static hone_status phase_epilogue(struct builder *b, const struct phases *p, int64_t delta,
                                  const struct epilogue *all, struct epilogue *out) {
  *out = *all;
  TRY(NEW_ARRAY(b->ctx, b->arena, out->operands, all->count));
  for (size_t k = 0; k < all->count; k++) {
    out->operands[k] = all->operands[k];
    if (all->kinds[k] == OPERAND_FULL) out->operands[k].offset += delta;
    if (all->kinds[k] == OPERAND_ROW) out->operands[k].offset += delta / p->oc;
  }
  return HONE_OK;
}

static hone_status add_phase(struct builder *b, const struct fusion_group *g,
                             const struct phases *p, const struct side *y, const struct side *x,
                             const struct view *input, const struct view *output,
                             const struct epilogue *epilogue, bool overlaps_previous) {
  int64_t i[3], o[3];
  struct choice choice;
  struct tensor *weights;
  struct view from = *input, to = *output, raw, packed;
  struct epilogue own;
  struct step *step;
  const struct node *node = g->node;
  strides_of(input, i);
  strides_of(output, o);
  const struct problem problem = phase_problem(p, y, x, i, o);
  if (!choose_kernel(b, &problem, &choice))
    return fail(b->ctx, HONE_E_INTERNAL, node_place(node), "kernel choice depends on strides");
  const int64_t delta = y->out * o[1] + x->out * o[2];
  from.offset += larger(start_of(p, 0, y), 0) * i[1] + larger(start_of(p, 1, x), 0) * i[2];
  to.offset += delta;
  TRY(phase_weights(b, node, p, y, x, &weights));
  struct buffer holder = {.place = BUFFER_WEIGHTS, .tensor = weights};
  view_dense(&raw, &holder, HONE_F32, &weights->shape);
  TRY(packed_weights(b, &choice, &problem, &raw, &packed));
  TRY(phase_epilogue(b, p, delta, epilogue, &own));
  const double flops = group_flops(g) / (double)(p->count[0] * p->count[1]);
  TRY(add_kernel(b, node, &choice, &problem, (struct view[]){from, packed, to}, &own, flops,
                 &step));
  step->overlaps_previous = overlaps_previous;
  return HONE_OK;
}

/* True if the kernel is as wide as its stride: each input pixel then gives `stride` adjacent
   outputs, which one convolution computes as channels. */
static bool merges_columns(const struct phases *p, const struct epilogue *epilogue) {
  const struct window *w = &p->window;
  const int last = p->count[1] - 1;
  if (!last || w->kernel[1] != w->stride[1] || w->pad_begin[1] || p->groups != 1) return false;
  if (p->sides[1][last].count != p->sides[1][0].count) return false;
  for (size_t k = 0; k < epilogue->count; k++)
    if (epilogue->kinds[k] != OPERAND_SCALAR && epilogue->kinds[k] != OPERAND_FULL) return false;
  return true;
}

hone_status lower_transposed(struct builder *b, const struct fusion_group *g, bool *out_done) {
  const struct node *node = g->node;
  static const int64_t any[3] = {1, 1, 1};
  struct phases p = {.wide = 1};
  struct choice choice;
  struct view x, y, like;
  struct epilogue epilogue;
  bool known, overlaps_previous = false;
  if (b->is_open) return HONE_OK;
  TRY(read_phases(b, g, &p, &known));
  for (int i = 0; known && i < p.count[0] * p.count[1]; i++) {
    const struct side *rows = &p.sides[0][i / p.count[1]], *columns = &p.sides[1][i % p.count[1]];
    const struct problem problem = phase_problem(&p, rows, columns, any, any);
    if (rows->count && columns->count) known = choose_kernel(b, &problem, &choice);
  }
  if (!known) return HONE_OK;
  TRY(padded(b, node, &p, &x));
  view_channels_last(&like, NULL, HONE_F32, &g->result->shape);
  TRY(make_output(b, g->result, &like, &y));
  TRY(make_epilogue(b, g, node_input(node, 2), &y, 1, &epilogue));
  if (merges_columns(&p, &epilogue)) p.wide = p.count[1];
  for (int i = 0; i < p.count[0] * p.count[1]; i += (int)p.wide) {
    const struct side *rows = &p.sides[0][i / p.count[1]], *columns = &p.sides[1][i % p.count[1]];
    if (!rows->count || !columns->count) continue;
    TRY(add_phase(b, g, &p, rows, columns, &x, &y, &epilogue, overlaps_previous));
    overlaps_previous = true;
  }
  *out_done = true;
  return HONE_OK;
}
