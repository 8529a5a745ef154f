/* Compares outputs that a Python worker wrote as files (the "checks" of its answer). NAME_I.npy in
 * the worker's folder is output I, in the model's order, of an inference of that input set;
 * NAME_tokens.npy has a row of generated tokens per generation of that prompt.
 */
#include "transport.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

/* True for file names of the expected form. */
static bool is_plain_name(const char *name) {
  size_t length = strlen(name);
  for (size_t i = 0; i < length; i++)
    if (!islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i]) && name[i] != '_')
      return false;
  return length > 0 && length <= 40;
}

static void differ(struct accuracy *out, const char *name) {
  char shown[128];
  safe_copy(shown, sizeof shown, name);
  if (out->is_within)
    snprintf(out->where, sizeof out->where, "output \"%s\" has another type or shape", shown);
  out->is_within = false;
}

/* Reads and removes a file of that name. */
static hone_status take_file(struct worker *worker, const char *name, const char *ending,
                             hone_tensor *out) {
  char path[4096], file[64];
  struct ctx ctx;
  ctx_init(&ctx);
  snprintf(file, sizeof file, "%s_%s.npy", name, ending);
  snprintf(path, sizeof path, "%.4000s/%s", worker->dir, file);
  hone_status status = worker->transport->get(&ctx, worker, file);
  if (!status) status = npy_read(&ctx, path, NULL, out);
  unlink(path);
  return status;
}

enum comparison { COMPARED, NO_REFERENCE, DAMAGED };
static enum comparison compare_tokens(struct worker *worker, const char *name, int set,
                                      struct accuracy *out) {
  const struct scenario *scenario = worker->generates;
  struct reference_tokens reference;
  struct ctx ctx;
  char dir[4096];
  ctx_init(&ctx);
  generation_path(worker->checked_case, scenario, dir);
  hone_tensor actual = {.data = NULL};
  const hone_status status = take_file(worker, name, "tokens", &actual);
  enum comparison result = DAMAGED;
  if (!status && actual.dtype == HONE_I64 && actual.rank == 2 && actual.shape[0] > 0 &&
      actual.shape[1] == scenario->count) {
    result = NO_REFERENCE;
    const bool has_reference =
        !reference_tokens_read(&ctx, dir, set, scenario->prompt, scenario->count,
                               generation_lead(worker->checked_case->format), &reference);
    for (int64_t i = 0; has_reference && i < actual.shape[0]; i++)
      if (reference_tokens_compare(&reference, (const int64_t *)actual.data + i * scenario->count,
                                   out))
        result = COMPARED;
    reference_tokens_deinit(&reference);
  }
  free(actual.data);
  return result;
}

static enum comparison compare_output(struct worker *worker, const char *name, int set, size_t i,
                                      struct accuracy *out) {
  const struct bench_case *one = worker->checked_case;
  char path[4096], ending[24];
  struct ctx ctx;
  ctx_init(&ctx);
  hone_tensor actual = {.data = NULL}, expected = {.data = NULL};
  const struct yardstick yardstick = {.precision = worker->precision,
                                      .step = one->steps ? one->steps[i] : 0,
                                      .condition = {one->conditions ? one->conditions[i][0] : 0,
                                                    one->conditions ? one->conditions[i][1] : 0}};
  snprintf(ending, sizeof ending, "%zu", i);
  if (take_file(worker, name, ending, &actual)) return DAMAGED;
  data_path(path, one->data_dir, "out", set, i);
  bool has_reference = !access(path, F_OK) && !npy_read(&ctx, path, NULL, &expected);
  if (has_reference && same_form(&expected, &actual))
    accuracy_add(out, one->outputs[i].name, &expected, actual.data, &yardstick);
  else if (has_reference)
    differ(out, one->outputs[i].name);
  free(actual.data);
  free(expected.data);
  return has_reference ? COMPARED : NO_REFERENCE;
}

/* Compares all outputs of one check. DAMAGED ends the configuration. */
static enum comparison compare_values(struct worker *worker, const char *name, int set,
                                      struct accuracy *out) {
  const struct bench_case *one = worker->checked_case;
  enum comparison all = one && !one->is_disputed && one->output_count > 0 ? COMPARED : NO_REFERENCE;
  for (size_t i = 0; one && i < one->output_count; i++) {
    const enum comparison result = compare_output(worker, name, set, i, out);
    if (result == DAMAGED) return DAMAGED;
    if (result == NO_REFERENCE) all = NO_REFERENCE;
  }
  return all;
}

bool compare_checks(struct worker *worker, const json_t *checks, struct accuracy *out,
                    int *out_verified) {
  const struct bench_case *one = worker->checked_case;
  const bool generates = one && worker->generates;
  if (generates)
    accuracy_of_tokens(out);
  else
    accuracy_init(out);
  *out_verified = 0;
  for (size_t c = 0; c < json_array_size(checks); c++) {
    const json_t *check = json_array_get(checks, c);
    const char *name = message_text(check, "name");
    const int64_t set = message_int(check, "set", -1);
    if (!is_plain_name(name) || set < 0 || set >= BENCH_SETS) return false;
    const enum comparison result = generates ? compare_tokens(worker, name, (int)set, out)
                                             : compare_values(worker, name, (int)set, out);
    if (result == DAMAGED) return false;
    *out_verified += result == COMPARED;
  }
  if (one && one->is_disputed) out->is_within = true;
  return true;
}
