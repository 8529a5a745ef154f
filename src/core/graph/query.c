/* Reading: attributes by name, tensor elements of any numeric type, uses of values. */
#include "graph.h"

#include <math.h>

const struct attribute *node_attribute(const struct node *node, const char *name) {
  for (size_t i = 0; i < node->attribute_count; i++)
    if (!strcmp(node->attributes[i].name, name)) return &node->attributes[i];
  return NULL;
}

static const struct attribute *find(const struct node *node, const char *name,
                                    enum attribute_kind kind) {
  const struct attribute *attribute = node_attribute(node, name);
  return attribute && attribute->kind == kind ? attribute : NULL;
}

int64_t node_int(const struct node *node, const char *name, int64_t otherwise) {
  const struct attribute *attribute = find(node, name, ATTRIBUTE_INT);
  return attribute ? attribute->i : otherwise;
}

double node_float(const struct node *node, const char *name, double otherwise) {
  const struct attribute *attribute = find(node, name, ATTRIBUTE_FLOAT);
  return attribute ? attribute->f : otherwise;
}

const char *node_string(const struct node *node, const char *name, const char *otherwise) {
  const struct attribute *attribute = find(node, name, ATTRIBUTE_STRING);
  if (!attribute) return otherwise;
  /* a C string would end at the NUL: return a string that equals no known one */
  if (memchr(attribute->s.bytes, 0, attribute->s.length)) return "\xff";
  return attribute->s.bytes;
}

const int64_t *node_ints(const struct node *node, const char *name, size_t *out_count) {
  const struct attribute *attribute = find(node, name, ATTRIBUTE_INTS);
  *out_count = attribute ? attribute->count : 0;
  return attribute ? attribute->ints : NULL;
}

struct place node_place(const struct node *node) {
  return place_of_node(node->index, node->name, node->written_as);
}

size_t tensor_count(const struct tensor *tensor) {
  int64_t count;
  return shape_count(&tensor->shape, &count) ? (size_t)count : 0;
}

bool tensor_holds_halves(const struct tensor *tensor) {
  const float *x = tensor->data;
  if (tensor->dtype != HONE_F32) return false;
  for (size_t i = 0; i < tensor_count(tensor); i++)
    if (!isfinite(x[i]) || f16_to_f32(f32_to_f16(x[i])) != x[i]) return false;
  return true;
}

int tensor_byte_bits(const struct tensor *tensor) {
  const size_t count = tensor_count(tensor);
  uint8_t used = 0;
  if (tensor->dtype != HONE_I8 && tensor->dtype != HONE_U8) return 0;
  for (size_t i = 0; i < count && !(used >> 6);) {
    const size_t end = count - i < 4096 ? count : i + 4096;
    if (tensor->dtype == HONE_U8)
      for (; i < end; i++) used |= ((const uint8_t *)tensor->data)[i];
    else /* a bit for the sign: x and -x - 1 need as many */
      for (; i < end; i++) {
        const int8_t x = ((const int8_t *)tensor->data)[i];
        used |= (uint8_t)((x ^ (x >> 7)) << 1);
      }
  }
  return used >> 6 ? 0 : used >> 5 ? 6 : 5;
}

static bool are_same_strings(const struct string *a, const struct string *b, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (a[i].length != b[i].length || memcmp(a[i].bytes, b[i].bytes, a[i].length)) return false;
  return true;
}

bool tensor_equal(const struct tensor *a, const struct tensor *b) {
  if (a == b) return true;
  if (!a || !b || a->dtype != b->dtype || !shape_equal(&a->shape, &b->shape)) return false;
  if (a->dtype == HONE_STRING) return are_same_strings(a->data, b->data, tensor_count(a));
  return a->data == b->data ||
         (a->bytes == b->bytes && (!a->bytes || !memcmp(a->data, b->data, a->bytes)));
}

