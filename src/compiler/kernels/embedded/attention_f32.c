/* c = softmax(EPILOGUE(a * b)) * v over rows, batch by batch. A block of rows goes through both
 * matmuls and the softmax between them while its scores are in L1 or L2 (the order of Dao et al.,
 * FlashAttention, 2022; all scores of a row are kept, so nothing is rescaled). v is e[V_OPERAND].
 *
 * A work item is UNIT_BLOCKS blocks of ROWS rows of one batch (the last blocks have one row less).
 * Before the first block of a batch, b is packed as [N / NR][K][NR] and v as [COLUMNS / NR][N][NR]
 * in the thread's scratch, NR = VECTORS * LANES, zero-padded. The epilogue gets the row of the
 * scores times N as o. With IS_DIRECT, for few rows, nothing is packed: b and v are read once, in
 * place. With LIMIT_OPERAND, only leading rows are computed; a single one reads b and v in place too,
 * together with those of the batches that share b. Scores that the epilogue masks after a row's last visible column (VISIBLE), or from a
 * column on that is known at run time (KEYS_OPERAND), have zero weight: neither matmul computes
 * them. From defines(): VECTORS ROWS BLOCKS WIDE_BLOCKS UNIT_BLOCKS
 * IS_DIRECT B_TYPE (of b and v, widened when read) C_TYPE (if not f32: rounded when stored).
 */
#include "types.h"
#include "stored.h"
#define NR (VECTORS * LANES)
#define PANELS ((N + NR - 1) / NR)
#define WIDTH (PANELS * NR) /* of a row of scores */
#define V_PANELS ((COLUMNS + NR - 1) / NR)
#define READS_IN_PLACE (IS_DIRECT || LIMIT_OPERAND)
#define BATCH_UNITS ((BLOCKS + UNIT_BLOCKS - 1) / UNIT_BLOCKS)
/* Columns that at least one of the `rows` from `row` on sees, of the first `keys`. */
#if VISIBLE && !IS_DIRECT
#define SEEN(row, rows) ((row) + (rows) - 1 + VISIBLE < keys ? (row) + (rows) - 1 + VISIBLE : keys)
#else
#define SEEN(row, rows) keys
#endif

#if !IS_DIRECT
#if B_COLUMN != 1 && B_ROW == 1
/* to[i][j] = from[j][i]; rows of `from` are B_COLUMN apart, of `to` NR: interleaves halves of
   vectors log2(LANES) times. */
INLINE_ void PASTE_(NAME, transpose)(const B_T *from, float *to) {
  vec x[LANES], y[LANES];
  UNROLL for (int i = 0; i < LANES; i++) x[i] = LOAD_B(from + i * B_COLUMN);
  UNROLL for (int bit = 1; bit < LANES; bit *= 2) {
    UNROLL for (int i = 0; i < LANES / 2; i++) {
      y[2 * i] = INTERLEAVE_LOW_(x[i], x[i + LANES / 2]);
      y[2 * i + 1] = INTERLEAVE_HIGH_(x[i], x[i + LANES / 2]);
    }
    UNROLL for (int i = 0; i < LANES; i++) x[i] = y[i];
  }
  UNROLL for (int i = 0; i < LANES; i++) storeu_(to + i * NR, x[i]);
}
#endif

/* The first `keys` columns of b, whole panels. */
INLINE_ void PASTE_(NAME, pack_b)(const B_T *b, float *packed, const long keys) {
  for (long n = 0; n < (keys + NR - 1) / NR * NR; n += LANES) {
    float *to = packed + n / NR * K * NR + n % NR;
    const long lanes = N - n;
    long k = 0;
#if B_COLUMN == 1
    for (; k < K; k++)
      storeu_(to + k * NR, lanes > 0 ? LOAD_SOME_B(b + k * B_ROW + n, lanes) : (vec){0});
#elif B_ROW == 1
    if (lanes >= LANES)
      for (; k + LANES <= K; k += LANES)
        PASTE_(NAME, transpose)(b + n * B_COLUMN + k, to + k * NR);
#endif
    for (; k < K; k++)
      for (long j = 0; j < LANES; j++)
        to[k * NR + j] = j < lanes ? LANE_(SPLAT_B(b[k * B_ROW + (n + j) * B_COLUMN]), 0) : 0.0f;
  }
}

