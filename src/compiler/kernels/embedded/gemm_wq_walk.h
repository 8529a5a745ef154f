/* From work items to panels: the end of gemm_wq.c and gemm_wq_dot.c. They define PASTE_(NAME,
 * sums); ROW_T, the type of a's rows, ROW_STEP, the elements of a row, and ROWS_, the address of
 * the first row; NR and PANEL_BYTES.
 */

/* Rows of one panel: input at a, results at element o of c. */
INLINE_ void PASTE_(NAME, rows)(const ROW_T *a, const uint8_t *panel, float *c,
                                const void *const *e, long o, long j, long columns,
                                const int rows) {
  vec acc[TILE_ROWS][VECTORS];
  UNROLL for (int r = 0; r < rows; r++)
    UNROLL for (int v = 0; v < VECTORS; v++) acc[r][v] = (vec){0};
  PASTE_(NAME, sums)(a, panel, acc, rows);
  (void)e, (void)j;
  UNROLL for (int r = 0; r < rows; r++)
    UNROLL for (int v = 0; v < VECTORS; v++) {
      const long at = o + r * C_ROW + v * LANES, left = columns - v * LANES;
      const long lanes = left < LANES ? left : LANES;
      if (lanes > 0) store_lanes_(c + at, EPILOGUE(acc[r][v], at, (j + v * LANES), lanes), lanes);
    }
}

void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch,
          long begin, long end) {
  const ROW_T *a = ROWS_;
  const uint8_t *b = b_;
  float *c = c_;
  (void)scratch;
  const long panels = (N + NR - 1) / NR, beyond = end * UNIT_PANELS;
  for (long panel = begin * UNIT_PANELS; panel < (beyond < panels ? beyond : panels); panel++) {
    const long j = panel * NR, columns = N - j < NR ? N - j : NR;
    const uint8_t *p = b + panel * PANEL_BYTES;
    long m = 0;
    for (; m + TILE_ROWS <= M; m += TILE_ROWS)
      PASTE_(NAME, rows)(a + m * ROW_STEP, p, c, e, m * C_ROW + j, j, columns, TILE_ROWS);
#if M % TILE_ROWS
    PASTE_(NAME, rows)(a + m * ROW_STEP, p, c, e, m * C_ROW + j, j, columns, M % TILE_ROWS);
#endif
  }
}
#undef NR
#undef PANEL_BYTES
#undef ROW_T
#undef ROW_STEP
#undef ROWS_
