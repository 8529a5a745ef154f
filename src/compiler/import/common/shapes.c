/* shapes: sizes for the dynamic dimensions of the main graph's inputs, by one rule for all
 * commands.
 *
 * The user's text ("x[1,3,224,224],y[1]", or "x[N<=64,3,224,224]") has priority over the names that
 * the file gives to its dimensions; a name that gets a size there has it in all inputs that the
 * text does not mention. A remaining dynamic dimension becomes the batch (1 by default) if it is an
 * input's first dimension or has the name of one. Otherwise it is an error that lists every dynamic
 * dimension with an example to copy, unless options->open_is gives its size. The chosen sizes are
 * reported. */
#include "compiler/import/import.h"

bool dtype_supported(int64_t number) {
  return number > 0 && number < 64 && number != 14 && number != 15 &&
         (number == HONE_STRING || dtype_bits((hone_dtype)number));
}

/* An empty tensor must also be valid with its empty dimensions replaced by 1: strides are products
 * too. */
hone_status shape_check(struct ctx *ctx, struct place at, hone_dtype dtype,
                        const struct shape *shape, int64_t *out_elements, size_t *out_bytes) {
  struct shape filled = *shape;
  for (int i = 0; i < filled.rank; i++) filled.dims[i] += filled.dims[i] == 0;
  TRY(extent(ctx, at, dtype, &filled, out_elements, out_bytes));
  return extent(ctx, at, dtype, shape, out_elements, out_bytes);
}

hone_status payload_use(struct ctx *ctx, struct arena *arena, const uint8_t *bytes,
                        struct tensor *tensor) {
  unsigned bits = dtype_bits(tensor->dtype);
  size_t alignment = bits < 8 ? 1 : bits / 8;
  tensor->data = bytes;
  if ((uintptr_t)bytes % alignment == 0) return HONE_OK;
  uint8_t *copy;
  TRY(arena_alloc(ctx, arena, tensor->bytes, 1, &copy));
  memcpy(copy, bytes, tensor->bytes);
  tensor->data = copy;
  return HONE_OK;
}

/* -- dynamic dimensions */

/* Placeholders that exporters write for unknown sizes: "?", "-1", "None", "unk__12". */
bool dimension_is_named(const char *param) {
  static const char numbered[] = "unk__";
  const size_t prefix = sizeof numbered - 1;
  bool has_letter = false;
  for (const char *c = param; *c; c++)
    has_letter |= (unsigned char)*c >= 0x80 || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
  if (!has_letter || !strcmp(param, "None")) return false;
  return strncmp(param, numbered, prefix) || param[prefix + strspn(param + prefix, "0123456789")];
}

enum { MOST_TOLD = 12 };
enum origin { ORIGIN_FILE, ORIGIN_TEXT, ORIGIN_BATCH, ORIGIN_ASSUMED };
struct binding {
  int64_t value;
  enum origin origin;
  bool is_told;
};
struct binder {
  struct ctx *ctx;
  struct arena *arena;
  const struct import_options *options;
  struct symbols symbols; /* of the user's text so far */
  bool has_symbol;        /* in the dimension that is read */
  bool is_inside;         /* a dimension other than the first of an input has one */
  const struct raw_value *inputs;
  const bool *is_real;
  size_t count;
  int64_t batch;        /* 0: not given */
  struct shape *shapes; /* -1: still dynamic */
  enum origin (*origins)[HONE_MAX_RANK];
  bool *is_given;      /* given in the user's text */
  struct names params; /* name -> struct binding */
};

/* -- the user's text */

/* The input whose name is at `text` before a "[": the longest such name; count if none. */
static size_t match_input(const struct binder *b, const char *text) {
  size_t best = b->count, best_length = 0;
  for (size_t i = 0; i < b->count; i++) {
    size_t length = strlen(b->inputs[i].name);
    if (!b->is_real[i] || strncmp(text, b->inputs[i].name, length) || text[length] != '[') continue;
    if (best == b->count || length > best_length) best = i, best_length = length;
  }
  return best;
}

static hone_status bad_text(struct binder *b, const char *at) {
  return fail(b->ctx, HONE_E_USAGE, place_none(), "--shape cannot be read at \"%.40s\"", at);
}

