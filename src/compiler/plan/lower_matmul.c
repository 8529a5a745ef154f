/* MatMul, Gemm and matmuls with block-quantised weights, lowered to rows of kernels.def. */
#include <math.h>

#include "builder.h"

/* a[batch..., m, k], b[batch..., k, n], c[batch..., m, n]: logical views of equal rank. */
struct matmul {
  struct view a, b, c;
  bool b_constant;
};

/* At most two batch levels may remain after merging; false if there are more. */
static bool batch_levels(const struct matmul *p, struct problem *problem) {
  int64_t size[HONE_MAX_RANK], sa[HONE_MAX_RANK], sb[HONE_MAX_RANK], sc[HONE_MAX_RANK];
  int count = 0;
  for (int i = 0; i < p->c.shape.rank - 2; i++) {
    int64_t d = p->c.shape.dims[i];
    if (d == 1) continue;
    if (count && sa[count - 1] == p->a.stride[i] * d && sb[count - 1] == p->b.stride[i] * d &&
        sc[count - 1] == p->c.stride[i] * d) {
      count--;
      size[count] *= d;
    } else {
      size[count] = d;
    }
    sa[count] = p->a.stride[i];
    sb[count] = p->b.stride[i];
    sc[count++] = p->c.stride[i];
  }
  if (count > 2) return false;
  problem->batch0 = problem->batch1 = 1;
  if (count > 0) {
    problem->batch1 = size[count - 1];
    problem->a_batch1 = sa[count - 1];
    problem->b_batch1 = sb[count - 1];
    problem->c_batch1 = sc[count - 1];
  }
  if (count > 1) {
    problem->batch0 = size[0];
    problem->a_batch0 = sa[0];
    problem->b_batch0 = sb[0];
    problem->c_batch0 = sc[0];
  }
  return true;
}

/* With a shared b, batches become rows where the strides of a and c allow it. */
static void batches_to_rows(struct problem *p) {
  while (p->batch1 > 1 && !p->b_batch0 && !p->b_batch1 &&
         (p->m == 1 || (p->a_batch1 == p->m * p->a_row && p->c_batch1 == p->m * p->c_row))) {
    if (p->m == 1) p->a_row = p->a_batch1, p->c_row = p->c_batch1;
    p->m *= p->batch1;
    p->batch1 = p->batch0;
    p->a_batch1 = p->a_batch0;
    p->c_batch1 = p->c_batch0;
    p->batch0 = 1;
    p->a_batch0 = p->c_batch0 = 0;
  }
}

static bool product_problem(const struct matmul *p, struct problem *out) {
  int r = p->c.shape.rank;
  struct problem problem = {.kind = PROBLEM_gemm,
                            .types = SAME_TYPES(TYPE_F32),
                            .m = p->c.shape.dims[r - 2],
                            .n = p->c.shape.dims[r - 1],
                            .k = p->a.shape.dims[r - 1],
                            .a_row = p->a.stride[r - 2],
                            .b_row = p->b.stride[r - 2],
                            .b_column = p->b.stride[r - 1],
                            .c_row = p->c.stride[r - 2]};
  if (problem.k != 1 && p->a.stride[r - 1] != 1) return false;
  if (problem.n != 1 && p->c.stride[r - 1] != 1) return false;
  if (!batch_levels(p, &problem)) return false;
  const struct slope rows = view_slope(&p->c, r - 2); /* dynamic rows end early in each batch */
  if (slope_is_zero(&rows)) batches_to_rows(&problem);
  problem.b_batches = problem.b_batch0 || problem.b_batch1 ? problem.batch0 * problem.batch1 : 1;
  *out = problem;
  return true;
}

static hone_status pack_step(struct builder *b, const struct node *node,
                             const struct choice *choice, const struct problem *problem,
                             const struct view *from, struct view *out) {
  struct step *step;
  struct buffer *buffer;
  size_t bytes = choice->kernel->packed_bytes(problem, &b->plan->schedule.kernels, choice);
  TRY(new_buffer(b, BUFFER_ARENA, bytes, &buffer));
  struct shape shape = {1, {(int64_t)(bytes / 4)}};
  view_dense(out, buffer, HONE_F32, &shape);
  TRY(new_step(b, STEP_PACK, node, 1, 1, &step));
  step->choice = *choice;
  step->problem = *problem;
  step->inputs[0] = *from;
  step->outputs[0] = *out;
  step->units = choice->kernel->pack_units(problem, &b->plan->schedule.kernels, choice);
  step->serial = problem->k * problem->n * problem->b_batches < 8192 || step->units < 2;
  return HONE_OK;
}

