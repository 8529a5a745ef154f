/* proto: ModelProto, GraphProto, NodeProto, AttributeProto and value types as structs.
 *
 * Names stay strings; build.c resolves them. Subgraphs in attributes are not entered: they are
 * added to reader->pending with their depth, so that no input makes hone recurse. Fields that hone
 * does not need (doc strings, metadata, value_info, quantisation annotations) are skipped. Source:
 * onnx.proto (IR version 14). */
#include "onnx.h"

/* Reads one field of a message into `into`. */
typedef hone_status field_fn(struct reader *reader, const struct wire_field *field, uint32_t *seen,
                             void *into);

static hone_status each_field(struct reader *reader, struct wire message, field_fn *read,
                              void *into) {
  uint32_t seen = 0;
  while (message.at < message.end) {
    struct wire_field field;
    TRY(wire_next(reader->ctx, &message, &field));
    TRY(read(reader, &field, &seen, into));
  }
  return HONE_OK;
}

static hone_status each_field_of(struct reader *reader, const struct wire_field *field,
                                 const char *what, field_fn *read, void *into) {
  TRY(wire_expect(reader->ctx, field, WIRE_BYTES, what));
  return each_field(reader, field->bytes, read, into);
}

static hone_status one_name(struct reader *reader, const struct wire_field *field, uint32_t *seen,
                            const char *what, const char **out) {
  TRY(wire_once(reader->ctx, field, seen, what));
  return wire_name(reader->ctx, reader->arena, field, what, out);
}

static hone_status one_int(struct reader *reader, const struct wire_field *field, uint32_t *seen,
                           const char *what, int64_t *out) {
  TRY(wire_once(reader->ctx, field, seen, what));
  TRY(wire_expect(reader->ctx, field, WIRE_VARINT, what));
  *out = (int64_t)field->value;
  return HONE_OK;
}

/* -- value types */

static hone_status dim_field(struct reader *reader, const struct wire_field *field, uint32_t *seen,
                             void *into) {
  struct raw_dim *dim = into;
  if (field->number == 2) {
    TRY(one_name(reader, field, seen, "dim_param", &dim->param));
    if (!dimension_is_named(dim->param)) dim->param = "";
    return HONE_OK;
  }
  if (field->number != 1) return HONE_OK;
  int64_t value;
  TRY(one_int(reader, field, seen, "dim_value", &value));
  if (value < -1)
    return fail(reader->ctx, HONE_E_SHAPE, place_offset(field->offset), "a dimension of %lld",
                (long long)value);
  dim->value = value; /* -1: some exporters write it for a dynamic dimension */
  return HONE_OK;
}

static hone_status shape_field(struct reader *reader, const struct wire_field *field,
                               uint32_t *seen, void *into) {
  (void)seen;
  struct raw_value *value = into;
  if (field->number != 1) return HONE_OK;
  if (value->rank >= HONE_MAX_RANK || value->rank >= reader->ctx->limits[LIMIT_rank])
    return fail(reader->ctx, HONE_E_LIMIT, place_offset(field->offset),
                "\"%s\" has more than %d dimensions", value->name ? value->name : "", value->rank);
  if (!value->dims) TRY(NEW_ARRAY(reader->ctx, reader->arena, value->dims, HONE_MAX_RANK));
  struct raw_dim *dim = &value->dims[value->rank++];
  *dim = (struct raw_dim){.value = -1, .param = ""};
  return each_field_of(reader, field, "a dimension", dim_field, dim);
}

static hone_status tensor_type_field(struct reader *reader, const struct wire_field *field,
                                     uint32_t *seen, void *into) {
  struct raw_value *value = into;
  if (field->number == 1) {
    int64_t number;
    TRY(one_int(reader, field, seen, "elem_type", &number));
    if (number && !dtype_supported(number))
      return fail(reader->ctx, HONE_E_TYPE, place_offset(field->offset),
                  "element type %lld of \"%s\" is unknown or not supported", (long long)number,
                  value->name ? value->name : "");
    value->dtype = (hone_dtype)number;
  } else if (field->number == 2) {
    TRY(wire_once(reader->ctx, field, seen, "shape"));
    value->has_shape = true;
    return each_field_of(reader, field, "a shape", shape_field, value);
  }
  return HONE_OK;
}

