/* AMX: the tile configuration, and tile instructions by tile number. */
struct tile_config_ {
  uint8_t palette, start_row, zero[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
} __attribute__((aligned(64)));
#ifndef TILE_LOAD_ /* the tests define their own, in C */
#define TILE_CONFIG_(p) __asm__ volatile("ldtilecfg %0" : : "m"(*(p)) : "memory")
#define TILE_RELEASE_() __asm__ volatile("tilerelease" : : : "memory")
#define TILE_ZERO_(t) __asm__ volatile("tilezero %%tmm" #t : :)
#define TILE_LOAD_(t, p, stride)                                                                  \
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #t : : "r"(p), "r"((long)(stride)) : "memory")
#define TILE_STORE_(t, p, stride)                                                                 \
  __asm__ volatile("tilestored %%tmm" #t ", (%0,%1,1)" : : "r"(p), "r"((long)(stride)) : "memory")
#define TILE_DOT_BF16_(c, a, b) __asm__ volatile("tdpbf16ps %%tmm" #b ", %%tmm" #a ", %%tmm" #c : :)
#define TILE_DOT_U8_(c, a, b) __asm__ volatile("tdpbusd %%tmm" #b ", %%tmm" #a ", %%tmm" #c : :)
#define TILE_DOT_SU8_(c, a, b) __asm__ volatile("tdpbsud %%tmm" #b ", %%tmm" #a ", %%tmm" #c : :)
#define TILE_DOT_I8_(c, a, b) __asm__ volatile("tdpbssd %%tmm" #b ", %%tmm" #a ", %%tmm" #c : :)
#endif
/* Sets the rows of the sums and of a, for the first and the second tile of pixels. */
INLINE_ void configure_tiles_(struct tile_config_ *config, int first, int second) {
  if (config->palette && config->rows[0] == first && config->rows[2] == second) return;
  config->palette = 1;
  for (int t = 0; t < 8; t++) {
    config->row_bytes[t] = 64;
    config->rows[t] = (uint8_t)(t > 5 ? 16 : t == 4 || t < 2 ? first : second);
  }
  TILE_CONFIG_(config);
}
