/* nodes: translates a node by its row of the table: in-place forms, copies, parts of complex
 * numbers, scalar operands, and checks without a result. */
#include "pt2.h"

/* The result of an in-place operator replaces the tensor it wrote to, and its result name refers to
 * the same item. */
static hone_status write_through(struct pt_op *op, const char *result, const char *self) {
  struct pt_item *made;
  TRY(pt_find(op->pt, pt_place(op), result, &made));
  TRY(pt_write(op, self, made));
  return pt_note_view(op, result, self, VIEW_SAME);
}

/* The result of a view shares the storage of its base; an in-place operator writes to it. */
static hone_status note_storage(struct pt_op *op, const char *plain) {
  const char *self = pt_self(op->node);
  json_t *result = NULL;
  for (size_t i = 0; i < json_array_size(op->outputs); i++) {
    const char *kind = pt_variant(json_array_get(op->outputs, i), &result);
    size_t count = !strcmp(kind, "as_tensors") ? json_array_size(result) : 1;
    for (size_t k = 0; k < count; k++) {
      const json_t *one = !strcmp(kind, "as_tensors") ? json_array_get(result, k) : result;
      const char *name = pt_words(json_object_get(one, "name"));
      if (!*name) continue;
      if (plain) return write_through(op, name, self);
      TRY(pt_note_view(op, name, self, pt_view_of(op->target)));
    }
  }
  return HONE_OK;
}

/* "aten.view_copy.default" as "aten.view.default": its result is a separate tensor, as all of ours
 * are. */
static hone_status find_copy(struct pt_op *op, pt_build_fn **build, bool *out_found) {
  static const char mark[] = "_copy.";
  const char *at = strstr(op->target, mark), *name;
  *out_found = false;
  if (!at) return HONE_OK;
  TRY(arena_printf(op->ctx, op->pt->arena, &name, "%.*s.%s", (int)(at - op->target), op->target,
                   at + sizeof mark - 1));
  *out_found = pt_find_kind(op, name, build);
  return HONE_OK;
}

static hone_status unknown(const struct pt_op *op) {
  const hone_status status = fail(op->ctx, HONE_E_UNSUP, pt_place(op),
                                  "PyTorch operator \"%.100s\" is not supported", op->target);
  return advise(op->ctx, status, "%s",
                strncmp(op->target, "aten.", 5)
                    ? "rewrite it with PyTorch's own operators; docs/reference/pytorch.md lists "
                      "the supported ones"
                    : "export with torch.export.export(model, args).run_decompositions(), which "
                      "uses few operators; docs/reference/pytorch.md lists the supported ones");
}

/* Operators that do not need the size of an operand as a number, so that it may be dynamic
 * (nonzero, cond); and those that accept such a size as an argument. */
static pt_build_fn *const of_open[] = {
    build_unary,       build_copy,         build_silu,       build_rsqrt,         build_gelu,
    build_alpha,       build_clamp,        build_binary,     build_rsub,          build_not_equal,
    build_where,       build_masked_fill,  build_cast,       build_hard_sigmoid,  build_softplus,
    build_log_sigmoid, build_log_base,     build_expm1,      build_log1p,         build_exp2,
    build_trunc,       build_is_finite,    build_square,     build_formula,       build_clone,
    build_abs,         build_to,           build_arithmetic, build_exp,           build_reciprocal,
    build_view,        build_flatten,      build_unsqueeze,  build_squeeze,       build_permute,
    build_slice,       build_select,       build_cat,        build_index_select,  build_embedding,
    build_index,       build_nonzero,      build_linear,     build_matmul,        build_addmm,
    build_reduce,      build_reduce_truth, build_extreme,    build_both_extremes, build_softmax,
    build_layer_norm,  build_sym_size,     build_sym_numel,  build_nothing,       build_wrapped,
    build_cond,        build_cumulative};
