/* Expansions of string operators and encoders: comparison, look-up in sorted lists, state
 * tables. */
#include <stdlib.h>

#include "expand.h"
#include "core/ops/text/strings.h"

/* A constant made from a tensor that does not belong to an attribute. */
static struct value *constant_of(struct graph_builder *e, const struct tensor *tensor) {
  struct value *value = NULL;
  if (e->status) return x_scalar(e, HONE_F32, 0);
  e->status = graph_constant(e->ctx, e->graph, NULL, tensor, &value);
  return e->status ? x_scalar(e, HONE_F32, 0) : value;
}

void expand_string_equal(struct graph_builder *e) {
  x_out(e, 0, x_2(e, OP_StringEqual, x_in(e, 0), x_in(e, 1)));
}

void expand_murmur_hash(struct graph_builder *e) {
  x_with_int(e, "positive", x_int(e, "positive", 1));
  x_with_int(e, "seed", x_int(e, "seed", 0));
  x_out(e, 0, x_1(e, OP_HashBytes, x_in(e, 0)));
}

void expand_regex_full_match(struct graph_builder *e) {
  const struct attribute *pattern = node_attribute(e->node, "pattern");
  struct tensor *table = NULL;
  if (!pattern) {
    x_fail(e, HONE_E_FORMAT, "RegexFullMatch without a pattern");
    return;
  }
  e->status = regex_table(e->ctx, e->graph->arena, node_place(e->node), pattern->s, &table);
  if (e->status) return;
  x_out(e, 0, x_2(e, OP_MatchStrings, x_in(e, 0), constant_of(e, table)));
}

/* -- Tokenizer */

/* One expression for all separators: "(a)|(b)". */
static struct string any_of(struct graph_builder *e, const struct attribute *list) {
  size_t length = 0, n = 0;
  char *text = NULL;
  for (size_t i = 0; i < list->count; i++) length += list->strings[i].length + 3;
  if (!e->status) e->status = NEW_ARRAY(e->ctx, e->graph->arena, text, length + 1);
  for (size_t i = 0; !e->status && i < list->count; i++) {
    if (i) text[n++] = '|';
    text[n++] = '(';
    memcpy(text + n, list->strings[i].bytes, list->strings[i].length);
    n += list->strings[i].length;
    text[n++] = ')';
  }
  return (struct string){text, n};
}

/* x [c] or [n, c]: its tokens along an additional axis, found by an expression that they match, by
 * separators, or (one empty separator) as characters. */
void expand_tokenizer(struct graph_builder *e) {
  static const struct string character = {"(.|\n)", 5}, none = {"", 0};
  const struct attribute *pattern = node_attribute(e->node, "tokenexp"),
                         *cuts = node_attribute(e->node, "separators"),
                         *rest = node_attribute(e->node, "pad_value");
  const struct value *x = x_in(e, 0);
  const bool by_cuts = !pattern && cuts && cuts->count;
  const bool by_character = by_cuts && cuts->count == 1 && !cuts->strings[0].length;
  int64_t starts[3];
  struct tensor *table = NULL;
  const struct tensor *filling;
  if (x->shape.rank < 1 || x->shape.rank > 2 || (!by_cuts && !pattern))
    x_fail(e, HONE_E_FORMAT, "Tokenizer of rank %d, or without separators or expression",
           x->shape.rank);
  if (e->status) return;
  const struct string by = by_character ? character : by_cuts ? any_of(e, cuts) : pattern->s;
  if (!e->status)
    e->status = regex_find_table(e->ctx, e->graph->arena, node_place(e->node), by, &table, starts);
  struct value *fill = x_constant(e, HONE_STRING, &(struct shape){1, {1}}, &filling);
  if (e->status) return;
  *(struct string *)tensor_data(filling) = rest ? rest->s : none;
  x_with_int(e, "cuts", by_cuts && !by_character);
  x_with_int(e, "least", x_int(e, "mincharnum", 1));
  x_with_int(e, "marks", x_int(e, "mark", 0) != 0);
  x_with_ints(e, "starts", starts, 3);
  x_out(e, 0, x_3(e, OP_FindTokens, x_in(e, 0), constant_of(e, table), fill));
}

