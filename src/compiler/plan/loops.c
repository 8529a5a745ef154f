/* Loop nests of elementwise and copy steps: dimensions merged, outer ones flattened into work
 * items.
 */
#include "plan.h"

enum { CHUNK = 2048, SHORT = 8 };

/* Outer dimensions become work items; two inner loops unless that leaves too few items for all
   threads, and even then if the innermost is shorter than a vector and the other no longer than
   one item should be. */
static void split(const int64_t *size, int rank, bool can_chunk, int *out_inner, int64_t *out_chunk,
                  int64_t *out_units) {
  *out_chunk = 0;
  *out_inner = rank < 2 ? rank : 2;
  int64_t units = 1;
  for (int i = 0; i < rank - *out_inner; i++) units *= size[i];
  const bool is_short = rank >= 2 && size[rank - 1] < SHORT && size[rank - 2] <= CHUNK;
  if (rank >= 2 && units < 8 && !is_short) {
    *out_inner = 1;
    units *= size[rank - 2];
  }
  if (rank == 1 && can_chunk && size[0] > CHUNK) {
    *out_inner = 0;
    *out_chunk = CHUNK;
    units = (size[0] + CHUNK - 1) / CHUNK;
  }
  *out_units = units;
}

/* True if a dimension of `size` with these strides continues the dimension `outer` in every
   operand. */
static bool mergeable(const struct loop_nest *nest, int outer, size_t operands, int64_t size,
                      int64_t out_stride, const int64_t *stride) {
  if (nest->out_stride[outer] != out_stride * size) return false;
  for (size_t k = 0; k < operands; k++)
    if (nest->stride[k][outer] != stride[k] * size) return false;
  return true;
}

void plan_loops(const struct step *step, struct loop_nest *out) {
  const struct view *to = &step->outputs[0];
  struct loop_nest nest = {0};
  int order[HONE_MAX_RANK];
  view_order(to, order);
  for (int i = 0; i < to->shape.rank; i++) {
    int d = order[i];
    if (to->shape.dims[d] == 1) continue;
    int at = nest.rank;
    int64_t stride[LOOP_OPERANDS];
    const struct slope slope = step->at_bounds ? (struct slope){0} : view_slope(to, d);
    for (size_t k = 0; k < step->input_count; k++) stride[k] = step->inputs[k].stride[d];
    if (at && slope_is_zero(&slope) &&
        mergeable(&nest, at - 1, step->input_count, to->shape.dims[d], to->stride[d], stride)) {
      nest.size[--at] *= to->shape.dims[d];
      nest.slope[at] = slope_times(&nest.slope[at], to->shape.dims[d]);
    } else {
      nest.size[at] = to->shape.dims[d];
      nest.slope[at] = slope;
      nest.rank++;
    }
    nest.out_stride[at] = to->stride[d];
    for (size_t k = 0; k < step->input_count; k++) nest.stride[k][at] = stride[k];
  }
  split(nest.size, nest.rank, true, &nest.inner, &nest.chunk, &nest.units);
  *out = nest;
}

void plan_copy_loops(const struct step *step, int *out_inner, int64_t *out_chunk,
                     int64_t *out_units) {
  int64_t size[2 * HONE_MAX_RANK];
  for (int i = 0; i < step->copy_rank; i++) size[i] = step->copy[i].size;
  bool plain = step->copy_rank == 1 && step->copy[0].inner == step->copy[0].size;
  split(size, step->copy_rank, plain, out_inner, out_chunk, out_units);
}

static bool is_closed_dim(const struct copy_dim *dim) {
  return slope_is_zero(&dim->slope) && dim->inner == dim->size;
}

int plan_transposition(const struct step *step) {
  const int last = step->copy_rank - 1;
  int across = -1;
  if (last < 1 || step->packed_to || step->packed_from || !step->inputs[0].buffer) return -1;
  for (int d = 0; d <= last; d++) {
    if (!is_closed_dim(&step->copy[d])) return -1;
    if (d < last && step->copy[d].from == 1) across = d;
  }
  if (across < 0 || step->copy[last].to != 1 || step->copy[last].from == 1) return -1;
  return step->copy[last].size < TRANSPOSED_LEAST || step->copy[across].size < TRANSPOSED_LEAST
             ? -1
             : across;
}

int64_t plan_transposed_blocks(const struct copy_dim *dim, int64_t size) {
  return (dim->size + size - 1) / size;
}

int64_t plan_copy_units(const struct step *step) {
  const int across = plan_transposition(step);
  int inner;
  int64_t chunk, units = 1;
  if (across < 0) {
    plan_copy_loops(step, &inner, &chunk, &units);
    return units;
  }
  const int last = step->copy_rank - 1;
  for (int d = 0; d <= last; d++)
    units *= d == last     ? plan_transposed_blocks(&step->copy[d], TRANSPOSED_PART)
             : d == across ? plan_transposed_blocks(&step->copy[d], TRANSPOSED_BLOCK)
                           : step->copy[d].size;
  return units;
}

int plan_fill_lines(const struct step *step) {
  const struct view *to = &step->outputs[0];
  for (int d = 0; d < to->shape.rank; d++)
    if (d != step->fill_axis && to->stride[d] == 1 && to->shape.dims[d] != 1) return d;
  return -1;
}
