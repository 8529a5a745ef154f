/* tflite: TFLite files to graphs: tables, tensors, buffers, then one operator after the other.
 *
 * Fields are read by their number in the schema (a public file of the TensorFlow Lite project,
 * schema.fbs, version 3). Payload of constants stays in the file where its alignment allows.
 */
#include "tflite.h"

/* Field numbers. */
enum {
  MODEL_VERSION,
  MODEL_OPCODES,
  MODEL_SUBGRAPHS,
  MODEL_BUFFERS = 4,
  MODEL_METADATA = 6,
  MODEL_SIGNATURES
};
enum { OPCODE_OLD_CODE, OPCODE_CUSTOM, OPCODE_CODE = 3 };
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
enum { QUANT_SCALE = 2, QUANT_ZERO_POINT, QUANT_DETAILS_TYPE, QUANT_AXIS = 6 };
enum {
  OPERATOR_OPCODE,
  OPERATOR_INPUTS,
  OPERATOR_OUTPUTS,
  OPERATOR_OPTIONS = 4,
  OPERATOR_CUSTOM,
  OPERATOR_BETWEEN = 8,
  OPERATOR_OPTIONS_2 = 12 /* of operators since 162 */
};
enum { BUFFER_DATA, BUFFER_OFFSET, BUFFER_SIZE };
enum { SCHEMA = 3, CODE_CUSTOM = 32, CODE_OPTIONS_2 = 162 };

/* TensorType in the schema's order; complex64 is a pair of floats. */
static const struct {
  hone_dtype dtype;
  const char *name;
} types[] = {{HONE_F32, "FLOAT32"},  {HONE_F16, "FLOAT16"},  {HONE_I32, "INT32"},
             {HONE_U8, "UINT8"},     {HONE_I64, "INT64"},    {HONE_UNDEFINED, "STRING"},
             {HONE_BOOL, "BOOL"},    {HONE_I16, "INT16"},    {HONE_F32, "COMPLEX64"},
             {HONE_I8, "INT8"},      {HONE_F64, "FLOAT64"},  {HONE_UNDEFINED, "COMPLEX128"},
             {HONE_U64, "UINT64"},   {HONE_I32, "RESOURCE"}, {HONE_UNDEFINED, "VARIANT"},
             {HONE_U32, "UINT32"},   {HONE_U16, "UINT16"},   {HONE_I4, "INT4"},
             {HONE_BF16, "BFLOAT16"}};
enum { TYPE_COMPLEX = 8 };

