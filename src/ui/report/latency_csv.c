/* latency_csv: one line for each row, for scripts: time, model, device, latency or the reason why there is none. RFC 4180. */
#include "core/format/format.h"
#include "report.h"

#include <math.h>
#include <time.h>

/* "2026-01-31T12:00:00Z", of the row's first block, or of the study if it has none. */
static void put_timestamp(struct csv *csv, const struct summary *summary,
                          const struct record *record) {
  const struct config_data *data = config_data_of(summary, record);
  uint64_t unix_ms = summary->study.started_unix_ms;
  char text[32] = "";
  struct tm tm;
  if (data && data->block_count && data->blocks[0].started_unix_ms)
    unix_ms = data->blocks[0].started_unix_ms;
  const time_t seconds = (time_t)(unix_ms / 1000);
  if (gmtime_r(&seconds, &tm)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
  csv_text(csv, text);
}

hone_status render_latency_csv(struct ctx *ctx, const struct summary *summary,
                               const struct render_options *options, struct strbuf *out) {
  static const char *const titles[] = {"timestamp", "model",   "device",  "latency_ms",
                                       "backend",   "variant", "batch",   "threads",
                                       "precision", "route",   "scenario"};
  struct csv csv = {out, false};
  (void)options;
  for (size_t t = 0; t < COUNT(titles); t++) csv_text(&csv, titles[t]);
  csv_end_line(&csv);
  for (size_t i = 0; i < summary->record_count; i++) {
    const struct record *record = &summary->records[i];
    put_timestamp(&csv, summary, record);
    csv_text(&csv, record->config.model);
    csv_text(&csv, record->config.device);
    if (record->status == STATUS_ok && isfinite(record->p50_ms))
      csv_number(&csv, round(record->p50_ms * 1e6) / 1e6); /* whole ns, without rounding digits */
    /* a wrong row has no valid latency */
    else
      csv_text(&csv, status_text(record->status));
    csv_text(&csv, record->config.backend);
    csv_text(&csv, record->config.variant);
    csv_number(&csv, record->config.batch);
    csv_number(&csv, record->config.threads);
    csv_text(&csv, record->config.precision);
    csv_text(&csv, record->config.route);
    csv_text(&csv, record->config.scenario);
    csv_end_line(&csv);
  }
  return strbuf_finish(ctx, out);
}
