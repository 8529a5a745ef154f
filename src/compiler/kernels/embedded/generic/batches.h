/* Shared by matmuls: NumPy's rules for batch dimensions, from the function's head to the row of the
 * result, which the including source computes; it closes that row and the function. It defines
 * B_AT, B_T, B_RANK and B_DIMS for operand b. The row is number i of the m rows at a + a_at; the n
 * columns of b begin at b + b_at.
 */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict a = in[0];
  const B_T *restrict b = in[B_AT];
  OUT0_T *restrict c = out[0];
  const int64_t a_dims[] = IN0_DIMS, b_dims[] = B_DIMS;
  const int64_t m = IN0_RANK > 1 ? a_dims[IN0_RANK > 1 ? IN0_RANK - 2 : 0] : 1;
  const int64_t k = a_dims[IN0_RANK - 1];
  const int64_t n = B_RANK > 1 ? b_dims[B_RANK - 1] : 1;
  enum {
    A_BATCH = IN0_RANK > 2 ? IN0_RANK - 2 : 0,
    B_BATCH = B_RANK > 2 ? B_RANK - 2 : 0,
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
