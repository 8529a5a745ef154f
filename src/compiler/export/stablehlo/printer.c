/* StableHLO source: types, operations, constants, reductions, and the terms of a graph's values. */
#include "stablehlo.h"

#include <math.h>

const char *hlo_type(hone_dtype dtype) { return dtype_facts(dtype)->stablehlo; }

/* -- text */

void hlo_put_type(struct strbuf *out, hone_dtype dtype, const struct shape *shape) {
  strbuf_puts(out, "tensor<");
  for (int d = 0; d < shape->rank; d++) strbuf_printf(out, "%lldx", (long long)shape->dims[d]);
  const char *type = hlo_type(dtype);
  strbuf_printf(out, "%s>", type ? type : "none");
}

void hlo_put_ints(struct strbuf *out, const int64_t *ints, int count) {
  strbuf_puts(out, "array<i64");
  for (int i = 0; i < count; i++) strbuf_printf(out, "%s %lld", i ? "," : ":", (long long)ints[i]);
  strbuf_puts(out, ">");
}

void hlo_put_terms(struct strbuf *out, const struct term *terms, size_t count, bool names,
                   bool types) {
  for (size_t i = 0; i < count; i++) {
    if (i) strbuf_puts(out, ", ");
    if (names) strbuf_printf(out, "%%t%u", terms[i].number);
    if (names && types) strbuf_puts(out, ": ");
    if (types) hlo_put_type(out, terms[i].dtype, &terms[i].shape);
  }
}

void hlo_rename(struct hlo *h, struct term *terms, size_t count) {
  for (size_t i = 0; i < count; i++) terms[i].number = ++h->fresh;
}

void hlo_op_into(struct hlo *h, const char *name, const struct term *operands, size_t count,
                 const char *attributes, const char *region, struct term *results,
                 size_t result_count) {
  hlo_rename(h, results, result_count);
  strbuf_puts(h->out, "    ");
  hlo_put_terms(h->out, results, result_count, true, false);
  strbuf_printf(h->out, " = \"%s\"(", name);
  hlo_put_terms(h->out, operands, count, true, false);
  strbuf_puts(h->out, ")");
  if (attributes) strbuf_printf(h->out, " <{%s}>", attributes);
  if (region) strbuf_puts(h->out, region);
  strbuf_puts(h->out, " : (");
  hlo_put_terms(h->out, operands, count, false, true);
  strbuf_puts(h->out, result_count == 1 ? ") -> " : ") -> (");
  hlo_put_terms(h->out, results, result_count, false, true);
  strbuf_puts(h->out, result_count == 1 ? "\n" : ")\n");
}

struct term hlo_op(struct hlo *h, const char *name, const struct term *operands, size_t count,
                   const char *attributes, const char *region, hone_dtype dtype,
                   const struct shape *shape) {
  struct term result = {0, dtype, *shape};
  hlo_op_into(h, name, operands, count, attributes, region, &result, 1);
  return result;
}

struct term hlo_join(struct hlo *h, const struct term *parts, size_t count, int axis) {
  char attributes[64];
  struct shape shape = parts[0].shape;
  for (size_t i = 1; i < count; i++) shape.dims[axis] += parts[i].shape.dims[axis];
  snprintf(attributes, sizeof attributes, "dimension = %d : i64", axis);
  return hlo_op(h, "stablehlo.concatenate", parts, count, attributes, NULL, parts[0].dtype, &shape);
}

struct term hlo_unary(struct hlo *h, const char *name, struct term x) {
  return hlo_op(h, name, &x, 1, NULL, NULL, x.dtype, &x.shape);
}

struct term hlo_binary(struct hlo *h, const char *name, struct term x, struct term y) {
  return hlo_op(h, name, (struct term[]){x, y}, 2, NULL, NULL, x.dtype, &x.shape);
}

struct term hlo_compare(struct hlo *h, const char *direction, struct term x, struct term y) {
  char attributes[96];
  snprintf(attributes, sizeof attributes,
           "comparison_direction = #stablehlo<comparison_direction %s>", direction);
  return hlo_op(h, "stablehlo.compare", (struct term[]){x, y}, 2, attributes, NULL, HONE_BOOL,
                &x.shape);
}

struct term hlo_select(struct hlo *h, struct term mask, struct term x, struct term y) {
  return hlo_op(h, "stablehlo.select", (struct term[]){mask, x, y}, 3, NULL, NULL, x.dtype,
                &x.shape);
}

