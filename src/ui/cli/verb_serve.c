/* hone serve: runs the dashboard until a signal ends it. */
#include "compiler/generate/generate.h"
#include "ui/serve/serve.h"
#include "cli.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { TOKEN_LEAST = 16, TOKEN_MOST = 200 };

/* The first line of the file; its characters need no escape in any format. */
static hone_status read_token(struct ctx *ctx, const struct args *args, char out[TOKEN_MOST + 2],
                              const char **out_token) {
  const char *path = value_of(args, FLAG_token_file, NULL);
  *out_token = NULL;
  if (!path) return HONE_OK;
  if (!read_line(path, out, TOKEN_MOST + 2))
    return fail(ctx, HONE_E_NOFILE, place_file(path), "cannot be read");
  const size_t n = strlen(out);
  const char *plain = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._~";
  if (n < TOKEN_LEAST || n > TOKEN_MOST || strspn(out, plain) != n)
    return fail(ctx, HONE_E_USAGE, place_file(path),
                "the first line must be a token of %d to %d letters, digits and -._~", TOKEN_LEAST,
                TOKEN_MOST);
  *out_token = out;
  return HONE_OK;
}

static bool knows_bundles(void) {
  char spelling[64];
  for (int flag = 0; flag < FLAG_ID_COUNT; flag++)
    if (!strcmp(flag_spelling((enum flag_id)flag, spelling), "--bundle") &&
        flag_is_of((enum flag_id)flag, "recommend"))
      return true;
  return false;
}

/* "200MB" or "4G". */
static hone_status bytes_of(struct ctx *ctx, const struct args *args, enum flag_id flag,
                            uint64_t otherwise, uint64_t *out) {
  static const struct {
    const char *suffix;
    double factor;
  } suffixes[] = {{"MB", 1e6}, {"GB", 1e9}, {"kB", 1e3}, {"M", 1e6},
                  {"G", 1e9},  {"K", 1e3},  {"", 1}};
  const char *text = value_of(args, flag, NULL);
  char number[32], spelling[64];
  double value = 0, factor = 1;
  *out = otherwise;
  if (!text) return HONE_OK;
  size_t n = strlen(text);
  for (size_t i = 0; i < COUNT(suffixes); i++) {
    const size_t tail = strlen(suffixes[i].suffix);
    if (n <= tail || strcmp(text + n - tail, suffixes[i].suffix)) continue;
    n -= tail;
    factor = suffixes[i].factor;
    break;
  }
  snprintf(number, sizeof number, "%.*s", (int)(n < 31 ? n : 31), text);
  if (n > 31 || !parse_f64(number, 0, 1e15, &value))
    return fail(ctx, HONE_E_USAGE, place_name(flag_spelling(flag, spelling)),
                "\"%.60s\" is not a size such as 200MB or 4G", text);
  *out = (uint64_t)(value * factor);
  return HONE_OK;
}

static hone_status read_options(struct ctx *ctx, const struct args *args,
                                char token[TOKEN_MOST + 2], char program[4096],
                                struct serve_options *out) {
  int64_t port;
  TRY(int_of(ctx, args, FLAG_port, 0, 65535, 8090, &port));
  *out = (struct serve_options){.port = (int)port,
                                .address = value_of(args, FLAG_address, NULL),
                                .store = value_of(args, FLAG_store, NULL),
                                .folder = value_of(args, FLAG_folder, NULL),
                                .program = program,
                                .has_bundles = knows_bundles()};
  TRY(bytes_of(ctx, args, FLAG_max_upload, 1000000000, &out->upload_bytes));
  TRY(bytes_of(ctx, args, FLAG_max_disk, 8000000000, &out->disk_bytes));
  TRY(read_token(ctx, args, token, &out->token));
  const ssize_t n = readlink("/proc/self/exe", program, 4095);
  if (n <= 0) return fail(ctx, HONE_E_IO, place_none(), "/proc/self/exe cannot be read");
  program[n] = 0;
  return HONE_OK;
}

static void notice(void *user, const char *text) {
  (void)user;
  fprintf(stderr, "hone: %s\n", text);
}

/* The language model of --model; NULL: none. */
static hone_status open_model(struct ctx *ctx, const struct args *args,
                              struct hone_generator **out) {
  struct generator_options options = {.notice = notice};
  const char *path;
  *out = NULL;
  if (!args->word_count) return HONE_OK;
  TRY(one_word(ctx, args, "a GGUF file", &path));
  TRY(read_compile_options(ctx, args, &options.compile));
  TRY(int_of(ctx, args, FLAG_context, 1, 1 << 17, 0, &options.context));
  return generator_open(ctx, path, &options, out);
}

/* The server's threads inherit the blocked signals; this thread waits for them. */
int verb_serve(struct ctx *ctx, struct args *args) {
  static char token[TOKEN_MOST + 2], program[4096];
  struct serve_options options = {.generator = NULL};
  struct server *server = NULL;
  sigset_t ends;
  int which = 0;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGHUP);
  sigprocmask(SIG_BLOCK, &ends, NULL);
  hone_status status = read_options(ctx, args, token, program, &options);
  if (!status) status = open_model(ctx, args, &options.generator);
  if (!status) status = serve_start(ctx, &options, &server);
  if (status) {
    generator_close(options.generator);
    return report_failure(ctx);
  }
  if (options.token && options.address)
    fprintf(stderr, "hone: warning: connections are not encrypted: use ssh or a TLS proxy\n");
  printf("%s\n", serve_url(server));
  fflush(stdout);
  sigwait(&ends, &which);
  serve_stop(server);
  generator_close(options.generator);
  return 0;
}
