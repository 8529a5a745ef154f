/* einsum: Einstein summation. The equation is parsed into labels per term; the result is a sum over
 * every assignment of all labels. Labels a..z and A..Z and the ellipsis, whose dims broadcast. */
#include "core/ops/composites/expand.h"

enum { LETTERS = 52, LABELS = LETTERS + HONE_MAX_RANK, TERMS = 16 };

struct term {
  int rank;
  int labels[HONE_MAX_RANK]; /* 0..51 letters, LETTERS + i: dim i of the ellipsis */
};

struct einsum {
  size_t term_count;
  struct term terms[TERMS], out;
  int64_t size[LABELS]; /* 0: label not used */
  int ellipsis_rank;
  /* all labels in use, those of the output first */
  int order[LABELS], order_count;
};

static int letter(char c) {
  if (c >= 'a' && c <= 'z') return c - 'a';
  if (c >= 'A' && c <= 'Z') return c - 'A' + 26;
  return -1;
}

static hone_status bad(struct ctx *ctx, const struct node *node, const char *why) {
  return fail(ctx, HONE_E_SHAPE, node_place(node), "equation: %s", why);
}

/* One term up to ',' '-' or the end; rank < 0: an output term, whose ellipsis has a known rank. */
static hone_status read_term(struct ctx *ctx, const struct node *node, const char **at, int rank,
                             int ellipsis_rank, struct term *out) {
  int letters = 0;
  for (const char *p = *at; *p && *p != ',' && *p != '-'; p++) letters += letter(*p) >= 0;
  int dots = rank >= 0 ? rank - letters : ellipsis_rank;
  bool has_dots = false;
  *out = (struct term){0};
  for (; **at && **at != ',' && **at != '-'; (*at)++) {
    if (**at == ' ') continue;
    int label = letter(**at);
    bool is_dots = strncmp(*at, "...", 3) == 0;
    if (label < 0 && (!is_dots || has_dots)) return bad(ctx, node, "unexpected character");
    int count = is_dots ? dots : 1;
    if (count < 0 || out->rank + count > HONE_MAX_RANK)
      return bad(ctx, node, "a term has more labels than its operand has dimensions");
    /* the ellipsis is aligned at its last dim */
    for (int i = 0; i < count; i++)
      out->labels[out->rank++] = is_dots ? LETTERS + HONE_MAX_RANK - count + i : label;
    if (is_dots) has_dots = true, *at += 2;
  }
  if (rank >= 0 && out->rank != rank)
    return bad(ctx, node, "a term does not name every dimension of its operand");
  return HONE_OK;
}

static hone_status bind_sizes(struct ctx *ctx, const struct node *node, const struct term *term,
                              const struct shape *shape, struct einsum *e, bool used[LABELS]) {
  for (int i = 0; i < term->rank; i++) {
    int label = term->labels[i];
    int64_t dim = shape->dims[i];
    if (label >= LETTERS && LABELS - label > e->ellipsis_rank) e->ellipsis_rank = LABELS - label;
    if (!used[label] || e->size[label] == 1) {
      e->size[label] = dim;
    } else if (dim != e->size[label] && dim != 1) {
      return bad(ctx, node, "a label has dimensions of different size");
    }
    used[label] = true;
  }
  return HONE_OK;
}

/* Without "->": the ellipsis, then every label that occurs once, in alphabetical order. */
static void implicit_output(struct einsum *e, const int count[LABELS]) {
  for (int i = e->ellipsis_rank; i > 0; i--) e->out.labels[e->out.rank++] = LABELS - i;
  for (int pass = 0; pass < 2; pass++) /* upper case comes first */
    for (int i = 0; i < 26 && e->out.rank < HONE_MAX_RANK; i++) {
      int label = pass == 0 ? i + 26 : i;
      if (count[label] == 1) e->out.labels[e->out.rank++] = label;
    }
}

static hone_status order_labels(struct ctx *ctx, const struct node *node, const bool used[LABELS],
                                struct einsum *e) {
  bool in_output[LABELS] = {false};
  for (int i = 0; i < e->out.rank; i++) {
    int label = e->out.labels[i];
    if (!used[label]) return bad(ctx, node, "the output has a label that no operand has");
    if (in_output[label]) return bad(ctx, node, "the output has a label twice");
    in_output[label] = true;
    e->order[e->order_count++] = label;
  }
  for (int i = 0; i < LABELS; i++)
    if (used[i] && !in_output[i]) e->order[e->order_count++] = i;
  return HONE_OK;
}

