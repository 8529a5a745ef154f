/* compare: the blocks of a study to records with ranks; comparisons of two rows and of two studies.
 *
 *   summary.c    blocks to records, groups, ranks and comparisons
 *   matrix.c     models by engines
 *   winners.c    the fastest engine of each group and its margin
 *   changes.c    two studies, configuration by configuration
 *   read_json.c  reads a study's JSON
 *   facts.c      a machine's JSON as a flat list
 *   row_text.c   the text of a row's figures
 */
#ifndef HONE_COMPARE_H
#define HONE_COMPARE_H

#include "bench/store/store.h"
#include "core/stats/stats.h"

/* -- summary.c */
struct comparison {
  size_t a, b; /* indices of records */
  struct interval ratio;
  enum verdict verdict;
};
struct summary {
  struct study_row study;
  size_t record_count;
  struct record *records;
  size_t comparison_count;
  struct comparison *comparisons;
  /* raw samples, for distributions; NULL for a study read from JSON */
  const struct study_data *data;
};
/* Statistics over blocks, deterministic: seeds come from the study's key. Rows of test backends only with_synthetic.
   Records are grouped by model, shapes, batch, threads, precision and scenario, groups in order of first appearance. In a
   group, ranked records come first, fastest first, then measured ones without a rank, then the rest. Each ranked record
   (a) is compared with the group's fastest and with its native row (b), and an --aa copy with its original. */
MUST_USE hone_status summarise(struct ctx *ctx, struct arena *arena, const struct study_data *data,
                               bool with_synthetic, struct summary *out);

bool same_group(const struct record *a, const struct record *b);
/* One past the last record of the group that begins at `begin`. */
size_t group_end(const struct summary *summary, size_t begin);
bool is_measured(const struct record *record);
/* The text that replaces the figure of a row without a rank, and its meaning: the status, or the mark of a correct row
   that keeps it from having a rank. */
const char *unranked_text(const struct record *record);
const char *unranked_help(const struct record *record);
bool is_native(const struct record *record);
/* The verdict on the ratio a / b of two latencies. Studies, gates and recommendations share this rule (docs/understand/measuring.md):
   at least 3 processes and 12 rounds of both, and a difference larger than that of their overheads. pairs: the processes
   and rounds that both have in common; NULL: each record's own are counted. */
enum verdict verdict_of(const struct record *a, const struct record *b,
                        const struct interval *ratio, const struct paired *pairs);
/* The comparison of record a with record b, NULL if there is none. */
const struct comparison *find_comparison(const struct summary *summary, size_t a, size_t b);
/* The group's ranked native row; SIZE_MAX: none. */
size_t native_of_group(const struct summary *summary, size_t begin, size_t end);
MUST_USE hone_status make_sample_set(struct ctx *ctx, struct arena *arena,
                                     const struct config_data *data, struct sample_set *out);
/* The median of every block that has samples. */
MUST_USE hone_status block_medians(struct ctx *ctx, struct arena *arena,
                                   const struct config_data *data, struct slice_median **out,
                                   size_t *out_count);
/* NULL: a study that was read from a file has no samples. */
const struct config_data *config_data_of(const struct summary *summary,
                                         const struct record *record);
uint64_t seed_of(const char *key);
/* Some comparison with row i has a verdict, or there is no comparison. */
bool is_decided(const struct summary *summary, size_t i);
/* Another engine's row ties with row i. */
bool is_tied(const struct summary *summary, size_t i);
/* Of a group's first row: "fastest", "first, tied", "ahead so far". */
const char *first_text(const struct summary *summary, size_t i);
/* The smallest relative difference that the --aa pair of record i can detect: half the width of its ratio's interval, in
   logarithms. NaN: record i is not the second of such a pair. */
double aa_resolution(const struct summary *summary, size_t i);

