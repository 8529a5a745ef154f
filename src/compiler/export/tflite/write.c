/* write: the FlatBuffer of a TFLite file: Model, OperatorCode, SubGraph, Tensor, Buffer,
 * Operator. */
#include "tflite.h"

enum { MODEL_VERSION, MODEL_CODES, MODEL_GRAPHS, MODEL_DESCRIPTION, MODEL_BUFFERS };
enum { CODE_OLD, CODE_VERSION = 2, CODE_CODE };
enum { GRAPH_TENSORS, GRAPH_INPUTS, GRAPH_OUTPUTS, GRAPH_OPERATORS };
enum { TENSOR_SHAPE, TENSOR_TYPE, TENSOR_BUFFER, TENSOR_NAME, TENSOR_QUANTISATION };
enum { QUANT_SCALE = 2, QUANT_ZERO_POINT, QUANT_AXIS = 6 };
enum { OPERATOR_CODE, OPERATOR_INPUTS, OPERATOR_OUTPUTS, OPERATOR_OPTIONS_TYPE, OPERATOR_OPTIONS };
enum { SCHEMA = 3, LARGEST_OLD_CODE = 127, DATA_ALIGNMENT = 16 };
/* Offsets have 32 bits, and readers treat them as signed. */
#define MOST_BYTES ((size_t)INT32_MAX)

/* The union BuiltinOptions, and the operator version for the options written here. */
static const struct code_row {
  enum lite_code code;
  int options, version;
} code_rows[] = {
    {LITE_ADD, 11, 1},
    {LITE_AVERAGE_POOL_2D, 5, 1},
    {LITE_CONCATENATION, 10, 1},
    {LITE_CONV_2D, 1, 1},
    {LITE_DEPTHWISE_CONV_2D, 2, 1},
    {LITE_DEPTH_TO_SPACE, 94, 1},
    {LITE_FULLY_CONNECTED, 8, 1},
    {LITE_MAX_POOL_2D, 5, 1},
    {LITE_MUL, 21, 1},
    {LITE_RESIZE_BILINEAR, 15, 1},
    {LITE_SOFTMAX, 9, 1},
    {LITE_SPACE_TO_DEPTH, 19, 1},
    {LITE_GATHER, 23, 1},
    {LITE_MEAN, 27, 1},
    {LITE_SUB, 28, 1},
    {LITE_DIV, 29, 1},
    {LITE_STRIDED_SLICE, 32, 1},
    {LITE_CAST, 37, 1},
    {LITE_ARG_MAX, 40, 1},
    {LITE_TRANSPOSE_CONV, 49, 3},
    {LITE_SUM, 27, 1},
    {LITE_ARG_MIN, 57, 1},
    {LITE_REDUCE_PROD, 27, 1},
    {LITE_REDUCE_MAX, 27, 1},
    {LITE_REDUCE_MIN, 27, 1},
    {LITE_RESIZE_NEAREST_NEIGHBOR, 74, 1},
    {LITE_LEAKY_RELU, 75, 1},
    {LITE_MIRROR_PAD, 77, 1},
    {LITE_BATCH_MATMUL, 101, 1},
    {LITE_CUMSUM, 102, 1},
    {LITE_GELU, 116, 1},
    {LITE_ONE_HOT, 61, 1},
    {LITE_QUANTIZE, 0, 1},
    {LITE_BROADCAST_TO, 0, 2}, /* LiteRT has no version 1 */
};

static const struct code_row *row_of(enum lite_code code) {
  static const struct code_row other = {.version = 1};
  for (size_t i = 0; i < COUNT(code_rows); i++)
    if (code_rows[i].code == code) return &code_rows[i];
  return &other;
}

static hone_status type_of(struct lite *l, const struct lite_tensor *tensor, int *out) {
  *out = dtype_facts(tensor->dtype)->tflite;
  if (*out >= 0) return HONE_OK;
  return fail(l->ctx, HONE_E_UNSUP, place_name(tensor->name), "TFLite has no type for %s",
              dtype_name(tensor->dtype));
}

struct codes {
  enum lite_code *at;
  size_t count;
};

static size_t code_place(const struct codes *codes, enum lite_code code) {
  size_t i = 0;
  while (i < codes->count && codes->at[i] != code) i++;
  return i;
}

