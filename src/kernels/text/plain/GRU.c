/* GRU: gates z, r, h over W x + R h + bias. With linear_before_reset the
 * reset gate acts after the matrix product. The scratch holds h, the gates and r * h. */
#ifndef ATTR_layout
#define ATTR_layout 0
#endif
#ifndef ATTR_linear_before_reset
#define ATTR_linear_before_reset 0
#endif
#ifdef ATTR_clip
#define CLIP(x) ((x) > ATTR_clip ? ATTR_clip : (x) < -ATTR_clip ? -ATTR_clip : (x))
#else
#define CLIP(x) (x)
#endif
#ifdef ATTR_functions /* of direction d, in the order of the attribute */
#define ACTIVATE(k, x) \
  activation_(functions[d * 2 + (k)], alphas[d * 2 + (k)], betas[d * 2 + (k)], x)
#else
#define ACTIVATE(k, x) ((k) == 0 ? 1 / (1 + expf(-(x))) : tanhf(x))
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const float *x = in[0], *w = in[1], *r = in[2];
  const int64_t x_dims[] = IN0_DIMS, r_dims[] = IN2_DIMS;
  const int64_t steps = x_dims[ATTR_layout], batches = x_dims[1 - ATTR_layout], width = x_dims[2];
  const int64_t directions = r_dims[0], hidden = r_dims[2];
  float *h = scratch, *gates = h + hidden, *reset = gates + 3 * hidden;
  (void)directions;
#ifdef ATTR_functions
  const int64_t functions[] = ATTR_functions;
  const float alphas[] = ATTR_function_alphas, betas[] = ATTR_function_betas;
#endif
    for (int64_t u = begin; u < end; u++) { /* one sequence of one direction */
      const int64_t d = u / batches, b = u % batches;
#ifdef ATTR_direction_IS_reverse
      const int backward = 1;
#else
      const int backward = d == 1;
#endif
      const int64_t state = (ATTR_layout ? b * directions + d : d * batches + b) * hidden;
      int64_t length = steps;
      (void)state;
#if IN_COUNT > 4 && IN4_PRESENT
      length = (int64_t)((const IN4_T *)in[4])[b];
      if (length < 0 || length > steps) return 8;
#endif
      for (int64_t j = 0; j < hidden; j++) h[j] = 0;
#if IN_COUNT > 5 && IN5_PRESENT
      memcpy(h, (const float *)in[5] + state, (size_t)hidden * sizeof *h);
#endif
      for (int64_t s = 0; s < steps; s++) {
        const int64_t t = s >= length ? s : backward ? length - 1 - s : s;
        const float *input = x + (ATTR_layout ? b * steps + t : t * batches + b) * width;
        if (s < length) {
          for (int64_t g = 0; g < 3 * hidden; g++) {
            const float *wi = w + (d * 3 * hidden + g) * width;
            const float *ri = r + (d * 3 * hidden + g) * hidden;
            const int is_candidate = g >= 2 * hidden;
            float sum = 0, recurrent = 0;
#if IN_COUNT > 3 && IN3_PRESENT
            const float *bias = (const float *)in[3] + d * 6 * hidden;
            sum = bias[g];
            recurrent = bias[3 * hidden + g];
#endif
            if (g == 2 * hidden) /* z and r are complete */
              for (int64_t j = 0; j < 2 * hidden; j++) gates[j] = ACTIVATE(0, CLIP(gates[j]));
            if (g == 2 * hidden)
              for (int64_t j = 0; j < hidden; j++) reset[j] = gates[hidden + j] * h[j];
            const float *before = is_candidate && !ATTR_linear_before_reset ? reset : h;
#pragma omp simd reduction(+ : sum)
            for (int64_t i = 0; i < width; i++) sum += wi[i] * input[i];
#pragma omp simd reduction(+ : recurrent)
            for (int64_t i = 0; i < hidden; i++) recurrent += ri[i] * before[i];
            if (is_candidate && ATTR_linear_before_reset) recurrent *= gates[g - hidden];
            gates[g] = sum + recurrent;
          }
          for (int64_t j = 0; j < hidden; j++) {
            const float candidate = ACTIVATE(1, CLIP(gates[2 * hidden + j]));
            h[j] = (1 - gates[j]) * candidate + gates[j] * h[j];
          }
        }
#if OUT0_PRESENT
        float *y = (float *)out[0] + (ATTR_layout ? (b * steps + t) * directions + d
                                                  : (t * directions + d) * batches + b) * hidden;
        for (int64_t j = 0; j < hidden; j++) y[j] = s < length ? h[j] : 0;
#endif
      }
#if OUT_COUNT > 1 && OUT1_PRESENT
      memcpy((float *)out[1] + state, h, (size_t)hidden * sizeof *h);
#endif
    }
  return 0;
}
#undef ACTIVATE
#undef CLIP
#undef ATTR_layout
#undef ATTR_linear_before_reset
