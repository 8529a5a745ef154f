/* Writes files into the unfinished folder, and runs programs in it. */
#include "bundle.h"

#include <errno.h>
#include <sys/stat.h>

hone_status bundle_path(const struct bundle *b, const char *name, char out[4096]) {
  const int n = snprintf(out, 4096, "%s/%s", b->dir, name);
  if (n > 0 && n < 4096) return HONE_OK;
  return fail(b->ctx, HONE_E_PATH, place_file(b->dir), "the path of the bundle is too long");
}

hone_status bundle_put(const struct bundle *b, const char *name, const char *data, size_t length,
                       unsigned mode) {
  char path[4096];
  TRY(bundle_path(b, name, path));
  TRY(file_write_atomic(b->ctx, path, data, length, mode));
  if (chmod(path, mode)) return fail(b->ctx, HONE_E_WRITE, place_file(path), "%s", strerror(errno));
  return HONE_OK;
}

hone_status bundle_put_text(const struct bundle *b, const char *name, struct strbuf *text,
                            unsigned mode) {
  hone_status status = strbuf_finish(b->ctx, text);
  if (!status) status = bundle_put(b, name, text->at ? text->at : "", text->length, mode);
  strbuf_deinit(text);
  return status;
}

hone_status bundle_put_embedded(const struct bundle *b, const char *embedded, const char *name,
                                unsigned mode) {
  size_t length = 0;
  const char *text = hone_embedded_text(embedded, &length);
  if (!text)
    return fail(b->ctx, HONE_E_INTERNAL, place_name(embedded), "there is no such embedded file");
  return bundle_put(b, name, text, length, mode);
}

hone_status bundle_run(const struct bundle *b, const char **argv) {
  char program[4096];
  TRY(bundle_path(b, argv[0], program));
  argv[0] = program;
  char library[BUNDLE_ENGINES * 4200];
  const char *own[3] = {"PATH=/usr/local/bin:/usr/bin:/bin", NULL, NULL};
  size_t used = (size_t)snprintf(library, sizeof library, "ENGINE_LIBRARY=");
  for (size_t i = 0; i < b->engine_count && used < sizeof library; i++)
    used += (size_t)snprintf(library + used, sizeof library - used, "%s%s", i ? ":" : "",
                             b->engines[i].library);
  if (b->engine_count) own[1] = library;
  const struct process_options options = {.argv = argv,
                                          .environ_ = own,
                                          .directory = b->dir,
                                          .fd_in = -1,
                                          .fd_out = -1,
                                          .timeout_ns = 600000000000ull};
  struct process_result result;
  TRY(process_run(b->ctx, &options, &result));
  hone_status status = HONE_OK;
  if (result.exit_code || result.signal || result.timed_out) {
    char words[900];
    safe_copy(words, sizeof words, result.output.at ? result.output.at : "no output");
    status = fail(b->ctx, HONE_E_CRASH, place_name(argv[0]), "%s %d: %s",
                  result.signal ? "signal" : "exit code",
                  result.signal ? result.signal : result.exit_code, words);
  }
  strbuf_deinit(&result.output);
  return status;
}
