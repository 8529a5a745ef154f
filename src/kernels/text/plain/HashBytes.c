/* HashBytes (hone): MurmurHash3 of each element's bytes, 32 bits. Source: Appleby, MurmurHash3_x86_32 (public domain). */
static inline uint32_t murmur_mix(uint32_t word) {
  word *= 0xcc9e2d51u;
  return (word << 15 | word >> 17) * 0x1b873593u;
}

static uint32_t murmur_hash(const unsigned char *bytes, uint64_t length, uint32_t h) {
  uint32_t rest = 0;
  uint64_t i = 0;
  for (; i + 4 <= length; i += 4) {
    h ^= murmur_mix((uint32_t)bytes[i] | (uint32_t)bytes[i + 1] << 8 | (uint32_t)bytes[i + 2] << 16 |
                    (uint32_t)bytes[i + 3] << 24);
    h = (h << 13 | h >> 19) * 5 + 0xe6546b64u;
  }
  for (uint64_t k = length; k-- > i;) rest = rest << 8 | bytes[k];
  h ^= murmur_mix(rest) ^ (uint32_t)length;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}

#ifndef ATTR_seed
#define ATTR_seed 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *const x = in[0];
  uint32_t *const y = out[0];
  (void)scratch;
  for (int64_t i = begin; i < end; i++) {
#if IN0_IS_TEXT
    y[i] = murmur_hash((const unsigned char *)x[i].bytes, x[i].length, (uint32_t)ATTR_seed);
#else
    y[i] = murmur_hash((const unsigned char *)&x[i], sizeof x[i], (uint32_t)ATTR_seed);
#endif
  }
  return 0;
}
