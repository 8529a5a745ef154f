/* plan: the graph as a list of steps: which kernel, which buffer offset, which thread split.
 *
 * A value is a view: a buffer, an element offset and one stride per logical dimension. Transpose,
 * Slice, Split, Squeeze, Expand and most Reshapes only make views; kernels choose the physical order
 * of what they write (images channels-last); where a reader needs another order, a copy step stands.
 * Every step runs on all threads over its units, and the next begins when all are done; small steps
 * run on one thread. plan_build fills it, plan_print shows it, emit reads it.
 */
#ifndef HONE_PLAN_H
#define HONE_PLAN_H

#include "compiler/kernels/kernels.h"
#include "core/machine/machine.h"
#include "core/ops/ops.h"

enum buffer_place { BUFFER_INPUT, BUFFER_OUTPUT, BUFFER_WEIGHTS, BUFFER_ARENA };

struct buffer {
  enum buffer_place place;
  int index; /* of the model's input or output */
  size_t bytes;
  size_t offset;  /* in the arena or the weights, 64-byte aligned */
  int first, end; /* steps [first, end) in which an arena buffer lives; -1: none */
  struct buffer
      *over; /* in whose place it lies, in_place.c and dedup_weights.c; NULL: in its own */
  /* weights: raw payload, or what a kernel packs from it */
  const struct tensor *tensor;
  struct choice pack; /* kernel NULL: as it is */
  struct problem problem;
  int64_t pack_offset; /* elements into the tensor */
};

struct view {
  struct buffer *buffer;
  hone_dtype dtype;
  struct shape shape;              /* logical */
  int64_t offset;                  /* elements */
  int64_t stride[HONE_MAX_RANK];   /* elements; 0 where broadcast */
  uint32_t extents[HONE_MAX_RANK]; /* as in struct value; known to plain steps only */
  /* Where the plan has symbols: shape, strides and offset are those at their bounds, and for each step that
     one is below, a dimension is shorter by its slope and the offset smaller by offset_slope. What lies
     behind the shorter dimension is nobody's: kernels may compute it, fill steps set it. NULL: fixed. */
  const struct slope *slope;
  struct slope offset_slope;
};

/* An operand of an epilogue's program or an elementwise loop. */
enum operand_kind {
  OPERAND_FULL,     /* same strides as the output: address o */
  OPERAND_COLUMN,   /* one element a column: address j */
  OPERAND_ROW,      /* one element a row of a dense output: address (o - j) / columns */
  OPERAND_SCALAR,   /* one element */
  OPERAND_BROADCAST /* of attention's scores: by its strides, each line's beginning from o - j */
};

/* An elementwise program: operations in order, each on results of earlier ones and on inputs. An arg
   is >= 0, the result of that operation; PROGRAM_RAW, what the kernel computed; or PROGRAM_INPUT(k). */
#define PROGRAM_RAW (-1)
#define PROGRAM_INPUT(k) (-2 - (k))
#define PROGRAM_INPUT_INDEX(arg) (-2 - (arg))
struct operation {
  const struct op *op; /* of class ELEMENTWISE; Mean stands for a division by alpha */
  int arg_count;
  int args[3];
  double alpha, beta;          /* the parameters named so in unary.def */
  int alpha_input, beta_input; /* the program's input that gives them at run time; 0: none */
  bool c_remainder;            /* Mod: with the sign of the dividend */
  bool is_stored_small;        /* a float of less than 32 bits in memory */
  bool is_rounding;            /* a cast to the nearest integer, ties to even; else towards zero */
  bool is_saturating;          /* a cast to a byte, whose bounds the store of a kernel keeps */
  hone_dtype dtype;            /* of the result */
  const int64_t *table;        /* ByteTable: its entries */
};
struct expr {
  size_t input_count, count;
  hone_dtype *inputs; /* their types */
  hone_dtype raw;     /* of what the kernel computed */
  struct operation *at;
  int result;                  /* an arg; PROGRAM_RAW: nothing to do */
  bool saturates;              /* what a float of 8 or 4 bits cannot hold becomes its largest */
  enum tiny_rounding rounding; /* to f8e8m0 */
};

