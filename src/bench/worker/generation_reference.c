/* In a worker: generates tokens with hone's reference evaluation, the most likely one each time.
 * Each call has other sizes, so the model is read again for each; its weights stay mapped. Of GGUF
 * files there is a form whose sizes stay (compiler/generate/reference_text.c).
 */
#include "bench/wire/wire.h"
#include "compiler/generate/generate.h"
#include "generation.h"

#include <math.h>
#include <stdlib.h>

struct text_model {
  const char *path, *side_files_from;
  struct generation plan;
  const char **names;            /* input names, in the arena */
  struct text_reference *steady; /* of a GGUF file */
  struct arena *arena;
};

static hone_status load(struct ctx *ctx, const struct text_model *text, const char *shapes,
                        struct model *out) {
  const struct import_options import = {
      .shapes = shapes, .at_run = true, .is_probe = true, .side_files_from = text->side_files_from};
  return model_load(ctx, text->path, &import, out);
}

/* -- the plan */

static void describe(const struct value *value, struct backend_tensor *out) {
  snprintf(out->name, sizeof out->name, "%s", value->name);
  out->info = value_tensor(value, NULL);
}

static hone_status describe_io(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                               struct backend_io *out) {
  *out =
      (struct backend_io){.input_count = graph->inputs.count, .output_count = graph->outputs.count};
  TRY(NEW_ARRAY(ctx, arena, out->inputs, out->input_count));
  TRY(NEW_ARRAY(ctx, arena, out->outputs, out->output_count));
  for (size_t i = 0; i < out->input_count; i++) describe(graph->inputs.at[i], &out->inputs[i]);
  for (size_t i = 0; i < out->output_count; i++) describe(graph->outputs.at[i], &out->outputs[i]);
  return HONE_OK;
}

/* Describes the model with one token more; not a failure if it does not accept that. */
static hone_status describe_longer(struct ctx *ctx, struct text_model *text, struct backend_io *out,
                                   bool *out_takes) {
  struct strbuf shapes = {0};
  struct model model;
  struct ctx own;
  ctx_init(&own);
  hone_status status = generation_longer(ctx, &text->plan, text->names, &shapes);
  *out_takes = !status && !load(&own, text, shapes.at, &model);
  if (*out_takes) {
    status = describe_io(ctx, text->arena, model.graph, out);
    model_unload(&model);
  }
  strbuf_deinit(&shapes);
  return status;
}

static hone_status make_plan(struct ctx *ctx, struct text_model *text, const char *shapes) {
  struct model model;
  struct backend_io one, two;
  bool takes_more = false;
  TRY(load(ctx, text, shapes, &model));
  hone_status status = describe_io(ctx, text->arena, model.graph, &one);
  model_unload(&model);
  if (!status) status = NEW_ARRAY(ctx, text->arena, text->names, one.input_count);
  TRY(status);
  for (size_t i = 0; i < one.input_count; i++) text->names[i] = one.inputs[i].name;
  TRY(generation_find(ctx, &one, NULL, &text->plan));
  TRY(describe_longer(ctx, text, &two, &takes_more));
  if (takes_more && two.input_count == one.input_count && two.output_count == one.output_count)
    TRY(generation_find(ctx, &one, &two, &text->plan));
  return generation_check(ctx, &text->plan);
}

/* -- one call */

static hone_status tensor_size(struct ctx *ctx, const hone_tensor *tensor, size_t *out) {
  return tensor_bytes(ctx, "cache", tensor, out);
}

