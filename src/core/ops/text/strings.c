/* Operators on strings. A string is UTF-8 bytes and their number; results that are parts of
 * operands point into them, new strings are in the evaluation's arena. Case conversion handles
 * single code points of ASCII, Latin-1, Greek and Cyrillic where the number of bytes stays the
 * same; other letters are unchanged. */
#include "strings.h"

static const struct string *texts(const struct tensor *tensor) { return tensor->data; }

static hone_status want_strings(struct ctx *ctx, const struct node *node, size_t k) {
  if (node->inputs[k]->dtype == HONE_STRING) return HONE_OK;
  return fail(ctx, HONE_E_TYPE, node_place(node), "input %zu is %s, expected strings", k,
              dtype_name(node->inputs[k]->dtype));
}

/* -- two strings */

static hone_status infer_pair(struct ctx *ctx, const struct node *node, hone_dtype dtype) {
  struct shape to;
  TRY(want_strings(ctx, node, 0));
  TRY(want_strings(ctx, node, 1));
  if (!shape_broadcast(&node->inputs[0]->shape, &node->inputs[1]->shape, &to))
    return fail(ctx, HONE_E_SHAPE, node_place(node), "operands do not broadcast");
  return set_output(ctx, node, 0, dtype, &to);
}

hone_status infer_string_concat(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return infer_pair(ctx, node, HONE_STRING);
}

hone_status infer_string_equal(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return infer_pair(ctx, node, HONE_BOOL);
}

static hone_status join(struct ctx *ctx, struct arena *arena, struct string a, struct string b,
                        struct string *out) {
  char *bytes;
  if (a.length + b.length > (size_t)ctx->limits[LIMIT_string_tensor_bytes])
    return fail(ctx, HONE_E_LIMIT, place_none(),
                "a string is longer than limit string_tensor_bytes");
  TRY(NEW_ARRAY(ctx, arena, bytes, a.length + b.length + 1));
  if (a.length) memcpy(bytes, a.bytes, a.length);
  if (b.length) memcpy(bytes + a.length, b.bytes, b.length);
  *out = (struct string){bytes, a.length + b.length};
  return HONE_OK;
}

bool strings_equal(struct string a, struct string b) {
  return a.length == b.length && (!a.length || !memcmp(a.bytes, b.bytes, a.length));
}

static hone_status each_pair(struct ctx *ctx, struct arena *arena, const struct tensor *const *in,
                             const struct tensor *out, bool joins) {
  int64_t index[HONE_MAX_RANK] = {0}, a[HONE_MAX_RANK], b[HONE_MAX_RANK];
  const struct shape *to = &out->shape;
  broadcast_strides(&in[0]->shape, to, a);
  broadcast_strides(&in[1]->shape, to, b);
  for (size_t i = 0; i < tensor_count(out); i++) {
    struct string x = texts(in[0])[index_offset(to->rank, index, a)];
    struct string y = texts(in[1])[index_offset(to->rank, index, b)];
    if (joins)
      TRY(join(ctx, arena, x, y, (struct string *)tensor_data(out) + i));
    else
      ((uint8_t *)tensor_data(out))[i] = strings_equal(x, y);
    (void)index_next(to->rank, to->dims, index);
  }
  return HONE_OK;
}

hone_status eval_string_concat(struct ctx *ctx, struct arena *scratch, const struct node *node,
                               const struct tensor *const *in, struct tensor *const *out) {
  (void)node;
  return each_pair(ctx, scratch, in, out[0], true);
}

hone_status eval_string_equal(struct ctx *ctx, struct arena *scratch, const struct node *node,
                              const struct tensor *const *in, struct tensor *const *out) {
  (void)node;
  return each_pair(ctx, scratch, in, out[0], false);
}

/* -- StringSplit */

struct splitter {
  const char *delimiter; /* no bytes: runs of white space */
  size_t length;
  int64_t most; /* largest number of parts */
};