static void put_codes(struct strbuf *out, const struct codes *codes, size_t place) {
  const size_t list = flat_put_offsets(out, codes->count);
  flat_point(out, place, list);
  for (size_t i = 0; i < codes->count; i++) {
    const int code = (int)codes->at[i];
    const struct flat_field fields[] = {
        {CODE_OLD, FLAT_BYTE, code > LARGEST_OLD_CODE ? LARGEST_OLD_CODE : code},
        {CODE_VERSION, FLAT_WORD, row_of(codes->at[i])->version},
        {CODE_CODE, FLAT_WORD, code}};
    flat_point(out, list + 4 + 4 * i, flat_put_table(out, fields, COUNT(fields), NULL));
  }
}

static void put_quantisation(struct strbuf *out, const struct lite_scale *q, size_t place) {
  size_t places[3];
  const struct flat_field fields[] = {{QUANT_SCALE, FLAT_OFFSET, 0},
                                      {QUANT_ZERO_POINT, FLAT_OFFSET, 0},
                                      {QUANT_AXIS, FLAT_WORD, q->axis}};
  flat_point(out, place, flat_put_table(out, fields, COUNT(fields), places));
  flat_point(out, places[0], flat_put_vector(out, q->scales, q->count, 4, 4));
  flat_point(out, places[1], flat_put_vector(out, q->zero_points, q->count, 8, 8));
}

/* buffer: 0 for computed tensors. */
static hone_status put_tensor(struct lite *l, struct strbuf *out, const struct lite_tensor *tensor,
                              size_t buffer, size_t place) {
  size_t places[5];
  int32_t dims[HONE_MAX_RANK];
  int type = 0;
  TRY(type_of(l, tensor, &type));
  for (int d = 0; d < tensor->shape.rank; d++) {
    if (tensor->shape.dims[d] > INT32_MAX)
      return fail(l->ctx, HONE_E_LIMIT, place_name(tensor->name), "a dimension of %lld",
                  (long long)tensor->shape.dims[d]);
    dims[d] = (int32_t)tensor->shape.dims[d];
  }
  const struct flat_field fields[] = {{TENSOR_SHAPE, FLAT_OFFSET, 0},
                                      {TENSOR_TYPE, FLAT_BYTE, type},
                                      {TENSOR_BUFFER, FLAT_WORD, (double)buffer},
                                      {TENSOR_NAME, FLAT_OFFSET, 0},
                                      {TENSOR_QUANTISATION, FLAT_OFFSET, 0}};
  const size_t count = COUNT(fields) - (tensor->quantisation.count ? 0 : 1);
  flat_point(out, place, flat_put_table(out, fields, count, places));
  flat_point(out, places[0], flat_put_vector(out, dims, (size_t)tensor->shape.rank, 4, 4));
  flat_point(out, places[3], flat_put_string(out, tensor->name));
  if (tensor->quantisation.count) put_quantisation(out, &tensor->quantisation, places[4]);
  return HONE_OK;
}

static void put_operator(struct strbuf *out, const struct lite_operator *op,
                         const struct codes *codes, size_t place) {
  size_t places[5];
  const int options = row_of(op->code)->options;
  const struct flat_field fields[] = {
      {OPERATOR_CODE, FLAT_WORD, (double)code_place(codes, op->code)},
      {OPERATOR_INPUTS, FLAT_OFFSET, 0},
      {OPERATOR_OUTPUTS, FLAT_OFFSET, 0},
      {OPERATOR_OPTIONS_TYPE, FLAT_BYTE, options},
      {OPERATOR_OPTIONS, FLAT_OFFSET, 0}};
  flat_point(out, place, flat_put_table(out, fields, options ? 5 : 3, places));
  flat_point(out, places[1], flat_put_vector(out, op->inputs, op->input_count, 4, 4));
  flat_point(out, places[2], flat_put_vector(out, op->outputs, op->output_count, 4, 4));
  if (options) flat_point(out, places[4], flat_put_table(out, op->options, op->option_count, NULL));
}

static void put_numbers(struct strbuf *out, const int32_t *numbers, size_t count, size_t place) {
  flat_point(out, place, flat_put_vector(out, numbers, count, 4, 4));
}

