/* What the files of a study share.
 *
 *   study.c           the entry point: options.c, cases.c (models prepared), configurations.c, rounds.c
 *   schedule.c        how often a configuration is measured, and when that is enough
 *   budget.c          the order where a budget bounds the study
 *   rounds.c          one process of each configuration of a group: open, warm up, rounds in random order, close;
 *                     trial.h lists the files of one
 */
#ifndef HONE_STUDY_INTERNAL_H
#define HONE_STUDY_INTERNAL_H

#include "study.h"

/* neighbours.c: processes that keep the cores busy beside what is measured. */
#define BENCH_MAX_LOAD 64
struct neighbours {
  int count; /* that were started; they stand still but between _run and _rest */
  int pids[BENCH_MAX_LOAD];
};
/* How long a configuration takes: before it was measured as engines of its kind did elsewhere, then as its own processes do. */
struct eta {
  double expected_s; /* of one process */
  double ended_s;    /* of those that ended in this run, */
  int ended, left;   /* how many they are, and those to come, with the one that goes on */
  double current_s;  /* what that one has taken */
};
/* A study while it runs: shared by the files of this folder but the worker's. */
struct bench {
  struct ctx *ctx;
  struct bench_options options; /* no zeros left where a default exists */
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
  struct bench_case *identity; /* what floors are measured with; NULL until then */
  size_t step, step_count;
  struct eta *etas; /* by configuration */
  struct turns {
    uint64_t end_ns, late_ns, case_end_ns; /* of clock_ns; late: what still runs is left */
    double patience_ns;                    /* with whoever is next, while none has run */
    bool has_run, case_has_run;            /* a configuration did: of the study, of the case */
    bool has_surveyed;
  } turns;
};
/* options.c: names and files that do not exist, and defaults in place of zeros. */
MUST_USE hone_status options_check(struct bench *bench);
void options_set_defaults(struct bench_options *options, struct harness *harness);
/* configurations.c */
MUST_USE hone_status study_expand(struct bench *bench);
MUST_USE hone_status study_key(struct bench *bench);
MUST_USE hone_status study_estimate(struct bench *bench); /* of time, memory and disk */
/* cases.c: a line that changes with the file. */
void put_file_stamp(struct strbuf *text, const char *path);
/* One case from a model and a batch; a failure to prepare is in its status, not returned.
 */
MUST_USE hone_status case_describe(struct bench *bench, const char *model, int batch,
                                   struct bench_case *out);
/* The same at another batch, asking no peers, for --largest-batch; not ready: *out_end says why. */
MUST_USE hone_status case_at_batch(struct bench *bench, const char *model, int batch,
                                   const char *cache_dir, struct bench_case *out,
                                   struct worker_end *out_end, bool *out_is_ready);
/* The first `sets` input sets without outputs, in a folder of this study: what engines get where hone's
   evaluation failed. Best effort: a worker makes up what is missing. */
MUST_USE hone_status case_inputs(struct bench *bench, struct bench_case *one, int sets);
/* largest.c: the largest batch up to options.largest_batch that the configuration's engine runs, -1: none; and what the next
   one met. Nothing else of the study may be alive. */
MUST_USE hone_status largest_batch(struct bench *bench, const struct config *config,
                                   const struct bench_case *one, int64_t *out_largest,
                                   char out_end[256]);
/* Input sets and reference outputs, from the cache or computed now; held until case_release, since other
   processes trim the cache. */
MUST_USE hone_status case_reference(struct bench *bench, struct bench_case *one);
void case_release(struct bench_case *one);
/* keep.c: for options.keep_dir, while the configuration's first worker is open. *out_survived: whether the worker answered;
   what it has nothing of is no failure, but a folder that cannot be written is. */
MUST_USE hone_status keep_config(struct bench *bench, const struct config *config,
                                 struct worker *worker, const struct process_record *record,
                                 bool *out_survived);