static struct splitter splitter_of(const struct node *node) {
  const struct attribute *a = node_attribute(node, "delimiter");
  int64_t most = node_int(node, "maxsplit", -1);
  return (struct splitter){a ? a->s.bytes : "", a ? a->s.length : 0,
                           most < 0 || most == INT64_MAX ? INT64_MAX : most + 1};
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Splits a string into out; with NULL only counts the parts. */
static int64_t split_string(const struct splitter *s, struct string x, struct string *out) {
  const char *at = x.bytes, *end = at + x.length;
  int64_t count = 0;
  for (bool goes_on = true; goes_on; count++) {
    while (!s->length && at < end && is_space(*at)) at++;
    if (!s->length && at == end) break;
    const char *stop = at;
    goes_on = false;
    for (; stop < end && count + 1 < s->most; stop++) {
      goes_on = s->length
                    ? (size_t)(end - stop) >= s->length && !memcmp(stop, s->delimiter, s->length)
                    : is_space(*stop);
      if (goes_on) break;
    }
    if (!goes_on) stop = end;
    if (out) out[count] = (struct string){at, (size_t)(stop - at)};
    at = stop + (goes_on ? s->length ? s->length : 1 : 0);
  }
  return count;
}

hone_status infer_string_split(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct value *x = node->inputs[0];
  struct splitter s = splitter_of(node);
  struct shape to = x->shape;
  int64_t parts = 0;
  TRY(want_strings(ctx, node, 0));
  if (to.rank >= HONE_MAX_RANK)
    return fail(ctx, HONE_E_LIMIT, node_place(node), "too many dimensions");
  if (!x->constant) parts = ctx->limits[LIMIT_string_parts];
  if (!x->constant && s.most < parts) parts = s.most;
  for (size_t i = 0; x->constant && i < tensor_count(x->constant); i++) {
    int64_t count = split_string(&s, texts(x->constant)[i], NULL);
    if (count > parts) parts = count;
  }
  TRY(set_output(ctx, node, 1, HONE_I64, &to));
  to.dims[to.rank++] = parts;
  return set_output(ctx, node, 0, HONE_STRING, &to);
}

hone_status eval_string_split(struct ctx *ctx, struct arena *scratch, const struct node *node,
                              const struct tensor *const *in, struct tensor *const *out) {
  struct splitter s = splitter_of(node);
  (void)scratch;
  int64_t room = out[0] ? out[0]->shape.dims[out[0]->shape.rank - 1] : 0;
  for (size_t i = 0; i < tensor_count(in[0]); i++) {
    int64_t count = split_string(&s, texts(in[0])[i], NULL);
    if (node->output_count > 1 && out[1]) tensor_set_i64(out[1], i, count);
    if (!out[0]) continue;
    if (count > room)
      return fail(ctx, HONE_E_SHAPE, node_place(node),
                  "the number of parts at run time exceeds the output's shape");
    struct string *to = (struct string *)tensor_data(out[0]) + (int64_t)i * room;
    for (int64_t k = 0; k < room; k++) to[k].bytes = "";
    (void)split_string(&s, texts(in[0])[i], to);
  }
  return HONE_OK;
}

/* -- NormalizeStrings: without stop words, in another case */

/* The other case of a 2-byte code point; unchanged if it has none here. */
static unsigned other_case(unsigned c, bool upper) {
  static const struct {
    unsigned low, high, apart; /* capital letters, and the distance to the small ones */
  } ranges[] = {{0xc0, 0xd6, 32},   {0xd8, 0xde, 32},   {0x391, 0x3a1, 32},
                {0x3a3, 0x3a9, 32}, {0x410, 0x42f, 32}, {0x400, 0x40f, 80}};
  for (size_t i = 0; i < COUNT(ranges); i++) {
    unsigned apart = upper ? ranges[i].apart : 0;
    if (c < ranges[i].low + apart || c > ranges[i].high + apart) continue;
    return upper ? c - apart : c + ranges[i].apart;
  }
  return c;
}

void string_change_case(struct string x, bool upper, char *out) {
  const unsigned char *from = (const unsigned char *)x.bytes;
  for (size_t i = 0; i < x.length; i++) {
    unsigned c = from[i];
    if ((c & 0xe0) == 0xc0 && i + 1 < x.length && (from[i + 1] & 0xc0) == 0x80) {
      unsigned point = other_case((c & 31) << 6 | (from[i + 1] & 63), upper);
      out[i++] = (char)(0xc0 | point >> 6);
      out[i] = (char)(0x80 | (point & 63));
      continue;
    }
    if (upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z') c ^= 32;
    out[i] = (char)c;
  }
}

static hone_status changed(struct ctx *ctx, struct arena *arena, struct string x, bool upper,
                           struct string *out) {
  char *bytes;
  TRY(NEW_ARRAY(ctx, arena, bytes, x.length + 1));
  string_change_case(x, upper, bytes);
  *out = (struct string){bytes, x.length};
  return HONE_OK;
}

static hone_status is_stop_word(struct ctx *ctx, struct arena *arena, const struct node *node,
                                struct string x, const struct tensor *words, bool *out) {
  bool folds = !node_int(node, "is_case_sensitive", 0);
  *out = false;
  if (folds) TRY(changed(ctx, arena, x, false, &x));
  for (size_t i = 0; i < tensor_count(words) && !*out; i++) {
    struct string word = texts(words)[i];
    if (folds) TRY(changed(ctx, arena, word, false, &word));
    *out = strings_equal(x, word);
  }
  return HONE_OK;
}

/* The remaining strings, at least one; out NULL: only counted. */
static hone_status normalize(struct ctx *ctx, struct arena *arena, const struct node *node,
                             const struct tensor *x, const struct tensor *words, struct string *out,
                             int64_t *out_count) {
  int64_t mode = node_int(node, "case", 0);
  *out_count = 0;
  for (size_t i = 0; i < tensor_count(x); i++) {
    bool is_stop;
    struct string text = texts(x)[i];
    TRY(is_stop_word(ctx, arena, node, text, words, &is_stop));
    if (is_stop) continue;
    if (mode) TRY(changed(ctx, arena, text, mode == 2, &text));
    if (out) out[*out_count] = text;
    ++*out_count;
  }
  if (*out_count) return HONE_OK;
  if (out) *out = (struct string){"", 0};
  *out_count = 1;
  return HONE_OK;
}

hone_status infer_normalize_strings(struct ctx *ctx, struct graph *graph, struct node *node) {
  const struct value *x = node->inputs[0], *words = node->inputs[1];
  struct shape to = x->shape;
  TRY(want_strings(ctx, node, 0));
  TRY(want_strings(ctx, node, 1));
  TRY(want_rank(ctx, node, 0, 1));
  if (!to.dims[0]) to.dims[0] = 1;
  if (x->constant && words->constant)
    TRY(normalize(ctx, graph->arena, node, x->constant, words->constant, NULL, &to.dims[0]));
  return set_output(ctx, node, 0, HONE_STRING, &to);
}

hone_status eval_normalize_strings(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                   const struct tensor *const *in, struct tensor *const *out) {
  struct string *found;
  int64_t count;
  TRY(NEW_ARRAY(ctx, scratch, found, tensor_count(in[0]) + 1));
  TRY(normalize(ctx, scratch, node, in[0], in[1], found, &count));
  if (count != out[0]->shape.dims[0])
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "the number of stop words at run time differs from the output's shape");
  memcpy(tensor_data(out[0]), found, (size_t)count * sizeof *found);
  return HONE_OK;
}

/* -- MatchStrings: with a state table (regex.c) */

hone_status infer_match_strings(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  TRY(want_strings(ctx, node, 0));
  TRY(want_rank(ctx, node, 1, 2));
  if (node->inputs[1]->dtype != HONE_U16 || node->inputs[1]->shape.dims[1] != MATCH_COLUMNS)
    return fail(ctx, HONE_E_TYPE, node_place(node), "input 1 is not a state table");
  return set_output(ctx, node, 0, HONE_BOOL, &node->inputs[0]->shape);
}

hone_status eval_match_strings(struct ctx *ctx, struct arena *scratch, const struct node *node,
                               const struct tensor *const *in, struct tensor *const *out) {
  const uint16_t *table = in[1]->data;
  (void)scratch;
  for (size_t i = 0; i < tensor_count(in[0]); i++) {
    struct string x = texts(in[0])[i];
    size_t state = 1;
    for (size_t k = 0; k < x.length && state; k++)
      state = table[state * MATCH_COLUMNS + (unsigned char)x.bytes[k]];
    if (state >= (size_t)in[1]->shape.dims[0])
      return fail(ctx, HONE_E_SHAPE, node_place(node), "the state table has a state out of range");
    ((uint8_t *)tensor_data(out[0]))[i] = table[state * MATCH_COLUMNS + 256] != 0;
  }
  return HONE_OK;
}

/* -- FindTokens: the parts of a string that a state table accepts */

struct finder {
  const uint16_t *table;
  size_t states;
  const int64_t *starts;
  bool cuts;  /* matches are separators between tokens */
  bool marks; /* adds a token "\2" at the start and "\3" at the end */
  int64_t least;
};

static bool finder_of(const struct node *node, const struct tensor *table, struct finder *out) {
  size_t count = 0;
  *out = (struct finder){.table = table->data,
                         .states = (size_t)table->shape.dims[0],
                         .starts = node_ints(node, "starts", &count),
                         .cuts = node_int(node, "cuts", 0) != 0,
                         .marks = node_int(node, "marks", 0) != 0,
                         .least = node_int(node, "least", 1)};
  bool fits = out->starts && count == 3;
  for (size_t i = 0; fits && i < count; i++)
    fits = out->starts[i] >= 0 && (size_t)out->starts[i] < out->states;
  for (size_t i = 0; fits && i < out->states * FIND_COLUMNS; i++)
    fits = i % FIND_COLUMNS > 255 || out->table[i] < out->states;
  return fits;
}

/* The end of the longest match that starts at `at`; `at` if there is none. */
static size_t part_end(const struct finder *f, struct string x, size_t at) {
  const unsigned char *bytes = (const unsigned char *)x.bytes;
  size_t end = at, state = (size_t)f->starts[!at ? 0 : is_word_byte(bytes[at - 1]) ? 2 : 1];
  for (size_t k = at; state && k <= x.length; k++) {
    const uint16_t *row = f->table + state * FIND_COLUMNS;
    if (row[k == x.length ? 256 : is_word_byte(bytes[k]) ? 257 : 258]) end = k;
    state = k == x.length ? 0 : row[bytes[k]];
  }
  return end;
}

static void add_part(const char *from, const char *to, struct string *out, int64_t *count) {
  if (out) out[*count] = (struct string){from, (size_t)(to - from)};
  ++*count;
}

static void add_token(const struct finder *f, const char *from, const char *to, struct string *out,
                      int64_t *count) {
  int64_t characters = 0;
  for (const char *at = from; at < to; at++) characters += (*at & 0xc0) != 0x80;
  if (from != to && characters >= f->least) add_part(from, to, out, count);
}

/* The tokens of a string into out; with NULL only counted. */
static int64_t find_tokens(const struct finder *f, struct string x, struct string *out) {
  static const char marks[] = {2, 3};
  int64_t count = 0;
  size_t from = 0; /* the end of the last match */
  if (f->marks) add_part(marks, marks + 1, out, &count);
  for (size_t at = 0; at < x.length;) {
    const size_t end = part_end(f, x, at);
    if (end > at) {
      add_token(f, x.bytes + (f->cuts ? from : at), x.bytes + (f->cuts ? at : end), out, &count);
      at = from = end;
      continue;
    }
    do at++;
    while (at < x.length && (x.bytes[at] & 0xc0) == 0x80);
  }
  if (f->cuts) add_token(f, x.bytes + from, x.bytes + x.length, out, &count);
  if (f->marks) add_part(marks + 1, marks + 2, out, &count);
  return count;
}

/* x, a state table, the padding [1]: [.., largest number of tokens]. */
hone_status infer_find_tokens(struct ctx *ctx, struct graph *graph, struct node *node) {
  const struct value *x = node->inputs[0], *table = node->inputs[1];
  struct shape to = x->shape;
  struct finder f;
  int64_t most = x->constant ? 0 : ctx->limits[LIMIT_string_parts];
  (void)graph;
  TRY(want_strings(ctx, node, 0));
  TRY(want_strings(ctx, node, 2));
  TRY(want_rank(ctx, node, 2, 1));
  if (table->dtype != HONE_U16 || !table->constant || table->shape.rank != 2 ||
      table->shape.dims[1] != FIND_COLUMNS || node->inputs[2]->shape.dims[0] != 1 ||
      !finder_of(node, table->constant, &f))
    return fail(ctx, HONE_E_TYPE, node_place(node), "input 1 is not a state table");
  if (to.rank >= HONE_MAX_RANK)
    return fail(ctx, HONE_E_LIMIT, node_place(node), "too many dimensions");
  for (size_t i = 0; x->constant && i < tensor_count(x->constant); i++) {
    const int64_t count = find_tokens(&f, texts(x->constant)[i], NULL);
    if (count > most) most = count;
  }
  to.dims[to.rank++] = most;
  return set_output(ctx, node, 0, HONE_STRING, &to);
}

hone_status eval_find_tokens(struct ctx *ctx, struct arena *scratch, const struct node *node,
                             const struct tensor *const *in, struct tensor *const *out) {
  struct finder f;
  const int64_t room = out[0]->shape.dims[out[0]->shape.rank - 1];
  (void)scratch;
  if (!finder_of(node, in[1], &f))
    return fail(ctx, HONE_E_TYPE, node_place(node), "input 1 is not a state table");
  for (size_t i = 0; i < tensor_count(in[0]); i++) {
    struct string *to = (struct string *)tensor_data(out[0]) + (int64_t)i * room;
    const int64_t count = find_tokens(&f, texts(in[0])[i], NULL);
    if (count > room)
      return fail(ctx, HONE_E_SHAPE, node_place(node),
                  "the number of tokens at run time exceeds the output's shape");
    (void)find_tokens(&f, texts(in[0])[i], to);
    for (int64_t k = count; k < room; k++) to[k] = texts(in[2])[0];
  }
  return HONE_OK;
}

/* -- Lookup: the index of an element in a sorted list, the list's length if it is absent */

int string_order(struct string a, struct string b) {
  size_t shorter = a.length < b.length ? a.length : b.length;
  int order = shorter ? memcmp(a.bytes, b.bytes, shorter) : 0;
  return order ? order : (a.length > b.length) - (a.length < b.length);
}

int element_order(const struct tensor *a, size_t i, const struct tensor *b, size_t j) {
  if (a->dtype == HONE_STRING) return string_order(texts(a)[i], texts(b)[j]);
  if (dtype_is_float(a->dtype)) { /* NaN equals itself and sorts last */
    double x = tensor_f64(a, i), y = tensor_f64(b, j);
    return x != x || y != y ? (x != x) - (y != y) : (x > y) - (x < y);
  }
  int64_t x = tensor_i64(a, i), y = tensor_i64(b, j);
  return (x > y) - (x < y);
}

hone_status infer_lookup(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  TRY(want_same_dtype(ctx, node, 0, 1));
  TRY(want_rank(ctx, node, 1, 1));
  return set_output(ctx, node, 0, HONE_I64, &node->inputs[0]->shape);
}

hone_status eval_lookup(struct ctx *ctx, struct arena *scratch, const struct node *node,
                        const struct tensor *const *in, struct tensor *const *out) {
  size_t keys = tensor_count(in[1]);
  (void)ctx, (void)scratch, (void)node;
  for (size_t i = 0; i < tensor_count(in[0]); i++) {
    size_t low = 0, high = keys, found = keys;
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      int order = element_order(in[0], i, in[1], middle);
      if (!order) found = middle;
      if (order < 0)
        high = middle;
      else
        low = order ? middle + 1 : high;
    }
    tensor_set_i64(out[0], i, (int64_t)found);
  }
  return HONE_OK;
}

