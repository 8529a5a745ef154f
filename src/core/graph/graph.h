/* graph: the intermediate representation. Nodes with ONNX semantics at HONE_OPSET over values.
 *
 * A graph lives in one arena. Values are logically in ONNX order; physical order belongs to the
 * plan. Shapes are fixed or upper bounds: each dimension known only at run time has a numbered
 * extent. Nodes are in topological order. */
#ifndef HONE_GRAPH_H
#define HONE_GRAPH_H

#include "core/base/base.h"

#define HONE_OPSET 28
#define HONE_MAX_EXTENTS 4096

struct op; /* src/core/ops/ops.h */
struct graph;
struct node;

struct shape {
  int rank;
  int64_t dims[HONE_MAX_RANK];
};

/* Sizes known when an artifact is called: those that the caller gives, and those computed from
 * them. Number k < HONE_MAX_SYMBOLS is symbol k, number HONE_MAX_SYMBOLS + j is derived[j]. */
enum {
  HONE_MAX_SYMBOLS = 4,
  HONE_MAX_SIZES = 64,
  HONE_MAX_DERIVED = HONE_MAX_SIZES - HONE_MAX_SYMBOLS
};
/* Decrease of a dimension for each step that a size is below its bound, by size. */
struct slope {
  int64_t of[HONE_MAX_SIZES];
};
struct symbols {
  size_t count; /* 0: all sizes are fixed */
  struct symbol {
    const char *name;     /* as written by the user: letters, digits, _ */
    int64_t least, bound; /* from 1 to the bound, or as requested ("0<=P<=64") */
    int64_t at;           /* default size ("N=8<=64"), the bound if not given */
  } at[HONE_MAX_SYMBOLS];
  size_t derived_count;
  /* a * b / divisor, rounded down: a strided window (b is 1), or two dimensions joined to one
     (divisor 1). a and b are linear in the sizes before it. */
  struct derived_size {
    int64_t bound, a, b; /* at the bounds */
    struct slope a_slope, b_slope;
    int64_t divisor;
  } * derived; /* [HONE_MAX_DERIVED], in the graph's arena; NULL: none */
};
/* A constant: dense, row-major, little endian. 4-bit and 2-bit types are packed, low bits first. A
 * string tensor's data is an array of struct string. */
struct tensor {
  hone_dtype dtype;
  struct shape shape;
  const void *data;
  size_t bytes;
};
struct string {
  const char *bytes;
  size_t length;
};

/* The elements of a sequence or an optional; an optional has one or none. */
struct value_list {
  bool is_optional;
  size_t count;
  struct value **at;
};

struct value {
  const char *name; /* as in the model, any UTF-8; unique in its graph */
  hone_dtype dtype; /* HONE_UNDEFINED until inferred */
  bool has_shape;
  /* without has_shape: as declared in the file, maybe wrong; -1: any size; rank 0: not declared */
  struct shape shape;
  /* by dimension: 0, or the number of its extent, whose size the caller or the producing step gives
   * at run time; shape.dims holds the bound */
  uint32_t extents[HONE_MAX_RANK];
  /* for a short integer list that holds sizes, during inference; or NULL */
  const struct size_list *sizes;
  /* bounds of its elements, during inference; NULL: those of the type */
  const struct range *range;
  /* by dimension: the size is dims[d] minus slope[d].of[k] for each step of symbol k below its
   * bound; NULL: fixed */
  const struct slope *slope;
  /* for a constant with slopes: the start of its window in the constant at the bounds, per step;
   * NULL: the first elements */
  const struct slope *begin;
  const struct tensor *constant; /* NULL unless known at compile time */
  /* a value that depends only on sizes (no producer, no constant): its elements at the bounds, and
   * the slope of each; NULL: any other */
  const struct tensor *at_bounds;
  const struct slope *elements;
  /* what it was at the other sizes, while slopes are found (follow.h); NULL: as at the bounds */
  struct sightings *seen;
  const struct node *folded_from; /* of a constant: the node that computed it, or NULL */
  /* For an integer input or output with a declared scale: it represents scale * (integer -
   * zero_point); 0: not declared. */
  double scale;
  int64_t zero_point;
  struct node *producer;   /* NULL for inputs and initializers */
  struct value_list *list; /* elements of a sequence or optional, during inference */
  uint32_t index;          /* position in graph->values */
  bool is_input, is_output;
  /* a state input that the model's file does not list: its own engines keep it internally */
  bool is_kept;
  bool is_computed; /* a constant at the bounds, computed again at run time by folded_from */
};

