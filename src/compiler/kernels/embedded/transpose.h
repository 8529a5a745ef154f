/* 4 x 4 words of 32 bits: to[i][j] = from[j][i]. Columns of b are B_COLUMN ELEMENTs apart in
 * `from`, rows NR WORDs in `to`; a WORD is one element, or a pair along k.
 */
typedef WORD PASTE_(NAME, four) __attribute__((vector_size(16)));
typedef WORD PASTE_(NAME, fouru) __attribute__((vector_size(16), aligned(sizeof(ELEMENT)), may_alias));

INLINE_ void PASTE_(NAME, transpose)(const ELEMENT *from, WORD *to) {
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
#undef WORD
#undef ELEMENT
