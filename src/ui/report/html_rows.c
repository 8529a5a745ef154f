/* html_rows: the table of one group: latency, start-up and memory of each engine, and all other columns of a row folded below
 * it. A row's address is the same in every report.
 */
#include "core/format/format.h"
#include "report.h"

#include <math.h>

/* -- the answer */

static void put_name(struct html html, const struct record *record) {
  LITERAL(html.out, "<b>");
  html_text(html, record->config.backend);
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

/* The same engine with the same options, which --aa measures twice. */
static bool is_twin(const struct record *a, const struct record *b) {
  return same_engine(&a->config, &b->config);
}

static void put_figures(struct html html, const struct record *record) {
  LITERAL(html.out, "<b>");
  put_latency(html.out, record->p50_ms);
  LITERAL(html.out, "</b> <span class=\"quiet\">");
  put_half_width(html.out, record);
  LITERAL(html.out, "</span>, ");
  put_significant(html.out, record->throughput_per_s, 4);
  strbuf_puts(html.out,
              config_generates(&record->config) ? " tokens per second." : " samples per second.");
}

void html_answer(struct html html, const struct summary *summary, size_t begin, size_t end) {
  const struct record *best = &summary->records[begin];
  const bool decided = is_decided(summary, begin);
  LITERAL(html.out, "<p class=\"answer\">");
  if (best->rank != 1) {
    LITERAL(html.out, "No engine could be ranked; the reasons are below.</p>\n");
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

/* -- rows */

static const struct {
  const char *title, *class_name, *help;
} headings[] = {
    {"#", "rank", "rank among the correct rows"},
    {"backend", "name", "engine"},
    {"p50", "num", "median latency with its 95 % interval"},
    {"latency", "dist",
     "distribution of all samples, logarithmic; line: median, band: its 95 % interval"},
    {"vs fastest", "verdict", "ratio of medians; a tie if its 95 % interval contains 1"},
    {"p99", "num", "99th percentile of latency, from 368 samples"},
    {"first token", "num", "median time to first token; the latencies are of the following tokens"},
    {"accuracy", "num", "score on the labels, and relative to the reference's"},
    {"per s", "num rate", "throughput at this batch"},
    {"start-up", "num", "compile and load time, cold"},
    {"memory", "num", "resident set while running"},
    {"% limit", "num limit", "share of the roofline limit from this machine's peaks"},
};
enum {
  H_RANK,
  H_NAME,
  H_P50,
  H_DIST,
  H_BEST,
  H_P99,
  H_FIRST,
  H_TASK,
  H_RATE,
  H_READY,
  H_MEMORY,
  H_LIMIT,
  H_COUNT
};

struct group {
  const struct page *page;
  const struct summary *summary;
  size_t begin, end;
  struct axis axis;
};

/* Only text generation has a first token. */
static bool generates(const struct group *group) {
  return config_generates(&group->summary->records[group->begin].config);
}

static bool has_labels(const struct group *group) {
  bool has_any = false;
  for (size_t i = group->begin; i < group->end; i++)
    has_any |= isfinite(group->summary->records[i].worst.task_accuracy);
  return has_any;
}

static void put_headings(struct html html, const struct group *group) {
  LITERAL(html.out, "<thead><tr>");
  for (int h = 0; h < H_COUNT; h++) {
    if ((h == H_FIRST && !generates(group)) || (h == H_TASK && !has_labels(group))) continue;
    strbuf_printf(html.out, "<th scope=\"col\" class=\"%s\" title=\"%s\"", headings[h].class_name,
                  headings[h].help);
    strbuf_puts(html.out, h == H_RANK ? " aria-sort=\"ascending\">" : ">");
    if (h == H_DIST) {
      LITERAL(html.out, "<span class=\"sr\">latency distribution</span>");
      chart_latency_axis(html, &group->axis);
    } else {
      strbuf_printf(html.out, "<button type=\"button\" class=\"sort\">%s</button>",
                    headings[h].title);
    }
    LITERAL(html.out, "</th>");
  }
  LITERAL(html.out, "<th><span class=\"sr\">details</span></th></tr></thead>\n");
}

/* <td class data-label data-value>: the value sorts, n/a last. */
static void begin_cell(struct html html, int heading, double value) {
  strbuf_printf(html.out, "<td class=\"%s\" data-label=\"%s\" data-value=\"",
                headings[heading].class_name, headings[heading].title);
  if (isfinite(value)) {
    char number[32];
    format_f64(number, value);
    strbuf_puts(html.out, number);
  }
  LITERAL(html.out, "\">");
}
static void end_cell(struct html html) { LITERAL(html.out, "</td>"); }

static void put_flags(struct html html, uint32_t flags) {
  for (int i = 0; i < FLAG_BIT_COUNT; i++)
    if (flags & 1u << i)
      strbuf_printf(html.out, "<span class=\"chip warn\" title=\"%s\">%s</span>",
                    flag_help((enum record_flag)i), flag_text((enum record_flag)i));
}

void html_gauge(struct html html, double share) {
  if (!isfinite(share)) return;
  LITERAL(html.out,
          "<svg class=\"gauge\" viewBox=\"0 0 60 4\" aria-hidden=\"true\"><rect class=\"rest\" "
          "width=\"60\" height=\"4\" rx=\"2\"/><rect class=\"part\" width=\"");
  put_number(html.out, fmin(fmax(share, 0), 1) * 60, 1);
  LITERAL(html.out, "\" height=\"4\" rx=\"2\"/></svg>");
}

void html_row_id(struct html html, const struct record *record) {
  LITERAL(html.out, "r");
  char key[13];
  snprintf(key, sizeof key, "%.12s", record->config.key);
  html_attribute(html, key);
}

void html_row_name(struct html html, const struct record *record) {
  put_name(html, record);
  LITERAL(html.out, " <span class=\"quiet\">");
  html_text(html, record->worst.engine_version);
  char marks[256];
  if (engine_marks(&record->config, marks)[0]) {
    LITERAL(html.out, " ");
    html_text(html, marks);
  }
  if (record->config.label > 0) LITERAL(html.out, " again");
  LITERAL(html.out, "</span>");
}

static void put_name_cell(struct html html, const struct group *group, size_t i) {
  const struct record *record = &group->summary->records[i];
  strbuf_printf(html.out, "<th scope=\"row\" class=\"name\" data-label=\"backend\" data-value=\"");
  html_attribute(html, record->config.backend);
  strbuf_printf(html.out, "\"><i class=\"dot c%d\"></i>", color_of_backend(group->summary, i));
  html_row_name(html, record);
  put_flags(html, record->flags);
  LITERAL(html.out, " <a class=\"link\" href=\"#");
  html_row_id(html, record);
  LITERAL(html.out, "\" aria-label=\"link to this row\">#</a></th>");
}

/* Why a row has no rank; a row that is correct, or was not measured yet, is not a failure. */
static void put_status_pill(struct html html, const struct record *record) {
  strbuf_printf(
      html.out, "<span class=\"pill %s\" title=\"%s\">%s</span>",
      record->status == STATUS_interrupted || record->status == STATUS_ok ? "undecided" : "bad",
      unranked_help(record), unranked_text(record));
}

static void put_verdict_cell(struct html html, const struct group *group, size_t i) {
  const struct record *record = &group->summary->records[i];
  const struct comparison *comparison = find_comparison(group->summary, i, group->begin);
  begin_cell(html, H_BEST,
             comparison                          ? comparison->ratio.value
             : record->rank && i == group->begin ? 1
                                                 : NAN);
  if (record->rank == 0) {
    put_status_pill(html, record);
  } else if (record->rank == 1) {
    strbuf_printf(html.out, "<span class=\"pill %s\">%s</span>",
                  is_decided(group->summary, i) ? "best" : "undecided",
                  first_text(group->summary, i));
  } else if (comparison) {
    strbuf_printf(html.out, "<span class=\"pill %s\" title=\"95 %% interval ",
                  verdict_text(comparison->verdict));
    put_ratio(html.out, comparison->ratio.low);
    LITERAL(html.out, " to ");
    put_ratio(html.out, comparison->ratio.high);
    LITERAL(html.out, "\">");
    put_verdict(html.out, group->summary, i, group->begin);
    LITERAL(html.out, "</span>");
  }
  end_cell(html);
}

static void put_limit_cell(struct html html, const struct record *record) {
  const double share = record->limit_share;
  begin_cell(html, H_LIMIT, share);
  put_percent(html.out, share);
  if (isfinite(record->winograd_limit_share)) {
    LITERAL(html.out,
            " <span class=\"quiet\" title=\"of the limit with Winograd's fewer "
            "multiplications\">(");
    put_percent(html.out, record->winograd_limit_share);
    LITERAL(html.out, " W)</span>");
  }
  html_gauge(html, share);
  end_cell(html);
}

/* "2.84 s", with its parts as a tooltip. */
static void put_ready_cell(struct html html, const struct record *record) {
  const struct process_record *facts = &record->worst;
  begin_cell(html, H_READY, ready_ms(record));
  LITERAL(html.out, "<span title=\"");
  if (compiles_in_load(record)) {
    LITERAL(html.out, "compiles while it loads");
  } else {
    LITERAL(html.out, "compile ");
    put_ms(html.out, facts->compile_ms);
    LITERAL(html.out, ", load ");
    put_ms(html.out, facts->load_ms);
  }
  LITERAL(html.out, "\">");
  put_ms(html.out, ready_ms(record));
  LITERAL(html.out, "</span>");
  end_cell(html);
}

static MUST_USE hone_status put_row(struct ctx *ctx, struct html html, const struct group *group,
                                    size_t i) {
  const struct record *record = &group->summary->records[i];
  strbuf_printf(html.out, "<tr class=\"row%s\">", record->rank ? "" : " unranked");
  begin_cell(html, H_RANK, record->rank ? (double)record->rank : (double)NAN);
  if (record->rank) strbuf_printf(html.out, "%d", record->rank);
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
  put_verdict_cell(html, group, i);
  begin_cell(html, H_P99, record->p99_ms);
  put_latency(html.out, record->p99_ms);
  end_cell(html);
  if (generates(group)) {
    begin_cell(html, H_FIRST, record->first_token_p50_ms);
    put_latency(html.out, record->first_token_p50_ms);
    end_cell(html);
  }
  if (has_labels(group)) {
    struct strbuf task = {0};
    put_task(&task, record);
    begin_cell(html, H_TASK, record->worst.accuracy_retention);
    html_take(html, &task);
    end_cell(html);
  }
  begin_cell(html, H_RATE, record->throughput_per_s);
  put_significant(html.out, record->throughput_per_s, 4);
  end_cell(html);
  put_ready_cell(html, record);
  const double memory = (double)memory_of(record);
  begin_cell(html, H_MEMORY, memory >= 0 ? memory : NAN);
  put_bytes(html.out, memory);
  end_cell(html);
  put_limit_cell(html, record);
  strbuf_printf(html.out,
                "<td class=\"more\"><button type=\"button\" class=\"open\" aria-expanded=\"false\" "
                "aria-controls=\"d%zu\" aria-label=\"details\"><svg viewBox=\"0 0 12 12\" "
                "aria-hidden=\"true\"><path d=\"M2 4 L6 8 L10 4\"/></svg></button></td></tr>\n",
                i);
  return HONE_OK;
}

/* -- details */

void html_repeat(struct html html, const char *command) {
  LITERAL(html.out, "<div class=\"repeat\"><code>");
  html_text(html, command);
  LITERAL(html.out, "</code><button type=\"button\" class=\"copy\">copy</button></div>");
}

/* The heading of a column of columns.def: the first whose word its key begins with. */
static const struct {
  const char *title;
  const char *prefixes[24];
} parts[] = {
    {"Speed",
     {"rank", "latency", "first_token", "tokens", "throughput", "limit", "winograd", "samples",
      "rounds", "incarnations", "floor", "energy", "copy_", "compute_"}},
    {"Start-up",
     {"import_time", "compile_time", "cached_compile", "load_time", "first_inference", "warmup"}},
    {"Memory and size", {"rss_", "peak_rss", "artifact", "arena", "memory", "largest_batch"}},
    {"Outputs",
     {"max_abs", "max_rel", "rel_l2", "cosine", "top1", "output_hash", "accuracy", "task_",
      "status", "stage", "reason", "tolerance"}},
    {"Engine",
     {"engine_", "effective_", "fallback", "backend", "variant", "options", "route", "device",
      "precision", "threads", "cache_state"}},
    {"Noise", {"noise", "flags"}},
    {"Cell", {""}},
};

static size_t part_of(const struct column *column) {
  for (size_t p = 0; p < COUNT(parts); p++)
    for (size_t k = 0; k < COUNT(parts[p].prefixes) && parts[p].prefixes[k]; k++)
      if (!strncmp(column->key, parts[p].prefixes[k], strlen(parts[p].prefixes[k]))) return p;
  return COUNT(parts) - 1;
}

static void put_fact_value(struct html html, const struct record *record,
                           const struct column *column) {
  struct strbuf value = {0};
  put_column(&value, record, column);
  html_take(html, &value);
}

static bool is_shown(const struct record *record, const struct column *column) {
  struct strbuf value = {0};
  column_format(record, column, &value);
  const bool has_value = value.length > 0 && strcmp(column->key, "repeat") != 0;
  strbuf_deinit(&value);
  return has_value;
}

/* All columns of the row that have a value, in groups, each in the order of columns.def. */
static void put_facts(struct html html, const struct record *record) {
  LITERAL(html.out, "<div class=\"parts\">");
  for (size_t p = 0; p < COUNT(parts); p++) {
    bool is_open = false;
    for (size_t c = 0; c < column_count; c++) {
      if (part_of(&columns[c]) != p || !is_shown(record, &columns[c])) continue;
      if (!is_open) strbuf_printf(html.out, "<div class=\"part\"><h4>%s</h4><dl>", parts[p].title);
      is_open = true;
      strbuf_printf(html.out, "<div><dt title=\"%s\">%s</dt><dd>", columns[c].help,
                    columns[c].title);
      put_fact_value(html, record, &columns[c]);
      LITERAL(html.out, "</dd></div>");
    }
    if (is_open) LITERAL(html.out, "</dl></div>");
  }
  LITERAL(html.out, "</div>");
}

static void put_details(struct html html, const struct group *group, size_t i) {
  strbuf_printf(html.out, "<tr class=\"detail\" id=\"d%zu\"><td colspan=\"%d\">", i, H_COUNT + 1);
  html_repeat(html, group->summary->records[i].repeat);
  chart_memory_over_time(html, &group->summary->records[i]);
  put_facts(html, &group->summary->records[i]);
  LITERAL(html.out, "</td></tr>\n");
}

/* -- one group */

static MUST_USE hone_status put_table(struct ctx *ctx, struct html html,
                                      const struct group *group) {
  LITERAL(html.out,
          "<div class=\"scroll\"><table class=\"rows\">\n<caption class=\"sr\">engines by median "
          "latency; the headings sort</caption>");
  put_headings(html, group);
  for (size_t i = group->begin; i < group->end; i++) {
    if (!is_measured(&group->summary->records[i])) continue;
    const size_t engine = matrix_engine_of(group->page->matrix, group->summary, i);
    LITERAL(html.out, "<tbody id=\"");
    html_row_id(html, &group->summary->records[i]);
    LITERAL(html.out, "\"");
    if (engine != SIZE_MAX) strbuf_printf(html.out, " data-engine=\"%zu\"", engine);
    LITERAL(html.out, ">");
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
    struct strbuf names = {0};
    if (record->rank || !put_failed_names(&names, group->summary, group->begin, group->end, i)) {
      strbuf_deinit(&names);
      continue;
    }
    if (!is_open) LITERAL(html.out, "<h4>Not ranked</h4>\n<ul class=\"failures\">\n");
    is_open = true;
    LITERAL(html.out, "<li>");
    put_status_pill(html, record);
    LITERAL(html.out, " <b>");
    html_take(html, &names);
    LITERAL(html.out, "</b>");
    if (record->stage != STAGE_none)
      strbuf_printf(html.out, " <span class=\"quiet\">at %s</span>", stage_text(record->stage));
    LITERAL(html.out, "<p>");
    html_text(html, record->reason[0] ? record->reason : unranked_help(record));
    LITERAL(html.out, "</p></li>\n");
  }
  if (is_open) LITERAL(html.out, "</ul>\n");
}

static void put_aa(struct html html, const struct group *group) {
  for (size_t i = group->begin; i < group->end; i++) {
    const double resolution = aa_resolution(group->summary, i);
    if (isnan(resolution)) continue;
    LITERAL(html.out, "<p class=\"quiet\">");
    html_text(html, group->summary->records[i].config.backend);
    LITERAL(html.out, " measured twice: differences below ");
    put_percent(html.out, resolution);
    LITERAL(html.out, " cannot be detected on this machine at present.</p>\n");
  }
}

hone_status html_group(struct ctx *ctx, const struct page *page, size_t begin, size_t end) {
  const struct summary *summary = page->summary;
  struct group group = {.page = page, .summary = summary, .begin = begin, .end = end};
  html_answer(page->html, summary, begin, end);
  if (is_measured(&summary->records[begin])) {
    TRY(latency_axis(ctx, summary, begin, end, &group.axis));
    TRY(put_table(ctx, page->html, &group));
    put_aa(page->html, &group);
  }
  put_failures(page->html, &group);
  return HONE_OK;
}
