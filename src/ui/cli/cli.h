/* cli: the only place that prints and exits. main.c dispatches over verbs.def, args.c reads
 * flags.def, and each verb has its file. A verb returns the exit code. */
#ifndef HONE_CLI_H
#define HONE_CLI_H

#include "judge/compare/compare.h"
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
  const char *words[512]; /* without a flag, models from -m among them */
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

/* -- supervise.c: runs the verb in a process of its own, for at most `seconds` (0: without a limit). Its exit code. */
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
/* "5ms", "200MB", "5%": in the kind's own unit. */
MUST_USE hone_status amount_of(struct ctx *ctx, const struct args *args, enum flag_id flag,
                               enum amount_kind kind, double min, double max, double otherwise,
                               double *out);
/* "1,2,8": at most max numbers. */
MUST_USE hone_status ints_of(struct ctx *ctx, const struct args *args, enum flag_id flag,
                             int64_t min, int64_t max, int *out, size_t capacity,
                             size_t *out_count);
const char *flag_spelling(enum flag_id flag, char out[64]); /* --min-samples */
bool flag_is_of(enum flag_id flag, const char *verb);
const char *flag_argument(enum flag_id flag); /* NULL: takes none */
char flag_letter(enum flag_id flag);          /* 0: none */
const char *flag_help_text(enum flag_id flag);
/* E_USAGE for a backend that does not exist, with the nearest one. */
MUST_USE hone_status unknown_backend(struct ctx *ctx, const char *word);
void print_flags(const char *verb);
/* E_USAGE where one of them was given without what it goes with: it would be left aside without a word. */
MUST_USE hone_status flags_need(struct ctx *ctx, const struct args *args, const enum flag_id *given,
                                size_t count, bool is_there, const char *what);
/* Exactly one word, or E_USAGE. */
MUST_USE hone_status one_word(struct ctx *ctx, const struct args *args, const char *what,
                              const char **out);

/* Leaves a failure in the context where the verb itself is about to report it. */
#define REFUSE(...)                           \
  do {                                        \
    hone_status refused_ = fail(__VA_ARGS__); \
    (void)refused_;                           \
  } while (0)

/* -- sinks.c */
/* Files that this command reads, by identity: none of them may be one of its outputs. */
struct inputs_seen {
  size_t count;
  struct file_id at[4096];
};
/* The words and what flags name to be read, as far as it exists. */
void inputs_of_command(const struct args *args, struct inputs_seen *out);
/* its side files, added */
void inputs_of_model(const struct model *model, struct inputs_seen *out);
/* Where results go besides the terminal: one row a --json, --csv, --md, --html or -o FILE.ENDING. */
struct sinks {
  size_t count;
  struct sink {
    const char *path, *form;
  } at[16];
  bool takes_stdout; /* one of them is "-" */
  enum output_kind csv_kind;
  struct inputs_seen inputs;
};
/* Looks at all of them: to be asked before the work. E_USAGE, E_PATH, E_WRITE. */
MUST_USE hone_status sinks_read(struct ctx *ctx, const struct args *args, struct sinks *out);
/* Of a verb whose -o is something else, and goes nowhere else either: by their flags alone. */
MUST_USE hone_status sinks_read_flags(struct ctx *ctx, const struct args *args, struct sinks *out);
/* Again, once more of the inputs is known: files beside a model. */
MUST_USE hone_status sinks_check(struct ctx *ctx, const struct sinks *sinks);
MUST_USE hone_status sinks_check_model(struct ctx *ctx, struct sinks *sinks,
                                       const struct model *model);
/* Of a verb whose study is another process's: its words as models. */
MUST_USE hone_status sinks_check_words(struct ctx *ctx, const struct args *args,
                                       struct sinks *sinks);
typedef hone_status render_fn(struct ctx *ctx, void *user, const char *form, struct strbuf *out);
/* Writes every sink whatever became of the others, and reports each that failed. Returns the first
   failure's exit code. */
