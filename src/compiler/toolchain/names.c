/* Names of artifacts and their parts: the kind by the extension, companion files, the symbol
 * prefix, levels.
 */
#include "toolchain_internal.h"

enum artifact_kind artifact_kind_of(const char *path) {
  static const struct {
    const char *ending;
    enum artifact_kind kind;
  } endings[] = {{".c", ARTIFACT_C}, {".so", ARTIFACT_SO}, {".a", ARTIFACT_A}};
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
  for (size_t i = 0; dot && i < COUNT(endings); i++)
    if (!strcmp(dot, endings[i].ending)) return endings[i].kind;
  return ARTIFACT_EXE;
}

hone_status artifact_beside(struct ctx *ctx, const char *path, const char *ending, char out[4096]) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
  size_t length =
      dot && artifact_kind_of(path) != ARTIFACT_EXE ? (size_t)(dot - path) : strlen(path);
  int n = snprintf(out, 4096, "%.*s.%s", (int)length, path, ending);
  if (n < 0 || n >= 4096) return fail(ctx, HONE_E_PATH, place_file(path), "the path is too long");
  return HONE_OK;
}

/* Always used with a suffix (NAME_run, NAME_artifact), so C keywords are allowed; a leading
   underscore or digit is not, nor are hone's own names. */
void artifact_prefix(const char *path, char out[65]) {
  static const char front[] = "model_";
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path,
             *dot = strrchr(base, '.');
  const bool has_ending = dot && artifact_kind_of(path) != ARTIFACT_EXE;
  size_t length = has_ending ? (size_t)(dot - base) : strlen(base), n = 0;
  const bool is_own = (length == 4 || (length > 4 && base[4] == '_')) && !strncmp(base, "hone", 4);
  if (!length || (base[0] >= '0' && base[0] <= '9') || base[0] == '_' || is_own)
    n = (size_t)snprintf(out, 65, "%s", front);
  for (size_t i = 0; i < length && n < 48; i++) {
    const char c = base[i];
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!is_word && !n) n = (size_t)snprintf(out, 65, "%s", front);
    out[n++] = is_word ? c : '_';
  }
  out[n] = 0;
}

hone_status level_beside(struct ctx *ctx, const char *path, const char *level, char out[4096]) {
  size_t length = strlen(path) - strlen(".c");
  int n = snprintf(out, 4096, "%.*s_%s.c", (int)length, path, level);
  if (n < 0 || n >= 4096) return fail(ctx, HONE_E_PATH, place_file(path), "the path is too long");
  return HONE_OK;
}
