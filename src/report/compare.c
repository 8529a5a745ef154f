/* compare: two studies side by side: the cells that both have, with ratio, interval and verdict.
 *
 * In: two summaries. Out: terminal text. The ratio is latency after by latency before. Where the
 * machines' fingerprints differ the page says so first, and which facts: such a ratio compares
 * machines too.
 */
#include "report.h"

#include <math.h>

enum { RESAMPLES = 2000 };
#define CONFIDENCE 0.95

struct pair {
  size_t before, after;
  struct interval ratio;
  enum verdict verdict;
};
typedef VEC(struct pair) pairs;

static MUST_USE hone_status compare_records(struct ctx *ctx, struct arena *arena,
                                            const struct summary *before,
                                            const struct summary *after, struct pair *pair) {
  const struct record *x = &after->records[pair->after], *y = &before->records[pair->before];
  const double floors = fabs(x->worst.floor_ns - y->worst.floor_ns);
  const struct verdict_rule rule = {3, 12, isfinite(floors) ? floors : 0};
  struct sample_set set_x, set_y;
  TRY(make_sample_set(ctx, arena, cell_data_of(after, x), &set_x));
  TRY(make_sample_set(ctx, arena, cell_data_of(before, y), &set_y));
  TRY(bootstrap_ratio(ctx, &set_x, &set_y, CONFIDENCE, RESAMPLES,
                      seed_of(before->study.key) ^ seed_of(after->study.key), &pair->ratio));
  if (x->rounds < 2 || y->rounds < 2) pair->ratio.low = pair->ratio.high = (double)NAN;
  pair->verdict = decide(&pair->ratio, x->incarnations, y->incarnations, x->rounds, y->rounds,
                         x->p50_ms * 1e6, y->p50_ms * 1e6, &rule);
  return HONE_OK;
}

static size_t find_cell(const struct summary *summary, const char *key) {
  size_t i = 0;
  while (i < summary->record_count && strcmp(summary->records[i].cell.key, key) != 0) i++;
  return i;
}

static MUST_USE hone_status find_pairs(struct ctx *ctx, struct arena *arena,
                                       const struct summary *before, const struct summary *after,
                                       pairs *out) {
  for (size_t i = 0; i < after->record_count; i++) {
    struct pair pair = {
        find_cell(before, after->records[i].cell.key), i, {NAN, NAN, NAN}, VERDICT_undecided};
    if (pair.before == before->record_count || !is_measured(&after->records[i]) ||
        !is_measured(&before->records[pair.before]))
      continue;
    TRY(compare_records(ctx, arena, before, after, &pair));
    VEC_PUSH(ctx, arena, out, pair);
  }
  return HONE_OK;
}

static void begin_color(struct tty tty, const char *code) {
  if (tty.color) text_printf(tty.out, "\x1b[%sm", code);
}
static void end_color(struct tty tty) {
  if (tty.color) LITERAL(tty.out, "\x1b[0m");
}

static void put_padded(struct tty tty, struct text *cell, size_t width, bool is_left) {
  const char *shown = cell->at ? cell->at : "";
  const size_t used = shown_width(shown);
  LITERAL(tty.out, "  ");
  if (is_left) text_puts(tty.out, shown);
  for (size_t i = used; i < width; i++) LITERAL(tty.out, " ");
  if (!is_left) text_puts(tty.out, shown);
  if (cell->failed) tty.out->failed = true;
  text_deinit(cell);
}

static void name_of(const struct record *record, struct text *out) {
  struct text name = {0};
  put_row_name(&name, record);
  if (name.failed) out->failed = true;
  tty_text((struct tty){out, false}, name.at ? name.at : "", 40);
  text_deinit(&name);
}

/* "1.05x slower [1.03, 1.07]" */
static void verdict_of(const struct pair *pair, struct text *out) {
  const bool is_faster = pair->verdict == VERDICT_faster;
  put_ratio(out, is_faster ? 1 / pair->ratio.value : pair->ratio.value);
  text_printf(out, " %s [", verdict_text(pair->verdict));
  put_significant(out, is_faster ? 1 / pair->ratio.high : pair->ratio.low, 3);
  LITERAL(out, ", ");
  put_significant(out, is_faster ? 1 / pair->ratio.low : pair->ratio.high, 3);
  LITERAL(out, "]");
}

