/* bench: a study of cells, each measured in worker processes, interleaved in rounds. Hands blocks
 * and incarnations to callbacks and knows no store. MEASURING.md's rules in code.
 *
 *   study.c     the entry point: options.c -> cases.c (models prepared) -> cells.c -> rounds.c
 *   schedule.c  how often a cell is measured, and when that is enough
 *   turns.c     whose turn it is where a budget bounds the study
 *   rounds.c    one incarnation of a group of cells: open, warm up, rounds in random order, close;
 *               member.h lists the files of one cell
 *   harness.c   conversation with one worker: start, ask, stop, continue, end; every end a status;
 *               transport.h lists the files by which it is reached
 *   worker.c    the other side: one process, one backend, one cell (or one model to prepare);
 *               worker.h lists its files
 *   protocol.c  the lines between them, checked against tables
 *   loop.c      the timed loop
 */
#ifndef HONE_BENCH_H
#define HONE_BENCH_H

#include "../backends/backends.h"
#include "../machine/machine.h"
#include "../metrics/metrics.h"
#include "../stats/stats.h"

#include <jansson.h>
#include <signal.h>

#define BENCH_SETS 4 /* input sets that rotate through the timed loop */
#define WORKER_FD_IN 3
#define WORKER_FD_OUT 4
#define WORKER_LINE_MAX \
  (64u << 20) /* bytes: what a model of half a million inputs needs to be described */

/* -- study.c ------------------------------------------------------------------------------------
 */

struct bench_pair {
  const char *name, *value;
};
/* How inferences arrive: scenario.c has the definitions. */
enum scenario_kind {
  SCENARIO_single,
  SCENARIO_multi,
  SCENARIO_offline,
  SCENARIO_server,
  SCENARIO_rate,
  SCENARIO_generate
};
struct scenario {
  enum scenario_kind kind;
  int streams;       /* of multi */
  double rate_per_s; /* of server and rate */
  bool
      finds_rate; /* the highest within the bound, by each cell's first process; rate_per_s is 0 then */
  double bound_ms;   /* latency bound; 0: none */
  int prompt, count; /* of generate: tokens given, tokens made */
  char text[32];     /* in the cell: "multi:2", "server:100/s:15ms", "generate:16+32" */
};
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
  const char *inputs_dir;      /* NAME.npy for inputs that are there */
  int min_samples;             /* 0: 30, over all incarnations of a cell */
  double min_time_s;           /* 0: 1, likewise */
  double max_time_s;           /* 0: 20, likewise: bounds slow models */
  double budget_s;             /* of the study, about, its preparation in it; 0: no end */
  bool keeps_budget;           /* with budget_s: nothing takes more because nothing ran yet */
  double warmup_s;             /* 0: 1, most of one incarnation's warm-up */
  int incarnations;            /* 0: 4, and up to most_incarnations where a comparison is open */
  int most_incarnations;       /* set with incarnations: that many, else 12 */
  int rounds;                  /* over all incarnations of a cell; 0: by its speed (schedule.c) */
  double timeout_s;            /* 0: 600, of one stage of one worker */
  double reference_s;          /* 0: 120, of making a case's reference; at most timeout_s */
  uint64_t memory_limit_bytes; /* 0: 80 % of what may be used here */
  uint64_t seed;
  int largest_batch;       /* most that is tried; 0: none is */
  int nice;                /* of the study's processes while it runs, as far as that is allowed */
  bool aa;                 /* a second copy of each cell under label 1 */
  bool is_dry_run;         /* prepares the models, expands, estimates, measures nothing */
  const char *keep_dir;    /* where what engines made of the models is left; NULL: nowhere */
  const char *worker_path; /* NULL: /proc/self/exe */
  const char *cache_dir;   /* NULL: dir_user("cache") */
  const volatile sig_atomic_t *interrupted; /* NULL, or looked at between slices */
};

/* How a conversation ended that did not end in an answer. */
struct worker_end {
  enum record_status status;
  enum record_stage stage;
  char reason[1024];
  double rel_l2; /* of outputs that were wrong; else NaN */
};

