/* The list of models, and the parser of "zoo:NAME,option=N,...". */
#include "build.h"

enum { LARGEST_OPTION = 1 << 20 };

#define MODEL(name, family, variant, count, spec, summary) {#name, summary, spec, count},
const struct zoo_model zoo_models[] = {
#include "models.def"
};
#undef MODEL
const size_t zoo_model_count = COUNT(zoo_models);

#define MODEL(name, family, variant, count, spec, summary) {family, variant},
static const struct {
  family_fn *build;
  int variant;
} families[] = {
#include "models.def"
};
#undef MODEL

bool zoo_is_spec(const char *path) { return strncmp(path, "zoo:", 4) == 0; }

static const char *const list_hint = "'hone zoo list' names the built-in models and their options";

static hone_status find_model(struct ctx *ctx, const char *name, size_t *out) {
  const char *names[COUNT(zoo_models)];
  for (*out = 0; *out < COUNT(zoo_models); ++*out) {
    names[*out] = zoo_models[*out].name;
    if (!strcmp(name, names[*out])) return HONE_OK;
  }
  const char *best = nearest_name(name, names, COUNT(names));
  return advise(ctx,
                fail(ctx, HONE_E_NOFILE, place_name(name), "there is no such model%s%s%s",
                     best ? "; did you mean \"" : "", best ? best : "", best ? "\"?" : ""),
                "%s", list_hint);
}

static int64_t *option_field(struct zoo_options *options, const char *name) {
  if (!strcmp(name, "batch")) return &options->batch;
  if (!strcmp(name, "sequence")) return &options->sequence;
  if (!strcmp(name, "past")) return &options->past;
  if (!strcmp(name, "size")) return &options->size;
  if (!strcmp(name, "layers")) return &options->layers;
  if (!strcmp(name, "width")) return &options->width;
  if (!strcmp(name, "vocabulary")) return &options->vocabulary;
  return NULL;
}

/* "name=N" up to a comma or the end. Only options with a default are accepted. */
static hone_status read_option(struct ctx *ctx, const char *spec, const char **at, bool is_default,
                               struct zoo_options *options) {
  char name[32] = "", number[32] = "";
  size_t n = strcspn(*at, "=,");
  const char *value = *at + n + ((*at)[n] == '=');
  size_t m = strcspn(value, ",");
  if (n < sizeof name) memcpy(name, *at, n);
  if (m < sizeof number) memcpy(number, value, m);
  int64_t *field = option_field(options, name), parsed;
  const bool opens = !strcmp(name, "past") && !strcmp(number, "open");
  if (!field || (!is_default && !*field))
    return advise(ctx,
                  fail(ctx, HONE_E_USAGE, place_name(spec), "the model has no option \"%s\"", name),
                  "%s", list_hint);
  if (opens) options->is_open = true;
  if (!opens && !parse_i64(number, 1, LARGEST_OPTION, &parsed))
    return fail(ctx, HONE_E_USAGE, place_name(spec), "%s must be a number from 1 to %d", name,
                LARGEST_OPTION);
  if (!opens) *field = parsed;
  if (value[m] == ',' && !value[m + 1])
    return fail(ctx, HONE_E_USAGE, place_name(spec), "nothing follows the last comma");
  *at = value + m + (value[m] == ',');
  return HONE_OK;
}

static hone_status read_options(struct ctx *ctx, const char *spec, const char *text,
                                bool is_default, struct zoo_options *options) {
  while (*text) TRY(read_option(ctx, spec, &text, is_default, options));
  return HONE_OK;
}

/* True if all sizes that affect the number of parameters are the published ones. */
static bool is_published(const struct zoo_options *a, const struct zoo_options *b) {
  return a->layers == b->layers && a->width == b->width && a->vocabulary == b->vocabulary &&
         a->size == b->size;
}

/* Checks everything that may fail before weights are allocated. A model is in memory twice while it
 * is compiled or exported: as a graph and in the written form. */
static hone_status count(struct builder *b, size_t model, uint64_t ram_bytes) {
  const struct zoo_model *row = &zoo_models[model];
  b->is_counting = true;
  families[model].build(b, families[model].variant);
  b->is_counting = false;
  TRY(b->status);
  if (is_published(&b->options, &b->published) && b->parameter_count != row->parameter_count)
    return fail(b->ctx, HONE_E_INTERNAL, place_name(row->name),
                "%lld parameters, %lld are published", (long long)b->parameter_count,
                (long long)row->parameter_count);
  if (2 * (uint64_t)b->weight_bytes > ram_bytes)
    return fail(b->ctx, HONE_E_OOM, place_name(row->name),
                "%.1f GB of weights are needed twice while they are compiled, and %.1f GB may be "
                "used; a smaller "
                "model has fewer layers or less width: zoo:%s,layers=1",
                (double)b->weight_bytes / 1e9, (double)ram_bytes / 1e9, row->name);
  return HONE_OK;
}

/* A model's row and a builder with its sizes. */
static hone_status prepare(struct ctx *ctx, struct arena *arena, const char *spec,
                           struct builder *b, size_t *model) {
  const char *rest = zoo_is_spec(spec) ? spec + 4 : spec, *name;
  size_t n = strcspn(rest, ",");
  *b = (struct builder){.ctx = ctx};
  TRY(arena_string(ctx, arena, rest, n, &name));
  TRY(find_model(ctx, name, model));
  if (rest[n] == ',' && !rest[n + 1])
    return fail(ctx, HONE_E_USAGE, place_name(spec), "nothing follows the last comma");
  TRY(read_options(ctx, spec, zoo_models[*model].default_spec, true, &b->options));
  b->published = b->options;
  TRY(read_options(ctx, spec, rest + n + (rest[n] == ','), false, &b->options));
  b->is_open = b->options.is_open;
  return graph_create(ctx, arena, &b->graph);
}

hone_status zoo_measure(struct ctx *ctx, struct arena *arena, const char *spec, uint64_t ram_bytes,
                        struct zoo_size *out) {
  struct builder b;
  size_t model;
  TRY(prepare(ctx, arena, spec, &b, &model));
  TRY(count(&b, model, ram_bytes));
  *out = (struct zoo_size){b.parameter_count, b.weight_bytes};
  return HONE_OK;
}

bool zoo_generates(const char *spec) {
  const char *name = zoo_is_spec(spec) ? spec + 4 : spec;
  for (size_t i = 0; i < zoo_model_count; i++)
    if (strlen(zoo_models[i].name) == strcspn(name, ",") &&
        !strncmp(name, zoo_models[i].name, strcspn(name, ",")))
      return strstr(zoo_models[i].default_spec, "past=") != NULL;
  return false;
}

hone_status zoo_build(struct ctx *ctx, struct arena *arena, const char *spec, struct graph **out,
                      struct open_dimensions *out_open) {
  struct builder b;
  size_t model;
  TRY(prepare(ctx, arena, spec, &b, &model));
  TRY(count(&b, model, usable_ram_bytes()));
  b.graph->name = zoo_models[model].name;
  families[model].build(&b, families[model].variant);
  TRY(b.status);
  TRY(graph_infer(ctx, b.graph));
  if (out_open) *out_open = b.open;
  *out = b.graph;
  return HONE_OK;
}
