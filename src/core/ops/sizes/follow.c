/* follow: which dimensions depend on the dynamic dimensions of the inputs.
 *
 * Instead of symbolic inference, the model is imported and transformed at several sizes and
 * compared node by node with the model at the bounds: a dimension is fixed, or linear in the
 * symbols and in sizes derived from them, or the model cannot be compiled for more than one size.
 * So every operator's inference, every fold of Shape -> Gather -> Concat -> Reshape and every pass
 * supports dynamic dimensions unchanged. */
#include "core/ops/operators/window.h"

struct follower {
  struct ctx *ctx;
  struct graph *graph;
  const struct symbols *symbols;
  const struct graph *at_n;
  const int64_t *sizes;
  int64_t less[HONE_MAX_SIZES]; /* bounds - sizes */
  int first;                    /* the symbol whose slopes this call determines; -1: none */
  bool active[HONE_MAX_SIZES];  /* by size: it depends on that symbol */
  bool is_full;                 /* a derived size found no room */
  bool finds;                   /* slopes may change */
  bool has_changed;             /* slopes */
  bool is_first_call;           /* for that symbol */
  bool has_moved;               /* the place of a part, unknown to earlier calls */
  const struct followed *past;
  int64_t past_less[HONE_MOST_FOLLOWED][HONE_MAX_SIZES];
  const struct value **pair; /* of at_n, by the index of graph's value */
  struct arena *scratch;
};

static hone_status refuse(struct follower *f, const struct node *node, const char *what) {
  struct strbuf names = {0}, at = {0};
  for (size_t k = 0; k < f->symbols->count; k++)
    if (f->less[k]) strbuf_printf(&names, "%s%s", names.length ? ", " : "", f->symbols->at[k].name);
  symbols_print(&at, f->symbols, f->sizes);
  hone_status status =
      fail(f->ctx, HONE_E_UNSUP, node ? node_place(node) : place_none(),
           "%s%scannot carry %s: %s at %s", node ? node->op->name : "", node ? " " : "the model ",
           names.at ? names.at : "", what, at.at ? at.at : "");
  strbuf_deinit(&names);
  strbuf_deinit(&at);
  return status;
}

/* -- derived sizes */

/* True if the slope depends on the symbol whose slopes this call determines. */
static bool is_active(const struct follower *f, const struct slope *slope) {
  for (int k = 0; k < HONE_MAX_SIZES; k++)
    if (slope->of[k] && f->active[k]) return true;
  return false;
}

/* The part of a slope that this call determines. */
static struct slope active_part(const struct follower *f, const struct slope *slope) {
  struct slope out = *slope;
  for (int k = 0; f->first >= 0 && k < HONE_MAX_SIZES; k++)
    if (!f->active[k]) out.of[k] = 0;
  return out;
}

static void set_active(struct follower *f, size_t j) {
  const struct derived_size *size = &f->graph->symbols.derived[j];
  f->active[HONE_MAX_SYMBOLS + j] = is_active(f, &size->a_slope) || is_active(f, &size->b_slope);
}

/* The slope of one size. */
static struct slope slope_of(size_t size, int64_t factor) {
  struct slope slope = {0};
  slope.of[size] = factor;
  return slope;
}

static bool same_size(const struct derived_size *x, const struct derived_size *y) {
  return x->bound == y->bound && x->a == y->a && x->b == y->b && x->divisor == y->divisor &&
         slope_equal(&x->a_slope, &y->a_slope) && slope_equal(&x->b_slope, &y->b_slope);
}

/* The size that derive() made last stays, if a slope refers to it. */
static void keep_derived(struct follower *f, const struct slope *slope) {
  struct symbols *known = &f->graph->symbols;
  if (known->derived_count < COUNT(known->derived) &&
      slope->of[HONE_MAX_SYMBOLS + known->derived_count])
    known->derived_count++;
}

/* The slope of a derived size, an earlier one or a new one, which the next call replaces unless
   keep_derived was called; false: there are too many. */
static bool derive(struct follower *f, struct derived_size size, struct slope *out) {
  struct symbols *known = &f->graph->symbols;
  size_t j = 0;
  size.bound = size.a * size.b / size.divisor;
  while (j < known->derived_count && !same_size(&known->derived[j], &size)) j++;
  if (j == COUNT(known->derived)) f->is_full = true;
  if (j == COUNT(known->derived)) return false;
  if (j == known->derived_count) {
    if (!derived_less(&size, f->less, &f->less[HONE_MAX_SYMBOLS + j])) return false;
    for (size_t i = 0; i < f->past->count; i++)
      if (!derived_less(&size, f->past_less[i], &f->past_less[i][HONE_MAX_SYMBOLS + j]))
        return false;
    known->derived[j] = size;
    set_active(f, j);
  }
  *out = slope_of(HONE_MAX_SYMBOLS + j, 1);
  return true;
}

/* -- dimensions */

/* A dimension of a value, as this call sees it. */
struct dimension {
  struct follower *f;
  const struct node *node; /* that makes the value, or reads it if it is a constant; or NULL */
  int d;
  int64_t bound, size;
  struct slope now;    /* known before this call */
  const int64_t *seen; /* its sizes in earlier calls; NULL: as at the bounds */
};

static bool fits(const struct dimension *at, const struct slope *slope) {
  return at->bound - slope_loss(slope, at->f->less) == at->size;
}

/* Also in earlier calls: a first size may have fitted by accident. */
static bool fits_always(const struct dimension *at, const struct slope *slope) {
  if (!fits(at, slope)) return false;
  for (size_t i = 0; i < at->f->past->count; i++)
    if (at->bound - slope_loss(slope, at->f->past_less[i]) != (at->seen ? at->seen[i] : at->bound))
      return false;
  return true;
}

