/* run: what an artifact needs around it: thread team and loader. */
#ifndef HONE_RUN_H
#define HONE_RUN_H

#include "core/os/os.h"
#include "core/base/base.h"
#include "artifact.h"
#include "compiler/run/embedded/less.h"

/* -- team.c */

/* Persistent workers; thread 0 is the caller. They spin at most ~50 us between runs, then sleep
   on a futex. pin: thread t is bound to the t-th allowed CPU; team_destroy restores the caller's
   CPUs. Any thread may call run. The workers serve one run at a time: a call that finds them
   busy does its job on its own thread, with the same results. In a child made by fork() the
   first run starts new workers. team_destroy: no run may be in progress. */
struct team;
MUST_USE hone_status team_create(struct ctx *ctx, int thread_count, bool pin, struct team **out);
void team_destroy(struct team *team);
const struct hone_team *team_interface(struct team *team);

/* -- loader.c */

/* A loaded .so with its weights and arena. */
struct loaded {
  const struct hone_artifact_info *info;
  void *library;
  struct mapping weights_file; /* when not embedded */
  const void *weights;         /* embedded or in that file */
  /* the thread that moves the weights to huge pages; NULL: not worth it */
  struct weights_copy *copy;
  struct arena_pool *arenas;
  void *arena; /* one arena, for a caller whose runs never overlap */
  size_t arena_bytes;
};
/* The code may need features that this processor lacks: compare info->flags before the first
   run. symbol NULL: the one that the library exports. Checks ABI, sizes and the build id of the
   .weights file. */
MUST_USE hone_status artifact_load(struct ctx *ctx, const char *path, const char *symbol,
                                   struct loaded *out);
/* True once the weights are in their final memory. Runs need not check. */
bool weights_are_settled(const struct loaded *loaded);
/* No run may be in progress. */
void artifact_unload(struct loaded *loaded);

/* -- arenas.c */

/* An arena for one run: mmap'ed, populated, guard pages on both sides. Any thread may call; if
   as many runs are in progress as there are cores, it waits for one to end. */
struct run_arena;
MUST_USE hone_status arenas_take(struct ctx *ctx, struct arena_pool *pool, struct run_arena **out,
                                 void **out_memory);
void arenas_give(struct arena_pool *pool, struct run_arena *arena);

#endif
