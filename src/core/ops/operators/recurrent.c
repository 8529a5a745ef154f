/* recurrent: LSTM, GRU and RNN, by the equations of the ONNX specification, in double. Layout 0 is
 * x [steps, batch, input]; layout 1 puts the batch first. Gate order in weights: LSTM i o f c, GRU
 * z r h.
 */
#include <math.h>

#include "core/ops/ops_internal.h"

/* -- activations */

struct activation {
  double (*apply)(double x, double alpha, double beta);
  double alpha, beta;
};

static double relu(double x, double a, double b) { return (void)a, (void)b, x > 0 ? x : 0; }
static double tanh_of(double x, double a, double b) { return (void)a, (void)b, tanh(x); }
static double sigmoid(double x, double a, double b) { return (void)a, (void)b, 1 / (1 + exp(-x)); }
static double affine(double x, double a, double b) { return a * x + b; }
static double leaky_relu(double x, double a, double b) { return (void)b, x >= 0 ? x : a * x; }
static double thresholded(double x, double a, double b) { return (void)b, x >= a ? x : 0; }
static double scaled_tanh(double x, double a, double b) { return a * tanh(b * x); }
static double hard_sigmoid(double x, double a, double b) { return fmin(fmax(a * x + b, 0), 1); }
static double elu(double x, double a, double b) { return (void)b, x >= 0 ? x : a * expm1(x); }
static double softsign(double x, double a, double b) { return (void)a, (void)b, x / (1 + fabs(x)); }
static double softplus(double x, double a, double b) {
  return (void)a, (void)b, fmax(x, 0) + log1p(exp(-fabs(x)));
}

static const struct {
  const char *name;
  struct activation activation;
} activations[] = {
    {"Affine", {affine, 1, 0}},
    {"Elu", {elu, 1, 0}},
    {"HardSigmoid", {hard_sigmoid, 0.2, 0.5}},
    {"LeakyRelu", {leaky_relu, 0.01, 0}},
    {"Relu", {relu, 0, 0}},
    {"ScaledTanh", {scaled_tanh, 1, 1}},
    {"Sigmoid", {sigmoid, 0, 0}},
    {"Softplus", {softplus, 0, 0}},
    {"Softsign", {softsign, 0, 0}},
    {"Tanh", {tanh_of, 0, 0}},
    {"ThresholdedRelu", {thresholded, 1, 0}},
};

static bool equals_ignoring_case(const struct string *text, const char *name) {
  if (text->length != strlen(name)) return false;
  for (size_t i = 0; i < text->length; i++)
    if ((text->bytes[i] | 32) != (name[i] | 32)) return false;
  return true;
}

/* -- the plan: sizes and operands */

enum { DIRECTIONS = 2, FUNCTIONS = 3 };

struct recurrent {
  int gates;     /* 4, 3 or 1 */
  int functions; /* activations per direction */
  int64_t steps, batch, input, hidden;
  int directions;
  bool is_reverse; /* of the only direction */
  bool batch_first, linear_before_reset, input_forget;
  double clip; /* 0: none */
  struct activation f[DIRECTIONS][FUNCTIONS];
};

static const struct {
  const char *op;
  int gates, functions;
  const char *usual[FUNCTIONS];
} kinds[] = {
    {"GRU", 3, 2, {"Sigmoid", "Tanh", NULL}},
    {"LSTM", 4, 3, {"Sigmoid", "Tanh", "Tanh"}},
    {"RNN", 1, 1, {"Tanh", NULL, NULL}},
};

static hone_status read_direction(struct ctx *ctx, const struct node *node, struct recurrent *r) {
  const char *direction = node_string(node, "direction", "forward");
  r->directions = strcmp(direction, "bidirectional") == 0 ? 2 : 1;
  r->is_reverse = strcmp(direction, "reverse") == 0;
  if (r->directions == 2 || r->is_reverse || strcmp(direction, "forward") == 0) return HONE_OK;
  return fail(ctx, HONE_E_SHAPE, node_place(node), "direction has an unknown value");
}

