/* Every ONNX model of tests/cases damaged field by field: omitted, repeated, of another type, with
 * other numbers, names and contents, truncated; inputs that are constants and constants that are
 * inputs; each opset. A refusal names its place and is never an internal error. A missing required
 * field is always refused. No memory is leaked or read out of bounds. Each field of an operator is
 * damaged once: a field that an earlier model of the same operator had is skipped.
 * HONE_CASES=PATTERN reads others (make coverage: the node models of the onnx package). The walker below knows protocol
 * buffers by their definition and shares no code with src/compiler/import. */
#include "import_case.h"
#include "whole_model.h"

#include <glob.h>
#include <math.h>

enum kind {
  LEAF,
  MODEL,
  OPSET,
  GRAPH,
  NODE,
  ATTRIBUTE,
  TENSOR,
  VALUE,
  TYPE,
  TENSOR_TYPE,
  LIST_TYPE,
  SHAPE,
  DIMENSION,
  FUNCTION,
  SPARSE
};
/* Fields that are messages. Source: onnx.proto. */
static const struct {
  enum kind in;
  uint32_t field;
  enum kind is;
} messages[] = {
    {MODEL, 7, GRAPH},       {MODEL, 8, OPSET},    {MODEL, 25, FUNCTION},     {GRAPH, 1, NODE},
    {GRAPH, 5, TENSOR},      {GRAPH, 11, VALUE},   {GRAPH, 12, VALUE},        {GRAPH, 13, VALUE},
    {GRAPH, 15, SPARSE},     {NODE, 5, ATTRIBUTE}, {ATTRIBUTE, 5, TENSOR},    {ATTRIBUTE, 6, GRAPH},
    {ATTRIBUTE, 22, SPARSE}, {VALUE, 2, TYPE},     {TYPE, 1, TENSOR_TYPE},    {TYPE, 4, LIST_TYPE},
    {TYPE, 9, LIST_TYPE},    {LIST_TYPE, 1, TYPE}, {TENSOR_TYPE, 2, SHAPE},   {SHAPE, 1, DIMENSION},
    {FUNCTION, 7, NODE},     {FUNCTION, 9, OPSET}, {FUNCTION, 11, ATTRIBUTE}, {SPARSE, 1, TENSOR},
    {SPARSE, 2, TENSOR},
};
enum wire_of { VARINT, FIXED64, BYTES, FIXED32 = 5, GONE = 8 };
enum { OP_TYPE = 4, NAME_OF_TENSOR = 8, KEYS = 1 << 19, MOST_OF_A_LIST = 4 };

struct message;
struct field {
  uint32_t number;
  unsigned wire;
  uint64_t value; /* of numbers */
  const uint8_t *at;
  size_t n;
  struct message *inside; /* NULL: bytes */
  bool is_twice;
};
struct message {
  enum kind kind;
  struct field *fields;
  size_t count;
};

static struct {
  struct ctx ctx;
  struct arena *arena; /* of the walker */
  const char *path;
  struct message *root;
  uint64_t keys[KEYS]; /* of what was damaged before; 0: free */
  size_t key_count, attempts, refused;
} all;

/* -- protocol buffers */

static uint64_t varint_at(const uint8_t **at, const uint8_t *end) {
  uint64_t x = 0;
  for (unsigned shift = 0;; shift += 7) {
    assert_true(*at < end && shift < 64);
    uint8_t byte = *(*at)++;
    x |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return x;
  }
}

static void *take(size_t count, size_t size) {
  void *out;
  assert_int_equal(arena_alloc(&all.ctx, all.arena, count * size + 1, 16, &out), HONE_OK);
  memset(out, 0, count * size + 1);
  return out;
}

static struct message *parse(enum kind kind, const uint8_t *at, size_t n) {
  struct message *m = take(1, sizeof *m);
  const uint8_t *end = at + n;
  size_t capacity = 0;
  m->kind = kind;
  while (at < end) {
    if (m->count == capacity) {
      struct field *more = take(capacity = 2 * capacity + 8, sizeof *more);
      if (m->count) memcpy(more, m->fields, m->count * sizeof *more);
      m->fields = more;
    }
    struct field *f = &m->fields[m->count++];
    uint64_t tag = varint_at(&at, end);
    f->number = (uint32_t)(tag >> 3);
    f->wire = tag & 7;
    if (f->wire == VARINT) {
      f->value = varint_at(&at, end);
      continue;
    }
    f->n = f->wire == BYTES ? varint_at(&at, end) : f->wire == FIXED32 ? 4 : 8;
    f->at = at;
    assert_true(f->n <= (size_t)(end - at));
    at += f->n;
    for (size_t i = 0; f->wire == BYTES && i < COUNT(messages); i++)
      if (messages[i].in == kind && messages[i].field == f->number)
        f->inside = parse(messages[i].is, f->at, f->n);
  }
  return m;
}

