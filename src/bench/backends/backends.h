/* backends: one engine a file behind seven functions; backends.def is the list. Runs inside a
 * worker process, never in the harness. */
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
  char library[4096]; /* what is loaded; "" for native */
};

struct backend_request {
  const char *model_path; /* an ONNX file; zoo: models were written as one before */
  const char *shapes;     /* NULL, or "x[1,3,224,224]" for open dimensions */
  const char *precision;  /* "fp32" */
  /* what the file computes in: what "as-is" means; "dynamic": floats by bytes */
  const char *file_precision;
  int threads;
  /* The shapes are of a session whose inputs grow ("x[P<=64,3]"); those of the first call, where it is another
     size of the same model, or NULL. Each bind of a set is with other sizes. */
  bool grows;
  const char *first_shapes;
  int in_flight;           /* requests that the scenario keeps in flight; 1: one after the other */
  const char *options;     /* "key=value;..." or "" */
  const char *engine_path; /* --engine NAME=PATH, or NULL */
  const char *work_dir;    /* private to the worker: artifacts */
  bool use_cache;
};

struct backend_facts {
  char version[64], device[64], precision[32];
  int threads;
  int in_flight; /* requests that may be submitted before one is waited for; 0 counts as 1 */
  double fallback_share;               /* 0..1; NaN unknown */
  int64_t artifact_bytes, arena_bytes; /* -1 unknown */
  int64_t route_bytes;                 /* of the file that hone wrote for the engine; 0: none */
  double import_ms;   /* part of prepare or open that read the model; NaN unknown */
  int64_t rss_import; /* resident bytes after it; -1 unknown */
  bool is_importing;  /* what prepare does now; after a failure it says where */
  bool from_cache;
  uint32_t flags; /* record flags */
};

struct backend_io {
  size_t input_count, output_count;
  struct backend_tensor {
    char name[256];
    hone_tensor info;   /* data NULL */
    bool is_assumed;    /* nobody gave shapes: the open first dimension is taken as 1 */
  } * inputs, *outputs; /* malloc'ed, freed by close */
};

struct session; /* each backend's own */

/* A named set of options: `--backend NAME:VARIANT`. */
struct backend_variant {
  const char *name, *options, *help; /* name NULL ends a list */
};
/* What the engine says it is, one line each, for the comparison table; not what was seen here. */
struct backend_traits {
  const char *hardware, *front_ends, *representations, *optimisations, *precisions;
};

/* What an engine needs beside the CPU. */
struct backend_device {
  const char *file, *title; /* what is there where one is; "an NVIDIA GPU" */
  const char *needs;        /* of an engine that no package brings: what --engine has to name */
};