/* "224" at `text`; advances past it. */
static hone_status parse_size(struct binder *b, const char **text, int64_t least, int64_t *out) {
  char digits[24];
  size_t length = strspn(*text, "0123456789");
  if (!length || length >= sizeof digits) return bad_text(b, *text);
  memcpy(digits, *text, length);
  digits[length] = 0;
  if (!parse_i64(digits, least, INT64_MAX, out)) return bad_text(b, *text);
  *text += length;
  return HONE_OK;
}

/* "=8<=64" or "<=64" after a new name. */
static hone_status parse_bound(struct binder *b, const char *name, size_t length, int64_t least,
                               const char **text) {
  if (b->symbols.count == HONE_MAX_SYMBOLS)
    return fail(b->ctx, HONE_E_LIMIT, place_none(),
                "--shape has more than %d dynamic dimensions at \"%.40s\"", HONE_MAX_SYMBOLS, name);
  struct symbol *symbol = &b->symbols.at[b->symbols.count];
  bool has_at = **text == '=';
  if (has_at) (*text)++;
  if (has_at) TRY(parse_size(b, text, least, &symbol->at));
  if (strncmp(*text, "<=", 2)) return bad_text(b, *text);
  *text += 2;
  TRY(parse_size(b, text, 1, &symbol->bound));
  symbol->least = least;
  if (!has_at) symbol->at = symbol->bound;
  if (symbol->at > symbol->bound || least > symbol->bound) return bad_text(b, name);
  b->symbols.count++;
  return arena_string(b->ctx, b->arena, name, length, &symbol->name);
}

/* "N<=64" or "N=8<=64", or "N" once its bound is known; advances past it. */
static hone_status parse_symbol(struct binder *b, const char **text, int64_t least, int64_t *out) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const char *name = *text;
  size_t length = strspn(name, letters), k = 0;
  if (!length || length > 32 || (*name >= '0' && *name <= '9')) return bad_text(b, name);
  *text += length;
  while (k < b->symbols.count &&
         (strlen(b->symbols.at[k].name) != length || memcmp(b->symbols.at[k].name, name, length)))
    k++;
  if ((k == b->symbols.count) != (**text == '=' || **text == '<'))
    return fail(b->ctx, HONE_E_USAGE, place_none(),
                "--shape: give the bound of %.*s once, at its first use: %.*s<=64", (int)length,
                name, (int)length, name);
  if (k == b->symbols.count) TRY(parse_bound(b, name, length, least, text));
  b->has_symbol = true;
  *out = b->options->sizes[k] ? b->options->sizes[k]
         : b->options->at_run ? b->symbols.at[k].at
                              : b->symbols.at[k].bound;
  return HONE_OK;
}

/* "3", "N<=64", "0<=N<=64", "32*N<=20": a number, a symbol, or a multiple of one. */
static hone_status parse_term(struct binder *b, const char **text, int64_t *out) {
  int64_t number = 1;
  if (**text < '0' || **text > '9') return parse_symbol(b, text, 1, out);
  TRY(parse_size(b, text, 0, &number));
  *out = number;
  if (!strncmp(*text, "<=", 2)) {
    *text += 2;
    return parse_symbol(b, text, number, out);
  }
  if (**text != '*') return HONE_OK;
  const char *at = (*text)++;
  TRY(parse_symbol(b, text, 1, out));
  return __builtin_mul_overflow(*out, number, out) ? bad_text(b, at) : HONE_OK;
}

/* "N+1", "P+S": sums of terms. */
static hone_status parse_dimension(struct binder *b, const char **text, int64_t *out) {
  *out = 0;
  for (;; (*text)++) {
    int64_t term;
    const char *at = *text;
    TRY(parse_term(b, text, &term));
    if (__builtin_add_overflow(*out, term, out)) return bad_text(b, at);
    if (**text != '+') return HONE_OK;
  }
}

/* "[1,3,224]" at `text`; advances past the bracket. */
static hone_status parse_sizes(struct binder *b, const char **text, struct shape *out) {
  const char *at = *text + 1;
  *out = (struct shape){0};
  while (*at != ']') {
    if (out->rank == HONE_MAX_RANK) return bad_text(b, at);
    b->has_symbol = false;
    TRY(parse_dimension(b, &at, &out->dims[out->rank++]));
    b->is_inside |= b->has_symbol && out->rank > 1;
    if (*at == ',' && at[1] != ']')
      at++;
    else if (*at != ']')
      return bad_text(b, at);
  }
  *text = at + 1;
  return HONE_OK;
}

