/* The low four bits of each lane as floats, by a table of 16: unsigned, or in two's complement. */
#if HONE_VECTOR_BYTES == 64 && defined __AVX512F__
#define NIBBLE_TABLE_(is_signed)                                                                  \
  ((is_signed) ? (vec){0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1}                    \
               : (vec){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
INLINE_ vec nibbles_(vec table, veci x) {
  vec y;
  __asm__("vpermps %1, %2, %0" : "=v"(y) : "v"(table), "v"(x));
  return y;
}
#else
#define NIBBLE_TABLE_(is_signed) ((is_signed) ? splat_(8.0f) : (vec){0})
INLINE_ vec nibbles_(vec middle, veci x) {
  const veci flip = (veci)((vecw_)integers_(middle));
  return floats_((x & 15) ^ flip) - middle;
}
#endif
