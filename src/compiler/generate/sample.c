/* The next token from logits: greedy, or drawn from what top-k (Fan et al. 2018, arXiv:1805.04833),
 * top-p (Holtzman et al. 2020, arXiv:1904.09751) and min-p (Nguyen et al. 2024, arXiv:2407.01082) leave.
 */
#include <math.h>
#include <stdlib.h>

#include "generate.h"

/* The first of the largest; NaN counts as the smallest. Maxima of blocks first, in lanes that a compiler
   makes vectors of: one comparison after the other took a tenth of the time of a token. */
static int32_t most_likely(const float *logits, int32_t count) {
  enum { LANES = 16, BLOCK = 1024 };
  float most = -INFINITY;
  int32_t begin = 0;
  for (int32_t at = 0; at < count; at += BLOCK) {
    const int32_t end = at + BLOCK < count ? at + BLOCK : count;
    float lanes[LANES], largest = -INFINITY;
    int32_t i = at;
    for (int j = 0; j < LANES; j++) lanes[j] = -INFINITY;
    for (; i + LANES <= end; i += LANES)
      for (int j = 0; j < LANES; j++)
        lanes[j] = logits[i + j] > lanes[j] ? logits[i + j] : lanes[j];
    for (int j = 0; j < LANES; j++) largest = lanes[j] > largest ? lanes[j] : largest;
    for (; i < end; i++) largest = logits[i] > largest ? logits[i] : largest;
    if (largest > most) most = largest, begin = at;
  }
  for (int32_t i = begin; i < count; i++)
    if (logits[i] >= most) return i;
  return 0;
}

/* A heap whose root is the least likely; ties: the larger index. */
static bool is_less(const float *logits, int32_t a, int32_t b) {
  return logits[a] < logits[b] || (logits[a] == logits[b] && a > b);
}

static void sift(const float *logits, int32_t *heap, int32_t count, int32_t at) {
  for (;;) {
    int32_t least = at;
    for (int32_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
      if (is_less(logits, heap[child], heap[least])) least = child;
    if (least == at) return;
    const int32_t held = heap[at];
    heap[at] = heap[least];
    heap[least] = held;
    at = least;
  }
}

/* The k most likely of all, in order. */
static void select_most_likely(const float *logits, int32_t count, int32_t k, int32_t *order) {
  for (int32_t i = 0; i < k; i++) order[i] = i;
  for (int32_t i = k / 2; i-- > 0;) sift(logits, order, k, i);
  for (int32_t i = k; i < count; i++)
    if (is_less(logits, order[0], i)) {
      order[0] = i;
      sift(logits, order, k, 0);
    }
  for (int32_t left = k; left-- > 1;) {
    const int32_t held = order[0];
    order[0] = order[left];
    order[left] = held;
    sift(logits, order, left, 0);
  }
}

static double weight(const float *logits, const int32_t *order, int32_t i, double temperature) {
  return exp(((double)logits[order[i]] - (double)logits[order[0]]) / temperature);
}

/* How many of the k most likely top-p and min-p leave, at least one. */
static int32_t keep_likely(const struct sampling *s, const float *logits, const int32_t *order,
                           int32_t k) {
  double sum = 0, before = 0;
  for (int32_t i = 0; i < k; i++) sum += weight(logits, order, i, 1);
  for (int32_t i = 0; i < k; i++) {
    const double p = weight(logits, order, i, 1);
    if (i && (before >= s->top_p * sum || p < s->min_p)) return i;
    before += p;
  }
  return k;
}

int32_t sample_token(const struct sampling *s, struct random *random, const float *logits,
                     int32_t count, int32_t *order) {
  if (s->temperature <= 0) return most_likely(logits, count);
  int32_t k = s->top_k > 0 && s->top_k < count ? s->top_k : count;
  select_most_likely(logits, count, k, order);
  k = keep_likely(s, logits, order, k);
  double sum = 0;
  for (int32_t i = 0; i < k; i++) sum += weight(logits, order, i, s->temperature);
  double left = random_uniform(random) * sum;
  for (int32_t i = 0; i < k; i++) {
    left -= weight(logits, order, i, s->temperature);
    if (left < 0) return order[i];
  }
  return order[k - 1];
}
