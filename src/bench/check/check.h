/* check: what is measured, and whether what it gave is right.
 *
 *   accuracy.c        outputs against the reference's, within a tolerance of the precision
 *   condition.c       how far rounding alone moves a model's outputs
 *   steps.c           the precision of a file and the quantisation step of each output
 *   tokens.c          generated tokens against the reference's
 *   engine_outputs.c  outputs of two engines against each other
 */
#ifndef HONE_CHECK_H
#define HONE_CHECK_H

#include "bench/backends/backends.h"

#include <jansson.h>

#define BENCH_SETS 4 /* input sets that rotate through the timed loop */

/* How inferences arrive: scenario.c has the definitions. */
enum scenario_kind {
  SCENARIO_single,
  SCENARIO_multi,
  SCENARIO_offline,
  SCENARIO_server,
  SCENARIO_rate,
  SCENARIO_generate
};
struct scenario {
  enum scenario_kind kind;
  int streams;       /* of multi */
  double rate_per_s; /* of server and rate */
  /* the highest within the bound, by each configuration's first process; rate_per_s is 0 then */
  bool finds_rate;
  double bound_ms;   /* latency bound; 0: none */
  int prompt, count; /* of generate: tokens given, tokens made */
  char text[32];     /* in the configuration: "multi:2", "server:100/s:15ms", "generate:16+32" */
};
/* How a conversation ended that did not end in an answer. */
struct worker_end {
  enum record_status status;
  enum record_stage stage;
  char reason[1024];
  double rel_l2; /* of outputs that were wrong; else NaN */
};

/* One model at one batch: what every backend gets. */
struct bench_case {
  const char *model;  /* as the user wrote it; theirs */
  char path[4096];    /* the ONNX file that engines read */
  char hash[33];      /* of the model's bytes and side files */
  const char *shapes; /* of every input, "x[1,3,224,224],..."; "" unknown; in the study's arena */
  /* which were open in the file, and the sizes they got; "" none; likewise */
  const char *open_dimensions;
  int batch;
  int64_t weights_bytes; /* of its constants; -1 unknown */
  int64_t file_bytes;    /* of the model and its side files; 0 unknown */
  int64_t kept_inputs;   /* states that the file does not list as inputs */
  struct file_id *sides; /* its side files, as far as hone read it; in the study's arena */
  size_t side_count;
  size_t contraction_count; /* contractions: what no fusion can take away */
  struct bench_step {
    double flops, bytes; /* bytes: read and written once */
    /* with a quarter of the multiplications in 3x3 convolutions of stride 1 */
    double winograd_flops;
  } * contractions;    /* in the study's arena */
  double flops, bytes; /* of one inference, sums over the nodes; NaN unknown */
  bool is_described;   /* inputs and outputs are known */
  size_t input_count, output_count;
  struct backend_tensor *inputs, *outputs; /* in the study's arena, like all arrays here */
  double *steps;                           /* of outputs of quantised graphs; else 0 */
  double (*conditions)[2];                 /* of outputs: condition.c; NULL: not measured */
  char format[8];                          /* of the file: "onnx", "tflite", "pt2" */
  char tolerance[8];   /* whose tolerance holds: the file's own precision, "fp32" */
  char data_dir[4096]; /* in_SET_I.npy, out_SET_I.npy */
  bool is_held;        /* it lies in the cache, and hold_fd keeps it there */
  int hold_fd;
  int64_t value_bytes; /* of all inputs and outputs of one set */
  double reference_s;  /* how long the reference took; 0 from the cache */
  hone_status refusal; /* E_FORMAT or E_TRUST where neither hone nor an engine reads the file */
  char refusal_reason[256];
  bool is_from_peers; /* hone could not read or evaluate it: engines made the data */
  bool is_disputed;   /* engines agree with each other and not with hone's reference */
  char dispute[1024]; /* who, and by how much */
  size_t engine_output_count;
  /* how it generates text (generation.h), where a configuration asks; NULL: see the end */
  json_t *generation;
  char generation_dir[4096];
  double task_reference; /* of the reference's outputs, by the labels; NaN: none */
  struct worker_end generation_end;
  enum record_status status; /* STATUS_ok, or why no backend can be measured: a batch that the file
                                 does not have, or values that cannot be asked for in JSON */
  enum record_stage stage;
  char reason[1024];
};

