/* Shared by the files of this folder. */
#ifndef HONE_MACHINE_INTERNAL_H
#define HONE_MACHINE_INTERNAL_H

#include "machine.h"

/* cpu.c */
/* Sets each size that this machine reports; the others are unchanged. */
void caches_read(size_t *l1d_bytes, size_t *l2_bytes, size_t *l3_bytes);
/* "avx2 fma ..." in the order of enum cpu_feature. */
void features_print(uint32_t features, char *out, size_t size);
/* "kvm", "none"; "" if the processor does not report it. */
void hypervisor_name(char *out, size_t size);

/* The identification that cpuid reports, including extended family and model; "" and 0 without
 * cpuid. */
struct processor {
  char vendor[13];
  int family, model;
};
void processor_read(struct processor *out);

/* target.c */
/* Replaces the speeds of a level by those of this processor if they are known to differ. */
void processor_speeds(const struct processor *processor, uint32_t features, struct speeds *speeds);

/* cores.c */
/* The n-th CPU of this thread's affinity mask, modulo their number; -1 if unknown. */
int allowed_cpu(int n);

#endif