static field_fn type_field;

/* The element type of a sequence or an optional; an optional sequence is the deepest supported
 * nesting. */
static hone_status element_field(struct reader *reader, const struct wire_field *field,
                                 uint32_t *seen, void *into) {
  if (field->number != 1) return HONE_OK;
  TRY(wire_once(reader->ctx, field, seen, "elem_type"));
  return each_field_of(reader, field, "elem_type", type_field, into);
}

static hone_status type_field(struct reader *reader, const struct wire_field *field, uint32_t *seen,
                              void *into) {
  struct raw_value *value = into;
  switch (field->number) {
    case 1:
      TRY(wire_once(reader->ctx, field, seen, "tensor_type"));
      return each_field_of(reader, field, "tensor_type", tensor_type_field, value);
    case 4:
      if (value->is_sequence) {
        value->other_type = "a sequence of sequences";
        break;
      }
      value->is_sequence = true;
      return each_field_of(reader, field, "sequence_type", element_field, value);
    case 5:
      value->other_type = "a map";
      break;
    case 7:
      value->other_type = "opaque";
      break;
    case 8:
      value->other_type = "a sparse tensor";
      break;
    case 9:
      if (value->is_sequence || value->is_optional) {
        value->other_type = "a sequence of optionals";
        break;
      }
      value->is_optional = true;
      return each_field_of(reader, field, "optional_type", element_field, value);
    default:
      break;
  }
  return HONE_OK;
}

static hone_status value_field(struct reader *reader, const struct wire_field *field,
                               uint32_t *seen, void *into) {
  struct raw_value *value = into;
  if (field->number == 1) return one_name(reader, field, seen, "a value's name", &value->name);
  if (field->number != 2) return HONE_OK;
  TRY(wire_once(reader->ctx, field, seen, "type"));
  return each_field_of(reader, field, "a type", type_field, value);
}

/* -- attributes */

/* An AttributeProto being read: lists grow as their fields arrive. */
struct raw_attribute {
  struct attribute out;
  int64_t type;        /* as declared, 0: not declared */
  uint32_t has;        /* bit k: field k is present */
  const char *refers;  /* ref_attr_name, NULL: none */
  const char *refused; /* an unsupported kind, NULL: none */
  bool is_type;
  VEC(int64_t) ints;
  VEC(double) floats;
  VEC(struct string) strings;
  size_t offset;
};

static double f32_of_bits(uint64_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return (double)f;
}

static hone_status read_bytes(struct reader *reader, const struct wire_field *field,
                              struct string *out) {
  TRY(wire_expect(reader->ctx, field, WIRE_BYTES, "a string"));
  out->length = (size_t)(field->bytes.end - field->bytes.at);
  return arena_string(reader->ctx, reader->arena, (const char *)field->bytes.at, out->length,
                      &out->bytes);
}

static hone_status read_numbers(struct reader *reader, const struct wire_field *field,
                                enum wire_type type, uint64_t **out, size_t *out_count) {
  size_t count = 0;
  TRY(wire_numbers(reader->ctx, field, type, NULL, &count));
  TRY(NEW_ARRAY(reader->ctx, reader->arena, *out, count));
  *out_count = 0;
  return wire_numbers(reader->ctx, field, type, *out, out_count);
}

