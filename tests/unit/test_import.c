/* The ONNX reader: the catalogue of hostile inputs row by row, damage byte by byte, dynamic
 * dimensions and the real models. Upgrades of old opsets: test_upgrade.c; side files:
 * test_external.c. */
#include "import_case.h"

#include <time.h>

/* -- the right way */

static void reads_a_small_model(void **state) {
  (void)state;
  struct buf graph = small_graph();
  struct buf model = model_of(13, &graph);
  struct loaded l = load(&model, NULL);
  assert_ok(&l);
  assert_int_equal(l.graph->nodes.count, 2);
  assert_int_equal(l.graph->inputs.count, 1);
  assert_int_equal(l.graph->inputs.at[0]->shape.dims[0], 1); /* the dynamic batch dimension */
  const struct value *w = l.graph->nodes.at[0]->inputs[1];
  assert_string_equal(w->name, "w");
  assert_true(tensor_f64(w->constant, 3) == 4);
  assert_string_equal(l.graph->outputs.at[0]->name, "y");
  assert_int_equal(strlen(l.file.content_hash), 32);
  assert_int_equal(strlen(l.file.sha256), 64);
  unload(&l);
}

static void batch_comes_from_the_text(void **state) {
  (void)state;
  struct import_options options = {.shapes = "x[5,2]"};
  struct buf graph = {0};
  put_node(&graph, "Relu", "x", "y", NULL);
  put_input(&graph, "x", 1, "N,2");
  put_output(&graph, "y");
  struct buf model = model_of(13, &graph);
  struct loaded l = load(&model, &options);
  assert_ok(&l);
  assert_int_equal(l.graph->outputs.at[0]->shape.dims[0], 5);
  unload(&l);
}

static struct buf two_inputs(const char *x, const char *y) {
  struct buf graph = {0};
  put_node(&graph, "Relu", "x", "p", NULL);
  put_node(&graph, "Relu", "y", "q", NULL);
  put_input(&graph, "x", 1, x);
  put_input(&graph, "y", 1, y);
  put_output(&graph, "p");
  put_output(&graph, "q");
  return model_of(13, &graph);
}

