/* 3 x 3 convolution, stride 1, by Winograd's minimal filtering F(OUT, 3), OUT 2 or 4 (Lavin and
 * Gray, arXiv 1509.09308). Tiles of OUT x OUT outputs: their SIZE x SIZE inputs (SIZE = OUT + 2)
 * are transformed to v[SIZE^2][tile][IC], multiplied with the transformed weights of one panel of
 * channels u[SIZE^2][IC][NR], and transformed back, so that SIZE^2 multiplications replace 9 OUT^2.
 * Points: 0, 1, -1, inf for OUT 2; 0, +-sqrt(1/2), +-sqrt(2), inf for OUT 4 (even and odd parts
 * share work, and the factors stay near 1). The input is already padded; elements past it count as
 * zero. A work item is UNIT_PANELS panels of one block of BLOCK tiles; consecutive items of one
 * block share v. From choose(): OUT TILES_X TILES_Y BLOCK (tiles) GROUPS_ GROUP WIDE_GROUPS
 * (register tiles of GROUP rows of v that a block is split into; the others have one row less)
 * VECTORS UNIT_PANELS AHEAD (as gemm); A_TYPE C_TYPE: elements of a and c are widened when read and
 * rounded when stored; everything between is f32. HALVES 1: v and u are rounded to bf16 and
 * multiplied in pairs of k, u[SIZE^2][IC / 2][NR][2].
 */
#include "types.h"
#if HALVES
#define U_T int32_t
#define V_T uint16_t
#define STORE_V store_bf16_
#define K_STEP 2
#else
#define U_T float
#define V_T float
#define STORE_V store_lanes_
#define K_STEP 1
#endif
#define DEPTH (IC / K_STEP)
#define SIZE (OUT + 2)
#define POINTS (SIZE * SIZE)
#define NR (VECTORS * LANES)
#define PANELS ((OC + NR - 1) / NR)
#define TILES (TILES_X * TILES_Y)
#define BLOCKS ((TILES + BLOCK - 1) / BLOCK)
#define PANEL_BLOCKS ((PANELS + UNIT_PANELS - 1) / UNIT_PANELS)
/* an odd number of cache lines apart: not all in one cache set */
#define V_POINT (BLOCK * IC + 16 * K_STEP)
#define M_POINT (BLOCK * NR + 16)

/* One dimension of the input's transform. */
INLINE_ void PASTE_(NAME, forward)(const vec *d, vec *v) {
#if OUT == 2
  v[0] = d[2] - d[0];
  v[1] = d[2] + d[1];
  v[2] = d[2] - d[1];
  v[3] = d[3] - d[1];
#else
  const vec a = splat_(0x1.6a09e6p-1f), b = splat_(0x1.6a09e6p0f);
  vec even = d[4] - splat_(2.0f) * d[2], odd = a * (d[3] - splat_(2.0f) * d[1]);
  v[1] = even + odd;
  v[2] = even - odd;
  even = d[4] - splat_(0.5f) * d[2], odd = b * (d[3] - splat_(0.5f) * d[1]);
  v[3] = even + odd;
  v[4] = even - odd;
  v[0] = d[0] + d[4] - splat_(2.5f) * d[2];
  v[5] = d[1] + d[5] - splat_(2.5f) * d[3];
#endif
}

/* One dimension of the output's transform. */
INLINE_ void PASTE_(NAME, back)(const vec *m, vec *y) {
#if OUT == 2
  y[0] = m[0] + m[1] + m[2];
  y[1] = m[1] - m[2] + m[3];
#else
  const vec a = splat_(0x1.6a09e6p-1f), b = splat_(0x1.6a09e6p0f);
  vec p = m[1] + m[2], q = a * (m[1] - m[2]), r = m[3] + m[4], s = b * (m[3] - m[4]);
  y[0] = m[0] + p + r;
  y[1] = q + s;
  y[2] = splat_(0.5f) * p + splat_(2.0f) * r;
  y[3] = splat_(0.5f) * q + (splat_(2.0f) * s + m[5]);
#endif
}

