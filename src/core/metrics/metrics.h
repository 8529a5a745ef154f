/* metrics: scores of a model's outputs on labelled samples. A set of labels is a JSON file (or
 * lines "SAMPLE CLASS") with a metric and the label of each sample; outputs are added sample by
 * sample. */
#ifndef HONE_METRICS_H
#define HONE_METRICS_H

#include "core/base/base.h"

#include <jansson.h>

struct metric;
struct labels {
  const struct metric *metric;
  json_t *root, *samples; /* root: owned; samples: [{"folder", "label"}] within it */
  int output;             /* index of the scored output; -1: given by name */
  const char *output_name;
  char dir[4096]; /* folder of the file */
};
/* E_FORMAT with what is missing. The file: {"metric": "top1", "output": 0, "samples": [{"folder":
 * "cat", "label": 3}, ...]}; docs/reference/labels.md lists the metrics and their keys. Lines "FOLDER
 * CLASS" are top1 of output 0. */
MUST_USE hone_status labels_open(struct ctx *ctx, const char *path, struct labels *out);
void labels_close(struct labels *labels);
size_t labels_sample_count(const struct labels *labels);
const char *labels_folder(const struct labels *labels, size_t sample);
const char *labels_metric(const struct labels *labels); /* "top1" */
/* True for the metric agreement: the labels are the reference's own outputs, so its score is 1. */
bool labels_are_outputs(const struct labels *labels);

/* Sums over the samples added so far. */
struct score {
  const struct labels *labels;
  double right, all;          /* top1, top5, agreement, wer, cer: hits or errors, and their total */
  double log_likelihood;      /* perplexity, nats */
  int64_t *matches, *guesses; /* bleu: by n-gram length; f1: by class */
  int64_t *answers;           /* f1: by class */
  size_t class_count;
  struct detection *found; /* map: all detections, with their scores */
  size_t found_count;
  double guessed_length, answer_length; /* bleu, tokens */
};
void score_begin(const struct labels *labels, struct score *out);
/* outputs: of that sample, in the model's order; names may be NULL. E_SHAPE, E_TYPE if they do not
 * match the label. */
MUST_USE hone_status score_add(struct ctx *ctx, struct score *score, size_t sample,
                               const hone_tensor *outputs, const char *const *names, size_t count);
/* NaN: no sample was added. A share, except for perplexity; the error rate for wer and cer. */
double score_value(const struct score *score);
void score_end(struct score *score);
/* The retained share of the reference's score: value / reference; for errors (1 - value) / (1 -
 * reference), for perplexity reference / value. NaN if the reference's score is zero. */
double score_retention(const struct labels *labels, double value, double reference);
/* -- text_score.c: of the tokens of a text, each predicted from those before it */
struct text_score {
  int64_t tokens;                          /* predicted */
  double perplexity, reference_perplexity; /* exp of the mean of -log p(token) */
  /* of the reference's distribution from this one: mean and largest, in nats */
  double divergence, largest_divergence;
  double agreement; /* share of the tokens for which both have the same most likely one */
};
/* A model whose mean divergence is larger departs from its float reference: about that of 4-bit
   weights from those of 16 bits. */
#define MOST_DIVERGENCE 0.02
/* Adds how well logits [count] of the reference and of the model predict the next token. got may
   also be log probabilities with NaN where they are unknown, which must not be the next token's: of
   those tokens only the sum is compared, so that the divergence is a lower bound. Then means and perplexities. `score` begins with zeros. */
void text_score_add(const float *wanted, const float *got, int64_t count, int64_t next,
                    struct text_score *score);
/* The same of an engine that gives only the logarithm of the next token's probability; there is no
   divergence then. */
void text_score_add_next(const float *wanted, int64_t count, int64_t next, double log_probability,
                         struct text_score *score);
MUST_USE hone_status text_score_finish(struct ctx *ctx, struct text_score *score);

/* Index of the largest of `count` elements. */
size_t largest_element(const void *data, hone_dtype dtype, size_t count);

#endif
