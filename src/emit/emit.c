/* Plan to C: prelude, step functions, the run function, the exported description, the typed header.
 */
#include "emit_internal.h"

#include <sys/mman.h>

hone_status emit_shared(struct emitter *e, const struct text *body, const char *result,
                        const char *parameters, int *out_number) {
  TRY(text_finish(e->ctx, body));
  for (size_t i = 0; i < e->shared.count; i++)
    if (e->shared.at[i].length == body->length &&
        !memcmp(e->shared.at[i].body, body->at, body->length)) {
      *out_number = e->shared.at[i].number;
      return HONE_OK;
    }
  const char *copy;
  TRY(arena_string(e->ctx, e->arena, body->at, body->length, &copy));
  *out_number = e->next_number++;
  VEC_PUSH(e->ctx, e->arena, &e->shared, (struct shared){copy, body->length, *out_number});
  text_printf(e->out, "#define NAME k%d\nstatic NOIPA %s NAME%s;\n", *out_number, result,
              parameters);
  text_append(e->out, body->at, body->length);
  text_puts(e->out, "#undef NAME\n\n");
  return HONE_OK;
}

void emit_address(struct text *out, const struct view *view, bool is_const) {
  const struct buffer *buffer = view->buffer;
  const char *type = c_type(view->dtype), *constant = is_const ? "const " : "";
  text_printf(out, "(%s%s *)", constant, type);
  switch (buffer->place) {
    case BUFFER_INPUT:
      text_printf(out, "f->inputs[%d]", buffer->index);
      break;
    case BUFFER_OUTPUT:
      text_printf(out, "f->outputs[%d]", buffer->index);
      break;
    case BUFFER_WEIGHTS:
      text_printf(out, "(f->weights + %zu)", buffer->offset);
      break;
    case BUFFER_ARENA:
      text_printf(out, "(f->arena + %zu)", buffer->offset);
      break;
  }
  if (view->offset) text_printf(out, " + %lldl", (long long)view->offset);
}

/* -- step functions -----------------------------------------------------------------------------
 */

static hone_status emit_body(struct emitter *e, const struct step *step, int *out_number) {
  switch (step->kind) {
    case STEP_KERNEL:
      return emit_kernel(e, step, out_number);
    case STEP_PACK:
      return emit_pack(e, step, out_number);
    case STEP_ELEMENTWISE:
      return emit_elementwise(e, step, out_number);
    case STEP_COPY:
      return emit_copy(e, step, out_number);
    case STEP_PLAIN:
      return emit_plain(e, step, out_number);
  }
  return fail(e->ctx, HONE_E_INTERNAL, place_none(), "step kind %d", (int)step->kind);
}

static void emit_pointers(struct text *out, const char *declaration, const struct view *views,
                          size_t count, bool is_const) {
  text_printf(out, "  %s[] = {", declaration);
  for (size_t i = 0; i < count; i++) {
    if (i) text_puts(out, ", ");
    if (views[i].buffer)
      emit_address(out, &views[i], is_const);
    else
      text_puts(out, "NULL");
  }
  text_puts(out, count ? "};\n" : "NULL};\n");
}

static void emit_range(struct text *out, const struct step *step, int scratch_threads) {
  if (step->serial) {
    text_printf(out, "  if (t) return;\n  (void)count;\n  const long begin = 0, end = %lldl;\n",
                (long long)step->units);
    return;
  }
  if (step->scratch)
    text_printf(out, "  if (count > %d) count = %d;\n  if (t >= count) return;\n", scratch_threads,
                scratch_threads);
  text_printf(out, "  const long begin = %lldl * t / count, end = %lldl * (t + 1) / count;\n",
              (long long)step->units, (long long)step->units);
}

static void emit_scratch(struct text *out, const struct step *step, const char *type) {
  if (!step->scratch)
    text_puts(out, "NULL");
  else
    text_printf(out, "(%s *)(f->arena + %zu + (size_t)t * %zu)", type, step->scratch->offset,
                step->scratch_slice);
}

