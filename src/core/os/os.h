/* os: files and processes. Nothing here prints or exits; failures are hone_status as in base.h.
 */
#ifndef HONE_OS_H
#define HONE_OS_H

#include "core/base/base.h"

/* -- file.c */

struct mapping {
  const uint8_t *data; /* read-only, private; never NULL, also for an empty file */
  size_t size;
  uint64_t device, inode;
};
/* Only regular files; E_NOFILE, E_IO "not a regular file", E_LIMIT above limit file_bytes. */
MUST_USE hone_status file_map(struct ctx *ctx, const char *path, struct mapping *out);
/* Same from an open descriptor, which stays the caller's. name only for messages. */
MUST_USE hone_status file_map_fd(struct ctx *ctx, int fd, const char *name, struct mapping *out);
void file_unmap(struct mapping *mapping);
/* mkdir -p with mode 0700 for new folders. */
MUST_USE hone_status dir_create(struct ctx *ctx, const char *path);
/* Where results of the user's go: open to whom the umask says. */
MUST_USE hone_status dir_output(struct ctx *ctx, const char *path);
/* temporary.c: a fresh 0700 folder under TMPDIR (absolute, existing, ours) or /tmp, with a file "lock" in it. Folders
   that killed processes of this user left there are removed. */
MUST_USE hone_status dir_temporary(struct ctx *ctx, char out[4096]);
void dir_temporary_remove(const char *path);
void dir_remove_tree(const char *path);
/* What all files below take on disk, in bytes; links are not followed, 0 if it cannot be read. */
uint64_t dir_bytes(const char *path);
/* $XDG_DATA_HOME/hone or ~/.local/share/hone (data), $XDG_CACHE_HOME/hone or ~/.cache/hone (cache);
   HOME unset or relative: the user's entry in the password database. */
MUST_USE hone_status dir_user(struct ctx *ctx, const char *kind /* "data" | "cache" */,
                              char out[4096]);
/* The same without making it. */
MUST_USE hone_status dir_user_name(struct ctx *ctx, const char *kind, char out[4096]);

/* -- output.c: the one way by which files of the user's are written */

/* To a descriptor, in as many turns as it takes; false leaves errno. */
bool write_all(int fd, const void *bytes, size_t size);

/* A regular file appears whole or not at all. Pipes and character devices are written through; folders
   are E_WRITE, sockets and disks E_PATH. E_WRITE, E_IO. */
MUST_USE hone_status file_write_atomic(struct ctx *ctx, const char *path, const void *data,
                                       size_t size, unsigned mode);
/* The same with what another file holds. out_bytes NULL: nobody asks. */
MUST_USE hone_status file_copy(struct ctx *ctx, const char *from, const char *to, unsigned mode,
                               size_t *out_bytes);
/* The same from several pieces, written one after the other. */
struct file_part {
  const void *data;
  size_t size;
};
MUST_USE hone_status file_write_parts(struct ctx *ctx, const char *path,
                                      const struct file_part *parts, size_t count, unsigned mode);
/* The same for a file that is written in any order, by several threads: output_create, then pieces, then
   one of output_commit and output_drop. Memory that no piece covers is zero. Disks are set to work with
   the first piece, so that little is left to wait for. For streams *out_is_stream is true and nothing
   was created. */
struct output {
  char path[4096], temporary[4096 + 300];
  int fd;
};
MUST_USE hone_status output_create(struct ctx *ctx, const char *path, unsigned mode,
                                   struct output *out, bool *out_is_stream);
MUST_USE hone_status output_put(struct ctx *ctx, const struct output *output, size_t at,
                                const void *data, size_t size);
MUST_USE hone_status output_commit(struct ctx *ctx, struct output *output);
void output_drop(struct output *output); /* nothing if it was committed */

enum output_kind {
#define OUTPUT(name, what, where, mark) OUTPUT_##name,
#include "core/os/outputs.def"
#undef OUTPUT
};
struct file_id {
  uint64_t device, inode;
};
/* To be asked before the work: can this file be written, and may it? E_PATH for a file that is one of the
   inputs or holds another kind of data; E_WRITE for a folder that is missing or takes no files. */
MUST_USE hone_status output_check(struct ctx *ctx, const char *path, enum output_kind kind,
                                  const struct file_id *inputs, size_t input_count);
