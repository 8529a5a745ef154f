/* Strings: constants, stored as concatenated bytes with the offset of each string, and of the end.
 */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const int64_t *const at = in[0];
  const char *const bytes = in[1];
  OUT0_T *const y = out[0];
  (void)scratch;
  for (int64_t i = begin; i < end; i++) y[i] = (OUT0_T){bytes + at[i], (uint64_t)(at[i + 1] - at[i])};
  return 0;
}
