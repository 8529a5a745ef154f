/* Fingerprint: the properties of machine and software that explain a result, and a key over them.
 * Two studies are compared only if their keys are equal. It contains no host, user or path name.
 *
 * Invariant: every string is printable; an unknown property is "n/a", never omitted, so that the
 * key does not depend on which properties were readable. */
#include "machine_internal.h"

#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The value of the first "name<tab>: value" line of /proc/cpuinfo. */
void cpu_model(char *out, size_t size) {
  /* x86 has "model name", other architectures one of the rest */
  static const char *const names[] = {"model name", "cpu model", "Processor", "uarch", "CPU part"};
  snprintf(out, size, "n/a");
  FILE *file = fopen("/proc/cpuinfo", "re");
  if (!file) return;
  char line[512];
  bool found = false;
  while (!found && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    char *colon = strchr(line, ':');
    for (size_t i = 0; colon && !found && i < COUNT(names); i++)
      found = !strncmp(line, names[i], strlen(names[i]));
    if (found) safe_copy(out, size, colon + 1 + strspn(colon + 1, " "));
  }
  fclose(file);
}

/* "gcc 12.2.0": the compiler of hone, and so of the code around every timed loop. */
static void own_compiler(char *out, size_t size) {
#if defined(__clang__)
  snprintf(out, size, "clang %d.%d.%d", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  snprintf(out, size, "gcc %d.%d.%d", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  snprintf(out, size, "n/a");
#endif
}

static void read_or_na(const char *path, char *out, size_t size) {
  char line[256];
  safe_copy(out, size, read_line(path, line, sizeof line) && line[0] ? line : "n/a");
}

/* Number of entries of a list such as "0-3,8,10-11"; at least 1. */
static int list_count(const char *path) {
  char line[4096];
  if (!read_line(path, line, sizeof line)) return 1;
  int64_t count = 0;
  for (char *at = line; *at;) {
    char *end = at + strcspn(at, ",");
    bool last = !*end;
    *end = 0;
    char *dash = strchr(at, '-');
    int64_t from, to;
    if (dash) *dash = 0;
    if (!parse_i64(at, 0, 1 << 24, &from)) break;
    if (!parse_i64(dash ? dash + 1 : at, 0, 1 << 24, &to)) break;
    if (to >= from) count += to - from + 1;
    if (last) break;
    at = end + 1;
  }
  return count < 1 || count > 1 << 24 ? 1 : (int)count;
}

static void read_topology(struct fingerprint *out) {
  char path[128];
  int cpu = allowed_cpu(0);
  out->cores_usable = usable_core_count();
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  out->cores_online = list_count("/sys/devices/system/cpu/online");
  if (out->cores_online == 1 && online > 0 && online < 1 << 20) out->cores_online = (int)online;
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
           cpu < 0 ? 0 : cpu);
  out->threads_per_core = list_count(path);
  out->numa_nodes = list_count("/sys/devices/system/node/online");
  out->ram_bytes = usable_ram_bytes();
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor",
           cpu < 0 ? 0 : cpu);
  read_or_na(path, out->governor, sizeof out->governor);
  caches_read(&out->l1d_bytes, &out->l2_bytes, &out->l3_bytes);
}

/* RAM is rounded to GiB: the kernel reserves a few MiB more or less at each boot. */
static hone_status make_key(struct ctx *ctx, struct fingerprint *out) {
  struct strbuf text = {0};
  strbuf_printf(&text, "%s|%s|%s|%s|%s|%s|%s|%d|%d|%d|%d|%llu|%zu|%zu|%zu|%s", out->cpu_model,
                out->features, out->kernel, out->libc, out->compiler, out->governor,
                out->hypervisor, out->cores_usable, out->cores_online, out->threads_per_core,
                out->numa_nodes, (unsigned long long)((out->ram_bytes + (1u << 29)) >> 30),
                out->l1d_bytes, out->l2_bytes, out->l3_bytes, out->hone_version);
  hone_status status = strbuf_finish(ctx, &text);
  if (!status) hash_hex(out->key, text.at, text.length);
  strbuf_deinit(&text);
  return status;
}

hone_status fingerprint_read(struct ctx *ctx, struct fingerprint *out) {
  memset(out, 0, sizeof *out);
  cpu_model(out->cpu_model, sizeof out->cpu_model);
  features_print(cpu_features(), out->features, sizeof out->features);
  struct utsname name;
  char kernel[256] = "n/a";
  if (!uname(&name)) snprintf(kernel, sizeof kernel, "%.64s %.128s", name.sysname, name.release);
  safe_copy(out->kernel, sizeof out->kernel, kernel);
  snprintf(out->libc, sizeof out->libc, "glibc %s", gnu_get_libc_version());
  own_compiler(out->compiler, sizeof out->compiler);
  hypervisor_name(out->hypervisor, sizeof out->hypervisor);
  snprintf(out->hone_version, sizeof out->hone_version, "%s", HONE_VERSION);
  read_topology(out);
  return make_key(ctx, out);
}
