/* emit: plan to C text, a pure function of the plan. */
#ifndef HONE_EMIT_H
#define HONE_EMIT_H

#include "compiler/plan/plan.h"
#include "compiler/toolchain/unit_kind.h"

/* The C text: each unit behind its head, or all of them behind `common`. */
struct build_level;
struct emitted {
  struct strbuf common;
  size_t unit_count;
  struct emitted_unit {
    struct strbuf head, text;
    enum unit_kind kind;
    const struct build_level *level; /* of several: whose it is; NULL: none's */
  } * units;                         /* in an arena-owned array; emitted_deinit frees the texts */
  struct strbuf header;
  /* Packed weights, part by part in the order in which they lie; emitted_pack makes one. */
  size_t weights_bytes; /* 0 when they stand in the text (up to 64 KiB) */
  size_t part_count;
  struct emitted_part {
    size_t offset, bytes;
    const void *data; /* as they are; NULL: they are packed */
    const struct buffer *buffer;
    const struct kernel_target *target;
    struct problem problem; /* packed: the buffer's, or the panels of it that this part is */
    int64_t pack_offset;
  } * parts; /* in an arena-owned array */
  char build_id[33];
};
/* What the integers of a quantised input or output stand for: scale * (integer - zero_point). */
struct port_scale {
  double scale; /* 0: not quantised, or not by one scale */
  int64_t zero_point;
};

struct emit_options {
  const char *prefix; /* NULL: hone_model */
  /* whose weights they are, where several levels share them; NULL: the prefix */
  const char *weights;
  bool embeds;  /* weights of any size stand in the text */
  int profiles; /* threads whose steps are timed, into what emit_profile_layout says; 0: none */
  /* texts of kernels that stand here replace those of the same name; NULL */
  const char *kernel_dir;
  /* of the inputs, then of the outputs, for the header; NULL: of none */
  const struct port_scale *scales;
};
/* header.c: the function PREFIX_run with typed arguments, over PREFIX_artifact()->run; nothing where C cannot have it. */
void emit_typed_run(const struct plan *plan, const char *prefix, struct strbuf *out);
/* -- dispatch.c: one artifact made of several, each for a level of the processor */
struct emit_level {
  const char *prefix; /* of its symbols */
  uint32_t features;
};
/* PREFIX_artifact() gives the last level of the list whose features this processor has, the first where it
   has none of them: whoever loads it refuses that by its flags. PREFIX_of_processor(features) is the
   same for a processor with those features. */
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

/* Where a profiled artifact keeps struct hone_profile_entry [threads][plan's steps] in its arena. */
void emit_profile_layout(const struct plan *plan, int threads, size_t *out_offset,
                         size_t *out_arena_bytes);
MUST_USE hone_status emit_plan(struct ctx *ctx, struct arena *arena, const struct plan *plan,
                               const struct emit_options *options, struct emitted *out);
/* One way to do one problem as a hidden kernel_function `name` (text/unit.h), or what packs b for it at run
   time, a pack_function. To stand behind emit_alone_head. Nothing is left defined. */
struct kernel_alone {
  const struct problem *problem;
  const struct choice *choice;
  const struct kernel_target *target;
  const char *name, *epilogue; /* C of what is stored for the vector x; NULL: x */
  bool packs;
  bool saturates; /* what is stored are integers that become the nearest bytes */
};
MUST_USE hone_status emit_kernel_alone(struct ctx *ctx, const struct kernel_alone *alone,
                                       struct strbuf *out);
/* Appends a kernel's text ("gemm_f32.c") with the texts that it includes. */
MUST_USE hone_status emit_kernel_source(struct ctx *ctx, const char *file, struct strbuf *out);
/* What must stand in front of such functions. */
MUST_USE hone_status emit_alone_head(struct ctx *ctx, const struct target *target,
                                     const struct strbuf *unit, struct strbuf *out);
/* Writes the part's bytes to `to`, 64-byte aligned; any threads may pack any parts at the same time. */
void emitted_pack(const struct emitted *emitted, size_t part, void *to);
void emitted_deinit(struct emitted *emitted);
#endif
