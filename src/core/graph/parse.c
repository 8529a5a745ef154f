/* Text form to graph, the reverse of print.c. A statement ends with its line; '#' begins a comment.
 *
 *   graph      = "graph" [name] "(" [input {"," input}] ")" "->" "(" [name {"," name}] ")" "{"
 *                {statement} "}"
 *   input      = name ":" type
 *   type       = dtype ["[" [size {"," size}] "]"]                     no brackets: shape not known
 *   size       = ["?" int "<="] int                                    with ?: at run time, a bound
 *   statement  = name "=" constant | result {"," result} "=" op "(" [arg {"," arg}] ")" {attribute}
 *   arg        = name | "-"
 *   result     = (name | "-") [":" type]
 *   constant   = "const" type (list | "seed=" int ["scale=" float] | "fill=" float)
 *   attribute  = name "=" (int | float | string | list | constant | graph)
 *   list       = ["ints" | "floats" | "strings"] "[" ... "]"
 *   name       = identifier or a quoted string with \" \\ \xHH
 *   float      = 1.5 | 1e-05f | NaN | Infinity
 *
 * Nested graphs are kept on a stack; limit depth bounds it. */
#include "graph.h"

#include <math.h>

struct names { /* open addressing; capacity is a power of two */
  struct value **at;
  size_t count, capacity;
};
struct level {
  struct graph *graph;
  struct names names;
  VEC(const char *) output_names;
  struct node *node;     /* whose attributes are being read */
  const char *attribute; /* attribute of the enclosing graph's node that receives this graph */
};
struct parser {
  struct ctx *ctx;
  struct arena *arena;
  const char *text;
  size_t at, length;
  find_op_fn *find;
  VEC(struct level) levels;
  struct graph *root; /* the outermost graph */
};

/* -- characters */

static hone_status bad(struct parser *p, const char *expected) {
  size_t line = 1;
  for (size_t i = 0; i < p->at && i < p->length; i++) line += p->text[i] == '\n';
  return fail(p->ctx, HONE_E_FORMAT, place_offset(p->at), "line %zu: expected %s", line, expected);
}

static int peek(const struct parser *p) {
  return p->at < p->length ? (unsigned char)p->text[p->at] : -1;
}

static void skip(struct parser *p, bool across_lines) {
  for (; p->at < p->length; p->at++) {
    char c = p->text[p->at];
    if (c == '#')
      while (p->at + 1 < p->length && p->text[p->at + 1] != '\n') p->at++;
    else if (c != ' ' && c != '\t' && c != '\r' && !(c == '\n' && across_lines))
      return;
  }
}

/* Skips blanks and newlines, then consumes c if it is next. */
static bool accept(struct parser *p, char c) {
  skip(p, true);
  if (peek(p) != c) return false;
  p->at++;
  return true;
}

static bool accept_on_line(struct parser *p, char c) {
  skip(p, false);
  if (peek(p) != c) return false;
  p->at++;
  return true;
}

static hone_status expect(struct parser *p, char c) {
  char expected[] = {'\'', c, '\'', 0};
  return accept(p, c) ? HONE_OK : bad(p, expected);
}

static size_t word_length(const struct parser *p) {
  size_t n = 0;
  while (p->at + n < p->length && p->text[p->at + n] &&
         strchr(GRAPH_NAME_BYTES, p->text[p->at + n]))
    n++;
  return n;
}

/* The whole word, not a prefix. */
static bool accept_word(struct parser *p, const char *word) {
  size_t n = strlen(word);
  skip(p, false);
  if (word_length(p) != n || memcmp(p->text + p->at, word, n)) return false;
  p->at += n;
  return true;
}

