/* Which results make a study fail, and its exit code. */
#include "gate.h"

#define FAILURES                                                                            \
  (1u << STATUS_error | 1u << STATUS_wrong | 1u << STATUS_disputed | 1u << STATUS_crashed | \
   1u << STATUS_timeout | 1u << STATUS_out_of_memory | 1u << STATUS_protocol_error)
/* A failure only for a backend that the user named. */
#define ABSENCES (1u << STATUS_unsupported | 1u << STATUS_not_installed)

static bool add_word(struct fail_on *fail_on, const char *word) {
  uint32_t flag;
  enum record_status status = status_parse(word);
  if (status != STATUS_COUNT)
    fail_on->statuses |= 1u << status;
  else if (*word && flags_parse(word, &flag))
    fail_on->flags |= flag;
  else
    return false;
  return true;
}

hone_status fail_on_parse(struct ctx *ctx, const char *list, struct fail_on *out) {
  *out = (struct fail_on){.statuses = FAILURES, .if_named = ABSENCES};
  if (!list) return HONE_OK;
  *out = (struct fail_on){0};
  if (!strcmp(list, "none")) return HONE_OK;
  for (const char *at = list; at;) {
    char word[32];
    const size_t n = strcspn(at, ",");
    snprintf(word, sizeof word, "%.*s", n < sizeof word ? (int)n : 0, at);
    if (!add_word(out, word))
      return fail(ctx, HONE_E_USAGE, place_name("--fail-on"),
                  "\"%.100s\" is not a status or a mark of a row; 'hone list statuses' prints them",
                  at);
    at = at[n] ? at + n + 1 : NULL;
  }
  return HONE_OK;
}

static bool is_named(const char *const *lists, size_t count, const char *backend) {
  const size_t n = strlen(backend);
  for (size_t i = 0; i < count; i++)
    for (const char *p = lists[i]; p;) {
      if (!strncmp(p, backend, n) && (!p[n] || p[n] == ',' || p[n] == ':')) return true;
      p = strchr(p, ',');
      if (p) p++;
    }
  return false;
}

int fail_on_exit_code(const struct fail_on *fail_on, const char *const *backends,
                      size_t named_count, const struct record *records, size_t count,
                      size_t *out_failed) {
  size_t usable = 0, wrong = 0;
  *out_failed = 0;
  for (size_t i = 0; i < count; i++) {
    const enum record_status status = records[i].status;
    const uint32_t bit = 1u << status;
    usable += status == STATUS_ok || status == STATUS_unverified || status == STATUS_disputed;
    wrong += status == STATUS_wrong;
    *out_failed +=
        bit & fail_on->statuses || records[i].flags & fail_on->flags ||
        (bit & fail_on->if_named && is_named(backends, named_count, records[i].config.backend));
  }
  if (!usable) return wrong ? 4 : 3;
  return *out_failed ? 1 : 0;
}
