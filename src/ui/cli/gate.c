/* gate: which ends of a cell make a study fail, and the exit code of a study. */
#include "cli.h"

/* What nobody asked for: an engine that did its best and failed. */
#define FAILURES                                                                            \
  (1u << STATUS_error | 1u << STATUS_wrong | 1u << STATUS_disputed | 1u << STATUS_crashed | \
   1u << STATUS_timeout | 1u << STATUS_out_of_memory | 1u << STATUS_protocol_error)
/* What a backend is only blamed for where it was named. */
#define ABSENCES (1u << STATUS_unsupported | 1u << STATUS_not_installed)

static bool add_word(struct gate *gate, const char *word) {
  uint32_t flag;
  enum record_status status = status_parse(word);
  if (status != STATUS_COUNT)
    gate->statuses |= 1u << status;
  else if (*word && flags_parse(word, &flag))
    gate->flags |= flag;
  else
    return false;
  return true;
}

hone_status gate_read(struct ctx *ctx, const struct args *args, struct gate *out) {
  const char *list = value_of(args, FLAG_fail_on, NULL);
  *out = (struct gate){.statuses = FAILURES, .if_named = ABSENCES};
  if (!list) return HONE_OK;
  *out = (struct gate){0};
  if (!strcmp(list, "none")) return HONE_OK;
  while (list) {
    char word[32];
    size_t n = strcspn(list, ",");
    snprintf(word, sizeof word, "%.*s", n < sizeof word ? (int)n : 0, list);
    if (!add_word(out, word))
      return fail(ctx, HONE_E_USAGE, place_name("--fail-on"),
                  "\"%.100s\" is no status or mark of a cell; 'hone list statuses' shows them",
                  list);
    list = list[n] ? list + n + 1 : NULL;
  }
  return HONE_OK;
}

/* Whether --backend names it. */
static bool is_named(const struct args *args, const char *backend) {
  size_t n = strlen(backend);
  if (args->has_suite_backends) return false;
  for (size_t i = 0; i < args->repeated[FLAG_backend].count; i++)
    for (const char *p = args->repeated[FLAG_backend].at[i]; p;) {
      if (!strncmp(p, backend, n) && (!p[n] || p[n] == ',' || p[n] == ':')) return true;
      p = strchr(p, ',');
      if (p) p++;
    }
  return false;
}

static bool has_failed(const struct gate *gate, const struct args *args,
                       const struct record *record) {
  uint32_t status = 1u << record->status;
  if (status & gate->statuses || record->flags & gate->flags) return true;
  return (status & gate->if_named) && is_named(args, record->config.backend);
}

int gate_code(const struct gate *gate, const struct args *args, const struct record *records,
              size_t count) {
  size_t sound = 0, wrong = 0, failed = 0;
  for (size_t i = 0; i < count; i++) {
    enum record_status status = records[i].status;
    sound += status == STATUS_ok || status == STATUS_unverified || status == STATUS_disputed;
    wrong += status == STATUS_wrong;
    failed += has_failed(gate, args, &records[i]);
  }
  if (!sound) return wrong ? 4 : 3;
  if (failed)
    fprintf(stderr, "hone: %zu of %zu rows ended as --fail-on names: exit code 1\n", failed, count);
  return failed ? 1 : 0;
}
