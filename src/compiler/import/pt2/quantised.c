/* quantised: the operators that PyTorch's own quantisation writes: quantized_decomposed, torchao,
 * and fake quantisation in floats. */
#include "pt2.h"

#include <math.h>

/* How a scale and a zero point are given. */
enum { AS_NUMBERS = 0, AS_CHANNELS = 1, AS_TENSORS = 2 };

/* A tensor of one element as a scalar of this type. */
static hone_status read_only_element(struct pt_op *op, const char *name, hone_dtype dtype,
                                     struct value **out) {
  TRY(pt_need(op, name, out));
  TRY(make_cast(op->make, *out, dtype, out));
  return make_reshape(op->make, *out, NULL, 0, out);
}

/* One scale and zero point, or one per index of an axis. */
static hone_status read_scale(struct pt_op *op, hone_dtype dtype, struct value **scale,
                              struct value **zero, int64_t *out_axis) {
  double number;
  int64_t offset;
  *out_axis = 0;
  if (op->parameter == AS_TENSORS) {
    TRY(read_only_element(op, "scale", HONE_F32, scale));
    return read_only_element(op, "zero_point", dtype, zero);
  }
  if (op->parameter == AS_NUMBERS) {
    TRY(pt_float(op, "scale", 1, &number));
    TRY(pt_int(op, "zero_point", 0, &offset));
    TRY(make_scalar(op->make, HONE_F32, number, scale));
    return make_scalar(op->make, dtype, (double)offset, zero);
  }
  TRY(pt_need(op, "scales", scale));
  TRY(pt_tensor(op, "zero_points", zero));
  TRY(pt_int(op, "axis", 0, out_axis));
  TRY(make_cast(op->make, *scale, HONE_F32, scale));
  return *zero ? make_cast(op->make, *zero, dtype, zero) : HONE_OK;
}

static hone_status read_stored(struct pt_op *op, const char *name, hone_dtype *out) {
  int64_t dtype;
  TRY(pt_int(op, name, -1, &dtype));
  *out = dtype < 0 ? HONE_UNDEFINED : pt_dtype(dtype);
  if (*out == HONE_I8 || *out == HONE_U8 || *out == HONE_I16 || *out == HONE_I32) return HONE_OK;
  return pt_refuse(op, "to dtype %lld", (long long)dtype);
}

hone_status build_quantize(struct pt_op *op) {
  struct value *x, *scale, *zero, *low, *high, *y;
  int64_t axis, least, most;
  hone_dtype dtype;
  TRY(pt_need(op, "input", &x));
  TRY(read_stored(op, "dtype", &dtype));
  TRY(read_scale(op, dtype, &scale, &zero, &axis));
  TRY(pt_int(op, "quant_min", 0, &least));
  TRY(pt_int(op, "quant_max", 0, &most));
  TRY(make_node(op->make, OP_QuantizeLinear, VALUES(x, scale, zero), ARGS(INT_ARG("axis", axis)),
                &y));
  const bool is_whole = (dtype == HONE_I8 && least == -128 && most == 127) ||
                        (dtype == HONE_U8 && least == 0 && most == 255);
  if (is_whole) return pt_result(op, 0, y);
  TRY(make_scalar(op->make, dtype, (double)least, &low));
  TRY(make_scalar(op->make, dtype, (double)most, &high));
  TRY(make_node(op->make, OP_Clip, VALUES(y, low, high), NULL, &y));
  return pt_result(op, 0, y);
}

hone_status build_dequantize(struct pt_op *op) {
  struct value *x, *scale, *zero, *y;
  int64_t axis;
  TRY(pt_need(op, "input", &x));
  TRY(read_scale(op, x->dtype, &scale, &zero, &axis));
  TRY(make_node(op->make, OP_DequantizeLinear, VALUES(x, scale, zero), ARGS(INT_ARG("axis", axis)),
                &y));
  return pt_result(op, 0, y);
}

