/* New steps: any kind, and copies with their loops. */
#include <math.h>

#include "builder.h"

hone_status new_step(struct builder *b, enum step_kind kind, const struct node *node, size_t inputs,
                     size_t outputs, struct step **out) {
  struct step *step;
  TRY(NEW(b->ctx, b->arena, step));
  step->kind = kind;
  step->at_bounds = b->fills;
  step->op = node ? node->op : NULL;
  step->place = node ? node_place(node) : place_none();
  step->value = node && node->output_count && node->outputs[0] ? node->outputs[0]->name : NULL;
  step->input_count = inputs;
  step->output_count = outputs;
  TRY(NEW_ARRAY(b->ctx, b->arena, step->inputs, inputs));
  TRY(NEW_ARRAY(b->ctx, b->arena, step->outputs, outputs));
  VEC_PUSH(b->ctx, b->arena, &b->plan->steps, step);
  *out = step;
  return HONE_OK;
}

void step_share(struct step *step, double work, enum work_kind kind) {
  const double least = schedule_least_shared(kind);
  step->serial = work < least || step->units < 2;
  step->alone_units = (int64_t)(least / fmax(work, 1) * (double)step->units);
}

static double view_elements(const struct view *views, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    double elements = views[i].buffer ? 1 : 0;
    for (int d = 0; d < views[i].shape.rank; d++) elements *= (double)views[i].shape.dims[d];
    sum += elements;
  }
  return sum;
}

void set_chunks(struct plan *plan) {
  for (size_t i = 0; i < plan->steps.count; i++) {
    struct step *step = plan->steps.at[i];
    const double elements = view_elements(step->inputs, step->input_count) +
                            view_elements(step->outputs, step->output_count);
    const struct choice *choice = step->kind == STEP_KERNEL ? &step->choice : NULL;
    step->chunks = schedule_parts(&plan->schedule, choice, elements, step->units);
  }
}

/* Adjacent dimensions without border are merged where both sides are contiguous. */
static void push_copy_dim(struct step *step, struct copy_dim dim) {
  bool is_fixed = slope_is_zero(&dim.slope);
  if (dim.size == 1 && dim.inner == 1 && is_fixed) return;
  if (step->copy_rank) {
    struct copy_dim *outer = &step->copy[step->copy_rank - 1];
    /* an inner dimension taken whole: the outer dimension's border is a multiple of it */
    bool is_whole = dim.inner == dim.size && is_fixed && dim.packed_to <= outer->packed_to &&
                    dim.packed_from <= outer->packed_from;
    if (is_whole && outer->to == dim.to * dim.size && outer->from == dim.from * dim.size) {
      outer->size *= dim.size;
      outer->before *= dim.size;
      outer->inner *= dim.size;
      outer->slope = slope_times(&outer->slope, dim.size);
      outer->to = dim.to;
      outer->from = dim.from;
      outer->packed_to = dim.packed_to;
      outer->packed_from = dim.packed_from;
      return;
    }
  }
  step->copy[step->copy_rank++] = dim;
}

/* How symbols shorten dimension d: the source's slope, or the destination's where the source is
   broadcast. */
static struct slope copy_slope(const struct step *step, const struct view *from,
                               const struct view *to, int d) {
  const struct slope slope = view_slope(from, d);
  if (step->at_bounds) return (struct slope){0};
  bool stands = from->shape.dims[d] == to->shape.dims[d] && !from->stride[d];
  return !slope_is_zero(&slope) || !stands ? slope : view_slope(to, d);
}

static const int64_t none[HONE_MAX_RANK];

/* The loops of a copy whose views are set. */
static void set_copy_dims(struct step *step, const int64_t before[HONE_MAX_RANK]) {
  const struct view *from = &step->inputs[0], *to = &step->outputs[0];
  int order[HONE_MAX_RANK];
  view_order(to, order);
  for (int i = 0; i < to->shape.rank; i++) {
    int d = order[i];
    push_copy_dim(step, (struct copy_dim){.size = to->shape.dims[d],
                                          .to = to->stride[d],
                                          .from = from->stride[d],
                                          .before = before[d],
                                          .inner = from->shape.dims[d],
                                          .slope = copy_slope(step, from, to, d),
                                          .packed_to = step->packed_to >> d & 1,
                                          .packed_from = step->packed_from >> d & 1});
  }
}

static hone_status set_copy(struct builder *b, struct step *step, const struct view *from,
                            const struct view *to, const int64_t before[HONE_MAX_RANK]) {
  int64_t elements;
  step->inputs[0] = *from;
  step->outputs[0] = *to;
  TRY(NEW_ARRAY(b->ctx, b->arena, step->copy, (size_t)to->shape.rank));
  set_copy_dims(step, before);
  TRY(element_count(b, &to->shape, &elements));
  step->units = plan_copy_units(step);
  step_share(step, (double)elements, WORK_COPY);
  return HONE_OK;
}

