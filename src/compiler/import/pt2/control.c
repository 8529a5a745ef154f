/* control: operators with subgraphs. A graph that certainly runs is inlined; data-dependent
 * branches become an If, data-dependent iterations a Loop, and so do scans over many rows. */
#include "pt2.h"

enum { MOST_DEPTH = 8, MOST_VALUES = 4096, WRITTEN_OUT = 16 };

/* The name of the tensor at index k in a graph's list of inputs or outputs. */
static const char *tensor_at(const json_t *list, size_t k) {
  json_t *tensor = NULL;
  if (strcmp(pt_variant(json_array_get(list, k), &tensor), "as_tensor")) return "";
  return pt_words(json_object_get(tensor, "name"));
}

/* Names in a subgraph have their own scope: the same item under the inner name, so that views and
 * writes are shared. */
static hone_status bind_name(struct pt_op *op, struct names *names, const char *name,
                             struct pt_item *item) {
  const char *copy;
  bool fresh;
  if (!*name) return pt_refuse(op, "with a subgraph input or output that is not a tensor");
  TRY(name_copy(op->ctx, op->pt->arena, (const uint8_t *)name, strlen(name), 0, "a name", &copy));
  TRY(names_add(op->ctx, names, copy, item, &fresh));
  if (fresh) return HONE_OK;
  return fail(op->ctx, HONE_E_FORMAT, place_name(copy), "duplicate: defined twice");
}

static hone_status add_inner_nodes(struct pt_op *op, const json_t *nodes) {
  const struct graph_builder outer = *op->b;
  for (size_t i = 0; i < json_array_size(nodes); i++) {
    const json_t *node = json_array_get(nodes, i);
    const char *target = pt_target(node), *plain;
    TRY(pt_plain_target(op->pt, target, &plain));
    if (plain) return pt_refuse(op, "with an in-place write (%s) in a subgraph", target);
    TRY(pt_add_node(op->pt, node, (size_t)outer.index));
  }
  *op->b = outer;
  return HONE_OK;
}

struct items {
  struct pt_item **at;
  size_t count;
};

/* Inlines the graph's nodes into `into`, with these items as its inputs; returns its outputs. */
static hone_status call(struct pt_op *op, const json_t *graph, const struct items *given,
                        struct graph *into, struct items *out) {
  struct pt *pt = op->pt;
  struct names outer = pt->items;
  const json_t *values = pt->values;
  struct graph *around = op->b->graph;
  const json_t *inputs = json_object_get(graph, "inputs"),
               *outputs = json_object_get(graph, "outputs");
  out->count = json_array_size(outputs);
  if (json_array_size(inputs) != given->count)
    return fail(op->ctx, HONE_E_FORMAT, pt_place(op),
                "its graph has another number of inputs or outputs than the node");
  if (pt->depth == MOST_DEPTH) return pt_refuse(op, "with subgraphs nested %d deep", MOST_DEPTH);
  pt->called += 1 + (int64_t)json_array_size(json_object_get(graph, "nodes"));
  if (pt->called > op->ctx->limits[LIMIT_called_nodes]) /* scans of constant rows within scans */
    return fail(op->ctx, HONE_E_LIMIT, pt_place(op),
                "more than %lld nodes in unrolled scans (limit called_nodes)",
                (long long)op->ctx->limits[LIMIT_called_nodes]);
  TRY(NEW_ARRAY(op->ctx, pt->arena, out->at, out->count + 1));
  struct names inner;
  names_init(&inner, pt->arena);
  for (size_t i = 0; i < given->count; i++)
    TRY(bind_name(op, &inner, tensor_at(inputs, i), given->at[i]));
  pt->items = inner;
  pt->values = json_object_get(graph, "tensor_values");
  op->b->graph = into;
  pt->depth++;
  TRY(add_inner_nodes(op, json_object_get(graph, "nodes")));
  for (size_t i = 0; i < out->count; i++) {
    out->at[i] = names_find(&pt->items, tensor_at(outputs, i));
    if (!out->at[i] || !out->at[i]->value)
      return fail(op->ctx, HONE_E_FORMAT, pt_place(op), "its graph does not make its output %zu",
                  i); /* and no node of a subgraph writes, so the item is unchanged */
  }
  pt->depth--;
  op->b->graph = around;
  pt->values = values;
  pt->items = outer;
  return HONE_OK;
}

