/* kernels: how a step is done fast. A row of kernels.def names a C text, what problems it accepts and
 * how it packs constants. The text is written once over a vector width and constant tile sizes; the
 * emitter puts it between #defines, less what these leave out of it (compiler/source/preprocess.h, pieces.h); the tests compile it
 * whole.
 * Knows only libc.
 *
 * What a text may use (the emitter defines it before the text and undefines it after):
 *   NAME                      the function to define, not static (units call each other): one per distinct problem
 *   each number of its kind   upper case: M, N, K, A_ROW, ... as integer literals (numbers.def)
 *   each define of defines()  VECTORS, TILE_COLUMNS, ...: what the choice says, and what follows
 *   EPILOGUE(x, o, j, lanes)  what is stored for the accumulator vector x: o = element offset of x
 *                             in the output, j = its column (channel), lanes = valid lanes (LANES
 *                             or fewer); e, the operands, must be in scope
 *   HAS_EPILOGUE              0 or 1
 *   SATURATES                 1: the integers that it makes for bytes become the nearest ones; 0: their low bits
 * A pack_source gets the same numbers and defines. c may not overlap the operands of the epilogue, nor
 * a (softmax, layernorm: a may be c). e[0] of layernorm is its bias.
 * And what kernel_helpers define, simd.h first: at the top of a unit stands what its texts name of them.
 *
 * How a problem is done is a choice: the row, and a value for each of the row's choice names (tile,
 * blocks, units, algorithm). It is made once, by kernel_choose or a tuner, stored with the step and
 * handed to whatever needs it: nothing searches for a tiling a second time. It prints as
 * "gemm_f32 vectors2 tile_columns14 ..." and parses back.
 */
#ifndef HONE_KERNELS_H
#define HONE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What kernels must know of the target. */
struct kernel_target {
  int vector_bytes;     /* 16, 32, 64 */
  int vector_registers; /* 16 or 32 */
  size_t l1_bytes, l2_bytes;
  uint32_t features; /* enum cpu_feature of machine.h */
  int threads;       /* the count the plan is tuned for; any other count gives the same bits */
  bool prefers_size; /* no weights that are larger packed than as they came, but for whole panels */
  size_t l1_way_bytes; /* addresses so far apart share a set of L1 */
  /* Speeds of one core in its own cycles, for predictions only: struct speeds of machine.h. */
  double clock_ghz;
  double f32_macs, bf16_macs, i8_macs; /* multiply-adds a cycle at most, by element type */
  double fma_latency;                  /* cycles until a multiply-add's sum can be added to */
  double loads;                        /* vector loads that start in a cycle */
  double l2_bytes_per_cycle, memory_bytes_per_cycle;
  double memory_sharing; /* bandwidth from memory of all threads, over that of one */
  double transform_cycles, transform_half_cycles, winograd_loss, amx_tile_cycles, claim_ns;
};

enum problem_kind {
#define KIND(name, numbers, text) PROBLEM_##name,
#include "problems.def"
#undef KIND
  PROBLEM_KIND_COUNT
};

/* Element types in ONNX numbering, as far as kernels know them. */
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
/* c = epilogue(sum in `acc` of a * b); where a kind has no b, as a. */
struct problem_types {
  uint8_t a, b, acc, c;
};
#define SAME_TYPES(type) \
  (struct problem_types) { (type), (type), (type), (type) }

/* The step's numbers, in elements. Zero where a kind does not use one. */
struct problem {
  enum problem_kind kind;
  struct problem_types types;
#define NUMBER(name, text) int64_t name;
#include "numbers.def"
#undef NUMBER
};

struct kernel_define {
  const char *name;
  int64_t value;
};
#define KERNEL_DEFINES_MAX 32
#define CHOICE_VALUES_MAX 12

/* How one row does one problem on one target. */
struct choice {
  const struct kernel *kernel;
  int64_t value[CHOICE_VALUES_MAX]; /* of kernel->names, in their order; 0 beyond them */
  double cost;   /* predicted ns with the target's threads; 0: the row predicts nothing */
  double cycles; /* of one core in the innermost loops; decides between equal costs */
};

/* A set of element types: bit 1 << TYPE_F32, ... */
struct type_sets {
  uint32_t a, b, acc, c;
};

/* Traits of a text: what it may be given for c besides memory of its own, an operand with the addresses of c; and UNROLLS_LATE. */
enum {
  OVER_A = 1,        /* a, where its strides are those of c */
  OVER_OPERANDS = 2, /* the epilogue's: an element is stored once, after it was read there */
  OVER_OPERANDS_OF_WHOLE = 4, /* the same where kernel_sums_at_once */
  UNROLLS_LATE =
      8 /* its innermost loops are clean (tests/unit/test_census.c) if the compiler unrolls tiles late */
};

