/* Choices and packing for the kernels over windows of channels-last images: depthwise_f32,
 * depthwise_dot, pool_f32.
 */
#include <string.h>

#include "families.h"

static bool window_is_sound(const struct problem *p) {
  return p->ic > 0 && p->oh > 0 && p->ow > 0 && p->kh > 0 && p->kw > 0 && p->sh > 0 && p->sw > 0 &&
         p->dh > 0 && p->dw > 0;
}

bool depthwise_accepts(const struct problem *problem, const struct kernel_target *target) {
  (void)target;
  return window_is_sound(problem) && problem->oc == problem->ic;
}

/* Blocks of at most `most` columns, and the channels of a work item: few, so that the rows of
   taps use at most half of L1. All channels if L2 does not hold an image and its result, because
   parts of pixels touch twice as many cache lines (0.39 to 0.91 of the time). Then other
   multiples of a vector. */
static bool enumerate_blocks(const struct problem *problem, const struct kernel_target *target,
                             int64_t most, int64_t element, int index, struct choice *out) {
  const int64_t lanes = lanes_of(target), rows = problem->kh * problem->iw * element;
  const int64_t pixels = problem->ih * problem->iw + problem->oh * problem->ow;
  const bool streams = pixels * problem->ic * element > (int64_t)target->l2_bytes * 3 / 4;
  const int64_t few = (int64_t)target->l1_bytes / 2 / rows / lanes * lanes;
  const int64_t usual = min_i64(problem->ic, streams ? problem->ic : max_i64(lanes, few));
  out->value[0] = ceil_div(problem->ow, ceil_div(problem->ow, most));
  out->value[1] = usual;
  for (int64_t wide = lanes; index > 0; wide *= 2) {
    if (wide >= 2 * problem->ic) return false;
    out->value[1] = min_i64(wide, problem->ic);
    index -= out->value[1] != usual;
  }
  return true;
}

/* block: accumulators and the input vectors of one row of taps stay in registers, and two more
   vectors; with three taps per row gcc 12 spills one unless there is room for a third. */
bool depthwise_enumerate(const struct problem *problem, const struct kernel_target *target,
                         int index, struct choice *out) {
  int64_t most = 8, others = problem->kw <= 3 ? 3 : 2;
  while (most > 1 &&
         most + (most - 1) * problem->sw + problem->kw + others > target->vector_registers)
    most--;
  return enumerate_blocks(problem, target, max_i64(2, most), 4, index, out);
}

bool depthwise_fits(const struct problem *problem, const struct kernel_target *target,
                    struct choice *choice) {
  int64_t block = choice->value[0], channels = choice->value[1];
  if (block < 1 || block > min_i64(problem->ow, 32)) return false;
  return block * ceil_div(problem->ow, block) - problem->ow < ceil_div(problem->ow, block) &&
         channels > 0 && channels <= problem->ic &&
         (channels % lanes_of(target) == 0 || channels == problem->ic);
}

int depthwise_defines(const struct problem *problem, const struct kernel_target *target,
                      const struct choice *choice,
                      struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  (void)target;
  int64_t block = choice->value[0], blocks = ceil_div(problem->ow, block);
  int count = define_types(problem, defines);
  defines[count++] = (struct kernel_define){"BLOCK", block};
  defines[count++] = (struct kernel_define){"BLOCKS", blocks};
  defines[count++] = (struct kernel_define){"WIDE_BLOCKS", blocks - (block * blocks - problem->ow)};
  defines[count++] = (struct kernel_define){"CHANNELS", choice->value[1]};
  return count;
}

/* Columns of a row's last window past the right edge of the image. */
static int64_t beyond_right(const struct problem *p) {
  return max_i64(0, (p->ow - 1) * p->sw + (p->kw - 1) * p->dw + 1 - p->pl - p->iw);
}

