/* zoo: well-known models built from code with seeded weights. Architectures are those of the papers
 * and of torchvision/transformers, parameter for parameter. */
#ifndef HONE_ZOO_H
#define HONE_ZOO_H

#include "core/graph/graph.h"

struct zoo_model {
  const char *name;
  const char *summary;      /* one line, with its paper */
  const char *default_spec; /* "batch=1,sequence=128,layers=12" */
  int64_t parameter_count;  /* as published */
};
extern const struct zoo_model zoo_models[];
extern const size_t zoo_model_count;

/* True for "zoo:..." */
bool zoo_is_spec(const char *path);
struct zoo_size {
  int64_t parameter_count; /* at the sizes in the specification */
  int64_t weight_bytes;
};
/* Describes what a specification would build, without building it. E_OOM if twice its weights
 * exceed `ram_bytes`; otherwise as zoo_build. */
MUST_USE hone_status zoo_measure(struct ctx *ctx, struct arena *arena, const char *spec,
                                 uint64_t ram_bytes, struct zoo_size *out);
/* "zoo:resnet50,batch=8": builds the graph in `arena`. E_NOFILE for an unknown name (with the
 * nearest one), E_USAGE for a bad option, E_OOM in advance if twice its weights exceed this
 * machine's memory. out_open, unless NULL: the dynamic dimensions of "past=open" for the written
 * file; else empty. */
MUST_USE hone_status zoo_build(struct ctx *ctx, struct arena *arena, const char *spec,
                               struct graph **out, struct open_dimensions *out_open);
/* True for a decoder with a cache; "past=open" makes it accept any number of tokens after any
 * past. */
bool zoo_generates(const char *spec);
#endif
