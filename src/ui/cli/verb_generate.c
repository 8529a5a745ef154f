/* hone generate: text from a language model, streamed as it is made, or the score of a text. */
#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "compiler/generate/generate.h"

struct session {
  struct ctx *ctx;
  const struct args *args;
  struct hone_generator *generator;
  struct generate_request request;
  struct strbuf text; /* of the answer */
  bool streams;       /* to standard output, as it is made */
  bool is_terminal;   /* control characters are escaped */
};

static void notice(void *user, const char *text) {
  (void)user;
  fprintf(stderr, "hone: %s\n", text);
}

static hone_status read_sampling(struct ctx *ctx, const struct args *args, struct sampling *out) {
  int64_t top_k, seed;
  TRY(number_of(ctx, args, FLAG_temperature, 0, 100, 0, &out->temperature));
  TRY(int_of(ctx, args, FLAG_top_k, 0, INT32_MAX, DEFAULT_TOP_K, &top_k));
  TRY(number_of(ctx, args, FLAG_top_p, 0, 1, DEFAULT_TOP_P, &out->top_p));
  TRY(number_of(ctx, args, FLAG_min_p, 0, 1, DEFAULT_MIN_P, &out->min_p));
  TRY(int_of(ctx, args, FLAG_seed, 0, INT64_MAX, 1, &seed));
  out->top_k = (int32_t)top_k;
  out->seed = (uint64_t)seed;
  return HONE_OK;
}

static hone_status read_request(struct ctx *ctx, const struct args *args,
                                struct generate_request *out) {
  const struct repeated *stops = &args->repeated[FLAG_stop];
  *out = (struct generate_request){
      .ignores_end = has(args, FLAG_ignore_end), .stops = stops->at, .stop_count = stops->count};
  TRY(read_sampling(ctx, args, &out->sampling));
  return int_of(ctx, args, FLAG_new_tokens, 1, INT32_MAX, 0, &out->most_tokens);
}

static hone_status open_model(struct ctx *ctx, const struct args *args, const char *path,
                              struct hone_generator **out) {
  struct generator_options options = {.notice = has(args, FLAG_quiet) ? NULL : notice};
  TRY(read_compile_options(ctx, args, &options.compile));
  TRY(int_of(ctx, args, FLAG_context, 1, 1 << 17, 0, &options.context));
  journal_doing("reading %s", path);
  return about_model(ctx, generator_open(ctx, path, &options, out));
}

/* -- an answer */

static bool take_piece(void *user, const char *bytes, size_t size) {
  struct session *s = user;
  struct strbuf shown = {0};
  strbuf_append(&s->text, bytes, size);
  if (!s->streams) return true;
  for (size_t i = 0; i < size; i++) {
    const unsigned char c = (unsigned char)bytes[i];
    if (s->is_terminal && (c == 0x7F || (c < 0x20 && c != '\n' && c != '\t')))
      strbuf_printf(&shown, "\\x%02x", c);
    else
      strbuf_append(&shown, bytes + i, 1);
  }
  const bool is_written =
      fwrite(shown.at, 1, shown.length, stdout) == shown.length && !fflush(stdout);
  strbuf_deinit(&shown);
  return is_written;
}

static double per_s(int64_t count, double ms) { return ms > 0 ? (double)count / ms * 1e3 : 0; }

static void print_summary(const struct session *s, const struct generate_result *r) {
  if (has(s->args, FLAG_quiet)) return;
  fprintf(stderr, "\nprompt %lld tokens", (long long)r->prompt_tokens);
  if (r->cached_tokens) fprintf(stderr, " (%lld from the cache)", (long long)r->cached_tokens);
  fprintf(stderr, " %.1f tokens/s, first token after %.0f ms; %lld new tokens",
          per_s(r->prompt_tokens - r->cached_tokens, r->prompt_ms), r->prompt_ms,
          (long long)r->new_tokens);
  if (r->new_tokens > 1) fprintf(stderr, " %.1f tokens/s", per_s(r->new_tokens - 1, r->rest_ms));
  fprintf(stderr, "; %s; loaded in %.2f s\n", r->reason, generator_load_ms(s->generator) / 1e3);
}

/* Takes the reference to json. */
static hone_status write_json(const struct session *s, json_t *json, const char *path) {
  char *dumped = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) : NULL;
  struct strbuf text = {0};
  if (dumped) strbuf_printf(&text, "%s\n", dumped);
  hone_status status = dumped ? write_output(s->ctx, path, &text)
                              : fail(s->ctx, HONE_E_OOM, place_none(), "no memory for the result");
  strbuf_deinit(&text);
  free(dumped);
  json_decref(json);
  return status;
}

static hone_status write_result(const struct session *s, const struct generate_result *r,
                                const char *path) {
  json_t *tokens = json_array();
  for (int64_t i = 0; i < r->new_tokens; i++)
    json_array_append_new(tokens, json_integer(r->tokens[i]));
  json_t *json = json_pack(
      "{s:s, s:s, s:s, s:o, s:I, s:I, s:I, s:f, s:f, s:f, s:f}", "model",
      generator_name(s->generator), "text", s->text.at ? s->text.at : "", "reason", r->reason,
      "tokens", tokens, "prompt_tokens", (json_int_t)r->prompt_tokens, "cached_tokens",
      (json_int_t)r->cached_tokens, "new_tokens", (json_int_t)r->new_tokens, "load_ms",
      generator_load_ms(s->generator), "first_token_ms", r->prompt_ms, "prompt_per_s",
      per_s(r->prompt_tokens - r->cached_tokens, r->prompt_ms), "new_per_s",
      per_s(r->new_tokens - 1, r->rest_ms));
  return write_json(s, json, path);
}

