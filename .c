#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#define PLAIN_LINES 64
#if defined __GNUC__ && !defined __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
/* Vectors of floats for generated C: once at the top of every file, written once for all
 * instruction sets over GNU vector types. Builtins stand only where plain C loses: masks, min/max,
 * rounding. HONE_VECTOR_BYTES (16, 32, 64) comes from the emitter, else from the compiler's target.
 * The helpers at the end are the closed set for elementwise expressions, chosen by the operand's
 * type: vec, float, double, integer. Masks are 1 and 0. Errors against double libm: exp_, log_
 * at most 4 ulp, erf_ 5, tanh_ 6; NaN, infinities and denormals as in libm. */
#ifndef HONE_SIMD_H
#define HONE_SIMD_H

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
#else
#define UNROLL _Pragma("GCC unroll 64")
#endif
/* Keeps x in a register where the compiler would rather read memory again for each use. */
#if defined __x86_64__ && !defined __clang__ && defined __AVX512F__
#define IN_REGISTER_(x) __asm__("" : "+v"(x))
#elif defined __x86_64__ && !defined __clang__
#define IN_REGISTER_(x) __asm__("" : "+x"(x))
#else
#define IN_REGISTER_(x) ((void)0)
#endif
#define INLINE_ static inline __attribute__((always_inline, unused))
#define MAY_ALIAS __attribute__((may_alias))
#define PREFETCH_(p) __builtin_prefetch((p), 0, 2)
#define LANE_(x, i) ((x)[i])
#define STORE_WORDS_(p, x) (*(veci __attribute__((aligned(4), may_alias)) *)(p) = (x))

/* Memory ----------------------------------------------------------------------------------------
 */
INLINE_ vec loadu_(const float *p) { return *(const vecu *)p; }
INLINE_ void storeu_(float *p, vec x) { *(vecu *)p = x; }
INLINE_ vec splat_(float x) { return (vec){0} + x; }

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

/* Bytes one lane each, n of them: their low bits stored, or as they are with zeros behind. */
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

/* Other element types as int32 lanes, n of them (the other lanes are 0), and back, which keeps the low
   bits. gcc converts bytes lane by lane, so the instructions are named. */
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
#define TYPED_(name, T, widening, narrowing, load, store)                                         \
  typedef T PASTE_(vec, name) __attribute__((vector_size(LANES * sizeof(T))));                   \
  typedef T PASTE_(vecu, name)                                                                   \
      __attribute__((vector_size(LANES * sizeof(T)), aligned(sizeof(T)), may_alias));            \
  INLINE_ veci PASTE_(widen, name)(const T *p, long n) {                                         \
    veci y;                                                                                      \
    if (n >= LANES) {                                                                            \
      WIDEN_(widening, PASTE_(vecu, name), p, y);                                                \
      return y;                                                                                  \
    }                                                                                            \
    PASTE_(vec, name) x = {0};                                                                   \
    load;                                                                                        \
    WIDEN_(widening, PASTE_(vec, name), &x, y);                                                  \
    return y;                                                                                    \
  }                                                                                              \
  INLINE_ void PASTE_(narrow, name)(T *p, veci x, long n) {                                      \
    if (n >= LANES) {                                                                            \
      narrowing(PASTE_(vecu, name), p, x);                                                       \
      return;                                                                                    \
    }                                                                                            \
    store;                                                                                       \
  }
#define EACH_(statement) for (long i = 0; i < n; i++) statement
#define BYTES_(name, T, widening)                                                  \
  TYPED_(name, T, widening, BYTES_OF_, x = (PASTE_(vec, name))load_bytes_(p, n), \
         store_bytes_(p, x, n))
BYTES_(u8, uint8_t, "pmovzxbd")
BYTES_(i8, int8_t, "pmovsxbd")
TYPED_(u16, uint16_t, "pmovzxwd", SHORTS_OF_, EACH_(x[i] = p[i]), EACH_(p[i] = (uint16_t)x[i]))
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
#undef BYTES_
#undef EACH_
#undef WIDEN_
#undef BYTES_OF_
#undef SHORTS_OF_
#undef TYPED_
INLINE_ vec load_u8_(const uint8_t *p, long n) {
  return __builtin_convertvector(widen_u8(p, n), vec);
}
INLINE_ vec load_i8_(const int8_t *p, long n) {
  return __builtin_convertvector(widen_i8(p, n), vec);
}
/* bf16: the upper half of a float. Stores round half to even; a NaN stays one. */
#if HONE_VECTOR_BYTES == 64 && defined __AVX512BW__ && defined __AVX512VL__
typedef struct __attribute__((may_alias)) {
  uint16_t x[LANES];
} halves_;
INLINE_ vec load_bf16_(const uint16_t *p, long n) {
  if (n >= LANES) return (vec)(widen_u16(p, LANES) << 16);
  vec_u16 x;
  __asm__("vmovdqu16 %1, %0%{%2%}%{z%}" : "=v"(x) : "m"(*(const halves_ *)p), "Yk"(first_lanes_(n)));
  return (vec)(__builtin_convertvector(x, veci) << 16);
}
#else
INLINE_ vec load_bf16_(const uint16_t *p, long n) { return (vec)(widen_u16(p, n) << 16); }
#endif
INLINE_ vec splat_bf16_(const uint16_t *p) { return (vec)((veci){0} + (int32_t)((uint32_t)*p << 16)); }
#if HONE_VECTOR_BYTES == 64 && defined __AVX512BF16__ /* denormals become zero */
INLINE_ void store_bf16_(uint16_t *p, vec x, long n) {
  vec_u16 t;
  __asm__("vcvtneps2bf16 %1, %0" : "=v"(t) : "v"(x));
  if (n >= LANES)
    *(vecu_u16 *)p = t;
  else
    __asm__("vmovdqu16 %1, %0%{%2%}" : "+m"(*(halves_ *)p) : "v"(t), "Yk"(first_lanes_(n)));
}
#else
INLINE_ void store_bf16_(uint16_t *p, vec x, long n) {
  const veci bits = (veci)x, nan = x != x;
  const veci rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  narrow_u16(p, (nan & (bits >> 16 | 0x40)) | (~nan & rounded), n);
}
#endif

/* Vectors of int32: the helpers of integer expressions behind veci_; they wrap. Bytes are kept as int32
   lanes of which only the low eight bits count until wrap_u8_, wrap_i8_. */
typedef uint32_t vecw_ __attribute__((vector_size(HONE_VECTOR_BYTES)));
typedef int64_t vecq_ __attribute__((vector_size(HONE_VECTOR_BYTES)));
typedef uint64_t vecr_ __attribute__((vector_size(HONE_VECTOR_BYTES)));
INLINE_ veci splati_(int32_t x) { return (veci){0} + x; }
INLINE_ veci wrap_u8_(veci x) { return x & 255; }
INLINE_ veci wrap_i8_(veci x) { return x << 24 >> 24; }
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
/* Products of the even lanes in 64 bits. */
INTEGER_2_(even_products_, vecq_, "pmuldq", ((vecq_)x << 32 >> 32) * ((vecq_)y << 32 >> 32))
#undef INTEGER_2_
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
/* The roundings of fixed-point requantisation: see int_rescale of ops. */
INLINE_ veci veci_rescale_(veci x, veci multiplier, veci bits) {
  const vecr_ half = (vecr_){0} + ((uint64_t)1 << 30);
  const vecr_ even = (vecr_)even_products_(x, multiplier) + half;
  const vecr_ odd = (vecr_)odd_products_(x, multiplier) + half;
  /* odd words lie in the upper half of their product, doubled; the second rounding is two shifts, as
     adding a half at once would overflow */
  const veci high = WORDS_IN_TURN_((veci)(even >> 31), (veci)(odd << 1)), n = bits & 31;
  const veci any = n != 0, last = any & 1; /* of the shift: its last bit */
  return (((high + (high >> 31 & any)) >> (n - last)) + last) >> last;
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

/* Masks as all-ones lanes; blendv_: a where the mask holds, else b ------------------------------- */
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
#define MAX2_(x, y) blendv_((x) > (y), x, y)
#define MIN2_(x, y) blendv_((x) < (y), x, y)
#endif

/* A NaN operand gives NaN. The compare vanishes where y is a constant. */
INLINE_ vec maxv_(vec x, vec y) {
  vec m = MAX2_(y, x);
  veci nan = y != y;
  return (vec)((veci)m | nan);
}
INLINE_ vec minv_(vec x, vec y) {
  vec m = MIN2_(y, x);
  veci nan = y != y;
  return (vec)((veci)m | nan);
}
INLINE_ vec absv_(vec x) { return (vec)((veci)x & ((veci){0} + 0x7fffffff)); }
INLINE_ vec copysignv_(vec x, vec sign) {
  veci s = (veci){0} + INT32_MIN;
  return (vec)(((veci)x & ~s) | ((veci)sign & s));
}
/* Lanes moved down by n, around the end. */
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
/* Lanes of x and y in turn: of their lower halves, of their upper ones. */
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
/* Sum of all lanes, in every lane: a fixed tree. */
INLINE_ vec sum_lanes_(vec x) {
#if LANES > 8
  x += ROTATE_(x, 8);
#endif
#if LANES > 4
  x += ROTATE_(x, 4);
#endif
  x += ROTATE_(x, 2);
  return x + ROTATE_(x, 1);
}
/* Largest of all lanes, in every lane; not for NaN. */
INLINE_ vec max_lanes_(vec x) {
#if LANES > 8
  x = MAX2_(x, ROTATE_(x, 8));
#endif
#if LANES > 4
  x = MAX2_(x, ROTATE_(x, 4));
#endif
  x = MAX2_(x, ROTATE_(x, 2));
  return MAX2_(x, ROTATE_(x, 1));
}

/* Rounding --------------------------------------------------------------------------------------
 */
#if HONE_VECTOR_BYTES == 64 && defined __AVX512F__
#define ROUND_(x, how) __builtin_ia32_rndscaleps_mask(x, how, x, (unsigned short)-1, 4)
#elif HONE_VECTOR_BYTES == 32 && defined __AVX2__
#define ROUND_(x, how) __builtin_ia32_roundps256(x, how)
#elif HONE_VECTOR_BYTES == 16 && defined __SSE4_1__
#define ROUND_(x, how) __builtin_ia32_roundps(x, how)
#endif
#ifdef ROUND_
INLINE_ vec roundv_(vec x) { return ROUND_(x, 8); }
INLINE_ vec floorv_(vec x) { return ROUND_(x, 9); }
INLINE_ vec ceilv_(vec x) { return ROUND_(x, 10); }
INLINE_ vec truncv_(vec x) { return ROUND_(x, 11); }
#else
/* Below 2^23 by way of an integer; above, every float is whole. */
INLINE_ vec truncv_(vec x) {
  veci small = absv_(x) < splat_(0x1p23f);
  vec safe = blendv_(small, x, (vec){0});
  vec whole = __builtin_convertvector(__builtin_convertvector(safe, veci), vec);
  return blendv_(small, copysignv_(whole, x), x);
}
INLINE_ vec floorv_(vec x) {
  vec t = truncv_(x);
  return copysignv_(t - onev_(t > x), x);
}
INLINE_ vec ceilv_(vec x) {
  vec t = truncv_(x);
  return copysignv_(t + onev_(t < x), x);
}
INLINE_ vec roundv_(vec x) {
  vec down = floorv_(x), rest = x - down, half = splat_(0.5f);
  vec even = splat_(2.0f) * truncv_(down * half);
  veci up = (rest > half) | ((rest == half) & (down != even));
  return blendv_(absv_(x) < splat_(0x1p23f), copysignv_(down + onev_(up), x), x);
}
#endif
/* The nearest integer, ties to even; what does not fit as integers_ has it. */
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
INLINE_ veci nearest_(vec x) { return integers_(roundv_(x)); }
#endif

/* Functions: polynomials fitted by least squares with iterated weights (near minimax) -------------
 */
INLINE_ vec sqrtv_(vec x) {
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

/* exp(x) = 2^n (1 + r + r^2 P(r)), r = x - n ln 2, |r| <= ln 2 / 2; P: 3.3e-9. 2^n in two factors,
   so that the result may be a denormal or overflow. */
INLINE_ vec expv_(vec x) {
  vec y = MIN2_(splat_(90.0f), MAX2_(splat_(-105.0f), x)); /* NaN stays */
  vec n = y * splat_(0x1.715476p0f) + splat_(0x1.8p23f);
  veci i = (veci)n - (veci)splat_(0x1.8p23f);
  n -= splat_(0x1.8p23f);
  vec r = y - n * splat_(0x1.62e4p-1f);
  r = r - n * splat_(0x1.7f7d1cp-20f);
  vec p = splat_(0x1.6a1a62p-10f);
  p = p * r + splat_(0x1.123fc8p-7f);
  p = p * r + splat_(0x1.555916p-5f);
  p = p * r + splat_(0x1.55548ap-3f);
  p = p * r + splat_(0x1.fffffcp-2f);
  p = p * (r * r) + r + splat_(1.0f);
  veci half = i >> 1;
  vec s = (vec)((half + 127) << 23), t = (vec)((i - half + 127) << 23);
  return p * s * t;
}

/* log(x) = e ln 2 + log1p(m), m in [sqrt(1/2) - 1, sqrt(2) - 1]: m - m^2/2 + m^3 P(m); P: 5.9e-9.
 */
INLINE_ vec logv_(vec x) {
  veci tiny = x < splat_(0x1p-126f);
  vec y = blendv_(tiny, x * splat_(0x1p23f), x);
  veci bits = (veci)y - 0x3f3504f3; /* sqrt(1/2) */
  veci e = (bits >> 23) - (tiny & ((veci){0} + 23));
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
  vec z = f * splat_(0x1.62e4p-1f) + (m + low);
  z = blendv_(x == splat_(INFINITY), x, z);
  z = blendv_(x == (vec){0}, splat_(-INFINITY), z);
  return blendv_((x < (vec){0}) | (x != x), splat_(NAN), z);
}

/* tanh(x) = x P(x^2) / Q(x^2) up to 9.1, where it rounds to 1; 1.5e-9. */
INLINE_ vec tanhv_(vec x) {
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
INLINE_ vec erfv_(vec x) {
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

/* Rare ones: lane by lane. */
#define BY_LANE_(name, function)                                 \
  static __attribute__((noinline, unused)) void name(float *x) { \
    for (int i = 0; i < LANES; i++) x[i] = function(x[i]);       \
  }                                                              \
  INLINE_ vec PASTE_(name, v)(vec x) {                           \
    float t[LANES];                                              \
    *(vecu *)t = x;                                              \
    name(t);                                                     \
    return *(const vecu *)t;                                     \
  }
BY_LANE_(lanes_sin, sinf)
BY_LANE_(lanes_cos, cosf)
BY_LANE_(lanes_tan, tanf)
BY_LANE_(lanes_asin, asinf)
BY_LANE_(lanes_acos, acosf)
BY_LANE_(lanes_atan, atanf)
BY_LANE_(lanes_sinh, sinhf)
BY_LANE_(lanes_cosh, coshf)
BY_LANE_(lanes_asinh, asinhf)
BY_LANE_(lanes_acosh, acoshf)
BY_LANE_(lanes_atanh, atanhf)
#undef BY_LANE_
static __attribute__((noinline, unused)) void lanes_pow(float *x, const float *y) {
  for (int i = 0; i < LANES; i++) x[i] = powf(x[i], y[i]);
}
/* Exponents known when compiled: the usual ones are products. */
INLINE_ vec powv_(vec x, vec y) {
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
INLINE_ vec signv_(vec x) { return blendv_(x != x, x, onev_(x > (vec){0}) - onev_(x < (vec){0})); }
INLINE_ vec selectv_(vec mask, vec a, vec b) { return blendv_(mask != (vec){0}, a, b); }
INLINE_ vec ltv_(vec x, vec y) { return onev_(x < y); }
INLINE_ vec lev_(vec x, vec y) { return onev_(x <= y); }
INLINE_ vec eqv_(vec x, vec y) { return onev_(x == y); }
INLINE_ vec isnanv_(vec x) { return onev_(x != x); }
INLINE_ vec isinfv_(vec x) { return onev_(absv_(x) == splat_(INFINITY)); }
INLINE_ vec notv_(vec x) { return onev_(x == (vec){0}); }
INLINE_ vec andv_(vec x, vec y) { return onev_((x != (vec){0}) & (y != (vec){0})); }
INLINE_ vec orv_(vec x, vec y) { return onev_((x != (vec){0}) | (y != (vec){0})); }

/* The same for one float, double or integer -------------------------------------------------------
 */
#define SCALAR_(T, s, suffix)                                                    \
  INLINE_ T abs##s(T x) { return fabs##suffix(x); }                              \
  INLINE_ T min##s(T x, T y) { return x != x ? x : y != y ? y : x < y ? x : y; } \
  INLINE_ T max##s(T x, T y) { return x != x ? x : y != y ? y : x > y ? x : y; } \
  INLINE_ T round##s(T x) { return rint##suffix(x); }                            \
  INLINE_ T sign##s(T x) { return x != x ? x : (T)((x > 0) - (x < 0)); }         \
  INLINE_ T select##s(T mask, T a, T b) { return mask != 0 ? a : b; }            \
  INLINE_ T isnan##s(T x) { return (T)(x != x); }                                \
  INLINE_ T isinf##s(T x) { return (T)(fabs##suffix(x) == (T)INFINITY); }
SCALAR_(float, f_, f)
SCALAR_(double, d_, )
#undef SCALAR_
/* Integers: two's complement, wrapping. */
INLINE_ int64_t absl_(int64_t x) { return x < 0 ? (int64_t)(0 - (uint64_t)x) : x; }
INLINE_ int64_t minl_(int64_t x, int64_t y) { return x < y ? x : y; }
INLINE_ int64_t maxl_(int64_t x, int64_t y) { return x > y ? x : y; }
INLINE_ int64_t signl_(int64_t x) { return (x > 0) - (x < 0); }
INLINE_ int64_t selectl_(int64_t mask, int64_t a, int64_t b) { return mask ? a : b; }
INLINE_ int64_t samel_(int64_t x) { return x; }
INLINE_ int64_t zerol_(int64_t x) { return x - x; }
#define COMPARE_(T, s)                                         \
  INLINE_ T lt##s(T x, T y) { return (T)(x < y); }             \
  INLINE_ T le##s(T x, T y) { return (T)(x <= y); }            \
  INLINE_ T eq##s(T x, T y) { return (T)(x == y); }            \
  INLINE_ T not ##s(T x) { return (T)(x == 0); }               \
  INLINE_ T and##s(T x, T y) { return (T)(x != 0 && y != 0); } \
  INLINE_ T or ##s(T x, T y) { return (T)(x != 0 || y != 0); }
COMPARE_(float, f_)
COMPARE_(double, d_)
COMPARE_(int64_t, l_)
#undef COMPARE_

/* By the operand's type; anything but vec, float, double is an integer. */
#define BY_TYPE_(x, v, f, d, l) _Generic((x), vec : v, float : f, double : d, default : l)
/* Functions that integers do not have: integers go through double. */
#define REAL_(x, v, f, d) BY_TYPE_(x, v, f, d, d)(x)
#define abs_(x) BY_TYPE_(x, absv_, absf_, absd_, absl_)(x)
#define min_(x, y) BY_TYPE_((x) + (y), minv_, minf_, mind_, minl_)(x, y)
#define max_(x, y) BY_TYPE_((x) + (y), maxv_, maxf_, maxd_, maxl_)(x, y)
#define sqrt_(x) REAL_(x, sqrtv_, sqrtf, sqrt)
#define exp_(x) REAL_(x, expv_, expf, exp)
#define log_(x) REAL_(x, logv_, logf, log)
#define pow_(x, y) BY_TYPE_((x) + (y), powv_, powf, pow, pow)(x, y)
#define sin_(x) REAL_(x, lanes_sin_v, sinf, sin)
#define cos_(x) REAL_(x, lanes_cos_v, cosf, cos)
#define tan_(x) REAL_(x, lanes_tan_v, tanf, tan)
#define asin_(x) REAL_(x, lanes_asin_v, asinf, asin)
#define acos_(x) REAL_(x, lanes_acos_v, acosf, acos)
#define atan_(x) REAL_(x, lanes_atan_v, atanf, atan)
#define sinh_(x) REAL_(x, lanes_sinh_v, sinhf, sinh)
#define cosh_(x) REAL_(x, lanes_cosh_v, coshf, cosh)
#define asinh_(x) REAL_(x, lanes_asinh_v, asinhf, asinh)
#define acosh_(x) REAL_(x, lanes_acosh_v, acoshf, acosh)
#define atanh_(x) REAL_(x, lanes_atanh_v, atanhf, atanh)
#define tanh_(x) REAL_(x, tanhv_, tanhf, tanh)
#define erf_(x) REAL_(x, erfv_, erff, erf)
#define floor_(x) BY_TYPE_(x, floorv_, floorf, floor, samel_)(x)
#define ceil_(x) BY_TYPE_(x, ceilv_, ceilf, ceil, samel_)(x)
#define round_(x) BY_TYPE_(x, roundv_, roundf_, roundd_, samel_)(x)
#define trunc_(x) BY_TYPE_(x, truncv_, truncf, trunc, samel_)(x)
#define sign_(x) BY_TYPE_(x, signv_, signf_, signd_, signl_)(x)
#define select_(m, a, b) BY_TYPE_((a) + (b), selectv_, selectf_, selectd_, selectl_)(m, a, b)
#define lt_(x, y) BY_TYPE_((x) + (y), ltv_, ltf_, ltd_, ltl_)(x, y)
#define le_(x, y) BY_TYPE_((x) + (y), lev_, lef_, led_, lel_)(x, y)
#define eq_(x, y) BY_TYPE_((x) + (y), eqv_, eqf_, eqd_, eql_)(x, y)
#define isnan_(x) BY_TYPE_(x, isnanv_, isnanf_, isnand_, zerol_)(x)
#define isinf_(x) BY_TYPE_(x, isinfv_, isinff_, isinfd_, zerol_)(x)
#define not_(x) BY_TYPE_(x, notv_, notf_, notd_, notl_)(x)
#define and_(x, y) BY_TYPE_((x) + (y), andv_, andf_, andd_, andl_)(x, y)
#define or_(x, y) BY_TYPE_((x) + (y), orv_, orf_, ord_, orl_)(x, y)

#endif
#define NAME plain_0
#define UNITS 8l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 12l
#define IN0_DIMS {2,3,2,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 2
#define IN1_COUNT 4l
#define IN1_DIMS {2,2,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 16l
#define OUT0_DIMS {2,2,2,2,}
#define ATTR_axis 1l
/* Gather: [outer, axis, inner] by indices to [outer, indices, inner]; a unit is one row of inner. What
 * lies behind the actual size of open indices is no index. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict data = in[0];
  const IN1_T *restrict indices = in[1];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)(ATTR_axis < 0 ? ATTR_axis + IN0_RANK : ATTR_axis);
  const int64_t length = dims[axis];
  int64_t inner = 1;
#ifdef IN1_OPEN
  const int64_t index_dims[] = IN1_DIMS, numbers[] = IN1_EXTENTS;
#endif
  (void)scratch;
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  int64_t o = begin / IN1_COUNT, i = begin % IN1_COUNT;
  for (int64_t u = begin; u < end; o++, i = 0) {
    const int64_t width = IN1_COUNT - i < end - u ? IN1_COUNT - i : end - u;
    const IN0_T *restrict from = data + o * length * inner;
    for (int64_t j = 0; j < width; j++)
      if ((int64_t)indices[i + j] < -length || (int64_t)indices[i + j] >= length)
#ifdef IN1_OPEN
        if (inside_(i + j, IN1_RANK, index_dims, numbers, out[OUT_COUNT]))
#endif
          return 8;
    for (int64_t j = 0; j < width; j++) {
      int64_t at = (int64_t)indices[i + j];
      at += at < 0 ? length : 0;
#ifdef IN1_OPEN
      if (at < 0 || at >= length) {
#if IN0_IS_TEXT
        for (int64_t k = 0; k < inner; k++) to[(u + j) * inner + k] = (OUT0_T){"", 0};
#endif
        continue;
      }
#endif
      if (inner == 1)
        to[u + j] = from[at];
      else
        memcpy(to + (u + j) * inner, from + at * inner, (size_t)inner * sizeof *to);
    }
    u += width;
  }
  return 0;
}
#undef ATTR_axis
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_axis
int run_0(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_0(in, out, scratch, begin, end); }
#define NAME plain_1
#define UNITS 1l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int64_t
#define IN0_TYPE 7
#define IN0_RANK 1
#define IN0_COUNT 4l
#define IN0_DIMS {4,}
#define IN1_PRESENT 1
#define IN1_T int32_t
#define IN1_TYPE 6
#define IN1_RANK 0
#define IN1_COUNT 1l
#define IN1_DIMS {0}
#define OUT0_PRESENT 1
#define OUT0_T int64_t
#define OUT0_TYPE 7
#define OUT0_RANK 0
#define OUT0_COUNT 1l
#define OUT0_DIMS {0}
/* Gather: [outer, axis, inner] by indices to [outer, indices, inner]; a unit is one row of inner. What
 * lies behind the actual size of open indices is no index. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict data = in[0];
  const IN1_T *restrict indices = in[1];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)(ATTR_axis < 0 ? ATTR_axis + IN0_RANK : ATTR_axis);
  const int64_t length = dims[axis];
  int64_t inner = 1;
#ifdef IN1_OPEN
  const int64_t index_dims[] = IN1_DIMS, numbers[] = IN1_EXTENTS;
#endif
  (void)scratch;
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  int64_t o = begin / IN1_COUNT, i = begin % IN1_COUNT;
  for (int64_t u = begin; u < end; o++, i = 0) {
    const int64_t width = IN1_COUNT - i < end - u ? IN1_COUNT - i : end - u;
    const IN0_T *restrict from = data + o * length * inner;
    for (int64_t j = 0; j < width; j++)
      if ((int64_t)indices[i + j] < -length || (int64_t)indices[i + j] >= length)
#ifdef IN1_OPEN
        if (inside_(i + j, IN1_RANK, index_dims, numbers, out[OUT_COUNT]))
#endif
          return 8;
    for (int64_t j = 0; j < width; j++) {
      int64_t at = (int64_t)indices[i + j];
      at += at < 0 ? length : 0;
#ifdef IN1_OPEN
      if (at < 0 || at >= length) {
#if IN0_IS_TEXT
        for (int64_t k = 0; k < inner; k++) to[(u + j) * inner + k] = (OUT0_T){"", 0};
#endif
        continue;
      }
#endif
      if (inner == 1)
        to[u + j] = from[at];
      else
        memcpy(to + (u + j) * inner, from + at * inner, (size_t)inner * sizeof *to);
    }
    u += width;
  }
  return 0;
}
#undef ATTR_axis
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_1(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_1(in, out, scratch, begin, end); }
#define NAME plain_2
#define UNITS 2l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 60l
#define IN0_DIMS {1,3,4,5,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 4
#define IN1_COUNT 54l
#define IN1_DIMS {3,2,3,3,}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 1
#define IN2_COUNT 2l
#define IN2_DIMS {2,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 180l
#define OUT0_DIMS {1,2,9,10,}
#define WINDOW_IN {1,4,5,}
#define WINDOW_KERNEL {1,3,3,}
#define WINDOW_OUT {1,9,10,}
#define WINDOW_STRIDE {1,2,2,}
#define WINDOW_DILATION {1,1,1,}
#define WINDOW_PAD_BEGIN {0,1,0,}
#define WINDOW_PAD_END {0,0,1,}
#define ATTR_strides_COUNT 2
#define ATTR_strides {2,2,}
#define ATTR_pads_COUNT 4
#define ATTR_pads {1,0,0,1,}
#define ATTR_output_padding_COUNT 2
#define ATTR_output_padding {1,0,}
/* ConvTranspose, up to three spatial dimensions: every input element adds its filter into the result.
 * The inner loop runs along a row: out[x * stride + tap * dilation - pad] += in[x] * w. */
#ifndef ATTR_group
#define ATTR_group 1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0]; /* [n, c, id...] */
  const IN1_T *w = in[1]; /* [c, m / group, kernel...] */
  OUT0_T *restrict y = out[0];     /* [n, m, od...] */
  const int64_t x_dims[] = IN0_DIMS, w_dims[] = IN1_DIMS, y_dims[] = OUT0_DIMS;
  const int64_t id[] = WINDOW_IN, kd[] = WINDOW_KERNEL, od[] = WINDOW_OUT;
  const int64_t stride[] = WINDOW_STRIDE, dilation[] = WINDOW_DILATION, pad[] = WINDOW_PAD_BEGIN;
  (void)scratch;
  const int64_t channels = x_dims[1], per_group = channels / ATTR_group;
  const int64_t features = w_dims[1]; /* of one group */
  const int64_t plane = od[0] * od[1] * od[2], image = id[0] * id[1] * id[2];
  for (int64_t u = begin; u < end; u++) { /* one output plane */
    const int64_t n = u / y_dims[1], m = u % y_dims[1], group = m / features;
    OUT0_T *restrict to = y + u * plane;
    OUT0_T start = 0;
#if IN_COUNT > 2 && IN2_PRESENT
    start = ((const IN2_T *)in[2])[m];
#endif
    for (int64_t i = 0; i < plane; i++) to[i] = start;
    for (int64_t c = group * per_group; c < (group + 1) * per_group; c++) {
      const IN0_T *restrict from = x + (n * channels + c) * image;
      const IN1_T *filter = w + (c * features + m % features) * kd[0] * kd[1] * kd[2];
      for (int64_t k0 = 0; k0 < kd[0]; k0++)
        for (int64_t k1 = 0; k1 < kd[1]; k1++)
          for (int64_t k2 = 0; k2 < kd[2]; k2++) {
            const OUT0_T weight = filter[(k0 * kd[1] + k1) * kd[2] + k2];
            const int64_t shift = k2 * dilation[2] - pad[2];
            int64_t first = shift >= 0 ? 0 : (-shift + stride[2] - 1) / stride[2];
            int64_t last = od[2] > shift ? (od[2] - 1 - shift) / stride[2] + 1 : 0;
            if (last > id[2]) last = id[2];
            for (int64_t i0 = 0; i0 < id[0]; i0++) {
              const int64_t o0 = i0 * stride[0] + k0 * dilation[0] - pad[0];
              if (o0 < 0 || o0 >= od[0]) continue;
              for (int64_t i1 = 0; i1 < id[1]; i1++) {
                const int64_t o1 = i1 * stride[1] + k1 * dilation[1] - pad[1];
                if (o1 < 0 || o1 >= od[1]) continue;
                const IN0_T *restrict a = from + (i0 * id[1] + i1) * id[2];
                OUT0_T *restrict b = to + (o0 * od[1] + o1) * od[2];
                if (stride[2] == 1)
                  for (int64_t i = first; i < last; i++) b[i + shift] += a[i] * weight;
                else
                  for (int64_t i = first; i < last; i++) b[i * stride[2] + shift] += a[i] * weight;
              }
            }
          }
    }
  }
  return 0;
}
#undef ATTR_group
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef WINDOW_IN
#undef WINDOW_KERNEL
#undef WINDOW_OUT
#undef WINDOW_STRIDE
#undef WINDOW_DILATION
#undef WINDOW_PAD_BEGIN
#undef WINDOW_PAD_END
#undef ATTR_strides_COUNT
#undef ATTR_strides
#undef ATTR_pads_COUNT
#undef ATTR_pads
#undef ATTR_output_padding_COUNT
#undef ATTR_output_padding
int run_2(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_2(in, out, scratch, begin, end); }
#define NAME plain_3
#define UNITS 12l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 48l
#define IN0_DIMS {2,4,6,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 3
#define IN1_COUNT 24l
#define IN1_DIMS {4,3,2,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 3
#define OUT0_COUNT 96l
#define OUT0_DIMS {2,6,8,}
#define WINDOW_IN {1,1,6,}
#define WINDOW_KERNEL {1,1,2,}
#define WINDOW_OUT {1,1,8,}
#define WINDOW_STRIDE {1,1,1,}
#define WINDOW_DILATION {1,1,2,}
#define WINDOW_PAD_BEGIN {0,0,0,}
#define WINDOW_PAD_END {0,0,0,}
#define ATTR_group 2l
#define ATTR_dilations_COUNT 1
#define ATTR_dilations {2,}
/* ConvTranspose, up to three spatial dimensions: every input element adds its filter into the result.
 * The inner loop runs along a row: out[x * stride + tap * dilation - pad] += in[x] * w. */
#ifndef ATTR_group
#define ATTR_group 1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0]; /* [n, c, id...] */
  const IN1_T *w = in[1]; /* [c, m / group, kernel...] */
  OUT0_T *restrict y = out[0];     /* [n, m, od...] */
  const int64_t x_dims[] = IN0_DIMS, w_dims[] = IN1_DIMS, y_dims[] = OUT0_DIMS;
  const int64_t id[] = WINDOW_IN, kd[] = WINDOW_KERNEL, od[] = WINDOW_OUT;
  const int64_t stride[] = WINDOW_STRIDE, dilation[] = WINDOW_DILATION, pad[] = WINDOW_PAD_BEGIN;
  (void)scratch;
  const int64_t channels = x_dims[1], per_group = channels / ATTR_group;
  const int64_t features = w_dims[1]; /* of one group */
  const int64_t plane = od[0] * od[1] * od[2], image = id[0] * id[1] * id[2];
  for (int64_t u = begin; u < end; u++) { /* one output plane */
    const int64_t n = u / y_dims[1], m = u % y_dims[1], group = m / features;
    OUT0_T *restrict to = y + u * plane;
    OUT0_T start = 0;
#if IN_COUNT > 2 && IN2_PRESENT
    start = ((const IN2_T *)in[2])[m];
#endif
    for (int64_t i = 0; i < plane; i++) to[i] = start;
    for (int64_t c = group * per_group; c < (group + 1) * per_group; c++) {
      const IN0_T *restrict from = x + (n * channels + c) * image;
      const IN1_T *filter = w + (c * features + m % features) * kd[0] * kd[1] * kd[2];
      for (int64_t k0 = 0; k0 < kd[0]; k0++)
        for (int64_t k1 = 0; k1 < kd[1]; k1++)
          for (int64_t k2 = 0; k2 < kd[2]; k2++) {
            const OUT0_T weight = filter[(k0 * kd[1] + k1) * kd[2] + k2];
            const int64_t shift = k2 * dilation[2] - pad[2];
            int64_t first = shift >= 0 ? 0 : (-shift + stride[2] - 1) / stride[2];
            int64_t last = od[2] > shift ? (od[2] - 1 - shift) / stride[2] + 1 : 0;
            if (last > id[2]) last = id[2];
            for (int64_t i0 = 0; i0 < id[0]; i0++) {
              const int64_t o0 = i0 * stride[0] + k0 * dilation[0] - pad[0];
              if (o0 < 0 || o0 >= od[0]) continue;
              for (int64_t i1 = 0; i1 < id[1]; i1++) {
                const int64_t o1 = i1 * stride[1] + k1 * dilation[1] - pad[1];
                if (o1 < 0 || o1 >= od[1]) continue;
                const IN0_T *restrict a = from + (i0 * id[1] + i1) * id[2];
                OUT0_T *restrict b = to + (o0 * od[1] + o1) * od[2];
                if (stride[2] == 1)
                  for (int64_t i = first; i < last; i++) b[i + shift] += a[i] * weight;
                else
                  for (int64_t i = first; i < last; i++) b[i * stride[2] + shift] += a[i] * weight;
              }
            }
          }
    }
  }
  return 0;
}
#undef ATTR_group
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef WINDOW_IN
#undef WINDOW_KERNEL
#undef WINDOW_OUT
#undef WINDOW_STRIDE
#undef WINDOW_DILATION
#undef WINDOW_PAD_BEGIN
#undef WINDOW_PAD_END
#undef ATTR_group
#undef ATTR_dilations_COUNT
#undef ATTR_dilations
int run_3(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_3(in, out, scratch, begin, end); }
#define NAME plain_4
#define UNITS 2l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 9l
#define IN0_DIMS {1,1,3,3,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 4
#define IN1_COUNT 18l
#define IN1_DIMS {1,2,3,3,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 72l
#define OUT0_DIMS {1,2,6,6,}
#define WINDOW_IN {1,3,3,}
#define WINDOW_KERNEL {1,3,3,}
#define WINDOW_OUT {1,6,6,}
#define WINDOW_STRIDE {1,2,2,}
#define WINDOW_DILATION {1,1,1,}
#define WINDOW_PAD_BEGIN {0,0,0,}
#define WINDOW_PAD_END {0,1,1,}
#define ATTR_auto_pad_IS_SAME_UPPER 1
#define ATTR_strides_COUNT 2
#define ATTR_strides {2,2,}
/* ConvTranspose, up to three spatial dimensions: every input element adds its filter into the result.
 * The inner loop runs along a row: out[x * stride + tap * dilation - pad] += in[x] * w. */
#ifndef ATTR_group
#define ATTR_group 1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0]; /* [n, c, id...] */
  const IN1_T *w = in[1]; /* [c, m / group, kernel...] */
  OUT0_T *restrict y = out[0];     /* [n, m, od...] */
  const int64_t x_dims[] = IN0_DIMS, w_dims[] = IN1_DIMS, y_dims[] = OUT0_DIMS;
  const int64_t id[] = WINDOW_IN, kd[] = WINDOW_KERNEL, od[] = WINDOW_OUT;
  const int64_t stride[] = WINDOW_STRIDE, dilation[] = WINDOW_DILATION, pad[] = WINDOW_PAD_BEGIN;
  (void)scratch;
  const int64_t channels = x_dims[1], per_group = channels / ATTR_group;
  const int64_t features = w_dims[1]; /* of one group */
  const int64_t plane = od[0] * od[1] * od[2], image = id[0] * id[1] * id[2];
  for (int64_t u = begin; u < end; u++) { /* one output plane */
    const int64_t n = u / y_dims[1], m = u % y_dims[1], group = m / features;
    OUT0_T *restrict to = y + u * plane;
    OUT0_T start = 0;
#if IN_COUNT > 2 && IN2_PRESENT
    start = ((const IN2_T *)in[2])[m];
#endif
    for (int64_t i = 0; i < plane; i++) to[i] = start;
    for (int64_t c = group * per_group; c < (group + 1) * per_group; c++) {
      const IN0_T *restrict from = x + (n * channels + c) * image;
      const IN1_T *filter = w + (c * features + m % features) * kd[0] * kd[1] * kd[2];
      for (int64_t k0 = 0; k0 < kd[0]; k0++)
        for (int64_t k1 = 0; k1 < kd[1]; k1++)
          for (int64_t k2 = 0; k2 < kd[2]; k2++) {
            const OUT0_T weight = filter[(k0 * kd[1] + k1) * kd[2] + k2];
            const int64_t shift = k2 * dilation[2] - pad[2];
            int64_t first = shift >= 0 ? 0 : (-shift + stride[2] - 1) / stride[2];
            int64_t last = od[2] > shift ? (od[2] - 1 - shift) / stride[2] + 1 : 0;
            if (last > id[2]) last = id[2];
            for (int64_t i0 = 0; i0 < id[0]; i0++) {
              const int64_t o0 = i0 * stride[0] + k0 * dilation[0] - pad[0];
              if (o0 < 0 || o0 >= od[0]) continue;
              for (int64_t i1 = 0; i1 < id[1]; i1++) {
                const int64_t o1 = i1 * stride[1] + k1 * dilation[1] - pad[1];
                if (o1 < 0 || o1 >= od[1]) continue;
                const IN0_T *restrict a = from + (i0 * id[1] + i1) * id[2];
                OUT0_T *restrict b = to + (o0 * od[1] + o1) * od[2];
                if (stride[2] == 1)
                  for (int64_t i = first; i < last; i++) b[i + shift] += a[i] * weight;
                else
                  for (int64_t i = first; i < last; i++) b[i * stride[2] + shift] += a[i] * weight;
              }
            }
          }
    }
  }
  return 0;
}
#undef ATTR_group
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef WINDOW_IN
#undef WINDOW_KERNEL
#undef WINDOW_OUT
#undef WINDOW_STRIDE
#undef WINDOW_DILATION
#undef WINDOW_PAD_BEGIN
#undef WINDOW_PAD_END
#undef ATTR_auto_pad_IS_SAME_UPPER
#undef ATTR_strides_COUNT
#undef ATTR_strides
int run_4(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_4(in, out, scratch, begin, end); }
#define NAME plain_5
#define UNITS 2l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 5
#define IN0_COUNT 36l
#define IN0_DIMS {1,2,2,3,3,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 5
#define IN1_COUNT 32l
#define IN1_DIMS {2,2,2,2,2,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 5
#define OUT0_COUNT 240l
#define OUT0_DIMS {1,2,5,6,4,}
#define WINDOW_IN {2,3,3,}
#define WINDOW_KERNEL {2,2,2,}
#define WINDOW_OUT {5,6,4,}
#define WINDOW_STRIDE {3,2,1,}
#define WINDOW_DILATION {1,1,1,}
#define WINDOW_PAD_BEGIN {0,0,0,}
#define WINDOW_PAD_END {0,0,0,}
#define ATTR_strides_COUNT 3
#define ATTR_strides {3,2,1,}
/* ConvTranspose, up to three spatial dimensions: every input element adds its filter into the result.
 * The inner loop runs along a row: out[x * stride + tap * dilation - pad] += in[x] * w. */
#ifndef ATTR_group
#define ATTR_group 1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0]; /* [n, c, id...] */
  const IN1_T *w = in[1]; /* [c, m / group, kernel...] */
  OUT0_T *restrict y = out[0];     /* [n, m, od...] */
  const int64_t x_dims[] = IN0_DIMS, w_dims[] = IN1_DIMS, y_dims[] = OUT0_DIMS;
  const int64_t id[] = WINDOW_IN, kd[] = WINDOW_KERNEL, od[] = WINDOW_OUT;
  const int64_t stride[] = WINDOW_STRIDE, dilation[] = WINDOW_DILATION, pad[] = WINDOW_PAD_BEGIN;
  (void)scratch;
  const int64_t channels = x_dims[1], per_group = channels / ATTR_group;
  const int64_t features = w_dims[1]; /* of one group */
  const int64_t plane = od[0] * od[1] * od[2], image = id[0] * id[1] * id[2];
  for (int64_t u = begin; u < end; u++) { /* one output plane */
    const int64_t n = u / y_dims[1], m = u % y_dims[1], group = m / features;
    OUT0_T *restrict to = y + u * plane;
    OUT0_T start = 0;
#if IN_COUNT > 2 && IN2_PRESENT
    start = ((const IN2_T *)in[2])[m];
#endif
    for (int64_t i = 0; i < plane; i++) to[i] = start;
    for (int64_t c = group * per_group; c < (group + 1) * per_group; c++) {
      const IN0_T *restrict from = x + (n * channels + c) * image;
      const IN1_T *filter = w + (c * features + m % features) * kd[0] * kd[1] * kd[2];
      for (int64_t k0 = 0; k0 < kd[0]; k0++)
        for (int64_t k1 = 0; k1 < kd[1]; k1++)
          for (int64_t k2 = 0; k2 < kd[2]; k2++) {
            const OUT0_T weight = filter[(k0 * kd[1] + k1) * kd[2] + k2];
            const int64_t shift = k2 * dilation[2] - pad[2];
            int64_t first = shift >= 0 ? 0 : (-shift + stride[2] - 1) / stride[2];
            int64_t last = od[2] > shift ? (od[2] - 1 - shift) / stride[2] + 1 : 0;
            if (last > id[2]) last = id[2];
            for (int64_t i0 = 0; i0 < id[0]; i0++) {
              const int64_t o0 = i0 * stride[0] + k0 * dilation[0] - pad[0];
              if (o0 < 0 || o0 >= od[0]) continue;
              for (int64_t i1 = 0; i1 < id[1]; i1++) {
                const int64_t o1 = i1 * stride[1] + k1 * dilation[1] - pad[1];
                if (o1 < 0 || o1 >= od[1]) continue;
                const IN0_T *restrict a = from + (i0 * id[1] + i1) * id[2];
                OUT0_T *restrict b = to + (o0 * od[1] + o1) * od[2];
                if (stride[2] == 1)
                  for (int64_t i = first; i < last; i++) b[i + shift] += a[i] * weight;
                else
                  for (int64_t i = first; i < last; i++) b[i * stride[2] + shift] += a[i] * weight;
              }
            }
          }
    }
  }
  return 0;
}
#undef ATTR_group
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef WINDOW_IN
#undef WINDOW_KERNEL
#undef WINDOW_OUT
#undef WINDOW_STRIDE
#undef WINDOW_DILATION
#undef WINDOW_PAD_BEGIN
#undef WINDOW_PAD_END
#undef ATTR_strides_COUNT
#undef ATTR_strides
int run_5(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_5(in, out, scratch, begin, end); }
#define NAME plain_6
#define UNITS 4l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 168l
#define IN0_DIMS {2,2,6,7,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 48l
#define OUT0_DIMS {2,2,3,4,}
#define WINDOW_IN {1,6,7,}
#define WINDOW_KERNEL {1,3,3,}
#define WINDOW_OUT {1,3,4,}
#define WINDOW_STRIDE {1,2,2,}
#define WINDOW_DILATION {1,1,1,}
#define WINDOW_PAD_BEGIN {0,1,1,}
#define WINDOW_PAD_END {0,1,1,}
#define ATTR_kernel_shape_COUNT 2
#define ATTR_kernel_shape {3,3,}
#define ATTR_pads_COUNT 4
#define ATTR_pads {1,1,1,1,}
#define ATTR_strides_COUNT 2
#define ATTR_strides {2,2,}
#define POOL_MODE 0
/* AveragePool, MaxPool and LpPool (POOL_MODE 0, 1, 2), up to three spatial dimensions. What lies outside the
 * input does not count, except that count_include_pad counts what lies within the padding. */
#ifndef ATTR_count_include_pad
#define ATTR_count_include_pad 0
#endif
#ifndef ATTR_storage_order
#define ATTR_storage_order 0
#endif
#ifndef ATTR_p
#define ATTR_p 2
#endif
#if OUT0_TYPE == 1 /* f32 */
#define SUM float
#else
#define SUM double
#endif
#define LOWEST _Generic((IN0_T)0, float: -INFINITY, double: -INFINITY, default: 0)
#define IS_FLOAT ((IN0_T)0.5 != 0)
#if OUT_COUNT > 1 && OUT1_PRESENT
#define HAS_INDEX 1
#else
#define HAS_INDEX 0
#endif
#if POOL_MODE == 1
/* Floats begin at -inf and need no place to tell that nothing was seen. A NaN stays. */
#define TAKE(i2)                                                                              \
  do {                                                                                        \
    const IN0_T value = row[i2], old = best[j];                                               \
    const int is_better = (!(IS_FLOAT && !HAS_INDEX) && best_at[j] < 0) || value > old ||     \
                          (value != value && old == old);                                     \
    best[j] = is_better ? value : old;                                                        \
    if (HAS_INDEX || !IS_FLOAT)                                                               \
      best_at[j] = !is_better           ? best_at[j]                                          \
                   : ATTR_storage_order ? ((i2)*id[1] + i1) * id[0] + i0                      \
                                        : (i0 * id[1] + i1) * id[2] + (i2);                   \
  } while (0)
#elif POOL_MODE == 2
#define TAKE(i2)                                                       \
  sum[j] += ATTR_p == 1   ? fabs((double)row[i2])                      \
            : ATTR_p == 2 ? row[i2] * row[i2]                          \
                          : pow(fabs((double)row[i2]), (double)ATTR_p)
#else
#define TAKE(i2) (count[j] += !ATTR_count_include_pad, sum[j] += row[i2])
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t id[] = WINDOW_IN, kd[] = WINDOW_KERNEL, od[] = WINDOW_OUT;
  const int64_t stride[] = WINDOW_STRIDE, dilation[] = WINDOW_DILATION, pad[] = WINDOW_PAD_BEGIN,
                pad_end[] = WINDOW_PAD_END;
  (void)scratch;
  const int64_t image = id[0] * id[1] * id[2], plane = od[0] * od[1] * od[2];
  for (int64_t u = begin; u < end; u++)
    for (int64_t o0 = 0; o0 < od[0]; o0++)
      for (int64_t o1 = 0; o1 < od[1]; o1++)
        for (int64_t start = 0; start < od[2]; start += 64) { /* one part of a row */
          const int64_t width = od[2] - start < 64 ? od[2] - start : 64;
          SUM sum[64] = {0};
          IN0_T best[64] = {0};
          int64_t best_at[64];
          int32_t count[64] = {0};
          for (int64_t j = 0; j < 64; j++) {
            best_at[j] = -1;
            best[j] = (IN0_T)LOWEST;
          }
          for (int64_t k0 = 0; k0 < kd[0]; k0++)
            for (int64_t k1 = 0; k1 < kd[1]; k1++)
              for (int64_t k2 = 0; k2 < kd[2]; k2++) {
                const int64_t i0 = o0 * stride[0] - pad[0] + k0 * dilation[0];
                const int64_t i1 = o1 * stride[1] - pad[1] + k1 * dilation[1];
                const int64_t shift = start * stride[2] - pad[2] + k2 * dilation[2];
                if (i0 >= id[0] + pad_end[0] || i1 >= id[1] + pad_end[1]) continue;
                if (ATTR_count_include_pad)
                  for (int64_t j = 0; j < width; j++)
                    count[j] += j * stride[2] + shift < id[2] + pad_end[2];
                if (i0 < 0 || i1 < 0 || i0 >= id[0] || i1 >= id[1]) continue;
                int64_t first = shift >= 0 ? 0 : (-shift + stride[2] - 1) / stride[2];
                int64_t last = id[2] > shift ? (id[2] - 1 - shift) / stride[2] + 1 : 0;
                if (last > width) last = width;
                const IN0_T *restrict row = x + u * image + (i0 * id[1] + i1) * id[2];
                if (stride[2] == 1)
                  for (int64_t j = first; j < last; j++) TAKE(j + shift);
                else
                  for (int64_t j = first; j < last; j++) TAKE(j * stride[2] + shift);
              }
          const int64_t place = u * plane + (o0 * od[1] + o1) * od[2] + start;
          for (int64_t j = 0; j < width; j++) {
#if POOL_MODE == 1
            y[place + j] = (IS_FLOAT && !HAS_INDEX) || best_at[j] >= 0 ? best[j] : (OUT0_T)LOWEST;
#if OUT_COUNT > 1 && OUT1_PRESENT
            ((OUT1_T *)out[1])[place + j] = u * image + best_at[j];
#endif
#elif POOL_MODE == 2
            y[place + j] = (OUT0_T)(ATTR_p == 1   ? (double)sum[j]
                                    : ATTR_p == 2 ? sqrt((double)sum[j])
                                                  : pow((double)sum[j], 1.0 / (double)ATTR_p));
#else
            y[place + j] = (OUT0_T)(sum[j] / (OUT0_T)count[j]);
#endif
          }
          (void)sum, (void)best, (void)best_at, (void)count;
        }
  return 0;
}
#undef ATTR_count_include_pad
#undef ATTR_storage_order
#undef ATTR_p
#undef SUM
#undef TAKE
#undef IS_FLOAT
#undef HAS_INDEX
#undef LOWEST
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef WINDOW_IN
#undef WINDOW_KERNEL
#undef WINDOW_OUT
#undef WINDOW_STRIDE
#undef WINDOW_DILATION
#undef WINDOW_PAD_BEGIN
#undef WINDOW_PAD_END
#undef ATTR_kernel_shape_COUNT
#undef ATTR_kernel_shape
#undef ATTR_pads_COUNT
#undef ATTR_pads
#undef ATTR_strides_COUNT
#undef ATTR_strides
#undef POOL_MODE
int run_6(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_6(in, out, scratch, begin, end); }
#define NAME plain_7
#define UNITS 2l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 16l
#define IN0_DIMS {1,2,8,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 3
#define OUT0_COUNT 10l
#define OUT0_DIMS {1,2,5,}
#define WINDOW_IN {1,1,8,}
#define WINDOW_KERNEL {1,1,3,}
#define WINDOW_OUT {1,1,5,}
#define WINDOW_STRIDE {1,1,2,}
#define WINDOW_DILATION {1,1,1,}
#define WINDOW_PAD_BEGIN {0,0,1,}
#define WINDOW_PAD_END {0,0,1,}
#define ATTR_kernel_shape_COUNT 1
#define ATTR_kernel_shape {3,}
#define ATTR_count_include_pad 1l
#define ATTR_pads_COUNT 2
#define ATTR_pads {1,1,}
#define ATTR_ceil_mode 1l
#define ATTR_strides_COUNT 1
#define ATTR_strides {2,}
#define POOL_MODE 0
/* AveragePool, MaxPool and LpPool (POOL_MODE 0, 1, 2), up to three spatial dimensions. What lies outside the
 * input does not count, except that count_include_pad counts what lies within the padding. */
#ifndef ATTR_count_include_pad
#define ATTR_count_include_pad 0
#endif
#ifndef ATTR_storage_order
#define ATTR_storage_order 0
#endif
#ifndef ATTR_p
#define ATTR_p 2
#endif
#if OUT0_TYPE == 1 /* f32 */
#define SUM float
#else
#define SUM double
#endif
#define LOWEST _Generic((IN0_T)0, float: -INFINITY, double: -INFINITY, default: 0)
#define IS_FLOAT ((IN0_T)0.5 != 0)
#if OUT_COUNT > 1 && OUT1_PRESENT
#define HAS_INDEX 1
#else
#define HAS_INDEX 0
#endif
#if POOL_MODE == 1
/* Floats begin at -inf and need no place to tell that nothing was seen. A NaN stays. */
#define TAKE(i2)                                                                              \
  do {                                                                                        \
    const IN0_T value = row[i2], old = best[j];                                               \
    const int is_better = (!(IS_FLOAT && !HAS_INDEX) && best_at[j] < 0) || value > old ||     \
                          (value != value && old == old);                                     \
    best[j] = is_better ? value : old;                                                        \
    if (HAS_INDEX || !IS_FLOAT)                                                               \
      best_at[j] = !is_better           ? best_at[j]                                          \
                   : ATTR_storage_order ? ((i2)*id[1] + i1) * id[0] + i0                      \
                                        : (i0 * id[1] + i1) * id[2] + (i2);                   \
  } while (0)
#elif POOL_MODE == 2
#define TAKE(i2)                                                       \
  sum[j] += ATTR_p == 1   ? fabs((double)row[i2])                      \
            : ATTR_p == 2 ? row[i2] * row[i2]                          \
                          : pow(fabs((double)row[i2]), (double)ATTR_p)
#else
#define TAKE(i2) (count[j] += !ATTR_count_include_pad, sum[j] += row[i2])
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t id[] = WINDOW_IN, kd[] = WINDOW_KERNEL, od[] = WINDOW_OUT;
  const int64_t stride[] = WINDOW_STRIDE, dilation[] = WINDOW_DILATION, pad[] = WINDOW_PAD_BEGIN,
                pad_end[] = WINDOW_PAD_END;
  (void)scratch;
  const int64_t image = id[0] * id[1] * id[2], plane = od[0] * od[1] * od[2];
  for (int64_t u = begin; u < end; u++)
    for (int64_t o0 = 0; o0 < od[0]; o0++)
      for (int64_t o1 = 0; o1 < od[1]; o1++)
        for (int64_t start = 0; start < od[2]; start += 64) { /* one part of a row */
          const int64_t width = od[2] - start < 64 ? od[2] - start : 64;
          SUM sum[64] = {0};
          IN0_T best[64] = {0};
          int64_t best_at[64];
          int32_t count[64] = {0};
          for (int64_t j = 0; j < 64; j++) {
            best_at[j] = -1;
            best[j] = (IN0_T)LOWEST;
          }
          for (int64_t k0 = 0; k0 < kd[0]; k0++)
            for (int64_t k1 = 0; k1 < kd[1]; k1++)
              for (int64_t k2 = 0; k2 < kd[2]; k2++) {
                const int64_t i0 = o0 * stride[0] - pad[0] + k0 * dilation[0];
                const int64_t i1 = o1 * stride[1] - pad[1] + k1 * dilation[1];
                const int64_t shift = start * stride[2] - pad[2] + k2 * dilation[2];
                if (i0 >= id[0] + pad_end[0] || i1 >= id[1] + pad_end[1]) continue;
                if (ATTR_count_include_pad)
                  for (int64_t j = 0; j < width; j++)
                    count[j] += j * stride[2] + shift < id[2] + pad_end[2];
                if (i0 < 0 || i1 < 0 || i0 >= id[0] || i1 >= id[1]) continue;
                int64_t first = shift >= 0 ? 0 : (-shift + stride[2] - 1) / stride[2];
                int64_t last = id[2] > shift ? (id[2] - 1 - shift) / stride[2] + 1 : 0;
                if (last > width) last = width;
                const IN0_T *restrict row = x + u * image + (i0 * id[1] + i1) * id[2];
                if (stride[2] == 1)
                  for (int64_t j = first; j < last; j++) TAKE(j + shift);
                else
                  for (int64_t j = first; j < last; j++) TAKE(j * stride[2] + shift);
              }
          const int64_t place = u * plane + (o0 * od[1] + o1) * od[2] + start;
          for (int64_t j = 0; j < width; j++) {
#if POOL_MODE == 1
            y[place + j] = (IS_FLOAT && !HAS_INDEX) || best_at[j] >= 0 ? best[j] : (OUT0_T)LOWEST;
#if OUT_COUNT > 1 && OUT1_PRESENT
            ((OUT1_T *)out[1])[place + j] = u * image + best_at[j];
#endif
#elif POOL_MODE == 2
            y[place + j] = (OUT0_T)(ATTR_p == 1   ? (double)sum[j]
                                    : ATTR_p == 2 ? sqrt((double)sum[j])
                                                  : pow((double)sum[j], 1.0 / (double)ATTR_p));
#else
            y[place + j] = (OUT0_T)(sum[j] / (OUT0_T)count[j]);
#endif
          }
          (void)sum, (void)best, (void)best_at, (void)count;
        }
  return 0;
}
#undef ATTR_count_include_pad
#undef ATTR_storage_order
#undef ATTR_p
#undef SUM
#undef TAKE
#undef IS_FLOAT
#undef HAS_INDEX
#undef LOWEST
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef WINDOW_IN
#undef WINDOW_KERNEL
#undef WINDOW_OUT
#undef WINDOW_STRIDE
#undef WINDOW_DILATION
#undef WINDOW_PAD_BEGIN
#undef WINDOW_PAD_END
#undef ATTR_kernel_shape_COUNT
#undef ATTR_kernel_shape
#undef ATTR_count_include_pad
#undef ATTR_pads_COUNT
#undef ATTR_pads
#undef ATTR_ceil_mode
#undef ATTR_strides_COUNT
#undef ATTR_strides
#undef POOL_MODE
int run_7(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_7(in, out, scratch, begin, end); }
#define NAME plain_8
#define UNITS 2l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T double
#define IN0_TYPE 11
#define IN0_RANK 5
#define IN0_COUNT 120l
#define IN0_DIMS {1,2,3,4,5,}
#define OUT0_PRESENT 1
#define OUT0_T double
#define OUT0_TYPE 11
#define OUT0_RANK 5
#define OUT0_COUNT 32l
#define OUT0_DIMS {1,2,2,2,4,}
#define WINDOW_IN {3,4,5,}
#define WINDOW_KERNEL {2,2,2,}
#define WINDOW_OUT {2,2,4,}
#define WINDOW_STRIDE {1,1,1,}
#define WINDOW_DILATION {1,2,1,}
#define WINDOW_PAD_BEGIN {0,0,0,}
#define WINDOW_PAD_END {0,0,0,}
#define ATTR_kernel_shape_COUNT 3
#define ATTR_kernel_shape {2,2,2,}
#define ATTR_dilations_COUNT 3
#define ATTR_dilations {1,2,1,}
#define POOL_MODE 0
/* AveragePool, MaxPool and LpPool (POOL_MODE 0, 1, 2), up to three spatial dimensions. What lies outside the
 * input does not count, except that count_include_pad counts what lies within the padding. */
#ifndef ATTR_count_include_pad
#define ATTR_count_include_pad 0
#endif
#ifndef ATTR_storage_order
#define ATTR_storage_order 0
#endif
#ifndef ATTR_p
#define ATTR_p 2
#endif
#if OUT0_TYPE == 1 /* f32 */
#define SUM float
#else
#define SUM double
#endif
#define LOWEST _Generic((IN0_T)0, float: -INFINITY, double: -INFINITY, default: 0)
#define IS_FLOAT ((IN0_T)0.5 != 0)
#if OUT_COUNT > 1 && OUT1_PRESENT
#define HAS_INDEX 1
#else
#define HAS_INDEX 0
#endif
#if POOL_MODE == 1
/* Floats begin at -inf and need no place to tell that nothing was seen. A NaN stays. */
#define TAKE(i2)                                                                              \
  do {                                                                                        \
    const IN0_T value = row[i2], old = best[j];                                               \
    const int is_better = (!(IS_FLOAT && !HAS_INDEX) && best_at[j] < 0) || value > old ||     \
                          (value != value && old == old);                                     \
    best[j] = is_better ? value : old;                                                        \
    if (HAS_INDEX || !IS_FLOAT)                                                               \
      best_at[j] = !is_better           ? best_at[j]                                          \
                   : ATTR_storage_order ? ((i2)*id[1] + i1) * id[0] + i0                      \
                                        : (i0 * id[1] + i1) * id[2] + (i2);                   \
  } while (0)
#elif POOL_MODE == 2
#define TAKE(i2)                                                       \
  sum[j] += ATTR_p == 1   ? fabs((double)row[i2])                      \
            : ATTR_p == 2 ? row[i2] * row[i2]                          \
                          : pow(fabs((double)row[i2]), (double)ATTR_p)
#else
#define TAKE(i2) (count[j] += !ATTR_count_include_pad, sum[j] += row[i2])
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t id[] = WINDOW_IN, kd[] = WINDOW_KERNEL, od[] = WINDOW_OUT;
  const int64_t stride[] = WINDOW_STRIDE, dilation[] = WINDOW_DILATION, pad[] = WINDOW_PAD_BEGIN,
                pad_end[] = WINDOW_PAD_END;
  (void)scratch;
  const int64_t image = id[0] * id[1] * id[2], plane = od[0] * od[1] * od[2];
  for (int64_t u = begin; u < end; u++)
    for (int64_t o0 = 0; o0 < od[0]; o0++)
      for (int64_t o1 = 0; o1 < od[1]; o1++)
        for (int64_t start = 0; start < od[2]; start += 64) { /* one part of a row */
          const int64_t width = od[2] - start < 64 ? od[2] - start : 64;
          SUM sum[64] = {0};
          IN0_T best[64] = {0};
          int64_t best_at[64];
          int32_t count[64] = {0};
          for (int64_t j = 0; j < 64; j++) {
            best_at[j] = -1;
            best[j] = (IN0_T)LOWEST;
          }
          for (int64_t k0 = 0; k0 < kd[0]; k0++)
            for (int64_t k1 = 0; k1 < kd[1]; k1++)
              for (int64_t k2 = 0; k2 < kd[2]; k2++) {
                const int64_t i0 = o0 * stride[0] - pad[0] + k0 * dilation[0];
                const int64_t i1 = o1 * stride[1] - pad[1] + k1 * dilation[1];
                const int64_t shift = start * stride[2] - pad[2] + k2 * dilation[2];
                if (i0 >= id[0] + pad_end[0] || i1 >= id[1] + pad_end[1]) continue;
                if (ATTR_count_include_pad)
                  for (int64_t j = 0; j < width; j++)
                    count[j] += j * stride[2] + shift < id[2] + pad_end[2];
                if (i0 < 0 || i1 < 0 || i0 >= id[0] || i1 >= id[1]) continue;
                int64_t first = shift >= 0 ? 0 : (-shift + stride[2] - 1) / stride[2];
                int64_t last = id[2] > shift ? (id[2] - 1 - shift) / stride[2] + 1 : 0;
                if (last > width) last = width;
                const IN0_T *restrict row = x + u * image + (i0 * id[1] + i1) * id[2];
                if (stride[2] == 1)
                  for (int64_t j = first; j < last; j++) TAKE(j + shift);
                else
                  for (int64_t j = first; j < last; j++) TAKE(j * stride[2] + shift);
              }
          const int64_t place = u * plane + (o0 * od[1] + o1) * od[2] + start;
          for (int64_t j = 0; j < width; j++) {
#if POOL_MODE == 1
            y[place + j] = (IS_FLOAT && !HAS_INDEX) || best_at[j] >= 0 ? best[j] : (OUT0_T)LOWEST;
#if OUT_COUNT > 1 && OUT1_PRESENT
            ((OUT1_T *)out[1])[place + j] = u * image + best_at[j];
#endif
#elif POOL_MODE == 2
            y[place + j] = (OUT0_T)(ATTR_p == 1   ? (double)sum[j]
                                    : ATTR_p == 2 ? sqrt((double)sum[j])
                                                  : pow((double)sum[j], 1.0 / (double)ATTR_p));
#else
            y[place + j] = (OUT0_T)(sum[j] / (OUT0_T)count[j]);
#endif
          }
          (void)sum, (void)best, (void)best_at, (void)count;
        }
  return 0;
}
#undef ATTR_count_include_pad
#undef ATTR_storage_order
#undef ATTR_p
#undef SUM
#undef TAKE
#undef IS_FLOAT
#undef HAS_INDEX
#undef LOWEST
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef WINDOW_IN
#undef WINDOW_KERNEL
#undef WINDOW_OUT
#undef WINDOW_STRIDE
#undef WINDOW_DILATION
#undef WINDOW_PAD_BEGIN
#undef WINDOW_PAD_END
#undef ATTR_kernel_shape_COUNT
#undef ATTR_kernel_shape
#undef ATTR_dilations_COUNT
#undef ATTR_dilations
#undef POOL_MODE
int run_8(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_8(in, out, scratch, begin, end); }
#define NAME plain_9
#define UNITS 1l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 16l
#define IN0_DIMS {1,1,4,4,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 16l
#define OUT0_DIMS {1,1,4,4,}
#define WINDOW_IN {1,4,4,}
#define WINDOW_KERNEL {1,2,2,}
#define WINDOW_OUT {1,4,4,}
#define WINDOW_STRIDE {1,1,1,}
#define WINDOW_DILATION {1,1,1,}
#define WINDOW_PAD_BEGIN {0,1,1,}
#define WINDOW_PAD_END {0,0,0,}
#define ATTR_kernel_shape_COUNT 2
#define ATTR_kernel_shape {2,2,}
#define ATTR_auto_pad_IS_SAME_LOWER 1
#define POOL_MODE 0
/* AveragePool, MaxPool and LpPool (POOL_MODE 0, 1, 2), up to three spatial dimensions. What lies outside the
 * input does not count, except that count_include_pad counts what lies within the padding. */
#ifndef ATTR_count_include_pad
#define ATTR_count_include_pad 0
#endif
#ifndef ATTR_storage_order
#define ATTR_storage_order 0
#endif
#ifndef ATTR_p
#define ATTR_p 2
#endif
#if OUT0_TYPE == 1 /* f32 */
#define SUM float
#else
#define SUM double
#endif
#define LOWEST _Generic((IN0_T)0, float: -INFINITY, double: -INFINITY, default: 0)
#define IS_FLOAT ((IN0_T)0.5 != 0)
#if OUT_COUNT > 1 && OUT1_PRESENT
#define HAS_INDEX 1
#else
#define HAS_INDEX 0
#endif
#if POOL_MODE == 1
/* Floats begin at -inf and need no place to tell that nothing was seen. A NaN stays. */
#define TAKE(i2)                                                                              \
  do {                                                                                        \
    const IN0_T value = row[i2], old = best[j];                                               \
    const int is_better = (!(IS_FLOAT && !HAS_INDEX) && best_at[j] < 0) || value > old ||     \
                          (value != value && old == old);                                     \
    best[j] = is_better ? value : old;                                                        \
    if (HAS_INDEX || !IS_FLOAT)                                                               \
      best_at[j] = !is_better           ? best_at[j]                                          \
                   : ATTR_storage_order ? ((i2)*id[1] + i1) * id[0] + i0                      \
                                        : (i0 * id[1] + i1) * id[2] + (i2);                   \
  } while (0)
#elif POOL_MODE == 2
#define TAKE(i2)                                                       \
  sum[j] += ATTR_p == 1   ? fabs((double)row[i2])                      \
            : ATTR_p == 2 ? row[i2] * row[i2]                          \
                          : pow(fabs((double)row[i2]), (double)ATTR_p)
#else
#define TAKE(i2) (count[j] += !ATTR_count_include_pad, sum[j] += row[i2])
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t id[] = WINDOW_IN, kd[] = WINDOW_KERNEL, od[] = WINDOW_OUT;
  const int64_t stride[] = WINDOW_STRIDE, dilation[] = WINDOW_DILATION, pad[] = WINDOW_PAD_BEGIN,
                pad_end[] = WINDOW_PAD_END;
  (void)scratch;
  const int64_t image = id[0] * id[1] * id[2], plane = od[0] * od[1] * od[2];
  for (int64_t u = begin; u < end; u++)
    for (int64_t o0 = 0; o0 < od[0]; o0++)
      for (int64_t o1 = 0; o1 < od[1]; o1++)
        for (int64_t start = 0; start < od[2]; start += 64) { /* one part of a row */
          const int64_t width = od[2] - start < 64 ? od[2] - start : 64;
          SUM sum[64] = {0};
          IN0_T best[64] = {0};
          int64_t best_at[64];
          int32_t count[64] = {0};
          for (int64_t j = 0; j < 64; j++) {
            best_at[j] = -1;
            best[j] = (IN0_T)LOWEST;
          }
          for (int64_t k0 = 0; k0 < kd[0]; k0++)
            for (int64_t k1 = 0; k1 < kd[1]; k1++)
              for (int64_t k2 = 0; k2 < kd[2]; k2++) {
                const int64_t i0 = o0 * stride[0] - pad[0] + k0 * dilation[0];
                const int64_t i1 = o1 * stride[1] - pad[1] + k1 * dilation[1];
                const int64_t shift = start * stride[2] - pad[2] + k2 * dilation[2];
                if (i0 >= id[0] + pad_end[0] || i1 >= id[1] + pad_end[1]) continue;
                if (ATTR_count_include_pad)
                  for (int64_t j = 0; j < width; j++)
                    count[j] += j * stride[2] + shift < id[2] + pad_end[2];
                if (i0 < 0 || i1 < 0 || i0 >= id[0] || i1 >= id[1]) continue;
                int64_t first = shift >= 0 ? 0 : (-shift + stride[2] - 1) / stride[2];
                int64_t last = id[2] > shift ? (id[2] - 1 - shift) / stride[2] + 1 : 0;
                if (last > width) last = width;
                const IN0_T *restrict row = x + u * image + (i0 * id[1] + i1) * id[2];
                if (stride[2] == 1)
                  for (int64_t j = first; j < last; j++) TAKE(j + shift);
                else
                  for (int64_t j = first; j < last; j++) TAKE(j * stride[2] + shift);
              }
          const int64_t place = u * plane + (o0 * od[1] + o1) * od[2] + start;
          for (int64_t j = 0; j < width; j++) {
#if POOL_MODE == 1
            y[place + j] = (IS_FLOAT && !HAS_INDEX) || best_at[j] >= 0 ? best[j] : (OUT0_T)LOWEST;
#if OUT_COUNT > 1 && OUT1_PRESENT
            ((OUT1_T *)out[1])[place + j] = u * image + best_at[j];
#endif
#elif POOL_MODE == 2
            y[place + j] = (OUT0_T)(ATTR_p == 1   ? (double)sum[j]
                                    : ATTR_p == 2 ? sqrt((double)sum[j])
                                                  : pow((double)sum[j], 1.0 / (double)ATTR_p));
#else
            y[place + j] = (OUT0_T)(sum[j] / (OUT0_T)count[j]);
#endif
          }
          (void)sum, (void)best, (void)best_at, (void)count;
        }
  return 0;
}
#undef ATTR_count_include_pad
#undef ATTR_storage_order
#undef ATTR_p
#undef SUM
#undef TAKE
#undef IS_FLOAT
#undef HAS_INDEX
#undef LOWEST
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef WINDOW_IN
#undef WINDOW_KERNEL
#undef WINDOW_OUT
#undef WINDOW_STRIDE
#undef WINDOW_DILATION
#undef WINDOW_PAD_BEGIN
#undef WINDOW_PAD_END
#undef ATTR_kernel_shape_COUNT
#undef ATTR_kernel_shape
#undef ATTR_auto_pad_IS_SAME_LOWER
#undef POOL_MODE
int run_9(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_9(in, out, scratch, begin, end); }
#define NAME plain_10
#define UNITS 2l
#define IN_COUNT 1
#define OUT_COUNT 2
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 84l
#define IN0_DIMS {1,2,6,7,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 24l
#define OUT0_DIMS {1,2,3,4,}
#define OUT1_PRESENT 1
#define OUT1_T int64_t
#define OUT1_TYPE 7
#define OUT1_RANK 4
#define OUT1_COUNT 24l
#define OUT1_DIMS {1,2,3,4,}
#define WINDOW_IN {1,6,7,}
#define WINDOW_KERNEL {1,3,3,}
#define WINDOW_OUT {1,3,4,}
#define WINDOW_STRIDE {1,2,2,}
#define WINDOW_DILATION {1,1,1,}
#define WINDOW_PAD_BEGIN {0,1,1,}
#define WINDOW_PAD_END {0,1,1,}
#define ATTR_kernel_shape_COUNT 2
#define ATTR_kernel_shape {3,3,}
#define ATTR_pads_COUNT 4
#define ATTR_pads {1,1,1,1,}
#define ATTR_strides_COUNT 2
#define ATTR_strides {2,2,}
#define POOL_MODE 1
/* AveragePool, MaxPool and LpPool (POOL_MODE 0, 1, 2), up to three spatial dimensions. What lies outside the
 * input does not count, except that count_include_pad counts what lies within the padding. */
#ifndef ATTR_count_include_pad
#define ATTR_count_include_pad 0
#endif
#ifndef ATTR_storage_order
#define ATTR_storage_order 0
#endif
#ifndef ATTR_p
#define ATTR_p 2
#endif
#if OUT0_TYPE == 1 /* f32 */
#define SUM float
#else
#define SUM double
#endif
#define LOWEST _Generic((IN0_T)0, float: -INFINITY, double: -INFINITY, default: 0)
#define IS_FLOAT ((IN0_T)0.5 != 0)
#if OUT_COUNT > 1 && OUT1_PRESENT
#define HAS_INDEX 1
#else
#define HAS_INDEX 0
#endif
#if POOL_MODE == 1
/* Floats begin at -inf and need no place to tell that nothing was seen. A NaN stays. */
#define TAKE(i2)                                                                              \
  do {                                                                                        \
    const IN0_T value = row[i2], old = best[j];                                               \
    const int is_better = (!(IS_FLOAT && !HAS_INDEX) && best_at[j] < 0) || value > old ||     \
                          (value != value && old == old);                                     \
    best[j] = is_better ? value : old;                                                        \
    if (HAS_INDEX || !IS_FLOAT)                                                               \
      best_at[j] = !is_better           ? best_at[j]                                          \
                   : ATTR_storage_order ? ((i2)*id[1] + i1) * id[0] + i0                      \
                                        : (i0 * id[1] + i1) * id[2] + (i2);                   \
  } while (0)
#elif POOL_MODE == 2
#define TAKE(i2)                                                       \
  sum[j] += ATTR_p == 1   ? fabs((double)row[i2])                      \
            : ATTR_p == 2 ? row[i2] * row[i2]                          \
                          : pow(fabs((double)row[i2]), (double)ATTR_p)
#else
#define TAKE(i2) (count[j] += !ATTR_count_include_pad, sum[j] += row[i2])
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t id[] = WINDOW_IN, kd[] = WINDOW_KERNEL, od[] = WINDOW_OUT;
  const int64_t stride[] = WINDOW_STRIDE, dilation[] = WINDOW_DILATION, pad[] = WINDOW_PAD_BEGIN,
                pad_end[] = WINDOW_PAD_END;
  (void)scratch;
  const int64_t image = id[0] * id[1] * id[2], plane = od[0] * od[1] * od[2];
  for (int64_t u = begin; u < end; u++)
    for (int64_t o0 = 0; o0 < od[0]; o0++)
      for (int64_t o1 = 0; o1 < od[1]; o1++)
        for (int64_t start = 0; start < od[2]; start += 64) { /* one part of a row */
          const int64_t width = od[2] - start < 64 ? od[2] - start : 64;
          SUM sum[64] = {0};
          IN0_T best[64] = {0};
          int64_t best_at[64];
          int32_t count[64] = {0};
          for (int64_t j = 0; j < 64; j++) {
            best_at[j] = -1;
            best[j] = (IN0_T)LOWEST;
          }
          for (int64_t k0 = 0; k0 < kd[0]; k0++)
            for (int64_t k1 = 0; k1 < kd[1]; k1++)
              for (int64_t k2 = 0; k2 < kd[2]; k2++) {
                const int64_t i0 = o0 * stride[0] - pad[0] + k0 * dilation[0];
                const int64_t i1 = o1 * stride[1] - pad[1] + k1 * dilation[1];
                const int64_t shift = start * stride[2] - pad[2] + k2 * dilation[2];
                if (i0 >= id[0] + pad_end[0] || i1 >= id[1] + pad_end[1]) continue;
                if (ATTR_count_include_pad)
                  for (int64_t j = 0; j < width; j++)
                    count[j] += j * stride[2] + shift < id[2] + pad_end[2];
                if (i0 < 0 || i1 < 0 || i0 >= id[0] || i1 >= id[1]) continue;
                int64_t first = shift >= 0 ? 0 : (-shift + stride[2] - 1) / stride[2];
                int64_t last = id[2] > shift ? (id[2] - 1 - shift) / stride[2] + 1 : 0;
                if (last > width) last = width;
                const IN0_T *restrict row = x + u * image + (i0 * id[1] + i1) * id[2];
                if (stride[2] == 1)
                  for (int64_t j = first; j < last; j++) TAKE(j + shift);
                else
                  for (int64_t j = first; j < last; j++) TAKE(j * stride[2] + shift);
              }
          const int64_t place = u * plane + (o0 * od[1] + o1) * od[2] + start;
          for (int64_t j = 0; j < width; j++) {
#if POOL_MODE == 1
            y[place + j] = (IS_FLOAT && !HAS_INDEX) || best_at[j] >= 0 ? best[j] : (OUT0_T)LOWEST;
#if OUT_COUNT > 1 && OUT1_PRESENT
            ((OUT1_T *)out[1])[place + j] = u * image + best_at[j];
#endif
#elif POOL_MODE == 2
            y[place + j] = (OUT0_T)(ATTR_p == 1   ? (double)sum[j]
                                    : ATTR_p == 2 ? sqrt((double)sum[j])
                                                  : pow((double)sum[j], 1.0 / (double)ATTR_p));
#else
            y[place + j] = (OUT0_T)(sum[j] / (OUT0_T)count[j]);
#endif
          }
          (void)sum, (void)best, (void)best_at, (void)count;
        }
  return 0;
}
#undef ATTR_count_include_pad
#undef ATTR_storage_order
#undef ATTR_p
#undef SUM
#undef TAKE
#undef IS_FLOAT
#undef HAS_INDEX
#undef LOWEST
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef OUT1_PRESENT
#undef OUT1_T
#undef OUT1_TYPE
#undef OUT1_RANK
#undef OUT1_COUNT
#undef OUT1_DIMS
#undef WINDOW_IN
#undef WINDOW_KERNEL
#undef WINDOW_OUT
#undef WINDOW_STRIDE
#undef WINDOW_DILATION
#undef WINDOW_PAD_BEGIN
#undef WINDOW_PAD_END
#undef ATTR_kernel_shape_COUNT
#undef ATTR_kernel_shape
#undef ATTR_pads_COUNT
#undef ATTR_pads
#undef ATTR_strides_COUNT
#undef ATTR_strides
#undef POOL_MODE
int run_10(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_10(in, out, scratch, begin, end); }
#define NAME plain_11
#define UNITS 2l
#define IN_COUNT 1
#define OUT_COUNT 2
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 60l
#define IN0_DIMS {1,2,5,6,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 30l
#define OUT0_DIMS {1,2,3,5,}
#define OUT1_PRESENT 1
#define OUT1_T int64_t
#define OUT1_TYPE 7
#define OUT1_RANK 4
#define OUT1_COUNT 30l
#define OUT1_DIMS {1,2,3,5,}
#define WINDOW_IN {1,5,6,}
#define WINDOW_KERNEL {1,2,2,}
#define WINDOW_OUT {1,3,5,}
#define WINDOW_STRIDE {1,1,1,}
#define WINDOW_DILATION {1,2,1,}
#define WINDOW_PAD_BEGIN {0,0,0,}
#define WINDOW_PAD_END {0,0,0,}
#define ATTR_kernel_shape_COUNT 2
#define ATTR_kernel_shape {2,2,}
#define ATTR_storage_order 1l
#define ATTR_dilations_COUNT 2
#define ATTR_dilations {2,1,}
#define POOL_MODE 1
/* AveragePool, MaxPool and LpPool (POOL_MODE 0, 1, 2), up to three spatial dimensions. What lies outside the
 * input does not count, except that count_include_pad counts what lies within the padding. */
#ifndef ATTR_count_include_pad
#define ATTR_count_include_pad 0
#endif
#ifndef ATTR_storage_order
#define ATTR_storage_order 0
#endif
#ifndef ATTR_p
#define ATTR_p 2
#endif
#if OUT0_TYPE == 1 /* f32 */
#define SUM float
#else
#define SUM double
#endif
#define LOWEST _Generic((IN0_T)0, float: -INFINITY, double: -INFINITY, default: 0)
#define IS_FLOAT ((IN0_T)0.5 != 0)
#if OUT_COUNT > 1 && OUT1_PRESENT
#define HAS_INDEX 1
#else
#define HAS_INDEX 0
#endif
#if POOL_MODE == 1
/* Floats begin at -inf and need no place to tell that nothing was seen. A NaN stays. */
#define TAKE(i2)                                                                              \
  do {                                                                                        \
    const IN0_T value = row[i2], old = best[j];                                               \
    const int is_better = (!(IS_FLOAT && !HAS_INDEX) && best_at[j] < 0) || value > old ||     \
                          (value != value && old == old);                                     \
    best[j] = is_better ? value : old;                                                        \
    if (HAS_INDEX || !IS_FLOAT)                                                               \
      best_at[j] = !is_better           ? best_at[j]                                          \
                   : ATTR_storage_order ? ((i2)*id[1] + i1) * id[0] + i0                      \
                                        : (i0 * id[1] + i1) * id[2] + (i2);                   \
  } while (0)
#elif POOL_MODE == 2
#define TAKE(i2)                                                       \
  sum[j] += ATTR_p == 1   ? fabs((double)row[i2])                      \
            : ATTR_p == 2 ? row[i2] * row[i2]                          \
                          : pow(fabs((double)row[i2]), (double)ATTR_p)
#else
#define TAKE(i2) (count[j] += !ATTR_count_include_pad, sum[j] += row[i2])
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t id[] = WINDOW_IN, kd[] = WINDOW_KERNEL, od[] = WINDOW_OUT;
  const int64_t stride[] = WINDOW_STRIDE, dilation[] = WINDOW_DILATION, pad[] = WINDOW_PAD_BEGIN,
                pad_end[] = WINDOW_PAD_END;
  (void)scratch;
  const int64_t image = id[0] * id[1] * id[2], plane = od[0] * od[1] * od[2];
  for (int64_t u = begin; u < end; u++)
    for (int64_t o0 = 0; o0 < od[0]; o0++)
      for (int64_t o1 = 0; o1 < od[1]; o1++)
        for (int64_t start = 0; start < od[2]; start += 64) { /* one part of a row */
          const int64_t width = od[2] - start < 64 ? od[2] - start : 64;
          SUM sum[64] = {0};
          IN0_T best[64] = {0};
          int64_t best_at[64];
          int32_t count[64] = {0};
          for (int64_t j = 0; j < 64; j++) {
            best_at[j] = -1;
            best[j] = (IN0_T)LOWEST;
          }
          for (int64_t k0 = 0; k0 < kd[0]; k0++)
            for (int64_t k1 = 0; k1 < kd[1]; k1++)
              for (int64_t k2 = 0; k2 < kd[2]; k2++) {
                const int64_t i0 = o0 * stride[0] - pad[0] + k0 * dilation[0];
                const int64_t i1 = o1 * stride[1] - pad[1] + k1 * dilation[1];
                const int64_t shift = start * stride[2] - pad[2] + k2 * dilation[2];
                if (i0 >= id[0] + pad_end[0] || i1 >= id[1] + pad_end[1]) continue;
                if (ATTR_count_include_pad)
                  for (int64_t j = 0; j < width; j++)
                    count[j] += j * stride[2] + shift < id[2] + pad_end[2];
                if (i0 < 0 || i1 < 0 || i0 >= id[0] || i1 >= id[1]) continue;
                int64_t first = shift >= 0 ? 0 : (-shift + stride[2] - 1) / stride[2];
                int64_t last = id[2] > shift ? (id[2] - 1 - shift) / stride[2] + 1 : 0;
                if (last > width) last = width;
                const IN0_T *restrict row = x + u * image + (i0 * id[1] + i1) * id[2];
                if (stride[2] == 1)
                  for (int64_t j = first; j < last; j++) TAKE(j + shift);
                else
                  for (int64_t j = first; j < last; j++) TAKE(j * stride[2] + shift);
              }
          const int64_t place = u * plane + (o0 * od[1] + o1) * od[2] + start;
          for (int64_t j = 0; j < width; j++) {
#if POOL_MODE == 1
            y[place + j] = (IS_FLOAT && !HAS_INDEX) || best_at[j] >= 0 ? best[j] : (OUT0_T)LOWEST;
#if OUT_COUNT > 1 && OUT1_PRESENT
            ((OUT1_T *)out[1])[place + j] = u * image + best_at[j];
#endif
#elif POOL_MODE == 2
            y[place + j] = (OUT0_T)(ATTR_p == 1   ? (double)sum[j]
                                    : ATTR_p == 2 ? sqrt((double)sum[j])
                                                  : pow((double)sum[j], 1.0 / (double)ATTR_p));
#else
            y[place + j] = (OUT0_T)(sum[j] / (OUT0_T)count[j]);
#endif
          }
          (void)sum, (void)best, (void)best_at, (void)count;
        }
  return 0;
}
#undef ATTR_count_include_pad
#undef ATTR_storage_order
#undef ATTR_p
#undef SUM
#undef TAKE
#undef IS_FLOAT
#undef HAS_INDEX
#undef LOWEST
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef OUT1_PRESENT
#undef OUT1_T
#undef OUT1_TYPE
#undef OUT1_RANK
#undef OUT1_COUNT
#undef OUT1_DIMS
#undef WINDOW_IN
#undef WINDOW_KERNEL
#undef WINDOW_OUT
#undef WINDOW_STRIDE
#undef WINDOW_DILATION
#undef WINDOW_PAD_BEGIN
#undef WINDOW_PAD_END
#undef ATTR_kernel_shape_COUNT
#undef ATTR_kernel_shape
#undef ATTR_storage_order
#undef ATTR_dilations_COUNT
#undef ATTR_dilations
#undef POOL_MODE
int run_11(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_11(in, out, scratch, begin, end); }
#define NAME plain_12
#define UNITS 2l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T uint8_t
#define IN0_TYPE 2
#define IN0_RANK 3
#define IN0_COUNT 16l
#define IN0_DIMS {1,2,8,}
#define OUT0_PRESENT 1
#define OUT0_T uint8_t
#define OUT0_TYPE 2
#define OUT0_RANK 3
#define OUT0_COUNT 8l
#define OUT0_DIMS {1,2,4,}
#define WINDOW_IN {1,1,8,}
#define WINDOW_KERNEL {1,1,3,}
#define WINDOW_OUT {1,1,4,}
#define WINDOW_STRIDE {1,1,2,}
#define WINDOW_DILATION {1,1,1,}
#define WINDOW_PAD_BEGIN {0,0,0,}
#define WINDOW_PAD_END {0,0,0,}
#define ATTR_kernel_shape_COUNT 1
#define ATTR_kernel_shape {3,}
#define ATTR_ceil_mode 1l
#define ATTR_strides_COUNT 1
#define ATTR_strides {2,}
#define POOL_MODE 1
/* AveragePool, MaxPool and LpPool (POOL_MODE 0, 1, 2), up to three spatial dimensions. What lies outside the
 * input does not count, except that count_include_pad counts what lies within the padding. */
#ifndef ATTR_count_include_pad
#define ATTR_count_include_pad 0
#endif
#ifndef ATTR_storage_order
#define ATTR_storage_order 0
#endif
#ifndef ATTR_p
#define ATTR_p 2
#endif
#if OUT0_TYPE == 1 /* f32 */
#define SUM float
#else
#define SUM double
#endif
#define LOWEST _Generic((IN0_T)0, float: -INFINITY, double: -INFINITY, default: 0)
#define IS_FLOAT ((IN0_T)0.5 != 0)
#if OUT_COUNT > 1 && OUT1_PRESENT
#define HAS_INDEX 1
#else
#define HAS_INDEX 0
#endif
#if POOL_MODE == 1
/* Floats begin at -inf and need no place to tell that nothing was seen. A NaN stays. */
#define TAKE(i2)                                                                              \
  do {                                                                                        \
    const IN0_T value = row[i2], old = best[j];                                               \
    const int is_better = (!(IS_FLOAT && !HAS_INDEX) && best_at[j] < 0) || value > old ||     \
                          (value != value && old == old);                                     \
    best[j] = is_better ? value : old;                                                        \
    if (HAS_INDEX || !IS_FLOAT)                                                               \
      best_at[j] = !is_better           ? best_at[j]                                          \
                   : ATTR_storage_order ? ((i2)*id[1] + i1) * id[0] + i0                      \
                                        : (i0 * id[1] + i1) * id[2] + (i2);                   \
  } while (0)
#elif POOL_MODE == 2
#define TAKE(i2)                                                       \
  sum[j] += ATTR_p == 1   ? fabs((double)row[i2])                      \
            : ATTR_p == 2 ? row[i2] * row[i2]                          \
                          : pow(fabs((double)row[i2]), (double)ATTR_p)
#else
#define TAKE(i2) (count[j] += !ATTR_count_include_pad, sum[j] += row[i2])
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t id[] = WINDOW_IN, kd[] = WINDOW_KERNEL, od[] = WINDOW_OUT;
  const int64_t stride[] = WINDOW_STRIDE, dilation[] = WINDOW_DILATION, pad[] = WINDOW_PAD_BEGIN,
                pad_end[] = WINDOW_PAD_END;
  (void)scratch;
  const int64_t image = id[0] * id[1] * id[2], plane = od[0] * od[1] * od[2];
  for (int64_t u = begin; u < end; u++)
    for (int64_t o0 = 0; o0 < od[0]; o0++)
      for (int64_t o1 = 0; o1 < od[1]; o1++)
        for (int64_t start = 0; start < od[2]; start += 64) { /* one part of a row */
          const int64_t width = od[2] - start < 64 ? od[2] - start : 64;
          SUM sum[64] = {0};
          IN0_T best[64] = {0};
          int64_t best_at[64];
          int32_t count[64] = {0};
          for (int64_t j = 0; j < 64; j++) {
            best_at[j] = -1;
            best[j] = (IN0_T)LOWEST;
          }
          for (int64_t k0 = 0; k0 < kd[0]; k0++)
            for (int64_t k1 = 0; k1 < kd[1]; k1++)
              for (int64_t k2 = 0; k2 < kd[2]; k2++) {
                const int64_t i0 = o0 * stride[0] - pad[0] + k0 * dilation[0];
                const int64_t i1 = o1 * stride[1] - pad[1] + k1 * dilation[1];
                const int64_t shift = start * stride[2] - pad[2] + k2 * dilation[2];
                if (i0 >= id[0] + pad_end[0] || i1 >= id[1] + pad_end[1]) continue;
                if (ATTR_count_include_pad)
                  for (int64_t j = 0; j < width; j++)
                    count[j] += j * stride[2] + shift < id[2] + pad_end[2];
                if (i0 < 0 || i1 < 0 || i0 >= id[0] || i1 >= id[1]) continue;
                int64_t first = shift >= 0 ? 0 : (-shift + stride[2] - 1) / stride[2];
                int64_t last = id[2] > shift ? (id[2] - 1 - shift) / stride[2] + 1 : 0;
                if (last > width) last = width;
                const IN0_T *restrict row = x + u * image + (i0 * id[1] + i1) * id[2];
                if (stride[2] == 1)
                  for (int64_t j = first; j < last; j++) TAKE(j + shift);
                else
                  for (int64_t j = first; j < last; j++) TAKE(j * stride[2] + shift);
              }
          const int64_t place = u * plane + (o0 * od[1] + o1) * od[2] + start;
          for (int64_t j = 0; j < width; j++) {
#if POOL_MODE == 1
            y[place + j] = (IS_FLOAT && !HAS_INDEX) || best_at[j] >= 0 ? best[j] : (OUT0_T)LOWEST;
#if OUT_COUNT > 1 && OUT1_PRESENT
            ((OUT1_T *)out[1])[place + j] = u * image + best_at[j];
#endif
#elif POOL_MODE == 2
            y[place + j] = (OUT0_T)(ATTR_p == 1   ? (double)sum[j]
                                    : ATTR_p == 2 ? sqrt((double)sum[j])
                                                  : pow((double)sum[j], 1.0 / (double)ATTR_p));
#else
            y[place + j] = (OUT0_T)(sum[j] / (OUT0_T)count[j]);
#endif
          }
          (void)sum, (void)best, (void)best_at, (void)count;
        }
  return 0;
}
#undef ATTR_count_include_pad
#undef ATTR_storage_order
#undef ATTR_p
#undef SUM
#undef TAKE
#undef IS_FLOAT
#undef HAS_INDEX
#undef LOWEST
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef WINDOW_IN
#undef WINDOW_KERNEL
#undef WINDOW_OUT
#undef WINDOW_STRIDE
#undef WINDOW_DILATION
#undef WINDOW_PAD_BEGIN
#undef WINDOW_PAD_END
#undef ATTR_kernel_shape_COUNT
#undef ATTR_kernel_shape
#undef ATTR_ceil_mode
#undef ATTR_strides_COUNT
#undef ATTR_strides
#undef POOL_MODE
int run_12(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_12(in, out, scratch, begin, end); }
#define NAME plain_13
#define UNITS 6l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 448l
#define IN0_DIMS {2,4,7,8,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 4
#define IN1_COUNT 72l
#define IN1_DIMS {3,4,3,2,}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 1
#define IN2_COUNT 3l
#define IN2_DIMS {3,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 162l
#define OUT0_DIMS {2,3,3,9,}
#define WINDOW_IN {1,7,8,}
#define WINDOW_KERNEL {1,3,2,}
#define WINDOW_OUT {1,3,9,}
#define WINDOW_STRIDE {1,2,1,}
#define WINDOW_DILATION {1,1,2,}
#define WINDOW_PAD_BEGIN {0,1,2,}
#define WINDOW_PAD_END {0,0,1,}
#define ATTR_strides_COUNT 2
#define ATTR_strides {2,1,}
#define ATTR_pads_COUNT 4
#define ATTR_pads {1,2,0,1,}
#define ATTR_dilations_COUNT 2
#define ATTR_dilations {1,2,}
/* Conv, up to three spatial dimensions, any group count: row updates
 * out[x] += in[x * stride + tap * dilation - pad] * w. */
#ifndef ATTR_group
#define ATTR_group 1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0]; /* [n, c, id...] */
  const IN1_T *w = in[1]; /* [m, c / group, kernel...] */
  OUT0_T *restrict y = out[0];     /* [n, m, od...] */
  const int64_t x_dims[] = IN0_DIMS, w_dims[] = IN1_DIMS, y_dims[] = OUT0_DIMS;
  const int64_t id[] = WINDOW_IN, kd[] = WINDOW_KERNEL, od[] = WINDOW_OUT;
  const int64_t stride[] = WINDOW_STRIDE, dilation[] = WINDOW_DILATION, pad[] = WINDOW_PAD_BEGIN;
  (void)scratch;
  const int64_t channels = w_dims[1], features = y_dims[1] / ATTR_group;
  const int64_t plane = od[0] * od[1] * od[2], image = id[0] * id[1] * id[2];
  for (int64_t u = begin; u < end; u++) { /* one output plane */
    const int64_t n = u / y_dims[1], m = u % y_dims[1];
    OUT0_T *restrict to = y + u * plane;
    OUT0_T start = 0;
#if IN_COUNT > 2 && IN2_PRESENT
    start = ((const IN2_T *)in[2])[m];
#endif
    for (int64_t i = 0; i < plane; i++) to[i] = start;
    for (int64_t c = 0; c < channels; c++) {
      const IN0_T *restrict from = x + (n * x_dims[1] + m / features * channels + c) * image;
      const IN1_T *filter = w + (m * channels + c) * kd[0] * kd[1] * kd[2];
      for (int64_t k0 = 0; k0 < kd[0]; k0++)
        for (int64_t k1 = 0; k1 < kd[1]; k1++)
          for (int64_t k2 = 0; k2 < kd[2]; k2++) {
            const OUT0_T weight = filter[(k0 * kd[1] + k1) * kd[2] + k2];
            const int64_t shift = k2 * dilation[2] - pad[2];
            int64_t first = shift >= 0 ? 0 : (-shift + stride[2] - 1) / stride[2];
            int64_t last = id[2] > shift ? (id[2] - 1 - shift) / stride[2] + 1 : 0;
            if (last > od[2]) last = od[2];
            for (int64_t o0 = 0; o0 < od[0]; o0++) {
              const int64_t i0 = o0 * stride[0] + k0 * dilation[0] - pad[0];
              if (i0 < 0 || i0 >= id[0]) continue;
              for (int64_t o1 = 0; o1 < od[1]; o1++) {
                const int64_t i1 = o1 * stride[1] + k1 * dilation[1] - pad[1];
                if (i1 < 0 || i1 >= id[1]) continue;
                const IN0_T *restrict a = from + (i0 * id[1] + i1) * id[2];
                OUT0_T *restrict b = to + (o0 * od[1] + o1) * od[2];
                if (stride[2] == 1)
                  for (int64_t o = first; o < last; o++) b[o] += a[o + shift] * weight;
                else
                  for (int64_t o = first; o < last; o++) b[o] += a[o * stride[2] + shift] * weight;
              }
            }
          }
    }
  }
  return 0;
}
#undef ATTR_group
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef WINDOW_IN
#undef WINDOW_KERNEL
#undef WINDOW_OUT
#undef WINDOW_STRIDE
#undef WINDOW_DILATION
#undef WINDOW_PAD_BEGIN
#undef WINDOW_PAD_END
#undef ATTR_strides_COUNT
#undef ATTR_strides
#undef ATTR_pads_COUNT
#undef ATTR_pads
#undef ATTR_dilations_COUNT
#undef ATTR_dilations
int run_13(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_13(in, out, scratch, begin, end); }
#define NAME plain_14
#define UNITS 6l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 36l
#define IN0_DIMS {1,4,9,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 3
#define IN1_COUNT 36l
#define IN1_DIMS {6,2,3,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 3
#define OUT0_COUNT 30l
#define OUT0_DIMS {1,6,5,}
#define WINDOW_IN {1,1,9,}
#define WINDOW_KERNEL {1,1,3,}
#define WINDOW_OUT {1,1,5,}
#define WINDOW_STRIDE {1,1,2,}
#define WINDOW_DILATION {1,1,1,}
#define WINDOW_PAD_BEGIN {0,0,1,}
#define WINDOW_PAD_END {0,0,1,}
#define ATTR_group 2l
#define ATTR_auto_pad_IS_SAME_UPPER 1
#define ATTR_strides_COUNT 1
#define ATTR_strides {2,}
/* Conv, up to three spatial dimensions, any group count: row updates
 * out[x] += in[x * stride + tap * dilation - pad] * w. */
#ifndef ATTR_group
#define ATTR_group 1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0]; /* [n, c, id...] */
  const IN1_T *w = in[1]; /* [m, c / group, kernel...] */
  OUT0_T *restrict y = out[0];     /* [n, m, od...] */
  const int64_t x_dims[] = IN0_DIMS, w_dims[] = IN1_DIMS, y_dims[] = OUT0_DIMS;
  const int64_t id[] = WINDOW_IN, kd[] = WINDOW_KERNEL, od[] = WINDOW_OUT;
  const int64_t stride[] = WINDOW_STRIDE, dilation[] = WINDOW_DILATION, pad[] = WINDOW_PAD_BEGIN;
  (void)scratch;
  const int64_t channels = w_dims[1], features = y_dims[1] / ATTR_group;
  const int64_t plane = od[0] * od[1] * od[2], image = id[0] * id[1] * id[2];
  for (int64_t u = begin; u < end; u++) { /* one output plane */
    const int64_t n = u / y_dims[1], m = u % y_dims[1];
    OUT0_T *restrict to = y + u * plane;
    OUT0_T start = 0;
#if IN_COUNT > 2 && IN2_PRESENT
    start = ((const IN2_T *)in[2])[m];
#endif
    for (int64_t i = 0; i < plane; i++) to[i] = start;
    for (int64_t c = 0; c < channels; c++) {
      const IN0_T *restrict from = x + (n * x_dims[1] + m / features * channels + c) * image;
      const IN1_T *filter = w + (m * channels + c) * kd[0] * kd[1] * kd[2];
      for (int64_t k0 = 0; k0 < kd[0]; k0++)
        for (int64_t k1 = 0; k1 < kd[1]; k1++)
          for (int64_t k2 = 0; k2 < kd[2]; k2++) {
            const OUT0_T weight = filter[(k0 * kd[1] + k1) * kd[2] + k2];
            const int64_t shift = k2 * dilation[2] - pad[2];
            int64_t first = shift >= 0 ? 0 : (-shift + stride[2] - 1) / stride[2];
            int64_t last = id[2] > shift ? (id[2] - 1 - shift) / stride[2] + 1 : 0;
            if (last > od[2]) last = od[2];
            for (int64_t o0 = 0; o0 < od[0]; o0++) {
              const int64_t i0 = o0 * stride[0] + k0 * dilation[0] - pad[0];
              if (i0 < 0 || i0 >= id[0]) continue;
              for (int64_t o1 = 0; o1 < od[1]; o1++) {
                const int64_t i1 = o1 * stride[1] + k1 * dilation[1] - pad[1];
                if (i1 < 0 || i1 >= id[1]) continue;
                const IN0_T *restrict a = from + (i0 * id[1] + i1) * id[2];
                OUT0_T *restrict b = to + (o0 * od[1] + o1) * od[2];
                if (stride[2] == 1)
                  for (int64_t o = first; o < last; o++) b[o] += a[o + shift] * weight;
                else
                  for (int64_t o = first; o < last; o++) b[o] += a[o * stride[2] + shift] * weight;
              }
            }
          }
    }
  }
  return 0;
}
#undef ATTR_group
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef WINDOW_IN
#undef WINDOW_KERNEL
#undef WINDOW_OUT
#undef WINDOW_STRIDE
#undef WINDOW_DILATION
#undef WINDOW_PAD_BEGIN
#undef WINDOW_PAD_END
#undef ATTR_group
#undef ATTR_auto_pad_IS_SAME_UPPER
#undef ATTR_strides_COUNT
#undef ATTR_strides
int run_14(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_14(in, out, scratch, begin, end); }
#define NAME plain_15
#define UNITS 2l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T double
#define IN0_TYPE 11
#define IN0_RANK 5
#define IN0_COUNT 120l
#define IN0_DIMS {1,2,3,4,5,}
#define IN1_PRESENT 1
#define IN1_T double
#define IN1_TYPE 11
#define IN1_RANK 5
#define IN1_COUNT 108l
#define IN1_DIMS {2,2,3,3,3,}
#define OUT0_PRESENT 1
#define OUT0_T double
#define OUT0_TYPE 11
#define OUT0_RANK 5
#define OUT0_COUNT 120l
#define OUT0_DIMS {1,2,3,4,5,}
#define WINDOW_IN {3,4,5,}
#define WINDOW_KERNEL {3,3,3,}
#define WINDOW_OUT {3,4,5,}
#define WINDOW_STRIDE {1,1,1,}
#define WINDOW_DILATION {1,1,1,}
#define WINDOW_PAD_BEGIN {1,1,1,}
#define WINDOW_PAD_END {1,1,1,}
#define ATTR_pads_COUNT 6
#define ATTR_pads {1,1,1,1,1,1,}
/* Conv, up to three spatial dimensions, any group count: row updates
 * out[x] += in[x * stride + tap * dilation - pad] * w. */
#ifndef ATTR_group
#define ATTR_group 1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0]; /* [n, c, id...] */
  const IN1_T *w = in[1]; /* [m, c / group, kernel...] */
  OUT0_T *restrict y = out[0];     /* [n, m, od...] */
  const int64_t x_dims[] = IN0_DIMS, w_dims[] = IN1_DIMS, y_dims[] = OUT0_DIMS;
  const int64_t id[] = WINDOW_IN, kd[] = WINDOW_KERNEL, od[] = WINDOW_OUT;
  const int64_t stride[] = WINDOW_STRIDE, dilation[] = WINDOW_DILATION, pad[] = WINDOW_PAD_BEGIN;
  (void)scratch;
  const int64_t channels = w_dims[1], features = y_dims[1] / ATTR_group;
  const int64_t plane = od[0] * od[1] * od[2], image = id[0] * id[1] * id[2];
  for (int64_t u = begin; u < end; u++) { /* one output plane */
    const int64_t n = u / y_dims[1], m = u % y_dims[1];
    OUT0_T *restrict to = y + u * plane;
    OUT0_T start = 0;
#if IN_COUNT > 2 && IN2_PRESENT
    start = ((const IN2_T *)in[2])[m];
#endif
    for (int64_t i = 0; i < plane; i++) to[i] = start;
    for (int64_t c = 0; c < channels; c++) {
      const IN0_T *restrict from = x + (n * x_dims[1] + m / features * channels + c) * image;
      const IN1_T *filter = w + (m * channels + c) * kd[0] * kd[1] * kd[2];
      for (int64_t k0 = 0; k0 < kd[0]; k0++)
        for (int64_t k1 = 0; k1 < kd[1]; k1++)
          for (int64_t k2 = 0; k2 < kd[2]; k2++) {
            const OUT0_T weight = filter[(k0 * kd[1] + k1) * kd[2] + k2];
            const int64_t shift = k2 * dilation[2] - pad[2];
            int64_t first = shift >= 0 ? 0 : (-shift + stride[2] - 1) / stride[2];
            int64_t last = id[2] > shift ? (id[2] - 1 - shift) / stride[2] + 1 : 0;
            if (last > od[2]) last = od[2];
            for (int64_t o0 = 0; o0 < od[0]; o0++) {
              const int64_t i0 = o0 * stride[0] + k0 * dilation[0] - pad[0];
              if (i0 < 0 || i0 >= id[0]) continue;
              for (int64_t o1 = 0; o1 < od[1]; o1++) {
                const int64_t i1 = o1 * stride[1] + k1 * dilation[1] - pad[1];
                if (i1 < 0 || i1 >= id[1]) continue;
                const IN0_T *restrict a = from + (i0 * id[1] + i1) * id[2];
                OUT0_T *restrict b = to + (o0 * od[1] + o1) * od[2];
                if (stride[2] == 1)
                  for (int64_t o = first; o < last; o++) b[o] += a[o + shift] * weight;
                else
                  for (int64_t o = first; o < last; o++) b[o] += a[o * stride[2] + shift] * weight;
              }
            }
          }
    }
  }
  return 0;
}
#undef ATTR_group
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef WINDOW_IN
#undef WINDOW_KERNEL
#undef WINDOW_OUT
#undef WINDOW_STRIDE
#undef WINDOW_DILATION
#undef WINDOW_PAD_BEGIN
#undef WINDOW_PAD_END
#undef ATTR_pads_COUNT
#undef ATTR_pads
int run_15(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_15(in, out, scratch, begin, end); }
#define NAME plain_16
#define UNITS 24l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 420l
#define IN0_DIMS {2,1,3,70,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 3
#define IN1_COUNT 18200l
#define IN1_DIMS {4,70,65,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 1560l
#define OUT0_DIMS {2,4,3,65,}
/* MatMul with NumPy rules: batch dimensions broadcast, a vector is a row on the left and a column on
 * the right. Row updates; integers wrap. */
#if OUT0_TYPE == 1 /* f32 */
#define ACC float
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#elif OUT0_TYPE == 7 || OUT0_TYPE == 13 /* 64-bit integers */
#define ACC uint64_t
#else
#define ACC uint32_t
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict a = in[0];
  const IN1_T *restrict b = in[1];
  OUT0_T *restrict c = out[0];
  const int64_t a_dims[] = IN0_DIMS, b_dims[] = IN1_DIMS;
  const int64_t m = IN0_RANK > 1 ? a_dims[IN0_RANK > 1 ? IN0_RANK - 2 : 0] : 1;
  const int64_t k = a_dims[IN0_RANK - 1];
  const int64_t n = IN1_RANK > 1 ? b_dims[IN1_RANK - 1] : 1;
  enum {
    A_BATCH = IN0_RANK > 2 ? IN0_RANK - 2 : 0,
    B_BATCH = IN1_RANK > 2 ? IN1_RANK - 2 : 0,
    BATCH = A_BATCH > B_BATCH ? A_BATCH : B_BATCH
  };
  int64_t dims[17] = {0}, a_step[17] = {0}, b_step[17] = {0};
  int64_t a_size = m * k, b_size = k * n;
  (void)scratch;
  for (int i = BATCH - 1; i >= 0; i--) {
    const int ia = i - (BATCH - A_BATCH), ib = i - (BATCH - B_BATCH);
    const int64_t da = ia >= 0 ? a_dims[ia] : 1, db = ib >= 0 ? b_dims[ib] : 1;
    dims[i] = da == 1 ? db : da;
    a_step[i] = da == 1 ? 0 : a_size;
    b_step[i] = db == 1 ? 0 : b_size;
    a_size *= da;
    b_size *= db;
  }
  for (int64_t u = begin; u < end; u++) { /* one row of the result */
    int64_t rest = u / m, a_at = 0, b_at = 0;
    const int64_t i = u % m;
    for (int d = BATCH - 1; d >= 0; rest /= dims[d], d--) {
      a_at += rest % dims[d] * a_step[d];
      b_at += rest % dims[d] * b_step[d];
    }
    for (int64_t j0 = 0; j0 < n; j0 += 64) {
      const int64_t width = n - j0 < 64 ? n - j0 : 64;
      ACC sum[64] = {0};
      for (int64_t p = 0; p < k; p++) {
        const ACC x = (ACC)a[a_at + i * k + p];
        const IN1_T *restrict row = b + b_at + p * n + j0;
        for (int64_t j = 0; j < width; j++) sum[j] += x * (ACC)row[j];
      }
      for (int64_t j = 0; j < width; j++) c[u * n + j0 + j] = (OUT0_T)sum[j];
    }
  }
  return 0;
}
#undef ACC
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_16(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_16(in, out, scratch, begin, end); }
#define NAME plain_17
#define UNITS 2l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int32_t
#define IN0_TYPE 6
#define IN0_RANK 1
#define IN0_COUNT 3l
#define IN0_DIMS {3,}
#define IN1_PRESENT 1
#define IN1_T int32_t
#define IN1_TYPE 6
#define IN1_RANK 3
#define IN1_COUNT 24l
#define IN1_DIMS {2,3,4,}
#define OUT0_PRESENT 1
#define OUT0_T int32_t
#define OUT0_TYPE 6
#define OUT0_RANK 2
#define OUT0_COUNT 8l
#define OUT0_DIMS {2,4,}
/* MatMul with NumPy rules: batch dimensions broadcast, a vector is a row on the left and a column on
 * the right. Row updates; integers wrap. */
#if OUT0_TYPE == 1 /* f32 */
#define ACC float
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#elif OUT0_TYPE == 7 || OUT0_TYPE == 13 /* 64-bit integers */
#define ACC uint64_t
#else
#define ACC uint32_t
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict a = in[0];
  const IN1_T *restrict b = in[1];
  OUT0_T *restrict c = out[0];
  const int64_t a_dims[] = IN0_DIMS, b_dims[] = IN1_DIMS;
  const int64_t m = IN0_RANK > 1 ? a_dims[IN0_RANK > 1 ? IN0_RANK - 2 : 0] : 1;
  const int64_t k = a_dims[IN0_RANK - 1];
  const int64_t n = IN1_RANK > 1 ? b_dims[IN1_RANK - 1] : 1;
  enum {
    A_BATCH = IN0_RANK > 2 ? IN0_RANK - 2 : 0,
    B_BATCH = IN1_RANK > 2 ? IN1_RANK - 2 : 0,
    BATCH = A_BATCH > B_BATCH ? A_BATCH : B_BATCH
  };
  int64_t dims[17] = {0}, a_step[17] = {0}, b_step[17] = {0};
  int64_t a_size = m * k, b_size = k * n;
  (void)scratch;
  for (int i = BATCH - 1; i >= 0; i--) {
    const int ia = i - (BATCH - A_BATCH), ib = i - (BATCH - B_BATCH);
    const int64_t da = ia >= 0 ? a_dims[ia] : 1, db = ib >= 0 ? b_dims[ib] : 1;
    dims[i] = da == 1 ? db : da;
    a_step[i] = da == 1 ? 0 : a_size;
    b_step[i] = db == 1 ? 0 : b_size;
    a_size *= da;
    b_size *= db;
  }
  for (int64_t u = begin; u < end; u++) { /* one row of the result */
    int64_t rest = u / m, a_at = 0, b_at = 0;
    const int64_t i = u % m;
    for (int d = BATCH - 1; d >= 0; rest /= dims[d], d--) {
      a_at += rest % dims[d] * a_step[d];
      b_at += rest % dims[d] * b_step[d];
    }
    for (int64_t j0 = 0; j0 < n; j0 += 64) {
      const int64_t width = n - j0 < 64 ? n - j0 : 64;
      ACC sum[64] = {0};
      for (int64_t p = 0; p < k; p++) {
        const ACC x = (ACC)a[a_at + i * k + p];
        const IN1_T *restrict row = b + b_at + p * n + j0;
        for (int64_t j = 0; j < width; j++) sum[j] += x * (ACC)row[j];
      }
      for (int64_t j = 0; j < width; j++) c[u * n + j0 + j] = (OUT0_T)sum[j];
    }
  }
  return 0;
}
#undef ACC
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_17(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_17(in, out, scratch, begin, end); }
#define NAME plain_18
#define UNITS 2l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T double
#define IN0_TYPE 11
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {2,3,}
#define IN1_PRESENT 1
#define IN1_T double
#define IN1_TYPE 11
#define IN1_RANK 1
#define IN1_COUNT 3l
#define IN1_DIMS {3,}
#define OUT0_PRESENT 1
#define OUT0_T double
#define OUT0_TYPE 11
#define OUT0_RANK 1
#define OUT0_COUNT 2l
#define OUT0_DIMS {2,}
/* MatMul with NumPy rules: batch dimensions broadcast, a vector is a row on the left and a column on
 * the right. Row updates; integers wrap. */
#if OUT0_TYPE == 1 /* f32 */
#define ACC float
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#elif OUT0_TYPE == 7 || OUT0_TYPE == 13 /* 64-bit integers */
#define ACC uint64_t
#else
#define ACC uint32_t
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict a = in[0];
  const IN1_T *restrict b = in[1];
  OUT0_T *restrict c = out[0];
  const int64_t a_dims[] = IN0_DIMS, b_dims[] = IN1_DIMS;
  const int64_t m = IN0_RANK > 1 ? a_dims[IN0_RANK > 1 ? IN0_RANK - 2 : 0] : 1;
  const int64_t k = a_dims[IN0_RANK - 1];
  const int64_t n = IN1_RANK > 1 ? b_dims[IN1_RANK - 1] : 1;
  enum {
    A_BATCH = IN0_RANK > 2 ? IN0_RANK - 2 : 0,
    B_BATCH = IN1_RANK > 2 ? IN1_RANK - 2 : 0,
    BATCH = A_BATCH > B_BATCH ? A_BATCH : B_BATCH
  };
  int64_t dims[17] = {0}, a_step[17] = {0}, b_step[17] = {0};
  int64_t a_size = m * k, b_size = k * n;
  (void)scratch;
  for (int i = BATCH - 1; i >= 0; i--) {
    const int ia = i - (BATCH - A_BATCH), ib = i - (BATCH - B_BATCH);
    const int64_t da = ia >= 0 ? a_dims[ia] : 1, db = ib >= 0 ? b_dims[ib] : 1;
    dims[i] = da == 1 ? db : da;
    a_step[i] = da == 1 ? 0 : a_size;
    b_step[i] = db == 1 ? 0 : b_size;
    a_size *= da;
    b_size *= db;
  }
  for (int64_t u = begin; u < end; u++) { /* one row of the result */
    int64_t rest = u / m, a_at = 0, b_at = 0;
    const int64_t i = u % m;
    for (int d = BATCH - 1; d >= 0; rest /= dims[d], d--) {
      a_at += rest % dims[d] * a_step[d];
      b_at += rest % dims[d] * b_step[d];
    }
    for (int64_t j0 = 0; j0 < n; j0 += 64) {
      const int64_t width = n - j0 < 64 ? n - j0 : 64;
      ACC sum[64] = {0};
      for (int64_t p = 0; p < k; p++) {
        const ACC x = (ACC)a[a_at + i * k + p];
        const IN1_T *restrict row = b + b_at + p * n + j0;
        for (int64_t j = 0; j < width; j++) sum[j] += x * (ACC)row[j];
      }
      for (int64_t j = 0; j < width; j++) c[u * n + j0 + j] = (OUT0_T)sum[j];
    }
  }
  return 0;
}
#undef ACC
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_18(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_18(in, out, scratch, begin, end); }
#define NAME plain_19
#define UNITS 2l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 30l
#define IN0_DIMS {2,5,3,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 3
#define OUT0_COUNT 30l
#define OUT0_DIMS {2,5,3,}
#define ATTR_axis 1l
#define SOFTMAX_LOG 0
/* Softmax and LogSoftmax along any axis; SOFTMAX_LOG is 0 or 1. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
#if OUT0_TYPE == 1 /* f32 */
#define REAL float
#else
#define REAL double
#endif
/* exp of n neighbours, less `shift`, which is one number or one for each: e[j]. */
#define EXP_ROW(e, from, shift, by, n)                                                           \
  do {                                                                                           \
    for (int64_t j = 0; j < (n); j++) (e)[j] = (REAL)(from)[j] - (shift)[j * (by)];              \
    if (sizeof(REAL) == 4)                                                                       \
      for (int64_t j = 0; j < (n); j += LANES) {                                                 \
        float *const at = (float *)(void *)((e) + j);                                            \
        store_lanes_(at, exp_(load_lanes_(at, (n)-j)), (n)-j);                                   \
      }                                                                                          \
    else                                                                                         \
      for (int64_t j = 0; j < (n); j++) (e)[j] = (REAL)exp((double)(e)[j]);                      \
  } while (0)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  const int64_t length = IN0_RANK ? dims[axis] : 1;
  (void)scratch;
  int64_t inner = 1;
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES;
  for (int64_t u = begin; u < end; u++) {
    const int64_t o = u / blocks, i = u % blocks * PLAIN_LINES;
    const int64_t width = inner - i < PLAIN_LINES ? inner - i : PLAIN_LINES;
    const IN0_T *restrict from = x + o * length * inner + i;
    OUT0_T *restrict to = y + o * length * inner + i;
    REAL high[PLAIN_LINES], sum[PLAIN_LINES] = {0}, e[PLAIN_LINES];
    if (inner == 1) { /* a row: PLAIN_LINES of its own elements at a time */
      for (int l = 0; l < PLAIN_LINES; l++) high[l] = (REAL)from[0];
      for (int64_t k = 0; k < length; k += PLAIN_LINES) {
        const int64_t n = length - k < PLAIN_LINES ? length - k : PLAIN_LINES;
        for (int64_t l = 0; l < n; l++)
          high[l] = (REAL)from[k + l] > high[l] ? (REAL)from[k + l] : high[l];
      }
      for (int l = 1; l < PLAIN_LINES; l++) high[0] = high[l] > high[0] ? high[l] : high[0];
      for (int64_t k = 0; k < length; k += PLAIN_LINES) {
        const int64_t n = length - k < PLAIN_LINES ? length - k : PLAIN_LINES;
        EXP_ROW(e, from + k, high, 0, n);
        for (int64_t l = 0; l < n; l++) {
          sum[l] += e[l];
          to[k + l] = (OUT0_T)(SOFTMAX_LOG ? (REAL)from[k + l] - high[0] : e[l]);
        }
      }
      for (int l = 1; l < PLAIN_LINES; l++) sum[0] += sum[l];
      const REAL log_sum = (REAL)log((double)sum[0]);
      for (int64_t k = 0; k < length; k++)
        to[k] = (OUT0_T)(SOFTMAX_LOG ? to[k] - log_sum : to[k] / sum[0]);
      continue;
    }
    for (int64_t j = 0; j < width; j++) high[j] = (REAL)from[j];
    for (int64_t k = 1; k < length; k++)
      for (int64_t j = 0; j < width; j++)
        high[j] = (REAL)from[k * inner + j] > high[j] ? (REAL)from[k * inner + j] : high[j];
    for (int64_t k = 0; k < length; k++) {
      EXP_ROW(e, from + k * inner, high, 1, width);
      for (int64_t j = 0; j < width; j++) {
        sum[j] += e[j];
        to[k * inner + j] = (OUT0_T)(SOFTMAX_LOG ? (REAL)from[k * inner + j] - high[j] : e[j]);
      }
    }
    for (int64_t j = 0; j < width && SOFTMAX_LOG; j++) sum[j] = (REAL)log((double)sum[j]);
    for (int64_t k = 0; k < length; k++)
      for (int64_t j = 0; j < width; j++)
        to[k * inner + j] =
            (OUT0_T)(SOFTMAX_LOG ? to[k * inner + j] - sum[j] : to[k * inner + j] / sum[j]);
  }
  return 0;
}
#undef EXP_ROW
#undef REAL
#undef ATTR_axis
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_axis
#undef SOFTMAX_LOG
int run_19(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_19(in, out, scratch, begin, end); }
#define NAME plain_20
#define UNITS 1l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T double
#define IN0_TYPE 11
#define IN0_RANK 2
#define IN0_COUNT 12l
#define IN0_DIMS {4,3,}
#define OUT0_PRESENT 1
#define OUT0_T double
#define OUT0_TYPE 11
#define OUT0_RANK 2
#define OUT0_COUNT 12l
#define OUT0_DIMS {4,3,}
#define ATTR_axis 0l
#define SOFTMAX_LOG 1
/* Softmax and LogSoftmax along any axis; SOFTMAX_LOG is 0 or 1. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
#if OUT0_TYPE == 1 /* f32 */
#define REAL float
#else
#define REAL double
#endif
/* exp of n neighbours, less `shift`, which is one number or one for each: e[j]. */
#define EXP_ROW(e, from, shift, by, n)                                                           \
  do {                                                                                           \
    for (int64_t j = 0; j < (n); j++) (e)[j] = (REAL)(from)[j] - (shift)[j * (by)];              \
    if (sizeof(REAL) == 4)                                                                       \
      for (int64_t j = 0; j < (n); j += LANES) {                                                 \
        float *const at = (float *)(void *)((e) + j);                                            \
        store_lanes_(at, exp_(load_lanes_(at, (n)-j)), (n)-j);                                   \
      }                                                                                          \
    else                                                                                         \
      for (int64_t j = 0; j < (n); j++) (e)[j] = (REAL)exp((double)(e)[j]);                      \
  } while (0)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  const int64_t length = IN0_RANK ? dims[axis] : 1;
  (void)scratch;
  int64_t inner = 1;
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES;
  for (int64_t u = begin; u < end; u++) {
    const int64_t o = u / blocks, i = u % blocks * PLAIN_LINES;
    const int64_t width = inner - i < PLAIN_LINES ? inner - i : PLAIN_LINES;
    const IN0_T *restrict from = x + o * length * inner + i;
    OUT0_T *restrict to = y + o * length * inner + i;
    REAL high[PLAIN_LINES], sum[PLAIN_LINES] = {0}, e[PLAIN_LINES];
    if (inner == 1) { /* a row: PLAIN_LINES of its own elements at a time */
      for (int l = 0; l < PLAIN_LINES; l++) high[l] = (REAL)from[0];
      for (int64_t k = 0; k < length; k += PLAIN_LINES) {
        const int64_t n = length - k < PLAIN_LINES ? length - k : PLAIN_LINES;
        for (int64_t l = 0; l < n; l++)
          high[l] = (REAL)from[k + l] > high[l] ? (REAL)from[k + l] : high[l];
      }
      for (int l = 1; l < PLAIN_LINES; l++) high[0] = high[l] > high[0] ? high[l] : high[0];
      for (int64_t k = 0; k < length; k += PLAIN_LINES) {
        const int64_t n = length - k < PLAIN_LINES ? length - k : PLAIN_LINES;
        EXP_ROW(e, from + k, high, 0, n);
        for (int64_t l = 0; l < n; l++) {
          sum[l] += e[l];
          to[k + l] = (OUT0_T)(SOFTMAX_LOG ? (REAL)from[k + l] - high[0] : e[l]);
        }
      }
      for (int l = 1; l < PLAIN_LINES; l++) sum[0] += sum[l];
      const REAL log_sum = (REAL)log((double)sum[0]);
      for (int64_t k = 0; k < length; k++)
        to[k] = (OUT0_T)(SOFTMAX_LOG ? to[k] - log_sum : to[k] / sum[0]);
      continue;
    }
    for (int64_t j = 0; j < width; j++) high[j] = (REAL)from[j];
    for (int64_t k = 1; k < length; k++)
      for (int64_t j = 0; j < width; j++)
        high[j] = (REAL)from[k * inner + j] > high[j] ? (REAL)from[k * inner + j] : high[j];
    for (int64_t k = 0; k < length; k++) {
      EXP_ROW(e, from + k * inner, high, 1, width);
      for (int64_t j = 0; j < width; j++) {
        sum[j] += e[j];
        to[k * inner + j] = (OUT0_T)(SOFTMAX_LOG ? (REAL)from[k * inner + j] - high[j] : e[j]);
      }
    }
    for (int64_t j = 0; j < width && SOFTMAX_LOG; j++) sum[j] = (REAL)log((double)sum[j]);
    for (int64_t k = 0; k < length; k++)
      for (int64_t j = 0; j < width; j++)
        to[k * inner + j] =
            (OUT0_T)(SOFTMAX_LOG ? to[k * inner + j] - sum[j] : to[k * inner + j] / sum[j]);
  }
  return 0;
}
#undef EXP_ROW
#undef REAL
#undef ATTR_axis
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_axis
#undef SOFTMAX_LOG
int run_20(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_20(in, out, scratch, begin, end); }
#define NAME plain_21
#define UNITS 3l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 24l
#define IN0_DIMS {2,3,4,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 2l
#define IN1_DIMS {2,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 1
#define OUT0_COUNT 3l
#define OUT0_DIMS {3,}
#define ATTR_keepdims 0l
#define REDUCE_OP 0
/* All reductions; REDUCE_OP: 0 sum, 1 mean, 2 max, 3 min, 4 product, 5 sum of |x|, 6 root of the sum
 * of squares, 7 log of the sum, 8 log of the sum of exp, 9 sum of squares. Axes come from input 1 at
 * run time, or from the attribute; none: all axes. Floats add in double, integers wrap. */
#ifndef ATTR_noop_with_empty_axes
#define ATTR_noop_with_empty_axes 0
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC double
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
#define WIDTH 64
/* The next of n independent sums, products or ends, over the place j of both. */
#define MEET(j, value, high)                                                                     \
  do {                                                                                           \
    const IN0_T a = (value), b = best[j];                                                        \
    const ACC wide = (ACC)a;                                                                     \
    (void)b, (void)wide;                                                                         \
    if (REDUCE_OP == 2) best[j] = a > b || a != a ? a : b;                                       \
    if (REDUCE_OP == 3) best[j] = a < b || a != a ? a : b;                                       \
    if (REDUCE_OP == 4) sum[j] *= wide;                                                          \
    if (REDUCE_OP == 5) sum[j] += a < 0 ? -wide : wide;                                          \
    if (REDUCE_OP == 6 || REDUCE_OP == 9) sum[j] += wide * wide;                                 \
    if (REDUCE_OP == 8) sum[j] += (ACC)exp((double)(wide - (high)));                             \
    if (REDUCE_OP < 2 || REDUCE_OP == 7) sum[j] += wide;                                         \
  } while (0)
/* Runs `statement` for every place of the dimensions that go, but the last n of gone: offset `at`. */
#define OVER_GONE(first_gone, statement)                                   \
  do {                                                                     \
    int64_t at = 0, in_at[17] = {0};                                       \
    for (int64_t r = 0; r < outer_length; r++) {                           \
      statement;                                                           \
      for (int k = (first_gone); k < gone_count; k++) {                    \
        at += gone_step[k];                                                \
        if (++in_at[k] < gone[k]) break;                                   \
        at -= gone_step[k] * gone[k];                                      \
        in_at[k] = 0;                                                      \
      }                                                                    \
    }                                                                      \
  } while (0)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int reduced[17] = {0}, is_given = 0, kept_count = 0, gone_count = 0;
  int64_t kept[17] = {0}, gone[17] = {0}, kept_step[17] = {0}, gone_step[17] = {0};
  int64_t length = 1, step = 1;
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  for (int64_t k = 0; k < IN1_COUNT; k++) {
    int64_t axis = (int64_t)((const IN1_T *)in[1])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    reduced[axis < 0 ? axis + IN0_RANK : axis] = is_given = 1;
  }
#elif defined ATTR_axes
  const int64_t axes[] = ATTR_axes;
  for (int k = 0; k < ATTR_axes_COUNT; k++)
    reduced[axes[k] < 0 ? axes[k] + IN0_RANK : axes[k]] = is_given = 1;
#endif
  int was = -1;
  for (int k = IN0_RANK - 1; k >= 0; k--) { /* from the last on, neighbours of one fate as one */
    const int goes = is_given ? reduced[k] : !ATTR_noop_with_empty_axes;
    int *const count = goes ? &gone_count : &kept_count;
    int64_t *const size = goes ? gone : kept, *const by = goes ? gone_step : kept_step;
    if (goes) length *= dims[k];
    if (dims[k] != 1 || (k == 0 && was < 0)) {
      if (was == goes) {
        size[*count - 1] *= dims[k];
      } else {
        by[*count] = step;
        size[(*count)++] = dims[k];
      }
      was = goes;
    }
    step *= dims[k];
  }
  const int keeps_last = kept_count > 0 && kept_step[0] == 1;
  const int64_t run = !keeps_last && gone_count > 0 ? gone[0] : 1; /* neighbours that go */
  const int64_t outer_length = length == 0 ? 0 : length / run;
  const int first_gone = run > 1 || (gone_count && !keeps_last) ? 1 : 0;
  for (int64_t o = begin; o < end;) {
    int64_t base = 0, rest = o, width = 1;
    for (int k = 0; k < kept_count; rest /= kept[k], k++) base += rest % kept[k] * kept_step[k];
    if (keeps_last) { /* neighbouring results together */
      width = kept[0] - o % kept[0];
      if (width > end - o) width = end - o;
      if (width > WIDTH) width = WIDTH;
    }
    const IN0_T *restrict from = x + base;
    ACC sum[WIDTH], high[WIDTH] = {0};
    IN0_T best[WIDTH];
    for (int64_t j = 0; j < WIDTH; j++) {
      sum[j] = REDUCE_OP == 4 ? 1 : 0;
      best[j] = length ? from[keeps_last && j < width ? j : 0] : 0;
    }
    if (REDUCE_OP == 8 && length) {
      for (int64_t j = 0; j < width; j++) high[j] = (ACC)from[j];
      if (keeps_last)
        OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) high[j] =
                                  (ACC)from[at + j] > high[j] ? (ACC)from[at + j] : high[j]);
      else
        OVER_GONE(first_gone, for (int64_t i = 0; i < run; i++) high[0] =
                                  (ACC)from[at + i] > high[0] ? (ACC)from[at + i] : high[0]);
      for (int64_t j = 0; j < width; j++)
        if ((double)high[j] - (double)high[j] != 0) high[j] = 0; /* infinite */
    }
    if (keeps_last) {
      OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) MEET(j, from[at + j], high[j]));
    } else if (REDUCE_OP != 2 && REDUCE_OP != 3 && REDUCE_OP != 4) { /* a row that goes at a time */
      const ACC top = high[0];
      int64_t at = 0, in_at[17] = {0};
      for (int64_t r = 0; r < outer_length; r++) {
        const IN0_T *restrict row = from + at;
        ACC part = 0;
#pragma omp simd reduction(+ : part)
        for (int64_t i = 0; i < run; i++) {
          const ACC wide = (ACC)row[i];
          part += REDUCE_OP == 5                     ? (row[i] < 0 ? -wide : wide)
                  : REDUCE_OP == 6 || REDUCE_OP == 9 ? wide * wide
                  : REDUCE_OP == 8                   ? (ACC)exp((double)(wide - top))
                                                     : wide;
        }
        sum[0] += part;
        for (int k = first_gone; k < gone_count; k++) {
          at += gone_step[k];
          if (++in_at[k] < gone[k]) break;
          at -= gone_step[k] * gone[k];
          in_at[k] = 0;
        }
      }
    } else { /* WIDTH ends or products of one row, met at its end */
      OVER_GONE(first_gone, for (int64_t i = 0; i < run; i += WIDTH) {
        const int64_t n = run - i < WIDTH ? run - i : WIDTH;
        for (int64_t j = 0; j < n; j++) MEET(j, from[at + i + j], high[0]);
      });
      for (int j = 1; j < WIDTH; j++) {
        if (REDUCE_OP == 2) best[0] = best[j] > best[0] || best[j] != best[j] ? best[j] : best[0];
        if (REDUCE_OP == 3) best[0] = best[j] < best[0] || best[j] != best[j] ? best[j] : best[0];
        sum[0] *= sum[j];
      }
    }
    for (int64_t j = 0; j < width; j++, o++) {
      if (REDUCE_OP == 2 || REDUCE_OP == 3) {
        if (length == 0) { /* the other end of the type */
          const IN0_T far = _Generic((IN0_T)0, float: INFINITY, double: INFINITY,
                                     default: (IN0_T)((IN0_T)-1 > 0 ? (IN0_T)-1
                                                                    : (IN0_T)(UINT64_MAX >> (65 - 8 * sizeof(IN0_T)))));
          best[j] = REDUCE_OP == 3 ? far : (IN0_T)((IN0_T)-1 > 0 ? 0 : (IN0_T)0.5 != 0 ? -far : -1 - far);
        }
        y[o] = best[j];
      } else if (REDUCE_OP == 1) {
        y[o] = (OUT0_T)(_Generic((OUT0_T)0, float: sum[j] / (ACC)length, double: sum[j] / (ACC)length,
                                 default: (length ? (int64_t)sum[j] / length : 0)));
      } else if (REDUCE_OP == 6) {
        y[o] = (OUT0_T)sqrt((double)sum[j]);
      } else if (REDUCE_OP == 7) {
        y[o] = (OUT0_T)log((double)sum[j]);
      } else if (REDUCE_OP == 8) {
        y[o] = (OUT0_T)(log((double)sum[j]) + (double)high[j]);
      } else {
        y[o] = (OUT0_T)sum[j];
      }
    }
  }
  return 0;
}
#undef ACC
#undef WIDTH
#undef MEET
#undef OVER_GONE
#undef ATTR_noop_with_empty_axes
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_keepdims
#undef REDUCE_OP
int run_21(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_21(in, out, scratch, begin, end); }
#define NAME plain_22
#define UNITS 1l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {2,3,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 1l
#define OUT0_DIMS {1,1,}
#define REDUCE_OP 1
/* All reductions; REDUCE_OP: 0 sum, 1 mean, 2 max, 3 min, 4 product, 5 sum of |x|, 6 root of the sum
 * of squares, 7 log of the sum, 8 log of the sum of exp, 9 sum of squares. Axes come from input 1 at
 * run time, or from the attribute; none: all axes. Floats add in double, integers wrap. */
#ifndef ATTR_noop_with_empty_axes
#define ATTR_noop_with_empty_axes 0
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC double
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
#define WIDTH 64
/* The next of n independent sums, products or ends, over the place j of both. */
#define MEET(j, value, high)                                                                     \
  do {                                                                                           \
    const IN0_T a = (value), b = best[j];                                                        \
    const ACC wide = (ACC)a;                                                                     \
    (void)b, (void)wide;                                                                         \
    if (REDUCE_OP == 2) best[j] = a > b || a != a ? a : b;                                       \
    if (REDUCE_OP == 3) best[j] = a < b || a != a ? a : b;                                       \
    if (REDUCE_OP == 4) sum[j] *= wide;                                                          \
    if (REDUCE_OP == 5) sum[j] += a < 0 ? -wide : wide;                                          \
    if (REDUCE_OP == 6 || REDUCE_OP == 9) sum[j] += wide * wide;                                 \
    if (REDUCE_OP == 8) sum[j] += (ACC)exp((double)(wide - (high)));                             \
    if (REDUCE_OP < 2 || REDUCE_OP == 7) sum[j] += wide;                                         \
  } while (0)
/* Runs `statement` for every place of the dimensions that go, but the last n of gone: offset `at`. */
#define OVER_GONE(first_gone, statement)                                   \
  do {                                                                     \
    int64_t at = 0, in_at[17] = {0};                                       \
    for (int64_t r = 0; r < outer_length; r++) {                           \
      statement;                                                           \
      for (int k = (first_gone); k < gone_count; k++) {                    \
        at += gone_step[k];                                                \
        if (++in_at[k] < gone[k]) break;                                   \
        at -= gone_step[k] * gone[k];                                      \
        in_at[k] = 0;                                                      \
      }                                                                    \
    }                                                                      \
  } while (0)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int reduced[17] = {0}, is_given = 0, kept_count = 0, gone_count = 0;
  int64_t kept[17] = {0}, gone[17] = {0}, kept_step[17] = {0}, gone_step[17] = {0};
  int64_t length = 1, step = 1;
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  for (int64_t k = 0; k < IN1_COUNT; k++) {
    int64_t axis = (int64_t)((const IN1_T *)in[1])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    reduced[axis < 0 ? axis + IN0_RANK : axis] = is_given = 1;
  }
#elif defined ATTR_axes
  const int64_t axes[] = ATTR_axes;
  for (int k = 0; k < ATTR_axes_COUNT; k++)
    reduced[axes[k] < 0 ? axes[k] + IN0_RANK : axes[k]] = is_given = 1;
#endif
  int was = -1;
  for (int k = IN0_RANK - 1; k >= 0; k--) { /* from the last on, neighbours of one fate as one */
    const int goes = is_given ? reduced[k] : !ATTR_noop_with_empty_axes;
    int *const count = goes ? &gone_count : &kept_count;
    int64_t *const size = goes ? gone : kept, *const by = goes ? gone_step : kept_step;
    if (goes) length *= dims[k];
    if (dims[k] != 1 || (k == 0 && was < 0)) {
      if (was == goes) {
        size[*count - 1] *= dims[k];
      } else {
        by[*count] = step;
        size[(*count)++] = dims[k];
      }
      was = goes;
    }
    step *= dims[k];
  }
  const int keeps_last = kept_count > 0 && kept_step[0] == 1;
  const int64_t run = !keeps_last && gone_count > 0 ? gone[0] : 1; /* neighbours that go */
  const int64_t outer_length = length == 0 ? 0 : length / run;
  const int first_gone = run > 1 || (gone_count && !keeps_last) ? 1 : 0;
  for (int64_t o = begin; o < end;) {
    int64_t base = 0, rest = o, width = 1;
    for (int k = 0; k < kept_count; rest /= kept[k], k++) base += rest % kept[k] * kept_step[k];
    if (keeps_last) { /* neighbouring results together */
      width = kept[0] - o % kept[0];
      if (width > end - o) width = end - o;
      if (width > WIDTH) width = WIDTH;
    }
    const IN0_T *restrict from = x + base;
    ACC sum[WIDTH], high[WIDTH] = {0};
    IN0_T best[WIDTH];
    for (int64_t j = 0; j < WIDTH; j++) {
      sum[j] = REDUCE_OP == 4 ? 1 : 0;
      best[j] = length ? from[keeps_last && j < width ? j : 0] : 0;
    }
    if (REDUCE_OP == 8 && length) {
      for (int64_t j = 0; j < width; j++) high[j] = (ACC)from[j];
      if (keeps_last)
        OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) high[j] =
                                  (ACC)from[at + j] > high[j] ? (ACC)from[at + j] : high[j]);
      else
        OVER_GONE(first_gone, for (int64_t i = 0; i < run; i++) high[0] =
                                  (ACC)from[at + i] > high[0] ? (ACC)from[at + i] : high[0]);
      for (int64_t j = 0; j < width; j++)
        if ((double)high[j] - (double)high[j] != 0) high[j] = 0; /* infinite */
    }
    if (keeps_last) {
      OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) MEET(j, from[at + j], high[j]));
    } else if (REDUCE_OP != 2 && REDUCE_OP != 3 && REDUCE_OP != 4) { /* a row that goes at a time */
      const ACC top = high[0];
      int64_t at = 0, in_at[17] = {0};
      for (int64_t r = 0; r < outer_length; r++) {
        const IN0_T *restrict row = from + at;
        ACC part = 0;
#pragma omp simd reduction(+ : part)
        for (int64_t i = 0; i < run; i++) {
          const ACC wide = (ACC)row[i];
          part += REDUCE_OP == 5                     ? (row[i] < 0 ? -wide : wide)
                  : REDUCE_OP == 6 || REDUCE_OP == 9 ? wide * wide
                  : REDUCE_OP == 8                   ? (ACC)exp((double)(wide - top))
                                                     : wide;
        }
        sum[0] += part;
        for (int k = first_gone; k < gone_count; k++) {
          at += gone_step[k];
          if (++in_at[k] < gone[k]) break;
          at -= gone_step[k] * gone[k];
          in_at[k] = 0;
        }
      }
    } else { /* WIDTH ends or products of one row, met at its end */
      OVER_GONE(first_gone, for (int64_t i = 0; i < run; i += WIDTH) {
        const int64_t n = run - i < WIDTH ? run - i : WIDTH;
        for (int64_t j = 0; j < n; j++) MEET(j, from[at + i + j], high[0]);
      });
      for (int j = 1; j < WIDTH; j++) {
        if (REDUCE_OP == 2) best[0] = best[j] > best[0] || best[j] != best[j] ? best[j] : best[0];
        if (REDUCE_OP == 3) best[0] = best[j] < best[0] || best[j] != best[j] ? best[j] : best[0];
        sum[0] *= sum[j];
      }
    }
    for (int64_t j = 0; j < width; j++, o++) {
      if (REDUCE_OP == 2 || REDUCE_OP == 3) {
        if (length == 0) { /* the other end of the type */
          const IN0_T far = _Generic((IN0_T)0, float: INFINITY, double: INFINITY,
                                     default: (IN0_T)((IN0_T)-1 > 0 ? (IN0_T)-1
                                                                    : (IN0_T)(UINT64_MAX >> (65 - 8 * sizeof(IN0_T)))));
          best[j] = REDUCE_OP == 3 ? far : (IN0_T)((IN0_T)-1 > 0 ? 0 : (IN0_T)0.5 != 0 ? -far : -1 - far);
        }
        y[o] = best[j];
      } else if (REDUCE_OP == 1) {
        y[o] = (OUT0_T)(_Generic((OUT0_T)0, float: sum[j] / (ACC)length, double: sum[j] / (ACC)length,
                                 default: (length ? (int64_t)sum[j] / length : 0)));
      } else if (REDUCE_OP == 6) {
        y[o] = (OUT0_T)sqrt((double)sum[j]);
      } else if (REDUCE_OP == 7) {
        y[o] = (OUT0_T)log((double)sum[j]);
      } else if (REDUCE_OP == 8) {
        y[o] = (OUT0_T)(log((double)sum[j]) + (double)high[j]);
      } else {
        y[o] = (OUT0_T)sum[j];
      }
    }
  }
  return 0;
}
#undef ACC
#undef WIDTH
#undef MEET
#undef OVER_GONE
#undef ATTR_noop_with_empty_axes
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef REDUCE_OP
int run_22(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_22(in, out, scratch, begin, end); }
#define NAME plain_23
#define UNITS 3l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int32_t
#define IN0_TYPE 6
#define IN0_RANK 2
#define IN0_COUNT 12l
#define IN0_DIMS {4,3,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 1l
#define IN1_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T int32_t
#define OUT0_TYPE 6
#define OUT0_RANK 2
#define OUT0_COUNT 3l
#define OUT0_DIMS {1,3,}
#define REDUCE_OP 1
/* All reductions; REDUCE_OP: 0 sum, 1 mean, 2 max, 3 min, 4 product, 5 sum of |x|, 6 root of the sum
 * of squares, 7 log of the sum, 8 log of the sum of exp, 9 sum of squares. Axes come from input 1 at
 * run time, or from the attribute; none: all axes. Floats add in double, integers wrap. */
#ifndef ATTR_noop_with_empty_axes
#define ATTR_noop_with_empty_axes 0
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC double
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
#define WIDTH 64
/* The next of n independent sums, products or ends, over the place j of both. */
#define MEET(j, value, high)                                                                     \
  do {                                                                                           \
    const IN0_T a = (value), b = best[j];                                                        \
    const ACC wide = (ACC)a;                                                                     \
    (void)b, (void)wide;                                                                         \
    if (REDUCE_OP == 2) best[j] = a > b || a != a ? a : b;                                       \
    if (REDUCE_OP == 3) best[j] = a < b || a != a ? a : b;                                       \
    if (REDUCE_OP == 4) sum[j] *= wide;                                                          \
    if (REDUCE_OP == 5) sum[j] += a < 0 ? -wide : wide;                                          \
    if (REDUCE_OP == 6 || REDUCE_OP == 9) sum[j] += wide * wide;                                 \
    if (REDUCE_OP == 8) sum[j] += (ACC)exp((double)(wide - (high)));                             \
    if (REDUCE_OP < 2 || REDUCE_OP == 7) sum[j] += wide;                                         \
  } while (0)
/* Runs `statement` for every place of the dimensions that go, but the last n of gone: offset `at`. */
#define OVER_GONE(first_gone, statement)                                   \
  do {                                                                     \
    int64_t at = 0, in_at[17] = {0};                                       \
    for (int64_t r = 0; r < outer_length; r++) {                           \
      statement;                                                           \
      for (int k = (first_gone); k < gone_count; k++) {                    \
        at += gone_step[k];                                                \
        if (++in_at[k] < gone[k]) break;                                   \
        at -= gone_step[k] * gone[k];                                      \
        in_at[k] = 0;                                                      \
      }                                                                    \
    }                                                                      \
  } while (0)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int reduced[17] = {0}, is_given = 0, kept_count = 0, gone_count = 0;
  int64_t kept[17] = {0}, gone[17] = {0}, kept_step[17] = {0}, gone_step[17] = {0};
  int64_t length = 1, step = 1;
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  for (int64_t k = 0; k < IN1_COUNT; k++) {
    int64_t axis = (int64_t)((const IN1_T *)in[1])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    reduced[axis < 0 ? axis + IN0_RANK : axis] = is_given = 1;
  }
#elif defined ATTR_axes
  const int64_t axes[] = ATTR_axes;
  for (int k = 0; k < ATTR_axes_COUNT; k++)
    reduced[axes[k] < 0 ? axes[k] + IN0_RANK : axes[k]] = is_given = 1;
#endif
  int was = -1;
  for (int k = IN0_RANK - 1; k >= 0; k--) { /* from the last on, neighbours of one fate as one */
    const int goes = is_given ? reduced[k] : !ATTR_noop_with_empty_axes;
    int *const count = goes ? &gone_count : &kept_count;
    int64_t *const size = goes ? gone : kept, *const by = goes ? gone_step : kept_step;
    if (goes) length *= dims[k];
    if (dims[k] != 1 || (k == 0 && was < 0)) {
      if (was == goes) {
        size[*count - 1] *= dims[k];
      } else {
        by[*count] = step;
        size[(*count)++] = dims[k];
      }
      was = goes;
    }
    step *= dims[k];
  }
  const int keeps_last = kept_count > 0 && kept_step[0] == 1;
  const int64_t run = !keeps_last && gone_count > 0 ? gone[0] : 1; /* neighbours that go */
  const int64_t outer_length = length == 0 ? 0 : length / run;
  const int first_gone = run > 1 || (gone_count && !keeps_last) ? 1 : 0;
  for (int64_t o = begin; o < end;) {
    int64_t base = 0, rest = o, width = 1;
    for (int k = 0; k < kept_count; rest /= kept[k], k++) base += rest % kept[k] * kept_step[k];
    if (keeps_last) { /* neighbouring results together */
      width = kept[0] - o % kept[0];
      if (width > end - o) width = end - o;
      if (width > WIDTH) width = WIDTH;
    }
    const IN0_T *restrict from = x + base;
    ACC sum[WIDTH], high[WIDTH] = {0};
    IN0_T best[WIDTH];
    for (int64_t j = 0; j < WIDTH; j++) {
      sum[j] = REDUCE_OP == 4 ? 1 : 0;
      best[j] = length ? from[keeps_last && j < width ? j : 0] : 0;
    }
    if (REDUCE_OP == 8 && length) {
      for (int64_t j = 0; j < width; j++) high[j] = (ACC)from[j];
      if (keeps_last)
        OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) high[j] =
                                  (ACC)from[at + j] > high[j] ? (ACC)from[at + j] : high[j]);
      else
        OVER_GONE(first_gone, for (int64_t i = 0; i < run; i++) high[0] =
                                  (ACC)from[at + i] > high[0] ? (ACC)from[at + i] : high[0]);
      for (int64_t j = 0; j < width; j++)
        if ((double)high[j] - (double)high[j] != 0) high[j] = 0; /* infinite */
    }
    if (keeps_last) {
      OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) MEET(j, from[at + j], high[j]));
    } else if (REDUCE_OP != 2 && REDUCE_OP != 3 && REDUCE_OP != 4) { /* a row that goes at a time */
      const ACC top = high[0];
      int64_t at = 0, in_at[17] = {0};
      for (int64_t r = 0; r < outer_length; r++) {
        const IN0_T *restrict row = from + at;
        ACC part = 0;
#pragma omp simd reduction(+ : part)
        for (int64_t i = 0; i < run; i++) {
          const ACC wide = (ACC)row[i];
          part += REDUCE_OP == 5                     ? (row[i] < 0 ? -wide : wide)
                  : REDUCE_OP == 6 || REDUCE_OP == 9 ? wide * wide
                  : REDUCE_OP == 8                   ? (ACC)exp((double)(wide - top))
                                                     : wide;
        }
        sum[0] += part;
        for (int k = first_gone; k < gone_count; k++) {
          at += gone_step[k];
          if (++in_at[k] < gone[k]) break;
          at -= gone_step[k] * gone[k];
          in_at[k] = 0;
        }
      }
    } else { /* WIDTH ends or products of one row, met at its end */
      OVER_GONE(first_gone, for (int64_t i = 0; i < run; i += WIDTH) {
        const int64_t n = run - i < WIDTH ? run - i : WIDTH;
        for (int64_t j = 0; j < n; j++) MEET(j, from[at + i + j], high[0]);
      });
      for (int j = 1; j < WIDTH; j++) {
        if (REDUCE_OP == 2) best[0] = best[j] > best[0] || best[j] != best[j] ? best[j] : best[0];
        if (REDUCE_OP == 3) best[0] = best[j] < best[0] || best[j] != best[j] ? best[j] : best[0];
        sum[0] *= sum[j];
      }
    }
    for (int64_t j = 0; j < width; j++, o++) {
      if (REDUCE_OP == 2 || REDUCE_OP == 3) {
        if (length == 0) { /* the other end of the type */
          const IN0_T far = _Generic((IN0_T)0, float: INFINITY, double: INFINITY,
                                     default: (IN0_T)((IN0_T)-1 > 0 ? (IN0_T)-1
                                                                    : (IN0_T)(UINT64_MAX >> (65 - 8 * sizeof(IN0_T)))));
          best[j] = REDUCE_OP == 3 ? far : (IN0_T)((IN0_T)-1 > 0 ? 0 : (IN0_T)0.5 != 0 ? -far : -1 - far);
        }
        y[o] = best[j];
      } else if (REDUCE_OP == 1) {
        y[o] = (OUT0_T)(_Generic((OUT0_T)0, float: sum[j] / (ACC)length, double: sum[j] / (ACC)length,
                                 default: (length ? (int64_t)sum[j] / length : 0)));
      } else if (REDUCE_OP == 6) {
        y[o] = (OUT0_T)sqrt((double)sum[j]);
      } else if (REDUCE_OP == 7) {
        y[o] = (OUT0_T)log((double)sum[j]);
      } else if (REDUCE_OP == 8) {
        y[o] = (OUT0_T)(log((double)sum[j]) + (double)high[j]);
      } else {
        y[o] = (OUT0_T)sum[j];
      }
    }
  }
  return 0;
}
#undef ACC
#undef WIDTH
#undef MEET
#undef OVER_GONE
#undef ATTR_noop_with_empty_axes
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef REDUCE_OP
int run_23(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_23(in, out, scratch, begin, end); }
#define NAME plain_24
#define UNITS 2l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int64_t
#define IN0_TYPE 7
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {2,3,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 1l
#define IN1_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T int64_t
#define OUT0_TYPE 7
#define OUT0_RANK 2
#define OUT0_COUNT 2l
#define OUT0_DIMS {2,1,}
#define REDUCE_OP 2
/* All reductions; REDUCE_OP: 0 sum, 1 mean, 2 max, 3 min, 4 product, 5 sum of |x|, 6 root of the sum
 * of squares, 7 log of the sum, 8 log of the sum of exp, 9 sum of squares. Axes come from input 1 at
 * run time, or from the attribute; none: all axes. Floats add in double, integers wrap. */
#ifndef ATTR_noop_with_empty_axes
#define ATTR_noop_with_empty_axes 0
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC double
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
#define WIDTH 64
/* The next of n independent sums, products or ends, over the place j of both. */
#define MEET(j, value, high)                                                                     \
  do {                                                                                           \
    const IN0_T a = (value), b = best[j];                                                        \
    const ACC wide = (ACC)a;                                                                     \
    (void)b, (void)wide;                                                                         \
    if (REDUCE_OP == 2) best[j] = a > b || a != a ? a : b;                                       \
    if (REDUCE_OP == 3) best[j] = a < b || a != a ? a : b;                                       \
    if (REDUCE_OP == 4) sum[j] *= wide;                                                          \
    if (REDUCE_OP == 5) sum[j] += a < 0 ? -wide : wide;                                          \
    if (REDUCE_OP == 6 || REDUCE_OP == 9) sum[j] += wide * wide;                                 \
    if (REDUCE_OP == 8) sum[j] += (ACC)exp((double)(wide - (high)));                             \
    if (REDUCE_OP < 2 || REDUCE_OP == 7) sum[j] += wide;                                         \
  } while (0)
/* Runs `statement` for every place of the dimensions that go, but the last n of gone: offset `at`. */
#define OVER_GONE(first_gone, statement)                                   \
  do {                                                                     \
    int64_t at = 0, in_at[17] = {0};                                       \
    for (int64_t r = 0; r < outer_length; r++) {                           \
      statement;                                                           \
      for (int k = (first_gone); k < gone_count; k++) {                    \
        at += gone_step[k];                                                \
        if (++in_at[k] < gone[k]) break;                                   \
        at -= gone_step[k] * gone[k];                                      \
        in_at[k] = 0;                                                      \
      }                                                                    \
    }                                                                      \
  } while (0)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int reduced[17] = {0}, is_given = 0, kept_count = 0, gone_count = 0;
  int64_t kept[17] = {0}, gone[17] = {0}, kept_step[17] = {0}, gone_step[17] = {0};
  int64_t length = 1, step = 1;
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  for (int64_t k = 0; k < IN1_COUNT; k++) {
    int64_t axis = (int64_t)((const IN1_T *)in[1])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    reduced[axis < 0 ? axis + IN0_RANK : axis] = is_given = 1;
  }
#elif defined ATTR_axes
  const int64_t axes[] = ATTR_axes;
  for (int k = 0; k < ATTR_axes_COUNT; k++)
    reduced[axes[k] < 0 ? axes[k] + IN0_RANK : axes[k]] = is_given = 1;
#endif
  int was = -1;
  for (int k = IN0_RANK - 1; k >= 0; k--) { /* from the last on, neighbours of one fate as one */
    const int goes = is_given ? reduced[k] : !ATTR_noop_with_empty_axes;
    int *const count = goes ? &gone_count : &kept_count;
    int64_t *const size = goes ? gone : kept, *const by = goes ? gone_step : kept_step;
    if (goes) length *= dims[k];
    if (dims[k] != 1 || (k == 0 && was < 0)) {
      if (was == goes) {
        size[*count - 1] *= dims[k];
      } else {
        by[*count] = step;
        size[(*count)++] = dims[k];
      }
      was = goes;
    }
    step *= dims[k];
  }
  const int keeps_last = kept_count > 0 && kept_step[0] == 1;
  const int64_t run = !keeps_last && gone_count > 0 ? gone[0] : 1; /* neighbours that go */
  const int64_t outer_length = length == 0 ? 0 : length / run;
  const int first_gone = run > 1 || (gone_count && !keeps_last) ? 1 : 0;
  for (int64_t o = begin; o < end;) {
    int64_t base = 0, rest = o, width = 1;
    for (int k = 0; k < kept_count; rest /= kept[k], k++) base += rest % kept[k] * kept_step[k];
    if (keeps_last) { /* neighbouring results together */
      width = kept[0] - o % kept[0];
      if (width > end - o) width = end - o;
      if (width > WIDTH) width = WIDTH;
    }
    const IN0_T *restrict from = x + base;
    ACC sum[WIDTH], high[WIDTH] = {0};
    IN0_T best[WIDTH];
    for (int64_t j = 0; j < WIDTH; j++) {
      sum[j] = REDUCE_OP == 4 ? 1 : 0;
      best[j] = length ? from[keeps_last && j < width ? j : 0] : 0;
    }
    if (REDUCE_OP == 8 && length) {
      for (int64_t j = 0; j < width; j++) high[j] = (ACC)from[j];
      if (keeps_last)
        OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) high[j] =
                                  (ACC)from[at + j] > high[j] ? (ACC)from[at + j] : high[j]);
      else
        OVER_GONE(first_gone, for (int64_t i = 0; i < run; i++) high[0] =
                                  (ACC)from[at + i] > high[0] ? (ACC)from[at + i] : high[0]);
      for (int64_t j = 0; j < width; j++)
        if ((double)high[j] - (double)high[j] != 0) high[j] = 0; /* infinite */
    }
    if (keeps_last) {
      OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) MEET(j, from[at + j], high[j]));
    } else if (REDUCE_OP != 2 && REDUCE_OP != 3 && REDUCE_OP != 4) { /* a row that goes at a time */
      const ACC top = high[0];
      int64_t at = 0, in_at[17] = {0};
      for (int64_t r = 0; r < outer_length; r++) {
        const IN0_T *restrict row = from + at;
        ACC part = 0;
#pragma omp simd reduction(+ : part)
        for (int64_t i = 0; i < run; i++) {
          const ACC wide = (ACC)row[i];
          part += REDUCE_OP == 5                     ? (row[i] < 0 ? -wide : wide)
                  : REDUCE_OP == 6 || REDUCE_OP == 9 ? wide * wide
                  : REDUCE_OP == 8                   ? (ACC)exp((double)(wide - top))
                                                     : wide;
        }
        sum[0] += part;
        for (int k = first_gone; k < gone_count; k++) {
          at += gone_step[k];
          if (++in_at[k] < gone[k]) break;
          at -= gone_step[k] * gone[k];
          in_at[k] = 0;
        }
      }
    } else { /* WIDTH ends or products of one row, met at its end */
      OVER_GONE(first_gone, for (int64_t i = 0; i < run; i += WIDTH) {
        const int64_t n = run - i < WIDTH ? run - i : WIDTH;
        for (int64_t j = 0; j < n; j++) MEET(j, from[at + i + j], high[0]);
      });
      for (int j = 1; j < WIDTH; j++) {
        if (REDUCE_OP == 2) best[0] = best[j] > best[0] || best[j] != best[j] ? best[j] : best[0];
        if (REDUCE_OP == 3) best[0] = best[j] < best[0] || best[j] != best[j] ? best[j] : best[0];
        sum[0] *= sum[j];
      }
    }
    for (int64_t j = 0; j < width; j++, o++) {
      if (REDUCE_OP == 2 || REDUCE_OP == 3) {
        if (length == 0) { /* the other end of the type */
          const IN0_T far = _Generic((IN0_T)0, float: INFINITY, double: INFINITY,
                                     default: (IN0_T)((IN0_T)-1 > 0 ? (IN0_T)-1
                                                                    : (IN0_T)(UINT64_MAX >> (65 - 8 * sizeof(IN0_T)))));
          best[j] = REDUCE_OP == 3 ? far : (IN0_T)((IN0_T)-1 > 0 ? 0 : (IN0_T)0.5 != 0 ? -far : -1 - far);
        }
        y[o] = best[j];
      } else if (REDUCE_OP == 1) {
        y[o] = (OUT0_T)(_Generic((OUT0_T)0, float: sum[j] / (ACC)length, double: sum[j] / (ACC)length,
                                 default: (length ? (int64_t)sum[j] / length : 0)));
      } else if (REDUCE_OP == 6) {
        y[o] = (OUT0_T)sqrt((double)sum[j]);
      } else if (REDUCE_OP == 7) {
        y[o] = (OUT0_T)log((double)sum[j]);
      } else if (REDUCE_OP == 8) {
        y[o] = (OUT0_T)(log((double)sum[j]) + (double)high[j]);
      } else {
        y[o] = (OUT0_T)sum[j];
      }
    }
  }
  return 0;
}
#undef ACC
#undef WIDTH
#undef MEET
#undef OVER_GONE
#undef ATTR_noop_with_empty_axes
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef REDUCE_OP
int run_24(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_24(in, out, scratch, begin, end); }
#define NAME plain_25
#define UNITS 4l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 12l
#define IN0_DIMS {2,3,2,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 1l
#define IN1_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 3
#define OUT0_COUNT 4l
#define OUT0_DIMS {2,1,2,}
#define REDUCE_OP 3
/* All reductions; REDUCE_OP: 0 sum, 1 mean, 2 max, 3 min, 4 product, 5 sum of |x|, 6 root of the sum
 * of squares, 7 log of the sum, 8 log of the sum of exp, 9 sum of squares. Axes come from input 1 at
 * run time, or from the attribute; none: all axes. Floats add in double, integers wrap. */
#ifndef ATTR_noop_with_empty_axes
#define ATTR_noop_with_empty_axes 0
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC double
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
#define WIDTH 64
/* The next of n independent sums, products or ends, over the place j of both. */
#define MEET(j, value, high)                                                                     \
  do {                                                                                           \
    const IN0_T a = (value), b = best[j];                                                        \
    const ACC wide = (ACC)a;                                                                     \
    (void)b, (void)wide;                                                                         \
    if (REDUCE_OP == 2) best[j] = a > b || a != a ? a : b;                                       \
    if (REDUCE_OP == 3) best[j] = a < b || a != a ? a : b;                                       \
    if (REDUCE_OP == 4) sum[j] *= wide;                                                          \
    if (REDUCE_OP == 5) sum[j] += a < 0 ? -wide : wide;                                          \
    if (REDUCE_OP == 6 || REDUCE_OP == 9) sum[j] += wide * wide;                                 \
    if (REDUCE_OP == 8) sum[j] += (ACC)exp((double)(wide - (high)));                             \
    if (REDUCE_OP < 2 || REDUCE_OP == 7) sum[j] += wide;                                         \
  } while (0)
/* Runs `statement` for every place of the dimensions that go, but the last n of gone: offset `at`. */
#define OVER_GONE(first_gone, statement)                                   \
  do {                                                                     \
    int64_t at = 0, in_at[17] = {0};                                       \
    for (int64_t r = 0; r < outer_length; r++) {                           \
      statement;                                                           \
      for (int k = (first_gone); k < gone_count; k++) {                    \
        at += gone_step[k];                                                \
        if (++in_at[k] < gone[k]) break;                                   \
        at -= gone_step[k] * gone[k];                                      \
        in_at[k] = 0;                                                      \
      }                                                                    \
    }                                                                      \
  } while (0)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int reduced[17] = {0}, is_given = 0, kept_count = 0, gone_count = 0;
  int64_t kept[17] = {0}, gone[17] = {0}, kept_step[17] = {0}, gone_step[17] = {0};
  int64_t length = 1, step = 1;
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  for (int64_t k = 0; k < IN1_COUNT; k++) {
    int64_t axis = (int64_t)((const IN1_T *)in[1])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    reduced[axis < 0 ? axis + IN0_RANK : axis] = is_given = 1;
  }
#elif defined ATTR_axes
  const int64_t axes[] = ATTR_axes;
  for (int k = 0; k < ATTR_axes_COUNT; k++)
    reduced[axes[k] < 0 ? axes[k] + IN0_RANK : axes[k]] = is_given = 1;
#endif
  int was = -1;
  for (int k = IN0_RANK - 1; k >= 0; k--) { /* from the last on, neighbours of one fate as one */
    const int goes = is_given ? reduced[k] : !ATTR_noop_with_empty_axes;
    int *const count = goes ? &gone_count : &kept_count;
    int64_t *const size = goes ? gone : kept, *const by = goes ? gone_step : kept_step;
    if (goes) length *= dims[k];
    if (dims[k] != 1 || (k == 0 && was < 0)) {
      if (was == goes) {
        size[*count - 1] *= dims[k];
      } else {
        by[*count] = step;
        size[(*count)++] = dims[k];
      }
      was = goes;
    }
    step *= dims[k];
  }
  const int keeps_last = kept_count > 0 && kept_step[0] == 1;
  const int64_t run = !keeps_last && gone_count > 0 ? gone[0] : 1; /* neighbours that go */
  const int64_t outer_length = length == 0 ? 0 : length / run;
  const int first_gone = run > 1 || (gone_count && !keeps_last) ? 1 : 0;
  for (int64_t o = begin; o < end;) {
    int64_t base = 0, rest = o, width = 1;
    for (int k = 0; k < kept_count; rest /= kept[k], k++) base += rest % kept[k] * kept_step[k];
    if (keeps_last) { /* neighbouring results together */
      width = kept[0] - o % kept[0];
      if (width > end - o) width = end - o;
      if (width > WIDTH) width = WIDTH;
    }
    const IN0_T *restrict from = x + base;
    ACC sum[WIDTH], high[WIDTH] = {0};
    IN0_T best[WIDTH];
    for (int64_t j = 0; j < WIDTH; j++) {
      sum[j] = REDUCE_OP == 4 ? 1 : 0;
      best[j] = length ? from[keeps_last && j < width ? j : 0] : 0;
    }
    if (REDUCE_OP == 8 && length) {
      for (int64_t j = 0; j < width; j++) high[j] = (ACC)from[j];
      if (keeps_last)
        OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) high[j] =
                                  (ACC)from[at + j] > high[j] ? (ACC)from[at + j] : high[j]);
      else
        OVER_GONE(first_gone, for (int64_t i = 0; i < run; i++) high[0] =
                                  (ACC)from[at + i] > high[0] ? (ACC)from[at + i] : high[0]);
      for (int64_t j = 0; j < width; j++)
        if ((double)high[j] - (double)high[j] != 0) high[j] = 0; /* infinite */
    }
    if (keeps_last) {
      OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) MEET(j, from[at + j], high[j]));
    } else if (REDUCE_OP != 2 && REDUCE_OP != 3 && REDUCE_OP != 4) { /* a row that goes at a time */
      const ACC top = high[0];
      int64_t at = 0, in_at[17] = {0};
      for (int64_t r = 0; r < outer_length; r++) {
        const IN0_T *restrict row = from + at;
        ACC part = 0;
#pragma omp simd reduction(+ : part)
        for (int64_t i = 0; i < run; i++) {
          const ACC wide = (ACC)row[i];
          part += REDUCE_OP == 5                     ? (row[i] < 0 ? -wide : wide)
                  : REDUCE_OP == 6 || REDUCE_OP == 9 ? wide * wide
                  : REDUCE_OP == 8                   ? (ACC)exp((double)(wide - top))
                                                     : wide;
        }
        sum[0] += part;
        for (int k = first_gone; k < gone_count; k++) {
          at += gone_step[k];
          if (++in_at[k] < gone[k]) break;
          at -= gone_step[k] * gone[k];
          in_at[k] = 0;
        }
      }
    } else { /* WIDTH ends or products of one row, met at its end */
      OVER_GONE(first_gone, for (int64_t i = 0; i < run; i += WIDTH) {
        const int64_t n = run - i < WIDTH ? run - i : WIDTH;
        for (int64_t j = 0; j < n; j++) MEET(j, from[at + i + j], high[0]);
      });
      for (int j = 1; j < WIDTH; j++) {
        if (REDUCE_OP == 2) best[0] = best[j] > best[0] || best[j] != best[j] ? best[j] : best[0];
        if (REDUCE_OP == 3) best[0] = best[j] < best[0] || best[j] != best[j] ? best[j] : best[0];
        sum[0] *= sum[j];
      }
    }
    for (int64_t j = 0; j < width; j++, o++) {
      if (REDUCE_OP == 2 || REDUCE_OP == 3) {
        if (length == 0) { /* the other end of the type */
          const IN0_T far = _Generic((IN0_T)0, float: INFINITY, double: INFINITY,
                                     default: (IN0_T)((IN0_T)-1 > 0 ? (IN0_T)-1
                                                                    : (IN0_T)(UINT64_MAX >> (65 - 8 * sizeof(IN0_T)))));
          best[j] = REDUCE_OP == 3 ? far : (IN0_T)((IN0_T)-1 > 0 ? 0 : (IN0_T)0.5 != 0 ? -far : -1 - far);
        }
        y[o] = best[j];
      } else if (REDUCE_OP == 1) {
        y[o] = (OUT0_T)(_Generic((OUT0_T)0, float: sum[j] / (ACC)length, double: sum[j] / (ACC)length,
                                 default: (length ? (int64_t)sum[j] / length : 0)));
      } else if (REDUCE_OP == 6) {
        y[o] = (OUT0_T)sqrt((double)sum[j]);
      } else if (REDUCE_OP == 7) {
        y[o] = (OUT0_T)log((double)sum[j]);
      } else if (REDUCE_OP == 8) {
        y[o] = (OUT0_T)(log((double)sum[j]) + (double)high[j]);
      } else {
        y[o] = (OUT0_T)sum[j];
      }
    }
  }
  return 0;
}
#undef ACC
#undef WIDTH
#undef MEET
#undef OVER_GONE
#undef ATTR_noop_with_empty_axes
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef REDUCE_OP
int run_25(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_25(in, out, scratch, begin, end); }
#define NAME plain_26
#define UNITS 3l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {2,3,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 1l
#define IN1_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 3l
#define OUT0_DIMS {1,3,}
#define REDUCE_OP 4
/* All reductions; REDUCE_OP: 0 sum, 1 mean, 2 max, 3 min, 4 product, 5 sum of |x|, 6 root of the sum
 * of squares, 7 log of the sum, 8 log of the sum of exp, 9 sum of squares. Axes come from input 1 at
 * run time, or from the attribute; none: all axes. Floats add in double, integers wrap. */
#ifndef ATTR_noop_with_empty_axes
#define ATTR_noop_with_empty_axes 0
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC double
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
#define WIDTH 64
/* The next of n independent sums, products or ends, over the place j of both. */
#define MEET(j, value, high)                                                                     \
  do {                                                                                           \
    const IN0_T a = (value), b = best[j];                                                        \
    const ACC wide = (ACC)a;                                                                     \
    (void)b, (void)wide;                                                                         \
    if (REDUCE_OP == 2) best[j] = a > b || a != a ? a : b;                                       \
    if (REDUCE_OP == 3) best[j] = a < b || a != a ? a : b;                                       \
    if (REDUCE_OP == 4) sum[j] *= wide;                                                          \
    if (REDUCE_OP == 5) sum[j] += a < 0 ? -wide : wide;                                          \
    if (REDUCE_OP == 6 || REDUCE_OP == 9) sum[j] += wide * wide;                                 \
    if (REDUCE_OP == 8) sum[j] += (ACC)exp((double)(wide - (high)));                             \
    if (REDUCE_OP < 2 || REDUCE_OP == 7) sum[j] += wide;                                         \
  } while (0)
/* Runs `statement` for every place of the dimensions that go, but the last n of gone: offset `at`. */
#define OVER_GONE(first_gone, statement)                                   \
  do {                                                                     \
    int64_t at = 0, in_at[17] = {0};                                       \
    for (int64_t r = 0; r < outer_length; r++) {                           \
      statement;                                                           \
      for (int k = (first_gone); k < gone_count; k++) {                    \
        at += gone_step[k];                                                \
        if (++in_at[k] < gone[k]) break;                                   \
        at -= gone_step[k] * gone[k];                                      \
        in_at[k] = 0;                                                      \
      }                                                                    \
    }                                                                      \
  } while (0)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int reduced[17] = {0}, is_given = 0, kept_count = 0, gone_count = 0;
  int64_t kept[17] = {0}, gone[17] = {0}, kept_step[17] = {0}, gone_step[17] = {0};
  int64_t length = 1, step = 1;
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  for (int64_t k = 0; k < IN1_COUNT; k++) {
    int64_t axis = (int64_t)((const IN1_T *)in[1])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    reduced[axis < 0 ? axis + IN0_RANK : axis] = is_given = 1;
  }
#elif defined ATTR_axes
  const int64_t axes[] = ATTR_axes;
  for (int k = 0; k < ATTR_axes_COUNT; k++)
    reduced[axes[k] < 0 ? axes[k] + IN0_RANK : axes[k]] = is_given = 1;
#endif
  int was = -1;
  for (int k = IN0_RANK - 1; k >= 0; k--) { /* from the last on, neighbours of one fate as one */
    const int goes = is_given ? reduced[k] : !ATTR_noop_with_empty_axes;
    int *const count = goes ? &gone_count : &kept_count;
    int64_t *const size = goes ? gone : kept, *const by = goes ? gone_step : kept_step;
    if (goes) length *= dims[k];
    if (dims[k] != 1 || (k == 0 && was < 0)) {
      if (was == goes) {
        size[*count - 1] *= dims[k];
      } else {
        by[*count] = step;
        size[(*count)++] = dims[k];
      }
      was = goes;
    }
    step *= dims[k];
  }
  const int keeps_last = kept_count > 0 && kept_step[0] == 1;
  const int64_t run = !keeps_last && gone_count > 0 ? gone[0] : 1; /* neighbours that go */
  const int64_t outer_length = length == 0 ? 0 : length / run;
  const int first_gone = run > 1 || (gone_count && !keeps_last) ? 1 : 0;
  for (int64_t o = begin; o < end;) {
    int64_t base = 0, rest = o, width = 1;
    for (int k = 0; k < kept_count; rest /= kept[k], k++) base += rest % kept[k] * kept_step[k];
    if (keeps_last) { /* neighbouring results together */
      width = kept[0] - o % kept[0];
      if (width > end - o) width = end - o;
      if (width > WIDTH) width = WIDTH;
    }
    const IN0_T *restrict from = x + base;
    ACC sum[WIDTH], high[WIDTH] = {0};
    IN0_T best[WIDTH];
    for (int64_t j = 0; j < WIDTH; j++) {
      sum[j] = REDUCE_OP == 4 ? 1 : 0;
      best[j] = length ? from[keeps_last && j < width ? j : 0] : 0;
    }
    if (REDUCE_OP == 8 && length) {
      for (int64_t j = 0; j < width; j++) high[j] = (ACC)from[j];
      if (keeps_last)
        OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) high[j] =
                                  (ACC)from[at + j] > high[j] ? (ACC)from[at + j] : high[j]);
      else
        OVER_GONE(first_gone, for (int64_t i = 0; i < run; i++) high[0] =
                                  (ACC)from[at + i] > high[0] ? (ACC)from[at + i] : high[0]);
      for (int64_t j = 0; j < width; j++)
        if ((double)high[j] - (double)high[j] != 0) high[j] = 0; /* infinite */
    }
    if (keeps_last) {
      OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) MEET(j, from[at + j], high[j]));
    } else if (REDUCE_OP != 2 && REDUCE_OP != 3 && REDUCE_OP != 4) { /* a row that goes at a time */
      const ACC top = high[0];
      int64_t at = 0, in_at[17] = {0};
      for (int64_t r = 0; r < outer_length; r++) {
        const IN0_T *restrict row = from + at;
        ACC part = 0;
#pragma omp simd reduction(+ : part)
        for (int64_t i = 0; i < run; i++) {
          const ACC wide = (ACC)row[i];
          part += REDUCE_OP == 5                     ? (row[i] < 0 ? -wide : wide)
                  : REDUCE_OP == 6 || REDUCE_OP == 9 ? wide * wide
                  : REDUCE_OP == 8                   ? (ACC)exp((double)(wide - top))
                                                     : wide;
        }
        sum[0] += part;
        for (int k = first_gone; k < gone_count; k++) {
          at += gone_step[k];
          if (++in_at[k] < gone[k]) break;
          at -= gone_step[k] * gone[k];
          in_at[k] = 0;
        }
      }
    } else { /* WIDTH ends or products of one row, met at its end */
      OVER_GONE(first_gone, for (int64_t i = 0; i < run; i += WIDTH) {
        const int64_t n = run - i < WIDTH ? run - i : WIDTH;
        for (int64_t j = 0; j < n; j++) MEET(j, from[at + i + j], high[0]);
      });
      for (int j = 1; j < WIDTH; j++) {
        if (REDUCE_OP == 2) best[0] = best[j] > best[0] || best[j] != best[j] ? best[j] : best[0];
        if (REDUCE_OP == 3) best[0] = best[j] < best[0] || best[j] != best[j] ? best[j] : best[0];
        sum[0] *= sum[j];
      }
    }
    for (int64_t j = 0; j < width; j++, o++) {
      if (REDUCE_OP == 2 || REDUCE_OP == 3) {
        if (length == 0) { /* the other end of the type */
          const IN0_T far = _Generic((IN0_T)0, float: INFINITY, double: INFINITY,
                                     default: (IN0_T)((IN0_T)-1 > 0 ? (IN0_T)-1
                                                                    : (IN0_T)(UINT64_MAX >> (65 - 8 * sizeof(IN0_T)))));
          best[j] = REDUCE_OP == 3 ? far : (IN0_T)((IN0_T)-1 > 0 ? 0 : (IN0_T)0.5 != 0 ? -far : -1 - far);
        }
        y[o] = best[j];
      } else if (REDUCE_OP == 1) {
        y[o] = (OUT0_T)(_Generic((OUT0_T)0, float: sum[j] / (ACC)length, double: sum[j] / (ACC)length,
                                 default: (length ? (int64_t)sum[j] / length : 0)));
      } else if (REDUCE_OP == 6) {
        y[o] = (OUT0_T)sqrt((double)sum[j]);
      } else if (REDUCE_OP == 7) {
        y[o] = (OUT0_T)log((double)sum[j]);
      } else if (REDUCE_OP == 8) {
        y[o] = (OUT0_T)(log((double)sum[j]) + (double)high[j]);
      } else {
        y[o] = (OUT0_T)sum[j];
      }
    }
  }
  return 0;
}
#undef ACC
#undef WIDTH
#undef MEET
#undef OVER_GONE
#undef ATTR_noop_with_empty_axes
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef REDUCE_OP
int run_26(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_26(in, out, scratch, begin, end); }
#define NAME plain_27
#define UNITS 2l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 0l
#define IN0_DIMS {2,0,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 1l
#define IN1_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 2l
#define OUT0_DIMS {2,1,}
#define REDUCE_OP 2
/* All reductions; REDUCE_OP: 0 sum, 1 mean, 2 max, 3 min, 4 product, 5 sum of |x|, 6 root of the sum
 * of squares, 7 log of the sum, 8 log of the sum of exp, 9 sum of squares. Axes come from input 1 at
 * run time, or from the attribute; none: all axes. Floats add in double, integers wrap. */
#ifndef ATTR_noop_with_empty_axes
#define ATTR_noop_with_empty_axes 0
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC double
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
#define WIDTH 64
/* The next of n independent sums, products or ends, over the place j of both. */
#define MEET(j, value, high)                                                                     \
  do {                                                                                           \
    const IN0_T a = (value), b = best[j];                                                        \
    const ACC wide = (ACC)a;                                                                     \
    (void)b, (void)wide;                                                                         \
    if (REDUCE_OP == 2) best[j] = a > b || a != a ? a : b;                                       \
    if (REDUCE_OP == 3) best[j] = a < b || a != a ? a : b;                                       \
    if (REDUCE_OP == 4) sum[j] *= wide;                                                          \
    if (REDUCE_OP == 5) sum[j] += a < 0 ? -wide : wide;                                          \
    if (REDUCE_OP == 6 || REDUCE_OP == 9) sum[j] += wide * wide;                                 \
    if (REDUCE_OP == 8) sum[j] += (ACC)exp((double)(wide - (high)));                             \
    if (REDUCE_OP < 2 || REDUCE_OP == 7) sum[j] += wide;                                         \
  } while (0)
/* Runs `statement` for every place of the dimensions that go, but the last n of gone: offset `at`. */
#define OVER_GONE(first_gone, statement)                                   \
  do {                                                                     \
    int64_t at = 0, in_at[17] = {0};                                       \
    for (int64_t r = 0; r < outer_length; r++) {                           \
      statement;                                                           \
      for (int k = (first_gone); k < gone_count; k++) {                    \
        at += gone_step[k];                                                \
        if (++in_at[k] < gone[k]) break;                                   \
        at -= gone_step[k] * gone[k];                                      \
        in_at[k] = 0;                                                      \
      }                                                                    \
    }                                                                      \
  } while (0)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int reduced[17] = {0}, is_given = 0, kept_count = 0, gone_count = 0;
  int64_t kept[17] = {0}, gone[17] = {0}, kept_step[17] = {0}, gone_step[17] = {0};
  int64_t length = 1, step = 1;
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  for (int64_t k = 0; k < IN1_COUNT; k++) {
    int64_t axis = (int64_t)((const IN1_T *)in[1])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    reduced[axis < 0 ? axis + IN0_RANK : axis] = is_given = 1;
  }
#elif defined ATTR_axes
  const int64_t axes[] = ATTR_axes;
  for (int k = 0; k < ATTR_axes_COUNT; k++)
    reduced[axes[k] < 0 ? axes[k] + IN0_RANK : axes[k]] = is_given = 1;
#endif
  int was = -1;
  for (int k = IN0_RANK - 1; k >= 0; k--) { /* from the last on, neighbours of one fate as one */
    const int goes = is_given ? reduced[k] : !ATTR_noop_with_empty_axes;
    int *const count = goes ? &gone_count : &kept_count;
    int64_t *const size = goes ? gone : kept, *const by = goes ? gone_step : kept_step;
    if (goes) length *= dims[k];
    if (dims[k] != 1 || (k == 0 && was < 0)) {
      if (was == goes) {
        size[*count - 1] *= dims[k];
      } else {
        by[*count] = step;
        size[(*count)++] = dims[k];
      }
      was = goes;
    }
    step *= dims[k];
  }
  const int keeps_last = kept_count > 0 && kept_step[0] == 1;
  const int64_t run = !keeps_last && gone_count > 0 ? gone[0] : 1; /* neighbours that go */
  const int64_t outer_length = length == 0 ? 0 : length / run;
  const int first_gone = run > 1 || (gone_count && !keeps_last) ? 1 : 0;
  for (int64_t o = begin; o < end;) {
    int64_t base = 0, rest = o, width = 1;
    for (int k = 0; k < kept_count; rest /= kept[k], k++) base += rest % kept[k] * kept_step[k];
    if (keeps_last) { /* neighbouring results together */
      width = kept[0] - o % kept[0];
      if (width > end - o) width = end - o;
      if (width > WIDTH) width = WIDTH;
    }
    const IN0_T *restrict from = x + base;
    ACC sum[WIDTH], high[WIDTH] = {0};
    IN0_T best[WIDTH];
    for (int64_t j = 0; j < WIDTH; j++) {
      sum[j] = REDUCE_OP == 4 ? 1 : 0;
      best[j] = length ? from[keeps_last && j < width ? j : 0] : 0;
    }
    if (REDUCE_OP == 8 && length) {
      for (int64_t j = 0; j < width; j++) high[j] = (ACC)from[j];
      if (keeps_last)
        OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) high[j] =
                                  (ACC)from[at + j] > high[j] ? (ACC)from[at + j] : high[j]);
      else
        OVER_GONE(first_gone, for (int64_t i = 0; i < run; i++) high[0] =
                                  (ACC)from[at + i] > high[0] ? (ACC)from[at + i] : high[0]);
      for (int64_t j = 0; j < width; j++)
        if ((double)high[j] - (double)high[j] != 0) high[j] = 0; /* infinite */
    }
    if (keeps_last) {
      OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) MEET(j, from[at + j], high[j]));
    } else if (REDUCE_OP != 2 && REDUCE_OP != 3 && REDUCE_OP != 4) { /* a row that goes at a time */
      const ACC top = high[0];
      int64_t at = 0, in_at[17] = {0};
      for (int64_t r = 0; r < outer_length; r++) {
        const IN0_T *restrict row = from + at;
        ACC part = 0;
#pragma omp simd reduction(+ : part)
        for (int64_t i = 0; i < run; i++) {
          const ACC wide = (ACC)row[i];
          part += REDUCE_OP == 5                     ? (row[i] < 0 ? -wide : wide)
                  : REDUCE_OP == 6 || REDUCE_OP == 9 ? wide * wide
                  : REDUCE_OP == 8                   ? (ACC)exp((double)(wide - top))
                                                     : wide;
        }
        sum[0] += part;
        for (int k = first_gone; k < gone_count; k++) {
          at += gone_step[k];
          if (++in_at[k] < gone[k]) break;
          at -= gone_step[k] * gone[k];
          in_at[k] = 0;
        }
      }
    } else { /* WIDTH ends or products of one row, met at its end */
      OVER_GONE(first_gone, for (int64_t i = 0; i < run; i += WIDTH) {
        const int64_t n = run - i < WIDTH ? run - i : WIDTH;
        for (int64_t j = 0; j < n; j++) MEET(j, from[at + i + j], high[0]);
      });
      for (int j = 1; j < WIDTH; j++) {
        if (REDUCE_OP == 2) best[0] = best[j] > best[0] || best[j] != best[j] ? best[j] : best[0];
        if (REDUCE_OP == 3) best[0] = best[j] < best[0] || best[j] != best[j] ? best[j] : best[0];
        sum[0] *= sum[j];
      }
    }
    for (int64_t j = 0; j < width; j++, o++) {
      if (REDUCE_OP == 2 || REDUCE_OP == 3) {
        if (length == 0) { /* the other end of the type */
          const IN0_T far = _Generic((IN0_T)0, float: INFINITY, double: INFINITY,
                                     default: (IN0_T)((IN0_T)-1 > 0 ? (IN0_T)-1
                                                                    : (IN0_T)(UINT64_MAX >> (65 - 8 * sizeof(IN0_T)))));
          best[j] = REDUCE_OP == 3 ? far : (IN0_T)((IN0_T)-1 > 0 ? 0 : (IN0_T)0.5 != 0 ? -far : -1 - far);
        }
        y[o] = best[j];
      } else if (REDUCE_OP == 1) {
        y[o] = (OUT0_T)(_Generic((OUT0_T)0, float: sum[j] / (ACC)length, double: sum[j] / (ACC)length,
                                 default: (length ? (int64_t)sum[j] / length : 0)));
      } else if (REDUCE_OP == 6) {
        y[o] = (OUT0_T)sqrt((double)sum[j]);
      } else if (REDUCE_OP == 7) {
        y[o] = (OUT0_T)log((double)sum[j]);
      } else if (REDUCE_OP == 8) {
        y[o] = (OUT0_T)(log((double)sum[j]) + (double)high[j]);
      } else {
        y[o] = (OUT0_T)sum[j];
      }
    }
  }
  return 0;
}
#undef ACC
#undef WIDTH
#undef MEET
#undef OVER_GONE
#undef ATTR_noop_with_empty_axes
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef REDUCE_OP
int run_27(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_27(in, out, scratch, begin, end); }
#define NAME plain_28
#define UNITS 3l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int8_t
#define IN0_TYPE 3
#define IN0_RANK 2
#define IN0_COUNT 0l
#define IN0_DIMS {0,3,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 1l
#define IN1_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T int8_t
#define OUT0_TYPE 3
#define OUT0_RANK 2
#define OUT0_COUNT 3l
#define OUT0_DIMS {1,3,}
#define REDUCE_OP 3
/* All reductions; REDUCE_OP: 0 sum, 1 mean, 2 max, 3 min, 4 product, 5 sum of |x|, 6 root of the sum
 * of squares, 7 log of the sum, 8 log of the sum of exp, 9 sum of squares. Axes come from input 1 at
 * run time, or from the attribute; none: all axes. Floats add in double, integers wrap. */
#ifndef ATTR_noop_with_empty_axes
#define ATTR_noop_with_empty_axes 0
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC double
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
#define WIDTH 64
/* The next of n independent sums, products or ends, over the place j of both. */
#define MEET(j, value, high)                                                                     \
  do {                                                                                           \
    const IN0_T a = (value), b = best[j];                                                        \
    const ACC wide = (ACC)a;                                                                     \
    (void)b, (void)wide;                                                                         \
    if (REDUCE_OP == 2) best[j] = a > b || a != a ? a : b;                                       \
    if (REDUCE_OP == 3) best[j] = a < b || a != a ? a : b;                                       \
    if (REDUCE_OP == 4) sum[j] *= wide;                                                          \
    if (REDUCE_OP == 5) sum[j] += a < 0 ? -wide : wide;                                          \
    if (REDUCE_OP == 6 || REDUCE_OP == 9) sum[j] += wide * wide;                                 \
    if (REDUCE_OP == 8) sum[j] += (ACC)exp((double)(wide - (high)));                             \
    if (REDUCE_OP < 2 || REDUCE_OP == 7) sum[j] += wide;                                         \
  } while (0)
/* Runs `statement` for every place of the dimensions that go, but the last n of gone: offset `at`. */
#define OVER_GONE(first_gone, statement)                                   \
  do {                                                                     \
    int64_t at = 0, in_at[17] = {0};                                       \
    for (int64_t r = 0; r < outer_length; r++) {                           \
      statement;                                                           \
      for (int k = (first_gone); k < gone_count; k++) {                    \
        at += gone_step[k];                                                \
        if (++in_at[k] < gone[k]) break;                                   \
        at -= gone_step[k] * gone[k];                                      \
        in_at[k] = 0;                                                      \
      }                                                                    \
    }                                                                      \
  } while (0)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int reduced[17] = {0}, is_given = 0, kept_count = 0, gone_count = 0;
  int64_t kept[17] = {0}, gone[17] = {0}, kept_step[17] = {0}, gone_step[17] = {0};
  int64_t length = 1, step = 1;
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  for (int64_t k = 0; k < IN1_COUNT; k++) {
    int64_t axis = (int64_t)((const IN1_T *)in[1])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    reduced[axis < 0 ? axis + IN0_RANK : axis] = is_given = 1;
  }
#elif defined ATTR_axes
  const int64_t axes[] = ATTR_axes;
  for (int k = 0; k < ATTR_axes_COUNT; k++)
    reduced[axes[k] < 0 ? axes[k] + IN0_RANK : axes[k]] = is_given = 1;
#endif
  int was = -1;
  for (int k = IN0_RANK - 1; k >= 0; k--) { /* from the last on, neighbours of one fate as one */
    const int goes = is_given ? reduced[k] : !ATTR_noop_with_empty_axes;
    int *const count = goes ? &gone_count : &kept_count;
    int64_t *const size = goes ? gone : kept, *const by = goes ? gone_step : kept_step;
    if (goes) length *= dims[k];
    if (dims[k] != 1 || (k == 0 && was < 0)) {
      if (was == goes) {
        size[*count - 1] *= dims[k];
      } else {
        by[*count] = step;
        size[(*count)++] = dims[k];
      }
      was = goes;
    }
    step *= dims[k];
  }
  const int keeps_last = kept_count > 0 && kept_step[0] == 1;
  const int64_t run = !keeps_last && gone_count > 0 ? gone[0] : 1; /* neighbours that go */
  const int64_t outer_length = length == 0 ? 0 : length / run;
  const int first_gone = run > 1 || (gone_count && !keeps_last) ? 1 : 0;
  for (int64_t o = begin; o < end;) {
    int64_t base = 0, rest = o, width = 1;
    for (int k = 0; k < kept_count; rest /= kept[k], k++) base += rest % kept[k] * kept_step[k];
    if (keeps_last) { /* neighbouring results together */
      width = kept[0] - o % kept[0];
      if (width > end - o) width = end - o;
      if (width > WIDTH) width = WIDTH;
    }
    const IN0_T *restrict from = x + base;
    ACC sum[WIDTH], high[WIDTH] = {0};
    IN0_T best[WIDTH];
    for (int64_t j = 0; j < WIDTH; j++) {
      sum[j] = REDUCE_OP == 4 ? 1 : 0;
      best[j] = length ? from[keeps_last && j < width ? j : 0] : 0;
    }
    if (REDUCE_OP == 8 && length) {
      for (int64_t j = 0; j < width; j++) high[j] = (ACC)from[j];
      if (keeps_last)
        OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) high[j] =
                                  (ACC)from[at + j] > high[j] ? (ACC)from[at + j] : high[j]);
      else
        OVER_GONE(first_gone, for (int64_t i = 0; i < run; i++) high[0] =
                                  (ACC)from[at + i] > high[0] ? (ACC)from[at + i] : high[0]);
      for (int64_t j = 0; j < width; j++)
        if ((double)high[j] - (double)high[j] != 0) high[j] = 0; /* infinite */
    }
    if (keeps_last) {
      OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) MEET(j, from[at + j], high[j]));
    } else if (REDUCE_OP != 2 && REDUCE_OP != 3 && REDUCE_OP != 4) { /* a row that goes at a time */
      const ACC top = high[0];
      int64_t at = 0, in_at[17] = {0};
      for (int64_t r = 0; r < outer_length; r++) {
        const IN0_T *restrict row = from + at;
        ACC part = 0;
#pragma omp simd reduction(+ : part)
        for (int64_t i = 0; i < run; i++) {
          const ACC wide = (ACC)row[i];
          part += REDUCE_OP == 5                     ? (row[i] < 0 ? -wide : wide)
                  : REDUCE_OP == 6 || REDUCE_OP == 9 ? wide * wide
                  : REDUCE_OP == 8                   ? (ACC)exp((double)(wide - top))
                                                     : wide;
        }
        sum[0] += part;
        for (int k = first_gone; k < gone_count; k++) {
          at += gone_step[k];
          if (++in_at[k] < gone[k]) break;
          at -= gone_step[k] * gone[k];
          in_at[k] = 0;
        }
      }
    } else { /* WIDTH ends or products of one row, met at its end */
      OVER_GONE(first_gone, for (int64_t i = 0; i < run; i += WIDTH) {
        const int64_t n = run - i < WIDTH ? run - i : WIDTH;
        for (int64_t j = 0; j < n; j++) MEET(j, from[at + i + j], high[0]);
      });
      for (int j = 1; j < WIDTH; j++) {
        if (REDUCE_OP == 2) best[0] = best[j] > best[0] || best[j] != best[j] ? best[j] : best[0];
        if (REDUCE_OP == 3) best[0] = best[j] < best[0] || best[j] != best[j] ? best[j] : best[0];
        sum[0] *= sum[j];
      }
    }
    for (int64_t j = 0; j < width; j++, o++) {
      if (REDUCE_OP == 2 || REDUCE_OP == 3) {
        if (length == 0) { /* the other end of the type */
          const IN0_T far = _Generic((IN0_T)0, float: INFINITY, double: INFINITY,
                                     default: (IN0_T)((IN0_T)-1 > 0 ? (IN0_T)-1
                                                                    : (IN0_T)(UINT64_MAX >> (65 - 8 * sizeof(IN0_T)))));
          best[j] = REDUCE_OP == 3 ? far : (IN0_T)((IN0_T)-1 > 0 ? 0 : (IN0_T)0.5 != 0 ? -far : -1 - far);
        }
        y[o] = best[j];
      } else if (REDUCE_OP == 1) {
        y[o] = (OUT0_T)(_Generic((OUT0_T)0, float: sum[j] / (ACC)length, double: sum[j] / (ACC)length,
                                 default: (length ? (int64_t)sum[j] / length : 0)));
      } else if (REDUCE_OP == 6) {
        y[o] = (OUT0_T)sqrt((double)sum[j]);
      } else if (REDUCE_OP == 7) {
        y[o] = (OUT0_T)log((double)sum[j]);
      } else if (REDUCE_OP == 8) {
        y[o] = (OUT0_T)(log((double)sum[j]) + (double)high[j]);
      } else {
        y[o] = (OUT0_T)sum[j];
      }
    }
  }
  return 0;
}
#undef ACC
#undef WIDTH
#undef MEET
#undef OVER_GONE
#undef ATTR_noop_with_empty_axes
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef REDUCE_OP
int run_28(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_28(in, out, scratch, begin, end); }
#define NAME plain_29
#define UNITS 1l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int64_t
#define IN0_TYPE 7
#define IN0_RANK 1
#define IN0_COUNT 0l
#define IN0_DIMS {0,}
#define OUT0_PRESENT 1
#define OUT0_T int64_t
#define OUT0_TYPE 7
#define OUT0_RANK 1
#define OUT0_COUNT 1l
#define OUT0_DIMS {1,}
#define REDUCE_OP 2
/* All reductions; REDUCE_OP: 0 sum, 1 mean, 2 max, 3 min, 4 product, 5 sum of |x|, 6 root of the sum
 * of squares, 7 log of the sum, 8 log of the sum of exp, 9 sum of squares. Axes come from input 1 at
 * run time, or from the attribute; none: all axes. Floats add in double, integers wrap. */
#ifndef ATTR_noop_with_empty_axes
#define ATTR_noop_with_empty_axes 0
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC double
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
#define WIDTH 64
/* The next of n independent sums, products or ends, over the place j of both. */
#define MEET(j, value, high)                                                                     \
  do {                                                                                           \
    const IN0_T a = (value), b = best[j];                                                        \
    const ACC wide = (ACC)a;                                                                     \
    (void)b, (void)wide;                                                                         \
    if (REDUCE_OP == 2) best[j] = a > b || a != a ? a : b;                                       \
    if (REDUCE_OP == 3) best[j] = a < b || a != a ? a : b;                                       \
    if (REDUCE_OP == 4) sum[j] *= wide;                                                          \
    if (REDUCE_OP == 5) sum[j] += a < 0 ? -wide : wide;                                          \
    if (REDUCE_OP == 6 || REDUCE_OP == 9) sum[j] += wide * wide;                                 \
    if (REDUCE_OP == 8) sum[j] += (ACC)exp((double)(wide - (high)));                             \
    if (REDUCE_OP < 2 || REDUCE_OP == 7) sum[j] += wide;                                         \
  } while (0)
/* Runs `statement` for every place of the dimensions that go, but the last n of gone: offset `at`. */
#define OVER_GONE(first_gone, statement)                                   \
  do {                                                                     \
    int64_t at = 0, in_at[17] = {0};                                       \
    for (int64_t r = 0; r < outer_length; r++) {                           \
      statement;                                                           \
      for (int k = (first_gone); k < gone_count; k++) {                    \
        at += gone_step[k];                                                \
        if (++in_at[k] < gone[k]) break;                                   \
        at -= gone_step[k] * gone[k];                                      \
        in_at[k] = 0;                                                      \
      }                                                                    \
    }                                                                      \
  } while (0)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int reduced[17] = {0}, is_given = 0, kept_count = 0, gone_count = 0;
  int64_t kept[17] = {0}, gone[17] = {0}, kept_step[17] = {0}, gone_step[17] = {0};
  int64_t length = 1, step = 1;
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  for (int64_t k = 0; k < IN1_COUNT; k++) {
    int64_t axis = (int64_t)((const IN1_T *)in[1])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    reduced[axis < 0 ? axis + IN0_RANK : axis] = is_given = 1;
  }
#elif defined ATTR_axes
  const int64_t axes[] = ATTR_axes;
  for (int k = 0; k < ATTR_axes_COUNT; k++)
    reduced[axes[k] < 0 ? axes[k] + IN0_RANK : axes[k]] = is_given = 1;
#endif
  int was = -1;
  for (int k = IN0_RANK - 1; k >= 0; k--) { /* from the last on, neighbours of one fate as one */
    const int goes = is_given ? reduced[k] : !ATTR_noop_with_empty_axes;
    int *const count = goes ? &gone_count : &kept_count;
    int64_t *const size = goes ? gone : kept, *const by = goes ? gone_step : kept_step;
    if (goes) length *= dims[k];
    if (dims[k] != 1 || (k == 0 && was < 0)) {
      if (was == goes) {
        size[*count - 1] *= dims[k];
      } else {
        by[*count] = step;
        size[(*count)++] = dims[k];
      }
      was = goes;
    }
    step *= dims[k];
  }
  const int keeps_last = kept_count > 0 && kept_step[0] == 1;
  const int64_t run = !keeps_last && gone_count > 0 ? gone[0] : 1; /* neighbours that go */
  const int64_t outer_length = length == 0 ? 0 : length / run;
  const int first_gone = run > 1 || (gone_count && !keeps_last) ? 1 : 0;
  for (int64_t o = begin; o < end;) {
    int64_t base = 0, rest = o, width = 1;
    for (int k = 0; k < kept_count; rest /= kept[k], k++) base += rest % kept[k] * kept_step[k];
    if (keeps_last) { /* neighbouring results together */
      width = kept[0] - o % kept[0];
      if (width > end - o) width = end - o;
      if (width > WIDTH) width = WIDTH;
    }
    const IN0_T *restrict from = x + base;
    ACC sum[WIDTH], high[WIDTH] = {0};
    IN0_T best[WIDTH];
    for (int64_t j = 0; j < WIDTH; j++) {
      sum[j] = REDUCE_OP == 4 ? 1 : 0;
      best[j] = length ? from[keeps_last && j < width ? j : 0] : 0;
    }
    if (REDUCE_OP == 8 && length) {
      for (int64_t j = 0; j < width; j++) high[j] = (ACC)from[j];
      if (keeps_last)
        OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) high[j] =
                                  (ACC)from[at + j] > high[j] ? (ACC)from[at + j] : high[j]);
      else
        OVER_GONE(first_gone, for (int64_t i = 0; i < run; i++) high[0] =
                                  (ACC)from[at + i] > high[0] ? (ACC)from[at + i] : high[0]);
      for (int64_t j = 0; j < width; j++)
        if ((double)high[j] - (double)high[j] != 0) high[j] = 0; /* infinite */
    }
    if (keeps_last) {
      OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) MEET(j, from[at + j], high[j]));
    } else if (REDUCE_OP != 2 && REDUCE_OP != 3 && REDUCE_OP != 4) { /* a row that goes at a time */
      const ACC top = high[0];
      int64_t at = 0, in_at[17] = {0};
      for (int64_t r = 0; r < outer_length; r++) {
        const IN0_T *restrict row = from + at;
        ACC part = 0;
#pragma omp simd reduction(+ : part)
        for (int64_t i = 0; i < run; i++) {
          const ACC wide = (ACC)row[i];
          part += REDUCE_OP == 5                     ? (row[i] < 0 ? -wide : wide)
                  : REDUCE_OP == 6 || REDUCE_OP == 9 ? wide * wide
                  : REDUCE_OP == 8                   ? (ACC)exp((double)(wide - top))
                                                     : wide;
        }
        sum[0] += part;
        for (int k = first_gone; k < gone_count; k++) {
          at += gone_step[k];
          if (++in_at[k] < gone[k]) break;
          at -= gone_step[k] * gone[k];
          in_at[k] = 0;
        }
      }
    } else { /* WIDTH ends or products of one row, met at its end */
      OVER_GONE(first_gone, for (int64_t i = 0; i < run; i += WIDTH) {
        const int64_t n = run - i < WIDTH ? run - i : WIDTH;
        for (int64_t j = 0; j < n; j++) MEET(j, from[at + i + j], high[0]);
      });
      for (int j = 1; j < WIDTH; j++) {
        if (REDUCE_OP == 2) best[0] = best[j] > best[0] || best[j] != best[j] ? best[j] : best[0];
        if (REDUCE_OP == 3) best[0] = best[j] < best[0] || best[j] != best[j] ? best[j] : best[0];
        sum[0] *= sum[j];
      }
    }
    for (int64_t j = 0; j < width; j++, o++) {
      if (REDUCE_OP == 2 || REDUCE_OP == 3) {
        if (length == 0) { /* the other end of the type */
          const IN0_T far = _Generic((IN0_T)0, float: INFINITY, double: INFINITY,
                                     default: (IN0_T)((IN0_T)-1 > 0 ? (IN0_T)-1
                                                                    : (IN0_T)(UINT64_MAX >> (65 - 8 * sizeof(IN0_T)))));
          best[j] = REDUCE_OP == 3 ? far : (IN0_T)((IN0_T)-1 > 0 ? 0 : (IN0_T)0.5 != 0 ? -far : -1 - far);
        }
        y[o] = best[j];
      } else if (REDUCE_OP == 1) {
        y[o] = (OUT0_T)(_Generic((OUT0_T)0, float: sum[j] / (ACC)length, double: sum[j] / (ACC)length,
                                 default: (length ? (int64_t)sum[j] / length : 0)));
      } else if (REDUCE_OP == 6) {
        y[o] = (OUT0_T)sqrt((double)sum[j]);
      } else if (REDUCE_OP == 7) {
        y[o] = (OUT0_T)log((double)sum[j]);
      } else if (REDUCE_OP == 8) {
        y[o] = (OUT0_T)(log((double)sum[j]) + (double)high[j]);
      } else {
        y[o] = (OUT0_T)sum[j];
      }
    }
  }
  return 0;
}
#undef ACC
#undef WIDTH
#undef MEET
#undef OVER_GONE
#undef ATTR_noop_with_empty_axes
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef REDUCE_OP
int run_29(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_29(in, out, scratch, begin, end); }
#define NAME plain_30
#define UNITS 1l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T uint8_t
#define IN0_TYPE 2
#define IN0_RANK 2
#define IN0_COUNT 0l
#define IN0_DIMS {0,1,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 1l
#define IN1_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T uint8_t
#define OUT0_TYPE 2
#define OUT0_RANK 2
#define OUT0_COUNT 1l
#define OUT0_DIMS {1,1,}
#define REDUCE_OP 2
/* All reductions; REDUCE_OP: 0 sum, 1 mean, 2 max, 3 min, 4 product, 5 sum of |x|, 6 root of the sum
 * of squares, 7 log of the sum, 8 log of the sum of exp, 9 sum of squares. Axes come from input 1 at
 * run time, or from the attribute; none: all axes. Floats add in double, integers wrap. */
#ifndef ATTR_noop_with_empty_axes
#define ATTR_noop_with_empty_axes 0
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC double
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
#define WIDTH 64
/* The next of n independent sums, products or ends, over the place j of both. */
#define MEET(j, value, high)                                                                     \
  do {                                                                                           \
    const IN0_T a = (value), b = best[j];                                                        \
    const ACC wide = (ACC)a;                                                                     \
    (void)b, (void)wide;                                                                         \
    if (REDUCE_OP == 2) best[j] = a > b || a != a ? a : b;                                       \
    if (REDUCE_OP == 3) best[j] = a < b || a != a ? a : b;                                       \
    if (REDUCE_OP == 4) sum[j] *= wide;                                                          \
    if (REDUCE_OP == 5) sum[j] += a < 0 ? -wide : wide;                                          \
    if (REDUCE_OP == 6 || REDUCE_OP == 9) sum[j] += wide * wide;                                 \
    if (REDUCE_OP == 8) sum[j] += (ACC)exp((double)(wide - (high)));                             \
    if (REDUCE_OP < 2 || REDUCE_OP == 7) sum[j] += wide;                                         \
  } while (0)
/* Runs `statement` for every place of the dimensions that go, but the last n of gone: offset `at`. */
#define OVER_GONE(first_gone, statement)                                   \
  do {                                                                     \
    int64_t at = 0, in_at[17] = {0};                                       \
    for (int64_t r = 0; r < outer_length; r++) {                           \
      statement;                                                           \
      for (int k = (first_gone); k < gone_count; k++) {                    \
        at += gone_step[k];                                                \
        if (++in_at[k] < gone[k]) break;                                   \
        at -= gone_step[k] * gone[k];                                      \
        in_at[k] = 0;                                                      \
      }                                                                    \
    }                                                                      \
  } while (0)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int reduced[17] = {0}, is_given = 0, kept_count = 0, gone_count = 0;
  int64_t kept[17] = {0}, gone[17] = {0}, kept_step[17] = {0}, gone_step[17] = {0};
  int64_t length = 1, step = 1;
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  for (int64_t k = 0; k < IN1_COUNT; k++) {
    int64_t axis = (int64_t)((const IN1_T *)in[1])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    reduced[axis < 0 ? axis + IN0_RANK : axis] = is_given = 1;
  }
#elif defined ATTR_axes
  const int64_t axes[] = ATTR_axes;
  for (int k = 0; k < ATTR_axes_COUNT; k++)
    reduced[axes[k] < 0 ? axes[k] + IN0_RANK : axes[k]] = is_given = 1;
#endif
  int was = -1;
  for (int k = IN0_RANK - 1; k >= 0; k--) { /* from the last on, neighbours of one fate as one */
    const int goes = is_given ? reduced[k] : !ATTR_noop_with_empty_axes;
    int *const count = goes ? &gone_count : &kept_count;
    int64_t *const size = goes ? gone : kept, *const by = goes ? gone_step : kept_step;
    if (goes) length *= dims[k];
    if (dims[k] != 1 || (k == 0 && was < 0)) {
      if (was == goes) {
        size[*count - 1] *= dims[k];
      } else {
        by[*count] = step;
        size[(*count)++] = dims[k];
      }
      was = goes;
    }
    step *= dims[k];
  }
  const int keeps_last = kept_count > 0 && kept_step[0] == 1;
  const int64_t run = !keeps_last && gone_count > 0 ? gone[0] : 1; /* neighbours that go */
  const int64_t outer_length = length == 0 ? 0 : length / run;
  const int first_gone = run > 1 || (gone_count && !keeps_last) ? 1 : 0;
  for (int64_t o = begin; o < end;) {
    int64_t base = 0, rest = o, width = 1;
    for (int k = 0; k < kept_count; rest /= kept[k], k++) base += rest % kept[k] * kept_step[k];
    if (keeps_last) { /* neighbouring results together */
      width = kept[0] - o % kept[0];
      if (width > end - o) width = end - o;
      if (width > WIDTH) width = WIDTH;
    }
    const IN0_T *restrict from = x + base;
    ACC sum[WIDTH], high[WIDTH] = {0};
    IN0_T best[WIDTH];
    for (int64_t j = 0; j < WIDTH; j++) {
      sum[j] = REDUCE_OP == 4 ? 1 : 0;
      best[j] = length ? from[keeps_last && j < width ? j : 0] : 0;
    }
    if (REDUCE_OP == 8 && length) {
      for (int64_t j = 0; j < width; j++) high[j] = (ACC)from[j];
      if (keeps_last)
        OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) high[j] =
                                  (ACC)from[at + j] > high[j] ? (ACC)from[at + j] : high[j]);
      else
        OVER_GONE(first_gone, for (int64_t i = 0; i < run; i++) high[0] =
                                  (ACC)from[at + i] > high[0] ? (ACC)from[at + i] : high[0]);
      for (int64_t j = 0; j < width; j++)
        if ((double)high[j] - (double)high[j] != 0) high[j] = 0; /* infinite */
    }
    if (keeps_last) {
      OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) MEET(j, from[at + j], high[j]));
    } else if (REDUCE_OP != 2 && REDUCE_OP != 3 && REDUCE_OP != 4) { /* a row that goes at a time */
      const ACC top = high[0];
      int64_t at = 0, in_at[17] = {0};
      for (int64_t r = 0; r < outer_length; r++) {
        const IN0_T *restrict row = from + at;
        ACC part = 0;
#pragma omp simd reduction(+ : part)
        for (int64_t i = 0; i < run; i++) {
          const ACC wide = (ACC)row[i];
          part += REDUCE_OP == 5                     ? (row[i] < 0 ? -wide : wide)
                  : REDUCE_OP == 6 || REDUCE_OP == 9 ? wide * wide
                  : REDUCE_OP == 8                   ? (ACC)exp((double)(wide - top))
                                                     : wide;
        }
        sum[0] += part;
        for (int k = first_gone; k < gone_count; k++) {
          at += gone_step[k];
          if (++in_at[k] < gone[k]) break;
          at -= gone_step[k] * gone[k];
          in_at[k] = 0;
        }
      }
    } else { /* WIDTH ends or products of one row, met at its end */
      OVER_GONE(first_gone, for (int64_t i = 0; i < run; i += WIDTH) {
        const int64_t n = run - i < WIDTH ? run - i : WIDTH;
        for (int64_t j = 0; j < n; j++) MEET(j, from[at + i + j], high[0]);
      });
      for (int j = 1; j < WIDTH; j++) {
        if (REDUCE_OP == 2) best[0] = best[j] > best[0] || best[j] != best[j] ? best[j] : best[0];
        if (REDUCE_OP == 3) best[0] = best[j] < best[0] || best[j] != best[j] ? best[j] : best[0];
        sum[0] *= sum[j];
      }
    }
    for (int64_t j = 0; j < width; j++, o++) {
      if (REDUCE_OP == 2 || REDUCE_OP == 3) {
        if (length == 0) { /* the other end of the type */
          const IN0_T far = _Generic((IN0_T)0, float: INFINITY, double: INFINITY,
                                     default: (IN0_T)((IN0_T)-1 > 0 ? (IN0_T)-1
                                                                    : (IN0_T)(UINT64_MAX >> (65 - 8 * sizeof(IN0_T)))));
          best[j] = REDUCE_OP == 3 ? far : (IN0_T)((IN0_T)-1 > 0 ? 0 : (IN0_T)0.5 != 0 ? -far : -1 - far);
        }
        y[o] = best[j];
      } else if (REDUCE_OP == 1) {
        y[o] = (OUT0_T)(_Generic((OUT0_T)0, float: sum[j] / (ACC)length, double: sum[j] / (ACC)length,
                                 default: (length ? (int64_t)sum[j] / length : 0)));
      } else if (REDUCE_OP == 6) {
        y[o] = (OUT0_T)sqrt((double)sum[j]);
      } else if (REDUCE_OP == 7) {
        y[o] = (OUT0_T)log((double)sum[j]);
      } else if (REDUCE_OP == 8) {
        y[o] = (OUT0_T)(log((double)sum[j]) + (double)high[j]);
      } else {
        y[o] = (OUT0_T)sum[j];
      }
    }
  }
  return 0;
}
#undef ACC
#undef WIDTH
#undef MEET
#undef OVER_GONE
#undef ATTR_noop_with_empty_axes
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef REDUCE_OP
int run_30(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_30(in, out, scratch, begin, end); }
#define NAME plain_31
#define UNITS 3l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {2,3,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 1l
#define IN1_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 3l
#define OUT0_DIMS {1,3,}
#define REDUCE_OP 5
/* All reductions; REDUCE_OP: 0 sum, 1 mean, 2 max, 3 min, 4 product, 5 sum of |x|, 6 root of the sum
 * of squares, 7 log of the sum, 8 log of the sum of exp, 9 sum of squares. Axes come from input 1 at
 * run time, or from the attribute; none: all axes. Floats add in double, integers wrap. */
#ifndef ATTR_noop_with_empty_axes
#define ATTR_noop_with_empty_axes 0
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC double
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
#define WIDTH 64
/* The next of n independent sums, products or ends, over the place j of both. */
#define MEET(j, value, high)                                                                     \
  do {                                                                                           \
    const IN0_T a = (value), b = best[j];                                                        \
    const ACC wide = (ACC)a;                                                                     \
    (void)b, (void)wide;                                                                         \
    if (REDUCE_OP == 2) best[j] = a > b || a != a ? a : b;                                       \
    if (REDUCE_OP == 3) best[j] = a < b || a != a ? a : b;                                       \
    if (REDUCE_OP == 4) sum[j] *= wide;                                                          \
    if (REDUCE_OP == 5) sum[j] += a < 0 ? -wide : wide;                                          \
    if (REDUCE_OP == 6 || REDUCE_OP == 9) sum[j] += wide * wide;                                 \
    if (REDUCE_OP == 8) sum[j] += (ACC)exp((double)(wide - (high)));                             \
    if (REDUCE_OP < 2 || REDUCE_OP == 7) sum[j] += wide;                                         \
  } while (0)
/* Runs `statement` for every place of the dimensions that go, but the last n of gone: offset `at`. */
#define OVER_GONE(first_gone, statement)                                   \
  do {                                                                     \
    int64_t at = 0, in_at[17] = {0};                                       \
    for (int64_t r = 0; r < outer_length; r++) {                           \
      statement;                                                           \
      for (int k = (first_gone); k < gone_count; k++) {                    \
        at += gone_step[k];                                                \
        if (++in_at[k] < gone[k]) break;                                   \
        at -= gone_step[k] * gone[k];                                      \
        in_at[k] = 0;                                                      \
      }                                                                    \
    }                                                                      \
  } while (0)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int reduced[17] = {0}, is_given = 0, kept_count = 0, gone_count = 0;
  int64_t kept[17] = {0}, gone[17] = {0}, kept_step[17] = {0}, gone_step[17] = {0};
  int64_t length = 1, step = 1;
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  for (int64_t k = 0; k < IN1_COUNT; k++) {
    int64_t axis = (int64_t)((const IN1_T *)in[1])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    reduced[axis < 0 ? axis + IN0_RANK : axis] = is_given = 1;
  }
#elif defined ATTR_axes
  const int64_t axes[] = ATTR_axes;
  for (int k = 0; k < ATTR_axes_COUNT; k++)
    reduced[axes[k] < 0 ? axes[k] + IN0_RANK : axes[k]] = is_given = 1;
#endif
  int was = -1;
  for (int k = IN0_RANK - 1; k >= 0; k--) { /* from the last on, neighbours of one fate as one */
    const int goes = is_given ? reduced[k] : !ATTR_noop_with_empty_axes;
    int *const count = goes ? &gone_count : &kept_count;
    int64_t *const size = goes ? gone : kept, *const by = goes ? gone_step : kept_step;
    if (goes) length *= dims[k];
    if (dims[k] != 1 || (k == 0 && was < 0)) {
      if (was == goes) {
        size[*count - 1] *= dims[k];
      } else {
        by[*count] = step;
        size[(*count)++] = dims[k];
      }
      was = goes;
    }
    step *= dims[k];
  }
  const int keeps_last = kept_count > 0 && kept_step[0] == 1;
  const int64_t run = !keeps_last && gone_count > 0 ? gone[0] : 1; /* neighbours that go */
  const int64_t outer_length = length == 0 ? 0 : length / run;
  const int first_gone = run > 1 || (gone_count && !keeps_last) ? 1 : 0;
  for (int64_t o = begin; o < end;) {
    int64_t base = 0, rest = o, width = 1;
    for (int k = 0; k < kept_count; rest /= kept[k], k++) base += rest % kept[k] * kept_step[k];
    if (keeps_last) { /* neighbouring results together */
      width = kept[0] - o % kept[0];
      if (width > end - o) width = end - o;
      if (width > WIDTH) width = WIDTH;
    }
    const IN0_T *restrict from = x + base;
    ACC sum[WIDTH], high[WIDTH] = {0};
    IN0_T best[WIDTH];
    for (int64_t j = 0; j < WIDTH; j++) {
      sum[j] = REDUCE_OP == 4 ? 1 : 0;
      best[j] = length ? from[keeps_last && j < width ? j : 0] : 0;
    }
    if (REDUCE_OP == 8 && length) {
      for (int64_t j = 0; j < width; j++) high[j] = (ACC)from[j];
      if (keeps_last)
        OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) high[j] =
                                  (ACC)from[at + j] > high[j] ? (ACC)from[at + j] : high[j]);
      else
        OVER_GONE(first_gone, for (int64_t i = 0; i < run; i++) high[0] =
                                  (ACC)from[at + i] > high[0] ? (ACC)from[at + i] : high[0]);
      for (int64_t j = 0; j < width; j++)
        if ((double)high[j] - (double)high[j] != 0) high[j] = 0; /* infinite */
    }
    if (keeps_last) {
      OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) MEET(j, from[at + j], high[j]));
    } else if (REDUCE_OP != 2 && REDUCE_OP != 3 && REDUCE_OP != 4) { /* a row that goes at a time */
      const ACC top = high[0];
      int64_t at = 0, in_at[17] = {0};
      for (int64_t r = 0; r < outer_length; r++) {
        const IN0_T *restrict row = from + at;
        ACC part = 0;
#pragma omp simd reduction(+ : part)
        for (int64_t i = 0; i < run; i++) {
          const ACC wide = (ACC)row[i];
          part += REDUCE_OP == 5                     ? (row[i] < 0 ? -wide : wide)
                  : REDUCE_OP == 6 || REDUCE_OP == 9 ? wide * wide
                  : REDUCE_OP == 8                   ? (ACC)exp((double)(wide - top))
                                                     : wide;
        }
        sum[0] += part;
        for (int k = first_gone; k < gone_count; k++) {
          at += gone_step[k];
          if (++in_at[k] < gone[k]) break;
          at -= gone_step[k] * gone[k];
          in_at[k] = 0;
        }
      }
    } else { /* WIDTH ends or products of one row, met at its end */
      OVER_GONE(first_gone, for (int64_t i = 0; i < run; i += WIDTH) {
        const int64_t n = run - i < WIDTH ? run - i : WIDTH;
        for (int64_t j = 0; j < n; j++) MEET(j, from[at + i + j], high[0]);
      });
      for (int j = 1; j < WIDTH; j++) {
        if (REDUCE_OP == 2) best[0] = best[j] > best[0] || best[j] != best[j] ? best[j] : best[0];
        if (REDUCE_OP == 3) best[0] = best[j] < best[0] || best[j] != best[j] ? best[j] : best[0];
        sum[0] *= sum[j];
      }
    }
    for (int64_t j = 0; j < width; j++, o++) {
      if (REDUCE_OP == 2 || REDUCE_OP == 3) {
        if (length == 0) { /* the other end of the type */
          const IN0_T far = _Generic((IN0_T)0, float: INFINITY, double: INFINITY,
                                     default: (IN0_T)((IN0_T)-1 > 0 ? (IN0_T)-1
                                                                    : (IN0_T)(UINT64_MAX >> (65 - 8 * sizeof(IN0_T)))));
          best[j] = REDUCE_OP == 3 ? far : (IN0_T)((IN0_T)-1 > 0 ? 0 : (IN0_T)0.5 != 0 ? -far : -1 - far);
        }
        y[o] = best[j];
      } else if (REDUCE_OP == 1) {
        y[o] = (OUT0_T)(_Generic((OUT0_T)0, float: sum[j] / (ACC)length, double: sum[j] / (ACC)length,
                                 default: (length ? (int64_t)sum[j] / length : 0)));
      } else if (REDUCE_OP == 6) {
        y[o] = (OUT0_T)sqrt((double)sum[j]);
      } else if (REDUCE_OP == 7) {
        y[o] = (OUT0_T)log((double)sum[j]);
      } else if (REDUCE_OP == 8) {
        y[o] = (OUT0_T)(log((double)sum[j]) + (double)high[j]);
      } else {
        y[o] = (OUT0_T)sum[j];
      }
    }
  }
  return 0;
}
#undef ACC
#undef WIDTH
#undef MEET
#undef OVER_GONE
#undef ATTR_noop_with_empty_axes
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef REDUCE_OP
int run_31(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_31(in, out, scratch, begin, end); }
#define NAME plain_32
#define UNITS 2l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {2,3,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 1l
#define IN1_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 2l
#define OUT0_DIMS {2,1,}
#define REDUCE_OP 6
/* All reductions; REDUCE_OP: 0 sum, 1 mean, 2 max, 3 min, 4 product, 5 sum of |x|, 6 root of the sum
 * of squares, 7 log of the sum, 8 log of the sum of exp, 9 sum of squares. Axes come from input 1 at
 * run time, or from the attribute; none: all axes. Floats add in double, integers wrap. */
#ifndef ATTR_noop_with_empty_axes
#define ATTR_noop_with_empty_axes 0
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC double
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
#define WIDTH 64
/* The next of n independent sums, products or ends, over the place j of both. */
#define MEET(j, value, high)                                                                     \
  do {                                                                                           \
    const IN0_T a = (value), b = best[j];                                                        \
    const ACC wide = (ACC)a;                                                                     \
    (void)b, (void)wide;                                                                         \
    if (REDUCE_OP == 2) best[j] = a > b || a != a ? a : b;                                       \
    if (REDUCE_OP == 3) best[j] = a < b || a != a ? a : b;                                       \
    if (REDUCE_OP == 4) sum[j] *= wide;                                                          \
    if (REDUCE_OP == 5) sum[j] += a < 0 ? -wide : wide;                                          \
    if (REDUCE_OP == 6 || REDUCE_OP == 9) sum[j] += wide * wide;                                 \
    if (REDUCE_OP == 8) sum[j] += (ACC)exp((double)(wide - (high)));                             \
    if (REDUCE_OP < 2 || REDUCE_OP == 7) sum[j] += wide;                                         \
  } while (0)
/* Runs `statement` for every place of the dimensions that go, but the last n of gone: offset `at`. */
#define OVER_GONE(first_gone, statement)                                   \
  do {                                                                     \
    int64_t at = 0, in_at[17] = {0};                                       \
    for (int64_t r = 0; r < outer_length; r++) {                           \
      statement;                                                           \
      for (int k = (first_gone); k < gone_count; k++) {                    \
        at += gone_step[k];                                                \
        if (++in_at[k] < gone[k]) break;                                   \
        at -= gone_step[k] * gone[k];                                      \
        in_at[k] = 0;                                                      \
      }                                                                    \
    }                                                                      \
  } while (0)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int reduced[17] = {0}, is_given = 0, kept_count = 0, gone_count = 0;
  int64_t kept[17] = {0}, gone[17] = {0}, kept_step[17] = {0}, gone_step[17] = {0};
  int64_t length = 1, step = 1;
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  for (int64_t k = 0; k < IN1_COUNT; k++) {
    int64_t axis = (int64_t)((const IN1_T *)in[1])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    reduced[axis < 0 ? axis + IN0_RANK : axis] = is_given = 1;
  }
#elif defined ATTR_axes
  const int64_t axes[] = ATTR_axes;
  for (int k = 0; k < ATTR_axes_COUNT; k++)
    reduced[axes[k] < 0 ? axes[k] + IN0_RANK : axes[k]] = is_given = 1;
#endif
  int was = -1;
  for (int k = IN0_RANK - 1; k >= 0; k--) { /* from the last on, neighbours of one fate as one */
    const int goes = is_given ? reduced[k] : !ATTR_noop_with_empty_axes;
    int *const count = goes ? &gone_count : &kept_count;
    int64_t *const size = goes ? gone : kept, *const by = goes ? gone_step : kept_step;
    if (goes) length *= dims[k];
    if (dims[k] != 1 || (k == 0 && was < 0)) {
      if (was == goes) {
        size[*count - 1] *= dims[k];
      } else {
        by[*count] = step;
        size[(*count)++] = dims[k];
      }
      was = goes;
    }
    step *= dims[k];
  }
  const int keeps_last = kept_count > 0 && kept_step[0] == 1;
  const int64_t run = !keeps_last && gone_count > 0 ? gone[0] : 1; /* neighbours that go */
  const int64_t outer_length = length == 0 ? 0 : length / run;
  const int first_gone = run > 1 || (gone_count && !keeps_last) ? 1 : 0;
  for (int64_t o = begin; o < end;) {
    int64_t base = 0, rest = o, width = 1;
    for (int k = 0; k < kept_count; rest /= kept[k], k++) base += rest % kept[k] * kept_step[k];
    if (keeps_last) { /* neighbouring results together */
      width = kept[0] - o % kept[0];
      if (width > end - o) width = end - o;
      if (width > WIDTH) width = WIDTH;
    }
    const IN0_T *restrict from = x + base;
    ACC sum[WIDTH], high[WIDTH] = {0};
    IN0_T best[WIDTH];
    for (int64_t j = 0; j < WIDTH; j++) {
      sum[j] = REDUCE_OP == 4 ? 1 : 0;
      best[j] = length ? from[keeps_last && j < width ? j : 0] : 0;
    }
    if (REDUCE_OP == 8 && length) {
      for (int64_t j = 0; j < width; j++) high[j] = (ACC)from[j];
      if (keeps_last)
        OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) high[j] =
                                  (ACC)from[at + j] > high[j] ? (ACC)from[at + j] : high[j]);
      else
        OVER_GONE(first_gone, for (int64_t i = 0; i < run; i++) high[0] =
                                  (ACC)from[at + i] > high[0] ? (ACC)from[at + i] : high[0]);
      for (int64_t j = 0; j < width; j++)
        if ((double)high[j] - (double)high[j] != 0) high[j] = 0; /* infinite */
    }
    if (keeps_last) {
      OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) MEET(j, from[at + j], high[j]));
    } else if (REDUCE_OP != 2 && REDUCE_OP != 3 && REDUCE_OP != 4) { /* a row that goes at a time */
      const ACC top = high[0];
      int64_t at = 0, in_at[17] = {0};
      for (int64_t r = 0; r < outer_length; r++) {
        const IN0_T *restrict row = from + at;
        ACC part = 0;
#pragma omp simd reduction(+ : part)
        for (int64_t i = 0; i < run; i++) {
          const ACC wide = (ACC)row[i];
          part += REDUCE_OP == 5                     ? (row[i] < 0 ? -wide : wide)
                  : REDUCE_OP == 6 || REDUCE_OP == 9 ? wide * wide
                  : REDUCE_OP == 8                   ? (ACC)exp((double)(wide - top))
                                                     : wide;
        }
        sum[0] += part;
        for (int k = first_gone; k < gone_count; k++) {
          at += gone_step[k];
          if (++in_at[k] < gone[k]) break;
          at -= gone_step[k] * gone[k];
          in_at[k] = 0;
        }
      }
    } else { /* WIDTH ends or products of one row, met at its end */
      OVER_GONE(first_gone, for (int64_t i = 0; i < run; i += WIDTH) {
        const int64_t n = run - i < WIDTH ? run - i : WIDTH;
        for (int64_t j = 0; j < n; j++) MEET(j, from[at + i + j], high[0]);
      });
      for (int j = 1; j < WIDTH; j++) {
        if (REDUCE_OP == 2) best[0] = best[j] > best[0] || best[j] != best[j] ? best[j] : best[0];
        if (REDUCE_OP == 3) best[0] = best[j] < best[0] || best[j] != best[j] ? best[j] : best[0];
        sum[0] *= sum[j];
      }
    }
    for (int64_t j = 0; j < width; j++, o++) {
      if (REDUCE_OP == 2 || REDUCE_OP == 3) {
        if (length == 0) { /* the other end of the type */
          const IN0_T far = _Generic((IN0_T)0, float: INFINITY, double: INFINITY,
                                     default: (IN0_T)((IN0_T)-1 > 0 ? (IN0_T)-1
                                                                    : (IN0_T)(UINT64_MAX >> (65 - 8 * sizeof(IN0_T)))));
          best[j] = REDUCE_OP == 3 ? far : (IN0_T)((IN0_T)-1 > 0 ? 0 : (IN0_T)0.5 != 0 ? -far : -1 - far);
        }
        y[o] = best[j];
      } else if (REDUCE_OP == 1) {
        y[o] = (OUT0_T)(_Generic((OUT0_T)0, float: sum[j] / (ACC)length, double: sum[j] / (ACC)length,
                                 default: (length ? (int64_t)sum[j] / length : 0)));
      } else if (REDUCE_OP == 6) {
        y[o] = (OUT0_T)sqrt((double)sum[j]);
      } else if (REDUCE_OP == 7) {
        y[o] = (OUT0_T)log((double)sum[j]);
      } else if (REDUCE_OP == 8) {
        y[o] = (OUT0_T)(log((double)sum[j]) + (double)high[j]);
      } else {
        y[o] = (OUT0_T)sum[j];
      }
    }
  }
  return 0;
}
#undef ACC
#undef WIDTH
#undef MEET
#undef OVER_GONE
#undef ATTR_noop_with_empty_axes
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef REDUCE_OP
int run_32(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_32(in, out, scratch, begin, end); }
#define NAME plain_33
#define UNITS 2l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {2,3,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 1l
#define IN1_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 2l
#define OUT0_DIMS {2,1,}
#define REDUCE_OP 8
/* All reductions; REDUCE_OP: 0 sum, 1 mean, 2 max, 3 min, 4 product, 5 sum of |x|, 6 root of the sum
 * of squares, 7 log of the sum, 8 log of the sum of exp, 9 sum of squares. Axes come from input 1 at
 * run time, or from the attribute; none: all axes. Floats add in double, integers wrap. */
#ifndef ATTR_noop_with_empty_axes
#define ATTR_noop_with_empty_axes 0
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC double
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
#define WIDTH 64
/* The next of n independent sums, products or ends, over the place j of both. */
#define MEET(j, value, high)                                                                     \
  do {                                                                                           \
    const IN0_T a = (value), b = best[j];                                                        \
    const ACC wide = (ACC)a;                                                                     \
    (void)b, (void)wide;                                                                         \
    if (REDUCE_OP == 2) best[j] = a > b || a != a ? a : b;                                       \
    if (REDUCE_OP == 3) best[j] = a < b || a != a ? a : b;                                       \
    if (REDUCE_OP == 4) sum[j] *= wide;                                                          \
    if (REDUCE_OP == 5) sum[j] += a < 0 ? -wide : wide;                                          \
    if (REDUCE_OP == 6 || REDUCE_OP == 9) sum[j] += wide * wide;                                 \
    if (REDUCE_OP == 8) sum[j] += (ACC)exp((double)(wide - (high)));                             \
    if (REDUCE_OP < 2 || REDUCE_OP == 7) sum[j] += wide;                                         \
  } while (0)
/* Runs `statement` for every place of the dimensions that go, but the last n of gone: offset `at`. */
#define OVER_GONE(first_gone, statement)                                   \
  do {                                                                     \
    int64_t at = 0, in_at[17] = {0};                                       \
    for (int64_t r = 0; r < outer_length; r++) {                           \
      statement;                                                           \
      for (int k = (first_gone); k < gone_count; k++) {                    \
        at += gone_step[k];                                                \
        if (++in_at[k] < gone[k]) break;                                   \
        at -= gone_step[k] * gone[k];                                      \
        in_at[k] = 0;                                                      \
      }                                                                    \
    }                                                                      \
  } while (0)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int reduced[17] = {0}, is_given = 0, kept_count = 0, gone_count = 0;
  int64_t kept[17] = {0}, gone[17] = {0}, kept_step[17] = {0}, gone_step[17] = {0};
  int64_t length = 1, step = 1;
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  for (int64_t k = 0; k < IN1_COUNT; k++) {
    int64_t axis = (int64_t)((const IN1_T *)in[1])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    reduced[axis < 0 ? axis + IN0_RANK : axis] = is_given = 1;
  }
#elif defined ATTR_axes
  const int64_t axes[] = ATTR_axes;
  for (int k = 0; k < ATTR_axes_COUNT; k++)
    reduced[axes[k] < 0 ? axes[k] + IN0_RANK : axes[k]] = is_given = 1;
#endif
  int was = -1;
  for (int k = IN0_RANK - 1; k >= 0; k--) { /* from the last on, neighbours of one fate as one */
    const int goes = is_given ? reduced[k] : !ATTR_noop_with_empty_axes;
    int *const count = goes ? &gone_count : &kept_count;
    int64_t *const size = goes ? gone : kept, *const by = goes ? gone_step : kept_step;
    if (goes) length *= dims[k];
    if (dims[k] != 1 || (k == 0 && was < 0)) {
      if (was == goes) {
        size[*count - 1] *= dims[k];
      } else {
        by[*count] = step;
        size[(*count)++] = dims[k];
      }
      was = goes;
    }
    step *= dims[k];
  }
  const int keeps_last = kept_count > 0 && kept_step[0] == 1;
  const int64_t run = !keeps_last && gone_count > 0 ? gone[0] : 1; /* neighbours that go */
  const int64_t outer_length = length == 0 ? 0 : length / run;
  const int first_gone = run > 1 || (gone_count && !keeps_last) ? 1 : 0;
  for (int64_t o = begin; o < end;) {
    int64_t base = 0, rest = o, width = 1;
    for (int k = 0; k < kept_count; rest /= kept[k], k++) base += rest % kept[k] * kept_step[k];
    if (keeps_last) { /* neighbouring results together */
      width = kept[0] - o % kept[0];
      if (width > end - o) width = end - o;
      if (width > WIDTH) width = WIDTH;
    }
    const IN0_T *restrict from = x + base;
    ACC sum[WIDTH], high[WIDTH] = {0};
    IN0_T best[WIDTH];
    for (int64_t j = 0; j < WIDTH; j++) {
      sum[j] = REDUCE_OP == 4 ? 1 : 0;
      best[j] = length ? from[keeps_last && j < width ? j : 0] : 0;
    }
    if (REDUCE_OP == 8 && length) {
      for (int64_t j = 0; j < width; j++) high[j] = (ACC)from[j];
      if (keeps_last)
        OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) high[j] =
                                  (ACC)from[at + j] > high[j] ? (ACC)from[at + j] : high[j]);
      else
        OVER_GONE(first_gone, for (int64_t i = 0; i < run; i++) high[0] =
                                  (ACC)from[at + i] > high[0] ? (ACC)from[at + i] : high[0]);
      for (int64_t j = 0; j < width; j++)
        if ((double)high[j] - (double)high[j] != 0) high[j] = 0; /* infinite */
    }
    if (keeps_last) {
      OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) MEET(j, from[at + j], high[j]));
    } else if (REDUCE_OP != 2 && REDUCE_OP != 3 && REDUCE_OP != 4) { /* a row that goes at a time */
      const ACC top = high[0];
      int64_t at = 0, in_at[17] = {0};
      for (int64_t r = 0; r < outer_length; r++) {
        const IN0_T *restrict row = from + at;
        ACC part = 0;
#pragma omp simd reduction(+ : part)
        for (int64_t i = 0; i < run; i++) {
          const ACC wide = (ACC)row[i];
          part += REDUCE_OP == 5                     ? (row[i] < 0 ? -wide : wide)
                  : REDUCE_OP == 6 || REDUCE_OP == 9 ? wide * wide
                  : REDUCE_OP == 8                   ? (ACC)exp((double)(wide - top))
                                                     : wide;
        }
        sum[0] += part;
        for (int k = first_gone; k < gone_count; k++) {
          at += gone_step[k];
          if (++in_at[k] < gone[k]) break;
          at -= gone_step[k] * gone[k];
          in_at[k] = 0;
        }
      }
    } else { /* WIDTH ends or products of one row, met at its end */
      OVER_GONE(first_gone, for (int64_t i = 0; i < run; i += WIDTH) {
        const int64_t n = run - i < WIDTH ? run - i : WIDTH;
        for (int64_t j = 0; j < n; j++) MEET(j, from[at + i + j], high[0]);
      });
      for (int j = 1; j < WIDTH; j++) {
        if (REDUCE_OP == 2) best[0] = best[j] > best[0] || best[j] != best[j] ? best[j] : best[0];
        if (REDUCE_OP == 3) best[0] = best[j] < best[0] || best[j] != best[j] ? best[j] : best[0];
        sum[0] *= sum[j];
      }
    }
    for (int64_t j = 0; j < width; j++, o++) {
      if (REDUCE_OP == 2 || REDUCE_OP == 3) {
        if (length == 0) { /* the other end of the type */
          const IN0_T far = _Generic((IN0_T)0, float: INFINITY, double: INFINITY,
                                     default: (IN0_T)((IN0_T)-1 > 0 ? (IN0_T)-1
                                                                    : (IN0_T)(UINT64_MAX >> (65 - 8 * sizeof(IN0_T)))));
          best[j] = REDUCE_OP == 3 ? far : (IN0_T)((IN0_T)-1 > 0 ? 0 : (IN0_T)0.5 != 0 ? -far : -1 - far);
        }
        y[o] = best[j];
      } else if (REDUCE_OP == 1) {
        y[o] = (OUT0_T)(_Generic((OUT0_T)0, float: sum[j] / (ACC)length, double: sum[j] / (ACC)length,
                                 default: (length ? (int64_t)sum[j] / length : 0)));
      } else if (REDUCE_OP == 6) {
        y[o] = (OUT0_T)sqrt((double)sum[j]);
      } else if (REDUCE_OP == 7) {
        y[o] = (OUT0_T)log((double)sum[j]);
      } else if (REDUCE_OP == 8) {
        y[o] = (OUT0_T)(log((double)sum[j]) + (double)high[j]);
      } else {
        y[o] = (OUT0_T)sum[j];
      }
    }
  }
  return 0;
}
#undef ACC
#undef WIDTH
#undef MEET
#undef OVER_GONE
#undef ATTR_noop_with_empty_axes
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef REDUCE_OP
int run_33(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_33(in, out, scratch, begin, end); }
#define NAME plain_34
#define UNITS 1l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 1
#define IN0_COUNT 2l
#define IN0_DIMS {2,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 1l
#define IN1_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 1
#define OUT0_COUNT 1l
#define OUT0_DIMS {1,}
#define REDUCE_OP 7
/* All reductions; REDUCE_OP: 0 sum, 1 mean, 2 max, 3 min, 4 product, 5 sum of |x|, 6 root of the sum
 * of squares, 7 log of the sum, 8 log of the sum of exp, 9 sum of squares. Axes come from input 1 at
 * run time, or from the attribute; none: all axes. Floats add in double, integers wrap. */
#ifndef ATTR_noop_with_empty_axes
#define ATTR_noop_with_empty_axes 0
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC double
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
#define WIDTH 64
/* The next of n independent sums, products or ends, over the place j of both. */
#define MEET(j, value, high)                                                                     \
  do {                                                                                           \
    const IN0_T a = (value), b = best[j];                                                        \
    const ACC wide = (ACC)a;                                                                     \
    (void)b, (void)wide;                                                                         \
    if (REDUCE_OP == 2) best[j] = a > b || a != a ? a : b;                                       \
    if (REDUCE_OP == 3) best[j] = a < b || a != a ? a : b;                                       \
    if (REDUCE_OP == 4) sum[j] *= wide;                                                          \
    if (REDUCE_OP == 5) sum[j] += a < 0 ? -wide : wide;                                          \
    if (REDUCE_OP == 6 || REDUCE_OP == 9) sum[j] += wide * wide;                                 \
    if (REDUCE_OP == 8) sum[j] += (ACC)exp((double)(wide - (high)));                             \
    if (REDUCE_OP < 2 || REDUCE_OP == 7) sum[j] += wide;                                         \
  } while (0)
/* Runs `statement` for every place of the dimensions that go, but the last n of gone: offset `at`. */
#define OVER_GONE(first_gone, statement)                                   \
  do {                                                                     \
    int64_t at = 0, in_at[17] = {0};                                       \
    for (int64_t r = 0; r < outer_length; r++) {                           \
      statement;                                                           \
      for (int k = (first_gone); k < gone_count; k++) {                    \
        at += gone_step[k];                                                \
        if (++in_at[k] < gone[k]) break;                                   \
        at -= gone_step[k] * gone[k];                                      \
        in_at[k] = 0;                                                      \
      }                                                                    \
    }                                                                      \
  } while (0)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int reduced[17] = {0}, is_given = 0, kept_count = 0, gone_count = 0;
  int64_t kept[17] = {0}, gone[17] = {0}, kept_step[17] = {0}, gone_step[17] = {0};
  int64_t length = 1, step = 1;
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  for (int64_t k = 0; k < IN1_COUNT; k++) {
    int64_t axis = (int64_t)((const IN1_T *)in[1])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    reduced[axis < 0 ? axis + IN0_RANK : axis] = is_given = 1;
  }
#elif defined ATTR_axes
  const int64_t axes[] = ATTR_axes;
  for (int k = 0; k < ATTR_axes_COUNT; k++)
    reduced[axes[k] < 0 ? axes[k] + IN0_RANK : axes[k]] = is_given = 1;
#endif
  int was = -1;
  for (int k = IN0_RANK - 1; k >= 0; k--) { /* from the last on, neighbours of one fate as one */
    const int goes = is_given ? reduced[k] : !ATTR_noop_with_empty_axes;
    int *const count = goes ? &gone_count : &kept_count;
    int64_t *const size = goes ? gone : kept, *const by = goes ? gone_step : kept_step;
    if (goes) length *= dims[k];
    if (dims[k] != 1 || (k == 0 && was < 0)) {
      if (was == goes) {
        size[*count - 1] *= dims[k];
      } else {
        by[*count] = step;
        size[(*count)++] = dims[k];
      }
      was = goes;
    }
    step *= dims[k];
  }
  const int keeps_last = kept_count > 0 && kept_step[0] == 1;
  const int64_t run = !keeps_last && gone_count > 0 ? gone[0] : 1; /* neighbours that go */
  const int64_t outer_length = length == 0 ? 0 : length / run;
  const int first_gone = run > 1 || (gone_count && !keeps_last) ? 1 : 0;
  for (int64_t o = begin; o < end;) {
    int64_t base = 0, rest = o, width = 1;
    for (int k = 0; k < kept_count; rest /= kept[k], k++) base += rest % kept[k] * kept_step[k];
    if (keeps_last) { /* neighbouring results together */
      width = kept[0] - o % kept[0];
      if (width > end - o) width = end - o;
      if (width > WIDTH) width = WIDTH;
    }
    const IN0_T *restrict from = x + base;
    ACC sum[WIDTH], high[WIDTH] = {0};
    IN0_T best[WIDTH];
    for (int64_t j = 0; j < WIDTH; j++) {
      sum[j] = REDUCE_OP == 4 ? 1 : 0;
      best[j] = length ? from[keeps_last && j < width ? j : 0] : 0;
    }
    if (REDUCE_OP == 8 && length) {
      for (int64_t j = 0; j < width; j++) high[j] = (ACC)from[j];
      if (keeps_last)
        OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) high[j] =
                                  (ACC)from[at + j] > high[j] ? (ACC)from[at + j] : high[j]);
      else
        OVER_GONE(first_gone, for (int64_t i = 0; i < run; i++) high[0] =
                                  (ACC)from[at + i] > high[0] ? (ACC)from[at + i] : high[0]);
      for (int64_t j = 0; j < width; j++)
        if ((double)high[j] - (double)high[j] != 0) high[j] = 0; /* infinite */
    }
    if (keeps_last) {
      OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) MEET(j, from[at + j], high[j]));
    } else if (REDUCE_OP != 2 && REDUCE_OP != 3 && REDUCE_OP != 4) { /* a row that goes at a time */
      const ACC top = high[0];
      int64_t at = 0, in_at[17] = {0};
      for (int64_t r = 0; r < outer_length; r++) {
        const IN0_T *restrict row = from + at;
        ACC part = 0;
#pragma omp simd reduction(+ : part)
        for (int64_t i = 0; i < run; i++) {
          const ACC wide = (ACC)row[i];
          part += REDUCE_OP == 5                     ? (row[i] < 0 ? -wide : wide)
                  : REDUCE_OP == 6 || REDUCE_OP == 9 ? wide * wide
                  : REDUCE_OP == 8                   ? (ACC)exp((double)(wide - top))
                                                     : wide;
        }
        sum[0] += part;
        for (int k = first_gone; k < gone_count; k++) {
          at += gone_step[k];
          if (++in_at[k] < gone[k]) break;
          at -= gone_step[k] * gone[k];
          in_at[k] = 0;
        }
      }
    } else { /* WIDTH ends or products of one row, met at its end */
      OVER_GONE(first_gone, for (int64_t i = 0; i < run; i += WIDTH) {
        const int64_t n = run - i < WIDTH ? run - i : WIDTH;
        for (int64_t j = 0; j < n; j++) MEET(j, from[at + i + j], high[0]);
      });
      for (int j = 1; j < WIDTH; j++) {
        if (REDUCE_OP == 2) best[0] = best[j] > best[0] || best[j] != best[j] ? best[j] : best[0];
        if (REDUCE_OP == 3) best[0] = best[j] < best[0] || best[j] != best[j] ? best[j] : best[0];
        sum[0] *= sum[j];
      }
    }
    for (int64_t j = 0; j < width; j++, o++) {
      if (REDUCE_OP == 2 || REDUCE_OP == 3) {
        if (length == 0) { /* the other end of the type */
          const IN0_T far = _Generic((IN0_T)0, float: INFINITY, double: INFINITY,
                                     default: (IN0_T)((IN0_T)-1 > 0 ? (IN0_T)-1
                                                                    : (IN0_T)(UINT64_MAX >> (65 - 8 * sizeof(IN0_T)))));
          best[j] = REDUCE_OP == 3 ? far : (IN0_T)((IN0_T)-1 > 0 ? 0 : (IN0_T)0.5 != 0 ? -far : -1 - far);
        }
        y[o] = best[j];
      } else if (REDUCE_OP == 1) {
        y[o] = (OUT0_T)(_Generic((OUT0_T)0, float: sum[j] / (ACC)length, double: sum[j] / (ACC)length,
                                 default: (length ? (int64_t)sum[j] / length : 0)));
      } else if (REDUCE_OP == 6) {
        y[o] = (OUT0_T)sqrt((double)sum[j]);
      } else if (REDUCE_OP == 7) {
        y[o] = (OUT0_T)log((double)sum[j]);
      } else if (REDUCE_OP == 8) {
        y[o] = (OUT0_T)(log((double)sum[j]) + (double)high[j]);
      } else {
        y[o] = (OUT0_T)sum[j];
      }
    }
  }
  return 0;
}
#undef ACC
#undef WIDTH
#undef MEET
#undef OVER_GONE
#undef ATTR_noop_with_empty_axes
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef REDUCE_OP
int run_34(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_34(in, out, scratch, begin, end); }
#define NAME plain_35
#define UNITS 6l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {2,3,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 6l
#define OUT0_DIMS {2,3,}
#define ATTR_noop_with_empty_axes 1l
#define REDUCE_OP 9
/* All reductions; REDUCE_OP: 0 sum, 1 mean, 2 max, 3 min, 4 product, 5 sum of |x|, 6 root of the sum
 * of squares, 7 log of the sum, 8 log of the sum of exp, 9 sum of squares. Axes come from input 1 at
 * run time, or from the attribute; none: all axes. Floats add in double, integers wrap. */
#ifndef ATTR_noop_with_empty_axes
#define ATTR_noop_with_empty_axes 0
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC double
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
#define WIDTH 64
/* The next of n independent sums, products or ends, over the place j of both. */
#define MEET(j, value, high)                                                                     \
  do {                                                                                           \
    const IN0_T a = (value), b = best[j];                                                        \
    const ACC wide = (ACC)a;                                                                     \
    (void)b, (void)wide;                                                                         \
    if (REDUCE_OP == 2) best[j] = a > b || a != a ? a : b;                                       \
    if (REDUCE_OP == 3) best[j] = a < b || a != a ? a : b;                                       \
    if (REDUCE_OP == 4) sum[j] *= wide;                                                          \
    if (REDUCE_OP == 5) sum[j] += a < 0 ? -wide : wide;                                          \
    if (REDUCE_OP == 6 || REDUCE_OP == 9) sum[j] += wide * wide;                                 \
    if (REDUCE_OP == 8) sum[j] += (ACC)exp((double)(wide - (high)));                             \
    if (REDUCE_OP < 2 || REDUCE_OP == 7) sum[j] += wide;                                         \
  } while (0)
/* Runs `statement` for every place of the dimensions that go, but the last n of gone: offset `at`. */
#define OVER_GONE(first_gone, statement)                                   \
  do {                                                                     \
    int64_t at = 0, in_at[17] = {0};                                       \
    for (int64_t r = 0; r < outer_length; r++) {                           \
      statement;                                                           \
      for (int k = (first_gone); k < gone_count; k++) {                    \
        at += gone_step[k];                                                \
        if (++in_at[k] < gone[k]) break;                                   \
        at -= gone_step[k] * gone[k];                                      \
        in_at[k] = 0;                                                      \
      }                                                                    \
    }                                                                      \
  } while (0)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int reduced[17] = {0}, is_given = 0, kept_count = 0, gone_count = 0;
  int64_t kept[17] = {0}, gone[17] = {0}, kept_step[17] = {0}, gone_step[17] = {0};
  int64_t length = 1, step = 1;
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  for (int64_t k = 0; k < IN1_COUNT; k++) {
    int64_t axis = (int64_t)((const IN1_T *)in[1])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    reduced[axis < 0 ? axis + IN0_RANK : axis] = is_given = 1;
  }
#elif defined ATTR_axes
  const int64_t axes[] = ATTR_axes;
  for (int k = 0; k < ATTR_axes_COUNT; k++)
    reduced[axes[k] < 0 ? axes[k] + IN0_RANK : axes[k]] = is_given = 1;
#endif
  int was = -1;
  for (int k = IN0_RANK - 1; k >= 0; k--) { /* from the last on, neighbours of one fate as one */
    const int goes = is_given ? reduced[k] : !ATTR_noop_with_empty_axes;
    int *const count = goes ? &gone_count : &kept_count;
    int64_t *const size = goes ? gone : kept, *const by = goes ? gone_step : kept_step;
    if (goes) length *= dims[k];
    if (dims[k] != 1 || (k == 0 && was < 0)) {
      if (was == goes) {
        size[*count - 1] *= dims[k];
      } else {
        by[*count] = step;
        size[(*count)++] = dims[k];
      }
      was = goes;
    }
    step *= dims[k];
  }
  const int keeps_last = kept_count > 0 && kept_step[0] == 1;
  const int64_t run = !keeps_last && gone_count > 0 ? gone[0] : 1; /* neighbours that go */
  const int64_t outer_length = length == 0 ? 0 : length / run;
  const int first_gone = run > 1 || (gone_count && !keeps_last) ? 1 : 0;
  for (int64_t o = begin; o < end;) {
    int64_t base = 0, rest = o, width = 1;
    for (int k = 0; k < kept_count; rest /= kept[k], k++) base += rest % kept[k] * kept_step[k];
    if (keeps_last) { /* neighbouring results together */
      width = kept[0] - o % kept[0];
      if (width > end - o) width = end - o;
      if (width > WIDTH) width = WIDTH;
    }
    const IN0_T *restrict from = x + base;
    ACC sum[WIDTH], high[WIDTH] = {0};
    IN0_T best[WIDTH];
    for (int64_t j = 0; j < WIDTH; j++) {
      sum[j] = REDUCE_OP == 4 ? 1 : 0;
      best[j] = length ? from[keeps_last && j < width ? j : 0] : 0;
    }
    if (REDUCE_OP == 8 && length) {
      for (int64_t j = 0; j < width; j++) high[j] = (ACC)from[j];
      if (keeps_last)
        OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) high[j] =
                                  (ACC)from[at + j] > high[j] ? (ACC)from[at + j] : high[j]);
      else
        OVER_GONE(first_gone, for (int64_t i = 0; i < run; i++) high[0] =
                                  (ACC)from[at + i] > high[0] ? (ACC)from[at + i] : high[0]);
      for (int64_t j = 0; j < width; j++)
        if ((double)high[j] - (double)high[j] != 0) high[j] = 0; /* infinite */
    }
    if (keeps_last) {
      OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) MEET(j, from[at + j], high[j]));
    } else if (REDUCE_OP != 2 && REDUCE_OP != 3 && REDUCE_OP != 4) { /* a row that goes at a time */
      const ACC top = high[0];
      int64_t at = 0, in_at[17] = {0};
      for (int64_t r = 0; r < outer_length; r++) {
        const IN0_T *restrict row = from + at;
        ACC part = 0;
#pragma omp simd reduction(+ : part)
        for (int64_t i = 0; i < run; i++) {
          const ACC wide = (ACC)row[i];
          part += REDUCE_OP == 5                     ? (row[i] < 0 ? -wide : wide)
                  : REDUCE_OP == 6 || REDUCE_OP == 9 ? wide * wide
                  : REDUCE_OP == 8                   ? (ACC)exp((double)(wide - top))
                                                     : wide;
        }
        sum[0] += part;
        for (int k = first_gone; k < gone_count; k++) {
          at += gone_step[k];
          if (++in_at[k] < gone[k]) break;
          at -= gone_step[k] * gone[k];
          in_at[k] = 0;
        }
      }
    } else { /* WIDTH ends or products of one row, met at its end */
      OVER_GONE(first_gone, for (int64_t i = 0; i < run; i += WIDTH) {
        const int64_t n = run - i < WIDTH ? run - i : WIDTH;
        for (int64_t j = 0; j < n; j++) MEET(j, from[at + i + j], high[0]);
      });
      for (int j = 1; j < WIDTH; j++) {
        if (REDUCE_OP == 2) best[0] = best[j] > best[0] || best[j] != best[j] ? best[j] : best[0];
        if (REDUCE_OP == 3) best[0] = best[j] < best[0] || best[j] != best[j] ? best[j] : best[0];
        sum[0] *= sum[j];
      }
    }
    for (int64_t j = 0; j < width; j++, o++) {
      if (REDUCE_OP == 2 || REDUCE_OP == 3) {
        if (length == 0) { /* the other end of the type */
          const IN0_T far = _Generic((IN0_T)0, float: INFINITY, double: INFINITY,
                                     default: (IN0_T)((IN0_T)-1 > 0 ? (IN0_T)-1
                                                                    : (IN0_T)(UINT64_MAX >> (65 - 8 * sizeof(IN0_T)))));
          best[j] = REDUCE_OP == 3 ? far : (IN0_T)((IN0_T)-1 > 0 ? 0 : (IN0_T)0.5 != 0 ? -far : -1 - far);
        }
        y[o] = best[j];
      } else if (REDUCE_OP == 1) {
        y[o] = (OUT0_T)(_Generic((OUT0_T)0, float: sum[j] / (ACC)length, double: sum[j] / (ACC)length,
                                 default: (length ? (int64_t)sum[j] / length : 0)));
      } else if (REDUCE_OP == 6) {
        y[o] = (OUT0_T)sqrt((double)sum[j]);
      } else if (REDUCE_OP == 7) {
        y[o] = (OUT0_T)log((double)sum[j]);
      } else if (REDUCE_OP == 8) {
        y[o] = (OUT0_T)(log((double)sum[j]) + (double)high[j]);
      } else {
        y[o] = (OUT0_T)sum[j];
      }
    }
  }
  return 0;
}
#undef ACC
#undef WIDTH
#undef MEET
#undef OVER_GONE
#undef ATTR_noop_with_empty_axes
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_noop_with_empty_axes
#undef REDUCE_OP
int run_35(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_35(in, out, scratch, begin, end); }
#define NAME plain_36
#define UNITS 2l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 8l
#define IN0_DIMS {2,4,}
#define OUT0_PRESENT 1
#define OUT0_T int64_t
#define OUT0_TYPE 7
#define OUT0_RANK 1
#define OUT0_COUNT 2l
#define OUT0_DIMS {2,}
#define ATTR_axis 1l
#define ATTR_keepdims 0l
#define ARG_MAX 1
/* ArgMax and ArgMin; ARG_MAX is 1 or 0. Ties: the first, or the last with select_last_index. A line
 * of neighbours is read twice: for its end, then for its place. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
#ifndef ATTR_select_last_index
#define ATTR_select_last_index 0
#endif
#define BETTER(a, b) (ARG_MAX ? (a) > (b) : (a) < (b))
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  const int64_t length = IN0_RANK ? dims[axis] : 1;
  (void)scratch;
  int64_t inner = 1;
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES;
  for (int64_t u = begin; u < end; u++) {
    const int64_t o = u / blocks, i = u % blocks * PLAIN_LINES;
    const int64_t width = inner - i < PLAIN_LINES ? inner - i : PLAIN_LINES;
    const IN0_T *restrict from = x + o * length * inner + i;
    OUT0_T *restrict to = y + o * inner + i;
    if (inner == 1) {
      int64_t best = 0, k = 0;
      IN0_T lane[16];
      for (int l = 0; l < 16; l++) lane[l] = from[0];
      for (; k + 16 <= length; k += 16)
        for (int l = 0; l < 16; l++) lane[l] = BETTER(from[k + l], lane[l]) ? from[k + l] : lane[l];
      for (; k < length; k++) lane[0] = BETTER(from[k], lane[0]) ? from[k] : lane[0];
      for (int l = 1; l < 16; l++) lane[0] = BETTER(lane[l], lane[0]) ? lane[l] : lane[0];
      if (lane[0] != lane[0])
        best = 0; /* the first is NaN: nothing is better */
      else if (ATTR_select_last_index)
        for (best = length - 1; from[best] != lane[0]; best--) continue;
      else
        while (from[best] != lane[0]) best++;
      to[0] = (OUT0_T)best;
      continue;
    }
    IN0_T best[PLAIN_LINES];
    OUT0_T at[PLAIN_LINES];
    for (int64_t j = 0; j < width; j++) best[j] = from[j], at[j] = 0;
    for (int64_t k = 1; k < length; k++)
      for (int64_t j = 0; j < width; j++) {
        const IN0_T a = from[k * inner + j], b = best[j];
        const int is_better = BETTER(a, b) || (ATTR_select_last_index && a == b);
        best[j] = is_better ? a : b;
        at[j] = is_better ? (OUT0_T)k : at[j];
      }
    for (int64_t j = 0; j < width; j++) to[j] = at[j];
  }
  return 0;
}
#undef BETTER
#undef ATTR_axis
#undef ATTR_select_last_index
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_axis
#undef ATTR_keepdims
#undef ARG_MAX
int run_36(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_36(in, out, scratch, begin, end); }
#define NAME plain_37
#define UNITS 2l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int32_t
#define IN0_TYPE 6
#define IN0_RANK 2
#define IN0_COUNT 8l
#define IN0_DIMS {2,4,}
#define OUT0_PRESENT 1
#define OUT0_T int64_t
#define OUT0_TYPE 7
#define OUT0_RANK 2
#define OUT0_COUNT 2l
#define OUT0_DIMS {2,1,}
#define ATTR_axis -1l
#define ATTR_select_last_index 1l
#define ARG_MAX 0
/* ArgMax and ArgMin; ARG_MAX is 1 or 0. Ties: the first, or the last with select_last_index. A line
 * of neighbours is read twice: for its end, then for its place. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
#ifndef ATTR_select_last_index
#define ATTR_select_last_index 0
#endif
#define BETTER(a, b) (ARG_MAX ? (a) > (b) : (a) < (b))
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  const int64_t length = IN0_RANK ? dims[axis] : 1;
  (void)scratch;
  int64_t inner = 1;
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES;
  for (int64_t u = begin; u < end; u++) {
    const int64_t o = u / blocks, i = u % blocks * PLAIN_LINES;
    const int64_t width = inner - i < PLAIN_LINES ? inner - i : PLAIN_LINES;
    const IN0_T *restrict from = x + o * length * inner + i;
    OUT0_T *restrict to = y + o * inner + i;
    if (inner == 1) {
      int64_t best = 0, k = 0;
      IN0_T lane[16];
      for (int l = 0; l < 16; l++) lane[l] = from[0];
      for (; k + 16 <= length; k += 16)
        for (int l = 0; l < 16; l++) lane[l] = BETTER(from[k + l], lane[l]) ? from[k + l] : lane[l];
      for (; k < length; k++) lane[0] = BETTER(from[k], lane[0]) ? from[k] : lane[0];
      for (int l = 1; l < 16; l++) lane[0] = BETTER(lane[l], lane[0]) ? lane[l] : lane[0];
      if (lane[0] != lane[0])
        best = 0; /* the first is NaN: nothing is better */
      else if (ATTR_select_last_index)
        for (best = length - 1; from[best] != lane[0]; best--) continue;
      else
        while (from[best] != lane[0]) best++;
      to[0] = (OUT0_T)best;
      continue;
    }
    IN0_T best[PLAIN_LINES];
    OUT0_T at[PLAIN_LINES];
    for (int64_t j = 0; j < width; j++) best[j] = from[j], at[j] = 0;
    for (int64_t k = 1; k < length; k++)
      for (int64_t j = 0; j < width; j++) {
        const IN0_T a = from[k * inner + j], b = best[j];
        const int is_better = BETTER(a, b) || (ATTR_select_last_index && a == b);
        best[j] = is_better ? a : b;
        at[j] = is_better ? (OUT0_T)k : at[j];
      }
    for (int64_t j = 0; j < width; j++) to[j] = at[j];
  }
  return 0;
}
#undef BETTER
#undef ATTR_axis
#undef ATTR_select_last_index
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_axis
#undef ATTR_select_last_index
#undef ARG_MAX
int run_37(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_37(in, out, scratch, begin, end); }
#define NAME plain_38
#define UNITS 12l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 24l
#define IN0_DIMS {1,2,3,4,}
#define IN1_PRESENT 0
#define IN1_T float
#define IN1_TYPE 0
#define IN1_RANK 0
#define IN1_COUNT 0l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 1
#define IN2_COUNT 4l
#define IN2_DIMS {4,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 96l
#define OUT0_DIMS {1,2,6,8,}
#define ATTR_mode_IS_nearest 1
/* Resize by nearest, linear or cubic interpolation, separable over the axes. The taps (source
 * index, weight) of a block of columns are made once; then every row adds up the combinations of
 * the taps of its other coordinates, a row of sources at a time. */
#ifndef ATTR_antialias
#define ATTR_antialias 0
#endif
#ifndef ATTR_exclude_outside
#define ATTR_exclude_outside 0
#endif
#ifndef ATTR_cubic_coeff_a
#define ATTR_cubic_coeff_a -0.75f
#endif
#ifndef ATTR_extrapolation_value
#define ATTR_extrapolation_value 0
#endif
#if defined ATTR_mode_IS_linear
#define REACH 1
#elif defined ATTR_mode_IS_cubic
#define REACH 2
#else
#define REACH 0
#endif
#if ATTR_antialias
#define TAPS 64
#define BLOCK 16
#else
#define TAPS 4
#define BLOCK 256
#endif
#define AXES (IN0_RANK > 0 ? IN0_RANK : 1)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict from = in[0];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  double scale[AXES], origin[AXES], stop[AXES], weight[AXES][TAPS], column_weight[TAPS][BLOCK];
  int64_t index[AXES][TAPS], at[AXES], step[AXES], column_index[TAPS][BLOCK];
  int count[AXES], is_outside[AXES], column_outside[BLOCK], axis_of[AXES], axes = IN0_RANK;
  enum { LAST = AXES - 1 };
  if (IN0_RANK == 0) {
    (void)begin, (void)end;
    to[0] = (OUT0_T)from[0];
    return 0;
  }
  (void)scratch, (void)origin, (void)stop;
  int64_t stride = 1;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    scale[k] = 1, origin[k] = 0, stop[k] = 1, at[k] = 0, is_outside[k] = 0, count[k] = 0, index[k][0] = 0;
    step[k] = stride;
    stride *= dims[k];
    axis_of[k] = k;
  }
#ifdef ATTR_axes
  const int64_t given[] = ATTR_axes;
  axes = ATTR_axes_COUNT;
  for (int k = 0; k < axes; k++) axis_of[k] = (int)(given[k] < 0 ? given[k] + IN0_RANK : given[k]);
#endif
#if IN_COUNT > 2 && IN2_PRESENT
  for (int k = 0; k < axes && IN2_COUNT == axes; k++)
    scale[axis_of[k]] = (double)((const IN2_T *)in[2])[k];
#endif
#if IN_COUNT > 3 && IN3_PRESENT
  if (IN3_COUNT == axes) {
    const IN3_T *sizes = in[3];
    double common = 0;
    for (int k = 0; k < axes; k++) {
      const double own = (double)sizes[k] / (double)dims[axis_of[k]];
      scale[axis_of[k]] = own;
#ifdef ATTR_keep_aspect_ratio_policy_IS_not_larger
      if (k == 0 || own < common) common = own;
#else
      if (k == 0 || own > common) common = own;
#endif
    }
#if defined ATTR_keep_aspect_ratio_policy_IS_not_larger || \
    defined ATTR_keep_aspect_ratio_policy_IS_not_smaller
    for (int k = 0; k < axes; k++) scale[axis_of[k]] = common;
#endif
  }
#endif
#if defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize && IN_COUNT > 1 && IN1_PRESENT
  for (int k = 0; k < axes && IN1_COUNT == 2 * axes; k++) {
    origin[axis_of[k]] = (double)((const IN1_T *)in[1])[k];
    stop[axis_of[k]] = (double)((const IN1_T *)in[1])[k + axes];
  }
#endif
  const int64_t columns = to_dims[LAST];
  for (int64_t block = 0; block < columns; block += BLOCK) {
    const int width = (int)(columns - block < BLOCK ? columns - block : BLOCK);
    /* positions before `begin` fill the columns' taps, the others are rows */
    int64_t rest = begin;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--) at[k] = rest % to_dims[k];
    int changed = 0;
    for (int64_t position = begin - width; position < end; position++) {
      const int is_column = position < begin;
      if (is_column) at[LAST] = block + width + position - begin;
      for (int k = is_column ? LAST : changed; k < (is_column ? AXES : LAST); k++) {
        const double length = (double)dims[k], to_length = (double)to_dims[k], p = (double)at[k];
        const double s = scale[k], whole = s * length; /* before it was cut to elements */
#if defined ATTR_coordinate_transformation_mode_IS_half_pixel_symmetric
        const double x = length / 2 * (1 - to_length / whole) + (p + 0.5) / s - 0.5;
#elif defined ATTR_coordinate_transformation_mode_IS_pytorch_half_pixel
        const double x = to_length > 1 ? (p + 0.5) / s - 0.5 : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_align_corners
        const double x = to_length > 1 ? p * (length - 1) / (whole - 1) : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_asymmetric
        const double x = p / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_half_pixel_for_nn
        const double x = s == 1 && length == to_length && REACH ? p : (p + 0.5) / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize
        const double x =
            to_length > 1
                ? origin[k] * (length - 1) + p * (stop[k] - origin[k]) * (length - 1) / (whole - 1)
                : 0.5 * (origin[k] + stop[k]) * (length - 1);
        is_outside[k] = !(x >= 0 && x <= length - 1);
#else
        const double x = (p + 0.5) / s - 0.5;
#endif
        (void)length, (void)to_length, (void)whole;
        if (REACH == 0) {
#if defined ATTR_nearest_mode_IS_round_prefer_ceil
          const double n = floor(x + 0.5);
#elif defined ATTR_nearest_mode_IS_floor
          const double n = floor(x);
#elif defined ATTR_nearest_mode_IS_ceil
          const double n = ceil(x);
#else
          const double n = ceil(x - 0.5);
#endif
          count[k] = 1;
          weight[k][0] = 1;
          index[k][0] = !(n > 0) ? 0 : n >= length ? dims[k] - 1 : (int64_t)n;
          continue;
        }
        const double shrink = ATTR_antialias && s < 1 ? s : 1, reach = ceil(REACH / shrink);
        if (!(reach <= TAPS / 2)) return 9;
        count[k] = 2 * (int)reach;
        const double first = floor(x) - (reach - 1);
        double sum = 0;
        for (int t = 0; t < count[k]; t++) {
          const double i = first + t, d = fabs((i - x) * shrink), a = (double)ATTR_cubic_coeff_a;
          double w = d < 1 ? 1 - d : 0;
          if (REACH == 2)
            w = d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
                : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                        : 0;
          if (ATTR_exclude_outside && (i < 0 || i > length - 1)) w = 0;
          index[k][t] = !(i > 0) ? 0 : i >= length ? dims[k] - 1 : (int64_t)i;
          weight[k][t] = w;
          sum += w;
        }
        for (int t = 0; t < count[k] && sum != 0; t++) weight[k][t] /= sum;
      }
      if (is_column) {
        const int j = (int)(width + position - begin);
        for (int t = 0; t < count[LAST]; t++) {
          column_index[t][j] = index[LAST][t];
          column_weight[t][j] = weight[LAST][t];
        }
        column_outside[j] = is_outside[LAST];
        continue;
      }
      double sums[BLOCK] = {0};
      OUT0_T *restrict row = to + position * columns + block;
      int tap[AXES] = {0}, outside = 0;
      for (int k = 0; k < LAST; k++) outside |= is_outside[k];
      for (int done = 0; !done;) {
        double w = 1;
        int64_t offset = 0;
        for (int k = 0; k < LAST; k++) w *= weight[k][tap[k]], offset += index[k][tap[k]] * step[k];
        const IN0_T *restrict source = from + offset;
        if (REACH == 0)
          for (int j = 0; j < width; j++) row[j] = (OUT0_T)source[column_index[0][j]];
        else if (w != 0)
          for (int t = 0; t < count[LAST]; t++)
            for (int j = 0; j < width; j++)
              sums[j] += w * column_weight[t][j] * (double)source[column_index[t][j]];
        done = 1;
        for (int k = LAST - 1; k >= 0; k--) {
          if (++tap[k] < count[k]) {
            done = 0;
            break;
          }
          tap[k] = 0;
        }
      }
      for (int j = 0; j < width && REACH > 0; j++) row[j] = (OUT0_T)sums[j];
      for (int j = 0; j < width; j++)
        if (outside || column_outside[j]) row[j] = (OUT0_T)ATTR_extrapolation_value;
      for (changed = LAST - 1; changed >= 0; changed--) {
        if (++at[changed] < to_dims[changed]) break;
        at[changed] = 0;
      }
    }
  }
  return 0;
}
#undef ATTR_antialias
#undef ATTR_exclude_outside
#undef ATTR_cubic_coeff_a
#undef ATTR_extrapolation_value
#undef REACH
#undef TAPS
#undef BLOCK
#undef AXES
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_mode_IS_nearest
int run_38(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_38(in, out, scratch, begin, end); }
#define NAME plain_39
#define UNITS 10l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 24l
#define IN0_DIMS {1,2,3,4,}
#define IN1_PRESENT 0
#define IN1_T float
#define IN1_TYPE 0
#define IN1_RANK 0
#define IN1_COUNT 0l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 1
#define IN2_COUNT 4l
#define IN2_DIMS {4,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 20l
#define OUT0_DIMS {1,2,5,2,}
#define ATTR_mode_IS_linear 1
/* Resize by nearest, linear or cubic interpolation, separable over the axes. The taps (source
 * index, weight) of a block of columns are made once; then every row adds up the combinations of
 * the taps of its other coordinates, a row of sources at a time. */
#ifndef ATTR_antialias
#define ATTR_antialias 0
#endif
#ifndef ATTR_exclude_outside
#define ATTR_exclude_outside 0
#endif
#ifndef ATTR_cubic_coeff_a
#define ATTR_cubic_coeff_a -0.75f
#endif
#ifndef ATTR_extrapolation_value
#define ATTR_extrapolation_value 0
#endif
#if defined ATTR_mode_IS_linear
#define REACH 1
#elif defined ATTR_mode_IS_cubic
#define REACH 2
#else
#define REACH 0
#endif
#if ATTR_antialias
#define TAPS 64
#define BLOCK 16
#else
#define TAPS 4
#define BLOCK 256
#endif
#define AXES (IN0_RANK > 0 ? IN0_RANK : 1)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict from = in[0];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  double scale[AXES], origin[AXES], stop[AXES], weight[AXES][TAPS], column_weight[TAPS][BLOCK];
  int64_t index[AXES][TAPS], at[AXES], step[AXES], column_index[TAPS][BLOCK];
  int count[AXES], is_outside[AXES], column_outside[BLOCK], axis_of[AXES], axes = IN0_RANK;
  enum { LAST = AXES - 1 };
  if (IN0_RANK == 0) {
    (void)begin, (void)end;
    to[0] = (OUT0_T)from[0];
    return 0;
  }
  (void)scratch, (void)origin, (void)stop;
  int64_t stride = 1;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    scale[k] = 1, origin[k] = 0, stop[k] = 1, at[k] = 0, is_outside[k] = 0, count[k] = 0, index[k][0] = 0;
    step[k] = stride;
    stride *= dims[k];
    axis_of[k] = k;
  }
#ifdef ATTR_axes
  const int64_t given[] = ATTR_axes;
  axes = ATTR_axes_COUNT;
  for (int k = 0; k < axes; k++) axis_of[k] = (int)(given[k] < 0 ? given[k] + IN0_RANK : given[k]);
#endif
#if IN_COUNT > 2 && IN2_PRESENT
  for (int k = 0; k < axes && IN2_COUNT == axes; k++)
    scale[axis_of[k]] = (double)((const IN2_T *)in[2])[k];
#endif
#if IN_COUNT > 3 && IN3_PRESENT
  if (IN3_COUNT == axes) {
    const IN3_T *sizes = in[3];
    double common = 0;
    for (int k = 0; k < axes; k++) {
      const double own = (double)sizes[k] / (double)dims[axis_of[k]];
      scale[axis_of[k]] = own;
#ifdef ATTR_keep_aspect_ratio_policy_IS_not_larger
      if (k == 0 || own < common) common = own;
#else
      if (k == 0 || own > common) common = own;
#endif
    }
#if defined ATTR_keep_aspect_ratio_policy_IS_not_larger || \
    defined ATTR_keep_aspect_ratio_policy_IS_not_smaller
    for (int k = 0; k < axes; k++) scale[axis_of[k]] = common;
#endif
  }
#endif
#if defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize && IN_COUNT > 1 && IN1_PRESENT
  for (int k = 0; k < axes && IN1_COUNT == 2 * axes; k++) {
    origin[axis_of[k]] = (double)((const IN1_T *)in[1])[k];
    stop[axis_of[k]] = (double)((const IN1_T *)in[1])[k + axes];
  }
#endif
  const int64_t columns = to_dims[LAST];
  for (int64_t block = 0; block < columns; block += BLOCK) {
    const int width = (int)(columns - block < BLOCK ? columns - block : BLOCK);
    /* positions before `begin` fill the columns' taps, the others are rows */
    int64_t rest = begin;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--) at[k] = rest % to_dims[k];
    int changed = 0;
    for (int64_t position = begin - width; position < end; position++) {
      const int is_column = position < begin;
      if (is_column) at[LAST] = block + width + position - begin;
      for (int k = is_column ? LAST : changed; k < (is_column ? AXES : LAST); k++) {
        const double length = (double)dims[k], to_length = (double)to_dims[k], p = (double)at[k];
        const double s = scale[k], whole = s * length; /* before it was cut to elements */
#if defined ATTR_coordinate_transformation_mode_IS_half_pixel_symmetric
        const double x = length / 2 * (1 - to_length / whole) + (p + 0.5) / s - 0.5;
#elif defined ATTR_coordinate_transformation_mode_IS_pytorch_half_pixel
        const double x = to_length > 1 ? (p + 0.5) / s - 0.5 : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_align_corners
        const double x = to_length > 1 ? p * (length - 1) / (whole - 1) : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_asymmetric
        const double x = p / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_half_pixel_for_nn
        const double x = s == 1 && length == to_length && REACH ? p : (p + 0.5) / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize
        const double x =
            to_length > 1
                ? origin[k] * (length - 1) + p * (stop[k] - origin[k]) * (length - 1) / (whole - 1)
                : 0.5 * (origin[k] + stop[k]) * (length - 1);
        is_outside[k] = !(x >= 0 && x <= length - 1);
#else
        const double x = (p + 0.5) / s - 0.5;
#endif
        (void)length, (void)to_length, (void)whole;
        if (REACH == 0) {
#if defined ATTR_nearest_mode_IS_round_prefer_ceil
          const double n = floor(x + 0.5);
#elif defined ATTR_nearest_mode_IS_floor
          const double n = floor(x);
#elif defined ATTR_nearest_mode_IS_ceil
          const double n = ceil(x);
#else
          const double n = ceil(x - 0.5);
#endif
          count[k] = 1;
          weight[k][0] = 1;
          index[k][0] = !(n > 0) ? 0 : n >= length ? dims[k] - 1 : (int64_t)n;
          continue;
        }
        const double shrink = ATTR_antialias && s < 1 ? s : 1, reach = ceil(REACH / shrink);
        if (!(reach <= TAPS / 2)) return 9;
        count[k] = 2 * (int)reach;
        const double first = floor(x) - (reach - 1);
        double sum = 0;
        for (int t = 0; t < count[k]; t++) {
          const double i = first + t, d = fabs((i - x) * shrink), a = (double)ATTR_cubic_coeff_a;
          double w = d < 1 ? 1 - d : 0;
          if (REACH == 2)
            w = d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
                : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                        : 0;
          if (ATTR_exclude_outside && (i < 0 || i > length - 1)) w = 0;
          index[k][t] = !(i > 0) ? 0 : i >= length ? dims[k] - 1 : (int64_t)i;
          weight[k][t] = w;
          sum += w;
        }
        for (int t = 0; t < count[k] && sum != 0; t++) weight[k][t] /= sum;
      }
      if (is_column) {
        const int j = (int)(width + position - begin);
        for (int t = 0; t < count[LAST]; t++) {
          column_index[t][j] = index[LAST][t];
          column_weight[t][j] = weight[LAST][t];
        }
        column_outside[j] = is_outside[LAST];
        continue;
      }
      double sums[BLOCK] = {0};
      OUT0_T *restrict row = to + position * columns + block;
      int tap[AXES] = {0}, outside = 0;
      for (int k = 0; k < LAST; k++) outside |= is_outside[k];
      for (int done = 0; !done;) {
        double w = 1;
        int64_t offset = 0;
        for (int k = 0; k < LAST; k++) w *= weight[k][tap[k]], offset += index[k][tap[k]] * step[k];
        const IN0_T *restrict source = from + offset;
        if (REACH == 0)
          for (int j = 0; j < width; j++) row[j] = (OUT0_T)source[column_index[0][j]];
        else if (w != 0)
          for (int t = 0; t < count[LAST]; t++)
            for (int j = 0; j < width; j++)
              sums[j] += w * column_weight[t][j] * (double)source[column_index[t][j]];
        done = 1;
        for (int k = LAST - 1; k >= 0; k--) {
          if (++tap[k] < count[k]) {
            done = 0;
            break;
          }
          tap[k] = 0;
        }
      }
      for (int j = 0; j < width && REACH > 0; j++) row[j] = (OUT0_T)sums[j];
      for (int j = 0; j < width; j++)
        if (outside || column_outside[j]) row[j] = (OUT0_T)ATTR_extrapolation_value;
      for (changed = LAST - 1; changed >= 0; changed--) {
        if (++at[changed] < to_dims[changed]) break;
        at[changed] = 0;
      }
    }
  }
  return 0;
}
#undef ATTR_antialias
#undef ATTR_exclude_outside
#undef ATTR_cubic_coeff_a
#undef ATTR_extrapolation_value
#undef REACH
#undef TAPS
#undef BLOCK
#undef AXES
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_mode_IS_linear
int run_39(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_39(in, out, scratch, begin, end); }
#define NAME plain_40
#define UNITS 10l
#define IN_COUNT 4
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 24l
#define IN0_DIMS {1,2,3,4,}
#define IN1_PRESENT 0
#define IN1_T float
#define IN1_TYPE 0
#define IN1_RANK 0
#define IN1_COUNT 0l
#define IN1_DIMS {0}
#define IN2_PRESENT 0
#define IN2_T float
#define IN2_TYPE 0
#define IN2_RANK 0
#define IN2_COUNT 0l
#define IN2_DIMS {0}
#define IN3_PRESENT 1
#define IN3_T int64_t
#define IN3_TYPE 7
#define IN3_RANK 1
#define IN3_COUNT 4l
#define IN3_DIMS {4,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 70l
#define OUT0_DIMS {1,2,5,7,}
#define ATTR_mode_IS_linear 1
#define ATTR_coordinate_transformation_mode_IS_align_corners 1
/* Resize by nearest, linear or cubic interpolation, separable over the axes. The taps (source
 * index, weight) of a block of columns are made once; then every row adds up the combinations of
 * the taps of its other coordinates, a row of sources at a time. */
#ifndef ATTR_antialias
#define ATTR_antialias 0
#endif
#ifndef ATTR_exclude_outside
#define ATTR_exclude_outside 0
#endif
#ifndef ATTR_cubic_coeff_a
#define ATTR_cubic_coeff_a -0.75f
#endif
#ifndef ATTR_extrapolation_value
#define ATTR_extrapolation_value 0
#endif
#if defined ATTR_mode_IS_linear
#define REACH 1
#elif defined ATTR_mode_IS_cubic
#define REACH 2
#else
#define REACH 0
#endif
#if ATTR_antialias
#define TAPS 64
#define BLOCK 16
#else
#define TAPS 4
#define BLOCK 256
#endif
#define AXES (IN0_RANK > 0 ? IN0_RANK : 1)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict from = in[0];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  double scale[AXES], origin[AXES], stop[AXES], weight[AXES][TAPS], column_weight[TAPS][BLOCK];
  int64_t index[AXES][TAPS], at[AXES], step[AXES], column_index[TAPS][BLOCK];
  int count[AXES], is_outside[AXES], column_outside[BLOCK], axis_of[AXES], axes = IN0_RANK;
  enum { LAST = AXES - 1 };
  if (IN0_RANK == 0) {
    (void)begin, (void)end;
    to[0] = (OUT0_T)from[0];
    return 0;
  }
  (void)scratch, (void)origin, (void)stop;
  int64_t stride = 1;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    scale[k] = 1, origin[k] = 0, stop[k] = 1, at[k] = 0, is_outside[k] = 0, count[k] = 0, index[k][0] = 0;
    step[k] = stride;
    stride *= dims[k];
    axis_of[k] = k;
  }
#ifdef ATTR_axes
  const int64_t given[] = ATTR_axes;
  axes = ATTR_axes_COUNT;
  for (int k = 0; k < axes; k++) axis_of[k] = (int)(given[k] < 0 ? given[k] + IN0_RANK : given[k]);
#endif
#if IN_COUNT > 2 && IN2_PRESENT
  for (int k = 0; k < axes && IN2_COUNT == axes; k++)
    scale[axis_of[k]] = (double)((const IN2_T *)in[2])[k];
#endif
#if IN_COUNT > 3 && IN3_PRESENT
  if (IN3_COUNT == axes) {
    const IN3_T *sizes = in[3];
    double common = 0;
    for (int k = 0; k < axes; k++) {
      const double own = (double)sizes[k] / (double)dims[axis_of[k]];
      scale[axis_of[k]] = own;
#ifdef ATTR_keep_aspect_ratio_policy_IS_not_larger
      if (k == 0 || own < common) common = own;
#else
      if (k == 0 || own > common) common = own;
#endif
    }
#if defined ATTR_keep_aspect_ratio_policy_IS_not_larger || \
    defined ATTR_keep_aspect_ratio_policy_IS_not_smaller
    for (int k = 0; k < axes; k++) scale[axis_of[k]] = common;
#endif
  }
#endif
#if defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize && IN_COUNT > 1 && IN1_PRESENT
  for (int k = 0; k < axes && IN1_COUNT == 2 * axes; k++) {
    origin[axis_of[k]] = (double)((const IN1_T *)in[1])[k];
    stop[axis_of[k]] = (double)((const IN1_T *)in[1])[k + axes];
  }
#endif
  const int64_t columns = to_dims[LAST];
  for (int64_t block = 0; block < columns; block += BLOCK) {
    const int width = (int)(columns - block < BLOCK ? columns - block : BLOCK);
    /* positions before `begin` fill the columns' taps, the others are rows */
    int64_t rest = begin;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--) at[k] = rest % to_dims[k];
    int changed = 0;
    for (int64_t position = begin - width; position < end; position++) {
      const int is_column = position < begin;
      if (is_column) at[LAST] = block + width + position - begin;
      for (int k = is_column ? LAST : changed; k < (is_column ? AXES : LAST); k++) {
        const double length = (double)dims[k], to_length = (double)to_dims[k], p = (double)at[k];
        const double s = scale[k], whole = s * length; /* before it was cut to elements */
#if defined ATTR_coordinate_transformation_mode_IS_half_pixel_symmetric
        const double x = length / 2 * (1 - to_length / whole) + (p + 0.5) / s - 0.5;
#elif defined ATTR_coordinate_transformation_mode_IS_pytorch_half_pixel
        const double x = to_length > 1 ? (p + 0.5) / s - 0.5 : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_align_corners
        const double x = to_length > 1 ? p * (length - 1) / (whole - 1) : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_asymmetric
        const double x = p / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_half_pixel_for_nn
        const double x = s == 1 && length == to_length && REACH ? p : (p + 0.5) / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize
        const double x =
            to_length > 1
                ? origin[k] * (length - 1) + p * (stop[k] - origin[k]) * (length - 1) / (whole - 1)
                : 0.5 * (origin[k] + stop[k]) * (length - 1);
        is_outside[k] = !(x >= 0 && x <= length - 1);
#else
        const double x = (p + 0.5) / s - 0.5;
#endif
        (void)length, (void)to_length, (void)whole;
        if (REACH == 0) {
#if defined ATTR_nearest_mode_IS_round_prefer_ceil
          const double n = floor(x + 0.5);
#elif defined ATTR_nearest_mode_IS_floor
          const double n = floor(x);
#elif defined ATTR_nearest_mode_IS_ceil
          const double n = ceil(x);
#else
          const double n = ceil(x - 0.5);
#endif
          count[k] = 1;
          weight[k][0] = 1;
          index[k][0] = !(n > 0) ? 0 : n >= length ? dims[k] - 1 : (int64_t)n;
          continue;
        }
        const double shrink = ATTR_antialias && s < 1 ? s : 1, reach = ceil(REACH / shrink);
        if (!(reach <= TAPS / 2)) return 9;
        count[k] = 2 * (int)reach;
        const double first = floor(x) - (reach - 1);
        double sum = 0;
        for (int t = 0; t < count[k]; t++) {
          const double i = first + t, d = fabs((i - x) * shrink), a = (double)ATTR_cubic_coeff_a;
          double w = d < 1 ? 1 - d : 0;
          if (REACH == 2)
            w = d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
                : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                        : 0;
          if (ATTR_exclude_outside && (i < 0 || i > length - 1)) w = 0;
          index[k][t] = !(i > 0) ? 0 : i >= length ? dims[k] - 1 : (int64_t)i;
          weight[k][t] = w;
          sum += w;
        }
        for (int t = 0; t < count[k] && sum != 0; t++) weight[k][t] /= sum;
      }
      if (is_column) {
        const int j = (int)(width + position - begin);
        for (int t = 0; t < count[LAST]; t++) {
          column_index[t][j] = index[LAST][t];
          column_weight[t][j] = weight[LAST][t];
        }
        column_outside[j] = is_outside[LAST];
        continue;
      }
      double sums[BLOCK] = {0};
      OUT0_T *restrict row = to + position * columns + block;
      int tap[AXES] = {0}, outside = 0;
      for (int k = 0; k < LAST; k++) outside |= is_outside[k];
      for (int done = 0; !done;) {
        double w = 1;
        int64_t offset = 0;
        for (int k = 0; k < LAST; k++) w *= weight[k][tap[k]], offset += index[k][tap[k]] * step[k];
        const IN0_T *restrict source = from + offset;
        if (REACH == 0)
          for (int j = 0; j < width; j++) row[j] = (OUT0_T)source[column_index[0][j]];
        else if (w != 0)
          for (int t = 0; t < count[LAST]; t++)
            for (int j = 0; j < width; j++)
              sums[j] += w * column_weight[t][j] * (double)source[column_index[t][j]];
        done = 1;
        for (int k = LAST - 1; k >= 0; k--) {
          if (++tap[k] < count[k]) {
            done = 0;
            break;
          }
          tap[k] = 0;
        }
      }
      for (int j = 0; j < width && REACH > 0; j++) row[j] = (OUT0_T)sums[j];
      for (int j = 0; j < width; j++)
        if (outside || column_outside[j]) row[j] = (OUT0_T)ATTR_extrapolation_value;
      for (changed = LAST - 1; changed >= 0; changed--) {
        if (++at[changed] < to_dims[changed]) break;
        at[changed] = 0;
      }
    }
  }
  return 0;
}
#undef ATTR_antialias
#undef ATTR_exclude_outside
#undef ATTR_cubic_coeff_a
#undef ATTR_extrapolation_value
#undef REACH
#undef TAPS
#undef BLOCK
#undef AXES
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef IN3_PRESENT
#undef IN3_T
#undef IN3_TYPE
#undef IN3_RANK
#undef IN3_COUNT
#undef IN3_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_mode_IS_linear
#undef ATTR_coordinate_transformation_mode_IS_align_corners
int run_40(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_40(in, out, scratch, begin, end); }
#define NAME plain_41
#define UNITS 36l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 7200l
#define IN0_DIMS {2,3,4,300,}
#define IN1_PRESENT 0
#define IN1_T float
#define IN1_TYPE 0
#define IN1_RANK 0
#define IN1_COUNT 0l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 1
#define IN2_COUNT 4l
#define IN2_DIMS {4,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 21600l
#define OUT0_DIMS {2,3,6,600,}
#define ATTR_mode_IS_nearest 1
/* Resize by nearest, linear or cubic interpolation, separable over the axes. The taps (source
 * index, weight) of a block of columns are made once; then every row adds up the combinations of
 * the taps of its other coordinates, a row of sources at a time. */
#ifndef ATTR_antialias
#define ATTR_antialias 0
#endif
#ifndef ATTR_exclude_outside
#define ATTR_exclude_outside 0
#endif
#ifndef ATTR_cubic_coeff_a
#define ATTR_cubic_coeff_a -0.75f
#endif
#ifndef ATTR_extrapolation_value
#define ATTR_extrapolation_value 0
#endif
#if defined ATTR_mode_IS_linear
#define REACH 1
#elif defined ATTR_mode_IS_cubic
#define REACH 2
#else
#define REACH 0
#endif
#if ATTR_antialias
#define TAPS 64
#define BLOCK 16
#else
#define TAPS 4
#define BLOCK 256
#endif
#define AXES (IN0_RANK > 0 ? IN0_RANK : 1)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict from = in[0];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  double scale[AXES], origin[AXES], stop[AXES], weight[AXES][TAPS], column_weight[TAPS][BLOCK];
  int64_t index[AXES][TAPS], at[AXES], step[AXES], column_index[TAPS][BLOCK];
  int count[AXES], is_outside[AXES], column_outside[BLOCK], axis_of[AXES], axes = IN0_RANK;
  enum { LAST = AXES - 1 };
  if (IN0_RANK == 0) {
    (void)begin, (void)end;
    to[0] = (OUT0_T)from[0];
    return 0;
  }
  (void)scratch, (void)origin, (void)stop;
  int64_t stride = 1;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    scale[k] = 1, origin[k] = 0, stop[k] = 1, at[k] = 0, is_outside[k] = 0, count[k] = 0, index[k][0] = 0;
    step[k] = stride;
    stride *= dims[k];
    axis_of[k] = k;
  }
#ifdef ATTR_axes
  const int64_t given[] = ATTR_axes;
  axes = ATTR_axes_COUNT;
  for (int k = 0; k < axes; k++) axis_of[k] = (int)(given[k] < 0 ? given[k] + IN0_RANK : given[k]);
#endif
#if IN_COUNT > 2 && IN2_PRESENT
  for (int k = 0; k < axes && IN2_COUNT == axes; k++)
    scale[axis_of[k]] = (double)((const IN2_T *)in[2])[k];
#endif
#if IN_COUNT > 3 && IN3_PRESENT
  if (IN3_COUNT == axes) {
    const IN3_T *sizes = in[3];
    double common = 0;
    for (int k = 0; k < axes; k++) {
      const double own = (double)sizes[k] / (double)dims[axis_of[k]];
      scale[axis_of[k]] = own;
#ifdef ATTR_keep_aspect_ratio_policy_IS_not_larger
      if (k == 0 || own < common) common = own;
#else
      if (k == 0 || own > common) common = own;
#endif
    }
#if defined ATTR_keep_aspect_ratio_policy_IS_not_larger || \
    defined ATTR_keep_aspect_ratio_policy_IS_not_smaller
    for (int k = 0; k < axes; k++) scale[axis_of[k]] = common;
#endif
  }
#endif
#if defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize && IN_COUNT > 1 && IN1_PRESENT
  for (int k = 0; k < axes && IN1_COUNT == 2 * axes; k++) {
    origin[axis_of[k]] = (double)((const IN1_T *)in[1])[k];
    stop[axis_of[k]] = (double)((const IN1_T *)in[1])[k + axes];
  }
#endif
  const int64_t columns = to_dims[LAST];
  for (int64_t block = 0; block < columns; block += BLOCK) {
    const int width = (int)(columns - block < BLOCK ? columns - block : BLOCK);
    /* positions before `begin` fill the columns' taps, the others are rows */
    int64_t rest = begin;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--) at[k] = rest % to_dims[k];
    int changed = 0;
    for (int64_t position = begin - width; position < end; position++) {
      const int is_column = position < begin;
      if (is_column) at[LAST] = block + width + position - begin;
      for (int k = is_column ? LAST : changed; k < (is_column ? AXES : LAST); k++) {
        const double length = (double)dims[k], to_length = (double)to_dims[k], p = (double)at[k];
        const double s = scale[k], whole = s * length; /* before it was cut to elements */
#if defined ATTR_coordinate_transformation_mode_IS_half_pixel_symmetric
        const double x = length / 2 * (1 - to_length / whole) + (p + 0.5) / s - 0.5;
#elif defined ATTR_coordinate_transformation_mode_IS_pytorch_half_pixel
        const double x = to_length > 1 ? (p + 0.5) / s - 0.5 : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_align_corners
        const double x = to_length > 1 ? p * (length - 1) / (whole - 1) : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_asymmetric
        const double x = p / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_half_pixel_for_nn
        const double x = s == 1 && length == to_length && REACH ? p : (p + 0.5) / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize
        const double x =
            to_length > 1
                ? origin[k] * (length - 1) + p * (stop[k] - origin[k]) * (length - 1) / (whole - 1)
                : 0.5 * (origin[k] + stop[k]) * (length - 1);
        is_outside[k] = !(x >= 0 && x <= length - 1);
#else
        const double x = (p + 0.5) / s - 0.5;
#endif
        (void)length, (void)to_length, (void)whole;
        if (REACH == 0) {
#if defined ATTR_nearest_mode_IS_round_prefer_ceil
          const double n = floor(x + 0.5);
#elif defined ATTR_nearest_mode_IS_floor
          const double n = floor(x);
#elif defined ATTR_nearest_mode_IS_ceil
          const double n = ceil(x);
#else
          const double n = ceil(x - 0.5);
#endif
          count[k] = 1;
          weight[k][0] = 1;
          index[k][0] = !(n > 0) ? 0 : n >= length ? dims[k] - 1 : (int64_t)n;
          continue;
        }
        const double shrink = ATTR_antialias && s < 1 ? s : 1, reach = ceil(REACH / shrink);
        if (!(reach <= TAPS / 2)) return 9;
        count[k] = 2 * (int)reach;
        const double first = floor(x) - (reach - 1);
        double sum = 0;
        for (int t = 0; t < count[k]; t++) {
          const double i = first + t, d = fabs((i - x) * shrink), a = (double)ATTR_cubic_coeff_a;
          double w = d < 1 ? 1 - d : 0;
          if (REACH == 2)
            w = d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
                : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                        : 0;
          if (ATTR_exclude_outside && (i < 0 || i > length - 1)) w = 0;
          index[k][t] = !(i > 0) ? 0 : i >= length ? dims[k] - 1 : (int64_t)i;
          weight[k][t] = w;
          sum += w;
        }
        for (int t = 0; t < count[k] && sum != 0; t++) weight[k][t] /= sum;
      }
      if (is_column) {
        const int j = (int)(width + position - begin);
        for (int t = 0; t < count[LAST]; t++) {
          column_index[t][j] = index[LAST][t];
          column_weight[t][j] = weight[LAST][t];
        }
        column_outside[j] = is_outside[LAST];
        continue;
      }
      double sums[BLOCK] = {0};
      OUT0_T *restrict row = to + position * columns + block;
      int tap[AXES] = {0}, outside = 0;
      for (int k = 0; k < LAST; k++) outside |= is_outside[k];
      for (int done = 0; !done;) {
        double w = 1;
        int64_t offset = 0;
        for (int k = 0; k < LAST; k++) w *= weight[k][tap[k]], offset += index[k][tap[k]] * step[k];
        const IN0_T *restrict source = from + offset;
        if (REACH == 0)
          for (int j = 0; j < width; j++) row[j] = (OUT0_T)source[column_index[0][j]];
        else if (w != 0)
          for (int t = 0; t < count[LAST]; t++)
            for (int j = 0; j < width; j++)
              sums[j] += w * column_weight[t][j] * (double)source[column_index[t][j]];
        done = 1;
        for (int k = LAST - 1; k >= 0; k--) {
          if (++tap[k] < count[k]) {
            done = 0;
            break;
          }
          tap[k] = 0;
        }
      }
      for (int j = 0; j < width && REACH > 0; j++) row[j] = (OUT0_T)sums[j];
      for (int j = 0; j < width; j++)
        if (outside || column_outside[j]) row[j] = (OUT0_T)ATTR_extrapolation_value;
      for (changed = LAST - 1; changed >= 0; changed--) {
        if (++at[changed] < to_dims[changed]) break;
        at[changed] = 0;
      }
    }
  }
  return 0;
}
#undef ATTR_antialias
#undef ATTR_exclude_outside
#undef ATTR_cubic_coeff_a
#undef ATTR_extrapolation_value
#undef REACH
#undef TAPS
#undef BLOCK
#undef AXES
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_mode_IS_nearest
int run_41(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_41(in, out, scratch, begin, end); }
#define NAME plain_42
#define UNITS 72l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 60l
#define IN0_DIMS {1,3,4,5,}
#define IN1_PRESENT 0
#define IN1_T float
#define IN1_TYPE 0
#define IN1_RANK 0
#define IN1_COUNT 0l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 1
#define IN2_COUNT 4l
#define IN2_DIMS {4,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 432l
#define OUT0_DIMS {1,6,12,6,}
#define ATTR_mode_IS_linear 1
/* Resize by nearest, linear or cubic interpolation, separable over the axes. The taps (source
 * index, weight) of a block of columns are made once; then every row adds up the combinations of
 * the taps of its other coordinates, a row of sources at a time. */
#ifndef ATTR_antialias
#define ATTR_antialias 0
#endif
#ifndef ATTR_exclude_outside
#define ATTR_exclude_outside 0
#endif
#ifndef ATTR_cubic_coeff_a
#define ATTR_cubic_coeff_a -0.75f
#endif
#ifndef ATTR_extrapolation_value
#define ATTR_extrapolation_value 0
#endif
#if defined ATTR_mode_IS_linear
#define REACH 1
#elif defined ATTR_mode_IS_cubic
#define REACH 2
#else
#define REACH 0
#endif
#if ATTR_antialias
#define TAPS 64
#define BLOCK 16
#else
#define TAPS 4
#define BLOCK 256
#endif
#define AXES (IN0_RANK > 0 ? IN0_RANK : 1)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict from = in[0];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  double scale[AXES], origin[AXES], stop[AXES], weight[AXES][TAPS], column_weight[TAPS][BLOCK];
  int64_t index[AXES][TAPS], at[AXES], step[AXES], column_index[TAPS][BLOCK];
  int count[AXES], is_outside[AXES], column_outside[BLOCK], axis_of[AXES], axes = IN0_RANK;
  enum { LAST = AXES - 1 };
  if (IN0_RANK == 0) {
    (void)begin, (void)end;
    to[0] = (OUT0_T)from[0];
    return 0;
  }
  (void)scratch, (void)origin, (void)stop;
  int64_t stride = 1;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    scale[k] = 1, origin[k] = 0, stop[k] = 1, at[k] = 0, is_outside[k] = 0, count[k] = 0, index[k][0] = 0;
    step[k] = stride;
    stride *= dims[k];
    axis_of[k] = k;
  }
#ifdef ATTR_axes
  const int64_t given[] = ATTR_axes;
  axes = ATTR_axes_COUNT;
  for (int k = 0; k < axes; k++) axis_of[k] = (int)(given[k] < 0 ? given[k] + IN0_RANK : given[k]);
#endif
#if IN_COUNT > 2 && IN2_PRESENT
  for (int k = 0; k < axes && IN2_COUNT == axes; k++)
    scale[axis_of[k]] = (double)((const IN2_T *)in[2])[k];
#endif
#if IN_COUNT > 3 && IN3_PRESENT
  if (IN3_COUNT == axes) {
    const IN3_T *sizes = in[3];
    double common = 0;
    for (int k = 0; k < axes; k++) {
      const double own = (double)sizes[k] / (double)dims[axis_of[k]];
      scale[axis_of[k]] = own;
#ifdef ATTR_keep_aspect_ratio_policy_IS_not_larger
      if (k == 0 || own < common) common = own;
#else
      if (k == 0 || own > common) common = own;
#endif
    }
#if defined ATTR_keep_aspect_ratio_policy_IS_not_larger || \
    defined ATTR_keep_aspect_ratio_policy_IS_not_smaller
    for (int k = 0; k < axes; k++) scale[axis_of[k]] = common;
#endif
  }
#endif
#if defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize && IN_COUNT > 1 && IN1_PRESENT
  for (int k = 0; k < axes && IN1_COUNT == 2 * axes; k++) {
    origin[axis_of[k]] = (double)((const IN1_T *)in[1])[k];
    stop[axis_of[k]] = (double)((const IN1_T *)in[1])[k + axes];
  }
#endif
  const int64_t columns = to_dims[LAST];
  for (int64_t block = 0; block < columns; block += BLOCK) {
    const int width = (int)(columns - block < BLOCK ? columns - block : BLOCK);
    /* positions before `begin` fill the columns' taps, the others are rows */
    int64_t rest = begin;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--) at[k] = rest % to_dims[k];
    int changed = 0;
    for (int64_t position = begin - width; position < end; position++) {
      const int is_column = position < begin;
      if (is_column) at[LAST] = block + width + position - begin;
      for (int k = is_column ? LAST : changed; k < (is_column ? AXES : LAST); k++) {
        const double length = (double)dims[k], to_length = (double)to_dims[k], p = (double)at[k];
        const double s = scale[k], whole = s * length; /* before it was cut to elements */
#if defined ATTR_coordinate_transformation_mode_IS_half_pixel_symmetric
        const double x = length / 2 * (1 - to_length / whole) + (p + 0.5) / s - 0.5;
#elif defined ATTR_coordinate_transformation_mode_IS_pytorch_half_pixel
        const double x = to_length > 1 ? (p + 0.5) / s - 0.5 : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_align_corners
        const double x = to_length > 1 ? p * (length - 1) / (whole - 1) : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_asymmetric
        const double x = p / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_half_pixel_for_nn
        const double x = s == 1 && length == to_length && REACH ? p : (p + 0.5) / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize
        const double x =
            to_length > 1
                ? origin[k] * (length - 1) + p * (stop[k] - origin[k]) * (length - 1) / (whole - 1)
                : 0.5 * (origin[k] + stop[k]) * (length - 1);
        is_outside[k] = !(x >= 0 && x <= length - 1);
#else
        const double x = (p + 0.5) / s - 0.5;
#endif
        (void)length, (void)to_length, (void)whole;
        if (REACH == 0) {
#if defined ATTR_nearest_mode_IS_round_prefer_ceil
          const double n = floor(x + 0.5);
#elif defined ATTR_nearest_mode_IS_floor
          const double n = floor(x);
#elif defined ATTR_nearest_mode_IS_ceil
          const double n = ceil(x);
#else
          const double n = ceil(x - 0.5);
#endif
          count[k] = 1;
          weight[k][0] = 1;
          index[k][0] = !(n > 0) ? 0 : n >= length ? dims[k] - 1 : (int64_t)n;
          continue;
        }
        const double shrink = ATTR_antialias && s < 1 ? s : 1, reach = ceil(REACH / shrink);
        if (!(reach <= TAPS / 2)) return 9;
        count[k] = 2 * (int)reach;
        const double first = floor(x) - (reach - 1);
        double sum = 0;
        for (int t = 0; t < count[k]; t++) {
          const double i = first + t, d = fabs((i - x) * shrink), a = (double)ATTR_cubic_coeff_a;
          double w = d < 1 ? 1 - d : 0;
          if (REACH == 2)
            w = d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
                : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                        : 0;
          if (ATTR_exclude_outside && (i < 0 || i > length - 1)) w = 0;
          index[k][t] = !(i > 0) ? 0 : i >= length ? dims[k] - 1 : (int64_t)i;
          weight[k][t] = w;
          sum += w;
        }
        for (int t = 0; t < count[k] && sum != 0; t++) weight[k][t] /= sum;
      }
      if (is_column) {
        const int j = (int)(width + position - begin);
        for (int t = 0; t < count[LAST]; t++) {
          column_index[t][j] = index[LAST][t];
          column_weight[t][j] = weight[LAST][t];
        }
        column_outside[j] = is_outside[LAST];
        continue;
      }
      double sums[BLOCK] = {0};
      OUT0_T *restrict row = to + position * columns + block;
      int tap[AXES] = {0}, outside = 0;
      for (int k = 0; k < LAST; k++) outside |= is_outside[k];
      for (int done = 0; !done;) {
        double w = 1;
        int64_t offset = 0;
        for (int k = 0; k < LAST; k++) w *= weight[k][tap[k]], offset += index[k][tap[k]] * step[k];
        const IN0_T *restrict source = from + offset;
        if (REACH == 0)
          for (int j = 0; j < width; j++) row[j] = (OUT0_T)source[column_index[0][j]];
        else if (w != 0)
          for (int t = 0; t < count[LAST]; t++)
            for (int j = 0; j < width; j++)
              sums[j] += w * column_weight[t][j] * (double)source[column_index[t][j]];
        done = 1;
        for (int k = LAST - 1; k >= 0; k--) {
          if (++tap[k] < count[k]) {
            done = 0;
            break;
          }
          tap[k] = 0;
        }
      }
      for (int j = 0; j < width && REACH > 0; j++) row[j] = (OUT0_T)sums[j];
      for (int j = 0; j < width; j++)
        if (outside || column_outside[j]) row[j] = (OUT0_T)ATTR_extrapolation_value;
      for (changed = LAST - 1; changed >= 0; changed--) {
        if (++at[changed] < to_dims[changed]) break;
        at[changed] = 0;
      }
    }
  }
  return 0;
}
#undef ATTR_antialias
#undef ATTR_exclude_outside
#undef ATTR_cubic_coeff_a
#undef ATTR_extrapolation_value
#undef REACH
#undef TAPS
#undef BLOCK
#undef AXES
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_mode_IS_linear
int run_42(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_42(in, out, scratch, begin, end); }
#define NAME plain_43
#define UNITS 1l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 1
#define IN0_COUNT 7l
#define IN0_DIMS {7,}
#define IN1_PRESENT 0
#define IN1_T float
#define IN1_TYPE 0
#define IN1_RANK 0
#define IN1_COUNT 0l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 1
#define IN2_COUNT 1l
#define IN2_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 1
#define OUT0_COUNT 350l
#define OUT0_DIMS {350,}
#define ATTR_mode_IS_linear 1
/* Resize by nearest, linear or cubic interpolation, separable over the axes. The taps (source
 * index, weight) of a block of columns are made once; then every row adds up the combinations of
 * the taps of its other coordinates, a row of sources at a time. */
#ifndef ATTR_antialias
#define ATTR_antialias 0
#endif
#ifndef ATTR_exclude_outside
#define ATTR_exclude_outside 0
#endif
#ifndef ATTR_cubic_coeff_a
#define ATTR_cubic_coeff_a -0.75f
#endif
#ifndef ATTR_extrapolation_value
#define ATTR_extrapolation_value 0
#endif
#if defined ATTR_mode_IS_linear
#define REACH 1
#elif defined ATTR_mode_IS_cubic
#define REACH 2
#else
#define REACH 0
#endif
#if ATTR_antialias
#define TAPS 64
#define BLOCK 16
#else
#define TAPS 4
#define BLOCK 256
#endif
#define AXES (IN0_RANK > 0 ? IN0_RANK : 1)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict from = in[0];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  double scale[AXES], origin[AXES], stop[AXES], weight[AXES][TAPS], column_weight[TAPS][BLOCK];
  int64_t index[AXES][TAPS], at[AXES], step[AXES], column_index[TAPS][BLOCK];
  int count[AXES], is_outside[AXES], column_outside[BLOCK], axis_of[AXES], axes = IN0_RANK;
  enum { LAST = AXES - 1 };
  if (IN0_RANK == 0) {
    (void)begin, (void)end;
    to[0] = (OUT0_T)from[0];
    return 0;
  }
  (void)scratch, (void)origin, (void)stop;
  int64_t stride = 1;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    scale[k] = 1, origin[k] = 0, stop[k] = 1, at[k] = 0, is_outside[k] = 0, count[k] = 0, index[k][0] = 0;
    step[k] = stride;
    stride *= dims[k];
    axis_of[k] = k;
  }
#ifdef ATTR_axes
  const int64_t given[] = ATTR_axes;
  axes = ATTR_axes_COUNT;
  for (int k = 0; k < axes; k++) axis_of[k] = (int)(given[k] < 0 ? given[k] + IN0_RANK : given[k]);
#endif
#if IN_COUNT > 2 && IN2_PRESENT
  for (int k = 0; k < axes && IN2_COUNT == axes; k++)
    scale[axis_of[k]] = (double)((const IN2_T *)in[2])[k];
#endif
#if IN_COUNT > 3 && IN3_PRESENT
  if (IN3_COUNT == axes) {
    const IN3_T *sizes = in[3];
    double common = 0;
    for (int k = 0; k < axes; k++) {
      const double own = (double)sizes[k] / (double)dims[axis_of[k]];
      scale[axis_of[k]] = own;
#ifdef ATTR_keep_aspect_ratio_policy_IS_not_larger
      if (k == 0 || own < common) common = own;
#else
      if (k == 0 || own > common) common = own;
#endif
    }
#if defined ATTR_keep_aspect_ratio_policy_IS_not_larger || \
    defined ATTR_keep_aspect_ratio_policy_IS_not_smaller
    for (int k = 0; k < axes; k++) scale[axis_of[k]] = common;
#endif
  }
#endif
#if defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize && IN_COUNT > 1 && IN1_PRESENT
  for (int k = 0; k < axes && IN1_COUNT == 2 * axes; k++) {
    origin[axis_of[k]] = (double)((const IN1_T *)in[1])[k];
    stop[axis_of[k]] = (double)((const IN1_T *)in[1])[k + axes];
  }
#endif
  const int64_t columns = to_dims[LAST];
  for (int64_t block = 0; block < columns; block += BLOCK) {
    const int width = (int)(columns - block < BLOCK ? columns - block : BLOCK);
    /* positions before `begin` fill the columns' taps, the others are rows */
    int64_t rest = begin;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--) at[k] = rest % to_dims[k];
    int changed = 0;
    for (int64_t position = begin - width; position < end; position++) {
      const int is_column = position < begin;
      if (is_column) at[LAST] = block + width + position - begin;
      for (int k = is_column ? LAST : changed; k < (is_column ? AXES : LAST); k++) {
        const double length = (double)dims[k], to_length = (double)to_dims[k], p = (double)at[k];
        const double s = scale[k], whole = s * length; /* before it was cut to elements */
#if defined ATTR_coordinate_transformation_mode_IS_half_pixel_symmetric
        const double x = length / 2 * (1 - to_length / whole) + (p + 0.5) / s - 0.5;
#elif defined ATTR_coordinate_transformation_mode_IS_pytorch_half_pixel
        const double x = to_length > 1 ? (p + 0.5) / s - 0.5 : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_align_corners
        const double x = to_length > 1 ? p * (length - 1) / (whole - 1) : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_asymmetric
        const double x = p / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_half_pixel_for_nn
        const double x = s == 1 && length == to_length && REACH ? p : (p + 0.5) / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize
        const double x =
            to_length > 1
                ? origin[k] * (length - 1) + p * (stop[k] - origin[k]) * (length - 1) / (whole - 1)
                : 0.5 * (origin[k] + stop[k]) * (length - 1);
        is_outside[k] = !(x >= 0 && x <= length - 1);
#else
        const double x = (p + 0.5) / s - 0.5;
#endif
        (void)length, (void)to_length, (void)whole;
        if (REACH == 0) {
#if defined ATTR_nearest_mode_IS_round_prefer_ceil
          const double n = floor(x + 0.5);
#elif defined ATTR_nearest_mode_IS_floor
          const double n = floor(x);
#elif defined ATTR_nearest_mode_IS_ceil
          const double n = ceil(x);
#else
          const double n = ceil(x - 0.5);
#endif
          count[k] = 1;
          weight[k][0] = 1;
          index[k][0] = !(n > 0) ? 0 : n >= length ? dims[k] - 1 : (int64_t)n;
          continue;
        }
        const double shrink = ATTR_antialias && s < 1 ? s : 1, reach = ceil(REACH / shrink);
        if (!(reach <= TAPS / 2)) return 9;
        count[k] = 2 * (int)reach;
        const double first = floor(x) - (reach - 1);
        double sum = 0;
        for (int t = 0; t < count[k]; t++) {
          const double i = first + t, d = fabs((i - x) * shrink), a = (double)ATTR_cubic_coeff_a;
          double w = d < 1 ? 1 - d : 0;
          if (REACH == 2)
            w = d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
                : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                        : 0;
          if (ATTR_exclude_outside && (i < 0 || i > length - 1)) w = 0;
          index[k][t] = !(i > 0) ? 0 : i >= length ? dims[k] - 1 : (int64_t)i;
          weight[k][t] = w;
          sum += w;
        }
        for (int t = 0; t < count[k] && sum != 0; t++) weight[k][t] /= sum;
      }
      if (is_column) {
        const int j = (int)(width + position - begin);
        for (int t = 0; t < count[LAST]; t++) {
          column_index[t][j] = index[LAST][t];
          column_weight[t][j] = weight[LAST][t];
        }
        column_outside[j] = is_outside[LAST];
        continue;
      }
      double sums[BLOCK] = {0};
      OUT0_T *restrict row = to + position * columns + block;
      int tap[AXES] = {0}, outside = 0;
      for (int k = 0; k < LAST; k++) outside |= is_outside[k];
      for (int done = 0; !done;) {
        double w = 1;
        int64_t offset = 0;
        for (int k = 0; k < LAST; k++) w *= weight[k][tap[k]], offset += index[k][tap[k]] * step[k];
        const IN0_T *restrict source = from + offset;
        if (REACH == 0)
          for (int j = 0; j < width; j++) row[j] = (OUT0_T)source[column_index[0][j]];
        else if (w != 0)
          for (int t = 0; t < count[LAST]; t++)
            for (int j = 0; j < width; j++)
              sums[j] += w * column_weight[t][j] * (double)source[column_index[t][j]];
        done = 1;
        for (int k = LAST - 1; k >= 0; k--) {
          if (++tap[k] < count[k]) {
            done = 0;
            break;
          }
          tap[k] = 0;
        }
      }
      for (int j = 0; j < width && REACH > 0; j++) row[j] = (OUT0_T)sums[j];
      for (int j = 0; j < width; j++)
        if (outside || column_outside[j]) row[j] = (OUT0_T)ATTR_extrapolation_value;
      for (changed = LAST - 1; changed >= 0; changed--) {
        if (++at[changed] < to_dims[changed]) break;
        at[changed] = 0;
      }
    }
  }
  return 0;
}
#undef ATTR_antialias
#undef ATTR_exclude_outside
#undef ATTR_cubic_coeff_a
#undef ATTR_extrapolation_value
#undef REACH
#undef TAPS
#undef BLOCK
#undef AXES
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_mode_IS_linear
int run_43(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_43(in, out, scratch, begin, end); }
#define NAME plain_44
#define UNITS 1l
#define IN_COUNT 4
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int64_t
#define IN0_TYPE 7
#define IN0_RANK 1
#define IN0_COUNT 3l
#define IN0_DIMS {3,}
#define IN1_PRESENT 0
#define IN1_T float
#define IN1_TYPE 0
#define IN1_RANK 0
#define IN1_COUNT 0l
#define IN1_DIMS {0}
#define IN2_PRESENT 0
#define IN2_T float
#define IN2_TYPE 0
#define IN2_RANK 0
#define IN2_COUNT 0l
#define IN2_DIMS {0}
#define IN3_PRESENT 1
#define IN3_T int64_t
#define IN3_TYPE 7
#define IN3_RANK 1
#define IN3_COUNT 1l
#define IN3_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T int64_t
#define OUT0_TYPE 7
#define OUT0_RANK 1
#define OUT0_COUNT 5l
#define OUT0_DIMS {5,}
#define ATTR_mode_IS_nearest 1
/* Resize by nearest, linear or cubic interpolation, separable over the axes. The taps (source
 * index, weight) of a block of columns are made once; then every row adds up the combinations of
 * the taps of its other coordinates, a row of sources at a time. */
#ifndef ATTR_antialias
#define ATTR_antialias 0
#endif
#ifndef ATTR_exclude_outside
#define ATTR_exclude_outside 0
#endif
#ifndef ATTR_cubic_coeff_a
#define ATTR_cubic_coeff_a -0.75f
#endif
#ifndef ATTR_extrapolation_value
#define ATTR_extrapolation_value 0
#endif
#if defined ATTR_mode_IS_linear
#define REACH 1
#elif defined ATTR_mode_IS_cubic
#define REACH 2
#else
#define REACH 0
#endif
#if ATTR_antialias
#define TAPS 64
#define BLOCK 16
#else
#define TAPS 4
#define BLOCK 256
#endif
#define AXES (IN0_RANK > 0 ? IN0_RANK : 1)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict from = in[0];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  double scale[AXES], origin[AXES], stop[AXES], weight[AXES][TAPS], column_weight[TAPS][BLOCK];
  int64_t index[AXES][TAPS], at[AXES], step[AXES], column_index[TAPS][BLOCK];
  int count[AXES], is_outside[AXES], column_outside[BLOCK], axis_of[AXES], axes = IN0_RANK;
  enum { LAST = AXES - 1 };
  if (IN0_RANK == 0) {
    (void)begin, (void)end;
    to[0] = (OUT0_T)from[0];
    return 0;
  }
  (void)scratch, (void)origin, (void)stop;
  int64_t stride = 1;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    scale[k] = 1, origin[k] = 0, stop[k] = 1, at[k] = 0, is_outside[k] = 0, count[k] = 0, index[k][0] = 0;
    step[k] = stride;
    stride *= dims[k];
    axis_of[k] = k;
  }
#ifdef ATTR_axes
  const int64_t given[] = ATTR_axes;
  axes = ATTR_axes_COUNT;
  for (int k = 0; k < axes; k++) axis_of[k] = (int)(given[k] < 0 ? given[k] + IN0_RANK : given[k]);
#endif
#if IN_COUNT > 2 && IN2_PRESENT
  for (int k = 0; k < axes && IN2_COUNT == axes; k++)
    scale[axis_of[k]] = (double)((const IN2_T *)in[2])[k];
#endif
#if IN_COUNT > 3 && IN3_PRESENT
  if (IN3_COUNT == axes) {
    const IN3_T *sizes = in[3];
    double common = 0;
    for (int k = 0; k < axes; k++) {
      const double own = (double)sizes[k] / (double)dims[axis_of[k]];
      scale[axis_of[k]] = own;
#ifdef ATTR_keep_aspect_ratio_policy_IS_not_larger
      if (k == 0 || own < common) common = own;
#else
      if (k == 0 || own > common) common = own;
#endif
    }
#if defined ATTR_keep_aspect_ratio_policy_IS_not_larger || \
    defined ATTR_keep_aspect_ratio_policy_IS_not_smaller
    for (int k = 0; k < axes; k++) scale[axis_of[k]] = common;
#endif
  }
#endif
#if defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize && IN_COUNT > 1 && IN1_PRESENT
  for (int k = 0; k < axes && IN1_COUNT == 2 * axes; k++) {
    origin[axis_of[k]] = (double)((const IN1_T *)in[1])[k];
    stop[axis_of[k]] = (double)((const IN1_T *)in[1])[k + axes];
  }
#endif
  const int64_t columns = to_dims[LAST];
  for (int64_t block = 0; block < columns; block += BLOCK) {
    const int width = (int)(columns - block < BLOCK ? columns - block : BLOCK);
    /* positions before `begin` fill the columns' taps, the others are rows */
    int64_t rest = begin;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--) at[k] = rest % to_dims[k];
    int changed = 0;
    for (int64_t position = begin - width; position < end; position++) {
      const int is_column = position < begin;
      if (is_column) at[LAST] = block + width + position - begin;
      for (int k = is_column ? LAST : changed; k < (is_column ? AXES : LAST); k++) {
        const double length = (double)dims[k], to_length = (double)to_dims[k], p = (double)at[k];
        const double s = scale[k], whole = s * length; /* before it was cut to elements */
#if defined ATTR_coordinate_transformation_mode_IS_half_pixel_symmetric
        const double x = length / 2 * (1 - to_length / whole) + (p + 0.5) / s - 0.5;
#elif defined ATTR_coordinate_transformation_mode_IS_pytorch_half_pixel
        const double x = to_length > 1 ? (p + 0.5) / s - 0.5 : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_align_corners
        const double x = to_length > 1 ? p * (length - 1) / (whole - 1) : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_asymmetric
        const double x = p / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_half_pixel_for_nn
        const double x = s == 1 && length == to_length && REACH ? p : (p + 0.5) / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize
        const double x =
            to_length > 1
                ? origin[k] * (length - 1) + p * (stop[k] - origin[k]) * (length - 1) / (whole - 1)
                : 0.5 * (origin[k] + stop[k]) * (length - 1);
        is_outside[k] = !(x >= 0 && x <= length - 1);
#else
        const double x = (p + 0.5) / s - 0.5;
#endif
        (void)length, (void)to_length, (void)whole;
        if (REACH == 0) {
#if defined ATTR_nearest_mode_IS_round_prefer_ceil
          const double n = floor(x + 0.5);
#elif defined ATTR_nearest_mode_IS_floor
          const double n = floor(x);
#elif defined ATTR_nearest_mode_IS_ceil
          const double n = ceil(x);
#else
          const double n = ceil(x - 0.5);
#endif
          count[k] = 1;
          weight[k][0] = 1;
          index[k][0] = !(n > 0) ? 0 : n >= length ? dims[k] - 1 : (int64_t)n;
          continue;
        }
        const double shrink = ATTR_antialias && s < 1 ? s : 1, reach = ceil(REACH / shrink);
        if (!(reach <= TAPS / 2)) return 9;
        count[k] = 2 * (int)reach;
        const double first = floor(x) - (reach - 1);
        double sum = 0;
        for (int t = 0; t < count[k]; t++) {
          const double i = first + t, d = fabs((i - x) * shrink), a = (double)ATTR_cubic_coeff_a;
          double w = d < 1 ? 1 - d : 0;
          if (REACH == 2)
            w = d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
                : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                        : 0;
          if (ATTR_exclude_outside && (i < 0 || i > length - 1)) w = 0;
          index[k][t] = !(i > 0) ? 0 : i >= length ? dims[k] - 1 : (int64_t)i;
          weight[k][t] = w;
          sum += w;
        }
        for (int t = 0; t < count[k] && sum != 0; t++) weight[k][t] /= sum;
      }
      if (is_column) {
        const int j = (int)(width + position - begin);
        for (int t = 0; t < count[LAST]; t++) {
          column_index[t][j] = index[LAST][t];
          column_weight[t][j] = weight[LAST][t];
        }
        column_outside[j] = is_outside[LAST];
        continue;
      }
      double sums[BLOCK] = {0};
      OUT0_T *restrict row = to + position * columns + block;
      int tap[AXES] = {0}, outside = 0;
      for (int k = 0; k < LAST; k++) outside |= is_outside[k];
      for (int done = 0; !done;) {
        double w = 1;
        int64_t offset = 0;
        for (int k = 0; k < LAST; k++) w *= weight[k][tap[k]], offset += index[k][tap[k]] * step[k];
        const IN0_T *restrict source = from + offset;
        if (REACH == 0)
          for (int j = 0; j < width; j++) row[j] = (OUT0_T)source[column_index[0][j]];
        else if (w != 0)
          for (int t = 0; t < count[LAST]; t++)
            for (int j = 0; j < width; j++)
              sums[j] += w * column_weight[t][j] * (double)source[column_index[t][j]];
        done = 1;
        for (int k = LAST - 1; k >= 0; k--) {
          if (++tap[k] < count[k]) {
            done = 0;
            break;
          }
          tap[k] = 0;
        }
      }
      for (int j = 0; j < width && REACH > 0; j++) row[j] = (OUT0_T)sums[j];
      for (int j = 0; j < width; j++)
        if (outside || column_outside[j]) row[j] = (OUT0_T)ATTR_extrapolation_value;
      for (changed = LAST - 1; changed >= 0; changed--) {
        if (++at[changed] < to_dims[changed]) break;
        at[changed] = 0;
      }
    }
  }
  return 0;
}
#undef ATTR_antialias
#undef ATTR_exclude_outside
#undef ATTR_cubic_coeff_a
#undef ATTR_extrapolation_value
#undef REACH
#undef TAPS
#undef BLOCK
#undef AXES
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef IN3_PRESENT
#undef IN3_T
#undef IN3_TYPE
#undef IN3_RANK
#undef IN3_COUNT
#undef IN3_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_mode_IS_nearest
int run_44(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_44(in, out, scratch, begin, end); }
#define NAME plain_45
#define UNITS 3l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 16l
#define IN0_DIMS {1,1,4,4,}
#define IN1_PRESENT 0
#define IN1_T float
#define IN1_TYPE 0
#define IN1_RANK 0
#define IN1_COUNT 0l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 1
#define IN2_COUNT 4l
#define IN2_DIMS {4,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 9l
#define OUT0_DIMS {1,1,3,3,}
#define ATTR_mode_IS_cubic 1
#define ATTR_coordinate_transformation_mode_IS_align_corners 1
/* Resize by nearest, linear or cubic interpolation, separable over the axes. The taps (source
 * index, weight) of a block of columns are made once; then every row adds up the combinations of
 * the taps of its other coordinates, a row of sources at a time. */
#ifndef ATTR_antialias
#define ATTR_antialias 0
#endif
#ifndef ATTR_exclude_outside
#define ATTR_exclude_outside 0
#endif
#ifndef ATTR_cubic_coeff_a
#define ATTR_cubic_coeff_a -0.75f
#endif
#ifndef ATTR_extrapolation_value
#define ATTR_extrapolation_value 0
#endif
#if defined ATTR_mode_IS_linear
#define REACH 1
#elif defined ATTR_mode_IS_cubic
#define REACH 2
#else
#define REACH 0
#endif
#if ATTR_antialias
#define TAPS 64
#define BLOCK 16
#else
#define TAPS 4
#define BLOCK 256
#endif
#define AXES (IN0_RANK > 0 ? IN0_RANK : 1)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict from = in[0];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  double scale[AXES], origin[AXES], stop[AXES], weight[AXES][TAPS], column_weight[TAPS][BLOCK];
  int64_t index[AXES][TAPS], at[AXES], step[AXES], column_index[TAPS][BLOCK];
  int count[AXES], is_outside[AXES], column_outside[BLOCK], axis_of[AXES], axes = IN0_RANK;
  enum { LAST = AXES - 1 };
  if (IN0_RANK == 0) {
    (void)begin, (void)end;
    to[0] = (OUT0_T)from[0];
    return 0;
  }
  (void)scratch, (void)origin, (void)stop;
  int64_t stride = 1;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    scale[k] = 1, origin[k] = 0, stop[k] = 1, at[k] = 0, is_outside[k] = 0, count[k] = 0, index[k][0] = 0;
    step[k] = stride;
    stride *= dims[k];
    axis_of[k] = k;
  }
#ifdef ATTR_axes
  const int64_t given[] = ATTR_axes;
  axes = ATTR_axes_COUNT;
  for (int k = 0; k < axes; k++) axis_of[k] = (int)(given[k] < 0 ? given[k] + IN0_RANK : given[k]);
#endif
#if IN_COUNT > 2 && IN2_PRESENT
  for (int k = 0; k < axes && IN2_COUNT == axes; k++)
    scale[axis_of[k]] = (double)((const IN2_T *)in[2])[k];
#endif
#if IN_COUNT > 3 && IN3_PRESENT
  if (IN3_COUNT == axes) {
    const IN3_T *sizes = in[3];
    double common = 0;
    for (int k = 0; k < axes; k++) {
      const double own = (double)sizes[k] / (double)dims[axis_of[k]];
      scale[axis_of[k]] = own;
#ifdef ATTR_keep_aspect_ratio_policy_IS_not_larger
      if (k == 0 || own < common) common = own;
#else
      if (k == 0 || own > common) common = own;
#endif
    }
#if defined ATTR_keep_aspect_ratio_policy_IS_not_larger || \
    defined ATTR_keep_aspect_ratio_policy_IS_not_smaller
    for (int k = 0; k < axes; k++) scale[axis_of[k]] = common;
#endif
  }
#endif
#if defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize && IN_COUNT > 1 && IN1_PRESENT
  for (int k = 0; k < axes && IN1_COUNT == 2 * axes; k++) {
    origin[axis_of[k]] = (double)((const IN1_T *)in[1])[k];
    stop[axis_of[k]] = (double)((const IN1_T *)in[1])[k + axes];
  }
#endif
  const int64_t columns = to_dims[LAST];
  for (int64_t block = 0; block < columns; block += BLOCK) {
    const int width = (int)(columns - block < BLOCK ? columns - block : BLOCK);
    /* positions before `begin` fill the columns' taps, the others are rows */
    int64_t rest = begin;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--) at[k] = rest % to_dims[k];
    int changed = 0;
    for (int64_t position = begin - width; position < end; position++) {
      const int is_column = position < begin;
      if (is_column) at[LAST] = block + width + position - begin;
      for (int k = is_column ? LAST : changed; k < (is_column ? AXES : LAST); k++) {
        const double length = (double)dims[k], to_length = (double)to_dims[k], p = (double)at[k];
        const double s = scale[k], whole = s * length; /* before it was cut to elements */
#if defined ATTR_coordinate_transformation_mode_IS_half_pixel_symmetric
        const double x = length / 2 * (1 - to_length / whole) + (p + 0.5) / s - 0.5;
#elif defined ATTR_coordinate_transformation_mode_IS_pytorch_half_pixel
        const double x = to_length > 1 ? (p + 0.5) / s - 0.5 : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_align_corners
        const double x = to_length > 1 ? p * (length - 1) / (whole - 1) : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_asymmetric
        const double x = p / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_half_pixel_for_nn
        const double x = s == 1 && length == to_length && REACH ? p : (p + 0.5) / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize
        const double x =
            to_length > 1
                ? origin[k] * (length - 1) + p * (stop[k] - origin[k]) * (length - 1) / (whole - 1)
                : 0.5 * (origin[k] + stop[k]) * (length - 1);
        is_outside[k] = !(x >= 0 && x <= length - 1);
#else
        const double x = (p + 0.5) / s - 0.5;
#endif
        (void)length, (void)to_length, (void)whole;
        if (REACH == 0) {
#if defined ATTR_nearest_mode_IS_round_prefer_ceil
          const double n = floor(x + 0.5);
#elif defined ATTR_nearest_mode_IS_floor
          const double n = floor(x);
#elif defined ATTR_nearest_mode_IS_ceil
          const double n = ceil(x);
#else
          const double n = ceil(x - 0.5);
#endif
          count[k] = 1;
          weight[k][0] = 1;
          index[k][0] = !(n > 0) ? 0 : n >= length ? dims[k] - 1 : (int64_t)n;
          continue;
        }
        const double shrink = ATTR_antialias && s < 1 ? s : 1, reach = ceil(REACH / shrink);
        if (!(reach <= TAPS / 2)) return 9;
        count[k] = 2 * (int)reach;
        const double first = floor(x) - (reach - 1);
        double sum = 0;
        for (int t = 0; t < count[k]; t++) {
          const double i = first + t, d = fabs((i - x) * shrink), a = (double)ATTR_cubic_coeff_a;
          double w = d < 1 ? 1 - d : 0;
          if (REACH == 2)
            w = d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
                : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                        : 0;
          if (ATTR_exclude_outside && (i < 0 || i > length - 1)) w = 0;
          index[k][t] = !(i > 0) ? 0 : i >= length ? dims[k] - 1 : (int64_t)i;
          weight[k][t] = w;
          sum += w;
        }
        for (int t = 0; t < count[k] && sum != 0; t++) weight[k][t] /= sum;
      }
      if (is_column) {
        const int j = (int)(width + position - begin);
        for (int t = 0; t < count[LAST]; t++) {
          column_index[t][j] = index[LAST][t];
          column_weight[t][j] = weight[LAST][t];
        }
        column_outside[j] = is_outside[LAST];
        continue;
      }
      double sums[BLOCK] = {0};
      OUT0_T *restrict row = to + position * columns + block;
      int tap[AXES] = {0}, outside = 0;
      for (int k = 0; k < LAST; k++) outside |= is_outside[k];
      for (int done = 0; !done;) {
        double w = 1;
        int64_t offset = 0;
        for (int k = 0; k < LAST; k++) w *= weight[k][tap[k]], offset += index[k][tap[k]] * step[k];
        const IN0_T *restrict source = from + offset;
        if (REACH == 0)
          for (int j = 0; j < width; j++) row[j] = (OUT0_T)source[column_index[0][j]];
        else if (w != 0)
          for (int t = 0; t < count[LAST]; t++)
            for (int j = 0; j < width; j++)
              sums[j] += w * column_weight[t][j] * (double)source[column_index[t][j]];
        done = 1;
        for (int k = LAST - 1; k >= 0; k--) {
          if (++tap[k] < count[k]) {
            done = 0;
            break;
          }
          tap[k] = 0;
        }
      }
      for (int j = 0; j < width && REACH > 0; j++) row[j] = (OUT0_T)sums[j];
      for (int j = 0; j < width; j++)
        if (outside || column_outside[j]) row[j] = (OUT0_T)ATTR_extrapolation_value;
      for (changed = LAST - 1; changed >= 0; changed--) {
        if (++at[changed] < to_dims[changed]) break;
        at[changed] = 0;
      }
    }
  }
  return 0;
}
#undef ATTR_antialias
#undef ATTR_exclude_outside
#undef ATTR_cubic_coeff_a
#undef ATTR_extrapolation_value
#undef REACH
#undef TAPS
#undef BLOCK
#undef AXES
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_mode_IS_cubic
#undef ATTR_coordinate_transformation_mode_IS_align_corners
int run_45(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_45(in, out, scratch, begin, end); }
#define NAME plain_46
#define UNITS 8l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 16l
#define IN0_DIMS {1,1,4,4,}
#define IN1_PRESENT 0
#define IN1_T float
#define IN1_TYPE 0
#define IN1_RANK 0
#define IN1_COUNT 0l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 1
#define IN2_COUNT 4l
#define IN2_DIMS {4,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 24l
#define OUT0_DIMS {1,1,8,3,}
#define ATTR_mode_IS_cubic 1
#define ATTR_exclude_outside 1l
/* Resize by nearest, linear or cubic interpolation, separable over the axes. The taps (source
 * index, weight) of a block of columns are made once; then every row adds up the combinations of
 * the taps of its other coordinates, a row of sources at a time. */
#ifndef ATTR_antialias
#define ATTR_antialias 0
#endif
#ifndef ATTR_exclude_outside
#define ATTR_exclude_outside 0
#endif
#ifndef ATTR_cubic_coeff_a
#define ATTR_cubic_coeff_a -0.75f
#endif
#ifndef ATTR_extrapolation_value
#define ATTR_extrapolation_value 0
#endif
#if defined ATTR_mode_IS_linear
#define REACH 1
#elif defined ATTR_mode_IS_cubic
#define REACH 2
#else
#define REACH 0
#endif
#if ATTR_antialias
#define TAPS 64
#define BLOCK 16
#else
#define TAPS 4
#define BLOCK 256
#endif
#define AXES (IN0_RANK > 0 ? IN0_RANK : 1)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict from = in[0];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  double scale[AXES], origin[AXES], stop[AXES], weight[AXES][TAPS], column_weight[TAPS][BLOCK];
  int64_t index[AXES][TAPS], at[AXES], step[AXES], column_index[TAPS][BLOCK];
  int count[AXES], is_outside[AXES], column_outside[BLOCK], axis_of[AXES], axes = IN0_RANK;
  enum { LAST = AXES - 1 };
  if (IN0_RANK == 0) {
    (void)begin, (void)end;
    to[0] = (OUT0_T)from[0];
    return 0;
  }
  (void)scratch, (void)origin, (void)stop;
  int64_t stride = 1;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    scale[k] = 1, origin[k] = 0, stop[k] = 1, at[k] = 0, is_outside[k] = 0, count[k] = 0, index[k][0] = 0;
    step[k] = stride;
    stride *= dims[k];
    axis_of[k] = k;
  }
#ifdef ATTR_axes
  const int64_t given[] = ATTR_axes;
  axes = ATTR_axes_COUNT;
  for (int k = 0; k < axes; k++) axis_of[k] = (int)(given[k] < 0 ? given[k] + IN0_RANK : given[k]);
#endif
#if IN_COUNT > 2 && IN2_PRESENT
  for (int k = 0; k < axes && IN2_COUNT == axes; k++)
    scale[axis_of[k]] = (double)((const IN2_T *)in[2])[k];
#endif
#if IN_COUNT > 3 && IN3_PRESENT
  if (IN3_COUNT == axes) {
    const IN3_T *sizes = in[3];
    double common = 0;
    for (int k = 0; k < axes; k++) {
      const double own = (double)sizes[k] / (double)dims[axis_of[k]];
      scale[axis_of[k]] = own;
#ifdef ATTR_keep_aspect_ratio_policy_IS_not_larger
      if (k == 0 || own < common) common = own;
#else
      if (k == 0 || own > common) common = own;
#endif
    }
#if defined ATTR_keep_aspect_ratio_policy_IS_not_larger || \
    defined ATTR_keep_aspect_ratio_policy_IS_not_smaller
    for (int k = 0; k < axes; k++) scale[axis_of[k]] = common;
#endif
  }
#endif
#if defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize && IN_COUNT > 1 && IN1_PRESENT
  for (int k = 0; k < axes && IN1_COUNT == 2 * axes; k++) {
    origin[axis_of[k]] = (double)((const IN1_T *)in[1])[k];
    stop[axis_of[k]] = (double)((const IN1_T *)in[1])[k + axes];
  }
#endif
  const int64_t columns = to_dims[LAST];
  for (int64_t block = 0; block < columns; block += BLOCK) {
    const int width = (int)(columns - block < BLOCK ? columns - block : BLOCK);
    /* positions before `begin` fill the columns' taps, the others are rows */
    int64_t rest = begin;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--) at[k] = rest % to_dims[k];
    int changed = 0;
    for (int64_t position = begin - width; position < end; position++) {
      const int is_column = position < begin;
      if (is_column) at[LAST] = block + width + position - begin;
      for (int k = is_column ? LAST : changed; k < (is_column ? AXES : LAST); k++) {
        const double length = (double)dims[k], to_length = (double)to_dims[k], p = (double)at[k];
        const double s = scale[k], whole = s * length; /* before it was cut to elements */
#if defined ATTR_coordinate_transformation_mode_IS_half_pixel_symmetric
        const double x = length / 2 * (1 - to_length / whole) + (p + 0.5) / s - 0.5;
#elif defined ATTR_coordinate_transformation_mode_IS_pytorch_half_pixel
        const double x = to_length > 1 ? (p + 0.5) / s - 0.5 : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_align_corners
        const double x = to_length > 1 ? p * (length - 1) / (whole - 1) : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_asymmetric
        const double x = p / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_half_pixel_for_nn
        const double x = s == 1 && length == to_length && REACH ? p : (p + 0.5) / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize
        const double x =
            to_length > 1
                ? origin[k] * (length - 1) + p * (stop[k] - origin[k]) * (length - 1) / (whole - 1)
                : 0.5 * (origin[k] + stop[k]) * (length - 1);
        is_outside[k] = !(x >= 0 && x <= length - 1);
#else
        const double x = (p + 0.5) / s - 0.5;
#endif
        (void)length, (void)to_length, (void)whole;
        if (REACH == 0) {
#if defined ATTR_nearest_mode_IS_round_prefer_ceil
          const double n = floor(x + 0.5);
#elif defined ATTR_nearest_mode_IS_floor
          const double n = floor(x);
#elif defined ATTR_nearest_mode_IS_ceil
          const double n = ceil(x);
#else
          const double n = ceil(x - 0.5);
#endif
          count[k] = 1;
          weight[k][0] = 1;
          index[k][0] = !(n > 0) ? 0 : n >= length ? dims[k] - 1 : (int64_t)n;
          continue;
        }
        const double shrink = ATTR_antialias && s < 1 ? s : 1, reach = ceil(REACH / shrink);
        if (!(reach <= TAPS / 2)) return 9;
        count[k] = 2 * (int)reach;
        const double first = floor(x) - (reach - 1);
        double sum = 0;
        for (int t = 0; t < count[k]; t++) {
          const double i = first + t, d = fabs((i - x) * shrink), a = (double)ATTR_cubic_coeff_a;
          double w = d < 1 ? 1 - d : 0;
          if (REACH == 2)
            w = d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
                : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                        : 0;
          if (ATTR_exclude_outside && (i < 0 || i > length - 1)) w = 0;
          index[k][t] = !(i > 0) ? 0 : i >= length ? dims[k] - 1 : (int64_t)i;
          weight[k][t] = w;
          sum += w;
        }
        for (int t = 0; t < count[k] && sum != 0; t++) weight[k][t] /= sum;
      }
      if (is_column) {
        const int j = (int)(width + position - begin);
        for (int t = 0; t < count[LAST]; t++) {
          column_index[t][j] = index[LAST][t];
          column_weight[t][j] = weight[LAST][t];
        }
        column_outside[j] = is_outside[LAST];
        continue;
      }
      double sums[BLOCK] = {0};
      OUT0_T *restrict row = to + position * columns + block;
      int tap[AXES] = {0}, outside = 0;
      for (int k = 0; k < LAST; k++) outside |= is_outside[k];
      for (int done = 0; !done;) {
        double w = 1;
        int64_t offset = 0;
        for (int k = 0; k < LAST; k++) w *= weight[k][tap[k]], offset += index[k][tap[k]] * step[k];
        const IN0_T *restrict source = from + offset;
        if (REACH == 0)
          for (int j = 0; j < width; j++) row[j] = (OUT0_T)source[column_index[0][j]];
        else if (w != 0)
          for (int t = 0; t < count[LAST]; t++)
            for (int j = 0; j < width; j++)
              sums[j] += w * column_weight[t][j] * (double)source[column_index[t][j]];
        done = 1;
        for (int k = LAST - 1; k >= 0; k--) {
          if (++tap[k] < count[k]) {
            done = 0;
            break;
          }
          tap[k] = 0;
        }
      }
      for (int j = 0; j < width && REACH > 0; j++) row[j] = (OUT0_T)sums[j];
      for (int j = 0; j < width; j++)
        if (outside || column_outside[j]) row[j] = (OUT0_T)ATTR_extrapolation_value;
      for (changed = LAST - 1; changed >= 0; changed--) {
        if (++at[changed] < to_dims[changed]) break;
        at[changed] = 0;
      }
    }
  }
  return 0;
}
#undef ATTR_antialias
#undef ATTR_exclude_outside
#undef ATTR_cubic_coeff_a
#undef ATTR_extrapolation_value
#undef REACH
#undef TAPS
#undef BLOCK
#undef AXES
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_mode_IS_cubic
#undef ATTR_exclude_outside
int run_46(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_46(in, out, scratch, begin, end); }
#define NAME plain_47
#define UNITS 3l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 72l
#define IN0_DIMS {1,1,9,8,}
#define IN1_PRESENT 0
#define IN1_T float
#define IN1_TYPE 0
#define IN1_RANK 0
#define IN1_COUNT 0l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 1
#define IN2_COUNT 4l
#define IN2_DIMS {4,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 12l
#define OUT0_DIMS {1,1,3,4,}
#define ATTR_mode_IS_linear 1
#define ATTR_antialias 1l
/* Resize by nearest, linear or cubic interpolation, separable over the axes. The taps (source
 * index, weight) of a block of columns are made once; then every row adds up the combinations of
 * the taps of its other coordinates, a row of sources at a time. */
#ifndef ATTR_antialias
#define ATTR_antialias 0
#endif
#ifndef ATTR_exclude_outside
#define ATTR_exclude_outside 0
#endif
#ifndef ATTR_cubic_coeff_a
#define ATTR_cubic_coeff_a -0.75f
#endif
#ifndef ATTR_extrapolation_value
#define ATTR_extrapolation_value 0
#endif
#if defined ATTR_mode_IS_linear
#define REACH 1
#elif defined ATTR_mode_IS_cubic
#define REACH 2
#else
#define REACH 0
#endif
#if ATTR_antialias
#define TAPS 64
#define BLOCK 16
#else
#define TAPS 4
#define BLOCK 256
#endif
#define AXES (IN0_RANK > 0 ? IN0_RANK : 1)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict from = in[0];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  double scale[AXES], origin[AXES], stop[AXES], weight[AXES][TAPS], column_weight[TAPS][BLOCK];
  int64_t index[AXES][TAPS], at[AXES], step[AXES], column_index[TAPS][BLOCK];
  int count[AXES], is_outside[AXES], column_outside[BLOCK], axis_of[AXES], axes = IN0_RANK;
  enum { LAST = AXES - 1 };
  if (IN0_RANK == 0) {
    (void)begin, (void)end;
    to[0] = (OUT0_T)from[0];
    return 0;
  }
  (void)scratch, (void)origin, (void)stop;
  int64_t stride = 1;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    scale[k] = 1, origin[k] = 0, stop[k] = 1, at[k] = 0, is_outside[k] = 0, count[k] = 0, index[k][0] = 0;
    step[k] = stride;
    stride *= dims[k];
    axis_of[k] = k;
  }
#ifdef ATTR_axes
  const int64_t given[] = ATTR_axes;
  axes = ATTR_axes_COUNT;
  for (int k = 0; k < axes; k++) axis_of[k] = (int)(given[k] < 0 ? given[k] + IN0_RANK : given[k]);
#endif
#if IN_COUNT > 2 && IN2_PRESENT
  for (int k = 0; k < axes && IN2_COUNT == axes; k++)
    scale[axis_of[k]] = (double)((const IN2_T *)in[2])[k];
#endif
#if IN_COUNT > 3 && IN3_PRESENT
  if (IN3_COUNT == axes) {
    const IN3_T *sizes = in[3];
    double common = 0;
    for (int k = 0; k < axes; k++) {
      const double own = (double)sizes[k] / (double)dims[axis_of[k]];
      scale[axis_of[k]] = own;
#ifdef ATTR_keep_aspect_ratio_policy_IS_not_larger
      if (k == 0 || own < common) common = own;
#else
      if (k == 0 || own > common) common = own;
#endif
    }
#if defined ATTR_keep_aspect_ratio_policy_IS_not_larger || \
    defined ATTR_keep_aspect_ratio_policy_IS_not_smaller
    for (int k = 0; k < axes; k++) scale[axis_of[k]] = common;
#endif
  }
#endif
#if defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize && IN_COUNT > 1 && IN1_PRESENT
  for (int k = 0; k < axes && IN1_COUNT == 2 * axes; k++) {
    origin[axis_of[k]] = (double)((const IN1_T *)in[1])[k];
    stop[axis_of[k]] = (double)((const IN1_T *)in[1])[k + axes];
  }
#endif
  const int64_t columns = to_dims[LAST];
  for (int64_t block = 0; block < columns; block += BLOCK) {
    const int width = (int)(columns - block < BLOCK ? columns - block : BLOCK);
    /* positions before `begin` fill the columns' taps, the others are rows */
    int64_t rest = begin;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--) at[k] = rest % to_dims[k];
    int changed = 0;
    for (int64_t position = begin - width; position < end; position++) {
      const int is_column = position < begin;
      if (is_column) at[LAST] = block + width + position - begin;
      for (int k = is_column ? LAST : changed; k < (is_column ? AXES : LAST); k++) {
        const double length = (double)dims[k], to_length = (double)to_dims[k], p = (double)at[k];
        const double s = scale[k], whole = s * length; /* before it was cut to elements */
#if defined ATTR_coordinate_transformation_mode_IS_half_pixel_symmetric
        const double x = length / 2 * (1 - to_length / whole) + (p + 0.5) / s - 0.5;
#elif defined ATTR_coordinate_transformation_mode_IS_pytorch_half_pixel
        const double x = to_length > 1 ? (p + 0.5) / s - 0.5 : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_align_corners
        const double x = to_length > 1 ? p * (length - 1) / (whole - 1) : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_asymmetric
        const double x = p / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_half_pixel_for_nn
        const double x = s == 1 && length == to_length && REACH ? p : (p + 0.5) / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize
        const double x =
            to_length > 1
                ? origin[k] * (length - 1) + p * (stop[k] - origin[k]) * (length - 1) / (whole - 1)
                : 0.5 * (origin[k] + stop[k]) * (length - 1);
        is_outside[k] = !(x >= 0 && x <= length - 1);
#else
        const double x = (p + 0.5) / s - 0.5;
#endif
        (void)length, (void)to_length, (void)whole;
        if (REACH == 0) {
#if defined ATTR_nearest_mode_IS_round_prefer_ceil
          const double n = floor(x + 0.5);
#elif defined ATTR_nearest_mode_IS_floor
          const double n = floor(x);
#elif defined ATTR_nearest_mode_IS_ceil
          const double n = ceil(x);
#else
          const double n = ceil(x - 0.5);
#endif
          count[k] = 1;
          weight[k][0] = 1;
          index[k][0] = !(n > 0) ? 0 : n >= length ? dims[k] - 1 : (int64_t)n;
          continue;
        }
        const double shrink = ATTR_antialias && s < 1 ? s : 1, reach = ceil(REACH / shrink);
        if (!(reach <= TAPS / 2)) return 9;
        count[k] = 2 * (int)reach;
        const double first = floor(x) - (reach - 1);
        double sum = 0;
        for (int t = 0; t < count[k]; t++) {
          const double i = first + t, d = fabs((i - x) * shrink), a = (double)ATTR_cubic_coeff_a;
          double w = d < 1 ? 1 - d : 0;
          if (REACH == 2)
            w = d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
                : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                        : 0;
          if (ATTR_exclude_outside && (i < 0 || i > length - 1)) w = 0;
          index[k][t] = !(i > 0) ? 0 : i >= length ? dims[k] - 1 : (int64_t)i;
          weight[k][t] = w;
          sum += w;
        }
        for (int t = 0; t < count[k] && sum != 0; t++) weight[k][t] /= sum;
      }
      if (is_column) {
        const int j = (int)(width + position - begin);
        for (int t = 0; t < count[LAST]; t++) {
          column_index[t][j] = index[LAST][t];
          column_weight[t][j] = weight[LAST][t];
        }
        column_outside[j] = is_outside[LAST];
        continue;
      }
      double sums[BLOCK] = {0};
      OUT0_T *restrict row = to + position * columns + block;
      int tap[AXES] = {0}, outside = 0;
      for (int k = 0; k < LAST; k++) outside |= is_outside[k];
      for (int done = 0; !done;) {
        double w = 1;
        int64_t offset = 0;
        for (int k = 0; k < LAST; k++) w *= weight[k][tap[k]], offset += index[k][tap[k]] * step[k];
        const IN0_T *restrict source = from + offset;
        if (REACH == 0)
          for (int j = 0; j < width; j++) row[j] = (OUT0_T)source[column_index[0][j]];
        else if (w != 0)
          for (int t = 0; t < count[LAST]; t++)
            for (int j = 0; j < width; j++)
              sums[j] += w * column_weight[t][j] * (double)source[column_index[t][j]];
        done = 1;
        for (int k = LAST - 1; k >= 0; k--) {
          if (++tap[k] < count[k]) {
            done = 0;
            break;
          }
          tap[k] = 0;
        }
      }
      for (int j = 0; j < width && REACH > 0; j++) row[j] = (OUT0_T)sums[j];
      for (int j = 0; j < width; j++)
        if (outside || column_outside[j]) row[j] = (OUT0_T)ATTR_extrapolation_value;
      for (changed = LAST - 1; changed >= 0; changed--) {
        if (++at[changed] < to_dims[changed]) break;
        at[changed] = 0;
      }
    }
  }
  return 0;
}
#undef ATTR_antialias
#undef ATTR_exclude_outside
#undef ATTR_cubic_coeff_a
#undef ATTR_extrapolation_value
#undef REACH
#undef TAPS
#undef BLOCK
#undef AXES
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_mode_IS_linear
#undef ATTR_antialias
int run_47(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_47(in, out, scratch, begin, end); }
#define NAME plain_48
#define UNITS 7l
#define IN_COUNT 4
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T uint8_t
#define IN0_TYPE 2
#define IN0_RANK 4
#define IN0_COUNT 12l
#define IN0_DIMS {1,1,3,4,}
#define IN1_PRESENT 0
#define IN1_T float
#define IN1_TYPE 0
#define IN1_RANK 0
#define IN1_COUNT 0l
#define IN1_DIMS {0}
#define IN2_PRESENT 0
#define IN2_T float
#define IN2_TYPE 0
#define IN2_RANK 0
#define IN2_COUNT 0l
#define IN2_DIMS {0}
#define IN3_PRESENT 1
#define IN3_T int64_t
#define IN3_TYPE 7
#define IN3_RANK 1
#define IN3_COUNT 2l
#define IN3_DIMS {2,}
#define OUT0_PRESENT 1
#define OUT0_T uint8_t
#define OUT0_TYPE 2
#define OUT0_RANK 4
#define OUT0_COUNT 14l
#define OUT0_DIMS {1,1,7,2,}
#define ATTR_mode_IS_nearest 1
#define ATTR_nearest_mode_IS_floor 1
#define ATTR_coordinate_transformation_mode_IS_asymmetric 1
#define ATTR_axes_COUNT 2
#define ATTR_axes {2,3,}
/* Resize by nearest, linear or cubic interpolation, separable over the axes. The taps (source
 * index, weight) of a block of columns are made once; then every row adds up the combinations of
 * the taps of its other coordinates, a row of sources at a time. */
#ifndef ATTR_antialias
#define ATTR_antialias 0
#endif
#ifndef ATTR_exclude_outside
#define ATTR_exclude_outside 0
#endif
#ifndef ATTR_cubic_coeff_a
#define ATTR_cubic_coeff_a -0.75f
#endif
#ifndef ATTR_extrapolation_value
#define ATTR_extrapolation_value 0
#endif
#if defined ATTR_mode_IS_linear
#define REACH 1
#elif defined ATTR_mode_IS_cubic
#define REACH 2
#else
#define REACH 0
#endif
#if ATTR_antialias
#define TAPS 64
#define BLOCK 16
#else
#define TAPS 4
#define BLOCK 256
#endif
#define AXES (IN0_RANK > 0 ? IN0_RANK : 1)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict from = in[0];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  double scale[AXES], origin[AXES], stop[AXES], weight[AXES][TAPS], column_weight[TAPS][BLOCK];
  int64_t index[AXES][TAPS], at[AXES], step[AXES], column_index[TAPS][BLOCK];
  int count[AXES], is_outside[AXES], column_outside[BLOCK], axis_of[AXES], axes = IN0_RANK;
  enum { LAST = AXES - 1 };
  if (IN0_RANK == 0) {
    (void)begin, (void)end;
    to[0] = (OUT0_T)from[0];
    return 0;
  }
  (void)scratch, (void)origin, (void)stop;
  int64_t stride = 1;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    scale[k] = 1, origin[k] = 0, stop[k] = 1, at[k] = 0, is_outside[k] = 0, count[k] = 0, index[k][0] = 0;
    step[k] = stride;
    stride *= dims[k];
    axis_of[k] = k;
  }
#ifdef ATTR_axes
  const int64_t given[] = ATTR_axes;
  axes = ATTR_axes_COUNT;
  for (int k = 0; k < axes; k++) axis_of[k] = (int)(given[k] < 0 ? given[k] + IN0_RANK : given[k]);
#endif
#if IN_COUNT > 2 && IN2_PRESENT
  for (int k = 0; k < axes && IN2_COUNT == axes; k++)
    scale[axis_of[k]] = (double)((const IN2_T *)in[2])[k];
#endif
#if IN_COUNT > 3 && IN3_PRESENT
  if (IN3_COUNT == axes) {
    const IN3_T *sizes = in[3];
    double common = 0;
    for (int k = 0; k < axes; k++) {
      const double own = (double)sizes[k] / (double)dims[axis_of[k]];
      scale[axis_of[k]] = own;
#ifdef ATTR_keep_aspect_ratio_policy_IS_not_larger
      if (k == 0 || own < common) common = own;
#else
      if (k == 0 || own > common) common = own;
#endif
    }
#if defined ATTR_keep_aspect_ratio_policy_IS_not_larger || \
    defined ATTR_keep_aspect_ratio_policy_IS_not_smaller
    for (int k = 0; k < axes; k++) scale[axis_of[k]] = common;
#endif
  }
#endif
#if defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize && IN_COUNT > 1 && IN1_PRESENT
  for (int k = 0; k < axes && IN1_COUNT == 2 * axes; k++) {
    origin[axis_of[k]] = (double)((const IN1_T *)in[1])[k];
    stop[axis_of[k]] = (double)((const IN1_T *)in[1])[k + axes];
  }
#endif
  const int64_t columns = to_dims[LAST];
  for (int64_t block = 0; block < columns; block += BLOCK) {
    const int width = (int)(columns - block < BLOCK ? columns - block : BLOCK);
    /* positions before `begin` fill the columns' taps, the others are rows */
    int64_t rest = begin;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--) at[k] = rest % to_dims[k];
    int changed = 0;
    for (int64_t position = begin - width; position < end; position++) {
      const int is_column = position < begin;
      if (is_column) at[LAST] = block + width + position - begin;
      for (int k = is_column ? LAST : changed; k < (is_column ? AXES : LAST); k++) {
        const double length = (double)dims[k], to_length = (double)to_dims[k], p = (double)at[k];
        const double s = scale[k], whole = s * length; /* before it was cut to elements */
#if defined ATTR_coordinate_transformation_mode_IS_half_pixel_symmetric
        const double x = length / 2 * (1 - to_length / whole) + (p + 0.5) / s - 0.5;
#elif defined ATTR_coordinate_transformation_mode_IS_pytorch_half_pixel
        const double x = to_length > 1 ? (p + 0.5) / s - 0.5 : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_align_corners
        const double x = to_length > 1 ? p * (length - 1) / (whole - 1) : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_asymmetric
        const double x = p / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_half_pixel_for_nn
        const double x = s == 1 && length == to_length && REACH ? p : (p + 0.5) / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize
        const double x =
            to_length > 1
                ? origin[k] * (length - 1) + p * (stop[k] - origin[k]) * (length - 1) / (whole - 1)
                : 0.5 * (origin[k] + stop[k]) * (length - 1);
        is_outside[k] = !(x >= 0 && x <= length - 1);
#else
        const double x = (p + 0.5) / s - 0.5;
#endif
        (void)length, (void)to_length, (void)whole;
        if (REACH == 0) {
#if defined ATTR_nearest_mode_IS_round_prefer_ceil
          const double n = floor(x + 0.5);
#elif defined ATTR_nearest_mode_IS_floor
          const double n = floor(x);
#elif defined ATTR_nearest_mode_IS_ceil
          const double n = ceil(x);
#else
          const double n = ceil(x - 0.5);
#endif
          count[k] = 1;
          weight[k][0] = 1;
          index[k][0] = !(n > 0) ? 0 : n >= length ? dims[k] - 1 : (int64_t)n;
          continue;
        }
        const double shrink = ATTR_antialias && s < 1 ? s : 1, reach = ceil(REACH / shrink);
        if (!(reach <= TAPS / 2)) return 9;
        count[k] = 2 * (int)reach;
        const double first = floor(x) - (reach - 1);
        double sum = 0;
        for (int t = 0; t < count[k]; t++) {
          const double i = first + t, d = fabs((i - x) * shrink), a = (double)ATTR_cubic_coeff_a;
          double w = d < 1 ? 1 - d : 0;
          if (REACH == 2)
            w = d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
                : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                        : 0;
          if (ATTR_exclude_outside && (i < 0 || i > length - 1)) w = 0;
          index[k][t] = !(i > 0) ? 0 : i >= length ? dims[k] - 1 : (int64_t)i;
          weight[k][t] = w;
          sum += w;
        }
        for (int t = 0; t < count[k] && sum != 0; t++) weight[k][t] /= sum;
      }
      if (is_column) {
        const int j = (int)(width + position - begin);
        for (int t = 0; t < count[LAST]; t++) {
          column_index[t][j] = index[LAST][t];
          column_weight[t][j] = weight[LAST][t];
        }
        column_outside[j] = is_outside[LAST];
        continue;
      }
      double sums[BLOCK] = {0};
      OUT0_T *restrict row = to + position * columns + block;
      int tap[AXES] = {0}, outside = 0;
      for (int k = 0; k < LAST; k++) outside |= is_outside[k];
      for (int done = 0; !done;) {
        double w = 1;
        int64_t offset = 0;
        for (int k = 0; k < LAST; k++) w *= weight[k][tap[k]], offset += index[k][tap[k]] * step[k];
        const IN0_T *restrict source = from + offset;
        if (REACH == 0)
          for (int j = 0; j < width; j++) row[j] = (OUT0_T)source[column_index[0][j]];
        else if (w != 0)
          for (int t = 0; t < count[LAST]; t++)
            for (int j = 0; j < width; j++)
              sums[j] += w * column_weight[t][j] * (double)source[column_index[t][j]];
        done = 1;
        for (int k = LAST - 1; k >= 0; k--) {
          if (++tap[k] < count[k]) {
            done = 0;
            break;
          }
          tap[k] = 0;
        }
      }
      for (int j = 0; j < width && REACH > 0; j++) row[j] = (OUT0_T)sums[j];
      for (int j = 0; j < width; j++)
        if (outside || column_outside[j]) row[j] = (OUT0_T)ATTR_extrapolation_value;
      for (changed = LAST - 1; changed >= 0; changed--) {
        if (++at[changed] < to_dims[changed]) break;
        at[changed] = 0;
      }
    }
  }
  return 0;
}
#undef ATTR_antialias
#undef ATTR_exclude_outside
#undef ATTR_cubic_coeff_a
#undef ATTR_extrapolation_value
#undef REACH
#undef TAPS
#undef BLOCK
#undef AXES
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef IN3_PRESENT
#undef IN3_T
#undef IN3_TYPE
#undef IN3_RANK
#undef IN3_COUNT
#undef IN3_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_mode_IS_nearest
#undef ATTR_nearest_mode_IS_floor
#undef ATTR_coordinate_transformation_mode_IS_asymmetric
#undef ATTR_axes_COUNT
#undef ATTR_axes
int run_48(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_48(in, out, scratch, begin, end); }
#define NAME plain_49
#define UNITS 3l
#define IN_COUNT 4
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 16l
#define IN0_DIMS {1,1,4,4,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 1
#define IN1_COUNT 8l
#define IN1_DIMS {8,}
#define IN2_PRESENT 0
#define IN2_T float
#define IN2_TYPE 0
#define IN2_RANK 0
#define IN2_COUNT 0l
#define IN2_DIMS {0}
#define IN3_PRESENT 1
#define IN3_T int64_t
#define IN3_TYPE 7
#define IN3_RANK 1
#define IN3_COUNT 4l
#define IN3_DIMS {4,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 9l
#define OUT0_DIMS {1,1,3,3,}
#define ATTR_mode_IS_linear 1
#define ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize 1
#define ATTR_extrapolation_value ((float)9)
/* Resize by nearest, linear or cubic interpolation, separable over the axes. The taps (source
 * index, weight) of a block of columns are made once; then every row adds up the combinations of
 * the taps of its other coordinates, a row of sources at a time. */
#ifndef ATTR_antialias
#define ATTR_antialias 0
#endif
#ifndef ATTR_exclude_outside
#define ATTR_exclude_outside 0
#endif
#ifndef ATTR_cubic_coeff_a
#define ATTR_cubic_coeff_a -0.75f
#endif
#ifndef ATTR_extrapolation_value
#define ATTR_extrapolation_value 0
#endif
#if defined ATTR_mode_IS_linear
#define REACH 1
#elif defined ATTR_mode_IS_cubic
#define REACH 2
#else
#define REACH 0
#endif
#if ATTR_antialias
#define TAPS 64
#define BLOCK 16
#else
#define TAPS 4
#define BLOCK 256
#endif
#define AXES (IN0_RANK > 0 ? IN0_RANK : 1)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict from = in[0];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  double scale[AXES], origin[AXES], stop[AXES], weight[AXES][TAPS], column_weight[TAPS][BLOCK];
  int64_t index[AXES][TAPS], at[AXES], step[AXES], column_index[TAPS][BLOCK];
  int count[AXES], is_outside[AXES], column_outside[BLOCK], axis_of[AXES], axes = IN0_RANK;
  enum { LAST = AXES - 1 };
  if (IN0_RANK == 0) {
    (void)begin, (void)end;
    to[0] = (OUT0_T)from[0];
    return 0;
  }
  (void)scratch, (void)origin, (void)stop;
  int64_t stride = 1;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    scale[k] = 1, origin[k] = 0, stop[k] = 1, at[k] = 0, is_outside[k] = 0, count[k] = 0, index[k][0] = 0;
    step[k] = stride;
    stride *= dims[k];
    axis_of[k] = k;
  }
#ifdef ATTR_axes
  const int64_t given[] = ATTR_axes;
  axes = ATTR_axes_COUNT;
  for (int k = 0; k < axes; k++) axis_of[k] = (int)(given[k] < 0 ? given[k] + IN0_RANK : given[k]);
#endif
#if IN_COUNT > 2 && IN2_PRESENT
  for (int k = 0; k < axes && IN2_COUNT == axes; k++)
    scale[axis_of[k]] = (double)((const IN2_T *)in[2])[k];
#endif
#if IN_COUNT > 3 && IN3_PRESENT
  if (IN3_COUNT == axes) {
    const IN3_T *sizes = in[3];
    double common = 0;
    for (int k = 0; k < axes; k++) {
      const double own = (double)sizes[k] / (double)dims[axis_of[k]];
      scale[axis_of[k]] = own;
#ifdef ATTR_keep_aspect_ratio_policy_IS_not_larger
      if (k == 0 || own < common) common = own;
#else
      if (k == 0 || own > common) common = own;
#endif
    }
#if defined ATTR_keep_aspect_ratio_policy_IS_not_larger || \
    defined ATTR_keep_aspect_ratio_policy_IS_not_smaller
    for (int k = 0; k < axes; k++) scale[axis_of[k]] = common;
#endif
  }
#endif
#if defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize && IN_COUNT > 1 && IN1_PRESENT
  for (int k = 0; k < axes && IN1_COUNT == 2 * axes; k++) {
    origin[axis_of[k]] = (double)((const IN1_T *)in[1])[k];
    stop[axis_of[k]] = (double)((const IN1_T *)in[1])[k + axes];
  }
#endif
  const int64_t columns = to_dims[LAST];
  for (int64_t block = 0; block < columns; block += BLOCK) {
    const int width = (int)(columns - block < BLOCK ? columns - block : BLOCK);
    /* positions before `begin` fill the columns' taps, the others are rows */
    int64_t rest = begin;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--) at[k] = rest % to_dims[k];
    int changed = 0;
    for (int64_t position = begin - width; position < end; position++) {
      const int is_column = position < begin;
      if (is_column) at[LAST] = block + width + position - begin;
      for (int k = is_column ? LAST : changed; k < (is_column ? AXES : LAST); k++) {
        const double length = (double)dims[k], to_length = (double)to_dims[k], p = (double)at[k];
        const double s = scale[k], whole = s * length; /* before it was cut to elements */
#if defined ATTR_coordinate_transformation_mode_IS_half_pixel_symmetric
        const double x = length / 2 * (1 - to_length / whole) + (p + 0.5) / s - 0.5;
#elif defined ATTR_coordinate_transformation_mode_IS_pytorch_half_pixel
        const double x = to_length > 1 ? (p + 0.5) / s - 0.5 : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_align_corners
        const double x = to_length > 1 ? p * (length - 1) / (whole - 1) : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_asymmetric
        const double x = p / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_half_pixel_for_nn
        const double x = s == 1 && length == to_length && REACH ? p : (p + 0.5) / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize
        const double x =
            to_length > 1
                ? origin[k] * (length - 1) + p * (stop[k] - origin[k]) * (length - 1) / (whole - 1)
                : 0.5 * (origin[k] + stop[k]) * (length - 1);
        is_outside[k] = !(x >= 0 && x <= length - 1);
#else
        const double x = (p + 0.5) / s - 0.5;
#endif
        (void)length, (void)to_length, (void)whole;
        if (REACH == 0) {
#if defined ATTR_nearest_mode_IS_round_prefer_ceil
          const double n = floor(x + 0.5);
#elif defined ATTR_nearest_mode_IS_floor
          const double n = floor(x);
#elif defined ATTR_nearest_mode_IS_ceil
          const double n = ceil(x);
#else
          const double n = ceil(x - 0.5);
#endif
          count[k] = 1;
          weight[k][0] = 1;
          index[k][0] = !(n > 0) ? 0 : n >= length ? dims[k] - 1 : (int64_t)n;
          continue;
        }
        const double shrink = ATTR_antialias && s < 1 ? s : 1, reach = ceil(REACH / shrink);
        if (!(reach <= TAPS / 2)) return 9;
        count[k] = 2 * (int)reach;
        const double first = floor(x) - (reach - 1);
        double sum = 0;
        for (int t = 0; t < count[k]; t++) {
          const double i = first + t, d = fabs((i - x) * shrink), a = (double)ATTR_cubic_coeff_a;
          double w = d < 1 ? 1 - d : 0;
          if (REACH == 2)
            w = d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
                : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                        : 0;
          if (ATTR_exclude_outside && (i < 0 || i > length - 1)) w = 0;
          index[k][t] = !(i > 0) ? 0 : i >= length ? dims[k] - 1 : (int64_t)i;
          weight[k][t] = w;
          sum += w;
        }
        for (int t = 0; t < count[k] && sum != 0; t++) weight[k][t] /= sum;
      }
      if (is_column) {
        const int j = (int)(width + position - begin);
        for (int t = 0; t < count[LAST]; t++) {
          column_index[t][j] = index[LAST][t];
          column_weight[t][j] = weight[LAST][t];
        }
        column_outside[j] = is_outside[LAST];
        continue;
      }
      double sums[BLOCK] = {0};
      OUT0_T *restrict row = to + position * columns + block;
      int tap[AXES] = {0}, outside = 0;
      for (int k = 0; k < LAST; k++) outside |= is_outside[k];
      for (int done = 0; !done;) {
        double w = 1;
        int64_t offset = 0;
        for (int k = 0; k < LAST; k++) w *= weight[k][tap[k]], offset += index[k][tap[k]] * step[k];
        const IN0_T *restrict source = from + offset;
        if (REACH == 0)
          for (int j = 0; j < width; j++) row[j] = (OUT0_T)source[column_index[0][j]];
        else if (w != 0)
          for (int t = 0; t < count[LAST]; t++)
            for (int j = 0; j < width; j++)
              sums[j] += w * column_weight[t][j] * (double)source[column_index[t][j]];
        done = 1;
        for (int k = LAST - 1; k >= 0; k--) {
          if (++tap[k] < count[k]) {
            done = 0;
            break;
          }
          tap[k] = 0;
        }
      }
      for (int j = 0; j < width && REACH > 0; j++) row[j] = (OUT0_T)sums[j];
      for (int j = 0; j < width; j++)
        if (outside || column_outside[j]) row[j] = (OUT0_T)ATTR_extrapolation_value;
      for (changed = LAST - 1; changed >= 0; changed--) {
        if (++at[changed] < to_dims[changed]) break;
        at[changed] = 0;
      }
    }
  }
  return 0;
}
#undef ATTR_antialias
#undef ATTR_exclude_outside
#undef ATTR_cubic_coeff_a
#undef ATTR_extrapolation_value
#undef REACH
#undef TAPS
#undef BLOCK
#undef AXES
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef IN3_PRESENT
#undef IN3_T
#undef IN3_TYPE
#undef IN3_RANK
#undef IN3_COUNT
#undef IN3_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_mode_IS_linear
#undef ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize
#undef ATTR_extrapolation_value
int run_49(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_49(in, out, scratch, begin, end); }
#define NAME plain_50
#define UNITS 2l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {2,3,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 2
#define IN1_COUNT 4l
#define IN1_DIMS {2,2,}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 2
#define IN2_COUNT 4l
#define IN2_DIMS {2,2,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 6l
#define OUT0_DIMS {2,3,}
#define ATTR_axis 1l
#define ATTR_reduction_IS_add 1
/* ScatterElements: data with updates at indices along the axis, in order of the updates. A unit is
 * one place of the outermost other dimension: what is written there comes from there alone. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
#if defined ATTR_reduction_IS_add
#define APPLY(a, b) ((a) = (OUT0_T)((ACC)(a) + (ACC)(b)))
#elif defined ATTR_reduction_IS_mul
#define APPLY(a, b) ((a) = (OUT0_T)((ACC)(a) * (ACC)(b)))
#elif defined ATTR_reduction_IS_max
#define APPLY(a, b) ((a) = (a) > (b) || (a) != (a) ? (a) : (b))
#elif defined ATTR_reduction_IS_min
#define APPLY(a, b) ((a) = (a) < (b) || (a) != (a) ? (a) : (b))
#else
#define APPLY(a, b) ((a) = (b))
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC float
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN1_T *restrict indices = in[1];
  const IN2_T *restrict updates = in[2];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, index_dims[] = IN1_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  enum { LAST = IN0_RANK - 1 };
  const int split = axis == 0 && IN0_RANK > 1 ? 1 : 0; /* the dimension of the units */
  int64_t strides[17], index_strides[17], step = 1, index_step = 1;
  (void)scratch;
  for (int k = LAST; k >= 0; k--) {
    strides[k] = step, step *= dims[k];
    index_strides[k] = index_step, index_step *= index_dims[k];
  }
  int64_t low[17] = {0}, high[17]; /* this call's part of the index tensor */
  for (int k = 0; k < IN0_RANK; k++) high[k] = index_dims[k];
  if (IN0_RANK > 1) {
    const int64_t outer = split ? dims[0] : 1, run = (end - begin) * strides[split];
    for (int64_t o = 0; o < outer; o++) {
      const int64_t at = o * strides[0] * split + begin * strides[split];
      memcpy(to + at, (const IN0_T *)in[0] + at, (size_t)run * sizeof *to);
    }
    low[split] = begin;
    high[split] = end < index_dims[split] ? end : index_dims[split];
  } else {
    memcpy(to, in[0], (size_t)IN0_COUNT * sizeof *to);
  }
  int64_t at[17];
  for (int k = 0; k < IN0_RANK; k++) {
    at[k] = low[k];
    if (low[k] >= high[k]) return 0;
  }
  for (;;) { /* rows of the index tensor, in order */
    int64_t from = 0, offset = 0;
    int is_outside = 0;
    for (int k = 0; k < LAST; k++) {
      from += at[k] * index_strides[k];
      offset += k == axis ? 0 : at[k] * strides[k];
    }
    const int64_t along = axis == LAST ? 0 : 1, length = dims[axis];
    for (int64_t j = low[LAST]; j < high[LAST]; j++)
      is_outside |= indices[from + j] < -length || indices[from + j] >= length;
    if (is_outside) return 8;
    for (int64_t j = low[LAST]; j < high[LAST]; j++) {
      const int64_t index = (int64_t)indices[from + j] + (indices[from + j] < 0 ? length : 0);
      APPLY(to[offset + index * strides[axis] + j * along], updates[from + j]);
    }
    int k = LAST - 1;
    for (; k >= 0 && ++at[k] == high[k]; k--) at[k] = low[k];
    if (k < 0) return 0;
  }
}
#undef APPLY
#undef ACC
#undef ATTR_axis
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_axis
#undef ATTR_reduction_IS_add
int run_50(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_50(in, out, scratch, begin, end); }
#define NAME plain_51
#define UNITS 2l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T uint8_t
#define IN0_TYPE 2
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {3,2,}
#define IN1_PRESENT 1
#define IN1_T int32_t
#define IN1_TYPE 6
#define IN1_RANK 2
#define IN1_COUNT 4l
#define IN1_DIMS {2,2,}
#define IN2_PRESENT 1
#define IN2_T uint8_t
#define IN2_TYPE 2
#define IN2_RANK 2
#define IN2_COUNT 4l
#define IN2_DIMS {2,2,}
#define OUT0_PRESENT 1
#define OUT0_T uint8_t
#define OUT0_TYPE 2
#define OUT0_RANK 2
#define OUT0_COUNT 6l
#define OUT0_DIMS {3,2,}
#define ATTR_reduction_IS_max 1
/* ScatterElements: data with updates at indices along the axis, in order of the updates. A unit is
 * one place of the outermost other dimension: what is written there comes from there alone. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
#if defined ATTR_reduction_IS_add
#define APPLY(a, b) ((a) = (OUT0_T)((ACC)(a) + (ACC)(b)))
#elif defined ATTR_reduction_IS_mul
#define APPLY(a, b) ((a) = (OUT0_T)((ACC)(a) * (ACC)(b)))
#elif defined ATTR_reduction_IS_max
#define APPLY(a, b) ((a) = (a) > (b) || (a) != (a) ? (a) : (b))
#elif defined ATTR_reduction_IS_min
#define APPLY(a, b) ((a) = (a) < (b) || (a) != (a) ? (a) : (b))
#else
#define APPLY(a, b) ((a) = (b))
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC float
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN1_T *restrict indices = in[1];
  const IN2_T *restrict updates = in[2];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, index_dims[] = IN1_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  enum { LAST = IN0_RANK - 1 };
  const int split = axis == 0 && IN0_RANK > 1 ? 1 : 0; /* the dimension of the units */
  int64_t strides[17], index_strides[17], step = 1, index_step = 1;
  (void)scratch;
  for (int k = LAST; k >= 0; k--) {
    strides[k] = step, step *= dims[k];
    index_strides[k] = index_step, index_step *= index_dims[k];
  }
  int64_t low[17] = {0}, high[17]; /* this call's part of the index tensor */
  for (int k = 0; k < IN0_RANK; k++) high[k] = index_dims[k];
  if (IN0_RANK > 1) {
    const int64_t outer = split ? dims[0] : 1, run = (end - begin) * strides[split];
    for (int64_t o = 0; o < outer; o++) {
      const int64_t at = o * strides[0] * split + begin * strides[split];
      memcpy(to + at, (const IN0_T *)in[0] + at, (size_t)run * sizeof *to);
    }
    low[split] = begin;
    high[split] = end < index_dims[split] ? end : index_dims[split];
  } else {
    memcpy(to, in[0], (size_t)IN0_COUNT * sizeof *to);
  }
  int64_t at[17];
  for (int k = 0; k < IN0_RANK; k++) {
    at[k] = low[k];
    if (low[k] >= high[k]) return 0;
  }
  for (;;) { /* rows of the index tensor, in order */
    int64_t from = 0, offset = 0;
    int is_outside = 0;
    for (int k = 0; k < LAST; k++) {
      from += at[k] * index_strides[k];
      offset += k == axis ? 0 : at[k] * strides[k];
    }
    const int64_t along = axis == LAST ? 0 : 1, length = dims[axis];
    for (int64_t j = low[LAST]; j < high[LAST]; j++)
      is_outside |= indices[from + j] < -length || indices[from + j] >= length;
    if (is_outside) return 8;
    for (int64_t j = low[LAST]; j < high[LAST]; j++) {
      const int64_t index = (int64_t)indices[from + j] + (indices[from + j] < 0 ? length : 0);
      APPLY(to[offset + index * strides[axis] + j * along], updates[from + j]);
    }
    int k = LAST - 1;
    for (; k >= 0 && ++at[k] == high[k]; k--) at[k] = low[k];
    if (k < 0) return 0;
  }
}
#undef APPLY
#undef ACC
#undef ATTR_axis
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_reduction_IS_max
int run_51(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_51(in, out, scratch, begin, end); }
#define NAME plain_52
#define UNITS 8l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int64_t
#define IN0_TYPE 7
#define IN0_RANK 2
#define IN0_COUNT 8l
#define IN0_DIMS {4,2,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 2
#define IN1_COUNT 2l
#define IN1_DIMS {2,1,}
#define IN2_PRESENT 1
#define IN2_T int64_t
#define IN2_TYPE 7
#define IN2_RANK 2
#define IN2_COUNT 4l
#define IN2_DIMS {2,2,}
#define OUT0_PRESENT 1
#define OUT0_T int64_t
#define OUT0_TYPE 7
#define OUT0_RANK 2
#define OUT0_COUNT 8l
#define OUT0_DIMS {4,2,}
#define ATTR_reduction_IS_mul 1
/* ScatterND: data with blocks of updates at addresses, in order of the updates. A unit is an element
 * of the result: every thread reads all addresses and writes what falls into its own part. */
#if defined ATTR_reduction_IS_add
#define APPLY(a, b) ((a) = (OUT0_T)((ACC)(a) + (ACC)(b)))
#elif defined ATTR_reduction_IS_mul
#define APPLY(a, b) ((a) = (OUT0_T)((ACC)(a) * (ACC)(b)))
#elif defined ATTR_reduction_IS_max
#define APPLY(a, b) ((a) = (a) > (b) || (a) != (a) ? (a) : (b))
#elif defined ATTR_reduction_IS_min
#define APPLY(a, b) ((a) = (a) < (b) || (a) != (a) ? (a) : (b))
#else
#define APPLY(a, b) ((a) = (b))
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC float
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN1_T *restrict indices = in[1];
  const IN2_T *restrict updates = in[2];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, index_dims[] = IN1_DIMS;
  const int length = (int)index_dims[IN1_RANK - 1];
  int64_t strides[17], step = 1, rows = 1, run = 1;
  (void)scratch;
  memcpy(to + begin, (const IN0_T *)in[0] + begin, (size_t)(end - begin) * sizeof *to);
  for (int k = IN0_RANK - 1; k >= 0; k--) strides[k] = step, step *= dims[k];
  for (int k = 0; k < IN1_RANK - 1; k++) rows *= index_dims[k];
  for (int k = length; k < IN0_RANK; k++) run *= dims[k];
  for (int64_t r = 0; r < rows; r++, indices += length, updates += run) {
    int64_t offset = 0;
    for (int k = 0; k < length; k++) {
      int64_t at = (int64_t)indices[k];
      if (at < -dims[k] || at >= dims[k]) return 8;
      offset += (at < 0 ? at + dims[k] : at) * strides[k];
    }
    const int64_t first = offset < begin ? begin - offset : 0;
    const int64_t last = offset + run > end ? end - offset : run;
    for (int64_t i = first; i < last; i++) APPLY(to[offset + i], updates[i]);
  }
  return 0;
}
#undef APPLY
#undef ACC
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_reduction_IS_mul
int run_52(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_52(in, out, scratch, begin, end); }
#define NAME plain_53
#define UNITS 6l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {2,3,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 2
#define IN1_COUNT 4l
#define IN1_DIMS {2,2,}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 1
#define IN2_COUNT 2l
#define IN2_DIMS {2,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 6l
#define OUT0_DIMS {2,3,}
/* ScatterND: data with blocks of updates at addresses, in order of the updates. A unit is an element
 * of the result: every thread reads all addresses and writes what falls into its own part. */
#if defined ATTR_reduction_IS_add
#define APPLY(a, b) ((a) = (OUT0_T)((ACC)(a) + (ACC)(b)))
#elif defined ATTR_reduction_IS_mul
#define APPLY(a, b) ((a) = (OUT0_T)((ACC)(a) * (ACC)(b)))
#elif defined ATTR_reduction_IS_max
#define APPLY(a, b) ((a) = (a) > (b) || (a) != (a) ? (a) : (b))
#elif defined ATTR_reduction_IS_min
#define APPLY(a, b) ((a) = (a) < (b) || (a) != (a) ? (a) : (b))
#else
#define APPLY(a, b) ((a) = (b))
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC float
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN1_T *restrict indices = in[1];
  const IN2_T *restrict updates = in[2];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, index_dims[] = IN1_DIMS;
  const int length = (int)index_dims[IN1_RANK - 1];
  int64_t strides[17], step = 1, rows = 1, run = 1;
  (void)scratch;
  memcpy(to + begin, (const IN0_T *)in[0] + begin, (size_t)(end - begin) * sizeof *to);
  for (int k = IN0_RANK - 1; k >= 0; k--) strides[k] = step, step *= dims[k];
  for (int k = 0; k < IN1_RANK - 1; k++) rows *= index_dims[k];
  for (int k = length; k < IN0_RANK; k++) run *= dims[k];
  for (int64_t r = 0; r < rows; r++, indices += length, updates += run) {
    int64_t offset = 0;
    for (int k = 0; k < length; k++) {
      int64_t at = (int64_t)indices[k];
      if (at < -dims[k] || at >= dims[k]) return 8;
      offset += (at < 0 ? at + dims[k] : at) * strides[k];
    }
    const int64_t first = offset < begin ? begin - offset : 0;
    const int64_t last = offset + run > end ? end - offset : run;
    for (int64_t i = first; i < last; i++) APPLY(to[offset + i], updates[i]);
  }
  return 0;
}
#undef APPLY
#undef ACC
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_53(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_53(in, out, scratch, begin, end); }
#define NAME plain_54
#define UNITS 3l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 364l
#define IN0_DIMS {4,91,}
#define IN1_PRESENT 1
#define IN1_T int32_t
#define IN1_TYPE 6
#define IN1_RANK 1
#define IN1_COUNT 4l
#define IN1_DIMS {4,}
#define IN2_PRESENT 1
#define IN2_T int64_t
#define IN2_TYPE 7
#define IN2_RANK 1
#define IN2_COUNT 5l
#define IN2_DIMS {5,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 273l
#define OUT0_DIMS {3,91,}
/* SpMM (hone): a sparse matrix in CSR form times rows. Row u of the result is the sum of the rows
 * in0[sources[e]] over e in [starts[u], starts[u + 1]), each times weight[edges[e]] where there are weights: one
 * for an edge, or one a head, which is a run of columns. A unit is a row of the result. Sums stay in registers,
 * blocks of columns at a time. */
#if IN_COUNT > 3
#define WEIGHT(e, h) ((OUT0_T)weights[(int64_t)edges[e] * heads + (h)])
#else
#define WEIGHT(e, h) 1
#endif
#define BLOCKS(WIDTH)                                                                 \
  for (; j + WIDTH <= last; j += WIDTH) {                                             \
    OUT0_T sum[WIDTH] = {0};                                                          \
    for (int64_t e = starts[u]; e < starts[u + 1]; e++) {                             \
      const int64_t at = sources[e] < 0 ? sources[e] + rows : sources[e];             \
      const IN0_T *restrict from = x + at * width + j;                                \
      const OUT0_T w = WEIGHT(e, h);                                                  \
      for (int k = 0; k < WIDTH; k++) sum[k] += w * from[k];                          \
    }                                                                                 \
    memcpy(to + u * width + j, sum, sizeof sum);                                      \
  }
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict starts = in[1];
  const IN2_T *restrict sources = in[2];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, rows = dims[0], width = IN0_COUNT / rows;
#if IN_COUNT > 3
  const IN3_T *restrict weights = in[3];
  const IN4_T *restrict edges = in[4];
  const int64_t heads = IN3_COUNT / IN4_COUNT;
#else
  const int64_t heads = 1;
#endif
  (void)scratch;
  for (int64_t e = starts[begin]; e < starts[end]; e++)
    if (sources[e] < -rows || sources[e] >= rows) return 8;
  for (int64_t u = begin; u < end; u++)
    for (int64_t h = 0, j = 0; h < heads; h++) {
      const int64_t last = width / heads * (h + 1);
      BLOCKS(64)
      BLOCKS(16)
      BLOCKS(4)
      BLOCKS(1)
    }
  return 0;
}
#undef BLOCKS
#undef WEIGHT
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_54(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_54(in, out, scratch, begin, end); }
#define NAME plain_55
#define UNITS 3l
#define IN_COUNT 5
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 40l
#define IN0_DIMS {4,2,5,}
#define IN1_PRESENT 1
#define IN1_T int32_t
#define IN1_TYPE 6
#define IN1_RANK 1
#define IN1_COUNT 4l
#define IN1_DIMS {4,}
#define IN2_PRESENT 1
#define IN2_T int32_t
#define IN2_TYPE 6
#define IN2_RANK 1
#define IN2_COUNT 5l
#define IN2_DIMS {5,}
#define IN3_PRESENT 1
#define IN3_T float
#define IN3_TYPE 1
#define IN3_RANK 3
#define IN3_COUNT 10l
#define IN3_DIMS {5,2,1,}
#define IN4_PRESENT 1
#define IN4_T int32_t
#define IN4_TYPE 6
#define IN4_RANK 1
#define IN4_COUNT 5l
#define IN4_DIMS {5,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 3
#define OUT0_COUNT 30l
#define OUT0_DIMS {3,2,5,}
/* SpMM (hone): a sparse matrix in CSR form times rows. Row u of the result is the sum of the rows
 * in0[sources[e]] over e in [starts[u], starts[u + 1]), each times weight[edges[e]] where there are weights: one
 * for an edge, or one a head, which is a run of columns. A unit is a row of the result. Sums stay in registers,
 * blocks of columns at a time. */
#if IN_COUNT > 3
#define WEIGHT(e, h) ((OUT0_T)weights[(int64_t)edges[e] * heads + (h)])
#else
#define WEIGHT(e, h) 1
#endif
#define BLOCKS(WIDTH)                                                                 \
  for (; j + WIDTH <= last; j += WIDTH) {                                             \
    OUT0_T sum[WIDTH] = {0};                                                          \
    for (int64_t e = starts[u]; e < starts[u + 1]; e++) {                             \
      const int64_t at = sources[e] < 0 ? sources[e] + rows : sources[e];             \
      const IN0_T *restrict from = x + at * width + j;                                \
      const OUT0_T w = WEIGHT(e, h);                                                  \
      for (int k = 0; k < WIDTH; k++) sum[k] += w * from[k];                          \
    }                                                                                 \
    memcpy(to + u * width + j, sum, sizeof sum);                                      \
  }
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict starts = in[1];
  const IN2_T *restrict sources = in[2];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, rows = dims[0], width = IN0_COUNT / rows;
#if IN_COUNT > 3
  const IN3_T *restrict weights = in[3];
  const IN4_T *restrict edges = in[4];
  const int64_t heads = IN3_COUNT / IN4_COUNT;
#else
  const int64_t heads = 1;
#endif
  (void)scratch;
  for (int64_t e = starts[begin]; e < starts[end]; e++)
    if (sources[e] < -rows || sources[e] >= rows) return 8;
  for (int64_t u = begin; u < end; u++)
    for (int64_t h = 0, j = 0; h < heads; h++) {
      const int64_t last = width / heads * (h + 1);
      BLOCKS(64)
      BLOCKS(16)
      BLOCKS(4)
      BLOCKS(1)
    }
  return 0;
}
#undef BLOCKS
#undef WEIGHT
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef IN3_PRESENT
#undef IN3_T
#undef IN3_TYPE
#undef IN3_RANK
#undef IN3_COUNT
#undef IN3_DIMS
#undef IN4_PRESENT
#undef IN4_T
#undef IN4_TYPE
#undef IN4_RANK
#undef IN4_COUNT
#undef IN4_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_55(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_55(in, out, scratch, begin, end); }
#define NAME plain_56
#define UNITS 2l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {2,3,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 2
#define IN1_COUNT 4l
#define IN1_DIMS {2,2,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 4l
#define OUT0_DIMS {2,2,}
#define ATTR_axis 1l
/* GatherElements: out[i][j] = data[index[i][j]][j] for axis 0. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict data = in[0];
  const IN1_T *restrict indices = in[1];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  enum { LAST = OUT0_RANK > 0 ? OUT0_RANK - 1 : 0 };
  const int64_t columns = to_dims[LAST], length = dims[axis];
  int64_t strides[17], step = 1;
  (void)scratch;
  for (int k = IN0_RANK - 1; k >= 0; k--) strides[k] = step, step *= dims[k];
  for (int64_t r = begin; r < end; r++) { /* one row of the output */
    int64_t offset = 0, rest = r;
    int is_outside = 0;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--)
      offset += k == axis ? 0 : rest % to_dims[k] * strides[k];
    const IN1_T *restrict index = indices + r * columns;
    for (int64_t j = 0; j < columns; j++) is_outside |= index[j] < -length || index[j] >= length;
    if (is_outside) return 8;
    const int64_t by = strides[axis], along = axis == LAST ? 0 : 1;
    for (int64_t j = 0; j < columns; j++) {
      const int64_t at = (int64_t)index[j] + (index[j] < 0 ? length : 0);
      to[r * columns + j] = data[offset + at * by + j * along];
    }
  }
  return 0;
}
#undef ATTR_axis
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_axis
int run_56(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_56(in, out, scratch, begin, end); }
#define NAME plain_57
#define UNITS 3l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 9l
#define IN0_DIMS {3,3,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 9l
#define OUT0_DIMS {3,3,}
#define ATTR_classes 3l
/* CoupleProbabilities (hone): class probabilities from those of all pairs, LIBSVM's iteration. */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *const x = in[0];
  OUT0_T *const y = out[0];
  const int64_t in_dims[] = IN0_DIMS;
  enum { CLASSES = ATTR_classes };
  (void)scratch;
  for (int64_t row = begin; row < end; row++) {
    const IN0_T *r = x + row * in_dims[1];
    double q[CLASSES][CLASSES], qp[CLASSES], p[CLASSES];
    for (int t = 0; t < CLASSES; t++) q[t][t] = 0, p[t] = 1.0 / CLASSES;
    for (int i = 0; i < CLASSES; i++)
      for (int j = i + 1; j < CLASSES; j++, r++) {
        const double a = *r, b = 1 - a;
        q[i][i] += b * b;
        q[j][j] += a * a;
        q[i][j] = q[j][i] = -b * a;
      }
    for (int turn = 0; turn < 100; turn++) {
      double sum = 0, worst = 0;
      for (int t = 0; t < CLASSES; t++) {
        qp[t] = 0;
        for (int j = 0; j < CLASSES; j++) qp[t] += q[t][j] * p[j];
        sum += p[t] * qp[t];
      }
      for (int t = 0; t < CLASSES; t++) {
        const double away = qp[t] < sum ? sum - qp[t] : qp[t] - sum;
        if (away > worst) worst = away;
      }
      if (worst < 0.005 / CLASSES) break;
      for (int t = 0; t < CLASSES; t++) {
        const double by = (sum - qp[t]) / q[t][t];
        p[t] += by;
        sum = (sum + by * (by * q[t][t] + 2 * qp[t])) / (1 + by) / (1 + by);
        for (int j = 0; j < CLASSES; j++) {
          qp[j] = (qp[j] + by * q[t][j]) / (1 + by);
          p[j] /= 1 + by;
        }
      }
    }
    for (int t = 0; t < CLASSES; t++) y[row * CLASSES + t] = (OUT0_T)p[t];
  }
  return 0;
}
#undef ATTR_classes
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_classes
int run_57(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_57(in, out, scratch, begin, end); }
#define NAME plain_58
#define UNITS 4l
#define IN_COUNT 7
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 8l
#define IN0_DIMS {4,2,}
#define IN1_PRESENT 1
#define IN1_T int32_t
#define IN1_TYPE 6
#define IN1_RANK 2
#define IN1_COUNT 6l
#define IN1_DIMS {2,3,}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 1
#define IN2_COUNT 2l
#define IN2_DIMS {2,}
#define IN3_PRESENT 1
#define IN3_T int32_t
#define IN3_TYPE 6
#define IN3_RANK 1
#define IN3_COUNT 2l
#define IN3_DIMS {2,}
#define IN4_PRESENT 1
#define IN4_T int32_t
#define IN4_TYPE 6
#define IN4_RANK 1
#define IN4_COUNT 4l
#define IN4_DIMS {4,}
#define IN5_PRESENT 1
#define IN5_T int32_t
#define IN5_TYPE 6
#define IN5_RANK 1
#define IN5_COUNT 4l
#define IN5_DIMS {4,}
#define IN6_PRESENT 1
#define IN6_T float
#define IN6_TYPE 1
#define IN6_RANK 1
#define IN6_COUNT 4l
#define IN6_DIMS {4,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 8l
#define OUT0_DIMS {4,2,}
#define ATTR_targets 2l
/* Trees (hone): a forest as tables, see ops/trees_table.c. A unit is a row. WALKS trees are walked in step, so
 * that their loads overlap: a walk alone waits for the memory at each node. */
#ifndef ATTR_targets
#define ATTR_targets 1
#endif
#ifndef ATTR_aggregate
#define ATTR_aggregate 1
#endif
#define WALKS 8
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict rows = in[0];
  const int32_t *restrict nodes = in[1], *restrict roots = in[3], *restrict starts = in[4];
  const IN2_T *restrict splits = in[2];
  const int32_t *restrict targets = in[5];
  const IN6_T *restrict weights = in[6];
  const int64_t dims[] = IN0_DIMS, features = dims[1];
  (void)scratch;
  for (int64_t row = begin; row < end; row++) {
    const IN0_T *restrict x = rows + row * features;
    OUT0_T *restrict y = (OUT0_T *)out[0] + row * ATTR_targets;
    unsigned char seen[ATTR_targets] = {0};
    for (int64_t k = 0; k < ATTR_targets; k++) y[k] = 0;
    for (int64_t tree = 0; tree < IN3_COUNT; tree += WALKS) {
      const int count = IN3_COUNT - tree < WALKS ? (int)(IN3_COUNT - tree) : WALKS;
      int32_t at[WALKS];
      for (int k = 0; k < WALKS; k++) at[k] = k < count ? roots[tree + k] : -1;
      for (int walking = 1; walking;) {
        walking = 0;
        for (int k = 0; k < WALKS; k++) {
          const int64_t n = at[k] < 0 ? 0 : at[k];
          const int32_t word = nodes[3 * n];
          const IN0_T v = x[word >> 1];
          const int no = !(v <= splits[n]) & !((v != v) & word);
          const int32_t next = nodes[3 * n + 1 + no];
          at[k] = at[k] < 0 ? at[k] : next;
          walking |= at[k] >= 0;
        }
      }
      for (int k = 0; k < count; k++) {
        const int64_t leaf = ~at[k];
        for (int64_t w = starts[leaf]; w < starts[leaf + 1]; w++) {
          const int64_t t = targets[w];
          const OUT0_T weight = weights[w];
          if (ATTR_aggregate < 2)
            y[t] += weight;
          else if (!seen[t] || (ATTR_aggregate == 2 ? weight < y[t] : weight > y[t]))
            y[t] = weight;
          seen[t] = 1;
        }
      }
    }
    for (int64_t k = 0; ATTR_aggregate == 0 && k < ATTR_targets; k++) y[k] /= (OUT0_T)IN3_COUNT;
  }
  return 0;
}
#undef WALKS
#undef ATTR_targets
#undef ATTR_aggregate
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef IN3_PRESENT
#undef IN3_T
#undef IN3_TYPE
#undef IN3_RANK
#undef IN3_COUNT
#undef IN3_DIMS
#undef IN4_PRESENT
#undef IN4_T
#undef IN4_TYPE
#undef IN4_RANK
#undef IN4_COUNT
#undef IN4_DIMS
#undef IN5_PRESENT
#undef IN5_T
#undef IN5_TYPE
#undef IN5_RANK
#undef IN5_COUNT
#undef IN5_DIMS
#undef IN6_PRESENT
#undef IN6_T
#undef IN6_TYPE
#undef IN6_RANK
#undef IN6_COUNT
#undef IN6_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_targets
int run_58(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_58(in, out, scratch, begin, end); }
#define NAME plain_59
#define UNITS 3l
#define IN_COUNT 7
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T double
#define IN0_TYPE 11
#define IN0_RANK 2
#define IN0_COUNT 3l
#define IN0_DIMS {3,1,}
#define IN1_PRESENT 1
#define IN1_T int32_t
#define IN1_TYPE 6
#define IN1_RANK 2
#define IN1_COUNT 3l
#define IN1_DIMS {1,3,}
#define IN2_PRESENT 1
#define IN2_T double
#define IN2_TYPE 11
#define IN2_RANK 1
#define IN2_COUNT 1l
#define IN2_DIMS {1,}
#define IN3_PRESENT 1
#define IN3_T int32_t
#define IN3_TYPE 6
#define IN3_RANK 1
#define IN3_COUNT 9l
#define IN3_DIMS {9,}
#define IN4_PRESENT 1
#define IN4_T int32_t
#define IN4_TYPE 6
#define IN4_RANK 1
#define IN4_COUNT 3l
#define IN4_DIMS {3,}
#define IN5_PRESENT 1
#define IN5_T int32_t
#define IN5_TYPE 6
#define IN5_RANK 1
#define IN5_COUNT 2l
#define IN5_DIMS {2,}
#define IN6_PRESENT 1
#define IN6_T double
#define IN6_TYPE 11
#define IN6_RANK 1
#define IN6_COUNT 2l
#define IN6_DIMS {2,}
#define OUT0_PRESENT 1
#define OUT0_T double
#define OUT0_TYPE 11
#define OUT0_RANK 2
#define OUT0_COUNT 3l
#define OUT0_DIMS {3,1,}
#define ATTR_targets 1l
#define ATTR_aggregate 2l
/* Trees (hone): a forest as tables, see ops/trees_table.c. A unit is a row. WALKS trees are walked in step, so
 * that their loads overlap: a walk alone waits for the memory at each node. */
#ifndef ATTR_targets
#define ATTR_targets 1
#endif
#ifndef ATTR_aggregate
#define ATTR_aggregate 1
#endif
#define WALKS 8
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict rows = in[0];
  const int32_t *restrict nodes = in[1], *restrict roots = in[3], *restrict starts = in[4];
  const IN2_T *restrict splits = in[2];
  const int32_t *restrict targets = in[5];
  const IN6_T *restrict weights = in[6];
  const int64_t dims[] = IN0_DIMS, features = dims[1];
  (void)scratch;
  for (int64_t row = begin; row < end; row++) {
    const IN0_T *restrict x = rows + row * features;
    OUT0_T *restrict y = (OUT0_T *)out[0] + row * ATTR_targets;
    unsigned char seen[ATTR_targets] = {0};
    for (int64_t k = 0; k < ATTR_targets; k++) y[k] = 0;
    for (int64_t tree = 0; tree < IN3_COUNT; tree += WALKS) {
      const int count = IN3_COUNT - tree < WALKS ? (int)(IN3_COUNT - tree) : WALKS;
      int32_t at[WALKS];
      for (int k = 0; k < WALKS; k++) at[k] = k < count ? roots[tree + k] : -1;
      for (int walking = 1; walking;) {
        walking = 0;
        for (int k = 0; k < WALKS; k++) {
          const int64_t n = at[k] < 0 ? 0 : at[k];
          const int32_t word = nodes[3 * n];
          const IN0_T v = x[word >> 1];
          const int no = !(v <= splits[n]) & !((v != v) & word);
          const int32_t next = nodes[3 * n + 1 + no];
          at[k] = at[k] < 0 ? at[k] : next;
          walking |= at[k] >= 0;
        }
      }
      for (int k = 0; k < count; k++) {
        const int64_t leaf = ~at[k];
        for (int64_t w = starts[leaf]; w < starts[leaf + 1]; w++) {
          const int64_t t = targets[w];
          const OUT0_T weight = weights[w];
          if (ATTR_aggregate < 2)
            y[t] += weight;
          else if (!seen[t] || (ATTR_aggregate == 2 ? weight < y[t] : weight > y[t]))
            y[t] = weight;
          seen[t] = 1;
        }
      }
    }
    for (int64_t k = 0; ATTR_aggregate == 0 && k < ATTR_targets; k++) y[k] /= (OUT0_T)IN3_COUNT;
  }
  return 0;
}
#undef WALKS
#undef ATTR_targets
#undef ATTR_aggregate
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef IN3_PRESENT
#undef IN3_T
#undef IN3_TYPE
#undef IN3_RANK
#undef IN3_COUNT
#undef IN3_DIMS
#undef IN4_PRESENT
#undef IN4_T
#undef IN4_TYPE
#undef IN4_RANK
#undef IN4_COUNT
#undef IN4_DIMS
#undef IN5_PRESENT
#undef IN5_T
#undef IN5_TYPE
#undef IN5_RANK
#undef IN5_COUNT
#undef IN5_DIMS
#undef IN6_PRESENT
#undef IN6_T
#undef IN6_TYPE
#undef IN6_RANK
#undef IN6_COUNT
#undef IN6_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_targets
#undef ATTR_aggregate
int run_59(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_59(in, out, scratch, begin, end); }
#define NAME plain_60
#define UNITS 4l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 12l
#define IN0_DIMS {2,3,2,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 3
#define IN1_COUNT 4l
#define IN1_DIMS {2,2,1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 3
#define OUT0_COUNT 8l
#define OUT0_DIMS {2,2,2,}
#define ATTR_batch_dims 1l
/* GatherND: the last dimension of the indices is an address into data after batch_dims. */
#ifndef ATTR_batch_dims
#define ATTR_batch_dims 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict data = in[0];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, index_dims[] = IN1_DIMS;
  const int length = (int)index_dims[IN1_RANK - 1];
  int64_t strides[17], step = 1, batches = 1, rows = 1, run = 1;
#ifdef IN1_OPEN
  const int64_t numbers[] = IN1_EXTENTS;
#endif
  (void)scratch;
  for (int k = IN0_RANK - 1; k >= 0; k--) strides[k] = step, step *= dims[k];
  for (int k = 0; k < ATTR_batch_dims; k++) batches *= dims[k];
  for (int k = ATTR_batch_dims; k < IN1_RANK - 1; k++) rows *= index_dims[k];
  for (int k = (int)ATTR_batch_dims + length; k < IN0_RANK; k++) run *= dims[k];
  const int64_t block = batches ? step / batches : 0;
  for (int64_t u = begin; u < end; u++) { /* one address */
    const IN1_T *indices = (const IN1_T *)in[1] + u * length;
    int64_t offset = u / rows * block;
    for (int k = 0; k < length; k++) {
      const int64_t dim = dims[ATTR_batch_dims + k];
      int64_t at = (int64_t)indices[k];
      if (at < -dim || at >= dim) {
#ifdef IN1_OPEN
        if (!inside_(u * length, IN1_RANK, index_dims, numbers, out[OUT_COUNT])) break;
#endif
        return 8;
      }
      offset += (at < 0 ? at + dim : at) * strides[ATTR_batch_dims + k];
    }
    memcpy(to + u * run, data + offset, (size_t)run * sizeof *to);
  }
  return 0;
}
#undef ATTR_batch_dims
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_batch_dims
int run_60(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_60(in, out, scratch, begin, end); }
#define NAME plain_61
#define UNITS 4l
#define IN_COUNT 8
#define OUT_COUNT 3
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 30l
#define IN0_DIMS {3,2,5,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 3
#define IN1_COUNT 160l
#define IN1_DIMS {2,16,5,}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 3
#define IN2_COUNT 128l
#define IN2_DIMS {2,16,4,}
#define IN3_PRESENT 1
#define IN3_T float
#define IN3_TYPE 1
#define IN3_RANK 2
#define IN3_COUNT 64l
#define IN3_DIMS {2,32,}
#define IN4_PRESENT 1
#define IN4_T int32_t
#define IN4_TYPE 6
#define IN4_RANK 1
#define IN4_COUNT 2l
#define IN4_DIMS {2,}
#define IN5_PRESENT 1
#define IN5_T float
#define IN5_TYPE 1
#define IN5_RANK 3
#define IN5_COUNT 16l
#define IN5_DIMS {2,2,4,}
#define IN6_PRESENT 1
#define IN6_T float
#define IN6_TYPE 1
#define IN6_RANK 3
#define IN6_COUNT 16l
#define IN6_DIMS {2,2,4,}
#define IN7_PRESENT 1
#define IN7_T float
#define IN7_TYPE 1
#define IN7_RANK 2
#define IN7_COUNT 24l
#define IN7_DIMS {2,12,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 48l
#define OUT0_DIMS {3,2,2,4,}
#define OUT1_PRESENT 1
#define OUT1_T float
#define OUT1_TYPE 1
#define OUT1_RANK 3
#define OUT1_COUNT 16l
#define OUT1_DIMS {2,2,4,}
#define OUT2_PRESENT 1
#define OUT2_T float
#define OUT2_TYPE 1
#define OUT2_RANK 3
#define OUT2_COUNT 16l
#define OUT2_DIMS {2,2,4,}
#define ATTR_hidden_size 4l
#define ATTR_direction_IS_bidirectional 1
/* LSTM: gates i, o, f, c over W x + R h + bias, peepholes P. The scratch
 * holds h, c and the gates of one sequence. */
#ifndef ATTR_layout
#define ATTR_layout 0
#endif
#ifndef ATTR_input_forget
#define ATTR_input_forget 0
#endif
#ifdef ATTR_clip
#define CLIP(x) ((x) > ATTR_clip ? ATTR_clip : (x) < -ATTR_clip ? -ATTR_clip : (x))
#else
#define CLIP(x) (x)
#endif
#ifdef ATTR_functions /* of direction d, in the order of the attribute */
#define ACTIVATE(k, x) \
  activation_(functions[d * 3 + (k)], alphas[d * 3 + (k)], betas[d * 3 + (k)], x)
#else
#define ACTIVATE(k, x) ((k) == 0 ? 1 / (1 + expf(-(x))) : tanhf(x))
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const float *x = in[0], *w = in[1], *r = in[2];
  const int64_t x_dims[] = IN0_DIMS, r_dims[] = IN2_DIMS;
  const int64_t steps = x_dims[ATTR_layout], batches = x_dims[1 - ATTR_layout], width = x_dims[2];
  const int64_t directions = r_dims[0], hidden = r_dims[2];
  float *h = scratch, *c = h + hidden, *gates = c + hidden;
  (void)directions;
#ifdef ATTR_functions
  const int64_t functions[] = ATTR_functions;
  const float alphas[] = ATTR_function_alphas, betas[] = ATTR_function_betas;
#endif
    for (int64_t u = begin; u < end; u++) { /* one sequence of one direction */
      const int64_t d = u / batches, b = u % batches;
#ifdef ATTR_direction_IS_reverse
      const int backward = 1;
#else
      const int backward = d == 1;
#endif
      const int64_t state = (ATTR_layout ? b * directions + d : d * batches + b) * hidden;
      int64_t length = steps;
      (void)state;
#if IN_COUNT > 4 && IN4_PRESENT
      length = (int64_t)((const IN4_T *)in[4])[b];
      if (length < 0 || length > steps) return 8;
#endif
      for (int64_t j = 0; j < hidden; j++) h[j] = c[j] = 0;
#if IN_COUNT > 5 && IN5_PRESENT
      memcpy(h, (const float *)in[5] + state, (size_t)hidden * sizeof *h);
#endif
#if IN_COUNT > 6 && IN6_PRESENT
      memcpy(c, (const float *)in[6] + state, (size_t)hidden * sizeof *c);
#endif
      for (int64_t s = 0; s < steps; s++) {
        const int64_t t = s >= length ? s : backward ? length - 1 - s : s;
        const float *input = x + (ATTR_layout ? b * steps + t : t * batches + b) * width;
        if (s < length) {
          for (int64_t g = 0; g < 4 * hidden; g++) {
            const float *wi = w + (d * 4 * hidden + g) * width;
            const float *ri = r + (d * 4 * hidden + g) * hidden;
            float sum = 0;
#if IN_COUNT > 3 && IN3_PRESENT
            const float *bias = (const float *)in[3] + d * 8 * hidden;
            sum = bias[g] + bias[4 * hidden + g];
#endif
#pragma omp simd reduction(+ : sum)
            for (int64_t i = 0; i < width; i++) sum += wi[i] * input[i];
#pragma omp simd reduction(+ : sum)
            for (int64_t i = 0; i < hidden; i++) sum += ri[i] * h[i];
            gates[g] = sum;
          }
          for (int64_t j = 0; j < hidden; j++) {
            float pi = 0, po = 0, pf = 0;
#if IN_COUNT > 7 && IN7_PRESENT
            const float *peep = (const float *)in[7] + d * 3 * hidden;
            pi = peep[j], po = peep[hidden + j], pf = peep[2 * hidden + j];
#endif
            const float zi = gates[j] + pi * c[j], zf = gates[2 * hidden + j] + pf * c[j];
            const float zc = gates[3 * hidden + j];
            const float input_gate = ACTIVATE(0, CLIP(zi));
            const float forget = ATTR_input_forget ? 1 - input_gate : ACTIVATE(0, CLIP(zf));
            c[j] = forget * c[j] + input_gate * ACTIVATE(1, CLIP(zc));
            const float zo = gates[hidden + j] + po * c[j];
            h[j] = ACTIVATE(0, CLIP(zo)) * ACTIVATE(2, c[j]);
          }
        }
#if OUT0_PRESENT
        float *y = (float *)out[0] + (ATTR_layout ? (b * steps + t) * directions + d
                                                  : (t * directions + d) * batches + b) * hidden;
        for (int64_t j = 0; j < hidden; j++) y[j] = s < length ? h[j] : 0;
#endif
      }
#if OUT_COUNT > 1 && OUT1_PRESENT
      memcpy((float *)out[1] + state, h, (size_t)hidden * sizeof *h);
#endif
#if OUT_COUNT > 2 && OUT2_PRESENT
      memcpy((float *)out[2] + state, c, (size_t)hidden * sizeof *c);
#endif
    }
  return 0;
}
#undef ACTIVATE
#undef CLIP
#undef ATTR_layout
#undef ATTR_input_forget
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef IN3_PRESENT
#undef IN3_T
#undef IN3_TYPE
#undef IN3_RANK
#undef IN3_COUNT
#undef IN3_DIMS
#undef IN4_PRESENT
#undef IN4_T
#undef IN4_TYPE
#undef IN4_RANK
#undef IN4_COUNT
#undef IN4_DIMS
#undef IN5_PRESENT
#undef IN5_T
#undef IN5_TYPE
#undef IN5_RANK
#undef IN5_COUNT
#undef IN5_DIMS
#undef IN6_PRESENT
#undef IN6_T
#undef IN6_TYPE
#undef IN6_RANK
#undef IN6_COUNT
#undef IN6_DIMS
#undef IN7_PRESENT
#undef IN7_T
#undef IN7_TYPE
#undef IN7_RANK
#undef IN7_COUNT
#undef IN7_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef OUT1_PRESENT
#undef OUT1_T
#undef OUT1_TYPE
#undef OUT1_RANK
#undef OUT1_COUNT
#undef OUT1_DIMS
#undef OUT2_PRESENT
#undef OUT2_T
#undef OUT2_TYPE
#undef OUT2_RANK
#undef OUT2_COUNT
#undef OUT2_DIMS
#undef ATTR_hidden_size
#undef ATTR_direction_IS_bidirectional
int run_61(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_61(in, out, scratch, begin, end); }
#define NAME plain_62
#define UNITS 1l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 4l
#define IN0_DIMS {2,1,2,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 3
#define IN1_COUNT 24l
#define IN1_DIMS {1,12,2,}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 3
#define IN2_COUNT 36l
#define IN2_DIMS {1,12,3,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 6l
#define OUT0_DIMS {2,1,1,3,}
#define ATTR_hidden_size 3l
/* LSTM: gates i, o, f, c over W x + R h + bias, peepholes P. The scratch
 * holds h, c and the gates of one sequence. */
#ifndef ATTR_layout
#define ATTR_layout 0
#endif
#ifndef ATTR_input_forget
#define ATTR_input_forget 0
#endif
#ifdef ATTR_clip
#define CLIP(x) ((x) > ATTR_clip ? ATTR_clip : (x) < -ATTR_clip ? -ATTR_clip : (x))
#else
#define CLIP(x) (x)
#endif
#ifdef ATTR_functions /* of direction d, in the order of the attribute */
#define ACTIVATE(k, x) \
  activation_(functions[d * 3 + (k)], alphas[d * 3 + (k)], betas[d * 3 + (k)], x)
#else
#define ACTIVATE(k, x) ((k) == 0 ? 1 / (1 + expf(-(x))) : tanhf(x))
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const float *x = in[0], *w = in[1], *r = in[2];
  const int64_t x_dims[] = IN0_DIMS, r_dims[] = IN2_DIMS;
  const int64_t steps = x_dims[ATTR_layout], batches = x_dims[1 - ATTR_layout], width = x_dims[2];
  const int64_t directions = r_dims[0], hidden = r_dims[2];
  float *h = scratch, *c = h + hidden, *gates = c + hidden;
  (void)directions;
#ifdef ATTR_functions
  const int64_t functions[] = ATTR_functions;
  const float alphas[] = ATTR_function_alphas, betas[] = ATTR_function_betas;
#endif
    for (int64_t u = begin; u < end; u++) { /* one sequence of one direction */
      const int64_t d = u / batches, b = u % batches;
#ifdef ATTR_direction_IS_reverse
      const int backward = 1;
#else
      const int backward = d == 1;
#endif
      const int64_t state = (ATTR_layout ? b * directions + d : d * batches + b) * hidden;
      int64_t length = steps;
      (void)state;
#if IN_COUNT > 4 && IN4_PRESENT
      length = (int64_t)((const IN4_T *)in[4])[b];
      if (length < 0 || length > steps) return 8;
#endif
      for (int64_t j = 0; j < hidden; j++) h[j] = c[j] = 0;
#if IN_COUNT > 5 && IN5_PRESENT
      memcpy(h, (const float *)in[5] + state, (size_t)hidden * sizeof *h);
#endif
#if IN_COUNT > 6 && IN6_PRESENT
      memcpy(c, (const float *)in[6] + state, (size_t)hidden * sizeof *c);
#endif
      for (int64_t s = 0; s < steps; s++) {
        const int64_t t = s >= length ? s : backward ? length - 1 - s : s;
        const float *input = x + (ATTR_layout ? b * steps + t : t * batches + b) * width;
        if (s < length) {
          for (int64_t g = 0; g < 4 * hidden; g++) {
            const float *wi = w + (d * 4 * hidden + g) * width;
            const float *ri = r + (d * 4 * hidden + g) * hidden;
            float sum = 0;
#if IN_COUNT > 3 && IN3_PRESENT
            const float *bias = (const float *)in[3] + d * 8 * hidden;
            sum = bias[g] + bias[4 * hidden + g];
#endif
#pragma omp simd reduction(+ : sum)
            for (int64_t i = 0; i < width; i++) sum += wi[i] * input[i];
#pragma omp simd reduction(+ : sum)
            for (int64_t i = 0; i < hidden; i++) sum += ri[i] * h[i];
            gates[g] = sum;
          }
          for (int64_t j = 0; j < hidden; j++) {
            float pi = 0, po = 0, pf = 0;
#if IN_COUNT > 7 && IN7_PRESENT
            const float *peep = (const float *)in[7] + d * 3 * hidden;
            pi = peep[j], po = peep[hidden + j], pf = peep[2 * hidden + j];
#endif
            const float zi = gates[j] + pi * c[j], zf = gates[2 * hidden + j] + pf * c[j];
            const float zc = gates[3 * hidden + j];
            const float input_gate = ACTIVATE(0, CLIP(zi));
            const float forget = ATTR_input_forget ? 1 - input_gate : ACTIVATE(0, CLIP(zf));
            c[j] = forget * c[j] + input_gate * ACTIVATE(1, CLIP(zc));
            const float zo = gates[hidden + j] + po * c[j];
            h[j] = ACTIVATE(0, CLIP(zo)) * ACTIVATE(2, c[j]);
          }
        }
#if OUT0_PRESENT
        float *y = (float *)out[0] + (ATTR_layout ? (b * steps + t) * directions + d
                                                  : (t * directions + d) * batches + b) * hidden;
        for (int64_t j = 0; j < hidden; j++) y[j] = s < length ? h[j] : 0;
#endif
      }
#if OUT_COUNT > 1 && OUT1_PRESENT
      memcpy((float *)out[1] + state, h, (size_t)hidden * sizeof *h);
#endif
#if OUT_COUNT > 2 && OUT2_PRESENT
      memcpy((float *)out[2] + state, c, (size_t)hidden * sizeof *c);
#endif
    }
  return 0;
}
#undef ACTIVATE
#undef CLIP
#undef ATTR_layout
#undef ATTR_input_forget
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_hidden_size
int run_62(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_62(in, out, scratch, begin, end); }
#define NAME plain_63
#define UNITS 2l
#define IN_COUNT 4
#define OUT_COUNT 2
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 24l
#define IN0_DIMS {3,2,4,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 3
#define IN1_COUNT 36l
#define IN1_DIMS {1,9,4,}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 3
#define IN2_COUNT 27l
#define IN2_DIMS {1,9,3,}
#define IN3_PRESENT 1
#define IN3_T float
#define IN3_TYPE 1
#define IN3_RANK 2
#define IN3_COUNT 18l
#define IN3_DIMS {1,18,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 18l
#define OUT0_DIMS {3,1,2,3,}
#define OUT1_PRESENT 1
#define OUT1_T float
#define OUT1_TYPE 1
#define OUT1_RANK 3
#define OUT1_COUNT 6l
#define OUT1_DIMS {1,2,3,}
#define ATTR_hidden_size 3l
#define ATTR_direction_IS_reverse 1
#define ATTR_linear_before_reset 1l
/* GRU: gates z, r, h over W x + R h + bias. With linear_before_reset the
 * reset gate acts after the matrix product. The scratch holds h, the gates and r * h. */
#ifndef ATTR_layout
#define ATTR_layout 0
#endif
#ifndef ATTR_linear_before_reset
#define ATTR_linear_before_reset 0
#endif
#ifdef ATTR_clip
#define CLIP(x) ((x) > ATTR_clip ? ATTR_clip : (x) < -ATTR_clip ? -ATTR_clip : (x))
#else
#define CLIP(x) (x)
#endif
#ifdef ATTR_functions /* of direction d, in the order of the attribute */
#define ACTIVATE(k, x) \
  activation_(functions[d * 2 + (k)], alphas[d * 2 + (k)], betas[d * 2 + (k)], x)
#else
#define ACTIVATE(k, x) ((k) == 0 ? 1 / (1 + expf(-(x))) : tanhf(x))
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const float *x = in[0], *w = in[1], *r = in[2];
  const int64_t x_dims[] = IN0_DIMS, r_dims[] = IN2_DIMS;
  const int64_t steps = x_dims[ATTR_layout], batches = x_dims[1 - ATTR_layout], width = x_dims[2];
  const int64_t directions = r_dims[0], hidden = r_dims[2];
  float *h = scratch, *gates = h + hidden, *reset = gates + 3 * hidden;
  (void)directions;
#ifdef ATTR_functions
  const int64_t functions[] = ATTR_functions;
  const float alphas[] = ATTR_function_alphas, betas[] = ATTR_function_betas;
#endif
    for (int64_t u = begin; u < end; u++) { /* one sequence of one direction */
      const int64_t d = u / batches, b = u % batches;
#ifdef ATTR_direction_IS_reverse
      const int backward = 1;
#else
      const int backward = d == 1;
#endif
      const int64_t state = (ATTR_layout ? b * directions + d : d * batches + b) * hidden;
      int64_t length = steps;
      (void)state;
#if IN_COUNT > 4 && IN4_PRESENT
      length = (int64_t)((const IN4_T *)in[4])[b];
      if (length < 0 || length > steps) return 8;
#endif
      for (int64_t j = 0; j < hidden; j++) h[j] = 0;
#if IN_COUNT > 5 && IN5_PRESENT
      memcpy(h, (const float *)in[5] + state, (size_t)hidden * sizeof *h);
#endif
      for (int64_t s = 0; s < steps; s++) {
        const int64_t t = s >= length ? s : backward ? length - 1 - s : s;
        const float *input = x + (ATTR_layout ? b * steps + t : t * batches + b) * width;
        if (s < length) {
          for (int64_t g = 0; g < 3 * hidden; g++) {
            const float *wi = w + (d * 3 * hidden + g) * width;
            const float *ri = r + (d * 3 * hidden + g) * hidden;
            const int is_candidate = g >= 2 * hidden;
            float sum = 0, recurrent = 0;
#if IN_COUNT > 3 && IN3_PRESENT
            const float *bias = (const float *)in[3] + d * 6 * hidden;
            sum = bias[g];
            recurrent = bias[3 * hidden + g];
#endif
            if (g == 2 * hidden) /* z and r are complete */
              for (int64_t j = 0; j < 2 * hidden; j++) gates[j] = ACTIVATE(0, CLIP(gates[j]));
            if (g == 2 * hidden)
              for (int64_t j = 0; j < hidden; j++) reset[j] = gates[hidden + j] * h[j];
            const float *before = is_candidate && !ATTR_linear_before_reset ? reset : h;
#pragma omp simd reduction(+ : sum)
            for (int64_t i = 0; i < width; i++) sum += wi[i] * input[i];
#pragma omp simd reduction(+ : recurrent)
            for (int64_t i = 0; i < hidden; i++) recurrent += ri[i] * before[i];
            if (is_candidate && ATTR_linear_before_reset) recurrent *= gates[g - hidden];
            gates[g] = sum + recurrent;
          }
          for (int64_t j = 0; j < hidden; j++) {
            const float candidate = ACTIVATE(1, CLIP(gates[2 * hidden + j]));
            h[j] = (1 - gates[j]) * candidate + gates[j] * h[j];
          }
        }
#if OUT0_PRESENT
        float *y = (float *)out[0] + (ATTR_layout ? (b * steps + t) * directions + d
                                                  : (t * directions + d) * batches + b) * hidden;
        for (int64_t j = 0; j < hidden; j++) y[j] = s < length ? h[j] : 0;
#endif
      }
#if OUT_COUNT > 1 && OUT1_PRESENT
      memcpy((float *)out[1] + state, h, (size_t)hidden * sizeof *h);
#endif
    }
  return 0;
}
#undef ACTIVATE
#undef CLIP
#undef ATTR_layout
#undef ATTR_linear_before_reset
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef IN3_PRESENT
#undef IN3_T
#undef IN3_TYPE
#undef IN3_RANK
#undef IN3_COUNT
#undef IN3_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef OUT1_PRESENT
#undef OUT1_T
#undef OUT1_TYPE
#undef OUT1_RANK
#undef OUT1_COUNT
#undef OUT1_DIMS
#undef ATTR_hidden_size
#undef ATTR_direction_IS_reverse
#undef ATTR_linear_before_reset
int run_63(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_63(in, out, scratch, begin, end); }
#define NAME plain_64
#define UNITS 4l
#define IN_COUNT 5
#define OUT_COUNT 2
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 24l
#define IN0_DIMS {3,2,4,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 3
#define IN1_COUNT 72l
#define IN1_DIMS {2,9,4,}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 3
#define IN2_COUNT 54l
#define IN2_DIMS {2,9,3,}
#define IN3_PRESENT 1
#define IN3_T float
#define IN3_TYPE 1
#define IN3_RANK 2
#define IN3_COUNT 36l
#define IN3_DIMS {2,18,}
#define IN4_PRESENT 1
#define IN4_T int32_t
#define IN4_TYPE 6
#define IN4_RANK 1
#define IN4_COUNT 2l
#define IN4_DIMS {2,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 36l
#define OUT0_DIMS {3,2,2,3,}
#define OUT1_PRESENT 1
#define OUT1_T float
#define OUT1_TYPE 1
#define OUT1_RANK 3
#define OUT1_COUNT 12l
#define OUT1_DIMS {2,2,3,}
#define ATTR_hidden_size 3l
#define ATTR_direction_IS_bidirectional 1
/* GRU: gates z, r, h over W x + R h + bias. With linear_before_reset the
 * reset gate acts after the matrix product. The scratch holds h, the gates and r * h. */
#ifndef ATTR_layout
#define ATTR_layout 0
#endif
#ifndef ATTR_linear_before_reset
#define ATTR_linear_before_reset 0
#endif
#ifdef ATTR_clip
#define CLIP(x) ((x) > ATTR_clip ? ATTR_clip : (x) < -ATTR_clip ? -ATTR_clip : (x))
#else
#define CLIP(x) (x)
#endif
#ifdef ATTR_functions /* of direction d, in the order of the attribute */
#define ACTIVATE(k, x) \
  activation_(functions[d * 2 + (k)], alphas[d * 2 + (k)], betas[d * 2 + (k)], x)
#else
#define ACTIVATE(k, x) ((k) == 0 ? 1 / (1 + expf(-(x))) : tanhf(x))
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const float *x = in[0], *w = in[1], *r = in[2];
  const int64_t x_dims[] = IN0_DIMS, r_dims[] = IN2_DIMS;
  const int64_t steps = x_dims[ATTR_layout], batches = x_dims[1 - ATTR_layout], width = x_dims[2];
  const int64_t directions = r_dims[0], hidden = r_dims[2];
  float *h = scratch, *gates = h + hidden, *reset = gates + 3 * hidden;
  (void)directions;
#ifdef ATTR_functions
  const int64_t functions[] = ATTR_functions;
  const float alphas[] = ATTR_function_alphas, betas[] = ATTR_function_betas;
#endif
    for (int64_t u = begin; u < end; u++) { /* one sequence of one direction */
      const int64_t d = u / batches, b = u % batches;
#ifdef ATTR_direction_IS_reverse
      const int backward = 1;
#else
      const int backward = d == 1;
#endif
      const int64_t state = (ATTR_layout ? b * directions + d : d * batches + b) * hidden;
      int64_t length = steps;
      (void)state;
#if IN_COUNT > 4 && IN4_PRESENT
      length = (int64_t)((const IN4_T *)in[4])[b];
      if (length < 0 || length > steps) return 8;
#endif
      for (int64_t j = 0; j < hidden; j++) h[j] = 0;
#if IN_COUNT > 5 && IN5_PRESENT
      memcpy(h, (const float *)in[5] + state, (size_t)hidden * sizeof *h);
#endif
      for (int64_t s = 0; s < steps; s++) {
        const int64_t t = s >= length ? s : backward ? length - 1 - s : s;
        const float *input = x + (ATTR_layout ? b * steps + t : t * batches + b) * width;
        if (s < length) {
          for (int64_t g = 0; g < 3 * hidden; g++) {
            const float *wi = w + (d * 3 * hidden + g) * width;
            const float *ri = r + (d * 3 * hidden + g) * hidden;
            const int is_candidate = g >= 2 * hidden;
            float sum = 0, recurrent = 0;
#if IN_COUNT > 3 && IN3_PRESENT
            const float *bias = (const float *)in[3] + d * 6 * hidden;
            sum = bias[g];
            recurrent = bias[3 * hidden + g];
#endif
            if (g == 2 * hidden) /* z and r are complete */
              for (int64_t j = 0; j < 2 * hidden; j++) gates[j] = ACTIVATE(0, CLIP(gates[j]));
            if (g == 2 * hidden)
              for (int64_t j = 0; j < hidden; j++) reset[j] = gates[hidden + j] * h[j];
            const float *before = is_candidate && !ATTR_linear_before_reset ? reset : h;
#pragma omp simd reduction(+ : sum)
            for (int64_t i = 0; i < width; i++) sum += wi[i] * input[i];
#pragma omp simd reduction(+ : recurrent)
            for (int64_t i = 0; i < hidden; i++) recurrent += ri[i] * before[i];
            if (is_candidate && ATTR_linear_before_reset) recurrent *= gates[g - hidden];
            gates[g] = sum + recurrent;
          }
          for (int64_t j = 0; j < hidden; j++) {
            const float candidate = ACTIVATE(1, CLIP(gates[2 * hidden + j]));
            h[j] = (1 - gates[j]) * candidate + gates[j] * h[j];
          }
        }
#if OUT0_PRESENT
        float *y = (float *)out[0] + (ATTR_layout ? (b * steps + t) * directions + d
                                                  : (t * directions + d) * batches + b) * hidden;
        for (int64_t j = 0; j < hidden; j++) y[j] = s < length ? h[j] : 0;
#endif
      }
#if OUT_COUNT > 1 && OUT1_PRESENT
      memcpy((float *)out[1] + state, h, (size_t)hidden * sizeof *h);
#endif
    }
  return 0;
}
#undef ACTIVATE
#undef CLIP
#undef ATTR_layout
#undef ATTR_linear_before_reset
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef IN3_PRESENT
#undef IN3_T
#undef IN3_TYPE
#undef IN3_RANK
#undef IN3_COUNT
#undef IN3_DIMS
#undef IN4_PRESENT
#undef IN4_T
#undef IN4_TYPE
#undef IN4_RANK
#undef IN4_COUNT
#undef IN4_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef OUT1_PRESENT
#undef OUT1_T
#undef OUT1_TYPE
#undef OUT1_RANK
#undef OUT1_COUNT
#undef OUT1_DIMS
#undef ATTR_hidden_size
#undef ATTR_direction_IS_bidirectional
int run_64(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_64(in, out, scratch, begin, end); }
#define NAME plain_65
#define UNITS 4l
#define IN_COUNT 6
#define OUT_COUNT 2
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 24l
#define IN0_DIMS {3,2,4,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 3
#define IN1_COUNT 24l
#define IN1_DIMS {2,3,4,}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 3
#define IN2_COUNT 18l
#define IN2_DIMS {2,3,3,}
#define IN3_PRESENT 1
#define IN3_T float
#define IN3_TYPE 1
#define IN3_RANK 2
#define IN3_COUNT 12l
#define IN3_DIMS {2,6,}
#define IN4_PRESENT 1
#define IN4_T int32_t
#define IN4_TYPE 6
#define IN4_RANK 1
#define IN4_COUNT 2l
#define IN4_DIMS {2,}
#define IN5_PRESENT 1
#define IN5_T float
#define IN5_TYPE 1
#define IN5_RANK 3
#define IN5_COUNT 12l
#define IN5_DIMS {2,2,3,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 36l
#define OUT0_DIMS {3,2,2,3,}
#define OUT1_PRESENT 1
#define OUT1_T float
#define OUT1_TYPE 1
#define OUT1_RANK 3
#define OUT1_COUNT 12l
#define OUT1_DIMS {2,2,3,}
#define ATTR_hidden_size 3l
#define ATTR_direction_IS_bidirectional 1
/* RNN: h = tanh(W x + R h + bias). The scratch holds h and its successor. */
#ifndef ATTR_layout
#define ATTR_layout 0
#endif
#ifdef ATTR_clip
#define CLIP(x) ((x) > ATTR_clip ? ATTR_clip : (x) < -ATTR_clip ? -ATTR_clip : (x))
#else
#define CLIP(x) (x)
#endif
#ifdef ATTR_functions /* of direction d, in the order of the attribute */
#define ACTIVATE(k, x) \
  activation_(functions[d * 1 + (k)], alphas[d * 1 + (k)], betas[d * 1 + (k)], x)
#else
#define ACTIVATE(k, x) (tanhf(x))
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const float *x = in[0], *w = in[1], *r = in[2];
  const int64_t x_dims[] = IN0_DIMS, r_dims[] = IN2_DIMS;
  const int64_t steps = x_dims[ATTR_layout], batches = x_dims[1 - ATTR_layout], width = x_dims[2];
  const int64_t directions = r_dims[0], hidden = r_dims[2];
  float *h = scratch, *next = h + hidden;
  (void)directions;
#ifdef ATTR_functions
  const int64_t functions[] = ATTR_functions;
  const float alphas[] = ATTR_function_alphas, betas[] = ATTR_function_betas;
#endif
    for (int64_t u = begin; u < end; u++) { /* one sequence of one direction */
      const int64_t d = u / batches, b = u % batches;
#ifdef ATTR_direction_IS_reverse
      const int backward = 1;
#else
      const int backward = d == 1;
#endif
      const int64_t state = (ATTR_layout ? b * directions + d : d * batches + b) * hidden;
      int64_t length = steps;
      (void)state;
#if IN_COUNT > 4 && IN4_PRESENT
      length = (int64_t)((const IN4_T *)in[4])[b];
      if (length < 0 || length > steps) return 8;
#endif
      for (int64_t j = 0; j < hidden; j++) h[j] = 0;
#if IN_COUNT > 5 && IN5_PRESENT
      memcpy(h, (const float *)in[5] + state, (size_t)hidden * sizeof *h);
#endif
      for (int64_t s = 0; s < steps; s++) {
        const int64_t t = s >= length ? s : backward ? length - 1 - s : s;
        const float *input = x + (ATTR_layout ? b * steps + t : t * batches + b) * width;
        for (int64_t j = 0; j < hidden && s < length; j++) {
          const float *wi = w + (d * hidden + j) * width, *ri = r + (d * hidden + j) * hidden;
          float sum = 0;
#if IN_COUNT > 3 && IN3_PRESENT
          const float *bias = (const float *)in[3] + d * 2 * hidden;
          sum = bias[j] + bias[hidden + j];
#endif
#pragma omp simd reduction(+ : sum)
          for (int64_t i = 0; i < width; i++) sum += wi[i] * input[i];
#pragma omp simd reduction(+ : sum)
          for (int64_t i = 0; i < hidden; i++) sum += ri[i] * h[i];
          next[j] = ACTIVATE(0, CLIP(sum));
        }
        if (s < length) memcpy(h, next, (size_t)hidden * sizeof *h);
#if OUT0_PRESENT
        float *y = (float *)out[0] + (ATTR_layout ? (b * steps + t) * directions + d
                                                  : (t * directions + d) * batches + b) * hidden;
        for (int64_t j = 0; j < hidden; j++) y[j] = s < length ? h[j] : 0;
#endif
      }
#if OUT_COUNT > 1 && OUT1_PRESENT
      memcpy((float *)out[1] + state, h, (size_t)hidden * sizeof *h);
#endif
    }
  return 0;
}
#undef CLIP
#undef ACTIVATE
#undef ATTR_layout
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef IN3_PRESENT
#undef IN3_T
#undef IN3_TYPE
#undef IN3_RANK
#undef IN3_COUNT
#undef IN3_DIMS
#undef IN4_PRESENT
#undef IN4_T
#undef IN4_TYPE
#undef IN4_RANK
#undef IN4_COUNT
#undef IN4_DIMS
#undef IN5_PRESENT
#undef IN5_T
#undef IN5_TYPE
#undef IN5_RANK
#undef IN5_COUNT
#undef IN5_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef OUT1_PRESENT
#undef OUT1_T
#undef OUT1_TYPE
#undef OUT1_RANK
#undef OUT1_COUNT
#undef OUT1_DIMS
#undef ATTR_hidden_size
#undef ATTR_direction_IS_bidirectional
int run_65(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_65(in, out, scratch, begin, end); }
#define NAME plain_66
#define UNITS 12l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int64_t
#define IN0_TYPE 7
#define IN0_RANK 2
#define IN0_COUNT 4l
#define IN0_DIMS {2,2,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 0
#define IN1_COUNT 1l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 1
#define IN2_COUNT 2l
#define IN2_DIMS {2,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 3
#define OUT0_COUNT 12l
#define OUT0_DIMS {2,3,2,}
#define ATTR_axis 1l
/* OneHot: values[1] where the new axis equals the index, values[0] elsewhere. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict indices = in[0];
  const IN2_T *values = in[2];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = OUT0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + OUT0_RANK : (ATTR_axis));
  const int64_t depth = dims[axis];
  const OUT0_T off = values[0], on = values[1];
  int64_t inner = 1;
  (void)scratch;
  for (int k = axis + 1; k < OUT0_RANK; k++) inner *= dims[k];
  for (int64_t i = begin; i < end; i++) to[i] = off;
  for (int64_t row = begin / inner; row * inner < end; row++) { /* one of depth, over inner */
    const int64_t o = row / depth, d = row % depth;
    if (inner == 1) {
      if (d && row > begin) continue; /* once a line of depth */
      const double index = (double)indices[o];
      const int64_t at = o * depth + (int64_t)(index < 0 ? index + (double)depth : index);
      if (index >= (double)-depth && index < (double)depth && at >= begin && at < end) to[at] = on;
      continue;
    }
    const int64_t first = row * inner > begin ? 0 : begin - row * inner;
    const int64_t last = (row + 1) * inner < end ? inner : end - row * inner;
    for (int64_t j = first; j < last; j++) {
      const int64_t at = (int64_t)indices[o * inner + j];
      to[row * inner + j] = at == d || at == d - depth ? on : off;
    }
  }
  return 0;
}
#undef ATTR_axis
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_axis
int run_66(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_66(in, out, scratch, begin, end); }
#define NAME plain_67
#define UNITS 1l
#define IN_COUNT 2
#define OUT_COUNT 2
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 10l
#define IN0_DIMS {5,2,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 1l
#define IN1_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 6l
#define OUT0_DIMS {3,2,}
#define OUT1_PRESENT 1
#define OUT1_T int64_t
#define OUT1_TYPE 7
#define OUT1_RANK 2
#define OUT1_COUNT 6l
#define OUT1_DIMS {3,2,}
#define ATTR_axis 0l
/* TopK: a stable merge sort of places along the axis; NaN is the largest number. The scratch holds two
 * lists of places. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
#ifndef ATTR_largest
#define ATTR_largest 1
#endif
#ifndef ATTR_sorted
#define ATTR_sorted 1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *x = in[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  const int64_t length = dims[axis], k = to_dims[axis];
  int64_t inner = 1, *a = scratch, *b = a + length;
  if ((int64_t)((const IN1_T *)in[1])[0] != k) return 8;
  for (int d = axis + 1; d < IN0_RANK; d++) inner *= dims[d];
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES;
  for (int64_t u = begin * PLAIN_LINES; u < end * PLAIN_LINES; u++) {
    const int64_t o = u / PLAIN_LINES / blocks, i = u / PLAIN_LINES % blocks * PLAIN_LINES + u % PLAIN_LINES;
    if (i >= inner) continue;
    const IN0_T *from = x + o * length * inner + i;
    for (int64_t d = 0; d < length; d++) a[d] = d;
    for (int64_t width = 1; width < length; width *= 2) {
      for (int64_t begin = 0; begin < length; begin += 2 * width) {
        const int64_t middle = begin + width < length ? begin + width : length;
        const int64_t end = begin + 2 * width < length ? begin + 2 * width : length;
        int64_t p = begin, q = middle;
        for (int64_t d = begin; d < end; d++) {
          int takes_second = p == middle;
          if (p < middle && q < end) {
            const IN0_T u = from[a[p] * inner], v = from[a[q] * inner];
            takes_second = ATTR_largest ? (v > u || (v != v && u == u)) : (v < u || (u != u && v == v));
          }
          b[d] = takes_second ? a[q++] : a[p++];
        }
      }
      int64_t *swap = a;
      a = b;
      b = swap;
    }
    if (!ATTR_sorted) /* the chosen ones in the order of the input */
      for (int64_t p = 1; p < k; p++) {
        const int64_t place = a[p];
        int64_t q = p;
        for (; q > 0 && a[q - 1] > place; q--) a[q] = a[q - 1];
        a[q] = place;
      }
    for (int64_t d = 0; d < k; d++) {
      const int64_t to = (o * k + d) * inner + i;
      if (OUT0_PRESENT) ((OUT0_T *)out[0])[to] = from[a[d] * inner];
#if OUT_COUNT > 1 && OUT1_PRESENT
      ((OUT1_T *)out[1])[to] = a[d];
#endif
    }
  }
  return 0;
}
#undef ATTR_axis
#undef ATTR_largest
#undef ATTR_sorted
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef OUT1_PRESENT
#undef OUT1_T
#undef OUT1_TYPE
#undef OUT1_RANK
#undef OUT1_COUNT
#undef OUT1_DIMS
#undef ATTR_axis
int run_67(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_67(in, out, scratch, begin, end); }
#define NAME plain_68
#define UNITS 2l
#define IN_COUNT 2
#define OUT_COUNT 2
#define IN0_PRESENT 1
#define IN0_T int32_t
#define IN0_TYPE 6
#define IN0_RANK 2
#define IN0_COUNT 14l
#define IN0_DIMS {2,7,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 1l
#define IN1_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T int32_t
#define OUT0_TYPE 6
#define OUT0_RANK 2
#define OUT0_COUNT 8l
#define OUT0_DIMS {2,4,}
#define OUT1_PRESENT 1
#define OUT1_T int64_t
#define OUT1_TYPE 7
#define OUT1_RANK 2
#define OUT1_COUNT 8l
#define OUT1_DIMS {2,4,}
#define ATTR_largest 0l
#define ATTR_sorted 0l
/* TopK: a stable merge sort of places along the axis; NaN is the largest number. The scratch holds two
 * lists of places. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
#ifndef ATTR_largest
#define ATTR_largest 1
#endif
#ifndef ATTR_sorted
#define ATTR_sorted 1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *x = in[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  const int64_t length = dims[axis], k = to_dims[axis];
  int64_t inner = 1, *a = scratch, *b = a + length;
  if ((int64_t)((const IN1_T *)in[1])[0] != k) return 8;
  for (int d = axis + 1; d < IN0_RANK; d++) inner *= dims[d];
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES;
  for (int64_t u = begin * PLAIN_LINES; u < end * PLAIN_LINES; u++) {
    const int64_t o = u / PLAIN_LINES / blocks, i = u / PLAIN_LINES % blocks * PLAIN_LINES + u % PLAIN_LINES;
    if (i >= inner) continue;
    const IN0_T *from = x + o * length * inner + i;
    for (int64_t d = 0; d < length; d++) a[d] = d;
    for (int64_t width = 1; width < length; width *= 2) {
      for (int64_t begin = 0; begin < length; begin += 2 * width) {
        const int64_t middle = begin + width < length ? begin + width : length;
        const int64_t end = begin + 2 * width < length ? begin + 2 * width : length;
        int64_t p = begin, q = middle;
        for (int64_t d = begin; d < end; d++) {
          int takes_second = p == middle;
          if (p < middle && q < end) {
            const IN0_T u = from[a[p] * inner], v = from[a[q] * inner];
            takes_second = ATTR_largest ? (v > u || (v != v && u == u)) : (v < u || (u != u && v == v));
          }
          b[d] = takes_second ? a[q++] : a[p++];
        }
      }
      int64_t *swap = a;
      a = b;
      b = swap;
    }
    if (!ATTR_sorted) /* the chosen ones in the order of the input */
      for (int64_t p = 1; p < k; p++) {
        const int64_t place = a[p];
        int64_t q = p;
        for (; q > 0 && a[q - 1] > place; q--) a[q] = a[q - 1];
        a[q] = place;
      }
    for (int64_t d = 0; d < k; d++) {
      const int64_t to = (o * k + d) * inner + i;
      if (OUT0_PRESENT) ((OUT0_T *)out[0])[to] = from[a[d] * inner];
#if OUT_COUNT > 1 && OUT1_PRESENT
      ((OUT1_T *)out[1])[to] = a[d];
#endif
    }
  }
  return 0;
}
#undef ATTR_axis
#undef ATTR_largest
#undef ATTR_sorted
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef OUT1_PRESENT
#undef OUT1_T
#undef OUT1_TYPE
#undef OUT1_RANK
#undef OUT1_COUNT
#undef OUT1_DIMS
#undef ATTR_largest
#undef ATTR_sorted
int run_68(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_68(in, out, scratch, begin, end); }
#define NAME plain_69
#define UNITS 6l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 24l
#define IN0_DIMS {2,3,4,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 0
#define IN1_COUNT 1l
#define IN1_DIMS {0}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 3
#define OUT0_COUNT 24l
#define OUT0_DIMS {2,3,4,}
#define ATTR_upper 0l
/* Trilu: the upper or lower triangle of each matrix, the rest zero. */
#ifndef ATTR_upper
#define ATTR_upper 1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS, columns = dims[IN0_RANK - 1], rows = dims[IN0_RANK - 2];
  int64_t k = 0;
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  k = (int64_t)((const IN1_T *)in[1])[0];
#endif
  if (k > columns) k = columns;
  if (k < -rows) k = -rows;
  for (int64_t r = begin; r < end; r++) {
    /* columns before `first` are the lower part, with the diagonal if it belongs there */
    int64_t first = r % rows + k + !ATTR_upper;
    first = first < 0 ? 0 : first > columns ? columns : first;
    for (int64_t j = 0; j < first; j++) y[r * columns + j] = ATTR_upper ? 0 : x[r * columns + j];
    for (int64_t j = first; j < columns; j++) y[r * columns + j] = ATTR_upper ? x[r * columns + j] : 0;
  }
  return 0;
}
#undef ATTR_upper
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_upper
int run_69(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_69(in, out, scratch, begin, end); }
#define NAME plain_70
#define UNITS 6l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 12l
#define IN0_DIMS {3,4,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 4l
#define IN1_DIMS {4,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 66l
#define OUT0_DIMS {6,11,}
#define ATTR_mode_IS_reflect 1
/* Pad with the modes constant, reflect, edge and wrap; negative pads cut. */
/* The place in a dimension that place i behind the border comes from; -1: none. */
#if defined ATTR_mode_IS_edge
#define FROM(i, dim) ((i) < 0 ? 0 : (i) >= (dim) ? (dim)-1 : (i))
#elif defined ATTR_mode_IS_wrap
#define FROM(i, dim) ((((i) % (dim)) + (dim)) % (dim))
#elif defined ATTR_mode_IS_reflect
#define PERIOD(dim) ((dim) > 1 ? 2 * ((dim)-1) : 1)
#define INTO(i, dim) (((i) % PERIOD(dim) + PERIOD(dim)) % PERIOD(dim))
#define FROM(i, dim) (INTO(i, dim) >= (dim) ? PERIOD(dim) - INTO(i, dim) : INTO(i, dim))
#else
#define FROM(i, dim) ((i) < 0 || (i) >= (dim) ? -1 : (i))
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  const IN1_T *pads = in[1];
  int64_t before[17] = {0}, strides[17], step = 1;
  OUT0_T fill = 0;
  (void)scratch;
#if IN_COUNT > 2 && IN2_PRESENT
  if (IN2_COUNT == 1) fill = ((const IN2_T *)in[2])[0];
#endif
#if IN_COUNT > 3 && IN3_PRESENT
  for (int64_t k = 0; k < IN3_COUNT; k++) {
    int64_t axis = (int64_t)((const IN3_T *)in[3])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    if (axis < 0) axis += IN0_RANK;
    before[axis] = (int64_t)pads[k];
    if (dims[axis] + (int64_t)pads[k] + (int64_t)pads[k + IN3_COUNT] != to_dims[axis]) return 8;
  }
#else
  for (int k = 0; k < IN0_RANK; k++) {
    before[k] = (int64_t)pads[k];
    if (dims[k] + (int64_t)pads[k] + (int64_t)pads[k + IN0_RANK] != to_dims[k]) return 8;
  }
#endif
  for (int k = IN0_RANK - 1; k >= 0; k--) strides[k] = step, step *= dims[k];
  enum { LAST = IN0_RANK > 0 ? IN0_RANK - 1 : 0 };
  const int64_t columns = to_dims[LAST], length = dims[LAST];
  /* columns [first, last) of every row come from the input as they stand */
  int64_t first = before[LAST] > 0 ? before[LAST] : 0, last = length + before[LAST];
  if (last > columns) last = columns;
  if (first > last) first = last = 0;
  for (int64_t r = begin; r < end; r++) {
    int64_t offset = 0, rest = r, is_border = 0;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--) {
      const int64_t i = FROM(rest % to_dims[k] - before[k], dims[k]);
      is_border |= i < 0;
      offset += i * strides[k];
    }
    OUT0_T *restrict to = y + r * columns;
    const IN0_T *restrict from = x + (is_border ? 0 : offset);
    if (is_border) {
      for (int64_t j = 0; j < columns; j++) to[j] = fill;
      continue;
    }
    for (int64_t j = 0; j < columns; j++) {
      if (j == first && last > first) {
        memcpy(to + j, from + j - before[LAST], (size_t)(last - first) * sizeof *to);
        j = last;
        if (j == columns) break;
      }
      const int64_t i = FROM(j - before[LAST], length);
      to[j] = i >= 0 ? from[i] : fill;
    }
  }
  return 0;
}
#undef FROM
#undef PERIOD
#undef INTO
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_mode_IS_reflect
int run_70(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_70(in, out, scratch, begin, end); }
#define NAME plain_71
#define UNITS 3l
#define IN_COUNT 4
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int64_t
#define IN0_TYPE 7
#define IN0_RANK 2
#define IN0_COUNT 12l
#define IN0_DIMS {3,4,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 2l
#define IN1_DIMS {2,}
#define IN2_PRESENT 0
#define IN2_T float
#define IN2_TYPE 0
#define IN2_RANK 0
#define IN2_COUNT 0l
#define IN2_DIMS {0}
#define IN3_PRESENT 1
#define IN3_T int64_t
#define IN3_TYPE 7
#define IN3_RANK 1
#define IN3_COUNT 1l
#define IN3_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T int64_t
#define OUT0_TYPE 7
#define OUT0_RANK 2
#define OUT0_COUNT 15l
#define OUT0_DIMS {3,5,}
#define ATTR_mode_IS_edge 1
/* Pad with the modes constant, reflect, edge and wrap; negative pads cut. */
/* The place in a dimension that place i behind the border comes from; -1: none. */
#if defined ATTR_mode_IS_edge
#define FROM(i, dim) ((i) < 0 ? 0 : (i) >= (dim) ? (dim)-1 : (i))
#elif defined ATTR_mode_IS_wrap
#define FROM(i, dim) ((((i) % (dim)) + (dim)) % (dim))
#elif defined ATTR_mode_IS_reflect
#define PERIOD(dim) ((dim) > 1 ? 2 * ((dim)-1) : 1)
#define INTO(i, dim) (((i) % PERIOD(dim) + PERIOD(dim)) % PERIOD(dim))
#define FROM(i, dim) (INTO(i, dim) >= (dim) ? PERIOD(dim) - INTO(i, dim) : INTO(i, dim))
#else
#define FROM(i, dim) ((i) < 0 || (i) >= (dim) ? -1 : (i))
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  const IN1_T *pads = in[1];
  int64_t before[17] = {0}, strides[17], step = 1;
  OUT0_T fill = 0;
  (void)scratch;
#if IN_COUNT > 2 && IN2_PRESENT
  if (IN2_COUNT == 1) fill = ((const IN2_T *)in[2])[0];
#endif
#if IN_COUNT > 3 && IN3_PRESENT
  for (int64_t k = 0; k < IN3_COUNT; k++) {
    int64_t axis = (int64_t)((const IN3_T *)in[3])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    if (axis < 0) axis += IN0_RANK;
    before[axis] = (int64_t)pads[k];
    if (dims[axis] + (int64_t)pads[k] + (int64_t)pads[k + IN3_COUNT] != to_dims[axis]) return 8;
  }
#else
  for (int k = 0; k < IN0_RANK; k++) {
    before[k] = (int64_t)pads[k];
    if (dims[k] + (int64_t)pads[k] + (int64_t)pads[k + IN0_RANK] != to_dims[k]) return 8;
  }
#endif
  for (int k = IN0_RANK - 1; k >= 0; k--) strides[k] = step, step *= dims[k];
  enum { LAST = IN0_RANK > 0 ? IN0_RANK - 1 : 0 };
  const int64_t columns = to_dims[LAST], length = dims[LAST];
  /* columns [first, last) of every row come from the input as they stand */
  int64_t first = before[LAST] > 0 ? before[LAST] : 0, last = length + before[LAST];
  if (last > columns) last = columns;
  if (first > last) first = last = 0;
  for (int64_t r = begin; r < end; r++) {
    int64_t offset = 0, rest = r, is_border = 0;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--) {
      const int64_t i = FROM(rest % to_dims[k] - before[k], dims[k]);
      is_border |= i < 0;
      offset += i * strides[k];
    }
    OUT0_T *restrict to = y + r * columns;
    const IN0_T *restrict from = x + (is_border ? 0 : offset);
    if (is_border) {
      for (int64_t j = 0; j < columns; j++) to[j] = fill;
      continue;
    }
    for (int64_t j = 0; j < columns; j++) {
      if (j == first && last > first) {
        memcpy(to + j, from + j - before[LAST], (size_t)(last - first) * sizeof *to);
        j = last;
        if (j == columns) break;
      }
      const int64_t i = FROM(j - before[LAST], length);
      to[j] = i >= 0 ? from[i] : fill;
    }
  }
  return 0;
}
#undef FROM
#undef PERIOD
#undef INTO
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef IN3_PRESENT
#undef IN3_T
#undef IN3_TYPE
#undef IN3_RANK
#undef IN3_COUNT
#undef IN3_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_mode_IS_edge
int run_71(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_71(in, out, scratch, begin, end); }
#define NAME plain_72
#define UNITS 1l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 1
#define IN0_COUNT 3l
#define IN0_DIMS {3,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 2l
#define IN1_DIMS {2,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 1
#define OUT0_COUNT 9l
#define OUT0_DIMS {9,}
#define ATTR_mode_IS_wrap 1
/* Pad with the modes constant, reflect, edge and wrap; negative pads cut. */
/* The place in a dimension that place i behind the border comes from; -1: none. */
#if defined ATTR_mode_IS_edge
#define FROM(i, dim) ((i) < 0 ? 0 : (i) >= (dim) ? (dim)-1 : (i))
#elif defined ATTR_mode_IS_wrap
#define FROM(i, dim) ((((i) % (dim)) + (dim)) % (dim))
#elif defined ATTR_mode_IS_reflect
#define PERIOD(dim) ((dim) > 1 ? 2 * ((dim)-1) : 1)
#define INTO(i, dim) (((i) % PERIOD(dim) + PERIOD(dim)) % PERIOD(dim))
#define FROM(i, dim) (INTO(i, dim) >= (dim) ? PERIOD(dim) - INTO(i, dim) : INTO(i, dim))
#else
#define FROM(i, dim) ((i) < 0 || (i) >= (dim) ? -1 : (i))
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  const IN1_T *pads = in[1];
  int64_t before[17] = {0}, strides[17], step = 1;
  OUT0_T fill = 0;
  (void)scratch;
#if IN_COUNT > 2 && IN2_PRESENT
  if (IN2_COUNT == 1) fill = ((const IN2_T *)in[2])[0];
#endif
#if IN_COUNT > 3 && IN3_PRESENT
  for (int64_t k = 0; k < IN3_COUNT; k++) {
    int64_t axis = (int64_t)((const IN3_T *)in[3])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    if (axis < 0) axis += IN0_RANK;
    before[axis] = (int64_t)pads[k];
    if (dims[axis] + (int64_t)pads[k] + (int64_t)pads[k + IN3_COUNT] != to_dims[axis]) return 8;
  }
#else
  for (int k = 0; k < IN0_RANK; k++) {
    before[k] = (int64_t)pads[k];
    if (dims[k] + (int64_t)pads[k] + (int64_t)pads[k + IN0_RANK] != to_dims[k]) return 8;
  }
#endif
  for (int k = IN0_RANK - 1; k >= 0; k--) strides[k] = step, step *= dims[k];
  enum { LAST = IN0_RANK > 0 ? IN0_RANK - 1 : 0 };
  const int64_t columns = to_dims[LAST], length = dims[LAST];
  /* columns [first, last) of every row come from the input as they stand */
  int64_t first = before[LAST] > 0 ? before[LAST] : 0, last = length + before[LAST];
  if (last > columns) last = columns;
  if (first > last) first = last = 0;
  for (int64_t r = begin; r < end; r++) {
    int64_t offset = 0, rest = r, is_border = 0;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--) {
      const int64_t i = FROM(rest % to_dims[k] - before[k], dims[k]);
      is_border |= i < 0;
      offset += i * strides[k];
    }
    OUT0_T *restrict to = y + r * columns;
    const IN0_T *restrict from = x + (is_border ? 0 : offset);
    if (is_border) {
      for (int64_t j = 0; j < columns; j++) to[j] = fill;
      continue;
    }
    for (int64_t j = 0; j < columns; j++) {
      if (j == first && last > first) {
        memcpy(to + j, from + j - before[LAST], (size_t)(last - first) * sizeof *to);
        j = last;
        if (j == columns) break;
      }
      const int64_t i = FROM(j - before[LAST], length);
      to[j] = i >= 0 ? from[i] : fill;
    }
  }
  return 0;
}
#undef FROM
#undef PERIOD
#undef INTO
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_mode_IS_wrap
int run_72(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_72(in, out, scratch, begin, end); }
#define NAME plain_73
#define UNITS 3l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T uint8_t
#define IN0_TYPE 2
#define IN0_RANK 2
#define IN0_COUNT 4l
#define IN0_DIMS {2,2,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 4l
#define IN1_DIMS {4,}
#define IN2_PRESENT 1
#define IN2_T uint8_t
#define IN2_TYPE 2
#define IN2_RANK 0
#define IN2_COUNT 1l
#define IN2_DIMS {0}
#define OUT0_PRESENT 1
#define OUT0_T uint8_t
#define OUT0_TYPE 2
#define OUT0_RANK 2
#define OUT0_COUNT 12l
#define OUT0_DIMS {3,4,}
/* Pad with the modes constant, reflect, edge and wrap; negative pads cut. */
/* The place in a dimension that place i behind the border comes from; -1: none. */
#if defined ATTR_mode_IS_edge
#define FROM(i, dim) ((i) < 0 ? 0 : (i) >= (dim) ? (dim)-1 : (i))
#elif defined ATTR_mode_IS_wrap
#define FROM(i, dim) ((((i) % (dim)) + (dim)) % (dim))
#elif defined ATTR_mode_IS_reflect
#define PERIOD(dim) ((dim) > 1 ? 2 * ((dim)-1) : 1)
#define INTO(i, dim) (((i) % PERIOD(dim) + PERIOD(dim)) % PERIOD(dim))
#define FROM(i, dim) (INTO(i, dim) >= (dim) ? PERIOD(dim) - INTO(i, dim) : INTO(i, dim))
#else
#define FROM(i, dim) ((i) < 0 || (i) >= (dim) ? -1 : (i))
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  const IN1_T *pads = in[1];
  int64_t before[17] = {0}, strides[17], step = 1;
  OUT0_T fill = 0;
  (void)scratch;
#if IN_COUNT > 2 && IN2_PRESENT
  if (IN2_COUNT == 1) fill = ((const IN2_T *)in[2])[0];
#endif
#if IN_COUNT > 3 && IN3_PRESENT
  for (int64_t k = 0; k < IN3_COUNT; k++) {
    int64_t axis = (int64_t)((const IN3_T *)in[3])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    if (axis < 0) axis += IN0_RANK;
    before[axis] = (int64_t)pads[k];
    if (dims[axis] + (int64_t)pads[k] + (int64_t)pads[k + IN3_COUNT] != to_dims[axis]) return 8;
  }
#else
  for (int k = 0; k < IN0_RANK; k++) {
    before[k] = (int64_t)pads[k];
    if (dims[k] + (int64_t)pads[k] + (int64_t)pads[k + IN0_RANK] != to_dims[k]) return 8;
  }
#endif
  for (int k = IN0_RANK - 1; k >= 0; k--) strides[k] = step, step *= dims[k];
  enum { LAST = IN0_RANK > 0 ? IN0_RANK - 1 : 0 };
  const int64_t columns = to_dims[LAST], length = dims[LAST];
  /* columns [first, last) of every row come from the input as they stand */
  int64_t first = before[LAST] > 0 ? before[LAST] : 0, last = length + before[LAST];
  if (last > columns) last = columns;
  if (first > last) first = last = 0;
  for (int64_t r = begin; r < end; r++) {
    int64_t offset = 0, rest = r, is_border = 0;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--) {
      const int64_t i = FROM(rest % to_dims[k] - before[k], dims[k]);
      is_border |= i < 0;
      offset += i * strides[k];
    }
    OUT0_T *restrict to = y + r * columns;
    const IN0_T *restrict from = x + (is_border ? 0 : offset);
    if (is_border) {
      for (int64_t j = 0; j < columns; j++) to[j] = fill;
      continue;
    }
    for (int64_t j = 0; j < columns; j++) {
      if (j == first && last > first) {
        memcpy(to + j, from + j - before[LAST], (size_t)(last - first) * sizeof *to);
        j = last;
        if (j == columns) break;
      }
      const int64_t i = FROM(j - before[LAST], length);
      to[j] = i >= 0 ? from[i] : fill;
    }
  }
  return 0;
}
#undef FROM
#undef PERIOD
#undef INTO
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_73(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_73(in, out, scratch, begin, end); }
#define NAME plain_74
#define UNITS 2l
#define IN_COUNT 3
#define OUT_COUNT 3
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 24l
#define IN0_DIMS {2,3,4,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 2
#define IN1_COUNT 12l
#define IN1_DIMS {3,4,}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 1
#define IN2_COUNT 4l
#define IN2_DIMS {4,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 3
#define OUT0_COUNT 24l
#define OUT0_DIMS {2,3,4,}
#define OUT1_PRESENT 1
#define OUT1_T float
#define OUT1_TYPE 1
#define OUT1_RANK 3
#define OUT1_COUNT 2l
#define OUT1_DIMS {2,1,1,}
#define OUT2_PRESENT 1
#define OUT2_T float
#define OUT2_TYPE 1
#define OUT2_RANK 3
#define OUT2_COUNT 2l
#define OUT2_DIMS {2,1,1,}
#define ATTR_axis 1l
#define ATTR_epsilon ((float)0.01)
/* LayerNormalization over the axes from `axis` on; statistics in double. Scale and bias broadcast to
 * the input. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
#ifndef ATTR_epsilon
#define ATTR_epsilon 1e-5f
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict scale = in[1];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS, scale_dims[] = IN1_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  int64_t columns = 1, scale_strides[17] = {0}, bias_strides[17] = {0}, at[17] = {0};
  (void)scratch;
  for (int k = axis; k < IN0_RANK; k++) columns *= dims[k];
  int64_t step = 1;
  for (int k = IN1_RANK - 1; k >= 0; k--) {
    scale_strides[k + IN0_RANK - IN1_RANK] = scale_dims[k] == 1 ? 0 : step;
    step *= scale_dims[k];
  }
#if IN_COUNT > 2 && IN2_PRESENT
  const IN2_T *restrict bias = in[2];
  const int64_t bias_dims[] = IN2_DIMS;
  step = 1;
  for (int k = IN2_RANK - 1; k >= 0; k--) {
    bias_strides[k + IN0_RANK - IN2_RANK] = bias_dims[k] == 1 ? 0 : step;
    step *= bias_dims[k];
  }
#endif
#if IN_COUNT > 2 && IN2_PRESENT
  const int is_flat = IN1_COUNT == columns && IN2_COUNT == columns;
#else
  const int is_flat = IN1_COUNT == columns;
#endif
  for (int64_t r = begin; r < end; r++) {
    const IN0_T *restrict from = x + r * columns;
    OUT0_T *restrict to = y + r * columns;
    double mean = 0, variance = 0;
#pragma omp simd reduction(+ : mean)
    for (int64_t i = 0; i < columns; i++) mean += (double)from[i];
    mean /= (double)columns;
#pragma omp simd reduction(+ : variance)
    for (int64_t i = 0; i < columns; i++)
      variance += ((double)from[i] - mean) * ((double)from[i] - mean);
    const double inverse = 1 / sqrt(variance / (double)columns + (double)ATTR_epsilon);
    if (is_flat) { /* scale and bias lie as a row does */
      for (int64_t i = 0; i < columns; i++) {
        double value = ((double)from[i] - mean) * inverse * (double)scale[i];
#if IN_COUNT > 2 && IN2_PRESENT
        value += (double)bias[i];
#endif
        to[i] = (OUT0_T)value;
      }
    } else {
      int64_t rest = r;
      for (int k = IN0_RANK - 1; k >= 0; k--) at[k] = k < axis ? rest % dims[k] : 0, rest /= k < axis ? dims[k] : 1;
      for (int64_t i = 0; i < columns; i++) {
        int64_t s = 0, b = 0;
        for (int k = 0; k < IN0_RANK; k++) s += at[k] * scale_strides[k], b += at[k] * bias_strides[k];
        double value = ((double)from[i] - mean) * inverse * (double)scale[s];
#if IN_COUNT > 2 && IN2_PRESENT
        value += (double)bias[b];
#endif
        to[i] = (OUT0_T)value;
        for (int k = IN0_RANK - 1; k >= 0 && ++at[k] == dims[k]; k--) at[k] = 0;
      }
    }
#if OUT_COUNT > 1 && OUT1_PRESENT
    ((OUT1_T *)out[1])[r] = (OUT1_T)mean;
#endif
#if OUT_COUNT > 2 && OUT2_PRESENT
    ((OUT2_T *)out[2])[r] = (OUT2_T)inverse;
#endif
  }
  return 0;
}
#undef ATTR_axis
#undef ATTR_epsilon
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef OUT1_PRESENT
#undef OUT1_T
#undef OUT1_TYPE
#undef OUT1_RANK
#undef OUT1_COUNT
#undef OUT1_DIMS
#undef OUT2_PRESENT
#undef OUT2_T
#undef OUT2_TYPE
#undef OUT2_RANK
#undef OUT2_COUNT
#undef OUT2_DIMS
#undef ATTR_axis
#undef ATTR_epsilon
int run_74(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_74(in, out, scratch, begin, end); }
#define NAME plain_75
#define UNITS 6l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 24l
#define IN0_DIMS {2,3,4,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 1
#define IN1_COUNT 3l
#define IN1_DIMS {3,}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 1
#define IN2_COUNT 3l
#define IN2_DIMS {3,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 3
#define OUT0_COUNT 24l
#define OUT0_DIMS {2,3,4,}
/* InstanceNormalization: each channel of each image by its own mean and variance, in double. */
#ifndef ATTR_epsilon
#define ATTR_epsilon 1e-5f
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *scale = in[1];
  const IN2_T *bias = in[2];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int64_t plane = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) plane *= dims[k];
  for (int64_t p = begin; p < end; p++) {
    const IN0_T *restrict from = x + p * plane;
    OUT0_T *restrict to = y + p * plane;
    double mean = 0, variance = 0;
#pragma omp simd reduction(+ : mean)
    for (int64_t i = 0; i < plane; i++) mean += (double)from[i];
    mean /= (double)plane;
#pragma omp simd reduction(+ : variance)
    for (int64_t i = 0; i < plane; i++)
      variance += ((double)from[i] - mean) * ((double)from[i] - mean);
    const double by = (double)scale[p % dims[1]] / sqrt(variance / (double)plane + (double)ATTR_epsilon);
    const double more = (double)bias[p % dims[1]];
    for (int64_t i = 0; i < plane; i++) to[i] = (OUT0_T)(((double)from[i] - mean) * by + more);
  }
  return 0;
}
#undef ATTR_epsilon
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_75(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_75(in, out, scratch, begin, end); }
#define NAME plain_76
#define UNITS 1l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {3,2,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 6l
#define OUT0_DIMS {3,2,}
#define ATTR_axis 0l
#define ATTR_p 1l
/* LpNormalization along an axis: x / |x|_p with p = 1 or 2; a zero vector stays zero. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
#ifndef ATTR_p
#define ATTR_p 2
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  const int64_t length = dims[axis];
  (void)scratch;
  int64_t inner = 1;
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES;
  for (int64_t u = begin; u < end; u++) {
    const int64_t o = u / blocks, i = u % blocks * PLAIN_LINES;
    const int64_t width = inner - i < PLAIN_LINES ? inner - i : PLAIN_LINES;
    const IN0_T *restrict from = x + o * length * inner + i;
    OUT0_T *restrict to = y + o * length * inner + i;
    double norm[PLAIN_LINES] = {0};
    if (inner == 1) {
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t k = 0; k < length; k++)
        sum += ATTR_p == 1 ? fabs((double)from[k]) : (double)from[k] * (double)from[k];
      norm[0] = ATTR_p == 1 ? sum : sqrt(sum);
      for (int64_t k = 0; k < length; k++)
        to[k] = norm[0] != 0 ? (OUT0_T)((double)from[k] / norm[0]) : 0;
      continue;
    }
    for (int64_t k = 0; k < length; k++)
      for (int64_t j = 0; j < width; j++) {
        const double value = (double)from[k * inner + j];
        norm[j] += ATTR_p == 1 ? fabs(value) : value * value;
      }
    for (int64_t j = 0; j < width; j++) norm[j] = ATTR_p == 1 ? norm[j] : sqrt(norm[j]);
    for (int64_t k = 0; k < length; k++)
      for (int64_t j = 0; j < width; j++)
        to[k * inner + j] = norm[j] != 0 ? (OUT0_T)((double)from[k * inner + j] / norm[j]) : 0;
  }
  return 0;
}
#undef ATTR_axis
#undef ATTR_p
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_axis
#undef ATTR_p
int run_76(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_76(in, out, scratch, begin, end); }
#define NAME plain_77
#define UNITS 5l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 20l
#define IN0_DIMS {1,5,2,2,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 20l
#define OUT0_DIMS {1,5,2,2,}
#define ATTR_size 3l
#define ATTR_alpha ((float)0.10000000000000001)
#define ATTR_beta ((float)0.59999999999999998)
#define ATTR_bias ((float)2)
/* LRN: x / (bias + alpha / size * sum of squares over size neighbouring channels) ^ beta. */
#ifndef ATTR_alpha
#define ATTR_alpha 1e-4f
#endif
#ifndef ATTR_beta
#define ATTR_beta 0.75f
#endif
#ifndef ATTR_bias
#define ATTR_bias 1.0f
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS, channels = dims[1];
  const double share = (double)ATTR_alpha / ATTR_size;
  int64_t plane = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) plane *= dims[k];
  for (int64_t u = begin; u < end; u++) { /* one channel of one image */
    const int64_t c = u % channels;
    const int64_t before = c < (ATTR_size - 1) / 2 ? c : (ATTR_size - 1) / 2;
    const int64_t behind = channels - 1 - c < ATTR_size / 2 ? channels - 1 - c : ATTR_size / 2;
    const IN0_T *restrict from = x + u * plane;
    OUT0_T *restrict to = y + u * plane;
    for (int64_t block = 0; block < plane; block += 64) {
      const int64_t width = plane - block < 64 ? plane - block : 64;
      double sum[64] = {0};
      for (int64_t k = -before; k <= behind; k++)
        for (int64_t i = 0; i < width; i++) {
          const double value = (double)from[k * plane + block + i];
          sum[i] += value * value;
        }
      if (ATTR_beta == 0.75f) /* AlexNet's, and the default */
        for (int64_t i = 0; i < width; i++) {
          const double root = sqrt((double)ATTR_bias + share * sum[i]);
          to[block + i] = (OUT0_T)((double)from[block + i] / (root * sqrt(root)));
        }
      else
        for (int64_t i = 0; i < width; i++)
          to[block + i] = (OUT0_T)((double)from[block + i] /
                                   pow((double)ATTR_bias + share * sum[i], (double)ATTR_beta));
    }
  }
  return 0;
}
#undef ATTR_alpha
#undef ATTR_beta
#undef ATTR_bias
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_size
#undef ATTR_alpha
#undef ATTR_beta
#undef ATTR_bias
int run_77(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_77(in, out, scratch, begin, end); }
#define NAME plain_78
#define UNITS 64l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 8l
#define IN0_DIMS {2,4,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 0
#define IN1_COUNT 1l
#define IN1_DIMS {0}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 8l
#define OUT0_DIMS {2,4,}
#define ATTR_exclusive 1l
#define ATTR_reverse 1l
#define CUMULATIVE_PRODUCT 0
/* CumSum, or CumProd with CUMULATIVE_PRODUCT 1, along the axis of input 1; exclusive leaves out the
 * element itself, reverse starts at the end. Integers wrap. Neighbouring lines run together; a unit
 * is the share of all blocks of lines that the axis makes. */
#ifndef ATTR_exclusive
#define ATTR_exclusive 0
#endif
#ifndef ATTR_reverse
#define ATTR_reverse 0
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC double
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int64_t axis = (int64_t)((const IN1_T *)in[1])[0], outer = 1, inner = 1;
  (void)scratch;
  if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
  if (axis < 0) axis += IN0_RANK;
  for (int64_t k = 0; k < axis; k++) outer *= dims[k];
  for (int64_t k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES, length = dims[axis];
  for (int64_t u = outer * blocks * begin / UNITS; u < outer * blocks * end / UNITS; u++) {
    const int64_t o = u / blocks, i = u % blocks * PLAIN_LINES;
    const int64_t width = inner - i < PLAIN_LINES ? inner - i : PLAIN_LINES;
    ACC sum[PLAIN_LINES];
    for (int64_t j = 0; j < width; j++) sum[j] = CUMULATIVE_PRODUCT;
    for (int64_t k = 0; k < length; k++) {
      const int64_t at = (o * length + (ATTR_reverse ? length - 1 - k : k)) * inner + i;
      for (int64_t j = 0; j < width; j++) {
        const ACC value = (ACC)x[at + j];
        const ACC next = CUMULATIVE_PRODUCT ? sum[j] * value : sum[j] + value;
        y[at + j] = (OUT0_T)(ATTR_exclusive ? sum[j] : next);
        sum[j] = next;
      }
    }
  }
  return 0;
}
#undef ACC
#undef ATTR_exclusive
#undef ATTR_reverse
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_exclusive
#undef ATTR_reverse
#undef CUMULATIVE_PRODUCT
int run_78(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_78(in, out, scratch, begin, end); }
#define NAME plain_79
#define UNITS 64l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int32_t
#define IN0_TYPE 6
#define IN0_RANK 2
#define IN0_COUNT 8l
#define IN0_DIMS {2,4,}
#define IN1_PRESENT 1
#define IN1_T int32_t
#define IN1_TYPE 6
#define IN1_RANK 0
#define IN1_COUNT 1l
#define IN1_DIMS {0}
#define OUT0_PRESENT 1
#define OUT0_T int32_t
#define OUT0_TYPE 6
#define OUT0_RANK 2
#define OUT0_COUNT 8l
#define OUT0_DIMS {2,4,}
#define CUMULATIVE_PRODUCT 0
/* CumSum, or CumProd with CUMULATIVE_PRODUCT 1, along the axis of input 1; exclusive leaves out the
 * element itself, reverse starts at the end. Integers wrap. Neighbouring lines run together; a unit
 * is the share of all blocks of lines that the axis makes. */
#ifndef ATTR_exclusive
#define ATTR_exclusive 0
#endif
#ifndef ATTR_reverse
#define ATTR_reverse 0
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC double
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int64_t axis = (int64_t)((const IN1_T *)in[1])[0], outer = 1, inner = 1;
  (void)scratch;
  if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
  if (axis < 0) axis += IN0_RANK;
  for (int64_t k = 0; k < axis; k++) outer *= dims[k];
  for (int64_t k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES, length = dims[axis];
  for (int64_t u = outer * blocks * begin / UNITS; u < outer * blocks * end / UNITS; u++) {
    const int64_t o = u / blocks, i = u % blocks * PLAIN_LINES;
    const int64_t width = inner - i < PLAIN_LINES ? inner - i : PLAIN_LINES;
    ACC sum[PLAIN_LINES];
    for (int64_t j = 0; j < width; j++) sum[j] = CUMULATIVE_PRODUCT;
    for (int64_t k = 0; k < length; k++) {
      const int64_t at = (o * length + (ATTR_reverse ? length - 1 - k : k)) * inner + i;
      for (int64_t j = 0; j < width; j++) {
        const ACC value = (ACC)x[at + j];
        const ACC next = CUMULATIVE_PRODUCT ? sum[j] * value : sum[j] + value;
        y[at + j] = (OUT0_T)(ATTR_exclusive ? sum[j] : next);
        sum[j] = next;
      }
    }
  }
  return 0;
}
#undef ACC
#undef ATTR_exclusive
#undef ATTR_reverse
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef CUMULATIVE_PRODUCT
int run_79(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_79(in, out, scratch, begin, end); }
#define NAME plain_80
#define UNITS 6l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 24l
#define IN0_DIMS {2,3,2,2,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 6l
#define OUT0_DIMS {2,3,1,1,}
#define POOL_MODE 0
/* GlobalAveragePool, GlobalMaxPool and GlobalLpPool (POOL_MODE 0, 1, 2): one value a channel. */
#ifndef ATTR_p
#define ATTR_p 2
#endif
/* A NaN stays. */
#define MORE(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int64_t plane = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) plane *= dims[k];
  for (int64_t p = begin; p < end; p++) {
    const IN0_T *restrict from = x + p * plane;
    if (POOL_MODE == 1) {
      IN0_T best[16];
      int64_t i = 0;
      for (int l = 0; l < 16; l++) best[l] = from[0];
      for (; i + 16 <= plane; i += 16)
        for (int l = 0; l < 16; l++) best[l] = MORE(from[i + l], best[l]);
      for (; i < plane; i++) best[0] = MORE(from[i], best[0]);
      for (int l = 1; l < 16; l++) best[0] = MORE(best[l], best[0]);
      y[p] = (OUT0_T)best[0];
      continue;
    }
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < plane; i++)
      sum += POOL_MODE == 0 ? (double)from[i]
             : ATTR_p == 1  ? fabs((double)from[i])
             : ATTR_p == 2  ? (double)from[i] * (double)from[i]
                            : pow(fabs((double)from[i]), (double)ATTR_p);
    y[p] = (OUT0_T)(POOL_MODE == 0 ? sum / (double)plane : pow(sum, 1 / (double)ATTR_p));
  }
  return 0;
}
#undef MORE
#undef ATTR_p
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef POOL_MODE
int run_80(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_80(in, out, scratch, begin, end); }
#define NAME plain_81
#define UNITS 6l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 30l
#define IN0_DIMS {2,3,5,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 3
#define OUT0_COUNT 6l
#define OUT0_DIMS {2,3,1,}
#define POOL_MODE 1
/* GlobalAveragePool, GlobalMaxPool and GlobalLpPool (POOL_MODE 0, 1, 2): one value a channel. */
#ifndef ATTR_p
#define ATTR_p 2
#endif
/* A NaN stays. */
#define MORE(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int64_t plane = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) plane *= dims[k];
  for (int64_t p = begin; p < end; p++) {
    const IN0_T *restrict from = x + p * plane;
    if (POOL_MODE == 1) {
      IN0_T best[16];
      int64_t i = 0;
      for (int l = 0; l < 16; l++) best[l] = from[0];
      for (; i + 16 <= plane; i += 16)
        for (int l = 0; l < 16; l++) best[l] = MORE(from[i + l], best[l]);
      for (; i < plane; i++) best[0] = MORE(from[i], best[0]);
      for (int l = 1; l < 16; l++) best[0] = MORE(best[l], best[0]);
      y[p] = (OUT0_T)best[0];
      continue;
    }
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < plane; i++)
      sum += POOL_MODE == 0 ? (double)from[i]
             : ATTR_p == 1  ? fabs((double)from[i])
             : ATTR_p == 2  ? (double)from[i] * (double)from[i]
                            : pow(fabs((double)from[i]), (double)ATTR_p);
    y[p] = (OUT0_T)(POOL_MODE == 0 ? sum / (double)plane : pow(sum, 1 / (double)ATTR_p));
  }
  return 0;
}
#undef MORE
#undef ATTR_p
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef POOL_MODE
int run_81(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_81(in, out, scratch, begin, end); }
#define NAME plain_82
#define UNITS 6l
#define IN_COUNT 5
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 12l
#define IN0_DIMS {2,3,2,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 1
#define IN1_COUNT 3l
#define IN1_DIMS {3,}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 1
#define IN2_COUNT 3l
#define IN2_DIMS {3,}
#define IN3_PRESENT 1
#define IN3_T float
#define IN3_TYPE 1
#define IN3_RANK 1
#define IN3_COUNT 3l
#define IN3_DIMS {3,}
#define IN4_PRESENT 1
#define IN4_T float
#define IN4_TYPE 1
#define IN4_RANK 1
#define IN4_COUNT 3l
#define IN4_DIMS {3,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 3
#define OUT0_COUNT 12l
#define OUT0_DIMS {2,3,2,}
/* BatchNormalization of inference: (x - mean) / sqrt(variance + epsilon) * scale + bias. */
#ifndef ATTR_epsilon
#define ATTR_epsilon 1e-5f
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *scale = in[1];
  const IN2_T *bias = in[2];
  const IN3_T *mean = in[3];
  const IN4_T *variance = in[4];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS, channels = IN1_COUNT;
  int64_t plane = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) plane *= dims[k];
  for (int64_t p = begin; p < end; p++) {
    const int64_t c = p % channels;
    const double middle = (double)mean[c], by = (double)scale[c], more = (double)bias[c];
    const double width = sqrt((double)variance[c] + (double)ATTR_epsilon);
    for (int64_t i = p * plane; i < (p + 1) * plane; i++)
      y[i] = (OUT0_T)(((double)x[i] - middle) / width * by + more);
  }
  return 0;
}
#undef ATTR_epsilon
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef IN3_PRESENT
#undef IN3_T
#undef IN3_TYPE
#undef IN3_RANK
#undef IN3_COUNT
#undef IN3_DIMS
#undef IN4_PRESENT
#undef IN4_T
#undef IN4_TYPE
#undef IN4_RANK
#undef IN4_COUNT
#undef IN4_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_82(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_82(in, out, scratch, begin, end); }
#define NAME plain_83
#define UNITS 7l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 0
#define IN0_COUNT 1l
#define IN0_DIMS {0}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 0
#define IN1_COUNT 1l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 0
#define IN2_COUNT 1l
#define IN2_DIMS {0}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 1
#define OUT0_COUNT 7l
#define OUT0_DIMS {7,}
/* Range: start + i * delta for the planned count. */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T start = ((const IN0_T *)in[0])[0], delta = ((const IN2_T *)in[2])[0];
  OUT0_T *y = out[0];
  (void)scratch;
  for (int64_t i = begin; i < end; i++)
    y[i] = (OUT0_T)_Generic((OUT0_T)0, float: (double)start + (double)i * (double)delta,
                            double: (double)start + (double)i * (double)delta,
                            default: (uint64_t)start + (uint64_t)i * (uint64_t)delta);
  return 0;
}
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_83(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_83(in, out, scratch, begin, end); }
#define NAME plain_84
#define UNITS 3l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int32_t
#define IN0_TYPE 6
#define IN0_RANK 0
#define IN0_COUNT 1l
#define IN0_DIMS {0}
#define IN1_PRESENT 1
#define IN1_T int32_t
#define IN1_TYPE 6
#define IN1_RANK 0
#define IN1_COUNT 1l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T int32_t
#define IN2_TYPE 6
#define IN2_RANK 0
#define IN2_COUNT 1l
#define IN2_DIMS {0}
#define OUT0_PRESENT 1
#define OUT0_T int32_t
#define OUT0_TYPE 6
#define OUT0_RANK 1
#define OUT0_COUNT 3l
#define OUT0_DIMS {3,}
/* Range: start + i * delta for the planned count. */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T start = ((const IN0_T *)in[0])[0], delta = ((const IN2_T *)in[2])[0];
  OUT0_T *y = out[0];
  (void)scratch;
  for (int64_t i = begin; i < end; i++)
    y[i] = (OUT0_T)_Generic((OUT0_T)0, float: (double)start + (double)i * (double)delta,
                            double: (double)start + (double)i * (double)delta,
                            default: (uint64_t)start + (uint64_t)i * (uint64_t)delta);
  return 0;
}
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_84(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_84(in, out, scratch, begin, end); }
#define NAME plain_85
#define UNITS 3l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T double
#define IN0_TYPE 11
#define IN0_RANK 2
#define IN0_COUNT 12l
#define IN0_DIMS {3,4,}
#define OUT0_PRESENT 1
#define OUT0_T double
#define OUT0_TYPE 11
#define OUT0_RANK 2
#define OUT0_COUNT 12l
#define OUT0_DIMS {3,4,}
#define ATTR_k -1l
/* EyeLike: ones on the diagonal k. */
#ifndef ATTR_k
#define ATTR_k 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = OUT0_DIMS;
  (void)in, (void)scratch;
  for (int64_t r = begin; r < end; r++) {
    memset(y + r * dims[1], 0, (size_t)dims[1] * sizeof *y);
    if (ATTR_k < dims[1] && ATTR_k > -dims[0] && r + ATTR_k >= 0 && r + ATTR_k < dims[1])
      y[r * dims[1] + r + ATTR_k] = 1;
  }
  return 0;
}
#undef ATTR_k
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_k
int run_85(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_85(in, out, scratch, begin, end); }
#define NAME plain_86
#define UNITS 6l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 12l
#define IN0_DIMS {2,3,2,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 2l
#define IN1_DIMS {2,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 3
#define OUT0_COUNT 12l
#define OUT0_DIMS {2,3,2,}
#define ATTR_batch_axis 0l
#define ATTR_time_axis 1l
/* ReverseSequence: the first sequence_lens[b] steps of batch b in reverse, the rest as they are. */
#ifndef ATTR_batch_axis
#define ATTR_batch_axis 1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *lengths = in[1];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS, batches = dims[ATTR_batch_axis], steps = dims[1 - ATTR_batch_axis];
  int64_t inner = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) inner *= dims[k];
  const int64_t batch_step = ATTR_batch_axis ? inner : steps * inner;
  const int64_t time_step = ATTR_batch_axis ? batches * inner : inner;
  for (int64_t u = begin; u < end; u++) { /* one step of one batch, as they lie */
    const int64_t b = ATTR_batch_axis ? u % batches : u / steps;
    const int64_t t = ATTR_batch_axis ? u / batches : u % steps;
    const int64_t length = (int64_t)lengths[b];
    if (length < 0 || length > steps) return 8;
    const int64_t from = t < length ? length - 1 - t : t;
    memcpy(y + b * batch_step + t * time_step, x + b * batch_step + from * time_step,
           (size_t)inner * sizeof *y);
  }
  return 0;
}
#undef ATTR_batch_axis
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_batch_axis
#undef ATTR_time_axis
int run_86(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_86(in, out, scratch, begin, end); }
#define NAME plain_87
#define UNITS 6l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int64_t
#define IN0_TYPE 7
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {3,2,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 2l
#define IN1_DIMS {2,}
#define OUT0_PRESENT 1
#define OUT0_T int64_t
#define OUT0_TYPE 7
#define OUT0_RANK 2
#define OUT0_COUNT 6l
#define OUT0_DIMS {3,2,}
/* ReverseSequence: the first sequence_lens[b] steps of batch b in reverse, the rest as they are. */
#ifndef ATTR_batch_axis
#define ATTR_batch_axis 1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *lengths = in[1];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS, batches = dims[ATTR_batch_axis], steps = dims[1 - ATTR_batch_axis];
  int64_t inner = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) inner *= dims[k];
  const int64_t batch_step = ATTR_batch_axis ? inner : steps * inner;
  const int64_t time_step = ATTR_batch_axis ? batches * inner : inner;
  for (int64_t u = begin; u < end; u++) { /* one step of one batch, as they lie */
    const int64_t b = ATTR_batch_axis ? u % batches : u / steps;
    const int64_t t = ATTR_batch_axis ? u / batches : u % steps;
    const int64_t length = (int64_t)lengths[b];
    if (length < 0 || length > steps) return 8;
    const int64_t from = t < length ? length - 1 - t : t;
    memcpy(y + b * batch_step + t * time_step, x + b * batch_step + from * time_step,
           (size_t)inner * sizeof *y);
  }
  return 0;
}
#undef ATTR_batch_axis
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_87(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_87(in, out, scratch, begin, end); }
#define NAME plain_88
#define UNITS 1l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int8_t
#define IN0_TYPE 3
#define IN0_RANK 1
#define IN0_COUNT 5l
#define IN0_DIMS {5,}
#define IN1_PRESENT 1
#define IN1_T int8_t
#define IN1_TYPE 3
#define IN1_RANK 1
#define IN1_COUNT 5l
#define IN1_DIMS {5,}
#define OUT0_PRESENT 1
#define OUT0_T int8_t
#define OUT0_TYPE 3
#define OUT0_RANK 1
#define OUT0_COUNT 5l
#define OUT0_DIMS {5,}
#define ATTR_direction_IS_RIGHT 1
#define PAIR_OP 1
/* Elementwise ops of two broadcast operands whose types or attributes an expression cannot say;
 * PAIR_OP: 0 Pow over mixed types, 1 BitShift, 2 Mod of floats
 * by the sign of the divisor. Integer results of a float power saturate. */
#if PAIR_OP == 0
#define PAIR(to, a, b)                                                                             \
  do {                                                                                             \
    double value = pow((double)(a), (double)(b));                                                  \
    const double high = ldexp(1, (int)sizeof(OUT0_T) * 8 - !((OUT0_T)-1 > 0));                     \
    const double low = (OUT0_T)-1 > 0 ? 0 : -high;                                                 \
    const int is_whole = (OUT0_T)0.5 == 0;                                                         \
    if (is_whole && value != value) value = 0;                                                     \
    if (is_whole && value >= high)                                                                 \
      (to) = (OUT0_T)((OUT0_T)-1 > 0 ? (uint64_t)-1 : UINT64_MAX >> (65 - 8 * sizeof(OUT0_T)));    \
    else                                                                                           \
      (to) = (OUT0_T)(is_whole && value < low ? low : value);                                      \
  } while (0)
#elif PAIR_OP == 2
#define PAIR(to, a, b)                                                             \
  do {                                                                             \
    double value = fmod((double)(a), (double)(b));                                 \
    if (value != 0 && (value < 0) != ((b) < 0)) value += (double)(b);              \
    (to) = (OUT0_T)value;                                                          \
  } while (0)
#elif defined ATTR_direction_IS_LEFT
#define PAIR(to, a, b) \
  (to) = (uint64_t)(b) < 8 * sizeof(OUT0_T) ? (OUT0_T)((uint64_t)(a) << ((uint64_t)(b)&63)) : 0
#else
#define PAIR(to, a, b)                                                                     \
  do {                                                                                     \
    const uint64_t by = (uint64_t)(b), width = 8 * sizeof(OUT0_T);                         \
    const OUT0_T shifted = (OUT0_T)((a) >> (by < width - 1 ? by : width - 1));             \
    (to) = by >= width && (a) > 0 ? 0 : shifted;                                           \
  } while (0)
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict y = in[1];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = OUT0_DIMS, x_dims[] = IN0_DIMS, y_dims[] = IN1_DIMS;
  int64_t x_step[17] = {0}, y_step[17] = {0}, step = 1;
  (void)scratch;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    x_step[k + OUT0_RANK - IN0_RANK] = x_dims[k] == 1 ? 0 : step;
    step *= x_dims[k];
  }
  step = 1;
  for (int k = IN1_RANK - 1; k >= 0; k--) {
    y_step[k + OUT0_RANK - IN1_RANK] = y_dims[k] == 1 ? 0 : step;
    step *= y_dims[k];
  }
  enum { LAST = OUT0_RANK > 0 ? OUT0_RANK - 1 : 0 };
  const int64_t columns = OUT0_RANK ? dims[LAST] : 1, x_by = x_step[LAST], y_by = y_step[LAST];
  for (int64_t r = begin; r < end; r++) {
    int64_t xi = 0, yi = 0, rest = r;
    for (int k = LAST - 1; k >= 0; rest /= dims[k], k--) {
      xi += rest % dims[k] * x_step[k];
      yi += rest % dims[k] * y_step[k];
    }
    const IN0_T *restrict a = x + xi;
    const IN1_T *restrict b = y + yi;
    OUT0_T *restrict c = to + r * columns;
    if (x_by && y_by)
      for (int64_t j = 0; j < columns; j++) PAIR(c[j], a[j], b[j]);
    else
      for (int64_t j = 0; j < columns; j++) PAIR(c[j], a[j * x_by], b[j * y_by]);
  }
  return 0;
}
#undef PAIR
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_direction_IS_RIGHT
#undef PAIR_OP
int run_88(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_88(in, out, scratch, begin, end); }
#define NAME plain_89
#define UNITS 2l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T uint8_t
#define IN0_TYPE 2
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {2,3,}
#define IN1_PRESENT 1
#define IN1_T uint8_t
#define IN1_TYPE 2
#define IN1_RANK 1
#define IN1_COUNT 3l
#define IN1_DIMS {3,}
#define OUT0_PRESENT 1
#define OUT0_T uint8_t
#define OUT0_TYPE 2
#define OUT0_RANK 2
#define OUT0_COUNT 6l
#define OUT0_DIMS {2,3,}
#define ATTR_direction_IS_LEFT 1
#define PAIR_OP 1
/* Elementwise ops of two broadcast operands whose types or attributes an expression cannot say;
 * PAIR_OP: 0 Pow over mixed types, 1 BitShift, 2 Mod of floats
 * by the sign of the divisor. Integer results of a float power saturate. */
#if PAIR_OP == 0
#define PAIR(to, a, b)                                                                             \
  do {                                                                                             \
    double value = pow((double)(a), (double)(b));                                                  \
    const double high = ldexp(1, (int)sizeof(OUT0_T) * 8 - !((OUT0_T)-1 > 0));                     \
    const double low = (OUT0_T)-1 > 0 ? 0 : -high;                                                 \
    const int is_whole = (OUT0_T)0.5 == 0;                                                         \
    if (is_whole && value != value) value = 0;                                                     \
    if (is_whole && value >= high)                                                                 \
      (to) = (OUT0_T)((OUT0_T)-1 > 0 ? (uint64_t)-1 : UINT64_MAX >> (65 - 8 * sizeof(OUT0_T)));    \
    else                                                                                           \
      (to) = (OUT0_T)(is_whole && value < low ? low : value);                                      \
  } while (0)
#elif PAIR_OP == 2
#define PAIR(to, a, b)                                                             \
  do {                                                                             \
    double value = fmod((double)(a), (double)(b));                                 \
    if (value != 0 && (value < 0) != ((b) < 0)) value += (double)(b);              \
    (to) = (OUT0_T)value;                                                          \
  } while (0)
#elif defined ATTR_direction_IS_LEFT
#define PAIR(to, a, b) \
  (to) = (uint64_t)(b) < 8 * sizeof(OUT0_T) ? (OUT0_T)((uint64_t)(a) << ((uint64_t)(b)&63)) : 0
#else
#define PAIR(to, a, b)                                                                     \
  do {                                                                                     \
    const uint64_t by = (uint64_t)(b), width = 8 * sizeof(OUT0_T);                         \
    const OUT0_T shifted = (OUT0_T)((a) >> (by < width - 1 ? by : width - 1));             \
    (to) = by >= width && (a) > 0 ? 0 : shifted;                                           \
  } while (0)
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict y = in[1];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = OUT0_DIMS, x_dims[] = IN0_DIMS, y_dims[] = IN1_DIMS;
  int64_t x_step[17] = {0}, y_step[17] = {0}, step = 1;
  (void)scratch;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    x_step[k + OUT0_RANK - IN0_RANK] = x_dims[k] == 1 ? 0 : step;
    step *= x_dims[k];
  }
  step = 1;
  for (int k = IN1_RANK - 1; k >= 0; k--) {
    y_step[k + OUT0_RANK - IN1_RANK] = y_dims[k] == 1 ? 0 : step;
    step *= y_dims[k];
  }
  enum { LAST = OUT0_RANK > 0 ? OUT0_RANK - 1 : 0 };
  const int64_t columns = OUT0_RANK ? dims[LAST] : 1, x_by = x_step[LAST], y_by = y_step[LAST];
  for (int64_t r = begin; r < end; r++) {
    int64_t xi = 0, yi = 0, rest = r;
    for (int k = LAST - 1; k >= 0; rest /= dims[k], k--) {
      xi += rest % dims[k] * x_step[k];
      yi += rest % dims[k] * y_step[k];
    }
    const IN0_T *restrict a = x + xi;
    const IN1_T *restrict b = y + yi;
    OUT0_T *restrict c = to + r * columns;
    if (x_by && y_by)
      for (int64_t j = 0; j < columns; j++) PAIR(c[j], a[j], b[j]);
    else
      for (int64_t j = 0; j < columns; j++) PAIR(c[j], a[j * x_by], b[j * y_by]);
  }
  return 0;
}
#undef PAIR
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_direction_IS_LEFT
#undef PAIR_OP
int run_89(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_89(in, out, scratch, begin, end); }
#define NAME plain_90
#define UNITS 6l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int64_t
#define IN0_TYPE 7
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {2,3,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 0
#define IN1_COUNT 1l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T int64_t
#define IN2_TYPE 7
#define IN2_RANK 0
#define IN2_COUNT 1l
#define IN2_DIMS {0}
#define OUT0_PRESENT 1
#define OUT0_T int64_t
#define OUT0_TYPE 7
#define OUT0_RANK 2
#define OUT0_COUNT 6l
#define OUT0_DIMS {2,3,}
/* Clip between bounds that may be known only at run time; a missing bound does not bind. */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  const IN0_T low = ((const IN1_T *)in[1])[0];
#endif
#if IN_COUNT > 2 && IN2_PRESENT
  const IN0_T high = ((const IN2_T *)in[2])[0];
#endif
  for (int64_t i = begin; i < end; i++) {
    IN0_T value = x[i];
#if IN_COUNT > 1 && IN1_PRESENT
    value = value < low ? low : value;
#endif
#if IN_COUNT > 2 && IN2_PRESENT
    value = value > high ? high : value;
#endif
    y[i] = value;
  }
  return 0;
}
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_90(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_90(in, out, scratch, begin, end); }
#define NAME plain_91
#define UNITS 5l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 1
#define IN0_COUNT 5l
#define IN0_DIMS {5,}
#define IN1_PRESENT 0
#define IN1_T float
#define IN1_TYPE 0
#define IN1_RANK 0
#define IN1_COUNT 0l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 0
#define IN2_COUNT 1l
#define IN2_DIMS {0}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 1
#define OUT0_COUNT 5l
#define OUT0_DIMS {5,}
/* Clip between bounds that may be known only at run time; a missing bound does not bind. */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  const IN0_T low = ((const IN1_T *)in[1])[0];
#endif
#if IN_COUNT > 2 && IN2_PRESENT
  const IN0_T high = ((const IN2_T *)in[2])[0];
#endif
  for (int64_t i = begin; i < end; i++) {
    IN0_T value = x[i];
#if IN_COUNT > 1 && IN1_PRESENT
    value = value < low ? low : value;
#endif
#if IN_COUNT > 2 && IN2_PRESENT
    value = value > high ? high : value;
#endif
    y[i] = value;
  }
  return 0;
}
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_91(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_91(in, out, scratch, begin, end); }
#define NAME plain_92
#define UNITS 64l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {3,2,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 0
#define IN1_COUNT 1l
#define IN1_DIMS {0}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 6l
#define OUT0_DIMS {3,2,}
#define CUMULATIVE_PRODUCT 1
/* CumSum, or CumProd with CUMULATIVE_PRODUCT 1, along the axis of input 1; exclusive leaves out the
 * element itself, reverse starts at the end. Integers wrap. Neighbouring lines run together; a unit
 * is the share of all blocks of lines that the axis makes. */
#ifndef ATTR_exclusive
#define ATTR_exclusive 0
#endif
#ifndef ATTR_reverse
#define ATTR_reverse 0
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC double
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int64_t axis = (int64_t)((const IN1_T *)in[1])[0], outer = 1, inner = 1;
  (void)scratch;
  if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
  if (axis < 0) axis += IN0_RANK;
  for (int64_t k = 0; k < axis; k++) outer *= dims[k];
  for (int64_t k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES, length = dims[axis];
  for (int64_t u = outer * blocks * begin / UNITS; u < outer * blocks * end / UNITS; u++) {
    const int64_t o = u / blocks, i = u % blocks * PLAIN_LINES;
    const int64_t width = inner - i < PLAIN_LINES ? inner - i : PLAIN_LINES;
    ACC sum[PLAIN_LINES];
    for (int64_t j = 0; j < width; j++) sum[j] = CUMULATIVE_PRODUCT;
    for (int64_t k = 0; k < length; k++) {
      const int64_t at = (o * length + (ATTR_reverse ? length - 1 - k : k)) * inner + i;
      for (int64_t j = 0; j < width; j++) {
        const ACC value = (ACC)x[at + j];
        const ACC next = CUMULATIVE_PRODUCT ? sum[j] * value : sum[j] + value;
        y[at + j] = (OUT0_T)(ATTR_exclusive ? sum[j] : next);
        sum[j] = next;
      }
    }
  }
  return 0;
}
#undef ACC
#undef ATTR_exclusive
#undef ATTR_reverse
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef CUMULATIVE_PRODUCT
int run_92(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_92(in, out, scratch, begin, end); }
#define NAME plain_93
#define UNITS 2l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {2,3,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 1
#define IN1_COUNT 3l
#define IN1_DIMS {3,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 6l
#define OUT0_DIMS {2,3,}
#define PAIR_OP 2
/* Elementwise ops of two broadcast operands whose types or attributes an expression cannot say;
 * PAIR_OP: 0 Pow over mixed types, 1 BitShift, 2 Mod of floats
 * by the sign of the divisor. Integer results of a float power saturate. */
#if PAIR_OP == 0
#define PAIR(to, a, b)                                                                             \
  do {                                                                                             \
    double value = pow((double)(a), (double)(b));                                                  \
    const double high = ldexp(1, (int)sizeof(OUT0_T) * 8 - !((OUT0_T)-1 > 0));                     \
    const double low = (OUT0_T)-1 > 0 ? 0 : -high;                                                 \
    const int is_whole = (OUT0_T)0.5 == 0;                                                         \
    if (is_whole && value != value) value = 0;                                                     \
    if (is_whole && value >= high)                                                                 \
      (to) = (OUT0_T)((OUT0_T)-1 > 0 ? (uint64_t)-1 : UINT64_MAX >> (65 - 8 * sizeof(OUT0_T)));    \
    else                                                                                           \
      (to) = (OUT0_T)(is_whole && value < low ? low : value);                                      \
  } while (0)
#elif PAIR_OP == 2
#define PAIR(to, a, b)                                                             \
  do {                                                                             \
    double value = fmod((double)(a), (double)(b));                                 \
    if (value != 0 && (value < 0) != ((b) < 0)) value += (double)(b);              \
    (to) = (OUT0_T)value;                                                          \
  } while (0)
#elif defined ATTR_direction_IS_LEFT
#define PAIR(to, a, b) \
  (to) = (uint64_t)(b) < 8 * sizeof(OUT0_T) ? (OUT0_T)((uint64_t)(a) << ((uint64_t)(b)&63)) : 0
#else
#define PAIR(to, a, b)                                                                     \
  do {                                                                                     \
    const uint64_t by = (uint64_t)(b), width = 8 * sizeof(OUT0_T);                         \
    const OUT0_T shifted = (OUT0_T)((a) >> (by < width - 1 ? by : width - 1));             \
    (to) = by >= width && (a) > 0 ? 0 : shifted;                                           \
  } while (0)
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict y = in[1];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = OUT0_DIMS, x_dims[] = IN0_DIMS, y_dims[] = IN1_DIMS;
  int64_t x_step[17] = {0}, y_step[17] = {0}, step = 1;
  (void)scratch;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    x_step[k + OUT0_RANK - IN0_RANK] = x_dims[k] == 1 ? 0 : step;
    step *= x_dims[k];
  }
  step = 1;
  for (int k = IN1_RANK - 1; k >= 0; k--) {
    y_step[k + OUT0_RANK - IN1_RANK] = y_dims[k] == 1 ? 0 : step;
    step *= y_dims[k];
  }
  enum { LAST = OUT0_RANK > 0 ? OUT0_RANK - 1 : 0 };
  const int64_t columns = OUT0_RANK ? dims[LAST] : 1, x_by = x_step[LAST], y_by = y_step[LAST];
  for (int64_t r = begin; r < end; r++) {
    int64_t xi = 0, yi = 0, rest = r;
    for (int k = LAST - 1; k >= 0; rest /= dims[k], k--) {
      xi += rest % dims[k] * x_step[k];
      yi += rest % dims[k] * y_step[k];
    }
    const IN0_T *restrict a = x + xi;
    const IN1_T *restrict b = y + yi;
    OUT0_T *restrict c = to + r * columns;
    if (x_by && y_by)
      for (int64_t j = 0; j < columns; j++) PAIR(c[j], a[j], b[j]);
    else
      for (int64_t j = 0; j < columns; j++) PAIR(c[j], a[j * x_by], b[j * y_by]);
  }
  return 0;
}
#undef PAIR
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef PAIR_OP
int run_93(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_93(in, out, scratch, begin, end); }
#define NAME plain_94
#define UNITS 2l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 1
#define IN0_COUNT 2l
#define IN0_DIMS {2,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 2
#define IN1_COUNT 2l
#define IN1_DIMS {2,1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 4l
#define OUT0_DIMS {2,2,}
#define PAIR_OP 0
/* Elementwise ops of two broadcast operands whose types or attributes an expression cannot say;
 * PAIR_OP: 0 Pow over mixed types, 1 BitShift, 2 Mod of floats
 * by the sign of the divisor. Integer results of a float power saturate. */
#if PAIR_OP == 0
#define PAIR(to, a, b)                                                                             \
  do {                                                                                             \
    double value = pow((double)(a), (double)(b));                                                  \
    const double high = ldexp(1, (int)sizeof(OUT0_T) * 8 - !((OUT0_T)-1 > 0));                     \
    const double low = (OUT0_T)-1 > 0 ? 0 : -high;                                                 \
    const int is_whole = (OUT0_T)0.5 == 0;                                                         \
    if (is_whole && value != value) value = 0;                                                     \
    if (is_whole && value >= high)                                                                 \
      (to) = (OUT0_T)((OUT0_T)-1 > 0 ? (uint64_t)-1 : UINT64_MAX >> (65 - 8 * sizeof(OUT0_T)));    \
    else                                                                                           \
      (to) = (OUT0_T)(is_whole && value < low ? low : value);                                      \
  } while (0)
#elif PAIR_OP == 2
#define PAIR(to, a, b)                                                             \
  do {                                                                             \
    double value = fmod((double)(a), (double)(b));                                 \
    if (value != 0 && (value < 0) != ((b) < 0)) value += (double)(b);              \
    (to) = (OUT0_T)value;                                                          \
  } while (0)
#elif defined ATTR_direction_IS_LEFT
#define PAIR(to, a, b) \
  (to) = (uint64_t)(b) < 8 * sizeof(OUT0_T) ? (OUT0_T)((uint64_t)(a) << ((uint64_t)(b)&63)) : 0
#else
#define PAIR(to, a, b)                                                                     \
  do {                                                                                     \
    const uint64_t by = (uint64_t)(b), width = 8 * sizeof(OUT0_T);                         \
    const OUT0_T shifted = (OUT0_T)((a) >> (by < width - 1 ? by : width - 1));             \
    (to) = by >= width && (a) > 0 ? 0 : shifted;                                           \
  } while (0)
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict y = in[1];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = OUT0_DIMS, x_dims[] = IN0_DIMS, y_dims[] = IN1_DIMS;
  int64_t x_step[17] = {0}, y_step[17] = {0}, step = 1;
  (void)scratch;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    x_step[k + OUT0_RANK - IN0_RANK] = x_dims[k] == 1 ? 0 : step;
    step *= x_dims[k];
  }
  step = 1;
  for (int k = IN1_RANK - 1; k >= 0; k--) {
    y_step[k + OUT0_RANK - IN1_RANK] = y_dims[k] == 1 ? 0 : step;
    step *= y_dims[k];
  }
  enum { LAST = OUT0_RANK > 0 ? OUT0_RANK - 1 : 0 };
  const int64_t columns = OUT0_RANK ? dims[LAST] : 1, x_by = x_step[LAST], y_by = y_step[LAST];
  for (int64_t r = begin; r < end; r++) {
    int64_t xi = 0, yi = 0, rest = r;
    for (int k = LAST - 1; k >= 0; rest /= dims[k], k--) {
      xi += rest % dims[k] * x_step[k];
      yi += rest % dims[k] * y_step[k];
    }
    const IN0_T *restrict a = x + xi;
    const IN1_T *restrict b = y + yi;
    OUT0_T *restrict c = to + r * columns;
    if (x_by && y_by)
      for (int64_t j = 0; j < columns; j++) PAIR(c[j], a[j], b[j]);
    else
      for (int64_t j = 0; j < columns; j++) PAIR(c[j], a[j * x_by], b[j * y_by]);
  }
  return 0;
}
#undef PAIR
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef PAIR_OP
int run_94(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_94(in, out, scratch, begin, end); }
#define NAME plain_95
#define UNITS 1l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int32_t
#define IN0_TYPE 6
#define IN0_RANK 1
#define IN0_COUNT 3l
#define IN0_DIMS {3,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 1
#define IN1_COUNT 3l
#define IN1_DIMS {3,}
#define OUT0_PRESENT 1
#define OUT0_T int32_t
#define OUT0_TYPE 6
#define OUT0_RANK 1
#define OUT0_COUNT 3l
#define OUT0_DIMS {3,}
#define PAIR_OP 0
/* Elementwise ops of two broadcast operands whose types or attributes an expression cannot say;
 * PAIR_OP: 0 Pow over mixed types, 1 BitShift, 2 Mod of floats
 * by the sign of the divisor. Integer results of a float power saturate. */
#if PAIR_OP == 0
#define PAIR(to, a, b)                                                                             \
  do {                                                                                             \
    double value = pow((double)(a), (double)(b));                                                  \
    const double high = ldexp(1, (int)sizeof(OUT0_T) * 8 - !((OUT0_T)-1 > 0));                     \
    const double low = (OUT0_T)-1 > 0 ? 0 : -high;                                                 \
    const int is_whole = (OUT0_T)0.5 == 0;                                                         \
    if (is_whole && value != value) value = 0;                                                     \
    if (is_whole && value >= high)                                                                 \
      (to) = (OUT0_T)((OUT0_T)-1 > 0 ? (uint64_t)-1 : UINT64_MAX >> (65 - 8 * sizeof(OUT0_T)));    \
    else                                                                                           \
      (to) = (OUT0_T)(is_whole && value < low ? low : value);                                      \
  } while (0)
#elif PAIR_OP == 2
#define PAIR(to, a, b)                                                             \
  do {                                                                             \
    double value = fmod((double)(a), (double)(b));                                 \
    if (value != 0 && (value < 0) != ((b) < 0)) value += (double)(b);              \
    (to) = (OUT0_T)value;                                                          \
  } while (0)
#elif defined ATTR_direction_IS_LEFT
#define PAIR(to, a, b) \
  (to) = (uint64_t)(b) < 8 * sizeof(OUT0_T) ? (OUT0_T)((uint64_t)(a) << ((uint64_t)(b)&63)) : 0
#else
#define PAIR(to, a, b)                                                                     \
  do {                                                                                     \
    const uint64_t by = (uint64_t)(b), width = 8 * sizeof(OUT0_T);                         \
    const OUT0_T shifted = (OUT0_T)((a) >> (by < width - 1 ? by : width - 1));             \
    (to) = by >= width && (a) > 0 ? 0 : shifted;                                           \
  } while (0)
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict y = in[1];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = OUT0_DIMS, x_dims[] = IN0_DIMS, y_dims[] = IN1_DIMS;
  int64_t x_step[17] = {0}, y_step[17] = {0}, step = 1;
  (void)scratch;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    x_step[k + OUT0_RANK - IN0_RANK] = x_dims[k] == 1 ? 0 : step;
    step *= x_dims[k];
  }
  step = 1;
  for (int k = IN1_RANK - 1; k >= 0; k--) {
    y_step[k + OUT0_RANK - IN1_RANK] = y_dims[k] == 1 ? 0 : step;
    step *= y_dims[k];
  }
  enum { LAST = OUT0_RANK > 0 ? OUT0_RANK - 1 : 0 };
  const int64_t columns = OUT0_RANK ? dims[LAST] : 1, x_by = x_step[LAST], y_by = y_step[LAST];
  for (int64_t r = begin; r < end; r++) {
    int64_t xi = 0, yi = 0, rest = r;
    for (int k = LAST - 1; k >= 0; rest /= dims[k], k--) {
      xi += rest % dims[k] * x_step[k];
      yi += rest % dims[k] * y_step[k];
    }
    const IN0_T *restrict a = x + xi;
    const IN1_T *restrict b = y + yi;
    OUT0_T *restrict c = to + r * columns;
    if (x_by && y_by)
      for (int64_t j = 0; j < columns; j++) PAIR(c[j], a[j], b[j]);
    else
      for (int64_t j = 0; j < columns; j++) PAIR(c[j], a[j * x_by], b[j * y_by]);
  }
  return 0;
}
#undef PAIR
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef PAIR_OP
int run_95(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_95(in, out, scratch, begin, end); }
#define NAME plain_96
#define UNITS 1l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 12l
#define IN0_DIMS {3,4,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 12l
#define OUT0_DIMS {3,4,}
#define ATTR_axis 0l
/* Hardmax: 1 at the first largest element along the axis, 0 elsewhere. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  const int64_t length = dims[axis];
  (void)scratch;
  int64_t inner = 1;
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES;
  for (int64_t u = begin; u < end; u++) {
    const int64_t o = u / blocks, i = u % blocks * PLAIN_LINES;
    const int64_t width = inner - i < PLAIN_LINES ? inner - i : PLAIN_LINES;
    const IN0_T *restrict from = x + o * length * inner + i;
    OUT0_T *restrict to = y + o * length * inner + i;
    IN0_T best[PLAIN_LINES];
    int64_t at[PLAIN_LINES];
    for (int64_t j = 0; j < width; j++) best[j] = from[j], at[j] = 0;
    for (int64_t k = 1; k < length; k++)
      for (int64_t j = 0; j < width; j++) {
        const int is_better = from[k * inner + j] > best[j];
        best[j] = is_better ? from[k * inner + j] : best[j];
        at[j] = is_better ? k : at[j];
      }
    for (int64_t k = 0; k < length; k++)
      for (int64_t j = 0; j < width; j++) to[k * inner + j] = at[j] == k;
  }
  return 0;
}
#undef ATTR_axis
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_axis
int run_96(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_96(in, out, scratch, begin, end); }
#define NAME plain_97
#define UNITS 4l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 24l
#define IN0_DIMS {2,4,3,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 1
#define IN1_COUNT 4l
#define IN1_DIMS {4,}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 1
#define IN2_COUNT 4l
#define IN2_DIMS {4,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 3
#define OUT0_COUNT 24l
#define OUT0_DIMS {2,4,3,}
#define ATTR_num_groups 2l
/* GroupNormalization: mean and variance of each group of channels, in double; scale and bias are one
 * a channel. */
#ifndef ATTR_epsilon
#define ATTR_epsilon 1e-5f
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *scale = in[1];
  const IN2_T *bias = in[2];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS, channels = dims[1] / ATTR_num_groups; /* of one group */
  int64_t plane = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) plane *= dims[k];
  const int64_t length = channels * plane;
  for (int64_t g = begin; g < end; g++) {
    const IN0_T *restrict from = x + g * length;
    double mean = 0, variance = 0;
#pragma omp simd reduction(+ : mean)
    for (int64_t i = 0; i < length; i++) mean += (double)from[i];
    mean /= (double)length;
#pragma omp simd reduction(+ : variance)
    for (int64_t i = 0; i < length; i++)
      variance += ((double)from[i] - mean) * ((double)from[i] - mean);
    const double inverse = 1 / sqrt(variance / (double)length + (double)ATTR_epsilon);
    for (int64_t c = 0; c < channels; c++) {
      const int64_t channel = g % ATTR_num_groups * channels + c;
      const double by = inverse * (double)scale[channel], more = (double)bias[channel];
      OUT0_T *restrict to = y + g * length + c * plane;
      for (int64_t i = 0; i < plane; i++)
        to[i] = (OUT0_T)(((double)from[c * plane + i] - mean) * by + more);
    }
  }
  return 0;
}
#undef ATTR_epsilon
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_num_groups
int run_97(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_97(in, out, scratch, begin, end); }
#define NAME plain_98
#define UNITS 2l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 24l
#define IN0_DIMS {2,3,4,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 2
#define IN1_COUNT 12l
#define IN1_DIMS {3,4,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 3
#define OUT0_COUNT 24l
#define OUT0_DIMS {2,3,4,}
#define ATTR_axis 1l
/* RMSNormalization over the axes from `axis` on: x / sqrt(mean of squares + epsilon) * scale; the scale
 * broadcasts to the input. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
#ifndef ATTR_epsilon
#define ATTR_epsilon 1e-5f
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict scale = in[1];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS, scale_dims[] = IN1_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  int64_t columns = 1, strides[17] = {0}, at[17] = {0}, step = 1;
  (void)scratch;
  for (int k = axis; k < IN0_RANK; k++) columns *= dims[k];
  for (int k = IN1_RANK - 1; k >= 0; k--) {
    strides[k + IN0_RANK - IN1_RANK] = scale_dims[k] == 1 ? 0 : step;
    step *= scale_dims[k];
  }
  for (int64_t r = begin; r < end; r++) {
    const IN0_T *restrict from = x + r * columns;
    OUT0_T *restrict to = y + r * columns;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < columns; i++) sum += (double)from[i] * (double)from[i];
    const double inverse = 1 / sqrt(sum / (double)columns + (double)ATTR_epsilon);
    if (IN1_COUNT == columns) { /* the scale lies as a row does */
      for (int64_t i = 0; i < columns; i++)
        to[i] = (OUT0_T)((double)from[i] * inverse * (double)scale[i]);
      continue;
    }
    int64_t rest = r;
    for (int k = IN0_RANK - 1; k >= 0; k--) at[k] = k < axis ? rest % dims[k] : 0, rest /= k < axis ? dims[k] : 1;
    for (int64_t i = 0; i < columns; i++) {
      int64_t s = 0;
      for (int k = 0; k < IN0_RANK; k++) s += at[k] * strides[k];
      to[i] = (OUT0_T)((double)from[i] * inverse * (double)scale[s]);
      for (int k = IN0_RANK - 1; k >= 0 && ++at[k] == dims[k]; k--) at[k] = 0;
    }
  }
  return 0;
}
#undef ATTR_axis
#undef ATTR_epsilon
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_axis
int run_98(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_98(in, out, scratch, begin, end); }
#define NAME plain_99
#define UNITS 64l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 48l
#define IN0_DIMS {2,3,4,2,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 48l
#define OUT0_DIMS {2,3,4,2,}
/* MeanVarianceNormalization over `axes`: (x - mean) / (sqrt(variance) + 1e-9). A unit is the share of
 * all groups, the places of the axes that stay. */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
#ifdef ATTR_axes
  const int64_t axes[] = ATTR_axes;
  const int axis_count = ATTR_axes_COUNT;
#else
  const int64_t axes[] = {0, 2, 3};
  const int axis_count = 3;
#endif
  int64_t step[17], groups = 1, lines = 1, length = 1, stride = 1;
  int gone[17] = {0};
  (void)scratch;
  for (int k = 0; k < axis_count; k++) gone[axes[k] < 0 ? axes[k] + IN0_RANK : axes[k]] = 1;
  /* a group is `lines` lines of `length` neighbours: the axes at the end that go, in one */
  int tail = IN0_RANK;
  while (tail > 0 && gone[tail - 1]) length *= dims[--tail];
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    step[k] = stride;
    stride *= dims[k];
    if (k < tail) *(gone[k] ? &lines : &groups) *= dims[k];
  }
  const double share = 1 / (double)(lines * length);
  for (int64_t g = groups * begin / UNITS; g < groups * end / UNITS; g++) {
    int64_t base = 0, rest = g;
    for (int k = tail - 1; k >= 0; k--)
      if (!gone[k]) base += rest % dims[k] * step[k], rest /= dims[k];
    double mean = 0, variance = 0;
    for (int pass = 0; pass < 3; pass++) {
      for (int64_t line = 0; line < lines; line++) {
        int64_t at = base;
        rest = line;
        for (int k = tail - 1; k >= 0; k--)
          if (gone[k]) at += rest % dims[k] * step[k], rest /= dims[k];
        double sum = 0;
        if (pass == 0) {
#pragma omp simd reduction(+ : sum)
          for (int64_t i = 0; i < length; i++) sum += (double)x[at + i];
          mean += sum * share;
        } else if (pass == 1) {
#pragma omp simd reduction(+ : sum)
          for (int64_t i = 0; i < length; i++) {
            const double value = (double)x[at + i] - mean;
            sum += value * value;
          }
          variance += sum * share;
        } else {
          const double width = sqrt(variance) + 1e-9;
          for (int64_t i = 0; i < length; i++) y[at + i] = (OUT0_T)(((double)x[at + i] - mean) / width);
        }
      }
    }
  }
  return 0;
}
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_99(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_99(in, out, scratch, begin, end); }
#define NAME plain_100
#define UNITS 2l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 4
#define IN0_COUNT 40l
#define IN0_DIMS {1,2,4,5,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 4
#define OUT0_COUNT 16l
#define OUT0_DIMS {1,2,2,4,}
#define WINDOW_IN {1,4,5,}
#define WINDOW_KERNEL {1,2,3,}
#define WINDOW_OUT {1,2,4,}
#define WINDOW_STRIDE {1,2,1,}
#define WINDOW_DILATION {1,1,1,}
#define WINDOW_PAD_BEGIN {0,1,0,}
#define WINDOW_PAD_END {0,0,1,}
#define ATTR_kernel_shape_COUNT 2
#define ATTR_kernel_shape {2,3,}
#define ATTR_p 1l
#define ATTR_pads_COUNT 4
#define ATTR_pads {1,0,0,1,}
#define ATTR_strides_COUNT 2
#define ATTR_strides {2,1,}
#define POOL_MODE 2
/* AveragePool, MaxPool and LpPool (POOL_MODE 0, 1, 2), up to three spatial dimensions. What lies outside the
 * input does not count, except that count_include_pad counts what lies within the padding. */
#ifndef ATTR_count_include_pad
#define ATTR_count_include_pad 0
#endif
#ifndef ATTR_storage_order
#define ATTR_storage_order 0
#endif
#ifndef ATTR_p
#define ATTR_p 2
#endif
#if OUT0_TYPE == 1 /* f32 */
#define SUM float
#else
#define SUM double
#endif
#define LOWEST _Generic((IN0_T)0, float: -INFINITY, double: -INFINITY, default: 0)
#define IS_FLOAT ((IN0_T)0.5 != 0)
#if OUT_COUNT > 1 && OUT1_PRESENT
#define HAS_INDEX 1
#else
#define HAS_INDEX 0
#endif
#if POOL_MODE == 1
/* Floats begin at -inf and need no place to tell that nothing was seen. A NaN stays. */
#define TAKE(i2)                                                                              \
  do {                                                                                        \
    const IN0_T value = row[i2], old = best[j];                                               \
    const int is_better = (!(IS_FLOAT && !HAS_INDEX) && best_at[j] < 0) || value > old ||     \
                          (value != value && old == old);                                     \
    best[j] = is_better ? value : old;                                                        \
    if (HAS_INDEX || !IS_FLOAT)                                                               \
      best_at[j] = !is_better           ? best_at[j]                                          \
                   : ATTR_storage_order ? ((i2)*id[1] + i1) * id[0] + i0                      \
                                        : (i0 * id[1] + i1) * id[2] + (i2);                   \
  } while (0)
#elif POOL_MODE == 2
#define TAKE(i2)                                                       \
  sum[j] += ATTR_p == 1   ? fabs((double)row[i2])                      \
            : ATTR_p == 2 ? row[i2] * row[i2]                          \
                          : pow(fabs((double)row[i2]), (double)ATTR_p)
#else
#define TAKE(i2) (count[j] += !ATTR_count_include_pad, sum[j] += row[i2])
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t id[] = WINDOW_IN, kd[] = WINDOW_KERNEL, od[] = WINDOW_OUT;
  const int64_t stride[] = WINDOW_STRIDE, dilation[] = WINDOW_DILATION, pad[] = WINDOW_PAD_BEGIN,
                pad_end[] = WINDOW_PAD_END;
  (void)scratch;
  const int64_t image = id[0] * id[1] * id[2], plane = od[0] * od[1] * od[2];
  for (int64_t u = begin; u < end; u++)
    for (int64_t o0 = 0; o0 < od[0]; o0++)
      for (int64_t o1 = 0; o1 < od[1]; o1++)
        for (int64_t start = 0; start < od[2]; start += 64) { /* one part of a row */
          const int64_t width = od[2] - start < 64 ? od[2] - start : 64;
          SUM sum[64] = {0};
          IN0_T best[64] = {0};
          int64_t best_at[64];
          int32_t count[64] = {0};
          for (int64_t j = 0; j < 64; j++) {
            best_at[j] = -1;
            best[j] = (IN0_T)LOWEST;
          }
          for (int64_t k0 = 0; k0 < kd[0]; k0++)
            for (int64_t k1 = 0; k1 < kd[1]; k1++)
              for (int64_t k2 = 0; k2 < kd[2]; k2++) {
                const int64_t i0 = o0 * stride[0] - pad[0] + k0 * dilation[0];
                const int64_t i1 = o1 * stride[1] - pad[1] + k1 * dilation[1];
                const int64_t shift = start * stride[2] - pad[2] + k2 * dilation[2];
                if (i0 >= id[0] + pad_end[0] || i1 >= id[1] + pad_end[1]) continue;
                if (ATTR_count_include_pad)
                  for (int64_t j = 0; j < width; j++)
                    count[j] += j * stride[2] + shift < id[2] + pad_end[2];
                if (i0 < 0 || i1 < 0 || i0 >= id[0] || i1 >= id[1]) continue;
                int64_t first = shift >= 0 ? 0 : (-shift + stride[2] - 1) / stride[2];
                int64_t last = id[2] > shift ? (id[2] - 1 - shift) / stride[2] + 1 : 0;
                if (last > width) last = width;
                const IN0_T *restrict row = x + u * image + (i0 * id[1] + i1) * id[2];
                if (stride[2] == 1)
                  for (int64_t j = first; j < last; j++) TAKE(j + shift);
                else
                  for (int64_t j = first; j < last; j++) TAKE(j * stride[2] + shift);
              }
          const int64_t place = u * plane + (o0 * od[1] + o1) * od[2] + start;
          for (int64_t j = 0; j < width; j++) {
#if POOL_MODE == 1
            y[place + j] = (IS_FLOAT && !HAS_INDEX) || best_at[j] >= 0 ? best[j] : (OUT0_T)LOWEST;
#if OUT_COUNT > 1 && OUT1_PRESENT
            ((OUT1_T *)out[1])[place + j] = u * image + best_at[j];
#endif
#elif POOL_MODE == 2
            y[place + j] = (OUT0_T)(ATTR_p == 1   ? (double)sum[j]
                                    : ATTR_p == 2 ? sqrt((double)sum[j])
                                                  : pow((double)sum[j], 1.0 / (double)ATTR_p));
#else
            y[place + j] = (OUT0_T)(sum[j] / (OUT0_T)count[j]);
#endif
          }
          (void)sum, (void)best, (void)best_at, (void)count;
        }
  return 0;
}
#undef ATTR_count_include_pad
#undef ATTR_storage_order
#undef ATTR_p
#undef SUM
#undef TAKE
#undef IS_FLOAT
#undef HAS_INDEX
#undef LOWEST
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef WINDOW_IN
#undef WINDOW_KERNEL
#undef WINDOW_OUT
#undef WINDOW_STRIDE
#undef WINDOW_DILATION
#undef WINDOW_PAD_BEGIN
#undef WINDOW_PAD_END
#undef ATTR_kernel_shape_COUNT
#undef ATTR_kernel_shape
#undef ATTR_p
#undef ATTR_pads_COUNT
#undef ATTR_pads
#undef ATTR_strides_COUNT
#undef ATTR_strides
#undef POOL_MODE
int run_100(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_100(in, out, scratch, begin, end); }
#define NAME plain_101
#define UNITS 2l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 12l
#define IN0_DIMS {1,2,6,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 3
#define OUT0_COUNT 8l
#define OUT0_DIMS {1,2,4,}
#define WINDOW_IN {1,1,6,}
#define WINDOW_KERNEL {1,1,3,}
#define WINDOW_OUT {1,1,4,}
#define WINDOW_STRIDE {1,1,1,}
#define WINDOW_DILATION {1,1,1,}
#define WINDOW_PAD_BEGIN {0,0,0,}
#define WINDOW_PAD_END {0,0,0,}
#define ATTR_kernel_shape_COUNT 1
#define ATTR_kernel_shape {3,}
#define ATTR_p 3l
#define POOL_MODE 2
/* AveragePool, MaxPool and LpPool (POOL_MODE 0, 1, 2), up to three spatial dimensions. What lies outside the
 * input does not count, except that count_include_pad counts what lies within the padding. */
#ifndef ATTR_count_include_pad
#define ATTR_count_include_pad 0
#endif
#ifndef ATTR_storage_order
#define ATTR_storage_order 0
#endif
#ifndef ATTR_p
#define ATTR_p 2
#endif
#if OUT0_TYPE == 1 /* f32 */
#define SUM float
#else
#define SUM double
#endif
#define LOWEST _Generic((IN0_T)0, float: -INFINITY, double: -INFINITY, default: 0)
#define IS_FLOAT ((IN0_T)0.5 != 0)
#if OUT_COUNT > 1 && OUT1_PRESENT
#define HAS_INDEX 1
#else
#define HAS_INDEX 0
#endif
#if POOL_MODE == 1
/* Floats begin at -inf and need no place to tell that nothing was seen. A NaN stays. */
#define TAKE(i2)                                                                              \
  do {                                                                                        \
    const IN0_T value = row[i2], old = best[j];                                               \
    const int is_better = (!(IS_FLOAT && !HAS_INDEX) && best_at[j] < 0) || value > old ||     \
                          (value != value && old == old);                                     \
    best[j] = is_better ? value : old;                                                        \
    if (HAS_INDEX || !IS_FLOAT)                                                               \
      best_at[j] = !is_better           ? best_at[j]                                          \
                   : ATTR_storage_order ? ((i2)*id[1] + i1) * id[0] + i0                      \
                                        : (i0 * id[1] + i1) * id[2] + (i2);                   \
  } while (0)
#elif POOL_MODE == 2
#define TAKE(i2)                                                       \
  sum[j] += ATTR_p == 1   ? fabs((double)row[i2])                      \
            : ATTR_p == 2 ? row[i2] * row[i2]                          \
                          : pow(fabs((double)row[i2]), (double)ATTR_p)
#else
#define TAKE(i2) (count[j] += !ATTR_count_include_pad, sum[j] += row[i2])
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t id[] = WINDOW_IN, kd[] = WINDOW_KERNEL, od[] = WINDOW_OUT;
  const int64_t stride[] = WINDOW_STRIDE, dilation[] = WINDOW_DILATION, pad[] = WINDOW_PAD_BEGIN,
                pad_end[] = WINDOW_PAD_END;
  (void)scratch;
  const int64_t image = id[0] * id[1] * id[2], plane = od[0] * od[1] * od[2];
  for (int64_t u = begin; u < end; u++)
    for (int64_t o0 = 0; o0 < od[0]; o0++)
      for (int64_t o1 = 0; o1 < od[1]; o1++)
        for (int64_t start = 0; start < od[2]; start += 64) { /* one part of a row */
          const int64_t width = od[2] - start < 64 ? od[2] - start : 64;
          SUM sum[64] = {0};
          IN0_T best[64] = {0};
          int64_t best_at[64];
          int32_t count[64] = {0};
          for (int64_t j = 0; j < 64; j++) {
            best_at[j] = -1;
            best[j] = (IN0_T)LOWEST;
          }
          for (int64_t k0 = 0; k0 < kd[0]; k0++)
            for (int64_t k1 = 0; k1 < kd[1]; k1++)
              for (int64_t k2 = 0; k2 < kd[2]; k2++) {
                const int64_t i0 = o0 * stride[0] - pad[0] + k0 * dilation[0];
                const int64_t i1 = o1 * stride[1] - pad[1] + k1 * dilation[1];
                const int64_t shift = start * stride[2] - pad[2] + k2 * dilation[2];
                if (i0 >= id[0] + pad_end[0] || i1 >= id[1] + pad_end[1]) continue;
                if (ATTR_count_include_pad)
                  for (int64_t j = 0; j < width; j++)
                    count[j] += j * stride[2] + shift < id[2] + pad_end[2];
                if (i0 < 0 || i1 < 0 || i0 >= id[0] || i1 >= id[1]) continue;
                int64_t first = shift >= 0 ? 0 : (-shift + stride[2] - 1) / stride[2];
                int64_t last = id[2] > shift ? (id[2] - 1 - shift) / stride[2] + 1 : 0;
                if (last > width) last = width;
                const IN0_T *restrict row = x + u * image + (i0 * id[1] + i1) * id[2];
                if (stride[2] == 1)
                  for (int64_t j = first; j < last; j++) TAKE(j + shift);
                else
                  for (int64_t j = first; j < last; j++) TAKE(j * stride[2] + shift);
              }
          const int64_t place = u * plane + (o0 * od[1] + o1) * od[2] + start;
          for (int64_t j = 0; j < width; j++) {
#if POOL_MODE == 1
            y[place + j] = (IS_FLOAT && !HAS_INDEX) || best_at[j] >= 0 ? best[j] : (OUT0_T)LOWEST;
#if OUT_COUNT > 1 && OUT1_PRESENT
            ((OUT1_T *)out[1])[place + j] = u * image + best_at[j];
#endif
#elif POOL_MODE == 2
            y[place + j] = (OUT0_T)(ATTR_p == 1   ? (double)sum[j]
                                    : ATTR_p == 2 ? sqrt((double)sum[j])
                                                  : pow((double)sum[j], 1.0 / (double)ATTR_p));
#else
            y[place + j] = (OUT0_T)(sum[j] / (OUT0_T)count[j]);
#endif
          }
          (void)sum, (void)best, (void)best_at, (void)count;
        }
  return 0;
}
#undef ATTR_count_include_pad
#undef ATTR_storage_order
#undef ATTR_p
#undef SUM
#undef TAKE
#undef IS_FLOAT
#undef HAS_INDEX
#undef LOWEST
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef WINDOW_IN
#undef WINDOW_KERNEL
#undef WINDOW_OUT
#undef WINDOW_STRIDE
#undef WINDOW_DILATION
#undef WINDOW_PAD_BEGIN
#undef WINDOW_PAD_END
#undef ATTR_kernel_shape_COUNT
#undef ATTR_kernel_shape
#undef ATTR_p
#undef POOL_MODE
int run_101(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_101(in, out, scratch, begin, end); }
#define NAME plain_102
#define UNITS 6l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 24l
#define IN0_DIMS {2,3,4,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 3
#define OUT0_COUNT 6l
#define OUT0_DIMS {2,3,1,}
#define POOL_MODE 2
/* GlobalAveragePool, GlobalMaxPool and GlobalLpPool (POOL_MODE 0, 1, 2): one value a channel. */
#ifndef ATTR_p
#define ATTR_p 2
#endif
/* A NaN stays. */
#define MORE(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int64_t plane = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) plane *= dims[k];
  for (int64_t p = begin; p < end; p++) {
    const IN0_T *restrict from = x + p * plane;
    if (POOL_MODE == 1) {
      IN0_T best[16];
      int64_t i = 0;
      for (int l = 0; l < 16; l++) best[l] = from[0];
      for (; i + 16 <= plane; i += 16)
        for (int l = 0; l < 16; l++) best[l] = MORE(from[i + l], best[l]);
      for (; i < plane; i++) best[0] = MORE(from[i], best[0]);
      for (int l = 1; l < 16; l++) best[0] = MORE(best[l], best[0]);
      y[p] = (OUT0_T)best[0];
      continue;
    }
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < plane; i++)
      sum += POOL_MODE == 0 ? (double)from[i]
             : ATTR_p == 1  ? fabs((double)from[i])
             : ATTR_p == 2  ? (double)from[i] * (double)from[i]
                            : pow(fabs((double)from[i]), (double)ATTR_p);
    y[p] = (OUT0_T)(POOL_MODE == 0 ? sum / (double)plane : pow(sum, 1 / (double)ATTR_p));
  }
  return 0;
}
#undef MORE
#undef ATTR_p
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef POOL_MODE
int run_102(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_102(in, out, scratch, begin, end); }
#define NAME plain_103
#define UNITS 2l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {3,2,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 2
#define IN1_COUNT 12l
#define IN1_DIMS {3,4,}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 2
#define IN2_COUNT 2l
#define IN2_DIMS {2,1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 8l
#define OUT0_DIMS {2,4,}
#define ATTR_transA 1l
#define ATTR_alpha ((float)0.5)
#define ATTR_beta ((float)2)
/* Gemm (ONNX): alpha * A' * B' + beta * C, C broadcast to [M, N]. Sums in double for floats. */
#ifndef ATTR_alpha
#define ATTR_alpha 1.0f
#endif
#ifndef ATTR_beta
#define ATTR_beta 1.0f
#endif
#ifndef ATTR_transA
#define ATTR_transA 0
#endif
#ifndef ATTR_transB
#define ATTR_transB 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  static const int64_t a_dims[] = IN0_DIMS, y_dims[] = OUT0_DIMS;
  const IN0_T *restrict a = in[0], *restrict b = in[1];
  OUT0_T *restrict y = out[0];
  const int64_t m = y_dims[0], n = y_dims[1], k = ATTR_transA ? a_dims[0] : a_dims[1];
  (void)scratch;
  for (int64_t i = begin; i < end; i++)
    for (int64_t j0 = 0; j0 < n; j0 += 64) {
      const int64_t width = n - j0 < 64 ? n - j0 : 64;
      double sum[64] = {0};
      if (ATTR_transB)
        for (int64_t j = 0; j < width; j++) {
          double total = 0;
#pragma omp simd reduction(+ : total)
          for (int64_t p = 0; p < k; p++)
            total += (double)a[ATTR_transA ? p * m + i : i * k + p] * (double)b[(j0 + j) * k + p];
          sum[j] = total;
        }
      else
        for (int64_t p = 0; p < k; p++) {
          const double x = (double)a[ATTR_transA ? p * m + i : i * k + p];
          for (int64_t j = 0; j < width; j++) sum[j] += x * (double)b[p * n + j0 + j];
        }
      for (int64_t j = 0; j < width; j++) {
        double value = sum[j] * (double)ATTR_alpha;
#if IN_COUNT > 2
#if IN2_PRESENT
        static const int64_t c_dims[] = IN2_DIMS;
        const IN2_T *c = in[2];
        const int64_t rows = IN2_RANK == 2 ? c_dims[0] : 1;
        const int64_t columns = IN2_RANK ? c_dims[IN2_RANK - (IN2_RANK > 0)] : 1;
        value += (double)ATTR_beta *
                 (double)c[(rows == 1 ? 0 : i) * columns + (columns == 1 ? 0 : j0 + j)];
#endif
#endif
        y[i * n + j0 + j] = (OUT0_T)value;
      }
    }
  return 0;
}
#undef ATTR_alpha
#undef ATTR_beta
#undef ATTR_transA
#undef ATTR_transB
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_transA
#undef ATTR_alpha
#undef ATTR_beta
int run_103(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_103(in, out, scratch, begin, end); }
#define NAME plain_104
#define UNITS 2l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T double
#define IN0_TYPE 11
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {2,3,}
#define IN1_PRESENT 1
#define IN1_T double
#define IN1_TYPE 11
#define IN1_RANK 2
#define IN1_COUNT 12l
#define IN1_DIMS {4,3,}
#define IN2_PRESENT 1
#define IN2_T double
#define IN2_TYPE 11
#define IN2_RANK 1
#define IN2_COUNT 4l
#define IN2_DIMS {4,}
#define OUT0_PRESENT 1
#define OUT0_T double
#define OUT0_TYPE 11
#define OUT0_RANK 2
#define OUT0_COUNT 8l
#define OUT0_DIMS {2,4,}
#define ATTR_transB 1l
/* Gemm (ONNX): alpha * A' * B' + beta * C, C broadcast to [M, N]. Sums in double for floats. */
#ifndef ATTR_alpha
#define ATTR_alpha 1.0f
#endif
#ifndef ATTR_beta
#define ATTR_beta 1.0f
#endif
#ifndef ATTR_transA
#define ATTR_transA 0
#endif
#ifndef ATTR_transB
#define ATTR_transB 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  static const int64_t a_dims[] = IN0_DIMS, y_dims[] = OUT0_DIMS;
  const IN0_T *restrict a = in[0], *restrict b = in[1];
  OUT0_T *restrict y = out[0];
  const int64_t m = y_dims[0], n = y_dims[1], k = ATTR_transA ? a_dims[0] : a_dims[1];
  (void)scratch;
  for (int64_t i = begin; i < end; i++)
    for (int64_t j0 = 0; j0 < n; j0 += 64) {
      const int64_t width = n - j0 < 64 ? n - j0 : 64;
      double sum[64] = {0};
      if (ATTR_transB)
        for (int64_t j = 0; j < width; j++) {
          double total = 0;
#pragma omp simd reduction(+ : total)
          for (int64_t p = 0; p < k; p++)
            total += (double)a[ATTR_transA ? p * m + i : i * k + p] * (double)b[(j0 + j) * k + p];
          sum[j] = total;
        }
      else
        for (int64_t p = 0; p < k; p++) {
          const double x = (double)a[ATTR_transA ? p * m + i : i * k + p];
          for (int64_t j = 0; j < width; j++) sum[j] += x * (double)b[p * n + j0 + j];
        }
      for (int64_t j = 0; j < width; j++) {
        double value = sum[j] * (double)ATTR_alpha;
#if IN_COUNT > 2
#if IN2_PRESENT
        static const int64_t c_dims[] = IN2_DIMS;
        const IN2_T *c = in[2];
        const int64_t rows = IN2_RANK == 2 ? c_dims[0] : 1;
        const int64_t columns = IN2_RANK ? c_dims[IN2_RANK - (IN2_RANK > 0)] : 1;
        value += (double)ATTR_beta *
                 (double)c[(rows == 1 ? 0 : i) * columns + (columns == 1 ? 0 : j0 + j)];
#endif
#endif
        y[i * n + j0 + j] = (OUT0_T)value;
      }
    }
  return 0;
}
#undef ATTR_alpha
#undef ATTR_beta
#undef ATTR_transA
#undef ATTR_transB
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_transB
int run_104(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_104(in, out, scratch, begin, end); }
#define NAME plain_105
#define UNITS 24l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 24l
#define IN0_DIMS {2,3,4,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 0
#define IN1_COUNT 1l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T uint8_t
#define IN2_TYPE 2
#define IN2_RANK 0
#define IN2_COUNT 1l
#define IN2_DIMS {0}
#define OUT0_PRESENT 1
#define OUT0_T uint8_t
#define OUT0_TYPE 2
#define OUT0_RANK 3
#define OUT0_COUNT 24l
#define OUT0_DIMS {2,3,4,}
#define QUANTIZE_AWAY 0
/* QuantizeLinear: saturate(round(x / scale) + zero point); one scale for all, one along the axis, or
 * one a block of block_size along it; QUANTIZE_AWAY: halves go away from zero. The quotient is rounded to the input's type first. */
#ifndef ATTR_axis
#define ATTR_axis 1
#endif
#ifndef ATTR_block_size
#define ATTR_block_size 0
#endif
#if IN_COUNT > 2 && IN2_PRESENT
#define ZERO(s) ((REAL)((const IN2_T *)in[2])[s])
#else
#define ZERO(s) ((REAL)0)
#endif
#if IN0_TYPE == 1 /* f32 */
#define REAL float
#else
#define REAL double
#endif
#define QUANTIZE(s)                                                               \
  do {                                                                            \
    const REAL quotient = (REAL)x[i + j] / (REAL)scale[s];                        \
    const REAL whole =                                                            \
        rint_(sizeof(IN0_T) <= 4 ? (REAL)(float)quotient : quotient) + ZERO(s);   \
    const REAL value = whole != whole ? ZERO(s) : whole;                          \
    y[i + j] = (OUT0_T)(int32_t)(value < low ? low : value > high ? high : value); \
  } while (0)
#if QUANTIZE_AWAY
#define rint_(value) _Generic((value), float: roundf, default: round)(value)
#else
#define rint_(value) _Generic((value), float: rintf, default: rint)(value)
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict scale = in[1];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const REAL low = (OUT0_T)-1 > 0 ? 0 : sizeof(OUT0_T) == 1 ? -128 : -32768;
  const REAL high = (sizeof(OUT0_T) == 1 ? 127 : 32767) * ((OUT0_T)-1 > 0 ? 2 : 1) + ((OUT0_T)-1 > 0);
  int64_t axis = (ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis), inner = 1, length = 1;
  (void)scratch;
  const int is_single = IN1_COUNT == 1 && IN1_RANK <= 1 && ATTR_block_size == 0;
  for (int64_t k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  if (!is_single) length = dims[axis];
  const int64_t block = ATTR_block_size ? ATTR_block_size : 1, blocks = (length + block - 1) / block;
  for (int64_t i = begin; i < end;) { /* runs over which the scale stays, or moves on with i */
    int64_t run = end - i, s = 0;
    const int moves = !is_single && (ATTR_block_size ? inner > 1 : inner == 1);
    if (!is_single) {
      const int64_t within = inner > 1 ? i % inner : 0, k = i / inner % length;
      int64_t rest = inner > 1 ? inner - within : length - k;
      s = ATTR_block_size ? (i / (inner * length) * blocks + k / block) * inner + within : k;
      if (ATTR_block_size && inner == 1 && rest > block - k % block) rest = block - k % block;
      if (run > rest) run = rest;
    }
    if (moves)
      for (int64_t j = 0; j < run; j++) QUANTIZE(s + j);
    else
      for (int64_t j = 0; j < run; j++) QUANTIZE(s);
    i += run;
  }
  return 0;
}
#undef QUANTIZE
#undef ZERO
#undef REAL
#undef rint_
#undef ATTR_axis
#undef ATTR_block_size
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef QUANTIZE_AWAY
int run_105(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_105(in, out, scratch, begin, end); }
#define NAME plain_106
#define UNITS 6l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {2,3,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 1
#define IN1_COUNT 3l
#define IN1_DIMS {3,}
#define IN2_PRESENT 1
#define IN2_T int8_t
#define IN2_TYPE 3
#define IN2_RANK 1
#define IN2_COUNT 3l
#define IN2_DIMS {3,}
#define OUT0_PRESENT 1
#define OUT0_T int8_t
#define OUT0_TYPE 3
#define OUT0_RANK 2
#define OUT0_COUNT 6l
#define OUT0_DIMS {2,3,}
#define ATTR_axis 1l
#define QUANTIZE_AWAY 0
/* QuantizeLinear: saturate(round(x / scale) + zero point); one scale for all, one along the axis, or
 * one a block of block_size along it; QUANTIZE_AWAY: halves go away from zero. The quotient is rounded to the input's type first. */
#ifndef ATTR_axis
#define ATTR_axis 1
#endif
#ifndef ATTR_block_size
#define ATTR_block_size 0
#endif
#if IN_COUNT > 2 && IN2_PRESENT
#define ZERO(s) ((REAL)((const IN2_T *)in[2])[s])
#else
#define ZERO(s) ((REAL)0)
#endif
#if IN0_TYPE == 1 /* f32 */
#define REAL float
#else
#define REAL double
#endif
#define QUANTIZE(s)                                                               \
  do {                                                                            \
    const REAL quotient = (REAL)x[i + j] / (REAL)scale[s];                        \
    const REAL whole =                                                            \
        rint_(sizeof(IN0_T) <= 4 ? (REAL)(float)quotient : quotient) + ZERO(s);   \
    const REAL value = whole != whole ? ZERO(s) : whole;                          \
    y[i + j] = (OUT0_T)(int32_t)(value < low ? low : value > high ? high : value); \
  } while (0)
#if QUANTIZE_AWAY
#define rint_(value) _Generic((value), float: roundf, default: round)(value)
#else
#define rint_(value) _Generic((value), float: rintf, default: rint)(value)
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict scale = in[1];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const REAL low = (OUT0_T)-1 > 0 ? 0 : sizeof(OUT0_T) == 1 ? -128 : -32768;
  const REAL high = (sizeof(OUT0_T) == 1 ? 127 : 32767) * ((OUT0_T)-1 > 0 ? 2 : 1) + ((OUT0_T)-1 > 0);
  int64_t axis = (ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis), inner = 1, length = 1;
  (void)scratch;
  const int is_single = IN1_COUNT == 1 && IN1_RANK <= 1 && ATTR_block_size == 0;
  for (int64_t k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  if (!is_single) length = dims[axis];
  const int64_t block = ATTR_block_size ? ATTR_block_size : 1, blocks = (length + block - 1) / block;
  for (int64_t i = begin; i < end;) { /* runs over which the scale stays, or moves on with i */
    int64_t run = end - i, s = 0;
    const int moves = !is_single && (ATTR_block_size ? inner > 1 : inner == 1);
    if (!is_single) {
      const int64_t within = inner > 1 ? i % inner : 0, k = i / inner % length;
      int64_t rest = inner > 1 ? inner - within : length - k;
      s = ATTR_block_size ? (i / (inner * length) * blocks + k / block) * inner + within : k;
      if (ATTR_block_size && inner == 1 && rest > block - k % block) rest = block - k % block;
      if (run > rest) run = rest;
    }
    if (moves)
      for (int64_t j = 0; j < run; j++) QUANTIZE(s + j);
    else
      for (int64_t j = 0; j < run; j++) QUANTIZE(s);
    i += run;
  }
  return 0;
}
#undef QUANTIZE
#undef ZERO
#undef REAL
#undef rint_
#undef ATTR_axis
#undef ATTR_block_size
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_axis
#undef QUANTIZE_AWAY
int run_106(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_106(in, out, scratch, begin, end); }
#define NAME plain_107
#define UNITS 6l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {2,3,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 2
#define IN1_COUNT 4l
#define IN1_DIMS {2,2,}
#define OUT0_PRESENT 1
#define OUT0_T uint8_t
#define OUT0_TYPE 2
#define OUT0_RANK 2
#define OUT0_COUNT 6l
#define OUT0_DIMS {2,3,}
#define ATTR_axis 1l
#define ATTR_block_size 2l
#define QUANTIZE_AWAY 0
/* QuantizeLinear: saturate(round(x / scale) + zero point); one scale for all, one along the axis, or
 * one a block of block_size along it; QUANTIZE_AWAY: halves go away from zero. The quotient is rounded to the input's type first. */
#ifndef ATTR_axis
#define ATTR_axis 1
#endif
#ifndef ATTR_block_size
#define ATTR_block_size 0
#endif
#if IN_COUNT > 2 && IN2_PRESENT
#define ZERO(s) ((REAL)((const IN2_T *)in[2])[s])
#else
#define ZERO(s) ((REAL)0)
#endif
#if IN0_TYPE == 1 /* f32 */
#define REAL float
#else
#define REAL double
#endif
#define QUANTIZE(s)                                                               \
  do {                                                                            \
    const REAL quotient = (REAL)x[i + j] / (REAL)scale[s];                        \
    const REAL whole =                                                            \
        rint_(sizeof(IN0_T) <= 4 ? (REAL)(float)quotient : quotient) + ZERO(s);   \
    const REAL value = whole != whole ? ZERO(s) : whole;                          \
    y[i + j] = (OUT0_T)(int32_t)(value < low ? low : value > high ? high : value); \
  } while (0)
#if QUANTIZE_AWAY
#define rint_(value) _Generic((value), float: roundf, default: round)(value)
#else
#define rint_(value) _Generic((value), float: rintf, default: rint)(value)
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict scale = in[1];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const REAL low = (OUT0_T)-1 > 0 ? 0 : sizeof(OUT0_T) == 1 ? -128 : -32768;
  const REAL high = (sizeof(OUT0_T) == 1 ? 127 : 32767) * ((OUT0_T)-1 > 0 ? 2 : 1) + ((OUT0_T)-1 > 0);
  int64_t axis = (ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis), inner = 1, length = 1;
  (void)scratch;
  const int is_single = IN1_COUNT == 1 && IN1_RANK <= 1 && ATTR_block_size == 0;
  for (int64_t k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  if (!is_single) length = dims[axis];
  const int64_t block = ATTR_block_size ? ATTR_block_size : 1, blocks = (length + block - 1) / block;
  for (int64_t i = begin; i < end;) { /* runs over which the scale stays, or moves on with i */
    int64_t run = end - i, s = 0;
    const int moves = !is_single && (ATTR_block_size ? inner > 1 : inner == 1);
    if (!is_single) {
      const int64_t within = inner > 1 ? i % inner : 0, k = i / inner % length;
      int64_t rest = inner > 1 ? inner - within : length - k;
      s = ATTR_block_size ? (i / (inner * length) * blocks + k / block) * inner + within : k;
      if (ATTR_block_size && inner == 1 && rest > block - k % block) rest = block - k % block;
      if (run > rest) run = rest;
    }
    if (moves)
      for (int64_t j = 0; j < run; j++) QUANTIZE(s + j);
    else
      for (int64_t j = 0; j < run; j++) QUANTIZE(s);
    i += run;
  }
  return 0;
}
#undef QUANTIZE
#undef ZERO
#undef REAL
#undef rint_
#undef ATTR_axis
#undef ATTR_block_size
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_axis
#undef ATTR_block_size
#undef QUANTIZE_AWAY
int run_107(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_107(in, out, scratch, begin, end); }
#define NAME plain_108
#define UNITS 8l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 1
#define IN0_COUNT 8l
#define IN0_DIMS {8,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 0
#define IN1_COUNT 1l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T int8_t
#define IN2_TYPE 3
#define IN2_RANK 0
#define IN2_COUNT 1l
#define IN2_DIMS {0}
#define OUT0_PRESENT 1
#define OUT0_T int8_t
#define OUT0_TYPE 3
#define OUT0_RANK 1
#define OUT0_COUNT 8l
#define OUT0_DIMS {8,}
#define QUANTIZE_AWAY 1
/* QuantizeLinear: saturate(round(x / scale) + zero point); one scale for all, one along the axis, or
 * one a block of block_size along it; QUANTIZE_AWAY: halves go away from zero. The quotient is rounded to the input's type first. */
#ifndef ATTR_axis
#define ATTR_axis 1
#endif
#ifndef ATTR_block_size
#define ATTR_block_size 0
#endif
#if IN_COUNT > 2 && IN2_PRESENT
#define ZERO(s) ((REAL)((const IN2_T *)in[2])[s])
#else
#define ZERO(s) ((REAL)0)
#endif
#if IN0_TYPE == 1 /* f32 */
#define REAL float
#else
#define REAL double
#endif
#define QUANTIZE(s)                                                               \
  do {                                                                            \
    const REAL quotient = (REAL)x[i + j] / (REAL)scale[s];                        \
    const REAL whole =                                                            \
        rint_(sizeof(IN0_T) <= 4 ? (REAL)(float)quotient : quotient) + ZERO(s);   \
    const REAL value = whole != whole ? ZERO(s) : whole;                          \
    y[i + j] = (OUT0_T)(int32_t)(value < low ? low : value > high ? high : value); \
  } while (0)
#if QUANTIZE_AWAY
#define rint_(value) _Generic((value), float: roundf, default: round)(value)
#else
#define rint_(value) _Generic((value), float: rintf, default: rint)(value)
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict scale = in[1];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const REAL low = (OUT0_T)-1 > 0 ? 0 : sizeof(OUT0_T) == 1 ? -128 : -32768;
  const REAL high = (sizeof(OUT0_T) == 1 ? 127 : 32767) * ((OUT0_T)-1 > 0 ? 2 : 1) + ((OUT0_T)-1 > 0);
  int64_t axis = (ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis), inner = 1, length = 1;
  (void)scratch;
  const int is_single = IN1_COUNT == 1 && IN1_RANK <= 1 && ATTR_block_size == 0;
  for (int64_t k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  if (!is_single) length = dims[axis];
  const int64_t block = ATTR_block_size ? ATTR_block_size : 1, blocks = (length + block - 1) / block;
  for (int64_t i = begin; i < end;) { /* runs over which the scale stays, or moves on with i */
    int64_t run = end - i, s = 0;
    const int moves = !is_single && (ATTR_block_size ? inner > 1 : inner == 1);
    if (!is_single) {
      const int64_t within = inner > 1 ? i % inner : 0, k = i / inner % length;
      int64_t rest = inner > 1 ? inner - within : length - k;
      s = ATTR_block_size ? (i / (inner * length) * blocks + k / block) * inner + within : k;
      if (ATTR_block_size && inner == 1 && rest > block - k % block) rest = block - k % block;
      if (run > rest) run = rest;
    }
    if (moves)
      for (int64_t j = 0; j < run; j++) QUANTIZE(s + j);
    else
      for (int64_t j = 0; j < run; j++) QUANTIZE(s);
    i += run;
  }
  return 0;
}
#undef QUANTIZE
#undef ZERO
#undef REAL
#undef rint_
#undef ATTR_axis
#undef ATTR_block_size
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef QUANTIZE_AWAY
int run_108(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_108(in, out, scratch, begin, end); }
#define NAME plain_109
#define UNITS 8l
#define IN_COUNT 5
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T uint8_t
#define IN0_TYPE 2
#define IN0_RANK 4
#define IN0_COUNT 18l
#define IN0_DIMS {1,2,3,3,}
#define IN1_PRESENT 1
#define IN1_T int32_t
#define IN1_TYPE 6
#define IN1_RANK 2
#define IN1_COUNT 8l
#define IN1_DIMS {2,4,}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 2
#define IN2_COUNT 8l
#define IN2_DIMS {2,4,}
#define IN3_PRESENT 1
#define IN3_T int32_t
#define IN3_TYPE 6
#define IN3_RANK 2
#define IN3_COUNT 4l
#define IN3_DIMS {2,2,}
#define IN4_PRESENT 1
#define IN4_T float
#define IN4_TYPE 1
#define IN4_RANK 2
#define IN4_COUNT 4l
#define IN4_DIMS {2,2,}
#define OUT0_PRESENT 1
#define OUT0_T uint8_t
#define OUT0_TYPE 2
#define OUT0_RANK 4
#define OUT0_COUNT 16l
#define OUT0_DIMS {1,2,4,2,}
/* Interpolate (hone): integers between four neighbours, rows and columns by places and weights: a unit is
 * one row of the result. The neighbours of all columns are found once for all rows between the same two. */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *const x = in[0];
  const int32_t *const rows = in[1], *const columns = in[3];
  const IN2_T *const row_weights = in[2];
  const int64_t dims[] = IN0_DIMS, to[] = OUT0_DIMS, h = dims[2], w = dims[3], oh = to[2], ow = to[3];
  const IN4_T *restrict const near = in[4], *restrict const far = near + ow;
  IN2_T *restrict const upper_left = scratch, *restrict const lower_left = upper_left + ow;
  IN2_T *restrict const upper_right = lower_left + ow, *restrict const lower_right = upper_right + ow;
  const IN0_T *last_upper = 0, *last_lower = 0;
  for (int64_t j = 0; j < 2 * ow; j++)
    if (columns[j] < 0 || columns[j] >= w) return 8;
  for (int64_t u = begin; u < end; u++) {
    const int64_t plane = u / oh, y = u % oh;
    if (rows[y] < 0 || rows[y] >= h || rows[oh + y] < 0 || rows[oh + y] >= h) return 8;
    const IN0_T *const upper = x + (plane * h + rows[y]) * w;
    const IN0_T *const lower = x + (plane * h + rows[oh + y]) * w;
    OUT0_T *restrict const c = (OUT0_T *)out[0] + u * ow;
    const IN2_T above = row_weights[y], below = row_weights[oh + y];
    if (upper != last_upper || lower != last_lower)
      for (int64_t j = 0; j < ow; j++) {
        upper_left[j] = (IN2_T)upper[columns[j]];
        lower_left[j] = (IN2_T)lower[columns[j]];
        upper_right[j] = (IN2_T)upper[columns[ow + j]];
        lower_right[j] = (IN2_T)lower[columns[ow + j]];
      }
    last_upper = upper;
    last_lower = lower;
    for (int64_t j = 0; j < ow; j++) {
      IN2_T sum = upper_left[j] * above * near[j];
      sum += lower_left[j] * below * near[j];
      sum += upper_right[j] * above * far[j];
      sum += lower_right[j] * below * far[j];
#if IN2_TYPE == 1
      c[j] = (OUT0_T)(int32_t)(sum + 0.5f);
#else
      c[j] = (OUT0_T)((sum + ((sum > 0) - (sum < 0)) * ((int64_t)1 << 19)) / ((int64_t)1 << 20));
#endif
    }
  }
  return 0;
}
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef IN3_PRESENT
#undef IN3_T
#undef IN3_TYPE
#undef IN3_RANK
#undef IN3_COUNT
#undef IN3_DIMS
#undef IN4_PRESENT
#undef IN4_T
#undef IN4_TYPE
#undef IN4_RANK
#undef IN4_COUNT
#undef IN4_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_109(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_109(in, out, scratch, begin, end); }
#define NAME plain_110
#define UNITS 6l
#define IN_COUNT 5
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int8_t
#define IN0_TYPE 3
#define IN0_RANK 4
#define IN0_COUNT 12l
#define IN0_DIMS {2,1,2,3,}
#define IN1_PRESENT 1
#define IN1_T int32_t
#define IN1_TYPE 6
#define IN1_RANK 2
#define IN1_COUNT 6l
#define IN1_DIMS {2,3,}
#define IN2_PRESENT 1
#define IN2_T int64_t
#define IN2_TYPE 7
#define IN2_RANK 2
#define IN2_COUNT 6l
#define IN2_DIMS {2,3,}
#define IN3_PRESENT 1
#define IN3_T int32_t
#define IN3_TYPE 6
#define IN3_RANK 2
#define IN3_COUNT 4l
#define IN3_DIMS {2,2,}
#define IN4_PRESENT 1
#define IN4_T int64_t
#define IN4_TYPE 7
#define IN4_RANK 2
#define IN4_COUNT 4l
#define IN4_DIMS {2,2,}
#define OUT0_PRESENT 1
#define OUT0_T int8_t
#define OUT0_TYPE 3
#define OUT0_RANK 4
#define OUT0_COUNT 12l
#define OUT0_DIMS {2,1,3,2,}
/* Interpolate (hone): integers between four neighbours, rows and columns by places and weights: a unit is
 * one row of the result. The neighbours of all columns are found once for all rows between the same two. */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *const x = in[0];
  const int32_t *const rows = in[1], *const columns = in[3];
  const IN2_T *const row_weights = in[2];
  const int64_t dims[] = IN0_DIMS, to[] = OUT0_DIMS, h = dims[2], w = dims[3], oh = to[2], ow = to[3];
  const IN4_T *restrict const near = in[4], *restrict const far = near + ow;
  IN2_T *restrict const upper_left = scratch, *restrict const lower_left = upper_left + ow;
  IN2_T *restrict const upper_right = lower_left + ow, *restrict const lower_right = upper_right + ow;
  const IN0_T *last_upper = 0, *last_lower = 0;
  for (int64_t j = 0; j < 2 * ow; j++)
    if (columns[j] < 0 || columns[j] >= w) return 8;
  for (int64_t u = begin; u < end; u++) {
    const int64_t plane = u / oh, y = u % oh;
    if (rows[y] < 0 || rows[y] >= h || rows[oh + y] < 0 || rows[oh + y] >= h) return 8;
    const IN0_T *const upper = x + (plane * h + rows[y]) * w;
    const IN0_T *const lower = x + (plane * h + rows[oh + y]) * w;
    OUT0_T *restrict const c = (OUT0_T *)out[0] + u * ow;
    const IN2_T above = row_weights[y], below = row_weights[oh + y];
    if (upper != last_upper || lower != last_lower)
      for (int64_t j = 0; j < ow; j++) {
        upper_left[j] = (IN2_T)upper[columns[j]];
        lower_left[j] = (IN2_T)lower[columns[j]];
        upper_right[j] = (IN2_T)upper[columns[ow + j]];
        lower_right[j] = (IN2_T)lower[columns[ow + j]];
      }
    last_upper = upper;
    last_lower = lower;
    for (int64_t j = 0; j < ow; j++) {
      IN2_T sum = upper_left[j] * above * near[j];
      sum += lower_left[j] * below * near[j];
      sum += upper_right[j] * above * far[j];
      sum += lower_right[j] * below * far[j];
#if IN2_TYPE == 1
      c[j] = (OUT0_T)(int32_t)(sum + 0.5f);
#else
      c[j] = (OUT0_T)((sum + ((sum > 0) - (sum < 0)) * ((int64_t)1 << 19)) / ((int64_t)1 << 20));
#endif
    }
  }
  return 0;
}
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef IN3_PRESENT
#undef IN3_T
#undef IN3_TYPE
#undef IN3_RANK
#undef IN3_COUNT
#undef IN3_DIMS
#undef IN4_PRESENT
#undef IN4_T
#undef IN4_TYPE
#undef IN4_RANK
#undef IN4_COUNT
#undef IN4_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_110(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_110(in, out, scratch, begin, end); }
#define NAME plain_111
#define UNITS 3l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int8_t
#define IN0_TYPE 3
#define IN0_RANK 2
#define IN0_COUNT 21l
#define IN0_DIMS {3,7,}
#define IN1_PRESENT 1
#define IN1_T int32_t
#define IN1_TYPE 6
#define IN1_RANK 1
#define IN1_COUNT 256l
#define IN1_DIMS {256,}
#define OUT0_PRESENT 1
#define OUT0_T int8_t
#define OUT0_TYPE 3
#define OUT0_RANK 2
#define OUT0_COUNT 21l
#define OUT0_DIMS {3,7,}
#define ATTR_to 3l
/* TableSoftmax (hone): softmax of 8-bit numbers in fixed point; input 1 holds exp of each distance
 * from the largest. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *x = in[0];
  const int32_t *table = in[1];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  const int64_t to_bits = 8 * (int64_t)sizeof(OUT0_T), n = dims[axis];
  const int64_t low = (OUT0_T)-1 > 0 ? 0 : -((int64_t)1 << (to_bits - 1));
  const int64_t high = low + ((int64_t)1 << to_bits) - 1, half = (int64_t)1 << 30;
  int64_t inner = 1;
  (void)scratch;
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
#define FIXED_MULTIPLY(a, b) (((a) * (b) + ((a) * (b) >= 0 ? half : 1 - half)) / ((int64_t)1 << 31))
#define FIXED_SHIFT(a, mask, bits) (((a) >> (bits)) + (((a) & (mask)) > ((mask) >> 1) + ((a) < 0)))
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES;
  for (int64_t l = begin * PLAIN_LINES; l < end * PLAIN_LINES; l++) {
    const int64_t u = l / PLAIN_LINES, at = u % blocks * PLAIN_LINES + l % PLAIN_LINES;
    if (at >= inner) continue;
    const int64_t base = u / blocks * inner * n + at;
    int64_t most = x[base], sum = 0;
    for (int64_t i = 1; i < n; i++)
      if (x[base + i * inner] > most) most = x[base + i * inner];
    for (int64_t i = 0; i < n; i++) {
      const int64_t e = table[most - x[base + i * inner]];
      sum += FIXED_SHIFT(e, 4095, 12);
    }
    int zeros = 0; /* in front of the sum, as a number of 32 bits */
    while (sum > 0 && !((uint32_t)sum << zeros & 1u << 31)) zeros++;
    const int64_t rest = (int32_t)(((uint32_t)sum << zeros) - ((uint32_t)1 << 31));
    const int64_t denominator = (rest + INT32_MAX + 1) / 2;
    int64_t scale = 1515870810 + FIXED_MULTIPLY(denominator, (int64_t)-1010580540);
    for (int i = 0; i < 3; i++) {
      const int64_t error = ((int64_t)1 << 29) - FIXED_MULTIPLY(denominator, scale);
      int64_t step = 4 * FIXED_MULTIPLY(scale, error);
      step = step > INT32_MAX ? INT32_MAX : step < INT32_MIN ? INT32_MIN : step;
      scale += step;
    }
    scale = 2 * scale > INT32_MAX ? INT32_MAX : 2 * scale;
    const int64_t wanted = 12 - zeros + 31 - to_bits, bits = wanted < 0 ? 0 : wanted;
    const int64_t mask = ((int64_t)1 << bits) - 1;
    for (int64_t i = 0; i < n; i++) {
      const int64_t e = table[most - x[base + i * inner]];
      const int64_t product = FIXED_MULTIPLY(scale, e);
      const int64_t value = FIXED_SHIFT(product, mask, bits) + low;
      y[base + i * inner] = (OUT0_T)(value < low ? low : value > high ? high : value);
    }
  }
  return 0;
}
#undef FIXED_MULTIPLY
#undef FIXED_SHIFT
#undef ATTR_axis
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_to
int run_111(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_111(in, out, scratch, begin, end); }
#define NAME plain_112
#define UNITS 1l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T uint8_t
#define IN0_TYPE 2
#define IN0_RANK 2
#define IN0_COUNT 21l
#define IN0_DIMS {3,7,}
#define IN1_PRESENT 1
#define IN1_T int32_t
#define IN1_TYPE 6
#define IN1_RANK 1
#define IN1_COUNT 256l
#define IN1_DIMS {256,}
#define OUT0_PRESENT 1
#define OUT0_T uint8_t
#define OUT0_TYPE 2
#define OUT0_RANK 2
#define OUT0_COUNT 21l
#define OUT0_DIMS {3,7,}
#define ATTR_to 2l
#define ATTR_axis 0l
/* TableSoftmax (hone): softmax of 8-bit numbers in fixed point; input 1 holds exp of each distance
 * from the largest. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *x = in[0];
  const int32_t *table = in[1];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  const int64_t to_bits = 8 * (int64_t)sizeof(OUT0_T), n = dims[axis];
  const int64_t low = (OUT0_T)-1 > 0 ? 0 : -((int64_t)1 << (to_bits - 1));
  const int64_t high = low + ((int64_t)1 << to_bits) - 1, half = (int64_t)1 << 30;
  int64_t inner = 1;
  (void)scratch;
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
#define FIXED_MULTIPLY(a, b) (((a) * (b) + ((a) * (b) >= 0 ? half : 1 - half)) / ((int64_t)1 << 31))
#define FIXED_SHIFT(a, mask, bits) (((a) >> (bits)) + (((a) & (mask)) > ((mask) >> 1) + ((a) < 0)))
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES;
  for (int64_t l = begin * PLAIN_LINES; l < end * PLAIN_LINES; l++) {
    const int64_t u = l / PLAIN_LINES, at = u % blocks * PLAIN_LINES + l % PLAIN_LINES;
    if (at >= inner) continue;
    const int64_t base = u / blocks * inner * n + at;
    int64_t most = x[base], sum = 0;
    for (int64_t i = 1; i < n; i++)
      if (x[base + i * inner] > most) most = x[base + i * inner];
    for (int64_t i = 0; i < n; i++) {
      const int64_t e = table[most - x[base + i * inner]];
      sum += FIXED_SHIFT(e, 4095, 12);
    }
    int zeros = 0; /* in front of the sum, as a number of 32 bits */
    while (sum > 0 && !((uint32_t)sum << zeros & 1u << 31)) zeros++;
    const int64_t rest = (int32_t)(((uint32_t)sum << zeros) - ((uint32_t)1 << 31));
    const int64_t denominator = (rest + INT32_MAX + 1) / 2;
    int64_t scale = 1515870810 + FIXED_MULTIPLY(denominator, (int64_t)-1010580540);
    for (int i = 0; i < 3; i++) {
      const int64_t error = ((int64_t)1 << 29) - FIXED_MULTIPLY(denominator, scale);
      int64_t step = 4 * FIXED_MULTIPLY(scale, error);
      step = step > INT32_MAX ? INT32_MAX : step < INT32_MIN ? INT32_MIN : step;
      scale += step;
    }
    scale = 2 * scale > INT32_MAX ? INT32_MAX : 2 * scale;
    const int64_t wanted = 12 - zeros + 31 - to_bits, bits = wanted < 0 ? 0 : wanted;
    const int64_t mask = ((int64_t)1 << bits) - 1;
    for (int64_t i = 0; i < n; i++) {
      const int64_t e = table[most - x[base + i * inner]];
      const int64_t product = FIXED_MULTIPLY(scale, e);
      const int64_t value = FIXED_SHIFT(product, mask, bits) + low;
      y[base + i * inner] = (OUT0_T)(value < low ? low : value > high ? high : value);
    }
  }
  return 0;
}
#undef FIXED_MULTIPLY
#undef FIXED_SHIFT
#undef ATTR_axis
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_to
#undef ATTR_axis
int run_112(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_112(in, out, scratch, begin, end); }
#define NAME plain_113
#define UNITS 24l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int32_t
#define IN0_TYPE 6
#define IN0_RANK 3
#define IN0_COUNT 24l
#define IN0_DIMS {2,3,4,}
#define IN1_PRESENT 1
#define IN1_T int32_t
#define IN1_TYPE 6
#define IN1_RANK 1
#define IN1_COUNT 3l
#define IN1_DIMS {3,}
#define IN2_PRESENT 1
#define IN2_T int32_t
#define IN2_TYPE 6
#define IN2_RANK 1
#define IN2_COUNT 3l
#define IN2_DIMS {3,}
#define OUT0_PRESENT 1
#define OUT0_T int8_t
#define OUT0_TYPE 3
#define OUT0_RANK 3
#define OUT0_COUNT 24l
#define OUT0_DIMS {2,3,4,}
#define ATTR_axis 1l
#define ATTR_to 3l
#define ATTR_zero_point 5l
#define ATTR_low -100l
#define ATTR_high 90l
/* Requantize (hone): sums to a quantised type by a fixed-point multiplier, one or one a channel.
 * 32-bit sums are rounded twice or once, 64-bit ones once. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
#ifndef ATTR_offset
#define ATTR_offset 0
#endif
#ifndef ATTR_left_shift
#define ATTR_left_shift 0
#endif
#ifndef ATTR_zero_point
#define ATTR_zero_point 0
#endif
#ifndef ATTR_single_rounding
#define ATTR_single_rounding 0
#endif
#ifndef ATTR_low
#define ATTR_low INT32_MIN
#endif
#ifndef ATTR_high
#define ATTR_high INT32_MAX
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const int32_t *multiplier = in[1], *shift = in[2];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int64_t axis = (ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis);
  int64_t inner = 1;
  (void)scratch;
  for (int64_t k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  for (int64_t i = begin; i < end; i++) {
    const int64_t c = IN1_COUNT > 1 ? i / inner % IN1_COUNT : 0;
    int64_t value = (int64_t)((uint64_t)((int64_t)x[i] - (ATTR_offset)) << (ATTR_left_shift));
    if (sizeof(IN0_T) == 8) {
      const int64_t m = multiplier[c] < 0x7fff0000 ? (multiplier[c] + (1 << 15)) >> 16 : 0x7fff;
      int64_t bits = 15 - (int64_t)shift[c];
      bits = bits < 1 ? 1 : bits > 62 ? 62 : bits;
      value = (int64_t)((uint64_t)value * (uint64_t)m + ((uint64_t)1 << (bits - 1))) >> bits;
    } else if (ATTR_single_rounding) {
      const int bits = shift[c] > 30 ? 1 : shift[c] < -31 ? 62 : 31 - shift[c];
      value = ((int64_t)(int32_t)value * multiplier[c] + ((int64_t)1 << (bits - 1))) >> bits;
    } else {
      int left = shift[c] > 0 ? shift[c] : 0, right = shift[c] < 0 ? -shift[c] : 0;
      if (left > 31) left = 31;
      if (right > 31) right = 31;
      const int32_t shifted = (int32_t)(uint32_t)((uint64_t)value << left);
      const int64_t product = (int64_t)shifted * multiplier[c], half = (int64_t)1 << 30;
      value = (product + (product >= 0 ? half : 1 - half)) / ((int64_t)1 << 31);
      if (shifted == INT32_MIN && multiplier[c] == INT32_MIN) value = INT32_MAX;
      const int64_t mask = ((int64_t)1 << right) - 1;
      value = (value >> right) + ((value & mask) > (mask >> 1) + (value < 0));
    }
    value += (ATTR_zero_point);
    y[i] = (OUT0_T)(value < (ATTR_low) ? (ATTR_low) : value > (ATTR_high) ? (ATTR_high) : value);
  }
  return 0;
}
#undef ATTR_axis
#undef ATTR_offset
#undef ATTR_left_shift
#undef ATTR_zero_point
#undef ATTR_single_rounding
#undef ATTR_low
#undef ATTR_high
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_axis
#undef ATTR_to
#undef ATTR_zero_point
#undef ATTR_low
#undef ATTR_high
int run_113(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_113(in, out, scratch, begin, end); }
#define NAME plain_114
#define UNITS 25l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int8_t
#define IN0_TYPE 3
#define IN0_RANK 2
#define IN0_COUNT 25l
#define IN0_DIMS {5,5,}
#define IN1_PRESENT 1
#define IN1_T int32_t
#define IN1_TYPE 6
#define IN1_RANK 0
#define IN1_COUNT 1l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T int32_t
#define IN2_TYPE 6
#define IN2_RANK 0
#define IN2_COUNT 1l
#define IN2_DIMS {0}
#define OUT0_PRESENT 1
#define OUT0_T uint8_t
#define OUT0_TYPE 2
#define OUT0_RANK 2
#define OUT0_COUNT 25l
#define OUT0_DIMS {5,5,}
#define ATTR_to 2l
#define ATTR_offset 3l
#define ATTR_left_shift 20l
#define ATTR_low 7l
#define ATTR_high 255l
#define ATTR_zero_point 100l
/* Requantize (hone): sums to a quantised type by a fixed-point multiplier, one or one a channel.
 * 32-bit sums are rounded twice or once, 64-bit ones once. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
#ifndef ATTR_offset
#define ATTR_offset 0
#endif
#ifndef ATTR_left_shift
#define ATTR_left_shift 0
#endif
#ifndef ATTR_zero_point
#define ATTR_zero_point 0
#endif
#ifndef ATTR_single_rounding
#define ATTR_single_rounding 0
#endif
#ifndef ATTR_low
#define ATTR_low INT32_MIN
#endif
#ifndef ATTR_high
#define ATTR_high INT32_MAX
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const int32_t *multiplier = in[1], *shift = in[2];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int64_t axis = (ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis);
  int64_t inner = 1;
  (void)scratch;
  for (int64_t k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  for (int64_t i = begin; i < end; i++) {
    const int64_t c = IN1_COUNT > 1 ? i / inner % IN1_COUNT : 0;
    int64_t value = (int64_t)((uint64_t)((int64_t)x[i] - (ATTR_offset)) << (ATTR_left_shift));
    if (sizeof(IN0_T) == 8) {
      const int64_t m = multiplier[c] < 0x7fff0000 ? (multiplier[c] + (1 << 15)) >> 16 : 0x7fff;
      int64_t bits = 15 - (int64_t)shift[c];
      bits = bits < 1 ? 1 : bits > 62 ? 62 : bits;
      value = (int64_t)((uint64_t)value * (uint64_t)m + ((uint64_t)1 << (bits - 1))) >> bits;
    } else if (ATTR_single_rounding) {
      const int bits = shift[c] > 30 ? 1 : shift[c] < -31 ? 62 : 31 - shift[c];
      value = ((int64_t)(int32_t)value * multiplier[c] + ((int64_t)1 << (bits - 1))) >> bits;
    } else {
      int left = shift[c] > 0 ? shift[c] : 0, right = shift[c] < 0 ? -shift[c] : 0;
      if (left > 31) left = 31;
      if (right > 31) right = 31;
      const int32_t shifted = (int32_t)(uint32_t)((uint64_t)value << left);
      const int64_t product = (int64_t)shifted * multiplier[c], half = (int64_t)1 << 30;
      value = (product + (product >= 0 ? half : 1 - half)) / ((int64_t)1 << 31);
      if (shifted == INT32_MIN && multiplier[c] == INT32_MIN) value = INT32_MAX;
      const int64_t mask = ((int64_t)1 << right) - 1;
      value = (value >> right) + ((value & mask) > (mask >> 1) + (value < 0));
    }
    value += (ATTR_zero_point);
    y[i] = (OUT0_T)(value < (ATTR_low) ? (ATTR_low) : value > (ATTR_high) ? (ATTR_high) : value);
  }
  return 0;
}
#undef ATTR_axis
#undef ATTR_offset
#undef ATTR_left_shift
#undef ATTR_zero_point
#undef ATTR_single_rounding
#undef ATTR_low
#undef ATTR_high
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_to
#undef ATTR_offset
#undef ATTR_left_shift
#undef ATTR_low
#undef ATTR_high
#undef ATTR_zero_point
int run_114(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_114(in, out, scratch, begin, end); }
#define NAME plain_115
#define UNITS 40l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int32_t
#define IN0_TYPE 6
#define IN0_RANK 1
#define IN0_COUNT 40l
#define IN0_DIMS {40,}
#define IN1_PRESENT 1
#define IN1_T int32_t
#define IN1_TYPE 6
#define IN1_RANK 0
#define IN1_COUNT 1l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T int32_t
#define IN2_TYPE 6
#define IN2_RANK 0
#define IN2_COUNT 1l
#define IN2_DIMS {0}
#define OUT0_PRESENT 1
#define OUT0_T int8_t
#define OUT0_TYPE 3
#define OUT0_RANK 1
#define OUT0_COUNT 40l
#define OUT0_DIMS {40,}
#define ATTR_to 3l
#define ATTR_low -128l
#define ATTR_high 127l
#define ATTR_single_rounding 1l
/* Requantize (hone): sums to a quantised type by a fixed-point multiplier, one or one a channel.
 * 32-bit sums are rounded twice or once, 64-bit ones once. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
#ifndef ATTR_offset
#define ATTR_offset 0
#endif
#ifndef ATTR_left_shift
#define ATTR_left_shift 0
#endif
#ifndef ATTR_zero_point
#define ATTR_zero_point 0
#endif
#ifndef ATTR_single_rounding
#define ATTR_single_rounding 0
#endif
#ifndef ATTR_low
#define ATTR_low INT32_MIN
#endif
#ifndef ATTR_high
#define ATTR_high INT32_MAX
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const int32_t *multiplier = in[1], *shift = in[2];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int64_t axis = (ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis);
  int64_t inner = 1;
  (void)scratch;
  for (int64_t k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  for (int64_t i = begin; i < end; i++) {
    const int64_t c = IN1_COUNT > 1 ? i / inner % IN1_COUNT : 0;
    int64_t value = (int64_t)((uint64_t)((int64_t)x[i] - (ATTR_offset)) << (ATTR_left_shift));
    if (sizeof(IN0_T) == 8) {
      const int64_t m = multiplier[c] < 0x7fff0000 ? (multiplier[c] + (1 << 15)) >> 16 : 0x7fff;
      int64_t bits = 15 - (int64_t)shift[c];
      bits = bits < 1 ? 1 : bits > 62 ? 62 : bits;
      value = (int64_t)((uint64_t)value * (uint64_t)m + ((uint64_t)1 << (bits - 1))) >> bits;
    } else if (ATTR_single_rounding) {
      const int bits = shift[c] > 30 ? 1 : shift[c] < -31 ? 62 : 31 - shift[c];
      value = ((int64_t)(int32_t)value * multiplier[c] + ((int64_t)1 << (bits - 1))) >> bits;
    } else {
      int left = shift[c] > 0 ? shift[c] : 0, right = shift[c] < 0 ? -shift[c] : 0;
      if (left > 31) left = 31;
      if (right > 31) right = 31;
      const int32_t shifted = (int32_t)(uint32_t)((uint64_t)value << left);
      const int64_t product = (int64_t)shifted * multiplier[c], half = (int64_t)1 << 30;
      value = (product + (product >= 0 ? half : 1 - half)) / ((int64_t)1 << 31);
      if (shifted == INT32_MIN && multiplier[c] == INT32_MIN) value = INT32_MAX;
      const int64_t mask = ((int64_t)1 << right) - 1;
      value = (value >> right) + ((value & mask) > (mask >> 1) + (value < 0));
    }
    value += (ATTR_zero_point);
    y[i] = (OUT0_T)(value < (ATTR_low) ? (ATTR_low) : value > (ATTR_high) ? (ATTR_high) : value);
  }
  return 0;
}
#undef ATTR_axis
#undef ATTR_offset
#undef ATTR_left_shift
#undef ATTR_zero_point
#undef ATTR_single_rounding
#undef ATTR_low
#undef ATTR_high
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_to
#undef ATTR_low
#undef ATTR_high
#undef ATTR_single_rounding
int run_115(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_115(in, out, scratch, begin, end); }
#define NAME plain_116
#define UNITS 40l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int64_t
#define IN0_TYPE 7
#define IN0_RANK 1
#define IN0_COUNT 40l
#define IN0_DIMS {40,}
#define IN1_PRESENT 1
#define IN1_T int32_t
#define IN1_TYPE 6
#define IN1_RANK 0
#define IN1_COUNT 1l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T int32_t
#define IN2_TYPE 6
#define IN2_RANK 0
#define IN2_COUNT 1l
#define IN2_DIMS {0}
#define OUT0_PRESENT 1
#define OUT0_T int16_t
#define OUT0_TYPE 5
#define OUT0_RANK 1
#define OUT0_COUNT 40l
#define OUT0_DIMS {40,}
#define ATTR_to 5l
#define ATTR_low -32768l
#define ATTR_high 32767l
/* Requantize (hone): sums to a quantised type by a fixed-point multiplier, one or one a channel.
 * 32-bit sums are rounded twice or once, 64-bit ones once. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
#ifndef ATTR_offset
#define ATTR_offset 0
#endif
#ifndef ATTR_left_shift
#define ATTR_left_shift 0
#endif
#ifndef ATTR_zero_point
#define ATTR_zero_point 0
#endif
#ifndef ATTR_single_rounding
#define ATTR_single_rounding 0
#endif
#ifndef ATTR_low
#define ATTR_low INT32_MIN
#endif
#ifndef ATTR_high
#define ATTR_high INT32_MAX
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const int32_t *multiplier = in[1], *shift = in[2];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int64_t axis = (ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis);
  int64_t inner = 1;
  (void)scratch;
  for (int64_t k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  for (int64_t i = begin; i < end; i++) {
    const int64_t c = IN1_COUNT > 1 ? i / inner % IN1_COUNT : 0;
    int64_t value = (int64_t)((uint64_t)((int64_t)x[i] - (ATTR_offset)) << (ATTR_left_shift));
    if (sizeof(IN0_T) == 8) {
      const int64_t m = multiplier[c] < 0x7fff0000 ? (multiplier[c] + (1 << 15)) >> 16 : 0x7fff;
      int64_t bits = 15 - (int64_t)shift[c];
      bits = bits < 1 ? 1 : bits > 62 ? 62 : bits;
      value = (int64_t)((uint64_t)value * (uint64_t)m + ((uint64_t)1 << (bits - 1))) >> bits;
    } else if (ATTR_single_rounding) {
      const int bits = shift[c] > 30 ? 1 : shift[c] < -31 ? 62 : 31 - shift[c];
      value = ((int64_t)(int32_t)value * multiplier[c] + ((int64_t)1 << (bits - 1))) >> bits;
    } else {
      int left = shift[c] > 0 ? shift[c] : 0, right = shift[c] < 0 ? -shift[c] : 0;
      if (left > 31) left = 31;
      if (right > 31) right = 31;
      const int32_t shifted = (int32_t)(uint32_t)((uint64_t)value << left);
      const int64_t product = (int64_t)shifted * multiplier[c], half = (int64_t)1 << 30;
      value = (product + (product >= 0 ? half : 1 - half)) / ((int64_t)1 << 31);
      if (shifted == INT32_MIN && multiplier[c] == INT32_MIN) value = INT32_MAX;
      const int64_t mask = ((int64_t)1 << right) - 1;
      value = (value >> right) + ((value & mask) > (mask >> 1) + (value < 0));
    }
    value += (ATTR_zero_point);
    y[i] = (OUT0_T)(value < (ATTR_low) ? (ATTR_low) : value > (ATTR_high) ? (ATTR_high) : value);
  }
  return 0;
}
#undef ATTR_axis
#undef ATTR_offset
#undef ATTR_left_shift
#undef ATTR_zero_point
#undef ATTR_single_rounding
#undef ATTR_low
#undef ATTR_high
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_to
#undef ATTR_low
#undef ATTR_high
int run_116(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_116(in, out, scratch, begin, end); }
#define NAME plain_117
#define UNITS 6l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T uint8_t
#define IN0_TYPE 2
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {2,3,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 1
#define IN1_COUNT 2l
#define IN1_DIMS {2,}
#define IN2_PRESENT 1
#define IN2_T uint8_t
#define IN2_TYPE 2
#define IN2_RANK 1
#define IN2_COUNT 2l
#define IN2_DIMS {2,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 6l
#define OUT0_DIMS {2,3,}
#define ATTR_axis 0l
/* DequantizeLinear: (x - zero point) * scale, granularity as in QuantizeLinear. */
#ifndef ATTR_axis
#define ATTR_axis 1
#endif
#ifndef ATTR_block_size
#define ATTR_block_size 0
#endif
#define DEQUANTIZE(s) ((OUT0_T)(((double)x[i + j] - ZERO(s)) * (double)scale[s]))
#if IN_COUNT > 2 && IN2_PRESENT
#define ZERO(s) ((double)((const IN2_T *)in[2])[s])
#else
#define ZERO(s) 0.0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict scale = in[1];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int64_t axis = (ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis), inner = 1, length = 1;
  (void)scratch;
  const int is_single = IN1_COUNT == 1 && IN1_RANK <= 1 && ATTR_block_size == 0;
  for (int64_t k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  if (!is_single) length = dims[axis];
  const int64_t block = ATTR_block_size ? ATTR_block_size : 1, blocks = (length + block - 1) / block;
  for (int64_t i = begin; i < end;) { /* runs over which the scale stays, or moves on with i */
    int64_t run = end - i, s = 0;
    const int moves = !is_single && (ATTR_block_size ? inner > 1 : inner == 1);
    if (!is_single) {
      const int64_t within = inner > 1 ? i % inner : 0, k = i / inner % length;
      int64_t rest = inner > 1 ? inner - within : length - k;
      s = ATTR_block_size ? (i / (inner * length) * blocks + k / block) * inner + within : k;
      if (ATTR_block_size && inner == 1 && rest > block - k % block) rest = block - k % block;
      if (run > rest) run = rest;
    }
    if (moves)
      for (int64_t j = 0; j < run; j++) y[i + j] = DEQUANTIZE(s + j);
    else
      for (int64_t j = 0; j < run; j++) y[i + j] = DEQUANTIZE(s);
    i += run;
  }
  return 0;
}
#undef DEQUANTIZE
#undef ZERO
#undef ATTR_axis
#undef ATTR_block_size
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_axis
int run_117(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_117(in, out, scratch, begin, end); }
#define NAME plain_118
#define UNITS 6l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int32_t
#define IN0_TYPE 6
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {2,3,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 0
#define IN1_COUNT 1l
#define IN1_DIMS {0}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 6l
#define OUT0_DIMS {2,3,}
/* DequantizeLinear: (x - zero point) * scale, granularity as in QuantizeLinear. */
#ifndef ATTR_axis
#define ATTR_axis 1
#endif
#ifndef ATTR_block_size
#define ATTR_block_size 0
#endif
#define DEQUANTIZE(s) ((OUT0_T)(((double)x[i + j] - ZERO(s)) * (double)scale[s]))
#if IN_COUNT > 2 && IN2_PRESENT
#define ZERO(s) ((double)((const IN2_T *)in[2])[s])
#else
#define ZERO(s) 0.0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict scale = in[1];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int64_t axis = (ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis), inner = 1, length = 1;
  (void)scratch;
  const int is_single = IN1_COUNT == 1 && IN1_RANK <= 1 && ATTR_block_size == 0;
  for (int64_t k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  if (!is_single) length = dims[axis];
  const int64_t block = ATTR_block_size ? ATTR_block_size : 1, blocks = (length + block - 1) / block;
  for (int64_t i = begin; i < end;) { /* runs over which the scale stays, or moves on with i */
    int64_t run = end - i, s = 0;
    const int moves = !is_single && (ATTR_block_size ? inner > 1 : inner == 1);
    if (!is_single) {
      const int64_t within = inner > 1 ? i % inner : 0, k = i / inner % length;
      int64_t rest = inner > 1 ? inner - within : length - k;
      s = ATTR_block_size ? (i / (inner * length) * blocks + k / block) * inner + within : k;
      if (ATTR_block_size && inner == 1 && rest > block - k % block) rest = block - k % block;
      if (run > rest) run = rest;
    }
    if (moves)
      for (int64_t j = 0; j < run; j++) y[i + j] = DEQUANTIZE(s + j);
    else
      for (int64_t j = 0; j < run; j++) y[i + j] = DEQUANTIZE(s);
    i += run;
  }
  return 0;
}
#undef DEQUANTIZE
#undef ZERO
#undef ATTR_axis
#undef ATTR_block_size
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_118(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_118(in, out, scratch, begin, end); }
#define NAME plain_119
#define UNITS 6l
#define IN_COUNT 4
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T uint8_t
#define IN0_TYPE 2
#define IN0_RANK 3
#define IN0_COUNT 24l
#define IN0_DIMS {2,3,4,}
#define IN1_PRESENT 1
#define IN1_T int8_t
#define IN1_TYPE 3
#define IN1_RANK 2
#define IN1_COUNT 20l
#define IN1_DIMS {4,5,}
#define IN2_PRESENT 1
#define IN2_T uint8_t
#define IN2_TYPE 2
#define IN2_RANK 1
#define IN2_COUNT 3l
#define IN2_DIMS {3,}
#define IN3_PRESENT 1
#define IN3_T int8_t
#define IN3_TYPE 3
#define IN3_RANK 1
#define IN3_COUNT 5l
#define IN3_DIMS {5,}
#define OUT0_PRESENT 1
#define OUT0_T int32_t
#define OUT0_TYPE 6
#define OUT0_RANK 3
#define OUT0_COUNT 30l
#define OUT0_DIMS {2,3,5,}
#define QLINEAR 0
/* MatMulInteger (QLINEAR 0: a, b, zero points of both) and QLinearMatMul (QLINEAR 1: each operand with
 * scale and zero point): sums of centred bytes in int32. Zero points of a may be one a row, those of
 * b and its scales one a column. */
#if QLINEAR
#define B_AT 3
#define B_T IN3_T
#define B_RANK IN3_RANK
#define B_DIMS IN3_DIMS
#define A_ZERO (IN2_PRESENT ? (int32_t)((const IN2_T *)in[2])[IN2_COUNT > 1 ? i : 0] : 0)
#define B_ZERO (IN5_PRESENT ? (int32_t)((const IN5_T *)in[5])[IN5_COUNT > 1 ? j : 0] : 0)
#else
#define B_AT 1
#define B_T IN1_T
#define B_RANK IN1_RANK
#define B_DIMS IN1_DIMS
#if IN_COUNT > 2 && IN2_PRESENT
#define A_ZERO ((int32_t)((const IN2_T *)in[2])[IN2_COUNT > 1 ? i : 0])
#else
#define A_ZERO 0
#endif
#if IN_COUNT > 3 && IN3_PRESENT
#define B_ZERO ((int32_t)((const IN3_T *)in[3])[IN3_COUNT > 1 ? j : 0])
#else
#define B_ZERO 0
#endif
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict a = in[0];
  const B_T *restrict b = in[B_AT];
  OUT0_T *restrict c = out[0];
  const int64_t a_dims[] = IN0_DIMS, b_dims[] = B_DIMS;
  const int64_t m = IN0_RANK > 1 ? a_dims[IN0_RANK > 1 ? IN0_RANK - 2 : 0] : 1;
  const int64_t k = a_dims[IN0_RANK - 1];
  const int64_t n = B_RANK > 1 ? b_dims[B_RANK - 1] : 1;
  enum {
    A_BATCH = IN0_RANK > 2 ? IN0_RANK - 2 : 0,
    B_BATCH = B_RANK > 2 ? B_RANK - 2 : 0,
    BATCH = A_BATCH > B_BATCH ? A_BATCH : B_BATCH
  };
  int64_t dims[17] = {0}, a_step[17] = {0}, b_step[17] = {0};
  int64_t a_size = m * k, b_size = k * n;
  (void)scratch;
  for (int i = BATCH - 1; i >= 0; i--) {
    const int ia = i - (BATCH - A_BATCH), ib = i - (BATCH - B_BATCH);
    const int64_t da = ia >= 0 ? a_dims[ia] : 1, db = ib >= 0 ? b_dims[ib] : 1;
    dims[i] = da == 1 ? db : da;
    a_step[i] = da == 1 ? 0 : a_size;
    b_step[i] = db == 1 ? 0 : b_size;
    a_size *= da;
    b_size *= db;
  }
  for (int64_t u = begin; u < end; u++) { /* one row of the result */
    int64_t rest = u / m, a_at = 0, b_at = 0;
    const int64_t i = u % m;
    for (int d = BATCH - 1; d >= 0; rest /= dims[d], d--) {
      a_at += rest % dims[d] * a_step[d];
      b_at += rest % dims[d] * b_step[d];
    }
    const int32_t a_zero = A_ZERO;
    OUT0_T *restrict to = c + u * n;
    for (int64_t j0 = 0; j0 < n; j0 += 64) {
      const int64_t width = n - j0 < 64 ? n - j0 : 64;
      uint32_t sum[64] = {0};
      int32_t zero[64];
      for (int64_t j = j0; j < j0 + width; j++) zero[j - j0] = B_ZERO;
      for (int64_t p = 0; p < k; p++) {
        const int32_t x = (int32_t)a[a_at + i * k + p] - a_zero;
        const B_T *restrict row = b + b_at + p * n + j0;
        for (int64_t j = 0; j < width; j++) sum[j] += (uint32_t)(x * ((int32_t)row[j] - zero[j]));
      }
#if QLINEAR
      const IN4_T *b_scale = in[4];
      const float a_scale = (float)((const IN1_T *)in[1])[0], c_scale = (float)((const IN6_T *)in[6])[0];
      const double c_zero = (double)((const IN7_T *)in[7])[0];
      const double low = (OUT0_T)-1 > 0 ? 0 : -128, high = low + 255;
      for (int64_t j = 0; j < width; j++) {
        const float scale = a_scale * (float)b_scale[IN4_COUNT > 1 ? j0 + j : 0] / c_scale;
        const double value = rint((double)(int32_t)sum[j] * (double)scale) + c_zero;
        to[j0 + j] = (OUT0_T)(int32_t)(value < low ? low : value > high ? high : value);
      }
#else
      for (int64_t j = 0; j < width; j++) to[j0 + j] = (int32_t)sum[j];
#endif
    }
  }
  return 0;
}
#undef B_AT
#undef B_T
#undef B_RANK
#undef B_DIMS
#undef A_ZERO
#undef B_ZERO
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef IN3_PRESENT
#undef IN3_T
#undef IN3_TYPE
#undef IN3_RANK
#undef IN3_COUNT
#undef IN3_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef QLINEAR
int run_119(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_119(in, out, scratch, begin, end); }
#define NAME plain_120
#define UNITS 1l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int8_t
#define IN0_TYPE 3
#define IN0_RANK 1
#define IN0_COUNT 3l
#define IN0_DIMS {3,}
#define IN1_PRESENT 1
#define IN1_T int8_t
#define IN1_TYPE 3
#define IN1_RANK 2
#define IN1_COUNT 6l
#define IN1_DIMS {3,2,}
#define OUT0_PRESENT 1
#define OUT0_T int32_t
#define OUT0_TYPE 6
#define OUT0_RANK 1
#define OUT0_COUNT 2l
#define OUT0_DIMS {2,}
#define QLINEAR 0
/* MatMulInteger (QLINEAR 0: a, b, zero points of both) and QLinearMatMul (QLINEAR 1: each operand with
 * scale and zero point): sums of centred bytes in int32. Zero points of a may be one a row, those of
 * b and its scales one a column. */
#if QLINEAR
#define B_AT 3
#define B_T IN3_T
#define B_RANK IN3_RANK
#define B_DIMS IN3_DIMS
#define A_ZERO (IN2_PRESENT ? (int32_t)((const IN2_T *)in[2])[IN2_COUNT > 1 ? i : 0] : 0)
#define B_ZERO (IN5_PRESENT ? (int32_t)((const IN5_T *)in[5])[IN5_COUNT > 1 ? j : 0] : 0)
#else
#define B_AT 1
#define B_T IN1_T
#define B_RANK IN1_RANK
#define B_DIMS IN1_DIMS
#if IN_COUNT > 2 && IN2_PRESENT
#define A_ZERO ((int32_t)((const IN2_T *)in[2])[IN2_COUNT > 1 ? i : 0])
#else
#define A_ZERO 0
#endif
#if IN_COUNT > 3 && IN3_PRESENT
#define B_ZERO ((int32_t)((const IN3_T *)in[3])[IN3_COUNT > 1 ? j : 0])
#else
#define B_ZERO 0
#endif
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict a = in[0];
  const B_T *restrict b = in[B_AT];
  OUT0_T *restrict c = out[0];
  const int64_t a_dims[] = IN0_DIMS, b_dims[] = B_DIMS;
  const int64_t m = IN0_RANK > 1 ? a_dims[IN0_RANK > 1 ? IN0_RANK - 2 : 0] : 1;
  const int64_t k = a_dims[IN0_RANK - 1];
  const int64_t n = B_RANK > 1 ? b_dims[B_RANK - 1] : 1;
  enum {
    A_BATCH = IN0_RANK > 2 ? IN0_RANK - 2 : 0,
    B_BATCH = B_RANK > 2 ? B_RANK - 2 : 0,
    BATCH = A_BATCH > B_BATCH ? A_BATCH : B_BATCH
  };
  int64_t dims[17] = {0}, a_step[17] = {0}, b_step[17] = {0};
  int64_t a_size = m * k, b_size = k * n;
  (void)scratch;
  for (int i = BATCH - 1; i >= 0; i--) {
    const int ia = i - (BATCH - A_BATCH), ib = i - (BATCH - B_BATCH);
    const int64_t da = ia >= 0 ? a_dims[ia] : 1, db = ib >= 0 ? b_dims[ib] : 1;
    dims[i] = da == 1 ? db : da;
    a_step[i] = da == 1 ? 0 : a_size;
    b_step[i] = db == 1 ? 0 : b_size;
    a_size *= da;
    b_size *= db;
  }
  for (int64_t u = begin; u < end; u++) { /* one row of the result */
    int64_t rest = u / m, a_at = 0, b_at = 0;
    const int64_t i = u % m;
    for (int d = BATCH - 1; d >= 0; rest /= dims[d], d--) {
      a_at += rest % dims[d] * a_step[d];
      b_at += rest % dims[d] * b_step[d];
    }
    const int32_t a_zero = A_ZERO;
    OUT0_T *restrict to = c + u * n;
    for (int64_t j0 = 0; j0 < n; j0 += 64) {
      const int64_t width = n - j0 < 64 ? n - j0 : 64;
      uint32_t sum[64] = {0};
      int32_t zero[64];
      for (int64_t j = j0; j < j0 + width; j++) zero[j - j0] = B_ZERO;
      for (int64_t p = 0; p < k; p++) {
        const int32_t x = (int32_t)a[a_at + i * k + p] - a_zero;
        const B_T *restrict row = b + b_at + p * n + j0;
        for (int64_t j = 0; j < width; j++) sum[j] += (uint32_t)(x * ((int32_t)row[j] - zero[j]));
      }
#if QLINEAR
      const IN4_T *b_scale = in[4];
      const float a_scale = (float)((const IN1_T *)in[1])[0], c_scale = (float)((const IN6_T *)in[6])[0];
      const double c_zero = (double)((const IN7_T *)in[7])[0];
      const double low = (OUT0_T)-1 > 0 ? 0 : -128, high = low + 255;
      for (int64_t j = 0; j < width; j++) {
        const float scale = a_scale * (float)b_scale[IN4_COUNT > 1 ? j0 + j : 0] / c_scale;
        const double value = rint((double)(int32_t)sum[j] * (double)scale) + c_zero;
        to[j0 + j] = (OUT0_T)(int32_t)(value < low ? low : value > high ? high : value);
      }
#else
      for (int64_t j = 0; j < width; j++) to[j0 + j] = (int32_t)sum[j];
#endif
    }
  }
  return 0;
}
#undef B_AT
#undef B_T
#undef B_RANK
#undef B_DIMS
#undef A_ZERO
#undef B_ZERO
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef QLINEAR
int run_120(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_120(in, out, scratch, begin, end); }
#define NAME plain_121
#define UNITS 2l
#define IN_COUNT 8
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T uint8_t
#define IN0_TYPE 2
#define IN0_RANK 2
#define IN0_COUNT 8l
#define IN0_DIMS {2,4,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 0
#define IN1_COUNT 1l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T uint8_t
#define IN2_TYPE 2
#define IN2_RANK 0
#define IN2_COUNT 1l
#define IN2_DIMS {0}
#define IN3_PRESENT 1
#define IN3_T uint8_t
#define IN3_TYPE 2
#define IN3_RANK 2
#define IN3_COUNT 12l
#define IN3_DIMS {4,3,}
#define IN4_PRESENT 1
#define IN4_T float
#define IN4_TYPE 1
#define IN4_RANK 1
#define IN4_COUNT 3l
#define IN4_DIMS {3,}
#define IN5_PRESENT 1
#define IN5_T uint8_t
#define IN5_TYPE 2
#define IN5_RANK 1
#define IN5_COUNT 3l
#define IN5_DIMS {3,}
#define IN6_PRESENT 1
#define IN6_T float
#define IN6_TYPE 1
#define IN6_RANK 0
#define IN6_COUNT 1l
#define IN6_DIMS {0}
#define IN7_PRESENT 1
#define IN7_T uint8_t
#define IN7_TYPE 2
#define IN7_RANK 0
#define IN7_COUNT 1l
#define IN7_DIMS {0}
#define OUT0_PRESENT 1
#define OUT0_T uint8_t
#define OUT0_TYPE 2
#define OUT0_RANK 2
#define OUT0_COUNT 6l
#define OUT0_DIMS {2,3,}
#define QLINEAR 1
/* MatMulInteger (QLINEAR 0: a, b, zero points of both) and QLinearMatMul (QLINEAR 1: each operand with
 * scale and zero point): sums of centred bytes in int32. Zero points of a may be one a row, those of
 * b and its scales one a column. */
#if QLINEAR
#define B_AT 3
#define B_T IN3_T
#define B_RANK IN3_RANK
#define B_DIMS IN3_DIMS
#define A_ZERO (IN2_PRESENT ? (int32_t)((const IN2_T *)in[2])[IN2_COUNT > 1 ? i : 0] : 0)
#define B_ZERO (IN5_PRESENT ? (int32_t)((const IN5_T *)in[5])[IN5_COUNT > 1 ? j : 0] : 0)
#else
#define B_AT 1
#define B_T IN1_T
#define B_RANK IN1_RANK
#define B_DIMS IN1_DIMS
#if IN_COUNT > 2 && IN2_PRESENT
#define A_ZERO ((int32_t)((const IN2_T *)in[2])[IN2_COUNT > 1 ? i : 0])
#else
#define A_ZERO 0
#endif
#if IN_COUNT > 3 && IN3_PRESENT
#define B_ZERO ((int32_t)((const IN3_T *)in[3])[IN3_COUNT > 1 ? j : 0])
#else
#define B_ZERO 0
#endif
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict a = in[0];
  const B_T *restrict b = in[B_AT];
  OUT0_T *restrict c = out[0];
  const int64_t a_dims[] = IN0_DIMS, b_dims[] = B_DIMS;
  const int64_t m = IN0_RANK > 1 ? a_dims[IN0_RANK > 1 ? IN0_RANK - 2 : 0] : 1;
  const int64_t k = a_dims[IN0_RANK - 1];
  const int64_t n = B_RANK > 1 ? b_dims[B_RANK - 1] : 1;
  enum {
    A_BATCH = IN0_RANK > 2 ? IN0_RANK - 2 : 0,
    B_BATCH = B_RANK > 2 ? B_RANK - 2 : 0,
    BATCH = A_BATCH > B_BATCH ? A_BATCH : B_BATCH
  };
  int64_t dims[17] = {0}, a_step[17] = {0}, b_step[17] = {0};
  int64_t a_size = m * k, b_size = k * n;
  (void)scratch;
  for (int i = BATCH - 1; i >= 0; i--) {
    const int ia = i - (BATCH - A_BATCH), ib = i - (BATCH - B_BATCH);
    const int64_t da = ia >= 0 ? a_dims[ia] : 1, db = ib >= 0 ? b_dims[ib] : 1;
    dims[i] = da == 1 ? db : da;
    a_step[i] = da == 1 ? 0 : a_size;
    b_step[i] = db == 1 ? 0 : b_size;
    a_size *= da;
    b_size *= db;
  }
  for (int64_t u = begin; u < end; u++) { /* one row of the result */
    int64_t rest = u / m, a_at = 0, b_at = 0;
    const int64_t i = u % m;
    for (int d = BATCH - 1; d >= 0; rest /= dims[d], d--) {
      a_at += rest % dims[d] * a_step[d];
      b_at += rest % dims[d] * b_step[d];
    }
    const int32_t a_zero = A_ZERO;
    OUT0_T *restrict to = c + u * n;
    for (int64_t j0 = 0; j0 < n; j0 += 64) {
      const int64_t width = n - j0 < 64 ? n - j0 : 64;
      uint32_t sum[64] = {0};
      int32_t zero[64];
      for (int64_t j = j0; j < j0 + width; j++) zero[j - j0] = B_ZERO;
      for (int64_t p = 0; p < k; p++) {
        const int32_t x = (int32_t)a[a_at + i * k + p] - a_zero;
        const B_T *restrict row = b + b_at + p * n + j0;
        for (int64_t j = 0; j < width; j++) sum[j] += (uint32_t)(x * ((int32_t)row[j] - zero[j]));
      }
#if QLINEAR
      const IN4_T *b_scale = in[4];
      const float a_scale = (float)((const IN1_T *)in[1])[0], c_scale = (float)((const IN6_T *)in[6])[0];
      const double c_zero = (double)((const IN7_T *)in[7])[0];
      const double low = (OUT0_T)-1 > 0 ? 0 : -128, high = low + 255;
      for (int64_t j = 0; j < width; j++) {
        const float scale = a_scale * (float)b_scale[IN4_COUNT > 1 ? j0 + j : 0] / c_scale;
        const double value = rint((double)(int32_t)sum[j] * (double)scale) + c_zero;
        to[j0 + j] = (OUT0_T)(int32_t)(value < low ? low : value > high ? high : value);
      }
#else
      for (int64_t j = 0; j < width; j++) to[j0 + j] = (int32_t)sum[j];
#endif
    }
  }
  return 0;
}
#undef B_AT
#undef B_T
#undef B_RANK
#undef B_DIMS
#undef A_ZERO
#undef B_ZERO
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef IN3_PRESENT
#undef IN3_T
#undef IN3_TYPE
#undef IN3_RANK
#undef IN3_COUNT
#undef IN3_DIMS
#undef IN4_PRESENT
#undef IN4_T
#undef IN4_TYPE
#undef IN4_RANK
#undef IN4_COUNT
#undef IN4_DIMS
#undef IN5_PRESENT
#undef IN5_T
#undef IN5_TYPE
#undef IN5_RANK
#undef IN5_COUNT
#undef IN5_DIMS
#undef IN6_PRESENT
#undef IN6_T
#undef IN6_TYPE
#undef IN6_RANK
#undef IN6_COUNT
#undef IN6_DIMS
#undef IN7_PRESENT
#undef IN7_T
#undef IN7_TYPE
#undef IN7_RANK
#undef IN7_COUNT
#undef IN7_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef QLINEAR
int run_121(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_121(in, out, scratch, begin, end); }
#define NAME plain_122
#define UNITS 3l
#define IN_COUNT 4
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T uint8_t
#define IN0_TYPE 2
#define IN0_RANK 4
#define IN0_COUNT 50l
#define IN0_DIMS {1,2,5,5,}
#define IN1_PRESENT 1
#define IN1_T uint8_t
#define IN1_TYPE 2
#define IN1_RANK 4
#define IN1_COUNT 54l
#define IN1_DIMS {3,2,3,3,}
#define IN2_PRESENT 1
#define IN2_T uint8_t
#define IN2_TYPE 2
#define IN2_RANK 0
#define IN2_COUNT 1l
#define IN2_DIMS {0}
#define IN3_PRESENT 1
#define IN3_T uint8_t
#define IN3_TYPE 2
#define IN3_RANK 1
#define IN3_COUNT 3l
#define IN3_DIMS {3,}
#define OUT0_PRESENT 1
#define OUT0_T int32_t
#define OUT0_TYPE 6
#define OUT0_RANK 4
#define OUT0_COUNT 45l
#define OUT0_DIMS {1,3,3,5,}
#define WINDOW_IN {1,5,5,}
#define WINDOW_KERNEL {1,3,3,}
#define WINDOW_OUT {1,3,5,}
#define WINDOW_STRIDE {1,2,1,}
#define WINDOW_DILATION {1,1,1,}
#define WINDOW_PAD_BEGIN {0,1,1,}
#define WINDOW_PAD_END {0,1,1,}
#define ATTR_pads_COUNT 4
#define ATTR_pads {1,1,1,1,}
#define ATTR_strides_COUNT 2
#define ATTR_strides {2,1,}
#define QLINEAR 0
/* ConvInteger (QLINEAR 0: x, w, zero points of both) and QLinearConv (QLINEAR 1: each operand with
 * scale and zero point, then an int32 bias): sums of centred bytes in int32, rows of 64 at a time. */
#ifndef ATTR_group
#define ATTR_group 1
#endif
#if QLINEAR
#define W_AT 3
#define W_T IN3_T
#define W_DIMS IN3_DIMS
#define X_ZERO (IN2_PRESENT ? (int32_t)((const IN2_T *)in[2])[0] : 0)
#define W_ZERO (IN5_PRESENT ? (int32_t)((const IN5_T *)in[5])[IN5_COUNT > 1 ? m : 0] : 0)
#else
#define W_AT 1
#define W_T IN1_T
#define W_DIMS IN1_DIMS
#if IN_COUNT > 2 && IN2_PRESENT
#define X_ZERO ((int32_t)((const IN2_T *)in[2])[0])
#else
#define X_ZERO 0
#endif
#if IN_COUNT > 3 && IN3_PRESENT
#define W_ZERO ((int32_t)((const IN3_T *)in[3])[IN3_COUNT > 1 ? m : 0])
#else
#define W_ZERO 0
#endif
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0]; /* [n, c, id...] */
  const W_T *w = in[W_AT]; /* [m, c / group, kernel...] */
  OUT0_T *restrict y = out[0];
  const int64_t x_dims[] = IN0_DIMS, w_dims[] = W_DIMS, y_dims[] = OUT0_DIMS;
  const int64_t id[] = WINDOW_IN, kd[] = WINDOW_KERNEL, od[] = WINDOW_OUT;
  const int64_t stride[] = WINDOW_STRIDE, dilation[] = WINDOW_DILATION, pad[] = WINDOW_PAD_BEGIN;
  (void)scratch;
  const int64_t channels = w_dims[1], features = y_dims[1] / ATTR_group;
  const int64_t image = id[0] * id[1] * id[2];
  for (int64_t u = begin; u < end; u++) { /* one output plane */
    const int64_t n = u / y_dims[1], m = u % y_dims[1];
    const int32_t x_zero = X_ZERO, w_zero = W_ZERO;
    for (int64_t o0 = 0; o0 < od[0]; o0++)
      for (int64_t o1 = 0; o1 < od[1]; o1++)
        for (int64_t start = 0; start < od[2]; start += 64) {
          const int64_t width = od[2] - start < 64 ? od[2] - start : 64;
          int32_t sum[64] = {0};
          for (int64_t c = 0; c < channels; c++)
            for (int64_t k0 = 0; k0 < kd[0]; k0++)
              for (int64_t k1 = 0; k1 < kd[1]; k1++) {
                const int64_t i0 = o0 * stride[0] + k0 * dilation[0] - pad[0];
                const int64_t i1 = o1 * stride[1] + k1 * dilation[1] - pad[1];
                if (i0 < 0 || i0 >= id[0] || i1 < 0 || i1 >= id[1]) continue;
                const IN0_T *restrict row = x +
                                   (n * x_dims[1] + m / features * channels + c) * image +
                                   (i0 * id[1] + i1) * id[2];
                const W_T *tap = w + (((m * channels + c) * kd[0] + k0) * kd[1] + k1) * kd[2];
                for (int64_t k2 = 0; k2 < kd[2]; k2++) {
                  const int32_t weight = (int32_t)tap[k2] - w_zero;
                  const int64_t shift = start * stride[2] + k2 * dilation[2] - pad[2];
                  int64_t first = shift >= 0 ? 0 : (-shift + stride[2] - 1) / stride[2];
                  int64_t last = id[2] > shift ? (id[2] - 1 - shift) / stride[2] + 1 : 0;
                  if (last > width) last = width;
                  /* unsigned: sums wrap */
                  if (stride[2] == 1)
                    for (int64_t o = first; o < last; o++)
                      sum[o] = (int32_t)((uint32_t)sum[o] +
                                         (uint32_t)(((int32_t)row[o + shift] - x_zero) * weight));
                  else
                    for (int64_t o = first; o < last; o++)
                      sum[o] = (int32_t)((uint32_t)sum[o] +
                                         (uint32_t)(((int32_t)row[o * stride[2] + shift] - x_zero) * weight));
                }
              }
          OUT0_T *restrict to = y + ((u * od[0] + o0) * od[1] + o1) * od[2] + start;
#if QLINEAR
          int32_t bias = 0;
#if IN_COUNT > 8 && IN8_PRESENT
          bias = ((const IN8_T *)in[8])[m];
#endif
          const float scale = (float)((const IN1_T *)in[1])[0] *
                              (float)((const IN4_T *)in[4])[IN4_COUNT > 1 ? m : 0] /
                              (float)((const IN6_T *)in[6])[0];
          const double zero = (double)((const IN7_T *)in[7])[0];
          const double low = (OUT0_T)-1 > 0 ? 0 : -128, high = low + 255;
          for (int64_t o = 0; o < width; o++) {
            const int32_t total = (int32_t)((uint32_t)sum[o] + (uint32_t)bias);
            const double value = rint((double)total * (double)scale) + zero;
            to[o] = (OUT0_T)(int32_t)(value < low ? low : value > high ? high : value);
          }
#else
          for (int64_t o = 0; o < width; o++) to[o] = sum[o];
#endif
        }
  }
  return 0;
}
#undef ATTR_group
#undef W_AT
#undef W_T
#undef W_DIMS
#undef X_ZERO
#undef W_ZERO
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef IN3_PRESENT
#undef IN3_T
#undef IN3_TYPE
#undef IN3_RANK
#undef IN3_COUNT
#undef IN3_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef WINDOW_IN
#undef WINDOW_KERNEL
#undef WINDOW_OUT
#undef WINDOW_STRIDE
#undef WINDOW_DILATION
#undef WINDOW_PAD_BEGIN
#undef WINDOW_PAD_END
#undef ATTR_pads_COUNT
#undef ATTR_pads
#undef ATTR_strides_COUNT
#undef ATTR_strides
#undef QLINEAR
int run_122(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_122(in, out, scratch, begin, end); }
#define NAME plain_123
#define UNITS 4l
#define IN_COUNT 9
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T uint8_t
#define IN0_TYPE 2
#define IN0_RANK 3
#define IN0_COUNT 36l
#define IN0_DIMS {1,4,9,}
#define IN1_PRESENT 1
#define IN1_T float
#define IN1_TYPE 1
#define IN1_RANK 0
#define IN1_COUNT 1l
#define IN1_DIMS {0}
#define IN2_PRESENT 1
#define IN2_T uint8_t
#define IN2_TYPE 2
#define IN2_RANK 0
#define IN2_COUNT 1l
#define IN2_DIMS {0}
#define IN3_PRESENT 1
#define IN3_T int8_t
#define IN3_TYPE 3
#define IN3_RANK 3
#define IN3_COUNT 24l
#define IN3_DIMS {4,2,3,}
#define IN4_PRESENT 1
#define IN4_T float
#define IN4_TYPE 1
#define IN4_RANK 1
#define IN4_COUNT 4l
#define IN4_DIMS {4,}
#define IN5_PRESENT 1
#define IN5_T int8_t
#define IN5_TYPE 3
#define IN5_RANK 1
#define IN5_COUNT 4l
#define IN5_DIMS {4,}
#define IN6_PRESENT 1
#define IN6_T float
#define IN6_TYPE 1
#define IN6_RANK 0
#define IN6_COUNT 1l
#define IN6_DIMS {0}
#define IN7_PRESENT 1
#define IN7_T uint8_t
#define IN7_TYPE 2
#define IN7_RANK 0
#define IN7_COUNT 1l
#define IN7_DIMS {0}
#define IN8_PRESENT 1
#define IN8_T int32_t
#define IN8_TYPE 6
#define IN8_RANK 1
#define IN8_COUNT 4l
#define IN8_DIMS {4,}
#define OUT0_PRESENT 1
#define OUT0_T uint8_t
#define OUT0_TYPE 2
#define OUT0_RANK 3
#define OUT0_COUNT 32l
#define OUT0_DIMS {1,4,8,}
#define WINDOW_IN {1,1,9,}
#define WINDOW_KERNEL {1,1,3,}
#define WINDOW_OUT {1,1,8,}
#define WINDOW_STRIDE {1,1,1,}
#define WINDOW_DILATION {1,1,1,}
#define WINDOW_PAD_BEGIN {0,0,1,}
#define WINDOW_PAD_END {0,0,0,}
#define ATTR_group 2l
#define ATTR_pads_COUNT 2
#define ATTR_pads {1,0,}
#define QLINEAR 1
/* ConvInteger (QLINEAR 0: x, w, zero points of both) and QLinearConv (QLINEAR 1: each operand with
 * scale and zero point, then an int32 bias): sums of centred bytes in int32, rows of 64 at a time. */
#ifndef ATTR_group
#define ATTR_group 1
#endif
#if QLINEAR
#define W_AT 3
#define W_T IN3_T
#define W_DIMS IN3_DIMS
#define X_ZERO (IN2_PRESENT ? (int32_t)((const IN2_T *)in[2])[0] : 0)
#define W_ZERO (IN5_PRESENT ? (int32_t)((const IN5_T *)in[5])[IN5_COUNT > 1 ? m : 0] : 0)
#else
#define W_AT 1
#define W_T IN1_T
#define W_DIMS IN1_DIMS
#if IN_COUNT > 2 && IN2_PRESENT
#define X_ZERO ((int32_t)((const IN2_T *)in[2])[0])
#else
#define X_ZERO 0
#endif
#if IN_COUNT > 3 && IN3_PRESENT
#define W_ZERO ((int32_t)((const IN3_T *)in[3])[IN3_COUNT > 1 ? m : 0])
#else
#define W_ZERO 0
#endif
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0]; /* [n, c, id...] */
  const W_T *w = in[W_AT]; /* [m, c / group, kernel...] */
  OUT0_T *restrict y = out[0];
  const int64_t x_dims[] = IN0_DIMS, w_dims[] = W_DIMS, y_dims[] = OUT0_DIMS;
  const int64_t id[] = WINDOW_IN, kd[] = WINDOW_KERNEL, od[] = WINDOW_OUT;
  const int64_t stride[] = WINDOW_STRIDE, dilation[] = WINDOW_DILATION, pad[] = WINDOW_PAD_BEGIN;
  (void)scratch;
  const int64_t channels = w_dims[1], features = y_dims[1] / ATTR_group;
  const int64_t image = id[0] * id[1] * id[2];
  for (int64_t u = begin; u < end; u++) { /* one output plane */
    const int64_t n = u / y_dims[1], m = u % y_dims[1];
    const int32_t x_zero = X_ZERO, w_zero = W_ZERO;
    for (int64_t o0 = 0; o0 < od[0]; o0++)
      for (int64_t o1 = 0; o1 < od[1]; o1++)
        for (int64_t start = 0; start < od[2]; start += 64) {
          const int64_t width = od[2] - start < 64 ? od[2] - start : 64;
          int32_t sum[64] = {0};
          for (int64_t c = 0; c < channels; c++)
            for (int64_t k0 = 0; k0 < kd[0]; k0++)
              for (int64_t k1 = 0; k1 < kd[1]; k1++) {
                const int64_t i0 = o0 * stride[0] + k0 * dilation[0] - pad[0];
                const int64_t i1 = o1 * stride[1] + k1 * dilation[1] - pad[1];
                if (i0 < 0 || i0 >= id[0] || i1 < 0 || i1 >= id[1]) continue;
                const IN0_T *restrict row = x +
                                   (n * x_dims[1] + m / features * channels + c) * image +
                                   (i0 * id[1] + i1) * id[2];
                const W_T *tap = w + (((m * channels + c) * kd[0] + k0) * kd[1] + k1) * kd[2];
                for (int64_t k2 = 0; k2 < kd[2]; k2++) {
                  const int32_t weight = (int32_t)tap[k2] - w_zero;
                  const int64_t shift = start * stride[2] + k2 * dilation[2] - pad[2];
                  int64_t first = shift >= 0 ? 0 : (-shift + stride[2] - 1) / stride[2];
                  int64_t last = id[2] > shift ? (id[2] - 1 - shift) / stride[2] + 1 : 0;
                  if (last > width) last = width;
                  /* unsigned: sums wrap */
                  if (stride[2] == 1)
                    for (int64_t o = first; o < last; o++)
                      sum[o] = (int32_t)((uint32_t)sum[o] +
                                         (uint32_t)(((int32_t)row[o + shift] - x_zero) * weight));
                  else
                    for (int64_t o = first; o < last; o++)
                      sum[o] = (int32_t)((uint32_t)sum[o] +
                                         (uint32_t)(((int32_t)row[o * stride[2] + shift] - x_zero) * weight));
                }
              }
          OUT0_T *restrict to = y + ((u * od[0] + o0) * od[1] + o1) * od[2] + start;
#if QLINEAR
          int32_t bias = 0;
#if IN_COUNT > 8 && IN8_PRESENT
          bias = ((const IN8_T *)in[8])[m];
#endif
          const float scale = (float)((const IN1_T *)in[1])[0] *
                              (float)((const IN4_T *)in[4])[IN4_COUNT > 1 ? m : 0] /
                              (float)((const IN6_T *)in[6])[0];
          const double zero = (double)((const IN7_T *)in[7])[0];
          const double low = (OUT0_T)-1 > 0 ? 0 : -128, high = low + 255;
          for (int64_t o = 0; o < width; o++) {
            const int32_t total = (int32_t)((uint32_t)sum[o] + (uint32_t)bias);
            const double value = rint((double)total * (double)scale) + zero;
            to[o] = (OUT0_T)(int32_t)(value < low ? low : value > high ? high : value);
          }
#else
          for (int64_t o = 0; o < width; o++) to[o] = sum[o];
#endif
        }
  }
  return 0;
}
#undef ATTR_group
#undef W_AT
#undef W_T
#undef W_DIMS
#undef X_ZERO
#undef W_ZERO
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef IN3_PRESENT
#undef IN3_T
#undef IN3_TYPE
#undef IN3_RANK
#undef IN3_COUNT
#undef IN3_DIMS
#undef IN4_PRESENT
#undef IN4_T
#undef IN4_TYPE
#undef IN4_RANK
#undef IN4_COUNT
#undef IN4_DIMS
#undef IN5_PRESENT
#undef IN5_T
#undef IN5_TYPE
#undef IN5_RANK
#undef IN5_COUNT
#undef IN5_DIMS
#undef IN6_PRESENT
#undef IN6_T
#undef IN6_TYPE
#undef IN6_RANK
#undef IN6_COUNT
#undef IN6_DIMS
#undef IN7_PRESENT
#undef IN7_T
#undef IN7_TYPE
#undef IN7_RANK
#undef IN7_COUNT
#undef IN7_DIMS
#undef IN8_PRESENT
#undef IN8_T
#undef IN8_TYPE
#undef IN8_RANK
#undef IN8_COUNT
#undef IN8_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef WINDOW_IN
#undef WINDOW_KERNEL
#undef WINDOW_OUT
#undef WINDOW_STRIDE
#undef WINDOW_DILATION
#undef WINDOW_PAD_BEGIN
#undef WINDOW_PAD_END
#undef ATTR_group
#undef ATTR_pads_COUNT
#undef ATTR_pads
#undef QLINEAR
int run_123(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_123(in, out, scratch, begin, end); }
#define NAME plain_124
#define UNITS 12l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T int64_t
#define IN0_TYPE 7
#define IN0_RANK 1
#define IN0_COUNT 2l
#define IN0_DIMS {2,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 12l
#define OUT0_DIMS {3,4,}
/* ConstantOfShape: one value everywhere; the planned shape. */
#ifndef ATTR_value
#define ATTR_value 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  OUT0_T *y = out[0];
  (void)in, (void)scratch;
  for (int64_t i = begin; i < end; i++) y[i] = (OUT0_T)ATTR_value;
  return 0;
}
#undef ATTR_value
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_124(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_124(in, out, scratch, begin, end); }
#define NAME plain_125
#define UNITS 1l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 24l
#define IN0_DIMS {2,3,4,}
#define OUT0_PRESENT 1
#define OUT0_T int64_t
#define OUT0_TYPE 7
#define OUT0_RANK 1
#define OUT0_COUNT 2l
#define OUT0_DIMS {2,}
#define ATTR_start 1l
#define SHAPE_SIZE 0
/* Shape and Size: SHAPE_SIZE is 0 or 1. */
#ifndef ATTR_start
#define ATTR_start 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  (void)begin, (void)end;
  const int64_t dims[] = IN0_DIMS;
  int64_t start = ATTR_start;
  (void)in, (void)scratch, (void)dims;
  if (start < 0) start = start < -IN0_RANK ? 0 : start + IN0_RANK;
  if (SHAPE_SIZE) {
    *(int64_t *)out[0] = IN0_COUNT;
    return 0;
  }
  for (int64_t k = 0; k < OUT0_COUNT; k++) ((int64_t *)out[0])[k] = dims[start + k];
#ifdef IN0_OPEN
  const int64_t *extents = out[OUT_COUNT], numbers[] = IN0_EXTENTS;
  for (int64_t k = 0; k < OUT0_COUNT; k++)
    if (numbers[start + k]) ((int64_t *)out[0])[k] = extents[numbers[start + k]];
#endif
  return 0;
}
#undef ATTR_start
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef ATTR_start
#undef SHAPE_SIZE
int run_125(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_125(in, out, scratch, begin, end); }
#define NAME plain_126
#define UNITS 1l
#define IN_COUNT 1
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 3
#define IN0_COUNT 24l
#define IN0_DIMS {2,3,4,}
#define OUT0_PRESENT 1
#define OUT0_T int64_t
#define OUT0_TYPE 7
#define OUT0_RANK 0
#define OUT0_COUNT 1l
#define OUT0_DIMS {0}
#define SHAPE_SIZE 1
/* Shape and Size: SHAPE_SIZE is 0 or 1. */
#ifndef ATTR_start
#define ATTR_start 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  (void)begin, (void)end;
  const int64_t dims[] = IN0_DIMS;
  int64_t start = ATTR_start;
  (void)in, (void)scratch, (void)dims;
  if (start < 0) start = start < -IN0_RANK ? 0 : start + IN0_RANK;
  if (SHAPE_SIZE) {
    *(int64_t *)out[0] = IN0_COUNT;
    return 0;
  }
  for (int64_t k = 0; k < OUT0_COUNT; k++) ((int64_t *)out[0])[k] = dims[start + k];
#ifdef IN0_OPEN
  const int64_t *extents = out[OUT_COUNT], numbers[] = IN0_EXTENTS;
  for (int64_t k = 0; k < OUT0_COUNT; k++)
    if (numbers[start + k]) ((int64_t *)out[0])[k] = extents[numbers[start + k]];
#endif
  return 0;
}
#undef ATTR_start
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
#undef SHAPE_SIZE
int run_126(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_126(in, out, scratch, begin, end); }
#define NAME plain_127
#define UNITS 1l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 1
#define IN0_COUNT 3l
#define IN0_DIMS {3,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 1l
#define IN1_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 1
#define OUT0_COUNT 1l
#define OUT0_DIMS {1,}
/* Gather: [outer, axis, inner] by indices to [outer, indices, inner]; a unit is one row of inner. What
 * lies behind the actual size of open indices is no index. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict data = in[0];
  const IN1_T *restrict indices = in[1];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)(ATTR_axis < 0 ? ATTR_axis + IN0_RANK : ATTR_axis);
  const int64_t length = dims[axis];
  int64_t inner = 1;
#ifdef IN1_OPEN
  const int64_t index_dims[] = IN1_DIMS, numbers[] = IN1_EXTENTS;
#endif
  (void)scratch;
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  int64_t o = begin / IN1_COUNT, i = begin % IN1_COUNT;
  for (int64_t u = begin; u < end; o++, i = 0) {
    const int64_t width = IN1_COUNT - i < end - u ? IN1_COUNT - i : end - u;
    const IN0_T *restrict from = data + o * length * inner;
    for (int64_t j = 0; j < width; j++)
      if ((int64_t)indices[i + j] < -length || (int64_t)indices[i + j] >= length)
#ifdef IN1_OPEN
        if (inside_(i + j, IN1_RANK, index_dims, numbers, out[OUT_COUNT]))
#endif
          return 8;
    for (int64_t j = 0; j < width; j++) {
      int64_t at = (int64_t)indices[i + j];
      at += at < 0 ? length : 0;
#ifdef IN1_OPEN
      if (at < 0 || at >= length) {
#if IN0_IS_TEXT
        for (int64_t k = 0; k < inner; k++) to[(u + j) * inner + k] = (OUT0_T){"", 0};
#endif
        continue;
      }
#endif
      if (inner == 1)
        to[u + j] = from[at];
      else
        memcpy(to + (u + j) * inner, from + at * inner, (size_t)inner * sizeof *to);
    }
    u += width;
  }
  return 0;
}
#undef ATTR_axis
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_127(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_127(in, out, scratch, begin, end); }
#define NAME plain_128
#define UNITS 1l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 1
#define IN0_COUNT 3l
#define IN0_DIMS {3,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 1l
#define IN1_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 1
#define OUT0_COUNT 1l
#define OUT0_DIMS {1,}
/* Gather: [outer, axis, inner] by indices to [outer, indices, inner]; a unit is one row of inner. What
 * lies behind the actual size of open indices is no index. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict data = in[0];
  const IN1_T *restrict indices = in[1];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)(ATTR_axis < 0 ? ATTR_axis + IN0_RANK : ATTR_axis);
  const int64_t length = dims[axis];
  int64_t inner = 1;
#ifdef IN1_OPEN
  const int64_t index_dims[] = IN1_DIMS, numbers[] = IN1_EXTENTS;
#endif
  (void)scratch;
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  int64_t o = begin / IN1_COUNT, i = begin % IN1_COUNT;
  for (int64_t u = begin; u < end; o++, i = 0) {
    const int64_t width = IN1_COUNT - i < end - u ? IN1_COUNT - i : end - u;
    const IN0_T *restrict from = data + o * length * inner;
    for (int64_t j = 0; j < width; j++)
      if ((int64_t)indices[i + j] < -length || (int64_t)indices[i + j] >= length)
#ifdef IN1_OPEN
        if (inside_(i + j, IN1_RANK, index_dims, numbers, out[OUT_COUNT]))
#endif
          return 8;
    for (int64_t j = 0; j < width; j++) {
      int64_t at = (int64_t)indices[i + j];
      at += at < 0 ? length : 0;
#ifdef IN1_OPEN
      if (at < 0 || at >= length) {
#if IN0_IS_TEXT
        for (int64_t k = 0; k < inner; k++) to[(u + j) * inner + k] = (OUT0_T){"", 0};
#endif
        continue;
      }
#endif
      if (inner == 1)
        to[u + j] = from[at];
      else
        memcpy(to + (u + j) * inner, from + at * inner, (size_t)inner * sizeof *to);
    }
    u += width;
  }
  return 0;
}
#undef ATTR_axis
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_128(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_128(in, out, scratch, begin, end); }
#define NAME plain_129
#define UNITS 1l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 1
#define IN0_COUNT 3l
#define IN0_DIMS {3,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 1l
#define IN1_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 1
#define OUT0_COUNT 1l
#define OUT0_DIMS {1,}
/* GatherElements: out[i][j] = data[index[i][j]][j] for axis 0. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict data = in[0];
  const IN1_T *restrict indices = in[1];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  enum { LAST = OUT0_RANK > 0 ? OUT0_RANK - 1 : 0 };
  const int64_t columns = to_dims[LAST], length = dims[axis];
  int64_t strides[17], step = 1;
  (void)scratch;
  for (int k = IN0_RANK - 1; k >= 0; k--) strides[k] = step, step *= dims[k];
  for (int64_t r = begin; r < end; r++) { /* one row of the output */
    int64_t offset = 0, rest = r;
    int is_outside = 0;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--)
      offset += k == axis ? 0 : rest % to_dims[k] * strides[k];
    const IN1_T *restrict index = indices + r * columns;
    for (int64_t j = 0; j < columns; j++) is_outside |= index[j] < -length || index[j] >= length;
    if (is_outside) return 8;
    const int64_t by = strides[axis], along = axis == LAST ? 0 : 1;
    for (int64_t j = 0; j < columns; j++) {
      const int64_t at = (int64_t)index[j] + (index[j] < 0 ? length : 0);
      to[r * columns + j] = data[offset + at * by + j * along];
    }
  }
  return 0;
}
#undef ATTR_axis
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_129(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_129(in, out, scratch, begin, end); }
#define NAME plain_130
#define UNITS 1l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 1
#define IN0_COUNT 3l
#define IN0_DIMS {3,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 2
#define IN1_COUNT 1l
#define IN1_DIMS {1,1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 1
#define OUT0_COUNT 1l
#define OUT0_DIMS {1,}
/* GatherND: the last dimension of the indices is an address into data after batch_dims. */
#ifndef ATTR_batch_dims
#define ATTR_batch_dims 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict data = in[0];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, index_dims[] = IN1_DIMS;
  const int length = (int)index_dims[IN1_RANK - 1];
  int64_t strides[17], step = 1, batches = 1, rows = 1, run = 1;
#ifdef IN1_OPEN
  const int64_t numbers[] = IN1_EXTENTS;
#endif
  (void)scratch;
  for (int k = IN0_RANK - 1; k >= 0; k--) strides[k] = step, step *= dims[k];
  for (int k = 0; k < ATTR_batch_dims; k++) batches *= dims[k];
  for (int k = ATTR_batch_dims; k < IN1_RANK - 1; k++) rows *= index_dims[k];
  for (int k = (int)ATTR_batch_dims + length; k < IN0_RANK; k++) run *= dims[k];
  const int64_t block = batches ? step / batches : 0;
  for (int64_t u = begin; u < end; u++) { /* one address */
    const IN1_T *indices = (const IN1_T *)in[1] + u * length;
    int64_t offset = u / rows * block;
    for (int k = 0; k < length; k++) {
      const int64_t dim = dims[ATTR_batch_dims + k];
      int64_t at = (int64_t)indices[k];
      if (at < -dim || at >= dim) {
#ifdef IN1_OPEN
        if (!inside_(u * length, IN1_RANK, index_dims, numbers, out[OUT_COUNT])) break;
#endif
        return 8;
      }
      offset += (at < 0 ? at + dim : at) * strides[ATTR_batch_dims + k];
    }
    memcpy(to + u * run, data + offset, (size_t)run * sizeof *to);
  }
  return 0;
}
#undef ATTR_batch_dims
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_130(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_130(in, out, scratch, begin, end); }
#define NAME plain_131
#define UNITS 1l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 1
#define IN0_COUNT 3l
#define IN0_DIMS {3,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 1l
#define IN1_DIMS {1,}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 1
#define IN2_COUNT 1l
#define IN2_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 1
#define OUT0_COUNT 3l
#define OUT0_DIMS {3,}
/* ScatterElements: data with updates at indices along the axis, in order of the updates. A unit is
 * one place of the outermost other dimension: what is written there comes from there alone. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
#if defined ATTR_reduction_IS_add
#define APPLY(a, b) ((a) = (OUT0_T)((ACC)(a) + (ACC)(b)))
#elif defined ATTR_reduction_IS_mul
#define APPLY(a, b) ((a) = (OUT0_T)((ACC)(a) * (ACC)(b)))
#elif defined ATTR_reduction_IS_max
#define APPLY(a, b) ((a) = (a) > (b) || (a) != (a) ? (a) : (b))
#elif defined ATTR_reduction_IS_min
#define APPLY(a, b) ((a) = (a) < (b) || (a) != (a) ? (a) : (b))
#else
#define APPLY(a, b) ((a) = (b))
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC float
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN1_T *restrict indices = in[1];
  const IN2_T *restrict updates = in[2];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, index_dims[] = IN1_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  enum { LAST = IN0_RANK - 1 };
  const int split = axis == 0 && IN0_RANK > 1 ? 1 : 0; /* the dimension of the units */
  int64_t strides[17], index_strides[17], step = 1, index_step = 1;
  (void)scratch;
  for (int k = LAST; k >= 0; k--) {
    strides[k] = step, step *= dims[k];
    index_strides[k] = index_step, index_step *= index_dims[k];
  }
  int64_t low[17] = {0}, high[17]; /* this call's part of the index tensor */
  for (int k = 0; k < IN0_RANK; k++) high[k] = index_dims[k];
  if (IN0_RANK > 1) {
    const int64_t outer = split ? dims[0] : 1, run = (end - begin) * strides[split];
    for (int64_t o = 0; o < outer; o++) {
      const int64_t at = o * strides[0] * split + begin * strides[split];
      memcpy(to + at, (const IN0_T *)in[0] + at, (size_t)run * sizeof *to);
    }
    low[split] = begin;
    high[split] = end < index_dims[split] ? end : index_dims[split];
  } else {
    memcpy(to, in[0], (size_t)IN0_COUNT * sizeof *to);
  }
  int64_t at[17];
  for (int k = 0; k < IN0_RANK; k++) {
    at[k] = low[k];
    if (low[k] >= high[k]) return 0;
  }
  for (;;) { /* rows of the index tensor, in order */
    int64_t from = 0, offset = 0;
    int is_outside = 0;
    for (int k = 0; k < LAST; k++) {
      from += at[k] * index_strides[k];
      offset += k == axis ? 0 : at[k] * strides[k];
    }
    const int64_t along = axis == LAST ? 0 : 1, length = dims[axis];
    for (int64_t j = low[LAST]; j < high[LAST]; j++)
      is_outside |= indices[from + j] < -length || indices[from + j] >= length;
    if (is_outside) return 8;
    for (int64_t j = low[LAST]; j < high[LAST]; j++) {
      const int64_t index = (int64_t)indices[from + j] + (indices[from + j] < 0 ? length : 0);
      APPLY(to[offset + index * strides[axis] + j * along], updates[from + j]);
    }
    int k = LAST - 1;
    for (; k >= 0 && ++at[k] == high[k]; k--) at[k] = low[k];
    if (k < 0) return 0;
  }
}
#undef APPLY
#undef ACC
#undef ATTR_axis
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_131(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_131(in, out, scratch, begin, end); }
#define NAME plain_132
#define UNITS 3l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 1
#define IN0_COUNT 3l
#define IN0_DIMS {3,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 2
#define IN1_COUNT 1l
#define IN1_DIMS {1,1,}
#define IN2_PRESENT 1
#define IN2_T float
#define IN2_TYPE 1
#define IN2_RANK 1
#define IN2_COUNT 1l
#define IN2_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 1
#define OUT0_COUNT 3l
#define OUT0_DIMS {3,}
/* ScatterND: data with blocks of updates at addresses, in order of the updates. A unit is an element
 * of the result: every thread reads all addresses and writes what falls into its own part. */
#if defined ATTR_reduction_IS_add
#define APPLY(a, b) ((a) = (OUT0_T)((ACC)(a) + (ACC)(b)))
#elif defined ATTR_reduction_IS_mul
#define APPLY(a, b) ((a) = (OUT0_T)((ACC)(a) * (ACC)(b)))
#elif defined ATTR_reduction_IS_max
#define APPLY(a, b) ((a) = (a) > (b) || (a) != (a) ? (a) : (b))
#elif defined ATTR_reduction_IS_min
#define APPLY(a, b) ((a) = (a) < (b) || (a) != (a) ? (a) : (b))
#else
#define APPLY(a, b) ((a) = (b))
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC float
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN1_T *restrict indices = in[1];
  const IN2_T *restrict updates = in[2];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, index_dims[] = IN1_DIMS;
  const int length = (int)index_dims[IN1_RANK - 1];
  int64_t strides[17], step = 1, rows = 1, run = 1;
  (void)scratch;
  memcpy(to + begin, (const IN0_T *)in[0] + begin, (size_t)(end - begin) * sizeof *to);
  for (int k = IN0_RANK - 1; k >= 0; k--) strides[k] = step, step *= dims[k];
  for (int k = 0; k < IN1_RANK - 1; k++) rows *= index_dims[k];
  for (int k = length; k < IN0_RANK; k++) run *= dims[k];
  for (int64_t r = 0; r < rows; r++, indices += length, updates += run) {
    int64_t offset = 0;
    for (int k = 0; k < length; k++) {
      int64_t at = (int64_t)indices[k];
      if (at < -dims[k] || at >= dims[k]) return 8;
      offset += (at < 0 ? at + dims[k] : at) * strides[k];
    }
    const int64_t first = offset < begin ? begin - offset : 0;
    const int64_t last = offset + run > end ? end - offset : run;
    for (int64_t i = first; i < last; i++) APPLY(to[offset + i], updates[i]);
  }
  return 0;
}
#undef APPLY
#undef ACC
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_132(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_132(in, out, scratch, begin, end); }
#define NAME plain_133
#define UNITS 1l
#define IN_COUNT 3
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 6l
#define IN0_DIMS {3,2,}
#define IN1_PRESENT 1
#define IN1_T int32_t
#define IN1_TYPE 6
#define IN1_RANK 1
#define IN1_COUNT 2l
#define IN1_DIMS {2,}
#define IN2_PRESENT 1
#define IN2_T int64_t
#define IN2_TYPE 7
#define IN2_RANK 1
#define IN2_COUNT 1l
#define IN2_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 2l
#define OUT0_DIMS {1,2,}
/* SpMM (hone): a sparse matrix in CSR form times rows. Row u of the result is the sum of the rows
 * in0[sources[e]] over e in [starts[u], starts[u + 1]), each times weight[edges[e]] where there are weights: one
 * for an edge, or one a head, which is a run of columns. A unit is a row of the result. Sums stay in registers,
 * blocks of columns at a time. */
#if IN_COUNT > 3
#define WEIGHT(e, h) ((OUT0_T)weights[(int64_t)edges[e] * heads + (h)])
#else
#define WEIGHT(e, h) 1
#endif
#define BLOCKS(WIDTH)                                                                 \
  for (; j + WIDTH <= last; j += WIDTH) {                                             \
    OUT0_T sum[WIDTH] = {0};                                                          \
    for (int64_t e = starts[u]; e < starts[u + 1]; e++) {                             \
      const int64_t at = sources[e] < 0 ? sources[e] + rows : sources[e];             \
      const IN0_T *restrict from = x + at * width + j;                                \
      const OUT0_T w = WEIGHT(e, h);                                                  \
      for (int k = 0; k < WIDTH; k++) sum[k] += w * from[k];                          \
    }                                                                                 \
    memcpy(to + u * width + j, sum, sizeof sum);                                      \
  }
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict starts = in[1];
  const IN2_T *restrict sources = in[2];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, rows = dims[0], width = IN0_COUNT / rows;
#if IN_COUNT > 3
  const IN3_T *restrict weights = in[3];
  const IN4_T *restrict edges = in[4];
  const int64_t heads = IN3_COUNT / IN4_COUNT;
#else
  const int64_t heads = 1;
#endif
  (void)scratch;
  for (int64_t e = starts[begin]; e < starts[end]; e++)
    if (sources[e] < -rows || sources[e] >= rows) return 8;
  for (int64_t u = begin; u < end; u++)
    for (int64_t h = 0, j = 0; h < heads; h++) {
      const int64_t last = width / heads * (h + 1);
      BLOCKS(64)
      BLOCKS(16)
      BLOCKS(4)
      BLOCKS(1)
    }
  return 0;
}
#undef BLOCKS
#undef WEIGHT
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef IN2_PRESENT
#undef IN2_T
#undef IN2_TYPE
#undef IN2_RANK
#undef IN2_COUNT
#undef IN2_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_133(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_133(in, out, scratch, begin, end); }
#define NAME plain_134
#define UNITS 2l
#define IN_COUNT 2
#define OUT_COUNT 1
#define IN0_PRESENT 1
#define IN0_T float
#define IN0_TYPE 1
#define IN0_RANK 2
#define IN0_COUNT 2l
#define IN0_DIMS {2,1,}
#define IN1_PRESENT 1
#define IN1_T int64_t
#define IN1_TYPE 7
#define IN1_RANK 1
#define IN1_COUNT 1l
#define IN1_DIMS {1,}
#define OUT0_PRESENT 1
#define OUT0_T float
#define OUT0_TYPE 1
#define OUT0_RANK 2
#define OUT0_COUNT 2l
#define OUT0_DIMS {2,1,}
/* ReverseSequence: the first sequence_lens[b] steps of batch b in reverse, the rest as they are. */
#ifndef ATTR_batch_axis
#define ATTR_batch_axis 1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *lengths = in[1];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS, batches = dims[ATTR_batch_axis], steps = dims[1 - ATTR_batch_axis];
  int64_t inner = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) inner *= dims[k];
  const int64_t batch_step = ATTR_batch_axis ? inner : steps * inner;
  const int64_t time_step = ATTR_batch_axis ? batches * inner : inner;
  for (int64_t u = begin; u < end; u++) { /* one step of one batch, as they lie */
    const int64_t b = ATTR_batch_axis ? u % batches : u / steps;
    const int64_t t = ATTR_batch_axis ? u / batches : u % steps;
    const int64_t length = (int64_t)lengths[b];
    if (length < 0 || length > steps) return 8;
    const int64_t from = t < length ? length - 1 - t : t;
    memcpy(y + b * batch_step + t * time_step, x + b * batch_step + from * time_step,
           (size_t)inner * sizeof *y);
  }
  return 0;
}
#undef ATTR_batch_axis
#undef NAME
#undef UNITS
#undef IN_COUNT
#undef OUT_COUNT
#undef IN0_PRESENT
#undef IN0_T
#undef IN0_TYPE
#undef IN0_RANK
#undef IN0_COUNT
#undef IN0_DIMS
#undef IN1_PRESENT
#undef IN1_T
#undef IN1_TYPE
#undef IN1_RANK
#undef IN1_COUNT
#undef IN1_DIMS
#undef OUT0_PRESENT
#undef OUT0_T
#undef OUT0_TYPE
#undef OUT0_RANK
#undef OUT0_COUNT
#undef OUT0_DIMS
int run_134(const void *const *in, void *const *out, void *scratch, long begin, long end) { return plain_134(in, out, scratch, begin, end); }