/* The last three defines of depthwise_defines are sizes, too. */
int depthwise_shared_defines(const struct problem *problem, const struct kernel_target *target,
                             const struct choice *choice,
                             struct kernel_define defines[KERNEL_DEFINES_MAX], int *out_sizes) {
  const int64_t block = choice->value[0], blocks = ceil_div(problem->ow, block);
  const struct kernel_define literals[] = {
      {"KH", problem->kh},
      {"KW", problem->kw},
      {"SH", problem->sh},
      {"SW", problem->sw},
      {"DH", problem->dh},
      {"DW", problem->dw},
      {"A_ZERO", problem->a_zero},
      {"NARROW", block * blocks > problem->ow},
      {"TAIL", problem->ic % lanes_of(target)},
      {"PL", problem->pl},
      {"PR", beyond_right(problem)},
  };
  const struct kernel_define sizes[] = {
      {"IC", problem->ic},       {"IH", problem->ih},           {"IW", problem->iw},
      {"OH", problem->oh},       {"PT", problem->pt},           {"I_IMAGE", problem->i_image},
      {"I_ROW", problem->i_row}, {"I_PIXEL", problem->i_pixel}, {"O_IMAGE", problem->o_image},
      {"O_ROW", problem->o_row}, {"O_PIXEL", problem->o_pixel},
  };
  struct kernel_define chosen[KERNEL_DEFINES_MAX];
  const int count = depthwise_defines(problem, target, choice, chosen);
  memcpy(defines, literals, sizeof literals);
  memcpy(defines + COUNT(literals), chosen, (size_t)count * sizeof *chosen);
  memcpy(defines + COUNT(literals) + count, sizes, sizeof sizes);
  *out_sizes = 3 + COUNT(sizes);
  return COUNT(literals) + count + COUNT(sizes);
}

int64_t depthwise_units(const struct problem *problem, const struct kernel_target *target,
                        const struct choice *choice) {
  (void)target, (void)choice;
  return at_least_1(problem->images) * problem->oh;
}

size_t depthwise_packed_bytes(const struct problem *problem, const struct kernel_target *target,
                              const struct choice *choice) {
  (void)choice;
  int64_t channels = ceil_div(problem->ic, lanes_of(target)) * lanes_of(target);
  return (size_t)(channels * problem->kh * problem->kw) * sizeof(float);
}

static float weight_at(const struct problem *problem, const void *b, int64_t i) {
  switch (problem->types.b) {
    case TYPE_I8:
      return (float)(((const int8_t *)b)[i] - problem->b_zero);
    case TYPE_U8:
      return (float)(((const uint8_t *)b)[i] - problem->b_zero);
    default:
      return ((const float *)b)[i];
  }
}

/* [channel][tap] to [channel vector][tap][lane]. */
void depthwise_pack(const struct problem *problem, const struct kernel_target *target,
                    const struct choice *choice, const void *b, void *packed) {
  (void)choice;
  float *to = packed;
  int64_t lanes = lanes_of(target), taps = problem->kh * problem->kw;
  for (int64_t first = 0; first < problem->ic; first += lanes)
    for (int64_t tap = 0; tap < taps; tap++)
      for (int64_t channel = first; channel < first + lanes; channel++)
        *to++ = channel < problem->ic ? weight_at(problem, b, channel * taps + tap) : 0.0f;
}

/* Groups of rows of taps that one lane handles at once. */
static int64_t dot_groups(const struct problem *p) { return ceil_div(p->kh, 4); }

/* The weights of a window stay in registers. */
bool depthwise_dot_accepts(const struct problem *problem, const struct kernel_target *target) {
  return depthwise_accepts(problem, target) && problem->ic >= lanes_of(target) &&
         !problem->b_zero && problem->kw * dot_groups(problem) <= 14;
}

/* block: accumulators, the weights, a column of taps and four more registers; channels: as
   depthwise_enumerate. */
bool depthwise_dot_enumerate(const struct problem *problem, const struct kernel_target *target,
                             int index, struct choice *out) {
  int64_t groups = dot_groups(problem);
  int64_t most = min_i64(14, target->vector_registers - groups * (problem->kw + 1) - 4);
  return enumerate_blocks(problem, target, most, 1, index, out);
}

