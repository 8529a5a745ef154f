/* ResizeInt of int8 whose weights are sixteenths, as with scales of 2, 4, 8 or 16: each product and
 * sum is then a whole number of 256ths below 2^15, or 2^16 unsigned, so 16-bit words give the same
 * result in any order. `lines` are the two rows between columns, in sixteenths; a run is the
 * columns between the same two. Returns 0 if this applied.
 */
#define RUN_STEP 32 /* words filled at once; lines have this many past their end */
#if IN2_TYPE == 1
#define SIXTEENTH 0.0625f
#else
#define SIXTEENTH 64
#endif
/* A weight in sixteenths, or -1 if it is not 0/16 to 16/16. */
#define SIXTEENTHS(w)                                                                    \
  ((w) >= 0 && (w) <= 16 * SIXTEENTH && (IN2_T)(int)((w) / SIXTEENTH) * SIXTEENTH == (w) \
       ? (int)((w) / SIXTEENTH)                                                          \
       : -1)
/* Rounds 256ths: for floats the fraction of (x + a half) is cut off, for fixed point halves
   round away from zero. */
#if IN0_TYPE == 2
#define WORD uint16_t
#define WHOLE(t) ((t) >> 8)
#elif IN2_TYPE == 1
#define WORD int16_t
#define WHOLE(t) (((t) + ((t) >> 15 & 255)) >> 8)
#else
#define WORD int16_t
#define WHOLE(t) (((t) - ((t) <= 0)) >> 8)
#endif
  const int64_t length =
      (ow + 2 * RUN_STEP - 1) / RUN_STEP * RUN_STEP; /* of a line, rounded up to a vector */
  uint16_t *lines[2], *const share = scratch, *const base = share + length;
  uint16_t *const slope = base + length;
  int32_t *const runs = (int32_t *)(void *)((char *)scratch + 5 * sizeof *share * (size_t)length);
  const IN0_T *held[2] = {0, 0};
  int64_t run_count = 0;
  int is_exact = 1;
  lines[0] = slope + length;
  lines[1] = lines[0] + length;
  for (int64_t j = 0; j < ow; j++) {
    const int part = SIXTEENTHS(far[j]);
    is_exact &= part >= 0 && SIXTEENTHS(near[j]) == 16 - part;
    share[j] = (uint16_t)part;
    if (!j || columns[j] != columns[j - 1] || columns[ow + j] != columns[ow + j - 1])
      runs[run_count++] = (int32_t)j;
  }
  runs[run_count] = (int32_t)ow;
  for (int64_t j = ow; j < length; j++) share[j] = 0;
  for (int64_t u = begin; u < end && u - begin < oh && is_exact; u++) {
    const int part = SIXTEENTHS(row_weights[oh + u % oh]);
    is_exact = part >= 0 && SIXTEENTHS(row_weights[u % oh]) == 16 - part;
  }
  for (int64_t u = begin; u < end && is_exact; u++) {
    const int64_t y = u % oh;
    OUT0_T *restrict const c = (OUT0_T *)out[0] + u * ow;
    if (rows[y] < 0 || rows[y] >= h || rows[oh + y] < 0 || rows[oh + y] >= h) return 8;
    for (int side = 0, is_new = 0; side < 2; side++) {
      const IN0_T *const row = x + (u / oh * h + rows[side * oh + y]) * w;
      if (!side && row != held[0] && row == held[1]) { /* the lower row becomes the upper one */
        uint16_t *const other = lines[0];
        lines[0] = lines[1];
        lines[1] = other;
        held[1] = held[0];
        held[0] = row;
        is_new = 1;
      }
      if (row != held[side]) {
        held[side] = row;
        is_new = 1;
        for (int64_t r = 0; r < run_count; r++) {
          const int left = row[columns[runs[r]]], right = row[columns[ow + runs[r]]];
          const uint16_t start = (uint16_t)(16 * left), step = (uint16_t)(right - left);
          for (int64_t j = runs[r]; j < runs[r + 1]; j += RUN_STEP) {
            uint16_t *const to = lines[side] + j;
            const uint16_t *const by = share + j;
#pragma omp simd
            for (int k = 0; k < RUN_STEP; k++)
              to[k] = (uint16_t)(start + (uint16_t)(step * (unsigned)by[k]));
          }
        }
      }
      if (side && is_new) {
        const uint16_t *restrict const upper = lines[0], *restrict const lower = lines[1];
#pragma omp simd
        for (int64_t j = 0; j < ow; j++) {
          base[j] = (uint16_t)(16u * upper[j] + 128);
          slope[j] = (uint16_t)(lower[j] - upper[j]);
        }
      }
    }
    const unsigned below = (unsigned)(int)(row_weights[oh + y] / SIXTEENTH);
#pragma omp simd
    for (int64_t j = 0; j < ow; j++) {
      const WORD t = (WORD)(uint16_t)(base[j] + (uint16_t)(slope[j] * below));
      c[j] = (OUT0_T)WHOLE(t);
    }
  }
  if (is_exact) return 0;
#undef RUN_STEP
#undef SIXTEENTH
#undef SIXTEENTHS
#undef WORD
#undef WHOLE
