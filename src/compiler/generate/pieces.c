/* From the bytes of tokens to text: a character may be spread over tokens, and a stop string over
 * pieces. */
#include "generate.h"

/* The size of the character at s, 0 if it may be one that is incomplete; *out_is_valid false: no
   UTF-8 (RFC 3629). */
static size_t character(const uint8_t *s, size_t size, bool *out_is_valid) {
  const size_t want = s[0] < 0x80   ? 1
                      : s[0] < 0xC2 ? 0
                      : s[0] < 0xE0 ? 2
                      : s[0] < 0xF0 ? 3
                      : s[0] < 0xF5 ? 4
                                    : 0;
  *out_is_valid = want > 0;
  if (want < 2) return 1;
  const uint8_t low = s[0] == 0xE0 ? 0xA0 : s[0] == 0xF0 ? 0x90 : 0x80;
  const uint8_t high = s[0] == 0xED ? 0x9F : s[0] == 0xF4 ? 0x8F : 0xBF;
  for (size_t i = 1; i < want; i++) {
    if (i == size) return 0;
    *out_is_valid = i == 1 ? s[1] >= low && s[1] <= high : (s[i] & 0xC0) == 0x80;
    if (!*out_is_valid) return i;
  }
  return want;
}

static void pass_on(struct pieces *p, const char *bytes, size_t size) {
  if (size && !p->is_cancelled) p->is_cancelled = !p->piece(p->user, bytes, size);
}

/* Passes on the first `size` bytes held, U+FFFD in place of what is not UTF-8. Returns the bytes that
   an incomplete character leaves. */
static size_t pass_characters(struct pieces *p, size_t size) {
  const uint8_t *s = (const uint8_t *)p->held.at;
  size_t from = 0, at = 0;
  while (at < size) {
    bool is_valid;
    const size_t length = character(s + at, size - at, &is_valid);
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