static void emit_call(struct text *out, const struct step *step, int number) {
  switch (step->kind) {
    case STEP_KERNEL:
      emit_pointers(out, "const float *const e", step->operands, step->operand_count, true);
      text_printf(out, "  k%d(", number);
      emit_address(out, &step->inputs[0], true);
      text_puts(out, ", ");
      if (step->inputs[1].buffer)
        emit_address(out, &step->inputs[1], true);
      else
        text_puts(out, "NULL");
      text_puts(out, ", ");
      emit_address(out, &step->outputs[0], false);
      text_puts(out, ", e, ");
      emit_scratch(out, step, "float");
      text_puts(out, ", begin, end);\n");
      break;
    case STEP_PACK:
      text_printf(out, "  k%d(", number);
      emit_address(out, &step->inputs[0], true);
      text_puts(out, ", ");
      emit_address(out, &step->outputs[0], false);
      text_puts(out, ", begin, end);\n");
      break;
    case STEP_ELEMENTWISE:
    case STEP_COPY:
      emit_pointers(out, "const void *const from", step->inputs, step->input_count, true);
      text_printf(out, "  k%d(", number);
      emit_address(out, &step->outputs[0], false);
      text_puts(out, ", from, begin, end);\n");
      break;
    case STEP_PLAIN:
      emit_pointers(out, "const void *const from", step->inputs, step->input_count, true);
      emit_pointers(out, "void *const to", step->outputs, step->output_count, false);
      text_printf(out, "  (void)begin, (void)end;\n  const int32_t status = k%d(from, to, ",
                  number);
      emit_scratch(out, step, "void");
      text_puts(out, ");\n  if (status && !f->status) f->status = status;\n");
      break;
  }
}

static hone_status emit_step(struct emitter *e, size_t i) {
  const struct step *step = e->plan->steps.at[i];
  int number;
  TRY(emit_body(e, step, &number));
  struct text shape = {0};
  for (size_t k = 0; k < step->output_count; k++)
    if (step->outputs[k].buffer) shape_print(&shape, &step->outputs[k].shape);
  text_printf(e->out, "/* step %zu: %s -> %s */\n", i, step->node ? step->node->op->name : "layout",
              shape.at ? shape.at : "");
  text_deinit(&shape);
  text_printf(e->out, "static NOIPA void s%zu(struct frame *f, long t, long count) {\n", i);
  emit_range(e->out, step, e->plan->scratch_threads);
  emit_call(e->out, step, number);
  text_puts(e->out, "}\n\n");
  return HONE_OK;
}

/* -- the run function ---------------------------------------------------------------------------
 */

static bool all_serial(const struct plan *plan) {
  for (size_t i = 0; i < plan->steps.count; i++)
    if (!plan->steps.at[i]->serial) return false;
  return true;
}

/* Whether any step of the group of joined steps that begins at `first` runs on all threads. */
static bool group_is_shared(const struct plan *plan, size_t first) {
  for (size_t i = first; i < plan->steps.count && (i == first || plan->steps.at[i]->joined); i++)
    if (!plan->steps.at[i]->serial) return true;
  return false;
}

static void emit_run(struct emitter *e) {
  const struct plan *plan = e->plan;
  text_puts(e->out,
            "static void body(void *argument, int32_t thread, int32_t count) {\n  struct frame "
            "*const f = argument;\n"
            "  const long t = thread, n = count;\n  (void)f, (void)t, (void)n;\n");
  /* Steps of thread 0 in a row need no barrier between them; a group with a shared step needs one before
     and behind. */
  bool shared_before = false;
  for (size_t i = 0; i < plan->steps.count; i++) {
    const struct step *step = plan->steps.at[i];
    if (i && !step->joined && (shared_before || group_is_shared(plan, i))) {
      text_puts(e->out, "  barrier(f);\n");
      shared_before = false;
    }
    shared_before |= !step->serial;
    text_printf(e->out, "  s%zu(f, t, n);\n", i);
  }
  text_puts(e->out,
            "}\n\nstatic int32_t run(const void *weights, void *arena, const struct hone_io *io, "
            "const struct hone_team *team) {\n"
            "  struct frame f = {weights, arena, io->inputs, io->outputs, NULL, 0};\n");
  if (all_serial(plan)) {
    text_puts(e->out, "  (void)team; /* too small to share */\n  body(&f, 0, 1);\n");
  } else {
    text_puts(e->out,
              "  if (team && team->thread_count > 1) {\n    f.team = team;\n    "
              "team->run(team->self, body, &f);\n"
              "  } else {\n    body(&f, 0, 1);\n  }\n");
  }
  text_puts(e->out,
            "  if (!f.status && io->output_dims)\n    for (int32_t i = 0; i < output_count; i++)\n"
            "      for (int32_t d = 0; d < outputs[i].rank; d++)\n        if (io->output_dims[i]) "
            "io->output_dims[i][d] = outputs[i].dims[d];\n"
            "  return f.status;\n}\n\n");
}

/* -- description and header ---------------------------------------------------------------------
 */