static void open_dimensions(void **state) {
  (void)state;
  static const struct {
    const char *x, *y, *text;
    hone_status status;
    const char *says;
  } cases[] = {
      {"N,3", "N,4", NULL, HONE_OK, NULL},
      {"N,T", "T", "x[2,7]", HONE_OK, NULL},
      {"N,T", "T,3", NULL, HONE_OK, NULL}, /* T is a first dimension of y */
      {"N,T", "3,U", NULL, HONE_E_SHAPE,
       "x[N,T], y[3,U]; give their sizes, for example --shape \"x[1,1],y[3,1]\""},
      {"N,?", "3", NULL, HONE_E_SHAPE, "x[N,?]"},
      {"N,T", "T", "x[2,7],y[8]", HONE_OK, NULL}, /* a warning; --shape decides */
      {"2,3", "3", "x[3,3]", HONE_E_SHAPE, "fixed at 2"},
      {"2,3", "3", "x[2]", HONE_E_SHAPE, "1 dimensions"},
      {"2,3", "3", "z[2]", HONE_E_USAGE, "no such input"},
      {"2,3", "3", "x[2,3],x[2,3]", HONE_E_USAGE, "twice"},
      {"2,3", "3", "x[2,3", HONE_E_USAGE, "--shape"},
      {"2,3", "3", "x[2,,3]", HONE_E_USAGE, "--shape"},
      {"2,3", "3", "x[-2,3]", HONE_E_USAGE, "--shape"},
      {"2,3", "3", "x[2,3],", HONE_E_USAGE, "--shape"},
      {"2,3", "3", "x[99999999999999999999,3]", HONE_E_USAGE, "--shape"},
      {NULL, "3", NULL, HONE_E_SHAPE, "x[no shape]"},
      {NULL, "3", "x[4,4]", HONE_OK, NULL},
      {"0,2", "3", NULL, HONE_OK, NULL},
      {"-2,2", "3", NULL, HONE_E_SHAPE, "-2"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct buf model = two_inputs(cases[i].x, cases[i].y);
    struct import_options options = {.shapes = cases[i].text};
    expect(&model, &options, cases[i].status, cases[i].says);
  }
}

static void one_name_binds_everywhere(void **state) {
  (void)state;
  struct buf model = two_inputs("N,T", "T,3");
  struct import_options options = {.shapes = "x[2,7]"};
  struct loaded l = load(&model, &options);
  assert_ok(&l);
  assert_int_equal(l.graph->inputs.at[1]->shape.dims[0], 7);
  unload(&l);
}

/* One rule for all verbs, and its result is reported. */
static void open_dimensions_are_told(void **state) {
  (void)state;
  static const struct {
    const char *x, *y, *text;
    int64_t batch;
    hone_status status;
    const char *says;
  } cases[] = {
      {"2,3", "3", NULL, 0, HONE_OK, NULL},
      {"N,3", "N,4", NULL, 0, HONE_OK, "N = 1 (assumed:"},
      {"N,T", "T,3", NULL, 0, HONE_OK, "N = 1, T = 1 (assumed:"},
      {"?,3", "?", NULL, 0, HONE_OK, "x dimension 0 = 1, y dimension 0 = 1 (assumed:"},
      {"N,T", "T", "x[2,7]", 0, HONE_OK, "N = 2, T = 7 (--shape)"},
      {"N,3", "N,4", NULL, 4, HONE_OK, "N = 4 (--batch)"},
      {"N,T", "T,3", NULL, 4, HONE_OK, "N = 4, T = 4 (--batch)"},
      {"N,T", "N", "x[4,7]", 4, HONE_OK, "N = 4, T = 7 (--shape)"},
      {"?,T", "?,3", "x[4,7]", 4, HONE_OK,
       "x dimension 0 = 4, T = 7 (--shape); y dimension 0 = 4 (--batch)"},
      {"N,3", "3", NULL, 4, HONE_E_SHAPE, "--batch gives 4 for dimension 0, which is fixed at 3"},
      {"N,3", "N,3", "x[2,3],y[2,3]", 4, HONE_E_SHAPE, "no input has a dynamic first dimension"},
      {"4,3", "4,3", NULL, 4, HONE_OK, NULL},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct buf model = two_inputs(cases[i].x, cases[i].y);
    struct import_options options = {.shapes = cases[i].text, .batch = cases[i].batch};
    if (cases[i].status) {
      expect(&model, &options, cases[i].status, cases[i].says);
      continue;
    }
    struct loaded l = load(&model, &options);
    assert_ok(&l);
    const char *told = l.graph->open_dimensions;
    if (!cases[i].says) {
      assert_null(told);
    } else {
      if (!told || strncmp(told, cases[i].says, strlen(cases[i].says)))
        print_error("case %zu: \"%s\"\n", i, told ? told : "nothing");
      assert_non_null(told);
      assert_int_equal(strncmp(told, cases[i].says, strlen(cases[i].says)), 0);
    }
    unload(&l);
  }
}

/* -- rows 1 to 4: the wire */

static void row_01_empty_and_truncated(void **state) {
  (void)state;
  struct buf empty = {0};
  expect(&empty, NULL, HONE_E_FORMAT, "no graph");
  struct buf zeros = {0};
  put_raw(&zeros, (uint8_t[64]){0}, 64);
  expect(&zeros, NULL, HONE_E_FORMAT, "field number 0");
}

static void row_03_bad_wire(void **state) {
  (void)state;
  for (unsigned type = 3; type < 8; type++) {
    if (type == 5) continue;
    struct buf graph = small_graph(), model = model_of(13, &graph);
    put_tag(&model, 99, type);
    expect(&model, NULL, HONE_E_FORMAT, "wire type");
  }
  struct buf graph = small_graph(), model = model_of(13, &graph);
  put_raw(&model, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12);
  expect(&model, NULL, HONE_E_FORMAT, "bits");
  graph = small_graph(), model = model_of(13, &graph);
  put_raw(&model, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12);
  expect(&model, NULL, HONE_E_FORMAT, "bits");
  graph = small_graph(), model = model_of(13, &graph);
  put_raw(&model, "\0\0", 2);
  expect(&model, NULL, HONE_E_FORMAT, "field number 0");
}

static void row_04_lengths(void **state) {
  (void)state;
  const uint64_t lengths[] = {0x7fffffff, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX};
  for (size_t i = 0; i < COUNT(lengths); i++) {
    struct buf model = {0};
    put_int(&model, 1, 8);
    put_tag(&model, 7, 2);
    put_varint(&model, lengths[i]);
    put_raw(&model, "\x0a\x00", 2);
    expect(&model, NULL, HONE_E_FORMAT, "2 are left");
  }
}

static void unknown_fields_are_skipped(void **state) {
  (void)state;
  struct buf graph = small_graph(), model = model_of(13, &graph);
  put_int(&model, 1000, 5);
  put_str(&model, 1001, "later");
  put_f32(&model, 1002, 1);
  put_tag(&model, 1003, 1);
  put_raw(&model, "12345678", 8);
  expect(&model, NULL, HONE_OK, NULL);
}

/* -- row 5: nesting */

/* `depth` graphs, each in an attribute of the one around it. */
static struct buf nested(int depth) {
  struct buf inner = {0};
  for (int i = 0; i < depth; i++) {
    struct buf graph = {0}, attributes = {0};
    if (i) attr_msg(&attributes, "body", 6, 5, &inner);
    put_node(&graph, "Relu", "x", "y", &attributes);
    if (i == depth - 1) put_input(&graph, "x", 1, "1");
    put_output(&graph, "y");
    inner = graph;
  }
  return model_of(13, &inner);
}

static void row_05_nesting(void **state) {
  (void)state;
  struct buf model = nested(64);
  expect(&model, NULL, HONE_OK, NULL);
  model = nested(65);
  expect(&model, NULL, HONE_E_LIMIT, "nested more than 64");
  model = nested(3000);
  expect(&model, NULL, HONE_E_LIMIT, "nested more than 64");
}

/* -- row 6: packed and unpacked */

static void row_06_packed_and_not(void **state) {
  (void)state;
  struct buf graph = {0}, packed = {0}, t = {0};
  put_varint(&packed, 2);
  put_msg(&t, 1, &packed);
  put_int(&t, 1, 1); /* dims [2] packed, then [1] alone */
  put_int(&t, 2, 7);
  put_str(&t, 8, "w");
  put_int(&t, 7, -5);
  put_varint(&packed, 6);
  put_msg(&t, 7, &packed);
  put_msg(&graph, 5, &t);
  put_node(&graph, "Identity", "w", "y", NULL);
  put_output(&graph, "y");
  struct buf model = model_of(13, &graph);
  struct loaded l = load(&model, NULL);
  assert_ok(&l);
  const struct value *w = l.graph->outputs.at[0];
  assert_int_equal(w->shape.rank, 2);
  assert_int_equal(tensor_i64(w->constant, 0), -5);
  assert_int_equal(tensor_i64(w->constant, 1), 6);
  unload(&l);
}

/* -- rows 7 to 9: names and order */

static void row_07_duplicates(void **state) {
  (void)state;
  struct buf graph = small_graph(), model = model_of(13, &graph);
  graph = small_graph();
  put_msg(&model, 7, &graph);
  expect(&model, NULL, HONE_E_FORMAT, "duplicate graph");
  graph = small_graph();
  struct buf t = tensor_head("w", 1, (int64_t[]){2, 2}, 2);
  for (int i = 0; i < 4; i++) put_f32(&t, 4, 7);
  put_msg(&graph, 5, &t);
  model = model_of(13, &graph);
  struct loaded l = load(&model, NULL); /* row 89: as ONNX Runtime reads it */
  assert_int_equal(l.status, HONE_OK);
  assert_int_equal(l.warnings, 2); /* of that, and of the dynamic batch dimension */
  for (size_t i = 0; i < l.graph->values.count; i++)
    if (!strcmp(l.graph->values.at[i]->name, "w"))
      assert_true(tensor_f64(l.graph->values.at[i]->constant, 0) == 7);
  unload(&l);
  graph = small_graph();
  t = tensor_head("w", 1, (int64_t[]){2, 2}, 2);
  for (int i = 0; i < 4; i++) put_f32(&t, 4, 7);
  put_msg(&graph, 5, &t);
  model = model_of(13, &graph);
  struct import_options strict = {.strict = true};
  expect(&model, &strict, HONE_E_FORMAT, "\"w\" is defined twice");
  graph = small_graph();
  t = tensor_head("w", 1, (int64_t[]){1}, 1);
  put_f32(&t, 4, 7);
  put_msg(&graph, 5, &t);
  model = model_of(13, &graph);
  expect(&model, NULL, HONE_E_FORMAT, "defined twice, with another type or shape");
  graph = small_graph();
  put_node(&graph, "Relu", "x", "s", NULL);
  model = model_of(13, &graph);
  expect(&model, NULL, HONE_E_FORMAT, "\"s\" is defined twice");
  graph = small_graph();
  put_output(&graph, "y");
  model = model_of(13, &graph);
  expect(&model, &strict, HONE_E_FORMAT, "duplicate graph output");
  graph = small_graph();
  put_output(&graph, "y");
  model = model_of(13, &graph);
  l = load(&model, NULL); /* as ONNX Runtime reads it */
  assert_int_equal(l.status, HONE_OK);
  assert_int_equal(l.graph->outputs.count, 2);
  unload(&l);
}

static void row_08_undefined_and_cycles(void **state) {
  (void)state;
  static const struct {
    const char *first_in, *first_out, *second_in, *second_out, *says;
  } cases[] = {
      {"x", "a", "ghost", "y", "at node 1 (Relu): Relu reads \"ghost\""},
      {"b", "a", "a", "b", "own result through \"a\""},
      {"a", "a", "x", "y", "own result through \"a\""},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct buf graph = {0};
    put_node(&graph, "Relu", cases[i].first_in, cases[i].first_out, NULL);
    put_node(&graph, "Relu", cases[i].second_in, cases[i].second_out, NULL);
    put_input(&graph, "x", 1, "1");
    put_output(&graph, "a");
    struct buf model = model_of(13, &graph);
    expect(&model, NULL, HONE_E_FORMAT, cases[i].says);
  }
}

static void row_09_unsorted(void **state) {
  (void)state;
  for (int strict = 0; strict < 2; strict++) {
    struct buf graph = {0};
    put_node(&graph, "Relu", "s", "y", NULL);
    put_node(&graph, "Relu", "x", "s", NULL);
    put_input(&graph, "x", 1, "1");
    put_output(&graph, "y");
    struct buf model = model_of(13, &graph);
    struct import_options options = {.strict = strict};
    struct loaded l = load(&model, &options);
    assert_int_equal(l.status, strict ? HONE_E_FORMAT : HONE_OK);
    assert_int_equal(l.warnings, strict ? 0 : 1);
    if (!strict) assert_string_equal(l.graph->nodes.at[1]->outputs[0]->name, "y");
    unload(&l);
  }
}

/* -- rows 10 and 11: versions and operators */

static void row_10_versions(void **state) {
  (void)state;
  static const struct {
    int64_t ir, opset;
    hone_status status;
    const char *says;
  } cases[] = {
      {8, 0, HONE_E_FORMAT, "no opset_import"}, {8, -1, HONE_E_FORMAT, "below 1"},
      {8, 9999, HONE_E_UNSUP, "1 to 28"},       {INT64_MIN, 13, HONE_E_FORMAT, "ir_version"},
      {999, 13, HONE_E_UNSUP, "1 to "},         {8, 28, HONE_OK, NULL},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct buf graph = small_graph(), model = {0}, import = {0};
    put_int(&model, 1, cases[i].ir);
    put_msg(&model, 7, &graph);
    put_int(&import, 2, cases[i].opset);
    if (cases[i].opset)
      put_msg(&model, 8, &import);
    else
      free(import.at);
    expect(&model, NULL, cases[i].status, cases[i].says);
  }
  struct buf model = {0}, import = {0};
  put_int(&model, 1, 8);
  put_int(&import, 2, 13);
  put_msg(&model, 8, &import);
  expect(&model, NULL, HONE_E_FORMAT, "no graph");
}

static void row_11_operators(void **state) {
  (void)state;
  static const struct {
    const char *domain, *op, *says;
  } cases[] = {{"", "Frobnicate", "\"Frobnicate\" of domain \"\" (opset 13)"},
               {"com.example", "Relu", "\"Relu\" of domain \"com.example\""}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct buf graph = {0};
    put_node_in(&graph, cases[i].domain, cases[i].op, "x", "y", NULL);
    put_input(&graph, "x", 1, "1");
    put_output(&graph, "y");
    struct buf model = model_of(13, &graph);
    expect(&model, NULL, HONE_E_UNSUP, cases[i].says);
  }
  struct buf graph = {0};
  put_node_in(&graph, "ai.onnx", "Relu", "x", "y", NULL); /* another spelling of "" */
  put_input(&graph, "x", 1, "1");
  put_output(&graph, "y");
  struct buf model = model_of(13, &graph);
  expect(&model, NULL, HONE_OK, NULL);
}

/* -- rows 12 to 15: tensors */

/* y = Identity(w), w as given */
static void expect_tensor(struct buf *tensor, hone_status status, const char *says) {
  struct buf graph = {0};
  put_msg(&graph, 5, tensor);
  put_node(&graph, "Identity", "w", "y", NULL);
  put_output(&graph, "y");
  struct buf model = model_of(13, &graph);
  expect(&model, NULL, status, says);
}

static void row_12_payload_sizes(void **state) {
  (void)state;
  struct buf t = tensor_head("w", 1, (int64_t[]){1000000}, 1);
  put_bytes(&t, 9, "1234", 4);
  expect_tensor(&t, HONE_E_FORMAT, "needs 4000000 bytes, raw_data has 4");
  t = tensor_head("w", 1, (int64_t[]){1}, 1);
  put_bytes(&t, 9, "1234", 4);
  put_f32(&t, 4, 1);
  expect_tensor(&t, HONE_E_FORMAT, "two places");
  t = tensor_head("w", 1, (int64_t[]){1}, 1);
  put_bytes(&t, 9, "123", 3);
  expect_tensor(&t, HONE_E_FORMAT, "needs 4 bytes, raw_data has 3");
  t = tensor_head("w", 1, (int64_t[]){2}, 1);
  put_f32(&t, 4, 1);
  expect_tensor(&t, HONE_E_FORMAT, "needs 2 values, the file has 1");
  t = tensor_head("w", 1, (int64_t[]){1}, 1);
  put_int(&t, 7, 1);
  expect_tensor(&t, HONE_E_FORMAT, "field 7");
  t = tensor_head("w", 1, (int64_t[]){1}, 1);
  put_int(&t, 7, 1);
  put_f32(&t, 4, 1);
  expect_tensor(&t, HONE_E_FORMAT, "two lists");
  t = tensor_head("w", 1, (int64_t[]){1}, 1);
  put_bytes(&t, 4, "123", 3);
  expect_tensor(&t, HONE_E_FORMAT, "ends in a number");
}

static void row_13_dims(void **state) {
  (void)state;
  static const struct {
    int64_t dims[17];
    size_t rank;
    hone_status status;
  } cases[] = {
      {{INT64_C(1) << 32, INT64_C(1) << 32}, 2, HONE_E_LIMIT},
      {{INT64_C(1) << 62, 4}, 2, HONE_E_LIMIT},
      {{-1}, 1, HONE_E_SHAPE},
      {{INT64_MIN}, 1, HONE_E_SHAPE},
      {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 17, HONE_E_LIMIT},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct buf t = tensor_head("w", 1, cases[i].dims, cases[i].rank);
    put_bytes(&t, 9, "1234", 4);
    expect_tensor(&t, cases[i].status, NULL);
  }
}

static void row_14_empty_and_scalar(void **state) {
  (void)state;
  struct buf t = tensor_head("w", 1, (int64_t[]){0}, 1);
  expect_tensor(&t, HONE_OK, NULL);
  t = tensor_head("w", 1, (int64_t[]){0, INT64_C(1) << 62}, 2);
  expect_tensor(&t, HONE_E_LIMIT, NULL);
  t = tensor_head("w", 1, NULL, 0);
  put_f32(&t, 4, 7);
  expect_tensor(&t, HONE_OK, NULL);
}

static void row_15_types(void **state) {
  (void)state;
  const int types[] = {0, 255, -1, 14, 15, 1000};
  for (size_t i = 0; i < COUNT(types); i++) {
    struct buf t = tensor_head("w", types[i], (int64_t[]){1}, 1);
    put_bytes(&t, 9, "1234", 4);
    expect_tensor(&t, HONE_E_TYPE, NULL);
  }
  struct buf t = tensor_head("w", HONE_STRING, (int64_t[]){1}, 1);
  put_bytes(&t, 9, "1234", 4);
  expect_tensor(&t, HONE_E_TYPE, "string");
  t = tensor_head("w", HONE_I4, (int64_t[]){3}, 1);
  put_bytes(&t, 9, "\x21\x03", 2);
  expect_tensor(&t, HONE_OK, NULL);
}

static void typed_lists_of_narrow_types(void **state) {
  (void)state;
  static const struct {
    hone_dtype dtype;
    uint32_t field;
    int64_t number;
    double value;
  } cases[] = {
      {HONE_F16, 5, 0x3c00, 1},      {HONE_BF16, 5, 0xc000, -2},      {HONE_I8, 5, -7, -7},
      {HONE_U8, 5, 200, 200},        {HONE_I16, 5, -300, -300},       {HONE_BOOL, 5, 1, 1},
      {HONE_I32, 5, -70000, -70000}, {HONE_U32, 11, 4000000000, 4e9}, {HONE_U64, 11, 5, 5},
      {HONE_I64, 7, -5, -5},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct buf graph = {0}, t = tensor_head("w", (int)cases[i].dtype, (int64_t[]){1}, 1);
    put_int(&t, cases[i].field, cases[i].number);
    put_msg(&graph, 5, &t);
    put_node(&graph, "Identity", "w", "y", NULL);
    put_output(&graph, "y");
    struct buf model = model_of(13, &graph);
    struct loaded l = load(&model, NULL);
    assert_ok(&l);
    const struct value *w = l.graph->outputs.at[0];
    assert_true(tensor_f64(w->constant, 0) == cases[i].value);
    unload(&l);
  }
}

/* -- row 36 and 38: names */

static void row_36_hostile_names(void **state) {
  (void)state;
  static const char *const names[] = {"*/ int x; /*", "\n#include \"/etc/passwd\"",
                                      "foo\\",        "\xf0\x9f\x92\xa9",
                                      "\xe2\x80\xae", "int",
                                      "a/b",          "%7"};
  for (size_t i = 0; i < COUNT(names); i++) {
    struct buf graph = {0};
    put_node(&graph, "Relu", names[i], "y", NULL);
    put_input(&graph, names[i], 1, "1");
    put_output(&graph, "y");
    struct buf model = model_of(13, &graph);
    struct loaded l = load(&model, NULL);
    assert_ok(&l);
    assert_string_equal(l.graph->inputs.at[0]->name, names[i]);
    unload(&l);
  }
  static const char *const broken[] = {"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                       "ok\xe2\x82"};
  for (size_t i = 0; i < COUNT(broken); i++) {
    struct buf graph = {0};
    put_node(&graph, "Relu", broken[i], "y", NULL);
    struct buf model = model_of(13, &graph);
    expect(&model, NULL, HONE_E_FORMAT, "not UTF-8");
  }
}

static void name_limits(void **state) {
  (void)state;
  char *name = malloc((64 << 10) + 2);
  assert_non_null(name);
  memset(name, 'n', (64 << 10) + 1);
  for (int extra = 0; extra < 2; extra++) {
    name[(64 << 10) + extra] = 0;
    struct buf graph = {0};
    put_node(&graph, "Relu", name, "y", NULL);
    put_input(&graph, name, 1, "1");
    put_output(&graph, "y");
    struct buf model = model_of(13, &graph);
    expect(&model, NULL, extra ? HONE_E_LIMIT : HONE_OK, NULL);
    name[(64 << 10)] = 'n';
  }
  free(name);
}

static void attribute_limits(void **state) {
  (void)state;
  for (int extra = 0; extra < 2; extra++) {
    struct buf graph = {0}, attributes = {0};
    for (int i = 0; i < 1024 + extra; i++) {
      char name[16];
      snprintf(name, sizeof name, "a%d", i);
      attr_int(&attributes, name, i);
    }
    put_node(&graph, "Relu", "x", "y", &attributes);
    put_input(&graph, "x", 1, "1");
    put_output(&graph, "y");
    struct buf model = model_of(13, &graph);
    expect(&model, NULL, extra ? HONE_E_LIMIT : HONE_E_FORMAT, extra ? NULL : "\"a0\"");
  }
}

/* Ignoring one of these would compute something else than the file asks for. */
static void attributes_that_no_operator_has(void **state) {
  (void)state;
  struct buf graph = {0}, attributes = {0};
  attr_int(&attributes, "alhpa", 2);
  put_node(&graph, "Elu", "x", "y", &attributes);
  put_input(&graph, "x", 1, "1");
  put_output(&graph, "y");
  struct buf model = model_of(13, &graph);
  expect(&model, NULL, HONE_E_FORMAT, "\"alhpa\"");
  graph = (struct buf){0}, attributes = (struct buf){0};
  attr_int(&attributes, "alpha", 2);
  put_node(&graph, "Elu", "x", "y", &attributes);
  put_input(&graph, "x", 1, "1");
  put_output(&graph, "y");
  model = model_of(13, &graph);
  expect(&model, NULL, HONE_E_FORMAT, "\"alpha\" of Elu is an integer");
}

static void outputs_declared_otherwise(void **state) {
  (void)state;
  struct buf graph = {0}, value = value_info("y", 7, "1");
  put_node(&graph, "Elu", "x", "y", NULL);
  put_input(&graph, "x", 1, "2");
  put_msg(&graph, 12, &value);
  struct buf model = model_of(13, &graph);
  expect(&model, NULL, HONE_E_TYPE, "i64");
  graph = (struct buf){0}, value = value_info("y", 1, "1");
  put_node(&graph, "Elu", "x", "y", NULL);
  put_input(&graph, "x", 1, "2");
  put_msg(&graph, 12, &value);
  model = model_of(13, &graph);
  expect(&model, NULL, HONE_OK, NULL); /* a stale shape is common: a warning */
  graph = (struct buf){0}, value = value_info("y", 1, "1");
  put_node(&graph, "Elu", "x", "y", NULL);
  put_input(&graph, "x", 1, "2");
  put_msg(&graph, 12, &value);
  model = model_of(13, &graph);
  expect(&model, &(struct import_options){.strict = true}, HONE_E_SHAPE, "[2]");
}

static void attributes_without_a_type(void **state) {
  (void)state;
  static const char *const broken[] = {"duplicate attribute", "without a name", "unknown type 99",
                                       "outside a function"};
  for (int i = 0; i < 5; i++) {
    struct buf graph = {0}, attributes = {0}, a = {0};
    if (i != 1) put_str(&a, 1, "alpha");
    if (i != 3) put_f32(&a, 2, 2);
    if (i == 2) put_int(&a, 20, 99);
    if (i == 3) put_str(&a, 21, "beta");
    put_msg(&attributes, 5, &a);
    if (i == 0) attr_int(&attributes, "alpha", 1);
    put_node(&graph, "Relu", "x", "y", &attributes);
    put_input(&graph, "x", 1, "1");
    put_output(&graph, "y");
    struct buf model = model_of(13, &graph);
    if (i < 4) {
      expect(&model, NULL, i == 2 ? HONE_E_UNSUP : HONE_E_FORMAT, broken[i]);
      continue;
    }
    struct loaded l = load(&model, NULL);
    assert_ok(&l);
    assert_true(node_float(l.graph->nodes.at[0], "alpha", 0) == 2); /* kind from the field */
    unload(&l);
  }
}

static void a_nul_in_a_name_is_shown(void **state) {
  (void)state;
  struct buf graph = {0}, node = {0};
  put_bytes(&node, 1, "a\0b", 3);
  put_str(&node, 2, "y");
  put_str(&node, 4, "Relu");
  put_msg(&graph, 1, &node);
  put_input(&graph,
            "a\xe2\x90\x80"
            "b",
            1, "1");
  put_output(&graph, "y");
  struct buf model = model_of(13, &graph);
  expect(&model, NULL, HONE_OK, NULL);
}

static void row_38_many_names(void **state) {
  (void)state;
  enum { NODES = 100000 };
  struct buf graph = {0};
  char in[32] = "x", out[32];
  for (int i = 0; i < NODES; i++) {
    snprintf(out, sizeof out, "n%d", i);
    put_node(&graph, "Relu", in, out, NULL);
    memcpy(in, out, sizeof in);
  }
  put_input(&graph, "x", 1, "1");
  put_output(&graph, in);
  struct buf model = model_of(13, &graph);
  clock_t start = clock(); /* of this process: neighbours do not count */
  struct loaded l = load(&model, NULL);
  assert_ok(&l);
  assert_int_equal(l.graph->nodes.count, NODES);
  assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
  unload(&l);
}

/* -- graphs inside graphs */

static void bodies_see_the_values_around_them(void **state) {
  (void)state;
  struct buf inner = {0}, graph = {0}, attributes = {0};
  put_node(&inner, "Add", "x,x", "t", NULL);
  put_output(&inner, "t");
  put_output(&inner, "x");
  attr_msg(&attributes, "body", 6, 5, &inner);
  put_node(&graph, "Relu", "x", "y", &attributes);
  put_input(&graph, "x", 1, "1");
  put_output(&graph, "y");
  struct buf model = model_of(13, &graph);
  struct loaded l = load(&model, NULL);
  assert_ok(&l);
  const struct graph *body = node_attribute(l.graph->nodes.at[0], "body")->graph;
  assert_ptr_equal(body->parent, l.graph);
  assert_ptr_equal(body->nodes.at[0]->inputs[0], l.graph->inputs.at[0]);
  assert_int_equal(body->outputs.count, 2);
  assert_false(l.graph->inputs.at[0]->is_output);
  unload(&l);
}

/* -- model-local functions */

/* A function of domain "f" over opset 13; its nodes are in `nodes` as fields of a graph. */
static struct buf function_of_nodes(const char *name, const char *in, const char *out,
                                    const struct buf *nodes) {
  struct buf function = {0}, import = {0};
  put_str(&function, 1, name);
  put_str(&function, 4, in);
  put_str(&function, 5, out);
  put_str(&function, 10, "f");
  put_int(&import, 2, 13);
  put_msg(&function, 9, &import);
  for (size_t at = 0; at < nodes->n;) { /* field 1 of a graph is field 7 of a function */
    size_t length = nodes->at[at + 1];
    assert_true(nodes->at[at] == 0x0a && length < 128);
    put_bytes(&function, 7, nodes->at + at + 2, length);
    at += 2 + length;
  }
  free(nodes->at);
  return function;
}

static struct buf model_calling(const char *name, struct buf *functions, size_t count) {
  struct buf graph = {0}, import = {0};
  put_node_in(&graph, "f", name, "x", "y", NULL);
  put_node_in(&graph, "f", name, "y", "z", NULL);
  put_input(&graph, "x", 1, "3");
  put_output(&graph, "z");
  struct buf model = model_of(13, &graph);
  put_str(&import, 1, "f");
  put_int(&import, 2, 1);
  put_msg(&model, 8, &import);
  for (size_t i = 0; i < count; i++) put_msg(&model, 25, &functions[i]);
  return model;
}

static void functions_are_written_out(void **state) {
  (void)state;
  struct buf inner = {0}, outer = {0}, functions[2];
  put_node(&inner, "Add", "a,a", "t", NULL);
  put_node(&inner, "Relu", "t", "b", NULL);
  put_node_in(&outer, "f", "inner", "a", "t", NULL);
  put_node(&outer, "Add", "t,a", "b", NULL);
  functions[0] = function_of_nodes("inner", "a", "b", &inner);
  functions[1] = function_of_nodes("outer", "a", "b", &outer);
  struct buf model = model_calling("outer", functions, 2);
  struct loaded l = load(&model, NULL);
  assert_ok(&l);
  assert_int_equal(l.graph->nodes.count, 6);
  assert_string_equal(l.graph->outputs.at[0]->name, "z");
  float x[] = {1, -1, 2}, z[3];
  hone_tensor in = {x, HONE_F32, 1, {3}}, out = {z, HONE_F32, 1, {3}};
  assert_int_equal(reference_run(&l.ctx, l.graph, &in, &out), HONE_OK);
  assert_true(z[0] == 9 && z[1] == -1 && z[2] == 18); /* twice max(2a, 0) + a */
  unload(&l);
}

static void function_attributes_come_from_the_call(void **state) {
  (void)state;
  for (int given = 0; given < 2; given++) {
    struct buf graph = {0}, node = {0}, attribute = {0}, function = {0}, import = {0}, list = {0};
    put_str(&attribute, 1, "value_float");
    put_str(&attribute, 21, "c");
    put_int(&attribute, 20, 1);
    put_str(&node, 2, "k");
    put_str(&node, 4, "Constant");
    put_msg(&node, 5, &attribute);
    put_str(&function, 1, "shift");
    put_str(&function, 4, "a");
    put_str(&function, 5, "b");
    put_str(&function, 10, "f");
    put_int(&import, 2, 13);
    put_msg(&function, 9, &import);
    put_msg(&function, 7, &node);
    put_node(&graph, "Add", "a,k", "b", NULL);
    put_bytes(&function, 7, graph.at + 2, graph.n - 2);
    free(graph.at);
    graph = (struct buf){0};
    if (given) attr_float(&list, "c", 4);
    put_node_in(&graph, "f", "shift", "x", "y", given ? &list : NULL);
    put_input(&graph, "x", 1, "1");
    put_output(&graph, "y");
    struct buf model = model_of(13, &graph);
    put_msg(&model, 25, &function);
    struct loaded l = load(&model, NULL);
    assert_int_equal(l.status, given ? HONE_OK : HONE_E_FORMAT); /* a Constant without a value */
    if (given) assert_true(tensor_f64(l.graph->nodes.at[0]->inputs[1]->constant, 0) == 4);
    unload(&l);
  }
}

static void row_26_recursion(void **state) {
  (void)state;
  struct buf a = {0}, b = {0}, functions[2];
  put_node_in(&a, "f", "b", "a", "b", NULL);
  put_node_in(&b, "f", "a", "a", "b", NULL);
  functions[0] = function_of_nodes("a", "a", "b", &a);
  functions[1] = function_of_nodes("b", "a", "b", &b);
  struct buf model = model_calling("a", functions, 2);
  expect(&model, NULL, HONE_E_FORMAT, "recursion: function \"a\"");
}

/* 40 functions, each calling the next one twice: 2^40 nodes in a few KB. */
static void functions_cannot_explode(void **state) {
  (void)state;
  enum { LEVELS = 40 };
  struct buf functions[LEVELS];
  for (int i = 0; i < LEVELS; i++) {
    char name[16], next[16];
    snprintf(name, sizeof name, "f%d", i);
    snprintf(next, sizeof next, "f%d", i + 1);
    struct buf nodes = {0};
    const char *domain = i == LEVELS - 1 ? "" : "f";
    put_node_in(&nodes, domain, *domain ? next : "Relu", "a", "t", NULL);
    put_node_in(&nodes, domain, *domain ? next : "Relu", "t", "b", NULL);
    functions[i] = function_of_nodes(name, "a", "b", &nodes);
  }
  struct buf model = model_calling("f0", functions, LEVELS);
  expect(&model, NULL, HONE_E_LIMIT, "64 times the file");
}

/* -- row 51: other formats */

static void row_51_other_formats(void **state) {
  (void)state;
  static const struct {
    const char *bytes, *says;
    size_t n;
  } cases[] = {
      {"PK\3\4............", "zip archive: no end", 16},
      {"\177ELF............", "an ELF binary", 16},
      {"\x1c\0\0\0TFL3........", "outside the file", 16}, /* read as one, and cut off */
      {"\211HDF\r\n\032\n....", "an HDF5 file", 12},
      {"\200\2}q\0.", "a Python pickle", 6},
      {"\x14\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F32\"}}", "a safetensors file", 28},
      {"\2\0\0\0\0\0\0\0{}", "a safetensors file", 10},
      {"GGUF\3\0\0\0", "the GGUF file ends", 8}, /* read as one, and cut off */
      {"\x93NUMPY\1\0", "a NumPy array", 8},
      {"PK\3\4......................\5\0\0\0a.npy", "a NumPy archive", 35},
      {"\x10\0\0\0ORTM....", "ONNX Runtime's own format", 12},
      {"\x10\0\0\0ET12....", "an ExecuTorch program", 12},
      {"\x08\4\x12\2\x0a\0\xa2\x1f\1x", "a Core ML model", 10},
      {"\x08\1\x12\4\x0a\2\x08\1", "a TensorFlow SavedModel", 8},
      {"\x0a\3\x0a\1x\x0a\3\x0a\1y\x22\0", "a frozen TensorFlow graph", 12},
      {"{\"format\": \"x\"}", "looks like text", 15},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct buf model = {0};
    put_raw(&model, cases[i].bytes, cases[i].n);
    expect(&model, NULL, HONE_E_FORMAT, cases[i].says);
  }
}

/* -- sparse */

static struct buf sparse_of(const char *name, int64_t dim, int64_t index) {
  struct buf sparse = {0}, values = tensor_head(name, 1, (int64_t[]){1}, 1),
             indices = tensor_head(NULL, 7, (int64_t[]){1}, 1);
  put_f32(&values, 4, 9);
  put_int(&indices, 7, index);
  put_msg(&sparse, 1, &values);
  put_msg(&sparse, 2, &indices);
  put_int(&sparse, 3, dim);
  return sparse;
}

static void sparse_initializers_become_dense(void **state) {
  (void)state;
  static const struct {
    int64_t dim, index;
    hone_status status;
  } cases[] = {{5, 3, HONE_OK},
               {5, 5, HONE_E_FORMAT},
               {5, -1, HONE_E_FORMAT},
               {INT64_C(1) << 40, 0, HONE_E_LIMIT},
               {-1, 0, HONE_E_SHAPE}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct buf graph = {0}, sparse = sparse_of("w", cases[i].dim, cases[i].index);
    put_msg(&graph, 15, &sparse);
    put_node(&graph, "Identity", "w", "y", NULL);
    put_output(&graph, "y");
    struct buf model = model_of(13, &graph);
    struct loaded l = load(&model, NULL);
    assert_int_equal(l.status, cases[i].status);
    if (!l.status) {
      const struct tensor *w = l.graph->outputs.at[0]->constant;
      assert_int_equal(tensor_count(w), 5);
      assert_true(tensor_f64(w, 3) == 9 && tensor_f64(w, 2) == 0);
    }
    unload(&l);
  }
}

/* -- T12: every small damage gives an answer, twice the same */

/* Importing damaged bytes must return, and return the same thing again. */
static void damage(const uint8_t *bytes, size_t n) {
  struct buf copies[2] = {{0}, {0}};
  hone_status statuses[2];
  for (int i = 0; i < 2; i++) {
    put_raw(&copies[i], bytes, n);
    struct loaded l = load(&copies[i], NULL);
    statuses[i] = l.status;
    assert_true(l.status >= HONE_OK && l.status < HONE_STATUS_COUNT);
    assert_int_not_equal(l.status, HONE_E_INTERNAL);
    unload(&l);
  }
  assert_int_equal(statuses[0], statuses[1]);
}

static struct buf seed_model(void) {
  struct buf graph = small_graph(), inner = {0}, attributes = {0}, sparse = sparse_of("v", 5, 3);
  put_node(&inner, "Add", "x,x", "t", NULL);
  put_output(&inner, "t");
  attr_msg(&attributes, "body", 6, 5, &inner);
  attr_ints(&attributes, "ints", (int64_t[]){1, -1}, 2);
  attr_string(&attributes, "mode", "linear");
  attr_float(&attributes, "alpha", 1);
  put_node(&graph, "Relu", "y", "z", &attributes);
  attr_int(&attributes, "value_int", 3);
  put_node(&graph, "Constant", "", "c", &attributes);
  put_msg(&graph, 15, &sparse);
  put_output(&graph, "z");
  return model_of(13, &graph);
}

static void every_truncation(void **state) {
  (void)state;
  struct buf model = seed_model();
  for (size_t n = 0; n < model.n; n++) damage(model.at, n);
  free(model.at);
}

static void every_byte_replaced(void **state) {
  (void)state;
  struct buf model = seed_model();
  const uint8_t replacements[] = {0, 0xff, 0x7f, 0x80};
  for (size_t i = 0; i < model.n; i++) {
    uint8_t kept = model.at[i];
    for (size_t r = 0; r < COUNT(replacements); r++) {
      model.at[i] = replacements[r];
      damage(model.at, model.n);
    }
    for (unsigned bit = 0; bit < 8; bit++) {
      model.at[i] = (uint8_t)(kept ^ 1u << bit);
      damage(model.at, model.n);
    }
    model.at[i] = kept;
  }
  free(model.at);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_a_small_model),
      cmocka_unit_test(open_dimensions_are_told),
      cmocka_unit_test(batch_comes_from_the_text),
      cmocka_unit_test(open_dimensions),
      cmocka_unit_test(one_name_binds_everywhere),
      cmocka_unit_test(row_01_empty_and_truncated),
      cmocka_unit_test(row_03_bad_wire),
      cmocka_unit_test(row_04_lengths),
      cmocka_unit_test(unknown_fields_are_skipped),
      cmocka_unit_test(row_05_nesting),
      cmocka_unit_test(row_06_packed_and_not),
      cmocka_unit_test(row_07_duplicates),
      cmocka_unit_test(row_08_undefined_and_cycles),
      cmocka_unit_test(row_09_unsorted),
      cmocka_unit_test(row_10_versions),
      cmocka_unit_test(row_11_operators),
      cmocka_unit_test(row_12_payload_sizes),
      cmocka_unit_test(row_13_dims),
      cmocka_unit_test(row_14_empty_and_scalar),
      cmocka_unit_test(row_15_types),
      cmocka_unit_test(typed_lists_of_narrow_types),
      cmocka_unit_test(row_36_hostile_names),
      cmocka_unit_test(name_limits),
      cmocka_unit_test(attribute_limits),
      cmocka_unit_test(attributes_that_no_operator_has),
      cmocka_unit_test(outputs_declared_otherwise),
      cmocka_unit_test(attributes_without_a_type),
      cmocka_unit_test(a_nul_in_a_name_is_shown),
      cmocka_unit_test(row_38_many_names),
      cmocka_unit_test(bodies_see_the_values_around_them),
      cmocka_unit_test(functions_are_written_out),
      cmocka_unit_test(function_attributes_come_from_the_call),
      cmocka_unit_test(row_26_recursion),
      cmocka_unit_test(functions_cannot_explode),
      cmocka_unit_test(row_51_other_formats),
      cmocka_unit_test(sparse_initializers_become_dense),
      cmocka_unit_test(every_truncation),
      cmocka_unit_test(every_byte_replaced),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
