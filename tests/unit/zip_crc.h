/* The CRC-32 of zip archives, for tests and mutators; shares no code with src/compiler/import. */
#ifndef HONE_ZIP_CRC_H
#define HONE_ZIP_CRC_H
#include <stddef.h>
#include <stdint.h>

static inline uint32_t zip_crc(const uint8_t *p, size_t n) {
  static uint32_t table[256];
  uint32_t x = UINT32_MAX;
  for (uint32_t i = 0; i < 256 && !table[255]; i++) {
    table[i] = i;
    for (int k = 0; k < 8; k++) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
  }
  for (; n--; p++) x = x >> 8 ^ table[(x ^ *p) & 0xff];
  return ~x;
}
#endif
