/* kernels: how a step is computed fast. A row of kernels.def names a C source, the problems that it
 * accepts and how it packs constants. The source is written once over a vector width and constant
 * tile sizes. The source generator defines the macros below around it and removes the code that
 * they rule out (compiler/source/preprocess.h, prune.h); the tests compile it whole. This room
 * depends only on libc.
 *
 * Macros of a kernel source, defined before it and undefined after it:
 *   NAME                      the function to define, not static (work items call each other);
 *                             one per distinct problem
 *   each number of its kind   upper case: M, N, K, A_ROW, ... as integer literals (numbers.def)
 *   each define of defines()  VECTORS, TILE_COLUMNS, ...: the choice, and what follows from it
 *   EPILOGUE(x, o, j, lanes)  the value to store for the accumulator vector x: o = element offset
 *                             of x in the output, j = its column (channel), lanes = valid lanes
 *                             (LANES or fewer); e, the operands, must be in scope
 *   HAS_EPILOGUE              0 or 1
 *   SATURATES                 1: integers are clipped when stored as int8; 0: truncated
 * A pack_source gets the same numbers and defines. c may not overlap the operands of the epilogue,
 * nor a (softmax, layernorm: a may be c). e[0] of layernorm is its bias. A source may also use the
 * definitions of kernel_helpers, simd.h first: each translation unit contains those that it uses.
 *
 * A choice says how a problem is solved: a row, and a value for each of the row's choice names
 * (tile, blocks, work items, algorithm). kernel_choose or a tuner makes it once; it is stored with
 * the step, and no other code searches for a tiling. It prints as
 * "gemm_f32 vectors2 tile_columns14 ..." and parses back.
 */
#ifndef HONE_KERNELS_H
#define HONE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What kernels need to know about the target. */
struct kernel_target {
  int vector_bytes;     /* 16, 32, 64 */
  int vector_registers; /* 16 or 32 */
  size_t l1_bytes, l2_bytes;
  uint32_t features; /* enum cpu_feature of machine.h */
  int threads;       /* the count the plan is tuned for; any other count gives the same bits */
  /* no packed weights larger than the originals, except for padding to whole panels */
  bool prefers_size;
  size_t l1_way_bytes; /* addresses at this distance share a set of L1 */
  /* Speeds of one core in its own cycles, for predictions only: struct speeds of machine.h. */
  double clock_ghz;
  double f32_macs, bf16_macs, i8_macs; /* peak multiply-adds per cycle, by element type */
  double fma_latency;                  /* cycles until the result of a multiply-add can be used */
  double loads;                        /* vector loads per cycle */
  double l2_bytes_per_cycle, memory_bytes_per_cycle;
  double memory_sharing; /* memory bandwidth of all threads divided by that of one */
  double transform_cycles, transform_half_cycles, winograd_loss, amx_tile_cycles, claim_ns;
  int64_t fetch_ahead; /* bytes from what is read from memory to what is prefetched */
};

enum problem_kind {
#define KIND(name, numbers, operands) PROBLEM_##name,
#include "problems.def"
#undef KIND
  PROBLEM_KIND_COUNT
};

/* Element types that kernels support, numbered as in ONNX. */
enum {
  TYPE_F32 = 1,
  TYPE_U8 = 2,
  TYPE_I8 = 3,
  TYPE_I32 = 6,
  TYPE_I64 = 7,
  TYPE_F16 = 10,
  TYPE_F64 = 11,
  TYPE_BF16 = 16,
  TYPE_U4 = 21,
  TYPE_I4 = 22
};
/* c = epilogue(sum in `acc` of a * b); for kinds without b, b is as a. */
struct problem_types {
  uint8_t a, b, acc, c;
};
#define SAME_TYPES(type) \
  (struct problem_types) { (type), (type), (type), (type) }

/* The numbers of a problem, in elements. Zero if the kind does not use it. */
struct problem {
  enum problem_kind kind;
  struct problem_types types;
#define NUMBER(name, meaning) int64_t name;
#include "numbers.def"
#undef NUMBER
};

struct kernel_define {
  const char *name;
  int64_t value;
};
#define KERNEL_DEFINES_MAX 32
#define CHOICE_VALUES_MAX 12

