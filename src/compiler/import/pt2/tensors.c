/* tensors: tensor arguments in their current state: a view whose storage was written is rebuilt. */
#include "pt2.h"

/* NULL: absent. */
static hone_status find_tensor(struct pt_op *op, const char *name, struct pt_item **out) {
  const char *kind;
  struct pt_item *item;
  json_t *value = pt_find_argument(op, name, &kind);
  *out = NULL;
  if (!value) return HONE_OK;
  /* an optional tensor is wrapped again */
  if (!strcmp(kind, "as_optional_tensor")) kind = pt_variant(value, &value);
  if (!strcmp(kind, "as_none")) return HONE_OK;
  if (strcmp(kind, "as_tensor")) return pt_refuse(op, "with argument %s = %s", name, kind);
  TRY(pt_find(op->pt, pt_place(op), pt_words(json_object_get(value, "name")), &item));
  if (!item->value)
    return pt_refuse(op, "with argument %s that is a number or a result that is not computed",
                     name);
  TRY(pt_refresh(op, item));
  op->reads_open |= value_is_open(item->value);
  *out = item;
  return HONE_OK;
}

static hone_status real_value(struct pt_op *op, const struct pt_item *item, struct value **out) {
  *out = item->value;
  if (!item->is_complex) return HONE_OK;
  if (!op->part) return pt_refuse(op, "of complex numbers");
  const int part = op->seen++ && op->is_product ? op->other : op->part;
  return x_give(op->b, out, pt_part(op, item->value, part - 1));
}

hone_status pt_lift(struct pt_op *op, struct value **x) {
  int64_t dims[HONE_MAX_RANK] = {1};
  const int rank = (*x)->shape.rank;
  if (rank == HONE_MAX_RANK) return pt_refuse(op, "of rank %d", rank);
  for (int d = 0; d < rank; d++) dims[d + 1] = make_kept_size(*x, d);
  op->drops = true;
  return x_give(op->b, x, x_reshape(op->b, *x, dims, rank + 1));
}

hone_status pt_tensor(struct pt_op *op, const char *name, struct value **out) {
  struct pt_item *item;
  const bool drops = op->drops;
  *out = NULL;
  TRY(find_tensor(op, name, &item));
  if (!item) return HONE_OK;
  TRY(real_value(op, item, out));
  if (!op->lifts || (*out)->shape.rank) return HONE_OK;
  TRY(pt_lift(op, out));
  if (strcmp(name, op->lifts)) op->drops = drops;
  return HONE_OK;
}

hone_status pt_complex(struct pt_op *op, const char *name, struct value **out,
                       bool *out_is_complex) {
  const char *kind;
  struct pt_item *item = NULL;
  const json_t *value = pt_find_argument(op, name, &kind);
  if (value && (!strcmp(kind, "as_tensor") || !strcmp(kind, "as_optional_tensor")))
    TRY(find_tensor(op, name, &item));
  *out = item ? item->value : NULL;
  *out_is_complex = item && item->is_complex;
  return HONE_OK;
}

hone_status pt_need(struct pt_op *op, const char *name, struct value **out) {
  TRY(pt_tensor(op, name, out));
  if (*out) return HONE_OK;
  return fail(op->ctx, HONE_E_FORMAT, pt_place(op), "%s without argument %s", op->target, name);
}

hone_status pt_need_complex(struct pt_op *op, const char *name, struct value **out,
                            bool *out_is_complex) {
  TRY(pt_complex(op, name, out, out_is_complex));
  return *out ? HONE_OK : pt_need(op, name, out);
}

hone_status pt_tensors(struct pt_op *op, const char *name, size_t most, struct value **out,
                       size_t *out_count) {
  const char *kind;
  json_t *list = pt_find_argument(op, name, &kind);
  *out_count = 0;
  if (!list || strcmp(kind, "as_tensors") || json_array_size(list) > most)
    return pt_refuse(op, "with argument %s that is not a list of at most %zu tensors", name, most);
  for (size_t i = 0; i < json_array_size(list); i++) {
    struct pt_item *item;
    TRY(pt_find(op->pt, pt_place(op), pt_words(json_object_get(json_array_get(list, i), "name")),
                &item));
    if (!item->value) return pt_refuse(op, "with a number in argument %s", name);
    if (op->part && !op->is_product && !item->is_complex)
      return pt_refuse(op, "of real and complex numbers");
    TRY(pt_refresh(op, item));
    op->reads_open |= value_is_open(item->value);
    TRY(real_value(op, item, &out[(*out_count)++]));
  }
  return HONE_OK;
}

/* Entries may be None. */
hone_status pt_optional_tensors(struct pt_op *op, const char *name, size_t most, struct value **out,
                                size_t *out_count) {
  const char *kind;
  json_t *list = pt_find_argument(op, name, &kind);
  if (!list || strcmp(kind, "as_optional_tensors"))
    return pt_tensors(op, name, most, out, out_count);
  if (json_array_size(list) > most)
    return pt_refuse(op, "with too many entries in argument %s", name);
  for (size_t i = 0; i < json_array_size(list); i++) {
    struct pt_item *item;
    json_t *value = NULL;
    out[i] = NULL;
    if (strcmp(pt_variant(json_array_get(list, i), &value), "as_tensor")) continue;
    TRY(pt_find(op->pt, pt_place(op), pt_words(json_object_get(value, "name")), &item));
    if (!item->value) return pt_refuse(op, "with a number in argument %s", name);
    TRY(pt_refresh(op, item));
    op->reads_open |= value_is_open(item->value);
    TRY(real_value(op, item, &out[i]));
  }
  *out_count = json_array_size(list);
  return HONE_OK;
}
