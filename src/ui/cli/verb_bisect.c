/* hone bisect: flags to judge/gate/bisect.c, and its answer. */
#include "judge/gate/gate.h"
#include "cli.h"

#include <stdlib.h>
#include <unistd.h>

#define ERROR_SHARE 0.05
#define SURE 0.99

struct bisect {
  struct ctx *ctx;
  const struct args *args;
  struct arena *arena;
  struct sinks sinks;
  struct first_bad_options options;
  struct first_bad_result result;
  struct command judge;
  char program[4096]; /* that judges */
  char repository[4096];
};

static void print_progress(void *user, const char *line) {
  (void)user;
  fprintf(stderr, "%s\n", line);
}

static const enum flag_id gate_flags[] = {FLAG_threads, FLAG_fail_above, FLAG_pairs, FLAG_turn};

/* Without --run: `hone gate`, each build against the first one. */
static hone_status judge_by_gate(struct bisect *b) {
  struct command *judge = &b->judge;
  if (b->options.range)
    return fail(b->ctx, HONE_E_USAGE, place_name("--run"),
                "a range of commits needs a program that judges a commit");
  if (!has(b->args, FLAG_on))
    return fail(
        b->ctx, HONE_E_USAGE, place_name("--on"),
        "give a model with --on MODEL, or a program that judges a build with --run PROGRAM");
  TRY(self_path(b->ctx, b->program));
  TRY(command_add(b->ctx, judge, b->program));
  TRY(command_add(b->ctx, judge, "gate"));
  TRY(command_add_flag(b->ctx, judge, FLAG_quiet, NULL));
  TRY(command_add_flag(b->ctx, judge, FLAG_base_build, b->args->words[0]));
  TRY(command_add_given(b->ctx, b->args, gate_flags, COUNT(gate_flags), judge));
  for (size_t i = 0; i < b->args->repeated[FLAG_on].count; i++)
    TRY(command_add_model(b->ctx, judge, b->args->repeated[FLAG_on].at[i]));
  b->options.is_gate = true;
  return command_add_flag(b->ctx, judge, FLAG_new_build, NULL); /* its value is the state */
}

static hone_status read_judge(struct bisect *b) {
  const char *name = value_of(b->args, FLAG_run, NULL);
  if (!name) return judge_by_gate(b);
  char *real = realpath(name, NULL);
  const bool fits = real && strlen(real) < sizeof b->program && !access(real, X_OK);
  if (fits) snprintf(b->program, sizeof b->program, "%s", real);
  free(real);
  if (!fits) return fail(b->ctx, HONE_E_NOFILE, place_file(name), "is not an executable program");
  return command_add(b->ctx, &b->judge, b->program);
}

static hone_status read_states(struct bisect *b) {
  char *real = realpath(value_of(b->args, FLAG_repository, "."), NULL);
  snprintf(b->repository, sizeof b->repository, "%s", real ? real : ".");
  free(real);
  b->options.repository = b->repository;
  if (b->args->word_count == 1 && strstr(b->args->words[0], "..")) {
    b->options.range = b->args->words[0];
    return HONE_OK;
  }
  if (b->args->word_count < 2)
    return fail(b->ctx, HONE_E_USAGE, place_none(),
                "give a range of commits GOOD..BAD, or at least two builds, oldest first");
  b->options.builds = b->args->words;
  b->options.build_count = b->args->word_count;
  return HONE_OK;
}

static hone_status run(struct bisect *b) {
  struct first_bad_options *o = &b->options;
  TRY(arena_create(b->ctx, 0, &b->arena));
  TRY(sinks_read(b->ctx, b->args, &b->sinks));
  TRY(flags_need(b->ctx, b->args, gate_flags, COUNT(gate_flags), !has(b->args, FLAG_run),
                 "--on MODEL"));
  TRY(read_states(b));
  TRY(read_judge(b));
  TRY(amount_of(b->ctx, b->args, FLAG_error_share, AMOUNT_PERCENT, 0, 0.4, ERROR_SHARE,
                &o->error_share));
  TRY(amount_of(b->ctx, b->args, FLAG_sure, AMOUNT_PERCENT, 0.5, 0.999999, SURE, &o->sure));
  o->judge = b->judge.at;
  o->judge_count = b->judge.count;
  o->progress = has(b->args, FLAG_quiet) ? NULL : print_progress;
  return first_bad_find(b->ctx, b->arena, o, &b->result);
}

static hone_status render(struct ctx *ctx, void *user, const char *form, struct strbuf *out) {
  const struct bisect *b = user;
  if (strcmp(form, "table")) return first_bad_render_json(ctx, &b->result, out);
  first_bad_put_answer(out, &b->result);
  return strbuf_finish(ctx, out);
}

int verb_bisect(struct ctx *ctx, struct args *args) {
  static struct bisect b;
  b = (struct bisect){.ctx = ctx, .args = args};
  const int code = run(&b) ? report_failure(ctx) : sinks_show(ctx, &b.sinks, render, &b);
  arena_destroy(b.arena);
  return code;
}
