/* The sizes of a model's inputs: valid and invalid values of --shape, dynamic dimensions with a
 * bound, inputs that are sequences and optionals. */
#include "import_case.h"

struct given {
  const char *x, *y; /* sizes of two inputs, as value_info takes them */
  struct import_options options;
  hone_status status;
  const char *says; /* part of the message; of a model that is read its inputs' sizes */
};

static struct buf two_inputs(const char *x_name, const char *x, const char *y_name, const char *y) {
  struct buf graph = {0};
  put_node(&graph, "Relu", x_name, "p", NULL);
  put_node(&graph, "Relu", y_name, "q", NULL);
  put_input(&graph, x_name, 1, x);
  put_input(&graph, y_name, 1, y);
  put_output(&graph, "p");
  put_output(&graph, "q");
  return model_of(13, &graph);
}

/* "[2,3][4]": sizes of the graph's inputs. */
static void put_sizes(const struct graph *graph, char *out, size_t size) {
  size_t n = 0;
  out[0] = 0;
  for (size_t i = 0; i < graph->inputs.count; i++) {
    const struct shape *shape = &graph->inputs.at[i]->shape;
    n += (size_t)snprintf(out + n, size - n, "[");
    for (int d = 0; d < shape->rank; d++)
      n += (size_t)snprintf(out + n, size - n, "%s%lld", d ? "," : "", (long long)shape->dims[d]);
    n += (size_t)snprintf(out + n, size - n, "]");
    assert_true(n < size);
  }
}

static void expect_sizes(struct buf *model, const struct import_options *options,
                         hone_status status, const char *says) {
  char sizes[400];
  if (status) {
    expect(model, options, status, says);
    return;
  }
  struct loaded l = load(model, options);
  assert_ok(&l);
  put_sizes(l.graph, sizes, sizeof sizes);
  assert_string_equal(sizes, says);
  unload(&l);
}

static void texts(void **state) {
  static const struct given rows[] = {
      {"2,3", "3", {.shapes = "x[2,3],y[3]"}, HONE_OK, "[2,3][3]"},
      {"2,3", "3", {.shapes = "x"}, HONE_E_USAGE, "the model has no such input: x"},
      {"2,3", "3", {.shapes = "x[2,3]y[3]"}, HONE_E_USAGE, "cannot be read at \"y[3]\""},
      {"2,3", "3", {.shapes = "x[2,3]]"}, HONE_E_USAGE, "cannot be read at \"]\""},
      {"2,3", "3", {.shapes = "x[2;3]"}, HONE_E_USAGE, "cannot be read at \";3]\""},
      {"2,3", "3", {.shapes = "x[2,3,]"}, HONE_E_USAGE, "cannot be read at \",]\""},
      {"2,3", "3", {.shapes = "x[,3]"}, HONE_E_USAGE, "cannot be read at \",3]\""},
      {"2,3", "3", {.shapes = "x[]"}, HONE_E_SHAPE, "--shape gives 0 dimensions, the model has 2"},
      {"2,3",
       "3",
       {.shapes = "x[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"},
       HONE_E_USAGE,
       "cannot be read at"},
      {"2,3", "3", {.shapes = "x[0000000000000000000000002,3]"}, HONE_E_USAGE, "cannot be read"},
      {"2,3", "3", {.shapes = "x[9223372036854775808,3]"}, HONE_E_USAGE, "cannot be read"},
      {"N,3",
       "3",
       {.shapes = "x[9223372036854775807+1,3]"},
       HONE_E_USAGE,
       "cannot be read at \"1,3]"},
      {"N,3", "3", {.shapes = "x[1+1,3]"}, HONE_OK, "[2,3][3]"},
      {"N,3", "3", {.shapes = "x[1+,3]"}, HONE_E_USAGE, "cannot be read at \",3]\""},
      {"N,3", "3", {.shapes = "x[0,3]"}, HONE_OK, "[0,3][3]"},
      {"", "N", {.batch = 4}, HONE_OK, "[][4]"},
      {"", "", {.batch = 4}, HONE_E_SHAPE, "no input has a dynamic first dimension"},
      {NULL, "N", {.shapes = "x[2,2]", .batch = 4}, HONE_OK, "[2,2][4]"},
      {NULL, "N", {.shapes = "x[2,2]"}, HONE_OK, "[2,2][1]"},
      {NULL,
       NULL,
       {0},
       HONE_E_SHAPE,
       "x[no shape], y[no shape]; give their sizes, for example --shape \"x[1],y[1]\""},
  };
  (void)state;
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct buf model = two_inputs("x", rows[i].x, "y", rows[i].y);
    expect_sizes(&model, &rows[i].options, rows[i].status, rows[i].says);
  }
}

