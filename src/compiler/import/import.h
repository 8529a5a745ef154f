/* import: bytes to graph. detect.c detects the format from the content, one reader per format
 * builds the graph with core/graph/build.c; names, shapes, side files and limits are shared. Model
 * files are untrusted: bounds-checked cursors, no recursion, limits before allocation. */
#ifndef HONE_IMPORT_H
#define HONE_IMPORT_H

#include "core/os/os.h"
#include "core/ops/ops.h"

/* An input of the main graph as declared by the file and --shape. */
struct asked_input {
  const char *name;
  hone_dtype dtype;
  struct shape shape; /* -1: dynamic */
  bool has_shape;
};
struct asked_inputs {
  struct arena *arena;
  VEC(struct asked_input) list;
};
struct import_options {
  /* "x[1,3,224,224],y[1]"; NULL: a dynamic first dimension is 1, others are an error. Dimensions
   * may stay dynamic up to a bound: "x[N<=64,3,224,224],y[N]", with a default of 8:
   * "x[N=8<=64,S<=512]"; sums: "mask[N,P+S]"; from 0: "0<=P<=64". */
  const char *shapes;
  int64_t batch;                   /* size of dynamic first dimensions; 0: 1 */
  int64_t open_is;                 /* size of all other dynamic dimensions; 0: an error */
  int64_t sizes[HONE_MAX_SYMBOLS]; /* sizes to use for the symbols; 0: see at_run */
  bool at_run;                     /* use the symbols' default sizes, else their bounds */
  struct symbols *symbols;         /* receives the symbols' names and bounds; may be NULL */
  bool is_probe;                   /* no warnings and no hashes: the file was read before */
  /* the graph as it was read before, with other sizes; readers may share its constants; NULL: none */
  const struct graph *before;
  /* receives the inputs; reading then ends with E_SHAPE; may be NULL */
  struct asked_inputs *asked;
  const char *side_files_from; /* folder of external data; NULL: the model's own */
  /* signature of a TFLite file with several; NULL: its first graph */
  const char *signature;
  bool keeps_control; /* see struct graph */
  bool strict;        /* nodes out of order are an error, not a warning */
  /* GGUF: the key/value caches are states of this many tokens, updated in place; 0: they grow */
  int64_t cache;
  bool cache_is_float; /* of f32 instead of f16 */
};

/* An open model file: mapped bytes that tensors point into, and its side files. */
struct model_file {
  struct mapping main;
  VEC(struct mapping) sides; /* external data, one mapping per file; on the heap */
  char content_hash[33];     /* XXH3-128 of the model and its side files */
  char sha256[65];
};
void model_file_close(struct model_file *file);

/* Reads a model file; the content determines the format. The graph lives in `arena`, its large
 * constants in the mapping: keep *out_file open as long as the graph. Shapes are inferred and small
 * constants folded. */
MUST_USE hone_status import_model(struct ctx *ctx, struct arena *arena, const char *path,
                                  const struct import_options *options, struct model_file *out_file,
                                  struct graph **out_graph);
/* The same from bytes in memory (no external data unless side_files_from is set). */
MUST_USE hone_status import_bytes(struct ctx *ctx, struct arena *arena, const uint8_t *bytes,
                                  size_t size, const struct import_options *options,
                                  struct model_file *out_file, struct graph **out_graph);

/* -- internal to src/compiler/import */

/* A model's bytes, passed to a reader. */
struct source {
  const char *path; /* for messages, "" if from memory */
  const uint8_t *bytes;
  size_t size;
  const struct import_options *options; /* never NULL */
  struct side_files *sides;
};
/* Builds the graph, with shapes. Payload may stay in source->bytes. */
typedef hone_status read_format_fn(struct ctx *ctx, struct arena *arena,
                                   const struct source *source, struct graph **out_graph);
read_format_fn read_onnx;   /* onnx.c; its parts: onnx.h */
read_format_fn read_tflite; /* tflite.c; tflite.h */
read_format_fn read_pt2;    /* pt2.c; pt2.h */
read_format_fn read_gguf;   /* gguf.c; gguf.h */

