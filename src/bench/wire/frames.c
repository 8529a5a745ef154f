/* Frames over a byte stream: "WORD ARGUMENT LENGTH\n" and LENGTH bytes. Neither end trusts the
 * other: lengths are bounded, words and arguments are short, file names have no folder.
 */
#include "transport.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define HEADER_MAX 192

bool is_plain_file_name(const char *name) {
  const size_t length = strlen(name);
  bool is_plain = length > 0 && length < 100 && name[0] != '.' && name[0] != '-';
  for (size_t i = 0; i < length; i++)
    is_plain = is_plain && (isalnum((unsigned char)name[i]) || strchr("._-", name[i]));
  return is_plain;
}

static bool make_room(struct frame_reader *reader) {
  if (reader->start) {
    memmove(reader->buffer, reader->buffer + reader->start, reader->used - reader->start);
    reader->used -= reader->start;
    reader->start = 0;
  }
  if (reader->used < reader->capacity) return true;
  const size_t capacity = reader->capacity ? reader->capacity * 2 : 65536;
  char *buffer = capacity <= 4 * (size_t)FRAME_MAX ? realloc(reader->buffer, capacity) : NULL;
  if (!buffer) return false;
  reader->buffer = buffer;
  reader->capacity = capacity;
  return true;
}

/* Takes a complete frame; FRAME_NONE: not complete yet. */
static enum frame_result take_frame(struct frame_reader *reader, struct frame *out) {
  char *at = reader->buffer + reader->start;
  const size_t here = reader->used - reader->start;
  const char *end = here ? memchr(at, '\n', here < HEADER_MAX ? here : HEADER_MAX) : NULL;
  if (!end) return here >= HEADER_MAX ? FRAME_BROKEN : FRAME_NONE;
  char header[HEADER_MAX];
  unsigned long long length;
  int used = 0;
  const size_t header_length = (size_t)(end - at);
  memcpy(header, at, header_length);
  header[header_length] = 0;
  if (sscanf(header, "%15s %127s %7llu%n", out->word, out->argument, &length, &used) != 3 ||
      (size_t)used != header_length || length > FRAME_MAX)
    return FRAME_BROKEN;
  if (here < header_length + 1 + length) return FRAME_NONE;
  if (!strcmp(out->argument, "-")) out->argument[0] = 0;
  out->bytes = at + header_length + 1;
  out->length = (size_t)length;
  reader->start += header_length + 1 + out->length;
  return FRAME_READY;
}

enum frame_result frame_next(struct frame_reader *reader, struct frame *out) {
  for (;;) {
    const enum frame_result result = take_frame(reader, out);
    if (result != FRAME_NONE) return result;
    if (!make_room(reader)) return FRAME_BROKEN;
    const ssize_t n =
        read(reader->fd, reader->buffer + reader->used, reader->capacity - reader->used);
    if (n > 0)
      reader->used += (size_t)n;
    else if (n == 0)
      return FRAME_END;
    else if (errno == EAGAIN)
      return FRAME_NONE;
    else if (errno != EINTR)
      return FRAME_END;
  }
}

void frame_reader_deinit(struct frame_reader *reader) {
  free(reader->buffer);
  *reader = (struct frame_reader){.fd = -1};
}

bool frame_write(int fd, const char *word, const char *argument, const void *bytes, size_t length) {
  char header[HEADER_MAX];
  const int n = snprintf(header, sizeof header, "%s %s %zu\n", word,
                         argument && argument[0] ? argument : "-", length);
  return n > 0 && n < HEADER_MAX && length <= FRAME_MAX && write_all(fd, header, (size_t)n) &&
         write_all(fd, bytes, length);
}

hone_status frame_write_file(struct ctx *ctx, int fd, const char *word, const char *name,
                             const char *path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  char *bytes = malloc(FRAME_MAX);
  hone_status status = HONE_OK;
  if (file < 0)
    status = fail(ctx, HONE_E_NOFILE, place_file(path), "%s", strerror(errno));
  else if (!bytes)
    status = fail(ctx, HONE_E_OOM, place_none(), "no memory to send a file");
  for (bool more = true; !status && more;) {
    ssize_t n;
    do n = read(file, bytes, FRAME_MAX);
    while (n < 0 && errno == EINTR);
    if (n < 0)
      status = fail(ctx, HONE_E_IO, place_file(path), "%s", strerror(errno));
    else if (!frame_write(fd, word, name, bytes, (size_t)n))
      status = fail(ctx, HONE_E_IO, place_file(path), "the connection to the device is lost");
    more = n > 0;
  }
  free(bytes);
  if (file >= 0) close(file);
  return status;
}
