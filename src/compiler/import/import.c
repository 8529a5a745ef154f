/* import: a model file of any format to a graph: open, detect the format, read, verify, hash.
 *
 * In: a path or bytes. Out: a verified graph at HONE_OPSET with shapes, and the mapped files that
 * contain its constants, with their hashes. Nothing stays open on failure. */
#include "core/os/os.h"
#include "import.h"

/* Without side files the hash of the file itself; else of the list of all files' hashes. */
static hone_status hash_files(struct ctx *ctx, struct model_file *file, const uint8_t *bytes,
                              size_t size) {
  hash_hex(file->content_hash, bytes, size);
  TRY(sha256_hex(ctx, file->sha256, bytes, size));
  if (!file->sides.count) return HONE_OK;
  struct strbuf quick = {0}, strong = {0};
  strbuf_puts(&quick, file->content_hash);
  strbuf_puts(&strong, file->sha256);
  hone_status status = HONE_OK;
  for (size_t i = 0; i < file->sides.count && !status; i++) {
    char hex[65];
    hash_hex(hex, file->sides.at[i].data, file->sides.at[i].size);
    strbuf_puts(&quick, hex);
    status = sha256_hex(ctx, hex, file->sides.at[i].data, file->sides.at[i].size);
    strbuf_puts(&strong, hex);
  }
  if (!status) status = strbuf_finish(ctx, &quick);
  if (!status) status = strbuf_finish(ctx, &strong);
  if (!status) hash_hex(file->content_hash, quick.at, quick.length);
  if (!status) status = sha256_hex(ctx, file->sha256, strong.at, strong.length);
  strbuf_deinit(&quick);
  strbuf_deinit(&strong);
  return status;
}

static hone_status run_import(struct ctx *ctx, struct arena *arena, const char *folder,
                              struct source *source, struct model_file *file,
                              struct graph **out_graph) {
  static const struct import_options defaults;
  struct side_files sides;
  read_format_fn *read;
  if (!source->options) source->options = &defaults;
  TRY(format_find(ctx, source, &read));
  if (source->options->cache && read != read_gguf)
    return fail(ctx, HONE_E_USAGE, place_name("--cache"), "only GGUF models have such caches");
  TRY(side_files_open(ctx, arena, folder, file, &sides));
  source->sides = &sides;
  hone_status status = read(ctx, arena, source, out_graph);
  side_files_close(&sides);
  if (read == read_onnx) status = format_explain(ctx, source, status);
  if (!status) status = graph_verify(ctx, *out_graph);
  if (status || source->options->is_probe) return status;
  return hash_files(ctx, file, source->bytes, source->size);
}

/* The folder of `path` as written: the folder of a link, not of its target. */
static hone_status folder_of(struct ctx *ctx, struct arena *arena, const char *path,
                             const char **out) {
  const char *slash = strrchr(path, '/');
  if (!slash) return arena_string(ctx, arena, ".", 1, out);
  return arena_string(ctx, arena, path, slash == path ? 1 : (size_t)(slash - path), out);
}

hone_status import_model(struct ctx *ctx, struct arena *arena, const char *path,
                         const struct import_options *options, struct model_file *out_file,
                         struct graph **out_graph) {
  const char *folder = options ? options->side_files_from : NULL;
  *out_file = (struct model_file){0};
  if (!folder) TRY(folder_of(ctx, arena, path, &folder));
  hone_status status = file_map(ctx, path, &out_file->main);
  if (status) return format_explain_folder(ctx, path, status);
  struct source source = {path, out_file->main.data, out_file->main.size, options, NULL};
  status = run_import(ctx, arena, folder, &source, out_file, out_graph);
  if (status) model_file_close(out_file);
  return status;
}

hone_status import_bytes(struct ctx *ctx, struct arena *arena, const uint8_t *bytes, size_t size,
                         const struct import_options *options, struct model_file *out_file,
                         struct graph **out_graph) {
  struct source source = {"", bytes, size, options, NULL};
  *out_file = (struct model_file){0};
  hone_status status = run_import(ctx, arena, options ? options->side_files_from : NULL, &source,
                                  out_file, out_graph);
  if (status) model_file_close(out_file);
  return status;
}
