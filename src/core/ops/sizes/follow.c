/* follow: which dimensions depend on the dynamic dimensions of the inputs.
 *
 * Instead of symbolic inference, the model is imported and transformed at several sizes and
 * compared node by node with the model at the bounds: a dimension is fixed, or linear in the
 * symbols and in sizes derived from them, or the model cannot be compiled for more than one size.
 * So every operator's inference, every fold of Shape -> Gather -> Concat -> Reshape and every pass
 * supports dynamic dimensions unchanged. */
#include "follow.h"

static hone_status refuse(struct follower *f, const struct node *node, const char *what) {
  struct strbuf names = {0}, at = {0};
  for (size_t k = 0; k < f->symbols->count; k++)
    if (f->less[k]) strbuf_printf(&names, "%s%s", names.length ? ", " : "", f->symbols->at[k].name);
  symbols_print(&at, f->symbols, f->sizes);
  hone_status status =
      fail(f->ctx, HONE_E_UNSUP, node ? node_place(node) : place_none(),
           "%s%scannot carry %s: %s at %s", node ? node->op->name : "", node ? " " : "the model ",
           names.at ? names.at : "", what, at.at ? at.at : "");
  hint(
      f->ctx,
      "a lower bound may leave that size out (--shape \"x[1,3,32<=H<=640]\"); or compile the model "
      "for fixed sizes");
  strbuf_deinit(&names);
  strbuf_deinit(&at);
  return status;
}

/* -- values */

/* The place of the value's pair; NULL: it is in none of the graphs. */
static const struct value **pair_at(const struct follower *f, const struct value *value) {
  for (const struct scope *scope = f->scope; scope; scope = scope->outer)
    if (graph_owns(scope->graph, value)) return &scope->pair[value->index];
  return NULL;
}

static const struct value *pair_of(const struct follower *f, const struct value *value) {
  const struct value **at = pair_at(f, value);
  return at ? *at : NULL;
}

static void set_pair(const struct follower *f, const struct value *value,
                     const struct value *other) {
  const struct value **at = pair_at(f, value);
  if (at) *at = other;
}

/* -- what was seen in earlier calls */

/* Numbers that are as at the bounds in every call need no list. */
static hone_status see(struct follower *f, int64_t **seen, size_t count, const int64_t *bounds,
                       const int64_t *sizes) {
  const size_t now = f->past->count;
  if (now == HONE_MOST_FOLLOWED || (!*seen && !memcmp(bounds, sizes, count * sizeof *sizes)))
    return HONE_OK;
  if (!*seen) {
    TRY(NEW_ARRAY(f->ctx, f->graph->arena, *seen, count * HONE_MOST_FOLLOWED));
    for (size_t i = 0; i < count * HONE_MOST_FOLLOWED; i++)
      (*seen)[i] = bounds[i / HONE_MOST_FOLLOWED];
  }
  for (size_t i = 0; i < count; i++) (*seen)[i * HONE_MOST_FOLLOWED + now] = sizes[i];
  return HONE_OK;
}

static const int64_t *seen_at(const int64_t *seen, size_t i) {
  return seen ? seen + i * HONE_MOST_FOLLOWED : NULL;
}

/* True if the dimension is the bound of a data-dependent one. */
static bool is_bound(const struct node *node, const struct value *value, const struct value *other,
                     int d) {
  if (value->extents[d]) return value->extents[d] == other->extents[d];
  return node && value->producer == node && is_op(node, OP_PadToBound) &&
         node_int(node, "axis", 0) == d && !node_int(node, "grows", 0);
}

