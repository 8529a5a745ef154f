/* Unique: slices along an axis (single elements without one) in sorted order or in order of first
 * occurrence. NaN is the largest number and equal to itself. The scratch holds five lists of
 * slices.
 */
#ifndef ATTR_sorted
#define ATTR_sorted 1
#endif
#define UNIQUE_AT(i) x[(o * length + (i)) * inner + k]
#ifdef OUT0_OPEN /* all outputs of data-dependent size have the same size */
#define UNIQUE_SIZE ((const int64_t[])OUT0_EXTENTS)[axis]
#elif defined OUT1_OPEN
#define UNIQUE_SIZE ((const int64_t[])OUT1_EXTENTS)[0]
#elif defined OUT3_OPEN
#define UNIQUE_SIZE ((const int64_t[])OUT3_EXTENTS)[0]
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  int64_t outer = 1, length = IN0_COUNT, inner = 1, count = 0;
  (void)begin, (void)end;
  int axis = 0;
#ifdef ATTR_axis
  const int64_t dims[] = IN0_DIMS;
  axis = (int)(ATTR_axis < 0 ? ATTR_axis + IN0_RANK : ATTR_axis);
  length = dims[axis];
  for (int d = 0; d < axis; d++) outer *= dims[d];
  for (int d = axis + 1; d < IN0_RANK; d++) inner *= dims[d];
#endif
  int64_t *a = scratch, *b = a + length, *first = b + length, *inverse = first + length;
  int64_t *counts = inverse + length;
  for (int64_t i = 0; i < length; i++) a[i] = i;
  for (int64_t width = 1; width < length; width *= 2) { /* merge sort */
    for (int64_t from = 0; from < length; from += 2 * width) {
      const int64_t middle = from + width < length ? from + width : length;
      const int64_t last = from + 2 * width < length ? from + 2 * width : length;
      int64_t p = from, q = middle;
      for (int64_t to = from; to < last; to++) {
        int takes_second = p >= middle;
        if (!takes_second && q < last) {
          int order = 0;
          for (int64_t o = 0; o < outer && !order; o++)
            for (int64_t k = 0; k < inner && !order; k++) {
              const IN0_T l = UNIQUE_AT(a[p]), r = UNIQUE_AT(a[q]);
              order = l != l || r != r ? (l != l) - (r != r) : (l > r) - (l < r);
            }
          takes_second = order > 0;
        }
        b[to] = takes_second ? a[q++] : a[p++];
      }
    }
    int64_t *const swap = a;
    a = b, b = swap;
  }
  for (int64_t i = 0; i < length; i++) {
    int differs = i == 0;
    for (int64_t o = 0; o < outer && !differs; o++)
      for (int64_t k = 0; k < inner && !differs; k++) {
        const IN0_T l = UNIQUE_AT(a[i - 1]), r = UNIQUE_AT(a[i]);
        differs = l != r && !(l != l && r != r);
      }
    if (differs) counts[count] = 0, first[count++] = a[i];
    inverse[a[i]] = count - 1;
    counts[count - 1]++;
  }
  if (!(ATTR_sorted)) { /* renumbered by first occurrence; b: old number to new */
    int64_t next = 0;
    for (int64_t i = 0; i < length; i++)
      if (first[inverse[i]] == i) b[inverse[i]] = next++;
    for (int64_t i = 0; i < length; i++) inverse[i] = b[inverse[i]], counts[inverse[i]] = 0;
    for (int64_t i = length; i-- > 0;) first[inverse[i]] = i, counts[inverse[i]]++;
  }
  (void)axis;
#ifdef UNIQUE_SIZE
  ((int64_t *)out[OUT_COUNT])[UNIQUE_SIZE] = count;
#endif
#if OUT0_PRESENT
  const int64_t to_dims[] = OUT0_DIMS;
  OUT0_T *restrict y = out[0];
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < count; i++)
      memcpy(y + (o * to_dims[axis] + i) * inner, x + (o * length + first[i]) * inner, (size_t)inner * sizeof *y);
#endif
#if OUT_COUNT > 1 && OUT1_PRESENT
  memcpy(out[1], first, (size_t)count * sizeof *first);
#endif
#if OUT_COUNT > 2 && OUT2_PRESENT
  memcpy(out[2], inverse, (size_t)length * sizeof *inverse);
#endif
#if OUT_COUNT > 3 && OUT3_PRESENT
  memcpy(out[3], counts, (size_t)count * sizeof *counts);
#endif
  return 0;
}
#undef UNIQUE_AT
#undef UNIQUE_SIZE
#undef ATTR_sorted