/* One model at one batch: what every backend gets. */
struct bench_case {
  const char *model;  /* as the user wrote it; theirs */
  char path[4096];    /* the ONNX file that engines read */
  char hash[33];      /* of the model's bytes and side files */
  const char *shapes; /* of every input, "x[1,3,224,224],..."; "" unknown; in the study's arena */
  const char
      *open_dimensions; /* which were open in the file, and the sizes they got; "" none; likewise */
  int batch;
  int64_t weights_bytes; /* of its constants; -1 unknown */
  int64_t file_bytes;    /* of the model and its side files; 0 unknown */
  int64_t kept_inputs;   /* states that the file does not list as inputs */
  struct file_id *sides; /* its side files, as far as hone read it; in the study's arena */
  size_t side_count;
  size_t contraction_count; /* contractions: what no fusion can take away */
  struct bench_step {
    double flops, bytes; /* bytes: read and written once */
    double
        winograd_flops; /* with a quarter of the multiplications in 3x3 convolutions of stride 1 */
  } * contractions;     /* in the study's arena */
  double flops, bytes;  /* of one inference, sums over the nodes; NaN unknown */
  bool is_described;    /* inputs and outputs are known */
  size_t input_count, output_count;
  struct backend_tensor *inputs, *outputs; /* in the study's arena, like all arrays here */
  double *steps;                           /* of outputs of quantised graphs; else 0 */
  double (*conditions)[2];                 /* of outputs: condition.c; NULL: not measured */
  char format[8];                          /* of the file: "onnx", "tflite", "pt2" */
  char tolerance[8];   /* whose tolerance holds: the file's own precision, "fp32" */
  char data_dir[4096]; /* in_SET_I.npy, out_SET_I.npy */
  bool is_held;        /* it lies in the cache, and hold_fd keeps it there */
  int hold_fd;
  int64_t value_bytes; /* of all inputs and outputs of one set */
  double reference_s;  /* how long the reference took; 0 from the cache */
  hone_status refusal; /* E_FORMAT or E_TRUST where neither hone nor an engine reads the file */
  char refusal_reason[256];
  bool is_from_peers; /* hone could not read or evaluate it: engines made the data */
  bool is_disputed;   /* engines agree with each other and not with hone's reference */
  char dispute[1024]; /* who, and by how much */
  size_t witness_count;
  json_t
      *generation; /* how it generates text (generation.h), where a cell asks; NULL: see the end */
  char generation_dir[4096];
  double task_reference; /* of the reference's outputs, by the labels; NaN: none */
  struct worker_end generation_end;
  enum record_status status; /* STATUS_ok, or why no backend can be measured: a batch that the file
                                 does not have, or values that cannot be asked for in JSON */
  enum record_stage stage;
  char reason[1024];
};

/* What a dry run says, and what the time left is computed from. */
struct bench_estimate {
  size_t cells, workers;
  double seconds;
  uint64_t memory_bytes; /* of all workers that are alive together, at most */
  uint64_t disk_bytes;
};

struct bench_study {
  char key[33]; /* of the cells' canonical text and the options that change figures */
  size_t case_count, cell_count;
  struct bench_case *cases;
  struct cell *cells;
  size_t *cell_case; /* index into cases */
  struct bench_estimate estimate;
};

/* What an earlier, interrupted run of the same study left of one cell. */
struct bench_done {
  int complete;                      /* incarnations with a final status */
  int next_number;                   /* the first unused incarnation number */
  bool has_failed;                   /* it ended for good: not measured again */
  bool is_disputed;                  /* its model was found disputed */
  const struct slice_median *slices; /* of its complete incarnations, ascending; the callee's */
  size_t slice_count;
};

struct bench_progress {
  const char *model, *backend, *phase; /* "prepare", "reference", "floor", "open", "measure" */
  int threads;
  size_t step, step_count;
  double seconds_left;
};

/* All but user may be NULL. A failure of begin, block or incarnation ends the run with it. */
struct bench_callbacks {
  void *user;
  /* after the models are prepared, before the first measurement */
  hone_status (*begin)(void *user, const struct bench_study *study);
  void (*done)(void *user, const struct cell *cell, struct bench_done *out);
  hone_status (*block)(void *user, const struct block *block);
  hone_status (*incarnation)(void *user, const struct incarnation *incarnation);
  void (*progress)(void *user, const struct bench_progress *progress);
};

/* HONE_OK also when cells failed: their incarnations say how. E_INTERRUPTED, E_USAGE. An
   incarnation with STATUS_interrupted counts only while its cell has nothing better. */
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

