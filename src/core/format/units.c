/* units: numbers with units, the same in every output format. NaN is a dash. */
#include "format.h"

#include <math.h>
#include <time.h>

#define NONE "\xe2\x80\x93" /* en dash */

void put_number(struct strbuf *out, double x, int decimals) {
  char number[400];
  snprintf(number, sizeof number, "%.*f", decimals, x);
  /* the decimal point of some locales is a comma */
  for (char *p = number; *p; p++)
    if (*p == ',') *p = '.';
  strbuf_puts(out, number);
}

void put_significant(struct strbuf *out, double x, int digits) {
  if (!isfinite(x)) {
    LITERAL(out, NONE);
    return;
  }
  int decimals = digits - 1 - (x != 0 ? (int)floor(log10(fabs(x)) + 1e-12) : 0);
  if (decimals < 0) decimals = 0;
  put_number(out, x, decimals > 15 ? 15 : decimals);
}

static void put_scaled(struct strbuf *out, double x, const char *const *units, const double *scales,
                       size_t count, int digits) {
  if (!isfinite(x) || x < 0) {
    LITERAL(out, NONE);
    return;
  }
  size_t i = 0;
  while (i + 1 < count && x >= scales[i + 1] * 0.99995) i++;
  put_significant(out, x / scales[i], digits);
  strbuf_printf(out, " %s", units[i]);
}

static const char *const time_units[] = {"ns", "\xc2\xb5s", "ms", "s", "min"};
static const double time_scales[] = {1e-6, 1e-3, 1, 1e3, 6e4};
void put_ms(struct strbuf *out, double ms) {
  put_scaled(out, ms, time_units, time_scales, COUNT(time_units), 3);
}
/* A round value on an axis: "10 ms", "100 s". */
void put_tick(struct strbuf *out, double ms) {
  size_t i = 0;
  while (i + 1 < COUNT(time_units) - 1 && ms >= time_scales[i + 1] * 0.99995) i++;
  char number[32];
  format_f64(number, round(ms / time_scales[i] * 1e6) / 1e6);
  strbuf_printf(out, "%s %s", number, time_units[i]);
}
void put_latency(struct strbuf *out, double ms) {
  put_scaled(out, ms, time_units, time_scales, COUNT(time_units), 4);
}

void put_bytes(struct strbuf *out, double bytes) {
  char text[32];
  if (!isfinite(bytes) || bytes < 0) {
    LITERAL(out, NONE);
    return;
  }
  format_bytes(text, bytes);
  strbuf_puts(out, text);
}

void put_percent(struct strbuf *out, double share) {
  if (!isfinite(share)) {
    LITERAL(out, NONE);
    return;
  }
  const double percent = share * 100;
  put_number(out, percent, percent != 0 && fabs(percent) < 9.95 ? 1 : 0);
  LITERAL(out, " %");
}

/* One digit more where the difference is small: 1.007x, 1.21x, 12.1x. */
void put_ratio(struct strbuf *out, double ratio) {
  put_significant(out, ratio, ratio < 1 || ratio >= 1.1 ? 3 : 4);
  LITERAL(out, "x");
}

void put_scientific(struct strbuf *out, double x) {
  char number[32];
  if (!isfinite(x)) {
    LITERAL(out, NONE);
    return;
  }
  snprintf(number, sizeof number, x == 0 ? "%.0f" : "%.1e", x);
  for (char *p = number; *p; p++)
    if (*p == ',') *p = '.';
  strbuf_puts(out, number);
}

void put_plain(struct strbuf *out, double x) {
  char number[32];
  snprintf(number, sizeof number, fabs(x) >= 1e5 && fabs(x) < 1e12 ? "%.0f" : "%.5g", x);
  for (char *p = number; *p; p++)
    if (*p == ',') *p = '.';
  strbuf_puts(out, number);
}

void put_time(struct strbuf *out, uint64_t unix_ms) {
  const time_t seconds = (time_t)(unix_ms / 1000);
  struct tm tm;
  char text[64];
  if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &tm)) {
    LITERAL(out, NONE);
    return;
  }
  strbuf_puts(out, text);
}

void put_shell_word(struct strbuf *out, const char *word) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,=+-";
  if (*word && strspn(word, plain) == strlen(word)) {
    strbuf_puts(out, word);
    return;
  }
  strbuf_puts(out, "'");
  for (; *word; word++) {
    if (*word == '\'')
      strbuf_puts(out, "'\\''");
    else
      strbuf_append(out, word, 1);
  }
  strbuf_puts(out, "'");
}
