/* shapes: open dimensions of the main graph's inputs get a number.
 *
 * The user's text ("x[1,3,224,224],y[1]") comes first; a name that stands for a dimension there
 * stands for it everywhere. What is still open becomes 1 where it is an input's first dimension
 * (the batch), and otherwise is an error that lists every open dimension with an example to copy.
 */
#include "import.h"

bool dtype_supported(int64_t number) {
  return number > 0 && number < 64 && number != 14 && number != 15 &&
         (number == HONE_STRING || dtype_bits((hone_dtype)number));
}

/* An empty tensor must fit as well when its empty dimensions count as 1: strides are products too.
 */
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

/* -- open dimensions ---- */

struct binding {
  int64_t value;
  bool is_default;
};
struct binder {
  struct ctx *ctx;
  struct arena *arena;
  const struct raw_value *inputs;
  const bool *is_real;
  size_t count;
  struct shape *shapes; /* -1: still open */
  bool *is_given;       /* by the user's text */
  struct names params;  /* name -> struct binding */
};

/* -- the user's text ---- */

/* Input whose name stands at `text` before a "[": the longest such name; count if none. */
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

/* "[1,3,224]" from `text`; moves it past the bracket. */
static hone_status parse_dims(struct binder *b, const char **text, struct shape *out) {
  const char *at = *text + 1;
  *out = (struct shape){0};
  while (*at != ']') {
    char digits[24];
    size_t length = strspn(at, "0123456789");
    if (!length || length >= sizeof digits || out->rank == HONE_MAX_RANK) return bad_text(b, at);
    memcpy(digits, at, length);
    digits[length] = 0;
    if (!parse_i64(digits, 0, INT64_MAX, &out->dims[out->rank++])) return bad_text(b, at);
    at += length;
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
  if (b->is_given[i]) return fail(b->ctx, HONE_E_USAGE, at, "--shape names this input twice");
  if (input->has_shape && given->rank != input->rank)
    return fail(b->ctx, HONE_E_SHAPE, at, "--shape gives %d dimensions, the model has %d",
                given->rank, input->rank);
  for (int d = 0; input->has_shape && d < given->rank; d++)
    if (input->dims[d].value >= 0 && input->dims[d].value != given->dims[d])
      return fail(b->ctx, HONE_E_SHAPE, at, "--shape gives %lld for dimension %d, fixed at %lld",
                  (long long)given->dims[d], d, (long long)input->dims[d].value);
  b->shapes[i] = *given;
  b->is_given[i] = true;
  return HONE_OK;
}

static hone_status apply_text(struct binder *b, const char *text) {
  while (text && *text) {
    size_t i = match_input(b, text);
    if (i == b->count)
      return fail(b->ctx, HONE_E_USAGE, place_none(), "--shape names no input of the model: %.60s",
                  text);
    text += strlen(b->inputs[i].name);
    struct shape given;
    TRY(parse_dims(b, &text, &given));
    TRY(apply_given(b, i, &given));
    if (*text == ',' && text[1])
      text++;
    else if (*text)
      return bad_text(b, text);
  }
  return HONE_OK;
}

/* -- names of dimensions ---- */

static hone_status bind(struct binder *b, size_t i, int d, bool is_default) {
  const struct raw_dim *dim = &b->inputs[i].dims[d];
  int64_t value = b->shapes[i].dims[d];
  if (!*dim->param) return HONE_OK;
  struct binding *binding = names_find(&b->params, dim->param);
  if (binding && binding->value != value)
    return fail(b->ctx, HONE_E_SHAPE, place_name(b->inputs[i].name),
                "dimension \"%s\" is %lld here and %lld at another input", dim->param,
                (long long)value, (long long)binding->value);
  if (binding) return HONE_OK;
  bool fresh;
  TRY(NEW(b->ctx, b->arena, binding));
  *binding = (struct binding){value, is_default};
  return names_add(b->ctx, &b->params, dim->param, binding, &fresh);
}

static hone_status bind_given(struct binder *b) {
  for (size_t i = 0; i < b->count; i++)
    for (int d = 0; b->is_given[i] && d < b->inputs[i].rank; d++) TRY(bind(b, i, d, false));
  return HONE_OK;
}

/* Open dimensions with a bound name take its value. */
static void propagate(struct binder *b) {
  for (size_t i = 0; i < b->count; i++) {
    for (int d = 0; b->is_real[i] && d < b->inputs[i].rank; d++) {
      int64_t *value = &b->shapes[i].dims[d];
      const struct binding *binding = names_find(&b->params, b->inputs[i].dims[d].param);
      if (*value >= 0 || !binding) continue;
      *value = binding->value;
      if (binding->is_default && d)
        warn(b->ctx, "dimension %d of input \"%s\" (\"%s\") is open and taken as 1: see --shape", d,
             b->inputs[i].name, b->inputs[i].dims[d].param);
    }
  }
}

static hone_status default_batches(struct binder *b) {
  for (size_t i = 0; i < b->count; i++) {
    if (!b->is_real[i] || !b->inputs[i].rank || b->shapes[i].dims[0] >= 0) continue;
    b->shapes[i].dims[0] = 1;
    TRY(bind(b, i, 0, true));
  }
  return HONE_OK;
}

/* -- what is left ---- */

static bool is_open(const struct binder *b, size_t i) {
  if (!b->is_real[i]) return false;
  if (!b->inputs[i].has_shape && !b->is_given[i]) return true;
  for (int d = 0; d < b->shapes[i].rank; d++)
    if (b->shapes[i].dims[d] < 0) return true;
  return false;
}

/* "x[batch,3,?]": as the model states it, or with 1 for what is open. */
static void put_input(struct text *text, const struct binder *b, size_t i, bool as_example) {
  const struct raw_value *input = &b->inputs[i];
  text_put_safe(text, input->name, 80);
  text_puts(text, "[");
  if (!input->has_shape) text_puts(text, as_example ? "1" : "no shape");
  for (int d = 0; d < input->rank; d++) {
    if (d) text_puts(text, ",");
    if (as_example)
      text_printf(text, "%lld", (long long)(b->shapes[i].dims[d] < 0 ? 1 : b->shapes[i].dims[d]));
    else if (input->dims[d].value >= 0)
      text_printf(text, "%lld", (long long)input->dims[d].value);
    else
      text_put_safe(text, *input->dims[d].param ? input->dims[d].param : "?", 40);
  }
  text_puts(text, "]");
}

static hone_status refuse_open(struct binder *b) {
  struct text open = {0}, example = {0};
  for (size_t i = 0; i < b->count; i++) {
    if (!is_open(b, i)) continue;
    text_puts(&open, open.length ? ", " : "");
    put_input(&open, b, i, false);
    text_puts(&example, example.length ? "," : "");
    put_input(&example, b, i, true);
  }
  hone_status status = fail(b->ctx, HONE_E_SHAPE, place_none(),
                            "open dimensions: %s; give them, for example --shape \"%s\"",
                            open.at ? open.at : "", example.at ? example.at : "");
  text_deinit(&open);
  text_deinit(&example);
  return status;
}

static void start(struct binder *b) {
  for (size_t i = 0; i < b->count; i++) {
    b->shapes[i].rank = b->inputs[i].rank;
    for (int d = 0; d < b->inputs[i].rank; d++) b->shapes[i].dims[d] = b->inputs[i].dims[d].value;
  }
}

hone_status bind_shapes(struct ctx *ctx, struct arena *arena, const char *shapes,
                        const struct raw_value *inputs, const bool *is_real, size_t count,
                        struct shape *out_shapes) {
  struct binder b = {ctx, arena, inputs, is_real, count, .shapes = out_shapes};
  names_init(&b.params, arena);
  TRY(NEW_ARRAY(ctx, arena, b.is_given, count));
  start(&b);
  TRY(apply_text(&b, shapes));
  TRY(bind_given(&b));
  propagate(&b);
  TRY(default_batches(&b));
  propagate(&b);
  for (size_t i = 0; i < count; i++)
    if (is_open(&b, i)) return refuse_open(&b);
  return HONE_OK;
}
