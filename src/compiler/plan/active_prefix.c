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

/* True if a part of the work items gives the leading part of dimension d of the result, of which
   the kernel counts `leading`. */
static bool find_active_prefix(struct builder *b, struct step *step, int d, int64_t leading,
                               enum prefix_of of) {
  const struct view *to = &step->outputs[0];
  const int64_t size = to->shape.dims[d];
  const struct slope slope = view_slope(to, d);
  step->prefix = (struct active_prefix){0};
  if ((slope_is_zero(&slope) && of != PREFIX_BATCH_ROWS) || leading < size || leading % size)
    return false;
  if (!kernel_active_prefix(&step->problem, &b->plan->kernel_target, &step->choice, of,
                            &step->prefix)) {
    step->prefix = (struct active_prefix){0};
    return false;
  }
  step->prefix_count = leading;
  step->prefix_slope = slope_times(&slope, leading / size);
  return true;
}

/* Fewer matmuls of m rows if dimension d, the first of the batch, is shorter. */
static void shorten_groups(struct step *step, int d) {
  const struct view *to = &step->outputs[0];
  const struct slope slope = view_slope(to, d);
  int64_t groups = step->units / step->prefix.inner, size = to->shape.dims[d];
  if (d >= to->shape.rank - 2 || slope_is_zero(&slope) || groups % size) return;
  step->group_count = groups;
  step->group_slope = slope_times(&slope, groups / size);
}

/* The rows of an image. */
static bool shorten_images(struct builder *b, struct step *step) {
  const struct view *to = &step->outputs[0];
  const struct problem *p = &step->problem;
  const bool is_image =
      p->kind == PROBLEM_conv || p->kind == PROBLEM_depthwise || p->kind == PROBLEM_pool;
  if (!is_image || to->shape.rank < 3) return false;
  const struct slope images = view_slope(to, 0);
  if (!slope_is_zero(&images)) return false;
  return to->shape.dims[2] == (p->oh == 1 ? p->ow : p->oh) &&
         find_active_prefix(b, step, 2, to->shape.dims[2], PREFIX_IMAGE_ROWS);
}

void set_active_prefix(struct builder *b, struct step *step) {
  const struct view *to = &step->outputs[0];
  int order[HONE_MAX_RANK], first = 0, rank = to->shape.rank;
  if (shorten_images(b, step)) return;
  view_order(to, order);
  /* reductions use the memory order, all others the order of dimensions */
  for (int d = 0; d < rank && step->problem.kind != PROBLEM_reduce; d++) order[d] = d;
  while (first < rank && to->shape.dims[order[first]] == 1) first++;
  if (first == rank) return;
  const bool is_attention = step->problem.kind == PROBLEM_attention;
  const bool has_rows = rank > 1 && to->shape.dims[rank - 2] == step->problem.m;
  const bool products = has_rows && (is_attention || (step->problem.kind == PROBLEM_gemm &&
                                                      rank > 2 && order[first] < rank - 2));
  if (products && find_active_prefix(b, step, rank - 2, step->problem.m, PREFIX_BATCH_ROWS)) {
    shorten_groups(step, order[first]);
    return;
  }
  find_active_prefix(b, step, order[first], leading_number(&step->problem), PREFIX_ALL);
}
