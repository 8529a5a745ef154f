/* pt2: an archive of torch.export to a graph: the zip's members, models/model.json, weights in
 * place in the file, then one ATen operator after the other.
 *
 * Dynamic dimensions of the file are numbers here: inputs are bound first (--shape), and every
 * shape that a node computes from them is known when the node is read.
 *
 * Source: PyTorch's torch/_export/serde/schema.yaml, version 8, and torch.export's
 * documentation. */
#include "pt2.h"

#include <math.h>

enum { SCHEMA_MAJOR = 8, LONGEST_NUMBER = 64, MOST_JSON_BYTES = 256 << 20 };

/* -- JSON */

enum sign { OTHER, QUOTE, ESCAPE, OPENS, CLOSES, DIGIT };
static const uint8_t signs[256] = {
    ['"'] = QUOTE, ['\\'] = ESCAPE, ['['] = OPENS, ['{'] = OPENS, [']'] = CLOSES, ['}'] = CLOSES,
    ['0'] = DIGIT, ['1'] = DIGIT,   ['2'] = DIGIT, ['3'] = DIGIT, ['4'] = DIGIT,  ['5'] = DIGIT,
    ['6'] = DIGIT, ['7'] = DIGIT,   ['8'] = DIGIT, ['9'] = DIGIT, ['+'] = DIGIT,  ['-'] = DIGIT,
    ['.'] = DIGIT, ['e'] = DIGIT,   ['E'] = DIGIT};

/* Checks nesting depth and the length of numbers before a recursive parser reads the text. */
static hone_status check_json(struct pt *pt, const char *name, const char *text, size_t size) {
  int64_t depth = 0, most = pt->ctx->limits[LIMIT_depth];
  size_t digits = 0;
  bool in_string = false;
  for (size_t i = 0; i < size; i++) {
    uint8_t sign = signs[(uint8_t)text[i]];
    if (in_string) {
      i += sign == ESCAPE;
      in_string = sign != QUOTE;
      continue;
    }
    in_string = sign == QUOTE;
    depth += (sign == OPENS) - (sign == CLOSES);
    digits = sign == DIGIT ? digits + 1 : 0;
    if (depth > most || digits > LONGEST_NUMBER)
      return fail(pt->ctx, HONE_E_LIMIT, place_name(name), "JSON with %s at byte %zu",
                  depth > most ? "nesting beyond limit depth" : "a number of too many digits", i);
  }
  return HONE_OK;
}

static hone_status load_json(struct pt *pt, const char *suffix, json_t **out) {
  const char *name;
  const uint8_t *bytes;
  json_error_t error;
  TRY(arena_printf(pt->ctx, pt->arena, &name, "%s%s", pt->prefix, suffix));
  const struct zip_member *member = zip_find(&pt->zip, name);
  if (!member)
    return fail(pt->ctx, HONE_E_FORMAT, place_name(name), "the archive has no such member");
  if (member->size > MOST_JSON_BYTES)
    return fail(pt->ctx, HONE_E_LIMIT, place_name(name), "%zu bytes of JSON", member->size);
  TRY(zip_read(&pt->zip, pt->arena, member, &bytes));
  TRY(check_json(pt, name, (const char *)bytes, member->size));
  *out = json_loadb((const char *)bytes, member->size, JSON_REJECT_DUPLICATES, &error);
  if (*out && json_is_object(*out)) return HONE_OK;
  return fail(pt->ctx, HONE_E_FORMAT, place_name(name), "invalid JSON: %s at byte %d",
              *out ? "it is not an object" : error.text, *out ? 0 : error.position);
}

static hone_status wrong(struct pt *pt, const char *name, const char *what) {
  return fail(pt->ctx, HONE_E_FORMAT, place_name(name), "models/model.json: %s", what);
}

/* -- weights */

struct meta {
  hone_dtype dtype;
  bool is_complex; /* pairs of floats: the last axis is complex */
  struct shape shape;
  int64_t strides[HONE_MAX_RANK], offset;
};

/* Complex numbers are stored as two floats: floats with one more axis. */
static hone_status as_pairs(struct pt *pt, const char *name, struct meta *meta) {
  const int last = meta->shape.rank;
  if (last == HONE_MAX_RANK) return wrong(pt, name, "complex numbers of too many dimensions");
  bool fits = checked_mul(meta->offset, 2, &meta->offset);
  for (int d = 0; d < last; d++) fits &= checked_mul(meta->strides[d], 2, &meta->strides[d]);
  if (!fits) return wrong(pt, name, "a tensor whose strides are too large");
  meta->dtype = HONE_F32;
  meta->is_complex = true;
  meta->shape.dims[last] = 2;
  meta->strides[last] = 1;
  meta->shape.rank++;
  return HONE_OK;
}

