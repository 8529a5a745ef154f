/* What the files of this folder share. */
#ifndef HONE_MACHINE_INTERNAL_H
#define HONE_MACHINE_INTERNAL_H

#include "machine.h"

/* cpu.c */
/* Overwrites each size that this machine shows; the others keep what they were. */
void caches_read(size_t *l1d_bytes, size_t *l2_bytes, size_t *l3_bytes);
/* "avx2 fma ..." in the order of enum cpu_feature. */
void features_print(uint32_t features, char *out, size_t size);
/* "kvm", "none"; "" if the processor does not say. */
void hypervisor_name(char *out, size_t size);

/* What cpuid calls it, extensions of family and model added in; "" and 0 where there is no cpuid. */
struct processor {
  char vendor[13];
  int family, model;
};
void processor_read(struct processor *out);

/* target.c */
/* The speeds of a level with such features become that processor's, where those are known to differ. */
void processor_speeds(const struct processor *processor, uint32_t features, struct speeds *speeds);

/* cores.c */
/* The n-th CPU of this thread's affinity mask, counted round; -1 if unknown. */
int allowed_cpu(int n);

#endif
