/* Streams that follow a job: server-sent events of its log and its state. */
#include "server.h"

#include <stdlib.h>

/* Lines of the log, each an event with the offset after it; then the state, when it changes. */
static void fill_stream(struct job_stream *stream) {
  struct strbuf log = {0};
  struct job job;
  const struct json_writer json = {&stream->ready};
  const bool exists = jobs_find(stream->server->jobs, stream->id, &job);
  const size_t begin = stream->at;
  stream->at = jobs_log(stream->server->jobs, stream->id, begin, &log);
  if (log.length) {
    strbuf_printf(&stream->ready, "id: %zu\nevent: log\ndata: ", stream->at);
    json_text(json, log.at);
    strbuf_puts(&stream->ready, "\n\n");
  }
  strbuf_deinit(&log);
  if (!exists) job.state = JOB_cancelled;
  if (job.state == stream->told) return;
  stream->told = job.state;
  strbuf_printf(&stream->ready, "event: state\ndata: \"%s\"\n\n", job_state_text(job.state));
  stream->has_ended = job.state != JOB_queued && job.state != JOB_running;
}

/* Called by the library when the connection can send; if there is nothing new it sleeps until the clock wakes it. */
ssize_t stream_read(void *user, uint64_t position, char *buffer, size_t size) {
  struct job_stream *stream = user;
  (void)position;
  if (stream->sent == stream->ready.length) {
    if (stream->has_ended) return MHD_CONTENT_READER_END_OF_STREAM;
    stream->ready.length = stream->sent = 0;
    fill_stream(stream);
    if (stream->ready.failed) return MHD_CONTENT_READER_END_WITH_ERROR;
  }
  if (stream->sent == stream->ready.length) {
    pthread_mutex_lock(&stream->server->lock);
    if (!stream->server->is_ending) {
      stream->is_waiting = true;
      stream->server->http.suspend_connection(stream->connection);
    }
    const bool is_ending = stream->server->is_ending;
    pthread_mutex_unlock(&stream->server->lock);
    return is_ending ? MHD_CONTENT_READER_END_OF_STREAM : 0;
  }
  const size_t left = stream->ready.length - stream->sent, n = left < size ? left : size;
  memcpy(buffer, stream->ready.at + stream->sent, n);
  stream->sent += n;
  return (ssize_t)n;
}

void stream_end(void *user) {
  struct job_stream *stream = user;
  struct server *server = stream->server;
  pthread_mutex_lock(&server->lock);
  for (struct job_stream **at = &server->streams; *at; at = &(*at)->next)
    if (*at == stream) {
      *at = stream->next;
      break;
    }
  server->stream_count -= stream->is_counted;
  pthread_mutex_unlock(&server->lock);
  strbuf_deinit(&stream->ready);
  free(stream);
}

hone_status job_events(struct request *request) {
  struct server *server = request->server;
  struct job job;
  const char *last = request_header(request, "Last-Event-ID");
  int64_t at = 0;
  if (!jobs_find(server->jobs, request->id, &job))
    return fail(&request->ctx, HONE_E_NOFILE, place_name(request->id), "no such upload");
  if (last && !parse_i64(last, 0, JOB_LOG, &at)) at = 0;
  struct job_stream *stream = calloc(1, sizeof *stream);
  if (!stream) return fail(&request->ctx, HONE_E_OOM, place_none(), "no memory for a stream");
  *stream = (struct job_stream){.server = server,
                                .connection = request->connection,
                                .at = (size_t)at,
                                .is_counted = true,
                                .told = JOB_STATE_COUNT};
  memcpy(stream->id, job.id, sizeof stream->id);
  pthread_mutex_lock(&server->lock);
  const bool is_full = server->stream_count >= STREAMS_MAX;
  if (!is_full) {
    server->stream_count++;
    stream->next = server->streams;
    server->streams = stream;
  }
  pthread_mutex_unlock(&server->lock);
  if (is_full) {
    free(stream);
    return fail(&request->ctx, HONE_E_BUSY, place_none(), "%d pages follow a job already",
                STREAMS_MAX);
  }
  request_deadline(request, STREAM_S);
  request->stream = stream;
  request->type = "text/event-stream";
  return HONE_OK;
}

void streams_wake(struct server *server) {
  for (struct job_stream *stream = server->streams; stream; stream = stream->next) {
    if (!stream->is_waiting) continue;
    stream->is_waiting = false;
    server->http.resume_connection(stream->connection);
  }
}
