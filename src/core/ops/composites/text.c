/* TfIdfVectorizer over integers or strings: every window of every skip is compared with every
 * n-gram. */
#include "expand.h"

struct grams {
  const struct attribute *pool, *starts, *columns, *weights;
  int64_t shortest, longest, skips, width; /* width: of the output */
};

static bool read_grams(struct graph_builder *e, struct grams *g) {
  *g = (struct grams){.pool = node_attribute(e->node, "pool_int64s"),
                      .starts = node_attribute(e->node, "ngram_counts"),
                      .columns = node_attribute(e->node, "ngram_indexes"),
                      .weights = node_attribute(e->node, "weights"),
                      .shortest = x_int(e, "min_gram_length", 1),
                      .longest = x_int(e, "max_gram_length", 1),
                      .skips = x_int(e, "max_skip_count", 0)};
  bool is_text = x_in(e, 0)->dtype == HONE_STRING;
  if (is_text) g->pool = node_attribute(e->node, "pool_strings");
  bool fits = g->pool && g->starts && g->columns && g->shortest >= 1 && g->longest >= g->shortest &&
              g->longest <= (int64_t)g->starts->count && g->longest <= HONE_MAX_RANK &&
              g->skips >= 0 && g->skips <= 1 << 16;
  for (size_t i = 0; fits && i < g->starts->count; i++) {
    int64_t end = i + 1 < g->starts->count ? g->starts->ints[i + 1] : (int64_t)g->pool->count;
    fits = g->starts->ints[i] >= 0 && end >= g->starts->ints[i] && end <= (int64_t)g->pool->count &&
           (end - g->starts->ints[i]) % (int64_t)(i + 1) == 0;
  }
  for (size_t i = 0; fits && i < g->columns->count; i++) {
    fits = g->columns->ints[i] >= 0 && g->columns->ints[i] < 1 << 28;
    if (fits && g->columns->ints[i] >= g->width) g->width = g->columns->ints[i] + 1;
  }
  if (fits && g->weights) fits = g->weights->count == g->columns->count;
  if (!fits) x_fail(e, HONE_E_FORMAT, "the n-grams do not fit together");
  return fits;
}

/* How often each of the pool's `count` n-grams of length n, from gram `first` on, occurs in x
 * [rows, c], with `skip` elements between two elements: [rows, count]. */
static struct value *occurrences(struct graph_builder *e, const struct grams *g, struct value *x,
                                 int64_t n, int64_t count, int64_t skip) {
  const struct tensor *at, *wanted;
  int64_t places = x->shape.dims[1] - (n - 1) * (skip + 1);
  struct value *index = x_constant(e, HONE_I64, &(struct shape){2, {places, n}}, &at);
  struct value *pool = x_constant(e, x->dtype, &(struct shape){2, {count, n}}, &wanted);
  for (int64_t i = 0; !e->status && i < places * n; i++)
    tensor_set_i64(at, (size_t)i, i / n + i % n * (skip + 1));
  bool is_text = x->dtype == HONE_STRING;
  for (int64_t i = 0; !e->status && i < count * n; i++) {
    int64_t from = g->starts->ints[n - 1] + i;
    if (is_text)
      ((struct string *)tensor_data(wanted))[i] = g->pool->strings[from];
    else
      tensor_set_i64(wanted, (size_t)i, g->pool->ints[from]);
  }
  struct value *windows = x_unsqueeze(e, x_gather(e, x, index, 1), 2); /* [rows, places, 1, n] */
  struct value *same =
      x_cast(e, x_2(e, is_text ? OP_StringEqual : OP_Equal, windows, pool), HONE_F32);
  same = x_reduce(e, OP_ReduceMin, same, (int64_t[]){3}, 1, false);
  return x_reduce(e, OP_ReduceSum, same, (int64_t[]){1}, 1, false);
}

/* 1 (or the gram's weight) where gram i counts for a column of the output. */
static struct value *to_columns(struct graph_builder *e, const struct grams *g, int64_t first,
                                int64_t count, bool weighted) {
  const struct tensor *tensor;
  struct value *table = x_constant(e, HONE_F32, &(struct shape){2, {count, g->width}}, &tensor);
  for (int64_t i = 0; !e->status && i < count; i++)
    tensor_set_f64(tensor, (size_t)(i * g->width + g->columns->ints[first + i]),
                   weighted && g->weights ? g->weights->floats[first + i] : 1);
  return table;
}

void expand_tfidf(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *sum = NULL;
  struct grams g;
  if (!read_grams(e, &g)) return;
  bool is_flat = x->shape.rank == 1, once = x_is(e, "mode", "TF", "IDF");
  bool weighted = !x_is(e, "mode", "TF", "TF");
  if (x->shape.rank < 1 || x->shape.rank > 2 ||
      (x->dtype != HONE_STRING && !dtype_is_integer(x->dtype))) {
    x_fail(e, HONE_E_TYPE, "TfIdfVectorizer over %s of rank %d", dtype_name(x->dtype),
           x->shape.rank);
    return;
  }
  /* n-grams do not contain empty words */
  if (x->extents[x->shape.rank - 1] && x->dtype == HONE_STRING) {
    const struct tensor *none;
    struct value *rest = x_constant(e, HONE_STRING, &(struct shape){0}, &none);
    x_with_int(e, "axis", x->shape.rank - 1);
    x_with_int(e, "length", x->shape.dims[x->shape.rank - 1]);
    x = x_2(e, OP_PadToBound, x, rest);
  }
  if (is_flat) x = x_unsqueeze(e, x, 0);
  int64_t first = 0, rows = x->shape.dims[0];
  for (int64_t n = 1; n <= g.longest && !e->status; n++) {
    int64_t end = n < (int64_t)g.starts->count ? g.starts->ints[n] : (int64_t)g.pool->count;
    int64_t count = (end - g.starts->ints[n - 1]) / n;
    if (first + count > (int64_t)g.columns->count) {
      x_fail(e, HONE_E_FORMAT, "more n-grams than ngram_indexes");
      return;
    }
    struct value *found = NULL;
    for (int64_t skip = 0; n >= g.shortest && count && skip <= (n > 1 ? g.skips : 0); skip++) {
      if (x->shape.dims[1] < (n - 1) * (skip + 1) + 1) break;
      struct value *more = occurrences(e, &g, x, n, count, skip);
      found = found ? x_2(e, OP_Add, found, more) : more;
    }
    if (found && once) found = x_2(e, OP_Min, found, x_scalar(e, HONE_F32, 1));
    if (found) found = x_2(e, OP_MatMul, found, to_columns(e, &g, first, count, weighted));
    if (found) sum = sum ? x_2(e, OP_Add, sum, found) : found;
    first += count;
  }
  struct shape shape = {2, {rows, g.width}};
  if (!sum) sum = x_expand(e, x_scalar(e, HONE_F32, 0), &shape);
  x_out(e, 0, is_flat ? x_squeeze(e, sum, 0) : sum);
}
