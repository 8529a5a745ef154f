/* Archives of torch.export with an error outside of their nodes: one JSON value or member is
 * replaced in a small model. */
#include "pt2_case.h"

/* y = relu(x + w); w is a parameter of two rows. */
static json_t *small_model(void) {
  json_t *model = module_of(
      "x:7:2,3", "s = aten.add.Tensor(self=@x, other=@w); y = aten.relu.default(self=@s)", "y");
  json_t *specs = json_object_get(
      json_object_get(json_object_get(model, "graph_module"), "signature"), "input_specs");
  json_array_append_new(specs, json_pack("{s:{s:{s:s},s:s}}", "parameter", "arg", "name", "w",
                                         "parameter_name", "w"));
  return model;
}

static const char weights[] =
    "{\"config\": {\"w\": {\"path_name\": \"weight_0\", \"is_param\": true, \"use_pickle\": "
    "false, \"tensor_meta\": {\"dtype\": 7, \"sizes\": [{\"as_int\": 2}, {\"as_int\": 3}], "
    "\"strides\": [{\"as_int\": 3}, {\"as_int\": 1}], \"storage_offset\": {\"as_int\": 0}}}}}";
static const char content[] = "0123456789abcdef01234567"; /* six floats */

/* The value at a path of names and numbers ("a.0.b"), and what holds it. */
static json_t *at_path(json_t *json, const char *path, json_t **holder, char last[64]) {
  for (const char *p = path; *p; p += strcspn(p, "."), p += *p == '.') {
    snprintf(last, 64, "%.*s", (int)strcspn(p, "."), p);
    *holder = json;
    json = json_is_array(json) ? json_array_get(json, (size_t)strtol(last, NULL, 10))
                               : json_object_get(json, last);
  }
  return json;
}

/* text: JSON that takes its place; NULL: it is left out. */
static void replace(json_t *json, const char *path, const char *text) {
  json_t *holder = NULL, *value = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
  char last[64] = "";
  assert_true(!text || value);
  at_path(json, path, &holder, last);
  assert_non_null(holder);
  if (json_is_array(holder)) {
    size_t k = (size_t)strtol(last, NULL, 10);
    if (!value)
      assert_int_equal(json_array_remove(holder, k), 0);
    else if (k < json_array_size(holder))
      assert_int_equal(json_array_set_new(holder, k, value), 0);
    else
      assert_int_equal(json_array_append_new(holder, value), 0);
  } else if (value) {
    assert_int_equal(json_object_set_new(holder, last, value), 0);
  } else {
    json_object_del(holder, last);
  }
}

struct edit {
  const char *path, *text;
  hone_status status;
  const char *says;
};

static void expect_archive(json_t *model, const char *config, const char *bytes, hone_status status,
                           const char *says) {
  const char *const members[][2] = {{"m/data/weights/model_weights_config.json", config},
                                    {"m/data/weights/weight_0", bytes}};
  struct buf b = archive_of(model, members, 2);
  expect(&b, NULL, status, says);
}

#define GRAPH "graph_module.graph."
#define SIGNATURE "graph_module.signature."
#define X_META GRAPH "tensor_values.x."