/* It exists and is written through: a FIFO, a character device. Nothing else is made beside one. */
bool output_is_stream(const char *path);

/* -- npy.c: NumPy's .npy, version 1 and 2, C order, little endian */

/* Reads a whole tensor; data is malloc'ed and the caller's (64-byte aligned). Raw float32 (no
   magic) is accepted when expect is given: count must match. E_FORMAT, E_TYPE, E_LIMIT. */
MUST_USE hone_status npy_read(struct ctx *ctx, const char *path, const hone_tensor *expect,
                              hone_tensor *out);
/* The file's bytes into an empty text; path only for messages. */
MUST_USE hone_status npy_text(struct ctx *ctx, const char *path, const hone_tensor *tensor,
                              struct strbuf *out);
MUST_USE hone_status npy_write(struct ctx *ctx, const char *path, const hone_tensor *tensor);

/* -- process.c: children without a shell */

struct process_options {
  const char *const *argv;     /* argv[0] is looked up in PATH unless it holds a slash */
  const char *const *environ_; /* NULL: the allow-listed part of ours */
  /* NULL, or "NAME=VALUE"s that replace those of the allow-listed part */
  const char *const *extra_environment;
  const char *path_first; /* NULL, or folders before those of PATH, with colons between them */
  const char *directory;  /* NULL: ours */
  int fd_in, fd_out;      /* handed to the child as 3 and 4; -1: none */
  bool on_standard;       /* as 0 and 1 instead; then its stderr alone is the output */
  bool is_offline; /* with a loopback device alone, where the kernel allows a network namespace */
  uint64_t timeout_ns; /* 0: none */
  size_t output_limit; /* bytes of stdout+stderr kept as head and tail each; 0: 64 KiB */
  /* process_run asks every few ms; true: the group is killed. NULL: never */
  bool (*cancelled)(const void *user);
  const void *user;
};
struct process_result {
  int exit_code; /* -1 if it died by a signal */
  int signal;    /* 0 if it exited */
  bool timed_out;
  uint64_t wall_ns;
  long peak_rss_bytes;
  struct strbuf output; /* stdout and stderr, head and tail; the caller text_deinits it */
};
/* Runs to the end. E_MISSING if the program is not found; a non-zero exit is not a failure here. */
MUST_USE hone_status process_run(struct ctx *ctx, const struct process_options *options,
                                 struct process_result *out);

/* child.c: calls a function in a forked child, which has no standard streams and leaves no core dump. False with
   the reason ("ended the process: SIGSEGV") unless it returns in time. Results pass through shared memory. */
MUST_USE bool call_in_child(void (*call)(void *user), void *user, uint64_t timeout_ns,
                            char out_how[128]);

/* Head and tail of a stream of any length. */
struct capture {
  char *head, *tail; /* limit bytes each */
  size_t limit, head_length, tail_length, tail_at;
  uint64_t total;
};
MUST_USE hone_status capture_init(struct ctx *ctx, struct capture *capture, size_t limit);
void capture_add(struct capture *capture, const char *bytes, size_t length);
/* Reads what a non-blocking descriptor has now, at most max bytes; false at its end. */
bool capture_read(struct capture *capture, int fd, size_t max);
void capture_text(const struct capture *capture, struct strbuf *out);
void capture_deinit(struct capture *capture);

/* A running child: it leads its own process group and dies with the thread that started it. */
struct process {
  int pid;
  int output_fd; /* its stdout and stderr, non-blocking; the caller closes it */
};
/* Starts and does not wait; timeout_ns and output_limit are not used. */
MUST_USE hone_status process_start(struct ctx *ctx, const struct process_options *options,
                                   struct process *out);

/* -- journal.c: what the supervisor of a process knows of it when it is dead; nothing happens without one */

void journal_open(void); /* in the supervisor, before it forks */
/* What takes time from now on: "the C compiler (gcc)". From one thread. */
PRINTF(1, 2) void journal_doing(const char *format, ...);
void journal_what(char out[256]); /* "" if nothing was noted */
/* Files that go unless they are dropped from the journal before. */
void journal_add(const char *path);
void journal_drop(const char *path);
void journal_clean(void); /* removes them */

#endif
