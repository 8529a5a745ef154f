/* How the harness reaches a worker, as one interface: a process of this machine (hone's own, or an
 * engine's Python worker), one for another instruction set (qemu user mode), or one on another
 * machine over ssh or adb.
 *
 *   transport_local.c   a child process; process_tree.c finds and ends its descendants
 *   transport_stream.c  frames over the standard streams of a program that reaches a device
 *   frames.c            those frames
 *   agent.c             their other end: `hone agent` starts the worker there as a local one
 *   device.c            parses "ssh:HOST" and similar
 */
#ifndef HONE_BENCH_TRANSPORT_H
#define HONE_BENCH_TRANSPORT_H

#include "wire.h"

struct transport {
  const char *name;
  bool shares_files; /* the worker can open the harness's paths; else use put and get */
  hone_status (*start)(struct ctx *ctx, struct worker *worker, const struct worker_spec *spec);
  /* One line with its newline; false if the other side is gone. */
  bool (*send)(struct worker *worker, const char *line, size_t length);
  /* The next line of the worker, like line_next. Never blocks. */
  enum line_result (*receive)(struct worker *worker, char **out_line, size_t *out_length);
  /* Waits for an event at most this long; collects the worker's output. */
  void (*wait)(struct worker *worker, uint64_t duration_ns);
  bool (*stop)(struct worker *worker); /* true if every thread was seen stopped */
  void (*resume)(struct worker *worker);
  /* True if it ended and was reaped: exit_status is valid, or connection_lost. */
  bool (*has_ended)(struct worker *worker);
  /* SIGTERM, the grace (0: none), SIGKILL; then ends its descendants. */
  void (*end)(struct worker *worker, uint64_t term_grace_ns);
  /* Ends the commands: the worker ends by itself. */
  void (*finish)(struct worker *worker);
  /* Copies a file into the worker's folder; and one of it (a plain name) into worker->dir. */
  hone_status (*put)(struct ctx *ctx, struct worker *worker, const char *path, const char *name);
  hone_status (*get)(struct ctx *ctx, struct worker *worker, const char *name);
  int64_t (*resident)(struct worker *worker); /* bytes, descendants included; -1 unknown */
  void (*release)(struct worker *worker);     /* frees descriptors and memory after the end */
};
extern const struct transport transport_local, transport_stream;

/* -- device.c */
#define DEVICE_MAX_WORDS 16
struct device {
  char name
      [64]; /* as in the configuration: "cpu", "ssh:HOST", "qemu:aarch64", "adb", "adb:SERIAL" */
  const struct transport *transport;
  size_t word_count; /* of the command before `worker` or `agent` */
  char words[DEVICE_MAX_WORDS][256];
  char environment[2][128]; /* for the worker, "" : none */
};
/* program: path of hone on the device; NULL: the default of that kind of device. E_USAGE,
   E_MISSING. */
MUST_USE hone_status device_parse(struct ctx *ctx, const char *name, const char *program,
                                  struct device *out);

/* -- isolation.c */
enum { ISOLATION_MAX = 64 };
struct isolation {
  const char *path_first; /* folders before those of PATH */
  /* "NAME=VALUE"s, including those of the spec; ends with NULL */
  const char *environment[ISOLATION_MAX];
  size_t count;
};
/* Makes the worker's home folder and its environment; the spec's folder exists. Strings in
   `arena`. */
MUST_USE hone_status isolation_make(struct ctx *ctx, struct arena *arena,
                                    const struct worker_spec *spec, struct isolation *out);

/* -- process_tree.c */
bool every_thread_is_stopped(int pid);
/* Resident bytes of a process and its descendants; -1 after its end. */
int64_t tree_resident(int pid);
/* Ends and reaps every descendant of root (0: none) and every adopted orphan. */
void tree_sweep(struct harness *harness, int root);

/* -- frames.c */
#define FRAME_MAX (1u << 20)
#define FRAME_VERSION 1 /* of frames and worker protocol; both ends must have the same */
/* "WORD ARGUMENT LENGTH\n" and LENGTH bytes. */
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
/* Sends a file as frames `word NAME`, then an empty one. */
MUST_USE hone_status frame_write_file(struct ctx *ctx, int fd, const char *word, const char *name,
                                      const char *path);
/* True for a file name without a folder. */
bool is_plain_file_name(const char *name);

#endif
