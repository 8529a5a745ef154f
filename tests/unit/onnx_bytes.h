/* onnx_bytes: valid and invalid ONNX messages written byte by byte, for the importer's tests.
 * The writer is independent of the reader under test: it shares no code with src/compiler/import. */
#ifndef HONE_ONNX_BYTES_H
#define HONE_ONNX_BYTES_H
#include <stdlib.h>
#include "unit.h"

struct buf {
  uint8_t *at;
  size_t n, capacity;
};

static inline void put_raw(struct buf *b, const void *bytes, size_t n) {
  if (b->n + n > b->capacity) {
    b->capacity = 2 * (b->n + n) + 64;
    b->at = realloc(b->at, b->capacity);
    assert_non_null(b->at);
  }
  if (n) memcpy(b->at + b->n, bytes, n);
  b->n += n;
}
static inline void put_varint(struct buf *b, uint64_t v) {
  do {
    uint8_t byte = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
    put_raw(b, &byte, 1);
    v >>= 7;
  } while (v);
}
static inline void put_tag(struct buf *b, uint32_t field, unsigned type) {
  put_varint(b, (uint64_t)field << 3 | type);
}
static inline void put_int(struct buf *b, uint32_t field, int64_t v) {
  put_tag(b, field, 0);
  put_varint(b, (uint64_t)v);
}
static inline void put_bytes(struct buf *b, uint32_t field, const void *bytes, size_t n) {
  put_tag(b, field, 2);
  put_varint(b, n);
  put_raw(b, bytes, n);
}
static inline void put_str(struct buf *b, uint32_t field, const char *s) {
  put_bytes(b, field, s, strlen(s));
}
static inline void put_f32(struct buf *b, uint32_t field, float f) {
  put_tag(b, field, 5);
  put_raw(b, &f, 4);
}
/* Embeds a message and frees it. */
static inline void put_msg(struct buf *b, uint32_t field, struct buf *sub) {
  put_bytes(b, field, sub->at, sub->n);
  free(sub->at);
  *sub = (struct buf){0};
}

/* dims: "1,N,3"; numbers, names of dynamic dimensions, "?" for an unnamed one. NULL: no shape. */
static inline struct buf value_info(const char *name, int dtype, const char *dims) {
  struct buf value = {0}, type = {0}, tensor = {0}, shape = {0};
  put_int(&tensor, 1, dtype);
  for (const char *p = dims; p && *p;) {
    struct buf dim = {0};
    size_t n = strcspn(p, ",");
    char *end;
    long long number = strtoll(p, &end, 10);
    if (end == p + n)
      put_int(&dim, 1, number);
    else if (*p != '?')
      put_bytes(&dim, 2, p, n);
    put_msg(&shape, 1, &dim);
    p += n + (p[n] == ',');
  }
  if (dims) put_msg(&tensor, 2, &shape);
  put_msg(&type, 1, &tensor);
  put_str(&value, 1, name);
  put_msg(&value, 2, &type);
  return value;
}
static inline void put_input(struct buf *graph, const char *name, int dtype, const char *dims) {
  struct buf value = value_info(name, dtype, dims);
  put_msg(graph, 11, &value);
}
/* An output whose type is left to its node. */
static inline void put_output(struct buf *graph, const char *name) {
  struct buf value = value_info(name, 0, NULL);
  put_msg(graph, 12, &value);
}

/* Names separated by commas; "" between commas is an input left out. attributes may be NULL. */
static inline void put_node_in(struct buf *graph, const char *domain, const char *op,
                               const char *inputs, const char *outputs, struct buf *attributes) {
  struct buf node = {0};
  const char *lists[] = {inputs, outputs};
  for (uint32_t k = 0; k < 2; k++)
    for (const char *p = lists[k]; *p;) {
      size_t n = strcspn(p, ",");
      put_bytes(&node, k + 1, p, n);
      p += n + (p[n] == ',');
    }
  put_str(&node, 4, op);
  if (attributes) {
    put_raw(&node, attributes->at, attributes->n);
    free(attributes->at);
    *attributes = (struct buf){0};
  }
  if (*domain) put_str(&node, 7, domain);
  put_msg(graph, 1, &node);
}
static inline void put_node(struct buf *graph, const char *op, const char *inputs,
                            const char *outputs, struct buf *attributes) {
  put_node_in(graph, "", op, inputs, outputs, attributes);
}

/* Attributes, appended to a list that put_node embeds. */
static inline void attr_int(struct buf *list, const char *name, int64_t i) {
  struct buf a = {0};
  put_str(&a, 1, name);
  put_int(&a, 3, i);
  put_int(&a, 20, 2);
  put_msg(list, 5, &a);
}
static inline void attr_float(struct buf *list, const char *name, float f) {
  struct buf a = {0};
  put_str(&a, 1, name);
  put_f32(&a, 2, f);
  put_int(&a, 20, 1);
  put_msg(list, 5, &a);
}
static inline void attr_string(struct buf *list, const char *name, const char *s) {
  struct buf a = {0};
  put_str(&a, 1, name);
  put_str(&a, 4, s);
  put_int(&a, 20, 3);
  put_msg(list, 5, &a);
}
static inline void attr_msg(struct buf *list, const char *name, uint32_t field, int type,
                            struct buf *message) {
  struct buf a = {0};
  put_str(&a, 1, name);
  put_msg(&a, field, message);
  put_int(&a, 20, type);
  put_msg(list, 5, &a);
}
static inline void attr_ints(struct buf *list, const char *name, const int64_t *ints,
                             size_t count) {
  struct buf a = {0};
  put_str(&a, 1, name);
  for (size_t i = 0; i < count; i++) put_int(&a, 8, ints[i]);
  put_int(&a, 20, 7);
  put_msg(list, 5, &a);
}

static inline struct buf tensor_head(const char *name, int dtype, const int64_t *dims,
                                     size_t rank) {
  struct buf t = {0};
  for (size_t i = 0; i < rank; i++) put_int(&t, 1, dims[i]);
  put_int(&t, 2, dtype);
  if (name) put_str(&t, 8, name);
  return t;
}
static inline void external_entry(struct buf *tensor, const char *key, const char *value,
                                  size_t value_length) {
  struct buf entry = {0};
  put_str(&entry, 1, key);
  put_bytes(&entry, 2, value, value_length);
  put_msg(tensor, 13, &entry);
}

/* ir_version 8, one opset of the default domain (0: none), the graph (freed). */
static inline struct buf model_of(int64_t opset, struct buf *graph) {
  struct buf model = {0}, import = {0};
  put_int(&model, 1, 8);
  put_msg(&model, 7, graph);
  if (opset) {
    put_int(&import, 2, opset);
    put_msg(&model, 8, &import);
  }
  return model;
}
/* y = Relu(Add(x, w)), w f32 [2,2] in raw_data */
static inline struct buf small_graph(void) {
  struct buf graph = {0};
  const float w[] = {1, 2, 3, 4};
  struct buf t = tensor_head("w", 1, (int64_t[]){2, 2}, 2);
  put_bytes(&t, 9, w, sizeof w);
  put_node(&graph, "Add", "x,w", "s", NULL);
  put_node(&graph, "Relu", "s", "y", NULL);
  put_str(&graph, 2, "small");
  put_msg(&graph, 5, &t);
  put_input(&graph, "x", 1, "N,2");
  put_output(&graph, "y");
  return graph;
}
#endif
