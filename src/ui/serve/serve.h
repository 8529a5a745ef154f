/* serve: the local dashboard: a table of routes over report and store, and a queue of recommendations.
 *
 * The server reads the store and never writes it. Measurements run in a child process, one at a time. A request is untrusted
 * until route.c has checked its method, version, Host, Origin, token and length, before any handler and before the body is
 * read. Pages are made of the report's parts.
 */
#ifndef HONE_SERVE_H
#define HONE_SERVE_H

#include "ui/report/report.h"

struct serve_options {
  const char *address;               /* NULL: 127.0.0.1. Any address but loopback needs a token */
  int port;                          /* 0: any free port */
  const char *token;                 /* NULL: no token is required */
  const char *store;                 /* as for store_open */
  const char *folder;                /* of uploads and results; NULL: dir_user("data")/serve */
  const char *program;               /* path of hone, for `hone recommend` */
  bool has_bundles;                  /* its recommend accepts --bundle */
  uint64_t upload_bytes, disk_bytes; /* of one model, of all uploads */
  struct hone_generator *generator;  /* the language model to serve; NULL: none */
};
struct server;
/* The server listens when this returns. E_MISSING without libmicrohttpd, E_USAGE for an invalid address or token, E_BUSY if
   another server uses the folder, E_IO. */
MUST_USE hone_status serve_start(struct ctx *ctx, const struct serve_options *options,
                                 struct server **out);
const char *serve_url(const struct server *server); /* "http://127.0.0.1:8080/" */
void serve_stop(struct server *server);             /* also ends a running child; NULL is allowed */

/* -- inside the folder */

enum {
  HEADER_MAX = 64,       /* maximum number of headers of a request */
  MEMORY_MAX = 48 << 10, /* buffer of a connection in bytes: headers, a part of the body */
  CONNECTIONS_MAX = 1100,
  STREAMS_MAX = 32, /* streams that follow a job */
  SMALL_BODY = 1024,
  HEADER_S = 5,
  REQUEST_S = 30,
  IDLE_S = 15,
  ENDED_S = 1, /* for a client that closed its side before its request was complete */
  DOWNLOAD_S = 1800,
  STREAM_S = 3600,
  DRAINED_MOST = 64 << 20,   /* bytes of a rejected upload that are still read and discarded */
  SLOWEST_UPLOAD = 32 << 10, /* bytes per second */
  LIST_PAGE = 100,
  TREND_MOST = 256,
  MATRIX_STUDIES = 60,
};

/* A request and its response: status, type, body. */
struct request {
  struct server *server;
  const struct http *http;
  struct MHD_Connection *connection;
  const struct route *route;
  char id[33]; /* the path's variable part */
  bool is_head, has_failed_early;
  struct ctx ctx;
  struct arena *arena;
  struct strbuf in, out; /* bodies */
  struct upload *upload;
  int status; /* 0: 200 */
  const char *type;
  char location[128], cookie[160], file_name[80];
  int out_fd; /* instead of `out`; -1 */
  uint64_t out_fd_bytes;
  struct job_stream *stream;     /* instead of both */
  struct completion *completion; /* of the language model; a stream of it is also instead */
  bool is_waiting, is_stream;    /* the handler is called again; the completion is streamed */
};
/* state.c: a query value; NULL: absent */
const char *request_query(struct request *request, const char *name);
const char *request_header(struct request *request, const char *name);
/* Compares a Content-Type, without parameters and case; NULL is none. */
bool is_media_type(const char *type, const char *wanted);
/* Extends the deadline of this request, from now. */
void request_deadline(struct request *request, int seconds);

/* ACCESS_API: JSON from a program; a token, if there is one, as a bearer. */
enum access { ACCESS_ANYONE, ACCESS_READ, ACCESS_WRITE, ACCESS_API };
typedef hone_status handler(struct request *request);
struct route {
  const char *method, *path; /* '*' matches 16 or 32 hex digits */
  enum access access;
  handler *run;
  handler *
      begin; /* called before the first byte of a streamed body; NULL: a body of at most SMALL_BODY */
};

/* route.c */
/* Checks everything that must hold before a handler runs or a body is read. Sets status and message in the request; false:
   answer with them now. */
