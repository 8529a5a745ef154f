/* The generation loop with an engine. Two sets of tensors alternate: the caches that one call
 * writes are the inputs of the next. A step is all that an application does between two tokens:
 * fill in ids and positions, bind the tensors with their new sizes, run the model, find the most
 * likely token. With caches of fixed size only the first set is bound (once per generation if the
 * engine has copy_in), and a step ends by moving the appended values. An engine with a loop of its
 * own (extend) keeps the text itself and gets new tokens only.
 *
 * Every token is compared with the reference's when its generation is complete. Before one random
 * step of each generation the logits are poisoned, outside the timed part.
 */
#include "core/stats/stats.h"
#include "generation.h"

#include <stdlib.h>

struct generator {
  const struct generation *plan;
  bool is_own;
  int64_t prompt, count, steps; /* steps: calls of one generation */
  const int *input_place, *output_place;
  struct reference_tokens references[BENCH_SETS];
  int64_t *now;                           /* prompt and generated tokens */
  void *caches[2][GENERATION_MAX_CACHES]; /* by turn of the call that reads them */
  void *rest[GENERATION_MAX_TENSORS];     /* other inputs; NULL for caches */
  void *logits[2];
  void **others[2];              /* outputs that are not read */
  hone_tensor *in, *out;         /* model order */
  hone_tensor *inputs, *outputs; /* engine order */
  const void *last_logits;       /* of the latest step */
  size_t logits_bytes;
};

/* -- memory */

static hone_status allocate(struct ctx *ctx, const struct generator *g, size_t at, void **out) {
  const struct generation_call last = generation_call(g->plan, g->prompt, g->steps - 1);
  const struct generation_call first = generation_call(g->plan, g->prompt, 0);
  size_t bytes = 0;
  for (int i = 0; i < 2; i++) {
    const hone_tensor form = generation_form(g->plan, at, i ? last : first);
    size_t here;
    TRY(tensor_bytes(ctx, "tokens", &form, &here));
    if (here > bytes) bytes = here;
  }
  if (posix_memalign(out, 64, bytes + 64))
    return fail(ctx, HONE_E_OOM, place_none(), "no memory for caches of keys and values");
  memset(*out, 0, bytes + 64);
  return HONE_OK;
}

static int cache_of(const struct generation *plan, bool is_input, size_t at) {
  for (size_t c = 0; c < plan->cache_count; c++)
    if ((size_t)(is_input ? plan->caches[c].in : plan->caches[c].out) == at) return (int)c;
  return -1;
}

static hone_status allocate_all(struct ctx *ctx, struct generator *g) {
  const struct generation *plan = g->plan;
  g->now = calloc((size_t)(g->prompt + g->count) + 1, sizeof *g->now);
  if (!g->now) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a generation");
  if (g->is_own) return HONE_OK;
  for (size_t i = 0; i < plan->input_count; i++)
    if (cache_of(plan, true, i) < 0) TRY(allocate(ctx, g, i, &g->rest[i]));
  for (int turn = 0; turn < 2; turn++) {
    for (size_t c = 0; c < plan->cache_count; c++)
      TRY(allocate(ctx, g, plan->input_count + (size_t)plan->caches[c].out, &g->caches[turn][c]));
    g->others[turn] = calloc(plan->output_count + 1, sizeof *g->others[turn]);
    if (!g->others[turn]) return fail(ctx, HONE_E_OOM, place_none(), "no memory for outputs");
    for (size_t k = 0; k < plan->output_count; k++)
      if (cache_of(plan, false, k) < 0)
        TRY(allocate(ctx, g, plan->input_count + k, &g->others[turn][k]));
    g->logits[turn] = g->others[turn][plan->logits];
  }
  const size_t most = plan->input_count + plan->output_count + 1;
  g->in = calloc(most, sizeof *g->in);
  g->out = calloc(most, sizeof *g->out);
  g->inputs = calloc(most, sizeof *g->inputs);
  g->outputs = calloc(most, sizeof *g->outputs);
  return g->in && g->out && g->inputs && g->outputs
             ? HONE_OK
             : fail(ctx, HONE_E_OOM, place_none(), "no memory for a generation");
}

