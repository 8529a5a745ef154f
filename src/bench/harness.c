/* Workers and all they start. A worker leads its own process group; whatever leaves the group
 * becomes our child when its parent dies (subreaper), and is ended with the worker. A worker runs
 * only while it is asked something; between questions its group is stopped. Every way in which it
 * can end has one status: that is decided in `classify`, and nowhere else.
 *
 * Invariant: after worker_close no process remains of what the worker started.
 */
#include "bench.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TERM_GRACE_NS 2000000000ull
#define SECOND_NS 1000000000ull
#define MAX_PROCESSES 4096
#define MAX_TREE 64

/* -- /proc --------------------------------------------------------------------------------------
 */

/* The whole of a small file; its length, or -1. */
static ssize_t read_small(const char *path, char *out, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = read(fd, out, size - 1);
  close(fd);
  out[n > 0 ? n : 0] = 0;
  return n;
}

/* State letter and parent: the fields after the last ')', since a name may hold anything. */
static bool process_state(const char *path, char *out_state, int *out_parent) {
  char text[1024];
  if (read_small(path, text, sizeof text) <= 0) return false;
  char *end = strrchr(text, ')');
  return end && sscanf(end + 1, " %c %d", out_state, out_parent) == 2;
}

struct process_table {
  size_t count;
  struct {
    int pid, parent;
    bool is_target;
  } at[MAX_PROCESSES];
};

static void list_processes(struct process_table *table) {
  table->count = 0;
  DIR *folder = opendir("/proc");
  if (!folder) return;
  for (struct dirent *entry; table->count < MAX_PROCESSES && (entry = readdir(folder));) {
    int64_t pid;
    char path[64], state;
    if (!parse_i64(entry->d_name, 1, INT32_MAX, &pid)) continue;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    table->at[table->count].pid = (int)pid;
    table->at[table->count].is_target = false;
    if (process_state(path, &state, &table->at[table->count].parent)) table->count++;
  }
  closedir(folder);
}

static bool is_known(const struct harness *harness, int pid) {
  for (size_t i = 0; i < harness->known_count; i++)
    if (harness->known[i] == pid) return true;
  return false;
}
void harness_forget(struct harness *harness, int pid) {
  for (size_t i = 0; i < harness->known_count; i++)
    if (harness->known[i] == pid) harness->known[i--] = harness->known[--harness->known_count];
}

/* Marks the descendants of `root` (0: none) and of every orphan that we adopted. */
static size_t mark_targets(const struct harness *harness, struct process_table *table, int root) {
  int self = getpid();
  size_t marked = 0;
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (size_t i = 0; i < table->count; i++) {
      if (table->at[i].is_target) continue;
      bool is_target = root && table->at[i].parent == root;
      is_target |= table->at[i].parent == self && !is_known(harness, table->at[i].pid);
      for (size_t k = 0; !is_target && k < table->count; k++)
        is_target = table->at[k].is_target && table->at[k].pid == table->at[i].parent;
      if (!is_target) continue;
      table->at[i].is_target = true;
      is_changed = true;
      marked++;
    }
  }
  return marked;
}

/* Ends and reaps every descendant and orphan; a fork bomb gets several passes. */
static void sweep(struct harness *harness, int root) {
  struct process_table *table = malloc(sizeof *table);
  for (int pass = 0; table && pass < 50; pass++) {
    list_processes(table);
    if (!mark_targets(harness, table, root)) break;
    int self = getpid();
    for (size_t i = 0; i < table->count; i++)
      if (table->at[i].is_target) kill(table->at[i].pid, SIGKILL);
    for (size_t i = 0; i < table->count; i++)
      if (table->at[i].is_target && table->at[i].parent == self)
        waitpid(table->at[i].pid, NULL, pass < 2 ? WNOHANG : 0);
    if (pass) usleep(2000);
  }
  free(table);
}

static int64_t process_resident(int pid) {
  char path[64], text[128];
  long pages = 0;
  snprintf(path, sizeof path, "/proc/%d/statm", pid);
  if (read_small(path, text, sizeof text) <= 0 || sscanf(text, "%*d %ld", &pages) != 1) return -1;
  return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

/* Resident bytes of the worker and what its main thread started, as a C compiler that starts another
   process in turn. proc(5): task/TID/children. */
static int64_t tree_resident(const struct worker *worker) {
  int pids[MAX_TREE] = {worker->process.pid};
  size_t count = 1;
  int64_t sum = process_resident(pids[0]);
  for (size_t i = 0; sum >= 0 && i < count; i++) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pids[i], pids[i]);
    const int64_t own = i ? process_resident(pids[i]) : 0;
    if (own > 0) sum += own;
    if (read_small(path, text, sizeof text) <= 0) continue;
    for (char *at = text, *end; count < MAX_TREE; at = end) {
      long pid = strtol(at, &end, 10);
      if (end == at || pid <= 0) break;
      pids[count++] = (int)pid;
    }
  }
  return sum;
}

