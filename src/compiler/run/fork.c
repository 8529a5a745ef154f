/* fork() in a program whose threads run models. The child has only the thread that forked, and
 * every lock in its current state. So fork_lock is held across fork(), which keeps the data that it
 * guards consistent in the child, and fork_count identifies what belongs to threads of an earlier
 * process.
 */
#include "run_internal.h"

#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t forks;

void fork_lock(void) { pthread_mutex_lock(&lock); }
void fork_unlock(void) { pthread_mutex_unlock(&lock); }
uint32_t fork_count(void) { return atomic_load_explicit(&forks, memory_order_relaxed); }
void fork_wait(pthread_cond_t *condition) { pthread_cond_wait(condition, &lock); }

static void in_child(void) {
  atomic_fetch_add(&forks, 1);
  fork_unlock();
}
static void watch(void) { pthread_atfork(fork_lock, fork_unlock, in_child); }

void fork_watch(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch);
}
