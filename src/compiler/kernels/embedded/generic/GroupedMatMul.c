/* GroupedMatMul (hone): rows of in0 by groups, each group times its own matrix of in1; in2 has the
 * end of each group. A work item is PLAIN_LINES columns of one group, so that an empty group
 * costs nothing; the last group's items also clear the rows after it. Tiles of rows x vectors stay
 * in registers. If many tiles use an item's columns, these are first copied to scratch: rows that
 * are a power of two apart would share cache sets.
 */
#if defined HONE_VECTOR_BYTES && HONE_VECTOR_BYTES == 64
#define VECTORS 4
#else
#define VECTORS 2
#endif
#define ROWS 6

/* y[rows][vectors] = x[rows][k] w[k][vectors]; `rows` and `vectors` are constants at every call,
   so the loops unroll. lanes: of the last vector; next: from a row of w to the next. */
INLINE_ void PASTE_(NAME, tile)(const float *restrict x, const float *restrict w, float *restrict y,
                                const int64_t k, const int64_t next, const int64_t n, const int rows,
                                const int vectors, const long lanes) {
  vec sum[ROWS][VECTORS];
  UNROLL for (int r = 0; r < rows; r++)
    UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = splat_(0);
  for (int64_t i = 0; i < k; i++) {
    vec b[VECTORS];
    UNROLL for (int v = 0; v < vectors; v++)
      b[v] = load_lanes_(w + i * next + v * LANES, v == vectors - 1 ? lanes : LANES);
    UNROLL for (int r = 0; r < rows; r++)
      UNROLL for (int v = 0; v < vectors; v++) sum[r][v] += x[r * k + i] * b[v];
  }
  UNROLL for (int r = 0; r < rows; r++)
    UNROLL for (int v = 0; v < vectors; v++)
      store_lanes_(y + r * n + v * LANES, sum[r][v], v == vectors - 1 ? lanes : LANES);
}

/* The same for any number of rows. */
INLINE_ void PASTE_(NAME, strip)(const float *x, const float *w, float *y, int64_t rows,
                                 const int64_t k, const int64_t next, const int64_t n,
                                 const int vectors, const long lanes) {
  for (; rows >= ROWS; rows -= ROWS, x += ROWS * k, y += ROWS * n)
    PASTE_(NAME, tile)(x, w, y, k, next, n, ROWS, vectors, lanes);
  for (; rows >= 2; rows -= 2, x += 2 * k, y += 2 * n)
    PASTE_(NAME, tile)(x, w, y, k, next, n, 2, vectors, lanes);
  if (rows) PASTE_(NAME, tile)(x, w, y, k, next, n, 1, vectors, lanes);
}

int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  static const int64_t x_dims[] = IN0_DIMS, w_dims[] = IN1_DIMS;
  const float *x = in[0], *w = in[1];
  const IN2_T *ends = in[2];
  float *y = out[0];
  const int64_t rows = x_dims[0], k = x_dims[1], groups = w_dims[0], n = w_dims[2];
  const int64_t blocks = (n + PLAIN_LINES - 1) / PLAIN_LINES;
  float *columns = scratch;
  for (int64_t g = 0; g < groups; g++)
    if (ends[g] < (g ? ends[g - 1] : 0) || ends[g] > rows) return 8;
  for (int64_t u = begin; u < end; u++) {
    const int64_t g = u / blocks, first = u % blocks * PLAIN_LINES;
    const int64_t last = first + PLAIN_LINES < n ? first + PLAIN_LINES : n;
    const int64_t row = g ? ends[g - 1] : 0, count = ends[g] - row;
    const float *of = w + g * k * n + first;
    const int64_t next = count > 2 * ROWS ? PLAIN_LINES : n;
    for (int64_t i = 0; next != n && i < k; i++)
      memcpy(columns + i * next, of + i * n, (size_t)(last - first) * sizeof *of);
    if (next != n) of = columns;
    int64_t j = first;
    for (; j + VECTORS * LANES <= last; j += VECTORS * LANES)
      PASTE_(NAME, strip)(x + row * k, of + j - first, y + row * n + j, count, k, next, n, VECTORS, LANES);
    for (; j < last; j += LANES)
      PASTE_(NAME, strip)(x + row * k, of + j - first, y + row * n + j, count, k, next, n, 1,
                          last - j < LANES ? last - j : LANES);
    for (int64_t i = ends[g]; g == groups - 1 && i < rows; i++)
      memset(y + i * n + first, 0, (size_t)(last - first) * sizeof *y);
  }
  return 0;
}
#undef VECTORS
#undef ROWS