/* -- row_text.c */
/* Share of the direct algorithm's limit; of Winograd's in brackets. */
void put_limit(struct strbuf *out, const struct record *record);
void put_half_width(struct strbuf *out, const struct record *record); /* "±0.3 %" */
/* Any column of columns.def in its unit; untrusted text. */
void put_column(struct strbuf *out, const struct record *record, const struct column *column);
/* The heading of a study: its name, else its models. */
void put_study_title(struct strbuf *out, const struct summary *summary);
/* "native", "torch:compile"; untrusted text */
void put_engine_name(struct strbuf *out, const struct config *config);
/* The engines of a group that failed as row i did, each once; false if an earlier row of the group listed them. */
bool put_failed_names(struct strbuf *out, const struct summary *summary, size_t begin, size_t end,
                      size_t i);
/* Compile and load time without caches. NaN unknown. */
double ready_ms(const struct record *record);
bool compiles_in_load(const struct record *record);
/* Resident set while running, else its peak; -1 unknown. */
int64_t memory_of(const struct record *record);
void put_row_name(struct strbuf *out, const struct record *record);
/* The same engine, device, route, cache state and options: one column of the matrix. */
bool same_engine(const struct config *a, const struct config *b);
bool same_engine_any_route(const struct config *a, const struct config *b);
/* Device, route, cache state and variant where they are not the defaults; "" for none. */
const char *engine_marks(const struct config *config, char out[256]);
/* "batch 1 · 8 threads · fp32"; untrusted text */
void put_group_facts(struct strbuf *out, const struct record *record);
/* "top1 0.8, 100 %": the score on labels, and relative to the reference's; nothing without labels. */
void put_task(struct strbuf *out, const struct record *record);
/* Precision, scenario and load where they are not the defaults, each after `between`: " · 2 busy neighbours". */
void put_group_rest(struct strbuf *out, const struct config *config, const char *between);
/* "dynamic dimensions: batch = 1 (assumed: ...)"; nothing for a model without any; untrusted text. */
void put_open_dimensions(struct strbuf *out, const struct record *record);
/* "fastest" ("ahead so far" while nothing is decided), "1.82x slower", "tie", "1.10x undecided", "" */
void put_verdict(struct strbuf *out, const struct summary *summary, size_t i, size_t against);

/* -- read_json.c: a study that render_json wrote; records have no samples, `data` is NULL. E_FORMAT, E_LIMIT, E_NOFILE. */
MUST_USE hone_status summary_read_json(struct ctx *ctx, struct arena *arena, const char *path,
                                       struct summary *out);

/* -- changes.c: two studies configuration by configuration */
struct change {
  size_t before, after;  /* records; SIZE_MAX: the study does not have the configuration */
  bool is_compared;      /* measured in both studies */
  bool is_slower;        /* the whole interval is above 1 + fail_above */
  bool is_broken;        /* ok before, not ok after */
  struct interval ratio; /* latency after / latency before */
  enum verdict verdict;
};
struct changes {
  const struct summary *before, *after;
  double fail_above; /* 0.05: more than 5 % slower is a regression; NaN: no gate */
  size_t count;
  struct change *at; /* in the order of `after`, then those that only `before` has */
  size_t compared, decided, slower, broken, only_before, only_after;
  /* multi-threaded configurations whose ratio is of processor time instead of wall time */
  size_t by_processors;
};
MUST_USE hone_status changes_find(struct ctx *ctx, struct arena *arena,
                                  const struct summary *before, const struct summary *after,
                                  double fail_above, struct changes *out);
/* The smallest slowdown that this interval could have shown, 0.05 for 5 %; NaN: no interval. */
double change_detectable(const struct change *change);
/* The gate can neither prove nor rule out a slowdown of more than fail_above: the interval is missing, or too wide.
   false without a gate. */
