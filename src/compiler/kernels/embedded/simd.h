/* Vectors of floats for generated C, written once for all instruction sets with GNU vector types.
 * Each translation unit contains only the definitions that it uses. Builtins are used only where
 * compilers generate slower code for plain C: masks, min/max, rounding. HONE_VECTOR_BYTES (16, 32,
 * 64) is defined by the source generator, else derived from the compiler's target. The helpers at
 * the end are a closed set for elementwise expressions. Masks are 1 and 0. Errors against libm in
 * double: exp_, log_ at most 4 ulp, erf_ 5, tanh_ 6; NaN, infinities and denormals as in libm.
 */

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef HONE_VECTOR_BYTES
#if defined __AVX512F__
#define HONE_VECTOR_BYTES 64
#elif defined __AVX2__
#define HONE_VECTOR_BYTES 32
#else
#define HONE_VECTOR_BYTES 16
#endif
#endif
#define LANES (HONE_VECTOR_BYTES / 4)

typedef float vec __attribute__((vector_size(HONE_VECTOR_BYTES)));
typedef float vecu __attribute__((vector_size(HONE_VECTOR_BYTES), aligned(4), may_alias));
typedef int32_t veci __attribute__((vector_size(HONE_VECTOR_BYTES)));

#define PASTE2_(a, b) a##_##b
#define PASTE_(a, b) PASTE2_(a, b)

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#define ROLLED _Pragma("clang loop unroll(disable)")
#else
#define UNROLL _Pragma("GCC unroll 64")
#define ROLLED _Pragma("GCC unroll 1")
#endif
/* Keeps x in a register; the compiler would otherwise reload it from memory for each use. */
#if defined __x86_64__ && !defined __clang__ && defined __AVX512F__
#define IN_REGISTER_(x) __asm__("" : "+v"(x))
#elif defined __x86_64__ && !defined __clang__
#define IN_REGISTER_(x) __asm__("" : "+x"(x))
#else
#define IN_REGISTER_(x) ((void)0)
#endif

#define INLINE_ static inline __attribute__((always_inline, unused))
#define MAY_ALIAS __attribute__((may_alias))
/* p += n; makes later addresses near p relative to the new p: addresses relative to an earlier p
   would need a register each. */
#define STEP_POINTER_(p, n)    \
  do {                         \
    (p) += (n);                \
    __asm__("" : "+r"(p));     \
  } while (0)

#define PREFETCH_(p) __builtin_prefetch((p), 0, 2)
#define PREFETCH_NEAR_(p) __builtin_prefetch((p), 0, 3)
#define LANE_(x, i) ((x)[i])
#define STORE_WORDS_(p, x) (*(vecui32_ *)(p) = (x))

/* -- Memory */
INLINE_ vec loadu_(const float *p) { return *(const vecu *)p; }
INLINE_ void storeu_(float *p, vec x) { *(vecu *)p = x; }
/* 0 + x needs an addition, because its result is not -0 if x is */
INLINE_ vec splat_(float x) { return x - (vec){0}; }

#if HONE_VECTOR_BYTES == 64 && defined __AVX512F__
INLINE_ unsigned short first_lanes_(long n) { return (unsigned short)((1u << n) - 1u); }
#define LOAD_MASKED_(p, m) __builtin_ia32_loadups512_mask((p), (vec){0}, (m))
INLINE_ vec load_lanes_(const float *p, long n) {
  return n >= LANES ? loadu_(p) : LOAD_MASKED_(p, first_lanes_(n));
}
INLINE_ void store_lanes_(float *p, vec x, long n) {
  if (n >= LANES)
    storeu_(p, x);
  else
    __builtin_ia32_storeups512_mask(p, x, first_lanes_(n));
}
#elif HONE_VECTOR_BYTES == 32 && defined __AVX2__
INLINE_ veci first_lanes_(long n) {
  const veci lane = {0, 1, 2, 3, 4, 5, 6, 7};
  return lane < (veci){0} + (int32_t)n;
}
INLINE_ vec load_lanes_(const float *p, long n) {
  return n >= LANES ? loadu_(p) : __builtin_ia32_maskloadps256((const vec *)p, first_lanes_(n));
}
INLINE_ void store_lanes_(float *p, vec x, long n) {
  if (n >= LANES)
    storeu_(p, x);
  else
    __builtin_ia32_maskstoreps256((vec *)p, first_lanes_(n), x);
}
#else
INLINE_ vec load_lanes_(const float *p, long n) {
  if (n >= LANES) return loadu_(p);
  vec x = {0};
  UNROLL for (int i = 0; i < LANES; i++)
    if (i < n) x[i] = p[i];
  return x;
}
INLINE_ void store_lanes_(float *p, vec x, long n) {
  if (n >= LANES)
    storeu_(p, x);
  else
    UNROLL for (int i = 0; i < LANES; i++)
      if (i < n) p[i] = x[i];
}
#endif

/* Bytes, one lane each, n of them: the low bits stored, or loaded with zeros in the other lanes. */
typedef uint8_t vecb_ __attribute__((vector_size(LANES)));
#if HONE_VECTOR_BYTES == 64 && defined __AVX512BW__ && defined __AVX512VL__
typedef char vecc_ __attribute__((vector_size(16)));
INLINE_ void store_bytes_(void *p, veci x, long n) {
  __builtin_ia32_pmovdb512mem_mask(p, x, first_lanes_(n));
}
INLINE_ vecb_ load_bytes_(const void *p, long n) {
  return (vecb_)__builtin_ia32_loaddquqi128_mask(p, (vecc_){0}, first_lanes_(n));
}
#else
INLINE_ void store_bytes_(void *p, veci x, long n) {
  for (long i = 0; i < n; i++) ((uint8_t *)p)[i] = (uint8_t)x[i];
}
INLINE_ vecb_ load_bytes_(const void *p, long n) {
  vecb_ x = {0};
  for (long i = 0; i < n; i++) x[i] = ((const uint8_t *)p)[i];
  return x;
}
#endif