/* -- tensors ---- */

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
  if (!scales.count) return HONE_OK;
  if (details) return fail(tf->ctx, HONE_E_UNSUP, place_name(name), "a custom quantisation");
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
  if (offset > 1) { /* behind the FlatBuffer, in files above 2 GiB */
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

/* sparsity: absent where all elements are stored. */
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
      return fail(tf->ctx, HONE_E_SHAPE, place_name(tensor->name), "a constant with an open shape");
  TRY(shape_check(tf->ctx, place_name(tensor->name), tensor->dtype, &tensor->shape, &elements,
                  &constant->bytes));
  if (!sparsity->flat && constant->bytes != size)
    return fail(tf->ctx, HONE_E_FORMAT, place_name(tensor->name),
                "the shape needs %zu bytes, the buffer has %zu", constant->bytes, size);
  if (sparsity->flat)
    TRY(tf_sparse_constant(tf, sparsity, tensor->name, bytes, size, constant));
  else
    TRY(payload_use(tf->ctx, tf->arena, bytes, constant));
  tensor->constant = constant;
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
  if (type < 0 || type >= (int64_t)COUNT(types) || !types[type].dtype)
    return fail(tf->ctx, HONE_E_TYPE, place_name(out->name), "element type %lld%s%s",
                (long long)type, type >= 0 && type < (int64_t)COUNT(types) ? ", " : "",
                type >= 0 && type < (int64_t)COUNT(types) ? types[type].name : "");
  out->type = (int)type;
  out->dtype = types[type].dtype;
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

/* Every entry names a tensor; -1 (left out) only where `optional`. */
static hone_status check_indices(struct tf *tf, const struct flat_vector *list,
                                 const struct tf_graph *graph, bool optional, const char *what) {
  for (size_t i = 0; i < list->count; i++) {
    int32_t index = flat_i32_at(list, i);
    if (index >= 0 ? (size_t)index < graph->tensor_count : optional && index == -1) continue;
    return fail(tf->ctx, HONE_E_FORMAT, place_offset(list->at + 4 * i), "%s is tensor %d of %zu",
                what, index, graph->tensor_count);
  }
  return HONE_OK;
}

/* -- the model's inputs and outputs ---- */

static hone_status bind_inputs(struct tf *tf, struct shape *out_shapes) {
  size_t count = tf->graph.inputs.count;
  struct raw_value *raw;
  bool *is_real;
  TRY(NEW_ARRAY(tf->ctx, tf->arena, raw, count));
  TRY(NEW_ARRAY(tf->ctx, tf->arena, is_real, count));
  for (size_t i = 0; i < count; i++) {
    const struct tf_tensor *tensor = &tf->graph.tensors[flat_i32_at(&tf->graph.inputs, i)];
    raw[i] = (struct raw_value){.name = tensor->name,
                                .dtype = tensor->dtype,
                                .has_shape = true,
                                .rank = tensor->shape.rank};
    TRY(NEW_ARRAY(tf->ctx, tf->arena, raw[i].dims, (size_t)tensor->shape.rank));
    for (int d = 0; d < tensor->shape.rank; d++)
      raw[i].dims[d] = (struct raw_dim){tensor->shape.dims[d], ""};
    is_real[i] = true;
  }
  return bind_shapes(tf->ctx, tf->arena, tf->source->options, raw, is_real, count, out_shapes,
                     &tf->make.graph->open_dimensions);
}

static hone_status add_inputs(struct tf *tf, struct names *names) {
  size_t count = tf->graph.inputs.count;
  struct shape *shapes;
  TRY(NEW_ARRAY(tf->ctx, tf->arena, shapes, count));
  TRY(bind_inputs(tf, shapes));
  for (size_t i = 0; i < count; i++) {
    struct tf_tensor *tensor = &tf->graph.tensors[flat_i32_at(&tf->graph.inputs, i)];
    int64_t elements;
    size_t bytes;
    bool fresh;
    if (tensor->constant || tensor->is_complex)
      return fail(tf->ctx, HONE_E_UNSUP, place_name(tensor->name), "an input that is %s",
                  tensor->constant ? "a constant" : "of complex numbers");
    TRY(shape_check(tf->ctx, place_name(tensor->name), tensor->dtype, &shapes[i], &elements,
                    &bytes));
    TRY(graph_input(tf->ctx, tf->make.graph, tensor->name, tensor->dtype, &shapes[i],
                    &tensor->value));
    TRY(names_add(tf->ctx, names, tensor->name, tensor, &fresh));
    if (!fresh)
      return fail(tf->ctx, HONE_E_FORMAT, place_name(tensor->name), "duplicate: two inputs");
  }
  return HONE_OK;
}

/* A name that no other input or output has. */
static hone_status fresh_name(struct tf *tf, struct names *names, const char **name) {
  const char *base = *name;
  bool fresh = false;
  for (size_t k = 1; !fresh; k++) {
    TRY(names_add(tf->ctx, names, *name, tf, &fresh));
    if (!fresh) TRY(arena_printf(tf->ctx, tf->arena, name, "%s:%zu", base, k));
  }
  return HONE_OK;
}

static hone_status add_outputs(struct tf *tf, struct names *names) {
  struct tf_op op = {.tf = tf, .ctx = tf->ctx, .make = &tf->make};
  if (!tf->graph.outputs.count)
    return fail(tf->ctx, HONE_E_FORMAT, place_offset(tf->graph.table.at),
                "a graph without outputs");
  tf->make.index = -1;
  for (size_t i = 0; i < tf->graph.outputs.count; i++) {
    struct tf_tensor *tensor = &tf->graph.tensors[flat_i32_at(&tf->graph.outputs, i)];
    const char *name = tensor->name;
    struct value *value;
    if (!tensor->value && !tensor->image)
      return fail(tf->ctx, HONE_E_FORMAT, place_name(name), "a graph output that nothing defines");
    if (tensor->is_complex)
      return fail(tf->ctx, HONE_E_UNSUP, place_name(name), "an output of complex numbers");
    TRY(tf_value(&op, tensor, &value));
    TRY(fresh_name(tf, names, &name));
    TRY(make_graph_output(&tf->make, value, name));
  }
  return HONE_OK;
}

/* What a run leaves in a variable is an output that may lie where its content was given. */
static hone_status add_states(struct tf *tf, struct names *names) {
  for (size_t i = 0; i < tf->variables.count; i++) {
    const struct tf_variable *variable = tf->variables.at[i];
    const char *name;
    if (!variable->input || variable->now == variable->input) continue;
    TRY(fresh_name(tf, names, &variable->input->name));
    TRY(arena_printf(tf->ctx, tf->arena, &name, "%s:next", variable->input->name));
    TRY(fresh_name(tf, names, &name));
    TRY(make_graph_output(&tf->make, variable->now, name));
    struct alias alias = {tf->root->outputs.count - 1, 0, variable->initial};
    while (tf->root->inputs.at[alias.input] != variable->input) alias.input++;
    VEC_PUSH(tf->ctx, tf->arena, &tf->root->aliases, alias);
  }
  return HONE_OK;
}

/* -- signatures ---- */

enum { SIGNATURE_INPUTS, SIGNATURE_OUTPUTS, SIGNATURE_KEY, SIGNATURE_GRAPH = 4 };
enum { MAP_NAME, MAP_TENSOR };

/* Tensors are called what the signature calls them. */
static hone_status rename_tensors(struct tf *tf, const struct flat_table *signature, unsigned field,
                                  struct tf_graph *graph) {
  struct flat_vector list;
  TRY(flat_list(signature, field, 4, &list));
  for (size_t i = 0; i < list.count; i++) {
    struct flat_table entry;
    const char *name;
    int64_t tensor;
    TRY(flat_item(&list, i, &entry));
    TRY(flat_text(&entry, MAP_NAME, tf->arena, "a name of a signature", &name));
    TRY(flat_number(&entry, MAP_TENSOR, FLAT_U32, 0, &tensor));
    if ((uint64_t)tensor >= graph->tensor_count)
      return fail(tf->ctx, HONE_E_FORMAT, place_name(name), "is tensor %lld of %zu",
                  (long long)tensor, graph->tensor_count);
    if (*name) graph->tensors[tensor].name = name;
  }
  return HONE_OK;
}

static hone_status take_signature(struct tf *tf, const struct flat_table *signature,
                                  size_t *out_index) {
  struct tf_graph ignored;
  int64_t index;
  TRY(flat_number(signature, SIGNATURE_GRAPH, FLAT_U32, 0, &index));
  if ((uint64_t)index >= tf->subgraphs.count)
    return fail(tf->ctx, HONE_E_FORMAT, place_offset(signature->at),
                "a signature of graph %lld of %zu", (long long)index, tf->subgraphs.count);
  *out_index = (size_t)index;
  TRY(tf_graph_open(tf, *out_index, &ignored));
  TRY(rename_tensors(tf, signature, SIGNATURE_INPUTS, &tf->graphs[index]));
  return rename_tensors(tf, signature, SIGNATURE_OUTPUTS, &tf->graphs[index]);
}

/* The graph of the signature that is asked for, else the file's first. */
static hone_status choose_graph(struct tf *tf, size_t *out_index) {
  const char *wanted = tf->source->options->signature;
  struct text known = {0};
  hone_status status = HONE_OK;
  bool found = false;
  *out_index = 0;
  for (size_t i = 0; i < tf->signatures.count && !status && !found; i++) {
    struct flat_table signature;
    const char *key = "";
    status = flat_item(&tf->signatures, i, &signature);
    if (!status)
      status = flat_text(&signature, SIGNATURE_KEY, tf->arena, "a signature's name", &key);
    if (status) break;
    if (i < 16) text_printf(&known, "%s%s", i ? ", " : "", key);
    found = wanted && !strcmp(wanted, key);
    if (found) status = take_signature(tf, &signature, out_index);
  }
  if (!status && !found) status = text_finish(tf->ctx, &known);
  if (!status && !found && wanted)
    status = fail(tf->ctx, HONE_E_USAGE, place_name(wanted), "no such signature; the model has: %s",
                  tf->signatures.count ? known.at : "none");
  if (!status && !wanted && tf->signatures.count > 1)
    warn(tf->ctx, "of %zu signatures (%s) the file's first graph is read; --signature chooses",
         tf->signatures.count, known.at);
  text_deinit(&known);
  return status;
}

/* -- operators ---- */

static hone_status find_kind(struct tf *tf, const struct flat_table *operator, size_t index,
                             const struct tf_kind **out) {
  int64_t number, old, code;
  struct flat_table opcode;
  const char *custom;
  TRY(flat_number(operator, OPERATOR_OPCODE, FLAT_U32, 0, &number));
  if ((uint64_t)number >= tf->opcodes.count)
    return fail(tf->ctx, HONE_E_FORMAT, place_offset(operator->at), "operator code %lld of %zu",
                (long long)number, tf->opcodes.count);
  TRY(flat_item(&tf->opcodes, (size_t)number, &opcode));
  TRY(flat_number(&opcode, OPCODE_OLD_CODE, FLAT_I8, 0, &old));
  TRY(flat_number(&opcode, OPCODE_CODE, FLAT_I32, 0, &code));
  TRY(flat_text(&opcode, OPCODE_CUSTOM, tf->arena, "an operator's name", &custom));
  if (old > code) code = old; /* files from before operator 127 */
  struct place at = {PLACE_NODE, (int64_t)index, ""};
  if (code == CODE_CUSTOM) {
    *out = tf_custom_find(custom);
    return *out ? HONE_OK : fail(tf->ctx, HONE_E_UNSUP, at, "custom operator \"%s\"", custom);
  }
  const char *name, *why;
  *out = tf_kind_find(code < 0 ? -1 : (int)code, &name, &why);
  if (*out) return HONE_OK;
  if (name) return fail(tf->ctx, HONE_E_UNSUP, at, "TFLite operator %s: %s", name, why);
  return fail(tf->ctx, HONE_E_UNSUP, at, "TFLite operator %lld", (long long)code);
}

hone_status tf_operator_open(struct tf *tf, size_t index, struct tf_op *op) {
  struct flat_table table;
  TRY(flat_item(&tf->graph.operators, index, &table));
  TRY(find_kind(tf, &table, index, &op->kind));
  TRY(flat_list(&table, OPERATOR_INPUTS, 4, &op->inputs));
  TRY(flat_list(&table, OPERATOR_OUTPUTS, 4, &op->outputs));
  TRY(flat_child(&table, op->kind->code < CODE_OPTIONS_2 ? OPERATOR_OPTIONS : OPERATOR_OPTIONS_2,
                 &op->options));
  TRY(flat_list(&table, OPERATOR_CUSTOM, 1, &op->custom));
  TRY(flat_list(&table, OPERATOR_BETWEEN, 4, &op->between));
  TRY(check_indices(tf, &op->inputs, &tf->graph, true, "an input"));
  TRY(check_indices(tf, &op->between, &tf->graph, true, "an intermediate"));
  return check_indices(tf, &op->outputs, &tf->graph, false, "an output");
}

/* Operators that know of variables and of tensors that keep their content; that read complex numbers. */
static tf_build_fn *const of_state[] = {
    tf_if,   tf_while, tf_composite, tf_read_variable,      tf_assign_variable,
    tf_lstm, tf_rnn,   tf_svdf,      tf_bidirectional_lstm, tf_bidirectional_rnn};
static tf_build_fn *const of_complex[] = {tf_complex_part, tf_reshape, tf_squeeze, tf_expand_dims};

static bool is_among(const struct tf_kind *kind, tf_build_fn *const *those, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (kind->build == those[i]) return true;
  return false;
}

static hone_status build_operator(struct tf *tf, size_t index) {
  struct tf_op op = {.tf = tf, .ctx = tf->ctx, .make = &tf->make};
  TRY(tf_operator_open(tf, index, &op));
  tf->make.index = (int64_t)index;
  const struct tf_tensor *first = tf_out(&op, 0);
  tf->make.name = first ? first->name : "";
  for (size_t k = 0; k < op.inputs.count; k++) {
    const struct tf_tensor *in = tf_in(&op, k);
    if (in && in->is_complex && !is_among(op.kind, of_complex, COUNT(of_complex)))
      return tf_refuse(&op, "of complex numbers");
    if (!in || in->value || in->image) continue;
    if ((in->resource || in->is_variable) && is_among(op.kind, of_state, COUNT(of_state))) continue;
    return fail(tf->ctx, HONE_E_FORMAT, tf_place(&op), "%s reads \"%s\", which nothing defines",
                op.kind->name, in->name);
  }
  for (size_t k = 0; k < op.outputs.count; k++) {
    const struct tf_tensor *out = tf_out(&op, k);
    if (out->value || out->image)
      return fail(tf->ctx, HONE_E_FORMAT, tf_place(&op), "duplicate: \"%s\" is defined twice",
                  out->name);
  }
  return op.kind->build(&op);
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
  TRY(check_indices(tf, &graph->inputs, graph, false, "a graph input"));
  TRY(check_indices(tf, &graph->outputs, graph, false, "a graph output"));
  graph->is_open = true;
  return tf_graph_open(tf, index, out);
}

static hone_status check_metadata(struct tf *tf, const struct flat_table *model) {
  struct flat_vector list;
  TRY(flat_list(model, MODEL_METADATA, 4, &list));
  for (size_t i = 0; i < list.count; i++) {
    struct flat_table entry;
    int64_t buffer;
    TRY(flat_item(&list, i, &entry));
    TRY(flat_number(&entry, 1, FLAT_U32, 0, &buffer));
    if ((uint64_t)buffer >= tf->buffers.count)
      return fail(tf->ctx, HONE_E_FORMAT, place_offset(entry.at), "metadata in buffer %lld of %zu",
                  (long long)buffer, tf->buffers.count);
  }
  return HONE_OK;
}

static hone_status open_model(struct tf *tf) {
  struct flat_table model;
  int64_t version;
  TRY(flat_open(tf->ctx, tf->source->bytes, tf->source->size, &tf->flat, &model));
  TRY(flat_number(&model, MODEL_VERSION, FLAT_U32, 0, &version));
  if (version != SCHEMA)
    return fail(tf->ctx, HONE_E_UNSUP, place_none(), "TFLite schema version %lld: hone reads %d",
                (long long)version, SCHEMA);
  TRY(flat_list(&model, MODEL_OPCODES, 4, &tf->opcodes));
  TRY(flat_list(&model, MODEL_SUBGRAPHS, 4, &tf->subgraphs));
  TRY(flat_list(&model, MODEL_BUFFERS, 4, &tf->buffers));
  TRY(flat_list(&model, MODEL_SIGNATURES, 4, &tf->signatures));
  if (!tf->subgraphs.count)
    return fail(tf->ctx, HONE_E_FORMAT, place_none(), "a TFLite model without a graph");
  TRY(NEW_ARRAY(tf->ctx, tf->arena, tf->graphs, tf->subgraphs.count));
  return check_metadata(tf, &model);
}

/* Operators of the main graph, and of those that they call as if they stood there. */
static hone_status build_operators(struct tf *tf) {
  for (;;) {
    if (tf->graph.next < tf->graph.operators.count)
      TRY(build_operator(tf, tf->graph.next++));
    else if (tf->frames.count)
      TRY(tf_leave(tf));
    else
      return HONE_OK;
  }
}

hone_status read_tflite(struct ctx *ctx, struct arena *arena, const struct source *source,
                        struct graph **out_graph) {
  struct tf tf = {.ctx = ctx, .arena = arena, .source = source};
  struct names names;
  size_t index = 0;
  tf.make = (struct make){.ctx = ctx, .index = -1, .name = ""};
  names_init(&names, arena);
  TRY(graph_create(ctx, arena, &tf.make.graph));
  tf.root = tf.make.graph;
  TRY(open_model(&tf));
  TRY(choose_graph(&tf, &index));
  TRY(tf_graph_open(&tf, index, &tf.graph));
  TRY(flat_text(&tf.graph.table, GRAPH_NAME, arena, "a graph's name", &tf.root->name));
  TRY(tf_find_assigned(&tf));
  TRY(add_inputs(&tf, &names));
  TRY(build_operators(&tf));
  TRY(add_outputs(&tf, &names));
  TRY(add_states(&tf, &names));
  size_t removed; /* of loops that were written out for nothing */
  if (tf.entered) TRY(graph_sweep(ctx, tf.root, &removed));
  *out_graph = tf.root;
  return HONE_OK;
}
