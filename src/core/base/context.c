/* Context: the first failure with its id, place and message; limits; warnings. */
#include "base.h"

#include <stdlib.h>

static const struct {
  const char *name;
  int exit_code;
  const char *meaning, *remedy;
} errors[HONE_STATUS_COUNT] = {
    {"OK", 0, "", ""},
#define ERROR(name, exit_code, meaning, remedy) {"E_" #name, exit_code, meaning, remedy},
#include "errors.def"
#undef ERROR
};

/* errors.def and hone_status are one list. */
enum error_order {
  ORDER_OK,
#define ERROR(name, exit_code, meaning, remedy) ORDER_##name,
#include "errors.def"
#undef ERROR
};
#define ERROR(name, exit_code, meaning, remedy) \
  _Static_assert((int)HONE_E_##name == (int)ORDER_##name, "errors.def row out of order");
#include "errors.def"
#undef ERROR

static const struct {
  const char *name;
  int64_t value;
  const char *text;
} limits[LIMIT_COUNT] = {
#define LIMIT(name, value, text) {#name, value, text},
#include "limits.def"
#undef LIMIT
};

const char *hone_version(void) { return HONE_VERSION; }

const char *hone_status_name(hone_status status) {
  return (unsigned)status < HONE_STATUS_COUNT ? errors[status].name : "E_INTERNAL";
}

const char *status_meaning(hone_status status) {
  return (unsigned)status < HONE_STATUS_COUNT ? errors[status].meaning : "";
}

const char *status_remedy(hone_status status) {
  return (unsigned)status < HONE_STATUS_COUNT ? errors[status].remedy : "";
}

int status_exit_code(hone_status status) {
  return (unsigned)status < HONE_STATUS_COUNT ? errors[status].exit_code : 70;
}

int limit_find(const char *name) {
  for (int i = 0; i < LIMIT_COUNT; i++)
    if (!strcmp(limits[i].name, name)) return i;
  return -1;
}

const char *limit_name(int id) { return limits[id].name; }
const char *limit_text(int id) { return limits[id].text; }

void ctx_init(struct ctx *ctx) {
  memset(ctx, 0, sizeof *ctx);
  for (int i = 0; i < LIMIT_COUNT; i++) ctx->limits[i] = limits[i].value;
}

void ctx_clear(struct ctx *ctx) {
  ctx->status = HONE_OK;
  ctx->message[0] = ctx->hint[0] = 0;
}

hone_status hone_context_create(hone_context **out_context) {
  *out_context = malloc(sizeof **out_context);
  if (!*out_context) return HONE_E_OOM;
  ctx_init(*out_context);
  limit_to_memory(*out_context, usable_ram_bytes());
  return HONE_OK;
}

void hone_context_destroy(hone_context *context) {
  if (context) free(context->strings);
  free(context);
}

const char *hone_context_message(const hone_context *context) { return context->message; }

/* ` at node 3 "conv1"`, or ` at node 3 (Conv)` if the node has no name. */
static size_t put_node(char *out, size_t size, struct place at, const char *name) {
  char number[24] = "", operator[200];
  safe_copy(operator, sizeof operator, at.operator? at.operator: "");
  if (at.number >= 0) snprintf(number, sizeof number, " %lld", (long long)at.number);
  const bool is_named = *name || !*operator;
  const int n = snprintf(out, size, is_named ? " at node%s \"%s\"" : " at node%s (%s)", number,
                         is_named ? name : operator);
  return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

static size_t put_place(char *out, size_t size, struct place at) {
  char name[300];
  safe_copy(name, sizeof name, at.name ? at.name : "");
  int n = 0;
  switch (at.kind) {
    case PLACE_NONE:
      return 0;
    case PLACE_OFFSET:
      n = snprintf(out, size, " at byte %lld", (long long)at.number);
      break;
    case PLACE_NODE:
      return put_node(out, size, at, name);
    case PLACE_NAME:
      n = snprintf(out, size, " at \"%s\"", name);
      break;
    case PLACE_FILE:
      n = snprintf(out, size, " in file \"%s\"", name);
      break;
  }
  return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

hone_status fail(struct ctx *ctx, hone_status id, struct place at, const char *format, ...) {
  if (ctx->status) return ctx->status;
  ctx->status = id;
  char where[400] = "", sentence[1400];
  put_place(where, sizeof where, at);
  va_list args;
  va_start(args, format);
  vsnprintf(sentence, sizeof sentence, format, args);
  va_end(args);
  char safe[1500];
  safe_copy(safe, sizeof safe, sentence);
  snprintf(ctx->message, sizeof ctx->message, "%s%s: %s", hone_status_name(id), where, safe);
  return id;
}

static void put_hint(struct ctx *ctx, const char *format, va_list args) {
  char sentence[600];
  if (!ctx->status || ctx->hint[0]) return;
  vsnprintf(sentence, sizeof sentence, format, args);
  safe_copy(ctx->hint, sizeof ctx->hint, sentence);
}

void hint(struct ctx *ctx, const char *format, ...) {
  va_list args;
  va_start(args, format);
  put_hint(ctx, format, args);
  va_end(args);
}

hone_status advise(struct ctx *ctx, hone_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (status) put_hint(ctx, format, args);
  va_end(args);
  return status;
}

/* A message with "limit NAME" names a limit that --limit can raise. */
static bool hint_at_limit(struct ctx *ctx) {
  char name[64];
  const char *at = ctx->message;
  while ((at = strstr(at, "limit "))) {
    at += 6;
    snprintf(name, sizeof name, "%.*s", (int)strspn(at, "abcdefghijklmnopqrstuvwxyz_"), at);
    if (limit_find(name) < 0) continue;
    hint(ctx, "if the file is trusted, --limit %s=VALUE raises the limit", name);
    return true;
  }
  return false;
}

const char *ctx_hint(struct ctx *ctx) {
  if (!ctx->status || ctx->hint[0]) return ctx->hint;
  if (ctx->status == HONE_E_LIMIT && hint_at_limit(ctx)) return ctx->hint;
  if (ctx->status == HONE_E_USAGE && ctx->verb) {
    hint(ctx, "'hone help %s' shows the usage", ctx->verb);
    return ctx->hint;
  }
  return status_remedy(ctx->status);
}

void warn(struct ctx *ctx, const char *format, ...) {
  if (!ctx->warn) return;
  char sentence[1400], safe[1500];
  va_list args;
  va_start(args, format);
  vsnprintf(sentence, sizeof sentence, format, args);
  va_end(args);
  safe_copy(safe, sizeof safe, sentence);
  ctx->warn(ctx->warn_user, safe);
}
