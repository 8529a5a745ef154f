/* From the bytes of tokens to text: a character may be spread over tokens, and a stop string over
 * pieces. */
#include "generate.h"

/* The size of the character at s, 0 if it may be one that is incomplete; *out_is_valid false: no
   UTF-8, and as many bytes as look like the beginning of a character. */
static size_t character(const char *s, size_t size, bool *out_is_valid) {
  size_t length;
  const size_t there = utf8_begin(s, size, &length);
  *out_is_valid = length && (there == length || there == size);
  if (*out_is_valid) return there == length ? length : 0;
  return there ? there : 1;
}

static void pass_on(struct pieces *p, const char *bytes, size_t size) {
  if (size && !p->is_cancelled) p->is_cancelled = !p->piece(p->user, bytes, size);
}

/* Passes on the first `size` bytes held, U+FFFD in place of what is not UTF-8. Returns the bytes that
   an incomplete character leaves. */
static size_t pass_characters(struct pieces *p, size_t size) {
  size_t from = 0, at = 0;
  while (at < size) {
    bool is_valid;
    const size_t length = character(p->held.at + at, size - at, &is_valid);
    if (!length) break;
    if (!is_valid) {
      pass_on(p, p->held.at + from, at - from);
      pass_on(p, "\xEF\xBF\xBD", 3);
      from = at + length;
    }
    at += length;
  }
  pass_on(p, p->held.at + from, at - from);
  return size - at;
}

static void drop(struct pieces *p, size_t size) {
  if (!size) return;
  memmove(p->held.at, p->held.at + size, p->held.length - size + 1);
  p->held.length -= size;
}

/* The first byte held that a stop string begins at, or may begin at; is_whole: one is complete. */
static size_t find_stop(const struct pieces *p, bool *out_is_whole) {
  *out_is_whole = false;
  for (size_t at = 0; at < p->held.length; at++)
    for (size_t i = 0; i < p->request->stop_count; i++) {
      const size_t length = strlen(p->request->stops[i]), left = p->held.length - at;
      if (!length || memcmp(p->held.at + at, p->request->stops[i], left < length ? left : length))
        continue;
      *out_is_whole = left >= length;
      return at;
    }
  return p->held.length;
}

void pieces_add(struct pieces *p, const char *bytes, size_t size) {
  strbuf_append(&p->held, bytes, size);
  if (!p->held.length || p->held.failed) return;
  const size_t end = find_stop(p, &p->is_stopped);
  const size_t left = pass_characters(p, end);
  drop(p, p->is_stopped ? p->held.length : end - left);
}

void pieces_end(struct pieces *p) {
  if (p->held.length && pass_characters(p, p->held.length)) pass_on(p, "\xEF\xBF\xBD", 3);
  drop(p, p->held.length);
}
