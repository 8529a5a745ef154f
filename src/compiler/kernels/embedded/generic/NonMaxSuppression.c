/* NonMaxSuppression: for each image and class, the boxes in order of score, without those that
 * overlap a better one by more than a threshold. The scratch holds the indices of one class's
 * boxes.
 */
#ifndef ATTR_center_point_box
#define ATTR_center_point_box 0
#endif
#define NMS_BEFORE(i, j) (scores[i] > scores[j] || (scores[i] == scores[j] && (i) < (j)))
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const int64_t box_dims[] = IN0_DIMS, score_dims[] = IN1_DIMS;
  const int64_t boxes = box_dims[1], classes = score_dims[1];
  int64_t *const rows = out[0], *const at = scratch;
  int64_t limit = 0, found = 0;
  float overlap = 0;
  (void)begin, (void)end;
#if IN_COUNT > 2 && IN2_PRESENT
  limit = ((const int64_t *)in[2])[0];
  if (limit > boxes) limit = boxes;
#endif
#if IN_COUNT > 3 && IN3_PRESENT
  overlap = ((const float *)in[3])[0];
#endif
  for (int64_t u = 0; u < box_dims[0] * classes && limit > 0; u++) {
    const float *const scores = (const float *)in[1] + u * boxes;
    const float *const box = (const float *)in[0] + u / classes * boxes * 4;
    const int64_t start = found;
    int64_t count = 0;
    for (int64_t i = 0; i < boxes; i++)
#if IN_COUNT > 4 && IN4_PRESENT
      if (scores[i] > ((const float *)in[4])[0])
#else
      if (scores[i] == scores[i])
#endif
        at[count++] = i;
    /* a heap with the best on top yields them in order */
    for (int64_t n = count / 2; n-- > 0;)
      for (int64_t p = n, q; (q = 2 * p + 1) < count; p = q) {
        if (q + 1 < count && NMS_BEFORE(at[q + 1], at[q])) q++;
        if (NMS_BEFORE(at[p], at[q])) break;
        const int64_t swap = at[p];
        at[p] = at[q], at[q] = swap;
      }
    while (count && found - start < limit) {
      const int64_t best = at[0];
      at[0] = at[--count];
      for (int64_t p = 0, q; (q = 2 * p + 1) < count; p = q) {
        if (q + 1 < count && NMS_BEFORE(at[q + 1], at[q])) q++;
        if (NMS_BEFORE(at[p], at[q])) break;
        const int64_t swap = at[p];
        at[p] = at[q], at[q] = swap;
      }
      int is_free = 1;
      for (int64_t k = start; k < found && is_free; k++) {
        float low[2][2], high[2][2], area[2];
        for (int s = 0; s < 2; s++) {
          const float *const b = box + 4 * (s ? best : rows[3 * k + 2]);
          for (int i = 0; i < 2; i++) {
            const float half = b[3 - i] / 2.0f;
            const float l = ATTR_center_point_box ? b[1 - i] - half : b[i];
            const float h = ATTR_center_point_box ? b[1 - i] + half : b[2 + i];
            low[s][i] = l < h ? l : h, high[s][i] = l < h ? h : l;
          }
          area[s] = (high[s][0] - low[s][0]) * (high[s][1] - low[s][1]);
        }
        float side[2];
        for (int i = 0; i < 2; i++)
          side[i] = (high[0][i] < high[1][i] ? high[0][i] : high[1][i]) -
                    (low[0][i] > low[1][i] ? low[0][i] : low[1][i]);
        if (!(side[0] > 0) || !(side[1] > 0)) continue;
        const float common = side[0] * side[1], whole = area[0] + area[1] - common;
        is_free = !(area[0] > 0 && area[1] > 0 && whole > 0 && common / whole > overlap);
      }
      if (!is_free) continue;
      rows[3 * found] = u / classes, rows[3 * found + 1] = u % classes, rows[3 * found + 2] = best;
      found++;
    }
  }
#ifdef OUT0_OPEN
  const int64_t numbers[] = OUT0_EXTENTS;
  ((int64_t *)out[OUT_COUNT])[numbers[0]] = found;
#endif
  return 0;
}
#undef NMS_BEFORE
#undef ATTR_center_point_box
