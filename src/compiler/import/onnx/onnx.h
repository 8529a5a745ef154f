/* ONNX: protobuf messages to a graph. wire.c reads the bytes, proto.c and tensor.c the messages,
 * scope.c holds versions and names, build.c makes a graph of them, model.c all, upgrade.c brings old opsets to HONE_OPSET. */
#ifndef HONE_IMPORT_ONNX_H
#define HONE_IMPORT_ONNX_H

#include "compiler/import/import.h"

/* -- wire.c: protobuf's wire format */
enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };
struct wire {
  const uint8_t *at, *end;
  const uint8_t *start; /* of the file, for offsets in messages */
};
struct wire_field {
  uint32_t number;
  enum wire_type type;
  uint64_t value;    /* WIRE_VARINT, WIRE_FIXED32, WIRE_FIXED64 */
  struct wire bytes; /* WIRE_BYTES */
  size_t offset;     /* of the tag in the file */
};
/* The next field; only while wire->at < wire->end. */
MUST_USE hone_status wire_next(struct ctx *ctx, struct wire *wire, struct wire_field *out);
MUST_USE hone_status wire_varint(struct ctx *ctx, struct wire *wire, uint64_t *out);
/* The field must be of this type. */
MUST_USE hone_status wire_expect(struct ctx *ctx, const struct wire_field *field,
                                 enum wire_type type, const char *what);
/* A field that may come once: *seen is a bit set of numbers below 32. */
MUST_USE hone_status wire_once(struct ctx *ctx, const struct wire_field *field, uint32_t *seen,
                               const char *what);
/* A UTF-8 name within limit name_bytes, copied; a NUL inside is shown as U+2400. */
MUST_USE hone_status wire_name(struct ctx *ctx, struct arena *arena, const struct wire_field *field,
                               const char *what, const char **out);
/* Numbers of a repeated field, packed or not: `type` is the element's wire type. Counts them when
   out is NULL, else appends as raw 64 bits from out[*count] on. */
MUST_USE hone_status wire_numbers(struct ctx *ctx, const struct wire_field *field,
                                  enum wire_type type, uint64_t *out, size_t *count);
size_t wire_offset(const struct wire *wire, const uint8_t *at);

/* -- tensor.c */
/* A TensorProto; *out_name is "" when it has none. Payload stays in the mapping where its alignment
   allows, else it is copied into the arena. */
MUST_USE hone_status read_tensor(struct ctx *ctx, struct arena *arena, struct side_files *sides,
                                 struct wire message, const struct tensor **out,
                                 const char **out_name);
/* A SparseTensorProto as a dense tensor, within limit fold_bytes. */
MUST_USE hone_status read_sparse(struct ctx *ctx, struct arena *arena, struct side_files *sides,
                                 struct wire message, const struct tensor **out,
                                 const char **out_name);

/* -- proto.c: messages as structs, names not yet resolved */
struct raw_node {
  const char *domain, *op_type, *name, *overload;
  VEC(const char *) input_names;
  VEC(const char *) output_names;
  VEC(struct value *) inputs; /* set by the builder; NULL: left out */
  VEC(struct value *) outputs;
  VEC(struct attribute) attributes;
  int64_t index; /* in the file's order, counted over all graphs */
  size_t offset;
};
struct raw_tensor {
  const char *name;
  const struct tensor *tensor;
  size_t offset;
};
struct raw_graph {
  const char *name;
  VEC(struct raw_node) nodes;
  VEC(struct raw_tensor) tensors;
  VEC(struct raw_value) inputs;
  VEC(struct raw_value) outputs;
};
struct raw_opset {
  const char *domain;
  int64_t version;
};
struct raw_model {
  int64_t ir_version;
  VEC(struct raw_opset) opsets;
  struct wire graph; /* message, start NULL: absent */
  VEC(struct wire) functions;
};
/* A graph message still to be read, met as an attribute. */
struct pending_graph {
  struct wire message;
  struct graph *graph; /* created, empty */
  struct scope *scope; /* of the graph around it; set by the builder */
  const struct call *call;
  int depth;
};
/* A model-local function; its nodes are read anew at each call. */
struct raw_function {
  const char *domain, *name, *overload;
  VEC(const char *) inputs;
  VEC(const char *) outputs;
  VEC(struct attribute) defaults;
  VEC(struct raw_opset) opsets;
  struct wire message;
};
/* A node that calls a function, and the calls around it. */
struct call {
  const struct raw_function *function;
  const struct raw_node *node;
  const struct call *outer; /* NULL: called from the model's graphs */
  struct graph *graph;      /* that the nodes go to */
  int depth;
};
struct reader {
  struct ctx *ctx;
  struct arena *arena;
  struct side_files *sides;
  int64_t node_count, tensor_count; /* over all graphs, against the limits */
  VEC(struct pending_graph) pending;
  const struct call *call; /* whose function is being read; NULL: none */
};
MUST_USE hone_status read_model(struct reader *reader, struct wire message, struct raw_model *out);
/* Subgraphs of its nodes are appended to reader->pending with their depth. */
MUST_USE hone_status read_graph(struct reader *reader, struct wire message, int depth,
                                struct raw_graph *out);

