/* The result of `hone gate`: the forms of two studies' changes, with how they were found; and the comment of a pull
   request. */
#include "judge/gate/gate.h"
#include "report.h"

static void put_method(struct strbuf *out, const struct gate_result *gate) {
  const size_t by_processors = gate->changes.by_processors;
  if (gate->is_paired)
    strbuf_puts(out,
                "The programs of the two builds ran in pairs, in random order. Brackets: "
                "confidence interval of the median ratio. Runs of at least 1 ms on one thread "
                "are compared by processor time.\n");
  if (by_processors)
    strbuf_printf(out,
                  "%zu multi-threaded configuration%s compared by processor time, because wall "
                  "time was too noisy.\n",
                  by_processors, by_processors == 1 ? " was" : "s were");
  if (gate->is_elsewhere)
    strbuf_puts(out, GATE_ELSEWHERE "\n");
  else if (!gate->is_paired)
    strbuf_puts(out,
                "A new study was compared with the baseline; configurations that were slower "
                "were measured twice.\n");
  if (gate->cleared)
    strbuf_printf(out,
                  "%zu configuration%s slower in the first measurement and not in the second.\n",
                  gate->cleared, gate->cleared == 1 ? " was" : "s were");
}

static void put_comment_row(struct strbuf *out, const struct changes *changes,
                            const struct change *change) {
  const struct record *r = change_record(changes, change);
  const struct markdown markdown = {out};
  struct strbuf line = {0}, words = {0};
  strbuf_puts(out, "- ");
  markdown_text(markdown, r->config.model);
  put_row_name(&line, r);
  strbuf_printf(&line, ", batch %d, %d thread%s: ", r->config.batch, r->config.threads,
                r->config.threads == 1 ? "" : "s");
  put_change(&words, change);
  strbuf_printf(&line, "%s", words.at ? words.at : "");
  strbuf_puts(out, ", ");
  markdown_text(markdown, line.at ? line.at : "");
  strbuf_puts(out, "\n");
  strbuf_deinit(&line);
  strbuf_deinit(&words);
}

/* One sentence, then the rows that became slower, faster or broken; the whole table is folded. */
static hone_status put_comment(struct ctx *ctx, const struct gate_result *gate,
                               struct strbuf *out) {
  const struct changes *changes = &gate->changes;
  struct strbuf all = {0};
  strbuf_puts(out, changes->slower + changes->broken ? "### Slower\n\n"
                   : !changes_exit_code(changes)     ? "### No regression\n\n"
                   : changes->decided                ? "### Undecided\n\n"
                                                     : "### Nothing could be decided\n\n");
  put_changes_sentence(out, changes);
  strbuf_puts(out, "\n\n");
  put_changes_remedy(out, changes);
  for (size_t i = 0; i < changes->count; i++) {
    const struct change *c = &changes->at[i];
    if (c->is_slower || c->is_broken || c->verdict == VERDICT_faster)
      put_comment_row(out, changes, c);
  }
  strbuf_puts(out, "\n<details><summary>All configurations</summary>\n\n");
  const hone_status status = render_changes(ctx, "md", changes, NULL, &all);
  if (!status) strbuf_append(out, all.at ? all.at : "", all.length);
  strbuf_puts(out, "\n");
  put_method(out, gate);
  strbuf_puts(out, "</details>\n");
  strbuf_deinit(&all);
  return status ? status : strbuf_finish(ctx, out);
}

hone_status render_gate(struct ctx *ctx, const char *form, const struct gate_result *gate,
                        const struct render_options *options, struct strbuf *out) {
  if (!strcmp(form, "comment")) return put_comment(ctx, gate, out);
  TRY(render_changes(ctx, form, &gate->changes, options, out));
  if (!strcmp(form, "md") || !strcmp(form, "table")) {
    if (!strcmp(form, "md")) strbuf_puts(out, "\n");
    put_method(out, gate);
  }
  return strbuf_finish(ctx, out);
}
