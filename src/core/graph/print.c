/* The text form of a graph (grammar: parse.c). Deterministic; bytes of names outside printable
 * ASCII are escaped, so the output is safe to show. Subgraphs are visited with a stack, without
 * recursion. */
#include "graph.h"

#include <math.h>

enum { SHOWN_ELEMENTS = 16 };

struct open_graph {
  const struct graph *graph;
  size_t node, attribute; /* where to continue */
};
struct printer {
  struct ctx *ctx;
  struct arena *scratch;
  struct strbuf *text;
  name_op_fn *names;
  bool with_data;
  VEC(struct open_graph) stack;
};

static void put_quoted(struct strbuf *text, const char *bytes, size_t length) {
  strbuf_puts(text, "\"");
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)bytes[i];
    if (c == '"' || c == '\\')
      strbuf_printf(text, "\\%c", c);
    else if (c >= 0x20 && c < 0x7f)
      strbuf_append(text, &bytes[i], 1);
    else
      strbuf_printf(text, "\\x%02x", c);
  }
  strbuf_puts(text, "\"");
}

static void put_name(struct strbuf *text, const char *name) {
  size_t length = strlen(name);
  if (length && strspn(name, GRAPH_NAME_BYTES) == length && !strchr("0123456789.", name[0]))
    strbuf_puts(text, name);
  else
    put_quoted(text, name, length);
}

static void put_value_name(struct strbuf *text, const struct value *value) {
  if (value)
    put_name(text, value->name);
  else
    strbuf_puts(text, "-");
}

/* The shortest decimal that reads back as the same float; always with a point or an exponent. */
static void put_number(struct strbuf *text, double x, bool is_float, const char *suffix) {
  char buffer[32];
  double back;
  if (!is_float || !isfinite(x)) {
    format_f64(buffer, x);
  } else {
    for (int digits = 6; digits <= 9; digits++) {
      snprintf(buffer, sizeof buffer, "%.*g", digits, x);
      for (char *p = buffer; *p; p++)
        if (*p == ',') *p = '.';
      if (parse_f64(buffer, -INFINITY, INFINITY, &back) && (float)back == (float)x) break;
    }
  }
  strbuf_puts(text, buffer);
  if (isfinite(x) && !strpbrk(buffer, ".e")) strbuf_puts(text, ".0");
  if (parse_f64(buffer, -INFINITY, INFINITY, &back) && back != x) strbuf_puts(text, suffix);
}

/* An attribute's float: exact; "1e-05f" means the float nearest to 1e-05. */
static void put_float(struct strbuf *text, double x) {
  put_number(text, x, isfinite(x) && (double)(float)x == x, "f");
}

static void put_type(struct strbuf *text, hone_dtype dtype, const struct shape *shape) {
  strbuf_puts(text, dtype_name(dtype));
  if (shape) shape_print(text, shape);
}

static void put_element(struct strbuf *text, const struct tensor *tensor, size_t i) {
  if (tensor->dtype == HONE_STRING) {
    const struct string *string = (const struct string *)tensor->data + i;
    put_quoted(text, string->bytes, string->length);
  } else if (dtype_is_float(tensor->dtype)) {
    put_number(text, tensor_f64(tensor, i), tensor->dtype != HONE_F64, "");
  } else if (tensor->dtype == HONE_U64) {
    strbuf_printf(text, "%llu", (unsigned long long)tensor_i64(tensor, i));
  } else {
    strbuf_printf(text, "%lld", (long long)tensor_i64(tensor, i));
  }
}

static void put_elements(struct strbuf *text, const struct tensor *tensor) {
  size_t count = tensor_count(tensor);
  strbuf_puts(text, "[");
  for (size_t i = 0; i < count; i++) {
    if (i) strbuf_puts(text, ", ");
    put_element(text, tensor, i);
  }
  strbuf_puts(text, "]");
}

static void put_tensor(const struct printer *p, const struct tensor *tensor) {
  char hex[33];
  strbuf_puts(p->text, "const ");
  put_type(p->text, tensor->dtype, &tensor->shape);
  strbuf_puts(p->text, " ");
  if (p->with_data || tensor_count(tensor) <= SHOWN_ELEMENTS) {
    put_elements(p->text, tensor);
    return;
  }
  if (tensor->dtype == HONE_STRING) { /* its payload holds pointers: hash the strings */
    struct strbuf listed = {0};
    put_elements(&listed, tensor);
    hash_hex(hex, listed.at ? listed.at : "", listed.length);
    strbuf_deinit(&listed);
  } else {
    hash_hex(hex, tensor->data, tensor->bytes);
  }
  strbuf_printf(p->text, "hash=%s", hex);
}

static void put_list(struct strbuf *text, const struct attribute *attribute) {
  static const char *const kinds[] = {
      [ATTRIBUTE_INTS] = "ints", [ATTRIBUTE_FLOATS] = "floats", [ATTRIBUTE_STRINGS] = "strings"};
  if (!attribute->count) strbuf_puts(text, kinds[attribute->kind]);
  strbuf_puts(text, "[");
  for (size_t i = 0; i < attribute->count; i++) {
    if (i) strbuf_puts(text, ",");
    if (attribute->kind == ATTRIBUTE_INTS)
      strbuf_printf(text, "%lld", (long long)attribute->ints[i]);
    else if (attribute->kind == ATTRIBUTE_FLOATS)
      put_float(text, attribute->floats[i]);
    else
      put_quoted(text, attribute->strings[i].bytes, attribute->strings[i].length);
  }
  strbuf_puts(text, "]");
}

