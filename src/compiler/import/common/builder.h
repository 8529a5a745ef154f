/* builder: what the readers of formats other than ONNX need in addition to core/ops/builder.h. */
#ifndef HONE_IMPORT_MAKE_H
#define HONE_IMPORT_MAKE_H

#include "compiler/import/import.h"
#include "core/ops/builder.h"

/* E_UNSUP at the current operator: "KIND operator NAME ... is not supported"; the format is a
 * phrase such as "of rank %d". */
MUST_USE hone_status make_refuse(const struct graph_builder *b, const char *kind, const char *name,
                                 const char *format, va_list args);
/* The number of elements of a value; its size was checked when it was made. */
int64_t make_elements(const struct value *x);
/* Dimension d of x for use in a Reshape: -1 if it is dynamic. */
static inline int64_t make_kept_size(const struct value *x, int d) {
  return x->extents[d] ? -1 : x->shape.dims[d];
}
/* Makes `value` a graph output called `name` (NULL: its own name), through an Identity if it is an
 * input, a constant or an output already. */
MUST_USE hone_status make_graph_output(struct graph_builder *b, struct value *value,
                                       const char *name);

/* A subgraph, for an attribute of a node; and its next output, which may be a value of the outer
 * graph. Names are unique, so that the text form can be parsed. */
MUST_USE hone_status make_subgraph(struct graph_builder *b, struct graph **out);
MUST_USE hone_status make_subgraph_output(struct graph_builder *b, struct graph *made,
                                          struct value *value);
/* A node with subgraphs, as attributes of these names; an If may be replaced by other nodes, whose
 * values are (*out)->outputs. */
MUST_USE hone_status make_holder(struct graph_builder *b, enum op_id id,
                                 struct value *const *inputs, size_t input_count,
                                 const char *const *names, struct graph *const *made,
                                 size_t name_count, size_t output_count, struct node **out);

/* -- recurrent_cell.c */
/* x: one time step of a sequence; h and c of the previous step become those of this one. */
typedef hone_status make_step_fn(const void *cell, struct value *x, struct value **h,
                                 struct value **c);
struct make_sequence {
  struct graph_builder *b;
  const void *cell; /* argument of `step` */
  make_step_fn *step;
  struct value *x; /* [time, ...] */
  bool is_reverse;
};
/* Applies a cell to each time step: y [time, ...], h of each step in the order of x; h and c after
 * the last step. Few steps are unrolled, more become a Loop. */
MUST_USE hone_status make_sequence(const struct make_sequence *sequence, struct value **h,
                                   struct value **c, struct value **y);

#endif
