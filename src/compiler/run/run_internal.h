/* Internal to run. */
#ifndef HONE_RUN_INTERNAL_H
#define HONE_RUN_INTERNAL_H

#include "run.h"

#include <pthread.h>

#define HUGE_PAGE ((size_t)2 << 20)

/* weights.c: info is set; fills the weights' fields. After a failure, weights_unload frees them. */
MUST_USE hone_status weights_load(struct ctx *ctx, const char *path, struct loaded *out);
void weights_unload(struct loaded *loaded);

/* checksum.c: checks that the first `bytes` of the file have this checksum, now or at the last
   full check. */
MUST_USE hone_status checksum_check(struct ctx *ctx, const char *path, const struct mapping *file,
                                    size_t bytes, uint64_t wanted);

/* arenas.c: out_first gets the memory of the first arena, which is idle. */
MUST_USE hone_status arenas_create(struct ctx *ctx, size_t bytes, struct arena_pool **out,
                                   void **out_first);
void arenas_destroy(struct arena_pool *pool);

/* fork.c. The lock is held across fork(): hold it only briefly. */
void fork_lock(void);
void fork_unlock(void);
void fork_wait(pthread_cond_t *condition); /* pthread_cond_wait with that lock */
void fork_watch(void);                     /* call before using anything else here */
uint32_t fork_count(void);                 /* number of forks that led to this process */

#endif
