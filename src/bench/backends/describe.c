/* Describes an engine in a child process: a library's code runs when it is loaded, and a broken
 * one may end or hang the process that loads it. */
#include "core/os/os.h"
#include "backends.h"

#include <sys/mman.h>

#define LOADING_NS (30ull * 1000000000ull)

struct request {
  struct ctx *ctx;
  const struct backend *backend;
  const char *path;
  struct backend_info *info; /* in memory that the child shares */
};

static void describe_in_child(void *user) {
  const struct request *request = user;
  request->backend->describe(request->ctx, request->backend, request->path, request->info);
}

void describe_backend(struct ctx *ctx, const struct backend *backend, const char *engine_path,
                      struct backend_info *out) {
  char how[128];
  struct request request = {ctx, backend, engine_path, NULL};
  request.info = mmap(NULL, sizeof *out, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  *out = (struct backend_info){.status = BACKEND_MISSING};
  if (request.info == MAP_FAILED) {
    snprintf(out->reason, sizeof out->reason, "not enough memory to load it");
    return;
  }
  if (call_in_child(describe_in_child, &request, LOADING_NS, how))
    *out = *request.info;
  else
    snprintf(out->reason, sizeof out->reason, "loading the library %s", how);
  munmap(request.info, sizeof *out);
}
