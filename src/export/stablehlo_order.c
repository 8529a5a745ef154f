/* Rules of what goes by order or place: TopK, CumSum, CumProd, Trilu; and of integers alone: Mod, bits. */
#include "../ops/ops_internal.h"
#include "stablehlo.h"

/* -- TopK ------------------------------------------------------------------------------------------
 */

/* Two elements and their places: whether the first goes in front. Of equals the lower place does, which XLA's own
   top_k does not promise. */
static void put_order(struct text *out, const char *direction, hone_dtype dtype) {
  const char *type = hlo_type(dtype);
  const struct {
    const char *result, *direction, *operands, *type;
  } tests[] = {
      {"f", direction, "%a, %b", type}, {"e", "EQ", "%a, %b", type}, {"l", "LT", "%i, %j", "i32"}};
  text_printf(
      out,
      " ({\n      ^bb0(%%a: tensor<%s>, %%b: tensor<%s>, %%i: tensor<i32>, %%j: tensor<i32>):\n",
      type, type);
  for (size_t k = 0; k < COUNT(tests); k++)
    text_printf(out,
                "      %%%s = \"stablehlo.compare\"(%s) <{comparison_direction = "
                "#stablehlo<comparison_direction %s>}> : (tensor<%s>, tensor<%s>) -> tensor<i1>\n",
                tests[k].result, tests[k].operands, tests[k].direction, tests[k].type,
                tests[k].type);
  text_puts(out,
            "      %t = \"stablehlo.and\"(%e, %l) : (tensor<i1>, tensor<i1>) -> tensor<i1>\n"
            "      %r = \"stablehlo.or\"(%f, %t) : (tensor<i1>, tensor<i1>) -> tensor<i1>\n"
            "      \"stablehlo.return\"(%r) : (tensor<i1>) -> ()\n    })");
}

static hone_status put_top_k(struct hlo *h, const struct node *node) {
  const struct value *some = node->outputs[0] ? node->outputs[0] : node->outputs[1];
  struct text region = {0};
  struct term all[2];
  char attributes[64];
  int axis;
  TRY(hlo_input(h, node, 0, &all[0]));
  TRY(axis_attribute(h->ctx, node, "axis", -1, all[0].shape.rank, &axis));
  const int64_t k = some->shape.dims[axis];
  if (!node_int(node, "sorted", 1) && k > 1)
    return fail(h->ctx, HONE_E_UNSUP, node_place(node), "StableHLO: TopK that is not sorted");
  all[1] = hlo_iota(h, axis, HONE_I32, &all[0].shape);
  put_order(&region, node_int(node, "largest", 1) ? "GT" : "LT", all[0].dtype);
  snprintf(attributes, sizeof attributes, "dimension = %d : i64, is_stable = true", axis);
  struct term sorted[] = {all[0], all[1]};
  hlo_op_into(h, "stablehlo.sort", all, 2, attributes, region.at ? region.at : "", sorted, 2);
  if (region.failed) h->out->failed = true;
  text_deinit(&region);
  hlo_bind(h, node, 0, hlo_piece(h, sorted[0], axis, 0, k));
  hlo_bind(h, node, 1, hlo_convert(h, hlo_piece(h, sorted[1], axis, 0, k), HONE_I64));
  return HONE_OK;
}

/* -- CumSum and CumProd ----------------------------------------------------------------------------
 */

/* x moved along the axis, with `fill` in front. */
static struct term moved(struct hlo *h, struct term x, int axis, int64_t by, double fill) {
  const int64_t size = x.shape.dims[axis];
  struct shape front = x.shape;
  front.dims[axis] = by < size ? by : size;
  const struct term fills = hlo_splat(h, fill, x.dtype, &front);
  if (by >= size) return fills;
  return hlo_join(h, (struct term[]){fills, hlo_piece(h, x, axis, 0, size - by)}, 2, axis);
}

/* Each step doubles how many elements a sum is of (W. D. Hillis and G. L. Steele, 1986). */
static hone_status put_cumulative(struct hlo *h, const struct node *node) {
  const bool is_product = is_op(node, OP_CumProd), is_reverse = node_int(node, "reverse", 0) != 0;
  const char *op = is_product ? "stablehlo.multiply" : "stablehlo.add";
  const struct value *along = node_input(node, 1);
  struct term x;
  int axis;
  TRY(hlo_input(h, node, 0, &x));
  if (!along->constant)
    return fail(h->ctx, HONE_E_UNSUP, node_place(node), "StableHLO: %s along a computed axis",
                node->op->name);
  TRY(axis_normalise(h->ctx, node, "axis", tensor_i64(along->constant, 0), x.shape.rank, &axis));
  if (is_reverse) x = hlo_reverse(h, x, axis);
  if (node_int(node, "exclusive", 0)) x = moved(h, x, axis, 1, is_product);
  for (int64_t by = 1; by < x.shape.dims[axis]; by *= 2)
    x = hlo_binary(h, op, x, moved(h, x, axis, by, is_product));
  if (is_reverse) x = hlo_reverse(h, x, axis);
  hlo_bind(h, node, 0, x);
  return HONE_OK;
}

