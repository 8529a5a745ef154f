/* make: nodes for the readers of formats that are not ONNX. */
#ifndef HONE_IMPORT_MAKE_H
#define HONE_IMPORT_MAKE_H

#include "compiler/import/import.h"

/* Where new nodes go, and what they are called in messages. */
struct make {
  struct ctx *ctx;
  struct graph *graph;
  int64_t index;          /* of the file's operator that is being written; -1: none */
  const char *name;       /* likewise, may be "" */
  const char *written_as; /* its operator's name in the file */
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
/* The node stands for that operator of the file. */
void make_sign(const struct make *make, struct node *node);
/* E_UNSUP at the operator that is being written: "KIND operator NAME: ..." */
MUST_USE hone_status make_refuse(const struct make *make, const char *kind, const char *name,
                                 const char *format, va_list args);
/* Constants: a list of int64, one number of any type. */
MUST_USE hone_status make_ints(struct make *make, const int64_t *ints, size_t count,
                               struct value **out);
MUST_USE hone_status make_scalar(struct make *make, hone_dtype dtype, double x, struct value **out);
/* Numbers of a type other than float64 and of a shape. */
MUST_USE hone_status make_numbers(struct make *make, hone_dtype dtype, const struct shape *shape,
                                  const double *numbers, struct value **out);
/* How many elements a value has; what is made was counted. */
int64_t make_elements(const struct value *x);
MUST_USE hone_status make_transpose(struct make *make, struct value *x, const int64_t *perm,
                                    struct value **out);
MUST_USE hone_status make_reshape(struct make *make, struct value *x, const int64_t *dims,
                                  size_t rank, struct value **out);
/* Size d of x as a new shape asks for it: -1 where only a run knows it. */
static inline int64_t make_kept_size(const struct value *x, int d) {
  return x->extents[d] ? -1 : x->shape.dims[d];
}
MUST_USE hone_status make_expand(struct make *make, struct value *x, const int64_t *dims,
                                 size_t rank, struct value **out);
MUST_USE hone_status make_cast(struct make *make, struct value *x, hone_dtype dtype,
                               struct value **out); /* x itself if it is of that type */
/* Two operands that broadcast, and a scalar of x's type. */
MUST_USE hone_status make_with_scalar(struct make *make, enum op_id id, struct value *x, double y,
                                      struct value **out);
/* Makes `value` a graph output called `name` (NULL: as it is called), through an Identity where it is an input, a constant
   or an output already. */
MUST_USE hone_status make_graph_output(struct make *make, struct value *value, const char *name);

/* A graph within this one, for an attribute of a node; and its next output, which may be a value of the graph around
   it. No name stands twice, so that the text form can be read. */
MUST_USE hone_status make_subgraph(struct make *make, struct graph **out);
MUST_USE hone_status make_subgraph_output(struct make *make, struct graph *made,
                                          struct value *value);
/* A node that holds graphs, as attributes of these names; of an If what stands for it, whose values (*out)->outputs are. */
MUST_USE hone_status make_holder(struct make *make, enum op_id id, struct value *const *inputs,
                                 size_t input_count, const char *const *names,
                                 struct graph *const *made, size_t name_count, size_t output_count,
                                 struct node **out);

/* -- recurrent_cell.c */
/* x, one step's part of a sequence; h and c of the last step become those of this one. */
typedef hone_status make_step_fn(const void *cell, struct value *x, struct value **h,
                                 struct value **c);
struct make_sequence {
  struct make *make;
  const void *cell; /* what `step` is given */
  make_step_fn *step;
  struct value *x; /* [time, ...] */
  bool is_reverse;
};
/* A step after the other: y [time, ...], the h of each in the order of x; h and c as they are after the last. Few
   steps are written out, more are a Loop. */
MUST_USE hone_status make_sequence(const struct make_sequence *sequence, struct value **h,
                                   struct value **c, struct value **y);

#endif