enum attribute_kind {
  ATTRIBUTE_INT = 2,
  ATTRIBUTE_FLOAT = 1,
  ATTRIBUTE_STRING = 3,
  ATTRIBUTE_TENSOR = 4,
  ATTRIBUTE_GRAPH = 5,
  ATTRIBUTE_FLOATS = 6,
  ATTRIBUTE_INTS = 7,
  ATTRIBUTE_STRINGS = 8
}; /* numbered as ONNX AttributeProto.AttributeType */

struct attribute {
  const char *name;
  enum attribute_kind kind;
  int64_t i;
  double f;
  struct string s;
  size_t count; /* of ints, floats, strings */
  const int64_t *ints;
  const double *floats;
  const struct string *strings;
  const struct tensor *tensor;
  struct graph *graph;
};

struct node {
  const struct op *op;
  const char *name; /* as in the model, may be "" */
  int64_t index;    /* index in the file, for messages; -1: made by a pass */
  /* the operator's name in the model's file, "FULLY_CONNECTED"; NULL: not from a file */
  const char *written_as;
  size_t input_count, output_count;
  struct value **inputs;  /* NULL entries: omitted optional inputs */
  struct value **outputs; /* NULL entries: unused outputs */
  size_t attribute_count;
  struct attribute *attributes;
};

/* A short list of integers: at[i]; if extent[i] is not 0, the run-time size of that extent, with
 * at[i] as its bound; if number[i] is not NULL, the run-time value of that integer, from least[i]
 * to at[i]. */
struct size_list {
  size_t count;
  int64_t at[HONE_MAX_RANK], least[HONE_MAX_RANK];
  uint32_t extent[HONE_MAX_RANK];
  struct value *number[HONE_MAX_RANK];
};

struct range {
  double low, high; /* inclusive; -INFINITY and INFINITY: unbounded */
};

/* A size known only at run time, shared by all dimensions with this number. */
struct extent {
  int64_t bound;
};

/* State: an output of one run that is an input of the next, of the same type and shape; both may
 * use the same memory. */
struct alias {
  size_t output, input;         /* indices in the graph's lists */
  const struct tensor *initial; /* before the first run; NULL: zeros */
};

struct graph {
  struct arena *arena;
  const char *name;
  VEC(struct value *) values;
  VEC(struct node *) nodes; /* topological order */
  VEC(struct value *) inputs;
  VEC(struct value *) outputs;
  /* shapes are those at the bounds; values that depend on a symbol have slopes */
  struct symbols symbols;
  struct graph *parent; /* of a subgraph: names may refer to its values */
  bool is_open;         /* some input dimensions are dynamic */
  bool is_open_inside;  /* one of them is not the first of its input: not only the batch */
  /* its dimensions will be compared with those at other sizes: passes must not rely on numbers that
   * were computed from shapes */
  bool keeps_sizes;
  /* loops with a known trip count are not unrolled, and an If keeps its branches if its condition was
   * computed from shapes */
  bool keeps_control;
  /* of each If that stays, as they were inferred: the dimensions whose sizes differ (if_sizes.c); those of
   * the graph at the bounds hold at other sizes too */
  VEC(uint64_t) unlike;
  const struct graph *at_bounds; /* NULL: this is it */
  uint64_t decisions;            /* hash of the conditions that were computed from shapes */
  bool has_resolved;             /* some were */
  /* of a branch: compared with that at other sizes; by call of symbol_follow: not taken */
  bool is_followed;
  uint32_t passed_over;
  bool impossible; /* a branch whose shapes do not match: it can only fail. No nodes. */
  /* engines may quantise activations used with int8 weights: a .tflite's dynamic range */
  bool is_dynamic;
  uint64_t fresh; /* counter for names of new values */
  /* dynamic dimensions of the model's file, and the sizes they got; NULL: none */
  const char *open_dimensions;
  VEC(struct alias) aliases;
  VEC(struct extent) extents; /* only in the outermost graph; number n is at[n - 1] */
};
/* Dimensions of inputs and outputs that a written file names instead of giving their size; the
 * graph has an example of each size, and is valid for all others. */
struct open_dimensions {
  struct open_dimension {
    const struct value *value;
    int axis;
    const char *name;
  } * at;
  size_t count, capacity;
};
struct node_list {
  struct node **at;
  size_t count, capacity;
};
struct graph_list {
  struct graph **at;
  size_t count, capacity;
};

