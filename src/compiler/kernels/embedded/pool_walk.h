/* From work items to windows. A work item is a block of UNIT_VECTORS channel vectors of one output
 * row. The including source defines PASTE_(NAME, channels), which computes the channels [j, last)
 * of one window: taps [top, bottom) x [left, right) from p, output at element o.
 */
#define UNIT_CHANNELS (UNIT_VECTORS * LANES)
#define CHANNEL_BLOCKS ((IC + UNIT_CHANNELS - 1) / UNIT_CHANNELS)

void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch,
          long begin, long end) {
  const A_T *a = a_;
  C_T *c = c_;
  (void)b_, (void)scratch;
  for (long u = begin; u < end; u++) {
    const long channel = u % CHANNEL_BLOCKS * UNIT_CHANNELS, row = u / CHANNEL_BLOCKS;
    const long last = channel + UNIT_CHANNELS < IC ? channel + UNIT_CHANNELS : IC;
    const long image = row / OH, y = row % OH, first_y = y * SH - PT;
    long top = 0, bottom = KH;
    while (top < KH && first_y + top * DH < 0) top++;
    while (bottom > top && first_y + (bottom - 1) * DH >= IH) bottom--;
    for (long x = 0; x < OW; x++) {
      const long first_x = x * SW - PL;
      long left = 0, right = KW;
      while (left < KW && first_x + left * DW < 0) left++;
      while (right > left && first_x + (right - 1) * DW >= IW) right--;
      const A_T *p = a + image * I_IMAGE + first_y * I_ROW + first_x * I_PIXEL;
      const long o = image * O_IMAGE + y * O_ROW + x * O_PIXEL;
      PASTE_(NAME, channels)(p, c, e, top, bottom, left, right, o, channel, last);
    }
  }
}
#undef UNIT_CHANNELS
#undef CHANNEL_BLOCKS