/* shape_at returns the operands' shapes: of values during inference, of tensors during
 * evaluation. */
static hone_status einsum_plan(struct ctx *ctx, const struct node *node,
                               const struct shape *const *shapes, struct einsum *e) {
  *e = (struct einsum){.term_count = node->input_count};
  const char *at = node_string(node, "equation", "");
  bool used[LABELS] = {false};
  int count[LABELS] = {0};
  if (e->term_count > TERMS)
    return fail(ctx, HONE_E_UNSUP, node_place(node), "Einsum of more than %d operands", TERMS);
  for (size_t k = 0; k < e->term_count; k++) {
    TRY(read_term(ctx, node, &at, shapes[k]->rank, 0, &e->terms[k]));
    TRY(bind_sizes(ctx, node, &e->terms[k], shapes[k], e, used));
    for (int i = 0; i < e->terms[k].rank; i++) count[e->terms[k].labels[i]]++;
    bool more = k + 1 < e->term_count;
    if (more != (*at == ','))
      return bad(ctx, node, "the number of terms differs from that of operands");
    if (more) at++;
  }
  if (*at == '\0') {
    implicit_output(e, count);
  } else {
    if (strncmp(at, "->", 2) != 0) return bad(ctx, node, "unexpected character");
    at += 2;
    TRY(read_term(ctx, node, &at, -1, e->ellipsis_rank, &e->out));
    if (*at != '\0') return bad(ctx, node, "unexpected character after the output");
  }
  return order_labels(ctx, node, used, e);
}

hone_status infer_einsum(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct shape *shapes[TERMS];
  struct einsum e;
  for (size_t k = 0; k < node->input_count; k++) {
    if (!node->inputs[k] || k >= TERMS)
      return fail(ctx, HONE_E_UNSUP, node_place(node), "Einsum takes 1 to %d operands", TERMS);
    TRY(want_same_dtype(ctx, node, 0, k));
    shapes[k] = &node->inputs[k]->shape;
  }
  TRY(einsum_plan(ctx, node, shapes, &e));
  struct shape out = {.rank = e.out.rank};
  for (int i = 0; i < out.rank; i++) out.dims[i] = e.size[e.out.labels[i]];
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &out);
}

/* strides[k][i]: offset in operand k per step of label order[i]; repeated labels add up. */
static void label_strides(const struct einsum *e, const struct tensor *const *in,
                          int64_t strides[TERMS][LABELS]) {
  for (size_t k = 0; k < e->term_count; k++) {
    int64_t dense[HONE_MAX_RANK] = {0};
    shape_strides(&in[k]->shape, dense);
    for (int i = 0; i < e->order_count; i++) {
      strides[k][i] = 0;
      for (int d = 0; d < e->terms[k].rank; d++)
        if (e->terms[k].labels[d] == e->order[i] && in[k]->shape.dims[d] != 1)
          strides[k][i] += dense[d];
    }
  }
}

struct product {
  const struct einsum *e;
  double *values[TERMS];
  int64_t strides[TERMS][LABELS];
  int64_t at[TERMS];
};

/* The sum over the labels that are not in the output, with every operand at its offset. */
static double sum_of(const struct product *p, const int64_t *sizes) {
  int first = p->e->out.rank, count = p->e->order_count - first;
  int64_t index[LABELS] = {0}, at[TERMS];
  double sum = 0;
  for (size_t k = 0; k < p->e->term_count; k++) at[k] = p->at[k];
  for (;;) {
    double term = 1;
    for (size_t k = 0; k < p->e->term_count; k++) term *= p->values[k][at[k]];
    sum += term;
    int i = count - 1;
    for (; i >= 0; i--) {
      for (size_t k = 0; k < p->e->term_count; k++) at[k] += p->strides[k][first + i];
      if (++index[i] < sizes[first + i]) break;
      for (size_t k = 0; k < p->e->term_count; k++)
        at[k] -= p->strides[k][first + i] * sizes[first + i];
      index[i] = 0;
    }
    if (i < 0) return sum;
  }
}

