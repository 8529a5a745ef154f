/* writers: one escaping writer for each output format. Text of a user, a model or an engine is only written through these.
 *
 * Input: any bytes up to a NUL. Output: text that the format shows literally. All but JSON first replace control characters
 * (C0, C1, bidirectional) and invalid UTF-8 by \u{..}, then escape the format's own syntax. Sources: HTML section 13.1.2,
 * RFC 4180, OWASP "CSV Injection", CommonMark 0.31 section 2.4, RFC 8259.
 */
#include "format.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

/* Calls back for each byte of the safe form. */
static void each_safe_byte(struct strbuf *out, const char *untrusted,
                           void (*put)(struct strbuf *out, char byte)) {
  struct strbuf safe = {0};
  strbuf_put_safe(&safe, untrusted, SIZE_MAX);
  if (safe.failed) out->failed = true;
  for (size_t i = 0; i < safe.length; i++) put(out, safe.at[i]);
  strbuf_deinit(&safe);
}

static void put_html_byte(struct strbuf *out, char byte) {
  switch (byte) {
    case '&':
      LITERAL(out, "&amp;");
      return;
    case '<':
      LITERAL(out, "&lt;");
      return;
    case '>':
      LITERAL(out, "&gt;");
      return;
    case '"':
      LITERAL(out, "&quot;");
      return;
    case '\'':
      LITERAL(out, "&#39;");
      return;
    default:
      strbuf_append(out, &byte, 1);
  }
}
void html_text(struct html html, const char *untrusted) {
  each_safe_byte(html.out, untrusted, put_html_byte);
}
static void put_name_byte(struct strbuf *out, char byte) {
  put_html_byte(out, byte);
  if (byte == ',' || byte == '/') LITERAL(out, "<wbr>");
}
void html_name(struct html html, const char *untrusted) {
  each_safe_byte(html.out, untrusted, put_name_byte);
}
void html_attribute(struct html html, const char *untrusted) {
  each_safe_byte(html.out, untrusted, put_html_byte);
}

/* -- Markdown */

static bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         (unsigned char)c >= 0x80;
}

/* ":smile:" and "http://" */
static bool colon_is_markup(const char *at) {
  size_t length = 1;
  while (is_word(at[length]) || at[length] == '_' || at[length] == '+' || at[length] == '-')
    length++;
  return at[1] == '/' || (length > 1 && at[length] == ':');
}

/* The character could start markup, a link, a mention or a template; `before` is 0 at the beginning. A name such as
   zoo:mobilenet_v3_small or a shape such as x[1,3] is not markup and stays readable. */
static bool is_markup(const char *at, char before) {
  switch (*at) {
    case '\\':
    case '`':
    case '*':
    case '|':
    case '~':
    case '$':
    case '@':
      return true;
    case '_': /* emphasis needs a non-word character on one side */
      return !is_word(before) || !is_word(at[1]);
    case '[':
      return !before || before == '!' || at[1] == '^' || strstr(at, "](") || strstr(at, "][");
    case ']':
      return at[1] == '(' || at[1] == '[' || at[1] == ':';
    case '!':
      return at[1] == '[';
    case '{':
      return at[1] == '{' || at[1] == '%' || at[1] == '#' || before == '{';
    case '}':
      return at[1] == '}' || before == '}';
    case '#':
      return !before || is_word(at[1]);
    case '>':
      return !before;
    case ':':
      return colon_is_markup(at);
    case '.': /* "www." */
      return before == 'w' || before == 'W';
    default:
      return false;
  }
}

/* '<' and '&' as entities, because some renderers parse HTML before backslashes. */
void markdown_text(struct markdown markdown, const char *untrusted) {
  struct strbuf safe = {0};
  strbuf_put_safe(&safe, untrusted, SIZE_MAX);
  if (safe.failed) markdown.out->failed = true;
  for (size_t i = 0; i < safe.length; i++) {
    if (safe.at[i] == '<') {
      LITERAL(markdown.out, "&lt;");
    } else if (safe.at[i] == '&') {
      LITERAL(markdown.out, "&amp;");
    } else {
      if (is_markup(&safe.at[i], i ? safe.at[i - 1] : 0)) LITERAL(markdown.out, "\\");
      strbuf_append(markdown.out, &safe.at[i], 1);
    }
  }
  strbuf_deinit(&safe);
}

