/* Plan to C, on one screen: the functions in translation units, then the unit that calls them, then
 * the header.
 */
#include "source_internal.h"

static bool is_identifier(const char *s) {
  size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
  return n && n < 64 && !s[n] && !(s[0] >= '0' && s[0] <= '9');
}

static size_t string_bytes(const struct emitted *out) {
  size_t bytes = 0;
  for (size_t i = 0; i < out->unit_count; i++) bytes += out->units[i].source.length;
  return bytes;
}

/* The parts of the head that the units use, each of them and all together. */
static hone_status emit_heads(struct emitter *e, struct emitted *out) {
  for (size_t i = 0; i <= out->unit_count; i++) {
    const bool is_all = i == out->unit_count;
    pruner_reset(e->head.pieces);
    for (size_t k = is_all ? 0 : i; k < (is_all ? i : i + 1); k++)
      pruner_keep_used(e->head.pieces, out->units[k].source.at, out->units[k].source.length);
    struct strbuf *head = is_all ? &out->common : &out->units[i].head;
    TRY(head_print(&e->head, head));
    TRY(strbuf_finish(e->ctx, head));
  }
  return HONE_OK;
}

static hone_status emit_all(struct emitter *e, struct emitted *out) {
  struct strbuf calls = {0};
  e->out = &calls;
  hone_status status = head_make(e->ctx, e->arena, e->plan, &e->head);
  for (size_t i = 0; i < e->plan->steps.count && !status; i++) status = emit_step(e, i);
  if (!status) status = emit_units(e, out);
  if (!status) {
    e->out = &out->units[out->unit_count - 1].source;
    emit_prototypes(e, e->out);
    emit_frame(e);
    strbuf_append(e->out, calls.at, calls.length);
    emit_io(e->out, "input", e->plan->inputs, e->plan->input_count);
    emit_io(e->out, "output", e->plan->outputs, e->plan->output_count);
    emit_symbols(e->out, &e->plan->symbols);
    emit_run(e);
    /* otherwise one level of several */
    if (!strcmp(e->weights, e->prefix)) emit_typed_run(e->plan, e->prefix, e->out);
    status = strbuf_finish(e->ctx, &calls);
  }
  strbuf_deinit(&calls);
  if (status) return status;
  TRY(make_weights(e, out));
  for (size_t i = 0; i < out->unit_count; i++) TRY(strbuf_finish(e->ctx, &out->units[i].source));
  if (string_bytes(out) > (size_t)e->ctx->limits[LIMIT_c_text_bytes])
    return fail(e->ctx, HONE_E_LIMIT, place_none(),
                "%zu bytes of C source exceed limit c_text_bytes", string_bytes(out));
  TRY(emit_info(e, e->prefix, out));
  TRY(strbuf_finish(e->ctx, e->out));
  TRY(emit_heads(e, out));
  return emit_header(e, e->prefix, &out->header);
}

hone_status emit_plan(struct ctx *ctx, struct arena *arena, const struct plan *plan,
                      const struct emit_options *options, struct emitted *out) {
  const char *prefix = options->prefix ? options->prefix : "hone_model";
  *out = (struct emitted){0};
  if (!is_identifier(prefix))
    return fail(ctx, HONE_E_USAGE, place_name(prefix),
                "the prefix is not a C identifier of at most 63 letters");
  struct emitter e = {.ctx = ctx,
                      .arena = arena,
                      .plan = plan,
                      .prefix = prefix,
                      .weights = options->weights ? options->weights : prefix,
                      .embeds = options->embeds,
                      .kernel_dir = options->kernel_dir,
                      .scales = options->scales,
                      .profiles = options->profiles};
  hone_status status = emit_all(&e, out);
  if (!status && e.kernel_dir && !e.replaced)
    status = fail(
        ctx, HONE_E_USAGE, place_file(e.kernel_dir),
        "has no source of a kernel that this model uses (such as gemm_f32.c or generic/TopK.c)");
  if (status) emitted_deinit(out);
  return status;
}

void emitted_deinit(struct emitted *emitted) {
  for (size_t i = 0; i < emitted->unit_count; i++) {
    strbuf_deinit(&emitted->units[i].head);
    strbuf_deinit(&emitted->units[i].source);
  }
  strbuf_deinit(&emitted->common);
  strbuf_deinit(&emitted->header);
  memset(emitted, 0, sizeof *emitted);
}
