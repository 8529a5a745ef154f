/* Limits that a worker sets itself before it loads an engine: memory, files, CPUs, no new
 * privileges. The harness also watches from outside.
 */
#include "bench/wire/wire.h"
#include "worker_internal.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define MAX_FILE_BYTES (32ull << 30)
#define MAX_OPEN_FILES 4096
#define DATA_SLACK (256ull << 20)

static void set_limit(__rlimit_resource_t resource, uint64_t value) {
  struct rlimit limit;
  if (getrlimit(resource, &limit)) return;
  if (limit.rlim_max != RLIM_INFINITY && value > limit.rlim_max) value = limit.rlim_max;
  limit.rlim_cur = limit.rlim_max = value;
  setrlimit(resource, &limit);
}

/* Restricts this process to the first `threads` of its CPUs. */
static void set_affinity(int64_t threads) {
  cpu_set_t allowed, wanted;
  if (sched_getaffinity(0, sizeof allowed, &allowed)) return;
  CPU_ZERO(&wanted);
  for (size_t cpu = 0; cpu < CPU_SETSIZE && threads > 0; cpu++)
    if (CPU_ISSET(cpu, &allowed)) {
      CPU_SET(cpu, &wanted);
      threads--;
    }
  sched_setaffinity(0, sizeof wanted, &wanted);
}

void confine(int64_t threads, int64_t memory_bytes) {
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_FSIZE, MAX_FILE_BYTES);
  set_limit(RLIMIT_NOFILE, MAX_OPEN_FILES);
#ifdef __SANITIZE_ADDRESS__
  (void)memory_bytes; /* the sanitizer's shadow memory counts as data */
#else
  /* the harness polls the resident set; this limit catches faster growth */
  if (memory_bytes > 0)
    set_limit(RLIMIT_DATA, (uint64_t)memory_bytes + (uint64_t)memory_bytes / 4 + DATA_SLACK);
#endif
  if (threads > 0) set_affinity(threads);
  priority_of_session();
}