MUST_USE int sinks_write(struct ctx *ctx, const struct sinks *sinks, render_fn *render, void *user);
/* The same after the form "table" on the terminal, unless a sink goes to the standard output. */
MUST_USE int sinks_show(struct ctx *ctx, const struct sinks *sinks, render_fn *render, void *user);

/* -- list_engines.c, verb_small.c: tables that 'hone list' and the completion show */
void list_engines(void);
render_fn render_engines;
/* What is installed of an engine; of hone's own `otherwise`. */
const char *engine_packages(const struct backend *backend, const char *otherwise, char out[1024]);
void put_list_words(void (*put)(const char *word));
void put_explained_words(void (*put)(const char *word));

/* -- flag_values.c: what a shell may offer after a flag, a verb, and a verb's first word */
void put_flag_values(enum flag_id flag, void (*put)(const char *word));
void put_first_words(const char *verb, void (*put)(const char *word));
void put_second_words(const char *verb, void (*put)(const char *word));
void put_models(void (*put)(const char *word));

/* -- output_folder.c: -o FOLDER of a study is all of its files */
/* Makes the folder and gives the flags that write into it; PNG only where it can be drawn. E_USAGE: two folders. */
MUST_USE hone_status output_folder_expand(struct ctx *ctx, struct arena *arena, struct args *args);

/* -- zoo_dir.c: the user's own models in PyTorch, --zoo-dir */
/* Words that name one become the path of what it exported; E_MISSING without an environment that has torch,
   E_UNSUP in its words where it fails. */
MUST_USE hone_status zoo_dir_expand(struct ctx *ctx, struct arena *arena, struct args *args);
/* Prints those of the folder. */
MUST_USE hone_status zoo_dir_list(struct ctx *ctx, const struct args *args);
/* Writes one as output's ending says; not written: the folder has none of that name. */
MUST_USE hone_status zoo_dir_write(struct ctx *ctx, const struct args *args, const char *word,
                                   const char *output, bool *out_is_written);

/* -- common.c */
/* Prints the failure and what to do about it; returns its exit code. */
int report_failure(struct ctx *ctx);
/* Flushes the standard output; the code, or that of a failure to write it. */
int finish_output(int code);
MUST_USE hone_status apply_limits(struct ctx *ctx, const struct args *args);
/* Hands a status on, with a hint for what is wrong with a model's file. */
MUST_USE hone_status about_model(struct ctx *ctx, hone_status status);
/* --shape, and the sizes that files of --inputs and --input give what it leaves open. */
MUST_USE hone_status shapes_of_inputs(struct ctx *ctx, const struct args *args, const char *path,
                                      struct arena *arena, const char **out);
MUST_USE hone_status load_model(struct ctx *ctx, const struct args *args, const char *path,
                                struct model *out);
MUST_USE hone_status read_compile_options(struct ctx *ctx, const struct args *args,
                                          struct compile_options *out);
/* Text to a file, or to stdout for "-". */
MUST_USE hone_status write_output(struct ctx *ctx, const char *path, const struct strbuf *text);
bool wants_color(const struct args *args);
bool wants_synthetic(const struct args *args); /* rows of the test backends */
/* --input, --inputs, else seeded values of the set. Payload in `arena`. */
MUST_USE hone_status make_inputs(struct ctx *ctx, const struct args *args,
                                 const struct model *model, struct arena *arena, int set,
                                 hone_tensor *out);
MUST_USE hone_status make_outputs(struct ctx *ctx, const struct model *model, struct arena *arena,
                                  hone_tensor *out);
void format_count(char out[32], double count);
/* Adds a word to a list with commas unless it is there or does not fit. */
void list_add(char *list, size_t size, const char *word);

/* describe.c: `describe` of a backend in a child, so that a broken library ends no command. */
void describe_backend(struct ctx *ctx, const struct backend *backend, const char *engine_path,
                      struct backend_info *out);