static hone_status apply_given(struct binder *b, size_t i, const struct shape *given) {
  const struct raw_value *input = &b->inputs[i];
  struct place at = place_name(input->name);
  if (b->is_given[i]) return fail(b->ctx, HONE_E_USAGE, at, "--shape gives this input twice");
  if (input->has_shape && given->rank != input->rank)
    return fail(b->ctx, HONE_E_SHAPE, at, "--shape gives %d dimensions, the model has %d",
                given->rank, input->rank);
  for (int d = 0; input->has_shape && d < given->rank; d++)
    if (input->dims[d].value >= 0 && input->dims[d].value != given->dims[d])
      return fail(b->ctx, HONE_E_SHAPE, at,
                  "--shape gives %lld for dimension %d, which is fixed at %lld",
                  (long long)given->dims[d], d, (long long)input->dims[d].value);
  b->shapes[i] = *given;
  b->is_given[i] = true;
  for (int d = 0; d < given->rank; d++)
    if (!input->has_shape || input->dims[d].value < 0) b->origins[i][d] = ORIGIN_TEXT;
  return HONE_OK;
}

static hone_status apply_text(struct binder *b, const char *text) {
  while (text && *text) {
    size_t i = match_input(b, text);
    if (i == b->count)
      return fail(b->ctx, HONE_E_USAGE, place_none(), "--shape: the model has no such input: %.60s",
                  text);
    text += strlen(b->inputs[i].name);
    struct shape given;
    if (*text != '[') return bad_text(b, text);
    TRY(parse_sizes(b, &text, &given));
    TRY(apply_given(b, i, &given));
    if (*text == ',' && text[1])
      text++;
    else if (*text)
      return bad_text(b, text);
  }
  return HONE_OK;
}

/* -- names of dimensions */

static hone_status bind(struct binder *b, size_t i, int d) {
  const struct raw_dim *dim = &b->inputs[i].dims[d];
  int64_t value = b->shapes[i].dims[d];
  if (!*dim->param) return HONE_OK;
  struct binding *binding = names_find(&b->params, dim->param);
  if (binding && binding->value != value) /* two inputs in the text, or two axes of one */
    warn(b->ctx,
         "dimension \"%s\" of the model is %lld and %lld in --shape: its sizes must be equal",
         dim->param, (long long)binding->value, (long long)value);
  if (binding) return HONE_OK;
  bool fresh;
  TRY(NEW(b->ctx, b->arena, binding));
  *binding = (struct binding){.value = value, .origin = b->origins[i][d]};
  return names_add(b->ctx, &b->params, dim->param, binding, &fresh);
}

static hone_status bind_given(struct binder *b) {
  for (size_t i = 0; i < b->count; i++)
    for (int d = 0; b->is_given[i] && d < b->inputs[i].rank; d++) TRY(bind(b, i, d));
  return HONE_OK;
}

/* Dynamic dimensions with a known name get its size. */
static void propagate(struct binder *b) {
  for (size_t i = 0; i < b->count; i++) {
    for (int d = 0; b->is_real[i] && d < b->inputs[i].rank; d++) {
      int64_t *value = &b->shapes[i].dims[d];
      const struct binding *binding = names_find(&b->params, b->inputs[i].dims[d].param);
      if (*value >= 0 || !binding) continue;
      *value = binding->value;
      b->origins[i][d] = binding->origin;
    }
  }
}

/* The size of a dimension, or one that the file allows; the size of a name is set once. */
static int64_t example_of(const struct binder *b, size_t i, int d) {
  const int64_t size = b->shapes[i].dims[d], example = b->inputs[i].dims[d].example;
  return size >= 0 ? size : example > 0 ? example : 1;
}

static hone_status take_batches(struct binder *b) {
  for (size_t i = 0; i < b->count; i++) {
    if (!b->is_real[i] || !b->inputs[i].rank || b->shapes[i].dims[0] >= 0) continue;
    b->shapes[i].dims[0] = b->batch ? b->batch : b->inputs[i].has_shape ? example_of(b, i, 0) : 1;
    b->origins[i][0] = b->batch ? ORIGIN_BATCH : ORIGIN_ASSUMED;
    TRY(bind(b, i, 0));
  }
  return HONE_OK;
}

