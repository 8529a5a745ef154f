/* Gemm (ONNX): alpha * A' * B' + beta * C, C broadcast to [M, N]. Sums in double for floats. C is not read if beta is 0. */
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
        if (ATTR_beta != 0)
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
