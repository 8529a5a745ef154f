/* compile: the pipeline on one screen. bytes -> graph -> passes -> plan -> C text -> artifact. */
#ifndef HONE_COMPILE_H
#define HONE_COMPILE_H

#include "compiler/source/source.h"
#include "compiler/import/import.h"
#include "compiler/passes/passes.h"
#include "compiler/plan/plan.h"
#include "compiler/run/run.h"
#include "compiler/toolchain/toolchain.h"

/* A model in memory: graph and what it points into. One arena. */
struct model {
  struct arena *arena;
  const char *path; /* and how it was read, to read it again at other open sizes */
  struct import_options options;
  struct symbols symbols; /* of options.shapes; the graph is that at their bounds */
  struct model_file file;
  struct graph *graph;
  struct open_dimensions open; /* of a built-in model: what export_onnx_open leaves open */
  char content_hash[33];
  char sha256[65];
};
/* Reads a file, or builds "zoo:NAME" through the hook (libhone knows no zoo by itself: handed in). */
MUST_USE hone_status model_load(struct ctx *ctx, const char *path,
                                const struct import_options *options, struct model *out);
void model_unload(struct model *model);
/* The model with its open sizes fixed, 1 <= sizes[k] <= bound of symbol k. */
MUST_USE hone_status model_at(struct ctx *ctx, const struct model *model, const int64_t *sizes,
                              struct model *out);

struct compile_options {
  struct target target;
  /* of an artifact of several levels, ascending, of which it takes the best at run time; 0: target alone */
  struct target levels[TARGET_LEVELS_MAX];
  size_t level_count;
  int threads; /* tuned for; the artifact runs with any number */
  const char *cc, *prefix, *keep;
  const char *kernel_dir; /* texts of kernels that replace hone's own, or NULL */
  bool embeds;            /* C text holds its weights, whatever their size */
  bool debug;
  bool no_cache;
  bool no_passes;      /* plain kernels, for differential tests */
  bool prefers_size;   /* smaller constants, where faster ways need larger ones */
  bool bf16;           /* products in bf16, sums in f32 */
  bool fp16;           /* weights that a product waits for in f16, all else in f32 */
  const char *choices; /* file of a choice table; NULL: the tuned one, if any */
  bool untuned;        /* no choice table at all */
  const char *dump_after, *stop_after; /* pass names, or "import", "plan", "emit" */
  void (*dump)(void *user, const char *stage, const char *text, size_t length);
  void *user;
  struct compile_profile *profile; /* filled, and the artifact times its steps; NULL: neither */
};
/* Sets bf16 and fp16 by the name of a precision: as-is, fp32, bf16, fp16; false where it is none of them. */
MUST_USE bool compile_precision(const char *name, struct compile_options *out);

/* The steps of an artifact that is compiled to be profiled. */
struct compile_profile {
  struct arena *arena; /* the caller's: all that follows lies there */
  int threads;         /* the caller's: whose steps are timed */
  size_t offset; /* of struct hone_profile_entry [threads][step_count] in the artifact's arena */
  size_t step_count;
  struct profiled_step {
    const char *kind, *op, *shape; /* "gemm_f32", "MatMul", "[1,128,768]" */
    const char *problem, *choice;  /* of kernels; "" */
    size_t node_count;
    struct profiled_node { /* of the model as it came: what this step computes */
      const char *op, *name;
      int64_t index;
    } * nodes;
    struct work work;
    bool serial; /* on one thread */
  } * steps;
  double weights_bytes, arena_bytes;
};
#define COMPILE_DTYPES 32
struct compile_report {
  double import_ms, passes_ms, plan_ms, emit_ms, toolchain_ms;
  size_t arena_bytes, weights_bytes, artifact_bytes, c_bytes;
  size_t node_count, step_count;
  bool from_cache;
  struct board_footprint footprint; /* of an archive for a board */
  size_t tuned_steps;               /* done as the tuned table says */
  double work[COMPILE_DTYPES]; /* FLOPs and bytes of the plan by what a step reads, by hone_dtype */
  double
      generic_share; /* of the plan's FLOPs and bytes: in plain steps that one thread does alone */
};
/* -- inside the folder: profile.c */
/* model: as it came, before the passes. */
MUST_USE hone_status describe_steps(struct ctx *ctx, const struct graph *model,
                                    const struct plan *plan, struct compile_profile *out);

/* -- pipeline.c */
/* Consumes nothing: the model stays usable (passes run on a copy). */
MUST_USE hone_status compile_model(struct ctx *ctx, const struct model *model,
                                   const struct compile_options *options, const char *path,
                                   struct compile_report *out_report);
/* Compiled in a temporary folder and loaded: code for this processor alone, what it lacks is
   refused, with a team of options->threads (out_team NULL: none). On failure nothing stays open; else the caller ends both. */
MUST_USE hone_status compile_loaded(struct ctx *ctx, const struct model *model,
                                    const struct compile_options *options, struct loaded *out,
                                    struct team **out_team);
/* The plan alone, as compile_model would make it; lives in the arena, points into the model. */
MUST_USE hone_status compile_plan(struct ctx *ctx, struct arena *arena, const struct model *model,
                                  const struct compile_options *options, struct plan **out);

/* -- bisect.c: the first pass after which the reference no longer gives what is right */
struct bisect_options {
  const hone_tensor *inputs;
  bool (*is_right)(void *user, const hone_tensor *outputs);
  /* NULL; else called after each pass, before the graph is evaluated: for tests, which spoil it. */
  hone_status (*plant)(void *user, struct ctx *ctx, const struct pass *pass, struct graph *graph);
  void *user;
};
struct pass_bisection {
  const char *pass, *reason; /* NULL: the graph is right after every pass */
  size_t evaluated;          /* passes that changed something */
  char words[512];           /* why the graph cannot even be evaluated; "" */
};
MUST_USE hone_status compile_bisect(struct ctx *ctx, const struct model *model,
                                    const struct bisect_options *options,
                                    struct pass_bisection *out);

/* -- tuned.c: the choice table that hone tune keeps in the cache: one for a processor, level, thread count, compiler and state of the kernels' texts, so that all models share what like shapes need */

MUST_USE hone_status tuned_path(struct ctx *ctx, const struct compile_options *options,
                                char out[4096]);
/* An empty table where there is none. */
MUST_USE hone_status tuned_read(struct ctx *ctx, struct arena *arena,
                                const struct compile_options *options, struct choice_table *out);
/* The table with `added` in it: the last word on a problem counts. Atomic; two writers at once lose one
   side's additions, no more. */
MUST_USE hone_status tuned_add(struct ctx *ctx, struct arena *arena,
                               const struct compile_options *options,
                               const struct choice_table *added);
#endif
