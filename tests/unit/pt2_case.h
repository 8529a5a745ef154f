/* pt2_case: archives of torch.export from a short text, for tests. A node is "results = target(name=argument, ..)":
 *   @x a tensor, $n a number that the graph computes, 3, 1.5, true, 'text', none, [1,$n], [@x,@y], [1.5], {json} as it is
 * results: names separated by commas; [a,b] one list of tensors; $n a number; ? one without a name.
 * Nodes are separated by semicolons. */
#ifndef HONE_PT2_CASE_H
#define HONE_PT2_CASE_H
#include "import_case.h"
#include "zip_bytes.h"

#include <jansson.h>

static inline json_t *named(const char *name, size_t n) {
  json_t *out = json_object();
  json_object_set_new(out, "name", json_stringn(name, n));
  return out;
}

/* The length of the argument that begins at p. */
static inline size_t argument_length(const char *p) {
  int depth = 0;
  size_t n = 0;
  for (; p[n] && (depth || (p[n] != ',' && p[n] != ')')); n++)
    depth += (p[n] == '[' || p[n] == '{') - (p[n] == ']' || p[n] == '}');
  return n;
}

static inline json_t *argument_of(const char *p, size_t n) {
  char text[4096];
  assert_true(n < sizeof text);
  memcpy(text, p, n);
  text[n] = 0;
  if (*text == '{') {
    json_t *given = json_loads(text, 0, NULL);
    assert_non_null(given);
    return given;
  }
  if (*text == '@') return json_pack("{s:o}", "as_tensor", named(text + 1, n - 1));
  if (*text == '$') return json_pack("{s:{s:s}}", "as_sym_int", "as_name", text + 1);
  if (*text == '\'') return json_pack("{s:s%}", "as_string", text + 1, n - 2);
  if (!strcmp(text, "none")) return json_pack("{s:b}", "as_none", 1);
  if (!strcmp(text, "true") || !strcmp(text, "false"))
    return json_pack("{s:b}", "as_bool", *text == 't');
  if (*text != '[') {
    bool is_float = strpbrk(text, ".en") != NULL;
    if (is_float) return json_pack("{s:f}", "as_float", strtod(text, NULL));
    return json_pack("{s:I}", "as_int", (json_int_t)strtoll(text, NULL, 10));
  }
  const char *kind = text[1] == '@'        ? "as_tensors"
                     : strchr(text, '$')   ? "as_sym_ints"
                     : strpbrk(text, ".e") ? "as_floats"
                                           : "as_ints";
  json_t *list = json_array();
  for (const char *at = text + 1; *at && *at != ']';) {
    size_t length = strcspn(at, ",]");
    if (*at == '@')
      json_array_append_new(list, named(at + 1, length - 1));
    else if (*at == '$')
      json_array_append_new(list, json_pack("{s:s%}", "as_name", at + 1, length - 1));
    else if (!strcmp(kind, "as_sym_ints"))
      json_array_append_new(list, json_pack("{s:I}", "as_int", (json_int_t)strtoll(at, NULL, 10)));
    else
      json_array_append_new(list, strcmp(kind, "as_floats")
                                      ? json_integer((json_int_t)strtoll(at, NULL, 10))
                                      : json_real(strtod(at, NULL)));
    at += length + (at[length] == ',');
  }
  return json_pack("{s:o}", kind, list);
}

static inline json_t *results_of(const char *p, size_t n) {
  json_t *out = json_array();
  for (const char *end = p + n; p < end;) {
    size_t length = *p == '[' ? strcspn(p, "]") + 1 : strcspn(p, ", =");
    if (*p == '?') {
      json_array_append_new(out, json_pack("{s:{}}", "as_sym_int"));
    } else if (*p == '$') {
      json_array_append_new(out,
                            json_pack("{s:{s:s%}}", "as_sym_int", "as_name", p + 1, length - 1));
    } else if (*p == '[') {
      json_t *list = json_array();
      for (const char *at = p + 1; *at != ']';) {
        size_t k = strcspn(at, ",]");
        json_array_append_new(list, named(at, k));
        at += k + (at[k] == ',');
      }
      json_array_append_new(out, json_pack("{s:o}", "as_tensors", list));
    } else {
      json_array_append_new(out, json_pack("{s:o}", "as_tensor", named(p, length)));
    }
    p += length;
    while (p < end && (*p == ',' || *p == ' ')) p++;
  }
  return out;
}