/* Other element types as int32 lanes, n of them (the other lanes are 0), and back, keeping the
   low bits. gcc converts bytes lane by lane, so the instructions are named. */
#if HONE_VECTOR_BYTES == 64 && defined __AVX512F__
#define WIDEN_(instruction, V, p, y) \
  __asm__("v" instruction " %1, %0" : "=v"(y) : "m"(*(const V *)(p)))
#define BYTES_OF_(V, p, x) __asm__("vpmovdb %1, %0" : "=m"(*(V *)(p)) : "v"(x))
#define SHORTS_OF_(V, p, x) __asm__("vpmovdw %1, %0" : "=m"(*(V *)(p)) : "v"(x))
#elif HONE_VECTOR_BYTES == 32 && defined __AVX2__
typedef char vecbytes_ __attribute__((vector_size(32)));
typedef short vecshorts_ __attribute__((vector_size(32)));
#define WIDEN_(instruction, V, p, y) \
  __asm__("v" instruction " %1, %0" : "=x"(y) : "m"(*(const V *)(p)))
#define LOW_(x, ...) __builtin_shufflevector(x, x, __VA_ARGS__)
#define BYTES_OF_(V, p, x) (*(V *)(p) = (V)LOW_((vecbytes_)(x), 0, 4, 8, 12, 16, 20, 24, 28))
#define SHORTS_OF_(V, p, x) (*(V *)(p) = (V)LOW_((vecshorts_)(x), 0, 2, 4, 6, 8, 10, 12, 14))
#else
#define WIDEN_(instruction, V, p, y) ((y) = __builtin_convertvector(*(const V *)(p), veci))
#define BYTES_OF_(V, p, x) (*(V *)(p) = __builtin_convertvector(x, V))
#define SHORTS_OF_ BYTES_OF_
#endif
typedef uint8_t vec_u8 __attribute__((vector_size(LANES)));
typedef uint8_t vecu_u8 __attribute__((vector_size(LANES), aligned(1), may_alias));
typedef int8_t vec_i8 __attribute__((vector_size(LANES)));
typedef int8_t vecu_i8 __attribute__((vector_size(LANES), aligned(1), may_alias));
typedef uint16_t vec_u16 __attribute__((vector_size(2 * LANES)));
typedef uint16_t vecu_u16 __attribute__((vector_size(2 * LANES), aligned(2), may_alias));
#define WIDEN_FUNCTION_(name, T, V, U, instruction, load) \
  INLINE_ veci name(const T *p, long n) {                 \
    veci y;                                               \
    if (n >= LANES) {                                     \
      WIDEN_(instruction, U, p, y);                       \
      return y;                                           \
    }                                                     \
    V x = {0};                                            \
    load;                                                 \
    WIDEN_(instruction, V, &x, y);                        \
    return y;                                             \
  }
#define NARROW_FUNCTION_(name, T, U, instruction, store) \
  INLINE_ void name(T *p, veci x, long n) {              \
    if (n >= LANES) {                                    \
      instruction(U, p, x);                              \
      return;                                            \
    }                                                    \
    store;                                               \
  }
#define EACH_(statement) for (long i = 0; i < n; i++) statement
WIDEN_FUNCTION_(widen_u8, uint8_t, vec_u8, vecu_u8, "pmovzxbd", x = (vec_u8)load_bytes_(p, n))
WIDEN_FUNCTION_(widen_i8, int8_t, vec_i8, vecu_i8, "pmovsxbd", x = (vec_i8)load_bytes_(p, n))
WIDEN_FUNCTION_(widen_u16, uint16_t, vec_u16, vecu_u16, "pmovzxwd", EACH_(x[i] = p[i]))
NARROW_FUNCTION_(narrow_u8, uint8_t, vecu_u8, BYTES_OF_, store_bytes_(p, x, n))
NARROW_FUNCTION_(narrow_i8, int8_t, vecu_i8, BYTES_OF_, store_bytes_(p, x, n))
NARROW_FUNCTION_(narrow_u16, uint16_t, vecu_u16, SHORTS_OF_, EACH_(p[i] = (uint16_t)x[i]))
typedef int32_t vecui32_ __attribute__((vector_size(HONE_VECTOR_BYTES), aligned(4), may_alias));
INLINE_ veci widen_i32(const int32_t *p, long n) {
  if (n >= LANES) return *(const vecui32_ *)p;
#if HONE_VECTOR_BYTES > 16
  return (veci)load_lanes_((const void *)p, n);
#else
  veci x = {0};
  EACH_(x[i] = p[i]);
  return x;
#endif
}
INLINE_ void narrow_i32(int32_t *p, veci x, long n) {
  if (n >= LANES) {
    *(vecui32_ *)p = x;
    return;
  }
#if HONE_VECTOR_BYTES > 16
  store_lanes_((void *)p, (vec)x, n);
#else
  EACH_(p[i] = x[i]);
#endif
}
INLINE_ vec load_u8_(const uint8_t *p, long n) {
  return __builtin_convertvector(widen_u8(p, n), vec);
}
INLINE_ vec load_i8_(const int8_t *p, long n) {
  return __builtin_convertvector(widen_i8(p, n), vec);
}
/* 16-bit integers, one lane each, n of them, zeros in the other lanes. */
#if HONE_VECTOR_BYTES == 64 && defined __AVX512BW__ && defined __AVX512VL__
typedef struct __attribute__((may_alias)) {
  uint16_t x[LANES];
} shorts_;
INLINE_ vec_u16 load_shorts_(const uint16_t *p, long n) {
  if (n >= LANES) return *(const vecu_u16 *)p;
  vec_u16 x;
  __asm__("vmovdqu16 %1, %0%{%2%}%{z%}" : "=v"(x) : "m"(*(const shorts_ *)p), "Yk"(first_lanes_(n)));
  return x;
}
INLINE_ void store_shorts_(uint16_t *p, vec_u16 x, long n) {
  if (n >= LANES)
    *(vecu_u16 *)p = x;
  else
    __asm__("vmovdqu16 %1, %0%{%2%}" : "+m"(*(shorts_ *)p) : "v"(x), "Yk"(first_lanes_(n)));
}
#else
INLINE_ vec_u16 load_shorts_(const uint16_t *p, long n) {
  if (n >= LANES) return *(const vecu_u16 *)p;
  vec_u16 x = {0};
  EACH_(x[i] = p[i]);
  return x;
}
INLINE_ void store_shorts_(uint16_t *p, vec_u16 x, long n) {
  if (n >= LANES)
    *(vecu_u16 *)p = x;
  else
    EACH_(p[i] = x[i]);
}
#endif
/* bf16: the upper half of a float. Stores round half to even; a NaN stays NaN. */
INLINE_ vec load_bf16_(const uint16_t *p, long n) {
  if (n >= LANES) return (vec)(widen_u16(p, LANES) << 16);
  return (vec)(__builtin_convertvector(load_shorts_(p, n), veci) << 16);
}
INLINE_ vec splat_bf16_(uint16_t x) { return (vec)((veci){0} + (int32_t)((uint32_t)x << 16)); }
#if HONE_VECTOR_BYTES == 64 && defined __AVX512BF16__ /* denormals become zero */
INLINE_ void store_bf16_(uint16_t *p, vec x, long n) {
  vec_u16 t;
  __asm__("vcvtneps2bf16 %1, %0" : "=v"(t) : "v"(x));
  store_shorts_(p, t, n);
}
#else
INLINE_ void store_bf16_(uint16_t *p, vec x, long n) {
  const veci bits = (veci)x, nan = x != x;
  const veci rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  narrow_u16(p, (nan & (bits >> 16 | 0x40)) | (~nan & rounded), n);
}
#endif
/* f16: rounded once, half to even; a NaN becomes quiet and keeps the bits that fit. All variants
   give the same bits. */
