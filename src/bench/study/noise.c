/* Disturbance by other processes during a slice, as the machine reports it; -1 if it does not.
 * Sources: proc(5) for /proc/stat (steal is the 8th number, in ticks), the kernel's
 * Documentation/accounting/psi.rst for /proc/pressure/cpu (total in us).
 */
#include "study_internal.h"

#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#define STEAL_LIMIT 0.05         /* of all CPU time */
#define PRESSURE_LIMIT 0.5       /* share of the slice in which a task waited for a CPU */
#define SWITCHES_PER_SECOND 1000 /* involuntary, all threads of the worker */

static bool read_text(const char *path, char *out, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t n = read(fd, out, size - 1);
  close(fd);
  out[n > 0 ? n : 0] = 0;
  return n > 0;
}

static bool read_stat(uint64_t *out_steal, uint64_t *out_total) {
  char text[512];
  unsigned long long t[8];
  if (!read_text("/proc/stat", text, sizeof text)) return false;
  if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3], &t[4],
             &t[5], &t[6], &t[7]) != 8)
    return false;
  *out_steal = t[7];
  *out_total = 0;
  for (size_t i = 0; i < COUNT(t); i++) *out_total += t[i];
  return true;
}

static bool read_pressure(uint64_t *out_us) {
  char text[512];
  unsigned long long us;
  if (!read_text("/proc/pressure/cpu", text, sizeof text)) return false;
  const char *total = strstr(text, "total=");
  if (!total || sscanf(total, "total=%llu", &us) != 1) return false;
  *out_us = us;
  return true;
}

static double read_frequency(void) {
  char text[64];
  int64_t khz;
  if (!read_text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", text, sizeof text))
    return -1;
  text[strcspn(text, "\n")] = 0;
  return parse_i64(text, 1, INT64_MAX, &khz) ? (double)khz / 1e3 : -1;
}

void noise_begin(struct noise_mark *mark) {
  mark->has_stat = read_stat(&mark->steal, &mark->total);
  mark->has_pressure = read_pressure(&mark->pressure_us);
  energy_read(&mark->energy);
  mark->when_ns = clock_ns();
}

void noise_end(const struct noise_mark *mark, int64_t involuntary_switches, struct noise *out) {
  uint64_t elapsed_ns = clock_ns() - mark->when_ns, steal, total, us;
  *out = (struct noise){.steal_fraction = -1,
                        .involuntary_switches = involuntary_switches,
                        .pressure_some = -1,
                        .frequency_mhz = read_frequency()};
  if (mark->has_stat && read_stat(&steal, &total) && total > mark->total)
    out->steal_fraction = (double)(steal - mark->steal) / (double)(total - mark->total);
  if (mark->has_pressure && read_pressure(&us) && elapsed_ns)
    out->pressure_some = fmin(1.0, (double)(us - mark->pressure_us) * 1e3 / (double)elapsed_ns);
}

int64_t noise_energy(const struct noise_mark *mark) {
  struct energy now;
  energy_read(&now);
  const int64_t used = energy_between(&mark->energy, &now);
  return used > 0 ? used : 0;
}

bool noise_is_high(const struct noise *noise, uint64_t duration_ns) {
  double seconds = (double)duration_ns / 1e9;
  return noise->steal_fraction > STEAL_LIMIT || noise->pressure_some > PRESSURE_LIMIT ||
         (double)noise->involuntary_switches > 10 + SWITCHES_PER_SECOND * seconds;
}
