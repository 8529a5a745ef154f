/* The user's inputs: --input NAME=FILE and --inputs DIR, for run, verify and bench. In the folder,
 * input i called NAME is NAME.npy ('/' written as '_') or in_i.npy; out_i.npy are expected outputs.
 * A given file that cannot be used is an error; it is never replaced by random data.
 */
#include "bench/wire/wire.h"
#include "worker.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static hone_status name_in_folder(struct ctx *ctx, const char *dir, const char *name,
                                  char out[4096]) {
  int n = snprintf(out, 4096, "%s/", dir), m = 0;
  if (n > 0 && n < 4096) m = snprintf(out + n, 4096 - (size_t)n, "%s.npy", name);
  if (n + m >= 4096) return fail(ctx, HONE_E_PATH, place_file(dir), "the path is too long");
  for (char *p = out + n; *p; p++)
    if (*p == '/') *p = '_';
  return HONE_OK;
}

hone_status given_find(struct ctx *ctx, const struct given *given, const char *name, size_t index,
                       char out[4096]) {
  char number[32], by_number[4096];
  out[0] = 0;
  for (size_t i = 0; i < given->file_count; i++)
    if (!strcmp(given->files[i].name, name)) {
      if (snprintf(out, 4096, "%s", given->files[i].value) < 4096) return HONE_OK;
      return fail(ctx, HONE_E_PATH, place_name(name), "the path of its file is too long");
    }
  if (!given->dir) return HONE_OK;
  snprintf(number, sizeof number, "in_%zu", index);
  TRY(name_in_folder(ctx, given->dir, number, by_number));
  TRY(name_in_folder(ctx, given->dir, name, out));
  bool is_named = !access(out, F_OK), is_numbered = !access(by_number, F_OK);
  if (is_named && is_numbered && strcmp(out, by_number))
    return fail(ctx, HONE_E_USAGE, place_name(name),
                "two files are given for this input: %s and %s", out, by_number);
  if (!is_named) memcpy(out, by_number, sizeof by_number);
  if (!is_named && !is_numbered) out[0] = 0;
  return HONE_OK;
}

bool has_given(const json_t *command) {
  return json_object_size(json_object_get(command, "files")) ||
         *message_text(command, "inputs_dir");
}

hone_status given_of_command(struct ctx *ctx, const json_t *command, const char *name, size_t index,
                             char out[4096]) {
  const char *file = json_string_value(json_object_get(json_object_get(command, "files"), name));
  const char *dir = message_text(command, "inputs_dir");
  const struct bench_pair pair = {name, file};
  const struct given given = {&pair, file ? 1 : 0, *dir ? dir : NULL};
  return given_find(ctx, &given, name, index, out);
}

static hone_status check_files(struct ctx *ctx, const struct given *given,
                               const struct given_model *models, size_t model_count) {
  for (size_t i = 0; i < given->file_count; i++) {
    bool found = false;
    for (size_t m = 0; m < model_count; m++)
      for (size_t k = 0; k < models[m].count; k++)
        found |= !strcmp(models[m].names[k], given->files[i].name);
    if (!found)
      return fail(ctx, HONE_E_USAGE, place_name(given->files[i].name),
                  "the model has no such input; 'hone inspect' lists them");
    if (access(given->files[i].value, R_OK))
      return fail(ctx, HONE_E_NOFILE, place_file(given->files[i].value), "%s", strerror(errno));
  }
  return HONE_OK;
}

/* True if the file is an input of one of the models: "NAME.npy" or "in_3.npy". */
static bool is_used(struct ctx *ctx, const char *file, const struct given_model *models,
                    size_t model_count) {
  for (size_t m = 0; m < model_count; m++)
    for (size_t i = 0; i < models[m].count; i++) {
      char path[4096], number[32];
      snprintf(number, sizeof number, "in_%zu.npy", i);
      if (!strcmp(file, number)) return true;
      if (!name_in_folder(ctx, ".", models[m].names[i], path) && !strcmp(path + 2, file))
        return true;
    }
  ctx_clear(ctx); /* the name is too long for a file */
  return false;
}

/* True for data files, which must belong to an input: detects misspelt names and unsupported
   formats. */
static bool is_data(const char *file) {
  static const char *const endings[] = {".npy", ".npz", ".raw", ".bin", ".pb"};
  const char *dot = strrchr(file, '.');
  if (!strncmp(file, "out_", 4) || file[0] == '.') return false;
  for (size_t i = 0; dot && i < COUNT(endings); i++)
    if (!strcmp(dot, endings[i])) return true;
  return false;
}