#if HONE_VECTOR_BYTES >= 32 && defined __AVX2__ /* all such processors have F16C */
INLINE_ vec from_f16_(vec_u16 x) {
  vec y;
  __asm__("vcvtph2ps %1, %0" : "=v"(y) : "v"(x));
  return y;
}
INLINE_ vec_u16 to_f16_(vec x) {
  vec_u16 y;
  __asm__("vcvtps2ph $0, %1, %0" : "=v"(y) : "v"(x));
  return y;
}
#elif HONE_VECTOR_BYTES == 16 && defined __ARM_NEON
INLINE_ vec from_f16_(vec_u16 x) {
  vec y;
  __asm__("fcvtl %0.4s, %1.4h" : "=w"(y) : "w"(x));
  return y;
}
INLINE_ vec_u16 to_f16_(vec x) {
  vec_u16 y;
  __asm__("fcvtn %0.4h, %1.4s" : "=w"(y) : "w"(x));
  return y;
}
#else
INLINE_ vec from_f16_(vec_u16 x) {
  const veci h = __builtin_convertvector(x, veci), a = h & 0x7fff;
  const veci small = a < 0x400, large = a >= 0x7c00, nan = a > 0x7c00;
  const veci tiny = (veci)(__builtin_convertvector(a, vec) * 0x1p-24f);
  const veci whole = ((a << 13) + (112 << 23) + (large & (112 << 23))) | (nan & 0x400000);
  return (vec)((h & 0x8000) << 16 | (small & tiny) | (~small & whole));
}
INLINE_ vec_u16 to_f16_(vec x) {
  const veci bits = (veci)x, a = bits & 0x7fffffff;
  const veci small = a < 0x38800000, large = a >= 0x477ff000, nan = a > 0x7f800000;
  const veci tiny = (veci)((vec)a + 0.5f) - 0x3f000000;
  const veci whole = (a + 0xfff + ((a >> 13) & 1) - (112 << 23)) >> 13;
  const veci special = (nan & (0x200 | (a >> 13 & 0x3ff))) | 0x7c00;
  const veci y = (small & tiny) | (large & special) | (~(small | large) & whole);
  return __builtin_convertvector((bits >> 16 & 0x8000) | y, vec_u16);
}
#endif
/* a memory operand, so that compilers do not load it first */
#if HONE_VECTOR_BYTES >= 32 && defined __AVX2__
typedef struct __attribute__((may_alias)) {
  uint16_t x[LANES];
} halves_;
INLINE_ vec load_f16_(const uint16_t *p, long n) {
  vec y;
  if (n < LANES) return from_f16_(load_shorts_(p, n));
  __asm__("vcvtph2ps %1, %0" : "=v"(y) : "m"(*(const halves_ *)p));
  return y;
}
#else
INLINE_ vec load_f16_(const uint16_t *p, long n) { return from_f16_(load_shorts_(p, n)); }
#endif
INLINE_ vec splat_f16_(uint16_t x) { return from_f16_((vec_u16){0} + x); }
INLINE_ void store_f16_(uint16_t *p, vec x, long n) { store_shorts_(p, to_f16_(x), n); }

/* Vectors of int32: the integer helpers have the prefix veci_; they wrap around. Int8 values are
   int32 lanes of which only the low eight bits are valid until wrap_u8_ or wrap_i8_. */
typedef uint32_t vecw_ __attribute__((vector_size(HONE_VECTOR_BYTES)));
typedef int64_t vecq_ __attribute__((vector_size(HONE_VECTOR_BYTES)));
typedef uint64_t vecr_ __attribute__((vector_size(HONE_VECTOR_BYTES)));
INLINE_ veci splati_(int32_t x) { return (veci){0} + x; }
INLINE_ veci wrap_u8_(veci x) { return x & 255; }
INLINE_ veci wrap_i8_(veci x) { return x << 24 >> 24; }
/* Looks up the low bits of each lane in a table of 256 bytes. */
#define TABLE_ static const __attribute__((aligned(64))) uint8_t
#if HONE_VECTOR_BYTES == 64 && defined __AVX512VBMI__
INLINE_ veci lookup_bytes_(const uint8_t *table, veci x) {
  const veci __attribute__((may_alias)) *t = (const void *)table;
  veci y = x, upper = x;
  unsigned short is_upper;
  __asm__("vpermi2b %2, %1, %0" : "+v"(y) : "v"(t[0]), "vm"(t[1]));
  __asm__("vpermi2b %2, %1, %0" : "+v"(upper) : "v"(t[2]), "vm"(t[3]));
  __asm__("vptestmd %2, %1, %0" : "=Yk"(is_upper) : "v"(x), "v"(splati_(128)));
  __asm__("vmovdqa32 %2, %0%{%1%}" : "+v"(y) : "Yk"(is_upper), "v"(upper));
  return y;
}
#else
INLINE_ veci lookup_bytes_(const uint8_t *table, veci x) {
  veci y = {0};
  UNROLL for (int i = 0; i < LANES; i++) y[i] = table[x[i] & 255];
  return y;
}
#endif

