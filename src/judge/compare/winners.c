/* winners: for each group the fastest engine, its margin over the runner-up, and the start-up times of both. The runner-up is
 * the fastest engine of another name, so it is not a variant or a copy of the winner. If the winner takes longer to start,
 * its break-even is the number of inferences after which it is ahead in total.
 */
#include "core/format/format.h"
#include "compare.h"

#include <math.h>

bool winner_of_group(const struct summary *summary, size_t begin, struct winner *out) {
  const struct record *first = &summary->records[begin];
  *out = (struct winner){begin, SIZE_MAX, NAN, NAN};
  if (first->rank != 1) return false;
  for (size_t i = begin + 1, end = group_end(summary, begin); i < end; i++) {
    const struct record *next = &summary->records[i];
    if (!next->rank || !strcmp(next->config.backend, first->config.backend)) continue;
    const struct comparison *comparison = find_comparison(summary, i, begin);
    const double saved = next->p50_ms - first->p50_ms;
    const double spent = ready_ms(first) - ready_ms(next);
    out->next = i;
    out->ratio = comparison ? comparison->ratio.value : next->p50_ms / first->p50_ms;
    if (spent > 0 && saved > 0) out->pays_after = ceil(spent / saved);
    if (spent <= 0) out->pays_after = 0;
    break;
  }
  return true;
}

static void put_engine(struct strbuf *out, const struct record *record) {
  char marks[256];
  strbuf_puts(out, record->config.backend);
  if (engine_marks(&record->config, marks)[0]) strbuf_printf(out, " %s", marks);
}

/* "1.82x", "1.02x (tie)", "1.10x (undecided)" */
static void put_by(struct strbuf *out, const struct summary *summary, const struct winner *winner) {
  const struct comparison *comparison = find_comparison(summary, winner->next, winner->first);
  put_ratio(out, winner->ratio);
  if (comparison && comparison->verdict == VERDICT_tie) strbuf_puts(out, " (tie)");
  if (!comparison || comparison->verdict == VERDICT_undecided) strbuf_puts(out, " (undecided)");
}

static void put_pays(struct strbuf *out, const struct winner *winner) {
  if (!isfinite(winner->pays_after))
    LITERAL(out, "\xe2\x80\x93");
  else if (winner->pays_after == 0)
    LITERAL(out, "immediately");
  else
    strbuf_printf(out, "%.0f inference%s", winner->pays_after, winner->pays_after > 1 ? "s" : "");
}

enum { MODEL, FIRST, TIME, BY, NEXT, READY, NEXT_READY, PAYS };
static const char *const titles[WINNER_COLUMNS] = {
    "model", "fastest", "median", "margin", "runner-up", "start-up", "its start-up", "break-even"};
const char *winner_title(size_t column) { return titles[column]; }

void put_winner(struct strbuf *out, const struct summary *summary, const struct winner *winner,
                size_t column) {
  const struct record *first = &summary->records[winner->first];
  const bool has_next = winner->next != SIZE_MAX;
  const struct record *next = has_next ? &summary->records[winner->next] : NULL;
  const struct config *config = &first->config;
  if (!has_next && (column == BY || column >= NEXT) && column != READY) {
    LITERAL(out, "\xe2\x80\x93");
    return;
  }
  if (column == MODEL) {
    strbuf_printf(out, "%s, batch %d, %d thread%s", config->model, config->batch, config->threads,
                  config->threads == 1 ? "" : "s");
    put_group_rest(out, config, ", ");
  }
  if (column == FIRST) put_engine(out, first);
  if (column == TIME) put_latency(out, first->p50_ms);
  if (column == BY) put_by(out, summary, winner);
  if (column == NEXT) put_engine(out, next);
  if (column == READY) put_ms(out, ready_ms(first));
  if (column == NEXT_READY) put_ms(out, ready_ms(next));
  if (column == PAYS) put_pays(out, winner);
}

void put_verdict(struct strbuf *out, const struct summary *summary, size_t i, size_t against) {
  if (summary->records[i].rank == 0 || against == SIZE_MAX) return;
  const struct comparison *comparison = find_comparison(summary, i, against);
  if (!comparison) {
    if (i == against && summary->records[i].rank == 1) strbuf_puts(out, first_text(summary, i));
    return;
  }
  const double ratio = comparison->ratio.value;
  switch (comparison->verdict) {
    case VERDICT_tie:
      strbuf_puts(out, "tie");
      return;
    case VERDICT_slower:
      put_ratio(out, ratio);
      strbuf_puts(out, " slower");
      return;
    case VERDICT_faster:
      put_ratio(out, 1 / ratio);
      strbuf_puts(out, " faster");
      return;
    case VERDICT_undecided:
      put_ratio(out, ratio);
      strbuf_puts(out, " undecided");
      return;
  }
}
