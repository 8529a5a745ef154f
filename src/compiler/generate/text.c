/* A request: the prompt goes in by chunks, then one token after the other comes out and goes in again. */
#include <math.h>

#include "core/chat/chat.h"
#include "generate.h"

/* -- prompt */

static hone_status render(struct ctx *ctx, struct arena *arena, const struct hone_generator *g,
                          const json_t *messages, const char **out) {
  struct strbuf text = {0};
  if (!g->template)
    return advise(ctx,
                  fail(ctx, HONE_E_USAGE, place_name("tokenizer.chat_template"),
                       "the model has no chat template"),
                  "give a prompt instead of messages");
  json_t *variables =
      json_pack("{s:O, s:b, s:s, s:s}", "messages", messages, "add_generation_prompt", 1,
                "bos_token", g->bos, "eos_token", g->eos);
  if (!variables) return fail(ctx, HONE_E_OOM, place_none(), "no memory for messages");
  hone_status status = chat_render(ctx, arena, g->template, strlen(g->template), variables, &text);
  if (!status) status = strbuf_finish(ctx, &text);
  if (!status) status = arena_string(ctx, arena, text.at ? text.at : "", text.length, out);
  json_decref(variables);
  strbuf_deinit(&text);
  return status;
}

static hone_status read_prompt(struct ctx *ctx, struct arena *arena, const struct hone_generator *g,
                               const struct generate_request *request, int32_t **out_ids,
                               size_t *out_count) {
  const char *prompt = request->prompt;
  int flags = TOKENS_ADD_SPECIAL | (request->is_raw ? 0 : TOKENS_PARSE_SPECIAL);
  if (!prompt) {
    TRY(render(ctx, arena, g, request->messages, &prompt));
    /* templates write the token that begins a text themselves */
    if (*g->bos && !strncmp(prompt, g->bos, strlen(g->bos))) flags &= ~TOKENS_ADD_SPECIAL;
  }
  TRY(tokeniser_encode(ctx, arena, g->tokeniser, prompt, strlen(prompt), flags, out_ids,
                       out_count));
  if (!*out_count) return fail(ctx, HONE_E_USAGE, place_name("prompt"), "is empty");
  if ((int64_t)*out_count < g->context) return HONE_OK;
  return advise(ctx,
                fail(ctx, HONE_E_LIMIT, place_name("prompt"), "%zu tokens, in a context of %lld",
                     *out_count, (long long)g->context),
                "a larger context needs --context, and a model that was trained for it");
}

/* Keeps what the caches hold of the same beginning. The last token is computed again for its
   logits. */
static void keep_beginning(struct hone_generator *g, const int32_t *ids, int64_t count) {
  int64_t same = 0;
  while (same < g->settled && same < count - 1 && g->tokens[same] == ids[same]) same++;
  g->count = g->settled = same / CHUNK_TOKENS * CHUNK_TOKENS;
}

/* -- answer */

static hone_status check_logits(struct ctx *ctx, const struct hone_generator *g) {
  float sum = 0;
  for (int32_t i = 0; i < g->vocabulary; i++) sum += g->logits[i] * 0;
  return isfinite(sum) ? HONE_OK : fail(ctx, HONE_E_NUM, place_name("logits"), "are not finite");
}

static hone_status add_piece(struct ctx *ctx, struct hone_generator *g, struct arena *arena,
                             int32_t token, struct pieces *pieces) {
  struct token_text text;
  TRY(tokeniser_piece(ctx, arena, g->tokeniser, token, false, &text));
  pieces_add(pieces, text.bytes, text.size);
  return strbuf_finish(ctx, &pieces->held);
}

static hone_status answer(struct ctx *ctx, struct hone_generator *g, struct arena *arena,
                          const struct generate_request *request, struct pieces *pieces,
                          struct generate_result *out) {
  struct random random;
  const int64_t room = g->context - g->count;
  const int64_t most =
      request->most_tokens > 0 && request->most_tokens < room ? request->most_tokens : room;
  random_init(&random, request->sampling.seed);
  const uint64_t start = clock_ns();
  out->tokens = g->tokens + g->count;
  out->reason = "length";
  while (out->new_tokens < most) {
    TRY(check_logits(ctx, g));
    const int32_t token =
        sample_token(&request->sampling, &random, g->logits, g->vocabulary, g->order);
    if (tokeniser_ends(g->tokeniser, token) && !request->ignores_end) {
      out->reason = "stop";
      break;
    }
    g->tokens[g->count] = token;
    if (!out->new_tokens++) out->prompt_ms += (double)(clock_ns() - start) / 1e6;
    TRY(add_piece(ctx, g, arena, token, pieces));
    if (pieces->is_stopped || pieces->is_cancelled) {
      out->reason = pieces->is_stopped ? "stop" : "cancelled";
      break;
    }
    if (out->new_tokens < most) TRY(generator_step(ctx, g, &token, 1, true));
  }
  out->rest_ms = (double)(clock_ns() - start) / 1e6;
  pieces_end(pieces);
  return HONE_OK;
}

hone_status generator_run(struct ctx *ctx, struct hone_generator *g,
                          const struct generate_request *request, generate_piece *piece, void *user,
                          struct generate_result *out) {
  struct pieces pieces = {.request = request, .piece = piece, .user = user};
  struct arena *arena;
  const float *logits; /* the generator's, which `answer` reads */
  int32_t *ids;
  size_t count = 0;
  *out = (struct generate_result){.reason = "stop"};
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = read_prompt(ctx, arena, g, request, &ids, &count);
  const uint64_t start = clock_ns();
  if (!status) {
    keep_beginning(g, ids, (int64_t)count);
    out->prompt_tokens = (int64_t)count;
    out->cached_tokens = g->count;
    status = generator_extend(ctx, g, ids + g->count, g->count, (int64_t)count - g->count, &logits);
    out->prompt_ms = (double)(clock_ns() - start) / 1e6;
  }
  if (!status) status = answer(ctx, g, arena, request, &pieces, out);
  strbuf_deinit(&pieces.held);
  arena_destroy(arena);
  return status;
}