INLINE_ vec floats_(veci x) { return __builtin_convertvector(x, vec); }
INLINE_ veci integers_(vec x) { return __builtin_convertvector(x, veci); }
INLINE_ veci veci_add_(veci x, veci y) { return (veci)((vecw_)x + (vecw_)y); }
INLINE_ veci veci_sub_(veci x, veci y) { return (veci)((vecw_)x - (vecw_)y); }
INLINE_ veci veci_mul_(veci x, veci y) { return (veci)((vecw_)x * (vecw_)y); }
/* INTEGER_2_(name, T, instruction, otherwise): an x86 instruction of two operands. */
#if HONE_VECTOR_BYTES == 64 && defined __AVX512F__
#define INTEGER_2_(name, T, instruction, otherwise)                          \
  INLINE_ T name(veci x, veci y) {                                           \
    T z;                                                                     \
    __asm__("v" instruction " %2, %1, %0" : "=v"(z) : "v"(x), "v"(y));       \
    return z;                                                                \
  }
#elif HONE_VECTOR_BYTES == 32 && defined __AVX2__
#define INTEGER_2_(name, T, instruction, otherwise)                          \
  INLINE_ T name(veci x, veci y) {                                           \
    T z;                                                                     \
    __asm__("v" instruction " %2, %1, %0" : "=x"(z) : "x"(x), "x"(y));       \
    return z;                                                                \
  }
#else
#define INTEGER_2_(name, T, instruction, otherwise) \
  INLINE_ T name(veci x, veci y) { return otherwise; }
#endif
INTEGER_2_(smaller_, veci, "pminsd", ((x < y) & x) | (~(x < y) & y))
INTEGER_2_(larger_, veci, "pmaxsd", ((x > y) & x) | (~(x > y) & y))
/* Products of the even lanes, in 64 bits. */
INTEGER_2_(even_products_, vecq_, "pmuldq", ((vecq_)x << 32 >> 32) * ((vecq_)y << 32 >> 32))
/* Converts to int8 with saturation, n lanes. On AVX-512 also two vectors at once, which costs
   less than twice one. */
#if HONE_VECTOR_BYTES == 64 && defined __AVX512BW__ && defined __AVX512VL__
INLINE_ void saturate_u8(uint8_t *p, veci x, long n) {
  x = larger_(x, splati_(0));
  if (n >= LANES)
    __asm__("vpmovusdb %1, %0" : "=m"(*(vecu_u8 *)p) : "v"(x));
  else
    __builtin_ia32_pmovusdb512mem_mask((void *)p, x, first_lanes_(n));
}
INLINE_ void saturate_i8(int8_t *p, veci x, long n) {
  if (n >= LANES)
    __asm__("vpmovsdb %1, %0" : "=m"(*(vecu_i8 *)p) : "v"(x));
  else
    __builtin_ia32_pmovsdb512mem_mask((void *)p, x, first_lanes_(n));
}
/* Packing works on quarters of a vector: four lanes of x, four of y, and so on. */
#define SATURATE_TWO_(instruction, p, x, q, y)                                                 \
  {                                                                                            \
    const veci in_turn_ = {0, 4, 8, 12, 1, 5, 9, 13};                                          \
    veci two_;                                                                                 \
    __asm__("vpackssdw %2, %1, %0" : "=v"(two_) : "v"(x), "v"(y));                             \
    __asm__(instruction " %0, %0, %0" : "+v"(two_));                                           \
    __asm__("vpermd %0, %1, %0" : "+v"(two_) : "v"(in_turn_));                                 \
    __asm__("vmovdqu32 %x1, %0" : "=m"(*(vecu_u8 *)(p)) : "v"(two_));                          \
    __asm__("vextracti32x4 $1, %t1, %0" : "=m"(*(vecu_u8 *)(q)) : "v"(two_));                  \
  }
/* The same for two adjacent vectors x0 and x1 at p, and two at q. */
typedef uint8_t vecu_two_u8_ __attribute__((vector_size(2 * LANES), aligned(1), may_alias));
#define SATURATE_FOUR_(instruction, p, x0, x1, q, y0, y1)                                         \
  {                                                                                               \
    const veci in_turn_ = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};                 \
    veci four_, last_;                                                                            \
    __asm__("vpackssdw %2, %1, %0" : "=v"(four_) : "v"(x0), "v"(x1));                             \
    __asm__("vpackssdw %2, %1, %0" : "=v"(last_) : "v"(y0), "v"(y1));                             \
    __asm__(instruction " %1, %0, %0" : "+v"(four_) : "v"(last_));                                \
    __asm__("vpermd %0, %1, %0" : "+v"(four_) : "v"(in_turn_));                                   \
    __asm__("vmovdqu32 %t1, %0" : "=m"(*(vecu_two_u8_ *)(p)) : "v"(four_));                       \
    __asm__("vextracti64x4 $1, %g1, %0" : "=m"(*(vecu_two_u8_ *)(q)) : "v"(four_));               \
  }
