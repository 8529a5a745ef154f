/* A worker's memory over time in bounded space: at most MEMORY_POINTS points, evenly spaced. A
 * dropped point passes its maximum to the point before it, so no observed peak is lost.
 */
#include "wire.h"

#define FIRST_DISTANCE_NS 10000000ull

void memory_log_begin(struct memory_log *log) {
  *log = (struct memory_log){.start_ns = clock_ns(), .least_ns = FIRST_DISTANCE_NS};
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void halve(struct memory_log *log) {
  size_t kept = 0;
  for (size_t i = 0; i < log->count; i += 2, kept++) {
    log->when_ns[kept] = log->when_ns[i];
    log->bytes[kept] =
        i + 1 < log->count ? larger(log->bytes[i], log->bytes[i + 1]) : log->bytes[i];
  }
  log->count = kept;
  log->least_ns *= 2;
}

void memory_log_add(struct memory_log *log, uint64_t now_ns, int64_t bytes) {
  if (!log || bytes < 0 || now_ns < log->start_ns) return;
  const uint64_t when = now_ns - log->start_ns;
  if (log->count && when < log->when_ns[log->count - 1] + log->least_ns) {
    log->bytes[log->count - 1] = larger(log->bytes[log->count - 1], (uint64_t)bytes);
    return;
  }
  if (log->count == MEMORY_POINTS) halve(log);
  log->when_ns[log->count] = when;
  log->bytes[log->count++] = (uint64_t)bytes;
}