static bool accept(const struct dimension *at, const struct slope *found, struct slope *out) {
  const struct slope active = active_part(at->f, found);
  struct slope rest = at->now;
  for (int k = 0; k < HONE_MAX_SIZES; k++)
    if (at->f->active[k]) rest.of[k] = 0;
  *out = at->f->first < 0 ? *found : slope_plus(&rest, &active);
  if (!fits_always(at, out)) return false;
  keep_derived(at->f, out);
  return true;
}

static struct slope divided(const struct slope *slope, int64_t by, bool *exact) {
  struct slope out = *slope;
  for (int k = 0; k < HONE_MAX_SIZES; k++) {
    if (out.of[k] % by) *exact = false;
    out.of[k] /= by;
  }
  return out;
}

/* Every `stride`-th place of the `room` + 1 places along a dimension with this slope. */
static bool every(const struct dimension *at, int64_t room, const struct slope *slope,
                  int64_t stride, struct slope *out) {
  bool exact = true;
  struct slope found = divided(slope, stride, &exact);
  if (exact) return accept(at, &found, out);
  struct derived_size size = {.a = room, .b = 1, .a_slope = *slope, .divisor = stride};
  return derive(at->f, size, &found) && accept(at, &found, out);
}

/* A window of a convolution or pool: the formulas of window.c. */
static bool by_window(const struct dimension *at, struct slope *out) {
  struct window w;
  struct ctx ctx;
  bool has_window = false;
  const struct value *x = at->node->inputs[0];
  ctx_init(&ctx);
  if (!x || at->d < 2 || !x->slope || window_of_node(&ctx, at->node, &w, &has_window) ||
      !has_window)
    return false;
  const int i = at->d - 2;
  const struct slope *slope = &x->slope[at->d];
  if (is_op(at->node, OP_ConvTranspose)) {
    const struct slope found = slope_times(slope, w.stride[i]);
    return accept(at, &found, out);
  }
  const bool is_same = !strncmp(node_string(at->node, "auto_pad", ""), "SAME", 4);
  int64_t room = is_same ? w.in[i] - 1 : window_room(&w, i);
  if (!is_same && node_int(at->node, "ceil_mode", 0)) {
    room += w.stride[i] - 1; /* no window starts in the padding after the image */
    const int64_t last = w.in[i] + w.pad_begin[i] - 1;
    if (room > last) room = last;
  }
  return every(at, room, slope, w.stride[i], out);
}

/* Frames of a signal (expand_stft). */
static bool by_frames(const struct dimension *at, struct slope *out) {
  const struct value *x = at->node->inputs[0];
  const int64_t step = node_int(at->node, "frame_step", 0);
  return step && x && x->slope &&
         every(at, x->shape.dims[1] - node_int(at->node, "frame_length", 0), &x->slope[1], step,
               out);
}

/* True if the integer n is an operand of the arithmetic that computes this value. */
static bool reads_number(const struct value *value, int64_t n, size_t *left) {
  const struct node *node = value && *left ? value->folded_from : NULL;
  if (node) --*left;
  for (size_t k = 0; node && k < node->input_count; k++) {
    const struct value *x = node->inputs[k];
    const bool is_number = x && x->constant && !x->folded_from && dtype_is_integer(x->dtype) &&
                           tensor_count(x->constant) == 1;
    if (is_number && node->op->class == OP_ELEMENTWISE && tensor_i64(x->constant, 0) == n)
      return true;
    if (reads_number(x, n, left)) return true;
  }
  return false;
}

/* By numbers that were followed before. */
static bool by_padding(const struct dimension *at, struct slope *out) {
  const struct value *x = at->node->inputs[0], *pads = node_input(at->node, 1);
  if (!x || node_input(at->node, 3) || !pads || !pads->elements || pads->is_computed) return false;
  const struct slope *own = &pads->elements[at->d];
  struct slope found = slope_plus(own, own + x->shape.rank);
  if (x->slope) found = slope_plus(&found, &x->slope[at->d]);
  return accept(at, &found, out);
}

/* Padded up to a multiple of a number, from which the padding is computed. */
static bool by_multiple(const struct dimension *at, struct slope *out) {
  enum { MOST_FACTOR = 1024, MOST_NODES = 256 };
  const struct value *x = at->node->inputs[0], *pads = node_input(at->node, 1);
  if (!x || !x->slope || slope_is_zero(&x->slope[at->d]) || !pads || !pads->is_computed)
    return false;
  const int64_t own = x->shape.dims[at->d];
  for (int64_t n = 2; n <= MOST_FACTOR; n++) {
    const struct derived_size size = {
        .a = own + n - 1, .b = 1, .a_slope = x->slope[at->d], .divisor = n};
    struct slope found;
    size_t left = MOST_NODES;
    if (size.a / n * n != at->bound || !reads_number(pads, n, &left) ||
        !derive(at->f, size, &found))
      continue;
    found = slope_times(&found, n);
    if (accept(at, &found, out)) return true;
  }
  return false;
}

/* A slice with a step. */
static bool by_step(const struct dimension *at, struct slope *out) {
  const struct value *x = at->node->inputs[0], *axes = node_input(at->node, 3);
  int64_t starts[HONE_MAX_RANK], steps[HONE_MAX_RANK], list[HONE_MAX_RANK];
  size_t count, n;
  for (size_t k = 1; k < 5; k++)
    if (node_input(at->node, k) && !at->node->inputs[k]->constant) return false;
  if (!x || !x->slope || !node_input(at->node, 1) || !node_input(at->node, 4) ||
      !tensor_read_ints(at->node->inputs[1]->constant, HONE_MAX_RANK, starts, &count) ||
      !tensor_read_ints(at->node->inputs[4]->constant, HONE_MAX_RANK, steps, &n) || n != count ||
      (axes && (!tensor_read_ints(axes->constant, HONE_MAX_RANK, list, &n) || n != count)))
    return false;
  for (size_t i = 0; i < count; i++) {
    const int64_t axis = !axes ? (int64_t)i : list[i] < 0 ? list[i] + x->shape.rank : list[i];
    if (axis != at->d) continue;
    if (steps[i] > 1 && starts[i] >= 0)
      return every(at, x->shape.dims[axis] - starts[i] - 1, &x->slope[axis], steps[i], out);
    if (steps[i] < 0 && steps[i] > -INT32_MAX && starts[i] < 0 && -starts[i] <= x->shape.dims[axis])
      return every(at, x->shape.dims[axis] + starts[i], &x->slope[axis], -steps[i], out);
  }
  return false;
}

