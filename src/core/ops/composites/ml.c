/* Operators of ai.onnx.ml (except trees, strings and look-ups) expressed in ONNX operators. All
 * compute in f32, as ONNX Runtime's kernels do. Source: ONNX Operators-ml.md, svm.cpp of LIBSVM for
 * the support vector machines. */
#include <math.h>

#include "expand.h"

enum { MOST_CLASSES = 256 };

/* -- operands and attributes */

/* [n, columns] of f32; one dimension is one row. */
static struct value *rows_of(struct graph_builder *e, size_t k) {
  struct value *x = x_in(e, k);
  int64_t count = 0;
  if (x->dtype == HONE_STRING || x->shape.rank < 1 || !shape_count(&x->shape, &count)) {
    x_fail(e, HONE_E_TYPE, "%s of %s of rank %d", e->node->op->name, dtype_name(x->dtype),
           x->shape.rank);
    return x;
  }
  int64_t rows = x->shape.rank == 1 ? 1 : x->shape.dims[0];
  x = x_cast(e, x, HONE_F32);
  return x->shape.rank == 2 ? x : x_reshape(e, x, (int64_t[]){rows, rows ? count / rows : 0}, 2);
}

/* A float list attribute; NULL: absent. */
static const struct attribute *floats_of(const struct graph_builder *e, const char *name) {
  return node_attribute(e->node, name);
}

/* The list as a constant [rows, columns], or [columns] if rows is 0; the first `first` are
 * skipped. */
static struct value *matrix(struct graph_builder *e, const struct attribute *a, size_t first,
                            int64_t rows, int64_t columns) {
  const struct tensor *tensor;
  struct shape shape = rows ? (struct shape){2, {rows, columns}} : (struct shape){1, {columns}};
  int64_t count = 0;
  if (!shape_count(&shape, &count) || !a || first + (size_t)count > a->count) {
    x_fail(e, HONE_E_SHAPE, "%s: %s has %zu values", e->node->op->name, a ? a->name : "a list",
           a ? a->count : 0);
    return x_scalar(e, HONE_F32, 0);
  }
  struct value *value = x_constant(e, HONE_F32, &shape, &tensor);
  for (size_t i = 0; !e->status && i < (size_t)count; i++)
    tensor_set_f64(tensor, i, a->floats[first + i]);
  return value;
}

/* One value for all or one per column, broadcast over rows; `otherwise` if absent. */
static struct value *column_list(struct graph_builder *e, const char *name, double otherwise,
                                 int64_t columns) {
  const struct attribute *a = floats_of(e, name);
  if (!a || !a->count) return x_scalar(e, HONE_F32, otherwise);
  if (a->count != 1 && (int64_t)a->count != columns)
    x_fail(e, HONE_E_SHAPE, "%s has %zu values for %lld columns", name, a->count,
           (long long)columns);
  return matrix(e, a, 0, 0, (int64_t)a->count);
}

static struct value *minus(struct graph_builder *e, double from, struct value *x) {
  return x_2(e, OP_Sub, x_scalar(e, x->dtype, from), x);
}
static struct value *divided(struct graph_builder *e, struct value *x, struct value *y) {
  return x_2(e, OP_Div, x, y);
}

/* -- post_transform */

/* sqrt(2) erfinv(2 p - 1): Winitzki's formula, then Newton's steps on erf. */
static struct value *probit(struct graph_builder *e, struct value *p) {
  const double a = 0.147, pi = 3.14159265358979323846;
  struct value *y = x_by(e, OP_Add, x_by(e, OP_Mul, p, 2), -1);
  struct value *log = x_1(e, OP_Log, x_2(e, OP_Mul, minus(e, 1, y), x_by(e, OP_Add, y, 1)));
  struct value *v = x_by(e, OP_Add, x_by(e, OP_Mul, log, 0.5), 2 / (pi * a));
  struct value *root =
      x_1(e, OP_Sqrt, x_2(e, OP_Sub, x_2(e, OP_Mul, v, v), x_by(e, OP_Mul, log, 1 / a)));
  struct value *x = x_2(e, OP_Mul, x_1(e, OP_Sign, y), x_1(e, OP_Sqrt, x_2(e, OP_Sub, root, v)));
  for (int i = 0; i < 2; i++) {
    struct value *slope = x_1(e, OP_Exp, x_2(e, OP_Mul, x, x));
    struct value *miss = x_2(e, OP_Sub, x_1(e, OP_Erf, x), y);
    x = x_2(e, OP_Sub, x, x_by(e, OP_Mul, x_2(e, OP_Mul, miss, slope), sqrt(pi) / 2));
  }
  return x_by(e, OP_Mul, x, sqrt(2));
}

