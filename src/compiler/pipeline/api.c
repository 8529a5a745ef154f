/* The public functions of hone.h, over model, compile, run and graph. */
#include "pipeline.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "compiler/run/run.h"

/* The artifact's feature bits are those of struct target. */
_Static_assert((int)HONE_NEEDS_SSE42 == CPU_SSE42 && (int)HONE_NEEDS_AVX == CPU_AVX &&
                   (int)HONE_NEEDS_AVX2 == CPU_AVX2 && (int)HONE_NEEDS_FMA == CPU_FMA &&
                   (int)HONE_NEEDS_F16C == CPU_F16C && (int)HONE_NEEDS_AVX512 == CPU_AVX512 &&
                   (int)HONE_NEEDS_AVX512_VNNI == CPU_AVX512_VNNI &&
                   (int)HONE_NEEDS_AVX512_BF16 == CPU_AVX512_BF16 &&
                   (int)HONE_NEEDS_AVX512_FP16 == CPU_AVX512_FP16 &&
                   (int)HONE_NEEDS_AMX_TILE == CPU_AMX_TILE &&
                   (int)HONE_NEEDS_AMX_INT8 == CPU_AMX_INT8 &&
                   (int)HONE_NEEDS_AMX_BF16 == CPU_AMX_BF16 &&
                   (int)HONE_NEEDS_AVX_VNNI == CPU_AVX_VNNI && (int)HONE_NEEDS_BMI == CPU_BMI2 &&
                   (int)HONE_NEEDS_AVX512_VBMI == CPU_AVX512_VBMI &&
                   (int)HONE_NEEDS_NEON == CPU_NEON && (int)HONE_NEEDS_DOTPROD == CPU_DOTPROD &&
                   (int)HONE_NEEDS_BF16 == CPU_BF16 && (int)HONE_NEEDS_I8MM == CPU_I8MM,
               "feature bits of artifact.h and machine.h");

struct hone_model {
  struct model model;
};

static void fill_info(const struct value *value, const char **out_name, hone_tensor *out_info) {
  *out_name = value->name;
  *out_info = (hone_tensor){.dtype = value->dtype, .rank = value->shape.rank};
  memcpy(out_info->shape, value->shape.dims, sizeof out_info->shape);
}

hone_status hone_model_load(hone_context *context, const char *path,
                            const hone_load_options *options, hone_model **out_model) {
  ctx_clear(context);
  struct import_options import = {0};
  if (options) {
    import.shapes = options->shapes;
    import.side_files_from = options->side_files_from;
  }
  hone_model *model = malloc(sizeof *model);
  if (!model) return fail(context, HONE_E_OOM, place_none(), "no memory for a model");
  hone_status status = model_load(context, path, &import, &model->model);
  if (status)
    free(model);
  else
    *out_model = model;
  return status;
}

void hone_model_destroy(hone_model *model) {
  if (!model) return;
  model_unload(&model->model);
  free(model);
}

size_t hone_model_input_count(const hone_model *model) { return model->model.graph->inputs.count; }
size_t hone_model_output_count(const hone_model *model) {
  return model->model.graph->outputs.count;
}

hone_status hone_model_input(const hone_model *model, size_t i, const char **out_name,
                             hone_tensor *out_info) {
  if (i >= hone_model_input_count(model)) return HONE_E_USAGE;
  fill_info(model->model.graph->inputs.at[i], out_name, out_info);
  return HONE_OK;
}

hone_status hone_model_output(const hone_model *model, size_t i, const char **out_name,
                              hone_tensor *out_info) {
  if (i >= hone_model_output_count(model)) return HONE_E_USAGE;
  fill_info(model->model.graph->outputs.at[i], out_name, out_info);
  return HONE_OK;
}

hone_status hone_model_alias(hone_context *context, hone_model *model, const char *input,
                             const char *output) {
  ctx_clear(context);
  return graph_alias(context, model->model.graph, input, output);
}

hone_status hone_model_compile(hone_context *context, const hone_model *model,
                               const hone_compile_options *options, const char *path) {
  struct compile_options compile = {0};
  ctx_clear(context);
  if (options) {
    compile.cc = options->cc;
    compile.prefix = options->prefix;
    compile.debug = options->debug != 0;
  }
  compile.threads = usable_core_count();
  TRY(target_init(context, NULL, options ? options->cpu : NULL, &compile.target));
  return compile_model(context, &model->model, &compile, path, NULL);
}

