/* Shared by operators along one axis, from the function's head to one work item of units_lines,
 * which the including source closes: `width` adjacent lines of `length` elements, `inner` apart,
 * from `from` on.
 */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  const int64_t length = IN0_RANK ? dims[axis] : 1;
  (void)scratch;
  int64_t inner = 1;
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES;
  for (int64_t u = begin; u < end; u++) {
    const int64_t o = u / blocks, i = u % blocks * PLAIN_LINES;
    const int64_t width = inner - i < PLAIN_LINES ? inner - i : PLAIN_LINES;
    const IN0_T *restrict from = x + o * length * inner + i;
