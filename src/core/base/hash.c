/* Hashes: XXH3-128 for keys, SHA-256 where a forged hash would be a risk. */
#include "base.h"

#include <limits.h>
#include <openssl/evp.h>
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static void put_hex(char out[33], XXH128_hash_t hash) {
  snprintf(out, 33, "%016llx%016llx", (unsigned long long)hash.high64,
           (unsigned long long)hash.low64);
}

void hash_hex(char out[33], const void *data, size_t size) {
  put_hex(out, XXH3_128bits(data, size));
}

void hash_hex_in_parts(char out[33], const void *data, size_t size, size_t part,
                       void (*done)(const void *at, size_t bytes)) {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  for (size_t at = 0; at < size; at += part) {
    const size_t bytes = size - at < part ? size - at : part;
    const char *from = (const char *)data + at;
    XXH3_128bits_update(&state, from, bytes);
    done(from, bytes);
  }
  put_hex(out, XXH3_128bits_digest(&state));
}

uint64_t hash_64(const void *data, size_t size) { return XXH3_64bits(data, size); }

hone_status sha256_hex(struct ctx *ctx, char out[65], const void *data, size_t size) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  if (EVP_Digest(data, size, digest, &length, EVP_sha256(), NULL) != 1 || length != 32)
    return fail(ctx, HONE_E_INTERNAL, place_none(), "SHA-256 is not available");
  for (unsigned i = 0; i < 32; i++) snprintf(out + 2 * i, 3, "%02x", digest[i]);
  return HONE_OK;
}

hone_status base64_put(struct ctx *ctx, struct strbuf *out, const void *data, size_t size) {
  if (size > INT_MAX / 2)
    return fail(ctx, HONE_E_LIMIT, place_none(), "%zu bytes are too many for base64", size);
  unsigned char *encoded = malloc(size / 3 * 4 + 5);
  if (!encoded) return fail(ctx, HONE_E_OOM, place_none(), "no memory for base64");
  const int length = EVP_EncodeBlock(encoded, data, (int)size);
  strbuf_append(out, (const char *)encoded, (size_t)length);
  free(encoded);
  return HONE_OK;
}
