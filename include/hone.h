/* hone: the public C API of libhone.
 *
 * Load a model, inspect it, compile it ahead of time to fused and specialised C, run the result, or
 * build a graph in code. This is the only installed header. Every fallible function returns a
 * hone_status; hone_context_message gives the message of a failure. An options struct filled with
 * zeros selects the defaults.
 *
 * Threads. A context serves one thread at a time: give each thread its own. Several threads may
 * load and compile models at the same time, and run artifacts, including the same one (see
 * hone_artifact_run). Destroying or closing an object is safe once no other call uses it. A program
 * may fork() at any time; the child may continue to use the artifacts that it inherited. */
#ifndef HONE_H
#define HONE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HONE_VERSION_MAJOR 0
#define HONE_VERSION_MINOR 1
#define HONE_VERSION_PATCH 0
#define HONE_VERSION "0.1.0"

#if defined(__GNUC__)
#define HONE_API __attribute__((visibility("default")))
#define HONE_MUST_USE __attribute__((warn_unused_result))
#else
#define HONE_API
#define HONE_MUST_USE
#endif

/* Stable error ids, printed without the prefix (E_SHAPE). Rows of src/core/base/errors.def, same
 * order. */
typedef enum hone_status {
  HONE_OK = 0,
  HONE_E_IO,
  HONE_E_NOFILE,
  HONE_E_WRITE,
  HONE_E_PATH,
  HONE_E_FORMAT,
  HONE_E_LIMIT,
  HONE_E_TYPE,
  HONE_E_SHAPE,
  HONE_E_UNSUP,
  HONE_E_NUM,
  HONE_E_OOM,
  HONE_E_TIMEOUT,
  HONE_E_CRASH,
  HONE_E_TRUST,
  HONE_E_BUSY,
  HONE_E_MISSING,
  HONE_E_USAGE,
  HONE_E_ACCURACY,
  HONE_E_INTERRUPTED,
  HONE_E_INTERNAL,
  HONE_STATUS_COUNT
} hone_status;

/* Element types, numbered as ONNX TensorProto.DataType. */
typedef enum hone_dtype {
  HONE_UNDEFINED = 0,
  HONE_F32 = 1,
  HONE_U8 = 2,
  HONE_I8 = 3,
  HONE_U16 = 4,
  HONE_I16 = 5,
  HONE_I32 = 6,
  HONE_I64 = 7,
  HONE_STRING = 8,
  HONE_BOOL = 9,
  HONE_F16 = 10,
  HONE_F64 = 11,
  HONE_U32 = 12,
  HONE_U64 = 13,
  HONE_BF16 = 16,
  HONE_F8E4M3FN = 17,
  HONE_F8E4M3FNUZ = 18,
  HONE_F8E5M2 = 19,
  HONE_F8E5M2FNUZ = 20,
  HONE_U4 = 21,
  HONE_I4 = 22,
  HONE_F4E2M1 = 23,
  HONE_F8E8M0 = 24,
  HONE_U2 = 25,
  HONE_I2 = 26
} hone_dtype;

#define HONE_MAX_RANK 16

/* An element of a HONE_STRING tensor: UTF-8, not NUL-terminated. */
typedef struct hone_string {
  const char *bytes;
  size_t length;
} hone_string;

/* A dense row-major tensor in memory owned by the caller. shape is in elements. */
typedef struct hone_tensor {
  void *data;
  hone_dtype dtype;
  int32_t rank;
  int64_t shape[HONE_MAX_RANK];
} hone_tensor;

typedef struct ctx hone_context;
typedef struct hone_model hone_model;
typedef struct hone_artifact hone_artifact;
typedef struct hone_builder hone_builder;

HONE_API const char *hone_version(void);
/* "E_SHAPE" for HONE_E_SHAPE; "OK" for HONE_OK. Never NULL. */
HONE_API const char *hone_status_name(hone_status status);

/* The caller owns the context and destroys it after every object made with it. */
HONE_API HONE_MUST_USE hone_status hone_context_create(hone_context **out_context);
HONE_API void hone_context_destroy(hone_context *context);
/* What failed, where, and what to do; valid until the next call with this context. Never NULL. */
HONE_API const char *hone_context_message(const hone_context *context);

typedef struct hone_load_options {
  /* "x[1,3,224,224],y[1]" gives the sizes of dynamic dimensions; NULL: a dynamic first dimension is
   * 1, other dynamic dimensions are an error. Up to 4 dimensions may stay dynamic up to a bound:
   * "x[N<=64,S<=512],mask[N,S]", also as sums: "past[N,P<=64],mask[N,P+S]"; sizes start at 1, or at
   * 0 with "0<=P<=64". */
  const char *shapes;
  /* folder of external weights, NULL: the model's own folder */
  const char *side_files_from;
} hone_load_options;

/* Reads a file (ONNX, TFLite, .pt2 or GGUF, by its content) or "zoo:NAME[,batch=N,...]". options may be NULL. The caller owns *out_model. */
HONE_API HONE_MUST_USE hone_status hone_model_load(hone_context *context, const char *path,
                                                   const hone_load_options *options,
                                                   hone_model **out_model);
