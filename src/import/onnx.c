/* onnx: ONNX files to graphs, in the order open, read, build, infer, finish.
 *
 * In: a path or bytes. Out: a verified graph at HONE_OPSET with shapes, and the files its constants
 * lie in, with their hashes. Nothing stays open on failure.
 */
#include "import.h"

#include <stdlib.h>

/* Domains whose operators hone knows, with the versions it reads. */
static const struct {
  const char *domain;
  int64_t newest;
} domains[] = {{"", HONE_OPSET}, {"ai.onnx.ml", 5}};

enum { NEWEST_IR = 14, FIRST_IR_WITH_OPSETS = 3 };

hone_status check_opset_version(struct ctx *ctx, const struct raw_opset *opset) {
  for (size_t i = 0; i < COUNT(domains); i++) {
    if (strcmp(opset->domain, domains[i].domain)) continue;
    if (opset->version > domains[i].newest)
      return fail(ctx, HONE_E_UNSUP, place_none(),
                  "opset %lld of domain \"%s\": hone reads 1 to %lld", (long long)opset->version,
                  opset->domain, (long long)domains[i].newest);
  }
  if (opset->version < 1)
    return fail(ctx, HONE_E_FORMAT, place_none(), "opset %lld of domain \"%s\": below 1",
                (long long)opset->version, opset->domain);
  return HONE_OK;
}

hone_status check_versions(struct builder *builder) {
  struct ctx *ctx = builder->reader.ctx;
  struct raw_model *model = &builder->model;
  if (!model->graph.start)
    return fail(ctx, HONE_E_FORMAT, place_none(), "no graph: this is not an ONNX model");
  if (model->ir_version < 1)
    return fail(ctx, HONE_E_FORMAT, place_none(), "ir_version %lld (1 to %d are legal)",
                (long long)model->ir_version, NEWEST_IR);
  if (model->ir_version > NEWEST_IR)
    return fail(ctx, HONE_E_UNSUP, place_none(), "ir_version %lld: hone reads 1 to %d",
                (long long)model->ir_version, NEWEST_IR);
  if (!model->opsets.count && model->ir_version < FIRST_IR_WITH_OPSETS)
    VEC_PUSH(ctx, builder->reader.arena, &model->opsets, (struct raw_opset){"", 1});
  if (!model->opsets.count) return fail(ctx, HONE_E_FORMAT, place_none(), "no opset_import");
  for (size_t i = 0; i < model->opsets.count; i++) {
    TRY(check_opset_version(ctx, &model->opsets.at[i]));
    if (opset_of(builder, model->opsets.at[i].domain) != model->opsets.at[i].version)
      return fail(ctx, HONE_E_FORMAT, place_none(), "duplicate opset_import of domain \"%s\"",
                  model->opsets.at[i].domain);
  }
  builder->opset = opset_of(builder, "");
  return HONE_OK;
}

/* Without side files the hashes of the file itself; else of the list of all files' hashes. */
static hone_status hash_files(struct ctx *ctx, struct model_file *file, const uint8_t *bytes,
                              size_t size) {
  hash_hex(file->content_hash, bytes, size);
  TRY(sha256_hex(ctx, file->sha256, bytes, size));
  if (!file->sides.count) return HONE_OK;
  struct text quick = {0}, strong = {0};
  text_puts(&quick, file->content_hash);
  text_puts(&strong, file->sha256);
  hone_status status = HONE_OK;
  for (size_t i = 0; i < file->sides.count && !status; i++) {
    char hex[65];
    hash_hex(hex, file->sides.at[i].data, file->sides.at[i].size);
    text_puts(&quick, hex);
    status = sha256_hex(ctx, hex, file->sides.at[i].data, file->sides.at[i].size);
    text_puts(&strong, hex);
  }
  if (!status) status = text_finish(ctx, &quick);
  if (!status) status = text_finish(ctx, &strong);
  if (!status) hash_hex(file->content_hash, quick.at, quick.length);
  if (!status) status = sha256_hex(ctx, file->sha256, strong.at, strong.length);
  text_deinit(&quick);
  text_deinit(&strong);
  return status;
}

/* What the file says of its outputs against what its nodes make. Real files hold stale shapes, so a
   shape is a warning (--strict: an error); a type that differs has no reading. */