/* int8 times int8, in int32. */
hone_status build_integer_product(struct pt_op *op) {
  struct value *x, *w, *y;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "mat2", &w));
  TRY(make_node(op->make, OP_MatMulInteger, VALUES(x, w), NULL, &y));
  return pt_result(op, 0, y);
}

/* A scale or a zero point in floats: one, or (parameter 1) one per index of an axis of x. */
static hone_status read_step(struct pt_op *op, const char *name, struct value *x,
                             struct value **out) {
  int64_t axis, dims[HONE_MAX_RANK];
  TRY(pt_operand(op, name, x, out));
  TRY(make_cast(op->make, *out, HONE_F32, out));
  if (!op->parameter) return make_reshape(op->make, *out, NULL, 0, out);
  TRY(pt_axis(op, "axis", 0, x->shape.rank, &axis));
  for (int d = 0; d < x->shape.rank; d++) dims[d] = d == axis ? x->shape.dims[d] : 1;
  return make_reshape(op->make, *out, dims, (size_t)x->shape.rank, out);
}

/* x rounded to the steps of a low-bit type with a scale, in floats. */
hone_status build_fake_quantize(struct pt_op *op) {
  struct value *x, *scale, *zero, *low, *high, *enabled, *y;
  int64_t least, most;
  struct make *make = op->make;
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "quant_min", 0, &least));
  TRY(pt_int(op, "quant_max", 255, &most));
  TRY(pt_tensor(op, "fake_quant_enabled", &enabled));
  if (x->dtype != HONE_F32) return pt_refuse(op, "of %s", dtype_name(x->dtype));
  if (enabled && (!enabled->constant || make_elements(enabled) != 1))
    return pt_refuse(op, "with fake_quant_enabled or observer_enabled computed at run time");
  if (pt_result_count(op) > 1 && pt_is_read(op, 1))
    return pt_refuse(op, "with a mask that is used");
  if (enabled && !tensor_i64(enabled->constant, 0)) return pt_result(op, 0, x);
  TRY(read_step(op, "scale", x, &scale));
  TRY(read_step(op, "zero_point", x, &zero));
  TRY(make_scalar(make, HONE_F32, (double)least, &low));
  TRY(make_scalar(make, HONE_F32, (double)most, &high));
  TRY(make_node(make, OP_Reciprocal, VALUES(scale), NULL, &y));
  TRY(make_node(make, OP_Mul, VALUES(x, y), NULL, &y));
  TRY(make_node(make, OP_Round, VALUES(y), NULL, &y));
  TRY(make_node(make, OP_Add, VALUES(y, zero), NULL, &y));
  TRY(make_node(make, OP_Clip, VALUES(y, low, high), NULL, &y));
  TRY(make_node(make, OP_Sub, VALUES(y, zero), NULL, &y));
  TRY(make_node(make, OP_Mul, VALUES(y, scale), NULL, &y));
  return pt_result(op, 0, y);
}

/* -- scale and zero point of values computed at run time */

enum rule {
  RULE_WHOLE,
  RULE_EVEN,
  RULE_UNCLIPPED
}; /* all of the range; as far below zero as above; either end */
struct scheme {
  enum rule rule;
  double least, most, eps, middle; /* the zero point, if the rule determines it */
};

/* The smallest and the largest element of x, extended to zero; axes NULL: over all, as scalars. */
static hone_status reach_of(struct pt_op *op, struct value *x, struct value *axes,
                            struct value **low, struct value **high) {
  const struct arg *args = ARGS(INT_ARG("keepdims", axes != NULL));
  struct value *inputs[] = {x, axes}, *nothing;
  const size_t count = axes ? 2 : 1;
  TRY(make_scalar(op->make, HONE_F32, 0, &nothing));
  TRY(make_node(op->make, OP_ReduceMin, inputs, count, args, low));
  TRY(make_node(op->make, OP_ReduceMax, inputs, count, args, high));
  TRY(make_node(op->make, OP_Min, VALUES(*low, nothing), NULL, low));
  return make_node(op->make, OP_Max, VALUES(*high, nothing), NULL, high);
}

