/* html: one page that needs nothing else: no network, no server, no library.
 *
 * In: a summary. Out: HTML with its own CSS (text/page.css), script (text/page.js) and SVG. Every
 * string of others goes through html_text or html_attribute; the page's policy allows exactly its
 * own style and script by their hashes, so that even a mistake there could not run. Without the
 * script all is readable: it only sorts, folds, copies and switches the theme. The same summary
 * gives the same bytes.
 */
#include "report.h"

#include <math.h>
#include <time.h>

/* -- head
 * ------------------------------------------------------------------------------------------ */

/* 'sha256-...' of a text, as a policy wants it. */
static MUST_USE hone_status put_hash(struct ctx *ctx, struct html html, const char *data,
                                     size_t size) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char hex[65];
  uint8_t bytes[33] = {0};
  TRY(sha256_hex(ctx, hex, data, size));
  for (size_t i = 0; i < 32; i++) {
    const char *high = strchr("0123456789abcdef", hex[2 * i]);
    const char *low = strchr("0123456789abcdef", hex[2 * i + 1]);
    if (!high || !low) return fail(ctx, HONE_E_INTERNAL, place_none(), "odd hash \"%s\"", hex);
    static const char hexadecimal[] = "0123456789abcdef";
    bytes[i] = (uint8_t)(strcspn(hexadecimal, (char[]){*high, 0}) << 4 |
                         strcspn(hexadecimal, (char[]){*low, 0}));
  }
  LITERAL(html.out, "'sha256-");
  for (size_t i = 0; i < 33; i += 3) {
    const uint32_t three =
        (uint32_t)bytes[i] << 16 | (uint32_t)bytes[i + 1] << 8 | (i + 2 < 33 ? bytes[i + 2] : 0u);
    for (int k = 18; k >= 0; k -= 6)
      if (i < 30 || k > 0) text_append(html.out, &digits[three >> k & 63], 1);
  }
  LITERAL(html.out, "='");
  return HONE_OK;
}

static void put_title(struct html html, const struct summary *summary) {
  html_text(html, summary->study.name[0] ? summary->study.name : "benchmark");
}

static MUST_USE hone_status put_head(struct ctx *ctx, struct html html,
                                     const struct summary *summary) {
  size_t css_size = 0, js_size = 0;
  const char *css = hone_embedded_text("report/page.css", &css_size);
  const char *js = hone_embedded_text("report/page.js", &js_size);
  if (!css || !js)
    return fail(ctx, HONE_E_INTERNAL, place_none(), "the page's style is not built in");
  LITERAL(
      html.out,
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; "
      "form-action 'none'; style-src ");
  TRY(put_hash(ctx, html, css, css_size));
  LITERAL(html.out, "; script-src ");
  TRY(put_hash(ctx, html, js, js_size));
  LITERAL(html.out,
          "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>hone: ");
  put_title(html, summary);
  LITERAL(html.out, "</title>\n<style>");
  text_append(html.out, css, css_size);
  LITERAL(html.out, "</style>\n</head>\n<body>\n<script>");
  text_append(html.out, js, js_size);
  LITERAL(html.out, "</script>\n");
  return HONE_OK;
}

