/* Internal to toolchain. */
#ifndef HONE_TOOLCHAIN_INTERNAL_H
#define HONE_TOOLCHAIN_INTERNAL_H

#include "core/os/os.h"
#include "toolchain.h"

#define MAX_ARGUMENTS 128

/* An argument vector under construction; tool_run reports an overflow. */
struct arguments {
  const char *at[MAX_ARGUMENTS + 1];
  size_t count;
  bool overflow;
  char names[2][4200]; /* words made for this command */
};
void argument(struct arguments *arguments, const char *word);
void arguments_add(struct arguments *arguments, const char *const *words); /* NULL-terminated */

/* The C compiler in use. */
struct compiler {
  char program[4096];    /* one word: a name or a path */
  char description[128]; /* "gcc 12.2.0 (Debian 12.2.0-14)" */
  bool is_clang;
  char target_flag[80]; /* clang: --target=..., else "" */
};

/* compiler.c */
/* triple NULL: for this machine. */
MUST_USE hone_status compiler_find(struct ctx *ctx, const char *cc, const char *triple,
                                   struct compiler *out);
/* True if the triple is this machine's. */
bool triple_is_native(const char *triple);
/* Replaces the failure in ctx by its cause, unless that is the source: E_USAGE for a compiler of
   another processor, E_MISSING for one without a C library of the target. Works in `directory`. */
MUST_USE hone_status explain_failure(struct ctx *ctx, const struct compiler *compiler,
                                     const struct target *target, const char *directory);
/* The compiler itself, and the target flag if it needs one. */
void compiler_start(const struct compiler *compiler, struct arguments *out);
/* The flags of every compilation for `target`. */
void compiler_flags(const struct compiler *compiler, const struct target *target, bool debug,
                    enum unit_kind kind, struct arguments *out);

/* tool.c */
/* Runs a tool in `directory` until it is cancelled (NULL: never) or until `deadline_ns` (of
   clock_ns). E_MISSING, E_TIMEOUT; E_CRASH with the tool's first message if it fails, or if it
   exits with 0 without having written `product`. */
MUST_USE hone_status tool_run(struct ctx *ctx, const struct arguments *arguments,
                              const char *directory, uint64_t deadline_ns, const char *product,
                              bool (*cancelled)(const void *user), const void *user);
/* Writes a file of a temporary folder, without fsync. */
MUST_USE hone_status put_file(struct ctx *ctx, const char *directory, const char *name,
                              const void *data, size_t size);
MUST_USE hone_status put_parts(struct ctx *ctx, const char *directory, const char *name,
                               const struct file_part *parts, size_t count);

#define OTHER_COMPILER "--cc PROGRAM names another C compiler; the words above are its own"

struct build {
  const struct build_input *input;
  const struct build_options *options;
  struct compiler compiler;
  const char *prefix;
  char directory[4096];
  char prefix_map[4200], entry[160]; /* arguments that live as long as the build */
  uint64_t deadline_ns;
  bool embeds;
  /* the weights are already in the output file, and the linked image is inserted at the end */
  bool inserts;
  bool has_main;
  bool lacks_cache; /* the cache does not work, and a warning was given */
  /* where the parts of the weights are written: the artifact, a .weights file, weights.bin */
  struct output file;
  size_t weights_at;
};

/* cache.c: removes the damaged entry at that path, with a warning. */
void cache_remove(struct ctx *ctx, const char *path);

/* check.c: E_CRASH for a file that is not the compiled artifact. The path must be absolute or
   contain a slash. */
MUST_USE hone_status check_product(struct ctx *ctx, const struct build *build, const char *file,
                                   enum artifact_kind kind);

/* cached.c */
/* Lays the linked file around the weights in build->file, which becomes the artifact. */
MUST_USE hone_status insert_into(struct ctx *ctx, struct build *build, const char *linked,
                                 bool *out_done);
/* Appends struct hone_artifact_seal to a library whose final path is `path`; nothing for other
   kinds. */
MUST_USE hone_status seal(struct ctx *ctx, const char *path, const char *file);
/* Moves the bytes of `from` to the user's path. Both check what they publish. */
MUST_USE hone_status publish(struct ctx *ctx, const struct build *build, const char *from,
                             const char *path);
/* For an artifact with inserted weights the cache stores the linked file without them, for
   others the whole file. If the cache does not work, a warning is given and the build continues. */
MUST_USE hone_status take_cached(struct ctx *ctx, struct build *build, const char *path,
                                 bool *out_done);
void keep_cached(struct ctx *ctx, const struct build *build, const char *linked, const char *path,
                 bool is_inserted);

/* jobs.c */
/* Packs the parts of the weights, then compiles the units, then main if `compiles`; on all
   usable cores, with the build's deadline. The first failure in the order of the units, not of
   time, is the build's: later units are killed, earlier ones finish. */
MUST_USE hone_status run_jobs(struct ctx *ctx, const struct build *build, bool compiles);

/* script.c: the commands of a build, and the files with a script of these commands in the --keep
   folder. `product` is the output of the last command. */
void unit_arguments(const struct build *build, size_t i, struct arguments *out);
void main_arguments(const struct build *build, struct arguments *out);
void stub_arguments(const struct build *build, struct arguments *out);
void product_arguments(const struct build *build, enum artifact_kind kind, const char *product,
                       struct arguments *out);
/* The main of compiled programs and its headers: name and content of file i; false past the
   last. */
bool main_file(size_t i, const char **out_name, const char **out_text, size_t *out_length);
/* Keeps the sources as the compiler gets them, before it is called. */
MUST_USE hone_status keep_sources(struct ctx *ctx, const struct build *build);
/* Keeps the weights and the script, after everything is made. */
MUST_USE hone_status keep_script(struct ctx *ctx, const struct build *build, const char *path);

/* weights.c */
/* From this size on weights are placed after everything else (the default code model reaches 2
   GiB) and insert.c puts them into the linked file. */
bool has_large_section(const struct build *build);
/* Opens build->file for the weights; for a linked file at their final position. */
MUST_USE hone_status weights_open(struct ctx *ctx, struct build *build, const char *path);
MUST_USE hone_status weights_part(struct ctx *ctx, const struct build *build, size_t part);
MUST_USE hone_status assemble_weights(struct ctx *ctx, const struct build *build);
/* weights_file.c: the complete .weights file for C source */
MUST_USE hone_status write_weights(struct ctx *ctx, const struct build_input *input,
                                   const char *path);

/* footprint.c */
MUST_USE hone_status footprint_read(struct ctx *ctx, const struct build *build,
                                    struct board_footprint *out);

/* insert.c */
#define WEIGHTS_PAGE ((size_t)4096)
#define WEIGHTS_SECTION ".lrodata"
/* Lays the linked file `product` around the weights in `file` from `at` on, replacing the page
   at the end of section WEIGHTS_SECTION; *out_done false: the layout does not allow it. */
MUST_USE hone_status insert_weights(struct ctx *ctx, const char *product, size_t weights_bytes,
                                    const struct output *file, size_t at, bool *out_done);

#endif
