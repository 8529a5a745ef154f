/* contraction: the loop nest of every sum of products in the reference. Each output element is the
 * sum over ascending k of a * b in double; blocking over rows and columns does not change the
 * result. */
#include "core/ops/ops_internal.h"

#define ROWS 64 /* rows of a converted to double at once */
#define TILE 4  /* rows per pass over a panel */

hone_status contraction_work_create(struct ctx *ctx, struct arena *scratch, int64_t m, int64_t k,
                                    struct contraction_work *out) {
  int64_t rows = m < ROWS ? (m + TILE - 1) / TILE * TILE : ROWS;
  size_t count = 0;
  if (!checked_mul((size_t)rows, (size_t)k, &count))
    return fail(ctx, HONE_E_LIMIT, place_none(), "a contraction over %lld terms is too large",
                (long long)k);
  TRY(NEW_ARRAY(ctx, scratch, out->rows, count));
  return arena_alloc(ctx, scratch, (size_t)k, PANEL * sizeof(double), &out->panel);
}

/* sums[TILE][PANEL] of TILE rows with `count` columns of a panel, in groups of columns that fill
 * a processor's vectors; multiply and add are separate, so that every processor gives the same
 * bits. */
typedef void tile_fn(int64_t k, const double *a, const double *panel, int64_t count, double *sums);

#define TILE_FUNCTION(name, columns, attributes)                                              \
  typedef double name##_vec                                                                   \
      __attribute__((vector_size(columns * sizeof(double)), aligned(8), may_alias));          \
  attributes static void name(int64_t k, const double *a, const double *panel, int64_t count, \
                              double *sums) {                                                 \
    for (int64_t at = 0; at < count; at += columns) {                                         \
      name##_vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};                                      \
      const double *a0 = a, *a1 = a + k, *a2 = a + 2 * k, *a3 = a + 3 * k;                    \
      for (int64_t i = 0; i < k; i++) {                                                       \
        const name##_vec b = *(const name##_vec *)(panel + i * PANEL + at);                   \
        s0 += a0[i] * b;                                                                      \
        s1 += a1[i] * b;                                                                      \
        s2 += a2[i] * b;                                                                      \
        s3 += a3[i] * b;                                                                      \
      }                                                                                       \
      *(name##_vec *)(sums + at) = s0;                                                        \
      *(name##_vec *)(sums + PANEL + at) = s1;                                                \
      *(name##_vec *)(sums + 2 * PANEL + at) = s2;                                            \
      *(name##_vec *)(sums + 3 * PANEL + at) = s3;                                            \
    }                                                                                         \
  }

TILE_FUNCTION(tile_any, 4, )
#ifdef __x86_64__
TILE_FUNCTION(tile_256, 8, __attribute__((target("avx2"))))
TILE_FUNCTION(tile_512, 16, __attribute__((target("avx512f"))))
#endif

static tile_fn *tile_of_processor(void) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return tile_512;
  if (__builtin_cpu_supports("avx2")) return tile_256;
#endif
  return tile_any;
}

static void contract_rows(const struct contraction *c, const struct contraction_work *work,
                          int64_t first, int64_t rows) {
  tile_fn *tile = tile_of_processor();
  for (int64_t column = 0; column < c->n; column += PANEL) {
    int64_t count = c->n - column < PANEL ? c->n - column : PANEL;
    c->load_b(c->user, column, count, work->panel);
    for (int64_t r = 0; r < rows; r += TILE) {
      double sums[TILE * PANEL];
      tile(c->k, work->rows + r * c->k, work->panel, count, sums);
      for (int64_t i = 0; i < TILE && r + i < rows; i++)
        c->store(c->user, first + r + i, column, count, sums + i * PANEL);
    }
  }
}

void contract(const struct contraction *c, const struct contraction_work *work) {
  for (int64_t first = 0; first < c->m; first += ROWS) {
    int64_t rows = c->m - first < ROWS ? c->m - first : ROWS;
    for (int64_t r = 0; r < rows; r++) c->load_a(c->user, first + r, work->rows + r * c->k);
    /* rows of a tile that do not exist: their values are ignored */
    contract_rows(c, work, first, rows);
  }
}
