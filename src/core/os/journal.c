/* State that a supervised process shares with its supervisor, which outlives it: its current
 * activity, printed when a time limit ends it, and files under temporary names, removed if it dies
 * before they are renamed.
 *
 * It is one page of shared memory that the supervisor maps before it forks. Without it nothing is
 * recorded. */
#include "os.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FILES = 16, DOING = 256 };

struct journal {
  char doing[DOING];
  struct journal_file {
    atomic_bool is_used, is_noted; /* noted: the path is complete */
    char path[4096 + 300];
  } files[FILES];
};

static struct journal *journal;

void journal_open(void) {
  void *at = mmap(NULL, sizeof *journal, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  journal = at == MAP_FAILED ? NULL : at;
}

void journal_doing(const char *format, ...) {
  va_list args;
  if (!journal) return;
  va_start(args, format);
  vsnprintf(journal->doing, DOING, format, args);
  va_end(args);
}

void journal_what(char out[256]) {
  if (journal) memcpy(out, journal->doing, DOING);
  out[journal ? DOING - 1 : 0] = 0;
}

void journal_add(const char *path) {
  char absolute[4096];
  if (!journal) return;
  if (path[0] == '/' || !getcwd(absolute, sizeof absolute)) absolute[0] = 0;
  for (size_t i = 0; i < FILES; i++) {
    struct journal_file *file = &journal->files[i];
    if (atomic_exchange(&file->is_used, true)) continue;
    int n =
        snprintf(file->path, sizeof file->path, "%s%s%s", absolute, absolute[0] ? "/" : "", path);
    atomic_store(&file->is_noted, n > 0 && (size_t)n < sizeof file->path);
    return;
  }
}

void journal_drop(const char *path) {
  const size_t length = strlen(path);
  for (size_t i = 0; journal && i < FILES; i++) {
    struct journal_file *file = &journal->files[i];
    if (!atomic_load(&file->is_noted)) continue;
    const size_t n = strlen(file->path);
    if (n < length || strcmp(file->path + n - length, path) != 0) continue;
    atomic_store(&file->is_noted, false);
    atomic_store(&file->is_used, false);
    return;
  }
}

void journal_clean(void) {
  for (size_t i = 0; journal && i < FILES; i++)
    if (atomic_load(&journal->files[i].is_noted)) unlink(journal->files[i].path);
}
