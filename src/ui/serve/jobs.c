/* jobs: uploaded models, and `hone recommend` for each, one after the other.
 *
 * A job is a folder FOLDER/ID with model/NAME, job.json, log.txt, answer.json and bundle.tar. An upload is a file without a
 * name until it is complete, so a killed upload leaves nothing. The folder is made as .ID and then renamed, so a job is
 * complete or does not exist; folders .ID are removed at the next start. One thread runs the queue, because two measurements
 * at the same time disturb each other; its child process dies with it. flock allows one server for each folder.
 */
#include "core/os/os.h"
#include "serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FREE_AT_LEAST = 256 << 20, ROOM = 4096 + 400 };

struct jobs {
  struct server *server;
  const struct serve_options *options;
  char folder[4096];
  int lock_fd, uploads; /* in progress */
  uint64_t promised;    /* their bytes */
  pthread_mutex_t lock;
  pthread_cond_t more;
  pthread_t runner;
  bool has_runner, is_ending, ends_running;
  struct entry {
    struct job job;
    struct strbuf log;
  } at[JOBS_MOST]; /* oldest first */
  size_t count;
};

static const char *const state_texts[] = {"queued", "running",   "done",
                                          "failed", "cancelled", "interrupted"};
const char *job_state_text(enum job_state state) {
  return state < JOB_STATE_COUNT ? state_texts[state] : "?";
}
const char *jobs_folder(const struct jobs *jobs) { return jobs->folder; }

static void path_of(const struct jobs *jobs, const char *id, const char *name, char out[ROOM]) {
  snprintf(out, ROOM, "%s/%s%s%s", jobs->folder, id, *name ? "/" : "", name);
}

/* -- job.json */

static MUST_USE hone_status write_job(struct ctx *ctx, const struct jobs *jobs, const char *folder,
                                      const struct job *job) {
  char path[ROOM];
  json_t *words = json_array();
  for (int i = 0; i < job->word_count; i++)
    json_array_append_new(words, json_string(job->words[i]));
  json_t *root =
      json_pack("{s:s, s:s, s:s, s:i, s:I, s:I, s:o}", "id", job->id, "name", job->name, "state",
                job_state_text(job->state), "exit_code", job->exit_code, "created_unix_ms",
                (json_int_t)job->created_unix_ms, "bytes", (json_int_t)job->bytes, "words", words);
  char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
  path_of(jobs, folder, "job.json", path);
  const hone_status status =
      text ? file_write_atomic(ctx, path, text, strlen(text), 0600)
           : fail(ctx, HONE_E_OOM, place_none(), "no memory for the record of an upload");
  free(text);
  json_decref(root);
  return status;
}

static bool read_words(const json_t *list, struct job *out) {
  out->word_count = 0;
  for (size_t i = 0; i < json_array_size(list) && i < JOB_WORDS; i++) {
    const char *word = json_string_value(json_array_get(list, i));
    if (!word || strlen(word) >= sizeof out->words[0]) return false;
    snprintf(out->words[out->word_count++], sizeof out->words[0], "%s", word);
  }
  return true;
}

static bool read_job(const struct jobs *jobs, const char *id, struct job *out) {
  char path[ROOM];
  path_of(jobs, id, "job.json", path);
  json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
  const char *name = json_string_value(json_object_get(root, "name")),
             *state = json_string_value(json_object_get(root, "state"));
  *out = (struct job){0};
  bool fits = name && state && read_words(json_object_get(root, "words"), out);
  if (fits) {
    snprintf(out->id, sizeof out->id, "%.16s", id);
    slug(out->name, name);
    out->exit_code = (int)json_integer_value(json_object_get(root, "exit_code"));
    out->created_unix_ms = (uint64_t)json_integer_value(json_object_get(root, "created_unix_ms"));
    out->bytes = (uint64_t)json_integer_value(json_object_get(root, "bytes"));
    while (out->state < JOB_STATE_COUNT && strcmp(state, state_texts[out->state])) out->state++;
    fits = out->state < JOB_STATE_COUNT;
  }
  json_decref(root);
  return fits;
}

