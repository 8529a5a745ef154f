/* Agreement of a model's outputs with stored outputs of the model that it replaces. A label is a
 * folder next to the labels with out_0.npy, out_1.npy, ...
 *
 * For an output of [.., classes] with one or two leading dimensions (answers, or answers along a
 * sequence): the share of rows whose largest element has the same index. For other float outputs:
 * the cosine. For integers and booleans: the share of equal elements. */
#include "core/os/os.h"
#include "metrics_internal.h"

#include <math.h>
#include <stdlib.h>

static bool has_classes(const hone_tensor *t) {
  return dtype_is_wide_float(t->dtype) && (t->rank == 2 || t->rank == 3) &&
         t->shape[t->rank - 1] > 1;
}

static double same_rows(const hone_tensor *a, const hone_tensor *b, size_t count) {
  const size_t width = (size_t)a->shape[a->rank - 1], rows = count / width;
  size_t same = 0;
  for (size_t row = 0; row < rows; row++) {
    size_t best[2] = {0, 0};
    for (size_t i = 1; i < width; i++)
      for (int k = 0; k < 2; k++) {
        const hone_tensor *t = k ? b : a;
        if (element_number(t->data, t->dtype, row * width + i) >
            element_number(t->data, t->dtype, row * width + best[k]))
          best[k] = i;
      }
    same += best[0] == best[1];
  }
  return (double)same / (double)rows;
}

/* If an output is all zero: 1 if both are. */
static double cosine_of(const hone_tensor *a, const hone_tensor *b, size_t count) {
  double product = 0, x2 = 0, y2 = 0;
  for (size_t i = 0; i < count; i++) {
    const double x = element_number(a->data, a->dtype, i), y = element_number(b->data, b->dtype, i);
    if (!isfinite(x) && ((isnan(x) && isnan(y)) || x == y)) continue;
    if (!isfinite(x) || !isfinite(y)) return 0;
    product += x * y;
    x2 += x * x;
    y2 += y * y;
  }
  if (x2 == 0 || y2 == 0) return x2 == y2;
  return fmax(0, product / sqrt(x2) / sqrt(y2));
}

static double same_elements(const hone_tensor *a, const hone_tensor *b, size_t count) {
  size_t same = 0;
  for (size_t i = 0; i < count; i++)
    same += element_number(a->data, a->dtype, i) == element_number(b->data, b->dtype, i);
  return (double)same / (double)count;
}

static MUST_USE hone_status add_output(struct ctx *ctx, struct score *score,
                                       const hone_tensor *expected, const hone_tensor *found,
                                       size_t number) {
  const size_t count = tensor_elements(expected);
  if (expected->dtype != found->dtype || count != tensor_elements(found))
    return fail(ctx, HONE_E_SHAPE, place_none(),
                "output %zu does not have the type and size of the label", number);
  if (!count || expected->dtype == HONE_STRING) return HONE_OK;
  score->all++;
  score->right += has_classes(expected)                  ? same_rows(expected, found, count)
                  : dtype_is_wide_float(expected->dtype) ? cosine_of(expected, found, count)
                                                         : same_elements(expected, found, count);
  return HONE_OK;
}

hone_status add_agreement(struct ctx *ctx, struct score *score, const struct sample *s) {
  const char *folder = json_string_value(s->label);
  if (!folder || strstr(folder, ".."))
    return fail(ctx, HONE_E_FORMAT, place_none(),
                "a label of agreement is a folder next to the labels");
  for (size_t i = 0; i < s->count; i++) {
    char path[4096 + 600];
    hone_tensor expected = {.data = NULL};
    snprintf(path, sizeof path, "%s/%.500s/out_%zu.npy", score->labels->dir, folder, i);
    TRY(npy_read(ctx, path, NULL, &expected));
    const hone_status status = add_output(ctx, score, &expected, &s->outputs[i], i);
    free(expected.data);
    TRY(status);
  }
  return HONE_OK;
}
