/* Prepares a model for all backends, in a worker. describe: the ONNX file (zoo: models are written
 * once), its hash, shapes and cost. reference: one input set and the reference's outputs as .npy
 * files; the harness requests each set and caches them.
 */
#include "bench/wire/wire.h"
#include "zoo/zoo.h"
#include "worker.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool file_holds(const char *path, const char *text) {
  char found[128] = "";
  FILE *file = fopen(path, "re");
  if (!file) return false;
  size_t n = fread(found, 1, sizeof found - 1, file);
  fclose(file);
  found[n] = 0;
  return !strcmp(found, text);
}

/* Shapes of all inputs that the file lists. */
static hone_status shapes_text(struct ctx *ctx, const struct graph *graph, struct strbuf *out) {
  const char *between = "";
  for (size_t i = 0; i < graph->inputs.count; i++) {
    const struct value *input = graph->inputs.at[i];
    if (input->is_kept) continue;
    strbuf_printf(out, "%s%s[", between, input->name);
    between = ",";
    for (int d = 0; d < input->shape.rank; d++)
      strbuf_printf(out, "%s%lld", d ? "," : "", (long long)input->shape.dims[d]);
    strbuf_puts(out, "]");
  }
  if (!*between) strbuf_puts(out, "");
  return strbuf_finish(ctx, out);
}

/* Writes the default sizes of the model's dynamic dimensions next to its file; no file if there are
   none. */
static hone_status write_sizes(struct ctx *ctx, const struct model *model, const char *path) {
  struct strbuf sizes = {0};
  hone_status status = model->open.count ? shapes_text(ctx, model->graph, &sizes) : HONE_OK;
  if (!status) status = file_write_atomic(ctx, path, sizes.at, sizes.length, 0600);
  strbuf_deinit(&sizes);
  return status;
}

/* Builds the zoo model and writes it as ONNX, unless this build has done so before. */
static hone_status zoo_file(struct ctx *ctx, const char *spec, const char *cache_dir,
                            char out[4096]) {
  char name[65], hash[33], folder[4096], stamp_path[4096], sizes_path[4096], stamp[33];
  hash_hex(hash, spec, strlen(spec)); /* the name alone may be truncated */
  slug(name, spec);
  snprintf(folder, sizeof folder, "%.3900s/models", cache_dir);
  TRY(dir_create(ctx, folder));
  snprintf(out, 4096, "%.4000s/%.40s-%.16s.onnx", folder, name, hash);
  snprintf(stamp_path, sizeof stamp_path, "%.4000s/%.40s-%.16s.stamp", folder, name, hash);
  snprintf(sizes_path, sizeof sizes_path, "%.4000s/%.40s-%.16s.sizes", folder, name, hash);
  program_hash(stamp); /* files of another build are made again */
  if (!access(out, R_OK) && file_holds(stamp_path, stamp)) return HONE_OK;
  struct model model;
  TRY(model_load(ctx, spec, NULL, &model));
  hone_status status = write_sizes(ctx, &model, sizes_path);
  if (!status) status = export_onnx_file(ctx, model.graph, &model.open, out, 0600);
  model_unload(&model);
  if (!status) status = file_write_atomic(ctx, stamp_path, stamp, strlen(stamp), 0600);
  return status;
}

/* -- describe */

static json_t *describe_value(const struct value *value, double step) {
  json_t *shape = json_array();
  for (int i = 0; i < value->shape.rank; i++)
    json_array_append_new(shape, json_integer(value->shape.dims[i]));
  return json_pack("{s:s, s:i, s:o, s:f}", "name", value->name, "dtype", (int)value->dtype, "shape",
                   shape, "step", step);
}

/* steps: per value, or NULL. */
static json_t *describe_values(struct value *const *values, size_t count, const double *steps) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(list, describe_value(values[i], steps ? steps[i] : 0));
  return list;
}

/* Writes FLOPs, bytes and FLOPs with Winograd of each contraction to costs.npy [n, 3] in the
   worker's folder. */
