/* Distance of an engine's outputs from the reference, and whether it is within the tolerance. The
 * tolerance depends on the requested precision and holds for each output: (relative L2, max|d| /
 * max|r|). Integers, booleans and strings must be equal. Outputs of a quantised graph have a step
 * (steps.c; at least 1 for 8-bit integers): 99 % of elements within one step, none above four. If
 * the step is coarse compared with the values, as after a Softmax, relative L2 is bounded too.
 *
 * The tolerance widens for an ill-conditioned model: to CONDITION_MULTIPLE times the change that
 * one ulp of its inputs causes (condition.c), at most CONDITION_CEILING times the tolerance itself.
 * Why 32: an engine rounds at every operator, not once at the input. Of the public models tried,
 * the worst pair of engines differs by 19 times the change of one ulp (basic_pitch, 1.6e-4 and
 * 8.2e-6); all others by less than 8.
 *
 * In a quantised graph one flipped rounding near the input changes many outputs by a step. If the
 * change by one ulp moves more than 1 % of the elements, or any by more than four steps, the output
 * may differ by FLIPS_MULTIPLE times that change, up to the tolerance of quantised floats. Why 4:
 * pairs of correct engines differ by up to 1.9 times it (mobilenet_v3_small by three quantisers).
 * Beyond that tolerance flips cause further flips and two correct evaluations are as far apart as
 * any two; then DEEP_MULTIPLE times the change is allowed, up to a ceiling. Why 2: such pairs
 * differ by 0.7 to 1.0 times the change (bert_base: 0.055 in relative L2, 0.16 of the largest). For
 * a dynamic-range quantised graph the change is that of quantising the activations, times
 * FLIPS_MULTIPLE.
 *
 * NaN and infinities must be at the same places with the same sign. All figures are those of the
 * worst output.
 */
#include "check.h"

#include <math.h>

#define STEP_SLACK 1.001 /* a difference of whole steps, in floats */
#define STEP_L2 0.3
#define CONDITION_MULTIPLE 32.0
#define CONDITION_CEILING 10.0
#define FLIPS_MULTIPLE 4.0
#define DEEP_MULTIPLE 2.0
#define DEEP_L2_CEILING STEP_L2
#define DEEP_REL_CEILING 0.6

static const struct precision_facts *find_tolerance(const char *precision) {
  const enum precision at = precision_find(precision);
  return &precisions[at == PRECISION_COUNT ? PRECISION_FP32 : at];
}

/* An element of the reference as a number; a string is 1, see actual_element. */
static double element(const void *data, hone_dtype dtype, size_t i) {
  return dtype == HONE_STRING ? 1 : element_number(data, dtype, i);
}

/* An element of the engine's output as a number; a string is 1 if it equals the reference's, else
   0. */
static double actual_element(const hone_tensor *expected, const void *actual, size_t i) {
  if (expected->dtype != HONE_STRING) return element(actual, expected->dtype, i);
  const hone_string *a = (const hone_string *)expected->data + i,
                    *b = (const hone_string *)actual + i;
  return a->length == b->length && (!a->length || !memcmp(a->bytes, b->bytes, a->length));
}

struct sums {
  size_t count, above_one, misplaced; /* misplaced: NaN or infinite on one side only */
  double diff_square, reference_square, actual_square, product, max_diff, max_reference, max_rel;
};

static void add_element(struct sums *sums, double r, double a, double step) {
  sums->count++;
  if (!isfinite(r) || !isfinite(a)) {
    bool is_same = (isnan(r) && isnan(a)) || r == a;
    if (!is_same) sums->misplaced++;
    return;
  }
  double diff = fabs(r - a);
  sums->diff_square += diff * diff;
  sums->reference_square += r * r;
  sums->actual_square += a * a;
  sums->product += r * a;
  sums->max_diff = fmax(sums->max_diff, diff);
  sums->max_reference = fmax(sums->max_reference, fabs(r));
  if (r != 0) sums->max_rel = fmax(sums->max_rel, diff / fabs(r));
  if (diff > step * STEP_SLACK) sums->above_one++;
}

