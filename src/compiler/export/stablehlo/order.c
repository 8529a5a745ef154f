/* Rules of operators that sort or index: TopK, SuppressBoxes, CumSum, CumProd, Trilu; and of
 * integer operators: Mod, bitwise. */
#include "core/ops/ops_internal.h"
#include "stablehlo.h"

#include <math.h>

/* -- TopK */

/* Compares two elements with their indices: true if the first sorts before. Among equals the lower
 * index wins, which XLA's own top_k does not guarantee. */
static void put_order(struct strbuf *out, const char *direction, hone_dtype dtype) {
  const char *type = hlo_type(dtype);
  const struct {
    const char *result, *direction, *operands, *type;
  } tests[] = {
      {"f", direction, "%a, %b", type}, {"e", "EQ", "%a, %b", type}, {"l", "LT", "%i, %j", "i32"}};
  strbuf_printf(
      out,
      " ({\n      ^bb0(%%a: tensor<%s>, %%b: tensor<%s>, %%i: tensor<i32>, %%j: tensor<i32>):\n",
      type, type);
  for (size_t k = 0; k < COUNT(tests); k++)
    strbuf_printf(
        out,
        "      %%%s = \"stablehlo.compare\"(%s) <{comparison_direction = "
        "#stablehlo<comparison_direction %s>}> : (tensor<%s>, tensor<%s>) -> tensor<i1>\n",
        tests[k].result, tests[k].operands, tests[k].direction, tests[k].type, tests[k].type);
  strbuf_puts(out,
              "      %t = \"stablehlo.and\"(%e, %l) : (tensor<i1>, tensor<i1>) -> tensor<i1>\n"
              "      %r = \"stablehlo.or\"(%f, %t) : (tensor<i1>, tensor<i1>) -> tensor<i1>\n"
              "      \"stablehlo.return\"(%r) : (tensor<i1>) -> ()\n    })");
}

static hone_status put_top_k(struct hlo *h, const struct node *node) {
  const struct value *some = node->outputs[0] ? node->outputs[0] : node->outputs[1];
  struct strbuf region = {0};
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
  strbuf_deinit(&region);
  hlo_bind(h, node, 0, hlo_piece(h, sorted[0], axis, 0, k));
  hlo_bind(h, node, 1, hlo_convert(h, hlo_piece(h, sorted[1], axis, 0, k), HONE_I64));
  return HONE_OK;
}

/* -- SuppressBoxes */

enum { BOXES, SCORES, OVERLAP, LEAST, SIGMA, SUPPRESS_INPUTS };
enum { TURN, LEFT, CHOSEN, KEPT, COUNTED, SUPPRESS_STATES };

struct boxes {
  struct term low, high, area;       /* [n, 2] as (y, x), [n] */
  struct term overlap, least, scale; /* one for each box: -1 / (2 sigma), 0 without a sigma */
};

/* Column c of [n, 2], as [n]. */
static struct term column(struct hlo *h, struct term x, int64_t c) {
  return hlo_reshape(h, hlo_piece(h, x, 1, c, 1), &(struct shape){1, {x.shape.dims[0]}});
}

static struct term area_of(struct hlo *h, struct term sides) {
  return hlo_binary(h, "stablehlo.multiply", column(h, sides, 0), column(h, sides, 1));
}

/* Row `place` of x, repeated for every row. */
static struct term row_for_all(struct hlo *h, struct term x, struct term place) {
  struct shape row = x.shape;
  row.dims[0] = 1;
  return hlo_broadcast(h, hlo_take(h, x, place, 0, &row), &x.shape);
}

/* Intersection over union of every box with the one at `place`, 0 if either is empty
 * (src/core/ops/operators/boxes.c). */
