/* tflite: TFLite files to graphs: the model's tables, its signatures, then one operator after the
 * other.
 *
 * Fields are read by their number in the schema (a public file of the TensorFlow Lite project,
 * schema.fbs, version 3). Payload of constants stays in the file if its alignment allows. */
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
enum {
  OPERATOR_OPCODE,
  OPERATOR_INPUTS,
  OPERATOR_OUTPUTS,
  OPERATOR_OPTIONS = 4,
  OPERATOR_CUSTOM,
  OPERATOR_BETWEEN = 8,
  OPERATOR_OPTIONS_2 = 12 /* of operators since 162 */
};
enum { GRAPH_NAME = 4 }; /* its other fields: tensors.c */
enum { SCHEMA = 3, CODE_CUSTOM = 32, CODE_OPTIONS_2 = 162 };

/* -- the model's inputs and outputs */

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
      raw[i].dims[d] = (struct raw_dim){.value = tensor->shape.dims[d], .param = ""};
    is_real[i] = true;
  }
  return bind_shapes(tf->ctx, tf->arena, tf->source->options, raw, is_real, count, out_shapes,
                     tf->b.graph);
}

/* A single scale and zero point for the whole state. */
static void state_scale(const struct tf_tensor *tensor, struct value *value) {
  if (!tf_is_quantised(tensor) || tensor->quantisation.count != 1) return;
  value->scale = tensor->quantisation.scales[0];
  value->zero_point = tensor->quantisation.zero_points[0];
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
    tf->is_resized |= !shape_equal(&tensor->shape, &shapes[i]);
    TRY(graph_input(tf->ctx, tf->b.graph, tensor->name, tensor->dtype, &shapes[i], &tensor->value));
    state_scale(tensor, tensor->value);
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
  struct tf_op op = {.tf = tf, .ctx = tf->ctx, .b = &tf->b};
  if (!tf->graph.outputs.count)
    return fail(tf->ctx, HONE_E_FORMAT, place_offset(tf->graph.table.at),
                "a graph without outputs");
  tf->b.index = -1;
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
    TRY(make_graph_output(&tf->b, value, name));
    state_scale(tensor, tf->b.graph->outputs.at[tf->b.graph->outputs.count - 1]);
  }
  return HONE_OK;
}

/* The content of a variable after a run is an output that may share memory with the input. */
static hone_status add_states(struct tf *tf, struct names *names) {
  for (size_t i = 0; i < tf->variables.count; i++) {
    const struct tf_variable *variable = tf->variables.at[i];
    const char *name;
    if (!variable->input || variable->now == variable->input) continue;
    TRY(fresh_name(tf, names, &variable->input->name));
    TRY(arena_printf(tf->ctx, tf->arena, &name, "%s:next", variable->input->name));
    TRY(fresh_name(tf, names, &name));
    TRY(make_graph_output(&tf->b, variable->now, name));
    struct alias alias = {tf->root->outputs.count - 1, 0, variable->initial};
    while (tf->root->inputs.at[alias.input] != variable->input) alias.input++;
    VEC_PUSH(tf->ctx, tf->arena, &tf->root->aliases, alias);
  }
  return HONE_OK;
}

/* -- signatures */

enum { SIGNATURE_INPUTS, SIGNATURE_OUTPUTS, SIGNATURE_KEY, SIGNATURE_GRAPH = 4 };
enum { MAP_NAME, MAP_TENSOR };

/* Renames tensors to the names in the signature. */
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

/* The graph of the requested signature, else the file's first. */
static hone_status choose_graph(struct tf *tf, size_t *out_index) {
  const char *wanted = tf->source->options->signature;
  struct strbuf known = {0};
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
    if (i < 16) strbuf_printf(&known, "%s%s", i ? ", " : "", key);
    found = wanted && !strcmp(wanted, key);
    if (found) status = take_signature(tf, &signature, out_index);
  }
  if (!status && !found) status = strbuf_finish(tf->ctx, &known);
  if (!status && !found && wanted)
    status = fail(tf->ctx, HONE_E_USAGE, place_name(wanted), "no such signature; the model has: %s",
                  tf->signatures.count ? known.at : "none");
  if (!status && !wanted && tf->signatures.count > 1)
    warn(tf->ctx, "of %zu signatures (%s) the file's first graph is read; --signature chooses",
         tf->signatures.count, known.at);
  strbuf_deinit(&known);
  return status;
}

