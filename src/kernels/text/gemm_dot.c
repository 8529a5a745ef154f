/* c = epilogue(a * b) where four bytes hold several elements of k: 8-bit integers summed in int32
 * (K_STEP 4), bf16 summed in float (K_STEP 2). The grid of pixels, panels and units are
 * those of grid.h; a lane of b holds K_STEP elements of one column: [COLUMNS / NR][k / K_STEP]
 * [NR][K_STEP], padded with zeros. k is not cut in blocks, so what is stored is stored once.
 *
 * 8 bits: a is unsigned; a signed a is taken as a + 128 (kernel_signed_shift), and whoever makes the epilogue takes
 * 128 * (sum of the column) off again. A_TYPE, C_TYPE: ONNX numbers. EPILOGUE(x, o, j, lanes) makes
 * a vec, or where c is of integers a veci, from the sums x. */
#ifndef HONE_DOT_
#define HONE_DOT_
/* Named, or gcc flips a signed group in a general register and takes three instructions to get it here. */
#if defined __AVX2__ && HONE_VECTOR_BYTES > 16
typedef struct __attribute__((may_alias)) {
  unsigned char x[4];
} group_;
#endif
#if HONE_VECTOR_BYTES == 64 && defined __AVX512F__
INLINE_ veci load_group_(const void *p) {
  veci x;
  __asm__("vpbroadcastd %1, %0" : "=v"(x) : "m"(*(const group_ *)p));
  return x;
}
#elif HONE_VECTOR_BYTES == 32 && defined __AVX2__
INLINE_ veci load_group_(const void *p) {
  veci x;
  __asm__("vpbroadcastd %1, %0" : "=x"(x) : "m"(*(const group_ *)p));
  return x;
}
#else
INLINE_ veci load_group_(const void *p) {
  int32_t x;
  memcpy(&x, p, 4);
  return (veci){0} + x;
}
#endif
/* The first n bytes, zeros behind: nothing past the end of a row is read. */
INLINE_ veci load_part_(const void *p, const int n) {
  uint32_t x = 0;
  UNROLL for (int i = 0; i < n; i++) x |= (uint32_t)((const unsigned char *)p)[i] << 8 * i;
  return (veci){0} + (int32_t)x;
}
#if LANES == 1
INLINE_ veci load_panel_(const int32_t *p) { return *p; }
#else
INLINE_ veci load_panel_(const int32_t *p) {
  return *(const veci __attribute__((aligned(4), may_alias)) *)p;
}
#endif
INLINE_ veci flip_(veci x) { return x ^ ((veci){0} + (int32_t)0x80808080u); }

/* acc + sums of four products of unsigned bytes of a and signed bytes of b. Without an instruction
   for it bytes become 16-bit words, whose products cannot overflow as those of vpmaddubsw do. */
