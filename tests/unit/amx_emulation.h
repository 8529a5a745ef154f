/* AMX tiles in plain C, for kernel sources on processors without AMX. Follows Intel's SDM (volume
 * 2, TDPBF16PS, TDPBUSD, TDPBSSD, TDPBSUD, TILELOADD, TILESTORED), with sums of bf16 products in float. An
 * unconfigured tile, or tiles whose sizes do not match, end the program. One thread at a time. */
#include <stdint.h>

static struct {
  int32_t cells[16][16];
  int rows, words; /* configured */
} amx_[8];

static void amx_config_(const void *from) {
  const unsigned char *bytes = from;
  if (bytes[0] != 1 || bytes[1] || (uintptr_t)from % 64) __builtin_trap();
  for (int t = 0; t < 8; t++) {
    int row_bytes = bytes[16 + 2 * t] | bytes[17 + 2 * t] << 8, rows = bytes[48 + t];
    if (row_bytes > 64 || row_bytes % 4 || rows > 16 || !row_bytes != !rows) __builtin_trap();
    __builtin_memset(amx_[t].cells, 0, sizeof amx_[t].cells);
    amx_[t].rows = rows;
    amx_[t].words = row_bytes / 4;
  }
}
static void amx_release_(void) { __builtin_memset(amx_, 0, sizeof amx_); }
static void amx_zero_(int t) {
  if (!amx_[t].rows) __builtin_trap();
  __builtin_memset(amx_[t].cells, 0, sizeof amx_[t].cells);
}
static void amx_load_(int t, const void *p, long stride) {
  if (!amx_[t].rows) __builtin_trap();
  __builtin_memset(amx_[t].cells, 0, sizeof amx_[t].cells);
  for (int y = 0; y < amx_[t].rows; y++)
    __builtin_memcpy(amx_[t].cells[y], (const char *)p + y * stride,
                     4 * (unsigned long)amx_[t].words);
}
static void amx_store_(int t, void *p, long stride) {
  if (!amx_[t].rows) __builtin_trap();
  for (int y = 0; y < amx_[t].rows; y++)
    __builtin_memcpy((char *)p + y * stride, amx_[t].cells[y], 4 * (unsigned long)amx_[t].words);
}
static float amx_half_(int32_t pair, int i) {
  uint32_t bits = i ? (uint32_t)pair & 0xffff0000u : (uint32_t)pair << 16;
  float x;
  __builtin_memcpy(&x, &bits, 4);
  return x;
}
/* One word of c after the products of one word of a and of b. kind: 0 bf16, 1 u8 * i8, 2 i8 * i8,
   3 i8 * u8 */
static int32_t amx_word_(int32_t c, int32_t a, int32_t b, int kind) {
  float sum;
  if (kind) {
    for (int i = 0; i < 4; i++) {
      int x = kind == 1 ? (uint8_t)((uint32_t)a >> 8 * i) : (int8_t)((uint32_t)a >> 8 * i);
      int y = kind == 3 ? (uint8_t)((uint32_t)b >> 8 * i) : (int8_t)((uint32_t)b >> 8 * i);
      c += x * y;
    }
    return c;
  }
  __builtin_memcpy(&sum, &c, 4);
  for (int i = 0; i < 2; i++) sum += amx_half_(a, i) * amx_half_(b, i);
  __builtin_memcpy(&c, &sum, 4);
  return c;
}
static void amx_dot_(int c, int a, int b, int kind) {
  if (!amx_[c].rows || amx_[a].rows != amx_[c].rows || amx_[b].words != amx_[c].words ||
      amx_[b].rows != amx_[a].words)
    __builtin_trap();
  for (int y = 0; y < amx_[c].rows; y++)
    for (int k = 0; k < amx_[a].words; k++)
      for (int x = 0; x < amx_[c].words; x++)
        amx_[c].cells[y][x] =
            amx_word_(amx_[c].cells[y][x], amx_[a].cells[y][k], amx_[b].cells[k][x], kind);
}
#define TILE_CONFIG_(p) amx_config_(p)
#define TILE_RELEASE_() amx_release_()
#define TILE_ZERO_(t) amx_zero_(t)
#define TILE_LOAD_(t, p, stride) amx_load_(t, p, stride)
#define TILE_STORE_(t, p, stride) amx_store_(t, p, stride)
#define TILE_DOT_BF16_(c, a, b) amx_dot_(c, a, b, 0)
#define TILE_DOT_U8_(c, a, b) amx_dot_(c, a, b, 1)
#define TILE_DOT_I8_(c, a, b) amx_dot_(c, a, b, 2)
#define TILE_DOT_SU8_(c, a, b) amx_dot_(c, a, b, 3)
