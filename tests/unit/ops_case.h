/* One operator, written as text, run through inference and reference evaluation:
 *   op          "Slice" or "ai.onnx.ml:ArrayFeatureExtractor"
 *   attributes  "axis=1 pads=[0,1] mode=edge alpha=0.5"
 *   inputs      "f32[2,3]~iota i64[1]=1 -": '=' constant, '~' known only at run time, '-' left out.
 *               Values: a list, iota, or rand (seeded); none: run-time zeros
 *   want        the outputs with their values ("*" for any), or an error id: "E_SHAPE"
 */
#ifndef HONE_OPS_CASE_H
#define HONE_OPS_CASE_H

#include <math.h>
#include <stdlib.h>

#include "core/ops/ops.h"
#include "unit.h"

#define CASE_VALUES 9
struct ops_case {
  const char *op, *attributes, *inputs, *want;
};

struct ops_run {
  struct ctx ctx;
  struct arena *arena;
  struct graph *graph;
  struct node *node;
  size_t input_count;
  const struct tensor *in[CASE_VALUES];
  struct tensor *out[CASE_VALUES];
};

#define case_fails(...) (print_error(__VA_ARGS__), print_error("\n"), _fail(__FILE__, __LINE__))
#define REQUIRE(call) assert_int_equal((call), HONE_OK)

/* Cuts the next word off *at; an empty one at the end. */
static inline void next_word(const char **at, char out[512]) {
  size_t n = 0;
  while (**at == ' ') (*at)++;
  while (**at && **at != ' ' && n < 511) out[n++] = *(*at)++;
  out[n] = 0;
}

static inline int64_t saturate(double x) {
  return x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : (int64_t)x;
}

static inline const char *read_list(const char *at, double *out, size_t *out_count) {
  *out_count = 0;
  while (*at && *at != ']') {
    char *end;
    out[(*out_count)++] = strtod(at, &end);
    assert_true(end != at && *out_count < 512);
    at = *end == ',' ? end + 1 : end;
  }
  return at;
}

/* "f32[2,3]" */
static inline const char *read_type(const char *word, hone_dtype *dtype, struct shape *shape) {
  char name[16] = "";
  size_t n = 0, count;
  double dims[64];
  while (word[n] && word[n] != '[' && n < 15) name[n] = word[n], n++;
  *dtype = dtype_parse(name);
  assert_true(*dtype != HONE_UNDEFINED && word[n] == '[');
  const char *end = read_list(word + n + 1, dims, &count);
  shape->rank = (int)count;
  for (size_t k = 0; k < count && k < HONE_MAX_RANK; k++) shape->dims[k] = saturate(dims[k]);
  return end + 1;
}

static inline void fill_tensor(const struct tensor *tensor, const char *values) {
  size_t count = tensor_count(tensor), given = 0;
  double list[512];
  struct random random;
  random_init(&random, 7 + count);
  bool is_iota = strcmp(values, "iota") == 0, is_random = strcmp(values, "rand") == 0;
  if (!is_iota && !is_random && *values) read_list(values, list, &given);
  assert_true(is_iota || is_random || given == count || !*values);
  for (size_t i = 0; i < count && (*values); i++) {
    double x = is_iota ? (double)i : 0;
    if (is_random)
      x = dtype_is_float(tensor->dtype)
              ? random_normal(&random)
              : (double)random_below(&random, tensor->dtype == HONE_BOOL ? 2 : 10);
    if (given) x = list[i];
    if (dtype_is_float(tensor->dtype))
      tensor_set_f64(tensor, i, x);
    else
      tensor_set_i64(tensor, i, saturate(x));
  }
}

static inline void set_attribute(struct ops_run *run, char *word) {
  char *value = strchr(word, '=');
  double list[512];
  size_t count;
  int64_t ints[512];
  assert_non_null(value);
  *value++ = 0;
  if (*value == '[') {
    bool is_float = strchr(value, '.') != NULL;
    read_list(value + 1, list, &count);
    for (size_t k = 0; k < count; k++) ints[k] = saturate(list[k]);
    if (is_float) {
      double *copy;
      REQUIRE(NEW_ARRAY(&run->ctx, run->arena, copy, count));
      memcpy(copy, list, count * sizeof *copy);
      struct attribute floats = {
          .name = word, .kind = ATTRIBUTE_FLOATS, .count = count, .floats = copy};
      REQUIRE(node_set(&run->ctx, run->graph, run->node, &floats));
      return;
    }
    REQUIRE(node_set_ints(&run->ctx, run->graph, run->node, word, ints, count));
    return;
  }
  char *end;
  double number = strtod(value, &end);
  if (end == value || *end)
    REQUIRE(node_set_string(&run->ctx, run->graph, run->node, word, value));
  else if (strpbrk(value, ".e"))
    REQUIRE(node_set_float(&run->ctx, run->graph, run->node, word, number));
  else
    REQUIRE(node_set_int(&run->ctx, run->graph, run->node, word, saturate(number)));
}

static inline void set_attributes(struct ops_run *run, const char *text) {
  char word[512];
  for (next_word(&text, word); *word; next_word(&text, word)) {
    const char *kept;
    REQUIRE(arena_string(&run->ctx, run->arena, word, strlen(word), &kept));
    set_attribute(run, (char *)kept);
  }
}