static void open_sizes(void **state) {
  static const char long_name[] = "x[abcdefghijklmnopqrstuvwxyzabcdefg<=4,3]";
  static const struct given rows[] = {
      {"N,3", "3", {.shapes = "x[A<=64,3]"}, HONE_OK, "[64,3][3]"},
      {"N,3", "3", {.shapes = "x[A=8<=64,3]"}, HONE_OK, "[64,3][3]"},
      {"N,3", "3", {.shapes = "x[A=8<=64,3]", .at_run = true}, HONE_OK, "[8,3][3]"},
      {"N,3", "3", {.shapes = "x[A<=64,3]", .at_run = true}, HONE_OK, "[64,3][3]"},
      {"N,3", "3", {.shapes = "x[A<=64,3]", .sizes = {5}}, HONE_OK, "[5,3][3]"},
      {"N,T", "T", {.shapes = "x[A<=4,A]"}, HONE_OK, "[4,4][4]"},
      {"N,T", "M", {.shapes = "x[A<=4,A+1],y[A+A]"}, HONE_OK, "[4,5][8]"},
      {"N,T", "M", {.shapes = "x[A<=4,A+B<=6],y[B]"}, HONE_OK, "[4,10][6]"},
      {"N,T", "M", {.shapes = "x[A<=4,AB<=6],y[A]", .sizes = {2, 3}}, HONE_OK, "[2,3][2]"},
      {"N,T", "M", {.shapes = "x[B<=4,A<=6],y[A]"}, HONE_OK, "[4,6][6]"},
      {"2,3", "3", {.shapes = "x[A<=4,3]"}, HONE_E_SHAPE, "fixed at 2"},
      {"N,3", "3", {.shapes = "x[A,3]"}, HONE_E_USAGE, "--shape: give the bound of A once"},
      {"N,T", "3", {.shapes = "x[A<=4,A<=5]"}, HONE_E_USAGE, "--shape: give the bound of A once"},
      {"N,T", "3", {.shapes = "x[A<=4,A=5]"}, HONE_E_USAGE, "--shape: give the bound of A once"},
      {"N,3", "3", {.shapes = "x[A=9<=4,3]"}, HONE_E_USAGE, "cannot be read at \"A=9<=4,3]\""},
      {"N,3", "3", {.shapes = "x[A=9,3]"}, HONE_E_USAGE, "cannot be read at \",3]\""},
      {"N,3", "3", {.shapes = "x[A=<=4,3]"}, HONE_E_USAGE, "cannot be read at \"<=4,3]\""},
      {"N,3", "3", {.shapes = "x[A<4,3]"}, HONE_E_USAGE, "cannot be read at \"<4,3]\""},
      {"N,3", "3", {.shapes = "x[A<=,3]"}, HONE_E_USAGE, "cannot be read at \",3]\""},
      {"N,3", "3", {.shapes = "x[A<=0,3]"}, HONE_E_USAGE, "cannot be read at \"0,3]\""},
      {"N,3", "3", {.shapes = "x[<=4,3]"}, HONE_E_USAGE, "cannot be read at \"<=4,3]\""},
      {"N,3", "3", {.shapes = long_name}, HONE_E_USAGE, "cannot be read at \"abcdef"},
      {"2,U", "3,U", {.open_is = 7}, HONE_OK, "[2,7][3,7]"},
      {"2,U,?", "?", {.open_is = 7}, HONE_OK, "[2,7,7][1]"},
      {"2,U", "3,U", {.shapes = "x[2,5]", .open_is = 7}, HONE_OK, "[2,5][3,5]"},
  };
  (void)state;
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct buf model = two_inputs("x", rows[i].x, "y", rows[i].y);
    struct symbols symbols = {0};
    struct import_options options = rows[i].options;
    options.symbols = &symbols;
    expect_sizes(&model, &options, rows[i].status, rows[i].says);
    if (!rows[i].status && strstr(options.shapes ? options.shapes : "", "A")) {
      assert_true(symbols.count >= 1);
      assert_true(symbols.at[0].bound >= symbols.at[0].at && symbols.at[0].at >= 1);
    }
  }
}

