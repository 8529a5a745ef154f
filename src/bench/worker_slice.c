/* Warm-up and slices of a worker's open cell: samples go to files of its folder, facts into the
 * answer.
 */
#include "worker.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

hone_status warm_up(struct ctx *ctx, struct state *state, const json_t *command,
                    json_t **out_reply) {
  uint64_t start = clock_ns();
  bool is_stationary;
  TRY(loop_warmup(ctx, &state->loop, (uint64_t)message_int(command, "max_ns", 0), &is_stationary));
  *out_reply =
      json_pack("{s:s, s:f, s:f, s:b, s:I}", "event", "warm", "ms",
                (double)(clock_ns() - start) / 1e6, "median_ns", fmax(1.0, state->loop.median_ns),
                "is_stationary", is_stationary, "rss", (json_int_t)resident_bytes());
  return HONE_OK;
}

static hone_status write_samples(struct ctx *ctx, const struct state *state, const char *kind,
                                 int round, const uint64_t *samples, size_t count) {
  char path[4096 + 64];
  snprintf(path, sizeof path, "%s/%s_%d.npy", state->work_dir, kind, round);
  umask(077); /* an engine may have changed it */
  const hone_tensor tensor = {
      .data = (void *)(uintptr_t)samples, .dtype = HONE_U64, .rank = 1, .shape = {(int64_t)count}};
  return npy_write(ctx, path, &tensor);
}

static int64_t involuntary_switches(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) ? -1 : (int64_t)usage.ru_nivcsw;
}

hone_status measure_slice(struct ctx *ctx, struct state *state, const json_t *command,
                          json_t **out_reply) {
  const struct slice_plan plan = {.min_samples = (uint64_t)message_int(command, "min_samples", 1),
                                  .min_ns = (uint64_t)message_int(command, "min_ns", 0),
                                  .max_ns = (uint64_t)message_int(command, "max_ns", INT64_MAX),
                                  .rewarm_ns = (uint64_t)message_int(command, "rewarm_ns", 0),
                                  .checks = (int)message_int(command, "checks", 0)};
  int round = (int)message_int(command, "round", 0);
  struct slice slice;
  int64_t switches = involuntary_switches();
  TRY(loop_slice(ctx, &state->loop, &plan, &slice));
  switches = involuntary_switches() - switches;
  hone_status status = write_samples(ctx, state, "block", round, slice.samples, slice.sample_count);
  if (!status)
    status = write_samples(ctx, state, "rewarm", round, slice.rewarm, slice.rewarm_count);
  accuracy_merge(&state->accuracy, &slice.accuracy);
  slice_deinit(&slice);
  TRY(status);
  *out_reply = json_pack(
      "{s:s, s:i, s:I, s:I, s:i, s:b, s:I, s:I, s:I, s:I}", "event", "block", "round", round,
      "samples", (json_int_t)slice.sample_count, "rewarm", (json_int_t)slice.rewarm_count,
      "verified", slice.verified, "is_within", state->accuracy.is_within, "involuntary",
      (json_int_t)switches, "iterations", (json_int_t)state->loop.iterations, "rss",
      (json_int_t)resident_bytes(), "rss_peak", (json_int_t)peak_resident_bytes());
  set_accuracy(*out_reply, &state->accuracy);
  if (!state->accuracy.is_within)
    json_object_set_new(*out_reply, "where", json_string(state->accuracy.where));
  return HONE_OK;
}