bool attribute_equal(const struct attribute *a, const struct attribute *b) {
  if (strcmp(a->name, b->name) || a->kind != b->kind || a->count != b->count) return false;
  switch (a->kind) {
    case ATTRIBUTE_INT:
      return a->i == b->i;
    case ATTRIBUTE_FLOAT:
      return !memcmp(&a->f, &b->f, sizeof a->f);
    case ATTRIBUTE_STRING:
      return are_same_strings(&a->s, &b->s, 1);
    case ATTRIBUTE_TENSOR:
      return tensor_equal(a->tensor, b->tensor);
    case ATTRIBUTE_FLOATS:
      return !a->count || !memcmp(a->floats, b->floats, a->count * sizeof *a->floats);
    case ATTRIBUTE_INTS:
      return !a->count || !memcmp(a->ints, b->ints, a->count * sizeof *a->ints);
    case ATTRIBUTE_STRINGS:
      return are_same_strings(a->strings, b->strings, a->count);
    case ATTRIBUTE_GRAPH:
      return false;
  }
  return false;
}

bool tensor_read_ints(const struct tensor *tensor, size_t max, int64_t *out, size_t *out_count) {
  if (!tensor || (tensor->dtype != HONE_I64 && tensor->dtype != HONE_I32)) return false;
  size_t count = tensor_count(tensor);
  if (count > max) return false;
  for (size_t i = 0; i < count; i++) out[i] = tensor_i64(tensor, i);
  *out_count = count;
  return true;
}

/* Payload may be unaligned (a mapped file), so memcpy is used. */
#define READ(type, variable) \
  type variable;             \
  memcpy(&variable, (const char *)tensor->data + i * sizeof(type), sizeof(type))

/* Elements smaller than a byte, low bits first. */
static unsigned packed_get(const struct tensor *tensor, size_t i) {
  unsigned bits = dtype_bits(tensor->dtype), each = 8 / bits;
  unsigned byte = ((const uint8_t *)tensor->data)[i / each];
  return byte >> i % each * bits & ((1u << bits) - 1);
}

static void packed_set(const struct tensor *tensor, size_t i, unsigned x) {
  unsigned bits = dtype_bits(tensor->dtype), each = 8 / bits, mask = (1u << bits) - 1;
  uint8_t *byte = (uint8_t *)(uintptr_t)tensor->data + i / each;
  size_t shift = i % each * bits;
  *byte = (uint8_t)((*byte & ~(mask << shift)) | (x & mask) << shift);
}

static double read_float(const struct tensor *tensor, size_t i) {
  switch (tensor->dtype) {
    case HONE_F64: {
      READ(double, x);
      return x;
    }
    case HONE_F16: {
      READ(uint16_t, x);
      return (double)f16_to_f32(x);
    }
    case HONE_BF16: {
      READ(uint16_t, x);
      return (double)bf16_to_f32(x);
    }
    case HONE_F32: {
      READ(float, x);
      return (double)x;
    }
    case HONE_F4E2M1:
      return tiny_to_f64(tensor->dtype, packed_get(tensor, i));
    default:
      return tiny_to_f64(tensor->dtype, ((const uint8_t *)tensor->data)[i]);
  }
}

/* Truncated toward zero; NaN is 0, values out of range saturate. */
static int64_t to_i64(double x) {
  if (isnan(x)) return 0;
  if (x >= 0x1p63) return INT64_MAX;
  if (x < -0x1p63) return INT64_MIN;
  return (int64_t)x;
}

/* The bits of an integer or bool. */
static uint64_t read_bits(const struct tensor *tensor, size_t i, unsigned bits) {
  switch (bits) {
    case 64: {
      READ(uint64_t, x);
      return x;
    }
    case 32: {
      READ(uint32_t, x);
      return x;
    }
    case 16: {
      READ(uint16_t, x);
      return x;
    }
    case 8:
      return ((const uint8_t *)tensor->data)[i];
    default:
      return packed_get(tensor, i);
  }
}

