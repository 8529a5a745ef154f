/* Every operator of tests/cases/pt2/operators.zip with each of its arguments damaged: of another
 * kind, out of range, naming an undefined tensor, omitted, and with arguments that only other
 * operators have; its results without names; inputs of other types and ranks. A refusal names its
 * place and is never an internal error. An undefined tensor is always refused. An argument of a
 * wrong kind is ignored only where hone does not use it (the list below). */
#include "import_case.h"
#include "compiler/import/pt2/zip.h"
#include "zip_bytes.h"

#include <jansson.h>

enum { LONGEST_MODEL = 30000, MOST_PAIRS = 8192, MOST_MEMBERS = 64, MOST_NAMES = 512 };

/* Arguments of PyTorch's storage and execution that do not affect results, or only training. */
static const char *const ignored[] = {"device",        "layout",        "pin_memory",
                                      "memory_format", "half_to_float", "cudnn_enable",
                                      "cudnn_enabled", "dropout_p",     "momentum",
                                      "train",         "training",      "scale_grad_by_freq",
                                      "sparse"};
/* Arguments that hone ignores: known from another argument or from the results, or unused in a
   mode. */
static const char *const ignored_there[] = {
    "torch.ops.aten._assert_tensor_metadata.default a",
    "torch.ops.aten._assert_tensor_metadata.default size",
    "torch.ops.aten._assert_tensor_metadata.default stride",
    "torch.ops.aten._assert_tensor_metadata.default dtype", "torch.ops.aten.chunk.default chunks",
    "torch.ops.aten.dropout.default p", "torch.ops.aten.instance_norm.default running_mean",
    "torch.ops.aten.instance_norm.default running_var",
    "torch.ops.aten.native_group_norm.default N", "torch.ops.aten.native_group_norm.default C",
    "torch.ops.aten.native_group_norm.default HxW",
    "torch.ops.aten.upsample_linear1d.vec output_size",
    "torch.ops.aten._cdist_forward.default compute_mode", "torch.ops.aten._unique2.default sorted",
    "torch.ops.aten._assert_async.msg self", "torch.ops.aten._assert_async.msg assert_msg",
    "torch.ops.quantized_decomposed.dequantize_per_channel.default quant_min",
    "torch.ops.quantized_decomposed.dequantize_per_channel.default quant_max",
    "torch.ops.quantized_decomposed.dequantize_per_channel.default dtype",
    "torch.ops.quantized_decomposed.dequantize_per_tensor.default quant_min",
    "torch.ops.quantized_decomposed.dequantize_per_tensor.default quant_max",
    "torch.ops.quantized_decomposed.dequantize_per_tensor.default dtype",
    "torch.ops.quantized_decomposed.dequantize_per_tensor.tensor quant_min",
    "torch.ops.quantized_decomposed.dequantize_per_tensor.tensor quant_max",
    "torch.ops.quantized_decomposed.dequantize_per_tensor.tensor dtype",
    "torch.ops.torchao.dequantize_affine.default input_dtype",
    "torch.ops.torchao.dequantize_affine.default quant_min",
    "torch.ops.torchao.dequantize_affine.default quant_max",
    "torch.ops.aten._assert_scalar.default self",
    "torch.ops.aten._assert_scalar.default assert_msg",
    /* of the check of an inverse, whose result nothing reads */
    "torch.ops.higher_order.with_effects is_matrix",
    /* written while training; the order of elements in memory */
    "torch.ops.aten.rrelu_with_noise_functional.default noise",
    "torch.ops.aten.empty_permuted.default physical_layout"};

static struct {
  struct ctx ctx;
  struct arena *arena;
  struct zip zip;
  const char *module;
  size_t module_length;
  json_t *model;
  const struct zip_member *others[MOST_MEMBERS]; /* other files of the module than its model */
  const uint8_t *contents[MOST_MEMBERS];
  size_t other_count, attempts, refused;
  char *pairs[MOST_PAIRS]; /* target and argument that are already damaged */
  size_t pair_count;
  char *names[MOST_NAMES]; /* of arguments, of any operator */
  size_t name_count;
} all;

/* -- the archive */

