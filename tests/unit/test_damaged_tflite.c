/* Every TFLite model of tests/cases with damaged content: operands omitted or fewer, options with
 * other numbers, tensors of other types, shapes, scales and contents; fields, tables and vectors at
 * wrong offsets. A refusal names its place and is never an internal error. A missing required
 * operand is always refused. No memory is leaked or read out of bounds. An operator is damaged
 * once: it is skipped where an earlier model had it on operands of the same types, ranks and
 * producers. The walker below implements FlatBuffers from their specification and shares no code
 * with src/compiler/import. */
#include "import_case.h"

#include <glob.h>

enum {
  GRAPHS = 2,
  TENSORS = 0,
  OPERATORS = 3,
  INPUTS = 1,
  OUTPUTS = 2,
  OPTIONS = 4,
  CUSTOM = 5,
  BETWEEN = 8,
  NEWER_OPTIONS = 12
};
enum {
  SHAPE = 0,
  TYPE = 1,
  BUFFER = 2,
  QUANTISATION = 4,
  SCALES = 2,
  ZERO_POINTS = 3,
  BUFFERS = 4
};
enum { CODES = 1, OPCODE = 0, OLD_CODE = 0, CODE = 3, VARIABLE = 5, SPARSITY = 6 };
enum {
  LONGEST_CONTENT = 64,
  MOST_KINDS = 4096,
  MOST_TENSORS = 512,
  MOST_ITEMS = 64,
  MOST_FIELDS = 16
};

static struct {
  uint8_t *at;
  size_t n;
  const char *path;
  const char *signature; /* that is asked for; NULL: none */
  bool is_called;        /* a graph that others call: it is read only where it is taken */
  size_t attempts, refused, without_place;
} file;

static struct {
  char *kinds[MOST_KINDS]; /* operators on their operands */
  size_t kind_count;
} seen;

static uint32_t u32(size_t at) {
  uint32_t x;
  assert_true(at + 4 <= file.n);
  memcpy(&x, file.at + at, 4);
  return x;
}
static uint16_t u16(size_t at) {
  uint16_t x;
  assert_true(at + 2 <= file.n);
  memcpy(&x, file.at + at, 2);
  return x;
}
/* The offset of field k of a table; 0: absent. */
static size_t field(size_t table, unsigned k) {
  size_t vtable = (size_t)((int64_t)table - (int32_t)u32(table));
  if (4 + 2 * k >= u16(vtable)) return 0;
  size_t offset = u16(vtable + 4 + 2 * k);
  return offset ? table + offset : 0;
}
/* The table or vector that field k links to. */
static size_t child(size_t table, unsigned k) {
  size_t at = field(table, k);
  return at ? at + u32(at) : 0;
}
static size_t item(size_t vector, size_t k) {
  size_t at = vector + 4 + 4 * k;
  return at + u32(at);
}
static size_t length(size_t vector) { return vector ? u32(vector) : 0; }

static bool is_refused(bool must_be, const char *what) {
  struct buf copy = {0};
  put_raw(&copy, file.at, file.n);
  const struct import_options options = {.signature = file.signature};
  struct loaded l = load(&copy, &options);
  bool refused = l.status != HONE_OK;
  must_be &= !file.is_called;
  file.attempts++;
  file.refused += refused;
  if (refused && !strstr(l.ctx.message, " at "))
    file.without_place++, print_error("%s, %s: %s\n", file.path, what, l.ctx.message);
  if (l.status == HONE_E_INTERNAL || (must_be && !refused) ||
      (refused && strlen(l.ctx.message) < 20))
    print_error("%s, %s: %s\n", file.path, what, refused ? l.ctx.message : "was read");
  assert_int_not_equal(l.status, HONE_E_INTERNAL);
  assert_true(l.status >= HONE_OK && l.status < HONE_STATUS_COUNT);
  assert_true(refused || !must_be);
  assert_true(!refused || strlen(l.ctx.message) >= 20);
  unload(&l);
  return refused;
}

/* The bytes at `at` are others for one attempt. */
static bool with(size_t at, const void *bytes, size_t n, bool must_be, const char *what) {
  uint8_t before[8];
  assert_true(n <= sizeof before && at + n <= file.n);
  memcpy(before, file.at + at, n);
  memcpy(file.at + at, bytes, n);
  bool refused = is_refused(must_be, what);
  memcpy(file.at + at, before, n);
  return refused;
}
static bool with_u32(size_t at, uint32_t x, bool must_be, const char *what) {
  return with(at, &x, 4, must_be, what);
}
static void with_byte(size_t at, uint8_t x, const char *what) { with(at, &x, 1, false, what); }

