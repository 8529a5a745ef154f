/* Choices for the kernels over independent rows: softmax_f32, layernorm_f32, reduce_f32. Only the
 * last has parameters.
 */
#include <string.h>

#include "families.h"

static bool rows_are_sound(const struct problem *p) { return p->rows > 0 && p->columns > 0; }

#define NOTHING_TO_CHOOSE(name)                                                            \
  bool name##_accepts(const struct problem *problem, const struct kernel_target *target) { \
    (void)target;                                                                          \
    return rows_are_sound(problem);                                                        \
  }                                                                                        \
  bool name##_enumerate(const struct problem *problem, const struct kernel_target *target, \
                        int index, struct choice *out) {                                   \
    (void)problem, (void)target, (void)out;                                                \
    return index == 0;                                                                     \
  }                                                                                        \
  bool name##_fits(const struct problem *problem, const struct kernel_target *target,      \
                   struct choice *choice) {                                                \
    (void)problem, (void)target, (void)choice;                                             \
    return true;                                                                           \
  }                                                                                        \
  int name##_defines(const struct problem *problem, const struct kernel_target *target,    \
                     const struct choice *choice,                                          \
                     struct kernel_define defines[KERNEL_DEFINES_MAX]) {                   \
    (void)target, (void)choice;                                                            \
    return define_types(problem, defines);                                                 \
  }                                                                                        \
  int64_t name##_units(const struct problem *problem, const struct kernel_target *target,  \
                       const struct choice *choice) {                                      \
    (void)target, (void)choice;                                                            \
    return problem->rows;                                                                  \
  }
NOTHING_TO_CHOOSE(softmax)
NOTHING_TO_CHOOSE(layernorm)

/* A row of floats, for rows stored in another type. */
size_t softmax_scratch_bytes(const struct problem *problem, const struct kernel_target *target,
                             const struct choice *choice) {
  (void)target, (void)choice;
  return problem->types.c == TYPE_F32 ? 0 : (size_t)problem->columns * sizeof(float);
}

bool reduce_accepts(const struct problem *problem, const struct kernel_target *target) {
  (void)target;
  return rows_are_sound(problem) && problem->k > 0 && problem->mode >= 0 && problem->mode <= 5;
}

/* unit_columns: blocks of columns, only if there are too few rows for all threads. */
bool reduce_enumerate(const struct problem *problem, const struct kernel_target *target, int index,
                      struct choice *out) {
  int64_t goal = 8 * max_i64(1, target->threads), width = 4 * lanes_of(target);
  if (index) return false;
  out->value[0] = problem->columns;
  if (problem->rows < goal)
    out->value[0] =
        ceil_div(ceil_div(problem->columns, ceil_div(goal, problem->rows)), width) * width;
  return true;
}
/* A work item ends at a whole vector or at the end of the row. */
bool reduce_fits(const struct problem *problem, const struct kernel_target *target,
                 struct choice *choice) {
  int64_t columns = choice->value[0];
  return columns > 0 && (columns % lanes_of(target) == 0 || columns == problem->columns) &&
         columns < problem->columns + 4 * lanes_of(target);
}
static bool runs_along_lines(const struct problem *p) {
  return p->columns == 1 && p->r_stride == 1;
}

int reduce_defines(const struct problem *problem, const struct kernel_target *target,
                   const struct choice *choice, struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  int count = define_types(problem, defines);
  defines[count++] = (struct kernel_define){"LINES", runs_along_lines(problem)};
  defines[count++] = (struct kernel_define){"WIDE", problem->columns >= 4 * lanes_of(target)};
  defines[count++] = (struct kernel_define){"UNIT_COLUMNS", choice->value[0]};
  return count;
}

/* Not if lanes run along the reduced dimension: the length of its tail is a literal. */
int reduce_shared_defines(const struct problem *problem, const struct kernel_target *target,
                          const struct choice *choice,
                          struct kernel_define defines[KERNEL_DEFINES_MAX], int *out_sizes) {
  const struct kernel_define more[] = {
      {"MODE", problem->mode},         {"UNIT_COLUMNS", choice->value[0]},
      {"COLUMNS", problem->columns},   {"K", problem->k},
      {"I_STRIDE", problem->i_stride}, {"R_STRIDE", problem->r_stride},
      {"O_STRIDE", problem->o_stride},
  };
  int count = reduce_defines(problem, target, choice, defines) - 1; /* the last define is a size */
  *out_sizes = COUNT(more) - 1;
  memcpy(defines + count, more, sizeof more);
  return runs_along_lines(problem) ? 0 : count + COUNT(more);
}
int64_t reduce_units(const struct problem *problem, const struct kernel_target *target,
                     const struct choice *choice) {
  (void)target;
  return problem->rows * ceil_div(problem->columns, choice->value[0]);
}
