/* A team of threads for whoever calls model.so and has none: libteam.so. The artifact itself holds no thread pool. */
#include "stages.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct started {
  struct stages stages;
  struct hone_team team; /* its self is this struct */
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

static void run(void *self, const struct hone_job *job) { stages_run(self, job); }

/* count threads, the caller among them; they live until the process ends. NULL: no memory, no thread. One run at a
   time. Its result is the `team` of struct hone_artifact_info's run. */
__attribute__((visibility("default"))) const struct hone_team *team_start(int32_t count) {
  if (count < 2 || count > 1024) return NULL; /* run without a team is one thread */
  struct started *s = aligned_alloc(128, (sizeof *s + 127) / 128 * 128);
  size_t bytes = (size_t)count * sizeof *s->stages.shares;
  if (!s) return NULL;
  memset(s, 0, sizeof *s);
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
