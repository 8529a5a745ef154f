/* Places the operands of a group's program relative to the output of the kernel that applies it. */
#include "builder.h"

/* True if `view`, broadcast to the output, has one element per column. */
static bool is_column(const struct view *view, int column) {
  for (int i = 0; i < view->shape.rank; i++)
    if (i != column && view->shape.dims[i] != 1 && view->stride[i]) return false;
  return view->shape.dims[column] == 1 || view->stride[column] == 1;
}

static bool is_scalar(const struct view *view) {
  for (int i = 0; i < view->shape.rank; i++)
    if (view->shape.dims[i] != 1 && view->stride[i]) return false;
  return true;
}

/* True if out's rows are contiguous and adjacent, columns innermost. */
static bool has_dense_rows(const struct view *out, int column) {
  int order[HONE_MAX_RANK];
  int64_t expected = 1;
  view_order(out, order);
  if (out->stride[column] != 1) return false;
  for (int i = out->shape.rank; i-- > 0;) {
    int d = order[i];
    if (out->shape.dims[d] == 1) continue;
    if (out->stride[d] != expected) return false;
    expected *= out->shape.dims[d];
  }
  return true;
}

/* One element per row: the view in which it must be stored. */
static bool row_view(const struct value *value, const struct view *out, int column,
                     struct view *wanted) {
  if (value->shape.rank != out->shape.rank || !has_dense_rows(out, column)) return false;
  *wanted = (struct view){.dtype = value->dtype, .shape = value->shape};
  for (int i = 0; i < out->shape.rank; i++) {
    if (value->shape.dims[i] != (i == column ? 1 : out->shape.dims[i])) return false;
    wanted->stride[i] = i == column ? 1 : out->stride[i] / out->shape.dims[column];
  }
  return true;
}

static hone_status place_operand(struct builder *b, const struct value *value,
                                 const struct view *out, int column, struct view *view,
                                 enum operand_kind *kind) {
  struct view made, row;
  TRY(get_stored(b, value, &made));
  view_broadcast(&made, &out->shape, view);
  if (is_scalar(view)) {
    *kind = OPERAND_SCALAR;
  } else if (is_column(view, column) && out->shape.dims[column] != 1) {
    *kind = OPERAND_COLUMN;
  } else if (shape_equal(&value->shape, &out->shape)) {
    *kind = OPERAND_FULL;
    struct view wanted = *out;
    wanted.dtype = made.dtype;
    return ensure_strides(b, value, &wanted, view);
  } else if (row_view(value, out, column, &row)) {
    *kind = OPERAND_ROW;
    row.dtype = made.dtype;
    return ensure_strides(b, value, &row, view);
  } else {
    struct view full, like = *out;
    struct step *step;
    like.dtype = made.dtype;
    *kind = OPERAND_FULL;
    TRY(arena_view(b, &like, &full));
    TRY(add_copy(b, NULL, view, &full, &step));
    *view = full;
  }
  return HONE_OK;
}

/* One element per column, for any rank of the output. */
static hone_status place_bias(struct builder *b, const struct node *node, const struct value *bias,
                              const struct view *out, int column, struct view *view,
                              enum operand_kind *kind) {
  struct view made, wide = {0};
  struct shape shape = {.rank = out->shape.rank};
  if (bias->shape.rank != 1 || out->shape.rank == 1 ||
      bias->shape.dims[0] != out->shape.dims[column])
    return place_operand(b, bias, out, column, view, kind);
  TRY(get_view(b, bias, &made));
  for (int i = 0; i < shape.rank; i++) shape.dims[i] = i == column ? bias->shape.dims[0] : 1;
  if (!view_reshape(&made, &shape, &wide))
    return fail(b->ctx, HONE_E_INTERNAL, node_place(node), "bias is not one-dimensional");
  view_broadcast(&wide, &out->shape, view);
  *kind = is_scalar(view) ? OPERAND_SCALAR : OPERAND_COLUMN;
  return HONE_OK;
}

hone_status make_epilogue(struct builder *b, const struct fusion_group *g, const struct value *bias,
                          const struct view *out, int column, struct epilogue *epilogue) {
  size_t k = 0, count = g->operand_count + (bias != NULL);
  *epilogue = (struct epilogue){.count = count};
  TRY(make_epilogue_program(b, g, bias != NULL, &epilogue->program));
  TRY(NEW_ARRAY(b->ctx, b->arena, epilogue->operands, count));
  TRY(NEW_ARRAY(b->ctx, b->arena, epilogue->kinds, count));
  if (bias) {
    TRY(place_bias(b, g->node, bias, out, column, &epilogue->operands[k], &epilogue->kinds[k]));
    k++;
  }
  for (size_t i = 0; i < g->operand_count; i++, k++)
    TRY(place_operand(b, g->operands[i], out, column, &epilogue->operands[k], &epilogue->kinds[k]));
  return HONE_OK;
}
