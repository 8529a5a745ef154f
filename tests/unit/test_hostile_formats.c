/* Invalid TFLite files: rows 40 to 47 of the catalogue of bad inputs one by one; small models of
 * every binary format damaged at every byte. The writer below is independent of the reader. */
#include "import_case.h"

#include <glob.h>

/* -- a FlatBuffer, parents before children */

static void align_to(struct buf *b, size_t n, size_t rest) {
  while (b->n % n != rest) put_raw(b, "", 1);
}

static void set_u32(struct buf *b, size_t at, uint32_t x) { memcpy(b->at + at, &x, 4); }

static uint32_t get_u32(const struct buf *b, size_t at) {
  uint32_t x;
  memcpy(&x, b->at + at, 4);
  return x;
}

enum { FIELDS = 16 };
struct made {
  size_t at, vtable, field[FIELDS];
};

/* A table whose fields are eight bytes each; `mask`: the fields that exist. */
static struct made put_table(struct buf *b, unsigned mask) {
  struct made t = {0};
  uint16_t slots[FIELDS + 2] = {2 * (FIELDS + 2), 0};
  uint16_t place = 8;
  align_to(b, 8, 4);
  t.vtable = b->n;
  t.at = t.vtable + sizeof slots;
  align_to(b, 8, 4);
  for (int i = 0; i < FIELDS; i++)
    if (mask >> i & 1) slots[2 + i] = place, place = (uint16_t)(place + 8);
  slots[1] = place;
  put_raw(b, slots, sizeof slots);
  while (b->n % 8) put_raw(b, "", 1);
  t.at = b->n;
  put_raw(b, &(int32_t){(int32_t)(t.at - t.vtable)}, 4);
  while (b->n < t.at + place) put_raw(b, "", 1);
  for (int i = 0; i < FIELDS; i++)
    if (slots[2 + i]) t.field[i] = t.at + slots[2 + i];
  return t;
}

static void link_to(struct buf *b, size_t from, size_t to) {
  set_u32(b, from, (uint32_t)(to - from));
}

/* Appends a vector of 4-byte elements, linked from `from`; the offset of its first element. */
static size_t put_vector(struct buf *b, size_t from, const int32_t *x, size_t count) {
  align_to(b, 8, 4);
  link_to(b, from, b->n);
  put_raw(b, &(uint32_t){(uint32_t)count}, 4);
  for (size_t i = 0; i < count; i++) put_raw(b, x ? (const void *)&x[i] : "\0\0\0", 4);
  return b->n - 4 * count;
}

static void put_string(struct buf *b, size_t from, const char *s) {
  align_to(b, 8, 4);
  link_to(b, from, b->n);
  put_raw(b, &(uint32_t){(uint32_t)strlen(s)}, 4);
  put_raw(b, s, strlen(s) + 1);
}

/* -- one operator with up to four operands */

struct operand {
  const char *name;
  int rank;
  int32_t dims[8];
  int type;
  const void *data;
  size_t bytes;
};
struct sample {
  struct buf b;
  struct made model, graph, opcode, operator, tensors[6], buffers[6], options;
  size_t inputs, outputs, graph_inputs, graph_outputs; /* first elements */
};

static void put_tensor(struct sample *s, int i, size_t link, const struct operand *o) {
  s->tensors[i] = put_table(&s->b, 1u << 0 | 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4);
  link_to(&s->b, link, s->tensors[i].at);
  put_vector(&s->b, s->tensors[i].field[0], o->dims, (size_t)o->rank);
  s->b.at[s->tensors[i].field[1]] = (uint8_t)o->type;
  set_u32(&s->b, s->tensors[i].field[2], (uint32_t)(o->data ? i + 1 : 0));
  put_string(&s->b, s->tensors[i].field[3], o->name);
  struct made quantisation = put_table(&s->b, 0);
  link_to(&s->b, s->tensors[i].field[4], quantisation.at);
}

