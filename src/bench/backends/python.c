/* Shared code of engines that are called from Python: they have a Python worker instead of `hone
 * worker`, and an environment with an interpreter. Nothing of them runs in this process.
 */
#include "backends.h"

#include <stdlib.h>
#include <unistd.h>

hone_status engine_python(struct ctx *ctx, const char *name, const char *engine_path,
                          char out[4096]) {
  char folder[4096];
  TRY(engine_check_kind(ctx, engine_path));
  if (engine_path)
    snprintf(folder, sizeof folder, "%s", engine_path);
  else
    TRY(engine_dir(ctx, name, folder));
  int n = snprintf(out, 4096, "%.4000s/bin/python", folder);
  if (n > 0 && !access(out, X_OK)) return HONE_OK;
  return fail(ctx, HONE_E_MISSING, place_file(folder),
              "holds no bin/python; hone backends install %s", name);
}

void engine_version(struct ctx *ctx, const char *name, const char *engine_path,
                    const char *distribution, char out[64]) {
  char pattern[512], found[4096];
  size_t n = 0;
  /* installers may write the name in lower case and change the separators between words */
  for (const char *p = distribution; *p && n < sizeof pattern - 32; p++) {
    const char low = *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;
    const bool is_letter = low >= 'a' && low <= 'z';
    n += (size_t)snprintf(pattern + n, sizeof pattern - n, "[%c%s]", low,
                          is_letter            ? (char[]){(char)(low - 32), 0}
                          : strchr("-_.", low) ? "_.-"
                                               : "");
  }
  snprintf(pattern + n, sizeof pattern - n, "-*.dist-info");
  out[0] = 0;
  if (engine_file(ctx, name, engine_path, pattern, found)) {
    ctx_clear(ctx);
    return;
  }
  /* a path to the library itself matches any pattern; then the version is unknown */
  static const char end[] = ".dist-info";
  const char *base = strrchr(found, '/') ? strrchr(found, '/') + 1 : found;
  const size_t length = strlen(base), before = strlen(distribution) + 1;
  if (length < before + sizeof end || strcmp(base + length - (sizeof end - 1), end)) return;
  snprintf(out, 64, "%.*s", (int)(length - before - (sizeof end - 1)), base + before);
}

/* Reports which of an engine's device and packages are missing, in one line. An environment given
   by the user is not checked. */
static enum backend_status find_device(const struct backend *backend, const char *engine_path,
                                       char *out, size_t size) {
  const struct backend_device *device = backend->device;
  if (!device || engine_path) return BACKEND_READY;
  const bool is_here = !access(device->file, F_OK);
  if (is_here && backend->package) return BACKEND_READY;
  snprintf(out, size, "%s is %shere (%s); it runs with %s%s%s", device->title,
           is_here ? "" : "not ", device->file, is_here ? "" : "one and ",
           backend->package ? "hone backends install " : "",
           backend->package ? backend->name : device->needs);
  return is_here ? BACKEND_MISSING : BACKEND_UNSUPPORTED;
}

void describe_environment(struct ctx *ctx, const struct backend *backend, const char *engine_path,
                          struct backend_info *out) {
  const char *name = backend->name, *distribution = backend->distribution;
  out->status = find_device(backend, engine_path, out->reason, sizeof out->reason);
  if (out->status != BACKEND_READY) return;
  hone_status status = engine_python(ctx, name, engine_path, out->library);
  if (!status && distribution) engine_version(ctx, name, engine_path, distribution, out->version);
  if (!status && distribution && !out->version[0])
    status = fail(ctx, HONE_E_MISSING, place_file(out->library),
                  "its environment holds no %s; hone backends install %s", distribution, name);
  if (!status) return;
  out->status = BACKEND_MISSING;
  safe_copy(out->reason, sizeof out->reason, ctx->message);
  ctx_clear(ctx);
}

hone_status refuse_elsewhere(struct ctx *ctx, const struct backend *backend,
                             const char *engine_path) {
  struct backend_info info = {.status = BACKEND_READY};
  TRY(engine_check_kind(ctx, engine_path));
  describe_environment(ctx, backend, engine_path, &info);
  return fail(
      ctx, info.status == BACKEND_MISSING ? HONE_E_MISSING : HONE_E_UNSUP,
      place_name(backend->name), "%s",
      info.reason[0] ? info.reason : "is called from Python, which cannot be started there");
}
