/* Child tools (compiler, archiver): runs one with an argument vector and a time limit, and judges
 * it by exit status *and* product. A tool's output is untrusted: a few lines of it are included in
 * the failure.
 */
#include "core/os/os.h"
#include "toolchain_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOWN_BYTES 900 /* of the tool's output in a failure */

void argument(struct arguments *arguments, const char *word) {
  if (arguments->count < MAX_ARGUMENTS)
    arguments->at[arguments->count++] = word;
  else
    arguments->overflow = true;
}

void arguments_add(struct arguments *arguments, const char *const *words) {
  for (; *words; words++) argument(arguments, *words);
}

static bool has_product(const char *directory, const char *product) {
  char path[4200];
  struct stat status;
  snprintf(path, sizeof path, "%s/%s", directory, product);
  return !stat(path, &status) && S_ISREG(status.st_mode) && status.st_size > 0;
}

/* The first useful output, on one line: from the first line that contains "error", else from the
   start. */
static void first_words(const struct strbuf *output, char out[SHOWN_BYTES]) {
  const char *from = output->at ? output->at : "", *error = strstr(from, "error");
  while (error && error > from && error[-1] != '\n') error--;
  char line[SHOWN_BYTES];
  snprintf(line, sizeof line, "%s", error ? error : from);
  for (char *c = line; *c; c++)
    if (*c == '\n' || *c == '\t') *c = ' ';
  safe_copy(out, SHOWN_BYTES, line);
}

/* Resources that a tool lacks and another compiler would lack too, by its output. */
static const struct cause {
  const char *words;
  hone_status id;
} causes[] = {{"No space left on device", HONE_E_WRITE},
              {"Disk quota exceeded", HONE_E_WRITE},
              {"File too large", HONE_E_WRITE},
              {"File size limit exceeded", HONE_E_WRITE},
              {"Read-only file system", HONE_E_WRITE},
              {"annot allocate memory", HONE_E_OOM},
              {"ut of memory", HONE_E_OOM},
              {"emory exhausted", HONE_E_OOM},
              {"std::bad_alloc", HONE_E_OOM},
              {"failed to map segment", HONE_E_OOM},
              {"Killed signal terminated", HONE_E_OOM},
              {"Resource temporarily unavailable", HONE_E_OOM},
              {"cannot execute", HONE_E_MISSING},
              {"unable to execute command", HONE_E_MISSING},
              {"cannot find crt", HONE_E_MISSING},
              {"cannot find Scrt", HONE_E_MISSING},
              {"cannot find -l", HONE_E_MISSING},
              {"cannot find 'ld'", HONE_E_MISSING}};

/* A compiler that gets no memory may die without a message. */
static bool is_short_of_memory(const struct process_result *result, const char *words) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY) return false;
  return result->signal || strstr(words, "signal terminated program");
}

static hone_status cause_of(const struct process_result *result) {
  const char *words = result->output.at ? result->output.at : "";
  if (result->signal == SIGXFSZ) return HONE_E_WRITE;
  if (result->signal == SIGKILL || is_short_of_memory(result, words)) return HONE_E_OOM;
  for (size_t i = 0; i < COUNT(causes); i++)
    if (strstr(words, causes[i].words)) return causes[i].id;
  return HONE_E_CRASH;
}

static const char *help_for(hone_status id) {
  switch (id) {
    case HONE_E_WRITE:
      return "free space for temporary files, or name another folder with TMPDIR=FOLDER";
    case HONE_E_OOM:
      return "allow more memory and processes ('ulimit -a' shows the limits)";
    case HONE_E_MISSING:
      return "apt-get install gcc binutils libc6-dev, or name another C compiler with --cc PROGRAM";
    default:
      return OTHER_COMPILER;
  }
}

static hone_status judge(struct ctx *ctx, const char *tool, const struct process_result *result,
                         bool wrote) {
  if (!result->timed_out && !result->exit_code && !result->signal && wrote) return HONE_OK;
  if (result->timed_out)
    return advise(ctx,
                  fail(ctx, HONE_E_TIMEOUT, place_name(tool), "stopped after %.1f s",
                       (double)result->wall_ns * 1e-9),
                  OTHER_COMPILER);
  char words[SHOWN_BYTES];
  first_words(&result->output, words);
  const char *colon = words[0] ? ": " : "";
  const hone_status id = cause_of(result);
  hone_status status;
  if (result->signal)
    status = fail(ctx, id, place_name(tool), "killed by signal %d (%s)%s%s", result->signal,
                  strsignal(result->signal), colon, words);
  else if (result->exit_code)
    status = fail(ctx, id, place_name(tool), "exit code %d%s%s", result->exit_code, colon, words);
  else
    status = fail(ctx, id, place_name(tool), "exited without an error but wrote no output%s%s",
                  colon, words);
  return advise(ctx, status, "%s", help_for(id));
}

hone_status tool_run(struct ctx *ctx, const struct arguments *arguments, const char *directory,
                     uint64_t deadline_ns, const char *product, bool (*cancelled)(const void *user),
                     const void *user) {
  const char *tool = arguments->at[0];
  if (arguments->overflow)
    return fail(ctx, HONE_E_INTERNAL, place_name(tool), "more than %d arguments", MAX_ARGUMENTS);
  uint64_t now = clock_ns();
  if (now >= deadline_ns) return fail(ctx, HONE_E_TIMEOUT, place_name(tool), "no time left");
  struct process_options options = {.argv = arguments->at,
                                    .directory = directory,
                                    .fd_in = -1,
                                    .fd_out = -1,
                                    .timeout_ns = deadline_ns - now,
                                    .cancelled = cancelled,
                                    .user = user};
  struct process_result result;
  hone_status status = process_run(ctx, &options, &result);
  if (!status) status = judge(ctx, tool, &result, !product || has_product(directory, product));
  strbuf_deinit(&result.output);
  return status;
}

hone_status put_parts(struct ctx *ctx, const char *directory, const char *name,
                      const struct file_part *parts, size_t count) {
  char path[4200];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "wbe");
  if (!file) return fail(ctx, HONE_E_WRITE, place_file(path), "%s", strerror(errno));
  bool ok = true;
  for (size_t i = 0; i < count && ok; i++)
    ok = !parts[i].size || fwrite(parts[i].data, 1, parts[i].size, file) == parts[i].size;
  int error = errno;
  if (fclose(file) && ok) ok = false, error = errno;
  if (ok) return HONE_OK;
  unlink(path);
  return fail(ctx, HONE_E_WRITE, place_file(path), "%s", strerror(error));
}

hone_status put_file(struct ctx *ctx, const char *directory, const char *name, const void *data,
                     size_t size) {
  return put_parts(ctx, directory, name, &(struct file_part){data, size}, 1);
}