/* The hidden verb `hone worker`, argv[1] = "worker": returns the exit code. */
int worker_main(int argc, char **argv);
/* The hidden verb `hone agent` (agent.c): workers of another machine's study, asked over the standard
   streams. */
int agent_main(int argc, char **argv);

/* -- protocol.c: newline-delimited JSON ----------------------------------------------------------
 */

enum field_type { FIELD_TEXT, FIELD_INT, FIELD_NUMBER, FIELD_BOOL, FIELD_LIST };
struct field {
  const char *key;
  enum field_type type;
  bool is_optional;
  double min, max; /* of numbers; of the length of texts and lists */
};
struct schema {
  const char *name; /* the value of "event" */
  const struct field *fields;
  size_t count;
};
/* A worker's line as an object with exactly the keys of its event; NULL and the reason if not. */
json_t *event_parse(const char *line, size_t length, char reason[256]);
/* Writes one line; false if the other side is gone or the message too long. Takes the reference. */
bool message_write(int fd, json_t *message);
/* The line alone, with its newline in place of a NUL; malloc'ed. NULL if it is too long. Takes the
   reference. */
char *message_line(json_t *message, size_t *out_length);
const char *message_text(const json_t *message, const char *key); /* "" if absent */
double message_number(const json_t *message, const char *key);    /* NaN if absent */
int64_t message_int(const json_t *message, const char *key, int64_t otherwise);
/* Place of `name` in a command's list, or `otherwise`. */
size_t find_named(const json_t *names, const char *name, size_t otherwise);
bool message_bool(const json_t *message, const char *key);
/* Sets a number; one that JSON cannot hold is left out (NaN) or clamped (infinite). */
void message_set_number(json_t *message, const char *key, double x);

/* Lines from a descriptor, at most WORKER_LINE_MAX bytes each. */
struct line_reader {
  int fd;
  char *buffer;
  size_t length, start, capacity;
};
enum line_result { LINE_READY, LINE_NONE, LINE_END, LINE_TOO_LONG };
/* The next line, NUL instead of its newline, valid until the next call. LINE_NONE: a non-blocking
   descriptor has no whole line. LINE_END with *out_length > 0: a line that was never ended. */
enum line_result line_next(struct line_reader *reader, char **out_line, size_t *out_length);
void line_reader_deinit(struct line_reader *reader);

/* -- memory_log.c: what a worker held over its life --------------------------------------------- */
#define MEMORY_POINTS 256
/* Points at least least_ns apart; when it is full every second one goes and the distance doubles. */
struct memory_log {
  uint64_t start_ns, least_ns;
  size_t count;
  uint64_t when_ns[MEMORY_POINTS], bytes[MEMORY_POINTS];
};
void memory_log_begin(struct memory_log *log);
void memory_log_add(struct memory_log *log, uint64_t now_ns,
                    int64_t bytes); /* log NULL, bytes < 0: nothing */

/* -- harness.c: workers and all they start -------------------------------------------------------
 */

#define HARNESS_MAX_CHILDREN 256
/* Adopts orphans of its workers between begin and finish. */
struct harness {
  const char *worker_path;
  uint64_t memory_bytes, timeout_ns;
  uint64_t deadline_ns;       /* of clock_ns, for all that is asked until it is 0 again: a budget */
  const char *deadline_words; /* whose */
  const volatile sig_atomic_t *interrupted;
  int known[HARNESS_MAX_CHILDREN]; /* children that are not orphans */
  size_t known_count;
  int was_subreaper;
  struct sigaction old_pipe;
};
void harness_begin(struct harness *harness);
void harness_finish(struct harness *harness);
void harness_forget(struct harness *harness, int pid); /* a child that is gone */

