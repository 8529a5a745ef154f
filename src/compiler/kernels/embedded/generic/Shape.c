/* Shape and Size: SHAPE_SIZE is 0 or 1. */
#ifndef ATTR_start
#define ATTR_start 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  (void)begin, (void)end;
  const int64_t dims[] = IN0_DIMS;
  int64_t start = ATTR_start;
  (void)in, (void)scratch, (void)dims;
  if (start < 0) start = start < -IN0_RANK ? 0 : start + IN0_RANK;
  if (SHAPE_SIZE) {
    *(int64_t *)out[0] = IN0_COUNT;
    return 0;
  }
  for (int64_t k = 0; k < OUT0_COUNT; k++) ((int64_t *)out[0])[k] = dims[start + k];
#ifdef IN0_OPEN
  const int64_t *extents = out[OUT_COUNT], numbers[] = IN0_EXTENTS;
  for (int64_t k = 0; k < OUT0_COUNT; k++)
    if (numbers[start + k]) ((int64_t *)out[0])[k] = extents[numbers[start + k]];
#endif
  return 0;
}
#undef ATTR_start
