/* elementwise: inference and reference of every op in unary.def, binary.def and ternary.def. Floats
 * are computed in double and rounded once; integers exactly, by integer.def in int64. */
#include "core/ops/ops_internal.h"

#define BLOCK 256

/* -- the tables compiled as loops over a block */

struct f64_block {
  size_t count;
  const double *x, *y, *z;
  double alpha, beta;
};
typedef void f64_fn(const struct f64_block *block, double *out);

struct i64_block {
  size_t count;
  const int64_t *x, *y, *z;
  bool u; /* operands are uint64 */
};
typedef void i64_fn(const struct i64_block *block, int64_t *out);

#include "helpers_double.h"

#define F64_LOOP(name, text)                                           \
  static void f64_##name(const struct f64_block *block, double *out) { \
    const double alpha = block->alpha, beta = block->beta;             \
    (void)alpha, (void)beta;                                           \
    for (size_t i = 0; i < block->count; i++) {                        \
      const double x = block->x[i], y = block->y[i], z = block->z[i];  \
      (void)x, (void)y, (void)z;                                       \
      out[i] = text;                                                   \
    }                                                                  \
  }
#define UNARY(name, a, b, text) F64_LOOP(name, text)
#define BINARY F64_LOOP
#define TERNARY F64_LOOP
#include "core/ops/unary.def"
#include "core/ops/binary.def"
#include "core/ops/ternary.def"
#undef UNARY
#undef BINARY
#undef TERNARY

static f64_fn *const f64_table[OP_COUNT] = {
#define UNARY(name, a, b, text) [OP_##name] = f64_##name,
#define BINARY(name, text) [OP_##name] = f64_##name,
#define TERNARY(name, text) [OP_##name] = f64_##name,
#include "core/ops/unary.def"
#include "core/ops/binary.def"
#include "core/ops/ternary.def"
#undef UNARY
#undef BINARY
#undef TERNARY
};

/* Integer helpers have the names of the double ones with the prefix int_. */
static int64_t int_add(int64_t x, int64_t y) { return (int64_t)((uint64_t)x + (uint64_t)y); }
static int64_t int_sub(int64_t x, int64_t y) { return (int64_t)((uint64_t)x - (uint64_t)y); }
static int64_t int_mul(int64_t x, int64_t y) { return (int64_t)((uint64_t)x * (uint64_t)y); }
static int64_t int_div(int64_t x, int64_t y, bool u) {
  if (y == 0) return 0;
  if (u) return (int64_t)((uint64_t)x / (uint64_t)y);
  return y == -1 ? int_sub(0, x) : x / y;
}
static int64_t int_lt(int64_t x, int64_t y, bool u) {
  return u ? (uint64_t)x < (uint64_t)y : x < y;
}
static int64_t int_le(int64_t x, int64_t y, bool u) { return !int_lt(y, x, u); }
static int64_t int_min(int64_t x, int64_t y, bool u) { return int_lt(x, y, u) ? x : y; }
static int64_t int_max(int64_t x, int64_t y, bool u) { return int_lt(x, y, u) ? y : x; }
static int64_t int_neg(int64_t x) { return int_sub(0, x); }
static int64_t int_abs(int64_t x, bool u) { return !u && x < 0 ? int_neg(x) : x; }
/* x to the power y >= 0, wrapping; a negative exponent gives the truncated quotient. */
static int64_t int_pow(int64_t x, int64_t y, bool u) {
  if (!u && y < 0) return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;
  int64_t result = 1;
  for (uint64_t rest = (uint64_t)y; rest; rest >>= 1, x = int_mul(x, x))
    if (rest & 1) result = int_mul(result, x);
  return result;
}

/* Fixed-point multiplication of a requantisation, see requantize.c: x * multiplier / 2^31
 * rounded (halves up), then a right shift by `bits` modulo 32, rounded (halves away from zero);
 * in 32 bits. */
