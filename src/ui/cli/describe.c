/* The description of an engine, from a child process: a library runs code when it is loaded, and a broken one may crash or
 * hang.
 */
#include "cli.h"

#include <sys/mman.h>

#define LOADING_NS (30ull * 1000000000ull)

struct question {
  struct ctx *ctx;
  const struct backend *backend;
  const char *path;
  struct backend_info *answer; /* in memory shared with the child */
};

static void ask(void *user) {
  const struct question *question = user;
  question->backend->describe(question->ctx, question->backend, question->path, question->answer);
}

void describe_backend(struct ctx *ctx, const struct backend *backend, const char *engine_path,
                      struct backend_info *out) {
  char how[128];
  struct question question = {ctx, backend, engine_path, NULL};
  question.answer =
      mmap(NULL, sizeof *out, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  *out = (struct backend_info){.status = BACKEND_MISSING};
  if (question.answer == MAP_FAILED) {
    snprintf(out->reason, sizeof out->reason, "no memory to query it");
    return;
  }
  if (call_in_child(ask, &question, LOADING_NS, how))
    *out = *question.answer;
  else
    snprintf(out->reason, sizeof out->reason, "loading the library %s", how);
  munmap(question.answer, sizeof *out);
}