static bool find_activation(const struct string *name, struct activation *out) {
  for (size_t i = 0; i < COUNT(activations); i++) {
    if (!equals_ignoring_case(name, activations[i].name)) continue;
    *out = activations[i].activation;
    return true;
  }
  return false;
}

/* alpha and beta values are assigned in the order of the activations that take one. */
static double next_float(const struct attribute *list, size_t *used, double otherwise) {
  return list && *used < list->count && list->floats ? list->floats[(*used)++] : otherwise;
}

static bool takes_alpha(const struct activation *f) {
  return f->apply == affine || f->apply == leaky_relu || f->apply == thresholded ||
         f->apply == scaled_tanh || f->apply == hard_sigmoid || f->apply == elu;
}

static bool takes_beta(const struct activation *f) {
  return f->apply == affine || f->apply == scaled_tanh || f->apply == hard_sigmoid;
}

static hone_status read_activations(struct ctx *ctx, const struct node *node,
                                    const char *const *usual, struct recurrent *r) {
  const struct attribute *names = node_attribute(node, "activations");
  const struct attribute *alphas = node_attribute(node, "activation_alpha");
  const struct attribute *betas = node_attribute(node, "activation_beta");
  size_t expected = (size_t)(r->functions * r->directions), alpha = 0, beta = 0;
  if (names && names->count != expected)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "activations is not a list of %zu names",
                expected);
  for (int d = 0; d < r->directions; d++)
    for (int k = 0; k < r->functions; k++) {
      struct string name = {usual[k], strlen(usual[k])};
      if (names) name = names->strings[d * r->functions + k];
      struct activation *f = &r->f[d][k];
      if (!find_activation(&name, f))
        return fail(ctx, HONE_E_UNSUP, node_place(node), "activations names an unknown function");
      if (takes_alpha(f)) f->alpha = next_float(alphas, &alpha, f->alpha);
      if (takes_beta(f)) f->beta = next_float(betas, &beta, f->beta);
    }
  return HONE_OK;
}

static hone_status plan(struct ctx *ctx, const struct node *node, const struct shape *x,
                        const struct shape *w, struct recurrent *r) {
  *r = (struct recurrent){0};
  size_t kind = 0;
  while (kind < COUNT(kinds) && strcmp(kinds[kind].op, node->op->name) != 0) kind++;
  if (kind == COUNT(kinds))
    return fail(ctx, HONE_E_INTERNAL, node_place(node), "%s is not a recurrent operator",
                node->op->name);
  r->gates = kinds[kind].gates, r->functions = kinds[kind].functions;
  if (x->rank != 3 || w->rank != 3)
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "inputs 0 and 1 have rank %d and %d, expected 3", x->rank, w->rank);
  r->batch_first = node_int(node, "layout", 0) != 0;
  r->steps = x->dims[r->batch_first], r->batch = x->dims[!r->batch_first], r->input = x->dims[2];
  r->linear_before_reset = node_int(node, "linear_before_reset", 0) != 0;
  r->input_forget = node_int(node, "input_forget", 0) != 0;
  r->clip = node_float(node, "clip", 0);
  r->hidden = node_int(node, "hidden_size", w->dims[1] / r->gates);
  if (r->hidden < 1 || r->hidden > INT32_MAX || w->dims[1] != r->hidden * r->gates)
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "hidden_size is %lld, the weights have %lld rows", (long long)r->hidden,
                (long long)w->dims[1]);
  TRY(read_direction(ctx, node, r));
  return read_activations(ctx, node, kinds[kind].usual, r);
}