static void too_many_open_sizes(void **state) {
  char text[1024] = "x[";
  (void)state;
  for (int i = 0; i <= HONE_MAX_SYMBOLS; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%sS%d<=2", i ? "+" : "", i);
  snprintf(text + strlen(text), sizeof text - strlen(text), ",3]");
  struct buf model = two_inputs("x", "N,3", "y", "3");
  expect(&model, &(struct import_options){.shapes = text}, HONE_E_LIMIT,
         "dynamic dimensions at \"S");
}

/* The longest input's name that the text can mean. */
static void names_that_hold_others(void **state) {
  (void)state;
  for (int turned = 0; turned < 2; turned++) {
    struct buf model = turned ? two_inputs("a", "3", "a[b", "N") : two_inputs("a[b", "N", "a", "3");
    expect_sizes(&model, &(struct import_options){.shapes = "a[b[5]"}, HONE_OK,
                 turned ? "[3][5]" : "[5][3]");
  }
}

/* Twelve are named, the rest is counted. */
static void many_open_sizes(void **state) {
  struct buf model = two_inputs("x", "?,?,?,?,?,?,?", "y", "?,?,?,?,?,?,?");
  struct loaded l = load(&model, &(struct import_options){.open_is = 2});
  (void)state;
  assert_ok(&l);
  assert_non_null(strstr(l.graph->open_dimensions, " and 2 more"));
  unload(&l);
}

/* An input with an initializer is a constant: neither --shape nor --batch applies to it. */
static void inputs_with_a_value(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    struct buf graph = small_graph();
    put_input(&graph, "w", 1, "2,2");
    struct buf model = model_of(13, &graph);
    struct import_options options = {.shapes = i == 1   ? "w[2,2]"
                                               : i == 2 ? "x[2,2]"
                                                        : NULL,
                                     .batch = i == 0 ? 2 : 0};
    expect_sizes(&model, &options, i == 1 ? HONE_E_USAGE : HONE_OK,
                 i == 1 ? "the model has no such input: w" : "[2,2]");
  }
}

/* -- sequences and optionals */

enum list { SEQUENCE = 1, OPTIONAL = 2 };

/* An input of type optional(sequence(tensor)), or one of both. */
static void put_list_input(struct buf *graph, const char *name, unsigned list, const char *dims) {
  struct buf value = {0}, type = {0}, tensor = {0}, shape = {0};
  for (const char *p = dims; *p; p += strcspn(p, ","), p += *p == ',') {
    struct buf dim = {0};
    if (*p >= '0' && *p <= '9')
      put_int(&dim, 1, strtoll(p, NULL, 10));
    else
      put_bytes(&dim, 2, p, 1);
    put_msg(&shape, 1, &dim);
  }
  put_int(&tensor, 1, 1);
  put_msg(&tensor, 2, &shape);
  put_msg(&type, 1, &tensor);
  for (unsigned kind = SEQUENCE; kind <= OPTIONAL; kind++) {
    struct buf around = {0}, element = {0};
    if (!(list & kind)) continue;
    put_msg(&element, 1, &type);
    put_msg(&around, kind == SEQUENCE ? 4 : 9, &element);
    type = around;
  }
  put_str(&value, 1, name);
  put_msg(&value, 2, &type);
  put_msg(graph, 11, &value);
}

