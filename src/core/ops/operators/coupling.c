/* CoupleProbabilities (hone): [n, pairs] to [n, classes]. Input: for each pair i < j of classes, in
 * lexicographic order, the probability of i rather than j. Output: the class probabilities that
 * agree best with all of them, by the second method of Wu, Lin and Weng (2004), "Probability
 * estimates for multi-class classification by pairwise coupling", with LIBSVM's iteration and
 * stopping rule. */
#include <math.h>

#include "core/ops/ops_internal.h"

enum { MOST_CLASSES = 256, TURNS = 100 };

hone_status infer_couple_probabilities(struct ctx *ctx, struct graph *graph, struct node *node) {
  const struct shape *x = &node->inputs[0]->shape;
  int64_t k = node_int(node, "classes", 0);
  (void)graph;
  TRY(want_float(ctx, node, 0));
  if (k < 2 || k > MOST_CLASSES || x->rank != 2 || x->dims[1] != k * (k - 1) / 2)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "input 0 is not [n,pairs] for %lld classes",
                (long long)k);
  struct shape y = shape_of(2, (int64_t[]){x->dims[0], k});
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &y);
}

struct coupling {
  int64_t k;
  double *q, *qp, *p; /* [k][k], [k], [k] */
};

static void fill(const struct coupling *c, const double *pairs) {
  int64_t k = c->k, at = 0;
  for (int64_t t = 0; t < k; t++) c->q[t * k + t] = 0, c->p[t] = 1 / (double)k;
  for (int64_t i = 0; i < k; i++)
    for (int64_t j = i + 1; j < k; j++, at++) {
      double r = pairs[at];
      c->q[i * k + i] += (1 - r) * (1 - r);
      c->q[j * k + j] += r * r;
      c->q[i * k + j] = c->q[j * k + i] = -(1 - r) * r;
    }
}

static void couple(const struct coupling *c) {
  int64_t k = c->k;
  for (int turn = 0; turn < TURNS; turn++) {
    double sum = 0, worst = 0;
    for (int64_t t = 0; t < k; t++) {
      c->qp[t] = 0;
      for (int64_t j = 0; j < k; j++) c->qp[t] += c->q[t * k + j] * c->p[j];
      sum += c->p[t] * c->qp[t];
    }
    for (int64_t t = 0; t < k; t++) worst = fmax(worst, fabs(c->qp[t] - sum));
    if (worst < 0.005 / (double)k) return;
    for (int64_t t = 0; t < k; t++) {
      double by = (sum - c->qp[t]) / c->q[t * k + t];
      c->p[t] += by;
      sum = (sum + by * (by * c->q[t * k + t] + 2 * c->qp[t])) / (1 + by) / (1 + by);
      for (int64_t j = 0; j < k; j++) {
        c->qp[j] = (c->qp[j] + by * c->q[t * k + j]) / (1 + by);
        c->p[j] /= 1 + by;
      }
    }
  }
}

hone_status eval_couple_probabilities(struct ctx *ctx, struct arena *scratch,
                                      const struct node *node, const struct tensor *const *in,
                                      struct tensor *const *out) {
  struct coupling c = {.k = out[0]->shape.dims[1]};
  int64_t pairs = in[0]->shape.dims[1];
  double *x;
  (void)node;
  TRY(to_f64(ctx, scratch, in[0], &x));
  TRY(NEW_ARRAY(ctx, scratch, c.q, (size_t)(c.k * c.k)));
  TRY(NEW_ARRAY(ctx, scratch, c.qp, (size_t)c.k));
  TRY(NEW_ARRAY(ctx, scratch, c.p, (size_t)c.k));
  for (int64_t row = 0; row < out[0]->shape.dims[0]; row++) {
    fill(&c, x + row * pairs);
    couple(&c);
    write_f64(out[0], row * c.k, (size_t)c.k, c.p);
  }
  return HONE_OK;
}
