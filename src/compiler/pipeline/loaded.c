/* Compiles and loads a model at once, for callers that run it here and keep no artifact. */
#include "pipeline.h"

static hone_status load(struct ctx *ctx, const struct model *model,
                        const struct compile_options *options, const char *dir,
                        struct loaded *out) {
  char path[4200], symbol[128];
  snprintf(path, sizeof path, "%s/model.so", dir);
  snprintf(symbol, sizeof symbol, "%s_artifact", options->prefix ? options->prefix : "hone_model");
  TRY(compile_model(ctx, model, options, path, NULL));
  return artifact_load(ctx, path, symbol, out);
}

hone_status compile_loaded(struct ctx *ctx, const struct model *model,
                           const struct compile_options *options, struct loaded *out,
                           struct team **out_team) {
  char dir[4096];
  *out = (struct loaded){0};
  if (out_team) *out_team = NULL;
  TRY(features_check(ctx, place_name(options->target.level), options->target.features));
  TRY(dir_temporary(ctx, dir));
  hone_status status = load(ctx, model, options, dir, out);
  dir_temporary_remove(dir);
  if (status || !out_team) return status;
  status = team_create(ctx, options->threads > 0 ? options->threads : 1, false, out_team);
  if (status) artifact_unload(out);
  return status;
}
