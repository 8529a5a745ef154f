/* Internal to quantise. */
#ifndef HONE_QUANTISE_INTERNAL_H
#define HONE_QUANTISE_INTERNAL_H

#include "compiler/run/run.h"
#include "quantise.h"

/* -- half_precision.c: f16 and bf16 become f32, except the types of inputs and outputs. */
MUST_USE hone_status widen_halves(struct ctx *ctx, struct graph *graph);
/* -- prepare.c: a copy in `arena` in f32, with constants, identities and batch norms folded. */
MUST_USE hone_status prepare(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                             struct graph **out);

/* -- execute.c */
struct executor {
  struct ctx *ctx;
  struct arena *arena;
  size_t input_count, output_count;
  struct loaded loaded;
  struct team *team;
  void **outputs; /* dense, in the graph's order */
};
MUST_USE hone_status executor_open(struct ctx *ctx, const struct graph *graph,
                                   const struct compile_options *options, struct executor *out);
MUST_USE hone_status executor_run(struct executor *executor, const hone_tensor *inputs);
void executor_close(struct executor *executor); /* also one that failed to open */

/* -- sites.c */
enum role {
  ROLE_NONE,    /* stays in float */
  ROLE_PRODUCT, /* Conv, Gemm, MatMul with constant weights */
  ROLE_SAME,    /* int8 input, output with the same scale: moves and maxima */
  ROLE_OWN      /* int8 input, output with its own scale */
};
struct site {
  enum role role;     /* what the operator allows */
  bool is_kept_float; /* must not be quantised */
  bool is_quantised;  /* decided by sites_decide */
};
/* A value that becomes int8, by index. */
struct scaled {
  /* a quantised node reads it: QuantizeLinear and DequantizeLinear follow it */
  bool is_wanted;
  bool is_observed;          /* may become wanted, or provides the scale of a wanted one */
  size_t root;               /* the value whose range it shares; usually itself */
  bool spares_float_readers; /* made in float: float readers read the float value */
  double low, high;          /* of the samples */
  double zeros;              /* number of zeros */
  double *bins;              /* RANGE_BINS between low and high, without zeros */
  double *means;             /* per channel, of the input of a Conv, Gemm or MatMul */
  size_t mean_count;         /* 0: not needed */
  int mean_axis;
  double scale, zero; /* x = scale * (q - zero), q in 0..255 */
};
struct sites {
  const struct graph *graph;
  struct site *nodes;    /* by position in graph->nodes */
  struct scaled *values; /* by value index */
  /* by value index: single reader and not a graph output; scratch of sites_decide */
  bool *single, *useful, *bytes;
};
enum { RANGE_BINS = 2048 };
MUST_USE hone_status sites_find(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                struct sites *out);
/* Decides which nodes are quantised, from the roles and the nodes kept in float. */
void sites_decide(struct sites *sites);
/* Output and input channels in the weights: element i has output channel i / per_output %
   outputs and, within its group, input channel i / per_input % inputs. */
struct weight_layout {
  size_t outputs, per_output, inputs, per_input;
  /* of convolutions; output channel c reads input channels from c / (outputs / groups) * inputs */
  size_t groups;
  int axis;         /* of the output channel, for DequantizeLinear */
  int channel_axis; /* of the input channel in x */
};
void weight_layout(const struct node *product, struct weight_layout *out);
static inline size_t weight_output(const struct weight_layout *l, size_t i) {
  return i / l->per_output % l->outputs;
}
/* The input channel of x that element i is multiplied with. */
static inline size_t weight_input(const struct weight_layout *l, size_t i) {
  return i / l->per_input % l->inputs + weight_output(l, i) / (l->outputs / l->groups) * l->inputs;
}

/* -- observe.c: ranges and histograms of the observed values over the calibration samples, and
   the float graph's outputs for every sample. */
struct observed {
  size_t sample_count;
  void ***outputs; /* [sample][output], dense */
};
bool is_held_out(const struct quantise_options *options, size_t sample);
MUST_USE hone_status observe(struct ctx *ctx, struct arena *arena, struct sites *sites,
                             const struct quantise_options *options, struct observed *out);

/* -- range.c: scale and zero point of every observed value. */
void ranges_choose(struct sites *sites, enum range_method method);

/* -- equalise.c: changes the graph's weights, not its function. */
MUST_USE hone_status equalise(struct ctx *ctx, struct graph *graph, size_t *out_pairs);

/* -- insert.c */
MUST_USE hone_status insert(struct ctx *ctx, struct arena *arena, const struct sites *sites,
                            const struct recipe *recipe, struct graph **out);

/* -- error.c */
/* On the calibration samples, or on the held-out ones. */
MUST_USE hone_status measure(struct ctx *ctx, const struct graph *graph,
                             const struct quantise_options *options,
                             const struct observed *expected, bool held_out,
                             struct quantise_error *out);
#endif
