/* The study's own priority: see bench.h. Sources: setpriority(2); sched(7), "The autogroup feature":
 * where it is on, nice values count within a session only, and the session has one of its own.
 */
#include "bench.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

int priority_set(int nice) {
  const int before = getpriority(PRIO_PROCESS, 0);
  if (nice != before) (void)setpriority(PRIO_PROCESS, 0, nice); /* not allowed: as it was */
  return before;
}

void priority_of_session(void) {
  char text[16];
  const int length = snprintf(text, sizeof text, "%d", getpriority(PRIO_PROCESS, 0));
  const int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return; /* switched off, or not of this kernel */
  const ssize_t ignored = write(fd, text, (size_t)length);
  (void)ignored;
  close(fd);
}