/* -- harness ------------------------------------------------------------------------------------
 */

void harness_begin(struct harness *harness) {
  harness->known_count = 0;
  harness->was_subreaper = 0;
  prctl(PR_GET_CHILD_SUBREAPER, &harness->was_subreaper);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  struct sigaction ignore = {.sa_handler = SIG_IGN};
  sigaction(SIGPIPE, &ignore, &harness->old_pipe); /* a dead worker is seen by its status */
  struct process_table *table = malloc(sizeof *table);
  if (!table) return;
  list_processes(table);
  for (size_t i = 0; i < table->count; i++) /* children that the caller had before are not ours */
    if (table->at[i].parent == getpid() && harness->known_count < HARNESS_MAX_CHILDREN)
      harness->known[harness->known_count++] = table->at[i].pid;
  free(table);
}

void harness_finish(struct harness *harness) {
  sweep(harness, 0);
  prctl(PR_SET_CHILD_SUBREAPER, harness->was_subreaper);
  sigaction(SIGPIPE, &harness->old_pipe, NULL);
}

/* -- start --------------------------------------------------------------------------------------
 */

static hone_status start_process(struct ctx *ctx, struct worker *worker,
                                 const struct worker_spec *spec, const int to[2],
                                 const int from[2]) {
  char self[4096], thread_text[24], memory_text[32];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (!worker->harness->worker_path && n <= 0)
    return fail(ctx, HONE_E_IO, place_none(), "/proc/self/exe: %s", strerror(errno));
  if (n > 0) self[n] = 0;
  snprintf(thread_text, sizeof thread_text, "%d", spec->threads);
  snprintf(memory_text, sizeof memory_text, "%llu",
           (unsigned long long)worker->harness->memory_bytes);
  const char *path = worker->harness->worker_path ? worker->harness->worker_path : self;
  const char *argv[] = {spec->program ? spec->program : path,
                        spec->program ? spec->script : "worker", thread_text, memory_text, NULL};
  const struct process_options options = {.argv = argv,
                                          .directory = worker->dir,
                                          .extra_environment = spec->environment,
                                          .fd_in = to[0],
                                          .fd_out = from[1]};
  return process_start(ctx, &options, &worker->process);
}

hone_status worker_start(struct ctx *ctx, struct harness *harness, const struct worker_spec *spec,
                         struct worker *out) {
  *out = (struct worker){.harness = harness, .command_fd = -1, .pid_fd = -1, .events.fd = -1};
  snprintf(out->dir, sizeof out->dir, "%s", spec->dir);
  snprintf(out->cell, sizeof out->cell, "%s", spec->cell);
  if (harness->known_count == HARNESS_MAX_CHILDREN)
    return fail(ctx, HONE_E_LIMIT, place_none(), "more than %d workers", HARNESS_MAX_CHILDREN);
  TRY(dir_create(ctx, spec->dir));
  TRY(capture_init(ctx, &out->output, 0));
  int to[2] = {-1, -1}, from[2] = {-1, -1};
  hone_status status = HONE_OK;
  if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
    status = fail(ctx, HONE_E_IO, place_none(), "pipe: %s", strerror(errno));
  if (!status) status = start_process(ctx, out, spec, to, from);
  if (to[0] >= 0) close(to[0]);
  if (from[1] >= 0) close(from[1]);
  if (status) {
    if (to[1] >= 0) close(to[1]);
    if (from[0] >= 0) close(from[0]);
    capture_deinit(&out->output);
    return status;
  }
  fcntl(from[0], F_SETFL, O_NONBLOCK);
  out->command_fd = to[1];
  out->events.fd = from[0];
  out->pid_fd = (int)syscall(SYS_pidfd_open, out->process.pid, 0);
  out->is_running = true;
  harness->known[harness->known_count++] = out->process.pid;
  return HONE_OK;
}

/* -- stop and continue --------------------------------------------------------------------------
 */

static bool every_thread_stands(int pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *folder = opendir(path);
  if (!folder) return false;
  bool stands = true;
  for (struct dirent *entry; stands && (entry = readdir(folder));) {
    char stat_path[400], state;
    int parent;
    if (entry->d_name[0] == '.') continue;
    snprintf(stat_path, sizeof stat_path, "/proc/%d/task/%s/stat", pid, entry->d_name);
    stands = process_state(stat_path, &state, &parent) && strchr("TtZX", state);
  }
  closedir(folder);
  return stands;
}

