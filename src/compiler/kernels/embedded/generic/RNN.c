/* RNN: h = tanh(W x + R h + bias). The scratch holds h and the next h. */
#define ACTIVATIONS 1
#define USUAL(k, x) TANH_(x)
#define STATE *next = h + hidden
#include "generic/sequences.h"
        for (int64_t j = 0; j < hidden; j++) {
          const REAL *wi = w + (d * hidden + j) * width, *ri = r + (d * hidden + j) * hidden;
          REAL sum = 0;
#if IN_COUNT > 3 && IN3_PRESENT
          const REAL *bias = (const REAL *)in[3] + d * 2 * hidden;
          sum = bias[j] + bias[hidden + j];
#endif
#pragma omp simd reduction(+ : sum)
          for (int64_t i = 0; i < width; i++) sum += wi[i] * input[i];
#pragma omp simd reduction(+ : sum)
          for (int64_t i = 0; i < hidden; i++) sum += ri[i] * h[i];
          next[j] = ACTIVATE(0, CLIP(sum));
        }
        memcpy(h, next, (size_t)hidden * sizeof *h);
#include "generic/sequences_end.h"
