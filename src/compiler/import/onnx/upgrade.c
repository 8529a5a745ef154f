/* upgrade: rewrites nodes of older opsets to HONE_OPSET.
 *
 * One row per change of meaning: operator, the opset that introduced the new form, and the function
 * that rewrites a node of an older model. Rows of one operator are in opset order, so that a node
 * is upgraded step by step. A rewrite works on resolved values and knows no shapes; if it needs
 * one, it writes the shape computation as nodes, which constant folding removes (upgrade_finish
 * then simplifies the two frequent cases).
 *
 * Source: the ONNX operator change log. */
#include "onnx.h"

struct rewrite {
  struct builder *builder;
  struct ctx *ctx;
  struct arena *arena;
  struct graph *graph;
  struct raw_node *node;
};

static struct place here(const struct rewrite *r) { return place_raw(r->node); }

/* -- attributes and inputs of the node */

static struct attribute *attribute_of(const struct rewrite *r, const char *name) {
  for (size_t i = 0; i < r->node->attributes.count; i++)
    if (!strcmp(r->node->attributes.at[i].name, name)) return &r->node->attributes.at[i];
  return NULL;
}

static void drop(struct rewrite *r, const char *name) {
  struct attribute *attribute = attribute_of(r, name);
  if (!attribute) return;
  struct attribute *last = &r->node->attributes.at[--r->node->attributes.count];
  memmove(attribute, attribute + 1, (size_t)(last - attribute) * sizeof *attribute);
}

static int64_t int_of(const struct rewrite *r, const char *name, int64_t otherwise) {
  const struct attribute *attribute = attribute_of(r, name);
  return attribute && attribute->kind == ATTRIBUTE_INT ? attribute->i : otherwise;
}

static bool string_is(const struct rewrite *r, const char *name, const char *text) {
  const struct attribute *attribute = attribute_of(r, name);
  return attribute && attribute->kind == ATTRIBUTE_STRING && !strcmp(attribute->s.bytes, text);
}

static hone_status put(struct rewrite *r, struct attribute attribute) {
  drop(r, attribute.name);
  VEC_PUSH(r->ctx, r->arena, &r->node->attributes, attribute);
  return HONE_OK;
}

static hone_status put_int(struct rewrite *r, const char *name, int64_t i) {
  return put(r, (struct attribute){.name = name, .kind = ATTRIBUTE_INT, .i = i});
}

static hone_status put_float(struct rewrite *r, const char *name, double f) {
  return put(r, (struct attribute){.name = name, .kind = ATTRIBUTE_FLOAT, .f = f});
}

static hone_status put_string(struct rewrite *r, const char *name, const char *text) {
  return put(r,
             (struct attribute){.name = name, .kind = ATTRIBUTE_STRING, .s = {text, strlen(text)}});
}

static struct value *input_of(const struct rewrite *r, size_t k) {
  return k < r->node->inputs.count ? r->node->inputs.at[k] : NULL;
}

static hone_status set_input(struct rewrite *r, size_t k, struct value *value) {
  while (r->node->inputs.count <= k) VEC_PUSH(r->ctx, r->arena, &r->node->inputs, NULL);
  r->node->inputs.at[k] = value;
  return HONE_OK;
}

/* -- new constants and helper nodes */

static hone_status ints_constant(struct rewrite *r, const int64_t *ints, size_t count, int rank,
                                 struct value **out) {
  const struct shape shape = {.rank = rank, .dims = {(int64_t)count}};
  TRY(graph_new_constant(r->ctx, r->graph, HONE_I64, &shape, out));
  for (size_t i = 0; i < count; i++) tensor_set_i64((*out)->constant, i, ints[i]);
  return HONE_OK;
}

static hone_status floats_constant(struct rewrite *r, const double *floats, size_t count, int rank,
                                   struct value **out) {
  const struct shape shape = {.rank = rank, .dims = {(int64_t)count}};
  TRY(graph_new_constant(r->ctx, r->graph, HONE_F32, &shape, out));
  for (size_t i = 0; i < count; i++) tensor_set_f64((*out)->constant, i, floats[i]);
  return HONE_OK;
}

