/* backends: each file adapts one engine to the interface `struct backend`; backends.def lists them.
 * Backends run in a worker process, never in the harness.
 */
#ifndef HONE_BACKENDS_H
#define HONE_BACKENDS_H

#include "compiler/pipeline/pipeline.h"
#include "compiler/export/export.h"
#include "bench/record/record.h"
#include "compiler/run/run.h"

enum backend_status { BACKEND_READY, BACKEND_MISSING, BACKEND_UNSUPPORTED };
struct backend_info {
  enum backend_status status;
  char version[64];
  char reason[512];   /* and the command that helps */
  char library[4096]; /* the loaded library; "" for native */
};

struct backend_request {
  const char *model_path; /* a file; zoo: models are written as ONNX before */
  const char *shapes;     /* NULL, or "x[1,3,224,224]" for dynamic dimensions */
  const char *precision;  /* "fp32" */
  /* precision of the file, which "as-is" means; "dynamic": float activations, int8 weights */
  const char *file_precision;
  int threads;
  /* True if each bind of a set has other sizes. The shapes then have bounds ("x[P<=64,3]"),
     followed by those of the first call if it has other sizes, or NULL. */
  bool grows;
  const char *first_shapes;
  /* Of an engine with `extend`: tokens of the longest text; 0: inferences of the model. */
  int64_t text_tokens;
  int in_flight;           /* requests in flight; 1: one after the other */
  const char *options;     /* "key=value;..." or "" */
  const char *engine_path; /* --engine NAME=PATH, or NULL */
  const char *work_dir;    /* private to the worker: artifacts */
  bool use_cache;
};

struct backend_facts {
  char version[64], device[64], precision[32];
  int threads;
  int in_flight;                       /* accepted requests in flight; 0 means 1 */
  double fallback_share;               /* 0..1; NaN unknown */
  int64_t artifact_bytes, arena_bytes; /* -1 unknown */
  int64_t route_bytes;                 /* size of the file that hone wrote for the engine; 0:
                                          none */
  double import_ms;                    /* time to read the model in prepare or open; NaN unknown */
  int64_t rss_import;                  /* resident bytes after that; -1 unknown */
  bool is_importing;                   /* prepare is importing: gives the stage of a failure */
  bool from_cache;
  uint32_t flags; /* record flags */
};

struct backend_io {
  size_t input_count, output_count;
  struct backend_tensor {
    char name[256];
    hone_tensor info;   /* data NULL */
    bool is_assumed;    /* no shapes given: a dynamic first dimension is set to 1 */
  } * inputs, *outputs; /* malloc'ed, freed by close */
};

struct session; /* each backend's own */

/* A named set of options: `--backend NAME:VARIANT`. */
struct backend_variant {
  const char *name, *options, *help; /* name NULL ends a list */
};
/* What the engine's makers state, one line each, for the table of engines; not measured here. */
struct backend_traits {
  const char *hardware, *front_ends, *representations, *optimisations, *precisions;
};

/* A device that an engine needs in addition to the CPU. */
struct backend_device {
  const char *file, *title; /* a file that exists if the device does; "an NVIDIA GPU" */
  const char *needs;        /* for engines without a package: what --engine must name */
};

