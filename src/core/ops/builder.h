/* builder: makes nodes as formulas are written: y = x_2(b, OP_Mul, x, x_scalar(b, HONE_F32, 2)).
 * Composites, the readers of model files and passes use it. A node gets its attributes and the place in the
 * model that messages name, is expanded if it is a composite, inferred, and folded if it is small and
 * constant, so that sizes computed in a model are known when its next operator is read.
 *
 * The first failure stays in `status`; from then on the functions return a dummy value and do
 * nothing. A caller checks the status once at the end, or with BUILD before it reads the shape of
 * what it made. */
#ifndef HONE_OPS_BUILDER_H
#define HONE_OPS_BUILDER_H

#include "core/ops/ops.h"

struct graph_builder {
  struct ctx *ctx;
  struct graph *graph;
  /* the node that is replaced, a composite or the one that a pass visits; NULL: an operator of a
     file */
  const struct node *node;
  int64_t index;          /* of the file's operator; -1: none */
  const char *name;       /* its name, may be "" */
  const char *written_as; /* its operator type in the file */
  bool only_infers;       /* in a pass: nodes are neither expanded nor folded */
  hone_status status;
  const struct node *like; /* the next node gets its attributes; NULL: none */
  size_t attribute_count;  /* more attributes of the next node */
  struct attribute attributes[16];
  struct value *results[16]; /* of the composite */
  size_t bytes;              /* total size of all values made for the composite */
  struct value dummy;
};

/* Evaluates an expression that builds; returns from the function if the builder has failed. */
#define BUILD(b, expression)             \
  do {                                   \
    (void)(expression);                  \
    if ((b)->status) return (b)->status; \
  } while (0)
/* *out = value; returns the builder's status. */
MUST_USE hone_status x_give(struct graph_builder *b, struct value **out, struct value *value);
/* For messages, and for nodes made without these functions. */
struct place x_place(const struct graph_builder *b);
void x_sign(const struct graph_builder *b, struct node *node);
/* Stores an error, at the node. */
PRINTF(3, 4) void x_fail(struct graph_builder *b, hone_status id, const char *format, ...);

/* Attributes of the next node. */
void x_with_int(struct graph_builder *b, const char *name, int64_t i);
void x_with_float(struct graph_builder *b, const char *name, double f);
void x_with_ints(struct graph_builder *b, const char *name, const int64_t *ints, size_t count);
void x_with_string(struct graph_builder *b, const char *name, const char *text);
/* A node with one output; inputs may be NULL for omitted ones. */
struct value *x_op(struct graph_builder *b, enum op_id op, struct value *const *inputs,
                   size_t count);
/* A node with several outputs, stored in out. */
void x_node(struct graph_builder *b, enum op_id op, struct value *const *inputs, size_t count,
            size_t outputs, struct value **out);
struct value *x_1(struct graph_builder *b, enum op_id op, struct value *x);
struct value *x_2(struct graph_builder *b, enum op_id op, struct value *x, struct value *y);
struct value *x_3(struct graph_builder *b, enum op_id op, struct value *x, struct value *y,
                  struct value *z);
/* The same with attributes; a list of them ends with a NULL name. NULL: none. */
#define ARGS(...) ((const struct attribute[]){__VA_ARGS__, {.name = NULL}})
#define INT_ARG(n, value) \
  { .name = (n), .kind = ATTRIBUTE_INT, .i = (value) }
#define FLOAT_ARG(n, value) \
  { .name = (n), .kind = ATTRIBUTE_FLOAT, .f = (value) }
#define INTS_ARG(n, values, length) \
  { .name = (n), .kind = ATTRIBUTE_INTS, .ints = (values), .count = (length) }
#define STRING_ARG(n, value)                                              \
  {                                                                       \
    .name = (n), .kind = ATTRIBUTE_STRING, .s = {(value), strlen(value) } \
  }
