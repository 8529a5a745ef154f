/* bundle: a choice as a folder that runs, tests itself and says where it comes from, without hone: artifact or model
 * and engine pin, programs in C and Python, typed header, vectors with outputs, MANIFEST of SHA-256 hashes.
 *
 * An engine stands behind the same ABI as a compiled model (compiler/run/artifact.h): model.so is either, and all around it is
 * the same text. The folder appears complete or not at all.
 */
#ifndef HONE_BUNDLE_H
#define HONE_BUNDLE_H

#include "judge/recommend/advise.h"
#include "bench/study/study.h"

struct bundle_request {
  const char *model_path;        /* file or zoo: name, as the study had it */
  const struct record *choice;   /* the row to ship */
  const struct study_row *study; /* where it was measured */
  const char *engine_path;       /* --engine of its backend, or NULL */
  const char *side_files_from;   /* as in import_options */
  const char *cc;                /* NULL: the usual one */
  const char *advice_json;       /* the recommendation as JSON, */
  const char *advice_text;       /* and in words */
  const char *page_html;         /* the study's page */
};
enum { BUNDLE_SETS = 2, BUNDLE_ENGINES = 2 };
bool bundle_can_run(const char *backend);
/* Refuses before the work: E_UNSUP for a backend that has no adaptor here (NULL: none is known yet), E_PATH for a folder
   that has something in it. */
MUST_USE hone_status bundle_check(struct ctx *ctx, const char *backend, const char *dir);
/* E_ACCURACY where what was put together does not give the reference's outputs. out_id: 16 digits. */
MUST_USE hone_status bundle_write(struct ctx *ctx, const struct bundle_request *request,
                                  const char *dir, char out_id[17]);

/* -- inside the folder */

struct bundle {
  struct ctx *ctx;
  const struct bundle_request *request;
  struct arena *arena;
  char dir[4096]; /* being filled */
  struct model model;
  bool is_native, is_hybrid;
  struct compile_options options; /* of native */
  size_t engine_count;            /* that must be there beside the bundle */
  struct bundle_engine {
    const struct adaptor *adaptor;
    char version[64], library[4096], hash[65];
  } engines[BUNDLE_ENGINES];
  const char *model_file; /* of an engine: "model.onnx", ... */
  const char *route;      /* what became of the user's file on the way there */
  /* outputs: the reference's, then its own */
  hone_tensor *inputs[BUNDLE_SETS], *outputs[BUNDLE_SETS];
  struct yardstick *yardsticks;
  size_t set_count;
  char worst[512]; /* of the check against the reference, in words */
};
/* folder.c */
MUST_USE hone_status bundle_path(const struct bundle *b, const char *name, char out[4096]);
MUST_USE hone_status bundle_put(const struct bundle *b, const char *name, const char *data,
                                size_t length, unsigned mode);
MUST_USE hone_status bundle_put_text(const struct bundle *b, const char *name, struct strbuf *text,
                                     unsigned mode); /* frees the text */
/* One of the texts in text/ or elsewhere, by its embedded name. */
MUST_USE hone_status bundle_put_embedded(const struct bundle *b, const char *embedded,
                                         const char *name, unsigned mode);
/* Runs argv[0], a program of the bundle, in its folder; E_CRASH with its words where it fails. */
MUST_USE hone_status bundle_run(const struct bundle *b, const char **argv);

/* parts.c: model.so and what it needs. An engine that has an adaptor: */
struct adaptor {
  const char *name, *text, *distribution, *library;
  const char *header; /* that the text shares with the backend, by its embedded name; NULL: none */
};
const struct adaptor *adaptor_of(const char *backend); /* NULL: none */
/* The library that will run, and its version; "" version: as it says itself. */
MUST_USE hone_status bundle_find_engine(struct bundle *b, const struct adaptor *adaptor,
                                        const char *path, const char *version,
                                        struct bundle_engine *out);
/* The adaptor's text as src/`name`, and the headers that it includes. */
MUST_USE hone_status bundle_put_adaptor(struct bundle *b, const struct adaptor *adaptor,
                                        const char *name);
/* What an adaptor is told of a graph, as the file `name`. */
MUST_USE hone_status bundle_put_ports(struct bundle *b, const struct bundle_engine *engine,
                                      const struct graph *graph, const char *options,
                                      const char *model_file, const char *name);
MUST_USE hone_status bundle_native_options(struct bundle *b, const char *options);
MUST_USE hone_status bundle_put_header(struct bundle *b); /* model.h of what is no compiled model */
MUST_USE hone_status bundle_check_ports(struct bundle *b); /* E_UNSUP for open sizes */
MUST_USE hone_status bundle_make_native(struct bundle *b);
MUST_USE hone_status bundle_make_engine(struct bundle *b, const struct adaptor *engine);
/* hybrid.c: the same of parts on several engines */
MUST_USE hone_status bundle_make_hybrid(struct bundle *b);
MUST_USE hone_status bundle_make_programs(struct bundle *b);
/* vectors.c: inputs and the reference's outputs; then those of the bundle itself, judged by the former */
MUST_USE hone_status bundle_make_vectors(struct bundle *b);
MUST_USE hone_status bundle_judge(struct bundle *b);
/* documents.c: what is read by people: README, Dockerfile, provenance, licences */
MUST_USE hone_status bundle_make_papers(struct bundle *b);
/* manifest.c: last of all */
MUST_USE hone_status bundle_make_manifest(struct bundle *b, char out_id[17]);
#endif