hone_status recurrent_activations(struct ctx *ctx, struct arena *arena, const struct node *node,
                                  int64_t **out_functions, double **out_alphas, double **out_betas,
                                  size_t *out_count) {
  struct recurrent r;
  TRY(plan(ctx, node, &node->inputs[0]->shape, &node->inputs[1]->shape, &r));
  *out_count = (size_t)(r.directions * r.functions);
  TRY(NEW_ARRAY(ctx, arena, *out_functions, *out_count));
  TRY(NEW_ARRAY(ctx, arena, *out_alphas, *out_count));
  TRY(NEW_ARRAY(ctx, arena, *out_betas, *out_count));
  for (size_t i = 0; i < *out_count; i++) {
    const struct activation *f = &r.f[i / (size_t)r.functions][i % (size_t)r.functions];
    size_t number = 0;
    while (activations[number].activation.apply != f->apply) number++;
    (*out_functions)[i] = (int64_t)number;
    (*out_alphas)[i] = f->alpha;
    (*out_betas)[i] = f->beta;
  }
  return HONE_OK;
}

/* Operand k, if present, is exactly [dims...]. */
static hone_status want_shape(struct ctx *ctx, const struct node *node, size_t k, int rank,
                              const int64_t *dims) {
  const struct value *value = node_input(node, k);
  struct shape wanted = shape_of(rank, dims);
  if (!value || shape_equal(&value->shape, &wanted)) return HONE_OK;
  return fail(ctx, HONE_E_SHAPE, node_place(node),
              "input %zu does not have the shape that x, W and hidden_size require", k);
}

static hone_status infer_recurrent(struct ctx *ctx, const struct node *node) {
  const struct value *x = node->inputs[0];
  struct recurrent r;
  TRY(want_float(ctx, node, 0));
  TRY(plan(ctx, node, &x->shape, &node->inputs[1]->shape, &r));
  int64_t d = r.directions, h = r.hidden, b = r.batch;
  int64_t state[] = {r.batch_first ? b : d, r.batch_first ? d : b, h};
  TRY(want_shape(ctx, node, 1, 3, (int64_t[]){d, r.gates * h, r.input}));
  TRY(want_shape(ctx, node, 2, 3, (int64_t[]){d, r.gates * h, h}));
  TRY(want_shape(ctx, node, 3, 2, (int64_t[]){d, 2 * r.gates * h}));
  TRY(want_shape(ctx, node, 4, 1, (int64_t[]){b}));
  TRY(want_shape(ctx, node, 5, 3, state));
  if (r.gates == 4) {
    TRY(want_shape(ctx, node, 6, 3, state));
    TRY(want_shape(ctx, node, 7, 2, (int64_t[]){d, 3 * h}));
  }
  struct shape y = r.batch_first ? shape_of(4, (int64_t[]){b, r.steps, d, h})
                                 : shape_of(4, (int64_t[]){r.steps, d, b, h});
  struct shape last = shape_of(3, state);
  TRY(set_output(ctx, node, 0, x->dtype, &y));
  TRY(set_output(ctx, node, 1, x->dtype, &last));
  return r.gates == 4 ? set_output(ctx, node, 2, x->dtype, &last) : HONE_OK;
}

hone_status infer_lstm(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return infer_recurrent(ctx, node);
}
hone_status infer_gru(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return infer_recurrent(ctx, node);
}
hone_status infer_rnn(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return infer_recurrent(ctx, node);
}

/* -- one sequence of one batch row in one direction */

struct cell {
  const struct recurrent *r;
  const double *w, *u;    /* [gates * hidden][input], [gates * hidden][hidden] */
  const double *bias;     /* [2 * gates * hidden] or NULL */
  const double *peephole; /* [3 * hidden], i o f, or NULL */
  const struct activation *f;
  double *h, *c;            /* [hidden], the state */
  double *gates, *previous; /* [2 * gates * hidden]: from x, from h; [hidden] */
};

static double bounded(const struct recurrent *r, double x) {
  if (r->clip <= 0) return x;
  return x > r->clip ? r->clip : x < -r->clip ? -r->clip : x;
}