static void put_fields(struct buf *b, const struct message *m) {
  for (size_t i = 0; i < m->count; i++) {
    const struct field *f = &m->fields[i];
    if (f->wire == GONE) continue;
    for (int k = 0; k <= f->is_twice; k++) {
      struct buf inside = {0};
      put_tag(b, f->number, f->wire);
      if (f->wire == VARINT)
        put_varint(b, f->value);
      else if (f->wire != BYTES)
        put_raw(b, f->at, f->n);
      else if (!f->inside)
        put_varint(b, f->n), put_raw(b, f->at, f->n);
      else {
        put_fields(&inside, f->inside);
        put_varint(b, inside.n);
        put_raw(b, inside.at, inside.n);
        free(inside.at);
      }
    }
  }
}

static const struct field *find(const struct message *m, uint32_t number) {
  for (size_t i = 0; i < m->count; i++)
    if (m->fields[i].number == number && m->fields[i].wire != GONE) return &m->fields[i];
  return NULL;
}

static void text_of(const struct message *m, uint32_t number, char *out, size_t size) {
  const struct field *f = find(m, number);
  snprintf(out, size, "%.*s", f ? (int)f->n : 0, f ? (const char *)f->at : "");
}

/* -- one attempt */

/* An error of the model as a whole has no place in the file. */
static bool has_place(const char *message) {
  static const char *const whole[] = {
      "no graph",           "ir_version",          "opset",  "a graph without",
      "dynamic dimensions", "memory of one phase", "domain", "no opset_import"};
  for (size_t i = 0; i < COUNT(whole); i++)
    if (strstr(message, whole[i])) return true;
  return strstr(message, " at ") != NULL;
}

static void attempt(const char *key, const char *what, bool must_be) {
  struct buf bytes = {0};
  struct ctx ctx;
  struct arena *arena;
  struct model_file file;
  struct graph *graph;
  put_fields(&bytes, all.root);
  ctx_init(&ctx);
  ctx.limits[LIMIT_value_bytes] = 16 << 20;
  ctx.limits[LIMIT_total_value_bytes] = 64 << 20;
  ctx.limits[LIMIT_fold_bytes] = 1 << 20;
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  hone_status status = import_bytes(&ctx, arena, bytes.at ? bytes.at : (const uint8_t *)"", bytes.n,
                                    NULL, &file, &graph);
  all.attempts++;
  all.refused += status != HONE_OK;
  bool sound = status >= HONE_OK && status < HONE_STATUS_COUNT && status != HONE_E_INTERNAL &&
               (status ? strlen(ctx.message) >= 20 && has_place(ctx.message) : !must_be) &&
               (status != HONE_E_LIMIT || *ctx_hint(&ctx));
  if (!sound)
    print_error("%s, %s, %s: %s\n", all.path, key, what, status ? ctx.message : "was read");
  assert_true(sound);
  if (!status) model_file_close(&file);
  arena_destroy(arena);
  free(bytes.at);
}

/* -- what is done to a field */

static void with_number(struct field *f, uint64_t x, const char *key) {
  uint64_t before = f->value;
  char what[64];
  snprintf(what, sizeof what, "is %lld", (long long)x);
  f->value = x;
  if (x != before) attempt(key, what, false);
  f->value = before;
}

static void with_bytes(struct field *f, const void *bytes, size_t n, const char *key,
                       const char *what, bool must_be) {
  struct field before = *f;
  f->inside = NULL;
  f->at = bytes;
  f->n = n;
  f->wire = BYTES;
  attempt(key, what, must_be);
  *f = before;
}

static void damage_number(enum kind kind, struct field *f, const char *key) {
  static const int64_t numbers[] = {0,  1,  2,         3,         5,         7,        16,
                                    -1, -2, INT32_MAX, INT64_MAX, INT64_MIN, 1LL << 40};
  bool is_type = (kind == TENSOR && f->number == 2) || (kind == TENSOR_TYPE && f->number == 1);
  for (size_t i = 0; i < COUNT(numbers); i++) with_number(f, (uint64_t)numbers[i], key);
  with_number(f, f->value + 1, key);
  with_number(f, f->value - 1, key);
  for (uint64_t x = 4; x < 27 && (is_type || kind == OPSET); x++) with_number(f, x, key);
}

