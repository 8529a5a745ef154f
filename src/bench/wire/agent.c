/* `hone agent`: the remote end of transport_stream.c. Frames on the standard streams request what
 * the harness does itself for a local worker: start, stop, watch, end, put and get files. It starts
 * one local worker. When the stream ends for any reason, the worker and its folder are removed.
 */
#include "transport.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define OUTPUT_MAX 65536
#define MAX_ENVIRONMENT 32
#define IDLE_MS 1000

struct agent {
  struct frame_reader frames; /* descriptor 0 */
  struct harness harness;
  struct worker worker;
  bool is_started, has_told_end;
  bool is_mute;     /* no more lines of the worker */
  int receiving_fd; /* file for `put` frames; -1: none */
  char receiving[128];
  char dir[4096]; /* removed at the end */
};

static bool say(const char *word, const char *argument, const void *bytes, size_t length) {
  return frame_write(1, word, argument, bytes, length);
}

/* Prints to stderr, which the other side shows in the row. */
static void complain(const char *what, const char *words) {
  char line[1024];
  snprintf(line, sizeof line, "hone agent: %s: %.900s\n", what, words);
  say("output", NULL, line, strlen(line));
}

/* -- requests */

static bool make_folder(struct agent *agent) {
  struct ctx ctx;
  ctx_init(&ctx);
  if (!dir_temporary(&ctx, agent->dir)) return true;
  agent->dir[0] = 0;
  return false;
}

static bool start_worker(struct agent *agent, const json_t *message) {
  const char *environment[MAX_ENVIRONMENT + 1] = {NULL}, *engine = message_text(message, "engine");
  const json_t *list = json_object_get(message, "environment");
  char dir[4096 + 16];
  for (size_t i = 0; i < json_array_size(list) && i < MAX_ENVIRONMENT; i++) {
    environment[i] = json_string_value(json_array_get(list, i));
    if (!environment[i]) break;
  }
  agent->harness.memory_bytes = (uint64_t)message_int(message, "memory", 0);
  snprintf(dir, sizeof dir, "%s/worker", agent->dir);
  const struct worker_spec spec = {.backend = message_text(message, "backend"),
                                   .engine_path = engine[0] ? engine : NULL,
                                   .dir = dir,
                                   .config = message_text(message, "cell"),
                                   .threads = (int)message_int(message, "threads", 0),
                                   .environment = environment};
  struct ctx ctx;
  ctx_init(&ctx);
  if (worker_start(&ctx, &agent->harness, &spec, &agent->worker)) {
    complain("cannot start a worker", ctx.message);
    return false;
  }
  agent->is_started = true;
  return say("started", NULL, dir, strlen(dir));
}

static bool act_start(struct agent *agent, const struct frame *frame) {
  json_error_t error;
  if (agent->is_started) return false;
  json_t *message = json_loadb(frame->bytes, frame->length, JSON_REJECT_DUPLICATES, &error);
  const int64_t version = message_int(message, "version", 0);
  bool is_good = version == FRAME_VERSION;
  if (!is_good) complain("another version of hone", "both ends must be the same release");
  is_good = is_good && make_folder(agent) && start_worker(agent, message);
  json_decref(message);
  return is_good;
}

static bool act_line(struct agent *agent, const struct frame *frame) {
  agent->worker.transport->send(&agent->worker, frame->bytes, frame->length);
  return true; /* a dead worker is reported by its end */
}

static bool act_stop(struct agent *agent, const struct frame *frame) {
  (void)frame;
  return say("stopped", worker_stop(&agent->worker) ? "1" : "0", "", 0);
}

static bool act_resume(struct agent *agent, const struct frame *frame) {
  (void)frame;
  if (agent->worker.is_running) agent->worker.transport->resume(&agent->worker);
  agent->worker.is_stopped = false;
  return true;
}

static bool act_resident(struct agent *agent, const struct frame *frame) {
  (void)frame;
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)agent->worker.transport->resident(&agent->worker));
  return say("resident", text, "", 0);
}

static bool act_finish(struct agent *agent, const struct frame *frame) {
  (void)frame;
  agent->worker.transport->finish(&agent->worker);
  return true;
}

static bool file_path(const struct agent *agent, const char *name, char out[4096 + 160]) {
  snprintf(out, 4096 + 160, "%s/%s", agent->worker.dir, name);
  return is_plain_file_name(name);
}

