/* StringEqual and StringConcat of operands that broadcast: STRING_CONCAT is 0 or 1. New strings are
 * appended to out[OUT_COUNT + 1]. A work item is a row of the output.
 */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *const a = in[0];
  const IN1_T *const b = in[1];
  OUT0_T *const y = out[0];
  const int64_t a_dims[] = IN0_DIMS, b_dims[] = IN1_DIMS, dims[] = OUT0_DIMS;
  const int64_t width = OUT0_RANK ? dims[OUT0_RANK ? OUT0_RANK - 1 : 0] : 1;
  (void)scratch, (void)dims;
  for (int64_t i = begin * width; i < end * width; i++) {
    int64_t rest = i, p = 0, q = 0, a_stride = 1, b_stride = 1;
    for (int k = 1; k <= OUT0_RANK; k++) {
      const int64_t at = rest % dims[OUT0_RANK - k];
      rest /= dims[OUT0_RANK - k];
      if (k <= IN0_RANK) {
        p += a_dims[IN0_RANK - k] == 1 ? 0 : at * a_stride;
        a_stride *= a_dims[IN0_RANK - k];
      }
      if (k <= IN1_RANK) {
        q += b_dims[IN1_RANK - k] == 1 ? 0 : at * b_stride;
        b_stride *= b_dims[IN1_RANK - k];
      }
    }
#if STRING_CONCAT
    char *const to = text_room_(out[OUT_COUNT + 1], a[p].length, b[q].length);
    if (!to) return 6;
    if (a[p].length) memcpy(to, a[p].bytes, a[p].length);
    if (b[q].length) memcpy(to + a[p].length, b[q].bytes, b[q].length);
    y[i] = (OUT0_T){to, a[p].length + b[q].length};
#else
    y[i] = a[p].length == b[q].length && (!a[p].length || !memcmp(a[p].bytes, b[q].bytes, a[p].length));
#endif
  }
  return 0;
}