/* Operands that give a shape; the output's shape holds the same information. */
static bool is_shape_operand(const struct node *node, size_t k) {
  static const struct {
    enum op_id op;
    size_t first, last;
  } rows[] = {{OP_Reshape, 1, 1},         {OP_Expand, 1, 1}, {OP_Tile, 1, 1},   {OP_Slice, 2, 2},
              {OP_ConstantOfShape, 0, 0}, {OP_Split, 1, 1},  {OP_Resize, 3, 3}, {OP_TopK, 1, 1}};
  for (size_t i = 0; i < COUNT(rows); i++)
    if (is_op(node, rows[i].op) && k >= rows[i].first && k <= rows[i].last) return true;
  return false;
}

/* As a dimension of an operand. */
static bool by_equal(const struct dimension *at, struct slope *out) {
  for (size_t i = 0; i < at->node->input_count; i++) {
    const struct value *x = at->node->inputs[i];
    for (int e = 0; x && x->slope && e < x->shape.rank; e++)
      if (x->shape.dims[e] == at->bound && accept(at, &x->slope[e], out)) return true;
  }
  return false;
}

/* As a list of sizes that the operator reads says. */
static bool by_list(const struct dimension *at, struct slope *out) {
  for (size_t k = 0; k < at->node->input_count; k++) {
    const struct value *x = at->node->inputs[k];
    if (!x || !is_shape_operand(at->node, k) || is_op(at->node, OP_Slice) || !x->constant ||
        !x->elements || x->is_computed || tensor_count(x->constant) <= (size_t)at->d)
      continue;
    if (tensor_i64(x->constant, (size_t)at->d) == at->bound && accept(at, &x->elements[at->d], out))
      return true;
  }
  return false;
}

/* As a dimension of an operand, with a rest, or a multiple or a part of one. */
static bool by_operand(const struct dimension *at, struct slope *out) {
  for (size_t i = 0; i < at->node->input_count; i++) {
    const struct value *x = at->node->inputs[i];
    for (int e = 0; x && x->slope && e < x->shape.rank; e++) {
      const int64_t own = x->shape.dims[e];
      struct slope found = active_part(at->f, &x->slope[e]);
      if (slope_is_zero(&found)) continue;
      if (accept(at, &found, out)) return true;
      bool exact = true;
      if (own && at->bound % own == 0)
        found = slope_times(&found, at->bound / own);
      else if (at->bound && own % at->bound == 0)
        found = divided(&found, own / at->bound, &exact);
      if (exact && accept(at, &found, out)) return true;
    }
  }
  return false;
}

/* As the sum of the operands' dimensions. */
static bool by_sum(const struct dimension *at, struct slope *out) {
  struct slope found = {0};
  for (size_t i = 0; i < at->node->input_count; i++) {
    const struct value *x = at->node->inputs[i];
    if (x && x->slope && at->d < x->shape.rank) found = slope_plus(&found, &x->slope[at->d]);
  }
  return !slope_is_zero(&found) && accept(at, &found, out);
}

/* What the dimension loses for each step of size k, in the first call that has less of it, this one
   before earlier ones; 0: nothing, or no whole number. */
static int64_t loss_per_step(const struct dimension *at, size_t k) {
  const struct follower *f = at->f;
  const bool is_now = f->less[k] != 0;
  size_t i = 0;
  while (!is_now && i < f->past->count && !f->past_less[i][k]) i++;
  if (!is_now && i == f->past->count) return 0;
  const int64_t less = is_now ? f->less[k] : f->past_less[i][k];
  const int64_t size = is_now ? at->size : at->seen ? at->seen[i] : at->bound;
  return (at->bound - size) % less ? 0 : (at->bound - size) / less;
}

/* In proportion to one size, with a rest or without; when several symbols are below their bounds, to
   a product. */
static bool by_size(const struct dimension *at, bool has_rest, struct slope *out) {
  const struct follower *f = at->f;
  for (size_t k = 0; k < HONE_MAX_SYMBOLS + f->graph->symbols.derived_count; k++) {
    const int64_t factor = loss_per_step(at, k);
    const struct derived_size *size =
        k < HONE_MAX_SYMBOLS ? NULL : &f->graph->symbols.derived[k - HONE_MAX_SYMBOLS];
    if (!factor) continue;
    if (!size ? (int)k != f->first : f->first < 0 && slope_is_zero(&size->b_slope)) continue;
    const int64_t bound = size ? size->bound : f->symbols->at[k].bound;
    const struct slope found = slope_of(k, factor);
    if ((factor * bound != at->bound) == has_rest && accept(at, &found, out)) return true;
  }
  return false;
}

/* As the product of two sizes, one of which is a multiple: S * (4 * N) elements in rows of 4. */
static bool by_part_of_product(const struct dimension *at, struct derived_size size,
                               struct slope *out) {
  bool exact = true;
  if (!at->bound || size.a * size.b % at->bound) return false;
  const int64_t part = size.a * size.b / at->bound;
  if (part < 2 || size.b % part) return false;
  size.b /= part;
  size.b_slope = divided(&size.b_slope, part, &exact);
  struct slope found;
  return exact && derive(at->f, size, &found) && accept(at, &found, out);
}

