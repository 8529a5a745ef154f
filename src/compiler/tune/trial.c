/* One problem, several choices, timed in turns: a disturbance affects neighbouring slices alike,
 * and ratios of adjacent slices are compared (stats, paired_ratio). Candidates have their own
 * constants and share a and c, so that between two runs of one candidate the others' constants pass
 * through the caches, as other layers' do in a model.
 */
#include "tune.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

#include "compiler/kernels/reference.h"

typedef void kernel_function(const void *a, const void *b, void *c, const void *const *e,
                             void *scratch, long begin, long end);

enum { KERNELS_PER_UNIT = 4, RUNS_PER_SLICE = 3, FEWEST_ROUNDS = 4, MOST_ROUNDS = 400 };
#define SLICE_NS 100e3 /* shorter runs are repeated up to this time: the clock costs 30 ns */
#define SURE 0.98      /* an interval must end below this for another choice to be kept */
#define CONFIDENCE 0.95
#define WRONG 1e-4 /* relative L2 in f32; kernels have 4e-6 */

/* The memory of a trial. Packed constants are per candidate. */
struct bench_rig {
  struct ctx *ctx;
  const struct trial_options *options;
  struct kernel_target target;
  struct trial *trial;
  struct team *team;
  void *library;
  kernel_function *const *table;
  struct operand_counts counts;
  char *a, *b, *c;
  char **packed;  /* [count]; NULL: b is not packed */
  char **scratch; /* [count], one slice per thread */
  size_t *slices; /* bytes */
  float *extra;   /* e[0] of layernorm */
  char *v;        /* of attention */
  int64_t keys;
};
enum { MOST_OPERANDS = 16 };

static char *aligned(size_t bytes) {
  char *p = aligned_alloc(4096, (bytes + 8191) / 4096 * 4096);
  if (p) memset(p, 0, (bytes + 8191) / 4096 * 4096);
  return p;
}

/* Seeded values of the type; floats between -1 and 1. */
static void fill(char *at, uint8_t type, int64_t count, struct random *random) {
  for (int64_t i = 0; i < count; i++) {
    const uint32_t bits = (uint32_t)random_u64(random);
    const float value = (float)(int32_t)bits * 0x1p-31f;
    const uint16_t half = type == TYPE_F16 ? f32_to_f16(value) : f32_to_bf16(value);
    if (element_bytes(type) == 1)
      at[i] = (char)(type == TYPE_U8 ? bits & 127 : bits & 255);
    else if (element_bytes(type) == 2)
      memcpy(at + 2 * i, &half, 2);
    else
      memcpy(at + 4 * i, &value, 4);
  }
}

/* -- candidates */

static int by_cost(const void *a, const void *b) {
  const struct candidate *x = a, *y = b;
  if ((x->choice.cost > 0) != (y->choice.cost > 0)) return x->choice.cost > 0 ? -1 : 1;
  return x->choice.cost < y->choice.cost ? -1 : x->choice.cost > y->choice.cost;
}

/* Every choice of every row: the default choice first, then by predicted cost. */
static hone_status list_candidates(struct bench_rig *rig, struct arena *arena) {
  VEC(struct candidate) all = {0};
  struct trial *trial = rig->trial;
  struct choice usual;
  if (!kernel_choose(&trial->problem, &rig->target, &usual))
    return fail(rig->ctx, HONE_E_UNSUP, place_none(), "no kernel solves this problem on %s",
                rig->options->target->level);
  if (rig->options->only)
    VEC_PUSH(rig->ctx, arena, &all,
             ((struct candidate){.choice = *rig->options->only, .ns = NAN, .off = NAN}));
  for (size_t k = 0; k < kernel_count && !rig->options->only; k++) {
    struct candidate now;
    if (!kernel_serves(&kernel_table[k], &trial->problem, &rig->target)) continue;
    for (int i = 0;; i++) {
      now = (struct candidate){.choice.kernel = &kernel_table[k], .ns = NAN, .off = NAN};
      if (!kernel_table[k].enumerate(&trial->problem, &rig->target, i, &now.choice)) break;
      bool is_usual = now.choice.kernel == usual.kernel &&
                      !memcmp(now.choice.value, usual.value, sizeof usual.value);
      if (!is_usual) VEC_PUSH(rig->ctx, arena, &all, now);
    }
  }
  if (all.count) qsort(all.at, all.count, sizeof *all.at, by_cost);
  trial->count = 1 + all.count < rig->options->most ? 1 + all.count : rig->options->most;
  TRY(NEW_ARRAY(rig->ctx, arena, trial->candidates, trial->count));
  trial->candidates[0] = (struct candidate){.choice = usual, .ns = NAN, .off = NAN};
  for (size_t i = 1; i < trial->count; i++) trial->candidates[i] = all.at[i - 1];
  for (size_t i = 0; i < trial->count; i++) {
    const struct choice *choice = &trial->candidates[i].choice;
    trial->candidates[i].units =
        (size_t)choice->kernel->units(&trial->problem, &rig->target, choice);
    trial->candidates[i].ratio = (struct interval){NAN, NAN, NAN};
  }
  return HONE_OK;
}

