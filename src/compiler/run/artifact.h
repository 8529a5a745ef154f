/* The artifact ABI: between a compiled model and the program that runs it. Standalone (libc types
 * only) and versioned; it is included in generated C and by the loader.
 *
 * An artifact exports `const struct hone_artifact_info *PREFIX_artifact(void)`; PREFIX is chosen at
 * compile time (default hone_model), so several models link into one program. run is re-entrant:
 * each concurrent call has its own arena. The thread pool is never inside an artifact.
 */
#ifndef HONE_ARTIFACT_H
#define HONE_ARTIFACT_H

#include <stdint.h>

#define HONE_ARTIFACT_ABI 9
#define HONE_ARTIFACT_SYMBOLS 4 /* maximum number of dynamic sizes that the caller gives */
#define HONE_ARTIFACT_SIZES 64  /* with those computed from them */

/* An element of a string tensor: UTF-8, not NUL-terminated. Strings made by a run point into its
   inputs, its arena or the weights, and are valid until one of them changes. */
struct hone_text {
  const char *bytes;
  uint64_t length;
};

struct hone_io_info {
  const char *name; /* NUL-terminated bytes, any UTF-8 */
  int32_t dtype;    /* as ONNX TensorProto.DataType */
  int32_t rank;
  const int64_t *dims; /* the bound of each dimension */
  /* Outputs: index of the input that it becomes in the next run, and whose memory it may share;
     or -1. */
  int32_t alias;
  /* By dimension: 0, or the number of its extent, a data-dependent size whose bound is in dims.
     Dimensions with the same number have the same size. Buffers have room for the bounds; their
     content is dense at the actual sizes. */
  const int32_t *extents;
  /* [HONE_ARTIFACT_SIZES][rank]: dimension d is dims[d] less slopes[k * rank + d] for each step
     that size k is below its bound; NULL: all are fixed. Inputs depend on sizes that the caller
     gives. */
  const int64_t *slopes;
};

/* Size HONE_ARTIFACT_SYMBOLS + j, computed from sizes before it: a * b / divisor, rounded down. */
struct hone_derived_size {
  int64_t bound, a, b; /* at the bounds */
  int64_t a_slopes[HONE_ARTIFACT_SIZES], b_slopes[HONE_ARTIFACT_SIZES];
  int64_t divisor;
};

/* The host provides the threads. A job is a sequence of stages, each with a number of chunks
   that may be computed in any order and concurrently by any thread; outputs are bit-identical.
   The host, until next returns 0 chunks, computes each chunk of the stage once, and calls next
   only after all of them are done. Several threads may pass one team to concurrent runs: its
   `run` must then be thread-safe, by waiting or by doing the job on the calling thread. */
struct hone_stage {
  int32_t chunks;  /* in: maximum per thread; out: of this stage, 0 at the end */
  int32_t threads; /* in: of the host; out: maximum that may work on it at once */
};
struct hone_job {
  void *argument;
  /* Begins the next stage. Also computes steps that a single thread executes. */
  void (*next)(void *argument, int32_t thread, struct hone_stage *stage);
  /* Computes a chunk. thread < stage.threads: selects the scratch memory; no two threads may use
     the same number at once. */
  void (*work)(void *argument, int32_t chunk, int32_t thread);
};
struct hone_team {
  void *self;
  int32_t thread_count;
  void (*run)(void *self, const struct hone_job *job);
};

struct hone_io {
  const void *const *inputs;
  void *const *outputs;
  const int64_t *const *input_dims; /* actual sizes, by input; NULL: the bounds */
  int64_t *const *output_dims;      /* by output: receives the actual sizes; NULL: not needed */
};

/* Bits of hone_artifact_info.flags. Without these features the code ends by an illegal
   instruction. */
enum {
  HONE_NEEDS_SSE42 = 1 << 0, /* also SSSE3, SSE4.1, POPCNT, CMPXCHG16B */
  HONE_NEEDS_AVX = 1 << 1,
  HONE_NEEDS_AVX2 = 1 << 2,
  HONE_NEEDS_FMA = 1 << 3,
  HONE_NEEDS_F16C = 1 << 4,
  HONE_NEEDS_AVX512 = 1 << 5, /* F, BW, CD, DQ, VL */
  HONE_NEEDS_AVX512_VNNI = 1 << 6,
  HONE_NEEDS_AVX512_BF16 = 1 << 7,
  HONE_NEEDS_AVX512_FP16 = 1 << 8,
  HONE_NEEDS_AMX_TILE = 1 << 9,
  HONE_NEEDS_AMX_INT8 = 1 << 10,
  HONE_NEEDS_AMX_BF16 = 1 << 11,
  HONE_NEEDS_AVX_VNNI = 1 << 12,
  HONE_NEEDS_BMI = 1 << 13, /* 1 and 2 */
  HONE_NEEDS_AVX512_VBMI = 1 << 14,
  HONE_NEEDS_NEON = 1 << 20,
  HONE_NEEDS_DOTPROD = 1 << 21,
  HONE_NEEDS_I8MM = 1 << 22,
  HONE_NEEDS_BF16 = 1 << 23 /* aarch64 */
};

struct hone_artifact_info {
  uint32_t abi;
  uint32_t flags;        /* features that the processor must have, above */
  const char *build_id;  /* 32 hex digits: hash of the generated source and weights */
  const char *generator; /* "hone 0.1.0", "hone 0.1.0, prefer size" */
  uint64_t arena_bytes;  /* 64-byte aligned memory that run needs */
  uint64_t weights_bytes;
  const void *weights; /* embedded packed weights, or NULL: read them from the .weights file */
  int32_t input_count, output_count;
  const struct hone_io_info *inputs, *outputs;
  /* One inference; team NULL: on one thread. 0, or a hone_status (HONE_E_SHAPE: an index out of
     range at run time). */
  int32_t (*run)(const void *weights, void *arena, const struct hone_io *io,
                 const struct hone_team *team);
  /* Dynamic sizes, given by io->input_dims: their number, bounds and names. Inputs and outputs
     are dense at their actual dimensions. */
  int32_t symbol_count;
  const int64_t *bounds;
  const char *const *symbols;
  const int64_t *least; /* minimum of each */
  int32_t derived_count;
  const struct hone_derived_size *derived;
  /* of the weights, at their end: tables; a run reads a few of their rows */
  uint64_t table_bytes;
};

/* An artifact compiled for profiling stores, after its arena, one of these for each thread and
   step, of the last run, if they were zeroed before. Nanoseconds of CLOCK_MONOTONIC_RAW. */
struct hone_profile_entry {
  uint64_t begin, end, busy, calls; /* first begin, last end, time in between, number of calls */
};

/* Ends a .weights file; the packed weights precede it, from offset 0. Little endian. */
#define HONE_WEIGHTS_MAGIC "hone weights 1\n"
struct hone_weights_footer {
  char magic[16];
  char build_id[32]; /* equal to the artifact's */
  uint64_t weights_bytes;
  uint64_t checksum; /* XXH3 (64 bits, no seed) of the weights; 0: not recorded */
};

/* Ends a .so, after everything that is loaded. Little endian. A library without one was not
   linked by hone; its content cannot be checked. */
#define HONE_ARTIFACT_SEAL "hone artifact 1\n"
struct hone_artifact_seal {
  uint64_t bytes;    /* of the file before the seal */
  uint64_t checksum; /* XXH3 (64 bits, no seed) of them */
  char magic[16];
};

#endif
