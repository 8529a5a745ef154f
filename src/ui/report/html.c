/* html: a self-contained page: no network, no server, no library.
 *
 * CSS (page.css), script (page.js) and SVG are inline. Untrusted strings are written through html_text or html_attribute only,
 * and the page's policy allows only its own style and script, by hash, so that even an escaping mistake could not run code.
 * The page is readable without the script, which sorts, folds, copies, hides engines and switches the theme. The same summary
 * gives the same bytes.
 */
#include "core/format/format.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>

/* -- head */

/* 'sha256-...' of a text, for a content security policy. */
static MUST_USE hone_status put_hash(struct ctx *ctx, struct html html, const char *data,
                                     size_t size) {
  char hex[65];
  uint8_t bytes[32];
  TRY(sha256_hex(ctx, hex, data, size));
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (uint8_t)strtoul((char[]){hex[2 * i], hex[2 * i + 1], 0}, NULL, 16);
  LITERAL(html.out, "'sha256-");
  TRY(base64_put(ctx, html.out, bytes, sizeof bytes));
  LITERAL(html.out, "'");
  return HONE_OK;
}

static MUST_USE hone_status find_source(struct ctx *ctx, const char *name, const char **out,
                                        size_t *out_size) {
  *out = name ? hone_embedded_text(name, out_size) : "";
  if (!name) *out_size = 0;
  return *out ? HONE_OK
              : fail(ctx, HONE_E_INTERNAL, place_name(name), "the page's style is not built in");
}

/* The page's own style or script, and the frame's. */
static MUST_USE hone_status put_sources(struct ctx *ctx, struct strbuf *out, const char *directive,
                                        const char *own, const char *further) {
  const char *text;
  size_t size;
  strbuf_puts(out, directive);
  TRY(find_source(ctx, own, &text, &size));
  TRY(put_hash(ctx, (struct html){out}, text, size));
  if (!further) return HONE_OK;
  LITERAL(out, " ");
  TRY(find_source(ctx, further, &text, &size));
  return put_hash(ctx, (struct html){out}, text, size);
}

hone_status html_policy(struct ctx *ctx, struct strbuf *out, const struct html_frame *frame) {
  LITERAL(out, "default-src 'none'; base-uri 'none'; form-action ");
  strbuf_puts(out, frame && frame->js ? "'self'; connect-src 'self'" : "'none'");
  TRY(put_sources(ctx, out, "; style-src ", "report/page.css", frame ? frame->css : NULL));
  return put_sources(ctx, out, "; script-src ", "report/page.js", frame ? frame->js : NULL);
}

static MUST_USE hone_status put_element(struct ctx *ctx, struct html html, const char *element,
                                        const char *name) {
  const char *text;
  size_t size;
  if (!name) return HONE_OK;
  TRY(find_source(ctx, name, &text, &size));
  strbuf_printf(html.out, "<%s>", element);
  strbuf_append(html.out, text, size);
  strbuf_printf(html.out, "</%s>\n", element);
  return HONE_OK;
}