static void read_log(const struct jobs *jobs, struct entry *entry) {
  char path[ROOM], *bytes = malloc(JOB_LOG);
  path_of(jobs, entry->job.id, "log.txt", path);
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  const ssize_t n = fd >= 0 && bytes ? read(fd, bytes, JOB_LOG) : 0;
  if (n > 0) strbuf_append(&entry->log, bytes, (size_t)n);
  if (fd >= 0) close(fd);
  free(bytes);
}

static int by_age(const void *a, const void *b) {
  const struct entry *x = a, *y = b;
  return (x->job.created_unix_ms > y->job.created_unix_ms) -
         (x->job.created_unix_ms < y->job.created_unix_ms);
}

static bool is_id(const char *name) {
  return strlen(name) == 16 && strspn(name, "0123456789abcdef") == 16;
}

/* Reads the jobs of an earlier server: unfinished ones become interrupted, and incomplete folders are removed. Other files in
   the folder are ignored. */
static void read_jobs(struct ctx *ctx, struct jobs *jobs) {
  DIR *dir = opendir(jobs->folder);
  for (const struct dirent *at; dir && (at = readdir(dir));) {
    char path[ROOM];
    path_of(jobs, at->d_name, "", path);
    if (at->d_name[0] == '.' && is_id(at->d_name + 1)) dir_remove_tree(path);
    if (!is_id(at->d_name) || jobs->count == JOBS_MOST) continue;
    struct entry *entry = &jobs->at[jobs->count];
    if (!read_job(jobs, at->d_name, &entry->job)) continue;
    jobs->count++;
    read_log(jobs, entry);
    if (entry->job.state != JOB_queued && entry->job.state != JOB_running) continue;
    entry->job.state = JOB_interrupted;
    if (write_job(ctx, jobs, entry->job.id, &entry->job)) ctx_clear(ctx);
  }
  if (dir) closedir(dir);
  qsort(jobs->at, jobs->count, sizeof jobs->at[0], by_age);
}

/* -- queries */

static bool is_busy(const struct job *job) {
  return job->state == JOB_queued || job->state == JOB_running;
}

static struct entry *find(struct jobs *jobs, const char *id) {
  for (size_t i = 0; i < jobs->count; i++)
    if (!strcmp(jobs->at[i].job.id, id)) return &jobs->at[i];
  return NULL;
}

size_t jobs_list(struct jobs *jobs, struct job out[JOBS_MOST]) {
  pthread_mutex_lock(&jobs->lock);
  const size_t count = jobs->count;
  for (size_t i = 0; i < count; i++) out[i] = jobs->at[count - 1 - i].job;
  pthread_mutex_unlock(&jobs->lock);
  return count;
}

bool jobs_find(struct jobs *jobs, const char *id, struct job *out) {
  pthread_mutex_lock(&jobs->lock);
  const struct entry *entry = find(jobs, id);
  if (entry) *out = entry->job;
  pthread_mutex_unlock(&jobs->lock);
  return entry;
}

size_t jobs_log(struct jobs *jobs, const char *id, size_t from, struct strbuf *out) {
  pthread_mutex_lock(&jobs->lock);
  const struct entry *entry = find(jobs, id);
  const size_t length = entry ? entry->log.length : 0;
  if (from < length) strbuf_append(out, entry->log.at + from, length - from);
  pthread_mutex_unlock(&jobs->lock);
  return length > from ? length : from;
}

/* -- running */

enum { ARGV = 16 + JOB_WORDS };
struct command {
  const char *argv[ARGV];
  char model[ROOM], answer[ROOM], bundle[ROOM];
};

static void make_command(const struct jobs *jobs, const struct job *job, struct command *out) {
  size_t n = 0;
  char inside[80];
  snprintf(inside, sizeof inside, "model/%s", job->name);
  path_of(jobs, job->id, inside, out->model);
  path_of(jobs, job->id, "answer.json", out->answer);
  path_of(jobs, job->id, "bundle", out->bundle);
  out->argv[n++] = jobs->options->program;
  out->argv[n++] = "recommend";
  out->argv[n++] = out->model;
  out->argv[n++] = "--json";
  out->argv[n++] = out->answer;
  if (jobs->options->store) out->argv[n++] = "--store", out->argv[n++] = jobs->options->store;
  if (jobs->options->has_bundles) out->argv[n++] = "--bundle", out->argv[n++] = out->bundle;
  for (int i = 0; i < job->word_count; i++) out->argv[n++] = job->words[i];
  out->argv[n] = NULL;
}