/* For a model that is only described: any allowed size will do. */
static hone_status choose_remaining(struct binder *b) {
  for (size_t i = 0; b->options->open_is && i < b->count; i++)
    for (int d = 0; b->is_real[i] && d < b->inputs[i].rank; d++)
      if (b->shapes[i].dims[d] < 0) {
        b->shapes[i].dims[d] = b->options->open_is;
        b->origins[i][d] = ORIGIN_ASSUMED;
        TRY(bind(b, i, d));
      }
  return HONE_OK;
}

/* A requested batch is the first dimension of every input that --shape does not give. */
static hone_status check_batch(const struct binder *b) {
  bool has_batch = false;
  for (size_t i = 0; i < b->count; i++) {
    if (!b->is_real[i] || !b->shapes[i].rank) continue;
    has_batch |= b->shapes[i].dims[0] == b->batch;
    if (b->shapes[i].dims[0] != b->batch && !b->is_given[i])
      return fail(b->ctx, HONE_E_SHAPE, place_name(b->inputs[i].name),
                  "--batch gives %lld for dimension 0, which is fixed at %lld", (long long)b->batch,
                  (long long)b->shapes[i].dims[0]);
  }
  return has_batch ? HONE_OK
                   : fail(b->ctx, HONE_E_SHAPE, place_none(),
                          "--batch %lld, but no input has a dynamic first dimension",
                          (long long)b->batch);
}

/* -- remaining dynamic dimensions */

static bool is_open(const struct binder *b, size_t i) {
  if (!b->is_real[i]) return false;
  if (!b->inputs[i].has_shape && !b->is_given[i]) return true;
  for (int d = 0; d < b->shapes[i].rank; d++)
    if (b->shapes[i].dims[d] < 0) return true;
  return false;
}

/* "x[batch,3,?]": as declared by the model, or as an example. */
static void put_input(struct strbuf *text, const struct binder *b, size_t i, bool as_example) {
  const struct raw_value *input = &b->inputs[i];
  strbuf_put_safe(text, input->name, 80);
  strbuf_puts(text, "[");
  if (!input->has_shape) strbuf_puts(text, as_example ? "1" : "no shape");
  for (int d = 0; d < input->rank; d++) {
    if (d) strbuf_puts(text, ",");
    if (as_example)
      strbuf_printf(text, "%lld", (long long)example_of(b, i, d));
    else if (input->dims[d].value >= 0)
      strbuf_printf(text, "%lld", (long long)input->dims[d].value);
    else
      strbuf_put_safe(text, *input->dims[d].param ? input->dims[d].param : "?", 40);
  }
  strbuf_puts(text, "]");
}

static hone_status refuse_open(struct binder *b) {
  struct strbuf open = {0}, example = {0};
  for (size_t i = 0; i < b->count; i++) {
    if (!is_open(b, i)) continue;
    strbuf_puts(&open, open.length ? ", " : "");
    put_input(&open, b, i, false);
    strbuf_puts(&example, example.length ? "," : "");
    put_input(&example, b, i, true);
  }
  hone_status status = fail(b->ctx, HONE_E_SHAPE, place_none(),
                            "dynamic dimensions: %s; give their sizes, for example --shape \"%s\"",
                            open.at ? open.at : "", example.at ? example.at : "");
  strbuf_deinit(&open);
  strbuf_deinit(&example);
  return status;
}

/* -- report of the chosen sizes */

/* True at the first call for a dimension name, and always without a name. */
static bool is_new(const struct binder *b, const char *param) {
  struct binding *binding = *param ? names_find(&b->params, param) : NULL;
  if (!binding) return true;
  const bool is_new = !binding->is_told;
  binding->is_told = true;
  return is_new;
}

