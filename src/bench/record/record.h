/* What is known about one measured configuration. columns.def (append only) gives the SQL schema,
 * JSON keys, CSV header and report columns; status.def and flags.def list the statuses and flags.
 */
#ifndef HONE_RECORD_H
#define HONE_RECORD_H

#include "core/base/base.h"

#define RECORD_SCHEMA 1

enum record_status {
#define STATUS(name, text) STATUS_##name,
#include "status.def"
#undef STATUS
  STATUS_COUNT
};
enum record_stage {
  STAGE_none,
  STAGE_import,
  STAGE_convert,
  STAGE_compile,
  STAGE_load,
  STAGE_run,
  STAGE_verify,
  STAGE_COUNT
};
enum record_flag {
#define FLAG(name, text) FLAG_BIT_##name,
#include "flags.def"
#undef FLAG
  FLAG_BIT_COUNT
};
#define FLAG_MASK(name) (1u << FLAG_BIT_##name)
const char *status_text(enum record_status status);
const char *stage_text(enum record_stage stage);
const char *flag_text(enum record_flag flag);
enum record_status status_parse(const char *text); /* STATUS_COUNT if unknown */
enum record_stage stage_parse(const char *text);   /* STAGE_COUNT if unknown */
/* Names separated by spaces, "" for none. flags_parse returns false for an unknown name. */
void flags_format(uint32_t flags, struct strbuf *out);
MUST_USE bool flags_parse(const char *text, uint32_t *out);
const char *status_help(enum record_status status);
const char *flag_help(enum record_flag flag);

/* Identifies one configuration. Its key is the XXH3-128 of its fields (config_key). */
struct config {
  char model[256];       /* as the user wrote it, for display: path's base name or zoo spec */
  char model_path[4096]; /* not part of the key */
  char model_hash[33];
  char shapes[512];
  /* dynamic dimensions of the file, the sizes used, and why; not part of the key */
  char open_dimensions[512];
  char backend[32];
  char variant[64];   /* "default", or the options */
  char options[512];  /* "key=value;..." for the backend */
  char route[64];     /* "onnx" */
  char device[64];    /* "cpu", "ssh:HOST" */
  char precision[16]; /* requested: "fp32" */
  int batch, threads;
  char scenario[32];    /* "single" */
  char cache_state[16]; /* "warm" */
  int label;            /* 0; --aa gives the second copy 1 */
  int load;             /* processes that keep other cores busy (--load) */
  int copy;             /* 0; 1, 2, ... for further files of the study with the same content */
  /* roofline limit; 0: unknown; not part of the key */
  double limit_ms;
  /* roofline limit with Winograd in 3x3 convolutions; 0: unknown; not part of the key */
  double winograd_limit_ms;
  char key[33];
};
void config_key(struct config *config); /* fills key */
/* Scenario "generate:16+32": a sample is a token. */
bool config_generates(const struct config *config);
/* A generated token that differs from the reference's counts only if its margin is larger than this
   share of the largest logit; below that, rounding decides. As max|d|/max|r| in fp32. */
#define GENERATION_LEAD 1e-3
#define LEAST_RETENTION 0.99 /* of the reference's perplexity */

/* Noise during one block. -1: not available on this machine. */
struct noise {
  double steal_fraction;
  int64_t involuntary_switches;
  double pressure_some; /* PSI cpu some, fraction */
  double frequency_mhz;
};

/* What one process measured in one round. The store writes whole blocks. */
struct block {
  char study[33];
  char config[33];
  int process_record, round;
  uint64_t *samples; /* ns each; owned by the block's creator */
  size_t sample_count;
  uint64_t *rewarm; /* ns each: rewarming before the slice, not counted */
  size_t rewarm_count;
  /* ns since the slice began, for scenarios other than single: when each request was due and when
     it was passed to the engine. A sample lasts from due to done. In scenario generate: when the
     token's generation was requested and when the token's step began (equal for the first token); a
     sample is that step. */
  uint64_t *scheduled, *started;
  size_t scheduled_count, started_count; /* sample_count, or 0 */
  /* ns: copies of inputs into the engine's memory, made before the slice and not part of a sample;
     and the part of each sample that copied its outputs to the host. Empty if nothing is copied or
     the time is not known. */
  uint64_t *copy_in, *copy_out;
  size_t copy_in_count, copy_out_count; /* copy_out_count: sample_count, or 0 */
  int verified;                         /* compared outputs of timed iterations */
  struct noise noise;
  /* energy of the processor packages during slice and rewarming; 0: not measured */
  int64_t energy_uj;
  uint64_t started_unix_ms;
};

