/* Calls a function in a forked child, for code that may crash or exit the process: libraries that
 * are loaded as a trial. */
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_NS = 2000000 };

static void be_child(void (*call)(void *user), void *user, pid_t parent) {
  const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  /* output of a library is not output of this command */
  if (null_fd >= 0) dup2(null_fd, 0), dup2(null_fd, 1), dup2(null_fd, 2);
  call(user);
  _exit(0);
}

/* 0: it ended before the timeout. */
static bool wait_for(pid_t pid, uint64_t timeout_ns, int *out_how) {
  const struct timespec look = {.tv_nsec = LOOK_NS};
  const uint64_t start = clock_ns();
  bool is_late = false;
  pid_t ended;
  while ((ended = waitpid(pid, out_how, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
    if (!is_late && clock_ns() - start > timeout_ns) {
      is_late = true;
      kill(pid, SIGKILL);
    }
    nanosleep(&look, NULL);
  }
  return !is_late;
}

bool call_in_child(void (*call)(void *user), void *user, uint64_t timeout_ns, char out_how[128]) {
  const pid_t parent = getpid();
  int how = 0;
  fflush(NULL); /* so that the child does not write buffered output a second time */
  const pid_t pid = fork();
  if (!pid) be_child(call, user, parent);
  if (pid < 0)
    snprintf(out_how, 128, "could not be started: %s", strerror(errno));
  else if (!wait_for(pid, timeout_ns, &how))
    snprintf(out_how, 128, "did not end within %.0f s", (double)timeout_ns / 1e9);
  else if (WIFSIGNALED(how))
    snprintf(out_how, 128, "ended the process: SIG%s",
             sigabbrev_np(WTERMSIG(how)) ? sigabbrev_np(WTERMSIG(how)) : "unknown");
  else if (WEXITSTATUS(how))
    snprintf(out_how, 128, "ended the process: exit code %d", WEXITSTATUS(how));
  else
    return true;
  return false;
}