struct transport;
struct stream;
struct device;
struct worker {
  struct harness *harness;
  const struct transport *transport;
  struct stream *stream;  /* of one that is not a child of ours */
  struct process process; /* it, or the program that reaches it */
  int command_fd, pid_fd;
  struct line_reader events;
  struct capture output;
  char dir[4096];          /* private, of this machine; removed by worker_close */
  char far_dir[512];       /* the same as the worker knows it */
  char cell[33];           /* key that its messages must carry */
  enum record_stage stage; /* that it last said to have begun */
  bool is_running, is_stopped;
  bool is_lost;    /* not running, and nothing is known of its end */
  int exit_status; /* of waitpid, once it is not running */
  int64_t rss_peak_seen;
  struct memory_log *memory;        /* where what it held is noted; NULL: nowhere */
  const struct bench_case *judged;  /* whose outputs its checks are compared with; NULL: nobody's */
  char precision[16];               /* whose tolerance holds for them */
  const struct scenario *generates; /* its checks are tokens; NULL: they are outputs */
};
struct worker_spec {
  const char *backend;         /* NULL: none, `hone worker` prepares a model */
  const char *engine_path;     /* of that backend, or NULL */
  const struct device *device; /* NULL: this machine */
  const char *dir;             /* is made */
  const char *cell;
  int threads;                    /* the first so many of the allowed CPUs; 0: all */
  const char *const *environment; /* NULL, or "NAME=VALUE"s beside the allow-listed ones */
};
MUST_USE hone_status worker_start(struct ctx *ctx, struct harness *harness,
                                  const struct worker_spec *spec, struct worker *out);
enum ask_kind { ASK_PATIENT, ASK_TIMED }; /* timed: the harness itself keeps still */
/* Continues the worker, sends a command (taken) and waits for `expected`. NULL: *out_end says why,
   and the worker is dead with all its descendants. */
json_t *worker_ask(struct worker *worker, json_t *command, const char *expected, enum ask_kind kind,
                   struct worker_end *out_end);
/* The two halves of worker_ask, to keep several workers busy. */
void worker_tell(struct worker *worker, json_t *command);
json_t *worker_hear(struct worker *worker, const char *expected, enum ask_kind kind,
                    struct worker_end *out_end);
/* worker_end.c: gone and reaped; the second waits at most so long for that. */
bool worker_has_ended(struct worker *worker);
bool worker_wait_end(struct worker *worker, uint64_t duration_ns);
/* Stops the worker's group; true when every thread of it was seen standing still. */
bool worker_stop(struct worker *worker);
/* Waits at most grace_ns for its own end, then SIGTERM, 2 s, SIGKILL and all that it started;
   removes its folder. True if it ended by itself with exit code 0. */
bool worker_close(struct worker *worker, uint64_t grace_ns);

/* -- noise.c ------------------------------------------------------------------------------------
 */
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

/* -- accuracy.c ---------------------------------------------------------------------------------
 */
struct accuracy {
  double max_abs_diff, max_rel_diff, rel_l2, cosine, top1; /* worst over the outputs */
  double max_share;                                        /* max|d| / max|r| */
  bool is_within;                                          /* tolerance of DESIGN.md, contract 17 */
  char where[512]; /* the first output that is not, with its figures */
};
/* The same type and shape. */
bool same_form(const hone_tensor *a, const hone_tensor *b);
void accuracy_init(struct accuracy *accuracy);
/* What an output is measured by. */
struct yardstick {
  const char *precision; /* whose tolerance holds */
  double step;           /* quantisation step of this output; 0: it is not quantised */
  double condition[2];   /* its own conditioning (condition.c): relative L2, max|d|/max|r|; or 0 */
};
void accuracy_add(struct accuracy *accuracy, const char *name, const hone_tensor *expected,
                  const void *actual, const struct yardstick *yardstick);
/* What a float output may differ by: relative L2 and max|d|/max|r|. */
void accuracy_tolerance(const struct yardstick *yardstick, double *out_rel_l2, double *out_max_rel);
void accuracy_merge(struct accuracy *into, const struct accuracy *from);

/* -- loop.c: the same code for all C backends
 * ------------------------------------------------------ */