/* The results are the same items under the caller's names, and share storage. */
static hone_status define_results(struct pt_op *op, const struct items *results) {
  if (results->count != pt_result_count(op))
    return fail(op->ctx, HONE_E_FORMAT, pt_place(op),
                "its graph has another number of inputs or outputs than the node");
  for (size_t i = 0; i < results->count; i++)
    TRY(bind_name(op, &op->pt->items, tensor_at(op->outputs, i), results->at[i]));
  return HONE_OK;
}

static const char *operand(const struct pt_op *op, size_t k, json_t **out) {
  return pt_variant(json_object_get(json_array_get(op->inputs, k), "arg"), out);
}

/* Gradient modes have no effect; autocast (parameter 1) is accepted only if it is off. */
hone_status build_wrapped(struct pt_op *op) {
  json_t *wrapped = NULL, *off = NULL;
  struct items given, results;
  size_t first = 0, count = json_array_size(op->inputs);
  for (const char *kind = ""; first < count && strcmp(kind, "as_graph"); first++)
    kind = operand(op, first, &wrapped);
  /* its name */
  if (first < count && !strcmp(operand(op, first, &off), "as_string")) first++;
  if (op->parameter) {
    operand(op, 2, &off);
    if (!json_is_false(off)) return pt_refuse(op, "with autocast on");
  }
  given.count = count - first;
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, given.at, given.count + 1));
  for (size_t i = 0; i < given.count; i++) {
    json_t *tensor = NULL;
    operand(op, first + i, &tensor);
    TRY(pt_find(op->pt, pt_place(op), pt_words(json_object_get(tensor, "name")), &given.at[i]));
  }
  TRY(call(op, json_object_get(wrapped, "graph"), &given, op->b->graph, &results));
  return define_results(op, &results);
}

/* -- branches and loops */

/* Room for the tensors in `count` operands from `first` on. */
static hone_status new_items(struct pt_op *op, size_t first, size_t count, struct items *out) {
  size_t most = 1;
  for (size_t k = first; k < first + count; k++) {
    json_t *list = NULL;
    operand(op, k, &list);
    most += json_array_size(list);
  }
  *out = (struct items){0};
  return NEW_ARRAY(op->ctx, op->pt->arena, out->at, most);
}

/* Appends copies of the items in operand k: changes within a branch do not leave it. */
static hone_status read_list(struct pt_op *op, size_t k, struct items *out) {
  json_t *list = NULL;
  const char *kind = operand(op, k, &list);
  const size_t count = json_array_size(list);
  if (!json_is_array(list) || (count && strcmp(kind, "as_tensors")))
    return pt_refuse(op, "with an operand that is not a tensor (%s)", kind);
  if (count > MOST_VALUES - out->count) return pt_refuse(op, "of %zu tensors", count);
  for (size_t i = 0; i < count; i++) {
    struct pt_item *item, *copy;
    TRY(pt_find(op->pt, pt_place(op), pt_words(json_object_get(json_array_get(list, i), "name")),
                &item));
    if (!item->value) return pt_refuse(op, "with a number among its tensors");
    TRY(pt_refresh(op, item));
    op->reads_open |= value_is_open(item->value);
    TRY(NEW(op->ctx, op->pt->arena, copy));
    *copy = (struct pt_item){.value = item->value, .is_complex = item->is_complex};
    out->at[out->count++] = copy;
  }
  return HONE_OK;
}

static hone_status read_graph(struct pt_op *op, size_t k, const json_t **out) {
  json_t *graph = NULL;
  const char *kind = operand(op, k, &graph);
  *out = json_object_get(graph, "graph");
  if (!strcmp(kind, "as_graph") && *out) return HONE_OK;
  return fail(op->ctx, HONE_E_FORMAT, pt_place(op), "argument %zu of %s is not a graph", k,
              op->target);
}

/* A scalar boolean. */
static hone_status as_condition(struct pt_op *op, struct value *x, struct value **out) {
  if (make_elements(x) != 1)
    return pt_refuse(op, "with a condition of %lld elements", (long long)make_elements(x));
  BUILD(op->b, x = x_cast(op->b, x, HONE_BOOL));
  if (x->shape.rank) BUILD(op->b, x = x_reshape(op->b, x, NULL, 0));
  *out = x;
  return HONE_OK;
}