static void put_csv_byte(struct strbuf *out, char byte) {
  if (byte == '"') LITERAL(out, "\"");
  strbuf_append(out, &byte, 1);
}
static void csv_separator(struct csv *csv) {
  if (csv->is_inside) LITERAL(csv->out, ",");
  csv->is_inside = true;
}
/* A spreadsheet would evaluate the text, also after leading blanks; it gets a quote in front. */
static bool is_formula(const char *text) {
  if (*text == '\t' || *text == '\r' || *text == '\n') return true;
  text += strspn(text, " \t\r\n\v\f");
  if (*text && strchr("=+-@", *text)) return true;
  static const char *const wide[] = {"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
                                     "\xef\xbc\xa0"};
  for (size_t i = 0; i < COUNT(wide); i++)
    if (!strncmp(text, wide[i], 3)) return true;
  return false;
}
void csv_text(struct csv *csv, const char *untrusted) {
  csv_separator(csv);
  LITERAL(csv->out, "\"");
  if (is_formula(untrusted)) LITERAL(csv->out, "'");
  each_safe_byte(csv->out, untrusted, put_csv_byte);
  LITERAL(csv->out, "\"");
}
void csv_number(struct csv *csv, double x) {
  char number[32];
  csv_separator(csv);
  if (isnan(x)) return;
  format_f64(number, x);
  strbuf_puts(csv->out, number);
}
void csv_end_line(struct csv *csv) {
  LITERAL(csv->out, "\r\n");
  csv->is_inside = false;
}

void json_text(struct json_writer json, const char *untrusted) {
  struct strbuf safe = {0};
  json_t *string = json_string(untrusted);
  if (!string) { /* not UTF-8 */
    strbuf_put_safe(&safe, untrusted, SIZE_MAX);
    string = json_string(safe.at ? safe.at : "");
  }
  char *dumped = string ? json_dumps(string, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;
  if (dumped)
    strbuf_puts(json.out, dumped);
  else
    json.out->failed = true;
  free(dumped);
  json_decref(string);
  strbuf_deinit(&safe);
}
void json_number(struct json_writer json, double x) {
  char number[32];
  if (!isfinite(x)) {
    LITERAL(json.out, "null");
    return;
  }
  format_f64(number, x);
  strbuf_puts(json.out, number);
}

json_t *json_finite(double x) { return isfinite(x) ? json_real(x) : json_null(); }

void tty_text(struct tty tty, const char *untrusted, size_t max) {
  strbuf_put_safe(tty.out, untrusted, max);
}

/* Blocks of wide and of zero-width characters (Unicode 15 EastAsianWidth W and F, general category Mn). A few rare characters
   are counted as one column, which only affects alignment. */
static const struct {
  uint32_t first, last;
  size_t width;
} odd_widths[] = {
    {0x0300, 0x036f, 0},   {0x1100, 0x115f, 2},   {0x1ab0, 0x1aff, 0}, {0x200b, 0x200d, 0},
    {0x20d0, 0x20ff, 0},   {0x2e80, 0xa4cf, 2},   {0xac00, 0xd7a3, 2}, {0xf900, 0xfaff, 2},
    {0xfe00, 0xfe0f, 0},   {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2}, {0xffe0, 0xffe6, 2},
    {0x1f300, 0x1faff, 2}, {0x20000, 0x3fffd, 2},
};
static size_t width_of(uint32_t c) {
  for (size_t i = 0; i < COUNT(odd_widths); i++)
    if (c >= odd_widths[i].first && c <= odd_widths[i].last) return odd_widths[i].width;
  return 1;
}

size_t shown_width(const char *text) {
  size_t width = 0;
  uint32_t c = 0;
  for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
    if (*s < 0x80)
      c = *s;
    else if (*s >= 0xc0)
      c = *s & (*s >= 0xf0 ? 0x07u : *s >= 0xe0 ? 0x0fu : 0x1fu);
    else
      c = c << 6 | (*s & 0x3fu);
    if ((s[1] & 0xc0) != 0x80) width += width_of(c);
  }
  return width;
}

void markdown_take(struct markdown markdown, struct strbuf *text) {
  if (text->failed) markdown.out->failed = true;
  markdown_text(markdown, text->at ? text->at : "");
  strbuf_deinit(text);
}
