/* Requests in flight for engines whose call is synchronous and thread-safe: one thread per set,
 * which sleeps until its set is submitted. The caller's thread does not compute, so submit returns
 * at once.
 */
#include "backends.h"

#include <pthread.h>
#include <stdlib.h>

enum slot_state { SLOT_IDLE, SLOT_GIVEN, SLOT_DONE, SLOT_ENDED };
struct slot {
  struct streams *streams;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  enum slot_state state;
  int set;
  hone_status status;
  char words[512];
  bool is_started;
};
struct streams {
  struct session *session;
  stream_call *call;
  int count;
  struct slot slots[BACKEND_MAX_SETS];
};

static void *serve(void *argument) {
  struct slot *slot = argument;
  struct ctx ctx;
  ctx_init(&ctx);
  pthread_mutex_lock(&slot->lock);
  for (;;) {
    while (slot->state != SLOT_GIVEN && slot->state != SLOT_ENDED)
      pthread_cond_wait(&slot->changed, &slot->lock);
    if (slot->state == SLOT_ENDED) break;
    pthread_mutex_unlock(&slot->lock);
    const hone_status status = slot->streams->call(&ctx, slot->streams->session, slot->set);
    pthread_mutex_lock(&slot->lock);
    slot->status = status;
    safe_copy(slot->words, sizeof slot->words, status ? ctx.message : "");
    slot->state = SLOT_DONE;
    pthread_cond_broadcast(&slot->changed);
  }
  pthread_mutex_unlock(&slot->lock);
  return NULL;
}

hone_status streams_create(struct ctx *ctx, int count, stream_call *call, struct session *session,
                           struct streams **out) {
  struct streams *streams = calloc(1, sizeof *streams);
  if (!streams) return fail(ctx, HONE_E_OOM, place_none(), "no memory for streams");
  *streams = (struct streams){.session = session, .call = call};
  *out = streams;
  for (int i = 0; i < count && i < BACKEND_MAX_SETS; i++) {
    struct slot *slot = &streams->slots[i];
    *slot = (struct slot){.streams = streams, .set = i};
    pthread_mutex_init(&slot->lock, NULL);
    pthread_cond_init(&slot->changed, NULL);
    if (pthread_create(&slot->thread, NULL, serve, slot))
      return fail(ctx, HONE_E_IO, place_none(), "no thread for a stream");
    slot->is_started = true;
    streams->count++;
  }
  return HONE_OK;
}

hone_status streams_submit(struct ctx *ctx, struct streams *streams, int set) {
  struct slot *slot = &streams->slots[set % streams->count];
  hone_status status = HONE_OK;
  pthread_mutex_lock(&slot->lock);
  if (slot->state != SLOT_IDLE)
    status = fail(ctx, HONE_E_INTERNAL, place_none(), "the set is already in flight");
  slot->set = set;
  if (!status) slot->state = SLOT_GIVEN;
  pthread_cond_broadcast(&slot->changed);
  pthread_mutex_unlock(&slot->lock);
  return status;
}

hone_status streams_wait(struct ctx *ctx, struct streams *streams, int set) {
  struct slot *slot = &streams->slots[set % streams->count];
  hone_status status = HONE_OK;
  pthread_mutex_lock(&slot->lock);
  while (slot->state == SLOT_GIVEN) pthread_cond_wait(&slot->changed, &slot->lock);
  if (slot->status) status = fail(ctx, slot->status, place_none(), "%s", slot->words);
  slot->state = SLOT_IDLE;
  pthread_mutex_unlock(&slot->lock);
  return status;
}

void streams_destroy(struct streams *streams) {
  for (int i = 0; streams && i < streams->count; i++) {
    struct slot *slot = &streams->slots[i];
    pthread_mutex_lock(&slot->lock);
    while (slot->state == SLOT_GIVEN) pthread_cond_wait(&slot->changed, &slot->lock);
    slot->state = SLOT_ENDED;
    pthread_cond_broadcast(&slot->changed);
    pthread_mutex_unlock(&slot->lock);
    pthread_join(slot->thread, NULL);
  }
  free(streams);
}