INLINE_ void PASTE_(NAME, pack_v)(const B_T *v, float *packed, const long keys) {
  for (long n = 0; n < V_PANELS * NR; n += LANES) {
    float *to = packed + n / NR * N * NR + n % NR;
    const long lanes = COLUMNS - n;
    for (long k = 0; k < keys; k++)
      storeu_(to + k * NR, lanes > 0 ? LOAD_SOME_B(v + k * V_ROW + n, lanes) : (vec){0});
  }
}

#endif

/* One panel of a matmul in registers; load: vector x of row k of the panel. */
#define PRODUCT_(acc, rows, vectors, a, a_row, depth, load)                          \
  do {                                                                               \
    UNROLL for (int y = 0; y < rows; y++)                                            \
      UNROLL for (int x = 0; x < vectors; x++) acc[y][x] = (vec){0};                 \
    for (long k = 0; k < depth; k++) {                                               \
      vec w[VECTORS];                                                                \
      UNROLL for (int x = 0; x < vectors; x++) w[x] = load;                          \
      UNROLL for (int y = 0; y < rows; y++) {                                        \
        float t = (a)[y * (a_row) + k];                                              \
        UNROLL for (int x = 0; x < vectors; x++) acc[y][x] += t * w[x];              \
      }                                                                              \
    }                                                                                \
  } while (0)
/* The panel is packed, with `length` rows; or begins in place, in rows of `columns` that are `row`
   apart. */
#define PANEL_PRODUCT_(acc, rows, vectors, a, a_row, depth, from, length, row, columns) \
  do {                                                                                  \
    const float *packed = (const float *)(from) + panel * (length) * NR;                \
    const B_T *in_place = (const B_T *)(from) + panel * NR;                             \
    const long left = (columns) - panel * NR;                                           \
    if (direct)                                                                         \
      PRODUCT_(acc, rows, vectors, a, a_row, depth, IN_PLACE_(in_place, row, left));    \
    else                                                                                \
      PRODUCT_(acc, rows, vectors, a, a_row, depth, PACKED_(packed));                   \
  } while (0)
#define PACKED_(p) loadu_((p) + k * NR + x * LANES)
#define IN_PLACE_(p, row, left)                                                         \
  ((left) - x * LANES > 0 ? LOAD_SOME_B((p) + k * (row) + x * LANES, (left) - x * LANES) \
                          : (vec){0})

#if READS_IN_PLACE && B_COLUMN != 1
#if B_ROW == 1 && LANES > 1
/* LANES rows of a cache into L2, in which other steps have left nothing of it. */
INLINE_ void PASTE_(NAME, fetch)(const B_T *p, const long row, const long columns) {
  for (long i = 0; i < LANES; i++)
    for (long k = 0; k < columns * (long)sizeof *p; k += 64)
      PREFETCH_((const char *)(p + i * row) + k);
}
#define FETCHED_AHEAD_ 64 /* keys */
#define NEXT_BATCH_ (B_BATCH1 ? B_BATCH1 : B_BATCH0)
#endif

/* The row a times the first `keys` columns of b: LANES columns at once, whose sums are reduced into
   one vector. The first row fetches what follows, and v, unless that is NULL. */