/* A constant of the file, or a tensor; a number is a constant. */
static hone_status read_condition(struct pt_op *op, struct value **out) {
  json_t *said = NULL;
  struct pt_item *item = NULL;
  const char *kind = operand(op, 0, &said);
  if (!strncmp(kind, "as_sym_", 7)) kind = pt_variant(said, &said);
  const char *name = !strcmp(kind, "as_tensor") ? pt_words(json_object_get(said, "name"))
                     : !strcmp(kind, "as_name") ? pt_words(said)
                                                : "";
  if (*name) {
    TRY(pt_find(op->pt, pt_place(op), name, &item));
    if (item->value) TRY(pt_refresh(op, item));
    op->reads_open_number |= item->is_open;
  } else if (!json_is_boolean(said)) {
    return pt_refuse(op, "with a condition of kind %s", kind);
  }
  if (item && item->value) return as_condition(op, item->value, out);
  return x_give(op->b, out,
                x_scalar(op->b, HONE_BOOL, item ? item->number != 0 : json_is_true(said)));
}

static hone_status end_branch(struct pt_op *op, struct graph *made, const struct items *results) {
  for (size_t i = 0; i < results->count; i++)
    TRY(make_subgraph_output(op->b, made, results->at[i]->value));
  return HONE_OK;
}

static hone_status define_outputs(struct pt_op *op, struct value *const *outputs,
                                  const struct items *as) {
  for (size_t i = 0; i < as->count; i++)
    TRY(as->at[i]->is_complex ? pt_complex_result(op, i, outputs[i])
                              : pt_result(op, i, outputs[i]));
  return HONE_OK;
}

/* condition, graph if true, graph if false, operands of both */
hone_status build_cond(struct pt_op *op) {
  static const char *const names[] = {"then_branch", "else_branch"};
  struct value *condition;
  struct items given = {0}, results[2];
  const json_t *graphs[2];
  struct graph *made[2];
  struct node *node;
  for (size_t k = 0; k < 2; k++) TRY(read_graph(op, k + 1, &graphs[k]));
  TRY(read_condition(op, &condition));
  TRY(new_items(op, 3, 1, &given));
  TRY(read_list(op, 3, &given));
  if (condition->constant) {
    const size_t taken = tensor_i64(condition->constant, 0) == 0;
    TRY(call(op, graphs[taken], &given, op->b->graph, &results[0]));
    return define_results(op, &results[0]);
  }
  for (size_t k = 0; k < 2; k++) {
    TRY(make_subgraph(op->b, &made[k]));
    TRY(call(op, graphs[k], &given, made[k], &results[k]));
    TRY(end_branch(op, made[k], &results[k]));
  }
  const size_t count = results[0].count;
  if (count != results[1].count || count != pt_result_count(op))
    return fail(op->ctx, HONE_E_FORMAT, pt_place(op), "its branches have %zu and %zu results",
                count, results[1].count);
  for (size_t i = 0; i < count; i++)
    if (results[0].at[i]->is_complex != results[1].at[i]->is_complex)
      return pt_refuse(op, "with branches that return real and complex results");
  TRY(make_holder(op->b, OP_If, VALUES(condition), names, made, 2, count, &node));
  return define_outputs(op, node->outputs, &results[0]);
}

/* The body's inputs: the iteration, the condition, and the loop-carried values. */
static hone_status open_body(struct pt_op *op, const struct items *carried, struct graph **out,
                             struct items *inner) {
  static const struct shape scalar = {0};
  struct value *ignored;
  TRY(make_subgraph(op->b, out));
  TRY(graph_input(op->ctx, *out, NULL, HONE_I64, &scalar, &ignored));
  TRY(graph_input(op->ctx, *out, NULL, HONE_BOOL, &scalar, &ignored));
  for (size_t i = 0; i < inner->count; i++) {
    struct pt_item *item;
    TRY(NEW(op->ctx, op->pt->arena, item));
    *item = *inner->at[i];
    inner->at[i] = item;
    if (i < carried->count)
      TRY(graph_input(op->ctx, *out, NULL, item->value->dtype, &item->value->shape, &item->value));
  }
  return HONE_OK;
}

