/* Talks to workers, local or remote (transport.h). A worker runs only while it has a request;
 * between requests its process group is stopped. Each kind of end has one status, decided in
 * `classify` only.
 */
#include "transport.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TERM_GRACE_NS 2000000000ull
#define EXIT_NS \
  5000000000ull                    /* from the end of its output to its exit, also on a busy
                                      machine */
#define TIMED_STEP_NS 250000000ull /* poll rarely during a slice */
#define PATIENT_STEP_NS 20000000ull

hone_status worker_start(struct ctx *ctx, struct harness *harness, const struct worker_spec *spec,
                         struct worker *out) {
  *out = (struct worker){.harness = harness,
                         .transport = spec->device ? spec->device->transport : &transport_local,
                         .command_fd = -1,
                         .pid_fd = -1,
                         .events.fd = -1};
  snprintf(out->dir, sizeof out->dir, "%s", spec->dir);
  snprintf(out->config, sizeof out->config, "%s", spec->config);
  if (harness->known_count == HARNESS_MAX_CHILDREN)
    return fail(ctx, HONE_E_LIMIT, place_none(), "more than %d workers", HARNESS_MAX_CHILDREN);
  TRY(dir_create(ctx, spec->dir));
  TRY(capture_init(ctx, &out->output, 0));
  hone_status status = out->transport->start(ctx, out, spec);
  if (status) {
    capture_deinit(&out->output);
    return status;
  }
  out->is_running = true;
  harness->known[harness->known_count++] = out->process.pid;
  return HONE_OK;
}

bool worker_stop(struct worker *worker) {
  if (!worker->is_running) return true;
  worker->is_stopped = true;
  return worker->transport->stop(worker);
}

static void worker_continue(struct worker *worker) {
  if (worker->is_running && worker->is_stopped) worker->transport->resume(worker);
  worker->is_stopped = false;
}

bool worker_close(struct worker *worker, uint64_t grace_ns) {
  if (!worker->process.pid) return true;
  worker_continue(worker);
  worker->transport->finish(worker);
  bool is_clean = grace_ns && worker_wait_end(worker, grace_ns) && !worker->is_lost &&
                  WIFEXITED(worker->exit_status) && !WEXITSTATUS(worker->exit_status);
  worker->transport->end(worker, TERM_GRACE_NS);
  worker->transport->release(worker);
  capture_deinit(&worker->output);
  dir_remove_tree(worker->dir);
  worker->process.pid = 0;
  return is_clean;
}

/* -- ask */

static void PRINTF(3, 4)
    set_end(struct worker_end *end, enum record_status status, const char *format, ...) {
  end->status = status;
  va_list args;
  va_start(args, format);
  vsnprintf(end->reason, sizeof end->reason, format, args);
  va_end(args);
}

/* The last output on stdout and stderr, for the reason. */
static void last_words(const struct worker *worker, char out[400]) {
  struct strbuf text = {0}, safe = {0};
  capture_text(&worker->output, &text);
  out[0] = 0;
  if (text.at && text.length) {
    size_t keep = text.length < 300 ? text.length : 300;
    strbuf_put_safe(&safe, text.at + text.length - keep, 380);
    if (safe.at) snprintf(out, 400, "%s", safe.at);
  }
  strbuf_deinit(&text);
  strbuf_deinit(&safe);
}

static const char *signal_name(int number) {
  const char *name = sigabbrev_np(number);
  return name ? name : "?";
}

/* Status of a worker that ended without an answer. */
static void classify(struct worker *worker, size_t unfinished, struct worker_end *end) {
  char words[400];
  last_words(worker, words);
  if (worker->is_lost) {
    set_end(end, STATUS_disconnected, "the connection to the device was lost%s%s",
            words[0] ? ": " : "", words);
  } else if (WIFSIGNALED(worker->exit_status)) {
    set_end(end, STATUS_crashed, "killed by SIG%s%s%s", signal_name(WTERMSIG(worker->exit_status)),
            words[0] ? "; its last words: " : "", words);
  } else if (unfinished) {
    set_end(end, STATUS_protocol_error, "ended in the middle of a line");
  } else {
    set_end(end, STATUS_error, "exited with code %d and no result%s%s",
            WEXITSTATUS(worker->exit_status), words[0] ? "; its last words: " : "", words);
  }
}

