/* The state of a recommendation, which the files of the room share. */
#ifndef HONE_ELIMINATION_H
#define HONE_ELIMINATION_H

#include "judge/predict/predict.h"
#include "recommend.h"

#include <jansson.h>

/* -- prediction.c */
enum { PREDICTIONS_MOST = 128 };
struct predictions {
  size_t count;
  struct candidate_prediction {
    char backend[32], precision[16];
    int threads, batch;
    struct prediction of[TARGET_COUNT];
    /* a bound that it is predicted to miss, else the objective if it is worse by that;
       CONSTRAINT_COUNT: neither */
    enum constraint_id against;
    bool is_dropped; /* not measured */
  } at[PREDICTIONS_MOST];
};
struct prediction_table {
  struct ctx *ctx;
  struct arena *arena;
  const struct recommend_options *options;
  struct store *store; /* NULL: none yet */
  struct samples samples;
  struct xgboost *library;
  char why_not[600]; /* XGBoost is not used; "" it is */
  uint64_t end_ns;   /* 0: no limit */
  struct predictor *predictor;
  struct predictions found;
};
/* Every ready (or named) backend with every precision, batch and thread count. Count 0 without a
   failure where nothing can be predicted: no store, few models, or training would take longer
   than budget_s. */
MUST_USE hone_status predict_candidates(struct ctx *ctx, struct arena *arena,
                                        const struct recommend_options *options, double budget_s,
                                        struct predictions *out);
/* Drops candidates until at most `affordable` are left, worst first. Only those whose whole
   interval misses a bound, or is worse by the objective than that of the best candidate which is
   predicted to meet every bound. Whether it dropped any. */
bool drop_predicted_losers(struct predictions *predictions, const struct constraints *constraints,
                           double affordable);
/* Predicted interval of a constraint's value; NaN: none. For throughput the time of one sample:
   less is better. */
struct interval predicted_value(const struct candidate_prediction *row, enum constraint_id id);
/* The thread counts to measure, named or default, in descending order: the first is sure to be
   measured. */
void list_thread_counts(const struct recommend_options *options, int out[RECOMMEND_THREADS],
                        size_t *out_count);
/* The last --engine NAME=PATH; NULL: none. */
const char *engine_path_in(const struct argument_list *engines, const char *name);
/* prediction_table.c: what was dropped and why, as lines and as rows of the answer's JSON */
void put_dropped_predictions(const struct predictions *predictions,
                             const struct constraints *constraints, struct strbuf *lines,
                             json_t *list);

/* -- hybrid.c */
struct hybrid_proposal {
  char parts[256]; /* option of the backend `hybrid`; "": none to measure */
  char words[600]; /* the result of the search; "" before it */
  json_t *json;    /* of hone hybrid: cuts, segments and transfers with their times; or NULL */
};
/* Starts no timing after budget_s. A model that cannot be cut, or a single engine, is not a
   failure: `words` say so. */
MUST_USE hone_status propose_hybrid(struct ctx *ctx, const struct recommend_options *options,
                                    const char *dir, int threads, double budget_s,
                                    struct hybrid_proposal *out);
/* The options of a round in which the backend `hybrid` takes part. */
MUST_USE hone_status hybrid_add_options(struct ctx *ctx, const struct recommend_options *options,
                                        struct arena *arena, const struct hybrid_proposal *proposal,
                                        struct command *command);

/* -- variants.c */
enum { VARIANT_COUNT = 4, VARIANT_DIR = 1024 };
struct variants {
  char dir[4096];   /* in the user's cache: the variants and the labelled set; "" none was made */
  char model[65];   /* the model's name as a file name */
  char set[4096];   /* labelled set that gives each candidate its accuracy; "" none */
  char words[300];  /* why no variant was made; "" they were */
  bool is_made_up;  /* the samples are seeded, not the user's */
  double reference; /* accuracy of the model itself; NaN unknown */
  int batch;        /* of the model itself; 0 unknown */
  struct variant {
    const char *name, *title; /* "fp16", "fp16-weights" */
    char path[VARIANT_DIR + 100];
    char words[300]; /* why it could not be made */
    bool is_made;
    json_t *report; /* of hone quantise, or NULL */
  } at[VARIANT_COUNT];
};
/* budget_s: for all variants together. One that cannot be made is not a failure: `words` say
   why. */
