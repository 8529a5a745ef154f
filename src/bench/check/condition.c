/* Conditioning of a model: how far its outputs move if each input moves by one unit in the last
 * place, up or down at random. Correct engines round in different places and cannot agree better
 * than that; accuracy.c widens its tolerance by a multiple of it.
 *
 * A graph without float inputs (tokens, int8) is moved at its float constants, if they fit in
 * memory. A quantised graph is moved at both, DRAWS times, and the worst counts: inputs are rounded
 * away at once, scales show where later roundings flip. In fixed point, where scales are integers,
 * rescales are also rounded the other way (once instead of twice or twice instead of once): all of
 * them in the first draw, a random half in the others. A dynamic-range quantised graph (.tflite
 * files with int8 weights and float activations) is also evaluated with each activation of such
 * weights in 8 bits, as LiteRT and XNNPACK do.
 *
 * Stochastic estimate of the condition number: cf. Higham, Accuracy and Stability of Numerical
 * Algorithms, chapters 1.6 and 15.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOVED_CONSTANTS_MAX ((size_t)256 << 20)
/* Slower references are not evaluated again; the tolerance then stays as it is. */
#define CONDITION_WITHIN_NS 20000000000ull
enum { DRAWS = 4 };

/* The next number of the same type away from or towards zero; zeros, NaN and infinities stay. */
static void move_bits(void *data, hone_dtype dtype, size_t i, uint64_t coin) {
  int64_t step = coin & 1 ? 1 : -1;
  if (dtype == HONE_F64) {
    uint64_t *x = (uint64_t *)data + i, magnitude = *x << 1;
    if (magnitude && magnitude < 0xffe0000000000000u) *x += (uint64_t)step;
  } else if (dtype == HONE_F32) {
    uint32_t *x = (uint32_t *)data + i, magnitude = *x << 1;
    if (magnitude && magnitude < 0xff000000u) *x += (uint32_t)step;
  } else {
    uint16_t *x = (uint16_t *)data + i, magnitude = (uint16_t)(*x << 1);
    uint16_t infinite = dtype == HONE_F16 ? 0xf800 : 0xff00;
    if (magnitude && magnitude < infinite) *x = (uint16_t)(*x + step);
  }
}

static void move(void *data, hone_dtype dtype, size_t count, struct random *random) {
  for (size_t i = 0; i < count; i++) move_bits(data, dtype, i, random_u64(random));
}

/* Copies of the inputs, the float ones moved. */
static hone_status move_inputs(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                               const hone_tensor *inputs, struct random *random, hone_tensor **out,
                               bool *out_moved) {
  *out_moved = false;
  TRY(NEW_ARRAY(ctx, arena, *out, graph->inputs.count));
  for (size_t i = 0; i < graph->inputs.count; i++) {
    hone_tensor *moved = &(*out)[i];
    *moved = inputs[i];
    if (!dtype_is_wide_float(inputs[i].dtype)) continue;
    const size_t count = tensor_elements(&inputs[i]), size = dtype_bits(inputs[i].dtype) / 8;
    TRY(arena_alloc(ctx, arena, count, size, &moved->data));
    memcpy(moved->data, inputs[i].data, count * size);
    move(moved->data, moved->dtype, count, random);
    *out_moved = true;
  }
  return HONE_OK;
}

/* Moves the float constants, unless they are too large. put_back restores them from `originals`
   (one per value). */
static hone_status move_constants(struct ctx *ctx, struct arena *arena, struct graph *graph,
                                  struct random *random, const struct tensor **originals,
                                  bool *out_moved) {
  size_t sum = 0;
  for (size_t i = 0; i < graph->values.count; i++) {
    const struct tensor *constant = graph->values.at[i]->constant;
    if (constant && dtype_is_wide_float(constant->dtype) &&
        !checked_add(sum, constant->bytes, &sum))
      sum = SIZE_MAX;
  }
  *out_moved = sum && sum <= MOVED_CONSTANTS_MAX;
  for (size_t i = 0; *out_moved && i < graph->values.count; i++) {
    struct value *value = graph->values.at[i];
    if (!value->constant || !dtype_is_wide_float(value->constant->dtype)) continue;
    struct tensor *moved;
    TRY(tensor_create(ctx, arena, value->dtype, &value->constant->shape, &moved));
    void *data = (void *)(uintptr_t)moved->data;
    memcpy(data, value->constant->data, value->constant->bytes);
    move(data, value->dtype, tensor_count(moved), random);
    originals[i] = value->constant;
    value->constant = moved;
  }
  return HONE_OK;
}

