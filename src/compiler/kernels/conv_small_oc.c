/* Choices and packing for conv_small_oc_f32 and conv_small_oc_bf16: convolutions with fewer output
 * channels than a vector has lanes, vectorised over k.
 */
#include "families.h"

/* The values of a choice, in the order of the row's names. */
enum { PIXELS, UNIT_COLUMNS };

/* k as the source iterates over it: runs of `depth` contiguous elements. */
struct runs {
  int64_t count, depth, vectors; /* vectors: per run */
};
static struct runs runs_of(const struct problem *p, const struct kernel_target *target) {
  const bool joined = p->dw == 1 && p->i_pixel == p->ic;
  struct runs runs = {.count = joined ? p->kh : p->kh * p->kw,
                      .depth = joined ? p->kw * p->ic : p->ic};
  runs.vectors = ceil_div(runs.depth, lanes_of(target));
  return runs;
}

/* Outputs that are summed together: at most the lanes of a vector, limited by the registers for
   accumulators, weights and a. */
static int64_t most_outputs(const struct kernel_target *target) {
  const int64_t lanes = lanes_of(target);
  return min_i64(max_i64(lanes, 8), target->vector_registers - 4);
}

bool conv_small_oc_accepts(const struct problem *problem, const struct kernel_target *target) {
  return conv_accepts(problem, target) && at_least_1(problem->groups) == 1 &&
         problem->oc <= lanes_of(target) / 2;
}

/* An unaligned load may touch two cache lines: the share of loads that do. */
static double split_loads(const struct problem *p, const struct kernel_target *target) {
  enum { LINE_BYTES = 64 };
  const int64_t element = p->types.a == TYPE_F32 ? 4 : 2, bytes = lanes_of(target) * element;
  const int64_t steps = p->sw * p->i_pixel | p->sh * p->i_row | p->dw * p->i_pixel;
  return steps * element % bytes ? (double)bytes / LINE_BYTES : 0;
}

static double tile_cycles(const struct problem *p, const struct kernel_target *target,
                          int64_t pixels) {
  const struct runs runs = runs_of(p, target);
  const double lanes = (double)lanes_of(target), steps = (double)(runs.count * runs.vectors);
  const double sums = (double)ceil_div(pixels * p->oc, lanes_of(target)) * lanes;
  const double loads = (double)pixels * (1 + split_loads(p, target)) + (double)p->oc;
  double step = (double)(pixels * p->oc) * lanes / target->f32_macs;
  if (step < loads / target->loads) step = loads / target->loads;
  if (step < target->fma_latency) step = target->fma_latency;
  /* each of `sums` takes three operations; with more than one channel the stores go through
     memory */
  return steps * step + 3 * sums / target->loads + 10 + (p->oc > 1 ? 4 * (double)pixels : 0);
}

static void predict(const struct problem *p, const struct kernel_target *target,
                    struct choice *out) {
  const int64_t pixels = out->value[PIXELS], rows = at_least_1(p->images) * p->oh;
  double row = (double)(p->ow / pixels) * tile_cycles(p, target, pixels);
  if (p->ow % pixels) row += tile_cycles(p, target, p->ow % pixels);
  out->cycles = (double)rows * row / (double)max_i64(1, target->threads);
  out->cost = out->cycles / target->clock_ghz / 0.97;
}

/* Rows are split only if there are too few for all threads. */
bool conv_small_oc_enumerate(const struct problem *problem, const struct kernel_target *target,
                             int index, struct choice *out) {
  const int64_t most = max_i64(1, most_outputs(target) / problem->oc) >> index;
  const int64_t rows = at_least_1(problem->images) * problem->oh;
  const int64_t goal = 8 * max_i64(1, target->threads);
  if (most < 1 || (index && most >= problem->ow)) return false;
  const int64_t pixels = min_i64(most, problem->ow), tiles = ceil_div(problem->ow, pixels);
  out->value[PIXELS] = pixels;
  out->value[UNIT_COLUMNS] = problem->ow;
  if (rows < goal) out->value[UNIT_COLUMNS] = pixels * ceil_div(tiles, ceil_div(goal, rows));
  out->value[UNIT_COLUMNS] = min_i64(problem->ow, out->value[UNIT_COLUMNS]);
  predict(problem, target, out);
  return true;
}

/* Work items are whole tiles, except the last. */
bool conv_small_oc_fits(const struct problem *problem, const struct kernel_target *target,
                        struct choice *choice) {
  enum { MOST_OUTPUTS = 32 };
  const int64_t pixels = choice->value[PIXELS], columns = choice->value[UNIT_COLUMNS];
  if (pixels < 1 || pixels > problem->ow || pixels * problem->oc > MOST_OUTPUTS) return false;
  if (columns < 1 || columns > problem->ow || (columns % pixels && columns != problem->ow))
    return false;
  predict(problem, target, choice);
  return true;
}

int conv_small_oc_defines(const struct problem *problem, const struct kernel_target *target,
                          const struct choice *choice,
                          struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  (void)target;
  int count = define_types(problem, defines);
  defines[count++] = (struct kernel_define){"PIXELS", choice->value[PIXELS]};
  defines[count++] = (struct kernel_define){"UNIT_COLUMNS", choice->value[UNIT_COLUMNS]};
  return count;
}

int64_t conv_small_oc_units(const struct problem *problem, const struct kernel_target *target,
                            const struct choice *choice) {
  (void)target;
  return at_least_1(problem->images) * problem->oh *
         ceil_div(problem->ow, choice->value[UNIT_COLUMNS]);
}

size_t conv_small_oc_packed_bytes(const struct problem *problem, const struct kernel_target *target,
                                  const struct choice *choice) {
  (void)choice;
  const struct runs runs = runs_of(problem, target);
  return (size_t)(runs.count * runs.vectors * problem->oc * lanes_of(target)) * sizeof(float);
}

/* ONNX order [oc, ic, kh, kw] to [run][vector of the run][oc][lane]. */
void conv_small_oc_pack(const struct problem *problem, const struct kernel_target *target,
                        const struct choice *choice, const void *b, void *packed) {
  (void)choice;
  const struct runs runs = runs_of(problem, target);
  const int64_t lanes = lanes_of(target), ic = problem->ic, taps = problem->kh * problem->kw;
  float *to = packed;
  for (int64_t run = 0; run < runs.count; run++)
    for (int64_t vector = 0; vector < runs.vectors; vector++)
      for (int64_t n = 0; n < problem->oc; n++)
        for (int64_t k = vector * lanes; k < (vector + 1) * lanes; k++) {
          const int64_t at = run * runs.depth + k; /* of [kh, kw, ic] */
          *to++ =
              k < runs.depth ? float_weight(problem, b, (n * ic + at % ic) * taps + at / ic) : 0.0f;
        }
}
