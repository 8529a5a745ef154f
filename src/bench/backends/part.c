/* A range of a model's nodes in an engine of this process: written as ONNX and opened like a model.
 */
#include "core/os/os.h"
#include "backends.h"

#include <stdlib.h>

bool part_can_be(const struct backend *backend) {
  return !backend->worker && !backend->is_absent && !backend->only_named &&
         backend_reads(backend, "onnx");
}

const char *part_options(const struct backend *backend) {
  return !strcmp(backend->name, "onnxruntime") ? "session.force_spinning_stop=1" : "";
}

static hone_status write_part(struct ctx *ctx, const struct graph *graph, const char *dir,
                              char out_path[4096]) {
  struct strbuf bytes = {0};
  if (snprintf(out_path, 4096, "%s/part.onnx", dir) >= 4096)
    return fail(ctx, HONE_E_PATH, place_file(dir), "the path is too long");
  TRY(dir_create(ctx, dir));
  hone_status status = export_onnx(ctx, graph, export_opset(graph), &bytes);
  if (!status) status = file_write_atomic(ctx, out_path, bytes.at, bytes.length, 0600);
  strbuf_deinit(&bytes);
  return status;
}

/* Finds each engine tensor in the graph: by name, else by position. */
static hone_status find_places(struct ctx *ctx, const struct backend_tensor *tensors, size_t count,
                               struct value *const *values, size_t value_count, size_t **out) {
  if (count != value_count)
    return fail(ctx, HONE_E_UNSUP, place_none(), "the engine has %zu of the part's %zu values",
                count, value_count);
  *out = calloc(count + 1, sizeof **out);
  if (!*out) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a part");
  for (size_t i = 0; i < count; i++) {
    (*out)[i] = i;
    for (size_t v = 0; v < value_count; v++)
      if (!strcmp(tensors[i].name, values[v]->name)) (*out)[i] = v;
  }
  return HONE_OK;
}

/* Checks that types and sizes are those of the graph, so that tensors between parts fit. */
static hone_status check_form(struct ctx *ctx, const struct part *part, const struct graph *graph) {
  for (size_t i = 0; i < part->input_count + part->output_count; i++) {
    const bool is_input = i < part->input_count;
    const size_t at = is_input ? i : i - part->input_count;
    const hone_tensor *info = is_input ? &part->io.inputs[at].info : &part->io.outputs[at].info;
    const struct value *value = is_input ? graph->inputs.at[part->input_places[at]]
                                         : graph->outputs.at[part->output_places[at]];
    struct shape shape = {.rank = info->rank};
    memcpy(shape.dims, info->shape, sizeof shape.dims);
    if (info->dtype != value->dtype || !shape_equal(&shape, &value->shape))
      return fail(ctx, HONE_E_SHAPE, place_name(value->name),
                  "%s has another type or size for it than the model", part->backend->title);
  }
  return HONE_OK;
}

static hone_status open_part(struct ctx *ctx, const struct graph *graph,
                             const struct backend_request *like, const char *dir,
                             struct part *out) {
  char path[4096];
  struct backend_request request = *like;
  TRY(write_part(ctx, graph, dir, path));
  request.model_path = path;
  request.work_dir = dir;
  request.shapes = NULL;
  request.in_flight = 1;
  backend_facts_init(&out->facts);
  if (out->backend->prepare) TRY(out->backend->prepare(ctx, &request, &out->facts));
  TRY(session_open(ctx, out->backend, &request, &out->session, &out->facts, &out->io));
  TRY(find_places(ctx, out->io.inputs, out->io.input_count, graph->inputs.at, graph->inputs.count,
                  &out->input_places));
  TRY(find_places(ctx, out->io.outputs, out->io.output_count, graph->outputs.at,
                  graph->outputs.count, &out->output_places));
  out->input_count = graph->inputs.count;
  out->output_count = graph->outputs.count;
  return check_form(ctx, out, graph);
}

hone_status part_open(struct ctx *ctx, const struct backend *backend, const struct graph *graph,
                      const struct backend_request *like, const char *dir, struct part *out) {
  *out = (struct part){.backend = backend};
  hone_status status = open_part(ctx, graph, like, dir, out);
  if (status) part_close(out);
  return status;
}

hone_status part_bind(struct ctx *ctx, struct part *part, int set, const hone_tensor *inputs,
                      const hone_tensor *outputs) {
  hone_tensor *own = calloc(part->input_count + part->output_count + 1, sizeof *own);
  if (!own) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a part's tensors");
  for (size_t i = 0; i < part->input_count; i++) own[i] = inputs[part->input_places[i]];
  for (size_t i = 0; i < part->output_count; i++)
    own[part->input_count + i] = outputs[part->output_places[i]];
  hone_status status = part->backend->bind(ctx, part->session, set, own, own + part->input_count);
  free(own);
  return status;
}

hone_status part_run(struct ctx *ctx, struct part *part, int set) {
  TRY(part->backend->submit(ctx, part->session, set));
  return part->backend->wait(ctx, part->session, set);
}

void part_close(struct part *part) {
  if (part->session) session_close(part->backend, part->session);
  backend_io_destroy(&part->io);
  free(part->input_places);
  free(part->output_places);
  *part = (struct part){0};
}
