/* schedule: how a target computes what the plan asks for: which kernel solves a problem, into how many
 * parts the work of a step is cut, and the thresholds that decide both. The plan asks and stores the
 * answers; it names no processor.
 */
#ifndef HONE_SCHEDULE_H
#define HONE_SCHEDULE_H

#include "compiler/kernels/kernels.h"
#include "core/machine/machine.h"

/* Choices from outside (a tuner, a file). An entry is used where it fits the target. */
struct choice_table {
  VEC(struct choice_entry {
    struct problem problem;
    struct choice choice;
  })
  entries;
};

struct schedule {
  struct target target;               /* what the C compiler and the loader need to know */
  struct kernel_target kernels;       /* what kernels need to know */
  const struct choice_table *choices; /* or NULL */
};
/* threads: tuned for; any other count gives the same results bit for bit. */
void schedule_init(struct schedule *out, const struct target *target, int threads,
                   bool prefers_size, const struct choice_table *choices);
void kernel_target_init(struct kernel_target *out, const struct target *target, int threads);

/* -- choose.c */
/* The entry of the choice table, else the row with the least predicted cost. False if no row accepts
   the problem: the generic kernel is used. */
bool schedule_choose(struct ctx *ctx, const struct schedule *schedule,
                     const struct problem *problem, struct choice *out);
/* Predicted ns of that choice, INFINITY without one. in_cache: weights stay in the cache of a core
   between runs. */
double schedule_cost(struct ctx *ctx, const struct schedule *schedule,
                     const struct problem *problem, bool in_cache);
/* True if a core keeps most of so many bytes of constants in its own cache between runs. */
bool schedule_keeps(const struct schedule *schedule, size_t bytes);
/* True if the target has instructions for bf16 and they are slower than those for f32, as vdpbf16ps
   on Intel cores. */
bool schedule_has_slow_bf16(const struct schedule *schedule);
/* Lines "PROBLEM -> CHOICE", as plan_print prints them; blank lines and lines that start with #
   are skipped. E_USAGE with the line number if a line is malformed or names no row. */
MUST_USE hone_status choices_parse(struct ctx *ctx, struct arena *arena, struct place place,
                                   const char *text, size_t length, struct choice_table *out);
/* NULL: the table has no entry for it. */
const struct choice *choices_find(const struct choice_table *table, const struct problem *problem);

/* -- parts.c */
enum work_kind {
  WORK_LOOP, /* elements times operations */
  WORK_COPY, /* elements */
  WORK_KERNEL,
  WORK_GENERIC, /* operations and bytes */
  WORK_KINDS
};
/* Less work than this runs on one thread. */
double schedule_least_shared(enum work_kind kind);
/* Into how many parts the `units` work items of a step are cut, of a choice or (NULL) of a loop over
   so many elements. */
int64_t schedule_parts(const struct schedule *schedule, const struct choice *choice,
                       double elements, int64_t units);

#endif
