/* What an engine says of itself, asked in a child: code of a library runs when it is loaded, and a broken one ends or
 * stops the process that loads it. */
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOADING_NS (30ull * 1000000000ull)
enum { LOOK_NS = 2000000 };

struct answer {
  struct backend_info info;
  int is_whole; /* written last */
};

static void ask(struct ctx *ctx, const struct backend *backend, const char *path,
                struct answer *answer) {
  dup2(2, 1); /* what a library prints is not this command's output */
  backend->describe(ctx, backend, path, &answer->info);
  answer->is_whole = 1;
  _exit(0);
}

/* How the child ended; it is ended where it does not. */
static void wait_for(pid_t pid, char *out, size_t size) {
  const struct timespec look = {.tv_nsec = LOOK_NS};
  const uint64_t start = clock_ns();
  int how = 0;
  pid_t ended;
  bool is_late = false;
  while ((ended = waitpid(pid, &how, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
    if (!is_late && clock_ns() - start > LOADING_NS) {
      is_late = true;
      kill(pid, SIGKILL);
    }
    nanosleep(&look, NULL);
  }
  if (is_late)
    snprintf(out, size, "loading it did not end within %.0f s", (double)LOADING_NS / 1e9);
  else if (ended > 0 && WIFSIGNALED(how))
    snprintf(out, size, "loading it ended the process: SIG%s",
             sigabbrev_np(WTERMSIG(how)) ? sigabbrev_np(WTERMSIG(how)) : "unknown");
  else
    snprintf(out, size, "loading it ended the process: exit code %d", WEXITSTATUS(how));
}

void describe_backend(struct ctx *ctx, const struct backend *backend, const char *engine_path,
                      struct backend_info *out) {
  char how[sizeof out->reason] = "";
  struct answer *answer =
      mmap(NULL, sizeof *answer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  *out = (struct backend_info){.status = BACKEND_MISSING};
  if (answer == MAP_FAILED) {
    snprintf(out->reason, sizeof out->reason, "no memory to ask it");
    return;
  }
  fflush(NULL); /* what the child ends with is not written twice */
  const pid_t pid = fork();
  if (pid == 0) ask(ctx, backend, engine_path, answer);
  if (pid > 0)
    wait_for(pid, how, sizeof how);
  else
    snprintf(how, sizeof how, "no process to ask it: %s", strerror(errno));
  if (answer->is_whole)
    *out = answer->info;
  else
    snprintf(out->reason, sizeof out->reason, "%s", how);
  munmap(answer, sizeof *answer);
}