/* Copies the child's output to the log, up to the log's limit. */
static void take_output(struct jobs *jobs, const char *id, int fd, bool *open) {
  char bytes[4096];
  ssize_t n = -1;
  while (*open && (n = read(fd, bytes, sizeof bytes)) != 0) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    pthread_mutex_lock(&jobs->lock);
    struct entry *entry = find(jobs, id);
    const size_t room = entry ? JOB_LOG - entry->log.length : 0;
    if (room) strbuf_append(&entry->log, bytes, (size_t)n < room ? (size_t)n : room);
    pthread_mutex_unlock(&jobs->lock);
    server_wake(jobs->server);
  }
  if (n == 0) *open = false;
}

static int wait_for(struct jobs *jobs, const struct job *job, const struct process *child) {
  bool is_open = true;
  int code = 0;
  for (;;) {
    struct pollfd fds = {is_open ? child->output_fd : -1, POLLIN, 0};
    poll(&fds, 1, 100);
    if (is_open) take_output(jobs, job->id, child->output_fd, &is_open);
    pthread_mutex_lock(&jobs->lock);
    const bool ends = jobs->ends_running || jobs->is_ending;
    pthread_mutex_unlock(&jobs->lock);
    if (ends) kill(-child->pid, SIGKILL);
    const pid_t done = waitpid(child->pid, &code, WNOHANG);
    if (done == child->pid || (done < 0 && errno != EINTR)) break;
  }
  kill(-child->pid, SIGKILL); /* processes that it left in its process group */
  if (is_open) take_output(jobs, job->id, child->output_fd, &is_open);
  close(child->output_fd);
  return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

static void write_message(struct jobs *jobs, const char *id, const char *words) {
  pthread_mutex_lock(&jobs->lock);
  struct entry *entry = find(jobs, id);
  if (entry) strbuf_printf(&entry->log, "%s\n", words);
  pthread_mutex_unlock(&jobs->lock);
}

/* The tar file is made once; a copy for each download would use disk space that --max-disk does not count. */
static void pack_bundle(struct jobs *jobs, const struct job *job, const char *folder) {
  struct ctx ctx;
  char name[80], path[ROOM];
  ctx_init(&ctx);
  snprintf(name, sizeof name, "bundle-%s", job->name);
  path_of(jobs, job->id, "bundle.tar", path);
  if (tar_folder(&ctx, folder, name, path)) write_message(jobs, job->id, ctx.message);
  dir_remove_tree(folder);
}

/* True if recommend measured something, by its exit code: a choice, none that meets the constraints, or undecided. */
static bool is_answer(int exit_code) { return exit_code == 0 || exit_code == 1 || exit_code == 5; }

static enum job_state run_job(struct jobs *jobs, struct job *job) {
  struct ctx ctx;
  struct command *command = calloc(1, sizeof *command);
  struct process child;
  job->exit_code = -1;
  if (!command) return JOB_failed;
  ctx_init(&ctx);
  make_command(jobs, job, command);
  const struct process_options options = {
      .argv = command->argv, .environ_ = (const char *const *)environ, .fd_in = -1, .fd_out = -1};
  enum job_state state = JOB_failed;
  if (process_start(&ctx, &options, &child)) {
    write_message(jobs, job->id, ctx.message);
  } else {
    job->exit_code = wait_for(jobs, job, &child);
    if (is_answer(job->exit_code) && !access(command->answer, R_OK)) state = JOB_done;
    if (!access(command->bundle, R_OK)) pack_bundle(jobs, job, command->bundle);
  }
  free(command);
  return state;
}

/* Writes the final log and state. */
static void keep(struct jobs *jobs, const struct job *job) {
  struct ctx ctx;
  struct strbuf log = {0};
  char path[ROOM];
  ctx_init(&ctx);
  (void)jobs_log(jobs, job->id, 0, &log);
  path_of(jobs, job->id, "log.txt", path);
  if (file_write_atomic(&ctx, path, log.at ? log.at : "", log.length, 0600)) ctx_clear(&ctx);
  strbuf_deinit(&log);
  if (write_job(&ctx, jobs, job->id, job)) write_message(jobs, job->id, ctx.message);
}

static struct entry *next_queued(struct jobs *jobs) {
  for (size_t i = 0; i < jobs->count; i++)
    if (jobs->at[i].job.state == JOB_queued) return &jobs->at[i];
  return NULL;
}

static void *run_queue(void *user) {
  struct jobs *jobs = user;
  pthread_mutex_lock(&jobs->lock);
  while (!jobs->is_ending) {
    struct entry *entry = next_queued(jobs);
    if (!entry) {
      pthread_cond_wait(&jobs->more, &jobs->lock);
      continue;
    }
    entry->job.state = JOB_running;
    struct job job = entry->job;
    jobs->ends_running = false;
    pthread_mutex_unlock(&jobs->lock);
    server_wake(jobs->server);
    const enum job_state state = run_job(jobs, &job);
    pthread_mutex_lock(&jobs->lock);
    job.state = jobs->ends_running ? JOB_cancelled : jobs->is_ending ? JOB_interrupted : state;
    pthread_mutex_unlock(&jobs->lock);
    keep(jobs, &job);
    pthread_mutex_lock(&jobs->lock);
    if ((entry = find(jobs, job.id))) entry->job = job;
    pthread_mutex_unlock(&jobs->lock);
    server_wake(jobs->server);
    pthread_mutex_lock(&jobs->lock);
  }
  pthread_mutex_unlock(&jobs->lock);
  return NULL;
}

bool jobs_end(struct jobs *jobs, const char *id) {
  pthread_mutex_lock(&jobs->lock);
  struct entry *entry = find(jobs, id);
  const bool runs = entry && entry->job.state == JOB_running;
  const bool waits = entry && entry->job.state == JOB_queued;
  if (runs) jobs->ends_running = true;
  if (waits) entry->job.state = JOB_cancelled;
  const struct job job = entry ? entry->job : (struct job){0};
  pthread_mutex_unlock(&jobs->lock);
  if (waits) keep(jobs, &job);
  if (waits) server_wake(jobs->server);
  return runs || waits;
}

/* Removed from the list first, so that no request finds a job while it is removed. */
static bool forget(struct jobs *jobs, const char *id) {
  struct entry *entry = find(jobs, id);
  if (!entry || is_busy(&entry->job)) return false;
  char path[ROOM], aside[ROOM], name[24];
  strbuf_deinit(&entry->log);
  const size_t at = (size_t)(entry - jobs->at);
  memmove(entry, entry + 1, (jobs->count - at - 1) * sizeof *entry);
  jobs->count--;
  memset(&jobs->at[jobs->count], 0, sizeof jobs->at[0]);
  snprintf(name, sizeof name, ".%.16s", id);
  path_of(jobs, id, "", path);
  path_of(jobs, name, "", aside);
  if (!rename(path, aside)) dir_remove_tree(aside);
  return true;
}

bool jobs_forget(struct jobs *jobs, const char *id) {
  char copy[17];
  snprintf(copy, sizeof copy, "%.16s", id);
  pthread_mutex_lock(&jobs->lock);
  const bool is_gone = forget(jobs, copy);
  pthread_mutex_unlock(&jobs->lock);
  return is_gone;
}

/* -- uploads */

struct upload {
  struct jobs *jobs;
  struct job job;
  int fd;
  uint64_t expected;
  bool is_promised;
};

/* Removes the oldest ended jobs until there is room; none if that would not be enough. */
static MUST_USE hone_status free_folder(struct ctx *ctx, struct jobs *jobs, uint64_t bytes) {
  uint64_t busy_bytes = jobs->promised;
  for (size_t i = 0; i < jobs->count; i++)
    if (is_busy(&jobs->at[i].job)) busy_bytes += jobs->at[i].job.bytes;
  size_t oldest = 0;
  while (oldest < jobs->count && busy_bytes + bytes <= jobs->options->disk_bytes &&
         (jobs->count + (size_t)jobs->uploads >= JOBS_MOST ||
          dir_bytes(jobs->folder) + jobs->promised + bytes > jobs->options->disk_bytes)) {
    char id[17];
    memcpy(id, jobs->at[oldest].job.id, sizeof id);
    if (!forget(jobs, id)) oldest++;
  }
  if (jobs->count + (size_t)jobs->uploads < JOBS_MOST &&
      dir_bytes(jobs->folder) + jobs->promised + bytes <= jobs->options->disk_bytes)
    return HONE_OK;
  return fail(ctx, HONE_E_WRITE, place_none(), "no room for %llu bytes within --max-disk",
              (unsigned long long)bytes);
}

static MUST_USE hone_status make_room(struct ctx *ctx, struct jobs *jobs, uint64_t bytes) {
  struct statvfs disk;
  size_t waiting = (size_t)jobs->uploads;
  for (size_t i = 0; i < jobs->count; i++) waiting += is_busy(&jobs->at[i].job);
  if (waiting >= JOBS_WAITING)
    return fail(ctx, HONE_E_BUSY, place_none(), "%zu models are waiting already; try again later",
                waiting);
  TRY(free_folder(ctx, jobs, bytes));
  if (statvfs(jobs->folder, &disk) ||
      (uint64_t)disk.f_bavail * disk.f_frsize < jobs->promised + 2 * bytes + FREE_AT_LEAST)
    return fail(ctx, HONE_E_WRITE, place_none(), "the disk has no space for %llu bytes",
                (unsigned long long)bytes);
  return HONE_OK;
}

/* The error by errno; a full disk is reported to the client. */
static MUST_USE hone_status not_kept(struct ctx *ctx) {
  const bool is_full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  return fail(ctx, is_full ? HONE_E_WRITE : HONE_E_IO, place_none(),
              "an upload cannot be stored: %s", strerror(errno));
}

hone_status upload_begin(struct ctx *ctx, struct jobs *jobs, const struct job *job, uint64_t bytes,
                         struct upload **out) {
  *out = NULL;
  if (bytes == 0) return fail(ctx, HONE_E_USAGE, place_none(), "the file is empty");
  if (bytes > jobs->options->upload_bytes)
    return fail(ctx, HONE_E_LIMIT, place_none(),
                "%llu bytes are more than the %llu of --max-upload", (unsigned long long)bytes,
                (unsigned long long)jobs->options->upload_bytes);
  struct upload *upload = calloc(1, sizeof *upload);
  if (!upload) return fail(ctx, HONE_E_OOM, place_none(), "no memory for an upload");
  *upload = (struct upload){.jobs = jobs, .job = *job, .fd = -1, .expected = bytes};
  pthread_mutex_lock(&jobs->lock);
  hone_status status = make_room(ctx, jobs, bytes);
  if (!status) {
    jobs->uploads++;
    jobs->promised += bytes;
    upload->is_promised = true;
  }
  pthread_mutex_unlock(&jobs->lock);
  if (!status) {
    upload->fd = open(jobs->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (upload->fd < 0) status = not_kept(ctx);
  }
  if (status) {
    upload_drop(upload);
    return status;
  }
  *out = upload;
  return HONE_OK;
}

hone_status upload_add(struct ctx *ctx, struct upload *upload, const void *data, size_t size) {
  if (size > upload->expected - upload->job.bytes)
    return fail(ctx, HONE_E_LIMIT, place_none(), "more bytes than Content-Length");
  if (!write_all(upload->fd, data, size)) return not_kept(ctx);
  upload->job.bytes += size;
  return HONE_OK;
}

/* Links the file under its name into the new folder. */
static MUST_USE hone_status name_upload(struct ctx *ctx, const struct upload *upload,
                                        const char *hidden) {
  char folder[ROOM], model[ROOM + 80], source[64], final[ROOM];
  path_of(upload->jobs, hidden, "model", folder);
  TRY(dir_create(ctx, folder));
  snprintf(model, sizeof model, "%s/%s", folder, upload->job.name);
  snprintf(source, sizeof source, "/proc/self/fd/%d", upload->fd);
  if (fsync(upload->fd) || linkat(AT_FDCWD, source, AT_FDCWD, model, AT_SYMLINK_FOLLOW))
    return not_kept(ctx);
  TRY(write_job(ctx, upload->jobs, hidden, &upload->job));
  path_of(upload->jobs, hidden, "", folder);
  path_of(upload->jobs, upload->job.id, "", final);
  return rename(folder, final) ? not_kept(ctx) : HONE_OK;
}

hone_status upload_finish(struct ctx *ctx, struct upload *upload, char out_id[17]) {
  struct jobs *jobs = upload->jobs;
  unsigned char random[8];
  char hidden[24], path[ROOM];
  if (upload->job.bytes != upload->expected)
    return fail(ctx, HONE_E_USAGE, place_none(), "fewer bytes than Content-Length");
  if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
    return fail(ctx, HONE_E_IO, place_none(), "no random numbers: %s", strerror(errno));
  for (size_t i = 0; i < sizeof random; i++) snprintf(upload->job.id + 2 * i, 3, "%02x", random[i]);
  upload->job.created_unix_ms = clock_unix_ms();
  snprintf(hidden, sizeof hidden, ".%s", upload->job.id);
  const hone_status status = name_upload(ctx, upload, hidden);
  if (status) {
    path_of(jobs, hidden, "", path);
    dir_remove_tree(path);
    return status;
  }
  pthread_mutex_lock(&jobs->lock);
  jobs->at[jobs->count++] = (struct entry){.job = upload->job};
  jobs->uploads--;
  jobs->promised -= upload->expected;
  upload->is_promised = false;
  pthread_cond_signal(&jobs->more);
  pthread_mutex_unlock(&jobs->lock);
  memcpy(out_id, upload->job.id, 17);
  return HONE_OK;
}

void upload_drop(struct upload *upload) {
  if (!upload) return;
  pthread_mutex_lock(&upload->jobs->lock);
  if (upload->is_promised) {
    upload->jobs->uploads--;
    upload->jobs->promised -= upload->expected;
  }
  pthread_mutex_unlock(&upload->jobs->lock);
  if (upload->fd >= 0) close(upload->fd);
  free(upload);
}

/* -- start and end */

static MUST_USE hone_status open_folder(struct ctx *ctx, struct jobs *jobs) {
  char data[4096], path[ROOM];
  if (jobs->options->folder) {
    snprintf(jobs->folder, sizeof jobs->folder, "%s", jobs->options->folder);
  } else {
    TRY(dir_user(ctx, "data", data));
    if (snprintf(jobs->folder, sizeof jobs->folder, "%s/serve", data) >=
        (int)sizeof jobs->folder - 100)
      return fail(ctx, HONE_E_USAGE, place_none(), "the path of the data folder is too long");
  }
  TRY(dir_create(ctx, jobs->folder));
  path_of(jobs, "lock", "", path);
  jobs->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (jobs->lock_fd < 0)
    return fail(ctx, HONE_E_WRITE, place_file(path), "cannot be made: %s", strerror(errno));
  if (!flock(jobs->lock_fd, LOCK_EX | LOCK_NB)) return HONE_OK;
  return advise(
      ctx, fail(ctx, HONE_E_BUSY, place_file(jobs->folder), "another hone serve uses this folder"),
      "give another folder with --folder DIR");
}

hone_status jobs_open(struct ctx *ctx, struct server *server, struct jobs **out) {
  struct jobs *jobs = calloc(1, sizeof *jobs);
  if (!jobs) return fail(ctx, HONE_E_OOM, place_none(), "no memory for the uploads");
  jobs->server = server;
  jobs->options = server_facts(server).options;
  jobs->lock_fd = -1;
  pthread_mutex_init(&jobs->lock, NULL);
  pthread_cond_init(&jobs->more, NULL);
  const hone_status status = open_folder(ctx, jobs);
  if (status) {
    jobs_close(jobs);
    return status;
  }
  read_jobs(ctx, jobs);
  jobs->has_runner = !pthread_create(&jobs->runner, NULL, run_queue, jobs);
  *out = jobs;
  if (jobs->has_runner) return HONE_OK;
  jobs_close(jobs);
  *out = NULL;
  return fail(ctx, HONE_E_OOM, place_none(), "no thread for the queue");
}

void jobs_close(struct jobs *jobs) {
  if (!jobs) return;
  pthread_mutex_lock(&jobs->lock);
  jobs->is_ending = true;
  pthread_cond_signal(&jobs->more);
  pthread_mutex_unlock(&jobs->lock);
  if (jobs->has_runner) pthread_join(jobs->runner, NULL);
  for (size_t i = 0; i < jobs->count; i++) strbuf_deinit(&jobs->at[i].log);
  if (jobs->lock_fd >= 0) close(jobs->lock_fd);
  pthread_cond_destroy(&jobs->more);
  pthread_mutex_destroy(&jobs->lock);
  free(jobs);
}
