/* Choices of the kernels over independent rows: softmax_f32, layernorm_f32, reduce_f32. */
#include "families.h"

static bool rows_are_sound(const struct problem *p) {
  return p->dtype == 1 && p->rows > 0 && p->columns > 0;
}
static int64_t one_unit_a_row(const struct problem *problem) { return problem->rows; }

bool softmax_accepts(const struct problem *problem, const struct kernel_target *target) {
  (void)target;
  return rows_are_sound(problem);
}
int softmax_choose(const struct problem *problem, const struct kernel_target *target,
                   struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  (void)problem, (void)target, (void)defines;
  return 0;
}
int64_t softmax_units(const struct problem *problem, const struct kernel_target *target) {
  (void)target;
  return one_unit_a_row(problem);
}

bool layernorm_accepts(const struct problem *problem, const struct kernel_target *target) {
  (void)target;
  return rows_are_sound(problem);
}
int layernorm_choose(const struct problem *problem, const struct kernel_target *target,
                     struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  return softmax_choose(problem, target, defines);
}
int64_t layernorm_units(const struct problem *problem, const struct kernel_target *target) {
  (void)target;
  return one_unit_a_row(problem);
}

bool reduce_accepts(const struct problem *problem, const struct kernel_target *target) {
  (void)target;
  return rows_are_sound(problem) && problem->k > 0 && problem->mode >= 0 && problem->mode <= 4;
}

/* Blocks of columns only where the rows alone cannot be shared out. */
static int64_t reduce_unit_columns(const struct problem *problem,
                                   const struct kernel_target *target) {
  int64_t goal = 8 * max_i64(1, target->threads), width = 4 * lanes_of(target);
  if (problem->rows >= goal) return problem->columns;
  return ceil_div(ceil_div(problem->columns, ceil_div(goal, problem->rows)), width) * width;
}

int reduce_choose(const struct problem *problem, const struct kernel_target *target,
                  struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  defines[0] = (struct kernel_define){"UNIT_COLUMNS", reduce_unit_columns(problem, target)};
  return 1;
}
int64_t reduce_units(const struct problem *problem, const struct kernel_target *target) {
  return problem->rows * ceil_div(problem->columns, reduce_unit_columns(problem, target));
}