/* As a multiple of the product of neighbouring dimensions of x, from `first` on. */
static bool by_product_from(const struct dimension *at, const struct value *x, int first,
                            struct slope *out) {
  struct slope found = x->slope[first];
  int64_t product = x->shape.dims[first];
  for (int e = first + 1; e < x->shape.rank; e++) {
    const int64_t own = x->shape.dims[e];
    if (slope_is_zero(&x->slope[e])) continue;
    struct derived_size size = {
        .a = product, .b = own, .a_slope = found, .b_slope = x->slope[e], .divisor = 1};
    keep_derived(at->f, &size.a_slope);
    if (by_part_of_product(at, size, out)) return true;
    if (!derive(at->f, size, &found)) return false;
    product *= own;
    if (at->bound % product) continue;
    const struct slope times = slope_times(&found, at->bound / product);
    if (accept(at, &times, out)) return true;
  }
  return false;
}

static bool by_product(const struct dimension *at, struct slope *out) {
  for (size_t i = 0; i < at->node->input_count; i++) {
    const struct value *x = at->node->inputs[i];
    for (int d = 0; x && x->slope && d < x->shape.rank; d++)
      if (!slope_is_zero(&x->slope[d]) && by_product_from(at, x, d, out)) return true;
  }
  return false;
}

/* The slope of a dimension from what is known of the node's operands, and from the sizes. Where all
   slopes are known, only a product of sizes can differ from them. */
static bool explain(const struct dimension *at, struct slope *out) {
  struct follower *f = at->f;
  const bool has_operands = at->node && at->node->input_count;
  *out = at->now;
  if (fits(at, out)) return true;
  if (!f->finds) return false;
  f->has_changed = true;
  if (f->first < 0 && has_operands && by_product(at, out)) return true;
  const bool is_slice = has_operands && is_op(at->node, OP_Slice); /* often to an earlier size */
  return (is_slice && by_size(at, false, out)) ||
         (has_operands &&
          (by_window(at, out) || (is_slice && by_step(at, out)) || by_frames(at, out) ||
           (is_op(at->node, OP_Pad) && (by_padding(at, out) || by_multiple(at, out))) ||
           by_list(at, out) || by_equal(at, out) || by_operand(at, out) || by_sum(at, out))) ||
         by_size(at, false, out) || (has_operands && by_product(at, out)) || by_size(at, true, out);
}

/* -- values */

static bool grows_backwards(const struct slope *slope) {
  for (int k = 0; k < HONE_MAX_SIZES; k++)
    if (slope->of[k] < 0) return true;
  return false;
}

/* -- what was seen in earlier calls */

/* Numbers that are as at the bounds in every call need no list. */
static hone_status see(struct follower *f, int64_t **seen, size_t count, const int64_t *bounds,
                       const int64_t *sizes) {
  const size_t now = f->past->count;
  if (now == HONE_MOST_FOLLOWED || (!*seen && !memcmp(bounds, sizes, count * sizeof *sizes)))
    return HONE_OK;
  if (!*seen) {
    TRY(NEW_ARRAY(f->ctx, f->graph->arena, *seen, count * HONE_MOST_FOLLOWED));
    for (size_t i = 0; i < count * HONE_MOST_FOLLOWED; i++)
      (*seen)[i] = bounds[i / HONE_MOST_FOLLOWED];
  }
  for (size_t i = 0; i < count; i++) (*seen)[i * HONE_MOST_FOLLOWED + now] = sizes[i];
  return HONE_OK;
}

static const int64_t *seen_at(const int64_t *seen, size_t i) {
  return seen ? seen + i * HONE_MOST_FOLLOWED : NULL;
}

/* True if the dimension is the bound of a data-dependent one. */
static bool is_bound(const struct node *node, const struct value *value, const struct value *other,
                     int d) {
  if (value->extents[d]) return value->extents[d] == other->extents[d];
  return node && value->producer == node && is_op(node, OP_PadToBound) &&
         node_int(node, "axis", 0) == d;
}

/* Slopes of all dimensions; *out_fits: false if one of them is not linear in the sizes. */
static hone_status find_dimensions(struct follower *f, const struct node *node, struct value *value,
                                   const struct value *other, bool *out_fits) {
  struct slope *slope = NULL;
  *out_fits = false;
  TRY(see(f, &value->seen.dims, (size_t)value->shape.rank, value->shape.dims, other->shape.dims));
  for (int d = 0; d < value->shape.rank; d++) {
    struct dimension at = {.f = f,
                           .node = node,
                           .d = d,
                           .bound = value->shape.dims[d],
                           .size = other->shape.dims[d],
                           .seen = seen_at(value->seen.dims, (size_t)d)};
    struct slope found;
    if (is_bound(node, value, other, d)) continue;
    if (value->slope) at.now = value->slope[d];
    if (!explain(&at, &found) || grows_backwards(&found)) return HONE_OK;
    if (slope_equal(&found, &at.now)) continue;
    if (!slope) {
      TRY(NEW_ARRAY(f->ctx, f->graph->arena, slope, HONE_MAX_RANK));
      if (value->slope) memcpy(slope, value->slope, HONE_MAX_RANK * sizeof *slope);
    }
    slope[d] = found;
  }
  if (slope) value->slope = slope;
  *out_fits = true;
  return HONE_OK;
}

static hone_status pair_values(struct follower *f, const struct node *node, struct value *value,
                               const struct value *other) {
  bool fits;
  f->pair[value->index] = other;
  if (value->dtype != other->dtype || value->shape.rank != other->shape.rank)
    return refuse(f, node, "a value has another type or rank");
  TRY(find_dimensions(f, node, value, other, &fits));
  return fits         ? HONE_OK
         : f->is_full ? refuse(f, node, "too many sizes are derived from it")
                      : refuse(f, node, "a dimension does not grow with it linearly");
}

