/* TopK: a stable merge sort of indices along the axis; NaN is the largest number. The scratch holds
 * two lists of indices.
 */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
#ifndef ATTR_largest
#define ATTR_largest 1
#endif
#ifndef ATTR_sorted
#define ATTR_sorted 1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *x = in[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  const int64_t length = dims[axis], k = to_dims[axis];
  int64_t inner = 1, *a = scratch, *b = a + length;
  if ((int64_t)((const IN1_T *)in[1])[0] != k) return 8;
  for (int d = axis + 1; d < IN0_RANK; d++) inner *= dims[d];
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES;
  for (int64_t u = begin * PLAIN_LINES; u < end * PLAIN_LINES; u++) {
    const int64_t o = u / PLAIN_LINES / blocks, i = u / PLAIN_LINES % blocks * PLAIN_LINES + u % PLAIN_LINES;
    if (i >= inner) continue;
    const IN0_T *from = x + o * length * inner + i;
    for (int64_t d = 0; d < length; d++) a[d] = d;
    for (int64_t width = 1; width < length; width *= 2) {
      for (int64_t begin = 0; begin < length; begin += 2 * width) {
        const int64_t middle = begin + width < length ? begin + width : length;
        const int64_t end = begin + 2 * width < length ? begin + 2 * width : length;
        int64_t p = begin, q = middle;
        for (int64_t d = begin; d < end; d++) {
          int takes_second = p == middle;
          if (p < middle && q < end) {
            const IN0_T u = from[a[p] * inner], v = from[a[q] * inner];
            takes_second = ATTR_largest ? (v > u || (v != v && u == u)) : (v < u || (u != u && v == v));
          }
          b[d] = takes_second ? a[q++] : a[p++];
        }
      }
      int64_t *swap = a;
      a = b;
      b = swap;
    }
    if (!ATTR_sorted) /* the selected ones in the order of the input */
      for (int64_t p = 1; p < k; p++) {
        const int64_t place = a[p];
        int64_t q = p;
        for (; q > 0 && a[q - 1] > place; q--) a[q] = a[q - 1];
        a[q] = place;
      }
    for (int64_t d = 0; d < k; d++) {
      const int64_t to = (o * k + d) * inner + i;
      if (OUT0_PRESENT) ((OUT0_T *)out[0])[to] = from[a[d] * inner];
#if OUT_COUNT > 1 && OUT1_PRESENT
      ((OUT1_T *)out[1])[to] = a[d];
#endif
    }
  }
  return 0;
}
#undef ATTR_axis
#undef ATTR_largest
#undef ATTR_sorted
