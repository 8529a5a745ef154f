/* study: configurations of models and engines, each measured in processes that take turns. Hands blocks of samples and the
 * records of processes to callbacks and knows no store.
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
  int streams;                     /* of multi; 0: 2 */
  double rate_per_s, bound_ms;     /* of server and rate; 0: none given */
  bool finds_rate;                 /* the highest rate within the bound */
  int prompt_tokens, new_tokens;   /* of generate; 0: 16, 32 */
  const char *prompt_file;         /* the prompt's ids, a .npy; NULL: seeded ones */
  const char *device_hone;         /* hone on those devices; NULL: by the device's kind */
  const char *const *cache_states; /* "warm", "cold"; none: "warm" */
  size_t cache_state_count;
  const char *shapes, *side_files_from; /* NULL: none, the model's folder */
  const char *const *routes;            /* of engines that know them; none: "onnx" */
  size_t route_count;
  const char *const *precisions; /* asked of every engine in turn; none: "fp32" */
  size_t precision_count;
  const struct bench_pair *engines; /* backend name -> path */
  size_t engine_count;
  const struct bench_pair *backend_options; /* backend name -> "key=value" */
  size_t backend_option_count;
  const struct bench_pair *inputs; /* input name -> .npy file, instead of seeded ones */
  size_t input_count;
  const char *inputs_dir; /* NAME.npy for inputs that are there */
  int min_samples;        /* 0: 30, over all processes of a configuration */
  double min_time_s;      /* 0: 1, likewise */
  double max_time_s;      /* 0: 20, likewise: bounds slow models */
  double budget_s;        /* of the study, about, its preparation in it; 0: no end */
  bool keeps_budget;      /* with budget_s: nothing takes more because nothing ran yet */
  double warmup_s;        /* 0: 1, most of one process's warm-up */
  int processes;          /* 0: 4, and up to most_processes where a comparison is open */
  int most_processes;     /* set with processes: that many, else 12 */
  int rounds;             /* over all processes of a configuration; 0: by its speed (schedule.c) */
  double timeout_s;       /* 0: 600, of one stage of one worker */
  double reference_s;     /* 0: 120, of making a case's reference; at most timeout_s */
  uint64_t memory_limit_bytes; /* 0: 80 % of what may be used here */
  uint64_t seed;
  int largest_batch;       /* most that is tried; 0: none is */
  int nice;                /* of the study's processes while it runs, as far as that is allowed */
  bool aa;                 /* a second copy of each configuration under label 1 */
  bool is_dry_run;         /* prepares the models, expands, estimates, measures nothing */
  const char *keep_dir;    /* where what engines made of the models is left; NULL: nowhere */
  const char *worker_path; /* NULL: /proc/self/exe */
  const char *cache_dir;   /* NULL: dir_user("cache") */
  const volatile sig_atomic_t *interrupted; /* NULL, or looked at between slices */
};

/* What a dry run says, and what the time left is computed from. */
struct bench_estimate {
  size_t cells, workers;
  double seconds;
  uint64_t memory_bytes; /* of all workers that are alive together, at most */
  uint64_t disk_bytes;
};

struct bench_study {
  char key[33]; /* of the configurations' canonical text and the options that change figures */
  size_t case_count, config_count;
  struct bench_case *cases;
  struct config *configs;
  size_t *config_case; /* index into cases */
  struct bench_estimate estimate;
};

/* What an earlier, interrupted run of the same study left of one configuration. */
struct bench_done {
  int complete;                      /* processes with a final status */
  int next_number;                   /* the first unused process number */
  bool has_failed;                   /* it ended for good: not measured again */
  bool is_disputed;                  /* its model was found disputed */
  const struct slice_median *slices; /* of its complete processes, ascending; the callee's */
  size_t slice_count;
};

struct bench_progress {
  const char *model, *backend, *phase; /* "prepare", "reference", "floor", "open", "measure" */
  int threads;
  size_t step, step_count;
  double seconds_left;
};

/* All but user may be NULL. A failure of begin, block or process ends the run with it. */
struct bench_callbacks {
  void *user;
  /* after the models are prepared, before the first measurement */
  hone_status (*begin)(void *user, const struct bench_study *study);
  void (*done)(void *user, const struct config *config, struct bench_done *out);
  hone_status (*block)(void *user, const struct block *block);
  hone_status (*process_record)(void *user, const struct process_record *process_record);
  void (*progress)(void *user, const struct bench_progress *progress);
};

/* HONE_OK also when configurations failed: their processes say how. E_INTERRUPTED, E_USAGE. A
   process with STATUS_interrupted counts only while its configuration has nothing better. */
MUST_USE hone_status bench_run(struct ctx *ctx, const struct bench_options *options,
                               const struct bench_callbacks *callbacks);

/* limit.c: the shortest time of one inference that the measured peaks allow, by the direct
   algorithm: the sum over contractions of max(FLOPs / P, bytes / B(bytes)), and never less than
   moving inputs, outputs and weights once. NaN: not known. */
double bench_limit_ms(const struct bench_case *one, const struct peaks *peaks,
                      const char *precision);
/* The same with Winograd where it applies: an engine may pass 100 % of the first, not of this one. */
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
/* uJ since then; 0: there is no meter. */
int64_t noise_energy(const struct noise_mark *mark);
/* noise: means over `duration_ns`, switches their sum. */
bool noise_is_high(const struct noise *noise, uint64_t duration_ns);

#endif