/* "batch = 1, x dimension 2 = 1": every dynamic dimension of that origin, named ones once. */
static size_t put_chosen(struct strbuf *text, const struct binder *b, enum origin origin) {
  size_t count = 0;
  for (size_t i = 0; i < b->count; i++)
    for (int d = 0; b->is_real[i] && d < b->shapes[i].rank; d++) {
      const char *param = b->inputs[i].has_shape ? b->inputs[i].dims[d].param : "";
      const struct binding *binding = *param ? names_find(&b->params, param) : NULL;
      if (binding && binding->value != b->shapes[i].dims[d]) param = ""; /* it got another size */
      if (b->origins[i][d] != origin || !is_new(b, param) || count++ >= MOST_TOLD) continue;
      strbuf_puts(text, count > 1 ? ", " : text->length ? "; " : "");
      strbuf_put_safe(text, *param ? param : b->inputs[i].name, 40);
      if (!*param) strbuf_printf(text, " dimension %d", d);
      strbuf_printf(text, " = %lld", (long long)b->shapes[i].dims[d]);
    }
  if (count > MOST_TOLD) strbuf_printf(text, " and %zu more", count - MOST_TOLD);
  return count;
}

/* Reports the size of each dynamic dimension; assumed sizes are a warning too. */
static hone_status report_sizes(struct binder *b, const char **out_open) {
  struct strbuf text = {0};
  *out_open = NULL;
  if (put_chosen(&text, b, ORIGIN_TEXT)) strbuf_puts(&text, " (--shape)");
  if (put_chosen(&text, b, ORIGIN_BATCH)) strbuf_puts(&text, " (--batch)");
  bool is_assumed = put_chosen(&text, b, ORIGIN_ASSUMED) > 0;
  if (is_assumed)
    strbuf_puts(&text,
                " (assumed: a dynamic first dimension, and others with its name; --batch and "
                "--shape set it)");
  hone_status status = strbuf_finish(b->ctx, &text);
  if (!status && is_assumed) warn(b->ctx, "dynamic dimensions: %s", text.at);
  if (!status && text.length)
    status = arena_string(b->ctx, b->arena, text.at, text.length, out_open);
  strbuf_deinit(&text);
  return status;
}

static void start(struct binder *b) {
  for (size_t i = 0; i < b->count; i++) {
    b->shapes[i].rank = b->inputs[i].rank;
    for (int d = 0; d < b->inputs[i].rank; d++) b->shapes[i].dims[d] = b->inputs[i].dims[d].value;
  }
}

static hone_status list_asked(const struct binder *b, struct asked_inputs *out) {
  for (size_t i = 0; i < b->count; i++) {
    const struct raw_value *input = &b->inputs[i];
    struct asked_input asked = {.dtype = input->dtype,
                                .shape = b->shapes[i],
                                .has_shape = input->has_shape || b->is_given[i]};
    if (!b->is_real[i]) continue;
    TRY(arena_string(b->ctx, out->arena, input->name, strlen(input->name), &asked.name));
    VEC_PUSH(b->ctx, out->arena, &out->list, asked);
  }
  return fail(b->ctx, HONE_E_SHAPE, place_none(), "inputs are only listed");
}

hone_status bind_shapes(struct ctx *ctx, struct arena *arena, const struct import_options *options,
                        const struct raw_value *inputs, const bool *is_real, size_t count,
                        struct shape *out_shapes, struct graph *graph) {
  struct binder b = {.ctx = ctx,
                     .arena = arena,
                     .options = options,
                     .inputs = inputs,
                     .is_real = is_real,
                     .count = count,
                     .batch = options->batch,
                     .shapes = out_shapes};
  names_init(&b.params, arena);
  TRY(NEW_ARRAY(ctx, arena, b.is_given, count));
  TRY(NEW_ARRAY(ctx, arena, b.origins, count));
  start(&b);
  TRY(apply_text(&b, options->shapes));
  if (options->symbols) *options->symbols = b.symbols;
  graph->is_open = b.symbols.count != 0;
  graph->is_open_inside = b.is_inside;
  graph->keeps_control = options->keeps_control;
  if (graph->keeps_control && options->before && options->before->keeps_control)
    graph->at_bounds = options->before;
  TRY(bind_given(&b));
  propagate(&b);
  if (options->asked) return list_asked(&b, options->asked);
  TRY(take_batches(&b));
  propagate(&b);
  TRY(choose_remaining(&b));
  for (size_t i = 0; i < count; i++)
    if (is_open(&b, i)) return refuse_open(&b);
  if (b.batch > 1) TRY(check_batch(&b));
  return report_sizes(&b, &graph->open_dimensions);
}