int64_t tensor_i64(const struct tensor *tensor, size_t i) {
  const struct dtype_facts *facts = dtype_facts(tensor->dtype);
  if (dtype_is_float(tensor->dtype)) return to_i64(read_float(tensor, i));
  if (!facts->bits) return 0;
  const uint64_t bits = read_bits(tensor, i, facts->bits);
  if (facts->kind != DTYPE_SIGNED || facts->bits == 64) return (int64_t)bits;
  const uint64_t sign = 1ull << (facts->bits - 1);
  return (int64_t)((bits ^ sign) - sign);
}

double tensor_f64(const struct tensor *tensor, size_t i) {
  if (dtype_is_float(tensor->dtype)) return read_float(tensor, i);
  if (tensor->dtype == HONE_U64) return (double)(uint64_t)tensor_i64(tensor, i);
  return (double)tensor_i64(tensor, i);
}

#define WRITE(type, x)                                                                  \
  do {                                                                                  \
    type written = (type)(x);                                                           \
    memcpy((char *)(uintptr_t)tensor->data + i * sizeof(type), &written, sizeof(type)); \
  } while (0)

/* double to half with a single rounding: an inexact intermediate float is rounded to odd. */
static float to_odd(double x) {
  float y = (float)x;
  uint32_t bits;
  if ((double)y == x || isnan(x) || isinf(y)) return y;
  memcpy(&bits, &y, 4);
  if (fabs((double)y) > fabs(x)) bits -= 1; /* toward zero first */
  bits |= 1;
  memcpy(&y, &bits, 4);
  return y;
}

void tensor_set_tiny(const struct tensor *tensor, size_t i, double x, enum tiny_rounding rounding,
                     bool saturate) {
  unsigned code = f64_to_tiny(tensor->dtype, x, rounding, saturate);
  if (tensor->dtype == HONE_F4E2M1)
    packed_set(tensor, i, code);
  else
    ((uint8_t *)(uintptr_t)tensor->data)[i] = (uint8_t)code;
}

void tensor_set_f64(const struct tensor *tensor, size_t i, double x) {
  if (dtype_is_tiny_float(tensor->dtype)) {
    tensor_set_tiny(tensor, i, x, TINY_UP, true);
    return;
  }
  switch (tensor->dtype) {
    case HONE_F32:
      WRITE(float, x);
      break;
    case HONE_F64:
      WRITE(double, x);
      break;
    case HONE_F16:
      WRITE(uint16_t, f32_to_f16(to_odd(x)));
      break;
    case HONE_BF16:
      WRITE(uint16_t, f32_to_bf16(to_odd(x)));
      break;
    case HONE_BOOL:
      WRITE(uint8_t, x != 0);
      break;
    case HONE_U64:
      tensor_set_i64(tensor, i, x >= 0x1p64 ? -1 : x >= 0x1p63 ? (int64_t)(uint64_t)x : to_i64(x));
      break;
    default:
      tensor_set_i64(tensor, i, to_i64(x));
  }
}

void tensor_set_i64(const struct tensor *tensor, size_t i, int64_t x) {
  if (dtype_is_float(tensor->dtype)) {
    tensor_set_f64(tensor, i, (double)x);
    return;
  }
  switch (dtype_bits(tensor->dtype)) {
    case 64:
      WRITE(int64_t, x);
      break;
    case 32:
      WRITE(uint32_t, (uint64_t)x);
      break;
    case 16:
      WRITE(uint16_t, (uint64_t)x);
      break;
    case 8:
      WRITE(uint8_t, tensor->dtype == HONE_BOOL ? x != 0 : (uint64_t)x);
      break;
    case 0: /* strings */
      break;
    default:
      packed_set(tensor, i, (unsigned)x);
  }
}

