/* attributes: does an operator have this attribute, and is it of the right kind?
 *
 * Operators read an attribute by name and kind and use the default if it is absent, so a misspelt
 * name or a string in place of an integer would silently change the result. The ONNX importer
 * checks the attributes in the file; inference checks those of every node. Source: the schemas of
 * ai.onnx, ai.onnx.ml, their previews and com.microsoft. */
#include "ops.h"

static const char *const kind_names[] = {
    [ATTRIBUTE_FLOAT] = "a float",           [ATTRIBUTE_INT] = "an integer",
    [ATTRIBUTE_STRING] = "a string",         [ATTRIBUTE_TENSOR] = "a tensor",
    [ATTRIBUTE_GRAPH] = "a graph",           [ATTRIBUTE_FLOATS] = "a list of floats",
    [ATTRIBUTE_INTS] = "a list of integers", [ATTRIBUTE_STRINGS] = "a list of strings"};

static const struct known {
  const char *name;
  const char *op_name; /* NULL: all operators without a row of their own before it */
  unsigned kinds;      /* bit set of enum attribute_kind */
} known[] = {
#define KIND(kind) (1u << ATTRIBUTE_##kind)
#define ATTRIBUTE(name, kinds) {#name, NULL, kinds},
#define ATTRIBUTE_OF(op, name, kinds) {#name, #op, kinds},
#include "attributes.def"
#undef ATTRIBUTE_OF
#undef ATTRIBUTE
#undef KIND
};

static const struct known *find(const char *op_name, const char *name) {
  size_t low = 0, high = COUNT(known);
  while (low < high) { /* binary search: the first row whose name is not smaller */
    size_t middle = low + (high - low) / 2;
    if (strcmp(known[middle].name, name) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < COUNT(known) && !strcmp(known[low].name, name); low++)
    if (!known[low].op_name || !strcmp(known[low].op_name, op_name)) return &known[low];
  return NULL;
}

static hone_status fail_kind(struct ctx *ctx, struct place at, const char *op_name,
                             const struct attribute *attribute, unsigned kinds) {
  char expected[64] = "";
  for (unsigned k = 0; k < COUNT(kind_names); k++)
    if (kinds >> k & 1) {
      size_t length = strlen(expected);
      snprintf(expected + length, sizeof expected - length, "%s%s", length ? " or " : "",
               kind_names[k]);
    }
  return fail(ctx, HONE_E_FORMAT, at, "attribute \"%s\" of %s is %s, expected %s", attribute->name,
              op_name, kind_names[attribute->kind], expected);
}

hone_status attributes_check(struct ctx *ctx, struct place at, const char *op_name,
                             const struct attribute *attributes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const struct attribute *attribute = &attributes[i];
    const struct known *row = find(op_name, attribute->name);
    if (!row)
      return fail(ctx, HONE_E_FORMAT, at, "%s has an unknown attribute \"%s\"", op_name,
                  attribute->name);
    if (!(row->kinds >> attribute->kind & 1))
      return fail_kind(ctx, at, op_name, attribute, row->kinds);
  }
  return HONE_OK;
}
