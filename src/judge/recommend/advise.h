/* advise: from measured records and what the user demands to a choice with its reasons. Pure: the same records give
 * the same advice. What was not measured is never chosen. */
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
  double bound[CONSTRAINT_COUNT]; /* most, or least where more is better; NaN: none */
  enum constraint_id objective;
};
void constraints_init(struct constraints *constraints); /* no bounds, the objective is latency */

enum standing {
  STANDING_chosen,
  STANDING_runner_up, /* the best of the others */
  STANDING_behind,    /* meets every bound, is worse */
  STANDING_tied, /* not told apart from the choice, which is smaller or was seen to be faster */
  STANDING_undecided, /* too little was measured to tell it from the choice, by the rule of a study's verdicts */
  STANDING_unproven, /* parts on several engines that are not proven faster than one engine alone */
  STANDING_out,      /* misses a bound */
  STANDING_unsure,   /* the bound lies within its interval */
  STANDING_invalid   /* no figure, or none that can be trusted: its status says why */
};
enum bound_state { BOUND_HELD, BOUND_UNSURE, BOUND_MISSED };
struct standing_of {
  enum standing standing;
  enum bound_state bounds[CONSTRAINT_COUNT];
  /* the caller's to set, where a later look had no time for the row: the look whose figures it stands with (0: the
     advice's own), the one that had none, and what that said; NULL: none had none */
  size_t look, late_look;
  const char *late;
};
/* Without a runner-up among these records: the row that the choice was set against in an earlier look. */
struct rival {
  const struct summary *summary; /* NULL: none */
  size_t record, look;
  struct interval ratio;
  bool is_decided;
};
struct advice {
  size_t record_count;
  struct standing_of *at;   /* by record of the summary */
  size_t choice, runner_up; /* SIZE_MAX: none */
  struct interval ratio;    /* objective of the runner-up by the choice's; >= 1 is better */
  bool is_decided;          /* a study's verdict would be the same: verdict_of */
  double regret;            /* share it may lie behind rows not told apart; INFINITY: not known */
  bool is_by_cost; /* a tied row was seen to be a little faster, the choice needs less memory */
  /* without a choice: the bound that stands in the way of most, and the best value of it among rows that meet all
     others; CONSTRAINT_COUNT: no single bound is to blame */
  enum constraint_id binding;
  double needed;
  /* without a single one: the row that misses its worst bound by the smallest factor, and its figures where it misses
     (NaN: not missed); SIZE_MAX: no row has a figure for every bound */
  size_t nearest;
  double needs[CONSTRAINT_COUNT];
  struct rival rival; /* the caller's to set */
  /* the caller's to set: nothing else was measured, and something could have been. The choice is no answer then */
  bool is_undecided;
};
/* Rows of --aa copies and of test backends are left out. */
MUST_USE hone_status advise_choose(struct ctx *ctx, struct arena *arena,
                                   const struct summary *summary,
                                   const struct constraints *constraints, struct advice *out);
/* "native, fp32, 2 threads" */
void advise_name(struct strbuf *out, const struct summary *summary, size_t record);
/* The budget of its study was spent before its turn. */
bool advise_had_no_turn(const struct record *record);
/* One sentence of why a record stands where it does. */
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