struct term hlo_convert(struct hlo *h, struct term x, hone_dtype dtype) {
  if (x.dtype == dtype) return x;
  return hlo_op(h, "stablehlo.convert", &x, 1, NULL, NULL, dtype, &x.shape);
}

struct term hlo_reshape(struct hlo *h, struct term x, const struct shape *shape) {
  if (shape_equal(&x.shape, shape)) return x;
  return hlo_op(h, "stablehlo.reshape", &x, 1, NULL, NULL, x.dtype, shape);
}

struct term hlo_broadcast_dims(struct hlo *h, struct term x, const int64_t *dims,
                               const struct shape *shape) {
  struct strbuf attributes = {0};
  strbuf_puts(&attributes, "broadcast_dimensions = ");
  hlo_put_ints(&attributes, dims, x.shape.rank);
  const struct term result = hlo_op(h, "stablehlo.broadcast_in_dim", &x, 1,
                                    attributes.at ? attributes.at : "", NULL, x.dtype, shape);
  if (attributes.failed) h->out->failed = true;
  strbuf_deinit(&attributes);
  return result;
}

struct term hlo_broadcast(struct hlo *h, struct term x, const struct shape *shape) {
  int64_t dims[HONE_MAX_RANK];
  if (shape_equal(&x.shape, shape)) return x;
  for (int d = 0; d < x.shape.rank; d++) dims[d] = shape->rank - x.shape.rank + d;
  return hlo_broadcast_dims(h, x, dims, shape);
}

struct term hlo_spread(struct hlo *h, struct term x, int axis, const struct shape *shape) {
  const int64_t place = axis;
  int64_t count;
  if (!shape_count(&x.shape, &count) || count != 1) return hlo_broadcast_dims(h, x, &place, shape);
  return hlo_broadcast(h, hlo_reshape(h, x, &(struct shape){0}), shape);
}

struct term hlo_transpose(struct hlo *h, struct term x, const int64_t *order) {
  struct strbuf attributes = {0};
  struct shape shape = {.rank = x.shape.rank};
  for (int d = 0; d < x.shape.rank; d++) shape.dims[d] = x.shape.dims[order[d]];
  strbuf_puts(&attributes, "permutation = ");
  hlo_put_ints(&attributes, order, x.shape.rank);
  const struct term result = hlo_op(h, "stablehlo.transpose", &x, 1,
                                    attributes.at ? attributes.at : "", NULL, x.dtype, &shape);
  if (attributes.failed) h->out->failed = true;
  strbuf_deinit(&attributes);
  return result;
}

/* -- constants */

/* Floats are written as bits, so that nothing is rounded. */
static void put_number(struct strbuf *out, const struct tensor *tensor, size_t i) {
  const size_t size = dtype_bits(tensor->dtype) / 8;
  uint64_t bits = 0;
  if (tensor->dtype == HONE_BOOL) {
    strbuf_puts(out, tensor_i64(tensor, i) ? "true" : "false");
  } else if (dtype_is_wide_float(tensor->dtype)) {
    memcpy(&bits, (const char *)tensor->data + i * size, size);
    strbuf_printf(out, "0x%0*llX", (int)(2 * size), (unsigned long long)bits);
  } else if (tensor->dtype == HONE_U64) {
    strbuf_printf(out, "%llu", (unsigned long long)tensor_i64(tensor, i));
  } else {
    strbuf_printf(out, "%lld", (long long)tensor_i64(tensor, i));
  }
}

static struct term put_splat(struct hlo *h, const struct tensor *element,
                             const struct shape *shape) {
  struct strbuf attributes = {0};
  strbuf_puts(&attributes, "value = dense<");
  put_number(&attributes, element, 0);
  strbuf_puts(&attributes, "> : ");
  hlo_put_type(&attributes, element->dtype, shape);
  const struct term result =
      hlo_op(h, "stablehlo.constant", NULL, 0, attributes.at ? attributes.at : "", NULL,
             element->dtype, shape);
  if (attributes.failed) h->out->failed = true;
  strbuf_deinit(&attributes);
  return result;
}

/* Infinities become the limits of an integer type: the start of a maximum, or a bound without
 * effect. */
static int64_t held(double value, hone_dtype dtype) {
  const int bits = dtype == HONE_BOOL ? 1 : (int)dtype_bits(dtype);
  const bool is_unsigned = dtype == HONE_BOOL || dtype_is_unsigned(dtype);
  const int digits = is_unsigned ? (bits > 62 ? 62 : bits) : bits - 1;
  const double high = ldexp(1, digits);
  const double low = is_unsigned ? 0 : -high;
  if (dtype == HONE_U64 && value == INFINITY) return -1; /* all bits */
  if (!(value < high)) return digits >= 63 ? INT64_MAX : ((int64_t)1 << digits) - 1;
  return value <= low ? (is_unsigned ? 0 : INT64_MIN >> (64 - bits)) : (int64_t)value;
}

