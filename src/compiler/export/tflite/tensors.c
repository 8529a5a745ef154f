/* tensors: tensors and operators of the TFLite file being written, and the two layouts of a
 * value. */
#include "tflite.h"

static const int64_t to_image[] = {0, 2, 3, 1}, from_image[] = {0, 3, 1, 2};

static void remember(struct lite *l, hone_status status) {
  if (!l->status) l->status = status;
}

void lite_refuse(struct lite *l, const struct node *node, const char *why) {
  if (l->status) return;
  remember(l, fail(l->ctx, HONE_E_UNSUP, node_place(node), "TFLite export does not support %s %s",
                   node->op->name, why));
}

/* -- tensors and operators */

static hone_status add_tensor(struct lite *l, const struct lite_tensor *tensor) {
  VEC_PUSH(l->ctx, l->arena, &l->tensors, *tensor);
  return HONE_OK;
}

/* After a failure every tensor has number 0. */
static int32_t new_tensor(struct lite *l, const struct lite_tensor *tensor) {
  if (!l->status) remember(l, add_tensor(l, tensor));
  return l->status ? 0 : (int32_t)l->tensors.count - 1;
}

int32_t lite_tensor(struct lite *l, hone_dtype dtype, const struct shape *shape) {
  return new_tensor(
      l, &(struct lite_tensor){.name = "", .dtype = dtype, .shape = *shape, .producer = -1});
}

int32_t lite_constant(struct lite *l, const struct tensor *tensor) {
  return new_tensor(l, &(struct lite_tensor){.name = "",
                                             .dtype = tensor->dtype,
                                             .shape = tensor->shape,
                                             .constant = tensor,
                                             .producer = -1});
}

static struct tensor *new_constant(struct lite *l, hone_dtype dtype, const struct shape *shape) {
  struct tensor *tensor = NULL;
  if (!l->status) remember(l, tensor_create(l->ctx, l->arena, dtype, shape, &tensor));
  return l->status ? NULL : tensor;
}

int32_t lite_ints(struct lite *l, const int64_t *ints, size_t count) {
  const struct shape shape = {1, {(int64_t)count}};
  struct tensor *tensor = new_constant(l, HONE_I32, &shape);
  for (size_t i = 0; tensor && i < count; i++) tensor_set_i64(tensor, i, ints[i]);
  return tensor ? lite_constant(l, tensor) : 0;
}

int32_t lite_number(struct lite *l, hone_dtype dtype, double value) {
  struct tensor *tensor = new_constant(l, dtype, &(struct shape){0});
  if (!tensor) return 0;
  if (dtype_is_float(dtype))
    tensor_set_f64(tensor, 0, value);
  else
    tensor_set_i64(tensor, 0, (int64_t)value);
  return lite_constant(l, tensor);
}

/* -- scales */

const struct node *lite_dequantiser(const struct value *value) {
  const struct node *node = value ? value->producer : NULL;
  return node && is_op(node, OP_DequantizeLinear) ? node : NULL;
}

const struct value *lite_operand_value(const struct lite *l, const struct node *node, size_t k) {
  const struct value *value = node_input(node, k);
  const struct node *from = l->quantiser ? lite_dequantiser(value) : NULL;
  return from ? from->inputs[0] : value;
}

bool lite_is_constant(const struct value *value) {
  const struct node *from = lite_dequantiser(value);
  return value && (value->constant || (from && from->inputs[0]->constant));
}

bool lite_same_scale(const struct lite_scale *a, const struct lite_scale *b) {
  bool is_same = a->count == b->count && a->axis == b->axis;
  for (size_t i = 0; is_same && i < a->count; i++)
    is_same = a->scales[i] == b->scales[i] && a->zero_points[i] == b->zero_points[i];
  return is_same;
}

/* Output scales that the specification fixes, independent of the operand's. */
static const struct {
  enum lite_code code;
  float scale;
  int64_t zero_point;
} fixed_scales[] = {{LITE_LOGISTIC, 1.0F / 256, -128},
                    {LITE_SOFTMAX, 1.0F / 256, -128},
                    {LITE_TANH, 1.0F / 128, 0}};