static hone_status write_costs(struct ctx *ctx, const struct graph *graph, const char *dir) {
  double *costs = calloc(graph->nodes.count + 1, 3 * sizeof *costs);
  if (!costs) return fail(ctx, HONE_E_OOM, place_none(), "no memory for costs");
  int64_t count = 0;
  for (size_t i = 0; i < graph->nodes.count; i++)
    if (graph->nodes.at[i]->op->class == OP_CONTRACTION) {
      node_cost(graph->nodes.at[i], &costs[3 * count], &costs[3 * count + 1]);
      costs[3 * count + 2] = node_winograd_flops(graph->nodes.at[i]);
      count++;
    }
  const hone_tensor tensor = {.data = costs, .dtype = HONE_F64, .rank = 2, .shape = {count, 3}};
  char path[4096 + 16];
  snprintf(path, sizeof path, "%s/costs.npy", dir);
  hone_status status = npy_write(ctx, path, &tensor);
  free(costs);
  return status;
}

/* Bytes that a node reads of a constant: of a table only the rows that are looked up. */
static double bytes_read(const struct node *node, size_t input) {
  const struct tensor *constant = node->inputs[input]->constant;
  double all = (double)constant->bytes, rows = dtype_bits(constant->dtype) / 8.0;
  const bool is_scale = input && is_op(node, OP_DequantizeLinear);
  if (is_scale && tensor_holds_halves(constant)) return all / 2; /* as files have them */
  if (input || strcmp(node->op->name, "Gather") || !node->outputs[0]) return all;
  for (int d = 0; d < node->outputs[0]->shape.rank; d++)
    rows *= (double)node->outputs[0]->shape.dims[d];
  return rows < all ? rows : all;
}

/* Bytes of constants that one inference must read, each counted once. -1: out of memory. */
static int64_t constant_bytes(const struct graph *graph) {
  double *read = calloc(graph->values.count + 1, sizeof *read), sum = 0;
  if (!read) return -1;
  for (size_t n = 0; n < graph->nodes.count; n++) {
    const struct node *node = graph->nodes.at[n];
    for (size_t i = 0; i < node->input_count; i++) {
      const struct value *value = node->inputs[i];
      if (!value || !value->constant || value->producer || value->index >= graph->values.count)
        continue;
      read[value->index] =
          fmin((double)value->constant->bytes, read[value->index] + bytes_read(node, i));
    }
  }
  for (size_t i = 0; i < graph->values.count; i++) sum += read[i];
  free(read);
  return (int64_t)fmin(sum, 9e18);
}

/* Size of the model's files, which are deployed with an engine that reads the model itself. */
static json_int_t file_bytes(const struct model *model) {
  json_int_t bytes = (json_int_t)model->file.main.size;
  for (size_t i = 0; i < model->file.sides.count; i++)
    bytes += (json_int_t)model->file.sides.at[i].size;
  return bytes;
}

/* Device and inode of each side file. */
static json_t *side_files(const struct model *model) {
  json_t *list = json_array();
  for (size_t i = 0; i < model->file.sides.count; i++) {
    json_array_append_new(list, json_integer((json_int_t)model->file.sides.at[i].device));
    json_array_append_new(list, json_integer((json_int_t)model->file.sides.at[i].inode));
  }
  return list;
}

/* Number of states that the file does not list as inputs. */
static json_int_t kept_inputs(const struct graph *graph) {
  json_int_t count = 0;
  for (size_t i = 0; i < graph->inputs.count; i++) count += graph->inputs.at[i]->is_kept;
  return count;
}

