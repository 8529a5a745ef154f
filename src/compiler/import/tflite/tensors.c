/* tensors: a graph of the file, its tensors and their constants, before any operator is read. */
#include "tflite.h"

enum { GRAPH_TENSORS, GRAPH_INPUTS, GRAPH_OUTPUTS, GRAPH_OPERATORS, GRAPH_NAME };
enum {
  TENSOR_SHAPE,
  TENSOR_TYPE,
  TENSOR_BUFFER,
  TENSOR_NAME,
  TENSOR_QUANTISATION,
  TENSOR_VARIABLE,
  TENSOR_SPARSITY,
  TENSOR_SIGNATURE,
  TENSOR_EXTERNAL = 10
};
enum { QUANT_SCALE = 2, QUANT_ZERO_POINT, QUANT_DETAILS_TYPE, QUANT_DETAILS, QUANT_AXIS };
enum { DETAILS_NONE, DETAILS_BLOCKWISE = 2 };
enum { BLOCKWISE_SCALES, BLOCKWISE_ZERO_POINTS, BLOCKWISE_SIZE };
enum { BUFFER_DATA, BUFFER_OFFSET, BUFFER_SIZE };

/* TensorType: those that are read as an element type of dtypes.def are complex64, a pair of floats,
 * and resource, a handle. */
enum { TYPE_COMPLEX = 8, TYPE_RESOURCE = 13 };

static hone_dtype dtype_of(int64_t type) {
  if (type == TYPE_COMPLEX) return HONE_F32;
  if (type == TYPE_RESOURCE) return HONE_I32;
  for (int i = 1; i < DTYPE_COUNT; i++)
    if (dtype_facts((hone_dtype)i)->tflite == type) return (hone_dtype)i;
  return HONE_UNDEFINED;
}

static hone_status read_shape(struct tf *tf, const struct flat_table *table, const char *name,
                              struct shape *out) {
  struct flat_vector dims, open;
  TRY(flat_list(table, TENSOR_SHAPE, 4, &dims));
  TRY(flat_list(table, TENSOR_SIGNATURE, 4, &open));
  if (dims.count > HONE_MAX_RANK || (int64_t)dims.count > tf->ctx->limits[LIMIT_rank])
    return fail(tf->ctx, HONE_E_LIMIT, place_name(name), "a tensor of %zu dimensions", dims.count);
  out->rank = (int)dims.count;
  for (size_t d = 0; d < dims.count; d++) {
    out->dims[d] = flat_i32_at(&dims, d);
    if (open.count == dims.count && flat_i32_at(&open, d) == -1) out->dims[d] = -1;
    if (out->dims[d] < -1)
      return fail(tf->ctx, HONE_E_SHAPE, place_name(name), "dimension %zu is %lld", d,
                  (long long)out->dims[d]);
  }
  return HONE_OK;
}

/* One scale per `block` elements of the last axis; scales and zero points are tensors. */
static hone_status read_blocks(struct tf *tf, const struct flat_table *quantisation,
                               const char *name, struct tf_quantisation *out) {
  struct flat_table table;
  TRY(flat_child(quantisation, QUANT_DETAILS, &table));
  TRY(flat_number(&table, BLOCKWISE_SCALES, FLAT_I32, 0, &out->block_scales));
  TRY(flat_number(&table, BLOCKWISE_ZERO_POINTS, FLAT_I32, 0, &out->block_zeros));
  TRY(flat_number(&table, BLOCKWISE_SIZE, FLAT_I32, 0, &out->block));
  if (out->block < 1)
    return fail(tf->ctx, HONE_E_SHAPE, place_name(name), "quantised in blocks of %lld",
                (long long)out->block);
  return HONE_OK;
}

