/* Finds the role of each input and output in text generation from names, types and growth: a cache
 * is an input whose output is longer by the number of given tokens.
 */
#include "generation.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

static bool is_whole(hone_dtype dtype) { return dtype == HONE_I64 || dtype == HONE_I32; }

static bool holds(const char *name, const char *word) {
  for (const size_t n = strlen(word); *name; name++)
    if (!strncasecmp(name, word, n)) return true;
  return false;
}

/* -- roles */

static bool is_mask(const struct backend_tensor *t) { return holds(t->name, "mask"); }
static bool is_position(const struct backend_tensor *t) {
  return is_whole(t->info.dtype) && holds(t->name, "pos") && t->info.rank <= 2;
}
static bool is_token(const struct backend_tensor *t) {
  return is_whole(t->info.dtype) && t->info.rank >= 1 && t->info.rank <= 2 && !is_mask(t) &&
         !is_position(t) && (holds(t->name, "token") || holds(t->name, "ids"));
}

static hone_status assign(struct ctx *ctx, const struct backend_io *io, struct generation *g) {
  static const struct {
    bool (*is)(const struct backend_tensor *tensor);
    size_t offset;
  } parts[] = {{is_mask, offsetof(struct generation, mask)},
               {is_position, offsetof(struct generation, position)},
               {is_token, offsetof(struct generation, token)}};
  g->token = g->mask = g->position = g->logits = -1;
  for (size_t i = 0; i < io->input_count; i++)
    for (size_t p = 0; p < COUNT(parts); p++) {
      if (!parts[p].is(&io->inputs[i])) continue;
      const int place = (int)i;
      int had;
      memcpy(&had, (const char *)g + parts[p].offset, sizeof had);
      if (had >= 0)
        return fail(ctx, HONE_E_UNSUP, place_name(io->inputs[i].name),
                    "a second input with this role; hone generates one sequence of tokens");
      memcpy((char *)g + parts[p].offset, &place, sizeof place);
      break;
    }
  if (g->token < 0)
    return fail(ctx, HONE_E_UNSUP, place_none(),
                "the model has no input of token ids (integers, named token or ids), so it does "
                "not generate text");
  const hone_tensor *token = &io->inputs[g->token].info;
  if (token->rank == 2 && token->shape[0] != 1)
    return fail(ctx, HONE_E_UNSUP, place_name(io->inputs[g->token].name),
                "the batch is %lld; hone generates one sequence", (long long)token->shape[0]);
  return HONE_OK;
}

/* The axis in which `out` is longer than `in` by `more`; -1 if there is not exactly one. */
static int grown_axis(const hone_tensor *in, const hone_tensor *out, int64_t more) {
  int axis = -1;
  if (in->dtype != out->dtype || in->rank != out->rank || !dtype_is_float(in->dtype)) return -1;
  for (int d = 0; d < in->rank; d++) {
    if (in->shape[d] == out->shape[d]) continue;
    if (axis >= 0 || out->shape[d] - in->shape[d] != more) return -1;
    axis = d;
  }
  return axis;
}

/* Assigns each cache the first fitting output that is free. */
static hone_status pair_caches(struct ctx *ctx, const struct backend_io *io, int64_t tokens,
                               struct generation *g) {
  for (size_t i = 0; i < io->input_count; i++) {
    struct generation_tensor *in = &g->tensors[i];
    size_t k = 0;
    if ((int)i == g->token || (int)i == g->mask || (int)i == g->position) continue;
    for (; k < io->output_count; k++) {
      struct generation_tensor *out = &g->tensors[io->input_count + k];
      const int axis = grown_axis(&io->inputs[i].info, &io->outputs[k].info, tokens);
      if (axis < 0 || out->grows) continue;
      in->axis = out->axis = axis;
      in->grows = GROWS_PAST;
      out->grows = GROWS_TOTAL;
      g->caches[g->cache_count++] = (struct generation_cache){(int)i, (int)k};
      break;
    }
    if (k == io->output_count)
      return fail(ctx, HONE_E_UNSUP, place_name(io->inputs[i].name),
                  "is not tokens, positions, a mask or a cache that grows with the tokens");
  }
  return HONE_OK;
}

static hone_status find_logits(struct ctx *ctx, const struct backend_io *io, struct generation *g) {
  for (size_t k = 0; k < io->output_count; k++) {
    const struct backend_tensor *output = &io->outputs[k];
    if (g->tensors[io->input_count + k].grows || !dtype_is_float(output->info.dtype) ||
        output->info.rank < 1)
      continue;
    if (g->logits < 0 || holds(output->name, "logits")) g->logits = (int)k;
  }
  return g->logits >= 0
             ? HONE_OK
             : fail(ctx, HONE_E_UNSUP, place_none(), "the model has no output of logits");
}