/* A softmax in which scores of zero stay zero. */
static struct value *softmax_zero(struct graph_builder *e, struct value *x) {
  const int64_t last = 1;
  struct value *most = x_reduce(e, OP_ReduceMax, x, &last, 1, true);
  struct value *is_some = x_2(e, OP_Greater, x_1(e, OP_Abs, x), x_scalar(e, x->dtype, 1e-7));
  x = x_3(e, OP_Where, is_some, x_1(e, OP_Exp, x_2(e, OP_Sub, x, most)), x_scalar(e, x->dtype, 0));
  return divided(e, x, x_reduce(e, OP_ReduceSum, x, &last, 1, true));
}

struct value *x_transform(struct graph_builder *e, const char *how, struct value *x) {
  if (!strcmp(how, "LOGISTIC")) return x_1(e, OP_Sigmoid, x);
  if (!strcmp(how, "SOFTMAX")) {
    x_with_int(e, "axis", 1);
    return x_1(e, OP_Softmax, x);
  }
  if (!strcmp(how, "SOFTMAX_ZERO")) return softmax_zero(e, x);
  if (!strcmp(how, "PROBIT")) return probit(e, x);
  if (strcmp(how, "NONE")) x_fail(e, HONE_E_UNSUP, "post_transform \"%s\"", how);
  return x;
}

static const char *transform_of(const struct graph_builder *e) {
  return node_string(e->node, "post_transform", "NONE");
}

/* -- labels */

struct labels {
  const struct attribute *list; /* NULL: numbers from 0 */
  bool is_text;
  size_t count;
};

static struct labels labels_of(const struct graph_builder *e) {
  const struct attribute *texts = node_attribute(e->node, "classlabels_strings");
  const struct attribute *ints = node_attribute(e->node, "classlabels_ints");
  if (texts && texts->count) return (struct labels){texts, true, texts->count};
  if (ints && ints->count) return (struct labels){ints, false, ints->count};
  return (struct labels){0};
}

struct value *x_label(struct graph_builder *e, const struct attribute *labels, struct value *at) {
  const struct tensor *tensor;
  const bool is_text = labels->kind == ATTRIBUTE_STRINGS;
  const struct shape shape = {1, {(int64_t)labels->count}};
  struct value *list = x_constant(e, is_text ? HONE_STRING : HONE_I64, &shape, &tensor);
  for (size_t i = 0; !e->status && i < labels->count; i++)
    if (is_text)
      ((struct string *)tensor_data(tensor))[i] = labels->strings[i];
    else
      tensor_set_i64(tensor, i, labels->ints[i]);
  return x_gather(e, list, at, 0);
}

/* The same for optional labels: the index if there are none. */
static struct value *labelled(struct graph_builder *e, const struct labels *l, struct value *at) {
  return l->list ? x_label(e, l->list, at) : at;
}

static struct value *best_of(struct graph_builder *e, struct value *scores) {
  x_with_int(e, "axis", 1);
  x_with_int(e, "keepdims", 0);
  return x_1(e, OP_ArgMax, scores);
}

/* 1 where a score [n, 1] is positive. */
static struct value *is_positive(struct graph_builder *e, struct value *score) {
  struct value *yes = x_by(e, OP_Greater, score, 0);
  return x_cast(e, x_squeeze(e, yes, 1), HONE_I64);
}

static struct value *beside(struct graph_builder *e, struct value *a, struct value *b) {
  return x_concat(e, 1, (struct value *[]){a, b}, 2);
}

