/* The parts of a run-time loop around its body. LOOP_PART 0: begins; 1: stores a value of this
 * iteration in its row of a collected output; 2: returns the number of rows; 3: goes to the next
 * iteration. 0 and 3: inputs trip count, condition; outputs whether the loop continues, iteration.
 * 1: inputs value, iteration. 2: input iteration.
 */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  (void)begin, (void)end, (void)scratch;
#if LOOP_PART == 0 || LOOP_PART == 3
  uint8_t *const goes = out[0];
  int64_t *const iteration = out[1];
  uint8_t still = 1;
  *iteration = LOOP_PART == 0 ? 0 : *iteration + 1;
#if IN0_PRESENT
  still &= *iteration < *(const int64_t *)in[0];
#endif
#if IN1_PRESENT
  still &= *(const uint8_t *)in[1] != 0; /* it may be the same memory as *goes */
#endif
  *goes = still;
  (void)in;
#elif LOOP_PART == 1
  const int64_t at = *(const int64_t *)in[1], rows[] = OUT0_DIMS;
  if (at >= rows[0]) return 6;
  memcpy((OUT0_T *)out[0] + at * IN0_COUNT, in[0], IN0_COUNT * sizeof(OUT0_T));
#else
  const int64_t numbers[] = OUT0_EXTENTS;
  ((int64_t *)out[OUT_COUNT])[numbers[0]] = *(const int64_t *)in[0];
#endif
  return 0;
}