/* A helper node with one or two inputs and one output, placed before the node that is rewritten. */
static hone_status emit(struct rewrite *r, const char *op_type, struct value *a, struct value *b,
                        struct node **out) {
  struct value *inputs[] = {a, b};
  TRY(graph_node(r->ctx, r->graph, op_find("", op_type), inputs, b ? 2 : 1, 1, out));
  (*out)->name = r->node->name;
  (*out)->index = r->node->index;
  (*out)->written_as = r->node->op_type;
  return HONE_OK;
}

static hone_status emit_value(struct rewrite *r, const char *op_type, struct value *a,
                              struct value *b, struct value **out) {
  struct node *node;
  TRY(emit(r, op_type, a, b, &node));
  *out = node->outputs[0];
  return HONE_OK;
}

/* A scalar in the element type of `like`, which may not be known yet. */
static hone_status scalar_like(struct rewrite *r, double x, struct value *like,
                               struct value **out) {
  struct value *constant;
  struct node *cast;
  TRY(floats_constant(r, &x, 1, 0, &constant));
  *out = constant;
  if (like->dtype == HONE_F32) return HONE_OK;
  TRY(emit(r, "CastLike", constant, like, &cast));
  *out = cast->outputs[0];
  struct fixup fixup = {FIX_CAST, r->graph, constant, *out, cast, 0};
  VEC_PUSH(r->ctx, r->arena, &r->builder->fixups, fixup);
  return HONE_OK;
}

/* -- attributes that became inputs */

static hone_status ints_to_input(struct rewrite *r, const char *name, size_t k) {
  const struct attribute *attribute = attribute_of(r, name);
  if (!attribute) return HONE_OK;
  struct value *value;
  TRY(ints_constant(r, attribute->ints, attribute->count, 1, &value));
  TRY(set_input(r, k, value));
  drop(r, name);
  return HONE_OK;
}

static hone_status axes_to_input(struct rewrite *r) { return ints_to_input(r, "axes", 1); }
static hone_status shape_to_input(struct rewrite *r) { return ints_to_input(r, "shape", 1); }
static hone_status split_to_input(struct rewrite *r) { return ints_to_input(r, "split", 1); }

static hone_status upgrade_slice(struct rewrite *r) {
  TRY(ints_to_input(r, "starts", 1));
  TRY(ints_to_input(r, "ends", 2));
  return ints_to_input(r, "axes", 3);
}

static hone_status count_splits(struct rewrite *r) {
  if (input_of(r, 1)) return HONE_OK;
  return put_int(r, "num_outputs", (int64_t)r->node->outputs.count);
}

static hone_status upgrade_topk(struct rewrite *r) {
  int64_t k = int_of(r, "k", -1);
  struct value *value;
  TRY(ints_constant(r, &k, 1, 1, &value));
  drop(r, "k");
  return set_input(r, 1, value);
}

static hone_status float_to_input(struct rewrite *r, const char *name, size_t k) {
  const struct attribute *attribute = attribute_of(r, name);
  struct value *x = input_of(r, 0), *value;
  if (!attribute || !x) return HONE_OK;
  if (attribute->kind != ATTRIBUTE_FLOAT)
    return fail(r->ctx, HONE_E_FORMAT, here(r), "%s: attribute %s is not a number",
                r->node->op_type, name);
  TRY(scalar_like(r, attribute->f, x, &value));
  drop(r, name);
  return set_input(r, k, value);
}

static hone_status upgrade_clip(struct rewrite *r) {
  TRY(float_to_input(r, "min", 1));
  return float_to_input(r, "max", 2);
}

static hone_status rename_pads(struct rewrite *r) {
  struct attribute *attribute = attribute_of(r, "paddings");
  if (attribute) attribute->name = "pads";
  return HONE_OK;
}

static hone_status upgrade_pad(struct rewrite *r) {
  TRY(ints_to_input(r, "pads", 1));
  return float_to_input(r, "value", 2);
}

static hone_status upgrade_dft(struct rewrite *r) {
  int64_t axis = int_of(r, "axis", 1);
  struct value *value;
  TRY(ints_constant(r, &axis, 1, 0, &value));
  drop(r, "axis");
  return set_input(r, 2, value);
}