HONE_API void hone_model_destroy(hone_model *model);
HONE_API size_t hone_model_input_count(const hone_model *model);
HONE_API size_t hone_model_output_count(const hone_model *model);
/* Name, dtype and shape of input or output i; data is NULL. The name lives as long as the model.
 * For a dimension whose size is known only at run time, shape holds its upper bound. E_USAGE if i
 * is out of range. */
HONE_API HONE_MUST_USE hone_status hone_model_input(const hone_model *model, size_t i,
                                                    const char **out_name, hone_tensor *out_info);
HONE_API HONE_MUST_USE hone_status hone_model_output(const hone_model *model, size_t i,
                                                     const char **out_name, hone_tensor *out_info);

/* Declares state: the output of one run is the input of the next. A model compiled afterwards may
 * use the same memory for both. E_USAGE if there is no such input or output, if either is state
 * already, or if they differ in type or shape. */
HONE_API HONE_MUST_USE hone_status hone_model_alias(hone_context *context, hone_model *model,
                                                    const char *input, const char *output);

typedef struct hone_compile_options {
  const char *cpu;    /* feature level: baseline, avx2, avx512, host; NULL: host */
  const char *cc;     /* C compiler, NULL: cc from PATH */
  const char *prefix; /* prefix of exported symbols, NULL: hone_model */
  int32_t debug;      /* 1: -g -O1 and assertions */
} hone_compile_options;

/* Writes a .c, .so, .a or, for any other suffix of path, an executable; and a typed header next to
 * it. */
HONE_API HONE_MUST_USE hone_status hone_model_compile(hone_context *context,
                                                      const hone_model *model,
                                                      const hone_compile_options *options,
                                                      const char *path);

/* Loads a .so made by hone_model_compile. threads 0: one per usable core. */
HONE_API HONE_MUST_USE hone_status hone_artifact_open(hone_context *context, const char *path,
                                                      int32_t threads,
                                                      hone_artifact **out_artifact);
/* No run of the artifact may be in progress. */
HONE_API void hone_artifact_close(hone_artifact *artifact);
HONE_API size_t hone_artifact_input_count(const hone_artifact *artifact);
HONE_API size_t hone_artifact_output_count(const hone_artifact *artifact);
/* Name, dtype and shape of input or output i, as for hone_model_input and hone_model_output. The
 * name lives as long as the artifact. */
HONE_API HONE_MUST_USE hone_status hone_artifact_input(const hone_artifact *artifact, size_t i,
                                                       const char **out_name,
                                                       hone_tensor *out_info);
HONE_API HONE_MUST_USE hone_status hone_artifact_output(const hone_artifact *artifact, size_t i,
                                                        const char **out_name,
                                                        hone_tensor *out_info);
/* 1 if the artifact has dynamic dimensions ("x[N<=64]"): inputs may then be smaller than the shapes
 * above; else 0. */
HONE_API int32_t hone_artifact_is_dynamic(const hone_artifact *artifact);
/* Element type, rank and shape of the outputs for these inputs, whose data is not read. They differ
 * from the model's if it has dynamic dimensions ("x[N<=64,S<=512]"). E_SHAPE if the inputs do not
 * fit. */
HONE_API HONE_MUST_USE hone_status hone_artifact_shapes(
    hone_context *context, const hone_artifact *artifact, const hone_tensor *inputs,
    size_t input_count, hone_tensor *out_outputs, size_t output_count);
/* Inputs and outputs are dense, owned by the caller, in model order. E_SHAPE, E_TYPE if one does
 * not fit. An output buffer has room for the model's shape; if a size is known only at run time,
 * the elements are stored densely in the shape that hone_artifact_output_shape reports afterwards.
 * The bytes of strings in an output are valid until the next run with this context.
 *
 * Any number of threads may run one artifact at the same time, each with its own context and
 * outputs; inputs may be shared. Every run has its own working memory. The artifact's thread pool
 * serves one run at a time; a run that finds it busy computes on the calling thread, with
 * bit-identical results. At most as many runs as there are usable cores (at least two) proceed at
 * once; further runs wait until one ends. A model has no state except the inputs and outputs of
 * hone_model_alias: two runs that use the same state must not overlap. */
HONE_API HONE_MUST_USE hone_status hone_artifact_run(hone_context *context, hone_artifact *artifact,
                                                     const hone_tensor *inputs, size_t input_count,
                                                     const hone_tensor *outputs,
                                                     size_t output_count);
/* The same; out_shapes[output_count] receives the shapes of the outputs of this run, in
 * elements. */
HONE_API HONE_MUST_USE hone_status hone_artifact_run_shaped(
    hone_context *context, hone_artifact *artifact, const hone_tensor *inputs, size_t input_count,
    const hone_tensor *outputs, size_t output_count, int64_t (*out_shapes)[HONE_MAX_RANK]);
/* The shape of output i in the latest run (of any thread), in elements, out_shape[HONE_MAX_RANK];
 * before any run its upper bound. E_USAGE if i is out of range. */
