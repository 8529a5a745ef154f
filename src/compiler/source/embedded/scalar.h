/* Scalar helpers of elementwise expressions, by element class: f32_, f64_ and i64_ before the names
 * of the closed set. Integers are exact: they wrap around, x / 0 is 0. `u`: the operands are
 * unsigned 64-bit.
 */

#if defined __GNUC__
#define HONE_SCALAR_FUNCTION static inline __attribute__((unused))
#else
#define HONE_SCALAR_FUNCTION static inline
#endif
#define f32_C(k) ((float)(k))
#define f64_C(k) ((double)(k))
#define f32_select_(m, a, b) ((m) != 0 ? (a) : (b))
#define f32_lt_(x, y) ((x) < (y))
#define f32_le_(x, y) ((x) <= (y))
#define f32_eq_(x, y) ((x) == (y))
#define f32_not_(x) ((x) == 0)
#define f32_and_(x, y) ((x) != 0 && (y) != 0)
#define f32_or_(x, y) ((x) != 0 || (y) != 0)
#define f64_select_ f32_select_
#define f64_lt_ f32_lt_
#define f64_le_ f32_le_
#define f64_eq_ f32_eq_
#define f64_not_ f32_not_
#define f64_and_ f32_and_
#define f64_or_ f32_or_
#define f32_abs_ fabsf
#define f32_sqrt_ sqrtf
#define f32_exp_ expf
#define f32_expm1_ expm1f
#define f32_log_ logf
#define f32_log1p_ log1pf
#define f32_pow_ powf
#define f32_sin_ sinf
#define f32_cos_ cosf
#define f32_tan_ tanf
#define f32_asin_ asinf
#define f32_acos_ acosf
#define f32_atan_ atanf
#define f32_sinh_ sinhf
#define f32_cosh_ coshf
#define f32_asinh_ asinhf
#define f32_acosh_ acoshf
#define f32_atanh_ atanhf
#define f32_tanh_ tanhf
#define f32_erf_ erff
#define f32_floor_ floorf
#define f32_ceil_ ceilf
#define f32_trunc_ truncf
#define f32_round_ rintf
#define f32_mod_ fmodf
#define f64_abs_ fabs
#define f64_sqrt_ sqrt
#define f64_exp_ exp
#define f64_expm1_ expm1
#define f64_log_ log
#define f64_log1p_ log1p
#define f64_pow_ pow
#define f64_sin_ sin
#define f64_cos_ cos
#define f64_tan_ tan
#define f64_asin_ asin
#define f64_acos_ acos
#define f64_atan_ atan
#define f64_sinh_ sinh
#define f64_cosh_ cosh
#define f64_asinh_ asinh
#define f64_acosh_ acosh
#define f64_atanh_ atanh
#define f64_tanh_ tanh
#define f64_erf_ erf
#define f64_floor_ floor
#define f64_ceil_ ceil
#define f64_trunc_ trunc
#define f64_round_ rint
#define f64_mod_ fmod
HONE_SCALAR_FUNCTION float f32_min_(float x, float y) { return x != x ? x : y != y ? y : y < x ? y : x; }
HONE_SCALAR_FUNCTION float f32_max_(float x, float y) { return x != x ? x : y != y ? y : y > x ? y : x; }
HONE_SCALAR_FUNCTION float f32_sign_(float x) { return x != x ? x : (float)((x > 0) - (x < 0)); }
HONE_SCALAR_FUNCTION int f32_isnan_(float x) { return x != x; }
HONE_SCALAR_FUNCTION int f32_isinf_(float x) { return x - x != 0 && x == x; }
HONE_SCALAR_FUNCTION double f64_min_(double x, double y) { return x != x ? x : y != y ? y : y < x ? y : x; }
HONE_SCALAR_FUNCTION double f64_max_(double x, double y) { return x != x ? x : y != y ? y : y > x ? y : x; }
HONE_SCALAR_FUNCTION double f64_sign_(double x) { return x != x ? x : (double)((x > 0) - (x < 0)); }
HONE_SCALAR_FUNCTION int f64_isnan_(double x) { return x != x; }
HONE_SCALAR_FUNCTION int f64_isinf_(double x) { return x - x != 0 && x == x; }

/* True if index u of dense dims is within the actual sizes: numbers[d] is the index of a
   dimension in extents, 0: it is dims[d]. */
HONE_SCALAR_FUNCTION int inside_(int64_t u, int rank, const int64_t *dims, const int64_t *numbers,
                                 const int64_t *extents) {
  for (int d = rank; d-- > 0; u /= dims[d])
    if (numbers[d] && u % dims[d] >= extents[numbers[d]]) return 0;
  return 1;
}