static void lists(void **state) {
  static const struct {
    unsigned list;
    const char *dims, *op, *text, *sizes;
    int warnings; /* at least */
  } rows[] = {
      {SEQUENCE, "2,3", "SequenceLength", NULL, "", 1},
      {SEQUENCE, "N,3", "SequenceLength", "x.0[2,3],x.1[4,3]", "[2,3][4,3]", 0},
      {SEQUENCE, "", "SequenceLength", "x.0[]", "[]", 0},
      {SEQUENCE, "2,3", "SequenceLength", "z[7]", "", 1},
      {OPTIONAL, "2,3", "OptionalHasElement", NULL, "", 1},
      {OPTIONAL, "N,3", "OptionalHasElement", "x[2,3]", "[2,3]", 0},
      {OPTIONAL, "", "OptionalHasElement", "x[]", "[]", 0},
      {OPTIONAL | SEQUENCE, "2,3", "OptionalHasElement", NULL, "", 1},
      {OPTIONAL | SEQUENCE, "2,3", "OptionalHasElement", "x.0[2,3],x.1[2,3]", "[2,3][2,3]", 0},
  };
  (void)state;
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct buf graph = {0};
    char sizes[200];
    bool has_other = rows[i].text && *rows[i].text == 'z';
    put_node(&graph, rows[i].op, "x", "y", NULL);
    put_list_input(&graph, "x", rows[i].list, rows[i].dims);
    if (has_other) put_node(&graph, "Relu", "z", "w", NULL), put_input(&graph, "z", 1, "7");
    put_output(&graph, "y");
    struct buf model = model_of(18, &graph);
    struct loaded l = load(&model, &(struct import_options){.shapes = rows[i].text});
    assert_ok(&l);
    put_sizes(l.graph, sizes, sizeof sizes);
    if (!has_other) assert_string_equal(sizes, rows[i].sizes);
    assert_true(l.warnings >= rows[i].warnings);
    unload(&l);
  }
}

/* --shape for "xx.0" or "x.0b" does not define element "x.0", although both names contain it. */
static void names_that_hold_elements(void **state) {
  struct buf graph = {0};
  (void)state;
  put_node(&graph, "SequenceLength", "x", "n", NULL);
  put_node(&graph, "Add", "xx.0,x.0b", "y", NULL);
  put_list_input(&graph, "x", SEQUENCE, "2");
  put_input(&graph, "xx.0", 1, "A");
  put_input(&graph, "x.0b", 1, "A");
  put_output(&graph, "n");
  put_output(&graph, "y");
  struct buf model = model_of(18, &graph);
  expect_sizes(&model, &(struct import_options){.shapes = "xx.0[3],x.0b[3]"}, HONE_OK, "[3][3]");
}

/* Lists of lists of lists, maps and what else no tensor is. */
static void types_that_are_refused(void **state) {
  (void)state;
  static const uint32_t fields[] = {5, 7, 8}; /* map, opaque, sparse tensor */
  for (size_t i = 0; i < COUNT(fields); i++)
    for (int within = 0; within < 2; within++) {
      struct buf graph = {0}, value = {0}, type = {0}, inside = {0}, element = {0}, list = {0};
      put_msg(&type, fields[i], &inside);
      if (within) {
        put_msg(&element, 1, &type);
        put_msg(&list, 4, &element);
        type = list;
      }
      put_str(&value, 1, "x");
      put_msg(&value, 2, &type);
      put_msg(&graph, 11, &value);
      put_node(&graph, "Identity", "x", "y", NULL);
      put_output(&graph, "y");
      struct buf model = model_of(18, &graph);
      expect(&model, NULL, HONE_E_UNSUP, "\"x\"");
    }
}

/* With a dimension of 0 the others may have any size: the length of an inverse transform
   overflowed. */
static void transform_of_nothing(void **state) {
  static const int64_t dims[] = {0, 3ll << 61, 1};
  struct buf graph = {0}, shape = {0}, how = {0};
  (void)state;
  attr_ints(&shape, "value_ints", dims, 3);
  attr_int(&how, "inverse", 1);
  attr_int(&how, "onesided", 1);
  put_input(&graph, "x", 1, "1,1,1");
  put_node(&graph, "Constant", "", "s", &shape);
  put_node(&graph, "Expand", "x,s", "e", NULL);
  put_node(&graph, "DFT", "e", "y", &how);
  put_output(&graph, "y");
  struct buf model = model_of(20, &graph);
  expect(&model, NULL, HONE_E_SHAPE, "a transform of length 6917529027641081856");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts),
      cmocka_unit_test(open_sizes),
      cmocka_unit_test(too_many_open_sizes),
      cmocka_unit_test(names_that_hold_others),
      cmocka_unit_test(many_open_sizes),
      cmocka_unit_test(inputs_with_a_value),
      cmocka_unit_test(lists),
      cmocka_unit_test(names_that_hold_elements),
      cmocka_unit_test(types_that_are_refused),
      cmocka_unit_test(transform_of_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