struct backend {
  const char *name;    /* "onnxruntime" */
  const char *title;   /* "ONNX Runtime" */
  const char *routes;  /* ways a model may take to it, the first by default; NULL: "onnx" */
  const char *formats; /* that it reads, separated by blanks: "onnx tflite" */
  /* PyPI requirements, separated by blanks, that `hone backends install` pins, or NULL */
  const char *package;
  /* and what is installed after them without what it asks for, or NULL: it names much that its worker does not use, or what no wheel is made of */
  const char *package_alone;
  /* of the packages those that have no wheel on PyPI, separated by commas; NULL: none. Theirs fetch the engine from where its maker keeps it */
  const char *from_source;
  int package_mb;     /* about what it takes on disk */
  const char *worker; /* NULL: `hone worker`; else the file of workers/ that its Python runs, and
                          then its packages bring their dependencies */
  const char *distribution; /* of a worker: whose metadata in its environment says the version */
  const struct backend_device *device; /* NULL: the CPU */
  bool is_absent;                      /* absent.c: hone has no worker for it */
  bool only_named;                     /* without --backend it is not asked */
  bool only_installed; /* without --backend it is asked only where it is installed */
  bool testing_only;   /* exists only with HONE_TESTING=1 */
  bool grows;          /* bind may be called again for a set, with other sizes: request->grows */
  /* options, separated by blanks, with which it is made for the sizes it saw; NULL: none */
  const char *holds_with;
  bool saturates;   /* its products of 8-bit integers, on x86 processors without VNNI */
  bool takes_text;  /* inputs and outputs may be tables of hone_string */
  bool ships_model; /* artifact_bytes counts libraries only: the model's files ship beside them */
  struct backend_traits traits;
  const struct backend_variant *variants; /* NULL: only its default */
  /* Whether the engine can be loaded here; never a failure of the context. */
  void (*describe)(struct ctx *ctx, const struct backend *backend, const char *engine_path,
                   struct backend_info *out);
  /* Converts and compiles into request->work_dir. NULL: the engine compiles on load. */
  hone_status (*prepare)(struct ctx *ctx, const struct backend_request *request,
                         struct backend_facts *facts);
  size_t session_size;
  /* Fills a session of zeros. facts: as prepare left them. After a failure close is called too. */
  hone_status (*open)(struct ctx *ctx, struct session *session,
                      const struct backend_request *request, struct backend_facts *facts,
                      struct backend_io *out_io);
  /* Makes input set `set` of dense host tensors known (engine's own tensors, copied or wrapped
     once); outputs are readable host memory afterwards. */
  hone_status (*bind)(struct ctx *ctx, struct session *session, int set, const hone_tensor *inputs,
                      const hone_tensor *outputs);
  /* The copy of inputs into the places that bind made in the engine's own memory, timed apart from inferences. NULL: it
     reads the caller's. */
  hone_status (*copy_in)(struct ctx *ctx, struct session *session, int set,
                         const hone_tensor *inputs);
  /* One inference of a set. The set is the ticket: it is in flight until it was waited for, and at most
     facts.in_flight are at a time. */
  hone_status (*submit)(struct ctx *ctx, struct session *session, int set);
  /* Returns when the outputs of that set can be read. */
  hone_status (*wait)(struct ctx *ctx, struct session *session, int set);
  /* Outside the clock: the tables of a set's text outputs say what its last inference wrote, until the next one.
     NULL: they say so at once. */
  hone_status (*read_text)(struct ctx *ctx, struct session *session, int set);
  /* Reads back from the engine how it computed: facts->precision and facts->fallback_share. Called
     once after everything was measured, so it may open a second, profiled session. NULL: what open
     said stands. */
  hone_status (*survey)(struct ctx *ctx, struct session *session,
                        const struct backend_request *request, struct backend_facts *facts);
  /* Leaves what the engine made of the model as files in request->work_dir and names them, a line each: what another
     process can load. Called once, after everything was measured. NULL: it has nothing to leave. */
  hone_status (*keep)(struct ctx *ctx, struct session *session,
                      const struct backend_request *request, struct strbuf *out_names);
  /* Releases what the session holds, opened or half opened; its own memory is not the backend's. */
  void (*close)(struct session *session);
};

/* On failure nothing stays open. The caller ends it with session_close and frees the lists. */
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
/* NULL if unknown, or for testing only and HONE_TESTING is not 1. */
const struct backend *backend_find(const char *name);
bool backend_reads(const struct backend *backend, const char *format);
bool backend_knows_route(const struct backend *backend, const char *route);
bool backend_holds_with(const struct backend *backend, const char *options);
/* -- route.c */
/* The way that a model of this format takes: `asked` (or NULL) where the engine knows it, the file itself where it
   reads that, which is called by its format, else the engine's first. */
void backend_route(const struct backend *backend, const char *format, const char *asked,
                   char out[64]);
/* Whether hone writes the file that the engine reads. */
bool route_is_hones(const char *route);
/* Of such a route: writes the model into the work folder in the form that the engine reads, and lets the request name
   that file (its path is `out`, which must live as long). Others: nothing. E_UNSUP, and what reading says. */