hone_status eval_einsum(struct ctx *ctx, struct arena *scratch, const struct node *node,
                        const struct tensor *const *in, struct tensor *const *out) {
  struct einsum e;
  struct product p = {.e = &e};
  const struct shape *shapes[TERMS] = {NULL};
  for (size_t k = 0; k < node->input_count && k < TERMS; k++) shapes[k] = &in[k]->shape;
  TRY(einsum_plan(ctx, node, shapes, &e));
  int64_t sizes[LABELS], index[LABELS] = {0}, at = 0;
  bool is_empty = false;
  for (int i = 0; i < e.order_count; i++) {
    sizes[i] = e.size[e.order[i]];
    is_empty |= sizes[i] == 0;
  }
  if (is_empty) return HONE_OK; /* an empty sum is zero, and out is zeroed */
  for (size_t k = 0; k < e.term_count; k++) TRY(to_f64(ctx, scratch, in[k], &p.values[k]));
  label_strides(&e, in, p.strides);
  do {
    for (size_t k = 0; k < e.term_count; k++)
      p.at[k] = index_offset(e.out.rank, index, p.strides[k]);
    tensor_set_f64(out[0], (size_t)at++, sum_of(&p, sizes));
  } while (index_next(e.out.rank, sizes, index));
  return HONE_OK;
}

/* -- expansion: one MatMul per operand */

struct factor {
  struct value *x;
  int rank;
  int labels[HONE_MAX_RANK]; /* distinct */
};

static int place_of(const struct factor *f, int label) {
  for (int i = 0; i < f->rank; i++)
    if (f->labels[i] == label) return i;
  return -1;
}

static void remove_label(struct factor *f, int at) {
  memmove(&f->labels[at], &f->labels[at + 1], (size_t)(--f->rank - at) * sizeof f->labels[0]);
}

/* Merges axes i < j of one label: both moved to the end, flattened, every (n + 1)-th element
 * taken. */
static void take_diagonal(struct graph_builder *e, struct factor *f, int i, int j) {
  struct shape shape = f->x->shape;
  int last = f->rank - 1;
  int64_t n = shape.dims[j], dims[HONE_MAX_RANK], perm[HONE_MAX_RANK];
  int count = 0;
  for (int d = 0; d < f->rank; d++)
    if (d != i && d != j) perm[count++] = d;
  perm[count] = i, perm[count + 1] = j;
  struct value *x = x_transpose(e, f->x, perm);
  if (e->status) return;
  memcpy(dims, x->shape.dims, sizeof dims);
  dims[last - 1] = n * n;
  x = x_reshape(e, x, dims, last);
  f->x = x_gather(e, x, x_range(e, HONE_I64, n, 0, (double)(n + 1)), last - 1);
  int label = f->labels[i];
  remove_label(f, j);
  remove_label(f, i);
  f->labels[f->rank++] = label;
}

static struct factor factor_of(struct graph_builder *e, const struct einsum *plan, size_t k) {
  struct factor f = {.x = x_in(e, k), .rank = plan->terms[k].rank};
  struct shape full = f.x->shape;
  memcpy(f.labels, plan->terms[k].labels, sizeof f.labels);
  for (int i = 0; i < f.rank; i++) full.dims[i] = plan->size[f.labels[i]];
  f.x = x_expand(e, f.x, &full);
  for (int i = 0; i < f.rank && !e->status; i++)
    for (int j = i + 1; j < f.rank && !e->status; j++)
      if (f.labels[i] == f.labels[j]) {
        take_diagonal(e, &f, i, j);
        i = -1;
        break;
      }
  return f;
}

/* True if the label is in the output or in a term after k. */
static bool is_needed(const struct einsum *plan, size_t k, int label) {
  for (int i = 0; i < plan->out.rank; i++)
    if (plan->out.labels[i] == label) return true;
  for (size_t t = k + 1; t < plan->term_count; t++)
    for (int i = 0; i < plan->terms[t].rank; i++)
      if (plan->terms[t].labels[i] == label) return true;
  return false;
}

