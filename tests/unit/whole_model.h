/* whole_model: one ONNX model with every feature of the format: tensors of every storage, sparse
 * tensors, sequences and optionals, branches that read outer values, functions with attributes,
 * defaults, overloads and omitted operands, attributes of every kind, and fields that no reader
 * needs. */
#ifndef HONE_WHOLE_MODEL_H
#define HONE_WHOLE_MODEL_H
#include "onnx_bytes.h"

/* The nodes of a graph as those of a function: field 1 becomes field 7. Frees the graph. */
static inline void put_body(struct buf *function, struct buf *graph) {
  for (size_t at = 0; at < graph->n;) {
    size_t length = 0, shift = 0;
    assert_int_equal(graph->at[at++], 0x0a);
    do {
      length |= (size_t)(graph->at[at] & 0x7f) << shift;
      shift += 7;
    } while (graph->at[at++] & 0x80);
    put_bytes(function, 7, graph->at + at, length);
    at += length;
  }
  free(graph->at);
  *graph = (struct buf){0};
}

static inline void put_opset(struct buf *b, uint32_t field, const char *domain, int64_t version) {
  struct buf import = {0};
  put_str(&import, 1, domain);
  put_int(&import, 2, version);
  put_msg(b, field, &import);
}

/* An attribute that stands for one of the call. */
static inline void attr_refers(struct buf *list, const char *name, const char *to, int type) {
  struct buf a = {0};
  put_str(&a, 1, name);
  put_str(&a, 21, to);
  put_int(&a, 20, type);
  put_msg(list, 5, &a);
}

static inline void attr_floats(struct buf *list, const char *name, const float *x, size_t count) {
  struct buf a = {0};
  put_str(&a, 1, name);
  put_bytes(&a, 7, x, count * sizeof *x); /* packed */
  put_int(&a, 20, 6);
  put_msg(list, 5, &a);
}

/* b = shift(a[, c]): b = LeakyRelu(a, alpha) + k, k by default 3; c is not read. */
static inline struct buf shift_function(const char *overload) {
  struct buf function = {0}, body = {0}, list = {0}, value = {0};
  put_str(&function, 1, "shift");
  put_str(&function, 4, "a");
  put_str(&function, 4, "c");
  put_str(&function, 5, "b");
  put_str(&function, 5, "same");
  put_str(&function, 6, "alpha");
  put_str(&function, 8, "text that nobody reads");
  put_str(&function, 10, "test");
  if (*overload) put_str(&function, 13, overload);
  put_opset(&function, 9, "", 18);
  put_opset(&function, 9, "test", 1);
  put_str(&value, 1, "k");
  put_f32(&value, 2, 3);
  put_int(&value, 20, 1);
  put_msg(&function, 11, &value);
  attr_refers(&list, "value_float", "k", 1);
  put_node(&body, "Constant", "", "number", &list);
  attr_refers(&list, "alpha", "alpha", 1);
  put_node(&body, "LeakyRelu", "a", "t", &list);
  put_node(&body, "Identity", "a", "same", NULL);
  put_node(&body, "Add", "t,number", "b", NULL);
  put_body(&function, &body);
  return function;
}

/* b = twice(a): shift of shift, with the default alpha. */
static inline struct buf twice_function(void) {
  struct buf function = {0}, body = {0}, list = {0};
  put_str(&function, 1, "twice");
  put_str(&function, 4, "a");
  put_str(&function, 5, "b");
  put_str(&function, 10, "test");
  put_opset(&function, 9, "ai.onnx", 18);
  put_opset(&function, 9, "test", 1);
  put_node_in(&body, "test", "shift", "a", "t", NULL);
  attr_float(&list, "k", 1);
  put_node_in(&body, "test", "shift", "t", "b", &list);
  put_body(&function, &body);
  return function;
}

static inline void put_tensors(struct buf *graph) {
  static const float raw[] = {1, 2, 3, 4};
  struct buf t = tensor_head("w", 1, (int64_t[]){2, 2}, 2), entry = {0};
  put_bytes(&t, 9, raw, sizeof raw);
  put_str(&t, 12, "text that nobody reads");
  put_msg(graph, 5, &t);
  t = tensor_head("listed", 1, (int64_t[]){2, 2}, 2);
  put_bytes(&t, 4, raw, sizeof raw); /* packed float_data */
  put_msg(graph, 5, &t);
  t = tensor_head("half", 10, (int64_t[]){2}, 1);
  put_int(&t, 5, 0x3c00);
  put_int(&t, 5, 0x4000);
  put_msg(graph, 5, &t);
  t = tensor_head("long", 7, (int64_t[]){2}, 1);
  put_int(&t, 7, 2);
  put_int(&t, 7, -1);
  put_msg(graph, 5, &t);
  t = tensor_head("double", 11, (int64_t[]){1}, 1);
  put_bytes(&t, 10, (double[]){2.5}, 8);
  put_msg(graph, 5, &t);
  t = tensor_head("unsigned", 13, (int64_t[]){1}, 1);
  put_int(&t, 11, 7);
  put_msg(graph, 5, &t);
  t = tensor_head("words", 8, (int64_t[]){2}, 1);
  put_str(&t, 6, "a");
  put_str(&t, 6, "bc");
  put_msg(graph, 5, &t);
  t = tensor_head("nibbles", 22, (int64_t[]){3}, 1);
  put_bytes(&t, 9, "\x21\x03", 2);
  put_msg(graph, 5, &t);
  for (int by_axis = 0; by_axis < 2; by_axis++) { /* sparse: by place, and by row and column */
    struct buf sparse = {0},
               values = tensor_head(by_axis ? "rows" : "places", 1, (int64_t[]){2}, 1);
    struct buf at = tensor_head(NULL, 7, (int64_t[]){2, 2}, by_axis ? 2 : 1);
    put_f32(&values, 4, 8);
    put_f32(&values, 4, 9);
    for (int i = 0; i < (by_axis ? 4 : 2); i++) put_int(&at, 7, by_axis ? i == 1 || i == 2 : i);
    put_msg(&sparse, 1, &values);
    put_msg(&sparse, 2, &at);
    put_int(&sparse, 3, 2);
    put_int(&sparse, 3, 2);
    put_msg(graph, 15, &sparse);
  }
  put_str(&entry, 1, "SCALE_TENSOR");
  put_msg(graph, 14, &entry); /* quantization_annotation */
}