static void give_scale(struct lite *l, const struct lite_operator *op) {
  static const enum lite_code moves[] = {
      LITE_RESHAPE,    LITE_TRANSPOSE,       LITE_STRIDED_SLICE,          LITE_PAD,
      LITE_PADV2,      LITE_MAX_POOL_2D,     LITE_CONCATENATION,          LITE_GATHER,
      LITE_TILE,       LITE_BROADCAST_TO,    LITE_DEPTH_TO_SPACE,         LITE_SPACE_TO_DEPTH,
      LITE_MIRROR_PAD, LITE_AVERAGE_POOL_2D, LITE_RESIZE_NEAREST_NEIGHBOR};
  struct lite_tensor *y = &l->tensors.at[op->outputs[0]];
  if (!dtype_is_byte(y->dtype) || y->quantisation.count) return;
  for (size_t i = 0; i < COUNT(moves); i++) {
    if (moves[i] != op->code) continue;
    y->quantisation = l->tensors.at[op->inputs[0]].quantisation;
    if (op->code == LITE_PADV2) l->tensors.at[op->inputs[2]].quantisation = y->quantisation;
    return;
  }
  if (!l->quantiser) return;
  y->quantisation = l->scale;
  for (size_t i = 0; i < COUNT(fixed_scales); i++)
    if (fixed_scales[i].code == op->code)
      y->quantisation =
          (struct lite_scale){1, &fixed_scales[i].scale, &fixed_scales[i].zero_point, 0};
}

static hone_status add_operator(struct lite *l, const struct lite_operator *like,
                                const int32_t *inputs, const int32_t *outputs) {
  struct lite_operator op = *like;
  TRY(NEW_ARRAY(l->ctx, l->arena, op.inputs, op.input_count + 1));
  TRY(NEW_ARRAY(l->ctx, l->arena, op.outputs, op.output_count + 1));
  memcpy(op.inputs, inputs, op.input_count * sizeof *inputs);
  memcpy(op.outputs, outputs, op.output_count * sizeof *outputs);
  for (size_t k = 0; k < op.output_count; k++)
    l->tensors.at[outputs[k]].producer = (int64_t)l->operators.count;
  give_scale(l, &op);
  VEC_PUSH(l->ctx, l->arena, &l->operators, op);
  return HONE_OK;
}

void lite_put_into(struct lite *l, enum lite_code code, const int32_t *inputs, size_t input_count,
                   const struct flat_field *options, size_t option_count, const int32_t *outputs,
                   size_t output_count) {
  struct lite_operator op = {.code = code,
                             .input_count = input_count,
                             .output_count = output_count,
                             .option_count = option_count};
  if (option_count) memcpy(op.options, options, option_count * sizeof *options);
  if (!l->status) remember(l, add_operator(l, &op, inputs, outputs));
}

int32_t lite_put(struct lite *l, enum lite_code code, const int32_t *inputs, size_t input_count,
                 const struct flat_field *options, size_t option_count, hone_dtype dtype,
                 const struct shape *shape) {
  const int32_t out = lite_tensor(l, dtype, shape);
  lite_put_into(l, code, inputs, input_count, options, option_count, &out, 1);
  return out;
}

static const struct lite_tensor *tensor_at(const struct lite *l, int32_t tensor) {
  static const struct lite_tensor none = {.name = "", .producer = -1};
  return tensor >= 0 && (size_t)tensor < l->tensors.count ? &l->tensors.at[tensor] : &none;
}

const struct shape *lite_shape(const struct lite *l, int32_t tensor) {
  return &tensor_at(l, tensor)->shape;
}
hone_dtype lite_dtype(const struct lite *l, int32_t tensor) { return tensor_at(l, tensor)->dtype; }

int32_t lite_unary(struct lite *l, enum lite_code code, int32_t x) {
  return lite_put(l, code, LITE_INPUTS(x), NULL, 0, lite_dtype(l, x), lite_shape(l, x));
}

int32_t lite_binary(struct lite *l, enum lite_code code, int32_t x, int32_t y) {
  const bool is_test = code == LITE_LESS || code == LITE_LESS_EQUAL || code == LITE_GREATER ||
                       code == LITE_GREATER_EQUAL || code == LITE_EQUAL || code == LITE_NOT_EQUAL;
  struct shape shape = {0};
  if (!l->status && !shape_broadcast(lite_shape(l, x), lite_shape(l, y), &shape))
    remember(l, fail(l->ctx, HONE_E_INTERNAL, place_none(), "with operands that do not broadcast"));
  return lite_put(l, code, LITE_INPUTS(x, y), NULL, 0, is_test ? HONE_BOOL : lite_dtype(l, x),
                  &shape);
}