/* Reads the file in its current state, with each allocation refused once. */
static void with_little_memory(void) {
  const struct import_options options = {.signature = file.signature};
  struct buf copy = {0};
  put_raw(&copy, file.at, file.n);
  struct loaded l = load(&copy, &options);
  refuse_allocations(NULL, &l.bytes, &options, 20000, l.status);
  unload(&l);
}

/* For one attempt, the offset at `link` points to another vector, appended to the file. */
static void with_list(size_t link, const uint32_t *items, size_t count, const char *what) {
  const size_t n = file.n, at = (n + 3) / 4 * 4;
  const uint32_t before = u32(link), to = (uint32_t)(at - link), size = (uint32_t)count;
  memcpy(file.at + at, &size, 4);
  memcpy(file.at + at + 4, items, 4 * count);
  memcpy(file.at + link, &to, 4);
  file.n = at + 4 + 4 * count;
  is_refused(false, what);
  memcpy(file.at + link, &before, 4);
  file.n = n;
}

/* Field k of a table is left out; the vtable may be another table's too. */
static void without_field(size_t table, unsigned k, const char *what) {
  size_t vtable = (size_t)((int64_t)table - (int32_t)u32(table));
  if (field(table, k)) with(vtable + 4 + 2 * k, "\0", 2, false, what);
}

/* Gives the absent field k the offset `inside` in its table, by a vtable appended to the file. */
static void with_absent_field(size_t table, unsigned k, uint16_t inside, const char *what) {
  const size_t vtable = (size_t)((int64_t)table - (int32_t)u32(table)), bytes = u16(vtable);
  const size_t n = file.n, at = (n + 3) / 4 * 4;
  uint16_t slots[2 + MOST_FIELDS] = {0};
  const uint32_t before = u32(table), to = (uint32_t)(table - at);
  memcpy(slots, file.at + vtable, bytes < sizeof slots ? bytes : sizeof slots);
  slots[0] = sizeof slots;
  slots[2 + k] = inside;
  memset(file.at + n, 0, at - n);
  memcpy(file.at + at, slots, sizeof slots);
  memcpy(file.at + table, &to, 4);
  file.n = at + sizeof slots;
  is_refused(false, what);
  memcpy(file.at + table, &before, 4);
  file.n = n;
}

/* -- what was damaged before */

static unsigned code_of(size_t model, size_t operator) {
  size_t index = field(operator, OPCODE), code = item(child(model, CODES), index ? u32(index) : 0);
  size_t now = field(code, CODE), old = field(code, OLD_CODE);
  unsigned of_now = now ? u32(now) : 0, of_old = old ? file.at[old] : 0;
  return of_now > of_old ? of_now : of_old;
}

/* The operator that makes each tensor; 0: none, and the first of the schema. */
static void find_makers(size_t model, size_t graph, unsigned makers[MOST_TENSORS]) {
  size_t operators = child(graph, OPERATORS);
  assert_true(length(child(graph, TENSORS)) <= MOST_TENSORS);
  memset(makers, 0, MOST_TENSORS * sizeof *makers);
  for (size_t i = 0; i < length(operators); i++) {
    size_t outputs = child(item(operators, i), OUTPUTS);
    for (size_t k = 0; k < length(outputs); k++)
      if (u32(outputs + 4 + 4 * k) < MOST_TENSORS)
        makers[u32(outputs + 4 + 4 * k)] = code_of(model, item(operators, i));
  }
}

/* Type, rank, how many scales, whether it is a constant, keeps its content, is stored sparsely. Bytes are alike. */
static int describe(size_t tensor, size_t buffers, char *out, size_t size) {
  enum { UINT8 = 3, INT8 = 9 };
  size_t type = field(tensor, TYPE), buffer = field(tensor, BUFFER),
         scales =
             length(child(tensor, QUANTISATION) ? child(child(tensor, QUANTISATION), SCALES) : 0);
  unsigned kind = type ? file.at[type] : 0;
  bool has_data = buffer && length(child(item(buffers, u32(buffer)), 0));
  return snprintf(out, size, " %u.%zu.%d%d%d%d", kind == UINT8 ? INT8 : kind,
                  length(child(tensor, SHAPE)), scales > 1 ? 2 : scales == 1, has_data,
                  field(tensor, VARIABLE) != 0, child(tensor, SPARSITY) != 0);
}

