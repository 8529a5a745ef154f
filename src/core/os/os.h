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
/* Regular files only; E_NOFILE, E_IO "not a regular file", E_LIMIT above limit file_bytes. */
MUST_USE hone_status file_map(struct ctx *ctx, const char *path, struct mapping *out);
/* The same from an open descriptor, which the caller keeps. name is for messages only. */
MUST_USE hone_status file_map_fd(struct ctx *ctx, int fd, const char *name, struct mapping *out);
void file_unmap(struct mapping *mapping);
/* Releases the memory of what was read. Pages come back from the file when they are read again. */
void file_release(const struct mapping *mapping);
/* hash_hex of the content; its pages are given back, so that a large file is never in memory whole. */
void file_hash_hex(const struct mapping *mapping, char out[33]);
/* mkdir -p with mode 0700 for new folders. */
MUST_USE hone_status dir_create(struct ctx *ctx, const char *path);
/* A folder for the user's results: permissions follow the umask. */
MUST_USE hone_status dir_output(struct ctx *ctx, const char *path);
/* temporary.c: a fresh 0700 folder under TMPDIR (absolute, existing, owned by us) or /tmp, with a
 * file "lock" in it. Folders that killed processes of this user left there are removed. */
MUST_USE hone_status dir_temporary(struct ctx *ctx, char out[4096]);
void dir_temporary_remove(const char *path);
void dir_remove_tree(const char *path);
/* Disk space of all files under a path, in bytes; links are not followed, 0 if it cannot be read.
 */
uint64_t dir_bytes(const char *path);
/* $XDG_DATA_HOME/hone or ~/.local/share/hone (data), $XDG_CACHE_HOME/hone or ~/.cache/hone (cache);
   HOME unset or relative: the user's entry in the password database. */
MUST_USE hone_status dir_user(struct ctx *ctx, const char *kind /* "data" | "cache" */,
                              char out[4096]);
/* The same path without creating the folder. */
MUST_USE hone_status dir_user_name(struct ctx *ctx, const char *kind, char out[4096]);

/* -- program.c */
/* XXH3 of the code and constants of the program or library that contains hone: another one for each
 * build. */
void program_hash(char out[33]);

/* -- output.c: every file of the user is written here */

/* Writes all bytes to a descriptor, in several calls if necessary; false leaves errno. */
bool write_all(int fd, const void *bytes, size_t size);

/* A regular file appears complete or not at all. Pipes and character devices are written through;
 * folders are E_WRITE, sockets and block devices E_PATH. E_WRITE, E_IO. */
MUST_USE hone_status file_write_atomic(struct ctx *ctx, const char *path, const void *data,
                                       size_t size, unsigned mode);
/* The same with the content of another file. out_bytes may be NULL. */
MUST_USE hone_status file_copy(struct ctx *ctx, const char *from, const char *to, unsigned mode,
                               size_t *out_bytes);
/* The same from several parts, written one after the other. */
struct file_part {
  const void *data;
  size_t size;
};
MUST_USE hone_status file_write_parts(struct ctx *ctx, const char *path,
                                      const struct file_part *parts, size_t count, unsigned mode);
/* The same for a file that several threads write in any order: output_create, then parts, then
 * output_commit or output_drop. Bytes that no part covers are zero. The kernel starts to write back
 * with the first part, so that little is left to wait for. For streams *out_is_stream is true and
 * nothing was created. */
struct output {
  char path[4096], temporary[4096 + 300];
  int fd;
};
MUST_USE hone_status output_create(struct ctx *ctx, const char *path, unsigned mode,
                                   struct output *out, bool *out_is_stream);
MUST_USE hone_status output_put(struct ctx *ctx, const struct output *output, size_t at,
                                const void *data, size_t size);
MUST_USE hone_status output_commit(struct ctx *ctx, struct output *output);
void output_drop(struct output *output); /* no effect after a commit */

enum output_kind {
#define OUTPUT(name, what, where, mark) OUTPUT_##name,
#include "core/os/outputs.def"
#undef OUTPUT
};
struct file_id {
  uint64_t device, inode;
};
/* Called before the work: can this file be written, and may it be? E_PATH for a file that is one of
 * the inputs or holds another kind of data; E_WRITE for a folder that is missing or not writable.
 */
MUST_USE hone_status output_check(struct ctx *ctx, const char *path, enum output_kind kind,
                                  const struct file_id *inputs, size_t input_count);