/* -- attributes that were removed, or whose default changed */

static hone_status refuse(struct rewrite *r, const char *what) {
  return fail(r->ctx, HONE_E_UNSUP, here(r), "%s of opset %lld: %s", r->node->op_type,
              (long long)r->builder->opset, what);
}

static hone_status keep(struct rewrite *r) { /* the old form is valid in the new opset */
  (void)r;
  return HONE_OK;
}

static hone_status refuse_old(struct rewrite *r) { return refuse(r, "this old form"); }

/* A Scan over batches, with an optional length per row as first input; inference expands it into
 * rows. */
static hone_status scan_batches(struct rewrite *r) {
  struct attribute *directions = attribute_of(r, "directions");
  if (r->node->inputs.count && r->node->inputs.at[0]) return refuse(r, "rows of different lengths");
  if (r->node->inputs.count) {
    r->node->inputs.count--;
    memmove(r->node->inputs.at, r->node->inputs.at + 1,
            r->node->inputs.count * sizeof *r->node->inputs.at);
  }
  if (directions) directions->name = "scan_input_directions";
  return put_int(r, "batched", 1);
}

/* inference only: the ratio has no effect */
static hone_status upgrade_dropout(struct rewrite *r) {
  drop(r, "ratio");
  drop(r, "is_test");
  return HONE_OK;
}

static hone_status upgrade_batch_norm(struct rewrite *r) {
  if (!int_of(r, "spatial", 1)) return refuse(r, "spatial = 0");
  if (r->builder->opset < 7 && !int_of(r, "is_test", 0)) return refuse(r, "training mode");
  for (size_t i = 1; i < r->node->outputs.count; i++)
    if (r->node->outputs.at[i]) return refuse(r, "training mode (more than one output)");
  r->node->outputs.count = r->node->outputs.count > 1 ? 1 : r->node->outputs.count;
  drop(r, "spatial");
  drop(r, "is_test");
  return HONE_OK;
}

static hone_status drop_output_sequence(struct rewrite *r) {
  drop(r, "output_sequence");
  return HONE_OK;
}

static hone_status drop_broadcast(struct rewrite *r) {
  drop(r, "broadcast");
  return HONE_OK;
}

static hone_status concat_axis(struct rewrite *r) {
  return attribute_of(r, "axis") ? HONE_OK : put_int(r, "axis", 1);
}

static hone_status selu_constants(struct rewrite *r) {
  if (!attribute_of(r, "alpha")) TRY(put_float(r, "alpha", (double)1.6732f));
  return attribute_of(r, "gamma") ? HONE_OK : put_float(r, "gamma", (double)1.0507f);
}

static hone_status roi_align_half_pixel(struct rewrite *r) {
  return put_string(r, "coordinate_transformation_mode", "output_half_pixel");
}

static hone_status grid_sample_mode(struct rewrite *r) {
  if (string_is(r, "mode", "bilinear")) return put_string(r, "mode", "linear");
  if (string_is(r, "mode", "bicubic")) return put_string(r, "mode", "cubic");
  return HONE_OK;
}

static hone_status lp_pool_p(struct rewrite *r) {
  const struct attribute *p = attribute_of(r, "p");
  if (!p || p->kind != ATTRIBUTE_FLOAT) return HONE_OK;
  if (!(p->f >= 1 && p->f <= 1e6 && p->f == (double)(int64_t)p->f))
    return refuse(r, "fractional p");
  return put_int(r, "p", (int64_t)p->f);
}

static hone_status cast_to_number(struct rewrite *r) {
  for (int i = 1; i < DTYPE_COUNT; i++) {
    const char *name = dtype_facts((hone_dtype)i)->onnx;
    if (name && string_is(r, "to", name)) return put_int(r, "to", i);
  }
  return attribute_of(r, "to") && attribute_of(r, "to")->kind == ATTRIBUTE_INT
             ? HONE_OK
             : refuse(r, "an unknown type in attribute to");
}

static hone_status scatter_elements(struct rewrite *r) {
  r->node->op_type = "ScatterElements";
  return HONE_OK;
}

/* -- Upsample and Resize */