hone_status graph_nested(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                         struct graph_list *out) {
  *out = (struct graph_list){0};
  VEC_PUSH(ctx, arena, out, (struct graph *)(uintptr_t)graph);
  for (size_t g = 0; g < out->count; g++) {
    const struct graph *at = out->at[g];
    for (size_t n = 0; n < at->nodes.count; n++) {
      const struct node *node = at->nodes.at[n];
      for (size_t a = 0; node && a < node->attribute_count; a++)
        if (node->attributes[a].kind == ATTRIBUTE_GRAPH && node->attributes[a].graph)
          VEC_PUSH(ctx, arena, out, node->attributes[a].graph);
    }
  }
  return HONE_OK;
}

bool value_is_open(const struct value *value) {
  for (int d = 0; d < value->shape.rank; d++)
    if (value->extents[d]) return true;
  return false;
}

bool graph_is_open(const struct graph *graph) {
  while (graph->parent) graph = graph->parent;
  return graph->is_open;
}

bool graph_owns(const struct graph *graph, const struct value *value) {
  return value && value->index < graph->values.count && graph->values.at[value->index] == value;
}

bool node_is_known(const struct node *node) {
  for (size_t k = 0; k < node->output_count; k++)
    if (node->outputs[k] && !node->outputs[k]->constant) return false;
  return true;
}

bool constant_scalar(const struct value *value, double *out) {
  if (!value || !value->constant || value->constant->dtype == HONE_STRING ||
      tensor_count(value->constant) != 1)
    return false;
  *out = tensor_f64(value->constant, 0);
  return true;
}

hone_status graph_uses(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                       uint32_t **out_uses) {
  struct graph_list graphs;
  uint32_t *uses;
  TRY(NEW_ARRAY(ctx, arena, uses, graph->values.count));
  TRY(graph_nested(ctx, arena, graph, &graphs));
  for (size_t g = 0; g < graphs.count; g++) {
    const struct graph *at = graphs.at[g];
    for (size_t n = 0; n < at->nodes.count; n++) {
      const struct node *node = at->nodes.at[n];
      for (size_t i = 0; node && i < node->input_count; i++)
        if (graph_owns(graph, node->inputs[i])) uses[node->inputs[i]->index]++;
    }
    for (size_t i = 0; i < at->outputs.count; i++)
      if (graph_owns(graph, at->outputs.at[i])) uses[at->outputs.at[i]->index]++;
  }
  *out_uses = uses;
  return HONE_OK;
}

/* Counting sort by value. */
hone_status graph_find_readers(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                               struct graph_readers *out) {
  const size_t values = graph->values.count;
  uint32_t *next;
  TRY(NEW_ARRAY(ctx, arena, out->first, values + 1));
  TRY(NEW_ARRAY(ctx, arena, next, values + 1));
  for (size_t pass = 0; pass < 2; pass++) {
    for (size_t n = 0; n < graph->nodes.count; n++) {
      const struct node *node = graph->nodes.at[n];
      for (size_t i = 0; i < node->input_count; i++) {
        if (!graph_owns(graph, node->inputs[i])) continue;
        size_t v = node->inputs[i]->index;
        if (pass == 0)
          out->first[v + 1]++;
        else
          out->at[next[v]++] = (uint32_t)n;
      }
    }
    if (pass) break;
    for (size_t v = 0; v < values; v++) out->first[v + 1] += out->first[v];
    memcpy(next, out->first, (values + 1) * sizeof *next);
    TRY(NEW_ARRAY(ctx, arena, out->at, out->first[values]));
  }
  return HONE_OK;
}

const struct alias *graph_state_of(const struct graph *graph, size_t input) {
  for (size_t i = 0; i < graph->aliases.count; i++)
    if (graph->aliases.at[i].input == input) return &graph->aliases.at[i];
  return NULL;
}

const struct alias *graph_state_at(const struct graph *graph, size_t output) {
  for (size_t i = 0; i < graph->aliases.count; i++)
    if (graph->aliases.at[i].output == output) return &graph->aliases.at[i];
  return NULL;
}