bool worker_stop(struct worker *worker) {
  if (!worker->is_running) return true;
  kill(-worker->process.pid, SIGSTOP);
  worker->is_stopped = true;
  for (int i = 0; i < 1000; i++) {
    if (every_thread_stands(worker->process.pid)) return true;
    usleep(i < 20 ? 50 : 1000);
  }
  return false;
}

static void worker_continue(struct worker *worker) {
  if (worker->is_running && worker->is_stopped) kill(-worker->process.pid, SIGCONT);
  worker->is_stopped = false;
}

/* -- end ----------------------------------------------------------------------------------------
 */

/* True once it is gone and reaped. */
static bool reap(struct worker *worker) {
  if (!worker->is_running) return true;
  pid_t pid;
  do pid = waitpid(worker->process.pid, &worker->exit_status, WNOHANG);
  while (pid < 0 && errno == EINTR);
  if (!pid) return false;
  worker->is_running = false;
  harness_forget(worker->harness, worker->process.pid);
  return true;
}

/* Waits for its end and keeps its output flowing meanwhile. */
static bool wait_gone(struct worker *worker, uint64_t duration_ns) {
  uint64_t deadline = clock_ns() + duration_ns;
  while (!reap(worker)) {
    uint64_t now = clock_ns();
    if (now >= deadline) return false;
    struct pollfd fds[2] = {{worker->pid_fd, POLLIN, 0}, {worker->process.output_fd, POLLIN, 0}};
    uint64_t left_ms = (deadline - now) / 1000000 + 1;
    poll(fds, 2, left_ms < 20 ? (int)left_ms : 20);
    capture_read(&worker->output, worker->process.output_fd, 1 << 20);
  }
  return true;
}

/* SIGTERM, 2 s, SIGKILL; then everything that it started, in or out of its group. */
static void worker_kill(struct worker *worker, uint64_t term_grace_ns) {
  int pid = worker->process.pid;
  if (!reap(worker)) {
    if (term_grace_ns) kill(-pid, SIGTERM);
    kill(-pid, SIGCONT);
    if (!term_grace_ns || !wait_gone(worker, term_grace_ns)) {
      kill(-pid, SIGKILL);
      kill(pid, SIGKILL);
      wait_gone(worker, SECOND_NS);
    }
  }
  kill(-pid, SIGKILL);
  sweep(worker->harness, worker->is_running ? pid : 0);
}

bool worker_close(struct worker *worker, uint64_t grace_ns) {
  if (!worker->process.pid) return true;
  worker_continue(worker);
  if (worker->command_fd >= 0) close(worker->command_fd); /* the end of commands */
  bool is_clean = grace_ns && wait_gone(worker, grace_ns) && WIFEXITED(worker->exit_status) &&
                  !WEXITSTATUS(worker->exit_status);
  worker_kill(worker, TERM_GRACE_NS);
  close(worker->events.fd);
  close(worker->process.output_fd);
  if (worker->pid_fd >= 0) close(worker->pid_fd);
  line_reader_deinit(&worker->events);
  capture_deinit(&worker->output);
  dir_remove_tree(worker->dir);
  worker->process.pid = 0;
  return is_clean;
}

/* -- ask ----------------------------------------------------------------------------------------
 */

static void PRINTF(3, 4)
    set_end(struct worker_end *end, enum record_status status, const char *format, ...) {
  end->status = status;
  va_list args;
  va_start(args, format);
  vsnprintf(end->reason, sizeof end->reason, format, args);
  va_end(args);
}

/* The last words on stdout and stderr, for the reason. */
static void last_words(const struct worker *worker, char out[400]) {
  struct text text = {0}, safe = {0};
  capture_text(&worker->output, &text);
  out[0] = 0;
  if (text.at && text.length) {
    size_t keep = text.length < 300 ? text.length : 300;
    text_put_safe(&safe, text.at + text.length - keep, 380);
    if (safe.at) snprintf(out, 400, "%s", safe.at);
  }
  text_deinit(&text);
  text_deinit(&safe);
}

static const char *signal_name(int number) {
  const char *name = sigabbrev_np(number);
  return name ? name : "?";
}

/* The worker is gone without an answer. */
static void classify(struct worker *worker, size_t unfinished, struct worker_end *end) {
  char words[400];
  last_words(worker, words);
  if (WIFSIGNALED(worker->exit_status)) {
    set_end(end, STATUS_crashed, "killed by SIG%s%s%s", signal_name(WTERMSIG(worker->exit_status)),
            words[0] ? "; its last words: " : "", words);
  } else if (unfinished) {
    set_end(end, STATUS_protocol_error, "ended in the middle of a line");
  } else {
    set_end(end, STATUS_error, "exited with code %d and no result%s%s",
            WEXITSTATUS(worker->exit_status), words[0] ? "; its last words: " : "", words);
  }
}