static hone_status read_meta(struct pt *pt, const char *name, const json_t *json,
                             struct meta *out) {
  json_t *sizes = json_object_get(json, "sizes"), *strides = json_object_get(json, "strides");
  const int64_t dtype = json_integer_value(json_object_get(json, "dtype"));
  *out = (struct meta){.dtype = pt_dtype(dtype)};
  if (!out->dtype && dtype != PT_COMPLEX64)
    return fail(pt->ctx, HONE_E_TYPE, place_name(name), "element type %lld of PyTorch",
                (long long)dtype);
  size_t rank = json_array_size(sizes);
  if (rank > HONE_MAX_RANK || json_array_size(strides) != rank)
    return wrong(pt, name, "a tensor whose sizes and strides do not match");
  out->shape.rank = (int)rank;
  for (size_t d = 0; d < rank; d++) {
    json_t *size = NULL, *stride = NULL;
    bool fixed = !strcmp(pt_variant(json_array_get(sizes, d), &size), "as_int");
    out->shape.dims[d] = fixed ? json_integer_value(size) : -1;
    if (!strcmp(pt_variant(json_array_get(strides, d), &stride), "as_int"))
      out->strides[d] = json_integer_value(stride);
    if (out->shape.dims[d] < -1 || (fixed && out->shape.dims[d] < 0))
      return fail(pt->ctx, HONE_E_SHAPE, place_name(name), "dimension %zu is %lld", d,
                  (long long)out->shape.dims[d]);
  }
  json_t *offset = NULL;
  if (!strcmp(pt_variant(json_object_get(json, "storage_offset"), &offset), "as_int"))
    out->offset = json_integer_value(offset);
  return dtype == PT_COMPLEX64 ? as_pairs(pt, name, out) : HONE_OK;
}

static bool is_dense(const struct meta *meta) {
  int64_t expected[HONE_MAX_RANK];
  shape_strides(&meta->shape, expected);
  for (int d = 0; d < meta->shape.rank; d++)
    if (meta->shape.dims[d] > 1 && meta->strides[d] != expected[d]) return false;
  return true;
}

/* Elements of a strided view, row-major. */
static hone_status gather_strided(struct pt *pt, const struct meta *meta, const uint8_t *bytes,
                                  struct tensor *tensor, size_t elements) {
  size_t width = dtype_bits(meta->dtype) / 8;
  int64_t index[HONE_MAX_RANK] = {0};
  uint8_t *to;
  TRY(arena_alloc(pt->ctx, pt->arena, elements, width, &to));
  tensor->data = to;
  for (size_t i = 0; i < elements; i++, to += width) {
    int64_t from = meta->offset;
    for (int d = 0; d < meta->shape.rank; d++) from += index[d] * meta->strides[d];
    memcpy(to, bytes + (size_t)from * width, width);
    for (int d = meta->shape.rank - 1; d >= 0 && ++index[d] == meta->shape.dims[d]; d--)
      index[d] = 0;
  }
  return HONE_OK;
}

/* Index of the last element in the view, from the start of its storage; false on overflow. */
static bool last_element(const struct meta *meta, int64_t *out) {
  *out = meta->offset;
  if (meta->offset < 0) return false;
  for (int d = 0; d < meta->shape.rank; d++) {
    int64_t reach;
    if (meta->strides[d] < 0 || !checked_mul(meta->shape.dims[d] - 1, meta->strides[d], &reach) ||
        !checked_add(*out, reach, out))
      return false;
  }
  return true;
}