static hone_status add_product(struct builder *b, const struct fusion_group *g,
                               const struct matmul *p, const struct choice *choice,
                               const struct problem *problem, const struct value *bias) {
  const struct node *node = g->node;
  struct view packed;
  struct epilogue epilogue;
  struct step *step;
  if (p->b_constant)
    TRY(packed_weights(b, choice, problem, &p->b, &packed));
  else
    TRY(pack_step(b, node, choice, problem, &p->b, &packed));
  if (is_integer_contraction(node))
    TRY(make_integer_epilogue(b, g, choice->kernel, &p->c, p->c.shape.rank - 1, &epilogue));
  else
    TRY(make_epilogue(b, g, bias, &p->c, p->c.shape.rank - 1, &epilogue));
  return add_kernel(b, node, choice, problem, (struct view[]){p->a, packed, p->c}, &epilogue,
                    group_flops(g), &step);
}

void matmul_order(const struct builder *b, const struct value *value, struct view *like) {
  const struct fusion_group *reader = b->reader[value->index];
  view_dense(like, NULL, value->dtype, &value->shape);
  if (!reader || !is_op(reader->node, OP_Transpose)) return;
  size_t count;
  const int64_t *perm = node_ints(reader->node, "perm", &count);
  int rank = value->shape.rank;
  if (!perm || perm[rank - 1] != rank - 1) return;
  int64_t dense[HONE_MAX_RANK];
  shape_strides(&reader->result->shape, dense);
  for (int i = 0; i < rank; i++) like->stride[perm[i]] = dense[i];
}

/* Adds the dimension that the matmul needs to a vector operand of MatMul. */
static bool widen(const struct view *view, bool left, const struct shape *batch, int64_t rows,
                  int64_t columns, struct view *out) {
  struct shape shape = view->shape;
  if (shape.rank == 1) {
    shape.rank = 2;
    shape.dims[0] = left ? 1 : view->shape.dims[0];
    shape.dims[1] = left ? view->shape.dims[0] : 1;
  }
  struct view wide;
  if (!view_reshape(view, &shape, &wide)) return false;
  struct shape full = *batch;
  full.dims[batch->rank - 2] = rows;
  full.dims[batch->rank - 1] = columns;
  view_broadcast(&wide, &full, out);
  /* a dimension of size one needs no particular stride */
  return true;
}

/* Operand b if it can be packed at compile time: a constant, or a transposed view of a whole
   constant. */
static hone_status constant_b(struct builder *b, const struct value *value, struct buffer *raw,
                              struct view *out, bool *out_is_constant) {
  *out_is_constant = value->constant != NULL;
  if (value->constant) {
    constant_operand(value, raw, out);
    return HONE_OK;
  }
  int64_t count;
  TRY(get_stored(b, value, out));
  const struct buffer *from = out->buffer;
  const bool is_raw =
      from->place == BUFFER_WEIGHTS && !from->pack.kernel && !out->slope && !out->offset_slope;
  if (!is_raw || from->tensor->dtype != HONE_F32 || out->dtype != HONE_F32) return HONE_OK;
  if (!shape_count(&out->shape, &count) || (size_t)count != tensor_count(from->tensor))
    return HONE_OK;
  *raw = *from;
  out->buffer = raw;
  *out_is_constant = true;
  return HONE_OK;
}

/* Operand b: in bf16 if it is stored so, else in its own type. A constant is rounded to bf16 if
   bf16 was requested. */
static hone_status operand_b(struct builder *b, const struct fusion_group *g, bool is_bf16,
                             struct buffer *raw, struct view *out, bool *out_is_constant) {
  const struct value *value = g->node->inputs[1];
  TRY(constant_b(b, value, raw, out, out_is_constant));
  if (!*out_is_constant)
    return is_bf16 ? ensure_type(b, value, HONE_BF16, out) : get_view(b, value, out);
  if (is_bf16) return bf16_constant(b, raw->tensor, HONE_BF16, &raw->tensor);
  return rounds_weights(b, g) ? bf16_constant(b, raw->tensor, HONE_F32, &raw->tensor) : HONE_OK;
}

static struct problem_types bf16_types(const struct builder *b, const struct value *c) {
  return (struct problem_types){TYPE_BF16, TYPE_BF16, TYPE_F32, problem_type(storage_of(b, c))};
}