static void the_model(void **state) {
  static const struct edit rows[] = {
      {"schema_version.minor", "99", HONE_OK, NULL},
      {"schema_version.major", "7", HONE_E_UNSUP, "version 7 of torch.export's schema"},
      {"schema_version", NULL, HONE_E_UNSUP, "version 0"},
      {"graph_module", "3", HONE_E_FORMAT, "no graph, signature or nodes"},
      {"graph_module.graph", NULL, HONE_E_FORMAT, "no graph, signature or nodes"},
      {"graph_module.signature", NULL, HONE_E_FORMAT, "no graph, signature or nodes"},
      {GRAPH "nodes", "{}", HONE_E_FORMAT, "no graph, signature or nodes"},
      {GRAPH "nodes", "[]", HONE_E_FORMAT, "reads \"y\", which nothing defines"},
      {GRAPH "nodes.0.target", "3", HONE_E_UNSUP, "PyTorch operator \"\""},
      {GRAPH "nodes.0.inputs", "3", HONE_E_FORMAT, "without argument self"},
      {GRAPH "nodes.0.inputs.0", "3", HONE_E_FORMAT, "without argument self"},
      {GRAPH "nodes.0.outputs", "[]", HONE_E_FORMAT, "has no result 0"},
      {GRAPH "nodes.0.outputs.0", "{}", HONE_E_FORMAT, "has no result 0"},
      {SIGNATURE "output_specs", "[]", HONE_E_FORMAT, "a graph without outputs"},
      {SIGNATURE "output_specs", "3", HONE_E_FORMAT, "a graph without outputs"},
      {SIGNATURE "output_specs.0", "{\"user_output\": {\"arg\": {\"as_none\": true}}}",
       HONE_E_FORMAT, "a graph without outputs"},
      {SIGNATURE "output_specs.0", "{\"loss_output\": {\"arg\": {\"name\": \"y\"}}}", HONE_E_UNSUP,
       "output 0 is a loss_output"},
      {SIGNATURE "output_specs.0", "{\"user_output\": {\"arg\": {\"as_int\": 3}}}", HONE_E_FORMAT,
       "a graph without outputs"},
      {SIGNATURE "output_specs.1",
       "{\"user_output\": {\"arg\": {\"as_tensor\": {\"name\": \"y\"}}}}", HONE_OK, NULL},
      {SIGNATURE "output_specs.1",
       "{\"user_output\": {\"arg\": {\"as_tensor\": {\"name\": \"x\"}}}}", HONE_OK, NULL},
      {SIGNATURE "output_specs.1",
       "{\"user_output\": {\"arg\": {\"as_tensor\": {\"name\": \"q\"}}}}", HONE_E_FORMAT,
       "reads \"q\""},
      {SIGNATURE "output_specs.1",
       "{\"user_input_mutation\": {\"arg\": {\"name\": \"s\"}, \"user_input_name\": \"x\"}}",
       HONE_OK, NULL},
      {SIGNATURE "output_specs.1",
       "{\"buffer_mutation\": {\"arg\": {\"name\": \"q\"}, \"buffer_name\": \"w\"}}", HONE_E_FORMAT,
       "no such buffer"},
      {SIGNATURE "input_specs", "[]", HONE_E_FORMAT, "reads \"x\", which nothing defines"},
      {SIGNATURE "input_specs.0", "{\"user_input\": {\"arg\": {\"as_int\": 3}}}", HONE_E_UNSUP,
       "input 0 is not a tensor"},
      {SIGNATURE "input_specs.0", "{\"user_input\": {\"arg\": {\"as_tensor\": {\"name\": \"q\"}}}}",
       HONE_E_FORMAT, "an input without a type"},
      {SIGNATURE "input_specs.0",
       "{\"custom_obj\": {\"arg\": {\"name\": \"o\"}, \"custom_obj_name\": \"obj\"}}", HONE_E_TRUST,
       "a custom object"},
      {SIGNATURE "input_specs.0", "{\"token\": {\"arg\": {\"name\": \"t\"}}}", HONE_E_FORMAT,
       "reads \"x\""},
      {SIGNATURE "input_specs.0", "3", HONE_E_UNSUP, "an input of this kind"},
      {SIGNATURE "input_specs.1.parameter.parameter_name", "\"nobody\"", HONE_E_FORMAT,
       "the archive does not contain this weight"},
      {SIGNATURE "input_specs.2", "{\"user_input\": {\"arg\": {\"as_tensor\": {\"name\": \"x\"}}}}",
       HONE_E_FORMAT, "defined twice"},
      {GRAPH "tensor_values", NULL, HONE_E_FORMAT, "an input without a type"},
      {X_META "dtype", "0", HONE_E_TYPE, "element type 0 of PyTorch"},
      {X_META "dtype", "-1", HONE_E_TYPE, "element type -1"},
      {X_META "dtype", "9", HONE_E_TYPE, "element type 9"},
      {X_META "dtype", "99", HONE_E_TYPE, "element type 99"},
      {X_META "sizes", "[]", HONE_E_FORMAT, "sizes and strides do not match"},
      {X_META "sizes", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", HONE_E_FORMAT,
       "sizes and strides do not match"},
      {X_META "strides", "[]", HONE_E_FORMAT, "sizes and strides do not match"},
      {X_META "sizes.0", "{\"as_int\": -3}", HONE_E_SHAPE, "dimension 0 is -3"},
      {X_META "sizes.0", "{\"as_int\": -1}", HONE_E_SHAPE, "dimension 0 is -1"},
      {X_META "sizes.0", "{\"as_expr\": {\"expr_str\": \"2*s0 + 1\"}}", HONE_OK, NULL},
      {X_META "sizes.0", "{\"as_expr\": {\"expr_str\": \"s0\"}}", HONE_OK, NULL},
      {X_META "sizes.0", "{\"as_expr\": {}}", HONE_OK, NULL},
      {X_META "sizes.0", "3", HONE_OK, NULL},
      {X_META "strides.0", "{\"as_expr\": {}}", HONE_OK, NULL},
      {X_META "storage_offset", "3", HONE_OK, NULL},
      {X_META "sizes.0", "{\"as_int\": 4611686018427387904}", HONE_E_LIMIT, ""},
  };
  (void)state;
  for (size_t i = 0; i < COUNT(rows); i++) {
    json_t *model = small_model();
    replace(model, rows[i].path, rows[i].text);
    expect_archive(model, weights, content, rows[i].status, rows[i].says);
  }
}