static struct buf archive(void) {
  struct buf b = {0}, directory = {0};
  char name[300];
  char *text = json_dumps(all.model, JSON_COMPACT);
  assert_non_null(text);
  uint16_t count = (uint16_t)(all.other_count + 1);
  for (size_t i = 0; i < all.other_count; i++)
    put_member(&b, &directory, all.others[i]->name, all.contents[i], all.others[i]->size);
  snprintf(name, sizeof name, "%.*s/models/model.json", (int)all.module_length, all.module);
  put_member(&b, &directory, name, text, strlen(text));
  put_directory(&b, &directory, count);
  free(text);
  return b;
}

static bool is_refused(const char *target, const char *what, bool must_be) {
  struct buf bytes = archive();
  struct loaded l = load(&bytes, NULL);
  bool refused = l.status != HONE_OK;
  all.attempts++;
  all.refused += refused;
  bool sound =
      l.status != HONE_E_INTERNAL && (refused || !must_be) &&
      (!refused || strstr(l.ctx.message, " at ") || strstr(l.ctx.message, "memory of one phase") ||
       strstr(l.ctx.message, "bytes overflow"));
  if (!sound)
    print_error("%.*s, %s, %s: %s\n", (int)all.module_length, all.module, target, what,
                refused ? l.ctx.message : "was read");
  assert_true(sound);
  unload(&l);
  return refused;
}

/* -- arguments */

static const char *string_of(const json_t *object, const char *key) {
  const char *s = json_string_value(json_object_get(object, key));
  return s ? s : "";
}

/* Two nodes of one operator read their arguments alike. */
static bool is_new(const char *target, const char *argument) {
  char pair[512];
  snprintf(pair, sizeof pair, "%s %s", target, argument);
  for (size_t i = 0; i < all.pair_count; i++)
    if (!strcmp(all.pairs[i], pair)) return false;
  assert_true(all.pair_count < MOST_PAIRS);
  all.pairs[all.pair_count++] = strdup(pair);
  return true;
}

static bool is_ignored(const char *target, const char *name) {
  char pair[512];
  if (!*name) return true; /* of a graph within the graph: by their order */
  for (size_t i = 0; i < COUNT(ignored); i++)
    if (!strcmp(ignored[i], name)) return true;
  snprintf(pair, sizeof pair, "%s %s", target, name);
  for (size_t i = 0; i < COUNT(ignored_there); i++)
    if (!strcmp(ignored_there[i], pair)) return true;
  return false;
}

static void damage_argument(const char *target, json_t *input) {
  static const char *const kinds[] = {
      /* the first is never a valid argument */
      "{\"as_nothing\": {}}",
      "{\"as_tensor\": {\"name\": \"nobody\"}}",
      "{\"as_optional_tensor\": {\"as_none\": true}}",
      "{\"as_tensors\": []}",
      "{\"as_tensors\": [{\"name\": \"nobody\"}]}",
      "{\"as_optional_tensors\": [{\"as_none\": true}, {\"as_tensor\": {\"name\": \"nobody\"}}]}",
      "{\"as_int\": -77}",
      "{\"as_int\": 1000000}",
      "{\"as_int\": 0}",
      "{\"as_int\": 9223372036854775807}",
      "{\"as_int\": -9223372036854775808}",
      "{\"as_float\": 1e300}",
      "{\"as_float\": \"-Infinity\"}",
      "{\"as_ints\": []}",
      "{\"as_ints\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}",
      "{\"as_ints\": [-77, \"x\"]}",
      "{\"as_ints\": [0]}",
      "{\"as_ints\": [9223372036854775807]}",
      "{\"as_ints\": [-9223372036854775808, 9223372036854775807]}",
      "{\"as_sym_ints\": [{\"as_int\": 1e300}]}",
      "{\"as_floats\": [1.5, \"x\"]}",
      "{\"as_floats\": []}",
      "{\"as_sym_int\": {\"as_name\": \"nobody\"}}",
      "{\"as_string\": \"anything\"}",
      "{\"as_bool\": true}",
      "{\"as_bool\": false}",
      "{\"as_none\": true}"};
  const char *name = string_of(input, "name");
  json_t *before = json_incref(json_object_get(input, "arg"));
  for (size_t i = 0; i < COUNT(kinds); i++) {
    char what[400];
    snprintf(what, sizeof what, "argument %s is %s", name, kinds[i]);
    json_t *other = json_loads(kinds[i], 0, NULL);
    assert_non_null(other);
    assert_int_equal(json_object_set_new(input, "arg", other), 0);
    is_refused(target, what, i == 0 && !is_ignored(target, name));
  }
  assert_int_equal(json_object_set_new(input, "arg", before), 0);
}

