/* compare: changes between two studies, for the terminal, Markdown, JSON and JUnit. If the machines differ, that and the
 * differing facts come first, because such a ratio also compares machines.
 */
#include "core/format/format.h"
#include "report.h"

#include <math.h>

/* -- terminal */

static void begin_color(struct tty tty, const char *code) {
  if (tty.color) strbuf_printf(tty.out, "\x1b[%sm", code);
}
static void end_color(struct tty tty) {
  if (tty.color) LITERAL(tty.out, "\x1b[0m");
}

static void put_padded(struct tty tty, struct strbuf *config, size_t width, bool is_left) {
  const char *shown = config->at ? config->at : "";
  const size_t used = shown_width(shown);
  LITERAL(tty.out, "  ");
  if (is_left) strbuf_puts(tty.out, shown);
  for (size_t i = used; i < width; i++) LITERAL(tty.out, " ");
  if (!is_left) strbuf_puts(tty.out, shown);
  if (config->failed) tty.out->failed = true;
  strbuf_deinit(config);
}

static void name_of(const struct record *record, struct strbuf *out) {
  struct strbuf name = {0};
  put_row_name(&name, record);
  if (name.failed) out->failed = true;
  tty_text((struct tty){out, false}, name.at ? name.at : "", 40);
  strbuf_deinit(&name);
}

/* ", detects 82 % or more": for a row that is open, so that the gate cannot pass. */
static void put_open(struct strbuf *out, const struct changes *changes,
                     const struct change *change) {
  const double detectable = change_detectable(change);
  if (!change_is_open(changes, change) || !isfinite(detectable)) return;
  LITERAL(out, ", detects ");
  put_significant(out, 100 * detectable, 2);
  LITERAL(out, " % or more");
}

static enum verdict color_verdict(const struct change *change) {
  return change->is_broken ? VERDICT_slower : change->verdict;
}

static void put_pair(struct tty tty, const struct changes *changes, const struct change *change,
                     size_t name_width) {
  const struct record *record = change_record(changes, change);
  struct strbuf name = {0}, was = {0}, is = {0}, verdict = {0};
  name_of(record, &name);
  if (change->before != SIZE_MAX)
    put_latency(&was, changes->before->records[change->before].p50_ms);
  if (change->after != SIZE_MAX) put_latency(&is, changes->after->records[change->after].p50_ms);
  put_change(&verdict, change);
  put_padded(tty, &name, name_width, true);
  put_padded(tty, &was, 8, false);
  put_padded(tty, &is, 8, false);
  begin_color(tty, color_verdict(change) == VERDICT_slower   ? "31"
                   : color_verdict(change) == VERDICT_faster ? "32"
                                                             : "2");
  put_padded(tty, &verdict, 0, true);
  end_color(tty);
  if (change->is_slower && isfinite(changes->fail_above)) LITERAL(tty.out, "  regression");
  put_open(tty.out, changes, change);
  if (change->before != SIZE_MAX && change->after != SIZE_MAX &&
      changes->before->records[change->before].status != record->status)
    strbuf_printf(tty.out, "  status was %s, is %s",
                  status_text(changes->before->records[change->before].status),
                  status_text(record->status));
  LITERAL(tty.out, "\n");
}

static void put_group_title(struct tty tty, const struct record *record, size_t name_width) {
  static const char *const titles[] = {"engine", "before", "after", "after / before"};
  struct strbuf facts = {0};
  begin_color(tty, "1");
  tty_text(tty, record->config.model, 80);
  end_color(tty);
  LITERAL(tty.out, "  ");
  put_group_facts(&facts, record);
  tty_text(tty, facts.at ? facts.at : "", 120);
  LITERAL(tty.out, "\n");
  strbuf_deinit(&facts);
  for (size_t i = 0; i < COUNT(titles); i++) {
    struct strbuf title = {0};
    strbuf_puts(&title, titles[i]);
    put_padded(tty, &title, i == 0 ? name_width : i == 3 ? 0 : 8, i == 0 || i == 3);
  }
  LITERAL(tty.out, "\n");
}

