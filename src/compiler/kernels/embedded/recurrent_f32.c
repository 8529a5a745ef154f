/* LSTM, GRU and RNN with their default activations. a holds W x + bias for every time step (one
 * matmul over all of them), b the recurrent weights. A work item is one sequence of one direction;
 * its state stays in scratch, and the matrix is read along its columns, so that the gates are
 * vectors.
 *
 * b is packed as [direction][panel][STATE][NR], NR = VECTORS * LANES, zero-padded; for a GRU whose
 * reset gate acts before the matmul, the panels of z and r, then those of the candidate. Gates are
 * ordered as in ONNX: LSTM i o f c, GRU z r h. e: 0 initial h, 1 initial c, 2 peepholes (i o f), 3
 * the recurrent bias of a GRU's candidate (linear_before_reset), 4 receives the last c. From
 * defines(): VECTORS K_UNROLL.
 */
#define NR (VECTORS * LANES)
#define GATES (CELL == 0 ? 4 : CELL == 3 ? 1 : 3)
#define ALL_ (GATES * STATE)
#define SPLITS (CELL == 1) /* 0 LSTM, 1 GRU, 2 GRU with linear_before_reset, 3 RNN */
#define PANELS_OF(width) (((width) + NR - 1) / NR)
#define PANELS (SPLITS ? PANELS_OF(2 * STATE) + PANELS_OF(STATE) : PANELS_OF(ALL_))
#define ROUND_UP(width) (PANELS_OF(width) * NR + LANES)

/* to[j] = sum over k of v[k] * b[k][j], whole panels. */
INLINE_ void PASTE_(NAME, product)(const float *b, const float *v, float *to, long panels) {
  for (long panel = 0; panel < panels; panel++, b += STATE * NR) {
    vec acc[K_UNROLL][VECTORS];
    UNROLL for (int u = 0; u < K_UNROLL; u++)
      UNROLL for (int x = 0; x < VECTORS; x++) acc[u][x] = (vec){0};
    long k = 0;
    for (; k + K_UNROLL <= STATE; k += K_UNROLL)
      UNROLL for (int u = 0; u < K_UNROLL; u++)
        UNROLL for (int x = 0; x < VECTORS; x++)
          acc[u][x] += v[k + u] * loadu_(b + (k + u) * NR + x * LANES);
#if K_UNROLL > 1
    for (; k < STATE; k++)
      UNROLL for (int x = 0; x < VECTORS; x++) acc[0][x] += v[k] * loadu_(b + k * NR + x * LANES);
    UNROLL for (int u = 1; u < K_UNROLL; u++)
      UNROLL for (int x = 0; x < VECTORS; x++) acc[0][x] += acc[u][x];
#endif
    UNROLL for (int x = 0; x < VECTORS; x++) storeu_(to + panel * NR + x * LANES, acc[0][x]);
  }
}

INLINE_ vec PASTE_(NAME, clip)(vec x) {
#if CLIP_BITS
  const union {
    uint32_t bits;
    float value;
  } clip = {.bits = (uint32_t)CLIP_BITS};
  return MIN2_(splat_(clip.value), MAX2_(splat_(-clip.value), x));
#else
  return x;
#endif
}
INLINE_ vec PASTE_(NAME, sigmoid)(vec x) {
  return splat_(1.0f) / (splat_(1.0f) + exp_(-PASTE_(NAME, clip)(x)));
}
#define SIGMOID(x) PASTE_(NAME, sigmoid)(x)
#define TANH(x) tanh_(PASTE_(NAME, clip)(x))