/* Finds the dimension that is longer by one with two tokens. */
static void grow_by_comparing(const struct backend_io *one, const struct backend_io *two,
                              struct generation *g) {
  for (size_t i = 0; i < g->input_count + g->output_count; i++) {
    const bool is_input = i < g->input_count;
    const hone_tensor *a = is_input ? &one->inputs[i].info : &one->outputs[i - g->input_count].info;
    const hone_tensor *b = is_input ? &two->inputs[i].info : &two->outputs[i - g->input_count].info;
    struct generation_tensor *tensor = &g->tensors[i];
    if (tensor->grows || a->rank != b->rank) continue;
    for (int d = 0; d < a->rank; d++)
      if (b->shape[d] == a->shape[d] + 1) {
        tensor->axis = d;
        tensor->grows = GROWS_TOKENS;
      }
  }
}

static void grow_named(struct generation *g, int place, enum grows grows) {
  if (place < 0) return;
  struct generation_tensor *tensor = &g->tensors[place];
  tensor->axis = tensor->form.rank - 1;
  tensor->grows = tensor->axis >= 0 ? grows : GROWS_NOT;
}

hone_status generation_find(struct ctx *ctx, const struct backend_io *one,
                            const struct backend_io *two, struct generation *out) {
  *out = (struct generation){.takes_prompt = two != NULL,
                             .input_count = one->input_count,
                             .output_count = one->output_count};
  if (one->input_count + one->output_count > GENERATION_MAX_TENSORS ||
      one->input_count > GENERATION_MAX_CACHES)
    return fail(ctx, HONE_E_LIMIT, place_none(), "more than %d inputs", GENERATION_MAX_CACHES);
  for (size_t i = 0; i < one->input_count + one->output_count; i++) {
    const bool is_input = i < one->input_count;
    out->tensors[i] = (struct generation_tensor){
        .form = is_input ? one->inputs[i].info : one->outputs[i - one->input_count].info,
        .axis = -1};
    out->tensors[i].form.data = NULL;
  }
  TRY(assign(ctx, one, out));
  const hone_tensor *token = &one->inputs[out->token].info;
  TRY(pair_caches(ctx, one, token->shape[token->rank - 1], out));
  TRY(find_logits(ctx, one, out));
  if (two) grow_by_comparing(one, two, out);
  if (out->mask >= 0 && out->cache_count) grow_named(out, out->mask, GROWS_TOTAL);
  return HONE_OK;
}

hone_status generation_check(struct ctx *ctx, const struct generation *g) {
  return g->cache_count || g->takes_prompt ? HONE_OK
                                           : fail(ctx, HONE_E_UNSUP, place_none(),
                                                  "the token length is fixed and there are no "
                                                  "caches, so the model cannot generate text");
}

/* -- caches of fixed size */

bool generation_hold(struct generation *g, int64_t places) {
  if (!g->cache_count || g->mask < 0 || g->position < 0) return false;
  const struct generation_tensor *mask = &g->tensors[g->mask];
  if (mask->grows != GROWS_TOTAL || dtype_is_float(mask->form.dtype)) return false;
  g->holds = places;
  g->takes_prompt = false;
  return true;
}

/* True if element k of the mask belongs to an unused place of the cache. */
static bool is_free(const struct generation *g, struct generation_call call, int64_t k) {
  const int64_t place = k % (g->holds + call.tokens);
  return g->holds && place >= call.past && place < g->holds;
}

void generation_keep(const struct generation *g, struct generation_call call,
                     const hone_tensor *outputs, const hone_tensor *inputs) {
  for (size_t c = 0; c < g->cache_count; c++) {
    const hone_tensor *from = &outputs[g->caches[c].out];
    const hone_tensor *into = &inputs[g->caches[c].in];
    const int axis = g->tensors[g->caches[c].in].axis;
    size_t rows = 1, bytes = dtype_bits(into->dtype) / 8;
    for (int d = 0; d < axis; d++) rows *= (size_t)into->shape[d];
    for (int d = axis + 1; d < into->rank; d++) bytes *= (size_t)into->shape[d];
    for (size_t row = 0; row < rows; row++)
      memcpy((char *)into->data + (row * (size_t)g->holds + (size_t)call.past) * bytes,
             (const char *)from->data + (row * (size_t)(g->holds + 1) + (size_t)g->holds) * bytes,
             bytes);
  }
}

/* -- one token more */