static hone_status ask(struct pt_op *op, const json_t *graph, const struct items *given,
                       struct graph *into, struct value **out) {
  struct graph *around = op->b->graph;
  struct items goes;
  TRY(call(op, graph, given, into, &goes));
  if (goes.count != 1)
    return fail(op->ctx, HONE_E_FORMAT, pt_place(op), "a condition with %zu results", goes.count);
  op->b->graph = into;
  TRY(as_condition(op, goes.at[0]->value, out));
  op->b->graph = around;
  return HONE_OK;
}

/* graph of the condition, graph of an iteration, loop-carried values, other values that both
 * read */
hone_status build_while(struct pt_op *op) {
  static const char *const names[] = {"body"};
  struct items carried = {0}, inner, after;
  const json_t *graphs[2];
  struct graph *body;
  struct node *node;
  struct value **inputs, *goes;
  for (size_t k = 0; k < 2; k++) TRY(read_graph(op, k, &graphs[k]));
  TRY(new_items(op, 2, 2, &carried));
  TRY(read_list(op, 2, &carried));
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, inputs, carried.count + 2));
  struct items all = carried;
  TRY(read_list(op, 3, &all));
  TRY(ask(op, graphs[0], &all, op->b->graph, &inputs[1]));
  for (size_t i = 0; i < carried.count; i++) inputs[2 + i] = carried.at[i]->value;
  inner.count = all.count;
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, inner.at, all.count + 1));
  memcpy(inner.at, all.at, all.count * sizeof *all.at);
  TRY(open_body(op, &carried, &body, &inner));
  TRY(call(op, graphs[1], &inner, body, &after));
  if (after.count != carried.count || after.count != pt_result_count(op))
    return fail(op->ctx, HONE_E_FORMAT, pt_place(op),
                "an iteration with %zu loop-carried tensors returns %zu", carried.count,
                after.count);
  memcpy(inner.at, after.at, after.count * sizeof *after.at);
  TRY(ask(op, graphs[0], &inner, body, &goes));
  TRY(make_subgraph_output(op->b, body, goes));
  TRY(end_branch(op, body, &after));
  TRY(make_holder(op->b, OP_Loop, inputs, carried.count + 2, names, &body, 1, carried.count,
                  &node));
  return define_outputs(op, node->outputs, &carried);
}

/* -- scans: a graph applied to each row */

/* The inputs of the graph: values carried from row to row, then a row of each scanned tensor, then
 * values shared by all rows. */
struct rows {
  const json_t *graph;
  struct items given;
  size_t carried, scanned;
  int64_t count;
};

static int row_rank(const struct pt_item *item) {
  return item->value->shape.rank - item->is_complex;
}

/* Arguments from `first` on: scanned tensors, shared tensors. */
static hone_status read_rows(struct pt_op *op, size_t first, struct rows *rows) {
  TRY(read_list(op, first, &rows->given));
  rows->scanned = rows->given.count - rows->carried;
  TRY(read_list(op, first + 1, &rows->given));
  for (size_t i = 0; i < rows->scanned; i++) {
    const struct pt_item *item = rows->given.at[rows->carried + i];
    const int64_t count = row_rank(item) > 0 ? item->value->shape.dims[0] : 0;
    if (i ? count != rows->count : !count)
      return pt_refuse(op, "of tensors without rows, or with different numbers of rows");
    rows->count = count;
  }
  if (rows->scanned) return HONE_OK;
  return fail(op->ctx, HONE_E_FORMAT, pt_place(op), "%s scans nothing", op->target);
}

/* The graph's inputs for row `at`. */
static hone_status take_row(struct pt_op *op, const struct rows *rows,
                            struct pt_item *const *carried, struct value *at, struct items *out) {
  out->count = rows->given.count;
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, out->at, out->count + 1));
  for (size_t i = 0; i < out->count; i++) {
    const struct pt_item *from = i < rows->carried ? carried[i] : rows->given.at[i];
    struct pt_item *item;
    TRY(NEW(op->ctx, op->pt->arena, item));
    *item = (struct pt_item){.value = from->value, .is_complex = from->is_complex};
    if (i >= rows->carried && i < rows->carried + rows->scanned)
      BUILD(op->b, item->value = x_gather(op->b, item->value, at, 0));
    out->at[i] = item;
  }
  return HONE_OK;
}

