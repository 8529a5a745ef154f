/* The closed set of helpers that elementwise expressions may use, in double. Masks are 1.0 and 0.0.
 * The same names exist for vectors in the kernels; both must mean the same:
 *   min_, max_   a NaN operand gives NaN, of    round_   half to even
 *                0 and -0 the first is taken
 *   expm1_       as of 88 above it             log1p_   of 0 to 1 alone
 *   sign_        sign of NaN is NaN             select_  a where the mask holds, else b
 */
#ifndef HONE_OPS_HELPERS_DOUBLE_H
#define HONE_OPS_HELPERS_DOUBLE_H

#include <math.h>
#include <stdbool.h>

#define C(k) ((double)(k))

static inline double abs_(double x) { return fabs(x); }
static inline double min_(double x, double y) {
  return isnan(x) ? x : isnan(y) ? y : y < x ? y : x;
}
static inline double max_(double x, double y) {
  return isnan(x) ? x : isnan(y) ? y : y > x ? y : x;
}
static inline double sqrt_(double x) { return sqrt(x); }
static inline double exp_(double x) { return exp(x); }
static inline double expm1_(double x) { return expm1(x); }
static inline double log_(double x) { return log(x); }
static inline double log1p_(double x) { return log1p(x); }
static inline double pow_(double x, double y) { return pow(x, y); }
static inline double sin_(double x) { return sin(x); }
static inline double cos_(double x) { return cos(x); }
static inline double tan_(double x) { return tan(x); }
static inline double asin_(double x) { return asin(x); }
static inline double acos_(double x) { return acos(x); }
static inline double atan_(double x) { return atan(x); }
static inline double sinh_(double x) { return sinh(x); }
static inline double cosh_(double x) { return cosh(x); }
static inline double asinh_(double x) { return asinh(x); }
static inline double acosh_(double x) { return acosh(x); }
static inline double atanh_(double x) { return atanh(x); }
static inline double tanh_(double x) { return tanh(x); }
static inline double erf_(double x) { return erf(x); }
static inline double floor_(double x) { return floor(x); }
static inline double ceil_(double x) { return ceil(x); }
static inline double trunc_(double x) { return trunc(x); }
static inline double sign_(double x) { return isnan(x) ? x : (double)((x > 0) - (x < 0)); }
/* The result does not depend on the rounding mode. */
static inline double round_(double x) {
  if (!(fabs(x) < 0x1p52)) return x;
  double down = floor(x), rest = x - down;
  double y = rest > 0.5 || (rest == 0.5 && fmod(down, 2.0) != 0.0) ? down + 1.0 : down;
  return copysign(y, x);
}
static inline double select_(double mask, double a, double b) { return mask != 0.0 ? a : b; }
static inline double lt_(double x, double y) { return x < y; }
static inline double le_(double x, double y) { return x <= y; }
static inline double eq_(double x, double y) { return x == y; }
static inline double isnan_(double x) { return isnan(x) ? 1.0 : 0.0; }
static inline double isinf_(double x) { return isinf(x) ? 1.0 : 0.0; }
static inline double not_(double x) { return x == 0.0; }
static inline double and_(double x, double y) { return x != 0.0 && y != 0.0; }
static inline double or_(double x, double y) { return x != 0.0 || y != 0.0; }

#endif
