/* 1 / sqrt(ROOT_OF) of an int32, with 0 as 1: `root` in Q0.31 over 2^right. Five Newton steps; uses
 * generic/fixed.h.
 */
int64_t root = INT32_MAX, right = 0, rest = ROOT_OF;
if (rest > 1) {
  right = 11;
  for (; rest >= 1 << 29; rest /= 4) right++;
  for (; rest < 1 << 27; rest *= 4) right--;
  const int64_t fine = rest >> 1, half_of = FIXED_SHIFT(fine, (int64_t)1, 1);
  root = 1 << 28;
  for (int k = 0; k < 5; k++) {
    const int64_t square = FIXED_MULTIPLY(root, root), third = FIXED_MULTIPLY(square, root);
    const int64_t cube = FIXED_SATURATE(third * 64);
    const int64_t more = FIXED_MULTIPLY(((int64_t)3 << 27), root);
    const int64_t less = FIXED_MULTIPLY(half_of, cube), step = (more - less) * 8;
    root = FIXED_SATURATE(step);
  }
  root = FIXED_MULTIPLY(root, (int64_t)1518500250);
  if (right < 0) root = (int32_t)((uint32_t)root << -right), right = 0;
}
#undef ROOT_OF