static bool has_argument(const json_t *inputs, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(string_of(json_array_get(inputs, i), "name"), name)) return true;
  return false;
}

/* Arguments [first, end) that other operators have and this one was not given; where they are refused, each by itself. */
static void add_arguments(const char *target, json_t *inputs, size_t first, size_t end) {
  const size_t given = json_array_size(inputs);
  char what[300];
  for (size_t i = first; i < end; i++)
    if (!has_argument(inputs, given, all.names[i]))
      json_array_append_new(inputs,
                            json_pack("{s:s,s:{s:{}}}", "name", all.names[i], "arg", "as_nothing"));
  snprintf(what, sizeof what, "with arguments from %s to %s", all.names[first], all.names[end - 1]);
  const bool refused = json_array_size(inputs) > given && is_refused(target, what, false);
  while (json_array_size(inputs) > given) json_array_remove(inputs, given);
  if (!refused || end - first == 1) return;
  add_arguments(target, inputs, first, first + (end - first) / 2);
  add_arguments(target, inputs, first + (end - first) / 2, end);
}

/* Each result by itself without a name, those of lists too. */
static void damage_results(const char *target, json_t *outputs) {
  char what[300];
  for (size_t k = 0; k < json_array_size(outputs); k++) {
    json_t *before = json_incref(json_array_get(outputs, k)),
           *list = json_object_get(before, "as_tensors");
    snprintf(what, sizeof what, "result %zu without a name", k);
    json_array_set_new(outputs, k, json_pack("{s:{s:s}}", "as_tensor", "name", ""));
    is_refused(target, what, false);
    json_array_set_new(outputs, k, before);
    for (size_t i = 0; i < json_array_size(list); i++) {
      json_t *one = json_incref(json_array_get(list, i));
      json_array_set_new(list, i, json_pack("{s:s}", "name", ""));
      is_refused(target, what, false);
      json_array_set_new(list, i, one);
    }
  }
}

static void damage_node(json_t *node) {
  const char *target = string_of(node, "target");
  json_t *inputs = json_object_get(node, "inputs"), *outputs = json_object_get(node, "outputs");
  for (size_t i = 0; i < json_array_size(inputs); i++) {
    json_t *input = json_array_get(inputs, i);
    if (is_new(target, string_of(input, "name"))) damage_argument(target, input);
  }
  if (!is_new(target, "its results")) return;
  json_incref(outputs);
  json_object_set_new(node, "outputs", json_array());
  is_refused(target, "without results", false);
  json_object_set_new(node, "outputs", outputs);
  damage_results(target, outputs);
  add_arguments(target, inputs, 0, all.name_count);
}

/* -- inputs of the model */

static void damage_value(const char *name, json_t *about) {
  static const int dtypes[] = {1, 5, 7, 8, 12, 99};
  char what[300];
  json_t *dtype = json_incref(json_object_get(about, "dtype"));
  for (size_t i = 0; i < COUNT(dtypes); i++) {
    json_object_set_new(about, "dtype", json_integer(dtypes[i]));
    snprintf(what, sizeof what, "input %s of type %d", name, dtypes[i]);
    is_refused("", what, dtypes[i] == 99);
  }
  json_object_set_new(about, "dtype", dtype);
  json_t *sizes = json_incref(json_object_get(about, "sizes"));
  for (size_t rank = 0; rank < 7; rank++) {
    json_t *other = json_array();
    for (size_t d = 0; d < rank; d++)
      json_array_append_new(other, json_pack("{s:i}", "as_int", d % 3 ? 4 : 2));
    json_object_set_new(about, "sizes", other);
    snprintf(what, sizeof what, "input %s of rank %zu", name, rank);
    is_refused("", what, false);
  }
  json_object_set_new(about, "sizes", sizes);
}

