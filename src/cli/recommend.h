/* What the files of hone recommend share. */
#ifndef HONE_CLI_RECOMMEND_H
#define HONE_CLI_RECOMMEND_H

#include "../advise/advise.h"
#include "../predict/predict.h"
#include "cli.h"

/* -- recommend_predict.c: what records of other models say of this one */
enum { FORECAST_MOST = 128 };
struct forecast {
  size_t count;
  struct forecast_row {
    char backend[32];
    int threads;
    struct prediction of[TARGET_COUNT];
    bool is_dropped; /* not looked at */
  } at[FORECAST_MOST];
};
/* Every ready (or named) backend by every thread count. count 0 where nothing can be predicted: no store, few models; that
   is no failure. */
MUST_USE hone_status forecast_make(struct ctx *ctx, struct arena *arena, const struct args *args,
                                   struct forecast *out);
/* Where more candidates are there than can be looked at: drops those whose whole interval lies behind the best one's, the
   worst first, as long as there are too many. Whether any was dropped. */
bool forecast_keep(struct forecast *forecast, double affordable);
void forecast_put_dropped(struct text *out, const struct forecast *forecast);
/* --predict: the table, how good each predictor was on models that it did not see, and which is used. */
MUST_USE hone_status forecast_print(struct ctx *ctx, struct arena *arena, const struct args *args);

/* -- recommend_hybrid.c: parts of the model on different engines as one more candidate */
struct split {
  bool is_asked;
  char parts[256]; /* option of the backend `hybrid`; "": none to try */
  char words[600]; /* what came of looking for them; "" before */
  json_t *
      proposal; /* cuts, stretches and hand-overs with their times, or NULL; the caller's to decref */
};
/* budget_s: after which no more stretches are begun. A model that cannot be cut, or a single engine, is no failure: words say it. */
MUST_USE hone_status split_find(struct ctx *ctx, const struct args *args, const char *dir,
                                int threads, double budget_s, struct split *out);
/* The options of a look in which parts take part; the backend's name is the caller's. */
MUST_USE hone_status split_add(struct ctx *ctx, const struct args *args, struct arena *arena,
                               const struct split *split, struct command *command);
/* The proposal under "hybrid" in an answer's JSON. */
MUST_USE hone_status split_add_json(struct ctx *ctx, const struct split *split, struct text *json);

struct answer {
  const struct summary *summary;
  const struct demands *demands;
  const struct advice *advice;
  const struct split *split;
};
/* recommend_bundle.c: whether --bundle DIR can be made, before the work; and the bundle itself. Nothing where it was
   not asked for, or nothing was chosen. */
MUST_USE hone_status bundle_folder_check(struct ctx *ctx, const struct args *args);
MUST_USE hone_status bundle_answer(struct ctx *ctx, const struct args *args, struct arena *arena,
                                   const struct answer *answer);
#endif