/* Sums over labels that are neither in `other` nor needed later. */
static void sum_out(struct graph_builder *e, const struct einsum *plan, size_t k,
                    const struct factor *other, struct factor *f) {
  int64_t axes[HONE_MAX_RANK];
  size_t count = 0;
  for (int i = 0; i < f->rank; i++)
    if (!is_needed(plan, k, f->labels[i]) && (!other || place_of(other, f->labels[i]) < 0))
      axes[count++] = i;
  if (!count) return;
  f->x = x_reduce(e, OP_ReduceSum, f->x, axes, count, false);
  while (count > 0) remove_label(f, (int)axes[--count]);
}

/* Transposed to `labels` and reshaped to the batch dims and two more. */
static struct value *as_matrix(struct graph_builder *e, const struct einsum *plan,
                               const struct factor *f, const int *labels, int batch, int rows) {
  int64_t perm[HONE_MAX_RANK], dims[HONE_MAX_RANK + 2];
  for (int i = 0; i < f->rank; i++) perm[i] = place_of(f, labels[i]);
  for (int i = 0; i < batch; i++) dims[i] = plan->size[labels[i]];
  dims[batch] = dims[batch + 1] = 1;
  for (int i = batch; i < f->rank; i++) dims[batch + (i >= batch + rows)] *= plan->size[labels[i]];
  return x_reshape(e, x_transpose(e, f->x, perm), dims, batch + 2);
}

static void multiply(struct graph_builder *e, const struct einsum *plan, size_t k, struct factor *a,
                     const struct factor *b) {
  int left[HONE_MAX_RANK], right[HONE_MAX_RANK], batch = 0, rows = 0, inner = 0, columns = 0;
  struct factor product = {.rank = 0};
  for (int i = 0; i < a->rank; i++)
    if (place_of(b, a->labels[i]) >= 0 && is_needed(plan, k, a->labels[i]))
      left[batch] = right[batch] = a->labels[i], batch++;
  for (int i = 0; i < a->rank; i++)
    if (place_of(b, a->labels[i]) < 0) left[batch + rows++] = a->labels[i];
  for (int i = 0; i < a->rank; i++)
    if (place_of(b, a->labels[i]) >= 0 && !is_needed(plan, k, a->labels[i])) {
      left[batch + rows + inner] = right[batch + inner] = a->labels[i];
      inner++;
    }
  for (int i = 0; i < b->rank; i++)
    if (place_of(a, b->labels[i]) < 0) right[batch + inner + columns++] = b->labels[i];
  if (batch + 2 > HONE_MAX_RANK || batch + rows + columns > HONE_MAX_RANK) {
    x_fail(e, HONE_E_LIMIT, "an intermediate result of more than %d dimensions", HONE_MAX_RANK);
    return;
  }
  struct value *x = as_matrix(e, plan, a, left, batch, rows);
  struct value *y = as_matrix(e, plan, b, right, batch, inner);
  int64_t dims[HONE_MAX_RANK];
  for (int i = 0; i < batch + rows; i++) product.labels[product.rank++] = left[i];
  for (int i = 0; i < columns; i++) product.labels[product.rank++] = right[batch + inner + i];
  for (int i = 0; i < product.rank; i++) dims[i] = plan->size[product.labels[i]];
  product.x = x_reshape(e, x_2(e, inner ? OP_MatMul : OP_Mul, x, y), dims, product.rank);
  *a = product;
}

void expand_einsum(struct graph_builder *e) {
  const struct shape *shapes[TERMS];
  struct einsum plan;
  int64_t perm[HONE_MAX_RANK];
  for (size_t k = 0; k < e->node->input_count && k < TERMS; k++) shapes[k] = &x_in(e, k)->shape;
  e->status = einsum_plan(e->ctx, e->node, shapes, &plan);
  if (e->status) return;
  struct factor product = factor_of(e, &plan, 0);
  for (size_t k = 1; k < plan.term_count && !e->status; k++) {
    struct factor next = factor_of(e, &plan, k);
    sum_out(e, &plan, k, &next, &product);
    sum_out(e, &plan, k, &product, &next);
    if (!e->status) multiply(e, &plan, k, &product, &next);
  }
  sum_out(e, &plan, plan.term_count, NULL, &product);
  for (int i = 0; i < plan.out.rank; i++) perm[i] = place_of(&product, plan.out.labels[i]);
  if (!e->status) x_out(e, 0, x_transpose(e, product.x, perm));
}