static void put_pair(struct tty tty, const struct summary *before, const struct summary *after,
                     const struct pair *pair, size_t name_width) {
  const struct record *old = &before->records[pair->before], *new = &after->records[pair->after];
  struct text name = {0}, was = {0}, is = {0}, verdict = {0};
  name_of(new, &name);
  put_latency(&was, old->p50_ms);
  put_latency(&is, new->p50_ms);
  verdict_of(pair, &verdict);
  put_padded(tty, &name, name_width, true);
  put_padded(tty, &was, 8, false);
  put_padded(tty, &is, 8, false);
  begin_color(tty, pair->verdict == VERDICT_slower   ? "31"
                   : pair->verdict == VERDICT_faster ? "32"
                                                     : "2");
  put_padded(tty, &verdict, 0, true);
  end_color(tty);
  if (old->status != new->status)
    text_printf(tty.out, "  status was %s, is %s", status_text(old->status),
                status_text(new->status));
  LITERAL(tty.out, "\n");
}

static void put_group_title(struct tty tty, const struct record *record, size_t name_width) {
  static const char *const titles[] = {"backend", "before", "after", "after against before"};
  struct text facts = {0};
  begin_color(tty, "1");
  tty_text(tty, record->cell.model, 80);
  end_color(tty);
  LITERAL(tty.out, "  ");
  put_group_facts(&facts, record);
  tty_text(tty, facts.at ? facts.at : "", 120);
  LITERAL(tty.out, "\n");
  text_deinit(&facts);
  for (size_t i = 0; i < COUNT(titles); i++) {
    struct text title = {0};
    text_puts(&title, titles[i]);
    put_padded(tty, &title, i == 0 ? name_width : i == 3 ? 0 : 8, i == 0 || i == 3);
  }
  LITERAL(tty.out, "\n");
}

static void put_pairs(struct tty tty, const struct summary *before, const struct summary *after,
                      const pairs *all) {
  size_t name_width = 7;
  for (size_t i = 0; i < all->count; i++) {
    struct text name = {0};
    name_of(&after->records[all->at[i].after], &name);
    const size_t width = shown_width(name.at ? name.at : "");
    if (width > name_width) name_width = width;
    text_deinit(&name);
  }
  for (size_t i = 0; i < all->count; i++) {
    const struct record *record = &after->records[all->at[i].after];
    if (i == 0 || !same_group(record, &after->records[all->at[i - 1].after])) {
      if (i) LITERAL(tty.out, "\n");
      put_group_title(tty, record, name_width);
    }
    put_pair(tty, before, after, &all->at[i], name_width);
  }
}

static MUST_USE hone_status put_machines(struct ctx *ctx, struct arena *arena, struct tty tty,
                                         const struct summary *before,
                                         const struct summary *after) {
  struct fact *old, *new;
  size_t old_count, new_count;
  if (!strcmp(before->study.fingerprint, after->study.fingerprint)) return HONE_OK;
  TRY(facts_read(ctx, arena, before->study.machine_json, &old, &old_count));
  TRY(facts_read(ctx, arena, after->study.machine_json, &new, &new_count));
  begin_color(tty, "33");
  LITERAL(tty.out,
          "the two studies have different fingerprints: the ratios compare the machines too\n");
  end_color(tty);
  for (size_t i = 0; i < new_count; i++) {
    const char *was = fact_find(old, old_count, new[i].key);
    if (!strncmp(new[i].key, "peaks.", 6) || (was && !strcmp(was, new[i].value))) continue;
    LITERAL(tty.out, "  ");
    tty_text(tty, new[i].key, 60);
    LITERAL(tty.out, ": ");
    tty_text(tty, was ? was : "unknown", 100);
    LITERAL(tty.out, " -> ");
    tty_text(tty, new[i].value, 100);
    LITERAL(tty.out, "\n");
  }
  LITERAL(tty.out, "\n");
  return HONE_OK;
}

static void put_unmatched(struct tty tty, const struct summary *before, const struct summary *after,
                          size_t matched) {
  size_t only_before = 0, only_after = 0;
  for (size_t i = 0; i < before->record_count; i++)
    only_before += find_cell(after, before->records[i].cell.key) == after->record_count;
  for (size_t i = 0; i < after->record_count; i++)
    only_after += find_cell(before, after->records[i].cell.key) == before->record_count;
  text_printf(tty.out, "\n%zu cell%s measured in both", matched, matched == 1 ? "" : "s");
  if (only_before) text_printf(tty.out, ", %zu only before", only_before);
  if (only_after) text_printf(tty.out, ", %zu only after", only_after);
  LITERAL(tty.out, "\n");
}

hone_status render_compare(struct ctx *ctx, const struct summary *before,
                           const struct summary *after, const struct render_options *options,
                           struct text *out) {
  const struct tty tty = {out, options && options->color};
  struct arena *arena;
  pairs all = {0};
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = find_pairs(ctx, arena, before, after, &all);
  if (!status) status = put_machines(ctx, arena, tty, before, after);
  if (!status) {
    put_pairs(tty, before, after, &all);
    put_unmatched(tty, before, after, all.count);
    status = text_finish(ctx, out);
  }
  arena_destroy(arena);
  return status;
}