/* -- operators */

static hone_status refuse_custom(struct tf *tf, struct place at, const char *name) {
  return advise(
      tf->ctx, fail(tf->ctx, HONE_E_UNSUP, at, "custom operator \"%s\"", name), "%s",
      strncmp(name, "Flex", 4)
          ? "the file does not contain its code: build the model from TFLite's own operators; "
            "docs/reference/tflite.md lists the supported ones"
          : "only TensorFlow itself can run it: convert the model again with "
            "supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]");
}

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
  if (old > code) code = old; /* files older than operator 127 */
  struct place at = place_of_node((int64_t)index, "", NULL);
  if (code == CODE_CUSTOM) {
    at.operator= custom;
    *out = tf_custom_find(custom);
    return *out ? HONE_OK : refuse_custom(tf, at, custom);
  }
  const char *name, *why;
  *out = tf_kind_find(code < 0 ? -1 : (int)code, &name, &why);
  if (*out) return HONE_OK;
  at.operator= name;
  const hone_status status =
      name ? fail(tf->ctx, HONE_E_UNSUP, at, "TFLite operator %s is not supported: %s", name, why)
           : fail(tf->ctx, HONE_E_UNSUP, at, "TFLite operator %lld is not supported",
                  (long long)code);
  return advise(tf->ctx, status,
                "docs/reference/tflite.md lists the supported operators; the engine litert of "
                "'hone bench' may run it");
}

static hone_status open_operator(struct tf *tf, size_t index, struct tf_op *op) {
  struct flat_table table;
  TRY(flat_item(&tf->graph.operators, index, &table));
  TRY(find_kind(tf, &table, index, &op->kind));
  TRY(flat_list(&table, OPERATOR_INPUTS, 4, &op->inputs));
  TRY(flat_list(&table, OPERATOR_OUTPUTS, 4, &op->outputs));
  TRY(flat_child(&table, op->kind->code < CODE_OPTIONS_2 ? OPERATOR_OPTIONS : OPERATOR_OPTIONS_2,
                 &op->options));
  TRY(flat_list(&table, OPERATOR_CUSTOM, 1, &op->custom));
  TRY(flat_list(&table, OPERATOR_BETWEEN, 4, &op->between));
  TRY(tf_check_indices(tf, &op->inputs, &tf->graph, true, "an input"));
  TRY(tf_check_indices(tf, &op->between, &tf->graph, true, "an intermediate"));
  return tf_check_indices(tf, &op->outputs, &tf->graph, false, "an output");
}

/* Operators that use variables and stateful tensors; operators that read complex numbers. */
static tf_build_fn *const of_state[] = {tf_if,
                                        tf_while,
                                        tf_composite,
                                        tf_read_variable,
                                        tf_assign_variable,
                                        tf_lstm,
                                        tf_rnn,
                                        tf_svdf,
                                        tf_bidirectional_lstm,
                                        tf_bidirectional_rnn,
                                        tf_hashtable_find,
                                        tf_hashtable_import,
                                        tf_hashtable_size};
/* Operators that do not need the size of an operand as a number, so that it may be dynamic (WHERE,
 * IF). */
static tf_build_fn *const of_open[] = {tf_unary,
                                       tf_binary,
                                       tf_square,
                                       tf_rsqrt,
                                       tf_not_equal,
                                       tf_floor_div,
                                       tf_floor_mod,
                                       tf_squared_difference,
                                       tf_clip,
                                       tf_leaky,
                                       tf_gelu,
                                       tf_hard_swish,
                                       tf_prelu,
                                       tf_cast,
                                       tf_select,
                                       tf_add_n,
                                       tf_softmax,
                                       tf_fake_quant,
                                       tf_bitcast,
                                       tf_right_shift,
                                       tf_atan2,
                                       tf_quantize,
                                       tf_dequantize,
                                       tf_reshape,
                                       tf_squeeze,
                                       tf_expand_dims,
                                       tf_transpose,
                                       tf_concat,
                                       tf_slice,
                                       tf_strided_slice,
                                       tf_shape,
                                       tf_rank,
                                       tf_tile,
                                       tf_fill,
                                       tf_range_op,
                                       tf_gather,
                                       tf_gather_nd,
                                       tf_scatter_nd,
                                       tf_reduce,
                                       tf_reduce_bool,
                                       tf_arg,
                                       tf_cumsum,
                                       tf_l2_normalise,
                                       tf_where,
                                       tf_if,
                                       tf_composite,
                                       tf_embedding_lookup};