hone_status lower_matmul(struct builder *b, const struct fusion_group *g, bool *out_done) {
  const struct node *node = g->node;
  const struct value *av = node->inputs[0], *bv = node->inputs[1], *cv = g->result;
  struct problem_types types;
  if (!contraction_types(g, &types)) return HONE_OK;
  int64_t k = av->shape.dims[av->shape.rank - 1];
  bool a_vector = av->shape.rank == 1, b_vector = bv->shape.rank == 1;
  int64_t m = a_vector ? 1 : av->shape.dims[av->shape.rank - 2];
  int64_t n = b_vector ? 1 : bv->shape.dims[bv->shape.rank - 1];
  struct shape full = cv->shape; /* including both matrix dimensions */
  if (a_vector && b_vector)
    full = (struct shape){2, {1, 1}};
  else if (a_vector)
    full.rank++, full.dims[full.rank - 1] = n, full.dims[full.rank - 2] = 1;
  else if (b_vector)
    full.rank++, full.dims[full.rank - 1] = 1;
  struct matmul p;
  struct view a, bview, like;
  struct buffer raw;
  struct problem problem;
  bool is_bf16 = computes_in_bf16(b, g) && !a_vector && !b_vector;
  if (is_bf16) types = bf16_types(b, cv);
  TRY(is_bf16 ? ensure_type(b, av, HONE_BF16, &a) : get_view(b, av, &a));
  TRY(operand_b(b, g, is_bf16, &raw, &bview, &p.b_constant));
  matmul_order(b, cv, &like);
  like.dtype = (hone_dtype)types.c;
  if (a_vector || b_vector) view_dense(&like, NULL, cv->dtype, &full);
  p.c = like;
  if (!a_vector && !b_vector) p.c.slope = cv->slope;
  for (int attempt = 0;; attempt++) {
    if (attempt) TRY(ensure_dense_as(b, av, (hone_dtype)types.a, &a));
    if (!widen(&a, true, &full, m, k, &p.a) || !widen(&bview, false, &full, k, n, &p.b))
      return HONE_OK;
    if (product_problem(&p, &problem)) break;
    if (attempt) return HONE_OK;
  }
  struct choice choice;
  problem.types = types;
  if (!k || !choose_kernel_and_storage(b, p.b_constant ? raw.tensor : NULL, cv, &problem, &choice))
    return HONE_OK;
  if (p.b_constant) TRY(stored_weights(b, &problem, &raw.tensor));
  like.dtype = p.c.dtype = (hone_dtype)problem.types.c;
  struct view made;
  if (a_vector || b_vector) {
    struct view flat;
    view_dense(&flat, NULL, like.dtype, &cv->shape);
    TRY(make_output(b, cv, &flat, &made));
    if (g->count)
      return fail(b->ctx, HONE_E_INTERNAL, node_place(node),
                  "a fused program on a product of two vectors");
  } else {
    TRY(make_output(b, cv, &like, &made));
  }
  p.c.buffer = made.buffer;
  *out_done = true;
  return add_product(b, g, &p, &choice, &problem, NULL);
}

hone_status lower_gemm(struct builder *b, const struct fusion_group *g, bool *out_done) {
  const struct node *node = g->node;
  const struct value *av = node->inputs[0], *cv = g->result;
  const struct value *bias = node_input(node, 2);
  bool scaled = node_float(node, "alpha", 1) != 1 || (bias && node_float(node, "beta", 1) != 1);
  if (!all_f32(g) || scaled) return HONE_OK; /* normalise-gemm leaves none of f32 */
  struct matmul p;
  struct buffer raw;
  struct problem problem;
  bool trans_a = node_int(node, "transA", 0) != 0, trans_b = node_int(node, "transB", 0) != 0;
  bool is_bf16 = computes_in_bf16(b, g) && !trans_a;
  struct problem_types types = is_bf16 ? bf16_types(b, cv) : SAME_TYPES(TYPE_F32);
  TRY(is_bf16 ? ensure_type(b, av, HONE_BF16, &p.a) : get_view(b, av, &p.a));
  if (is_bf16 && p.a.stride[1] != 1) TRY(ensure_dense_as(b, av, HONE_BF16, &p.a));
  TRY(operand_b(b, g, is_bf16, &raw, &p.b, &p.b_constant));
  struct view *turned[2] = {trans_a ? &p.a : NULL, trans_b ? &p.b : NULL};
  for (int i = 0; i < 2; i++) {
    if (!turned[i]) continue;
    struct view v = *turned[i];
    turned[i]->shape.dims[0] = v.shape.dims[1];
    turned[i]->shape.dims[1] = v.shape.dims[0];
    turned[i]->stride[0] = v.stride[1];
    turned[i]->stride[1] = v.stride[0];
  }
  view_dense(&p.c, NULL, (hone_dtype)types.c, &cv->shape);
  if (!is_bf16 && p.a.shape.dims[1] != 1 &&
      p.a.stride[1] != 1) { /* transposed a: one copy in the order of use */
    struct view dense;
    struct step *step;
    int64_t count;
    view_dense(&dense, NULL, HONE_F32, &p.a.shape);
    if (!shape_count(&p.a.shape, &count)) return HONE_OK;
    TRY(new_buffer(b, BUFFER_ARENA, (size_t)count * sizeof(float), &dense.buffer));
    TRY(add_copy(b, node, &p.a, &dense, &step));
    p.a = dense;
  }
  if (!p.a.shape.dims[1] || !product_problem(&p, &problem)) return HONE_OK;
  problem.types = types;
  struct choice choice;
  if (!choose_kernel_and_storage(b, p.b_constant ? raw.tensor : NULL, cv, &problem, &choice))
    return HONE_OK;
  if (p.b_constant) TRY(stored_weights(b, &problem, &raw.tensor));
  p.c.dtype = (hone_dtype)problem.types.c;
  struct view made;
  TRY(make_output(b, cv, &p.c, &made));
  p.c.buffer = made.buffer;
  p.c.slope = made.slope;
  *out_done = true;
  return add_product(b, g, &p, &choice, &problem, bias);
}

