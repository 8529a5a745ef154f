/* Scalar helpers of elementwise expressions, by element class: f32_, f64_ and i64_ before the names of the
   closed set. Integers are exact: they wrap, x / 0 is 0. `u`: the operands are unsigned 64-bit. */
/* a file uses few of them */
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
#define HONE_SCALAR(T, p, s)                                                                     \
  HONE_SCALAR_FUNCTION T p##abs_(T x) { return fabs##s(x); }                                            \
  HONE_SCALAR_FUNCTION T p##min_(T x, T y) { return x != x ? x : y != y ? y : x < y ? x : y; }          \
  HONE_SCALAR_FUNCTION T p##max_(T x, T y) { return x != x ? x : y != y ? y : x > y ? x : y; }          \
  HONE_SCALAR_FUNCTION T p##sqrt_(T x) { return sqrt##s(x); }                                           \
  HONE_SCALAR_FUNCTION T p##exp_(T x) { return exp##s(x); }                                             \
  HONE_SCALAR_FUNCTION T p##log_(T x) { return log##s(x); }                                             \
  HONE_SCALAR_FUNCTION T p##pow_(T x, T y) { return pow##s(x, y); }                                     \
  HONE_SCALAR_FUNCTION T p##sin_(T x) { return sin##s(x); }                                             \
  HONE_SCALAR_FUNCTION T p##cos_(T x) { return cos##s(x); }                                             \
  HONE_SCALAR_FUNCTION T p##tan_(T x) { return tan##s(x); }                                             \
  HONE_SCALAR_FUNCTION T p##asin_(T x) { return asin##s(x); }                                           \
  HONE_SCALAR_FUNCTION T p##acos_(T x) { return acos##s(x); }                                           \
  HONE_SCALAR_FUNCTION T p##atan_(T x) { return atan##s(x); }                                           \
  HONE_SCALAR_FUNCTION T p##sinh_(T x) { return sinh##s(x); }                                           \
  HONE_SCALAR_FUNCTION T p##cosh_(T x) { return cosh##s(x); }                                           \
  HONE_SCALAR_FUNCTION T p##asinh_(T x) { return asinh##s(x); }                                         \
  HONE_SCALAR_FUNCTION T p##acosh_(T x) { return acosh##s(x); }                                         \
  HONE_SCALAR_FUNCTION T p##atanh_(T x) { return atanh##s(x); }                                         \
  HONE_SCALAR_FUNCTION T p##tanh_(T x) { return tanh##s(x); }                                           \
  HONE_SCALAR_FUNCTION T p##erf_(T x) { return erf##s(x); }                                             \
  HONE_SCALAR_FUNCTION T p##floor_(T x) { return floor##s(x); }                                         \
  HONE_SCALAR_FUNCTION T p##ceil_(T x) { return ceil##s(x); }                                           \
  HONE_SCALAR_FUNCTION T p##trunc_(T x) { return trunc##s(x); }                                         \
  HONE_SCALAR_FUNCTION T p##round_(T x) { return rint##s(x); }                                          \
  HONE_SCALAR_FUNCTION T p##sign_(T x) { return x != x ? x : (T)((x > 0) - (x < 0)); }                  \
  HONE_SCALAR_FUNCTION T p##mod_(T x, T y) { return fmod##s(x, y); }                                    \
  HONE_SCALAR_FUNCTION int p##isnan_(T x) { return x != x; }                                            \
  HONE_SCALAR_FUNCTION int p##isinf_(T x) { return x - x != 0 && x == x; }
HONE_SCALAR(float, f32_, f)
HONE_SCALAR(double, f64_, )

/* New text of a run; `used` goes up as threads take room. */
struct texts {
  char *at;
  uint64_t used, size;
};

/* Whether flat place u of dense dims lies within the actual sizes: numbers[d] is the place of a dimension's
   in extents, 0: it is dims[d]. */
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
/* The roundings of fixed-point requantisation: see int_rescale of ops. */
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
/* Towards zero; NaN is 0, what does not fit is the nearest int64, narrower types wrap. */
HONE_SCALAR_FUNCTION int64_t cast_i64_(double x) {
  if (x != x) return 0;
  if (x >= 0x1p63) return INT64_MAX;
  if (x <= -0x1p63) return INT64_MIN;
  return (int64_t)x;
}
HONE_SCALAR_FUNCTION uint64_t cast_u64_(double x) {
  return x >= 0x1p64 ? UINT64_MAX : x >= 0x1p63 ? (uint64_t)x : (uint64_t)cast_i64_(x);
}
