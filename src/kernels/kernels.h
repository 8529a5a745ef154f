/* kernels: how a step is done fast. A row of kernels.def names a C text, what problems it accepts and
 * how it packs constants. The text is written once over a vector width and constant tile sizes; the
 * emitter includes it verbatim between #defines, and the tests compile the same bytes.
 * Knows only libc.
 *
 * What a text may use (the emitter defines it before the text and undefines it after):
 *   NAME                      the function to define: static, one per distinct problem
 *   each number of its kind   upper case: M, N, K, A_ROW, ... as integer literals (numbers.def)
 *   each define of choose()   MR, NR, KC, ...
 *   EPILOGUE(x, o, j, lanes)  the fused program on vector x: o = element offset of x in the output,
 *                             j = its column (channel), lanes = valid lanes (LANES or fewer)
 *   HAS_EPILOGUE              0 or 1
 * A pack_text gets the same numbers and defines. c may not overlap the operands of the epilogue, nor
 * a (softmax, layernorm: a may be c). e[0] of layernorm is its bias.
 * And simd.h, which stands once at the top of every generated file.
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
};

enum problem_kind {
#define KIND(name, numbers, text) PROBLEM_##name,
#include "problems.def"
#undef KIND
  PROBLEM_KIND_COUNT
};

/* The step's numbers, in elements. Zero where a kind does not use one. */
struct problem {
  enum problem_kind kind;
  int dtype; /* ONNX numbering; 1 = f32 */
#define NUMBER(name, text) int64_t name;
#include "numbers.def"
#undef NUMBER
};

struct kernel_define {
  const char *name;
  int64_t value;
};
#define KERNEL_DEFINES_MAX 16

struct kernel {
  const char *name; /* "gemm_f32" */
  enum problem_kind kind;
  const char *text;  /* file under src/kernels/text/, embedded: kernel_text() */
  uint32_t features; /* target bits that must be there */
  bool (*accepts)(const struct problem *problem, const struct kernel_target *target);
  /* Tile sizes; returns how many defines were written. */
  int (*choose)(const struct problem *problem, const struct kernel_target *target,
                struct kernel_define defines[KERNEL_DEFINES_MAX]);
  /* Independent work units: the step function runs any [begin, end) of them. */
  int64_t (*units)(const struct problem *problem, const struct kernel_target *target);
  /* Packing of the constant operand b; both NULL where b is read as it is. For a b made at run time
     the row names pack_text: void NAME(const float *b, float *packed, long begin, long end) over
     pack_units() units, in the packed layout of pack(). */
  size_t (*packed_bytes)(const struct problem *problem, const struct kernel_target *target);
  void (*pack)(const struct problem *problem, const struct kernel_target *target, const float *b,
               float *packed);
  const char *pack_text;
  int64_t (*pack_units)(const struct problem *problem, const struct kernel_target *target);
  /* Private memory of each thread while the step runs; NULL: none. */
  size_t (*scratch_bytes)(const struct problem *problem, const struct kernel_target *target);
  /* Predicted ns on one core, for choice between rows; NULL: order of the table decides. */
  double (*cost)(const struct problem *problem, const struct kernel_target *target);
};

extern const struct kernel kernel_table[];
extern const size_t kernel_count;
/* First row of the table that accepts; NULL if none does (then the plain kernel serves). */
const struct kernel *kernel_choose(const struct problem *problem,
                                   const struct kernel_target *target);
const struct kernel *kernel_find(const char *name);

/* Embedded text by file name ("gemm_f32.c", "simd.h", "plain/TopK.c"); NULL if there is none. */
const char *kernel_text(const char *file, size_t *out_length);

/* "gemm f32 m128 n256 k256 ..."; only numbers of the kind, zero ones left out. Returns length. */
int problem_print(char *out, size_t size, const struct problem *problem);
/* Parses a problem line; false if it is malformed. */
bool problem_parse(const char *line, struct problem *out);
/* The names of the kind's numbers in order; index < number_count(kind). */
const char *problem_number_name(enum problem_kind kind, int index);
int64_t problem_number(const struct problem *problem, int index);
int problem_number_count(enum problem_kind kind);
const char *problem_kind_name(enum problem_kind kind);

#include "plain.h" /* plain kernels: the last candidate of every operator */

#endif
