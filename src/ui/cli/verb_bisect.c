/* hone bisect: which commit of a range, or which build of a list, made it slower. A program decides each one: exit code
 * 0 good, 125 cannot say, 1 to 127 bad, above: stop; as for `git bisect run`. A verdict that may be wrong is asked again
 * until the answer is sure enough.
 */
#include "core/stats/stats.h"
#include "cli.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

#define ERROR_SHARE 0.05
#define SURE 0.99
#define GIT_NS 600000000000ull
enum { MOST_STATES = 65536, MOST_ASKED = 1000, SKIP = 125, STOP = 128 };

struct bisect {
  struct ctx *ctx;
  const struct args *args;
  struct arena *arena;
  struct sinks sinks;
  char program[4096]; /* that decides */
  char self[4096];
  char repository[4096], tree[4096]; /* of commits: where they are, where one is laid out */
  const char **states; /* commits, oldest first, or builds; 0 is good, the last is bad */
  size_t count;        /* of states, without number 0 */
  struct bisection search;
  double sure;
  json_t *log;
  bool is_range;
};

static void say(const struct bisect *b, const char *format, ...) PRINTF(2, 3);
static void say(const struct bisect *b, const char *format, ...) {
  va_list args;
  if (has(b->args, FLAG_quiet)) return;
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
}

/* -- git */

/* Output of git in the repository; E_CRASH with its words. */
static hone_status git(struct bisect *b, const char *const *words, struct strbuf *out) {
  const char *argv[24] = {"git", "-C", b->repository};
  struct process_result result;
  size_t n = 3;
  for (; *words && n < COUNT(argv) - 1; words++) argv[n++] = *words;
  const struct process_options options = {.argv = argv,
                                          .environ_ = (const char *const *)environ,
                                          .fd_in = -1,
                                          .fd_out = -1,
                                          .timeout_ns = GIT_NS,
                                          .output_limit = 8u << 20};
  TRY(process_run(b->ctx, &options, &result));
  hone_status status = HONE_OK;
  if (result.exit_code || result.signal) {
    char said[600];
    safe_copy(said, sizeof said, result.output.at ? result.output.at : "no words");
    status = fail(b->ctx, HONE_E_USAGE, place_name(argv[3]), "git: %s", said);
  }
  if (!status && out)
    *out = result.output;
  else
    strbuf_deinit(&result.output);
  return status;
}

static hone_status read_range(struct bisect *b, const char *range) {
  const char *dots = strstr(range, "..");
  const char *first = NULL;
  struct strbuf list = {0}, base = {0};
  TRY(arena_string(b->ctx, b->arena, range, (size_t)(dots - range), &first));
  if (*first == '-') return fail(b->ctx, HONE_E_USAGE, place_name(range), "is no range of commits");
  const char *const parse[] = {"rev-parse", "--verify", "--end-of-options", first, NULL};
  const char *const revisions[] = {"rev-list",         "--reverse", "--first-parent",
                                   "--end-of-options", range,       NULL};
  TRY(git(b, parse, &base));
  hone_status status = git(b, revisions, &list);
  size_t count = 0;
  if (!status) status = NEW_ARRAY(b->ctx, b->arena, b->states, MOST_STATES + 1);
  if (!status)
    status = arena_string(b->ctx, b->arena, base.at, strcspn(base.at, "\n"), &b->states[0]);
  for (const char *p = list.at ? list.at : ""; !status && *p;
       p += strcspn(p, "\n"), p += *p == '\n') {
    if (++count > MOST_STATES)
      status = fail(b->ctx, HONE_E_LIMIT, place_name(range), "more than %d commits", MOST_STATES);
    else
      status = arena_string(b->ctx, b->arena, p, strcspn(p, "\n"), &b->states[count]);
  }
  strbuf_deinit(&list);
  strbuf_deinit(&base);
  b->count = count;
  return status;
}

/* A clone that shares the repository's objects, so that nothing is ever written there: not even an end by a signal leaves
   anything behind. */
static hone_status make_clone(struct bisect *b) {
  const char *const where[] = {"rev-parse", "--path-format=absolute", "--git-common-dir", NULL};
  struct strbuf from = {0};
  TRY(git(b, where, &from));
  from.at[strcspn(from.at, "\n")] = 0;
  const char *const words[] = {"clone", "--quiet", "--shared", "--no-checkout",
                               "--",    from.at,   b->tree,    NULL};
  const hone_status status = git(b, words, NULL);
  strbuf_deinit(&from);
  return status;
}

static hone_status lay_out(struct bisect *b, const char *commit) {
  const char *const move[] = {"-C", b->tree, "checkout", "--quiet", "--detach", commit, NULL};
  return git(b, move, NULL);
}

/* -- one verdict */