static void the_weights(void **state) {
#define W "config.w."
#define META W "tensor_meta."
  static const struct edit rows[] = {
      {"config", NULL, HONE_E_FORMAT, "the archive does not contain this weight"},
      {"config.w", NULL, HONE_E_FORMAT, "the archive does not contain this weight"},
      {W "use_pickle", "true", HONE_E_TRUST, "stored as a pickle"},
      {W "path_name", "\"custom_obj_0\"", HONE_E_TRUST, "stored as a pickle"},
      {W "path_name", "\"weight_7\"", HONE_E_FORMAT, "no such member"},
      {W "path_name", "3", HONE_E_FORMAT, "no such member"},
      {META "dtype", "77", HONE_E_TYPE, "element type 77"},
      {META "dtype", "8", HONE_E_FORMAT, "exceeds the 24 bytes"},
      {META "sizes.0", "{\"as_int\": 3}", HONE_E_FORMAT, "exceeds the 24 bytes"},
      {META "sizes.0", "{\"as_int\": 1}", HONE_OK, NULL},
      {META "sizes.0", "{\"as_int\": 0}", HONE_E_SHAPE, ""},
      {META "sizes.0", "{\"as_expr\": {\"expr_str\": \"s0\"}}", HONE_E_SHAPE,
       "a weight with a dynamic dimension"},
      {META "sizes.0", "{\"as_int\": 4611686018427387904}", HONE_E_LIMIT, ""},
      {META "strides.0", "{\"as_int\": 4}", HONE_E_FORMAT, "exceeds"},
      {META "strides.0", "{\"as_int\": -3}", HONE_E_FORMAT, "exceeds"},
      {META "strides.0", "{\"as_int\": 9223372036854775807}", HONE_E_FORMAT, "exceeds"},
      {META "strides.1", "{\"as_int\": 9223372036854775807}", HONE_E_FORMAT, "exceeds"},
      {META "strides.0", "{\"as_int\": 0}", HONE_OK, NULL},
      {META "strides.0", "{\"as_int\": 1}", HONE_OK, NULL},
      {META "storage_offset", "{\"as_int\": 1}", HONE_E_FORMAT, "exceeds"},
      {META "storage_offset", "{\"as_int\": -1}", HONE_E_FORMAT, "exceeds"},
      {META "storage_offset", "{\"as_int\": 9223372036854775807}", HONE_E_FORMAT, "exceeds"},
      {META "storage_offset", NULL, HONE_OK, NULL},
  };
#undef META
#undef W
  (void)state;
  for (size_t i = 0; i < COUNT(rows); i++) {
    json_t *config = json_loads(weights, 0, NULL);
    replace(config, rows[i].path, rows[i].text);
    char *text = json_dumps(config, 0);
    expect_archive(small_model(), text, content, rows[i].status, rows[i].says);
    free(text);
    json_decref(config);
  }
}