static hone_status scale_of(struct pt_op *op, const struct scheme *range, struct value *low,
                            struct value *high, struct value **out) {
  struct value *other;
  double steps = range->most - range->least;
  if (range->rule == RULE_WHOLE) {
    TRY(make_node(op->make, OP_Sub, VALUES(high, low), NULL, out));
  } else if (range->rule == RULE_EVEN) {
    TRY(make_node(op->make, OP_Neg, VALUES(low), NULL, &other));
    TRY(make_node(op->make, OP_Max, VALUES(other, high), NULL, out));
    steps /= 2;
  } else {
    TRY(make_with_scalar(op->make, OP_Div, low, range->least / range->most, &other));
    TRY(make_node(op->make, OP_Max, VALUES(other, high), NULL, out));
    steps = range->most;
  }
  TRY(make_with_scalar(op->make, OP_Div, *out, steps, out));
  return make_with_scalar(op->make, OP_Max, *out, range->eps, out);
}

/* The zero point: least - round(low / scale). */
static hone_status zero_of(struct pt_op *op, const struct scheme *range, struct value *low,
                           struct value *scale, struct value **out) {
  struct value *least, *most, *none;
  if (range->rule != RULE_WHOLE) {
    TRY(make_with_scalar(op->make, OP_Mul, scale, 0, &none));
    return make_with_scalar(op->make, OP_Add, none, range->middle, out);
  }
  TRY(make_scalar(op->make, HONE_F32, range->least, &least));
  TRY(make_scalar(op->make, HONE_F32, range->most, &most));
  TRY(make_node(op->make, OP_Div, VALUES(low, scale), NULL, out));
  TRY(make_node(op->make, OP_Round, VALUES(*out), NULL, out));
  TRY(make_node(op->make, OP_Sub, VALUES(least, *out), NULL, out));
  return make_node(op->make, OP_Clip, VALUES(*out, least, most), NULL, out);
}

static hone_status choose_scale(struct pt_op *op, const struct scheme *range, struct value *x,
                                struct value *axes, struct value **scale, struct value **zero) {
  struct value *low, *high;
  if (x->dtype != HONE_F32) return pt_refuse(op, "of %s", dtype_name(x->dtype));
  if (!(range->least < range->most)) return pt_refuse(op, "without a step");
  TRY(reach_of(op, x, axes, &low, &high));
  TRY(scale_of(op, range, low, high, scale));
  return zero_of(op, range, low, *scale, zero);
}

/* choose_qparams and choose_qparams_symmetric, of a whole tensor. */
hone_status build_choose_scale(struct pt_op *op) {
  static const int64_t one[] = {1};
  struct value *x, *scale, *zero;
  struct scheme range = {.rule = op->parameter ? RULE_EVEN : RULE_WHOLE};
  hone_dtype dtype;
  TRY(pt_need(op, "input", &x));
  TRY(read_stored(op, "dtype", &dtype));
  range.middle = dtype == HONE_U8 ? 128 : 0;
  TRY(pt_float(op, "quant_min", 0, &range.least));
  TRY(pt_float(op, "quant_max", 0, &range.most));
  TRY(pt_float(op, "eps", 0, &range.eps));
  TRY(choose_scale(op, &range, x, NULL, &scale, &zero));
  TRY(make_reshape(op->make, scale, one, 1, &scale));
  TRY(make_reshape(op->make, zero, one, 1, &zero));
  TRY(make_cast(op->make, scale, HONE_F64, &scale));
  TRY(make_cast(op->make, zero, HONE_I64, &zero));
  TRY(pt_result(op, 0, scale));
  return pt_result(op, 1, zero);
}

/* -- torchao: blocks of a tensor, each with a scale */

/* An axis cut into blocks becomes two. */
struct blocks {
  /* shape of the cut tensor; shape of the scales that broadcasts to it */
  int64_t dims[HONE_MAX_RANK], ones[HONE_MAX_RANK];
  int64_t within[HONE_MAX_RANK], kept[HONE_MAX_RANK]; /* axes within a block; sizes of the others */
  /* number of blocks along each axis of the tensor */
  int64_t counts[HONE_MAX_RANK];
  size_t rank, within_count, kept_count;
};