static void damage_bytes(enum kind kind, struct field *f, const char *key) {
  static const char nobody[] = "nobody", not_text[] = "\xff\xfe\x80";
  /* functions are only where they are called */
  bool is_read = kind == NODE && strstr(key, "|.7#0.");
  bool is_input = is_read && f->number == 1;
  with_bytes(f, "", 0, key, "is empty", is_read && f->number == OP_TYPE);
  with_bytes(f, nobody, 6, key, "is another", is_input);
  with_bytes(f, not_text, 3, key, "is no text", false);
  if (f->n > 1) with_bytes(f, f->at, f->n - 1, key, "is cut", false);
  if (kind != TENSOR || f->number != 9 || !f->n || f->n > 4096) return;
  uint8_t *other = take(f->n + 1, 1);
  static const uint8_t fills[] = {0, 1, 0x7f, 0x80, 0xff};
  for (size_t i = 0; i < COUNT(fills); i++) {
    memset(other, fills[i], f->n);
    with_bytes(f, other, f->n, key, "holds others", false);
  }
  with_bytes(f, other, f->n + 1, key, "is longer", true);
}

static void damage_float(struct field *f, const char *key) {
  static const float numbers[] = {0, -1, 1e30f, -1e-30f, INFINITY, NAN, 2.5f};
  struct field before = *f;
  for (size_t i = 0; i < COUNT(numbers); i++) {
    f->at = (const uint8_t *)&numbers[i];
    attempt(key, "is another number", false);
  }
  *f = before;
}

static void damage_field(enum kind kind, struct field *f, const char *key) {
  struct field before = *f;
  bool is_needed = (kind == MODEL && f->number == 7) ||
                   (kind == NODE && f->number == OP_TYPE && strstr(key, "|.7#0."));
  f->wire = GONE;
  attempt(key, "is left out", is_needed);
  *f = before;
  f->is_twice = true;
  attempt(key, "is there twice", false);
  *f = before;
  f->wire = f->wire == VARINT ? BYTES : VARINT;
  f->inside = NULL;
  attempt(key, "is of another type", false);
  *f = before;
  if (f->wire == VARINT)
    damage_number(kind, f, key);
  else if (f->wire == FIXED32)
    damage_float(f, key);
  else if (f->wire == BYTES && !f->inside)
    damage_bytes(kind, f, key);
  else if (f->wire == BYTES) {
    with_bytes(f, "", 0, key, "is an empty message", false);
    if (f->n) with_bytes(f, f->at, f->n - 1, key, "is a message cut off", false);
  }
}

/* -- inputs and constants */

/* Element type and sizes of a value that is a tensor of few elements; false: something else. */
static bool tensor_of(const struct message *value, int *dtype, int64_t *dims, size_t *rank) {
  const struct field *type = find(value, 2), *tensor, *element, *shape;
  int64_t elements = 1;
  if (!type || !type->inside || !(tensor = find(type->inside, 1)) || !tensor->inside) return false;
  if (!(element = find(tensor->inside, 1)) || !(shape = find(tensor->inside, 2))) return false;
  *dtype = (int)element->value;
  *rank = 0;
  for (size_t i = 0; i < shape->inside->count; i++) {
    const struct field *size = find(shape->inside->fields[i].inside, 1);
    if (!size || size->value > 4096 || *rank == HONE_MAX_RANK) return false;
    dims[(*rank)++] = (int64_t)size->value;
    elements *= (int64_t)size->value;
    if (elements > 4096) return false;
  }
  return dtype_bits((hone_dtype)*dtype) > 0 && dtype_bits((hone_dtype)*dtype) <= 64;
}

static void with_message(struct field *f, uint32_t number, struct buf *bytes, const char *key,
                         const char *what) {
  struct field before = *f;
  f->number = number;
  with_bytes(f, bytes->at, bytes->n, key, what, false);
  *f = before;
  free(bytes->at);
}

/* Graph input f is a constant of one byte over and over. */
static void input_as_constant(struct field *f, const char *key) {
  static const uint8_t fills[] = {0, 1, 0xff};
  int dtype;
  int64_t dims[HONE_MAX_RANK];
  size_t rank;
  char name[200];
  if (!tensor_of(f->inside, &dtype, dims, &rank)) return;
  text_of(f->inside, 1, name, sizeof name);
  for (size_t i = 0; i < COUNT(fills); i++) {
    struct buf tensor = tensor_head(name, dtype, dims, rank);
    size_t elements = 1;
    for (size_t d = 0; d < rank; d++) elements *= (size_t)dims[d];
    size_t n = (elements * dtype_bits((hone_dtype)dtype) + 7) / 8;
    uint8_t *bytes = take(n, 1);
    memset(bytes, dtype == HONE_BOOL ? fills[i] & 1 : fills[i], n);
    put_bytes(&tensor, 9, bytes, n);
    with_message(f, 5, &tensor, key, "is a constant");
  }
}

