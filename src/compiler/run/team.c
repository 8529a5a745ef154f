/* Thread team: persistent workers; thread 0 is the caller. stages.h has the sharing of a job.
 *
 * Within a run, a thread without work spins for RUN_SPIN_NS; between runs a worker spins for
 * IDLE_SPIN_NS; then it sleeps, so an idle team costs nothing. A team with more threads than cores
 * never spins. A team of one thread only calls the job.
 *
 * A child made by fork() has no workers. Its first run starts new ones, and team_destroy does not
 * wait for the old ones.
 */
#include "run_internal.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include "stages.h"

#define MAX_THREADS 1024
#define IDLE_SPIN_NS 50000u
#define RUN_SPIN_NS 50000u
#define STACK_BYTES (2u << 20)

struct worker {
  struct team *team;
  pthread_t thread;
  int32_t index;
};

struct team {
  struct stages stages;
  struct hone_team interface;
  struct worker *workers; /* [thread_count - 1] */
  int32_t started;
  _Atomic uint32_t forks; /* fork_count() of the process that has the workers */
  size_t cpu_set_bytes;   /* of caller_cpus, restored by team_destroy; 0: not pinned */
  cpu_set_t *caller_cpus;
  pthread_t caller;
};

static void *work(void *argument) {
  const struct worker *worker = argument;
  stages_serve(&worker->team->stages, worker->index);
  return NULL;
}

static void run_alone(void *self, const struct hone_job *job) {
  (void)self;
  stages_run_alone(job);
}

/* The n-th CPU of a set, wrapping around. */
static size_t nth_cpu(const cpu_set_t *set, size_t bytes, int n) {
  n %= CPU_COUNT_S(bytes, set);
  for (size_t cpu = 0; cpu < bytes * 8; cpu++)
    if (CPU_ISSET_S(cpu, bytes, set) && n-- == 0) return cpu;
  return 0;
}

static bool pin(pthread_t thread, const struct team *team, int32_t t) {
  cpu_set_t *one = CPU_ALLOC(team->cpu_set_bytes * 8);
  if (!one) return false;
  CPU_ZERO_S(team->cpu_set_bytes, one);
  CPU_SET_S(nth_cpu(team->caller_cpus, team->cpu_set_bytes, t), team->cpu_set_bytes, one);
  bool ok = !pthread_setaffinity_np(thread, team->cpu_set_bytes, one);
  CPU_FREE(one);
  return ok;
}

/* Workers block signals: these belong to the program's own threads. */
static int start_workers(struct team *team) {
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error) return error;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (!error && team->started < team->interface.thread_count - 1) {
    struct worker *worker = &team->workers[team->started];
    *worker = (struct worker){.team = team, .index = team->started + 1};
    error = pthread_create(&worker->thread, &attributes, work, worker);
    if (!error) team->started++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return error;
}

/* The workers belong to the parent process: starts new ones. Without memory for them a run uses
   the threads that did start, or the caller alone. */
static void restart_team(struct team *team) {
  fork_lock();
  if (team->forks != fork_count()) {
    struct stages *old = &team->stages;
    memset(old->shares, 0, (size_t)old->thread_count * sizeof *old->shares);
    team->stages = (struct stages){.thread_count = old->thread_count,
                                   .run_spin_ns = old->run_spin_ns,
                                   .idle_spin_ns = old->idle_spin_ns,
                                   .shares = old->shares};
    team->started = 0;
    (void)start_workers(team);
    team->forks = fork_count();
  }
  fork_unlock();
}

static void run_team(void *self, const struct hone_job *job) {
  struct team *team = self;
  if (team->forks != fork_count()) restart_team(team);
  stages_run(&team->stages, job);
}

static hone_status start_team(struct ctx *ctx, struct team *team, bool pinned) {
  int32_t count = team->interface.thread_count;
  size_t bytes = 0;
  cpu_set_t *cpus = allowed_cpus(&bytes);
  int cores = cpus ? CPU_COUNT_S(bytes, cpus) : 1;
  team->stages.run_spin_ns = count <= cores ? RUN_SPIN_NS : 0;
  team->stages.idle_spin_ns = count <= cores ? IDLE_SPIN_NS : 0;
  if (cpus && pinned) {
    team->caller_cpus = cpus;
    team->cpu_set_bytes = bytes;
  } else if (cpus) {
    CPU_FREE(cpus);
  }
  size_t share_bytes = (size_t)count * sizeof *team->stages.shares;
  team->stages.thread_count = count;
  team->stages.shares = aligned_alloc(_Alignof(struct stages_share), share_bytes);
  team->workers = calloc((size_t)count, sizeof *team->workers);
  if (!team->workers || !team->stages.shares)
    return fail(ctx, HONE_E_OOM, place_none(), "no memory for %d threads", count);
  memset(team->stages.shares, 0, share_bytes);
  int error = start_workers(team);
  if (error)
    return fail(ctx, HONE_E_OOM, place_none(), "cannot start thread %d of %d: %s",
                team->started + 2, count, strerror(error));
  if (!team->caller_cpus) return HONE_OK;
  bool ok = pin(team->caller, team, 0);
  for (int32_t t = 1; t < count; t++) ok = pin(team->workers[t - 1].thread, team, t) && ok;
  if (!ok) warn(ctx, "threads could not be bound to CPUs: timings may vary more");
  return HONE_OK;
}

hone_status team_create(struct ctx *ctx, int thread_count, bool pinned, struct team **out) {
  *out = NULL;
  if (thread_count < 1 || thread_count > MAX_THREADS)
    return fail(ctx, HONE_E_USAGE, place_none(), "%d threads: the number must be 1 to %d",
                thread_count, MAX_THREADS);
  struct team *team = aligned_alloc(_Alignof(struct team), sizeof *team);
  if (!team) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a thread team");
  memset(team, 0, sizeof *team);
  team->caller = pthread_self();
  fork_watch();
  team->forks = fork_count();
  team->interface = (struct hone_team){team, thread_count, run_team};
  if (thread_count == 1) team->interface.run = run_alone;
  hone_status status = HONE_OK;
  if (thread_count > 1 || pinned) status = start_team(ctx, team, pinned);
  if (status) {
    team_destroy(team);
    return status;
  }
  *out = team;
  return HONE_OK;
}

void team_destroy(struct team *team) {
  if (!team) return;
  if (team->forks != fork_count()) team->started = 0;
  if (team->started) stages_end(&team->stages);
  for (int32_t i = 0; i < team->started; i++) pthread_join(team->workers[i].thread, NULL);
  if (team->caller_cpus) {
    if (pthread_equal(team->caller, pthread_self()))
      pthread_setaffinity_np(team->caller, team->cpu_set_bytes, team->caller_cpus);
    CPU_FREE(team->caller_cpus);
  }
  free(team->workers);
  free(team->stages.shares);
  free(team);
}

const struct hone_team *team_interface(struct team *team) { return &team->interface; }