/* A buffer that the graph writes, w of two rows: y = relu(x + w) in place. rows: an edit of the model, of w's configuration. */
static void the_states(void **state) {
#define WRITES "a = aten.add_.Tensor(self=@w, other=@x); y = aten.relu.default(self=@w)"
#define NEXT(name)                                                                 \
  SIGNATURE "output_specs.1", "{\"buffer_mutation\": {\"arg\": {\"name\": \"" name \
                              "\"}, "                                              \
                              "\"buffer_name\": \"w\"}}"
  static const struct {
    const char *nodes, *model, *text, *config, *other;
    hone_status status;
    const char *says;
  } rows[] = {
      {WRITES, NULL, NULL, NULL, NULL, HONE_OK, NULL},
      {WRITES, SIGNATURE "input_specs.1.buffer.buffer_name", "\"nobody\"", NULL, NULL,
       HONE_E_FORMAT, "the archive does not contain this weight"},
      {"a = aten.add_.Tensor(self=@x, other=@x); y = aten.relu.default(self=@x)",
       SIGNATURE "input_specs.1.buffer.arg.name", "\"x\"", NULL, NULL, HONE_E_FORMAT,
       "defined twice"},
      {"s = aten.add.Tensor(self=@x, other=@w); y = aten.relu.default(self=@s)", NEXT("s"), NULL,
       NULL, HONE_OK, NULL},
      {"s = aten.add.Tensor(self=@x, other=@w); y = aten.gt.Scalar(self=@s, other=0)", NEXT("y"),
       NULL, NULL, HONE_OK,
       NULL}, /* of another type, of another shape: no state that a run could begin with */
      {"y = aten.t.default(self=@x); s = aten.relu.default(self=@w)", NEXT("y"), NULL, NULL,
       HONE_OK, NULL},
      {"$n = aten.sym_size.int(self=@w, dim=0); y = aten.relu.default(self=@x)", NEXT("n"), NULL,
       NULL, HONE_E_FORMAT, "a state that is a number"},
      {"v = aten.expand.default(self=@w, size=[2,3]); " WRITES, NEXT("v"), NULL, NULL, HONE_E_UNSUP,
       "of a view of a tensor that was written since"},
      {WRITES, NULL, NULL, "dtype", "10", HONE_E_TYPE, "a state of complex numbers"},
      {"c = aten.view_as_real.default(self=@w); y = aten.relu.default(self=@c)", NULL, NULL,
       "dtype", "10", HONE_OK, NULL},
  };
  (void)state;
  for (size_t i = 0; i < COUNT(rows); i++) {
    json_t *model = module_of("x:7:2,3", rows[i].nodes, "y"),
           *config = json_loads(weights, 0, NULL);
    char path[100];
    replace(model, SIGNATURE "input_specs.1",
            "{\"buffer\": {\"arg\": {\"name\": \"w\"}, \"buffer_name\": \"w\"}}");
    if (rows[i].model) replace(model, rows[i].model, rows[i].text);
    if (rows[i].config) {
      snprintf(path, sizeof path, "config.w.tensor_meta.%s", rows[i].config);
      replace(config, path, rows[i].other);
      replace(config, "config.w.tensor_meta.sizes.0", "{\"as_int\": 1}");
    }
    char *text = json_dumps(config, 0);
    expect_archive(model, text, content, rows[i].status, rows[i].says);
    free(text);
    json_decref(config);
  }
#undef NEXT
#undef WRITES
}

/* A view of part of a storage is gathered: two rows of three, from the second element. */
static void a_strided_weight(void **state) {
  (void)state;
  char bytes[33];
  for (int i = 0; i < 32; i++) bytes[i] = (char)('a' + i % 26);
  bytes[32] = 0;
  json_t *config = json_loads(weights, 0, NULL);
  replace(config, "config.w.tensor_meta.strides.0", "{\"as_int\": 4}");
  replace(config, "config.w.tensor_meta.storage_offset", "{\"as_int\": 1}");
  char *text = json_dumps(config, 0);
  const char *const members[][2] = {{"m/data/weights/model_weights_config.json", text},
                                    {"m/data/weights/weight_0", bytes}};
  struct buf b = archive_of(small_model(), members, 2);
  struct loaded l = load(&b, NULL);
  assert_ok(&l);
  const struct tensor *w = l.graph->nodes.at[0]->inputs[1]->constant;
  assert_non_null(w);
  assert_memory_equal(w->data, bytes + 4, 12);
  assert_memory_equal((const char *)w->data + 12, bytes + 20, 12);
  unload(&l);
  free(text);
  json_decref(config);
}