struct hone_artifact {
  struct loaded loaded;
  struct team *team;
  _Atomic int64_t (*shapes)[HONE_MAX_RANK]; /* of outputs, in the latest run */
};

static hone_status make_shapes(hone_context *context, hone_artifact *artifact) {
  const struct hone_artifact_info *info = artifact->loaded.info;
  artifact->shapes = calloc((size_t)info->output_count + 1, sizeof *artifact->shapes);
  if (!artifact->shapes) return fail(context, HONE_E_OOM, place_none(), "no memory for shapes");
  for (int32_t i = 0; i < info->output_count; i++)
    for (int32_t d = 0; d < info->outputs[i].rank; d++)
      atomic_init(&artifact->shapes[i][d], info->outputs[i].dims[d]);
  return HONE_OK;
}

hone_status hone_artifact_output_shape(const hone_artifact *artifact, size_t i,
                                       int64_t *out_shape) {
  if (i >= (size_t)artifact->loaded.info->output_count) return HONE_E_USAGE;
  for (int d = 0; d < HONE_MAX_RANK; d++)
    out_shape[d] = atomic_load_explicit(&artifact->shapes[i][d], memory_order_relaxed);
  return HONE_OK;
}

hone_status hone_artifact_open(hone_context *context, const char *path, int32_t threads,
                               hone_artifact **out_artifact) {
  ctx_clear(context);
  hone_artifact *artifact = calloc(1, sizeof *artifact);
  if (!artifact) return fail(context, HONE_E_OOM, place_none(), "no memory for an artifact");
  hone_status status = artifact_load(context, path, NULL, &artifact->loaded);
  if (!status) {
    status = features_check(context, place_file(path), artifact->loaded.info->flags);
    if (!status)
      status =
          team_create(context, threads > 0 ? threads : usable_core_count(), false, &artifact->team);
    if (!status) status = make_shapes(context, artifact);
    if (status) {
      team_destroy(artifact->team);
      artifact_unload(&artifact->loaded);
    }
  }
  if (status)
    free(artifact);
  else
    *out_artifact = artifact;
  return status;
}

void hone_artifact_close(hone_artifact *artifact) {
  if (!artifact) return;
  team_destroy(artifact->team);
  artifact_unload(&artifact->loaded);
  free(artifact->shapes);
  free(artifact);
}

size_t hone_artifact_input_count(const hone_artifact *artifact) {
  return (size_t)artifact->loaded.info->input_count;
}
size_t hone_artifact_output_count(const hone_artifact *artifact) {
  return (size_t)artifact->loaded.info->output_count;
}

static hone_status describe_port(const struct hone_io_info *ports, int32_t count, size_t i,
                                 const char **out_name, hone_tensor *out_info) {
  if (i >= (size_t)count) return HONE_E_USAGE;
  *out_name = ports[i].name;
  *out_info = (hone_tensor){.dtype = (hone_dtype)ports[i].dtype, .rank = ports[i].rank};
  for (int32_t d = 0; d < ports[i].rank; d++) out_info->shape[d] = ports[i].dims[d];
  return HONE_OK;
}

hone_status hone_artifact_input(const hone_artifact *artifact, size_t i, const char **out_name,
                                hone_tensor *out_info) {
  const struct hone_artifact_info *info = artifact->loaded.info;
  return describe_port(info->inputs, info->input_count, i, out_name, out_info);
}

hone_status hone_artifact_output(const hone_artifact *artifact, size_t i, const char **out_name,
                                 hone_tensor *out_info) {
  const struct hone_artifact_info *info = artifact->loaded.info;
  return describe_port(info->outputs, info->output_count, i, out_name, out_info);
}

int32_t hone_artifact_is_dynamic(const hone_artifact *artifact) {
  return artifact->loaded.info->symbol_count > 0;
}

