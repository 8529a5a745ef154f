/* hone: the command. Verbs that touch a model run in one forked child, whose death is an error. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEAST_STACK = 1 << 20 };

static void print_warning(void *user, const char *message) {
  (void)user;
  fprintf(stderr, "hone: warning: %s\n", message);
}

static int unknown_verb(struct ctx *ctx, const char *word) {
  const char *best = nearest_verb(word);
  REFUSE(ctx, HONE_E_USAGE, place_name(word), "no such verb%s%s%s", best ? "; did you mean " : "",
         best ? best : "", best ? "?" : "");
  return report_failure(ctx);
}

/* What the death of the child means. */
static int child_died(struct ctx *ctx, int signal) {
  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP)
    REFUSE(ctx, HONE_E_INTERRUPTED, place_none(), "stopped by %s", strsignal(signal));
  else if (signal == SIGBUS)
    REFUSE(ctx, HONE_E_IO, place_none(), "a file that was being read became shorter");
  else if (signal == SIGKILL)
    REFUSE(ctx, HONE_E_OOM, place_none(), "the process was killed, most often for lack of memory");
  else
    REFUSE(ctx, HONE_E_CRASH, place_none(), "the process died by signal %d (%s)", signal,
           strsignal(signal));
  if (ctx->status == HONE_E_CRASH)
    hint(ctx, "report it with the model; --no-fork keeps it in one process, for a debugger");
  return report_failure(ctx);
}

/* A full disk or a closed reader behind stdout is an error, not silence. */
static int finish_output(int code) {
  if (fflush(stdout) || ferror(stdout)) {
    if (errno == EPIPE) return code ? code : 74;
    fprintf(stderr, "hone: E_WRITE: cannot write the standard output: %s\n", strerror(errno));
    return code ? code : 73;
  }
  return code;
}

static volatile sig_atomic_t child_pid;

static void pass_on(int signal) { kill(child_pid, signal); }

/* The child answers Ctrl-C itself; what is sent to this process alone is handed on to it. */
static void watch_signals(pid_t pid) {
  struct sigaction action = {.sa_handler = pass_on};
  child_pid = pid;
  signal(SIGINT, SIG_IGN);
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGHUP, &action, NULL);
}

/* Kills what the child left running, a C compiler for one: as its subreaper this process inherits
   every orphan, and orphans of those in the next turn. */
static void end_orphans(void) {
  for (int turn = 0; turn < 100; turn++) {
    char path[64], list[4096];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, list, sizeof list - 1);
    if (fd >= 0) close(fd);
    if (n <= 0) return;
    list[n] = 0;
    for (char *at = list, *end; *at; at = end + strspn(end, " ")) {
      long pid = strtol(at, &end, 10);
      if (end == at) break;
      kill((pid_t)pid, SIGKILL);
      while (waitpid((pid_t)pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
  }
}

static void be_child(struct ctx *ctx, const struct verb *verb, struct args *args, pid_t parent,
                     const char *folder) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(130);
  if (*folder) setenv("TMPDIR", folder, 1);
  int code = finish_output(verb->run(ctx, args));
  fflush(NULL);
  _exit(code);
}

/* Whatever way the child ends, its temporary files and its own children go with it. */
static int run_in_child(struct ctx *ctx, const struct verb *verb, struct args *args) {
  char folder[4096];
  pid_t parent = getpid();
  if (dir_temporary(ctx, folder)) folder[0] = 0; /* a verb that needs one says so itself */
  ctx_clear(ctx);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  fflush(NULL);
  pid_t pid = fork();
  if (!pid) be_child(ctx, verb, args, parent, folder);
  int status = 0, error = errno;
  if (pid > 0) {
    watch_signals(pid);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    end_orphans();
  }
  if (*folder) dir_remove_tree(folder);
  if (pid < 0) {
    REFUSE(ctx, HONE_E_OOM, place_none(), "cannot fork: %s", strerror(error));
    return report_failure(ctx);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : child_died(ctx, WTERMSIG(status));
}

/* Descriptors 0 to 2 exist, so that no file of ours ever gets their numbers. */
static void hold_standard_descriptors(void) {
  for (int fd = 0; fd < 3; fd++)
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
        open("/dev/null", fd ? O_WRONLY : O_RDONLY) != fd)
      _exit(74);
}

/* hone's frames are bounded, but not as small as the least stack that the system can be told. */
static hone_status check_stack(struct ctx *ctx) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= LEAST_STACK) return HONE_OK;
  return fail(ctx, HONE_E_OOM, place_none(), "a stack of %llu kB is too small: 'ulimit -s %d'",
              (unsigned long long)limit.rlim_cur / 1000, LEAST_STACK >> 10);
}

int main(int argc, char **argv) {
  static struct ctx ctx;
  static struct args args;
  hold_standard_descriptors();
  if (argc > 1 && !strcmp(argv[1], "worker")) return worker_main(argc, argv);
  if (argc > 1 && !strcmp(argv[1], "agent")) return agent_main(argc, argv);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN); /* 'ulimit -f': then write() says so */
  ctx_init(&ctx);
  limit_to_memory(&ctx, usable_ram_bytes());
  ctx.warn = print_warning;
  if (argc < 2) {
    args.verb = "help";
    return finish_output(verb_help(&ctx, &args));
  }
  const char *word = argv[1];
  if (!strcmp(word, "--version")) {
    printf("hone %s\n", hone_version());
    return finish_output(0);
  }
  if (!strcmp(word, "--help") || !strcmp(word, "-h")) word = "help";
  const struct verb *verb = verb_find(word);
  if (!verb) return unknown_verb(&ctx, word);
  for (int i = 2; i < argc && strcmp(argv[i], "--"); i++)
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
      args.words[args.word_count++] = verb->name;
      return finish_output(verb_help(&ctx, &args));
    }
  ctx.verb = verb->name;
  if (args_parse(&ctx, argc, argv, verb, &args) || apply_limits(&ctx, &args) ||
      (verb->touches_model && check_stack(&ctx)))
    return report_failure(&ctx);
  int code = verb->touches_model && !has(&args, FLAG_no_fork) ? run_in_child(&ctx, verb, &args)
                                                              : verb->run(&ctx, &args);
  return finish_output(code);
}
