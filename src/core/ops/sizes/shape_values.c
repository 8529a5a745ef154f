/* shape_values: short integer lists that hold dynamic sizes, as exporters write shapes: Shape,
 * Gather, Concat. Each entry of such a list is an extent or a number; operators that take a shape
 * read it (dynamic_axes.c). Propagated forwards, node by node, during type inference. */
#include "core/ops/ops_internal.h"

/* Excludes numbers computed at run time: arithmetic on them yields a new unknown. */
static bool entries_of(const struct value *x, struct size_list *out) {
  if (!size_entries(x, out)) return false;
  for (size_t i = 0; i < out->count; i++)
    if (out->number[i]) return false;
  return true;
}

bool sizes_are_open(const struct size_list *list) {
  for (size_t i = 0; i < list->count; i++)
    if (list->extent[i] || list->number[i]) return true;
  return false;
}

static void put_entry(struct size_list *out, size_t i, const struct size_list *from, size_t at) {
  out->at[i] = from->at[at];
  out->least[i] = from->least[at];
  out->extent[i] = from->extent[at];
  out->number[i] = from->number[at];
}

static bool of_shape(const struct node *node, struct size_list *out) {
  const struct value *x = node->inputs[0];
  const int64_t start = node_int(node, "start", 0);
  const int first = (int)hold_index(start, x->shape.rank, 0, x->shape.rank);
  *out = (struct size_list){.count = (size_t)node->outputs[0]->shape.dims[0]};
  for (size_t i = 0; i < out->count; i++) {
    out->at[i] = x->shape.dims[first + (int)i];
    out->extent[i] = x->extents[first + (int)i];
  }
  return value_is_open(x);
}

static bool of_gather(const struct node *node, struct size_list *out) {
  struct size_list list, places;
  if (!node->inputs[0]->sizes || !size_entries(node->inputs[0], &list) ||
      !node->inputs[1]->constant || !entries_of(node->inputs[1], &places))
    return false;
  *out = (struct size_list){.count = places.count};
  for (size_t i = 0; i < places.count; i++) {
    const int64_t at = places.at[i] + (places.at[i] < 0 ? (int64_t)list.count : 0);
    if (at < 0 || (size_t)at >= list.count) return false;
    put_entry(out, i, &list, (size_t)at);
  }
  return true;
}

static bool of_slice(const struct node *node, struct size_list *out) {
  struct size_list list, starts, ends, steps = {.at = {1}};
  const struct value *step = node_input(node, 4);
  if (!size_entries(node->inputs[0], &list) || !entries_of(node->inputs[1], &starts) ||
      !entries_of(node->inputs[2], &ends) || (step && !entries_of(step, &steps)) ||
      starts.count != 1 || ends.count != 1 || starts.extent[0] || ends.extent[0] ||
      steps.at[0] != 1)
    return false;
  const int64_t size = (int64_t)list.count, end = hold_index(ends.at[0], size, 0, size);
  *out = (struct size_list){.count = 0};
  for (int64_t i = hold_index(starts.at[0], size, 0, size); i < end; i++)
    put_entry(out, out->count++, &list, (size_t)i);
  return true;
}

static bool of_concat(const struct node *node, struct size_list *out) {
  *out = (struct size_list){.count = 0};
  for (size_t k = 0; k < node->input_count; k++) {
    struct size_list part;
    if (!size_entries(node->inputs[k], &part) || out->count + part.count > HONE_MAX_RANK)
      return false;
    for (size_t i = 0; i < part.count; i++) put_entry(out, out->count++, &part, i);
  }
  return true;
}

/* Where(Equal(a, b), x, y), the pattern for expanding by -1: a size is not negative. */
static bool of_where(const struct node *node, struct size_list *out) {
  const struct node *equal = node->inputs[0]->producer;
  struct size_list a, b, x, y;
  if (!equal || !is_op(equal, OP_Equal) || !entries_of(equal->inputs[0], &a) ||
      !entries_of(equal->inputs[1], &b) || !entries_of(node->inputs[1], &x) ||
      !entries_of(node->inputs[2], &y) || a.count != b.count || a.count != x.count ||
      a.count != y.count)
    return false;
  *out = (struct size_list){.count = a.count};
  for (size_t i = 0; i < a.count; i++) {
    bool same = a.at[i] == b.at[i];
    if (a.extent[i] || b.extent[i]) {
      same = a.extent[i] == b.extent[i];
      if (!same && (a.extent[i] ? b.at[i] : a.at[i]) >= 0) return false;
      if (!same && a.extent[i] && b.extent[i]) return false;
    }
    out->at[i] = same ? x.at[i] : y.at[i];
    out->extent[i] = same ? x.extent[i] : y.extent[i];
  }
  return true;
}

/* A size plus zeros. */
static bool of_add(const struct node *node, struct size_list *out) {
  struct size_list a, b;
  if (!entries_of(node->inputs[0], &a) || !entries_of(node->inputs[1], &b) || a.count != b.count)
    return false;
  *out = (struct size_list){.count = a.count};
  for (size_t i = 0; i < a.count; i++) {
    if ((a.extent[i] && (b.extent[i] || b.at[i])) || (b.extent[i] && a.at[i])) return false;
    out->extent[i] = a.extent[i] + b.extent[i];
    if (!checked_add(a.at[i], b.at[i], &out->at[i])) return false;
  }
  return true;
}

/* One number computed at run time becomes another value with its own range. */
static bool of_itself(const struct node *node, struct size_list *out) {
  const struct value *x = node->inputs[0];
  return (x->sizes || x->constant) && size_entries(x, out);
}

hone_status infer_sizes(struct ctx *ctx, struct graph *graph, const struct node *node) {
  static const struct {
    enum op_id op;
    bool (*follow)(const struct node *node, struct size_list *out);
  } rows[] = {{OP_Shape, of_shape},    {OP_Gather, of_gather},   {OP_Slice, of_slice},
              {OP_Concat, of_concat},  {OP_Where, of_where},     {OP_Add, of_add},
              {OP_Cast, of_itself},    {OP_Identity, of_itself}, {OP_Unsqueeze, of_itself},
              {OP_Squeeze, of_itself}, {OP_Reshape, of_itself}};
  struct value *y = node->output_count ? node->outputs[0] : NULL;
  struct size_list *made, list;
  if (!y || y->constant || y->shape.rank > 1 || !dtype_is_integer(y->dtype)) return HONE_OK;
  for (size_t i = 0; i < COUNT(rows); i++) {
    if (rows[i].op != node->op->id || !rows[i].follow(node, &list)) continue;
    TRY(NEW(ctx, graph->arena, made));
    *made = list;
    y->sizes = made;
  }
  return HONE_OK;
}