HONE_API HONE_MUST_USE hone_status hone_artifact_output_shape(const hone_artifact *artifact,
                                                              size_t i, int64_t *out_shape);

/* -- text from a language model in a GGUF file */

typedef struct hone_generator hone_generator;

typedef struct hone_generator_options {
  const char *cpu; /* feature level; NULL: host */
  const char *cc;  /* C compiler, NULL: cc from PATH */
  int32_t threads; /* 0: one per usable core */
  int64_t context; /* tokens of a prompt and its answer; 0: 4096, or the model's context if less */
} hone_generator_options;

/* Loads a model. The first time it is compiled, which takes seconds to minutes; the result is kept in
 * the artifact cache. options may be NULL. The generator serves one request at a time. E_FORMAT,
 * E_UNSUP: the file, its architecture or its tokeniser. */
HONE_API HONE_MUST_USE hone_status hone_generator_open(hone_context *context, const char *path,
                                                       const hone_generator_options *options,
                                                       hone_generator **out_generator);
HONE_API void hone_generator_close(hone_generator *generator);

typedef struct hone_message {
  const char *role, *content; /* "system", "user" or "assistant"; UTF-8 */
} hone_message;

typedef struct hone_generate_options {
  int64_t new_tokens; /* at most; 0: until the context is full */
  double temperature; /* 0: the most likely token, else its logits are divided by it */
  int32_t top_k;      /* draw from so many; 0: 40, negative: all */
  double top_p;       /* draw from the most likely ones of this total probability; 0: 0.95 */
  double min_p;       /* and of this share of the largest probability; 0: 0.05, negative: all */
  uint64_t seed;      /* the same seed gives the same text */
  const char *const *stops; /* texts that end the answer, and are not part of it */
  size_t stop_count;
  int32_t ignore_end; /* 1: continue after an end-of-text token */
} hone_generate_options;

typedef struct hone_generated {
  int64_t prompt_tokens, cached_tokens; /* cached: the beginning of the prompt, left from before */
  int64_t new_tokens;
  const int32_t *tokens; /* the new ones, valid until the next request */
  const char *reason;    /* "stop", "length", or "cancelled" by the callback */
  double first_token_ms; /* from the call to the first token */
  double rest_ms;        /* of the other tokens */
} hone_generated;

/* Receives a piece of valid UTF-8, which is not NUL-terminated; returns 0 to end the answer. */
typedef int32_t (*hone_piece)(void *user, const char *text, size_t size);

/* Continues a prompt; special tokens in it are recognised. options may be NULL. E_USAGE: an empty
 * prompt. E_LIMIT: it fills the context. */
HONE_API HONE_MUST_USE hone_status hone_generate(hone_context *context, hone_generator *generator,
                                                 const char *prompt,
                                                 const hone_generate_options *options,
                                                 hone_piece piece, void *user,
                                                 hone_generated *out_generated);
/* Answers messages, which the model's chat template makes a prompt of. E_USAGE: the model has no
 * template, or it refuses the messages. */
HONE_API HONE_MUST_USE hone_status hone_chat(hone_context *context, hone_generator *generator,
                                             const hone_message *messages, size_t message_count,
                                             const hone_generate_options *options, hone_piece piece,
                                             void *user, hone_generated *out_generated);

/* Graph builder: values are numbers that the builder returns. The builder copies all its
 * arguments. */
HONE_API HONE_MUST_USE hone_status hone_builder_create(hone_context *context,
                                                       hone_builder **out_builder);
HONE_API void hone_builder_destroy(hone_builder *builder);
HONE_API HONE_MUST_USE hone_status hone_builder_input(hone_builder *builder, const char *name,
                                                      hone_dtype dtype, int32_t rank,
                                                      const int64_t *shape, int32_t *out_value);
HONE_API HONE_MUST_USE hone_status hone_builder_constant(hone_builder *builder,
                                                         const hone_tensor *tensor,
                                                         int32_t *out_value);
typedef struct hone_attribute {
  const char *name;
  const int64_t *ints; /* ints, or NULL */
  const float *floats; /* floats, or NULL */
  const char *string;  /* a string, or NULL */
  size_t count; /* of ints or floats; is_scalar makes a single one an int or float attribute */
  int32_t is_scalar;
} hone_attribute;
/* Adds an operator of the ONNX default domain; value -1 omits an optional input. */
HONE_API HONE_MUST_USE hone_status hone_builder_node(hone_builder *builder, const char *op,
                                                     const int32_t *inputs, size_t input_count,
                                                     const hone_attribute *attributes,
                                                     size_t attribute_count, int32_t *out_values,
                                                     size_t output_count);
HONE_API HONE_MUST_USE hone_status hone_builder_output(hone_builder *builder, const char *name,
                                                       int32_t value);
/* Infers shapes and returns the graph as a model; the builder is empty afterwards. */
HONE_API HONE_MUST_USE hone_status hone_builder_finish(hone_builder *builder,
                                                       hone_model **out_model);

#ifdef __cplusplus
}
#endif
#endif