/* Constant nodes of every kind of value. */
static inline void put_constants(struct buf *graph) {
  struct buf list = {0}, tensor = tensor_head(NULL, 1, (int64_t[]){1}, 1), words = {0};
  put_f32(&tensor, 4, 5);
  attr_msg(&list, "value", 5, 4, &tensor);
  put_node(graph, "Constant", "", "k0", &list);
  attr_float(&list, "value_float", 2);
  put_node(graph, "Constant", "", "k1", &list);
  attr_int(&list, "value_int", 1);
  put_node(graph, "Constant", "", "k2", &list);
  attr_ints(&list, "value_ints", (int64_t[]){2, 2}, 2);
  put_node(graph, "Constant", "", "k3", &list);
  attr_floats(&list, "value_floats", (float[]){1, 2}, 2);
  put_node(graph, "Constant", "", "k4", &list);
  attr_string(&list, "value_string", "text");
  put_node(graph, "Constant", "", "k5", &list);
  put_str(&words, 1, "value_strings");
  put_str(&words, 9, "one");
  put_str(&words, 9, "two");
  put_int(&words, 20, 8);
  put_msg(&list, 5, &words);
  put_node(graph, "Constant", "", "k6", &list);
  struct buf sparse = {0}, values = tensor_head(NULL, 1, (int64_t[]){1}, 1),
             at = tensor_head(NULL, 7, (int64_t[]){1}, 1);
  put_f32(&values, 4, 9);
  put_int(&at, 7, 1);
  put_msg(&sparse, 1, &values);
  put_msg(&sparse, 2, &at);
  put_int(&sparse, 3, 2);
  attr_msg(&list, "sparse_value", 22, 11, &sparse);
  put_node(graph, "Constant", "", "k7", &list);
}

/* y = condition ? x + w : x, the condition an input; the branches read values from around them. */
static inline void put_branches(struct buf *graph) {
  struct buf then = {0}, other = {0}, list = {0};
  put_node(&then, "Add", "x,w", "t", NULL);
  put_output(&then, "t");
  put_output(&other, "x");
  attr_msg(&list, "then_branch", 6, 5, &then);
  attr_msg(&list, "else_branch", 6, 5, &other);
  put_node(graph, "If", "condition", "chosen", &list);
}

static inline struct buf whole_model(void) {
  struct buf graph = {0}, list = {0}, property = {0}, type = {0}, value = {0};
  put_str(&graph, 2, "whole");
  put_str(&graph, 10, "text that nobody reads");
  put_tensors(&graph);
  put_constants(&graph);
  put_branches(&graph);
  attr_float(&list, "alpha", 0.5f);
  put_node_in(&graph, "test", "shift", "x,,", "s,same", &list);
  put_node_in(&graph, "test", "twice", "s", "d", NULL);
  put_node(&graph, "Sum", "chosen,d,same,w,listed,places,rows", "y", NULL);
  put_node(&graph, "Reshape", "y,k3", "z", NULL);
  put_node_in(&graph, "ai.onnx", "Mul", "z,k1", "m", NULL);
  put_node(&graph, "SequenceLength", "list", "n", NULL);
  put_node(&graph, "OptionalHasElement", "maybe", "has", NULL);
  put_node(&graph, "Identity", "words", "text", NULL);
  put_input(&graph, "x", 1, "2,2");
  put_input(&graph, "condition", 9, "");
  for (uint32_t kind = 4; kind <= 9; kind += 5) { /* a sequence, an optional */
    struct buf element = value_info("", 1, "2"), around = {0};
    put_bytes(&around, 1, element.at + 4, element.n - 4); /* its type, after an empty name */
    free(element.at);
    type = (struct buf){0};
    put_msg(&type, kind, &around);
    put_str(&value, 1, kind == 4 ? "list" : "maybe");
    put_msg(&value, 2, &type);
    put_msg(&graph, 11, &value);
  }
  static const char *const outputs[] = {"m",        "n",  "has", "text", "half", "long", "double",
                                        "unsigned", "k0", "k2",  "k4",   "k5",   "k6",   "k7"};
  for (size_t i = 0; i < COUNT(outputs); i++) put_output(&graph, outputs[i]);
  value = value_info("s", 1, "2,2");
  put_msg(&graph, 13, &value);
  struct buf model = {0};
  put_int(&model, 1, 10);
  put_str(&model, 2, "a producer");
  put_str(&model, 6, "text that nobody reads");
  put_msg(&model, 7, &graph);
  put_opset(&model, 8, "", 18);
  put_opset(&model, 8, "test", 1);
  put_str(&property, 1, "key");
  put_str(&property, 2, "value");
  put_msg(&model, 14, &property);
  struct buf functions[] = {shift_function(""), twice_function(), shift_function("other")};
  for (size_t i = 0; i < COUNT(functions); i++) put_msg(&model, 25, &functions[i]);
  return model;
}
#endif
