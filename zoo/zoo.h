/* zoo: models of the field built from code with seeded weights. Architectures are those of the papers
 * and of torchvision/transformers, parameter for parameter. */
#ifndef HONE_ZOO_H
#define HONE_ZOO_H

#include "../src/graph/graph.h"

struct zoo_model {
  const char *name;
  const char *summary;      /* one line, with its paper */
  const char *default_spec; /* "batch=1,sequence=128" */
  int64_t parameter_count;  /* as published */
};
extern const struct zoo_model zoo_models[];
extern const size_t zoo_model_count;

/* True for "zoo:..." */
bool zoo_is_spec(const char *path);
/* "zoo:resnet50,batch=8": builds the graph in `arena`. E_NOFILE for an unknown name (with the nearest
   one), E_USAGE for a bad option. */
MUST_USE hone_status zoo_build(struct ctx *ctx, struct arena *arena, const char *spec,
                               struct graph **out);
#endif