/* Before opset 11: pixel k of the output comes from k / scale, rounded down for "nearest". */
static hone_status old_resize(struct rewrite *r) {
  struct value *scales = input_of(r, 1);
  r->node->op_type = "Resize";
  TRY(set_input(r, 1, NULL));
  TRY(set_input(r, 2, scales));
  if (string_is(r, "mode", "bilinear")) TRY(put_string(r, "mode", "linear"));
  TRY(put_string(r, "coordinate_transformation_mode", "asymmetric"));
  return put_string(r, "nearest_mode", "floor");
}

/* Opset 10: "nearest" rounds up along a shrinking axis, so the growing axes are resized first, in a
 * separate node. */
static hone_status resize_both_ways(struct rewrite *r) {
  struct value *x = input_of(r, 0), *scales = input_of(r, 1), *one, *grows;
  const struct attribute *mode = attribute_of(r, "mode");
  struct node *first;
  TRY(old_resize(r));
  if (!x || !scales || (mode && !string_is(r, "mode", "nearest"))) return HONE_OK;
  TRY(floats_constant(r, (const double[]){1}, 1, 1, &one));
  TRY(emit_value(r, "Max", scales, one, &grows));
  TRY(graph_node(r->ctx, r->graph, &op_table[OP_Resize], (struct value *[]){x, NULL, grows}, 3, 1,
                 &first));
  first->name = r->node->name;
  first->index = r->node->index;
  first->written_as = r->node->op_type;
  for (size_t i = 0; i < r->node->attributes.count; i++)
    TRY(node_set(r->ctx, r->graph, first, &r->node->attributes.at[i]));
  TRY(set_input(r, 0, first->outputs[0]));
  TRY(emit_value(r, "Min", scales, one, &r->node->inputs.at[2]));
  return put_string(r, "nearest_mode", "ceil");
}

static hone_status upsample_scales(struct rewrite *r) {
  const struct attribute *scales = attribute_of(r, "scales");
  const struct attribute *height = attribute_of(r, "height_scale");
  const struct attribute *width = attribute_of(r, "width_scale");
  struct value *value;
  if (scales) {
    TRY(floats_constant(r, scales->floats, scales->count, 1, &value));
  } else if (height && width) {
    const double all[] = {1, 1, height->f, width->f};
    TRY(floats_constant(r, all, COUNT(all), 1, &value));
  } else {
    return refuse(r, "no scales");
  }
  drop(r, "scales");
  drop(r, "height_scale");
  drop(r, "width_scale");
  return set_input(r, 1, value);
}

/* Empty constants mean "not given", as opset 11 required. */
static hone_status resize_empty_inputs(struct rewrite *r) {
  for (size_t k = 1; k < r->node->inputs.count; k++) {
    const struct value *value = r->node->inputs.at[k];
    if (value && value->constant && !tensor_count(value->constant)) r->node->inputs.at[k] = NULL;
  }
  return HONE_OK;
}

/* -- Softmax over all flattened trailing axes, before opset 13 */

static hone_status flat_softmax(struct rewrite *r) {
  int64_t axis = int_of(r, "axis", 1);
  struct value *x = input_of(r, 0), *shape, *result;
  struct node *flat, *softmax;
  if (!x || r->node->inputs.count != 1 || r->node->outputs.count != 1 || !r->node->outputs.at[0])
    return HONE_OK; /* the arity check reports it */
  result = r->node->outputs.at[0];
  TRY(emit_value(r, "Shape", x, NULL, &shape));
  TRY(emit(r, "Flatten", x, NULL, &flat));
  TRY(node_set_int(r->ctx, r->graph, flat, "axis", axis));
  TRY(emit(r, r->node->op_type, flat->outputs[0], NULL, &softmax));
  TRY(node_set_int(r->ctx, r->graph, softmax, "axis", 1));
  r->node->op_type = "Reshape";
  r->node->attributes.count = 0;
  TRY(set_input(r, 0, softmax->outputs[0]));
  TRY(set_input(r, 1, shape));
  struct fixup fixup = {FIX_SOFTMAX, r->graph, x, result, softmax, axis};
  VEC_PUSH(r->ctx, r->arena, &r->builder->fixups, fixup);
  return HONE_OK;
}

