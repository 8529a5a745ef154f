/* A worker that is a child process: `hone worker`, or the Python interpreter of an engine's
 * environment with a file of workers/, perhaps under an emulator. It leads its own process group;
 * descendants that leave the group become our children when their parent dies (subreaper) and end
 * with the worker.
 *
 * Invariant: after `end` none of the worker's descendants remains.
 */
#include "transport.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILL_NS 60000000000ull /* a killed process ends when it is next scheduled */
#define MAX_WORDS (DEVICE_MAX_WORDS + 5 + LIMIT_COUNT)

/* -- start */

/* Writes the Python files of an engine's worker, which are embedded in this program, to the
   worker's folder. */
__attribute__((noinline)) /* keeps the stack of other workers small: 'ulimit -s 64' is enough */
static hone_status
write_worker(struct ctx *ctx, const char *dir, const struct backend *backend) {
  const char *const files[] = {"protocol.py", "generation.py", "torch_model.py", backend->worker};
  for (size_t i = 0; i < COUNT(files); i++) {
    char name[128], path[4096 + 128];
    size_t length = 0;
    snprintf(name, sizeof name, "workers/%s", files[i]);
    const char *text = hone_embedded_text(name, &length);
    if (!text) return fail(ctx, HONE_E_INTERNAL, place_name(name), "is not in this program");
    snprintf(path, sizeof path, "%s/%s", dir, files[i]);
    TRY(file_write_atomic(ctx, path, text, length, 0600));
  }
  return HONE_OK;
}

/* NULL without the engine's environment: then `hone worker` reports what is missing. */
static const char *engine_script(const struct worker_spec *spec, char python[4096]) {
  const struct backend *backend = spec->backend ? backend_find(spec->backend) : NULL;
  struct ctx ctx;
  ctx_init(&ctx);
  if (!backend || !backend->worker || engine_python(&ctx, backend->name, spec->engine_path, python))
    return NULL;
  return backend->worker;
}

/* "NAME=VALUE" of every limit that is not the default, so that a worker reads models under the
   limits of the command that started it. Returns their number. */
static size_t limit_words(const struct ctx *ctx, char (*out)[64]) {
  struct ctx defaults;
  size_t count = 0;
  ctx_init(&defaults);
  for (int i = 0; i < LIMIT_COUNT; i++)
    if (ctx->limits[i] != defaults.limits[i])
      snprintf(out[count++], sizeof *out, "%s=%lld", limit_name(i), (long long)ctx->limits[i]);
  return count;
}

__attribute__((noinline)) /* for the same reason */
static hone_status
start_isolated(struct ctx *ctx, struct worker *worker, const struct worker_spec *spec,
               struct process_options *options) {
  struct arena *arena;
  struct isolation isolation;
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = isolation_make(ctx, arena, spec, &isolation);
  options->extra_environment = isolation.environment;
  options->path_first = isolation.path_first;
  if (!status) status = process_start(ctx, options, &worker->process);
  arena_destroy(arena);
  return status;
}

static hone_status start_process(struct ctx *ctx, struct worker *worker,
                                 const struct worker_spec *spec, int fd_in, int fd_out) {
  char program[4096], thread_text[24], memory_text[32]; /* the interpreter, or this program */
  const char *argv[MAX_WORDS + 1] = {NULL};
  size_t count = 0;
  const struct device *device = spec->device;
  const char *script = engine_script(spec, program);
  ssize_t n = script ? 0 : readlink("/proc/self/exe", program, sizeof program - 1);
  if (!script && !worker->harness->worker_path && n <= 0)
    return fail(ctx, HONE_E_IO, place_none(), "/proc/self/exe: %s", strerror(errno));
  if (n > 0) program[n] = 0;
  snprintf(thread_text, sizeof thread_text, "%d", spec->threads);
  snprintf(memory_text, sizeof memory_text, "%llu",
           (unsigned long long)worker->harness->memory_bytes);
  const bool is_emulated = device && device->word_count;
  for (size_t i = 0; is_emulated && i < device->word_count; i++) argv[count++] = device->words[i];
  if (script && !is_emulated) {
    TRY(write_worker(ctx, worker->dir, backend_find(spec->backend)));
    argv[count++] = program;
    argv[count++] = script;
  } else {
    if (!is_emulated)
      argv[count++] = worker->harness->worker_path ? worker->harness->worker_path : program;
    argv[count++] = "worker";
  }
  argv[count++] = thread_text;
  argv[count++] = memory_text;
  char limits[LIMIT_COUNT][64];
  const size_t limit_count = script && !is_emulated ? 0 : limit_words(ctx, limits);
  for (size_t i = 0; i < limit_count; i++) argv[count++] = limits[i];
  struct process_options options = {
      .argv = argv, .directory = worker->dir, .fd_in = fd_in, .fd_out = fd_out, .is_offline = true};
  return start_isolated(ctx, worker, spec, &options);
}