static hone_status reply_description(struct ctx *ctx, const char *path, const struct model *model,
                                     json_t **out_reply) {
  const struct graph *graph = model->graph;
  double flops = 0, bytes = 0, *steps = calloc(graph->outputs.count + 1, sizeof *steps);
  if (!steps) return fail(ctx, HONE_E_OOM, place_none(), "no memory for steps");
  char hash[33]; /* of a built-in model: of its specification */
  snprintf(hash, sizeof hash, "%s", model->content_hash);
  if (!hash[0]) hash_hex(hash, path, strlen(path));
  hone_status status = output_steps(ctx, graph, steps);
  for (size_t i = 0; i < graph->nodes.count; i++) {
    double node_flops, node_bytes;
    node_cost(graph->nodes.at[i], &node_flops, &node_bytes);
    flops += node_flops;
    bytes += node_bytes;
  }
  struct strbuf shapes = {0};
  if (!status) status = shapes_text(ctx, graph, &shapes);
  *out_reply =
      status
          ? NULL
          : json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:f, s:f, s:I, s:I, s:I, s:o, s:o, s:o}",
                      "event", "described", "path", path, "hash", hash, "shapes",
                      shapes.at ? shapes.at : "", "open_dimensions",
                      graph->open_dimensions ? graph->open_dimensions : "", "tolerance",
                      file_precision(graph), "flops", flops, "bytes", bytes, "weights_bytes",
                      (json_int_t)constant_bytes(graph), "file_bytes", file_bytes(model),
                      "kept_inputs", kept_inputs(graph), "side_files", side_files(model), "inputs",
                      describe_values(graph->inputs.at, graph->inputs.count, NULL), "outputs",
                      describe_values(graph->outputs.at, graph->outputs.count, steps));
  strbuf_deinit(&shapes);
  free(steps);
  if (!status && !*out_reply)
    return fail(ctx, HONE_E_FORMAT, place_file(path), "its names are not valid UTF-8");
  return status;
}

static hone_status model_file_path(struct ctx *ctx, const json_t *command, char out[4096]) {
  const char *name = message_text(command, "model");
  int batch = (int)message_int(command, "batch", 0);
  if (strncmp(name, "zoo:", 4)) {
    if (realpath(name, out)) return HONE_OK;
    return fail(ctx, HONE_E_NOFILE, place_file(name), "%s", strerror(errno));
  }
  struct strbuf spec = {0};
  strbuf_puts(&spec, name);
  if (batch > 0 && !strstr(name, "batch=")) strbuf_printf(&spec, ",batch=%d", batch);
  if (message_int(command, "open_is", 0) && zoo_generates(name) && !strstr(name, "past=open"))
    strbuf_puts(&spec, ",past=open");
  hone_status status = strbuf_finish(ctx, &spec);
  /* a built-in model in memory */
  if (!status && message_int(command, "is_dry_run", 0))
    snprintf(out, 4096, "%.4000s", spec.at);
  else if (!status)
    status = zoo_file(ctx, spec.at, message_text(command, "cache_dir"), out);
  strbuf_deinit(&spec);
  return status;
}

static const char *text_or_null(const json_t *command, const char *key) {
  const char *text = message_text(command, key);
  return *text ? text : NULL;
}

/* Reads what write_sizes wrote next to FILE.onnx. */
static hone_status zoo_sizes(struct ctx *ctx, const char *path, struct strbuf *out) {
  char beside[4096];
  struct mapping mapping;
  snprintf(beside, sizeof beside, "%.*s.sizes", (int)strlen(path) - (int)strlen(".onnx"), path);
  TRY(file_map(ctx, beside, &mapping));
  strbuf_append(out, (const char *)mapping.data, mapping.size);
  file_unmap(&mapping);
  return strbuf_finish(ctx, out);
}

hone_status prepare_describe(struct ctx *ctx, const json_t *command, const char *dir,
                             json_t **out_reply) {
  char path[4096];
  TRY(model_file_path(ctx, command, path));
  bool is_zoo = !strncmp(message_text(command, "model"), "zoo:", 4); /* a zoo model is written with
                                                                        its batch */
  struct import_options import = {.shapes = text_or_null(command, "shapes"),
                                  .batch = is_zoo ? 0 : message_int(command, "batch", 0),
                                  .at_run = true,
                                  .open_is = message_int(command, "open_is", 0),
                                  .side_files_from = text_or_null(command, "side_files_from")};
  struct model model;
  struct strbuf sizes = {0};
  const bool is_built = zoo_is_spec(path);
  hone_status status = is_zoo && !is_built ? zoo_sizes(ctx, path, &sizes) : HONE_OK;
  if (sizes.length) import.shapes = sizes.at;
  if (!status) status = model_load(ctx, path, is_built ? NULL : &import, &model);
  strbuf_deinit(&sizes);
  TRY(status);
  status = write_costs(ctx, model.graph, dir);
  if (!status) status = reply_description(ctx, path, &model, out_reply);
  model_unload(&model);
  return status;
}