/* -- broadcasting with an axis, before opset 7 */

/* Appends dimensions of 1 to b, so that its first dimension is aligned with `axis` of a. */
static hone_status align_to_axis(struct rewrite *r, struct value *a, struct value *b, int64_t axis,
                                 struct value **out) {
  struct value *rank_a, *rank_b, *start, *ones_count, *shape_a, *shape_b;
  struct node *ones, *shape;
  const int64_t one = 1;
  TRY(emit_value(r, "Shape", a, NULL, &shape_a));
  TRY(emit_value(r, "Shape", b, NULL, &shape_b));
  TRY(emit_value(r, "Shape", shape_a, NULL, &rank_a)); /* [1]: the rank */
  TRY(emit_value(r, "Shape", shape_b, NULL, &rank_b));
  TRY(ints_constant(r, &axis, 1, 1, &start));
  TRY(emit_value(r, "Sub", rank_a, rank_b, &ones_count));
  TRY(emit_value(r, "Sub", ones_count, start, &ones_count));
  TRY(emit(r, "ConstantOfShape", ones_count, NULL, &ones));
  struct shape single = {.rank = 1, .dims = {1}};
  struct tensor *fill;
  TRY(tensor_create(r->ctx, r->arena, HONE_I64, &single, &fill));
  tensor_set_i64(fill, 0, one);
  struct attribute value = {.name = "value", .kind = ATTRIBUTE_TENSOR, .tensor = fill};
  TRY(node_set(r->ctx, r->graph, ones, &value));
  TRY(emit(r, "Concat", shape_b, ones->outputs[0], &shape));
  TRY(node_set_int(r->ctx, r->graph, shape, "axis", 0));
  return emit_value(r, "Reshape", b, shape->outputs[0], out);
}

static hone_status old_broadcast(struct rewrite *r) {
  const struct attribute *axis = attribute_of(r, "axis");
  struct value *a = input_of(r, 0), *b = input_of(r, 1);
  if (axis && int_of(r, "broadcast", 0) && a && b) {
    if (axis->i < 0) return refuse(r, "broadcasting with a negative axis");
    TRY(align_to_axis(r, a, b, axis->i, &r->node->inputs.at[1]));
  }
  drop(r, "axis");
  drop(r, "broadcast");
  return HONE_OK;
}

/* A slope of rank 1 belongs to axis 1. */
static hone_status old_prelu(struct rewrite *r) {
  struct value *x = input_of(r, 0), *slope = input_of(r, 1);
  if (!x || !slope || !slope->has_shape) return refuse(r, "a computed slope");
  if (slope->shape.rank != 1 || slope->shape.dims[0] == 1) return HONE_OK;
  return align_to_axis(r, x, slope, 1, &r->node->inputs.at[1]);
}

/* -- GroupNormalization: scale and bias per group become per channel, opset 21 */

static hone_status per_channel(struct rewrite *r, struct value *target, size_t k) {
  const int64_t one = 1, rest = -1;
  struct value *axis, *flat, *column, *table;
  if (!input_of(r, k)) return HONE_OK;
  TRY(ints_constant(r, &one, 1, 1, &axis));
  TRY(ints_constant(r, &rest, 1, 1, &flat));
  TRY(emit_value(r, "Unsqueeze", input_of(r, k), axis, &column));
  TRY(emit_value(r, "Expand", column, target, &table));
  return emit_value(r, "Reshape", table, flat, &r->node->inputs.at[k]);
}

static hone_status group_norm_channels(struct rewrite *r) {
  const int64_t one = 1, groups = int_of(r, "num_groups", 0);
  struct value *index, *count, *shape, *channels, *repeats;
  struct node *target;
  if (groups < 1 || !input_of(r, 0)) return refuse(r, "num_groups below 1");
  TRY(ints_constant(r, &one, 1, 1, &index));
  TRY(ints_constant(r, &groups, 1, 1, &count));
  TRY(emit_value(r, "Shape", input_of(r, 0), NULL, &shape));
  TRY(emit_value(r, "Gather", shape, index, &channels));
  TRY(emit_value(r, "Div", channels, count, &repeats));
  TRY(emit(r, "Concat", count, repeats, &target));
  TRY(node_set_int(r->ctx, r->graph, target, "axis", 0));
  TRY(per_channel(r, target->outputs[0], 1));
  return per_channel(r, target->outputs[0], 2);
}