static bool is_new(size_t model, size_t graph, size_t operator, const unsigned * makers) {
  static const unsigned lists[] = {INPUTS, OUTPUTS};
  char kind[2048];
  size_t n = (size_t)snprintf(kind, sizeof kind, "%u", code_of(model, operator));
  for (size_t l = 0; l < COUNT(lists); l++) {
    size_t list = child(operator, lists[l]), tensors = child(graph, TENSORS);
    for (size_t k = 0; k < length(list); k++) {
      uint32_t index = u32(list + 4 + 4 * k);
      assert_true(n + 64 < sizeof kind);
      if (index >= length(tensors)) {
        n += (size_t)snprintf(kind + n, sizeof kind - n, " -");
        continue;
      }
      n += (size_t)describe(item(tensors, index), child(model, BUFFERS), kind + n, sizeof kind - n);
      if (lists[l] == INPUTS)
        n += (size_t)snprintf(kind + n, sizeof kind - n, "<%u", makers[index]);
    }
    n += (size_t)snprintf(kind + n, sizeof kind - n, " >");
  }
  for (size_t i = 0; i < seen.kind_count; i++)
    if (!strcmp(seen.kinds[i], kind)) return false;
  assert_true(seen.kind_count < MOST_KINDS);
  seen.kinds[seen.kind_count++] = strdup(kind);
  return true;
}

/* -- offsets of tables, vectors and fields */

/* An offset that points outside the file, or to neither a table nor a vector. */
static void damage_link(size_t at, bool must_be) {
  if (!at) return;
  size_t to = at + u32(at);
  with_u32(at, 0, must_be, "a link to itself");
  with_u32(at, (uint32_t)file.n, must_be, "a link outside");
  with_u32(at, u32(at) + 1, false, "a misaligned link");
  with_u32(to, 0x7fffffff, must_be, "more than the file holds, or a vtable before it");
  with_u32(to, (uint32_t)to - (uint32_t)file.n, false, "a vtable behind the file");
}

/* Each field of a table lies outside it; the table and its vtable have impossible sizes. links: the fields that lead to
 * a vector or a table. */
static void damage_layout(size_t table, unsigned links) {
  size_t vtable = (size_t)((int64_t)table - (int32_t)u32(table)), bytes = u16(vtable);
  for (unsigned k = 0; 4 + 2 * k < bytes; k++) {
    size_t slot = vtable + 4 + 2 * k;
    if (!u16(slot)) continue;
    with(slot, "\xfe\xff", 2, false, "a field outside its table");
    with(slot, "\2\0", 2, false, "a field before its table");
    if (links >> k & 1) damage_link(field(table, k), false);
  }
  for (unsigned k = 0; k < MOST_FIELDS; k++)
    if (!field(table, k)) {
      with_absent_field(table, k, 0xfffe, "a field that was left out, outside its table");
      with_absent_field(table, k, 4, "a field that was left out, where the first may lie");
    }
  with(vtable, "\2\0", 2, true, "a vtable of two bytes");
  with(vtable, "\5\0", 2, true, "an odd vtable");
  with(vtable, "\xfe\xff", 2, false, "a vtable longer than the file");
  with(vtable + 2, "\0\0", 2, true, "a table of no bytes");
  with(vtable + 2, "\xff\xff", 2, false, "a table longer than the file");
}

/* -- operators */

static void damage_operands(size_t operator, unsigned which, size_t tensors) {
  size_t list = child(operator, which), count = length(list);
  for (size_t n = 0; n < count; n++)
    with_u32(list, (uint32_t)n, which == OUTPUTS,
             which == OUTPUTS ? "fewer outputs" : "fewer inputs");
  for (size_t k = 0; k < count; k++) {
    size_t at = list + 4 + 4 * k;
    with_u32(at, UINT32_MAX, which == OUTPUTS, "an operand left out");
    with_u32(at, (uint32_t)tensors, true, "a tensor that there is not");
    const uint32_t before = u32(at), other = u32(list + 4 + 4 * ((k + 1) % count));
    with_u32(at, other, false, "an operand twice");
    if (!strstr(file.path, "/image-") || other == before) continue;
    memcpy(file.at + at, &other, 4); /* an image is turned where another order is asked for */
    with_little_memory();
    memcpy(file.at + at, &before, 4);
  }
}

