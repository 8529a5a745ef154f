/* child_study: runs this program as a child process: the argument list, and a `hone bench` study
 * read back from its JSON. Flags are strings as the user would type them ("--backend"). */
#ifndef HONE_CHILD_STUDY_H
#define HONE_CHILD_STUDY_H

#include "core/os/os.h"
#include "judge/compare/compare.h"

struct argument_list {
  const char *const *at;
  size_t count;
};

enum { COMMAND_WORDS = 240 };
struct command {
  const char *at[COMMAND_WORDS + 1]; /* ends with NULL; the strings are the caller's */
  size_t count;
};
/* E_USAGE: more than COMMAND_WORDS. */
MUST_USE hone_status command_add(struct ctx *ctx, struct command *command, const char *word);
/* value NULL: a flag without an argument. */
MUST_USE hone_status command_add_option(struct ctx *ctx, struct command *command, const char *flag,
                                        const char *value);
/* A file whose name begins with '-' is passed with --model. */
MUST_USE hone_status command_add_model(struct ctx *ctx, struct command *command, const char *model);
MUST_USE hone_status command_add_all(struct ctx *ctx, struct command *command,
                                     const struct argument_list *words);
/* Appends a word to a comma-separated list unless the list has it or is full. */
void list_add(char *list, size_t size, const char *word);
/* A configuration's engine as --backend takes it: "openvino", or with a variant
   "openvino:async". */
const char *backend_word(const struct config *config, char out[64]);

/* Runs the command with this process's environment; its output is in `out`. timeout_s 0: no
   limit. */
MUST_USE hone_status command_run(struct ctx *ctx, const struct command *command, double timeout_s,
                                 struct process_result *out);
/* Runs `PROGRAM bench` with these arguments and reads its JSON, which is written to the folder
   `dir`. If the child writes none, its failure becomes this one's; E_MISSING with its output if
   it reported none. */
MUST_USE hone_status run_bench_study(struct ctx *ctx, struct arena *arena, const char *program,
                                     const struct command *arguments, const char *dir,
                                     struct summary *out);
#endif