/* All kinds except a graph. */
static void put_attribute(const struct printer *p, const struct attribute *attribute) {
  strbuf_puts(p->text, " ");
  put_name(p->text, attribute->name);
  strbuf_puts(p->text, "=");
  switch (attribute->kind) {
    case ATTRIBUTE_INT:
      strbuf_printf(p->text, "%lld", (long long)attribute->i);
      break;
    case ATTRIBUTE_FLOAT:
      put_float(p->text, attribute->f);
      break;
    case ATTRIBUTE_STRING:
      put_quoted(p->text, attribute->s.bytes, attribute->s.length);
      break;
    case ATTRIBUTE_TENSOR:
      put_tensor(p, attribute->tensor);
      break;
    case ATTRIBUTE_INTS:
    case ATTRIBUTE_FLOATS:
    case ATTRIBUTE_STRINGS:
      put_list(p->text, attribute);
      break;
    case ATTRIBUTE_GRAPH:
      break;
  }
}

static void put_indent(const struct printer *p) {
  for (size_t i = 0; i < p->stack.count; i++) strbuf_puts(p->text, "  ");
}

/* A dynamic dimension as its extent's number and bound: "[3,?1<=64]". */
static void put_open_shape(struct strbuf *text, const struct value *value) {
  strbuf_puts(text, "[");
  for (int d = 0; d < value->shape.rank; d++) {
    if (d) strbuf_puts(text, ",");
    if (value->extents[d]) strbuf_printf(text, "?%u<=", value->extents[d]);
    strbuf_printf(text, "%lld", (long long)value->shape.dims[d]);
  }
  strbuf_puts(text, "]");
}

static void put_typed(struct strbuf *text, const struct value *value) {
  put_value_name(text, value);
  if (!value || !value->dtype) return;
  strbuf_puts(text, ": ");
  put_type(text, value->dtype, value->has_shape && !value_is_open(value) ? &value->shape : NULL);
  if (value_is_open(value)) put_open_shape(text, value);
}

static void put_constants(const struct printer *p, const struct graph *graph) {
  for (size_t i = 0; i < graph->values.count; i++) {
    const struct value *value = graph->values.at[i];
    if (!value->constant || value->producer) continue;
    put_indent(p);
    put_value_name(p->text, value);
    strbuf_puts(p->text, " = ");
    put_tensor(p, value->constant);
    strbuf_puts(p->text, "\n");
  }
}

static hone_status open_graph(struct printer *p, const struct graph *graph) {
  strbuf_puts(p->text, "graph");
  if (graph->name && graph->name[0]) {
    strbuf_puts(p->text, " ");
    put_name(p->text, graph->name);
  }
  strbuf_puts(p->text, "(");
  for (size_t i = 0; i < graph->inputs.count; i++) {
    if (i) strbuf_puts(p->text, ", ");
    put_typed(p->text, graph->inputs.at[i]);
  }
  strbuf_puts(p->text, ") -> (");
  for (size_t i = 0; i < graph->outputs.count; i++) {
    if (i) strbuf_puts(p->text, ", ");
    put_value_name(p->text, graph->outputs.at[i]);
  }
  strbuf_puts(p->text, graph->impossible ? ") impossible {\n" : ") {\n");
  VEC_PUSH(p->ctx, p->scratch, &p->stack, (struct open_graph){.graph = graph});
  put_constants(p, graph);
  return HONE_OK;
}

static void put_op(const struct printer *p, const struct op *op) {
  const char *domain = "", *name = "?";
  p->names(op, &domain, &name);
  strbuf_printf(p->text, "%s%s%s", domain, domain[0] ? "." : "", name);
}

static void put_head(const struct printer *p, const struct node *node) {
  put_indent(p);
  for (size_t i = 0; i < node->output_count; i++) {
    if (i) strbuf_puts(p->text, ", ");
    put_typed(p->text, node->outputs[i]);
  }
  strbuf_puts(p->text, " = ");
  put_op(p, node->op);
  strbuf_puts(p->text, "(");
  for (size_t i = 0; i < node->input_count; i++) {
    if (i) strbuf_puts(p->text, ", ");
    put_value_name(p->text, node->inputs[i]);
  }
  strbuf_puts(p->text, ")");
}

/* One step: the start of a node, one attribute, its end, or the end of a graph. */
static hone_status advance(struct printer *p) {
  struct open_graph *top = &p->stack.at[p->stack.count - 1];
  if (top->node == top->graph->nodes.count) {
    p->stack.count--;
    put_indent(p);
    strbuf_puts(p->text, p->stack.count ? "}" : "}\n");
    return HONE_OK;
  }
  const struct node *node = top->graph->nodes.at[top->node];
  if (!node) {
    top->node++;
    return HONE_OK;
  }
  if (top->attribute == 0) put_head(p, node);
  if (top->attribute == node->attribute_count) {
    strbuf_puts(p->text, "\n");
    top->attribute = 0;
    top->node++;
    return HONE_OK;
  }
  const struct attribute *attribute = &node->attributes[top->attribute++];
  if (attribute->kind != ATTRIBUTE_GRAPH) {
    put_attribute(p, attribute);
    return HONE_OK;
  }
  strbuf_puts(p->text, " ");
  put_name(p->text, attribute->name);
  strbuf_puts(p->text, "=");
  return open_graph(p, attribute->graph);
}

hone_status graph_print(struct ctx *ctx, struct strbuf *text, const struct graph *graph,
                        name_op_fn *names, const struct print_options *options) {
  struct printer p = {.ctx = ctx, .text = text, .names = names};
  p.with_data = options && options->with_data;
  TRY(arena_create(ctx, 0, &p.scratch));
  hone_status status = open_graph(&p, graph);
  while (!status && p.stack.count) status = advance(&p);
  arena_destroy(p.scratch);
  if (status) return status;
  return strbuf_finish(ctx, text);
}
