/* FindTokens (hone): the longest parts of each string that a state table accepts, leftmost first,
 * or (ATTR_cuts) the parts between them, with ATTR_marks between a "\2" and a "\3"; the rest is
 * filled with input 2. More parts than the bound end the run.
 */
#ifndef ATTR_cuts
#define ATTR_cuts 0
#endif
#ifndef ATTR_least
#define ATTR_least 1
#endif
#ifndef ATTR_marks
#define ATTR_marks 0
#endif
#define COLUMNS 259
#define IS_WORD(c) ((c) == '_' || ((c) >= '0' && (c) <= '9') || (((c) | 32) >= 'a' && ((c) | 32) <= 'z'))
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *const x = in[0];
  const IN1_T *const table = in[1];
  const IN2_T rest = ((const IN2_T *)in[2])[0];
  static const int64_t starts[] = ATTR_starts;
  const int64_t dims[] = OUT0_DIMS, room = dims[OUT0_RANK - 1];
  int64_t largest = 0;
  (void)begin, (void)end, (void)scratch;
  for (int64_t i = 0; i < IN0_COUNT; i++) {
    const unsigned char *const bytes = (const unsigned char *)x[i].bytes;
    const int64_t length = (int64_t)x[i].length;
    OUT0_T *const to = (OUT0_T *)out[0] + i * room;
    int64_t count = 0, from = 0; /* from: end of the last match */
    if (room < 2 * ATTR_marks) return 6;
    if (ATTR_marks) to[count++] = (OUT0_T){"\2", 1};
    for (int64_t at = 0; at <= length;) {
      int64_t stop = at;
      int64_t state = at < length ? starts[at == 0 ? 0 : IS_WORD(bytes[at - 1]) ? 2 : 1] : 0;
      for (int64_t k = at; state; k++) {
        const IN1_T *const row = table + state * COLUMNS;
        if (row[k == length ? 256 : IS_WORD(bytes[k]) ? 257 : 258]) stop = k;
        state = k == length ? 0 : row[bytes[k]];
      }
      if (stop > at || (ATTR_cuts && at == length)) {
        const int64_t low = ATTR_cuts ? from : at, high = ATTR_cuts ? at : stop;
        int64_t characters = 0;
        for (int64_t k = low; k < high; k++) characters += (bytes[k] & 0xc0) != 0x80;
        if (high > low && characters >= ATTR_least) {
          if (count + ATTR_marks >= room) return 6;
          to[count++] = (OUT0_T){x[i].bytes + low, (uint64_t)(high - low)};
        }
        from = stop;
      }
      if (stop > at)
        at = stop;
      else
        do at++;
        while (at < length && (bytes[at] & 0xc0) == 0x80);
    }
    if (ATTR_marks) to[count++] = (OUT0_T){"\3", 1};
    for (int64_t k = count; k < room; k++) to[k] = rest;
    if (count > largest) largest = count;
  }
#ifdef OUT0_OPEN
  const int64_t numbers[] = OUT0_EXTENTS;
  ((int64_t *)out[OUT_COUNT])[numbers[OUT0_RANK - 1]] = largest;
#endif
  return 0;
}
#undef ATTR_cuts
#undef ATTR_least
#undef ATTR_marks
#undef COLUMNS
#undef IS_WORD
