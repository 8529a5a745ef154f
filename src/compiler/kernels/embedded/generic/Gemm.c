/* Gemm (ONNX): alpha * A' * B' + beta * C, C broadcast to [M, N] and not read if beta is 0. Sums in
 * double for floats; integers wrap around, and are truncated if alpha or beta is not whole.
 */
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
#if IN0_TYPE == 1 || IN0_TYPE == 11
#define SUM_T double
#define TERM(x) ((double)(x))
#define SIGNED(x) (x)
#else
#define SUM_T uint64_t
#define TERM(x) ((uint64_t)(x))
#define SIGNED(x) ((double)(int64_t)(x))
#endif
#define IS_WHOLE(x) ((double)(x) == (double)(int64_t)(x))
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  static const int64_t a_dims[] = IN0_DIMS, y_dims[] = OUT0_DIMS;
  const IN0_T *restrict a = in[0], *restrict b = in[1];
  OUT0_T *restrict y = out[0];
  const int64_t m = y_dims[0], n = y_dims[1], k = ATTR_transA ? a_dims[0] : a_dims[1];
  (void)scratch;
  for (int64_t i = begin; i < end; i++)
    for (int64_t j0 = 0; j0 < n; j0 += 64) {
      const int64_t width = n - j0 < 64 ? n - j0 : 64;
      SUM_T sum[64] = {0};
      if (ATTR_transB)
        for (int64_t j = 0; j < width; j++) {
          SUM_T total = 0;
#pragma omp simd reduction(+ : total)
          for (int64_t p = 0; p < k; p++)
            total += TERM(a[ATTR_transA ? p * m + i : i * k + p]) * TERM(b[(j0 + j) * k + p]);
          sum[j] = total;
        }
      else
        for (int64_t p = 0; p < k; p++) {
          const SUM_T x = TERM(a[ATTR_transA ? p * m + i : i * k + p]);
          for (int64_t j = 0; j < width; j++) sum[j] += x * TERM(b[p * n + j0 + j]);
        }
      for (int64_t j = 0; j < width; j++) {
        IN0_T term = 0;
#if IN_COUNT > 2
#if IN2_PRESENT
        static const int64_t c_dims[] = IN2_DIMS;
        const IN2_T *c = in[2];
        const int64_t rows = IN2_RANK == 2 ? c_dims[0] : 1;
        const int64_t columns = IN2_RANK ? c_dims[IN2_RANK - (IN2_RANK > 0)] : 1;
        if (ATTR_beta != 0) term = c[(rows == 1 ? 0 : i) * columns + (columns == 1 ? 0 : j0 + j)];
#endif
#endif
        const double wide = (double)ATTR_alpha * SIGNED(sum[j]) +
                            (IN_COUNT > 2 ? (double)ATTR_beta * (double)term : -0.0);
#if IN0_TYPE == 1 || IN0_TYPE == 11
        y[i * n + j0 + j] = (OUT0_T)wide;
#else
        if (IS_WHOLE(ATTR_alpha) && IS_WHOLE(ATTR_beta))
          y[i * n + j0 + j] = (OUT0_T)((uint64_t)(int64_t)ATTR_alpha * (uint64_t)sum[j] +
                                       (uint64_t)(int64_t)ATTR_beta * (uint64_t)term);
        else
          y[i * n + j0 + j] = (OUT0_T)(int64_t)wide;
#endif
      }
    }
  return 0;
}
#undef SUM_T
#undef TERM
#undef SIGNED
#undef IS_WHOLE
#undef ATTR_alpha
#undef ATTR_beta
#undef ATTR_transA
#undef ATTR_transB
