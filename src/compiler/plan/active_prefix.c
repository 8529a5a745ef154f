/* Kernels that stop early: which leading part of a step's result depends on a symbol. */
#include "builder.h"

static int64_t leading_number(const struct problem *p) {
  switch (p->kind) {
    case PROBLEM_gemm:
      return p->m * (p->batch0 > 1 ? p->batch0 : 1) * (p->batch1 > 1 ? p->batch1 : 1);
    case PROBLEM_conv:
    case PROBLEM_depthwise:
    case PROBLEM_pool:
      return p->images;
    default:
      return p->rows;
  }
}

static hone_status keep_slope(struct builder *b, const struct slope *slope,
                              const struct slope **out) {
  struct slope *kept;
  TRY(NEW(b->ctx, b->arena, kept));
  *kept = *slope;
  *out = kept;
  return HONE_OK;
}

/* *out_found: a part of the work items gives the leading part of dimension d of the result, of which
   the kernel counts `leading`. */
static hone_status find_active_prefix(struct builder *b, struct step *step, int d, int64_t leading,
                                      enum prefix_of of, bool *out_found) {
  const struct view *to = &step->outputs[0];
  const int64_t size = to->shape.dims[d];
  const struct slope slope = view_slope(to, d);
  *out_found = false;
  step->prefix = (struct active_prefix){0};
  if ((slope_is_zero(&slope) && of != PREFIX_BATCH_ROWS) || leading < size || leading % size)
    return HONE_OK;
  *out_found = kernel_active_prefix(&step->problem, &b->plan->schedule.kernels, &step->choice, of,
                                    &step->prefix);
  if (!*out_found) step->prefix = (struct active_prefix){0};
  const struct slope all = slope_times(&slope, leading / size);
  step->prefix_count = leading;
  return keep_slope(b, &all, &step->prefix_slope);
}

/* Fewer matmuls of m rows if dimension d, the first of the batch, is shorter. Not where all matmuls of
   the batch share a panel of b: then they follow each other within it. */
static hone_status shorten_groups(struct builder *b, struct step *step, int d) {
  const struct view *to = &step->outputs[0];
  const struct problem *p = &step->problem;
  const int64_t batches = (p->batch0 > 1 ? p->batch0 : 1) * (p->batch1 > 1 ? p->batch1 : 1);
  const int64_t groups = step->units / step->prefix.inner, size = to->shape.dims[d];
  if (p->b_batches <= 1 && p->kind == PROBLEM_gemm && groups != batches) return HONE_OK;
  const struct slope slope = view_slope(to, d), all = slope_times(&slope, groups / size);
  if (d >= to->shape.rank - 2 || slope_is_zero(&slope) || groups % size) return HONE_OK;
  step->group_count = groups;
  return keep_slope(b, &all, &step->group_slope);
}

/* The rows of an image. */
static hone_status shorten_images(struct builder *b, struct step *step, bool *out_done) {
  const struct view *to = &step->outputs[0];
  const struct problem *p = &step->problem;
  const bool is_image =
      p->kind == PROBLEM_conv || p->kind == PROBLEM_depthwise || p->kind == PROBLEM_pool;
  *out_done = false;
  if (!is_image || to->shape.rank < 3) return HONE_OK;
  const struct slope images = view_slope(to, 0);
  if (!slope_is_zero(&images) || to->shape.dims[2] != (p->oh == 1 ? p->ow : p->oh)) return HONE_OK;
  return find_active_prefix(b, step, 2, to->shape.dims[2], PREFIX_IMAGE_ROWS, out_done);
}