/* -- shape.c */
struct shape shape_of(int rank, const int64_t *dims);
MUST_USE bool shape_count(const struct shape *shape, int64_t *out_elements);
bool shape_equal(const struct shape *a, const struct shape *b);
/* NumPy broadcasting; false if the shapes do not match. */
MUST_USE bool shape_broadcast(const struct shape *a, const struct shape *b, struct shape *out);
/* Dense row-major strides in elements. */
void shape_strides(const struct shape *shape, int64_t strides[HONE_MAX_RANK]);
/* "[1,3,224,224]" */
void shape_print(struct strbuf *text, const struct shape *shape);
/* Elements and bytes, checked against limits: E_SHAPE (negative), E_LIMIT (too large), E_TYPE. */
MUST_USE hone_status extent(struct ctx *ctx, struct place at, hone_dtype dtype,
                            const struct shape *shape, int64_t *out_elements, size_t *out_bytes);

/* -- symbol.c */
bool slope_is_zero(const struct slope *slope);
bool slope_equal(const struct slope *a, const struct slope *b);
struct slope slope_times(const struct slope *slope, int64_t factor);
struct slope slope_plus(const struct slope *a, const struct slope *b);
/* Decrease of the dimension if each size is `less` below its bound. */
int64_t slope_loss(const struct slope *slope, const int64_t less[HONE_MAX_SIZES]);
/* How far a derived size is below its bound; false: a factor would be negative. */
MUST_USE bool derived_less(const struct derived_size *size, const int64_t less[HONE_MAX_SIZES],
                           int64_t *out);
/* Computes less of the derived sizes from that of the symbols; false: a size would be negative. */
MUST_USE bool symbols_complete(const struct symbols *symbols, int64_t less[HONE_MAX_SIZES]);
/* "N = 8, S = 100" */
void symbols_print(struct strbuf *text, const struct symbols *symbols, const int64_t *sizes);

/* -- build.c */
MUST_USE hone_status graph_create(struct ctx *ctx, struct arena *arena, struct graph **out);
/* A new value; name NULL: a fresh one ("%12"). */
MUST_USE hone_status graph_value(struct ctx *ctx, struct graph *graph, const char *name,
                                 struct value **out);
/* A value that depends only on sizes: each element is `bound` at the bounds and has this slope. */
MUST_USE hone_status graph_sized(struct ctx *ctx, struct graph *graph, hone_dtype dtype,
                                 const struct shape *shape, int64_t bound,
                                 const struct slope *slope, struct value **out);
MUST_USE hone_status graph_input(struct ctx *ctx, struct graph *graph, const char *name,
                                 hone_dtype dtype, const struct shape *shape, struct value **out);
/* A new extent of the outermost graph; E_LIMIT above HONE_MAX_EXTENTS of them. */
MUST_USE hone_status graph_extent(struct ctx *ctx, struct graph *graph, int64_t bound,
                                  uint32_t *out);
/* A constant value; `data` must outlive the graph unless copied with tensor_copy. */
MUST_USE hone_status graph_constant(struct ctx *ctx, struct graph *graph, const char *name,
                                    const struct tensor *tensor, struct value **out);
/* A constant without a name, of zeros, which the caller fills; and a list of i64: a shape, axes or bounds. */
MUST_USE hone_status graph_new_constant(struct ctx *ctx, struct graph *graph, hone_dtype dtype,
                                        const struct shape *shape, struct value **out);
MUST_USE hone_status graph_ints(struct ctx *ctx, struct graph *graph, const int64_t *numbers,
                                size_t count, struct value **out);
/* Allocates zeroed payload for dtype and shape in the arena. */
MUST_USE hone_status tensor_create(struct ctx *ctx, struct arena *arena, hone_dtype dtype,
                                   const struct shape *shape, struct tensor **out);
/* The value's type and sizes with the caller's memory, which may be NULL. */
hone_tensor value_tensor(const struct value *value, const void *data);
/* Zeroed memory for a value with known type and shape. */
MUST_USE hone_status value_memory(struct ctx *ctx, struct arena *arena, const struct value *value,
                                  hone_tensor *out);
/* A copy of the tensor in the arena. */
MUST_USE hone_status tensor_copy(struct ctx *ctx, struct arena *arena, const struct tensor *from,
                                 struct tensor **out);
/* Appends a node with room for its inputs; outputs are new values (or NULL entries on request). */
MUST_USE hone_status graph_node(struct ctx *ctx, struct graph *graph, const struct op *op,
                                struct value *const *inputs, size_t input_count,
                                size_t output_count, struct node **out);