/* y = OPERATOR(operands); the operands without data are inputs. */
static struct sample make_sample(int code, const struct operand *operands, int count,
                                 const struct operand *y, unsigned options) {
  struct sample s = {0};
  int32_t in[6], model_in[6];
  size_t model_inputs = 0;
  put_raw(&s.b, "\0\0\0\0TFL3", 8);
  s.model = put_table(&s.b, 1u | 2u | 4u | 16u | 64u);
  link_to(&s.b, 0, s.model.at);
  set_u32(&s.b, s.model.field[0], 3);
  size_t link = put_vector(&s.b, s.model.field[1], NULL, 1);
  s.opcode = put_table(&s.b, 1u | 2u | 8u);
  link_to(&s.b, link, s.opcode.at);
  put_string(&s.b, s.opcode.field[1], "FancyOp");
  set_u32(&s.b, s.opcode.field[3], (uint32_t)code);
  link = put_vector(&s.b, s.model.field[2], NULL, 1);
  s.graph = put_table(&s.b, 1u | 2u | 4u | 8u);
  link_to(&s.b, link, s.graph.at);
  size_t tensors = put_vector(&s.b, s.graph.field[0], NULL, (size_t)count + 1);
  for (int i = 0; i <= count; i++)
    put_tensor(&s, i, tensors + 4 * (size_t)i, i < count ? &operands[i] : y);
  for (int i = 0; i < count; i++) {
    in[i] = i;
    if (!operands[i].data) model_in[model_inputs++] = i;
  }
  s.graph_inputs = put_vector(&s.b, s.graph.field[1], model_in, model_inputs);
  s.graph_outputs = put_vector(&s.b, s.graph.field[2], &(int32_t){count}, 1);
  link = put_vector(&s.b, s.graph.field[3], NULL, 1);
  s.operator= put_table(&s.b, 1u | 2u | 4u | 8u | 16u);
  link_to(&s.b, link, s.operator.at);
  s.inputs = put_vector(&s.b, s.operator.field[1], in, (size_t)count);
  s.outputs = put_vector(&s.b, s.operator.field[2], &(int32_t){count}, 1);
  s.options = put_table(&s.b, options);
  link_to(&s.b, s.operator.field[4], s.options.at);
  size_t buffers = put_vector(&s.b, s.model.field[4], NULL, 6);
  for (int i = 0; i < 6; i++) {
    s.buffers[i] = put_table(&s.b, 1u | 2u | 4u);
    link_to(&s.b, buffers + 4 * (size_t)i, s.buffers[i].at);
    bool has_data = i > 0 && i <= count && operands[i - 1].data;
    align_to(&s.b, 8, 4);
    link_to(&s.b, s.buffers[i].field[0], s.b.n);
    uint32_t bytes = has_data ? (uint32_t)operands[i - 1].bytes : 0;
    put_raw(&s.b, &bytes, 4);
    if (has_data) put_raw(&s.b, operands[i - 1].data, bytes);
  }
  link = put_vector(&s.b, s.model.field[6], NULL, 1);
  struct made metadata = put_table(&s.b, 2u);
  link_to(&s.b, link, metadata.at);
  align_to(&s.b, 8, 0);
  return s;
}

enum {
  F32 = 0,
  I32 = 2,
  ADD = 0,
  CONV_2D = 3,
  FULLY_CONNECTED = 9,
  RESHAPE = 22,
  STRIDED_SLICE = 45
};
static const struct operand x23 = {"x", 2, {2, 3}, F32, NULL, 0},
                            y23 = {"y", 2, {2, 3}, F32, NULL, 0};

static struct sample add_sample(void) {
  const struct operand operands[] = {x23, {"z", 2, {2, 3}, F32, NULL, 0}};
  return make_sample(ADD, operands, 2, &y23, 1);
}

static void the_sample_is_right(void **state) {
  (void)state;
  struct sample s = add_sample();
  struct loaded l = load(&s.b, NULL);
  assert_ok(&l);
  assert_int_equal(l.graph->nodes.count, 1);
  assert_string_equal(l.graph->nodes.at[0]->op->name, "Add");
  assert_string_equal(l.graph->outputs.at[0]->name, "y");
  unload(&l);
}

