/* The tuned choice table: a text file in the cache, one per combination that affects which choice
 * is fastest. A problem's entry serves every model that contains it. A table never makes results
 * wrong: choices that do not fit are skipped, and all that fit are correct.
 */
#include "pipeline.h"

#include <errno.h>
#include <unistd.h>

/* Kernel sources change: the fastest choice of the old source need not be that of the new one,
   and a value missing in a choice is 0. */
static hone_status put_texts(struct ctx *ctx, struct strbuf *out) {
  for (size_t i = 0; i < kernel_count; i++) {
    strbuf_printf(out, "%s %s\n", kernel_table[i].name, kernel_table[i].names);
    TRY(emit_kernel_source(ctx, kernel_table[i].source, out));
    if (kernel_table[i].shared_source)
      TRY(emit_kernel_source(ctx, kernel_table[i].shared_source, out));
  }
  return HONE_OK;
}

/* Only writers create the folder: without it no compiler is asked for its version. */
static hone_status tuned_folder(struct ctx *ctx, char out[4096]) {
  char cache[4096];
  TRY(dir_user(ctx, "cache", cache));
  int n = snprintf(out, 4096, "%s/tuned", cache);
  if (n > 0 && n < 4096) return HONE_OK;
  return fail(ctx, HONE_E_PATH, place_file(cache), "the path is too long");
}

hone_status tuned_path(struct ctx *ctx, const struct compile_options *options, char out[4096]) {
  char folder[4096], compiler[128], model[96], key[33];
  struct strbuf text = {0};
  TRY(tuned_folder(ctx, folder));
  TRY(toolchain_describe(ctx, options->cc, options->target.triple, compiler));
  cpu_model(model, sizeof model);
  strbuf_printf(&text, "%s|%s|%s|%s|%x|%d%s\n", HONE_VERSION, model, compiler,
                options->target.triple, options->target.features, options->threads,
                options->prefers_size ? "|size" : "");
  hone_status status = put_texts(ctx, &text);
  if (!status) status = strbuf_finish(ctx, &text);
  if (!status) hash_hex(key, text.at, text.length);
  strbuf_deinit(&text);
  TRY(status);
  int n = snprintf(out, 4096, "%s/%s.txt", folder, key);
  if (n > 0 && n < 4096) return HONE_OK;
  return fail(ctx, HONE_E_PATH, place_file(folder), "the path is too long");
}

hone_status tuned_read(struct ctx *ctx, struct arena *arena, const struct compile_options *options,
                       struct choice_table *out) {
  char folder[4096], path[4096];
  struct mapping file;
  *out = (struct choice_table){0};
  TRY(tuned_folder(ctx, folder));
  if (access(folder, X_OK)) return HONE_OK;
  TRY(tuned_path(ctx, options, path));
  if (access(path, F_OK) && errno == ENOENT) return HONE_OK;
  TRY(file_map(ctx, path, &file));
  hone_status status =
      choices_parse(ctx, arena, place_file(path), (const char *)file.data, file.size, out);
  file_unmap(&file);
  return status;
}

static void put_entry(const struct choice_entry *entry, struct strbuf *out) {
  char problem[1024], choice[512];
  problem_print(problem, sizeof problem, &entry->problem);
  choice_print(choice, sizeof choice, &entry->choice);
  strbuf_printf(out, "%s -> %s\n", problem, choice);
}

hone_status tuned_add(struct ctx *ctx, struct arena *arena, const struct compile_options *options,
                      const struct choice_table *added) {
  char folder[4096], path[4096], model[96];
  struct choice_table table;
  struct strbuf text = {0};
  TRY(tuned_folder(ctx, folder));
  TRY(dir_create(ctx, folder));
  TRY(tuned_read(ctx, arena, options, &table));
  TRY(tuned_path(ctx, options, path));
  cpu_model(model, sizeof model);
  strbuf_printf(&text, "# Made by hone tune: %s, %s, %d threads\n", model, options->target.level,
                options->threads);
  for (size_t i = 0; i < table.entries.count; i++)
    if (!choices_find(added, &table.entries.at[i].problem)) put_entry(&table.entries.at[i], &text);
  for (size_t i = 0; i < added->entries.count; i++) put_entry(&added->entries.at[i], &text);
  hone_status status = strbuf_finish(ctx, &text);
  if (!status) status = file_write_atomic(ctx, path, text.at, text.length, 0644);
  strbuf_deinit(&text);
  return status;
}
