/* plan: the graph as a list of steps. A step has a kernel, buffer offsets and a split over threads.
 *
 * A value is a view: a buffer, an element offset and one stride per logical dimension. Transpose,
 * Slice, Split, Squeeze, Expand and most Reshapes only make views. Kernels choose the physical
 * order of their output (channels last for images); a copy step is added where a reader needs
 * another order. Every step runs on all threads over its work items, and the next step begins when
 * all items are done; small steps run on one thread. plan_build makes the plan, plan_print prints
 * it, emit_plan turns it into C source.
 */
#ifndef HONE_PLAN_H
#define HONE_PLAN_H

#include "compiler/schedule/schedule.h"
#include "core/ops/ops.h"

enum buffer_place { BUFFER_INPUT, BUFFER_OUTPUT, BUFFER_WEIGHTS, BUFFER_ARENA };

struct buffer {
  enum buffer_place place;
  int index; /* index of the model's input or output */
  size_t bytes;
  size_t offset;  /* in the arena or the weights, 64-byte aligned */
  int first, end; /* steps [first, end) in which an arena buffer lives; -1: none */
  struct buffer
      /* the buffer that it shares memory with (in_place.c, dedup_weights.c); NULL: its own
         memory */
      *over;
  bool is_table; /* weights: a run reads a few of its rows */
  /* weights: raw payload, or what a kernel packs from it */
  const struct tensor *tensor;
  struct choice pack; /* kernel NULL: stored unchanged */
  struct problem problem;
  int64_t pack_offset; /* elements into the tensor */
};

struct view {
  struct buffer *buffer;
  hone_dtype dtype;
  struct shape shape;              /* logical */
  int64_t offset;                  /* elements */
  int64_t stride[HONE_MAX_RANK];   /* elements; 0 where broadcast */
  uint32_t extents[HONE_MAX_RANK]; /* as in struct value; only generic steps know them */
  /* With symbols, shape, strides and offset are those at the bounds. For each step that a symbol
     is below its bound, a dimension shrinks by its slope and the offset by offset_slope.
     Elements past the actual size are undefined: kernels may compute them, fill steps set them.
     NULL: fixed. */
  const struct slope *slope;
  const struct slope *offset_slope; /* NULL: fixed */
};

/* An operand of an epilogue's program or an elementwise loop. */
enum operand_kind {
  OPERAND_FULL,   /* same strides as the output: address o */
  OPERAND_COLUMN, /* one element a column: address j */
  OPERAND_ROW,    /* one element a row of a dense output: address (o - j) / columns */
  OPERAND_SCALAR, /* one element */
  /* broadcast over attention's scores: by its strides, each row begins at o - j */
  OPERAND_BROADCAST
};

/* An elementwise program: operations in order, each on results of earlier ones and on inputs. An
   argument is >= 0, the result of that operation; PROGRAM_RAW, what the kernel computed; or
   PROGRAM_INPUT(k). */
#define PROGRAM_RAW (-1)
#define PROGRAM_INPUT(k) (-2 - (k))
#define PROGRAM_INPUT_INDEX(arg) (-2 - (arg))
struct operation {
  const struct op *op; /* of class ELEMENTWISE; Mean means a division by alpha */
  int arg_count;
  int args[3];
  double alpha, beta;          /* the parameters of that name in unary.def */
  int alpha_input, beta_input; /* the program's input that gives them at run time; 0: none */
  bool c_remainder;            /* Mod: the result has the sign of the dividend */
  bool is_stored_small;        /* stored in memory as a float of less than 32 bits */
  bool is_rounding;            /* a cast to the nearest integer, ties to even; else towards zero */
  /* a cast to an 8-bit integer; the kernel's store clips to its bounds */
  bool is_saturating;
  hone_dtype dtype;     /* of the result */
  const int64_t *table; /* ByteTable: its entries */
};
struct expr {
  size_t input_count, count;
  hone_dtype *inputs; /* their types */
  hone_dtype raw;     /* type of what the kernel computed */
  struct operation *at;
  int result;                  /* an argument; PROGRAM_RAW: no operation */
  bool saturates;              /* values out of range of an 8- or 4-bit float become its largest */
  enum tiny_rounding rounding; /* to f8e8m0 */
};