/* Slopes of all dimensions; *out_fits: false if one of them is not linear in the sizes. */
static hone_status find_dimensions(struct follower *f, const struct node *node, struct value *value,
                                   const struct value *other, bool *out_fits) {
  struct slope *slope = NULL;
  *out_fits = false;
  if (!value->seen) TRY(NEW(f->ctx, f->graph->arena, value->seen));
  TRY(see(f, &value->seen->dims, (size_t)value->shape.rank, value->shape.dims, other->shape.dims));
  for (int d = 0; d < value->shape.rank; d++) {
    struct dimension at = {.f = f,
                           .node = node,
                           .value = value,
                           .d = d,
                           .bound = value->shape.dims[d],
                           .size = other->shape.dims[d],
                           .seen = seen_at(value->seen->dims, (size_t)d)};
    struct slope found;
    if (is_bound(node, value, other, d)) continue;
    if (value->slope) at.now = value->slope[d];
    if (!explain(&at, &found) || grows_backwards(&found)) return HONE_OK;
    if (slope_equal(&found, &at.now)) continue;
    if (!slope) {
      TRY(NEW_ARRAY(f->ctx, f->graph->arena, slope, HONE_MAX_RANK));
      if (value->slope) memcpy(slope, value->slope, HONE_MAX_RANK * sizeof *slope);
    }
    slope[d] = found;
  }
  if (slope) value->slope = slope;
  *out_fits = true;
  return HONE_OK;
}

static hone_status pair_values(struct follower *f, const struct node *node, struct value *value,
                               const struct value *other) {
  bool fits;
  set_pair(f, value, other);
  if (value->dtype != other->dtype || value->shape.rank != other->shape.rank)
    return refuse(f, node, "a value has another type or rank");
  TRY(find_dimensions(f, node, value, other, &fits));
  return fits         ? HONE_OK
         : f->is_full ? refuse(f, node, "too many sizes are derived from it")
                      : refuse(f, node, "a dimension does not grow with it linearly");
}

/* -- constants */

/* True if `part`, smaller in some dimensions, equals the elements of `whole` from `start` on. */
static bool is_part(const struct tensor *whole, const struct tensor *part, const int64_t *start) {
  size_t size = dtype_bits(whole->dtype) / 8, count = tensor_count(part);
  int64_t stride[HONE_MAX_RANK], index[HONE_MAX_RANK] = {0};
  const char *from = whole->data, *to = part->data;
  if (!size || whole->dtype == HONE_STRING) return false;
  shape_strides(&whole->shape, stride);
  for (size_t i = 0; i < count; i++) {
    int64_t at = 0;
    for (int d = 0; d < part->shape.rank; d++) at += (start[d] + index[d]) * stride[d];
    if (memcmp(from + (size_t)at * size, to + i * size, size)) return false;
    for (int d = part->shape.rank; d-- > 0 && ++index[d] == part->shape.dims[d];) index[d] = 0;
  }
  return true;
}

/* Where the part is in dimension d: what it loses for this symbol is cut off at the end (place 0),
 * the start (1) or half at either (2). */
static hone_status place_part(struct follower *f, struct value *value, int d, uint8_t place) {
  struct slope *begin;
  bool exact = true;
  TRY(NEW_ARRAY(f->ctx, f->graph->arena, begin, HONE_MAX_RANK));
  if (value->begin) memcpy(begin, value->begin, HONE_MAX_RANK * sizeof *begin);
  const struct slope lost = divided(&value->slope[d], place ? place : 1, &exact);
  for (int k = 0; k < HONE_MAX_SIZES; k++)
    if (f->active[k]) begin[d].of[k] = place && exact ? lost.of[k] : 0;
  value->begin = begin;
  if (!value->seen->places)
    TRY(NEW_ARRAY(f->ctx, f->graph->arena, value->seen->places, HONE_MAX_RANK));
  value->seen->places[d][f->first] = place;
  return HONE_OK;
}

static bool is_part_now(const struct follower *f, const struct value *value,
                        const struct tensor *part) {
  int64_t start[HONE_MAX_RANK] = {0};
  for (int d = 0; value->begin && d < value->shape.rank; d++) {
    const int64_t lost = value->shape.dims[d] - part->shape.dims[d];
    start[d] = f->first >= 0 && !is_placed(value, d, (size_t)f->first)
                   ? lost / value->seen->places[d][f->first]
                   : slope_loss(&value->begin[d], f->less);
    if (start[d] < 0 || start[d] > lost) return false;
  }
  return is_part(value->constant, part, start);
}