/* Share of rows (last dimension) whose largest element is at the same place. */
static double top1(const hone_tensor *expected, const void *actual, size_t count) {
  size_t width = expected->rank ? (size_t)expected->shape[expected->rank - 1] : 1;
  if (!width || !count) return 1;
  size_t rows = count / width, agreeing = 0;
  for (size_t row = 0; row < rows; row++) {
    size_t best_r = 0, best_a = 0, base = row * width;
    for (size_t i = 1; i < width; i++) {
      if (element(expected->data, expected->dtype, base + i) >
          element(expected->data, expected->dtype, base + best_r))
        best_r = i;
      if (actual_element(expected, actual, base + i) >
          actual_element(expected, actual, base + best_a))
        best_a = i;
    }
    agreeing += best_r == best_a;
  }
  return (double)agreeing / (double)rows;
}

void accuracy_init(struct accuracy *accuracy) {
  *accuracy = (struct accuracy){.cosine = 1, .top1 = 1, .is_within = true};
}

void accuracy_merge(struct accuracy *into, const struct accuracy *from) {
  into->max_abs_diff = fmax(into->max_abs_diff, from->max_abs_diff);
  into->max_rel_diff = fmax(into->max_rel_diff, from->max_rel_diff);
  into->rel_l2 = fmax(into->rel_l2, from->rel_l2);
  into->max_share = fmax(into->max_share, from->max_share);
  into->cosine = fmin(into->cosine, from->cosine);
  into->top1 = fmin(into->top1, from->top1);
  if (into->is_within && !from->is_within) memcpy(into->where, from->where, sizeof into->where);
  into->is_within = into->is_within && from->is_within;
}

/* Tolerance for flipped roundings in a quantised graph; 0: none observed. */
static double flips(double tolerance, double condition, double ceiling) {
  if (!(condition > 0)) return 0; /* also NaN */
  return fmax(fmin(FLIPS_MULTIPLE * condition, tolerance),
              fmin(DEEP_MULTIPLE * condition, ceiling));
}

const char *row_precision(const struct bench_case *one, const struct config *config) {
  const char *own = one->tolerance, *asked = config->precision;
  const bool is_float = !own[0] || precision_find(own) == PRECISION_FP32;
  const bool is_less = precision_find(own) == PRECISION_DYNAMIC &&
                       find_tolerance(asked)->rel_l2 > find_tolerance(own)->rel_l2; /* bf16 */
  return is_float || is_less ? asked : own;
}

static double widened(double tolerance, double condition) {
  double wider = fmin(CONDITION_MULTIPLE * condition, CONDITION_CEILING * tolerance);
  return wider > tolerance ? wider : tolerance; /* also where the condition is NaN */
}

void accuracy_tolerance(const struct yardstick *yardstick, double *out_rel_l2,
                        double *out_max_rel) {
  const struct precision_facts *own = find_tolerance(yardstick->precision),
                               *int8 = &precisions[PRECISION_INT8];
  const double *condition = yardstick->condition;
  const bool has_step = yardstick->step > 0, flipping = has_step || own == int8;
  const bool is_dynamic = !has_step && own == &precisions[PRECISION_DYNAMIC];
  *out_rel_l2 = flipping ? flips(int8->rel_l2, condition[0], DEEP_L2_CEILING)
                         : widened(own->rel_l2, condition[0]);
  *out_max_rel = flipping ? flips(int8->max_rel, condition[1], DEEP_REL_CEILING)
                          : widened(own->max_rel, condition[1]);
  if (is_dynamic) {
    *out_rel_l2 = fmax(*out_rel_l2, flips(int8->rel_l2, condition[0], int8->rel_l2));
    *out_max_rel = fmax(*out_max_rel, flips(int8->max_rel, condition[1], int8->max_rel));
  }
  if (has_step || !flipping) return; /* the step is the tolerance */
  *out_rel_l2 = fmax(*out_rel_l2, own->rel_l2);
  *out_max_rel = fmax(*out_max_rel, own->max_rel);
}