static int hex_digit(int c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

static hone_status read_string(struct parser *p, struct string *out) {
  char *bytes;
  size_t n = 0, end = p->at + 1;
  if (!accept_on_line(p, '"')) return bad(p, "a string");
  end = p->at;
  while (end < p->length && p->text[end] != '"') end += p->text[end] == '\\' ? 2 : 1;
  if (end >= p->length) return bad(p, "a string that ends");
  TRY(NEW_ARRAY(p->ctx, p->arena, bytes, end - p->at + 1));
  while (p->at < end) {
    char c = p->text[p->at++];
    if (c == '\\') {
      c = p->text[p->at++];
      if (c == 'x') {
        int high = hex_digit(peek(p)), low = p->at + 1 < end ? hex_digit(p->text[p->at + 1]) : -1;
        if (high < 0 || low < 0) return bad(p, "two hexadecimal digits");
        c = (char)(high << 4 | low);
        p->at += 2;
      } else if (c != '"' && c != '\\') {
        return bad(p, "\\\", \\\\ or \\xHH");
      }
    }
    bytes[n++] = c;
  }
  p->at = end + 1;
  *out = (struct string){bytes, n};
  return HONE_OK;
}

static hone_status read_name(struct parser *p, const char **out) {
  struct string string;
  skip(p, false);
  if (peek(p) == '"') {
    TRY(read_string(p, &string));
    *out = string.bytes;
    return HONE_OK;
  }
  size_t n = word_length(p);
  if (!n) return bad(p, "a name");
  TRY(arena_string(p->ctx, p->arena, p->text + p->at, n, out));
  p->at += n;
  return HONE_OK;
}

/* -- numbers and types */

struct number {
  bool is_float;
  double f;
  int64_t i;
};

/* Decimal digits only, up to UINT64_MAX, as the int64 with the same bits. */
static bool read_u64(const char *digits, int64_t *out) {
  uint64_t x = 0;
  for (; *digits; digits++)
    if (*digits < '0' || *digits > '9' || !checked_mul(x, (uint64_t)10, &x) ||
        !checked_add(x, (uint64_t)(*digits - '0'), &x))
      return false;
  *out = (int64_t)x;
  return true;
}

static hone_status read_number(struct parser *p, struct number *out) {
  char buffer[64];
  size_t n = 0;
  skip(p, true);
  while (p->at + n < p->length && n < sizeof buffer - 1 && p->text[p->at + n] &&
         strchr("0123456789+-.eENaInfity", p->text[p->at + n])) {
    buffer[n] = p->text[p->at + n];
    n++;
  }
  buffer[n] = 0;
  *out = (struct number){.is_float = strpbrk(buffer, ".eEN") || strstr(buffer, "Inf")};
  bool rounds = n > 1 && buffer[n - 1] == 'f';
  if (rounds) buffer[n - 1] = 0;
  if (!strcmp(buffer, "NaN"))
    out->f = (double)NAN;
  else if (strstr(buffer, "Infinity"))
    out->f = buffer[0] == '-' ? -(double)INFINITY : (double)INFINITY;
  else if (!parse_f64(buffer, -INFINITY, INFINITY, &out->f))
    return bad(p, "a number");
  else if (!out->is_float && !parse_i64(buffer, INT64_MIN, INT64_MAX, &out->i) &&
           !read_u64(buffer, &out->i))
    out->is_float = true;
  if (rounds) out->is_float = true, out->f = (double)(float)out->f;
  p->at += n;
  return HONE_OK;
}

static hone_status read_int(struct parser *p, int64_t *out) {
  struct number number;
  TRY(read_number(p, &number));
  if (number.is_float) return bad(p, "an integer");
  *out = number.i;
  return HONE_OK;
}

static hone_status read_dtype(struct parser *p, hone_dtype *out) {
  const char *name;
  TRY(read_name(p, &name));
  *out = dtype_parse(name);
  return *out ? HONE_OK : bad(p, "an element type such as f32");
}

/* The number of an extent: numbered from 1 in order of first use. */
static hone_status read_extent(struct parser *p, uint32_t *out) {
  struct graph *root = p->root;
  int64_t number = 0;
  TRY(read_int(p, &number));
  TRY(expect(p, '<'));
  TRY(expect(p, '='));
  if (number < 1 || (uint64_t)number > root->extents.count + 1)
    return bad(p, "the number of an earlier extent, or the next one");
  *out = (uint32_t)number;
  return HONE_OK;
}

static hone_status read_size(struct parser *p, int64_t *out, uint32_t *out_extent) {
  struct graph *root = p->root;
  *out_extent = 0;
  if (accept(p, '?')) TRY(read_extent(p, out_extent));
  TRY(read_int(p, out));
  if (*out_extent <= root->extents.count) return HONE_OK;
  return graph_extent(p->ctx, root, *out, out_extent);
}

static hone_status read_type(struct parser *p, hone_dtype *dtype, bool *has_shape,
                             struct shape *shape, uint32_t extents[HONE_MAX_RANK]) {
  TRY(read_dtype(p, dtype));
  *shape = (struct shape){0};
  memset(extents, 0, HONE_MAX_RANK * sizeof *extents);
  *has_shape = peek(p) == '[';
  if (!*has_shape) return HONE_OK;
  p->at++;
  if (accept(p, ']')) return HONE_OK;
  do {
    if (shape->rank == HONE_MAX_RANK) return bad(p, "fewer dimensions");
    TRY(read_size(p, &shape->dims[shape->rank], &extents[shape->rank]));
    shape->rank++;
  } while (accept(p, ','));
  return expect(p, ']');
}

/* -- names of values */

static uint64_t hash_of(const char *name) { /* FNV-1a */
  uint64_t hash = 14695981039346656037u;
  for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 1099511628211u;
  return hash;
}

static struct value **slot(const struct names *names, const char *name) {
  size_t i = hash_of(name) & (names->capacity - 1);
  while (names->at[i] && strcmp(names->at[i]->name, name) != 0) i = (i + 1) & (names->capacity - 1);
  return &names->at[i];
}

static hone_status remember(struct parser *p, struct names *names, struct value *value) {
  if (2 * names->count >= names->capacity) {
    struct names grown = {.count = names->count,
                          .capacity = names->capacity ? 2 * names->capacity : 64};
    TRY(NEW_ARRAY(p->ctx, p->arena, grown.at, grown.capacity));
    for (size_t i = 0; i < names->capacity; i++)
      if (names->at[i]) *slot(&grown, names->at[i]->name) = names->at[i];
    *names = grown;
  }
  struct value **place = slot(names, value->name);
  if (*place) return bad(p, "a name that is not taken yet");
  *place = value;
  names->count++;
  return HONE_OK;
}

static struct level *top(struct parser *p) { return &p->levels.at[p->levels.count - 1]; }

/* NULL: no earlier value has this name. */
static struct value *find_value(const struct parser *p, const char *name) {
  struct value *found = NULL;
  for (size_t l = p->levels.count; !found && l-- > 0;) {
    const struct names *names = &p->levels.at[l].names;
    if (names->capacity) found = *slot(names, name);
  }
  return found;
}

static hone_status look_up(struct parser *p, const char *name, struct value **out) {
  *out = find_value(p, name);
  return *out ? HONE_OK : bad(p, "the name of a value above");
}

/* -- constants */

static void set_element(const struct tensor *tensor, size_t i, const struct number *number) {
  if (number->is_float)
    tensor_set_f64(tensor, i, number->f);
  else
    tensor_set_i64(tensor, i, number->i);
}

static hone_status read_elements(struct parser *p, const struct tensor *tensor) {
  size_t count = tensor_count(tensor);
  TRY(expect(p, '['));
  for (size_t i = 0; i < count; i++) {
    struct number number;
    if (i) TRY(expect(p, ','));
    if (tensor->dtype == HONE_STRING) {
      skip(p, true);
      TRY(read_string(p, (struct string *)(uintptr_t)tensor->data + i));
      continue;
    }
    TRY(read_number(p, &number));
    set_element(tensor, i, &number);
  }
  return expect(p, ']');
}

/* Normal floats, small integers; the same on every machine. */
static hone_status fill_random(struct parser *p, const struct tensor *tensor) {
  int64_t seed = 0;
  struct number scale = {.is_float = true, .f = 1};
  struct random random;
  TRY(expect(p, '='));
  TRY(read_int(p, &seed));
  if (accept_word(p, "scale")) {
    TRY(expect(p, '='));
    TRY(read_number(p, &scale));
  }
  random_init(&random, (uint64_t)seed);
  size_t count = tensor_count(tensor);
  for (size_t i = 0; i < count; i++) {
    if (dtype_is_float(tensor->dtype))
      tensor_set_f64(tensor, i,
                     (scale.is_float ? scale.f : (double)scale.i) * random_normal(&random));
    else
      tensor_set_i64(tensor, i, (int64_t)random_below(&random, tensor->dtype == HONE_BOOL ? 2 : 8));
  }
  return HONE_OK;
}

/* After the keyword const. */
static hone_status read_constant(struct parser *p, struct tensor **out) {
  hone_dtype dtype;
  bool has_shape;
  struct shape shape;
  uint32_t extents[HONE_MAX_RANK];
  TRY(read_type(p, &dtype, &has_shape, &shape, extents));
  if (!has_shape) return bad(p, "a shape");
  TRY(tensor_create(p->ctx, p->arena, dtype, &shape, out));
  if (dtype != HONE_STRING && accept_word(p, "seed")) return fill_random(p, *out);
  if (dtype != HONE_STRING && accept_word(p, "fill")) {
    struct number number;
    TRY(expect(p, '='));
    TRY(read_number(p, &number));
    size_t count = tensor_count(*out);
    for (size_t i = 0; i < count; i++) set_element(*out, i, &number);
    return HONE_OK;
  }
  skip(p, false);
  if (peek(p) != '[')
    return bad(p, "the elements, seed= or fill= (a hash is printed for omitted data)");
  return read_elements(p, *out);
}

/* -- attributes */

static hone_status read_strings(struct parser *p, struct attribute *attribute) {
  VEC(struct string) strings = {0};
  while (!accept(p, ']')) {
    struct string string;
    if (strings.count) TRY(expect(p, ','));
    skip(p, true);
    TRY(read_string(p, &string));
    VEC_PUSH(p->ctx, p->arena, &strings, string);
  }
  attribute->kind = ATTRIBUTE_STRINGS;
  attribute->strings = strings.at;
  attribute->count = strings.count;
  return HONE_OK;
}

static hone_status read_numbers(struct parser *p, struct attribute *attribute,
                                enum attribute_kind kind) {
  VEC(double) floats = {0};
  VEC(int64_t) ints = {0};
  while (!accept(p, ']')) {
    struct number number;
    if (floats.count) TRY(expect(p, ','));
    TRY(read_number(p, &number));
    if (number.is_float) kind = ATTRIBUTE_FLOATS;
    VEC_PUSH(p->ctx, p->arena, &floats, number.is_float ? number.f : (double)number.i);
    VEC_PUSH(p->ctx, p->arena, &ints, number.i);
  }
  attribute->kind = kind;
  attribute->count = floats.count;
  attribute->floats = kind == ATTRIBUTE_FLOATS ? floats.at : NULL;
  attribute->ints = kind == ATTRIBUTE_INTS ? ints.at : NULL;
  return HONE_OK;
}

static hone_status read_list(struct parser *p, struct attribute *attribute,
                             enum attribute_kind kind) {
  TRY(expect(p, '['));
  skip(p, true);
  if (kind == ATTRIBUTE_STRINGS || peek(p) == '"') return read_strings(p, attribute);
  return read_numbers(p, attribute, kind);
}

static hone_status read_scalar(struct parser *p, struct attribute *attribute) {
  struct number number;
  TRY(read_number(p, &number));
  attribute->kind = number.is_float ? ATTRIBUTE_FLOAT : ATTRIBUTE_INT;
  attribute->f = number.f;
  attribute->i = number.i;
  return HONE_OK;
}

/* All kinds except a graph. */
static hone_status read_attribute(struct parser *p, struct attribute *attribute) {
  struct tensor *tensor;
  skip(p, false);
  if (peek(p) == '"') {
    attribute->kind = ATTRIBUTE_STRING;
    return read_string(p, &attribute->s);
  }
  if (peek(p) == '[') return read_list(p, attribute, ATTRIBUTE_INTS);
  if (accept_word(p, "ints")) return read_list(p, attribute, ATTRIBUTE_INTS);
  if (accept_word(p, "floats")) return read_list(p, attribute, ATTRIBUTE_FLOATS);
  if (accept_word(p, "strings")) return read_list(p, attribute, ATTRIBUTE_STRINGS);
  if (!accept_word(p, "const")) return read_scalar(p, attribute);
  TRY(read_constant(p, &tensor));
  attribute->kind = ATTRIBUTE_TENSOR;
  attribute->tensor = tensor;
  return HONE_OK;
}

/* -- nodes */

static hone_status read_op(struct parser *p, const struct op **out) {
  const char *word;
  TRY(read_name(p, &word));
  const char *dot = strrchr(word, '.');
  const char *domain = "";
  if (dot) TRY(arena_string(p->ctx, p->arena, word, (size_t)(dot - word), &domain));
  *out = p->find(domain, dot ? dot + 1 : word);
  if (!*out)
    return fail(p->ctx, HONE_E_UNSUP, place_name(word), "there is no operator of this name");
  return HONE_OK;
}

static hone_status open_level(struct parser *p, const char *attribute);

/* Attributes of the current node, up to the end of the line or the start of a graph. */
static hone_status read_rest(struct parser *p) {
  struct node *node = top(p)->node;
  for (;;) {
    struct attribute attribute = {0};
    skip(p, false);
    if (peek(p) == '\n' || peek(p) == '}' || peek(p) < 0) break;
    TRY(read_name(p, &attribute.name));
    TRY(expect(p, '='));
    if (accept_word(p, "graph")) return open_level(p, attribute.name);
    TRY(read_attribute(p, &attribute));
    TRY(node_set(p->ctx, top(p)->graph, node, &attribute));
  }
  return HONE_OK;
}

struct result {
  const char *name; /* NULL: omitted */
  hone_dtype dtype;
  bool has_shape;
  struct shape shape;
  uint32_t extents[HONE_MAX_RANK];
};
struct results {
  struct result *at;
  size_t count, capacity;
};

static hone_status read_results(struct parser *p, struct results *results) {
  do {
    struct result result = {0};
    if (!accept(p, '-')) TRY(read_name(p, &result.name));
    if (accept(p, ':'))
      TRY(read_type(p, &result.dtype, &result.has_shape, &result.shape, result.extents));
    VEC_PUSH(p->ctx, p->arena, results, result);
  } while (accept(p, ','));
  return expect(p, '=');
}

static hone_status define_results(struct parser *p, struct node *node,
                                  const struct results *results) {
  struct graph *graph = top(p)->graph;
  for (size_t i = 0; i < results->count; i++) {
    const struct result *result = &results->at[i];
    if (!result->name) continue;
    TRY(graph_value(p->ctx, graph, result->name, &node->outputs[i]));
    struct value *value = node->outputs[i];
    value->producer = node;
    value->dtype = result->dtype;
    value->has_shape = result->has_shape;
    value->shape = result->shape;
    memcpy(value->extents, result->extents, sizeof value->extents);
    TRY(remember(p, &top(p)->names, value));
  }
  return HONE_OK;
}

static hone_status read_inputs(struct parser *p, struct node *node) {
  VEC(struct value *) inputs = {0};
  TRY(expect(p, '('));
  while (!accept(p, ')')) {
    struct value *value = NULL;
    const char *name;
    if (inputs.count) TRY(expect(p, ','));
    skip(p, true);
    if (!accept(p, '-')) {
      TRY(read_name(p, &name));
      TRY(look_up(p, name, &value));
    }
    VEC_PUSH(p->ctx, p->arena, &inputs, value);
  }
  node->inputs = inputs.at;
  node->input_count = inputs.count;
  return HONE_OK;
}

static hone_status read_statement(struct parser *p) {
  struct results results = {0};
  struct graph *graph = top(p)->graph;
  struct tensor *tensor;
  const struct op *op;
  TRY(read_results(p, &results));
  if (accept_word(p, "const")) {
    struct value *value;
    if (results.count != 1 || !results.at[0].name) return bad(p, "one name for a constant");
    TRY(read_constant(p, &tensor));
    TRY(graph_constant(p->ctx, graph, results.at[0].name, tensor, &value));
    return remember(p, &top(p)->names, value);
  }
  TRY(read_op(p, &op));
  struct node *node;
  TRY(graph_node(p->ctx, graph, op, NULL, 0, 0, &node));
  node->index = (int64_t)graph->nodes.count - 1;
  node->output_count = results.count;
  TRY(NEW_ARRAY(p->ctx, p->arena, node->outputs, results.count));
  TRY(read_inputs(p, node));
  TRY(define_results(p, node, &results));
  top(p)->node = node;
  return read_rest(p);
}

/* -- graphs */

static hone_status read_graph_inputs(struct parser *p, struct level *level) {
  TRY(expect(p, '('));
  while (!accept(p, ')')) {
    const char *name;
    hone_dtype dtype = HONE_UNDEFINED;
    bool has_shape = false;
    struct shape shape = {0};
    uint32_t extents[HONE_MAX_RANK] = {0};
    struct value *value;
    if (level->graph->inputs.count) TRY(expect(p, ','));
    skip(p, true);
    TRY(read_name(p, &name));
    if (accept(p, ':')) TRY(read_type(p, &dtype, &has_shape, &shape, extents));
    TRY(graph_input(p->ctx, level->graph, name, dtype, has_shape ? &shape : NULL, &value));
    memcpy(value->extents, extents, sizeof extents);
    TRY(remember(p, &level->names, value));
  }
  return HONE_OK;
}

/* After the keyword graph, up to the opening brace. */
static hone_status open_level(struct parser *p, const char *attribute) {
  struct level level = {.attribute = attribute};
  if ((int64_t)p->levels.count >= p->ctx->limits[LIMIT_depth])
    return fail(p->ctx, HONE_E_LIMIT, place_offset(p->at), "graphs are nested too deeply");
  TRY(graph_create(p->ctx, p->arena, &level.graph));
  if (p->levels.count)
    level.graph->parent = top(p)->graph;
  else
    p->root = level.graph;
  skip(p, true);
  if (peek(p) != '(') TRY(read_name(p, &level.graph->name));
  TRY(read_graph_inputs(p, &level));
  TRY(expect(p, '-'));
  TRY(expect(p, '>'));
  TRY(expect(p, '('));
  while (!accept(p, ')')) {
    const char *name;
    if (level.output_names.count) TRY(expect(p, ','));
    skip(p, true);
    TRY(read_name(p, &name));
    VEC_PUSH(p->ctx, p->arena, &level.output_names, name);
  }
  level.graph->impossible = level.graph->parent && accept_word(p, "impossible");
  TRY(expect(p, '{'));
  VEC_PUSH(p->ctx, p->arena, &p->levels, level);
  return HONE_OK;
}

/* After the closing brace. More attributes of the outer node may follow. */
static hone_status close_level(struct parser *p, struct graph **out) {
  struct level *level = top(p);
  if (level->graph->impossible && level->graph->nodes.count)
    return bad(p, "no nodes in a branch that is impossible");
  for (size_t i = 0; i < level->output_names.count; i++) {
    const char *name = level->output_names.at[i];
    struct value *value = find_value(p, name);
    if (!value && level->graph->impossible) /* no node makes it */
      TRY(graph_value(p->ctx, level->graph, name, &value));
    else
      TRY(look_up(p, name, &value));
    if (graph_owns(level->graph, value)) {
      TRY(graph_output(p->ctx, level->graph, value));
    } else {
      VEC_PUSH(p->ctx, p->arena, &level->graph->outputs, value);
    }
  }
  *out = level->graph;
  struct attribute attribute = {
      .name = level->attribute, .kind = ATTRIBUTE_GRAPH, .graph = level->graph};
  p->levels.count--;
  if (!p->levels.count) return HONE_OK;
  TRY(node_set(p->ctx, top(p)->graph, top(p)->node, &attribute));
  return read_rest(p);
}

hone_status graph_parse(struct ctx *ctx, struct arena *arena, const char *text, size_t length,
                        find_op_fn *find, struct graph **out) {
  struct parser p = {.ctx = ctx, .arena = arena, .text = text, .length = length, .find = find};
  skip(&p, true);
  if (!accept_word(&p, "graph")) return bad(&p, "'graph'");
  TRY(open_level(&p, NULL));
  while (p.levels.count) {
    if (accept(&p, '}'))
      TRY(close_level(&p, out));
    else
      TRY(read_statement(&p));
  }
  skip(&p, true);
  return p.at == p.length ? HONE_OK : bad(&p, "the end of the text");
}
