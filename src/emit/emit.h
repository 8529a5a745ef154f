/* emit: plan to C text, a pure function of the plan. */
#ifndef HONE_EMIT_H
#define HONE_EMIT_H

#include "../plan/plan.h"

/* The C text: `common` stands before each unit, or once before all of them. */
struct emitted {
  struct text common;
  size_t unit_count;
  struct emitted_unit {
    struct text text;
    bool vectorises; /* the compiler is to make vectors of its loops */
  } * units;         /* in an arena-owned array; emitted_deinit frees the texts */
  struct text header;
  void *weights;        /* packed, 64-byte aligned, page-rounded; mmap'ed */
  size_t weights_bytes; /* 0 when they stand in the text (up to 64 KiB) */
  size_t mapped_bytes;
  char build_id[33];
};
struct emit_options {
  const char *prefix; /* NULL: hone_model */
};
MUST_USE hone_status emit_plan(struct ctx *ctx, struct arena *arena, const struct plan *plan,
                               const struct emit_options *options, struct emitted *out);
void emitted_deinit(struct emitted *emitted);
#endif