/* Facts about one process: phases, memory, what the engine reported. */
struct process_record {
  char study[33];
  char config[33];
  int number;
  enum record_status status;
  enum record_stage stage;
  char reason[1024];
  uint32_t flags;
  double compile_ms, load_ms, first_inference_ms, warmup_ms; /* NaN: not measured */
  double import_ms, cached_compile_ms;
  int64_t rss_import, rss_compile, rss_load, rss_steady, rss_peak; /* bytes, -1 unknown */
  double rss_slope; /* bytes per inference over the run */
  /* Resident bytes of the worker and its descendants, sampled by the harness; times in ns since its
     start. */
  uint64_t *memory_when, *memory_bytes; /* owned by the creator of this record */
  size_t memory_when_count, memory_count;
  double rate_per_s;     /* highest rate within the latency bound (--rate max); NaN: not searched */
  int64_t largest_batch; /* that ran (--largest-batch); -1: none, or not searched */
  char largest_batch_end[256]; /* why the next larger batch failed */
  int64_t artifact_bytes, arena_bytes;
  double floor_ns; /* measuring overhead: latency of an identity model */
  char engine_version[64], effective_device[64], effective_precision[32];
  int effective_threads;
  int busy_threads; /* with over a tenth of the busiest one's CPU time; -1 unknown */
  double fallback_share;
  double max_abs_diff, max_rel_diff, rel_l2, cosine, top1; /* against the reference, worst output */
  char output_hash[33];
  char task_metric[16]; /* metric for the labels, "top1"; "": no labels */
  double task_accuracy, task_reference, accuracy_retention; /* NaN: no labels */
  double kl_divergence; /* nats, mean over the tokens of a text; NaN: not measured */
};

/* Generated text is not the reference's: by the KL divergence of its predictions if that is known
   (MOST_DIVERGENCE), else by its perplexity, else by its tokens. */
bool text_departs(const struct process_record *facts);

/* Computed by stats from the blocks and processes of one configuration. */
struct record {
  struct config config;
  enum record_status status;
  enum record_stage stage;
  char reason[1024];
  uint32_t flags;
  int processes, rounds;
  size_t sample_count;
  /* NaN: n/a */
  double p50_ms, p50_lo_ms, p50_hi_ms, p90_ms, p99_ms, mean_ms, std_ms, min_ms, max_ms;
  double throughput_per_s;
  /* of the packages, per inference; NaN: no energy counter */
  double energy_mj, energy_lo_mj, energy_hi_mj;
  /* share of the study's models and devices on which this engine ran correctly; NaN: none
     measured */
  double portability;
  double copy_in_ms, compute_ms, copy_out_ms; /* medians; NaN: no copy, or not known */
  double over_bound_share; /* share of requests above the latency bound; NaN: no bound */
  /* scenario generate; NaN: n/a */
  double first_token_p50_ms, first_token_p99_ms, tokens_per_s;
  double limit_ms, limit_share;                   /* roofline limit; limit / median */
  double winograd_limit_ms, winograd_limit_share; /* NaN without 3x3 convolutions */
  struct process_record worst; /* over the processes: the first failure, else medians and maxima */
  struct noise noise;          /* worst of the blocks */
  int rank; /* 1 = fastest among ranked of the same model, batch and threads; 0: not ranked */
  char repeat[2048]; /* the command that measures this row again */
};

/* A column of a record, from columns.def. The last three types are numbers in the struct and names
   outside. */
enum column_type {
  COLUMN_TEXT,
  COLUMN_INT,
  COLUMN_DOUBLE,
  COLUMN_STATUS,
  COLUMN_STAGE,
  COLUMN_FLAGS
};
struct column {
  const char *key;   /* JSON key, CSV header: "latency_ms.p50" */
  const char *title; /* report heading */
  const char *unit;
  enum column_type type;
  int since;           /* schema version that added it */
  size_t offset, size; /* in struct record */
  const char *help;
};
extern const struct column columns[];
extern const size_t column_count;
bool column_is_number(const struct column *column); /* INT or DOUBLE */
/* Appends the value of a column to `out`; "" for n/a. */
void column_format(const struct record *record, const struct column *column, struct strbuf *out);
/* NaN if it is not a number, or n/a. */
double column_number(const struct record *record, const struct column *column);

/* Return false if the column has another type or the value does not fit. NaN means n/a. */
MUST_USE bool column_set_number(struct record *record, const struct column *column, double x);
MUST_USE bool column_set_text(struct record *record, const struct column *column, const char *text);

#endif