struct run_set {
  hone_tensor *inputs, *outputs, *expected; /* expected[i].data NULL: no reference */
};
struct loop {
  const struct backend *backend;
  struct session *session;
  const struct backend_io *io;
  struct yardstick *yardsticks; /* of the outputs */
  struct run_set sets[BENCH_SETS];
  size_t *output_bytes;
  size_t next_set;
  struct random random;
  uint64_t iterations;         /* all that ran */
  double median_ns;            /* of the last window; what slices are planned with */
  struct generator *generator; /* loop_generate.c; NULL: one inference at a time */
  struct loop_texts *texts;    /* loop_outputs.c: what text outputs said when they were kept */
  int streams;                 /* requests that the engine takes before one is waited for */
};
#define LOOP_MAX_SAMPLES (1u << 20)
struct slice_plan {
  uint64_t min_samples, min_ns, max_ns, rewarm_ns;
  int checks; /* timed iterations whose outputs are compared */
  struct scenario scenario;
};
struct slice {
  uint64_t *samples, *rewarm;    /* ns; slice_deinit frees them */
  uint64_t *scheduled, *started; /* ns since the timed part began; NULL for single */
  size_t sample_count, rewarm_count;
  uint64_t copy_in[BENCH_SETS]; /* ns; of each set of inputs, before the slice */
  size_t copy_in_count;         /* 0: nothing is copied */
  int verified;
  struct accuracy accuracy;
};
/* One inference of the next set. */
MUST_USE hone_status loop_once(struct ctx *ctx, struct loop *loop, uint64_t *out_ns);
MUST_USE hone_status loop_warmup(struct ctx *ctx, struct loop *loop, uint64_t max_ns,
                                 bool *out_is_stationary);
MUST_USE hone_status loop_slice(struct ctx *ctx, struct loop *loop, const struct slice_plan *plan,
                                struct slice *out);
void slice_deinit(struct slice *slice);
/* Fills the outputs of one set with a pattern that no engine writes. */
void loop_poison(const struct loop *loop, size_t set);
/* Text outputs of the set's last inference stay as they are now, until loop_forget_text; others stay anyway. */
MUST_USE hone_status loop_keep_text(struct ctx *ctx, struct loop *loop, size_t set);
void loop_forget_text(struct loop *loop);
/* Compares the outputs of one set with its reference; false if it has none. */
bool loop_compare(const struct loop *loop, size_t set, struct accuracy *accuracy);

/* -- scenario.c, loop_scenario.c ----------------------------------------------------------------
 */
/* E_USAGE for a name that is none, or one whose rate is missing. */
MUST_USE hone_status scenario_make(struct ctx *ctx, const char *name,
                                   const struct bench_options *options, struct scenario *out);
/* Requests arrive by the clock, not when the one before is done. */
bool scenario_has_arrivals(const struct scenario *scenario);
/* Requests in flight that it wants. */
int scenario_streams(const struct scenario *scenario);
/* Time from one arrival to the next. */
uint64_t scenario_distance_ns(const struct scenario *scenario, struct random *random);
/* The timed part of a slice of any scenario but single: samples, scheduled, started. */
MUST_USE hone_status loop_scenario(struct ctx *ctx, struct loop *loop,
                                   const struct slice_plan *plan, struct slice *out);

/* -- inputs.c -----------------------------------------------------------------------------------
 */
/* Seeded values for input `index`: floats normal, integers within the tables that they index, masks
   ones. Allocated in `arena`. */
MUST_USE hone_status input_generate(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                    size_t index, uint64_t seed, int set, hone_tensor *out);

/* The same without a graph: integers that no graph explains are ones. */
MUST_USE hone_status input_fill(struct ctx *ctx, const char *name, const hone_tensor *tensor,
                                size_t index, uint64_t seed, int set);

/* -- steps.c ------------------------------------------------------------------------------------
 */
/* Of every output the size of the coarsest quantiser behind it, in the output's own numbers; 0: not
   quantised, or not known. */
MUST_USE hone_status output_steps(struct ctx *ctx, const struct graph *graph, double *out);
/* Whose tolerance holds: "int8" for a graph that quantises what it computes, "dynamic" for one whose weights alone are
   quantised in a format that lets engines quantise what they meet, else the lowest precision in which the file
   computes. */
const char *file_precision(const struct graph *graph);
/* By which outputs are judged that were computed in the precision `asked`: the coarser of both. */
const char *judged_precision(const struct graph *graph, const char *asked);
/* The same of a row: what was asked for, or where the file computes in less what that is. */
const char *row_precision(const struct bench_case *one, const struct cell *cell);

/* -- prepare.c (in the worker): model -> ONNX file, input sets, reference outputs
 * ------------------ */
/* dir: the worker's own, for costs.npy. */
MUST_USE hone_status prepare_describe(struct ctx *ctx, const json_t *command, const char *dir,
                                      json_t **out_reply);