/* A Flatten with at most one dynamic dimension: alone on its side, or only with dimensions of 1. */
void expand_open_flatten(struct graph_builder *e) {
  struct value *x = x_in(e, 0);
  int64_t axis = x_int(e, "axis", 1);
  if (axis < 0) axis += x->shape.rank;
  if (axis > 0 && x->extents[0] && x->shape.rank > 2) {
    const int64_t rest = dims_product(&x->shape, (int)axis, x->shape.rank);
    x_out(e, 0, x_reshape(e, x, (int64_t[]){-1, rest}, 2));
    return;
  }
  for (int d = x->shape.rank; d-- > 0;) {
    const int first = d < axis ? 0 : (int)axis, last = d < axis ? (int)axis : x->shape.rank;
    if (last - first < 2 || x->shape.dims[d] != 1 || x->extents[d]) continue;
    x = x_squeeze(e, x, d);
    axis -= d < axis;
  }
  if (!e->status && (x->shape.rank != 2 || axis != 1)) {
    x_fail(e, HONE_E_UNSUP,
           "Flatten of a value with a dynamic dimension among others is not supported");
    return;
  }
  x_out(e, 0, x_1(e, OP_Identity, x));
}

void expand_string_normalizer(struct graph_builder *e) {
  const struct attribute *words = node_attribute(e->node, "stopwords");
  struct value *x = x_in(e, 0);
  const struct tensor *list;
  int64_t count = words ? (int64_t)words->count : 0;
  bool has_row = x->shape.rank == 2 && x->shape.dims[0] == 1;
  if (x->shape.rank != 1 && !has_row) {
    x_fail(e, HONE_E_SHAPE, "input 0 is neither [n] nor [1,n]");
    return;
  }
  struct value *stop = x_constant(e, HONE_STRING, &(struct shape){1, {count}}, &list);
  if (!e->status && count)
    memcpy(tensor_data(list), words->strings, (size_t)count * sizeof(struct string));
  if (has_row) x = x_squeeze(e, x, 0);
  x_with_int(e, "case",
             x_is(e, "case_change_action", "NONE", "LOWER")   ? 1
             : x_is(e, "case_change_action", "NONE", "UPPER") ? 2
                                                              : 0);
  x_with_int(e, "is_case_sensitive", x_int(e, "is_case_sensitive", 0));
  x = x_2(e, OP_NormalizeStrings, x, stop);
  x_out(e, 0, has_row ? x_unsqueeze(e, x, 0) : x);
}

/* -- look-up */

/* A list that an attribute gives as a tensor or in one of three kinds; NULL: absent. */
static const struct tensor *read_list(struct graph_builder *e, const char *stem) {
  static const struct {
    const char *ending;
    hone_dtype dtype;
  } rows[] = {{"tensor", HONE_UNDEFINED},
              {"strings", HONE_STRING},
              {"int64s", HONE_I64},
              {"floats", HONE_F32}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    char name[64];
    snprintf(name, sizeof name, "%s_%s", stem, rows[i].ending);
    const struct attribute *a = node_attribute(e->node, name);
    const struct tensor *list;
    if (!a) continue;
    if (a->kind == ATTRIBUTE_TENSOR) return a->tensor;
    (void)x_constant(e, rows[i].dtype, &(struct shape){1, {(int64_t)a->count}}, &list);
    for (size_t k = 0; k < a->count && !e->status; k++)
      if (a->kind == ATTRIBUTE_STRINGS)
        ((struct string *)tensor_data(list))[k] = a->strings[k];
      else if (a->kind == ATTRIBUTE_INTS)
        tensor_set_i64(list, k, a->ints[k]);
      else
        tensor_set_f64(list, k, a->floats[k]);
    return e->status ? NULL : list;
  }
  return NULL;
}

static void copy_element(const struct tensor *from, size_t i, const struct tensor *to, size_t j) {
  size_t size = element_bytes(from->dtype);
  memcpy((char *)tensor_data(to) + j * size, (const char *)from->data + i * size, size);
}

static int by_key(const void *pa, const void *pb, void *user) {
  const struct tensor *keys = user;
  size_t a = *(const size_t *)pa, b = *(const size_t *)pb;
  int order = element_order(keys, a, keys, b);
  return order ? order : (a > b) - (a < b);
}