static void damage_module(void) {
  json_t *graph = json_object_get(json_object_get(all.model, "graph_module"), "graph");
  json_t *specs = json_object_get(
      json_object_get(json_object_get(all.model, "graph_module"), "signature"), "input_specs");
  json_t *nodes = json_object_get(graph, "nodes");
  for (size_t i = 0; i < json_array_size(nodes); i++)
    json_object_set_new(json_array_get(nodes, i), "metadata", json_object());
  assert_false(is_refused("", "as it is", false));
  for (size_t i = 0; i < json_array_size(nodes); i++) damage_node(json_array_get(nodes, i));
  for (size_t i = 0; i < json_array_size(specs); i++) {
    const json_t *arg =
        json_object_get(json_object_get(json_array_get(specs, i), "user_input"), "arg");
    const char *name = string_of(json_object_get(arg, "as_tensor"), "name");
    json_t *about = json_object_get(json_object_get(graph, "tensor_values"), name);
    if (about) damage_value(name, about);
  }
}

static void note_name(const char *name) {
  for (size_t i = 0; i < all.name_count; i++)
    if (!strcmp(all.names[i], name)) return;
  assert_true(all.name_count < MOST_NAMES);
  all.names[all.name_count++] = strdup(name);
}

/* The names of arguments in all modules. */
static void note_names(const struct zip_member *member) {
  const uint8_t *text;
  assert_int_equal(zip_read(&all.zip, all.arena, member, &text), HONE_OK);
  json_t *model = json_loadb((const char *)text, member->size, 0, NULL);
  assert_non_null(model);
  json_t *graph = json_object_get(json_object_get(model, "graph_module"), "graph");
  json_t *nodes = json_object_get(graph, "nodes");
  for (size_t i = 0; i < json_array_size(nodes); i++) {
    json_t *inputs = json_object_get(json_array_get(nodes, i), "inputs");
    for (size_t k = 0; k < json_array_size(inputs); k++)
      note_name(string_of(json_array_get(inputs, k), "name"));
  }
  json_decref(model);
}

/* Takes the module that member `first` belongs to. */
static void take_module(size_t first) {
  const char *name = all.zip.members[first].name;
  size_t length = (size_t)(strchr(name, '/') - name);
  const uint8_t *text = NULL;
  size_t size = 0;
  all.module = name;
  all.module_length = length;
  all.other_count = 0;
  for (size_t i = 0; i < all.zip.count; i++) {
    const struct zip_member *member = &all.zip.members[i];
    if (strncmp(member->name, name, length + 1)) continue;
    const char *rest = member->name + length + 1, *end = rest + strlen(rest);
    if (end - rest > 4 && !strcmp(end - 4, ".npy")) continue;
    if (!strcmp(rest, "models/model.json")) {
      assert_int_equal(zip_read(&all.zip, all.arena, member, &text), HONE_OK);
      size = member->size;
      continue;
    }
    assert_true(all.other_count < MOST_MEMBERS);
    assert_int_equal(zip_read(&all.zip, all.arena, member, &all.contents[all.other_count]),
                     HONE_OK);
    all.others[all.other_count++] = member;
  }
  assert_non_null(text);
  if (size > LONGEST_MODEL) return;
  all.model = json_loadb((const char *)text, size, 0, NULL);
  assert_non_null(all.model);
  damage_module();
  json_decref(all.model);
}

static void every_argument_damaged(void **state) {
  const char *only = getenv("HONE_CASES"); /* modules whose name begins so */
  struct mapping map;
  (void)state;
  ctx_init(&all.ctx);
  assert_int_equal(arena_create(&all.ctx, 0, &all.arena), HONE_OK);
  assert_int_equal(file_map(&all.ctx, "tests/cases/pt2/operators.zip", &map), HONE_OK);
  assert_int_equal(zip_open(&all.ctx, all.arena, map.data, map.size, &all.zip), HONE_OK);
  const size_t step = getenv("HONE_TEST_FULL") || only ? 1 : 8;
  size_t modules = 0;
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < all.zip.count; i++) {
      const char *name = all.zip.members[i].name, *rest = strchr(name, '/');
      if (!rest || strcmp(rest, "/models/model.json")) continue;
      if (!pass)
        note_names(&all.zip.members[i]);
      else if (modules++ % step == 0 && (!only || !strncmp(name, only, strlen(only))))
        take_module(i);
    }
  print_message("%zu arguments, %zu names, %zu attempts, %zu refused\n", all.pair_count,
                all.name_count, all.attempts, all.refused);
  for (size_t i = 0; i < all.pair_count; i++) free(all.pairs[i]);
  for (size_t i = 0; i < all.name_count; i++) free(all.names[i]);
  arena_destroy(all.arena);
  file_unmap(&map);
  assert_true(all.refused > all.attempts / 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_argument_damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
