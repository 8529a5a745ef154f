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
static int NAME(const void *const *in, void *const *out, void *scratch) {
  static const long a_dims[] = IN0_DIMS, y_dims[] = OUT0_DIMS;
  const IN0_T *a = in[0], *b = in[1];
  OUT0_T *y = out[0];
  const long m = y_dims[0], n = y_dims[1], k = ATTR_transA ? a_dims[0] : a_dims[1];
  (void)scratch;
  for (long i = 0; i < m; i++)
    for (long j = 0; j < n; j++) {
      double sum = 0;
      for (long p = 0; p < k; p++)
        sum += (double)(ATTR_transA ? a[p * m + i] : a[i * k + p]) *
               (double)(ATTR_transB ? b[j * k + p] : b[p * n + j]);
      sum *= (double)ATTR_alpha;
#if IN_COUNT > 2
#if IN2_PRESENT
      {
        static const long c_dims[] = IN2_DIMS;
        const IN2_T *c = in[2];
        const long rows = IN2_RANK == 2 ? c_dims[0] : 1, columns = IN2_RANK ? c_dims[IN2_RANK - (IN2_RANK > 0)] : 1;
        sum += (double)ATTR_beta * (double)c[(rows == 1 ? 0 : i) * columns + (columns == 1 ? 0 : j)];
      }
#endif
#endif
      y[i * n + j] = (OUT0_T)sum;
    }
  return 0;
}
#undef ATTR_alpha
#undef ATTR_beta
#undef ATTR_transA
#undef ATTR_transB