static hone_status read_quantisation(struct tf *tf, const struct flat_table *tensor,
                                     const char *name, struct tf_quantisation *out) {
  struct flat_table table;
  struct flat_vector scales, points;
  int64_t details, axis;
  TRY(flat_child(tensor, TENSOR_QUANTISATION, &table));
  TRY(flat_list(&table, QUANT_SCALE, 4, &scales));
  TRY(flat_list(&table, QUANT_ZERO_POINT, 8, &points));
  TRY(flat_number(&table, QUANT_DETAILS_TYPE, FLAT_U8, 0, &details));
  TRY(flat_number(&table, QUANT_AXIS, FLAT_I32, 0, &axis));
  if (details == DETAILS_BLOCKWISE) return read_blocks(tf, &table, name, out);
  if (!scales.count) return HONE_OK;
  if (details != DETAILS_NONE)
    return fail(tf->ctx, HONE_E_UNSUP, place_name(name), "a custom quantisation");
  if (points.count != scales.count && points.count > 1)
    return fail(tf->ctx, HONE_E_SHAPE, place_name(name), "%zu scales and %zu zero points",
                scales.count, points.count);
  if (axis < 0 || axis > HONE_MAX_RANK)
    return fail(tf->ctx, HONE_E_SHAPE, place_name(name), "quantised along axis %lld",
                (long long)axis);
  *out = (struct tf_quantisation){.count = scales.count, .axis = (int)axis};
  TRY(NEW_ARRAY(tf->ctx, tf->arena, out->scales, scales.count));
  TRY(NEW_ARRAY(tf->ctx, tf->arena, out->zero_points, scales.count));
  for (size_t i = 0; i < scales.count; i++) {
    float scale = flat_f32_at(&scales, i);
    if (!(scale >= 0) || scale > 3e38f)
      return fail(tf->ctx, HONE_E_NUM, place_name(name), "scale %zu is %g", i, (double)scale);
    out->scales[i] = (double)scale;
    out->zero_points[i] = points.count ? flat_i64_at(&points, points.count == 1 ? 0 : i) : 0;
    if (out->zero_points[i] < -65536 || out->zero_points[i] > 65536)
      return fail(tf->ctx, HONE_E_NUM, place_name(name), "zero point %zu is %lld", i,
                  (long long)out->zero_points[i]);
  }
  return HONE_OK;
}

/* Bytes of buffer `index`; *out NULL: empty, so the tensor is computed. */
static hone_status buffer_bytes(struct tf *tf, int64_t index, const char *name, const uint8_t **out,
                                size_t *out_size) {
  struct flat_table buffer;
  struct flat_vector data;
  int64_t offset, size;
  *out = NULL;
  if ((uint64_t)index >= tf->buffers.count) /* of an unsigned field */
    return fail(tf->ctx, HONE_E_FORMAT, place_name(name), "buffer %lld of %zu", (long long)index,
                tf->buffers.count);
  TRY(flat_item(&tf->buffers, (size_t)index, &buffer));
  TRY(flat_list(&buffer, BUFFER_DATA, 1, &data));
  TRY(flat_number(&buffer, BUFFER_OFFSET, FLAT_U64, 0, &offset));
  TRY(flat_number(&buffer, BUFFER_SIZE, FLAT_U64, 0, &size));
  if (offset > 1) { /* after the FlatBuffer, in files above 2 GiB */
    if ((uint64_t)offset > tf->flat.size || (uint64_t)size > tf->flat.size - (uint64_t)offset)
      return fail(tf->ctx, HONE_E_FORMAT, place_name(name), "buffer %lld ends outside the file",
                  (long long)index);
    *out = tf->flat.bytes + offset;
    *out_size = (size_t)size;
    return HONE_OK;
  }
  if (data.count) *out = tf->flat.bytes + data.at;
  *out_size = data.count;
  return HONE_OK;
}

static size_t word_at(const uint8_t *bytes, size_t i) {
  return (size_t)little_endian(bytes + 4 * i, 4);
}

/* A buffer of strings: their number, the start of each and the end of the last one, in four bytes
 * each, then their bytes. */
