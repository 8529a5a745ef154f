/* -o FOLDER: every format of a study, under fixed names. Each file is added as the flag that writes it, unless the user gave
 * that flag.
 */
#include "ui/report/report.h"
#include "cli.h"

#include <sys/stat.h>

static const struct {
  enum flag_id flag;
  const char *name;
} files[] = {
    {FLAG_json, "study.json"}, {FLAG_csv, "study.csv"},   {FLAG_latency_csv, "latency.csv"},
    {FLAG_md, "study.md"},     {FLAG_html, "study.html"}, {FLAG_svg, "study.svg"},
    {FLAG_png, "study.png"},   {FLAG_csv_dir, "models"},
};

static bool is_folder(const char *path) {
  struct stat info;
  const size_t n = strlen(path);
  return (n && path[n - 1] == '/') || (!stat(path, &info) && S_ISDIR(info.st_mode));
}

/* Removes the folder from the values of -o and returns it; NULL: none. */
static hone_status remove_folder(struct ctx *ctx, struct args *args, const char **out) {
  struct repeated *named = &args->repeated[FLAG_output];
  size_t kept = 0;
  *out = NULL;
  for (size_t i = 0; i < named->count; i++) {
    if (!is_folder(named->at[i]))
      named->at[kept++] = named->at[i];
    else if (*out)
      return fail(ctx, HONE_E_USAGE, place_name(named->at[i]), "give only one folder");
    else
      *out = named->at[i];
  }
  named->count = kept;
  args->values[FLAG_output] = kept ? named->at[kept - 1] : NULL;
  return HONE_OK;
}

hone_status output_folder_expand(struct ctx *ctx, struct arena *arena, struct args *args) {
  const char *folder;
  TRY(remove_folder(ctx, args, &folder));
  if (!folder || has(args, FLAG_dry_run)) return HONE_OK;
  TRY(dir_output(ctx, folder));
  for (size_t i = 0; i < COUNT(files); i++) {
    struct repeated *given = &args->repeated[files[i].flag];
    const bool ends = folder[strlen(folder) - 1] == '/';
    const char *path;
    if (given->count || (files[i].flag == FLAG_png && !png_is_possible())) continue;
    TRY(arena_printf(ctx, arena, &path, "%s%s%s", folder, ends ? "" : "/", files[i].name));
    args->values[files[i].flag] = given->at[given->count++] = path;
  }
  return HONE_OK;
}