/* -- one library */

static void put_table(const struct trial *trial, struct strbuf *out) {
  for (size_t i = 0; i < trial->count; i++)
    strbuf_printf(out, "HIDDEN NOIPA kernel_function way_%zu;\n", i);
  strbuf_puts(out, "static kernel_function *const table[] = {");
  for (size_t i = 0; i < trial->count; i++) strbuf_printf(out, "%sway_%zu", i ? ", " : "", i);
  strbuf_puts(out,
              "};\nEXPORTED kernel_function *const *trial_artifact(void);\n"
              "kernel_function *const *trial_artifact(void) { return table; }\n");
}

static hone_status build(struct bench_rig *rig, struct arena *arena, const char *path) {
  struct trial *trial = rig->trial;
  size_t count = (trial->count + KERNELS_PER_UNIT - 1) / KERNELS_PER_UNIT;
  struct strbuf *texts, *heads;
  struct build_unit *units;
  hone_status status = HONE_OK;
  TRY(NEW_ARRAY(rig->ctx, arena, texts, count));
  TRY(NEW_ARRAY(rig->ctx, arena, heads, count));
  TRY(NEW_ARRAY(rig->ctx, arena, units, count));
  for (size_t i = 0; i < trial->count && !status; i++) {
    char name[32];
    snprintf(name, sizeof name, "way_%zu", i);
    const struct kernel_alone alone = {.problem = &trial->problem,
                                       .choice = &trial->candidates[i].choice,
                                       .target = &rig->target,
                                       .name = name};
    status = emit_kernel_alone(rig->ctx, &alone, &texts[i / KERNELS_PER_UNIT]);
  }
  put_table(trial, &texts[count - 1]);
  for (size_t i = 0; i < count && !status; i++) {
    status = strbuf_finish(rig->ctx, &texts[i]);
    if (!status) status = emit_alone_head(rig->ctx, rig->options->target, &texts[i], &heads[i]);
    units[i] = (struct build_unit){.source = texts[i].at,
                                   .head = heads[i].at,
                                   .length = texts[i].length,
                                   .head_length = heads[i].length};
  }
  const struct build_input input = {.units = units, .unit_count = count, .prefix = "trial"};
  const struct build_options options = {.target = rig->options->target, .cc = rig->options->cc};
  if (!status) status = toolchain_build(rig->ctx, &input, &options, path);
  for (size_t i = 0; i < count; i++) strbuf_deinit(&texts[i]), strbuf_deinit(&heads[i]);
  return status;
}

static hone_status load(struct bench_rig *rig, struct arena *arena) {
  char folder[4096], path[4200];
  TRY(dir_temporary(rig->ctx, folder));
  snprintf(path, sizeof path, "%s/trial.so", folder);
  hone_status status = build(rig, arena, path);
  if (!status) rig->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  dir_temporary_remove(folder);
  if (status) return status;
  kernel_function *const *(*table)(void) = NULL;
  if (rig->library) *(void **)&table = dlsym(rig->library, "trial_artifact");
  if (!table)
    return fail(rig->ctx, HONE_E_INTERNAL, place_none(), "a kernel library cannot be loaded");
  rig->table = table();
  return HONE_OK;
}

/* -- operands */

static void release(struct bench_rig *rig) {
  for (size_t i = 0; i < rig->trial->count; i++) {
    free(rig->packed[i]);
    free(rig->scratch[i]);
    rig->packed[i] = rig->scratch[i] = NULL;
  }
  free(rig->a), free(rig->b), free(rig->c), free(rig->extra), free(rig->v);
  rig->a = rig->b = rig->c = rig->v = NULL;
  rig->extra = NULL;
}