/* Inputs of one tile at a, of which rows x columns exist, transformed to v. */
INLINE_ void PASTE_(NAME, load)(const A_T *a, V_T *v, long rows, long columns, const long lanes,
                                const int checked) {
  vec t[SIZE][SIZE];
  UNROLL for (int x = 0; x < SIZE; x++) {
    vec d[SIZE], f[SIZE];
    UNROLL for (int y = 0; y < SIZE; y++) d[y] =
        checked && (y >= rows || x >= columns) ? (vec){0}
                                               : LOAD_A(a + y * I_ROW + x * I_PIXEL, lanes);
    PASTE_(NAME, forward)(d, f);
    UNROLL for (int y = 0; y < SIZE; y++) t[y][x] = f[y];
  }
  UNROLL for (int y = 0; y < SIZE; y++) {
    vec f[SIZE];
    PASTE_(NAME, forward)(t[y], f);
    UNROLL for (int x = 0; x < SIZE; x++) STORE_V(v + (y * SIZE + x) * V_POINT, f[x], lanes);
  }
}

static void PASTE_(NAME, load_tile)(const A_T *a, V_T *v, long rows, long columns) {
  long i = 0;
  if (rows >= SIZE && columns >= SIZE)
    for (; i + LANES <= IC; i += LANES) PASTE_(NAME, load)(a + i, v + i, rows, columns, LANES, 0);
  else
    for (; i + LANES <= IC; i += LANES) PASTE_(NAME, load)(a + i, v + i, rows, columns, LANES, 1);
#if IC % LANES
  PASTE_(NAME, load)(a + i, v + i, rows, columns, IC % LANES, 1);
#endif
}

/* m[rows][NR] = v[rows][IC] * u[IC][NR]. */
INLINE_ void PASTE_(NAME, product)(const V_T *v, const U_T *u, float *m, const U_T *ahead,
                                   const int rows) {
  (void)ahead;
  vec acc[GROUP][VECTORS];
  UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < VECTORS; j++) acc[i][j] =
      (vec){0};
  for (long k = 0; k < DEPTH; k++, u += NR, v += K_STEP) {
#if AHEAD
    PREFETCH_(ahead + k * AHEAD);
#endif
#if HALVES
    veci w[VECTORS];
    UNROLL for (int j = 0; j < VECTORS; j++) w[j] = load_panel_(u + j * LANES);
    UNROLL for (int i = 0; i < rows; i++) {
      const veci t = load_group_(v + i * IC);
      UNROLL for (int j = 0; j < VECTORS; j++) acc[i][j] = dot_halves_(acc[i][j], t, w[j]);
    }
#else
    vec w[VECTORS];
    UNROLL for (int j = 0; j < VECTORS; j++) w[j] = loadu_(u + j * LANES);
    UNROLL for (int i = 0; i < rows; i++) {
      float t = v[i * IC];
      UNROLL for (int j = 0; j < VECTORS; j++) acc[i][j] += t * w[j];
    }
#endif
  }
  UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < VECTORS; j++)
      storeu_(m + i * NR + j * LANES, acc[i][j]);
}

/* The whole block with one panel. */
static void PASTE_(NAME, products)(const V_T *v, const U_T *u, float *m) {
  for (long point = 0; point < POINTS; point++, v += V_POINT, m += M_POINT, u += DEPTH * NR)
    for (long group = 0, row = 0; group < GROUPS_; group++) {
      const U_T *ahead = u + DEPTH * NR + group * DEPTH * AHEAD;
#if WIDE_GROUPS < GROUPS_
      if (group >= WIDE_GROUPS) {
        PASTE_(NAME, product)(v + row * IC, u, m + row * NR, ahead, GROUP - 1);
        row += GROUP - 1;
        continue;
      }
#endif
      PASTE_(NAME, product)(v + row * IC, u, m + row * NR, ahead, GROUP);
      row += GROUP;
    }
}

