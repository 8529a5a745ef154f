/* Packs a b that is made at run time as pack() packs constants: [OUTER][panel][k][NR], zero-padded.
 * A unit is one panel. b[k][n] lies at k * B_ROW + n * B_COLUMN; the two usual cases read it along
 * its contiguous direction. Defines as for gemm_f32.c. */
#define NR (VECTORS * LANES)
#define PANELS ((N + NR - 1) / NR)

#if B_COLUMN == 1
void NAME(const void *b_, void *packed_, long begin, long end) {
  const float *b = b_;
  float *packed = packed_;
  for (long u = begin; u < end; u++) {
    const long outer = u / PANELS, n = u % PANELS * NR, width = N - n < NR ? N - n : NR;
    const float *from = b + outer / BATCH1 * B_BATCH0 + outer % BATCH1 * B_BATCH1 + n;
    float *to = packed + u * K * NR;
    if (width == NR) {
      for (long k = 0; k < K; k++)
        UNROLL for (int v = 0; v < VECTORS; v++)
          storeu_(to + k * NR + v * LANES, loadu_(from + k * B_ROW + v * LANES));
      continue;
    }
    for (long k = 0; k < K; k++)
      for (long v = 0; v < VECTORS; v++) {
        const long n_left = width - v * LANES;
        storeu_(to + k * NR + v * LANES,
                n_left > 0 ? load_lanes_(from + k * B_ROW + v * LANES, n_left) : (vec){0});
      }
  }
}
#else
#if B_ROW == 1 && LANES > 1
typedef float PASTE_(NAME, four) __attribute__((vector_size(16)));
typedef float PASTE_(NAME, fouru) __attribute__((vector_size(16), aligned(4), may_alias));

/* 4 x 4: to[i][j] = from[j][i]; rows of `from` are B_COLUMN apart, of `to` NR. */
INLINE_ void PASTE_(NAME, transpose)(const float *from, float *to) {
  typedef PASTE_(NAME, four) four;
  typedef PASTE_(NAME, fouru) fouru;
  four a = *(const fouru *)from, b = *(const fouru *)(from + B_COLUMN);
  four c = *(const fouru *)(from + 2 * B_COLUMN), d = *(const fouru *)(from + 3 * B_COLUMN);
  four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  *(fouru *)to = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  *(fouru *)(to + NR) = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  *(fouru *)(to + 2 * NR) = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  *(fouru *)(to + 3 * NR) = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}
#endif

void NAME(const void *b_, void *packed_, long begin, long end) {
  const float *b = b_;
  float *packed = packed_;
  for (long u = begin; u < end; u++) {
    const long outer = u / PANELS, n = u % PANELS * NR, width = N - n < NR ? N - n : NR;
    const float *from = b + outer / BATCH1 * B_BATCH0 + outer % BATCH1 * B_BATCH1 + n * B_COLUMN;
    float *to = packed + u * K * NR;
    long j = 0;
#if B_ROW == 1 && LANES > 1
    for (; j + 4 <= width; j += 4) {
      long k = 0;
      for (; k + 4 <= K; k += 4) PASTE_(NAME, transpose)(from + j * B_COLUMN + k, to + k * NR + j);
      for (; k < K; k++)
        for (long i = j; i < j + 4; i++) to[k * NR + i] = from[i * B_COLUMN + k];
    }
#endif
    for (; j < NR; j++)
      for (long k = 0; k < K; k++)
        to[k * NR + j] = j < width ? from[k * B_ROW + j * B_COLUMN] : 0.0f;
  }
}
#endif
#undef NR
#undef PANELS
