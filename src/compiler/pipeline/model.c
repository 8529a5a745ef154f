/* A model in memory, from a file or from the zoo. */
#include "pipeline.h"

#include "zoo/zoo.h"

/* The name of a built-in model includes its batch size. */
static hone_status load_zoo(struct ctx *ctx, const char *spec, int64_t batch, struct model *model) {
  struct strbuf identity = {0};
  if (batch && !strstr(spec, "batch="))
    TRY(arena_printf(ctx, model->arena, &spec, "%s,batch=%lld", spec, (long long)batch));
  TRY(zoo_build(ctx, model->arena, spec, &model->graph, &model->open));
  TRY(graph_infer(ctx, model->graph));
  strbuf_printf(&identity, "hone %s %s", HONE_VERSION, spec);
  hone_status status = strbuf_finish(ctx, &identity);
  if (!status) {
    hash_hex(model->content_hash, identity.at, identity.length);
    status = sha256_hex(ctx, model->sha256, identity.at, identity.length);
  }
  strbuf_deinit(&identity);
  return status;
}

static hone_status keep(struct ctx *ctx, struct arena *arena, const char *text, const char **out) {
  *out = NULL;
  return text ? arena_string(ctx, arena, text, strlen(text), out) : HONE_OK;
}

static hone_status load_file(struct ctx *ctx, const char *path,
                             const struct import_options *options, struct model *model) {
  model->options = *options;
  TRY(keep(ctx, model->arena, path, &model->path));
  TRY(keep(ctx, model->arena, options->shapes, &model->options.shapes));
  TRY(keep(ctx, model->arena, options->side_files_from, &model->options.side_files_from));
  TRY(keep(ctx, model->arena, options->signature, &model->options.signature));
  model->options.symbols = &model->symbols;
  TRY(import_model(ctx, model->arena, path, &model->options, &model->file, &model->graph));
  model->options.symbols = NULL; /* the model may move in memory */
  if (options->at_run || options->sizes[0]) model->symbols.count = 0;
  memcpy(model->content_hash, model->file.content_hash, sizeof model->content_hash);
  memcpy(model->sha256, model->file.sha256, sizeof model->sha256);
  return HONE_OK;
}

hone_status model_load(struct ctx *ctx, const char *path, const struct import_options *options,
                       struct model *out) {
  static const struct import_options defaults;
  memset(out, 0, sizeof *out);
  journal_doing("reading %s", path);
  if (zoo_is_spec(path) && options && options->cache)
    return fail(ctx, HONE_E_USAGE, place_name("--cache"), "only GGUF models have such caches");
  if (zoo_is_spec(path) && options && options->shapes)
    return fail(ctx, HONE_E_USAGE, place_name(path),
                "--shape is only for files; the name of a built-in model includes its sizes ('hone "
                "zoo list')");
  /* a built-in model checks that it fits into memory before it makes its weights */
  TRY(arena_create(ctx, zoo_is_spec(path) ? (size_t)usable_ram_bytes() : 0, &out->arena));
  hone_status status = zoo_is_spec(path) ? load_zoo(ctx, path, options ? options->batch : 0, out)
                                         : load_file(ctx, path, options ? options : &defaults, out);
  if (status) model_unload(out);
  return status;
}

hone_status model_at(struct ctx *ctx, const struct model *model, const int64_t *sizes,
                     struct model *out) {
  struct import_options options = model->options;
  for (size_t k = 0; k < model->symbols.count; k++) {
    const struct symbol *symbol = &model->symbols.at[k];
    const int64_t least = symbol->least ? symbol->least : 1;
    if (sizes[k] < least || sizes[k] > symbol->bound)
      return fail(ctx, HONE_E_USAGE, place_none(),
                  "%s = %lld is out of range: the model supports %lld to %lld", symbol->name,
                  (long long)sizes[k], (long long)least, (long long)symbol->bound);
    options.sizes[k] = sizes[k];
  }
  options.is_probe = true;
  options.before = model->graph;
  void (*say)(void *, const char *) = ctx->warn;
  ctx->warn = NULL; /* the file's warnings were printed when it was first read */
  hone_status status = model_load(ctx, model->path, &options, out);
  ctx->warn = say;
  return status;
}

void model_unload(struct model *model) {
  model_file_close(&model->file);
  arena_destroy(model->arena);
  memset(model, 0, sizeof *model);
}