static pt_build_fn *const of_open_numbers[] = {build_view, build_sym_numel, build_number,
                                               build_number_test, build_number_choice};

static bool is_among(pt_build_fn *build, pt_build_fn *const *those, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (those[i] == build) return true;
  return false;
}

static hone_status check_open(const struct pt_op *op, pt_build_fn *build) {
  if ((op->reads_open && !is_among(build, of_open, COUNT(of_open))) ||
      (op->reads_open_number && !is_among(build, of_open_numbers, COUNT(of_open_numbers))))
    return pt_refuse(op, "of a dynamic dimension");
  return HONE_OK;
}

/* Operators along a dimension that PyTorch also applies to scalars, with a scalar result. */
static const struct {
  pt_build_fn *build;
  const char *of;
} along[] = {{build_softmax, "self"},
             {build_safe_softmax, "self"},
             {build_topk, "self"},
             {build_scan, "self"},
             {build_cumulative, "self"},
             {build_extreme, "self"},
             {build_order_statistic, "self"},
             {build_index_add, "self"},
             {build_index_select, "self"},
             {build_scatter, "self"},
             {build_gather, "index"},
             {build_roll, "self"},
             {build_cosine, "x1"},
             {build_masked_select, ""},
             {build_nonzero, ""}};

static const char *lifted_by(pt_build_fn *build) {
  for (size_t i = 0; i < COUNT(along); i++)
    if (along[i].build == build) return along[i].of;
  return NULL;
}

/* An operator that torch.export orders by a token: one that only checks has no result. */
hone_status build_effect(struct pt_op *op) {
  static const char prefix[] = "torch.ops.";
  struct pt_op inner = {.target = ""};
  pt_build_fn *build = NULL;
  for (size_t i = 0; i < json_array_size(op->inputs); i++) {
    json_t *name = NULL;
    const json_t *arg = json_object_get(json_array_get(op->inputs, i), "arg");
    if (!strcmp(pt_variant(arg, &name), "as_operator")) inner.target = pt_words(name);
  }
  if (!strncmp(inner.target, prefix, sizeof prefix - 1)) inner.target += sizeof prefix - 1;
  if (pt_find_kind(&inner, inner.target, &build) && build == build_nothing) return HONE_OK;
  return pt_refuse(op, "of %.100s, which has side effects", inner.target);
}

static hone_status pt_build(struct pt_op *op) {
  pt_build_fn *build = NULL;
  const char *plain = NULL;
  bool found = pt_find_kind(op, op->target, &build);
  if (!found) TRY(find_copy(op, &build, &found));
  if (!found) {
    TRY(pt_plain_target(op->pt, op->target, &plain));
    found = plain && pt_find_kind(op, plain, &build);
    /* unsqueeze_: another view of the same tensor, under the new name */
    if (found && pt_view_of(plain)) {
      op->target = plain;
      plain = NULL;
    }
  }
  if (!found) return unknown(op);
  op->lifts = lifted_by(build);
  TRY(pt_is_by_parts(op) ? pt_build_by_parts(op, build) : build(op));
  TRY(check_open(op, build));
  if (plain || pt_view_of(op->target)) return note_storage(op, plain);
  return HONE_OK;
}

hone_status pt_add_node(struct pt *pt, const json_t *node, size_t index) {
  struct pt_op op = {.pt = pt,
                     .ctx = pt->ctx,
                     .b = &pt->b,
                     .node = node,
                     .target = pt_target(node),
                     .inputs = json_object_get(node, "inputs"),
                     .outputs = json_object_get(node, "outputs")};
  pt->b.index = (int64_t)index;
  const char *name = pt_words(json_object_get(node, "name"));
  TRY(arena_string(pt->ctx, pt->arena, name, strlen(name), &pt->b.name));
  TRY(arena_string(pt->ctx, pt->arena, op.target, strlen(op.target), &pt->b.written_as));
  return pt_build(&op);
}