/* Row 40: a u32 of the sample replaced. */
static void row_40_offsets(void **state) {
  (void)state;
  for (int i = 0; i < 8; i++) {
    struct sample s = add_sample();
    size_t vector = s.graph.field[0] + get_u32(&s.b, s.graph.field[0]);
    const char *says = NULL;
    switch (i) {
      case 0:
        set_u32(&s.b, 0, (uint32_t)s.b.n + 4), says = "outside";
        break;
      case 1:
        set_u32(&s.b, s.model.at, (uint32_t)-0x7fffffff), says = "vtable";
        break;
      case 2: /* the table is its own vtable */
        set_u32(&s.b, s.graph.at, 0), says = "vtable";
        break;
      case 3:
        set_u32(&s.b, s.graph.field[0], get_u32(&s.b, s.graph.field[0]) + 1), says = "misaligned";
        break;
      case 4:
        set_u32(&s.b, vector, 1u << 30), says = "outside";
        break;
      case 5:
        set_u32(&s.b, vector, UINT32_MAX), says = "outside";
        break;
      case 6:
        set_u32(&s.b, s.graph.field[3], 0), says = "outside";
        break;
      default: /* a field beyond its table */
        s.b.at[s.model.vtable + 4] = 0xf0, says = "outside";
    }
    expect(&s.b, NULL, HONE_E_FORMAT, says);
  }
}

/* Rows 41 and 43: indices of tensors, graphs without anything. */
static void row_41_tensor_indices(void **state) {
  (void)state;
  static const int32_t wrong[] = {-1, 3, INT32_MIN, INT32_MAX, -2};
  for (size_t i = 0; i < COUNT(wrong); i++)
    for (int where = 0; where < 4; where++) {
      struct sample s = add_sample();
      size_t at[] = {s.inputs, s.outputs, s.graph_inputs, s.graph_outputs};
      set_u32(&s.b, at[where], (uint32_t)wrong[i]);
      expect(&s.b, NULL, HONE_E_FORMAT, NULL);
    }
  struct sample s = add_sample();
  set_u32(&s.b, s.model.field[2] + get_u32(&s.b, s.model.field[2]), 0);
  expect(&s.b, NULL, HONE_E_FORMAT, "without a graph");
  s = add_sample();
  set_u32(&s.b, s.operator.field[0], 7);
  expect(&s.b, NULL, HONE_E_FORMAT, "operator code 7 of 1");
  s = add_sample();
  set_u32(&s.b, s.inputs, 2); /* reads what it makes */
  expect(&s.b, NULL, HONE_E_FORMAT, "nothing defines");
}

/* Row 42: buffers. */
static void row_42_buffers(void **state) {
  (void)state;
  static const float data[6];
  const struct operand operands[] = {x23, {"z", 2, {2, 3}, F32, data, sizeof data}};
  for (int i = 0; i < 5; i++) {
    struct sample s = make_sample(ADD, operands, 2, &y23, 1);
    uint64_t offset = UINT64_MAX - 7, size = 32;
    const char *says = NULL;
    if (i == 0) set_u32(&s.b, s.tensors[1].field[2], 99), says = "buffer 99 of 6";
    if (i == 1 || i == 2) {
      if (i == 2) offset = INT64_MAX - 8;
      memcpy(s.b.at + s.buffers[2].field[1], &offset, 8);
      memcpy(s.b.at + s.buffers[2].field[2], &size, 8);
      says = i == 1 ? "too large" : "outside";
    }
    if (i == 3) {
      size_t metadata = s.model.field[6] + get_u32(&s.b, s.model.field[6]) + 4;
      metadata += get_u32(&s.b, metadata);
      set_u32(&s.b, metadata + 8, 77), says = "metadata in buffer 77";
    }
    if (i == 4) {
      size_t bytes = s.buffers[2].field[0] + get_u32(&s.b, s.buffers[2].field[0]);
      set_u32(&s.b, bytes, 20), says = "the shape needs 24 bytes, the buffer has 20";
    }
    expect(&s.b, NULL, HONE_E_FORMAT, says);
  }
}

/* Row 44: a million tensors that are one table. */
static void row_44_shared_tables(void **state) {
  (void)state;
  enum { MANY = 1 << 20 };
  struct sample s = add_sample();
  int32_t *links;
  links = calloc(MANY, 4);
  assert_non_null(links);
  size_t at = put_vector(&s.b, s.graph.field[0], links, MANY);
  free(links);
  struct made child = put_table(&s.b, 0);
  for (size_t i = 0; i < MANY; i++) link_to(&s.b, at + 4 * i, child.at);
  struct made tail[2];
  for (int i = 0; i < 2; i++) tail[i] = put_table(&s.b, 0);
  (void)tail;
  struct loaded l = load(&s.b, NULL); /* as many links as tables could be: it may go on */
  assert_true(l.status == HONE_E_LIMIT || l.status == HONE_E_FORMAT);
  unload(&l);
}