static hone_status read_payload(struct pt *pt, const char *name, const char *member_name,
                                const struct meta *meta, const struct tensor **out) {
  const struct zip_member *member = zip_find(&pt->zip, member_name);
  struct tensor *tensor;
  const uint8_t *bytes;
  int64_t elements, last;
  if (!member)
    return fail(pt->ctx, HONE_E_FORMAT, place_name(member_name), "the archive has no such member");
  TRY(zip_read(&pt->zip, pt->arena, member, &bytes));
  TRY(NEW(pt->ctx, pt->arena, tensor));
  *tensor = (struct tensor){.dtype = meta->dtype, .shape = meta->shape};
  for (int d = 0; d < meta->shape.rank; d++)
    if (meta->shape.dims[d] < 0)
      return fail(pt->ctx, HONE_E_SHAPE, place_name(name), "a weight with a dynamic dimension");
  TRY(shape_check(pt->ctx, place_name(name), meta->dtype, &meta->shape, &elements, &tensor->bytes));
  size_t width = dtype_bits(meta->dtype) / 8;
  if (elements && (!last_element(meta, &last) || (uint64_t)last >= member->size / width))
    return fail(pt->ctx, HONE_E_FORMAT, place_name(name),
                "its view exceeds the %zu bytes of \"%s\"", member->size, member_name);
  *out = tensor;
  if (!elements) {
    tensor->data = bytes;
    return HONE_OK;
  }
  if (!is_dense(meta)) return gather_strided(pt, meta, bytes, tensor, (size_t)elements);
  return payload_use(pt->ctx, pt->arena, bytes + (size_t)meta->offset * width, tensor);
}

/* A parameter, buffer or constant by its name in the state dict. */
static hone_status read_weight(struct pt *pt, const char *name, const struct tensor **out,
                               bool *out_is_complex) {
  static const char *const folders[] = {"data/weights/", "data/constants/"};
  const json_t *configs[] = {json_object_get(pt->weights, "config"),
                             json_object_get(pt->constants, "config")};
  for (size_t i = 0; i < COUNT(configs); i++) {
    const json_t *entry = json_object_get(configs[i], name);
    const char *path = pt_words(json_object_get(entry, "path_name")), *member;
    struct meta meta;
    if (!entry) continue;
    if (json_is_true(json_object_get(entry, "use_pickle")) || !strncmp(path, "custom_obj", 10))
      return fail(
          pt->ctx, HONE_E_TRUST, place_name(name),
          "stored as a pickle, which can contain code; export the model again with plain tensors");
    TRY(read_meta(pt, name, json_object_get(entry, "tensor_meta"), &meta));
    TRY(arena_printf(pt->ctx, pt->arena, &member, "%s%s%s", pt->prefix, folders[i], path));
    *out_is_complex = meta.is_complex;
    return read_payload(pt, name, member, &meta, out);
  }
  return fail(pt->ctx, HONE_E_FORMAT, place_name(name), "the archive does not contain this weight");
}

/* -- the graph's inputs */

/* "Symbol('s15', ..)" is a named dynamic dimension, a longer expression an unnamed one. */
static hone_status symbol_of(struct pt *pt, const json_t *size, const char **out) {
  json_t *expression = NULL;
  *out = "";
  if (strcmp(pt_variant(size, &expression), "as_expr")) return HONE_OK;
  const char *text = pt_words(json_object_get(expression, "expr_str"));
  const char *start = strncmp(text, "Symbol('", 8) ? text : text + 8;
  size_t length = strcspn(start, "',( *+/");
  if (start == text && length != strlen(text)) return HONE_OK;
  return arena_string(pt->ctx, pt->arena, start, length, out);
}

struct inputs {
  VEC(struct raw_value) raw;
  VEC(bool) is_complex;
};

/* Inputs and outputs have no complex type: pairs of floats, which is the memory layout anyway. */
static void warn_complex_pairs(const struct pt *pt, const char *name) {
  warn(pt->ctx, "\"%s\" is complex: its last axis holds the real and imaginary parts", name);
}

/* -- buffers that the graph writes */

static struct pt_state *state_of(const struct pt *pt, const char *buffer) {
  for (size_t i = 0; i < pt->states.count; i++)
    if (!strcmp(pt->states.at[i].buffer, buffer)) return &pt->states.at[i];
  return NULL;
}

static hone_status add_state(struct pt *pt, const char *name, const char *buffer) {
  struct pt_state state = {.name = name};
  for (size_t i = 0; i < pt->states.count; i++) { /* its placeholder, later its last value */
    if (strcmp(pt->states.at[i].buffer, buffer)) continue;
    if (*name) pt->states.at[i].name = name;
    return HONE_OK;
  }
  TRY(name_copy(pt->ctx, pt->arena, (const uint8_t *)buffer, strlen(buffer), 0, "a buffer's name",
                &state.buffer));
  VEC_PUSH(pt->ctx, pt->arena, &pt->states, state);
  return HONE_OK;
}