static void put_pairs(struct tty tty, const struct changes *changes) {
  size_t name_width = 7;
  for (size_t i = 0; i < changes->count; i++) {
    struct strbuf name = {0};
    name_of(change_record(changes, &changes->at[i]), &name);
    const size_t width = shown_width(name.at ? name.at : "");
    if (width > name_width) name_width = width;
    strbuf_deinit(&name);
  }
  for (size_t i = 0; i < changes->count; i++) {
    const struct record *record = change_record(changes, &changes->at[i]);
    if (i == 0 || !same_group(record, change_record(changes, &changes->at[i - 1]))) {
      if (i) LITERAL(tty.out, "\n");
      put_group_title(tty, record, name_width);
    }
    put_pair(tty, changes, &changes->at[i], name_width);
  }
}

/* The machine facts that differ; measured peaks always differ and are left out. */
static MUST_USE hone_status put_machines(struct ctx *ctx, struct arena *arena, struct tty tty,
                                         const struct changes *changes) {
  struct fact *old, *new;
  size_t old_count, new_count;
  if (!changes_differ_in_machine(changes)) return HONE_OK;
  TRY(facts_read(ctx, arena, changes->before->study.machine_json, &old, &old_count));
  TRY(facts_read(ctx, arena, changes->after->study.machine_json, &new, &new_count));
  begin_color(tty, "33");
  LITERAL(tty.out,
          "the two studies have different fingerprints: the ratios also compare the machines\n");
  end_color(tty);
  for (size_t i = 0; i < new_count; i++) {
    const char *was = fact_find(old, old_count, new[i].key);
    if (!strncmp(new[i].key, "peaks", 5) || (was && !strcmp(was, new[i].value))) continue;
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

static MUST_USE hone_status render_terminal(struct ctx *ctx, const struct changes *changes,
                                            const struct render_options *options,
                                            struct strbuf *out) {
  const struct tty tty = {out, options && options->color};
  struct arena *arena;
  TRY(arena_create(ctx, 0, &arena));
  const hone_status status = put_machines(ctx, arena, tty, changes);
  arena_destroy(arena);
  TRY(status);
  put_pairs(tty, changes);
  LITERAL(out, "\n");
  put_changes_sentence(out, changes);
  LITERAL(out, "\n");
  put_changes_remedy(out, changes);
  if (changes_lack_samples(changes))
    LITERAL(out,
            "JSON files have no samples: intervals of ratios are the widest that the medians' "
            "intervals allow\n");
  return strbuf_finish(ctx, out);
}

/* -- Markdown: for a CI step's summary or a comment */

static void put_markdown_row(struct markdown markdown, const struct changes *changes,
                             const struct change *change) {
  const struct record *record = change_record(changes, change);
  struct strbuf *out = markdown.out, facts = {0}, name = {0}, verdict = {0};
  LITERAL(out, "| ");
  markdown_text(markdown, record->config.model);
  LITERAL(out, " | ");
  strbuf_printf(&facts, "%d \xc2\xb7 %d", record->config.batch, record->config.threads);
  put_group_rest(&facts, &record->config, " \xc2\xb7 ");
  markdown_take(markdown, &facts);
  LITERAL(out, " | ");
  put_row_name(&name, record);
  markdown_take(markdown, &name);
  LITERAL(out, " | ");
  if (change->before != SIZE_MAX) put_latency(out, changes->before->records[change->before].p50_ms);
  LITERAL(out, " | ");
  if (change->after != SIZE_MAX) put_latency(out, changes->after->records[change->after].p50_ms);
  LITERAL(out, " | ");
  if (change->is_slower || change->is_broken) LITERAL(out, "**");
  put_change(&verdict, change);
  put_open(&verdict, changes, change);
  markdown_take(markdown, &verdict);
  if (change->is_broken) {
    LITERAL(out, ", ");
    markdown_text(markdown, status_text(record->status));
  }
  if (change->is_slower || change->is_broken) LITERAL(out, "**");
  LITERAL(out, " |\n");
}

static MUST_USE hone_status render_changes_markdown(struct ctx *ctx, const struct changes *changes,
                                                    struct strbuf *out) {
  const struct markdown markdown = {out};
  LITERAL(out, "### ");
  put_changes_sentence(out, changes);
  LITERAL(out, "\n\n");
  put_changes_remedy(out, changes);
  if (changes_exit_code(changes) == 5) LITERAL(out, "\n");
  if (changes_differ_in_machine(changes))
    LITERAL(out,
            "The two studies were measured on different machines: the ratios also compare the "
            "machines.\n\n");
  LITERAL(out,
          "| model | batch \xc2\xb7 threads | engine | before | after | after / before "
          "|\n|:--|:--|:--|--:|--:|:--|\n");
  for (size_t i = 0; i < changes->count; i++) put_markdown_row(markdown, changes, &changes->at[i]);
  LITERAL(out, "\nMedians; brackets: 95 % interval of the ratio.\n");
  return strbuf_finish(ctx, out);
}

/* -- JSON */

static void put_json_side(struct json_writer json, const char *name, const struct summary *side) {
  strbuf_printf(json.out, "  \"%s\": {\"key\": ", name);
  json_text(json, side->study.key);
  LITERAL(json.out, ", \"name\": ");
  json_text(json, side->study.name);
  LITERAL(json.out, ", \"fingerprint\": ");
  json_text(json, side->study.fingerprint);
  LITERAL(json.out, "},\n");
}

static void put_json_change(struct json_writer json, const struct changes *changes,
                            const struct change *change) {
  const struct record *record = change_record(changes, change);
  const struct record *old =
      change->before == SIZE_MAX ? NULL : &changes->before->records[change->before];
  const struct record *new =
      change->after == SIZE_MAX ? NULL : &changes->after->records[change->after];
  LITERAL(json.out, "    {\"cell\": ");
  json_text(json, record->config.key);
  LITERAL(json.out, ", \"model\": ");
  json_text(json, record->config.model);
  LITERAL(json.out, ", \"backend\": ");
  json_text(json, record->config.backend);
  LITERAL(json.out, ", \"variant\": ");
  json_text(json, record->config.variant);
  strbuf_printf(json.out, ", \"batch\": %d, \"threads\": %d, \"before_ms\": ", record->config.batch,
                record->config.threads);
  json_number(json, old ? old->p50_ms : (double)NAN);
  LITERAL(json.out, ", \"after_ms\": ");
  json_number(json, new ? new->p50_ms : (double)NAN);
  LITERAL(json.out, ", \"ratio\": ");
  json_number(json, change->ratio.value);
  LITERAL(json.out, ", \"ci\": [");
  json_number(json, change->ratio.low);
  LITERAL(json.out, ", ");
  json_number(json, change->ratio.high);
  LITERAL(json.out, "], \"detectable\": ");
  json_number(json, change_detectable(change));
  strbuf_printf(json.out, ", \"open\": %s, \"verdict\": ",
                change_is_open(changes, change) ? "true" : "false");
  json_text(json, change_text(change));
  LITERAL(json.out, ", \"status_before\": ");
  json_text(json, old ? status_text(old->status) : "");
  LITERAL(json.out, ", \"status_after\": ");
  json_text(json, new ? status_text(new->status) : "");
  strbuf_printf(
      json.out, ", \"regression\": %s}",
      isfinite(changes->fail_above) && (change->is_slower || change->is_broken) ? "true" : "false");
}

static MUST_USE hone_status render_changes_json(struct ctx *ctx, const struct changes *changes,
                                                struct strbuf *out) {
  const struct json_writer json = {out};
  strbuf_printf(out, "{\n  \"schema\": %d,\n  \"hone\": ", RECORD_SCHEMA);
  json_text(json, hone_version());
  LITERAL(out, ",\n");
  put_json_side(json, "before", changes->before);
  put_json_side(json, "after", changes->after);
  LITERAL(out, "  \"fail_above\": ");
  json_number(json, changes->fail_above);
  strbuf_printf(out,
                ",\n  \"compared\": %zu, \"decided\": %zu, \"slower\": %zu, \"broken\": %zu, "
                "\"only_before\": %zu, \"only_after\": %zu,\n  \"changes\": [",
                changes->compared, changes->decided, changes->slower, changes->broken,
                changes->only_before, changes->only_after);
  for (size_t i = 0; i < changes->count; i++) {
    strbuf_puts(out, i ? ",\n" : "\n");
    put_json_change(json, changes, &changes->at[i]);
  }
  LITERAL(out, "\n  ]\n}\n");
  return strbuf_finish(ctx, out);
}

/* -- JUnit: one test case for each row; HTML escapes are valid in XML */

/* Undecided: the gate neither passes nor fails. */
static bool is_skipped(const struct changes *changes, const struct change *change) {
  return !change->is_compared || change->verdict == VERDICT_undecided ||
         change_is_open(changes, change);
}

static void put_junit_case(struct html xml, const struct changes *changes,
                           const struct change *change) {
  const struct record *record = change_record(changes, change);
  struct strbuf name = {0}, facts = {0}, verdict = {0};
  const bool fails = isfinite(changes->fail_above) && (change->is_slower || change->is_broken);
  LITERAL(xml.out, "    <testcase classname=\"");
  html_attribute(xml, record->config.model);
  LITERAL(xml.out, "\" name=\"");
  put_row_name(&name, record);
  put_group_facts(&facts, record);
  strbuf_printf(&name, ", %s", facts.at ? facts.at : "");
  strbuf_deinit(&facts);
  html_take(xml, &name);
  LITERAL(xml.out, "\">");
  put_change(&verdict, change);
  put_open(&verdict, changes, change);
  if (fails)
    LITERAL(xml.out, "<failure message=\"");
  else if (is_skipped(changes, change))
    LITERAL(xml.out, "<skipped message=\"");
  else
    LITERAL(xml.out, "<system-out>");
  html_take(xml, &verdict);
  if (fails) {
    LITERAL(xml.out, "\">");
    html_text(xml, record->reason);
    LITERAL(xml.out, "</failure>");
  } else if (is_skipped(changes, change)) {
    LITERAL(xml.out, "\"/>");
  } else {
    LITERAL(xml.out, "</system-out>");
  }
  LITERAL(xml.out, "</testcase>\n");
}

static MUST_USE hone_status render_junit(struct ctx *ctx, const struct changes *changes,
                                         struct strbuf *out) {
  const struct html xml = {out};
  const bool gates = isfinite(changes->fail_above);
  size_t skipped = 0;
  for (size_t i = 0; i < changes->count; i++) {
    const struct change *change = &changes->at[i];
    const bool fails = gates && (change->is_slower || change->is_broken);
    skipped += !fails && is_skipped(changes, change);
  }
  strbuf_printf(
      out,
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"hone "
      "compare\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n",
      changes->count, gates ? changes->slower + changes->broken : 0, skipped);
  for (size_t i = 0; i < changes->count; i++) put_junit_case(xml, changes, &changes->at[i]);
  LITERAL(out, "  </testsuite>\n</testsuites>\n");
  return strbuf_finish(ctx, out);
}

hone_status render_changes(struct ctx *ctx, const char *form, const struct changes *changes,
                           const struct render_options *options, struct strbuf *out) {
  if (!strcmp(form, "table")) return render_terminal(ctx, changes, options, out);
  if (!strcmp(form, "md")) return render_changes_markdown(ctx, changes, out);
  if (!strcmp(form, "json")) return render_changes_json(ctx, changes, out);
  if (!strcmp(form, "junit")) return render_junit(ctx, changes, out);
  if (!strcmp(form, "html"))
    return render_changes_html(ctx, changes, options ? options->frame : NULL, out);
  return fail(ctx, HONE_E_INTERNAL, place_name(form), "no such format of a comparison");
}