static hone_status check_output(struct builder *builder, const struct raw_value *said,
                                const struct value *made) {
  struct ctx *ctx = builder->reader.ctx;
  if (said->dtype && said->dtype != made->dtype)
    return fail(ctx, HONE_E_TYPE, place_name(said->name), "an output declared as %s that is %s",
                dtype_name(said->dtype), dtype_name(made->dtype));
  if (!said->has_shape) return HONE_OK;
  bool same = said->rank == made->shape.rank;
  for (int d = 0; same && d < said->rank; d++)
    same = said->dims[d].value < 0 || said->dims[d].value == made->shape.dims[d];
  if (same) return HONE_OK;
  struct text shape = {0};
  shape_print(&shape, &made->shape);
  hone_status status = text_finish(ctx, &shape);
  if (!status && builder->options->strict)
    status = fail(ctx, HONE_E_SHAPE, place_name(said->name),
                  "an output declared with another shape than it has: %s", shape.at);
  else if (!status)
    warn(ctx, "output \"%s\" is declared with another shape than it has: %s", said->name, shape.at);
  text_deinit(&shape);
  return status;
}

static hone_status check_outputs(struct builder *builder, const struct graph *graph) {
  for (size_t i = 0; i < graph->outputs.count && i < builder->main.outputs.count; i++)
    TRY(check_output(builder, &builder->main.outputs.at[i], graph->outputs.at[i]));
  return HONE_OK;
}

/* Everything after the bytes are there. */
static hone_status import_bytes(struct builder *builder, const uint8_t *bytes, size_t size,
                                struct graph **out_graph) {
  struct ctx *ctx = builder->reader.ctx;
  TRY(build_model(builder, (struct wire){bytes, bytes + size, bytes}, out_graph));
  TRY(graph_infer(ctx, *out_graph));
  TRY(upgrade_finish(builder, *out_graph));
  TRY(check_outputs(builder, *out_graph));
  TRY(graph_verify(ctx, *out_graph));
  return hash_files(ctx, builder->reader.sides->file, bytes, size);
}

static hone_status run_import(struct ctx *ctx, struct arena *arena, const char *path,
                              const char *folder, const uint8_t *bytes, size_t size,
                              const struct import_options *options, struct model_file *file,
                              struct graph **out_graph) {
  static const struct import_options defaults;
  struct side_files sides;
  struct builder builder = {.options = options ? options : &defaults};
  builder.reader = (struct reader){.ctx = ctx, .arena = arena, .sides = &sides};
  TRY(looks_check(ctx, path, bytes, size));
  TRY(side_files_open(ctx, arena, folder, file, &sides));
  hone_status status = import_bytes(&builder, bytes, size, out_graph);
  side_files_close(&sides);
  return status;
}

/* The folder of `path` as written: a link's own folder, not its target's. */
static hone_status folder_of(struct ctx *ctx, struct arena *arena, const char *path,
                             const char **out) {
  const char *slash = strrchr(path, '/');
  if (!slash) return arena_string(ctx, arena, ".", 1, out);
  return arena_string(ctx, arena, path, slash == path ? 1 : (size_t)(slash - path), out);
}

hone_status import_onnx(struct ctx *ctx, struct arena *arena, const char *path,
                        const struct import_options *options, struct model_file *out_file,
                        struct graph **out_graph) {
  const char *folder = options ? options->side_files_from : NULL;
  *out_file = (struct model_file){0};
  if (!folder) TRY(folder_of(ctx, arena, path, &folder));
  TRY(file_map(ctx, path, &out_file->main));
  hone_status status = run_import(ctx, arena, path, folder, out_file->main.data,
                                  out_file->main.size, options, out_file, out_graph);
  if (status) model_file_close(out_file);
  return status;
}

hone_status import_onnx_bytes(struct ctx *ctx, struct arena *arena, const uint8_t *bytes,
                              size_t size, const struct import_options *options,
                              struct model_file *out_file, struct graph **out_graph) {
  const char *folder = options ? options->side_files_from : NULL;
  *out_file = (struct model_file){0};
  hone_status status =
      run_import(ctx, arena, "", folder, bytes, size, options, out_file, out_graph);
  if (status) model_file_close(out_file);
  return status;
}