static double activate(const struct cell *cell, int k, double x) {
  return cell->f[k].apply(bounded(cell->r, x), cell->f[k].alpha, cell->f[k].beta);
}

static double dot(const double *a, const double *b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++) sum += a[i] * b[i];
  return sum;
}

/* gates[0..g) = W x + Wb, gates[g..2g) = R h + Rb */
static void multiply(const struct cell *cell, const double *x) {
  const struct recurrent *r = cell->r;
  int64_t rows = r->gates * r->hidden;
  for (int64_t i = 0; i < rows; i++) {
    cell->gates[i] = dot(cell->w + i * r->input, x, r->input);
    cell->gates[rows + i] = dot(cell->u + i * r->hidden, cell->h, r->hidden);
    if (!cell->bias) continue;
    cell->gates[i] += cell->bias[i];
    cell->gates[rows + i] += cell->bias[rows + i];
  }
}

static void step_lstm(const struct cell *cell) {
  int64_t n = cell->r->hidden, rows = 4 * n;
  const double *g = cell->gates, *p = cell->peephole;
  for (int64_t j = 0; j < n; j++) {
    double c = cell->c[j];
    double i = activate(cell, 0, g[j] + g[rows + j] + (p ? p[j] * c : 0));
    double forget = g[2 * n + j] + g[rows + 2 * n + j] + (p ? p[2 * n + j] * c : 0);
    double f = cell->r->input_forget ? 1 - i : activate(cell, 0, forget);
    double candidate = activate(cell, 1, g[3 * n + j] + g[rows + 3 * n + j]);
    c = f * c + i * candidate;
    double o = activate(cell, 0, g[n + j] + g[rows + n + j] + (p ? p[n + j] * c : 0));
    cell->c[j] = c;
    cell->h[j] = o * cell->f[2].apply(c, cell->f[2].alpha, cell->f[2].beta);
  }
}

static void step_gru(const struct cell *cell) {
  int64_t n = cell->r->hidden, rows = 3 * n;
  double *g = cell->gates, *h = cell->h, *reset = cell->previous;
  const double *u = cell->u + 2 * n * n, *bias = cell->bias ? cell->bias + rows + 2 * n : NULL;
  for (int64_t j = 0; j < n; j++)
    reset[j] = activate(cell, 0, g[n + j] + g[rows + n + j]) *
               (cell->r->linear_before_reset ? g[rows + 2 * n + j] : h[j]);
  for (int64_t j = 0; j < n; j++) {
    double from_h =
        cell->r->linear_before_reset ? reset[j] : dot(u + j * n, reset, n) + (bias ? bias[j] : 0);
    g[2 * n + j] = activate(cell, 1, g[2 * n + j] + from_h);
  }
  for (int64_t j = 0; j < n; j++) {
    double z = activate(cell, 0, g[j] + g[rows + j]);
    h[j] = (1 - z) * g[2 * n + j] + z * h[j];
  }
}

static void step_rnn(const struct cell *cell) {
  int64_t n = cell->r->hidden;
  for (int64_t j = 0; j < n; j++)
    cell->h[j] = activate(cell, 0, cell->gates[j] + cell->gates[n + j]);
}

static void step(const struct cell *cell, const double *x) {
  multiply(cell, x);
  if (cell->r->gates == 4) step_lstm(cell);
  if (cell->r->gates == 3) step_gru(cell);
  if (cell->r->gates == 1) step_rnn(cell);
}

/* -- all sequences */

struct operands {
  double *x, *w, *u, *bias, *h, *c, *peephole;
  const struct tensor *lengths;
};

static void write_state(const struct tensor *out, int64_t at, int64_t count, const double *state) {
  if (out) write_f64(out, at, (size_t)count, state);
}

