/* Choices and packing for recurrent_f32.c: the matmul of the state with the recurrent weights, one
 * row at a time, and the cell function after it.
 */
#include <string.h>

#include "families.h"

enum { CELL_LSTM, CELL_GRU, CELL_GRU_LINEAR, CELL_RNN };

static int64_t gates_of(const struct problem *p) {
  return p->cell == CELL_LSTM ? 4 : p->cell == CELL_RNN ? 1 : 3;
}

/* Gates computed by one matmul; a GRU whose reset gate applies before the matmul needs two. */
struct parts {
  int64_t count, width[2];
};
static struct parts parts_of(const struct problem *p) {
  if (p->cell == CELL_GRU) return (struct parts){2, {2 * p->state, p->state}};
  return (struct parts){1, {gates_of(p) * p->state, 0}};
}

bool recurrent_accepts(const struct problem *p, const struct kernel_target *target) {
  (void)target;
  return p->steps > 0 && p->batch1 > 0 && p->directions > 0 && p->state > 0 &&
         p->state <= 1 << 16 && p->cell >= CELL_LSTM && p->cell <= CELL_RNN;
}

/* vectors: as many accumulators as hide the latency of a multiply-add; k_unroll: several sets of
   them if there are too few gates for that. */
bool recurrent_enumerate(const struct problem *problem, const struct kernel_target *target,
                         int index, struct choice *out) {
  struct parts parts = parts_of(problem);
  int64_t most = ceil_div(parts.width[0], lanes_of(target)), wanted = 8;
  out->value[0] = min_i64(most, wanted);
  out->value[1] = max_i64(1, wanted / out->value[0]);
  return index == 0;
}

bool recurrent_fits(const struct problem *problem, const struct kernel_target *target,
                    struct choice *choice) {
  (void)problem, (void)target;
  return choice->value[0] > 0 && choice->value[1] > 0 && choice->value[0] * choice->value[1] <= 24;
}

int recurrent_defines(const struct problem *problem, const struct kernel_target *target,
                      const struct choice *choice,
                      struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  (void)problem, (void)target;
  defines[0] = (struct kernel_define){"VECTORS", choice->value[0]};
  defines[1] = (struct kernel_define){"K_UNROLL", choice->value[1]};
  return 2;
}

int64_t recurrent_units(const struct problem *problem, const struct kernel_target *target,
                        const struct choice *choice) {
  (void)target, (void)choice;
  return problem->directions * problem->batch1;
}

static int64_t rounded(int64_t width, int64_t panel) { return ceil_div(width, panel) * panel; }

size_t recurrent_packed_bytes(const struct problem *problem, const struct kernel_target *target,
                              const struct choice *choice) {
  struct parts parts = parts_of(problem);
  int64_t panel = choice->value[0] * lanes_of(target), columns = 0;
  for (int64_t i = 0; i < parts.count; i++) columns += rounded(parts.width[i], panel);
  return (size_t)(problem->directions * columns * problem->state) * sizeof(float);
}

/* ONNX order [direction][gate, hidden][hidden] to [direction][part][panel][hidden][lane]. */
void recurrent_pack(const struct problem *problem, const struct kernel_target *target,
                    const struct choice *choice, const void *b, void *packed) {
  struct parts parts = parts_of(problem);
  int64_t panel = choice->value[0] * lanes_of(target), hidden = problem->state;
  const float *from = b;
  float *to = packed;
  for (int64_t d = 0; d < problem->directions; d++)
    for (int64_t i = 0; i < parts.count; from += parts.width[i++] * hidden)
      for (int64_t n = 0; n < parts.width[i]; n += panel)
        for (int64_t k = 0; k < hidden; k++)
          for (int64_t j = n; j < n + panel; j++)
            *to++ = j < parts.width[i] ? from[j * hidden + k] : 0.0f;
}

/* h, c, the reset state and the gates of each part; one vector of padding after each, because
   loads may read past the end. */
size_t recurrent_scratch_bytes(const struct problem *problem, const struct kernel_target *target,
                               const struct choice *choice) {
  struct parts parts = parts_of(problem);
  int64_t lanes = lanes_of(target), panel = choice->value[0] * lanes;
  int64_t floats = 3 * (rounded(problem->state, panel) + lanes);
  for (int64_t i = 0; i < parts.count; i++) floats += rounded(parts.width[i], panel) + lanes;
  return (size_t)floats * sizeof(float);
}
