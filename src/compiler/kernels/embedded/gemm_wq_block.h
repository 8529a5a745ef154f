/* How gemm_wq_dot.c reads a: integers of DIGITS int8 digits for each block, made here. */
#define PAIR (B_BITS < 8 ? 2 : 1)
#define GROUP (4 * PAIR)
#define GROUPS_(rows) (((rows) + GROUP - 1) / GROUP)
#define BLOCKS_ ((K + STEP - 1) / STEP)
#define LAST_ (K - (BLOCKS_ - 1) * STEP)
#if B_TYPE == 22
#define SIGN_ 8
#elif B_TYPE == 3
#define SIGN_ (B_BITS == 8 ? 128 : B_BITS == 6 ? 32 : 16)
#else
#define SIGN_ 0
#endif

#if DIGITS == 2
#define LARGEST_ 32512.0f /* 127 * 256 */
#else
#define LARGEST_ 8323072.0f
#endif
#define SUMS_OF_DIGITS_ (DIGITS - 1) /* the two lower digits have one sum */

/* Of one row of a: digits, the low ones first. */
struct PASTE_(NAME, block) {
  /* the value of an integer 1; the sum of all integers, times that with minima */
  float step, all;
  int32_t first[SUMS_OF_DIGITS_]; /* initial sums, which subtract SIGN_ */
  int8_t digit[DIGITS][GROUPS_(STEP) * GROUP];
};

/* One block of a row: `depth` elements at a. */
INLINE_ void PASTE_(NAME, split)(struct PASTE_(NAME, block) *to, const float *a, const long depth) {
  const long padded = GROUPS_(depth) * GROUP;
  veci most = {0}, sum = {0}, top = {0};
  UNROLL for (long k = 0; k < depth; k += LANES)
    most = larger_(most, (veci)load_lanes_(a + k, depth - k) & 0x7fffffff);
  JOIN_LANES_(most, larger_);
  const float largest = LANE_((vec)larger_(most, splati_(23 << 23)), 0); /* at least 2^-104 */
  const vec scale = splat_(LARGEST_ / largest);
  UNROLL for (long k = 0; k < padded; k += LANES) {
    veci x = nearest_(load_lanes_(a + k, depth - k) * scale);
    sum = veci_add_(sum, x);
    UNROLL for (int d = 0; d < DIGITS; d++) {
      if (d == 2) top = veci_add_(top, x);
      narrow_i8(to->digit[d] + k, x, padded - k);
      x = (x + 128) >> 8;
    }
  }
#if TILES && K % STEP /* a tile reads the whole block */
  for (long k = padded; k < GROUPS_(STEP) * GROUP; k++)
    UNROLL for (int d = 0; d < DIGITS; d++) to->digit[d][k] = 0;
#endif
  to->step = LANE_(most, 0) < 0x7f800000 ? largest * (1 / LARGEST_) : NAN;
#if B_ZEROS || SIGN_
  JOIN_LANES_(sum, veci_add_);
  JOIN_LANES_(top, veci_add_);
  to->all = (float)LANE_(sum, 0) * (B_ZEROS == 2 ? to->step : 1);
  to->first[0] = -SIGN_ * (LANE_(sum, 0) - LANE_(top, 0) * 65536);
  if (DIGITS == 3) to->first[DIGITS - 2] = -SIGN_ * LANE_(top, 0);
#else
  (void)sum, (void)top;
#endif
}
