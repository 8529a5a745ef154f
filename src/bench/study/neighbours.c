/* Busy neighbours: counting processes, one per core in turn, each in its own session at nice 0.
 * They run during slices of configurations with --load and are stopped between them. The kernel
 * kills each one when its parent ends, so none outlives the study. Sources: prctl(2),
 * PR_SET_PDEATHSIG; sched(7), "The autogroup feature".
 */
#include "study_internal.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The n-th usable CPU, modulo their number; -1: unknown. */
static int nth_cpu(int n) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) || CPU_COUNT(&set) == 0) return -1;
  n %= CPU_COUNT(&set);
  for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &set) && n-- == 0) return (int)cpu;
  return -1;
}

/* The child. After fork in a process with threads: async-signal-safe calls only. */
static _Noreturn void be_busy(int number, int parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0); /* the parent ended before prctl */
  setsid();
  (void)setpriority(PRIO_PROCESS, 0, 0);
  const int cpu = nth_cpu(number);
  cpu_set_t set;
  CPU_ZERO(&set);
  if (cpu >= 0) CPU_SET((size_t)cpu, &set);
  if (cpu >= 0) (void)sched_setaffinity(0, sizeof set, &set);
  /* do not hold the parent's pipes and locks */
  syscall(SYS_close_range, 0, ~0u, 0);
  raise(SIGSTOP);
  for (volatile unsigned long counted = 0;;) counted++;
}

static hone_status start_one(struct bench *bench) {
  struct harness *harness = &bench->harness;
  struct neighbours *all = &bench->neighbours;
  if (all->count == BENCH_MAX_LOAD || harness->known_count == HARNESS_MAX_CHILDREN)
    return fail(bench->ctx, HONE_E_LIMIT, place_none(), "more than %d busy neighbours", all->count);
  const int parent = getpid();
  const pid_t pid = fork();
  if (pid < 0)
    return fail(bench->ctx, HONE_E_OOM, place_none(), "cannot start a busy neighbour: %s",
                strerror(errno));
  if (pid == 0) be_busy(all->count, parent);
  harness->known[harness->known_count++] = (int)pid;
  all->pids[all->count++] = (int)pid;
  int how; /* stopped, or dead: neighbours_run checks */
  while (waitpid(pid, &how, WUNTRACED) < 0 && errno == EINTR) continue;
  return HONE_OK;
}

hone_status neighbours_run(struct bench *bench, int count) {
  struct neighbours *all = &bench->neighbours;
  while (all->count < count) TRY(start_one(bench));
  for (int i = 0; i < count; i++) {
    if (!kill(all->pids[i], SIGCONT) && !waitpid(all->pids[i], NULL, WNOHANG)) continue;
    harness_forget(&bench->harness, all->pids[i]);
    all->pids[i] = all->pids[--all->count]; /* the pid may be reused */
    return fail(bench->ctx, HONE_E_CRASH, place_none(),
                "a busy neighbour process was killed from outside");
  }
  return HONE_OK;
}

void neighbours_rest(struct bench *bench) {
  for (int i = 0; i < bench->neighbours.count; i++) kill(bench->neighbours.pids[i], SIGSTOP);
}

void neighbours_end(struct bench *bench) {
  struct neighbours *all = &bench->neighbours;
  for (int i = 0; i < all->count; i++) {
    kill(all->pids[i], SIGKILL);
    while (waitpid(all->pids[i], NULL, 0) < 0 && errno == EINTR) continue;
    harness_forget(&bench->harness, all->pids[i]);
  }
  all->count = 0;
}