/* -- the table */

enum { ALWAYS = HONE_OPSET + 1 };

static const struct {
  const char *op_type;
  int before; /* models with lower opsets have the old form */
  hone_status (*rewrite)(struct rewrite *r);
} rewrites[] = {
    {"Add", 7, old_broadcast},
    {"And", 7, old_broadcast},
    {"BatchNormalization", 14, upgrade_batch_norm},
    {"Cast", 6, cast_to_number},
    {"Clip", 11, upgrade_clip},
    {"Concat", 4, concat_axis},
    {"DFT", 20, upgrade_dft},
    {"Div", 7, old_broadcast},
    {"Dropout", 12, upgrade_dropout},
    {"Equal", 7, old_broadcast},
    {"GRU", 7, drop_output_sequence},
    {"Gemm", 7, drop_broadcast},
    {"GlobalLpPool", 2, lp_pool_p},
    {"Greater", 7, old_broadcast},
    {"GridSample", 20, grid_sample_mode},
    {"GroupNormalization", 21, group_norm_channels},
    {"Hardmax", 13, flat_softmax},
    {"LSTM", 7, drop_output_sequence},
    {"Less", 7, old_broadcast},
    {"LogSoftmax", 13, flat_softmax},
    {"LpPool", 2, lp_pool_p},
    {"Max", 8, keep},
    {"Mean", 8, keep},
    {"Min", 8, keep},
    {"Mul", 7, old_broadcast},
    {"Or", 7, old_broadcast},
    {"PRelu", 7, old_prelu},
    {"Pad", 2, rename_pads},
    {"Pad", 11, upgrade_pad},
    {"Pow", 7, old_broadcast},
    {"RNN", 7, drop_output_sequence},
    {"ReduceL1", 18, axes_to_input},
    {"ReduceL2", 18, axes_to_input},
    {"ReduceLogSum", 18, axes_to_input},
    {"ReduceLogSumExp", 18, axes_to_input},
    {"ReduceMax", 18, axes_to_input},
    {"ReduceMean", 18, axes_to_input},
    {"ReduceMin", 18, axes_to_input},
    {"ReduceProd", 18, axes_to_input},
    {"ReduceSum", 13, axes_to_input},
    {"ReduceSumSquare", 18, axes_to_input},
    {"Reshape", 5, shape_to_input},
    {"Resize", 11, resize_both_ways},
    {"Resize", ALWAYS, resize_empty_inputs},
    {"RoiAlign", 16, roi_align_half_pixel},
    {"Scan", 9, scan_batches},
    {"Scatter", ALWAYS, scatter_elements},
    {"Selu", 6, selu_constants},
    {"Slice", 10, upgrade_slice},
    {"Softmax", 13, flat_softmax},
    {"Split", 13, split_to_input},
    {"Split", 18, count_splits},
    {"Squeeze", 13, axes_to_input},
    {"Sub", 7, old_broadcast},
    {"Sum", 8, keep},
    {"Tile", 6, refuse_old},
    {"TopK", 10, upgrade_topk},
    {"Unsqueeze", 13, axes_to_input},
    {"Upsample", 9, upsample_scales},
    {"Upsample", ALWAYS, old_resize},
    {"Xor", 7, old_broadcast},
};