hone_status generation_longer(struct ctx *ctx, const struct generation *g, const char *const *names,
                              struct strbuf *out) {
  struct generation longer = *g;
  const hone_tensor *token = &g->tensors[g->token].form;
  struct generation_call call = {0, token->shape[token->rank - 1] + 1};
  for (size_t c = 0; c < g->cache_count; c++) {
    const struct generation_tensor *past = &g->tensors[g->caches[c].in];
    call.past = past->form.shape[past->axis];
  }
  grow_named(&longer, g->token, GROWS_TOKENS);
  grow_named(&longer, g->position, GROWS_TOKENS);
  grow_named(&longer, g->mask, GROWS_TOTAL);
  return generation_shapes(ctx, &longer, names, call, 0, out);
}

/* -- calls */

int64_t generation_prompt_calls(const struct generation *g, int64_t prompt) {
  return g->takes_prompt ? 1 : prompt;
}

struct generation_call generation_call(const struct generation *g, int64_t prompt, int64_t index) {
  if (!g->cache_count) return (struct generation_call){0, prompt + index};
  if (!g->takes_prompt) return (struct generation_call){index, 1};
  return index ? (struct generation_call){prompt + index - 1, 1}
               : (struct generation_call){0, prompt};
}

hone_tensor generation_form(const struct generation *g, size_t at, struct generation_call call) {
  const struct generation_tensor *tensor = &g->tensors[at];
  hone_tensor form = tensor->form;
  const int64_t past = g->holds ? g->holds : call.past;
  const int64_t sizes[] = {[GROWS_NOT] = 0,
                           [GROWS_TOKENS] = call.tokens,
                           [GROWS_PAST] = past,
                           [GROWS_TOTAL] = past + call.tokens};
  if (tensor->grows) form.shape[tensor->axis] = sizes[tensor->grows];
  return form;
}

int64_t generation_vocabulary(const struct generation *g) {
  const hone_tensor *logits = &g->tensors[g->input_count + (size_t)g->logits].form;
  return logits->shape[logits->rank - 1];
}

hone_status generation_shapes(struct ctx *ctx, const struct generation *g, const char *const *names,
                              struct generation_call call, int64_t bound, struct strbuf *out) {
  bool is_said = false;
  for (size_t i = 0; i < g->input_count; i++) {
    const struct generation_tensor *tensor = &g->tensors[i];
    const hone_tensor form = generation_form(g, i, call);
    const bool is_all = g->cache_count && tensor->grows == GROWS_TOTAL; /* a mask */
    const bool opens =
        bound && (is_all || tensor->grows == (g->cache_count ? GROWS_PAST : GROWS_TOKENS));
    strbuf_printf(out, "%s%s[", i ? "," : "", names[i]);
    for (int d = 0; d < form.rank; d++) {
      if (d) strbuf_puts(out, ",");
      if (!opens || d != tensor->axis)
        strbuf_printf(out, "%lld", (long long)form.shape[d]);
      else if (is_said)
        strbuf_puts(out, "HELD");
      else
        strbuf_printf(out, "HELD<=%lld", (long long)bound);
      if (opens && d == tensor->axis && is_all) strbuf_printf(out, "+%lld", (long long)call.tokens);
      is_said = is_said || (opens && d == tensor->axis);
    }
    strbuf_puts(out, "]");
  }
  return strbuf_finish(ctx, out);
}

void generation_fill(const struct generation *g, struct generation_call call, const int64_t *tokens,
                     hone_tensor *inputs) {
  for (size_t i = 0; i < g->input_count; i++) {
    const bool is_token = (int)i == g->token, is_at = (int)i == g->position;
    if (!is_token && !is_at && (int)i != g->mask) continue;
    struct tensor view = {.dtype = inputs[i].dtype, .data = inputs[i].data};
    view.shape.rank = inputs[i].rank;
    memcpy(view.shape.dims, inputs[i].shape, (size_t)inputs[i].rank * sizeof *inputs[i].shape);
    const size_t count = tensor_count(&view);
    for (size_t k = 0; k < count; k++) {
      const int64_t place = call.past + (int64_t)k;
      const int64_t x = is_token ? tokens[place] : is_at ? place : !is_free(g, call, (int64_t)k);
      if (dtype_is_float(view.dtype))
        tensor_set_f64(&view, k, (double)x);
      else
        tensor_set_i64(&view, k, x);
    }
  }
}

int64_t generation_argmax(const struct generation *g, const hone_tensor *logits, double *out_lead) {
  struct tensor view = {.dtype = logits->dtype, .data = logits->data};
  view.shape.rank = logits->rank;
  memcpy(view.shape.dims, logits->shape, (size_t)logits->rank * sizeof *logits->shape);
  const size_t width = (size_t)generation_vocabulary(g), count = tensor_count(&view);
  const float *floats =
      logits->dtype == HONE_F32 ? (const float *)logits->data + (count - width) : NULL;
  double best = -INFINITY, next = -INFINITY, largest = 0;
  int64_t token = -1;
  for (size_t i = 0; i < width; i++) {
    const double x = floats ? (double)floats[i] : tensor_f64(&view, count - width + i);
    if (!isfinite(x)) return -1;
    if (fabs(x) > largest) largest = fabs(x);
    if (x > best) {
      next = best;
      best = x;
      token = (int64_t)i;
    } else if (x > next) {
      next = x;
    }
  }
  *out_lead = largest > 0 ? (best - next) / largest : 0;
  return token;
}