/* -- terminal.c */
/* COLUMNS where that is a number, else the descriptor's own; 0: it has none. */
int terminal_width(int fd);
/* `head`, and from column `indent` on `text` in lines that the terminal holds; a terminal too narrow for both
   has the text below. */
void print_beside(const char *head, size_t indent, const char *text);
/* A line of stderr that is written over again, cut where the terminal ends. */
struct progress_line {
  size_t width; /* of what stands there */
};
void progress_put(struct progress_line *line, const char *text);
void progress_clear(struct progress_line *line);

/* -- self.c: this program as its own child */
enum { COMMAND_WORDS = 240 };
struct command {
  const char *at[COMMAND_WORDS + 1];
  size_t count;
  char spellings[COMMAND_WORDS][64];
};
MUST_USE hone_status self_path(struct ctx *ctx, char out[4096]);
MUST_USE hone_status command_add(struct ctx *ctx, struct command *command, const char *word);
MUST_USE hone_status command_add_flag(struct ctx *ctx, struct command *command, enum flag_id flag,
                                      const char *value);
/* What the user gave of these flags, as often. */
/* A file named like a flag stays a model. */
MUST_USE hone_status command_add_model(struct ctx *ctx, struct command *command, const char *model);
MUST_USE hone_status command_add_given(struct ctx *ctx, const struct args *args,
                                       const enum flag_id *flags, size_t count,
                                       struct command *command);
/* What --backend calls a row's engine: "openvino", and with the variant that was named "openvino:async". */
const char *backend_word(const struct config *config, char out[64]);
/* `hone bench` with these words; its JSON, in the folder `dir`, comes back as records. E_MISSING with its words where
   it wrote none. */
MUST_USE hone_status self_study(struct ctx *ctx, struct arena *arena, const struct command *how,
                                const char *dir, struct summary *out);

/* -- show.c */
/* Whether the files of --csv-dir may be written, before it is measured. */
MUST_USE hone_status csv_dir_check(struct ctx *ctx, const struct args *args,
                                   const struct config *cells, size_t count);
/* The table to stdout unless something else goes there, then the sinks. Returns the exit code, of which
   failures were reported. */
MUST_USE int show_study(struct ctx *ctx, const struct args *args, const struct sinks *sinks,
                        struct store *store, const char *which);
/* The same of a file that --json wrote: it has no samples. */
MUST_USE int show_file(struct ctx *ctx, const struct args *args, const struct sinks *sinks,
                       const char *path);
/* Whether a word that names a study is a file: a study's key or name hardly ever is. */
bool names_file(const char *word);

/* -- suites.c */
/* Adds the models of each --suite to the words, and its flags where there are none. */
MUST_USE hone_status suites_expand(struct ctx *ctx, struct arena *arena, struct args *args);
void print_suites(void);
void put_suite_names(void (*put)(const char *word));

/* -- bench_peaks.c: the machine's peaks during a study, and the limits of its cells */
struct study_peaks {
  struct peaks at[8]; /* by thread count */
  int threads[8];
  size_t count;
  uint64_t last_ns; /* of the last probe */
  size_t config_count;
  struct peaks_config {
    struct config config;
    struct bench_case one; /* only what limits are made of outlives the study */
  } * cells;
};
MUST_USE hone_status study_peaks_measure(struct ctx *ctx, struct arena *arena,
                                         const struct bench_study *study, double budget_s,
                                         struct study_peaks *out);
/* A short probe with the cell's threads, unless one was just made; peaks only rise. */
MUST_USE hone_status study_peaks_again(struct ctx *ctx, const char *config_key,
                                       struct study_peaks *peaks);
void study_peaks_limits(const struct study_peaks *peaks, size_t config, struct config *out);
struct json_t *study_peaks_json(const struct study_peaks *peaks);

#define VERB(name, usage, flags, help) verb_fn verb_##name;
#include "verbs.def"
#undef VERB

#endif
