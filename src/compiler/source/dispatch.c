/* The translation unit that chooses between the levels of an artifact; each level is a complete
 * artifact with its own prefix.
 */
#include "source.h"

static void put_embedded(struct strbuf *out, const char *name) {
  size_t length = 0;
  const char *source = hone_embedded_text(name, &length);
  if (source) strbuf_append(out, source, length);
}

void emit_dispatch(const char *prefix, const struct emit_level *levels, size_t count,
                   struct strbuf *out) {
  strbuf_printf(out, "/* Made by hone %s: one model for %zu levels of the processor. */\n",
                HONE_VERSION, count);
  put_embedded(out, "run/artifact.h");
  put_embedded(out, "run/features.h");
  strbuf_puts(out,
              "\n#if defined __GNUC__\n#define HIDDEN __attribute__((visibility(\"hidden\")))\n"
              "#define EXPORTED __attribute__((visibility(\"default\")))\n#else\n#define HIDDEN\n"
              "#define EXPORTED\n#endif\n");
  for (size_t i = 0; i < count; i++)
    strbuf_printf(out, "HIDDEN const struct hone_artifact_info *%s_artifact(void);\n",
                  levels[i].prefix);
  strbuf_printf(
      out,
      "EXPORTED const struct hone_artifact_info *%s_artifact(void);\n"
      "EXPORTED const struct hone_artifact_info *%s_of_processor(uint32_t features);\n\n"
      "/* The level for a processor with these features (bits of hone_artifact_info.flags). */\n"
      "const struct hone_artifact_info *%s_of_processor(uint32_t features) {\n",
      prefix, prefix, prefix);
  for (size_t i = count; i-- > 1;)
    strbuf_printf(out, "  if (!(0x%xu & ~features)) return %s_artifact();\n", levels[i].features,
                  levels[i].prefix);
  strbuf_printf(out,
                "  (void)features;\n  return %s_artifact();\n}\n\n"
                "const struct hone_artifact_info *%s_artifact(void) {\n"
                "  return %s_of_processor(processor_features());\n}\n",
                levels[0].prefix, prefix, prefix);
}
