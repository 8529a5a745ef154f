/* Kernel sources: those in the binary, or files of the same name in the user's folder. */
#include "core/os/os.h"
#include "source_internal.h"

#include <unistd.h>

static hone_status find_source(struct emitter *e, const char *file, const char **out,
                               size_t *out_length) {
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
      size_t length;
      const char *usual = kernel_source(file, &length);
      if (!status && (!usual || length != *out_length || memcmp(usual, *out, length) != 0))
        status = arena_string(e->ctx, e->arena, file, strlen(file), &e->own);
      return status;
    }
  }
  *out = kernel_source(file, out_length);
  return *out ? HONE_OK
              : fail(e->ctx, HONE_E_INTERNAL, place_none(), "embedded file %s is missing", file);
}

hone_status put_kernel_source(struct emitter *e, const char *file, struct strbuf *out) {
  const char *at;
  char name[KERNEL_FILE_MAX];
  size_t length;
  TRY(find_source(e, file, &at, &length));
  for (const char *end = at + length; at < end;) {
    const char *part = at, *included;
    at = kernel_source_part(part, end, &length, name);
    strbuf_append(out, part, length);
    if (!name[0]) continue;
    TRY(find_source(e, name, &included, &length));
    strbuf_append(out, included, length);
  }
  return HONE_OK;
}

hone_status emit_kernel_source(struct ctx *ctx, const char *file, struct strbuf *out) {
  struct emitter e = {.ctx = ctx};
  return put_kernel_source(&e, file, out);
}
