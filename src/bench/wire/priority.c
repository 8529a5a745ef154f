/* Priority of the study's processes. Sources: setpriority(2); sched(7), "The autogroup feature": if
 * it is on, nice values count within a session only, and the session has a nice value itself.
 */
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

int priority_set(int nice) {
  const int before = getpriority(PRIO_PROCESS, 0);
  if (nice != before) (void)setpriority(PRIO_PROCESS, 0, nice); /* no effect if not permitted */
  return before;
}

void priority_of_session(void) {
  enum { TRIES = 40 };
  const struct timespec pause = {.tv_nsec = 50000000};
  char text[16];
  const int nice = getpriority(PRIO_PROCESS, 0), length = snprintf(text, sizeof text, "%d", nice);
  const int fd = nice ? open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC) : -1;
  if (fd < 0) return; /* autogroup is off or not supported */
  /* the kernel accepts one write per 100 ms from unprivileged users */
  for (int i = 0; i < TRIES && write(fd, text, (size_t)length) < 0 && errno == EAGAIN; i++)
    nanosleep(&pause, NULL);
  close(fd);
}