/* One score and two labels: the score of the second label, from which that of the first follows. */
static struct value *two_scores(struct graph_builder *e, const char *how, bool is_signed,
                                struct value *x) {
  if (!strcmp(how, "PROBIT")) return x_transform(e, how, x);
  if (!strcmp(how, "LOGISTIC"))
    return beside(e, x_1(e, OP_Sigmoid, x_1(e, OP_Neg, x)), x_1(e, OP_Sigmoid, x));
  return beside(e, is_signed && !strcmp(how, "NONE") ? x_1(e, OP_Neg, x) : minus(e, 1, x), x);
}

/* -- linear models */

/* x [n, columns] times the coefficients [outputs, columns], plus intercepts: [n, outputs] */
static struct value *linear(struct graph_builder *e, struct value *x, int64_t outputs) {
  const struct attribute *offsets = floats_of(e, "intercepts");
  struct value *w = matrix(e, floats_of(e, "coefficients"), 0, outputs, x->shape.dims[1]);
  x = x_2(e, OP_MatMul, x, x_swap(e, w, 0, 1));
  return offsets && offsets->count ? x_2(e, OP_Add, x, matrix(e, offsets, 0, 0, outputs)) : x;
}

void expand_linear_regressor(struct graph_builder *e) {
  int64_t targets = x_int(e, "targets", 1);
  if (targets < 1) x_fail(e, HONE_E_SHAPE, "%lld targets", (long long)targets);
  struct value *x = rows_of(e, 0);
  if (e->status) return;
  x_out(e, 0, x_transform(e, transform_of(e), linear(e, x, targets)));
}

void expand_linear_classifier(struct graph_builder *e) {
  const struct attribute *offsets = floats_of(e, "intercepts"), *w = floats_of(e, "coefficients");
  struct value *x = rows_of(e, 0);
  struct labels labels = labels_of(e);
  if (!w || e->status) x_fail(e, HONE_E_FORMAT, "LinearClassifier without coefficients");
  if (e->status) return;
  int64_t columns = x->shape.dims[1];
  int64_t classes = offsets && offsets->count ? (int64_t)offsets->count
                    : columns                 ? (int64_t)w->count / columns
                                              : 0;
  const char *how = transform_of(e);
  if (classes < 1 || (classes > 1 && labels.list && (int64_t)labels.count != classes)) {
    x_fail(e, HONE_E_SHAPE, "%lld intercepts and %zu labels", (long long)classes, labels.count);
    return;
  }
  struct value *scores = linear(e, x, classes);
  x_out(e, 0, labelled(e, &labels, classes == 1 ? is_positive(e, scores) : best_of(e, scores)));
  bool is_single = classes == 1 && labels.count == 2;
  x_out(e, 1, is_single ? two_scores(e, how, false, scores) : x_transform(e, how, scores));
}

/* -- support vector machines */

/* The kernel of each row of x and each of `count` vectors of an attribute, plus rho: [n, count] */
static struct value *kernels(struct graph_builder *e, struct value *x, const char *vectors,
                             int64_t count) {
  const struct attribute *given = floats_of(e, "kernel_params");
  double p[3] = {0}; /* gamma, coef0, degree */
  const char *kind = node_string(e->node, "kernel_type", "LINEAR");
  struct value *v = matrix(e, floats_of(e, vectors), 0, count, x->shape.dims[1]);
  for (size_t i = 0; i < 3 && given && i < given->count; i++) p[i] = given->floats[i];
  struct value *dot = x_2(e, OP_MatMul, x, x_swap(e, v, 0, 1));
  if (!strcmp(kind, "LINEAR")) return dot;
  /* from differences: the expanded square would cancel for large numbers */
  if (!strcmp(kind, "RBF")) {
    struct value *away = x_2(e, OP_Sub, x_unsqueeze(e, x, 1), v);
    away = x_reduce(e, OP_ReduceSumSquare, away, (int64_t[]){2}, 1, false);
    return x_1(e, OP_Exp, x_by(e, OP_Mul, away, -p[0]));
  }
  dot = x_by(e, OP_Add, x_by(e, OP_Mul, dot, p[0]), p[1]);
  if (!strcmp(kind, "SIGMOID")) return x_1(e, OP_Tanh, dot);
  if (!strcmp(kind, "POLY")) return x_2(e, OP_Pow, dot, x_scalar(e, HONE_F32, p[2]));
  x_fail(e, HONE_E_UNSUP, "kernel_type \"%s\"", kind);
  return dot;
}

