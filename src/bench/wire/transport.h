/* How a worker is reached, behind one interface: a process of this machine (hone's own or an engine's
 * Python one), of this machine for another instruction set (qemu's user mode), or of another machine over
 * ssh or adb. The harness asks, stops, watches and ends it without knowing which.
 *
 *   transport_local.c   a child process; process_tree.c finds and ends all that it started
 *   transport_stream.c  frames over the standard streams of a program that reaches a device
 *   frames.c            those frames
 *   agent.c             the other end of them: `hone agent` starts the worker there as a local one
 *   device.c            "ssh:HOST" and the like to one of these
 */
#ifndef HONE_BENCH_TRANSPORT_H
#define HONE_BENCH_TRANSPORT_H

#include "wire.h"

struct transport {
  const char *name;
  bool shares_files; /* the worker opens what the harness names by path; else put and get */
  hone_status (*start)(struct ctx *ctx, struct worker *worker, const struct worker_spec *spec);
  /* One line with its newline; false if the other side is gone. */
  bool (*send)(struct worker *worker, const char *line, size_t length);
  /* The next line of the worker, as line_next. Never blocks. */
  enum line_result (*receive)(struct worker *worker, char **out_line, size_t *out_length);
  /* Until something may have happened, at most so long; its output is kept meanwhile. */
  void (*wait)(struct worker *worker, uint64_t duration_ns);
  bool (*stop)(struct worker *worker); /* true when every thread was seen standing still */
  void (*resume)(struct worker *worker);
  /* Gone and reaped: exit_status holds, or connection_lost. */
  bool (*has_ended)(struct worker *worker);
  /* SIGTERM, the grace (0: none), SIGKILL; then all that it started. */
  void (*end)(struct worker *worker, uint64_t term_grace_ns);
  /* The end of commands: it may end by itself now. */
  void (*finish)(struct worker *worker);
  /* A file into the worker's folder, and one of it (a plain name) into worker->dir. */
  hone_status (*put)(struct ctx *ctx, struct worker *worker, const char *path, const char *name);
  hone_status (*get)(struct ctx *ctx, struct worker *worker, const char *name);
  int64_t (*resident)(struct worker *worker); /* bytes with all that it started; -1 unknown */
  void (*release)(struct worker *worker);     /* descriptors and memory, after its end */
};
extern const struct transport transport_local, transport_stream;

/* -- device.c */
#define DEVICE_MAX_WORDS 16
struct device {
  char name
      [64]; /* as in the configuration: "cpu", "ssh:HOST", "qemu:aarch64", "adb", "adb:SERIAL" */
  const struct transport *transport;
  size_t word_count; /* of the command in front of `worker` or `agent` */
  char words[DEVICE_MAX_WORDS][256];
  char environment[2][128]; /* for the worker, "" : none */
};
/* program: hone on the device; NULL: what that kind of device takes by itself. E_USAGE, E_MISSING. */
MUST_USE hone_status device_parse(struct ctx *ctx, const char *name, const char *program,
                                  struct device *out);

/* -- isolation.c */
enum { ISOLATION_MAX = 64 };
struct isolation {
  const char *path_first; /* folders before those of PATH */
  /* "NAME=VALUE"s, those of the spec among them; ends with NULL */
  const char *environment[ISOLATION_MAX];
  size_t count;
};
/* Makes the worker's home folder and says what its environment holds; the spec's folder exists. Strings in `arena`. */
MUST_USE hone_status isolation_make(struct ctx *ctx, struct arena *arena,
                                    const struct worker_spec *spec, struct isolation *out);

/* -- process_tree.c */
bool every_thread_stands(int pid);
/* Resident bytes of a process and what it started; -1 once it is gone. */
int64_t tree_resident(int pid);
/* Ends and reaps every descendant of root (0: none) and every orphan that we adopted. */
void tree_sweep(struct harness *harness, int root);

/* -- frames.c */
#define FRAME_MAX (1u << 20)
#define FRAME_VERSION 1 /* of these frames and of the worker's protocol; both ends must agree */
/* "WORD ARGUMENT LENGTH\n" and as many bytes. */
struct frame {
  char word[16], argument[128];
  const char *bytes; /* valid until the next read */
  size_t length;
};
struct frame_reader {
  int fd;
  char *buffer;
  size_t used, start, capacity;
};
enum frame_result { FRAME_READY, FRAME_NONE, FRAME_END, FRAME_BROKEN };
enum frame_result frame_next(struct frame_reader *reader, struct frame *out);
void frame_reader_deinit(struct frame_reader *reader);
/* argument "" is written as "-". False if the other side is gone. */
bool frame_write(int fd, const char *word, const char *argument, const void *bytes, size_t length);
/* A file's bytes as frames `word NAME`, and an empty one behind them. */
MUST_USE hone_status frame_write_file(struct ctx *ctx, int fd, const char *word, const char *name,
                                      const char *path);
/* A file name of a worker's folder and nothing else. */
bool is_plain_file_name(const char *name);

#endif