/* Initializer f is an input of the model. */
static void constant_as_input(struct field *f, const char *key) {
  char name[200], dims[300] = "";
  const struct field *type = find(f->inside, 2);
  text_of(f->inside, NAME_OF_TENSOR, name, sizeof name);
  for (size_t i = 0; i < f->inside->count; i++)
    if (f->inside->fields[i].number == 1 && f->inside->fields[i].wire == VARINT)
      snprintf(dims + strlen(dims), sizeof dims - strlen(dims), "%s%lld", *dims ? "," : "",
               (long long)f->inside->fields[i].value);
  struct buf value = value_info(name, type ? (int)type->value : 1, dims);
  with_message(f, 11, &value, key, "is an input");
}

/* -- the walk */

static bool is_new(const char *key) {
  uint64_t x = 1469598103934665603u;
  for (const char *p = key; *p; p++) x = (x ^ (uint8_t)*p) * 1099511628211u;
  x += !x;
  size_t at = (size_t)(x % KEYS);
  while (all.keys[at] && all.keys[at] != x) at = (at + 1) % KEYS;
  if (all.keys[at]) return false;
  all.keys[at] = x;
  assert_true(++all.key_count < KEYS / 2);
  return true;
}

/* path: the operator and the fields above. */
static void walk(struct message *m, const char *op, const char *path) {
  char own[128] = "", key[600], name[100];
  if (m->kind == NODE) text_of(m, OP_TYPE, own, sizeof own), op = own;
  for (size_t i = 0; i < m->count; i++) {
    struct field *f = &m->fields[i];
    size_t ordinal = 0;
    for (size_t k = 0; k < i; k++) ordinal += m->fields[k].number == f->number;
    if (f->inside && f->inside->kind == ATTRIBUTE) {
      text_of(f->inside, 1, name, sizeof name);
      snprintf(key, sizeof key, "%s.%s", path, name);
    } else if (f->inside && f->inside->kind == NODE) {
      snprintf(key, sizeof key, "%s.%u", path, f->number);
    } else {
      snprintf(key, sizeof key, "%s.%u#%zu", path, f->number, ordinal);
    }
    char full[800];
    snprintf(full, sizeof full, "%s|%s", op, key);
    bool is_long = !f->inside && ordinal >= MOST_OF_A_LIST; /* one number of many */
    if (!is_long && (is_new(full) || (f->inside && f->inside->kind == NODE)))
      damage_field(m->kind, f, full);
    if (!f->inside) continue;
    snprintf(full, sizeof full, "%s|%s as", op, key);
    if (m->kind == GRAPH && f->number == 11 && is_new(full)) input_as_constant(f, full);
    if (m->kind == GRAPH && f->number == 5 && is_new(full)) constant_as_input(f, full);
    walk(f->inside, op, key);
  }
}

static void damage_model(const char *name, const uint8_t *bytes, size_t n) {
  char op[128] = "";
  ctx_init(&all.ctx);
  assert_int_equal(arena_create(&all.ctx, 0, &all.arena), HONE_OK);
  all.path = name;
  all.root = parse(MODEL, bytes, n);
  const struct field *graph = find(all.root, 7), *node = graph ? find(graph->inside, 1) : NULL;
  if (node) text_of(node->inside, OP_TYPE, op, sizeof op);
  attempt("", "as it is", false);
  walk(all.root, op, "");
  arena_destroy(all.arena);
}

static void damage_file(const char *path) {
  struct ctx ctx;
  struct mapping map;
  ctx_init(&ctx);
  assert_int_equal(file_map(&ctx, path, &map), HONE_OK);
  damage_model(path, map.data, map.size);
  file_unmap(&map);
}

/* All that a file may hold in one model; every field of it, wherever it was seen before. */
static void everything_damaged(void **state) {
  struct buf model = whole_model();
  struct loaded l;
  (void)state;
  damage_model("whole", model.at, model.n);
  l = load(&model, NULL);
  assert_ok(&l);
  assert_int_equal(l.graph->outputs.count, 14);
  unload(&l);
}

static void every_field_damaged(void **state) {
  const char *own = getenv("HONE_CASES");
  glob_t found;
  (void)state;
  assert_int_equal(glob(own ? own : "tests/cases/import/upgrade/*.onnx", 0, NULL, &found), 0);
  for (size_t i = 0; i < found.gl_pathc; i++) damage_file(found.gl_pathv[i]);
  print_message("%zu models, %zu fields, %zu attempts, %zu refused\n", found.gl_pathc,
                all.key_count, all.attempts, all.refused);
  globfree(&found);
  assert_true(all.refused > all.attempts / 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(everything_damaged),
                                     cmocka_unit_test(every_field_damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