/* -- detect.c */
/* The reader for the content's format, for any file name. If hone does not read it: E_FORMAT
 * "looks like a zip archive", E_TRUST if it can contain code. */
MUST_USE hone_status format_find(struct ctx *ctx, const struct source *source,
                                 read_format_fn **out_read);
/* Called with the status of read_onnx; if it is E_FORMAT and the bytes are text or a message of
 * other software, the message names that format. */
MUST_USE hone_status format_explain(struct ctx *ctx, const struct source *source,
                                    hone_status status);
/* The same for a path that could not be opened: names the likely content of a folder. */
MUST_USE hone_status format_explain_folder(struct ctx *ctx, const char *path, hone_status status);

/* -- names.c: name -> pointer, with a seeded hash so that a model cannot cause collisions */
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
/* *out_fresh false: the name exists already and nothing changed. item is not NULL. */
MUST_USE hone_status names_add(struct ctx *ctx, struct names *names, const char *name, void *item,
                               bool *out_fresh);

/* A copied UTF-8 name within limit name_bytes; a NUL inside becomes U+2400. `offset` is its file
 * offset. */
MUST_USE hone_status name_copy(struct ctx *ctx, struct arena *arena, const uint8_t *bytes,
                               size_t length, size_t offset, const char *what, const char **out);

/* -- external.c: side files */
struct side_files {
  struct model_file *file;
  int folder;          /* file descriptor, -1: no folder */
  const char *name;    /* name of the folder, for messages */
  unsigned owner;      /* owner of the folder */
  struct names opened; /* location -> index + 1 into file->sides */
};
/* folder NULL: the model has no folder, and reading a side file is E_PATH. */
MUST_USE hone_status side_files_open(struct ctx *ctx, struct arena *arena, const char *folder,
                                     struct model_file *file, struct side_files *out);
void side_files_close(struct side_files *sides);
/* The whole file at `location`, open as long as the model's. */
MUST_USE hone_status side_files_map(struct ctx *ctx, struct side_files *sides, const char *location,
                                    size_t location_length, struct mapping *out);
/* Bytes [offset, offset + bytes) of the file at `location`; length < 0: not stated in the model. */
MUST_USE hone_status side_files_read(struct ctx *ctx, struct side_files *sides,
                                     const char *location, size_t location_length, uint64_t offset,
                                     int64_t length, size_t bytes, struct place at,
                                     const uint8_t **out);

/* -- shapes.c: checks on every shape, and dynamic dimensions */
bool dtype_supported(int64_t number);
/* extent(), which also rejects an empty shape whose other dimensions are too large. */
MUST_USE hone_status shape_check(struct ctx *ctx, struct place at, hone_dtype dtype,
                                 const struct shape *shape, int64_t *out_elements,
                                 size_t *out_bytes);
/* tensor->data = bytes in place if their alignment allows, else a copy; dtype and bytes of the
 * tensor are set. */
MUST_USE hone_status payload_use(struct ctx *ctx, struct arena *arena, const uint8_t *bytes,
                                 struct tensor *tensor);
struct raw_dim {
  int64_t value;     /* >= 0, or -1: dynamic */
  const char *param; /* name of a dynamic dimension, may be "" */
  int64_t example;   /* a size that the file allows for a dynamic one; 0: 1 */
};
struct raw_value { /* an input or output as declared by the file */
  const char *name;
  const char *other_type; /* "a map", ...; NULL: a tensor, or a list of tensors */
  /* both: an optional sequence; the other fields describe its tensors */
  bool is_sequence, is_optional;
  hone_dtype dtype; /* HONE_UNDEFINED: not declared */
  bool has_shape;
  int rank;
  struct raw_dim *dims;
  size_t offset;
};
/* True if dimensions with this symbolic name have equal sizes. */
bool dimension_is_named(const char *param);
/* Gives a fixed shape to every input of the main graph that `is_real` marks; fills in the graph's
 * open_dimensions and is_open. E_USAGE, E_SHAPE. */
MUST_USE hone_status bind_shapes(struct ctx *ctx, struct arena *arena,
                                 const struct import_options *options,
                                 const struct raw_value *inputs, const bool *is_real, size_t count,
                                 struct shape *out_shapes, struct graph *graph);
#endif
