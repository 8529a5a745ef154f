/* Detects the end of a worker over any transport, and waits for it. */
#include "transport.h"

#define STEP_NS 20000000ull

bool worker_has_ended(struct worker *worker) {
  if (!worker->is_running) return true;
  if (!worker->transport->has_ended(worker)) return false;
  worker->is_running = false;
  harness_forget(worker->harness, worker->process.pid);
  return true;
}

bool worker_wait_end(struct worker *worker, uint64_t duration_ns) {
  const uint64_t deadline = clock_ns() + duration_ns;
  while (!worker_has_ended(worker)) {
    const uint64_t now = clock_ns();
    if (now >= deadline) return false;
    const uint64_t left = deadline - now + 1000000;
    worker->transport->wait(worker, left < STEP_NS ? left : STEP_NS);
  }
  return true;
}