MUST_USE hone_status route_convert(struct ctx *ctx, const char *route,
                                   struct backend_request *request, struct backend_facts *facts,
                                   char out[4096]);
/* "torch", "torch:script". E_USAGE with the nearest name, or the variants that there are. */
struct backend_choice {
  const struct backend *backend;
  const struct backend_variant *variant; /* NULL: the default */
};
MUST_USE hone_status backend_choose(struct ctx *ctx, const char *text, struct backend_choice *out);

#define BACKEND_MAX_SETS 16
/* describe.c: calls `describe` in a child process, because a broken engine library may end the process that loads it. */
void describe_backend(struct ctx *ctx, const struct backend *backend, const char *engine_path,
                      struct backend_info *out);
/* describe of an engine that is part of this program. */
void describe_built_in(struct ctx *ctx, const struct backend *backend, const char *engine_path,
                       struct backend_info *out);
/* python.c: engines with a worker of their own. The interpreter of their environment; E_MISSING. */
MUST_USE hone_status engine_python(struct ctx *ctx, const char *name, const char *engine_path,
                                   char out[4096]);
/* Of the engine's distribution, by its metadata; "" where there is none. */
void engine_version(struct ctx *ctx, const char *name, const char *engine_path,
                    const char *distribution, char out[64]);
/* describe of such an engine; the version is that of its distribution's metadata. */
void describe_environment(struct ctx *ctx, const struct backend *backend, const char *engine_path,
                          struct backend_info *out);
/* Why such an engine is opened in this process: its environment or device is not here. Never HONE_OK. */
MUST_USE hone_status refuse_elsewhere(struct ctx *ctx, const struct backend *backend,
                                      const char *engine_path);
/* wait of an engine whose submit returns when the outputs are written. */
hone_status wait_nothing(struct ctx *ctx, struct session *session, int set);
/* streams.c: requests in flight of an engine whose call is synchronous and may run in several threads. */
struct streams;
typedef hone_status stream_call(struct ctx *ctx, struct session *session, int set);
/* Also after a failure *out is to be destroyed, if it is not NULL. */
MUST_USE hone_status streams_create(struct ctx *ctx, int count, stream_call *call,
                                    struct session *session, struct streams **out);
MUST_USE hone_status streams_submit(struct ctx *ctx, struct streams *streams, int set);
MUST_USE hone_status streams_wait(struct ctx *ctx, struct streams *streams, int set);
void streams_destroy(struct streams *streams); /* waits for what is in flight */
/* The test engines: one input "x" of the request's shape (or f32[1]) and one output "y" of the same
   form. *out_bytes: size of each. */
MUST_USE hone_status identity_io(struct ctx *ctx, const struct backend_request *request,
                                 struct backend_io *out, size_t *out_bytes);
/* What they say of themselves: this version, one thread of the CPU, synthetic. */
void identity_facts(const struct backend_request *request, struct backend_facts *facts);
/* Every field unknown. */
void backend_facts_init(struct backend_facts *facts);
MUST_USE hone_status backend_io_create(struct ctx *ctx, size_t input_count, size_t output_count,
                                       struct backend_io *out);
void backend_io_destroy(struct backend_io *io);
/* Next "key=value" of "key=value;...": false at the end. Advances *at. */
bool option_next(const char **at, char key[64], char value[256]);
/* Value of one key; false if it is not there. */
bool option_get(const char *options, const char *key, char value[256]);
/* Strict number of an option; `otherwise` if it is absent. E_USAGE. */
MUST_USE hone_status option_int(struct ctx *ctx, const char *options, const char *key,
                                int64_t otherwise, int64_t min, int64_t max, int64_t *out);
/* Dims of `name` in "x[1,3],y[2]"; false if it is not listed or damaged. */
bool shapes_find(const char *shapes, const char *name, int32_t *out_rank,
                 int64_t out_dims[HONE_MAX_RANK]);