/* -- reference */

static hone_status make_input(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                              const json_t *command, size_t index, hone_tensor *out) {
  const struct value *input = graph->inputs.at[index];
  const hone_tensor want = value_tensor(input, NULL);
  char path[4096];
  TRY(given_of_command(ctx, command, input->name, index, path));
  if (path[0]) return given_read(ctx, arena, path, input->name, &want, out);
  return input_generate(ctx, arena, graph, index, (uint64_t)message_int(command, "seed", 0),
                        (int)message_int(command, "set", 0), out);
}

static hone_status write_set(struct ctx *ctx, const json_t *command, const char *kind,
                             const hone_tensor *tensors, size_t count) {
  char path[4096];
  for (size_t i = 0; i < count; i++) {
    data_path(path, message_text(command, "dir"), kind, (int)message_int(command, "set", 0), i);
    TRY(npy_write(ctx, path, &tensors[i]));
  }
  return HONE_OK;
}

/* Writes conditions.npy [outputs, 2] for the first input set. */
static hone_status write_conditions(struct ctx *ctx, struct arena *arena, struct graph *graph,
                                    const hone_tensor *inputs, const hone_tensor *outputs,
                                    uint64_t reference_ns, const json_t *command) {
  double(*conditions)[2];
  TRY(NEW_ARRAY(ctx, arena, conditions, graph->outputs.count));
  uint64_t seed = (uint64_t)message_int(command, "seed", 0);
  TRY(condition_measure(ctx, graph, inputs, outputs, seed, reference_ns, conditions));
  const hone_tensor tensor = {.data = conditions,
                              .dtype = HONE_F64,
                              .rank = 2,
                              .shape = {(int64_t)graph->outputs.count, 2}};
  char path[4096];
  snprintf(path, sizeof path, "%.4000s/conditions.npy", message_text(command, "dir"));
  return npy_write(ctx, path, &tensor);
}

/* Writes the inputs first: engines need them even if the evaluation does not finish. */
static hone_status evaluate_set(struct ctx *ctx, struct arena *arena, struct graph *graph,
                                const json_t *command) {
  hone_tensor *inputs, *outputs;
  TRY(NEW_ARRAY(ctx, arena, inputs, graph->inputs.count));
  TRY(NEW_ARRAY(ctx, arena, outputs, graph->outputs.count));
  for (size_t i = 0; i < graph->inputs.count; i++)
    TRY(make_input(ctx, arena, graph, command, i, &inputs[i]));
  TRY(write_set(ctx, command, "in", inputs, graph->inputs.count));
  if (message_bool(command, "inputs_only")) return HONE_OK;
  for (size_t i = 0; i < graph->outputs.count; i++)
    TRY(value_memory(ctx, arena, graph->outputs.at[i], &outputs[i]));
  uint64_t start = clock_ns();
  TRY(reference_run(ctx, graph, inputs, outputs));
  const uint64_t reference_ns = clock_ns() - start;
  TRY(write_set(ctx, command, "out", outputs, graph->outputs.count));
  if (message_int(command, "set", 0)) return HONE_OK;
  return write_conditions(ctx, arena, graph, inputs, outputs, reference_ns, command);
}

hone_status prepare_reference(struct ctx *ctx, const json_t *command, json_t **out_reply) {
  uint64_t start = clock_ns();
  struct import_options import = {.shapes = text_or_null(command, "shapes"),
                                  .at_run = true,
                                  .side_files_from = text_or_null(command, "side_files_from")};
  struct model model;
  TRY(model_load(ctx, message_text(command, "path"), &import, &model));
  struct arena *arena = NULL;
  hone_status status = arena_create(ctx, 0, &arena);
  if (!status) status = evaluate_set(ctx, arena, model.graph, command);
  arena_destroy(arena);
  model_unload(&model);
  TRY(status);
  *out_reply =
      json_pack("{s:s, s:f}", "event", "referenced", "seconds", (double)(clock_ns() - start) / 1e9);
  return HONE_OK;
}
