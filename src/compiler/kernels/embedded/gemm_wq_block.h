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

/* Where products of words have an instruction and those of bytes none that adds to 32 bits, both digits are one word: fewer sums to
   join. A word times a byte of b, at most 256 times, fits in 32 bits. */
#ifdef SUMMED_IN_WORDS_
#define WORDS_ (DIGITS == 2 && M > 1)
#else
#define WORDS_ 0
#endif
#define DIGITS_TOO_ (WORDS_ && B_BITS < 8) /* for one row, which is multiplied by its digits */
#if DIGITS == 2
#define LARGEST_ 32512.0f /* 127 * 256 */
#else
#define LARGEST_ 8323072.0f
#endif
#define PARTS_ (WORDS_ ? 1 : DIGITS) /* of an integer of a, each with a sum of its own */
/* Where an instruction adds products to 32 bits, the sum of a digit begins with the bits of the float 1.5 * 2^23 * u, where u, a power of
   two, is what a digit of 1 stands for. The bits of the sum are then the float (1.5 * 2^23 + sum) * u, and the difference of the two
   floats is sum * u, exactly: no conversion and no multiplication. The sum must fit in 22 bits and a sign. AMX begins with zeros. */
#if defined HAS_BYTE_DOT_ && !TILES
#define SUMS_ARE_FLOATS_ \
  ((SIGN_ ? 1l << (B_BITS - 1) : (1l << B_BITS) - 1) * 128 * STEP <= 1l << 22)
#else
#define SUMS_ARE_FLOATS_ 0
#endif

/* Of one row of a: digits, the low ones first. */
struct PASTE_(NAME, block) {
  float all;             /* the sum of all integers, times `step` with minima or SUMS_ARE_FLOATS_ */
  float step;            /* the value of an integer 1 */
  float middle[PARTS_];  /* with SUMS_ARE_FLOATS_: what each sum begins with */
  int32_t first[PARTS_]; /* initial sums, which subtract SIGN_, with the bits of `middle` */
#if WORDS_
  int16_t word[GROUPS_(STEP) * GROUP]; /* of four, the second and the third are swapped */
#endif
#if !WORDS_ || DIGITS_TOO_
  int8_t digit[DIGITS][GROUPS_(STEP) * GROUP];
#endif
};

/* One block of a row: `depth` elements at a. */
INLINE_ void PASTE_(NAME, split)(struct PASTE_(NAME, block) *to, const float *a, const long depth) {
  const long padded = GROUPS_(depth) * GROUP;
  veci most = {0}, sum[PARTS_];
  UNROLL for (int d = 0; d < PARTS_; d++) sum[d] = (veci){0};
  UNROLL for (long k = 0; k < depth; k += LANES)
    most = larger_(most, (veci)load_lanes_(a + k, depth - k) & 0x7fffffff);
  JOIN_LANES_(most, larger_);
  const float largest = LANE_((vec)larger_(most, splati_(23 << 23)), 0); /* at least 2^-104 */
#if SUMS_ARE_FLOATS_
  /* rounded down to a power of two, so that no digit exceeds 127 */
  const uint32_t power =
      (uint32_t)LANE_((veci)splat_(largest * (32768 / 32512.0f)), 0) & 0x7f800000;
  const uint32_t unit = power - ((DIGITS == 2 ? 14u : 22u) << 23);
  const vec scale = (vec)splati_((int32_t)((254u << 23) - unit));
  const float step = LANE_((vec)splati_((int32_t)unit), 0);
#else
  const vec scale = splat_(LARGEST_ / largest);
  const float step = largest * (1 / LARGEST_);
#endif
  UNROLL for (long k = 0; k < padded; k += LANES) {
    veci x = nearest_(load_lanes_(a + k, depth - k) * scale);
#if WORDS_
    narrow_u16((uint16_t *)to->word + k, middle_swapped_(x), padded - k);
#endif
    UNROLL for (int d = 0; d < DIGITS; d++) {
      if (d < PARTS_) sum[d] = veci_add_(sum[d], x);
#if !WORDS_ || DIGITS_TOO_
      narrow_i8(to->digit[d] + k, x, padded - k);
#endif
      x = (x + 128) >> 8;
    }
  }
#if TILES && K % STEP /* a tile reads the whole block */
  for (long k = padded; k < GROUPS_(STEP) * GROUP; k++)
    UNROLL for (int d = 0; d < DIGITS; d++) to->digit[d][k] = 0;
#endif
  to->step = LANE_(most, 0) < 0x7f800000 ? step : NAN;
#if B_ZEROS || SIGN_
  UNROLL for (int d = 0; d < PARTS_; d++) JOIN_LANES_(sum[d], veci_add_);
  to->all = (float)LANE_(sum[0], 0) * (B_ZEROS == 2 || SUMS_ARE_FLOATS_ ? to->step : 1);
#endif
  UNROLL for (int d = 0; d < PARTS_; d++) {
    uint32_t first = 0;
#if SIGN_
    first = (uint32_t)LANE_(sum[d], 0);
    if (d + 1 < PARTS_) first -= 256 * (uint32_t)LANE_(sum[(d + 1) % PARTS_], 0);
    first *= (uint32_t)-SIGN_;
#endif
#if SUMS_ARE_FLOATS_
    const uint32_t middle = unit + ((23u + 8u * (uint32_t)d) << 23) + 0x400000u;
    to->middle[d] = LANE_(most, 0) < 0x7f800000 && power <= 237u << 23 /* 2^110 */
                        ? LANE_((vec)splati_((int32_t)middle), 0)
                        : NAN;
    first += middle;
#endif
    to->first[d] = (int32_t)first;
  }
  (void)sum;
}
