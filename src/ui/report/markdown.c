/* markdown: a table of models by engines, then one GitHub table for each model. */
#include "core/format/format.h"
#include "report.h"

#include <math.h>

static void put_name(struct markdown markdown, const struct record *record) {
  struct strbuf name = {0};
  put_row_name(&name, record);
  markdown_take(markdown, &name);
}

static void put_row(struct markdown markdown, const struct summary *summary, size_t i, size_t best,
                    size_t native) {
  const struct record *record = &summary->records[i];
  struct strbuf *out = markdown.out, flags = {0};
  if (record->rank)
    strbuf_printf(out, "| %d | ", record->rank);
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
    strbuf_puts(out, unranked_text(record));
  LITERAL(out, " | ");
  if (native != best) put_verdict(out, summary, i, native);
  LITERAL(out, " | ");
  put_latency(out, record->p99_ms);
  LITERAL(out, " | ");
  if (config_generates(&record->config)) {
    put_latency(out, record->first_token_p50_ms);
    LITERAL(out, " | ");
  }
  put_significant(out, record->throughput_per_s, 4);
  LITERAL(out, " | ");
  put_ms(out, ready_ms(record));
  LITERAL(out, " | ");
  put_bytes(out, (double)memory_of(record));
  LITERAL(out, " | ");
  put_bytes(out, (double)record->worst.artifact_bytes);
  LITERAL(out, " | ");
  put_limit(out, record);
  LITERAL(out, " | ");
  put_scientific(out, record->worst.rel_l2);
  LITERAL(out, " | ");
  flags_format(record->flags, &flags);
  markdown_take(markdown, &flags);
  LITERAL(out, " |\n");
}

/* One line for each row instead of a column, because few studies have labels. */
static void put_tasks(struct markdown markdown, const struct summary *summary, size_t begin,
                      size_t end) {
  for (size_t i = begin; i < end; i++) {
    if (!isfinite(summary->records[i].worst.task_accuracy)) continue;
    LITERAL(markdown.out, "- ");
    put_name(markdown, &summary->records[i]);
    LITERAL(markdown.out, ": ");
    struct strbuf task = {0};
    put_task(&task, &summary->records[i]);
    markdown_take(markdown, &task);
    LITERAL(markdown.out, " of the reference\n");
  }
}

static void put_failure(struct markdown markdown, const struct record *record) {
  LITERAL(markdown.out, "- ");
  put_name(markdown, record);
  strbuf_printf(markdown.out, ": **%s**", unranked_text(record));
  if (record->stage != STAGE_none) strbuf_printf(markdown.out, " at %s", stage_text(record->stage));
  const char *why = record->status == STATUS_ok ? unranked_help(record) : record->reason;
  if (why[0]) LITERAL(markdown.out, ": ");
  markdown_text(markdown, why);
  LITERAL(markdown.out, "\n");
}

static void put_group(struct markdown markdown, const struct summary *summary, size_t begin,
                      size_t end) {
  const size_t native = native_of_group(summary, begin, end);
  struct strbuf facts = {0};
  LITERAL(markdown.out, "## ");
  markdown_text(markdown, summary->records[begin].config.model);
  LITERAL(markdown.out, "\n\n");
  put_group_facts(&facts, &summary->records[begin]);
  markdown_take(markdown, &facts);
  struct strbuf open = {0};
  put_open_dimensions(&open, &summary->records[begin]);
  if (open.length) LITERAL(markdown.out, "\n\n");
  markdown_take(markdown, &open);
  const bool generates = config_generates(&summary->records[begin].config);
  LITERAL(markdown.out, "\n\n| # | engine | p50 | \xc2\xb1 | vs fastest | vs native | p99 | ");
  if (generates) LITERAL(markdown.out, "first token | ");
  LITERAL(markdown.out,
          "per s | start-up | memory | size | % limit | rel L2 | flags |\n"
          "|--:|:--|--:|--:|:--|:--|--:|--:|--:|--:|--:|--:|--:|:--|");
  strbuf_puts(markdown.out, generates ? "--:|\n" : "\n");
  size_t i = begin;
  for (; i < end && is_measured(&summary->records[i]); i++)
    put_row(markdown, summary, i, begin, native);
  LITERAL(markdown.out, "\n");
  put_tasks(markdown, summary, begin, end);
  bool has_failure = false;
  for (i = begin; i < end; i++) {
    if (summary->records[i].rank) continue;
    put_failure(markdown, &summary->records[i]);
    has_failure = true;
  }
  if (has_failure) LITERAL(markdown.out, "\n");
}

/* -- models x engines */

static void put_engine(struct markdown markdown, const struct engine *engine) {
  const struct config *config = engine->config;
  LITERAL(markdown.out, " | ");
  markdown_text(markdown, config->backend);
  char marks[256];
  if (!engine_marks(config, marks)[0]) return;
  LITERAL(markdown.out, " ");
  markdown_text(markdown, marks);
}

/* "**fastest** 25.66 \xc2\xb5s", "1.87x, 48.10 \xc2\xb5s", "1.02x tie, ...", "crashed" */
static void put_matrix_cell(struct strbuf *out, const struct summary *summary,
                            const struct matrix *matrix, size_t g, size_t e) {
  const size_t i = matrix->cells[g * matrix->engine_count + e], begin = matrix->begins[g];
  LITERAL(out, " | ");
  if (i == SIZE_MAX) {
    LITERAL(out, "\xe2\x80\x93");
    return;
  }
  const struct record *record = &summary->records[i];
  const struct comparison *comparison = find_comparison(summary, i, begin);
  if (record->rank == 0) {
    strbuf_puts(out, unranked_text(record));
    return;
  }
  if (i == begin) {
    strbuf_printf(out, "**%s**", first_text(summary, i));
  } else {
    put_ratio(out, matrix_ratio(matrix, summary, g, e));
    if (comparison && comparison->verdict == VERDICT_tie) LITERAL(out, " tie");
    if (comparison && comparison->verdict == VERDICT_undecided) LITERAL(out, " undecided");
  }
  LITERAL(out, ", ");
  put_latency(out, record->p50_ms);
}

