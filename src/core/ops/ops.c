/* ops: the table of operators from ops.def, with the expressions of the elementwise rows, and
 * lookup by (domain, name). */
#include "ops_internal.h"

/* A row of ops.def fills the whole entry; the expression tables then add to it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
const struct op op_table[OP_COUNT] = {
#define OP(domain, name, since, min_in, max_in, min_out, max_out, class, infer, eval) \
  [OP_##name] = {OP_##name,  domain, #name, since, min_in, max_in, min_out, max_out,  \
                 OP_##class, infer,  eval,  NULL,  NULL,   0,      0},
#include "ops.def"
#undef OP
#define UNARY(name, a, b, text) \
  [OP_##name].expression = #text, [OP_##name].alpha = (a), [OP_##name].beta = (b),
#include "unary.def"
#undef UNARY
#define BINARY(name, text) [OP_##name].expression = #text,
#include "binary.def"
#undef BINARY
#define TERNARY(name, text) [OP_##name].expression = #text,
#include "ternary.def"
#undef TERNARY
#define INTEGER(name, text) [OP_##name].integer = #text,
#include "integer.def"
#undef INTEGER
};
#pragma GCC diagnostic pop

/* "ai.onnx" is another spelling of the default domain. */
static const char *canonical(const char *domain) {
  return strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

/* The table is sorted by name; a test checks that. */
const struct op *op_find(const char *domain, const char *name) {
  size_t low = 1, high = OP_COUNT;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(name, op_table[middle].name);
    if (order == 0)
      return strcmp(canonical(domain), op_table[middle].domain) == 0 ? &op_table[middle] : NULL;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

void op_names(const struct op *op, const char **out_domain, const char **out_name) {
  *out_domain = op->domain;
  *out_name = op->name;
}

bool moves_elements(const struct node *node) {
  switch (node->op->id) {
    case OP_Gather:
    case OP_GatherElements:
    case OP_GatherND:
    case OP_Trilu:
      return true;
    case OP_ScatterElements:
    case OP_ScatterND:
      return !strcmp(node_string(node, "reduction", "none"), "none");
    default:
      return node->op->class == OP_MOVEMENT;
  }
}
