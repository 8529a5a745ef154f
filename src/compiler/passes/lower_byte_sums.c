/* lower-byte-sums: the sum of two quantised tensors without fixed-point multiplications.
 * Requantize(Add(Requantize(a), Requantize(b)))  ->  clamp((ca * a + cb * b + c) >> bits)
 * a and b have 256 values each, so the sum is a function of 65536 pairs. The reference evaluates
 * it, and integers ca, cb, c near the real factors are searched until all pairs agree. So the
 * result is identical bit for bit, or the nodes stay unchanged. One Requantize from int8 to int8 is
 * the same with b = 0.
 */
#include "rewrite.h"

#include <math.h>

enum { BYTES = 256, WITNESSES = 32, RADIUS = 4, FEWEST_BITS = 12 };

/* y = f(a, b): the nodes that are replaced. */
struct byte_sum {
  struct node *outer, *sum; /* sum NULL: f(a) */
  struct node *inner[2];
  struct value *x[2];
  int64_t first[2]; /* least value of the types of a and b */
  double factor[2]; /* of a and b in y, before rounding */
  int64_t low, high;
  int64_t *f; /* [a][b] */
};

/* y = clamp((x[0] * factor[0] + x[1] * factor[1] + constant) >> bits) */
struct linear {
  int64_t factor[2], constant;
  int bits;
};

/* -- the function */

/* A Requantize with one multiplier; *out: the real factor that it represents. */
static bool one_factor(const struct node *node, double *out) {
  double multiplier, shift;
  if (!node || !constant_scalar(node->inputs[1], &multiplier) ||
      !constant_scalar(node->inputs[2], &shift))
    return false;
  *out = ldexp(multiplier, (int)node_int(node, "left_shift", 0) + (int)shift - 31);
  return fabs(shift) < 64;
}

static bool read_operand(struct byte_sum *s, int k, struct value *x) {
  struct node *inner = producer_of(x, OP_Requantize);
  double factor;
  if (!one_factor(inner, &factor) || x->dtype != HONE_I32) return false;
  s->inner[k] = inner;
  s->x[k] = inner->inputs[0];
  s->factor[k] *= factor;
  return dtype_is_byte(s->x[k]->dtype) && !s->x[k]->constant;
}

static bool read_byte_sum(struct node *node, struct byte_sum *s) {
  struct value *x = node->inputs[0];
  *s = (struct byte_sum){.outer = node};
  if (!one_factor(node, &s->factor[0]) || !dtype_is_byte(node->outputs[0]->dtype)) return false;
  if (dtype_is_byte(x->dtype)) {
    s->x[0] = x;
    return !x->constant;
  }
  s->factor[1] = s->factor[0];
  s->sum = producer_of(x, OP_Add);
  if (!s->sum) {
    s->sum = producer_of(x, OP_Sub);
    s->factor[1] = -s->factor[1];
  }
  return s->sum && x->dtype == HONE_I32 && read_operand(s, 0, s->sum->inputs[0]) &&
         read_operand(s, 1, s->sum->inputs[1]);
}

static hone_status evaluate(struct rewrite *r, struct arena *scratch, const struct node *node,
                            const struct tensor *x, struct tensor **out) {
  const struct tensor *in[3] = {x, node->inputs[1]->constant, node->inputs[2]->constant};
  TRY(tensor_create(r->ctx, scratch, node->outputs[0]->dtype, &x->shape, out));
  return node->op->eval(r->ctx, scratch, node, in, out);
}

/* All values of an int8 type, after its inner node. */
static hone_status all_bytes(struct rewrite *r, struct arena *scratch, struct byte_sum *s, int k,
                             struct tensor **out) {
  const struct shape shape = {.rank = 2, .dims = {k ? 1 : BYTES, k ? BYTES : 1}};
  struct tensor *x;
  TRY(tensor_create(r->ctx, scratch, s->x[k]->dtype, &shape, &x));
  s->first[k] = s->x[k]->dtype == HONE_I8 ? -128 : 0;
  for (size_t i = 0; i < BYTES; i++) tensor_set_i64(x, i, s->first[k] + (int64_t)i);
  *out = x;
  return s->inner[k] ? evaluate(r, scratch, s->inner[k], x, out) : HONE_OK;
}

static hone_status evaluate_all(struct rewrite *r, struct arena *scratch, struct byte_sum *s) {
  const struct shape shape = {.rank = 2, .dims = {BYTES, BYTES}};
  struct tensor *x[2], *sum, *y;
  TRY(all_bytes(r, scratch, s, 0, &x[0]));
  sum = x[0];
  if (s->sum) {
    TRY(all_bytes(r, scratch, s, 1, &x[1]));
    TRY(tensor_create(r->ctx, scratch, HONE_I32, &shape, &sum));
    TRY(s->sum->op->eval(r->ctx, scratch, s->sum, (const struct tensor *const[]){x[0], x[1]},
                         &sum));
  }
  TRY(evaluate(r, scratch, s->outer, sum, &y));
  TRY(NEW_ARRAY(r->ctx, scratch, s->f, (size_t)BYTES * BYTES));
  s->low = INT64_MAX;
  s->high = INT64_MIN;
  for (size_t i = 0; i < (size_t)BYTES * BYTES; i++) {
    s->f[i] = tensor_i64(y, s->sum ? i : i / BYTES);
    if (s->f[i] < s->low) s->low = s->f[i];
    if (s->f[i] > s->high) s->high = s->f[i];
  }
  return HONE_OK;
}

