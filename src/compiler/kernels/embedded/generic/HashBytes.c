/* HashBytes (hone): MurmurHash3 of each element's bytes, 32 bits. */
#ifndef ATTR_seed
#define ATTR_seed 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *const x = in[0];
  uint32_t *const y = out[0];
  (void)scratch;
  for (int64_t i = begin; i < end; i++) {
#if IN0_IS_TEXT
    y[i] = murmur_hash_((const unsigned char *)x[i].bytes, x[i].length, (uint32_t)ATTR_seed);
#else
    y[i] = murmur_hash_((const unsigned char *)&x[i], sizeof x[i], (uint32_t)ATTR_seed);
#endif
  }
  return 0;
}