/* values[k] where x is keys[k] (the first such k), else `otherwise`, one element. */
static struct value *look_up(struct graph_builder *e, struct value *x, const struct tensor *keys,
                             const struct tensor *values, const struct tensor *otherwise) {
  size_t count = tensor_count(keys), kept = 0, *order;
  const struct tensor *sorted, *table;
  if (x->dtype != keys->dtype || values->dtype != otherwise->dtype ||
      tensor_count(values) != count || !element_bytes(values->dtype)) {
    x_fail(e, HONE_E_TYPE, "%s of %s with %zu keys of %s and %zu values of %s", e->node->op->name,
           dtype_name(x->dtype), count, dtype_name(keys->dtype), tensor_count(values),
           dtype_name(values->dtype));
    return x;
  }
  if (e->status) return x;
  e->status = NEW_ARRAY(e->ctx, e->graph->arena, order, count + 1);
  if (e->status) return x;
  for (size_t i = 0; i < count; i++) order[i] = i;
  qsort_r(order, count, sizeof *order, by_key, (void *)(uintptr_t)keys);
  for (size_t i = 0; i < count; i++)
    if (!i || element_order(keys, order[i], keys, order[kept - 1])) order[kept++] = order[i];
  struct shape shape = {1, {(int64_t)kept}}, longer = {1, {(int64_t)kept + 1}};
  struct value *list = x_constant(e, keys->dtype, &shape, &sorted);
  struct value *results = x_constant(e, values->dtype, &longer, &table);
  if (e->status) return x;
  for (size_t i = 0; i < kept; i++) {
    copy_element(keys, order[i], sorted, i);
    copy_element(values, order[i], table, i);
  }
  copy_element(otherwise, 0, table, kept);
  return x_gather(e, results, x_2(e, OP_Lookup, x, list), 0);
}

/* The value for elements that are not keys, in the type of the values. */
static const struct tensor *read_default(struct graph_builder *e, hone_dtype dtype, int64_t integer,
                                         double number) {
  const struct attribute *given = node_attribute(e->node, "default_tensor");
  const struct tensor *one;
  if (given && tensor_count(given->tensor) == 1) return given->tensor;
  (void)x_constant(e, dtype, &(struct shape){1, {1}}, &one);
  if (e->status) return NULL;
  if (dtype == HONE_STRING) {
    const struct attribute *text = node_attribute(e->node, "default_string");
    *(struct string *)tensor_data(one) = text ? text->s : (struct string){"_Unused", 7};
  } else if (dtype_is_float(dtype)) {
    tensor_set_f64(one, 0, x_float(e, "default_float", number));
  } else {
    tensor_set_i64(one, 0, x_int(e, "default_int64", integer));
  }
  return one;
}

static void encode(struct graph_builder *e, const struct tensor *keys,
                   const struct tensor *values) {
  const struct tensor *otherwise = NULL;
  if (keys && values) otherwise = read_default(e, values->dtype, -1, -0.0);
  if (e->status) return;
  if (!otherwise) {
    x_fail(e, HONE_E_FORMAT, "%s is missing its lists", e->node->op->name);
    return;
  }
  x_out(e, 0, look_up(e, x_in(e, 0), keys, values, otherwise));
}

/* 0, 1, ... count - 1 */
static const struct tensor *places(struct graph_builder *e, size_t count) {
  const struct tensor *list;
  (void)x_constant(e, HONE_I64, &(struct shape){1, {(int64_t)count}}, &list);
  for (size_t i = 0; i < count && !e->status; i++) tensor_set_i64(list, i, (int64_t)i);
  return e->status ? NULL : list;
}

void expand_label_encoder(struct graph_builder *e) {
  const struct tensor *classes = read_list(e, "classes"); /* opset 1 */
  bool to_text = x_in(e, 0)->dtype != HONE_STRING;
  if (!classes) {
    encode(e, read_list(e, "keys"), read_list(e, "values"));
    return;
  }
  const struct tensor *numbers = places(e, tensor_count(classes));
  encode(e, to_text ? numbers : classes, to_text ? classes : numbers);
}