/* What a kernel applies to its results: the operands of its program, bias first. */
struct epilogue {
  enum { /* of contractions of bytes, int32, one a column; operands in front of the program's */
         SUMS_NONE,
         SUMS_FIRST, /* they begin with operand 0 */
         SUMS_AT_RUN /* operand 0 times (operand 1, the zero point, + kernel_signed_shift if signed) is
                       taken off */
  } sums;
  size_t count;
  struct view *operands;
  enum operand_kind *kinds;
  struct expr program;
};

/* An input or output of the model. */
struct port {
  const char *name;
  hone_dtype dtype;
  struct shape shape;
  uint32_t extents[HONE_MAX_RANK]; /* as in struct value */
  const struct slope *slope;       /* NULL: fixed */
  int alias;                       /* of an output: the input whose state it is, or -1 */
};

enum step_kind {
  STEP_KERNEL,      /* a row of kernels.def */
  STEP_PACK,        /* packs a run-time b for the next kernel step */
  STEP_ELEMENTWISE, /* loops over an expression program */
  STEP_COPY,        /* strided copy with optional constant border */
  STEP_GENERIC,     /* a plain kernel */
  STEP_FILL,        /* sets what lies behind the open dimension of outputs[0] */
  STEP_FAIL,        /* ends the run with E_SHAPE */
  /* Brackets: a plan is a tree, written as a list. Steps between IF and ELSE run where inputs[0], one
     bool, is true, those between ELSE and END where not; those between LOOP and END as often as inputs[0] is
     true when LOOP is reached. All threads decide alike. */
  STEP_IF,
  STEP_LOOP,
  STEP_ELSE,
  STEP_END
};

struct step {
  enum step_kind kind;
  const struct op *op;    /* of the node it comes from; NULL for a copy between layouts */
  struct place place;     /* of that node, for messages */
  const char *value;      /* that node's first output, by name; NULL for a copy between layouts */
  int64_t units;          /* independent work units */
  bool serial;            /* one thread does all units */
  int64_t chunks;         /* how many parts of the units are worth taking one by one; chunks.c */
  bool overlaps_previous; /* independent of the step before: both run at the same time */
  bool in_place;          /* outputs[0] is written over an operand */
  bool at_bounds;         /* loops: over all elements at the symbols' bounds */
  /* Kernels, where symbols shorten the leading dimension: of each `inner` units those from 0 to
     (count - slope * less) * part / whole, rounded up, do what is there. inner 0: all units run. Of the groups of
     `inner` the first group_count - group_slope * less, where these are shortened, too. */
  struct lead lead;
  int64_t lead_count, group_count;
  struct slope lead_slope, group_slope;
  /* kernel, pack: a, b, c; elementwise, plain: inputs and outputs; copy: inputs[0] -> outputs[0] */
  size_t input_count, output_count;
  struct view *inputs; /* buffer NULL: operand missing */
  struct view *outputs;
  /* kernel */
  struct problem problem;
  struct choice choice;   /* how: the row, tile, blocks, units; made once, for every later use */
  struct buffer *scratch; /* one slice a thread */
  size_t scratch_slice;
  struct epilogue epilogue;
  /* copy: output dims in physical order with the source's stride and border, in elements */
  int copy_rank;
  struct copy_dim {
    int64_t size;          /* of the destination, border included */
    int64_t to, from;      /* strides */
    int64_t before, inner; /* border before, elements taken from the source */
    struct slope slope;    /* of size and inner */
  } copy[2 * HONE_MAX_RANK];
  /* A copy of an open input or output: dense at its actual size. Its strides are the products of the
     sizes behind. */
  enum compact_side { COMPACT_NEITHER, COMPACT_FROM, COMPACT_TO } compact_io;
  uint64_t fill_bits; /* border element; of STEP_FILL, which fills along dimension fill_axis */
  int fill_axis;
  /* elementwise */
  struct expr program;
  /* plain */
  const struct generic_kernel *plain;
  double generic_flops;                /* of the node */
  const struct generic_window *window; /* of a convolution or pool; else NULL */
  size_t attribute_count;
  const struct attribute *attributes;
};

