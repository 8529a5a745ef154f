/* format: numbers with units for people, and one escaping writer for each output format. */
#ifndef HONE_FORMAT_H
#define HONE_FORMAT_H

#include "core/base/base.h"

/* -- units.c: NaN is a dash in every output format */
void put_number(struct strbuf *out, double x, int decimals); /* '.' in every locale */
void put_significant(struct strbuf *out, double x, int digits);
void put_ms(struct strbuf *out, double ms);      /* "812 ns", "4.81 ms", "1.2 s" */
void put_latency(struct strbuf *out, double ms); /* with one digit more */
void put_tick(struct strbuf *out, double ms);
void put_bytes(struct strbuf *out, double bytes);    /* "97.5 MB" */
void put_percent(struct strbuf *out, double share);  /* "61 %" */
void put_ratio(struct strbuf *out, double ratio);    /* "1.82x" */
void put_scientific(struct strbuf *out, double x);   /* "2.1e-07", "0" */
void put_plain(struct strbuf *out, double x);        /* five digits, no more than needed */
void put_time(struct strbuf *out, uint64_t unix_ms); /* "2026-01-31 12:00 UTC" */
/* One word of a POSIX shell command, quoted if necessary. */
void put_shell_word(struct strbuf *out, const char *word);

/* -- writers.c: the only way for untrusted text into an output. The macro makes sure that text that is not escaped is a string
   literal. Control characters become \u{..}, except in JSON, which has its own escape. */
#define LITERAL(text, literal) strbuf_append((text), "" literal "", sizeof(literal) - 1)
struct html {
  struct strbuf *out;
};
struct markdown {
  struct strbuf *out;
};
struct csv {
  struct strbuf *out;
  bool is_inside; /* the line has a field */
};
struct json_writer {
  struct strbuf *out;
};
struct tty {
  struct strbuf *out;
  bool color;
};
void html_text(struct html html, const char *untrusted);
/* A model's name, which may be long: line breaks are allowed after a comma or a slash. */
void html_name(struct html html, const char *untrusted);
void html_attribute(struct html html, const char *untrusted); /* between double quotes */
void markdown_text(struct markdown markdown, const char *untrusted);
void markdown_take(struct markdown markdown, struct strbuf *untrusted); /* and frees it */
void csv_text(struct csv *csv, const char *untrusted);
void csv_number(struct csv *csv, double x); /* empty for NaN */
void csv_end_line(struct csv *csv);
void json_text(struct json_writer json, const char *untrusted);
void json_number(struct json_writer json, double x); /* null for NaN */
struct json_t *json_finite(double x);                /* the same as a jansson value */
void tty_text(struct tty tty, const char *untrusted, size_t max);
/* Terminal columns of safe UTF-8 text. */
size_t shown_width(const char *text);

#endif
