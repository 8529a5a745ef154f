/* The queue of requests to the language model, and the thread that generates. */
#include "completions.h"

#include <pthread.h>
#include <stdlib.h>

#include "completion.h"
#include "server.h"

struct completions {
  struct server *server;
  struct hone_generator *generator;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  struct completion *queue[COMPLETIONS_MOST];
  size_t count;
  bool is_ending, has_thread;
};

/* -- one completion */

/* Under the lock. */
static void wake_connection(struct completion *c) {
  if (!c->is_waiting) return;
  c->is_waiting = false;
  c->owner->server->http.resume_connection(c->connection);
}

static void release(struct completion *c) {
  pthread_mutex_lock(&c->owner->lock);
  const bool is_last = --c->users == 0;
  pthread_mutex_unlock(&c->owner->lock);
  if (!is_last) return;
  json_decref(c->body);
  strbuf_deinit(&c->ready);
  strbuf_deinit(&c->text);
  free(c);
}

/* Until the first byte of a stream, or the end: the status of the response is known then. */
bool completion_waits(struct completion *c) {
  pthread_mutex_lock(&c->owner->lock);
  const bool waits = !c->is_done && !(c->is_stream && c->ready.length);
  if (waits && !c->owner->is_ending) {
    c->is_waiting = true;
    c->owner->server->http.suspend_connection(c->connection);
  }
  const bool is_ending = c->owner->is_ending;
  pthread_mutex_unlock(&c->owner->lock);
  return waits && !is_ending;
}

ssize_t completion_read(void *user, uint64_t position, char *buffer, size_t size) {
  struct completion *c = user;
  (void)position;
  pthread_mutex_lock(&c->owner->lock);
  const size_t left = c->ready.length - c->sent, n = left < size ? left : size;
  ssize_t result = (ssize_t)n;
  memcpy(buffer, c->ready.at ? c->ready.at + c->sent : "", n);
  c->sent += n;
  if (c->sent == c->ready.length) c->sent = c->ready.length = 0;
  if (!n && (c->is_done || c->owner->is_ending)) {
    result = MHD_CONTENT_READER_END_OF_STREAM;
  } else if (!n) {
    c->is_waiting = true;
    c->owner->server->http.suspend_connection(c->connection);
  }
  pthread_mutex_unlock(&c->owner->lock);
  return result;
}

void completion_end(void *user) {
  struct completion *c = user;
  pthread_mutex_lock(&c->owner->lock);
  c->is_cancelled = true;
  c->is_waiting = false;
  pthread_mutex_unlock(&c->owner->lock);
  release(c);
}

/* -- the thread */

static bool take_piece(void *user, const char *bytes, size_t size) {
  struct completion *c = user;
  pthread_mutex_lock(&c->owner->lock);
  if (c->is_stream)
    completion_put_piece(c, bytes, size);
  else
    strbuf_append(&c->text, bytes, size);
  if (c->is_stream) wake_connection(c);
  const bool goes_on = !c->is_cancelled && !c->owner->is_ending;
  pthread_mutex_unlock(&c->owner->lock);
  return goes_on;
}

static void run_one(struct completions *all, struct completion *c) {
  struct ctx *ctx = &c->ctx;
  ctx_init(ctx);
  if (!c->is_cancelled)
    c->status = generator_run(ctx, all->generator, &c->request, take_piece, c, &c->result);
  pthread_mutex_lock(&all->lock);
  if (!c->status) completion_finish(c);
  c->is_done = true;
  wake_connection(c);
  pthread_mutex_unlock(&all->lock);
  release(c);
}

static void *work(void *user) {
  struct completions *all = user;
  pthread_mutex_lock(&all->lock);
  while (!all->is_ending) {
    if (!all->count) {
      pthread_cond_wait(&all->wake, &all->lock);
      continue;
    }
    struct completion *c = all->queue[0];
    memmove(all->queue, all->queue + 1, --all->count * sizeof *all->queue);
    pthread_mutex_unlock(&all->lock);
    run_one(all, c);
    pthread_mutex_lock(&all->lock);
  }
  while (all->count) {
    struct completion *c = all->queue[--all->count];
    c->is_done = true;
    c->status = HONE_E_INTERRUPTED;
    wake_connection(c);
    pthread_mutex_unlock(&all->lock);
    release(c);
    pthread_mutex_lock(&all->lock);
  }
  pthread_mutex_unlock(&all->lock);
  return NULL;
}

hone_status completion_submit(struct ctx *ctx, struct completions *all, struct completion *c) {
  c->owner = all;
  c->users = 2; /* the request and the thread */
  pthread_mutex_lock(&all->lock);
  const bool has_room = all->count < COMPLETIONS_MOST && !all->is_ending;
  if (has_room) all->queue[all->count++] = c;
  pthread_cond_signal(&all->wake);
  pthread_mutex_unlock(&all->lock);
  return has_room
             ? HONE_OK
             : fail(ctx, HONE_E_BUSY, place_none(), "%d requests wait already", COMPLETIONS_MOST);
}

hone_status completions_start(struct ctx *ctx, struct server *server,
                              struct hone_generator *generator, struct completions **out) {
  *out = NULL;
  if (!generator) return HONE_OK;
  struct completions *all = calloc(1, sizeof *all);
  if (!all) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a queue");
  all->server = server;
  all->generator = generator;
  pthread_mutex_init(&all->lock, NULL);
  pthread_cond_init(&all->wake, NULL);
  all->has_thread = !pthread_create(&all->thread, NULL, work, all);
  *out = all;
  return all->has_thread ? HONE_OK : fail(ctx, HONE_E_OOM, place_none(), "no thread to generate");
}

const struct hone_generator *completions_generator(const struct completions *all) {
  return all->generator;
}

void completions_end(struct completions *all) {
  if (!all) return;
  pthread_mutex_lock(&all->lock);
  all->is_ending = true;
  pthread_cond_signal(&all->wake);
  pthread_mutex_unlock(&all->lock);
  if (all->has_thread) pthread_join(all->thread, NULL);
  all->has_thread = false;
}

void completions_stop(struct completions *all) {
  if (!all) return;
  completions_end(all);
  pthread_cond_destroy(&all->wake);
  pthread_mutex_destroy(&all->lock);
  free(all);
}
