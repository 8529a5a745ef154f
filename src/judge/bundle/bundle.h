/* bundle: a choice as a folder that runs and tests itself without hone: artifact, or model and
 * pinned engine; programs in C and Python; typed header; test vectors with outputs; MANIFEST of
 * SHA-256 hashes.
 *
 * An engine has the same ABI as a compiled model (compiler/run/artifact.h): model.so is either, and
 * all other sources are the same. The folder appears complete or not at all.
 */
#ifndef HONE_BUNDLE_H
#define HONE_BUNDLE_H

#include "judge/recommend/advise.h"
#include "bench/study/study.h"

struct bundle_request {
  const char *model_path;        /* file or zoo: name, as in the study */
  const struct record *choice;   /* the record of the choice */
  const struct study_row *study; /* where it was measured */
  const char *engine_path;       /* --engine of its backend, or NULL */
  const char *side_files_from;   /* as in import_options */
  const char *cc;                /* NULL: the usual one */
  const char *advice_json;       /* the recommendation as JSON */
  const char *advice_text;       /* and as text */
  const char *page_html;         /* the study's page */
};
enum { BUNDLE_SETS = 2, BUNDLE_ENGINES = 2 };
bool bundle_can_run(const char *backend);
/* Before the work. E_UNSUP: the backend has no adaptor (NULL: the backend is not known yet).
   E_PATH: the folder is not empty. */
MUST_USE hone_status bundle_check(struct ctx *ctx, const char *backend, const char *dir);
/* E_ACCURACY: the finished bundle does not compute the reference's outputs. out_id: 16 digits. */
MUST_USE hone_status bundle_write(struct ctx *ctx, const struct bundle_request *request,
                                  const char *dir, char out_id[17]);

/* -- inside the folder */

struct bundle {
  struct ctx *ctx;
  const struct bundle_request *request;
  struct arena *arena;
  char dir[4096]; /* the unfinished folder */
  struct model model;
  bool is_native, is_hybrid;
  struct compile_options options; /* of native */
  size_t engine_count;            /* that have to be installed in addition to the bundle */
  struct bundle_engine {
    const struct adaptor *adaptor;
    char version[64], library[4096], hash[65];
  } engines[BUNDLE_ENGINES];
  const char *model_file; /* of an engine: "model.onnx", ... */
  const char *route;      /* how the model file was made from the user's */
  /* outputs: the reference's */
  hone_tensor *inputs[BUNDLE_SETS], *outputs[BUNDLE_SETS];
  struct yardstick *yardsticks;
  size_t set_count;
  char worst[512]; /* largest differences from the reference, as text */
};
/* folder.c */
MUST_USE hone_status bundle_path(const struct bundle *b, const char *name, char out[4096]);
MUST_USE hone_status bundle_put(const struct bundle *b, const char *name, const char *data,
                                size_t length, unsigned mode);
MUST_USE hone_status bundle_put_text(const struct bundle *b, const char *name, struct strbuf *text,
                                     unsigned mode); /* frees the text */
/* A file of embedded/ or another embedded text, by name. */
MUST_USE hone_status bundle_put_embedded(const struct bundle *b, const char *embedded,
                                         const char *name, unsigned mode);
/* Runs argv[0], a program of the bundle, in its folder. E_CRASH with its output if it fails. */
MUST_USE hone_status bundle_run(const struct bundle *b, const char **argv);

/* parts.c: model.so and what it needs */
/* An engine that a bundle can contain. */
struct adaptor {
  const char *name, *text, *distribution, *library;
  const char *header; /* shared with the backend, by its embedded name; NULL: none */
};
const struct adaptor *adaptor_of(const char *backend); /* NULL: none */
/* Finds the engine's library and hashes it. E_INTERNAL: version is "". */
MUST_USE hone_status bundle_find_engine(struct bundle *b, const struct adaptor *adaptor,
                                        const char *path, const char *version,
                                        struct bundle_engine *out);
/* Writes the adaptor's source as src/`name`, and the headers that it includes. */
MUST_USE hone_status bundle_put_adaptor(struct bundle *b, const struct adaptor *adaptor,
                                        const char *name);
/* Writes the names, shapes and options that an adaptor needs, as the file `name`. */
MUST_USE hone_status bundle_put_ports(struct bundle *b, const struct bundle_engine *engine,
                                      const struct graph *graph, const char *options,
                                      const char *model_file, const char *name);
MUST_USE hone_status bundle_native_options(struct bundle *b, const char *options);
/* model.h for a model that is not compiled. */
MUST_USE hone_status bundle_put_header(struct bundle *b);
/* E_UNSUP: an output has a dynamic dimension. */
MUST_USE hone_status bundle_check_ports(struct bundle *b);
MUST_USE hone_status bundle_make_native(struct bundle *b);
MUST_USE hone_status bundle_make_engine(struct bundle *b, const struct adaptor *engine);
/* hybrid.c: the same for parts on several engines */
MUST_USE hone_status bundle_make_hybrid(struct bundle *b);
MUST_USE hone_status bundle_make_programs(struct bundle *b);
/* vectors.c: inputs and the reference's outputs; then the bundle's own outputs, compared with
   those */
MUST_USE hone_status bundle_make_vectors(struct bundle *b);
MUST_USE hone_status bundle_judge(struct bundle *b);
/* documents.c: README, Dockerfile, provenance, licences */
MUST_USE hone_status bundle_make_documents(struct bundle *b);
/* manifest.c: after all other files */
MUST_USE hone_status bundle_make_manifest(struct bundle *b, char out_id[17]);
#endif
