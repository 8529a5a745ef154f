/* ONNX: protobuf messages to a graph. wire.c reads the bytes, proto.c and tensor.c the messages,
 * scope.c holds versions and names, build.c builds graphs from them, model.c the whole model,
 * upgrade.c rewrites old opsets to HONE_OPSET. */
#ifndef HONE_IMPORT_ONNX_H
#define HONE_IMPORT_ONNX_H

#include "compiler/import/import.h"

/* -- wire.c: protobuf's wire format */
enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };
struct wire {
  const uint8_t *at, *end;
  const uint8_t *start; /* start of the file, for offsets in messages */
};
struct wire_field {
  uint32_t number;
  enum wire_type type;
  uint64_t value;    /* WIRE_VARINT, WIRE_FIXED32, WIRE_FIXED64 */
  struct wire bytes; /* WIRE_BYTES */
  size_t offset;     /* file offset of the tag */
};
/* The next field; call only while wire->at < wire->end. */
MUST_USE hone_status wire_next(struct ctx *ctx, struct wire *wire, struct wire_field *out);
MUST_USE hone_status wire_varint(struct ctx *ctx, struct wire *wire, uint64_t *out);
/* E_FORMAT unless the field has this type. */
MUST_USE hone_status wire_expect(struct ctx *ctx, const struct wire_field *field,
                                 enum wire_type type, const char *what);
/* E_FORMAT for the second occurrence of a field: *seen is a bit set of field numbers below 32. */
MUST_USE hone_status wire_once(struct ctx *ctx, const struct wire_field *field, uint32_t *seen,
                               const char *what);
/* A copied UTF-8 name within limit name_bytes; a NUL inside becomes U+2400. */
MUST_USE hone_status wire_name(struct ctx *ctx, struct arena *arena, const struct wire_field *field,
                               const char *what, const char **out);
/* Numbers of a repeated field, packed or not: `type` is the element's wire type. Counts them if out
 * is NULL, else appends them as raw 64 bits from out[*count] on. */
MUST_USE hone_status wire_numbers(struct ctx *ctx, const struct wire_field *field,
                                  enum wire_type type, uint64_t *out, size_t *count);
size_t wire_offset(const struct wire *wire, const uint8_t *at);

/* -- tensor.c */
/* A TensorProto; *out_name is "" if it has none. Payload stays in the mapping if its alignment
 * allows, else it is copied into the arena. */
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
  VEC(struct value *) inputs; /* set by the builder; NULL: omitted */
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
/* A subgraph of an attribute, still to be read. */
struct pending_graph {
  struct wire message;
  struct graph *graph; /* created, empty */
  struct scope *scope; /* scope of the enclosing graph; set by the builder */
  const struct call *call;
  int depth;
};
/* A model-local function; its nodes are read again for each call. */
struct raw_function {
  const char *domain, *name, *overload;
  VEC(const char *) inputs;
  VEC(const char *) outputs;
  VEC(struct attribute) defaults;
  VEC(struct raw_opset) opsets;
  struct wire message;
};
/* A node that calls a function, and the enclosing calls. */
struct call {
  const struct raw_function *function;
  const struct raw_node *node;
  const struct call *outer; /* NULL: called from the model's graphs */
  struct graph *graph;      /* receives the nodes */
  int depth;
};
struct reader {
  struct ctx *ctx;
  struct arena *arena;
  struct side_files *sides;
  int64_t node_count, tensor_count; /* over all graphs, checked against the limits */
  VEC(struct pending_graph) pending;
  const struct call *call; /* the call whose function is being read; NULL: none */
};
MUST_USE hone_status read_model(struct reader *reader, struct wire message, struct raw_model *out);
/* Subgraphs of its nodes are appended to reader->pending with their depth. */
MUST_USE hone_status read_graph(struct reader *reader, struct wire message, int depth,
                                struct raw_graph *out);

/* A FunctionProto without its nodes; and its nodes for reader->call. */
MUST_USE hone_status read_function(struct reader *reader, struct wire message,
                                   struct raw_function *out);
MUST_USE hone_status read_function_nodes(struct reader *reader, struct wire message, int depth,
                                         struct raw_graph *out);

/* -- build.c: raw graphs to graphs */
struct scope {
  struct scope *parent;
  struct graph *graph;
  struct names names;
  int depth; /* nesting of graphs and calls, the main graph 1 */
};
/* To be rewritten once shapes are known, because the upgrade had to be written without them. */
struct fixup {
  enum { FIX_SOFTMAX, FIX_CAST } kind;
  struct graph *graph;
  /* FIX_SOFTMAX: first and last value of the three nodes; FIX_CAST: constant, result */
  struct value *from, *to;
  struct node *node; /* the Softmax; the CastLike */
  int64_t axis;
};
struct builder {
  struct reader reader;
  const struct import_options *options;
  struct raw_model model;
  int64_t opset;            /* of the default domain, in the scope of reader.call */
  struct names functions;   /* "domain:name:overload" -> struct raw_function */
  VEC(struct call *) calls; /* all calls found; expanded up to next_call */
  size_t next_call;
  size_t file_bytes, work_bytes; /* size of the model; bytes of function bodies read so far */
  VEC(struct graph *) graphs;    /* all, the main graph first */
  VEC(struct fixup) fixups;
  struct raw_graph main; /* the file's declarations of the main graph */
  size_t redefined;      /* number of redefined constants */
  const char *first_redefined;
};
/* Builds one graph of the model in scope->graph. */
MUST_USE hone_status build_graph(struct builder *builder, struct wire message, int depth,
                                 struct scope *scope);
/* The value of a Constant node, from its only attribute. */
MUST_USE hone_status constant_of(struct builder *builder, const struct raw_node *node,
                                 const struct tensor **out);
bool is_constant_node(const struct raw_node *node);
/* Resolves the inputs in the scope, upgrades, and appends the node to the scope's graph. */
MUST_USE hone_status add_node(struct builder *builder, struct scope *scope, struct raw_node *node);

/* -- sequence_inputs.c: model inputs that are sequences or optionals */
/* `out` is raw with each list replaced by the tensors that the caller passes. */
MUST_USE hone_status expand_lists(struct builder *builder, const struct raw_graph *raw,
                                  struct raw_graph *out);
/* Builds the lists from those inputs. */
MUST_USE hone_status join_lists(struct builder *builder, struct scope *scope,
                                const struct raw_graph *raw);
/* Puts graphs read since `first_pending` into this scope. */
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
/* Nodes read from now on belong to this call (NULL: to the model's graphs). */
void enter_call(struct builder *builder, const struct call *call);
/* Represents an omitted optional argument; only its address is used. */
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
/* Rewrites a node of the default domain at opset builder->opset to its meaning at HONE_OPSET; may
 * add helper nodes before it. inputs and outputs are resolved, op_type may change. out_done: the
 * node had an older form and is now current. */
/* True if the table of old forms has rows for the operator. */
bool is_upgraded(const char *op_type);
/* Renames a node of com.microsoft to the operator with the same meaning in hone; true: it needs no
 * opset. */
bool contrib_name(struct raw_node *node);
MUST_USE hone_status upgrade_node(struct builder *builder, struct graph *graph,
                                  struct raw_node *node, bool *out_done);
/* Called once shapes are known: simplifies what had to be written without them. */
MUST_USE hone_status upgrade_finish(struct builder *builder, struct graph *graph);
#endif
