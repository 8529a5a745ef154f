/* SpMM (hone): a sparse matrix in CSR form times rows. Row u of the result is the sum of the rows
 * in0[sources[e]] over e in [starts[u], starts[u + 1]), each times weight[edges[e]] if there are
 * weights: one per edge, or one per head, which is a run of columns. A work item is a row of the
 * result. Sums stay in registers, blocks of columns at a time. Without weights it can also be the
 * maximum of ATTR_start and those rows.
 */
#ifndef ATTR_start
#define ATTR_start -INFINITY
#endif
#if defined ATTR_reduction_IS_max
#define START (OUT0_T) ATTR_start
/* Without a branch, which would be unpredictable. Keeps NaN. */
#define JOIN(a, b) ((a) = (((a) > (b)) | ((a) != (a))) ? (a) : (b))
#else
#define START 0
#define JOIN(a, b) ((a) += (b))
#endif
#if IN_COUNT > 3
#define WEIGHT(e, h) ((OUT0_T)weights[(int64_t)edges[e] * heads + (h)])
#else
#define WEIGHT(e, h) 1
#endif
#define BLOCKS(WIDTH)                                                                 \
  for (; j + WIDTH <= last; j += WIDTH) {                                             \
    OUT0_T sum[WIDTH];                                                                \
    for (int k = 0; k < WIDTH; k++) sum[k] = START;                                   \
    for (int64_t e = starts[u]; e < starts[u + 1]; e++) {                             \
      const int64_t at = sources[e] < 0 ? sources[e] + rows : sources[e];             \
      const IN0_T *restrict from = x + at * width + j;                                \
      const OUT0_T w = WEIGHT(e, h);                                                  \
      for (int k = 0; k < WIDTH; k++) JOIN(sum[k], w * from[k]);                      \
    }                                                                                 \
    memcpy(to + u * width + j, sum, sizeof sum);                                      \
  }
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict starts = in[1];
  const IN2_T *restrict sources = in[2];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, rows = dims[0], width = IN0_COUNT / rows;
#if IN_COUNT > 3
  const IN3_T *restrict weights = in[3];
  const IN4_T *restrict edges = in[4];
  const int64_t heads = IN3_COUNT / IN4_COUNT;
#else
  const int64_t heads = 1;
#endif
  (void)scratch;
  int is_outside = 0;
  for (int64_t e = starts[begin]; e < starts[end]; e++)
    is_outside |= (sources[e] < -rows) | (sources[e] >= rows);
  if (is_outside) return 8;
  /* short rows of several heads: reads the edges once for all of them */
  if (heads > 1 && width <= 64) {
    const int64_t part = width / heads;
    for (int64_t u = begin; u < end; u++) {
      OUT0_T sum[64] = {0};
      for (int64_t e = starts[u]; e < starts[u + 1]; e++) {
        const IN0_T *restrict from = x + (sources[e] < 0 ? sources[e] + rows : sources[e]) * width;
        for (int64_t h = 0; h < heads; h++) {
          const OUT0_T w = WEIGHT(e, h);
          for (int64_t k = h * part; k < (h + 1) * part; k++) sum[k] += w * from[k];
        }
      }
      memcpy(to + u * width, sum, (size_t)width * sizeof *sum);
    }
    return 0;
  }
  for (int64_t u = begin; u < end; u++)
    for (int64_t h = 0, j = 0; h < heads; h++) {
      const int64_t last = width / heads * (h + 1);
      BLOCKS(64)
      BLOCKS(16)
      BLOCKS(8)
      BLOCKS(4)
      /* recomputes some columns instead of a scalar tail */
      if (j < last && width / heads >= 4) j = last - 4;
      BLOCKS(4)
      BLOCKS(1)
    }
  return 0;
}
#undef BLOCKS
#undef WEIGHT
#undef START
#undef JOIN
#undef ATTR_start