static bool is_within(const struct sums *s, hone_dtype dtype, const struct yardstick *yardstick,
                      double own, double rel_l2, double max_rel) {
  const double step = yardstick->step;
  if (s->misplaced) return false;
  if (step <= 0 && !dtype_is_float(dtype)) return s->max_diff == 0;
  double most_l2, most_rel;
  accuracy_tolerance(yardstick, &most_l2, &most_rel);
  if (step <= 0) return rel_l2 <= most_l2 && max_rel <= most_rel;
  const bool is_near = s->max_diff <= 4 * step * STEP_SLACK;
  const bool few = is_near && (double)s->above_one <= 0.01 * (double)s->count;
  const bool flipped = (is_near || max_rel <= most_rel) && rel_l2 <= most_l2;
  return (few || flipped) && (step <= own || rel_l2 <= STEP_L2);
}

/* Describes an output that is not within the tolerance. */
static void put_where(struct accuracy *one, const char *name, const struct sums *s,
                      hone_dtype dtype, const struct yardstick *yardstick) {
  char shown[128], steps[128] = "";
  double most_l2 = 0, most_rel = 0;
  safe_copy(shown, sizeof shown, name);
  if (yardstick->step > 0 || dtype_is_float(dtype))
    accuracy_tolerance(yardstick, &most_l2, &most_rel);
  if (yardstick->step > 0)
    snprintf(steps, sizeof steps,
             "; or at most 4 steps, here %.3g, 1 %% beyond one, here %.3g %%, with L2 up to %.3g",
             s->max_diff / yardstick->step, 100.0 * (double)s->above_one / (double)s->count,
             STEP_L2);
  snprintf(one->where, sizeof one->where,
           "output \"%s\": relative L2 %.3g (limit %.3g), max|d|/max|r| %.3g (limit %.3g)%s, %zu "
           "of %zu NaN or infinite on one side",
           shown, one->rel_l2, most_l2, one->max_share, most_rel, steps, s->misplaced, s->count);
}

void accuracy_add(struct accuracy *accuracy, const char *name, const hone_tensor *expected,
                  const void *actual, const struct yardstick *yardstick) {
  struct sums s = {0};
  const size_t count = tensor_elements(expected);
  double own = dtype_is_byte(expected->dtype); /* step of an 8-bit integer */
  struct yardstick stepped = *yardstick;
  stepped.step = fmax(yardstick->step, own);
  for (size_t i = 0; i < count; i++)
    add_element(&s, element(expected->data, expected->dtype, i),
                actual_element(expected, actual, i), stepped.step);
  /* an output of zeros has no scale: 1e-3 is used */
  double scale = fmax(s.max_reference, 1e-3), norm = sqrt(fmax(s.reference_square, 1e-6));
  double infinite = s.misplaced ? INFINITY : 0;
  struct accuracy one = {
      .max_abs_diff = s.max_diff + infinite,
      .max_rel_diff = s.max_rel + infinite,
      .rel_l2 = sqrt(s.diff_square) / norm + infinite,
      .cosine = s.reference_square > 0 && s.actual_square > 0
                    ? s.product / sqrt(s.reference_square) / sqrt(s.actual_square)
                    : (s.reference_square > 0) == (s.actual_square > 0),
      .top1 = top1(expected, actual, count),
      .max_share = s.max_diff / scale + infinite,
  };
  one.is_within = is_within(&s, expected->dtype, &stepped, own, one.rel_l2, s.max_diff / scale);
  if (!one.is_within) put_where(&one, name, &s, expected->dtype, &stepped);
  accuracy_merge(accuracy, &one);
}

bool same_form(const hone_tensor *a, const hone_tensor *b) {
  return a->dtype == b->dtype && a->rank == b->rank &&
         !memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape);
}
