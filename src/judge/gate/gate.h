/* gate: is something slower than allowed? Used by `hone gate`, `hone bisect` and the exit code of `hone bench`.
 *
 *   gate.c        a build against another build, or a new study against a stored one
 *   paired_run.c  two builds on the same models, in paired runs
 *   bisect.c      the first slow commit or build of a series
 *   fail_on.c     which results make a study fail
 */
#ifndef HONE_GATE_H
#define HONE_GATE_H

#include "paired_run.h"

/* -- gate.c */

/* Measures these configurations; `title` names the study. Called at most twice. */
typedef hone_status gate_measure_fn(struct ctx *ctx, struct arena *arena, void *user,
                                    const struct config *const *configs, size_t count,
                                    const char *title, struct summary *out);
struct gate_options {
  const char *baseline; /* a study that --json wrote; may be NULL if two builds are given */
  double fail_above;    /* 0.05: a slowdown of more than 5 % is a regression */
  const char *const *models;
  size_t model_count; /* 0: the models of the baseline */
  void (*progress)(void *user, const char *line);
  void *user; /* of progress and measure */

  /* Two builds: both of builds[] are set. The other members are ignored without them. */
  struct paired_options paired; /* its fail_above, progress and user are set by gate_run */
  const int *threads, *batches; /* of `models` */
  size_t thread_count, batch_count;
  const char *precision; /* of `models` */

  /* A new study: without builds. */
  gate_measure_fn *measure;
};
struct gate_result {
  struct changes changes;
  size_t cleared;    /* configurations that were slower in the first study and not in the second */
  bool is_paired;    /* two builds were compared */
  bool is_elsewhere; /* the baseline is from another machine, so there are no verdicts */
};
#define GATE_ELSEWHERE                                                                             \
  "The baseline was measured on another machine or system, so there are no verdicts. Measure the " \
  "baseline on this machine, or compare two builds with --base-build."
MUST_USE hone_status gate_run(struct ctx *ctx, struct arena *arena,
                              const struct gate_options *options, struct gate_result *out);
/* A path that begins with '-' gets "./" in front, so that no command line takes it for a flag. */
MUST_USE hone_status gate_model_word(struct ctx *ctx, struct arena *arena, const char *path,
                                     const char **out);
/* The file of a configuration, or the name of a built-in model, as a word for a command line. */
MUST_USE hone_status gate_config_model(struct ctx *ctx, struct arena *arena,
                                       const struct config *config, const char **out);

/* -- bisect.c */

struct first_bad_options {
  const char *range;         /* "GOOD..BAD" commits; NULL: builds */
  const char *repository;    /* of the range */
  const char *const *builds; /* programs, oldest first */
  size_t build_count;
  /* A command line that judges one state; the commit or the build is appended as its last word. For commits it runs in a
     folder with the commit checked out. Exit code 0 good, 125 cannot be judged, 1 to 127 bad, above: stop. */
  const char *const *judge;
  size_t judge_count;
  bool is_gate; /* the judge is `hone gate`: a gate that fails to decide is "cannot be judged" */
  double error_share; /* share of wrong verdicts, below 0.5 */
  double sure;        /* posterior probability at which the search ends */
  void (*progress)(void *user, const char *line); /* may be NULL */
  void *user;
};
struct first_bad_result {
  const char **states; /* commits or builds, oldest first; the first is good, the last is bad */
  struct bisection search;
  size_t verdict_count;
  struct first_bad_verdict {
    size_t state;
    int exit_code;
  } * verdicts; /* in order */
};
/* E_USAGE for a range that cannot be searched, E_CRASH where the judge stopped the search. */
MUST_USE hone_status first_bad_find(struct ctx *ctx, struct arena *arena,
                                    const struct first_bad_options *options,
                                    struct first_bad_result *out);
MUST_USE hone_status first_bad_render_json(struct ctx *ctx, const struct first_bad_result *result,
                                           struct strbuf *out);
/* The first bad state, or several candidates where states could not be judged, one a line. */
void first_bad_put_answer(struct strbuf *out, const struct first_bad_result *result);

/* -- fail_on.c */

/* Which results make a study fail: bits by status and by mark. if_named holds only for a backend that the user named. */
struct fail_on {
  uint32_t statuses, if_named, flags;
};
/* "wrong,noisy" or "none". NULL is the default: all failures, and a named backend that did not run. E_USAGE. */
MUST_USE hone_status fail_on_parse(struct ctx *ctx, const char *list, struct fail_on *out);
/* Exit code 0, 1, 3 or 4 of a study (exits.def). backends: the lists of names that the user gave. out_failed: rows that
   make it fail. */
int fail_on_exit_code(const struct fail_on *fail_on, const char *const *backends,
                      size_t named_count, const struct record *records, size_t count,
                      size_t *out_failed);
#endif