/* The slope of the m rows of a, whose last dimension is k; false if they do not end together. */
static bool slope_of_rows(const struct view *a, int64_t m, struct slope *out) {
  int64_t before = 1;
  *out = (struct slope){0};
  for (int d = 0; d + 1 < a->shape.rank; before *= a->shape.dims[d++]) {
    const struct slope own = view_slope(a, d);
    if (slope_is_zero(&own)) continue;
    if (before > 1 || !slope_is_zero(out)) return false;
    *out = slope_times(&own, m / a->shape.dims[d]);
  }
  return true;
}

static bool splits_the_same(const struct step *step, const struct problem *problem,
                            const struct choice *choice, const struct view *a) {
  const struct view *from = &step->inputs[0];
  return step->choice.kernel == choice->kernel && from->buffer == a->buffer &&
         from->offset == a->offset && !memcmp(&step->problem, problem, sizeof *problem);
}

/* A step that transforms a for the kernel, once for neighbouring matmuls of the same a: each call of the
   kernel would do it for all of a. Replaces *a by its result. */
static hone_status split_a(struct builder *b, const struct node *node, const struct choice *choice,
                           struct problem *problem, struct view *a) {
  const struct kernel_target *target = &b->plan->schedule.kernels;
  struct buffer *buffer;
  struct slope slope, *slopes;
  struct step *step;
  if (!(choice->kernel->traits & SPLITS_A) || !slope_of_rows(a, problem->m, &slope)) return HONE_OK;
  problem->a_split = 1;
  struct problem own = *problem;
  own.n = 1; /* nothing of b and c */
  own.b_row = own.b_column = own.c_row = own.b_halves = own.b_run = 0;
  if (b->split && splits_the_same(b->split, &own, choice, a)) {
    *a = b->split->outputs[0];
    return HONE_OK;
  }
  const size_t bytes = kernel_split_bytes(problem, target, choice);
  TRY(new_buffer(b, BUFFER_ARENA, bytes, &buffer));
  TRY(new_step(b, STEP_PACK, node, 1, 1, &step));
  step->choice = *choice;
  step->problem = own;
  step->inputs[0] = *a;
  step->units = choice->kernel->pack_units(&own, target, choice);
  view_dense(&step->outputs[0], buffer, HONE_U8,
             &(struct shape){2, {own.m, (int64_t)bytes / own.m}});
  if (!slope_is_zero(&slope)) {
    TRY(NEW_ARRAY(b->ctx, b->arena, slopes, HONE_MAX_RANK));
    slopes[0] = slope;
    step->outputs[0].slope = slopes;
    step->prefix = (struct active_prefix){step->units, 1, 1, 0};
    step->prefix_count = own.m;
    step->prefix_slope = slopes;
  }
  step_share(step, (double)own.m * (double)own.k, WORK_COPY);
  b->split = step;
  *a = step->outputs[0];
  return HONE_OK;
}