/* -- the equivalent integers */

/* The constants that are correct for the pairs checked so far: least and largest, and the pairs
   that limit them. */
struct bounds {
  int64_t least, most;
  size_t least_at, most_at;
};

static void add_pair(const struct byte_sum *s, const struct linear *l, size_t at,
                     struct bounds *b) {
  const int64_t one = INT64_C(1) << l->bits, y = s->f[at];
  const int64_t x = (s->first[0] + (int64_t)(at / BYTES)) * l->factor[0] +
                    (s->first[1] + (int64_t)(at % BYTES)) * l->factor[1];
  if (y > s->low && y * one - x > b->least) {
    b->least = y * one - x;
    b->least_at = at;
  }
  if (y < s->high && (y + 1) * one - 1 - x < b->most) {
    b->most = (y + 1) * one - 1 - x;
    b->most_at = at;
  }
}

/* True if some constant is correct for all pairs. Pairs that failed before are checked first. */
static bool find_constant(const struct byte_sum *s, struct linear *l, size_t *witnesses,
                          size_t *witness_count) {
  struct bounds b = {.least = INT64_MIN / 2, .most = INT64_MAX / 2};
  for (size_t i = 0; i < *witness_count; i++) add_pair(s, l, witnesses[i], &b);
  if (b.least > b.most) return false;
  for (size_t i = 0; i < (size_t)BYTES * BYTES; i++) add_pair(s, l, i, &b);
  if (b.least > b.most) {
    if (*witness_count + 2 <= WITNESSES) {
      witnesses[(*witness_count)++] = b.least_at;
      witnesses[(*witness_count)++] = b.most_at;
    }
    return false;
  }
  if (s->low == s->high) b.least = b.most = 0;
  l->constant = b.least + (b.most - b.least) / 2;
  return true;
}

/* True if int32 suffices for every pair. */
static bool is_narrow(const struct byte_sum *s, const struct linear *l) {
  int64_t low = l->constant, high = l->constant;
  for (int k = 0; k < 2; k++) {
    const int64_t at_first = s->first[k] * l->factor[k],
                  at_last = (s->first[k] + BYTES - 1) * l->factor[k];
    low += at_first < at_last ? at_first : at_last;
    high += at_first < at_last ? at_last : at_first;
    if (at_first != (int32_t)at_first || at_last != (int32_t)at_last) return false;
  }
  return low == (int32_t)low && high == (int32_t)high && l->constant == (int32_t)l->constant;
}

/* Factors near the real ones, nearest first. */
static bool find_factors(const struct byte_sum *s, int bits, struct linear *out) {
  size_t witnesses[WITNESSES], count = 0;
  const int64_t a = llrint(ldexp(s->factor[0], bits)), b = llrint(ldexp(s->factor[1], bits));
  for (int64_t radius = 0; radius <= RADIUS; radius++)
    for (int64_t i = -radius; i <= radius; i++)
      for (int64_t j = s->sum ? -radius : 0; j <= (s->sum ? radius : 0); j++) {
        bool is_new = i == radius || i == -radius || j == radius || j == -radius;
        *out = (struct linear){.factor = {a + i, s->sum ? b + j : 0}, .bits = bits};
        if (is_new && find_constant(s, out, witnesses, &count) && is_narrow(s, out)) return true;
      }
  return false;
}

static bool find_linear(const struct byte_sum *s, struct linear *out) {
  const double most = (fabs(s->factor[0]) + fabs(s->factor[1])) * BYTES;
  if (!(most < 0x1p18)) return false;
  int bits = 31 - (int)ceil(log2(most + 1));
  for (int i = 0; i < 3 && bits - i >= FEWEST_BITS; i++)
    if (find_factors(s, bits - i, out)) return true;
  return false;
}

/* -- the replacement nodes */

static struct value *scaled(struct rewrite *r, const struct byte_sum *s, const struct linear *l,
                            int k) {
  return x_by(r->b, OP_Mul, x_cast(r->b, s->x[k], HONE_I32), (double)l->factor[k]);
}

static struct value *build(struct rewrite *r, const struct byte_sum *s, const struct linear *l) {
  struct value *y = scaled(r, s, l, 0);
  if (s->sum) y = x_2(r->b, OP_Add, y, scaled(r, s, l, 1));
  if (l->constant) y = x_by(r->b, OP_Add, y, (double)l->constant);
  y = x_by(r->b, OP_ShiftRight, y, (double)l->bits);
  y = x_by(r->b, OP_Min, x_by(r->b, OP_Max, y, (double)s->low), (double)s->high);
  return x_cast(r->b, y, s->outer->outputs[0]->dtype);
}

static hone_status visit_in(struct rewrite *r, struct arena *scratch, struct byte_sum *s) {
  struct linear l;
  TRY(evaluate_all(r, scratch, s));
  if (!find_linear(s, &l)) return HONE_OK;
  return rewrite_replace(r, s->outer->outputs[0], build(r, s, &l));
}

static hone_status visit(struct rewrite *r, struct node *node) {
  struct byte_sum s;
  struct arena *scratch;
  if (!is_op(node, OP_Requantize) || !read_byte_sum(node, &s)) return HONE_OK;
  TRY(arena_create(r->ctx, 0, &scratch));
  hone_status status = visit_in(r, scratch, &s);
  arena_destroy(scratch);
  return status;
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_lower_byte_sums(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