struct backend {
  const char *name;    /* "onnxruntime" */
  const char *title;   /* "ONNX Runtime" */
  const char *routes;  /* routes of a model to the engine, the first is the default; NULL: "onnx" */
  const char *formats; /* formats that it reads, separated by spaces: "onnx tflite" */
  /* pinned PyPI requirements for `hone backends install`, separated by spaces, or NULL */
  const char *package;
  /* requirement installed without its dependencies, or NULL: the worker does not need them, or they
     have no wheel */
  const char *package_alone;
  /* packages without a wheel on PyPI, separated by commas; NULL: none. Their source packages fetch
     the engine from its maker */
  const char *from_source;
  int package_mb; /* approximate size on disk */
  /* NULL: `hone worker`; else the Python file in workers/, and the packages are installed with
     their dependencies */
  const char *worker;
  const char *distribution; /* of a Python worker: distribution whose metadata has the version */
  const struct backend_device *device; /* NULL: the CPU */
  bool is_absent;                      /* absent.c: hone does not support it */
  bool only_named;                     /* used only if --backend names it */
  bool only_installed;                 /* without --backend: used only if installed */
  bool testing_only;                   /* exists only with HONE_TESTING=1 */
  bool grows;                          /* supports request->grows */
  /* options with which it is compiled for fixed sizes, separated by spaces; NULL: none */
  const char *holds_with;
  bool saturates;   /* its int8 matmuls saturate on x86 processors without VNNI */
  bool takes_text;  /* supports string tensors (tables of hone_string) */
  bool ships_model; /* artifact_bytes has libraries only: the model's files are deployed too */
  struct backend_traits traits;
  const struct backend_variant *variants; /* NULL: only its default */
  /* Tells whether the engine can be loaded here. Sets no error in ctx. */
  void (*describe)(struct ctx *ctx, const struct backend *backend, const char *engine_path,
                   struct backend_info *out);
  /* Converts and compiles the model into request->work_dir. NULL: the engine compiles on load. */
  hone_status (*prepare)(struct ctx *ctx, const struct backend_request *request,
                         struct backend_facts *facts);
  size_t session_size;
  /* Fills a zeroed session. facts: as set by prepare. close is called after a failure too. */
  hone_status (*open)(struct ctx *ctx, struct session *session,
                      const struct backend_request *request, struct backend_facts *facts,
                      struct backend_io *out_io);
  /* Binds input set `set` of dense host tensors (copied or wrapped once in the engine's tensors);
     outputs are readable host memory afterwards. */
  hone_status (*bind)(struct ctx *ctx, struct session *session, int set, const hone_tensor *inputs,
                      const hone_tensor *outputs);
  /* Copies the inputs into the memory that bind allocated in the engine, timed separately from
     inferences. NULL: the engine reads the caller's memory. */
  hone_status (*copy_in)(struct ctx *ctx, struct session *session, int set,
                         const hone_tensor *inputs);
  /* Starts one inference of a set. It is in flight until `wait` for that set; at most
     facts.in_flight are at a time. */
  hone_status (*submit)(struct ctx *ctx, struct session *session, int set);
  /* Returns when the outputs of that set can be read. */
  hone_status (*wait)(struct ctx *ctx, struct session *session, int set);
  /* Not timed: fills the tables of a set's string outputs, valid until the next inference. NULL:
     not needed. */
  hone_status (*read_text)(struct ctx *ctx, struct session *session, int set);
  /* Reads from the engine how it computed: facts->precision and facts->fallback_share. Called once
     after all measurements, so it may open a second, profiled session. NULL: the facts of open are
     final. */
  hone_status (*survey)(struct ctx *ctx, struct session *session,
                        const struct backend_request *request, struct backend_facts *facts);
  /* Text generation with a loop of the engine's own, for GGUF files: computes `count` tokens that
     follow the first `past` of the text so far. *out_logits: float [vocabulary] of the last, valid
     until the next call. NULL: the harness runs the loop with bind, submit and wait. */
  hone_status (*extend)(struct ctx *ctx, struct session *session, const int64_t *tokens,
                        int64_t past, int64_t count, const float **out_logits);
  /* Writes what the engine made of the model to request->work_dir, as files that another process
     can load, and lists their names, one per line. Called once, after all measurements. NULL: not
     supported. */
  hone_status (*keep)(struct ctx *ctx, struct session *session,
                      const struct backend_request *request, struct strbuf *out_names);
  /* Releases the session's resources, also if open failed half-way. The caller frees the session
     itself. */
  void (*close)(struct session *session);
};

/* On failure nothing stays open. The caller calls session_close and frees the lists. */
MUST_USE hone_status session_open(struct ctx *ctx, const struct backend *backend,
                                  const struct backend_request *request, struct session **out,
                                  struct backend_facts *facts, struct backend_io *out_io);
void session_close(const struct backend *backend, struct session *session);

/* -- backends.c */
#define BACKEND(name) extern const struct backend backend_##name;
#include "backends.def"
#undef BACKEND
extern const struct backend *const backend_list[];
extern const size_t backend_count;
/* NULL if unknown, or if it is a test backend and HONE_TESTING is not 1. */
const struct backend *backend_find(const char *name);
bool backend_reads(const struct backend *backend, const char *format);
bool backend_knows_route(const struct backend *backend, const char *route);
bool backend_holds_with(const struct backend *backend, const char *options);
/* -- route.c */
/* Chooses the route of a model: `asked` (or NULL) if the engine knows it; else the file itself if
   the engine reads its format (the route is then the format's name); else the engine's first
   route. */