static hone_status call_row(struct pt_op *op, const struct rows *rows, const struct items *row,
                            struct graph *into, struct items *after) {
  TRY(call(op, rows->graph, row, into, after));
  if (after->count == pt_result_count(op) && after->count >= rows->carried) return HONE_OK;
  return fail(op->ctx, HONE_E_FORMAT, pt_place(op), "a row with %zu carried tensors returns %zu",
              rows->carried, after->count);
}

/* Few rows: unrolled. */
static hone_status write_rows(struct pt_op *op, const struct rows *rows) {
  static const int64_t first[] = {0};
  const size_t results = pt_result_count(op), room = results ? results : 1;
  struct value *axes, *at, **parts, **out;
  struct items row, after = rows->given;
  BUILD(op->b, axes = x_list(op->b, first, 1));
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, parts, WRITTEN_OUT * room));
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, out, room));
  for (int64_t t = 0; t < rows->count; t++) {
    BUILD(op->b, at = x_scalar(op->b, HONE_I64, (double)t));
    TRY(take_row(op, rows, after.at, at, &row));
    TRY(call_row(op, rows, &row, op->b->graph, &after));
    for (size_t k = rows->carried; k < results; k++)
      BUILD(op->b, parts[k * WRITTEN_OUT + (size_t)t] =
                       x_2(op->b, OP_Unsqueeze, after.at[k]->value, axes));
  }
  for (size_t k = 0; k < results; k++) {
    out[k] = after.at[k]->value;
    if (k >= rows->carried)
      BUILD(op->b, out[k] = x_concat(op->b, 0, &parts[k * WRITTEN_OUT], (size_t)rows->count));
  }
  return define_outputs(op, out, &after);
}

static hone_status loop_rows(struct pt_op *op, const struct rows *rows) {
  static const char *const names[] = {"body"};
  struct graph *around = op->b->graph, *body;
  struct items inner = rows->given, row, after;
  struct value **inputs;
  struct node *node;
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, inputs, rows->carried + 2));
  BUILD(op->b, inputs[0] = x_scalar(op->b, HONE_I64, (double)rows->count));
  for (size_t i = 0; i < rows->carried; i++) inputs[2 + i] = rows->given.at[i]->value;
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, inner.at, inner.count + 1));
  memcpy(inner.at, rows->given.at, inner.count * sizeof *inner.at);
  const struct items carried = {rows->given.at, rows->carried};
  TRY(open_body(op, &carried, &body, &inner));
  op->b->graph = body;
  TRY(take_row(op, rows, inner.at, body->inputs.at[0], &row));
  op->b->graph = around;
  TRY(call_row(op, rows, &row, body, &after));
  TRY(make_subgraph_output(op->b, body, body->inputs.at[1]));
  TRY(end_branch(op, body, &after));
  TRY(make_holder(op->b, OP_Loop, inputs, rows->carried + 2, names, &body, 1, after.count, &node));
  return define_outputs(op, node->outputs, &after);
}

/* map: the graph, mapped tensors, shared tensors; scan (parameter 1) has the initial carried values
 * before these. */
hone_status build_rows(struct pt_op *op) {
  struct rows rows = {0};
  TRY(read_graph(op, 0, &rows.graph));
  TRY(new_items(op, 1, 2 + (size_t)op->parameter, &rows.given));
  if (op->parameter) TRY(read_list(op, 1, &rows.given));
  rows.carried = rows.given.count;
  TRY(read_rows(op, 1 + (size_t)op->parameter, &rows));
  return (rows.count <= WRITTEN_OUT ? write_rows : loop_rows)(op, &rows);
}

/* -- associative scans */

static hone_status slice_each(struct pt_op *op, const struct items *of, int64_t start, int64_t end,
                              int64_t step, struct items *out) {
  out->count = of->count;
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, out->at, of->count + 1));
  for (size_t i = 0; i < of->count; i++) {
    TRY(NEW(op->ctx, op->pt->arena, out->at[i]));
    out->at[i]->is_complex = of->at[i]->is_complex;
    BUILD(op->b, out->at[i]->value = pt_slice(op, of->at[i]->value, 0, start, end, step));
  }
  return HONE_OK;
}

