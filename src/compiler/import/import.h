/* import: bytes to graph. detect.c finds the format by its content, one reader a format builds the
 * graph through core/graph/build.c; names, shapes, side files and limits are shared.
 * Model files are hostile: bounds-checked cursors, no recursion, budgets before allocation. */
#ifndef HONE_IMPORT_H
#define HONE_IMPORT_H

#include "core/os/os.h"
#include "core/ops/ops.h"

/* An input of the main graph as the file and --shape have it. */
struct asked_input {
  const char *name;
  hone_dtype dtype;
  struct shape shape; /* -1: open */
  bool has_shape;
};
struct asked_inputs {
  struct arena *arena;
  VEC(struct asked_input) list;
};
struct import_options {
  /* "x[1,3,224,224],y[1]"; NULL: first dimensions, others an error. Sizes may be open up to a bound:
     "x[N<=64,3,224,224],y[N]", or to be run at 8: "x[N=8<=64,S<=512]"; sums of them: "mask[N,P+S]"; from 0:
     "0<=P<=64". */
  const char *shapes;
  int64_t batch;                   /* of open first dimensions; 0: 1 */
  int64_t open_is;                 /* what is still open then; 0: an error */
  int64_t sizes[HONE_MAX_SYMBOLS]; /* what the open sizes are taken as; 0: see at_run */
  bool at_run;                     /* what they are run at; else their bounds */
  struct symbols *symbols;         /* filled in with their names and bounds; may be NULL */
  bool is_probe;                   /* no warnings and no hashes: the file was read before */
  struct asked_inputs *asked;      /* filled in, and reading ends there with E_SHAPE; may be NULL */
  const char *side_files_from;     /* folder of external data; NULL: the model's own */
  const char *signature;           /* of a TFLite file with several; NULL: its first graph */
  bool strict;                     /* unsorted nodes are an error, not a warning */
};

/* A model file kept open: mapped bytes that tensors point into, and what was read with it. */
struct model_file {
  struct mapping main;
  VEC(struct mapping) sides; /* external data, each file once; on the heap */
  char content_hash[33];     /* XXH3-128 of the model and its side files */
  char sha256[65];
};
void model_file_close(struct model_file *file);

/* Reads a model file, of whatever format its content is. The graph lives in `arena`, its big constants in the mapping: keep *out_file
   open as long as the graph. Shapes are inferred and small constants folded. */
MUST_USE hone_status import_model(struct ctx *ctx, struct arena *arena, const char *path,
                                  const struct import_options *options, struct model_file *out_file,
                                  struct graph **out_graph);
/* The same from bytes in memory (no external data unless side_files_from is set). */
MUST_USE hone_status import_bytes(struct ctx *ctx, struct arena *arena, const uint8_t *bytes,
                                  size_t size, const struct import_options *options,
                                  struct model_file *out_file, struct graph **out_graph);

/* -- -- inside src/import */

/* A model's bytes on their way to a reader. */
struct source {
  const char *path; /* for messages, "" if from memory */
  const uint8_t *bytes;
  size_t size;
  const struct import_options *options; /* never NULL inside */
  struct side_files *sides;
};
/* Builds the graph, with shapes. Payload may stay where it lies in source->bytes. */
typedef hone_status read_format_fn(struct ctx *ctx, struct arena *arena,
                                   const struct source *source, struct graph **out_graph);
read_format_fn read_onnx;   /* onnx.c; what it is made of: onnx.h */
read_format_fn read_tflite; /* tflite.c; tflite.h */
read_format_fn read_pt2;    /* pt2.c; pt2.h */
read_format_fn read_gguf;   /* gguf.c; gguf.h */

/* -- detect.c */
/* The reader of the format that the content is of, whatever the file's name says. No model that
   hone reads: E_FORMAT "looks like a zip archive", E_TRUST if it carries code. */
MUST_USE hone_status format_find(struct ctx *ctx, const struct source *source,
                                 read_format_fn **out_read);
/* A status of read_onnx; where it is E_FORMAT and the bytes are text or a message of other software, that is what is
   said. */
MUST_USE hone_status format_explain(struct ctx *ctx, const struct source *source,
                                    hone_status status);
/* The same of a path that could not be opened: what a folder seems to hold. */
MUST_USE hone_status format_explain_folder(struct ctx *ctx, const char *path, hone_status status);

/* -- names.c: name -> pointer, seeded so that a model cannot aim at one bucket */
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

/* A UTF-8 name within limit name_bytes, copied; a NUL inside is shown as U+2400. `offset` is its
   place in the file. */
MUST_USE hone_status name_copy(struct ctx *ctx, struct arena *arena, const uint8_t *bytes,
                               size_t length, size_t offset, const char *what, const char **out);

/* -- external.c: side files */
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
                                     const char *location, size_t location_length, uint64_t offset,
                                     int64_t length, size_t bytes, struct place at,
                                     const uint8_t **out);

/* -- shapes.c: what every shape must obey, and open dimensions */
bool dtype_supported(int64_t number);
/* extent(), which also refuses an empty shape whose other dimensions are too large. */
MUST_USE hone_status shape_check(struct ctx *ctx, struct place at, hone_dtype dtype,
                                 const struct shape *shape, int64_t *out_elements,
                                 size_t *out_bytes);
/* tensor->data = bytes where they lie, if their alignment allows, else a copy; dtype and bytes of the
   tensor are set. */
MUST_USE hone_status payload_use(struct ctx *ctx, struct arena *arena, const uint8_t *bytes,
                                 struct tensor *tensor);
struct raw_dim {
  int64_t value;     /* >= 0, or -1: open */
  const char *param; /* name of an open dimension, may be "" */
  int64_t example;   /* a size that the file allows an open one; 0: 1 */
};
struct raw_value { /* what a file says of an input or output */
  const char *name;
  const char *other_type;        /* "a map", ...; NULL: a tensor, or a list of such */
  bool is_sequence, is_optional; /* both: an optional sequence; the rest is said of its tensors */
  hone_dtype dtype;              /* HONE_UNDEFINED: not stated */
  bool has_shape;
  int rank;
  struct raw_dim *dims;
  size_t offset;
};
/* Whether a dimension's symbolic name says that dimensions of this name are equal. */
bool dimension_is_named(const char *param);
/* Gives every input of the main graph that `is_real` marks a fixed shape; fills in the graph's open_dimensions and
   is_open. E_USAGE, E_SHAPE. */
MUST_USE hone_status bind_shapes(struct ctx *ctx, struct arena *arena,
                                 const struct import_options *options,
                                 const struct raw_value *inputs, const bool *is_real, size_t count,
                                 struct shape *out_shapes, struct graph *graph);
#endif