hone_status set_active_prefix(struct builder *b, struct step *step) {
  const struct view *to = &step->outputs[0];
  int order[HONE_MAX_RANK], first = 0, rank = to->shape.rank;
  bool done;
  TRY(shorten_images(b, step, &done));
  if (done) return HONE_OK;
  view_order(to, order);
  /* reductions use the memory order, all others the order of dimensions */
  for (int d = 0; d < rank && step->problem.kind != PROBLEM_reduce; d++) order[d] = d;
  while (first < rank && to->shape.dims[order[first]] == 1) first++;
  if (first == rank) return HONE_OK;
  const bool is_attention = step->problem.kind == PROBLEM_attention;
  const bool has_rows = rank > 1 && to->shape.dims[rank - 2] == step->problem.m;
  const bool products =
      has_rows &&
      (is_attention || (step->problem.kind == PROBLEM_gemm && rank > 2 && order[first] < rank - 2));
  if (products)
    TRY(find_active_prefix(b, step, rank - 2, step->problem.m, PREFIX_BATCH_ROWS, &done));
  if (done) return shorten_groups(b, step, order[first]);
  return find_active_prefix(b, step, order[first], leading_number(&step->problem), PREFIX_ALL,
                            &done);
}

/* -- limits inside work items */

struct limits {
  int64_t bounds[2]; /* batches or images, pixels or rows */
  struct slope slopes[2];
};

static void limit_images(const struct problem *p, const struct view *to, struct limits *l) {
  const struct slope images = view_slope(to, 0), rows = view_slope(to, 2);
  const int64_t pixels = p->oh * p->ow, image_count = p->images > 1 ? p->images : 1;
  if (l->bounds[0] == image_count) {
    const bool counts_rows = l->bounds[1] == p->oh || p->oh == 1;
    l->slopes[0] = images;
    if (counts_rows || l->bounds[1] == pixels)
      l->slopes[1] = slope_times(&rows, counts_rows ? 1 : p->ow);
  } else if (l->bounds[1] == pixels * image_count) {
    l->slopes[1] = slope_times(&images, pixels);
  }
}

/* A share of `count` things for each element of dimension d. */
static struct slope share(const struct view *to, int d, int64_t count) {
  const struct slope slope = view_slope(to, d);
  const int64_t size = to->shape.dims[d];
  return size && count % size == 0 ? slope_times(&slope, count / size) : (struct slope){0};
}

static void limit_rows(const struct problem *p, const struct view *to, struct limits *l) {
  const int rank = to->shape.rank;
  int first = 0;
  while (first < rank - 2 && to->shape.dims[first] == 1) first++;
  const bool has_rows = rank > 1 && to->shape.dims[rank - 2] == p->m && l->bounds[1] == p->m;
  if (has_rows) l->slopes[1] = view_slope(to, rank - 2);
  if (has_rows && first < rank - 2)
    l->slopes[0] = share(to, first, l->bounds[0]);
  else if (!has_rows && l->bounds[0] == 1 && rank)
    l->slopes[1] = share(to, first, l->bounds[1]);
}

hone_status add_limits(struct builder *b, const struct choice *choice, const struct view *to,
                       struct problem *problem, struct epilogue *epilogue) {
  struct limits l = {{0}, {{{0}}}};
  struct view *operands, view;
  enum operand_kind *kinds;
  const size_t count = epilogue->count;
  if (!kernel_limits(problem, &b->plan->schedule.kernels, choice, &l.bounds[0], &l.bounds[1]))
    return HONE_OK;
  if (problem->kind == PROBLEM_conv)
    limit_images(problem, to, &l);
  else
    limit_rows(problem, to, &l);
  if (slope_is_zero(&l.slopes[0]) && slope_is_zero(&l.slopes[1])) return HONE_OK;
  TRY(sizes_operand(b, 2, l.bounds, l.slopes, &view));
  TRY(NEW_ARRAY(b->ctx, b->arena, operands, count + 1));
  TRY(NEW_ARRAY(b->ctx, b->arena, kinds, count + 1));
  if (count) memcpy(operands, epilogue->operands, count * sizeof *operands);
  if (count) memcpy(kinds, epilogue->kinds, count * sizeof *kinds);
  operands[count] = view;
  kinds[count] = OPERAND_FULL;
  epilogue->operands = operands;
  epilogue->kinds = kinds;
  epilogue->count = count + 1;
  problem->limit_operand = (int64_t)epilogue->count;
  return HONE_OK;
}
