/* machine: topology, caches, CPU features, measured peaks, bandwidth curve, fingerprint. */
#ifndef HONE_MACHINE_H
#define HONE_MACHINE_H

#include "core/base/base.h"

enum cpu_feature {
  CPU_SSE42 = 1 << 0,
  CPU_AVX = 1 << 1,
  CPU_AVX2 = 1 << 2,
  CPU_FMA = 1 << 3,
  CPU_F16C = 1 << 4,
  CPU_AVX512 = 1 << 5, /* F, BW, CD, DQ, VL */
  CPU_AVX512_VNNI = 1 << 6,
  CPU_AVX512_BF16 = 1 << 7,
  CPU_AVX512_FP16 = 1 << 8,
  CPU_AMX_TILE = 1 << 9,
  CPU_AMX_INT8 = 1 << 10,
  CPU_AMX_BF16 = 1 << 11,
  CPU_AVX_VNNI = 1 << 12,
  CPU_BMI2 = 1 << 13,
  CPU_AVX512_VBMI = 1 << 14,
  CPU_NEON = 1 << 20,
  CPU_DOTPROD = 1 << 21,
  CPU_I8MM = 1 << 22,
  CPU_BF16 = 1 << 23 /* aarch64 */
};

/* Peak speeds of one core, per cycle: for predictions, which only choose between alternatives for
 * the same work. */
struct speeds {
  double clock_ghz;
  double f32_macs, bf16_macs, i8_macs; /* multiply-adds a cycle, by element type */
  /* cycles from the start of a multiply-add until its result can be used */
  double fma_latency;
  double loads;                  /* vector loads per cycle */
  double l2_bytes, memory_bytes; /* bytes read per cycle */
  double memory_sharing;         /* memory bandwidth of all threads divided by that of one */
  /* For Winograd convolution: cycles of a vector of one point in a transform, of floats and of
   * bf16; time of the matmuls divided by that of their multiply-adds */
  double transform_cycles, transform_half_cycles, winograd_loss;
  double amx_tile_cycles; /* to start and to finish a tile of sums */
  double claim_ns;        /* for a thread to claim a part of a step */
  double fetch_ahead;     /* bytes from what is read from memory to what is prefetched */
};

/* The target of code generation. Never derived from this machine by accident: --target, --cpu. */
struct target {
  char triple[64];   /* "x86_64-linux-gnu", "aarch64-linux-gnu", ..., "arm-none-eabi" */
  char level[32];    /* "baseline", "avx2", "avx512", "amx", "neon", ..., "cortex-m4", "portable" */
  uint32_t features; /* enum cpu_feature */
  int vector_bytes;  /* 16, 32, 64; 4: one float per lane (compiler/kernels/embedded/lane.h) */
  int vector_registers; /* 16 or 32 */
  bool is_portable;     /* plain C11: no intrinsics, no flags, any compiler */
  bool is_bare;         /* no operating system: no shared libraries, threads, programs; 32 bits */
  size_t l1_bytes, l2_bytes, l3_bytes; /* data caches of one core; l3 shared */
  size_t l1_way_bytes;                 /* addresses this far apart share a set of L1 */
  struct speeds speeds;                /* of a typical processor of the level */
  const char *flags[24];               /* -m flags for the C compiler, NULL-terminated */
};
/* Levels of the table, over all architectures; NULL past the last. */
const char *target_level_name(size_t index);
/* triple NULL: this machine's. level "host" or NULL: the best level that this CPU supports (E_UNSUP
 * for an unknown level). */
MUST_USE hone_status target_init(struct ctx *ctx, const char *triple, const char *level,
                                 struct target *out);
/* The triples that --target accepts, by index; NULL past the last. */
const char *target_triple(size_t i);
/* Levels of one artifact: "avx2,avx512", or "all" levels of the triple; each once, in ascending
 * order. */
#define TARGET_LEVELS_MAX 8
MUST_USE hone_status targets_init(struct ctx *ctx, const char *triple, const char *list,
                                  struct target out[TARGET_LEVELS_MAX], size_t *out_count);
/* True if code for `target` can run here. */
bool target_runs_here(const struct target *target);
uint32_t cpu_features(void);
/* E_UNSUP with the names of the features that this processor lacks. `needed`: enum cpu_feature,
 * from the flags of an artifact. */
MUST_USE hone_status features_check(struct ctx *ctx, struct place place, uint32_t needed);

/* Cores this process may use: affinity and cgroup quota respected; at least 1. */
int usable_core_count(void);

/* Properties that explain a result; no host or user name. */
struct fingerprint {
  char cpu_model[96];
  char features[256];
  char kernel[96];
  char libc[32];
  char compiler[96];
  char governor[32]; /* "n/a" if unavailable */
  char hypervisor[32];
  int cores_usable, cores_online, threads_per_core, numa_nodes;
  uint64_t ram_bytes;
  size_t l1d_bytes, l2_bytes, l3_bytes;
  char hone_version[16];
  char key[33]; /* hash of the fields above */
};
void cpu_model(char *out, size_t size); /* "unknown" if the system does not report it */
MUST_USE hone_status fingerprint_read(struct ctx *ctx, struct fingerprint *out);

/* Measured on this machine, with `threads` pinned threads. */
struct peaks {
  double f32_flops; /* FMA peak, FLOP/s */
  /* of bf16 products summed in f32; equals f32_flops without instructions for them */
  double bf16_flops;
  struct bandwidth_point {
    double bytes;       /* working set */
    double bytes_per_s; /* read-only */
  } bandwidth[16];
  int bandwidth_count;
  double copy_floor_ns; /* empty call */
};
/* Takes about `budget_ns`, twice that if new memory pages are slow; 256 KiB to 1 GiB (or a quarter
 * of RAM; less if the budget is under 1.1 s). */
MUST_USE hone_status peaks_measure(struct ctx *ctx, int threads, uint64_t budget_ns,
                                   struct peaks *out);
/* Takes the maximum of each figure: a disturbance only lowers a measurement. A shorter curve raises
 * its own points. */
void peaks_raise(struct peaks *peaks, const struct peaks *other);
/* Interpolated on the curve over log2(bytes); constant beyond its ends. */
double peaks_bandwidth(const struct peaks *peaks, double bytes);

/* -- energy.c */
#define ENERGY_PACKAGES 16
struct energy {
  size_t package_count; /* 0: this machine has no meter, or it is not readable */
  int number[ENERGY_PACKAGES];
  uint64_t used_uj[ENERGY_PACKAGES], range_uj[ENERGY_PACKAGES];
};
void energy_read(struct energy *out);
/* uJ used by all packages between two readings, which must be less than one counter wrap apart; -1
 * unknown. */
int64_t energy_between(const struct energy *from, const struct energy *to);
/* One line: the meter, or the reason why there is none. */
void energy_meter(char out[160]);

#endif
