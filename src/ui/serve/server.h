/* State shared by the server's files: connections, and streams that follow a job. */
#ifndef HONE_SERVE_SERVER_H
#define HONE_SERVE_SERVER_H

#include "serve.h"

#include <pthread.h>

#include "http.h"

struct peer {
  struct peer *next, *before;
  int fd;
  uint64_t deadline_ns;
  uint64_t ended_ns; /* when the client closed its side; 0: it did not */
  bool is_listened;  /* the connection ends after that: no reply and no stream is in progress */
};
struct server {
  struct serve_options options;
  struct http http;
  void *library;
  struct MHD_Daemon *daemon;
  struct jobs *jobs;
  struct completions *completions; /* NULL: no language model is served */
  pthread_mutex_t lock;
  pthread_cond_t wake;
  pthread_t clock;
  bool has_clock, is_ending, has_news;
  struct peer *peers;
  struct job_stream *streams;
  int stream_count, port;
  struct guesser {
    unsigned char address[8];
    int wrong;
    uint64_t since_ns; /* time of the first one of this minute */
  } guessers[64];
  char url[160], post_token[33], session[65], policy[1024];
};
struct job_stream {
  struct job_stream *next;
  struct server *server;
  struct MHD_Connection *connection;
  char id[17];
  size_t at; /* offset in the job's log */
  struct strbuf ready;
  size_t sent;
  bool is_counted, is_waiting, has_ended;
  enum job_state told;
};

/* -- state.c */
uint64_t in_seconds(int seconds); /* as clock_ns() */
void peer_deadline(struct server *server, struct MHD_Connection *connection, uint64_t deadline_ns);
void peer_listen(struct server *server, struct MHD_Connection *connection, bool is_listened);

/* -- streams.c: callbacks of the library over a struct job_stream */
ssize_t stream_read(void *user, uint64_t position, char *buffer, size_t size);
void stream_end(void *user);
void streams_wake(struct server *server); /* under its lock */

#endif