/* False if a limit is exceeded. */
static bool within_limits(struct worker *worker, uint64_t deadline, struct worker_end *end) {
  const struct harness *harness = worker->harness;
  int64_t resident = worker->transport->resident(worker);
  if (resident > worker->rss_peak_seen) worker->rss_peak_seen = resident;
  memory_log_add(worker->memory, clock_ns(), resident);
  if (harness->memory_bytes && resident > (int64_t)harness->memory_bytes) {
    set_end(end, STATUS_out_of_memory, "%lld MB resident, the limit is %llu MB (--memory-limit)",
            (long long)(resident / 1000000), (unsigned long long)(harness->memory_bytes / 1000000));
  } else if (harness->deadline_ns && clock_ns() >= harness->deadline_ns) {
    set_end(end, STATUS_timeout, "no answer within %s", harness->deadline_reason);
  } else if (clock_ns() >= deadline) {
    set_end(end, STATUS_timeout, "no answer within %.3g s (--timeout)",
            (double)harness->timeout_ns / 1e9);
  } else if (harness->interrupted && *harness->interrupted) {
    set_end(end, STATUS_interrupted, "stopped by the user");
  } else {
    return true;
  }
  return false;
}

static bool note_failure(const json_t *event, struct worker_end *end) {
  enum record_status status = status_parse(message_text(event, "status"));
  enum record_stage stage = stage_parse(message_text(event, "stage"));
  if (status == STATUS_COUNT || status == STATUS_ok || stage == STAGE_COUNT) return false;
  end->stage = stage;
  end->rel_l2 = message_number(event, "rel_l2");
  char words[800];
  safe_copy(words, sizeof words, message_text(event, "reason"));
  set_end(end, status, "%s", words);
  return true;
}

enum take { TAKE_ANSWER, TAKE_NOTHING, TAKE_END };
/* Handles one line of the worker: an answer, a stage, or its failure. */
static enum take take_line(struct worker *worker, const char *line, size_t length,
                           const char *expected, json_t **out_answer, struct worker_end *end) {
  char reason[256];
  json_t *event = event_parse(line, length, reason);
  if (!event) {
    set_end(end, STATUS_protocol_error, "%s", reason);
    return TAKE_END;
  }
  const char *name = message_text(event, "event");
  enum take take = TAKE_END;
  if (strcmp(message_text(event, "cell"), worker->config)) {
    set_end(end, STATUS_protocol_error, "a message for another configuration");
  } else if (!strcmp(name, "stage")) {
    enum record_stage stage = stage_parse(message_text(event, "stage"));
    if (stage == STAGE_COUNT) {
      set_end(end, STATUS_protocol_error, "unknown stage");
    } else {
      worker->stage = stage;
      take = TAKE_NOTHING;
    }
  } else if (!strcmp(name, expected)) {
    *out_answer = event;
    return TAKE_ANSWER;
  } else if (strcmp(name, "failed") || !note_failure(event, end)) {
    set_end(end, STATUS_protocol_error, "event %s where %s was expected", name, expected);
  }
  json_decref(event);
  return take;
}

/* Waits for an event, at most as long as the kind of request allows. */
static void wait_event(struct worker *worker, enum ask_kind kind, uint64_t deadline) {
  const uint64_t now = clock_ns(), left = deadline > now ? deadline - now + 1000000 : 0;
  const uint64_t step = kind == ASK_TIMED ? TIMED_STEP_NS : PATIENT_STEP_NS;
  worker->transport->wait(worker, left < step ? left : step);
}