/* Finds the part as a window of the constant at the bounds: the leading elements, or in a dimension
 * that this symbol shortens the trailing ones (positions counted from the end of a dynamic
 * dimension) or those in the middle (distances between positions). */
static hone_status find_window(struct follower *f, struct value *value, const struct tensor *part,
                               bool *out_found) {
  const int rank = value->shape.rank;
  const struct sightings *seen = value->seen;                     /* its dimensions were followed */
  for (int d = 0; seen->places && f->first >= 0 && d < rank; d++) /* slopes may be new */
    if (seen->places[d][f->first]) TRY(place_part(f, value, d, seen->places[d][f->first]));
  *out_found = is_part_now(f, value, part);
  for (int d = 0; f->finds && f->first >= 0 && d < rank; d++) {
    const bool is_known = seen->places && seen->places[d][f->first];
    if (*out_found || is_known || !is_active(f, &value->slope[d])) continue;
    f->has_moved = !f->is_first_call;
    for (uint8_t place = 1; place <= 2 && !*out_found; place++) {
      TRY(place_part(f, value, d, place));
      *out_found = is_part_now(f, value, part);
    }
    if (!*out_found) TRY(place_part(f, value, d, 0));
  }
  return HONE_OK;
}

/* -- constants that depend on sizes */

enum { MOST_ELEMENTS = 64 };

/* Each element is linear in the sizes. */
static hone_status follow_elements(struct follower *f, struct value *value,
                                   const struct tensor *other, bool *out_fits) {
  const size_t count = tensor_count(value->constant);
  struct slope *elements;
  int64_t bounds[MOST_ELEMENTS], sizes[MOST_ELEMENTS];
  const hone_dtype dtype = value->dtype;
  *out_fits = count <= MOST_ELEMENTS &&
              (dtype == HONE_I64 || dtype == HONE_I32 || dtype == HONE_F32 || dtype == HONE_F64);
  for (size_t i = 0; i < count && *out_fits; i++)
    *out_fits = whole_element(value->constant, i, &bounds[i]) && whole_element(other, i, &sizes[i]);
  if (!*out_fits) return HONE_OK;
  if (!value->seen) TRY(NEW(f->ctx, f->graph->arena, value->seen));
  TRY(see(f, &value->seen->elements, count, bounds, sizes));
  TRY(NEW_ARRAY(f->ctx, f->graph->arena, elements, count + 1));
  for (size_t i = 0; i < count && *out_fits; i++) {
    struct dimension at = {.f = f,
                           .node = value->folded_from,
                           .bound = bounds[i],
                           .size = sizes[i],
                           .seen = seen_at(value->seen->elements, i)};
    if (value->elements) at.now = value->elements[i];
    if (explain_element(&at, i, &elements[i])) continue;
    at.node = NULL;
    *out_fits = explain(&at, &elements[i]);
  }
  if (*out_fits) value->elements = elements;
  return HONE_OK;
}

/* The part at these sizes: a window of the constant, or elements that are linear in the sizes. */
static hone_status follow_part(struct follower *f, struct value *value, const struct tensor *part,
                               bool *out_fits) {
  return value->slope ? find_window(f, value, part, out_fits)
                      : follow_elements(f, value, part, out_fits);
}

