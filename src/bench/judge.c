/* Outputs that a worker handed over as files ("checks" of its answer) instead of judging them itself:
 * engines that are called from Python. NAME_I.npy in the worker's folder is output I, in the model's
 * order, of an inference of that input set.
 */
#include "bench.h"
#include "transport.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

/* A file name of our own making, or nothing. */
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

enum judged { JUDGED, NO_REFERENCE, DAMAGED };
static enum judged judge_output(struct worker *worker, const char *name, int set, size_t i,
                                struct accuracy *out) {
  const struct bench_case *one = worker->judged;
  char path[4096], file[64];
  struct ctx ctx;
  ctx_init(&ctx);
  hone_tensor actual = {.data = NULL}, expected = {.data = NULL};
  const struct yardstick yardstick = {.precision = worker->precision,
                                      .step = one->steps ? one->steps[i] : 0,
                                      .condition = {one->conditions ? one->conditions[i][0] : 0,
                                                    one->conditions ? one->conditions[i][1] : 0}};
  snprintf(file, sizeof file, "%s_%zu.npy", name, i);
  snprintf(path, sizeof path, "%.4000s/%s", worker->dir, file);
  hone_status status = worker->transport->get(&ctx, worker, file);
  if (!status) status = npy_read(&ctx, path, NULL, &actual);
  unlink(path);
  if (status) return DAMAGED;
  data_path(path, one->data_dir, "out", set, i);
  bool has_reference = !access(path, F_OK) && !npy_read(&ctx, path, NULL, &expected);
  if (has_reference && same_form(&expected, &actual))
    accuracy_add(out, one->outputs[i].name, &expected, actual.data, &yardstick);
  else if (has_reference)
    differ(out, one->outputs[i].name);
  free(actual.data);
  free(expected.data);
  return has_reference ? JUDGED : NO_REFERENCE;
}

bool judge_checks(struct worker *worker, const json_t *checks, struct accuracy *out,
                  int *out_verified) {
  const struct bench_case *one = worker->judged;
  accuracy_init(out);
  *out_verified = 0;
  for (size_t c = 0; c < json_array_size(checks); c++) {
    const json_t *check = json_array_get(checks, c);
    const char *name = message_text(check, "name");
    const int64_t set = message_int(check, "set", -1);
    if (!is_plain_name(name) || set < 0 || set >= BENCH_SETS) return false;
    bool is_judged = one && !one->is_disputed && one->output_count > 0;
    for (size_t i = 0; one && i < one->output_count; i++) {
      enum judged judged = judge_output(worker, name, (int)set, i, out);
      if (judged == DAMAGED) return false;
      is_judged = is_judged && judged == JUDGED;
    }
    *out_verified += is_judged;
  }
  if (one && one->is_disputed) out->is_within = true;
  return true;
}
