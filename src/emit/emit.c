/* Plan to C, on one screen: prelude, step functions, the run function, the description, the header. */
#include "emit_internal.h"

#include <sys/mman.h>

static bool is_identifier(const char *s) {
  size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
  return n && n < 64 && !s[n] && !(s[0] >= '0' && s[0] <= '9');
}

static hone_status emit_all(struct emitter *e, const char *prefix, struct emitted *out) {
  emit_prelude(e);
  for (size_t i = 0; i < e->plan->steps.count; i++) TRY(emit_step(e, i));
  emit_io(e->out, "input", e->plan->inputs, e->plan->input_count);
  emit_io(e->out, "output", e->plan->outputs, e->plan->output_count);
  emit_run(e);
  TRY(make_weights(e, out));
  TRY(text_finish(e->ctx, e->out));
  if (e->out->length > (size_t)e->ctx->limits[LIMIT_c_text_bytes])
    return fail(e->ctx, HONE_E_LIMIT, place_none(), "%zu bytes of C text, limit c_text_bytes",
                e->out->length);
  emit_info(e, prefix, out);
  TRY(text_finish(e->ctx, e->out));
  return emit_header(e, prefix, &out->header);
}

hone_status emit_plan(struct ctx *ctx, struct arena *arena, const struct plan *plan,
                      const struct emit_options *options, struct emitted *out) {
  const char *prefix = options->prefix ? options->prefix : "hone_model";
  *out = (struct emitted){0};
  if (!is_identifier(prefix))
    return fail(ctx, HONE_E_USAGE, place_name(prefix),
                "the prefix is not a C identifier of at most 63 letters");
  TRY(NEW_ARRAY(ctx, arena, out->units, 1));
  out->unit_count = 1;
  struct emitter e = {.ctx = ctx, .arena = arena, .plan = plan, .out = &out->units[0]};
  hone_status status = emit_all(&e, prefix, out);
  if (status) emitted_deinit(out);
  return status;
}

void emitted_deinit(struct emitted *emitted) {
  for (size_t i = 0; i < emitted->unit_count; i++) text_deinit(&emitted->units[i]);
  text_deinit(&emitted->header);
  if (emitted->weights) munmap(emitted->weights, emitted->mapped_bytes);
  memset(emitted, 0, sizeof *emitted);
}
