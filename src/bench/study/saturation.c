/* Tells whether an engine's int8 matmuls may saturate on this machine. On x86 processors without
 * VNNI, oneDNN and MLAS use vpmaddubsw, which adds two u8*s8 products in 16 bits and saturates;
 * with large weights the outputs are far from the exact sums. Both engines document this. The row
 * mentions it.
 */
#include "study_internal.h"

/* oneDNN's limit on instruction sets overrides what the processor supports. */
static bool is_capped(const struct config *config) {
  char name[64], value[256];
  for (const char *at = config->options; option_next(&at, name, value);)
    if (!strcmp(name, "env.ONEDNN_MAX_CPU_ISA"))
      return !strstr(value, "VNNI") && !strstr(value, "BF16") && !strstr(value, "FP16") &&
             !strstr(value, "AMX") && strcmp(value, "DEFAULT") != 0;
  return false;
}

bool may_saturate(const struct bench_case *one, const struct config *config) {
  const struct backend *backend = backend_find(config->backend);
  const bool has_bytes = !strcmp(one->tolerance, "int8") || !strcmp(one->tolerance, "dynamic");
  if (!backend || !backend->saturates || !has_bytes || strcmp(config->device, "cpu")) return false;
#if defined(__x86_64__)
  return is_capped(config) || !(cpu_features() & (CPU_AVX512_VNNI | CPU_AVX_VNNI | CPU_AMX_INT8));
#else
  return false;
#endif
}

void note_saturation(const struct bench_case *one, const struct config *config,
                     struct process_record *record) {
  char reason[sizeof record->reason];
  if (record->status != STATUS_wrong || !may_saturate(one, config)) return;
  snprintf(reason, sizeof reason, "%s", record->reason);
  snprintf(record->reason, sizeof record->reason,
           "saturates on processors without VNNI (vpmaddubsw): %.900s", reason);
}