MUST_USE hone_status graph_output(struct ctx *ctx, struct graph *graph, struct value *value);
MUST_USE hone_status node_set(struct ctx *ctx, struct graph *graph, struct node *node,
                              const struct attribute *attribute); /* adds or replaces by name */
MUST_USE hone_status node_set_int(struct ctx *ctx, struct graph *graph, struct node *node,
                                  const char *name, int64_t i);
MUST_USE hone_status node_set_float(struct ctx *ctx, struct graph *graph, struct node *node,
                                    const char *name, double f);
MUST_USE hone_status node_set_ints(struct ctx *ctx, struct graph *graph, struct node *node,
                                   const char *name, const int64_t *ints, size_t count);
MUST_USE hone_status node_set_string(struct ctx *ctx, struct graph *graph, struct node *node,
                                     const char *name, const char *string);

/* -- copy.c: payload of constants and attribute contents are shared with the original; subgraphs
 * are copied */
MUST_USE hone_status graph_copy(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                struct graph **out);
/* Copies the nodes of `body`, a subgraph of `graph`, as nodes of `graph` that are not in its list
 * yet: its inputs become `inputs`, its other values new ones; outputs[i]: the value of output i. */
MUST_USE hone_status graph_inline(struct ctx *ctx, struct graph *graph, const struct graph *body,
                                  struct value *const *inputs, struct node_list *out_nodes,
                                  struct value **outputs);

/* -- part.c: a range of the nodes as a separate graph */
/* By value index: 1 + the index of the node that makes it (0: none), and of the last one that reads
 * it, including subgraphs (0: none). */
struct graph_lives {
  size_t *made, *last_read;
};
MUST_USE hone_status graph_find_lives(struct ctx *ctx, struct arena *arena,
                                      const struct graph *graph, struct graph_lives *out);
/* Nodes from <= n < to. Inputs are the values that they read and do not make, outputs those that
 * are read later or are graph outputs; both keep their names and the graph's order. Payload is
 * shared. E_USAGE. */
MUST_USE hone_status graph_part(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                size_t from, size_t to, struct graph **out);

/* -- query.c */
const struct attribute *node_attribute(const struct node *node, const char *name); /* or NULL */
int64_t node_int(const struct node *node, const char *name, int64_t otherwise);
double node_float(const struct node *node, const char *name, double otherwise);
/* The string, or `otherwise`; strings with a NUL equal no other string. */
const char *node_string(const struct node *node, const char *name, const char *otherwise);
/* NULL and 0 if absent. */
const int64_t *node_ints(const struct node *node, const char *name, size_t *out_count);
struct place node_place(const struct node *node);
/* `made` replaces a part of `node`: messages use the same name. */
static inline void node_stand_for(struct node *made, const struct node *node) {
  made->name = node->name;
  made->index = node->index;
  made->written_as = node->written_as;
}
/* Input k or NULL if absent. */
static inline struct value *node_input(const struct node *node, size_t k) {
  return k < node->input_count ? node->inputs[k] : NULL;
}
/* Reads a constant integer tensor (i32 or i64) of at most max elements; false if it is not one. */
MUST_USE bool tensor_read_ints(const struct tensor *tensor, size_t max, int64_t *out,
                               size_t *out_count);
/* Element i as double / int64 for any numeric type. */
double tensor_f64(const struct tensor *tensor, size_t i);
int64_t tensor_i64(const struct tensor *tensor, size_t i);
/* Writes element i, rounding (floats) or wrapping (integers) to the dtype. */
void tensor_set_f64(const struct tensor *tensor, size_t i, double x);
void tensor_set_i64(const struct tensor *tensor, size_t i, int64_t x);
/* The same for floats of 8 and 4 bits, rounded as by f64_to_tiny (tensor_set_f64: up,
 * saturating). */
void tensor_set_tiny(const struct tensor *tensor, size_t i, double x, enum tiny_rounding rounding,
                     bool saturate);
size_t tensor_count(const struct tensor *tensor);
/* f32 whose elements are all values of f16, as the scales of quantised weights in files. */
bool tensor_holds_halves(const struct tensor *tensor);
/* Bits that hold every element of bytes, signed if they are: 5 or 6. 0: more, or no bytes. */
int tensor_byte_bits(const struct tensor *tensor);
/* Same type, shape and elements, floats compared as bits; both may be NULL. */
bool tensor_equal(const struct tensor *a, const struct tensor *b);
/* Same name, kind and value, floats compared as bits; graphs are never equal. */
bool attribute_equal(const struct attribute *a, const struct attribute *b);
/* `graph` first, then every subgraph in its nodes' attributes, outer before inner. */
MUST_USE hone_status graph_nested(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                  struct graph_list *out);
/* True if a dimension is known only at run time. */
bool value_is_open(const struct value *value);
/* True if the model has dynamic input dimensions. It is then made at several sizes, and a decision by a
 * number of elements must be the same at all of them. */