/* the strings must live as long as the graph */
#define STRINGS_ARG(n, values, length) \
  { .name = (n), .kind = ATTRIBUTE_STRINGS, .strings = (values), .count = (length) }
#define VALUES(...)                       \
  ((struct value *const[]){__VA_ARGS__}), \
      sizeof((struct value *[]){__VA_ARGS__}) / sizeof(struct value *)
struct value *x_args(struct graph_builder *b, enum op_id op, struct value *const *inputs,
                     size_t count, const struct attribute *args);
void x_nodes(struct graph_builder *b, enum op_id op, struct value *const *inputs, size_t count,
             const struct attribute *args, size_t outputs, struct value **out);
/* A node with the attributes of another, at its place in the model; attributes of the next node
 * replace its. x_again: the composite's own operator, over other inputs. */
struct value *x_like(struct graph_builder *b, const struct node *like, enum op_id op,
                     struct value *const *inputs, size_t count);
struct value *x_again(struct graph_builder *b, struct value *const *inputs, size_t count);
/* Inlines a body with one input and one output over `input`; returns the output's value. */
struct value *x_inline(struct graph_builder *b, const struct graph *body, struct value *input);

/* Constants. The caller fills the tensor. */
struct value *x_constant(struct graph_builder *b, hone_dtype dtype, const struct shape *shape,
                         const struct tensor **out);
/* E_NUM if a file's number for an integer type needs more than 64 bits. */
struct value *x_scalar(struct graph_builder *b, hone_dtype dtype, double x);
/* The same for all numbers of a tensor. */
struct value *x_numbers(struct graph_builder *b, hone_dtype dtype, const struct shape *shape,
                        const double *numbers);
struct value *x_list(struct graph_builder *b, const int64_t *values, size_t count);
/* 0, 1, ... count - 1 times step plus start, in the shape [count] */
struct value *x_range(struct graph_builder *b, hone_dtype dtype, int64_t count, double start,
                      double step);

/* Frequent operations. */
struct value *x_cast(struct graph_builder *b, struct value *x, hone_dtype to);
struct value *x_reshape(struct graph_builder *b, struct value *x, const int64_t *dims, int rank);
struct value *x_expand(struct graph_builder *b, struct value *x, const struct shape *shape);
struct value *x_unsqueeze(struct graph_builder *b, struct value *x, int64_t axis);
struct value *x_squeeze(struct graph_builder *b, struct value *x, int64_t axis);
struct value *x_transpose(struct graph_builder *b, struct value *x, const int64_t *perm);
/* Swaps two axes. */
struct value *x_swap(struct graph_builder *b, struct value *x, int d, int other);
struct value *x_slice(struct graph_builder *b, struct value *x, int axis, int64_t start,
                      int64_t end);
struct value *x_concat(struct graph_builder *b, int64_t axis, struct value *const *parts,
                       size_t count);
struct value *x_gather(struct graph_builder *b, struct value *x, struct value *index, int64_t axis);
/* keepdims 0 or 1; axes NULL: all */
struct value *x_reduce(struct graph_builder *b, enum op_id op, struct value *x, const int64_t *axes,
                       size_t count, bool keep);
/* Pads with zeros along axis: `before` at the start, `after` at the end; negative numbers crop. */
struct value *x_pad(struct graph_builder *b, struct value *x, int axis, int64_t before,
                    int64_t after);

/* Two operands that broadcast: x, and a number of x's type. */
struct value *x_by(struct graph_builder *b, enum op_id op, struct value *x, double y);

/* For dimensions that depend on sizes given at run time (composites/sizes.c), after all passes. The
   slope of a dimension; x_set_slope gives it one. */
struct slope x_slope(const struct value *x, int d);
void x_set_slope(struct graph_builder *b, struct value *x, int d, struct slope slope);
/* A scalar that is `bound` at the bounds: a constant without a slope. */
struct value *x_sized(struct graph_builder *b, hone_dtype dtype, int64_t bound, struct slope slope);

#endif