static hone_status check_folder(struct ctx *ctx, const struct given *given,
                                const struct given_model *models, size_t model_count) {
  DIR *dir = opendir(given->dir);
  char unused[256] = "";
  if (!dir)
    return fail(ctx, HONE_E_NOFILE, place_file(given->dir), "cannot read the folder of inputs: %s",
                strerror(errno));
  for (struct dirent *entry; !unused[0] && (entry = readdir(dir));)
    if (is_data(entry->d_name) && !is_used(ctx, entry->d_name, models, model_count))
      snprintf(unused, sizeof unused, "%s", entry->d_name);
  closedir(dir);
  if (!unused[0]) return HONE_OK;
  return fail(
      ctx, HONE_E_USAGE, place_file(given->dir),
      "\"%s\" is not a file of an input; inputs are in_0.npy or NAME.npy, 'hone inspect' lists "
      "the names",
      unused);
}

static hone_status check_model(struct ctx *ctx, const struct given *given,
                               const struct given_model *model) {
  size_t found = 0;
  const char *missing = NULL;
  for (size_t i = 0; i < model->count; i++) {
    char path[4096];
    TRY(given_find(ctx, given, model->names[i], i, path));
    found += path[0] != 0;
    if (!path[0] && !(model->is_state && model->is_state[i])) missing = model->names[i];
  }
  if (!found && model->count && given->dir)
    return fail(ctx, HONE_E_NOFILE, place_file(given->dir),
                "no file there is an input of %s; inputs are in_0.npy or NAME.npy, 'hone inspect' "
                "lists the names",
                model->title);
  if (missing)
    warn(ctx, "%s: no file for the input %s; it gets random values", model->title, missing);
  return HONE_OK;
}

hone_status given_check(struct ctx *ctx, const struct given *given,
                        const struct given_model *models, size_t model_count) {
  if (!given->file_count && !given->dir) return HONE_OK;
  TRY(check_files(ctx, given, models, model_count));
  if (given->dir) TRY(check_folder(ctx, given, models, model_count));
  for (size_t m = 0; m < model_count; m++) TRY(check_model(ctx, given, &models[m]));
  return HONE_OK;
}

static void put_shape(struct strbuf *out, const hone_tensor *tensor) {
  strbuf_printf(out, "%s[", dtype_name(tensor->dtype));
  for (int i = 0; i < tensor->rank; i++)
    strbuf_printf(out, "%s%lld", i ? "," : "", (long long)tensor->shape[i]);
  strbuf_puts(out, "]");
}

static hone_status misfit(struct ctx *ctx, const char *path, const char *name,
                          const hone_tensor *want, const hone_tensor *got) {
  struct strbuf wanted = {0}, found = {0};
  put_shape(&wanted, want);
  put_shape(&found, got);
  hone_status status = fail(ctx, got->dtype == want->dtype ? HONE_E_SHAPE : HONE_E_TYPE,
                            place_file(path), "it is %s, the input %.100s is %s",
                            found.at ? found.at : "?", name, wanted.at ? wanted.at : "?");
  strbuf_deinit(&wanted);
  strbuf_deinit(&found);
  return status;
}

/* Copies strings to the arena: their table points into the memory of the file. */
static hone_status own_text(struct ctx *ctx, struct arena *arena, hone_string *table,
                            size_t count) {
  for (size_t i = 0; i < count; i++)
    TRY(arena_string(ctx, arena, table[i].bytes, table[i].length, &table[i].bytes));
  return HONE_OK;
}

hone_status given_read(struct ctx *ctx, struct arena *arena, const char *path, const char *name,
                       const hone_tensor *want, hone_tensor *out) {
  hone_tensor read;
  size_t bytes;
  void *copy = NULL;
  TRY(npy_read(ctx, path, want, &read));
  bool is_same = read.dtype == want->dtype && read.rank == want->rank &&
                 !memcmp(read.shape, want->shape, (size_t)read.rank * sizeof *read.shape);
  hone_status status =
      is_same ? tensor_bytes(ctx, name, &read, &bytes) : misfit(ctx, path, name, want, &read);
  if (!status) status = arena_alloc(ctx, arena, bytes, 1, &copy);
  if (!status) memcpy(copy, read.data, bytes);
  if (!status && read.dtype == HONE_STRING)
    status = own_text(ctx, arena, copy, bytes / sizeof(hone_string));
  free(read.data);
  *out = *want;
  out->data = copy;
  return status;
}