/* -- accuracy.c */
struct accuracy {
  double max_abs_diff, max_rel_diff, rel_l2, cosine, top1; /* worst over the outputs */
  double max_share;                                        /* max|d| / max|r| */
  bool is_within;                                          /* tolerance of DESIGN.md, contract 17 */
  char where[512]; /* the first output that is not, with its figures */
};
/* The same type and shape. */
bool same_form(const hone_tensor *a, const hone_tensor *b);
void accuracy_init(struct accuracy *accuracy);
/* What an output is measured by. */
struct yardstick {
  const char *precision; /* whose tolerance holds */
  double step;           /* quantisation step of this output; 0: it is not quantised */
  double condition[2];   /* its own conditioning (condition.c): relative L2, max|d|/max|r|; or 0 */
};
void accuracy_add(struct accuracy *accuracy, const char *name, const hone_tensor *expected,
                  const void *actual, const struct yardstick *yardstick);
/* What a float output may differ by: relative L2 and max|d|/max|r|. */
void accuracy_tolerance(const struct yardstick *yardstick, double *out_rel_l2, double *out_max_rel);
void accuracy_merge(struct accuracy *into, const struct accuracy *from);

/* -- steps.c */
/* Of every output the size of the coarsest quantiser behind it, in the output's own numbers; 0: not
   quantised, or not known. */
MUST_USE hone_status output_steps(struct ctx *ctx, const struct graph *graph, double *out);
/* Whose tolerance holds: "int8" for a graph that quantises what it computes, "dynamic" for one whose weights alone are
   quantised in a format that lets engines quantise what they meet, else the lowest precision in which the file
   computes. */
const char *file_precision(const struct graph *graph);
/* By which outputs are judged that were computed in the precision `asked`: the coarser of both. */
const char *judged_precision(const struct graph *graph, const char *asked);
/* The same of a row: what was asked for, or where the file computes in less what that is. */
const char *row_precision(const struct bench_case *one, const struct config *config);

/* -- condition.c (in the worker, and for `hone verify`) */
/* How far each output moves when the float inputs move by one unit in the last place, up or down at
   random; of a graph without float inputs its float constants move. outputs: of the reference with these
   inputs, which took it reference_ns. out: relative L2 and max|d|/max|r| by output; zeros where it was
   not measured. Graph and inputs are as before. */
MUST_USE hone_status condition_measure(struct ctx *ctx, struct graph *graph,
                                       const hone_tensor *inputs, const hone_tensor *outputs,
                                       uint64_t seed, uint64_t reference_ns, double (*out)[2]);
/* -- engine_outputs.c */
/* Paths of the data files of a case. */
void data_path(char out[4096], const char *dir, const char *kind /* "in" | "out" */, int set,
               size_t index);

/* engine_outputs.c: outputs that engines left in folders (out_SET_I.npy, in the model's order). */
/* Whether two folders hold the same outputs, within the case's tolerance. */
bool engine_outputs_agree(const struct bench_case *one, const char *dir_a, const char *dir_b,
                          const char *precision, struct accuracy *out);
/* -- tokens.c */
struct reference_tokens {
  int64_t *tokens; /* prompt and what the reference generates; prompt alone without it */
  double *leads;   /* NULL: no reference */
  int64_t prompt, count;
};
/* Also after a failure to be released. */
MUST_USE hone_status reference_tokens_read(struct ctx *ctx, const char *dir, int set,
                                           int64_t prompt, int64_t count,
                                           struct reference_tokens *out);
void reference_tokens_deinit(struct reference_tokens *reference);
/* Of one generation; false: there is nothing to compare it with. */
bool reference_tokens_compare(const struct reference_tokens *reference, const int64_t *actual,
                              struct accuracy *accuracy);
/* What tokens are compared in: the share that agrees (top1), and nothing of values. */
void accuracy_of_tokens(struct accuracy *out);
/* A token that differs counts only where the reference's lead, by its largest logit, was more than this: below
   it rounding decides. As the tolerance of max|d|/max|r| in fp32. */
#define GENERATION_LEAD 1e-3

#endif