/* One vector of channels of one tile from m to element o of c; rows x columns of it exist. */
INLINE_ void PASTE_(NAME, store)(const float *m, C_T *c, const void *const *e, long o, long j,
                                 long rows, long columns, const long lanes) {
  (void)e, (void)j;
  vec t[OUT][SIZE], out[OUT][OUT];
  UNROLL for (int x = 0; x < SIZE; x++) {
    vec d[SIZE], f[OUT];
    UNROLL for (int y = 0; y < SIZE; y++) d[y] = loadu_(m + (y * SIZE + x) * M_POINT);
    PASTE_(NAME, back)(d, f);
    UNROLL for (int y = 0; y < OUT; y++) t[y][x] = f[y];
  }
  UNROLL for (int y = 0; y < OUT; y++) PASTE_(NAME, back)(t[y], out[y]);
#if HAS_EPILOGUE
  /* copied to local memory: each element of c is stored once, because it may be one of e */
  vec sums[OUT][OUT];
  UNROLL for (int y = 0; y < OUT; y++)
      UNROLL for (int x = 0; x < OUT; x++) sums[y][x] = out[y][x];
  for (long y = 0; y < rows; y++)
    for (long x = 0; x < columns; x++) {
      const long at = o + y * O_ROW + x * O_PIXEL;
      STORE_C(c + at, EPILOGUE(sums[y][x], at, j, lanes), lanes);
    }
#else
  UNROLL for (int y = 0; y < OUT; y++)
      UNROLL for (int x = 0; x < OUT; x++) if (y < rows && x < columns)
          STORE_C(c + o + y * O_ROW + x * O_PIXEL, out[y][x], lanes);
#endif
}

void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch,
          long begin, long end) {
  const A_T *a = a_;
  const U_T *b = b_;
  C_T *c = c_;
  float *m = scratch;
  V_T *v = (V_T *)(m + POINTS * M_POINT);
  long block_in_v = -1;
  for (long u = begin; u < end; u++) {
    const long block = u / PANEL_BLOCKS, image = block / BLOCKS;
    const long first = block % BLOCKS * BLOCK,
               count = TILES - first < BLOCK ? TILES - first : BLOCK;
    if (block != block_in_v) {
      for (long t = 0; t < count; t++) {
        const long y = (first + t) / TILES_X * OUT, x = (first + t) % TILES_X * OUT;
        PASTE_(NAME, load_tile)
        (a + image * I_IMAGE + y * I_ROW + x * I_PIXEL, v + t * IC, IH - y, IW - x);
      }
      for (long point = 0; point < POINTS; point++)
        for (long i = count * IC; i < BLOCK * IC; i++) v[point * V_POINT + i] = 0;
      block_in_v = block;
    }
    const long panel_begin = u % PANEL_BLOCKS * UNIT_PANELS;
    const long panel_end = panel_begin + UNIT_PANELS < PANELS ? panel_begin + UNIT_PANELS : PANELS;
    for (long panel = panel_begin; panel < panel_end; panel++) {
      PASTE_(NAME, products)(v, b + panel * POINTS * DEPTH * NR, m);
      const long width = OC - panel * NR < NR ? OC - panel * NR : NR;
      for (long t = 0; t < count; t++) {
        const long y = (first + t) / TILES_X * OUT, x = (first + t) % TILES_X * OUT;
        const long rows = OH - y < OUT ? OH - y : OUT, columns = OW - x < OUT ? OW - x : OUT;
        const long o = image * O_IMAGE + y * O_ROW + x * O_PIXEL + panel * NR;
        long j = 0;
        for (; j + LANES <= width; j += LANES)
          PASTE_(NAME, store)(m + t * NR + j, c, e, o + j, panel * NR + j, rows, columns, LANES);
#if OC % LANES
        if (j < width)
          PASTE_(NAME, store)
          (m + t * NR + j, c, e, o + j, panel * NR + j, rows, columns, OC % LANES);
#endif
      }
    }
  }
}
#undef SIZE
#undef POINTS
#undef NR
#undef PANELS
#undef TILES
#undef BLOCKS
#undef PANEL_BLOCKS
#undef V_POINT
#undef M_POINT
#undef U_T
#undef V_T
#undef STORE_V
#undef K_STEP
#undef DEPTH
