/* Shared by the files of this folder. One file per family of kernels defines the functions that its
 * rows of kernels.def name.
 */
#ifndef HONE_KERNELS_FAMILIES_H
#define HONE_KERNELS_FAMILIES_H

#include <string.h>

#include "kernels.h"

/* Bits of kernel_target.features that affect choices; numbered as in machine.h. */
enum {
  FEATURE_AVX2 = 1 << 2,
  FEATURE_FMA = 1 << 3,
  FEATURE_F16C = 1 << 4,
  FEATURE_AVX512_VNNI = 1 << 6,
  FEATURE_AVX512_BF16 = 1 << 7,
  FEATURE_AMX_TILE = 1 << 9,
  FEATURE_AMX_INT8 = 1 << 10,
  FEATURE_AMX_BF16 = 1 << 11,
  FEATURE_AVX_VNNI = 1 << 12,
  FEATURE_AVX512_VBMI = 1 << 14,
  FEATURE_NEON = 1 << 20,
  FEATURE_DOTPROD = 1 << 21,
  FEATURE_I8MM = 1 << 22
};
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static inline int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
/* a / b, rounded up; b > 0. */
static inline int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }
static inline int64_t at_least_1(int64_t a) { return a > 1 ? a : 1; }
static inline int64_t lanes_of(const struct kernel_target *target) {
  return target->vector_bytes / 4;
}

/* The storage types of a and c, by ONNX number; returns the number of defines. */
static inline int define_types(const struct problem *problem,
                               struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  defines[0] = (struct kernel_define){"A_TYPE", problem->types.a};
  defines[1] = (struct kernel_define){"C_TYPE", problem->types.c};
  return 2;
}

/* Element i of gemm_wq in f32 or bf16; a bf16 is the upper half of a float. */
static inline float float_weight(const struct problem *problem, const void *b, int64_t i) {
  float x;
  if (problem->types.b == TYPE_F32) return ((const float *)b)[i];
  const uint32_t bits = (uint32_t)((const uint16_t *)b)[i] << 16;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Rows of `vectors` accumulators that fit in registers together with one row of b and a
   broadcast a. */
int64_t tile_capacity(int64_t vectors, const struct kernel_target *target);

/* The functions of every row: see struct kernel. */
#define ON const struct problem *problem, const struct kernel_target *target
#define FAMILY(name)                                                    \
  bool name##_accepts(ON);                                              \
  bool name##_enumerate(ON, int index, struct choice *out);             \
  bool name##_fits(ON, struct choice *choice);                          \
  int name##_defines(ON, const struct choice *choice,                   \
                     struct kernel_define defines[KERNEL_DEFINES_MAX]); \
  int64_t name##_units(ON, const struct choice *choice);
#define PACKED_FAMILY(name)                                    \
  FAMILY(name)                                                 \
  size_t name##_packed_bytes(ON, const struct choice *choice); \
  void name##_pack(ON, const struct choice *choice, const void *b, void *packed);
PACKED_FAMILY(gemm)
PACKED_FAMILY(conv)
PACKED_FAMILY(conv_small_oc)
PACKED_FAMILY(depthwise)
PACKED_FAMILY(depthwise_dot)
PACKED_FAMILY(winograd)
PACKED_FAMILY(recurrent)
PACKED_FAMILY(gemm_wq)
/* Differs in what it accepts. */
#define gemm_wq_tiles_defines gemm_wq_defines
#define gemm_wq_tiles_units gemm_wq_units
FAMILY(gemm_wq_tiles)
#define gemm_wq_small_enumerate gemm_wq_enumerate
#define gemm_wq_small_fits gemm_wq_fits
#define gemm_wq_small_defines gemm_wq_defines
#define gemm_wq_small_units gemm_wq_units
FAMILY(gemm_wq_small)
#define gemm_wq_words_enumerate gemm_wq_enumerate
#define gemm_wq_words_fits gemm_wq_fits
#define gemm_wq_words_defines gemm_wq_defines
#define gemm_wq_words_units gemm_wq_units
FAMILY(gemm_wq_words)
FAMILY(pool)
FAMILY(pool_max)
FAMILY(softmax)
FAMILY(layernorm)
FAMILY(reduce)
FAMILY(attention)
int gemm_shared_defines(ON, const struct choice *choice,
                        struct kernel_define defines[KERNEL_DEFINES_MAX], int *out_sizes);
int depthwise_shared_defines(ON, const struct choice *choice,
                             struct kernel_define defines[KERNEL_DEFINES_MAX], int *out_sizes);
int reduce_shared_defines(ON, const struct choice *choice,
                          struct kernel_define defines[KERNEL_DEFINES_MAX], int *out_sizes);
int64_t gemm_pack_units(ON, const struct choice *choice);
/* kernel_active_prefix for one family */
bool attention_active_prefix(const struct problem *problem, const struct choice *choice,
                             struct active_prefix *out);
bool gemm_active_prefix(ON, const struct choice *choice, enum prefix_of of,
                        struct active_prefix *out);
bool winograd_active_prefix(ON, const struct choice *choice, struct active_prefix *out);
/* kernel_limits */
void gemm_limits(ON, const struct choice *choice, int64_t *out_batches, int64_t *out_pixels);
size_t winograd_scratch_bytes(ON, const struct choice *choice);
size_t attention_scratch_bytes(ON, const struct choice *choice);
size_t recurrent_scratch_bytes(ON, const struct choice *choice);
size_t softmax_scratch_bytes(ON, const struct choice *choice);
size_t gemm_wq_scratch_bytes(ON, const struct choice *choice);
int64_t gemm_wq_split_units(ON, const struct choice *choice);

#undef PACKED_FAMILY
#undef FAMILY
#undef ON

#endif