/* An empty frame ends a file. */
static bool act_put(struct agent *agent, const struct frame *frame) {
  char path[4096 + 160];
  if (!file_path(agent, frame->argument, path)) return false;
  if (agent->receiving_fd < 0) {
    snprintf(agent->receiving, sizeof agent->receiving, "%s", frame->argument);
    agent->receiving_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  }
  if (agent->receiving_fd < 0 || strcmp(agent->receiving, frame->argument)) return false;
  if (!write_all(agent->receiving_fd, frame->bytes, frame->length)) {
    complain("cannot keep a file", frame->argument);
    return false;
  }
  if (frame->length) return true;
  close(agent->receiving_fd);
  agent->receiving_fd = -1;
  return say("taken", frame->argument, "", 0);
}

static bool act_get(struct agent *agent, const struct frame *frame) {
  char path[4096 + 160], name[128];
  struct ctx ctx;
  ctx_init(&ctx);
  if (!file_path(agent, frame->argument, path)) return false;
  snprintf(name, sizeof name, "%s", frame->argument);
  if (!frame_write_file(&ctx, 1, "file", name, path)) return unlink(path), true;
  return say("file", NULL, "", 0); /* no name: the file does not exist */
}

static bool act_end(struct agent *agent, const struct frame *frame) {
  agent->worker.transport->end(&agent->worker, strtoull(frame->argument, NULL, 10));
  return say("gone", NULL, "", 0);
}

static const struct act {
  const char *word;
  bool (*act)(struct agent *agent, const struct frame *frame); /* false: the agent must end */
} acts[] = {{"end", act_end},       {"finish", act_finish}, {"get", act_get},
            {"line", act_line},     {"put", act_put},       {"resident", act_resident},
            {"resume", act_resume}, {"start", act_start},   {"stop", act_stop}};

static bool obey(struct agent *agent, const struct frame *frame) {
  for (size_t i = 0; i < COUNT(acts); i++)
    if (!strcmp(acts[i].word, frame->word))
      return (agent->is_started || acts[i].act == act_start) && acts[i].act(agent, frame);
  complain("unknown frame", frame->word);
  return false;
}

/* -- events */

/* Forwards too long or incomplete lines too: the harness rejects them. */
static bool forward_lines(struct agent *agent, bool is_gone) {
  char *line;
  size_t length = 0;
  enum line_result result = LINE_NONE;
  while (!agent->is_mute && (result = agent->worker.transport->receive(&agent->worker, &line,
                                                                       &length)) == LINE_READY) {
    line[length] = '\n';
    if (!say("line", NULL, line, length + 1)) return false;
  }
  if (agent->is_mute || !length) return true;
  if (result != LINE_TOO_LONG && (result != LINE_END || !is_gone)) return true;
  agent->is_mute = true;
  return say("line", NULL, line, length < FRAME_MAX ? length : FRAME_MAX);
}

static bool forward_output(struct agent *agent) {
  char bytes[OUTPUT_MAX];
  const ssize_t n = read(agent->worker.process.output_fd, bytes, sizeof bytes);
  if (n == 0) usleep(1000);
  return n <= 0 || say("output", NULL, bytes, (size_t)n);
}

/* Forwards its last lines and output, then reports its end. */
static bool tell_end(struct agent *agent) {
  char text[24];
  const bool is_gone = worker_has_ended(&agent->worker);
  if (!forward_output(agent) || !forward_lines(agent, is_gone)) return false;
  if (!is_gone || agent->has_told_end) return true;
  agent->has_told_end = true;
  snprintf(text, sizeof text, "%d", agent->worker.exit_status);
  return say("ended", text, "", 0);
}

static void converse(struct agent *agent) {
  struct frame frame;
  for (;;) {
    enum frame_result result = frame_next(&agent->frames, &frame);
    if (result == FRAME_END || result == FRAME_BROKEN) return;
    if (result == FRAME_READY && !obey(agent, &frame)) return;
    if (agent->is_started && !tell_end(agent)) return;
    if (result == FRAME_READY) continue;
    const bool has_worker = agent->is_started && !agent->has_told_end;
    struct pollfd fds[4] = {{0, POLLIN, 0},
                            {has_worker ? agent->worker.events.fd : -1, POLLIN, 0},
                            {has_worker ? agent->worker.process.output_fd : -1, POLLIN, 0},
                            {has_worker ? agent->worker.pid_fd : -1, POLLIN, 0}};
    poll(fds, 4, IDLE_MS);
  }
}

int agent_main(int argc, char **argv) {
  (void)argv;
  struct agent *agent = calloc(1, sizeof *agent);
  if (!agent || argc != 2) return 2;
  agent->frames.fd = 0;
  agent->receiving_fd = -1;
  fcntl(0, F_SETFL, O_NONBLOCK);
  harness_begin(&agent->harness);
  converse(agent);
  if (agent->is_started) worker_close(&agent->worker, 0);
  harness_finish(&agent->harness);
  if (agent->dir[0]) dir_temporary_remove(agent->dir);
  frame_reader_deinit(&agent->frames);
  free(agent);
  return 0;
}
