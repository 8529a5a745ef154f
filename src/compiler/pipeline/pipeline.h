/* The compilation pipeline: bytes -> graph -> passes -> plan -> C source -> artifact. */
#ifndef HONE_COMPILE_H
#define HONE_COMPILE_H

#include "compiler/source/source.h"
#include "compiler/import/import.h"
#include "compiler/passes/passes.h"
#include "compiler/plan/plan.h"
#include "compiler/run/run.h"
#include "compiler/toolchain/toolchain.h"

/* A model in memory: a graph and everything that it points to, in one arena. */
struct model {
  struct arena *arena;
  const char *path; /* how it was read, to read it again with other dynamic sizes */
  struct import_options options;
  struct symbols symbols; /* of options.shapes; the graph has the sizes at their bounds */
  struct model_file file;
  struct graph *graph;
  /* of a built-in model: the dimensions that export_onnx_open leaves dynamic */
  struct open_dimensions open;
  char content_hash[33];
  char sha256[65];
};
/* Reads a file, or builds "zoo:NAME" through the hook (libhone has no built-in models itself). */
MUST_USE hone_status model_load(struct ctx *ctx, const char *path,
                                const struct import_options *options, struct model *out);
void model_unload(struct model *model);
/* The model with its dynamic sizes fixed, 1 <= sizes[k] <= bound of symbol k. It may share constants with
 * `model`, which must outlive it. */
MUST_USE hone_status model_at(struct ctx *ctx, const struct model *model, const int64_t *sizes,
                              struct model *out);

struct compile_options {
  struct target target;
  /* of an artifact with several levels, ascending, which selects the best at run time; 0: target
     alone */
  struct target levels[TARGET_LEVELS_MAX];
  size_t level_count;
  int threads; /* tuned for; the artifact runs with any number of threads */
  const char *cc, *prefix, *keep;
  const char *kernel_dir; /* folder of kernel sources that replace hone's own, or NULL */
  bool embeds;            /* the C source contains weights of any size */
  bool debug;
  bool no_cache;
  bool no_passes;      /* generic kernels only, for differential tests */
  bool prefers_size;   /* prefer small constants to faster forms that need larger ones */
  bool bf16;           /* matmuls in bf16, accumulated in f32 */
  bool fp16;           /* weights of memory-bound matmuls in f16, everything else in f32 */
  const char *choices; /* file of a choice table; NULL: the tuned one, if any */
  bool untuned;        /* no choice table at all */
  const char *dump_after, *stop_after; /* pass names, or "import", "plan", "emit" */
  void (*dump)(void *user, const char *stage, const char *text, size_t length);
  void *user;
  struct compile_profile *profile; /* filled, and the artifact times its steps; NULL: neither */
};
/* Sets bf16 and fp16 for a precision: as-is, fp32, bf16, fp16; false for any other name. */
MUST_USE bool compile_precision(const char *name, struct compile_options *out);

/* The steps of an artifact that is compiled for profiling. */
struct compile_profile {
  struct arena *arena; /* the caller's: holds everything below */
  int threads;         /* the caller's: threads whose steps are timed */
  size_t offset; /* of struct hone_profile_entry [threads][step_count] in the artifact's arena */
  size_t step_count;
  struct profiled_step {
    const char *kind, *op, *shape; /* "gemm_f32", "MatMul", "[1,128,768]" */
    const char *problem, *choice;  /* of kernels; else "" */
    size_t node_count;
    struct profiled_node { /* nodes of the original model that this step computes */
      const char *op, *name;
      int64_t index;
    } * nodes;
    struct work work;
    bool serial; /* runs on one thread */
  } * steps;
  double weights_bytes, arena_bytes;
};
#define COMPILE_DTYPES 32
struct compile_report {
  double import_ms, passes_ms, plan_ms, emit_ms, toolchain_ms;
  size_t arena_bytes, weights_bytes, artifact_bytes, c_bytes;
  size_t node_count, step_count;
  bool from_cache;
  struct board_footprint footprint; /* of an archive for a microcontroller */
  size_t tuned_steps;               /* steps that use the tuned table */
  double work[COMPILE_DTYPES];      /* FLOPs and bytes of the plan by operand type, by hone_dtype */
  double generic_share; /* share of the plan's FLOPs and bytes in serial generic kernels */
};
/* -- inside the folder: profile.c */
/* model: the original, before the passes. */
MUST_USE hone_status describe_steps(struct ctx *ctx, const struct graph *model,
                                    const struct plan *plan, struct compile_profile *out);

/* -- pipeline.c */
/* Leaves the model usable (passes run on a copy). */
MUST_USE hone_status compile_model(struct ctx *ctx, const struct model *model,
                                   const struct compile_options *options, const char *path,
                                   struct compile_report *out_report);
/* Compiles in a temporary folder and loads the result, for this processor only (missing features
   are an error), with a thread team of options->threads (out_team NULL: none). On success the
   caller unloads both; on failure nothing stays open. */
MUST_USE hone_status compile_loaded(struct ctx *ctx, const struct model *model,
                                    const struct compile_options *options, struct loaded *out,
                                    struct team **out_team);
/* The plan alone, as compile_model would make it; lives in the arena, points into the model. The
   data of its constants may not be read. */
MUST_USE hone_status compile_plan(struct ctx *ctx, struct arena *arena, const struct model *model,
                                  const struct compile_options *options, struct plan **out);

/* -- bisect.c: the first pass after which the reference's outputs are wrong */
struct bisect_options {
  const hone_tensor *inputs;
  bool (*is_right)(void *user, const hone_tensor *outputs);
  /* NULL, or called after each pass, before the graph is evaluated: tests use it to corrupt the
     graph. */
  hone_status (*plant)(void *user, struct ctx *ctx, const struct pass *pass, struct graph *graph);
  void *user;
};
struct pass_bisection {
  const char *pass, *reason; /* NULL: the outputs are right after every pass */
  size_t evaluated;          /* passes that changed the graph */
  char words[512];           /* why the graph cannot be evaluated; "" */
};
MUST_USE hone_status compile_bisect(struct ctx *ctx, const struct model *model,
                                    const struct bisect_options *options,
                                    struct pass_bisection *out);

/* -- tuned.c: the choice table that hone tune stores in the cache: one per processor, level,
   thread count, compiler and version of the kernel sources, shared by all models */

MUST_USE hone_status tuned_path(struct ctx *ctx, const struct compile_options *options,
                                char out[4096]);
/* An empty table if there is none. */
MUST_USE hone_status tuned_read(struct ctx *ctx, struct arena *arena,
                                const struct compile_options *options, struct choice_table *out);
/* The table with `added` in it: the last entry for a problem counts. Atomic; if two processes
   write at once, only one side's additions are lost. */
MUST_USE hone_status tuned_add(struct ctx *ctx, struct arena *arena,
                               const struct compile_options *options,
                               const struct choice_table *added);
#endif