static void damage_options(size_t operator, unsigned which) {
  static const uint8_t bytes[] = {0, 1, 2, 3, 4, 5, 7, 9, 0x7f, 0xff};
  static const uint32_t words[] = {0, 100, UINT32_MAX, INT32_MAX, 0x80000000u, 0x7fc00000u};
  size_t table = child(operator, which);
  if (!table) return;
  for (unsigned k = 0; k < 16; k++) {
    size_t at = field(table, k);
    if (!at || at + 4 > file.n) continue;
    for (size_t i = 0; i < COUNT(bytes); i++) with_byte(at, bytes[i], "an option's byte");
    for (size_t i = 0; i < COUNT(words) && at % 4 == 0; i++)
      with_u32(at, words[i], false, "an option");
    without_field(table, k, "an option left out");
  }
  without_field(operator, which, "no options");
}

/* The map of options of an operator that the schema does not know, byte by byte; types and widths are among them. */
static void damage_custom(size_t bytes) {
  static const uint8_t values[] = {0,  1,  2,  4,  5,  6,  7,    8,    13,
                                   14, 15, 26, 30, 34, 39, 0x7f, 0x80, 0xff};
  for (size_t n = 0; n < length(bytes); n++)
    for (size_t i = 0; i < COUNT(values); i++)
      with_byte(bytes + 4 + n, values[i], "a byte of custom options");
  for (size_t n = 0; n < length(bytes); n++) with_u32(bytes, (uint32_t)n, false, "fewer of them");
}

static void damage_numbers(size_t vector) {
  static const uint32_t words[] = {0, 1, 100, UINT32_MAX};
  for (size_t k = 0; k < length(vector); k++)
    for (size_t i = 0; i < COUNT(words); i++)
      with_u32(vector + 4 + 4 * k, words[i], false, "a number of a list");
  if (length(vector)) with_u32(vector, (uint32_t)length(vector) - 1, false, "a shorter list");
}

/* -- tensors */

static void damage_content(size_t buffer) {
  static const uint32_t words[] = {0, 1, 100, UINT32_MAX, 0x7fffffffu, 0x80000000u, 0xff800000u};
  size_t data = child(buffer, 0), count = length(data);
  if (!count || count > LONGEST_CONTENT) return;
  for (size_t at = 0; at + 4 <= count && (data + 4) % 4 == 0; at += 4)
    for (size_t i = 0; i < COUNT(words); i++)
      with_u32(data + 4 + at, words[i], false, "a constant");
  with_u32(data, (uint32_t)count - 1, false, "a shorter constant");
}

/* Tensor `index`, a constant, is one more input of its graph. */
static void give_constant(size_t graph, uint32_t index, size_t tensor, size_t buffers) {
  size_t list = child(graph, INPUTS), count = length(list), buffer = field(tensor, BUFFER);
  uint32_t items[MOST_ITEMS], content = buffer ? u32(buffer) : 0;
  if (!list || !buffer || !length(child(item(buffers, content), 0))) return;
  assert_true(count < MOST_ITEMS);
  memcpy(items, file.at + list + 4, 4 * count);
  items[count] = index;
  memcpy(file.at + buffer, "\0\0\0", 4);
  with_list(field(graph, INPUTS), items, count + 1, "a constant that is an input");
  memcpy(file.at + buffer, &content, 4);
}

static void damage_tensor(size_t tensor, size_t buffers) {
  static const uint8_t types[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 17, 18, 19, 0xff};
  size_t shape = child(tensor, SHAPE), rank = length(shape),
         quantisation = child(tensor, QUANTISATION);
  for (size_t i = 0; i < COUNT(types) && field(tensor, TYPE); i++)
    with_byte(field(tensor, TYPE), types[i], "an element type");
  without_field(tensor, TYPE, "float32");
  for (size_t n = 0; n < rank; n++) with_u32(shape, (uint32_t)n, false, "a lower rank");
  for (size_t d = 0; d < rank; d++) {
    uint32_t size = u32(shape + 4 + 4 * d);
    with_u32(shape + 4 + 4 * d, 0, false, "an empty dimension");
    with_u32(shape + 4 + 4 * d, size + 1, false, "a larger dimension");
    with_u32(shape + 4 + 4 * d, size - 1, false, "a smaller dimension");
    with_u32(shape + 4 + 4 * d, (uint32_t)-2, true, "a dimension below 0");
  }
  without_field(tensor, SHAPE, "a scalar");
  if (field(tensor, BUFFER)) {
    with_u32(field(tensor, BUFFER), 0, false, "no content");
    with_u32(field(tensor, BUFFER), 1u << 20, true, "a buffer that there is not");
    size_t index = u32(field(tensor, BUFFER));
    if (index && index < length(buffers)) damage_content(item(buffers, index));
  }
  if (!quantisation || !length(child(quantisation, SCALES))) return;
  size_t scales = child(quantisation, SCALES), points = child(quantisation, ZERO_POINTS);
  with_u32(scales + 4, 0, false, "a scale of 0");
  with_u32(scales + 4, 0x7f800000, true, "an infinite scale");
  with_u32(scales + 4, 0xbf800000, true, "a scale below 0");
  with_u32(scales + 4, 0x7f000000, false, "a huge scale");
  with_u32(scales + 4, 0x00800000, false, "a tiny scale");
  with_u32(scales, 0, false, "no scales");
  with_list(field(quantisation, SCALES), (const uint32_t[]){u32(scales + 4), 0x3f000000}, 2,
            "two scales");
  if (length(points)) {
    with_u32(points + 4, 5, false, "a zero point");
    with_u32(points + 4, 1000, false, "a zero point that is no byte");
    with_u32(points + 4, 1u << 20, true, "a zero point of no type");
    with_u32(points, 2, false, "two zero points");
  }
  without_field(tensor, QUANTISATION, "not quantised");
}

