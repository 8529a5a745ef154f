/* PadStrings (hone): the last axis as long as the result's, empty strings behind what is there; a unit is a row. */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *const x = in[0];
  OUT0_T *const y = out[0];
  const int64_t dims[] = IN0_DIMS, to[] = OUT0_DIMS, room = dims[IN0_RANK - 1], length = to[OUT0_RANK - 1];
  int64_t actual = room;
#ifdef IN0_OPEN
  const int64_t numbers[] = IN0_EXTENTS;
  if (numbers[IN0_RANK - 1]) actual = ((const int64_t *)out[OUT_COUNT])[numbers[IN0_RANK - 1]];
#endif
  (void)scratch;
  for (int64_t u = begin; u < end; u++)
    for (int64_t k = 0; k < length; k++)
      y[u * length + k] = k < actual ? x[u * room + k] : (OUT0_T){"", 0};
  return 0;
}
