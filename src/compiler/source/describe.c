/* The exported description of a model and its weights. The typed header is in header.c. */
#include "source_internal.h"

#include "compiler/run/artifact.h"

/* An artifact's flags are its target's features, bit for bit: the loader and the artifact's own
   check read them as in artifact.h. */
#define SAME_BIT(feature, needed)                                                  \
  _Static_assert((int)feature == (int)needed, #feature " of machine.h is " #needed \
                                                       " of "                      \
                                                       "artifact.h")
SAME_BIT(CPU_SSE42, HONE_NEEDS_SSE42);
SAME_BIT(CPU_AVX, HONE_NEEDS_AVX);
SAME_BIT(CPU_AVX2, HONE_NEEDS_AVX2);
SAME_BIT(CPU_FMA, HONE_NEEDS_FMA);
SAME_BIT(CPU_F16C, HONE_NEEDS_F16C);
SAME_BIT(CPU_AVX512, HONE_NEEDS_AVX512);
SAME_BIT(CPU_AVX512_VNNI, HONE_NEEDS_AVX512_VNNI);
SAME_BIT(CPU_AVX512_BF16, HONE_NEEDS_AVX512_BF16);
SAME_BIT(CPU_AVX512_FP16, HONE_NEEDS_AVX512_FP16);
SAME_BIT(CPU_AMX_TILE, HONE_NEEDS_AMX_TILE);
SAME_BIT(CPU_AMX_INT8, HONE_NEEDS_AMX_INT8);
SAME_BIT(CPU_AMX_BF16, HONE_NEEDS_AMX_BF16);
SAME_BIT(CPU_AVX_VNNI, HONE_NEEDS_AVX_VNNI);
SAME_BIT(CPU_BMI2, HONE_NEEDS_BMI);
SAME_BIT(CPU_AVX512_VBMI, HONE_NEEDS_AVX512_VBMI);
SAME_BIT(CPU_NEON, HONE_NEEDS_NEON);
SAME_BIT(CPU_DOTPROD, HONE_NEEDS_DOTPROD);
SAME_BIT(CPU_I8MM, HONE_NEEDS_I8MM);
SAME_BIT(CPU_BF16, HONE_NEEDS_BF16);

_Static_assert((int)HONE_MAX_SYMBOLS == HONE_ARTIFACT_SYMBOLS, "sizes of the caller");
_Static_assert((int)HONE_MAX_SIZES == HONE_ARTIFACT_SIZES, "all sizes");

void emit_io(struct strbuf *out, const char *side, const struct port *ports, size_t count) {
  for (size_t i = 0; i < count; i++) {
    strbuf_printf(out, "static const char %s%zu_name[] = ", side, i);
    emit_name(out, ports[i].name);
    strbuf_printf(out, ";\nstatic const int64_t %s%zu_dims[] = {", side, i);
    for (int d = 0; d < ports[i].shape.rank; d++)
      strbuf_printf(out, "%lld, ", (long long)ports[i].shape.dims[d]);
    strbuf_puts(out, "0};\n");
    strbuf_printf(out, "static const int32_t %s%zu_extents[] = {", side, i);
    for (int d = 0; d < ports[i].shape.rank; d++) strbuf_printf(out, "%u, ", ports[i].extents[d]);
    strbuf_puts(out, "0};\n");
    if (!ports[i].slope) continue;
    strbuf_printf(out, "static const int64_t %s%zu_slopes[] = {", side, i);
    for (int k = 0; k < HONE_MAX_SIZES; k++)
      for (int d = 0; d < ports[i].shape.rank; d++)
        strbuf_printf(out, "%lld, ", (long long)ports[i].slope[d].of[k]);
    strbuf_puts(out, "0};\n");
  }
  strbuf_printf(out, "static const struct hone_io_info %ss[] = {\n", side);
  for (size_t i = 0; i < count; i++) {
    strbuf_printf(out, "    {.name = %s%zu_name,\n     .dtype = %d, /* %s */\n     .rank = %d,\n",
                  side, i, (int)ports[i].dtype, dtype_name(ports[i].dtype), ports[i].shape.rank);
    strbuf_printf(out, "     .dims = %s%zu_dims,\n     .alias = %d,\n     .extents = %s%zu_extents",
                  side, i, ports[i].alias, side, i);
    if (ports[i].slope) strbuf_printf(out, ",\n     .slopes = %s%zu_slopes", side, i);
    strbuf_puts(out, "},\n");
  }
  strbuf_puts(out, count ? "};\n" : "    {0}};\n");
  strbuf_printf(out, "enum { %s_count = %zu };\n\n", side, count);
}