/* Row 45 and 46: shapes and slices that do not fit. */
static void row_45_shapes(void **state) {
  (void)state;
  static const float data[12];
  const struct operand dense[] = {x23, {"w", 2, {4, 0}, F32, data, 0}};
  struct sample s = make_sample(FULLY_CONNECTED, dense, 2, &y23, 1);
  expect(&s.b, NULL, HONE_E_FORMAT, "nothing defines"); /* no data, no operator: no weights */
  const struct operand narrow[] = {x23, {"w", 2, {3, 4}, F32, data, 48}};
  s = make_sample(FULLY_CONNECTED, narrow, 2, &y23, 1);
  expect(&s.b, NULL, HONE_E_SHAPE, "expect 4 elements a row");
  static const int32_t huge[] = {1 << 30, 1 << 30, 1 << 30};
  const struct operand shape[] = {x23, {"s", 1, {3}, I32, huge, 12}};
  s = make_sample(RESHAPE, shape, 2, &y23, 1);
  struct loaded l = load(&s.b, NULL);
  assert_true(l.status == HONE_E_SHAPE || l.status == HONE_E_LIMIT);
  unload(&l);
  const struct operand image = {"x", 4, {1, 4, 4, 1}, F32, NULL, 0};
  const struct operand conv[] = {image, {"w", 4, {1, 3, 3, 1}, F32, data, 36}};
  s = make_sample(CONV_2D, conv, 2, &image, 63); /* all options 0: strides too */
  expect(&s.b, NULL, HONE_E_SHAPE, "stride 0");
}

static void row_46_strided_slice(void **state) {
  (void)state;
  static const int32_t begin[] = {0, 5}, end[] = {2, 9}, zero[] = {1, 0}, one[] = {1, 1};
  struct operand operands[] = {
      x23, {"b", 1, {2}, I32, begin, 8}, {"e", 1, {2}, I32, end, 8}, {"s", 1, {2}, I32, zero, 8}};
  const struct operand empty = {"y", 2, {2, 0}, F32, NULL, 0};
  struct sample s = make_sample(STRIDED_SLICE, operands, 4, &empty, 63);
  expect(&s.b, NULL, HONE_E_SHAPE, "stride 0");
  operands[3].data = one;
  s = make_sample(STRIDED_SLICE, operands, 4, &empty, 63);
  struct loaded l = load(&s.b, NULL); /* begins past the end: nothing */
  assert_ok(&l);
  assert_int_equal(l.graph->outputs.at[0]->shape.dims[1], 0);
  unload(&l);
  s = make_sample(STRIDED_SLICE, operands, 4, &empty, 63);
  set_u32(&s.b, s.options.field[2], 3);
  expect(&s.b, NULL, HONE_E_SHAPE, "two ellipses");
  s = make_sample(STRIDED_SLICE, operands, 4, &empty, 63);
  set_u32(&s.b, s.options.field[4], 2); /* shrink an axis at 5 of 3 */
  expect(&s.b, NULL, HONE_E_SHAPE, "element 5 of 3");
  /* an ellipsis of no entry of the lists is none: the last axis is taken whole */
  const struct operand deep = {"x", 3, {2, 9, 4}, F32, NULL, 0},
                       y = {"y", 3, {1, 4, 4}, F32, NULL, 0};
  operands[0] = deep;
  s = make_sample(STRIDED_SLICE, operands, 4, &y, 63);
  set_u32(&s.b, s.options.field[2], 32);
  l = load(&s.b, NULL);
  assert_ok(&l);
  assert_int_equal(l.graph->outputs.at[0]->shape.dims[2], 4);
  unload(&l);
}