/* -- constants */

/* True if `part`, smaller in some dimensions, equals the elements of `whole` from `start` on. */
static bool is_part(const struct tensor *whole, const struct tensor *part, const int64_t *start) {
  size_t size = dtype_bits(whole->dtype) / 8, count = tensor_count(part);
  int64_t stride[HONE_MAX_RANK], index[HONE_MAX_RANK] = {0};
  const char *from = whole->data, *to = part->data;
  if (!size || whole->dtype == HONE_STRING) return false;
  shape_strides(&whole->shape, stride);
  for (size_t i = 0; i < count; i++) {
    int64_t at = 0;
    for (int d = 0; d < part->shape.rank; d++) at += (start[d] + index[d]) * stride[d];
    if (memcmp(from + (size_t)at * size, to + i * size, size)) return false;
    for (int d = part->shape.rank; d-- > 0 && ++index[d] == part->shape.dims[d];) index[d] = 0;
  }
  return true;
}

/* Where the part lies in dimension d: what it loses for this symbol is cut off at the end (place 0),
 * the start (1) or half at either (2). */
static hone_status place_part(struct follower *f, struct value *value, int d, uint8_t place) {
  struct slope *begin;
  bool exact = true;
  TRY(NEW_ARRAY(f->ctx, f->graph->arena, begin, HONE_MAX_RANK));
  if (value->begin) memcpy(begin, value->begin, HONE_MAX_RANK * sizeof *begin);
  const struct slope lost = divided(&value->slope[d], place ? place : 1, &exact);
  for (int k = 0; k < HONE_MAX_SIZES; k++)
    if (f->active[k]) begin[d].of[k] = place && exact ? lost.of[k] : 0;
  value->begin = begin;
  if (!value->seen.places)
    TRY(NEW_ARRAY(f->ctx, f->graph->arena, value->seen.places, HONE_MAX_RANK));
  value->seen.places[d][f->first] = place;
  return HONE_OK;
}

/* False: the slope does not show where the part is, so it is not the right one. */
static bool is_placed(const struct value *value, int d, size_t symbol) {
  const uint8_t place = value->seen.places ? value->seen.places[d][symbol] : 0;
  bool exact = true;
  divided(&value->slope[d], place ? place : 1, &exact);
  return exact;
}

static bool is_part_now(const struct follower *f, const struct value *value,
                        const struct tensor *part) {
  int64_t start[HONE_MAX_RANK] = {0};
  for (int d = 0; value->begin && d < value->shape.rank; d++) {
    const int64_t lost = value->shape.dims[d] - part->shape.dims[d];
    start[d] = f->first >= 0 && !is_placed(value, d, (size_t)f->first)
                   ? lost / value->seen.places[d][f->first]
                   : slope_loss(&value->begin[d], f->less);
    if (start[d] < 0 || start[d] > lost) return false;
  }
  return is_part(value->constant, part, start);
}

/* Finds the part as a window of the constant at the bounds: the leading elements, or in a dimension
 * that this symbol shortens the trailing ones (positions counted from the end of a dynamic
 * dimension) or those in the middle (distances between positions). */
static hone_status find_window(struct follower *f, struct value *value, const struct tensor *part,
                               bool *out_found) {
  const int rank = value->shape.rank;
  for (int d = 0; value->seen.places && f->first >= 0 && d < rank; d++) /* slopes may be new */
    if (value->seen.places[d][f->first])
      TRY(place_part(f, value, d, value->seen.places[d][f->first]));
  *out_found = is_part_now(f, value, part);
  for (int d = 0; f->finds && f->first >= 0 && d < rank; d++) {
    const bool is_known = value->seen.places && value->seen.places[d][f->first];
    if (*out_found || is_known || !is_active(f, &value->slope[d])) continue;
    f->has_moved = !f->is_first_call;
    for (uint8_t place = 1; place <= 2 && !*out_found; place++) {
      TRY(place_part(f, value, d, place));
      *out_found = is_part_now(f, value, part);
    }
    if (!*out_found) TRY(place_part(f, value, d, 0));
  }
  return HONE_OK;
}

/* -- constants that depend on sizes */

enum { MOST_ELEMENTS = 64 };

/* Element i as an integer; false if it is not one, or not the size of anything. */
static bool whole_element(const struct tensor *tensor, size_t i, int64_t *out) {
  const double x =
      dtype_is_float(tensor->dtype) ? tensor_f64(tensor, i) : (double)tensor_i64(tensor, i);
  *out = x > -0x1p53 && x < 0x1p53 ? (int64_t)x : 0;
  return (double)*out == x;
}

/* The slope of the dimension that element i of a shape is. */
static bool by_shape(const struct dimension *at, size_t i, struct slope *out) {
  const struct value *x = at->node->inputs[0];
  if (!is_op(at->node, OP_Shape) || !x || !x->slope) return false;
  const int64_t start = node_int(at->node, "start", 0);
  const int64_t d = (int64_t)i + (start < 0 ? start + x->shape.rank : start);
  if (d < 0 || d >= x->shape.rank || x->shape.dims[d] != at->bound) return false;
  *out = x->slope[d];
  return fits_always(at, out);
}