static hone_status push_axis(struct pt_op *op, struct blocks *blocks, int64_t size,
                             bool is_within) {
  if (blocks->rank == HONE_MAX_RANK) return pt_refuse(op, "with more than %d axes", HONE_MAX_RANK);
  if (is_within)
    blocks->within[blocks->within_count++] = (int64_t)blocks->rank;
  else
    blocks->kept[blocks->kept_count++] = size;
  blocks->dims[blocks->rank] = size;
  blocks->ones[blocks->rank++] = is_within ? 1 : size;
  return HONE_OK;
}

static hone_status read_blocks(struct pt_op *op, const struct value *x, struct blocks *out) {
  int64_t sizes[HONE_MAX_RANK];
  size_t count;
  *out = (struct blocks){.rank = 0};
  TRY(pt_ints(op, "block_size", HONE_MAX_RANK, sizes, &count));
  if ((int)count != x->shape.rank)
    return pt_refuse(op, "with blocks of rank %zu for a tensor of rank %d", count, x->shape.rank);
  for (size_t d = 0; d < count; d++) {
    const int64_t size = x->shape.dims[d], block = sizes[d];
    if (block < 1 || size % block)
      return pt_refuse(op, "with blocks of %lld in %lld elements", (long long)block,
                       (long long)size);
    out->counts[d] = size / block;
    if (block == 1 || block == size) {
      TRY(push_axis(op, out, size, block != 1));
    } else {
      TRY(push_axis(op, out, size / block, false));
      TRY(push_axis(op, out, block, true));
    }
  }
  return HONE_OK;
}

/* A scale or zero point as floats that broadcasts to the cut tensor; NULL: none. */
static hone_status read_beside(struct pt_op *op, const char *name, const struct blocks *blocks,
                               struct value **out) {
  TRY(pt_tensor(op, name, out));
  if (!*out) return HONE_OK;
  if (!make_elements(*out)) {
    *out = NULL;
    return HONE_OK;
  }
  TRY(make_cast(op->make, *out, HONE_F32, out));
  return make_reshape(op->make, *out, blocks->ones, blocks->rank, out);
}

static hone_status read_range(struct pt_op *op, hone_dtype dtype, struct scheme *out) {
  const bool is_signed = dtype != HONE_U8;
  const double half = dtype == HONE_I32 ? 2147483648.0 : dtype == HONE_I16 ? 32768.0 : 128.0;
  TRY(pt_float(op, "quant_min", is_signed ? -half : 0, &out->least));
  return pt_float(op, "quant_max", is_signed ? half - 1 : 2 * half - 1, &out->most);
}

hone_status build_quantize_blocks(struct pt_op *op) {
  struct value *x, *scale, *zero, *least, *most, *y;
  struct blocks blocks;
  struct scheme range;
  hone_dtype dtype;
  TRY(pt_need(op, "input", &x));
  TRY(read_stored(op, "output_dtype", &dtype));
  TRY(read_range(op, dtype, &range));
  TRY(read_blocks(op, x, &blocks));
  TRY(read_beside(op, "scale", &blocks, &scale));
  TRY(read_beside(op, "zero_point", &blocks, &zero));
  if (!scale || x->dtype != HONE_F32) return pt_refuse(op, "of %s", dtype_name(x->dtype));
  TRY(make_reshape(op->make, x, blocks.dims, blocks.rank, &y));
  TRY(make_node(op->make, OP_Reciprocal, VALUES(scale), NULL, &scale));
  TRY(make_node(op->make, OP_Mul, VALUES(y, scale), NULL, &y));
  TRY(make_node(op->make, OP_Round, VALUES(y), NULL, &y));
  if (zero) TRY(make_node(op->make, OP_Add, VALUES(y, zero), NULL, &y));
  TRY(make_scalar(op->make, HONE_F32, range.least, &least));
  TRY(make_scalar(op->make, HONE_F32, range.most, &most));
  TRY(make_node(op->make, OP_Clip, VALUES(y, least, most), NULL, &y));
  TRY(make_reshape(op->make, y, x->shape.dims, (size_t)x->shape.rank, &y));
  TRY(make_cast(op->make, y, dtype, &y));
  return pt_result(op, 0, y);
}