INLINE_ void PASTE_(NAME, dots)(const float *a, const B_T *b, const B_T *v, float *s,
                                const long keys) {
  for (long n = 0; n < keys; n += LANES) {
#if B_ROW == 1 && LANES > 1
    const long far = n + FETCHED_AHEAD_, end = (keys + LANES - 1) / LANES * LANES;
    if (v) PASTE_(NAME, fetch)(v + n * V_ROW, V_ROW, COLUMNS);
    if (v)
      PASTE_(NAME, fetch)
      (b + (far < end ? far * B_COLUMN : NEXT_BATCH_ + (far - end) * B_COLUMN), B_COLUMN, K);
#else
    (void)v;
#endif
#if B_ROW == 1 && LANES > 1
    vec acc[LANES];
    const B_T *column[LANES]; /* past the last column, that one again */
    long k = 0;
    UNROLL for (int i = 0; i < LANES; i++) {
      acc[i] = (vec){0};
      column[i] = b + (n + i < N ? n + i : N - 1) * B_COLUMN;
    }
    for (; k + LANES <= K; k += LANES) {
      const vec t = loadu_(a + k);
      UNROLL for (int i = 0; i < LANES; i++) acc[i] += t * LOAD_B(column[i] + k);
    }
    if (k < K) {
      const vec t = load_lanes_(a + k, K - k);
      UNROLL for (int i = 0; i < LANES; i++) acc[i] += t * LOAD_SOME_B(column[i] + k, K - k);
    }
    UNROLL for (int half = LANES / 2; half; half /= 2)
      UNROLL for (int i = 0; i < half; i++)
        acc[i] = INTERLEAVE_LOW_(acc[i], acc[i + half]) + INTERLEAVE_HIGH_(acc[i], acc[i + half]);
    storeu_(s + n, acc[0]);
#else
    for (long j = n; j < N && j < n + LANES; j++) {
      float sum = 0;
      for (long k = 0; k < K; k++)
        sum += a[k] * LANE_(SPLAT_B(b[k * B_ROW + j * B_COLUMN]), 0);
      s[j] = sum;
    }
#endif
  }
}
#endif

/* Rows of a, a_row apart, times the first `vectors` of a panel of b. */
INLINE_ void PASTE_(NAME, panel)(const float *a, const long a_row, const void *b, float *s,
                                 long panel, const int rows, const int vectors,
                                 const int direct) {
  vec acc[ROWS][VECTORS];
  PANEL_PRODUCT_(acc, rows, vectors, a, a_row, K, b, K, B_ROW, N);
  UNROLL for (int y = 0; y < rows; y++)
    UNROLL for (int x = 0; x < vectors; x++)
      storeu_(s + y * WIDTH + panel * NR + x * LANES, acc[y][x]);
}

/* Rows of a times the columns of b before `seen`, whole panels. */
INLINE_ void PASTE_(NAME, scores)(const float *a, const long a_row, const void *b, const void *v,
                                  float *s, const long seen, const int rows, const int direct) {
  (void)v;
#if READS_IN_PLACE && B_COLUMN != 1
  const long made = (seen + NR - 1) / NR * NR;
  for (int y = 0; direct && y < rows; y++)
    PASTE_(NAME, dots)(a + y * a_row, b, y ? NULL : v, s + y * WIDTH, made < N ? made : N);
  if (direct) return;
#endif
  for (long panel = 0; panel < N / NR && panel * NR < seen; panel++)
    PASTE_(NAME, panel)(a, a_row, b, s, panel, rows, VECTORS, direct);
#if N % NR
  if (N / NR * NR < seen)
    PASTE_(NAME, panel)
    (a, a_row, b, s, N / NR, rows, (N % NR + LANES - 1) / LANES, direct);
#endif
}

/* The scores [j, j + lanes) of row o / N; -Inf past them, and past the keys that exist. */
INLINE_ vec PASTE_(NAME, score)(float *s, const void *const *e, long o, long j, const long lanes,
                                const long keys) {
  (void)e, (void)o, (void)keys;
  vec t = loadu_(s + j);
#if HAS_EPILOGUE
  t = EPILOGUE(t, (o + j), j, lanes);
#endif
  t = fill_lanes_(t, lanes, splat_(-INFINITY));
#if KEYS_OPERAND
  t = fill_lanes_(t, keys - j, splat_(-INFINITY));
#endif
  if (HAS_EPILOGUE || KEYS_OPERAND || lanes < LANES) storeu_(s + j, t);
  return t;
}

