/* import: bytes to graph. One function a format; upgrade.c brings old opsets to HONE_OPSET.
 * Model files are hostile: bounds-checked cursors, no recursion, budgets before allocation. */
#ifndef HONE_IMPORT_H
#define HONE_IMPORT_H

#include "../ops/ops.h"

struct import_options {
  const char *shapes;          /* "x[1,3,224,224],y[1]"; NULL: batch 1, others an error */
  const char *side_files_from; /* folder of external data; NULL: the model's own */
  bool strict;                 /* unsorted nodes are an error, not a warning */
};

/* A model file kept open: mapped bytes that tensors point into, and what was read with it. */
struct model_file {
  struct mapping main;
  VEC(struct mapping) sides; /* external data, each file once; on the heap */
  char content_hash[33];     /* XXH3-128 of the model and its side files */
  char sha256[65];
};
void model_file_close(struct model_file *file);

/* Reads an ONNX file. The graph lives in `arena`, its big constants in the mapping: keep *out_file
   open as long as the graph. Shapes are inferred and small constants folded. */
MUST_USE hone_status import_onnx(struct ctx *ctx, struct arena *arena, const char *path,
                                 const struct import_options *options, struct model_file *out_file,
                                 struct graph **out_graph);
/* The same from bytes in memory (no external data unless side_files_from is set). */
MUST_USE hone_status import_onnx_bytes(struct ctx *ctx, struct arena *arena, const uint8_t *bytes,
                                       size_t size, const struct import_options *options,
                                       struct model_file *out_file, struct graph **out_graph);

/* ---- inside src/import ----------------------------------------------------------------------- */

/* -- looks.c ---------------------------------------------------------------------------------- */
/* Another format under this name: E_FORMAT "looks like a zip archive", E_TRUST if it carries code.
 */
MUST_USE hone_status looks_check(struct ctx *ctx, const char *path, const uint8_t *bytes,
                                 size_t size);

/* -- wire.c: protobuf's wire format -------------------------------------------------------------
 */
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

/* -- names.c: name -> pointer, seeded so that a model cannot aim at one bucket -------------------
 */
struct names {
  struct arena *arena;
  uint64_t seed;
  struct name_slot {
    const char *name;
    void *item;
    uint64_t hash;
  } * slots;
  size_t count, capacity; /* capacity a power of two */
};
void names_init(struct names *names, struct arena *arena);
void *names_find(const struct names *names, const char *name); /* NULL if absent */
/* *out_fresh false: the name is there already and nothing changed. item is not NULL. */
MUST_USE hone_status names_add(struct ctx *ctx, struct names *names, const char *name, void *item,
                               bool *out_fresh);

/* -- external.c: side files ---------------------------------------------------------------------
 */
struct side_files {
  struct model_file *file;
  int folder;          /* descriptor, -1: no folder */
  const char *name;    /* of the folder, for messages */
  unsigned owner;      /* of the folder */
  struct names opened; /* location -> index + 1 into file->sides */
};
/* folder NULL: the model has no files beside it, and asking for one is E_PATH. */
MUST_USE hone_status side_files_open(struct ctx *ctx, struct arena *arena, const char *folder,
                                     struct model_file *file, struct side_files *out);
void side_files_close(struct side_files *sides);
/* Bytes [offset, offset + bytes) of the file at `location`; length < 0: not stated in the model. */
MUST_USE hone_status side_files_read(struct ctx *ctx, struct side_files *sides,
                                     const char *location, size_t location_length, int64_t offset,
                                     int64_t length, size_t bytes, struct place at,
                                     const uint8_t **out);

/* -- tensor.c -----------------------------------------------------------------------------------
 */
/* A TensorProto; *out_name is "" when it has none. Payload stays in the mapping where its alignment
   allows, else it is copied into the arena. */
MUST_USE hone_status read_tensor(struct ctx *ctx, struct arena *arena, struct side_files *sides,
                                 struct wire message, const struct tensor **out,
                                 const char **out_name);
/* A SparseTensorProto as a dense tensor, within limit fold_bytes. */
MUST_USE hone_status read_sparse(struct ctx *ctx, struct arena *arena, struct side_files *sides,
                                 struct wire message, const struct tensor **out,
                                 const char **out_name);
