/* Rules of Resize, DepthToSpace, Tile, ArgMax and similar operators. */
#include "core/ops/ops_internal.h"
#include "stablehlo.h"

#include <math.h>

/* -- Resize */

/* The input index of each result along an axis, from weights that are 0 and 1. */
static hone_status nearest_places(struct hlo *h, const struct tensor *weights, struct term *out) {
  const int64_t in = weights->shape.dims[0], count = weights->shape.dims[1];
  struct tensor *places;
  TRY(tensor_create(h->ctx, h->arena, HONE_I32, &(struct shape){1, {count}}, &places));
  for (int64_t i = 0; i < count; i++)
    for (int64_t k = 0; k < in; k++)
      if (tensor_f64(weights, (size_t)(k * count + i)) > 0.5) tensor_set_i64(places, (size_t)i, k);
  return hlo_constant(h, places, out);
}

/* One axis after the other: nearest gathers elements, the other modes are matmuls with constant
 * weights. */
static hone_status put_resize(struct hlo *h, const struct node *node) {
  const bool is_nearest = !strcmp(node_string(node, "mode", "nearest"), "nearest");
  struct term x;
  TRY(hlo_input(h, node, 0, &x));
  const hone_dtype dtype = x.dtype;
  if (!is_nearest) x = hlo_convert(h, x, dtype == HONE_F64 ? HONE_F64 : HONE_F32);
  for (int d = 0; d < x.shape.rank; d++) {
    struct tensor *weights;
    struct term w;
    struct shape shape = x.shape;
    TRY(resize_weights(h->ctx, h->arena, node, d, &weights));
    if (!weights) continue;
    shape.dims[d] = weights->shape.dims[1];
    if (is_nearest) {
      TRY(nearest_places(h, weights, &w));
      x = hlo_take(h, x, w, d, &shape);
      continue;
    }
    int64_t back[HONE_MAX_RANK]; /* the matmul puts the axis last */
    for (int k = 0; k < x.shape.rank; k++) back[k] = k == d ? x.shape.rank - 1 : k > d ? k - 1 : k;
    TRY(hlo_constant(h, weights, &w));
    x = hlo_transpose(h, hlo_dot(h, x, hlo_convert(h, w, x.dtype), 0, d, 0), back);
  }
  hlo_bind(h, node, 0, hlo_convert(h, x, dtype));
  return HONE_OK;
}

/* -- shapes with six dimensions */

static hone_status put_depth_to_space(struct hlo *h, const struct node *node) {
  static const int64_t of_dcr[] = {0, 3, 4, 1, 5, 2}, of_crd[] = {0, 1, 4, 2, 5, 3};
  const int64_t b = node_int(node, "blocksize", 1);
  const bool is_crd = !strcmp(node_string(node, "mode", "DCR"), "CRD");
  struct term x;
  TRY(hlo_input(h, node, 0, &x));
  const int64_t *d = x.shape.dims;
  const struct shape six = is_crd ? (struct shape){6, {d[0], d[1] / (b * b), b, b, d[2], d[3]}}
                                  : (struct shape){6, {d[0], b, b, d[1] / (b * b), d[2], d[3]}};
  x = hlo_transpose(h, hlo_reshape(h, x, &six), is_crd ? of_crd : of_dcr);
  hlo_bind(h, node, 0, hlo_reshape(h, x, &node->outputs[0]->shape));
  return HONE_OK;
}

static hone_status put_space_to_depth(struct hlo *h, const struct node *node) {
  static const int64_t order[] = {0, 3, 5, 1, 2, 4};
  const int64_t b = node_int(node, "blocksize", 1);
  struct term x;
  TRY(hlo_input(h, node, 0, &x));
  const int64_t *d = x.shape.dims;
  const struct shape six = {6, {d[0], d[1], d[2] / b, b, d[3] / b, b}};
  x = hlo_transpose(h, hlo_reshape(h, x, &six), order);
  hlo_bind(h, node, 0, hlo_reshape(h, x, &node->outputs[0]->shape));
  return HONE_OK;
}

/* Adds a dimension of repeats before each axis; axes without repeats need none. */
static hone_status put_tile(struct hlo *h, const struct node *node) {
  const struct shape *to = &node->outputs[0]->shape;
  struct shape wide = {0};
  int64_t places[HONE_MAX_RANK];
  struct term x;
  TRY(hlo_input(h, node, 0, &x));
  for (int d = 0; d < x.shape.rank; d++) {
    const int64_t size = x.shape.dims[d], times = size ? to->dims[d] / size : 1;
    if (wide.rank + 1 + (times != 1) > HONE_MAX_RANK)
      return fail(h->ctx, HONE_E_UNSUP, node_place(node), "StableHLO: Tile of so many axes");
    if (times != 1) wide.dims[wide.rank++] = times;
    places[d] = wide.rank;
    wide.dims[wide.rank++] = size;
  }
  hlo_bind(h, node, 0, hlo_reshape(h, hlo_broadcast_dims(h, x, places, &wide), to));
  return HONE_OK;
}