#else
INLINE_ void saturate_u8(uint8_t *p, veci x, long n) {
  narrow_u8(p, smaller_(larger_(x, splati_(0)), splati_(255)), n);
}
INLINE_ void saturate_i8(int8_t *p, veci x, long n) {
  narrow_i8(p, smaller_(larger_(x, splati_(-128)), splati_(127)), n);
}
#endif
INLINE_ veci veci_shift_right_(veci x, veci bits) { return x >> (bits & 31); }
#define veci_min_(x, y, u) smaller_(x, y)
#define veci_max_(x, y, u) larger_(x, y)
INLINE_ vecq_ odd_products_(veci x, veci y) {
  return even_products_((veci)((vecr_)x >> 32), (veci)((vecr_)y >> 32));
}
/* Words 0, 2, ... of x and 1, 3, ... of y. */
#if LANES == 16
#define WORDS_IN_TURN_(x, y) \
  __builtin_shufflevector(x, y, 0, 17, 2, 19, 4, 21, 6, 23, 8, 25, 10, 27, 12, 29, 14, 31)
#elif LANES == 8
#define WORDS_IN_TURN_(x, y) __builtin_shufflevector(x, y, 0, 9, 2, 11, 4, 13, 6, 15)
#else
#define WORDS_IN_TURN_(x, y) __builtin_shufflevector(x, y, 0, 5, 2, 7)
#endif
/* The low words of `even` and `odd`, interleaved. */
INLINE_ veci join_words_(vecr_ even, vecr_ odd) {
  return (veci)((even & 0xffffffffu) | odd << 32);
}
/* The roundings of fixed-point requantisation: see int_rescale in core/ops. */
INLINE_ veci veci_rescale_(veci x, veci multiplier, veci bits) {
  const vecr_ half = (vecr_){0} + ((uint64_t)1 << 30);
  const vecr_ even = (vecr_)even_products_(x, multiplier) + half;
  const vecr_ odd = (vecr_)odd_products_(x, multiplier) + half;
  /* odd words are in the upper half of their doubled product; the second rounding uses two
     shifts, because adding a half at once would overflow */
  const veci high = WORDS_IN_TURN_((veci)(even >> 31), (veci)(odd << 1)), n = bits & 31;
  const veci any = n != 0, last = any & 1; /* the last bit shifted out */
  return (((high + (high >> 31 & any)) >> (n - last)) + last) >> last;
}
/* The upper words of `even` and `odd`, interleaved. */
#if HONE_VECTOR_BYTES == 64 && defined __AVX512F__
INLINE_ veci join_upper_words_(vecr_ even, vecr_ odd) {
  __asm__("vmovshdup %1, %0%{%2%}" : "+v"(odd) : "v"(even), "Yk"((unsigned short)0x5555));
  return (veci)odd;
}
#else
INLINE_ veci join_upper_words_(vecr_ even, vecr_ odd) {
  return WORDS_IN_TURN_((veci)(even >> 32), (veci)odd);
}
#endif
/* Adds both roundings to the product at once and keeps its upper word. */
INLINE_ veci veci_rescale_up_(veci x, veci multiplier, veci bits) {
  const veci further = (bits - 1) & 31;
  const vecr_ shift = (vecr_)further, one = (vecr_){0} + 1, first = one << 30;
  const vecr_ even = (vecr_)even_products_(x, multiplier) + (first + (one << (31 + (shift & 31))));
  const vecr_ odd = (vecr_)odd_products_(x, multiplier) + (first + (one << (31 + (shift >> 32))));
  return join_upper_words_(even, odd) >> further;
}
INLINE_ vecr_ rescale_half_(vecq_ product, vecr_ shift) {
  const vecr_ one = (vecr_){0} + 1, bias = one << 63;
  return ((((vecr_)product + (one << (shift - 1))) ^ bias) >> shift) - (bias >> shift);
}
INLINE_ veci veci_rescale_once_(veci x, veci multiplier, veci bits) {
  const veci shift = smaller_(splati_(1) + ((splati_(30) + bits) & 63), splati_(62));
  return join_words_(rescale_half_(even_products_(x, multiplier), (vecr_)shift & 0xffffffffu),
                     rescale_half_(odd_products_(x, multiplier), (vecr_)shift >> 32));
}

/* -- Masks as all-ones lanes; blendv_: a where the mask is set, else b */
#if HONE_VECTOR_BYTES == 32 && defined __AVX2__
INLINE_ vec blendv_(veci mask, vec a, vec b) { return __builtin_ia32_blendvps256(b, a, (vec)mask); }
#else
INLINE_ vec blendv_(veci mask, vec a, vec b) { return (vec)((mask & (veci)a) | (~mask & (veci)b)); }
#endif
INLINE_ vec onev_(veci mask) { return (vec)(mask & (veci)splat_(1.0f)); }

INLINE_ veci lane_index_(void) {
  veci lane = {0};
  UNROLL for (int i = 0; i < LANES; i++) lane[i] = i;
  return lane;
}
/* The first n lanes of x, `fill` in the others. */
INLINE_ vec fill_lanes_(vec x, long n, vec fill) {
  return n >= LANES ? x : blendv_(lane_index_() < (veci){0} + (int32_t)n, x, fill);
}

/* x86 min and max: the second operand if either is NaN. */
#if HONE_VECTOR_BYTES == 64 && defined __AVX512F__
#ifdef __clang__
#define MAX2_(x, y) __builtin_ia32_maxps512(x, y, 4)
#define MIN2_(x, y) __builtin_ia32_minps512(x, y, 4)
#else
#define MAX2_(x, y) __builtin_ia32_maxps512_mask(x, y, x, (unsigned short)-1, 4)
#define MIN2_(x, y) __builtin_ia32_minps512_mask(x, y, x, (unsigned short)-1, 4)
#endif
#elif HONE_VECTOR_BYTES == 32 && defined __AVX2__
#define MAX2_(x, y) __builtin_ia32_maxps256(x, y)
#define MIN2_(x, y) __builtin_ia32_minps256(x, y)
#elif HONE_VECTOR_BYTES == 16 && defined __SSE2__
#define MAX2_(x, y) __builtin_ia32_maxps(x, y)
#define MIN2_(x, y) __builtin_ia32_minps(x, y)
#else
/* Functions: an operand may be a call with side effects. */
INLINE_ vec MAX2_(vec x, vec y) { return blendv_(x > y, x, y); }
INLINE_ vec MIN2_(vec x, vec y) { return blendv_(x < y, x, y); }
#endif

