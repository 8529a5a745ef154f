/* MatMul with NumPy rules: batch dimensions broadcast, a vector is a row on the left and a column on
 * the right. Row updates; integers wrap. */
#define ACC __typeof__(_Generic((OUT0_T)0, float: 0.0f, double: 0.0, default: (uint64_t)0))
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *a = in[0];
  const IN1_T *b = in[1];
  OUT0_T *c = out[0];
  const int64_t a_dims[] = IN0_DIMS, b_dims[] = IN1_DIMS;
  const int64_t m = IN0_RANK > 1 ? a_dims[IN0_RANK > 1 ? IN0_RANK - 2 : 0] : 1;
  const int64_t k = a_dims[IN0_RANK - 1];
  const int64_t n = IN1_RANK > 1 ? b_dims[IN1_RANK - 1] : 1;
  enum {
    A_BATCH = IN0_RANK > 2 ? IN0_RANK - 2 : 0,
    B_BATCH = IN1_RANK > 2 ? IN1_RANK - 2 : 0,
    BATCH = A_BATCH > B_BATCH ? A_BATCH : B_BATCH
  };
  int64_t dims[17] = {0}, a_step[17] = {0}, b_step[17] = {0}, at[17] = {0}, batches = 1;
  int64_t a_size = m * k, b_size = k * n, a_at = 0, b_at = 0;
  (void)scratch;
  for (int i = BATCH - 1; i >= 0; i--) {
    const int ia = i - (BATCH - A_BATCH), ib = i - (BATCH - B_BATCH);
    const int64_t da = ia >= 0 ? a_dims[ia] : 1, db = ib >= 0 ? b_dims[ib] : 1;
    dims[i] = da == 1 ? db : da;
    a_step[i] = da == 1 ? 0 : a_size;
    b_step[i] = db == 1 ? 0 : b_size;
    a_size *= da;
    b_size *= db;
    batches *= dims[i];
  }
  for (int64_t batch = 0; batch < batches; batch++, c += m * n) {
    for (int64_t i = 0; i < m; i++)
      for (int64_t j0 = 0; j0 < n; j0 += 64) {
        const int64_t width = n - j0 < 64 ? n - j0 : 64;
        ACC sum[64] = {0};
        for (int64_t p = 0; p < k; p++) {
          const ACC x = (ACC)a[a_at + i * k + p];
          const IN1_T *row = b + b_at + p * n + j0;
          for (int64_t j = 0; j < width; j++) sum[j] += x * (ACC)row[j];
        }
        for (int64_t j = 0; j < width; j++) c[i * n + j0 + j] = (OUT0_T)sum[j];
      }
    for (int i = BATCH - 1; i >= 0; i--) {
      a_at += a_step[i];
      b_at += b_step[i];
      if (++at[i] < dims[i]) break;
      a_at -= a_step[i] * dims[i];
      b_at -= b_step[i] * dims[i];
      at[i] = 0;
    }
  }
  return 0;
}
#undef ACC
