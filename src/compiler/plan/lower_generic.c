/* The generic kernel: dense operands in ONNX order, every shape and attribute. */
#include "core/ops/operators/window.h"
#include "builder.h"

/* True if a recurrent operator has the default activations of ONNX. */
bool default_activations(const struct node *node) {
  const struct attribute *a = node_attribute(node, "activations");
  if (!a) return true;
  static const char *const expected[][3] = {
      {"Sigmoid", "Tanh", "Tanh"}, {"Sigmoid", "Tanh", NULL}, {"Tanh", NULL, NULL}};
  int row = is_op(node, OP_LSTM) ? 0 : is_op(node, OP_GRU) ? 1 : 2;
  size_t period = row == 0 ? 3 : row == 1 ? 2 : 1;
  for (size_t i = 0; i < a->count; i++) {
    const char *want = expected[row][i % period];
    if (a->strings[i].length != strlen(want) || memcmp(a->strings[i].bytes, want, strlen(want)))
      return false;
  }
  return true;
}

/* Generic kernels see small floats as raw words: only operators that move elements support them. */
static bool knows_types(const struct node *node) {
  bool is_small = false;
  if (is_op(node, OP_Shape) || is_op(node, OP_Size)) return true; /* no element is read */
  for (size_t k = 0; k < node->input_count + node->output_count; k++) {
    const struct value *value =
        k < node->input_count ? node->inputs[k] : node->outputs[k - node->input_count];
    is_small |= value && dtype_is_float(value->dtype) && dtype_bits(value->dtype) < 32;
  }
  return !is_small || moves_elements(node);
}

static int64_t attribute(const void *node, const char *name, int64_t otherwise) {
  return node_int(node, name, otherwise);
}

/* Work items, serial or parallel, and scratch memory per thread, from the shapes. */
static hone_status split_step(struct builder *b, struct step *step, const struct node *node) {
  struct generic_shape in[GENERIC_OPERANDS], out[GENERIC_OPERANDS];
  struct generic_problem problem = {.in_count = node->input_count,
                                    .out_count = node->output_count,
                                    .in = in,
                                    .out = out,
                                    .node = node,
                                    .attribute = attribute};
  for (size_t k = 0; k < node->input_count + node->output_count; k++) {
    bool is_input = k < node->input_count;
    size_t at = is_input ? k : k - node->input_count;
    const struct value *value = is_input ? node->inputs[at] : node->outputs[at];
    (is_input ? in : out)[at] = value ? (struct generic_shape){value->shape.rank, value->shape.dims}
                                      : (struct generic_shape){-1, NULL};
  }
  double flops, bytes;
  node_cost(node, &flops, &bytes);
  if (is_written_in_place(b, node)) { /* neither read nor written as a whole */
    int64_t elements;
    TRY(element_count(b, &node->inputs[0]->shape, &elements));
    bytes -= 2 * (double)dense_bytes(node->inputs[0]->dtype, elements);
  }
  step->generic_flops = flops;
  step->units = step->generic->units(&problem);
  step_share(step, flops + bytes, WORK_GENERIC);
  size_t scratch = step->generic->scratch_bytes ? step->generic->scratch_bytes(&problem) : 0;
  if (!scratch) return HONE_OK;
  if (!checked_align(scratch, 64, &step->scratch_slice))
    return fail(b->ctx, HONE_E_LIMIT, node_place(node), "scratch too large");
  /* plan_build sets the size, for all threads */
  return new_buffer(b, BUFFER_ARENA, 0, &step->scratch);
}

/* The rules of generic.c multiply dimensions unchecked. */
static hone_status check_sizes(struct builder *b, const struct node *node) {
  for (size_t k = 0; k < node->input_count + node->output_count; k++) {
    const struct value *value =
        k < node->input_count ? node->inputs[k] : node->outputs[k - node->input_count];
    int64_t elements;
    if (value && !shape_count(&value->shape, &elements))
      return fail(b->ctx, HONE_E_LIMIT, node_place(node), "operands too large");
  }
  return HONE_OK;
}