MUST_USE hone_status make_variants(struct ctx *ctx, const struct recommend_options *options,
                                   double budget_s, struct variants *out);
/* By the model's name in a record. 0: the model itself, else 1 + the variant's index. */
size_t variant_of(const struct variants *variants, const char *model);
/* Sets accuracy_retention of each record to the share of the original model's accuracy. Records
   of variants get the variant's title as precision and the original model's batch. */
MUST_USE hone_status judge_variants(struct ctx *ctx, struct variants *variants,
                                    struct summary *summary);
void put_variants(struct strbuf *out, const struct variants *variants);
json_t *variants_json(const struct variants *variants); /* NULL: none were tried */

/* -- elimination.c */
enum { ROUNDS = 4, MORE_ROUNDS = 2 }; /* more: for candidates that were dropped too early */
struct round {
  /* its timeout was the rest of the budget: a timeout is not the candidate's fault */
  bool is_bounded;
  struct summary summary;
  struct advice advice;
  /* by record: the earlier round whose result it has, from 1 (0: this round's own), and why this
     one had no time */
  struct carried {
    size_t round;
    const char *reason;
  } * carried;
  VEC(struct comparison) pairs; /* of the summary */
};
struct recommendation {
  struct ctx *ctx;
  struct arena *arena;
  const struct recommend_options *options;
  uint64_t start_ns;
  char dir[4096]; /* temporary */
  struct round rounds[ROUNDS + MORE_ROUNDS];
  size_t round_count;
  struct predictions predictions;
  struct hybrid_proposal hybrid;
  struct variants variants;
  bool takes_part[1 + VARIANT_COUNT]; /* in the next round: the model, then its variants */
  /* The only candidate that the screening round measured. Others wait: it is not in the next
     round. */
  const struct record *measured_alone;
  double all_s, reference_s, variants_s; /* reference_s, variants_s are parts of all_s */
  json_t *phases;                        /* [{phase, begin_s, budget_s, all_s}] */
};

/* -- carry_over.c: results across rounds; `key` is a configuration's */
size_t find_record(const struct summary *summary, const char *key); /* SIZE_MAX: none */
/* Interrupted by the budget, or by a timeout that was the rest of it. */
bool had_no_time(const struct round *round, const struct record *record);
/* The last round, from `round` on, that has the configuration. */
size_t last_round_with(const struct recommendation *r, size_t round, const char *key);
/* For the newest round, before it is counted: records that it had no time for get the result of
   the last round that had. */
MUST_USE hone_status carry_over(const struct recommendation *r, struct round *round);
/* Adds the record that was left out of this round because it was measured already. */
MUST_USE hone_status append_measured_alone(const struct recommendation *r, struct summary *s);
/* Marks carried records in the newest round's advice. */
void mark_carried(const struct recommendation *r, struct round *round);
/* Forgets the newest round if the budget ended before it measured anything. */
void drop_empty_round(struct recommendation *r);

/* -- candidates.c */
struct candidate {
  const struct record *record;
  double value; /* of the objective; NaN: not measured yet */
};
/* Those of the next round: the best first, unmeasured ones last. *out_back: how many of them are
   brought back. */
MUST_USE hone_status list_candidates(const struct recommendation *r, struct candidate **out,
                                     size_t *out_count, size_t *out_back);
const struct record *find_measured_alone(const struct recommendation *r);
double start_times_s(const struct candidate *list, size_t count);
/* If the time left is too short for all: keeps the best and the unmeasured ones. Returns the new
   count. */
size_t prefer_unmeasured(struct candidate *list, size_t count, double left_s);
#endif