/* "x = aten.relu.default(self=@y)" */
static inline json_t *node_of(const char *text, size_t n) {
  char line[8192];
  assert_true(n < sizeof line);
  memcpy(line, text, n);
  line[n] = 0;
  char *equals = strstr(line, " = "), *open = equals ? strchr(equals, '(') : NULL;
  assert_true(equals && open);
  json_t *inputs = json_array(), *node = json_object();
  for (const char *p = open + 1; *p && *p != ')';) {
    size_t name = strcspn(p, "=");
    const char *value = p + name + 1;
    size_t length = argument_length(value);
    json_array_append_new(inputs, json_pack("{s:s%,s:o,s:i}", "name", p, name, "arg",
                                            argument_of(value, length), "kind", 1));
    p = value + length;
    while (*p == ',' || *p == ' ') p++;
  }
  char target[200];
  snprintf(target, sizeof target, "torch.ops.%.*s", (int)(open - equals - 3), equals + 3);
  json_object_set_new(node, "target", json_string(target));
  json_object_set_new(node, "name", json_string("n"));
  json_object_set_new(node, "metadata", json_object());
  json_object_set_new(node, "inputs", inputs);
  json_object_set_new(node, "outputs", results_of(line, (size_t)(equals - line)));
  return node;
}

/* Sizes "2,3" of a tensor of PyTorch's type number; "s" is an open one. */
static inline json_t *meta_of(int dtype, const char *sizes) {
  json_t *dims = json_array(), *strides = json_array();
  long long all[16] = {0}, stride = 1;
  size_t rank = 0;
  for (const char *p = sizes; *p; p += strcspn(p, ","), p += *p == ',') {
    all[rank++] = strtoll(p, NULL, 10);
    json_array_append_new(
        dims, *p == 's'
                  ? json_pack("{s:{s:s}}", "as_expr", "expr_str", "Symbol('s0', positive=True)")
                  : json_pack("{s:I}", "as_int", (json_int_t)all[rank - 1]));
  }
  for (size_t d = rank; d-- > 0; stride *= all[d] > 0 ? all[d] : 1)
    json_array_insert_new(strides, 0, json_pack("{s:I}", "as_int", (json_int_t)stride));
  return json_pack("{s:i,s:o,s:o,s:{s:i}}", "dtype", dtype, "sizes", dims, "strides", strides,
                   "storage_offset", "as_int", 0);
}

/* inputs "x:7:2,3 i:5:4": name, PyTorch's type, sizes; outputs "y z". */
static inline json_t *module_of(const char *inputs, const char *nodes, const char *outputs) {
  json_t *values = json_object(), *in = json_array(), *out = json_array(), *list = json_array();
  for (const char *p = inputs; *p; p += *p == ' ') {
    size_t name = strcspn(p, ":");
    char key[32], sizes[64];
    snprintf(key, sizeof key, "%.*s", (int)name, p);
    int dtype = (int)strtol(p + name + 1, NULL, 10);
    p += name + 1;
    p += strcspn(p, ":") + 1;
    snprintf(sizes, sizeof sizes, "%.*s", (int)strcspn(p, " "), p);
    p += strcspn(p, " ");
    json_object_set_new(values, key, meta_of(dtype, sizes));
    json_array_append_new(
        in, json_pack("{s:{s:{s:{s:s}}}}", "user_input", "arg", "as_tensor", "name", key));
  }
  for (const char *p = nodes; *p;) {
    size_t n = strcspn(p, ";");
    json_array_append_new(list, node_of(p, n));
    p += n;
    while (*p == ';' || *p == ' ') p++;
  }
  for (const char *p = outputs; *p; p += *p == ' ') {
    size_t n = strcspn(p, " ");
    json_array_append_new(
        out, json_pack("{s:{s:{s:o}}}", "user_output", "arg", "as_tensor", named(p, n)));
    p += n;
  }
  return json_pack("{s:{s:{s:[],s:[],s:o,s:o},s:{s:o,s:o}},s:{s:i,s:i}}", "graph_module", "graph",
                   "inputs", "outputs", "nodes", list, "tensor_values", values, "signature",
                   "input_specs", in, "output_specs", out, "schema_version", "major", 8, "minor",
                   5);
}

/* The archive of a module; members of other names as given. Takes the model over. */
static inline struct buf archive_of(json_t *model, const char *const (*members)[2], size_t count) {
  struct buf b = {0}, directory = {0};
  char *text = json_dumps(model, JSON_COMPACT);
  bool has_weights = false, has_constants = false;
  uint16_t all = 1;
  assert_non_null(text);
  put_member(&b, &directory, "m/models/model.json", text, strlen(text));
  for (size_t i = 0; i < count; i++, all++) {
    has_weights |= strstr(members[i][0], "model_weights_config") != NULL;
    has_constants |= strstr(members[i][0], "model_constants_config") != NULL;
    put_member(&b, &directory, members[i][0], members[i][1], strlen(members[i][1]));
  }
  if (!has_weights)
    put_member(&b, &directory, "m/data/weights/model_weights_config.json", "{}", 2), all++;
  if (!has_constants)
    put_member(&b, &directory, "m/data/constants/model_constants_config.json", "{}", 2), all++;
  put_directory(&b, &directory, all);
  free(text);
  json_decref(model);
  return b;
}
#endif