/* The path exists and is written through: a FIFO, a character device. No second file is created
 * next to it. */
bool output_is_stream(const char *path);

/* -- npy.c: NumPy's .npy, version 1 and 2, C order, little endian */

/* Reads a whole tensor; data is malloc'ed and owned by the caller (64-byte aligned). Raw float32
 * (no magic) is accepted if expect is given: count must match. E_FORMAT, E_TYPE, E_LIMIT. */
MUST_USE hone_status npy_read(struct ctx *ctx, const char *path, const hone_tensor *expect,
                              hone_tensor *out);
/* Appends the file's bytes to an empty strbuf; path is for messages only. */
MUST_USE hone_status npy_text(struct ctx *ctx, const char *path, const hone_tensor *tensor,
                              struct strbuf *out);
MUST_USE hone_status npy_write(struct ctx *ctx, const char *path, const hone_tensor *tensor);

/* -- process.c: children without a shell */

struct process_options {
  const char *const *argv;     /* argv[0] is looked up in PATH unless it contains a slash */
  const char *const *environ_; /* NULL: the allow-listed part of our environment */
  /* NULL, or "NAME=VALUE" entries that replace allow-listed ones */
  const char *const *extra_environment;
  const char *path_first; /* NULL, or folders to prepend to PATH, separated by colons */
  const char *directory;  /* NULL: ours */
  int fd_in, fd_out;      /* passed to the child as descriptors 3 and 4; -1: none */
  bool on_standard;       /* as descriptors 0 and 1 instead; then only its stderr is captured */
  bool is_offline;        /* only a loopback device, if the kernel allows a network namespace */
  uint64_t timeout_ns;    /* 0: none */
  size_t output_limit;    /* bytes of stdout+stderr kept as head and tail each; 0: 64 KiB */
  /* polled every few ms by process_run; true: the process group is killed. NULL: never */
  bool (*cancelled)(const void *user);
  const void *user;
};
struct process_result {
  int exit_code; /* -1 if it died by a signal */
  int signal;    /* 0 if it exited */
  bool timed_out;
  uint64_t wall_ns;
  long peak_rss_bytes;
  /* stdout and stderr, head and tail; the caller frees it with strbuf_deinit */
  struct strbuf output;
};
/* Runs to the end. E_MISSING if the program is not found; a non-zero exit is not a failure here. */
MUST_USE hone_status process_run(struct ctx *ctx, const struct process_options *options,
                                 struct process_result *out);

/* child.c: calls a function in a forked child, which has no standard streams and leaves no core
 * dump. Returns false with the reason ("ended the process: SIGSEGV") unless the call returns before
 * the timeout. Results are passed in shared memory. */
MUST_USE bool call_in_child(void (*call)(void *user), void *user, uint64_t timeout_ns,
                            char out_how[128]);

/* The first and last bytes of a stream of any length. */
struct capture {
  char *head, *tail; /* limit bytes each */
  size_t limit, head_length, tail_length, tail_at;
  uint64_t total;
};
MUST_USE hone_status capture_init(struct ctx *ctx, struct capture *capture, size_t limit);
void capture_add(struct capture *capture, const char *bytes, size_t length);
/* Reads what a non-blocking descriptor has now, at most max bytes; false at end of file. */
bool capture_read(struct capture *capture, int fd, size_t max);
void capture_text(const struct capture *capture, struct strbuf *out);
void capture_deinit(struct capture *capture);

/* A running child: leader of its own process group, killed when the thread that started it ends. */
struct process {
  int pid;
  int output_fd; /* its stdout and stderr, non-blocking; the caller closes it */
};
/* Starts the child and does not wait; timeout_ns and output_limit are not used. */
MUST_USE hone_status process_start(struct ctx *ctx, const struct process_options *options,
                                   struct process *out);

/* -- journal.c: what a supervisor needs after its process died; without a journal these calls do
 * nothing */

void journal_open(void); /* in the supervisor, before it forks */
/* The current long activity: "the C compiler (gcc)". Called from one thread. */
PRINTF(1, 2) void journal_doing(const char *format, ...);
void journal_what(char out[256]); /* "" if nothing was noted */
/* Files to remove unless they are dropped from the journal first. */
void journal_add(const char *path);
void journal_drop(const char *path);
void journal_clean(void); /* removes the files */

#endif
