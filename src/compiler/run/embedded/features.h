/* Features of this processor, as bits of hone_artifact_info.flags: those that cpuid reports and
 * whose registers the system saves. Used in hone's programs and in artifacts with several levels.
 * Sources: Intel SDM volume 1 chapter 13 and volume 2 CPUID; Linux
 * Documentation/arch/x86/xstate.rst, asm/hwcap.h.
 */
#if defined __x86_64__
#include <cpuid.h>
#elif defined __aarch64__
#include <sys/auxv.h>
#endif
#include <stddef.h>
#include <stdint.h>

#if defined __x86_64__
/* Linux grants tiles on request, unless it does not save their state. */
static int may_use_tiles(void) {
  enum { ARCH_PRCTL = 158, REQUEST_STATE = 0x1023, TILE_DATA = 18 };
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "0"((long)ARCH_PRCTL), "D"((long)REQUEST_STATE), "S"((long)TILE_DATA)
                   : "rcx", "r11", "memory");
  return !result;
}

/* A feature is present if cpuid reports it and the system saves the registers that it needs. */
static uint32_t processor_features(void) {
  enum { LEAF_1_C, LEAF_7_B, LEAF_7_C, LEAF_7_D, LEAF_7_1_A };
  enum { NO_STATE, YMM, ZMM, TILES };
  static const struct {
    uint32_t feature, bits;
    int at, state;
  } rows[] = {
      {HONE_NEEDS_SSE42, 1u << 20 | 1u << 23 | 1u << 13 | 1u << 9, LEAF_1_C, NO_STATE},
      {HONE_NEEDS_AVX, 1u << 28, LEAF_1_C, YMM},
      {HONE_NEEDS_AVX2, 1u << 5, LEAF_7_B, YMM},
      {HONE_NEEDS_FMA, 1u << 12, LEAF_1_C, YMM},
      {HONE_NEEDS_F16C, 1u << 29, LEAF_1_C, YMM},
      {HONE_NEEDS_AVX512, 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31, LEAF_7_B, ZMM},
      {HONE_NEEDS_AVX512_VNNI, 1u << 11, LEAF_7_C, ZMM},
      {HONE_NEEDS_AVX512_BF16, 1u << 5, LEAF_7_1_A, ZMM},
      {HONE_NEEDS_AVX512_FP16, 1u << 23, LEAF_7_D, ZMM},
      {HONE_NEEDS_AMX_TILE, 1u << 24, LEAF_7_D, TILES},
      {HONE_NEEDS_AMX_INT8, 1u << 25, LEAF_7_D, TILES},
      {HONE_NEEDS_AMX_BF16, 1u << 22, LEAF_7_D, TILES},
      {HONE_NEEDS_AVX_VNNI, 1u << 4, LEAF_7_1_A, YMM},
      {HONE_NEEDS_BMI, 1u << 3 | 1u << 8, LEAF_7_B, NO_STATE},
      {HONE_NEEDS_AVX512_VBMI, 1u << 1, LEAF_7_C, ZMM},
  };
  uint32_t r[5] = {0}, a, b, c, d, has = 0;
  int states[] = {1, 0, 0, 0};
  if (__get_cpuid(1, &a, &b, &c, &d)) r[LEAF_1_C] = c;
  if (r[LEAF_1_C] >> 27 & 1) { /* OSXSAVE */
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    states[YMM] = (low & 0x6) == 0x6, states[ZMM] = (low & 0xe6) == 0xe6;
  }
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    r[LEAF_7_B] = b, r[LEAF_7_C] = c, r[LEAF_7_D] = d;
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) r[LEAF_7_1_A] = a;
  }
  states[TILES] = r[LEAF_7_D] >> 24 & 1 && may_use_tiles();
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if ((r[rows[i].at] & rows[i].bits) == rows[i].bits && states[rows[i].state])
      has |= rows[i].feature;
  return has;
}
#elif defined __aarch64__
static uint32_t processor_features(void) {
  uint32_t has = HONE_NEEDS_NEON;
  if (getauxval(AT_HWCAP) >> 20 & 1) has |= HONE_NEEDS_DOTPROD;
  if (getauxval(AT_HWCAP2) >> 13 & 1) has |= HONE_NEEDS_I8MM;
  if (getauxval(AT_HWCAP2) >> 14 & 1) has |= HONE_NEEDS_BF16;
  return has;
}
#else
static uint32_t processor_features(void) { return 0; }
#endif
