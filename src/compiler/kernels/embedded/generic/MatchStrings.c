/* MatchStrings: a table of states; a byte leads from a state to the next. No byte leaves row 0, row
 * 1 is the start, the last column is 1 if the string may end in that state.
 */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *const x = in[0];
  const IN1_T *const table = in[1];
  OUT0_T *const y = out[0];
  const int64_t dims[] = IN1_DIMS;
  (void)scratch;
  for (int64_t i = begin; i < end; i++) {
    int64_t state = 1;
    for (uint64_t k = 0; k < x[i].length && state; k++)
      state = table[state * dims[1] + (unsigned char)x[i].bytes[k]];
    y[i] = table[state * dims[1] + dims[1] - 1] != 0;
  }
  return 0;
}
