/* The user's own PyTorch models (--zoo-dir DIR): NAME.py with get_model() and get_dummy_input(). The file is run once, by the
 * Python of an environment that has torch. The exported model is cached under a hash of that Python and of all Python files of
 * the folder.
 */
#include "cli.h"

#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORT_NS 1800000000000ull
#define PACKAGE "torch"

static bool is_name(const char *word) {
  const size_t n = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
  return n && !word[n];
}

/* The file of "NAME" or "zoo:NAME"; false: the folder does not have it. */
static bool find_file(const char *dir, const char *word, const char **out_name, char out[4096]) {
  const bool is_zoo = !strncmp(word, "zoo:", 4);
  *out_name = is_zoo ? word + 4 : word;
  if (!is_name(*out_name) || (!is_zoo && !access(word, F_OK))) return false;
  const int n = snprintf(out, 4096, "%s/%s.py", dir, *out_name);
  return n > 0 && n < 4096 && !access(out, R_OK);
}

/* Hash of the Python, and of all files that NAME.py may import from its folder. */
static MUST_USE hone_status key_of(struct ctx *ctx, const char *dir, const char *python,
                                   const char *name, char out[33]) {
  char pattern[4200], hash[33];
  glob_t found = {0};
  struct strbuf text = {0};
  snprintf(pattern, sizeof pattern, "%s/*.py", dir);
  strbuf_printf(&text, "%s\n%s\n%s\n%s\n", HONE_VERSION, python, dir, name);
  hone_status status = HONE_OK;
  if (!glob(pattern, 0, NULL, &found)) {
    for (size_t i = 0; !status && i < found.gl_pathc; i++) {
      struct mapping file;
      status = file_map(ctx, found.gl_pathv[i], &file);
      if (status) break;
      hash_hex(hash, file.data, file.size);
      file_unmap(&file);
      strbuf_printf(&text, "%s %s\n", found.gl_pathv[i], hash);
    }
    globfree(&found);
  }
  if (!status) status = strbuf_finish(ctx, &text);
  if (!status) hash_hex(out, text.at, text.length);
  strbuf_deinit(&text);
  return status;
}

static MUST_USE hone_status run_exporter(struct ctx *ctx, const char *python, const char *dir,
                                         const char *name, const char *work, const char *output) {
  char script[4200];
  size_t length;
  const char *text = hone_embedded_text("python/hone/_zoo.py", &length);
  if (!text)
    return fail(ctx, HONE_E_INTERNAL, place_name("_zoo.py"), "is not built into this program");
  snprintf(script, sizeof script, "%s/export.py", work);
  TRY(file_write_atomic(ctx, script, text, length, 0600));
  const char *const argv[] = {python, script, "write", name, "--zoo-dir", dir, "-o", output, NULL};
  const struct process_options options = {
      .argv = argv, .directory = work, .fd_in = -1, .fd_out = -1, .timeout_ns = EXPORT_NS};
  struct process_result result;
  TRY(process_run(ctx, &options, &result));
  hone_status status = HONE_OK;
  if (result.exit_code || result.signal || result.timed_out) {
    struct strbuf words = {0};
    const size_t all = result.output.length, keep = all < 600 ? all : 600;
    strbuf_put_safe(&words, result.output.at ? result.output.at + all - keep : "no words", 700);
    status = fail(ctx, result.exit_code == 69 ? HONE_E_MISSING : HONE_E_UNSUP, place_name(name),
                  "export with %s failed: %s", python, words.at ? words.at : "");
    strbuf_deinit(&words);
  }
  strbuf_deinit(&result.output);
  return status;
}

static MUST_USE hone_status python_of(struct ctx *ctx, const struct args *args, char out[4096]) {
  hone_status status = engine_python(ctx, PACKAGE, engine_path_of(args, PACKAGE), out);
  return status ? advise(ctx, status,
                         "give a virtual environment that has torch with --engine torch=DIR, or "
                         "make one with 'hone backends install torch'")
                : HONE_OK;
}

/* NAME.onnx, or NAME.pt2 if that Python cannot write ONNX. */
static bool find_export(const char *folder, const char *name, char out[4200]) {
  static const char *const endings[] = {".onnx", ".pt2"};
  for (size_t i = 0; i < COUNT(endings); i++) {
    snprintf(out, 4200, "%s/%s%s", folder, name, endings[i]);
    if (!access(out, R_OK)) return true;
  }
  return false;
}

