/* Jobs of a build: parts of the weights to pack and write, units and main to compile, distributed
 * over as many threads as there are usable cores. Parts come first, so that the disk works while
 * the compiler does.
 */
#include "core/os/os.h"
#include "toolchain_internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <sys/resource.h>

/* One per core; with few file descriptors left (ulimit -n), one at a time. */
static size_t most_at_once(void) {
  struct rlimit files;
  if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < 64) return 1;
  return (size_t)usable_core_count();
}

#define MAX_WORKERS 64

struct jobs {
  const struct build *build;
  /* numbers: units, main, the stub of the weights, then parts */
  size_t unit_count, compile_count, count;
  atomic_size_t next;   /* in execution order */
  atomic_size_t failed; /* lowest number that failed; SIZE_MAX */
  pthread_mutex_t lock;
  struct ctx first; /* its context */
};

struct job {
  struct jobs *jobs;
  size_t number;
};

static bool is_cancelled(const void *user) {
  const struct job *job = user;
  return atomic_load(&job->jobs->failed) < job->number;
}

/* The position after `count` lines. */
static const char *skip_lines(const char *at, const char *end, long *count) {
  while (*count > 0 && at < end) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    at = newline ? newline + 1 : end;
    --*count;
  }
  return at;
}

/* For an error in a file of --kernel-dir the user must fix that file: the one whose mark
   precedes the line that the compiler named. */
static hone_status blame_source(struct ctx *ctx, const struct build_unit *unit,
                                const char *source) {
  const char *named = strstr(ctx->message, source), *from = unit->source, *own = NULL;
  long line = named ? strtol(named + strlen(source) + 1, NULL, 10) : 0;
  if (unit->head) (void)skip_lines(unit->head, unit->head + unit->head_length, &line);
  const char *const end = skip_lines(from, from + unit->length, &line);
  for (const char *at;
       named && (at = memmem(from, (size_t)(end - from), OWN_SOURCE, strlen(OWN_SOURCE)));
       from = own)
    own = at + strlen(OWN_SOURCE);
  if (!own) return ctx->status;
  char file[128], words[1200];
  snprintf(file, sizeof file, "%.*s", (int)strcspn(own, " \n"), own);
  snprintf(words, sizeof words, "%s", named);
  ctx_clear(ctx);
  return advise(ctx,
                fail(ctx, HONE_E_USAGE, place_file(file), "the compiler rejects it: %s", words),
                "fix this file of --kernel-dir; --keep DIR keeps the source that was compiled");
}

static hone_status compile_unit(struct ctx *ctx, const struct build *build, const struct job *job) {
  const struct build_unit *unit = &build->input->units[job->number];
  char source[32], object[32];
  snprintf(source, sizeof source, "unit%zu.c", job->number);
  snprintf(object, sizeof object, "unit%zu.o", job->number);
  const struct file_part parts[] = {{unit->head, unit->head_length}, {unit->source, unit->length}};
  TRY(put_parts(ctx, build->directory, source, parts, COUNT(parts)));
  struct arguments arguments = {0};
  unit_arguments(build, job->number, &arguments);
  const hone_status status =
      tool_run(ctx, &arguments, build->directory, build->deadline_ns, object, is_cancelled, job);
  return status == HONE_E_CRASH ? blame_source(ctx, unit, source) : status;
}

static hone_status compile_main(struct ctx *ctx, const struct build *build, const struct job *job) {
  const char *name, *text;
  size_t length;
  for (size_t i = 0; main_file(i, &name, &text, &length); i++) {
    if (!text) return fail(ctx, HONE_E_INTERNAL, place_name(name), "not embedded");
    TRY(put_file(ctx, build->directory, name, text, length));
  }
  struct arguments arguments = {0};
  main_arguments(build, &arguments);
  return tool_run(ctx, &arguments, build->directory, build->deadline_ns, "main.o", is_cancelled,
                  job);
}

static hone_status run_job(struct ctx *ctx, const struct job *job) {
  const struct jobs *jobs = job->jobs;
  if (job->number >= jobs->compile_count)
    return weights_part(ctx, jobs->build, job->number - jobs->compile_count);
  if (job->number < jobs->unit_count) return compile_unit(ctx, jobs->build, job);
  return jobs->build->has_main && job->number == jobs->unit_count
             ? compile_main(ctx, jobs->build, job)
             : assemble_weights(ctx, jobs->build);
}

/* The steps' unit, which is the last, begins first, because it takes longest. Then the others in
   order; the loops' unit is short. */
static size_t compile_turn(const struct jobs *jobs, size_t turn) {
  if (turn >= jobs->unit_count) return turn;
  return turn ? turn - 1 : jobs->unit_count - 1;
}

static void *work(void *argument_) {
  struct jobs *jobs = argument_;
  struct ctx start = jobs->first;
  for (size_t turn; (turn = atomic_fetch_add(&jobs->next, 1)) < jobs->count;) {
    size_t parts = jobs->count - jobs->compile_count;
    struct job job = {jobs,
                      turn < parts ? jobs->compile_count + turn : compile_turn(jobs, turn - parts)};
    struct ctx ctx = start;
    if (is_cancelled(&job) || !run_job(&ctx, &job)) continue;
    pthread_mutex_lock(&jobs->lock);
    if (!is_cancelled(&job)) {
      atomic_store(&jobs->failed, job.number);
      jobs->first = ctx;
    }
    pthread_mutex_unlock(&jobs->lock);
  }
  return NULL;
}

hone_status run_jobs(struct ctx *ctx, const struct build *build, bool compiles) {
  struct jobs jobs = {.build = build, .first = *ctx};
  jobs.unit_count = compiles ? build->input->unit_count : 0;
  jobs.compile_count =
      jobs.unit_count + (compiles && build->has_main) + (compiles && build->inserts);
  jobs.count = jobs.compile_count + (build->file.fd >= 0 ? build->input->part_count : 0);
  atomic_init(&jobs.failed, SIZE_MAX);
  if (pthread_mutex_init(&jobs.lock, NULL))
    return fail(ctx, HONE_E_OOM, place_none(), "no memory to compile");
  size_t count = most_at_once(), started = 0;
  if (count > jobs.count) count = jobs.count;
  if (count > MAX_WORKERS) count = MAX_WORKERS;
  pthread_t threads[MAX_WORKERS];
  /* this thread works too; with fewer threads than wanted it only takes longer */
  while (started + 1 < count && !pthread_create(&threads[started], NULL, work, &jobs)) started++;
  work(&jobs);
  for (size_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
  pthread_mutex_destroy(&jobs.lock);
  if (atomic_load(&jobs.failed) == SIZE_MAX) return HONE_OK;
  ctx->status = jobs.first.status;
  memcpy(ctx->message, jobs.first.message, sizeof ctx->message);
  memcpy(ctx->hint, jobs.first.hint, sizeof ctx->hint);
  return ctx->status;
}
