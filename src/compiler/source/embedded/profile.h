/* Of a profiled artifact: begin and end of each step on each thread, stored after the arena. */
#include <time.h>

static inline uint64_t profile_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void profile_add(unsigned char *arena, long thread, long step, uint64_t begin,
                               uint64_t end) {
  if (thread >= PROFILE_THREADS) return;
  struct hone_profile_entry *at =
      (struct hone_profile_entry *)(void *)(arena + PROFILE_OFFSET) + thread * PROFILE_STEPS + step;
  if (!at->calls++) at->begin = begin;
  at->end = end;
  at->busy += end - begin;
}
#define PROFILED(step, call)                                       \
  do {                                                             \
    const uint64_t begin = profile_clock();                        \
    call;                                                          \
    profile_add(f->arena, t, step, begin, profile_clock());        \
  } while (0)