/* The same numbers in another layout: with the same scale. */
static int32_t like_constant(struct lite *l, int32_t x, int32_t y) {
  if (!l->status && l->tensors.at[x].quantisation.count == 1)
    l->tensors.at[y].quantisation = l->tensors.at[x].quantisation;
  return y;
}

int32_t lite_reshape(struct lite *l, int32_t x, const struct shape *shape) {
  if (shape_equal(lite_shape(l, x), shape)) return x;
  const struct lite_tensor *from = tensor_at(l, x);
  if (from->constant) { /* the same payload */
    struct tensor *tensor = NULL;
    if (!l->status) remember(l, NEW(l->ctx, l->arena, tensor));
    if (l->status) return 0;
    *tensor = *from->constant;
    tensor->shape = *shape;
    return like_constant(l, x, lite_constant(l, tensor));
  }
  const int32_t sizes = lite_ints(l, shape->dims, (size_t)shape->rank);
  return lite_put(l, LITE_RESHAPE, LITE_INPUTS(x, sizes), NULL, 0, lite_dtype(l, x), shape);
}

static bool moves_something(const struct shape *shape, const int64_t *order) {
  int64_t last = -1;
  for (int d = 0; d < shape->rank; d++) {
    if (shape->dims[order[d]] == 1) continue;
    if (order[d] < last) return true;
    last = order[d];
  }
  return false;
}

static int32_t transposed_constant(struct lite *l, const struct tensor *from,
                                   const struct shape *shape, const int64_t *order) {
  const size_t size = dtype_bits(from->dtype) / 8;
  int64_t strides[HONE_MAX_RANK], at[HONE_MAX_RANK] = {0};
  struct tensor *to = new_constant(l, from->dtype, shape);
  if (!to) return 0;
  shape_strides(&from->shape, strides);
  for (size_t i = 0; i < tensor_count(to); i++) {
    int64_t offset = 0;
    for (int d = 0; d < shape->rank; d++) offset += at[d] * strides[order[d]];
    memcpy((char *)(uintptr_t)to->data + i * size, (const char *)from->data + (size_t)offset * size,
           size);
    for (int d = shape->rank; d-- > 0;) {
      if (++at[d] < shape->dims[d]) break;
      at[d] = 0;
    }
  }
  return lite_constant(l, to);
}

int32_t lite_transpose(struct lite *l, int32_t x, const int64_t *order) {
  const struct lite_tensor *from = tensor_at(l, x);
  struct shape shape = {.rank = from->shape.rank};
  for (int d = 0; d < shape.rank; d++) shape.dims[d] = from->shape.dims[order[d]];
  if (!moves_something(&from->shape, order)) return lite_reshape(l, x, &shape);
  if (from->constant && dtype_bits(from->dtype) >= 8)
    return like_constant(l, x, transposed_constant(l, from->constant, &shape, order));
  const int32_t perm = lite_ints(l, order, (size_t)shape.rank);
  return lite_put(l, LITE_TRANSPOSE, LITE_INPUTS(x, perm), NULL, 0, lite_dtype(l, x), &shape);
}

/* TensorType, for CAST's options, which are not read; the tensors have their own. */
int32_t lite_cast(struct lite *l, int32_t x, hone_dtype dtype) {
  if (lite_dtype(l, x) == dtype) return x;
  return lite_put(l, LITE_CAST, LITE_INPUTS(x), NULL, 0, dtype, lite_shape(l, x));
}

int32_t lite_reduce(struct lite *l, enum lite_code code, int32_t x, const bool axes[HONE_MAX_RANK],
                    bool keeps) {
  int64_t list[HONE_MAX_RANK];
  struct shape shape = {0};
  const struct shape *from = lite_shape(l, x);
  size_t count = 0;
  for (int d = 0; d < from->rank; d++) {
    if (axes[d]) list[count++] = d;
    if (!axes[d] || keeps) shape.dims[shape.rank++] = axes[d] ? 1 : from->dims[d];
  }
  if (!count) return x;
  const int32_t where = lite_ints(l, list, count);
  return lite_put(l, code, LITE_INPUTS(x, where), LITE_OPTIONS({0, FLAT_BYTE, keeps}),
                  lite_dtype(l, x), &shape);
}

/* -- the two layouts */

bool lite_can_be_image(const struct value *value) {
  return value->has_shape && (value->shape.rank == 3 || value->shape.rank == 4);
}

int lite_image_axis(int rank, int axis) {
  static const int of_four[] = {0, 3, 1, 2}, of_three[] = {0, 3, 2};
  return rank == 4 ? of_four[axis] : of_three[axis];
}

