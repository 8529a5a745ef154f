/* A store from another machine may contain anything: flipped bytes, a truncated end, values that
 * hone never wrote. Each is refused with a message, or read, listed, summarised and rendered, under
 * the sanitizers. */
#include "scratch.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ui/report/report.h"
#include "core/stats/stats.h"

enum { SEEDS = 120, STUDIES = 4 };

/* -- damage */

static void flip_bytes(struct random *random, char *data, size_t *size) {
  for (uint64_t n = 1 + random_below(random, 20); n--;)
    data[random_below(random, *size)] = (char)random_u64(random);
}
static void swap_pieces(struct random *random, char *data, size_t *size) {
  char piece[512];
  char *a = data + random_below(random, *size - sizeof piece),
       *b = data + random_below(random, *size - sizeof piece);
  memcpy(piece, a, sizeof piece);
  memmove(a, b, sizeof piece);
  memcpy(b, piece, sizeof piece);
}
static void cut_end(struct random *random, char *data, size_t *size) {
  (void)data;
  *size = random_below(random, *size);
}
static void (*const damages[])(struct random *random, char *data, size_t *size) = {
    flip_bytes, swap_pieces, cut_end};

/* Values that SQLite accepts in a column of any declared type. */
static const char *const values[] = {"NULL",
                                     "''",
                                     "-1",
                                     "9223372036854775807",
                                     "-9223372036854775808",
                                     "1e308",
                                     "9e999",
                                     "-9e999",
                                     "4294967297",
                                     "x''",
                                     "x'00'",
                                     "zeroblob(70001)",
                                     "x'ffffffffffffffffff'",
                                     "'../../etc/passwd'",
                                     "'<script>%s%n</script>'",
                                     "'[[[[{\"a\":1e999}]]]]'",
                                     "'{\"peaks\":[{\"threads\":-1}],\"cpu\":[]}'",
                                     "hex(zeroblob(9000))",
                                     "cast(x'c0afff' as text)"};

static void run_sql(sqlite3 *database, const char *sql) {
  (void)sqlite3_exec(database, sql, NULL, NULL, NULL); /* the schema may refuse a value */
}

/* One to three columns of every row, of any table. */
static void plant_values(struct random *random, const char *path) {
  static const char *const tables[] = {"study", "cell", "incarnation", "block"};
  sqlite3 *database;
  assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
  run_sql(database, "PRAGMA foreign_keys = OFF");
  for (uint64_t n = 1 + random_below(random, 3); n--;) {
    const char *table = tables[random_below(random, COUNT(tables))];
    char sql[400];
    sqlite3_stmt *names;
    snprintf(sql, sizeof sql, "SELECT name FROM pragma_table_info('%s') ORDER BY abs(cid - %d)",
             table, (int)random_below(random, 50));
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &names, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(names), SQLITE_ROW);
    snprintf(sql, sizeof sql, "UPDATE %s SET \"%s\" = %s", table,
             (const char *)sqlite3_column_text(names, 0),
             values[random_below(random, COUNT(values))]);
    sqlite3_finalize(names);
    run_sql(database, sql);
  }
  sqlite3_close(database);
}

/* -- reading */

static hone_status render_study(struct ctx *ctx, struct arena *arena, struct store *store,
                                const char *key) {
  struct study_data data;
  struct summary summary;
  const struct render_options options = {.width = 100};
  TRY(store_read_study(ctx, store, arena, key, &data));
  TRY(summarise(ctx, arena, &data, true, &summary));
  for (size_t i = 0; i < renderer_count; i++) {
    struct strbuf out = {0};
    if (!strcmp(renderers[i].name, "png")) continue; /* the picture's, by another's library */
    const hone_status status = renderers[i].render(ctx, &summary, &options, &out);
    strbuf_deinit(&out);
    TRY(status);
  }
  return HONE_OK;
}

/* A failure must have a message, and an id that is not an internal error. */
static void expect_clear(struct ctx *ctx, hone_status status, uint64_t seed) {
  if (!status) return;
  if (status == HONE_E_INTERNAL || !ctx->message[0])
    print_error("seed %llu: %d, %s\n", (unsigned long long)seed, (int)status, ctx->message);
  assert_int_not_equal(status, HONE_E_INTERNAL);
  assert_true(ctx->message[0]);
  ctx_clear(ctx);
}

static bool read_all(const char *path, bool write, uint64_t seed) {
  struct ctx ctx;
  struct store *store;
  struct arena *arena;
  struct study_row *rows;
  struct config_series *series;
  size_t count = 0, cells = 0;
  ctx_init(&ctx);
  const hone_status status = store_open(&ctx, path, write, &store);
  expect_clear(&ctx, status, seed);
  if (status) return false;
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  expect_clear(&ctx, store_list_series(&ctx, store, arena, 1, 100, &series, &cells), seed);
  expect_clear(&ctx, store_list_studies(&ctx, store, arena, &rows, &count), seed);
  for (size_t i = 0; i < count && i < STUDIES; i++)
    expect_clear(&ctx, render_study(&ctx, arena, store, rows[i].key), seed);
  arena_destroy(arena);
  store_close(store);
  return count;
}

static void damaged_stores_get_a_clear_answer(void **state) {
  (void)state;
  const char *cases = getenv("HONE_TEST_CASES");
  int was_read = 0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    char from[4200], path[4200];
    struct ctx ctx;
    struct mapping map;
    struct random random;
    ctx_init(&ctx);
    random_init(&random, seed);
    snprintf(from, sizeof from, "%.4000s/store/v%d.db", cases ? cases : "tests/cases",
             1 + (int)(seed % (STORE_VERSION - 1)));
    snprintf(path, sizeof path, "%s/%llu.db", folder, (unsigned long long)seed);
    assert_int_equal(file_map(&ctx, from, &map), HONE_OK);
    size_t size = map.size;
    char *data = malloc(size);
    memcpy(data, map.data, size);
    const size_t how = random_below(&random, COUNT(damages) + 3);
    if (how < COUNT(damages)) damages[how](&random, data, &size);
    assert_int_equal(file_write_atomic(&ctx, path, data, size, 0600), HONE_OK);
    file_unmap(&map);
    free(data);
    if (how >= COUNT(damages)) plant_values(&random, path);
    was_read += read_all(path, random_below(&random, 2), seed);
  }
  /* neither all whole nor all refused at the door */
  assert_in_range(was_read, SEEDS / 4, SEEDS - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_stores_get_a_clear_answer)};
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
