/* Children without a shell. A program is started from an argument vector in its own process group,
 * with an allow-listed environment and no inherited descriptors except the named ones; the head and
 * tail of its output are kept; at the time limit the whole group gets SIGTERM, 2 s later SIGKILL.
 *
 * Invariant: between fork and exec only async-signal-safe calls run, so a caller with threads may
 * start children. The kernel kills a child that outlives its starter (PR_SET_PDEATHSIG). */
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_OUTPUT_LIMIT (64u << 10)
#define TERM_GRACE_NS 2000000000ull
#define CHILD_IN 3
#define CHILD_OUT 4

/* Environment variables that tools may see. LD_*, CC and similar ones are removed: they change
 * results. */
static const char *const allowed_environment[] = {
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LOGNAME",
    "NO_PROXY",
    "PATH",
    "PIP_CERT",
    "PIP_CONFIG_FILE",
    "PIP_FIND_LINKS",
    "PIP_INDEX_URL",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "http_proxy",
    "https_proxy",
    "no_proxy",
};
static const char *const allowed_prefixes[] = {"ASAN_", "HONE_", "LSAN_", "UBSAN_"};

static bool is_allowed(const char *entry) {
  for (size_t i = 0; i < COUNT(allowed_environment); i++) {
    size_t length = strlen(allowed_environment[i]);
    if (!strncmp(entry, allowed_environment[i], length) && entry[length] == '=') return true;
  }
  for (size_t i = 0; i < COUNT(allowed_prefixes); i++)
    if (!strncmp(entry, allowed_prefixes[i], strlen(allowed_prefixes[i]))) return true;
  return false;
}

#define PATH_ROOM 64

/* "PATH=", `first`, and the absolute entries of `path`: a tool must not run programs of the current
 * folder, and without any PATH gcc does not find its own parts. out has room for both and
 * PATH_ROOM. */
static char *clean_path(const char *first, const char *path, char *out) {
  const size_t start = 5 + (first ? strlen(first) : 0);
  size_t used = start;
  memcpy(out, "PATH=", 6);
  if (first) memcpy(out + 5, first, start - 5);
  for (const char *at = path ? path : ""; *at;) {
    size_t length = strcspn(at, ":");
    if (*at == '/') {
      if (used > 5) out[used++] = ':';
      memcpy(out + used, at, length);
      used += length;
    }
    at += length + (at[length] == ':');
  }
  static const char otherwise[] = ":/usr/local/bin:/usr/bin:/bin";
  const char *last = used > start ? "" : otherwise + !first;
  memcpy(out + used, last, strlen(last) + 1);
  return out;
}

/* True if one of `extra` has the entry's name. */
static bool is_replaced(const char *const *extra, const char *entry) {
  const size_t length = strcspn(entry, "=") + 1;
  for (; extra && *extra; extra++)
    if (!strncmp(*extra, entry, length)) return true;
  return false;
}

/* Makes tools print messages in one language and one number format. The array is malloc'ed. */
static char **clean_environment(const char *const *extra, const char *path_first) {
  size_t count = 0, extra_count = 0;
  while (extra && extra[extra_count]) extra_count++;
  while (environ && environ[count]) count++;
  const char *path = getenv("PATH");
  const size_t room = count + extra_count + 3;
  char **result = calloc(1, room * sizeof *result + strlen(path ? path : "") +
                                strlen(path_first ? path_first : "") + PATH_ROOM);
  if (!result) return NULL;
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (is_allowed(environ[i]) && strncmp(environ[i], "PATH=", 5) &&
        !is_replaced(extra, environ[i]))
      result[kept++] = environ[i];
  if (!is_replaced(extra, "PATH="))
    result[kept++] = clean_path(path_first, path, (char *)(result + room));
  if (!is_replaced(extra, "LC_ALL=")) result[kept++] = (char *)(uintptr_t) "LC_ALL=C.UTF-8";
  for (size_t i = 0; i < extra_count; i++) result[kept++] = (char *)(uintptr_t)extra[i];
  return result;
}

