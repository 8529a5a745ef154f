/* The processes that a worker started, in or out of its process group, from /proc: their memory and
 * their end. The harness adopts orphans (subreaper), so that none escapes.
 */
#include "transport.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_PROCESSES 4096
#define MAX_TREE 64

/* Reads a small file; returns its length, or -1. */
static ssize_t read_small(const char *path, char *out, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = read(fd, out, size - 1);
  close(fd);
  out[n > 0 ? n : 0] = 0;
  return n;
}

/* State letter and parent: the fields after the last ')', because the name may contain ')'. */
static bool process_state(const char *path, char *out_state, int *out_parent) {
  char text[1024];
  if (read_small(path, text, sizeof text) <= 0) return false;
  char *end = strrchr(text, ')');
  return end && sscanf(end + 1, " %c %d", out_state, out_parent) == 2;
}

struct process_table {
  size_t count;
  struct {
    int pid, parent;
    bool is_target;
  } at[MAX_PROCESSES];
};

static void list_processes(struct process_table *table) {
  table->count = 0;
  DIR *folder = opendir("/proc");
  if (!folder) return;
  for (struct dirent *entry; table->count < MAX_PROCESSES && (entry = readdir(folder));) {
    int64_t pid;
    char path[64], state;
    if (!parse_i64(entry->d_name, 1, INT32_MAX, &pid)) continue;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    table->at[table->count].pid = (int)pid;
    table->at[table->count].is_target = false;
    if (process_state(path, &state, &table->at[table->count].parent)) table->count++;
  }
  closedir(folder);
}

static bool is_known(const struct harness *harness, int pid) {
  for (size_t i = 0; i < harness->known_count; i++)
    if (harness->known[i] == pid) return true;
  return false;
}
void harness_forget(struct harness *harness, int pid) {
  for (size_t i = 0; i < harness->known_count; i++)
    if (harness->known[i] == pid) harness->known[i--] = harness->known[--harness->known_count];
}

/* Marks the descendants of `root` (0: none) and of every adopted orphan. */
static size_t mark_targets(const struct harness *harness, struct process_table *table, int root) {
  int self = getpid();
  size_t marked = 0;
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (size_t i = 0; i < table->count; i++) {
      if (table->at[i].is_target) continue;
      bool is_target = root && table->at[i].parent == root;
      is_target |= table->at[i].parent == self && !is_known(harness, table->at[i].pid);
      for (size_t k = 0; !is_target && k < table->count; k++)
        is_target = table->at[k].is_target && table->at[k].pid == table->at[i].parent;
      if (!is_target) continue;
      table->at[i].is_target = true;
      is_changed = true;
      marked++;
    }
  }
  return marked;
}

/* Ends and reaps every descendant and orphan, in several passes for processes that keep forking. */
void tree_sweep(struct harness *harness, int root) {
  struct process_table *table = malloc(sizeof *table);
  for (int pass = 0; table && pass < 50; pass++) {
    list_processes(table);
    if (!mark_targets(harness, table, root)) break;
    int self = getpid();
    for (size_t i = 0; i < table->count; i++)
      if (table->at[i].is_target) kill(table->at[i].pid, SIGKILL);
    for (size_t i = 0; i < table->count; i++)
      if (table->at[i].is_target && table->at[i].parent == self)
        waitpid(table->at[i].pid, NULL, pass < 2 ? WNOHANG : 0);
    if (pass) usleep(2000);
  }
  free(table);
}

static int64_t process_resident(int pid) {
  char path[64], text[128];
  long pages = 0;
  snprintf(path, sizeof path, "/proc/%d/statm", pid);
  if (read_small(path, text, sizeof text) <= 0 || sscanf(text, "%*d %ld", &pages) != 1) return -1;
  return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

/* Resident bytes of the worker and the descendants of its main thread, such as a C compiler and its
   children. proc(5): task/TID/children. */
int64_t tree_resident(int pid) {
  int pids[MAX_TREE] = {pid};
  size_t count = 1;
  int64_t sum = process_resident(pids[0]);
  for (size_t i = 0; sum >= 0 && i < count; i++) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pids[i], pids[i]);
    const int64_t own = i ? process_resident(pids[i]) : 0;
    if (own > 0) sum += own;
    if (read_small(path, text, sizeof text) <= 0) continue;
    for (char *at = text, *end; count < MAX_TREE; at = end) {
      long child = strtol(at, &end, 10);
      if (end == at || child <= 0) break;
      pids[count++] = (int)child;
    }
  }
  return sum;
}

bool every_thread_is_stopped(int pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *folder = opendir(path);
  if (!folder) return false;
  bool stands = true;
  for (struct dirent *entry; stands && (entry = readdir(folder));) {
    char stat_path[400], state;
    int parent;
    if (entry->d_name[0] == '.') continue;
    snprintf(stat_path, sizeof stat_path, "/proc/%d/task/%s/stat", pid, entry->d_name);
    stands = process_state(stat_path, &state, &parent) && strchr("TtZX", state);
  }
  closedir(folder);
  return stands;
}

/* -- harness */

void harness_begin(struct harness *harness) {
  harness->known_count = 0;
  harness->was_subreaper = 0;
  prctl(PR_GET_CHILD_SUBREAPER, &harness->was_subreaper);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  struct sigaction ignore = {.sa_handler = SIG_IGN};
  sigaction(SIGPIPE, &ignore, &harness->old_pipe); /* a dead worker is detected by its status */
  struct process_table *table = malloc(sizeof *table);
  if (!table) return;
  list_processes(table);
  for (size_t i = 0; i < table->count; i++) /* the caller's earlier children are not workers */
    if (table->at[i].parent == getpid() && harness->known_count < HARNESS_MAX_CHILDREN)
      harness->known[harness->known_count++] = table->at[i].pid;
  free(table);
}

void harness_finish(struct harness *harness) {
  tree_sweep(harness, 0);
  prctl(PR_SET_CHILD_SUBREAPER, harness->was_subreaper);
  sigaction(SIGPIPE, &harness->old_pipe, NULL);
}
