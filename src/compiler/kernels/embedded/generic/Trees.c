/* Trees (hone): a forest as tables, see core/ops/ml. A work item is a row. WALKS trees are walked
 * together, so that their loads overlap: a single walk would stall at each node.
 */
#ifndef ATTR_targets
#define ATTR_targets 1
#endif
#ifndef ATTR_aggregate
#define ATTR_aggregate 1
#endif
#define WALKS 8
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict rows = in[0];
  const int32_t *restrict nodes = in[1], *restrict roots = in[3], *restrict starts = in[4];
  const IN2_T *restrict splits = in[2];
  const int32_t *restrict targets = in[5];
  const IN6_T *restrict weights = in[6];
  const int64_t dims[] = IN0_DIMS, features = dims[1];
  (void)scratch;
  for (int64_t row = begin; row < end; row++) {
    const IN0_T *restrict x = rows + row * features;
    OUT0_T *restrict y = (OUT0_T *)out[0] + row * ATTR_targets;
    unsigned char seen[ATTR_targets] = {0};
    for (int64_t k = 0; k < ATTR_targets; k++) y[k] = 0;
    for (int64_t tree = 0; tree < IN3_COUNT; tree += WALKS) {
      const int count = IN3_COUNT - tree < WALKS ? (int)(IN3_COUNT - tree) : WALKS;
      int32_t at[WALKS];
      for (int k = 0; k < WALKS; k++) at[k] = k < count ? roots[tree + k] : -1;
      for (int walking = 1; walking;) {
        walking = 0;
        for (int k = 0; k < WALKS; k++) {
          const int64_t n = at[k] < 0 ? 0 : at[k];
          const int32_t word = nodes[3 * n];
          const IN0_T v = x[word >> 1];
          const int no = !(v <= splits[n]) & !((v != v) & word);
          const int32_t next = nodes[3 * n + 1 + no];
          at[k] = at[k] < 0 ? at[k] : next;
          walking |= at[k] >= 0;
        }
      }
      for (int k = 0; k < count; k++) {
        const int64_t leaf = ~at[k];
        for (int64_t w = starts[leaf]; w < starts[leaf + 1]; w++) {
          const int64_t t = targets[w];
          const OUT0_T weight = weights[w];
          if (ATTR_aggregate < 2)
            y[t] += weight;
          else if (!seen[t] || (ATTR_aggregate == 2 ? weight < y[t] : weight > y[t]))
            y[t] = weight;
          seen[t] = 1;
        }
      }
    }
    for (int64_t k = 0; ATTR_aggregate == 0 && k < ATTR_targets; k++) y[k] /= (OUT0_T)IN3_COUNT;
  }
  return 0;
}
#undef WALKS
#undef ATTR_targets
#undef ATTR_aggregate
