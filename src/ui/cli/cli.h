/* cli: the only room that prints and exits. main.c finds the verb in verbs.def, args.c reads flags.def, each verb has a file.
 * A verb returns the exit code.
 */
#ifndef HONE_CLI_H
#define HONE_CLI_H

#include "judge/compare/compare.h"
#include "judge/recommend/child_study.h"
#include "bench/study/study.h"
#include "bench/store/store.h"
#include "zoo/zoo.h"

enum flag_id {
#define GROUP(title)
#define FLAG(name, letter, argument, verbs, help) FLAG_##name,
#include "flags.def"
#undef FLAG
#undef GROUP
  FLAG_ID_COUNT
};

enum { REPEATS = 64 };

struct args {
  const char *verb;
  const char *words[512]; /* arguments without a flag, and models of -m */
  size_t word_count;
  const char *values[FLAG_ID_COUNT]; /* the last one; "" for a flag without argument */
  struct repeated {
    size_t count;
    const char *at[REPEATS];
  } repeated[FLAG_ID_COUNT];
  bool has_suite_backends; /* --backend is from --suite and not from the user */
};

typedef int verb_fn(struct ctx *ctx, struct args *args);
struct verb {
  const char *name, *usage, *help;
  bool touches_model;
  verb_fn *run;
};
/* -- verbs.c */
extern const struct verb verbs[];
extern const size_t verb_count;
const struct verb *verb_find(const char *name);
const char *nearest_verb(const char *word);

/* -- supervise.c: runs the verb in a child process, for at most `seconds` (0: no limit). Its exit code. */
int supervise(struct ctx *ctx, const struct verb *verb, struct args *args, double seconds);

/* -- args.c */
MUST_USE hone_status args_parse(struct ctx *ctx, int argc, char **argv, const struct verb *verb,
                                struct args *out);
bool has(const struct args *args, enum flag_id flag);
const char *value_of(const struct args *args, enum flag_id flag, const char *otherwise);
MUST_USE hone_status int_of(struct ctx *ctx, const struct args *args, enum flag_id flag,
                            int64_t min, int64_t max, int64_t otherwise, int64_t *out);
MUST_USE hone_status number_of(struct ctx *ctx, const struct args *args, enum flag_id flag,
                               double min, double max, double otherwise, double *out);
/* The last --engine NAME=PATH of this backend; NULL: none. */
const char *engine_path_of(const struct args *args, const char *backend);
/* "5ms", "200MB", "5%", in the base unit of its kind. */
MUST_USE hone_status amount_of(struct ctx *ctx, const struct args *args, enum flag_id flag,
                               enum amount_kind kind, double min, double max, double otherwise,
                               double *out);
/* "1,2,8" */
MUST_USE hone_status ints_of(struct ctx *ctx, const struct args *args, enum flag_id flag,
                             int64_t min, int64_t max, int *out, size_t capacity,
                             size_t *out_count);
const char *flag_spelling(enum flag_id flag, char out[64]); /* --min-samples */
bool flag_is_of(enum flag_id flag, const char *verb);
const char *flag_argument(enum flag_id flag); /* NULL: takes none */
char flag_letter(enum flag_id flag);          /* 0: none */
const char *flag_help_text(enum flag_id flag);
/* E_USAGE for an unknown engine, with the nearest name. */
MUST_USE hone_status unknown_backend(struct ctx *ctx, const char *word);
void print_flags(const char *verb);
/* E_USAGE if one of these flags was given without what it belongs to, so that no flag is ignored silently. */
MUST_USE hone_status flags_need(struct ctx *ctx, const struct args *args, const enum flag_id *given,
                                size_t count, bool is_there, const char *what);
/* Exactly one word, or E_USAGE. */
MUST_USE hone_status one_word(struct ctx *ctx, const struct args *args, const char *what,
                              const char **out);

/* Sets a failure in the context; the verb reports it later. */
#define REFUSE(...)                           \
  do {                                        \
    hone_status refused_ = fail(__VA_ARGS__); \
    (void)refused_;                           \
  } while (0)

