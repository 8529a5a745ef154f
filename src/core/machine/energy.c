/* energy: energy used by the processor's packages so far, from the kernel's counters
 * (Documentation/power/powercap/powercap.rst; RAPL of Intel and AMD): microjoules that wrap at
 * max_energy_range_uj. Only whole packages (intel-rapl:N) are read, so that nothing counts twice.
 * Only root can read the counters, and virtual machines have none. HONE_POWERCAP names another
 * folder, for containers. */
#include "machine.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#define PACKAGE "intel-rapl:"

static const char *powercap_folder(void) {
  const char *folder = getenv("HONE_POWERCAP");
  return folder && folder[0] ? folder : "/sys/class/powercap";
}

static bool read_counter(const char *folder, const char *package, const char *name, uint64_t *out) {
  char path[4096], text[32] = "";
  int64_t number;
  snprintf(path, sizeof path, "%.3000s/%.200s/%s", folder, package, name);
  FILE *file = fopen(path, "re");
  if (!file) return false;
  const size_t n = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[n] = 0;
  text[strcspn(text, "\n")] = 0;
  if (!parse_i64(text, 0, INT64_MAX, &number)) return false;
  *out = (uint64_t)number;
  return true;
}

void energy_read(struct energy *out) {
  const char *path = powercap_folder();
  DIR *folder = opendir(path);
  *out = (struct energy){.package_count = 0};
  if (!folder) return;
  for (struct dirent *entry; out->package_count < ENERGY_PACKAGES && (entry = readdir(folder));) {
    const size_t k = out->package_count;
    int64_t number;
    if (strncmp(entry->d_name, PACKAGE, strlen(PACKAGE)) ||
        !parse_i64(entry->d_name + strlen(PACKAGE), 0, 1 << 20, &number) ||
        !read_counter(path, entry->d_name, "max_energy_range_uj", &out->range_uj[k]) ||
        !read_counter(path, entry->d_name, "energy_uj", &out->used_uj[k]))
      continue;
    out->number[k] = (int)number;
    out->package_count++;
  }
  closedir(folder);
}

int64_t energy_between(const struct energy *from, const struct energy *to) {
  uint64_t sum = 0;
  if (!from->package_count || from->package_count != to->package_count) return -1;
  for (size_t i = 0; i < from->package_count; i++) {
    if (from->number[i] != to->number[i]) return -1;
    const uint64_t before = from->used_uj[i], after = to->used_uj[i], range = to->range_uj[i];
    if (after < before && range < before) return -1;
    const uint64_t used = after >= before ? after - before : range - before + after;
    if (!checked_add(sum, used, &sum)) return -1;
  }
  return sum <= INT64_MAX ? (int64_t)sum : -1;
}

void energy_meter(char out[160]) {
  struct energy now;
  const char *path = powercap_folder();
  energy_read(&now);
  if (now.package_count)
    snprintf(out, 160, "RAPL, %zu package%s", now.package_count, now.package_count > 1 ? "s" : "");
  else
    snprintf(out, 160, "not measured: no %.60s/" PACKAGE "N/energy_uj can be read here", path);
}
