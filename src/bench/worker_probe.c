/* An engine in place of the reference: inputs by its own list of them, and the outputs that it gives.
 */
#include "worker.h"

#include <stdlib.h>

static hone_status probe_set(struct ctx *ctx, struct state *state, int set, uint64_t seed) {
  hone_tensor tensors[2 * BENCH_MAX_IO];
  struct backend_io *io = &state->io;
  size_t count = io->input_count + io->output_count, made = 0;
  hone_status status = HONE_OK;
  for (; !status && made < count; made++) {
    bool is_input = made < io->input_count;
    size_t index = is_input ? made : made - io->input_count, bytes = 0;
    const struct backend_tensor *from = is_input ? &io->inputs[index] : &io->outputs[index];
    tensors[made] = from->info;
    tensors[made].data = NULL;
    status = tensor_bytes(ctx, from->name, &from->info, &bytes);
    if (!status && posix_memalign(&tensors[made].data, 64, bytes + 64))
      status = fail(ctx, HONE_E_OOM, place_none(), "no memory for an input set");
    if (!status && is_input) status = input_fill(ctx, from->name, &tensors[made], index, seed, set);
  }
  hone_tensor *outputs = tensors + io->input_count;
  if (!status) status = state->backend->bind(ctx, state->loop.session, set, tensors, outputs);
  if (!status) status = state->backend->submit(ctx, state->loop.session, set);
  if (!status) status = state->backend->wait(ctx, state->loop.session);
  for (size_t i = 0; !status && i < count; i++) {
    bool is_input = i < io->input_count;
    char path[4096];
    data_path(path, state->dir, is_input ? "in" : "out", set, is_input ? i : i - io->input_count);
    status = npy_write(ctx, path, &tensors[i]);
  }
  for (size_t i = 0; i < made; i++) free(tensors[i].data); /* the session is not run again */
  return status;
}

static json_t *form_list(const struct backend_tensor *tensors, size_t count, struct text *shapes) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    json_t *shape = json_array();
    if (shapes) text_printf(shapes, "%s%s[", i ? "," : "", tensors[i].name);
    for (int32_t d = 0; d < tensors[i].info.rank; d++) {
      json_array_append_new(shape, json_integer(tensors[i].info.shape[d]));
      if (shapes) text_printf(shapes, "%s%lld", d ? "," : "", (long long)tensors[i].info.shape[d]);
    }
    if (shapes) text_puts(shapes, "]");
    json_array_append_new(list, json_pack("{s:s, s:i, s:o}", "name", tensors[i].name, "dtype",
                                          (int)tensors[i].info.dtype, "shape", shape));
  }
  return list;
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
  if (state->io.input_count > BENCH_MAX_IO || state->io.output_count > BENCH_MAX_IO)
    return fail(ctx, HONE_E_LIMIT, place_none(), "more than %d inputs or outputs", BENCH_MAX_IO);
  enter(state, STAGE_run);
  for (int set = 0; set < BENCH_SETS; set++)
    TRY(probe_set(ctx, state, set, (uint64_t)message_int(command, "seed", 0)));
  struct text shapes = {0};
  json_t *inputs = form_list(state->io.inputs, state->io.input_count, &shapes);
  json_t *outputs = form_list(state->io.outputs, state->io.output_count, NULL);
  *out_reply = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "event", "described", "path",
                         state->model, "hash", hash, "shapes", shapes.at ? shapes.at : "", "inputs",
                         inputs, "outputs", outputs);
  text_deinit(&shapes);
  return HONE_OK;
}