/* Operators that use weights in float, and so accept block-quantised ones. */
static tf_build_fn *const of_blocks[] = {
    tf_fully_connected,  tf_conv,   tf_depthwise, tf_transpose_conv,
    tf_embedding_lookup, tf_matmul, tf_dequantize};
static tf_build_fn *const of_complex[] = {tf_complex_part, tf_reshape, tf_squeeze, tf_expand_dims};

static bool is_among(const struct tf_kind *kind, tf_build_fn *const *those, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (kind->build == those[i]) return true;
  return false;
}

static bool is_open(const struct tf_tensor *tensor) {
  return tensor && ((tensor->value && value_is_open(tensor->value)) ||
                    (tensor->image && value_is_open(tensor->image)));
}

/* An empty list of sizes, the shape of a scalar, has an empty buffer, like computed tensors. */
static hone_status define_nothing(struct tf *tf, struct tf_tensor *tensor) {
  struct tensor *constant;
  const bool is_list = tensor->shape.rank == 1 && !tensor->shape.dims[0] &&
                       (tensor->dtype == HONE_I32 || tensor->dtype == HONE_I64);
  if (!is_list || tensor->is_variable || tensor->resource) return HONE_OK;
  TRY(tensor_create(tf->ctx, tf->arena, tensor->dtype, &tensor->shape, &constant));
  tensor->constant = constant;
  return graph_constant(tf->ctx, tf->root, NULL, constant, &tensor->value);
}

static hone_status build_operator(struct tf *tf, size_t index) {
  struct tf_op op = {.tf = tf, .ctx = tf->ctx, .b = &tf->b};
  TRY(open_operator(tf, index, &op));
  tf->b.index = (int64_t)index;
  tf->b.written_as = op.kind->name;
  const struct tf_tensor *first = tf_out(&op, 0);
  tf->b.name = first ? first->name : "";
  for (size_t k = 0; k < op.inputs.count; k++) {
    struct tf_tensor *in = tf_in(&op, k);
    if (in && in->is_complex && !is_among(op.kind, of_complex, COUNT(of_complex)))
      return tf_refuse(&op, "of complex numbers");
    if (in && in->dtype == HONE_STRING && !tf_takes_text(op.kind))
      return tf_refuse(&op, "of strings");
    if (in && in->quantisation.block && !is_among(op.kind, of_blocks, COUNT(of_blocks)))
      return tf_refuse(&op, "of block-quantised numbers");
    if (is_open(in) && !is_among(op.kind, of_open, COUNT(of_open)))
      return tf_refuse(&op, "of an operand with a dynamic dimension");
    if (!in || in->value || in->image) continue;
    TRY(define_nothing(tf, in));
    if (in->value) continue;
    if ((in->resource || in->is_variable) && is_among(op.kind, of_state, COUNT(of_state))) continue;
    return fail(tf->ctx, HONE_E_FORMAT, tf_place(&op), "%s reads \"%s\", which nothing defines",
                op.kind->name, in->name);
  }
  for (size_t k = 0; k < op.outputs.count; k++) {
    const struct tf_tensor *out = tf_out(&op, k);
    if (out->value || out->image)
      return fail(tf->ctx, HONE_E_FORMAT, tf_place(&op), "duplicate: \"%s\" is defined twice",
                  out->name);
    if (out->dtype == HONE_STRING && !tf_takes_text(op.kind)) return tf_refuse(&op, "of strings");
  }
  return op.kind->build(&op);
}