static void put_slope(struct strbuf *out, const struct slope *slope) {
  strbuf_puts(out, "{");
  for (int k = 0; k < HONE_MAX_SIZES; k++) strbuf_printf(out, "%lld, ", (long long)slope->of[k]);
  strbuf_puts(out, "}");
}

static void emit_derived(struct strbuf *out, const struct symbols *symbols) {
  strbuf_puts(out, "static const struct hone_derived_size derived[] = {\n");
  for (size_t j = 0; j < symbols->derived_count; j++) {
    const struct derived_size *size = &symbols->derived[j];
    strbuf_printf(out, "    {%lld, %lld, %lld, ", (long long)size->bound, (long long)size->a,
                  (long long)size->b);
    put_slope(out, &size->a_slope);
    strbuf_puts(out, ", ");
    put_slope(out, &size->b_slope);
    strbuf_printf(out, ", %lld},\n", (long long)size->divisor);
  }
  strbuf_puts(out, symbols->derived_count ? "};\n" : "    {0}};\n");
}

void emit_symbols(struct strbuf *out, const struct symbols *symbols) {
  size_t length = 0;
  const char *text = hone_embedded_text("run/less.h", &length);
  if (!symbols->count) return;
  if (text) strbuf_append(out, text, length);
  strbuf_puts(out, "static const int64_t bounds[] = {");
  for (size_t k = 0; k < symbols->count; k++)
    strbuf_printf(out, "%lld, ", (long long)symbols->at[k].bound);
  strbuf_puts(out, "0};\nstatic const int64_t least[] = {");
  for (size_t k = 0; k < symbols->count; k++)
    strbuf_printf(out, "%lld, ", (long long)symbols->at[k].least);
  strbuf_puts(out, "0};\nstatic const char *const symbols[] = {");
  for (size_t k = 0; k < symbols->count; k++) strbuf_printf(out, "\"%s\", ", symbols->at[k].name);
  strbuf_puts(out, "0};\n");
  emit_derived(out, symbols);
  strbuf_puts(out, "\n");
}

enum { TEXT_WEIGHTS = 64 << 10 };

enum { LINE_BYTES = 256 }; /* of weights, per line of source */

/* Prints a part of a string literal; out: at least 4 characters a byte and one more. */
static size_t quote_bytes(const unsigned char *bytes, size_t count, char *out) {
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    unsigned char c = bytes[i];
    if (c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '?') {
      out[n++] = (char)c;
      continue;
    }
    out[n++] = '\\';
    for (int shift = 6; shift >= 0; shift -= 3) out[n++] = (char)('0' + (c >> shift & 7));
  }
  return n;
}

/* One string literal: compilers make one object of it, but one node per number otherwise (2.1
   MB, gcc 12 -O2: 0.10 s against 0.70 s for 64-bit words; clang 14 0.03 and 0.35). */
static hone_status put_string(struct ctx *ctx, struct arena *arena, const struct emitted *made,
                              struct strbuf *out) {
  unsigned char *bytes;
  char line[4 * LINE_BYTES + 1];
  TRY(NEW_ARRAY(ctx, arena, bytes, made->weights_bytes + 64));
  for (size_t i = 0; i < made->part_count; i++)
    emitted_pack(made, i, bytes + made->parts[i].offset);
  for (size_t i = 0; i < made->weights_bytes; i += LINE_BYTES) {
    size_t left = made->weights_bytes - i;
    strbuf_puts(out, "\n\"");
    strbuf_append(out, line, quote_bytes(bytes + i, left < LINE_BYTES ? left : LINE_BYTES, line));
    strbuf_puts(out, "\"");
  }
  strbuf_puts(out, ";\n");
  return HONE_OK;
}

static hone_status emit_string(struct emitter *e, const struct emitted *made) {
  strbuf_printf(e->out, "static const _Alignas(64) char packed[%zu + 1] =", made->weights_bytes);
  return put_string(e->ctx, e->arena, made, e->out);
}

