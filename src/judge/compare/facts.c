/* facts: the JSON that describes a machine, as a flat list of "a.b" and value, in the object's order. An array is one value.
 * Anything other than an object gives an empty list, so that a report never fails because of it.
 */
#include "compare.h"

#include <jansson.h>
#include <stdlib.h>

enum { DEPTH = 4 }; /* deeper objects are one value, as JSON */

struct level {
  const char *prefix;
  const json_t *object;
  void *at;
};
typedef VEC(struct fact) facts;

static MUST_USE hone_status value_text(struct ctx *ctx, struct arena *arena, const json_t *value,
                                       const char **out) {
  if (json_is_string(value))
    return arena_string(ctx, arena, json_string_value(value), strlen(json_string_value(value)),
                        out);
  char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
  if (!dumped) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a machine fact");
  const hone_status status = arena_string(ctx, arena, dumped, strlen(dumped), out);
  free(dumped);
  return status;
}

/* Depth first with a stack of fixed size. */
static MUST_USE hone_status flatten(struct ctx *ctx, struct arena *arena, json_t *root,
                                    facts *out) {
  struct level stack[DEPTH] = {{"", root, json_object_iter(root)}};
  size_t depth = 1;
  while (depth > 0) {
    struct level *level = &stack[depth - 1];
    if (!level->at) {
      depth--;
      continue;
    }
    const char *key, *value_string;
    json_t *value = json_object_iter_value(level->at);
    TRY(arena_printf(ctx, arena, &key, "%s%s%s", level->prefix, *level->prefix ? "." : "",
                     json_object_iter_key(level->at)));
    level->at = json_object_iter_next((json_t *)level->object, level->at);
    if (json_is_object(value) && depth < DEPTH) {
      stack[depth++] = (struct level){key, value, json_object_iter(value)};
      continue;
    }
    TRY(value_text(ctx, arena, value, &value_string));
    VEC_PUSH(ctx, arena, out, (struct fact){key, value_string});
  }
  return HONE_OK;
}

hone_status facts_read(struct ctx *ctx, struct arena *arena, const char *json, struct fact **out,
                       size_t *out_count) {
  json_error_t error;
  facts list = {0};
  json_t *root = json_loads(json, 0, &error);
  const hone_status status = json_is_object(root) ? flatten(ctx, arena, root, &list) : HONE_OK;
  json_decref(root);
  *out = list.at;
  *out_count = list.count;
  return status;
}

const char *fact_find(const struct fact *list, size_t count, const char *key) {
  const size_t length = strlen(key);
  for (size_t i = 0; i < count; i++) {
    const size_t n = strlen(list[i].key);
    if (n >= length && !strcmp(list[i].key + n - length, key) &&
        (n == length || list[i].key[n - length - 1] == '.'))
      return list[i].value;
  }
  return NULL;
}