/* True if an input of this kind has that name in the field. */
static bool has_input(const json_t *specs, const char *kind, const char *field, const char *name) {
  for (size_t i = 0; i < json_array_size(specs); i++) {
    json_t *spec = NULL, *arg = NULL;
    if (strcmp(pt_variant(json_array_get(specs, i), &spec), kind)) continue;
    const json_t *from = spec;
    if (!strcmp(kind, "user_input")) pt_variant(json_object_get(spec, "arg"), &arg), from = arg;
    if (!strcmp(pt_words(json_object_get(from, field)), name)) return true;
  }
  return false;
}

/* In a functional graph the signature lists them. */
static hone_status states_of_outputs(struct pt *pt, const json_t *outputs, const json_t *inputs) {
  for (size_t i = 0; i < json_array_size(outputs); i++) {
    json_t *spec = NULL;
    const char *kind = pt_variant(json_array_get(outputs, i), &spec);
    const bool is_buffer = !strcmp(kind, "buffer_mutation");
    if (!is_buffer && strcmp(kind, "user_input_mutation")) continue;
    const char *name =
        pt_words(json_object_get(spec, is_buffer ? "buffer_name" : "user_input_name"));
    if (!has_input(inputs, is_buffer ? "buffer" : "user_input", is_buffer ? "buffer_name" : "name",
                   name))
      return fail(pt->ctx, HONE_E_FORMAT, place_name(name),
                  "output %zu writes it, but the graph has no such %s", i,
                  is_buffer ? "buffer" : "input");
    if (is_buffer) TRY(add_state(pt, "", name));
  }
  return HONE_OK;
}

/* Otherwise a buffer that an in-place operator writes, possibly through views: names lead to the
 * placeholder whose storage they share. */
static hone_status states_of_nodes(struct pt *pt, const json_t *specs, const json_t *nodes) {
  struct names roots;   /* name -> the buffer's own */
  struct names buffers; /* placeholder -> its spec */
  names_init(&roots, pt->arena);
  names_init(&buffers, pt->arena);
  bool fresh;
  for (size_t i = 0; i < json_array_size(specs); i++) {
    json_t *spec = NULL;
    if (strcmp(pt_variant(json_array_get(specs, i), &spec), "buffer")) continue;
    const char *name = pt_words(json_object_get(json_object_get(spec, "arg"), "name"));
    TRY(names_add(pt->ctx, &buffers, name, spec, &fresh));
    TRY(names_add(pt->ctx, &roots, name, (void *)(uintptr_t)name, &fresh));
  }
  for (size_t i = 0; i < json_array_size(nodes); i++) {
    const json_t *node = json_array_get(nodes, i);
    const char *target = pt_target(node), *plain;
    TRY(pt_plain_target(pt, target, &plain));
    const char *root = names_find(&roots, pt_self(node));
    if (!root || (!plain && !pt_view_of(target))) continue;
    const json_t *spec = names_find(&buffers, root);
    if (plain) TRY(add_state(pt, root, pt_words(json_object_get(spec, "buffer_name"))));
    json_t *result = NULL;
    pt_variant(json_array_get(json_object_get(node, "outputs"), 0), &result);
    const char *name = pt_words(json_object_get(result, "name"));
    if (*name) TRY(names_add(pt->ctx, &roots, name, (void *)(uintptr_t)root, &fresh));
  }
  return HONE_OK;
}

/* A written buffer: an input with the module's name for it, and its stored content as the initial
 * value. */
static hone_status add_state_input(struct pt *pt, const char *name, const char *buffer) {
  const struct tensor *tensor = NULL;
  struct value *value;
  const char *copy;
  bool is_complex;
  TRY(read_weight(pt, buffer, &tensor, &is_complex));
  if (is_complex)
    return fail(pt->ctx, HONE_E_TYPE, place_name(buffer), "a state of complex numbers");
  TRY(name_copy(pt->ctx, pt->arena, (const uint8_t *)buffer, strlen(buffer), 0, "a buffer's name",
                &copy));
  TRY(graph_input(pt->ctx, pt->b.graph, copy, tensor->dtype, &tensor->shape, &value));
  value->is_kept = true;
  struct pt_state *state = state_of(pt, buffer);
  state->before = value;
  state->initial = tensor;
  warn(pt->ctx,
       "the module writes its buffer \"%s\": it becomes an input, initially as stored in the file, "
       "and then "
       "the output \"%s.next\" of the previous run",
       copy, copy);
  return pt_define(pt, name, value, 0);
}