/* A constant is a part of that at the bounds, or is computed again from such constants. */
static hone_status follow_known(struct follower *f, const struct node *reader, struct value *value,
                                const struct value *other, bool *out_fits) {
  const struct node *node = value->folded_from, *twin = other->folded_from;
  const bool is_plain = !value->slope && !value->elements && !value->is_computed;
  *out_fits = value->constant && other->constant && value->dtype == other->dtype &&
              value->shape.rank == other->shape.rank;
  if (!*out_fits) return HONE_OK;
  const bool is_same = is_plain && tensor_equal(value->constant, other->constant);
  bool is_folded = node && twin && node->op == twin->op && node->input_count == twin->input_count;
  /* what it was computed from may differ: another call will need to know */
  if (is_same && tensor_count(value->constant) > MOST_ELEMENTS) return HONE_OK;
  for (size_t k = 0; is_folded && k < node->input_count; k++)
    if (node->inputs[k] && twin->inputs[k] && !is_shape_operand(node, k))
      TRY(follow_known(f, node, node->inputs[k], twin->inputs[k], &is_folded));
  if (is_same) return HONE_OK;
  TRY(find_dimensions(f, is_folded ? node : reader, value, other, out_fits));
  if (!*out_fits) return HONE_OK;
  if (!value->is_computed) TRY(follow_part(f, value, other->constant, out_fits));
  if (!*out_fits || value->is_computed) *out_fits = value->is_computed = is_folded;
  return HONE_OK;
}

/* node: that reads it as operand k; NULL: an output */
static hone_status follow_constant(struct follower *f, const struct node *node, size_t k,
                                   struct value *value, const struct value *other) {
  bool fits;
  if (!other->constant) return refuse(f, node, "an operand is not a constant");
  if (pair_of(f, value) == other) return HONE_OK;
  set_pair(f, value, other);
  TRY(follow_known(f, node, value, other, &fits));
  if (node && is_shape_operand(node, k)) return HONE_OK; /* by_list */
  return fits ? HONE_OK : refuse(f, node, "a constant has other elements");
}

/* -- bodies of loops: nothing inside may depend on sizes */

struct level {
  struct follower *f;
  const struct level *outer; /* NULL: the subgraph of a node of f->graph */
  const struct graph *graph, *at_n;
  const struct value **pair; /* as scope.pair */
};

static bool same_form(const struct value *a, const struct value *b) {
  return a->dtype == b->dtype && shape_equal(&a->shape, &b->shape) && !a->slope;
}

static bool same_value(const struct level *level, const struct value *a, const struct value *b) {
  if (!a || !b) return a == b;
  if (a->constant) return b->constant && tensor_equal(a->constant, b->constant);
  for (; level && !graph_owns(level->graph, a); level = level->outer)
    if (!level->outer) return same_form(a, b) && pair_of(level->f, a) == b;
  return level && level->pair[a->index] == b;
}

static bool pair_same(const struct level *level, const struct value *a, const struct value *b) {
  if (!a || !b) return a == b;
  if (!same_form(a, b)) return false;
  level->pair[a->index] = b;
  return true;
}

static hone_status same_graph(struct follower *f, const struct level *outer,
                              const struct graph *graph, const struct graph *at_n, bool *out);

static hone_status same_attributes(struct follower *f, const struct level *level,
                                   const struct node *a, const struct node *b, bool *out) {
  for (size_t i = 0; i < a->attribute_count && *out; i++) {
    const struct attribute *x = &a->attributes[i], *y = &b->attributes[i];
    if (x->kind == ATTRIBUTE_GRAPH && y->kind == ATTRIBUTE_GRAPH)
      TRY(same_graph(f, level, x->graph, y->graph, out));
    else
      *out = attribute_equal(x, y);
  }
  return HONE_OK;
}

static bool same_counts(const struct node *a, const struct node *b) {
  return a->op == b->op && a->input_count == b->input_count && a->output_count == b->output_count &&
         a->attribute_count == b->attribute_count;
}

static hone_status same_node(const struct level *level, const struct node *a, const struct node *b,
                             bool *out) {
  *out = same_counts(a, b);
  for (size_t k = 0; *out && k < a->input_count; k++)
    *out = same_value(level, a->inputs[k], b->inputs[k]);
  if (*out) TRY(same_attributes(level->f, level, a, b, out));
  for (size_t k = 0; *out && k < a->output_count; k++)
    *out = pair_same(level, a->outputs[k], b->outputs[k]);
  return HONE_OK;
}