/* Elements times size, of text the table of hone_string; E_SHAPE for open dimensions, E_TYPE, E_LIMIT. */
MUST_USE hone_status tensor_bytes(struct ctx *ctx, const char *name, const hone_tensor *tensor,
                                  size_t *out_bytes);
/* Time by precision, as an engine's profile tells it. */
struct precision_mix {
  double ns[5], fallback_ns, all_ns;
};
/* word: the profile's name of a type ("float", "f32", "I8", ...); others count as time alone. */
void precision_mix_add(struct precision_mix *mix, const char *word, double ns, bool is_fallback);
/* "fp32", or "int8+fp32" where two took a twentieth of the time each, the larger first; and the share
   of time that fell back. Leaves the facts alone where the profile was empty. */
void precision_mix_tell(const struct precision_mix *mix, struct backend_facts *facts);

/* part.c: a stretch of a model's nodes in an engine of this process. */
struct part {
  const struct backend *backend;
  struct session *session;
  struct backend_io io;
  struct backend_facts facts;
  size_t input_count, output_count;
  size_t *input_places, *output_places; /* by the engine's order: place in the graph's */
};
/* Engines whose sessions live in the calling process and read ONNX. */
bool part_can_be(const struct backend *backend);
/* Options under which an engine is a good neighbour: ONNX Runtime's threads do not spin on while another works. */
const char *part_options(const struct backend *backend);
/* Writes the graph as ONNX into `dir`, which is made, and opens it there; the rest of the request is `like`'s. After a
   failure nothing stays open. */
MUST_USE hone_status part_open(struct ctx *ctx, const struct backend *backend,
                               const struct graph *graph, const struct backend_request *like,
                               const char *dir, struct part *out);
/* Tensors in the graph's order; they stay where they are until the part is closed. */
MUST_USE hone_status part_bind(struct ctx *ctx, struct part *part, int set,
                               const hone_tensor *inputs, const hone_tensor *outputs);
/* One inference of a set from beginning to end. */
MUST_USE hone_status part_run(struct ctx *ctx, struct part *part, int set);
void part_close(struct part *part); /* also of zeros */

/* hybrid.c: what the option `parts` says of a graph with so many nodes. */
enum { HYBRID_MOST_PARTS = 16 };
struct hybrid_plan {
  size_t count;
  size_t ends[HYBRID_MOST_PARTS]; /* nodes before the end of each part */
  const struct backend *engines[HYBRID_MOST_PARTS];
};
MUST_USE hone_status hybrid_read_plan(struct ctx *ctx, const char *options, size_t nodes,
                                      struct hybrid_plan *out);

/* Resident bytes of this process now. */
int64_t resident_bytes(void);
/* Threads of this process now; 0 unknown. */
int process_thread_count(void);

/* engines.c: folder of an installed engine: dir_user("data")/engines/NAME; E_MISSING if none. */
MUST_USE hone_status engine_dir(struct ctx *ctx, const char *name, char out[4096]);
/* "container:IMAGE" is refused, with the reason. */
MUST_USE hone_status engine_check_kind(struct ctx *ctx, const char *engine_path);
/* First file matching a glob pattern below the engine's site-packages. E_MISSING. */
MUST_USE hone_status engine_file(struct ctx *ctx, const char *name, const char *engine_path,
                                 const char *pattern, char out[4096]);
/* Own virtual environment, pinned requirement. progress: one line at a time, may be NULL. */
/* Sizes of the files in the folder of `library` that this process has mapped: what of an engine must
   ship to run what is open now. -1 unknown. */
int64_t engine_mapped_bytes(const char *library);
MUST_USE hone_status engine_install(struct ctx *ctx, const struct backend *backend,
                                    void (*progress)(void *user, const char *line), void *user);
MUST_USE hone_status engine_remove(struct ctx *ctx, const struct backend *backend);

#endif
