/* markdown: the table for an issue, a pull request, a wiki: one GitHub table a model. */
#include "report.h"

#include <math.h>

static void put_untrusted(struct markdown markdown, struct text *text) {
  if (text->failed) markdown.out->failed = true;
  markdown_text(markdown, text->at ? text->at : "");
  text_deinit(text);
}

static void put_name(struct markdown markdown, const struct record *record) {
  struct text name = {0};
  put_row_name(&name, record);
  put_untrusted(markdown, &name);
}

static void put_row(struct markdown markdown, const struct summary *summary, size_t i, size_t best,
                    size_t native) {
  const struct record *record = &summary->records[i];
  struct text *out = markdown.out;
  if (record->rank)
    text_printf(out, "| %d | ", record->rank);
  else
    LITERAL(out, "| \xe2\x80\x93 | ");
  put_name(markdown, record);
  LITERAL(out, " | ");
  put_latency(out, record->p50_ms);
  LITERAL(out, " | ");
  put_half_width(out, record);
  LITERAL(out, " | ");
  if (record->rank)
    put_verdict(out, summary, i, best);
  else
    text_puts(out, status_text(record->status));
  LITERAL(out, " | ");
  if (native != best) put_verdict(out, summary, i, native);
  LITERAL(out, " | ");
  put_significant(out, record->throughput_per_s, 4);
  LITERAL(out, " | ");
  put_ms(out, record->worst.compile_ms);
  LITERAL(out, " | ");
  put_bytes(out, (double)record->worst.rss_peak);
  LITERAL(out, " | ");
  put_bytes(out, (double)record->worst.artifact_bytes);
  LITERAL(out, " | ");
  put_percent(out, record->limit_share);
  LITERAL(out, " | ");
  put_scientific(out, record->worst.rel_l2);
  LITERAL(out, " | ");
  struct text flags = {0};
  flags_format(record->flags, &flags);
  put_untrusted(markdown, &flags);
  LITERAL(out, " |\n");
}

static void put_failure(struct markdown markdown, const struct record *record) {
  LITERAL(markdown.out, "- ");
  put_name(markdown, record);
  text_printf(markdown.out, ": **%s**", status_text(record->status));
  if (record->stage != STAGE_none) text_printf(markdown.out, " at %s", stage_text(record->stage));
  if (record->reason[0]) LITERAL(markdown.out, ": ");
  markdown_text(markdown, record->reason);
  LITERAL(markdown.out, "\n");
}

static void put_group(struct markdown markdown, const struct summary *summary, size_t begin,
                      size_t end) {
  const size_t native = native_of_group(summary, begin, end);
  struct text facts = {0};
  LITERAL(markdown.out, "## ");
  markdown_text(markdown, summary->records[begin].cell.model);
  LITERAL(markdown.out, "\n\n");
  put_group_facts(&facts, &summary->records[begin]);
  put_untrusted(markdown, &facts);
  LITERAL(
      markdown.out,
      "\n\n| # | backend | p50 | \xc2\xb1 | vs fastest | vs native | per s | compile | peak memory "
      "| size | % of limit | rel L2 | flags |\n"
      "|--:|:--|--:|--:|:--|:--|--:|--:|--:|--:|--:|--:|:--|\n");
  size_t i = begin;
  for (; i < end && is_measured(&summary->records[i]); i++)
    put_row(markdown, summary, i, begin, native);
  LITERAL(markdown.out, "\n");
  bool has_failure = false;
  for (i = begin; i < end; i++) {
    if (summary->records[i].rank) continue;
    put_failure(markdown, &summary->records[i]);
    has_failure = true;
  }
  if (has_failure) LITERAL(markdown.out, "\n");
}

hone_status render_markdown(struct ctx *ctx, const struct summary *summary,
                            const struct render_options *options, struct text *out) {
  (void)options;
  const struct markdown markdown = {out};
  for (size_t begin = 0, end; begin < summary->record_count; begin = end) {
    end = group_end(summary, begin);
    put_group(markdown, summary, begin, end);
  }
  LITERAL(out,
          "\xc2\xb1 is the 95 % interval of the median; a tie: the interval of the ratio holds 1. "
          "Measured with hone by ");
  markdown_text(markdown, summary->study.command);
  LITERAL(out, "\n");
  return text_finish(ctx, out);
}