static void put_banner(struct html html, const struct summary *summary, const char *cpu) {
  size_t samples = 0, models = 0;
  for (size_t i = 0; i < summary->record_count; i = group_end(summary, i)) models++;
  for (size_t i = 0; i < summary->record_count; i++) samples += summary->records[i].sample_count;
  LITERAL(html.out,
          "<header><div class=\"brand\"><svg viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path "
          "d=\"M3 19 L21 "
          "15 L21 19 Z\"/><path d=\"M3 15 L21 5 L21 12 Z\"/></svg>hone</div>"
          "<button id=\"theme\" type=\"button\" aria-label=\"switch between light and dark\">"
          "<svg viewBox=\"0 0 24 24\" aria-hidden=\"true\"><circle cx=\"12\" cy=\"12\" "
          "r=\"8\"/><path d=\"M12 "
          "4 A8 8 0 0 1 12 20 Z\"/></svg></button></header>\n<main>\n<h1>");
  put_title(html, summary);
  LITERAL(html.out, "</h1>\n<p class=\"facts\"><time>");
  put_time(html.out, summary->study.started_unix_ms);
  LITERAL(html.out, "</time>");
  if (cpu) {
    LITERAL(html.out, "<span>");
    html_text(html, cpu);
    LITERAL(html.out, "</span>");
  }
  text_printf(html.out, "<span>%zu model%s</span><span>%zu samples</span></p>\n", models,
              models == 1 ? "" : "s", samples);
  if (!summary->study.finished)
    LITERAL(html.out,
            "<p class=\"notice\">This study is not finished; the same command resumes it.</p>\n");
}

/* -- the answer
 * ------------------------------------------------------------------------------------ */

static void put_name(struct html html, const struct record *record) {
  LITERAL(html.out, "<b>");
  html_text(html, record->cell.backend);
  LITERAL(html.out, "</b>");
}

static void put_against(struct html html, const struct summary *summary, size_t i, size_t other) {
  const struct comparison *comparison = find_comparison(summary, i, other);
  if (!comparison || comparison->verdict == VERDICT_undecided) return;
  LITERAL(html.out, " ");
  put_name(html, &summary->records[i]);
  if (comparison->verdict == VERDICT_tie) {
    LITERAL(html.out, " ties with it.");
    return;
  }
  LITERAL(html.out, " is ");
  put_verdict(html.out, summary, i, other);
  LITERAL(html.out, " <span class=\"quiet\">(95\xc2\xa0% interval ");
  put_ratio(html.out, comparison->ratio.low);
  LITERAL(html.out, " to ");
  put_ratio(html.out, comparison->ratio.high);
  LITERAL(html.out, ")</span>.");
}

/* The same engine with the same options, as --aa has it. */
static bool is_twin(const struct record *a, const struct record *b) {
  return !strcmp(a->cell.backend, b->cell.backend) && !strcmp(a->cell.variant, b->cell.variant) &&
         !strcmp(a->cell.precision, b->cell.precision);
}

static void put_figures(struct html html, const struct record *record) {
  LITERAL(html.out, "<b>");
  put_latency(html.out, record->p50_ms);
  LITERAL(html.out, "</b> <span class=\"quiet\">");
  put_half_width(html.out, record);
  LITERAL(html.out, "</span>, ");
  put_significant(html.out, record->throughput_per_s, 4);
  LITERAL(html.out, " samples a second.");
}

static void put_answer(struct html html, const struct summary *summary, size_t begin, size_t end) {
  const struct record *best = &summary->records[begin];
  const bool decided = is_decided(summary, begin);
  LITERAL(html.out, "<p class=\"answer\">");
  if (best->rank != 1) {
    LITERAL(html.out, "Nothing could be ranked here; the reasons stand below.</p>\n");
    return;
  }
  put_name(html, best);
  if (decided && is_tied(summary, begin))
    LITERAL(html.out, " has the lowest median, which ties with another: ");
  else if (decided)
    LITERAL(html.out, " is the fastest correct way to run this model here: ");
  else
    LITERAL(html.out, " has the lowest median so far: ");
  put_figures(html, best);
  if (!decided)
    LITERAL(html.out,
            " <span class=\"quiet\">A verdict needs at least 3 processes and 12 rounds.</span>");
  const size_t native = native_of_group(summary, begin, end);
  size_t next = begin + 1;
  while (next < end && is_twin(best, &summary->records[next])) next++;
  if (next < end && summary->records[next].rank) put_against(html, summary, next, begin);
  if (native != SIZE_MAX && native != begin && native != next && !is_native(best))
    put_against(html, summary, native, begin);
  LITERAL(html.out, "</p>\n");
}