void expand_svm_regressor(struct graph_builder *e) {
  const struct attribute *w = floats_of(e, "coefficients"), *rho = floats_of(e, "rho");
  int64_t supports = x_int(e, "n_supports", 0);
  struct value *x = rows_of(e, 0), *y;
  if (!w || !rho || !rho->count || supports < 0)
    x_fail(e, HONE_E_FORMAT, "SVMRegressor without coefficients or rho");
  if (e->status) return;
  if (supports)
    y = x_2(e, OP_MatMul, kernels(e, x, "support_vectors", supports), matrix(e, w, 0, supports, 1));
  else
    y = kernels(e, x, "coefficients", 1);
  y = x_by(e, OP_Add, y, rho->floats[0]);
  if (x_int(e, "one_class", 0))
    y = x_3(e, OP_Where, x_2(e, OP_Greater, y, x_scalar(e, HONE_F32, 0)), x_scalar(e, HONE_F32, 1),
            x_scalar(e, HONE_F32, -1));
  x_out(e, 0, x_transform(e, transform_of(e), y));
}

struct machine {
  struct graph_builder *e;
  struct labels labels;
  const struct attribute *w, *rho, *prob_a, *prob_b;
  const int64_t *per_class;
  size_t classes, vectors, pairs;
  bool is_linear;
};

static bool read_machine(struct graph_builder *e, struct machine *m) {
  *m = (struct machine){.e = e,
                        .labels = labels_of(e),
                        .w = floats_of(e, "coefficients"),
                        .rho = floats_of(e, "rho"),
                        .prob_a = floats_of(e, "prob_a"),
                        .prob_b = floats_of(e, "prob_b")};
  m->per_class = node_ints(e->node, "vectors_per_class", &m->classes);
  m->is_linear = !m->per_class || !m->classes;
  if (m->is_linear) m->classes = m->labels.count;
  for (size_t i = 0; i < m->classes && !m->is_linear; i++) {
    if (m->per_class[i] < 0 || m->per_class[i] > INT32_MAX) break;
    m->vectors += (size_t)m->per_class[i];
  }
  m->pairs = m->classes * (m->classes ? m->classes - 1 : 0) / 2;
  if (m->prob_a && !m->prob_a->count) m->prob_a = NULL;
  bool fits = m->w && m->rho && m->classes >= 1 && m->classes <= MOST_CLASSES && m->rho->count &&
              (m->is_linear || (m->vectors && m->rho->count == m->pairs &&
                                m->w->count == m->vectors * (m->classes - 1))) &&
              (!m->labels.list || m->labels.count == m->classes) &&
              (!m->prob_a || (m->prob_b && m->prob_a->count == m->pairs &&
                              m->prob_b->count == m->pairs && !m->is_linear));
  if (!fits) x_fail(e, HONE_E_SHAPE, "the lengths of the SVM attributes do not match");
  return fits && !e->status;
}

/* One score for each pair of classes: positive if the first wins, [n, pairs]. A matmul of all
 * kernel values with a matrix that has a pair's coefficients at the support vectors of its
 * classes. */
static struct value *pair_scores(const struct machine *m, struct value *k) {
  const struct tensor *table;
  struct shape shape = {2, {(int64_t)m->vectors, (int64_t)m->pairs}};
  struct value *w = x_constant(m->e, HONE_F32, &shape, &table);
  size_t pair = 0, start_i = 0;
  for (size_t i = 0; i < m->classes && !m->e->status; i++) {
    size_t start_j = start_i + (size_t)m->per_class[i];
    for (size_t j = i + 1; j < m->classes; j++, pair++) {
      for (size_t v = start_i; v < start_i + (size_t)m->per_class[i]; v++)
        tensor_set_f64(table, v * m->pairs + pair, m->w->floats[(j - 1) * m->vectors + v]);
      for (size_t v = start_j; v < start_j + (size_t)m->per_class[j]; v++)
        tensor_set_f64(table, v * m->pairs + pair, m->w->floats[i * m->vectors + v]);
      start_j += (size_t)m->per_class[j];
    }
    start_i += (size_t)m->per_class[i];
  }
  struct value *y = x_2(m->e, OP_MatMul, k, w);
  return x_2(m->e, OP_Add, y, matrix(m->e, m->rho, 0, 0, (int64_t)m->pairs));
}

