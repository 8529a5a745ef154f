/* A language model as a folder of ONNX Runtime GenAI: the ONNX file with caches that grow, and genai_config.json. Source:
 * onnxruntime.ai/docs/genai/reference/config.
 */
#include <stdlib.h>

#include "compiler/export/export.h"
#include "compiler/import/gguf/gguf.h"
#include "compiler/passes/passes.h"
#include "generate.h"

struct config {
  int64_t context, bos, eos;
};

static hone_status read_config(struct ctx *ctx, struct arena *arena, const char *path,
                               struct config *out) {
  char key[128];
  const char *architecture;
  struct mapping file;
  struct gguf gguf;
  struct vocabulary words;
  TRY(file_map(ctx, path, &file));
  hone_status status = gguf_read(ctx, arena, file.data, file.size, &gguf);
  if (!status) status = gguf_string(ctx, arena, &gguf, "general.architecture", &architecture);
  if (!status) {
    snprintf(key, sizeof key, "%.64s.context_length", architecture ? architecture : "");
    status = gguf_int(ctx, &gguf, key, 1, INT32_MAX, GENERATE_CONTEXT, &out->context);
  }
  if (!status) status = gguf_vocabulary(ctx, arena, &gguf, &words);
  if (!status) {
    out->bos = words.bos;
    out->eos = words.eos;
  }
  file_unmap(&file);
  return status;
}

static hone_status add_open(struct ctx *ctx, struct arena *arena, struct open_dimensions *open,
                            const struct value *value, int axis, const char *name) {
  VEC_PUSH(ctx, arena, open, (struct open_dimension){value, axis, name});
  return HONE_OK;
}

/* The numbers of tokens are dynamic; the graph has none of them elsewhere. */
static hone_status find_open(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                             struct open_dimensions *open) {
  const size_t caches = graph->inputs.count - 2;
  for (size_t i = 0; i < 2; i++)
    TRY(add_open(ctx, arena, open, graph->inputs.at[i], 1, "sequence"));
  for (size_t i = 0; i < caches; i++) {
    TRY(add_open(ctx, arena, open, graph->inputs.at[2 + i], 2, "past"));
    TRY(add_open(ctx, arena, open, graph->outputs.at[i], 2, "total"));
  }
  return add_open(ctx, arena, open, graph->outputs.at[caches], 1, "sequence");
}

static json_t *make_config(const struct graph *graph, const struct config *c) {
  const struct value *cache = graph->inputs.at[2],
                     *logits = graph->outputs.at[graph->outputs.count - 1];
  const json_int_t layers = (json_int_t)(graph->inputs.count - 2) / 2,
                   heads = (json_int_t)cache->shape.dims[1],
                   depth = (json_int_t)cache->shape.dims[3];
  const json_int_t eos = c->eos >= 0 ? (json_int_t)c->eos : 0;
  return json_pack(
      "{s:{s:s, s:I, s:I, s:I, s:I, s:I, s:{s:s, s:{}, s:I, s:I, s:I, s:I, s:I, s:{s:s, s:s, s:s, "
      "s:s}, "
      "s:{s:s, s:s, s:s}}}, s:{s:b, s:I, s:b}}",
      "model", "type", "llama", "vocab_size", (json_int_t)logits->shape.dims[2], "context_length",
      (json_int_t)c->context, "bos_token_id", (json_int_t)(c->bos >= 0 ? c->bos : 0),
      "eos_token_id", eos, "pad_token_id", eos, "decoder", "filename", "model.onnx",
      "session_options", "num_hidden_layers", layers, "num_attention_heads", heads,
      "num_key_value_heads", heads, "head_size", depth, "hidden_size", heads * depth, "inputs",
      "input_ids", "input_ids", "position_ids", "position_ids", "past_key_names", "past.%d.key",
      "past_value_names", "past.%d.value", "outputs", "logits", "logits", "present_key_names",
      "present.%d.key", "present_value_names", "present.%d.value", "search", "do_sample", 0,
      "max_length", (json_int_t)c->context, "past_present_share_buffer", 0);
}

static hone_status write_config(struct ctx *ctx, const struct graph *graph,
                                const struct config *config, const char *path) {
  json_t *json = make_config(graph, config);
  char *text = json ? json_dumps(json, JSON_INDENT(2)) : NULL;
  hone_status status = text ? file_write_atomic(ctx, path, text, strlen(text), 0644)
                            : fail(ctx, HONE_E_OOM, place_none(), "no memory for a configuration");
  free(text);
  json_decref(json);
  return status;
}

static hone_status write_folder(struct ctx *ctx, struct arena *arena, const char *path,
                                struct model *model, const char *folder) {
  static const char *const passes[] = {"pack-nbits", NULL};
  struct config config = {0, -1, -1};
  struct open_dimensions open = {.count = 0};
  char file[4200];
  TRY(read_config(ctx, arena, path, &config));
  TRY(passes_run_named(ctx, model->graph, passes));
  TRY(find_open(ctx, arena, model->graph, &open));
  TRY(dir_create(ctx, folder));
  snprintf(file, sizeof file, "%.4000s/model.onnx", folder);
  TRY(export_onnx_file(ctx, model->graph, &open, file, 0644));
  snprintf(file, sizeof file, "%.4000s/genai_config.json", folder);
  return write_config(ctx, model->graph, &config, file);
}

hone_status export_genai(struct ctx *ctx, const char *path, const char *folder) {
  const struct import_options import = {.open_is = 1, .is_probe = true};
  struct arena *arena;
  struct model model;
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = model_load(ctx, path, &import, &model);
  if (!status) {
    status = write_folder(ctx, arena, path, &model, folder);
    model_unload(&model);
  }
  arena_destroy(arena);
  return status;
}
