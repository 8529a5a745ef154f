/* Thread team: persistent workers, thread 0 is the caller, one function runs on all (SPMD).
 *
 * Inside a run threads wait by spinning: a barrier is one atomic counter and an epoch, each on its
 * own cache line; a wait above SPIN_IN_RUN_NS means that a peer lost its core, so the waiter
 * yields. Between runs a worker spins IDLE_SPIN_NS at most, then sleeps on a futex: an idle team
 * costs nothing. A team with more threads than cores never spins. A team of one calls the function
 * and that is all.
 *
 * Invariants: one run at a time and none from inside a run; every thread passes the same barriers;
 * a worker reads `job` only after it saw `start` move, the caller changes it only after `left` is
 * 0.
 */
#include "run.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_THREADS 1024
#define IDLE_SPIN_NS 50000u
#define SPIN_IN_RUN_NS 100000u
#define PAUSES_PER_CLOCK 32 /* a pause is 10 to 50 ns: the clock is read every few hundred ns */
#define STACK_BYTES (2u << 20)
#define LINE _Alignas(128) /* two lines: the adjacent-line prefetcher joins pairs */

struct job {
  void (*fn)(void *argument, int32_t thread, int32_t thread_count);
  void *argument; /* NULL fn: end */
};

struct worker {
  struct team *team;
  pthread_t thread;
  int32_t index;
};

struct team {
  LINE _Atomic uint32_t start; /* number of runs begun; futex word */
  struct job job;
  LINE _Atomic uint32_t sleepers;
  LINE _Atomic uint32_t left; /* workers that have not finished this run */
  LINE _Atomic uint32_t arrived;
  LINE _Atomic uint32_t epoch;
  LINE uint64_t spin_ns; /* 0: more threads than cores */
  struct hone_team interface;
  struct worker *workers; /* [thread_count - 1] */
  int32_t started;
  size_t cpu_set_bytes; /* of caller_cpus, restored by team_destroy; 0: not pinned */
  cpu_set_t *caller_cpus;
  pthread_t caller;
};

static inline void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#else
  __asm__ volatile("" ::: "memory");
#endif
}

static void futex(_Atomic uint32_t *word, int operation, uint32_t value) {
  /* EAGAIN and EINTR mean: look again, which every caller does */
  syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/* Spins until *word differs from (or, want_equal, is) value; false if spin_ns passed before. */
static bool spin(_Atomic uint32_t *word, uint32_t value, bool want_equal, uint64_t spin_ns) {
  uint64_t begin = 0;
  for (;;) {
    for (int i = 0; i < PAUSES_PER_CLOCK; i++) {
      if ((atomic_load_explicit(word, memory_order_acquire) == value) == want_equal) return true;
      relax();
    }
    if (!spin_ns) return false;
    uint64_t now = clock_ns();
    if (!begin) begin = now;
    if (now - begin > spin_ns) return false;
  }
}

static void wait_in_run(const struct team *team, _Atomic uint32_t *word, uint32_t value,
                        bool want_equal) {
  if (spin(word, value, want_equal, team->spin_ns)) return;
  while ((atomic_load_explicit(word, memory_order_acquire) == value) != want_equal) sched_yield();
}

static void barrier(void *self) {
  struct team *team = self;
  uint32_t epoch = atomic_load_explicit(&team->epoch, memory_order_relaxed);
  uint32_t arrived = atomic_fetch_add_explicit(&team->arrived, 1, memory_order_acq_rel) + 1;
  if (arrived == (uint32_t)team->interface.thread_count) {
    atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&team->epoch, epoch + 1, memory_order_release);
    return;
  }
  wait_in_run(team, &team->epoch, epoch, false);
}

static void wait_for_start(struct team *team, uint32_t seen) {
  uint64_t spin_ns = team->spin_ns ? IDLE_SPIN_NS : 0;
  if (spin(&team->start, seen, false, spin_ns)) return;
  /* sequentially consistent on both sides: either begin() sees the sleeper or we see the start */
  atomic_fetch_add(&team->sleepers, 1);
  while (atomic_load(&team->start) == seen) futex(&team->start, FUTEX_WAIT, seen);
  atomic_fetch_sub(&team->sleepers, 1);
}

