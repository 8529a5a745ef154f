/* The verbs of verbs.def by name. */
#include "cli.h"

#define M true
const struct verb verbs[] = {
#define VERB(name, usage, flags, help) {#name, usage, help, flags, verb_##name},
#include "verbs.def"
#undef VERB
};
#undef M
const size_t verb_count = COUNT(verbs);

const struct verb *verb_find(const char *name) {
  for (size_t i = 0; i < verb_count; i++)
    if (!strcmp(verbs[i].name, name)) return &verbs[i];
  return NULL;
}

const char *nearest_verb(const char *word) {
  const char *names[COUNT(verbs)];
  for (size_t i = 0; i < COUNT(verbs); i++) names[i] = verbs[i].name;
  return nearest_name(word, names, COUNT(verbs));
}