static bool lay_out_one(struct bench_rig *rig, size_t i) {
  const struct choice *choice = &rig->trial->candidates[i].choice;
  const struct kernel *kernel = choice->kernel;
  const struct problem *p = &rig->trial->problem;
  if (kernel->pack) {
    rig->packed[i] = aligned(kernel->packed_bytes(p, &rig->target, choice));
    if (!rig->packed[i]) return false;
    kernel->pack(p, &rig->target, choice, rig->b, rig->packed[i]);
  }
  if (!kernel->scratch_bytes) return true;
  rig->slices[i] = (kernel->scratch_bytes(p, &rig->target, choice) + 63) / 64 * 64;
  rig->scratch[i] = aligned(rig->slices[i] * (size_t)rig->options->threads);
  return rig->scratch[i] != NULL;
}

/* New memory and values for all operands: other pages each time. */
static hone_status lay_out(struct bench_rig *rig) {
  const struct problem *p = &rig->trial->problem;
  struct random random;
  release(rig);
  random_init(&random, rig->options->seed);
  rig->counts = problem_counts(p);
  rig->a = aligned((size_t)rig->counts.a * element_bytes(p->types.a));
  rig->b = aligned(weights_bytes(p, rig->counts.b));
  rig->c = aligned((size_t)rig->counts.c * element_bytes(p->types.c));
  rig->extra = (float *)(void *)aligned((size_t)rig->counts.columns * 4);
  rig->v = aligned((size_t)rig->counts.v * element_bytes(p->types.b));
  rig->keys = p->n;
  bool is_whole = rig->a && rig->b && rig->c && rig->extra && rig->v;
  if (is_whole) {
    fill(rig->a, p->types.a, rig->counts.a, &random);
    if (p->block)
      fill(rig->b, TYPE_I8, (int64_t)weights_bytes(p, rig->counts.b), &random),
          fill_scales(p, rig->b);
    else
      fill(rig->b, p->types.b, rig->counts.b, &random);
    fill((char *)rig->extra, TYPE_F32, rig->counts.columns, &random);
    fill(rig->v, p->types.b, rig->counts.v, &random);
  }
  for (size_t i = 0; is_whole && i < rig->trial->count; i++) is_whole = lay_out_one(rig, i);
  return is_whole ? HONE_OK
                  : fail(rig->ctx, HONE_E_OOM, place_none(), "no memory for a trial's operands");
}

/* -- runs */

struct shot {
  const struct bench_rig *rig;
  size_t index;
  bool is_begun;
  int32_t chunks;
};

static void next(void *argument, int32_t thread, struct hone_stage *stage) {
  struct shot *shot = argument;
  const size_t units = shot->rig->trial->candidates[shot->index].units;
  (void)thread;
  if ((size_t)stage->threads > units) stage->threads = (int32_t)units;
  stage->chunks = shot->chunks = shot->is_begun ? 0 : stage->threads;
  shot->is_begun = true;
}

static void work(void *argument, int32_t chunk, int32_t thread) {
  const struct shot *shot = argument;
  const struct bench_rig *rig = shot->rig;
  const size_t i = shot->index;
  const long units = (long)rig->trial->candidates[i].units;
  const struct problem *p = &rig->trial->problem;
  const void *e[MOST_OPERANDS] = {rig->extra};
  if (p->kind == PROBLEM_attention) e[p->v_operand] = rig->v;
  if (p->keys_operand) e[p->keys_operand - 1] = &rig->keys;
  const void *b = rig->packed[i] ? rig->packed[i] : rig->b;
  char *scratch = rig->scratch[i] ? rig->scratch[i] + (size_t)thread * rig->slices[i] : NULL;
  rig->table[i](rig->a, b, rig->c, e, scratch, units * chunk / shot->chunks,
                units * (chunk + 1) / shot->chunks);
}

static void shoot(const struct bench_rig *rig, size_t index) {
  struct shot shot = {.rig = rig, .index = index};
  const struct hone_job job = {&shot, next, work};
  const struct hone_team *team = team_interface(rig->team);
  team->run(team->self, &job);
}

static double time_slice(const struct bench_rig *rig, size_t index) {
  double times[RUNS_PER_SLICE];
  for (int i = 0; i < RUNS_PER_SLICE; i++) {
    uint64_t start = clock_ns();
    shoot(rig, index);
    times[i] = (double)(clock_ns() - start);
  }
  sort_doubles(times, RUNS_PER_SLICE);
  return times[RUNS_PER_SLICE / 2];
}

