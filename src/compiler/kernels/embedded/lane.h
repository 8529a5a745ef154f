/* simd.h for one lane, in plain C11: for processors without vectors and compilers without GNU C.
 * vec is a float and veci an int32, so that kernel sources compile unchanged. A mask is 0 or 1.
 * Required of the target: 8-bit bytes, IEEE 754 float and double, 32-bit int in two's complement,
 * int64_t, arithmetic right shifts, conversions that wrap around, little endian; libm for functions
 * called by name. Errors of the functions as in simd.h: the same polynomials.
 */

#include <math.h>
#include <stdint.h>
#include <string.h>

#define LANES 1
typedef float vec;
typedef float vecu;
typedef int32_t veci;
typedef uint32_t vecw_;

#define PASTE2_(a, b) a##_##b
#define PASTE_(a, b) PASTE2_(a, b)
#if defined __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#elif defined __GNUC__
#define UNROLL _Pragma("GCC unroll 64")
#else
#define UNROLL
#endif
#define IN_REGISTER_(x) ((void)0)
#if defined __GNUC__
#define INLINE_ static inline __attribute__((always_inline, unused))
#define MAY_ALIAS __attribute__((may_alias))
#else
#define INLINE_ static inline
#define MAY_ALIAS
#endif
#define STEP_POINTER_(p, n) ((p) += (n))
#define PREFETCH_(p) ((void)(p))
#define PREFETCH_NEAR_(p) ((void)(p))
#define LANE_(x, i) (x)
#define STORE_WORDS_(p, x) (*(p) = (x))