static MUST_USE hone_status export_once(struct ctx *ctx, const struct args *args, const char *dir,
                                        const char *name, char out[4200]) {
  char python[4096], cache[4096], folder[4096], partial[4096 + 32], key[33];
  TRY(python_of(ctx, args, python));
  TRY(key_of(ctx, dir, python, name, key));
  TRY(dir_user(ctx, "cache", cache));
  snprintf(folder, sizeof folder, "%.3900s/zoo-dir/%s", cache, key);
  if (find_export(folder, name, out)) return HONE_OK;
  snprintf(partial, sizeof partial, "%s.%d", folder, (int)getpid());
  TRY(dir_create(ctx, partial));
  if (!has(args, FLAG_quiet)) fprintf(stderr, "%s/%s.py is run by %s\n", dir, name, python);
  hone_status status = run_exporter(ctx, python, dir, name, partial, "./");
  char made[4200];
  if (!status && !find_export(partial, name, made))
    status = fail(ctx, HONE_E_INTERNAL, place_name(name), "%s wrote no file", python);
  /* another process may have made it at the same time; either is valid */
  if (!status && rename(partial, folder) && !find_export(folder, name, out))
    status = fail(ctx, HONE_E_WRITE, place_file(folder), "cannot be written");
  dir_remove_tree(partial);
  if (!status && !find_export(folder, name, out))
    status = fail(ctx, HONE_E_IO, place_file(folder),
                  "the exported file was removed by another process");
  return status;
}

/* The absolute path of --zoo-dir; NULL: not given. E_NOFILE. */
static MUST_USE hone_status folder_of(struct ctx *ctx, const struct args *args, char resolved[4096],
                                      const char **out) {
  const char *dir = value_of(args, FLAG_zoo_dir, NULL);
  *out = NULL;
  if (!dir) return HONE_OK;
  if (!realpath(dir, resolved)) return fail(ctx, HONE_E_NOFILE, place_file(dir), "no such folder");
  *out = resolved;
  return HONE_OK;
}

hone_status zoo_dir_expand(struct ctx *ctx, struct arena *arena, struct args *args) {
  char resolved[4096], path[4200];
  const char *dir, *name;
  TRY(folder_of(ctx, args, resolved, &dir));
  for (size_t i = 0; dir && i < args->word_count; i++) {
    if (!find_file(dir, args->words[i], &name, path)) continue;
    TRY(export_once(ctx, args, dir, name, path));
    TRY(arena_string(ctx, arena, path, strlen(path), &args->words[i]));
  }
  return HONE_OK;
}

/* True if the file defines both functions, by its text. */
static bool is_model_file(const char *path) {
  struct ctx ctx;
  struct mapping file;
  ctx_init(&ctx);
  if (file_map(&ctx, path, &file)) return false;
  const bool has_both = memmem(file.data, file.size, "def get_model", 13) &&
                        memmem(file.data, file.size, "def get_dummy_input", 19);
  file_unmap(&file);
  return has_both;
}

hone_status zoo_dir_list(struct ctx *ctx, const struct args *args) {
  char resolved[4096], pattern[4200];
  const char *dir;
  glob_t found = {0};
  TRY(folder_of(ctx, args, resolved, &dir));
  if (!dir) return HONE_OK;
  snprintf(pattern, sizeof pattern, "%s/*.py", dir);
  if (glob(pattern, 0, NULL, &found)) return HONE_OK;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    const char *base = strrchr(found.gl_pathv[i], '/') + 1;
    struct strbuf line = {0};
    if (!is_model_file(found.gl_pathv[i])) continue;
    strbuf_puts(&line, "zoo:");
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)(strlen(base) - 3), base);
    if (is_name(name)) {
      strbuf_printf(&line, "%-20s ", name);
      strbuf_put_safe(&line, found.gl_pathv[i], 4096);
      if (line.at) puts(line.at);
    }
    strbuf_deinit(&line);
  }
  globfree(&found);
  return HONE_OK;
}

/* Writes the exported model with the usual checks of outputs. */
hone_status zoo_dir_write(struct ctx *ctx, const struct args *args, const char *word,
                          const char *output, bool *out_is_written) {
  char resolved[4096], path[4096], python[4096], folder[4096], made[4200];
  const char *dir, *name, *ending = strrchr(output, '.');
  const bool is_stdout = !strcmp(output, "-"), is_pt2 = ending && !strcmp(ending, ".pt2");
  *out_is_written = false;
  TRY(folder_of(ctx, args, resolved, &dir));
  if (!dir || !find_file(dir, word, &name, path)) return HONE_OK;
  if (!is_stdout && !is_pt2 && (!ending || strcmp(ending, ".onnx")))
    return fail(ctx, HONE_E_USAGE, place_name(output), "give FILE.onnx or FILE.pt2");
  if (!is_stdout) TRY(output_check(ctx, output, is_pt2 ? OUTPUT_PT2 : OUTPUT_ONNX, NULL, 0));
  TRY(python_of(ctx, args, python));
  TRY(dir_temporary(ctx, folder));
  snprintf(made, sizeof made, "%s/%s.%s", folder, name, is_pt2 ? "pt2" : "onnx");
  hone_status status = run_exporter(ctx, python, dir, name, folder, made);
  if (!status) status = file_copy(ctx, made, is_stdout ? "/dev/stdout" : output, 0644, NULL);
  dir_temporary_remove(folder);
  *out_is_written = !status;
  return status;
}