/* Names as numbers: text of a model never stands in the C file. */
static void emit_name(struct text *out, const char *name) {
  for (const unsigned char *p = (const unsigned char *)name; *p; p++)
    text_printf(out, "0x%02x,", *p);
  text_puts(out, "0");
}

static void emit_io(struct text *out, const char *side, struct value *const *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    text_printf(out, "static const char %s%zu_name[] = {", side, i);
    emit_name(out, values[i]->name);
    text_printf(out, "};\nstatic const int64_t %s%zu_dims[] = {", side, i);
    for (int d = 0; d < values[i]->shape.rank; d++)
      text_printf(out, "%lld, ", (long long)values[i]->shape.dims[d]);
    text_puts(out, "0};\n");
  }
  text_printf(out, "static const struct hone_io_info %ss[] = {\n", side);
  for (size_t i = 0; i < count; i++)
    text_printf(out, "  {%s%zu_name, %d, %d, %s%zu_dims, -1},\n", side, i, (int)values[i]->dtype,
                values[i]->shape.rank, side, i);
  text_puts(out, count ? "};\n" : "  {0}};\n");
  text_printf(out, "enum { %s_count = %zu };\n\n", side, count);
}

static void emit_prelude(struct emitter *e) {
  const struct plan *plan = e->plan;
  text_printf(
      e->out,
      "/* Made by hone %s. %zu steps; arena %zu bytes, weights %zu bytes; target %s %s. */\n",
      HONE_VERSION, plan->steps.count, plan->arena_bytes, plan->weights_bytes, plan->target.triple,
      plan->target.level);
  text_puts(e->out,
            "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n");
  text_printf(e->out, "#define HONE_VECTOR_BYTES %d\n", plan->target.vector_bytes);
  static const char *const texts[] = {"kernels/simd.h", "emit/scalar.h", "run/artifact.h"};
  for (size_t i = 0; i < COUNT(texts); i++) {
    size_t length = 0;
    const char *text = hone_embedded_text(texts[i], &length);
    if (text) text_append(e->out, text, length);
  }
  text_puts(e->out,
            "#define HONE_NAME_(a, b) a##b\n#define HONE_NAME(a, b) HONE_NAME_(a, b)\n"
            "#if defined __GNUC__ && !defined __clang__\n"
            "#define NOIPA __attribute__((noipa)) /* gcc 12 takes some loops for functions without "
            "effect */\n"
            "#else\n#define NOIPA __attribute__((noinline))\n#endif\n#undef C\n#define C(k) "
            "splat_((float)(k))\n\n"
            "struct frame {\n  const unsigned char *weights;\n  unsigned char *arena;\n  const "
            "void *const *inputs;\n"
            "  void *const *outputs;\n  const struct hone_team *team;\n  int32_t status;\n};\n"
            "static inline void barrier(const struct frame *f) {\n  if (f->team) "
            "f->team->barrier(f->team->self);\n}\n\n");
}

enum { TEXT_WEIGHTS = 64 << 10 };

static void emit_weights(struct emitter *e, const struct emitted *made) {
  if (!made->weights_bytes) {
    text_puts(e->out, "static const uint32_t packed[1];\n");
    return;
  }
  text_puts(e->out, "static const uint32_t packed[] __attribute__((aligned(64))) = {");
  for (size_t i = 0; i < made->weights_bytes / 4; i++) {
    uint32_t word;
    memcpy(&word, (const char *)made->weights + 4 * i, 4);
    text_printf(e->out, "%s0x%xu,", i % 12 ? "" : "\n", word);
  }
  text_puts(e->out, "};\n");
}

static void emit_info(struct emitter *e, const char *prefix, struct emitted *made) {
  bool as_text = made->weights_bytes <= TEXT_WEIGHTS;
  char hash[33];
  struct text id = {0};
  hash_hex(hash, made->weights, made->weights_bytes);
  text_puts(&id, hash);
  hash_hex(hash, e->out->at, e->out->length);
  text_puts(&id, hash);
  hash_hex(made->build_id, id.at, id.length);
  text_deinit(&id);
  if (as_text)
    emit_weights(e, made);
  else
    text_printf(e->out,
                "#ifdef HONE_EMBEDDED_WEIGHTS\nextern const unsigned char %s_weights[] "
                "__attribute__((visibility(\"hidden\")));\n"
                "#define PACKED %s_weights\n#else\n#define PACKED NULL\n#endif\n",
                prefix, prefix);
  text_printf(e->out,
              "static const struct hone_artifact_info info = {\n  HONE_ARTIFACT_ABI, 0x%x, \"%s\", "
              "\"hone %s\", %zuu, %zuu, %s,\n"
              "  input_count, output_count, inputs, outputs, run};\n\n",
              e->plan->target.features, made->build_id, HONE_VERSION, e->plan->arena_bytes,
              made->weights_bytes, as_text ? "packed" : "PACKED");
  text_printf(e->out,
              "__attribute__((visibility(\"default\"))) const struct hone_artifact_info "
              "*%s_artifact(void);\n"
              "const struct hone_artifact_info *%s_artifact(void) { return &info; }\n",
              prefix, prefix);
  if (as_text) made->weights_bytes = 0;
}

