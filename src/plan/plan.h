/* plan: the graph as a list of steps: which kernel, which buffer offset, which thread split.
 * Filled by plan_build, printed by plan_print, read by emit. */
#ifndef HONE_PLAN_H
#define HONE_PLAN_H

#include "../kernels/kernels.h"
#include "../machine/machine.h"
#include "../ops/ops.h"

struct plan;
struct plan_options {
  const struct target *target;
  int threads; /* tuned for */
  bool plain;  /* only plain kernels, no views */
};
MUST_USE hone_status plan_build(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                const struct plan_options *options, struct plan **out);
void plan_print(struct text *text, const struct plan *plan);
/* For passes: may the step be fused into the node's kernel or loop? */
bool plan_accepts_fused(void *user, const struct node *node, const struct node *step,
                        const struct value *extra);
#endif
