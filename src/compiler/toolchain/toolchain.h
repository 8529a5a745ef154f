/* toolchain: C text to object, library, executable, with the C compiler as a child process.
 *
 * What a unit may rely on: it is compiled as GNU C11 with hidden visibility and contracted FMA. The
 * one exported function, PREFIX_artifact, must be marked __attribute__((visibility("default"))).
 */
#ifndef HONE_TOOLCHAIN_H
#define HONE_TOOLCHAIN_H

#include "core/machine/machine.h"
#include "unit_kind.h"

enum artifact_kind { ARTIFACT_C, ARTIFACT_SO, ARTIFACT_A, ARTIFACT_EXE };
enum artifact_kind artifact_kind_of(const char *path); /* by its ending */
/* dir/name.so -> dir/name.ENDING; an executable keeps its whole name. E_PATH if that is too long. */
MUST_USE hone_status artifact_beside(struct ctx *ctx, const char *path, const char *ending,
                                     char out[4096]);
/* The prefix of an artifact's symbols from its file's name: dir/my-net.so -> my_net. Bytes that no C name
   holds become underscores; "model_" comes before what begins with a digit or an underscore, and before
   hone's own names. */
void artifact_prefix(const char *path, char out[65]);

struct build_part {
  size_t offset, bytes;
  const void *data; /* NULL: to be packed */
};
/* Units of another target among those of an artifact of several levels. */
struct build_level {
  const struct target *target;
  const char *common; /* stands before all of its units in one C file */
  size_t common_length;
};
/* A translation unit of C, compiled at the same time as others. */
struct build_unit {
  const char *source, *head; /* the head stands before it where it is a file of its own; NULL: none */
  size_t length, head_length;
  enum unit_kind kind;
  const struct build_level *level; /* NULL: the options' target */
};
struct build_input {
  const struct build_unit *units;
  size_t unit_count;
  const char *common; /* in one C file, instead of their heads; NULL: none */
  size_t common_length;
  /* Packed weights: parts in the order in which they lie, zeros between them; inside so, a, exe,
     beside a .c. pack(packer, i, to) makes part i where it has no data, in any thread. */
  size_t weights_bytes, part_count;
  const struct build_part *parts;
  void (*pack)(const void *packer, size_t part, void *to);
  const void *packer;
  bool weights_in_text; /* C text: a level's file finds them in the first */
  const char *build_id; /* 32 hex digits, ends the .weights file; needed for it alone */
  const char *header;   /* typed header text, written beside the artifact; NULL: none */
  /* NULL: hone_model. With embedded weights every unit is compiled with -DHONE_EMBEDDED_WEIGHTS,
     and the stub defines the hidden symbol PREFIX_weights (page-aligned): the generated info points
     to it. Without the define info.weights is NULL and the loader maps the .weights file.
     weights_bytes 0: the numbers stand in the C text, there is no stub. */
  const char *prefix;
};
/* Of an archive for a board: bytes that stand in flash, and in RAM besides the arena; the deepest stack of a
   run, without what functions of the C library take. */
struct board_footprint {
  size_t flash_bytes, ram_bytes, stack_bytes;
};
struct build_options {
  const struct target *target;
  const char *cc;      /* NULL: $HONE_CC, else cc, gcc, clang from PATH; one word, no shell */
  bool debug;          /* -g -O1 */
  const char *keep;    /* folder to leave the generated C in, or NULL */
  uint64_t timeout_ns; /* for the whole build; 0: 10 minutes */
  struct board_footprint *footprint; /* filled for an archive of a bare target; NULL */
  /* of all that decides the bytes, as cache_lookup takes it; NULL: no cache */
  const char *cache_key;
  bool *out_cached; /* nothing had to be compiled; needed with cache_key */
};
/* "gcc 12.2.0 (Debian 12.2.0-14)": the family and what the compiler says of itself. cc as in
   build_options, triple NULL: this machine's. E_MISSING; E_USAGE for a named compiler that makes
   code for another processor. */
MUST_USE hone_status toolchain_describe(struct ctx *ctx, const char *cc, const char *triple,
                                        char out[128]);
/* The compiler that is found for the target, after it has compiled something: E_MISSING names the packages. */
MUST_USE hone_status toolchain_try(struct ctx *ctx, const struct target *target, char out[128]);
/* Of an artifact of several levels, C text is a file a level besides: dir/name.c -> dir/name_avx2.c. */
MUST_USE hone_status level_beside(struct ctx *ctx, const char *path, const char *level,
                                  char out[4096]);
/* Builds and moves the result to `path` atomically; the compiler's own words are in the failure. */
MUST_USE hone_status toolchain_build(struct ctx *ctx, const struct build_input *input,
                                     const struct build_options *options, const char *path);

/* program.c: compiles and links C files of `directory`, optimised and stripped, for this machine: `words` are the
   sources and whatever stands after them, NULL-terminated; the result is directory/product. E_MISSING, E_CRASH with
   the compiler's words. */
MUST_USE hone_status toolchain_program(struct ctx *ctx, const char *cc, const char *directory,
                                       const char *const *words, const char *product);

/* Artifact cache under dir_user("cache"): key = SHA-256 (64 hex digits) of all that decides the
   bytes. The file's own hash stands beside it and is checked at each look-up; a damaged entry is
   removed, a warning given, and it is a miss. The oldest entries go when the cache passes 4 GiB. */
MUST_USE hone_status cache_lookup(struct ctx *ctx, const char *key, char out_path[4096],
                                  bool *out_hit);
/* Puts a copy of the file into the cache, atomically: what the user does to the file stays with the file. */
MUST_USE hone_status cache_store(struct ctx *ctx, const char *key, const char *path);

#endif
