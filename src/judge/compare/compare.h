/* compare: from the blocks of a study to records with ranks, and what two studies or two rows prove of each other.
 *
 *   summary.c    blocks to records, groups, ranks and comparisons
 *   matrix.c     models by engines
 *   winners.c    the first of each group and its margin
 *   changes.c    two studies configuration by configuration
 *   read_json.c  a study back from its JSON
 *   facts.c      a machine's JSON as a flat list
 *   row_text.c   the words for a row
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
  const struct study_data *data; /* raw samples for distributions */
};
/* Statistics over blocks: deterministic (seeded by the study key). synthetic rows only if asked.
   Records come out grouped by model, shapes, batch, threads, precision and scenario in order of first
   appearance;
   in a group ranked ones first, fastest first, then measured ones without rank, then the rest.
   Each ranked record is compared with the group's fastest and with its native row (a: the record, b: what
   it is compared with), an --aa copy with its original. */
MUST_USE hone_status summarise(struct ctx *ctx, struct arena *arena, const struct study_data *data,
                               bool with_synthetic, struct summary *out);

bool same_group(const struct record *a, const struct record *b);
/* One past the last record of the group that begins at `begin`. */
size_t group_end(const struct summary *summary, size_t begin);
bool is_measured(const struct record *record);
/* What stands in a figure's place in a row without a rank, and what it means: of a right one the mark that keeps it from
   one. */
const char *standing_text(const struct record *record);
const char *standing_help(const struct record *record);
bool is_native(const struct record *record);
/* What the ratio a / b of two latencies proves, by the one rule of studies, gates and recommendations (docs/understand/measuring.md):
   3 processes and 12 rounds of both, and more than their floors differ. pairs: what both have in common; NULL: the
   records' own processes and rounds count. */
enum verdict verdict_of(const struct record *a, const struct record *b,
                        const struct interval *ratio, const struct paired *pairs);
/* The comparison of record a with record b, NULL if there is none. */
const struct comparison *find_comparison(const struct summary *summary, size_t a, size_t b);
/* The group's native row that is ranked, SIZE_MAX if there is none. */
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
/* Some row was decided against row i, or there is none to decide. */
bool is_decided(const struct summary *summary, size_t i);
/* Another backend's row ties with row i. */
bool is_tied(const struct summary *summary, size_t i);
/* The word for a group's first row: "fastest", "first, tied", "ahead so far". */
const char *first_text(const struct summary *summary, size_t i);
/* Smallest relative difference that the --aa pair ending at record i could show: half the width of its ratio's
   interval, in logarithms; NaN if it is no such pair. */
double aa_resolution(const struct summary *summary, size_t i);

/* -- row_text.c */
/* Share of the direct algorithm's limit, of Winograd's in brackets. */
void put_limit(struct strbuf *out, const struct record *record);
void put_half_width(struct strbuf *out, const struct record *record); /* "±0.3 %" */
/* Any column of columns.def in its unit; untrusted text. */
void put_column(struct strbuf *out, const struct record *record, const struct column *column);
/* A study as a heading calls it: its name, else its models. */
void put_study_title(struct strbuf *out, const struct summary *summary);
/* "native", "torch:compile"; untrusted text */
void put_engine_name(struct strbuf *out, const struct config *config);
/* The backends of a group that ended as row i did, each once; false if an earlier row names it. */
bool put_failed_names(struct strbuf *out, const struct summary *summary, size_t begin, size_t end,
                      size_t i);
/* From the model's file to the first inference, caches off: compile and load. NaN unknown. */
double ready_ms(const struct record *record);
bool compiles_in_load(const struct record *record);
/* Resident set while it ran, else the highest seen; -1 unknown. */
int64_t memory_of(const struct record *record);
void put_row_name(struct strbuf *out, const struct record *record);
/* Of the same engine on the same device by the same route, with the same options: one column. The
   precision is the group's. */
bool same_engine(const struct config *a, const struct config *b);
bool same_engine_any_route(const struct config *a, const struct config *b);
/* What tells this engine from others with its name: device, route, caches, options; "" for none. */
const char *engine_marks(const struct config *config, char out[256]);
/* "batch 1 · 8 threads · fp32"; untrusted text */
void put_group_facts(struct strbuf *out, const struct record *record);
/* "top1 0.8, 100 %": of the labels, and the share of the reference's; nothing where there are none. */
void put_task(struct strbuf *out, const struct record *record);
/* Beside batch and threads: precision, scenario and load where they are not the usual ones, each after `between`. */
/* " · 2 busy neighbours", or nothing */
void put_group_rest(struct strbuf *out, const struct config *config, const char *between);
/* "open dimensions: batch = 1 (assumed: ...)"; nothing where the file fixes all; untrusted text. */
void put_open_dimensions(struct strbuf *out, const struct record *record);
/* "fastest" ("ahead so far" while nothing is decided), "1.82x slower", "tie", "1.10x undecided", "" */
void put_verdict(struct strbuf *out, const struct summary *summary, size_t i, size_t against);

/* -- read_json.c: a study that render_json wrote: records without samples, `data` NULL. E_FORMAT,
   E_LIMIT, E_NOFILE. */
MUST_USE hone_status summary_read_json(struct ctx *ctx, struct arena *arena, const char *path,
                                       struct summary *out);