#if LANES == 1 && defined __ARM_FEATURE_SIMD32 && defined __GNUC__ && !defined HONE_PORTABLE
/* Two 16-bit products an instruction; the halves of a and b are made once for several sums. */
INLINE_ veci dot_bytes_(veci acc, veci a, veci b) {
  veci a0, a1, b0, b1;
  __asm__("uxtb16 %0, %1" : "=r"(a0) : "r"(a));
  __asm__("uxtb16 %0, %1, ror #8" : "=r"(a1) : "r"(a));
  __asm__("sxtb16 %0, %1" : "=r"(b0) : "r"(b));
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(b1) : "r"(b));
  __asm__("smlad %0, %1, %2, %3" : "=r"(acc) : "r"(a0), "r"(b0), "r"(acc));
  __asm__("smlad %0, %1, %2, %3" : "=r"(acc) : "r"(a1), "r"(b1), "r"(acc));
  return acc;
}
#elif LANES == 1
INLINE_ veci dot_bytes_(veci acc, veci a, veci b) {
  const uint32_t x = (uint32_t)a, y = (uint32_t)b;
  acc += (veci)(x & 255) * (int8_t)(uint8_t)(y & 255);
  acc += (veci)(x >> 8 & 255) * (int8_t)(uint8_t)(y >> 8 & 255);
  acc += (veci)(x >> 16 & 255) * (int8_t)(uint8_t)(y >> 16 & 255);
  return acc + (veci)(x >> 24) * (int8_t)(uint8_t)(y >> 24);
}
#elif HONE_VECTOR_BYTES == 64 && defined __AVX512VNNI__
INLINE_ veci dot_bytes_(veci acc, veci a, veci b) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
  return acc;
}
#elif HONE_VECTOR_BYTES == 32 && defined __AVXVNNI__
INLINE_ veci dot_bytes_(veci acc, veci a, veci b) {
  __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(acc) : "x"(a), "x"(b));
  return acc;
}
#elif HONE_VECTOR_BYTES == 16 && defined __ARM_FEATURE_MATMUL_INT8
INLINE_ veci dot_bytes_(veci acc, veci a, veci b) {
  __asm__("usdot %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(a), "w"(b));
  return acc;
}
#elif HONE_VECTOR_BYTES == 16 && defined __ARM_FEATURE_DOTPROD
/* There is no product of unsigned and signed bytes: a = (a & 127) + 128 * (a >> 7). */
INLINE_ veci dot_bytes_(veci acc, veci a, veci b) {
  const veci low = a & ((veci){0} + 0x7f7f7f7f), high = (a >> 7) & ((veci){0} + 0x01010101);
  veci top = {0};
  __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(top) : "w"(high), "w"(b));
  __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(low), "w"(b));
  return acc + (top << 7);
}
#else
#if HONE_VECTOR_BYTES == 64 && defined __AVX512BW__
INLINE_ veci dot_words_(veci a, veci b) {
  veci x;
  __asm__("vpmaddwd %2, %1, %0" : "=v"(x) : "v"(a), "v"(b));
  return x;
}
#elif HONE_VECTOR_BYTES == 32 && defined __AVX2__
INLINE_ veci dot_words_(veci a, veci b) {
  veci x;
  __asm__("vpmaddwd %2, %1, %0" : "=x"(x) : "x"(a), "x"(b));
  return x;
}
#elif HONE_VECTOR_BYTES == 16 && defined __SSE2__
INLINE_ veci dot_words_(veci a, veci b) {
  __asm__("pmaddwd %1, %0" : "+x"(a) : "x"(b));
  return a;
}
#else
INLINE_ veci dot_words_(veci a, veci b) {
  return (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
}
#endif
typedef int16_t vec16_ __attribute__((vector_size(HONE_VECTOR_BYTES)));
INLINE_ veci dot_bytes_(veci acc, veci a, veci b) {
  const veci low = (veci){0} + 0x00ff00ff;
  const vec16_ words = (vec16_)b;
  acc += dot_words_(a & low, (veci)(words << 8 >> 8));
  return acc + dot_words_((veci)((veci)(a >> 8) & low), (veci)(words >> 8));
}
#endif

/* acc + sums of two products of bf16. */
#if LANES == 1
INLINE_ vec dot_halves_(vec acc, veci a, veci b) {
  const uint32_t x = (uint32_t)a, y = (uint32_t)b;
  acc += lane_float_((veci)(x << 16)) * lane_float_((veci)(y << 16));
  return acc + lane_float_((veci)(x & 0xffff0000u)) * lane_float_((veci)(y & 0xffff0000u));
}
#elif HONE_VECTOR_BYTES == 64 && defined __AVX512BF16__
INLINE_ vec dot_halves_(vec acc, veci a, veci b) {
  __asm__("vdpbf16ps %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
  return acc;
}
#elif HONE_VECTOR_BYTES == 16 && defined __ARM_FEATURE_BF16_VECTOR_ARITHMETIC
INLINE_ vec dot_halves_(vec acc, veci a, veci b) {
  __asm__("bfdot %0.4s, %1.8h, %2.8h" : "+w"(acc) : "w"(a), "w"(b));
  return acc;
}
#else
INLINE_ vec dot_halves_(vec acc, veci a, veci b) {
  const veci high = (veci){0} + (int32_t)0xffff0000u;
  acc += (vec)(a << 16) * (vec)(b << 16);
  return acc + (vec)(a & high) * (vec)(b & high);
}
#endif
#endif

#include "types.h"
#define B_T int32_t
#define NR (VECTORS * LANES)
#define DEPTH_GROUPS ((DEPTH + K_STEP - 1) / K_STEP)
#define BLOCK_GROUPS K_ALL
#include "grid.h"
#if K_STEP == 4
#define ACC veci
#define DOT dot_bytes_
#else
#define ACC vec
#define DOT dot_halves_
#endif
#if A_TYPE == 3
#define FLIP(x) flip_(x)
#else
#define FLIP(x) (x)
#endif
#if !HAS_EPILOGUE && K_STEP == 4 && (C_TYPE == 1 || C_TYPE == 16)
#define RESULT(x, o, j, lanes) floats_(x)
#else
#define RESULT(x, o, j, lanes) EPILOGUE(x, o, j, lanes)
#endif

/* One group of k in one set of accumulators; part: elements of k beyond the last whole group. */
#define GROUP_(u, at, part)                                                                    \
  {                                                                                            \
    veci w[VECTORS];                                                                           \
    UNROLL for (int v = 0; v < vectors; v++) w[v] = load_panel_(b + (u) * NR + v * LANES);     \
    UNROLL for (int y = 0; y < rows; y++)                                                      \
      UNROLL for (int x = 0; x < columns; x++) {                                               \
        const A_T *q = p + y * A_Y + x * A_X + (at);                                           \
        const veci t =                                                                         \
            FLIP((part) ? load_part_(q, (part) * (int)sizeof(A_T)) : load_group_(q));          \
        UNROLL for (int v = 0; v < vectors; v++) acc[u][y][x][v] = DOT(acc[u][y][x][v], t, w[v]); \
      }                                                                                        \
  }

/* The tile at a, its output at element o of c. */
INLINE_ void PASTE_(NAME, tile)(const struct PASTE_(NAME, panel) *s, const A_T *a, long o,
                                const int rows, const int columns, const int vectors) {
  ACC acc[K_UNROLL][TILE_ROWS][TILE_COLUMNS][VECTORS];
  UNROLL for (int u = 0; u < K_UNROLL; u++)
    UNROLL for (int y = 0; y < rows; y++)
      UNROLL for (int x = 0; x < columns; x++)
        UNROLL for (int v = 0; v < vectors; v++) acc[u][y][x][v] = (ACC){0};
  const int32_t *b = s->b;
#if AHEAD
  const int32_t *ahead = s->ahead;
#endif
  for (long ty = 0; ty < TAPS_Y; ty++)
    for (long tx = 0; tx < TAPS_X; tx++) {
      const A_T *p = a + ty * TAP_Y + tx * TAP_X;
      long k = 0;
      for (; k + K_STEP * K_UNROLL <= DEPTH; k += K_STEP * K_UNROLL, b += NR * K_UNROLL) {
#if AHEAD
        PREFETCH_(ahead);
        ahead += AHEAD * K_UNROLL;
#endif
        UNROLL for (int u = 0; u < K_UNROLL; u++) GROUP_(u, k + u * K_STEP, 0)
      }
#if K_UNROLL > 1
      for (; k + K_STEP <= DEPTH; k += K_STEP, b += NR) GROUP_(0, k, 0)
#endif
#if DEPTH % K_STEP
      GROUP_(0, k, DEPTH % K_STEP)
      b += NR;
#endif
    }
  UNROLL for (int u = 1; u < K_UNROLL; u++)
    UNROLL for (int y = 0; y < rows; y++)
      UNROLL for (int x = 0; x < columns; x++)
        UNROLL for (int v = 0; v < vectors; v++) acc[0][y][x][v] += acc[u][y][x][v];
  const void *const *e = s->e;
  (void)e;
  /* All results of a column before one is stored: operands of columns are read once. */
  UNROLL for (int v = 0; v < vectors; v++) {
    const long n = v == vectors - 1 ? s->lanes : LANES, j = s->column + v * LANES;
    RESULT_T result[TILE_ROWS][TILE_COLUMNS];
    (void)j;
    UNROLL for (int y = 0; y < rows; y++)
      UNROLL for (int x = 0; x < columns; x++)
        result[y][x] = RESULT(acc[0][y][x][v], (o + y * C_Y + x * C_X + v * LANES), j, n);
    UNROLL for (int y = 0; y < rows; y++)
      UNROLL for (int x = 0; x < columns; x++)
        STORE_C(s->c + (o + y * C_Y + x * C_X + v * LANES), result[y][x], n);
  }
}

#define TILE(rows, columns) PASTE_(NAME, tile)(s, p, at, rows, columns, vectors)
#include "walk.h"
#undef ACC
#undef DOT
#undef FLIP
#undef RESULT
#undef GROUP_