MUST_USE bool request_admit(struct request *request, const char *method, const char *path,
                            const char *version);
/* True if a Host header is valid for a server on that address and port. */
bool host_is_ours(const char *host, const char *address, int port, bool has_token);
MUST_USE hone_status request_failed(struct request *request); /* the failure in ctx as a page */

/* pages.c, trends.c, machines.c, job_pages.c: handlers */
handler page_studies, page_study, page_matrix, page_trends, page_trend, page_machines, page_compare,
    page_jobs, page_job, page_login, login, job_create, job_create_begin, job_cancel, job_remove,
    job_events, job_bundle, job_answer;
/* A page's frame; `section` is its entry in the navigation. */
struct html_frame page_frame(const char *section);
/* out NULL: there is no store yet. */
MUST_USE hone_status open_store(struct request *request, struct store **out);
void put_study_link(struct html html, const struct study_row *study);
/* machine_names.c: processor and cores of machines, given a study of each; further facts where several have the same. */
MUST_USE hone_status machine_names(struct request *request, const struct study_row *const *studies,
                                   size_t count, const char **out);
/* The beginning of a key or a fingerprint, which come from the store and are untrusted. */
void put_short(struct html html, const char *text, int most);

/* state.c */
struct server_facts {
  const struct serve_options *options;
  const char *post_token, *session, *url;
  struct jobs *jobs;
  int port;
};
struct server_facts server_facts(struct server *server);
void server_wake(struct server *server); /* wakes the streams */
/* Counts a wrong token; true if its address sent too many within a minute. A correct token is never rejected here, so that
   guesses from other users do not lock the owner out. The token's length makes guessing infeasible. */
bool is_guessing(struct request *request);
#define TOO_MANY_GUESSES "too many wrong tokens from this address: wait a minute"
bool same_secret(const char *a, const char *b); /* in constant time for equal lengths */

/* jobs.c: uploads and their results. A job is a folder; it exists once it is renamed. */
enum job_state {
  JOB_queued,
  JOB_running,
  JOB_done,   /* with an answer */
  JOB_failed, /* recommend failed, with an error message */
  JOB_cancelled,
  JOB_interrupted, /* the server ended */
  JOB_STATE_COUNT
};
const char *job_state_text(enum job_state state);
enum { JOBS_MOST = 64, JOBS_WAITING = 8, JOB_WORDS = 24, JOB_LOG = 64 << 10 };
struct job {
  char id[17], name[65]; /* of the file, as slug() makes it */
  char words[JOB_WORDS][128];
  int word_count; /* constraints, as arguments of recommend */
  enum job_state state;
  int exit_code;
  uint64_t created_unix_ms, bytes;
};
struct jobs;
MUST_USE hone_status jobs_open(struct ctx *ctx, struct server *server, struct jobs **out);
void jobs_close(struct jobs *jobs); /* the running job becomes interrupted; NULL is allowed */
/* Newest first; a copy. */
size_t jobs_list(struct jobs *jobs, struct job out[JOBS_MOST]);
bool jobs_find(struct jobs *jobs, const char *id, struct job *out);
/* The log of recommend from an offset on; returns the new offset. */
size_t jobs_log(struct jobs *jobs, const char *id, size_t from, struct strbuf *out);
const char *jobs_folder(const struct jobs *jobs);
bool jobs_end(struct jobs *jobs, const char *id); /* false: the job does not run or wait */
bool jobs_forget(struct jobs *jobs, const char *id);
/* A model that is uploaded: a file without a name until it is complete. */
struct upload;
MUST_USE hone_status upload_begin(struct ctx *ctx, struct jobs *jobs, const struct job *job,
                                  uint64_t bytes, struct upload **out);
MUST_USE hone_status upload_add(struct ctx *ctx, struct upload *upload, const void *data,
                                size_t size);
MUST_USE hone_status upload_finish(struct ctx *ctx, struct upload *upload, char out_id[17]);
void upload_drop(struct upload *upload); /* NULL is allowed */

/* tar.c */
/* Writes the files below a folder as a POSIX tar under `name`/; the tar file appears complete or not at all. */
MUST_USE hone_status tar_folder(struct ctx *ctx, const char *folder, const char *name,
                                const char *path);
#endif
