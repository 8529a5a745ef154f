/* Runs the parts of a hybrid one after the other, with the ABI of a compiled model. Part K is part-K.so in the folder of this
 * library; wiring.h has the values that it reads and writes. Values are numbered: the model's inputs, its outputs, then values
 * between parts. The arena has the values between parts first, then room for the largest arena of a part.
 */
#define ENGINE_OWN_ARTIFACT
#include "engine.h"
#include "wiring.h"

static const struct hone_artifact_info *parts[HYBRID_PARTS];
static uint64_t between_bytes;
static int is_open;

static int32_t hybrid_run(const void *weights, void *arena, const struct hone_io *io, const struct hone_team *team) {
  void *values[HYBRID_VALUES + 1];
  uint64_t used = 0;
  (void)weights;
  if (!is_open) return ENGINE_FAILED;
  for (int v = 0; v < HYBRID_VALUES; v++) {
    if (v < ENGINE_INPUTS)
      values[v] = (void *)(uintptr_t)io->inputs[v];
    else if (v < ENGINE_INPUTS + ENGINE_OUTPUTS)
      values[v] = io->outputs[v - ENGINE_INPUTS];
    else
      values[v] = (char *)arena + used, used += hybrid_bytes[v];
  }
  for (int k = 0; k < HYBRID_PARTS; k++) {
    const void *inputs[HYBRID_MOST_PORTS];
    void *outputs[HYBRID_MOST_PORTS];
    for (int i = 0; i < hybrid_parts[k].input_count; i++) inputs[i] = values[hybrid_parts[k].inputs[i]];
    for (int i = 0; i < hybrid_parts[k].output_count; i++) outputs[i] = values[hybrid_parts[k].outputs[i]];
    const struct hone_io own = {inputs, outputs, 0, 0};
    const int32_t code = parts[k]->run(parts[k]->weights, (char *)arena + between_bytes, &own, team);
    if (code) return code;
  }
  for (int32_t i = 0; i < ENGINE_OUTPUTS; i++) report_shapes(io, i);
  return 0;
}

static struct hone_artifact_info info = {.abi = HONE_ARTIFACT_ABI,
                                         .build_id = ENGINE_BUILD_ID,
                                         .generator = ENGINE_GENERATOR,
                                         .input_count = ENGINE_INPUTS,
                                         .output_count = ENGINE_OUTPUTS,
                                         .inputs = engine_inputs,
                                         .outputs = engine_outputs,
                                         .run = hybrid_run};

static void open_parts(void) {
  char folder[ENGINE_PATH], path[ENGINE_PATH + 32];
  uint64_t most = 64;
  for (int v = 0; v < HYBRID_VALUES; v++) between_bytes += hybrid_bytes[v];
  is_open = engine_folder(folder);
  for (int k = 0; is_open && k < HYBRID_PARTS; k++) {
    snprintf(path, sizeof path, "%s/part-%d.so", folder, k);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct hone_artifact_info *(*artifact)(void) =
        library ? (const struct hone_artifact_info *(*)(void))(uintptr_t)dlsym(library, "model_artifact") : 0;
    if (!artifact) fprintf(stderr, "%s\n", dlerror());
    is_open = artifact && (parts[k] = artifact()) && parts[k]->abi == HONE_ARTIFACT_ABI &&
              parts[k]->input_count == hybrid_parts[k].input_count &&
              parts[k]->output_count == hybrid_parts[k].output_count &&
              (!parts[k]->weights_bytes || parts[k]->weights);
    if (!is_open) return;
    info.flags |= parts[k]->flags;
    if (parts[k]->arena_bytes > most) most = parts[k]->arena_bytes;
  }
  info.arena_bytes = between_bytes + most;
}

__attribute__((visibility("default"))) const struct hone_artifact_info *model_artifact(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_parts);
  return &info;
}
