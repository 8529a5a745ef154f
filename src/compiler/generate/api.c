/* The functions of hone.h for language models. */
#include "generate.h"

hone_status hone_generator_open(hone_context *context, const char *path,
                                const hone_generator_options *options,
                                hone_generator **out_generator) {
  static const hone_generator_options defaults;
  struct generator_options generate = {0};
  if (!options) options = &defaults;
  ctx_clear(context);
  generate.context = options->context;
  generate.compile.cc = options->cc;
  generate.compile.threads = options->threads > 0 ? options->threads : usable_core_count();
  TRY(target_init(context, NULL, options->cpu, &generate.compile.target));
  return generator_open(context, path, &generate, out_generator);
}

void hone_generator_close(hone_generator *generator) { generator_close(generator); }

struct receiver {
  hone_piece piece;
  void *user;
};

static bool receive(void *user, const char *bytes, size_t size) {
  const struct receiver *receiver = user;
  return !receiver->piece || receiver->piece(receiver->user, bytes, size) != 0;
}

static struct generate_request request_of(const hone_generate_options *options) {
  static const hone_generate_options defaults;
  const hone_generate_options *o = options ? options : &defaults;
  return (struct generate_request){
      .most_tokens = o->new_tokens,
      .ignores_end = o->ignore_end != 0,
      .stops = o->stops,
      .stop_count = o->stop_count,
      .sampling = {.temperature = o->temperature,
                   .top_k = o->top_k ? (o->top_k < 0 ? 0 : o->top_k) : DEFAULT_TOP_K,
                   .top_p = o->top_p > 0 ? o->top_p : DEFAULT_TOP_P,
                   .min_p = o->min_p < 0   ? 0
                            : o->min_p > 0 ? o->min_p
                                           : DEFAULT_MIN_P,
                   .seed = o->seed}};
}

static hone_status run(hone_context *context, hone_generator *generator,
                       const struct generate_request *request, struct receiver receiver,
                       hone_generated *out) {
  struct generate_result result;
  TRY(generator_run(context, generator, request, receive, &receiver, &result));
  *out = (hone_generated){.prompt_tokens = result.prompt_tokens,
                          .cached_tokens = result.cached_tokens,
                          .new_tokens = result.new_tokens,
                          .tokens = result.tokens,
                          .reason = result.reason,
                          .first_token_ms = result.prompt_ms,
                          .rest_ms = result.rest_ms};
  return HONE_OK;
}

hone_status hone_generate(hone_context *context, hone_generator *generator, const char *prompt,
                          const hone_generate_options *options, hone_piece piece, void *user,
                          hone_generated *out_generated) {
  struct generate_request request = request_of(options);
  ctx_clear(context);
  request.prompt = prompt;
  return run(context, generator, &request, (struct receiver){piece, user}, out_generated);
}

hone_status hone_chat(hone_context *context, hone_generator *generator,
                      const hone_message *messages, size_t message_count,
                      const hone_generate_options *options, hone_piece piece, void *user,
                      hone_generated *out_generated) {
  struct generate_request request = request_of(options);
  json_t *list = json_array();
  hone_status status = list ? HONE_OK : HONE_E_OOM;
  ctx_clear(context);
  for (size_t i = 0; i < message_count && !status; i++) {
    json_t *message =
        json_pack("{s:s, s:s}", "role", messages[i].role, "content", messages[i].content);
    if (!message || json_array_append_new(list, message))
      status = fail(context, HONE_E_USAGE, place_none(), "message %zu is not UTF-8", i);
  }
  request.messages = list;
  if (!status)
    status = run(context, generator, &request, (struct receiver){piece, user}, out_generated);
  json_decref(list);
  return status;
}