static void begin(struct team *team, struct job job) {
  team->job = job;
  atomic_store_explicit(&team->left, (uint32_t)team->started, memory_order_relaxed);
  atomic_fetch_add(&team->start, 1);
  if (atomic_load(&team->sleepers)) futex(&team->start, FUTEX_WAKE, INT_MAX);
}

static void *work(void *argument) {
  const struct worker *worker = argument;
  struct team *team = worker->team;
  for (uint32_t seen = 0;; seen++) {
    wait_for_start(team, seen);
    if (!team->job.fn) return NULL;
    team->job.fn(team->job.argument, worker->index, team->interface.thread_count);
    atomic_fetch_sub_explicit(&team->left, 1, memory_order_acq_rel);
  }
}

static void run_team(void *self, void (*fn)(void *, int32_t, int32_t), void *argument) {
  struct team *team = self;
  begin(team, (struct job){fn, argument});
  fn(argument, 0, team->interface.thread_count);
  wait_in_run(team, &team->left, 0, true);
}

static void run_alone(void *self, void (*fn)(void *, int32_t, int32_t), void *argument) {
  (void)self;
  fn(argument, 0, 1);
}

static void no_barrier(void *self) { (void)self; }

/* The CPUs this thread may use, in a set of any size. */
static cpu_set_t *allowed_cpus(size_t *out_bytes) {
  for (size_t cpus = 1024; cpus <= 1 << 20; cpus *= 4) {
    cpu_set_t *set = CPU_ALLOC(cpus);
    if (!set) return NULL;
    *out_bytes = CPU_ALLOC_SIZE(cpus);
    if (!sched_getaffinity(0, *out_bytes, set)) return set;
    CPU_FREE(set);
    if (errno != EINVAL) return NULL;
  }
  return NULL;
}

/* The n-th CPU of a set, counted round. */
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

/* Workers take no signals: those belong to the program's own threads. */
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

static hone_status start_team(struct ctx *ctx, struct team *team, bool pinned) {
  int32_t count = team->interface.thread_count;
  size_t bytes = 0;
  cpu_set_t *cpus = allowed_cpus(&bytes);
  int cores = cpus ? CPU_COUNT_S(bytes, cpus) : 1;
  team->spin_ns = count <= cores ? SPIN_IN_RUN_NS : 0;
  if (cpus && pinned) {
    team->caller_cpus = cpus;
    team->cpu_set_bytes = bytes;
  } else if (cpus) {
    CPU_FREE(cpus);
  }
  team->workers = calloc((size_t)count, sizeof *team->workers);
  if (!team->workers) return fail(ctx, HONE_E_OOM, place_none(), "no memory for %d threads", count);
  int error = start_workers(team);
  if (error)
    return fail(ctx, HONE_E_OOM, place_none(), "cannot start thread %d of %d: %s",
                team->started + 2, count, strerror(error));
  if (!team->caller_cpus) return HONE_OK;
  bool ok = pin(team->caller, team, 0);
  for (int32_t t = 1; t < count; t++) ok = pin(team->workers[t - 1].thread, team, t) && ok;
  if (!ok) warn(ctx, "threads could not be bound to CPUs: figures may vary more");
  return HONE_OK;
}

hone_status team_create(struct ctx *ctx, int thread_count, bool pinned, struct team **out) {
  *out = NULL;
  if (thread_count < 1 || thread_count > MAX_THREADS)
    return fail(ctx, HONE_E_USAGE, place_none(), "%d threads: 1 to %d are possible", thread_count,
                MAX_THREADS);
  struct team *team = aligned_alloc(_Alignof(struct team), sizeof *team);
  if (!team) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a thread team");
  memset(team, 0, sizeof *team);
  team->caller = pthread_self();
  team->interface = (struct hone_team){team, thread_count, run_team, barrier};
  if (thread_count == 1) {
    team->interface.run = run_alone;
    team->interface.barrier = no_barrier;
  }
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
  if (team->started) begin(team, (struct job){NULL, NULL});
  for (int32_t i = 0; i < team->started; i++) pthread_join(team->workers[i].thread, NULL);
  if (team->caller_cpus) {
    if (pthread_equal(team->caller, pthread_self()))
      pthread_setaffinity_np(team->caller, team->cpu_set_bytes, team->caller_cpus);
    CPU_FREE(team->caller_cpus);
  }
  free(team->workers);
  free(team);
}

const struct hone_team *team_interface(struct team *team) { return &team->interface; }