static hone_status check_tensor(hone_context *context, const struct hone_io_info *info,
                                const long *less, const hone_tensor *tensor) {
  if ((int32_t)tensor->dtype != info->dtype)
    return fail(context, HONE_E_TYPE, place_name(info->name), "got %s, expected %s",
                dtype_name(tensor->dtype), dtype_name((hone_dtype)info->dtype));
  if (tensor->rank != info->rank)
    return fail(context, HONE_E_SHAPE, place_name(info->name), "got rank %d, expected %d",
                tensor->rank, info->rank);
  for (int i = 0; i < info->rank; i++) {
    int64_t wanted = hone_open_dim(info, i, less);
    if (tensor->shape[i] != wanted)
      return fail(context, HONE_E_SHAPE, place_name(info->name),
                  "dimension %d is %lld, expected %lld", i, (long long)tensor->shape[i],
                  (long long)wanted);
  }
  return HONE_OK;
}

enum { MAX_IO = 256 };

static hone_status refuse_sizes(hone_context *context, const struct hone_artifact_info *info,
                                const hone_tensor *inputs) {
  const long none[HONE_ARTIFACT_SIZES] = {0};
  char said[256] = "";
  for (int32_t i = 0; i < info->input_count; i++) /* fixed sizes are found by name */
    if (!info->inputs[i].slopes) TRY(check_tensor(context, &info->inputs[i], none, &inputs[i]));
  for (int32_t k = 0; k < info->symbol_count; k++) {
    const size_t n = strlen(said);
    snprintf(said + n, sizeof said - n, "%s%s from %lld to %lld", k ? ", " : "", info->symbols[k],
             (long long)info->least[k], (long long)info->bounds[k]);
  }
  return fail(context, HONE_E_SHAPE, place_none(),
              "the inputs' sizes do not match the model; allowed: %s", said);
}

/* Checks number, types and shapes of the inputs; computes how far their dynamic sizes are below
   their bounds. */
static hone_status check_inputs(hone_context *context, const struct hone_artifact_info *info,
                                const hone_tensor *inputs, size_t input_count, size_t output_count,
                                long less[HONE_ARTIFACT_SIZES]) {
  const int64_t *dims[MAX_IO];
  if (input_count != (size_t)info->input_count || output_count != (size_t)info->output_count)
    return fail(context, HONE_E_USAGE, place_none(),
                "%zu inputs and %zu outputs given, the model has %d and %d", input_count,
                output_count, info->input_count, info->output_count);
  if (input_count > MAX_IO || output_count > MAX_IO)
    return fail(context, HONE_E_LIMIT, place_none(), "more than %d inputs or outputs", MAX_IO);
  for (size_t i = 0; i < input_count; i++)
    dims[i] = inputs[i].rank == info->inputs[i].rank ? inputs[i].shape : NULL;
  if (!hone_find_less(info->inputs, info->input_count, info->bounds, info->least,
                      info->symbol_count, info->derived, info->derived_count, dims, less))
    TRY(refuse_sizes(context, info, inputs));
  for (size_t i = 0; i < input_count; i++)
    TRY(check_tensor(context, &info->inputs[i], less, &inputs[i]));
  return HONE_OK;
}

hone_status hone_artifact_shapes(hone_context *context, const hone_artifact *artifact,
                                 const hone_tensor *inputs, size_t input_count,
                                 hone_tensor *out_outputs, size_t output_count) {
  const struct hone_artifact_info *info = artifact->loaded.info;
  long less[HONE_ARTIFACT_SIZES];
  ctx_clear(context);
  TRY(check_inputs(context, info, inputs, input_count, output_count, less));
  for (size_t i = 0; i < output_count; i++) {
    const struct hone_io_info *from = &info->outputs[i];
    out_outputs[i] = (hone_tensor){.dtype = (hone_dtype)from->dtype, .rank = from->rank};
    for (int32_t d = 0; d < from->rank; d++) out_outputs[i].shape[d] = hone_open_dim(from, d, less);
  }
  return HONE_OK;
}

/* Strings made by a run may be in its arena, which the next run reuses: copies them to the
   context. */
