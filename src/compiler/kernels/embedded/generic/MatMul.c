/* MatMul with NumPy rules: batch dimensions broadcast, a vector is a row on the left and a column
 * on the right. Row updates; integers wrap around.
 */
#if OUT0_TYPE == 1 /* f32 */
#define ACC float
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#elif OUT0_TYPE == 7 || OUT0_TYPE == 13 /* 64-bit integers */
#define ACC uint64_t
#else
#define ACC uint32_t
#endif
#define B_AT 1
#define B_T IN1_T
#define B_RANK IN1_RANK
#define B_DIMS IN1_DIMS
#include "generic/batches.h"
    for (int64_t j0 = 0; j0 < n; j0 += 64) {
      const int64_t width = n - j0 < 64 ? n - j0 : 64;
      ACC sum[64] = {0};
      for (int64_t p = 0; p < k; p++) {
        const ACC x = (ACC)a[a_at + i * k + p];
        const B_T *restrict row = b + b_at + p * n + j0;
        for (int64_t j = 0; j < width; j++) sum[j] += x * (ACC)row[j];
      }
      for (int64_t j = 0; j < width; j++) c[u * n + j0 + j] = (OUT0_T)sum[j];
    }
  }
  return 0;
}
#undef ACC
#undef B_AT
#undef B_T
#undef B_RANK
#undef B_DIMS
