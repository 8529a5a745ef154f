/* The texts of kernels: those in the binary, or files of the same name in a folder of the user's. */
#include "emit_internal.h"

#include <unistd.h>

hone_status find_text(struct emitter *e, const char *file, const char **out, size_t *out_length) {
  char path[4200];
  struct mapping map;
  if (e->kernel_dir) {
    snprintf(path, sizeof path, "%.4000s/%s", e->kernel_dir, file);
    if (!access(path, F_OK)) {
      TRY(file_map(e->ctx, path, &map));
      hone_status status = arena_string(e->ctx, e->arena, (const char *)map.data, map.size, out);
      *out_length = map.size;
      file_unmap(&map);
      e->replaced++;
      return status;
    }
  }
  *out = kernel_text(file, out_length);
  return *out ? HONE_OK : fail(e->ctx, HONE_E_INTERNAL, place_none(), "no text %s", file);
}
