/* layout: a tensor's value in the file's order and in channels-first order, made when first needed;
 * constant operands and options. */
#include "tflite.h"

static const int64_t to_image[] = {0, 3, 1, 2}, from_image[] = {0, 2, 3, 1};

hone_status tf_value(struct tf_op *op, struct tf_tensor *tensor, struct value **out) {
  if (!tensor->value && !tensor->image)
    return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "%s reads \"%s\", which has no value",
                op->kind ? op->kind->name : "the graph", tensor->name);
  if (!tensor->value) BUILD(op->b, tensor->value = x_transpose(op->b, tensor->image, from_image));
  *out = tensor->value;
  return HONE_OK;
}

hone_status tf_image(struct tf_op *op, struct tf_tensor *tensor, struct value **out) {
  if (!tensor->image && tensor->value->shape.rank != 4)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s of \"%s\", which has %d dimensions",
                op->kind->name, tensor->name, tensor->value->shape.rank);
  if (!tensor->image) BUILD(op->b, tensor->image = x_transpose(op->b, tensor->value, to_image));
  *out = tensor->image;
  return HONE_OK;
}

/* Adds dimensions to a constant or scalar of lower rank, so that it broadcasts against an image. */
static struct value *raise_rank(struct tf_op *op, struct value *x) {
  struct shape shape = x->shape;
  int64_t dims[4] = {1, 1, 1, 1};
  for (int d = 0; d < shape.rank; d++) dims[4 - shape.rank + d] = shape.dims[d];
  int64_t turned[4] = {dims[0], dims[3], dims[1], dims[2]};
  int large = 0;
  for (int d = 0; d < 4; d++) large += dims[d] != 1;
  if (large <= 1) return x_reshape(op->b, x, turned, 4);
  struct value *out = x_reshape(op->b, x, dims, 4);
  return x_transpose(op->b, out, to_image);
}

hone_status tf_read(struct tf_op *op, struct tf_tensor *tensor, bool image, struct value **out) {
  if (!image) return tf_value(op, tensor, out);
  int rank = tf_rank_of(tensor);
  if (rank == 4) return tf_image(op, tensor, out);
  if (rank) return x_give(op->b, out, raise_rank(op, tensor->value));
  *out = tensor->value;
  return HONE_OK;
}

bool tf_follows_images(const struct tf_op *op, size_t count) {
  bool found = false;
  for (size_t k = 0; k < count; k++) {
    const struct tf_tensor *tensor = tf_in(op, k);
    if (!tensor) return false;
    int rank = tf_rank_of(tensor);
    if (rank > 4) return false;
    found = found || (tensor->image && !tensor->value);
  }
  return found;
}

/* A result may have another size than the file declares, because files say little about dynamic
 * dimensions; but its memory must not be much larger than the file's. */
static hone_status check_growth(struct tf_op *op, const struct tf_tensor *tensor,
                                const struct value *value) {
  enum { MOST_GROWN = 256 << 20 };
  int64_t said = 1;
  for (int d = 0; d < tensor->shape.rank; d++)
    if (tensor->shape.dims[d] < 0 || !checked_mul(said, tensor->shape.dims[d], &said))
      return HONE_OK;
  const int64_t made = make_elements(value);
  if (op->tf->is_resized || value_is_open(value) || made <= said ||
      made / 8 * dtype_bits(value->dtype) <= MOST_GROWN)
    return HONE_OK;
  return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s makes %lld elements, the file declares %lld",
              op->kind->name, (long long)made, (long long)said);
}

hone_status tf_write(struct tf_op *op, size_t k, bool image, struct value *value) {
  TRY(op->b->status);
  struct tf_tensor *tensor = tf_out(op, k);
  if (!tensor)
    return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "%s has no output %zu", op->kind->name, k);
  if (value->dtype != tensor->dtype)
    return fail(op->ctx, HONE_E_TYPE, tf_place(op), "%s makes %s, the file declares %s",
                op->kind->name, dtype_name(value->dtype), dtype_name(tensor->dtype));
  if (tensor->is_complex != (tensor->imaginary != NULL))
    return fail(op->ctx, HONE_E_TYPE, tf_place(op), "%s makes %s numbers, the file declares %s",
                op->kind->name, tensor->imaginary ? "complex" : "real",
                tensor->imaginary ? "real" : "complex");
  TRY(check_growth(op, tensor, value));
  if (image)
    tensor->image = value;
  else
    tensor->value = value;
  return HONE_OK;
}

hone_status tf_ints(struct tf_op *op, size_t k, size_t most, int64_t *out, size_t *out_count) {
  struct tf_tensor *tensor = tf_in(op, k);
  struct value *value;
  if (!tensor)
    return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "%s needs input %zu", op->kind->name, k);
  TRY(tf_value(op, tensor, &value));
  if (!value->constant) return tf_refuse(op, "with input %zu that is not known before the run", k);
  if (!tensor_read_ints(value->constant, most, out, out_count))
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op),
                "%s: input %zu is not a list of at most %zu integers", op->kind->name, k, most);
  return HONE_OK;
}

hone_status tf_one_int(struct tf_op *op, size_t k, int64_t *out) {
  size_t count;
  TRY(tf_ints(op, k, 1, out, &count));
  if (count == 1) return HONE_OK;
  return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: input %zu is an empty list", op->kind->name,
              k);
}

hone_status tf_option(const struct tf_op *op, unsigned field, enum flat_type type,
                      int64_t otherwise, int64_t *out) {
  return flat_number(&op->options, field, type, otherwise, out);
}

hone_status tf_count(const struct tf_op *op, unsigned field, size_t count) {
  int64_t wanted;
  TRY(tf_option(op, field, FLAT_I32, 0, &wanted));
  if (wanted >= 0 && (uint64_t)wanted == count) return HONE_OK;
  return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "%s declares %lld operands or results of %zu",
              op->kind->name, (long long)wanted, count);
}

hone_status tf_axis(const struct tf_op *op, int64_t axis, int rank, int64_t *out) {
  if (axis < -rank || axis >= rank)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: axis %lld of rank %d", op->kind->name,
                (long long)axis, rank);
  *out = axis < 0 ? axis + rank : axis;
  return HONE_OK;
}

/* ActivationFunctionType */
enum { NONE, RELU, RELU_N1_TO_1, RELU6, TANH };

hone_status tf_activate(struct tf_op *op, unsigned field, struct value *x, struct value **out) {
  int64_t kind;
  struct value *low;
  TRY(tf_option(op, field, FLAT_I8, NONE, &kind));
  *out = x;
  switch (kind) {
    case NONE:
      return HONE_OK;
    case RELU:
      return x_give(op->b, out, x_1(op->b, OP_Relu, x));
    case TANH:
      return x_give(op->b, out, x_1(op->b, OP_Tanh, x));
    case RELU_N1_TO_1:
    case RELU6:
      low = x_scalar(op->b, x->dtype, kind == RELU6 ? 0 : -1);
      return x_give(op->b, out,
                    x_3(op->b, OP_Clip, x, low, x_scalar(op->b, x->dtype, kind == RELU6 ? 6 : 1)));
    default:
      return tf_refuse(op, "with fused activation %lld", (long long)kind);
  }
}

hone_status tf_read_i64(struct tf_op *op, size_t k, struct value **out) {
  TRY(tf_value(op, tf_in(op, k), out));
  return x_give(op->b, out, x_cast(op->b, *out, HONE_I64));
}