static hone_status read_list(struct reader *reader, const struct wire_field *field,
                             struct raw_attribute *into) {
  if (field->number == 9) {
    struct string string;
    TRY(read_bytes(reader, field, &string));
    VEC_PUSH(reader->ctx, reader->arena, &into->strings, string);
    return HONE_OK;
  }
  uint64_t single = field->value, *numbers = &single;
  size_t count = 1;
  enum wire_type type = field->number == 7 ? WIRE_FIXED32 : WIRE_VARINT;
  if (field->type == WIRE_BYTES)
    TRY(read_numbers(reader, field, type, &numbers, &count));
  else
    TRY(wire_expect(reader->ctx, field, type, "a number of an attribute"));
  for (size_t i = 0; i < count; i++) {
    if (field->number == 7)
      VEC_PUSH(reader->ctx, reader->arena, &into->floats, f32_of_bits(numbers[i]));
    else
      VEC_PUSH(reader->ctx, reader->arena, &into->ints, (int64_t)numbers[i]);
  }
  return HONE_OK;
}

/* A graph is created empty; its message waits in reader->pending. The node sets depth. */
static hone_status read_subgraph(struct reader *reader, const struct wire_field *field,
                                 struct attribute *out) {
  TRY(wire_expect(reader->ctx, field, WIRE_BYTES, "a graph"));
  TRY(graph_create(reader->ctx, reader->arena, &out->graph));
  VEC_PUSH(reader->ctx, reader->arena, &reader->pending,
           (struct pending_graph){.message = field->bytes, .graph = out->graph});
  return HONE_OK;
}

static hone_status attribute_single(struct reader *reader, const struct wire_field *field,
                                    uint32_t *seen, struct raw_attribute *into) {
  struct attribute *out = &into->out;
  const char *unused;
  switch (field->number) {
    case 1:
      return one_name(reader, field, seen, "an attribute's name", &out->name);
    case 2:
      TRY(wire_once(reader->ctx, field, seen, "f"));
      TRY(wire_expect(reader->ctx, field, WIRE_FIXED32, "f"));
      out->f = f32_of_bits(field->value);
      return HONE_OK;
    case 3:
      return one_int(reader, field, seen, "i", &out->i);
    case 4:
      TRY(wire_once(reader->ctx, field, seen, "s"));
      return read_bytes(reader, field, &out->s);
    case 5:
      TRY(wire_once(reader->ctx, field, seen, "t"));
      TRY(wire_expect(reader->ctx, field, WIRE_BYTES, "t"));
      return read_tensor(reader->ctx, reader->arena, reader->sides, field->bytes, &out->tensor,
                         &unused);
    case 6:
      TRY(wire_once(reader->ctx, field, seen, "g"));
      return read_subgraph(reader, field, out);
    case 20:
      return one_int(reader, field, seen, "an attribute's type", &into->type);
    case 21:
      return one_name(reader, field, seen, "ref_attr_name", &into->refers);
    default: /* 22, a sparse tensor, is read as a dense one */
      TRY(wire_once(reader->ctx, field, seen, "sparse_tensor"));
      TRY(wire_expect(reader->ctx, field, WIRE_BYTES, "sparse_tensor"));
      return read_sparse(reader->ctx, reader->arena, reader->sides, field->bytes, &out->tensor,
                         &unused);
  }
}

static hone_status attribute_field(struct reader *reader, const struct wire_field *field,
                                   uint32_t *seen, void *into) {
  struct raw_attribute *attribute = into;
  if (field->number < 32) attribute->has |= UINT32_C(1) << field->number;
  switch (field->number) {
    case 7:
    case 8:
    case 9:
      return read_list(reader, field, attribute);
    case 10:
      attribute->refused = "a list of tensors";
      return HONE_OK;
    case 11:
      attribute->refused = "a list of graphs";
      return HONE_OK;
    case 14:
      attribute->is_type = true;
      attribute->refused = "a type";
      return HONE_OK;
    case 15:
      attribute->refused = "a list of types";
      return HONE_OK;
    case 23:
      attribute->refused = "a list of sparse tensors";
      return HONE_OK;
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
    case 20:
    case 21:
    case 22:
      return attribute_single(reader, field, seen, attribute);
    default:
      return HONE_OK;
  }
}

