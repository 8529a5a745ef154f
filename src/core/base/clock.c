/* The one clock of all measurements, and seeded random numbers that are the same everywhere. */
#include "base.h"

#include <math.h>
#include <time.h>

uint64_t clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t clock_unix_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* splitmix64 seeds xoshiro256** (Blackman & Vigna 2018). */
void random_init(struct random *random, uint64_t seed) {
  for (int i = 0; i < 4; i++) {
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    random->s[i] = z ^ z >> 31;
  }
}

double random_uniform(struct random *random) {
  return (double)(random_u64(random) >> 11) * 0x1p-53;
}

/* Sum of 12 uniforms less 6 (Irwin-Hall): variance 1, within +-6, and only exact operations, so
   that every libm gives the same weights. */
double random_normal(struct random *random) {
  double sum = -6;
  for (int i = 0; i < 12; i++) sum += random_uniform(random);
  return sum;
}

uint64_t random_below(struct random *random, uint64_t n) {
  uint64_t threshold = -n % n, x;
  do x = random_u64(random);
  while (x < threshold);
  return x % n;
}

void random_shuffle(struct random *random, size_t *order, size_t count) {
  for (size_t i = count; i > 1; i--) {
    const size_t k = (size_t)random_below(random, i), kept = order[i - 1];
    order[i - 1] = order[k];
    order[k] = kept;
  }
}