static hone_status put_subgraph(struct lite *l, struct strbuf *out, const struct codes *codes,
                                size_t place) {
  const struct graph *graph = l->graph;
  int32_t *ends;
  size_t places[4], buffers = 0;
  const struct flat_field fields[] = {{GRAPH_TENSORS, FLAT_OFFSET, 0},
                                      {GRAPH_INPUTS, FLAT_OFFSET, 0},
                                      {GRAPH_OUTPUTS, FLAT_OFFSET, 0},
                                      {GRAPH_OPERATORS, FLAT_OFFSET, 0}};
  const size_t list = flat_put_offsets(out, 1);
  flat_point(out, place, list);
  flat_point(out, list + 4, flat_put_table(out, fields, COUNT(fields), places));
  const size_t tensors = flat_put_offsets(out, l->tensors.count);
  flat_point(out, places[0], tensors);
  for (size_t i = 0; i < l->tensors.count; i++) {
    const struct lite_tensor *tensor = &l->tensors.at[i];
    TRY(put_tensor(l, out, tensor, tensor->constant ? ++buffers : 0, tensors + 4 + 4 * i));
  }
  TRY(NEW_ARRAY(l->ctx, l->arena, ends, graph->inputs.count + graph->outputs.count + 1));
  for (size_t i = 0; i < graph->inputs.count; i++) ends[i] = (int32_t)i; /* inputs are made first */
  put_numbers(out, ends, graph->inputs.count, places[1]);
  for (size_t i = 0; i < graph->outputs.count; i++) ends[i] = l->outputs[i];
  put_numbers(out, ends, graph->outputs.count, places[2]);
  const size_t operators = flat_put_offsets(out, l->operators.count);
  flat_point(out, places[3], operators);
  for (size_t i = 0; i < l->operators.count; i++)
    put_operator(out, &l->operators.at[i], codes, operators + 4 + 4 * i);
  return HONE_OK;
}

/* The first buffer is empty by convention. Files above 2 GiB are rejected before data is copied. */
static hone_status put_buffers(struct lite *l, struct strbuf *out, size_t place) {
  size_t count = 1, bytes = out->length, entry;
  for (size_t i = 0; i < l->tensors.count; i++) {
    const struct tensor *constant = l->tensors.at[i].constant;
    if (!constant) continue;
    count++;
    if (!checked_add(bytes, constant->bytes + 64, &bytes) || bytes > MOST_BYTES)
      return fail(l->ctx, HONE_E_LIMIT, place_none(),
                  "weights of more than 2 GiB exceed a FlatBuffer's offsets");
  }
  const size_t list = flat_put_offsets(out, count);
  flat_point(out, place, list);
  flat_point(out, entry = list + 4, flat_put_table(out, NULL, 0, NULL));
  for (size_t i = 0; i < l->tensors.count; i++) {
    const struct tensor *constant = l->tensors.at[i].constant;
    const struct flat_field data = {0, FLAT_OFFSET, 0};
    size_t inside;
    if (!constant) continue;
    flat_point(out, entry += 4, flat_put_table(out, &data, 1, &inside));
    flat_point(out, inside,
               flat_put_vector(out, constant->data, constant->bytes, 1, DATA_ALIGNMENT));
  }
  return HONE_OK;
}

hone_status lite_write(struct lite *l, struct strbuf *out) {
  struct codes codes = {0};
  size_t places[5];
  const struct flat_field fields[] = {{MODEL_VERSION, FLAT_WORD, SCHEMA},
                                      {MODEL_CODES, FLAT_OFFSET, 0},
                                      {MODEL_GRAPHS, FLAT_OFFSET, 0},
                                      {MODEL_DESCRIPTION, FLAT_OFFSET, 0},
                                      {MODEL_BUFFERS, FLAT_OFFSET, 0}};
  TRY(NEW_ARRAY(l->ctx, l->arena, codes.at, l->operators.count + 1));
  for (size_t i = 0; i < l->operators.count; i++)
    if (code_place(&codes, l->operators.at[i].code) == codes.count)
      codes.at[codes.count++] = l->operators.at[i].code;
  strbuf_append(out, "\0\0\0\0TFL3", 8);
  flat_point(out, 0, flat_put_table(out, fields, COUNT(fields), places));
  flat_point(out, places[3], flat_put_string(out, "hone"));
  put_codes(out, &codes, places[1]);
  TRY(put_subgraph(l, out, &codes, places[2]));
  TRY(put_buffers(l, out, places[4]));
  return strbuf_finish(l->ctx, out);
}
