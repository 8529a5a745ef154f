/* The head of every unit: of libc's headers, the vector and scalar helpers and the ABI what the unit names; and the
 * frame of a run. */
#include "source_internal.h"

#include "compiler/run/artifact.h"

const char *plan_preference(const struct plan *plan) {
  return plan->kernel_target.prefers_size ? ", prefer size" : "";
}

/* What the processor of the plan is, as the texts ask for it. */
static hone_status add_known(struct ctx *ctx, struct arena *arena, const struct plan *plan,
                             struct macros *macros) {
  const char *macro;
  for (size_t i = 0; (macro = requirement(plan, i)); i++)
    if (*macro) TRY(macros_add(ctx, arena, macros, macro, "1"));
  if (strncmp(plan->target.triple, "x86_64", 6)) return HONE_OK;
  TRY(macros_add(ctx, arena, macros, "__x86_64__", "1"));
  return macros_add(ctx, arena, macros, "__SSE2__", "1"); /* every one of them has it */
}

/* Decided, kept for good and cut. The text outlives the head. */
static hone_status add_text(struct ctx *ctx, struct arena *arena, struct head *head,
                            const char *text, size_t length, struct strbuf *all) {
  const size_t from = all->length;
  const char *kept;
  TRY(decide_text(ctx, arena, &head->macros, text, length, all));
  if (all->length == from) return HONE_OK;
  TRY(arena_string(ctx, arena, all->at + from, all->length - from, &kept));
  return pieces_cut(head->pieces, kept, all->length - from);
}

static hone_status add_texts(struct ctx *ctx, struct arena *arena, const struct plan *plan,
                             struct head *head, struct strbuf *all) {
  const char *start;
  static const char *const own[] = {"source/unit.h", "source/scalar.h", "run/artifact.h",
                                    "source/small.h", "source/strings.h"};
  TRY(arena_printf(
      ctx, arena, &start,
      "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n"
      "#if defined __clang__\n#pragma clang fp contract(fast)\n#endif\n"
      "#define HONE_VECTOR_BYTES %d\n%s",
      plan->target.vector_bytes, plan->target.is_portable ? "#define HONE_PORTABLE 1\n" : ""));
  TRY(add_text(ctx, arena, head, start, strlen(start), all));
  for (size_t i = 0; kernel_helpers[i]; i++) {
    size_t length = 0;
    const char *name = !i && plan->target.vector_bytes == 4 ? "lane.h" : kernel_helpers[i];
    const char *text = kernel_source(name, &length);
    if (!text) return fail(ctx, HONE_E_INTERNAL, place_none(), "no text %s", name);
    TRY(add_text(ctx, arena, head, text, length, all));
  }
  for (size_t i = 0; i < COUNT(own); i++) {
    size_t length = 0;
    const char *text = hone_embedded_text(own[i], &length);
    if (!text) return fail(ctx, HONE_E_INTERNAL, place_none(), "no text %s", own[i]);
    TRY(add_text(ctx, arena, head, text, length, all));
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
      HONE_VERSION, plan->steps.count, plan->arena_bytes, plan->weights_bytes, plan->target.triple,
      plan->target.level, plan_preference(plan));
  emit_requirements(plan, &top);
  strbuf_append(&all, top.at ? top.at : "", top.length);
  hone_status status = strbuf_finish(ctx, &top);
  if (!status) status = arena_string(ctx, arena, top.at, top.length, &out->top);
  if (!status) status = pieces_make(ctx, arena, &out->pieces);
  if (!status) status = add_known(ctx, arena, plan, &out->macros);
  if (!status) status = add_texts(ctx, arena, plan, out, &all);
  if (!status) hash_hex(out->hash, all.at, all.length);
  strbuf_deinit(&top);
  strbuf_deinit(&all);
  return status;
}

hone_status head_print(const struct head *head, struct strbuf *out) {
  strbuf_puts(out, head->top);
  return pieces_print(head->pieces, NULL, out);
}

hone_status emit_alone_head(struct ctx *ctx, const struct target *target, const struct strbuf *unit,
                            struct strbuf *out) {
  const struct plan plan = {.target = *target};
  struct arena *arena;
  struct head head;
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = head_make(ctx, arena, &plan, &head);
  if (!status) pieces_use(head.pieces, unit->at, unit->length);
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
  const char *text = hone_embedded_text("source/profile.h", &length);
  emit_profile_layout(e->plan, e->profiles, &offset, &bytes);
  strbuf_printf(e->out, "#define PROFILE_OFFSET %zu\n#define PROFILE_STEPS %zu\n", offset,
                e->plan->steps.count);
  strbuf_printf(e->out, "#define PROFILE_THREADS %d\n", e->profiles);
  if (text) strbuf_append(e->out, text, length);
}

void emit_frame(const struct emitter *e) {
  const struct plan *plan = e->plan;
  bool has_extents = plan->extent_count > 0, has_texts = plan->string_bytes > 0;
  for (size_t i = 0; i < plan->steps.count; i++) {
    has_extents |= step_takes_extents(plan->steps.at[i]);
    has_texts |= step_takes_texts(plan->steps.at[i]);
  }
  if (e->profiles) emit_profile(e);
  strbuf_puts(e->out,
              "/* What a run works on. */\nstruct frame {\n  const unsigned char *weights;\n  "
              "unsigned char *arena;\n"
              "  const void *const *inputs;\n  void *const *outputs;\n  int32_t status;\n"
              "  int32_t stage; /* that is worked on, from 1, and its chunks */\n  long chunks;\n");
  if (has_extents) strbuf_puts(e->out, "  int64_t *extents; /* sizes known only now */\n");
  if (has_texts) strbuf_puts(e->out, "  struct texts texts;\n");
  if (plan->symbols.count)
    strbuf_puts(
        e->out,
        "  long less[HONE_ARTIFACT_SYMBOLS]; /* open sizes are so much below their bounds */\n");
  strbuf_puts(e->out, "};\n\n");
}