/* caches: malloc'ed; replaced by the new ones. */
static hone_status evaluate(struct ctx *ctx, struct text_model *text, struct arena *arena,
                            const struct graph *graph, struct generation_call call,
                            const int64_t *tokens, void **caches, int64_t *out_token,
                            double *out_lead) {
  const struct generation *plan = &text->plan;
  hone_tensor *inputs, *outputs;
  if (graph->inputs.count != plan->input_count || graph->outputs.count != plan->output_count)
    return fail(ctx, HONE_E_UNSUP, place_none(), "its inputs depend on the sizes");
  TRY(NEW_ARRAY(ctx, arena, inputs, plan->input_count));
  TRY(NEW_ARRAY(ctx, arena, outputs, plan->output_count));
  for (size_t i = 0; i < plan->input_count; i++)
    TRY(value_memory(ctx, arena, graph->inputs.at[i], &inputs[i]));
  for (size_t i = 0; i < plan->output_count; i++)
    TRY(value_memory(ctx, arena, graph->outputs.at[i], &outputs[i]));
  for (size_t c = 0; c < plan->cache_count; c++) {
    size_t bytes;
    TRY(tensor_size(ctx, &inputs[plan->caches[c].in], &bytes));
    if (bytes) memcpy(inputs[plan->caches[c].in].data, caches[c], bytes);
  }
  generation_fill(plan, call, tokens, inputs);
  TRY(reference_run(ctx, graph, inputs, outputs));
  for (size_t c = 0; c < plan->cache_count; c++) {
    size_t bytes;
    TRY(tensor_size(ctx, &outputs[plan->caches[c].out], &bytes));
    free(caches[c]);
    caches[c] = malloc(bytes + 1);
    if (!caches[c]) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a cache");
    memcpy(caches[c], outputs[plan->caches[c].out].data, bytes);
  }
  *out_token = generation_argmax(plan, &outputs[plan->logits], out_lead);
  return *out_token >= 0 ? HONE_OK
                         : fail(ctx, HONE_E_NUM, place_none(), "the logits are not finite");
}

static hone_status steady_call(struct ctx *ctx, struct text_model *text,
                               struct generation_call call, const int64_t *tokens,
                               int64_t *out_token, double *out_lead) {
  const float *logits;
  TRY(text_reference_extend(ctx, text->steady, tokens + call.past, call.past, call.tokens,
                            &logits));
  *out_token = generation_argmax_floats(&text->plan, logits, out_lead);
  return *out_token >= 0 ? HONE_OK
                         : fail(ctx, HONE_E_NUM, place_none(), "the logits are not finite");
}

static hone_status one_call(struct ctx *ctx, struct text_model *text, struct generation_call call,
                            const int64_t *tokens, void **caches, int64_t *out_token,
                            double *out_lead) {
  struct strbuf shapes = {0};
  struct model model;
  struct arena *arena = NULL;
  hone_status status = generation_shapes(ctx, &text->plan, text->names, call, 0, &shapes);
  if (!status) status = load(ctx, text, shapes.at, &model);
  strbuf_deinit(&shapes);
  TRY(status);
  status = arena_create(ctx, 0, &arena);
  if (!status)
    status = evaluate(ctx, text, arena, model.graph, call, tokens, caches, out_token, out_lead);
  arena_destroy(arena);
  model_unload(&model);
  return status;
}

/* -- a generation */

static hone_status generate(struct ctx *ctx, struct text_model *text, int64_t *tokens,
                            double *leads, int64_t prompt, int64_t count) {
  void **caches = calloc(text->plan.cache_count + 1, sizeof *caches);
  if (!caches) return fail(ctx, HONE_E_OOM, place_none(), "no memory for caches");
  const int64_t before = generation_prompt_calls(&text->plan, prompt);
  hone_status status = HONE_OK;
  for (int64_t k = 0; !status && k < before - 1 + count; k++) {
    const struct generation_call call = generation_call(&text->plan, prompt, k);
    int64_t token = 0;
    double lead = 0;
    status = text->steady ? steady_call(ctx, text, call, tokens, &token, &lead)
                          : one_call(ctx, text, call, tokens, caches, &token, &lead);
    if (status || k < before - 1) continue;
    tokens[prompt + k - before + 1] = token;
    leads[k - before + 1] = lead;
  }
  for (size_t c = 0; c < text->plan.cache_count; c++) free(caches[c]);
  free(caches);
  return status;
}

