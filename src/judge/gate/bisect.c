/* Bisection of commits or builds with a judge that is sometimes wrong: a verdict is repeated until the posterior
 * probability of one first bad state is high enough (core/stats/bisection.c). */
#include "gate.h"

#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

#define GIT_NS 600000000000ull
enum { CANNOT_JUDGE = 125, STOP = 128, GATE_UNDECIDED = 5, GATE_FAILED = 64 }; /* exit codes */
enum { MOST_STATES = 65536, MOST_ANSWERS = 1000, END_VERDICTS = 6, JUDGE_WORDS = 256 };

struct search {
  struct ctx *ctx;
  struct arena *arena;
  const struct first_bad_options *options;
  struct first_bad_result *result;
  size_t count;    /* of states, without the first */
  char tree[4096]; /* a clone, with the commit that is judged checked out */
};

static void report_verdict(const struct search *s, const char *state, int code) {
  const char *slash = strrchr(state, '/');
  char line[128];
  if (!s->options->progress) return;
  snprintf(line, sizeof line, "%.40s: %s", s->options->range || !slash ? state : slash + 1,
           code == 0              ? "good"
           : code == CANNOT_JUDGE ? "cannot be judged"
           : code < STOP          ? "bad"
                                  : "stop");
  s->options->progress(s->options->user, line);
}

/* -- git */

/* Runs git in the repository; E_USAGE with its output where it fails. */
static hone_status git(struct search *s, const char *const *words, struct strbuf *out) {
  const char *argv[24] = {"git", "-C", s->options->repository};
  struct process_result result;
  size_t n = 3;
  for (; *words && n < COUNT(argv) - 1; words++) argv[n++] = *words;
  const struct process_options options = {.argv = argv,
                                          .environ_ = (const char *const *)environ,
                                          .fd_in = -1,
                                          .fd_out = -1,
                                          .timeout_ns = GIT_NS,
                                          .output_limit = 8u << 20};
  TRY(process_run(s->ctx, &options, &result));
  hone_status status = HONE_OK;
  if (result.exit_code || result.signal) {
    char output[600];
    safe_copy(output, sizeof output, result.output.at ? result.output.at : "no output");
    status = fail(s->ctx, HONE_E_USAGE, place_name(argv[3]), "git: %s", output);
  }
  if (!status && out)
    *out = result.output;
  else
    strbuf_deinit(&result.output);
  return status;
}

static hone_status split_commits(struct search *s, const char *first, const char *list) {
  const char **states;
  TRY(NEW_ARRAY(s->ctx, s->arena, states, MOST_STATES + 1));
  s->result->states = states;
  TRY(arena_string(s->ctx, s->arena, first, strcspn(first, "\n"), &states[0]));
  for (const char *p = list; *p; p += strcspn(p, "\n"), p += *p == '\n') {
    if (s->count == MOST_STATES)
      return fail(s->ctx, HONE_E_LIMIT, place_name(s->options->range), "more than %d commits",
                  MOST_STATES);
    TRY(arena_string(s->ctx, s->arena, p, strcspn(p, "\n"), &states[++s->count]));
  }
  return HONE_OK;
}

static hone_status read_range(struct search *s) {
  const char *range = s->options->range, *dots = strstr(range, ".."), *first = NULL;
  struct strbuf list = {0}, base = {0};
  if (!dots || *range == '-')
    return fail(s->ctx, HONE_E_USAGE, place_name(range), "is not a range of commits GOOD..BAD");
  TRY(arena_string(s->ctx, s->arena, range, (size_t)(dots - range), &first));
  const char *const parse[] = {"rev-parse", "--verify", "--end-of-options", first, NULL};
  const char *const revisions[] = {"rev-list",         "--reverse", "--first-parent",
                                   "--end-of-options", range,       NULL};
  TRY(git(s, parse, &base));
  hone_status status = git(s, revisions, &list);
  if (!status) status = split_commits(s, base.at, list.at ? list.at : "");
  strbuf_deinit(&list);
  strbuf_deinit(&base);
  return status;
}

/* The clone shares the repository's objects. Nothing is written to the repository itself, so a signal leaves nothing in it. */
static hone_status make_clone(struct search *s) {
  const char *const where[] = {"rev-parse", "--path-format=absolute", "--git-common-dir", NULL};
  struct strbuf from = {0};
  TRY(git(s, where, &from));
  from.at[strcspn(from.at, "\n")] = 0;
  const char *const words[] = {"clone", "--quiet", "--shared", "--no-checkout",
                               "--",    from.at,   s->tree,    NULL};
  const hone_status status = git(s, words, NULL);
  strbuf_deinit(&from);
  return status;
}

static hone_status check_out(struct search *s, const char *commit) {
  const char *const words[] = {"-C", s->tree, "checkout", "--quiet", "--detach", commit, NULL};
  return git(s, words, NULL);
}

/* -- verdicts */

/* Exit code 5 of `hone gate` is "undecided", 64 and more a failure of its own: neither is about the build. */
static int code_of_gate(int code) {
  return code == GATE_UNDECIDED || code >= GATE_FAILED ? CANNOT_JUDGE : code;
}