/* Applies the graph to each row of `before` and its neighbour in `later` at once, so it must be
 * elementwise. */
static hone_status join(struct pt_op *op, const struct rows *rows, const struct items *before,
                        const struct items *later, struct items *out) {
  const struct items *const parts[] = {
      before, later,
      &(struct items){rows->given.at + rows->scanned, rows->given.count - rows->scanned}};
  struct items given = {0};
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, given.at, rows->given.count + rows->scanned));
  for (size_t p = 0; p < COUNT(parts); p++)
    for (size_t i = 0; i < parts[p]->count; i++) given.at[given.count++] = parts[p]->at[i];
  TRY(call(op, rows->graph, &given, op->b->graph, out));
  bool is_like = out->count == rows->scanned;
  for (size_t i = 0; is_like && i < out->count; i++)
    is_like = out->at[i]->is_complex == before->at[i]->is_complex &&
              out->at[i]->value->dtype == before->at[i]->value->dtype &&
              shape_equal(&out->at[i]->value->shape, &before->at[i]->value->shape);
  return is_like ? HONE_OK : pt_refuse(op, "with a graph that changes shapes or types");
}

/* Rows of `even` and `odd`, interleaved. */
static hone_status interleave(struct pt_op *op, const struct items *even, const struct items *odd,
                              int64_t count, struct items *out) {
  int64_t *order;
  struct value *places;
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, order, (size_t)count));
  for (int64_t i = 0; i < count; i++) order[i] = i / 2 + i % 2 * (count - count / 2);
  BUILD(op->b, places = x_list(op->b, order, (size_t)count));
  for (size_t i = 0; i < even->count; i++)
    BUILD(op->b,
          even->at[i]->value = x_gather(
              op->b, x_concat(op->b, 0, VALUES(even->at[i]->value, odd->at[i]->value)), places, 0));
  *out = *even;
  return HONE_OK;
}

/* The remaining rows: each finished row combined with its successor; the first row is finished from
 * the start. */
static hone_status join_between(struct pt_op *op, const struct rows *rows,
                                const struct items *level, int64_t count, const struct items *done,
                                struct items *out) {
  struct items before, later, joined;
  TRY(slice_each(op, level, 0, 1, 1, out));
  if (count < 3) return HONE_OK;
  TRY(slice_each(op, done, 0, (count - 1) / 2, 1, &before));
  TRY(slice_each(op, level, 2, count, 2, &later));
  TRY(join(op, rows, &before, &later, &joined));
  for (size_t i = 0; i < out->count; i++)
    BUILD(op->b,
          out->at[i]->value = x_concat(op->b, 0, VALUES(out->at[i]->value, joined.at[i]->value)));
  return HONE_OK;
}

/* The graph, scanned tensors, shared tensors. In PyTorch's order: neighbours are combined until one
 * row is left, then the rows between are completed. */
hone_status build_associative_scan(struct pt_op *op) {
  struct rows rows = {0};
  struct items level[64], before, later, between;
  int depth = 0;
  TRY(read_graph(op, 0, &rows.graph));
  TRY(new_items(op, 1, 2, &rows.given));
  TRY(read_rows(op, 1, &rows));
  level[0] = (struct items){rows.given.at, rows.scanned};
  for (; rows.count >> depth > 1; depth++) {
    const int64_t count = rows.count >> depth;
    TRY(slice_each(op, &level[depth], 0, count - 1, 2, &before));
    TRY(slice_each(op, &level[depth], 1, count, 2, &later));
    TRY(join(op, &rows, &before, &later, &level[depth + 1]));
  }
  struct items done = level[depth];
  while (depth-- > 0) {
    TRY(join_between(op, &rows, &level[depth], rows.count >> depth, &done, &between));
    TRY(interleave(op, &between, &done, rows.count >> depth, &done));
  }
  if (done.count != pt_result_count(op))
    return fail(op->ctx, HONE_E_FORMAT, pt_place(op), "%zu results of %zu", pt_result_count(op),
                done.count);
  struct value **outputs;
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, outputs, done.count));
  for (size_t i = 0; i < done.count; i++) outputs[i] = done.at[i]->value;
  return define_outputs(op, outputs, &done);
}