/* The fields of each kind, and AttributeProto.AttributeType. */
static const struct {
  int type;
  uint32_t field;
  enum attribute_kind kind;
} kinds[] = {
    {1, 2, ATTRIBUTE_FLOAT},  {2, 3, ATTRIBUTE_INT},     {3, 4, ATTRIBUTE_STRING},
    {4, 5, ATTRIBUTE_TENSOR}, {5, 6, ATTRIBUTE_GRAPH},   {6, 7, ATTRIBUTE_FLOATS},
    {7, 8, ATTRIBUTE_INTS},   {8, 9, ATTRIBUTE_STRINGS}, {11, 22, ATTRIBUTE_TENSOR},
};

static hone_status settle_kind(struct reader *reader, struct raw_attribute *in) {
  struct attribute *out = &in->out;
  struct place at = out->name ? place_name(out->name) : place_offset(in->offset);
  if (!out->name || !*out->name)
    return fail(reader->ctx, HONE_E_FORMAT, at, "an attribute without a name");
  if (in->refused) return fail(reader->ctx, HONE_E_UNSUP, at, "an attribute with %s", in->refused);
  size_t row = COUNT(kinds);
  for (size_t i = 0; i < COUNT(kinds); i++)
    if (in->type ? kinds[i].type == in->type : in->has >> kinds[i].field & 1) row = i;
  if (row == COUNT(kinds))
    return fail(reader->ctx, in->type ? HONE_E_UNSUP : HONE_E_FORMAT, at,
                "an attribute of unknown type %lld", (long long)in->type);
  out->kind = kinds[row].kind;
  bool is_present = in->has >> kinds[row].field & 1;
  if (!is_present && (out->kind == ATTRIBUTE_TENSOR || out->kind == ATTRIBUTE_GRAPH))
    return fail(reader->ctx, HONE_E_FORMAT, at, "an attribute of type %lld without its value",
                (long long)in->type);
  if (out->kind == ATTRIBUTE_STRING && !out->s.bytes) out->s.bytes = "";
  out->ints = in->ints.at;
  out->floats = in->floats.at;
  out->strings = in->strings.at;
  out->count = out->kind == ATTRIBUTE_INTS      ? in->ints.count
               : out->kind == ATTRIBUTE_FLOATS  ? in->floats.count
               : out->kind == ATTRIBUTE_STRINGS ? in->strings.count
                                                : 0;
  return HONE_OK;
}

/* An attribute of a function's node that refers to one of the call's, or to its default; omitted if
 * there is neither. */
static hone_status refer(struct reader *reader, struct raw_attribute *in, bool *out_given) {
  const struct call *call = reader->call;
  const struct attribute *found = NULL;
  struct place at = place_offset(in->offset);
  if (!in->out.name || !*in->out.name)
    return fail(reader->ctx, HONE_E_FORMAT, at, "an attribute without a name");
  if (!call)
    return fail(reader->ctx, HONE_E_FORMAT, at, "an attribute refers to \"%s\" outside a function",
                in->refers);
  for (size_t i = 0; i < call->function->defaults.count; i++)
    if (!strcmp(call->function->defaults.at[i].name, in->refers))
      found = &call->function->defaults.at[i];
  for (size_t i = 0; i < call->node->attributes.count; i++)
    if (!strcmp(call->node->attributes.at[i].name, in->refers))
      found = &call->node->attributes.at[i];
  *out_given = found != NULL;
  if (!found) return HONE_OK;
  if (found->kind == ATTRIBUTE_GRAPH)
    return fail(reader->ctx, HONE_E_UNSUP, at, "a graph passed to a function as an attribute");
  const char *name = in->out.name;
  in->out = *found;
  in->out.name = name;
  return HONE_OK;
}

/* -- nodes */