/* The state after a run. */
static hone_status add_state_output(struct pt *pt, const struct pt_state *state) {
  struct pt_op op = {.pt = pt, .ctx = pt->ctx, .b = &pt->b, .target = "output"};
  struct pt_item *item;
  const char *label;
  struct graph *graph = pt->b.graph;
  TRY(pt_find(pt, place_name(state->name), state->name, &item));
  if (!item->value) return wrong(pt, state->name, "a state that is a number");
  TRY(pt_refresh(&op, item));
  TRY(arena_printf(pt->ctx, pt->arena, &label, "%s.next", state->buffer));
  pt->b.index = -1;
  TRY(make_graph_output(&pt->b, item->value, label));
  const struct value *before = state->before, *after = graph->outputs.at[graph->outputs.count - 1];
  if (!before || before->dtype != after->dtype || !shape_equal(&before->shape, &after->shape))
    return HONE_OK; /* not usable as the initial state of another run */
  struct alias alias = {graph->outputs.count - 1, 0, state->initial};
  while (graph->inputs.at[alias.input] != before) alias.input++;
  VEC_PUSH(pt->ctx, pt->arena, &graph->aliases, alias);
  return HONE_OK;
}

static hone_status add_state_outputs(struct pt *pt) {
  for (size_t i = 0; i < pt->states.count; i++) TRY(add_state_output(pt, &pt->states.at[i]));
  return HONE_OK;
}

/* The smallest value that the archive allows for a named size. PyTorch writes 0 or 2 for any size,
 * so 1 is allowed too. */
static int64_t least_size(const struct pt *pt, const char *name) {
  const json_t *ranges = json_object_get(pt->model, "range_constraints");
  const json_t *range = *name ? json_object_get(ranges, name) : NULL;
  const int64_t least = json_integer_value(json_object_get(range, "min_val"));
  return least > 2 && least <= INT32_MAX ? least : 1;
}

static hone_status read_input(struct pt *pt, const char *name, const json_t *values,
                              struct raw_value *raw, bool *out_is_complex) {
  struct meta meta;
  const json_t *about = json_object_get(values, name);
  if (!about) return wrong(pt, name, "an input without a type");
  TRY(read_meta(pt, name, about, &meta));
  TRY(name_copy(pt->ctx, pt->arena, (const uint8_t *)name, strlen(name), 0, "an input's name",
                &raw->name));
  *out_is_complex = meta.is_complex;
  if (meta.is_complex) warn_complex_pairs(pt, raw->name);
  raw->dtype = meta.dtype;
  raw->has_shape = true;
  raw->rank = meta.shape.rank;
  TRY(NEW_ARRAY(pt->ctx, pt->arena, raw->dims, (size_t)raw->rank));
  for (int d = 0; d < raw->rank; d++) {
    raw->dims[d].value = meta.shape.dims[d];
    TRY(symbol_of(pt, json_array_get(json_object_get(about, "sizes"), (size_t)d),
                  &raw->dims[d].param));
    raw->dims[d].example = least_size(pt, raw->dims[d].param);
  }
  return HONE_OK;
}

static hone_status add_weight(struct pt *pt, const char *kind, const json_t *spec) {
  static const char *const fields[][2] = {{"parameter", "parameter_name"},
                                          {"buffer", "buffer_name"},
                                          {"tensor_constant", "tensor_constant_name"}};
  for (size_t i = 0; i < COUNT(fields); i++) {
    if (strcmp(kind, fields[i][0])) continue;
    const struct tensor *tensor = NULL;
    struct value *value;
    const char *name = pt_words(json_object_get(json_object_get(spec, "arg"), "name"));
    struct pt_item *item;
    bool is_complex;
    TRY(read_weight(pt, pt_words(json_object_get(spec, fields[i][1])), &tensor, &is_complex));
    TRY(graph_constant(pt->ctx, pt->b.graph, NULL, tensor, &value));
    TRY(pt_define(pt, name, value, 0));
    TRY(pt_find(pt, place_name(name), name, &item));
    item->is_complex = is_complex;
    return HONE_OK;
  }
  if (!strcmp(kind, "custom_obj"))
    return fail(
        pt->ctx, HONE_E_TRUST, place_name(pt_words(json_object_get(spec, "custom_obj_name"))),
        "a custom object, which can contain code; export the model again with plain tensors");
  return fail(pt->ctx, HONE_E_UNSUP, place_name(kind), "an input of this kind is not supported");
}