void backend_route(const struct backend *backend, const char *format, const char *asked,
                   char out[64]);
/* True if hone converts the file for the engine. */
bool route_is_hones(const char *route);
/* For such a route: writes the model in the engine's format to the work folder and sets the
   request's path to it (stored in `out`, which must live as long). No effect for other routes.
   E_UNSUP, and errors of reading. */
MUST_USE hone_status route_convert(struct ctx *ctx, const char *route,
                                   struct backend_request *request, struct backend_facts *facts,
                                   char out[4096]);
/* Parses "torch", "torch:script". E_USAGE suggests the nearest name, or lists the variants. */
struct backend_choice {
  const struct backend *backend;
  const struct backend_variant *variant; /* NULL: the default */
};
MUST_USE hone_status backend_choose(struct ctx *ctx, const char *text, struct backend_choice *out);

#define BACKEND_MAX_SETS 16
/* describe.c: calls `describe` in a child process, because a broken engine library may end the process that loads it. */
void describe_backend(struct ctx *ctx, const struct backend *backend, const char *engine_path,
                      struct backend_info *out);
/* `describe` of an engine that is part of this program. */
void describe_built_in(struct ctx *ctx, const struct backend *backend, const char *engine_path,
                       struct backend_info *out);
/* python.c: engines with a Python worker. The interpreter of the engine's environment;
   E_MISSING. */
MUST_USE hone_status engine_python(struct ctx *ctx, const char *name, const char *engine_path,
                                   char out[4096]);
/* Version from the metadata of the engine's distribution; "" if there is none. */
void engine_version(struct ctx *ctx, const char *name, const char *engine_path,
                    const char *distribution, char out[64]);
/* `describe` of such an engine; with the version of its distribution. */
void describe_environment(struct ctx *ctx, const struct backend *backend, const char *engine_path,
                          struct backend_info *out);
/* `open` of such an engine: fails, because its environment or device is missing. Never HONE_OK. */
MUST_USE hone_status refuse_elsewhere(struct ctx *ctx, const struct backend *backend,
                                      const char *engine_path);
/* `wait` of an engine whose submit is synchronous. */
hone_status wait_nothing(struct ctx *ctx, struct session *session, int set);
/* streams.c: requests in flight for an engine whose call is synchronous but thread-safe. */
struct streams;
typedef hone_status stream_call(struct ctx *ctx, struct session *session, int set);
/* After a failure too, *out must be destroyed if it is not NULL. */
MUST_USE hone_status streams_create(struct ctx *ctx, int count, stream_call *call,
                                    struct session *session, struct streams **out);
MUST_USE hone_status streams_submit(struct ctx *ctx, struct streams *streams, int set);
MUST_USE hone_status streams_wait(struct ctx *ctx, struct streams *streams, int set);
void streams_destroy(struct streams *streams); /* waits for requests in flight */
/* Test engines: one input "x" of the request's shape (or f32[1]) and one output "y" of the same
   type and shape. *out_bytes: size of each. */
MUST_USE hone_status identity_io(struct ctx *ctx, const struct backend_request *request,
                                 struct backend_io *out, size_t *out_bytes);
/* Facts of the test engines: this version, one CPU thread, flag synthetic. */
void identity_facts(const struct backend_request *request, struct backend_facts *facts);
/* Sets every field to unknown. */
void backend_facts_init(struct backend_facts *facts);
MUST_USE hone_status backend_io_create(struct ctx *ctx, size_t input_count, size_t output_count,
                                       struct backend_io *out);
void backend_io_destroy(struct backend_io *io);
/* Next "key=value" of "key=value;...": false at the end. Advances *at. */
bool option_next(const char **at, char key[64], char value[256]);
/* Value of one key; false if it is absent. */
bool option_get(const char *options, const char *key, char value[256]);
/* Integer value of an option; `otherwise` if it is absent. E_USAGE if it is invalid. */
MUST_USE hone_status option_int(struct ctx *ctx, const char *options, const char *key,
                                int64_t otherwise, int64_t min, int64_t max, int64_t *out);
