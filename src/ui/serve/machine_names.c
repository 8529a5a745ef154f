/* Names of machines on pages: processor and cores, and the facts that distinguish machines with the same ones. */
#include "server.h"

struct known_facts {
  struct fact *at;
  size_t count;
};
static const char *fact_or(const struct known_facts *facts, const char *key,
                           const char *otherwise) {
  const char *value = fact_find(facts->at, facts->count, key);
  return value ? value : otherwise;
}

static bool is_same(const struct known_facts *a, const struct known_facts *b, const char *key) {
  return !strcmp(fact_or(a, key, ""), fact_or(b, key, ""));
}

static MUST_USE hone_status name_machine(struct request *request, const struct known_facts *facts,
                                         size_t count, size_t which, const char *fingerprint,
                                         const char **out) {
  static const char *const keys[] = {"hone", "kernel", "compiler", "libc", "ram_bytes", "governor"};
  const struct known_facts *own = &facts[which];
  struct strbuf text = {0};
  bool has_twin = false, is_told = false;
  const char *cores = fact_or(own, "cores_usable", "?");
  strbuf_printf(&text, "%s, %s core%s", fact_or(own, "cpu", "unknown processor"), cores,
                strcmp(cores, "1") ? "s" : "");
  for (size_t k = 0; k < COUNT(keys); k++) {
    bool differs = false;
    for (size_t i = 0; i < count; i++) {
      if (i == which || !is_same(own, &facts[i], "cpu") || !is_same(own, &facts[i], "cores_usable"))
        continue;
      has_twin = true;
      differs |= !is_same(own, &facts[i], keys[k]);
    }
    if (!differs || is_told) continue;
    is_told = true;
    strbuf_printf(&text, ", %s %s", keys[k], fact_or(own, keys[k], "unknown"));
  }
  if (has_twin) strbuf_printf(&text, " (%.8s)", fingerprint);
  hone_status status = strbuf_finish(&request->ctx, &text);
  if (!status) status = arena_string(&request->ctx, request->arena, text.at, text.length, out);
  strbuf_deinit(&text);
  return status;
}

hone_status machine_names(struct request *request, const struct study_row *const *studies,
                          size_t count, const char **out) {
  struct known_facts *facts;
  TRY(NEW_ARRAY(&request->ctx, request->arena, facts, count));
  for (size_t i = 0; i < count; i++)
    TRY(facts_read(&request->ctx, request->arena, studies[i]->machine_json, &facts[i].at,
                   &facts[i].count));
  for (size_t i = 0; i < count; i++)
    TRY(name_machine(request, facts, count, i, studies[i]->fingerprint, &out[i]));
  return HONE_OK;
}