static struct term shares(struct hlo *h, const struct boxes *b, struct term place) {
  const struct term sides =
      hlo_binary(h, "stablehlo.subtract",
                 hlo_binary(h, "stablehlo.minimum", b->high, row_for_all(h, b->high, place)),
                 hlo_binary(h, "stablehlo.maximum", b->low, row_for_all(h, b->low, place)));
  const struct term common = area_of(h, sides), other = row_for_all(h, b->area, place);
  const struct term whole =
      hlo_binary(h, "stablehlo.subtract", hlo_binary(h, "stablehlo.add", b->area, other), common);
  const struct term none = hlo_splat(h, 0, HONE_F32, &common.shape);
  const struct term sizes[] = {column(h, sides, 0), column(h, sides, 1), b->area, other, whole};
  struct term has_share = hlo_splat(h, 1, HONE_BOOL, &common.shape);
  for (size_t i = 0; i < COUNT(sizes); i++)
    has_share = hlo_binary(h, "stablehlo.and", has_share, hlo_compare(h, "GT", sizes[i], none));
  return hlo_select(h, has_share, hlo_binary(h, "stablehlo.divide", common, whole), none);
}

/* Scores, -inf for boxes that are removed or not above the minimum. */
static struct term those_left(struct hlo *h, const struct boxes *b, struct term scores,
                              struct term is_out) {
  const struct term stays = hlo_binary(h, "stablehlo.and", hlo_unary(h, "stablehlo.not", is_out),
                                       hlo_compare(h, "GT", scores, b->least));
  return hlo_select(h, stays, scores, hlo_splat(h, -INFINITY, HONE_F32, &scores.shape));
}

/* Selects the best remaining box, the first among equals; others decrease by their overlap with it.
 * Further iterations have no effect. */
static void put_choice(struct hlo *h, const struct boxes *b, struct term *state) {
  const bool all[HONE_MAX_RANK] = {true};
  const struct shape scalar = {0}, list = state[LEFT].shape;
  const struct term left = state[LEFT], places = hlo_iota(h, 0, HONE_I32, &list);
  const struct term best = hlo_reduce(h, "stablehlo.maximum", -INFINITY, left, all);
  const struct term is_best = hlo_compare(h, "EQ", left, hlo_broadcast(h, best, &list));
  const struct term last = hlo_splat(h, (double)list.dims[0] - 1, HONE_I32, &list);
  const struct term place = hlo_reduce(h, "stablehlo.minimum", (double)list.dims[0] - 1,
                                       hlo_select(h, is_best, places, last), all);
  const struct term is_there =
      hlo_compare(h, "GT", best, hlo_splat(h, -INFINITY, HONE_F32, &scalar));
  const struct term share = shares(h, b, hlo_reshape(h, place, &(struct shape){1, {1}}));
  const struct term is_out =
      hlo_binary(h, "stablehlo.or", hlo_compare(h, "GE", share, b->overlap),
                 hlo_compare(h, "EQ", places, hlo_broadcast(h, place, &list)));
  const struct term falls =
      hlo_unary(h, "stablehlo.exponential",
                hlo_binary(h, "stablehlo.multiply",
                           hlo_binary(h, "stablehlo.multiply", b->scale, share), share));
  state[LEFT] = those_left(h, b, hlo_binary(h, "stablehlo.multiply", left, falls), is_out);
  state[CHOSEN] =
      hlo_collect(h, state[CHOSEN],
                  hlo_select(h, is_there, place, hlo_splat(h, 0, HONE_I32, &scalar)), state[TURN]);
  state[KEPT] =
      hlo_collect(h, state[KEPT], hlo_select(h, is_there, best, hlo_splat(h, 0, HONE_F32, &scalar)),
                  state[TURN]);
  state[COUNTED] =
      hlo_binary(h, "stablehlo.add", state[COUNTED], hlo_convert(h, is_there, HONE_I32));
  state[TURN] = hlo_binary(h, "stablehlo.add", state[TURN], hlo_splat(h, 1, HONE_I32, &scalar));
}

/* Corners in either order. */
static struct boxes boxes_of(struct hlo *h, const struct term *in) {
  const struct shape *list = &in[SCORES].shape;
  const struct term one = hlo_piece(h, in[BOXES], 1, 0, 2),
                    other = hlo_piece(h, in[BOXES], 1, 2, 2);
  const struct term sigma = hlo_broadcast(h, in[SIGMA], list),
                    none = hlo_splat(h, 0, HONE_F32, list);
  struct boxes b = {.low = hlo_binary(h, "stablehlo.minimum", one, other),
                    .high = hlo_binary(h, "stablehlo.maximum", one, other),
                    .overlap = hlo_broadcast(h, in[OVERLAP], list),
                    .least = hlo_broadcast(h, in[LEAST], list)};
  b.area = area_of(h, hlo_binary(h, "stablehlo.subtract", b.high, b.low));
  b.scale = hlo_select(h, hlo_compare(h, "GT", sigma, none),
                       hlo_binary(h, "stablehlo.divide", hlo_splat(h, -0.5, HONE_F32, list), sigma),
                       none);
  return b;
}

