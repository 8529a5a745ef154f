/* sparse: constants stored without most of their zeros, and DENSIFY.
 *
 * A tensor of n axes is traversed in an order of its axes and of the blocks into which some of them
 * are cut; each level is dense (a number of children) or sparse (CSR: segments and indices). The
 * payload holds the elements of the leaves in order. Source: the schema's SparsityParameters;
 * Kjolstad et al. 2017, "The Tensor Algebra Compiler", for the scheme. */
#include "tflite.h"

enum { SPARSE_ORDER, SPARSE_BLOCKS, SPARSE_LEVELS };
enum {
  LEVEL_FORMAT,
  LEVEL_SIZE,
  LEVEL_SEGMENTS_TYPE,
  LEVEL_SEGMENTS,
  LEVEL_INDICES_TYPE,
  LEVEL_INDICES
};
enum { LEVELS = 2 * HONE_MAX_RANK };

/* SparseIndexVector: 1 int32, 2 uint16, 3 uint8. */
struct list {
  struct flat_vector at;
  int64_t type;
};
struct level {
  bool is_sparse;
  int64_t size;   /* of a dense level, or of the axis that a sparse one indexes */
  size_t axis;    /* of the tensor */
  int64_t stride; /* of that axis, in elements of the axis */
  struct list segments, indices;
};
struct sparse {
  struct tf *tf;
  const char *name;
  size_t count;
  struct level levels[LEVELS];
};

static hone_status read_list(const struct flat_table *level, unsigned type_field, unsigned field,
                             struct list *out) {
  static const size_t widths[] = {0, 4, 2, 1};
  struct flat_table child;
  TRY(flat_number(level, type_field, FLAT_U8, 0, &out->type));
  if (out->type < 1 || out->type > 3) return HONE_OK;
  TRY(flat_child(level, field, &child));
  return flat_list(&child, 0, widths[out->type], &out->at);
}

static int64_t entry(const struct list *list, size_t i) {
  const uint8_t *at = list->at.flat->bytes + list->at.at + i * list->at.width;
  return list->type == 1   ? flat_i32_at(&list->at, i)
         : list->type == 2 ? (int64_t)little_endian(at, 2)
                           : at[0];
}

static hone_status wrong(const struct sparse *s, const char *what) {
  return fail(s->tf->ctx, HONE_E_FORMAT, place_name(s->name), "a sparse tensor: %s", what);
}

/* Which axis a level indexes: the tensor's own axes, then blocks of the axes in the block map. */
static hone_status place_levels(struct sparse *s, const struct flat_table *table,
                                const struct shape *shape) {
  struct flat_vector order, blocks;
  int64_t block[HONE_MAX_RANK];
  bool seen[LEVELS] = {false};
  TRY(flat_list(table, SPARSE_ORDER, 4, &order));
  TRY(flat_list(table, SPARSE_BLOCKS, 4, &blocks));
  const size_t rank = (size_t)shape->rank;
  if (order.count != s->count || blocks.count > rank || s->count != rank + blocks.count)
    return wrong(s, "its levels do not match its shape");
  for (size_t d = 0; d < rank; d++) block[d] = 1;
  for (size_t i = 0; i < s->count; i++) {
    int64_t at = flat_i32_at(&order, i);
    if (at < 0 || (size_t)at >= s->count || seen[at])
      return wrong(s, "its traversal order is not a permutation");
    seen[at] = true;
    int64_t axis = (size_t)at < rank ? at : flat_i32_at(&blocks, (size_t)at - rank);
    if (axis < 0 || (size_t)axis >= rank)
      return wrong(s, "a block along an axis that it does not have");
    s->levels[i].axis = (size_t)axis;
    if ((size_t)at < rank) continue;
    if (s->levels[i].is_sparse || s->levels[i].size < 1 || block[axis] != 1)
      return wrong(s, "a block level that is not dense");
    block[axis] = s->levels[i].size;
    s->levels[i].stride = 1;
  }
  for (size_t i = 0; i < s->count; i++) {
    struct level *level = &s->levels[i];
    if (level->stride) continue;
    level->stride = block[level->axis];
    int64_t dim = shape->dims[level->axis];
    if (dim % level->stride || (!level->is_sparse && level->size != dim / level->stride))
      return wrong(s, "a level with another size than its axis");
    level->size = dim / level->stride;
  }
  return HONE_OK;
}