static hone_status add_inputs(struct pt *pt, const json_t *graph, const json_t *signature) {
  const json_t *specs = json_object_get(signature, "input_specs");
  const json_t *values = json_object_get(graph, "tensor_values");
  struct inputs inputs = {0};
  for (size_t i = 0; i < json_array_size(specs); i++) {
    json_t *spec, *tensor;
    const char *kind = pt_variant(json_array_get(specs, i), &spec);
    const char *buffer = pt_words(json_object_get(spec, "buffer_name"));
    if (!strcmp(kind, "buffer") && state_of(pt, buffer)) continue; /* added after the others */
    if (!strcmp(kind, "token")) continue;                          /* only orders effects */
    if (strcmp(kind, "user_input")) {
      TRY(add_weight(pt, kind, spec));
      continue;
    }
    if (strcmp(pt_variant(json_object_get(spec, "arg"), &tensor), "as_tensor"))
      return fail(pt->ctx, HONE_E_UNSUP, place_none(), "input %zu is not a tensor", i);
    struct raw_value raw = {0};
    bool is_complex = false;
    TRY(read_input(pt, pt_words(json_object_get(tensor, "name")), values, &raw, &is_complex));
    VEC_PUSH(pt->ctx, pt->arena, &inputs.raw, raw);
    VEC_PUSH(pt->ctx, pt->arena, &inputs.is_complex, is_complex);
  }
  struct shape *shapes;
  bool *is_real;
  TRY(NEW_ARRAY(pt->ctx, pt->arena, shapes, inputs.raw.count));
  TRY(NEW_ARRAY(pt->ctx, pt->arena, is_real, inputs.raw.count));
  for (size_t i = 0; i < inputs.raw.count; i++) is_real[i] = true;
  TRY(bind_shapes(pt->ctx, pt->arena, pt->source->options, inputs.raw.at, is_real, inputs.raw.count,
                  shapes, pt->b.graph));
  for (size_t i = 0; i < inputs.raw.count; i++) {
    struct value *value;
    int64_t elements;
    size_t bytes;
    TRY(shape_check(pt->ctx, place_name(inputs.raw.at[i].name), inputs.raw.at[i].dtype, &shapes[i],
                    &elements, &bytes));
    TRY(graph_input(pt->ctx, pt->b.graph, inputs.raw.at[i].name, inputs.raw.at[i].dtype, &shapes[i],
                    &value));
    TRY(pt_define(pt, inputs.raw.at[i].name, value, 0));
    struct pt_item *item = names_find(&pt->items, inputs.raw.at[i].name);
    item->is_complex = inputs.is_complex.at[i];
  }
  for (size_t i = 0; i < json_array_size(specs); i++) {
    json_t *spec = NULL;
    const char *kind = pt_variant(json_array_get(specs, i), &spec);
    const char *buffer = pt_words(json_object_get(spec, "buffer_name"));
    if (!strcmp(kind, "buffer") && state_of(pt, buffer))
      TRY(add_state_input(pt, pt_words(json_object_get(json_object_get(spec, "arg"), "name")),
                          buffer));
  }
  return HONE_OK;
}

/* An output that is None, or a number that is known at import. */
static hone_status leave_out(struct pt *pt, size_t i, const json_t *arg) {
  static const char *const kinds[] = {"as_none", "as_int", "as_float", "as_bool", "as_string"};
  json_t *content = NULL;
  struct pt_item *item = NULL;
  const char *kind = pt_variant(arg, &content);
  bool is_known = false;
  if (!strncmp(kind, "as_sym_", 7)) {
    const char *inner = pt_variant(content, &content);
    if (!strcmp(inner, "as_name"))
      TRY(pt_find(pt, place_name(pt_words(content)), pt_words(content), &item));
    is_known = !item || (!item->value && !item->is_open);
  }
  for (size_t k = 0; k < COUNT(kinds); k++) is_known |= !strcmp(kind, kinds[k]);
  if (!is_known)
    return fail(pt->ctx, HONE_E_UNSUP, place_none(), "output %zu is %s, not a tensor", i,
                item ? "a number known only at run time" : kind);
  if (strcmp(kind, "as_none"))
    warn(pt->ctx, "output %zu of the module is not a tensor (%s), and is omitted", i, kind + 3);
  return HONE_OK;
}