static hone_status read_attribute(struct reader *reader, const struct wire_field *field,
                                  struct raw_node *node) {
  struct raw_attribute attribute = {.offset = field->offset};
  TRY(each_field_of(reader, field, "an attribute", attribute_field, &attribute));
  bool is_given = true;
  if (attribute.out.name && !strcmp(attribute.out.name, "type") && attribute.is_type)
    return HONE_OK; /* an empty Optional: no shape is needed */
  if (attribute.refers)
    TRY(refer(reader, &attribute, &is_given));
  else
    TRY(settle_kind(reader, &attribute));
  if (!is_given) return HONE_OK;
  for (size_t i = 0; i < node->attributes.count; i++)
    if (!strcmp(node->attributes.at[i].name, attribute.out.name))
      return fail(reader->ctx, HONE_E_FORMAT, place_offset(field->offset),
                  "duplicate attribute \"%s\"", attribute.out.name);
  VEC_PUSH(reader->ctx, reader->arena, &node->attributes, attribute.out);
  return HONE_OK;
}

static hone_status node_field(struct reader *reader, const struct wire_field *field, uint32_t *seen,
                              void *into) {
  struct raw_node *node = into;
  const char *name;
  switch (field->number) {
    case 1:
      TRY(wire_name(reader->ctx, reader->arena, field, "an input's name", &name));
      VEC_PUSH(reader->ctx, reader->arena, &node->input_names, name);
      return HONE_OK;
    case 2:
      TRY(wire_name(reader->ctx, reader->arena, field, "an output's name", &name));
      VEC_PUSH(reader->ctx, reader->arena, &node->output_names, name);
      return HONE_OK;
    case 3:
      return one_name(reader, field, seen, "a node's name", &node->name);
    case 4:
      return one_name(reader, field, seen, "op_type", &node->op_type);
    case 5:
      return read_attribute(reader, field, node);
    case 7:
      return one_name(reader, field, seen, "a node's domain", &node->domain);
    case 8:
      return one_name(reader, field, seen, "a node's overload", &node->overload);
    default:
      return HONE_OK;
  }
}

/* Allocates a node's lists at their exact size: growing them would cost more than the node. */
static hone_status reserve(struct reader *reader, const struct wire_field *field,
                           struct raw_node *node) {
  size_t inputs = 0, outputs = 0, attributes = 0;
  TRY(wire_expect(reader->ctx, field, WIRE_BYTES, "a node"));
  for (struct wire rest = field->bytes; rest.at < rest.end;) {
    struct wire_field part;
    TRY(wire_next(reader->ctx, &rest, &part));
    inputs += part.number == 1;
    outputs += part.number == 2;
    attributes += part.number == 5;
  }
  if ((int64_t)attributes > reader->ctx->limits[LIMIT_attributes_per_node])
    return fail(reader->ctx, HONE_E_LIMIT, place_offset(field->offset),
                "a node with %zu attributes (limit attributes_per_node)", attributes);
  TRY(NEW_ARRAY(reader->ctx, reader->arena, node->input_names.at, inputs));
  TRY(NEW_ARRAY(reader->ctx, reader->arena, node->inputs.at, inputs));
  TRY(NEW_ARRAY(reader->ctx, reader->arena, node->output_names.at, outputs));
  TRY(NEW_ARRAY(reader->ctx, reader->arena, node->outputs.at, outputs));
  TRY(NEW_ARRAY(reader->ctx, reader->arena, node->attributes.at, attributes));
  node->input_names.capacity = node->inputs.capacity = inputs;
  node->output_names.capacity = node->outputs.capacity = outputs;
  node->attributes.capacity = attributes;
  return HONE_OK;
}

static hone_status read_node(struct reader *reader, const struct wire_field *field,
                             struct raw_graph *graph) {
  if (reader->node_count >= reader->ctx->limits[LIMIT_nodes])
    return fail(reader->ctx, HONE_E_LIMIT, place_offset(field->offset),
                "more than %lld nodes (limit nodes)", (long long)reader->node_count);
  struct raw_node node = {.domain = "", .name = "", .op_type = "", .overload = ""};
  node.offset = field->offset;
  node.index = reader->node_count++;
  TRY(reserve(reader, field, &node));
  TRY(each_field_of(reader, field, "a node", node_field, &node));
  if (!*node.op_type)
    return fail(reader->ctx, HONE_E_FORMAT, place_offset(field->offset), "a node without op_type");
  if (!strcmp(node.domain, "ai.onnx")) node.domain = "";
  VEC_PUSH(reader->ctx, reader->arena, &graph->nodes, node);
  return HONE_OK;
}

