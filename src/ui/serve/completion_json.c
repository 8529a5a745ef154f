/* The endpoints of OpenAI's API (platform.openai.com/docs/api-reference): models, completions, chat completions. Fields that
 * hone does not know are ignored, as other local servers do.
 */
#include <math.h>
#include <stdlib.h>
#include <sys/random.h>

#include "completion.h"
#include "server.h"

static hone_status put_json(struct request *request, json_t *json) {
  char *dumped = json ? json_dumps(json, JSON_COMPACT) : NULL;
  json_decref(json);
  if (!dumped) return fail(&request->ctx, HONE_E_OOM, place_none(), "no memory for an answer");
  strbuf_puts(&request->out, dumped);
  free(dumped);
  request->type = "application/json";
  return strbuf_finish(&request->ctx, &request->out);
}

void api_failed(struct request *request) {
  const int status = request->status;
  const char *type = status == 401                    ? "authentication_error"
                     : status == 429 || status == 503 ? "server_busy"
                     : status < 500                   ? "invalid_request_error"
                                                      : "server_error";
  char words[sizeof request->ctx.message + sizeof request->ctx.hint + 3];
  const char *hint_text = request->ctx.hint; /* of a command line otherwise */
  snprintf(words, sizeof words, "%s%s%s", request->ctx.message, *hint_text ? ": " : "", hint_text);
  json_t *json = json_pack("{s:{s:s, s:s, s:n, s:s}}", "error", "message", words, "type", type,
                           "param", "code", hone_status_name(request->ctx.status));
  ctx_clear(&request->ctx);
  strbuf_deinit(&request->out);
  request->out = (struct strbuf){0};
  if (put_json(request, json)) request->status = 500;
}

/* -- requests */

static hone_status wrong(struct request *request, const char *name, const char *what) {
  return fail(&request->ctx, HONE_E_USAGE, place_name(name), "must be %s", what);
}

static hone_status read_number(struct request *request, const json_t *body, const char *name,
                               double low, double high, double otherwise, double *out) {
  const json_t *value = json_object_get(body, name);
  *out = otherwise;
  if (!value || json_is_null(value)) return HONE_OK;
  char words[96];
  snprintf(words, sizeof words, "a number from %g to %g", low, high);
  *out = json_number_value(value);
  return json_is_number(value) && *out >= low && *out <= high ? HONE_OK
                                                              : wrong(request, name, words);
}

static hone_status read_flag(struct request *request, const json_t *body, const char *name,
                             bool *out) {
  const json_t *value = json_object_get(body, name);
  *out = json_is_true(value);
  return !value || json_is_boolean(value) || json_is_null(value)
             ? HONE_OK
             : wrong(request, name, "a boolean");
}

static hone_status read_stops(struct request *request, struct completion *c) {
  const json_t *stop = json_object_get(c->body, "stop");
  const size_t count = json_is_array(stop) ? json_array_size(stop) : json_is_string(stop);
  if (stop && !json_is_null(stop) && !json_is_array(stop) && !json_is_string(stop))
    return wrong(request, "stop", "a string or a list of strings");
  if (count > STOPS_MOST) return wrong(request, "stop", "a list of at most 16 strings");
  for (size_t i = 0; i < count; i++) {
    c->stops[i] = json_string_value(json_is_array(stop) ? json_array_get(stop, i) : stop);
    if (!c->stops[i]) return wrong(request, "stop", "a string or a list of strings");
  }
  c->request.stops = c->stops;
  c->request.stop_count = count;
  return HONE_OK;
}

/* The sampling of OpenAI's API: temperature 1, and a seed from chance unless it is given. */
static hone_status read_sampling(struct request *request, struct completion *c) {
  double top_k, seed, most, chance;
  uint64_t random = 0;
  struct sampling *s = &c->request.sampling;
  if (getrandom(&random, sizeof random, 0) != sizeof random) random = clock_ns();
  chance = (double)(random >> 12);
  TRY(read_number(request, c->body, "temperature", 0, 100, 1, &s->temperature));
  TRY(read_number(request, c->body, "top_k", 0, INT32_MAX, DEFAULT_TOP_K, &top_k));
  TRY(read_number(request, c->body, "top_p", 0, 1, DEFAULT_TOP_P, &s->top_p));
  TRY(read_number(request, c->body, "min_p", 0, 1, DEFAULT_MIN_P, &s->min_p));
  TRY(read_number(request, c->body, "seed", -0x1p53, 0x1p53, chance, &seed));
  TRY(read_number(request, c->body, "max_tokens", 0, INT32_MAX, 0, &most));
  TRY(read_number(request, c->body, "max_completion_tokens", 0, INT32_MAX, most, &most));
  s->top_k = (int32_t)top_k;
  s->seed = (uint64_t)(int64_t)seed;
  c->request.most_tokens = (int64_t)most;
  return HONE_OK;
}

