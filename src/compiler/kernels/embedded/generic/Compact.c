/* Compact: copies a value from the strides of its bounds to dense strides of its actual sizes; a
 * work item is a row of the bounds.
 */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t *extents = out[OUT_COUNT], numbers[] = IN0_EXTENTS, dims[] = IN0_DIMS;
  int64_t sizes[IN0_RANK];
  (void)scratch;
  for (int d = 0; d < IN0_RANK; d++) sizes[d] = numbers[d] ? extents[numbers[d]] : dims[d];
  const int64_t row = sizes[IN0_RANK - 1];
  for (int64_t u = begin; u < end; u++) {
    int64_t rest = u, to = 0, stride = 1;
    int is_inside = 1;
    for (int d = IN0_RANK - 2; d >= 0; d--) {
      is_inside &= rest % dims[d] < sizes[d];
      to += rest % dims[d] * stride;
      stride *= sizes[d];
      rest /= dims[d];
    }
    if (is_inside && row) memcpy(y + to * row, x + u * dims[IN0_RANK - 1], (size_t)row * sizeof *y);
  }
  return 0;
}
