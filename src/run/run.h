/* run: what lives around an artifact: thread team and loader. */
#ifndef HONE_RUN_H
#define HONE_RUN_H

#include "../base/base.h"
#include "artifact.h"
#include "text/less.h"

/* -- team.c ----------------------------------------------------------------------------------- */

/* Persistent workers, thread 0 is the caller. Spins at most ~50 us of time between runs, then
   sleeps on a futex. pin: thread t is bound to the t-th allowed CPU; team_destroy gives the caller
   its CPUs back. One run at a time, none from inside a run. */
struct team;
MUST_USE hone_status team_create(struct ctx *ctx, int thread_count, bool pin, struct team **out);
void team_destroy(struct team *team);
const struct hone_team *team_interface(struct team *team);

/* -- loader.c --------------------------------------------------------------------------------- */

/* A loaded .so with its weights and arena. */
struct loaded {
  const struct hone_artifact_info *info;
  void *library;
  struct mapping weights_file; /* when not embedded */
  const void *weights;         /* embedded or in that file */
  struct weights_copy
      *copy;   /* the thread that puts huge pages in their place; NULL: not worth it */
  void *arena; /* mmap'ed, populated, guard pages on both sides */
  size_t arena_bytes;
  void *arena_map; /* with the guards */
  size_t arena_map_bytes;
};
/* Its code may need more than this processor has: compare info->flags before the first run.
   symbol NULL: the one that the library exports. Checks abi, sizes and build id of the .weights
   file. */
MUST_USE hone_status artifact_load(struct ctx *ctx, const char *path, const char *symbol,
                                   struct loaded *out);
/* Whether the weights lie in the memory in which they will stay. Runs need not ask. */
bool weights_are_settled(const struct loaded *loaded);
void artifact_unload(struct loaded *loaded);

#endif