static void put_back(struct graph *graph, const struct tensor *const *originals) {
  for (size_t i = 0; i < graph->values.count; i++)
    if (originals[i]) graph->values.at[i]->constant = originals[i];
}

/* Changes the rounding of all rescales, or of a random half. put_back_roundings restores it from
   `originals` (one per node). */
static hone_status round_otherwise(struct ctx *ctx, struct arena *arena, struct graph *graph,
                                   struct random *random, bool all, struct node *originals,
                                   bool *out_moved) {
  for (size_t n = 0; n < graph->nodes.count; n++) {
    struct node *node = graph->nodes.at[n];
    if (!is_op(node, OP_Requantize) || !(all || random_u64(random) & 1)) continue;
    const size_t count = node->attribute_count;
    originals[n] = *node;
    TRY(NEW_ARRAY(ctx, arena, node->attributes, count + 1));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
      if (strcmp(originals[n].attributes[i].name, "single_rounding") != 0)
        node->attributes[kept++] = originals[n].attributes[i];
    node->attributes[kept++] =
        (struct attribute){.name = "single_rounding",
                           .kind = ATTRIBUTE_INT,
                           .i = !node_int(&originals[n], "single_rounding", 0)};
    node->attribute_count = kept;
    *out_moved = true;
  }
  return HONE_OK;
}

static void put_back_roundings(struct graph *graph, const struct node *originals) {
  for (size_t n = 0; n < graph->nodes.count; n++) {
    if (!originals[n].op) continue;
    graph->nodes.at[n]->attributes = originals[n].attributes;
    graph->nodes.at[n]->attribute_count = originals[n].attribute_count;
  }
}

static hone_status run_moved(struct ctx *ctx, struct arena *arena, struct graph *graph,
                             const hone_tensor *inputs, const hone_tensor *outputs, bool quantised,
                             double (*out)[2]) {
  hone_tensor *moved;
  TRY(NEW_ARRAY(ctx, arena, moved, graph->outputs.count));
  for (size_t i = 0; i < graph->outputs.count; i++)
    TRY(value_memory(ctx, arena, graph->outputs.at[i], &moved[i]));
  TRY(reference_run(ctx, graph, inputs, moved));
  for (size_t i = 0; i < graph->outputs.count; i++) {
    struct accuracy accuracy;
    accuracy_init(&accuracy);
    const bool is_byte = dtype_is_byte(outputs[i].dtype);
    if (!dtype_is_wide_float(outputs[i].dtype) && !(is_byte && quantised)) continue;
    if (memcmp(moved[i].shape, outputs[i].shape, sizeof moved[i].shape)) continue;
    accuracy_add(&accuracy, "", &outputs[i], moved[i].data, &(struct yardstick){.precision = ""});
    if (isfinite(accuracy.rel_l2)) out[i][0] = fmax(out[i][0], accuracy.rel_l2);
    if (isfinite(accuracy.max_share)) out[i][1] = fmax(out[i][1], accuracy.max_share);
  }
  return HONE_OK;
}

static hone_status measure_in(struct ctx *ctx, struct arena *arena, struct graph *graph,
                              const hone_tensor *inputs, const hone_tensor *outputs,
                              struct random *random, bool quantised, bool first, double (*out)[2]) {
  const struct tensor **originals;
  hone_tensor *moved;
  struct node *roundings;
  bool has_moved, has_moved_constants = false;
  TRY(NEW_ARRAY(ctx, arena, originals, graph->values.count));
  TRY(NEW_ARRAY(ctx, arena, roundings, graph->nodes.count));
  TRY(move_inputs(ctx, arena, graph, inputs, random, &moved, &has_moved));
  hone_status status = HONE_OK;
  if (!has_moved || quantised)
    status = move_constants(ctx, arena, graph, random, originals, &has_moved_constants);
  if (!status && quantised)
    status = round_otherwise(ctx, arena, graph, random, first, roundings, &has_moved_constants);
  if (!status && (has_moved || has_moved_constants))
    status = run_moved(ctx, arena, graph, moved, outputs, quantised, out);
  put_back(graph, originals);
  put_back_roundings(graph, roundings);
  return status;
}

