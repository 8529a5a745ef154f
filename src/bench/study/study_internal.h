/* Declarations shared by the files of a study.
 *
 *   study.c           entry point: options.c, cases.c (prepares models), configurations.c, rounds.c
 *   schedule.c        how many rounds and processes a configuration gets
 *   budget.c          time limits under --budget
 *   rounds.c          one process of each configuration of a group: open, warm up, rounds in random
 *                     order, close; trial.h lists the files of one process
 */
#ifndef HONE_STUDY_INTERNAL_H
#define HONE_STUDY_INTERNAL_H

#include "study.h"

/* neighbours.c: processes that keep cores busy during the measurement. */
#define BENCH_MAX_LOAD 64
struct neighbours {
  int count; /* started; stopped except between _run and _rest */
  int pids[BENCH_MAX_LOAD];
};
/* Expected duration of a configuration: first from typical figures of its engine, then from its own
   processes. */
struct eta {
  double expected_s; /* of one process */
  double ended_s;    /* sum over the processes that ended, */
  int ended, left;   /* their number; those left, the current one included */
  double current_s;  /* spent in the current one */
};
/* State of a running study. */
struct bench {
  struct ctx *ctx;
  struct bench_options options; /* defaults filled in */
  const struct bench_callbacks *callbacks;
  struct harness harness;
  struct arena *arena;
  struct bench_study study;
  char dir[4096], cache_dir[4096]; /* dir is private and removed at the end */
  struct random random;
  int worker_number;
  struct neighbours neighbours;
  struct labels labels; /* of options.inputs_dir; root NULL: none */
  char labels_dir[4096], first_sample[4096 + 512];
  struct scenario *scenarios; /* of options.scenarios */
  size_t scenario_count;
  struct device *devices; /* of options.devices */
  size_t device_count;
  double *overheads;           /* ns, by configuration; NaN: not measured */
  struct bench_case *identity; /* model for the overhead; NULL: not made yet */
  size_t step, step_count;
  struct eta *etas; /* by configuration */
  struct study_budget {
    uint64_t end_ns, overrun_end_ns, case_end_ns; /* clock_ns; overrun: running configurations are
                                                     abandoned */
    double grace_ns;                  /* extra time for the next configuration while there is no
                                           result */
    bool has_result, case_has_result; /* a configuration ran: in the study, in the
                                                    case */
    bool has_surveyed;
  } budget;
};
#define CASE_CONFIG "case" /* in messages instead of a configuration's key */

/* options.c: rejects unknown names and missing files; fills in defaults. */
MUST_USE hone_status options_check(struct bench *bench);
void options_set_defaults(struct bench_options *options, struct harness *harness);
/* configurations.c */
MUST_USE hone_status study_expand(struct bench *bench);
MUST_USE hone_status study_key(struct bench *bench);
MUST_USE hone_status study_estimate(struct bench *bench); /* time, memory and disk */
/* cases.c: appends path, size and modification time, for hashes. */
void put_file_stamp(struct strbuf *text, const char *path);
/* Makes a case of a model and a batch. A failure to prepare the model is in its status, not
   returned. */
MUST_USE hone_status case_describe(struct bench *bench, const char *model, int batch,
                                   struct bench_case *out);
/* The same at another batch for --largest-batch, without asking engines for a reference. If it is
   not ready, *out_end has the reason. */
MUST_USE hone_status case_at_batch(struct bench *bench, const char *model, int batch,
                                   const char *cache_dir, struct bench_case *out,
                                   struct worker_end *out_end, bool *out_is_ready);
/* Makes the first `sets` input sets without outputs, for engines if hone's evaluation failed. Best
   effort: a worker makes missing inputs itself. */
MUST_USE hone_status case_inputs(struct bench *bench, struct bench_case *one, int sets);
/* largest.c: the largest batch up to options.largest_batch that the configuration's engine runs
   (-1: none), and why the next one failed. No other worker of the study may be running. */
MUST_USE hone_status largest_batch(struct bench *bench, const struct config *config,
                                   const struct bench_case *one, int64_t *out_largest,
                                   char out_end[256]);
/* Gets input sets and reference outputs from the cache or computes them. They are locked until
   case_release, because other processes trim the cache. */
