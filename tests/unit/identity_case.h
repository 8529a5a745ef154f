/* identity_case: a folder with the model that the test engines (null, fake) compute correctly. */
#ifndef HONE_IDENTITY_CASE_H
#define HONE_IDENTITY_CASE_H
#include <stdlib.h>

#include "core/os/os.h"
#include "unit.h"

/* graph(x: f32[4]) -> (y) { y = Identity(x) } */
static const char identity_model[] =
    "\x08\x08:"
    "7\n\x10\n\x01x\x12\x01y\"\x08Identity\x12\x01gZ\x0f\n\x01x\x12\n\n\x08\x08\x01\x12\x04"
    "\n\x02\x08\x04"
    "b\x0f\n\x01y\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x04"
    "B\x04\n\x00\x10\x0d";
static char folder[4096], model_path[4200];

static inline int set_up(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  setenv("HONE_TESTING", "1", 1);
  if (dir_temporary(&ctx, folder)) return -1;
  snprintf(model_path, sizeof model_path, "%s/identity.onnx", folder);
  return file_write_atomic(&ctx, model_path, identity_model, sizeof identity_model - 1, 0600) ? -1
                                                                                              : 0;
}

static inline int tear_down(void **state) {
  (void)state;
  dir_remove_tree(folder);
  return 0;
}
#endif
