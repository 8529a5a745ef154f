/* Loops that measure the machine's peaks, one row per instruction set: fused multiply-adds in
 * registers and memory reads. Each is compiled for its instruction set by a target attribute and
 * chosen by cpu_features(), so the probe reaches the peak that generated code of that level can
 * reach.
 *
 * FMA: latency 4 on 2 ports needs 8 independent chains; 12 leave room for slower processors and fit
 * 16 registers with both constants. x = x * m + a converges to its fixed point a / (1 - m) = 1: no
 * overflow, no denormals. Reads: 8 integer chains, whose speed does not depend on the data. */
#include "probes.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define CHAINS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define READS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

#define FMA_LOOP(name, isa, vec, set1, fma, store)                        \
  __attribute__((target(isa), noinline)) static float name(long rounds) { \
    const vec m = set1(0.9999f), a = set1(0.0001f);                       \
    CHAINS(FMA_DECLARE_##store)                                           \
    for (long i = 0; i < rounds; i++) {                                   \
      CHAINS(fma)                                                         \
    }                                                                     \
    float out[16];                                                        \
    float sum = 0;                                                        \
    CHAINS(FMA_STORE_##store)                                             \
    return sum;                                                           \
  }

/* the starting values differ, otherwise the compiler would merge the twelve chains */
#define FMA_DECLARE_512(n) __m512 x##n = _mm512_set1_ps(1.0f + (float)(n + rounds) * 1e-9f);
#define FMA_DECLARE_256(n) __m256 x##n = _mm256_set1_ps(1.0f + (float)(n + rounds) * 1e-9f);
#define FMA_DECLARE_128(n) __m128 x##n = _mm_set1_ps(1.0f + (float)(n + rounds) * 1e-9f);
#define FMA_STORE_512(n) _mm512_storeu_ps(out, x##n), sum += out[0];
#define FMA_STORE_256(n) _mm256_storeu_ps(out, x##n), sum += out[0];
#define FMA_STORE_128(n) _mm_storeu_ps(out, x##n), sum += out[0];
#define FMA_512(n) x##n = _mm512_fmadd_ps(x##n, m, a);
#define FMA_256(n) x##n = _mm256_fmadd_ps(x##n, m, a);
#define FMA_128(n) x##n = _mm_add_ps(_mm_mul_ps(x##n, m), a);

FMA_LOOP(fma_512, "avx512f", __m512, _mm512_set1_ps, FMA_512, 512)
FMA_LOOP(fma_256, "avx2,fma", __m256, _mm256_set1_ps, FMA_256, 256)
FMA_LOOP(fma_128, "sse2", __m128, _mm_set1_ps, FMA_128, 128)

#define READ_LOOP(name, isa, vec, zero, load, xor)                                              \
  __attribute__((target(isa), noinline)) static uint64_t name(const void *data, size_t bytes) { \
    const vec *p = data, *end = p + bytes / sizeof *p;                                          \
    vec s0 = zero(), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;             \
    for (; p + 8 <= end; p += 8) {                                                              \
      s0 = xor(s0, load(p)), s1 = xor(s1, load(p + 1));                                         \
      s2 = xor(s2, load(p + 2)), s3 = xor(s3, load(p + 3));                                     \
      s4 = xor(s4, load(p + 4)), s5 = xor(s5, load(p + 5));                                     \
      s6 = xor(s6, load(p + 6)), s7 = xor(s7, load(p + 7));                                     \
    }                                                                                           \
    uint64_t out[8];                                                                            \
    vec s = xor(xor(xor(s0, s1), xor(s2, s3)), xor(xor(s4, s5), xor(s6, s7)));                  \
    memcpy(out, &s, sizeof s);                                                                  \
    return out[0] ^ out[1];                                                                     \
  }
READ_LOOP(read_512, "avx512f", __m512i, _mm512_setzero_si512, _mm512_load_si512, _mm512_xor_si512)
READ_LOOP(read_256, "avx2", __m256i, _mm256_setzero_si256, _mm256_load_si256, _mm256_xor_si256)
READ_LOOP(read_128, "sse2", __m128i, _mm_setzero_si128, _mm_load_si128, _mm_xor_si128)

static const struct probe probes[] = {
    {CPU_AVX512, {fma_512, 12 * 16 * 2.0, 64}, read_512},
    {CPU_AVX2 | CPU_FMA, {fma_256, 12 * 8 * 2.0, 32}, read_256},
    {0, {fma_128, 12 * 4 * 2.0, 16}, read_128},
};

/* Sums of products of zeros: the speed of both instructions does not depend on the values. */
#define DOT_512(n) __asm__ volatile("vdpbf16ps %1, %1, %0" : "+v"(x##n) : "v"(m));
__attribute__((target("avx512f,avx512bf16"), noinline)) static float dot_512(long rounds) {
  const __m512 m = _mm512_setzero_ps();
  CHAINS(FMA_DECLARE_512)
  for (long i = 0; i < rounds; i++) {
    CHAINS(DOT_512)
  }
  float out[16];
  float sum = 0;
  CHAINS(FMA_STORE_512)
  return sum;
}

/* Four 16 x 16 tiles of sums, each of 32 products, as recommended by Intel's optimisation manual.
 * Tiles are configured for this thread and released; cpu_features() has requested permission. */
__attribute__((target("amx-tile,amx-bf16"), noinline)) static float dot_tiles(long rounds) {
  struct {
    uint8_t palette, start_row, zero[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
  } config = {.palette = 1};
  for (int t = 0; t < 8; t++) config.row_bytes[t] = 64, config.rows[t] = 16;
  __asm__ volatile("ldtilecfg %0" : : "m"(config));
  __asm__ volatile(
      "tilezero %tmm0\n\ttilezero %tmm1\n\ttilezero %tmm2\n\ttilezero %tmm3\n\t"
      "tilezero %tmm4\n\ttilezero %tmm5\n\ttilezero %tmm6\n\ttilezero %tmm7");
  for (long i = 0; i < rounds; i++)
    __asm__ volatile(
        "tdpbf16ps %tmm6, %tmm4, %tmm0\n\ttdpbf16ps %tmm7, %tmm4, %tmm1\n\t"
        "tdpbf16ps %tmm6, %tmm5, %tmm2\n\ttdpbf16ps %tmm7, %tmm5, %tmm3");
  __asm__ volatile("tilerelease");
  return (float)config.palette;
}

const struct flops_probe *probe_bf16(void) {
  static const struct flops_probe dot = {dot_512, 12 * 32 * 2.0, 128},
                                  tiles = {dot_tiles, 4 * 16 * 16 * 32 * 2.0, 1024};
  uint32_t features = cpu_features();
  if (features & CPU_AMX_BF16) return &tiles;
  return features & CPU_AVX512_BF16 ? &dot : NULL;
}

#else

/* GNU vectors of 16 bytes: NEON on aarch64, the native ones elsewhere. */
typedef float vec __attribute__((vector_size(16)));
typedef uint64_t words __attribute__((vector_size(16)));

#if defined(__aarch64__)
#include <arm_neon.h>
#define FMA(x, m, a) ((vec)vfmaq_f32((float32x4_t)(a), (float32x4_t)(x), (float32x4_t)(m)))
#else
#define FMA(x, m, a) ((x) * (m) + (a))
#endif

static float fma_128(long rounds) {
  const vec m = {0.9999f, 0.9999f, 0.9999f, 0.9999f}, a = {1e-4f, 1e-4f, 1e-4f, 1e-4f};
  vec x[12];
#pragma GCC unroll 12
  for (int n = 0; n < 12; n++) x[n] = m + (float)(n + rounds) * 1e-9f;
  for (long i = 0; i < rounds; i++)
#pragma GCC unroll 12
    for (int n = 0; n < 12; n++) x[n] = FMA(x[n], m, a);
  float sum = 0;
  for (int n = 0; n < 12; n++) sum += x[n][0];
  return sum;
}

static uint64_t read_128(const void *data, size_t bytes) {
  const words *p = data, *end = p + bytes / sizeof *p;
  words s[8] = {0};
  for (; p + 8 <= end; p += 8)
#pragma GCC unroll 8
    for (int n = 0; n < 8; n++) s[n] ^= p[n];
  for (int n = 1; n < 8; n++) s[0] ^= s[n];
  return s[0][0] ^ s[0][1];
}

static const struct probe probes[] = {{0, {fma_128, 12 * 4 * 2.0, 48}, read_128}};

const struct flops_probe *probe_bf16(void) { return NULL; }

#endif

#if defined(__x86_64__)
#define ADD "add %1, %0\n\t"
#elif defined(__aarch64__)
#define ADD "add %0, %0, %1\n\t"
#endif

#ifdef ADD
#define ADD_8 ADD ADD ADD ADD ADD ADD ADD ADD
static float add_chain(long rounds) {
  uint64_t sum = 1;
  for (long i = 0; i < rounds; i++)
    __asm__ volatile(ADD_8 ADD_8 ADD_8 ADD_8 ADD_8 ADD_8 ADD_8 ADD_8 : "+r"(sum) : "r"(i));
  return (float)(sum & 1);
}
const struct flops_probe *probe_cycles(void) {
  static const struct flops_probe adds = {add_chain, 64, 1};
  return &adds;
}
#else
const struct flops_probe *probe_cycles(void) { return NULL; }
#endif

const struct probe *probe_best(void) {
  uint32_t features = cpu_features();
  for (size_t i = 0; i < COUNT(probes); i++)
    if (!(probes[i].features & ~features)) return &probes[i];
  return &probes[COUNT(probes) - 1];
}