static void run_sequence(const struct recurrent *r, const struct operands *o, struct cell *cell,
                         int direction, int64_t b, struct tensor *const *out, size_t out_count) {
  int64_t n = r->hidden;
  int64_t state_at =
      (r->batch_first ? b * r->directions + direction : direction * r->batch + b) * n;
  for (int64_t j = 0; j < n; j++) {
    cell->h[j] = o->h ? o->h[state_at + j] : 0;
    cell->c[j] = o->c ? o->c[state_at + j] : 0;
  }
  int64_t length = o->lengths ? tensor_i64(o->lengths, (size_t)b) : r->steps;
  if (length < 0) length = 0;
  if (length > r->steps) length = r->steps;
  bool backwards = direction == 1 || r->is_reverse;
  for (int64_t s = 0; s < length; s++) {
    int64_t t = backwards ? length - 1 - s : s;
    step(cell, o->x + (r->batch_first ? b * r->steps + t : t * r->batch + b) * r->input);
    int64_t at = r->batch_first ? (b * r->steps + t) * r->directions + direction
                                : (t * r->directions + direction) * r->batch + b;
    write_state(out_count > 0 ? out[0] : NULL, at * n, n, cell->h);
  }
  write_state(out_count > 1 ? out[1] : NULL, state_at, n, cell->h);
  write_state(out_count > 2 ? out[2] : NULL, state_at, n, cell->c);
}

static hone_status load(struct ctx *ctx, struct arena *scratch, const struct node *node,
                        const struct tensor *const *in, struct operands *o) {
  double **const slots[] = {&o->x, &o->w, &o->u, &o->bias, NULL, &o->h, &o->c, &o->peephole};
  for (size_t k = 0; k < node->input_count && k < COUNT(slots); k++)
    if (slots[k]) TRY(to_f64(ctx, scratch, in[k], slots[k]));
  o->lengths = node->input_count > 4 ? in[4] : NULL;
  return HONE_OK;
}

static hone_status eval_recurrent(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                  const struct tensor *const *in, struct tensor *const *out) {
  struct recurrent r;
  struct operands o = {0};
  TRY(plan(ctx, node, &in[0]->shape, &in[1]->shape, &r));
  TRY(load(ctx, scratch, node, in, &o));
  int64_t rows = r.gates * r.hidden;
  struct cell cell = {.r = &r};
  TRY(NEW_ARRAY(ctx, scratch, cell.h, (size_t)r.hidden));
  TRY(NEW_ARRAY(ctx, scratch, cell.c, (size_t)r.hidden));
  TRY(NEW_ARRAY(ctx, scratch, cell.previous, (size_t)r.hidden));
  TRY(NEW_ARRAY(ctx, scratch, cell.gates, (size_t)(2 * rows)));
  for (int d = 0; d < r.directions; d++) {
    cell.w = o.w + d * rows * r.input, cell.u = o.u + d * rows * r.hidden;
    cell.bias = o.bias ? o.bias + d * 2 * rows : NULL;
    cell.peephole = o.peephole ? o.peephole + d * 3 * r.hidden : NULL;
    cell.f = r.f[d];
    for (int64_t b = 0; b < r.batch; b++)
      run_sequence(&r, &o, &cell, d, b, out, node->output_count);
  }
  return HONE_OK;
}

hone_status eval_lstm(struct ctx *ctx, struct arena *scratch, const struct node *node,
                      const struct tensor *const *in, struct tensor *const *out) {
  return eval_recurrent(ctx, scratch, node, in, out);
}
hone_status eval_gru(struct ctx *ctx, struct arena *scratch, const struct node *node,
                     const struct tensor *const *in, struct tensor *const *out) {
  return eval_recurrent(ctx, scratch, node, in, out);
}
hone_status eval_rnn(struct ctx *ctx, struct arena *scratch, const struct node *node,
                     const struct tensor *const *in, struct tensor *const *out) {
  return eval_recurrent(ctx, scratch, node, in, out);
}
