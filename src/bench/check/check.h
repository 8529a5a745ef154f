/* check: whether an engine's outputs are correct.
 *
 *   accuracy.c        compares outputs with the reference's, by the tolerance of the precision
 *   condition.c       how far rounding alone moves a model's outputs
 *   steps.c           the precision of a file and the quantisation step of each output
 *   tokens.c          compares generated tokens with the reference's
 *   engine_outputs.c  compares the outputs of two engines
 */
#ifndef HONE_CHECK_H
#define HONE_CHECK_H

#include "bench/backends/backends.h"

#include <jansson.h>

#define BENCH_SETS 4 /* input sets that rotate through the timed loop */

/* How requests arrive; defined in scenario.c. */
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
  /* --rate max: each configuration's first process searches the rate; rate_per_s is 0 */
  bool finds_rate;
  double bound_ms;   /* latency bound; 0: none */
  int prompt, count; /* of generate: tokens given, tokens made */
  char text[32];     /* in the configuration: "multi:2", "server:100/s:15ms", "generate:16+32" */
};
/* How a worker ended that gave no answer. */
struct worker_end {
  enum record_status status;
  enum record_stage stage;
  char reason[1024];
  double rel_l2; /* of wrong outputs; else NaN */
};

/* One model at one batch size: the input of every backend. */
struct bench_case {
  const char *model;  /* as the user wrote it; not owned */
  char path[4096];    /* the file that engines read */
  char hash[33];      /* of the model's bytes and side files */
  const char *shapes; /* of every input, "x[1,3,224,224],..."; "" unknown; in the study's arena */
  /* dynamic dimensions of the file and the sizes used; "" none; in the study's arena */
  const char *open_dimensions;
  int batch;
  int64_t weights_bytes; /* size of the constants; -1: unknown */
  int64_t file_bytes;    /* size of the model and its side files; 0: unknown */
  int64_t kept_inputs;   /* state inputs that the file does not list as inputs */
  struct file_id *sides; /* side files that hone read; in the study's arena */
  size_t side_count;
  size_t contraction_count; /* contractions (matmul, convolution): fusion cannot remove them */
  struct bench_step {
    double flops, bytes; /* bytes: each operand read or written once */
    /* flops with Winograd: a quarter in 3x3 convolutions of stride 1 */
    double winograd_flops;
  } * contractions;    /* in the study's arena */
  double flops, bytes; /* of one inference, sums over the nodes; NaN unknown */
  bool is_described;   /* inputs and outputs are known */
  size_t input_count, output_count;
  struct backend_tensor *inputs, *outputs; /* all arrays are in the study's arena */
  double *steps;                           /* quantisation step per output; 0: none */
  double (*conditions)[2];                 /* per output, see condition.c; NULL: not measured */
  char format[8];                          /* of the file: "onnx", "tflite", "pt2" */
  char tolerance[8];                       /* precision of the file: "fp32"; gives the tolerance */
  char data_dir[4096];                     /* in_SET_I.npy, out_SET_I.npy */
  bool is_held;                            /* data_dir is in the cache; hold_fd is its lock */
  int hold_fd;
  int64_t value_bytes; /* of all inputs and outputs of one set */
  double reference_s;  /* time of the reference; 0: from the cache */
  hone_status refusal; /* E_FORMAT or E_TRUST if neither hone nor an engine reads the file */
  char refusal_reason[256];
  bool is_from_peers; /* hone could not evaluate the model: the reference outputs are an engine's */
  bool is_disputed;   /* engines agree with each other and not with hone's reference */
  char dispute[1024]; /* which engines, and the difference */
  size_t engine_output_count;
  /* how the model generates text (generation.h), if a configuration needs it; NULL: see
     generation_end */
  json_t *generation;
  char generation_dir[4096]; /* has a folder for each scenario: generation_path */
  int64_t quality_tokens;    /* of the text that measures quality; 0: there is none */
  double task_reference;     /* task accuracy of the reference's outputs; NaN: no labels */
  struct worker_end generation_end;
  /* STATUS_ok, or why no backend can be measured: the file does not allow the batch size, or the
     values do not fit in JSON */
  enum record_status status;
  enum record_stage stage;
  char reason[1024];
};

