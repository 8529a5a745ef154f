/* builder: nodes for the readers of formats other than ONNX. */
#ifndef HONE_IMPORT_MAKE_H
#define HONE_IMPORT_MAKE_H

#include "compiler/import/import.h"

/* The graph that receives new nodes, and the current operator for messages. */
struct make {
  struct ctx *ctx;
  struct graph *graph;
  int64_t index;          /* index of the file's current operator; -1: none */
  const char *name;       /* its name, may be "" */
  const char *written_as; /* its operator type in the file */
};
/* One attribute; a list of them ends with a NULL name. */
struct arg {
  const char *name;
  enum { ARG_INT, ARG_FLOAT, ARG_INTS, ARG_STRING, ARG_STRINGS } kind;
  int64_t i;
  double f;
  const int64_t *ints;
  size_t count;
  const char *s;
  const struct string *strings; /* `count` of them, which outlive the graph */
};
#define ARGS(...) ((const struct arg[]){__VA_ARGS__, {.name = NULL}})
#define INT_ARG(n, value) \
  { .name = (n), .kind = ARG_INT, .i = (value) }
#define FLOAT_ARG(n, value) \
  { .name = (n), .kind = ARG_FLOAT, .f = (value) }
#define INTS_ARG(n, values, length) \
  { .name = (n), .kind = ARG_INTS, .ints = (values), .count = (length) }
#define STRING_ARG(n, value) \
  { .name = (n), .kind = ARG_STRING, .s = (value) }
#define STRINGS_ARG(n, values, length) \
  { .name = (n), .kind = ARG_STRINGS, .strings = (values), .count = (length) }
#define VALUES(...)                       \
  ((struct value *const[]){__VA_ARGS__}), \
      sizeof((struct value *[]){__VA_ARGS__}) / sizeof(struct value *)
/* Appends a node, infers it, and folds it if it is small and constant. args may be NULL. */
MUST_USE hone_status make_node(struct make *make, enum op_id id, struct value *const *inputs,
                               size_t input_count, const struct arg *args, struct value **out);
MUST_USE hone_status make_nodes(struct make *make, enum op_id id, struct value *const *inputs,
                                size_t input_count, const struct arg *args, size_t output_count,
                                struct value **outs);
struct place make_place(const struct make *make);
/* Sets the node's name, index and operator type in the file. */
void make_sign(const struct make *make, struct node *node);
/* E_UNSUP at the current operator: "KIND operator NAME ... is not supported"; the format is a
 * phrase such as "of rank %d". */
MUST_USE hone_status make_refuse(const struct make *make, const char *kind, const char *name,
                                 const char *format, va_list args);
/* Constants: a list of int64, one number of any type. */
MUST_USE hone_status make_ints(struct make *make, const int64_t *ints, size_t count,
                               struct value **out);
MUST_USE hone_status make_scalar(struct make *make, hone_dtype dtype, double x, struct value **out);
/* Numbers of a type other than float64 and of a shape. */
MUST_USE hone_status make_numbers(struct make *make, hone_dtype dtype, const struct shape *shape,
                                  const double *numbers, struct value **out);
/* The number of elements of a value; its size was checked when it was made. */
int64_t make_elements(const struct value *x);
MUST_USE hone_status make_transpose(struct make *make, struct value *x, const int64_t *perm,
                                    struct value **out);
MUST_USE hone_status make_reshape(struct make *make, struct value *x, const int64_t *dims,
                                  size_t rank, struct value **out);
/* Dimension d of x for use in a Reshape: -1 if it is dynamic. */
static inline int64_t make_kept_size(const struct value *x, int d) {
  return x->extents[d] ? -1 : x->shape.dims[d];
}
MUST_USE hone_status make_expand(struct make *make, struct value *x, const int64_t *dims,
                                 size_t rank, struct value **out);
MUST_USE hone_status make_cast(struct make *make, struct value *x, hone_dtype dtype,
                               struct value **out); /* x itself if it has that type */
/* Two operands that broadcast, and a scalar of x's type. */
MUST_USE hone_status make_with_scalar(struct make *make, enum op_id id, struct value *x, double y,
                                      struct value **out);
/* Makes `value` a graph output called `name` (NULL: its own name), through an Identity if it is an
 * input, a constant or an output already. */
MUST_USE hone_status make_graph_output(struct make *make, struct value *value, const char *name);

/* A subgraph, for an attribute of a node; and its next output, which may be a value of the outer
 * graph. Names are unique, so that the text form can be parsed. */
MUST_USE hone_status make_subgraph(struct make *make, struct graph **out);
MUST_USE hone_status make_subgraph_output(struct make *make, struct graph *made,
                                          struct value *value);
/* A node with subgraphs, as attributes of these names; an If may be replaced by other nodes, whose
 * values are (*out)->outputs. */
MUST_USE hone_status make_holder(struct make *make, enum op_id id, struct value *const *inputs,
                                 size_t input_count, const char *const *names,
                                 struct graph *const *made, size_t name_count, size_t output_count,
                                 struct node **out);

/* -- recurrent_cell.c */
/* x: one time step of a sequence; h and c of the previous step become those of this one. */
typedef hone_status make_step_fn(const void *cell, struct value *x, struct value **h,
                                 struct value **c);
struct make_sequence {
  struct make *make;
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