/* labels.c: a folder of --inputs with labels.json is a labelled set: its first sample is what is timed. What the
   reference's outputs are worth, and what an engine's are, in its first process after everything was timed: false if that ended its worker. */
MUST_USE hone_status labels_find(struct bench *bench);
MUST_USE hone_status case_label(struct bench *bench, struct bench_case *one);
bool ask_labels(struct bench *bench, const struct bench_case *one, struct worker *worker,
                struct process_record *record);
/* generation_cells.c: the study's scenario that generates text, or NULL; what a case's configurations of it need; into the
   command of one, false with the reason where it cannot be asked. */
const struct scenario *bench_generates(const struct bench *bench);
MUST_USE hone_status case_generate(struct bench *bench, struct bench_case *one);
bool case_add_generation(const struct bench_case *one, const struct config *config, json_t *command,
                         struct worker_end *end);
/* fallback_reference.c: without a reference, two engines that agree serve; else outputs stay unverified. */
bool backend_is_peer(const struct bench *bench, const struct backend *backend);
MUST_USE hone_status case_from_peers(struct bench *bench, struct bench_case *one);
/* description.c: reads a worker's "described"; false if it is not sound. */
bool case_take_description(struct bench *bench, const json_t *reply, struct bench_case *one);
/* schedule.c: how often a configuration is measured. Rounds of one process of a configuration whose inference takes
   median_ns; whether one with `own` rounds takes part in a round of a group with `rounds`. */
int schedule_rounds(const struct bench_options *options, double median_ns);
double schedule_rounds_ns(const struct bench_options *options, double median_ns); /* all of them */
bool schedule_takes_part(int own, int rounds, int round);
/* most, of all processes of a configuration */
int schedule_round_total(const struct bench_options *options);
typedef VEC(struct slice_median) slice_log; /* of one configuration, ascending */
MUST_USE hone_status slice_log_add(struct ctx *ctx, struct arena *arena, slice_log *log,
                                   int process, const struct block *block);
double slice_log_level(const slice_log *log); /* mean of the medians, ns */
/* One configuration of a case while it is measured: processes that ended for good, and how many it shall have. */
struct config_run {
  size_t config; /* of the study */
  int complete, wanted, next_number;
  double rate_per_s;     /* that its first process found; 0: not looked for */
  int64_t largest_batch; /* -1: not looked for */
  char largest_batch_end[256];
  bool has_failed;
  slice_log slices;
};
/* One more process for every configuration of a comparison that the report will print and that is open. */
MUST_USE hone_status schedule_want_more(struct ctx *ctx, const struct config *cells,
                                        struct config_run *all, size_t count, bool *out_any);
/* Whether another process of both configurations could still tell them apart. */
MUST_USE hone_status schedule_is_open(struct ctx *ctx, const slice_log *a, const slice_log *b,
                                      bool *out);
/* rounds.c: all configurations of one case, interleaved; or, without a turn, each says so. */
MUST_USE hone_status measure_case(struct bench *bench, size_t case_index, bool has_turn);
/* saturation.c: of int8 models. The note goes before the reason of a row that is wrong. */
bool may_saturate(const struct bench_case *one, const struct config *config);
void note_saturation(const struct bench_case *one, const struct config *config,
                     struct process_record *record);
/* budget.c: under options.budget_s, else without any effect. A case is prepared, if anything is left for it, and begins with
   its share of what then is left. */
void turns_begin(struct bench *bench);
bool turns_prepare_case(struct bench *bench);
void turns_begin_case(struct bench *bench, size_t case_index);
bool turns_reach(const struct bench *bench, double ns); /* for so much more of the case */
bool turns_are_over(const struct bench *bench);         /* what still runs is left */
void turns_bound(
    struct bench *bench); /* once a configuration ran: no deadline lies behind the case's end */
