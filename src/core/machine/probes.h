/* The timed loops of probes.c, chosen for this processor; used by peaks.c. */
#ifndef HONE_PROBES_H
#define HONE_PROBES_H

#include "machine_internal.h"

struct flops_probe {
  float (*run)(long rounds); /* the result keeps the loop alive */
  double flops_per_round;
  double flops_per_cycle; /* at most, of any processor with these instructions */
};
struct probe {
  uint32_t features;
  struct flops_probe fma;
  uint64_t (*read)(const void *data, size_t bytes); /* 64-byte aligned, bytes a multiple of 512 */
};
const struct probe *probe_best(void);
/* Products of bf16 with the best instruction that this processor has; NULL: it has none. */
const struct flops_probe *probe_bf16(void);
/* A chain of dependent additions, one a cycle: flops_per_round cycles a round. NULL: none for this processor. */
const struct flops_probe *probe_cycles(void);
#define READ_BYTES_PER_CYCLE 128.0 /* at most: two loads of 64 bytes */

/* peaks.c: how many rounds fill a window, then the fastest window. */
struct windows {
  long rounds;
  double best_ns;          /* of those windows that had `rounds` */
  int count, calibrations; /* windows that count; changes of `rounds` */
};
/* Takes the time of a window of `rounds`. One that is too short raises them, and all before it count no more: they had
   fewer. */
void windows_add(struct windows *windows, double ns);

#endif
