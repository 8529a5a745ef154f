/* Computes which work items of a step stay active when its leading size (images, rows) is smaller
 * than at compile time. Kernels are compiled for the bound; the step function calls them for fewer
 * work items.
 */
#include "families.h"

/* Work items of one row of an image; 0: they do not follow its rows. */
static int64_t units_of_row(const struct problem *problem, const struct kernel_target *target,
                            const struct choice *choice) {
  const struct kernel *kernel = choice->kernel;
  const bool is_row = kernel->units == depthwise_units || kernel->units == depthwise_dot_units ||
                      kernel->units == conv_small_oc_units || kernel->units == pool_units ||
                      kernel->units == pool_max_units;
  return is_row && problem->oh > 1
             ? kernel->units(problem, target, choice) / (at_least_1(problem->images) * problem->oh)
             : 0;
}

/* Work items begin with those of the first image or row. */
static bool is_outermost(const struct kernel *kernel) {
  return kernel->units == depthwise_units || kernel->units == depthwise_dot_units ||
         kernel->units == conv_small_oc_units || kernel->units == pool_units ||
         kernel->units == winograd_units || kernel->units == softmax_units ||
         kernel->units == layernorm_units || kernel->units == reduce_units;
}

bool kernel_active_prefix(const struct problem *problem, const struct kernel_target *target,
                          const struct choice *choice, enum prefix_of of,
                          struct active_prefix *out) {
  const struct kernel *kernel = choice->kernel;
  const bool has_images = problem->kind == PROBLEM_conv || problem->kind == PROBLEM_depthwise ||
                          problem->kind == PROBLEM_pool;
  const int64_t leading = has_images ? at_least_1(problem->images) : problem->rows;
  if (of == PREFIX_IMAGE_ROWS && !has_images) return false;
  if (kernel->units == gemm_units || kernel->units == conv_units)
    return gemm_active_prefix(problem, target, choice, of, out);
  if (kernel->units == attention_units)
    return of == PREFIX_BATCH_ROWS && attention_active_prefix(problem, choice, out);
  if (of == PREFIX_IMAGE_ROWS && kernel->units == winograd_units)
    return winograd_active_prefix(problem, target, choice, out);
  if (of == PREFIX_IMAGE_ROWS) {
    const int64_t row = units_of_row(problem, target, choice);
    *out = (struct active_prefix){row * problem->oh, row, 1, 0};
    return row > 0;
  }
  if (!is_outermost(kernel) || of != PREFIX_ALL || leading < 1) return false;
  int64_t units = kernel->units(problem, target, choice);
  *out = (struct active_prefix){units, units / leading, 1, 0};
  return true;
}

bool kernel_limits(const struct problem *problem, const struct kernel_target *target,
                   const struct choice *choice, int64_t *out_batches, int64_t *out_pixels) {
  const bool has_rows =
      choice->kernel->units == gemm_wq_units || choice->kernel->units == attention_units;
  *out_batches = at_least_1(problem->batch0) * at_least_1(problem->batch1);
  *out_pixels = problem->m;
  if (has_rows) return true;
  if (choice->kernel->units != gemm_units && choice->kernel->units != conv_units) return false;
  gemm_limits(problem, target, choice, out_batches, out_pixels);
  return true;
}