/* Each element is linear in the sizes. */
static hone_status follow_elements(struct follower *f, struct value *value,
                                   const struct tensor *other, bool *out_fits) {
  const size_t count = tensor_count(value->constant);
  struct slope *elements;
  int64_t bounds[MOST_ELEMENTS], sizes[MOST_ELEMENTS];
  const hone_dtype dtype = value->dtype;
  *out_fits = count <= MOST_ELEMENTS &&
              (dtype == HONE_I64 || dtype == HONE_I32 || dtype == HONE_F32 || dtype == HONE_F64);
  for (size_t i = 0; i < count && *out_fits; i++)
    *out_fits = whole_element(value->constant, i, &bounds[i]) && whole_element(other, i, &sizes[i]);
  if (!*out_fits) return HONE_OK;
  TRY(see(f, &value->seen.elements, count, bounds, sizes));
  TRY(NEW_ARRAY(f->ctx, f->graph->arena, elements, count + 1));
  for (size_t i = 0; i < count && *out_fits; i++) {
    struct dimension at = {.f = f,
                           .node = value->folded_from,
                           .bound = bounds[i],
                           .size = sizes[i],
                           .seen = seen_at(value->seen.elements, i)};
    if (value->elements) at.now = value->elements[i];
    if (at.node && by_shape(&at, i, &elements[i])) continue;
    at.node = NULL;
    *out_fits = explain(&at, &elements[i]);
  }
  if (*out_fits) value->elements = elements;
  return HONE_OK;
}

/* The part at these sizes: a window of the constant, or elements that are linear in the sizes. */
static hone_status follow_part(struct follower *f, struct value *value, const struct tensor *part,
                               bool *out_fits) {
  return value->slope ? find_window(f, value, part, out_fits)
                      : follow_elements(f, value, part, out_fits);
}

/* A constant is a part of that at the bounds, or is computed again from such constants. */
static hone_status follow_known(struct follower *f, const struct node *reader, struct value *value,
                                const struct value *other, bool *out_fits) {
  const struct node *node = value->folded_from, *twin = other->folded_from;
  const bool is_plain = !value->slope && !value->elements && !value->is_computed;
  *out_fits = value->constant && other->constant && value->dtype == other->dtype &&
              value->shape.rank == other->shape.rank;
  if (!*out_fits) return HONE_OK;
  const bool is_same = is_plain && tensor_equal(value->constant, other->constant);
  bool is_folded = node && twin && node->op == twin->op && node->input_count == twin->input_count;
  /* what it was computed from may differ: another call will need to know */
  if (is_same && tensor_count(value->constant) > MOST_ELEMENTS) return HONE_OK;
  for (size_t k = 0; is_folded && k < node->input_count; k++)
    if (node->inputs[k] && twin->inputs[k] && !is_shape_operand(node, k))
      TRY(follow_known(f, node, node->inputs[k], twin->inputs[k], &is_folded));
  if (is_same) return HONE_OK;
  TRY(find_dimensions(f, is_folded ? node : reader, value, other, out_fits));
  if (!*out_fits) return HONE_OK;
  if (!value->is_computed) TRY(follow_part(f, value, other->constant, out_fits));
  if (!*out_fits || value->is_computed) *out_fits = value->is_computed = is_folded;
  return HONE_OK;
}

static hone_status follow_constant(struct follower *f, const struct node *node, size_t k,
                                   struct value *value, const struct value *other) {
  bool fits;
  if (!other->constant) return refuse(f, node, "an operand is not a constant");
  if (f->pair[value->index] == other) return HONE_OK;
  f->pair[value->index] = other;
  TRY(follow_known(f, node, value, other, &fits));
  if (is_shape_operand(node, k)) return HONE_OK; /* by_list */
  return fits ? HONE_OK : refuse(f, node, "a constant has other elements");
}

/* -- subgraphs: nothing inside may depend on sizes */

struct level {
  struct follower *f;
  const struct level *outer; /* NULL: the subgraph of a node of f->graph */
  const struct graph *graph, *at_n;
  const struct value **pair; /* as follower.pair */
};

static bool same_form(const struct value *a, const struct value *b) {
  return a->dtype == b->dtype && shape_equal(&a->shape, &b->shape) && !a->slope;
}

static bool same_value(const struct level *level, const struct value *a, const struct value *b) {
  if (!a || !b) return a == b;
  if (a->constant) return b->constant && tensor_equal(a->constant, b->constant);
  for (; level && !graph_owns(level->graph, a); level = level->outer)
    if (!level->outer) return same_form(a, b) && level->f->pair[a->index] == b;
  return level && level->pair[a->index] == b;
}

static bool pair_same(const struct level *level, const struct value *a, const struct value *b) {
  if (!a || !b) return a == b;
  if (!same_form(a, b)) return false;
  level->pair[a->index] = b;
  return true;
}

static hone_status same_graph(struct follower *f, const struct level *outer,
                              const struct graph *graph, const struct graph *at_n, bool *out);

static hone_status same_attributes(struct follower *f, const struct level *level,
                                   const struct node *a, const struct node *b, bool *out) {
  for (size_t i = 0; i < a->attribute_count && *out; i++) {
    const struct attribute *x = &a->attributes[i], *y = &b->attributes[i];
    if (x->kind == ATTRIBUTE_GRAPH && y->kind == ATTRIBUTE_GRAPH)
      TRY(same_graph(f, level, x->graph, y->graph, out));
    else
      *out = attribute_equal(x, y);
  }
  return HONE_OK;
}

static bool same_counts(const struct node *a, const struct node *b) {
  return a->op == b->op && a->input_count == b->input_count && a->output_count == b->output_count &&
         a->attribute_count == b->attribute_count;
}

static hone_status same_node(const struct level *level, const struct node *a, const struct node *b,
                             bool *out) {
  *out = same_counts(a, b);
  for (size_t k = 0; *out && k < a->input_count; k++)
    *out = same_value(level, a->inputs[k], b->inputs[k]);
  if (*out) TRY(same_attributes(level->f, level, a, b, out));
  for (size_t k = 0; *out && k < a->output_count; k++)
    *out = pair_same(level, a->outputs[k], b->outputs[k]);
  return HONE_OK;
}

