/* What precedes the elements of a block in gemm_wq.c and gemm_wq_dot.c: scales, and zero points or
 * minima. A panel has PANEL_VECTORS vectors of columns; a tile reads VECTORS of them, a single row of
 * several all.
 */
#define NR (PANEL_VECTORS * LANES)
#if B_HALVES
#define SCALES_ 2l
#define LOAD_SCALE_(head, at) load_f16_((const uint16_t *)(const void *)(head) + (at), LANES)
#else
#define SCALES_ 4l
#define LOAD_SCALE_(head, at) loadu_((const float *)(const void *)(head) + (at))
#endif
#if B_ZEROS == 2
#define ZEROS_ SCALES_
#define LOAD_ZERO_(head, at) LOAD_SCALE_((head) + SCALES_ * NR, at)
#else
#define ZEROS_ (4l * B_ZEROS)
#define LOAD_ZERO_(head, at) loadu_((const float *)(const void *)((head) + SCALES_ * NR) + (at))
#endif
#define HEAD_BYTES_ ((SCALES_ + ZEROS_) * NR)