static hone_status keep_strings(hone_context *context, const struct hone_artifact_info *info,
                                void *const *outputs, int64_t (*shapes)[HONE_MAX_RANK]) {
  size_t bytes = 0;
  char *at = NULL;
  for (int turn = 0; turn < 2; turn++) { /* first counts, then copies */
    for (int32_t i = 0; i < info->output_count; i++) {
      if (info->outputs[i].dtype != HONE_STRING) continue;
      struct hone_text *texts = outputs[i];
      int64_t count = 1;
      for (int32_t d = 0; d < info->outputs[i].rank; d++) count *= shapes[i][d];
      for (int64_t k = 0; k < count; k++) {
        const size_t length = (size_t)texts[k].length;
        if (at && length) texts[k].bytes = memcpy(at, texts[k].bytes, length), at += length;
        if (!turn && !checked_add(bytes, length, &bytes))
          return fail(context, HONE_E_OOM, place_none(), "no memory for strings");
      }
    }
    if (turn || !bytes) return HONE_OK;
    if (!(at = malloc(bytes)))
      return fail(context, HONE_E_OOM, place_none(), "no memory for strings");
    free(context->strings);
    context->strings = at;
  }
  return HONE_OK;
}

static hone_status run_in(hone_context *context, const hone_artifact *artifact,
                          const struct hone_io *io, void *arena, int64_t (*shapes)[HONE_MAX_RANK]) {
  const struct hone_artifact_info *info = artifact->loaded.info;
  int32_t status = info->run(artifact->loaded.weights, arena, io, team_interface(artifact->team));
  if (status)
    return fail(context, (hone_status)status, place_none(),
                "an index in the model's data is out of range");
  for (int32_t i = 0; i < info->output_count; i++)
    for (int32_t d = 0; d < info->outputs[i].rank; d++)
      atomic_store_explicit(&artifact->shapes[i][d], shapes[i][d], memory_order_relaxed);
  return keep_strings(context, info, io->outputs, shapes);
}

hone_status hone_artifact_run_shaped(hone_context *context, hone_artifact *artifact,
                                     const hone_tensor *inputs, size_t input_count,
                                     const hone_tensor *outputs, size_t output_count,
                                     int64_t (*out_shapes)[HONE_MAX_RANK]) {
  const struct hone_artifact_info *info = artifact->loaded.info;
  const void *in[MAX_IO];
  void *out[MAX_IO], *arena;
  int64_t *sizes[MAX_IO];
  const int64_t *dims[MAX_IO];
  long less[HONE_ARTIFACT_SIZES];
  ctx_clear(context);
  TRY(check_inputs(context, info, inputs, input_count, output_count, less));
  for (size_t i = 0; i < output_count; i++)
    TRY(check_tensor(context, &info->outputs[i], less, &outputs[i]));
  for (size_t i = 0; i < input_count + output_count; i++) {
    bool is_input = i < input_count;
    const hone_tensor *tensor = is_input ? &inputs[i] : &outputs[i - input_count];
    const struct hone_io_info *port = is_input ? &info->inputs[i] : &info->outputs[i - input_count];
    if (!tensor->data) return fail(context, HONE_E_USAGE, place_name(port->name), "no data");
    if (is_input)
      in[i] = tensor->data, dims[i] = tensor->shape;
    else
      out[i - input_count] = tensor->data;
  }
  memset(out_shapes, 0, output_count * sizeof *out_shapes);
  for (size_t i = 0; i < output_count; i++) sizes[i] = out_shapes[i];
  const struct hone_io io = {in, out, dims, sizes};
  struct run_arena *taken;
  TRY(arenas_take(context, artifact->loaded.arenas, &taken, &arena));
  hone_status status = run_in(context, artifact, &io, arena, out_shapes);
  arenas_give(artifact->loaded.arenas, taken);
  return status;
}

hone_status hone_artifact_run(hone_context *context, hone_artifact *artifact,
                              const hone_tensor *inputs, size_t input_count,
                              const hone_tensor *outputs, size_t output_count) {
  int64_t shapes[MAX_IO][HONE_MAX_RANK];
  return hone_artifact_run_shaped(context, artifact, inputs, input_count, outputs, output_count,
                                  shapes);
}

/* -- builder */

struct hone_builder {
  hone_context *ctx;
  struct model model;
};

hone_status hone_builder_create(hone_context *context, hone_builder **out_builder) {
  ctx_clear(context);
  hone_builder *builder = calloc(1, sizeof *builder);
  if (!builder) return fail(context, HONE_E_OOM, place_none(), "no memory for a builder");
  builder->ctx = context;
  hone_status status = arena_create(context, 0, &builder->model.arena);
  if (!status) status = graph_create(context, builder->model.arena, &builder->model.graph);
  if (status)
    hone_builder_destroy(builder);
  else
    *out_builder = builder;
  return status;
}