struct kernel {
  const char *name; /* "gemm_f32" */
  enum problem_kind kind;
  struct type_sets types; /* of the problems that it may be asked about */
  const char *text;       /* file under src/compiler/kernels/embedded/, embedded: kernel_source() */
  uint32_t features;      /* target bits that must be there */
  const char *names;      /* of a choice's values, with spaces between them: "vectors unit_tiles" */
  bool (*accepts)(const struct problem *problem, const struct kernel_target *target);
  /* The index-th way to do the problem, the usual one first: values and cost. False past the last.
     Between two that are predicted alike the earlier one is taken. */
  bool (*enumerate)(const struct problem *problem, const struct kernel_target *target, int index,
                    struct choice *out);
  /* Whether the values, from wherever they come, can be done: any that fit give right results.
     Fills in cost and cycles. */
  bool (*fits)(const struct problem *problem, const struct kernel_target *target,
               struct choice *choice);
  /* The literals of the text; returns how many were written. */
  int (*defines)(const struct problem *problem, const struct kernel_target *target,
                 const struct choice *choice, struct kernel_define defines[KERNEL_DEFINES_MAX]);
  /* Of a text that reads sizes at run time, so that steps that differ in nothing else share a function: all that it
     knows, without the problem's numbers; the last *out_sizes of them are the sizes. 0: this choice takes `text`, all
     literals. Both NULL: every choice does. */
  const char *shared_source;
  int (*shared_defines)(const struct problem *problem, const struct kernel_target *target,
                        const struct choice *choice,
                        struct kernel_define defines[KERNEL_DEFINES_MAX], int *out_sizes);
  /* Independent work units: the step function runs any [begin, end) of them. */
  int64_t (*units)(const struct problem *problem, const struct kernel_target *target,
                   const struct choice *choice);
  /* Packing of the constant operand b; both NULL where b is read as it is. For a b made at run time
     the row names pack_source: void NAME(const void *b, void *packed, long begin, long end) over
     pack_units() units, in the packed layout of pack(). */
  size_t (*packed_bytes)(const struct problem *problem, const struct kernel_target *target,
                         const struct choice *choice);
  void (*pack)(const struct problem *problem, const struct kernel_target *target,
               const struct choice *choice, const void *b, void *packed);
  const char *pack_source;
  int64_t (*pack_units)(const struct problem *problem, const struct kernel_target *target,
                        const struct choice *choice);
  /* Private memory of each thread while the step runs; NULL: none. */
  size_t (*scratch_bytes)(const struct problem *problem, const struct kernel_target *target,
                          const struct choice *choice);
  unsigned traits; /* OVER_A, ..., UNROLLS_LATE */
};

extern const struct kernel kernel_table[];
extern const size_t kernel_count;
/* Whether the row may be asked to do the problem: kind, types, features, accepts(). */
bool kernel_serves(const struct kernel *kernel, const struct problem *problem,
                   const struct kernel_target *target);
/* What the row adds to each element of a signed a of bytes, in its sums: 128 where its instructions
   multiply unsigned bytes by signed ones only. */
int kernel_signed_shift(const struct kernel *kernel);
/* The cheapest choice of all rows that serve; rows that predict no cost come after all that do, in
   the order of the table. False if no row serves (then the plain kernel does). */
bool kernel_choose(const struct problem *problem, const struct kernel_target *target,
                   struct choice *out);
/* The same of one row. */
bool kernel_choose_in(const struct kernel *kernel, const struct problem *problem,
                      const struct kernel_target *target, struct choice *out);
const struct kernel *kernel_find(const char *name);

/* -- active_prefix.c: problems whose leading number (images, rows, m) is smaller at run time */
/* Of each `inner` units, the first count * part / whole, rounded up, do the first `count`. */
struct active_prefix {
  int64_t inner, part, whole;
};
/* False if the row's units do not run through the leading number. in_batch: m of each batch is smaller,
   instead of the rows of all batches together. */
bool kernel_active_prefix(const struct problem *problem, const struct kernel_target *target,
                          const struct choice *choice, bool in_batch, struct active_prefix *out);
/* The cheapest choice of all rows that have a lead, in units small enough for it. */
bool kernel_choose_for_prefix(const struct problem *problem, const struct kernel_target *target,
                              struct choice *out);

/* Whether a product's choice does all of k at once, so that no partial sum stands in c. */
bool kernel_sums_at_once(const struct problem *problem, const struct kernel_target *target,
                         const struct choice *choice);

/* Of a product's packed b of floats that lies as [panel][k][column of the panel]: the columns of a panel. 0: it lies
   otherwise. */
int64_t kernel_panel_columns(const struct problem *problem, const struct kernel_target *target,
                             const struct choice *choice);

/* "gemm_f32 vectors2 tile_rows1 ..."; values of 0 are left out. Returns length. */
int choice_print(char *out, size_t size, const struct choice *choice);
/* The value of that name; `otherwise` if the row has none. */
int64_t choice_value(const struct choice *choice, const char *name, int64_t otherwise);
/* Parses a choice's text; false if it is malformed. Whether it fits is kernel->fits(). */
bool choice_parse(const char *text, struct choice *out);

enum { KERNEL_FILE_MAX = 64 };

/* Embedded text by file name ("gemm_f32.c", "simd.h", "generic/TopK.c"); NULL if there is none. */
const char *kernel_source(const char *file, size_t *out_length);
/* Texts of what other texts may name without including them, in order; ends with NULL. lane.h may stand for the first. */
extern const char *const kernel_helpers[];
/* A line #include "FILE" of a text stands for the text FILE. Of what is left of a text, [at, end): the
   length of the part before the first such line, and FILE; "" where the part is all. Returns what follows. */
const char *kernel_source_part(const char *at, const char *end, size_t *out_length,
                               char out_file[KERNEL_FILE_MAX]);

/* "gemm f32 m128 n256 k256 ...", "gemm u8*i8:i32:f32 m128 ..." (a * b : accumulator : c where they
   are not all one type); only numbers of the kind, zero ones left out. Returns length. */
int problem_print(char *out, size_t size, const struct problem *problem);
/* Parses a problem line; false if it is malformed. */
bool problem_parse(const char *line, struct problem *out);
/* The names of the kind's numbers in order; index < number_count(kind). */
const char *problem_number_name(enum problem_kind kind, int index);
int64_t problem_number(const struct problem *problem, int index);
int problem_number_count(enum problem_kind kind);
const char *problem_kind_name(enum problem_kind kind);

#include "generic.h" /* plain kernels: the last candidate of every operator */

#endif
