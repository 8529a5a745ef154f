/* matmul: MatMul by NumPy's rules, and Gemm. Floats in double, integers in wrapping int64. */
#include <math.h>

#include "core/ops/ops_internal.h"

hone_status matmul_plan(struct ctx *ctx, const struct node *node, const struct shape *a,
                        const struct shape *b, struct matmul_plan *out) {
  if (a->rank < 1 || b->rank < 1)
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "operands need rank 1 or more, found %d and %d", a->rank, b->rank);
  struct shape x = *a, y = *b;
  if (a->rank == 1) x = shape_of(2, (int64_t[]){1, a->dims[0]});
  if (b->rank == 1) y = shape_of(2, (int64_t[]){b->dims[0], 1});
  out->m = x.dims[x.rank - 2], out->k = x.dims[x.rank - 1], out->n = y.dims[y.rank - 1];
  if (y.dims[y.rank - 2] != out->k)
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "the first operand has %lld columns, the second %lld rows", (long long)out->k,
                (long long)y.dims[y.rank - 2]);
  int64_t x_strides[HONE_MAX_RANK], y_strides[HONE_MAX_RANK];
  shape_strides(&x, x_strides), shape_strides(&y, y_strides);
  struct shape x_batch = shape_of(x.rank - 2, x.dims), y_batch = shape_of(y.rank - 2, y.dims);
  if (!shape_broadcast(&x_batch, &y_batch, &out->batch))
    return fail(ctx, HONE_E_SHAPE, node_place(node), "the leading dimensions do not broadcast");
  for (int i = 0; i < out->batch.rank; i++) {
    int p = i - (out->batch.rank - x_batch.rank), q = i - (out->batch.rank - y_batch.rank);
    out->a_strides[i] = p < 0 || x.dims[p] == 1 ? 0 : x_strides[p];
    out->b_strides[i] = q < 0 || y.dims[q] == 1 ? 0 : y_strides[q];
  }
  out->out = out->batch;
  if (out->batch.rank + 2 > HONE_MAX_RANK)
    return fail(ctx, HONE_E_LIMIT, node_place(node), "rank above %d", HONE_MAX_RANK);
  if (a->rank > 1) out->out.dims[out->out.rank++] = out->m;
  if (b->rank > 1) out->out.dims[out->out.rank++] = out->n;
  return HONE_OK;
}

hone_status infer_matmul(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  struct matmul_plan plan;
  TRY(want_same_dtype(ctx, node, 0, 1));
  TRY(matmul_plan(ctx, node, &node->inputs[0]->shape, &node->inputs[1]->shape, &plan));
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &plan.out);
}

/* Two matrices inside tensors, by strides. */
struct matrices {
  const struct tensor *a, *b, *out;
  int64_t m, n, k;
  int64_t a_at, a_row, a_step; /* a[row][i] at a_at + row * a_row + i * a_step */
  int64_t b_at, b_row, b_step; /* b[i][column] at b_at + i * b_row + column * b_step */
  int64_t out_at;
  double alpha;
  double beta; /* times bias[row * c_row + column * c_step], if there is one */
  const struct tensor *bias;
  int64_t c_row, c_step;
};

static void load_row(void *user, int64_t row, double *out) {
  const struct matrices *x = user;
  read_f64(x->a, x->a_at + row * x->a_row, x->a_step, (size_t)x->k, out);
}

static void load_panel(void *user, int64_t column, int64_t count, double *out) {
  const struct matrices *x = user;
  for (int64_t i = 0; i < x->k; i++)
    read_f64(x->b, x->b_at + i * x->b_row + column * x->b_step, x->b_step, (size_t)count,
             out + i * PANEL);
}

static void store_panel(void *user, int64_t row, int64_t column, int64_t count,
                        const double *sums) {
  const struct matrices *x = user;
  double out[PANEL], bias[PANEL] = {0};
  if (x->bias)
    read_f64(x->bias, row * x->c_row + column * x->c_step, x->c_step, (size_t)count, bias);
  for (int64_t i = 0; i < count; i++)
    out[i] = x->bias ? x->alpha * sums[i] + x->beta * bias[i] : x->alpha * sums[i];
  write_f64(x->out, x->out_at + row * x->n + column, (size_t)count, out);
}

/* A single row reads each element of b once, in the order of memory: contract's panels would take
   longer to fill than to use. Sums in the order of contract. */
enum { ROW_COLUMNS = 512 };

static void add_row(const struct matrices *x, const double *a, int64_t column, int64_t count,
                    double *sums) {
  const float *b = (const float *)x->b->data + x->b_at + column * x->b_step;
  if (x->b_step == 1)
    for (int64_t i = 0; i < x->k; i++)
      for (int64_t j = 0; j < count; j++) sums[j] += a[i] * (double)b[i * x->b_row + j];
  else
    for (int64_t j = 0; j < count; j += 4)
      for (int64_t i = 0; i < x->k; i++)
        for (int64_t l = j; l < j + 4 && l < count; l++)
          sums[l] += a[i] * (double)b[i * x->b_row + l * x->b_step];
}

static void multiply_row(const struct matrices *x, const struct contraction_work *work) {
  load_row((void *)(uintptr_t)x, 0, work->rows);
  for (int64_t at = 0; at < x->n; at += ROW_COLUMNS) {
    const int64_t count = x->n - at < ROW_COLUMNS ? x->n - at : ROW_COLUMNS;
    double sums[ROW_COLUMNS] = {0};
    add_row(x, work->rows, at, count, sums);
    for (int64_t c = 0; c < count; c += PANEL)
      store_panel((void *)(uintptr_t)x, 0, at + c, count - c < PANEL ? count - c : PANEL, sums + c);
  }
}

