/* What engines share that are called from Python: a worker of their own in place of `hone worker`, and
 * an environment with its interpreter. Nothing of them runs in this process.
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
  /* installers write its name in small letters or as it is, and one sign between words for another */
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
  /* a path to the library itself is found whatever the pattern says: then nothing tells the version */
  static const char end[] = ".dist-info";
  const char *base = strrchr(found, '/') ? strrchr(found, '/') + 1 : found;
  const size_t length = strlen(base), before = strlen(distribution) + 1;
  if (length < before + sizeof end || strcmp(base + length - (sizeof end - 1), end)) return;
  snprintf(out, 64, "%.*s", (int)(length - before - (sizeof end - 1)), base + before);
}

void describe_environment(struct ctx *ctx, const struct backend *backend, const char *engine_path,
                          struct backend_info *out) {
  const char *name = backend->name, *distribution = backend->distribution;
  hone_status status = engine_python(ctx, name, engine_path, out->library);
  if (!status) engine_version(ctx, name, engine_path, distribution, out->version);
  if (!status && !out->version[0])
    status = fail(ctx, HONE_E_MISSING, place_file(out->library),
                  "its environment holds no %s; hone backends install %s", distribution, name);
  if (status) {
    out->status = BACKEND_MISSING;
    safe_copy(out->reason, sizeof out->reason, ctx->message);
    ctx_clear(ctx);
    return;
  }
  out->status = BACKEND_READY;
}

/* Reached only where the environment is missing: the harness starts the engine's own worker else. */
hone_status open_elsewhere(struct ctx *ctx, struct session *session,
                           const struct backend_request *request, struct backend_facts *facts,
                           struct backend_io *out_io) {
  (void)session, (void)facts, (void)out_io;
  TRY(engine_check_kind(ctx, request->engine_path));
  return fail(ctx, HONE_E_MISSING, place_file(request->engine_path ? request->engine_path : ""),
              "its Python environment is not here; 'hone backends' names the command");
}

void close_elsewhere(struct session *session) { (void)session; }
