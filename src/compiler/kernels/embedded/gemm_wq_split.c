/* a as gemm_wq_dot.c reads it, for a step of its own before the steps that multiply it: [block][row of
 * M]. Work items are rows. From defines(): those of gemm_wq_dot.c.
 */
#include "gemm_wq_block.h"

void NAME(const void *b, void *packed, long begin, long end) {
  struct PASTE_(NAME, block) *to = packed;
  const float *a = b;
  for (long m = begin; m < end; m++) {
    for (long block = 0; block < BLOCKS_ - 1; block++)
      PASTE_(NAME, split)(to + block * M + m, a + m * A_ROW + block * STEP, STEP);
    PASTE_(NAME, split)(to + (BLOCKS_ - 1) * M + m, a + m * A_ROW + (BLOCKS_ - 1) * STEP, LAST_);
  }
}
#include "gemm_wq_block_end.h"