static void multiply_f64(const struct matrices *x, const struct contraction_work *work) {
  if (x->m == 1 && x->b->dtype == HONE_F32) {
    multiply_row(x, work);
    return;
  }
  struct contraction contraction = {x->m, x->n, x->k, (void *)x, load_row, load_panel, store_panel};
  contract(&contraction, work);
}

/* Integer arithmetic wraps; results with a fractional alpha or beta are truncated. */
static void multiply_i64(const struct matrices *x) {
  for (int64_t row = 0; row < x->m; row++)
    for (int64_t column = 0; column < x->n; column++) {
      uint64_t sum = 0;
      for (int64_t i = 0; i < x->k; i++)
        sum += (uint64_t)tensor_i64(x->a, (size_t)(x->a_at + row * x->a_row + i * x->a_step)) *
               (uint64_t)tensor_i64(x->b, (size_t)(x->b_at + i * x->b_row + column * x->b_step));
      const size_t at = (size_t)(x->out_at + row * x->n + column);
      const int64_t bias =
          x->bias ? tensor_i64(x->bias, (size_t)(row * x->c_row + column * x->c_step)) : 0;
      if (x->alpha == trunc(x->alpha) && x->beta == trunc(x->beta))
        tensor_set_i64(x->out, at,
                       (int64_t)((uint64_t)(int64_t)x->alpha * sum +
                                 (uint64_t)(int64_t)x->beta * (uint64_t)bias));
      else
        tensor_set_f64(x->out, at, x->alpha * (double)(int64_t)sum + x->beta * (double)bias);
    }
}

hone_status eval_matmul(struct ctx *ctx, struct arena *scratch, const struct node *node,
                        const struct tensor *const *in, struct tensor *const *out) {
  struct matmul_plan plan;
  TRY(matmul_plan(ctx, node, &in[0]->shape, &in[1]->shape, &plan));
  if (tensor_count(out[0]) == 0) return HONE_OK;
  struct matrices x = {.a = in[0],
                       .b = in[1],
                       .out = out[0],
                       .m = plan.m,
                       .n = plan.n,
                       .k = plan.k,
                       .a_row = plan.k,
                       .a_step = 1,
                       .b_row = plan.n,
                       .b_step = 1,
                       .alpha = 1};
  struct contraction_work work;
  TRY(contraction_work_create(ctx, scratch, plan.m, plan.k, &work));
  int64_t index[HONE_MAX_RANK] = {0};
  do {
    x.a_at = index_offset(plan.batch.rank, index, plan.a_strides);
    x.b_at = index_offset(plan.batch.rank, index, plan.b_strides);
    if (dtype_is_float(in[0]->dtype))
      multiply_f64(&x, &work);
    else
      multiply_i64(&x);
    x.out_at += plan.m * plan.n;
  } while (index_next(plan.batch.rank, plan.batch.dims, index));
  return HONE_OK;
}

/* m, n, k of Gemm; E_SHAPE if the operands do not fit. */
static hone_status gemm_numbers(struct ctx *ctx, const struct node *node, const struct shape *a,
                                const struct shape *b, struct matrices *x) {
  bool ta = node_int(node, "transA", 0) != 0, tb = node_int(node, "transB", 0) != 0;
  x->m = a->dims[ta], x->k = a->dims[!ta], x->n = b->dims[!tb];
  x->a_row = ta ? 1 : x->k, x->a_step = ta ? x->m : 1;
  x->b_row = tb ? 1 : x->n, x->b_step = tb ? x->k : 1;
  if (b->dims[tb] != x->k)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "A has %lld terms a row, B %lld a column",
                (long long)x->k, (long long)b->dims[tb]);
  return HONE_OK;
}

hone_status infer_gemm(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  struct matrices x = {0};
  TRY(want_rank(ctx, node, 0, 2));
  TRY(want_rank(ctx, node, 1, 2));
  TRY(want_same_dtype(ctx, node, 0, 1));
  TRY(gemm_numbers(ctx, node, &node->inputs[0]->shape, &node->inputs[1]->shape, &x));
  struct shape out = shape_of(2, (int64_t[]){x.m, x.n}), both;
  if (has_input(node, 2)) {
    TRY(want_same_dtype(ctx, node, 0, 2));
    if (!shape_broadcast(&node->inputs[2]->shape, &out, &both) || !shape_equal(&both, &out))
      return fail(ctx, HONE_E_SHAPE, node_place(node), "C does not broadcast to [%lld,%lld]",
                  (long long)x.m, (long long)x.n);
  }
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &out);
}

hone_status eval_gemm(struct ctx *ctx, struct arena *scratch, const struct node *node,
                      const struct tensor *const *in, struct tensor *const *out) {
  struct matrices x = {.a = in[0], .b = in[1], .out = out[0]};
  TRY(gemm_numbers(ctx, node, &in[0]->shape, &in[1]->shape, &x));
  x.alpha = node_float(node, "alpha", 1), x.beta = node_float(node, "beta", 1);
  if (node->input_count > 2 && in[2] && x.beta != 0) { /* beta 0: C is not read, as in BLAS */
    int64_t strides[HONE_MAX_RANK] = {0};
    broadcast_strides(&in[2]->shape, &out[0]->shape, strides);
    x.bias = in[2], x.c_row = strides[0], x.c_step = strides[1];
  }
  if (!dtype_is_float(in[0]->dtype)) {
    multiply_i64(&x);
    return HONE_OK;
  }
  struct contraction_work work;
  TRY(contraction_work_create(ctx, scratch, x.m, x.k, &work));
  multiply_f64(&x, &work);
  return HONE_OK;
}