/* One card a model, where there is more than one. */
static void put_overview(struct html html, const struct summary *summary) {
  if (group_end(summary, 0) == summary->record_count) return;
  LITERAL(html.out, "<nav class=\"cards\" aria-label=\"models\">");
  for (size_t begin = 0, end; begin < summary->record_count; begin = end) {
    end = group_end(summary, begin);
    const struct record *best = &summary->records[begin];
    text_printf(html.out, "<a class=\"card\" href=\"#g%zu\"><span class=\"model\">", begin);
    html_text(html, best->cell.model);
    LITERAL(html.out, "</span>");
    if (best->rank == 1) {
      text_printf(html.out, "<span class=\"winner\"><i class=\"dot c%d\"></i>",
                  color_of_backend(summary, begin));
      html_text(html, best->cell.backend);
      LITERAL(html.out, "</span><span class=\"figure\">");
      put_latency(html.out, best->p50_ms);
      LITERAL(html.out, "</span>");
    } else {
      LITERAL(html.out, "<span class=\"winner\">not ranked</span>");
    }
    LITERAL(html.out, "</a>");
  }
  LITERAL(html.out, "</nav>\n");
}

/* -- rows
 * ------------------------------------------------------------------------------------------ */

static const struct {
  const char *title, *class_name, *help;
} headings[] = {
    {"#", "rank", "rank among the correct rows"},
    {"backend", "name", "what ran the model"},
    {"p50", "num", "median latency with its 95 % interval"},
    {"latency", "dist",
     "distribution of all samples, logarithmic; line: median, band: its 95 % interval"},
    {"vs fastest", "verdict", "ratio of medians; a tie where its 95 % interval holds 1"},
    {"vs native", "verdict", "ratio of medians to hone's own compiler"},
    {"per s", "num rate", "throughput at this batch"},
    {"compile", "num", "compile time, cold"},
    {"memory", "num", "resident set while running"},
    {"% limit", "num limit", "share of what this machine's peaks allow at best"},
};
enum {
  H_RANK,
  H_NAME,
  H_P50,
  H_DIST,
  H_BEST,
  H_NATIVE,
  H_RATE,
  H_COMPILE,
  H_MEMORY,
  H_LIMIT,
  H_COUNT
};

struct group {
  const struct summary *summary;
  size_t begin, end, native;
  struct axis axis;
  bool has_native_column;
};

static void put_headings(struct html html, const struct group *group) {
  LITERAL(html.out, "<thead><tr>");
  for (int h = 0; h < H_COUNT; h++) {
    if (h == H_NATIVE && !group->has_native_column) continue;
    text_printf(html.out, "<th scope=\"col\" class=\"%s\" title=\"%s\"", headings[h].class_name,
                headings[h].help);
    text_puts(html.out, h == H_RANK ? " aria-sort=\"ascending\">" : ">");
    if (h == H_DIST) {
      LITERAL(html.out, "<span class=\"sr\">latency distribution</span>");
      chart_latency_axis(html, &group->axis);
    } else {
      text_printf(html.out, "<button type=\"button\" class=\"sort\">%s</button>",
                  headings[h].title);
    }
    LITERAL(html.out, "</th>");
  }
  LITERAL(html.out, "<th><span class=\"sr\">details</span></th></tr></thead>\n");
}

/* <td class data-label data-value>: the value sorts, n/a last. */
static void begin_cell(struct html html, int heading, double value) {
  text_printf(html.out, "<td class=\"%s\" data-label=\"%s\" data-value=\"",
              headings[heading].class_name, headings[heading].title);
  if (isfinite(value)) {
    char number[32];
    format_f64(number, value);
    text_puts(html.out, number);
  }
  LITERAL(html.out, "\">");
}
static void end_cell(struct html html) { LITERAL(html.out, "</td>"); }

static void put_flags(struct html html, uint32_t flags) {
  for (int i = 0; i < FLAG_BIT_COUNT; i++)
    if (flags & 1u << i)
      text_printf(html.out, "<span class=\"chip warn\" title=\"%s\">%s</span>",
                  flag_help((enum record_flag)i), flag_text((enum record_flag)i));
}

