/* terminal: width, text in two columns, and a line that is overwritten. */
#include "core/format/format.h"
#include "cli.h"

#include <stdlib.h>
#include <sys/ioctl.h>

enum {
  BESIDE = 30,
  BELOW = 8
}; /* columns that the second column needs; else its text is below, indented */

int terminal_width(int fd) {
  struct winsize size;
  int64_t width;
  const char *given = getenv("COLUMNS");
  if (given && parse_i64(given, 1, 10000, &width)) return (int)width;
  return !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 0;
}

void print_beside(const char *head, size_t indent, const char *text) {
  const size_t width = (size_t)terminal_width(1);
  const bool is_below = width && indent > BELOW && width < indent + BESIDE;
  const size_t used = is_below ? 0 : strlen(head);
  if (is_below) indent = BELOW;
  size_t column = used && used >= indent ? used + 1 : indent;
  printf("%s%s%*s", head, is_below ? "\n" : "", (int)(column - used), "");
  for (const char *word = text; *word;) {
    const size_t n = strcspn(word, " ");
    const bool is_full = width && column + 1 + n > width;
    if (word > text) {
      printf("%s%*s", is_full ? "\n" : "", is_full ? (int)indent : 1, "");
      column = is_full ? indent : column + 1;
    }
    printf("%.*s", (int)n, word);
    column += n;
    word += n + (word[n] == ' ');
  }
  printf("\n");
}

void progress_put(struct progress_line *line, const char *text) {
  const size_t most = (size_t)terminal_width(2);
  struct strbuf shown = {0};
  /* a line that reaches the edge wraps, and could not be overwritten */
  strbuf_put_safe(&shown, text, !most ? 200 : most > 4 ? most - 4 : 0);
  if (!shown.at) return;
  const size_t width = shown_width(shown.at);
  fprintf(stderr, "\r%s%*s", shown.at, line->width > width ? (int)(line->width - width) : 0, "");
  fflush(stderr);
  line->width = width;
  strbuf_deinit(&shown);
}

void progress_clear(struct progress_line *line) {
  if (line->width) fprintf(stderr, "\r%*s\r", (int)line->width, "");
  line->width = 0;
}