int64_t generation_argmax_floats(const struct generation *g, const float *logits,
                                 double *out_lead) {
  const hone_tensor tensor = {.data = (void *)(uintptr_t)logits,
                              .dtype = HONE_F32,
                              .rank = 1,
                              .shape = {generation_vocabulary(g)}};
  return generation_argmax(g, &tensor, out_lead);
}

/* -- as numbers */

static void add(json_t *list, int64_t x) { json_array_append_new(list, json_integer(x)); }

json_t *generation_pack(const struct generation *g) {
  json_t *list = json_array();
  add(list, g->token);
  add(list, g->mask);
  add(list, g->position);
  add(list, g->logits);
  add(list, g->takes_prompt);
  add(list, g->holds);
  add(list, (int64_t)g->input_count);
  add(list, (int64_t)g->output_count);
  add(list, (int64_t)g->cache_count);
  for (size_t i = 0; i < g->input_count + g->output_count; i++) {
    const struct generation_tensor *tensor = &g->tensors[i];
    add(list, tensor->form.dtype);
    add(list, tensor->axis);
    add(list, tensor->grows);
    add(list, tensor->form.rank);
    for (int d = 0; d < tensor->form.rank; d++) add(list, tensor->form.shape[d]);
  }
  for (size_t c = 0; c < g->cache_count; c++) {
    add(list, g->caches[c].in);
    add(list, g->caches[c].out);
  }
  return list;
}

struct reader {
  const json_t *list;
  size_t at;
  bool is_sound;
};
static int64_t take(struct reader *r, int64_t least, int64_t most) {
  const json_t *number = json_array_get(r->list, r->at++);
  const int64_t x = json_integer_value(number);
  if (!json_is_integer(number) || x < least || x > most) r->is_sound = false;
  return r->is_sound ? x : least;
}

static void take_tensor(struct reader *r, struct generation_tensor *out) {
  out->form.dtype = (hone_dtype)take(r, 0, 63);
  out->axis = (int)take(r, -1, HONE_MAX_RANK - 1);
  out->grows = (enum grows)take(r, GROWS_NOT, GROWS_TOTAL);
  out->form.rank = (int32_t)take(r, 0, HONE_MAX_RANK);
  for (int d = 0; d < out->form.rank; d++) out->form.shape[d] = take(r, 0, INT32_MAX);
  if (!dtype_bits(out->form.dtype) ||
      (out->grows && (out->axis < 0 || out->axis >= out->form.rank)))
    r->is_sound = false;
}

bool generation_unpack(const json_t *list, struct generation *out) {
  struct reader r = {list, 0, true};
  struct generation *g = out;
  *g = (struct generation){.token = (int)take(&r, 0, GENERATION_MAX_TENSORS)};
  g->mask = (int)take(&r, -1, GENERATION_MAX_TENSORS);
  g->position = (int)take(&r, -1, GENERATION_MAX_TENSORS);
  g->logits = (int)take(&r, 0, GENERATION_MAX_TENSORS);
  g->takes_prompt = take(&r, 0, 1) != 0;
  g->holds = take(&r, 0, INT32_MAX);
  g->input_count = (size_t)take(&r, 1, GENERATION_MAX_CACHES);
  g->output_count = (size_t)take(&r, 1, GENERATION_MAX_CACHES);
  g->cache_count = (size_t)take(&r, 0, GENERATION_MAX_CACHES);
  const int inputs = (int)g->input_count, outputs = (int)g->output_count;
  if (!r.is_sound || g->token >= inputs || g->mask >= inputs || g->position >= inputs ||
      g->logits >= outputs)
    return false;
  for (size_t i = 0; i < g->input_count + g->output_count; i++) take_tensor(&r, &g->tensors[i]);
  for (size_t c = 0; c < g->cache_count; c++) {
    g->caches[c].in = (int)take(&r, 0, inputs - 1);
    g->caches[c].out = (int)take(&r, 0, outputs - 1);
  }
  const hone_tensor *logits = &g->tensors[g->input_count + (size_t)g->logits].form;
  return r.is_sound && r.at == json_array_size(list) && logits->rank > 0 &&
         generation_vocabulary(g) > 0;
}
