/* Warm-up and slices of a worker's open configuration. Samples are written to files in its folder,
 * facts go into the answer.
 */
#include "bench/wire/wire.h"
#include "generation.h"
#include "worker_internal.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

hone_status warm_up(struct ctx *ctx, struct state *state, const json_t *command,
                    json_t **out_reply) {
  uint64_t start = clock_ns();
  bool is_stationary;
  const uint64_t max_ns = (uint64_t)message_int(command, "max_ns", 0);
  TRY(state->loop.generator ? generate_warmup(ctx, &state->loop, max_ns, &is_stationary)
                            : loop_warmup(ctx, &state->loop, max_ns, &is_stationary));
  *out_reply =
      json_pack("{s:s, s:f, s:f, s:b, s:I}", "event", "warm", "ms",
                (double)(clock_ns() - start) / 1e6, "median_ns", fmax(1.0, state->loop.median_ns),
                "is_stationary", is_stationary, "rss", (json_int_t)resident_bytes());
  return HONE_OK;
}

#define MAX_THREADS 512

static hone_status write_samples(struct ctx *ctx, const struct state *state, const char *kind,
                                 int round, const uint64_t *samples, size_t count) {
  char path[4096 + 64];
  snprintf(path, sizeof path, "%s/%s_%d.npy", state->work_dir, kind, round);
  umask(077); /* an engine may have changed it */
  const hone_tensor tensor = {
      .data = (void *)(uintptr_t)samples, .dtype = HONE_U64, .rank = 1, .shape = {(int64_t)count}};
  return npy_write(ctx, path, &tensor);
}

/* CPU time of every thread of this process in ns: proc(5), first number of schedstat. */
struct thread_times {
  size_t count;
  struct {
    int64_t id;
    uint64_t ns;
  } at[MAX_THREADS];
};

static void read_thread_times(struct thread_times *out) {
  out->count = 0;
  DIR *folder = opendir("/proc/self/task");
  if (!folder) return;
  for (struct dirent *entry; out->count < MAX_THREADS && (entry = readdir(folder));) {
    char path[400];
    int64_t id;
    unsigned long long ns;
    if (!parse_i64(entry->d_name, 1, INT32_MAX, &id)) continue;
    snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", entry->d_name);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%llu", &ns) == 1) {
      out->at[out->count].id = id;
      out->at[out->count++].ns = ns;
    }
    if (file) fclose(file);
  }
  closedir(folder);
}

/* Number of threads with over a tenth of the busiest thread's CPU time; -1 if the kernel does not
   report it. The kernel counts in ticks, so shares are compared with each other, not with the
   clock. */
static int busy_threads(const struct thread_times *before) {
  struct thread_times *after = malloc(sizeof *after);
  uint64_t most = 0;
  int count = 0;
  if (!after) return -1;
  read_thread_times(after);
  for (size_t i = 0; i < after->count; i++) {
    for (size_t k = 0; k < before->count; k++)
      if (before->at[k].id == after->at[i].id) {
        after->at[i].ns -= before->at[k].ns;
        break;
      }
    if (after->at[i].ns > most) most = after->at[i].ns;
  }
  for (size_t i = 0; i < after->count; i++) count += after->at[i].ns > most / 10;
  free(after);
  return most ? count : -1;
}

static int64_t involuntary_switches(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) ? -1 : (int64_t)usage.ru_nivcsw;
}

hone_status measure_slice(struct ctx *ctx, struct state *state, const json_t *command,
                          json_t **out_reply) {
  struct slice_plan plan = {.min_samples = (uint64_t)message_int(command, "min_samples", 1),
                            .min_ns = (uint64_t)message_int(command, "min_ns", 0),
                            .max_ns = (uint64_t)message_int(command, "max_ns", INT64_MAX),
                            .rewarm_ns = (uint64_t)message_int(command, "rewarm_ns", 0),
                            .checks = (int)message_int(command, "checks", 0),
                            .scenario = state->scenario};
  const double rate =
      message_number(command, "rate"); /* rate of a search, instead of the configuration's */
  if (rate > 0) plan.scenario.rate_per_s = rate;
  int round = (int)message_int(command, "round", 0);
  struct slice slice;
  struct thread_times *before = malloc(sizeof *before);
  if (!before) return fail(ctx, HONE_E_OOM, place_none(), "no memory for thread times");
  read_thread_times(before);
  int64_t switches = involuntary_switches();
  hone_status status = loop_slice(ctx, &state->loop, &plan, &slice);
  switches = involuntary_switches() - switches;
  int busy = busy_threads(before);
  free(before);
  TRY(status);
  status = write_samples(ctx, state, "block", round, slice.samples, slice.sample_count);
  if (!status)
    status = write_samples(ctx, state, "rewarm", round, slice.rewarm, slice.rewarm_count);
  if (!status && slice.scheduled)
    status = write_samples(ctx, state, "scheduled", round, slice.scheduled, slice.sample_count);
  if (!status && slice.started)
    status = write_samples(ctx, state, "started", round, slice.started, slice.sample_count);
  if (!status && slice.copy_in_count)
    status = write_samples(ctx, state, "copy_in", round, slice.copy_in, slice.copy_in_count);
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
  json_object_set_new(*out_reply, "busy_threads", json_integer(busy));
  json_object_set_new(*out_reply, "copy_in", json_integer((json_int_t)slice.copy_in_count));
  if (!state->accuracy.is_within)
    json_object_set_new(*out_reply, "where", json_string(state->accuracy.where));
  return HONE_OK;
}
