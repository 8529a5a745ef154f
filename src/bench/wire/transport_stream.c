/* A worker on another machine: frames over the standard streams of a program that reaches it (ssh,
 * adb); the other end is `hone agent`. A control frame is answered before the next is sent; lines
 * and output that arrive in between are kept. If the stream ends before the worker, the connection
 * is lost.
 */
#include "transport.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND_NS 1000000000ull
#define CONNECT_NS (60 * SECOND_NS)
#define REPLY_NS (30 * SECOND_NS)

struct stream {
  struct frame_reader frames;
  struct strbuf lines; /* the worker's lines, not read yet */
  size_t taken;        /* bytes already read */
  bool has_ended, is_broken;
  int64_t resident; /* as last reported by the agent */
  uint64_t asked_ns;
  char reply[16]; /* word of the expected answer; "": none */
  char answer[128];
  bool has_answer;
  struct strbuf body; /* bytes of the answer */
  int file_fd;        /* destination of a file's frames */
};

/* -- frames that arrive */

static void take_frame(struct worker *worker, const struct frame *frame) {
  struct stream *stream = worker->stream;
  if (!strcmp(frame->word, "line")) {
    strbuf_append(&stream->lines, frame->bytes, frame->length);
  } else if (!strcmp(frame->word, "output")) {
    capture_add(&worker->output, frame->bytes, frame->length);
  } else if (!strcmp(frame->word, "ended")) {
    int64_t status = 0;
    stream->has_ended = parse_i64(frame->argument, 0, 65535, &status);
    worker->exit_status = (int)status;
  } else if (!strcmp(frame->word, "resident")) {
    stream->resident = strtoll(frame->argument, NULL, 10);
  } else if (!strcmp(frame->word, "file")) {
    if (stream->file_fd >= 0 && !write_all(stream->file_fd, frame->bytes, frame->length))
      stream->is_broken = true;
  }
  const bool is_last = strcmp(frame->word, "file") || !frame->length;
  if (!is_last || strcmp(frame->word, stream->reply)) return;
  snprintf(stream->answer, sizeof stream->answer, "%s", frame->argument);
  stream->body.length = 0;
  strbuf_append(&stream->body, frame->bytes, frame->length);
  stream->has_answer = true;
}

/* Handles all frames that have arrived; false at the end of the stream. */
static bool pump(struct worker *worker) {
  struct stream *stream = worker->stream;
  struct frame frame;
  while (!worker->is_lost) {
    switch (frame_next(&stream->frames, &frame)) {
      case FRAME_READY:
        take_frame(worker, &frame);
        continue;
      case FRAME_NONE:
        return true;
      case FRAME_BROKEN:
        stream->is_broken = true;
        /* fall through */
      case FRAME_END:
        worker->is_lost = !stream->has_ended;
        capture_read(&worker->output, worker->process.output_fd, 1 << 20);
        return false;
    }
  }
  return false;
}

static void stream_wait(struct worker *worker, uint64_t duration_ns) {
  if (worker->stream->lines.length > worker->stream->taken) return;
  struct pollfd fds[2] = {{worker->is_lost ? -1 : worker->stream->frames.fd, POLLIN, 0},
                          {worker->process.output_fd, POLLIN, 0}};
  poll(fds, worker->is_lost ? 1 : 2, (int)(duration_ns / 1000000));
  if (!capture_read(&worker->output, worker->process.output_fd, 1 << 20)) usleep(1000);
  pump(worker);
}

/* Sends a control frame and waits for its answer. */
static bool ask(struct worker *worker, const char *word, const char *argument, const void *bytes,
                size_t length, const char *reply, uint64_t duration_ns) {
  struct stream *stream = worker->stream;
  const uint64_t deadline = clock_ns() + duration_ns;
  snprintf(stream->reply, sizeof stream->reply, "%s", reply);
  stream->has_answer = false;
  bool goes_on =
      !worker->is_lost && (!word || frame_write(worker->command_fd, word, argument, bytes, length));
  while (goes_on && !stream->has_answer && clock_ns() < deadline) {
    struct pollfd fd = {stream->frames.fd, POLLIN, 0};
    poll(&fd, 1, 20);
    capture_read(&worker->output, worker->process.output_fd, 1 << 20);
    goes_on = pump(worker) || stream->has_answer;
  }
  stream->reply[0] = 0;
  return stream->has_answer;
}

/* -- start */

