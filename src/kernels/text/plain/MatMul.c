/* MatMul with NumPy rules: batch dimensions broadcast, a vector is a row on the left and a column on
 * the right. Row updates; integers wrap. */
#if OUT0_TYPE == 1 /* f32 */
#define ACC float
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#elif OUT0_TYPE == 7 || OUT0_TYPE == 13 /* 64-bit integers */
#define ACC uint64_t
#else
#define ACC uint32_t
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict a = in[0];
  const IN1_T *restrict b = in[1];
  OUT0_T *restrict c = out[0];
  const int64_t a_dims[] = IN0_DIMS, b_dims[] = IN1_DIMS;
  const int64_t m = IN0_RANK > 1 ? a_dims[IN0_RANK > 1 ? IN0_RANK - 2 : 0] : 1;
  const int64_t k = a_dims[IN0_RANK - 1];
  const int64_t n = IN1_RANK > 1 ? b_dims[IN1_RANK - 1] : 1;
  enum {
    A_BATCH = IN0_RANK > 2 ? IN0_RANK - 2 : 0,
    B_BATCH = IN1_RANK > 2 ? IN1_RANK - 2 : 0,
    BATCH = A_BATCH > B_BATCH ? A_BATCH : B_BATCH
  };
  int64_t dims[17] = {0}, a_step[17] = {0}, b_step[17] = {0};
  int64_t a_size = m * k, b_size = k * n;
  (void)scratch;
  for (int i = BATCH - 1; i >= 0; i--) {
    const int ia = i - (BATCH - A_BATCH), ib = i - (BATCH - B_BATCH);
    const int64_t da = ia >= 0 ? a_dims[ia] : 1, db = ib >= 0 ? b_dims[ib] : 1;
    dims[i] = da == 1 ? db : da;
    a_step[i] = da == 1 ? 0 : a_size;
    b_step[i] = db == 1 ? 0 : b_size;
    a_size *= da;
    b_size *= db;
  }
  for (int64_t u = begin; u < end; u++) { /* one row of the result */
    int64_t rest = u / m, a_at = 0, b_at = 0;
    const int64_t i = u % m;
    for (int d = BATCH - 1; d >= 0; rest /= dims[d], d--) {
      a_at += rest % dims[d] * a_step[d];
      b_at += rest % dims[d] * b_step[d];
    }
    for (int64_t j0 = 0; j0 < n; j0 += 64) {
      const int64_t width = n - j0 < 64 ? n - j0 : 64;
      ACC sum[64] = {0};
      for (int64_t p = 0; p < k; p++) {
        const ACC x = (ACC)a[a_at + i * k + p];
        const IN1_T *restrict row = b + b_at + p * n + j0;
        for (int64_t j = 0; j < width; j++) sum[j] += x * (ACC)row[j];
      }
      for (int64_t j = 0; j < width; j++) c[u * n + j0 + j] = (OUT0_T)sum[j];
    }
  }
  return 0;
}
#undef ACC