static void put_name_cell(struct html html, const struct group *group, size_t i) {
  const struct record *record = &group->summary->records[i];
  text_printf(html.out, "<th scope=\"row\" class=\"name\" data-label=\"backend\" data-value=\"");
  html_attribute(html, record->cell.backend);
  text_printf(html.out, "\"><i class=\"dot c%d\"></i>", color_of_backend(group->summary, i));
  put_name(html, record);
  LITERAL(html.out, " <span class=\"quiet\">");
  html_text(html, record->worst.engine_version);
  if (record->cell.variant[0] && strcmp(record->cell.variant, "default") != 0) {
    LITERAL(html.out, " ");
    html_text(html, record->cell.variant);
  }
  if (record->cell.label > 0) LITERAL(html.out, " again");
  LITERAL(html.out, "</span>");
  put_flags(html, record->flags);
  LITERAL(html.out, "</th>");
}

static void put_verdict_cell(struct html html, const struct group *group, int heading, size_t i,
                             size_t against) {
  const struct record *record = &group->summary->records[i];
  const struct comparison *comparison =
      against == SIZE_MAX ? NULL : find_comparison(group->summary, i, against);
  const bool is_best = heading == H_BEST && record->rank == 1;
  begin_cell(html, heading,
             comparison                     ? comparison->ratio.value
             : record->rank && i == against ? 1
                                            : NAN);
  if (record->rank == 0 && heading == H_BEST) {
    text_printf(html.out, "<span class=\"pill bad\" title=\"%s\">%s</span>",
                status_help(record->status), status_text(record->status));
  } else if (is_best) {
    text_printf(html.out, "<span class=\"pill %s\">%s</span>",
                is_decided(group->summary, i) ? "best" : "undecided",
                first_text(group->summary, i));
  } else if (comparison) {
    text_printf(html.out, "<span class=\"pill %s\" title=\"95 %% interval ",
                verdict_text(comparison->verdict));
    put_ratio(html.out, comparison->ratio.low);
    LITERAL(html.out, " to ");
    put_ratio(html.out, comparison->ratio.high);
    LITERAL(html.out, "\">");
    put_verdict(html.out, group->summary, i, against);
    LITERAL(html.out, "</span>");
  }
  end_cell(html);
}

static void put_limit_cell(struct html html, const struct record *record) {
  const double share = record->limit_share;
  begin_cell(html, H_LIMIT, share);
  put_percent(html.out, share);
  if (isfinite(share)) {
    LITERAL(html.out,
            "<svg class=\"gauge\" viewBox=\"0 0 60 4\" aria-hidden=\"true\"><rect class=\"rest\" "
            "width=\"60\" "
            "height=\"4\" rx=\"2\"/><rect class=\"part\" width=\"");
    put_number(html.out, fmin(fmax(share, 0), 1) * 60, 1);
    LITERAL(html.out, "\" height=\"4\" rx=\"2\"/></svg>");
  }
  end_cell(html);
}

