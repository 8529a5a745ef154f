/* Internal to src/core/metrics: rows of the table of metrics, and one sample. */
#ifndef HONE_METRICS_INTERNAL_H
#define HONE_METRICS_INTERNAL_H

#include "metrics.h"

struct sample {
  const json_t *label;
  const hone_tensor *outputs, *judged;
  size_t count;
};
enum errors { ERRORS_NOT, ERRORS_SHARE, ERRORS_LEVEL };
typedef hone_status add_fn(struct ctx *ctx, struct score *score, const struct sample *sample);
typedef double value_fn(const struct score *score);
struct metric {
  const char *name;
  enum errors errors;
  add_fn *add;
  value_fn *value;
  int number; /* number of largest elements; 1: characters, not words; the longest n-gram */
};
struct detection {
  int64_t sample, class;
  double score, box[4];
  bool is_answer;
};

add_fn add_top, add_f1, add_perplexity; /* classes.c */
value_fn value_share, value_f1, value_perplexity;
add_fn add_text, add_bleu; /* sequences.c */
value_fn value_bleu;
add_fn add_boxes; /* boxes.c */
value_fn value_map;
add_fn add_agreement; /* agreement.c */

#endif
