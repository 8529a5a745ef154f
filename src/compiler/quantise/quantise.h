/* quantise: a float graph and samples of its inputs in, a graph of fewer bits out, written as ONNX that other
 * engines read as well: QuantizeLinear and DequantizeLinear pairs around what shall be computed in bytes (QDQ), or
 * weights in 16 or 4 bits.
 *
 *   prepare.c   the float graph in the form that is quantised: constants and batch norms folded
 *   execute.c   a graph compiled and run on a sample
 *   sites.c     which nodes become bytes, and so which values need a scale
 *   observe.c   what these values are on the samples: range, histogram, means by channel
 *   range.c     scale and zero point from a histogram
 *   equalise.c  weights of neighbours balanced by channel
 *   insert.c    the quantised graph
 *   search.c    which of all this is right for this model: by the error at its outputs
 *   labels.c    samples whose class is known: how many are right
 *   weights.c   16-bit and 4-bit weights
 *
 * Affine quantisation as in B. Jacob et al., CVPR 2018: x = scale * (q - zero); activations u8 with one scale a
 * tensor, weights i8, symmetric, one scale an output channel, biases i32 in steps of both.
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
  const struct compile_options *compile; /* how graphs are run here */
  const struct samples *samples;
  const struct recipe *recipe; /* NULL: the one with the smallest error */
  double max_error;            /* relative L2 at the outputs; 0: no bound */
  double min_agreement; /* share of rows whose largest output stays the largest; 0: no bound */
  void (*progress)(void *user, const char *what, size_t step, size_t steps); /* or NULL */
  void *user;
};

/* Of a quantised graph's outputs against the float graph's. */
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
  struct quantise_error calibration; /* on the samples that gave the ranges */
  /* on every fifth sample, kept apart where there are ten; samples 0: none */
  struct quantise_error held_out;
  VEC(struct kept_float {
    const char *name;
    double error; /* relative L2 at the outputs when this product alone is in bytes */
  })
  kept; /* products that stay in float for the sake of a bound, worst first */
};

/* E_USAGE: no samples, or nothing that can be quantised. E_ACCURACY: a bound that cannot be held even with all
   products in float but one. The result lives in `arena`, its constants may point into `graph`. */
MUST_USE hone_status quantise_int8(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                   const struct quantise_options *options, struct graph **out,
                                   struct quantise_report *out_report);

/* labels.c: lines "FOLDER LABEL" by the names of the samples' folders; -1 where a sample has none. E_FORMAT. */
MUST_USE hone_status labels_read(struct ctx *ctx, const char *path, const char *const *folders,
                                 size_t count, int64_t *out);
/* Of the labelled samples, how many have their largest element of the first output at the label. */
MUST_USE hone_status labels_count(struct ctx *ctx, const struct graph *graph,
                                  const struct compile_options *options,
                                  const struct samples *samples, const int64_t *labels,
                                  size_t *out_right, size_t *out_labelled);

/* agree.c: the samples and the float model's outputs as a labelled set in the folder `dir`, which is made: sNNN/in_I.npy,
   .expected/sNNN/out_I.npy, labels.json with the metric agreement. E_UNSUP: outputs of text. */
MUST_USE hone_status agreement_set_write(struct ctx *ctx, struct arena *arena,
                                         const struct graph *graph,
                                         const struct compile_options *options,
                                         const struct samples *samples, const char *dir);

/* What the others begin with: constants and batch norms folded, everything in f32. */
MUST_USE hone_status quantise_nothing(struct ctx *ctx, struct arena *arena,
                                      const struct graph *graph, struct graph **out);
/* Weights alone: f32 constants of at least `least` elements in `to` (F16 or BF16) behind a Cast. */
MUST_USE hone_status quantise_weights_16(struct ctx *ctx, struct arena *arena,
                                         const struct graph *graph, hone_dtype to,
                                         struct graph **out, size_t *out_count);
/* MatMul and Gemm with constant weights [k, n] as com.microsoft MatMulNBits: 4 bits, a scale and a zero point for
   each `block` (16, 32, 64, ...) elements along k. */
MUST_USE hone_status quantise_weights_4(struct ctx *ctx, struct arena *arena,
                                        const struct graph *graph, int64_t block,
                                        struct graph **out, size_t *out_count);
#endif