/* Dims of `name` in "x[1,3],y[2]"; false if it is absent or invalid. */
bool shapes_find(const char *shapes, const char *name, int32_t *out_rank,
                 int64_t out_dims[HONE_MAX_RANK]);
/* Size in bytes; of strings that of the table of hone_string. E_SHAPE for dynamic dimensions,
   E_TYPE, E_LIMIT. */
MUST_USE hone_status tensor_bytes(struct ctx *ctx, const char *name, const hone_tensor *tensor,
                                  size_t *out_bytes);
/* Time by precision from an engine's profile. */
struct precision_mix {
  double ns[PRECISION_COUNT], fallback_ns, all_ns;
};
/* word: a type name in the profile ("float", "f32", "I8", ...); unknown names add to the total
   only. */
void precision_mix_add(struct precision_mix *mix, const char *word, double ns, bool is_fallback);
/* Sets facts->precision ("fp32", or "int8+fp32" if each has at least 5 % of the time, the larger
   first) and the share that fell back. No effect if the profile was empty. */
void precision_mix_tell(const struct precision_mix *mix, struct backend_facts *facts);

/* part.c: a range of a model's nodes in an engine of this process. */
struct part {
  const struct backend *backend;
  struct session *session;
  struct backend_io io;
  struct backend_facts facts;
  size_t input_count, output_count;
  size_t *input_places, *output_places; /* index in the graph of each engine tensor */
};
/* True for engines that run in this process and read ONNX. */
bool part_can_be(const struct backend *backend);
/* Options for an engine that alternates with others: ONNX Runtime's threads do not spin while
   idle. */
const char *part_options(const struct backend *backend);
/* Creates `dir`, writes the graph there as ONNX and opens it; the rest of the request is copied
   from `like`. After a failure nothing stays open. */
MUST_USE hone_status part_open(struct ctx *ctx, const struct backend *backend,
                               const struct graph *graph, const struct backend_request *like,
                               const char *dir, struct part *out);
/* Tensors in the graph's order; they must not move until the part is closed. */
MUST_USE hone_status part_bind(struct ctx *ctx, struct part *part, int set,
                               const hone_tensor *inputs, const hone_tensor *outputs);
/* Runs one inference of a set. */
MUST_USE hone_status part_run(struct ctx *ctx, struct part *part, int set);
void part_close(struct part *part); /* also if zeroed */

/* hybrid.c: parses the option `parts` for a graph with `node_count` nodes. */
enum { HYBRID_MOST_PARTS = 16 };
struct hybrid_plan {
  size_t count;
  size_t ends[HYBRID_MOST_PARTS]; /* nodes before the end of each part */
  const struct backend *engines[HYBRID_MOST_PARTS];
};
MUST_USE hone_status hybrid_read_plan(struct ctx *ctx, const char *options, size_t nodes,
                                      struct hybrid_plan *out);

/* Resident bytes of this process. */
int64_t resident_bytes(void);
/* Number of threads of this process; 0 unknown. */
int process_thread_count(void);

/* engines.c: folder of an installed engine: dir_user("data")/engines/NAME; E_MISSING if none. */
MUST_USE hone_status engine_dir(struct ctx *ctx, const char *name, char out[4096]);
/* Refuses "container:IMAGE" with the reason. */
MUST_USE hone_status engine_check_kind(struct ctx *ctx, const char *engine_path);
/* First file matching a glob pattern below the engine's site-packages. E_MISSING. */
MUST_USE hone_status engine_file(struct ctx *ctx, const char *name, const char *engine_path,
                                 const char *pattern, char out[4096]);
/* Own virtual environment, pinned requirement. progress: one line at a time, may be NULL. */
/* Total size of the mapped files in the folder of `library`: the libraries to deploy for the open
   session. -1 unknown. */
int64_t engine_mapped_bytes(const char *library);
MUST_USE hone_status engine_install(struct ctx *ctx, const struct backend *backend,
                                    void (*progress)(void *user, const char *line), void *user);
MUST_USE hone_status engine_remove(struct ctx *ctx, const struct backend *backend);

#endif