hone_status emit_weights_text(struct ctx *ctx, struct arena *arena, const struct emitted *emitted,
                              const char *prefix, struct strbuf *out) {
  strbuf_printf(out,
                "HIDDEN extern const unsigned char %s_weights[];\n"
                "_Alignas(64) const unsigned char %s_weights[%zu + 1] =",
                prefix, prefix, emitted->weights_bytes);
  return put_string(ctx, arena, emitted, out);
}

static hone_status emit_weights(struct emitter *e, const struct emitted *made) {
  /* the C standard guarantees strings of 4,095 bytes, not more */
  if (made->weights_bytes > TEXT_WEIGHTS && !e->plan->schedule.target.is_portable)
    return emit_string(e, made);
  if (!made->weights_bytes) {
    strbuf_puts(e->out, "static const uint32_t packed[1];\n");
    return HONE_OK;
  }
  uint32_t *words;
  TRY(NEW_ARRAY(e->ctx, e->arena, words, made->weights_bytes / 4 + 1));
  for (size_t i = 0; i < made->part_count; i++)
    emitted_pack(made, i, (char *)words + made->parts[i].offset);
  strbuf_puts(e->out, "static const _Alignas(64) uint32_t packed[] = {");
  for (size_t i = 0; i < made->weights_bytes / 4; i++)
    strbuf_printf(e->out, "%s0x%xu,", i % 12 ? "" : "\n", words[i]);
  strbuf_puts(e->out, "};\n");
  return HONE_OK;
}

hone_status emit_info(struct emitter *e, const char *prefix, struct emitted *made) {
  size_t at, arena_bytes = e->plan->arena_bytes;
  if (e->profiles) emit_profile_layout(e->plan, e->profiles, &at, &arena_bytes);
  bool as_source = e->embeds || made->weights_bytes <= TEXT_WEIGHTS;
  char hash[33];
  struct strbuf id = {0};
  hash_weights(made, &id);
  strbuf_puts(&id, e->head.hash);
  for (size_t i = 0; i < made->unit_count; i++) {
    hash_hex(hash, made->units[i].source.at, made->units[i].source.length);
    strbuf_puts(&id, hash);
  }
  hone_status status = strbuf_finish(e->ctx, &id);
  if (!status) hash_hex(made->build_id, id.at, id.length);
  strbuf_deinit(&id);
  TRY(status);
  if (as_source)
    TRY(emit_weights(e, made));
  else
    strbuf_printf(e->out,
                  "#ifdef HONE_EMBEDDED_WEIGHTS\nHIDDEN extern const unsigned char %s_weights[];\n"
                  "#define PACKED %s_weights\n#else\n#define PACKED NULL\n#endif\n",
                  e->weights, e->weights);
  strbuf_printf(
      e->out,
      "static const struct hone_artifact_info info = {\n"
      "    .abi = HONE_ARTIFACT_ABI,\n    .flags = 0x%x,\n    .build_id = \"%s\",\n"
      "    .generator = \"hone %s%s\",\n    .arena_bytes = %zuu,\n    .weights_bytes = %zuu,\n"
      "    .table_bytes = %zuu,\n"
      "    .weights = %s,\n    .input_count = input_count,\n    .output_count = output_count,\n"
      "    .inputs = inputs,\n    .outputs = outputs,\n    .run = run,\n",
      e->plan->schedule.target.features, made->build_id, HONE_VERSION, plan_preference(e->plan),
      arena_bytes, made->weights_bytes, e->plan->table_bytes, as_source ? "packed" : "PACKED");
  if (e->plan->symbols.count)
    strbuf_printf(e->out,
                  "    .symbol_count = %zu,\n    .bounds = bounds,\n    .symbols = symbols,\n"
                  "    .least = least,\n    .derived_count = %zu,\n    .derived = derived,\n",
                  e->plan->symbols.count, e->plan->symbols.derived_count);
  strbuf_puts(e->out, "};\n\n");
  strbuf_printf(e->out,
                "EXPORTED const struct hone_artifact_info *%s_artifact(void);\n"
                "const struct hone_artifact_info *%s_artifact(void) { return &info; }\n",
                prefix, prefix);
  if (as_source) made->weights_bytes = made->part_count = 0;
  return HONE_OK;
}
