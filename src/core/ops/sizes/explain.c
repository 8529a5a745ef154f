/* explain: how a dimension depends on sizes, from the operator's operands and from the sizes
 * themselves: candidates in the order in which they are likely, the first that fits all calls. */
#include "follow.h"

/* -- derived sizes */

bool is_active(const struct follower *f, const struct slope *slope) {
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

void set_active(struct follower *f, size_t j) {
  const struct derived_size *size = &f->graph->symbols.derived[j];
  f->active[HONE_MAX_SYMBOLS + j] = is_active(f, &size->a_slope) || is_active(f, &size->b_slope);
}

/* Bounds are the largest sizes: nothing may be larger where a symbol is smaller. */
bool grows_backwards(const struct slope *slope) {
  for (int k = 0; k < HONE_MAX_SIZES; k++)
    if (slope->of[k] < 0) return true;
  return false;
}

/* The slope of one size. */
static struct slope slope_of(size_t size, int64_t factor) {
  struct slope slope = {0};
  slope.of[size] = factor;
  return slope;
}

bool same_size(const struct derived_size *x, const struct derived_size *y) {
  return x->bound == y->bound && x->a == y->a && x->b == y->b && x->divisor == y->divisor &&
         slope_equal(&x->a_slope, &y->a_slope) && slope_equal(&x->b_slope, &y->b_slope);
}

/* Also if they are a multiple of the divisor apart: both lose the same. */
static bool same_loss(const struct derived_size *x, const struct derived_size *y) {
  return same_size(x, y) ||
         (x->b == 1 && y->b == 1 && slope_is_zero(&x->b_slope) && slope_is_zero(&y->b_slope) &&
          x->divisor == y->divisor && (x->a - y->a) % x->divisor == 0 &&
          slope_equal(&x->a_slope, &y->a_slope));
}

/* A quotient of a quotient as one: ((a / m) + c) / n is (a + c * m) / (m * n). */
static void flatten(const struct symbols *known, struct derived_size *size) {
  int only = -1;
  for (int k = 0; k < HONE_MAX_SIZES; k++) {
    if (!size->a_slope.of[k]) continue;
    if (only >= 0 || size->a_slope.of[k] != 1 || k < HONE_MAX_SYMBOLS) return;
    only = k - HONE_MAX_SYMBOLS;
  }
  if (only < 0 || size->b != 1 || !slope_is_zero(&size->b_slope)) return;
  const struct derived_size *inner = &known->derived[only];
  if (inner->b != 1 || !slope_is_zero(&inner->b_slope)) return;
  size->a = inner->a + (size->a - inner->bound) * inner->divisor;
  size->a_slope = inner->a_slope;
  size->divisor *= inner->divisor;
}

/* The size that derive() made last stays, if a slope refers to it. */
static void keep_derived(struct follower *f, const struct slope *slope) {
  struct symbols *known = &f->graph->symbols;
  if (known->derived_count < HONE_MAX_DERIVED && slope->of[HONE_MAX_SYMBOLS + known->derived_count])
    known->derived_count++;
}

/* The slope of a derived size, an earlier one or a new one, which the next call replaces unless
   keep_derived was called; false: there are too many. */
static bool derive(struct follower *f, struct derived_size size, struct slope *out) {
  struct symbols *known = &f->graph->symbols;
  size_t j = 0;
  if (grows_backwards(&size.a_slope) || grows_backwards(&size.b_slope)) return false;
  flatten(known, &size);
  if (size.a < 0) return false;
  size.bound = size.a * size.b / size.divisor;
  while (j < known->derived_count && !same_loss(&known->derived[j], &size)) j++;
  if (j == HONE_MAX_DERIVED) f->is_full = true;
  if (j == HONE_MAX_DERIVED) return false;
  if (j == known->derived_count) {
    if (!derived_less(&size, f->less, &f->less[HONE_MAX_SYMBOLS + j])) return false;
    for (size_t i = 0; i < f->past->count; i++)
      if (!derived_less(&size, f->past_less[i], &f->past_less[i][HONE_MAX_SYMBOLS + j]))
        return false;
    known->derived[j] = size;
    set_active(f, j);
  }
  if (size.a > known->derived[j].a) known->derived[j] = size; /* a run refuses an a below 0 */
  *out = slope_of(HONE_MAX_SYMBOLS + j, 1);
  return true;
}

/* -- dimensions */

static bool fits(const struct dimension *at, const struct slope *slope) {
  return at->bound - slope_loss(slope, at->f->less) == at->size;
}

/* False: the graph was a branch that was not taken in that earlier call. */
static bool was_followed(const struct follower *f, size_t call) {
  return !(f->passed_over >> call & 1);
}

/* Also in earlier calls: a first size may have fitted by accident. */
static bool fits_always(const struct dimension *at, const struct slope *slope) {
  if (!fits(at, slope)) return false;
  for (size_t i = 0; i < at->f->past->count; i++)
    if (was_followed(at->f, i) &&
        at->bound - slope_loss(slope, at->f->past_less[i]) != (at->seen ? at->seen[i] : at->bound))
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

struct slope divided(const struct slope *slope, int64_t by, bool *exact) {
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

/* The length of a Range in steps of 1. */
static bool by_limits(const struct dimension *at, struct slope *out) {
  static const struct slope none;
  const struct value *from = at->node->inputs[0], *to = at->node->inputs[1];
  double step;
  if (!from || !to || from->is_computed || to->is_computed ||
      !constant_scalar(at->node->inputs[2], &step) || step != 1)
    return false;
  const struct slope less = slope_times(from->elements ? from->elements : &none, -1);
  const struct slope found = slope_plus(to->elements ? to->elements : &none, &less);
  return accept(at, &found, out);
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

bool is_shape_operand(const struct node *node, size_t k) {
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

/* As the result of a branch of an If. */
static bool by_branch(const struct dimension *at, struct slope *out) {
  for (size_t a = 0; a < at->node->attribute_count; a++) {
    const struct graph *branch = at->node->attributes[a].graph;
    if (at->node->attributes[a].kind != ATTRIBUTE_GRAPH || branch->impossible) continue;
    for (size_t k = 0; k < branch->outputs.count && k < at->node->output_count; k++) {
      const struct value *x = branch->outputs.at[k];
      if (at->node->outputs[k] == at->value && x->slope && at->d < x->shape.rank &&
          accept(at, &x->slope[at->d], out))
        return true;
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
  while (!is_now && i < f->past->count && !(f->past_less[i][k] && was_followed(f, i))) i++;
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

static bool by_proportion(const struct dimension *at, struct slope *out) {
  return by_size(at, false, out);
}
static bool by_rest(const struct dimension *at, struct slope *out) {
  return by_size(at, true, out);
}

/* In this order; a Slice is often to an earlier size. */
static const struct rule {
  bool (*find)(const struct dimension *at, struct slope *out);
  enum op_id op; /* OP_COUNT: any */
  bool is_alone; /* needs no node */
} rules[] = {
    {by_proportion, OP_Slice, false}, {by_window, OP_COUNT, false},  {by_step, OP_Slice, false},
    {by_frames, OP_Gather, false},    {by_limits, OP_Range, false},  {by_padding, OP_Pad, false},
    {by_multiple, OP_Pad, false},     {by_branch, OP_If, false},     {by_list, OP_COUNT, false},
    {by_equal, OP_COUNT, false},      {by_operand, OP_COUNT, false}, {by_sum, OP_COUNT, false},
    {by_proportion, OP_COUNT, true},  {by_product, OP_COUNT, false}, {by_rest, OP_COUNT, true},
};

/* Where all slopes are known, only a product of sizes can differ from them. */
bool explain(const struct dimension *at, struct slope *out) {
  struct follower *f = at->f;
  const bool has_operands = at->node && at->node->input_count;
  *out = at->now;
  if (fits(at, out)) return true;
  if (!f->finds) return false;
  f->has_changed = true;
  if (f->first < 0 && has_operands && by_product(at, out)) return true;
  for (size_t i = 0; i < COUNT(rules); i++)
    if (rules[i].is_alone ||
        (has_operands && (rules[i].op == OP_COUNT || is_op(at->node, rules[i].op))))
      if (rules[i].find(at, out)) return true;
  return false;
}

bool is_placed(const struct value *value, int d, size_t symbol) {
  const uint8_t place = value->seen && value->seen->places ? value->seen->places[d][symbol] : 0;
  bool exact = true;
  divided(&value->slope[d], place ? place : 1, &exact);
  return exact;
}

/* -- elements of constants that are computed from sizes */

bool whole_element(const struct tensor *tensor, size_t i, int64_t *out) {
  const double x =
      dtype_is_float(tensor->dtype) ? tensor_f64(tensor, i) : (double)tensor_i64(tensor, i);
  *out = x > -0x1p53 && x < 0x1p53 ? (int64_t)x : 0;
  return (double)*out == x;
}

/* Element i of an operand at the bounds, and its slope. */
struct element {
  int64_t bound;
  struct slope slope;
};

static bool element_of(const struct value *x, size_t i, struct element *out) {
  if (!x || !x->constant || x->slope || x->is_computed) return false;
  const size_t count = tensor_count(x->constant);
  if (count == 1) i = 0;
  out->slope = x->elements && i < count ? x->elements[i] : (struct slope){0};
  return i < count && whole_element(x->constant, i, &out->bound);
}

/* a / b for a fixed b; a negative a is rounded towards zero, or down. */
static bool quotient(const struct dimension *at, struct element a, const struct element *b,
                     bool rounds_down, struct slope *out) {
  bool exact = true;
  const bool is_negative = a.bound < 0;
  if (b->bound < 1 || !slope_is_zero(&b->slope)) return false;
  if (is_negative) {
    a.bound = -a.bound + (rounds_down ? b->bound - 1 : 0);
    a.slope = slope_times(&a.slope, -1);
  }
  *out = divided(&a.slope, b->bound, &exact);
  const struct derived_size size = {.a = a.bound, .b = 1, .a_slope = a.slope, .divisor = b->bound};
  if (!exact && !derive(at->f, size, out)) return false;
  if (is_negative) *out = slope_times(out, -1);
  return true;
}

static bool product(const struct dimension *at, const struct element *a, const struct element *b,
                    struct slope *out) {
  const bool is_fixed = slope_is_zero(&a->slope);
  const struct derived_size size = {
      .a = a->bound, .b = b->bound, .a_slope = a->slope, .b_slope = b->slope, .divisor = 1};
  if (!is_fixed && !slope_is_zero(&b->slope)) return derive(at->f, size, out);
  *out = slope_times(is_fixed ? &b->slope : &a->slope, is_fixed ? a->bound : b->bound);
  return true;
}

/* The product of all elements of a list. */
static bool whole_product(const struct dimension *at, const struct value *list, struct slope *out) {
  struct element all, next;
  const size_t count = list->constant ? tensor_count(list->constant) : 0;
  if (!count || !element_of(list, 0, &all)) return false;
  for (size_t i = 1; i < count; i++) {
    if (!element_of(list, i, &next) || !product(at, &all, &next, out)) return false;
    keep_derived(at->f, out);
    all = (struct element){all.bound * next.bound, *out};
  }
  *out = all.slope;
  return true;
}

/* The arithmetic of whole numbers: slopes of two operands give the slope of the result. */
static bool combined(const struct dimension *at, const struct element *a, const struct element *b,
                     struct slope *out) {
  const bool is_integer = dtype_is_integer(at->node->inputs[0]->dtype);
  struct slope part;
  switch (at->node->op->id) {
    case OP_Add:
      *out = slope_plus(&a->slope, &b->slope);
      return true;
    case OP_Sub:
      part = slope_times(&b->slope, -1);
      *out = slope_plus(&a->slope, &part);
      return true;
    case OP_Mul:
      return product(at, a, b, out);
    case OP_Div:
      return is_integer && quotient(at, *a, b, false, out);
    case OP_Mod: /* a - a / b * b */
      if (!is_integer || !quotient(at, *a, b, !node_int(at->node, "fmod", 0), &part)) return false;
      part = slope_times(&part, -b->bound);
      *out = slope_plus(&a->slope, &part);
      return true;
    default:
      return false;
  }
}

/* The operand and its element that the operator moves to element i. */
static bool moved_from(const struct node *node, size_t i, const struct value **out_from,
                       size_t *out_i) {
  const struct value *x = node->inputs[0], *index = node_input(node, 1);
  *out_from = x;
  *out_i = i;
  switch (node->op->id) {
    case OP_Cast:
    case OP_Identity:
    case OP_Squeeze:
    case OP_Unsqueeze:
    case OP_Reshape:
      return true;
    case OP_Gather:
      if (!x || x->shape.rank != 1 || !index || !index->constant || !x->shape.dims[0]) return false;
      const int64_t at = tensor_i64(index->constant, i);
      *out_i = (size_t)(at < 0 ? at + x->shape.dims[0] : at);
      return true;
    case OP_Concat:
      for (size_t k = 0; k < node->input_count; k++) {
        *out_from = node->inputs[k];
        if (!*out_from || !(*out_from)->constant || (*out_from)->shape.rank != 1) return false;
        const size_t count = tensor_count((*out_from)->constant);
        if (*out_i < count) return true;
        *out_i -= count;
      }
      return false;
    default:
      return false;
  }
}

/* A fraction that float arithmetic makes of whole numbers, as lengths of frames are computed before they are rounded:
   element i of x is `over` divided by `by`. */
struct fraction {
  struct element over;
  int64_t by;
};

static struct element scaled(const struct element *a, int64_t by) {
  return (struct element){a->bound * by, slope_times(&a->slope, by)};
}

static bool fraction_of(const struct value *x, size_t i, int depth, struct fraction *out) {
  enum { DEEPEST = 8, LARGEST = 1 << 20 };
  const struct node *node = x ? x->folded_from : NULL;
  const struct value *from;
  struct fraction b;
  size_t from_i;
  out->by = 1;
  if (element_of(x, i, &out->over)) return true;
  if (!node || !node->input_count || depth > DEEPEST) return false;
  if (moved_from(node, i, &from, &from_i)) return fraction_of(from, from_i, depth + 1, out);
  if (!fraction_of(node->inputs[0], i, depth + 1, out) ||
      !fraction_of(node_input(node, 1), i, depth + 1, &b))
    return false;
  const bool is_fixed = slope_is_zero(&b.over.slope);
  switch (node->op->id) {
    case OP_Add:
    case OP_Sub:
      b.over = scaled(&b.over, out->by * (is_op(node, OP_Sub) ? -1 : 1));
      out->over = scaled(&out->over, b.by);
      out->over.bound += b.over.bound;
      out->over.slope = slope_plus(&out->over.slope, &b.over.slope);
      out->by *= b.by;
      break;
    case OP_Mul:
      if (!is_fixed) return false;
      out->over = scaled(&out->over, b.over.bound);
      out->by *= b.by;
      break;
    case OP_Div:
      if (!is_fixed || b.over.bound < 1 || b.over.bound > LARGEST ||
          !dtype_is_float(node->inputs[0]->dtype))
        return false;
      out->over = scaled(&out->over, b.by);
      out->by *= b.over.bound;
      break;
    default:
      return false;
  }
  return out->by <= LARGEST;
}

/* Ceil and Floor of a fraction. */
static bool rounded(const struct dimension *at, size_t i, struct slope *out) {
  struct fraction x;
  if (!fraction_of(at->node->inputs[0], i, 0, &x)) return false;
  if (is_op(at->node, OP_Ceil)) x.over.bound += x.by - 1;
  return quotient(at, x.over, &(struct element){.bound = x.by}, true, out);
}

bool explain_element(const struct dimension *at, size_t i, struct slope *out) {
  const struct node *node = at->node;
  const struct value *x = node && node->input_count ? node->inputs[0] : NULL;
  struct element a, b;
  size_t from_i;
  if (!x) return false;
  if (is_op(node, OP_Shape)) { /* a dimension of x */
    const int64_t start = node_int(node, "start", 0);
    const int64_t d = (int64_t)i + (start < 0 ? start + x->shape.rank : start);
    if (!x->slope || d < 0 || d >= x->shape.rank || x->shape.dims[d] != at->bound) return false;
    return accept(at, &x->slope[d], out);
  }
  if (moved_from(node, i, &x, &from_i))
    return element_of(x, from_i, &a) && accept(at, &a.slope, out);
  struct slope found;
  if (is_op(node, OP_ReduceProd)) /* of a list: there is one result */
    return x->shape.rank == 1 && whole_product(at, x, &found) && accept(at, &found, out);
  if (is_op(node, OP_Ceil) || is_op(node, OP_Floor))
    return rounded(at, i, &found) && accept(at, &found, out);
  if (!element_of(x, i, &a)) return false;
  if (is_op(node, OP_Neg)) {
    found = slope_times(&a.slope, -1);
    return accept(at, &found, out);
  }
  return element_of(node_input(node, 1), i, &b) && combined(at, &a, &b, &found) &&
         accept(at, &found, out);
}
