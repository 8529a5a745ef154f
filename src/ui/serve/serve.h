/* serve: the local dashboard: a table of routes over report and store, and a queue of recommendations.
 *
 * The server reads the store and never writes it; what measures is a child process, one at a time. A
 * request is hostile until route.c let it through: method, version, Host, Origin, token and length
 * are looked at before a handler or a body is. Pages are made of report's own parts. */
#ifndef HONE_SERVE_H
#define HONE_SERVE_H

#include "ui/report/report.h"

struct serve_options {
  const char *address; /* NULL: 127.0.0.1. Anything but a loopback address needs a token */
  int port;            /* 0: any free one */
  const char *token;   /* NULL: none is asked for */
  const char *store;   /* as for store_open */
  const char *folder;  /* of uploads and answers; NULL: dir_user("data")/serve */
  const char *program; /* hone itself, for `hone recommend` */
  bool has_bundles;    /* its recommend knows --bundle */
  uint64_t upload_bytes, disk_bytes; /* of one model, of all that is kept */
};
struct server;
/* Listens when it returns. E_MISSING without libmicrohttpd, E_USAGE for an address or a token that will not do,
   E_BUSY where another server has the folder, E_IO. */
MUST_USE hone_status serve_start(struct ctx *ctx, const struct serve_options *options,
                                 struct server **out);
const char *serve_url(const struct server *server); /* "http://127.0.0.1:8080/" */
void serve_stop(struct server *server);             /* ends a running child too; NULL is fine */

/* -- inside the folder */

enum {
  HEADER_MAX = 64,       /* headers of a request */
  MEMORY_MAX = 48 << 10, /* bytes that a connection may hold: its headers, a piece of its body */
  CONNECTIONS_MAX = 1100,
  STREAMS_MAX = 32, /* that follow a job */
  SMALL_BODY = 1024,
  HEADER_S = 5,
  REQUEST_S = 30,
  IDLE_S = 15,
  ENDED_S = 1, /* for a client that closed its side and owes a request, or the rest of one */
  DOWNLOAD_S = 1800,
  STREAM_S = 3600,
  DRAINED_MOST = 64 << 20,   /* bytes of a refused upload that are read to its end */
  SLOWEST_UPLOAD = 32 << 10, /* bytes a second */
  LIST_PAGE = 100,
  TREND_MOST = 256,
  MATRIX_STUDIES = 60,
};

/* What a handler sees, and what it leaves: a status, a type, a body. */
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
  struct job_stream *stream; /* instead of both */
};
/* state.c: query values; NULL where the query has none */
const char *request_query(struct request *request, const char *name);
const char *request_header(struct request *request, const char *name);
/* Whether a Content-Type is this one, whatever its parameters and its case; NULL is none. */
bool is_media_type(const char *type, const char *wanted);
/* More time for this one, from now. */
void request_deadline(struct request *request, int seconds);

enum access { ACCESS_ANYONE, ACCESS_READ, ACCESS_WRITE };
typedef hone_status handler(struct request *request);
struct route {
  const char *method, *path; /* '*' stands for 16 or 32 hex digits */
  enum access access;
  handler *run;
  handler *begin; /* of a body that is streamed, before its first byte; NULL: at most SMALL_BODY */
};

/* route.c */
/* All that must hold before a handler or a body is looked at. Leaves status and words in the request; false: answer
   with them now. */
MUST_USE bool request_admit(struct request *request, const char *method, const char *path,
                            const char *version);
/* A host as Host may name it, for a server on that address and port. */
bool host_is_ours(const char *host, const char *address, int port, bool has_token);
MUST_USE hone_status request_failed(struct request *request); /* the failure in ctx, as a page */

/* pages.c, trends.c, machines.c, job_pages.c: handlers */
handler page_studies, page_study, page_matrix, page_trends, page_trend, page_machines, page_compare,
    page_jobs, page_job, page_login, login, job_create, job_create_begin, job_cancel, job_remove,
    job_events, job_bundle, job_answer;
/* A page's frame: `section` is the entry of the navigation that it belongs to. */
struct html_frame page_frame(const char *section);
/* *out NULL: there is no store yet. */
MUST_USE hone_status open_store(struct request *request, struct store **out);
void put_study_link(struct html html, const struct study_row *study);
/* machine_names.c: processor and cores of machines, given a study of each; what differs beside that where several have the same. */
MUST_USE hone_status machine_names(struct request *request, const struct study_row *const *studies,
                                   size_t count, const char **out);
/* The beginning of a key or a fingerprint: they come from the store, and what is in a store may be anyone's. */
void put_short(struct html html, const char *text, int most);

/* state.c */
struct server_facts {
  const struct serve_options *options;
  const char *post_token, *session, *url;
  struct jobs *jobs;
  int port;
};
struct server_facts server_facts(struct server *server);
void server_wake(struct server *server); /* there is news for streams */
/* Counts a wrong token: whether its address sent too many within a minute. A right token is never looked up here, so that
   nobody's guesses keep its owner out; what makes guessing hopeless is its length. */
bool is_guessing(struct request *request);
#define TOO_MANY_GUESSES "too many wrong tokens from this address: wait a minute"
bool same_secret(const char *a, const char *b); /* in a time that tells only the lengths */

/* jobs.c: uploads and what became of them. A job is a folder; it exists from its rename on. */
enum job_state {
  JOB_queued,
  JOB_running,
  JOB_done,   /* with an answer */
  JOB_failed, /* recommend said why */
  JOB_cancelled,
  JOB_interrupted, /* the server ended */
  JOB_STATE_COUNT
};
const char *job_state_text(enum job_state state);
enum { JOBS_MOST = 64, JOBS_WAITING = 8, JOB_WORDS = 24, JOB_LOG = 64 << 10 };
struct job {
  char id[17], name[65]; /* of the file, as slug() makes it */
  char words[JOB_WORDS][128];
  int word_count; /* of the demands, for recommend */
  enum job_state state;
  int exit_code;
  uint64_t created_unix_ms, bytes;
};
struct jobs;
MUST_USE hone_status jobs_open(struct ctx *ctx, struct server *server, struct jobs **out);
void jobs_close(struct jobs *jobs); /* the running one becomes interrupted; NULL is fine */
/* Newest first; a copy. */
size_t jobs_list(struct jobs *jobs, struct job out[JOBS_MOST]);
bool jobs_find(struct jobs *jobs, const char *id, struct job *out);
/* What recommend has said so far, from a place on; returns the new place. */
size_t jobs_log(struct jobs *jobs, const char *id, size_t from, struct strbuf *out);
const char *jobs_folder(const struct jobs *jobs);
bool jobs_end(struct jobs *jobs, const char *id); /* false: it does not run or wait */
bool jobs_forget(struct jobs *jobs, const char *id);
/* A model on its way in: a file without a name until it is whole. */
struct upload;
MUST_USE hone_status upload_begin(struct ctx *ctx, struct jobs *jobs, const struct job *job,
                                  uint64_t bytes, struct upload **out);
MUST_USE hone_status upload_add(struct ctx *ctx, struct upload *upload, const void *data,
                                size_t size);
MUST_USE hone_status upload_finish(struct ctx *ctx, struct upload *upload, char out_id[17]);
void upload_drop(struct upload *upload); /* NULL is fine */

/* tar.c */
/* The files below a folder as a POSIX tar under `name`/, in a file that is there whole or not at all. */
MUST_USE hone_status tar_folder(struct ctx *ctx, const char *folder, const char *name,
                                const char *path);
#endif
