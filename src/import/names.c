/* names: a map from name to pointer, open addressing with linear steps.
 *
 * The hash is seeded from the kernel per map, so no file can aim a million names at one bucket. The
 * order of slots is never read: the seed cannot change a result.
 */
#include "import.h"

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