/* What a kernel applies to its results: the operands of its program, bias first. */
struct epilogue {
  enum { /* column sums of int8 contractions, int32; these operands come before the program's */
         SUMS_NONE,
         SUMS_FIRST, /* accumulators start with operand 0 */
         /* subtract operand 0 times (operand 1, the zero point, + kernel_signed_shift if signed) */
         SUMS_AT_RUN
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
  int alias;                       /* of an output: the input whose state it updates, or -1 */
};

enum step_kind {
  STEP_KERNEL,      /* a row of kernels.def */
  STEP_PACK,        /* packs a run-time operand b for the next kernel step */
  STEP_ELEMENTWISE, /* loops over an expression program */
  STEP_COPY,        /* strided copy with optional constant border */
  STEP_GENERIC,     /* a generic kernel */
  STEP_FILL,        /* sets the elements past the actual size of outputs[0] */
  STEP_SIZES,       /* computes outputs[0] from dynamic sizes */
  STEP_FAIL,        /* ends the run with E_SHAPE */
  /* Brackets: a plan is a tree, written as a list. Steps between IF and ELSE run if inputs[0],
     one bool, is true, those between ELSE and END if it is false. Steps between LOOP and END
     repeat as long as inputs[0] is true when LOOP is reached. All threads take the same branch. */
  STEP_IF,
  STEP_LOOP,
  STEP_ELSE,
  STEP_END
};

struct step {
  enum step_kind kind;
  const struct op *op;    /* op of its node; NULL for a copy between layouts */
  struct place place;     /* place of its node in the model, for messages */
  const char *value;      /* name of its node's first output; NULL for a copy between layouts */
  int64_t units;          /* independent work units */
  bool serial;            /* one thread does all work items */
  int64_t alone_units;    /* also if sizes leave so few of them or fewer; step_share */
  int64_t chunks;         /* into how many parts the work items are cut */
  bool overlaps_previous; /* independent of the previous step: both run at the same time */
  bool in_place;          /* outputs[0] is written over an operand */
  bool at_bounds;         /* loops: over all elements at the symbols' bounds */
  /* Kernels, where sizes shorten the leading dimension: of each `inner` work items, the first
     ((count - slope * less) * part + extra) / whole, rounded up, are active; `less` is how far a
     size is below its bound. inner 0: all items are active. Where the groups of `inner` are
     shortened too, only the first group_count - group_slope * less of them are active. */
  struct active_prefix prefix;
  int64_t prefix_count, group_count;
  const struct slope *prefix_slope, *group_slope; /* NULL: fixed */
  /* kernel, pack: a, b, c; elementwise, generic: inputs and outputs; copy: inputs[0] ->
     outputs[0] */
  size_t input_count, output_count;
  struct view *inputs; /* buffer NULL: operand missing */
  struct view *outputs;
  /* kernel */
  struct problem problem;
  struct choice choice;   /* row, tile, blocks, work items; made once and never recomputed */
  struct buffer *scratch; /* one slice per thread */
  size_t scratch_slice;
  struct epilogue epilogue;
  /* copy: output dims in physical order with the source's stride and border, in elements */
  int copy_rank;
  struct copy_dim {
    int64_t size;          /* of the destination, border included */
    int64_t to, from;      /* strides */
    int64_t before, inner; /* border before, elements taken from the source */
    struct slope slope;    /* of `size` and `inner` */
    /* on that side, the stride is the actual size times the stride of the next dimension */
    bool packed_to, packed_from;
  } * copy;
  /* bits by dimension of the views: inputs and outputs of the model, which the caller stores
     densely at their actual sizes; dimensions that are joined to one */
  unsigned packed_to, packed_from;
  uint64_t fill_bits; /* border element; of STEP_FILL: the value, along dimension fill_axis */
  int fill_axis;
  int64_t fill_count; /* STEP_FILL: elements at most */
  bool fill_repeats;  /* STEP_FILL: the last element within the actual size, not fill_bits */
  /* STEP_SIZES: the elements at the bounds, and the slope of each */
  const struct tensor *size_bounds;
  const struct slope *size_slopes;
  /* elementwise */
  struct expr program;
  /* generic */
  const struct generic_kernel *generic;
  double generic_flops;                /* of its node */
  const struct generic_window *window; /* of a convolution or pool; else NULL */
  size_t attribute_count;
  const struct attribute *attributes;
};

/* An entry of the table of a run that follows from what the caller gives: bound minus slope. */
struct sized_extent {
  uint32_t number;
  int64_t bound;
  struct slope slope;
};

struct plan {
  const char *name; /* name of the graph */
  struct symbols symbols;
  struct schedule schedule;
  size_t input_count, output_count;
  struct port *inputs, *outputs;
  VEC(struct step *) steps;
  VEC(struct buffer *) buffers;
  size_t arena_bytes, weights_bytes;
  size_t table_bytes;                 /* of the weights, at their end: see is_table */
  size_t string_offset, string_bytes; /* of the arena: where new strings are stored */
  size_t extent_count; /* number of sizes known only at run time: a table per run, entry 0 unused */
  VEC(struct sized_extent) sized_extents;
  /* threads that have scratch memory; further threads skip steps that need it */
  int scratch_threads;
  size_t lower_bound_bytes; /* most bytes alive at once: a lower bound for every plan */
};

struct plan_options {
  const struct target *target;
  /* tuned for; any other count gives the same results bit for bit */
  int threads;
  bool generic_only;                  /* only generic kernels */
  const struct choice_table *choices; /* or NULL */
  /* prefer small constants to faster forms that need larger ones */
  bool prefers_size;
  /* matmuls with constant weights in bf16, accumulated in f32 */
  bool bf16;
  bool fp16; /* weights of memory-bound matmuls rounded to f16 */
};
/* Shapes must be inferred. The plan does not use the graph afterwards: it keeps only pointers to
   payload, names and attributes, which must outlive it. */
MUST_USE hone_status plan_build(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                const struct plan_options *options, struct plan **out);
void plan_print(struct strbuf *text, const struct plan *plan);
/* " Add(raw, @0) Relu($0)": @k is input k, $k the result of operation k. */
void operations_print(struct strbuf *text, const struct operation *operations, size_t count);
/* "gemm_f32", "elementwise", "copy", "plain" (a generic kernel), ... */
const char *step_kind_name(const struct step *step);
/* -- program.c */
/* True if the program can run on vectors: floats, int32 (a few operations), and Casts between
   them and int8, which vectors hold as int32. Only clipped floats may become int8. */
bool program_is_vector(const struct expr *program);
bool is_vector_type(hone_dtype dtype);                /* f32, i32, 8-bit integers */
hone_dtype program_dtype(const struct expr *program); /* of its result */

/* -- work.c: the least work of a step */
struct work {
  double flops; /* of the direct algorithm; a multiply-add counts 2 */
  /* of the step's own algorithm (Winograd multiplies less), without stored_flops */
  double algorithm_flops;
  double stored_flops; /* of elementwise operations on the results, in floats or int32 */
  double weight_bytes, value_bytes; /* constants, and all other bytes: each read and written once */
  hone_dtype dtype;                 /* type of the multiplications, which selects the peak */
};
void step_work(const struct step *step, struct work *out);
/* Of an elementwise operator, per element. */
double op_flops(const struct op *op);

/* -- view.c: pure functions on views */
void view_dense(struct view *view, struct buffer *buffer, hone_dtype dtype,
                const struct shape *shape);
bool view_is_open(const struct view *view); /* has data-dependent sizes */
/* Of dimension d; zeros where it is fixed. */
struct slope view_slope(const struct view *view, int d);
bool view_is_dense(const struct view *view); /* logical row-major; dimensions of 1 do not matter */
/* Dense in its physical order: a new tensor with its strides has no holes. */
bool view_is_packed(const struct view *view);
/* [n, spatial..., c] dense, for rank >= 3 */
bool view_is_channels_last(const struct view *view);
/* Channels innermost and contiguous, dense or a part of a larger tensor; false if the logical
   order is the same. */
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
enum { STRING_BYTES = 16 };           /* sizeof struct hone_text in an artifact */
size_t dtype_bytes(hone_dtype dtype); /* 0 for types below a byte, which are packed */
/* The type that a value is computed in: f32 for floats below 32 bits, int8 for integers below 8
   bits. */
/* Of a dense tensor whose element count was checked. */
size_t dense_bytes(hone_dtype dtype, int64_t elements);

/* -- loops.c: the loop nest of an elementwise step, read by plan and source */
enum { LOOP_OPERANDS = 32 };
struct loop_nest {
  int rank;
  int64_t size[HONE_MAX_RANK];
  struct slope slope[HONE_MAX_RANK];
  int64_t out_stride[HONE_MAX_RANK];
  int64_t stride[LOOP_OPERANDS][HONE_MAX_RANK]; /* per input */
  int inner;     /* innermost dimensions that a work item loops over: 0 (a chunk of one), 1 or 2 */
  int64_t chunk; /* elements of a work item when inner is 0 */
  int64_t units;
};
/* Dimensions in the output's physical order, merged as far as all operands allow. */
void plan_loops(const struct step *step, struct loop_nest *out);
/* The same rule for a copy step: its inner loops, chunk and work items. */
void plan_copy_loops(const struct step *step, int *out_inner, int64_t *out_chunk,
                     int64_t *out_units);
/* Of a copy that reads along one dimension and writes along its last one: the dimension that it
   reads along; else -1. Its work items are blocks of that dimension (so that reads and writes
   are whole cache lines) times parts of the last one (so that there are enough items). Fixed
   sizes, no borders. */
enum { TRANSPOSED_BLOCK = 16, TRANSPOSED_PART = 512, TRANSPOSED_LEAST = 4 };
int plan_transposition(const struct step *step);
/* Of STEP_FILL: the dimension along which a work item writes neighbouring elements; -1: none. */
int plan_fill_lines(const struct step *step);
int64_t plan_transposed_blocks(const struct copy_dim *dim, int64_t size);
int64_t plan_copy_units(const struct step *step);

void set_chunks(
    struct plan *plan); /* steps.c: into how many parts the work items of steps are cut */

/* -- lifetimes.c, in_place.c, memory.c */
void find_tables(struct plan *plan);    /* sets buffer.is_table; after dedup_weights */
void join_steps(struct plan *plan);     /* concurrent.c */
void set_lifetimes(struct plan *plan);  /* also sizes scratch for plan->scratch_threads */
bool write_in_place(struct plan *plan); /* true if any step is; lifetimes must be set */
void undo_in_place(struct plan *plan);  /* undoes write_in_place */
/* Stores equal weights once (buffer->over); lifetimes must be set. */
MUST_USE hone_status dedup_weights(struct ctx *ctx, struct arena *arena, struct plan *plan);
/* True if two weight buffers hold the same bytes, on targets with the same vector width. */
bool buffers_equal(const struct buffer *a, const struct buffer *b);
/* Sets the offset of every buffer, from lifetimes alone. */
MUST_USE hone_status plan_memory(struct ctx *ctx, struct arena *arena, struct plan *plan);
#endif
