/* Lookup: the index of an element in a sorted list, or the list's length if it is not there.
 * LOOKUP_TEXT: strings, ordered by their bytes. NaN equals itself and is above all numbers.
 */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *const x = in[0];
  const IN1_T *const keys = in[1];
  int64_t *const y = out[0];
  (void)scratch;
  for (int64_t i = begin; i < end; i++) {
    int64_t low = 0, high = IN1_COUNT;
    y[i] = IN1_COUNT;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
#if IN0_IS_TEXT
      const uint64_t a = x[i].length, b = keys[middle].length, n = a < b ? a : b;
      int order = n ? memcmp(x[i].bytes, keys[middle].bytes, n) : 0;
      if (!order) order = (a > b) - (a < b);
#else
      const IN0_T a = x[i], b = keys[middle];
      const int order = a != a || b != b ? (a != a) - (b != b) : (a > b) - (a < b);
#endif
      if (!order) y[i] = middle;
      if (order < 0)
        high = middle;
      else
        low = order ? middle + 1 : high;
    }
  }
  return 0;
}