bool change_is_open(const struct changes *changes, const struct change *change);
/* 0; 1: a regression; 5: no configuration has a verdict, or one is open. 0 without a gate. */
int changes_exit_code(const struct changes *changes);
const struct record *change_record(const struct changes *changes, const struct change *change);
const char *change_text(const struct change *change); /* a word: verdict, "broken", "only before" */
void put_change(struct strbuf *out, const struct change *change);
void put_changes_sentence(struct strbuf *out, const struct changes *changes);
/* For exit code 5: one line with the reason and what to do. */
void put_changes_remedy(struct strbuf *out, const struct changes *changes);
bool changes_differ_in_machine(const struct changes *changes);
bool changes_lack_samples(const struct changes *changes);

/* -- facts.c: a JSON object as a flat list of "a.b" and value, in the object's order */
struct fact {
  const char *key, *value; /* of untrusted text */
};
MUST_USE hone_status facts_read(struct ctx *ctx, struct arena *arena, const char *json,
                                struct fact **out, size_t *out_count);
/* Value of the key or of a key that ends with ".KEY"; NULL. */
const char *fact_find(const struct fact *facts, size_t count, const char *key);

/* -- matrix.c: models by engines, the first table of the page, the terminal and README */
struct engine {
  size_t record; /* one of its rows, for the color */
  /* for the name: that row's, without a route if the column has several */
  const struct config *config;
  size_t ranked, wins; /* groups in which it has a rank; in which it is first or tied for first */
  double ratio;        /* geometric mean of its median by the group's fastest median */
  double ready_ms;     /* geometric mean over the groups where it is known; NaN: none */
  double memory_bytes;
  double portability; /* share of its configurations, on all devices, that ran correctly */
};
/* winners.c: the fastest engine of a group, compared with the fastest one of another name */
struct winner {
  size_t first, next; /* records; next: the runner-up, SIZE_MAX if no other engine has a rank */
  double ratio;       /* latency of next / latency of first */
  /* break-even: inferences after which the longer start-up of first is recovered; NaN unknown */
  double pays_after;
};
enum { WINNER_COLUMNS = 8 };
/* False if no record of the group has a rank. */
bool winner_of_group(const struct summary *summary, size_t begin, struct winner *out);
const char *winner_title(size_t column);
/* Untrusted text. */
void put_winner(struct strbuf *out, const struct summary *summary, const struct winner *winner,
                size_t column);

/* Geometric mean of each column over the groups of one precision. */
struct matrix_mean {
  const char *precision; /* NULL: of all */
  size_t group_count;
  struct engine_mean {
    double ratio; /* latency / the group's fastest; NaN without a rank */
    size_t ranked;
  } * engines; /* [engine_count] */
};
struct matrix {
  size_t group_count, engine_count;
  /* no group has an engine by two routes, so the route does not distinguish columns */
  bool joins_routes;
  size_t *begins;         /* [group_count] first record of each group */
  struct engine *engines; /* most ranks first, then the lowest mean ratio */
  size_t *cells;          /* [group_count][engine_count] record; SIZE_MAX: none */
  /* of each precision if there are several; the last is over all groups */
  struct matrix_mean *means;
  size_t mean_count;
};
MUST_USE hone_status matrix_make(struct ctx *ctx, struct arena *arena,
                                 const struct summary *summary, struct matrix *out);
/* The same file or built-in model; its bytes may differ with the batch. */
bool same_model(const struct config *a, const struct config *b);
size_t model_count(const struct summary *summary, const struct matrix *matrix);
/* The column of a record or of its --aa copy; SIZE_MAX: none. */
size_t matrix_engine_of(const struct matrix *matrix, const struct summary *summary, size_t i);
/* Latency / the group's fastest, from their comparison; NaN without a rank. */
double matrix_ratio(const struct matrix *matrix, const struct summary *summary, size_t group,
                    size_t engine);
/* The row is its group's fastest or ties with it. */
bool is_among_first(const struct summary *summary, size_t i, size_t begin);
/* Geometric mean of latency of b / latency of a over the groups in which both have a rank, and their number. */
double matrix_geometric_ratio(const struct matrix *matrix, const struct summary *summary, size_t a,
                              size_t b, size_t *out_groups);

#endif
