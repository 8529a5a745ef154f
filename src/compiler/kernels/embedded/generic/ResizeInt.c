/* ResizeInt (hone): bilinear resize of integers; positions and weights per row and column. A work
 * item is one row of the result. The neighbours of all columns are computed once for all rows
 * between the same two.
 */
#if !defined __clang__
__attribute__((optimize("fp-contract=off")))
#endif
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
#if IN0_TYPE == 2 || IN0_TYPE == 3
#include "generic/resize_int8.h"
#endif
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
      /* Each product is rounded before it is added, even if the compiler could fuse them: a
         difference of half a unit would change the result. */
#if defined __clang__
#pragma clang fp contract(off)
#endif
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
