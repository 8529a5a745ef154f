/* NormalizeStrings: removes stop words and changes the case (ATTR_case 1: lower, 2: upper). New
 * strings are appended to out[OUT_COUNT + 1].
 */
#ifndef ATTR_is_case_sensitive
#define ATTR_is_case_sensitive 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *const x = in[0], *const words = in[1];
  OUT0_T *const y = out[0];
  int64_t found = 0;
  (void)begin, (void)end, (void)scratch;
  for (int64_t i = 0; i < IN0_COUNT; i++) {
    int is_stop = 0;
    for (int64_t k = 0; k < IN1_COUNT && !is_stop; k++) {
      is_stop = x[i].length == words[k].length;
      for (uint64_t c = 0; c < x[i].length && is_stop; c++)
        is_stop = ATTR_is_case_sensitive ? x[i].bytes[c] == words[k].bytes[c]
                                         : text_case_(x[i].bytes, x[i].length, c, 0) ==
                                               text_case_(words[k].bytes, words[k].length, c, 0);
    }
    if (is_stop) continue;
    y[found] = x[i];
    if (ATTR_case && x[i].length) {
      char *const to = text_room_(out[OUT_COUNT + 1], x[i].length, 0);
      if (!to) return 6;
      for (uint64_t c = 0; c < x[i].length; c++)
        to[c] = text_case_(x[i].bytes, x[i].length, c, ATTR_case == 2);
      y[found].bytes = to;
    }
    found++;
  }
  if (!found) y[found++] = (OUT0_T){"", 0};
#ifdef OUT0_OPEN
  const int64_t numbers[] = OUT0_EXTENTS;
  /* valid empty strings for later readers */
  for (int64_t i = found; i < OUT0_COUNT; i++) y[i] = (OUT0_T){"", 0};
  ((int64_t *)out[OUT_COUNT])[numbers[0]] = found;
#endif
  return 0;
}
#undef ATTR_is_case_sensitive
