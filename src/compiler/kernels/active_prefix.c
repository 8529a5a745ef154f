/* Computes which work items of a step stay active when its leading size (images, rows) is smaller
 * than at compile time. Kernels are compiled for the bound; the step function calls them for fewer
 * work items.
 */
#include "families.h"

bool kernel_active_prefix(const struct problem *problem, const struct kernel_target *target,
                          const struct choice *choice, bool in_batch, struct active_prefix *out) {
  const struct kernel *kernel = choice->kernel;
  const bool has_images = problem->kind == PROBLEM_conv || problem->kind == PROBLEM_depthwise ||
                          problem->kind == PROBLEM_pool;
  const int64_t leading = has_images ? at_least_1(problem->images) : problem->rows;
  if (kernel->units == gemm_units || kernel->units == conv_units)
    return gemm_active_prefix(problem, target, choice, in_batch, out);
  if (kernel->units == attention_units)
    return in_batch && attention_active_prefix(problem, choice, out);
  bool is_outermost = kernel->units == depthwise_units || kernel->units == depthwise_dot_units ||
                      kernel->units == conv_small_oc_units || kernel->units == pool_units ||
                      kernel->units == softmax_units || kernel->units == layernorm_units ||
                      kernel->units == reduce_units;
  if (!is_outermost || in_batch || leading < 1) return false;
  int64_t units = kernel->units(problem, target, choice);
  *out = (struct active_prefix){units, units / leading, 1};
  return true;
}

bool kernel_choose_for_prefix(const struct problem *problem, const struct kernel_target *target,
                              struct choice *out) {
  bool found = false;
  for (size_t i = 0; i < kernel_count; i++) {
    struct choice now;
    struct active_prefix prefix;
    if (!kernel_serves(&kernel_table[i], problem, target)) continue;
    if (!kernel_choose_in(&kernel_table[i], problem, target, &now)) continue;
    if (now.kernel->units == gemm_units || now.kernel->units == conv_units)
      gemm_shorten(problem, target, &now);
    if (!kernel_active_prefix(problem, target, &now, false, &prefix)) continue;
    if (!found || (now.cost > 0 && (out->cost <= 0 || now.cost < out->cost))) *out = now;
    found = true;
  }
  return found;
}