/* -- the largest's place */

/* The first or last index of the extreme value. */
static hone_status put_arg(struct hlo *h, const struct node *node) {
  const bool is_max = is_op(node, OP_ArgMax), is_last = node_int(node, "select_last_index", 0) != 0;
  bool axes[HONE_MAX_RANK] = {false};
  struct term x;
  int axis;
  TRY(hlo_input(h, node, 0, &x));
  TRY(axis_attribute(h->ctx, node, "axis", 0, x.shape.rank, &axis));
  if (x.dtype == HONE_U8 || x.dtype == HONE_I8) x = hlo_convert(h, x, HONE_I32);
  if (x.dtype != HONE_F32 && x.dtype != HONE_F64 && x.dtype != HONE_I32 && x.dtype != HONE_I64)
    return fail(h->ctx, HONE_E_UNSUP, node_place(node), "StableHLO: %s of %s", node->op->name,
                dtype_name(x.dtype));
  /* integers by their own order: the smallest is the complement of the largest */
  const bool is_integer = x.dtype == HONE_I32 || x.dtype == HONE_I64;
  if (is_integer && !is_max) x = hlo_unary(h, "stablehlo.not", x);
  const bool takes_largest = is_max || is_integer;
  const double lowest = x.dtype == HONE_I32   ? (double)INT32_MIN
                        : x.dtype == HONE_I64 ? (double)INT64_MIN
                                              : -INFINITY;
  axes[axis] = true;
  const double none = is_last ? -1 : (double)x.shape.dims[axis];
  const struct term extreme =
      hlo_reduce_back(h, takes_largest ? "stablehlo.maximum" : "stablehlo.minimum",
                      takes_largest ? lowest : INFINITY, x, axes);
  const struct term places = hlo_iota(h, axis, HONE_I64, &x.shape);
  const struct term found = hlo_select(h, hlo_compare(h, "EQ", x, extreme), places,
                                       hlo_splat(h, none, HONE_I64, &x.shape));
  const struct term y =
      hlo_reduce(h, is_last ? "stablehlo.maximum" : "stablehlo.minimum", none, found, axes);
  hlo_bind(h, node, 0, hlo_reshape(h, y, &node->outputs[0]->shape));
  return HONE_OK;
}

/* Selects from the two values where the index along the axis equals the given one. */
static hone_status put_one_hot(struct hlo *h, const struct node *node) {
  const struct value *result = node->outputs[0];
  const struct tensor *values = node_input(node, 2) ? node->inputs[2]->constant : NULL;
  struct term at;
  int axis;
  int64_t dims[HONE_MAX_RANK];
  TRY(hlo_input(h, node, 0, &at));
  TRY(axis_attribute(h->ctx, node, "axis", -1, result->shape.rank, &axis));
  if (!values || tensor_count(values) != 2 || result->dtype == HONE_BOOL)
    return fail(h->ctx, HONE_E_UNSUP, node_place(node), "StableHLO: OneHot of computed values");
  for (int d = 0; d < at.shape.rank; d++) dims[d] = d < axis ? d : d + 1;
  at = hlo_convert(h, at, HONE_I64);
  const double size = (double)result->shape.dims[axis];
  const struct term behind =
      hlo_binary(h, "stablehlo.add", at, hlo_splat(h, size, HONE_I64, &at.shape));
  at = hlo_select(h, hlo_compare(h, "LT", at, hlo_splat(h, 0, HONE_I64, &at.shape)), behind, at);
  const struct term places = hlo_iota(h, axis, HONE_I64, &result->shape);
  const struct term is_there =
      hlo_compare(h, "EQ", places, hlo_broadcast_dims(h, at, dims, &result->shape));
  hlo_bind(
      h, node, 0,
      hlo_select(h, is_there, hlo_splat(h, tensor_f64(values, 1), result->dtype, &result->shape),
                 hlo_splat(h, tensor_f64(values, 0), result->dtype, &result->shape)));
  return HONE_OK;
}

/* -- the table */

const struct hlo_row hlo_image_rules[] = {
    {OP_ArgMax, put_arg},     {OP_ArgMin, put_arg},    {OP_DepthToSpace, put_depth_to_space},
    {OP_OneHot, put_one_hot}, {OP_Resize, put_resize}, {OP_SpaceToDepth, put_space_to_depth},
    {OP_Tile, put_tile},      {.rule = NULL},
};