bool graph_is_open(const struct graph *graph);
/* The state of input i; NULL: none. */
const struct alias *graph_state_of(const struct graph *graph, size_t input);
/* The same of output i. */
const struct alias *graph_state_at(const struct graph *graph, size_t output);
/* Declares that output `to` is the next value of state input `from`; E_USAGE unless both have one
 * type and fixed shape, and neither is state yet. */
MUST_USE hone_status graph_alias(struct ctx *ctx, struct graph *graph, const char *from,
                                 const char *to);
/* False for NULL and for values of other graphs (captured ones). */
bool graph_owns(const struct graph *graph, const struct value *value);
/* All its outputs are constants: it was folded. */
bool node_is_known(const struct node *node);
/* True for a constant of one number (any rank); *out: its value, else unchanged. */
bool constant_scalar(const struct value *value, double *out);
/* How often each value is read (graph outputs count once): array of values.count. */
MUST_USE hone_status graph_uses(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                uint32_t **out_uses);
/* Readers of each value in the graph itself: indices in the node list, ascending, once per input;
 * those of value v from first[v] to first[v + 1]. */
struct graph_readers {
  uint32_t *first; /* values.count + 1 */
  uint32_t *at;
};
MUST_USE hone_status graph_find_readers(struct ctx *ctx, struct arena *arena,
                                        const struct graph *graph, struct graph_readers *out);

/* -- edit.c */
/* All readers of `from`, and graph outputs, use `to`. Keeps output names: if `from` is a graph
 * output, `to` takes its name (or a node of op `identity` is appended if `to` is an input, a
 * constant or already an output). One call is linear in the graph. */
MUST_USE hone_status graph_replace(struct ctx *ctx, struct graph *graph, struct value *from,
                                   struct value *to, const struct op *identity);
/* Many replacements at once: a pass records them while it visits the nodes in order, calls
 * substitution_apply on each node before reading it, and ends with one graph_substitute. */
struct substitution {
  struct value **at; /* by value index; NULL: unchanged */
  size_t count, capacity;
};
MUST_USE hone_status substitution_add(struct ctx *ctx, struct graph *graph,
                                      struct substitution *map, const struct value *from,
                                      struct value *to);
struct value *substitution_find(struct substitution *map, const struct graph *graph,
                                struct value *value);
void substitution_apply(struct substitution *map, const struct graph *graph, struct node *node);
MUST_USE hone_status graph_substitute(struct ctx *ctx, struct graph *graph,
                                      struct substitution *map, const struct op *identity);
/* Stable topological sort; E_FORMAT names a cycle. */
MUST_USE hone_status graph_sort(struct ctx *ctx, struct graph *graph, bool *out_was_sorted);
/* Removes nodes without used outputs, NULL entries of the node list, and unreferenced values (which
 * renumbers value->index). A node whose outputs are all constants is removed too, unless one is a
 * graph output. Includes subgraphs. */
MUST_USE hone_status graph_sweep(struct ctx *ctx, struct graph *graph, size_t *out_removed);

/* -- verify.c, print.c, parse.c */
/* Checks the structure: one producer, order, types and shapes known. */
MUST_USE hone_status graph_verify(struct ctx *ctx, const struct graph *graph);
/* Characters of names that need no quotes (the first must not be a digit or a dot). */
#define GRAPH_NAME_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./%"
/* The readable text form (grammar: parse.c). Names that are not simple identifiers are quoted with
 * escapes. Constants above 16 elements are printed as a hash unless with_data. */
struct print_options {
  bool with_data;
};
/* graph does not know the operators: callers pass both functions (op_find and op_names of ops). */
typedef const struct op *find_op_fn(const char *domain, const char *name);
typedef void name_op_fn(const struct op *op, const char **out_domain, const char **out_name);
/* options NULL: zeros */
MUST_USE hone_status graph_print(struct ctx *ctx, struct strbuf *text, const struct graph *graph,
                                 name_op_fn *names, const struct print_options *options);
/* Parses the output of graph_print(with_data), and hand-written tests. Shapes of values may be
 * omitted: graph_infer fills them in. */
MUST_USE hone_status graph_parse(struct ctx *ctx, struct arena *arena, const char *text,
                                 size_t length, find_op_fn *find, struct graph **out);

#endif