static void damage_graph(size_t model, size_t graph) {
  size_t tensors = child(graph, TENSORS), operators = child(graph, OPERATORS);
  unsigned makers[MOST_TENSORS];
  bool is_used[MOST_TENSORS] = {false}; /* by an operator that is damaged */
  find_makers(model, graph, makers);
  for (size_t i = 0; i < length(operators); i++) {
    size_t operator= item(operators, i);
    if (!is_new(model, graph, operator, makers)) continue;
    static const unsigned lists[] = {INPUTS, OUTPUTS, BETWEEN};
    for (size_t l = 0; l < COUNT(lists); l++)
      for (size_t k = 0, list = child(operator, lists[l]); k < length(list); k++)
        if (u32(list + 4 + 4 * k) < MOST_TENSORS) is_used[u32(list + 4 + 4 * k)] = true;
    damage_operands(operator, INPUTS, length(tensors));
    damage_operands(operator, OUTPUTS, length(tensors));
    damage_options(operator, OPTIONS);
    damage_options(operator, NEWER_OPTIONS);
    damage_custom(child(operator, CUSTOM));
    damage_numbers(child(operator, BETWEEN));
    for (unsigned k = OPTIONS; k <= NEWER_OPTIONS; k += NEWER_OPTIONS - OPTIONS)
      if (child(operator, k)) damage_layout(child(operator, k), 0);
  }
  for (size_t i = 0; i < length(tensors); i++) {
    if (!is_used[i]) continue;
    damage_tensor(item(tensors, i), child(model, BUFFERS));
    give_constant(graph, (uint32_t)i, item(tensors, i), child(model, BUFFERS));
  }
  with_u32(operators, (uint32_t)length(operators) - 1, false, "fewer operators");
}

/* -- the container */

static void damage_items(size_t vector, unsigned links) {
  for (size_t i = 0; i < length(vector); i++) {
    damage_link(vector + 4 + 4 * i, false);
    damage_layout(item(vector, i), links);
  }
}

/* SparsityParameters: order, blocks, levels; a level: its format, size, and lists of one of three types. */
static void damage_sparsity(size_t table) {
  enum { ORDER, BLOCKS, LEVELS };
  if (!table) return;
  damage_layout(table, 1u << ORDER | 1u << BLOCKS | 1u << LEVELS);
  damage_numbers(child(table, ORDER));
  damage_numbers(child(table, BLOCKS));
  size_t levels = child(table, LEVELS);
  damage_items(levels, 1u << 3 | 1u << 5);
  for (size_t n = 0; n < length(levels); n++) with_u32(levels, (uint32_t)n, true, "fewer levels");
  for (size_t i = 0; i < length(levels); i++) {
    static const uint8_t bytes[] = {0, 1, 2, 3, 4, 0x7f, 0xff};
    size_t level = item(levels, i);
    for (unsigned k = 0; k < 6; k++) {
      size_t at = field(level, k), list = k == 3 || k == 5 ? child(level, k) : 0;
      for (size_t b = 0; at && !list && b < COUNT(bytes); b++)
        with_byte(at, bytes[b], "a field of a level");
      if (at && k == 1) with_u32(at, UINT32_MAX, false, "a level of -1");
      if (at) without_field(level, k, "a level without a field");
      if (!list) continue;
      damage_layout(list, 1);
      size_t numbers = child(list, 0);
      for (size_t n = 0; n < length(numbers) && n < LONGEST_CONTENT; n++)
        for (size_t b = 0; b < COUNT(bytes); b++)
          with_byte(numbers + 4 + n, bytes[b], "a number of a level");
      if (length(numbers)) with_u32(numbers, 0, true, "an empty list");
    }
  }
}