HONE_SCALAR_FUNCTION int64_t i64_add_(int64_t x, int64_t y) { return (int64_t)((uint64_t)x + (uint64_t)y); }
HONE_SCALAR_FUNCTION int64_t i64_sub_(int64_t x, int64_t y) { return (int64_t)((uint64_t)x - (uint64_t)y); }
HONE_SCALAR_FUNCTION int64_t i64_mul_(int64_t x, int64_t y) { return (int64_t)((uint64_t)x * (uint64_t)y); }
HONE_SCALAR_FUNCTION int64_t i64_neg_(int64_t x) { return i64_sub_(0, x); }
HONE_SCALAR_FUNCTION int64_t i64_div_(int64_t x, int64_t y, int u) {
  if (!y) return 0;
  if (u) return (int64_t)((uint64_t)x / (uint64_t)y);
  return y == -1 ? i64_neg_(x) : x / y;
}
/* The remainder has the divisor's sign (Python); fmod: the dividend's (C). */
HONE_SCALAR_FUNCTION int64_t i64_mod_(int64_t x, int64_t y, int u, int fmod) {
  if (!y) return 0;
  if (u) return (int64_t)((uint64_t)x % (uint64_t)y);
  if (y == -1) return 0;
  int64_t r = x % y;
  return !fmod && r && (r ^ y) < 0 ? r + y : r;
}
HONE_SCALAR_FUNCTION int64_t i64_lt_(int64_t x, int64_t y, int u) { return u ? (uint64_t)x < (uint64_t)y : x < y; }
HONE_SCALAR_FUNCTION int64_t i64_le_(int64_t x, int64_t y, int u) { return !i64_lt_(y, x, u); }
HONE_SCALAR_FUNCTION int64_t i64_min_(int64_t x, int64_t y, int u) { return i64_lt_(x, y, u) ? x : y; }
HONE_SCALAR_FUNCTION int64_t i64_max_(int64_t x, int64_t y, int u) { return i64_lt_(x, y, u) ? y : x; }
HONE_SCALAR_FUNCTION int64_t i64_abs_(int64_t x, int u) { return !u && x < 0 ? i64_neg_(x) : x; }
HONE_SCALAR_FUNCTION int64_t i64_pow_(int64_t x, int64_t y, int u) {
  if (!u && y < 0) return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;
  int64_t result = 1;
  for (uint64_t rest = (uint64_t)y; rest; rest >>= 1, x = i64_mul_(x, x))
    if (rest & 1) result = i64_mul_(result, x);
  return result;
}
HONE_SCALAR_FUNCTION int64_t i64_shift_right_(int64_t x, int64_t bits) { return x >> (bits & 31); }
/* The roundings of fixed-point requantisation: see int_rescale in core/ops. */
HONE_SCALAR_FUNCTION int64_t i64_rescale_(int64_t x, int64_t multiplier, int64_t bits) {
  const int64_t mask = ((int64_t)1 << (bits & 31)) - 1;
  const int64_t high = (int32_t)(uint32_t)((uint64_t)(x * multiplier + ((int64_t)1 << 30)) >> 31);
  return (high >> (bits & 31)) + ((high & mask) > (mask >> 1) + (high < 0));
}
HONE_SCALAR_FUNCTION int64_t i64_rescale_once_(int64_t x, int64_t multiplier, int64_t bits) {
  int64_t shift = 1 + ((30 + bits) & 63);
  shift = shift > 62 ? 62 : shift;
  return (x * multiplier + ((int64_t)1 << (shift - 1))) >> shift;
}
HONE_SCALAR_FUNCTION int64_t i64_rescale_up_(int64_t x, int64_t multiplier, int64_t bits) {
  const int64_t further = (bits - 1) & 31;
  const uint64_t halves = ((uint64_t)1 << 30) + ((uint64_t)1 << (31 + further));
  return (int64_t)((uint64_t)(x * multiplier) + halves) >> 32 >> further;
}
/* Truncates; NaN becomes 0, out of range the nearest int64, narrower types wrap around. */
HONE_SCALAR_FUNCTION int64_t cast_i64_(double x) {
  if (x != x) return 0;
  if (x >= 0x1p63) return INT64_MAX;
  if (x <= -0x1p63) return INT64_MIN;
  return (int64_t)x;
}
HONE_SCALAR_FUNCTION uint64_t cast_u64_(double x) {
  return x >= 0x1p64 ? UINT64_MAX : x >= 0x1p63 ? (uint64_t)x : (uint64_t)cast_i64_(x);
}
/* MurmurHash3 of bytes, 32 bits. Source: Appleby, MurmurHash3_x86_32 (public domain). */
HONE_SCALAR_FUNCTION uint32_t murmur_mix_(uint32_t word) {
  word *= 0xcc9e2d51u;
  return (word << 15 | word >> 17) * 0x1b873593u;
}
HONE_SCALAR_FUNCTION uint32_t murmur_hash_(const unsigned char *bytes, uint64_t length, uint32_t h) {
  uint32_t rest = 0;
  uint64_t i = 0;
  for (; i + 4 <= length; i += 4) {
    h ^= murmur_mix_((uint32_t)bytes[i] | (uint32_t)bytes[i + 1] << 8 | (uint32_t)bytes[i + 2] << 16 |
                     (uint32_t)bytes[i + 3] << 24);
    h = (h << 13 | h >> 19) * 5 + 0xe6546b64u;
  }
  for (uint64_t k = length; k-- > i;) rest = rest << 8 | bytes[k];
  h ^= murmur_mix_(rest) ^ (uint32_t)length;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}
