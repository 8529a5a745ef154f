/* SuppressBoxes (hone): boxes in order of score, without those that overlap a better one by a
 * threshold. With a sigma, overlap lowers scores, and a box whose score fell is queued again. The
 * scratch holds the current scores, the candidate boxes, and up to which selected box each has been
 * compared.
 */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const int64_t dims[] = IN1_DIMS, n = dims[0];
  const float *const box = in[0], *const given = in[1];
  const float overlap = *(const float *)in[2], least = *(const float *)in[3];
  const float sigma = *(const float *)in[4], scale = sigma > 0 ? -0.5f / sigma : 0;
  int64_t *const at = scratch, *const from = at + n;
  float *const score = (float *)(from + n);
  int32_t *const chosen = (int32_t *)(score + n);
  int64_t count = 0, found = 0;
  (void)begin, (void)end;
  for (int64_t i = 0; i < n; i++) {
    score[i] = given[i], from[i] = 0;
    if (given[i] > least) at[count++] = i;
  }
  /* a heap with the best on top yields them in order */
#define IS_BEFORE(i, j) (score[i] > score[j] || (score[i] == score[j] && (i) < (j)))
#define SIFT_DOWN(start)                                                \
  for (int64_t p = (start), q; (q = 2 * p + 1) < count; p = q) {        \
    if (q + 1 < count && IS_BEFORE(at[q + 1], at[q])) q++;              \
    if (IS_BEFORE(at[p], at[q])) break;                                 \
    const int64_t swap = at[p];                                         \
    at[p] = at[q], at[q] = swap;                                        \
  }
  for (int64_t i = count / 2; i-- > 0;) SIFT_DOWN(i)
  while (count && found < (ATTR_limit)) {
    const int64_t b = at[0];
    const float before = score[b];
    int is_out = 0;
    for (int64_t k = found; k-- > from[b] && !is_out;) {
      float low[2][2], high[2][2], side[2], share = 0;
      /* products are rounded, not fused into sums: overlaps are compared exactly with thresholds */
      volatile float area[2], common;
      for (int s = 0; s < 2; s++) {
        const float *const c = box + 4 * (s ? (int64_t)chosen[k] : b);
        for (int i = 0; i < 2; i++) {
          low[s][i] = c[i] < c[2 + i] ? c[i] : c[2 + i];
          high[s][i] = c[i] < c[2 + i] ? c[2 + i] : c[i];
        }
        area[s] = (high[s][0] - low[s][0]) * (high[s][1] - low[s][1]);
      }
      for (int i = 0; i < 2; i++)
        side[i] = (high[0][i] < high[1][i] ? high[0][i] : high[1][i]) -
                  (low[0][i] > low[1][i] ? low[0][i] : low[1][i]);
      common = side[0] * side[1];
      const float whole = area[0] + area[1] - common;
      if (side[0] > 0 && side[1] > 0 && area[0] > 0 && area[1] > 0 && whole > 0) share = common / whole;
      is_out = share >= overlap;
      if (is_out) break;
      if (sigma > 0) score[b] *= expf(scale * share * share);
      if (!(score[b] > least)) break;
    }
    from[b] = found;
    if (!is_out && score[b] == before) {
      chosen[found] = (int32_t)b;
      found++, is_out = 1;
    }
    if (is_out || !(score[b] > least)) at[0] = at[--count];
    SIFT_DOWN(0)
  }
#undef SIFT_DOWN
#undef IS_BEFORE
#if OUT0_PRESENT
  for (int64_t i = 0; i < (ATTR_limit); i++) ((int32_t *)out[0])[i] = i < found ? chosen[i] : 0;
#endif
#if OUT_COUNT > 1 && OUT1_PRESENT
  for (int64_t i = 0; i < (ATTR_limit); i++) ((float *)out[1])[i] = i < found ? score[chosen[i]] : 0;
#endif
#if OUT_COUNT > 2 && OUT2_PRESENT
  *(int32_t *)out[2] = (int32_t)found;
#endif
  return 0;
}