static hone_status add_outputs(struct pt *pt, const json_t *signature) {
  const json_t *specs = json_object_get(signature, "output_specs");
  struct pt_op op = {.pt = pt, .ctx = pt->ctx, .b = &pt->b, .target = "output"};
  for (size_t i = 0; i < json_array_size(specs); i++) {
    json_t *spec = NULL, *tensor = NULL;
    struct pt_item *item;
    const char *name;
    const char *kind = pt_variant(json_array_get(specs, i), &spec);
    if (!strcmp(kind, "buffer_mutation") || !strcmp(kind, "user_input_mutation")) {
      const char *key = *kind == 'b' ? "buffer_name" : "user_input_name";
      TRY(add_state(pt, pt_words(json_object_get(json_object_get(spec, "arg"), "name")),
                    pt_words(json_object_get(spec, key))));
      continue; /* added after the others */
    }
    if (!strcmp(kind, "token")) continue;
    if (strcmp(kind, "user_output"))
      return fail(pt->ctx, HONE_E_UNSUP, place_none(), "output %zu is a %s, not a tensor", i, kind);
    if (strcmp(pt_variant(json_object_get(spec, "arg"), &tensor), "as_tensor")) {
      TRY(leave_out(pt, i, json_object_get(spec, "arg")));
      continue;
    }
    name = pt_words(json_object_get(tensor, "name"));
    TRY(pt_find(pt, place_name(name), name, &item));
    if (!item->value)
      return fail(pt->ctx, HONE_E_UNSUP, place_name(name),
                  "an output that is a number, or a result that is not computed");
    TRY(pt_refresh(&op, item));
    TRY(arena_string(pt->ctx, pt->arena, name, strlen(name), &name));
    if (item->is_complex) warn_complex_pairs(pt, name);
    pt->b.index = -1;
    for (size_t k = 0; k < pt->b.graph->outputs.count; k++)
      if (!strcmp(pt->b.graph->outputs.at[k]->name, name))
        TRY(arena_printf(pt->ctx, pt->arena, &name, "%s:%zu", name, i));
    if (item->value->is_input) TRY(arena_printf(pt->ctx, pt->arena, &name, "%s:out", name));
    TRY(make_graph_output(&pt->b, item->value, name));
  }
  TRY(add_state_outputs(pt));
  if (pt->b.graph->outputs.count) return HONE_OK;
  return fail(pt->ctx, HONE_E_FORMAT, place_none(), "a graph without outputs");
}

/* -- nodes */

static hone_status build(struct pt *pt) {
  const json_t *module = json_object_get(pt->model, "graph_module");
  const json_t *graph = json_object_get(module, "graph");
  const json_t *signature = json_object_get(module, "signature");
  const json_t *nodes = json_object_get(graph, "nodes");
  int64_t major =
      json_integer_value(json_object_get(json_object_get(pt->model, "schema_version"), "major"));
  if (!graph || !signature || !json_is_array(nodes))
    return wrong(pt, "graph_module", "no graph, signature or nodes");
  if (major != SCHEMA_MAJOR)
    return fail(pt->ctx, HONE_E_UNSUP, place_none(),
                "version %lld of torch.export's schema: hone reads %d", (long long)major,
                SCHEMA_MAJOR);
  if ((int64_t)json_array_size(nodes) > pt->ctx->limits[LIMIT_nodes])
    return fail(pt->ctx, HONE_E_LIMIT, place_none(), "%zu nodes (limit nodes)",
                json_array_size(nodes));
  const json_t *specs = json_object_get(signature, "input_specs");
  TRY(states_of_outputs(pt, json_object_get(signature, "output_specs"), specs));
  TRY(states_of_nodes(pt, specs, nodes));
  pt->values = json_object_get(graph, "tensor_values");
  TRY(add_inputs(pt, graph, signature));
  for (size_t i = 0; i < json_array_size(nodes); i++)
    TRY(pt_add_node(pt, json_array_get(nodes, i), i));
  return add_outputs(pt, signature);
}

/* -- the archive */

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && !strcmp(text + n - m, end);
}

/* Members that loaders execute. sample_inputs is a pickle that hone never reads. */
static const char *code_in(const struct zip *zip) {
  static const char *const ends[] = {".so", ".cubin", ".dll", ".dylib", ".o", ".py", ".pkl", ".h5"};
  for (size_t i = 0; i < zip->count; i++)
    for (size_t k = 0; k < COUNT(ends); k++)
      if (ends_with(zip->members[i].name, ends[k])) return zip->members[i].name;
  return NULL;
}

