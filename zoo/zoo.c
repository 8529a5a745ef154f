/* The list of models and the reading of "zoo:NAME,option=N,...". */
#include "build.h"

enum { LARGEST_OPTION = 1 << 16 };

/* Parameters as published (torchvision, transformers); running statistics are not counted, tied
   weights once. */
#define MODELS(ROW)                                                                                \
  ROW("bert_base", zoo_bert, 0, "BERT base, Devlin et al. 2018 (arXiv:1810.04805)",                \
      "batch=1,sequence=128", 109482240)                                                           \
  ROW("conv", zoo_conv, 0, "two convolution blocks and a 1x1 head on 3x128x128", "batch=4", 20528) \
  ROW("dlrm", zoo_dlrm, 0,                                                                         \
      "recommendation, Naumov et al. 2019 (arXiv:1906.00091), 26 tables, bags of 10", "batch=128", \
      891985)                                                                                      \
  ROW("gat", zoo_gat, 0, "graph attention, Velickovic et al. 2018, on a random graph like Cora",   \
      "size=2708", 92373)                                                                          \
  ROW("gcn", zoo_gcn, 0, "graph convolutions, Kipf and Welling 2017, on a random graph like Cora", \
      "size=2708", 23063)                                                                          \
  ROW("gpt2", zoo_gpt2, 0, "GPT-2 small, Radford et al. 2019, whole sequence to logits",           \
      "batch=1,sequence=128", 124439808)                                                           \
  ROW("gpt2_decode", zoo_gpt2, 1, "GPT-2 small, one token with a key/value cache",                 \
      "batch=1,past=128", 124439808)                                                               \
  ROW("graphsage", zoo_graphsage, 0,                                                               \
      "mean aggregation, Hamilton et al. 2017, on a random graph like Cora", "size=2708", 184391)  \
  ROW("mlp", zoo_mlp, 0, "three dense layers: 256, 512, 512, 256", "batch=4", 525568)              \
  ROW("mnist_cnn", zoo_mnist, 0, "the PyTorch examples' digit classifier on 1x28x28", "batch=1",   \
      1199882)                                                                                     \
  ROW("mobilenet_v3_small", zoo_mobilenet, 0,                                                      \
      "MobileNetV3, Howard et al. 2019 (arXiv:1905.02244)", "batch=1,size=224", 2542856)           \
  ROW("resnet18", zoo_resnet, 18, "ResNet-18, He et al. 2015 (arXiv:1512.03385)",                  \
      "batch=1,size=224", 11689512)                                                                \
  ROW("resnet50", zoo_resnet, 50, "ResNet-50 v1.5, He et al. 2015 (arXiv:1512.03385)",             \
      "batch=1,size=224", 25557032)                                                                \
  ROW("transformer", zoo_transformer, 0, "two pre-norm encoder layers, width 256, four heads",     \
      "batch=2,sequence=128", 1580032)                                                             \
  ROW("vgg19", zoo_vgg, 0, "VGG-19, Simonyan and Zisserman 2014 (arXiv:1409.1556)", "batch=1",     \
      143667240)                                                                                   \
  ROW("vit_b16", zoo_vit, 0, "ViT-B/16, Dosovitskiy et al. 2020 (arXiv:2010.11929)", "batch=1",    \
      86567656)

#define PUBLIC_ROW(name, family, variant, summary, spec, count) {name, summary, spec, count},
const struct zoo_model zoo_models[] = {MODELS(PUBLIC_ROW)};
const size_t zoo_model_count = COUNT(zoo_models);

#define FAMILY_ROW(name, family, variant, summary, spec, count) {family, variant},
static const struct {
  family_fn *build;
  int variant;
} families[] = {MODELS(FAMILY_ROW)};

bool zoo_is_spec(const char *path) { return strncmp(path, "zoo:", 4) == 0; }

static hone_status find_model(struct ctx *ctx, const char *name, size_t *out) {
  size_t nearest = 0, best = SIZE_MAX;
  for (size_t i = 0; i < zoo_model_count; i++) {
    size_t distance = edit_distance(name, zoo_models[i].name);
    if (distance < best) {
      best = distance;
      nearest = i;
    }
  }
  *out = nearest;
  if (best == 0) return HONE_OK;
  return fail(ctx, HONE_E_NOFILE, place_name(name), "there is no such model; did you mean \"%s\"?",
              zoo_models[nearest].name);
}

static int64_t *option_field(struct zoo_options *options, const char *name) {
  if (!strcmp(name, "batch")) return &options->batch;
  if (!strcmp(name, "sequence")) return &options->sequence;
  if (!strcmp(name, "past")) return &options->past;
  if (!strcmp(name, "size")) return &options->size;
  return NULL;
}

/* "name=N" up to a comma or the end. Only what the defaults have set may be set again. */
static hone_status read_option(struct ctx *ctx, const char *spec, const char **at, bool is_default,
                               struct zoo_options *options) {
  char name[32] = "", number[32] = "";
  size_t n = strcspn(*at, "=,");
  const char *value = *at + n + ((*at)[n] == '=');
  size_t m = strcspn(value, ",");
  if (n < sizeof name) memcpy(name, *at, n);
  if (m < sizeof number) memcpy(number, value, m);
  int64_t *field = option_field(options, name), parsed;
  if (!field || (!is_default && !*field))
    return fail(ctx, HONE_E_USAGE, place_name(spec), "the model has no option \"%s\"", name);
  if (!parse_i64(number, 1, LARGEST_OPTION, &parsed))
    return fail(ctx, HONE_E_USAGE, place_name(spec), "%s must be a number from 1 to %d", name,
                LARGEST_OPTION);
  *field = parsed;
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

hone_status zoo_build(struct ctx *ctx, struct arena *arena, const char *spec, struct graph **out) {
  const char *rest = zoo_is_spec(spec) ? spec + 4 : spec;
  size_t n = strcspn(rest, ","), model;
  const char *name;
  struct builder b = {.ctx = ctx};
  TRY(arena_string(ctx, arena, rest, n, &name));
  TRY(find_model(ctx, name, &model));
  if (rest[n] == ',' && !rest[n + 1])
    return fail(ctx, HONE_E_USAGE, place_name(spec), "nothing follows the last comma");
  TRY(read_options(ctx, spec, zoo_models[model].default_spec, true, &b.options));
  TRY(read_options(ctx, spec, rest + n + (rest[n] == ','), false, &b.options));
  TRY(graph_create(ctx, arena, &b.graph));
  b.graph->name = zoo_models[model].name;
  families[model].build(&b, families[model].variant);
  TRY(b.status);
  if (b.parameter_count != zoo_models[model].parameter_count)
    return fail(ctx, HONE_E_INTERNAL, place_name(name), "%lld parameters, %lld are published",
                (long long)b.parameter_count, (long long)zoo_models[model].parameter_count);
  TRY(graph_infer(ctx, b.graph));
  *out = b.graph;
  return HONE_OK;
}
