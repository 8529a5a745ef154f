/* libteam.so: a team of threads for callers of model.so that have none. The artifact itself has no thread pool. */
#include "stages.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct started {
  struct stages stages;
  struct hone_team team; /* its self is this struct */
  unsigned forks;        /* the value of `forks` in the process that has the threads */
};
struct place {
  struct started *of;
  int32_t number;
};

static void *serve(void *argument) {
  struct place place = *(struct place *)argument;
  free(argument);
  stages_serve(&place.of->stages, place.number);
  return NULL;
}

/* After fork() the child has none of the threads: a run there uses the calling thread only. */
static _Atomic unsigned forks;
static void in_child(void) { forks++; }
static void watch(void) { pthread_atfork(NULL, NULL, in_child); }

static void run(void *self, const struct hone_job *job) {
  struct started *s = self;
  if (s->forks == forks)
    stages_run(&s->stages, job);
  else
    stages_run_alone(job);
}

/* Starts a team of `count` threads, including the caller, which live until the process ends. The result is the `team` of
   hone_artifact_info's run. NULL: no memory, or a thread cannot start. Several threads may use one team: while it is busy
   with one run, other runs use their calling threads. */
__attribute__((visibility("default"))) const struct hone_team *team_start(int32_t count) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (count < 2 || count > 1024) return NULL; /* a run without a team uses one thread */
  struct started *s = aligned_alloc(128, (sizeof *s + 127) / 128 * 128);
  size_t bytes = (size_t)count * sizeof *s->stages.shares;
  if (!s) return NULL;
  memset(s, 0, sizeof *s);
  pthread_once(&once, watch);
  s->forks = forks;
  s->stages.shares = aligned_alloc(128, bytes);
  if (!s->stages.shares) return NULL;
  memset(s->stages.shares, 0, bytes);
  s->stages.thread_count = count;
  s->stages.run_spin_ns = s->stages.idle_spin_ns = count <= sysconf(_SC_NPROCESSORS_ONLN) ? 50000 : 0;
  for (int32_t i = 1; i < count; i++) {
    pthread_t thread;
    struct place *place = malloc(sizeof *place);
    if (!place) return NULL;
    *place = (struct place){s, i};
    if (pthread_create(&thread, NULL, serve, place)) return NULL;
    pthread_detach(thread);
  }
  s->team = (struct hone_team){s, count, run};
  return &s->team;
}