static hone_status new_copy(struct builder *b, const struct node *node, const struct view *from,
                            const struct view *to, const int64_t before[HONE_MAX_RANK],
                            uint64_t fill_bits, struct step **out) {
  TRY(new_step(b, STEP_COPY, node, 1, 1, out));
  (*out)->fill_bits = fill_bits;
  return set_copy(b, *out, from, to, before);
}

/* True if there is a border around the image and the copy of the image alone would be a
   transposition, which needs whole blocks. out_inside: the image in the destination. */
static bool is_transposed_inside(const struct builder *b, const struct view *from,
                                 const struct view *to, const int64_t before[HONE_MAX_RANK],
                                 struct view *out_inside) {
  struct view source = *from;
  struct copy_dim dims[HONE_MAX_RANK];
  struct step inner = {
      .at_bounds = b->fills, .inputs = &source, .outputs = out_inside, .copy = dims};
  bool has_border = false;
  *out_inside = *to;
  out_inside->shape = from->shape;
  for (int d = 0; d < to->shape.rank; d++) {
    const int64_t end = before[d] + from->shape.dims[d];
    if (before[d] < 0 || end > to->shape.dims[d]) return false;
    has_border = has_border || from->shape.dims[d] < to->shape.dims[d];
    out_inside->offset += before[d] * to->stride[d];
  }
  if (!has_border || !from->buffer) return false;
  set_copy_dims(&inner, none);
  return plan_transposition(&inner) >= 0;
}

hone_status add_copy_border(struct builder *b, const struct node *node, const struct view *from,
                            const struct view *to, const int64_t before[HONE_MAX_RANK],
                            uint64_t fill_bits, struct step **out) {
  struct view inside, nothing = *from;
  if (!is_transposed_inside(b, from, to, before, &inside))
    return new_copy(b, node, from, to, before, fill_bits, out);
  nothing.buffer = NULL;
  TRY(new_copy(b, node, &nothing, to, before, fill_bits, out));
  TRY(new_copy(b, node, from, &inside, none, 0, out));
  (*out)->overlaps_previous = true;
  return HONE_OK;
}

hone_status add_border(struct builder *b, const struct view *whole, const struct view *inner,
                       int64_t border) {
  struct view nothing = *inner; /* the next step writes the image itself */
  int64_t before[HONE_MAX_RANK] = {0};
  struct step *step;
  nothing.buffer = NULL;
  for (int i = 2; i < inner->shape.rank; i++) before[i] = border;
  return add_copy_border(b, NULL, &nothing, whole, before, 0, &step);
}

hone_status add_copy(struct builder *b, const struct node *node, const struct view *from,
                     const struct view *to, struct step **out) {
  return add_copy_border(b, node, from, to, none, 0, out);
}

hone_status add_packed_copy(struct builder *b, const struct node *node, const struct view *from,
                            const struct view *to, unsigned packed_from, unsigned packed_to) {
  struct step *step;
  TRY(new_step(b, STEP_COPY, node, 1, 1, &step));
  step->at_bounds = false; /* what the caller stores ends at the actual size */
  step->packed_from = packed_from;
  step->packed_to = packed_to;
  return set_copy(b, step, from, to, none);
}

unsigned port_dimensions(const struct view *view) {
  return view->shape.rank > 1 ? (1u << (view->shape.rank - 1)) - 1 : 0;
}

hone_status add_port_copy(struct builder *b, const struct view *from, const struct view *to) {
  const unsigned all = port_dimensions(to);
  const bool is_input = from->buffer->place == BUFFER_INPUT;
  return add_packed_copy(b, NULL, from, to, is_input ? all : 0, is_input ? 0 : all);
}

hone_status add_conversion(struct builder *b, const struct node *node, const struct view *from,
                           const struct view *to) {
  struct step *step;
  int64_t elements;
  TRY(new_step(b, STEP_ELEMENTWISE, node, 1, 1, &step));
  step->inputs[0] = *from;
  step->outputs[0] = *to;
  step->program = (struct expr){.input_count = 1, .raw = HONE_F32, .result = PROGRAM_INPUT(0)};
  TRY(NEW_ARRAY(b->ctx, b->arena, step->program.inputs, 1));
  step->program.inputs[0] = HONE_F32;
  struct loop_nest nest;
  plan_loops(step, &nest);
  TRY(element_count(b, &to->shape, &elements));
  step->units = nest.units;
  step_share(step, (double)elements, WORK_LOOP);
  return HONE_OK;
}
