/* Untrusted words: safe display and strict numbers, independent of the locale. Errors are reported
 * by return value; the functions that produce messages are in context.c. */
#include "base.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

/* Decodes one code point of strict UTF-8; returns its length, 0 if invalid. */
static size_t decode_utf8(const unsigned char *s, uint32_t *out) {
  if (s[0] < 0x80) return *out = s[0], 1;
  int extra = s[0] >= 0xf0 ? 3 : s[0] >= 0xe0 ? 2 : s[0] >= 0xc2 ? 1 : -1;
  if (extra < 0 || s[0] > 0xf4) return 0;
  uint32_t c = s[0] & (0x3fu >> extra);
  for (int i = 1; i <= extra; i++) {
    if ((s[i] & 0xc0) != 0x80) return 0;
    c = c << 6 | (s[i] & 0x3fu);
  }
  static const uint32_t least[4] = {0, 0x80, 0x800, 0x10000};
  if (c < least[extra] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0;
  *out = c;
  return (size_t)extra + 1;
}

static bool is_control(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f || c == 0x061c ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

size_t shown_as(const char *s, char out[16]) {
  uint32_t c;
  size_t n = decode_utf8((const unsigned char *)s, &c);
  if (!n) {
    snprintf(out, 16, "\\u{%02x}", (unsigned char)*s);
    return 1;
  }
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