hone_status build_dequantize_blocks(struct pt_op *op) {
  struct value *x, *scale, *zero, *y;
  struct blocks blocks;
  int64_t dtype;
  TRY(pt_need(op, "input", &x));
  TRY(pt_int(op, "output_dtype", PT_FLOAT32, &dtype));
  TRY(read_blocks(op, x, &blocks));
  TRY(read_beside(op, "scale", &blocks, &scale));
  TRY(read_beside(op, "zero_point", &blocks, &zero));
  if (!scale || dtype != PT_FLOAT32) return pt_refuse(op, "to dtype %lld", (long long)dtype);
  TRY(make_cast(op->make, x, HONE_F32, &y));
  TRY(make_reshape(op->make, y, blocks.dims, blocks.rank, &y));
  if (zero) TRY(make_node(op->make, OP_Sub, VALUES(y, zero), NULL, &y));
  TRY(make_node(op->make, OP_Mul, VALUES(y, scale), NULL, &y));
  TRY(make_reshape(op->make, y, x->shape.dims, (size_t)x->shape.rank, &y));
  return pt_result(op, 0, y);
}

/* Converts to the requested type of a result of choose_qparams_affine. */
static hone_status of_asked_type(struct pt_op *op, const char *name, hone_dtype otherwise,
                                 struct value **x) {
  int64_t number;
  TRY(pt_int(op, name, -1, &number));
  const hone_dtype dtype = number < 0 ? otherwise : pt_dtype(number);
  if (dtype == HONE_UNDEFINED) return pt_refuse(op, "to dtype %lld", (long long)number);
  return make_cast(op->make, *x, dtype, x);
}

hone_status build_choose_blocks(struct pt_op *op) {
  static const char *const rules[] = {"ASYMMETRIC", "SYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR"};
  struct value *x, *cut, *axes, *scale, *zero;
  const char *rule;
  struct blocks blocks;
  struct scheme range;
  hone_dtype dtype;
  int64_t is_kept;
  size_t k = 0;
  TRY(pt_need(op, "input", &x));
  TRY(read_stored(op, "target_dtype", &dtype));
  TRY(read_range(op, dtype, &range));
  TRY(pt_text(op, "mapping_type", "", &rule));
  TRY(pt_float(op, "eps", 1.1754943508222875e-38, &range.eps));
  TRY(pt_int(op, "keepdim", 0, &is_kept));
  while (k < COUNT(rules) && strcmp(rule, rules[k])) k++;
  if (k == COUNT(rules)) return pt_refuse(op, "by %.40s", rule);
  range.rule = (enum rule)k;
  range.middle = floor((range.most + range.least + 1) / 2);
  TRY(read_blocks(op, x, &blocks));
  if (!blocks.within_count) return pt_refuse(op, "of single elements");
  TRY(make_reshape(op->make, x, blocks.dims, blocks.rank, &cut));
  TRY(make_ints(op->make, blocks.within, blocks.within_count, &axes));
  TRY(choose_scale(op, &range, cut, axes, &scale, &zero));
  const int64_t *dims = is_kept ? blocks.counts : blocks.kept;
  const size_t rank = is_kept ? (size_t)x->shape.rank : blocks.kept_count;
  TRY(make_reshape(op->make, scale, dims, rank, &scale));
  TRY(make_reshape(op->make, zero, dims, rank, &zero));
  TRY(of_asked_type(op, "scale_dtype", HONE_F32, &scale));
  TRY(of_asked_type(op, "zero_point_dtype", range.rule == RULE_WHOLE ? HONE_I32 : HONE_F32, &zero));
  TRY(pt_result(op, 0, scale));
  return pt_result(op, 1, zero);
}
