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
  *out = x_cast(op->b, *out, dtype);
  return x_give(op->b, out, x_reshape(op->b, *out, NULL, 0));
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
    *scale = x_scalar(op->b, HONE_F32, number);
    return x_give(op->b, zero, x_scalar(op->b, dtype, (double)offset));
  }
  TRY(pt_need(op, "scales", scale));
  TRY(pt_tensor(op, "zero_points", zero));
  TRY(pt_int(op, "axis", 0, out_axis));
  BUILD(op->b, *scale = x_cast(op->b, *scale, HONE_F32));
  return *zero ? x_give(op->b, zero, x_cast(op->b, *zero, dtype)) : HONE_OK;
}

static hone_status read_stored(struct pt_op *op, const char *name, hone_dtype *out) {
  int64_t dtype;
  TRY(pt_int(op, name, -1, &dtype));
  *out = dtype < 0 ? HONE_UNDEFINED : pt_dtype(dtype);
  if (*out == HONE_I8 || *out == HONE_U8 || *out == HONE_I16 || *out == HONE_I32) return HONE_OK;
  return pt_refuse(op, "to dtype %lld", (long long)dtype);
}

hone_status build_quantize(struct pt_op *op) {
  struct value *x, *scale, *zero;
  int64_t axis, least, most;
  hone_dtype dtype;
  TRY(pt_need(op, "input", &x));
  TRY(read_stored(op, "dtype", &dtype));
  TRY(read_scale(op, dtype, &scale, &zero, &axis));
  TRY(pt_int(op, "quant_min", 0, &least));
  TRY(pt_int(op, "quant_max", 0, &most));
  struct value *y =
      x_args(op->b, OP_QuantizeLinear, VALUES(x, scale, zero), ARGS(INT_ARG("axis", axis)));
  const bool is_whole = (dtype == HONE_I8 && least == -128 && most == 127) ||
                        (dtype == HONE_U8 && least == 0 && most == 255);
  if (is_whole) return pt_result(op, 0, y);
  return pt_result(op, 0,
                   x_3(op->b, OP_Clip, y, x_scalar(op->b, dtype, (double)least),
                       x_scalar(op->b, dtype, (double)most)));
}

hone_status build_dequantize(struct pt_op *op) {
  struct value *x, *scale, *zero;
  int64_t axis;
  TRY(pt_need(op, "input", &x));
  TRY(read_scale(op, x->dtype, &scale, &zero, &axis));
  return pt_result(
      op, 0,
      x_args(op->b, OP_DequantizeLinear, VALUES(x, scale, zero), ARGS(INT_ARG("axis", axis))));
}

/* int8 times int8, in int32. */
hone_status build_integer_product(struct pt_op *op) {
  struct value *x, *w;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "mat2", &w));
  return pt_result(op, 0, x_2(op->b, OP_MatMulInteger, x, w));
}

/* A scale or a zero point in floats: one, or (parameter 1) one per index of an axis of x. */
static hone_status read_step(struct pt_op *op, const char *name, struct value *x,
                             struct value **out) {
  int64_t axis, dims[HONE_MAX_RANK];
  TRY(pt_operand(op, name, x, out));
  *out = x_cast(op->b, *out, HONE_F32);
  if (!op->parameter) return x_give(op->b, out, x_reshape(op->b, *out, NULL, 0));
  TRY(pt_axis(op, "axis", 0, x->shape.rank, &axis));
  for (int d = 0; d < x->shape.rank; d++) dims[d] = d == axis ? x->shape.dims[d] : 1;
  return x_give(op->b, out, x_reshape(op->b, *out, dims, x->shape.rank));
}

/* x rounded to the steps of a low-bit type with a scale, in floats. */
hone_status build_fake_quantize(struct pt_op *op) {
  struct value *x, *scale, *zero, *enabled;
  int64_t least, most;
  struct graph_builder *b = op->b;
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
  struct value *low = x_scalar(b, HONE_F32, (double)least);
  struct value *high = x_scalar(b, HONE_F32, (double)most);
  struct value *y =
      x_2(b, OP_Add, x_1(b, OP_Round, x_2(b, OP_Mul, x, x_1(b, OP_Reciprocal, scale))), zero);
  return pt_result(op, 0,
                   x_2(b, OP_Mul, x_2(b, OP_Sub, x_3(b, OP_Clip, y, low, high), zero), scale));
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
  const struct attribute *args = ARGS(INT_ARG("keepdims", axes != NULL));
  struct value *inputs[] = {x, axes}, *nothing;
  const size_t count = axes ? 2 : 1;
  nothing = x_scalar(op->b, HONE_F32, 0);
  *low = x_args(op->b, OP_ReduceMin, inputs, count, args);
  *high = x_args(op->b, OP_ReduceMax, inputs, count, args);
  *low = x_2(op->b, OP_Min, *low, nothing);
  return x_give(op->b, high, x_2(op->b, OP_Max, *high, nothing));
}

static struct value *scale_of(struct pt_op *op, const struct scheme *range, struct value *low,
                              struct value *high, struct value *out) {
  double steps = range->most - range->least;
  if (range->rule == RULE_WHOLE) {
    out = x_2(op->b, OP_Sub, high, low);
  } else if (range->rule == RULE_EVEN) {
    out = x_2(op->b, OP_Max, x_1(op->b, OP_Neg, low), high);
    steps /= 2;
  } else {
    out = x_2(op->b, OP_Max, x_by(op->b, OP_Div, low, range->least / range->most), high);
    steps = range->most;
  }
  out = x_by(op->b, OP_Div, out, steps);
  return x_by(op->b, OP_Max, out, range->eps);
}

