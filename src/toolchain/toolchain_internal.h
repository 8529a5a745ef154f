/* What the files of this folder share. */
#ifndef HONE_TOOLCHAIN_INTERNAL_H
#define HONE_TOOLCHAIN_INTERNAL_H

#include "toolchain.h"

#define MAX_ARGUMENTS 128

/* An argument vector under construction; overflow is remembered and seen by tool_run. */
struct arguments {
  const char *at[MAX_ARGUMENTS + 1];
  size_t count;
  bool overflow;
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
/* The compiler itself, and the target flag where it needs one. */
void compiler_start(const struct compiler *compiler, struct arguments *out);
/* The flags of every compilation for `target`. vectorises: the compiler makes vectors of loops. */
void compiler_flags(const struct compiler *compiler, const struct target *target, bool debug,
                    bool vectorises, struct arguments *out);

/* tool.c */
/* Runs a tool in `directory` until `deadline_ns` (of clock_ns). E_MISSING, E_TIMEOUT; E_CRASH with
   the tool's first words if it fails, or if it ends well without having written `product`. */
MUST_USE hone_status tool_run(struct ctx *ctx, const struct arguments *arguments,
                              const char *directory, uint64_t deadline_ns, const char *product);
/* Writes a file of a temporary folder, without fsync. */
MUST_USE hone_status put_file(struct ctx *ctx, const char *directory, const char *name,
                              const void *data, size_t size);
MUST_USE hone_status put_parts(struct ctx *ctx, const char *directory, const char *name,
                               const struct file_part *parts, size_t count);

/* insert.c */
#define WEIGHTS_PAGE ((size_t)4096)
#define WEIGHTS_SECTION ".lrodata"
/* Writes the linked file `product` to `path` with the weights in the place of section
   WEIGHTS_SECTION, which holds one page; *out_done false: the layout does not allow it, nothing was
   written. */
MUST_USE hone_status insert_weights(struct ctx *ctx, const char *product,
                                    const struct build_input *input, const char *path,
                                    bool *out_done);

#endif