static void damage_container(size_t model) {
  enum { METADATA = 6, SIGNATURES = 7 };
  damage_link(0, true);
  damage_layout(model,
                1u << CODES | 1u << GRAPHS | 1u << BUFFERS | 1u << METADATA | 1u << SIGNATURES);
  damage_items(child(model, CODES), 1u << 1);
  damage_items(child(model, GRAPHS), 31);
  damage_items(child(model, BUFFERS), 1);
  damage_items(child(model, METADATA), 1);
  damage_items(child(model, SIGNATURES), 7);
  size_t graphs = child(model, GRAPHS), signatures = child(model, SIGNATURES);
  for (size_t g = 0; g < length(graphs); g++) {
    size_t tensors = child(item(graphs, g), TENSORS), operators = child(item(graphs, g), OPERATORS);
    damage_items(operators, 1u << INPUTS | 1u << OUTPUTS | 1u << OPTIONS | 1u << NEWER_OPTIONS);
    damage_items(tensors, 1u << SHAPE | 1u << 3 | 1u << QUANTISATION | 1u << SPARSITY | 1u << 7);
    for (size_t i = 0; i < length(tensors); i++) {
      size_t tensor = item(tensors, i), quantisation = child(tensor, QUANTISATION);
      if (quantisation) damage_layout(quantisation, 1u << SCALES | 1u << ZERO_POINTS);
      damage_sparsity(child(tensor, SPARSITY));
    }
  }
  for (size_t i = 0; i < length(signatures); i++)
    for (unsigned k = 0; k < 2; k++) damage_items(child(item(signatures, i), k), 1);
}

static void damage_file(const char *path, const char *signature, bool whole) {
  struct ctx ctx;
  struct mapping map;
  ctx_init(&ctx);
  assert_int_equal(file_map(&ctx, path, &map), HONE_OK);
  file.at = malloc(map.size + 4 * (MOST_ITEMS + 2));
  assert_non_null(file.at);
  memcpy(file.at, map.data, map.size);
  file.n = map.size;
  file.path = path;
  file.signature = signature;
  assert_false(is_refused(false, "as it is"));
  if (signature) with_little_memory();
  size_t model = u32(0), graphs = child(model, GRAPHS);
  assert_true(length(graphs) > 0);
  for (size_t g = 0; g < length(graphs); g++) {
    file.is_called = g > 0 || signature; /* nor is the first one read where another is asked for */
    damage_graph(model, item(graphs, g));
  }
  file.is_called = true; /* nor is a table that is never read */
  if (whole) damage_container(model);
  file.is_called = false;
  assert_memory_equal(file.at, map.data, map.size);
  free(file.at);
  file_unmap(&map);
}

/* Containers are much alike, so only one in eight is damaged, and those with unusual content. */
static bool is_special(const char *path) {
  static const char *const words[] = {"/sparse-", "/signature-", "/control-", "/variable-",
                                      "/composite"};
  for (size_t i = 0; i < COUNT(words); i++)
    if (strstr(path, words[i])) return true;
  return false;
}

/* HONE_CASES=PATTERN: others. */
static void every_operator_damaged(void **state) {
  const char *own = getenv("HONE_CASES");
  glob_t found;
  (void)state;
  assert_int_equal(glob(own ? own : "tests/cases/tflite/*.tflite", 0, NULL, &found), 0);
  const size_t step = getenv("HONE_TEST_FULL") || own ? 1 : 6;
  for (size_t i = 0; i < found.gl_pathc; i += step)
    damage_file(found.gl_pathv[i], NULL, i % 8 == 0 || is_special(found.gl_pathv[i]));
  if (!own) damage_file("tests/cases/tflite/signature-two.tflite", "join", true);
  print_message("%zu models, %zu operators, %zu attempts, %zu refused\n", found.gl_pathc,
                seen.kind_count, file.attempts, file.refused);
  for (size_t i = 0; i < seen.kind_count; i++) free(seen.kinds[i]);
  globfree(&found);
  assert_int_equal(file.without_place, 0);
  assert_true(file.refused > file.attempts / 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_operator_damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