/* Bits of a float and back. */
INLINE_ int32_t lane_bits_(float x) {
  int32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
INLINE_ float lane_float_(int32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Memory: n lanes, so none or one. */
INLINE_ vec loadu_(const float *p) { return *p; }
INLINE_ void storeu_(float *p, vec x) { *p = x; }
INLINE_ vec splat_(float x) { return x; }
INLINE_ veci splati_(int32_t x) { return x; }
INLINE_ vec load_lanes_(const float *p, long n) { return n > 0 ? *p : 0; }
INLINE_ void store_lanes_(float *p, vec x, long n) {
  if (n > 0) *p = x;
}
INLINE_ veci widen_u8(const uint8_t *p, long n) { return n > 0 ? (veci)*p : 0; }
INLINE_ veci widen_i8(const int8_t *p, long n) { return n > 0 ? (veci)*p : 0; }
INLINE_ veci widen_u16(const uint16_t *p, long n) { return n > 0 ? (veci)*p : 0; }
INLINE_ veci widen_i32(const int32_t *p, long n) { return n > 0 ? *p : 0; }
INLINE_ void narrow_u8(uint8_t *p, veci x, long n) {
  if (n > 0) *p = (uint8_t)x;
}
INLINE_ void narrow_i8(int8_t *p, veci x, long n) {
  if (n > 0) *p = (int8_t)x;
}
INLINE_ void narrow_u16(uint16_t *p, veci x, long n) {
  if (n > 0) *p = (uint16_t)x;
}
INLINE_ void narrow_i32(int32_t *p, veci x, long n) {
  if (n > 0) *p = x;
}
INLINE_ vec load_u8_(const uint8_t *p, long n) { return (vec)widen_u8(p, n); }
INLINE_ vec load_i8_(const int8_t *p, long n) { return (vec)widen_i8(p, n); }
INLINE_ vec splat_bf16_(uint16_t x) { return lane_float_((int32_t)((uint32_t)x << 16)); }
INLINE_ vec load_bf16_(const uint16_t *p, long n) { return n > 0 ? splat_bf16_(*p) : 0; }
INLINE_ void store_bf16_(uint16_t *p, vec x, long n) {
  const uint32_t bits = (uint32_t)lane_bits_(x);
  const uint32_t rounded = x != x ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  if (n > 0) *p = (uint16_t)rounded;
}
INLINE_ vec splat_f16_(uint16_t x) {
  const int32_t a = x & 0x7fff, large = a >= 0x7c00;
  const float y = a < 0x400 ? (float)a * 0x1p-24f
                            : lane_float_(((a << 13) + (112 << 23) + large * (112 << 23)) |
                                          (a > 0x7c00) << 22);
  return x & 0x8000 ? -y : y;
}
INLINE_ vec load_f16_(const uint16_t *p, long n) { return n > 0 ? splat_f16_(*p) : 0; }
INLINE_ void store_f16_(uint16_t *p, vec x, long n) {
  const uint32_t bits = (uint32_t)lane_bits_(x), a = bits & 0x7fffffff;
  const uint32_t y = a > 0x7f800000    ? 0x7e00 | (a >> 13 & 0x3ff)
                     : a >= 0x477ff000 ? 0x7c00
                     : a < 0x38800000
                         ? (uint32_t)lane_bits_(lane_float_((int32_t)a) + 0.5f) - 0x3f000000
                         : (a + 0xfff + (a >> 13 & 1) - (112u << 23)) >> 13;
  if (n > 0) *p = (uint16_t)((bits >> 16 & 0x8000) | y);
}

/* Integers: they wrap around. */
INLINE_ veci wrap_u8_(veci x) { return x & 255; }
INLINE_ veci wrap_i8_(veci x) { return (int8_t)(uint8_t)(x & 255); }
INLINE_ veci lookup_bytes_(const uint8_t *table, veci x) { return table[x & 255]; }
#define TABLE_ static const uint8_t
INLINE_ vec floats_(veci x) { return (vec)x; }
INLINE_ veci integers_(vec x) { /* out of range becomes the least integer, as on x86 */
  return x >= -0x1p31f && x < 0x1p31f ? (veci)x : INT32_MIN;
}
INLINE_ veci veci_add_(veci x, veci y) { return (veci)((uint32_t)x + (uint32_t)y); }
INLINE_ veci veci_sub_(veci x, veci y) { return (veci)((uint32_t)x - (uint32_t)y); }
INLINE_ veci veci_mul_(veci x, veci y) { return (veci)((uint32_t)x * (uint32_t)y); }
INLINE_ veci veci_shift_right_(veci x, veci bits) { return x >> (bits & 31); }
INLINE_ veci smaller_(veci x, veci y) { return x < y ? x : y; }
INLINE_ veci larger_(veci x, veci y) { return x > y ? x : y; }
#define veci_min_(x, y, u) smaller_(x, y)
#define veci_max_(x, y, u) larger_(x, y)
INLINE_ void saturate_u8(uint8_t *p, veci x, long n) {
  narrow_u8(p, smaller_(larger_(x, 0), 255), n);
}
INLINE_ void saturate_i8(int8_t *p, veci x, long n) {
  narrow_i8(p, smaller_(larger_(x, -128), 127), n);
}
/* The roundings of fixed-point requantisation: see int_rescale in core/ops. */
INLINE_ veci veci_rescale_(veci x, veci multiplier, veci bits) {
  const int64_t product = (int64_t)x * multiplier + ((int64_t)1 << 30);
  const int32_t high = (int32_t)(uint32_t)((uint64_t)product >> 31), n = bits & 31;
  const int32_t mask = (int32_t)(((uint32_t)1 << n) - 1);
  return (high >> n) + ((high & mask) > (mask >> 1) + (high < 0));
}
INLINE_ veci veci_rescale_once_(veci x, veci multiplier, veci bits) {
  const int32_t wanted = 1 + ((30 + bits) & 63), shift = wanted > 62 ? 62 : wanted;
  return (veci)(((int64_t)x * multiplier + ((int64_t)1 << (shift - 1))) >> shift);
}
INLINE_ veci veci_rescale_up_(veci x, veci multiplier, veci bits) {
  const int32_t further = (bits - 1) & 31;
  const uint64_t halves = ((uint64_t)1 << 30) + ((uint64_t)1 << (31 + further));
  return (veci)((int64_t)((uint64_t)((int64_t)x * multiplier) + halves) >> 32 >> further);
}

/* Masks. */
INLINE_ vec blendv_(veci mask, vec a, vec b) { return mask ? a : b; }
INLINE_ vec onev_(veci mask) { return (vec)mask; }
INLINE_ vec fill_lanes_(vec x, long n, vec fill) { return n > 0 ? x : fill; }
/* The second operand if either is NaN. */
#define MAX2_(x, y) max2_(x, y)
#define MIN2_(x, y) min2_(x, y)
INLINE_ vec max2_(vec x, vec y) { return x > y ? x : y; }
INLINE_ vec min2_(vec x, vec y) { return x < y ? x : y; }
/* A NaN operand gives NaN. */
INLINE_ vec max_(vec x, vec y) { return x != x ? x : y != y ? y : y > x ? y : x; }
INLINE_ vec min_(vec x, vec y) { return x != x ? x : y != y ? y : y < x ? y : x; }
INLINE_ vec abs_(vec x) { return lane_float_(lane_bits_(x) & 0x7fffffff); }
#define JOIN_LANES_(x, join) (void)(x)
INLINE_ vec sum_lanes_(vec x) { return x; }
INLINE_ vec max_lanes_(vec x) { return x; }
#define INTERLEAVE_LOW_(x, y) (x)
#define INTERLEAVE_HIGH_(x, y) (y)

INLINE_ vec round_(vec x) { return rintf(x); }
INLINE_ veci nearest_(vec x) { return integers_(rintf(x)); }
INLINE_ vec floor_(vec x) { return floorf(x); }
INLINE_ vec ceil_(vec x) { return ceilf(x); }
INLINE_ vec trunc_(vec x) { return truncf(x); }
INLINE_ vec sqrt_(vec x) { return sqrtf(x); }

/* exp(x) - 1 if `less` is 1, else exp(x) */
INLINE_ vec exp_less_(vec x, int less) {
  if (x != x) return x;
  const float y = x > 90.0f ? 90.0f : x < -105.0f ? -105.0f : x;
  const float turns = y * 0x1.715476p0f;
  const int32_t i = (int32_t)(turns + (turns < 0 ? -0.5f : 0.5f)), half = i >> 1;
  const float n = (float)i;
  float r = y - n * 0x1.62e4p-1f;
  r = r - n * 0x1.7f7d1cp-20f;
  float p = 0x1.6a1a62p-10f;
  p = p * r + 0x1.123fc8p-7f;
  p = p * r + 0x1.555916p-5f;
  p = p * r + 0x1.55548ap-3f;
  p = p * r + 0x1.fffffcp-2f;
  p = p * (r * r) + r;
  const float s = lane_float_((half + 127) * (1 << 23)), t = lane_float_((i - half + 127) * (1 << 23));
  if (less) return copysignf((p * s + (s - lane_float_((half - i + 127) * (1 << 23)))) * t, x);
  return (p + 1.0f) * s * t;
}
INLINE_ vec exp_(vec x) { return exp_less_(x, 0); }
INLINE_ vec expm1_(vec x) { return exp_less_(x, 1); }
INLINE_ vec exp_down_(vec x) { return exp_(x); }
INLINE_ vec log_(vec x) {
  if (x != x || x < 0) return NAN;
  if (x == 0) return -INFINITY;
  if (x == INFINITY) return x;
  const int tiny = x < 0x1p-126f;
  const int32_t bits = lane_bits_(tiny ? x * 0x1p23f : x) - 0x3f3504f3; /* sqrt(1/2) */
  const int32_t e = (bits >> 23) - (tiny ? 23 : 0);
  const float m = lane_float_((bits & 0x007fffff) + 0x3f3504f3) - 1.0f;
  float p = -0x1.38b2a8p-4f;
  p = p * m + 0x1.055ad8p-3f;
  p = p * m + -0x1.0d8586p-3f;
  p = p * m + 0x1.22da36p-3f;
  p = p * m + -0x1.547240p-3f;
  p = p * m + 0x1.99a008p-3f;
  p = p * m + -0x1.000228p-2f;
  p = p * m + 0x1.555554p-2f;
  const float f = (float)e, mm = m * m;
  const float low = p * (mm * m) + f * 0x1.7f7d1cp-20f - 0.5f * mm;
  return f * 0x1.62e4p-1f + (m + low);
}
INLINE_ vec log1p_(vec x) {
  const float u = 1.0f + x;
  return log_(u) + (x < 1.0f ? x - (u - 1.0f) : 0.0f);
}
INLINE_ vec tanh_(vec x) {
  float y = MIN2_(9.1f, MAX2_(-9.1f, x)), z = y * y;
  float p = -0x1.a7667cp-37f;
  p = p * z + 0x1.04c0f2p-25f;
  p = p * z + 0x1.d44940p-16f;
  p = p * z + 0x1.fa68d4p-9f;
  p = p * z + 0x1.18165ep-3f;
  p = p * z + 1.0f;
  float q = 0x1.57c918p-20f;
  q = q * z + 0x1.9c1ef6p-12f;
  q = q * z + 0x1.be1cbap-6f;
  q = q * z + 0x1.e16084p-2f;
  q = q * z + 1.0f;
  float r = y * p / q;
  return MIN2_(1.0f, MAX2_(-1.0f, r));
}
INLINE_ vec erf_(vec x) {
  float y = MIN2_(3.95f, MAX2_(-3.95f, x)), z = y * y;
  float p = 0x1.0fea36p-19f;
  p = p * z + 0x1.2a83dep-12f;
  p = p * z + 0x1.f32226p-9f;
  p = p * z + 0x1.b1275ap-5f;
  p = p * z + 0x1.884a98p-3f;
  p = p * z + 0x1.20dd74p+0f;
  float q = 0x1.3d5b5ap-15f;
  q = q * z + 0x1.32e4dcp-10f;
  q = q * z + 0x1.ed51f6p-7f;
  q = q * z + 0x1.d53bb2p-4f;
  q = q * z + 0x1.0194c4p-1f;
  q = q * z + 1.0f;
  float r = y * p / q;
  return MIN2_(1.0f, MAX2_(-1.0f, r));
}
INLINE_ vec sin_(vec x) { return sinf(x); }
INLINE_ vec cos_(vec x) { return cosf(x); }
INLINE_ vec tan_(vec x) { return tanf(x); }
INLINE_ vec asin_(vec x) { return asinf(x); }
INLINE_ vec acos_(vec x) { return acosf(x); }
INLINE_ vec atan_(vec x) { return atanf(x); }
INLINE_ vec sinh_(vec x) { return sinhf(x); }
INLINE_ vec cosh_(vec x) { return coshf(x); }
INLINE_ vec asinh_(vec x) { return asinhf(x); }
INLINE_ vec acosh_(vec x) { return acoshf(x); }
INLINE_ vec atanh_(vec x) { return atanhf(x); }
INLINE_ vec pow_(vec x, vec y) {
  if (y == 1.0f) return x;
  if (y == 2.0f) return x * x;
  if (y == 3.0f) return x * x * x;
  if (y == -1.0f) return 1.0f / x;
  return powf(x, y);
}
INLINE_ vec sign_(vec x) { return x != x ? x : (vec)((x > 0) - (x < 0)); }
INLINE_ vec select_(vec mask, vec a, vec b) { return mask != 0 ? a : b; }
INLINE_ vec lt_(vec x, vec y) { return (vec)(x < y); }
INLINE_ vec le_(vec x, vec y) { return (vec)(x <= y); }
INLINE_ vec eq_(vec x, vec y) { return (vec)(x == y); }
INLINE_ vec isnan_(vec x) { return (vec)(x != x); }
INLINE_ vec isinf_(vec x) { return (vec)(abs_(x) == INFINITY); }
INLINE_ vec not_(vec x) { return (vec)(x == 0); }
INLINE_ vec and_(vec x, vec y) { return (vec)(x != 0 && y != 0); }
INLINE_ vec or_(vec x, vec y) { return (vec)(x != 0 || y != 0); }
