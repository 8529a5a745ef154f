/* The timed loops of probes.c, chosen for this processor; used by peaks.c. */
#ifndef HONE_PROBES_H
#define HONE_PROBES_H

#include "machine_internal.h"

struct flops_probe {
  float (*run)(long rounds); /* the result keeps the loop alive */
  double flops_per_round;
};
struct probe {
  uint32_t features;
  struct flops_probe fma;
  uint64_t (*read)(const void *data, size_t bytes); /* 64-byte aligned, bytes a multiple of 512 */
};
const struct probe *probe_best(void);
/* Products of bf16 with the best instruction that this processor has; NULL: it has none. */
const struct flops_probe *probe_bf16(void);

#endif
