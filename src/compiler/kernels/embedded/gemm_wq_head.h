/* What precedes the elements of a block in gemm_wq.c and gemm_wq_dot.c: scales, and zero points or
 * minima. A panel has PANEL_VECTORS vectors of columns; a tile reads VECTORS of them, a single row of
 * several all. In gemm_wq_dot.c a panel with B_HALVES 2 begins with the halves of its runs of blocks.
 */
#define NR (PANEL_VECTORS * LANES)
#define HALVES_(at) load_f16_((const uint16_t *)(const void *)(at), LANES)
#if HAS_RUNS_
#define SCALES_ 1l
#define LOAD_SCALE_(head, run, at) \
  (floats_(widen_i8((const int8_t *)(head) + (at), LANES)) * HALVES_((run) + 2 * (at)))
/* The halves of a run of blocks: scales, minima. */
#define RUN_BYTES_ (2l * NR * (B_ZEROS ? 2 : 1))
#define RUNS_BYTES_ (K / (BLOCK * B_RUN) * RUN_BYTES_)
#define RUN_OF_(runs, block) ((runs) + (block) / B_RUN * RUN_BYTES_)
#else
#if B_HALVES == 1
#define SCALES_ 2l
#define LOAD_SCALE_(head, run, at) HALVES_((head) + 2 * (at))
#else
#define SCALES_ 4l
#define LOAD_SCALE_(head, run, at) loadu_((const float *)(const void *)(head) + (at))
#endif
#define RUNS_BYTES_ 0
#define RUN_OF_(runs, block) (runs)
#endif
#if B_ZEROS == 2
#define ZEROS_ SCALES_
#define LOAD_ZERO_(head, run, at) LOAD_SCALE_((head) + SCALES_ * NR, (run) + 2 * NR, at)
#else
#define ZEROS_ (4l * B_ZEROS)
#define LOAD_ZERO_(head, run, at) loadu_((const float *)(const void *)((head) + SCALES_ * NR) + (at))
#endif
#define HEAD_BYTES_ ((SCALES_ + ZEROS_) * NR)