/* Members that make the archive another one. */
static void the_members(void **state) {
  static const struct {
    const char *name, *content; /* in addition to the model, w's configuration and w's data */
    hone_status status;
    const char *says;
  } rows[] = {
      {"m/readme.txt", "x", HONE_OK, NULL},
      {"m/data/aotinductor/model.so", "x", HONE_E_TRUST, "can contain code"},
      {"m/code.py", "x", HONE_E_TRUST, "can contain code"},
      {"m/data.pkl", "x", HONE_E_TRUST, "can contain code"},
      {"model.weights.h5", "x", HONE_E_TRUST, "can contain code"},
      {"m/data/constants/model_constants_config.json", "{", HONE_E_FORMAT, "invalid JSON"},
      {"m/data/constants/model_constants_config.json", "[]", HONE_E_FORMAT, "not an object"},
      {"m/data/constants/model_constants_config.json", "{\"a\": 1, \"a\": 2}", HONE_E_FORMAT,
       "invalid JSON"},
      {"m/data/constants/model_constants_config.json", "{\"a\": \"\\\"[[[\"}", HONE_OK, NULL},
      {"m/data/constants/model_constants_config.json",
       "{\"a\": 11111111111111111111111111111111111111111111111111111111111111111111111}",
       HONE_E_LIMIT, "a number of too many digits"},
  };
  (void)state;
  for (size_t i = 0; i < COUNT(rows); i++) {
    const char *const members[][2] = {{"m/data/weights/model_weights_config.json", weights},
                                      {"m/data/weights/weight_0", content},
                                      {rows[i].name, rows[i].content}};
    struct buf b = archive_of(small_model(), members, 3);
    expect(&b, NULL, rows[i].status, rows[i].says);
  }
  char deep[600];
  memset(deep, '[', sizeof deep - 1);
  deep[sizeof deep - 1] = 0;
  expect_archive(small_model(), deep, content, HONE_E_LIMIT, "nesting beyond limit depth");
}

/* A model that says it unpacks to more JSON than any has. */
static void json_without_end(void **state) {
  struct buf b = archive_of(small_model(), NULL, 0);
  uint8_t *central = memmem(b.at, b.n, "PK\1\2", 4);
  const uint32_t size = 300u << 20;
  (void)state;
  assert_non_null(central);
  b.at[8] = central[10] = 8; /* DEFLATE */
  memcpy(b.at + 22, &size, 4);
  memcpy(central + 24, &size, 4);
  expect(&b, NULL, HONE_E_LIMIT, "bytes of JSON");
}

/* Archives without what they need, and with the model elsewhere. */
static void members_left_out(void **state) {
  static const struct {
    const char *names[3];
    hone_status status;
    const char *says;
  } rows[] = {
      {{"models/model.json", "data/weights/model_weights_config.json",
        "data/constants/model_constants_config.json"},
       HONE_OK,
       NULL},
      {{"xmodels/model.json", NULL, NULL}, HONE_E_FORMAT, "no models/model.json"},
      {{NULL, NULL, NULL}, HONE_E_FORMAT, ""},
      {{"m/models/model.json", NULL, NULL}, HONE_E_FORMAT, "no such member"},
      {{"m/models/model.json", "m/data/weights/model_weights_config.json", NULL},
       HONE_E_FORMAT,
       "no such member"},
  };
  (void)state;
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct buf b = {0}, directory = {0};
    uint16_t count = 1;
    json_t *model = module_of("x:7:2,3", "y = aten.relu.default(self=@x)", "y");
    char *text = json_dumps(model, JSON_COMPACT);
    put_member(&b, &directory, "note", "x", 1);
    for (int k = 0; k < 3; k++) {
      const char *bytes = k ? "{}" : text;
      if (!rows[i].names[k]) continue;
      put_member(&b, &directory, rows[i].names[k], bytes, strlen(bytes));
      count++;
    }
    put_directory(&b, &directory, count);
    free(text);
    json_decref(model);
    expect(&b, NULL, rows[i].status, rows[i].says);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_model),        cmocka_unit_test(the_weights),
      cmocka_unit_test(the_states),       cmocka_unit_test(json_without_end),
      cmocka_unit_test(a_strided_weight), cmocka_unit_test(the_members),
      cmocka_unit_test(members_left_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