/* -- graphs */

static hone_status read_initializer(struct reader *reader, const struct wire_field *field,
                                    struct raw_graph *graph) {
  if (reader->tensor_count++ >= reader->ctx->limits[LIMIT_tensors])
    return fail(reader->ctx, HONE_E_LIMIT, place_offset(field->offset),
                "more than %lld tensors (limit tensors)", (long long)reader->tensor_count - 1);
  struct raw_tensor tensor = {.offset = field->offset};
  bool is_sparse = field->number == 15;
  TRY(wire_expect(reader->ctx, field, WIRE_BYTES, "an initializer"));
  TRY((is_sparse ? read_sparse : read_tensor)(reader->ctx, reader->arena, reader->sides,
                                              field->bytes, &tensor.tensor, &tensor.name));
  if (!*tensor.name)
    return fail(reader->ctx, HONE_E_FORMAT, place_offset(field->offset),
                "an initializer without a name");
  VEC_PUSH(reader->ctx, reader->arena, &graph->tensors, tensor);
  return HONE_OK;
}

static hone_status read_value(struct reader *reader, const struct wire_field *field,
                              struct raw_value *out) {
  *out = (struct raw_value){.offset = field->offset};
  TRY(each_field_of(reader, field, "a value", value_field, out));
  if (!out->name || !*out->name)
    return fail(reader->ctx, HONE_E_FORMAT, place_offset(field->offset),
                "a graph input or output without a name");
  return HONE_OK;
}

static hone_status graph_field(struct reader *reader, const struct wire_field *field,
                               uint32_t *seen, void *into) {
  struct raw_graph *graph = into;
  struct raw_value value;
  switch (field->number) {
    case 1:
      return read_node(reader, field, graph);
    case 2:
      return one_name(reader, field, seen, "a graph's name", &graph->name);
    case 5:
    case 15:
      return read_initializer(reader, field, graph);
    case 11:
      TRY(read_value(reader, field, &value));
      VEC_PUSH(reader->ctx, reader->arena, &graph->inputs, value);
      return HONE_OK;
    case 12:
      TRY(read_value(reader, field, &value));
      VEC_PUSH(reader->ctx, reader->arena, &graph->outputs, value);
      return HONE_OK;
    case 10:
    case 13:
    case 14:
    case 16:
      return wire_expect(reader->ctx, field, WIRE_BYTES, "a field of a graph");
    default:
      return HONE_OK;
  }
}

hone_status read_graph(struct reader *reader, struct wire message, int depth,
                       struct raw_graph *out) {
  if (depth > reader->ctx->limits[LIMIT_depth])
    return fail(reader->ctx, HONE_E_LIMIT, place_offset(wire_offset(&message, message.at)),
                "graphs nested more than %lld deep (limit depth)",
                (long long)reader->ctx->limits[LIMIT_depth]);
  *out = (struct raw_graph){.name = ""};
  size_t first = reader->pending.count;
  TRY(each_field(reader, message, graph_field, out));
  for (size_t i = first; i < reader->pending.count; i++) reader->pending.at[i].depth = depth + 1;
  return HONE_OK;
}

/* -- functions */

static hone_status opset_field(struct reader *reader, const struct wire_field *field,
                               uint32_t *seen, void *into) {
  struct raw_opset *opset = into;
  if (field->number == 1) return one_name(reader, field, seen, "an opset's domain", &opset->domain);
  if (field->number == 2)
    return one_int(reader, field, seen, "an opset's version", &opset->version);
  return HONE_OK;
}

static hone_status read_opset(struct reader *reader, const struct wire_field *field,
                              struct raw_opset *out) {
  *out = (struct raw_opset){"", 0};
  TRY(each_field_of(reader, field, "opset_import", opset_field, out));
  if (!strcmp(out->domain, "ai.onnx")) out->domain = "";
  return HONE_OK;
}

