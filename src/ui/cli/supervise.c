/* A verb that reads a model runs in a worker process under a supervisor. The supervisor ends the worker when its time is over,
 * when the command is interrupted, and when the command itself is killed. When the worker ends, in any way, the supervisor
 * removes its temporary files, kills the processes that it started, and turns its death into an error.
 *
 * The command waits for the supervisor and does the same for it.
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define PARENT_DIED SIGUSR1

static const int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM, PARENT_DIED};

static volatile sig_atomic_t child_pid, is_late, is_alone;

/* Forwards signals that were sent to this process only. After Ctrl-C the child gets the signal twice, which is harmless. */
static void handle(int signal) {
  const int error = errno;
  if (signal == SIGALRM) is_late = 1;
  if (signal == PARENT_DIED) is_alone = 1;
  kill(child_pid, signal == SIGALRM || signal == PARENT_DIED ? SIGKILL : signal);
  errno = error;
}

static void block(int how) {
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < COUNT(handled); i++) sigaddset(&set, handled[i]);
  sigprocmask(how, &set, NULL);
}

/* Kills the processes that the child left, such as a C compiler. This process is their subreaper, so orphans become its
   children, and their own orphans in the next round. */
static void end_orphans(void) {
  for (int turn = 0; turn < 100; turn++) {
    char path[64], list[4096];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, list, sizeof list - 1);
    if (fd >= 0) close(fd);
    if (n <= 0) return;
    list[n] = 0;
    for (char *at = list, *end; *at; at = end + strspn(end, " ")) {
      long pid = strtol(at, &end, 10);
      if (end == at) break;
      kill((pid_t)pid, SIGKILL);
      while (waitpid((pid_t)pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
  }
}

/* Returns 0 in the child, which has the signals blocked. */
static pid_t fork_child(pid_t *out_parent) {
  *out_parent = getpid();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  fflush(NULL);
  block(SIG_BLOCK);
  const pid_t pid = fork();
  if (pid <= 0) return pid;
  child_pid = pid;
  for (size_t i = 0; i < COUNT(handled); i++) {
    struct sigaction action = {.sa_handler = handle}, old;
    const bool is_own = handled[i] == SIGALRM || handled[i] == PARENT_DIED;
    /* a signal that is ignored ('nohup') stays ignored */
    if (is_own || sigaction(handled[i], NULL, &old) || old.sa_handler != SIG_IGN)
      sigaction(handled[i], &action, NULL);
  }
  return pid;
}

/* Waits for the child; ends its processes and removes its files. */
static int wait_child(pid_t pid, const char *folder) {
  int status = 0;
  block(SIG_UNBLOCK);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  end_orphans();
  if (WIFSIGNALED(status)) journal_clean();
  if (*folder) dir_temporary_remove(folder);
  return status;
}

static int report_death(struct ctx *ctx, int signal) {
  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP)
    REFUSE(ctx, HONE_E_INTERRUPTED, place_none(), "stopped by %s", strsignal(signal));
  else if (signal == SIGBUS)
    REFUSE(ctx, HONE_E_IO, place_none(), "a file was truncated while it was read");
  else if (signal == SIGKILL)
    REFUSE(ctx, HONE_E_OOM, place_none(),
           "the process was killed, probably because memory ran out");
  else
    REFUSE(ctx, HONE_E_CRASH, place_none(), "the process crashed with signal %d (%s)", signal,
           strsignal(signal));
  if (ctx->status == HONE_E_CRASH)
    hint(ctx, "report it with the model; --no-fork keeps it in one process, for a debugger");
  return report_failure(ctx);
}

static int report_no_fork(struct ctx *ctx) {
  REFUSE(ctx, HONE_E_OOM, place_none(), "cannot fork: %s", strerror(errno));
  return report_failure(ctx);
}

static int report_timeout(struct ctx *ctx, double seconds) {
  char what[256];
  journal_what(what);
  REFUSE(ctx, HONE_E_TIMEOUT, place_none(), "stopped after %g s%s%s", seconds, *what ? " in: " : "",
         what);
  hint(ctx, "raise --timeout SECONDS");
  return report_failure(ctx);
}

static void run_worker(struct ctx *ctx, const struct verb *verb, struct args *args, pid_t parent,
                       const char *folder) {
  block(SIG_UNBLOCK);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(130);
  if (*folder) setenv("TMPDIR", folder, 1);
  int code = finish_output(verb->run(ctx, args));
  fflush(NULL);
  _exit(code);
}

/* The process between the command and the worker. */
static int run_supervisor(struct ctx *ctx, const struct verb *verb, struct args *args,
                          const char *folder, double seconds) {
  pid_t parent, pid = fork_child(&parent);
  if (!pid) run_worker(ctx, verb, args, parent, folder);
  if (pid < 0) return report_no_fork(ctx);
  /* its own process group, so that it survives a signal to the group of command and worker, and can clean up */
  setpgid(0, 0);
  signal(SIGTTOU, SIG_IGN); /* so that it may still write to the terminal */
  const struct itimerval timer = {
      .it_value = {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)}};
  setitimer(ITIMER_REAL, &timer, NULL); /* 0: none */
  const int status = wait_child(pid, folder);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  if (is_alone) return 0; /* no parent is left to report to */
  return is_late ? report_timeout(ctx, seconds) : report_death(ctx, WTERMSIG(status));
}

int supervise(struct ctx *ctx, const struct verb *verb, struct args *args, double seconds) {
  char folder[4096];
  pid_t parent;
  if (dir_temporary(ctx, folder))
    folder[0] = 0; /* a verb that needs a folder reports that itself */
  ctx_clear(ctx);
  journal_open();
  const pid_t pid = fork_child(&parent);
  if (!pid) {
    prctl(PR_SET_PDEATHSIG, PARENT_DIED);
    if (getppid() != parent) _exit(130);
    const int code = run_supervisor(ctx, verb, args, folder, seconds);
    fflush(NULL);
    _exit(code);
  }
  if (pid < 0) return report_no_fork(ctx);
  const int status = wait_child(pid, folder);
  return WIFEXITED(status) ? WEXITSTATUS(status) : report_death(ctx, WTERMSIG(status));
}
