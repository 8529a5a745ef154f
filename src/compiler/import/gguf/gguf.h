/* gguf: files of llama.cpp. Key/value pairs, tensor descriptions, and tensor data; there is no graph in the file.
 *
 *   file.c     header, pairs and tensors, every count and offset checked
 *   parts.c    models in several files
 *   blocks.c   the element types that are stored in blocks with a scale
 *   gguf.c     the architecture's graph
 *   rotation.c  the angles of positions
 *   vocabulary.c  the tokeniser
 *
 * Layout (little endian): "GGUF", u32 version, u64 tensor count, u64 pair count; pairs: string key, u32 type, value; tensors: string
 * name, u32 rank, u64 dims[rank] (innermost first), u32 type, u64 offset; then data at a multiple of general.alignment.
 * A string is a u64 length and its bytes. Source: github.com/ggml-org/ggml, docs/gguf.md.
 */
#ifndef HONE_GGUF_H
#define HONE_GGUF_H

#include "compiler/import/import.h"
#include "core/tokens/tokens.h"

enum gguf_kind {
  GGUF_U8,
  GGUF_I8,
  GGUF_U16,
  GGUF_I16,
  GGUF_U32,
  GGUF_I32,
  GGUF_F32,
  GGUF_BOOL,
  GGUF_STRING,
  GGUF_ARRAY,
  GGUF_U64,
  GGUF_I64,
  GGUF_F64,
  GGUF_KINDS
};

/* The value of a pair. Bytes stay in the file. */
struct gguf_value {
  const char *key;
  enum gguf_kind kind, element; /* element: of an array */
  uint64_t count;               /* elements of an array, bytes of a string; else 1 */
  const uint8_t *at;            /* the first element, or the bytes of the string */
  size_t offset;                /* in the file, for messages */
};

struct gguf_tensor {
  const char *name;
  int rank;
  int64_t dims[4]; /* outermost first, as in struct shape */
  const struct block_type *type;
  const uint8_t *data;
  size_t bytes;
};

struct gguf {
  uint32_t version;
  size_t value_count, tensor_count;
  struct gguf_value *values;   /* in the file's order */
  struct gguf_tensor *tensors; /* likewise */
  struct names by_key, by_name;
};

/* -- file.c */
/* Reads all descriptions. E_FORMAT with the offset for a damaged file, E_UNSUP for a version or an element type that hone
   does not read, E_LIMIT. */
MUST_USE hone_status gguf_read(struct ctx *ctx, struct arena *arena, const uint8_t *bytes,
                               size_t size, struct gguf *out);
const struct gguf_value *gguf_find(const struct gguf *file, const char *key); /* NULL: absent */
const struct gguf_tensor *gguf_tensor(const struct gguf *file, const char *name);
/* An integer of any width within [low, high], E_FORMAT otherwise; `otherwise` if the key is absent. */
MUST_USE hone_status gguf_int(struct ctx *ctx, const struct gguf *file, const char *key,
                              int64_t low, int64_t high, int64_t otherwise, int64_t *out);
MUST_USE hone_status gguf_float(struct ctx *ctx, const struct gguf *file, const char *key,
                                double otherwise, double *out);
/* A string without control characters, copied; NULL if the key is absent. */
MUST_USE hone_status gguf_string(struct ctx *ctx, struct arena *arena, const struct gguf *file,
                                 const char *key, const char **out);

/* -- parts.c: models in several files */
/* The number of files, 1 to 1000; E_USAGE if this is not the first of several. */
MUST_USE hone_status gguf_part_count(struct ctx *ctx, const struct gguf *file, int64_t *out);
/* The path of part k (from 1) of `count`, from that of the first: "m-00002-of-00003.gguf". */
MUST_USE hone_status gguf_part_path(struct ctx *ctx, const char *first, int64_t k, int64_t count,
                                    char out[4096]);
/* Adds the tensors of a further part, whose bytes stay mapped. */
MUST_USE hone_status gguf_add_part(struct ctx *ctx, struct arena *arena, const uint8_t *bytes,
                                   size_t size, struct gguf *file);

/* -- rotation.c */
struct gguf_positions {
  const char *architecture;
  int64_t turned;    /* elements of a head that positions turn; even */
  int64_t count;     /* positions asked for */
  int64_t trained;   /* context_length of the file */
  double local_base; /* of blocks that see a window, if the file has none; 0: the base of all */
  bool is_local;     /* for blocks that see a window; their positions are not stretched */
};
/* Cosine and sine of the angles, [count, turned / 2]. E_UNSUP for a stretching of positions that hone does not know, E_FORMAT, E_SHAPE. */
MUST_USE hone_status gguf_rotation(struct ctx *ctx, struct arena *arena, const struct gguf *file,
                                   const struct gguf_positions *p, float *cosine, float *sine);

/* -- vocabulary.c */
/* Its texts stay in the file. E_FORMAT for lists that do not fit, E_UNSUP for another kind of
   tokeniser. */
MUST_USE hone_status gguf_vocabulary(struct ctx *ctx, struct arena *arena, const struct gguf *file,
                                     struct vocabulary *out);
/* The tokeniser of a mapped file, which must stay mapped. */
MUST_USE hone_status gguf_tokeniser(struct ctx *ctx, struct arena *arena,
                                    const struct mapping *file, struct tokeniser **out);
/* NULL: the file has none. */
MUST_USE hone_status gguf_chat_template(struct ctx *ctx, struct arena *arena,
                                        const struct gguf *file, const char **out);

/* -- blocks.c */
/* An element type. Integers in blocks have a scale for each sub-block, and some types a minimum:
   element = scale * integer + minimum, rounded to float after the product and after the sum. */
struct block_type {
  const char *name;         /* "Q4_K" */
  uint32_t id;              /* in the file */
  uint32_t elements, bytes; /* of one block */
  uint32_t sub_elements;    /* of one sub-block; 0: a plain float */
  hone_dtype integer;       /* I4, U4 or I8 holds the integers; of a float its own type */
  bool has_minimum;
  /* One block to its integers, and the scale and minimum of each sub-block; minima may be NULL
     without has_minimum. */
  void (*split)(const uint8_t *block, int8_t *integers, float *scales, float *minima);
};
enum { BLOCK_MAX = 256, SUB_BLOCK_MAX = 16 }; /* elements of a block; sub-blocks of one */
extern const struct block_type block_types[];
extern const size_t block_type_count;
/* NULL: unknown. */
const struct block_type *block_type_find(uint32_t id);
/* `elements` whole blocks as floats, bit for bit what the Python package `gguf` computes. */
void blocks_decode(const struct block_type *type, const uint8_t *data, size_t elements, float *out);

#endif