hone_status html_head(struct ctx *ctx, struct html html, const char *title,
                      const struct html_frame *frame) {
  LITERAL(html.out,
          "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"generator\" content=\"hone " HONE_VERSION
          "\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"");
  TRY(html_policy(ctx, html.out, frame));
  LITERAL(html.out,
          "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n");
  if (frame && frame->head) strbuf_puts(html.out, frame->head);
  LITERAL(html.out, "<title>hone: ");
  html_text(html, title);
  LITERAL(html.out, "</title>\n");
  TRY(put_element(ctx, html, "style", "report/page.css"));
  TRY(put_element(ctx, html, "style", frame ? frame->css : NULL));
  LITERAL(html.out, "</head>\n<body>\n");
  TRY(put_element(ctx, html, "script", "report/page.js"));
  TRY(put_element(ctx, html, "script", frame ? frame->js : NULL));
  LITERAL(html.out,
          "<header><div class=\"brand\"><svg viewBox=\"0 0 24 24\" "
          "aria-hidden=\"true\"><path d=\"M3 19 L21 15 L21 19 Z\"/><path d=\"M3 15 L21 5 L21 12 "
          "Z\"/></svg>hone</div>");
  if (frame && frame->nav) strbuf_puts(html.out, frame->nav);
  LITERAL(html.out,
          "<button id=\"theme\" type=\"button\" aria-label=\"switch between light and dark\">"
          "<svg viewBox=\"0 0 24 24\" aria-hidden=\"true\"><circle cx=\"12\" cy=\"12\" r=\"8\"/>"
          "<path d=\"M12 4 A8 8 0 0 1 12 20 Z\"/></svg></button></header>\n<main>\n<h1>");
  html_text(html, title);
  LITERAL(html.out, "</h1>\n");
  return HONE_OK;
}

void html_foot(struct html html) {
  strbuf_printf(html.out, "</main>\n<footer>made by hone %s</footer>\n</body>\n</html>\n",
                hone_version());
}

hone_status html_download(struct ctx *ctx, struct html html, const char *file, const char *type,
                          const char *label, const struct strbuf *data) {
  LITERAL(html.out, "<a class=\"download\" download=\"");
  html_attribute(html, file);
  strbuf_printf(html.out, "\" href=\"data:%s;base64,", type);
  TRY(base64_put(ctx, html.out, data->at ? data->at : "", data->length));
  strbuf_printf(html.out, "\">%s</a>", label);
  return HONE_OK;
}

/* -- the study */

static MUST_USE hone_status put_download(struct ctx *ctx, const struct page *page,
                                         renderer_fn *render, const char *form, const char *type,
                                         const char *label) {
  struct strbuf text = {0};
  char file[64];
  snprintf(file, sizeof file, "hone-%.12s.%s", page->summary->study.key, form);
  hone_status status = render(ctx, page->summary, NULL, &text);
  if (!status) status = html_download(ctx, page->html, file, type, label, &text);
  strbuf_deinit(&text);
  return status;
}

static MUST_USE hone_status put_banner(struct ctx *ctx, const struct page *page,
                                       const struct fact *facts, size_t fact_count) {
  const struct html html = page->html;
  const struct summary *summary = page->summary;
  const size_t models = model_count(page->summary, page->matrix);
  const char *cpu = fact_find(facts, fact_count, "cpu_model");
  const char *cores = fact_find(facts, fact_count, "cores_usable");
  size_t samples = 0;
  if (!cpu) cpu = fact_find(facts, fact_count, "cpu");
  for (size_t i = 0; i < summary->record_count; i++) samples += summary->records[i].sample_count;
  LITERAL(html.out, "<p class=\"facts\"><time>");
  put_time(html.out, summary->study.started_unix_ms);
  LITERAL(html.out, "</time>");
  if (cpu) {
    LITERAL(html.out, "<span>");
    html_text(html, cpu);
    LITERAL(html.out, "</span>");
  }
  if (cores) {
    LITERAL(html.out, "<span>");
    html_text(html, cores);
    LITERAL(html.out, " cores</span>");
  }
  strbuf_printf(html.out,
                "<span>%zu model%s</span><span>%zu samples</span><span class=\"downloads\">",
                models, models == 1 ? "" : "s", samples);
  TRY(put_download(ctx, page, render_json, "json", "application/json", "JSON"));
  TRY(put_download(ctx, page, render_csv, "csv", "text/csv", "CSV"));
  LITERAL(html.out, "</span></p>\n");
  if (!summary->study.finished)
    LITERAL(html.out,
            "<p class=\"notice\">This study is not finished; the same command resumes it.</p>\n");
  return HONE_OK;
}

/* -- one model */

static const struct config *first_config(const struct page *page, size_t group) {
  return &page->summary->records[page->matrix->begins[group]].config;
}

/* The groups of one model; `begins` has the first record of each. */
static size_t groups_of_model(const struct page *page, size_t group, size_t *begins) {
  size_t count = 0;
  for (size_t g = group; g < page->matrix->group_count; g++)
    if (same_model(first_config(page, group), first_config(page, g)))
      begins[count++] = page->matrix->begins[g];
  return count;
}

static void put_group_title(const struct page *page, size_t begin, bool is_sweep) {
  struct strbuf facts = {0};
  put_group_facts(&facts, &page->summary->records[begin]);
  strbuf_printf(page->html.out, is_sweep ? "<h3 id=\"g%zu\">" : "<p class=\"facts\" id=\"g%zu\">",
                begin);
  html_take(page->html, &facts);
  strbuf_puts(page->html.out, is_sweep ? "</h3>\n" : "</p>\n");
  struct strbuf open = {0};
  put_open_dimensions(&open, &page->summary->records[begin]);
  if (open.length) LITERAL(page->html.out, "<p class=\"facts\">");
  html_take(page->html, &open);
  if (open.length) LITERAL(page->html.out, "</p>\n");
}

static MUST_USE hone_status put_model(struct ctx *ctx, const struct page *page,
                                      const size_t *begins, size_t count) {
  const struct html html = page->html;
  const struct summary *summary = page->summary;
  LITERAL(html.out, "<section class=\"model\">\n<h2>");
  html_name(html, summary->records[begins[0]].config.model);
  LITERAL(html.out, "</h2>\n");
  if (count > 1) {
    LITERAL(html.out, "<div class=\"charts\">\n");
    chart_scaling(page, begins, count);
    LITERAL(html.out, "</div>\n");
  }
  for (size_t k = 0; k < count; k++) {
    put_group_title(page, begins[k], count > 1);
    TRY(html_group(ctx, page, begins[k], group_end(summary, begins[k])));
  }
  /* Start-up and memory are nearly constant over a sweep, so they are drawn once, for its last group. */
  const size_t last = begins[count - 1], end = group_end(summary, last);
  if (is_measured(&summary->records[last])) {
    LITERAL(html.out, "<div class=\"charts\">\n");
    chart_compile_against_speed(page, last, end);
    chart_memory(page, last, end);
    LITERAL(html.out, "</div>\n");
  }
  LITERAL(html.out, "</section>\n");
  return HONE_OK;
}

static MUST_USE hone_status put_models(struct ctx *ctx, struct arena *arena,
                                       const struct page *page) {
  size_t *begins;
  TRY(NEW_ARRAY(ctx, arena, begins, page->matrix->group_count + 1));
  for (size_t g = 0; g < page->matrix->group_count; g++) {
    bool is_new = true;
    for (size_t k = 0; is_new && k < g; k++)
      is_new = !same_model(first_config(page, g), first_config(page, k));
    if (is_new) TRY(put_model(ctx, page, begins, groups_of_model(page, g, begins)));
  }
  return HONE_OK;
}

/* -- method */

static void put_method(struct html html, const struct summary *summary) {
  LITERAL(html.out, "<section>\n<h2>Measure it again</h2>\n");
  html_repeat(html, summary->study.command);
  LITERAL(html.out,
          "<h2>How to read this</h2>\n<ul class=\"method\"><li>One sample is one inference; no "
          "sample is discarded. Engines are measured in turn, in rounds of random order; the other "
          "engines are stopped meanwhile.</li><li>\xc2\xb1 is the 95 % interval of the median, "
          "bootstrapped over processes, then rounds. Two rows <b>tie</b> if the interval of their "
          "ratio contains 1; a verdict needs 3 processes and 12 rounds.</li><li>Outputs of timed "
          "inferences are compared with the reference; an engine with wrong outputs has no "
          "rank.</li><li>% limit compares with the roofline limit of this model on this machine, "
          "from measured peaks: of the direct algorithm, and (W) of Winograd, which needs fewer "
          "multiplications in 3x3 convolutions. A peak is the highest value of the probes before "
          "and during the study and of what an engine reached.</li></ul>\n</section>\n");
}

static MUST_USE hone_status put_page(struct ctx *ctx, struct arena *arena, struct html html,
                                     const struct summary *summary,
                                     const struct html_frame *frame) {
  struct fact *facts;
  size_t fact_count;
  struct matrix matrix;
  const struct page page = {.summary = summary, .matrix = &matrix, .html = html};
  TRY(matrix_make(ctx, arena, summary, &matrix));
  TRY(facts_read(ctx, arena, summary->study.machine_json, &facts, &fact_count));
  struct strbuf title = {0};
  put_study_title(&title, summary);
  const hone_status status = html_head(ctx, html, title.at ? title.at : "", frame);
  strbuf_deinit(&title);
  TRY(status);
  TRY(put_banner(ctx, &page, facts, fact_count));
  if (matrix.group_count > 1) html_matrix(&page); /* a single table needs no overview */
  TRY(put_models(ctx, arena, &page));
  if (summary->record_count == 0)
    LITERAL(html.out, "<p class=\"answer\">This study has no rows.</p>\n");
  TRY(html_machine(ctx, arena, &page));
  put_method(html, summary);
  html_foot(html);
  return strbuf_finish(ctx, html.out);
}

hone_status render_html(struct ctx *ctx, const struct summary *summary,
                        const struct render_options *options, struct strbuf *out) {
  const struct html_frame *frame = options ? options->frame : NULL;
  struct arena *arena;
  TRY(arena_create(ctx, 0, &arena));
  const hone_status status = put_page(ctx, arena, (struct html){out}, summary, frame);
  arena_destroy(arena);
  return status;
}