struct term hlo_splat(struct hlo *h, double value, hone_dtype dtype, const struct shape *shape) {
  uint64_t bits = 0;
  const struct tensor element = {dtype, {0}, &bits, sizeof bits};
  if (dtype_is_wide_float(dtype))
    tensor_set_f64(&element, 0, value);
  else
    tensor_set_i64(&element, 0, held(value, dtype));
  return put_splat(h, &element, shape);
}

struct term hlo_range(struct hlo *h, struct term x, const int64_t *starts, const int64_t *limits,
                      const int64_t *steps, const struct shape *shape) {
  struct strbuf attributes = {0};
  strbuf_puts(&attributes, "start_indices = ");
  hlo_put_ints(&attributes, starts, x.shape.rank);
  strbuf_puts(&attributes, ", limit_indices = ");
  hlo_put_ints(&attributes, limits, x.shape.rank);
  strbuf_puts(&attributes, ", strides = ");
  hlo_put_ints(&attributes, steps, x.shape.rank);
  const struct term result =
      hlo_op(h, "stablehlo.slice", &x, 1, attributes.at ? attributes.at : "", NULL, x.dtype, shape);
  if (attributes.failed) h->out->failed = true;
  strbuf_deinit(&attributes);
  return result;
}

struct term hlo_head(struct hlo *h, struct term x, const struct shape *shape) {
  const int64_t zeros[HONE_MAX_RANK] = {0}, ones[HONE_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  return hlo_range(h, x, zeros, shape->dims, ones, shape);
}

struct term hlo_piece(struct hlo *h, struct term x, int axis, int64_t start, int64_t size) {
  int64_t starts[HONE_MAX_RANK] = {0}, limits[HONE_MAX_RANK];
  const int64_t ones[HONE_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  struct shape shape = x.shape;
  if (x.shape.dims[axis] == size) return x;
  memcpy(limits, x.shape.dims, sizeof limits);
  shape.dims[axis] = size;
  starts[axis] = start;
  limits[axis] = start + size;
  return hlo_range(h, x, starts, limits, ones, &shape);
}

struct term hlo_row(struct hlo *h, struct term x, int64_t i) {
  struct shape shape = {.rank = x.shape.rank - 1};
  memcpy(shape.dims, x.shape.dims + 1, (size_t)shape.rank * sizeof *shape.dims);
  return hlo_reshape(h, hlo_piece(h, x, 0, i, 1), &shape);
}

struct term hlo_iota(struct hlo *h, int axis, hone_dtype dtype, const struct shape *shape) {
  char attributes[64];
  snprintf(attributes, sizeof attributes, "iota_dimension = %d : i64", axis);
  return hlo_op(h, "stablehlo.iota", NULL, 0, attributes, NULL, dtype, shape);
}

struct term hlo_reverse(struct hlo *h, struct term x, int64_t axis) {
  struct strbuf attributes = {0};
  strbuf_puts(&attributes, "dimensions = ");
  hlo_put_ints(&attributes, &axis, 1);
  const struct term result = hlo_op(h, "stablehlo.reverse", &x, 1,
                                    attributes.at ? attributes.at : "", NULL, x.dtype, &x.shape);
  if (attributes.failed) h->out->failed = true;
  strbuf_deinit(&attributes);
  return result;
}

static void put_hex(struct strbuf *out, const uint8_t *bytes, size_t count) {
  static const char digits[] = "0123456789ABCDEF";
  char block[512];
  for (size_t i = 0; i < count;) {
    size_t n = 0;
    for (; i < count && n < sizeof block; i++) {
      block[n++] = digits[bytes[i] >> 4];
      block[n++] = digits[bytes[i] & 15];
    }
    strbuf_append(out, block, n);
  }
}

/* Dense i1 data is bit-packed in StableHLO source: uint8 is written and compared with 0. */
hone_status hlo_constant(struct hlo *h, const struct tensor *tensor, struct term *out) {
  const bool is_bool = tensor->dtype == HONE_BOOL;
  const hone_dtype dtype = is_bool ? HONE_I8 : tensor->dtype;
  const size_t count = tensor_count(tensor);
  if (!hlo_type(tensor->dtype))
    return fail(h->ctx, HONE_E_UNSUP, place_none(), "StableHLO has no constants of type %s",
                dtype_name(tensor->dtype));
  if (count == 1) {
    *out = put_splat(h, tensor, &tensor->shape);
    return HONE_OK;
  }
  *out = (struct term){++h->fresh, dtype, tensor->shape};
  strbuf_printf(h->out, "    %%t%u = \"stablehlo.constant\"() <{value = dense<", out->number);
  if (count) {
    strbuf_puts(h->out, "\"0x");
    put_hex(h->out, tensor->data, tensor->bytes);
    strbuf_puts(h->out, "\"");
  }
  strbuf_puts(h->out, "> : ");
  hlo_put_type(h->out, dtype, &tensor->shape);
  strbuf_puts(h->out, "}> : () -> ");
  hlo_put_type(h->out, dtype, &tensor->shape);
  strbuf_puts(h->out, "\n");
  if (is_bool) *out = hlo_compare(h, "NE", *out, hlo_splat(h, 0, HONE_I8, &tensor->shape));
  return HONE_OK;
}

/* -- reductions */

void hlo_put_region(struct strbuf *out, const char *op, hone_dtype dtype) {
  const char *type = hlo_type(dtype);
  strbuf_printf(out, " ({\n      ^bb0(%%a: tensor<%s>, %%b: tensor<%s>):\n", type, type);
  if (op)
    strbuf_printf(out, "      %%r = \"%s\"(%%a, %%b) : (tensor<%s>, tensor<%s>) -> tensor<%s>\n",
                  op, type, type, type);
  strbuf_printf(out, "      \"stablehlo.return\"(%s) : (tensor<%s>) -> ()\n    })",
                op ? "%r" : "%b", type);
}

struct term hlo_reduce(struct hlo *h, const char *op, double start, struct term x,
                       const bool axes[HONE_MAX_RANK]) {
  struct strbuf attributes = {0}, region = {0};
  const struct shape scalar = {0};
  struct shape shape = {0};
  int64_t reduced[HONE_MAX_RANK];
  int count = 0;
  for (int d = 0; d < x.shape.rank; d++)
    if (axes[d])
      reduced[count++] = d;
    else
      shape.dims[shape.rank++] = x.shape.dims[d];
  if (!count) return x;
  const struct term first = hlo_splat(h, start, x.dtype, &scalar);
  strbuf_puts(&attributes, "dimensions = ");
  hlo_put_ints(&attributes, reduced, count);
  hlo_put_region(&region, op, x.dtype);
  const struct term result =
      hlo_op(h, "stablehlo.reduce", (struct term[]){x, first}, 2,
             attributes.at ? attributes.at : "", region.at ? region.at : "", x.dtype, &shape);
  if (attributes.failed || region.failed) h->out->failed = true;
  strbuf_deinit(&attributes);
  strbuf_deinit(&region);
  return result;
}

struct term hlo_reduce_back(struct hlo *h, const char *op, double start, struct term x,
                            const bool axes[HONE_MAX_RANK]) {
  int64_t kept[HONE_MAX_RANK];
  int count = 0;
  for (int d = 0; d < x.shape.rank; d++)
    if (!axes[d]) kept[count++] = d;
  return hlo_broadcast_dims(h, hlo_reduce(h, op, start, x, axes), kept, &x.shape);
}

/* -- values of the graph */

struct term *hlo_term(struct hlo *h, const struct value *value) {
  const struct hlo_scope *scope = h->scope;
  while (scope && !graph_owns(scope->graph, value)) scope = scope->outer;
  return scope ? &scope->terms[value->index] : NULL;
}

hone_status hlo_value(struct hlo *h, const struct value *value, struct term *out) {
  struct term *term = hlo_term(h, value);
  if (term && !term->number && value->constant) TRY(hlo_constant(h, value->constant, term));
  if (!term || !term->number)
    return fail(h->ctx, HONE_E_INTERNAL, place_name(value->name), "was not written");
  *out = *term;
  return HONE_OK;
}

hone_status hlo_input(struct hlo *h, const struct node *node, size_t k, struct term *out) {
  const struct value *value = node_input(node, k);
  if (!value || !value->has_shape)
    return fail(h->ctx, HONE_E_UNSUP, node_place(node), "input %zu is omitted or has no shape", k);
  return hlo_value(h, value, out);
}

void hlo_bind(struct hlo *h, const struct node *node, size_t output, struct term term) {
  if (output < node->output_count && node->outputs[output])
    h->scope->terms[node->outputs[output]->index] = term;
}
