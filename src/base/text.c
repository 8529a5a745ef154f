/* Growing text, safe display of hostile text, strict number parsing, locale-free formatting. */
#include "base.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

void text_append(struct text *text, const char *bytes, size_t length) {
  size_t need, grown;
  if (text->failed) return;
  if (!checked_add(text->length, length, &need) || !checked_add(need, (size_t)1, &need)) {
    text->failed = true;
    return;
  }
  if (need > text->capacity) {
    if (!checked_mul(text->capacity, (size_t)2, &grown) || grown < need) grown = need;
    if (grown < 256) grown = 256;
    char *at = realloc(text->at, grown);
    if (!at) {
      text->failed = true;
      return;
    }
    text->at = at;
    text->capacity = grown;
  }
  if (length) memcpy(text->at + text->length, bytes, length);
  text->length += length;
  text->at[text->length] = 0;
}

void text_puts(struct text *text, const char *string) { text_append(text, string, strlen(string)); }

void text_vprintf(struct text *text, const char *format, va_list args) {
  char small[1024];
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(small, sizeof small, format, args);
  if (n < 0) {
    text->failed = true;
  } else if ((size_t)n < sizeof small) {
    text_append(text, small, (size_t)n);
  } else {
    char *large = malloc((size_t)n + 1);
    if (large) {
      vsnprintf(large, (size_t)n + 1, format, again);
      text_append(text, large, (size_t)n);
      free(large);
    } else {
      text->failed = true;
    }
  }
  va_end(again);
}

void text_printf(struct text *text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text_vprintf(text, format, args);
  va_end(args);
}

void text_deinit(struct text *text) {
  free(text->at);
  memset(text, 0, sizeof *text);
}

hone_status text_finish(struct ctx *ctx, const struct text *text) {
  if (text->failed) return fail(ctx, HONE_E_OOM, place_none(), "no memory for text");
  return HONE_OK;
}

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

/* One shown character from s into out (at most 12 bytes); returns bytes consumed. */
static size_t show(const char *s, char out[16]) {
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
    string += show(string, piece);
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

void text_put_safe(struct text *text, const char *string, size_t max) {
  char piece[16];
  for (size_t used = 0; *string;) {
    string += show(string, piece);
    size_t n = strlen(piece);
    if (used + n > max) {
      text_puts(text, "...");
      return;
    }
    text_append(text, piece, n);
    used += n;
  }
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

/* strtod reads the locale's decimal point, so the C locale is handed in. */
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
    for (char *p = out; *p; p++)
      if (*p == ',') *p = '.'; /* another decimal point can only be the locale's comma */
    double back;
    if (parse_f64(out, -INFINITY, INFINITY, &back) && back == x) return;
  }
}

/* In whole numbers, since printf's decimal point is the locale's. */
void format_bytes(char out[32], double bytes) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
  size_t i = 0;
  for (; i + 1 < COUNT(units) && bytes >= 999.5; i++) bytes /= 1000;
  const int decimals = !i || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2;
  const int64_t scale = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
  const int64_t number = (int64_t)(bytes * (double)scale + 0.5);
  if (decimals)
    snprintf(out, 32, "%lld.%0*lld %s", (long long)(number / scale), decimals,
             (long long)(number % scale), units[i]);
  else
    snprintf(out, 32, "%lld %s", (long long)number, units[i]);
}

const char *parse_dims(const char *p, int32_t *out_rank, int64_t out_dims[HONE_MAX_RANK]) {
  *out_rank = 0;
  if (*p++ != '[') return NULL;
  if (*p == ']') return p + 1;
  for (;;) {
    char number[24];
    size_t length = strcspn(p, ",]");
    if (length >= sizeof number || *out_rank == HONE_MAX_RANK) return NULL;
    snprintf(number, sizeof number, "%.*s", (int)length, p);
    if (!parse_i64(number, 0, INT64_MAX, &out_dims[(*out_rank)++])) return NULL;
    p += length;
    if (*p == ']') return p + 1;
    if (*p++ != ',') return NULL;
  }
}

size_t edit_distance(const char *a, const char *b) {
  enum { MAX = 64 };
  size_t n = strlen(a), m = strlen(b), row[MAX + 1];
  if (n > MAX || m > MAX) return n + m;
  for (size_t j = 0; j <= m; j++) row[j] = j;
  for (size_t i = 1; i <= n; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= m; j++) {
      size_t best = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
    }
  }
  return row[m];
}

void slug(char out[65], const char *text) {
  size_t n = 0;
  for (const unsigned char *p = (const unsigned char *)text; *p && n < 64; p++) {
    unsigned char c = *p >= 'A' && *p <= 'Z' ? (unsigned char)(*p + 32) : *p;
    bool plain =
        (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    if (!plain) c = '_';
    if (!n && (c == '.' || c == '-')) c = '_';
    out[n++] = (char)c;
  }
  if (!n) out[n++] = '_';
  out[n] = 0;
}