static hone_status judge(struct search *s, size_t i, int *out_code) {
  const struct first_bad_options *o = s->options;
  const char *argv[JUDGE_WORDS + 2] = {NULL}, *state = s->result->states[i];
  struct process_result result;
  if (o->judge_count > JUDGE_WORDS)
    return fail(s->ctx, HONE_E_USAGE, place_none(), "too many flags");
  if (o->range) TRY(check_out(s, state));
  memcpy(argv, o->judge, o->judge_count * sizeof *argv);
  argv[o->judge_count] = state;
  const struct process_options options = {.argv = argv,
                                          .environ_ = (const char *const *)environ,
                                          .directory = o->range ? s->tree : NULL,
                                          .fd_in = -1,
                                          .fd_out = -1};
  TRY(process_run(s->ctx, &options, &result));
  int code = result.signal ? STOP + result.signal : result.exit_code;
  if (o->is_gate) code = code_of_gate(code);
  report_verdict(s, state, code);
  s->result->verdicts[s->result->verdict_count++] = (struct first_bad_verdict){i, code};
  hone_status status = HONE_OK;
  if (code >= STOP) {
    char output[600];
    safe_copy(output, sizeof output, result.output.at ? result.output.at : "no output");
    status = fail(s->ctx, HONE_E_CRASH, place_name(state),
                  "the program stopped the search with exit code %d: %s", code, output);
  }
  strbuf_deinit(&result.output);
  *out_code = code;
  return status;
}

/* The first state must be good and the last bad: two equal verdicts out of at most three, one if the judge never errs. */
static hone_status check_end(struct search *s, size_t i, bool is_bad) {
  int agree = 0, differ = 0;
  const int enough = s->options->error_share > 0 ? 2 : 1;
  const char *state = s->result->states[i];
  while (agree < enough && differ < enough) {
    int code;
    TRY(judge(s, i, &code));
    if (code == CANNOT_JUDGE)
      return fail(s->ctx, HONE_E_USAGE, place_name(state), "an end of the range cannot be judged");
    if ((code != 0) == is_bad)
      agree++;
    else
      differ++;
  }
  if (agree >= enough) return HONE_OK;
  return advise(s->ctx,
                fail(s->ctx, HONE_E_USAGE, place_name(state),
                     "is %s, but must be %s: there is nothing to find in this range",
                     is_bad ? "good" : "bad", is_bad ? "bad" : "good"),
                "give a range whose first commit is good and whose last is bad");
}

static hone_status search(struct search *s) {
  struct bisection *b = &s->result->search;
  double share;
  size_t i;
  TRY(check_end(s, 0, false));
  TRY(check_end(s, s->count, true));
  while (bisection_best(b, &share), share < s->options->sure && (i = bisection_next(b))) {
    int code;
    if (b->answers == MOST_ANSWERS)
      return fail(s->ctx, HONE_E_LIMIT, place_none(), "not sure enough after %d verdicts",
                  MOST_ANSWERS);
    TRY(judge(s, i, &code));
    if (code == CANNOT_JUDGE)
      bisection_skip(b, i);
    else
      bisection_answer(b, i, code != 0);
  }
  return HONE_OK;
}

static hone_status search_commits(struct search *s) {
  char dir[4096];
  TRY(dir_temporary(s->ctx, dir));
  snprintf(s->tree, sizeof s->tree, "%.4000s/tree", dir);
  hone_status status = make_clone(s);
  if (!status) status = search(s);
  dir_temporary_remove(dir);
  return status;
}

hone_status first_bad_find(struct ctx *ctx, struct arena *arena,
                           const struct first_bad_options *options, struct first_bad_result *out) {
  struct search s = {.ctx = ctx, .arena = arena, .options = options, .result = out};
  *out = (struct first_bad_result){0};
  if (options->range) {
    TRY(read_range(&s));
    if (!s.count)
      return fail(ctx, HONE_E_USAGE, place_name(options->range), "the range has no commit");
  } else {
    TRY(NEW_ARRAY(ctx, arena, out->states, options->build_count));
    memcpy(out->states, options->builds, options->build_count * sizeof *out->states);
    s.count = options->build_count - 1;
  }
  TRY(NEW_ARRAY(ctx, arena, out->verdicts, MOST_ANSWERS + END_VERDICTS + s.count));
  TRY(bisection_begin(ctx, arena, s.count, options->error_share, &out->search));
  return options->range ? search_commits(&s) : search(&s);
}

/* -- the result */

hone_status first_bad_render_json(struct ctx *ctx, const struct first_bad_result *result,
                                  struct strbuf *out) {
  double share;
  size_t low, high;
  const size_t best = bisection_best(&result->search, &share);
  bisection_range(&result->search, best, &low, &high);
  json_t *candidates = json_array(), *asked = json_array();
  for (size_t i = low; i <= high; i++)
    json_array_append_new(candidates, json_string(result->states[i]));
  for (size_t i = 0; i < result->verdict_count; i++) {
    const struct first_bad_verdict *v = &result->verdicts[i];
    json_array_append_new(asked, json_pack("{s:s, s:i, s:i}", "state", result->states[v->state],
                                           "number", (int)v->state, "exit_code", v->exit_code));
  }
  json_t *json =
      json_pack("{s:s, s:o, s:f, s:s, s:o}", "first_bad", result->states[best], "candidates",
                candidates, "sure", share, "last_good", result->states[low - 1], "asked", asked);
  char *dumped = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) : NULL;
  json_decref(json);
  if (!dumped) return fail(ctx, HONE_E_INTERNAL, place_none(), "a name is not UTF-8");
  strbuf_printf(out, "%s\n", dumped);
  free(dumped);
  return strbuf_finish(ctx, out);
}

void first_bad_put_answer(struct strbuf *out, const struct first_bad_result *result) {
  double share;
  size_t low, high;
  const size_t best = bisection_best(&result->search, &share);
  bisection_range(&result->search, best, &low, &high);
  for (size_t i = low; i <= high; i++)
    strbuf_put_safe(out, result->states[i], 300), strbuf_puts(out, "\n");
  strbuf_printf(out, "%s, with %.1f %% certainty after %zu verdicts\n",
                low == high ? "is the first bad one"
                            : "one of these is the first bad one; all but the last could not be "
                              "judged",
                100 * share, result->search.answers + 2);
}