/* A FunctionProto without its nodes, and then its nodes for reader->call. */
MUST_USE hone_status read_function(struct reader *reader, struct wire message,
                                   struct raw_function *out);
MUST_USE hone_status read_function_nodes(struct reader *reader, struct wire message, int depth,
                                         struct raw_graph *out);

/* -- build.c: raw graphs to graphs */
struct scope {
  struct scope *parent;
  struct graph *graph;
  struct names names;
  int depth; /* of graphs and calls, the main graph 1 */
};
/* Rewritten again once shapes are known: what an upgrade had to write without them. */
struct fixup {
  enum { FIX_SOFTMAX, FIX_CAST } kind;
  struct graph *graph;
  struct value *from, *to; /* FIX_SOFTMAX: around the three nodes; FIX_CAST: constant, result */
  struct node *node;       /* the softmax; the CastLike */
  int64_t axis;
};
struct builder {
  struct reader reader;
  const struct import_options *options;
  struct raw_model model;
  int64_t opset;            /* of the default domain, where reader.call stands */
  struct names functions;   /* "domain:name:overload" -> struct raw_function */
  VEC(struct call *) calls; /* all that were met; expanded up to next_call */
  size_t next_call;
  size_t file_bytes, work_bytes; /* of the model; of function bodies read so far */
  VEC(struct graph *) graphs;    /* all, the main graph first */
  VEC(struct fixup) fixups;
  struct raw_graph main; /* what the file declares of the main graph */
  size_t redefined;      /* constants of a name that another one had */
  const char *first_redefined;
};
/* One graph of the model into scope->graph. */
MUST_USE hone_status build_graph(struct builder *builder, struct wire message, int depth,
                                 struct scope *scope);
/* A constant from the one attribute of a Constant node. */
MUST_USE hone_status constant_of(struct builder *builder, const struct raw_node *node,
                                 const struct tensor **out);
bool is_constant_node(const struct raw_node *node);
/* Resolves the inputs in the scope, upgrades, and appends the node to the scope's graph. */
MUST_USE hone_status add_node(struct builder *builder, struct scope *scope, struct raw_node *node);

/* -- sequence_inputs.c: inputs of the model that are sequences or optionals */
/* `out` is raw, with the tensors that the caller gives in the place of lists. */
MUST_USE hone_status expand_lists(struct builder *builder, const struct raw_graph *raw,
                                  struct raw_graph *out);
/* The lists themselves, of the inputs that those became. */
MUST_USE hone_status join_lists(struct builder *builder, struct scope *scope,
                                const struct raw_graph *raw);
/* Graphs read since `first_pending` lie in this scope. */
void adopt_pending(struct builder *builder, size_t first_pending, struct scope *scope);
/* to = Identity(from), both of the graph */
MUST_USE hone_status add_identity(struct builder *builder, struct graph *graph, struct value *from,
                                  struct value *to);
/* A node from resolved parts. */
MUST_USE hone_status build_node(struct builder *builder, struct graph *graph,
                                const struct raw_node *raw, struct node **out);

/* -- model.c */
MUST_USE hone_status build_model(struct builder *builder, struct wire message, struct graph **out);

/* -- functions.c */
MUST_USE hone_status read_functions(struct builder *builder);
/* The function that a node calls, NULL if none. */
const struct raw_function *function_of(const struct builder *builder, const struct raw_node *node);
MUST_USE hone_status note_call(struct builder *builder, const struct raw_function *function,
                               const struct scope *scope, const struct raw_node *node);
/* What is read from now on belongs to this call (NULL: to the model's graphs). */
void enter_call(struct builder *builder, const struct call *call);
/* Stands for an optional argument left out; only its address is used. */
extern const struct value absent_value;

/* -- scope.c */
MUST_USE hone_status check_opset_version(struct ctx *ctx, const struct raw_opset *opset);
/* ir_version and opset_import in range; sets builder->opset. */
MUST_USE hone_status check_versions(struct builder *builder);
/* Version of a domain in the model, or in the function being expanded; 0: not imported. */
int64_t opset_of(const struct builder *builder, const char *domain);
struct place place_raw(const struct raw_node *node);
/* E_FORMAT if the name is defined already. */
MUST_USE hone_status declare(struct builder *builder, struct scope *scope, struct value *value,
                             struct place at);

/* -- upgrade.c */
/* Rewrites a node of the default domain at opset builder->opset into HONE_OPSET's meaning; may
   append helper nodes to the graph before it. inputs and outputs are resolved, op_type may change.
   *out_done: the node was of an older form and is now current. */
/* Has the operator rows in the table of old forms? */
bool is_upgraded(const char *op_type);
/* Gives a node of com.microsoft the name that its meaning has here; true: it needs no opset. */
bool contrib_name(struct raw_node *node);
MUST_USE hone_status upgrade_node(struct builder *builder, struct graph *graph,
                                  struct raw_node *node, bool *out_done);
/* After shapes are known: what had to be written without them becomes direct. */
MUST_USE hone_status upgrade_finish(struct builder *builder, struct graph *graph);
#endif