/* Lists of 64 bits whose ends cannot be counted with. */
static void numbers_without_room(void **state) {
  enum { SLICE = 65, TRANSPOSE_CONV = 67, CONV_3D_TRANSPOSE = 141, I64 = 4 };
  static const int64_t least[] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN},
                       most[] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX},
                       one[] = {1, 1}, ends[] = {INT64_MAX, 2};
  static const float data[8];
  const struct operand sliced[] = {x23, {"b", 1, {2}, I64, least, 16}, {"s", 1, {2}, I64, one, 16}};
  struct sample s = make_sample(SLICE, sliced, 3, &y23, 0);
  (void)state;
  expect(&s.b, NULL, HONE_E_SHAPE, "SLICE takes 1 from");
  const struct operand strided[] = {
      x23, {"b", 1, {2}, I64, one, 16}, {"e", 1, {2}, I64, ends, 16}, {"s", 1, {2}, I64, one, 16}};
  s = make_sample(STRIDED_SLICE, strided, 4, &y23, 63);
  s.b.at[s.options.field[5]] = 1; /* ends count from begins */
  expect(&s.b, NULL, HONE_E_UNSUP, "with these offsets");
  for (int i = 0; i < 4; i++) {
    const int is_3d = i / 2, rank = 4 + is_3d;
    const struct operand turned[] = {
        {"o", 1, {rank}, I64, i % 2 ? most : least, 8 * (size_t)rank},
        {"w", rank, {1, 2, 2, is_3d ? 2 : 1, 1}, F32, data, is_3d ? 32 : 16},
        {"x", rank, {1, i % 2 ? 0 : 2, 2, is_3d ? 2 : 1, 1}, F32, NULL, 0}};
    s = make_sample(is_3d ? CONV_3D_TRANSPOSE : TRANSPOSE_CONV, turned, 3, &turned[2], 0xff);
    for (unsigned k = 1; k < 8; k++) set_u32(&s.b, s.options.field[k], INT32_MAX);
    set_u32(&s.b, s.options.field[is_3d ? 4 : 3], 0);
    expect(&s.b, NULL, HONE_E_SHAPE, "TRANSPOSE");
  }
}

/* Row 47: what hone does not know is named. */
static void row_47_operators(void **state) {
  (void)state;
  struct sample s = add_sample();
  set_u32(&s.b, s.opcode.field[3], 32);
  expect(&s.b, NULL, HONE_E_UNSUP, "custom operator \"FancyOp\"");
  s = add_sample();
  set_u32(&s.b, s.opcode.field[3], 199);
  expect(&s.b, NULL, HONE_E_UNSUP, "TFLite operator STABLEHLO");
  s = add_sample();
  set_u32(&s.b, s.opcode.field[3], 5000);
  expect(&s.b, NULL, HONE_E_UNSUP, "TFLite operator 5000");
  s = add_sample();
  set_u32(&s.b, s.model.field[0], 2);
  expect(&s.b, NULL, HONE_E_UNSUP, "schema version 2");
}

/* Content after the FlatBuffer, as in files above 2 GiB. */
static void content_behind_the_tables(void **state) {
  (void)state;
  static const float data[6] = {1, 2, 3, 4, 5, 6};
  const struct operand operands[] = {x23, {"z", 2, {2, 3}, F32, data, sizeof data}};
  struct sample s = make_sample(ADD, operands, 2, &y23, 1);
  while (s.b.n % 16) put_raw(&s.b, "", 1);
  uint64_t offset = s.b.n, size = sizeof data;
  put_raw(&s.b, data, sizeof data);
  memcpy(s.b.at + s.buffers[2].field[1], &offset, 8);
  memcpy(s.b.at + s.buffers[2].field[2], &size, 8);
  struct loaded l = load(&s.b, NULL);
  assert_ok(&l);
  assert_memory_equal(l.graph->nodes.at[0]->inputs[1]->constant->data, data, sizeof data);
  unload(&l);
}

/* tests/cases/tflite-wrong (make_tflite_wrong_cases.py): a name, the error id and what the message holds. */
static void models_that_are_refused(void **state) {
  char line[300], name[100], id[20], says[120], path[400];
  const int most = getenv("HONE_TEST_FULL") ? 20000 : 50; /* allocations */
  size_t count = 0, wrong = 0;
  FILE *list = fopen("tests/cases/tflite-wrong/expected.txt", "r");
  (void)state;
  assert_non_null(list);
  while (fgets(line, sizeof line, list)) {
    struct ctx ctx;
    struct mapping map;
    struct buf bytes = {0};
    says[0] = 0;
    assert_true(sscanf(line, "%99[^\t]\t%19[^\t]\t%119[^\n]", name, id, says) >= 2);
    snprintf(path, sizeof path, "tests/cases/tflite-wrong/%s.tflite", name);
    ctx_init(&ctx);
    assert_int_equal(file_map(&ctx, path, &map), HONE_OK);
    put_raw(&bytes, map.data, map.size);
    file_unmap(&map);
    struct loaded l = load(
        &bytes, &(struct import_options){.signature = strstr(name, "signature") ? "run" : NULL});
    bool is_right =
        l.status && strstr(hone_status_name(l.status), id) && strstr(l.ctx.message, says);
    if (!is_right) print_error("%s: %s\n", name, l.status ? l.ctx.message : "was read");
    wrong += !is_right;
    refuse_allocations(NULL, &l.bytes, &l.options, most, l.status);
    unload(&l);
    count++;
  }
  fclose(list);
  assert_int_equal(wrong, 0);
  assert_true(count > 50);
}