static hone_status same_graph(struct follower *f, const struct level *outer,
                              const struct graph *graph, const struct graph *at_n, bool *out) {
  struct level level = {f, outer, graph, at_n, NULL};
  *out = graph->inputs.count == at_n->inputs.count && graph->nodes.count == at_n->nodes.count &&
         graph->outputs.count == at_n->outputs.count && graph->impossible == at_n->impossible;
  TRY(NEW_ARRAY(f->ctx, f->scratch, level.pair, graph->values.count + 1));
  for (size_t i = 0; *out && i < graph->inputs.count; i++)
    *out = pair_same(&level, graph->inputs.at[i], at_n->inputs.at[i]);
  for (size_t i = 0; *out && i < graph->nodes.count; i++)
    TRY(same_node(&level, graph->nodes.at[i], at_n->nodes.at[i], out));
  for (size_t i = 0; *out && i < graph->outputs.count; i++)
    *out = same_value(&level, graph->outputs.at[i], at_n->outputs.at[i]);
  return HONE_OK;
}

/* -- nodes */

static hone_status follow_attribute(struct follower *f, const struct node *node,
                                    const struct attribute *a, const struct attribute *b) {
  bool is_same = attribute_equal(a, b);
  if (is_same || is_op(node, OP_PadToBound)) return HONE_OK; /* its length is a bound */
  if (a->kind != ATTRIBUTE_GRAPH || b->kind != ATTRIBUTE_GRAPH)
    return refuse(f, node, "an attribute has another value");
  TRY(same_graph(f, NULL, a->graph, b->graph, &is_same));
  return is_same ? HONE_OK : refuse(f, node, "a subgraph depends on it");
}

static hone_status follow_node(struct follower *f, const struct node *node,
                               const struct node *other) {
  if (!same_counts(node, other))
    return refuse(f, node, "the passes transform it into a different node");
  for (size_t k = 0; k < node->input_count; k++) {
    struct value *value = node->inputs[k];
    const struct value *at_n = other->inputs[k];
    if (!value != !at_n) return refuse(f, node, "an operand is missing");
    if (value && value->constant)
      TRY(follow_constant(f, node, k, value, at_n));
    else if (value && f->pair[value->index] != at_n)
      return refuse(f, node, "it reads another value");
  }
  for (size_t i = 0; i < node->attribute_count; i++)
    TRY(follow_attribute(f, node, &node->attributes[i], &other->attributes[i]));
  for (size_t k = 0; k < node->output_count; k++) {
    if (!node->outputs[k] != !other->outputs[k]) return refuse(f, node, "an output is missing");
    if (node->outputs[k]) TRY(pair_values(f, node, node->outputs[k], other->outputs[k]));
  }
  return HONE_OK;
}

static hone_status follow(struct follower *f) {
  struct graph *graph = f->graph;
  const struct graph *at_n = f->at_n;
  if (graph->nodes.count != at_n->nodes.count)
    return refuse(f, NULL, "the passes give a different number of nodes");
  for (size_t i = 0; i < graph->inputs.count; i++)
    TRY(pair_values(f, NULL, graph->inputs.at[i], at_n->inputs.at[i]));
  for (size_t i = 0; i < graph->nodes.count; i++)
    TRY(follow_node(f, graph->nodes.at[i], at_n->nodes.at[i]));
  for (size_t i = 0; i < graph->outputs.count; i++) {
    struct value *value = graph->outputs.at[i];
    if (value->constant && !tensor_equal(value->constant, at_n->outputs.at[i]->constant))
      return refuse(f, NULL, "an output is another constant");
    if (!value->constant && f->pair[value->index] != at_n->outputs.at[i])
      return refuse(f, NULL, "an output is another value");
  }
  return HONE_OK;
}

hone_status symbol_follow(struct ctx *ctx, struct graph *graph, const struct symbols *symbols,
                          const struct graph *at_n, const int64_t *sizes, struct followed *past,
                          bool *out_changed) {
  struct follower f = {.ctx = ctx,
                       .graph = graph,
                       .symbols = symbols,
                       .at_n = at_n,
                       .sizes = sizes,
                       .first = -1,
                       .finds = out_changed,
                       .past = past};
  int below = 0;
  for (size_t k = 0; k < symbols->count; k++) {
    f.less[k] = symbols->at[k].bound - sizes[k];
    if (!f.less[k]) continue;
    below++;
    f.first = (int)k;
    f.is_first_call = k >= graph->symbols.count; /* symbols are processed in order */
  }
  if (!below || (f.is_first_call && below > 1))
    return fail(ctx, HONE_E_INTERNAL, place_none(), "%d symbols below their bounds", below);
  if (below > 1 || !f.finds) f.first = -1;
  if (f.first >= 0) f.active[f.first] = true;
  for (size_t j = 0; j < graph->symbols.derived_count; j++) set_active(&f, j);
  for (size_t i = 0; i < past->count; i++) {
    for (size_t k = 0; k < symbols->count; k++)
      f.past_less[i][k] = symbols->at[k].bound - past->sizes[i][k];
    if (!symbols_complete(&graph->symbols, f.past_less[i]))
      return fail(ctx, HONE_E_INTERNAL, place_none(), "a size was negative");
  }
  if (!symbols_complete(&graph->symbols, f.less))
    return refuse(&f, NULL, "a size would be negative");
  TRY(arena_create(ctx, 0, &f.scratch));
  hone_status status = NEW_ARRAY(ctx, f.scratch, f.pair, graph->values.count + 1);
  if (!status) status = follow(&f);
  if (!status && f.is_first_call) {
    memcpy(graph->symbols.at, symbols->at, sizeof symbols->at);
    graph->symbols.count = (size_t)f.first + 1;
  }
  if (!status && past->count < HONE_MOST_FOLLOWED)
    memcpy(past->sizes[past->count++], sizes, symbols->count * sizeof *sizes);
  if (out_changed) *out_changed = (f.first < 0 && f.has_changed) || f.has_moved;
  arena_destroy(f.scratch);
  return status;
}

/* -- values computed from sizes at run time */