void expand_category_mapper(struct graph_builder *e) {
  const struct attribute *names = node_attribute(e->node, "cats_strings");
  const struct attribute *numbers = node_attribute(e->node, "cats_int64s");
  const struct tensor *texts, *integers;
  bool to_text = x_in(e, 0)->dtype != HONE_STRING;
  if (!names || !numbers || names->count != numbers->count) {
    x_fail(e, HONE_E_FORMAT, "CategoryMapper needs as many strings as integers");
    return;
  }
  (void)x_constant(e, HONE_STRING, &(struct shape){1, {(int64_t)names->count}}, &texts);
  (void)x_constant(e, HONE_I64, &(struct shape){1, {(int64_t)names->count}}, &integers);
  if (e->status) return;
  for (size_t i = 0; i < names->count; i++) {
    ((struct string *)tensor_data(texts))[i] = names->strings[i];
    tensor_set_i64(integers, i, numbers->ints[i]);
  }
  encode(e, to_text ? integers : texts, to_text ? texts : integers);
}

/* -- Cast of integers to strings */

enum { GROUP = 1000, WHOLE_ZERO = 2 * GROUP };

/* 0 to 999 as leading digits (0 is empty), then with all three digits, then the number 0. */
static struct value *group_texts(struct graph_builder *e) {
  const struct tensor *list;
  struct value *table = x_constant(e, HONE_STRING, &(struct shape){1, {WHOLE_ZERO + 1}}, &list);
  char *digits;
  if (!e->status) e->status = NEW_ARRAY(e->ctx, e->graph->arena, digits, 3 * GROUP);
  if (e->status) return table;
  struct string *texts = tensor_data(list);
  for (int i = 0; i < GROUP; i++) {
    const size_t zeros = i >= 100 ? 0 : i >= 10 ? 1 : i ? 2 : 3;
    char *text = digits + 3 * i;
    text[0] = (char)('0' + i / 100);
    text[1] = (char)('0' + i / 10 % 10);
    text[2] = (char)('0' + i % 10);
    texts[i] = (struct string){text + zeros, 3 - zeros};
    texts[GROUP + i] = (struct string){text, 3};
  }
  texts[WHOLE_ZERO] = (struct string){"0", 1};
  return table;
}

static struct value *sign_text(struct graph_builder *e, struct value *is_below) {
  const struct tensor *list;
  struct value *table = x_constant(e, HONE_STRING, &(struct shape){1, {2}}, &list);
  if (e->status) return table;
  ((struct string *)tensor_data(list))[0] = (struct string){"", 0};
  ((struct string *)tensor_data(list))[1] = (struct string){"-", 1};
  return x_gather(e, table, x_cast(e, is_below, HONE_I64), 0);
}

/* Three digits at a time, as many groups as the type needs. */
void expand_cast_text(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *number = x_cast(e, x, HONE_U64), *is_below = NULL, *text = NULL;
  const int groups = dtype_bits(x->dtype) > 32 ? 7 : dtype_bits(x->dtype) > 16 ? 4 : 2;
  struct value *zero = x_scalar(e, HONE_U64, 0), *group = x_scalar(e, HONE_U64, GROUP),
               *table = group_texts(e);
  if (integer_edge(x->dtype, false) < 0) {
    is_below = x_2(e, OP_Less, x, x_cast(e, zero, x->dtype));
    number = x_3(e, OP_Where, is_below, x_2(e, OP_Sub, zero, number), number);
  }
  for (int k = 0; k < groups && !e->status; k++) {
    struct value *above = x_2(e, OP_Div, number, group);
    struct value *these = x_2(e, OP_Sub, number, x_2(e, OP_Mul, above, group));
    struct value *index =
        x_2(e, OP_Add, these, x_3(e, OP_Where, x_2(e, OP_Greater, above, zero), group, zero));
    if (!k)
      index = x_3(e, OP_Where, x_2(e, OP_Equal, number, zero), x_scalar(e, HONE_U64, WHOLE_ZERO),
                  index);
    struct value *part = x_gather(e, table, x_cast(e, index, HONE_I64), 0);
    text = text ? x_2(e, OP_StringConcat, part, text) : part;
    number = above;
  }
  x_out(e, 0, is_below ? x_2(e, OP_StringConcat, sign_text(e, is_below), text) : text);
}
