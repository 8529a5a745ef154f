/* Growing strings; sizes in bytes and dimensions in human-readable form. */
#include "base.h"

#include <stdlib.h>

void strbuf_append(struct strbuf *text, const char *bytes, size_t length) {
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

void strbuf_puts(struct strbuf *text, const char *string) {
  strbuf_append(text, string, strlen(string));
}

void strbuf_vprintf(struct strbuf *text, const char *format, va_list args) {
  char small[1024];
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(small, sizeof small, format, args);
  if (n < 0) {
    text->failed = true;
  } else if ((size_t)n < sizeof small) {
    strbuf_append(text, small, (size_t)n);
  } else {
    char *large = malloc((size_t)n + 1);
    if (large) {
      vsnprintf(large, (size_t)n + 1, format, again);
      strbuf_append(text, large, (size_t)n);
      free(large);
    } else {
      text->failed = true;
    }
  }
  va_end(again);
}

void strbuf_printf(struct strbuf *text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  strbuf_vprintf(text, format, args);
  va_end(args);
}

void strbuf_deinit(struct strbuf *text) {
  free(text->at);
  memset(text, 0, sizeof *text);
}

hone_status strbuf_finish(struct ctx *ctx, const struct strbuf *text) {
  if (text->failed) return fail(ctx, HONE_E_OOM, place_none(), "no memory for text");
  return HONE_OK;
}

void strbuf_put_safe(struct strbuf *text, const char *string, size_t max) {
  char piece[16];
  for (size_t used = 0; *string;) {
    string += shown_as(string, piece);
    size_t n = strlen(piece);
    if (used + n > max) {
      strbuf_puts(text, "...");
      return;
    }
    strbuf_append(text, piece, n);
    used += n;
  }
}

/* Integer arithmetic, because printf's decimal point depends on the locale. */
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

const char *nearest_name(const char *word, const char *const *names, size_t count) {
  const char *best = NULL;
  size_t least = 4;
  for (size_t i = 0; i < count; i++) {
    size_t distance = edit_distance(word, names[i]);
    if (distance >= least || distance >= strlen(names[i]) || distance >= strlen(word)) continue;
    least = distance;
    best = names[i];
  }
  /* a word also matches a name that begins with it */
  for (size_t i = 0; least > 1 && strlen(word) > 2 && i < count; i++)
    if (!strncmp(word, names[i], strlen(word))) return names[i];
  return best;
}

int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
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