/* A NaN operand gives NaN. The compare is optimised away if y is a constant. */
INLINE_ vec max_(vec x, vec y) {
  vec m = MAX2_(y, x);
  veci nan = y != y;
  return (vec)((veci)m | nan);
}
INLINE_ vec min_(vec x, vec y) {
  vec m = MIN2_(y, x);
  veci nan = y != y;
  return (vec)((veci)m | nan);
}
INLINE_ vec abs_(vec x) { return (vec)((veci)x & ((veci){0} + 0x7fffffff)); }
INLINE_ vec copysignv_(vec x, vec sign) {
  veci s = (veci){0} + INT32_MIN;
  return (vec)(((veci)x & ~s) | ((veci)sign & s));
}
/* Lanes rotated down by n. */
#if LANES == 16
#define ROTATE_(x, n)                                                                            \
  __builtin_shufflevector(x, x, (n), (n) + 1, (n) + 2, (n) + 3, (n) + 4, (n) + 5, (n) + 6,       \
                          (n) + 7, (n) + 8, (n) + 9, (n) + 10, (n) + 11, (n) + 12, (n) + 13,     \
                          (n) + 14, (n) + 15)
#elif LANES == 8
#define ROTATE_(x, n)                                                                            \
  __builtin_shufflevector(x, x, (n), (n) + 1, (n) + 2, (n) + 3, (n) + 4, (n) + 5, (n) + 6, (n) + 7)
#else
#define ROTATE_(x, n) __builtin_shufflevector(x, x, (n), (n) + 1, (n) + 2, (n) + 3)
#endif
/* Swaps each lane with the one at `distance` 1, 2 or 4. */
#if LANES == 16
#define EXCHANGE_(x, distance)                                                                    \
  __builtin_shufflevector(x, x, 0 ^ (distance), 1 ^ (distance), 2 ^ (distance), 3 ^ (distance),  \
                          4 ^ (distance), 5 ^ (distance), 6 ^ (distance), 7 ^ (distance),        \
                          8 ^ (distance), 9 ^ (distance), 10 ^ (distance), 11 ^ (distance),      \
                          12 ^ (distance), 13 ^ (distance), 14 ^ (distance), 15 ^ (distance))
#elif LANES == 8
#define EXCHANGE_(x, distance)                                                                    \
  __builtin_shufflevector(x, x, 0 ^ (distance), 1 ^ (distance), 2 ^ (distance), 3 ^ (distance),  \
                          4 ^ (distance), 5 ^ (distance), 6 ^ (distance), 7 ^ (distance))
#else
#define EXCHANGE_(x, distance) \
  __builtin_shufflevector(x, x, 0 ^ (distance), 1 ^ (distance), 2 ^ (distance), 3 ^ (distance))