/* The number of pairs that each class wins: [n, classes] */
static struct value *votes(const struct machine *m, struct value *scores) {
  struct graph_builder *e = m->e;
  const struct tensor *table, *rest;
  struct shape shape = {2, {(int64_t)m->pairs, (int64_t)m->classes}};
  struct value *w = x_constant(e, HONE_F32, &shape, &table);
  struct value *base = x_constant(e, HONE_F32, &(struct shape){1, {(int64_t)m->classes}}, &rest);
  size_t pair = 0;
  for (size_t i = 0; i < m->classes && !e->status; i++)
    for (size_t j = i + 1; j < m->classes; j++, pair++) {
      tensor_set_f64(table, pair * m->classes + i, 1);
      tensor_set_f64(table, pair * m->classes + j, -1);
      tensor_set_f64(rest, j, tensor_f64(rest, j) + 1);
    }
  struct value *won = x_cast(e, x_2(e, OP_Greater, scores, x_scalar(e, HONE_F32, 0)), HONE_F32);
  return x_2(e, OP_Add, x_2(e, OP_MatMul, won, w), base);
}

/* Class probabilities from pairwise probabilities (Wu, Lin and Weng 2004). */
static struct value *probabilities(const struct machine *m, struct value *scores) {
  struct graph_builder *e = m->e;
  int64_t pairs = (int64_t)m->pairs;
  struct value *x = x_2(e, OP_Mul, scores, matrix(e, m->prob_a, 0, 0, pairs));
  x = x_2(e, OP_Add, x, matrix(e, m->prob_b, 0, 0, pairs));
  x = x_1(e, OP_Sigmoid, x_1(e, OP_Neg, x));
  x = x_3(e, OP_Clip, x, x_scalar(e, HONE_F32, 1e-7), x_scalar(e, HONE_F32, 1 - 1e-7));
  x_with_int(e, "classes", (int64_t)m->classes);
  return x_1(e, OP_CoupleProbabilities, x);
}

void expand_svm_classifier(struct graph_builder *e) {
  struct machine m;
  struct value *x = rows_of(e, 0), *best;
  const char *how = transform_of(e);
  if (e->status || !read_machine(e, &m)) return;
  struct value *scores =
      m.is_linear
          ? x_by(e, OP_Add, kernels(e, x, "coefficients", (int64_t)m.classes), m.rho->floats[0])
          : pair_scores(&m, kernels(e, x, "support_vectors", (int64_t)m.vectors));
  best = best_of(e, m.is_linear ? scores : votes(&m, scores));
  if (m.prob_a) scores = probabilities(&m, scores);
  x_out(e, 0, labelled(e, &m.labels, best));
  bool is_single = !m.is_linear && m.pairs == 1 && !m.prob_a;
  x_out(e, 1, is_single ? two_scores(e, how, true, scores) : x_transform(e, how, scores));
}

/* -- features */

void expand_scaler(struct graph_builder *e) {
  struct value *x = x_cast(e, x_in(e, 0), HONE_F32);
  if (e->status || !x->shape.rank) return;
  int64_t columns = x->shape.dims[x->shape.rank - 1];
  x = x_2(e, OP_Sub, x, column_list(e, "offset", 0, columns));
  x_out(e, 0, x_2(e, OP_Mul, x, column_list(e, "scale", 1, columns)));
}

/* Divides each row by its largest element, the sum of its magnitudes or its norm; zero rows are
 * unchanged. */
void expand_normalizer(struct graph_builder *e) {
  const int64_t last = -1;
  struct value *x = x_cast(e, x_in(e, 0), HONE_F32), *by;
  enum op_id op = x_is(e, "norm", "MAX", "L1")   ? OP_ReduceL1
                  : x_is(e, "norm", "MAX", "L2") ? OP_ReduceL2
                                                 : OP_ReduceMax;
  if (op == OP_ReduceMax && !x_is(e, "norm", "MAX", "MAX"))
    x_fail(e, HONE_E_UNSUP, "norm \"%s\"", node_string(e->node, "norm", "MAX"));
  if (!x->shape.rank) x_fail(e, HONE_E_SHAPE, "Normalizer of a scalar");
  by = x_reduce(e, op, x, &last, 1, true);
  struct value *is_none = x_2(e, OP_Equal, by, x_scalar(e, HONE_F32, 0));
  x_out(e, 0, divided(e, x, x_3(e, OP_Where, is_none, x_scalar(e, HONE_F32, 1), by)));
}

