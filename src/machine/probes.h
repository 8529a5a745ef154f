/* The timed loops of probes.c, chosen for this processor; used by peaks.c. */
#ifndef HONE_PROBES_H
#define HONE_PROBES_H

#include "machine_internal.h"

struct probe {
  uint32_t features;
  float (*fma)(long rounds); /* the result keeps the loop alive */
  double flops_per_round;
  uint64_t (*read)(const void *data, size_t bytes); /* 64-byte aligned, bytes a multiple of 512 */
};
const struct probe *probe_best(void);

#endif
