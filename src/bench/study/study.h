/* Measures configurations of models and engines, each in processes that take turns. Results are
 * passed to callbacks: blocks of samples, and one record per process. It does not know the store.
 */
#ifndef HONE_STUDY_H
#define HONE_STUDY_H

#include "bench/wire/wire.h"
#include "bench/worker/worker.h"
#include "core/metrics/metrics.h"
#include "core/stats/stats.h"

/* -- study.c */

struct bench_options {
  const char *const *models; /* paths or zoo: specs */
  size_t model_count;
  const char *const *backends; /* none: every backend that is not for testing */
  size_t backend_count;
  const int *batches; /* none: 1 */
  size_t batch_count;
  const int *threads; /* none: one per usable core */
  size_t thread_count;
  const int *loads; /* numbers of busy neighbours; none: 0 */
  size_t load_count;
  const char *const *devices; /* none: "cpu" */
  size_t device_count;
  const char *const *scenarios; /* names; none: "single" */
  size_t scenario_count;
  int streams;                 /* scenario multi; 0: 2 */
  double rate_per_s, bound_ms; /* scenarios server and rate; 0: not given */
  bool finds_rate;             /* --rate max */
  /* scenario generate: lengths of the prompt, one scenario each; new tokens, 0: 32 */
  int prompt_tokens[16], new_tokens;
  size_t prompt_count;             /* 0: a prompt of 16 tokens */
  const char *quality_text;        /* text for perplexity and KL divergence; NULL: a usual one */
  const char *prompt_file;         /* token ids, a .npy; NULL: random */
  const char *device_hone;         /* path of hone on the devices; NULL: by their kind */
  const char *const *cache_states; /* "warm", "cold"; none: "warm" */
  size_t cache_state_count;
  const char *shapes, *side_files_from; /* NULL: none; the model's folder */
  const char *const *routes;            /* none: "onnx" */
  size_t route_count;
  const char *const *precisions; /* none: "fp32" */
  size_t precision_count;
  const struct bench_pair *engines; /* backend name -> path */
  size_t engine_count;
  const struct bench_pair *backend_options; /* backend name -> "key=value" */
  size_t backend_option_count;
  const struct bench_pair *inputs; /* input name -> .npy file; others are random */
  size_t input_count;
  const char *inputs_dir;      /* folder with NAME.npy; others are random */
  int min_samples;             /* 0: 30, over all processes of a configuration */
  double min_time_s;           /* 0: 1, over all processes */
  double max_time_s;           /* 0: 20, over all processes: limits slow models */
  double budget_s;             /* approximate, preparation included; 0: unlimited */
  bool keeps_budget;           /* no extra time if there is no result at the end */
  double warmup_s;             /* 0: 1; maximum per process */
  int processes;               /* 0: 4, up to most_processes for undecided comparisons */
  int most_processes;          /* processes if that is set, else 12 */
  int rounds;                  /* over all processes; 0: depends on speed (schedule.c) */
  double timeout_s;            /* 0: 600; per stage of a worker */
  double reference_s;          /* 0: 120; per case, at most timeout_s */
  uint64_t memory_limit_bytes; /* 0: 80 % of the available memory */
  uint64_t seed;
  int largest_batch;       /* largest batch to try; 0: no search */
  int nice;                /* priority of the study's processes, if permitted */
  bool aa;                 /* A/A: a second copy of each configuration with label 1 */
  bool is_dry_run;         /* prepares and estimates, measures nothing */
  const char *keep_dir;    /* folder for the engines' files; NULL: not kept */
  const char *worker_path; /* NULL: /proc/self/exe */
  const char *cache_dir;   /* NULL: dir_user("cache") */
  const volatile sig_atomic_t *interrupted; /* NULL, or checked between slices */
};

/* Printed by a dry run; base of the remaining time. */
struct bench_estimate {
  size_t cells, workers;
  double seconds;
  uint64_t memory_bytes; /* maximum of all simultaneous workers */
  uint64_t disk_bytes;
};

struct bench_study {
  char key[33]; /* hash of the configurations and of the options that change results */
  size_t case_count, config_count;
  struct bench_case *cases;
  struct config *configs;
  size_t *config_case; /* index into cases */
  struct bench_estimate estimate;
};

/* Results of one configuration from an earlier, interrupted run of the study. */
struct bench_done {
  int complete;                      /* processes with a final status */
  int next_number;                   /* the first unused process number */
  bool has_failed;                   /* failed: not measured again */
  bool is_disputed;                  /* engines agreed against the reference */
  const struct slice_median *slices; /* of complete processes, ascending; owned by the callee */
  size_t slice_count;
};

struct bench_progress {
  const char *model, *backend, *phase; /* "prepare", "reference", "floor", "open", "measure" */
  int threads;
  size_t step, step_count;
  double seconds_left;
};

/* All but user may be NULL. A failure of begin, block or process_record ends the run. */
struct bench_callbacks {
  void *user;
  /* after the models are prepared, before the first measurement */
  hone_status (*begin)(void *user, const struct bench_study *study);
  void (*done)(void *user, const struct config *config, struct bench_done *out);
  hone_status (*block)(void *user, const struct block *block);
  hone_status (*process_record)(void *user, const struct process_record *process_record);
  void (*progress)(void *user, const struct bench_progress *progress);
};

/* HONE_OK also if configurations failed; their process records have the reason. E_INTERRUPTED,
   E_USAGE. A process with STATUS_interrupted counts only if its configuration has no other. */
MUST_USE hone_status bench_run(struct ctx *ctx, const struct bench_options *options,
                               const struct bench_callbacks *callbacks);

/* limit.c: roofline limit of one inference by direct algorithms: the sum over contractions of
   max(FLOPs / P, bytes / B(bytes)), at least the time to move inputs, outputs and weights once.
   NaN: unknown. */
double bench_limit_ms(const struct bench_case *one, const struct peaks *peaks,
                      const char *precision);
/* The same with Winograd for 3x3 convolutions. An engine may exceed 100 % of the first limit, not
   of this one. */
double bench_winograd_limit_ms(const struct bench_case *one, const struct peaks *peaks,
                               const char *precision);

/* -- noise.c */
struct noise_mark {
  uint64_t when_ns, steal, total, pressure_us;
  bool has_stat, has_pressure;
  struct energy energy;
};
void noise_begin(struct noise_mark *mark);
void noise_end(const struct noise_mark *mark, int64_t involuntary_switches, struct noise *out);
/* Energy since then, in uJ; 0: no energy counter. */
int64_t noise_energy(const struct noise_mark *mark);
/* noise: means over `duration_ns`; context switches are the sum. */
bool noise_is_high(const struct noise *noise, uint64_t duration_ns);

#endif