/* -- Trilu -----------------------------------------------------------------------------------------
 */

static hone_status put_trilu(struct hlo *h, const struct node *node) {
  const bool is_upper = node_int(node, "upper", 1) != 0;
  struct term x;
  int64_t diagonal = 0;
  size_t count;
  TRY(hlo_input(h, node, 0, &x));
  if (node_input(node, 1)) TRY(want_ints(h->ctx, node, 1, "k", 1, &diagonal, &count));
  const int64_t rows = x.shape.dims[x.shape.rank - 2], columns = x.shape.dims[x.shape.rank - 1];
  if (diagonal > columns) diagonal = columns;
  if (diagonal < -rows) diagonal = -rows;
  const struct term row = hlo_iota(h, x.shape.rank - 2, HONE_I64, &x.shape);
  const struct term column = hlo_iota(h, x.shape.rank - 1, HONE_I64, &x.shape);
  const struct term end =
      hlo_binary(h, "stablehlo.add", row, hlo_splat(h, (double)diagonal, HONE_I64, &x.shape));
  hlo_bind(h, node, 0,
           hlo_select(h, hlo_compare(h, is_upper ? "GE" : "LE", column, end), x,
                      hlo_splat(h, 0, x.dtype, &x.shape)));
  return HONE_OK;
}

/* -- bits ------------------------------------------------------------------------------------------
 */

static hone_status put_bits(struct hlo *h, const struct node *node) {
  static const struct {
    enum op_id op;
    const char *name;
  } names[] = {{OP_BitwiseAnd, "stablehlo.and"},
               {OP_BitwiseNot, "stablehlo.not"},
               {OP_BitwiseOr, "stablehlo.or"},
               {OP_BitwiseXor, "stablehlo.xor"}};
  const struct shape *shape = &node->outputs[0]->shape;
  struct term x[2];
  size_t i = 0;
  while (!is_op(node, names[i].op)) i++;
  for (size_t k = 0; k < node->input_count; k++) {
    TRY(hlo_input(h, node, k, &x[k]));
    x[k] = hlo_broadcast(h, x[k], shape);
  }
  hlo_bind(h, node, 0,
           hlo_op(h, names[i].name, x, node->input_count, NULL, NULL, x[0].dtype, shape));
  return HONE_OK;
}

/* -- Mod -------------------------------------------------------------------------------------------
 */

static bool is_signed(hone_dtype dtype) {
  return dtype == HONE_I8 || dtype == HONE_I16 || dtype == HONE_I32 || dtype == HONE_I64;
}

/* Of integers a divisor that leaves 0, or cannot be divided by, is 1. */
static struct term divisor_of(struct hlo *h, struct term y) {
  const struct term one = hlo_splat(h, 1, y.dtype, &y.shape);
  struct term is_one = hlo_compare(h, "EQ", y, hlo_splat(h, 0, y.dtype, &y.shape));
  if (is_signed(y.dtype))
    is_one = hlo_binary(h, "stablehlo.or", is_one,
                        hlo_compare(h, "EQ", y, hlo_splat(h, -1, y.dtype, &y.shape)));
  return hlo_select(h, is_one, one, y);
}

/* The rest has the sign of x with fmod, else that of y. */
static hone_status put_mod(struct hlo *h, const struct node *node) {
  const struct shape *shape = &node->outputs[0]->shape;
  struct term x, y;
  TRY(hlo_input(h, node, 0, &x));
  TRY(hlo_input(h, node, 1, &y));
  const bool is_float = dtype_is_float(x.dtype);
  x = hlo_broadcast(h, x, shape);
  y = hlo_broadcast(h, y, shape);
  if (!is_float) y = divisor_of(h, y);
  struct term rest = hlo_binary(h, "stablehlo.remainder", x, y);
  if (!node_int(node, "fmod", 0) && (is_float || is_signed(x.dtype))) {
    const struct term zero = hlo_splat(h, 0, x.dtype, shape);
    const struct term differs =
        hlo_compare(h, "NE", hlo_compare(h, "LT", rest, zero), hlo_compare(h, "LT", y, zero));
    const struct term moves =
        hlo_binary(h, "stablehlo.and", differs, hlo_compare(h, "NE", rest, zero));
    rest = hlo_select(h, moves, hlo_binary(h, "stablehlo.add", rest, y), rest);
  }
  hlo_bind(h, node, 0, rest);
  return HONE_OK;
}

/* -- the table -------------------------------------------------------------------------------------
 */

const struct hlo_row hlo_order_rules[] = {
    {OP_BitwiseAnd, put_bits},
    {OP_BitwiseNot, put_bits},
    {OP_BitwiseOr, put_bits},
    {OP_BitwiseXor, put_bits},
    {OP_CumProd, put_cumulative},
    {OP_CumSum, put_cumulative},
    {OP_Mod, put_mod},
    {OP_TopK, put_top_k},
    {OP_Trilu, put_trilu},
    {.rule = NULL},
};
