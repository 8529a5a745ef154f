/* LSTM: gates i, o, f, c over W x + R h + bias, peepholes P. The scratch
 * holds h, c and the gates of one sequence. */
#ifndef ATTR_input_forget
#define ATTR_input_forget 0
#endif
#define ACTIVATIONS 3
#define USUAL(k, x) ((k) == 0 ? SIGMOID(x) : TANH_(x))
#define STATE *c = h + hidden, *gates = c + hidden
#define CELL c
#include "generic/sequences.h"
        for (int64_t g = 0; g < 4 * hidden; g++) {
          const REAL *wi = w + (d * 4 * hidden + g) * width;
          const REAL *ri = r + (d * 4 * hidden + g) * hidden;
          REAL sum = 0;
#if IN_COUNT > 3 && IN3_PRESENT
          const REAL *bias = (const REAL *)in[3] + d * 8 * hidden;
          sum = bias[g] + bias[4 * hidden + g];
#endif
#pragma omp simd reduction(+ : sum)
          for (int64_t i = 0; i < width; i++) sum += wi[i] * input[i];
#pragma omp simd reduction(+ : sum)
          for (int64_t i = 0; i < hidden; i++) sum += ri[i] * h[i];
          gates[g] = sum;
        }
        for (int64_t j = 0; j < hidden; j++) {
          REAL pi = 0, po = 0, pf = 0;
#if IN_COUNT > 7 && IN7_PRESENT
          const REAL *peep = (const REAL *)in[7] + d * 3 * hidden;
          pi = peep[j], po = peep[hidden + j], pf = peep[2 * hidden + j];
#endif
          const REAL zi = gates[j] + pi * c[j], zf = gates[2 * hidden + j] + pf * c[j];
          const REAL zc = gates[3 * hidden + j];
          const REAL input_gate = ACTIVATE(0, CLIP(zi));
          const REAL forget = ATTR_input_forget ? 1 - input_gate : ACTIVATE(0, CLIP(zf));
          c[j] = forget * c[j] + input_gate * ACTIVATE(1, CLIP(zc));
          const REAL zo = gates[hidden + j] + po * c[j];
          h[j] = ACTIVATE(0, CLIP(zo)) * ACTIVATE(2, c[j]);
        }
#include "generic/sequences_end.h"
#undef ATTR_input_forget