static json_t *converse(struct worker *worker, const char *expected, enum ask_kind kind,
                        struct worker_end *end) {
  uint64_t deadline =
      worker->harness->timeout_ns ? clock_ns() + worker->harness->timeout_ns : UINT64_MAX;
  enum record_stage stage = worker->stage;
  for (;;) {
    /* checked before reading, so that output before its end is read */
    bool is_gone = worker_has_ended(worker);
    char *line;
    size_t length;
    enum line_result result = worker->transport->receive(worker, &line, &length);
    if (result == LINE_READY) {
      json_t *answer = NULL;
      enum take take = take_line(worker, line, length, expected, &answer, end);
      if (take == TAKE_ANSWER) return answer;
      if (take == TAKE_END) return NULL;
      if (worker->stage != stage && worker->harness->timeout_ns)
        deadline = clock_ns() + worker->harness->timeout_ns; /* the limit is per stage */
      stage = worker->stage;
    } else if (result == LINE_TOO_LONG) {
      set_end(end, STATUS_protocol_error, "a line of more than %u bytes", WORKER_LINE_MAX);
      return NULL;
    } else if (is_gone || (result == LINE_END && worker_wait_end(worker, EXIT_NS))) {
      classify(worker, length, end);
      return NULL;
    } else if (result == LINE_END) {
      set_end(end, STATUS_protocol_error, "closed its pipe and did not exit");
      return NULL;
    } else {
      wait_event(worker, kind, deadline);
      if (!within_limits(worker, deadline, end)) return NULL;
    }
  }
}

void worker_tell(struct worker *worker, json_t *command) {
  if (command) json_object_set_new(command, "cell", json_string(worker->config));
  worker_continue(worker);
  size_t length;
  char *line = message_line(command, &length);
  if (line) /* if it is gone, worker_hear reports how */
    worker->transport->send(worker, line, length);
  free(line);
}

/* Compares outputs listed in an answer and adds the result to it; false if that ends the
   configuration. */
static bool check_answer(struct worker *worker, json_t *answer, struct worker_end *end) {
  struct accuracy accuracy;
  int verified;
  const json_t *checks = json_object_get(answer, "checks");
  if (!checks) return true;
  end->stage = STAGE_verify;
  if (!compare_checks(worker, checks, &accuracy, &verified)) {
    set_end(end, STATUS_protocol_error, "its outputs do not match its message");
    return false;
  }
  if (!verified) accuracy.rel_l2 = accuracy.max_abs_diff = accuracy.max_rel_diff = NAN;
  message_set_number(answer, "max_abs_diff", accuracy.max_abs_diff);
  message_set_number(answer, "max_rel_diff", accuracy.max_rel_diff);
  message_set_number(answer, "rel_l2", accuracy.rel_l2);
  message_set_number(answer, "cosine", accuracy.cosine);
  message_set_number(answer, "top1", accuracy.top1);
  if (json_object_get(answer, "round")) {
    json_object_set_new(answer, "verified", json_integer(verified));
    json_object_set_new(answer, "is_within", json_boolean(accuracy.is_within));
    json_object_set_new(answer, "where", json_string(accuracy.where));
    return true;
  }
  if (accuracy.is_within) return true;
  end->rel_l2 = accuracy.rel_l2;
  set_end(end, STATUS_wrong, "first inference: %s", accuracy.where);
  return false;
}

json_t *worker_hear(struct worker *worker, const char *expected, enum ask_kind kind,
                    struct worker_end *out_end) {
  *out_end = (struct worker_end){.status = STATUS_error, .rel_l2 = NAN};
  json_t *answer = converse(worker, expected, kind, out_end);
  if (answer && check_answer(worker, answer, out_end)) return answer;
  json_decref(answer);
  if (out_end->stage == STAGE_none) out_end->stage = worker->stage;
  worker->transport->end(worker, out_end->status == STATUS_out_of_memory ? 0 : TERM_GRACE_NS);
  return NULL;
}

json_t *worker_ask(struct worker *worker, json_t *command, const char *expected, enum ask_kind kind,
                   struct worker_end *out_end) {
  char *line;
  size_t length;
  if (worker->transport->receive(worker, &line, &length) == LINE_READY) {
    json_decref(command);
    *out_end = (struct worker_end){.stage = worker->stage, .rel_l2 = NAN};
    set_end(out_end, STATUS_protocol_error, "sent a message without a request");
    worker->transport->end(worker, TERM_GRACE_NS);
    return NULL;
  }
  if (!command) { /* invalid UTF-8 or out of memory: no reply will come */
    *out_end = (struct worker_end){.stage = worker->stage, .rel_l2 = NAN};
    set_end(out_end, STATUS_error,
            "cannot send the command: a string is not UTF-8, or memory is short");
    worker->transport->end(worker, TERM_GRACE_NS);
    return NULL;
  }
  worker_tell(worker, command);
  return worker_hear(worker, expected, kind, out_end);
}
