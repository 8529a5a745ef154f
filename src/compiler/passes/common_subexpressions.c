/* eliminate-common-subexpressions: of nodes with equal op, inputs and attributes the first stays.
 * Small constants with equal content are merged too, so that nodes that read them compare equal.
 */
#include "rewrite.h"

enum { SMALL_CONSTANT_BYTES = 1 << 20 }; /* as the numbers of the places in a cache */

static uint64_t mix(uint64_t hash, const void *data, size_t size) { /* FNV-1a */
  const unsigned char *bytes = data;
  for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

#define MIX(hash, x) mix((hash), &(x), sizeof(x))

struct table { /* open addressing over indices + 1; capacity is a power of two */
  uint32_t *at;
  size_t capacity;
};

static hone_status table_create(struct ctx *ctx, struct arena *arena, size_t count,
                                struct table *out) {
  out->capacity = 16;
  while (out->capacity < 2 * count) out->capacity *= 2;
  return NEW_ARRAY(ctx, arena, out->at, out->capacity);
}

/* -- constants */

static bool is_mergeable(const struct value *value) {
  return value->constant && !value->producer && !value->is_output && !value->is_input &&
         value->dtype != HONE_STRING && value->constant->bytes <= SMALL_CONSTANT_BYTES;
}

static hone_status merge_constants(struct ctx *ctx, struct graph *graph, struct arena *scratch,
                                   size_t *changes) {
  struct table table;
  struct substitution map = {0};
  TRY(table_create(ctx, scratch, graph->values.count, &table));
  for (size_t v = 0; v < graph->values.count; v++) {
    struct value *value = graph->values.at[v];
    if (!is_mergeable(value) || (graph->keeps_sizes && is_from_shape(value))) continue;
    const struct tensor *tensor = value->constant;
    const uint64_t hash = hash_64(tensor->data, tensor->bytes) + tensor->dtype;
    size_t slot = hash & (table.capacity - 1);
    for (; table.at[slot]; slot = (slot + 1) & (table.capacity - 1)) {
      struct value *other = graph->values.at[table.at[slot] - 1];
      if (!tensor_equal(other->constant, tensor)) continue;
      TRY(substitution_add(ctx, graph, &map, value, other));
      ++*changes;
      break;
    }
    if (!table.at[slot]) table.at[slot] = (uint32_t)v + 1;
  }
  return graph_substitute(ctx, graph, &map, &op_table[OP_Identity]);
}

/* -- nodes */

static uint64_t hash_attribute(uint64_t hash, const struct attribute *a) {
  hash = MIX(mix(hash, a->name, strlen(a->name)), a->kind);
  switch (a->kind) {
    case ATTRIBUTE_INT:
      return MIX(hash, a->i);
    case ATTRIBUTE_FLOAT:
      return MIX(hash, a->f);
    case ATTRIBUTE_STRING:
      return mix(hash, a->s.bytes, a->s.length);
    case ATTRIBUTE_INTS:
      return mix(hash, a->ints, a->count * sizeof *a->ints);
    default:
      return MIX(hash, a->count); /* rare: equality decides */
  }
}

static uint64_t hash_node(const struct node *node) {
  uint64_t hash = MIX(14695981039346656037u, node->op->id);
  for (size_t i = 0; i < node->input_count; i++) {
    uintptr_t input = (uintptr_t)node->inputs[i]; /* compared only within this run */
    hash = MIX(hash, input);
  }
  for (size_t a = 0; a < node->attribute_count; a++) {
    uint64_t one = hash_attribute(0, &node->attributes[a]);
    hash += one; /* attributes are unordered */
  }
  return hash;
}

static bool same_node(const struct node *a, const struct node *b) {
  if (a->op != b->op || a->input_count != b->input_count || a->output_count != b->output_count ||
      a->attribute_count != b->attribute_count)
    return false;
  for (size_t i = 0; i < a->input_count; i++)
    if (a->inputs[i] != b->inputs[i]) return false;
  /* b has an output that a lacks */
  for (size_t o = 0; o < a->output_count; o++)
    if (b->outputs[o] && !a->outputs[o]) return false;
  for (size_t i = 0; i < a->attribute_count; i++) {
    const struct attribute *other = node_attribute(b, a->attributes[i].name);
    if (!other || !attribute_equal(&a->attributes[i], other)) return false;
  }
  return true;
}

static hone_status merge_nodes(struct ctx *ctx, struct graph *graph, struct arena *scratch,
                               size_t *changes) {
  struct table table;
  struct substitution map = {0};
  TRY(table_create(ctx, scratch, graph->nodes.count, &table));
  for (size_t n = 0; n < graph->nodes.count; n++) {
    struct node *node = graph->nodes.at[n], *first = NULL;
    substitution_apply(&map, graph, node);
    if (!is_pure(node)) continue;
    size_t slot = hash_node(node) & (table.capacity - 1);
    for (; table.at[slot] && !first; slot = (slot + 1) & (table.capacity - 1))
      if (same_node(graph->nodes.at[table.at[slot] - 1], node))
        first = graph->nodes.at[table.at[slot] - 1];
    if (!first) {
      table.at[slot] = (uint32_t)n + 1;
      continue;
    }
    for (size_t o = 0; o < node->output_count; o++)
      if (node->outputs[o])
        TRY(substitution_add(ctx, graph, &map, node->outputs[o], first->outputs[o]));
    ++*changes;
  }
  return graph_substitute(ctx, graph, &map, &op_table[OP_Identity]);
}

/* needs: nothing. keeps: order, shapes. breaks: uses, value indices. */
hone_status pass_eliminate_common_subexpressions(struct ctx *ctx, struct graph *graph,
                                                 size_t *out_changes) {
  struct arena *scratch;
  size_t removed;
  *out_changes = 0;
  TRY(arena_create(ctx, 0, &scratch));
  hone_status status = merge_constants(ctx, graph, scratch, out_changes);
  if (!status) status = merge_nodes(ctx, graph, scratch, out_changes);
  arena_destroy(scratch);
  TRY(status);
  return *out_changes ? graph_sweep(ctx, graph, &removed) : HONE_OK;
}