/* -- HashBytes: MurmurHash3 of each element's bytes. Source: Appleby, MurmurHash3_x86_32 (public domain) -- */

hone_status infer_hash_bytes(struct ctx *ctx, struct graph *graph, struct node *node) {
  const struct value *x = node->inputs[0];
  (void)graph;
  if (x->dtype != HONE_STRING && dtype_bits(x->dtype) != 32 && dtype_bits(x->dtype) != 64)
    return fail(ctx, HONE_E_TYPE, node_place(node),
                "input 0 is %s, expected strings, 32 or 64 bits", dtype_name(x->dtype));
  return set_output(ctx, node, 0, node_int(node, "positive", 1) ? HONE_U32 : HONE_I32, &x->shape);
}

static uint32_t turned(uint32_t x, int by) { return x << by | x >> (32 - by); }

static uint32_t mixed(uint32_t word) { return turned(word * 0xcc9e2d51u, 15) * 0x1b873593u; }

static uint32_t murmur_hash(const uint8_t *bytes, size_t length, uint32_t h) {
  uint32_t rest = 0;
  size_t i = 0;
  for (; i + 4 <= length; i += 4) {
    const uint32_t word = (uint32_t)bytes[i] | (uint32_t)bytes[i + 1] << 8 |
                          (uint32_t)bytes[i + 2] << 16 | (uint32_t)bytes[i + 3] << 24;
    h = turned(h ^ mixed(word), 13) * 5 + 0xe6546b64u;
  }
  for (size_t k = length; k-- > i;) rest = rest << 8 | bytes[k];
  h ^= mixed(rest) ^ (uint32_t)length;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}

hone_status eval_hash_bytes(struct ctx *ctx, struct arena *scratch, const struct node *node,
                            const struct tensor *const *in, struct tensor *const *out) {
  const uint32_t seed = (uint32_t)node_int(node, "seed", 0);
  uint32_t *y = (void *)(uintptr_t)out[0]->data;
  const size_t width = element_bytes(in[0]->dtype);
  (void)ctx, (void)scratch;
  for (size_t i = 0; i < tensor_count(in[0]); i++) {
    const uint8_t *bytes = (const uint8_t *)in[0]->data + i * width;
    struct string one = {(const char *)bytes, width};
    if (in[0]->dtype == HONE_STRING) one = texts(in[0])[i];
    y[i] = murmur_hash((const uint8_t *)one.bytes, one.length, seed);
  }
  return HONE_OK;
}
