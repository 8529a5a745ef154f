/* GRU: gates z, r, h over W x + R h + bias. With linear_before_reset the reset gate acts after the
 * matmul. The scratch holds h, the gates and r * h.
 */
#ifndef ATTR_linear_before_reset
#define ATTR_linear_before_reset 0
#endif
#define ACTIVATIONS 2
#define USUAL(k, x) ((k) == 0 ? SIGMOID(x) : TANH_(x))
#define STATE *gates = h + hidden, *reset = gates + 3 * hidden
#include "generic/sequences.h"
        for (int64_t g = 0; g < 3 * hidden; g++) {
          const REAL *wi = w + (d * 3 * hidden + g) * width;
          const REAL *ri = r + (d * 3 * hidden + g) * hidden;
          const int is_candidate = g >= 2 * hidden;
          REAL sum = 0, recurrent = 0;
#if IN_COUNT > 3 && IN3_PRESENT
          const REAL *bias = (const REAL *)in[3] + d * 6 * hidden;
          sum = bias[g];
          recurrent = bias[3 * hidden + g];
#endif
          if (g == 2 * hidden) /* z and r are complete */
            for (int64_t j = 0; j < 2 * hidden; j++) gates[j] = ACTIVATE(0, CLIP(gates[j]));
          if (g == 2 * hidden)
            for (int64_t j = 0; j < hidden; j++) reset[j] = gates[hidden + j] * h[j];
          const REAL *before = is_candidate && !ATTR_linear_before_reset ? reset : h;
#pragma omp simd reduction(+ : sum)
          for (int64_t i = 0; i < width; i++) sum += wi[i] * input[i];
#pragma omp simd reduction(+ : recurrent)
          for (int64_t i = 0; i < hidden; i++) recurrent += ri[i] * before[i];
          if (is_candidate && ATTR_linear_before_reset) recurrent *= gates[g - hidden];
          gates[g] = sum + recurrent;
        }
        for (int64_t j = 0; j < hidden; j++) {
          const REAL candidate = ACTIVATE(1, CLIP(gates[2 * hidden + j]));
          h[j] = (1 - gates[j]) * candidate + gates[j] * h[j];
        }
#include "generic/sequences_end.h"
#undef ATTR_linear_before_reset
