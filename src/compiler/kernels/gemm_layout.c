/* A matmul or convolution as a grid of pixels and a loop over k, split into tiles and panels. */
#include "gemm.h"

#include <string.h>

struct tile tile_of(const struct choice *choice) {
  struct tile tile;
  memcpy(&tile, choice->value, sizeof tile);
  return tile;
}

static void describe_gemm(const struct problem *p, struct layout *t) {
  int64_t batch0 = at_least_1(p->batch0), batch1 = at_least_1(p->batch1);
  t->pixel_rows = 1;
  t->pixel_columns = p->m;
  t->column_stride = p->a_row;
  t->outer = p->b_batches > 1 ? batch0 * batch1 : 1;
  t->inner = p->b_batches > 1 ? 1 : batch0 * batch1;
  t->columns = p->n;
  t->taps = t->taps_x = 1;
  t->depth = p->k;
  /* Batches at the distance of one row are rows of one matmul. */
  bool inner_joins =
      batch1 == 1 || (p->a_batch1 == p->m * p->a_row && p->c_batch1 == p->m * p->c_row);
  int64_t rows = p->m * batch1;
  bool outer_joins =
      batch0 == 1 || (p->a_batch0 == rows * p->a_row && p->c_batch0 == rows * p->c_row);
  if (t->outer == 1 && inner_joins && outer_joins) {
    t->pixel_columns = rows * batch0;
    t->inner = 1;
  }
}

static void describe_conv(const struct problem *p, struct layout *t) {
  int64_t groups = at_least_1(p->groups), images = at_least_1(p->images);
  t->pixel_rows = p->oh;
  t->pixel_columns = p->ow;
  t->row_stride = p->sh * p->i_row;
  t->column_stride = p->sw * p->i_pixel;
  t->outer = groups;
  t->inner = images;
  t->columns = p->oc / groups;
  t->taps = p->kh;
  bool row_contiguous = at_least_1(p->dw) == 1 && p->i_pixel == p->ic / groups;
  t->taps_x = row_contiguous ? 1 : p->kw;
  t->depth = p->ic / groups * (row_contiguous ? p->kw : 1);
  /* Rows of pixels at the distance of one pixel are one row. */
  if (p->oh == 1 ||
      (p->sh * p->i_row == p->ow * p->sw * p->i_pixel && p->o_row == p->ow * p->o_pixel)) {
    t->pixel_rows = 1;
    t->pixel_columns = p->oh * p->ow;
    if (images == 1 || (p->i_image == t->pixel_columns * p->sw * p->i_pixel &&
                        p->o_image == t->pixel_columns * p->o_pixel)) {
      t->pixel_columns *= images;
      t->inner = 1;
    }
  }
}

static int64_t group_of(const struct problem *problem) {
  return problem->types.acc == TYPE_I32 ? 4 : problem->types.a == TYPE_BF16 ? 2 : 1;
}

/* b is stored in 16 bits and multiplied as floats. */
static bool is_stored_narrow(const struct problem *problem) {
  return problem->types.a == TYPE_F32 && problem->types.b != TYPE_F32;
}

void gemm_describe(const struct problem *problem, const struct choice *choice, struct layout *t) {
  *t = (struct layout){.amx = choice->kernel->features & FEATURE_AMX_TILE};
  if (problem->kind == PROBLEM_gemm)
    describe_gemm(problem, t);
  else
    describe_conv(problem, t);
  t->group = group_of(problem);
  t->stored = problem->types.b;
  t->group_bytes = is_stored_narrow(problem) ? 2 : 4;
  t->elements = t->depth;
  t->depth = ceil_div(t->elements, t->group);
  if (t->amx) t->depth = ceil_div(t->depth, AMX_SIDE) * AMX_SIDE; /* whole tiles of b */
  t->k_all = t->taps * t->taps_x * t->depth;
}

int64_t width_of(const struct layout *t, const struct kernel_target *target) {
  return t->amx ? AMX_SIDE : lanes_of(target);
}

void gemm_cut(struct layout *t, const struct kernel_target *target) {
  const struct tile *tile = &t->tile;
  t->panel_width = tile->vectors * width_of(t, target);
  t->panels = ceil_div(t->columns, t->panel_width);
  t->column_tiles = ceil_div(t->pixel_columns, tile->columns);
  t->wide_tiles = t->column_tiles - (tile->columns * t->column_tiles - t->pixel_columns);
  t->tiles = ceil_div(t->pixel_rows, tile->rows) * t->column_tiles;
}

struct layout gemm_layout(const struct problem *problem, const struct kernel_target *target,
                          const struct choice *choice) {
  struct layout t;
  gemm_describe(problem, choice, &t);
  t.tile = tile_of(choice);
  gemm_cut(&t, target);
  return t;
}