static hone_status read_default(struct reader *reader, const struct wire_field *field,
                                struct raw_function *function) {
  struct raw_attribute attribute = {.offset = field->offset};
  TRY(each_field_of(reader, field, "an attribute", attribute_field, &attribute));
  TRY(settle_kind(reader, &attribute));
  if (attribute.out.kind == ATTRIBUTE_GRAPH)
    return fail(reader->ctx, HONE_E_UNSUP, place_offset(field->offset),
                "a graph as the default of a function's attribute");
  VEC_PUSH(reader->ctx, reader->arena, &function->defaults, attribute.out);
  return HONE_OK;
}

static hone_status function_field(struct reader *reader, const struct wire_field *field,
                                  uint32_t *seen, void *into) {
  struct raw_function *function = into;
  struct raw_opset opset;
  const char *name;
  switch (field->number) {
    case 1:
      return one_name(reader, field, seen, "a function's name", &function->name);
    case 4:
      TRY(wire_name(reader->ctx, reader->arena, field, "a function's input", &name));
      VEC_PUSH(reader->ctx, reader->arena, &function->inputs, name);
      return HONE_OK;
    case 5:
      TRY(wire_name(reader->ctx, reader->arena, field, "a function's output", &name));
      VEC_PUSH(reader->ctx, reader->arena, &function->outputs, name);
      return HONE_OK;
    case 9:
      TRY(read_opset(reader, field, &opset));
      VEC_PUSH(reader->ctx, reader->arena, &function->opsets, opset);
      return HONE_OK;
    case 10:
      return one_name(reader, field, seen, "a function's domain", &function->domain);
    case 11:
      return read_default(reader, field, function);
    case 13:
      return one_name(reader, field, seen, "a function's overload", &function->overload);
    default:
      return HONE_OK;
  }
}

hone_status read_function(struct reader *reader, struct wire message, struct raw_function *out) {
  *out = (struct raw_function){.domain = "", .name = "", .overload = "", .message = message};
  return each_field(reader, message, function_field, out);
}

static hone_status function_node_field(struct reader *reader, const struct wire_field *field,
                                       uint32_t *seen, void *into) {
  (void)seen;
  return field->number == 7 ? read_node(reader, field, into) : HONE_OK;
}

hone_status read_function_nodes(struct reader *reader, struct wire message, int depth,
                                struct raw_graph *out) {
  *out = (struct raw_graph){.name = ""};
  size_t first = reader->pending.count;
  TRY(each_field(reader, message, function_node_field, out));
  for (size_t i = first; i < reader->pending.count; i++) reader->pending.at[i].depth = depth + 1;
  return HONE_OK;
}

/* -- the model */

static hone_status model_field(struct reader *reader, const struct wire_field *field,
                               uint32_t *seen, void *into) {
  struct raw_model *model = into;
  switch (field->number) {
    case 1:
      return one_int(reader, field, seen, "ir_version", &model->ir_version);
    case 2:
    case 3:
    case 4:
    case 6:
      TRY(wire_once(reader->ctx, field, seen, "field"));
      return wire_expect(reader->ctx, field, WIRE_BYTES, "a string of the model");
    case 7:
      TRY(wire_once(reader->ctx, field, seen, "graph"));
      TRY(wire_expect(reader->ctx, field, WIRE_BYTES, "graph"));
      model->graph = field->bytes;
      return HONE_OK;
    case 8: {
      struct raw_opset opset;
      TRY(read_opset(reader, field, &opset));
      VEC_PUSH(reader->ctx, reader->arena, &model->opsets, opset);
      return HONE_OK;
    }
    case 25:
      TRY(wire_expect(reader->ctx, field, WIRE_BYTES, "a function"));
      VEC_PUSH(reader->ctx, reader->arena, &model->functions, field->bytes);
      return HONE_OK;
    default:
      return HONE_OK;
  }
}

hone_status read_model(struct reader *reader, struct wire message, struct raw_model *out) {
  *out = (struct raw_model){0};
  return each_field(reader, message, model_field, out);
}
