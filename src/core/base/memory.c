/* How much memory this process may use: physical memory, the limits of its control groups (v1 and
 * v2), and `ulimit -v`. A limit of an outer group applies to the inner ones, so all groups up to
 * the root are read and the smallest limit wins. Source: Linux
 * Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/ and scheduler/sched-bwc.rst; getrlimit(2). */
#include "base.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

bool read_line(const char *path, char *out, size_t size) {
  FILE *file = fopen(path, "re");
  if (!file) return false;
  bool ok = fgets(out, (int)size, file) != NULL;
  fclose(file);
  if (ok) out[strcspn(out, "\n")] = 0;
  return ok;
}

/* The folder of this process's group for a v1 controller, or of the unified tree (controller "").
 */
static bool group_folder(const struct cgroups *groups, const char *controller, char *out,
                         size_t size) {
  FILE *file = fopen(groups->list, "re");
  if (!file) return false;
  char line[4096];
  bool found = false;
  while (!found && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
    if (!path) continue;
    *path++ = 0;
    list++;
    size_t length = strlen(controller);
    if (length) { /* one of "cpu,cpuacct" */
      const char *at = strstr(list, controller);
      if (!at || (at != list && at[-1] != ',') || (at[length] && at[length] != ',')) continue;
    } else if (*list) {
      continue;
    }
    int n = snprintf(out, size, "%s%s%s%s", groups->root, length ? "/" : "", list,
                     strcmp(path, "/") ? path : "");
    found = n > 0 && (size_t)n < size;
  }
  fclose(file);
  return found;
}

/* Reads one limit in a group's folder. */
typedef double (*read_limit)(const char *folder);

/* The smallest positive limit from the group up to the root of the tree; 0: none. */
static double smallest(const struct cgroups *groups, const char *controller, read_limit limit) {
  char folder[4200];
  if (!group_folder(groups, controller, folder, sizeof folder)) return 0;
  double best = 0;
  size_t root = strlen(groups->root);
  for (;;) {
    double value = limit(folder);
    if (value > 0 && (best <= 0 || value < best)) best = value;
    char *slash = strrchr(folder, '/');
    if (!slash || (size_t)(slash - folder) < root) return best;
    *slash = 0;
  }
}

static bool read_number(const char *folder, const char *name, double *out) {
  char path[4400], line[64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return read_line(path, line, sizeof line) && parse_f64(line, 0, 1e18, out);
}

/* "200000 100000" or "max 100000" */
static double cpu_limit_v2(const char *folder) {
  char path[4400], line[64];
  snprintf(path, sizeof path, "%s/cpu.max", folder);
  if (!read_line(path, line, sizeof line)) return 0;
  char *space = strchr(line, ' ');
  double quota, period;
  if (!space) return 0;
  *space = 0;
  if (!parse_f64(line, 1, 1e18, &quota) || !parse_f64(space + 1, 1, 1e18, &period)) return 0;
  return quota / period;
}

static double cpu_limit_v1(const char *folder) {
  double quota, period;
  if (!read_number(folder, "cpu.cfs_quota_us", &quota)) return 0; /* -1: none */
  if (!read_number(folder, "cpu.cfs_period_us", &period) || period <= 0) return 0;
  return quota / period;
}

static double memory_limit_v2(const char *folder) {
  double bytes;
  return read_number(folder, "memory.max", &bytes) ? bytes : 0;
}

static double memory_limit_v1(const char *folder) {
  double bytes;
  return read_number(folder, "memory.limit_in_bytes", &bytes) ? bytes : 0;
}

static double smaller(double a, double b) { return a > 0 && (b <= 0 || a < b) ? a : b; }

static const struct cgroups this_process = {"/proc/self/cgroup", "/sys/fs/cgroup"};

cpu_set_t *allowed_cpus(size_t *out_bytes) {
  for (size_t cpus = 1024; cpus <= 1 << 20; cpus *= 4) {
    cpu_set_t *set = CPU_ALLOC(cpus);
    if (!set) return NULL;
    *out_bytes = CPU_ALLOC_SIZE(cpus);
    if (!sched_getaffinity(0, *out_bytes, set)) return set;
    CPU_FREE(set);
    if (errno != EINVAL) return NULL;
  }
  return NULL;
}

double cgroup_cpus(const struct cgroups *groups) {
  if (!groups) groups = &this_process;
  return smaller(smallest(groups, "", cpu_limit_v2), smallest(groups, "cpu", cpu_limit_v1));
}

double cgroup_memory(const struct cgroups *groups) {
  if (!groups) groups = &this_process;
  return smaller(smallest(groups, "", memory_limit_v2),
                 smallest(groups, "memory", memory_limit_v1));
}

uint64_t usable_ram_bytes_in(const struct cgroups *groups) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  double bytes = pages > 0 && page > 0 ? (double)pages * (double)page : 1e9;
  struct rlimit limit;
  bytes = smaller(bytes, cgroup_memory(groups));
  if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
    bytes = smaller(bytes, (double)limit.rlim_cur);
  return (uint64_t)bytes;
}

uint64_t usable_ram_bytes(void) { return usable_ram_bytes_in(NULL); }

void limit_to_memory(struct ctx *ctx, uint64_t bytes) {
  static const enum limit_id of_memory[] = {LIMIT_value_bytes, LIMIT_arena_bytes, LIMIT_fold_bytes,
                                            LIMIT_string_tensor_bytes};
  for (size_t i = 0; i < COUNT(of_memory); i++)
    if ((uint64_t)ctx->limits[of_memory[i]] > bytes) ctx->limits[of_memory[i]] = (int64_t)bytes;
}