static int64_t int_rescale(int64_t x, int64_t multiplier, int64_t bits) {
  int64_t mask = (INT64_C(1) << (bits & 31)) - 1;
  int64_t high = (int32_t)(uint32_t)((uint64_t)(x * multiplier + (INT64_C(1) << 30)) >> 31);
  return (high >> (bits & 31)) + ((high & mask) > (mask >> 1) + (high < 0));
}
/* Rounded once, halves up: a shift by 31 + bits, of 1 to 62. */
static int64_t int_rescale_once(int64_t x, int64_t multiplier, int64_t bits) {
  int64_t shift = 1 + ((30 + bits) & 63);
  if (shift > 62) shift = 62;
  return (x * multiplier + (INT64_C(1) << (shift - 1))) >> shift;
}
/* As int_rescale for bits of 1 to 31, but both roundings half up, so one sum does both; the same
 * where x >= 0. */
static int64_t int_rescale_up(int64_t x, int64_t multiplier, int64_t bits) {
  const int64_t further = (bits - 1) & 31;
  const uint64_t halves = (UINT64_C(1) << 30) + (UINT64_C(1) << (31 + further));
  return (int64_t)((uint64_t)(x * multiplier) + halves) >> 32 >> further;
}

/* By bits modulo 32, arithmetic. */
static int64_t int_shift_right(int64_t x, int64_t bits) { return x >> (bits & 31); }

#define add_ int_add
#define sub_ int_sub
#define mul_ int_mul
#define div_ int_div
#define lt_ int_lt
#define le_ int_le
#define min_ int_min
#define max_ int_max
#define neg_ int_neg
#define abs_ int_abs
#define pow_ int_pow
#define shift_right_ int_shift_right
#define rescale_ int_rescale
#define rescale_once_ int_rescale_once
#define rescale_up_ int_rescale_up
#define INTEGER(name, text)                                             \
  static void i64_##name(const struct i64_block *block, int64_t *out) { \
    const bool u = block->u;                                            \
    (void)u;                                                            \
    for (size_t i = 0; i < block->count; i++) {                         \
      const int64_t x = block->x[i], y = block->y[i], z = block->z[i];  \
      (void)x, (void)y, (void)z;                                        \
      out[i] = text;                                                    \
    }                                                                   \
  }
#include "core/ops/integer.def"
#undef INTEGER

static i64_fn *const i64_table[OP_COUNT] = {
#define INTEGER(name, text) [OP_##name] = i64_##name,
#include "core/ops/integer.def"
#undef INTEGER
};

/* Marks all helpers as used, independent of the rows. */
static void *const helpers_used[] = {(void *)int_add, (void *)int_sub, (void *)int_mul,
                                     (void *)int_div, (void *)int_le,  (void *)int_min,
                                     (void *)int_max, (void *)int_abs, (void *)int_pow};

/* -- walking broadcast operands */

struct operand {
  const struct tensor *tensor;
  int64_t strides[HONE_MAX_RANK];
};

struct walk {
  const struct op *op;
  double alpha, beta;
  bool is_integer;
  size_t count;
  struct operand operands[3];
  const struct tensor *out;
};

/* `count` <= BLOCK elements from out[start]; operand k from offsets[k] with steps[k]. */
static void apply_block(const struct walk *walk, int64_t start, size_t count,
                        const int64_t offsets[3], const int64_t steps[3]) {
  if (walk->is_integer) {
    int64_t in[3][BLOCK] = {{0}}, out[BLOCK];
    for (size_t k = 0; k < walk->count; k++)
      read_i64(walk->operands[k].tensor, offsets[k], steps[k], count, in[k]);
    bool u = walk->operands[walk->count - 1].tensor->dtype == HONE_U64;
    i64_table[walk->op->id](&(struct i64_block){count, in[0], in[1], in[2], u}, out);
    write_i64(walk->out, start, count, out);
    return;
  }
  double in[3][BLOCK] = {{0}}, out[BLOCK];
  for (size_t k = 0; k < walk->count; k++)
    read_f64(walk->operands[k].tensor, offsets[k], steps[k], count, in[k]);
  f64_table[walk->op->id](&(struct f64_block){count, in[0], in[1], in[2], walk->alpha, walk->beta},
                          out);
  write_f64(walk->out, start, count, out);
}

