/* report: records to terminal table, CSV, JSON, Markdown, HTML, SVG and PNG. One renderer for each format, all over the same
 * summary; each format has an escaping writer (core/format).
 */
#ifndef HONE_REPORT_H
#define HONE_REPORT_H

#include "core/format/format.h"
#include "judge/compare/compare.h"

struct html_frame;
struct render_options {
  bool color;
  int width; /* of the terminal; 0: 100 */
  /* "p50,p99,memory": names of columns.def or of the terminal's table; NULL: what fits */
  const char *columns;
  const struct html_frame *frame; /* of the page; NULL: standalone */
};
/* E_USAGE for an unknown name, with the nearest one; call it before the work. */
MUST_USE hone_status table_columns_check(struct ctx *ctx, const char *list);
typedef hone_status renderer_fn(struct ctx *ctx, const struct summary *summary,
                                const struct render_options *options, struct strbuf *out);
struct renderer {
  const char *name;   /* "table", "csv", "json", "md", "html" */
  const char *suffix; /* ".csv" */
  renderer_fn *render;
};
extern const struct renderer renderers[];
extern const size_t renderer_count;
const struct renderer *renderer_find(const char *name);

/* "table", "json", "md", "html", "junit" */
MUST_USE hone_status render_changes(struct ctx *ctx, const char *form,
                                    const struct changes *changes,
                                    const struct render_options *options, struct strbuf *out);
/* The same with the method of the gate; also "comment", Markdown for a pull request. */
struct gate_result;
MUST_USE hone_status render_gate(struct ctx *ctx, const char *form, const struct gate_result *gate,
                                 const struct render_options *options, struct strbuf *out);

/* -- inside the folder */

/* one file for each */
renderer_fn render_table, render_csv, render_latency_csv, render_json, render_markdown, render_html,
    render_svg, render_png;
/* png.c: E_MISSING if librsvg is not installed. scale: pixels per unit of the drawing. */
MUST_USE hone_status png_of_svg(struct ctx *ctx, const struct strbuf *svg, double scale,
                                struct strbuf *out);
bool png_is_possible(void);

/* svg.c: marks of inline SVG, without style attributes (the page's policy forbids them) */
enum { COLOR_COUNT = 16, TICKS = 12 };
/* Class c0 to c15 of the page's style. A known engine has the same color in every report, another one on the whole page. */
int color_of_backend(const struct summary *summary, size_t i);
struct axis {
  double low, high; /* of the values, positive; logarithmic */
  double from, to;  /* of the drawing */
};
double axis_place(const struct axis *axis, double value);
void axis_widen(struct axis *axis);
int axis_ticks(const struct axis *axis, double ticks[TICKS]);
/* name="12.3" */
#define SVG_ATTRIBUTE(html, name, x)     \
  do {                                   \
    LITERAL((html).out, " " name "=\""); \
    put_number((html).out, (x), 1);      \
    LITERAL((html).out, "\"");           \
  } while (0)
void svg_line(struct html html, const char *class_name, double x1, double y1, double x2, double y2);
void svg_rect(struct html html, const char *class_name, double x, double y, double width,
              double height);
/* Opens a <text>; the caller writes it and closes with svg_end_text. */
void svg_begin_text(struct html html, const char *class_name, double x, double y);
void svg_end_text(struct html html);
void svg_name(struct html html, const struct record *record, size_t max);
struct label_place {
  double x, y;
};
double label_clear(const struct label_place *labels, size_t count, double x, double y);
/* Escapes and frees. */
void html_take(struct html html, struct strbuf *untrusted);

/* charts.c, chart_scaling.c */
struct page;
/* "<g class=c..>" of record i, which the switch of its engine hides; a page without a matrix has no switches. */
void chart_begin_engine(const struct page *page, size_t i);
/* An axis for the samples of all measured rows of a group, without the slowest 0.5 %. */
MUST_USE hone_status latency_axis(struct ctx *ctx, const struct summary *summary, size_t begin,
                                  size_t end, struct axis *out);
void chart_latency_axis(struct html html, const struct axis *axis);
MUST_USE hone_status chart_distribution(struct ctx *ctx, struct html html,
                                        const struct summary *summary, size_t i,
                                        const struct axis *axis, int color);
void chart_compile_against_speed(const struct page *page, size_t begin, size_t end);
/* The content only, 560 x 320; false: fewer than two rows have both figures. */
bool plot_compile_against_speed(const struct page *page, size_t begin, size_t end);
/* Writes nothing for fewer than two points. */
void chart_memory_over_time(struct html html, const struct record *record);
void chart_memory(const struct page *page, size_t begin, size_t end);
/* Throughput of each engine over the batches or the threads of one model, one figure for each value of the other. `begins`:
   the model's groups. Writes nothing if neither varies. */
void chart_scaling(const struct page *page, const size_t *begins, size_t count);

/* compare_html.c */
MUST_USE hone_status render_changes_html(struct ctx *ctx, const struct changes *changes,
                                         const struct html_frame *frame, struct strbuf *out);

/* html_*.c: parts of the page */
struct page {
  const struct summary *summary;
  const struct matrix *matrix; /* NULL: only figures */
  struct html html;
  const char *const *links; /* trusted: the page that has a record's row; NULL: this page */
};
void html_matrix(const struct page *page);
void html_row_name(struct html html, const struct record *record);
/* id="r..." of a row, the same in every report. */
void html_row_id(struct html html, const struct record *record);
/* A bar below a percentage; nothing for NaN. */
void html_gauge(struct html html, double share);
void html_repeat(struct html html, const char *command);
MUST_USE hone_status html_group(struct ctx *ctx, const struct page *page, size_t begin, size_t end);
MUST_USE hone_status html_machine(struct ctx *ctx, struct arena *arena, const struct page *page);
void html_answer(struct html html, const struct summary *summary, size_t begin, size_t end);
/* Additional parts of a page of hone's dashboard. */
struct html_frame {
  const char *nav;      /* trusted HTML below the brand; NULL: a standalone page */
  const char *head;     /* trusted HTML in <head>; may be NULL */
  const char *css, *js; /* further embedded files; may be NULL */
};
/* The beginning of the page up to <main>: policy, style and script. frame NULL: a standalone page without network access. */
MUST_USE hone_status html_head(struct ctx *ctx, struct html html, const char *title,
                               const struct html_frame *frame);
/* The content security policy: only hone's own style and scripts, by hash. */
MUST_USE hone_status html_policy(struct ctx *ctx, struct strbuf *out,
                                 const struct html_frame *frame);
void html_foot(struct html html);
/* A link that downloads `data`, which is inside the page. */
MUST_USE hone_status html_download(struct ctx *ctx, struct html html, const char *file,
                                   const char *type, const char *label, const struct strbuf *data);
#endif