hone_status generator_create(struct ctx *ctx, const struct loop *loop,
                             const struct generator_spec *spec, struct generator **out) {
  (void)loop;
  struct generator *g = *out = calloc(1, sizeof *g);
  if (!g) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a generation");
  g->plan = spec->plan;
  g->prompt = spec->prompt;
  g->count = spec->count;
  g->is_own = spec->is_own;
  g->steps = (g->is_own ? 1 : generation_prompt_calls(spec->plan, spec->prompt)) - 1 + spec->count;
  g->input_place = spec->input_place;
  g->output_place = spec->output_place;
  for (int set = 0; set < BENCH_SETS; set++)
    TRY(reference_tokens_read(ctx, spec->dir, set, spec->prompt, spec->count, spec->limit,
                              &g->references[set]));
  return allocate_all(ctx, g);
}

void generator_destroy(struct generator *g) {
  if (!g) return;
  for (int set = 0; set < BENCH_SETS; set++) reference_tokens_deinit(&g->references[set]);
  for (size_t i = 0; i < GENERATION_MAX_TENSORS; i++) free(g->rest[i]);
  for (int turn = 0; turn < 2; turn++) {
    for (size_t c = 0; c < GENERATION_MAX_CACHES; c++) free(g->caches[turn][c]);
    for (size_t k = 0; g->others[turn] && k < g->plan->output_count; k++) free(g->others[turn][k]);
    free(g->others[turn]);
  }
  free(g->now);
  free(g->in);
  free(g->out);
  free(g->inputs);
  free(g->outputs);
  free(g);
}

static int turn_of(const struct generator *g, int64_t index) {
  return g->plan->holds ? 0 : (int)(index & 1);
}

const void *generator_logits(const struct generator *g, size_t *out_bytes) {
  *out_bytes = g->logits_bytes;
  return g->last_logits;
}

/* -- one step */

static void put_forms(struct generator *g, struct generation_call call, int turn) {
  const struct generation *plan = g->plan;
  for (size_t i = 0; i < plan->input_count; i++) {
    g->in[i] = generation_form(plan, i, call);
    g->in[i].data = g->rest[i];
  }
  for (size_t k = 0; k < plan->output_count; k++) {
    g->out[k] = generation_form(plan, plan->input_count + k, call);
    g->out[k].data = g->others[turn][k];
  }
  for (size_t c = 0; c < plan->cache_count; c++) {
    g->in[plan->caches[c].in].data = g->caches[turn][c];
    g->out[plan->caches[c].out].data = g->caches[!turn][c];
  }
}

static hone_status own_step(struct ctx *ctx, struct loop *loop, int64_t index, int64_t *out_token) {
  struct generator *g = loop->generator;
  const int64_t past = index ? g->prompt + index - 1 : 0,
                vocabulary = generation_vocabulary(g->plan);
  const float *logits;
  double lead;
  TRY(loop->backend->extend(ctx, loop->session, g->now + past, past, index ? 1 : g->prompt,
                            &logits));
  g->last_logits = logits;
  g->logits_bytes = (size_t)vocabulary * sizeof *logits;
  *out_token = generation_argmax_floats(g->plan, logits, &lead);
  return HONE_OK;
}

static hone_status step(struct ctx *ctx, struct loop *loop, int64_t index, int64_t *out_token) {
  struct generator *g = loop->generator;
  if (g->is_own) return own_step(ctx, loop, index, out_token);
  const struct generation_call call = generation_call(g->plan, g->prompt, index);
  const struct backend *backend = loop->backend;
  const int turn = turn_of(g, index);
  double lead;
  put_forms(g, call, turn);
  generation_fill(g->plan, call, g->now, g->in);
  for (size_t i = 0; i < g->plan->input_count; i++) g->inputs[i] = g->in[g->input_place[i]];
  for (size_t k = 0; k < g->plan->output_count; k++) g->outputs[k] = g->out[g->output_place[k]];
  if (g->plan->holds && index && backend->copy_in)
    TRY(backend->copy_in(ctx, loop->session, turn, g->inputs));
  else
    TRY(backend->bind(ctx, loop->session, turn, g->inputs, g->outputs));
  TRY(backend->submit(ctx, loop->session, turn));
  TRY(backend->wait(ctx, loop->session, turn));
  if (g->plan->holds) generation_keep(g->plan, call, g->out, g->in);
  g->last_logits = g->logits[turn];
  *out_token = generation_argmax(g->plan, &g->out[g->plan->logits], &lead);
  return HONE_OK;
}

