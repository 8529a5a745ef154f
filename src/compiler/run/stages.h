/* How the threads of a team share the stages of a job (artifact.h). Standalone: C11 and, on Linux,
 * futexes; libhone and compiled programs use this same file.
 *
 * The chunks of a stage are divided into equal shares, so that a thread finds its data in its
 * caches. A thread takes chunks from the front of its own share, then from the back of the others'.
 * The thread that finishes the last chunk of a stage begins the next one. So threads wait only for
 * chunks that were begun, not for other threads: a thread that loses its core between two chunks
 * does not delay the run. Waiting means spinning for a bounded time, then sleeping: a sleeping
 * thread gets its core back sooner than one that used up its time by spinning or yielding.
 *
 * Invariants. `round` counts stages and ends of runs and never decreases. Each word of a share has
 * its round in the upper bits; an older round means that nothing is taken yet. Only a thread that
 * owns an unfinished chunk, or finished the last chunk of its round, accesses the job: until then
 * the run cannot end. A round ends only after every chunk of it was taken, so a thread that slept
 * over the end of its round finds every share with chunks changed, and takes none.
 */
#ifndef HONE_STAGES_H
#define HONE_STAGES_H

#include "artifact.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <sched.h>
#endif

#define STAGES_LINE _Alignas(128) /* two cache lines: the adjacent-line prefetcher loads pairs */

enum {
  STAGES_SHARE_CHUNKS = 16, /* maximum per thread; a share's word could hold 255 */
  STAGES_PAUSES = 32,       /* between readings of the clock: a pause is 10 to 50 ns */
  /* wait during which a thread lets the others finish their own shares */
  STAGES_PAUSES_TO_TAKE = 16
};

struct stages_share {
  STAGES_LINE _Atomic uint64_t taken; /* round << 16 | from the front << 8 | from the back */
};

struct stages {
  STAGES_LINE _Atomic uint64_t round;
  _Atomic uint64_t shape[2]; /* by round & 1: chunks << 32 | threads; 0 chunks: no run */
  struct hone_job job;
  STAGES_LINE _Atomic int32_t left; /* chunks of this round that are not finished */
  STAGES_LINE _Atomic uint32_t sleepers;
  _Atomic uint32_t bell; /* futex word: changes to wake sleepers */
  _Atomic uint32_t ends; /* workers must return */
  _Atomic uint32_t busy; /* a run is using the workers */
  STAGES_LINE int32_t thread_count;
  uint64_t run_spin_ns, idle_spin_ns; /* in a run, between runs; 0: sleep at once */
  struct stages_share *shares;        /* [thread_count], zeroed */
};

static inline void stages_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#else
  __asm__ volatile("" ::: "memory");
#endif
}

static inline uint64_t stages_clock_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* -- waiting */

static inline bool stages_is_over(struct stages *s, uint64_t round) {
  return atomic_load_explicit(&s->round, memory_order_acquire) != round;
}

static inline bool stages_spin(struct stages *s, uint64_t round, uint64_t spin_ns) {
  for (uint64_t begin = 0;;) {
    for (int i = 0; i < STAGES_PAUSES; i++) {
      if (stages_is_over(s, round)) return true;
      stages_pause();
    }
    if (!spin_ns) return false;
    uint64_t now = stages_clock_ns();
    if (!begin) begin = now;
    if (now - begin >= spin_ns) return false;
  }
}

/* Until the round is over. Sequentially consistent here and in stages_publish: either that sees
   the sleeper, or the sleeper sees the new round. */
static inline void stages_wait(struct stages *s, uint64_t round, uint64_t spin_ns) {
  if (stages_spin(s, round, spin_ns)) return;
  atomic_fetch_add(&s->sleepers, 1);
  for (;;) {
    uint32_t bell = atomic_load(&s->bell);
    if (atomic_load(&s->round) != round) break;
#ifdef __linux__
    syscall(SYS_futex, &s->bell, FUTEX_WAIT_PRIVATE, bell, NULL, NULL, 0);
#else
    (void)bell;
    sched_yield();
#endif
  }
  atomic_fetch_sub(&s->sleepers, 1);
}

