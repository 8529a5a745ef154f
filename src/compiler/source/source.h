/* source: generates the C source of a plan; a pure function of the plan. */
#ifndef HONE_SOURCE_H
#define HONE_SOURCE_H

#include "compiler/plan/plan.h"
#include "compiler/toolchain/unit_kind.h"

/* The C source: each translation unit with its own head, or all of them after `common`. */
struct build_level;
struct emitted {
  struct strbuf common;
  size_t unit_count;
  struct emitted_unit {
    struct strbuf head, source;
    enum unit_kind kind;
    const struct build_level *level; /* of several levels: the unit's; NULL: shared */
    /* array owned by the arena; emitted_deinit frees the sources */
  } * units;
  struct strbuf header;
  /* Packed weights, part by part in storage order; emitted_pack makes one part. */
  size_t weights_bytes; /* 0 if the source contains them (up to 64 KiB) */
  size_t part_count;
  struct emitted_part {
    size_t offset, bytes;
    const void *data; /* stored unchanged; NULL: they are packed */
    const struct buffer *buffer;
    const struct kernel_target *target;
    struct problem problem; /* packed: of the buffer, or of the panels in this part */
    int64_t pack_offset;
  } * parts; /* array owned by the arena */
  char build_id[33];
};
/* The value of an integer of a quantised input or output: scale * (integer - zero_point). */
struct port_scale {
  double scale; /* 0: not quantised, or not per tensor */
  int64_t zero_point;
};

struct emit_options {
  const char *prefix; /* NULL: hone_model */
  /* prefix of the weights' owner, if several levels share them; NULL: the prefix */
  const char *weights;
  bool embeds;  /* the source contains weights of any size */
  int profiles; /* threads whose steps are timed, laid out as emit_profile_layout says; 0: none */
  /* kernel sources in this folder replace those of the same name; NULL: none */
  const char *kernel_dir;
  /* of the inputs, then of the outputs, for the header; NULL: none */
  const struct port_scale *scales;
};
/* header.c: the function PREFIX_run with typed arguments, which calls PREFIX_artifact()->run;
   empty if C cannot express them. */
void emit_typed_run(const struct plan *plan, const char *prefix, struct strbuf *out);
/* -- dispatch.c: one artifact made of several, one per instruction-set level */
struct emit_level {
  const char *prefix; /* of its symbols */
  uint32_t features;
};
/* PREFIX_artifact() returns the last level of the list whose features this processor has, or the
   first level if it has none of them; the loader then refuses its flags.
   PREFIX_of_processor(features) does the same for a processor with those features. */
void emit_dispatch(const char *prefix, const struct emit_level *levels, size_t count,
                   struct strbuf *out);
/* The typed header of a plan. */
MUST_USE hone_status emit_header_text(struct ctx *ctx, struct arena *arena, const struct plan *plan,
                                      const char *prefix, const struct port_scale *scales,
                                      struct strbuf *out);
/* All packed weights as the array PREFIX_weights. */
MUST_USE hone_status emit_weights_text(struct ctx *ctx, struct arena *arena,
                                       const struct emitted *emitted, const char *prefix,
                                       struct strbuf *out);

/* Where a profiled artifact stores struct hone_profile_entry [threads][plan's steps] in its
   arena. */
void emit_profile_layout(const struct plan *plan, int threads, size_t *out_offset,
                         size_t *out_arena_bytes);
MUST_USE hone_status emit_plan(struct ctx *ctx, struct arena *arena, const struct plan *plan,
                               const struct emit_options *options, struct emitted *out);
/* One choice for one problem as a hidden kernel_function `name` (embedded/unit.h), or as a
   pack_function that packs its run-time b. Placed after emit_alone_head. Leaves no macro
   defined. */
struct kernel_alone {
  const struct problem *problem;
  const struct choice *choice;
  const struct kernel_target *target;
  const char *name, *epilogue; /* C expression stored for the vector x; NULL: x */
  bool packs;
  bool saturates; /* integers are clipped when stored as int8 */
};
MUST_USE hone_status emit_kernel_alone(struct ctx *ctx, const struct kernel_alone *alone,
                                       struct strbuf *out);
/* Appends a kernel source ("gemm_f32.c") with its includes. */
MUST_USE hone_status emit_kernel_source(struct ctx *ctx, const char *file, struct strbuf *out);
/* The head that such functions need. */
MUST_USE hone_status emit_alone_head(struct ctx *ctx, const struct target *target,
                                     const struct strbuf *unit, struct strbuf *out);
/* Writes the part's bytes to `to`, 64-byte aligned; threads may pack different parts at the same
   time. */
void emitted_pack(const struct emitted *emitted, size_t part, void *to);
void emitted_deinit(struct emitted *emitted);
#endif
