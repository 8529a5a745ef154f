/* Runs an engine in place of the reference: makes inputs by its list of inputs, and saves its
 * outputs.
 */
#include "worker_internal.h"

#include <stdlib.h>

/* Makes one set: inputs in the case's folder, outputs in the engine's folder. */
static hone_status probe_set(struct ctx *ctx, struct state *state, int set, const json_t *command) {
  struct backend_io *io = &state->io;
  size_t count = io->input_count + io->output_count, bytes = 0;
  hone_tensor *tensors = calloc(count + 1, sizeof *tensors), *outputs = tensors + io->input_count;
  hone_status status =
      tensors ? HONE_OK : fail(ctx, HONE_E_OOM, place_none(), "no memory for an input set");
  for (size_t i = 0; !status && i < io->input_count; i++)
    status = make_input_of(ctx, state, command, set, i, &tensors[i]);
  for (size_t i = 0; !status && i < io->output_count; i++) {
    outputs[i] = io->outputs[i].info;
    status = tensor_bytes(ctx, io->outputs[i].name, &outputs[i], &bytes);
    if (!status && posix_memalign(&outputs[i].data, 64, bytes + 64))
      status = fail(ctx, HONE_E_OOM, place_none(), "no memory for outputs");
  }
  if (!status) status = state->backend->bind(ctx, state->loop.session, set, tensors, outputs);
  if (!status) status = state->backend->submit(ctx, state->loop.session, set);
  if (!status) status = state->backend->wait(ctx, state->loop.session, set);
  if (!status && state->backend->read_text)
    status = state->backend->read_text(ctx, state->loop.session, set);
  for (size_t i = 0; !status && i < count; i++) {
    bool is_input = i < io->input_count;
    char path[4096];
    data_path(path, is_input ? state->dir : state->engine_outputs, is_input ? "in" : "out", set,
              is_input ? i : i - io->input_count);
    status = npy_write(ctx, path, &tensors[i]);
  }
  for (size_t i = 0; tensors && i < count; i++) free(tensors[i].data);
  free(tensors); /* the session is not run again */
  return status;
}

static json_t *form_list(const struct backend_tensor *tensors, size_t count,
                         struct strbuf *shapes) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    json_t *shape = json_array();
    if (shapes) strbuf_printf(shapes, "%s%s[", i ? "," : "", tensors[i].name);
    for (int32_t d = 0; d < tensors[i].info.rank; d++) {
      json_array_append_new(shape, json_integer(tensors[i].info.shape[d]));
      if (shapes)
        strbuf_printf(shapes, "%s%lld", d ? "," : "", (long long)tensors[i].info.shape[d]);
    }
    if (shapes) strbuf_puts(shapes, "]");
    json_array_append_new(list, json_pack("{s:s, s:i, s:o}", "name", tensors[i].name, "dtype",
                                          (int)tensors[i].info.dtype, "shape", shape));
  }
  return list;
}

/* The same wording as for a model that hone reads (src/compiler/import/common/shapes.c). */
static void put_assumed(const struct backend_io *io, struct strbuf *out) {
  for (size_t i = 0; i < io->input_count; i++) {
    if (!io->inputs[i].is_assumed) continue;
    strbuf_puts(out, out->length ? ", " : "");
    strbuf_put_safe(out, io->inputs[i].name, 40);
    strbuf_puts(out, " dimension 0 = 1");
  }
  if (out->length) strbuf_puts(out, " (assumed: an open first dimension; --shape chooses)");
}

hone_status probe(struct ctx *ctx, struct state *state, const json_t *command, json_t **out_reply) {
  enter(state, STAGE_load);
  TRY(read_request(ctx, state, command));
  backend_facts_init(&state->facts);
  struct mapping file;
  char hash[33];
  TRY(file_map(ctx, state->model, &file));
  hash_hex(hash, file.data, file.size);
  file_unmap(&file);
  TRY(open_backend(ctx, state));
  enter(state, STAGE_run);
  TRY(dir_create(ctx, state->engine_outputs));
  for (int set = 0; set < BENCH_SETS; set++) TRY(probe_set(ctx, state, set, command));
  struct strbuf shapes = {0}, open = {0};
  put_assumed(&state->io, &open);
  json_t *inputs = form_list(state->io.inputs, state->io.input_count, &shapes);
  json_t *outputs = form_list(state->io.outputs, state->io.output_count, NULL);
  *out_reply =
      json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "event", "described", "path", state->model,
                "hash", hash, "shapes", shapes.at ? shapes.at : "", "open_dimensions",
                open.at ? open.at : "", "inputs", inputs, "outputs", outputs);
  strbuf_deinit(&shapes);
  strbuf_deinit(&open);
  return HONE_OK;
}