/* True while it may go on. */
static bool within_limits(struct worker *worker, uint64_t deadline, struct worker_end *end) {
  const struct harness *harness = worker->harness;
  int64_t resident = tree_resident(worker);
  if (resident > worker->rss_peak_seen) worker->rss_peak_seen = resident;
  if (harness->memory_bytes && resident > (int64_t)harness->memory_bytes) {
    set_end(end, STATUS_out_of_memory, "%lld MB resident, the limit is %llu MB (--memory-limit)",
            (long long)(resident / 1000000), (unsigned long long)(harness->memory_bytes / 1000000));
  } else if (harness->deadline_ns && clock_ns() >= harness->deadline_ns) {
    set_end(end, STATUS_timeout, "no answer within the reference's budget (--reference-budget)");
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
/* One line of the worker: an answer, a stage, or the end of the conversation. */
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
  if (strcmp(message_text(event, "cell"), worker->cell)) {
    set_end(end, STATUS_protocol_error, "a message for another cell");
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

/* Waits for something to happen, at most as long as the kind of question allows. */
static void wait_event(struct worker *worker, enum ask_kind kind, uint64_t deadline) {
  struct pollfd fds[3] = {{worker->events.fd, POLLIN, 0},
                          {worker->process.output_fd, POLLIN, 0},
                          {worker->pid_fd, POLLIN, 0}};
  uint64_t now = clock_ns(), left = deadline > now ? (deadline - now) / 1000000 + 1 : 0;
  uint64_t step = kind == ASK_TIMED ? 250 : 20;
  /* a closed stdout would be readable for ever: it is read, not waited for, during a slice */
  poll(fds, 3, (int)(left < step ? left : step));
  if (!capture_read(&worker->output, worker->process.output_fd, 1 << 20)) usleep(1000);
}

static json_t *converse(struct worker *worker, const char *expected, enum ask_kind kind,
                        struct worker_end *end) {
  uint64_t deadline =
      worker->harness->timeout_ns ? clock_ns() + worker->harness->timeout_ns : UINT64_MAX;
  enum record_stage stage = worker->stage;
  for (;;) {
    bool is_gone = reap(worker); /* before reading: what it wrote before its end still counts */
    char *line;
    size_t length;
    enum line_result result = line_next(&worker->events, &line, &length);
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
    } else if (is_gone || (result == LINE_END && wait_gone(worker, SECOND_NS))) {
      capture_read(&worker->output, worker->process.output_fd, 1 << 20);
      classify(worker, length, end);
      return NULL;
    } else if (result == LINE_END) {
      set_end(end, STATUS_protocol_error, "closed its end and did not exit");
      return NULL;
    } else {
      wait_event(worker, kind, deadline);
      if (!within_limits(worker, deadline, end)) return NULL;
    }
  }
}

void worker_tell(struct worker *worker, json_t *command) {
  if (command) json_object_set_new(command, "cell", json_string(worker->cell));
  worker_continue(worker);
  message_write(worker->command_fd, command); /* if it is gone, worker_hear says how it ended */
}

/* An answer whose outputs are judged here is completed with the judgement; false if it ends the cell. */
static bool judge_answer(struct worker *worker, json_t *answer, struct worker_end *end) {
  struct accuracy accuracy;
  int verified;
  const json_t *checks = json_object_get(answer, "checks");
  if (!checks) return true;
  end->stage = STAGE_verify;
  if (!judge_checks(worker, checks, &accuracy, &verified)) {
    set_end(end, STATUS_protocol_error, "its outputs are not what its message says");
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
  if (answer && judge_answer(worker, answer, out_end)) return answer;
  json_decref(answer);
  if (out_end->stage == STAGE_none) out_end->stage = worker->stage;
  worker_kill(worker, out_end->status == STATUS_out_of_memory ? 0 : TERM_GRACE_NS);
  return NULL;
}

json_t *worker_ask(struct worker *worker, json_t *command, const char *expected, enum ask_kind kind,
                   struct worker_end *out_end) {
  char *line;
  size_t length;
  if (line_next(&worker->events, &line, &length) == LINE_READY) {
    json_decref(command);
    *out_end = (struct worker_end){.stage = worker->stage, .rel_l2 = NAN};
    set_end(out_end, STATUS_protocol_error, "spoke without being asked");
    worker_kill(worker, TERM_GRACE_NS);
    return NULL;
  }
  if (!command) { /* a text that JSON cannot hold, or no memory: waiting for a reply would be long
                   */
    *out_end = (struct worker_end){.stage = worker->stage, .rel_l2 = NAN};
    set_end(out_end, STATUS_error, "cannot be asked: a text is not UTF-8, or memory is short");
    worker_kill(worker, TERM_GRACE_NS);
    return NULL;
  }
  worker_tell(worker, command);
  return worker_hear(worker, expected, kind, out_end);
}