static MUST_USE hone_status put_row(struct ctx *ctx, struct html html, const struct group *group,
                                    size_t i) {
  const struct record *record = &group->summary->records[i];
  text_printf(html.out, "<tr class=\"row%s\">", record->rank ? "" : " unranked");
  begin_cell(html, H_RANK, record->rank ? (double)record->rank : (double)NAN);
  if (record->rank) text_printf(html.out, "%d", record->rank);
  end_cell(html);
  put_name_cell(html, group, i);
  begin_cell(html, H_P50, record->p50_ms);
  LITERAL(html.out, "<b>");
  put_latency(html.out, record->p50_ms);
  LITERAL(html.out, "</b> <span class=\"quiet\">");
  put_half_width(html.out, record);
  LITERAL(html.out, "</span>");
  end_cell(html);
  begin_cell(html, H_DIST, record->p50_ms);
  TRY(chart_distribution(ctx, html, group->summary, i, &group->axis,
                         color_of_backend(group->summary, i)));
  end_cell(html);
  put_verdict_cell(html, group, H_BEST, i, group->begin);
  if (group->has_native_column) put_verdict_cell(html, group, H_NATIVE, i, group->native);
  begin_cell(html, H_RATE, record->throughput_per_s);
  put_significant(html.out, record->throughput_per_s, 4);
  end_cell(html);
  begin_cell(html, H_COMPILE, record->worst.compile_ms);
  if (compiles_in_load(record))
    LITERAL(html.out,
            "<span class=\"quiet\" title=\"the engine compiles while it loads\">in load</span>");
  else
    put_ms(html.out, record->worst.compile_ms);
  end_cell(html);
  const double memory = (double)memory_of(record);
  begin_cell(html, H_MEMORY, memory >= 0 ? memory : NAN);
  put_bytes(html.out, memory);
  end_cell(html);
  put_limit_cell(html, record);
  text_printf(html.out,
              "<td class=\"more\"><button type=\"button\" class=\"open\" aria-expanded=\"false\" "
              "aria-controls=\"d%zu\" aria-label=\"details\"><svg viewBox=\"0 0 12 12\" "
              "aria-hidden=\"true\"><path d=\"M2 4 L6 8 L10 4\"/></svg></button></td></tr>\n",
              i);
  return HONE_OK;
}

/* -- details
 * --------------------------------------------------------------------------------------- */

static void put_repeat(struct html html, const char *command) {
  LITERAL(html.out, "<div class=\"repeat\"><code>");
  html_text(html, command);
  LITERAL(html.out, "</code><button type=\"button\" class=\"copy\">copy</button></div>");
}

static void put_fact_value(struct html html, const struct record *record,
                           const struct column *column) {
  struct text value = {0};
  const double number = column_number(record, column);
  if (!strcmp(column->unit, "B"))
    put_bytes(&value, number);
  else if (!strcmp(column->unit, "ms"))
    put_latency(&value, number);
  else if (!strcmp(column->unit, "ns"))
    put_ms(&value, number * 1e-6);
  else if (!strcmp(column->unit, "share"))
    put_percent(&value, number);
  else if (column->type == COLUMN_DOUBLE)
    put_plain(&value, number);
  else
    column_format(record, column, &value);
  html_take(html, &value);
}

/* Everything known of the row that has a value, in the order of columns.def. */
static void put_facts(struct html html, const struct record *record) {
  LITERAL(html.out, "<dl>");
  for (size_t c = 0; c < column_count; c++) {
    struct text value = {0};
    column_format(record, &columns[c], &value);
    const bool is_shown = value.length > 0 && strcmp(columns[c].key, "repeat") != 0;
    text_deinit(&value);
    if (!is_shown) continue;
    text_printf(html.out, "<div><dt title=\"%s\">%s</dt><dd>", columns[c].help, columns[c].title);
    put_fact_value(html, record, &columns[c]);
    LITERAL(html.out, "</dd></div>");
  }
  LITERAL(html.out, "</dl>");
}

static void put_details(struct html html, const struct group *group, size_t i) {
  text_printf(html.out, "<tr class=\"detail\" id=\"d%zu\"><td colspan=\"%d\">", i,
              H_COUNT + group->has_native_column);
  put_repeat(html, group->summary->records[i].repeat);
  put_facts(html, &group->summary->records[i]);
  LITERAL(html.out, "</td></tr>\n");
}

/* -- one model
 * --------------------------------------------------------------------------------------- */

static MUST_USE hone_status put_table(struct ctx *ctx, struct html html,
                                      const struct group *group) {
  LITERAL(html.out,
          "<div class=\"scroll\"><table>\n<caption class=\"sr\">backends by median latency; "
          "the headings sort</caption>");
  put_headings(html, group);
  for (size_t i = group->begin; i < group->end; i++) {
    if (!is_measured(&group->summary->records[i])) continue;
    LITERAL(html.out, "<tbody>");
    TRY(put_row(ctx, html, group, i));
    put_details(html, group, i);
    LITERAL(html.out, "</tbody>\n");
  }
  LITERAL(html.out, "</table></div>\n");
  return HONE_OK;
}