/* One run of `length` elements along the last axis. */
static void apply_row(const struct walk *walk, int64_t start, int64_t length,
                      const int64_t bases[3], const int64_t steps[3]) {
  for (int64_t at = 0; at < length; at += BLOCK) {
    int64_t offsets[3] = {0};
    for (size_t k = 0; k < walk->count; k++) offsets[k] = bases[k] + at * steps[k];
    int64_t left = length - at;
    apply_block(walk, start + at, (size_t)(left < BLOCK ? left : BLOCK), offsets, steps);
  }
}

/* True if every operand is dense like the output or a single element: one long row. */
static bool is_flat(const struct walk *walk) {
  for (size_t k = 0; k < walk->count; k++) {
    const struct tensor *tensor = walk->operands[k].tensor;
    if (tensor_count(tensor) != 1 && !shape_equal(&tensor->shape, &walk->out->shape)) return false;
  }
  return true;
}

static void walk_all(struct walk *walk) {
  int64_t total = (int64_t)tensor_count(walk->out);
  if (total == 0) return;
  if (is_flat(walk)) {
    int64_t bases[3] = {0}, steps[3] = {0};
    for (size_t k = 0; k < walk->count; k++)
      steps[k] = tensor_count(walk->operands[k].tensor) == 1 ? 0 : 1;
    apply_row(walk, 0, total, bases, steps);
    return;
  }
  const struct shape *shape = &walk->out->shape; /* rank >= 1, since not flat */
  int last = shape->rank - 1;
  int64_t index[HONE_MAX_RANK] = {0}, steps[3] = {0}, start = 0;
  for (size_t k = 0; k < walk->count; k++) {
    broadcast_strides(&walk->operands[k].tensor->shape, shape, walk->operands[k].strides);
    steps[k] = walk->operands[k].strides[last];
  }
  do {
    int64_t bases[3] = {0};
    for (size_t k = 0; k < walk->count; k++)
      bases[k] = index_offset(last, index, walk->operands[k].strides);
    apply_row(walk, start, shape->dims[last], bases, steps);
    start += shape->dims[last];
  } while (index_next(last, shape->dims, index));
}

hone_status elementwise_apply(struct ctx *ctx, const struct op *op, struct place at, double alpha,
                              double beta, const struct tensor *const *in, size_t count,
                              const struct tensor *out) {
  (void)helpers_used;
  if (count == 0 || count > 3 || !(f64_table[op->id] || i64_table[op->id]))
    return fail(ctx, HONE_E_INTERNAL, at, "%s has no expression", op->name);
  /* the last operand determines the type: a mask may come first */
  hone_dtype dtype = in[count - 1]->dtype;
  struct walk walk = {.op = op, .alpha = alpha, .beta = beta, .count = count, .out = out};
  walk.is_integer = !dtype_is_float(dtype);
  if (walk.is_integer ? !i64_table[op->id] : !f64_table[op->id])
    return fail(ctx, HONE_E_TYPE, at, "%s is not defined for %s", op->name, dtype_name(dtype));
  for (size_t k = 0; k < count; k++) walk.operands[k].tensor = in[k];
  walk_all(&walk);
  return HONE_OK;
}

/* -- parameters */

/* Ops whose attributes have other names than alpha and beta. */
static const struct {
  const char *op, *alpha, *beta;
} parameter_names[] = {
    {"IsInf", "detect_negative", "detect_positive"},
    {"Selu", "alpha", "gamma"},
    {"Shrink", "lambd", "bias"},
};

static double number_attribute(const struct node *node, const char *name, double otherwise) {
  const struct attribute *attribute = node_attribute(node, name);
  if (!attribute) return otherwise;
  return attribute->kind == ATTRIBUTE_INT ? (double)attribute->i : attribute->f;
}

/* Clip's bound: +-infinity if absent; false if it is known only at run time. */
static bool clip_bound(const struct node *node, size_t k, double otherwise, double *out) {
  const struct value *value = node_input(node, k);
  *out = otherwise;
  return !value || constant_scalar(value, out);
}