/* Not of an own loop, whose logits are the engine's. */
static void poison(struct generator *g, int64_t index) {
  if (g->is_own) return;
  const struct generation_call call = generation_call(g->plan, g->prompt, index);
  const hone_tensor form =
      generation_form(g->plan, g->plan->input_count + (size_t)g->plan->logits, call);
  struct ctx ctx;
  size_t bytes;
  ctx_init(&ctx);
  if (!tensor_bytes(&ctx, "logits", &form, &bytes)) {
    memset(g->logits[turn_of(g, index)], 0xff, bytes); /* NaN in every float type */
    g->logits_bytes = bytes;
  }
}

/* -- a generation */

static bool compare(const struct generator *g, int set, struct accuracy *accuracy) {
  return reference_tokens_compare(&g->references[set], g->now + g->prompt, accuracy);
}

/* begin_ns: origin of the recorded times; out NULL: not recorded. */
static hone_status generate(struct ctx *ctx, struct loop *loop, int set, uint64_t begin_ns,
                            struct slice *out, uint64_t *out_first_ns) {
  struct generator *g = loop->generator;
  const int64_t before = g->steps - g->count; /* calls for the prompt, without a token */
  const int64_t poisoned = (int64_t)random_below(&loop->random, (uint64_t)g->steps);
  memset(g->now, 0xff, (size_t)(g->prompt + g->count) * sizeof *g->now);
  memcpy(g->now, g->references[set].tokens, (size_t)g->prompt * sizeof *g->now);
  poison(g, 0);
  const uint64_t asked = clock_ns();
  uint64_t started = asked, done = asked;
  for (int64_t k = 0; k < g->steps; k++) {
    int64_t token;
    TRY(step(ctx, loop, k, &token));
    loop->iterations++;
    if (k < before) continue;
    done = clock_ns();
    g->now[g->prompt + k - before] = token;
    if (token < 0 && k + 1 < g->steps)
      break; /* poisoned or not finite: the comparison reports
                                                 it */
    if (k == before) *out_first_ns = done - asked;
    if (out && out->sample_count < LOOP_MAX_SAMPLES) {
      out->scheduled[out->sample_count] = asked - begin_ns;
      out->started[out->sample_count] = started - begin_ns;
      out->samples[out->sample_count++] = done - started;
    }
    if (k + 1 == poisoned) poison(g, k + 1);
    started = clock_ns();
  }
  return HONE_OK;
}

static int next_set(struct loop *loop) {
  const int set = (int)loop->next_set;
  loop->next_set = (loop->next_set + 1) % BENCH_SETS;
  return set;
}

hone_status generate_once(struct ctx *ctx, struct loop *loop, struct accuracy *accuracy,
                          uint64_t *out_ns) {
  const int set = next_set(loop);
  TRY(generate(ctx, loop, set, 0, NULL, out_ns));
  compare(loop->generator, set, accuracy);
  return HONE_OK;
}

hone_status generate_warmup(struct ctx *ctx, struct loop *loop, uint64_t max_ns,
                            bool *out_is_stationary) {
  enum { MOST = 64 };
  const uint64_t begin = clock_ns();
  double each[MOST];
  size_t n = 0;
  *out_is_stationary = false;
  while (!*out_is_stationary && n < MOST && (n < 3 || clock_ns() - begin < max_ns)) {
    const uint64_t start = clock_ns();
    uint64_t first;
    TRY(generate(ctx, loop, next_set(loop), 0, NULL, &first));
    each[n++] = (double)(clock_ns() - start) / (double)loop->generator->steps;
    loop->median_ns = each[n - 1];
    *out_is_stationary = is_stationary(each, n, 1, 0.05);
  }
  return HONE_OK;
}

hone_status generate_slice(struct ctx *ctx, struct loop *loop, const struct slice_plan *plan,
                           struct slice *out) {
  const uint64_t begin = clock_ns();
  accuracy_of_tokens(&out->accuracy);
  do {
    const int set = next_set(loop);
    uint64_t first;
    TRY(generate(ctx, loop, set, begin, out, &first));
    out->verified += compare(loop->generator, set, &out->accuracy);
  } while (out->sample_count + (size_t)loop->generator->count < LOOP_MAX_SAMPLES &&
           clock_ns() - begin < plan->max_ns &&
           (out->sample_count < plan->min_samples || clock_ns() - begin < plan->min_ns));
  return HONE_OK;
}