MUST_USE hone_status case_reference(struct bench *bench, struct bench_case *one);
void case_release(struct bench_case *one);
/* keep.c: copies the engine's files to options.keep_dir while the configuration's first worker is
   open. *out_survived: the worker answered. Missing files are not an error; a folder that cannot be
   written is. */
MUST_USE hone_status keep_config(struct bench *bench, const struct config *config,
                                 struct worker *worker, const struct process_record *record,
                                 bool *out_survived);
/* labels.c: a folder of --inputs with labels.json is a labelled set; its first sample is timed.
   case_label computes the accuracy of the reference, ask_labels that of an engine in its first
   process after everything is timed; false if that ended its worker. */
MUST_USE hone_status labels_find(struct bench *bench);
MUST_USE hone_status case_label(struct bench *bench, struct bench_case *one);
bool ask_labels(struct bench *bench, const struct bench_case *one, struct worker *worker,
                struct process_record *record);
/* quality.c: the same for text generation and the text of options.quality_text. */
MUST_USE hone_status case_quality(struct bench *bench, struct bench_case *one);
bool ask_quality(struct bench *bench, const struct bench_case *one, struct worker *worker,
                 const char *backend, struct process_record *record);
/* generation_configs.c: the study's scenario "generate", or NULL; what a case needs for it; adds it
   to a command, false with the reason if it is not possible. */
const struct scenario *bench_generates(const struct bench *bench);
/* The scenario of a configuration that generates text. */
const struct scenario *generation_scenario(const struct bench *bench, const struct config *config);
MUST_USE hone_status case_generate(struct bench *bench, struct bench_case *one);
bool case_add_generation(const struct bench *bench, const struct bench_case *one,
                         const struct config *config, json_t *command, struct worker_end *end);
/* fallback_reference.c: without a reference, uses the outputs of two engines that agree; if none
   do, outputs are unverified. */
bool backend_is_peer(const struct bench *bench, const struct backend *backend);
MUST_USE hone_status case_from_peers(struct bench *bench, struct bench_case *one);
/* description.c: reads a worker's "described" message; false if it is invalid. */
bool case_take_description(struct bench *bench, const json_t *reply, struct bench_case *one);
/* schedule.c: rounds in one process of a configuration whose inference takes median_ns; and whether
   a configuration with `own` rounds takes part in round `round` of a group with `rounds`. */
int schedule_rounds(const struct bench_options *options, double median_ns);
/* their duration */
double schedule_rounds_ns(const struct bench_options *options, double median_ns);
bool schedule_takes_part(int own, int rounds, int round);
/* Largest number of rounds over all processes of a configuration. */
int schedule_round_total(const struct bench_options *options);
typedef VEC(struct slice_median) slice_log; /* of one configuration, ascending */
MUST_USE hone_status slice_log_add(struct ctx *ctx, struct arena *arena, slice_log *log,
                                   int process, const struct block *block);
double slice_log_level(const slice_log *log); /* mean of the medians, ns */
/* Progress of one configuration: processes that ended, and processes wanted. */
struct config_run {
  size_t config; /* index in the study */
  int complete, wanted, next_number;
  double rate_per_s;     /* found by its first process; 0: not searched */
  int64_t largest_batch; /* -1: not searched */
  char largest_batch_end[256];
  bool has_failed;
  slice_log slices;
};
/* Wants one more process of every configuration in an undecided comparison that the report
   prints. */
MUST_USE hone_status schedule_want_more(struct ctx *ctx, const struct config *cells,
                                        struct config_run *all, size_t count, bool *out_any);
/* True if more processes of both configurations could still show which is faster. */
MUST_USE hone_status schedule_is_open(struct ctx *ctx, const slice_log *a, const slice_log *b,
                                      bool *out);
/* rounds.c: measures all configurations of one case, interleaved. Not affordable: reports each as
   interrupted. */
MUST_USE hone_status measure_case(struct bench *bench, size_t case_index, bool is_affordable);
/* saturation.c: for int8 models. The note is put before the reason of a wrong row. */
bool may_saturate(const struct bench_case *one, const struct config *config);
void note_saturation(const struct bench_case *one, const struct config *config,
                     struct process_record *record);
/* budget.c: no effect without options.budget_s. A case is prepared if time is left, and begins with
   its share of the time left then. */