/* How one row solves one problem on one target. */
struct choice {
  const struct kernel *kernel;
  int64_t value[CHOICE_VALUES_MAX]; /* of kernel->names, in their order; 0 past the last */
  double cost;                      /* predicted ns with the target's threads; 0: no prediction */
  double cycles;                    /* of one core in the innermost loops; breaks ties of cost */
};

/* A set of element types: bit 1 << TYPE_F32, ... */
struct type_sets {
  uint32_t a, b, acc, c;
};

/* Traits of a source: which operands may share memory with c at the same addresses; UNROLLS_LATE: its
   innermost loops have no spills (tests/unit/test_census.c) only if the compiler unrolls tiles late;
   SPLITS_A: pack_source
   transforms a, not b; without a_split each call does that for all of a before it multiplies. */
enum {
  OVER_A = 1,        /* a, if its strides are those of c */
  OVER_OPERANDS = 2, /* the epilogue's: an element is stored once, after it was read there */
  OVER_OPERANDS_OF_WHOLE = 4, /* the same if kernel_sums_at_once */
  UNROLLS_LATE = 8,
  SPLITS_A = 16
};

struct kernel {
  const char *name; /* "gemm_f32" */
  enum problem_kind kind;
  struct type_sets types; /* of the problems that it accepts */
  const char *source;     /* file in src/compiler/kernels/embedded/: kernel_source() */
  uint32_t features;      /* target features that it needs */
  /* names of a choice's values, separated by spaces: "vectors unit_tiles" */
  const char *names;
  bool (*accepts)(const struct problem *problem, const struct kernel_target *target);
  /* The index-th choice for the problem, the usual one first: values and cost. False past the
     last. Of equal predictions the earlier choice is taken. */
  bool (*enumerate)(const struct problem *problem, const struct kernel_target *target, int index,
                    struct choice *out);
  /* Validates a choice, including one loaded from a file: all values that fit give correct
     results. Fills in cost and cycles. */
  bool (*fits)(const struct problem *problem, const struct kernel_target *target,
               struct choice *choice);
  /* The literals of the source; returns their number. */
  int (*defines)(const struct problem *problem, const struct kernel_target *target,
                 const struct choice *choice, struct kernel_define defines[KERNEL_DEFINES_MAX]);
  /* A source that reads sizes at run time, so that steps that differ only in sizes share a
     function: its defines without the problem's numbers; the last *out_sizes of them are the
     sizes. 0: this choice uses `source`, all literals. Both NULL: every choice does. */
  const char *shared_source;
  int (*shared_defines)(const struct problem *problem, const struct kernel_target *target,
                        const struct choice *choice,
                        struct kernel_define defines[KERNEL_DEFINES_MAX], int *out_sizes);
  /* Independent work units: the step function runs any [begin, end) of them. */
  int64_t (*units)(const struct problem *problem, const struct kernel_target *target,
                   const struct choice *choice);
  /* Packing of the constant operand b; both NULL if b is read unpacked. For a run-time b the row
     names pack_source: void NAME(const void *b, void *packed, long begin, long end) over
     pack_units() work items, in the layout of pack(). */
  size_t (*packed_bytes)(const struct problem *problem, const struct kernel_target *target,
                         const struct choice *choice);
  void (*pack)(const struct problem *problem, const struct kernel_target *target,
               const struct choice *choice, const void *b, void *packed);
  const char *pack_source;
  int64_t (*pack_units)(const struct problem *problem, const struct kernel_target *target,
                        const struct choice *choice);
  /* Scratch memory of each thread during the step; NULL: none. */
  size_t (*scratch_bytes)(const struct problem *problem, const struct kernel_target *target,
                          const struct choice *choice);
  unsigned traits; /* OVER_A, ..., SPLITS_A */
};

extern const struct kernel kernel_table[];
extern const size_t kernel_count;
/* True if the row can solve the problem: kind, types, features, accepts(). */
bool kernel_serves(const struct kernel *kernel, const struct problem *problem,
                   const struct kernel_target *target);
/* What the row adds to each element of a signed int8 a: 128 if its instructions multiply only
   unsigned by signed int8, else 0. */
int kernel_signed_shift(const struct kernel *kernel);
/* The cheapest choice of all rows that accept the problem; rows without a prediction come last,
   in the order of the table. False if no row accepts it (the generic kernel is used). */