static hone_status start_program(struct ctx *ctx, struct worker *worker,
                                 const struct device *device) {
  const char *argv[DEVICE_MAX_WORDS + 2] = {NULL};
  int to[2] = {-1, -1}, from[2] = {-1, -1};
  hone_status status = HONE_OK;
  for (size_t i = 0; i < device->word_count; i++) argv[i] = device->words[i];
  argv[device->word_count] = "agent";
  if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
    status = fail(ctx, HONE_E_IO, place_none(), "pipe: %s", strerror(errno));
  const struct process_options options = {.argv = argv,
                                          .directory = worker->dir,
                                          .fd_in = to[0],
                                          .fd_out = from[1],
                                          .on_standard = true};
  if (!status) status = process_start(ctx, &options, &worker->process);
  if (to[0] >= 0) close(to[0]);
  if (from[1] >= 0) close(from[1]);
  if (status) {
    if (to[1] >= 0) close(to[1]);
    if (from[0] >= 0) close(from[0]);
    return status;
  }
  fcntl(from[0], F_SETFL, O_NONBLOCK);
  worker->command_fd = to[1];
  worker->stream->frames.fd = from[0];
  worker->pid_fd = (int)syscall(SYS_pidfd_open, worker->process.pid, 0);
  return HONE_OK;
}

static json_t *start_message(const struct worker *worker, const struct worker_spec *spec) {
  json_t *environment = json_array();
  for (size_t i = 0; spec->environment && spec->environment[i]; i++)
    json_array_append_new(environment, json_string(spec->environment[i]));
  return json_pack("{s:i, s:s, s:s, s:i, s:I, s:s, s:o}", "version", FRAME_VERSION, "backend",
                   spec->backend ? spec->backend : "", "engine",
                   spec->engine_path ? spec->engine_path : "", "threads", spec->threads, "memory",
                   (json_int_t)worker->harness->memory_bytes, "cell", worker->config, "environment",
                   environment);
}

/* Reads the last output of the program that reaches the device, which may come after the stream's
   end. */
static void hear_last_words(struct worker *worker) {
  const uint64_t deadline = clock_ns() + SECOND_NS;
  while (clock_ns() < deadline) {
    struct pollfd fd = {worker->process.output_fd, POLLIN, 0};
    poll(&fd, 1, 50);
    if (!capture_read(&worker->output, worker->process.output_fd, 1 << 20)) return;
  }
}

/* An unreachable device is not a failure of the study: its rows report it. */
static void begin(struct worker *worker, const struct worker_spec *spec) {
  size_t length = 0;
  char *line = message_line(start_message(worker, spec), &length);
  if (line && ask(worker, "start", NULL, line, length, "started", CONNECT_NS))
    snprintf(worker->far_dir, sizeof worker->far_dir, "%.*s", (int)worker->stream->body.length,
             worker->stream->body.at ? worker->stream->body.at : "");
  else
    worker->is_lost = true;
  if (worker->is_lost) hear_last_words(worker);
  free(line);
}

static void release(struct worker *worker) {
  struct stream *stream = worker->stream;
  if (worker->command_fd >= 0) close(worker->command_fd);
  worker->command_fd = -1;
  if (stream->frames.fd >= 0) close(stream->frames.fd);
  if (worker->process.output_fd > 0) close(worker->process.output_fd);
  if (worker->pid_fd >= 0) close(worker->pid_fd);
  frame_reader_deinit(&stream->frames);
  strbuf_deinit(&stream->lines);
  strbuf_deinit(&stream->body);
  free(stream);
  worker->stream = NULL;
}

static hone_status stream_start(struct ctx *ctx, struct worker *worker,
                                const struct worker_spec *spec) {
  worker->stream = calloc(1, sizeof *worker->stream);
  if (!worker->stream) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a connection");
  worker->stream->frames.fd = worker->stream->file_fd = -1;
  worker->stream->resident = -1;
  const hone_status status = start_program(ctx, worker, spec->device);
  if (status)
    release(worker);
  else
    begin(worker, spec);
  return status;
}

/* -- talk */

static bool stream_send(struct worker *worker, const char *line, size_t length) {
  return !worker->is_lost && frame_write(worker->command_fd, "line", NULL, line, length);
}