struct plan {
  const char *name; /* of the graph */
  struct symbols symbols;
  struct target target;
  struct kernel_target kernel_target;
  size_t input_count, output_count;
  struct port *inputs, *outputs;
  VEC(struct step *) steps;
  VEC(struct buffer *) buffers;
  size_t arena_bytes, weights_bytes;
  size_t text_offset, text_bytes; /* of the arena: where new text goes */
  size_t extent_count; /* sizes known only at run time: a table of the run, entry 0 unused */
  int scratch_threads; /* threads that get scratch memory; further ones rest in steps that need it */
  size_t lower_bound_bytes; /* most bytes alive at once: no plan needs less */
};

/* Choices from outside (a tuner, a file): what stands here is taken where it fits the target. */
struct choice_table {
  VEC(struct choice_entry {
    struct problem problem;
    struct choice choice;
  })
  entries;
};

struct plan_options {
  const struct target *target;
  int threads;                        /* tuned for; any other count gives the same bits */
  bool plain;                         /* only plain kernels */
  const struct choice_table *choices; /* or NULL */
  bool prefers_size;                  /* small constants, where faster ways need larger ones */
  bool bf16;                          /* products with constant weights in bf16, sums in f32 */
  bool fp16;                          /* weights that a product waits for rounded to f16 */
};
/* The graph must be inferred. The plan stands alone: of the graph it keeps only pointers to payload,
   names and attributes, which must outlive it. */
MUST_USE hone_status plan_build(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                const struct plan_options *options, struct plan **out);
void plan_print(struct strbuf *text, const struct plan *plan);
/* " Add(raw, @0) Relu($0)": @k is input k, $k the result of operation k. */
void operations_print(struct strbuf *text, const struct operation *operations, size_t count);
/* "gemm_f32", "elementwise", "copy", "plain", ... */
const char *step_kind_name(const struct step *step);
/* Lines "PROBLEM -> CHOICE", as plan_print shows them; blank lines and lines from # are skipped.
   E_USAGE with the number of a line that is malformed or names no row. */
MUST_USE hone_status choices_parse(struct ctx *ctx, struct arena *arena, struct place place,
                                   const char *text, size_t length, struct choice_table *out);
/* NULL: the table says nothing of it. */
const struct choice *choices_find(const struct choice_table *table, const struct problem *problem);
void kernel_target_init(struct kernel_target *out, const struct target *target, int threads);

/* -- program.c */
/* Whether it can be done on vectors: of floats, of int32 (a few operations), with Casts between them
   and bytes, which a vector holds as int32; of floats only clipped ones become bytes. */
bool program_is_vector(const struct expr *program);
bool is_vector_type(hone_dtype dtype);                /* f32, i32, bytes */
hone_dtype program_dtype(const struct expr *program); /* of its result */

/* -- work.c: what a step has to do, at least */
struct work {
  double flops;           /* by the direct algorithm; a multiply-add counts 2 */
  double algorithm_flops; /* by the step's own: Winograd's products are fewer; less stored_flops */
  double stored_flops;    /* of what is done elementwise to the results, in floats or int32 */
  double weight_bytes, value_bytes; /* constants, and all else: read and written once */
  hone_dtype dtype;                 /* of the products: whose peak holds */
};
void step_work(const struct step *step, struct work *out);

/* -- view.c: pure functions on views */
void view_dense(struct view *view, struct buffer *buffer, hone_dtype dtype,
                const struct shape *shape);
