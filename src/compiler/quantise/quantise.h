/* quantise: from a float graph and samples of its inputs to a graph with fewer bits, written as
 * ONNX that other engines read as well: QuantizeLinear and DequantizeLinear pairs around int8
 * computations (QDQ), or weights in 16 or 4 bits.
 *
 * prepare.c   folds constants and batch norms of the float graph
 * execute.c   compiles a graph and runs it on a sample
 * sites.c     selects the nodes that become int8, and so the values that need a scale
 * observe.c   ranges, histograms and channel means of these values over the samples
 * range.c     scale and zero point from a histogram
 * equalise.c  balances the weights of adjacent layers per channel
 * insert.c    builds the quantised graph
 * search.c    chooses the recipe for the model by the error at its outputs
 * labels.c    counts correct samples if labels are given
 * weights.c   16-bit and 4-bit weights
 *
 * Affine quantisation as in B. Jacob et al., CVPR 2018: x = scale * (q - zero); activations u8 with
 * one scale per tensor, weights i8, symmetric, one scale per output channel, biases i32 in steps of
 * both.
 */
#ifndef HONE_QUANTISE_H
#define HONE_QUANTISE_H

#include "compiler/pipeline/pipeline.h"
#include "compiler/export/export.h"

/* Input sets: at[s][i] is input i of the graph, dense. */
struct samples {
  size_t count;
  hone_tensor *const *at;
};

enum range_method { RANGE_MINMAX, RANGE_PERCENTILE, RANGE_MSE, RANGE_METHOD_COUNT };
extern const char *const range_method_names[RANGE_METHOD_COUNT]; /* "minmax", "percentile", "mse" */

/* One way to quantise a model. */
struct recipe {
  enum range_method range;
  bool equalises, corrects_bias;
};

struct quantise_options {
  const struct compile_options *compile; /* how graphs are run for calibration */
  const struct samples *samples;
  const struct recipe *recipe; /* NULL: the one with the smallest error */
  double max_error;            /* relative L2 at the outputs; 0: no bound */
  double min_agreement;        /* share of rows whose largest output stays the same; 0: no bound */
  void (*progress)(void *user, const char *what, size_t step, size_t steps); /* or NULL */
  void *user;
};

/* Of a quantised graph's outputs, compared with the float graph's. */
struct quantise_error {
  double relative_l2, cosine;
  /* share of rows with the same largest output; NaN: no output has rows of several elements */
  double agreement;
  size_t samples;
};

struct quantise_report {
  struct recipe recipe;
  size_t products, quantised_products; /* Conv, Gemm and MatMul with constant weights */
  size_t recipes_tried;
  struct quantise_error calibration; /* on the calibration samples */
  /* on every fifth sample, held out if there are at least ten; samples 0: none */
  struct quantise_error held_out;
  VEC(struct kept_float {
    const char *name;
    double error; /* relative L2 at the outputs if only this node is int8 */
  })
  kept; /* nodes that stay in float to meet a bound, worst first */
};

/* E_USAGE: no samples, or nothing to quantise. E_ACCURACY: a bound that cannot be met even with
   a single int8 node. The result lives in `arena`; its constants may point into `graph`. */
MUST_USE hone_status quantise_int8(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                   const struct quantise_options *options, struct graph **out,
                                   struct quantise_report *out_report);

/* labels.c: lines "FOLDER LABEL" by the names of the samples' folders; -1 for a sample without
   one. E_FORMAT. */
MUST_USE hone_status labels_read(struct ctx *ctx, const char *path, const char *const *folders,
                                 size_t count, int64_t *out);
/* The number of labelled samples whose largest element of the first output is at the label. */
MUST_USE hone_status labels_count(struct ctx *ctx, const struct graph *graph,
                                  const struct compile_options *options,
                                  const struct samples *samples, const int64_t *labels,
                                  size_t *out_right, size_t *out_labelled);

/* agree.c: writes the samples and the float model's outputs as a labelled set to the new folder
   `dir`: sNNN/in_I.npy, .expected/sNNN/out_I.npy, labels.json with the metric agreement.
   E_UNSUP: string outputs. */
MUST_USE hone_status agreement_set_write(struct ctx *ctx, struct arena *arena,
                                         const struct graph *graph,
                                         const struct compile_options *options,
                                         const struct samples *samples, const char *dir);

/* The baseline: constants and batch norms folded, everything in f32. */
MUST_USE hone_status quantise_nothing(struct ctx *ctx, struct arena *arena,
                                      const struct graph *graph, struct graph **out);
/* Weights only: f32 constants of at least `least` elements are stored in `to` (F16 or BF16),
   followed by a Cast. */
MUST_USE hone_status quantise_weights_16(struct ctx *ctx, struct arena *arena,
                                         const struct graph *graph, hone_dtype to,
                                         struct graph **out, size_t *out_count);
/* MatMul and Gemm with constant weights [k, n] as com.microsoft MatMulNBits: 4 bits, with a
   scale and a zero point per `block` (16, 32, 64, ...) elements along k. */
MUST_USE hone_status quantise_weights_4(struct ctx *ctx, struct arena *arena,
                                        const struct graph *graph, int64_t block,
                                        struct graph **out, size_t *out_count);
#endif