static void put_failures(struct html html, const struct group *group) {
  bool is_open = false;
  for (size_t i = group->begin; i < group->end; i++) {
    const struct record *record = &group->summary->records[i];
    struct text names = {0};
    if (record->rank || !put_failed_names(&names, group->summary, group->begin, group->end, i)) {
      text_deinit(&names);
      continue;
    }
    if (!is_open) LITERAL(html.out, "<h3>Not ranked</h3>\n<ul class=\"failures\">\n");
    is_open = true;
    text_printf(html.out, "<li><span class=\"pill bad\" title=\"%s\">%s</span> ",
                status_help(record->status), status_text(record->status));
    LITERAL(html.out, "<b>");
    html_take(html, &names);
    LITERAL(html.out, "</b>");
    if (record->stage != STAGE_none)
      text_printf(html.out, " <span class=\"quiet\">at %s</span>", stage_text(record->stage));
    LITERAL(html.out, "<p>");
    html_text(html, record->reason[0] ? record->reason : status_help(record->status));
    LITERAL(html.out, "</p></li>\n");
  }
  if (is_open) LITERAL(html.out, "</ul>\n");
}

static void put_aa(struct html html, const struct group *group) {
  for (size_t i = group->begin; i < group->end; i++) {
    const double resolution = aa_resolution(group->summary, i);
    if (isnan(resolution)) continue;
    LITERAL(html.out, "<p class=\"quiet\">");
    html_text(html, group->summary->records[i].cell.backend);
    LITERAL(html.out, " measured twice: differences below ");
    put_percent(html.out, resolution);
    LITERAL(html.out, " cannot be shown on this machine now.</p>\n");
  }
}

static MUST_USE hone_status put_group(struct ctx *ctx, struct html html,
                                      const struct summary *summary, size_t begin, size_t end) {
  struct group group = {.summary = summary, .begin = begin, .end = end};
  group.native = native_of_group(summary, begin, end);
  group.has_native_column = group.native != SIZE_MAX && group.native != begin;
  struct text facts = {0};
  text_printf(html.out, "<section id=\"g%zu\">\n<h2>", begin);
  html_text(html, summary->records[begin].cell.model);
  LITERAL(html.out, "</h2>\n<p class=\"facts\">");
  put_group_facts(&facts, &summary->records[begin]);
  html_take(html, &facts);
  LITERAL(html.out, "</p>\n");
  put_answer(html, summary, begin, end);
  if (is_measured(&summary->records[begin])) {
    TRY(latency_axis(ctx, summary, begin, end, &group.axis));
    TRY(put_table(ctx, html, &group));
    put_aa(html, &group);
    LITERAL(html.out, "<div class=\"charts\">\n");
    chart_compile_against_speed(html, summary, begin, end);
    chart_memory(html, summary, begin, end);
    LITERAL(html.out, "</div>\n");
  }
  put_failures(html, &group);
  LITERAL(html.out, "</section>\n");
  return HONE_OK;
}

/* -- machine and method
 * -------------------------------------------------------------------------------- */

/* The unit is the end of a fact's name. */
static const struct {
  const char *suffix, *unit; /* unit NULL: bytes */
  double scale;
} fact_units[] = {
    {"_bytes_per_s", "GB/s", 1e-9},
    {"_bytes", NULL, 1},
    {"_flops", "GFLOP/s", 1e-9},
    {"_ns", "ns", 1},
    {"_mhz", "MHz", 1},
};