static hone_status read_levels(struct sparse *s, const struct flat_table *table) {
  struct flat_vector list;
  TRY(flat_list(table, SPARSE_LEVELS, 4, &list));
  if (!list.count || list.count > LEVELS) return wrong(s, "it has no levels, or too many");
  s->count = list.count;
  for (size_t i = 0; i < list.count; i++) {
    struct flat_table level;
    int64_t format;
    TRY(flat_item(&list, i, &level));
    TRY(flat_number(&level, LEVEL_FORMAT, FLAT_I8, 0, &format));
    TRY(flat_number(&level, LEVEL_SIZE, FLAT_I32, 0, &s->levels[i].size));
    s->levels[i].is_sparse = format != 0;
    if (!format) continue;
    TRY(read_list(&level, LEVEL_SEGMENTS_TYPE, LEVEL_SEGMENTS, &s->levels[i].segments));
    TRY(read_list(&level, LEVEL_INDICES_TYPE, LEVEL_INDICES, &s->levels[i].indices));
    if (!s->levels[i].segments.at.count) return wrong(s, "a level without segments");
  }
  return HONE_OK;
}

/* Children [*from, *to) of node `node` of a level. */
static hone_status children(const struct sparse *s, const struct level *level, int64_t node,
                            int64_t *from, int64_t *to) {
  *from = 0, *to = level->size;
  if (!level->is_sparse) return HONE_OK;
  if ((uint64_t)node + 1 >= level->segments.at.count) return wrong(s, "a segment is missing");
  *from = entry(&level->segments, (size_t)node);
  *to = entry(&level->segments, (size_t)node + 1);
  if (*from < 0 || *to < *from || (uint64_t)*to > level->indices.at.count)
    return wrong(s, "a segment outside the indices");
  return HONE_OK;
}

/* Counts through the levels: the position and node number in each. */
static hone_status fill(const struct sparse *s, const uint8_t *bytes, size_t size, size_t element,
                        struct tensor *out) {
  int64_t at[LEVELS], to[LEVELS], node[LEVELS + 1] = {0}, strides[HONE_MAX_RANK];
  size_t depth = 0, taken = 0, steps = 0;
  uint8_t *data = (void *)(uintptr_t)out->data;
  shape_strides(&out->shape, strides);
  TRY(children(s, &s->levels[0], 0, &at[0], &to[0]));
  at[0]--;
  for (;;) {
    const struct level *level = &s->levels[depth];
    if (++at[depth] >= to[depth]) {
      if (!depth--) break;
      continue;
    }
    /* stored elements lead to leaves, but empty segments cost steps too */
    if (++steps > (out->bytes / element + size / element + 1) * s->count)
      return wrong(s, "its segments overlap");
    node[depth + 1] = level->is_sparse ? at[depth] : node[depth] * level->size + at[depth];
    if (depth + 1 < s->count) {
      depth++;
      TRY(children(s, &s->levels[depth], node[depth], &at[depth], &to[depth]));
      at[depth]--;
      continue;
    }
    int64_t place = 0;
    for (size_t i = 0; i < s->count; i++) {
      const struct level *l = &s->levels[i];
      int64_t index = l->is_sparse ? entry(&l->indices, (size_t)at[i]) : at[i];
      if (index < 0 || index >= l->size) return wrong(s, "an index outside its axis");
      place += index * l->stride * strides[l->axis];
    }
    if (size / element <= taken) return wrong(s, "more elements than are stored");
    memcpy(data + (size_t)place * element, bytes + taken++ * element, element);
  }
  return taken == size / element ? HONE_OK : wrong(s, "fewer elements than are stored");
}

hone_status tf_sparse_constant(struct tf *tf, const struct flat_table *table, const char *name,
                               const uint8_t *bytes, size_t size, struct tensor *out) {
  struct sparse s = {.tf = tf, .name = name};
  struct tensor *made;
  const size_t element = (size_t)dtype_bits(out->dtype) / 8;
  if (!element || size % element) return wrong(&s, "its payload is not a whole number of elements");
  TRY(read_levels(&s, table));
  TRY(place_levels(&s, table, &out->shape));
  TRY(tensor_create(tf->ctx, tf->arena, out->dtype, &out->shape, &made));
  memset((void *)(uintptr_t)made->data, 0, made->bytes);
  TRY(fill(&s, bytes, size, element, made));
  *out = *made;
  return HONE_OK;
}

/* DENSIFY: its constant has already been expanded. */
hone_status tf_densify(struct tf_op *op) {
  struct value *x;
  TRY(tf_arity(op, 1, 1, 1));
  TRY(tf_value(op, tf_in(op, 0), &x));
  return tf_write(op, 0, false, x_1(op->b, OP_Identity, x));
}