void budget_start(struct bench *bench);
bool budget_allows_case(struct bench *bench);
void budget_begin_case(struct bench *bench, size_t case_index);
bool budget_has_left(const struct bench *bench, double ns); /* ns of the case's share */
bool budget_is_overrun(const struct bench *bench);          /* abandon what still runs */
void budget_cap_deadline(
    struct bench *bench); /* once a configuration ran: moves the deadline to the end of the case at
                             the latest */
/* Sets a deadline for opening a configuration, until budget_end_open. rounds_ns: time that the
   rounds of the open configurations will take; waiting: configurations to be opened after it.
   False: no time is left for it. */
bool budget_begin_open(struct bench *bench, double rounds_ns, size_t waiting);
/* The configuration is open; rounds_ns now includes it. False: its rounds do not fit. */
bool budget_end_open(struct bench *bench, double rounds_ns);
struct trial;
/* True if the trial ended because of the deadline of budget_begin_open. */
bool budget_was_exceeded(const struct bench *bench, const struct trial *trial);
/* Sets a deadline for one slice, until budget_end_slice. A slice that was cut halves the extra time
   of later ones. */
void budget_begin_slice(struct bench *bench);
void budget_end_slice(struct bench *bench, bool was_cut);
/* Set a deadline for the work after a configuration's rounds: its overhead, its end, and its
   survey. The caller resets deadline_ns to 0. */
void budget_bound_overhead(struct bench *bench);
void budget_bound_close(struct bench *bench);
void budget_bound_survey(struct bench *bench);
/* overhead.c: latency of an identity model on the configuration's path, measured once for each
   backend, options and threads. */
MUST_USE hone_status measure_overhead(struct bench *bench, size_t config);
/* references.c: removes the least recently used reference data that is not locked. */
void references_trim(const char *dir);
/* Locks a folder of reference data while the descriptor is open. -1: it does not exist. */
int reference_hold(const char *dir);
/* Removes it from the cache; it is then made again. */
void reference_remove(const char *dir);
/* commands.c: between these calls, work of workers ends after options.reference_s or with the
   budget. */
void reference_deadline_begin(struct bench *bench);
void reference_deadline_end(struct bench *bench);
/* Starts a worker in a new folder. */
MUST_USE hone_status bench_worker(struct bench *bench, const char *config, int threads,
                                  struct worker *out);
/* Starts a worker for one configuration, with its env.NAME options as environment variables. */
MUST_USE hone_status bench_config_worker(struct bench *bench, const struct config *config,
                                         const char *key, struct worker *out);
/* Sends model, inputs and expected outputs to a worker that does not share our file system, and
   puts their paths there into the command. False: they cannot be sent; `end` has the reason. */
bool send_case(struct worker *worker, const struct bench_case *one, json_t *command,
               struct worker_end *end);
json_t *open_command(const struct bench *bench, const struct config *config,
                     const struct bench_case *one, bool use_cache);
/* Adds the user's input files to a command whose worker makes inputs. */
json_t *names_of(const struct backend_tensor *tensors, size_t count);
void add_given_inputs(const struct bench *bench, json_t *command);
/* neighbours.c: makes `count` of them busy; E_CRASH if one was killed from outside. */
MUST_USE hone_status neighbours_run(struct bench *bench, int count);
void neighbours_rest(struct bench *bench);
void neighbours_end(struct bench *bench);
/* progress.c */
bool bench_is_interrupted(const struct bench *bench);
/* Estimates each configuration before the first process; returns the sum. */
MUST_USE hone_status eta_expect(struct bench *bench, double *out_seconds);
/* Adds time to the configuration's current process; ends it, with `left` still to do. */
void eta_add(struct bench *bench, size_t config, uint64_t since_ns);
void eta_end(struct bench *bench, size_t config, bool has_failed, int left);
double eta_seconds_left(const struct bench *bench);
void bench_report(struct bench *bench, const struct config *config, const char *model,
                  const char *phase);

/* E_USAGE for an unknown name or a missing rate. */
MUST_USE hone_status scenario_make(struct ctx *ctx, const char *name, int prompt,
                                   const struct bench_options *options, struct scenario *out);
/* Path of a new folder for an engine's outputs of this case. The worker creates it. */
void engine_output_dir(const struct bench *bench, struct bench_case *one, char out[4096]);
/* given_inputs.c */
/* Checks the user's input files against all cases: names, types and shapes. */
MUST_USE hone_status given_check_cases(struct bench *bench);

#endif
