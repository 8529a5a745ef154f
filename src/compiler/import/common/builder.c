/* builder: nodes with inputs, attributes and inferred outputs, for readers that translate each
 * operator of their format to one or more ONNX operators. Small constant results are folded at
 * once, so that shapes computed in the file are known when the next operator is read. */
#include "builder.h"

enum { FOLD_ELEMENTS = 4096 };

struct place make_place(const struct make *make) {
  return make->index < 0 ? place_name(make->name)
                         : place_of_node(make->index, make->name, make->written_as);
}

void make_sign(const struct make *make, struct node *node) {
  node->index = make->index;
  node->name = make->name;
  node->written_as = make->index < 0 ? NULL : make->written_as;
}

hone_status make_refuse(const struct make *make, const char *kind, const char *name,
                        const char *format, va_list args) {
  char text[256];
  vsnprintf(text, sizeof text, format, args);
  return fail(make->ctx, HONE_E_UNSUP, make_place(make), "%s operator %s %s is not supported", kind,
              name, text);
}

static hone_status set_args(struct make *make, struct node *node, const struct arg *args) {
  struct ctx *ctx = make->ctx;
  for (; args && args->name; args++) switch (args->kind) {
      case ARG_INT:
        TRY(node_set_int(ctx, make->graph, node, args->name, args->i));
        break;
      case ARG_FLOAT:
        TRY(node_set_float(ctx, make->graph, node, args->name, args->f));
        break;
      case ARG_INTS:
        TRY(node_set_ints(ctx, make->graph, node, args->name, args->ints, args->count));
        break;
      case ARG_STRING:
        TRY(node_set_string(ctx, make->graph, node, args->name, args->s));
        break;
      default: /* ARG_STRINGS */
        TRY(node_set(ctx, make->graph, node,
                     &(struct attribute){.name = args->name,
                                         .kind = ATTRIBUTE_STRINGS,
                                         .count = args->count,
                                         .strings = args->strings}));
        break;
    }
  return HONE_OK;
}

int64_t make_elements(const struct value *x) {
  int64_t count = 0;
  return shape_count(&x->shape, &count) ? count : 0;
}

static bool is_small(struct value *const *outs, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (make_elements(outs[i]) > FOLD_ELEMENTS) return false;
  return true;
}

hone_status make_nodes(struct make *make, enum op_id id, struct value *const *inputs,
                       size_t input_count, const struct arg *args, size_t output_count,
                       struct value **outs) {
  struct node *node;
  struct ctx *ctx = make->ctx;
  if ((int64_t)make->graph->nodes.count >= ctx->limits[LIMIT_nodes])
    return fail(ctx, HONE_E_LIMIT, make_place(make), "more than %lld nodes (limit nodes)",
                (long long)ctx->limits[LIMIT_nodes]);
  while (input_count && !inputs[input_count - 1]) input_count--;
  TRY(graph_node(ctx, make->graph, &op_table[id], inputs, input_count, output_count, &node));
  make_sign(make, node);
  TRY(set_args(make, node, args));
  bool expanded = false;
  size_t at = make->graph->nodes.count - 1;
  TRY(node_expand(ctx, make->graph, node, outs, &expanded));
  if (expanded) { /* its expansion follows it in the list, so the node is removed */
    memmove(&make->graph->nodes.at[at], &make->graph->nodes.at[at + 1],
            (--make->graph->nodes.count - at) * sizeof *make->graph->nodes.at);
    return HONE_OK;
  }
  TRY(node_infer(ctx, make->graph, node));
  for (size_t i = 0; i < output_count; i++) outs[i] = node->outputs[i];
  bool folded = false;
  if (is_small(outs, output_count)) TRY(node_fold(ctx, make->graph, node, &folded));
  if (folded) make->graph->nodes.count--;
  return HONE_OK;
}

hone_status make_node(struct make *make, enum op_id id, struct value *const *inputs,
                      size_t input_count, const struct arg *args, struct value **out) {
  return make_nodes(make, id, inputs, input_count, args, 1, out);
}

/* -- constants */

hone_status make_ints(struct make *make, const int64_t *ints, size_t count, struct value **out) {
  return graph_ints(make->ctx, make->graph, ints, count, out);
}