#endif
/* Interleaves lanes of x and y: of their lower halves, of their upper halves. */
#if LANES == 16
#define INTERLEAVE_LOW_(x, y) \
  __builtin_shufflevector(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define INTERLEAVE_HIGH_(x, y) \
  __builtin_shufflevector(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#elif LANES == 8
#define INTERLEAVE_LOW_(x, y) __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11)
#define INTERLEAVE_HIGH_(x, y) __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define INTERLEAVE_LOW_(x, y) __builtin_shufflevector(x, y, 0, 4, 1, 5)
#define INTERLEAVE_HIGH_(x, y) __builtin_shufflevector(x, y, 2, 6, 3, 7)
#endif
/* Reduces all lanes of x, in every lane: a fixed tree that combines halves. */
#if LANES == 16
#define JOIN_HALVES_(x, join) x = join(x, ROTATE_(x, 8)), x = join(x, ROTATE_(x, 4))
#elif LANES == 8
#define JOIN_HALVES_(x, join) x = join(x, ROTATE_(x, 4))
#else
#define JOIN_HALVES_(x, join) (void)0
#endif
#define JOIN_LANES_(x, join) \
  (JOIN_HALVES_(x, join), x = join(x, ROTATE_(x, 2)), x = join(x, ROTATE_(x, 1)))
INLINE_ vec sum_lanes_(vec x) {
#define ADD_LANES_(a, b) ((a) + (b))
  return JOIN_LANES_(x, ADD_LANES_);
#undef ADD_LANES_
}
/* Maximum of all lanes, in every lane; not for NaN. */
INLINE_ vec max_lanes_(vec x) { return JOIN_LANES_(x, MAX2_); }

/* -- Rounding */
#if HONE_VECTOR_BYTES == 64 && defined __AVX512F__
#define ROUND_(x, how) __builtin_ia32_rndscaleps_mask(x, how, x, (unsigned short)-1, 4)
#elif HONE_VECTOR_BYTES == 32 && defined __AVX2__
#define ROUND_(x, how) __builtin_ia32_roundps256(x, how)
#elif HONE_VECTOR_BYTES == 16 && defined __SSE4_1__
#define ROUND_(x, how) __builtin_ia32_roundps(x, how)
#endif
#ifdef ROUND_
INLINE_ vec round_(vec x) { return ROUND_(x, 8); }
INLINE_ vec floor_(vec x) { return ROUND_(x, 9); }
INLINE_ vec ceil_(vec x) { return ROUND_(x, 10); }
INLINE_ vec trunc_(vec x) { return ROUND_(x, 11); }
#else
/* Below 2^23 via an integer; above, every float is whole. */
INLINE_ vec trunc_(vec x) {
  veci small = abs_(x) < splat_(0x1p23f);
  vec safe = blendv_(small, x, (vec){0});
  vec whole = __builtin_convertvector(__builtin_convertvector(safe, veci), vec);
  return blendv_(small, copysignv_(whole, x), x);
}
INLINE_ vec floor_(vec x) {
  vec t = trunc_(x);
  return copysignv_(t - onev_(t > x), x);
}
INLINE_ vec ceil_(vec x) {
  vec t = trunc_(x);
  return copysignv_(t + onev_(t < x), x);
}
INLINE_ vec round_(vec x) {
  vec down = floor_(x), rest = x - down, half = splat_(0.5f);
  vec even = splat_(2.0f) * trunc_(down * half);
  veci up = (rest > half) | ((rest == half) & (down != even));
  return blendv_(abs_(x) < splat_(0x1p23f), copysignv_(down + onev_(up), x), x);
}
#endif
/* The nearest integer, ties to even; out of range as in integers_. */
#if HONE_VECTOR_BYTES == 64 && defined __AVX512F__
INLINE_ veci nearest_(vec x) {
  veci y;
  __asm__("vcvtps2dq %1, %0" : "=v"(y) : "v"(x));
  return y;
}
#elif HONE_VECTOR_BYTES == 32 && defined __AVX2__
INLINE_ veci nearest_(vec x) { return (veci)__builtin_ia32_cvtps2dq256(x); }
#elif HONE_VECTOR_BYTES == 16 && defined __SSE2__
INLINE_ veci nearest_(vec x) { return (veci)__builtin_ia32_cvtps2dq(x); }
#else
INLINE_ veci nearest_(vec x) { return integers_(round_(x)); }
#endif

/* -- Functions: polynomials fitted by least squares with iterated weights (near minimax) */
INLINE_ vec sqrt_(vec x) {
#if HONE_VECTOR_BYTES == 64 && defined __AVX512F__ && defined __clang__
  return __builtin_ia32_sqrtps512(x, 4);
#elif HONE_VECTOR_BYTES == 64 && defined __AVX512F__
  return __builtin_ia32_sqrtps512_mask(x, x, (unsigned short)-1, 4);
#elif HONE_VECTOR_BYTES == 32 && defined __AVX2__
  return __builtin_ia32_sqrtps256(x);
#elif HONE_VECTOR_BYTES == 16 && defined __SSE2__
  return __builtin_ia32_sqrtps(x);
#else
  for (int i = 0; i < LANES; i++) x[i] = sqrtf(x[i]);
  return x;
#endif
}

/* exp(y) = 2^n (1 + r + r^2 P(r)), r = y - n ln 2, |r| <= ln 2 / 2; P: 3.3e-9. Here r + r^2 P(r). */
INLINE_ vec exp_less_one_(vec y, vec n) {
  vec r = y - n * splat_(0x1.62e4p-1f);
  r = r - n * splat_(0x1.7f7d1cp-20f);
  vec p = splat_(0x1.6a1a62p-10f);
  p = p * r + splat_(0x1.123fc8p-7f);
  p = p * r + splat_(0x1.555916p-5f);
  p = p * r + splat_(0x1.55548ap-3f);
  p = p * r + splat_(0x1.fffffcp-2f);
  return p * (r * r) + r;
}
INLINE_ vec exp_factor_(vec y, vec n) { return exp_less_one_(y, n) + splat_(1.0f); }
/* 2^n as two factors, so that the result may be denormal or overflow. */
INLINE_ vec exp_(vec x) {
  vec y = MIN2_(splat_(90.0f), MAX2_(splat_(-105.0f), x)); /* keeps NaN */
  vec n = y * splat_(0x1.715476p0f) + splat_(0x1.8p23f);
  veci i = (veci)n - (veci)splat_(0x1.8p23f), half = i >> 1;
  vec p = exp_factor_(y, n - splat_(0x1.8p23f));
  vec s = (vec)((half + 127) << 23), t = (vec)((i - half + 127) << 23);
  return p * s * t;
}
/* exp for arguments <= 0, for softmax: results below 2^-126.5 are 0. 2^n is one factor, and no
   masked lane becomes denormal, because denormals take processors a hundred cycles. */
INLINE_ vec exp_down_(vec x) {
  const vec middle = splat_(0x1.8p23f + 127.0f), y = MAX2_(splat_(-88.0f), x); /* keeps NaN */
  const vec n = y * splat_(0x1.715476p0f) + middle; /* its low bits are n + 127 */
  return exp_factor_(y, n - middle) * (vec)((veci)n << 23);
}
/* exp(x) - 1 without cancellation: 2^n p + (2^n - 1). Above 88 as at 88: its callers replace
   those values. */
INLINE_ vec expm1_(vec x) {
  const vec middle = splat_(0x1.8p23f + 127.0f);
  const vec y = MIN2_(splat_(88.0f), MAX2_(splat_(-88.0f), x)); /* keeps NaN */
  const vec n = y * splat_(0x1.715476p0f) + middle;
  const vec s = (vec)((veci)n << 23);
  return copysignv_(exp_less_one_(y, n - middle) * s + (s - splat_(1.0f)), x); /* keeps -0 */
}

/* log(x) = e ln 2 + log1p(m), m in [sqrt(1/2) - 1, sqrt(2) - 1]: m - m^2/2 + m^3 P(m); P: 5.9e-9. Here of y >= 2^-126,
   times 2^-down. */
INLINE_ vec log_normal_(vec y, veci down) {
  veci bits = (veci)y - 0x3f3504f3; /* sqrt(1/2) */
  veci e = (bits >> 23) - down;
  vec m = (vec)((bits & 0x007fffff) + 0x3f3504f3) - splat_(1.0f);
  vec p = splat_(-0x1.38b2a8p-4f);
  p = p * m + splat_(0x1.055ad8p-3f);
  p = p * m + splat_(-0x1.0d8586p-3f);
  p = p * m + splat_(0x1.22da36p-3f);
  p = p * m + splat_(-0x1.547240p-3f);
  p = p * m + splat_(0x1.99a008p-3f);
  p = p * m + splat_(-0x1.000228p-2f);
  p = p * m + splat_(0x1.555554p-2f);
  vec f = __builtin_convertvector(e, vec), mm = m * m;
  vec low = p * (mm * m) + f * splat_(0x1.7f7d1cp-20f) - splat_(0.5f) * mm;
  return f * splat_(0x1.62e4p-1f) + (m + low);
}
INLINE_ vec log_(vec x) {
  veci tiny = x < splat_(0x1p-126f);
  vec y = blendv_(tiny, x * splat_(0x1p23f), x);
  vec z = log_normal_(y, tiny & ((veci){0} + 23));
  z = blendv_(x == splat_(INFINITY), x, z);
  z = blendv_(x == (vec){0}, splat_(-INFINITY), z);
  return blendv_((x < (vec){0}) | (x != x), splat_(NAN), z);
}

/* log(1 + x) for x in [0, 1]: adds the part of x that the sum loses. */
INLINE_ vec log1p_(vec x) {
  const vec one = splat_(1.0f), u = one + x;
  return log_normal_(u, (veci){0}) + (x - (u - one)); /* keeps NaN */
}

/* tanh(x) = x P(x^2) / Q(x^2) up to 9.1, where it rounds to 1; 1.5e-9. */
INLINE_ vec tanh_(vec x) {
  vec y = MIN2_(splat_(9.1f), MAX2_(splat_(-9.1f), x)), z = y * y;
  vec p = splat_(-0x1.a7667cp-37f);
  p = p * z + splat_(0x1.04c0f2p-25f);
  p = p * z + splat_(0x1.d44940p-16f);
  p = p * z + splat_(0x1.fa68d4p-9f);
  p = p * z + splat_(0x1.18165ep-3f);
  p = p * z + splat_(1.0f);
  vec q = splat_(0x1.57c918p-20f);
  q = q * z + splat_(0x1.9c1ef6p-12f);
  q = q * z + splat_(0x1.be1cbap-6f);
  q = q * z + splat_(0x1.e16084p-2f);
  q = q * z + splat_(1.0f);
  vec r = y * p / q;
  return MIN2_(splat_(1.0f), MAX2_(splat_(-1.0f), r));
}

/* erf(x) = x P(x^2) / Q(x^2) up to 3.95, where it rounds to 1; 2.1e-8. */
INLINE_ vec erf_(vec x) {
  vec y = MIN2_(splat_(3.95f), MAX2_(splat_(-3.95f), x)), z = y * y;
  vec p = splat_(0x1.0fea36p-19f);
  p = p * z + splat_(0x1.2a83dep-12f);
  p = p * z + splat_(0x1.f32226p-9f);
  p = p * z + splat_(0x1.b1275ap-5f);
  p = p * z + splat_(0x1.884a98p-3f);
  p = p * z + splat_(0x1.20dd74p+0f);
  vec q = splat_(0x1.3d5b5ap-15f);
  q = q * z + splat_(0x1.32e4dcp-10f);
  q = q * z + splat_(0x1.ed51f6p-7f);
  q = q * z + splat_(0x1.d53bb2p-4f);
  q = q * z + splat_(0x1.0194c4p-1f);
  q = q * z + splat_(1.0f);
  vec r = y * p / q;
  return MIN2_(splat_(1.0f), MAX2_(splat_(-1.0f), r));
}

/* Rare functions: lane by lane. */
#define BY_LANE_(name, lanes, function)                           \
  static __attribute__((noinline, unused)) void lanes(float *x) { \
    for (int i = 0; i < LANES; i++) x[i] = function(x[i]);        \
  }                                                               \
  INLINE_ vec name(vec x) {                                       \
    float t[LANES];                                               \
    *(vecu *)t = x;                                               \
    lanes(t);                                                     \
    return *(const vecu *)t;                                      \
  }
BY_LANE_(sin_, lanes_sin, sinf)
BY_LANE_(cos_, lanes_cos, cosf)
BY_LANE_(tan_, lanes_tan, tanf)
BY_LANE_(asin_, lanes_asin, asinf)
BY_LANE_(acos_, lanes_acos, acosf)
BY_LANE_(atan_, lanes_atan, atanf)
BY_LANE_(sinh_, lanes_sinh, sinhf)
BY_LANE_(cosh_, lanes_cosh, coshf)
BY_LANE_(asinh_, lanes_asinh, asinhf)
BY_LANE_(acosh_, lanes_acosh, acoshf)
BY_LANE_(atanh_, lanes_atanh, atanhf)
static __attribute__((noinline, unused)) void lanes_pow(float *x, const float *y) {
  for (int i = 0; i < LANES; i++) x[i] = powf(x[i], y[i]);
}
/* Constant exponents: the usual ones become multiplications. */
INLINE_ vec pow_(vec x, vec y) {
  if (__builtin_constant_p(y[0]) && __builtin_constant_p(y[LANES - 1]) && y[0] == y[LANES - 1]) {
    if (y[0] == 1.0f) return x;
    if (y[0] == 2.0f) return x * x;
    if (y[0] == 3.0f) return x * x * x;
    if (y[0] == -1.0f) return splat_(1.0f) / x;
  }
  float t[LANES], u[LANES];
  *(vecu *)t = x;
  *(vecu *)u = y;
  lanes_pow(t, u);
  return *(const vecu *)t;
}
INLINE_ vec sign_(vec x) { return blendv_(x != x, x, onev_(x > (vec){0}) - onev_(x < (vec){0})); }
INLINE_ vec select_(vec mask, vec a, vec b) { return blendv_(mask != (vec){0}, a, b); }
INLINE_ vec lt_(vec x, vec y) { return onev_(x < y); }
INLINE_ vec le_(vec x, vec y) { return onev_(x <= y); }
INLINE_ vec eq_(vec x, vec y) { return onev_(x == y); }
INLINE_ vec isnan_(vec x) { return onev_(x != x); }
INLINE_ vec isinf_(vec x) { return onev_(abs_(x) == splat_(INFINITY)); }
INLINE_ vec not_(vec x) { return onev_(x == (vec){0}); }
INLINE_ vec and_(vec x, vec y) { return onev_((x != (vec){0}) & (y != (vec){0})); }
INLINE_ vec or_(vec x, vec y) { return onev_((x != (vec){0}) | (y != (vec){0})); }