/* One time step: x, the gates' part from the input; g, the part from the state. */
INLINE_ void PASTE_(NAME, step)(const float *x, const float *b, const void *const *e, float *h,
                                float *c, float *g, float *reset, long direction) {
  (void)e, (void)c, (void)reset, (void)direction;
  PASTE_(NAME, product)(b, h, g, SPLITS ? PANELS_OF(2 * STATE) : PANELS);
#if SPLITS
  for (long j = 0; j < STATE; j += LANES)
    storeu_(reset + j, SIGMOID(load_lanes_(x + STATE + j, STATE - j) + loadu_(g + STATE + j)) *
                           loadu_(h + j));
  float *candidate = g + ROUND_UP(2 * STATE);
  PASTE_(NAME, product)(b + PANELS_OF(2 * STATE) * STATE * NR, reset, candidate, PANELS_OF(STATE));
#endif
  for (long j = 0; j < STATE; j += LANES) {
    const long n = STATE - j;
#define GATE(i) (load_lanes_(x + (i) * STATE + j, n) + loadu_(g + (i) * STATE + j))
#if CELL == 0
    const vec before = loadu_(c + j);
    vec zi = GATE(0), zo = GATE(1), zf = GATE(2), zc = GATE(3);
#if HAS_PEEPHOLES
    const float *p = (const float *)e[2] + direction * 3 * STATE + j;
    zi += load_lanes_(p, n) * before;
    zf += load_lanes_(p + 2 * STATE, n) * before;
#endif
    const vec input = SIGMOID(zi), forget = INPUT_FORGET ? splat_(1.0f) - input : SIGMOID(zf);
    const vec cell = forget * before + input * TANH(zc);
#if HAS_PEEPHOLES
    zo += load_lanes_(p + STATE, n) * cell;
#endif
    storeu_(c + j, cell);
    storeu_(h + j, SIGMOID(zo) * tanh_(cell));
#elif CELL == 3
    storeu_(h + j, TANH(GATE(0)));
#else
    const vec update = SIGMOID(GATE(0));
#if CELL == 1
    const vec fresh = TANH(load_lanes_(x + 2 * STATE + j, n) + loadu_(candidate + j));
#else
    const float *bias = (const float *)e[3] + direction * STATE + j;
    const vec fresh = TANH(load_lanes_(x + 2 * STATE + j, n) +
                           SIGMOID(GATE(1)) * (loadu_(g + 2 * STATE + j) + load_lanes_(bias, n)));
#endif
    storeu_(h + j, (splat_(1.0f) - update) * fresh + update * loadu_(h + j));
#endif
#undef GATE
  }
}

INLINE_ void PASTE_(NAME, copy)(const float *from, float *to) {
  for (long j = 0; j < STATE; j += LANES)
    store_lanes_(to + j, load_lanes_(from + j, STATE - j), STATE - j);
}

void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch,
          long begin, long end) {
  float *h = scratch, *c = h + ROUND_UP(STATE), *reset = c + ROUND_UP(STATE);
  float *g = reset + ROUND_UP(STATE);
  for (long u = begin; u < end; u++) { /* one sequence of one direction */
    const long direction = u / BATCH1, batch = u % BATCH1;
    const long state = direction * S_DIRECTION + batch * S_BATCH;
    const float *x = (const float *)a_ + batch * I_BATCH + direction * ALL_;
    const float *b = (const float *)b_ + direction * PANELS * STATE * NR;
    float *y = (float *)c_ + batch * O_BATCH + direction * O_DIRECTION;
    const int backward = BACKWARD || direction == 1;
    for (long j = 0; j < ROUND_UP(STATE); j++) h[j] = c[j] = reset[j] = 0;
    (void)state;
#if HAS_FIRST_H
    PASTE_(NAME, copy)((const float *)e[0] + state, h);
#endif
#if HAS_FIRST_C
    PASTE_(NAME, copy)((const float *)e[1] + state, c);
#endif
    for (long s = 0; s < STEPS; s++) {
      const long t = backward ? STEPS - 1 - s : s;
      PASTE_(NAME, step)(x + t * I_STEP, b, e, h, c, g, reset, direction);
      PASTE_(NAME, copy)(h, y + t * O_STEP);
    }
#if HAS_LAST_C
    PASTE_(NAME, copy)(c, (float *)(uintptr_t)e[4] + state);
#endif
  }
}
#undef NR
#undef GATES
#undef ALL_
#undef SPLITS
#undef PANELS_OF
#undef PANELS
#undef ROUND_UP
#undef SIGMOID
#undef TANH
