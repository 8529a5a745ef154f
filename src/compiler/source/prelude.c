/* The head of every translation unit: the libc headers, vector and scalar helpers and ABI
 * declarations that it uses; and the frame of a run.
 */
#include "source_internal.h"

#include "compiler/run/artifact.h"

const char *plan_preference(const struct plan *plan) {
  return plan->schedule.kernels.prefers_size ? ", prefer size" : "";
}

/* The macros that describe the plan's processor to the kernel sources. */
static hone_status add_known(struct ctx *ctx, struct arena *arena, const struct plan *plan,
                             struct macros *macros) {
  const char *macro;
  for (size_t i = 0; (macro = requirement(plan, i)); i++)
    if (*macro) TRY(macros_add(ctx, arena, macros, macro, "1"));
  if (strncmp(plan->schedule.target.triple, "x86_64", 6)) return HONE_OK;
  TRY(macros_add(ctx, arena, macros, "__x86_64__", "1"));
  return macros_add(ctx, arena, macros, "__SSE2__", "1"); /* every x86-64 processor has it */
}

/* Preprocessed, kept for good and split. The source outlives the head. */
static hone_status add_source(struct ctx *ctx, struct arena *arena, struct head *head,
                              const char *source, size_t length, struct strbuf *all) {
  const size_t from = all->length;
  const char *kept;
  TRY(preprocess(ctx, arena, &head->macros, source, length, all));
  if (all->length == from) return HONE_OK;
  TRY(arena_string(ctx, arena, all->at + from, all->length - from, &kept));
  return pruner_parse(head->pieces, kept, all->length - from);
}

static hone_status add_sources(struct ctx *ctx, struct arena *arena, const struct plan *plan,
                               struct head *head, struct strbuf *all) {
  const char *start;
  static const char *const own[] = {"source/unit.h", "source/scalar.h", "run/artifact.h",
                                    "source/small.h", "source/strings.h"};
  TRY(arena_printf(
      ctx, arena, &start,
      "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n"
      "#if defined __clang__\n#pragma clang fp contract(fast)\n#endif\n"
      "#define HONE_VECTOR_BYTES %d\n%s",
      plan->schedule.target.vector_bytes,
      plan->schedule.target.is_portable ? "#define HONE_PORTABLE 1\n" : ""));
  TRY(add_source(ctx, arena, head, start, strlen(start), all));
  for (size_t i = 0; kernel_helpers[i]; i++) {
    size_t length = 0;
    const char *name = !i && plan->schedule.target.vector_bytes == 4 ? "lane.h" : kernel_helpers[i];
    const char *source = kernel_source(name, &length);
    if (!source)
      return fail(ctx, HONE_E_INTERNAL, place_none(), "embedded file %s is missing", name);
    TRY(add_source(ctx, arena, head, source, length, all));
  }
  for (size_t i = 0; i < COUNT(own); i++) {
    size_t length = 0;
    const char *source = hone_embedded_text(own[i], &length);
    if (!source)
      return fail(ctx, HONE_E_INTERNAL, place_none(), "embedded file %s is missing", own[i]);
    TRY(add_source(ctx, arena, head, source, length, all));
  }
  return HONE_OK;
}

hone_status head_make(struct ctx *ctx, struct arena *arena, const struct plan *plan,
                      struct head *out) {
  struct strbuf all = {0}, top = {0};
  *out = (struct head){0};
  strbuf_printf(
      &top,
      "/* Made by hone %s. %zu steps; arena %zu bytes, weights %zu bytes; target %s %s%s. */\n",
      HONE_VERSION, plan->steps.count, plan->arena_bytes, plan->weights_bytes,
      plan->schedule.target.triple, plan->schedule.target.level, plan_preference(plan));
  emit_requirements(plan, &top);
  strbuf_append(&all, top.at ? top.at : "", top.length);
  hone_status status = strbuf_finish(ctx, &top);
  if (!status) status = arena_string(ctx, arena, top.at, top.length, &out->top);
  if (!status) status = pruner_make(ctx, arena, &out->pieces);
  if (!status) status = add_known(ctx, arena, plan, &out->macros);
  if (!status) status = add_sources(ctx, arena, plan, out, &all);
  if (!status) hash_hex(out->hash, all.at, all.length);
  strbuf_deinit(&top);
  strbuf_deinit(&all);
  return status;
}

hone_status head_print(const struct head *head, struct strbuf *out) {
  strbuf_puts(out, head->top);
  return pruner_print(head->pieces, NULL, out);
}

hone_status emit_alone_head(struct ctx *ctx, const struct target *target, const struct strbuf *unit,
                            struct strbuf *out) {
  const struct plan plan = {.schedule = {.target = *target}};
  struct arena *arena;
  struct head head;
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = head_make(ctx, arena, &plan, &head);
  if (!status) pruner_keep_used(head.pieces, unit->at, unit->length);
  if (!status) status = head_print(&head, out);
  arena_destroy(arena);
  return status ? status : strbuf_finish(ctx, out);
}

void emit_profile_layout(const struct plan *plan, int threads, size_t *out_offset,
                         size_t *out_arena_bytes) {
  *out_offset = (plan->arena_bytes + 63) / 64 * 64;
  *out_arena_bytes =
      *out_offset + (size_t)threads * plan->steps.count * sizeof(struct hone_profile_entry);
}

static void emit_profile(const struct emitter *e) {
  size_t offset, bytes, length = 0;
  const char *source = hone_embedded_text("source/profile.h", &length);
  emit_profile_layout(e->plan, e->profiles, &offset, &bytes);
  strbuf_printf(e->out, "#define PROFILE_OFFSET %zu\n#define PROFILE_STEPS %zu\n", offset,
                e->plan->steps.count);
  strbuf_printf(e->out, "#define PROFILE_THREADS %d\n", e->profiles);
  if (source) strbuf_append(e->out, source, length);
}

void emit_frame(const struct emitter *e) {
  const struct plan *plan = e->plan;
  bool has_extents = plan->extent_count > 0, has_strings = plan->string_bytes > 0;
  for (size_t i = 0; i < plan->steps.count; i++) {
    has_extents |= step_takes_extents(plan->steps.at[i]);
    has_strings |= step_takes_strings(plan->steps.at[i]);
  }
  if (e->profiles) emit_profile(e);
  strbuf_puts(e->out,
              "/* The state of a run. */\nstruct frame {\n  const unsigned char *weights;\n  "
              "unsigned char *arena;\n"
              "  const void *const *inputs;\n  void *const *outputs;\n  int32_t status;\n"
              "  int32_t stage; /* the current one, from 1, and its chunks */\n  long chunks;\n");
  if (has_extents) strbuf_puts(e->out, "  int64_t *extents; /* data-dependent sizes */\n");
  if (has_strings) strbuf_puts(e->out, "  struct texts texts;\n");
  if (plan->symbols.count)
    strbuf_puts(e->out, "  long less[HONE_ARTIFACT_SIZES]; /* bound minus actual size */\n");
  strbuf_puts(e->out, "};\n\n");
}
