/* StringSplit: the parts of each string, which are not copied, and their number. More parts than
 * the bound end the run.
 */
#ifndef ATTR_maxsplit
#define ATTR_maxsplit -1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *const x = in[0];
  const int64_t dims[] = OUT0_DIMS, room = dims[OUT0_RANK - 1];
  const int64_t most = ATTR_maxsplit < 0 ? INT64_MAX : (int64_t)ATTR_maxsplit + 1;
#ifdef ATTR_delimiter
  static const char delimiter[] = ATTR_delimiter;
  const int64_t cut = (int64_t)sizeof delimiter - 1;
#else
  static const char delimiter[1];
  const int64_t cut = 0;
#endif
  int64_t largest = 0;
  (void)begin, (void)end, (void)scratch;
  for (int64_t i = 0; i < IN0_COUNT; i++) {
    const char *at = x[i].bytes, *const stop = at + x[i].length;
    OUT0_T *const to = (OUT0_T *)out[0] + i * room;
    int64_t count = 0;
    for (int goes_on = 1; goes_on; count++) {
      while (!cut && at < stop && (*at == ' ' || (*at >= '\t' && *at <= '\r'))) at++;
      if (!cut && at == stop) break;
      const char *part = at;
      goes_on = 0;
      for (; part < stop && count + 1 < most; part++) {
        goes_on = cut ? stop - part >= cut && !memcmp(part, delimiter, (size_t)cut)
                      : *part == ' ' || (*part >= '\t' && *part <= '\r');
        if (goes_on) break;
      }
      if (!goes_on) part = stop;
      if (count == room) return 6;
      to[count] = (OUT0_T){at, (uint64_t)(part - at)};
      at = part + (goes_on ? cut ? cut : 1 : 0);
    }
    for (int64_t k = count; k < room; k++) to[k] = (OUT0_T){"", 0};
#if OUT_COUNT > 1 && OUT1_PRESENT
    ((int64_t *)out[1])[i] = count;
#endif
    if (count > largest) largest = count;
  }
  (void)largest;
#ifdef OUT0_OPEN
  const int64_t numbers[] = OUT0_EXTENTS;
  ((int64_t *)out[OUT_COUNT])[numbers[OUT0_RANK - 1]] = largest;
#endif
  return 0;
}
#undef ATTR_maxsplit
