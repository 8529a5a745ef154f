/* Messages of a worker to the harness: answers, stages, failures with the engine's message. */
#include "bench/wire/wire.h"
#include "worker_internal.h"

#include <fcntl.h>
#include <math.h>
#include <unistd.h>

int64_t peak_resident_bytes(void) {
  char text[4096];
  int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  text[n > 0 ? n : 0] = 0;
  const char *line = strstr(text, "VmHWM:");
  long long kib;
  return line && sscanf(line, "VmHWM: %lld", &kib) == 1 ? (int64_t)kib * 1024 : -1;
}

bool answer(const struct state *state, json_t *message) {
  if (message) json_object_set_new(message, "cell", json_string(state->config));
  return message_write(WORKER_FD_OUT, message);
}

void enter(struct state *state, enum record_stage stage) {
  state->stage = stage;
  answer(state, json_pack("{s:s, s:s}", "event", "stage", "stage", stage_text(stage)));
}

void set_accuracy(json_t *message, const struct accuracy *accuracy) {
  message_set_number(message, "max_abs_diff", accuracy->max_abs_diff);
  message_set_number(message, "max_rel_diff", accuracy->max_rel_diff);
  message_set_number(message, "rel_l2", accuracy->rel_l2);
  message_set_number(message, "cosine", accuracy->cosine > 1.0 ? 1.0 : accuracy->cosine);
  message_set_number(message, "top1", accuracy->top1);
}

static enum record_status status_of(hone_status status) {
  switch (status) {
    case HONE_E_MISSING:
      return STATUS_not_installed;
    case HONE_E_UNSUP:
      return STATUS_unsupported;
    case HONE_E_OOM:
      return STATUS_out_of_memory;
    case HONE_E_TIMEOUT:
      return STATUS_timeout;
    case HONE_E_ACCURACY:
      return STATUS_wrong;
    default:
      return STATUS_error;
  }
}

void answer_failure(const struct state *state, const struct ctx *ctx) {
  json_t *message =
      json_pack("{s:s, s:s, s:s, s:s}", "event", "failed", "stage", stage_text(state->stage),
                "status", status_text(status_of(ctx->status)), "reason", ctx->message);
  if (!message)
    message = json_pack("{s:s, s:s, s:s, s:s}", "event", "failed", "stage", "run", "status",
                        "error", "reason", "a failure whose message is not UTF-8");
  if (ctx->status == HONE_E_ACCURACY) set_accuracy(message, &state->accuracy);
  answer(state, message);
}