/* Without --run: hone gate, this state's build against the first one. */
static size_t gate_words(const struct bisect *b, const char *state, const char **argv) {
  static const enum flag_id flags[] = {FLAG_threads, FLAG_fail_above, FLAG_pairs, FLAG_turn};
  static char spellings[4][64];
  size_t n = 0;
  argv[n++] = b->self, argv[n++] = "gate", argv[n++] = "--base-build", argv[n++] = b->states[0];
  argv[n++] = "--new-build", argv[n++] = state, argv[n++] = "-q";
  for (size_t i = 0; i < COUNT(flags); i++)
    if (has(b->args, flags[i])) {
      argv[n++] = flag_spelling(flags[i], spellings[i]);
      argv[n++] = value_of(b->args, flags[i], "");
    }
  for (size_t i = 0; i < b->args->repeated[FLAG_on].count; i++)
    argv[n++] = b->args->repeated[FLAG_on].at[i];
  return n;
}

static hone_status ask(struct bisect *b, size_t i, int *out_code) {
  const char *argv[REPEATS + 32] = {b->program, b->states[i]};
  struct process_result result;
  if (b->is_range) TRY(lay_out(b, b->states[i]));
  if (!b->program[0]) argv[gate_words(b, b->states[i], argv)] = NULL;
  const struct process_options options = {.argv = argv,
                                          .environ_ = (const char *const *)environ,
                                          .directory = b->is_range ? b->tree : NULL,
                                          .fd_in = -1,
                                          .fd_out = -1};
  TRY(process_run(b->ctx, &options, &result));
  *out_code = result.signal ? STOP + result.signal : result.exit_code;
  /* a gate that could not decide, or could not run, says nothing of the build */
  if (!b->program[0] && *out_code > 1)
    *out_code = *out_code == 5 || *out_code >= 64 ? SKIP : *out_code;
  const char *slash = strrchr(b->states[i], '/');
  say(b, "%.40s: %s", b->is_range || !slash ? b->states[i] : slash + 1,
      *out_code == 0      ? "good"
      : *out_code == SKIP ? "cannot say"
      : *out_code < STOP  ? "bad"
                          : "stop");
  json_array_append_new(b->log, json_pack("{s:s, s:i, s:i}", "state", b->states[i], "number",
                                          (int)i, "exit_code", *out_code));
  if (*out_code >= STOP) {
    char said[600];
    safe_copy(said, sizeof said, result.output.at ? result.output.at : "no words");
    hone_status status = fail(b->ctx, HONE_E_CRASH, place_name(b->states[i]),
                              "the program stopped the search with %d: %s", *out_code, said);
    strbuf_deinit(&result.output);
    return status;
  }
  strbuf_deinit(&result.output);
  return HONE_OK;
}

/* The ends must be what they are said to be: the same verdict twice, of at most three. */
static hone_status check_end(struct bisect *b, size_t i, bool is_bad) {
  int agree = 0, differ = 0;
  const int enough = b->search.error > 0 ? 2 : 1;
  while (agree < enough && differ < enough) {
    int code;
    TRY(ask(b, i, &code));
    if (code == SKIP)
      return fail(b->ctx, HONE_E_USAGE, place_name(b->states[i]),
                  "an end of the range cannot be judged");
    if ((code != 0) == is_bad)
      agree++;
    else
      differ++;
  }
  if (agree >= enough) return HONE_OK;
  return advise(b->ctx,
                fail(b->ctx, HONE_E_USAGE, place_name(b->states[i]),
                     "is %s, and should be %s: there is nothing to find between the ends",
                     is_bad ? "good" : "bad", is_bad ? "bad" : "good"),
                "give a range whose first commit is good and whose last is bad");
}

static hone_status search(struct bisect *b) {
  double share;
  size_t i;
  TRY(check_end(b, 0, false));
  TRY(check_end(b, b->count, true));
  while (bisection_best(&b->search, &share), share < b->sure && (i = bisection_next(&b->search))) {
    int code;
    if (b->search.answers == MOST_ASKED)
      return fail(b->ctx, HONE_E_LIMIT, place_none(), "%d answers and still not sure", MOST_ASKED);
    TRY(ask(b, i, &code));
    if (code == SKIP)
      bisection_skip(&b->search, i);
    else
      bisection_answer(&b->search, i, code != 0);
  }
  return HONE_OK;
}

/* -- the answer */

