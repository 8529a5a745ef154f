/* Random inputs for a graph from a seed: floats are normal; integers are valid indices of every
 * table that they index (Gather and similar, followed through operators that only move elements);
 * masks and other integers are ones. Strings are words that the consuming operator knows (keys of a
 * table, entries of a vocabulary), every fourth one from WORDS. The same graph, seed and set give
 * the same values on every machine.
 */
#include "worker.h"

#include <ctype.h>

#define TRACE_MAX 256

static const char *const WORDS[] = {"a",   "the",  "good", "bad",   "film",       "cat",
                                    "dog", "left", "0",    "12.50", "2026-11-22", "Ärger"};

static bool is_named(const struct node *node, const char *name) {
  return !strcmp(node->op->name, name);
}

/* Rows of the table that `value` indexes in this node; 0 if it is not an index. */
static int64_t indexed_rows(const struct node *node, const struct value *value) {
  bool is_gather = is_named(node, "Gather") || is_named(node, "GatherElements");
  if (is_gather && node_input(node, 1) == value) {
    const struct value *table = node_input(node, 0);
    int64_t axis = node_int(node, "axis", 0);
    if (axis < 0) axis += table->shape.rank;
    return table->has_shape && axis >= 0 && axis < table->shape.rank ? table->shape.dims[axis] : 0;
  }
  if (is_named(node, "OneHot") && node_input(node, 0) == value) {
    const struct value *depth = node_input(node, 1);
    return depth && depth->constant && tensor_count(depth->constant)
               ? tensor_i64(depth->constant, 0)
               : 0;
  }
  return 0;
}

/* Rows of the smallest table that the input indexes; 0 if none. */
static int64_t table_rows(const struct graph *graph, const struct value *input) {
  const struct value *reached[TRACE_MAX] = {input};
  size_t count = 1;
  int64_t rows = 0;
  /* nodes are in topological order, so one pass is enough */
  for (size_t n = 0; n < graph->nodes.count; n++) {
    const struct node *node = graph->nodes.at[n];
    for (size_t i = 0; i < node->input_count; i++) {
      bool is_reached = false;
      for (size_t k = 0; k < count && !is_reached; k++) is_reached = reached[k] == node->inputs[i];
      if (!is_reached) continue;
      int64_t here = indexed_rows(node, node->inputs[i]);
      if (here > 0 && (!rows || here < rows)) rows = here;
      bool passes =
          (moves_elements(node) || is_op(node, OP_Cast)) && (i == 0 || is_named(node, "Concat"));
      for (size_t o = 0; passes && o < node->output_count && count < TRACE_MAX; o++)
        if (node->outputs[o]) reached[count++] = node->outputs[o];
    }
  }
  return rows;
}

static bool is_mask(const char *name) {
  for (; *name; name++)
    if (!strncasecmp(name, "mask", 4)) return true;
  return false;
}

static void fill_floats(const struct tensor *tensor, size_t count, bool is_mask_input,
                        struct random *random) {
  for (size_t i = 0; i < count; i++) {
    double x = is_mask_input ? 1.0 : random_normal(random);
    /* the common case, without a call per element */
    if (tensor->dtype == HONE_F32)
      ((float *)(uintptr_t)tensor->data)[i] = (float)x;
    else
      tensor_set_f64(tensor, i, x);
  }
}

static void fill_integers(const struct tensor *tensor, size_t count, int64_t rows,
                          bool is_mask_input, struct random *random) {
  bool is_byte = dtype_is_byte(tensor->dtype);
  for (size_t i = 0; i < count; i++) {
    int64_t x = 1;
    if (rows > 0)
      x = (int64_t)random_below(random, (uint64_t)rows);
    else if (is_byte && !is_mask_input)
      x = (int64_t)random_below(random, 256) - (tensor->dtype == HONE_I8 ? 128 : 0);
    tensor_set_i64(tensor, i, x);
  }
}

/* The strings with which a consumer of the input compares it; count 0 if none. */
static struct attribute vocabulary_of(const struct graph *graph, const struct value *input) {
  for (size_t n = 0; n < graph->nodes.count; n++) {
    const struct node *node = graph->nodes.at[n];
    bool takes = false;
    for (size_t i = 0; i < node->input_count; i++) takes |= node->inputs[i] == input;
    for (size_t a = 0; takes && a < node->attribute_count; a++)
      if (node->attributes[a].kind == ATTRIBUTE_STRINGS && node->attributes[a].count)
        return node->attributes[a];
  }
  return (struct attribute){.count = 0};
}

/* The strings are not copied: they belong to the graph or to this program. */
static void fill_text(const struct tensor *tensor, size_t count, const struct attribute *known,
                      struct random *random) {
  struct string *out = (struct string *)(uintptr_t)tensor->data;
  for (size_t i = 0; i < count; i++) {
    const char *word = WORDS[random_below(random, COUNT(WORDS))];
    const bool is_strange = !known->count || !random_below(random, 4);
    const uint64_t at = known->count ? random_below(random, known->count) : 0;
    out[i] = is_strange ? (struct string){word, strlen(word)} : known->strings[at];
  }
}

/* rows: of the smallest indexed table; 0: unknown. known: strings that the model knows. */
static hone_status fill(struct ctx *ctx, const char *name, const struct tensor *tensor,
                        int64_t rows, const struct attribute *known, size_t index, uint64_t seed,
                        int set) {
  struct random random;
  random_init(&random, seed * 1000003u + (uint64_t)set * 1009u + index);
  size_t count = tensor_count(tensor);
  bool is_mask_input = is_mask(name);
  if (dtype_is_float(tensor->dtype))
    fill_floats(tensor, count, is_mask_input, &random);
  else if (dtype_is_integer(tensor->dtype) || tensor->dtype == HONE_BOOL)
    fill_integers(tensor, count, tensor->dtype == HONE_BOOL ? 0 : rows, is_mask_input, &random);
  else if (tensor->dtype == HONE_STRING)
    fill_text(tensor, count, known, &random);
  else
    return fail(ctx, HONE_E_TYPE, place_name(name), "cannot make random values of type %s",
                dtype_name(tensor->dtype));
  return HONE_OK;
}

hone_status input_generate(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                           size_t index, uint64_t seed, int set, hone_tensor *out) {
  const struct value *input = graph->inputs.at[index];
  struct tensor *tensor;
  TRY(tensor_create(ctx, arena, input->dtype, &input->shape, &tensor));
  const struct attribute known =
      input->dtype == HONE_STRING ? vocabulary_of(graph, input) : (struct attribute){.count = 0};
  const struct alias *state = set ? NULL : graph_state_of(graph, index);
  if (state && state->initial)
    memcpy((void *)(uintptr_t)tensor->data, state->initial->data, tensor->bytes);
  else if (!state) /* states of the first set have their initial values, which may be zero */
    TRY(fill(ctx, input->name, tensor, table_rows(graph, input), &known, index, seed, set));
  *out = value_tensor(input, tensor->data);
  return HONE_OK;
}

hone_status input_fill(struct ctx *ctx, const char *name, const hone_tensor *tensor, size_t index,
                       uint64_t seed, int set) {
  struct tensor view = {
      .dtype = tensor->dtype, .shape = {.rank = tensor->rank}, .data = tensor->data};
  memcpy(view.shape.dims, tensor->shape, (size_t)tensor->rank * sizeof *tensor->shape);
  return fill(ctx, name, &view, 0, &(struct attribute){.count = 0}, index, seed, set);
}