/* Elements, scales and zero points concatenated, as gemm_wq_pack reads them. */
static hone_status weights_tensor(struct builder *b, const struct node *node, struct tensor **out) {
  size_t bytes = 0, own = node->input_count;
  for (size_t i = 1; i < own; i++) bytes += node->inputs[i]->constant->bytes;
  TRY(tensor_create(b->ctx, b->arena, HONE_U8, &(struct shape){1, {(int64_t)bytes}}, out));
  char *to = (void *)(*out)->data;
  for (size_t i = 1; i < own; i++) {
    memcpy(to, node->inputs[i]->constant->data, node->inputs[i]->constant->bytes);
    to += node->inputs[i]->constant->bytes;
  }
  return HONE_OK;
}

/* GGUF's blocks of 256 elements have a half, and integers for the scales of smaller blocks. */
enum { BLOCK_OF_RUNS = 256 };
static bool holds_runs(const struct problem *p, const struct tensor *scales) {
  const int64_t run = BLOCK_OF_RUNS / p->block;
  const float *x = scales->data;
  int8_t bytes[BLOCK_OF_RUNS];
  float half;
  if (run < 2 || BLOCK_OF_RUNS % p->block || p->k % BLOCK_OF_RUNS) return false;
  const int64_t blocks = p->k / p->block;
  for (int64_t block = 0; block < blocks; block += run)
    for (int64_t column = 0; column < p->n; column++)
      if (!gemm_wq_factors(x + gemm_wq_scale(p, block, column), run, gemm_wq_scale(p, 1, 0), &half,
                           bytes))
        return false;
  return true;
}

hone_status lower_weights(struct builder *b, const struct fusion_group *g, bool *out_done) {
  const struct node *node = g->node;
  const struct value *a = node->inputs[0], *w = node->inputs[1], *c = g->result;
  const bool turned = node_int(node, "transB", 0);
  const int64_t k = w->shape.dims[turned], n = w->shape.dims[!turned];
  int64_t elements;
  struct tensor *tensor;
  struct view av, packed, out;
  struct epilogue epilogue;
  struct choice choice;
  struct step *step;
  TRY(element_count(b, &a->shape, &elements));
  struct problem problem = {
      .kind = PROBLEM_gemm,
      .types = {TYPE_F32, (uint8_t)w->dtype, TYPE_F32, TYPE_F32},
      .m = elements / k,
      .n = n,
      .k = k,
      .batch0 = 1,
      .batch1 = 1,
      .a_row = k,
      .b_row = turned ? 1 : n,
      .b_column = turned ? k : 1,
      .b_batches = 1,
      .c_row = n,
      .block = node_int(node, "block_size", k),
      .b_zeros = node->input_count < 4                ? 0
                 : node->inputs[3]->dtype == HONE_F32 ? 2
                                                      : 1,
      .a_digits = node_int(node, "a_digits", 0),
  };
  for (size_t i = 1; i < node->input_count; i++)
    if (!node->inputs[i]->constant) return HONE_OK;
  /* without vectors, floats after scales of two bytes would not be aligned */
  if (b->plan->schedule.kernels.vector_bytes > 4) {
    const bool has_minima = problem.b_zeros == 2;
    const struct tensor *scales = node->inputs[2]->constant;
    const struct tensor *minima = has_minima ? node->inputs[3]->constant : scales;
    if (tensor_holds_halves(scales) && tensor_holds_halves(minima)) {
      problem.b_halves = 1;
    } else if (problem.b_zeros != 1 && holds_runs(&problem, scales) &&
               (!has_minima || holds_runs(&problem, minima))) {
      problem.b_halves = 2;
      problem.b_run = BLOCK_OF_RUNS / problem.block;
    }
  }
  problem.b_used_bits = tensor_byte_bits(node->inputs[1]->constant);
  if (!choose_kernel(b, &problem, &choice)) return HONE_OK;
  TRY(ensure_dense(b, a, &av));
  TRY(weights_tensor(b, node, &tensor));
  struct buffer raw = {.place = BUFFER_WEIGHTS, .tensor = tensor};
  struct view all = {.buffer = &raw, .dtype = HONE_U8, .shape = tensor->shape};
  TRY(packed_weights(b, &choice, &problem, &all, &packed));
  view_dense(&out, NULL, c->dtype, &c->shape);
  TRY(make_output(b, c, &out, &out));
  TRY(make_epilogue(b, g, NULL, &out, c->shape.rank - 1, &epilogue));
  *out_done = true;
  TRY(split_a(b, node, &choice, &problem, &av));
  return add_kernel(b, node, &choice, &problem, (struct view[]){av, packed, out}, &epilogue,
                    group_flops(g), &step);
}