size_t elementwise_operands(const struct node *node) {
  return is_op(node, OP_Clip) || is_op(node, OP_CastLike) ? 1 : node->input_count;
}

bool elementwise_parameters(const struct node *node, double *out_alpha, double *out_beta) {
  const struct op *op = node->op;
  if (strcmp(op->name, "Clip") == 0)
    return clip_bound(node, 1, -INFINITY, out_alpha) && clip_bound(node, 2, INFINITY, out_beta);
  if (strcmp(op->name, "Gelu") == 0) { /* alpha chooses between its two forms */
    *out_alpha = strcmp(node_string(node, "approximate", "none"), "tanh") == 0;
    *out_beta = 0;
    return true;
  }
  const char *alpha = "alpha", *beta = "beta";
  for (size_t i = 0; i < COUNT(parameter_names); i++)
    if (strcmp(op->name, parameter_names[i].op) == 0)
      alpha = parameter_names[i].alpha, beta = parameter_names[i].beta;
  *out_alpha = number_attribute(node, alpha, op->alpha);
  *out_beta = number_attribute(node, beta, op->beta);
  return op->class == OP_ELEMENTWISE &&
         (op->expression || op->integer || is_op(node, OP_ByteTable));
}

/* -- the functions that ops.def names */

static hone_status check_type(struct ctx *ctx, const struct node *node, hone_dtype dtype) {
  if (dtype_is_float(dtype) && f64_table[node->op->id]) return HONE_OK;
  if (dtype == HONE_BOOL && node->op->id == OP_Equal) return HONE_OK;
  if (dtype_is_integer(dtype) && i64_table[node->op->id]) return HONE_OK;
  return fail(ctx, HONE_E_TYPE, node_place(node), "%s is not defined for %s", node->op->name,
              dtype_name(dtype));
}

hone_status infer_unary(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  TRY(check_type(ctx, node, node->inputs[0]->dtype));
  return set_output_like(ctx, node, 0, 0);
}

hone_status infer_unary_bool(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  TRY(check_type(ctx, node, node->inputs[0]->dtype));
  return set_output(ctx, node, 0, HONE_BOOL, &node->inputs[0]->shape);
}

static hone_status infer_two(struct ctx *ctx, const struct node *node, bool is_bool) {
  const struct value *x = node->inputs[0], *y = node->inputs[1];
  TRY(check_type(ctx, node, x->dtype));
  TRY(want_same_dtype(ctx, node, 0, 1));
  struct shape shape;
  if (!shape_broadcast(&x->shape, &y->shape, &shape))
    return fail(ctx, HONE_E_SHAPE, node_place(node), "inputs 0 and 1 do not broadcast");
  return set_output(ctx, node, 0, is_bool ? HONE_BOOL : x->dtype, &shape);
}

hone_status infer_binary(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return infer_two(ctx, node, false);
}

hone_status infer_compare(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return infer_two(ctx, node, true);
}

static hone_status eval_count(struct ctx *ctx, const struct node *node,
                              const struct tensor *const *in, size_t count,
                              const struct tensor *out) {
  double alpha = 0, beta = 0;
  if (node->op->expression && !elementwise_parameters(node, &alpha, &beta))
    return fail(ctx, HONE_E_UNSUP, node_place(node),
                "parameters of %s must be constants: they are known only at run time",
                node->op->name);
  return elementwise_apply(ctx, node->op, node_place(node), alpha, beta, in, count, out);
}

hone_status eval_unary(struct ctx *ctx, struct arena *scratch, const struct node *node,
                       const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  return eval_count(ctx, node, in, 1, out[0]);
}

hone_status eval_binary(struct ctx *ctx, struct arena *scratch, const struct node *node,
                        const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  return eval_count(ctx, node, in, 2, out[0]);
}

hone_status eval_ternary(struct ctx *ctx, struct arena *scratch, const struct node *node,
                         const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  return eval_count(ctx, node, in, 3, out[0]);
}