static hone_status adopt(struct ctx *ctx, struct graph *graph, struct value *value) {
  if (graph_owns(graph, value)) return HONE_OK;
  value->index = (uint32_t)graph->values.count;
  VEC_PUSH(ctx, graph->arena, &graph->values, value);
  return HONE_OK;
}

/* Makes the value one that is computed at run time; its nodes go before the others. */
static hone_status make_sized(struct ctx *ctx, struct graph *graph, struct value *value,
                              struct node_list *first) {
  if (!value || !value->constant || !(value->elements || value->is_computed)) return HONE_OK;
  if (!value->is_computed) {
    value->at_bounds = value->constant;
    value->constant = NULL;
    return HONE_OK;
  }
  const struct node *from = value->folded_from;
  struct node *node;
  value->constant = NULL;
  value->elements = NULL;
  value->begin = NULL;
  TRY(NEW(ctx, graph->arena, node));
  *node = *from;
  TRY(NEW_ARRAY(ctx, graph->arena, node->outputs, 1));
  node->outputs[0] = value;
  value->producer = node;
  for (size_t k = 0; k < node->input_count; k++) {
    if (!node->inputs[k]) continue;
    TRY(adopt(ctx, graph, node->inputs[k]));
    TRY(make_sized(ctx, graph, node->inputs[k], first));
  }
  VEC_PUSH(ctx, graph->arena, first, node);
  return HONE_OK;
}

/* -- sizes at which the model is not defined */

/* How far each size is below its bound where every symbol has its least. */
static void least_sizes(const struct symbols *symbols, int64_t less[HONE_MAX_SIZES]) {
  for (size_t k = 0; k < symbols->count; k++) less[k] = symbols->at[k].bound - symbols->at[k].least;
  for (size_t j = 0; j < symbols->derived_count; j++) /* a run refuses factors below 0 */
    if (!derived_less(&symbols->derived[j], less, &less[HONE_MAX_SYMBOLS + j]))
      less[HONE_MAX_SYMBOLS + j] = symbols->derived[j].bound;
}

/* A number that would be negative at the least sizes becomes a derived size, so that a run refuses
   such sizes. */
static hone_status guard(struct ctx *ctx, struct symbols *symbols, struct place place,
                         int64_t bound, const struct slope *slope,
                         const int64_t less[HONE_MAX_SIZES]) {
  const struct derived_size size = {
      .bound = bound, .a = bound, .b = 1, .a_slope = *slope, .divisor = 1};
  size_t j = 0;
  if (bound >= slope_loss(slope, less)) return HONE_OK;
  while (j < symbols->derived_count && !same_size(&symbols->derived[j], &size)) j++;
  if (j == COUNT(symbols->derived)) {
    hone_status status =
        fail(ctx, HONE_E_UNSUP, place, "too many sizes are derived from the dynamic dimensions");
    hint(ctx, "lower bounds need fewer: --shape \"x[1,3,32<=H<=640,32<=W<=640]\"");
    return status;
  }
  if (j == symbols->derived_count) symbols->derived[symbols->derived_count++] = size;
  return HONE_OK;
}

static hone_status check_places(struct ctx *ctx, const struct graph *graph, const struct node *node,
                                const struct value *value) {
  for (size_t k = 0; value && value->seen.places && !value->is_computed && k < graph->symbols.count;
       k++)
    for (int d = 0; d < value->shape.rank; d++)
      if (!is_placed(value, d, k))
        return fail(ctx, HONE_E_UNSUP, node_place(node),
                    "the part of constant \"%s\" that is read moves unevenly with %s", value->name,
                    graph->symbols.at[k].name);
  return HONE_OK;
}

static hone_status guard_node(struct ctx *ctx, struct symbols *symbols, const struct node *node,
                              const int64_t less[HONE_MAX_SIZES]) {
  const struct value *x = node->input_count ? node->inputs[0] : NULL;
  struct window w;
  bool has_window = false;
  if (x && x->slope && !is_op(node, OP_ConvTranspose))
    TRY(window_of_node(ctx, node, &w, &has_window));
  for (int i = 0; has_window && i < w.rank; i++)
    TRY(guard(ctx, symbols, node_place(node), window_room(&w, i), &x->slope[i + 2], less));
  for (size_t k = 0; k < node->output_count; k++) {
    const struct value *y = node->outputs[k];
    for (int d = 0; y && y->slope && d < y->shape.rank; d++)
      TRY(guard(ctx, symbols, node_place(node), y->shape.dims[d], &y->slope[d], less));
  }
  return HONE_OK;
}

/* Windows that do not fit, and negative dimensions. */
static hone_status guard_sizes(struct ctx *ctx, struct graph *graph) {
  int64_t less[HONE_MAX_SIZES] = {0};
  least_sizes(&graph->symbols, less);
  for (size_t i = 0; i < graph->nodes.count; i++)
    TRY(guard_node(ctx, &graph->symbols, graph->nodes.at[i], less));
  return HONE_OK;
}

hone_status symbol_finish(struct ctx *ctx, struct graph *graph) {
  struct node_list all = {0};
  TRY(guard_sizes(ctx, graph));
  for (size_t i = 0; i < graph->nodes.count; i++)
    for (size_t k = 0; k < graph->nodes.at[i]->input_count; k++)
      if (!is_shape_operand(graph->nodes.at[i], k)) {
        TRY(check_places(ctx, graph, graph->nodes.at[i], graph->nodes.at[i]->inputs[k]));
        TRY(make_sized(ctx, graph, graph->nodes.at[i]->inputs[k], &all));
      }
  if (!all.count) return HONE_OK;
  for (size_t i = 0; i < graph->nodes.count; i++)
    VEC_PUSH(ctx, graph->arena, &all, graph->nodes.at[i]);
  graph->nodes.at = all.at;
  graph->nodes.count = all.count;
  graph->nodes.capacity = all.capacity;
  return HONE_OK;
}