/* -- correctness */

static double distance(const struct bench_rig *rig, const double *right) {
  double off = 0, size = 0;
  for (int64_t i = 0; i < rig->counts.c; i++) {
    const double d = element_at(rig->c, rig->trial->problem.types.c, i) - right[i];
    off += d * d;
    size += right[i] * right[i];
  }
  return size > 0 ? sqrt(off / size) : sqrt(off);
}

static double *as_doubles(const char *at, uint8_t type, int64_t count) {
  double *out = malloc(((size_t)count + 1) * sizeof *out);
  for (int64_t i = 0; out && i < count; i++) out[i] = element_at(at, type, i);
  return out;
}

static float *as_floats(const char *at, uint8_t type, int64_t count) {
  float *out = malloc(((size_t)count + 1) * sizeof *out);
  for (int64_t i = 0; out && i < count; i++) out[i] = (float)element_at(at, type, i);
  return out;
}

static float *weights_of(const struct problem *p, const char *b) {
  float *out = malloc((size_t)(p->k * p->n) * sizeof *out);
  for (int64_t i = 0; out && i < p->k * p->n; i++) out[i] = (float)scaled_weight(p, b, i);
  return out;
}

/* The stored value without an epilogue: a whole number, clamped to the type. */
static double stored(double x, uint8_t type) {
  if (type == TYPE_U8) return fmin(255, fmax(0, rint(x)));
  if (type == TYPE_I8) return fmin(127, fmax(-128, rint(x)));
  return x;
}

/* Simple loops in double; NULL: no memory. Elements outside the output are 0. */
static double *reference_of(const struct bench_rig *rig) {
  const struct problem *p = &rig->trial->problem;
  const size_t count = (size_t)rig->counts.c + 1;
  struct wanted wanted = {calloc(count, sizeof(double)), calloc(count, sizeof(double))};
  float *a = as_floats(rig->a, p->types.a, rig->counts.a);
  float *b = p->block ? weights_of(p, rig->b) : as_floats(rig->b, p->types.b, rig->counts.b);
  float *v = as_floats(rig->v, p->types.b, rig->counts.v);
  bool is_whole = wanted.value && wanted.bound && a && b && v;
  if (is_whole) reference_problem(p, a, b, p->kind == PROBLEM_attention ? v : rig->extra, &wanted);
  for (size_t i = 0; is_whole && i < count; i++)
    wanted.value[i] = stored(wanted.value[i], p->types.c);
  free(a), free(b), free(v), free(wanted.bound);
  if (is_whole) return wanted.value;
  free(wanted.value);
  return NULL;
}

static hone_status check(struct bench_rig *rig) {
  struct trial *trial = rig->trial;
  double *right = NULL;
  trial->by_reference = trial->macs <= rig->options->check_macs;
  if (trial->by_reference) right = reference_of(rig);
  for (size_t i = 0; i < trial->count; i++) {
    memset(rig->c, 0, (size_t)rig->counts.c * element_bytes(trial->problem.types.c));
    shoot(rig, i);
    if (!right && !i) right = as_doubles(rig->c, trial->problem.types.c, rig->counts.c);
    if (!right) return fail(rig->ctx, HONE_E_OOM, place_none(), "no memory for a reference");
    trial->candidates[i].off = distance(rig, right);
  }
  free(right);
  return HONE_OK;
}

/* -- the trial */

static bool is_wrong(const struct trial *trial, size_t i) {
  const struct candidate *candidate = &trial->candidates[i];
  const double off = candidate->off;
  /* results in 16 bits are rounded to 8 or 11 bits; sums before them are not, except Winograd's
     on bf16 */
  const bool halves =
      trial->problem.types.c == TYPE_BF16 || trial->problem.types.c == TYPE_F16 ||
      (trial->problem.types.a == TYPE_BF16 && choice_value(&candidate->choice, "halves", 0));
  return !(off <= (halves ? 1e-2 : WRONG));
}