/* Messages whose content is a list of texts get one text. */
static hone_status join_contents(struct request *request, json_t *message) {
  json_t *content = json_object_get(message, "content"), *part;
  struct strbuf text = {0};
  size_t i;
  if (!json_is_array(content)) return HONE_OK;
  json_array_foreach(content, i, part) {
    const char *words = json_string_value(json_object_get(part, "text"));
    if (!words) {
      strbuf_deinit(&text);
      return wrong(request, "messages", "text: other content is not supported");
    }
    strbuf_puts(&text, words);
  }
  json_object_set_new(message, "content", json_string(text.at ? text.at : ""));
  strbuf_deinit(&text);
  return HONE_OK;
}

static hone_status read_messages(struct request *request, struct completion *c) {
  json_t *messages = json_object_get(c->body, "messages"), *message;
  size_t i;
  if (!json_is_array(messages) || !json_array_size(messages))
    return wrong(request, "messages", "a list of messages");
  json_array_foreach(messages, i, message) {
    const json_t *content = json_object_get(message, "content");
    if (!json_is_string(json_object_get(message, "role")) ||
        !(json_is_string(content) || json_is_array(content) || json_is_null(content)))
      return wrong(request, "messages", "a list of {role, content}");
    TRY(join_contents(request, message));
  }
  c->request.messages = messages;
  return HONE_OK;
}

static hone_status read_prompt(struct request *request, struct completion *c) {
  const json_t *prompt = json_object_get(c->body, "prompt");
  if (json_is_array(prompt) && json_array_size(prompt) == 1) prompt = json_array_get(prompt, 0);
  c->request.prompt = json_string_value(prompt);
  return c->request.prompt ? HONE_OK : wrong(request, "prompt", "a string");
}

static hone_status read_fields(struct request *request, struct completion *c) {
  double n;
  json_error_t error;
  c->body = json_loadb(request->in.at ? request->in.at : "", request->in.length, 0, &error);
  if (!json_is_object(c->body))
    return fail(&request->ctx, HONE_E_USAGE, place_none(),
                "the body is not a JSON object: line %d, %s", error.line,
                c->body ? "another type" : error.text);
  TRY(c->is_chat ? read_messages(request, c) : read_prompt(request, c));
  TRY(read_sampling(request, c));
  TRY(read_stops(request, c));
  TRY(read_flag(request, c->body, "stream", &c->is_stream));
  TRY(read_flag(request, json_object_get(c->body, "stream_options"), "include_usage",
                &c->has_usage));
  return read_number(request, c->body, "n", 1, 1, 1, &n);
}

static hone_status make(struct request *request, bool is_chat, struct completion **out) {
  struct completion *c = *out = calloc(1, sizeof *c);
  uint64_t id = 0;
  if (!c) return fail(&request->ctx, HONE_E_OOM, place_none(), "no memory for a request");
  if (getrandom(&id, sizeof id, 0) != sizeof id) id = clock_ns();
  snprintf(c->id, sizeof c->id, "%s-%016llx", is_chat ? "chatcmpl" : "cmpl",
           (unsigned long long)id);
  slug(c->model, generator_name(completions_generator(request->server->completions)));
  c->created_s = clock_unix_ms() / 1000;
  c->is_chat = is_chat;
  c->connection = request->connection;
  return read_fields(request, c);
}

/* Called again when the connection is resumed. */
static hone_status answer(struct request *request, bool is_chat) {
  struct completions *all = request->server->completions;
  struct completion *c = request->completion;
  if (!all)
    return advise(&request->ctx,
                  fail(&request->ctx, HONE_E_NOFILE, place_none(), "no model is served here"),
                  "start it with hone serve --model FILE.gguf");
  if (!c) {
    hone_status status = make(request, is_chat, &c);
    if (!status) status = completion_submit(&request->ctx, all, c);
    if (status) {
      if (c) json_decref(c->body);
      free(c);
      return status;
    }
    request->completion = c;
    request_deadline(request, STREAM_S);
  }
  request->is_waiting = completion_waits(c);
  if (request->is_waiting) return HONE_OK;
  if (c->status) {
    request->ctx = c->ctx;
    return c->status;
  }
  if (!c->is_done && !c->is_stream)
    return fail(&request->ctx, HONE_E_BUSY, place_none(), "the server ends");
  if (!c->is_stream) return put_json(request, completion_answer(c));
  request->type = "text/event-stream";
  request->is_stream = true;
  return HONE_OK;
}

hone_status api_completion(struct request *request) { return answer(request, false); }
hone_status api_chat(struct request *request) { return answer(request, true); }

hone_status api_models(struct request *request) {
  struct completions *all = request->server->completions;
  char name[65] = "";
  if (all) slug(name, generator_name(completions_generator(all)));
  json_t *model = all ? json_pack("[{s:s, s:s, s:I, s:s}]", "id", name, "object", "model",
                                  "created", (json_int_t)0, "owned_by", "hone")
                      : json_array();
  return put_json(request, json_pack("{s:s, s:o}", "object", "list", "data", model));
}