/* Bounds what is asked until turn_end, for one of the `waiting` + 1 configurations that are still to be opened, where rounds_ns are what
   those that run will take; false: nothing is left for it. */
bool turn_begin(struct bench *bench, double rounds_ns, size_t waiting);
/* It runs, or does not: whether the rounds of all that do, this one's among them, still fit. */
bool turn_end(struct bench *bench, double rounds_ns);
struct trial;
/* Whether it does not run because of the bound that turn_begin set. */
bool turn_was_cut(const struct bench *bench, const struct trial *trial);
/* Bounds a slice of what runs until turn_slice_end; whoever was cut leaves the others less. */
void turn_slice(struct bench *bench);
void turn_slice_end(struct bench *bench, bool was_cut);
/* Each bounds, until deadline_ns is 0, what is asked of a configuration behind its rounds: its floor, its end, and all else. */
void turn_overhead(struct bench *bench);
void turn_close(struct bench *bench);
void turn_survey(struct bench *bench);
/* overhead.c: the floor of a configuration that works: an identity model through the same path, once for each
   backend, options and threads. */
MUST_USE hone_status measure_overhead(struct bench *bench, size_t config);
/* references.c: keeps the reference data that was used last; leaves alone what somebody holds. */
void references_trim(const char *dir);
/* Holds a folder of reference data: nobody trims it while the descriptor is open. -1: it is not there. */
int reference_hold(const char *dir);
/* Takes it out of the cache, whole: what its name stands for is then made again. */
void reference_remove(const char *dir);
/* commands.c: between them nothing that is asked of workers takes longer than options.reference_s, or than budget.c leaves. */
void budget_begin(struct bench *bench);
void budget_end(struct bench *bench);
/* What every worker is started with; its folder is a fresh one. */
MUST_USE hone_status bench_worker(struct bench *bench, const char *config, int threads,
                                  struct worker *out);
/* The same for one configuration, with its env.NAME options as environment. */
MUST_USE hone_status bench_config_worker(struct bench *bench, const struct config *config,
                                         const char *key, struct worker *out);
/* Model, inputs and expected outputs for a worker that does not share our files; the command is told
   where they are there. False: they cannot be sent, and why. */
bool send_case(struct worker *worker, const struct bench_case *one, json_t *command,
               struct worker_end *end);
json_t *open_command(const struct bench *bench, const struct config *config,
                     const struct bench_case *one, bool use_cache);
/* The user's own input files, added to a command whose worker makes inputs. */
json_t *names_of(const struct backend_tensor *tensors, size_t count);
void add_given_inputs(const struct bench *bench, json_t *command);
/* neighbours.c: `count` of them are busy from now on; E_CRASH if one was ended from outside. */
MUST_USE hone_status neighbours_run(struct bench *bench, int count);
void neighbours_rest(struct bench *bench);
void neighbours_end(struct bench *bench);
/* progress.c */
bool bench_is_interrupted(const struct bench *bench);
/* Before the first: what each configuration will take. The sum of it. */
MUST_USE hone_status eta_expect(struct bench *bench, double *out_seconds);
/* Since then the configuration's process took time; it ended; so many are still to do. */
void eta_add(struct bench *bench, size_t config, uint64_t since_ns);
void eta_end(struct bench *bench, size_t config, bool has_failed, int left);
double eta_seconds_left(const struct bench *bench);
void bench_report(struct bench *bench, const struct config *config, const char *model,
                  const char *phase);

/* E_USAGE for a name that is none, or one whose rate is missing. */
MUST_USE hone_status scenario_make(struct ctx *ctx, const char *name,
                                   const struct bench_options *options, struct scenario *out);
/* A folder for the next witness of this case: made by the worker that uses it. */
void engine_output_dir(const struct bench *bench, struct bench_case *one, char out[4096]);
/* given_inputs.c */
/* The same for a study's cases, with the files' types and shapes. */
MUST_USE hone_status given_check_cases(struct bench *bench);

#endif
