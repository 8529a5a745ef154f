/* From work items to panels: the end of gemm_wq.c and gemm_wq_dot.c. They define PASTE_(NAME,
 * sums); ROW_T, the type of a's rows, ROW_STEP, the elements of a row, ROWS_, the address of the
 * first row, STRIDE_, the rows from one block of a row to the next, and PANEL_BYTES; BEGIN_ROWS_ and END_ROWS_ if a call needs them. With LIMIT_OPERAND, only leading rows are computed: whole tiles, then
 * tiles of FEW_ rows, then single ones. A row has the same bits in each of them.
 */
#if TILE_ROWS > 4
#define FEW_ 4
#else
#define FEW_ TILE_ROWS
#endif

/* Rows of the vectors of a panel from `first` on, which begins in column j. */
INLINE_ void PASTE_(NAME, rows)(const ROW_T *a, const uint8_t *panel, float *c,
                                const void *const *e, long row, long stride, long j, long first,
                                const int rows, const int vectors) {
  vec acc[TILE_ROWS][PANEL_VECTORS];
  UNROLL for (int r = 0; r < rows; r++)
    UNROLL for (int v = 0; v < vectors; v++) acc[r][v] = (vec){0};
  PASTE_(NAME, sums)(a + row * ROW_STEP, panel, stride, first, acc, rows, vectors);
  (void)e;
  UNROLL for (int r = 0; r < rows; r++)
    UNROLL for (int v = 0; v < vectors; v++) {
      const long column = j + (first + v) * LANES, at = (row + r) * C_ROW + column, left = N - column;
      const long lanes = left < LANES ? left : LANES;
      if (lanes > 0) store_lanes_(c + at, EPILOGUE(acc[r][v], at, column, lanes), lanes);
    }
}

/* All rows of VECTORS vectors of a panel. */
INLINE_ void PASTE_(NAME, tiles)(const ROW_T *a, const uint8_t *panel, float *c,
                                 const void *const *e, long count, long j, long first) {
  long m = 0;
#define ROWS_FROM_M_(number) \
  PASTE_(NAME, rows)(a, panel, c, e, m, STRIDE_(count), j, first, number, VECTORS)
  for (; m + TILE_ROWS <= count; m += TILE_ROWS) ROWS_FROM_M_(TILE_ROWS);
#if LIMIT_OPERAND
  for (; FEW_ < TILE_ROWS && m + FEW_ <= count; m += FEW_) ROWS_FROM_M_(FEW_);
  for (; TILE_ROWS > 1 && m < count; m++) ROWS_FROM_M_(1);
#elif M % TILE_ROWS
  ROWS_FROM_M_(M % TILE_ROWS);
#endif
#undef ROWS_FROM_M_
}

void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch,
          long begin, long end) {
#if LIMIT_OPERAND
  const long limit = ((const int64_t *)e[LIMIT_OPERAND - 1])[1], count = limit < M ? limit : M;
#else
  const long count = M;
#endif
  const ROW_T *a = ROWS_(count);
  const uint8_t *b = b_;
  float *c = c_;
  (void)scratch;
#ifdef BEGIN_ROWS_
  BEGIN_ROWS_(count);
#endif
  for (long panel = begin; panel < end; panel++) {
    const long j = panel * NR, columns = N - j < NR ? N - j : NR;
    const uint8_t *p = b + panel * PANEL_BYTES;
#if LIMIT_OPERAND && VECTORS < PANEL_VECTORS
    if (count == 1) {
      PASTE_(NAME, rows)(a, p, c, e, 0, STRIDE_(1), j, 0, 1, PANEL_VECTORS);
      continue;
    }
#endif
    for (long v = 0; v * LANES < columns; v += VECTORS)
      PASTE_(NAME, tiles)(a, p, c, e, count, j, v);
  }
#ifdef END_ROWS_
  END_ROWS_(count);
#endif
}
#undef FEW_
#undef NR
#undef PANEL_BYTES
#undef ROW_T
#undef ROW_STEP
#undef ROWS_
#undef STRIDE_