static hone_status find_prefix(struct pt *pt) {
  static const char model[] = "models/model.json";
  pt->prefix = NULL;
  for (size_t i = 0; i < pt->zip.count; i++) {
    const char *name = pt->zip.members[i].name;
    size_t n = strlen(name), m = sizeof model - 1;
    if (!ends_with(name, model) || (n > m && name[n - m - 1] != '/')) continue;
    if (pt->prefix)
      return fail(pt->ctx, HONE_E_FORMAT, place_name(name),
                  "two archives in one file: \"%s%s\" exists too", pt->prefix, model);
    TRY(arena_string(pt->ctx, pt->arena, name, n - m, &pt->prefix));
  }
  return HONE_OK;
}

/* Checks the archive's metadata, in separate members that may be absent. */
static hone_status check_about(struct pt *pt) {
  static const struct {
    const char *member, *expected;
  } rows[] = {{"archive_format", "pt2"}, {"archive_version", "0"}, {"byteorder", "little"}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    const char *name, *expected = rows[i].expected;
    const uint8_t *bytes;
    TRY(arena_printf(pt->ctx, pt->arena, &name, "%s%s", pt->prefix, rows[i].member));
    const struct zip_member *member = zip_find(&pt->zip, name);
    if (!member) continue;
    TRY(zip_read(&pt->zip, pt->arena, member, &bytes));
    if (member->size != strlen(expected) || memcmp(bytes, expected, member->size))
      return fail(pt->ctx, HONE_E_UNSUP, place_name(name), "is \"%.*s\", hone reads \"%s\"",
                  (int)(member->size < 32 ? member->size : 32), (const char *)bytes, expected);
  }
  return HONE_OK;
}

/* TorchScript stores code next to the pickle; `python -m hone export` can trace it. */
static hone_status refuse_code(struct pt *pt, const char *code) {
  const char *path = pt->source->path;
  bool is_script = false;
  for (size_t i = 0; i < pt->zip.count; i++)
    is_script |= strstr(pt->zip.members[i].name, "/code/") != NULL;
  const hone_status status = fail(pt->ctx, HONE_E_TRUST, place_file(path),
                                  "%smember \"%s\" can contain code, which hone never runs",
                                  is_script ? "TorchScript: " : "", code);
  if (ends_with(code, ".h5"))
    return advise(pt->ctx, status, "'python -m tf2onnx.convert --keras FILE --output model.onnx'");
  if (is_script)
    return advise(
        pt->ctx, status,
        "'python -m hone export FILE -o model.onnx --input 1x3x224x224' traces it to ONNX by "
        "running that code (so only for a file that you trust)");
  return advise(pt->ctx, status,
                "export the model: torch.export.save(torch.export.export(model, args), "
                "\"model.pt2\")");
}

static hone_status open_archive(struct pt *pt) {
  const char *path = pt->source->path;
  TRY(zip_open(pt->ctx, pt->arena, pt->source->bytes, pt->source->size, &pt->zip));
  const char *code = code_in(&pt->zip);
  TRY(find_prefix(pt));
  if (code) return refuse_code(pt, code);
  if (!pt->prefix)
    return fail(pt->ctx, HONE_E_FORMAT, place_file(path),
                "looks like a zip archive, but not one of torch.export: no models/model.json");
  TRY(check_about(pt));
  TRY(load_json(pt, "models/model.json", &pt->model));
  TRY(load_json(pt, "data/weights/model_weights_config.json", &pt->weights));
  return load_json(pt, "data/constants/model_constants_config.json", &pt->constants);
}

hone_status read_pt2(struct ctx *ctx, struct arena *arena, const struct source *source,
                     struct graph **out_graph) {
  struct pt pt = {.ctx = ctx, .arena = arena, .source = source};
  pt.b = (struct graph_builder){.ctx = ctx, .index = -1, .name = ""};
  names_init(&pt.items, arena);
  TRY(graph_create(ctx, arena, &pt.b.graph));
  hone_status status = open_archive(&pt);
  if (!status) status = build(&pt);
  json_decref(pt.model);
  json_decref(pt.weights);
  json_decref(pt.constants);
  *out_graph = pt.b.graph;
  return status;
}