MUST_USE hone_status prepare_reference(struct ctx *ctx, const json_t *command, json_t **out_reply);

/* -- given.c ------------------------------------------------------------------------------------
 */
/* Inputs that the user gives: --input NAME=FILE and --inputs DIR. */
struct given {
  const struct bench_pair *files;
  size_t file_count;
  const char *dir; /* NULL: none */
};
struct given_model {
  const char *title;
  const char *const *names; /* of its inputs, in order */
  size_t count;
  const bool
      *is_state; /* by input: begins as before any run where no file is given; NULL: none does */
};
/* All that is given is there, is an input of one of the models, and each model gets something of a folder. An
   input without a file is a warning. E_USAGE, E_NOFILE. */
MUST_USE hone_status given_check(struct ctx *ctx, const struct given *given,
                                 const struct given_model *models, size_t model_count);
struct bench;
/* The same for a study's cases, with the files' types and shapes. */
MUST_USE hone_status given_check_cases(struct bench *bench);
/* The file of input `index`, or "". E_USAGE where two files are given for it. */
MUST_USE hone_status given_find(struct ctx *ctx, const struct given *given, const char *name,
                                size_t index, char out[4096]);
/* Reads it; data in the arena. E_SHAPE, E_TYPE where it is not what is wanted. */
MUST_USE hone_status given_read(struct ctx *ctx, struct arena *arena, const char *path,
                                const char *name, const hone_tensor *want, hone_tensor *out);
/* In a worker: what the harness's command says of it. */
bool has_given(const json_t *command);
MUST_USE hone_status given_of_command(struct ctx *ctx, const json_t *command, const char *name,
                                      size_t index, char out[4096]);

/* -- condition.c (in the worker, and for `hone verify`) ------------------------------------------
 */
/* How far each output moves when the float inputs move by one unit in the last place, up or down at
   random; of a graph without float inputs its float constants move. outputs: of the reference with these
   inputs, which took it reference_ns. out: relative L2 and max|d|/max|r| by output; zeros where it was
   not measured. Graph and inputs are as before. */
MUST_USE hone_status condition_measure(struct ctx *ctx, struct graph *graph,
                                       const hone_tensor *inputs, const hone_tensor *outputs,
                                       uint64_t seed, uint64_t reference_ns, double (*out)[2]);
/* Paths of the data files of a case. */
void data_path(char out[4096], const char *dir, const char *kind /* "in" | "out" */, int set,
               size_t index);

/* -- inside a study -----------------------------------------------------------------------------
 */

/* neighbours.c: processes that keep the cores busy beside what is measured. */
#define BENCH_MAX_LOAD 64
struct neighbours {
  int count; /* that were started; they stand still but between _run and _rest */
  int pids[BENCH_MAX_LOAD];
};
/* How long a cell takes: before it was measured as engines of its kind did elsewhere, then as its own processes do. */
struct pace {
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
  double *floors;              /* ns, by cell; NaN: not measured */
  struct bench_case *identity; /* what floors are measured with; NULL until then */
  size_t step, step_count;
  struct pace *paces; /* by cell */
  struct turns {
    uint64_t end_ns, late_ns, case_end_ns; /* of clock_ns; late: what still runs is left */
    double patience_ns;                    /* with whoever is next, while none has run */
    bool has_run, case_has_run;            /* a cell did: of the study, of the case */
    bool has_surveyed;
  } turns;
};
/* options.c: names and files that do not exist, and defaults in place of zeros. */
MUST_USE hone_status options_check(struct bench *bench);
void options_set_defaults(struct bench_options *options, struct harness *harness);
/* cells.c */
MUST_USE hone_status study_expand(struct bench *bench);
MUST_USE hone_status study_key(struct bench *bench);
MUST_USE hone_status study_estimate(struct bench *bench); /* of time, memory and disk */
/* cases.c: a line that changes with the file. */
void put_file_stamp(struct text *text, const char *path);
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
/* largest.c: the largest batch up to options.largest_batch that the cell's engine runs, -1: none; and what the next
   one met. Nothing else of the study may be alive. */
MUST_USE hone_status largest_batch(struct bench *bench, const struct cell *cell,
                                   const struct bench_case *one, int64_t *out_largest,
                                   char out_end[256]);
/* Input sets and reference outputs, from the cache or computed now; held until case_release, since other
   processes trim the cache. */