bool depthwise_dot_fits(const struct problem *problem, const struct kernel_target *target,
                        struct choice *choice) {
  return depthwise_fits(problem, target, choice);
}
int depthwise_dot_defines(const struct problem *problem, const struct kernel_target *target,
                          const struct choice *choice,
                          struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  return depthwise_defines(problem, target, choice, defines);
}
int64_t depthwise_dot_units(const struct problem *problem, const struct kernel_target *target,
                            const struct choice *choice) {
  return depthwise_units(problem, target, choice);
}

size_t depthwise_dot_packed_bytes(const struct problem *problem, const struct kernel_target *target,
                                  const struct choice *choice) {
  (void)choice;
  int64_t vectors = ceil_div(problem->ic, lanes_of(target));
  return (size_t)(vectors * problem->kw * dot_groups(problem) * target->vector_bytes);
}

/* [channel][kh][kw] to [channel vector][kw][four of kh][lane][of kh]; the last vector ends at
   the last channel. */
void depthwise_dot_pack(const struct problem *problem, const struct kernel_target *target,
                        const struct choice *choice, const void *b, void *packed) {
  (void)choice;
  const int8_t *from = b;
  int8_t *to = packed;
  int64_t lanes = lanes_of(target), kh = problem->kh, kw = problem->kw;
  for (int64_t vector = 0; vector < problem->ic; vector += lanes) {
    int64_t first = min_i64(vector, problem->ic - lanes);
    for (int64_t tx = 0; tx < kw; tx++)
      for (int64_t top = 0; top < kh; top += 4)
        for (int64_t channel = first; channel < first + lanes; channel++)
          for (int64_t ty = top; ty < top + 4; ty++)
            *to++ = ty < kh ? from[(channel * kh + ty) * kw + tx] : 0;
  }
}

bool pool_accepts(const struct problem *problem, const struct kernel_target *target) {
  (void)target;
  return window_is_sound(problem) && problem->mode >= 0 && problem->mode <= 2;
}

/* unit_vectors: all channels of a row at once, fewer if there are too few rows for all threads. */
bool pool_enumerate(const struct problem *problem, const struct kernel_target *target, int index,
                    struct choice *out) {
  if (index) return false;
  int64_t all = ceil_div(problem->ic, lanes_of(target));
  int64_t rows = at_least_1(problem->images) * problem->oh;
  int64_t goal = 8 * max_i64(1, target->threads);
  out->value[0] = all;
  if (rows < goal)
    out->value[0] = min_i64(all, max_i64(4, ceil_div(ceil_div(all, ceil_div(goal, rows)), 4) * 4));
  return true;
}
bool pool_fits(const struct problem *problem, const struct kernel_target *target,
               struct choice *choice) {
  return choice->value[0] > 0 && choice->value[0] <= ceil_div(problem->ic, lanes_of(target));
}
int pool_defines(const struct problem *problem, const struct kernel_target *target,
                 const struct choice *choice, struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  (void)target;
  int count = define_types(problem, defines);
  defines[count++] = (struct kernel_define){"UNIT_VECTORS", choice->value[0]};
  return count;
}
int64_t pool_units(const struct problem *problem, const struct kernel_target *target,
                   const struct choice *choice) {
  int64_t width = choice->value[0] * lanes_of(target);
  return at_least_1(problem->images) * problem->oh * ceil_div(problem->ic, width);
}

/* int8: max pooling only. */
bool pool_max_accepts(const struct problem *problem, const struct kernel_target *target) {
  return pool_accepts(problem, target) && problem->mode == 0 &&
         problem->types.a == problem->types.c;
}
bool pool_max_enumerate(const struct problem *problem, const struct kernel_target *target,
                        int index, struct choice *out) {
  return pool_enumerate(problem, target, index, out);
}
bool pool_max_fits(const struct problem *problem, const struct kernel_target *target,
                   struct choice *choice) {
  return pool_fits(problem, target, choice);
}
int pool_max_defines(const struct problem *problem, const struct kernel_target *target,
                     const struct choice *choice,
                     struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  return pool_defines(problem, target, choice, defines);
}
int64_t pool_max_units(const struct problem *problem, const struct kernel_target *target,
                       const struct choice *choice) {
  return pool_units(problem, target, choice);
}