/* Absolute path of a program: with a slash from the current folder, else the first executable in PATH. */
static bool find_program(const char *name, char *out, size_t size) {
  if (strchr(name, '/')) {
    char here[4096] = "";
    /* the child may run in another folder */
    if (name[0] != '/' && !getcwd(here, sizeof here)) return false;
    int n = snprintf(out, size, "%s%s%s", here, *here ? "/" : "", name);
    return n > 0 && (size_t)n < size && !access(out, X_OK);
  }
  const char *path = getenv("PATH");
  if (!path || !*path) path = "/usr/local/bin:/usr/bin:/bin";
  for (const char *at = path; *at;) {
    size_t length = strcspn(at, ":");
    int n = snprintf(out, size, "%.*s/%s", (int)length, at, name);
    /* a relative entry would run programs of the current folder */
    if (at[0] == '/' && n > 0 && (size_t)n < size && !access(out, X_OK)) return true;
    at += length + (at[length] == ':');
  }
  return false;
}

static hone_status system_failure(struct ctx *ctx, const char *what) {
  return fail(ctx, errno == ENOMEM || errno == EAGAIN ? HONE_E_OOM : HONE_E_IO, place_none(),
              "%s: %s", what, strerror(errno));
}

/* -- head and tail */

hone_status capture_init(struct ctx *ctx, struct capture *capture, size_t limit) {
  *capture = (struct capture){.limit = limit ? limit : DEFAULT_OUTPUT_LIMIT};
  capture->head = malloc(capture->limit);
  capture->tail = malloc(capture->limit);
  if (capture->head && capture->tail) return HONE_OK;
  capture_deinit(capture);
  return fail(ctx, HONE_E_OOM, place_none(), "no memory to keep the output of a child");
}

void capture_deinit(struct capture *capture) {
  free(capture->head);
  free(capture->tail);
  *capture = (struct capture){0};
}

void capture_add(struct capture *capture, const char *bytes, size_t length) {
  capture->total += length;
  size_t head = capture->limit - capture->head_length;
  if (head > length) head = length;
  if (head) memcpy(capture->head + capture->head_length, bytes, head);
  capture->head_length += head;
  bytes += head;
  length -= head;
  if (length > capture->limit) {
    bytes += length - capture->limit;
    length = capture->limit;
  }
  while (length) {
    size_t room = capture->limit - capture->tail_at;
    size_t part = length < room ? length : room;
    memcpy(capture->tail + capture->tail_at, bytes, part);
    capture->tail_at = (capture->tail_at + part) % capture->limit;
    capture->tail_length += part;
    bytes += part;
    length -= part;
  }
  if (capture->tail_length > capture->limit) capture->tail_length = capture->limit;
}

bool capture_read(struct capture *capture, int fd, size_t max) {
  char buffer[16384];
  while (max) {
    ssize_t n = read(fd, buffer, max < sizeof buffer ? max : sizeof buffer);
    if (n > 0) {
      capture_add(capture, buffer, (size_t)n);
      max -= (size_t)n;
    } else if (n == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
  return true;
}

void capture_text(const struct capture *capture, struct strbuf *out) {
  strbuf_append(out, capture->head, capture->head_length);
  uint64_t kept = capture->head_length + capture->tail_length;
  if (capture->total > kept)
    strbuf_printf(out, "\n[... %llu bytes left out ...]\n",
                  (unsigned long long)(capture->total - kept));
  /* the ring starts at tail_at once it is full, at 0 before */
  size_t start = capture->tail_length == capture->limit ? capture->tail_at : 0;
  size_t first = capture->tail_length - start;
  if (start) {
    strbuf_append(out, capture->tail + start, first);
    strbuf_append(out, capture->tail, start);
  } else {
    strbuf_append(out, capture->tail, first);
  }
}

/* -- start */

struct start {
  const char *program;
  char *const *argv, *const *environment;
  const char *directory;
  int null_fd, output_fd, fd_in, fd_out, error_fd;
  bool on_standard, is_offline;
  char id_maps[2][64]; /* user and group id maps of a user namespace: each id maps to itself */
  pid_t parent;
};

/* Duplicates to a number above the fixed ones, so that no dup2 below overwrites a source. */
static int dup_high(int fd) { return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 10); }

static void reset_signals(void) {
  static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGTERM,
                                SIGALRM, SIGUSR1, SIGUSR2, SIGCHLD, SIGTSTP,
                                SIGTTIN, SIGTTOU, SIGBUS,  SIGSEGV, SIGXFSZ};
  for (size_t i = 0; i < COUNT(signals); i++) signal(signals[i], SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

static void write_file(const char *path, const char *text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  ssize_t ignored = write(fd, text, strlen(text));
  (void)ignored;
  close(fd);
}

/* Enters a network namespace whose only device is the loopback; without the right to create one,
 * inside a user namespace with identical ids. If neither is allowed, the network stays. */
static void leave_network(const struct start *start) {
  if (unshare(CLONE_NEWNET)) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET)) return;
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", start->id_maps[0]);
    write_file("/proc/self/gid_map", start->id_maps[1]);
  }
  struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  ioctl(fd, SIOCSIFFLAGS, &loopback);
  close(fd);
}

