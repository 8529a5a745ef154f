/* wire: processes that measure, and the messages between them and the harness.
 *
 *   protocol.c       newline-delimited JSON, checked against tables
 *   harness.c        start, ask, stop, continue, end; every end has a status
 *   check_outputs.c  outputs that a worker left as files
 *   memory_log.c     a worker's memory over its life
 *   priority.c       nice values of sessions
 *   agent.c          the far end on another machine
 *   transport.h      how a worker is reached: local child, stream, device
 */
#ifndef HONE_WIRE_H
#define HONE_WIRE_H

#include "bench/check/check.h"
#include "core/machine/machine.h"
#include "core/os/os.h"

#include <signal.h>

#define WORKER_FD_IN 3
#define WORKER_FD_OUT 4
#define WORKER_LINE_MAX (64u << 20) /* bytes: a description of half a million inputs */

/* -- protocol.c: newline-delimited JSON */

enum field_type { FIELD_TEXT, FIELD_INT, FIELD_NUMBER, FIELD_BOOL, FIELD_LIST };
struct field {
  const char *key;
  enum field_type type;
  bool is_optional;
  double min, max; /* of numbers; of the length of texts and lists */
};
struct schema {
  const char *name; /* the value of "event" */
  const struct field *fields;
  size_t count;
};
/* A worker's line as an object with exactly the keys of its event; NULL and the reason if not. */
json_t *event_parse(const char *line, size_t length, char reason[256]);
/* Writes one line; false if the other side is gone or the message too long. Takes the reference. */
bool message_write(int fd, json_t *message);
/* The line alone, with its newline in place of a NUL; malloc'ed. NULL if it is too long. Takes the
   reference. */
char *message_line(json_t *message, size_t *out_length);
const char *message_text(const json_t *message, const char *key); /* "" if absent */
double message_number(const json_t *message, const char *key);    /* NaN if absent */
int64_t message_int(const json_t *message, const char *key, int64_t otherwise);
/* Place of `name` in a command's list, or `otherwise`. */
size_t find_named(const json_t *names, const char *name, size_t otherwise);
bool message_bool(const json_t *message, const char *key);
/* Sets a number; one that JSON cannot hold is left out (NaN) or clamped (infinite). */
void message_set_number(json_t *message, const char *key, double x);

/* Lines from a descriptor, at most WORKER_LINE_MAX bytes each. */
struct line_reader {
  int fd;
  char *buffer;
  size_t length, start, capacity;
};
enum line_result { LINE_READY, LINE_NONE, LINE_END, LINE_TOO_LONG };
/* The next line, NUL instead of its newline, valid until the next call. LINE_NONE: a non-blocking
   descriptor has no whole line. LINE_END with *out_length > 0: a line that was never ended. */
enum line_result line_next(struct line_reader *reader, char **out_line, size_t *out_length);
void line_reader_deinit(struct line_reader *reader);

/* -- memory_log.c: what a worker held over its life */
#define MEMORY_POINTS 256
/* Points at least least_ns apart; when it is full every second one goes and the distance doubles. */
struct memory_log {
  uint64_t start_ns, least_ns;
  size_t count;
  uint64_t when_ns[MEMORY_POINTS], bytes[MEMORY_POINTS];
};
void memory_log_begin(struct memory_log *log);
/* log NULL, bytes < 0: nothing */
void memory_log_add(struct memory_log *log, uint64_t now_ns, int64_t bytes);

/* -- harness.c: workers and all they start */

#define HARNESS_MAX_CHILDREN 256
/* Adopts orphans of its workers between begin and finish. */
struct harness {
  const char *worker_path;
  uint64_t memory_bytes, timeout_ns;
  uint64_t deadline_ns; /* of clock_ns, for all that is asked until it is 0 again: a budget */
  const char *deadline_reason; /* whose */
  const volatile sig_atomic_t *interrupted;
  int known[HARNESS_MAX_CHILDREN]; /* children that are not orphans */
  size_t known_count;
  int was_subreaper;
  struct sigaction old_pipe;
};
void harness_begin(struct harness *harness);
void harness_finish(struct harness *harness);
void harness_forget(struct harness *harness, int pid); /* a child that is gone */

struct transport;
struct stream;
struct device;
struct worker {
  struct harness *harness;
  const struct transport *transport;
  struct stream *stream;  /* of one that is not a child of ours */
  struct process process; /* it, or the program that reaches it */
  int command_fd, pid_fd;
  struct line_reader events;
  struct capture output;
  char dir[4096];          /* private, of this machine; removed by worker_close */
  char far_dir[512];       /* the same as the worker knows it */
  char config[33];         /* key that its messages must carry */
  enum record_stage stage; /* that it last said to have begun */
  bool is_running, is_stopped;
  bool is_lost;    /* not running, and nothing is known of its end */
  int exit_status; /* of waitpid, once it is not running */
  int64_t rss_peak_seen;
  struct memory_log *memory;        /* where what it held is noted; NULL: nowhere */
  const struct bench_case *judged;  /* whose outputs its checks are compared with; NULL: nobody's */
  char precision[16];               /* whose tolerance holds for them */
  const struct scenario *generates; /* its checks are tokens; NULL: they are outputs */
};
struct worker_spec {
  const char *backend;         /* NULL: none, `hone worker` prepares a model */
  const char *engine_path;     /* of that backend, or NULL */
  const struct device *device; /* NULL: this machine */
  const char *dir;             /* is made */
  const char *config;
  int threads;                    /* the first so many of the allowed CPUs; 0: all */
  const char *const *environment; /* NULL, or "NAME=VALUE"s beside the allow-listed ones */
};
MUST_USE hone_status worker_start(struct ctx *ctx, struct harness *harness,
                                  const struct worker_spec *spec, struct worker *out);
enum ask_kind { ASK_PATIENT, ASK_TIMED }; /* timed: the harness itself keeps still */
/* Continues the worker, sends a command (taken) and waits for `expected`. NULL: *out_end says why,
   and the worker is dead with all its descendants. */
json_t *worker_ask(struct worker *worker, json_t *command, const char *expected, enum ask_kind kind,
                   struct worker_end *out_end);
/* The two halves of worker_ask, to keep several workers busy. */
void worker_tell(struct worker *worker, json_t *command);
json_t *worker_hear(struct worker *worker, const char *expected, enum ask_kind kind,
                    struct worker_end *out_end);
/* worker_end.c: gone and reaped; the second waits at most so long for that. */
bool worker_has_ended(struct worker *worker);
bool worker_wait_end(struct worker *worker, uint64_t duration_ns);
/* Stops the worker's group; true when every thread of it was seen standing still. */
bool worker_stop(struct worker *worker);
/* Waits at most grace_ns for its own end, then SIGTERM, 2 s, SIGKILL and all that it started;
   removes its folder. True if it ended by itself with exit code 0. */
bool worker_close(struct worker *worker, uint64_t grace_ns);

/* -- check_outputs.c */
/* check_outputs.c: compares what the worker's answer lists; false if that is damaged. */
bool judge_checks(struct worker *worker, const json_t *checks, struct accuracy *out,
                  int *out_verified);
/* -- priority.c */
/* priority.c: other programs of this machine take less of the CPU from what is measured, where we may
   ask for that. Workers inherit it. */
int priority_set(int nice);     /* returns what it was */
void priority_of_session(void); /* the worker's session gets the worker's own */
/* -- agent.c */
/* The hidden verb `hone agent` (agent.c): workers of another machine's study, asked over the standard
   streams. */
int agent_main(int argc, char **argv);

#endif
