/* csv: one line for each record, the columns of columns.def. RFC 4180; numbers are not quoted, n/a is empty. */
#include "core/format/format.h"
#include "report.h"

hone_status render_csv(struct ctx *ctx, const struct summary *summary,
                       const struct render_options *options, struct strbuf *out) {
  (void)options;
  struct csv csv = {out, false};
  for (size_t c = 0; c < column_count; c++) csv_text(&csv, columns[c].key);
  csv_end_line(&csv);
  for (size_t i = 0; i < summary->record_count; i++) {
    for (size_t c = 0; c < column_count; c++) {
      struct strbuf value = {0};
      column_format(&summary->records[i], &columns[c], &value);
      if (value.failed) out->failed = true;
      if (column_is_number(&columns[c]))
        csv_number(&csv, column_number(&summary->records[i], &columns[c]));
      else
        csv_text(&csv, value.at ? value.at : "");
      strbuf_deinit(&value);
    }
    csv_end_line(&csv);
  }
  return strbuf_finish(ctx, out);
}