/* The maximum of row o / N over n products s: whole panels, or all of them; the products become
   scores. */
INLINE_ float PASTE_(NAME, largest)(float *s, const void *const *e, long o, const long n,
                                    const long keys) {
  vec high[4];
  UNROLL for (int i = 0; i < 4; i++) high[i] = splat_(-INFINITY);
  long j = 0;
  for (; j + 4 * LANES <= n; j += 4 * LANES)
    UNROLL for (int i = 0; i < 4; i++)
      high[i] = MAX2_(high[i], PASTE_(NAME, score)(s, e, o, j + i * LANES, LANES, keys));
  for (; j + LANES <= n; j += LANES)
    high[0] = MAX2_(high[0], PASTE_(NAME, score)(s, e, o, j, LANES, keys));
#if N % LANES
  if (n == N) high[1] = MAX2_(high[1], PASTE_(NAME, score)(s, e, o, j, N % LANES, keys));
#endif
  return LANE_(max_lanes_(MAX2_(MAX2_(high[0], high[1]), MAX2_(high[2], high[3]))), 0);
}

/* exp(s - top) in place; 1 / sum. */
INLINE_ float PASTE_(NAME, weights)(float *s, const float largest, const long n) {
  const vec top = splat_(largest);
  vec sum[4];
  UNROLL for (int i = 0; i < 4; i++) sum[i] = (vec){0};
  long j = 0;
  for (; j + 3 * LANES < n; j += 4 * LANES)
    UNROLL for (int i = 0; i < 4; i++) {
      const vec t = exp_down_(loadu_(s + j + i * LANES) - top);
      sum[i] += t;
      storeu_(s + j + i * LANES, t);
    }
  for (; j < n; j += LANES) {
    const vec t = exp_down_(loadu_(s + j) - top);
    sum[0] += t;
    storeu_(s + j, t);
  }
  const float whole = LANE_(sum_lanes_((sum[0] + sum[1]) + (sum[2] + sum[3])), 0);
#if CLEARS
  if (whole != whole) { /* all of the row is NaN, for example if all scores are -Inf */
    for (j = 0; j < n; j += LANES) storeu_(s + j, (vec){0});
    return 0;
  }
#endif
  return 1.0f / whole;
}

/* Rows of a and c that are a_row and c_row apart. Row y is number line + y * step of all scores'
   rows, for the epilogue. */
INLINE_ void PASTE_(NAME, rows)(const float *a, const long a_row, const void *b, const void *v,
                                float *s, C_T *c, const long c_row, const void *const *e,
                                long line, const long step, const long seen, const long keys,
                                const int rows, const int direct) {
  float top[ROWS], scale[ROWS];
  const long begun = (seen + NR - 1) / NR * NR, made = begun < N ? begun : N;
  PASTE_(NAME, scores)(a, a_row, b, v, s, seen, rows, direct);
  /* all rows first: computing a row's maximum has a long latency, and the weights depend on it */
  for (int y = 0; y < rows; y++)
    top[y] = PASTE_(NAME, largest)(s + y * WIDTH, e, (line + y * step) * N, made, keys);
  for (int y = 0; y < rows; y++)
    scale[y] = PASTE_(NAME, weights)(s + y * WIDTH, top[y], made);
  for (long panel = 0; panel < V_PANELS; panel++) {
    vec acc[ROWS][VECTORS];
    PANEL_PRODUCT_(acc, rows, VECTORS, s, WIDTH, seen, v, N, V_ROW, COLUMNS);
    UNROLL for (int y = 0; y < rows; y++)
      UNROLL for (int x = 0; x < VECTORS; x++) {
        const long n = panel * NR + x * LANES;
        if (n < COLUMNS) STORE_C(c + y * c_row + n, acc[y][x] * splat_(scale[y]), COLUMNS - n);
      }
  }
}