static void put_mean(struct markdown markdown, const struct matrix *matrix,
                     const struct matrix_mean *mean) {
  struct strbuf *out = markdown.out;
  LITERAL(out, "| **geometric mean**");
  if (mean->precision) {
    LITERAL(out, ", ");
    markdown_text(markdown, mean->precision);
  }
  for (size_t e = 0; e < matrix->engine_count; e++) {
    const struct engine_mean *engine = &mean->engines[e];
    LITERAL(out, " | ");
    if (engine->ranked) LITERAL(out, "**");
    if (engine->ranked)
      put_ratio(out, engine->ratio);
    else
      LITERAL(out, "\xe2\x80\x93");
    if (engine->ranked) LITERAL(out, "**");
    if (engine->ranked < mean->group_count)
      strbuf_printf(out, " over %zu of %zu", engine->ranked, mean->group_count);
  }
  LITERAL(out, " |\n");
}

static void put_matrix(struct markdown markdown, const struct summary *summary,
                       const struct matrix *matrix) {
  struct strbuf *out = markdown.out;
  if (matrix->group_count < 2) return; /* a single table needs no overview */
  LITERAL(out, "| median / the fastest of the row");
  for (size_t e = 0; e < matrix->engine_count; e++) put_engine(markdown, &matrix->engines[e]);
  LITERAL(out, " |\n|:--");
  for (size_t e = 0; e < matrix->engine_count; e++) LITERAL(out, "|:--");
  LITERAL(out, "|\n");
  for (size_t g = 0; g < matrix->group_count; g++) {
    const struct config *config = &summary->records[matrix->begins[g]].config;
    LITERAL(out, "| ");
    markdown_text(markdown, config->model);
    strbuf_printf(out, ", batch %d, %d thread%s", config->batch, config->threads,
                  config->threads == 1 ? "" : "s");
    struct strbuf rest = {0};
    put_group_rest(&rest, config, ", ");
    markdown_take(markdown, &rest);
    for (size_t e = 0; e < matrix->engine_count; e++) put_matrix_cell(out, summary, matrix, g, e);
    LITERAL(out, " |\n");
  }
  for (size_t m = 0; m < matrix->mean_count; m++) put_mean(markdown, matrix, &matrix->means[m]);
  LITERAL(out, "| start-up, geometric mean");
  for (size_t e = 0; e < matrix->engine_count; e++) {
    LITERAL(out, " | ");
    put_ms(out, matrix->engines[e].ready_ms);
  }
  LITERAL(out, " |\n| portability: share of rows that ran correctly");
  for (size_t e = 0; e < matrix->engine_count; e++) {
    LITERAL(out, " | ");
    put_percent(out, matrix->engines[e].portability);
  }
  LITERAL(out, " |\n| memory, geometric mean");
  for (size_t e = 0; e < matrix->engine_count; e++) {
    LITERAL(out, " | ");
    put_bytes(out, matrix->engines[e].memory_bytes);
  }
  LITERAL(out, " |\n\n");
}

/* The fastest engine of each model, its margin and its start-up time. */
static void put_winners(struct markdown markdown, const struct summary *summary,
                        const struct matrix *matrix) {
  if (matrix->group_count < 2 || matrix->engine_count < 2) return;
  for (size_t c = 0; c < WINNER_COLUMNS; c++) strbuf_printf(markdown.out, "| %s ", winner_title(c));
  LITERAL(markdown.out, "|\n");
  for (size_t c = 0; c < WINNER_COLUMNS; c++) LITERAL(markdown.out, "|:--");
  LITERAL(markdown.out, "|\n");
  for (size_t g = 0; g < matrix->group_count; g++) {
    struct winner winner;
    if (!winner_of_group(summary, matrix->begins[g], &winner)) continue;
    for (size_t c = 0; c < WINNER_COLUMNS; c++) {
      struct strbuf text = {0};
      put_winner(&text, summary, &winner, c);
      LITERAL(markdown.out, "| ");
      markdown_take(markdown, &text);
      LITERAL(markdown.out, " ");
    }
    LITERAL(markdown.out, "|\n");
  }
  LITERAL(markdown.out, "\n");
}

hone_status render_markdown(struct ctx *ctx, const struct summary *summary,
                            const struct render_options *options, struct strbuf *out) {
  (void)options;
  const struct markdown markdown = {out};
  struct arena *arena;
  struct matrix matrix;
  TRY(arena_create(ctx, 0, &arena));
  const hone_status status = matrix_make(ctx, arena, summary, &matrix);
  if (!status) put_matrix(markdown, summary, &matrix);
  if (!status) put_winners(markdown, summary, &matrix);
  arena_destroy(arena);
  TRY(status);
  for (size_t begin = 0, end; begin < summary->record_count; begin = end) {
    end = group_end(summary, begin);
    put_group(markdown, summary, begin, end);
  }
  LITERAL(out,
          "\xc2\xb1 is the 95 % interval of the median; tie: the interval of the ratio contains 1. "
          "Measured with hone by ");
  markdown_text(markdown, summary->study.command);
  LITERAL(out, "\n");
  return strbuf_finish(ctx, out);
}