static hone_status read_strings(struct tf *tf, const char *name, const uint8_t *bytes, size_t size,
                                struct tensor *out) {
  const size_t count = tensor_count(out);
  struct string *strings;
  if (size < 4 || word_at(bytes, 0) != count || (size - 4) / 4 < count + 1)
    return fail(tf->ctx, HONE_E_FORMAT, place_name(name),
                "the shape needs %zu strings, the buffer holds another number", count);
  if (size > (size_t)tf->ctx->limits[LIMIT_string_tensor_bytes])
    return fail(tf->ctx, HONE_E_LIMIT, place_name(name),
                "a string tensor above limit string_tensor_bytes (%lld)",
                (long long)tf->ctx->limits[LIMIT_string_tensor_bytes]);
  TRY(NEW_ARRAY(tf->ctx, tf->arena, strings, count));
  for (size_t i = 0; i < count; i++) {
    const size_t start = word_at(bytes, i + 1), end = word_at(bytes, i + 2);
    if (start > end || end > size)
      return fail(tf->ctx, HONE_E_FORMAT, place_name(name), "string %zu ends outside its buffer",
                  i);
    strings[i] = (struct string){(const char *)bytes + start, end - start};
  }
  out->data = strings;
  return HONE_OK;
}

/* sparsity: absent if all elements are stored. */
static hone_status read_constant(struct tf *tf, struct tf_tensor *tensor,
                                 const struct flat_table *sparsity, const uint8_t *bytes,
                                 size_t size) {
  struct tensor *constant;
  int64_t elements;
  TRY(NEW(tf->ctx, tf->arena, constant));
  constant->dtype = tensor->dtype;
  constant->shape = tensor->shape;
  for (int d = 0; d < tensor->shape.rank; d++)
    if (tensor->shape.dims[d] < 0)
      return fail(tf->ctx, HONE_E_SHAPE, place_name(tensor->name),
                  "a constant with a dynamic dimension");
  TRY(shape_check(tf->ctx, place_name(tensor->name), tensor->dtype, &tensor->shape, &elements,
                  &constant->bytes));
  tensor->constant = constant;
  if (tensor->dtype == HONE_STRING) {
    if (!sparsity->flat) return read_strings(tf, tensor->name, bytes, size, constant);
    return fail(tf->ctx, HONE_E_UNSUP, place_name(tensor->name), "sparse strings");
  }
  if (!sparsity->flat && constant->bytes != size)
    return fail(tf->ctx, HONE_E_FORMAT, place_name(tensor->name),
                "the shape needs %zu bytes, the buffer has %zu", constant->bytes, size);
  if (sparsity->flat)
    TRY(tf_sparse_constant(tf, sparsity, tensor->name, bytes, size, constant));
  else
    TRY(payload_use(tf->ctx, tf->arena, bytes, constant));
  return HONE_OK;
}

static hone_status read_tensor_table(struct tf *tf, const struct flat_table *table,
                                     struct tf_tensor *out) {
  int64_t type, buffer, variable, external;
  struct flat_table sparsity;
  const uint8_t *bytes;
  size_t size;
  TRY(flat_text(table, TENSOR_NAME, tf->arena, "a tensor's name", &out->name));
  TRY(flat_number(table, TENSOR_TYPE, FLAT_I8, 0, &type));
  out->dtype = type < 0 ? HONE_UNDEFINED : dtype_of(type);
  if (!out->dtype)
    return fail(tf->ctx, HONE_E_TYPE, place_name(out->name), "element type %lld", (long long)type);
  out->type = (int)type;
  out->is_complex = type == TYPE_COMPLEX;
  TRY(read_shape(tf, table, out->name, &out->shape));
  TRY(read_quantisation(tf, table, out->name, &out->quantisation));
  TRY(flat_number(table, TENSOR_VARIABLE, FLAT_U8, 0, &variable));
  TRY(flat_number(table, TENSOR_EXTERNAL, FLAT_U32, 0, &external));
  TRY(flat_child(table, TENSOR_SPARSITY, &sparsity));
  out->is_variable = variable != 0;
  if (external)
    return fail(tf->ctx, HONE_E_UNSUP, place_name(out->name), "a tensor in an external buffer");
  TRY(flat_number(table, TENSOR_BUFFER, FLAT_U32, 0, &buffer));
  TRY(buffer_bytes(tf, buffer, out->name, &bytes, &size));
  if (bytes && out->is_complex)
    return fail(tf->ctx, HONE_E_UNSUP, place_name(out->name), "a constant of complex numbers");
  return bytes ? read_constant(tf, out, &sparsity, bytes, size) : HONE_OK;
}