void hone_builder_destroy(hone_builder *builder) {
  if (!builder) return;
  model_unload(&builder->model);
  free(builder);
}

static hone_status builder_ready(hone_builder *builder) {
  ctx_clear(builder->ctx);
  if (!builder->model.graph)
    return fail(builder->ctx, HONE_E_USAGE, place_none(), "the builder is already finished");
  return HONE_OK;
}

static hone_status read_shape(hone_builder *builder, int32_t rank, const int64_t *dims,
                              struct shape *out) {
  if (rank < 0 || rank > HONE_MAX_RANK)
    return fail(builder->ctx, HONE_E_SHAPE, place_none(), "rank %d", rank);
  *out = (struct shape){.rank = rank};
  if (rank) memcpy(out->dims, dims, (size_t)rank * sizeof *dims);
  return HONE_OK;
}

static hone_status find_value(hone_builder *builder, int32_t number, struct value **out) {
  if (number < 0 || (size_t)number >= builder->model.graph->values.count)
    return fail(builder->ctx, HONE_E_USAGE, place_none(), "value %d was not made by this builder",
                number);
  *out = builder->model.graph->values.at[number];
  return HONE_OK;
}

hone_status hone_builder_input(hone_builder *builder, const char *name, hone_dtype dtype,
                               int32_t rank, const int64_t *shape, int32_t *out_value) {
  struct shape dims;
  struct value *value;
  const char *copy;
  TRY(builder_ready(builder));
  TRY(read_shape(builder, rank, shape, &dims));
  TRY(arena_string(builder->ctx, builder->model.arena, name, strlen(name), &copy));
  TRY(graph_input(builder->ctx, builder->model.graph, copy, dtype, &dims, &value));
  *out_value = (int32_t)value->index;
  return HONE_OK;
}

hone_status hone_builder_constant(hone_builder *builder, const hone_tensor *tensor,
                                  int32_t *out_value) {
  struct shape dims;
  struct tensor *copy;
  struct value *value;
  TRY(builder_ready(builder));
  TRY(read_shape(builder, tensor->rank, tensor->shape, &dims));
  TRY(tensor_create(builder->ctx, builder->model.arena, tensor->dtype, &dims, &copy));
  if (copy->bytes && !tensor->data)
    return fail(builder->ctx, HONE_E_USAGE, place_none(), "the constant has no data");
  if (copy->bytes) memcpy((void *)(uintptr_t)copy->data, tensor->data, copy->bytes);
  TRY(graph_constant(builder->ctx, builder->model.graph, NULL, copy, &value));
  *out_value = (int32_t)value->index;
  return HONE_OK;
}

static hone_status set_attribute(hone_builder *builder, struct node *node,
                                 const hone_attribute *from) {
  struct ctx *ctx = builder->ctx;
  struct graph *graph = builder->model.graph;
  struct arena *arena = builder->model.arena;
  struct attribute attribute = {.count = from->count};
  if (!from->string && !from->ints && !from->floats)
    return fail(ctx, HONE_E_USAGE, place_name(from->name), "the attribute has no value");
  if (from->is_scalar && from->count != 1)
    return fail(ctx, HONE_E_USAGE, place_name(from->name), "%zu values given, expected one",
                from->count);
  TRY(arena_string(ctx, arena, from->name, strlen(from->name), &attribute.name));
  if (from->string) {
    attribute.kind = ATTRIBUTE_STRING;
    attribute.s.length = strlen(from->string);
    TRY(arena_string(ctx, arena, from->string, attribute.s.length, &attribute.s.bytes));
  } else if (from->ints) {
    int64_t *ints;
    TRY(NEW_ARRAY(ctx, arena, ints, from->count));
    memcpy(ints, from->ints, from->count * sizeof *ints);
    attribute.kind = from->is_scalar ? ATTRIBUTE_INT : ATTRIBUTE_INTS;
    attribute.ints = ints;
    if (from->count) attribute.i = ints[0];
  } else if (from->floats) {
    double *floats;
    TRY(NEW_ARRAY(ctx, arena, floats, from->count));
    for (size_t i = 0; i < from->count; i++) floats[i] = (double)from->floats[i];
    attribute.kind = from->is_scalar ? ATTRIBUTE_FLOAT : ATTRIBUTE_FLOATS;
    attribute.floats = floats;
    if (from->count) attribute.f = floats[0];
  }
  return node_set(ctx, graph, node, &attribute);
}