/* First row of an operator; COUNT(rewrites) if it has none. */
static size_t first_row(const char *op_type) {
  size_t low = 0, high = COUNT(rewrites);
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (strcmp(rewrites[middle].op_type, op_type) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool is_upgraded(const char *op_type) {
  size_t row = first_row(op_type);
  return row < COUNT(rewrites) && !strcmp(rewrites[row].op_type, op_type);
}

/* com.microsoft has operators with names of ai.onnx, some with the same meaning, some with
 * another. */
bool contrib_name(struct raw_node *node) {
  static const struct {
    const char *from, *to;
    bool is_onnx;
  } names[] = {{"Attention", "MsAttention", false},
               {"DequantizeLinear", "DequantizeLinear", true},
               {"Gelu", "Gelu", true},
               {"GridSample", "GridSample", true},
               {"Pad", "Pad", true},
               {"QuantizeLinear", "QuantizeLinear", true},
               {"RotaryEmbedding", "MsRotaryEmbedding", false},
               {"Solve", "SolveLinear", false},
               {"TransposeMatMul", "FusedMatMul", false},
               {"Trilu", "Trilu", true}};
  if (strcmp(node->domain, "com.microsoft")) return false;
  for (size_t i = 0; i < COUNT(names); i++) {
    if (strcmp(node->op_type, names[i].from)) continue;
    node->op_type = names[i].to;
    if (names[i].is_onnx) node->domain = "";
    return true;
  }
  return false;
}

hone_status upgrade_node(struct builder *builder, struct graph *graph, struct raw_node *node,
                         bool *out_done) {
  struct rewrite r = {builder, builder->reader.ctx, builder->reader.arena, graph, node};
  const char *op_type = node->op_type;
  *out_done = false;
  if (!builder->opset) return HONE_OK;
  if (builder->opset < 6) drop(&r, "consumed_inputs");
  for (size_t i = first_row(op_type); i < COUNT(rewrites) && !strcmp(rewrites[i].op_type, op_type);
       i++) {
    if (builder->opset >= rewrites[i].before) continue;
    TRY(rewrites[i].rewrite(&r));
    *out_done = true;
  }
  return HONE_OK;
}

/* -- once shapes are known */

/* The only axis that a flattened softmax covers; -1 if there are several. */
static int64_t single_axis(const struct shape *shape, int64_t axis) {
  if (axis < 0) axis += shape->rank;
  if (axis < 0 || axis >= shape->rank) return -1;
  int64_t found = shape->rank - 1;
  int wide = 0;
  for (int d = (int)axis; d < shape->rank; d++)
    if (shape->dims[d] != 1) found = d, wide++;
  return wide <= 1 ? found : -1;
}

static hone_status direct_softmax(struct ctx *ctx, const struct fixup *fixup,
                                  struct substitution *map) {
  struct node *softmax = fixup->node;
  struct value *out = softmax->outputs[0];
  if (!out || !fixup->to->producer || !fixup->from->has_shape || fixup->from->constant)
    return HONE_OK;
  int64_t axis = single_axis(&fixup->from->shape, fixup->axis);
  if (axis < 0) return HONE_OK;
  softmax->inputs[0] = fixup->from;
  out->shape = fixup->from->shape;
  TRY(node_set_int(ctx, fixup->graph, softmax, "axis", axis));
  return substitution_add(ctx, fixup->graph, map, fixup->to, out);
}

static hone_status direct_constant(struct ctx *ctx, const struct fixup *fixup) {
  struct value *to = fixup->to;
  struct tensor *tensor;
  if (!to->producer || to->dtype == HONE_UNDEFINED || !dtype_bits(to->dtype)) return HONE_OK;
  const struct shape scalar = {0};
  TRY(tensor_create(ctx, fixup->graph->arena, to->dtype, &scalar, &tensor));
  tensor_set_f64(tensor, 0, tensor_f64(fixup->from->constant, 0));
  to->constant = tensor;
  to->has_shape = true;
  to->shape = scalar;
  to->producer = NULL;
  fixup->node->outputs[0] = NULL;
  return HONE_OK;
}

hone_status upgrade_finish(struct builder *builder, struct graph *graph) {
  struct ctx *ctx = builder->reader.ctx;
  struct substitution map = {0};
  size_t removed;
  if (!builder->fixups.count) return HONE_OK;
  for (size_t i = 0; i < builder->fixups.count; i++) {
    const struct fixup *fixup = &builder->fixups.at[i];
    if (fixup->kind == FIX_CAST)
      TRY(direct_constant(ctx, fixup));
    else if (fixup->graph == graph)
      TRY(direct_softmax(ctx, fixup, &map));
  }
  TRY(graph_substitute(ctx, graph, &map, op_find("", "Identity")));
  return graph_sweep(ctx, graph, &removed);
}
