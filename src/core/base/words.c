/* Untrusted words: safe display and strict numbers, independent of the locale. Errors are reported
 * by return value; the functions that produce messages are in context.c. */
#include "base.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

size_t utf8_begin(const void *bytes, size_t size, size_t *out_length) {
  const uint8_t *s = bytes;
  const uint8_t low = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : 0xbf;
  *out_length = s[0] < 0x80   ? 1
                : s[0] < 0xc2 ? 0
                : s[0] < 0xe0 ? 2
                : s[0] < 0xf0 ? 3
                : s[0] < 0xf5 ? 4
                              : 0;
  if (!*out_length) return 0;
  size_t there = 1;
  if (there < *out_length && there < size && s[1] >= low && s[1] <= high) there++;
  while (there > 1 && there < *out_length && there < size && (s[there] & 0xc0) == 0x80) there++;
  return there;
}

size_t utf8_length(const void *bytes, size_t size) {
  size_t length;
  return utf8_begin(bytes, size, &length) == length ? length : 0;
}

uint32_t utf8_read(const void *bytes, size_t size, size_t *out_size) {
  const uint8_t *s = bytes;
  const size_t want = s[0] < 0x80   ? 1
                      : s[0] < 0xc0 ? 0
                      : s[0] < 0xe0 ? 2
                      : s[0] < 0xf0 ? 3
                      : s[0] < 0xf8 ? 4
                                    : 0;
  uint32_t code = want < 2 ? s[0] : s[0] & (0x7fu >> want);
  bool is_whole = want > 0 && want <= size;
  for (size_t i = 1; i < want && is_whole; i++) {
    is_whole = (s[i] & 0xc0) == 0x80;
    code = code << 6 | (s[i] & 0x3f);
  }
  *out_size = is_whole ? want : 1;
  return is_whole && code <= 0x10ffff ? code : 0xfffd;
}

size_t utf8_write(uint32_t code, char out[4]) {
  const size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  static const uint8_t marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t i = size; i-- > 1; code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
  out[0] = (char)(marks[size] | code);
  return size;
}

static bool is_control(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f || c == 0x061c ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

size_t shown_as(const char *s, char out[16]) {
  size_t n = utf8_length(s, 4); /* a NUL ends a sequence */
  if (!n) {
    snprintf(out, 16, "\\u{%02x}", (unsigned char)*s);
    return 1;
  }
  const uint32_t c = utf8_read(s, n, &n);
  if (is_control(c)) {
    snprintf(out, 16, "\\u{%x}", c);
  } else {
    memcpy(out, s, n);
    out[n] = 0;
  }
  return n;
}

void safe_copy(char *out, size_t size, const char *string) {
  size_t length = 0;
  char piece[16];
  while (*string) {
    string += shown_as(string, piece);
    size_t n = strlen(piece);
    if (length + n + 4 > size) {
      if (length + 4 <= size) {
        memcpy(out + length, "...", 3);
        length += 3;
      }
      break;
    }
    memcpy(out + length, piece, n);
    length += n;
  }
  if (size) out[length < size ? length : size - 1] = 0;
}

bool parse_i64(const char *string, int64_t min, int64_t max, int64_t *out) {
  bool negative = *string == '-';
  const char *p = string + negative;
  if (!*p) return false;
  int64_t value = 0;
  for (; *p; p++) {
    if (*p < '0' || *p > '9') return false;
    if (!checked_mul(value, (int64_t)10, &value) ||
        !checked_sub(value, (int64_t)(*p - '0'), &value)) /* negative side: INT64_MIN fits */
      return false;
  }
  if (!negative && !checked_sub((int64_t)0, value, &value)) return false;
  if (value < min || value > max) return false;
  *out = value;
  return true;
}

/* strtod uses the locale's decimal point, so the C locale is passed. */
static locale_t c_locale(void) { return newlocale(LC_ALL_MASK, "C", (locale_t)0); }

bool parse_f64(const char *string, double min, double max, double *out) {
  for (const char *p = string; *p; p++)
    if (!strchr("0123456789+-.eE", *p)) return false;
  if (!*string) return false;
  locale_t locale = c_locale();
  if (!locale) return false;
  char *end;
  double value = strtod_l(string, &end, locale);
  freelocale(locale);
  if (*end || !(value >= min && value <= max)) return false;
  *out = value;
  return true;
}

void format_f64(char out[32], double x) {
  if (isnan(x)) {
    memcpy(out, "NaN", 4);
    return;
  }
  if (isinf(x)) {
    snprintf(out, 32, "%sInfinity", x < 0 ? "-" : "");
    return;
  }
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(out, 32, "%.*g", digits, x);
    /* any other decimal point is the locale's comma */
    for (char *p = out; *p; p++)
      if (*p == ',') *p = '.';
    double back;
    if (parse_f64(out, -INFINITY, INFINITY, &back) && back == x) return;
  }
}