/* Batches whose single rows are computed together. */
#if B_BATCH1 == 0 && V_BATCH1 == 0 && BATCH1 <= ROWS
#define TOGETHER BATCH1
#else
#define TOGETHER 1
#endif

void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch,
          long begin, long end) {
#if IS_DIRECT
  float *s = scratch;
#else
  float *b = scratch, *v = b + PANELS * K * NR, *s = v + V_PANELS * N * NR;
  long packed = -1;
#endif
#if KEYS_OPERAND
  const int64_t given = *(const int64_t *)e[KEYS_OPERAND - 1];
  const long keys = given < 1 ? 1 : given < N ? (long)given : N;
#else
  const long keys = N;
#endif
#if LIMIT_OPERAND
  const int64_t *limits = (const int64_t *)e[LIMIT_OPERAND - 1];
  const long batches = limits[0], limit = limits[1];
#endif
  for (long u = begin; u < end; u++) {
    const long batch = u / BATCH_UNITS, batch0 = batch / BATCH1, batch1 = batch % BATCH1;
    const float *a = (const float *)a_ + batch0 * A_BATCH0 + batch1 * A_BATCH1;
    C_T *c = (C_T *)c_ + batch0 * C_BATCH0 + batch1 * C_BATCH1;
    const B_T *b_batch = (const B_T *)b_ + batch0 * B_BATCH0 + batch1 * B_BATCH1;
    const B_T *v_batch = (const B_T *)e[V_OPERAND] + batch0 * V_BATCH0 + batch1 * V_BATCH1;
#if IS_DIRECT
    const B_T *b = b_batch, *v = v_batch;
#else
#if LIMIT_OPERAND
    if (limit == 1 && batches == BATCH0 * BATCH1) {
      if (u % BATCH_UNITS == 0 && batch1 % TOGETHER == 0)
        PASTE_(NAME, rows)
        (a, A_BATCH1, b_batch, v_batch, s, c, C_BATCH1, e, batch * M, M, SEEN(0, 1), keys, TOGETHER,
         1);
      continue;
    }
#endif
    if (packed != batch) {
      PASTE_(NAME, pack_b)(b_batch, b, keys);
      PASTE_(NAME, pack_v)(v_batch, v, keys);
      packed = batch;
    }
#endif
    const long first = u % BATCH_UNITS * UNIT_BLOCKS;
    const long last = first + UNIT_BLOCKS < BLOCKS ? first + UNIT_BLOCKS : BLOCKS;
    for (long block = first; block < last; block++) {
#if WIDE_BLOCKS < BLOCKS
      const long row = block * (ROWS - 1) + (block < WIDE_BLOCKS ? block : WIDE_BLOCKS);
#else
      const long row = block * ROWS;
#endif
#if LIMIT_OPERAND
      if (row >= limit) break;
#endif
#define BLOCK_OF_(number)                                                                \
  PASTE_(NAME, rows)                                                                     \
  (a + row * A_ROW, A_ROW, b, v, s, c + row * C_ROW, C_ROW, e, batch * M + row, 1,       \
   SEEN(row, number), keys, number, IS_DIRECT)
#if WIDE_BLOCKS < BLOCKS
      if (block >= WIDE_BLOCKS) {
        BLOCK_OF_(ROWS - 1);
        continue;
      }
#endif
      BLOCK_OF_(ROWS);
#undef BLOCK_OF_
    }
  }
}
#undef NR
#undef PANELS
#undef WIDTH
#undef V_PANELS
#undef BATCH_UNITS
#undef SEEN
#undef READS_IN_PLACE
#undef PRODUCT_
#undef PANEL_PRODUCT_
#undef PACKED_
#undef IN_PLACE_
#undef TOGETHER
#undef FETCHED_AHEAD_
#undef NEXT_BATCH_
#undef B_T
