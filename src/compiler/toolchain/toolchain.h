/* toolchain: from C source to object, library or executable, with the C compiler as a child
 * process.
 *
 * Translation units are compiled as GNU C11 with hidden visibility and contracted FMA. The one
 * exported function, PREFIX_artifact, must be marked __attribute__((visibility("default"))).
 */
#ifndef HONE_TOOLCHAIN_H
#define HONE_TOOLCHAIN_H

#include "core/machine/machine.h"
#include "unit_kind.h"

enum artifact_kind { ARTIFACT_C, ARTIFACT_SO, ARTIFACT_A, ARTIFACT_EXE };
enum artifact_kind artifact_kind_of(const char *path); /* by its extension */
/* dir/name.so -> dir/name.ENDING; an executable keeps its whole name. E_PATH if that is too
   long. */
MUST_USE hone_status artifact_beside(struct ctx *ctx, const char *path, const char *ending,
                                     char out[4096]);
/* The prefix of an artifact's symbols from its file name: dir/my-net.so -> my_net. Bytes that
   are invalid in C names become underscores; "model_" is put before names that begin with a
   digit or an underscore, and before hone's own names. */
void artifact_prefix(const char *path, char out[65]);

struct build_part {
  size_t offset, bytes;
  const void *data; /* NULL: must be packed */
};
/* Translation units for another target, in an artifact of several levels. */
struct build_level {
  const struct target *target;
  const char *common; /* comes before all of its units in one C file */
  size_t common_length;
};
/* A translation unit, compiled concurrently with others. */
struct build_unit {
  const char *source, *head; /* the head comes before it if it is a file of its own; NULL: none */
  size_t length, head_length;
  enum unit_kind kind;
  const struct build_level *level; /* NULL: the options' target */
};
struct build_input {
  const struct build_unit *units;
  size_t unit_count;
  const char *common; /* in one C file, replaces their heads; NULL: none */
  size_t common_length;
  /* Packed weights: parts in storage order, zeros between them; inside so, a, exe; next to a .c.
     pack(packer, i, to) makes part i if it has no data, in any thread. */
  size_t weights_bytes, part_count;
  const struct build_part *parts;
  void (*pack)(const void *packer, size_t part, void *to);
  const void *packer;
  bool weights_in_source; /* C source: a level's file finds them in the first */
  const char *build_id;   /* 32 hex digits, at the end of the .weights file; only needed for it */
  const char *header;     /* typed header, written next to the artifact; NULL: none */
  /* NULL: hone_model. With embedded weights every unit is compiled with -DHONE_EMBEDDED_WEIGHTS,
     and the stub defines the hidden symbol PREFIX_weights (page-aligned), to which the generated
     info points. Without the define info.weights is NULL and the loader maps the .weights file.
     weights_bytes 0: the C source contains the numbers, there is no stub. */
  const char *prefix;
};
/* Of an archive for a microcontroller: bytes in flash, and in RAM in addition to the arena; the
   deepest stack of a run, without C library functions. */
struct board_footprint {
  size_t flash_bytes, ram_bytes, stack_bytes;
};
struct build_options {
  const struct target *target;
  const char *cc;      /* NULL: $HONE_CC, else cc, gcc, clang from PATH; one word, no shell */
  bool debug;          /* -g -O1 */
  const char *keep;    /* folder in which to keep the generated C, or NULL */
  uint64_t timeout_ns; /* for the whole build; 0: 10 minutes */
  struct board_footprint *footprint; /* filled for an archive of a bare target; NULL */
  /* of everything that determines the bytes, as in cache_lookup; NULL: no cache */
  const char *cache_key;
  bool *out_cached; /* true if nothing was compiled; required with cache_key */
};
/* "gcc 12.2.0 (Debian 12.2.0-14)": the family and the compiler's own version. cc as in
   build_options, triple NULL: this machine's. E_MISSING; E_USAGE for a named compiler that
   targets another processor. */
MUST_USE hone_status toolchain_describe(struct ctx *ctx, const char *cc, const char *triple,
                                        char out[128]);
/* The compiler found for the target, after a test compilation: E_MISSING names the packages. */
MUST_USE hone_status toolchain_try(struct ctx *ctx, const struct target *target, char out[128]);
/* Of an artifact of several levels, C source has one more file per level: dir/name.c ->
   dir/name_avx2.c. */
MUST_USE hone_status level_beside(struct ctx *ctx, const char *path, const char *level,
                                  char out[4096]);
/* Builds, and moves the result to `path` atomically; a failure contains the compiler's message. */
MUST_USE hone_status toolchain_build(struct ctx *ctx, const struct build_input *input,
                                     const struct build_options *options, const char *path);

/* program.c: compiles and links C files of `directory`, optimised and stripped, for this
   machine: `words` are the sources and further arguments, NULL-terminated; the result is
   directory/product. E_MISSING, E_CRASH with the compiler's message. */
MUST_USE hone_status toolchain_program(struct ctx *ctx, const char *cc, const char *directory,
                                       const char *const *words, const char *product);

/* Artifact cache in dir_user("cache"): key = SHA-256 (64 hex digits) of everything that
   determines the bytes. The file's own hash is stored next to it and checked at each look-up; a
   damaged entry is removed with a warning and counts as a miss. The oldest entries are removed
   when the cache exceeds 4 GiB. */
MUST_USE hone_status cache_lookup(struct ctx *ctx, const char *key, char out_path[4096],
                                  bool *out_hit);
/* Copies the file into the cache, atomically: later changes of the user's file do not affect the
   entry. */
MUST_USE hone_status cache_store(struct ctx *ctx, const char *key, const char *path);

#endif
