/* What an engine says of itself, asked in a child: code of a library runs when it is loaded, and a broken one ends or
 * stops the process that loads it. */
#include "cli.h"

#include <sys/mman.h>

#define LOADING_NS (30ull * 1000000000ull)

struct question {
  struct ctx *ctx;
  const struct backend *backend;
  const char *path;
  struct backend_info *answer; /* in memory that the child shares */
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
    snprintf(out->reason, sizeof out->reason, "no memory to ask it");
    return;
  }
  if (call_in_child(ask, &question, LOADING_NS, how))
    *out = *question.answer;
  else
    snprintf(out->reason, sizeof out->reason, "loading it %s", how);
  munmap(question.answer, sizeof *out);
}