void expand_imputer(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *by, *is_lost;
  int64_t columns = x->shape.rank ? x->shape.dims[x->shape.rank - 1] : 1;
  if (dtype_is_float(x->dtype)) {
    double lost = x_float(e, "replaced_value_float", 0);
    by = x_cast(e, column_list(e, "imputed_value_floats", 0, columns), x->dtype);
    is_lost = isnan(lost) ? x_1(e, OP_IsNaN, x) : x_by(e, OP_Equal, x, lost);
  } else {
    size_t count = 0;
    const int64_t *ints = node_ints(e->node, "imputed_value_int64s", &count);
    if (!ints || (count != 1 && (int64_t)count != columns))
      x_fail(e, HONE_E_SHAPE, "imputed_value_int64s has %zu values", count);
    if (e->status) return;
    by = x_cast(e, x_list(e, ints, count), x->dtype);
    struct value *lost = x_list(e, (int64_t[]){x_int(e, "replaced_value_int64", 0)}, 1);
    is_lost = x_2(e, OP_Equal, x, x_cast(e, lost, x->dtype));
  }
  x_out(e, 0, x_3(e, OP_Where, is_lost, by, x));
}

/* 1 where x is the category, along a new last axis; unknown values give zeros. */
void expand_one_hot_encoder(struct graph_builder *e) {
  const struct attribute *texts = node_attribute(e->node, "cats_strings");
  const struct tensor *tensor;
  size_t count = 0;
  const int64_t *ints = node_ints(e->node, "cats_int64s", &count);
  struct value *x = x_in(e, 0), *list;
  if (x->dtype == HONE_STRING && texts) {
    list = x_constant(e, HONE_STRING, &(struct shape){1, {(int64_t)texts->count}}, &tensor);
    if (!e->status)
      memcpy(tensor_data(tensor), texts->strings, texts->count * sizeof(struct string));
  } else if (x->dtype != HONE_STRING && ints) {
    list = x_list(e, ints, count);
    x = x_cast(e, x, HONE_I64);
  } else {
    x_fail(e, HONE_E_TYPE, "OneHotEncoder of %s without categories of that type",
           dtype_name(x->dtype));
    return;
  }
  x = x_unsqueeze(e, x, x->shape.rank);
  x_out(e, 0,
        x_cast(e, x_2(e, x->dtype == HONE_STRING ? OP_StringEqual : OP_Equal, x, list), HONE_F32));
}

/* Concatenates all inputs, each cropped or padded with zeros to its number of columns. */
void expand_feature_vectorizer(struct graph_builder *e) {
  struct value *parts[64];
  size_t given = 0, count = e->node->input_count;
  const int64_t *widths = node_ints(e->node, "inputdimensions", &given);
  if (count > COUNT(parts) || (widths && given != count)) {
    x_fail(e, HONE_E_SHAPE, "FeatureVectorizer of %zu inputs with %zu widths", count, given);
    return;
  }
  for (size_t k = 0; k < count && !e->status; k++) {
    parts[k] = rows_of(e, k);
    int64_t has = parts[k]->shape.dims[1], want = widths ? widths[k] : has;
    if (want < 0 || want > 1 << 28) x_fail(e, HONE_E_SHAPE, "a width of %lld", (long long)want);
    parts[k] = x_pad(e, parts[k], 1, 0, e->status ? 0 : want - has);
  }
  if (!e->status) x_out(e, 0, x_concat(e, 1, parts, count));
}

/* Maps from class to score are given as the tensor of their scores: the classes are the same in
 * each. */
void expand_zip_map(struct graph_builder *e) {
  struct value *x = x_in(e, 0);
  warn(e->ctx,
       "%s: the maps of ZipMap are given as a tensor of their values, in the order of its labels",
       e->node->name);
  x_out(e, 0, x_1(e, OP_Identity, x->shape.rank == 1 ? x_unsqueeze(e, x, 0) : x));
}