hone_status read_window(struct builder *b, const struct node *node,
                        const struct generic_window **out, int *out_rank) {
  struct window w;
  struct generic_window *window;
  bool has_window;
  *out = NULL;
  *out_rank = 0;
  TRY(window_of_node(b->ctx, node, &w, &has_window));
  if (!has_window) return HONE_OK;
  *out_rank = w.rank;
  if (w.rank > GENERIC_SPATIAL) return HONE_OK;
  TRY(NEW(b->ctx, b->arena, window));
  for (int i = 0; i < GENERIC_SPATIAL; i++) {
    const int from = i - (GENERIC_SPATIAL - w.rank);
    window->in[i] = from < 0 ? 1 : w.in[from];
    window->kernel[i] = from < 0 ? 1 : w.kernel[from];
    window->out[i] = from < 0 ? 1 : w.out[from];
    window->stride[i] = from < 0 ? 1 : w.stride[from];
    window->dilation[i] = from < 0 ? 1 : w.dilation[from];
    window->pad_begin[i] = from < 0 ? 0 : w.pad_begin[from];
    window->pad_end[i] = from < 0 ? 0 : w.pad_end[from];
  }
  *out = window;
  return HONE_OK;
}

/* Adds the activations of each direction and their parameters as numbers. */
static hone_status name_activations(struct builder *b, const struct node *node, struct step *step) {
  struct attribute *all;
  int64_t *functions;
  double *alphas, *betas;
  size_t count;
  const size_t own = node->attribute_count;
  TRY(recurrent_activations(b->ctx, b->arena, node, &functions, &alphas, &betas, &count));
  TRY(NEW_ARRAY(b->ctx, b->arena, all, own + 3));
  for (size_t i = 0; i < own; i++) all[i] = node->attributes[i];
  all[own] = (struct attribute){
      .name = "functions", .kind = ATTRIBUTE_INTS, .count = count, .ints = functions};
  all[own + 1] = (struct attribute){
      .name = "function_alphas", .kind = ATTRIBUTE_FLOATS, .count = count, .floats = alphas};
  all[own + 2] = (struct attribute){
      .name = "function_betas", .kind = ATTRIBUTE_FLOATS, .count = count, .floats = betas};
  step->attributes = all;
  step->attribute_count = own + 3;
  return HONE_OK;
}

hone_status lower_generic(struct builder *b, const struct node *node, bool *out_done) {
  bool is_listed = !*node->op->domain || !strcmp(node->op->domain, "hone");
  const struct generic_kernel *plain = is_listed ? generic_find(node->op->name) : NULL;
  if (!plain || !knows_types(node)) return HONE_OK;
  for (size_t i = 0; i < node->input_count; i++)
    if (node->inputs[i] && !dtype_bytes(node->inputs[i]->dtype)) return HONE_OK;
  const struct generic_window *window;
  int spatial;
  TRY(read_window(b, node, &window, &spatial));
  if (spatial > GENERIC_SPATIAL) return HONE_OK;
  struct view views[GENERIC_OPERANDS];
  if (node->input_count > COUNT(views) || node->output_count > COUNT(views)) return HONE_OK;
  for (size_t i = 0; i < node->input_count; i++) {
    views[i] = (struct view){0};
    if (!node->inputs[i]) continue;
    TRY(ensure_dense(b, node->inputs[i], &views[i]));
    memcpy(views[i].extents, node->inputs[i]->extents, sizeof views[i].extents);
  }
  struct step *step;
  TRY(new_step(b, STEP_GENERIC, node, node->input_count, node->output_count, &step));
  memcpy(step->inputs, views, node->input_count * sizeof views[0]);
  for (size_t i = 0; i < node->output_count; i++) {
    struct view like;
    if (!node->outputs[i]) continue;
    view_dense(&like, NULL, node->outputs[i]->dtype, &node->outputs[i]->shape);
    TRY(make_output(b, node->outputs[i], &like, &step->outputs[i]));
    memcpy(step->outputs[i].extents, node->outputs[i]->extents, sizeof like.extents);
  }
  step->generic = plain;
  step->window = window;
  step->attribute_count = node->attribute_count;
  step->attributes = node->attributes;
  if (node->op->class == OP_RECURRENT && !default_activations(node))
    TRY(name_activations(b, node, step));
  TRY(check_sizes(b, node));
  TRY(split_step(b, step, node));
  *out_done = true;
  return HONE_OK;
}