static hone_status answer(struct session *s, struct generate_result *out) {
  s->text.length = 0;
  hone_status status = generator_run(s->ctx, s->generator, &s->request, take_piece, s, out);
  if (!status) status = strbuf_finish(s->ctx, &s->text);
  return status;
}

static hone_status answer_once(struct session *s) {
  struct generate_result result;
  const char *json = value_of(s->args, FLAG_json, NULL);
  s->streams = !json || strcmp(json, "-") != 0;
  TRY(answer(s, &result));
  if (s->streams && (!s->text.length || s->text.at[s->text.length - 1] != '\n')) putchar('\n');
  print_summary(s, &result);
  return json ? write_result(s, &result, json) : HONE_OK;
}

/* -- quality */

static json_t *pack_score(const struct text_score *score) {
  return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f}", "tokens", (json_int_t)score->tokens,
                   "perplexity", score->perplexity, "reference_perplexity",
                   score->reference_perplexity, "kl_divergence", score->divergence,
                   "largest_kl_divergence", score->largest_divergence, "same_top_token",
                   score->agreement);
}

static hone_status print_score(const struct session *s, const char *path, const char *text) {
  const char *json = value_of(s->args, FLAG_json, NULL);
  struct text_score score;
  TRY(generator_score(s->ctx, s->generator, path, text, &score));
  if (!json || strcmp(json, "-") != 0)
    printf(
        "%lld tokens\n"
        "perplexity     %10.4f   float reference %.4f\n"
        "KL divergence  %10.6f   largest %.6f\n"
        "same top token %9.2f %%\n",
        (long long)score.tokens, score.perplexity, score.reference_perplexity, score.divergence,
        score.largest_divergence, score.agreement * 100);
  if (json) TRY(write_json(s, pack_score(&score), json));
  return score.divergence <= MOST_DIVERGENCE
             ? HONE_OK
             : fail(s->ctx, HONE_E_ACCURACY, place_file(path),
                    "mean KL divergence %.4f from the float reference, the limit is %g",
                    score.divergence, MOST_DIVERGENCE);
}

/* -- prompts */

static hone_status add_message(struct ctx *ctx, json_t *messages, const char *role,
                               const char *content) {
  json_t *message = json_pack("{s:s, s:s}", "role", role, "content", content);
  if (!message) return fail(ctx, HONE_E_USAGE, place_name(role), "the text is not UTF-8");
  json_array_append_new(messages, message);
  return HONE_OK;
}

/* One message a line, until the end of input. */
static hone_status talk(struct session *s, json_t *messages) {
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length;
  hone_status status = HONE_OK;
  s->streams = true;
  while (!status) {
    if (isatty(0)) fputs("> ", stderr);
    if ((length = getline(&line, &capacity, stdin)) < 0) break;
    while (length && (line[length - 1] == '\n' || line[length - 1] == '\r')) line[--length] = 0;
    if (!length) continue;
    struct generate_result result;
    status = add_message(s->ctx, messages, "user", line);
    if (!status) status = answer(s, &result);
    if (!status) status = add_message(s->ctx, messages, "assistant", s->text.at ? s->text.at : "");
    if (!status) putchar('\n');
    if (!status) print_summary(s, &result);
  }
  free(line);
  return status;
}

static hone_status chat(struct session *s, const char *prompt) {
  json_t *messages = json_array();
  const char *system = value_of(s->args, FLAG_system, NULL);
  hone_status status = system ? add_message(s->ctx, messages, "system", system) : HONE_OK;
  s->request.messages = messages;
  if (!status && !prompt) {
    status = talk(s, messages);
  } else if (!status) {
    status = add_message(s->ctx, messages, "user", prompt);
    if (!status) status = answer_once(s);
  }
  json_decref(messages);
  return status;
}

static hone_status run(struct session *s, const char *path) {
  static const enum flag_id of_chat[] = {FLAG_system},
                            of_answer[] = {FLAG_new_tokens,  FLAG_ignore_end, FLAG_stop,
                                           FLAG_temperature, FLAG_top_k,      FLAG_top_p,
                                           FLAG_min_p,       FLAG_seed};
  struct strbuf text = {0};
  const char *prompt = value_of(s->args, FLAG_text, NULL);
  const bool is_chat = has(s->args, FLAG_chat), is_scored = has(s->args, FLAG_score);
  if (!prompt && !is_chat)
    return fail(s->ctx, HONE_E_USAGE, place_name("--text"),
                "give a prompt, or --chat for a dialogue");
  if (is_scored && is_chat)
    return fail(s->ctx, HONE_E_USAGE, place_name("--score"), "scores a text, not a dialogue");
  TRY(flags_need(s->ctx, s->args, of_chat, COUNT(of_chat), is_chat, "--chat"));
  TRY(flags_need(s->ctx, s->args, of_answer, COUNT(of_answer), !is_scored,
                 "an answer, which --score does not make"));
  TRY(read_request(s->ctx, s->args, &s->request));
  TRY(open_model(s->ctx, s->args, path, &s->generator));
  hone_status status = HONE_OK;
  if (prompt) status = read_text(s->ctx, prompt, &text);
  if (prompt) prompt = text.at ? text.at : "";
  s->request.prompt = is_chat ? NULL : prompt;
  if (!status)
    status = is_scored ? print_score(s, path, prompt) : is_chat ? chat(s, prompt) : answer_once(s);
  strbuf_deinit(&text);
  return status;
}

int verb_generate(struct ctx *ctx, struct args *args) {
  const char *path;
  struct session session = {.ctx = ctx, .args = args, .is_terminal = isatty(1)};
  hone_status status = one_word(ctx, args, "a GGUF file", &path);
  if (!status) status = run(&session, path);
  generator_close(session.generator);
  strbuf_deinit(&session.text);
  return status ? report_failure(ctx) : finish_output(0);
}
