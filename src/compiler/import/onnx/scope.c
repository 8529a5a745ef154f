/* scope: versions that a file declares, and the names of a graph; used by all files that build. */
#include "onnx.h"

/* Domains with operators that hone reads, and the supported versions. */
static const struct {
  const char *domain;
  int64_t newest;
} domains[] = {{"", HONE_OPSET}, {"ai.onnx.ml", 5}};

enum { NEWEST_IR = 14, FIRST_IR_WITH_OPSETS = 3 };

int64_t opset_of(const struct builder *builder, const char *domain) {
  const struct call *call = builder->reader.call;
  for (size_t i = 0; call && i < call->function->opsets.count; i++)
    if (!strcmp(call->function->opsets.at[i].domain, domain))
      return call->function->opsets.at[i].version;
  for (size_t i = 0; i < builder->model.opsets.count; i++)
    if (!strcmp(builder->model.opsets.at[i].domain, domain))
      return builder->model.opsets.at[i].version;
  return 0;
}

hone_status check_opset_version(struct ctx *ctx, const struct raw_opset *opset) {
  for (size_t i = 0; i < COUNT(domains); i++) {
    if (strcmp(opset->domain, domains[i].domain)) continue;
    if (opset->version > domains[i].newest)
      return fail(ctx, HONE_E_UNSUP, place_none(),
                  "opset %lld of domain \"%s\": hone reads 1 to %lld", (long long)opset->version,
                  opset->domain, (long long)domains[i].newest);
  }
  if (opset->version < 1)
    return fail(ctx, HONE_E_FORMAT, place_none(), "opset %lld of domain \"%s\": below 1",
                (long long)opset->version, opset->domain);
  return HONE_OK;
}

hone_status check_versions(struct builder *builder) {
  struct ctx *ctx = builder->reader.ctx;
  struct raw_model *model = &builder->model;
  if (!model->graph.start)
    return fail(ctx, HONE_E_FORMAT, place_none(), "no graph: this is not an ONNX model");
  if (model->ir_version < 1)
    return fail(ctx, HONE_E_FORMAT, place_none(), "ir_version %lld (1 to %d are legal)",
                (long long)model->ir_version, NEWEST_IR);
  if (model->ir_version > NEWEST_IR)
    return fail(ctx, HONE_E_UNSUP, place_none(), "ir_version %lld: hone reads 1 to %d",
                (long long)model->ir_version, NEWEST_IR);
  if (!model->opsets.count && model->ir_version < FIRST_IR_WITH_OPSETS)
    VEC_PUSH(ctx, builder->reader.arena, &model->opsets, (struct raw_opset){"", 1});
  if (!model->opsets.count) return fail(ctx, HONE_E_FORMAT, place_none(), "no opset_import");
  for (size_t i = 0; i < model->opsets.count; i++) {
    TRY(check_opset_version(ctx, &model->opsets.at[i]));
    if (opset_of(builder, model->opsets.at[i].domain) != model->opsets.at[i].version)
      return fail(ctx, HONE_E_FORMAT, place_none(), "duplicate opset_import of domain \"%s\"",
                  model->opsets.at[i].domain);
  }
  builder->opset = opset_of(builder, "");
  return HONE_OK;
}

struct place place_raw(const struct raw_node *node) {
  return place_of_node(node->index, node->name, node->op_type);
}

hone_status declare(struct builder *builder, struct scope *scope, struct value *value,
                    struct place at) {
  bool fresh;
  TRY(names_add(builder->reader.ctx, &scope->names, value->name, value, &fresh));
  if (fresh) return HONE_OK;
  return fail(builder->reader.ctx, HONE_E_FORMAT, at, "duplicate: \"%s\" is defined twice",
              value->name);
}
