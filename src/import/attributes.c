/* attributes: is an attribute one that the specification has, and of its kind?
 *
 * In: a node as read, before it is brought to HONE_OPSET. Operators ask for an attribute by name
 * and kind and take the default where there is none; so a misspelt name or a string where an
 * integer belongs would change the result without a word. Source: the schemas of ai.onnx and
 * ai.onnx.ml.
 */
#include "onnx.h"

static const char *const kind_names[] = {
    [ATTRIBUTE_FLOAT] = "a float",           [ATTRIBUTE_INT] = "an integer",
    [ATTRIBUTE_STRING] = "a string",         [ATTRIBUTE_TENSOR] = "a tensor",
    [ATTRIBUTE_GRAPH] = "a graph",           [ATTRIBUTE_FLOATS] = "a list of floats",
    [ATTRIBUTE_INTS] = "a list of integers", [ATTRIBUTE_STRINGS] = "a list of strings"};

static const struct known {
  const char *name;
  unsigned kinds; /* bit set of enum attribute_kind */
} known[] = {
#define KIND(kind) (1u << ATTRIBUTE_##kind)
#define ATTRIBUTE(name, kinds) {#name, kinds},
#include "attributes.def"
#undef ATTRIBUTE
#undef KIND
};

static const struct known *find(const char *name) {
  size_t low = 0, high = COUNT(known);
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(name, known[middle].name);
    if (!order) return &known[middle];
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

hone_status check_attributes(struct ctx *ctx, const struct raw_node *node) {
  if (*node->domain && strcmp(node->domain, "ai.onnx.ml")) return HONE_OK;
  /* names of an operator that is not known may mean anything: it is refused by its own name */
  if (!op_find(node->domain, node->op_type) && !is_upgraded(node->op_type)) return HONE_OK;
  for (size_t i = 0; i < node->attributes.count; i++) {
    const struct attribute *attribute = &node->attributes.at[i];
    const struct known *row = find(attribute->name);
    if (!row)
      return fail(ctx, HONE_E_FORMAT, place_raw(node), "%s has an unknown attribute \"%s\"",
                  node->op_type, attribute->name);
    if (!(row->kinds >> attribute->kind & 1))
      return fail(ctx, HONE_E_FORMAT, place_raw(node), "attribute \"%s\" of %s is %s",
                  attribute->name, node->op_type, kind_names[attribute->kind]);
  }
  return HONE_OK;
}