MUST_USE hone_status case_reference(struct bench *bench, struct bench_case *one);
void case_release(struct bench_case *one);
/* keep.c: for options.keep_dir, while the cell's first worker is open. *out_survived: whether the worker answered;
   what it has nothing of is no failure, but a folder that cannot be written is. */
MUST_USE hone_status keep_cell(struct bench *bench, const struct cell *cell, struct worker *worker,
                               const struct incarnation *record, bool *out_survived);
/* labels.c: a folder of --inputs with labels.json is a labelled set: its first sample is what is timed. What the
   reference's outputs are worth, and what an engine's are, in its first process after everything was timed: false if that ended its worker. */
MUST_USE hone_status labels_find(struct bench *bench);
MUST_USE hone_status case_label(struct bench *bench, struct bench_case *one);
bool ask_labels(struct bench *bench, const struct bench_case *one, struct worker *worker,
                struct incarnation *record);
/* generation_cells.c: the study's scenario that generates text, or NULL; what a case's cells of it need; into the
   command of one, false with the reason where it cannot be asked. */
const struct scenario *bench_generates(const struct bench *bench);
MUST_USE hone_status case_generate(struct bench *bench, struct bench_case *one);
bool case_add_generation(const struct bench_case *one, const struct cell *cell, json_t *command,
                         struct worker_end *end);
/* peers.c: without a reference, two engines that agree serve; else outputs stay unverified. */
bool backend_is_peer(const struct bench *bench, const struct backend *backend);
MUST_USE hone_status case_from_peers(struct bench *bench, struct bench_case *one);
/* description.c: reads a worker's "described"; false if it is not sound. */
bool case_take_description(struct bench *bench, const json_t *reply, struct bench_case *one);
/* judge.c: compares what the worker's answer lists; false if that is damaged. */
bool judge_checks(struct worker *worker, const json_t *checks, struct accuracy *out,
                  int *out_verified);
/* witness.c: outputs that engines left in folders (out_SET_I.npy, in the model's order). */
/* Whether two folders hold the same outputs, within the case's tolerance. */
bool witnesses_agree(const struct bench_case *one, const char *dir_a, const char *dir_b,
                     const char *precision, struct accuracy *out);
/* A folder for the next witness of this case: made by the worker that uses it. */
void witness_dir(const struct bench *bench, struct bench_case *one, char out[4096]);
/* schedule.c: how often a cell is measured. Rounds of one process of a cell whose inference takes
   median_ns; whether one with `own` rounds takes part in a round of a group with `rounds`. */
int schedule_rounds(const struct bench_options *options, double median_ns);
double schedule_rounds_ns(const struct bench_options *options, double median_ns); /* all of them */
bool schedule_takes_part(int own, int rounds, int round);
int schedule_round_total(
    const struct bench_options *options);   /* most, of all processes of a cell */
typedef VEC(struct slice_median) slice_log; /* of one cell, ascending */
MUST_USE hone_status slice_log_add(struct ctx *ctx, struct arena *arena, slice_log *log,
                                   int process, const struct block *block);
double slice_log_level(const slice_log *log); /* mean of the medians, ns */
/* One cell of a case while it is measured: processes that ended for good, and how many it shall have. */
struct cell_run {
  size_t cell; /* of the study */
  int complete, wanted, next_number;
  double rate_per_s;     /* that its first process found; 0: not looked for */
  int64_t largest_batch; /* -1: not looked for */
  char largest_batch_end[256];
  bool has_failed;
  slice_log slices;
};
/* One more process for every cell of a comparison that the report will print and that is open. */
MUST_USE hone_status schedule_want_more(struct ctx *ctx, const struct cell *cells,
                                        struct cell_run *all, size_t count, bool *out_any);
/* Whether another process of both cells could still tell them apart. */
MUST_USE hone_status schedule_is_open(struct ctx *ctx, const slice_log *a, const slice_log *b,
                                      bool *out);
/* rounds.c: all cells of one case, interleaved; or, without a turn, each says so. */
MUST_USE hone_status measure_case(struct bench *bench, size_t case_index, bool has_turn);
/* saturation.c: of int8 models. The note goes before the reason of a row that is wrong. */
bool may_saturate(const struct bench_case *one, const struct cell *cell);
void note_saturation(const struct bench_case *one, const struct cell *cell,
                     struct incarnation *record);
