/* The C source of one kernel, as the emitter writes it: #defines, source, #undefs, and an exported
 * entry. For the tests and the benchmark of kernels. */
#ifndef HONE_KERNEL_SNIPPET_H
#define HONE_KERNEL_SNIPPET_H

#include "core/os/os.h"
#include "core/base/base.h"
#include "compiler/source/source.h"
#include "compiler/kernels/kernels.h"

typedef void kernel_function(const void *a, const void *b, void *c, const void *const *e,
                             void *scratch, long begin, long end);
typedef void pack_function(const void *b, void *packed, long begin, long end);

struct isa {
  const char *name;
  struct kernel_target target;
  const char *flags[16];
};
/* features: bits of machine.h (SSE42 AVX AVX2 FMA AVX512, VNNI BF16 VBMI). Speeds as the levels of target.c. */
#define SPEEDS(lanes, halves)                                                                   \
  .l1_way_bytes = 4 << 10, .clock_ghz = 3.8, .f32_macs = 2 * (lanes), .bf16_macs = (halves),    \
  .i8_macs = 4 * (lanes), .fma_latency = 4, .loads = 2, .l2_bytes_per_cycle = 32,               \
  .memory_bytes_per_cycle = 9, .memory_sharing = 1.5, .transform_cycles = 3.5,                  \
  .transform_half_cycles = 4.75, .winograd_loss = 1.08, .amx_tile_cycles = 60, .claim_ns = 100, \
  .fetch_ahead = 8192
static const struct isa isas[] = {
    {"sse2", {16, 16, 48 << 10, 1 << 20, 0, 2, SPEEDS(4, 4)}, {"-msse2", NULL}},
    {"avx2", {32, 16, 48 << 10, 1 << 20, 0xf, 2, SPEEDS(8, 8)}, {"-mavx2", "-mfma", NULL}},
    {"avx512",
     {64, 32, 48 << 10, 1 << 20, 0x2f, 2, SPEEDS(16, 16)},
     {"-mavx512f", "-mavx512bw", "-mavx512cd", "-mavx512dq", "-mavx512vl", "-mfma",
      "-mprefer-vector-width=512", NULL}},
    {"avx512bf16",
     {64, 32, 48 << 10, 1 << 20, 0x40ef, 2, SPEEDS(16, 64)},
     {"-mavx512f", "-mavx512bw", "-mavx512cd", "-mavx512dq", "-mavx512vl", "-mfma", "-mavx512vnni",
      "-mavx512vbmi", "-mavx512bf16", "-mprefer-vector-width=512", NULL}},
};
enum { ISA_COUNT = sizeof isas / sizeof isas[0] };
static inline bool isa_runs_here(const struct isa *isa) {
  __builtin_cpu_init();
  if (isa->target.features & 1 << 7)
    return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512bf16");
  if (isa->target.vector_bytes == 64) return __builtin_cpu_supports("avx512dq") != 0;
  if (isa->target.vector_bytes == 32)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return true;
}

static inline int widest_isa(void) {
  int widest = ISA_COUNT - 1;
  while (widest && !isa_runs_here(&isas[widest])) widest--;
  return widest;
}

static inline void snippet_begin(struct strbuf *text, const struct isa *isa) {
  struct ctx ctx;
  ctx_init(&ctx);
  strbuf_printf(text, "#define HONE_VECTOR_BYTES %d\n#define HIDDEN\n#define NOIPA\n",
                isa->target.vector_bytes);
  strbuf_puts(
      text,
      "#if defined __clang__\n#pragma clang fp contract(fast)\n#endif\n"); /* as emit_prelude */
  for (size_t i = 0; kernel_helpers[i]; i++)
    if (emit_kernel_source(&ctx, kernel_helpers[i], text))
      strbuf_puts(text, "#error a text lacks\n");
}

/* Defines run_INDEX and, where the row packs at run time, pack_INDEX. epilogue NULL: none; else integers that it
   gives for bytes become the nearest ones. */
static inline void snippet_add(struct strbuf *text, const struct isa *isa,
                               const struct problem *problem, const struct choice *choice,
                               int index, const char *epilogue) {
  const struct kernel *kernel = choice->kernel;
  for (int packs = 0; packs < 1 + (kernel->pack_source != NULL); packs++) {
    struct ctx ctx;
    char name[32];
    ctx_init(&ctx);
    snprintf(name, sizeof name, packs ? "pack_%d" : "run_%d", index);
    const bool saturates = epilogue && (problem->types.c == TYPE_U8 || problem->types.c == TYPE_I8);
    const struct kernel_alone alone = {problem,  choice, &isa->target, name,
                                       epilogue, packs,  saturates};
    if (emit_kernel_alone(&ctx, &alone, text)) strbuf_printf(text, "#error %s\n", ctx.message);
  }
}

static inline hone_status snippet_run(struct ctx *ctx, const char *folder, const char *name,
                                      const char *const *argv) {
  struct process_options options = {
      .argv = argv, .directory = folder, .fd_in = -1, .fd_out = -1, .timeout_ns = 300000000000ULL};
  struct process_result result;
  TRY(process_run(ctx, &options, &result));
  hone_status status = HONE_OK;
  if (result.exit_code != 0)
    status = fail(ctx, HONE_E_INTERNAL, place_none(), "%s: %.*s", name, (int)result.output.length,
                  result.output.at);
  strbuf_deinit(&result.output);
  return status;
}

/* Compiles folder/name.c to folder/name.so with the flags of generated code. An object first, in its folder and by its
   own name alone: a compiler cache then knows it again. */
static inline hone_status snippet_compile(struct ctx *ctx, const struct isa *isa,
                                          const char *folder, const char *name,
                                          const struct strbuf *text) {
  char path[4200], source[128], object[128], library[128];
  snprintf(path, sizeof path, "%s/%s.c", folder, name);
  snprintf(source, sizeof source, "%s.c", name);
  snprintf(object, sizeof object, "%s.o", name);
  snprintf(library, sizeof library, "%s.so", name);
  TRY(strbuf_finish(ctx, text));
  TRY(file_write_atomic(ctx, path, text->at, text->length, 0600));
  const char *named = getenv("HONE_CC"), *cc = named ? named : "cc";
  const char *argv[40] = {cc,
                          "-std=gnu11",
                          "-O2",
                          "-Wall",
                          "-Wextra",
                          "-Werror",
                          "-ffp-contract=fast",
                          "-fno-math-errno",
                          "-fno-trapping-math",
                          "-fno-tree-vectorize",
                          "-fPIC",
                          "-c"};
  int n = 12;
  for (int i = 0; isa->flags[i]; i++) argv[n++] = isa->flags[i];
  argv[n++] = source;
  argv[n++] = "-o";
  argv[n++] = object;
  TRY(snippet_run(ctx, folder, name, argv));
  const char *const link[] = {cc, "-shared", object, "-o", library, "-lm", NULL};
  return snippet_run(ctx, folder, name, link);
}

#endif
