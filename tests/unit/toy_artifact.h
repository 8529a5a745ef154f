/* A handwritten artifact as the emitter would write it: y[4,8] = x * w + shift, two translation
 * units, weights of 8 floats, embedded or in a separate file. For the tests of the toolchain and
 * the loader. */
#ifndef HONE_TOY_ARTIFACT_H
#define HONE_TOY_ARTIFACT_H

#include "compiler/toolchain/toolchain.h"

#define TOY_BUILD_ID "0123456789abcdef0123456789abcdef"

static const char toy_unit_0[] =
    "const struct hone_artifact_info *PREFIX(artifact)(void);\n"
    "void PREFIX(step)(const float *w, const float *x, const float *s, float *y, long begin, long "
    "end);\n"
    "struct job { const float *w; const struct hone_io *io; float *arena; int stage, chunks; };\n"
    "static void next(void *argument, int32_t t, struct hone_stage *stage) {\n"
    "  struct job *job = argument;\n"
    "  (void)t;\n"
    "  stage->chunks = job->stage++ < 2 ? stage->threads : 0;\n"
    "  job->chunks = stage->chunks;\n"
    "}\n"
    "static void work(void *argument, int32_t c, int32_t t) {\n"
    "  struct job *job = argument;\n"
    "  long begin = 4l * c / job->chunks, end = 4l * (c + 1) / job->chunks;\n"
    "  (void)t;\n"
    "  if (job->stage == 1)\n"
    "    PREFIX(step)(job->w, job->io->inputs[0], job->io->inputs[1], job->arena, begin, end);\n"
    "  /* reads what the others wrote: the rows in reverse order */\n"
    "  else for (long r = begin; r < end; r++)\n"
    "    for (int i = 0; i < 8; i++) ((float *)job->io->outputs[0])[r * 8 + i] = job->arena[(3 - "
    "r) * 8 + i];\n"
    "}\n"
    "static int32_t run(const void *weights, void *arena, const struct hone_io *io,\n"
    "                   const struct hone_team *team) {\n"
    "  struct job job = {weights, io, arena, 0, 0};\n"
    "  const struct hone_job shared = {&job, next, work};\n"
    "  if (team) team->run(team->self, &shared);\n"
    "  else for (struct hone_stage s = {1, 1}; next(&job, 0, &s), s.chunks;) work(&job, 0, 0);\n"
    "  return ((const float *)io->inputs[1])[0] == 666.0f ? 8 : 0;\n"
    "}\n"
    "#ifdef HONE_EMBEDDED_WEIGHTS\n"
    "extern const unsigned char PREFIX(weights)[] __attribute__((visibility(\"hidden\")));\n"
    "#define WEIGHTS PREFIX(weights)\n"
    "#else\n"
    "#define WEIGHTS 0\n"
    "#endif\n"
    "static const int64_t d48[] = {4, 8}, d1[] = {1};\n"
    "static const int32_t none[2];\n"
    "static const struct hone_io_info in[] = {{\"x\", 1, 2, d48, -1, none}, {\"shift\", 1, 1, d1, "
    "-1, none}};\n"
    "static const struct hone_io_info out[] = {{\"y\\033[31m\", 1, 2, d48, -1, none}};\n"
    "static const struct hone_artifact_info info = {HONE_ARTIFACT_ABI, 0,\n"
    "  \"" TOY_BUILD_ID
    "\", \"hone test\", 4 * 8 * sizeof(float), BYTES, WEIGHTS, 2, 1, in, out, run};\n"
    "__attribute__((visibility(\"default\")))\n"
    "const struct hone_artifact_info *PREFIX(artifact)(void) { return &info; }\n";

static const char toy_unit_1[] =
    "void PREFIX(step)(const float *w, const float *x, const float *s, float *y, long begin, long "
    "end);\n"
    "void PREFIX(step)(const float *w, const float *x, const float *s, float *y, long begin, long "
    "end) {\n"
    "  for (long r = begin; r < end; r++)\n"
    "    for (int i = 0; i < 8; i++) y[r * 8 + i] = x[r * 8 + i] * w[i] + s[0];\n"
    "}\n";

static const float toy_weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};

static inline float toy_expected(const float x[32], float shift, int i) {
  int row = 3 - i / 8, column = i % 8;
  return x[row * 8 + column] * toy_weights[column] + shift;
}

static const struct build_part toy_part = {0, sizeof toy_weights, toy_weights};

/* The texts live in `texts`, two of them; one unit if `single`. part: all weights, the eight first. */
static inline struct build_input toy_input(struct strbuf texts[2], struct build_unit units[2],
                                           const char *prefix, bool single,
                                           const struct build_part *part) {
  const char *abi = hone_embedded_text("run/artifact.h", NULL);
  for (int i = 0; i < (single ? 1 : 2); i++) {
    strbuf_printf(&texts[i], "%s\n#define PREFIX(x) %s_##x\n#define BYTES %zu\n", abi, prefix,
                  part->bytes);
    if (i == 0) strbuf_puts(&texts[i], toy_unit_0);
    if (i == 1 || single) strbuf_puts(&texts[i], toy_unit_1);
    units[i] = (struct build_unit){.source = texts[i].at, .length = texts[i].length};
  }
  return (struct build_input){.units = units,
                              .unit_count = single ? 1 : 2,
                              .weights_bytes = part->bytes,
                              .part_count = 1,
                              .parts = part,
                              .build_id = TOY_BUILD_ID,
                              .header = "/* toy */\n",
                              .prefix = prefix};
}

static inline hone_status toy_build(struct ctx *ctx, const char *cc, const char *path,
                                    const char *prefix, bool debug, uint64_t timeout_ns) {
  struct strbuf texts[2] = {{0}, {0}};
  struct build_unit units[2];
  struct build_input input =
      toy_input(texts, units, prefix, artifact_kind_of(path) == ARTIFACT_C, &toy_part);
  struct target target;
  hone_status status = target_init(ctx, NULL, NULL, &target);
  struct build_options options = {
      .target = &target, .cc = cc, .debug = debug, .timeout_ns = timeout_ns};
  if (!status) status = toolchain_build(ctx, &input, &options, path);
  strbuf_deinit(&texts[0]);
  strbuf_deinit(&texts[1]);
  return status;
}

#endif