/* -- changes.c: two studies configuration by configuration */
struct change {
  size_t before, after;  /* records; SIZE_MAX on the side that lacks the configuration */
  bool is_compared;      /* measured on both sides */
  bool is_slower;        /* the whole interval lies above what is allowed */
  bool is_broken;        /* was ok, ended otherwise */
  struct interval ratio; /* latency after by latency before */
  enum verdict verdict;
};
struct changes {
  const struct summary *before, *after;
  double fail_above; /* 0.05: more than 5 % slower is a regression; NaN: nothing is */
  size_t count;
  struct change *at; /* in the order of `after`, then what only `before` has */
  size_t compared, decided, slower, broken, only_before, only_after;
  /* whose ratio is not the clock's, but of the processors' time of several threads */
  size_t by_processors;
};
MUST_USE hone_status changes_find(struct ctx *ctx, struct arena *arena,
                                  const struct summary *before, const struct summary *after,
                                  double fail_above, struct changes *out);
/* The smallest slowdown that the configuration's interval could have shown, 0.05 for 5 %; NaN: there is no interval. */
double change_detectable(const struct change *change);
/* Whether the gate can say neither "slower than allowed" nor "within it": an interval that is missing, wider than
   fail_above, or across it with the ratio beyond. false without a gate. */
bool change_is_open(const struct changes *changes, const struct change *change);
/* 0; 1 a regression; 5 no configuration was decided, or one is open. 0 without a gate. */
int changes_exit_code(const struct changes *changes);
const struct record *change_record(const struct changes *changes, const struct change *change);
const char *change_text(const struct change *change); /* a word: verdict, "broken", "only before" */
void put_change(struct strbuf *out, const struct change *change);
void put_changes_sentence(struct strbuf *out, const struct changes *changes);
/* A line where the gate ends with 5: why, and what helps. */
void put_changes_remedy(struct strbuf *out, const struct changes *changes);
bool changes_differ_in_machine(const struct changes *changes);
bool changes_lack_samples(const struct changes *changes);

/* -- facts.c: a JSON object as a flat list of "a.b" = text, in its own order */
struct fact {
  const char *key, *value; /* of untrusted text */
};
MUST_USE hone_status facts_read(struct ctx *ctx, struct arena *arena, const char *json,
                                struct fact **out, size_t *out_count);
/* Value of the key or of a key that ends with ".KEY"; NULL. */
const char *fact_find(const struct fact *facts, size_t count, const char *key);

/* -- matrix.c: models x engines, what the page, the terminal and README begin with */
struct engine {
  size_t record; /* one of its rows: color */
  const struct config
      *config;         /* names: that row's, without a route where the column holds several */
  size_t ranked, wins; /* groups in which it has a rank; in which it is first, alone or tied */
  double ratio;        /* geometric mean of median / fastest median over its ranked groups */
  double ready_ms;     /* geometric means over the groups where they are known; NaN: nowhere */
  double memory_bytes;
  double portability; /* of its configurations on all devices, the share that ran correctly */
};
/* winners.c: who is first in a group, against the fastest engine of another name */
struct winner {
  size_t first, next; /* records; next SIZE_MAX: no other has a rank */
  double ratio;       /* latency of next by first */
  /* inferences until first has caught up with next's earlier start; NaN unknown */
  double pays_after;
};
enum { WINNER_COLUMNS = 8 };
/* False where nobody has a rank. */
bool winner_of_group(const struct summary *summary, size_t begin, struct winner *out);
const char *winner_title(size_t column);
/* Untrusted text. */
void put_winner(struct strbuf *out, const struct summary *summary, const struct winner *winner,
                size_t column);

/* Geometric means of the columns over the groups of one precision. */
struct matrix_mean {
  const char *precision; /* NULL: of all */
  size_t group_count;
  struct engine_mean {
    double ratio; /* latency by the group's fastest; NaN without a rank */
    size_t ranked;
  } * engines; /* [engine_count] */
};
struct matrix {
  size_t group_count, engine_count;
  /* no group has an engine by two routes: a model's format alone decides it, so it makes no column */
  bool joins_routes;
  size_t *begins;            /* [group_count] first record of each group */
  struct engine *engines;    /* most ranks first, then the lowest mean ratio */
  size_t *cells;             /* [group_count][engine_count] record, SIZE_MAX where there is none */
  struct matrix_mean *means; /* each precision's where there are several, last of all */
  size_t mean_count;
};
MUST_USE hone_status matrix_make(struct ctx *ctx, struct arena *arena,
                                 const struct summary *summary, struct matrix *out);
/* The same file or built-in model, whose bytes may differ with the batch. */
bool same_model(const struct config *a, const struct config *b);
size_t model_count(const struct summary *summary, const struct matrix *matrix);
/* The column of a record, its --aa copy too; SIZE_MAX if there is none. */
size_t matrix_engine_of(const struct matrix *matrix, const struct summary *summary, size_t i);
/* Latency by the group's fastest, as their comparison has it; NaN without a rank. */
double matrix_ratio(const struct matrix *matrix, const struct summary *summary, size_t group,
                    size_t engine);
/* The row is its group's first or ties with it. */
bool is_among_first(const struct summary *summary, size_t i, size_t begin);
/* Geometric mean of latency of b by latency of a over the groups where both have ranks, and their
   number. */
double matrix_lead(const struct matrix *matrix, const struct summary *summary, size_t a, size_t b,
                   size_t *out_groups);

#endif