static hone_status read_tensors(struct tf *tf, struct tf_graph *graph) {
  struct flat_vector list;
  TRY(flat_list(&graph->table, GRAPH_TENSORS, 4, &list));
  if ((int64_t)list.count > tf->ctx->limits[LIMIT_tensors])
    return fail(tf->ctx, HONE_E_LIMIT, place_none(), "%zu tensors, limit tensors is %lld",
                list.count, (long long)tf->ctx->limits[LIMIT_tensors]);
  graph->tensor_count = list.count;
  TRY(NEW_ARRAY(tf->ctx, tf->arena, graph->tensors, list.count));
  for (size_t i = 0; i < list.count; i++) {
    struct flat_table table;
    TRY(flat_item(&list, i, &table));
    TRY(read_tensor_table(tf, &table, &graph->tensors[i]));
    if (!graph->tensors[i].constant) continue;
    TRY(graph_constant(tf->ctx, tf->root, NULL, graph->tensors[i].constant,
                       &graph->tensors[i].value));
  }
  return HONE_OK;
}

hone_status tf_check_indices(struct tf *tf, const struct flat_vector *list,
                             const struct tf_graph *graph, bool optional, const char *what) {
  for (size_t i = 0; i < list->count; i++) {
    int32_t index = flat_i32_at(list, i);
    if (index >= 0 ? (size_t)index < graph->tensor_count : optional && index == -1) continue;
    return fail(tf->ctx, HONE_E_FORMAT, place_offset(list->at + 4 * i), "%s is tensor %d of %zu",
                what, index, graph->tensor_count);
  }
  return HONE_OK;
}

hone_status tf_graph_open(struct tf *tf, size_t index, struct tf_graph *out) {
  struct tf_graph *graph = &tf->graphs[index];
  if (graph->is_open) {
    *out = *graph;
    TRY(NEW_ARRAY(tf->ctx, tf->arena, out->tensors, graph->tensor_count));
    if (graph->tensor_count)
      memcpy(out->tensors, graph->tensors, graph->tensor_count * sizeof *graph->tensors);
    return HONE_OK;
  }
  TRY(flat_item(&tf->subgraphs, index, &graph->table));
  TRY(flat_list(&graph->table, GRAPH_INPUTS, 4, &graph->inputs));
  TRY(flat_list(&graph->table, GRAPH_OUTPUTS, 4, &graph->outputs));
  TRY(flat_list(&graph->table, GRAPH_OPERATORS, 4, &graph->operators));
  if ((int64_t)graph->operators.count > tf->ctx->limits[LIMIT_nodes])
    return fail(tf->ctx, HONE_E_LIMIT, place_none(), "%zu operators, limit nodes is %lld",
                graph->operators.count, (long long)tf->ctx->limits[LIMIT_nodes]);
  TRY(read_tensors(tf, graph));
  TRY(tf_check_indices(tf, &graph->inputs, graph, false, "a graph input"));
  TRY(tf_check_indices(tf, &graph->outputs, graph, false, "a graph output"));
  graph->is_open = true;
  return tf_graph_open(tf, index, out);
}