/* The zero point: least - round(low / scale). */
static struct value *zero_of(struct pt_op *op, const struct scheme *range, struct value *low,
                             struct value *scale) {
  if (range->rule != RULE_WHOLE)
    return x_by(op->b, OP_Add, x_by(op->b, OP_Mul, scale, 0), range->middle);
  struct value *least = x_scalar(op->b, HONE_F32, range->least);
  struct value *most = x_scalar(op->b, HONE_F32, range->most);
  struct value *out =
      x_2(op->b, OP_Sub, least, x_1(op->b, OP_Round, x_2(op->b, OP_Div, low, scale)));
  return x_3(op->b, OP_Clip, out, least, most);
}

static hone_status choose_scale(struct pt_op *op, const struct scheme *range, struct value *x,
                                struct value *axes, struct value **scale, struct value **zero) {
  struct value *low, *high;
  if (x->dtype != HONE_F32) return pt_refuse(op, "of %s", dtype_name(x->dtype));
  if (!(range->least < range->most)) return pt_refuse(op, "without a step");
  TRY(reach_of(op, x, axes, &low, &high));
  BUILD(op->b, *scale = scale_of(op, range, low, high, *scale));
  return x_give(op->b, zero, zero_of(op, range, low, *scale));
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
  scale = x_reshape(op->b, scale, one, 1);
  zero = x_reshape(op->b, zero, one, 1);
  scale = x_cast(op->b, scale, HONE_F64);
  zero = x_cast(op->b, zero, HONE_I64);
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
  *out = x_cast(op->b, *out, HONE_F32);
  return x_give(op->b, out, x_reshape(op->b, *out, blocks->ones, (int)blocks->rank));
}

static hone_status read_range(struct pt_op *op, hone_dtype dtype, struct scheme *out) {
  const bool is_signed = dtype != HONE_U8;
  const double half = dtype == HONE_I32 ? 2147483648.0 : dtype == HONE_I16 ? 32768.0 : 128.0;
  TRY(pt_float(op, "quant_min", is_signed ? -half : 0, &out->least));
  return pt_float(op, "quant_max", is_signed ? half - 1 : 2 * half - 1, &out->most);
}

hone_status build_quantize_blocks(struct pt_op *op) {
  struct value *x, *scale, *zero;
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
  struct value *y = x_reshape(op->b, x, blocks.dims, (int)blocks.rank);
  y = x_1(op->b, OP_Round, x_2(op->b, OP_Mul, y, x_1(op->b, OP_Reciprocal, scale)));
  if (zero) y = x_2(op->b, OP_Add, y, zero);
  y = x_3(op->b, OP_Clip, y, x_scalar(op->b, HONE_F32, range.least),
          x_scalar(op->b, HONE_F32, range.most));
  return pt_result(op, 0, x_cast(op->b, x_reshape(op->b, y, x->shape.dims, x->shape.rank), dtype));
}

hone_status build_dequantize_blocks(struct pt_op *op) {
  struct value *x, *scale, *zero;
  struct blocks blocks;
  int64_t dtype;
  TRY(pt_need(op, "input", &x));
  TRY(pt_int(op, "output_dtype", PT_FLOAT32, &dtype));
  TRY(read_blocks(op, x, &blocks));
  TRY(read_beside(op, "scale", &blocks, &scale));
  TRY(read_beside(op, "zero_point", &blocks, &zero));
  if (!scale || dtype != PT_FLOAT32) return pt_refuse(op, "to dtype %lld", (long long)dtype);
  struct value *y = x_reshape(op->b, x_cast(op->b, x, HONE_F32), blocks.dims, (int)blocks.rank);
  if (zero) y = x_2(op->b, OP_Sub, y, zero);
  return pt_result(op, 0,
                   x_reshape(op->b, x_2(op->b, OP_Mul, y, scale), x->shape.dims, x->shape.rank));
}

/* Converts to the requested type of a result of choose_qparams_affine. */
static hone_status of_asked_type(struct pt_op *op, const char *name, hone_dtype otherwise,
                                 struct value **x) {
  int64_t number;
  TRY(pt_int(op, name, -1, &number));
  const hone_dtype dtype = number < 0 ? otherwise : pt_dtype(number);
  if (dtype == HONE_UNDEFINED) return pt_refuse(op, "to dtype %lld", (long long)number);
  return x_give(op->b, x, x_cast(op->b, *x, dtype));
}

hone_status build_choose_blocks(struct pt_op *op) {
  static const char *const rules[] = {"ASYMMETRIC", "SYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR"};
  struct value *x, *axes, *scale, *zero;
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
  struct value *cut = x_reshape(op->b, x, blocks.dims, (int)blocks.rank);
  BUILD(op->b, axes = x_list(op->b, blocks.within, blocks.within_count));
  TRY(choose_scale(op, &range, cut, axes, &scale, &zero));
  const int64_t *dims = is_kept ? blocks.counts : blocks.kept;
  const size_t rank = is_kept ? (size_t)x->shape.rank : blocks.kept_count;
  BUILD(op->b, scale = x_reshape(op->b, scale, dims, (int)rank));
  BUILD(op->b, zero = x_reshape(op->b, zero, dims, (int)rank));
  TRY(of_asked_type(op, "scale_dtype", HONE_F32, &scale));
  TRY(of_asked_type(op, "zero_point_dtype", range.rule == RULE_WHOLE ? HONE_I32 : HONE_F32, &zero));
  TRY(pt_result(op, 0, scale));
  return pt_result(op, 1, zero);
}
