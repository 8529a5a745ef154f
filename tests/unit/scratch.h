/* A folder for a test's files: a group's set-up and teardown. */
#ifndef HONE_SCRATCH_H
#define HONE_SCRATCH_H
#include "core/os/os.h"
#include "unit.h"

static char folder[4096];

static int make_folder(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  return dir_temporary(&ctx, folder) ? -1 : 0;
}
static int remove_folder(void **state) {
  (void)state;
  dir_remove_tree(folder);
  return 0;
}
#endif