static hone_status local_start(struct ctx *ctx, struct worker *worker,
                               const struct worker_spec *spec) {
  int to[2] = {-1, -1}, from[2] = {-1, -1};
  hone_status status = HONE_OK;
  if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
    status = fail(ctx, HONE_E_IO, place_none(), "pipe: %s", strerror(errno));
  if (!status) status = start_process(ctx, worker, spec, to[0], from[1]);
  if (to[0] >= 0) close(to[0]);
  if (from[1] >= 0) close(from[1]);
  if (status) {
    if (to[1] >= 0) close(to[1]);
    if (from[0] >= 0) close(from[0]);
    return status;
  }
  fcntl(from[0], F_SETFL, O_NONBLOCK);
  worker->command_fd = to[1];
  worker->events.fd = from[0];
  worker->pid_fd = (int)syscall(SYS_pidfd_open, worker->process.pid, 0);
  return HONE_OK;
}

/* -- talk */

static bool local_send(struct worker *worker, const char *line, size_t length) {
  return write_all(worker->command_fd, line, length);
}

static enum line_result local_receive(struct worker *worker, char **out_line, size_t *out_length) {
  return line_next(&worker->events, out_line, out_length);
}

static void local_wait(struct worker *worker, uint64_t duration_ns) {
  struct pollfd fds[3] = {{worker->events.fd, POLLIN, 0},
                          {worker->process.output_fd, POLLIN, 0},
                          {worker->pid_fd, POLLIN, 0}};
  poll(fds, 3, (int)(duration_ns / 1000000));
  /* a closed stdout would always be readable */
  if (!capture_read(&worker->output, worker->process.output_fd, 1 << 20)) usleep(1000);
}

static bool local_stop(struct worker *worker) {
  kill(-worker->process.pid, SIGSTOP);
  for (int i = 0; i < 1000; i++) {
    if (every_thread_is_stopped(worker->process.pid)) return true;
    usleep(i < 20 ? 50 : 1000);
  }
  return false;
}

static void local_resume(struct worker *worker) { kill(-worker->process.pid, SIGCONT); }

/* -- end */

static bool local_has_ended(struct worker *worker) {
  pid_t pid;
  do pid = waitpid(worker->process.pid, &worker->exit_status, WNOHANG);
  while (pid < 0 && errno == EINTR);
  if (!pid) return false;
  capture_read(&worker->output, worker->process.output_fd, 1 << 20);
  return true;
}

static void local_end(struct worker *worker, uint64_t term_grace_ns) {
  int pid = worker->process.pid;
  if (!worker_has_ended(worker)) {
    if (term_grace_ns) kill(-pid, SIGTERM);
    kill(-pid, SIGCONT);
    if (!term_grace_ns || !worker_wait_end(worker, term_grace_ns)) {
      kill(-pid, SIGKILL);
      kill(pid, SIGKILL);
      worker_wait_end(worker, KILL_NS);
    }
  }
  kill(-pid, SIGKILL);
  tree_sweep(worker->harness, worker->is_running ? pid : 0);
}

static void local_finish(struct worker *worker) {
  if (worker->command_fd >= 0) close(worker->command_fd);
  worker->command_fd = -1;
}

static void local_release(struct worker *worker) {
  local_finish(worker);
  close(worker->events.fd);
  close(worker->process.output_fd);
  if (worker->pid_fd >= 0) close(worker->pid_fd);
  line_reader_deinit(&worker->events);
}

/* -- files: the folder is shared */

static hone_status local_put(struct ctx *ctx, struct worker *worker, const char *path,
                             const char *name) {
  char to[4096 + 160];
  snprintf(to, sizeof to, "%s/%s", worker->dir, name);
  return file_copy(ctx, path, to, 0600, NULL);
}

static hone_status local_get(struct ctx *ctx, struct worker *worker, const char *name) {
  (void)ctx, (void)worker, (void)name;
  return HONE_OK;
}

static int64_t local_resident(struct worker *worker) { return tree_resident(worker->process.pid); }

const struct transport transport_local = {.name = "local",
                                          .shares_files = true,
                                          .start = local_start,
                                          .send = local_send,
                                          .receive = local_receive,
                                          .wait = local_wait,
                                          .stop = local_stop,
                                          .resume = local_resume,
                                          .has_ended = local_has_ended,
                                          .end = local_end,
                                          .finish = local_finish,
                                          .put = local_put,
                                          .get = local_get,
                                          .resident = local_resident,
                                          .release = local_release};
