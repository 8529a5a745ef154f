/* views: tensors that share storage, so that all of them see what an in-place operator writes.
 *
 * A graph of torch.export may write into tensors ("aten.add_.Tensor", "aten.copy_.default" of a
 * slice). Here every value is written once: the written tensor gets a new value, and so do the
 * tensors of which it is a view; other views of the same storage are rebuilt when they are next
 * read. */
#include "pt2.h"

enum { MOST_VIEWS = 32 };

/* How an operator's result views its operand. Copies such as clone are not listed. */
static const struct {
  const char *name;
  enum pt_view view;
} views[] = {
    {"alias", VIEW_SAME},
    {"as_strided", VIEW_OTHER},
    {"broadcast_to", VIEW_OTHER},
    {"chunk", VIEW_OTHER},
    {"contiguous", VIEW_SAME},
    {"detach", VIEW_SAME},
    {"diagonal", VIEW_OTHER},
    {"dropout", VIEW_SAME},
    {"expand", VIEW_OTHER},
    {"expand_as", VIEW_OTHER},
    {"flatten", VIEW_RESHAPE},
    {"imag", VIEW_OTHER},
    {"lift_fresh", VIEW_SAME},
    {"mH", VIEW_PERMUTE},
    {"mT", VIEW_PERMUTE},
    {"moveaxis", VIEW_OTHER},
    {"movedim", VIEW_OTHER},
    {"narrow", VIEW_OTHER},
    {"permute", VIEW_PERMUTE},
    {"ravel", VIEW_RESHAPE},
    {"real", VIEW_OTHER},
    {"reshape", VIEW_RESHAPE},
    {"reshape_as", VIEW_RESHAPE},
    {"select", VIEW_SELECT},
    {"slice", VIEW_SLICE},
    {"split", VIEW_OTHER},
    {"split_with_sizes", VIEW_OTHER},
    {"squeeze", VIEW_RESHAPE},
    {"swapaxes", VIEW_PERMUTE},
    {"swapdims", VIEW_PERMUTE},
    {"t", VIEW_PERMUTE},
    {"to", VIEW_SAME},
    {"transpose", VIEW_PERMUTE},
    {"type_as", VIEW_SAME},
    {"unbind", VIEW_OTHER},
    {"unflatten", VIEW_RESHAPE},
    {"unfold", VIEW_OTHER},
    {"unsqueeze", VIEW_RESHAPE},
    {"view", VIEW_RESHAPE},
    {"view_as", VIEW_RESHAPE},
    {"view_as_complex", VIEW_SAME},
    {"view_as_real", VIEW_SAME},
};

enum pt_view pt_view_of(const char *target) {
  static const char prefix[] = "aten.";
  if (strncmp(target, prefix, sizeof prefix - 1)) return VIEW_NONE;
  target += sizeof prefix - 1;
  size_t length = strcspn(target, ".");
  for (size_t i = 0; i < COUNT(views); i++)
    if (strlen(views[i].name) == length && !strncmp(views[i].name, target, length))
      return views[i].view;
  return VIEW_NONE;
}

/* The view's position in its base, read again from the node's arguments, which do not include the
 * axis of complex parts. */
static hone_status read_place(struct pt_op *op, const struct pt_item *base, struct pt_item *item) {
  bool is_select = item->view == VIEW_SELECT;
  struct value seen = *base->value, *x = &seen;
  x->shape.rank -= base->is_complex;
  if (base->is_complex) item->perm[x->shape.rank] = x->shape.rank;
  if (item->view == VIEW_PERMUTE) return pt_perm(op, x, item->perm);
  if (item->view != VIEW_SLICE && !is_select) return HONE_OK;
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &item->axis));
  TRY(pt_int(op, is_select ? "index" : "start", 0, &item->start));
  item->step = 1;
  if (!is_select) TRY(pt_int(op, "step", 1, &item->step));
  int64_t dim = x->shape.rank ? x->shape.dims[item->axis] : 0;
  if (item->start < 0) item->start += dim;
  item->start = item->start < 0 ? 0 : item->start > dim ? dim : item->start;
  return HONE_OK;
}

hone_status pt_note_view(struct pt_op *op, const char *result, const char *of, enum pt_view view) {
  struct pt_item *item = names_find(&op->pt->items, result);
  struct pt_item *base = names_find(&op->pt->items, of);
  if (!item || !base || !item->value || !base->value || item == base) return HONE_OK;
  if (view == VIEW_SAME && item->value != base->value) return HONE_OK; /* another type: a copy */
  item->base = base;
  item->view = item->is_complex == base->is_complex || view == VIEW_SAME ? view : VIEW_OTHER;
  item->version = base->version;
  return read_place(op, base, item);
}

/* -- from a base to its view, and back */

static const char open_view[] = "of a view with a dynamic dimension after a write to its storage";

