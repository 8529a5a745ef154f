/* advise: measured records and the user's constraints to a choice with its reasons. Pure: the
 * same records give the same advice. A candidate without a measurement is never chosen. */
#ifndef HONE_ADVISE_H
#define HONE_ADVISE_H

#include "judge/compare/compare.h"

/* What can be bounded or optimised: constraints.def. */
enum constraint_id {
#define CONSTRAINT(name, ...) CONSTRAINT_##name,
#include "constraints.def"
#undef CONSTRAINT
  CONSTRAINT_COUNT
};
struct constraint_kind {
  const char *name;  /* "latency" */
  const char *title; /* "median latency" */
  enum amount_kind amount;
  const char *unit; /* "ms", "B", "share" */
  bool is_more_better;
  double (*value)(const struct record *record); /* NaN: not known */
};
extern const struct constraint_kind constraint_kinds[CONSTRAINT_COUNT];

struct constraints {
  double bound[CONSTRAINT_COUNT]; /* maximum, or minimum if more is better; NaN: none */
  enum constraint_id objective;
};
void constraints_init(struct constraints *constraints); /* no bounds, the objective is latency */

enum candidate_status {
  CANDIDATE_chosen,
  CANDIDATE_runner_up, /* the best of the others */
  CANDIDATE_behind,    /* meets every bound, is worse than the choice */
  CANDIDATE_tied,      /* no significant difference from the choice */
  CANDIDATE_undecided, /* too few processes or rounds for a verdict against the choice */
  CANDIDATE_unproven,  /* a hybrid that is not proven faster than a single engine */
  CANDIDATE_out,       /* misses a bound */
  CANDIDATE_unsure,    /* a bound is within its interval */
  CANDIDATE_invalid    /* no usable measurement: the record's status is the reason */
};
enum bound_state { BOUND_HELD, BOUND_UNSURE, BOUND_MISSED };
struct candidate_state {
  enum candidate_status status;
  enum bound_state bounds[CONSTRAINT_COUNT];
  /* Set by the caller if a later round had no time for the candidate: the round that its figures
     are from (0: the advice's own), the later round, and its reason; NULL: there is none. */
  size_t measured_in, late_round;
  const char *late_reason;
};
/* The runner-up of an earlier round, if these records have none. */
struct earlier_runner_up {
  const struct summary *summary; /* NULL: none */
  size_t record, round;
  struct interval ratio;
  bool is_decided;
};
struct advice {
  size_t record_count;
  struct candidate_state *at; /* by record of the summary */
  size_t choice, runner_up;   /* SIZE_MAX: none */
  struct interval ratio;      /* objective of the runner-up by the choice's; >= 1 is better */
  bool is_decided;            /* verdict_of gives the same verdict for the two */
  /* the most that the choice may be worse than a candidate without a verdict, as a share;
     INFINITY: not known */
  double regret;
  bool is_by_cost; /* a tied candidate has a slightly better figure, the choice needs less memory */
  /* Without a choice: the bound that excludes most, and the best value of it among candidates
     that meet all others; CONSTRAINT_COUNT: relaxing one bound is not enough. */
  enum constraint_id binding;
  double needed;
  /* If no single bound is the reason: the candidate that misses its worst bound by the smallest
     factor, and its values of the bounds that it misses (NaN: not missed). SIZE_MAX: no
     candidate has a value for every bound. */
  size_t nearest;
  double needs[CONSTRAINT_COUNT];
  struct earlier_runner_up earlier; /* set by the caller */
  /* Set by the caller: the choice is the only candidate measured although others could run. */
  bool is_undecided;
};
/* --aa copies and rows of test backends are not candidates. */
MUST_USE hone_status advise_choose(struct ctx *ctx, struct arena *arena,
                                   const struct summary *summary,
                                   const struct constraints *constraints, struct advice *out);
/* "native, fp32, 2 threads" */
void advise_name(struct strbuf *out, const struct summary *summary, size_t record);
/* The budget ended before its turn. */
bool advise_was_not_reached(const struct record *record);
/* The reason for a candidate's status, in one sentence. */
void advise_reason(struct strbuf *out, const struct summary *summary,
                   const struct constraints *constraints, const struct advice *advice,
                   size_t record);
/* The whole as JSON, the caller's to decref; NULL: a record has text that is not UTF-8. */
struct json_t *advise_json(const struct summary *summary, const struct constraints *constraints,
                           const struct advice *advice);
/* The whole for the terminal. */
void advise_table(const struct summary *summary, const struct constraints *constraints,
                  const struct advice *advice, struct strbuf *out);
#endif