static enum line_result stream_receive(struct worker *worker, char **out_line, size_t *out_length) {
  struct stream *stream = worker->stream;
  const bool is_open = pump(worker);
  if (stream->taken && stream->taken == stream->lines.length)
    stream->taken = stream->lines.length = 0;
  char *at = stream->lines.at ? stream->lines.at + stream->taken : NULL;
  const size_t here = stream->lines.length - stream->taken;
  char *end = here ? memchr(at, '\n', here) : NULL;
  *out_line = at;
  *out_length = end ? (size_t)(end - at) : here;
  if (*out_length >= WORKER_LINE_MAX) return LINE_TOO_LONG;
  if (!end) return is_open && !stream->has_ended ? LINE_NONE : LINE_END;
  *end = 0;
  stream->taken += *out_length + 1;
  return LINE_READY;
}

static bool stream_stop(struct worker *worker) {
  return ask(worker, "stop", NULL, "", 0, "stopped", REPLY_NS) &&
         !strcmp(worker->stream->answer, "1");
}

static void stream_resume(struct worker *worker) {
  if (!worker->is_lost) frame_write(worker->command_fd, "resume", NULL, "", 0);
}

static bool stream_has_ended(struct worker *worker) {
  const bool was_lost = worker->is_lost;
  pump(worker);
  if (worker->is_lost && !was_lost) hear_last_words(worker);
  return worker->stream->has_ended || worker->is_lost;
}

/* The agent ends the worker with its descendants and then itself, also if the stream breaks. */
static void stream_end(struct worker *worker, uint64_t term_grace_ns) {
  char grace[24];
  snprintf(grace, sizeof grace, "%llu", (unsigned long long)term_grace_ns);
  if (!worker->is_lost) ask(worker, "end", grace, "", 0, "gone", term_grace_ns + REPLY_NS);
  if (worker->is_running) {
    worker->is_running = false;
    harness_forget(worker->harness, worker->process.pid);
  }
  if (worker->command_fd >= 0) close(worker->command_fd);
  worker->command_fd = -1;
  for (int i = 0; i < 200 && waitpid(worker->process.pid, NULL, WNOHANG) == 0; i++) {
    if (i == 100) kill(-worker->process.pid, SIGKILL);
    usleep(10000);
  }
  tree_sweep(worker->harness, 0);
}

static void stream_finish(struct worker *worker) {
  if (!worker->is_lost && worker->command_fd >= 0)
    frame_write(worker->command_fd, "finish", NULL, "", 0);
}

/* -- files */

static hone_status lost(struct ctx *ctx, const char *name) {
  return fail(ctx, HONE_E_IO, place_name(name),
              "this file could not be copied to or from the device");
}

static hone_status stream_put(struct ctx *ctx, struct worker *worker, const char *path,
                              const char *name) {
  if (worker->is_lost) return lost(ctx, name);
  TRY(frame_write_file(ctx, worker->command_fd, "put", name, path));
  return ask(worker, NULL, NULL, NULL, 0, "taken", REPLY_NS) ? HONE_OK : lost(ctx, name);
}

static hone_status stream_get(struct ctx *ctx, struct worker *worker, const char *name) {
  char path[4096 + 160];
  struct stream *stream = worker->stream;
  snprintf(path, sizeof path, "%s/%s", worker->dir, name);
  stream->file_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (stream->file_fd < 0) return fail(ctx, HONE_E_WRITE, place_file(path), "%s", strerror(errno));
  const bool is_whole = ask(worker, "get", name, "", 0, "file", REPLY_NS) &&
                        !strcmp(stream->answer, name) && !stream->is_broken;
  close(stream->file_fd);
  stream->file_fd = -1;
  if (is_whole) return HONE_OK;
  unlink(path);
  return lost(ctx, name);
}

/* The last reported value; does not wait for an answer. */
static int64_t stream_resident(struct worker *worker) {
  struct stream *stream = worker->stream;
  if (clock_ns() - stream->asked_ns > SECOND_NS && !worker->is_lost) {
    stream->asked_ns = clock_ns();
    frame_write(worker->command_fd, "resident", NULL, "", 0);
  }
  return stream->resident;
}

const struct transport transport_stream = {.name = "stream",
                                           .start = stream_start,
                                           .send = stream_send,
                                           .receive = stream_receive,
                                           .wait = stream_wait,
                                           .stop = stream_stop,
                                           .resume = stream_resume,
                                           .has_ended = stream_has_ended,
                                           .end = stream_end,
                                           .finish = stream_finish,
                                           .put = stream_put,
                                           .get = stream_get,
                                           .resident = stream_resident,
                                           .release = release};
