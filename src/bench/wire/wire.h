/* wire: measuring processes, and the messages between them and the harness.
 *
 *   protocol.c       newline-delimited JSON, checked against tables
 *   harness.c        start, ask, stop, continue, end; every kind of end has a status
 *   check_outputs.c  outputs that a worker wrote as files
 *   memory_log.c     a worker's memory over time
 *   priority.c       nice values of sessions
 *   agent.c          the remote end on another machine
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
#define WORKER_LINE_MAX (64u << 20) /* bytes; enough to describe half a million inputs */

/* -- protocol.c: newline-delimited JSON */

enum field_type { FIELD_TEXT, FIELD_INT, FIELD_NUMBER, FIELD_BOOL, FIELD_LIST };
struct field {
  const char *key;
  enum field_type type;
  bool is_optional;
  double min, max; /* of numbers; or of the length of strings and lists */
};
struct schema {
  const char *name; /* the value of "event" */
  const struct field *fields;
  size_t count;
};
/* Parses a worker's line: an object with exactly the keys of its event. NULL with the reason if it
   is invalid. */
json_t *event_parse(const char *line, size_t length, char reason[256]);
/* Writes one line; false if the other side is gone or the message too long. Takes ownership. */
bool message_write(int fd, json_t *message);
/* The line with a newline instead of NUL; malloc'ed. NULL if it is too long. Takes ownership. */
char *message_line(json_t *message, size_t *out_length);
const char *message_text(const json_t *message, const char *key); /* "" if absent */
double message_number(const json_t *message, const char *key);    /* NaN if absent */
int64_t message_int(const json_t *message, const char *key, int64_t otherwise);
/* Index of `name` in a command's list, or `otherwise`. */
size_t find_named(const json_t *names, const char *name, size_t otherwise);
bool message_bool(const json_t *message, const char *key);
/* Sets a number. NaN is left out and infinity is clamped, because JSON has neither. */
void message_set_number(json_t *message, const char *key, double x);

/* Lines from a descriptor, at most WORKER_LINE_MAX bytes each. */
struct line_reader {
  int fd;
  char *buffer;
  size_t length, start, capacity;
};
enum line_result { LINE_READY, LINE_NONE, LINE_END, LINE_TOO_LONG };
/* The next line, with NUL instead of its newline, valid until the next call. LINE_NONE: a
   non-blocking descriptor has no complete line. LINE_END with *out_length > 0: the last line is
   incomplete. */
enum line_result line_next(struct line_reader *reader, char **out_line, size_t *out_length);
void line_reader_deinit(struct line_reader *reader);

/* -- memory_log.c: a worker's memory over time */
#define MEMORY_POINTS 256
/* Points at least least_ns apart. A full log drops every second point and doubles the distance. */
struct memory_log {
  uint64_t start_ns, least_ns;
  size_t count;
  uint64_t when_ns[MEMORY_POINTS], bytes[MEMORY_POINTS];
};
void memory_log_begin(struct memory_log *log);
/* No effect if log is NULL or bytes < 0. */
void memory_log_add(struct memory_log *log, uint64_t now_ns, int64_t bytes);

/* -- harness.c: workers and their descendants */

#define HARNESS_MAX_CHILDREN 256
/* Adopts orphans of its workers between harness_begin and harness_finish. */
struct harness {
  const char *worker_path;
  uint64_t memory_bytes, timeout_ns;
  uint64_t deadline_ns;        /* clock_ns; limits every request; 0: none */
  const char *deadline_reason; /* for the message */
  const volatile sig_atomic_t *interrupted;
  int known[HARNESS_MAX_CHILDREN]; /* own children, not orphans */
  size_t known_count;
  int was_subreaper;
  struct sigaction old_pipe;
};
void harness_begin(struct harness *harness);
void harness_finish(struct harness *harness);
void harness_forget(struct harness *harness, int pid); /* after a child's end */

struct transport;
struct stream;
struct device;
struct worker {
  struct harness *harness;
  const struct transport *transport;
  struct stream *stream;  /* if it is not a child process */
  struct process process; /* the worker, or the program that reaches it */
  int command_fd, pid_fd;
  struct line_reader events;
  struct capture output;
  char dir[4096];          /* private, of this machine; removed by worker_close */
  char far_dir[512];       /* its path on the worker's machine */
  char config[33];         /* key that its messages must have */
  enum record_stage stage; /* last stage that it reported */
  bool is_running, is_stopped;
  bool is_lost;    /* not running, its end is unknown */
  int exit_status; /* of waitpid, after its end */
  int64_t rss_peak_seen;
  struct memory_log *memory;             /* log of its memory; NULL: none */
  const struct bench_case *checked_case; /* reference for its checked outputs; NULL: none */
  char precision[16];                    /* gives their tolerance */
  const struct scenario *generates;      /* its checks are tokens; NULL: outputs */
};
struct worker_spec {
  const char *backend;         /* NULL: `hone worker` prepares a model */
  const char *engine_path;     /* of that backend, or NULL */
  const struct device *device; /* NULL: this machine */
  const char *dir;             /* will be created */
  const char *config;
  int threads;                    /* number of CPUs allowed; 0: all */
  const char *const *environment; /* NULL, or "NAME=VALUE"s in addition to the allow-listed ones */
};
MUST_USE hone_status worker_start(struct ctx *ctx, struct harness *harness,
                                  const struct worker_spec *spec, struct worker *out);
enum ask_kind { ASK_PATIENT, ASK_TIMED }; /* ASK_TIMED: the harness polls rarely */
/* Continues the worker, sends a command (takes ownership) and waits for the event `expected`. NULL:
   *out_end has the reason, and the worker and its descendants are dead. */
json_t *worker_ask(struct worker *worker, json_t *command, const char *expected, enum ask_kind kind,
                   struct worker_end *out_end);
/* worker_ask in two steps, to keep several workers busy. */
void worker_tell(struct worker *worker, json_t *command);
json_t *worker_hear(struct worker *worker, const char *expected, enum ask_kind kind,
                    struct worker_end *out_end);
/* worker_end.c: true if it ended and was reaped; the second waits for that. */
bool worker_has_ended(struct worker *worker);
bool worker_wait_end(struct worker *worker, uint64_t duration_ns);
/* Stops the worker's process group; true if every thread was seen stopped. */
bool worker_stop(struct worker *worker);
/* Waits at most grace_ns for its own end, then SIGTERM, 2 s, SIGKILL; ends its descendants; removes
   its folder. True if it ended by itself with exit code 0. */
bool worker_close(struct worker *worker, uint64_t grace_ns);

/* -- check_outputs.c */
/* Compares the outputs listed in a worker's answer; false if they are invalid. */
bool compare_checks(struct worker *worker, const json_t *checks, struct accuracy *out,
                    int *out_verified);
/* -- priority.c */
/* Raises the priority over other programs, if permitted. Workers inherit it. */
int priority_set(int nice);     /* returns the old value */
void priority_of_session(void); /* gives the worker's session its nice value */
/* -- agent.c */
/* The hidden verb `hone agent`: runs workers for another machine's study; requests come over the
   standard streams. */
int agent_main(int argc, char **argv);

#endif