/* In the child: only async-signal-safe calls; does not return. */
static void exec_child(const struct start *start) {
  /* own group, so that it can be stopped as a whole; own session, so that it is scheduled as one */
  setsid();
  if (start->is_offline) leave_network(start);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != start->parent) _exit(127);
  reset_signals();
  int null_fd = dup_high(start->null_fd), output = dup_high(start->output_fd);
  int in = dup_high(start->fd_in), out = dup_high(start->fd_out), error = dup_high(start->error_fd);
  if (error >= 0 && dup2(null_fd, 0) == 0 && dup2(output, 1) == 1 && dup2(output, 2) == 2) {
    if (start->on_standard) {
      dup2(in, 0);
      dup2(out, 1);
      in = out = -1;
    }
    if (in >= 0) dup2(in, CHILD_IN);
    if (out >= 0) dup2(out, CHILD_OUT);
    /* marks every other descriptor close-on-exec */
    syscall(SYS_close_range, in >= 0 || out >= 0 ? CHILD_OUT + 1 : CHILD_IN, ~0u, 4u);
    if (out < 0) close(CHILD_OUT);
    if (in < 0) close(CHILD_IN);
    if (!start->directory || !chdir(start->directory))
      execve(start->program, start->argv, start->environment);
  }
  int code = errno;
  ssize_t ignored = write(error >= 0 ? error : start->error_fd, &code, sizeof code);
  (void)ignored;
  _exit(127);
}

/* Waits until exec succeeded (the pipe closes) or reports why it failed. */
static hone_status wait_for_exec(struct ctx *ctx, const struct start *start, pid_t pid,
                                 int error_fd) {
  int code = 0;
  ssize_t n;
  do n = read(error_fd, &code, sizeof code);
  while (n < 0 && errno == EINTR);
  if (n != (ssize_t)sizeof code) return HONE_OK;
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
  return fail(ctx, code == ENOENT || code == EACCES ? HONE_E_MISSING : HONE_E_IO,
              place_name(start->program), "cannot run it: %s", strerror(code));
}

static hone_status fork_child(struct ctx *ctx, struct start *start, struct process *out) {
  int output[2], error[2];
  if (pipe2(output, O_CLOEXEC)) return system_failure(ctx, "pipe");
  if (pipe2(error, O_CLOEXEC)) {
    close(output[0]);
    close(output[1]);
    return system_failure(ctx, "pipe");
  }
  start->output_fd = output[1];
  start->error_fd = error[1];
  start->parent = getpid();
  pid_t pid = fork();
  if (!pid) exec_child(start);
  close(output[1]);
  close(error[1]);
  hone_status status = HONE_OK;
  if (pid < 0) {
    status = system_failure(ctx, "fork");
  } else {
    status = wait_for_exec(ctx, start, pid, error[0]);
  }
  close(error[0]);
  if (status) {
    close(output[0]);
    return status;
  }
  fcntl(output[0], F_SETFL, O_NONBLOCK);
  *out = (struct process){.pid = pid, .output_fd = output[0]};
  return HONE_OK;
}

