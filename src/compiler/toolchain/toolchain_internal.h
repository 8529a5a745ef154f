/* What the files of this folder share. */
#ifndef HONE_TOOLCHAIN_INTERNAL_H
#define HONE_TOOLCHAIN_INTERNAL_H

#include "core/os/os.h"
#include "toolchain.h"

#define MAX_ARGUMENTS 128

/* An argument vector under construction; overflow is remembered and seen by tool_run. */
struct arguments {
  const char *at[MAX_ARGUMENTS + 1];
  size_t count;
  bool overflow;
  char names[2][4200]; /* of words that are made for this command */
};
void argument(struct arguments *arguments, const char *word);
void arguments_add(struct arguments *arguments, const char *const *words); /* NULL-terminated */

/* A C compiler as found. */
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
/* What is behind the failure in ctx, where it is not the text: E_USAGE for a compiler of another processor, E_MISSING
   for one without a C library of the target's. Works in `directory`. */
MUST_USE hone_status explain_failure(struct ctx *ctx, const struct compiler *compiler,
                                     const struct target *target, const char *directory);
/* The compiler itself, and the target flag where it needs one. */
void compiler_start(const struct compiler *compiler, struct arguments *out);
/* The flags of every compilation for `target`. */
void compiler_flags(const struct compiler *compiler, const struct target *target, bool debug,
                    enum unit_kind kind, struct arguments *out);

/* tool.c */
/* Runs a tool in `directory` until it is cancelled (NULL: never) or until `deadline_ns` (of clock_ns). E_MISSING, E_TIMEOUT; E_CRASH with
   the tool's first words if it fails, or if it ends well without having written `product`. */
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
  bool inserts; /* the weights stand in the file to be, the linked image comes to them at the end */
  bool has_main;
  bool lacks_cache; /* it does not work, which was said */
  /* where the parts of the weights are written: the artifact, a .weights file, weights.bin */
  struct output file;
  size_t weights_at;
};

/* cache.c: removes the damaged entry at that path, with a warning. */
void cache_remove(struct ctx *ctx, const char *path);

/* check.c: E_CRASH for a file that is not the artifact that was compiled. The path must be absolute or hold a slash. */
MUST_USE hone_status check_product(struct ctx *ctx, const struct build *build, const char *file,
                                   enum artifact_kind kind);

/* cached.c */
/* Lays the linked file around the weights that stand in build->file, which then is the artifact. */
MUST_USE hone_status insert_into(struct ctx *ctx, struct build *build, const char *linked,
                                 bool *out_done);
/* Ends a library, which is to stand at `path`, by struct hone_artifact_seal; nothing for other kinds. */
MUST_USE hone_status seal(struct ctx *ctx, const char *path, const char *file);
/* Moves the bytes of `from` to the user's path. Both check what they make visible. */
MUST_USE hone_status publish(struct ctx *ctx, const struct build *build, const char *from,
                             const char *path);
/* Of an artifact with its weights inserted the cache keeps the linked file without them, of any other the
   whole. A cache that does not work is no reason to fail: it is warned of. */
MUST_USE hone_status take_cached(struct ctx *ctx, struct build *build, const char *path,
                                 bool *out_done);
void keep_cached(struct ctx *ctx, const struct build *build, const char *linked, const char *path,
                 bool is_inserted);

/* jobs.c */
/* The parts of the weights, then the units, then main if `compiles`; on all usable cores, with the
   build's deadline. The first failure in the order of the units, not of time, is the build's: what
   comes after it is killed, what comes before it ends. */
MUST_USE hone_status run_jobs(struct ctx *ctx, const struct build *build, bool compiles);

/* script.c: the commands of a build, and its files with a script of these commands in the folder that the user wants
   to keep. `product` is what the last command makes. */
void unit_arguments(const struct build *build, size_t i, struct arguments *out);
void main_arguments(const struct build *build, struct arguments *out);
void stub_arguments(const struct build *build, struct arguments *out);
void product_arguments(const struct build *build, enum artifact_kind kind, const char *product,
                       struct arguments *out);
/* The program's own main and the headers that it includes: name and text of file i; false past the last. */
bool main_file(size_t i, const char **out_name, const char **out_text, size_t *out_length);
/* The texts as they go to the compiler, before it is called. */
MUST_USE hone_status keep_texts(struct ctx *ctx, const struct build *build);
/* Once everything is made: the weights and the script. */
MUST_USE hone_status keep_script(struct ctx *ctx, const struct build *build, const char *path);

/* weights.c */
/* From here on weights lie behind all else (the default code model reaches 2 GiB) and come into the
   linked file by insert.c. */
bool has_large_section(const struct build *build);
/* Opens build->file for the weights; for a linked file where they are to lie in it. */
MUST_USE hone_status weights_open(struct ctx *ctx, struct build *build, const char *path);
MUST_USE hone_status weights_part(struct ctx *ctx, const struct build *build, size_t part);
MUST_USE hone_status assemble_weights(struct ctx *ctx, const struct build *build);
/* weights_file.c: the .weights file of C text, footer and all */
MUST_USE hone_status write_weights(struct ctx *ctx, const struct build_input *input,
                                   const char *path);

/* footprint.c */
MUST_USE hone_status footprint_read(struct ctx *ctx, const struct build *build,
                                    struct board_footprint *out);

/* insert.c */
#define WEIGHTS_PAGE ((size_t)4096)
#define WEIGHTS_SECTION ".lrodata"
/* Lays the linked file `product` around the weights that stand in `file` from `at` on, in the place of
   the page at the end of section WEIGHTS_SECTION; *out_done false: the layout does not allow it. */
MUST_USE hone_status insert_weights(struct ctx *ctx, const char *product, size_t weights_bytes,
                                    const struct output *file, size_t at, bool *out_done);

#endif