static struct shape four_of(const struct shape *shape) {
  if (shape->rank == 4) return *shape;
  return (struct shape){4, {shape->dims[0], shape->dims[1], 1, shape->dims[2]}};
}

struct shape lite_image_shape(const struct shape *shape) {
  const struct shape four = four_of(shape);
  return (struct shape){4, {four.dims[0], four.dims[2], four.dims[3], four.dims[1]}};
}

int32_t lite_plain(struct lite *l, const struct value *value) {
  struct lite_value *v = &l->values[value->index];
  if (!v->plain && value->constant) v->plain = lite_constant(l, value->constant) + 1;
  if (!v->plain && v->image) {
    const int32_t turned = lite_transpose(l, v->image - 1, from_image);
    v->plain = lite_reshape(l, turned, &value->shape) + 1;
  }
  if (!v->plain)
    remember(l, fail(l->ctx, HONE_E_INTERNAL, place_name(value->name), "was not written"));
  return v->plain - 1;
}

int32_t lite_image(struct lite *l, const struct value *value) {
  struct lite_value *v = &l->values[value->index];
  if (!v->image) {
    const struct shape four = four_of(&value->shape);
    v->image = lite_transpose(l, lite_reshape(l, lite_plain(l, value), &four), to_image) + 1;
  }
  return v->image - 1;
}

static const struct value *input_value(struct lite *l, const struct node *node, size_t k) {
  const struct value *value = lite_operand_value(l, node, k);
  if (!value || !value->has_shape) lite_refuse(l, node, "with an omitted input");
  return l->status ? NULL : value;
}

int32_t lite_input(struct lite *l, const struct node *node, size_t k) {
  const struct value *value = input_value(l, node, k);
  return value ? lite_plain(l, value) : 0;
}

int32_t lite_input_image(struct lite *l, const struct node *node, size_t k) {
  const struct value *value = input_value(l, node, k);
  if (value && !lite_can_be_image(value))
    lite_refuse(l, node, "of a value that has neither 3 nor 4 dimensions");
  return value && !l->status ? lite_image(l, value) : 0;
}

bool lite_follows_images(const struct lite *l, const struct node *node, size_t operands) {
  const struct value *result = node->outputs[0];
  bool found = false;
  if (!lite_can_be_image(result)) return false;
  for (size_t k = 0; k < operands; k++) {
    const struct value *value = lite_operand_value(l, node, k);
    if (!value || !value->has_shape) return false;
    const struct lite_value *v = &l->values[value->index];
    /* smaller ranks get leading ones in graph order, so that layout must exist */
    if (value->shape.rank != result->shape.rank && !v->plain && !value->constant) return false;
    found = found || (v->image && !v->plain && value->shape.rank == result->shape.rank);
  }
  return found;
}

int32_t lite_operand(struct lite *l, const struct node *node, size_t k, bool is_image) {
  const struct value *value = input_value(l, node, k);
  const int rank = node->outputs[0]->shape.rank;
  struct shape shape = {.rank = rank};
  if (!value) return 0;
  if (!is_image || !value->shape.rank) return lite_plain(l, value);
  if (value->shape.rank == rank) return lite_image(l, value);
  for (int d = 0; d < rank; d++) {
    const int from = d - (rank - value->shape.rank);
    shape.dims[d] = from < 0 ? 1 : value->shape.dims[from];
  }
  const struct shape four = four_of(&shape);
  return lite_transpose(l, lite_reshape(l, lite_plain(l, value), &four), to_image);
}

/* The result at the requested scale; operators without their own scale already have it. */
static int32_t rescaled(struct lite *l, int32_t tensor) {
  if (l->status) return 0;
  const struct lite_scale *has = &l->tensors.at[tensor].quantisation;
  if (has->count && !lite_same_scale(has, &l->scale))
    return lite_put(l, LITE_QUANTIZE, LITE_INPUTS(tensor), NULL, 0, HONE_I8, lite_shape(l, tensor));
  l->tensors.at[tensor].quantisation = l->scale;
  return tensor;
}

void lite_bind(struct lite *l, const struct node *node, size_t output, int32_t tensor,
               bool is_image) {
  if (output >= node->output_count || !node->outputs[output] || l->status) return;
  const struct value *value = l->quantiser ? l->quantiser->outputs[0] : node->outputs[output];
  struct lite_value *v = &l->values[value->index];
  if (l->quantiser) tensor = rescaled(l, tensor);
  *(is_image ? &v->image : &v->plain) = tensor + 1;
}