enum { CODE_IF = 118, CODE_VAR_HANDLE = 142, CODE_ASSIGN_VARIABLE = 144 };
struct branch {
  int64_t index;
  size_t count;
  const char **handles; /* of its inputs */
};
struct search { /* graphs to search: the branches of IF, each once */
  VEC(struct branch) left;
  bool *is_seen;
};

static hone_status add_branches(struct tf_op *op, struct search *search) {
  struct tf *tf = op->tf;
  struct branch branch = {.count = op->inputs.count ? op->inputs.count - 1 : 0};
  TRY(NEW_ARRAY(op->ctx, tf->arena, branch.handles, branch.count + 1));
  for (size_t k = 0; k < branch.count; k++)
    branch.handles[k] = tf_in(op, k + 1) ? tf_in(op, k + 1)->resource : NULL;
  for (unsigned i = 0; i < 2; i++) {
    TRY(tf_option(op, i, FLAT_I32, 0, &branch.index));
    if (branch.index < 0 || (uint64_t)branch.index >= tf->subgraphs.count) continue;
    if (search->is_seen[branch.index]) continue;
    search->is_seen[branch.index] = true;
    VEC_PUSH(op->ctx, tf->arena, &search->left, branch);
  }
  return HONE_OK;
}

/* Handles that a graph creates, or receives, and assigns through. */
static hone_status search_graph(struct tf *tf, struct search *search) {
  for (size_t i = 0; i < tf->graph.operators.count; i++) {
    struct tf_op op = {.tf = tf, .ctx = tf->ctx, .b = &tf->b};
    struct tf_variable *variable;
    TRY(open_operator(tf, i, &op));
    if (op.kind->code == CODE_VAR_HANDLE) TRY(tf_var_handle(&op));
    if (op.kind->code == CODE_IF) TRY(add_branches(&op, search));
    const struct tf_tensor *handle = op.kind->code == CODE_ASSIGN_VARIABLE ? tf_in(&op, 0) : NULL;
    if (!handle || !handle->resource) continue;
    TRY(tf_variable_find(tf, handle->resource, &variable));
    variable->is_assigned = true;
  }
  return HONE_OK;
}

static hone_status search_branch(struct tf *tf, const struct branch *branch,
                                 struct search *search) {
  TRY(tf_graph_open(tf, (size_t)branch->index, &tf->graph));
  tf->flat.tables_left += OPENED_PER_OPERATOR * tf->graph.operators.count;
  for (size_t k = 0; k < branch->count && k < tf->graph.inputs.count; k++)
    tf->graph.tensors[flat_i32_at(&tf->graph.inputs, k)].resource = branch->handles[k];
  return search_graph(tf, search);
}

/* A variable that is assigned elsewhere is rejected at that operator. */
static hone_status find_assigned(struct tf *tf) {
  const struct tf_graph own = tf->graph;
  struct search search = {.is_seen = NULL};
  TRY(NEW_ARRAY(tf->ctx, tf->arena, search.is_seen, tf->subgraphs.count));
  TRY(search_graph(tf, &search));
  for (size_t i = 0; i < search.left.count; i++) {
    const struct branch branch = search.left.at[i];
    TRY(search_branch(tf, &branch, &search));
  }
  tf->graph = own;
  return HONE_OK;
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

/* Operators of the main graph, and of inlined graphs. */
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
  tf.b = (struct graph_builder){.ctx = ctx, .index = -1, .name = ""};
  names_init(&names, arena);
  TRY(graph_create(ctx, arena, &tf.b.graph));
  tf.root = tf.b.graph;
  TRY(open_model(&tf));
  TRY(choose_graph(&tf, &index));
  TRY(tf_graph_open(&tf, index, &tf.graph));
  TRY(flat_text(&tf.graph.table, GRAPH_NAME, arena, "a graph's name", &tf.root->name));
  TRY(find_assigned(&tf));
  TRY(add_inputs(&tf, &names));
  TRY(build_operators(&tf));
  TRY(add_outputs(&tf, &names));
  TRY(add_states(&tf, &names));
  size_t removed; /* of loops whose unrolling was abandoned */
  if (tf.entered) TRY(graph_sweep(ctx, tf.root, &removed));
  *out_graph = tf.root;
  return HONE_OK;
}