bool view_is_open(const struct view *view); /* has sizes that data decide */
/* Of dimension d; zeros where it is fixed. */
struct slope view_slope(const struct view *view, int d);
bool view_is_dense(const struct view *view); /* logical row-major; dimensions of 1 do not matter */
/* Contiguous in its own order: another tensor of its strides has no holes. */
bool view_is_packed(const struct view *view);
/* [n, spatial..., c] dense, for rank >= 3 */
bool view_is_channels_last(const struct view *view);
/* In that order, dense or a part of something larger, and not in the order of its dimensions as well. */
bool view_runs_channels_last(const struct view *view);
void view_channels_last(struct view *view, struct buffer *buffer, hone_dtype dtype,
                        const struct shape *shape);
/* The same elements under another shape without moving them; false if impossible. */
MUST_USE bool view_reshape(const struct view *view, const struct shape *shape, struct view *out);
/* Broadcast to `shape` with stride 0; shapes must fit. */
void view_broadcast(const struct view *view, const struct shape *shape, struct view *out);
bool view_same_strides(const struct view *a, const struct view *b);
/* Logical dimensions from outermost to innermost in memory; ties keep logical order. */
void view_order(const struct view *view, int order[HONE_MAX_RANK]);
enum { STRING_BYTES = 16 };           /* struct hone_text of an artifact */
size_t dtype_bytes(hone_dtype dtype); /* 0 below a byte: packed */
/* What a value is computed in: f32 for floats below 32 bits, bytes for integers below 8. */
hone_dtype compute_dtype(hone_dtype dtype);
/* Of a dense tensor, whose extent was checked. */
size_t dense_bytes(hone_dtype dtype, int64_t elements);

/* -- loops.c: the loop nest of an elementwise step, read by plan and emit */
enum { LOOP_OPERANDS = 32 };
struct loop_nest {
  int rank;
  int64_t size[HONE_MAX_RANK];
  struct slope slope[HONE_MAX_RANK];
  int64_t out_stride[HONE_MAX_RANK];
  int64_t stride[LOOP_OPERANDS][HONE_MAX_RANK]; /* by input */
  int inner;     /* how many innermost dimensions a unit loops over: 0 (a chunk of one), 1 or 2 */
  int64_t chunk; /* elements of a unit when inner is 0 */
  int64_t units;
};
/* Dimensions in the output's physical order, merged as far as all operands allow. */
void plan_loops(const struct step *step, struct loop_nest *out);
/* inner and units of a copy step's loops, by the same rule. */
void plan_copy_loops(const struct step *step, int *out_inner, int64_t *out_chunk,
                     int64_t *out_units);
/* A copy that reads along one dimension and writes along another, its last: the one it reads along, else -1. Its units
   are blocks of that dimension, so that what is read and what is written are whole lines, and parts of the other, so
   that there are enough to share. Of closed sizes, no borders. */
enum { TRANSPOSED_BLOCK = 16, TRANSPOSED_PART = 512, TRANSPOSED_LEAST = 4 };
int plan_transposition(const struct step *step);
int64_t plan_transposed_blocks(const struct copy_dim *dim, int64_t size);
int64_t plan_copy_units(const struct step *step);

/* -- chunks.c: into how many parts the units of a step may be cut for the threads to take */
void set_chunks(struct plan *plan);

/* -- lifetimes.c, in_place.c, memory.c */
void set_lifetimes(struct plan *plan);  /* and the size of scratch for plan->scratch_threads */
bool write_in_place(struct plan *plan); /* whether any step is; lifetimes must be set */
void write_apart(struct plan *plan);    /* takes that back */
/* Weights that lie in the same place as others, buffer->over; lifetimes must be set. */
MUST_USE hone_status share_weights(struct ctx *ctx, struct arena *arena, struct plan *plan);
/* Whether two buffers of weights hold the same bytes, on targets of one width of vectors. */
bool buffers_alike(const struct buffer *a, const struct buffer *b);
/* Places of all buffers, from their lives alone. */
MUST_USE hone_status plan_memory(struct ctx *ctx, struct arena *arena, struct plan *plan);
#endif