static hone_status view_again(struct pt_op *op, struct pt_item *item) {
  struct value *x = item->base->value;
  const struct shape *shape = &item->value->shape;
  int64_t n;
  if (item->view != VIEW_SAME && value_is_open(x)) return pt_refuse(op, "%s", open_view);
  switch (item->view) {
    case VIEW_SAME:
      item->value = x;
      return HONE_OK;
    case VIEW_RESHAPE:
      return x_give(op->b, &item->value, x_reshape(op->b, x, shape->dims, shape->rank));
    case VIEW_PERMUTE:
      return x_give(op->b, &item->value, x_transpose(op->b, x, item->perm));
    case VIEW_SLICE:
      n = shape->dims[item->axis];
      return x_give(op->b, &item->value,
                    pt_slice(op, x, item->axis, item->start,
                             n ? item->start + (n - 1) * item->step + 1 : 0, item->step));
    case VIEW_SELECT:
      x = pt_slice(op, x, item->axis, item->start, item->start + 1, 1);
      return x_give(op->b, &item->value, x_reshape(op->b, x, shape->dims, shape->rank));
    default:
      return pt_refuse(op, "of a view of a tensor that was written since");
  }
}

/* The base with this view's new content. */
static hone_status put_back(struct pt_op *op, const struct pt_item *item, struct value **out) {
  struct value *x = item->base->value, *y = item->value;
  int64_t dims[HONE_MAX_RANK], back[HONE_MAX_RANK] = {0};
  if (item->view != VIEW_SAME && value_is_open(x)) return pt_refuse(op, "%s", open_view);
  switch (item->view) {
    case VIEW_SAME:
      *out = y;
      return HONE_OK;
    case VIEW_RESHAPE:
      return x_give(op->b, out, x_reshape(op->b, y, x->shape.dims, x->shape.rank));
    case VIEW_PERMUTE:
      for (int d = 0; d < x->shape.rank; d++) back[item->perm[d]] = d;
      return x_give(op->b, out, x_transpose(op->b, y, back));
    case VIEW_SELECT:
      for (int d = 0; d < x->shape.rank; d++) dims[d] = d == item->axis ? 1 : x->shape.dims[d];
      BUILD(op->b, y = x_reshape(op->b, y, dims, x->shape.rank));
      return pt_put_slice(op, x, y, item->axis, item->start, 1, out);
    case VIEW_SLICE:
      return pt_put_slice(op, x, y, item->axis, item->start, item->step, out);
    default:
      return pt_refuse(op, "as a write through this kind of view");
  }
}

/* The views from `item` (first) to the owner of the storage (last). */
static hone_status chain_of(struct pt_op *op, struct pt_item *item, struct pt_item **chain,
                            size_t *out_count) {
  size_t count = 0;
  for (; item; item = item->base) {
    if (count == MOST_VIEWS) return pt_refuse(op, "of a view of %d views", MOST_VIEWS);
    chain[count++] = item;
  }
  *out_count = count;
  return HONE_OK;
}

static hone_status refresh_chain(struct pt_op *op, struct pt_item *const *chain, size_t count) {
  for (size_t i = count - 1; i-- > 0;) {
    if (chain[i]->version == chain[count - 1]->version) continue;
    TRY(view_again(op, chain[i]));
    chain[i]->version = chain[count - 1]->version;
  }
  return HONE_OK;
}

hone_status pt_refresh(struct pt_op *op, struct pt_item *item) {
  struct pt_item *chain[MOST_VIEWS];
  size_t count = 0;
  TRY(chain_of(op, item, chain, &count));
  return refresh_chain(op, chain, count);
}

/* Converts a written value to the type and shape of its destination. */
static hone_status fit(struct pt_op *op, const struct value *to, struct value **value) {
  BUILD(op->b, *value = x_cast(op->b, *value, to->dtype));
  if (shape_equal(&(*value)->shape, &to->shape)) return HONE_OK;
  struct value *shape = x_list(op->b, to->shape.dims, (size_t)to->shape.rank);
  BUILD(op->b, *value = x_2(op->b, OP_Expand, *value, shape));
  if (shape_equal(&(*value)->shape, &to->shape)) return HONE_OK;
  return pt_refuse(op, "as a write of a tensor with a larger shape");
}

hone_status pt_write(struct pt_op *op, const char *name, struct pt_item *made) {
  struct pt_item *chain[MOST_VIEWS], *item = names_find(&op->pt->items, name);
  struct value *value = made->value;
  size_t count = 0;
  if (!item || !item->value) return pt_refuse(op, "as a write to an item that is not a tensor");
  if (!value || made->is_complex != item->is_complex)
    return pt_refuse(op, "as a write of numbers of another kind");
  TRY(chain_of(op, item, chain, &count));
  TRY(refresh_chain(op, chain, count));
  TRY(fit(op, item->value, &value));
  made->value = value;
  for (size_t i = 0; i + 1 < count; i++) {
    chain[i]->value = value;
    TRY(put_back(op, chain[i], &value));
  }
  chain[count - 1]->value = value;
  chain[count - 1]->version++;
  for (size_t i = 0; i < count; i++) chain[i]->version = chain[count - 1]->version;
  return HONE_OK;
}