/* -- sinks.c */
/* Files that this command reads, by device and inode: no output may replace one of them. */
struct inputs_seen {
  size_t count;
  struct file_id at[4096];
};
/* The existing files among the words and the values of flags. */
void inputs_of_command(const struct args *args, struct inputs_seen *out);
/* adds the model's side files */
void inputs_of_model(const struct model *model, struct inputs_seen *out);
/* Output files: one for each --json, --csv, --md, --html or -o FILE.ENDING. */
struct sinks {
  size_t count;
  struct sink {
    const char *path, *form;
  } at[16];
  bool takes_stdout; /* one of them is "-" */
  enum output_kind csv_kind;
  struct inputs_seen inputs;
};
/* Checks that all can be written; call it before the work. E_USAGE, E_PATH, E_WRITE. */
MUST_USE hone_status sinks_read(struct ctx *ctx, const struct args *args, struct sinks *out);
/* The same without -o, for verbs whose -o is something else. */
MUST_USE hone_status sinks_read_flags(struct ctx *ctx, const struct args *args, struct sinks *out);
/* Checks again when more inputs are known: the side files of a model. */
MUST_USE hone_status sinks_check(struct ctx *ctx, const struct sinks *sinks);
MUST_USE hone_status sinks_check_model(struct ctx *ctx, struct sinks *sinks,
                                       const struct model *model);
/* For a verb whose study runs in a child process: its words are models. */
MUST_USE hone_status sinks_check_words(struct ctx *ctx, const struct args *args,
                                       struct sinks *sinks);
typedef hone_status render_fn(struct ctx *ctx, void *user, const char *form, struct strbuf *out);
/* Writes every sink, also if another fails, and reports each failure. Returns the first failure's exit code. */
MUST_USE int sinks_write(struct ctx *ctx, const struct sinks *sinks, render_fn *render, void *user);
/* The same, after the form "table" on the terminal unless a sink is standard output. */
MUST_USE int sinks_show(struct ctx *ctx, const struct sinks *sinks, render_fn *render, void *user);

/* -- list_engines.c, verb_small.c: tables of 'hone list', also for shell completion */
void list_engines(void);
render_fn render_engines;
/* The packages of an engine; `otherwise` for hone's own engine. */
const char *engine_packages(const struct backend *backend, const char *otherwise, char out[1024]);
void put_list_words(void (*put)(const char *word));
void put_explained_words(void (*put)(const char *word));

/* -- flag_values.c: what shell completion offers after a flag, a verb, and a verb's first word */
void put_flag_values(enum flag_id flag, void (*put)(const char *word));
void put_first_words(const char *verb, void (*put)(const char *word));
void put_second_words(const char *verb, void (*put)(const char *word));
void put_models(void (*put)(const char *word));

/* -- output_folder.c: -o FOLDER writes every format of a study */
/* Makes the folder and adds the flags that write into it; PNG only if it can be drawn. E_USAGE: two folders. */
MUST_USE hone_status output_folder_expand(struct ctx *ctx, struct arena *arena, struct args *args);

/* -- zoo_dir.c: the user's own PyTorch models, --zoo-dir */
/* Replaces words that name one by the path of the exported model. E_MISSING without an environment that has torch, E_UNSUP
   with PyTorch's message where the export fails. */
MUST_USE hone_status zoo_dir_expand(struct ctx *ctx, struct arena *arena, struct args *args);
/* Prints the models of the folder. */
MUST_USE hone_status zoo_dir_list(struct ctx *ctx, const struct args *args);
/* Writes a model in the format of output's ending. out_is_written false: the folder has no such model. */
MUST_USE hone_status zoo_dir_write(struct ctx *ctx, const struct args *args, const char *word,
                                   const char *output, bool *out_is_written);

/* -- common.c */
/* Prints the failure and its hint; returns its exit code. */
int report_failure(struct ctx *ctx);
/* Flushes standard output. Returns `code`, or the exit code of a failed write. */
int finish_output(int code);
MUST_USE hone_status apply_limits(struct ctx *ctx, const struct args *args);
/* Returns the status; adds a hint if the model file is the cause and no hint is set. */
MUST_USE hone_status about_model(struct ctx *ctx, hone_status status);
/* The word, or for "-" what standard input has (64 MiB at most). */
MUST_USE hone_status read_text(struct ctx *ctx, const char *word, struct strbuf *out);
/* --shape, completed with the shapes of the files of --inputs and --input. */
MUST_USE hone_status shapes_of_inputs(struct ctx *ctx, const struct args *args, const char *path,
                                      struct arena *arena, const char **out);
