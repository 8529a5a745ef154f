/* Answers of OpenAI's API: whole, and as events of a stream. */
#include <stdlib.h>

#include "completion.h"

static json_t *usage_of(const struct completion *c) {
  const json_int_t prompt = c->result.prompt_tokens, made = c->result.new_tokens;
  return json_pack("{s:I, s:I, s:I, s:{s:I}}", "prompt_tokens", prompt, "completion_tokens", made,
                   "total_tokens", prompt + made, "prompt_tokens_details", "cached_tokens",
                   (json_int_t)c->result.cached_tokens);
}

/* object: "chat.completion" and so on; choice is owned. */
static json_t *frame(const struct completion *c, const char *object, json_t *choice) {
  return json_pack("{s:s, s:s, s:I, s:s, s:[o]}", "id", c->id, "object", object, "created",
                   (json_int_t)c->created_s, "model", c->model, "choices", choice);
}

static json_t *finish_of(const struct completion *c) {
  return json_string(strcmp(c->result.reason, "length") ? "stop" : "length");
}

json_t *completion_answer(const struct completion *c) {
  const char *text = c->text.at ? c->text.at : "";
  json_t *choice = c->is_chat ? json_pack("{s:i, s:{s:s, s:s}, s:n, s:o}", "index", 0, "message",
                                          "role", "assistant", "content", text, "logprobs",
                                          "finish_reason", finish_of(c))
                              : json_pack("{s:i, s:s, s:n, s:o}", "index", 0, "text", text,
                                          "logprobs", "finish_reason", finish_of(c));
  json_t *json = frame(c, c->is_chat ? "chat.completion" : "text_completion", choice);
  if (json) json_object_set_new(json, "usage", usage_of(c));
  return json;
}

static void put_event(struct completion *c, json_t *json) {
  char *dumped = json ? json_dumps(json, JSON_COMPACT) : NULL;
  if (dumped) strbuf_printf(&c->ready, "data: %s\n\n", dumped);
  free(dumped);
  json_decref(json);
}

/* A chunk of a stream; delta is owned, and finish NULL before the end. */
static void put_chunk(struct completion *c, json_t *delta, json_t *finish) {
  json_t *choice = c->is_chat ? json_pack("{s:i, s:o, s:n, s:o?}", "index", 0, "delta", delta,
                                          "logprobs", "finish_reason", finish)
                              : json_pack("{s:i, s:o, s:n, s:o?}", "index", 0, "text", delta,
                                          "logprobs", "finish_reason", finish);
  if (choice && !finish) json_object_set_new(choice, "finish_reason", json_null());
  put_event(c, frame(c, c->is_chat ? "chat.completion.chunk" : "text_completion", choice));
}

void completion_put_piece(struct completion *c, const char *bytes, size_t size) {
  json_t *text = json_stringn(bytes, size);
  if (c->is_chat && !c->has_role)
    put_chunk(c, json_pack("{s:s, s:s}", "role", "assistant", "content", ""), NULL);
  c->has_role = true;
  put_chunk(c, c->is_chat ? json_pack("{s:o}", "content", text) : text, NULL);
}

void completion_finish(struct completion *c) {
  if (!c->is_stream) return;
  put_chunk(c, c->is_chat ? json_object() : json_string(""), finish_of(c));
  if (c->has_usage) {
    json_t *json =
        json_pack("{s:s, s:s, s:I, s:s, s:[], s:o}", "id", c->id, "object",
                  c->is_chat ? "chat.completion.chunk" : "text_completion", "created",
                  (json_int_t)c->created_s, "model", c->model, "choices", "usage", usage_of(c));
    put_event(c, json);
  }
  strbuf_puts(&c->ready, "data: [DONE]\n\n");
}