/* Builds the node; constants get their payload, run-time inputs only their type. */
static inline void build_case(const struct ops_case *c, struct ops_run *run) {
  struct value *inputs[CASE_VALUES] = {NULL};
  char word[512];
  ctx_init(&run->ctx);
  REQUIRE(arena_create(&run->ctx, 0, &run->arena));
  REQUIRE(graph_create(&run->ctx, run->arena, &run->graph));
  const char *text = c->inputs;
  for (next_word(&text, word); *word; next_word(&text, word)) {
    hone_dtype dtype;
    struct shape shape = {0, {0}};
    size_t k = run->input_count++;
    if (strcmp(word, "-") == 0) continue;
    const char *rest = read_type(word, &dtype, &shape);
    if (*rest == '=') {
      struct tensor *tensor;
      REQUIRE(tensor_create(&run->ctx, run->arena, dtype, &shape, &tensor));
      fill_tensor(tensor, rest + 1);
      REQUIRE(graph_constant(&run->ctx, run->graph, NULL, tensor, &inputs[k]));
    } else {
      char name[16];
      snprintf(name, sizeof name, "in%zu", k);
      REQUIRE(graph_input(&run->ctx, run->graph, name, dtype, &shape, &inputs[k]));
    }
  }
  const char *colon = strchr(c->op, ':');
  const struct op *op = op_find(colon ? "ai.onnx.ml" : "", colon ? colon + 1 : c->op);
  if (!op && !colon) op = op_find("hone", c->op);
  assert_non_null(op);
  size_t outputs = 1;
  for (const char *s = c->want; *s; s++) outputs += *s == ' ';
  REQUIRE(graph_node(&run->ctx, run->graph, op, inputs, run->input_count, outputs, &run->node));
  set_attributes(run, c->attributes);
}

/* Payload of run-time inputs, and the outputs' room. */
static inline void allocate_case(const struct ops_case *c, struct ops_run *run) {
  char word[512];
  const char *text = c->inputs;
  for (size_t k = 0; k < run->input_count; k++) {
    next_word(&text, word);
    struct value *value = run->node->inputs[k];
    if (!value) continue;
    run->in[k] = value->constant;
    if (value->constant) continue;
    struct tensor *tensor;
    REQUIRE(tensor_create(&run->ctx, run->arena, value->dtype, &value->shape, &tensor));
    const char *values = strchr(word, '~');
    fill_tensor(tensor, values ? values + 1 : "");
    run->in[k] = tensor;
  }
  for (size_t k = 0; k < run->node->output_count; k++) {
    struct value *value = run->node->outputs[k];
    if (value)
      REQUIRE(tensor_create(&run->ctx, run->arena, value->dtype, &value->shape, &run->out[k]));
  }
}

static inline hone_status run_case(const struct ops_case *c, struct ops_run *run) {
  *run = (struct ops_run){.input_count = 0};
  build_case(c, run);
  TRY(node_infer(&run->ctx, run->graph, run->node));
  allocate_case(c, run);
  struct arena *scratch;
  TRY(arena_create(&run->ctx, 0, &scratch));
  hone_status status = node_evaluate(&run->ctx, scratch, run->node, run->in, run->out);
  arena_destroy(scratch);
  return status;
}

static inline bool same_number(double a, double b, double tolerance) {
  if (a != a || b != b) return (a != a) == (b != b);
  if (a == b) return true;
  return fabs(a - b) <= tolerance * (1 + fabs(b));
}

static inline void check_outputs(const struct ops_case *c, const struct ops_run *run) {
  char word[512];
  const char *text = c->want;
  for (size_t k = 0; k < run->node->output_count; k++) {
    next_word(&text, word);
    if (strcmp(word, "*") == 0) continue;
    hone_dtype dtype;
    struct shape shape = {0, {0}};
    const char *rest = read_type(word, &dtype, &shape);
    const struct tensor *out = run->out[k];
    if (out->dtype != dtype || !shape_equal(&out->shape, &shape))
      case_fails("%s %s (%s): output %zu is %s rank %d, want %s", c->op, c->attributes, c->inputs,
                 k, dtype_name(out->dtype), out->shape.rank, word);
    if (*rest != '=') continue;
    double list[512];
    size_t count;
    read_list(rest + 1, list, &count);
    assert_int_equal(count, tensor_count(out));
    for (size_t i = 0; i < count; i++) {
      double got = dtype_is_float(dtype) ? tensor_f64(out, i) : (double)tensor_i64(out, i);
      if (!same_number(got, list[i], 1e-6))
        case_fails("%s %s (%s): output %zu [%zu] is %g, want %g", c->op, c->attributes, c->inputs,
                   k, i, got, list[i]);
    }
  }
}

/* Runs the case and compares; an error must come with a message that names its place. */
static inline void check_case(const struct ops_case *c) {
  struct ops_run run;
  hone_status status = run_case(c, &run);
  if (strncmp(c->want, "E_", 2) == 0) {
    if (strcmp(hone_status_name(status), c->want))
      case_fails("%s %s (%s): %s %s, want %s", c->op, c->attributes, c->inputs,
                 hone_status_name(status), run.ctx.message, c->want);
    assert_non_null(strstr(run.ctx.message, c->want));
  } else {
    if (status) case_fails("%s %s (%s): %s", c->op, c->attributes, c->inputs, run.ctx.message);
    check_outputs(c, &run);
  }
  arena_destroy(run.arena);
}

#endif