static hone_status render(struct ctx *ctx, void *user, const char *form, struct strbuf *out) {
  const struct bisect *b = user;
  double share;
  size_t low, high, at = bisection_best(&b->search, &share);
  (void)form;
  bisection_range(&b->search, at, &low, &high);
  json_t *candidates = json_array();
  for (size_t i = low; i <= high; i++) json_array_append_new(candidates, json_string(b->states[i]));
  json_t *json =
      json_pack("{s:s, s:o, s:f, s:s, s:O}", "first_bad", b->states[at], "candidates", candidates,
                "sure", share, "last_good", b->states[low - 1], "asked", b->log);
  char *dumped = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) : NULL;
  json_decref(json);
  if (!dumped) return fail(ctx, HONE_E_INTERNAL, place_none(), "a name is not UTF-8");
  strbuf_printf(out, "%s\n", dumped);
  free(dumped);
  return strbuf_finish(ctx, out);
}

static void print_answer(const struct bisect *b) {
  double share;
  size_t low, high, at = bisection_best(&b->search, &share);
  struct strbuf out = {0};
  bisection_range(&b->search, at, &low, &high);
  for (size_t i = low; i <= high; i++)
    strbuf_put_safe(&out, b->states[i], 300), strbuf_puts(&out, "\n");
  printf("%s%s%.1f %% sure after %zu verdicts\n", out.at ? out.at : "",
         low == high
             ? "is the first bad one: "
             : "one of these is the first bad one; those before the last could not be judged: ",
         100 * share, b->search.answers + 2);
  strbuf_deinit(&out);
}

static hone_status find_program(struct bisect *b) {
  const char *name = value_of(b->args, FLAG_run, NULL);
  if (!name) {
    if (b->is_range)
      return fail(b->ctx, HONE_E_USAGE, place_name("--run"),
                  "a range of commits needs a program that judges one");
    if (!has(b->args, FLAG_on))
      return fail(b->ctx, HONE_E_USAGE, place_name("--on"),
                  "builds are judged by hone gate on a model, or by --run PROGRAM");
    return self_path(b->ctx, b->self);
  }
  char *real = realpath(name, NULL);
  const bool fits = real && strlen(real) < sizeof b->program && !access(real, X_OK);
  if (fits) snprintf(b->program, sizeof b->program, "%s", real);
  free(real);
  return fits ? HONE_OK : fail(b->ctx, HONE_E_NOFILE, place_file(name), "is no program");
}

static hone_status read_states(struct bisect *b) {
  char *real = realpath(value_of(b->args, FLAG_repository, "."), NULL);
  b->is_range = b->args->word_count == 1 && strstr(b->args->words[0], "..");
  snprintf(b->repository, sizeof b->repository, "%s", real ? real : ".");
  free(real);
  if (b->is_range) return read_range(b, b->args->words[0]);
  if (b->args->word_count < 2)
    return fail(b->ctx, HONE_E_USAGE, place_none(),
                "a range of commits GOOD..BAD, or at least two builds, oldest first");
  b->states = (const char **)(uintptr_t)b->args->words;
  b->count = b->args->word_count - 1;
  return HONE_OK;
}

static hone_status run(struct bisect *b) {
  double error;
  char dir[4096];
  TRY(arena_create(b->ctx, 0, &b->arena));
  TRY(sinks_read(b->ctx, b->args, &b->sinks));
  static const enum flag_id of_gate[] = {FLAG_threads, FLAG_fail_above, FLAG_pairs, FLAG_turn};
  TRY(flags_need(b->ctx, b->args, of_gate, COUNT(of_gate), !has(b->args, FLAG_run), "--on MODEL"));
  TRY(read_states(b));
  TRY(find_program(b));
  TRY(amount_of(b->ctx, b->args, FLAG_error_share, AMOUNT_PERCENT, 0, 0.4, ERROR_SHARE, &error));
  TRY(amount_of(b->ctx, b->args, FLAG_sure, AMOUNT_PERCENT, 0.5, 0.999999, SURE, &b->sure));
  if (!b->count)
    return fail(b->ctx, HONE_E_USAGE, place_name(b->args->words[0]), "holds no commit");
  TRY(bisection_begin(b->ctx, b->arena, b->count, error, &b->search));
  if (b->is_range) {
    TRY(dir_temporary(b->ctx, dir));
    snprintf(b->tree, sizeof b->tree, "%.4000s/tree", dir);
  }
  hone_status status = b->is_range ? make_clone(b) : HONE_OK;
  if (!status) status = search(b);
  if (b->is_range) dir_temporary_remove(dir);
  return status;
}

int verb_bisect(struct ctx *ctx, struct args *args) {
  static struct bisect b;
  b = (struct bisect){.ctx = ctx, .args = args, .log = json_array()};
  int code = run(&b) ? report_failure(ctx) : 0;
  if (!code && !b.sinks.takes_stdout) print_answer(&b);
  if (!code) code = sinks_write(ctx, &b.sinks, render, &b);
  json_decref(b.log);
  arena_destroy(b.arena);
  return code;
}