static hone_status append_node(hone_builder *builder, const struct op *op,
                               struct value *const *inputs, size_t input_count,
                               const hone_attribute *attributes, size_t attribute_count,
                               int32_t *out_values, size_t output_count) {
  struct graph *graph = builder->model.graph;
  struct node *node;
  TRY(graph_node(builder->ctx, graph, op, inputs, input_count, output_count, &node));
  for (size_t i = 0; i < attribute_count; i++) TRY(set_attribute(builder, node, &attributes[i]));
  TRY(node_infer(builder->ctx, graph, node));
  for (size_t i = 0; i < output_count; i++) out_values[i] = (int32_t)node->outputs[i]->index;
  return HONE_OK;
}

/* A refused node leaves the graph unchanged. */
static hone_status try_node(hone_builder *builder, const struct op *op, struct value *const *inputs,
                            size_t input_count, const hone_attribute *attributes,
                            size_t attribute_count, int32_t *out_values, size_t output_count) {
  struct graph *graph = builder->model.graph;
  size_t nodes = graph->nodes.count, values = graph->values.count;
  hone_status status = append_node(builder, op, inputs, input_count, attributes, attribute_count,
                                   out_values, output_count);
  if (status) {
    graph->nodes.count = nodes;
    graph->values.count = values;
  }
  return status;
}

hone_status hone_builder_node(hone_builder *builder, const char *op_name, const int32_t *inputs,
                              size_t input_count, const hone_attribute *attributes,
                              size_t attribute_count, int32_t *out_values, size_t output_count) {
  struct value *list[MAX_IO];
  TRY(builder_ready(builder));
  const struct op *op = op_find("", op_name);
  if (!op) return fail(builder->ctx, HONE_E_UNSUP, place_name(op_name), "no such operator");
  if (input_count > MAX_IO || output_count > MAX_IO || (int)input_count < op->min_inputs ||
      (op->max_inputs >= 0 && (int)input_count > op->max_inputs) ||
      (int)output_count < op->min_outputs ||
      (op->max_outputs >= 0 && (int)output_count > op->max_outputs))
    return fail(builder->ctx, HONE_E_USAGE, place_name(op_name), "%zu inputs and %zu outputs",
                input_count, output_count);
  for (size_t i = 0; i < input_count; i++) {
    list[i] = NULL;
    if (inputs[i] != -1) TRY(find_value(builder, inputs[i], &list[i]));
  }
  return try_node(builder, op, list, input_count, attributes, attribute_count, out_values,
                  output_count);
}

/* A value whose name must stay becomes an output through an Identity with the output's name. */
hone_status hone_builder_output(hone_builder *builder, const char *name, int32_t value) {
  struct value *found;
  TRY(builder_ready(builder));
  TRY(find_value(builder, value, &found));
  if (found->is_input || found->is_output || found->constant) {
    int32_t copy = -1;
    TRY(try_node(builder, &op_table[OP_Identity], &found, 1, NULL, 0, &copy, 1));
    TRY(find_value(builder, copy, &found));
  }
  TRY(arena_string(builder->ctx, builder->model.arena, name, strlen(name), &found->name));
  return graph_output(builder->ctx, builder->model.graph, found);
}

hone_status hone_builder_finish(hone_builder *builder, hone_model **out_model) {
  TRY(builder_ready(builder));
  TRY(graph_infer(builder->ctx, builder->model.graph));
  TRY(graph_verify(builder->ctx, builder->model.graph));
  hone_model *model = malloc(sizeof *model);
  if (!model) return fail(builder->ctx, HONE_E_OOM, place_none(), "no memory for a model");
  model->model = builder->model;
  snprintf(model->model.content_hash, sizeof model->model.content_hash, "%s", "built");
  memset(&builder->model, 0, sizeof builder->model);
  *out_model = model;
  return HONE_OK;
}
