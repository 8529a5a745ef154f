#include "report.h"
hone_status render_html(struct ctx *ctx, const struct summary *summary,
                        const struct render_options *options, struct text *out) {
  (void)summary;
  (void)options;
  (void)out;
  return fail(ctx, HONE_E_UNSUP, place_none(), "not yet");
}