hone_status prompt_read(struct ctx *ctx, const char *path, int64_t **out, size_t *out_count) {
  hone_tensor tensor = {.data = NULL};
  TRY(npy_read(ctx, path, NULL, &tensor));
  struct tensor view = {.dtype = tensor.dtype, .data = tensor.data};
  view.shape.rank = tensor.rank;
  memcpy(view.shape.dims, tensor.shape, (size_t)tensor.rank * sizeof *tensor.shape);
  *out_count = tensor_count(&view);
  *out = dtype_is_integer(tensor.dtype) ? malloc((*out_count + 1) * sizeof **out) : NULL;
  for (size_t i = 0; *out && i < *out_count; i++) (*out)[i] = tensor_i64(&view, i);
  const bool is_whole = dtype_is_integer(tensor.dtype);
  free(tensor.data);
  if (*out && *out_count) return HONE_OK;
  free(*out);
  *out = NULL;
  return is_whole ? fail(ctx, HONE_E_FORMAT, place_file(path), "holds no token")
                  : fail(ctx, HONE_E_TYPE, place_file(path), "is %s; token ids are integers",
                         dtype_name(tensor.dtype));
}

/* The user's prompt, or random tokens. */
static hone_status make_prompt(struct ctx *ctx, const json_t *command,
                               const struct generation *plan, int64_t *tokens, int64_t prompt) {
  const char *path = message_text(command, "prompt_file");
  const int64_t vocabulary = generation_vocabulary(plan);
  struct random random;
  if (path[0]) {
    int64_t *given;
    size_t count;
    TRY(prompt_read(ctx, path, &given, &count));
    for (size_t i = 0; i < count && (int64_t)i < prompt; i++) tokens[i] = given[i];
    free(given);
  } else {
    random_init(&random, (uint64_t)message_int(command, "seed", 0) * 1000003u +
                             (uint64_t)message_int(command, "set", 0));
    for (int64_t i = 0; i < prompt; i++)
      tokens[i] = (int64_t)random_below(&random, (uint64_t)vocabulary);
  }
  for (int64_t i = 0; i < prompt; i++)
    if (tokens[i] < 0 || tokens[i] >= vocabulary)
      return fail(ctx, HONE_E_NUM, place_file(path), "token %lld is outside the vocabulary of %lld",
                  (long long)tokens[i], (long long)vocabulary);
  return HONE_OK;
}

static hone_status write_array(struct ctx *ctx, const json_t *command, const char *kind,
                               hone_dtype dtype, void *data, int64_t count) {
  char path[4096];
  snprintf(path, sizeof path, "%.4000s/%s_%d.npy", message_text(command, "dir"), kind,
           (int)message_int(command, "set", 0));
  const hone_tensor tensor = {.data = data, .dtype = dtype, .rank = 1, .shape = {count}};
  return npy_write(ctx, path, &tensor);
}

static hone_status generate_set(struct ctx *ctx, struct text_model *text, const json_t *command) {
  const int64_t prompt = message_int(command, "prompt", 1),
                count = message_int(command, "count", 1);
  int64_t *tokens;
  double *leads;
  TRY(NEW_ARRAY(ctx, text->arena, tokens, (size_t)(prompt + count)));
  TRY(NEW_ARRAY(ctx, text->arena, leads, (size_t)count));
  TRY(make_prompt(ctx, command, &text->plan, tokens, prompt));
  /* written first: available even if the evaluation does not finish */
  TRY(write_array(ctx, command, "tokens", HONE_I64, tokens, prompt));
  if (message_bool(command, "plan_only")) return HONE_OK;
  if (message_bool(command, "is_gguf"))
    TRY(text_reference_open(ctx, text->path, prompt + count, &text->steady));
  TRY(generate(ctx, text, tokens, leads, prompt, count));
  TRY(write_array(ctx, command, "leads", HONE_F64, leads, count));
  return write_array(ctx, command, "tokens", HONE_I64, tokens, prompt + count);
}

hone_status prepare_generation(struct ctx *ctx, const json_t *command, json_t **out_reply) {
  const char *sides = message_text(command, "side_files_from");
  struct text_model text = {.path = message_text(command, "path"),
                            .side_files_from = *sides ? sides : NULL};
  const char *shapes = message_text(command, "shapes");
  TRY(arena_create(ctx, 0, &text.arena));
  hone_status status = make_plan(ctx, &text, *shapes ? shapes : NULL);
  if (!status) status = generate_set(ctx, &text, command);
  text_reference_close(text.steady);
  arena_destroy(text.arena);
  TRY(status);
  *out_reply = json_pack("{s:s, s:o}", "event", "generated", "plan", generation_pack(&text.plan));
  return HONE_OK;
}
