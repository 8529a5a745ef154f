/* names: a map from name to pointer, open addressing with linear probing.
 *
 * The hash is seeded by the kernel per map, so that no file can put a million names into one
 * bucket. The order of slots is never read: the seed cannot change a result. */
#include "compiler/import/import.h"

#include <sys/random.h>
#include <xxhash.h>

void names_init(struct names *names, struct arena *arena) {
  *names = (struct names){.arena = arena};
  if (getrandom(&names->seed, sizeof names->seed, GRND_NONBLOCK) != sizeof names->seed)
    names->seed = clock_ns() ^ (uint64_t)(uintptr_t)names;
}

static struct name_slot *slot_of(const struct names *names, const char *name, uint64_t hash) {
  size_t mask = names->capacity - 1;
  for (size_t i = (size_t)hash & mask;; i = (i + 1) & mask) {
    struct name_slot *slot = &names->slots[i];
    if (!slot->name || (slot->hash == hash && !strcmp(slot->name, name))) return slot;
  }
}

static uint64_t hash_of(const struct names *names, const char *name) {
  return XXH3_64bits_withSeed(name, strlen(name), names->seed);
}

void *names_find(const struct names *names, const char *name) {
  return names->count ? slot_of(names, name, hash_of(names, name))->item : NULL;
}

static hone_status rehash(struct ctx *ctx, struct names *names) {
  struct names larger = *names;
  larger.capacity = names->capacity ? names->capacity * 2 : 8;
  TRY(NEW_ARRAY(ctx, names->arena, larger.slots, larger.capacity));
  for (size_t i = 0; i < names->capacity; i++) {
    const struct name_slot *slot = &names->slots[i];
    if (slot->name) *slot_of(&larger, slot->name, slot->hash) = *slot;
  }
  *names = larger;
  return HONE_OK;
}

hone_status names_add(struct ctx *ctx, struct names *names, const char *name, void *item,
                      bool *out_fresh) {
  if (2 * (names->count + 1) > names->capacity) TRY(rehash(ctx, names));
  uint64_t hash = hash_of(names, name);
  struct name_slot *slot = slot_of(names, name, hash);
  *out_fresh = !slot->name;
  if (slot->name) return HONE_OK;
  *slot = (struct name_slot){name, item, hash};
  names->count++;
  return HONE_OK;
}

/* -- the bytes of a name */

/* Replaces each NUL by U+2400, so that the C string keeps the whole name. */
static hone_status copy_with_nuls(struct ctx *ctx, struct arena *arena, const uint8_t *bytes,
                                  size_t length, size_t nuls, const char **out) {
  char *copy;
  TRY(NEW_ARRAY(ctx, arena, copy, length + 2 * nuls + 1));
  char *to = copy;
  for (size_t i = 0; i < length; i++) {
    if (bytes[i])
      *to++ = (char)bytes[i];
    else
      memcpy(to, "\xe2\x90\x80", 3), to += 3;
  }
  *out = copy;
  return HONE_OK;
}

hone_status name_copy(struct ctx *ctx, struct arena *arena, const uint8_t *bytes, size_t length,
                      size_t offset, const char *what, const char **out) {
  size_t nuls = 0;
  if (length > (size_t)ctx->limits[LIMIT_name_bytes])
    return fail(ctx, HONE_E_LIMIT, place_offset(offset),
                "%s of %zu bytes, limit name_bytes is %lld", what, length,
                (long long)ctx->limits[LIMIT_name_bytes]);
  for (size_t i = 0, n; i < length; i += n) {
    n = utf8_length(bytes + i, length - i);
    if (!n) return fail(ctx, HONE_E_FORMAT, place_offset(offset + i), "%s is not UTF-8", what);
    nuls += !bytes[i];
  }
  if (nuls) return copy_with_nuls(ctx, arena, bytes, length, nuls, out);
  return arena_string(ctx, arena, (const char *)bytes, length, out);
}