/* turns.c: under options.budget_s, else without any effect. A case is prepared, if anything is left for it, and begins with
   its share of what then is left. */
void turns_begin(struct bench *bench);
bool turns_prepare_case(struct bench *bench);
void turns_begin_case(struct bench *bench, size_t case_index);
bool turns_reach(const struct bench *bench, double ns); /* for so much more of the case */
bool turns_are_over(const struct bench *bench);         /* what still runs is left */
void turns_bound(struct bench *bench); /* once a cell ran: no deadline lies behind the case's end */
/* Bounds what is asked until turn_end, for one of the `waiting` + 1 cells that are still to be opened, where rounds_ns are what
   those that run will take; false: nothing is left for it. */
bool turn_begin(struct bench *bench, double rounds_ns, size_t waiting);
/* It runs, or does not: whether the rounds of all that do, this one's among them, still fit. */
bool turn_end(struct bench *bench, double rounds_ns);
struct member;
/* Whether it does not run because of the bound that turn_begin set. */
bool turn_was_cut(const struct bench *bench, const struct member *member);
/* Bounds a slice of what runs until turn_slice_end; whoever was cut leaves the others less. */
void turn_slice(struct bench *bench);
void turn_slice_end(struct bench *bench, bool was_cut);
/* Each bounds, until deadline_ns is 0, what is asked of a cell behind its rounds: its floor, its end, and all else. */
void turn_floor(struct bench *bench);
void turn_close(struct bench *bench);
void turn_survey(struct bench *bench);
/* floors.c: the floor of a cell that works: an identity model through the same path, once for each
   backend, options and threads. */
MUST_USE hone_status measure_floor(struct bench *bench, size_t cell);
/* references.c: keeps the reference data that was used last; leaves alone what somebody holds. */
void references_trim(const char *dir);
/* Holds a folder of reference data: nobody trims it while the descriptor is open. -1: it is not there. */
int reference_hold(const char *dir);
/* Takes it out of the cache, whole: what its name stands for is then made again. */
void reference_remove(const char *dir);
/* commands.c: between them nothing that is asked of workers takes longer than options.reference_s, or than turns.c leaves. */
void budget_begin(struct bench *bench);
void budget_end(struct bench *bench);
/* What every worker is started with; its folder is a fresh one. */
MUST_USE hone_status bench_worker(struct bench *bench, const char *cell, int threads,
                                  struct worker *out);
/* The same for one cell, with its env.NAME options as environment. */
MUST_USE hone_status bench_cell_worker(struct bench *bench, const struct cell *cell,
                                       const char *key, struct worker *out);
/* Model, inputs and expected outputs for a worker that does not share our files; the command is told
   where they are there. False: they cannot be sent, and why. */
bool send_case(struct worker *worker, const struct bench_case *one, json_t *command,
               struct worker_end *end);
json_t *open_command(const struct bench *bench, const struct cell *cell,
                     const struct bench_case *one, bool use_cache);
/* The user's own input files, added to a command whose worker makes inputs. */
json_t *names_of(const struct backend_tensor *tensors, size_t count);
void add_given_inputs(const struct bench *bench, json_t *command);
/* priority.c: other programs of this machine take less of the CPU from what is measured, where we may
   ask for that. Workers inherit it. */
int priority_set(int nice);     /* returns what it was */
void priority_of_session(void); /* the worker's session gets the worker's own */
/* neighbours.c: `count` of them are busy from now on; E_CRASH if one was ended from outside. */
MUST_USE hone_status neighbours_run(struct bench *bench, int count);
void neighbours_rest(struct bench *bench);
void neighbours_end(struct bench *bench);
/* progress.c */
bool bench_is_interrupted(const struct bench *bench);
/* Before the first: what each cell will take. The sum of it. */
MUST_USE hone_status pace_expect(struct bench *bench, double *out_seconds);
/* Since then the cell's process took time; it ended; so many are still to do. */
void pace_add(struct bench *bench, size_t cell, uint64_t since_ns);
void pace_end(struct bench *bench, size_t cell, bool has_failed, int left);
double pace_seconds_left(const struct bench *bench);
void bench_report(struct bench *bench, const struct cell *cell, const char *model,
                  const char *phase);

#endif
