/* The artifact of a language model: up to CHUNK_TOKENS tokens at once, with caches as state. Its key in the
 * artifact cache does not need the import of the model, so that a second start takes a fraction of a second.
 */
#include "core/os/os.h"
#include "generate.h"

/* Of everything that determines the bytes of the artifact; hash: of the model's files. */
static hone_status artifact_key(struct ctx *ctx, const char *hash,
                                const struct compile_options *options, int64_t context,
                                char out[65]) {
  char compiler[128], program[33];
  struct strbuf text = {0};
  TRY(toolchain_describe(ctx, options->cc, options->target.triple, compiler));
  program_hash(program);
  strbuf_printf(&text, "generate|%s|%s|%s|%s|%s|%d|%d%d%d%d|%d|%lld", program, hash, compiler,
                options->target.triple, options->target.level, options->threads, options->bf16,
                options->fp16, options->prefers_size, options->debug, CHUNK_TOKENS,
                (long long)context);
  for (const char *const *flag = options->target.flags; *flag; flag++)
    strbuf_printf(&text, "|%s", *flag);
  hone_status status = strbuf_finish(ctx, &text);
  if (!status) status = sha256_hex(ctx, out, text.at, text.length);
  strbuf_deinit(&text);
  return status;
}

hone_status generator_compile(struct ctx *ctx, const char *path,
                              const struct compile_options *options, int64_t context,
                              const char *artifact, struct compile_report *out_report) {
  struct model model;
  char shapes[64];
  snprintf(shapes, sizeof shapes, "input_ids[1,tokens<=%d]", CHUNK_TOKENS);
  const struct import_options import = {.shapes = shapes,
                                        .cache = context < CHUNK_TOKENS ? CHUNK_TOKENS : context};
  TRY(model_load(ctx, path, &import, &model));
  hone_status status = compile_model(ctx, &model, options, artifact, out_report);
  model_unload(&model);
  return status;
}

static void announce(const struct generator_options *options, const char *path) {
  char text[4200];
  snprintf(text, sizeof text, "compiling %s; the result is kept in the artifact cache", path);
  if (options->notice) options->notice(options->user, text);
}

static hone_status make(struct ctx *ctx, const char *path, const struct generator_options *options,
                        int64_t context, const char *key, struct loaded *out) {
  struct compile_options compile = options->compile;
  char dir[4096], artifact[4200];
  compile.no_cache = true; /* kept under a key of its own */
  announce(options, path);
  TRY(dir_temporary(ctx, dir));
  snprintf(artifact, sizeof artifact, "%s/model.so", dir);
  hone_status status = generator_compile(ctx, path, &compile, context, artifact, NULL);
  if (!status && !options->compile.no_cache) {
    struct ctx quiet = *ctx; /* a full disk costs only the next start some time */
    if (cache_store(&quiet, key, artifact))
      warn(ctx, "not kept for the next start: %s", quiet.message);
  }
  if (!status) status = artifact_load(ctx, artifact, NULL, out);
  dir_temporary_remove(dir);
  return status;
}

hone_status generator_artifact(struct ctx *ctx, const char *path, const char *hash,
                               const struct generator_options *options, int64_t context,
                               struct loaded *out) {
  char key[65], artifact[4096];
  bool is_there = false;
  TRY(artifact_key(ctx, hash, &options->compile, context, key));
  if (!options->compile.no_cache) TRY(cache_lookup(ctx, key, artifact, &is_there));
  return is_there ? artifact_load(ctx, artifact, NULL, out)
                  : make(ctx, path, options, context, key, out);
}