/* -- every byte of small real models */

static void damage(const uint8_t *bytes, size_t n) {
  struct buf copy = {0};
  put_raw(&copy, bytes, n);
  struct loaded l = load(&copy, NULL);
  assert_true(l.status >= HONE_OK && l.status < HONE_STATUS_COUNT);
  if (l.status == HONE_E_INTERNAL) print_error("%s\n", l.ctx.message);
  assert_int_not_equal(l.status, HONE_E_INTERNAL);
  unload(&l);
}

/* Each byte; `make test`: each `step`-th from `first` on. */
static void damage_file(const char *path, size_t first, size_t step) {
  struct ctx ctx;
  struct mapping map;
  ctx_init(&ctx);
  assert_int_equal(file_map(&ctx, path, &map), HONE_OK);
  uint8_t *bytes = malloc(map.size + 4);
  assert_non_null(bytes);
  memcpy(bytes, map.data, map.size);
  for (size_t n = first; n < map.size; n += step) damage(bytes, n);
  static const uint8_t replacements[] = {0, 1, 0x7f, 0x80, 0xff};
  for (size_t i = first; i < map.size; i += step) {
    for (size_t r = 0; r < COUNT(replacements); r++) {
      bytes[i] = replacements[r];
      damage(bytes, map.size);
    }
    bytes[i] = map.data[i];
  }
  static const uint32_t words[] = {0, INT32_MAX, 0x80000000, UINT32_MAX, 1u << 30};
  for (size_t i = 4 * first; i + 4 <= map.size; i += 4 * step) {
    for (size_t w = 0; w < COUNT(words); w++) {
      memcpy(bytes + i, &words[w], 4);
      damage(bytes, map.size);
    }
    memcpy(bytes + i, map.data + i, 4);
  }
  free(bytes);
  file_unmap(&map);
}

static void every_byte_replaced(void **state) {
  (void)state;
  static const char *const files[] = {
      "tflite/conv-int8-same.tflite",    "tflite/strided-slice-new.tflite",
      "tflite/split-pack.tflite",        "tflite/softmax-int8-0.05.tflite",
      "tflite/resize-uint8-00-3.tflite", "pt2/small.pt2"};
  const size_t step = getenv("HONE_TEST_FULL") ? 1 : 4;
  for (size_t i = 0; i < COUNT(files); i++) {
    char path[256];
    snprintf(path, sizeof path, "tests/cases/%s", files[i]);
    damage_file(path, i % step, step);
  }
}

/* Complete inputs that once broke a fuzz target. */
static void found_by_fuzzing(void **state) {
  glob_t found;
  (void)state;
  assert_int_equal(glob("tests/cases/fuzz/*", 0, NULL, &found), 0);
  for (size_t i = 0; i < found.gl_pathc; i++) {
    struct ctx ctx;
    struct mapping map;
    ctx_init(&ctx);
    assert_int_equal(file_map(&ctx, found.gl_pathv[i], &map), HONE_OK);
    damage(map.data, map.size);
    file_unmap(&map);
  }
  globfree(&found);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_sample_is_right),     cmocka_unit_test(row_40_offsets),
      cmocka_unit_test(row_41_tensor_indices),   cmocka_unit_test(row_42_buffers),
      cmocka_unit_test(row_44_shared_tables),    cmocka_unit_test(row_45_shapes),
      cmocka_unit_test(row_46_strided_slice),    cmocka_unit_test(numbers_without_room),
      cmocka_unit_test(row_47_operators),        cmocka_unit_test(content_behind_the_tables),
      cmocka_unit_test(models_that_are_refused), cmocka_unit_test(every_byte_replaced),
      cmocka_unit_test(found_by_fuzzing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
