/* What the files of hone recommend share. */
#ifndef HONE_CLI_RECOMMEND_H
#define HONE_CLI_RECOMMEND_H

#include "judge/recommend/advise.h"
#include "judge/predict/predict.h"
#include "cli.h"

/* -- recommend_predict.c: what records of other models say of this one */
enum { FORECAST_MOST = 128 };
struct forecast {
  size_t count;
  struct forecast_row {
    char backend[32], precision[16];
    int threads, batch;
    struct prediction of[TARGET_COUNT];
    enum constraint_id against; /* a bound it will miss, the objective it lies behind by; or none */
    bool is_dropped;            /* not looked at */
  } at[FORECAST_MOST];
};
/* Every ready (or named) backend by every precision, batch and thread count. count 0 where nothing can be predicted: no store, few
   models, or learning would take longer than budget_s; that is no failure. */
MUST_USE hone_status forecast_make(struct ctx *ctx, struct arena *arena, const struct args *args,
                                   double budget_s, struct forecast *out);
/* Where more candidates are there than can be looked at: drops those whose whole interval misses a bound or lies, by the
   objective, behind the best one's that will hold every bound, the worst first, as long as there are too many. Whether any
   was dropped. */
bool forecast_keep(struct forecast *forecast, const struct constraints *constraints,
                   double affordable);
enum { MOST_WAYS = 16 };
/* The numbers of threads to look at, named or usual, the most first: what comes first is sure to get its turn. */
MUST_USE hone_status recommend_threads(struct ctx *ctx, const struct args *args, int out[MOST_WAYS],
                                       size_t *out_count);
/* What was dropped, with the reason: as lines, and as rows of the answer's JSON. */
void forecast_put_dropped(const struct forecast *forecast, const struct constraints *constraints,
                          struct strbuf *lines, json_t *list);
/* --predict: the table, how good each predictor was on models that it did not see, and which is used; the exit code. */
int forecast_print(struct ctx *ctx, struct arena *arena, const struct args *args,
                   const struct sinks *sinks);

/* -- recommend_hybrid.c: parts of the model on different engines as one more candidate */
struct split {
  bool is_asked;
  char parts[256]; /* option of the backend `hybrid`; "": none to try */
  char words[600]; /* what came of looking for them; "" before */
  /* cuts, stretches and hand-overs with their times, or NULL; the caller's to decref */
  json_t *proposal;
};
/* budget_s: after which no more stretches are begun. A model that cannot be cut, or a single engine, is no failure: words say it. */
MUST_USE hone_status split_find(struct ctx *ctx, const struct args *args, const char *dir,
                                int threads, double budget_s, struct split *out);
/* The options of a look in which parts take part; the backend's name is the caller's. */
MUST_USE hone_status split_add(struct ctx *ctx, const struct args *args, struct arena *arena,
                               const struct split *split, struct command *command);
/* The proposal under "hybrid" in an answer's JSON. */
MUST_USE hone_status split_add_json(struct ctx *ctx, const struct split *split,
                                    struct strbuf *json);

/* -- recommend_quantised.c: smaller forms of the model as candidates, under a bound on accuracy */
enum { FORM_COUNT = 4, FORM_DIR = 1024 };
struct forms {
  char dir[4096];   /* in the user's cache: the forms and the set; "" nothing was tried */
  char model[65];   /* for the names of its forms */
  char set[4096];   /* the labelled set by which rows are judged; "" none */
  char words[300];  /* why there is nothing of it; "" there is */
  bool is_made_up;  /* no samples of the user's */
  double reference; /* accuracy of the model itself; NaN unknown */
  int batch;        /* of the model itself; 0 unknown */
  struct form {
    const char *name, *title; /* "fp16", "fp16-weights" */
    char path[FORM_DIR + 100];
    char words[300]; /* why it is not there */
    bool is_there;
    json_t *report; /* of hone quantise, or NULL */
  } at[FORM_COUNT];
};
/* least: of --min-accuracy; budget_s: for all of them. A form that cannot be made is no failure: words say why. */
MUST_USE hone_status forms_find(struct ctx *ctx, const struct args *args, double least,
                                double budget_s, struct forms *out);
void forms_free(struct forms *forms);
/* The file of a row by its model's name: a form's, else the user's own. */
const char *forms_model(const struct forms *forms, const struct args *args, const char *model);
/* accuracy_retention of every row becomes what is left of the accuracy of the model that was asked for; rows of forms get
   their form as precision. The first look tells what the model itself is worth. */
MUST_USE hone_status forms_judge(struct ctx *ctx, struct forms *forms, const struct args *args,
                                 struct summary *summary);
void forms_put(struct strbuf *out, const struct forms *forms);
MUST_USE hone_status forms_add_json(struct ctx *ctx, const struct forms *forms,
                                    struct strbuf *json);
/* Adds a value to an answer's JSON; takes the reference. */
MUST_USE hone_status answer_add_json(struct ctx *ctx, struct strbuf *json, const char *key,
                                     json_t *value);

/* Seconds; references that the cache did not have, and smaller forms, are part of all. */
struct spent {
  double budget_s, all_s, reference_s, forms_s;
  /* what was begun when, with how much of the budget: [{phase, begin_s, budget_s, all_s}]; the caller's to decref */
  json_t *phases;
};
struct answer {
  const struct summary *summary;
  const struct constraints *constraints;
  const struct advice *advice;
  const struct split *split;
  const struct forms *forms;
  /* rows of earlier looks: [{backend, precision, threads, look, reason}]; the caller's to decref */
  json_t *dropped;
  struct spent spent;
};
/* The whole answer: the last look's rows, what was dropped before, parts and smaller forms. */
MUST_USE hone_status answer_json(struct ctx *ctx, const struct answer *answer, struct strbuf *out);
/* recommend_bundle.c: whether --bundle DIR can be made, before the work; and the bundle itself. Nothing where it was
   not asked for, or nothing was chosen. */
MUST_USE hone_status bundle_folder_check(struct ctx *ctx, const struct args *args);
MUST_USE hone_status bundle_answer(struct ctx *ctx, const struct args *args, struct arena *arena,
                                   const struct answer *answer);
#endif
