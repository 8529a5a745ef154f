/* report: records to terminal table, CSV, JSON, Markdown, HTML. One renderer a file, all over the same
 * summary; each sink has its own escaping writer. */
#ifndef HONE_REPORT_H
#define HONE_REPORT_H

#include "../stats/stats.h"
#include "../store/store.h"

struct comparison {
  size_t a, b; /* indices of records */
  struct interval ratio;
  enum verdict verdict;
};
struct summary {
  struct study_row study;
  size_t record_count;
  struct record *records;
  size_t comparison_count;
  struct comparison *comparisons;
  const struct study_data *data; /* raw samples for distributions */
};
/* Statistics over blocks: deterministic (seeded by the study key). synthetic rows only if asked. */
MUST_USE hone_status summarise(struct ctx *ctx, struct arena *arena, const struct study_data *data,
                               bool with_synthetic, struct summary *out);

struct render_options {
  bool color;
  int width; /* of the terminal; 0: 100 */
};
struct renderer {
  const char *name;   /* "table", "csv", "json", "md", "html" */
  const char *suffix; /* ".csv" */
  hone_status (*render)(struct ctx *ctx, const struct summary *summary,
                        const struct render_options *options, struct text *out);
};
extern const struct renderer renderers[];
extern const size_t renderer_count;
const struct renderer *renderer_find(const char *name);

/* Two studies side by side: matching cells with ratio, interval, verdict; flagged where the
   fingerprints differ. */
MUST_USE hone_status render_compare(struct ctx *ctx, const struct summary *before,
                                    const struct summary *after, const struct render_options *options,
                                    struct text *out);
#endif