hone_status make_numbers(struct make *make, hone_dtype dtype, const struct shape *shape,
                         const double *numbers, struct value **out) {
  TRY(graph_new_constant(make->ctx, make->graph, dtype, shape, out));
  const struct tensor *tensor = (*out)->constant;
  const size_t count = tensor_count(tensor);
  for (size_t i = 0; i < count; i++) {
    if (dtype_is_float(dtype))
      tensor_set_f64(tensor, i, numbers[i]);
    else if (!(numbers[i] >= -0x1p63 && numbers[i] < 0x1p63))
      return fail(make->ctx, HONE_E_NUM, make_place(make), "%g as an integer", numbers[i]);
    else
      tensor_set_i64(tensor, i, (int64_t)numbers[i]);
  }
  return HONE_OK;
}

hone_status make_scalar(struct make *make, hone_dtype dtype, double x, struct value **out) {
  struct shape shape = {.rank = 0};
  return make_numbers(make, dtype, &shape, &x, out);
}

/* -- operators that all readers need */

hone_status make_transpose(struct make *make, struct value *x, const int64_t *perm,
                           struct value **out) {
  return make_node(make, OP_Transpose, VALUES(x),
                   ARGS(INTS_ARG("perm", perm, (size_t)x->shape.rank)), out);
}

hone_status make_reshape(struct make *make, struct value *x, const int64_t *dims, size_t rank,
                         struct value **out) {
  struct value *shape;
  TRY(make_ints(make, dims, rank, &shape));
  return make_node(make, OP_Reshape, VALUES(x, shape), ARGS(INT_ARG("allowzero", 1)), out);
}

hone_status make_expand(struct make *make, struct value *x, const int64_t *dims, size_t rank,
                        struct value **out) {
  struct value *shape;
  TRY(make_ints(make, dims, rank, &shape));
  return make_node(make, OP_Expand, VALUES(x, shape), NULL, out);
}

hone_status make_cast(struct make *make, struct value *x, hone_dtype dtype, struct value **out) {
  *out = x;
  if (x->dtype == dtype) return HONE_OK;
  return make_node(make, OP_Cast, VALUES(x), ARGS(INT_ARG("to", (int64_t)dtype)), out);
}

hone_status make_with_scalar(struct make *make, enum op_id id, struct value *x, double y,
                             struct value **out) {
  struct value *scalar;
  TRY(make_scalar(make, x->dtype, y, &scalar));
  return make_node(make, id, VALUES(x, scalar), NULL, out);
}

hone_status make_graph_output(struct make *make, struct value *value, const char *name) {
  if (value->is_input || value->is_output || value->constant) {
    struct node *node;
    TRY(graph_node(make->ctx, make->graph, &op_table[OP_Identity], &value, 1, 1, &node));
    TRY(node_infer(make->ctx, make->graph, node));
    value = node->outputs[0];
  }
  if (name) value->name = name;
  return graph_output(make->ctx, make->graph, value);
}

/* -- subgraphs */

hone_status make_subgraph(struct make *make, struct graph **out) {
  TRY(graph_create(make->ctx, make->graph->arena, out));
  (*out)->parent = make->graph;
  return HONE_OK;
}

hone_status make_subgraph_output(struct make *make, struct graph *made, struct value *value) {
  struct graph *outer = make->graph;
  make->graph = made;
  if (!graph_owns(made, value)) TRY(make_node(make, OP_Identity, VALUES(value), NULL, &value));
  TRY(make_graph_output(make, value, NULL));
  make->graph = outer;
  return HONE_OK;
}

hone_status make_holder(struct make *make, enum op_id id, struct value *const *inputs,
                        size_t input_count, const char *const *names, struct graph *const *made,
                        size_t name_count, size_t output_count, struct node **out) {
  TRY(graph_node(make->ctx, make->graph, &op_table[id], inputs, input_count, output_count, out));
  make_sign(make, *out);
  for (size_t i = 0; i < name_count; i++) {
    const struct attribute attribute = {
        .name = names[i], .kind = ATTRIBUTE_GRAPH, .graph = made[i]};
    TRY(node_set(make->ctx, make->graph, *out, &attribute));
  }
  return id == OP_If ? graph_infer_last_if(make->ctx, make->graph)
                     : node_infer(make->ctx, make->graph, *out);
}