static void put_machine_value(struct html html, const struct fact *fact) {
  const size_t length = strlen(fact->key);
  double number;
  const bool is_number = parse_f64(fact->value, -1e300, 1e300, &number);
  for (size_t i = 0; is_number && i < COUNT(fact_units); i++) {
    const size_t n = strlen(fact_units[i].suffix);
    if (length <= n || strcmp(fact->key + length - n, fact_units[i].suffix) != 0) continue;
    if (fact_units[i].unit) {
      put_plain(html.out, number * fact_units[i].scale);
      text_printf(html.out, " %s", fact_units[i].unit);
    } else {
      put_bytes(html.out, number);
    }
    return;
  }
  html_text(html, fact->value);
}

/* "fingerprint.cpu_model" is "cpu model". */
static void put_machine_key(struct html html, const char *key) {
  struct text shown = {0};
  if (!strncmp(key, "fingerprint.", 12)) key += 12;
  for (; *key; key++) text_append(&shown, *key == '_' || *key == '.' ? " " : key, 1);
  html_take(html, &shown);
}

static void put_machine(struct html html, const struct summary *summary, const struct fact *facts,
                        size_t count) {
  LITERAL(html.out, "<section>\n<h2>Machine</h2>\n<dl class=\"machine\">");
  for (size_t i = 0; i < count; i++) {
    LITERAL(html.out, "<div><dt>");
    put_machine_key(html, facts[i].key);
    LITERAL(html.out, "</dt><dd>");
    put_machine_value(html, &facts[i]);
    LITERAL(html.out, "</dd></div>");
  }
  LITERAL(html.out, "<div><dt>fingerprint</dt><dd>");
  html_text(html, summary->study.fingerprint);
  LITERAL(html.out, "</dd></div><div><dt>study</dt><dd>");
  html_text(html, summary->study.key);
  LITERAL(html.out, "</dd></div></dl>\n</section>\n");
}

static void put_method(struct html html, const struct summary *summary) {
  LITERAL(html.out, "<section>\n<h2>Measure it again</h2>\n");
  put_repeat(html, summary->study.command);
  LITERAL(
      html.out,
      "<h2>How to read this</h2>\n<ul class=\"method\">"
      "<li>One sample is one inference; none is thrown away. Backends take turns in rounds of "
      "random "
      "order; every other one is stopped meanwhile.</li>"
      "<li>\xc2\xb1 is the 95 % interval of the median: processes are resampled, then rounds. Two "
      "rows "
      "<b>tie</b> where the interval of their ratio holds 1; a verdict needs 3 processes and 12 "
      "rounds.</li>"
      "<li>Outputs of timed inferences are compared with the reference: a wrong answer has no "
      "rank.</li>"
      "<li>% limit is the share of what the machine's measured peaks allow for this model.</li>"
      "</ul>\n</section>\n");
}

static MUST_USE hone_status put_page(struct ctx *ctx, struct arena *arena, struct html html,
                                     const struct summary *summary) {
  struct fact *facts;
  size_t fact_count;
  TRY(facts_read(ctx, arena, summary->study.machine_json, &facts, &fact_count));
  TRY(put_head(ctx, html, summary));
  put_banner(html, summary, fact_find(facts, fact_count, "cpu_model"));
  put_overview(html, summary);
  for (size_t begin = 0, end; begin < summary->record_count; begin = end) {
    end = group_end(summary, begin);
    TRY(put_group(ctx, html, summary, begin, end));
  }
  if (summary->record_count == 0)
    LITERAL(html.out, "<p class=\"answer\">This study has no rows.</p>\n");
  put_machine(html, summary, facts, fact_count);
  put_method(html, summary);
  text_printf(html.out, "</main>\n<footer>made by hone %s</footer>\n</body>\n</html>\n",
              hone_version());
  return text_finish(ctx, html.out);
}

hone_status render_html(struct ctx *ctx, const struct summary *summary,
                        const struct render_options *options, struct text *out) {
  (void)options;
  struct arena *arena;
  TRY(arena_create(ctx, 0, &arena));
  const hone_status status = put_page(ctx, arena, (struct html){out}, summary);
  arena_destroy(arena);
  return status;
}
