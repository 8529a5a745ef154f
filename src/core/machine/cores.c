/* The number of cores this process may use: its affinity mask, and the quota of its control groups
 * (core/base/memory.c). */
#include "machine_internal.h"

#include <sched.h>
#include <unistd.h>

int allowed_cpu(int n) {
  size_t bytes;
  cpu_set_t *set = allowed_cpus(&bytes);
  if (!set) return -1;
  int found = -1, count = CPU_COUNT_S(bytes, set);
  if (count) n %= count;
  for (size_t cpu = 0; cpu < bytes * 8 && found < 0; cpu++)
    if (CPU_ISSET_S(cpu, bytes, set) && n-- == 0) found = (int)cpu;
  CPU_FREE(set);
  return found;
}

static int affinity_count(void) {
  size_t bytes;
  cpu_set_t *set = allowed_cpus(&bytes);
  if (!set) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < 1 << 20 ? (int)online : 1;
  }
  int count = CPU_COUNT_S(bytes, set);
  CPU_FREE(set);
  return count;
}

/* A quota of 2.5 CPUs gives 2: a third thread would be throttled in the middle of a barrier. */
int usable_core_count(void) {
  int count = affinity_count();
  double quota = cgroup_cpus(NULL);
  if (quota > 0 && quota < count) count = (int)quota;
  return count < 1 ? 1 : count;
}