/* -- dynamic range -- */

/* By value index: true if the value depends on constants alone. */
static hone_status find_known(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                              bool **out) {
  TRY(NEW_ARRAY(ctx, arena, *out, graph->values.count));
  for (size_t i = 0; i < graph->values.count; i++) (*out)[i] = graph->values.at[i]->constant;
  for (size_t n = 0; n < graph->nodes.count; n++) {
    const struct node *node = graph->nodes.at[n];
    bool is_known = node->input_count > 0;
    for (size_t k = 0; k < node->input_count; k++) {
      const struct value *x = node->inputs[k];
      is_known = is_known && (!x || (graph_owns(graph, x) && (*out)[x->index]));
    }
    for (size_t k = 0; k < node->output_count; k++)
      if (node->outputs[k] && is_known) (*out)[node->outputs[k]->index] = true;
  }
  return HONE_OK;
}

static bool multiplies(const struct node *node) {
  static const enum op_id ops[] = {OP_Conv, OP_ConvTranspose, OP_Gemm, OP_MatMul,
                                   OP_LSTM, OP_GRU,           OP_RNN};
  for (size_t i = 0; i < COUNT(ops); i++)
    if (is_op(node, ops[i])) return true;
  return false;
}

/* Quantises x to 8 bits of its range and dequantises it. */
static hone_status quantise_to_8_bits(struct ctx *ctx, struct graph *graph, struct value **x) {
  struct node *to, *from;
  TRY(graph_node(ctx, graph, &op_table[OP_DynamicQuantizeLinear], x, 1, 3, &to));
  TRY(graph_node(ctx, graph, &op_table[OP_DequantizeLinear],
                 (struct value *[]){to->outputs[0], to->outputs[1], to->outputs[2]}, 3, 1, &from));
  *x = from->outputs[0];
  return HONE_OK;
}

/* Folding has hidden which weights were int8, so the activations of all weights are quantised. */
static hone_status measure_dynamic(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                   const hone_tensor *inputs, const hone_tensor *outputs,
                                   double (*out)[2]) {
  struct graph *copy;
  bool *is_known, was_sorted;
  TRY(graph_copy(ctx, arena, graph, &copy));
  TRY(find_known(ctx, arena, copy, &is_known));
  const size_t count = copy->nodes.count;
  for (size_t n = 0; n < count; n++) {
    struct node *node = copy->nodes.at[n];
    const struct value *w = node_input(node, 1);
    if (!multiplies(node) || !graph_owns(copy, w) || !is_known[w->index]) continue;
    if (node->inputs[0]->dtype == HONE_F32) TRY(quantise_to_8_bits(ctx, copy, &node->inputs[0]));
  }
  if (copy->nodes.count == count) return HONE_OK;
  TRY(graph_sort(ctx, copy, &was_sorted));
  TRY(graph_infer(ctx, copy));
  return run_moved(ctx, arena, copy, inputs, outputs, false, out);
}

hone_status condition_measure(struct ctx *ctx, struct graph *graph, const hone_tensor *inputs,
                              const hone_tensor *outputs, uint64_t seed, uint64_t reference_ns,
                              double (*out)[2]) {
  memset(out, 0, graph->outputs.count * sizeof *out);
  if (reference_ns > CONDITION_WITHIN_NS) return HONE_OK;
  const bool quantised = !strcmp(file_precision(graph), "int8");
  const int draws = quantised && reference_ns <= CONDITION_WITHIN_NS / DRAWS ? DRAWS : 1;
  struct random random;
  hone_status status = HONE_OK;
  random_init(&random, seed + 77);
  for (int draw = 0; draw < draws && !status; draw++) {
    struct arena *arena;
    TRY(arena_create(ctx, (size_t)64 << 30, &arena));
    status = measure_in(ctx, arena, graph, inputs, outputs, &random, quantised, !draw, out);
    if (!status && !draw && !strcmp(file_precision(graph), "dynamic"))
      status = measure_dynamic(ctx, arena, graph, inputs, outputs, out);
    arena_destroy(arena);
  }
  return status;
}