hone_status process_start(struct ctx *ctx, const struct process_options *options,
                          struct process *out) {
  char program[4096];
  if (!options->argv || !options->argv[0] ||
      !find_program(options->argv[0], program, sizeof program))
    return fail(ctx, HONE_E_MISSING,
                place_name(options->argv && options->argv[0] ? options->argv[0] : ""),
                "program not found");
  char **clean =
      options->environ_ ? NULL : clean_environment(options->extra_environment, options->path_first);
  if (!options->environ_ && !clean)
    return fail(ctx, HONE_E_OOM, place_none(), "no memory for an environment");
  int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  struct start start = {
      .program = program,
      .argv = (char *const *)(uintptr_t)options->argv,
      .environment = clean ? clean : (char *const *)(uintptr_t)options->environ_,
      .directory = options->directory,
      .null_fd = null_fd,
      .fd_in = options->fd_in,
      .fd_out = options->fd_out,
      .on_standard = options->on_standard,
      .is_offline = options->is_offline,
  };
  snprintf(start.id_maps[0], sizeof start.id_maps[0], "%u %u 1", geteuid(), geteuid());
  snprintf(start.id_maps[1], sizeof start.id_maps[1], "%u %u 1", getegid(), getegid());
  hone_status status =
      null_fd < 0 ? system_failure(ctx, "/dev/null") : fork_child(ctx, &start, out);
  if (null_fd >= 0) close(null_fd);
  free(clean);
  return status;
}

/* -- run to the end */

struct run {
  struct process process;
  struct capture capture;
  uint64_t start_ns, deadline_ns; /* 0: none */
  bool terminated, timed_out, output_open;
  bool (*cancelled)(const void *user);
  const void *user;
};

/* Milliseconds until the next event; without pidfd the child's end is polled. */
static int wait_ms(const struct run *run, bool has_pidfd) {
  int limit = !has_pidfd ? 10 : run->cancelled ? 20 : 60000;
  if (!run->deadline_ns) return limit;
  uint64_t now = clock_ns();
  if (now >= run->deadline_ns) return 0;
  uint64_t left = (run->deadline_ns - now) / 1000000 + 1;
  return left < (uint64_t)limit ? (int)left : limit;
}

/* First SIGTERM, later SIGKILL, both to the whole group. */
static void enforce_deadline(struct run *run) {
  if (!run->deadline_ns || clock_ns() < run->deadline_ns) return;
  kill(-run->process.pid, run->terminated ? SIGKILL : SIGTERM);
  run->timed_out = true;
  run->terminated = true;
  run->deadline_ns = clock_ns() + TERM_GRACE_NS;
}

static void wait_for_end(struct run *run, int *out_status, struct rusage *out_usage) {
  int pidfd = (int)syscall(SYS_pidfd_open, run->process.pid, 0);
  for (;;) {
    struct pollfd fds[2] = {{run->output_open ? run->process.output_fd : -1, POLLIN, 0},
                            {pidfd, POLLIN, 0}};
    poll(fds, 2, wait_ms(run, pidfd >= 0));
    if (run->output_open)
      run->output_open = capture_read(&run->capture, run->process.output_fd, 1 << 20);
    pid_t done = wait4(run->process.pid, out_status, WNOHANG, out_usage);
    if (done == run->process.pid || (done < 0 && errno != EINTR)) break;
    if (run->cancelled && run->cancelled(run->user)) kill(-run->process.pid, SIGKILL);
    enforce_deadline(run);
  }
  if (pidfd >= 0) close(pidfd);
}

hone_status process_run(struct ctx *ctx, const struct process_options *options,
                        struct process_result *out) {
  *out = (struct process_result){.exit_code = -1};
  struct run run = {.start_ns = clock_ns(),
                    .output_open = true,
                    .cancelled = options->cancelled,
                    .user = options->user};
  TRY(capture_init(ctx, &run.capture, options->output_limit));
  hone_status status = process_start(ctx, options, &run.process);
  if (status) {
    capture_deinit(&run.capture);
    return status;
  }
  if (options->timeout_ns) run.deadline_ns = run.start_ns + options->timeout_ns;
  int code = 0;
  struct rusage usage = {0};
  wait_for_end(&run, &code, &usage);
  kill(-run.process.pid, SIGKILL); /* kills what it left running in its group */
  if (run.output_open) capture_read(&run.capture, run.process.output_fd, 1 << 20);
  close(run.process.output_fd);
  out->wall_ns = clock_ns() - run.start_ns;
  out->timed_out = run.timed_out;
  if (WIFEXITED(code)) out->exit_code = WEXITSTATUS(code);
  if (WIFSIGNALED(code)) out->signal = WTERMSIG(code);
  /* the kernel also counts our own pages before exec: an upper bound for small programs */
  out->peak_rss_bytes = usage.ru_maxrss * 1024;
  capture_text(&run.capture, &out->output);
  capture_deinit(&run.capture);
  return strbuf_finish(ctx, &out->output);
}
