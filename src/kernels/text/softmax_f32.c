/* c[r] = exp(a[r] - max) / sum over COLUMNS; a unit is a row. Sums run in four accumulators, in an
 * order that depends on COLUMNS and the vector width only. c may be a. */
void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch,
                 long begin, long end) {
  const float *a = a_;
  float *c = c_;
  (void)b_, (void)e, (void)scratch;
  for (long r = begin; r < end; r++) {
    const float *x = a + r * I_STRIDE;
    float *y = c + r * O_STRIDE;
    vec high[4], sum[4];
    UNROLL for (int i = 0; i < 4; i++) high[i] = splat_(-INFINITY), sum[i] = (vec){0};
    long j = 0;
    for (; j + 4 * LANES <= COLUMNS; j += 4 * LANES)
      UNROLL for (int i = 0; i < 4; i++) high[i] = MAX2_(high[i], loadu_(x + j + i * LANES));
    for (; j + LANES <= COLUMNS; j += LANES) high[0] = MAX2_(high[0], loadu_(x + j));
#if COLUMNS % LANES
    high[1] = MAX2_(high[1], fill_lanes_(load_lanes_(x + j, COLUMNS % LANES), COLUMNS % LANES,
                                         splat_(-INFINITY)));
#endif
    const vec top = max_lanes_(MAX2_(MAX2_(high[0], high[1]), MAX2_(high[2], high[3])));
    for (j = 0; j + 4 * LANES <= COLUMNS; j += 4 * LANES)
      UNROLL for (int i = 0; i < 4; i++) {
        vec t = expv_(loadu_(x + j + i * LANES) - top);
        sum[i] += t;
        storeu_(y + j + i * LANES, t);
      }
    for (; j + LANES <= COLUMNS; j += LANES) {
      vec t = expv_(loadu_(x + j) - top);
      sum[0] += t;
      storeu_(y + j, t);
    }
#if COLUMNS % LANES
    vec rest = fill_lanes_(expv_(load_lanes_(x + j, COLUMNS % LANES) - top), COLUMNS % LANES, (vec){0});
    sum[1] += rest;
    store_lanes_(y + j, rest, COLUMNS % LANES);
#endif
    const vec scale = splat_(1.0f) / sum_lanes_((sum[0] + sum[1]) + (sum[2] + sum[3]));
    for (j = 0; j < COLUMNS; j += LANES) {
      const long n = COLUMNS - j < LANES ? COLUMNS - j : LANES;
      vec t = load_lanes_(y + j, n) * scale;
#if HAS_EPILOGUE
      t = EPILOGUE(t, (r * O_STRIDE + j), j, n);
#endif
      store_lanes_(y + j, t, n);
    }
  }
}
