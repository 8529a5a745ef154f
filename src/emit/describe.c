/* What a model says of itself: the exported description, and the typed header. */
#include "emit_internal.h"

/* Names as numbers: text of a model never stands in the C file. */
static void emit_name(struct text *out, const char *name) {
  for (const unsigned char *p = (const unsigned char *)name; *p; p++)
    text_printf(out, "0x%02x,", *p);
  text_puts(out, "0");
}

void emit_io(struct text *out, const char *side, const struct port *ports, size_t count) {
  for (size_t i = 0; i < count; i++) {
    text_printf(out, "static const char %s%zu_name[] = {", side, i);
    emit_name(out, ports[i].name);
    text_printf(out, "};\nstatic const int64_t %s%zu_dims[] = {", side, i);
    for (int d = 0; d < ports[i].shape.rank; d++)
      text_printf(out, "%lld, ", (long long)ports[i].shape.dims[d]);
    text_puts(out, "0};\n");
  }
  text_printf(out, "static const struct hone_io_info %ss[] = {\n", side);
  for (size_t i = 0; i < count; i++)
    text_printf(out, "  {%s%zu_name, %d, %d, %s%zu_dims, -1},\n", side, i, (int)ports[i].dtype,
                ports[i].shape.rank, side, i);
  text_puts(out, count ? "};\n" : "  {0}};\n");
  text_printf(out, "enum { %s_count = %zu };\n\n", side, count);
}

enum { TEXT_WEIGHTS = 64 << 10 };

static hone_status emit_weights(struct emitter *e, const struct emitted *made) {
  if (!made->weights_bytes) {
    text_puts(e->out, "static const uint32_t packed[1];\n");
    return HONE_OK;
  }
  uint32_t *words;
  TRY(NEW_ARRAY(e->ctx, e->arena, words, made->weights_bytes / 4 + 1));
  for (size_t i = 0; i < made->part_count; i++)
    emitted_pack(made, i, (char *)words + made->parts[i].offset);
  text_puts(e->out, "static const uint32_t packed[] __attribute__((aligned(64))) = {");
  for (size_t i = 0; i < made->weights_bytes / 4; i++)
    text_printf(e->out, "%s0x%xu,", i % 12 ? "" : "\n", words[i]);
  text_puts(e->out, "};\n");
  return HONE_OK;
}

hone_status emit_info(struct emitter *e, const char *prefix, struct emitted *made) {
  bool as_text = made->weights_bytes <= TEXT_WEIGHTS;
  char hash[33];
  struct text id = {0};
  hash_weights(made, &id);
  hash_hex(hash, made->common.at, made->common.length);
  text_puts(&id, hash);
  for (size_t i = 0; i < made->unit_count; i++) {
    hash_hex(hash, made->units[i].text.at, made->units[i].text.length);
    text_puts(&id, hash);
  }
  hone_status status = text_finish(e->ctx, &id);
  if (!status) hash_hex(made->build_id, id.at, id.length);
  text_deinit(&id);
  TRY(status);
  if (as_text)
    TRY(emit_weights(e, made));
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
  if (as_text) made->weights_bytes = made->part_count = 0;
  return HONE_OK;
}

static void emit_header_io(struct text *out, const char *prefix, const char *side,
                           const struct port *ports, size_t count) {
  for (size_t i = 0; i < count; i++) {
    text_printf(out, "/* %s %zu: %s", side, i, dtype_name(ports[i].dtype));
    shape_print(out, &ports[i].shape);
    text_printf(out, "; its name, as bytes: */\nstatic const char %s_%s_%zu_name[] = {", prefix,
                side, i);
    emit_name(out, ports[i].name);
    text_printf(out, "};\ntypedef %s %s_%s_%zu_t;\nenum { %s_%s_%zu_rank = %d };\n",
                c_type(ports[i].dtype) ? c_type(ports[i].dtype) : "unsigned char", prefix, side, i,
                prefix, side, i, ports[i].shape.rank);
    text_printf(out, "static const int64_t %s_%s_%zu_dims[] = {", prefix, side, i);
    for (int d = 0; d < ports[i].shape.rank; d++)
      text_printf(out, "%lld, ", (long long)ports[i].shape.dims[d]);
    text_puts(out, "0};\n");
  }
}

hone_status emit_header(struct emitter *e, const char *prefix, struct text *out) {
  const struct plan *plan = e->plan;
  size_t length = 0;
  const char *abi = hone_embedded_text("run/artifact.h", &length);
  if (!abi) return fail(e->ctx, HONE_E_INTERNAL, place_none(), "no text run/artifact.h");
  text_printf(out,
              "/* Made by hone %s: the types of one compiled model, and the artifact ABI. */\n",
              HONE_VERSION);
  text_append(out, abi, length);
  text_printf(out, "\nenum { %s_input_count = %zu, %s_output_count = %zu };\n", prefix,
              plan->input_count, prefix, plan->output_count);
  emit_header_io(out, prefix, "input", plan->inputs, plan->input_count);
  emit_header_io(out, prefix, "output", plan->outputs, plan->output_count);
  text_printf(out,
              "\n#ifdef __cplusplus\nextern \"C\"\n#endif\nconst struct hone_artifact_info "
              "*%s_artifact(void);\n",
              prefix);
  return text_finish(e->ctx, out);
}