static inline void stages_publish(struct stages *s, uint64_t round) {
  atomic_store(&s->round, round);
  if (!atomic_load(&s->sleepers)) return;
  atomic_fetch_add(&s->bell, 1);
#ifdef __linux__
  syscall(SYS_futex, &s->bell, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
#endif
}

/* -- sharing */

/* Takes a chunk of a share of `size` chunks from its front or back; *out counts from that end. */
static inline bool stages_take(struct stages_share *share, uint64_t round, uint64_t size,
                               bool front, uint64_t *out) {
  uint64_t word = atomic_load_explicit(&share->taken, memory_order_relaxed), now = round << 16;
  for (;;) {
    uint64_t mine = word >> 16 == now >> 16 ? word : now;
    if (word > mine || (mine >> 8 & 255) + (mine & 255) >= size) return false;
    *out = front ? mine >> 8 & 255 : mine & 255;
    if (atomic_compare_exchange_weak_explicit(&share->taken, &word, mine + (front ? 256 : 1),
                                              memory_order_acq_rel, memory_order_relaxed))
      return true;
  }
}

/* Thread t works on the rest of the share of thread `owner`; returns the number of chunks done. */
static inline int32_t stages_do_share(struct stages *s, uint64_t round, uint64_t shape,
                                      int32_t owner, int32_t t) {
  uint64_t chunks = shape >> 32, threads = shape & UINT32_MAX, who = (uint64_t)owner;
  uint64_t first = chunks * who / threads, size = chunks * (who + 1) / threads - first, at;
  int32_t done = 0;
  for (; stages_take(&s->shares[owner], round, size, owner == t, &at); done++)
    s->job.work(s->job.argument, (int32_t)(owner == t ? first + at : first + size - 1 - at), t);
  return done;
}

/* True if thread t finished the last chunk of the round. */
static inline bool stages_finish(struct stages *s, int32_t done) {
  return done && atomic_fetch_sub_explicit(&s->left, done, memory_order_acq_rel) == done;
}

/* Thread t works for the round; true if it finished it. */
static inline bool stages_help(struct stages *s, uint64_t round, uint64_t shape, int32_t t) {
  int32_t threads = (int32_t)(shape & UINT32_MAX), done = 0;
  if (t >= threads) return false;
  if (stages_finish(s, stages_do_share(s, round, shape, t, t))) return true;
  /* an owner that has its core is faster than a thief, whose access moves the cache line */
  for (int i = 0; i < STAGES_PAUSES_TO_TAKE; i++) {
    if (stages_is_over(s, round)) return false;
    stages_pause();
  }
  for (int32_t i = 1; i < threads; i++)
    done += stages_do_share(s, round, shape, (t + i) % threads, t);
  return stages_finish(s, done);
}

/* The shape of the current round; *out_round gets its number. */
static inline uint64_t stages_look(struct stages *s, uint64_t *out_round) {
  for (;;) {
    uint64_t round = atomic_load_explicit(&s->round, memory_order_acquire);
    uint64_t shape = atomic_load_explicit(&s->shape[round & 1], memory_order_acquire);
    *out_round = round; /* a shape is overwritten only after the next round was published */
    if (atomic_load_explicit(&s->round, memory_order_relaxed) == round) return shape;
  }
}

/* Called by thread t after the last chunk of `round`, or when the run begins. */
static inline void stages_advance(struct stages *s, uint64_t round, int32_t t) {
  struct hone_stage stage = {STAGES_SHARE_CHUNKS, s->thread_count};
  s->job.next(s->job.argument, t, &stage);
  atomic_store_explicit(&s->left, stage.chunks, memory_order_relaxed);
  atomic_store_explicit(&s->shape[(round + 1) & 1],
                        (uint64_t)stage.chunks << 32 | (uint32_t)stage.threads,
                        memory_order_release);
  stages_publish(s, round + 1);
}

/* -- called by a team */

/* A job on one thread. */
static inline void stages_run_alone(const struct hone_job *job) {
  for (;;) {
    struct hone_stage stage = {1, 1};
    job->next(job->argument, 0, &stage);
    if (!stage.chunks) return;
    for (int32_t chunk = 0; chunk < stage.chunks; chunk++) job->work(job->argument, chunk, 0);
  }
}

/* A job with all workers; the calling thread is thread 0. Any thread may call. The workers serve
   one run at a time: a call that finds them busy does its job alone, on its own thread. */
static inline void stages_run(struct stages *s, const struct hone_job *job) {
  uint64_t round, shape;
  if (atomic_exchange_explicit(&s->busy, 1, memory_order_acquire)) {
    stages_run_alone(job);
    return;
  }
  (void)stages_look(s, &round);
  s->job = *job;
  stages_advance(s, round, 0);
  while ((shape = stages_look(s, &round)) >> 32) {
    if (stages_help(s, round, shape, 0))
      stages_advance(s, round, 0);
    else
      stages_wait(s, round, s->run_spin_ns);
  }
  atomic_store_explicit(&s->busy, 0, memory_order_release);
}

/* The loop of worker t until stages_end. No round follows the last one, so the end is checked
   after each round. */
static inline void stages_serve(struct stages *s, int32_t t) {
  for (;;) {
    uint64_t round, shape = stages_look(s, &round);
    if (atomic_load_explicit(&s->ends, memory_order_acquire)) return;
    if (shape >> 32 && stages_help(s, round, shape, t))
      stages_advance(s, round, t);
    else
      stages_wait(s, round, shape >> 32 ? s->run_spin_ns : s->idle_spin_ns);
  }
}

/* Workers return; no run may be in progress. */
static inline void stages_end(struct stages *s) {
  uint64_t round;
  (void)stages_look(s, &round);
  atomic_store_explicit(&s->ends, 1, memory_order_release);
  atomic_store_explicit(&s->shape[(round + 1) & 1], 0, memory_order_release);
  stages_publish(s, round + 1);
}

#endif