static hone_status same_graph(struct follower *f, const struct level *outer,
                              const struct graph *graph, const struct graph *at_n, bool *out) {
  struct level level = {f, outer, graph, at_n, NULL};
  *out = graph->inputs.count == at_n->inputs.count && graph->nodes.count == at_n->nodes.count &&
         graph->outputs.count == at_n->outputs.count && graph->impossible == at_n->impossible;
  TRY(NEW_ARRAY(f->ctx, f->scratch, level.pair, graph->values.count + 1));
  for (size_t i = 0; *out && i < graph->inputs.count; i++)
    *out = pair_same(&level, graph->inputs.at[i], at_n->inputs.at[i]);
  for (size_t i = 0; *out && i < graph->nodes.count; i++)
    TRY(same_node(&level, graph->nodes.at[i], at_n->nodes.at[i], out));
  for (size_t i = 0; *out && i < graph->outputs.count; i++)
    *out = same_value(&level, graph->outputs.at[i], at_n->outputs.at[i]);
  return HONE_OK;
}

/* -- nodes */

static hone_status follow_graph(struct follower *f, const struct graph *graph,
                                const struct graph *at_n);

static hone_status follow_attribute(struct follower *f, const struct node *node,
                                    const struct attribute *a, const struct attribute *b) {
  bool is_same = attribute_equal(a, b);
  if (is_same || is_op(node, OP_PadToBound)) return HONE_OK; /* its length is a bound */
  if (a->kind != ATTRIBUTE_GRAPH || b->kind != ATTRIBUTE_GRAPH)
    return refuse(f, node, "an attribute has another value");
  if (is_op(node, OP_If) || is_op(node, OP_Loop)) return follow_graph(f, a->graph, b->graph);
  TRY(same_graph(f, NULL, a->graph, b->graph, &is_same));
  return is_same ? HONE_OK : refuse(f, node, "a subgraph depends on it");
}

/* A branch of an If that a known condition does not choose at these sizes may be another graph. */
static bool is_passed_over(const struct node *other, const struct attribute *a) {
  const struct tensor *condition = is_op(other, OP_If) ? other->inputs[0]->constant : NULL;
  return condition &&
         strcmp(a->name, tensor_i64(condition, 0) ? "then_branch" : "else_branch") != 0;
}

static hone_status follow_node(struct follower *f, const struct node *node,
                               const struct node *other) {
  if (!same_counts(node, other))
    return refuse(f, node, "the passes transform it into a different node");
  for (size_t k = 0; k < node->input_count; k++) {
    struct value *value = node->inputs[k];
    const struct value *at_n = other->inputs[k];
    if (!value != !at_n) return refuse(f, node, "an operand is missing");
    if (value && value->constant)
      TRY(follow_constant(f, node, k, value, at_n));
    else if (value && pair_of(f, value) != at_n)
      return refuse(f, node, "it reads another value");
  }
  for (size_t i = 0; i < node->attribute_count; i++) {
    const struct attribute *a = &node->attributes[i];
    if (is_passed_over(other, a)) {
      if (f->past->count < HONE_MOST_FOLLOWED) a->graph->passed_over |= 1u << f->past->count;
      continue;
    }
    TRY(follow_attribute(f, node, a, &other->attributes[i]));
    if (a->kind == ATTRIBUTE_GRAPH) a->graph->is_followed = true;
  }
  for (size_t k = 0; k < node->output_count; k++) {
    if (!node->outputs[k] != !other->outputs[k]) return refuse(f, node, "an output is missing");
    if (node->outputs[k]) TRY(pair_values(f, node, node->outputs[k], other->outputs[k]));
  }
  return HONE_OK;
}

