/* student: Student's distribution for integer degrees of freedom. Source: Abramowitz & Stegun
 * 26.7.3, 26.7.4; the quantile by bisection, which is accurate enough and cannot fail. */
#include "stats.h"

#include <math.h>

/* P(|T| <= t) for integer degrees of freedom. */
static double student_two_sided(double t, int freedom) {
  const double angle = atan(t / sqrt(freedom)), c = cos(angle), s = sin(angle);
  double term = freedom % 2 ? c : 1, sum = freedom == 1 ? 0 : term;
  for (int k = freedom % 2 ? 3 : 2; k <= freedom - 2; k += 2) {
    term *= c * c * (k - 1) / k;
    sum += term;
  }
  return freedom % 2 ? 2 / M_PI * (angle + s * sum) : s * sum;
}

double student_quantile(double confidence, int freedom) {
  double low = 0, high = 1e9;
  for (int i = 0; i < 200; i++) {
    const double middle = (low + high) / 2;
    if (student_two_sided(middle, freedom) < confidence)
      low = middle;
    else
      high = middle;
  }
  return high;
}

struct interval student_interval(const double *x, size_t n, double confidence) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) sum += x[i];
  struct interval out = {sum / (double)n, NAN, NAN};
  if (n < 2) return out;
  for (size_t i = 0; i < n; i++) squares += (x[i] - out.value) * (x[i] - out.value);
  const double half = student_quantile(confidence, (int)fmin((double)n - 1, 1000)) *
                      sqrt(squares / (double)(n - 1) / (double)n);
  out.low = out.value - half;
  out.high = out.value + half;
  return out;
}
