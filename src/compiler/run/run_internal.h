/* What the files of this folder share. */
#ifndef HONE_RUN_INTERNAL_H
#define HONE_RUN_INTERNAL_H

#include "run.h"

#include <pthread.h>

#define HUGE_PAGE ((size_t)2 << 20)

/* weights.c: info is set; fills the weights' members. On failure weights_unload ends what was
 * begun. */
MUST_USE hone_status weights_load(struct ctx *ctx, const char *path, struct loaded *out);
void weights_unload(struct loaded *loaded);

/* checksum.c: the first `bytes` of the file have this checksum, now or when they were looked at last. */
MUST_USE hone_status checksum_check(struct ctx *ctx, const char *path, const struct mapping *file,
                                    size_t bytes, uint64_t wanted);

/* arenas.c: out_first gets the first arena's memory; it is idle. */
MUST_USE hone_status arenas_create(struct ctx *ctx, size_t bytes, struct arena_pool **out,
                                   void **out_first);
void arenas_destroy(struct arena_pool *pool);

/* fork.c. The lock is held across fork(): short stretches only. */
void fork_lock(void);
void fork_unlock(void);
void fork_wait(pthread_cond_t *condition); /* pthread_cond_wait with that lock */
void fork_watch(void);                     /* before anything else here is relied on */
uint32_t fork_count(void);                 /* of forks on the way to this process */

#endif