static hone_status put_suppress_boxes(struct hlo *h, const struct node *node) {
  const struct shape scalar = {0}, list = {1, {node_int(node, "limit", 0)}};
  struct term in[SUPPRESS_INPUTS];
  for (size_t k = 0; k < SUPPRESS_INPUTS; k++) TRY(hlo_input(h, node, k, &in[k]));
  if (list.dims[0] < 1 || in[SCORES].shape.dims[0] < 1)
    return fail(h->ctx, HONE_E_UNSUP, node_place(node), "StableHLO: SuppressBoxes without boxes");
  const struct boxes b = boxes_of(h, in);
  struct term state[SUPPRESS_STATES] = {
      [TURN] = hlo_splat(h, 0, HONE_I32, &scalar),
      [LEFT] = those_left(h, &b, in[SCORES], hlo_splat(h, 0, HONE_BOOL, &in[SCORES].shape)),
      [CHOSEN] = hlo_splat(h, 0, HONE_I32, &list),
      [KEPT] = hlo_splat(h, 0, HONE_F32, &list),
      [COUNTED] = hlo_splat(h, 0, HONE_I32, &scalar)};
  struct hlo_while loop = {state, SUPPRESS_STATES, 0};
  hlo_while_condition(h, &loop);
  hlo_while_body(
      h, &loop,
      hlo_compare(h, "LT", state[TURN], hlo_splat(h, (double)list.dims[0], HONE_I32, &scalar)));
  put_choice(h, &b, state);
  hlo_while_end(h, &loop);
  for (size_t k = 0; k < node->output_count; k++)
    if (node->outputs[k]) hlo_bind(h, node, k, state[CHOSEN + k]);
  return HONE_OK;
}

/* -- CumSum and CumProd */

/* x shifted along the axis, filled with `fill`. */
static struct term moved(struct hlo *h, struct term x, int axis, int64_t by, double fill) {
  const int64_t size = x.shape.dims[axis];
  struct shape front = x.shape;
  front.dims[axis] = by < size ? by : size;
  const struct term fills = hlo_splat(h, fill, x.dtype, &front);
  if (by >= size) return fills;
  return hlo_join(h, (struct term[]){fills, hlo_piece(h, x, axis, 0, size - by)}, 2, axis);
}

/* Each step doubles the number of summed elements (W. D. Hillis and G. L. Steele, 1986). */
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

/* -- Trilu */

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

/* -- bits */

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

/* -- Mod */

/* A divisor of 0, or one that would overflow, is replaced by 1. */
static struct term divisor_of(struct hlo *h, struct term y) {
  const struct term one = hlo_splat(h, 1, y.dtype, &y.shape);
  struct term is_one = hlo_compare(h, "EQ", y, hlo_splat(h, 0, y.dtype, &y.shape));
  if (dtype_is_signed(y.dtype))
    is_one = hlo_binary(h, "stablehlo.or", is_one,
                        hlo_compare(h, "EQ", y, hlo_splat(h, -1, y.dtype, &y.shape)));
  return hlo_select(h, is_one, one, y);
}

/* The remainder has the sign of x with fmod, else that of y. */
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
  if (!node_int(node, "fmod", 0) && (is_float || dtype_is_signed(x.dtype))) {
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

/* -- the table */

const struct hlo_row hlo_order_rules[] = {
    {OP_BitwiseAnd, put_bits},
    {OP_BitwiseNot, put_bits},
    {OP_BitwiseOr, put_bits},
    {OP_BitwiseXor, put_bits},
    {OP_CumProd, put_cumulative},
    {OP_CumSum, put_cumulative},
    {OP_Mod, put_mod},
    {OP_SuppressBoxes, put_suppress_boxes},
    {OP_TopK, put_top_k},
    {OP_Trilu, put_trilu},
    {.rule = NULL},
};