/* Rounds with one memory layout, until its share of the time is used up. */
static hone_status run_rounds(struct bench_rig *rig, struct arena *arena, int process,
                              struct random *random) {
  struct trial *trial = rig->trial;
  const double share_ns = rig->options->seconds * 1e9 / rig->options->processes;
  const uint64_t start = clock_ns();
  size_t *order;
  TRY(NEW_ARRAY(rig->ctx, arena, order, trial->count));
  for (size_t i = 0; i < trial->count; i++) order[i] = i;
  for (int round = 0; round < MOST_ROUNDS; round++) {
    if (round >= FEWEST_ROUNDS && (double)(clock_ns() - start) > share_ns) break;
    random_shuffle(random, order, trial->count);
    for (size_t k = 0; k < trial->count; k++) {
      struct candidate *candidate = &trial->candidates[order[k]];
      if (!is_wrong(trial, order[k]))
        candidate->slices[candidate->slice_count++] =
            (struct slice_median){process, round, time_slice(rig, order[k])};
    }
  }
  return HONE_OK;
}

static hone_status decide_all(struct bench_rig *rig, struct arena *arena) {
  struct trial *trial = rig->trial;
  const struct candidate *first = &trial->candidates[0];
  for (size_t i = 0; i < trial->count; i++) {
    struct candidate *candidate = &trial->candidates[i];
    if (!candidate->slice_count) continue;
    double *times;
    struct paired paired;
    TRY(NEW_ARRAY(rig->ctx, arena, times, candidate->slice_count));
    for (size_t k = 0; k < candidate->slice_count; k++) times[k] = candidate->slices[k].ns;
    sort_doubles(times, candidate->slice_count);
    candidate->ns = percentile_sorted(times, candidate->slice_count, 0.5);
    if (!i || !first->slice_count) continue;
    TRY(paired_ratio(rig->ctx, candidate->slices, candidate->slice_count, first->slices,
                     first->slice_count, CONFIDENCE, &paired));
    candidate->ratio = paired.ratio;
  }
  return HONE_OK;
}

static hone_status run_in(struct bench_rig *rig, struct arena *arena) {
  struct trial *trial = rig->trial;
  struct random random;
  TRY(list_candidates(rig, arena));
  if (trial->count == 1 && !rig->options->times_one) return HONE_OK;
  TRY(NEW_ARRAY(rig->ctx, arena, rig->packed, trial->count));
  TRY(NEW_ARRAY(rig->ctx, arena, rig->scratch, trial->count));
  TRY(NEW_ARRAY(rig->ctx, arena, rig->slices, trial->count));
  for (size_t i = 0; i < trial->count; i++)
    TRY(NEW_ARRAY(rig->ctx, arena, trial->candidates[i].slices,
                  (size_t)(MOST_ROUNDS * rig->options->processes)));
  TRY(load(rig, arena));
  TRY(team_create(rig->ctx, rig->options->threads, true, &rig->team));
  random_init(&random, rig->options->seed + 1);
  for (int process = 0; process < rig->options->processes; process++) {
    TRY(lay_out(rig));
    if (!process) TRY(check(rig));
    TRY(run_rounds(rig, arena, process, &random));
  }
  return decide_all(rig, arena);
}

hone_status trial_run(struct ctx *ctx, struct arena *arena, const struct problem *problem,
                      const struct trial_options *options, struct trial *out) {
  struct bench_rig rig = {.ctx = ctx, .options = options, .trial = out};
  *out = (struct trial){.problem = problem_before_choice(problem), .macs = problem_macs(problem)};
  out->problem.visible = 0; /* without an epilogue that masks, all rows see all columns */
  if (problem->kind == PROBLEM_recurrent || problem->v_operand >= MOST_OPERANDS ||
      problem->keys_operand > MOST_OPERANDS)
    return fail(ctx, HONE_E_UNSUP, place_none(), "a problem of this kind is not timed alone");
  TRY(features_check(ctx, place_none(), options->target->features));
  kernel_target_init(&rig.target, options->target, options->threads);
  hone_status status = run_in(&rig, arena);
  if (rig.packed && rig.scratch && rig.slices) release(&rig);
  team_destroy(rig.team);
  if (rig.library) dlclose(rig.library);
  return status;
}

size_t trial_best(const struct trial *trial) {
  size_t best = 0;
  for (size_t i = 1; i < trial->count; i++) {
    const struct candidate *candidate = &trial->candidates[i];
    if (is_wrong(trial, i) || !(candidate->ratio.high < SURE)) continue;
    if (!best || candidate->ratio.value < trial->candidates[best].ratio.value) best = i;
  }
  return best;
}
