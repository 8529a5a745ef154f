/* text: string operators, and tables that map strings to numbers or numbers to strings. A table is
 * identified by its handle's name and filled once, before any look-up; a look-up then becomes a
 * LabelEncoder. */
#include <stdlib.h>

#include "tflite.h"

/* Operators that accept strings; all others need numbers. */
bool tf_takes_text(const struct tf_kind *kind) {
  static tf_build_fn *const of_text[] = {tf_reshape,        tf_squeeze,   tf_expand_dims,
                                         tf_gather,         tf_gather_nd, tf_slice,
                                         tf_strided_slice,  tf_shape,     tf_rank,
                                         tf_hashtable_find, tf_not_equal, tf_hashtable_import};
  for (size_t i = 0; i < COUNT(of_text); i++)
    if (kind->build == of_text[i]) return true;
  return kind->parameter == OP_Equal && kind->build == tf_binary;
}

/* -- tables */

/* HASHTABLE: options table_id, key_dtype, value_dtype. A table id is the same table in every
 * graph. */
hone_status tf_hashtable(struct tf_op *op) {
  int64_t id;
  TRY(tf_arity(op, 0, 0, 1));
  TRY(tf_option(op, 0, FLAT_I32, 0, &id));
  return arena_printf(op->ctx, op->tf->arena, &tf_out(op, 0)->resource, "HASHTABLE %lld",
                      (long long)id);
}

/* The table of operand 0; *out NULL: not filled yet. */
static hone_status table_of(struct tf_op *op, const struct tf_hashtable **out) {
  const struct tf_tensor *handle = tf_in(op, 0);
  *out = NULL;
  if (!handle->resource)
    return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "%s of an operand that is not a table",
                op->kind->name);
  for (size_t i = 0; i < op->tf->hashtables.count; i++)
    if (!strcmp(op->tf->hashtables.at[i].name, handle->resource)) *out = &op->tf->hashtables.at[i];
  return HONE_OK;
}

static hone_status filled_table(struct tf_op *op, const struct tf_hashtable **out) {
  TRY(table_of(op, out));
  return *out ? HONE_OK : tf_refuse(op, "of a table that is never filled");
}

static bool is_key(const struct value *x) {
  return x->constant && (x->dtype == HONE_STRING || x->dtype == HONE_I64);
}

/* HASHTABLE_IMPORT: handle, keys, values. A second import finds the table filled and changes
 * nothing. */
hone_status tf_hashtable_import(struct tf_op *op) {
  const struct tf_hashtable *known;
  struct value *keys, *values;
  TRY(tf_arity(op, 3, 3, 0));
  TRY(table_of(op, &known));
  TRY(tf_value(op, tf_in(op, 1), &keys));
  TRY(tf_value(op, tf_in(op, 2), &values));
  if (op->tf->frames.count && !tf_is_initialising(op->tf))
    return tf_refuse(op, "in a graph that another operator calls");
  if (!is_key(keys) || !is_key(values))
    return tf_refuse(op, "of anything but constant strings and INT64");
  if (tensor_count(keys->constant) != tensor_count(values->constant))
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s of %zu keys and %zu values",
                op->kind->name, tensor_count(keys->constant), tensor_count(values->constant));
  if (known) return HONE_OK;
  const struct tf_hashtable made = {tf_in(op, 0)->resource, keys->constant, values->constant};
  VEC_PUSH(op->ctx, op->tf->arena, &op->tf->hashtables, made);
  return HONE_OK;
}

static struct attribute list_arg(const struct tensor *list, const char *texts,
                                 const char *numbers) {
  if (list->dtype == HONE_STRING)
    return (struct attribute)STRINGS_ARG(texts, list->data, tensor_count(list));
  return (struct attribute)INTS_ARG(numbers, list->data, tensor_count(list));
}

/* The value for missing keys. */
static hone_status default_arg(struct tf_op *op, const struct tensor *one, struct attribute *out) {
  const char *text;
  if (one->dtype != HONE_STRING) {
    *out = (struct attribute)INT_ARG("default_int64", tensor_i64(one, 0));
    return HONE_OK;
  }
  const struct string *s = one->data;
  if (s->length > INT32_MAX || memchr(s->bytes, 0, s->length))
    return tf_refuse(op, "with a NUL in the value for missing keys");
  TRY(arena_printf(op->ctx, op->tf->arena, &text, "%.*s", (int)s->length, s->bytes));
  *out = (struct attribute)STRING_ARG("default_string", text);
  return HONE_OK;
}

/* HASHTABLE_FIND: handle, queries, the value for missing keys. */
hone_status tf_hashtable_find(struct tf_op *op) {
  const struct tf_hashtable *table;
  struct value *asked, *otherwise;
  struct attribute fallback;
  TRY(tf_arity(op, 3, 3, 1));
  TRY(filled_table(op, &table));
  TRY(tf_value(op, tf_in(op, 1), &asked));
  TRY(tf_value(op, tf_in(op, 2), &otherwise));
  if (!otherwise->constant || make_elements(otherwise) != 1)
    return tf_refuse(op, "without one constant value for missing keys");
  if (asked->dtype != table->keys->dtype || otherwise->dtype != table->values->dtype)
    return fail(op->ctx, HONE_E_TYPE, tf_place(op), "%s of %s and %s in a table of %s and %s",
                op->kind->name, dtype_name(asked->dtype), dtype_name(otherwise->dtype),
                dtype_name(table->keys->dtype), dtype_name(table->values->dtype));
  TRY(default_arg(op, otherwise->constant, &fallback));
  struct value *y =
      x_args(op->b, OP_LabelEncoder, VALUES(asked),
             ARGS(list_arg(table->keys, "keys_strings", "keys_int64s"),
                  list_arg(table->values, "values_strings", "values_int64s"), fallback));
  return tf_write(op, 0, false, y);
}

static int by_number(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int by_string(const void *a, const void *b) {
  const struct string *x = a, *y = b;
  const size_t least = x->length < y->length ? x->length : y->length;
  const int order = least ? memcmp(x->bytes, y->bytes, least) : 0;
  return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* HASHTABLE_SIZE: the number of distinct keys. */
hone_status tf_hashtable_size(struct tf_op *op) {
  const struct tf_hashtable *table;
  char *sorted;
  TRY(tf_arity(op, 1, 1, 1));
  TRY(filled_table(op, &table));
  const size_t count = tensor_count(table->keys), width = table->keys->bytes / (count ? count : 1);
  int (*const order)(const void *, const void *) =
      table->keys->dtype == HONE_STRING ? by_string : by_number;
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, sorted, table->keys->bytes + 1));
  if (count) memcpy(sorted, table->keys->data, table->keys->bytes);
  qsort(sorted, count, width, order);
  int64_t keys = count != 0;
  for (size_t i = 1; i < count; i++)
    keys += order(sorted + (i - 1) * width, sorted + i * width) != 0;
  return tf_write(op, 0, false, x_list(op->b, &keys, 1));
}