/* -- accuracy.c */
struct accuracy {
  double max_abs_diff, max_rel_diff, rel_l2, cosine, top1; /* worst over the outputs */
  double max_share;                                        /* max|d| / max|r| */
  bool is_within;                                          /* within the tolerance */
  char where[512]; /* the first output that is not, and its figures */
};
/* The same type and shape. */
bool same_form(const hone_tensor *a, const hone_tensor *b);
void accuracy_init(struct accuracy *accuracy);
/* Determines the tolerance of one output. */
struct yardstick {
  const char *precision; /* gives the tolerance */
  double step;           /* quantisation step; 0: not quantised */
  double condition[2];   /* conditioning (condition.c): relative L2, max|d|/max|r|; or 0 */
};
void accuracy_add(struct accuracy *accuracy, const char *name, const hone_tensor *expected,
                  const void *actual, const struct yardstick *yardstick);
/* Largest allowed difference of a float output: relative L2 and max|d|/max|r|. */
void accuracy_tolerance(const struct yardstick *yardstick, double *out_rel_l2, double *out_max_rel);
void accuracy_merge(struct accuracy *into, const struct accuracy *from);

/* -- steps.c */
/* For each output: step of the coarsest quantiser before it, in units of the output; 0: not
   quantised, or unknown. */
MUST_USE hone_status output_steps(struct ctx *ctx, const struct graph *graph, double *out);
/* The precision in which a file computes: "int8" if activations are quantised, "dynamic" if only
   weights are and engines may quantise activations at run time, else the lowest float precision in
   the file. */
const char *file_precision(const struct graph *graph);
/* Precision whose tolerance holds for a run in precision `asked`: the coarser of it and the
   file's. */
const char *judged_precision(const struct graph *graph, const char *asked);
/* The same for a configuration of a study. */
const char *row_precision(const struct bench_case *one, const struct config *config);

/* -- condition.c (in the worker, and for `hone verify`) */
/* How far each output moves if the float inputs move by one unit in the last place, up or down at
   random; without float inputs the float constants move. outputs: of the reference for these
   inputs, which took reference_ns. out: relative L2 and max|d|/max|r| per output; zeros if not
   measured. Graph and inputs are unchanged. */
MUST_USE hone_status condition_measure(struct ctx *ctx, struct graph *graph,
                                       const hone_tensor *inputs, const hone_tensor *outputs,
                                       uint64_t seed, uint64_t reference_ns, double (*out)[2]);
/* -- engine_outputs.c */
/* Paths of the data files of a case. */
void data_path(char out[4096], const char *dir, const char *kind /* "in" | "out" */, int set,
               size_t index);

/* True if two folders have the same outputs (out_SET_I.npy, in the model's order) within the
   tolerance. */
bool engine_outputs_agree(const struct bench_case *one, const char *dir_a, const char *dir_b,
                          const char *precision, struct accuracy *out);
/* -- tokens.c */
struct reference_tokens {
  int64_t *tokens; /* prompt, then the reference's tokens if there is a reference */
  double *leads;   /* margins; NULL: no reference */
  int64_t prompt, count;
  double limit; /* a token with a larger margin must be the same */
};
/* Release `out` also after a failure. */
MUST_USE hone_status reference_tokens_read(struct ctx *ctx, const char *dir, int set,
                                           int64_t prompt, int64_t count, double limit,
                                           struct reference_tokens *out);
void reference_tokens_deinit(struct reference_tokens *reference);
/* Compares one generation; false if there is no reference. */
bool reference_tokens_compare(const struct reference_tokens *reference, const int64_t *actual,
                              struct accuracy *accuracy);
/* Accuracy of tokens: top1 is the share that agrees, max_rel_diff the largest margin of a reference
   token that was missed; other differences of values are NaN. */
void accuracy_of_tokens(struct accuracy *out);
/* Engines round the activations of files with weights in blocks (GGUF) to 8 bits: up to the
   tolerance of int8 such a text is not wrong. It is flagged `departs`. */
#define GENERATION_LEAD_OF_BLOCKS 2e-1
double generation_lead(const char *format);
/* Folder of the prompts and the reference's tokens of that scenario. */
void generation_path(const struct bench_case *one, const struct scenario *scenario, char out[4096]);

#endif
