/* The timed loops of probes.c, chosen for this processor; used by peaks.c. */
#ifndef HONE_PROBES_H
#define HONE_PROBES_H

#include "machine_internal.h"

struct flops_probe {
  float (*run)(long rounds); /* the result keeps the loop alive */
  double flops_per_round;
  double flops_per_cycle; /* upper bound for any processor with these instructions */
};
struct probe {
  uint32_t features;
  struct flops_probe fma;
  uint64_t (*read)(const void *data, size_t bytes); /* 64-byte aligned, bytes a multiple of 512 */
};
const struct probe *probe_best(void);
/* bf16 products with the best instruction of this processor; NULL: none. */
const struct flops_probe *probe_bf16(void);
/* A chain of dependent additions, one per cycle: flops_per_round cycles per round. NULL: none for
 * this processor. */
const struct flops_probe *probe_cycles(void);
#define READ_BYTES_PER_CYCLE 128.0 /* upper bound: two loads of 64 bytes */

/* peaks.c: finds the number of rounds for a window, then the fastest window. */
struct windows {
  long rounds;
  double best_ns;          /* of those windows that had `rounds` */
  int count, calibrations; /* windows that count; changes of `rounds` */
};
/* Adds the time of a window with `rounds`. A window that is too short increases them and discards
 * all earlier windows, which had fewer. */
void windows_add(struct windows *windows, double ns);

#endif
