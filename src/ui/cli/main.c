/* The hone program. A verb that reads a model runs in a supervised child process (supervise.c). */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
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

/* Opens descriptors 0 to 2 if they are closed, so that no other file gets their numbers. */
static void hold_standard_descriptors(void) {
  for (int fd = 0; fd < 3; fd++)
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
        open("/dev/null", fd ? O_WRONLY : O_RDONLY) != fd)
      _exit(74);
}

/* hone's stack use is bounded, but larger than the smallest limit that can be set. */
static hone_status check_stack(struct ctx *ctx) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= LEAST_STACK) return HONE_OK;
  return fail(ctx, HONE_E_OOM, place_none(), "a stack of %llu kB is too small: 'ulimit -s %d'",
              (unsigned long long)limit.rlim_cur / 1000, LEAST_STACK >> 10);
}

/* --timeout of bench limits a stage of a worker process, and each configuration has its own worker. */
static int run_verb(struct ctx *ctx, const struct verb *verb, struct args *args) {
  double seconds = 0;
  const bool is_limited = has(args, FLAG_timeout) && strcmp(verb->name, "bench") != 0;
  if (is_limited && number_of(ctx, args, FLAG_timeout, 0.001, 1e6, 0, &seconds))
    return report_failure(ctx);
  if (is_limited && has(args, FLAG_no_fork)) {
    REFUSE(ctx, HONE_E_USAGE, place_name("--timeout"),
           "needs the child process, which --no-fork disables");
    return report_failure(ctx);
  }
  return (verb->touches_model || is_limited) && !has(args, FLAG_no_fork)
             ? supervise(ctx, verb, args, seconds)
             : verb->run(ctx, args);
}

int main(int argc, char **argv) {
  static struct ctx ctx;
  static struct args args;
  hold_standard_descriptors();
  if (argc > 1 && !strcmp(argv[1], "worker")) return worker_main(argc, argv);
  if (argc > 1 && !strcmp(argv[1], "agent")) return agent_main(argc, argv);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN); /* of 'ulimit -f': then write() fails instead */
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
  return finish_output(run_verb(&ctx, verb, &args));
}
