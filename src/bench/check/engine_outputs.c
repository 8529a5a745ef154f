/* Compares the outputs of two engines. Used if hone's reference is missing, or if an engine
 * disagrees with it. Runs in the harness between workers, never during a slice.
 */
#include "core/os/os.h"
#include "check.h"

#include <stdlib.h>

void data_path(char out[4096], const char *dir, const char *kind, int set, size_t index) {
  snprintf(out, 4096, "%.4000s/%s_%d_%zu.npy", dir, kind, set, index);
}

/* Adds one output of one set; false if a file is missing, damaged, or differs in type or shape. */
static bool compare_output(const struct bench_case *one, const char *dir_a, const char *dir_b,
                           int set, size_t i, const char *precision, struct accuracy *accuracy) {
  char path[4096];
  struct ctx ctx;
  ctx_init(&ctx);
  hone_tensor a = {.data = NULL}, b = {.data = NULL};
  const struct yardstick yardstick = {.precision = precision,
                                      .step = one->steps ? one->steps[i] : 0,
                                      .condition = {one->conditions ? one->conditions[i][0] : 0,
                                                    one->conditions ? one->conditions[i][1] : 0}};
  data_path(path, dir_a, "out", set, i);
  bool is_readable = !npy_read(&ctx, path, &one->outputs[i].info, &a);
  data_path(path, dir_b, "out", set, i);
  is_readable =
      is_readable && !npy_read(&ctx, path, &one->outputs[i].info, &b) && same_form(&a, &b);
  if (is_readable) accuracy_add(accuracy, one->outputs[i].name, &a, b.data, &yardstick);
  free(a.data);
  free(b.data);
  return is_readable;
}

bool engine_outputs_agree(const struct bench_case *one, const char *dir_a, const char *dir_b,
                          const char *precision, struct accuracy *out) {
  accuracy_init(out);
  bool is_readable = one->output_count > 0;
  for (int set = 0; is_readable && set < BENCH_SETS; set++)
    for (size_t i = 0; is_readable && i < one->output_count; i++)
      is_readable = compare_output(one, dir_a, dir_b, set, i, precision, out);
  return is_readable && out->is_within;
}