MUST_USE hone_status load_model(struct ctx *ctx, const struct args *args, const char *path,
                                struct model *out);
MUST_USE hone_status read_compile_options(struct ctx *ctx, const struct args *args,
                                          struct compile_options *out);
/* "-" is standard output. */
MUST_USE hone_status write_output(struct ctx *ctx, const char *path, const struct strbuf *text);
bool wants_color(const struct args *args);
bool wants_synthetic(const struct args *args); /* rows of the test backends */
/* Values of --input and --inputs, else seeded values of the input set. Payload in `arena`. */
MUST_USE hone_status make_inputs(struct ctx *ctx, const struct args *args,
                                 const struct model *model, struct arena *arena, int set,
                                 hone_tensor *out);
MUST_USE hone_status make_outputs(struct ctx *ctx, const struct model *model, struct arena *arena,
                                  hone_tensor *out);
void format_count(char out[32], double count);

/* -- terminal.c */
/* $COLUMNS if it is a number, else the terminal's width; 0: not a terminal. */
int terminal_width(int fd);
/* Prints `head`, and `text` from column `indent` on, wrapped to the terminal's width. In a narrow terminal it is below. */
void print_beside(const char *head, size_t indent, const char *text);
/* A line of stderr that is overwritten, cut to the terminal's width. */
struct progress_line {
  size_t width; /* of the current text */
};
void progress_put(struct progress_line *line, const char *text);
void progress_clear(struct progress_line *line);

/* -- self.c: child processes of this program, with flags by id (judge/recommend/child_study.h) */
MUST_USE hone_status self_path(struct ctx *ctx, char out[4096]);
MUST_USE hone_status command_add_flag(struct ctx *ctx, struct command *command, enum flag_id flag,
                                      const char *value);
/* Each of these flags, as often as the user gave it. */
MUST_USE hone_status command_add_given(struct ctx *ctx, const struct args *args,
                                       const enum flag_id *flags, size_t count,
                                       struct command *command);
/* run_bench_study with this program. */
MUST_USE hone_status self_study(struct ctx *ctx, struct arena *arena, const struct command *how,
                                const char *dir, struct summary *out);

/* -- show.c */
/* Checks that the files of --csv-dir can be written, before the study. */
MUST_USE hone_status csv_dir_check(struct ctx *ctx, const struct args *args,
                                   const struct config *configs, size_t count);
/* Prints the table, unless a sink is standard output, and writes the sinks. Returns the exit code; failures are reported. */
MUST_USE int show_study(struct ctx *ctx, const struct args *args, const struct sinks *sinks,
                        struct store *store, const char *which);
/* The same for a file that --json wrote, which has no samples. */
MUST_USE int show_file(struct ctx *ctx, const struct args *args, const struct sinks *sinks,
                       const char *path);
/* True if the word is the path of a file, and not a study's key or name. */
bool names_file(const char *word);

/* -- suites.c */
/* Adds the models of each --suite to the words, and its flags unless the user gave them. */
MUST_USE hone_status suites_expand(struct ctx *ctx, struct arena *arena, struct args *args);
void print_suites(void);
void put_suite_names(void (*put)(const char *word));

/* -- bench_peaks.c: the machine's peaks during a study, and the limits of its configurations */
struct study_peaks {
  struct peaks at[8]; /* one for each number of threads */
  int threads[8];
  size_t count;
  uint64_t last_ns; /* of the last probe */
  size_t config_count;
  struct peaks_config {
    struct config config;
    /* only the members that limits are computed from are valid after the study */
    struct bench_case one;
  } * configs;
};
MUST_USE hone_status study_peaks_measure(struct ctx *ctx, struct arena *arena,
                                         const struct bench_study *study, double budget_s,
                                         struct study_peaks *out);
/* A short probe with the configuration's threads, unless the last one was recent; peaks only rise. */
MUST_USE hone_status study_peaks_again(struct ctx *ctx, const char *config_key,
                                       struct study_peaks *peaks);
void study_peaks_limits(const struct study_peaks *peaks, size_t config, struct config *out);
struct json_t *study_peaks_json(const struct study_peaks *peaks);

#define VERB(name, usage, flags, help) verb_fn verb_##name;
#include "verbs.def"
#undef VERB

#endif