bool kernel_choose(const struct problem *problem, const struct kernel_target *target,
                   struct choice *out);
/* The same for one row. */
bool kernel_choose_in(const struct kernel *kernel, const struct problem *problem,
                      const struct kernel_target *target, struct choice *out);
const struct kernel *kernel_find(const char *name);

/* -- active_prefix.c: problems of which a leading part is enough at run time */
enum prefix_of {
  PREFIX_ALL,        /* the leading images, or rows of all batches together */
  PREFIX_BATCH_ROWS, /* the leading rows m of each batch */
  PREFIX_IMAGE_ROWS  /* the leading rows of each image; of an image of one row, its pixels */
};
/* Of each `inner` work items, the first (count * part + extra) / whole, rounded up, compute at least
   the first `count` rows or images. */
struct active_prefix {
  int64_t inner, part, whole, extra;
};
/* False if the row's work items do not follow that part. */
bool kernel_active_prefix(const struct problem *problem, const struct kernel_target *target,
                          const struct choice *choice, enum prefix_of of,
                          struct active_prefix *out);
/* What limit_operand counts in this choice: images or batches, and pixels of each, or rows of pixels;
   false if the row has no such limit. */
bool kernel_limits(const struct problem *problem, const struct kernel_target *target,
                   const struct choice *choice, int64_t *out_batches, int64_t *out_pixels);

/* True if the choice sums all of k at once, so that c never holds a partial sum. */
bool kernel_sums_at_once(const struct problem *problem, const struct kernel_target *target,
                         const struct choice *choice);

/* Index of the scale of a block of rows of a column. */
int64_t gemm_wq_scale(const struct problem *problem, int64_t block, int64_t column);
/* Numbers x[0], x[stride], ... as products of an f16 and integers of 8 bits (problem.b_halves 2). False: they are
   not. */
bool gemm_wq_factors(const float *x, int64_t count, int64_t stride, float *out_half, int8_t *bytes);
/* Bytes of a after pack_source of a row with SPLITS_A. */
size_t kernel_split_bytes(const struct problem *problem, const struct kernel_target *target,
                          const struct choice *choice);
/* The problem for which a choice is made: without the numbers that a plan sets after it. */
struct problem problem_before_choice(const struct problem *problem);

/* The columns per panel of a packed float b stored as [panel][k][column of the panel]. 0:
   another layout. */
int64_t kernel_panel_columns(const struct problem *problem, const struct kernel_target *target,
                             const struct choice *choice);

/* "gemm_f32 vectors2 tile_rows1 ..."; zeros are omitted. Returns the length. */
int choice_print(char *out, size_t size, const struct choice *choice);
/* The value of that name; `otherwise` if the row has none. */
int64_t choice_value(const struct choice *choice, const char *name, int64_t otherwise);
/* Parses a choice; false if it is malformed. kernel->fits() then validates it. */
bool choice_parse(const char *text, struct choice *out);

enum { KERNEL_FILE_MAX = 64 };

/* Embedded source by file name ("gemm_f32.c", "simd.h", "generic/TopK.c"); NULL: there is none. */
const char *kernel_source(const char *file, size_t *out_length);
/* Headers that a source may use without including them, in order; ends with NULL. lane.h may
   replace the first. */
extern const char *const kernel_helpers[];
/* A line #include "FILE" in a source is replaced by the source FILE. For the remaining source
   [at, end): the length of the part before the first such line, and FILE; "" if there is none.
   Returns what follows that line. */
const char *kernel_source_part(const char *at, const char *end, size_t *out_length,
                               char out_file[KERNEL_FILE_MAX]);

/* "gemm f32 m128 n256 k256 ...", "gemm u8*i8:i32:f32 m128 ..." (a * b : accumulator : c if they
   differ); the kind's nonzero numbers. Returns the length. */
int problem_print(char *out, size_t size, const struct problem *problem);
/* Parses a problem line; false if it is malformed. */
bool problem_parse(const char *line, struct problem *out);
/* The names of the kind's numbers in order; index < number_count(kind). */
const char *problem_number_name(enum problem_kind kind, int index);
int64_t problem_number(const struct problem *problem, int index);
int problem_number_count(enum problem_kind kind);
const char *problem_kind_name(enum problem_kind kind);

#include "generic.h" /* generic kernels: the last candidate of every operator */

#endif