bool dtype_supported(int64_t number);
/* extent(), which also refuses an empty shape whose other dimensions are too large. */
MUST_USE hone_status shape_check(struct ctx *ctx, struct place at, hone_dtype dtype,
                                 const struct shape *shape, int64_t *out_elements,
                                 size_t *out_bytes);

/* -- proto.c: messages as structs, names not yet resolved -----------------------------------------
 */
struct raw_dim {
  int64_t value;     /* >= 0, or -1: open */
  const char *param; /* name of an open dimension, may be "" */
};
struct raw_value { /* ValueInfoProto of a tensor */
  const char *name;
  const char *other_type; /* "a sequence", ...; NULL: a tensor */
  hone_dtype dtype;       /* HONE_UNDEFINED: not stated */
  bool has_shape;
  int rank;
  struct raw_dim *dims;
  size_t offset;
};
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

/* -- shapes.c: open dimensions ------------------------------------------------------------------
 */
/* Gives every input of the main graph that `is_real` marks a fixed shape. */
MUST_USE hone_status bind_shapes(struct ctx *ctx, struct arena *arena, const char *shapes,
                                 const struct raw_value *inputs, const bool *is_real, size_t count,
                                 struct shape *out_shapes);

/* -- build.c: raw graphs to graphs ----------------------------------------------------------------
 */
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
};
MUST_USE hone_status build_model(struct builder *builder, struct wire message, struct graph **out);
/* Version of a domain in the model, or in the function being expanded; 0: not imported. */
int64_t opset_of(const struct builder *builder, const char *domain);
struct place place_raw(const struct raw_node *node);
/* A constant from the one attribute of a Constant node. */
MUST_USE hone_status constant_of(struct builder *builder, const struct raw_node *node,
                                 const struct tensor **out);
bool is_constant_node(const struct raw_node *node);
/* Resolves the inputs in the scope, upgrades, and appends the node to the scope's graph. */
MUST_USE hone_status add_node(struct builder *builder, struct scope *scope, struct raw_node *node);
/* Graphs read since `first_pending` lie in this scope. */
void adopt_pending(struct builder *builder, size_t first_pending, struct scope *scope);
/* to = Identity(from), both of the graph */
MUST_USE hone_status add_identity(struct builder *builder, struct graph *graph, struct value *from,
                                  struct value *to);
/* A node from resolved parts. */
MUST_USE hone_status build_node(struct builder *builder, struct graph *graph,
                                const struct raw_node *raw, struct node **out);

/* -- attributes.c ---------------------------------------------------------------------------------
 */
/* E_FORMAT where a node of ai.onnx or ai.onnx.ml has an attribute that no operator has, or of
   another kind than the specification gives it: reading on would take the default in its place. */
MUST_USE hone_status check_attributes(struct ctx *ctx, const struct raw_node *node);

/* -- functions.c ----------------------------------------------------------------------------------
 */
MUST_USE hone_status read_functions(struct builder *builder);
/* The function that a node calls, NULL if none. */
const struct raw_function *function_of(const struct builder *builder, const struct raw_node *node);
MUST_USE hone_status note_call(struct builder *builder, const struct raw_function *function,
                               const struct scope *scope, const struct raw_node *node);
/* Expands the next call that was noted. */
MUST_USE hone_status expand_call(struct builder *builder);
/* What is read from now on belongs to this call (NULL: to the model's graphs). */
void enter_call(struct builder *builder, const struct call *call);
/* Stands for an optional argument left out; only its address is used. */
extern const struct value absent_value;

/* -- onnx.c ---------------------------------------------------------------------------------------
 */
MUST_USE hone_status check_opset_version(struct ctx *ctx, const struct raw_opset *opset);
/* ir_version and opset_import in range; sets builder->opset. */
MUST_USE hone_status check_versions(struct builder *builder);

/* -- upgrade.c ------------------------------------------------------------------------------------
 */
/* Rewrites a node of the default domain at opset builder->opset into HONE_OPSET's meaning; may
   append helper nodes to the graph before it. inputs and outputs are resolved, op_type may change.
   *out_done: the node was of an older form and is now current. */
MUST_USE hone_status upgrade_node(struct builder *builder, struct graph *graph,
                                  struct raw_node *node, bool *out_done);
/* After shapes are known: what had to be written without them becomes direct. */
MUST_USE hone_status upgrade_finish(struct builder *builder, struct graph *graph);
#endif