static void emit_header_io(struct text *out, const char *prefix, const char *side,
                           struct value *const *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct text shape = {0};
    shape_print(&shape, &values[i]->shape);
    text_printf(out,
                "/* %s %zu: %s%s; its name, as bytes: */\nstatic const char %s_%s_%zu_name[] = {",
                side, i, dtype_name(values[i]->dtype), shape.at ? shape.at : "", prefix, side, i);
    emit_name(out, values[i]->name);
    text_printf(out, "};\ntypedef %s %s_%s_%zu_t;\nenum { %s_%s_%zu_rank = %d };\n",
                c_type(values[i]->dtype) ? c_type(values[i]->dtype) : "unsigned char", prefix, side,
                i, prefix, side, i, values[i]->shape.rank);
    text_printf(out, "static const int64_t %s_%s_%zu_dims[] = {", prefix, side, i);
    for (int d = 0; d < values[i]->shape.rank; d++)
      text_printf(out, "%lld, ", (long long)values[i]->shape.dims[d]);
    text_puts(out, "0};\n");
    text_deinit(&shape);
  }
}

static hone_status emit_header(struct emitter *e, const char *prefix, struct text *out) {
  const struct graph *graph = e->plan->graph;
  size_t length = 0;
  const char *abi = hone_embedded_text("run/artifact.h", &length);
  if (!abi) return fail(e->ctx, HONE_E_INTERNAL, place_none(), "no text run/artifact.h");
  text_printf(out,
              "/* Made by hone %s: the types of one compiled model, and the artifact ABI. */\n",
              HONE_VERSION);
  text_append(out, abi, length);
  text_printf(out, "\nenum { %s_input_count = %zu, %s_output_count = %zu };\n", prefix,
              graph->inputs.count, prefix, graph->outputs.count);
  emit_header_io(out, prefix, "input", graph->inputs.at, graph->inputs.count);
  emit_header_io(out, prefix, "output", graph->outputs.at, graph->outputs.count);
  text_printf(out,
              "\n#ifdef __cplusplus\nextern \"C\"\n#endif\nconst struct hone_artifact_info "
              "*%s_artifact(void);\n",
              prefix);
  return text_finish(e->ctx, out);
}

/* -- weights ------------------------------------------------------------------------------------
 */

static hone_status make_weights(struct emitter *e, struct emitted *out) {
  out->weights_bytes = e->plan->weights_bytes;
  if (!out->weights_bytes) return HONE_OK;
  out->mapped_bytes = out->weights_bytes;
  out->weights =
      mmap(NULL, out->mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (out->weights == MAP_FAILED) {
    out->weights = NULL;
    return fail(e->ctx, HONE_E_OOM, place_none(), "no memory for %zu bytes of weights",
                out->weights_bytes);
  }
  for (size_t i = 0; i < e->plan->buffers.count; i++) {
    const struct buffer *b = e->plan->buffers.at[i];
    if (b->place != BUFFER_WEIGHTS) continue;
    char *at = (char *)out->weights + b->offset;
    if (b->pack)
      b->pack->pack(&b->problem, &e->plan->kernel_target,
                    (const float *)b->tensor->data + b->pack_offset, (float *)(void *)at);
    else
      memcpy(at, b->tensor->data, b->tensor->bytes);
  }
  return HONE_OK;
}

static bool is_identifier(const char *s) {
  size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
  return n && n < 64 && !s[n] && !(s[0] >= '0' && s[0] <= '9');
}

static hone_status emit_all(struct emitter *e, const char *prefix, struct emitted *out) {
  emit_prelude(e);
  for (size_t i = 0; i < e->plan->steps.count; i++) TRY(emit_step(e, i));
  emit_io(e->out, "input", e->plan->graph->inputs.at, e->plan->graph->inputs.count);
  emit_io(e->out, "output", e->plan->graph->outputs.at, e->plan->graph->outputs.count);
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