static hone_status follow_within(struct follower *f, const struct graph *graph,
                                 const struct graph *at_n) {
  if (graph->nodes.count != at_n->nodes.count || graph->inputs.count != at_n->inputs.count ||
      graph->outputs.count != at_n->outputs.count || graph->impossible != at_n->impossible)
    return refuse(f, NULL, "the passes give a different number of nodes");
  if (graph->impossible) return HONE_OK;
  for (size_t i = 0; i < graph->inputs.count; i++)
    TRY(pair_values(f, NULL, graph->inputs.at[i], at_n->inputs.at[i]));
  for (size_t i = 0; i < graph->nodes.count; i++)
    TRY(follow_node(f, graph->nodes.at[i], at_n->nodes.at[i]));
  for (size_t i = 0; i < graph->outputs.count; i++) {
    struct value *value = graph->outputs.at[i];
    if (value->constant) TRY(follow_constant(f, NULL, 0, value, at_n->outputs.at[i]));
    if (!value->constant && pair_of(f, value) != at_n->outputs.at[i])
      return refuse(f, NULL, "an output is another value");
  }
  return HONE_OK;
}

static hone_status follow_graph(struct follower *f, const struct graph *graph,
                                const struct graph *at_n) {
  struct scope scope = {f->scope, graph, NULL};
  TRY(NEW_ARRAY(f->ctx, f->scratch, scope.pair, graph->values.count + 1));
  const uint32_t outer = f->passed_over;
  f->scope = &scope;
  f->passed_over |= graph->passed_over;
  hone_status status = follow_within(f, graph, at_n);
  f->passed_over = outer;
  f->scope = scope.outer;
  return status;
}

/* How far all sizes are below their bounds, in this call and the earlier ones. */
static hone_status start_call(struct follower *f) {
  struct symbols *known = &f->graph->symbols;
  TRY(NEW_ARRAY(f->ctx, f->scratch, f->past_less, HONE_MOST_FOLLOWED));
  for (size_t j = 0; j < known->derived_count; j++) set_active(f, j);
  for (size_t i = 0; i < f->past->count; i++) {
    for (size_t k = 0; k < f->symbols->count; k++)
      f->past_less[i][k] = f->symbols->at[k].bound - f->past->sizes[i][k];
    if (!symbols_complete(known, f->past_less[i]))
      return fail(f->ctx, HONE_E_INTERNAL, place_none(), "a size was negative");
  }
  return symbols_complete(known, f->less) ? HONE_OK : refuse(f, NULL, "a size would be negative");
}

hone_status symbol_follow(struct ctx *ctx, struct graph *graph, const struct symbols *symbols,
                          const struct graph *at_n, const int64_t *sizes, struct followed *past,
                          bool *out_changed) {
  struct follower f = {.ctx = ctx,
                       .graph = graph,
                       .symbols = symbols,
                       .sizes = sizes,
                       .first = -1,
                       .finds = out_changed,
                       .past = past};
  int below = 0;
  for (size_t k = 0; k < symbols->count; k++) {
    f.less[k] = symbols->at[k].bound - sizes[k];
    if (!f.less[k]) continue;
    below++;
    f.first = (int)k;
    f.is_first_call = k >= graph->symbols.count; /* symbols are processed in order */
  }
  if (!below || (f.is_first_call && below > 1))
    return fail(ctx, HONE_E_INTERNAL, place_none(), "%d symbols below their bounds", below);
  if (below > 1 || !f.finds) f.first = -1;
  if (f.first >= 0) f.active[f.first] = true;
  if (!graph->symbols.derived)
    TRY(NEW_ARRAY(ctx, graph->arena, graph->symbols.derived, HONE_MAX_DERIVED));
  TRY(arena_create(ctx, 0, &f.scratch));
  hone_status status = start_call(&f);
  if (!status) status = follow_graph(&f, graph, at_n);
  if (!status && f.is_first_call) {
    memcpy(graph->symbols.at, symbols->at, sizeof symbols->at);
    graph->symbols.count = (size_t)f.first + 1;
  }
  if (!status && past->count < HONE_MOST_FOLLOWED)
    memcpy(past->sizes[past->count++], sizes, symbols->count * sizeof *sizes);
  if (out_changed) *out_changed = (f.first < 0 && f.has_changed) || f.has_moved;
  arena_destroy(f.scratch);
  return status;
}
